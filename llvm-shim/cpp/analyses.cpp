// Loops, regions and dominators of one function, as plain data.

#include "analyses.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/GlobalsModRef.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <memory>
#include <optional>

using namespace llvm;
using pollyrs::Analyses;
using pollyrs::handleOf;
using pollyrs::loopAt;
using pollyrs::None;
using pollyrs::scevOf;
using pollyrs::Session;

static AAResults &aliasAnalysis(Session &S, Function &F) {
  // The default pipeline uses the globals analysis only where it is cached.
  S.MAM.getResult<GlobalsAA>(S.M);
  return S.FAM.getResult<AAManager>(F);
}

Analyses::Analyses(Session &S, Function &F)
    : S(S), F(F), DT(S.FAM.getResult<DominatorTreeAnalysis>(F)), PDT(S.FAM.getResult<PostDominatorTreeAnalysis>(F)),
      LI(S.FAM.getResult<LoopAnalysis>(F)), RI(S.FAM.getResult<RegionInfoAnalysis>(F)),
      SE(S.FAM.getResult<ScalarEvolutionAnalysis>(F)), AA(aliasAnalysis(S, F)) {
  for (Loop *L : LI.getLoopsInPreorder()) {
    LoopIds[L] = Loops.size();
    Loops.push_back(L);
  }
  addRegion(RI.getTopLevelRegion());
  RegionBlocks.resize(Regions.size());
  for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F)) {
    Order.push_back(BB);
    for (Region *R = RI.getRegionFor(BB); R; R = R->getParent())
      RegionBlocks[RegionIds.lookup(R)].push_back(BB);
  }
}

// A new entry block in front of `Entry`, which begins the function. Static allocas must stay in the entry
// block.
static BasicBlock *splitFunctionEntry(BasicBlock &Entry) {
  SmallVector<AllocaInst *, 16> Allocas;
  for (Instruction &I : Entry)
    if (auto *Alloca = dyn_cast<AllocaInst>(&I))
      if (Alloca->isStaticAlloca())
        Allocas.push_back(Alloca);
  auto Position = Entry.begin();
  for (AllocaInst *Alloca : Allocas) {
    if (&*Position == Alloca)
      ++Position;
    else
      Alloca->moveBefore(Entry, Position);
  }
  return splitBlockBefore(&Entry, Position, nullptr, nullptr, nullptr, "pollyrs.check");
}

