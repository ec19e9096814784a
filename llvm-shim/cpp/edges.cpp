// What the back edge of a loop implies for the values that it carries; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <optional>

using namespace llvm;
using namespace llvm::PatternMatch;
using pollyrs::Session;

namespace {
constexpr unsigned MaxNesting = 6;

// Values that are known on an edge.
using Facts = SmallVector<std::pair<Value *, ConstantInt *>, 8>;

// Notes that `V` is `C`, and what follows from it for the values that it is computed from.
void learn(Value *V, ConstantInt *C, Facts &Known, unsigned Depth = MaxNesting) {
  auto *I = dyn_cast<Instruction>(V);
  // (A counter that is known on its only way back counts all the same.)
  if (!I || !Depth-- || (!V->getType()->isIntegerTy(1) && !isa<SelectInst>(I)))
    return;
  Known.push_back({V, C});
  Value *A, *B;
  if (V->getType()->isIntegerTy(1)) {
    auto Bool = [&](bool Is) { return ConstantInt::getBool(V->getContext(), Is); };
    bool True = C->isOne();
    if (match(V, m_Not(m_Value(A))))
      return learn(A, Bool(!True), Known, Depth);
    if (True ? match(V, m_LogicalAnd(m_Value(A), m_Value(B))) : match(V, m_LogicalOr(m_Value(A), m_Value(B)))) {
      learn(A, C, Known, Depth);
      return learn(B, C, Known, Depth);
    }
    if (auto *Compare = dyn_cast<ICmpInst>(I))
      if (auto *Number = dyn_cast<ConstantInt>(Compare->getOperand(1)); Number && Compare->isEquality()) {
        if (True == (Compare->getPredicate() == CmpInst::ICMP_EQ))
          learn(Compare->getOperand(0), Number, Known, Depth);
        return;
      }
    // (Of other values than zero and one the result would be poison, and the branch on it undefined.)
    if (auto *Trunc = dyn_cast<TruncInst>(I); Trunc && Trunc->hasNoUnsignedWrap())
      return learn(Trunc->getOperand(0), ConstantInt::get(cast<IntegerType>(Trunc->getSrcTy()), True), Known, Depth);
  }
  if (auto *Select = dyn_cast<SelectInst>(I))
    for (bool Arm : {true, false}) {
      auto *Other = dyn_cast<ConstantInt>(Arm ? Select->getFalseValue() : Select->getTrueValue());
      if (!Other || Other == C || !Select->getCondition()->getType()->isIntegerTy(1))
        continue;
      learn(Select->getCondition(), ConstantInt::getBool(V->getContext(), Arm), Known, Depth);
      return learn(Arm ? Select->getTrueValue() : Select->getFalseValue(), C, Known, Depth);
    }
}

// Whether a comparison is known to hold, or not to.
std::optional<bool> compares(CmpPredicate Pred, Value *A, Value *B, const Facts &Known) {
  for (auto &[V, C] : Known)
    if (auto *Compare = dyn_cast<ICmpInst>(V)) {
      CmpInst::Predicate Own = Compare->getPredicate();
      if (Compare->getOperand(0) == B && Compare->getOperand(1) == A)
        Own = CmpInst::getSwappedPredicate(Own);
      else if (Compare->getOperand(0) != A || Compare->getOperand(1) != B)
        continue;
      if (Own == Pred)
        return C->isOne();
      if (Own == CmpInst::getInversePredicate(Pred))
        return C->isZero();
    }
  return std::nullopt;
}

// The value of `V`, which is of the same iteration of `L`, where `Known` is, computed at the end of its
// latch; null if that is `V` itself.
Value *where(Value *V, const Facts &Known, const Loop &L, unsigned Depth = MaxNesting) {
  for (auto &[Other, C] : Known)
    if (V == Other)
      return C;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I) || any_of(L.getSubLoops(), [&](Loop *Inner) { return Inner->contains(I); }) || !Depth ||
      isa<PHINode>(I) || I->mayReadOrWriteMemory())
    return nullptr;
  if (auto *Compare = dyn_cast<ICmpInst>(I))
    if (auto Is = compares(Compare->getPredicate(), Compare->getOperand(0), Compare->getOperand(1), Known))
      return ConstantInt::getBool(V->getContext(), *Is);
  auto Inner = [&](Value *Op) { return where(Op, Known, L, Depth - 1); };
  if (auto *Select = dyn_cast<SelectInst>(I)) {
    auto *C = dyn_cast_or_null<ConstantInt>(Inner(Select->getCondition()));
    if (!C)
      return nullptr;
    Value *Arm = C->isOne() ? Select->getTrueValue() : Select->getFalseValue();
    Value *Simpler = Inner(Arm);
    return Simpler ? Simpler : Arm;
  }
  if (!isa<CastInst>(I) && !isa<BinaryOperator>(I) && !isa<GetElementPtrInst>(I) && !isa<FreezeInst>(I) && !isa<ICmpInst>(I))
    return nullptr;
  SmallVector<std::pair<unsigned, Value *>, 2> Changed;
  SmallVector<Constant *, 2> Constants;
  for (Use &Op : I->operands()) {
    Value *Simpler = Inner(Op);
    if (Simpler)
      Changed.push_back({Op.getOperandNo(), Simpler});
    if (auto *C = dyn_cast<Constant>(Simpler ? Simpler : Op.get()))
      Constants.push_back(C);
  }
  if (Changed.empty())
    return nullptr;
  if (Constants.size() == I->getNumOperands() && !isa<FreezeInst>(I) && !isa<ICmpInst>(I))
    if (Constant *C = ConstantFoldInstOperands(I, Constants, I->getDataLayout()))
      return C;
  Instruction *Copy = I->clone();
  for (auto &[At, Simpler] : Changed)
    Copy->setOperand(At, Simpler);
  // What was poison for another value of the condition says nothing here; what is computed is the same.
  Copy->insertBefore(L.getLoopLatch()->getTerminator()->getIterator());
  return Copy;
}

