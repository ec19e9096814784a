// Versions of loops for the steps of windows that are nearly always taken, one and two; src/prepare.rs has the argument.

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

// A product of values, sorted, and whether of a loop counter as well. Constant factors do not matter.
struct Term {
  SmallVector<Value *, 4> Values;
  bool Counted = false;
};
using Terms = SmallVector<Term, 8>;

Term product(const Term &A, const Term &B) {
  Term P = A;
  P.Values.append(B.Values.begin(), B.Values.end());
  sort(P.Values);
  P.Counted |= B.Counted;
  return P;
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
    Out.push_back({{U->getValue()}, false});
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
      for (Term &B : By)
        Result.push_back(product(A, B));
    All = std::move(Result);
    return true;
  };
  if (auto *Product = dyn_cast<SCEVMulExpr>(S)) {
    if (!all_of(Product->operands(), Multiply))
      return false;
  } else if (auto *Rec = dyn_cast<SCEVAddRecExpr>(S)) {
    if (!Rec->isAffine() || !terms(Rec->getStart(), Out) || !Multiply(Rec->getOperand(1)))
      return false;
    for (Term &T : All)
      T.Counted = true;
  } else {
    return false;
  }
  Out.append(All);
  return true;
}

bool divides(const Term &A, const Term &B) { return std::includes(B.Values.begin(), B.Values.end(), A.Values.begin(), A.Values.end()); }

// The steps of the windows that an address is of: `s` in `x[(i * s + p) * w + j * s + q]`. It takes two counters from one stride to another one each,
// and the strides of all counters do not divide each other one by one, as those of a matrix do.
void windowSteps(const SCEV *Address, ScalarEvolution &SE, SmallSetVector<Value *, 4> &Steps) {
  Terms All;
  if (!terms(SE.removePointerBase(Address), All))
    return;
  SmallVector<Term, 8> Strides;
  for (Term &T : All)
    if (T.Counted && none_of(Strides, [&](Term &S) { return S.Values == T.Values; }))
      Strides.push_back(T);
  bool Chain = all_of(Strides, [&](Term &A) { return all_of(Strides, [&](Term &B) { return divides(A, B) || divides(B, A); }); });
  if (Chain)
    return;
  SmallSetVector<Value *, 8> Values;
  for (Term &S : Strides)
    Values.insert(S.Values.begin(), S.Values.end());
  for (Value *V : Values)
    if (count_if(Strides, [&](Term &S) {
          Term Rest = S;
          auto *At = find(Rest.Values, V);
          if (At == Rest.Values.end())
            return false;
          Rest.Values.erase(At);
          return any_of(Strides, [&](Term &Other) { return Other.Values == Rest.Values; });
        }) >= 2)
      Steps.insert(V);
}

// The loop for `Step == Number`: a copy in which it is that number.
void copyFor(Loop &L, Value *Step, uint64_t Number, LoopInfo &LI, DominatorTree &DT) {
  BasicBlock *Before = L.getLoopPreheader(), *Exit = L.getUniqueExitBlock();
  IRBuilder<> B(Before->getTerminator());
  Constant *Known = ConstantInt::get(Step->getType(), Number);
  Value *Same = B.CreateFreeze(B.CreateICmpEQ(Step, Known));
  BasicBlock *Own = SplitBlock(Before, Before->getTerminator(), &DT, &LI);
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 16> Copies;
  cloneLoopWithPreheader(Own, Before, &L, Map, ".step", &LI, &DT, Copies);
  remapInstructionsInBlocks(Copies, Map);
  for (PHINode &PHI : Exit->phis())
    for (unsigned I = 0, E = PHI.getNumIncomingValues(); I != E; ++I)
      if (L.contains(PHI.getIncomingBlock(I))) {
        Value *V = PHI.getIncomingValue(I), *Copy = Map.lookup(V);
        PHI.addIncoming(Copy ? Copy : V, cast<BasicBlock>(Map[PHI.getIncomingBlock(I)]));
      }
  SmallPtrSet<BasicBlock *, 16> Inside(Copies.begin(), Copies.end());
  Step->replaceUsesWithIf(Known, [&](Use &U) {
    auto *User = dyn_cast<Instruction>(U.getUser());
    return User && Inside.contains(User->getParent()) && !isa<PHINode>(User);
  });
  Before->getTerminator()->eraseFromParent();
  IRBuilder<>(Before).CreateCondBr(Same, cast<BasicBlock>(Map[Own]), Own);
}

bool divideSteps(Loop &L, Function &F, Session &S) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  if (L.getNumBlocks() > MaxStepBlocks || !L.isLoopSimplifyForm() || !L.getUniqueExitBlock() || !L.isSafeToClone() || !L.isLCSSAForm(DT))
    return false;
  SmallSetVector<Value *, 4> Steps;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (Value *Pointer = getLoadStorePointerOperand(&I))
        windowSteps(SE.getSCEV(Pointer), SE, Steps);
  auto *Step = find_if(Steps, [&](Value *V) { return V->getType()->isIntegerTy() && !isa<Constant>(V) && L.isLoopInvariant(V); });
  if (Step == Steps.end())
    return false;
  for (uint64_t Number : {1, 2})
    copyFor(L, *Step, Number, LI, DT);
  addStringMetadataToLoop(&L, pollyrs::KeptMark);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

bool divideStepsWithin(ArrayRef<Loop *> Loops, Function &F, Session &S) {
  for (Loop *L : Loops)
    if (!findStringMetadataForLoop(L, pollyrs::ApartMark) && !findStringMetadataForLoop(L, pollyrs::KeptMark) &&
        (divideSteps(*L, F, S) || divideStepsWithin(L->getSubLoops(), F, S)))
      return true;
  return false;
}
} // namespace

extern "C" bool prs_divide_steps(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  SmallVector<Loop *, 8> Outermost(LI.begin(), LI.end());
  return divideStepsWithin(Outermost, F, *S);
}