extern "C" {

bool prs_has_loops(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  return !F.isDeclaration() && !S->FAM.getResult<LoopAnalysis>(F).empty();
}

Analyses *prs_analyses_new(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  return F.isDeclaration() ? nullptr : new Analyses(*S, F);
}

void prs_analyses_free(Analyses *A) { delete A; }

size_t prs_loop_count(Analyses *A) { return A->Loops.size(); }

void prs_loop(Analyses *A, size_t Id, prs_loop_record *Out) {
  const Loop *L = A->Loops[Id];
  Out->parent = L->getParentLoop() ? A->LoopIds.lookup(L->getParentLoop()) : None;
  Out->depth = L->getLoopDepth();
  Out->must_progress = isMustProgress(L) || A->F.willReturn();
  Out->apart = findStringMetadataForLoop(L, pollyrs::ApartMark).has_value();
  Out->kept = findStringMetadataForLoop(L, pollyrs::KeptMark).has_value();
  Out->moves = findStringMetadataForLoop(L, pollyrs::MovesMark).has_value();
  Out->uneven_rows = findStringMetadataForLoop(L, pollyrs::UnevenRowsMark).has_value();
  Out->other_steps = findStringMetadataForLoop(L, pollyrs::OtherStepsMark).has_value();
  Out->tiles = findStringMetadataForLoop(L, pollyrs::TilesMark).has_value();
  Out->points = findStringMetadataForLoop(L, pollyrs::PointsMark).has_value();
  Out->last_of_points = findStringMetadataForLoop(L, pollyrs::LastOfPointsMark).has_value();
  Out->grouped = findStringMetadataForLoop(L, pollyrs::GroupedMark).has_value();
  Out->listed = findStringMetadataForLoop(L, pollyrs::ListedMark).has_value() + findStringMetadataForLoop(L, pollyrs::AsideMark).has_value();
  Out->header = wrap(L->getHeader());
  Out->preheader = wrap(L->getLoopPreheader());
  Out->latch = wrap(L->getLoopLatch());
  Out->exit = wrap(L->getUniqueExitBlock());
}

void prs_loop_blocks(Analyses *A, size_t Id, void *Ctx, prs_pointer_sink Sink) {
  for (BasicBlock *BB : A->Loops[Id]->blocks())
    Sink(Ctx, wrap(BB));
}

void prs_loop_exiting(Analyses *A, size_t Id, void *Ctx, prs_pointer_sink Sink) {
  SmallVector<BasicBlock *, 4> Exiting;
  A->Loops[Id]->getExitingBlocks(Exiting);
  for (BasicBlock *BB : Exiting)
    Sink(Ctx, wrap(BB));
}

size_t prs_innermost_loop(Analyses *A, LLVMBasicBlockRef BB) {
  const Loop *L = A->LI.getLoopFor(unwrap(BB));
  return L ? A->LoopIds.lookup(L) : None;
}

size_t prs_region_count(Analyses *A) { return A->Regions.size(); }

void prs_region(Analyses *A, size_t Id, prs_region_record *Out) {
  const Region *R = A->Regions[Id];
  Out->parent = R->getParent() ? A->RegionIds.lookup(R->getParent()) : None;
  Out->entry = wrap(R->getEntry());
  Out->exit = wrap(R->getExit());
}

void prs_region_blocks(Analyses *A, size_t Id, void *Ctx, prs_pointer_sink Sink) {
  for (BasicBlock *BB : A->RegionBlocks[Id])
    Sink(Ctx, wrap(BB));
}

void prs_reverse_postorder(Analyses *A, void *Ctx, prs_pointer_sink Sink) {
  for (BasicBlock *BB : A->Order)
    Sink(Ctx, wrap(BB));
}

bool prs_dominates(Analyses *A, LLVMBasicBlockRef X, LLVMBasicBlockRef Y) {
  return A->DT.dominates(unwrap(X), unwrap(Y));
}

bool prs_post_dominates(Analyses *A, LLVMBasicBlockRef X, LLVMBasicBlockRef Y) {
  return A->PDT.dominates(unwrap(X), unwrap(Y));
}

// Its activations end in returns and unwinding only, each once.
bool prs_leaves_plainly(LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  if (F.callsFunctionThatReturnsTwice())
    return false;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isMustTailCall())
      return false;
  return true;
}

bool prs_can_speculate(Analyses *A, LLVMValueRef Inst, LLVMValueRef Before) {
  return isSafeToSpeculativelyExecute(unwrap<Instruction>(Inst), unwrap<Instruction>(Before),
                                      &A->S.FAM.getResult<AssumptionAnalysis>(A->F), &A->DT,
                                      &A->S.FAM.getResult<TargetLibraryAnalysis>(A->F));
}

LLVMBasicBlockRef prs_split_entry(Analyses *A, LLVMBasicBlockRef EntryRef, const LLVMBasicBlockRef *Blocks,
                                  size_t Count) {
  BasicBlock &Entry = *unwrap(EntryRef);
  A->Changed = true;
  if (Entry.isEntryBlock()) {
    BasicBlock *Check = splitFunctionEntry(Entry);
    A->DT.recalculate(A->F);
    return wrap(Check);
  }
  SmallPtrSet<BasicBlock *, 32> Inside;
  for (size_t I = 0; I != Count; ++I)
    Inside.insert(unwrap(Blocks[I]));
  SmallSetVector<BasicBlock *, 4> Preds;
  for (BasicBlock *Pred : predecessors(&Entry))
    if (!Inside.contains(Pred)) {
      if (!pollyrs::canRedirect(*Pred))
        return nullptr;
      Preds.insert(Pred);
    }
  if (Preds.empty() || Entry.isEHPad())
    return nullptr;
  return wrap(SplitBlockPredecessors(&Entry, Preds.getArrayRef(), ".pollyrs.check", &A->DT, &A->LI, nullptr,
                                     /*PreserveLCSSA=*/true));
}

bool prs_loop_location(Analyses *A, size_t Id, uint32_t *Line, uint32_t *Column, void *Ctx, prs_byte_sink Sink) {
  return pollyrs::sendLocation(A->Loops[Id]->getStartLoc(), Line, Column, Ctx, Sink);
}

} // extern "C"
