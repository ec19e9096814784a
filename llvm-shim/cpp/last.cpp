// The last value that a condition lets through, `if (x[i] < 0) last = i;`, as a maximum with its place;
// src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// Comparisons that stand for conditions in the working copy.
constexpr const char LastMark[] = "pollyrs.last";
// Instructions that a condition is made of, and choices of one loop.
constexpr unsigned MaxCondition = 256, MaxLast = 16;

// A value that iterations hand on, and what it becomes.
struct LastChoice {
  PHINode *Old;
  SelectInst *New;
  // Whether the new value is taken where the condition holds.
  bool Holds;
  Value *taken() const { return Holds ? New->getTrueValue() : New->getFalseValue(); }
};

class LastChoices {
  Loop &L;
  ScalarEvolution &SE;
  BasicBlock *Header = L.getHeader(), *Latch = L.getLoopLatch(), *Preheader = L.getLoopPreheader();
  // The number of the iteration.
  PHINode *Number = nullptr;

  // Whether the condition is known without what other iterations have chosen.
  bool isOfIteration(Value *Condition) const {
    SmallVector<Instruction *, 16> Work;
    SmallPtrSet<Instruction *, 32> Seen;
    auto Push = [&](Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      if (I && L.contains(I) && Seen.insert(I).second)
        Work.push_back(I);
    };
    Push(Condition);
    bool Loads = false;
    while (!Work.empty() && Seen.size() <= MaxCondition) {
      Instruction *I = Work.pop_back_val();
      Loads |= isa<LoadInst>(I);
      if (auto *PHI = dyn_cast<PHINode>(I); PHI && PHI->getParent() == Header) {
        auto *Counter = SE.isSCEVable(PHI->getType()) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(PHI)) : nullptr;
        if (!Counter || !Counter->isAffine())
          return false;
        continue;
      }
      for (Value *V : I->operands())
        Push(V);
    }
    // What depends on counters alone is no choice that data makes.
    return Work.empty() && Loads;
  }

  bool match(PHINode &PHI, LastChoice &Found) const {
    Type *Ty = PHI.getType();
    auto *New = dyn_cast<SelectInst>(PHI.getIncomingValueForBlock(Latch));
    if (!(Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64) && !Ty->isFloatTy() && !Ty->isDoubleTy())
      return false;
    if (!New || !L.contains(New) || New->getTrueValue() == New->getFalseValue() || !New->getCondition()->getType()->isIntegerTy(1))
      return false;
    Found = {&PHI, New, New->getFalseValue() == &PHI};
    if (!Found.Holds && New->getTrueValue() != &PHI)
      return false;
    // Nothing in the loop looks at it.
    auto OfChoice = [&](User *U, Value *Other) { return U == Other || !L.contains(cast<Instruction>(U)); };
    if (!all_of(PHI.users(), [&](User *U) { return OfChoice(U, New); }) || !all_of(New->users(), [&](User *U) { return OfChoice(U, &PHI); }))
      return false;
    return L.contains(dyn_cast<Instruction>(New->getCondition()) ? cast<Instruction>(New->getCondition())->getParent() : nullptr) &&
           isOfIteration(New->getCondition());
  }

  PHINode *number() {
    if (Number)
      return Number;
    Type *Ty = Type::getInt64Ty(Header->getContext());
    Number = PHINode::Create(Ty, 2, "iteration", Header->begin());
    IRBuilder<> Builder(Latch->getTerminator());
    Number->addIncoming(ConstantInt::get(Ty, 0), Preheader);
    Number->addIncoming(Builder.CreateAdd(Number, ConstantInt::get(Ty, 1), "iteration.next", true, true), Latch);
    return Number;
  }

  // The condition as one that says that the new value is taken; no poison is handed on.
  Value *holds(IRBuilder<> &Builder, const LastChoice &C) {
    Value *Condition = Builder.CreateFreeze(C.New->getCondition());
    return C.Holds ? Condition : Builder.CreateNot(Condition);
  }

  // A value that is the same in all iterations: whether any took it.
  void any(const LastChoice &C) {
    IRBuilder<> Builder(C.New);
    auto *Flag = PHINode::Create(Builder.getInt1Ty(), 2, "any", Header->begin());
    Value *Next = Builder.CreateOr(holds(Builder, C), Flag);
    Flag->addIncoming(Builder.getFalse(), Preheader);
    Flag->addIncoming(Next, Latch);
    Value *First = C.Old->getIncomingValueForBlock(Preheader), *Taken = C.taken();
    SmallVector<Use *, 8> Uses;
    for (Value *V : {static_cast<Value *>(C.Old), static_cast<Value *>(C.New)})
      for (Use &U : V->uses())
        if (!L.contains(cast<Instruction>(U.getUser())))
          Uses.push_back(&U);
    for (Use *U : Uses) {
      // Loops are in closed form: who uses it is a PHI of an exit.
      auto *PHI = cast<PHINode>(U->getUser());
      BasicBlock *Exit = PHI->getParent();
      auto *Closed = PHINode::Create(Builder.getInt1Ty(), PHI->getNumIncomingValues(), "any.closed", Exit->begin());
      for (BasicBlock *From : PHI->blocks())
        Closed->addIncoming(U->get() == C.Old ? static_cast<Value *>(Flag) : Next, From);
      IRBuilder<> Behind(Exit, Exit->getFirstInsertionPt());
      PHI->replaceAllUsesWith(Behind.CreateSelect(Closed, Taken, First));
      PHI->eraseFromParent();
    }
    C.Old->replaceAllUsesWith(PoisonValue::get(C.Old->getType()));
    C.New->replaceAllUsesWith(PoisonValue::get(C.New->getType()));
    C.New->eraseFromParent();
    C.Old->eraseFromParent();
  }

  // Anything else: the last iteration that took one is a maximum, beside which the value is kept.
  void last(ArrayRef<LastChoice> Same) {
    const LastChoice &C = Same.front();
    // All are where the first of them is.
    Instruction *At = C.New;
    IRBuilder<> Builder(At);
    Type *Ty = Builder.getInt64Ty();
    auto *Last = PHINode::Create(Ty, 2, "last", Header->begin());
    Value *None = ConstantInt::getSigned(Ty, -1);
    Value *Condition = holds(Builder, C);
    auto *Own = cast<SelectInst>(SelectInst::Create(Condition, number(), None, "own", At->getIterator()));
    auto *Later = new ICmpInst(At->getIterator(), ICmpInst::ICMP_SGT, Own, Last, "later");
    Later->setMetadata(LastMark, MDNode::get(Later->getContext(), {}));
    Value *Next = Builder.CreateBinaryIntrinsic(Intrinsic::smax, Own, Last);
    Last->addIncoming(None, Preheader);
    Last->addIncoming(Next, Latch);
    for (const LastChoice &Each : Same) {
      Value *Taken = Each.taken();
      Each.New->setOperand(0, Later);
      Each.New->setTrueValue(Taken);
      Each.New->setFalseValue(Each.Old);
    }
  }

  // Whether the uses behind the loop are PHIs of exits that come from it alone.
  bool isClosed(const LastChoice &C) const {
    for (Value *V : {static_cast<Value *>(C.Old), static_cast<Value *>(C.New)})
      for (User *U : V->users()) {
        auto *I = cast<Instruction>(U);
        if (L.contains(I))
          continue;
        auto *PHI = dyn_cast<PHINode>(I);
        if (!PHI || !all_of(PHI->incoming_values(), [&](Value *From) { return From == V; }) ||
            PHI->getParent()->getFirstInsertionPt() == PHI->getParent()->end())
          return false;
      }
    return true;
  }

