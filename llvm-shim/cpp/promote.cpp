// Pointers that a loop keeps in memory (members of a structure, of a container, of a descriptor) to values,
// and counters of elements; src/prepare.rs has the argument.

#include "escapes.h"
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
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PredIteratorCache.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// What a loop that gets a version may have: blocks, objects that hold its pointers.
constexpr unsigned MaxSeparated = 200, MaxExtents = 4;

// A place in memory: an object and a constant offset.
using Place = std::pair<Value *, int64_t>;

struct Accesses {
  SmallSetVector<Value *, 8> Pointers;
  SmallPtrSet<Instruction *, 8> Instructions;
  bool Stored = false;
  // Some access is of an integer.
  bool Integer = false;
  uint64_t Bytes = 0;
};

Place placeOf(Value *Pointer, const DataLayout &DL) {
  APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
  Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true);
  return {Base, Offset.getSExtValue()};
}

// The bytes of a base that hold pointers the loop keeps there.
struct Extent {
  Value *Base;
  int64_t Begin, End;
  MDNode *Scope = nullptr;
};

// Adds a load or store at a place that the loop does not move.
void add(MapVector<Place, Accesses> &Found, Instruction &I, Loop &L, const DataLayout &DL) {
  Value *Pointer = getLoadStorePointerOperand(&I);
  Place P = placeOf(Pointer, DL);
  if (!L.isLoopInvariant(P.first))
    return;
  Type *T = getLoadStoreType(&I);
  Accesses &A = Found[P];
  A.Pointers.insert(Pointer);
  A.Instructions.insert(&I);
  A.Stored |= isa<StoreInst>(I);
  A.Integer |= T->isIntegerTy();
  A.Bytes = std::max(A.Bytes, DL.getTypeStoreSize(T).getFixedValue());
}

// The accesses of pointers and integers in the loop.
MapVector<Place, Accesses> wordsOf(Loop &L, const DataLayout &DL) {
  MapVector<Place, Accesses> Found;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (getLoadStorePointerOperand(&I) && (getLoadStoreType(&I)->isPointerTy() || getLoadStoreType(&I)->isIntegerTy()))
        add(Found, I, L, DL);
  return Found;
}

// The places where the loop stores pointers, with all accesses of these places, and those of integers in the
// same objects: sizes that change places with the pointers.
MapVector<Place, Accesses> placesOf(Loop &L, const DataLayout &DL) {
  MapVector<Place, Accesses> Found = wordsOf(L, DL);
  SmallPtrSet<Value *, 8> Holders;
  for (auto &[P, A] : Found)
    if (any_of(A.Instructions, [](Instruction *I) { return isa<StoreInst>(I) && getLoadStoreType(I)->isPointerTy(); }))
      Holders.insert(P.first);
  Found.remove_if([&](auto &Entry) { return !Entry.second.Stored || !Holders.contains(Entry.first.first); });
  return Found;
}

// How far a counter's way to an address is followed.
constexpr unsigned MaxWays = 24;

// Whether a value is a part of an address or of a comparison, by way of arithmetic in the loop.
bool addresses(Value *V, Loop &L) {
  SmallSetVector<Value *, MaxWays> Ways;
  Ways.insert(V);
  for (unsigned N = 0; N != Ways.size() && N != MaxWays; ++N)
    for (User *U : Ways[N]->users()) {
      auto *I = dyn_cast<Instruction>(U);
      if (!I || !L.contains(I))
        continue;
      if (isa<GetElementPtrInst>(I) || isa<ICmpInst>(I))
        return true;
      if (isa<BinaryOperator>(I) || isa<CastInst>(I))
        Ways.insert(I);
    }
  return false;
}

// The places where the loop counts: `*p = *p + n`, a number that is a part of addresses, as the length of a
// vector to which values are appended is, or an address.
MapVector<Place, Accesses> countersOf(Loop &L, const DataLayout &DL) {
  MapVector<Place, Accesses> Found = wordsOf(L, DL);
  // What was loaded before a store that may be elsewhere is loaded again to be counted.
  auto Addresses = [&](const Accesses &A) {
    return any_of(A.Instructions, [&](Instruction *I) { return isa<LoadInst>(I) && addresses(I, L); });
  };
  auto IsCounter = [&](const Accesses &A) {
    return any_of(A.Instructions, [&](Instruction *I) {
      auto *Store = dyn_cast<StoreInst>(I);
      auto *Step = Store ? dyn_cast<Instruction>(Store->getValueOperand()) : nullptr;
      if (!Step || !(Step->getOpcode() == Instruction::Add || isa<GetElementPtrInst>(Step)) || Step->getNumOperands() != 2)
        return false;
      for (unsigned N : {0, 1}) {
        auto *Load = dyn_cast<LoadInst>(Step->getOperand(N));
        if (Load && A.Instructions.contains(Load) && L.isLoopInvariant(Step->getOperand(1 - N)))
          return isa<GetElementPtrInst>(Step) || Addresses(A);
      }
      return false;
    });
  };
  Found.remove_if([&](auto &Entry) { return !IsCounter(Entry.second); });
  return Found;
}

