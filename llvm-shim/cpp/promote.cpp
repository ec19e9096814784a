// Pointers that a loop keeps in memory (members of a structure, of a container, of a descriptor) to values; src/prepare.rs has the
// argument.

#include "shim.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/MemorySSAUpdater.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PredIteratorCache.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// A place in memory: an object and a constant offset.
using Place = std::pair<Value *, int64_t>;

struct Accesses {
  SmallSetVector<Value *, 8> Pointers;
  SmallPtrSet<Instruction *, 8> Instructions;
  bool Stored = false;
};

Place placeOf(Value *Pointer, const DataLayout &DL) {
  APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
  Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true);
  return {Base, Offset.getSExtValue()};
}

// The places where the loop stores pointers, with all accesses of these places.
MapVector<Place, Accesses> placesOf(Loop &L, const DataLayout &DL) {
  MapVector<Place, Accesses> Found;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      Value *Pointer = getLoadStorePointerOperand(&I);
      if (!Pointer || !getLoadStoreType(&I)->isPointerTy())
        continue;
      Place P = placeOf(Pointer, DL);
      if (!L.isLoopInvariant(P.first))
        continue;
      Accesses &A = Found[P];
      A.Pointers.insert(Pointer);
      A.Instructions.insert(&I);
      A.Stored |= isa<StoreInst>(I);
    }
  Found.remove_if([](auto &Entry) { return !Entry.second.Stored; });
  return Found;
}

bool promote(Loop &L, Function &F, Session &S) {
  auto &AA = S.FAM.getResult<AAManager>(F);
  auto &LI = S.FAM.getResult<LoopAnalysis>(F);
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  auto &MSSA = S.FAM.getResult<MemorySSAAnalysis>(F).getMSSA();
  MemorySSAUpdater Updater(&MSSA);
  const DataLayout &DL = F.getParent()->getDataLayout();
  SmallVector<BasicBlock *, 4> Exits;
  L.getUniqueExitBlocks(Exits);
  bool Changed = false;
  for (auto &[P, A] : placesOf(L, DL)) {
    MemoryLocation Location(A.Pointers[0], LocationSize::precise(DL.getPointerSize()));
    // What holds for all of the accesses, by type and by scope.
    bool First = true;
    for (Instruction *I : A.Instructions) {
      Location.AATags = First ? I->getAAMetadata() : Location.AATags.merge(I->getAAMetadata());
      First = false;
    }
    bool Disturbed = false;
    for (BasicBlock *BB : L.blocks())
      for (Instruction &I : *BB)
        Disturbed |= I.mayReadOrWriteMemory() && !A.Instructions.contains(&I) && isModOrRefSet(AA.getModRefInfo(&I, Location));
    if (Disturbed)
      continue;
    bool Invariant = true, Moved = false;
    for (Value *Pointer : A.Pointers)
      Invariant &= L.makeLoopInvariant(Pointer, Moved, L.getLoopPreheader()->getTerminator(), &Updater);
    Changed |= Moved;
    if (!Invariant)
      continue;
    ICFLoopSafetyInfo Safety;
    Safety.computeLoopSafetyInfo(&L);
    PredIteratorCache Predecessors;
    SmallVector<BasicBlock::iterator, 4> At;
    for (BasicBlock *Exit : Exits)
      At.push_back(Exit->getFirstInsertionPt());
    SmallVector<MemoryAccess *, 4> MemoryAt(Exits.size(), nullptr);
    Changed |= promoteLoopAccessesToScalars(
        A.Pointers, Exits, At, MemoryAt, Predecessors, &LI, &DT, &S.FAM.getResult<AssumptionAnalysis>(F),
        &S.FAM.getResult<TargetLibraryAnalysis>(F), &S.FAM.getResult<TargetIRAnalysis>(F), &L, Updater, &Safety,
        &S.FAM.getResult<OptimizationRemarkEmitterAnalysis>(F), /*AllowSpeculation=*/true, /*HasReadsOutsideSet=*/false);
  }
  return Changed;
}
} // namespace

extern "C" bool prs_promote_pointers(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    // Of loops around loops; in others there is no base to keep.
    if (L->isInnermost() || !L->isLoopSimplifyForm() ||
        !L->isLCSSAForm(S->FAM.getResult<DominatorTreeAnalysis>(F)))
      continue;
    Changed |= promote(*L, F, *S);
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
