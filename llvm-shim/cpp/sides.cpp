// Values at the sides of a grid, `if (j > 0) least = min(least, a[j - 1])`, as a choice between values that
// are computed everywhere; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using pollyrs::Session;

namespace {
// Instructions of a side, and loads among them: each is computed for all points.
constexpr unsigned MaxInstructions = 24, MaxLoads = 4;
// Elements between a load and one that has happened: shorter than rows.
constexpr int64_t MaxDistance = 8;
// Sides of a function.
constexpr unsigned MaxSides = 64;

// A test of counters of loops and what does not change in them; no data.
bool isOfCounters(Value *Test, Loop &L, ScalarEvolution &SE, unsigned Depth = 0) {
  Value *A = nullptr, *B = nullptr;
  if (Depth < 4 && (match(Test, m_LogicalAnd(m_Value(A), m_Value(B))) || match(Test, m_LogicalOr(m_Value(A), m_Value(B)))))
    return isOfCounters(A, L, SE, Depth + 1) && isOfCounters(B, L, SE, Depth + 1);
  auto *Compare = dyn_cast<ICmpInst>(Test);
  return Compare && all_of(Compare->operands(), [&](Value *V) {
           return V->getType()->isIntegerTy() && !SCEVExprContains(SE.getSCEV(V), [&](const SCEV *S) {
             auto *U = dyn_cast<SCEVUnknown>(S);
             auto *I = U ? dyn_cast<Instruction>(U->getValue()) : nullptr;
             return I && L.contains(I);
           });
         });
}

struct Side {
  BasicBlock *From;
  BranchInst *Branch;
  // What each way of the branch computes, if anything, and where both meet.
  BasicBlock *Arms[2];
  BasicBlock *Join;
  // For each load of an arm, one that surely happens before, and how many elements it is away.
  DenseMap<LoadInst *, std::pair<LoadInst *, const SCEV *>> Loads;
};

// A distance along a row in bytes, a number or one for each iteration, in elements; null for others: the next
// row is as far as a product says, and to choose between products is not affine.
const SCEV *elements(const SCEV *S, int64_t Size, ScalarEvolution &SE) {
  if (auto *C = dyn_cast<SCEVConstant>(S)) {
    int64_t N = C->getAPInt().getSExtValue();
    return N % Size || N / Size > MaxDistance || N / Size < -MaxDistance ? nullptr : SE.getConstant(C->getType(), N / Size, /*isSigned=*/true);
  }
  auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  if (!Rec || !Rec->isAffine())
    return nullptr;
  const SCEV *Start = elements(Rec->getStart(), Size, SE), *Step = elements(Rec->getStepRecurrence(SE), Size, SE);
  return Start && Step ? SE.getAddRecExpr(Start, Step, Rec->getLoop(), SCEV::FlagAnyWrap) : nullptr;
}

// A load of the same type and array that has happened before the end of `From`, and how many elements it is
// away. (Where the condition is an equation, the place of a side may be a number.)
std::pair<LoadInst *, const SCEV *> loadedBefore(LoadInst &Load, BasicBlock &From, Loop &L, DominatorTree &DT, ScalarEvolution &SE) {
  const SCEV *At = SE.getSCEV(Load.getPointerOperand());
  int64_t Size = Load.getDataLayout().getTypeStoreSize(Load.getType());
  for (BasicBlock *BB : L.blocks()) {
    if (!DT.dominates(BB, &From))
      continue;
    for (Instruction &I : *BB) {
      auto *Other = dyn_cast<LoadInst>(&I);
      if (!Other || Other->getType() != Load.getType() || !Other->isSimple())
        continue;
      const SCEV *Where = SE.getSCEV(Other->getPointerOperand());
      if (SE.getPointerBase(Where) != SE.getPointerBase(At))
        continue;
      const SCEV *Bytes = SE.getMinusSCEV(At, Where);
      const SCEV *Distance = isa<SCEVCouldNotCompute>(Bytes) ? nullptr : elements(Bytes, Size, SE);
      if (Distance)
        return {Other, Distance};
    }
  }
  return {nullptr, nullptr};
}

// Whether an arm can be computed at its branch.
bool isFree(BasicBlock &Arm, Side &S, Loop &L, DominatorTree &DT, ScalarEvolution &SE, SCEVExpander &Expander) {
  if (Arm.getSinglePredecessor() != S.From || Arm.getSingleSuccessor() != S.Join || !isa<BranchInst>(Arm.getTerminator()) || isa<PHINode>(Arm.front()) ||
      Arm.size() > MaxInstructions)
    return false;
  for (Instruction &I : Arm) {
    if (I.isTerminator())
      break;
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      if (!Load->isSimple() || S.Loads.size() == 2 * MaxLoads)
        return false;
      auto Found = loadedBefore(*Load, *S.From, L, DT, SE);
      if (!Found.first || !Expander.isSafeToExpandAt(Found.second, S.Branch))
        return false;
      S.Loads[Load] = Found;
    } else if (I.mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(&I) || (isa<CallInst>(I) && !isa<IntrinsicInst>(I))) {
      return false;
    }
  }
  return true;
}

