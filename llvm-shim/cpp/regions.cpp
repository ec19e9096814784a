// Region shape: one edge in, one edge out, and no side effects ahead of the branch that a region begins with.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
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

// The predecessors of `BB` on one side of the region, or nothing if they already are one edge, or all
// predecessors of a block that does nothing but join them: splitting that again would never end.
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

// What no region may hold: a call that does more than compute, an access that is ordered.
static bool hasOwnEffect(const Instruction &I) {
  if (isa<IntrinsicInst>(I))
    return false;
  if (auto *Call = dyn_cast<CallInst>(&I))
    return Call->mayHaveSideEffects() && !(Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with("pollyrs."));
  return I.isAtomic() || I.isVolatile();
}

// The first instruction that a region beginning in `BB` should have: behind the last side effect, and behind
// the arithmetic that follows it, which need not be computed on the device. A choice among values is then a
// number known before the region, rather than one case for each of them. Null if the block has neither.
static Instruction *beginning(BasicBlock &BB) {
  auto Last = find_if(reverse(BB), hasOwnEffect);
  bool Worthwhile = Last != BB.rend();
  Instruction *I = Worthwhile ? Last->getNextNode() : &*BB.getFirstNonPHIOrDbgOrAlloca();
  for (; !I->isTerminator() && !I->mayReadOrWriteMemory(); I = I->getNextNode())
    Worthwhile |= isa<SelectInst>(I);
  return Worthwhile ? I : nullptr;
}

// Blocks that end in a branch around loops are divided: the guard of a loop is often the end of a block with
// calls.
extern "C" void prs_split_effects(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  if (F.isDeclaration())
    return;
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  if (LI.empty())
    return;
  DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  bool Changed = false;
  for (BasicBlock &BB : make_early_inc_range(F)) {
    auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
    const Loop *Own = LI.getLoopFor(&BB);
    // In an innermost loop there is no region to begin, and the test of a loop is no guard.
    if (!Branch || !Branch->isConditional() || (Own && (Own->isInnermost() || Own->isLoopExiting(&BB))))
      continue;
    Instruction *At = beginning(BB);
    if (!At)
      continue;
    SplitBlock(&BB, At, &DT, &LI, nullptr, BB.getName() + ".guard");
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
}

// A loop's counters are those of its new header, whose next values are computed there: scalar evolution
// believes what a step says of a counter only where it is a step of that very PHI, and a region that begins
// behind the header leaves no counter to the loop around. So is what else the loop takes over, but for sums
// that it stores: these keep a PHI in the body as well, as a value of its own, which may be stored for all
// iterations at once.
static void countInHeader(BasicBlock &Header, BasicBlock &Body, const Loop &L) {
  BasicBlock *Latch = L.getLoopLatch();
  if (!Latch)
    return;
  for (PHINode &Own : make_early_inc_range(Body.phis())) {
    auto *Counter = dyn_cast<PHINode>(Own.getIncomingValue(0));
    auto *Step = Counter && Counter->getParent() == &Header ? dyn_cast<Instruction>(Counter->getIncomingValueForBlock(Latch)) : nullptr;
    bool Counts = Step && (isa<GetElementPtrInst>(Step) || Step->getOpcode() == Instruction::Add) &&
                  all_of(Step->operands(), [&](Use &U) { return U.get() == &Own || L.isLoopInvariant(U.get()); });
    auto Stores = [&](User *U) { return isa<StoreInst>(U) && cast<StoreInst>(U)->getValueOperand() == &Own; };
    if (!Counter || (!Counts && any_of(Own.users(), Stores)))
      continue;
    Own.replaceAllUsesWith(Counter);
    Own.eraseFromParent();
    if (Counts && Step->getParent() == &Body)
      Step->moveBefore(Header.getTerminator()->getIterator());
  }
}

extern "C" void prs_simplify_regions(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  if (F.isDeclaration())
    return;
  // A round settles at least one block; nesting depth of regions bounds the rounds in practice.
  for (size_t Round = 0, Limit = F.size() + 1; Round != Limit && S->work(F); ++Round) {
    RegionInfo &RI = S->FAM.getResult<RegionInfoAnalysis>(F);
    DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    SmallPtrSet<const Region *, 16> WithLoop;
    DenseSet<const Loop *> Blocked = pollyrs::blockedLoops(*S, LI);
    for (BasicBlock &BB : F)
      if (LI.isLoopHeader(&BB) && !Blocked.contains(LI.getLoopFor(&BB)))
        for (Region *R = RI.getRegionFor(&BB); R && WithLoop.insert(R).second; R = R->getParent())
          ;
    SmallVector<Split, 8> Plan;
    SmallPtrSet<BasicBlock *, 8> Touched;
    planSplits(*RI.getTopLevelRegion(), WithLoop, Touched, Plan);
    if (Plan.empty())
      return;
    for (Split &P : Plan) {
      BasicBlock *New = SplitBlockPredecessors(P.Target, P.Preds, P.Suffix, &DT, &LI, nullptr, /*PreserveLCSSA=*/true);
      if (New && LI.isLoopHeader(New) && P.Target->getSinglePredecessor() == New)
        countInHeader(*New, *P.Target, *LI.getLoopFor(New));
    }
    S->FAM.invalidate(F, PreservedAnalyses::none());
  }
}