public:
  LastChoices(Loop &L, ScalarEvolution &SE) : L(L), SE(SE) {}

  bool run() {
    if (!Latch || !Preheader || !L.isInnermost())
      return false;
    SmallVector<LastChoice, 4> Found;
    for (PHINode &PHI : Header->phis()) {
      LastChoice C;
      if (Found.size() < MaxLast && match(PHI, C))
        Found.push_back(C);
    }
    bool Changed = false;
    SmallVector<SmallVector<LastChoice, 4>, 4> Groups;
    for (const LastChoice &C : Found) {
      if (L.isLoopInvariant(C.taken())) {
        if (isClosed(C)) {
          any(C);
          Changed = true;
        }
        continue;
      }
      auto *Group = find_if(Groups, [&](ArrayRef<LastChoice> G) {
        const LastChoice &First = G.front();
        return First.New->getCondition() == C.New->getCondition() && First.Holds == C.Holds && First.New->getParent() == C.New->getParent();
      });
      if (Group == Groups.end())
        Groups.push_back({C});
      else if (Group->front().New->comesBefore(C.New))
        Group->push_back(C);
      else
        Group->insert(Group->begin(), C);
    }
    for (ArrayRef<LastChoice> Group : Groups)
      last(Group);
    return Changed || !Groups.empty();
  }
};
} // namespace

extern "C" {

bool prs_number_last(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  auto &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    if (S->work(F))
      Changed |= LastChoices(*L, SE).run();
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

void prs_restore_last(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<ICmpInst *, 8> Marked;
  for (Instruction &I : instructions(F))
    if (auto *Compare = dyn_cast<ICmpInst>(&I); Compare && Compare->hasMetadata(LastMark))
      Marked.push_back(Compare);
  for (ICmpInst *Compare : Marked) {
    auto *Own = dyn_cast<SelectInst>(Compare->getOperand(0));
    if (!Own) {
      Compare->setMetadata(LastMark, nullptr);
      continue;
    }
    Compare->replaceAllUsesWith(Own->getCondition());
    Compare->eraseFromParent();
  }
  if (!Marked.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
}

} // extern "C"
