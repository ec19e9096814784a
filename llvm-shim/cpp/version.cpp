// Two versions of a region under one check; src/version.rs draws the shape.

#include "shim.h"

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using pollyrs::send;

bool pollyrs::isCopyable(const Loop &L, const DominatorTree &DT) {
  return L.isLoopSimplifyForm() && L.getUniqueExitBlock() && L.isSafeToClone() && L.isLCSSAForm(DT);
}

static bool divideWithin(ArrayRef<Loop *> Loops, ArrayRef<const char *> Marks, function_ref<bool(Loop &)> Divide) {
  return any_of(Loops, [&](Loop *L) {
    bool Marked = any_of(Marks, [&](const char *Mark) { return findStringMetadataForLoop(L, Mark).has_value(); });
    return !Marked && (Divide(*L) || divideWithin(L->getSubLoops(), Marks, Divide));
  });
}

bool pollyrs::divideFirst(Function &F, Session &S, ArrayRef<const char *> Marks, function_ref<bool(Loop &)> Divide) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  SmallVector<Loop *, 8> Outermost(LI.begin(), LI.end());
  return divideWithin(Outermost, Marks, Divide);
}

pollyrs::LoopCopy pollyrs::copyLoop(Loop &L, StringRef Suffix, ValueToValueMapTy &Map, LoopInfo &LI, DominatorTree &DT) {
  BasicBlock *Before = L.getLoopPreheader();
  LoopCopy Copy;
  Copy.Own = SplitBlock(Before, Before->getTerminator(), &DT, &LI);
  SmallVector<BasicBlock *, 16> Blocks;
  Copy.Copied = cloneLoopWithPreheader(Copy.Own, Before, &L, Map, Suffix, &LI, &DT, Blocks);
  remapInstructionsInBlocks(Blocks, Map);
  Copy.Blocks.insert_range(Blocks);
  for (PHINode &PHI : L.getUniqueExitBlock()->phis())
    for (unsigned I = 0, E = PHI.getNumIncomingValues(); I != E; ++I)
      if (L.contains(PHI.getIncomingBlock(I))) {
        Value *V = PHI.getIncomingValue(I), *Copied = Map.lookup(V);
        PHI.addIncoming(Copied ? Copied : V, cast<BasicBlock>(Map[PHI.getIncomingBlock(I)]));
      }
  Before->getTerminator()->eraseFromParent();
  Copy.Before = Before;
  Copy.Other = cast<BasicBlock>(Map[Copy.Own]);
  return Copy;
}