MemoryLocation locationOf(const Accesses &A) {
  MemoryLocation Location(A.Pointers[0], LocationSize::precise(A.Bytes));
  // What holds for all of the accesses, by type and by scope.
  bool First = true;
  for (Instruction *I : A.Instructions) {
    Location.AATags = First ? I->getAAMetadata() : Location.AATags.merge(I->getAAMetadata());
    First = false;
  }
  return Location;
}

// Whether something else in the loop may touch the place. What is given away behind the loop only, as an
// object is that is destroyed there, is not reached through pointers that the loop loads.
bool isDisturbed(Loop &L, const Accesses &A, BatchAAResults &AA) {
  MemoryLocation Location = locationOf(A);
  return any_of(L.blocks(), [&](BasicBlock *BB) {
    return any_of(*BB, [&](Instruction &I) {
      return I.mayReadOrWriteMemory() && !A.Instructions.contains(&I) && isModOrRefSet(AA.getModRefInfo(&I, Location));
    });
  });
}

// Of two containers that are passed by reference nobody knows that they are two. Where only that keeps
// pointers in memory: `if (they lie apart) L; else a copy of L, which stays on the host;`, and in `L` alias
// analysis knows.
bool separate(Loop &L, Function &F, Session &S) {
  auto &AA = S.FAM.getResult<AAManager>(F);
  auto &LI = S.FAM.getResult<LoopAnalysis>(F);
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  const DataLayout &DL = F.getParent()->getDataLayout();
  BasicBlock *Before = L.getLoopPreheader(), *Exit = L.getUniqueExitBlock();
  // What is known of a loop that runs several times has to be known of all its executions.
  if (L.getParentLoop() || !Before || !Exit || L.getNumBlocks() > MaxSeparated || !L.isSafeToClone())
    return false;
  MapVector<Place, Accesses> Found = placesOf(L, DL);
  if (!S.work(L, Found.size() * Found.size() + 1))
    return false;
  auto IsOther = [&](Value *Base, Instruction &I) {
    return any_of(Found, [&](auto &E) { return E.first.first != Base && E.second.Instructions.contains(&I); });
  };
  // Instructions that may touch a place of `Base`, but for those that only the objects' distance keeps from
  // it.
  auto IsDisturbed = [&](const Place &P, const Accesses &A) {
    MemoryLocation Location = locationOf(A);
    return any_of(L.blocks(), [&](BasicBlock *BB) {
      return any_of(*BB, [&](Instruction &I) {
        return I.mayReadOrWriteMemory() && !A.Instructions.contains(&I) && isModOrRefSet(AA.getModRefInfo(&I, Location)) &&
               !IsOther(P.first, I);
      });
    });
  };
  // Integers are no reason: those that something else may touch stay in memory.
  while (true) {
    auto *It = find_if(Found, [&](auto &E) { return E.second.Integer && IsDisturbed(E.first, E.second); });
    if (It == Found.end())
      break;
    Found.erase(It);
  }
  SmallVector<Extent, 4> Extents;
  for (auto &[P, A] : Found) {
    auto *E = find_if(Extents, [&, Base = P.first](Extent &E) { return E.Base == Base; });
    if (E == Extents.end())
      E = &Extents.emplace_back(Extent{P.first, P.second, P.second});
    E->Begin = std::min(E->Begin, P.second);
    E->End = std::max<int64_t>(E->End, P.second + A.Bytes);
  }
  if (Extents.size() < 2 || Extents.size() > MaxExtents)
    return false;
  bool Needed = false;
  for (auto &[P, A] : Found) {
    MemoryLocation Location = locationOf(A);
    for (BasicBlock *BB : L.blocks())
      for (Instruction &I : *BB) {
        if (!I.mayReadOrWriteMemory() || A.Instructions.contains(&I) || !isModOrRefSet(AA.getModRefInfo(&I, Location)))
          continue;
        if (!IsOther(P.first, I))
          return false;
        Needed = true;
      }
  }
  if (!Needed)
    return false;

  IRBuilder<> B(Before->getTerminator());
  Value *Apart = B.getTrue();
  auto At = [&](Extent &E, int64_t Offset) { return B.CreatePtrAdd(E.Base, B.getInt64(Offset)); };
  for (size_t I = 0; I != Extents.size(); ++I)
    for (size_t J = 0; J != I; ++J) {
      Extent &X = Extents[I], &Y = Extents[J];
      Value *Below = B.CreateICmpULE(At(X, X.End), At(Y, Y.Begin)), *Above = B.CreateICmpULE(At(Y, Y.End), At(X, X.Begin));
      Apart = B.CreateAnd(Apart, B.CreateOr(Below, Above));
    }
  Apart = B.CreateFreeze(Apart);
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".one", Map, LI, DT);
  addStringMetadataToLoop(Copy.Copied, pollyrs::KeptMark);
  IRBuilder<>(Copy.Before).CreateCondBr(Apart, Copy.Own, Copy.Other);

  MDBuilder MDB(F.getContext());
  MDNode *Domain = MDB.createAnonymousAliasScopeDomain("pollyrs");
  for (Extent &E : Extents)
    E.Scope = MDB.createAnonymousAliasScope(Domain);
  auto Note = [&](Instruction &I, unsigned Kind, ArrayRef<Metadata *> Scopes) {
    I.setMetadata(Kind, MDNode::concatenate(I.getMetadata(Kind), MDNode::get(F.getContext(), Scopes)));
  };
  for (auto &[P, A] : Found)
    for (Instruction *I : A.Instructions) {
      SmallVector<Metadata *, 4> Others;
      for (Extent &E : Extents)
        if (E.Base == P.first)
          Note(*I, LLVMContext::MD_alias_scope, {E.Scope});
        else
          Others.push_back(E.Scope);
      Note(*I, LLVMContext::MD_noalias, Others);
    }
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

