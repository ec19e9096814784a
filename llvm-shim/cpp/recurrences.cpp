// Values that a loop takes over from the iterations before, computed anew; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// Iterations that are looked back, and instructions that are computed anew in a loop.
constexpr unsigned MaxLookedBack = 4, MaxCopies = 64;
// The largest step with which a counter of 64 bits does not come back to where it began while anyone waits.
constexpr uint64_t MaxStep = 1 << 16;

class Recurrences {
  Loop &L;
  ScalarEvolution &SE;
  DominatorTree &DT;
  LoopInfo &LI;
  AAResults &AA;
  SimpleLoopSafetyInfo Safety;
  BasicBlock *Latch = L.getLoopLatch(), *Preheader = L.getLoopPreheader();
  // Has another value in each iteration.
  PHINode *Counter = nullptr;
  SmallPtrSet<PHINode *, 4> Path;
  unsigned Copies = 0;
  IRBuilder<> Builder;
  DenseMap<std::pair<Value *, unsigned>, Value *> Made;

  Value *first(PHINode &P) { return P.getIncomingValueForBlock(Preheader); }
  Value *next(PHINode &P) { return P.getIncomingValueForBlock(Latch); }

  // What is added to a counter in each iteration.
  const APInt *step(PHINode &P) {
    if (!SE.isSCEVable(P.getType()))
      return nullptr;
    auto *Rec = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&P));
    auto *Step = Rec && Rec->getLoop() == &L && Rec->isAffine() ? dyn_cast<SCEVConstant>(Rec->getStepRecurrence(SE)) : nullptr;
    return Step ? &Step->getAPInt() : nullptr;
  }

  bool isHeaderPHI(Value *V) { return isa<PHINode>(V) && cast<PHINode>(V)->getParent() == L.getHeader(); }

  // What alias scopes say of the original holds in its own iteration only.
  static void forgetScopes(Instruction &Copy) {
    Copy.setMetadata(LLVMContext::MD_alias_scope, nullptr);
    Copy.setMetadata(LLVMContext::MD_noalias, nullptr);
  }

  // What is loaded does not change while the loop runs. Facts about one iteration (noalias scopes, pointers
  // that change places) say nothing of two.
  bool stays(LoadInst &Load) {
    auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(SE.getSCEV(Load.getPointerOperand())));
    if (!Load.isSimple() || !Base || !L.isLoopInvariant(Base->getValue()))
      return false;
    AAMDNodes Tags;
    Tags.TBAA = Load.getAAMetadata().TBAA;
    auto Location = MemoryLocation::getBeforeOrAfter(Base->getValue(), Tags);
    return none_of(L.blocks(), [&](BasicBlock *BB) {
      return any_of(*BB, [&](Instruction &I) { return I.mayWriteToMemory() && isModSet(AA.getModRefInfo(&I, Location)); });
    });
  }

  // Whether iterations can compute what `V` was `Back` iterations earlier.
  bool known(Value *V, unsigned Back) {
    if (L.isLoopInvariant(V))
      return true;
    auto &I = cast<Instruction>(*V);
    if (isHeaderPHI(V)) {
      auto &P = cast<PHINode>(I);
      if (step(P))
        return true;
      if (Back == MaxLookedBack || !Path.insert(&P).second)
        return false;
      bool Known = known(next(P), Back + 1);
      Path.erase(&P);
      return Known;
    }
    if (LI.getLoopFor(I.getParent()) != &L || !DT.dominates(I.getParent(), Latch) || ++Copies > MaxCopies)
      return false;
    bool Always = Safety.isGuaranteedToExecute(I, &DT, &L);
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      if (!Always || !stays(*Load))
        return false;
    } else if (!isa<BinaryOperator, UnaryOperator, CastInst, CmpInst, SelectInst, GetElementPtrInst, IntrinsicInst>(I) ||
               I.mayReadOrWriteMemory() || (isa<CallBase>(I) && cast<CallBase>(I).isConvergent()) ||
               (!Always && !isSafeToSpeculativelyExecute(&I))) {
      return false;
    }
    return all_of(I.operands(), [&](Value *O) { return known(O, Back); });
  }

  // Whether the loop is in iteration `Number`. Without a counter there is a new one.
  Value *isIteration(unsigned Number) {
    if (!Counter) {
      IRBuilder<> Header(L.getHeader(), L.getHeader()->begin()), End(Latch->getTerminator());
      Counter = Header.CreatePHI(Header.getInt64Ty(), 2);
      Counter->addIncoming(Header.getInt64(0), Preheader);
      Counter->addIncoming(End.CreateNUWAdd(Counter, Header.getInt64(1)), Latch);
    }
    Value *Then = Builder.CreateAdd(first(*Counter), ConstantInt::get(Counter->getType(), *step(*Counter) * Number));
    return Builder.CreateICmpEQ(Counter, Then);
  }

  // What `V` was `Back` iterations earlier, or in the first one if there are not as many.
  Value *earlier(Value *V, unsigned Back) {
    if (L.isLoopInvariant(V))
      return V;
    if (Value *Known = Made.lookup({V, Back}))
      return Known;
    Value *Result;
    if (isHeaderPHI(V)) {
      auto &P = cast<PHINode>(*V);
      const APInt *Step = step(P);
      if (!Step) {
        Result = earlier(next(P), Back + 1);
        for (unsigned Number = 0; Number <= Back; ++Number)
          Result = Builder.CreateSelect(isIteration(Number), first(P), Result);
      } else {
        // (A choice between numbers, which are multiplied: the distance is seen to be whole elements.)
        Value *Times = Builder.getIntN(Step->getBitWidth(), Back);
        for (unsigned Number = 0; Number != Back; ++Number)
          Times = Builder.CreateSelect(isIteration(Number), Builder.getIntN(Step->getBitWidth(), Number), Times);
        Value *By = Builder.CreateMul(Times, Builder.getInt(-*Step));
        Result = P.getType()->isPointerTy() ? Builder.CreatePtrAdd(&P, By) : Builder.CreateAdd(&P, By);
      }
    } else {
      auto *Copy = cast<Instruction>(V)->clone();
      forgetScopes(*Copy);
      for (Use &Operand : Copy->operands())
        Operand.set(earlier(Operand.get(), Back));
      Result = Builder.Insert(Copy);
    }
    return Made[{V, Back}] = Result;
  }

  // Where what `P` begins with is what its load would have found before the first iteration: the load of the
  // place so many iterations back. Else null.
  Value *extended(PHINode &P) {
    SmallVector<PHINode *, MaxLookedBack> Chain;
    Value *V = &P;
    for (; isHeaderPHI(V); V = next(cast<PHINode>(*V))) {
      if (Chain.size() == MaxLookedBack || step(cast<PHINode>(*V)))
        return nullptr;
      Chain.push_back(cast<PHINode>(V));
    }
    auto *Load = dyn_cast<LoadInst>(V);
    auto *Place = Load && L.contains(Load) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Load->getPointerOperand())) : nullptr;
    if (!Place || Place->getLoop() != &L || !Place->isAffine())
      return nullptr;
    const SCEV *At = Place->getStart(), *Step = Place->getStepRecurrence(SE);
    for (PHINode *R : reverse(Chain)) {
      At = SE.getMinusSCEV(At, Step);
      auto *First = dyn_cast<LoadInst>(first(*R));
      if (!First || !First->isSimple() || First->getType() != Load->getType() || SE.getSCEV(First->getPointerOperand()) != At ||
          !staysUntilLoop(*First))
        return nullptr;
    }
    SCEVExpander Expander(SE, "pollyrs");
    Instruction *Before = Preheader->getTerminator();
    if (!Expander.isSafeToExpandAt(Step, Before))
      return nullptr;
    Value *By = Expander.expandCodeFor(Step, Step->getType(), Before->getIterator());
    By = Builder.CreateMul(By, ConstantInt::get(By->getType(), -static_cast<int64_t>(Chain.size()), true));
    Value *Pointer = Builder.CreatePtrAdd(earlier(Load->getPointerOperand(), 0), By);
    auto *Copy = Builder.CreateAlignedLoad(Load->getType(), Pointer, Load->getAlign());
    Copy->setAAMetadata(Load->getAAMetadata());
    forgetScopes(*Copy);
    Copy->setDebugLoc(Load->getDebugLoc());
    return Copy;
  }

  // Whether nothing writes what was loaded until the loop begins.
  bool staysUntilLoop(LoadInst &Load) {
    BasicBlock *BB = Preheader;
    for (unsigned Blocks = 0; BB && Blocks != 8; BB = BB->getSinglePredecessor(), ++Blocks) {
      bool Here = BB == Load.getParent();
      for (Instruction &I : Here ? make_range(Load.getIterator(), BB->end()) : make_range(BB->begin(), BB->end()))
        if (I.mayWriteToMemory() && isModSet(AA.getModRefInfo(&I, MemoryLocation::get(&Load))))
          return false;
      if (Here)
        return true;
    }
    return false;
  }

