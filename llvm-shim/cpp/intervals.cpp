// Loops in which something happens in every so many iterations only, divided into the iterations between;
// src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using pollyrs::Session;

// On a branch whose loop has been divided.
static constexpr const char Divided[] = "pollyrs.divided";
// Where something happens more often, the iterations between are too few.
static constexpr uint64_t LeastInterval = 4;

namespace {
// `if (counter % Interval == Phase) rare`, with a counter that goes up by one an iteration.
struct Interval {
  BranchInst *Branch;
  BasicBlock *Rare, *Usual;
  const SCEVAddRecExpr *Counter;
  const SCEV *Length, *Phase;
};
} // namespace

static const SCEVAddRecExpr *counterOf(Value *V, const Loop &L, ScalarEvolution &SE) {
  auto *Counter = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(V));
  return Counter && Counter->getLoop() == &L && Counter->isAffine() && Counter->getStepRecurrence(SE)->isOne() ? Counter : nullptr;
}

static std::optional<Interval> intervalOf(BasicBlock &BB, const Loop &L, ScalarEvolution &SE) {
  auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
  CmpPredicate P;
  Value *Rest, *Phase, *Counted, *Length;
  if (!Branch || !Branch->isConditional() || Branch->getMetadata(Divided) ||
      !match(Branch->getCondition(), m_ICmp(P, m_Value(Rest), m_Value(Phase))) || !ICmpInst::isEquality(P))
    return std::nullopt;
  const SCEV *Every = nullptr;
  const SCEVAddRecExpr *Counter = nullptr;
  const APInt *Mask;
  if (match(Rest, m_And(m_Value(Counted), m_APInt(Mask))) && Mask->isMask()) {
    // A power of two divides the range of the type, so that it does no harm if the counter wraps.
    Counter = counterOf(Counted, L, SE);
    Every = Mask->getActiveBits() < Mask->getBitWidth() ? SE.getConstant(*Mask + 1) : nullptr;
  } else if (match(Rest, m_SRem(m_Value(Counted), m_Value(Length)))) {
    Counter = counterOf(Counted, L, SE);
    if (Counter && (!Counter->hasNoSignedWrap() || !SE.isKnownNonNegative(Counter)))
      Counter = nullptr;
    Every = SE.getSCEV(Length);
  } else if (match(Rest, m_URem(m_Value(Counted), m_Value(Length)))) {
    Counter = counterOf(Counted, L, SE);
    if (Counter && !Counter->hasNoUnsignedWrap() && !(Counter->hasNoSignedWrap() && SE.isKnownNonNegative(Counter)))
      Counter = nullptr;
    Every = SE.getSCEV(Length);
  }
  if (!Counter || !Every || !SE.isLoopInvariant(Every, &L) || !SE.isLoopInvariant(SE.getSCEV(Phase), &L))
    return std::nullopt;
  if (auto *C = dyn_cast<SCEVConstant>(Every); C && C->getAPInt().ult(LeastInterval))
    return std::nullopt;
  bool OnTrue = P == ICmpInst::ICMP_EQ;
  return Interval{Branch, Branch->getSuccessor(!OnTrue), Branch->getSuccessor(OnTrue), Counter, Every, SE.getSCEV(Phase)};
}

// What stands in the way of modelling the loop as a whole.
static bool hasCallOrLoop(ArrayRef<BasicBlock *> Blocks, const Loop &L, LoopInfo &LI) {
  return any_of(Blocks, [&](BasicBlock *BB) {
    return LI.getLoopFor(BB) != &L || any_of(*BB, [](Instruction &I) { return isa<CallBase>(I) && !isa<IntrinsicInst>(I) && I.mayHaveSideEffects(); });
  });
}

// The remainder of a counter by the interval, whatever the program's sign: the absolute value, and no
// division by zero where none has happened yet.
static Value *lengthFor(IRBuilder<> &B, Value *Length) {
  Value *Zero = ConstantInt::get(Length->getType(), 0);
  Value *Magnitude = B.CreateSelect(B.CreateICmpSLT(Length, Zero), B.CreateSub(Zero, Length), Length);
  return B.CreateSelect(B.CreateICmpEQ(Length, Zero), ConstantInt::get(Length->getType(), 1), Magnitude);
}