namespace {
using BlockSet = SmallPtrSet<BasicBlock *, 32>;

// Where a use happens: for a PHI, at the end of the incoming block.
BasicBlock *blockOfUse(const Use &U) {
  auto *I = cast<Instruction>(U.getUser());
  if (auto *PHI = dyn_cast<PHINode>(I))
    return PHI->getIncomingBlock(U);
  return I->getParent();
}

// Null if the region qualifies.
const char *whyNotVersionable(BasicBlock &Check, BasicBlock &Entry, BasicBlock &Exit, const BlockSet &Region) {
  if (!Region.contains(&Entry) || Region.contains(&Exit) || Region.contains(&Check))
    return "entry, exit or check is on the wrong side of its border";
  auto *Branch = dyn_cast_or_null<BranchInst>(Check.getTerminator());
  if (!Branch || Branch->getNumSuccessors() != 1 || Branch->getSuccessor(0) != &Entry)
    return "the check block does not branch to the entry unconditionally";
  for (BasicBlock *Pred : predecessors(&Entry))
    if (Pred != &Check && !Region.contains(Pred))
      return "the region can be entered past the check";
  if (Exit.isEHPad() || Entry.isEHPad())
    return "its entry or exit is an exception pad";
  bool Exits = false;
  for (BasicBlock *BB : Region) {
    if (BB != &Entry)
      for (BasicBlock *Pred : predecessors(BB))
        if (!Region.contains(Pred))
          return "it has a second entry";
    for (BasicBlock *Succ : successors(BB)) {
      if (Region.contains(Succ))
        continue;
      if (Succ != &Exit)
        return "it has a second exit";
      if (!pollyrs::canRedirect(*BB))
        return "an exiting edge cannot be redirected";
      Exits = true;
    }
    for (Instruction &I : *BB) {
      if (auto *Alloca = dyn_cast<AllocaInst>(&I); Alloca && BB->isEntryBlock())
        return "it begins the function";
      if (I.getType()->isTokenTy())
        for (Use &U : I.uses())
          if (!Region.contains(blockOfUse(U)))
            return "a token leaves it";
    }
  }
  return Exits ? nullptr : "it does not reach its exit";
}

// `HostEnd` takes the edges from the region to the exit, with a PHI for each PHI of the exit whose values
// differ.
BasicBlock *joinExits(Function &F, BasicBlock &Exit, const BlockSet &Region, const Twine &Name) {
  SmallSetVector<BasicBlock *, 4> Preds;
  for (BasicBlock *Pred : predecessors(&Exit))
    if (Region.contains(Pred))
      Preds.insert(Pred);
  BasicBlock *HostEnd = BasicBlock::Create(F.getContext(), Name, &F, &Exit);
  BranchInst *Branch = BranchInst::Create(&Exit, HostEnd);
  Branch->setDebugLoc(Preds[0]->getTerminator()->getDebugLoc());
  for (PHINode &PHI : Exit.phis()) {
    Value *Common = nullptr;
    bool Differs = false;
    for (BasicBlock *Pred : Preds) {
      Value *V = PHI.getIncomingValueForBlock(Pred);
      Differs |= Common && Common != V;
      Common = V;
    }
    if (Differs) {
      PHINode *Join = PHINode::Create(PHI.getType(), Preds.size(), PHI.getName() + ".host", HostEnd->begin());
      Join->setDebugLoc(PHI.getDebugLoc());
      // A switch may have several edges to the exit: one entry each, as the exit's PHI had.
      for (unsigned I = 0, E = PHI.getNumIncomingValues(); I != E; ++I)
        if (Preds.contains(PHI.getIncomingBlock(I)))
          Join->addIncoming(PHI.getIncomingValue(I), PHI.getIncomingBlock(I));
      Common = Join;
    }
    PHI.removeIncomingValueIf([&](unsigned I) { return Preds.contains(PHI.getIncomingBlock(I)); },
                              /*DeletePHIIfEmpty=*/false);
    PHI.addIncoming(Common, HostEnd);
  }
  for (BasicBlock *Pred : Preds) {
    Instruction *T = Pred->getTerminator();
    T->replaceSuccessorWith(&Exit, HostEnd);
    // Where the exit is the header of a loop around the region, its latch is ours now, and so is the loop's
    // metadata.
    if (T->getNumSuccessors() == 1)
      if (MDNode *LoopID = T->getMetadata(LLVMContext::MD_loop)) {
        Branch->setMetadata(LLVMContext::MD_loop, LoopID);
        T->setMetadata(LLVMContext::MD_loop, nullptr);
      }
  }
  return HostEnd;
}

// Debug records outside the region that describe a variable by the value `From`.
void replaceInDebugRecords(Value &From, Value &To, const BlockSet &Host) {
  SmallVector<DbgVariableRecord *, 4> Records;
  findDbgUsers(&From, Records);
  for (DbgVariableRecord *Record : Records)
    if (!Host.contains(Record->getParent()))
      Record->replaceVariableLocationOp(&From, &To, /*AllowEmpty=*/true);
}
} // namespace

