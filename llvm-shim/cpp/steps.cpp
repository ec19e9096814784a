// Versions of loops for the steps of windows that are nearly always taken, one and two; src/prepare.rs has
// the argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// Loops that are larger are not copied, addresses with more terms not looked at.
constexpr unsigned MaxStepBlocks = 64, MaxTerms = 64;

// A product of values, in the order found, and the loop whose counter it has as a factor. Constant factors do
// not matter.
struct Term {
  SmallVector<Value *, 4> Values;
  const Loop *Counter = nullptr;
};
using Terms = SmallVector<Term, 8>;

SmallVector<Value *, 4> sorted(const Term &A) {
  SmallVector<Value *, 4> Values = A.Values;
  sort(Values);
  return Values;
}

bool divides(const Term &A, const Term &B) {
  auto X = sorted(A), Y = sorted(B);
  return std::includes(Y.begin(), Y.end(), X.begin(), X.end());
}

// An expression as a sum of products; false if it has another form.
bool terms(const SCEV *S, Terms &Out) {
  if (Out.size() > MaxTerms)
    return false;
  if (auto *Cast = dyn_cast<SCEVCastExpr>(S))
    return terms(Cast->getOperand(), Out);
  if (isa<SCEVConstant>(S)) {
    Out.push_back({});
    return true;
  }
  if (auto *U = dyn_cast<SCEVUnknown>(S)) {
    Out.push_back({{U->getValue()}, nullptr});
    return true;
  }
  if (auto *Sum = dyn_cast<SCEVAddExpr>(S))
    return all_of(Sum->operands(), [&](const SCEV *O) { return terms(O, Out); });
  Terms All = {Term()};
  auto Multiply = [&](const SCEV *O) {
    Terms By, Result;
    if (!terms(O, By) || By.size() * All.size() > MaxTerms)
      return false;
    for (Term &A : All)
      for (Term &B : By) {
        if (A.Counter && B.Counter)
          return false;
        Result.push_back({A.Values, A.Counter ? A.Counter : B.Counter});
        Result.back().Values.append(B.Values);
      }
    All = std::move(Result);
    return true;
  };
  if (auto *Product = dyn_cast<SCEVMulExpr>(S)) {
    if (!all_of(Product->operands(), Multiply))
      return false;
  } else if (auto *Rec = dyn_cast<SCEVAddRecExpr>(S)) {
    // A stride that is a sum is that of a dimension with a size like `h - f + 1`, in which `f` would look
    // like a step.
    if (!Rec->isAffine() || !terms(Rec->getStart(), Out) || !Multiply(Rec->getOperand(1)) || All.size() != 1)
      return false;
    for (Term &T : All) {
      if (T.Counter)
        return false;
      T.Counter = Rec->getLoop();
    }
  } else {
    return false;
  }
  Out.append(All);
  return true;
}

// The steps of the windows that an address is of: `s` in `x[(i * s + p) * w + j * s + q]`. It takes two outer
// counters to the strides of two inner ones, and the strides of all counters do not divide each other one by
// one, as those of a matrix do. (`w` takes `i` to `j`, and `p` to `q`: neither are all of the latter inside
// of all of the former, nor the other way around, as loops over places in windows are around those over
// windows where these are lowered to a matrix.) Only those of which `L` is the outermost loop: around that
// nothing depends on the step.
void windowSteps(const SCEV *Address, const Loop &L, Session &S, ScalarEvolution &SE, SmallSetVector<Value *, 4> &Steps) {
  Terms All;
  if (!terms(SE.removePointerBase(Address), All))
    return;
  erase_if(All, [](Term &T) { return !T.Counter; });
  if (none_of(All, [&](Term &T) { return T.Counter == &L; }))
    return;
  if (!S.work(All.size() * All.size()))
    return;
  if (all_of(All, [&](Term &A) { return all_of(All, [&](Term &B) { return divides(A, B) || divides(B, A); }); }))
    return;
  SmallSetVector<Value *, 8> Values;
  for (Term &T : All)
    Values.insert(T.Values.begin(), T.Values.end());
  if (!S.work(All.size() * All.size() * Values.size()))
    return;
  for (Value *V : Values) {
    unsigned Pairs = 0;
    // Depths of loops over windows, and over what is in one.
    SmallVector<unsigned, 4> Windows, Places;
    for (Term &Outer : All) {
      Term Rest = Outer;
      auto *At = find(Rest.Values, V);
      if (At == Rest.Values.end())
        continue;
      Rest.Values.erase(At);
      auto *Inner = find_if(All, [&](Term &Other) { return sorted(Other) == sorted(Rest); });
      if (Inner == All.end())
        continue;
      // The tile of a loop over tiles is as long as the step, and no window.
      const SCEV *Count = SE.getBackedgeTakenCount(Inner->Counter);
      if (!isa<SCEVCouldNotCompute>(Count) && SCEVExprContains(Count, [&](const SCEV *O) { return isa<SCEVUnknown>(O) && cast<SCEVUnknown>(O)->getValue() == V; }))
        continue;
      ++Pairs;
      Windows.push_back(Outer.Counter->getLoopDepth());
      Places.push_back(Inner->Counter->getLoopDepth());
    }
    if (Pairs >= 2 && (*max_element(Windows) < *min_element(Places) || *max_element(Places) < *min_element(Windows)))
      Steps.insert(V);
  }
}

// The loop for `Step == Number`: a copy in which it is that number.
void copyFor(Loop &L, Value *Step, uint64_t Number, LoopInfo &LI, DominatorTree &DT) {
  IRBuilder<> B(L.getLoopPreheader()->getTerminator());
  Constant *Known = ConstantInt::get(Step->getType(), Number);
  Value *Same = B.CreateFreeze(B.CreateICmpEQ(Step, Known));
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".step", Map, LI, DT);
  Step->replaceUsesWithIf(Known, [&](Use &U) {
    auto *User = dyn_cast<Instruction>(U.getUser());
    return User && Copy.Blocks.contains(User->getParent()) && !isa<PHINode>(User);
  });
  IRBuilder<>(Copy.Before).CreateCondBr(Same, Copy.Other, Copy.Own);
}

bool divideSteps(Loop &L, Function &F, Session &S) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  if (L.getNumBlocks() > MaxStepBlocks || !pollyrs::isCopyable(L, DT))
    return false;
  SmallSetVector<Value *, 4> Steps;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (Value *Pointer = getLoadStorePointerOperand(&I))
        windowSteps(SE.getSCEV(Pointer), L, S, SE, Steps);
  auto *Step = find_if(Steps, [&](Value *V) { return V->getType()->isIntegerTy() && !isa<Constant>(V) && L.isLoopInvariant(V); });
  if (Step == Steps.end())
    return false;
  for (uint64_t Number : {1, 2})
    copyFor(L, *Step, Number, LI, DT);
  addStringMetadataToLoop(&L, pollyrs::OtherStepsMark);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}
} // namespace

extern "C" bool prs_divide_steps(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  const char *Marks[] = {pollyrs::ApartMark, pollyrs::KeptMark, pollyrs::OtherStepsMark};
  return pollyrs::divideFirst(F, *S, Marks, [&](Loop &L) { return divideSteps(L, F, *S); });
}