namespace {
// Divides a loop:
//   dispatch: n = iterations until something happens or the loop ends
//   steps:    n iterations without it, in a loop of their own
//   header:   an iteration as it was
class Division {
public:
  Division(Loop &L, const Interval &I, ScalarEvolution &SE)
      : L(L), I(I), SE(SE), Expander(SE, "interval"), F(*L.getHeader()->getParent()), C(F.getContext()), Wide(Type::getInt64Ty(C)),
        Narrow(cast<IntegerType>(I.Counter->getType())), Header(L.getHeader()), Latch(L.getLoopLatch()), Before(L.getLoopPreheader()),
        Exiting(cast<BranchInst>(Latch->getTerminator())), At(Exiting->getDebugLoc()) {
    Exit = Exiting->getSuccessor(Exiting->getSuccessor(0) == Header);
  }

  void run(ArrayRef<BasicBlock *> Usual, const SCEV *Backedges) {
    expandBounds(Backedges);
    copy(Usual);
    Dispatch = BasicBlock::Create(C, "interval", &F, Header);
    Begin = BasicBlock::Create(C, "interval.begin", &F, Header);
    After = BasicBlock::Create(C, "interval.end", &F, Header);
    findCounts();
    IRBuilder<> X(After);
    X.SetCurrentDebugLocation(At);
    PHINode *Taken = X.CreatePHI(Wide, 1, "interval.taken");
    IRBuilder<> D(Dispatch);
    D.SetCurrentDebugLocation(At);
    PHINode *Done = D.CreatePHI(Wide, 2, "interval.done");
    Value *Sum = X.CreateAdd(Done, Taken);
    Last = X.CreateSub(Sum, ConstantInt::get(Wide, 1));
    joinPhis(D, X);
    Value *Steps = decide(D, Done);
    countSteps(Steps);

    // Behind the copy: the end, or an iteration in which it happens.
    Taken->addIncoming(Steps, StepsLatch);
    for (PHINode &P : Exit->phis())
      P.addIncoming(atEnd(X, P.getIncomingValueForBlock(Latch)), After);
    X.CreateCondBr(X.CreateICmpEQ(Sum, Total), Exit, Header);

    PHINode *Number = PHINode::Create(Wide, 2, "interval.number", Header->begin());
    Number->addIncoming(Done, Dispatch);
    Number->addIncoming(Sum, After);
    Exiting->replaceSuccessorWith(Header, Dispatch);
    Value *Following = BinaryOperator::CreateAdd(Number, ConstantInt::get(Wide, 1), "", Exiting->getIterator());
    Done->addIncoming(ConstantInt::get(Wide, 0), Before);
    Done->addIncoming(Following, Latch);
    Before->getTerminator()->replaceSuccessorWith(Header, Dispatch);
    I.Branch->setMetadata(Divided, MDNode::get(C, {}));
  }

private:
  // What is known before the loop.
  void expandBounds(const SCEV *Backedges) {
    Instruction *End = Before->getTerminator();
    Total = Expander.expandCodeFor(SE.getAddExpr(SE.getNoopOrZeroExtend(Backedges, Wide), SE.getOne(Wide)), Wide, End->getIterator());
    First = Expander.expandCodeFor(I.Counter->getStart(), Narrow, End->getIterator());
    Length = Expander.expandCodeFor(I.Length, Narrow, End->getIterator());
    Phase = Expander.expandCodeFor(I.Phase, Narrow, End->getIterator());
    IRBuilder<> B(End);
    Length = lengthFor(B, Length);
  }

  void copy(ArrayRef<BasicBlock *> Usual) {
    for (BasicBlock *BB : Usual) {
      BasicBlock *Copy = CloneBasicBlock(BB, Map, ".steps", &F);
      Map[BB] = Copy;
      Copies.push_back(Copy);
    }
    remapInstructionsInBlocks(Copies, Map);
    StepsHeader = cast<BasicBlock>(Map[Header]);
    StepsLatch = cast<BasicBlock>(Map[Latch]);
  }