extern "C" bool prs_version_region(LLVMValueRef FRef, LLVMBasicBlockRef CheckRef, LLVMBasicBlockRef EntryRef,
                                   LLVMBasicBlockRef ExitRef, const LLVMBasicBlockRef *Blocks, size_t Count,
                                   prs_version_record *Out, void *LiveOutCtx, prs_pointer_sink LiveOuts, void *Ctx,
                                   prs_byte_sink Sink) {
  Function &F = *unwrap<Function>(FRef);
  LLVMContext &Context = F.getContext();
  BasicBlock &Check = *unwrap(CheckRef), &Entry = *unwrap(EntryRef), &Exit = *unwrap(ExitRef);
  BlockSet Region;
  for (size_t I = 0; I != Count; ++I)
    Region.insert(unwrap(Blocks[I]));
  if (const char *Reason = whyNotVersionable(Check, Entry, Exit, Region)) {
    send(Sink, Ctx, Reason);
    return false;
  }

  Twine Prefix("pollyrs");
  BasicBlock *Offload = BasicBlock::Create(Context, Prefix + ".offload", &F, &Entry);
  BasicBlock *HostBegin = BasicBlock::Create(Context, Prefix + ".host", &F, &Entry);
  BranchInst::Create(&Entry, HostBegin)->setDebugLoc(Check.getTerminator()->getDebugLoc());
  Check.getTerminator()->replaceSuccessorWith(&Entry, HostBegin);
  Entry.replacePhiUsesWith(&Check, HostBegin);

  BasicBlock *HostEnd = joinExits(F, Exit, Region, Prefix + ".host.end");
  BasicBlock *Merge = BasicBlock::Create(Context, Prefix + ".merge", &F, &Exit);
  BranchInst *ToExit = BranchInst::Create(&Exit, Merge);
  Instruction *HostBranch = HostEnd->getTerminator();
  ToExit->setDebugLoc(HostBranch->getDebugLoc());
  ToExit->setMetadata(LLVMContext::MD_loop, HostBranch->getMetadata(LLVMContext::MD_loop));
  HostBranch->setMetadata(LLVMContext::MD_loop, nullptr);
  HostBranch->replaceSuccessorWith(&Exit, Merge);
  Exit.replacePhiUsesWith(HostEnd, Merge);

  // A value of the region dominates its uses outside, and every way there leads through `HostEnd` and
  // `Merge`: so the value dominates `HostEnd`, and a PHI in `Merge` dominates the uses.
  BlockSet Host(Region.begin(), Region.end());
  Host.insert(HostBegin);
  Host.insert(HostEnd);
  df_iterator_default_set<BasicBlock *, 32> Reachable;
  for ([[maybe_unused]] BasicBlock *BB : depth_first_ext(&F, Reachable))
    ;
  SmallVector<BasicBlock *, 32> InOrder;
  for (BasicBlock &BB : F)
    if (Host.contains(&BB))
      InOrder.push_back(&BB);
  for (BasicBlock *BB : InOrder)
    for (Instruction &I : *BB) {
      SmallVector<Use *, 8> Outside;
      // What nothing leads to is error blocks, and their loops, which are put back later: behind blocks of
      // the region, or behind what follows it (pollyrs::Merged).
      for (Use &U : I.uses())
        if (BasicBlock *BB = blockOfUse(U); !Host.contains(BB) && Reachable.contains(BB))
          Outside.push_back(&U);
      if (Outside.empty())
        continue;
      PHINode *PHI = PHINode::Create(I.getType(), 2, I.getName() + ".merge", Merge->getFirstNonPHIIt());
      PHI->setDebugLoc(I.getDebugLoc());
      PHI->addIncoming(&I, HostEnd);
      PHI->setMetadata(pollyrs::Merged, MDNode::get(F.getContext(), {}));
      for (Use *U : Outside)
        U->set(PHI);
      replaceInDebugRecords(I, *PHI, Host);
      LiveOuts(LiveOutCtx, wrap(static_cast<Value *>(&I)));
      LiveOuts(LiveOutCtx, wrap(static_cast<Value *>(PHI)));
    }

  *Out = {wrap(Offload), wrap(HostBegin), wrap(HostEnd), wrap(Merge)};
  return true;
}
