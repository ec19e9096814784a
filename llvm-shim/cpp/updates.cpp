// Updates under conditions on data become updates by a selected value; src/conditions.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

BasicBlock *pollyrs::joinBehind(BasicBlock &Head, LoopInfo &LI, DominatorTree &DT, PostDominatorTree &PDT) {
  auto *Branch = dyn_cast<BranchInst>(Head.getTerminator());
  const Loop *L = LI.getLoopFor(&Head);
  auto *Node = PDT.getNode(&Head);
  if (!L || !Branch || Branch->isUnconditional() || !Node || !Node->getIDom())
    return nullptr;
  BasicBlock *Join = Node->getIDom()->getBlock();
  bool Within = Join && LI.getLoopFor(Join) == L && Join != L->getHeader() && DT.properlyDominates(&Head, Join);
  return Within ? Join : nullptr;
}

namespace {
// Ways with more blocks are not looked at, and no more instructions moved.
constexpr unsigned MaxWayBlocks = 12, MaxMoved = 16;

// What leaves the other operand as it is; null for operations that are not lifted.
Constant *neutral(const BinaryOperator &Op) {
  Type *Ty = Op.getType();
  switch (Op.getOpcode()) {
  case Instruction::Add:
  case Instruction::Or:
  case Instruction::Xor:
    return ConstantInt::get(Ty, 0);
  case Instruction::Mul:
    return ConstantInt::get(Ty, 1);
  case Instruction::FAdd:
    // (Regrouping makes no difference between the two NaNs that this could.)
    return Op.hasAllowReassoc() ? ConstantFP::get(Ty, -0.0) : nullptr;
  default:
    return nullptr;
  }
}

// The update of one PHI behind the ways from `Head` to `Join`.
struct Lift {
  BasicBlock &Head, &Join;
  PHINode &PHI;
  LoopInfo &LI;
  DominatorTree &DT;
  ScalarEvolution &SE;
  // What is updated.
  Value *Old = nullptr;
  // The updates, of one kind.
  SmallVector<BinaryOperator *, 4> Like;
  bool Data = false;
  unsigned Blocks = 0, Moved = 0;

  Lift(BasicBlock &Head, BasicBlock &Join, PHINode &PHI, LoopInfo &LI, DominatorTree &DT, ScalarEvolution &SE)
      : Head(Head), Join(Join), PHI(PHI), LI(LI), DT(DT), SE(SE) {}

  bool isReady(Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return !I || DT.dominates(I, Head.getTerminator());
  }

  // What is added where `V` is an update of `Old` by an operation, or null.
  Value *added(Value *V) const {
    auto *Op = dyn_cast<BinaryOperator>(V);
    if (!Op || !neutral(*Op) || (Op->getOperand(0) == Old) == (Op->getOperand(1) == Old))
      return nullptr;
    return Op->getOperand(Op->getOperand(0) == Old ? 1 : 0);
  }

  // Whether `V` is `Old`, an update of it, or selected among such.
  bool isUpdate(Value *V, unsigned Depth = 3) {
    if (V == Old)
      return true;
    if (auto *Select = dyn_cast<SelectInst>(V); Select && Depth && Select->getCondition()->getType()->isIntegerTy(1))
      return isUpdate(Select->getTrueValue(), Depth - 1) && isUpdate(Select->getFalseValue(), Depth - 1);
    if (!added(V))
      return false;
    auto *Op = cast<BinaryOperator>(V);
    Like.push_back(Op);
    return Op->getOpcode() == Like.front()->getOpcode();
  }

  // Whether the PHI gets `Old` or an update of it on each way.
  bool match() {
    SmallVector<Value *, 4> Candidates;
    for (Value *V : PHI.incoming_values()) {
      if (isa<Instruction>(V) && isReady(V))
        Candidates.push_back(V);
      if (auto *Op = dyn_cast<Instruction>(V); Op && (isa<BinaryOperator>(Op) || isa<SelectInst>(Op)))
        for (Value *Operand : Op->operands())
          if (isa<Instruction>(Operand) && isReady(Operand))
            Candidates.push_back(Operand);
    }
    for (Value *Candidate : Candidates) {
      Old = Candidate;
      Like.clear();
      if (all_of(PHI.incoming_values(), [&](Value *V) { return isUpdate(V); }) && !Like.empty())
        return true;
    }
    return false;
  }

  // Whether what an update adds can be computed at the end of `Head`.
  bool movableUpdate(Value *V) {
    if (V == Old)
      return true;
    if (Value *By = added(V))
      return movable(By);
    auto *Select = cast<SelectInst>(V);
    return movable(Select->getCondition()) && movableUpdate(Select->getTrueValue()) && movableUpdate(Select->getFalseValue());
  }

  Value *moveUpdate(Value *V, IRBuilder<> &B) {
    if (V == Old)
      return neutral(*Like.front());
    if (Value *By = added(V))
      return move(By);
    auto *Select = cast<SelectInst>(V);
    Value *Condition = move(Select->getCondition());
    return B.CreateSelect(Condition, moveUpdate(Select->getTrueValue(), B), moveUpdate(Select->getFalseValue(), B));
  }

