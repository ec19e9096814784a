// Loops that do one of two things with an array, by a number that is known before them: a loop for each;
// src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// Loops that are larger are not copied.
constexpr unsigned MaxUnswitched = 400;

// Accesses of an arm that are compared with those of the other one.
constexpr unsigned MaxCompared = 24;

// By how much an address moves with each loop, outermost last; nothing where that is no plain number.
SmallVector<const SCEV *, 4> strides(const SCEV *A, ScalarEvolution &SE) {
  SmallVector<const SCEV *, 4> Out;
  while (auto *Rec = dyn_cast<SCEVAddRecExpr>(A)) {
    Out.push_back(Rec->isAffine() ? Rec->getStepRecurrence(SE) : SE.getCouldNotCompute());
    A = Rec->getStart();
  }
  return Out;
}

// Whether two numbers or addresses are more apart in some iterations of `L` than in others: no one order of
// dimensions is that of both. Those of loops of their own are compared by what they move by.
bool differ(const SCEV *A, const SCEV *B, bool OneLoop, ValueToSCEVMapTy &Known, const Loop &L, ScalarEvolution &SE) {
  A = SCEVParameterRewriter::rewrite(A, SE, Known);
  B = SCEVParameterRewriter::rewrite(B, SE, Known);
  if (A->getType() != B->getType() || (A->getType()->isPointerTy() && SE.getPointerBase(A) != SE.getPointerBase(B)))
    return false;
  if (!OneLoop) {
    auto OfA = strides(A, SE), OfB = strides(B, SE);
    return OfA.size() > 1 && OfA.size() == OfB.size() && OfA != OfB;
  }
  if (SE.isLoopInvariant(A, &L) || SE.isLoopInvariant(B, &L))
    return false;
  const SCEV *Distance = SE.getMinusSCEV(A, B);
  return !isa<SCEVCouldNotCompute>(Distance) && !SE.isLoopInvariant(Distance, &L);
}

// What a condition says of a number where it holds: `stride == 8` makes an address that uses it another one,
// which need not be in another order.
ValueToSCEVMapTy knownWhere(Value *Condition, ScalarEvolution &SE) {
  ValueToSCEVMapTy Known;
  auto *Test = dyn_cast<ICmpInst>(Condition);
  auto *Number = Test && Test->isEquality() ? dyn_cast<ConstantInt>(Test->getOperand(1)) : nullptr;
  if (Number)
    if (auto *Of = dyn_cast<SCEVUnknown>(SE.getSCEV(Test->getOperand(0))))
      Known[Of->getValue()] = SE.getConstant(Number);
  return Known;
}

// An address that is accessed, and the innermost loop that it is accessed in.
using Accessed = std::pair<const SCEV *, const Loop *>;

// What is accessed in `L` only where control takes the edge.
SmallVector<Accessed, 8> accessedBehind(const BasicBlockEdge &Edge, const Loop &L, DominatorTree &DT, LoopInfo &LI, ScalarEvolution &SE) {
  SmallVector<Accessed, 8> Out;
  for (BasicBlock *BB : L.blocks())
    if (DT.dominates(Edge, BB))
      for (Instruction &I : *BB)
        if (Value *Pointer = getLoadStorePointerOperand(&I); Pointer && Out.size() < MaxCompared)
          Out.push_back({SE.getSCEV(Pointer), LI.getLoopFor(BB)});
  return Out;
}

// Whether `V` may be a pointer or a part of one.
bool mayAddress(const Value &V, ScalarEvolution &SE) {
  Type *T = V.getType();
  return (T->isPointerTy() || (T->isIntegerTy() && T->getIntegerBitWidth() >= 32)) && SE.isSCEVable(T);
}