bool promote(Loop &L, Function &F, Session &S, MapVector<Place, Accesses> Found) {
  auto &LI = S.FAM.getResult<LoopAnalysis>(F);
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  pollyrs::Escapes Escapes(DT, LI);
  BatchAAResults AA(S.FAM.getResult<AAManager>(F), &Escapes);
  auto &MSSA = S.FAM.getResult<MemorySSAAnalysis>(F).getMSSA();
  MemorySSAUpdater Updater(&MSSA);
  SmallVector<BasicBlock *, 4> Exits;
  L.getUniqueExitBlocks(Exits);
  if (any_of(Exits, [](BasicBlock *Exit) { return Exit->getFirstInsertionPt() == Exit->end(); }))
    return false;
  bool Changed = false;
  if (!S.work(L, 2 * Found.size() + 1))
    return false;
  // Before the first is a value: of values that change places alias analysis does not see where they come
  // from.
  Found.remove_if([&](auto &Entry) { return isDisturbed(L, Entry.second, AA); });
  for (auto &[P, A] : Found) {
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

// Instructions before a loop among which a store to a place is looked for.
constexpr unsigned MaxBefore = 64;

// Whether a place is stored to in any case shortly before the loop, and nothing in between could tell other
// threads or free it: then a store behind the loop that the program does not have is one of a value that it
// could have stored.
bool isSetBefore(Loop &L, const Place &P, uint64_t Bytes, const DataLayout &DL) {
  unsigned Left = MaxBefore;
  for (BasicBlock *BB = L.getLoopPreheader(); BB; BB = BB->getSinglePredecessor())
    for (Instruction &I : reverse(*BB)) {
      if (!Left--)
        return false;
      if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isSimple() && placeOf(Store->getPointerOperand(), DL) == P &&
                                                 DL.getTypeStoreSize(Store->getValueOperand()->getType()) == Bytes)
        return true;
      bool Known = isa<IntrinsicInst>(I) ? I.isLifetimeStartOrEnd() || isa<AssumeInst>(I) || !I.mayReadOrWriteMemory() : !isa<CallBase>(I);
      if (!Known || I.isAtomic() || I.isVolatile())
        return false;
    }
  return false;
}

// Whether some store of the place is under a condition, and something is loaded from there, as in
// `if (c) ++*p` and `if (x < *p) *p = x`.
bool isSometimesUpdated(Loop &L, const Accesses &A, const DominatorTree &DT) {
  return any_of(A.Instructions, [](Instruction *I) { return isa<LoadInst>(I); }) && any_of(A.Instructions, [&](Instruction *I) {
           return isa<StoreInst>(I) && !DT.dominates(I->getParent(), L.getLoopLatch());
         });
}

// A cell that stands for a variable of the source is called by its name: a count that a caller gets by
// reference, in Fortran.
void nameAfter(AllocaInst &Cell, const Place &P) {
  if (P.second)
    return;
  for (DbgVariableRecord *Record : findDVRDeclares(P.first)) {
    auto *Declaration = DbgVariableRecord::createDVRDeclare(&Cell, Record->getVariable(), Record->getExpression(), Record->getDebugLoc().get());
    Cell.getParent()->insertDbgRecordAfter(Declaration, &Cell);
    return;
  }
}

// `*p = 0; for (...) if (c) ++*p;` counts in a value.
bool promoteUpdates(Loop &L, Function &F, Session &S) {
  auto &Aliases = S.FAM.getResult<AAManager>(F);
  auto &LI = S.FAM.getResult<LoopAnalysis>(F);
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  const DataLayout &DL = F.getParent()->getDataLayout();
  SmallVector<BasicBlock *, 4> Exits;
  L.getUniqueExitBlocks(Exits);
  MapVector<Place, Accesses> Found;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      // The value is in memory whenever someone might look.
      if (!isGuaranteedToTransferExecutionToSuccessor(&I))
        return false;
      if (getLoadStorePointerOperand(&I) && (getLoadStoreType(&I)->isIntegerTy() || getLoadStoreType(&I)->isFloatingPointTy()))
        add(Found, I, L, DL);
    }
  if (any_of(Exits, [](BasicBlock *Exit) { return Exit->isEHPad(); }))
    return false;
  for (auto &Entry : Found) {
    if (!S.work(L))
      return false;
    Place P = Entry.first;
    Accesses &A = Entry.second;
    Type *T = getLoadStoreType(*A.Instructions.begin());
    bool Plain = all_of(A.Instructions, [&](Instruction *I) { return getLoadStoreType(I) == T && !I->isVolatile() && !I->isAtomic(); });
    if (!Plain || !isSometimesUpdated(L, A, DT) || !isSetBefore(L, P, A.Bytes, DL))
      continue;
    MemoryLocation Location = locationOf(A);
    pollyrs::Escapes Escapes(DT, LI);
    BatchAAResults AA(Aliases, &Escapes);
    if (isDisturbed(L, A, AA))
      continue;
    BasicBlock *Before = L.getLoopPreheader();
    IRBuilder<> B(Before->getTerminator());
    Value *At = P.second ? B.CreatePtrAdd(P.first, B.getInt64(P.second)) : P.first;
    Align Alignment = getLoadStoreAlignment(*A.Instructions.begin());
    for (Instruction *I : A.Instructions)
      Alignment = std::min(Alignment, getLoadStoreAlignment(I));
    auto *Cell = new AllocaInst(T, DL.getAllocaAddrSpace(), "cell", F.getEntryBlock().getFirstInsertionPt());
    nameAfter(*Cell, P);
    auto Copy = [&](Value *From, Value *To, Instruction *Here) {
      IRBuilder<> C(Here);
      auto *Load = C.CreateAlignedLoad(T, From, From == Cell ? Cell->getAlign() : Alignment);
      auto *Store = C.CreateAlignedStore(Load, To, To == Cell ? Cell->getAlign() : Alignment);
      (From == Cell ? cast<Instruction>(Store) : Load)->setAAMetadata(Location.AATags);
    };
    Copy(At, Cell, Before->getTerminator());
    for (BasicBlock *Exit : Exits)
      Copy(Cell, At, &*Exit->getFirstInsertionPt());
    for (Instruction *I : A.Instructions) {
      I->setAAMetadata(AAMDNodes());
      I->setOperand(isa<StoreInst>(I) ? 1 : 0, Cell);
    }
    PromoteMemToReg({Cell}, DT);
    S.FAM.invalidate(F, PreservedAnalyses::none());
    return true;
  }
  return false;
}
} // namespace