  // What counts is known behind the copy, and needs no value of its last iteration. (All is looked up before
  // anything changes.)
  void findCounts() {
    auto LookUp = [&](Value *V) {
      auto *A = V->getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(V)) : nullptr;
      if (A && A->getLoop() == &L && A->isAffine() && isa<SCEVConstant>(A->getStepRecurrence(SE)) && V->getType()->getScalarSizeInBits() <= 64 &&
          Expander.isSafeToExpand(A->getStart()))
        Counts[V] = {Expander.expandCodeFor(A->getStart(), V->getType(), Before->getTerminator()->getIterator()),
                     cast<SCEVConstant>(A->getStepRecurrence(SE))->getValue()};
    };
    for (PHINode &P : Header->phis())
      LookUp(P.getIncomingValueForBlock(Latch));
    for (PHINode &P : Exit->phis())
      LookUp(P.getIncomingValueForBlock(Latch));
  }

  // A value of the loop's last iteration, behind the copy.
  Value *atEnd(IRBuilder<> &X, Value *V) {
    auto Found = Counts.find(V);
    if (Found == Counts.end()) {
      Value *New = Map.lookup(V);
      return New ? New : V;
    }
    auto [Start, Step] = Found->second;
    return X.CreateAdd(Start, X.CreateMul(X.CreateTruncOrBitCast(Last, V->getType()), Step));
  }

  // What an iteration begins with: in the dispatch, in the copy, and in the loop as it was.
  void joinPhis(IRBuilder<> &D, IRBuilder<> &X) {
    for (PHINode &P : Header->phis()) {
      auto *Copy = cast<PHINode>(Map[&P]);
      PHINode *Start = D.CreatePHI(P.getType(), 2, P.getName() + ".interval");
      Value *Next = P.getIncomingValueForBlock(Latch);
      Start->addIncoming(P.getIncomingValueForBlock(Before), Before);
      Start->addIncoming(Next, Latch);
      Copy->setIncomingValueForBlock(Before, Start);
      Copy->replaceIncomingBlockWith(Before, Begin);
      P.setIncomingValueForBlock(Before, Start);
      P.replaceIncomingBlockWith(Before, Dispatch);
      P.setIncomingValueForBlock(Latch, atEnd(X, Next));
      P.replaceIncomingBlockWith(Latch, After);
    }
  }

  // The number of iterations for the copy.
  Value *decide(IRBuilder<> &D, Value *Done) {
    Value *Left = D.CreateSub(Total, Done);
    Value *Counter = D.CreateAdd(First, D.CreateTruncOrBitCast(Done, Narrow));
    Value *Rest = D.CreateURem(Counter, Length);
    Value *Ahead = D.CreateSub(Phase, Rest);
    Value *Until = D.CreateSelect(D.CreateICmpUGE(Phase, Rest), Ahead, D.CreateAdd(Ahead, Length));
    Until = D.CreateSelect(D.CreateICmpULT(Phase, Length), D.CreateZExt(Until, Wide), Left);
    Value *Steps = D.CreateSelect(D.CreateICmpULT(Until, Left), Until, Left, "interval.steps");
    D.CreateCondBr(D.CreateICmpEQ(Steps, ConstantInt::get(Wide, 0)), Header, Begin);
    IRBuilder<>(Begin).CreateBr(StepsHeader)->setDebugLoc(At);
    return Steps;
  }

  // The copy counts its iterations, and nothing happens in it.
  void countSteps(Value *Steps) {
    PHINode *Step = PHINode::Create(Wide, 2, "interval.step", StepsHeader->begin());
    Instruction *Old = StepsLatch->getTerminator();
    IRBuilder<> T(Old);
    Value *Next = T.CreateAdd(Step, ConstantInt::get(Wide, 1), "", true, true);
    BranchInst *Back = T.CreateCondBr(T.CreateICmpULT(Next, Steps), StepsHeader, After);
    Back->setMetadata(LLVMContext::MD_loop, Exiting->getMetadata(LLVMContext::MD_loop));
    Old->eraseFromParent();
    Step->addIncoming(ConstantInt::get(Wide, 0), Begin);
    Step->addIncoming(Next, StepsLatch);
    auto *Chosen = cast<BranchInst>(cast<BasicBlock>(Map[I.Branch->getParent()])->getTerminator());
    BranchInst::Create(cast<BasicBlock>(Map[I.Usual]), Chosen->getIterator())->setDebugLoc(Chosen->getDebugLoc());
    Chosen->eraseFromParent();
    SmallPtrSet<BasicBlock *, 16> Own(Copies.begin(), Copies.end());
    Own.insert(Begin);
    for (BasicBlock *BB : Copies)
      for (PHINode &P : make_early_inc_range(BB->phis()))
        for (unsigned N = P.getNumIncomingValues(); N-- != 0;)
          if (!Own.contains(P.getIncomingBlock(N)))
            P.removeIncomingValue(N, false);
  }