// Whether the arms of a branch, neither of which leaves the loop, access an array in different orders.
bool divides(const BranchInst &Branch, const Loop &L, DominatorTree &DT, LoopInfo &LI, ScalarEvolution &SE) {
  BasicBlock *T = Branch.getSuccessor(0), *F = Branch.getSuccessor(1);
  if (T == F || !L.contains(T) || !L.contains(F))
    return false;
  ValueToSCEVMapTy Known = knownWhere(Branch.getCondition(), SE);
  // A subscript that each arm computes for what is accessed behind both. (One arm alone is what guards a
  // loop.)
  BasicBlockEdge ToT(Branch.getParent(), T), ToF(Branch.getParent(), F);
  auto ComesBy = [&](const BasicBlockEdge &Edge, const PHINode &PHI, unsigned I) { return DT.dominates(Edge, PHI.getIncomingBlock(I)); };
  for (BasicBlock *BB : L.blocks())
    for (PHINode &PHI : BB->phis()) {
      if (LI.isLoopHeader(BB) || PHI.getNumIncomingValues() != 2 || !mayAddress(PHI, SE))
        continue;
      bool Straight = ComesBy(ToT, PHI, 0) && ComesBy(ToF, PHI, 1), Crossed = ComesBy(ToT, PHI, 1) && ComesBy(ToF, PHI, 0);
      if ((Straight || Crossed) && differ(SE.getSCEV(PHI.getIncomingValue(0)), SE.getSCEV(PHI.getIncomingValue(1)), true, Known, L, SE))
        return true;
    }
  auto Then = accessedBehind({Branch.getParent(), T}, L, DT, LI, SE), Else = accessedBehind({Branch.getParent(), F}, L, DT, LI, SE);
  return any_of(Then, [&](const Accessed &A) {
    return any_of(Else, [&](const Accessed &B) { return differ(A.first, B.first, A.second == B.second, Known, L, SE); });
  });
}

bool divides(SelectInst &Choice, const Loop &L, ScalarEvolution &SE) {
  ValueToSCEVMapTy Known = knownWhere(Choice.getCondition(), SE);
  return mayAddress(Choice, SE) && differ(SE.getSCEV(Choice.getTrueValue()), SE.getSCEV(Choice.getFalseValue()), true, Known, L, SE);
}

// Whether `V` could be computed before `L`.
bool isKnownBefore(Value *V, const Loop &L, unsigned Depth = 4) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I))
    return true;
  return Depth && !isa<PHINode>(I) && !I->mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(I) &&
         all_of(I->operands(), [&](Value *Operand) { return isKnownBefore(Operand, L, Depth - 1); });
}

// The condition, known before `L`, by which an array is accessed in one order or in another.
Value *decisionOf(const Loop &L, DominatorTree &DT, LoopInfo &LI, ScalarEvolution &SE) {
  auto Known = [&](Value *Condition) { return !isa<Constant>(Condition) && Condition->getType()->isIntegerTy() && isKnownBefore(Condition, L); };
  for (BasicBlock *BB : L.blocks()) {
    for (Instruction &I : *BB)
      if (auto *Choice = dyn_cast<SelectInst>(&I); Choice && Known(Choice->getCondition()) && divides(*Choice, L, SE))
        return Choice->getCondition();
    auto *Branch = dyn_cast<BranchInst>(BB->getTerminator());
    if (Branch && Branch->isConditional() && Known(Branch->getCondition()) && divides(*Branch, L, DT, LI, SE))
      return Branch->getCondition();
  }
  return nullptr;
}

bool unswitch(Loop &L, Function &F, Session &S) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  unsigned Size = 0;
  for (BasicBlock *BB : L.blocks())
    Size += BB->size();
  if (Size > MaxUnswitched || !pollyrs::isCopyable(L, DT))
    return false;
  Value *Decision = decisionOf(L, DT, LI, SE);
  bool Moved = false;
  if (!Decision || !L.makeLoopInvariant(Decision, Moved))
    return false;
  // A condition that no iteration asked for may be poison.
  IRBuilder<> B(L.getLoopPreheader()->getTerminator());
  Value *Decided = B.CreateFreeze(Decision);
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".else", Map, LI, DT);
  auto Becomes = [&](bool Holds, auto &&Within) {
    Decision->replaceUsesWithIf(ConstantInt::getBool(Decision->getContext(), Holds), [&](Use &U) {
      auto *User = dyn_cast<Instruction>(U.getUser());
      return User && Within(User->getParent());
    });
  };
  Becomes(false, [&](BasicBlock *BB) { return Copy.Blocks.contains(BB); });
  Becomes(true, [&](BasicBlock *BB) { return L.contains(BB); });
  IRBuilder<>(Copy.Before).CreateCondBr(Decided, Copy.Own, Copy.Other);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}
} // namespace

extern "C" bool prs_unswitch_loops(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  const char *Marks[] = {pollyrs::ApartMark, pollyrs::KeptMark, pollyrs::OtherStepsMark};
  return pollyrs::divideFirst(F, *S, Marks, [&](Loop &L) { return unswitch(L, F, *S); });
}
