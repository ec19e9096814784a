// Switches as chains of comparisons.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

// A chain of comparisons, one a case, in order. An unreachable default makes the last comparison superfluous.
static void lowerSwitch(SwitchInst &SI) {
  BasicBlock *BB = SI.getParent();
  BasicBlock *Default = SI.getDefaultDest();
  struct Incoming {
    PHINode *PHI;
    Value *V;
  };
  DenseMap<BasicBlock *, SmallVector<Incoming, 4>> Values;
  SmallSetVector<BasicBlock *, 8> Successors(succ_begin(BB), succ_end(BB));
  for (BasicBlock *Succ : Successors)
    for (PHINode &PHI : Succ->phis()) {
      Values[Succ].push_back({&PHI, PHI.getIncomingValueForBlock(BB)});
      PHI.removeIncomingValueIf([&](unsigned I) { return PHI.getIncomingBlock(I) == BB; }, false);
    }
  auto Connect = [&](BasicBlock *From, BasicBlock *To) {
    for (Incoming &In : Values[To])
      In.PHI->addIncoming(In.V, From);
  };
  Value *Condition = SI.getCondition();
  DebugLoc Loc = SI.getDebugLoc();
  SmallVector<std::pair<ConstantInt *, BasicBlock *>, 8> Cases;
  for (auto &Case : SI.cases())
    if (Case.getCaseSuccessor() != Default)
      Cases.push_back({Case.getCaseValue(), Case.getCaseSuccessor()});
  bool NoDefault = isa<UnreachableInst>(Default->front());
  SI.eraseFromParent();
  BasicBlock *Current = BB;
  for (size_t I = 0; I != Cases.size(); ++I) {
    auto [Number, To] = Cases[I];
    bool Last = I + 1 == Cases.size();
    IRBuilder<> B(Current);
    B.SetCurrentDebugLocation(Loc);
    if (Last && NoDefault) {
      B.CreateBr(To);
      Connect(Current, To);
      return;
    }
    BasicBlock *Next =
        Last ? Default : BasicBlock::Create(BB->getContext(), BB->getName() + ".case", BB->getParent(), To);
    B.CreateCondBr(B.CreateICmpEQ(Condition, Number), To, Next);
    Connect(Current, To);
    if (Last)
      Connect(Current, Default);
    Current = Next;
  }
  if (Cases.empty()) {
    IRBuilder<> B(BB);
    B.SetCurrentDebugLocation(Loc);
    B.CreateBr(Default);
    Connect(BB, Default);
  }
}

extern "C" {

bool prs_lower_switches(Session *S, LLVMValueRef FRef, uint32_t MaxCases) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  SmallVector<SwitchInst *, 4> Found;
  for (BasicBlock &BB : F)
    if (auto *SI = dyn_cast<SwitchInst>(BB.getTerminator()); SI && LI.getLoopFor(&BB) && SI->getNumCases() <= MaxCases)
      Found.push_back(SI);
  for (SwitchInst *SI : Found)
    lowerSwitch(*SI);
  if (!Found.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return !Found.empty();
}

} // extern "C"