// What a comparison is known to be because of another: `i + 1 > n` is false where `i < n`, in which nothing
// wraps.
std::optional<bool> implied(Value *V, const Facts &Known) {
  if (auto *C = dyn_cast<ConstantInt>(V))
    return C->isOne();
  auto *Compare = dyn_cast<ICmpInst>(V);
  if (!Compare)
    return std::nullopt;
  Value *A = Compare->getOperand(0), *B = Compare->getOperand(1), *X;
  CmpInst::Predicate Pred = Compare->getPredicate();
  if (!match(A, m_Add(m_Value(X), m_One()))) {
    std::swap(A, B);
    Pred = CmpInst::getSwappedPredicate(Pred);
    if (!match(A, m_Add(m_Value(X), m_One())))
      return std::nullopt;
  }
  bool Beyond = Pred == CmpInst::ICMP_UGT || Pred == CmpInst::ICMP_SGT;
  if (!Beyond && Pred != CmpInst::ICMP_ULE && Pred != CmpInst::ICMP_SLE)
    return std::nullopt;
  if (compares(CmpInst::isUnsigned(Pred) ? CmpInst::ICMP_ULT : CmpInst::ICMP_SLT, X, B, Known) == std::optional(true))
    return !Beyond;
  return std::nullopt;
}

// `V` as the condition by which it selects between numbers, or its negation; `V` if it does not.
Value *selecting(Value *V, IRBuilder<> &B) {
  Value *X, *Condition;
  ConstantInt *T, *F;
  CmpPredicate Pred;
  ConstantInt *Number = nullptr;
  bool Equal = true;
  if (match(V, m_ICmp(Pred, m_Value(X), m_ConstantInt(Number))) && CmpInst::isEquality(Pred))
    Equal = Pred == CmpInst::ICMP_EQ;
  else if (!match(V, m_Trunc(m_Value(X))))
    return V;
  if (!match(X, m_Select(m_Value(Condition), m_ConstantInt(T), m_ConstantInt(F))) || !Condition->getType()->isIntegerTy(1))
    return V;
  auto Holds = [&](ConstantInt *C) { return Number ? (C == Number) == Equal : C->getValue()[0]; };
  if (Holds(T) == Holds(F))
    return V;
  if (Holds(T))
    return Condition;
  // (Scalar evolution does not look through a negation.)
  if (auto *Compare = dyn_cast<ICmpInst>(Condition))
    return B.CreateICmp(Compare->getInversePredicate(), Compare->getOperand(0), Compare->getOperand(1));
  return B.CreateNot(Condition);
}

// The test of an inclusive range, `at_end || next > end` where `next` is beyond the end only if it is
// reached, as `at_end`, or the same negated; null if it has another form.
Value *withoutSecondTest(BranchInst &Branch, bool Stays, const Loop &L) {
  Value *A, *B;
  if (!(Stays ? match(Branch.getCondition(), m_LogicalAnd(m_Value(A), m_Value(B)))
              : match(Branch.getCondition(), m_LogicalOr(m_Value(A), m_Value(B)))))
    return nullptr;
  Facts Known;
  learn(A, ConstantInt::getBool(A->getContext(), Stays), Known);
  Value *Then = where(B, Known, L);
  if (!Then || implied(Then, Known) != std::optional(Stays))
    return nullptr;
  IRBuilder<> Builder(&Branch);
  return selecting(A, Builder);
}

// A value that is the same number in all iterations.
bool foldConstant(PHINode &PHI) {
  auto *C = dyn_cast<ConstantInt>(PHI.getIncomingValue(0));
  if (!C || !all_of(PHI.incoming_values(), [&](Value *V) { return V == C; }))
    return false;
  PHI.replaceAllUsesWith(C);
  return true;
}
} // namespace

// `continue` leads to the head of a loop beside its end, which LLVM would take for a loop around another.
extern "C" bool prs_join_back_edges(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder()) {
    SmallVector<BasicBlock *, 4> Latches;
    L->getLoopLatches(Latches);
    auto Plain = [](BasicBlock *BB) { return isa<BranchInst>(BB->getTerminator()) || isa<SwitchInst>(BB->getTerminator()); };
    if (Latches.size() < 2 || L->getHeader()->isEHPad() || !all_of(Latches, Plain))
      continue;
    Changed |= SplitBlockPredecessors(L->getHeader(), Latches, ".again", &DT, &LI) != nullptr;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

extern "C" bool prs_specialise_back_edges(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    BasicBlock *Latch = L->getLoopLatch(), *Header = L->getHeader();
    auto *Branch = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
    if (!Branch || Branch->isUnconditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
      continue;
    bool Stays = Branch->getSuccessor(0) == Header;
    Facts Known;
    learn(Branch->getCondition(), ConstantInt::getBool(F.getContext(), Stays), Known);
    for (PHINode &PHI : Header->phis()) {
      if (Value *V = where(PHI.getIncomingValueForBlock(Latch), Known, *L)) {
        PHI.setIncomingValueForBlock(Latch, V);
        Changed = true;
      }
      Changed |= foldConstant(PHI);
    }
    if (Value *Test = withoutSecondTest(*Branch, Stays, *L)) {
      Branch->setCondition(Test);
      Changed = true;
    }
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