// At most one, as it changes all analyses; its exit is no longer the loop's own.
extern "C" bool prs_separate_pointers(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  return any_of(S->FAM.getResult<LoopAnalysis>(F), [&](Loop *L) {
    return !L->isInnermost() && !findStringMetadataForLoop(L, pollyrs::KeptMark) && L->isLoopSimplifyForm() &&
           L->isLCSSAForm(S->FAM.getResult<DominatorTreeAnalysis>(F)) && separate(*L, F, *S);
  });
}

// At most one, as it changes all analyses.
extern "C" bool prs_promote_updates(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto &LI = S->FAM.getResult<LoopAnalysis>(F);
  return any_of(SmallVector<Loop *, 8>(LI.begin(), LI.end()), [&](Loop *L) { return L->isLoopSimplifyForm() && promoteUpdates(*L, F, *S); });
}

extern "C" bool prs_promote_pointers(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    if (!L->isLoopSimplifyForm() || !L->isLCSSAForm(S->FAM.getResult<DominatorTreeAnalysis>(F)))
      continue;
    // Of loops around loops; in others there is no base to keep.
    const DataLayout &DL = F.getParent()->getDataLayout();
    if (!L->isInnermost())
      Changed |= promote(*L, F, *S, placesOf(*L, DL));
    Changed |= promote(*L, F, *S, countersOf(*L, DL));
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