  // Whether a value can be computed at the end of `Head`, with what it takes.
  bool movable(Value *V, unsigned Depth = 8) {
    if (isReady(V))
      return true;
    auto *I = cast<Instruction>(V);
    if (!Depth || isa<PHINode>(I) || I->mayReadOrWriteMemory() || ++Moved > MaxMoved ||
        !isSafeToSpeculativelyExecute(I, Head.getTerminator(), nullptr, &DT))
      return false;
    return all_of(I->operands(), [&](Value *Op) { return movable(Op, Depth - 1); });
  }

  Value *move(Value *V) {
    if (isReady(V))
      return V;
    auto *I = cast<Instruction>(V);
    for (Value *Op : I->operands())
      move(Op);
    // (Poison, from flags that hold under the condition only, is not selected without it.)
    I->moveBefore(Head.getTerminator()->getIterator());
    I->dropUBImplyingAttrsAndMetadata();
    return I;
  }

  // Whether the ways from `BB` on, which comes from `From`, lead to the join through conditions that can be
  // computed in the head.
  bool walk(BasicBlock &BB) {
    auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
    if (!Branch || ++Blocks > MaxWayBlocks || LI.getLoopFor(&BB) != LI.getLoopFor(&Head))
      return false;
    if (Branch->isConditional()) {
      if (!movable(Branch->getCondition()))
        return false;
      Data |= pollyrs::dependsOnData(Branch->getCondition(), *LI.getLoopFor(&Head)->getOutermostLoop(), SE);
    }
    return all_of(successors(&BB), [&](BasicBlock *Next) {
      if (Next != &Join)
        return Next != &Head && walk(*Next);
      return movableUpdate(PHI.getIncomingValueForBlock(&BB));
    });
  }

  // What is added on the edge from `From` to `To`.
  Value *build(BasicBlock &From, BasicBlock &To, IRBuilder<> &B) {
    if (&To == &Join)
      return moveUpdate(PHI.getIncomingValueForBlock(&From), B);
    auto *Branch = cast<BranchInst>(To.getTerminator());
    if (Branch->isUnconditional())
      return build(To, *Branch->getSuccessor(0), B);
    return choose(To, *Branch, B);
  }

  Value *choose(BasicBlock &BB, BranchInst &Branch, IRBuilder<> &B) {
    Value *Condition = move(Branch.getCondition());
    Value *T = build(BB, *Branch.getSuccessor(0), B), *F = build(BB, *Branch.getSuccessor(1), B);
    return T == F ? T : B.CreateSelect(Condition, T, F);
  }
};

bool liftUpdate(PHINode &PHI, BasicBlock &Head, BasicBlock &Join, LoopInfo &LI, DominatorTree &DT, ScalarEvolution &SE) {
  Lift L(Head, Join, PHI, LI, DT, SE);
  if (!L.match() || !L.walk(Head) || !L.Data)
    return false;
  IRBuilder<> B(Head.getTerminator());
  Value *By = L.choose(Head, *cast<BranchInst>(Head.getTerminator()), B);
  Instruction *New = L.Like.front()->clone();
  for (BinaryOperator *Op : L.Like)
    New->andIRFlags(Op);
  New->dropPoisonGeneratingFlags();
  New->dropUnknownNonDebugMetadata();
  New->setOperand(0, L.Old);
  New->setOperand(1, By);
  New->insertBefore(Head.getTerminator()->getIterator());
  SmallVector<Instruction *, 4> Dead;
  for (Value *V : PHI.incoming_values())
    if (auto *I = dyn_cast<Instruction>(V); I && I != L.Old && !is_contained(Dead, I))
      Dead.push_back(I);
  PHI.replaceAllUsesWith(New);
  PHI.eraseFromParent();
  for (Instruction *I : Dead)
    if (I->use_empty())
      I->eraseFromParent();
  return true;
}

// The PHIs behind the branch of `Head`.
bool liftUpdates(BasicBlock &Head, LoopInfo &LI, DominatorTree &DT, PostDominatorTree &PDT, ScalarEvolution &SE) {
  BasicBlock *Join = pollyrs::joinBehind(Head, LI, DT, PDT);
  if (!Join)
    return false;
  for (PHINode &PHI : make_early_inc_range(Join->phis()))
    if ((PHI.getType()->isIntegerTy() || PHI.getType()->isFloatingPointTy()) && liftUpdate(PHI, Head, *Join, LI, DT, SE))
      return true;
  return false;
}
} // namespace

extern "C" bool prs_lift_updates(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  PostDominatorTree &PDT = S->FAM.getResult<PostDominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
  bool Changed = false;
  for (BasicBlock &BB : F)
    while (S->work(BB.size()) && liftUpdates(BB, LI, DT, PDT, SE)) {
      S->work(F);
      Changed = true;
      SE.forgetLoop(LI.getLoopFor(&BB)->getOutermostLoop());
    }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
