// Loops of few iterations whose subscripts come from tables, or which choose among variables, unrolled; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;
using pollyrs::Session;

// Uses that are followed from a value to an address.
static constexpr unsigned MaxUses = 256;

// Whether some address is computed from `V`.
static bool reachesAddress(Value &V) {
  SmallPtrSet<Value *, 16> Seen{&V};
  SmallVector<Value *, 16> Work{&V};
  unsigned Uses = 0;
  while (!Work.empty())
    for (User *U : Work.pop_back_val()->users()) {
      if (++Uses > MaxUses)
        return false;
      if (isa<GetElementPtrInst>(U))
        return true;
      if (U->getType()->isIntegerTy() && (isa<BinaryOperator, CastInst, PHINode, SelectInst>(U)) && Seen.insert(U).second)
        Work.push_back(U);
    }
  return false;
}

// An object whose elements are known, or may be values, if their subscripts are constants.
static bool isTable(const Value &Object) {
  if (auto *Variable = dyn_cast<AllocaInst>(&Object))
    return Variable->isStaticAlloca() && Variable->getAllocatedType()->isAggregateType();
  auto *Global = dyn_cast<GlobalVariable>(&Object);
  return Global && Global->isConstant() && Global->hasDefinitiveInitializer();
}

static bool indexesByTable(const Loop &L) {
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto *Load = dyn_cast<LoadInst>(&I))
        if (Load->isSimple() && Load->getType()->isIntegerTy() && !L.isLoopInvariant(Load->getPointerOperand()) &&
            isTable(*getUnderlyingObject(Load->getPointerOperand())) && reachesAddress(*Load))
          return true;
  return false;
}

// `*best < *next ? next : best`: a pointer that is kept from one iteration to another, or not, into variables of the function.
static bool choosesElement(const Loop &L, LoopInfo &LI, ScalarEvolution &SE) {
  return any_of(L.getHeader()->phis(), [&](PHINode &PHI) {
    if (!PHI.getType()->isPointerTy() || isa<SCEVAddRecExpr>(SE.getSCEV(&PHI)))
      return false;
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(&PHI, Objects, &LI);
    return all_of(Objects, [](const Value *O) {
      auto *Variable = dyn_cast<AllocaInst>(O);
      return Variable && Variable->isStaticAlloca();
    });
  });
}

// False if there is none.
static bool unrollOne(Session &S, Function &F, uint32_t MaxIterations, uint32_t MaxInstructions) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  for (Loop *L : LI.getLoopsInPreorder()) {
    if (!L->isInnermost() || !L->isLoopSimplifyForm() || (!indexesByTable(*L) && !choosesElement(*L, LI, SE)))
      continue;
    unsigned Count = SE.getSmallConstantTripCount(L);
    uint64_t Size = 0;
    for (BasicBlock *BB : L->blocks())
      Size += BB->size();
    if (Count < 2 || Count > MaxIterations || Size * Count > MaxInstructions)
      continue;
    UnrollLoopOptions Options{};
    Options.Count = Count;
    Options.Force = true;
    Options.ForgetAllSCEV = true;
    OptimizationRemarkEmitter Remarks(&F);
    LoopUnrollResult Result =
        UnrollLoop(L, Options, &LI, &SE, &S.FAM.getResult<DominatorTreeAnalysis>(F), &S.FAM.getResult<AssumptionAnalysis>(F),
                   &S.FAM.getResult<TargetIRAnalysis>(F), &Remarks, /*PreserveLCSSA=*/true);
    if (Result == LoopUnrollResult::Unmodified)
      continue;
    S.FAM.invalidate(F, PreservedAnalyses::none());
    return true;
  }
  return false;
}

extern "C" bool prs_unroll_tables(Session *S, LLVMValueRef FRef, uint32_t MaxLoops, uint32_t MaxIterations,
                                  uint32_t MaxInstructions) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (uint32_t I = 0; I != MaxLoops && unrollOne(*S, F, MaxIterations, MaxInstructions); ++I)
    Changed = true;
  return Changed;
}