  struct Progression {
    Value *Start;
    ConstantInt *Step;
  };

  Loop &L;
  const Interval &I;
  ScalarEvolution &SE;
  SCEVExpander Expander;
  Function &F;
  LLVMContext &C;
  // Of iterations, and of the counter.
  IntegerType *Wide, *Narrow;
  BasicBlock *Header, *Latch, *Before, *Exit;
  BranchInst *Exiting;
  DebugLoc At;
  Value *Total, *First, *Length, *Phase;
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 16> Copies;
  BasicBlock *StepsHeader, *StepsLatch, *Dispatch, *Begin, *After;
  DenseMap<Value *, Progression> Counts;
  // The number of the copy's last iteration.
  Value *Last;
};
} // namespace

static bool divideOne(Session &S, Function &F, uint32_t MaxInstructions) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  for (Loop *L : LI.getLoopsInPreorder()) {
    BasicBlock *Latch = L->getLoopLatch();
    if (!S.work(*L))
      return false;
    if (L->isInnermost() || !L->isLoopSimplifyForm() || !L->isLoopExiting(Latch) || !L->isLCSSAForm(DT) || !isa<BranchInst>(Latch->getTerminator()))
      continue;
    const SCEV *Backedges = SE.getExitCount(L, Latch);
    if (isa<SCEVCouldNotCompute>(Backedges) || Backedges->getType()->getScalarSizeInBits() > 64 ||
        SE.getUnsignedRangeMax(SE.applyLoopGuards(Backedges, L)).getActiveBits() > 63)
      continue;
    for (BasicBlock *BB : L->blocks()) {
      std::optional<Interval> I = LI.getLoopFor(BB) == L && DT.dominates(BB, Latch) ? intervalOf(*BB, *L, SE) : std::nullopt;
      if (!I || I->Rare->getSinglePredecessor() != BB || !L->contains(I->Rare) || !L->contains(I->Usual) || I->Counter->getType()->getScalarSizeInBits() > 64)
        continue;
      SmallVector<BasicBlock *, 16> Rare, Usual;
      uint64_t Instructions = 0;
      for (BasicBlock *Block : L->blocks()) {
        (DT.dominates(I->Rare, Block) ? Rare : Usual).push_back(Block);
        Instructions += Block->size();
      }
      // Other ends of the loop are in what happens rarely; steps have loops.
      auto LeavesFrom = [&](BasicBlock *Block) { return Block != Latch && L->isLoopExiting(Block); };
      auto Cloned = [](BasicBlock *Block) {
        return all_of(*Block, [](Instruction &I) { return !isa<CallBase>(I) || !cast<CallBase>(I).cannotDuplicate(); }) &&
               !isa<IndirectBrInst, CallBrInst, InvokeInst>(Block->getTerminator());
      };
      bool HasLoop = any_of(Usual, [&](BasicBlock *Block) { return LI.getLoopFor(Block) != L; });
      SCEVExpander Expander(SE, "interval");
      auto IsSafe = [&](const SCEV *E) { return Expander.isSafeToExpand(E); };
      if (is_contained(Rare, Latch) || Instructions > MaxInstructions || any_of(Usual, LeavesFrom) || !all_of(Usual, Cloned) || !HasLoop ||
          !hasCallOrLoop(Rare, *L, LI) || !IsSafe(Backedges) || !IsSafe(I->Counter->getStart()) || !IsSafe(I->Length) || !IsSafe(I->Phase))
        continue;
      Division(*L, *I, SE).run(Usual, Backedges);
      S.FAM.invalidate(F, PreservedAnalyses::none());
      return true;
    }
  }
  return false;
}

extern "C" bool prs_divide_intervals(Session *S, LLVMValueRef FRef, uint32_t MaxLoops, uint32_t MaxInstructions) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (uint32_t N = 0; N != MaxLoops && S->work(F) && divideOne(*S, F, MaxInstructions); ++N)
    Changed = true;
  return Changed;
}