public:
  Recurrences(Loop &L, ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI, AAResults &AA)
      : L(L), SE(SE), DT(DT), LI(LI), AA(AA), Builder(L.getHeader(), L.getHeader()->getFirstInsertionPt()) {
    Safety.computeLoopSafetyInfo(&L);
    for (PHINode &P : L.getHeader()->phis())
      if (const APInt *Step = P.getType()->isIntegerTy() ? step(P) : nullptr; Step && !Step->isZero()) {
        bool Returns = cast<SCEVAddRecExpr>(SE.getSCEV(&P))->getNoWrapFlags() == SCEV::FlagAnyWrap &&
                       !(Step->getBitWidth() >= 64 && Step->abs().ule(MaxStep));
        if (!Returns)
          Counter = &P;
      }
  }

  bool forward() {
    SmallVector<std::pair<PHINode *, Value *>, 4> Forwarded;
    for (PHINode &P : L.getHeader()->phis()) {
      if (step(P) || !(P.getType()->isIntegerTy() || P.getType()->isFloatingPointTy()) || L.isLoopInvariant(next(P)) || !known(&P, 0))
        continue;
      Value *Load = extended(P);
      Forwarded.push_back({&P, Load ? Load : earlier(&P, 0)});
    }
    for (auto [P, V] : Forwarded)
      P->replaceAllUsesWith(V);
    for (auto [P, V] : Forwarded)
      RecursivelyDeleteDeadPHINode(P);
    return !Forwarded.empty();
  }
};
} // namespace

extern "C" bool prs_forward_recurrences(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto &LI = S->FAM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder())
    if (L->isLoopSimplifyForm()) {
      Recurrences R(*L, S->FAM.getResult<ScalarEvolutionAnalysis>(F), S->FAM.getResult<DominatorTreeAnalysis>(F), LI,
                    S->FAM.getResult<AAManager>(F));
      if (R.forward()) {
        S->FAM.getResult<ScalarEvolutionAnalysis>(F).forgetLoop(L);
        Changed = true;
      }
    }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