// Whether the branch only chooses between values, at the end of an arm of another one of counters to the same
// place: `j > 0 && a[j - 1] < least`.
bool isWithin(const Side &S, Loop &L, ScalarEvolution &SE) {
  BasicBlock *Around = S.From->getSinglePredecessor();
  auto *Branch = Around && L.contains(Around) ? dyn_cast<BranchInst>(Around->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional() || !is_contained(successors(Around), S.Join) || !isOfCounters(Branch->getCondition(), L, SE))
    return false;
  return all_of(S.Branch->successors(), [&](BasicBlock *Way) { return Way == S.Join || (Way->size() == 1 && !isa<PHINode>(Way->front())); });
}

bool sideAt(BasicBlock &From, Loop &L, Side &S, DominatorTree &DT, ScalarEvolution &SE, SCEVExpander &Expander) {
  auto *Branch = dyn_cast<BranchInst>(From.getTerminator());
  if (!Branch || !Branch->isConditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
    return false;
  S = Side();
  S.From = &From;
  S.Branch = Branch;
  BasicBlock *A = Branch->getSuccessor(0), *B = Branch->getSuccessor(1);
  S.Join = A->getSingleSuccessor() == B ? B : B->getSingleSuccessor() == A ? A : A->getSingleSuccessor();
  if (!S.Join || S.Join == L.getHeader() || !L.contains(S.Join) || !isa<PHINode>(S.Join->front()))
    return false;
  bool OfCounters = isOfCounters(Branch->getCondition(), L, SE);
  if (!OfCounters && !isWithin(S, L, SE))
    return false;
  for (unsigned N = 0; N != 2; ++N) {
    BasicBlock *Way = Branch->getSuccessor(N);
    S.Arms[N] = Way == S.Join ? nullptr : Way;
    if (S.Arms[N] && (!L.contains(Way) || !isFree(*Way, S, L, DT, SE, Expander)))
      return false;
  }
  // Without loads a branch costs a thread as much as a choice.
  return !S.Loads.empty() || !OfCounters;
}

void computeAll(Side &S, SCEVExpander &Expander) {
  IRBuilder<> B(S.Branch);
  Value *Test = S.Branch->getCondition();
  for (unsigned N = 0; N != 2; ++N) {
    if (!S.Arms[N])
      continue;
    for (Instruction &I : make_early_inc_range(*S.Arms[N])) {
      if (I.isTerminator())
        break;
      I.moveBefore(S.Branch->getIterator());
      I.dropUBImplyingAttrsAndMetadata();
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load)
        continue;
      // Where the side is not, what has been loaded before is loaded again.
      auto [Other, Distance] = S.Loads[Load];
      B.SetInsertPoint(Load);
      B.SetCurrentDebugLocation(Load->getDebugLoc());
      Value *Away = Expander.expandCodeFor(Distance, Distance->getType(), Load->getIterator());
      Value *None = ConstantInt::get(Away->getType(), 0);
      Value *Elements = N ? B.CreateSelect(Test, None, Away) : B.CreateSelect(Test, Away, None);
      Load->setOperand(0, B.CreateGEP(Load->getType(), Other->getPointerOperand(), Elements));
      Load->setAlignment(std::min(Load->getAlign(), Other->getAlign()));
    }
  }
  B.SetInsertPoint(S.Branch);
  B.SetCurrentDebugLocation(S.Branch->getDebugLoc());
  for (PHINode &P : S.Join->phis()) {
    Value *Values[2];
    for (unsigned N = 0; N != 2; ++N)
      Values[N] = P.getIncomingValueForBlock(S.Arms[N] ? S.Arms[N] : S.From);
    Value *Chosen = Values[0] == Values[1] ? Values[0] : B.CreateSelect(Test, Values[0], Values[1]);
    for (BasicBlock *Arm : S.Arms)
      if (Arm)
        P.removeIncomingValue(Arm, /*DeletePHIIfEmpty=*/false);
    if (P.getBasicBlockIndex(S.From) >= 0)
      P.setIncomingValueForBlock(S.From, Chosen);
    else
      P.addIncoming(Chosen, S.From);
  }
  B.CreateBr(S.Join);
  S.Branch->eraseFromParent();
  for (BasicBlock *Arm : S.Arms)
    if (Arm)
      Arm->eraseFromParent();
}
} // namespace

extern "C" bool prs_compute_sides(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (unsigned Done = 0; Done != MaxSides && S->work(F); ++Done) {
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    ScalarEvolution &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
    SCEVExpander Expander(SE, "pollyrs.sides");
    Side Found;
    bool Any = false;
    for (Loop *L : LI.getLoopsInPreorder()) {
      if (!L->isInnermost() || L->getLoopDepth() < 2)
        continue;
      for (BasicBlock *BB : L->blocks())
        if (sideAt(*BB, *L, Found, DT, SE, Expander)) {
          Any = true;
          break;
        }
      if (Any)
        break;
    }
    if (!Any)
      return Changed;
    computeAll(Found, Expander);
    Changed = true;
    S->FAM.invalidate(F, PreservedAnalyses::none());
  }
  return Changed;
}
