// Region shape: one edge in, one edge out.

#include "shim.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using pollyrs::Session;

bool pollyrs::isForwarder(const BasicBlock &BB) {
  const Instruction *T = BB.getTerminator();
  return T && isa<BranchInst>(T) && T->getNumSuccessors() == 1 && &*BB.getFirstNonPHIIt() == T;
}

bool pollyrs::canRedirect(const BasicBlock &Pred) {
  const Instruction *T = Pred.getTerminator();
  return T && !isa<IndirectBrInst>(T) && !isa<CallBrInst>(T);
}

namespace {
// "The edges from `Preds` into `Target` shall go through a block of their own."
struct Split {
  BasicBlock *Target;
  SmallVector<BasicBlock *, 4> Preds;
  const char *Suffix;
};
} // namespace

// The predecessors of `BB` on one side of the region, or nothing if they already are one edge, or all predecessors of a
// block that does nothing but join them: splitting that again would never end.
static SmallVector<BasicBlock *, 4> edgesToJoin(BasicBlock &BB, const Region &R, bool Inside) {
  SmallVector<BasicBlock *, 4> Preds;
  if (BB.isEHPad())
    return Preds;
  SmallSetVector<BasicBlock *, 4> Unique;
  unsigned Edges = 0;
  bool Others = false;
  for (BasicBlock *Pred : predecessors(&BB)) {
    if (R.contains(Pred) != Inside) {
      Others = true;
      continue;
    }
    if (!pollyrs::canRedirect(*Pred))
      return Preds;
    ++Edges;
    Unique.insert(Pred);
  }
  if (Edges > 1 && (Others || !pollyrs::isForwarder(BB)))
    Preds.assign(Unique.begin(), Unique.end());
  return Preds;
}

static void planSplits(const Region &R, const SmallPtrSetImpl<const Region *> &WithLoop,
                       SmallPtrSetImpl<BasicBlock *> &Touched, SmallVectorImpl<Split> &Plan) {
  for (const auto &Child : R)
    if (WithLoop.contains(Child.get()))
      planSplits(*Child, WithLoop, Touched, Plan);
  if (R.isTopLevelRegion())
    return;
  // One split a block and round: the next round sees the new shape.
  for (bool Inside : {true, false}) {
    BasicBlock *Target = Inside ? R.getExit() : R.getEntry();
    if (!Target || Touched.contains(Target))
      continue;
    auto Preds = edgesToJoin(*Target, R, Inside);
    if (Preds.empty())
      continue;
    Touched.insert(Target);
    Plan.push_back({Target, std::move(Preds), Inside ? ".region_end" : ".region_begin"});
  }
}

extern "C" void prs_simplify_regions(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  if (F.isDeclaration())
    return;
  // A round settles at least one block; nesting depth of regions bounds the rounds in practice.
  for (size_t Round = 0, Limit = F.size() + 1; Round != Limit; ++Round) {
    RegionInfo &RI = S->FAM.getResult<RegionInfoAnalysis>(F);
    DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    SmallPtrSet<const Region *, 16> WithLoop;
    for (BasicBlock &BB : F)
      if (LI.isLoopHeader(&BB))
        for (Region *R = RI.getRegionFor(&BB); R && WithLoop.insert(R).second; R = R->getParent())
          ;
    SmallVector<Split, 8> Plan;
    SmallPtrSet<BasicBlock *, 8> Touched;
    planSplits(*RI.getTopLevelRegion(), WithLoop, Touched, Plan);
    if (Plan.empty())
      return;
    for (Split &P : Plan)
      SplitBlockPredecessors(P.Target, P.Preds, P.Suffix, &DT, &LI, nullptr, /*PreserveLCSSA=*/true);
    S->FAM.invalidate(F, PreservedAnalyses::none());
  }
}
