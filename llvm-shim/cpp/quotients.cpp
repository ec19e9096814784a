// Loops over all elements of rows of a length that is known at run time only, as counters of two loops;
// src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// Loops that are larger are not copied; what a quotient is used for is looked for so far.
constexpr unsigned MaxFlatBlocks = 64, MaxFlatUses = 64;

// A factor of a length: a value, whatever it was widened by.
struct Factor {
  const SCEV *Value;
  bool Signed;
};
using Factors = SmallVector<Factor, 4>;

bool isSame(const Factor &A, const Factor &B) {
  auto *C = dyn_cast<SCEVConstant>(A.Value), *D = dyn_cast<SCEVConstant>(B.Value);
  return C && D ? APInt::isSameValue(C->getAPInt(), D->getAPInt()) : A.Value == B.Value;
}

void factors(const SCEV *S, bool Signed, Factors &Out) {
  if (auto *Cast = dyn_cast<SCEVIntegralCastExpr>(S); Cast && !isa<SCEVTruncateExpr>(S))
    return factors(Cast->getOperand(), isa<SCEVSignExtendExpr>(S), Out);
  if (auto *Product = dyn_cast<SCEVMulExpr>(S)) {
    for (const SCEV *O : Product->operands())
      factors(O, Signed, Out);
    return;
  }
  if (!S->isOne())
    Out.push_back({S, Signed});
}

// The factors of a number of iterations, which is at least one.
Factors factorsOfCount(const SCEV *S) {
  if (auto *Max = dyn_cast<SCEVMinMaxExpr>(S); Max && Max->getNumOperands() == 2 && Max->getOperand(0)->isOne() && (isa<SCEVSMaxExpr>(S) || isa<SCEVUMaxExpr>(S)))
    S = Max->getOperand(1);
  Factors All;
  factors(S, true, All);
  return All;
}

// Takes what both have out of both, once for each time that both have it.
void cancel(Factors &A, Factors &B) {
  erase_if(A, [&](const Factor &X) {
    auto *Same = find_if(B, [&](const Factor &Y) { return isSame(X, Y); });
    if (Same == B.end())
      return false;
    B.erase(Same);
    return true;
  });
}

// A quotient or remainder of a loop's counter by a length that the loop does not change; or a quotient of
// such a quotient, `k / a / w`.
struct Quotient {
  BinaryOperator *Operation;
  const SCEV *By;
  Factors Length;
  SmallVector<const SCEV *, 2> Before;
  // The counter.
  const SCEV *Of = nullptr;

  Value *dividend() const { return Operation->getOperand(0); }
};

bool isRemainder(const BinaryOperator &Op) { return Op.getOpcode() == Instruction::SRem || Op.getOpcode() == Instruction::URem; }

// What a quotient is in rows: of `Before` one after the other, then by `Multiple` of the length, if there is
// one.
struct InRows {
  BinaryOperator *Operation;
  SmallVector<Value *, 2> Before;
  Value *Multiple = nullptr;
};

// Whether an address or a branch is made of it.
bool steersBy(Instruction &I) {
  SmallSetVector<Instruction *, 16> Work;
  Work.insert(&I);
  for (unsigned N = 0; N != Work.size() && N < MaxFlatUses; ++N)
    for (User *U : Work[N]->users()) {
      if (isa<GetElementPtrInst, ICmpInst, SwitchInst>(U))
        return true;
      if (isa<BinaryOperator, CastInst, PHINode, SelectInst>(U) && U->getType()->isIntegerTy())
        Work.insert(cast<Instruction>(U));
    }
  return false;
}

// Whether what is left of a counter in a row is divided as well.
bool isDividedAgain(ArrayRef<Quotient> All) {
  SmallSetVector<Instruction *, 16> Work;
  for (const Quotient &Q : All)
    Work.insert(Q.Operation);
  for (unsigned N = 0; N != Work.size() && N < MaxFlatUses; ++N)
    for (User *U : Work[N]->users()) {
      auto *Op = dyn_cast<BinaryOperator>(U);
      if (Op && Op->isIntDivRem() && !isa<Constant>(Op->getOperand(1)) && none_of(All, [&](auto &Q) { return Q.Operation == Op; }))
        return true;
      if ((Op || isa<CastInst>(U)) && U->getType()->isIntegerTy())
        Work.insert(cast<Instruction>(U));
    }
  return false;
}

// So much more of a counter's least value in each iteration of a loop around its own: `i * n` of
// `for (k = i * n; k < i * n + n; k++)`.
struct Image {
  const Loop *Around;
  const SCEV *By;
};
using Images = SmallVector<Image, 2>;

// A loop that is a nest over rows: `Count` iterations in rows of `Length`, of a quotient's type. What is
// divided goes up or down by one, and is never less than 0 and what images add.
struct Flat {
  Loop &L;
  SmallVector<Quotient, 8> All;
  const SCEV *Count, *Length, *Divided;
  bool Down;
  Images Before;
  Type *Ty;
};

// Whether `S` is how often the loop has run before.
bool counts(const SCEV *S, const Loop &L) {
  auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  return Rec && Rec->getLoop() == &L && Rec->isAffine() && Rec->getStart()->isZero() && Rec->getOperand(1)->isOne();
}

// Whether `S` goes up or down by one in each iteration of the loop.
bool goesByOne(const SCEV *S, const Loop &L) {
  auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  return Rec && Rec->getLoop() == &L && Rec->isAffine() && (Rec->getOperand(1)->isOne() || Rec->getOperand(1)->isAllOnesValue());
}

// What a least value is made of; nothing where it is more than images.
std::optional<Images> imagesOf(const SCEV *Least) {
  Images All;
  for (auto *Rec = dyn_cast<SCEVAddRecExpr>(Least); Rec; Rec = dyn_cast<SCEVAddRecExpr>(Least = Rec->getStart())) {
    if (!Rec->isAffine() || isa<SCEVConstant>(Rec->getOperand(1)))
      return std::nullopt;
    All.push_back({Rec->getLoop(), Rec->getOperand(1)});
  }
  return Least->isZero() ? std::optional(All) : std::nullopt;
}

// A quotient of the counter of `L`, or of one of `Others`.
std::optional<Quotient> quotientOf(Instruction &I, const Loop &L, ScalarEvolution &SE, ArrayRef<Quotient> Others) {
  auto *Op = dyn_cast<BinaryOperator>(&I);
  if (!Op || !Op->isIntDivRem() || isa<Constant>(Op->getOperand(1)))
    return std::nullopt;
  Quotient Q{Op, SE.getSCEV(Op->getOperand(1)), {}, {}, nullptr};
  if (isa<SCEVConstant>(Q.By) || !SE.isLoopInvariant(Q.By, &L))
    return std::nullopt;
  auto *Inner = find_if(Others, [&](const Quotient &Other) { return Other.Operation == Q.dividend() && !isRemainder(*Other.Operation) && !isRemainder(*Op); });
  if (Inner != Others.end()) {
    Q.Of = Inner->Of;
    Q.Before = Inner->Before;
    Q.Before.push_back(Inner->By);
  } else if (!goesByOne(SE.getSCEV(Q.dividend()), L)) {
    return std::nullopt;
  } else {
    Q.Of = SE.getSCEV(Q.dividend());
  }
  factors(Q.By, true, Q.Length);
  return Q;
}

// All quotients of a loop's counters that something is steered by, but for those that are only there for
// others.
SmallVector<Quotient, 8> quotientsOf(const Loop &L, ScalarEvolution &SE) {
  SmallVector<Quotient, 8> All;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto Q = quotientOf(I, L, SE, All); Q && steersBy(*Q->Operation))
        All.push_back(*Q);
  SmallPtrSet<Value *, 8> Taken;
  for (Quotient &Q : All)
    if (!Q.Before.empty())
      Taken.insert(Q.Operation);
  erase_if(All, [&](Quotient &Q) { return all_of(Q.Operation->users(), [&](User *U) { return Taken.contains(U); }); });
  return All;
}

// Whether a number of iterations less one has its value in a type.
bool isIn(const SCEV *Taken, Type *Ty, ScalarEvolution &SE) {
  return SE.getTypeSizeInBits(Taken->getType()) <= Ty->getIntegerBitWidth() || SE.getUnsignedRangeMax(Taken).isIntN(Ty->getIntegerBitWidth() - 1);
}

// The quotients by the shortest length, and by its multiples.
std::optional<Flat> flat(Loop &L, ScalarEvolution &SE) {
  const SCEV *Taken = SE.getBackedgeTakenCount(&L);
  if (L.getExitingBlock() != L.getLoopLatch() || isa<SCEVCouldNotCompute>(Taken))
    return std::nullopt;
  SmallVector<Quotient, 8> All = quotientsOf(L, SE);
  if (All.empty())
    return std::nullopt;
  // Of a counter that begins at 0 first: others may be its neighbours in a ring, such as `(k + 1) % n`.
  Quotient Least = *llvm::min_element(All, [&](auto &A, auto &B) {
    return std::pair(!counts(A.Of, L), A.Length.size()) < std::pair(!counts(B.Of, L), B.Length.size());
  });
  Type *Ty = Least.Operation->getType();
  // The counter has to have its value in this type; that it is not negative is checked when the program runs.
  if (!isIn(Taken, Ty, SE))
    return std::nullopt;
  erase_if(All, [&](Quotient &Q) {
    Factors Own = Least.Length, Other = Q.Length;
    cancel(Own, Other);
    return !Own.empty() || Q.Of != Least.Of;
  });
  const SCEV *Within = SE.getTruncateOrZeroExtend(Taken, Ty);
  auto *Rec = cast<SCEVAddRecExpr>(Least.Of);
  bool Down = !Rec->getOperand(1)->isOne();
  auto Before = imagesOf(Down ? SE.getMinusSCEV(Rec->getStart(), Within) : Rec->getStart());
  if (!Before)
    return std::nullopt;
  return Flat{L, All, SE.getAddExpr(Within, SE.getOne(Ty)), Least.By, Least.Of, Down, *Before, Ty};
}

// Numbers that are known before a loop, and a condition on them.
class KnownLengths {
public:
  KnownLengths(BasicBlock &BB, ScalarEvolution &SE, Type *Ty) : At(BB.getTerminator()), SE(SE), Expander(SE, "pollyrs.rows"), B(At), Ty(Ty), Ok(B.getTrue()) {}

  bool canExpand(const SCEV *S) { return Expander.isSafeToExpandAt(S, At); }
  Value *expand(const SCEV *S) { return Expander.expandCodeFor(S, S->getType(), At); }

  const SCEV *product(const Factors &All) {
    SmallVector<const SCEV *, 4> Each;
    for (const Factor &F : All)
      Each.push_back(F.Signed ? SE.getTruncateOrSignExtend(F.Value, Ty) : SE.getTruncateOrZeroExtend(F.Value, Ty));
    return Each.empty() ? SE.getOne(Ty) : SE.getMulExpr(Each);
  }

  Value *zero() { return ConstantInt::get(Ty, 0); }
  // A number of iterations less one, which is checked not to be negative.
  Value *taken(const SCEV *Count) {
    Value *V = expand(SE.getTruncateOrZeroExtend(Count, Ty));
    demand(B.CreateICmpSGE(V, zero()));
    return V;
  }
  // The sum or product of numbers that are not negative, which is checked not to wrap.
  Value *exact(Intrinsic::ID Operation, Value *X, Value *Y) {
    Value *Both = B.CreateBinaryIntrinsic(Operation, X, Y);
    demand(B.CreateNot(B.CreateExtractValue(Both, 1)));
    return B.CreateExtractValue(Both, 0);
  }
  // `V`, or 1 where that is not positive, which is checked.
  Value *positive(Value *V) {
    Constant *One = ConstantInt::get(Ty, 1);
    demand(B.CreateICmpSGE(V, One));
    return B.CreateBinaryIntrinsic(Intrinsic::smax, V, One);
  }
  void demand(Value *Condition) { Ok = B.CreateAnd(Ok, Condition); }
  // `V` is so many times `By`, which is positive.
  void divides(Value *V, Value *By, Value *Times) {
    demand(B.CreateICmpEQ(B.CreateUDiv(V, By), Times));
    demand(B.CreateICmpEQ(B.CreateURem(V, By), ConstantInt::get(Ty, 0)));
  }
  Value *all() { return B.CreateFreeze(Ok); }

private:
  Instruction *At;
  ScalarEvolution &SE;
  SCEVExpander Expander;

public:
  IRBuilder<> B;

private:
  Type *Ty;
  Value *Ok;
};

// The outermost loop in which the length and the count of rows do not change, and which can be copied.
Loop &outermost(Flat &Nest, ScalarEvolution &SE, DominatorTree &DT, const DenseSet<const Loop *> &Blocked) {
  Loop *Top = &Nest.L;
  auto Changes = [&](const Image &I, const Loop *L) {
    const SCEV *Taken = SE.getBackedgeTakenCount(I.Around);
    return isa<SCEVCouldNotCompute>(Taken) || !SE.isLoopInvariant(I.By, L) || !SE.isLoopInvariant(Taken, L);
  };
  for (Loop *L = Top->getParentLoop(); L; L = L->getParentLoop())
    if (L->getNumBlocks() > MaxFlatBlocks || !pollyrs::isCopyable(*L, DT) ||
        Blocked.contains(L) || !SE.isLoopInvariant(Nest.Count, L) || !SE.isLoopInvariant(Nest.Length, L) ||
        any_of(Nest.Before, [&](auto &I) { return Changes(I, L); }))
      break;
    else
      Top = L;
  return *Top;
}

// The loop around `Rows` runs of `L` that are `Length` long each, with their numbers.
struct Rows {
  PHINode *Row, *Column;
};

Rows divideLoop(Loop &L, Value *Count, Value *Length) {
  BasicBlock *H = L.getHeader(), *Latch = L.getLoopLatch(), *Pre = L.getLoopPreheader(), *Exit = L.getExitBlock();
  Function &F = *H->getParent();
  Type *Ty = Length->getType();
  Constant *Zero = ConstantInt::get(Ty, 0), *One = ConstantInt::get(Ty, 1);
  BasicBlock *Begin = BasicBlock::Create(F.getContext(), "pollyrs.row", &F, H), *End = BasicBlock::Create(F.getContext(), "pollyrs.row.end", &F, Exit);
  auto *Branch = cast<BranchInst>(Latch->getTerminator());
  IRBuilder<> B(Begin);
  B.SetCurrentDebugLocation(Branch->getDebugLoc());
  Rows R{B.CreatePHI(Ty, 2, "pollyrs.row"), nullptr};
  for (PHINode &P : H->phis()) {
    PHINode *Outer = B.CreatePHI(P.getType(), 2, P.getName() + ".row");
    Outer->addIncoming(P.getIncomingValueForBlock(Pre), Pre);
    Outer->addIncoming(P.getIncomingValueForBlock(Latch), End);
    P.setIncomingValueForBlock(Pre, Outer);
  }
  H->replacePhiUsesWith(Pre, Begin);
  B.CreateBr(H);
  Pre->getTerminator()->replaceSuccessorWith(H, Begin);
  R.Column = PHINode::Create(Ty, 2, "pollyrs.column", H->begin());
  R.Column->setDebugLoc(Branch->getDebugLoc());
  B.SetInsertPoint(Branch);
  Value *Next = B.CreateAdd(R.Column, One, "", /*HasNUW=*/true, /*HasNSW=*/true);
  R.Column->addIncoming(Zero, Begin);
  R.Column->addIncoming(Next, Latch);
  Branch->setCondition(B.CreateICmp(L.contains(Branch->getSuccessor(0)) ? CmpInst::ICMP_NE : CmpInst::ICMP_EQ, Next, Length));
  Branch->replaceSuccessorWith(Exit, End);
  Exit->replacePhiUsesWith(Latch, End);
  B.SetInsertPoint(End);
  Value *Another = B.CreateAdd(R.Row, One, "", true, true);
  R.Row->addIncoming(Zero, Pre);
  R.Row->addIncoming(Another, End);
  B.CreateCondBr(B.CreateICmpEQ(Another, Count), Exit, Begin);
  return R;
}

// What a loop's row and column are of the counter that is divided: `Row` of its rows, of which there are so
// many before those of the loop.
struct InRowsOf {
  Value *Row, *Column;
};

InRowsOf dividedBy(const Rows &R, IRBuilder<> &B, bool Down, Value *Before, Value *Count, Value *Length) {
  Value *Row = R.Row, *Column = R.Column;
  if (Down) {
    Constant *One = ConstantInt::get(Length->getType(), 1);
    Row = B.CreateSub(B.CreateSub(Count, One, "", true, true), Row, "pollyrs.row.down", true, true);
    Column = B.CreateSub(B.CreateSub(Length, One, "", true, true), Column, "pollyrs.column.down", true, true);
  }
  return {Before ? B.CreateAdd(Before, Row, "", true, true) : Row, Column};
}

// The counters of a loop: those that begin at 0 and go up by one, and those that are divided.
struct RowCounters {
  SmallVector<Instruction *, 4> Canonical, Divided;
};

// Counters of the loop that was divided are made of row and column, and so are its quotients.
void useRows(const Rows &R, const InRowsOf &D, ArrayRef<InRows> Quotients, const RowCounters &C, Value *Length) {
  BasicBlock *H = R.Column->getParent();
  // Behind what `D` is made of.
  IRBuilder<> B(H, H->getFirstInsertionPt());
  if (auto *Last = dyn_cast<Instruction>(D.Row); Last && Last->getParent() == H && !isa<PHINode>(Last))
    B.SetInsertPoint(Last->getNextNode());
  B.SetCurrentDebugLocation(R.Column->getDebugLoc());
  SmallVector<std::pair<Instruction *, Value *>, 8> Places;
  auto Replace = [&](ArrayRef<Instruction *> All, Value *Row, Value *Column) {
    if (All.empty())
      return;
    Value *Place = B.CreateAdd(B.CreateMul(Row, Length, "", true, true), Column, "pollyrs.place", true, true);
    for (Instruction *I : All)
      Places.push_back({I, B.CreateZExtOrTrunc(Place, I->getType())});
  };
  Replace(C.Canonical, R.Row, R.Column);
  Replace(C.Divided, D.Row, D.Column);
  SmallVector<PHINode *, 4> PHIs;
  for (auto [I, V] : Places) {
    if (auto *P = dyn_cast<PHINode>(I))
      PHIs.push_back(P);
    I->replaceAllUsesWith(V);
  }
  // Those of quotients come behind these.
  for (const InRows &Q : reverse(Quotients)) {
    IRBuilder<> Here(Q.Operation);
    Value *V = D.Row;
    for (Value *By : Q.Before)
      V = Here.CreateUDiv(V, By);
    if (!isRemainder(*Q.Operation))
      V = Q.Multiple ? Here.CreateUDiv(V, Q.Multiple) : V;
    else if (!Q.Multiple)
      V = D.Column;
    else
      V = Here.CreateAdd(Here.CreateMul(Here.CreateURem(V, Q.Multiple), Length, "", true, true), D.Column, "", true, true);
    Q.Operation->replaceAllUsesWith(V);
    RecursivelyDeleteTriviallyDeadInstructions(Q.Operation);
  }
  for (PHINode *P : PHIs)
    RecursivelyDeleteDeadPHINode(P);
}

// All that is as long as rows together is `Product` in a copy, with what is made of it before.
void replaceIn(pollyrs::LoopCopy &Copy, const SCEVUnknown &Known, const SCEV *Product, ScalarEvolution &SE) {
  ValueToSCEVMapTy Map;
  Map[Known.getValue()] = SE.getTruncateOrZeroExtend(Product, Known.getType());
  Instruction *At = Copy.Other->getTerminator();
  SCEVExpander Expander(SE, "pollyrs.whole");
  DenseMap<Value *, Value *> New;
  auto Replacement = [&](Value *V) -> Value * {
    auto *I = dyn_cast<Instruction>(V);
    if (!V->getType()->isIntegerTy() || isa<Constant>(V) || (I && Copy.Blocks.contains(I->getParent())))
      return nullptr;
    if (New.insert({V, nullptr}).second) {
      const SCEV *Old = SE.getSCEV(V), *S = SCEVParameterRewriter::rewrite(Old, SE, Map);
      if (S != Old && Expander.isSafeToExpandAt(S, At)) {
        Value *Made = Expander.expandCodeFor(S, S->getType(), At);
        New[V] = Made;
      }
    }
    return New[V];
  };
  for (BasicBlock *BB : Copy.Blocks)
    for (Instruction &I : *BB)
      if (!isa<PHINode>(I) && BB != Copy.Other)
        for (Use &U : I.operands())
          if (Value *V = Replacement(U))
            U.set(V);
}

// The counters of a loop that begin at 0 and go up by one, and what they are widened to where they are known
// not to wrap: that first.
RowCounters countersOf(const Loop &L, ScalarEvolution &SE, const SCEV *Divided = nullptr) {
  RowCounters All;
  for (PHINode &P : L.getHeader()->phis()) {
    if (!P.getType()->isIntegerTy())
      continue;
    const SCEV *S = SE.getSCEV(&P);
    bool Counts = counts(S, L);
    if (!Counts && S != Divided)
      continue;
    auto &Found = Counts ? All.Canonical : All.Divided;
    for (User *U : P.users())
      if (isa<SExtInst, ZExtInst>(U) && L.contains(cast<Instruction>(U)) && (Counts ? counts(SE.getSCEV(U), L) : isa<SCEVAddRecExpr>(SE.getSCEV(U))))
        Found.push_back(cast<Instruction>(U));
    Found.push_back(&P);
  }
  return All;
}

// Loops beside the one that is divided that run as often: over the same rows, so that arrays have one shape
// in both.
SmallVector<Loop *, 4> loopsBeside(const Flat &Nest, Loop &Top, ScalarEvolution &SE) {
  SmallVector<Loop *, 4> Beside;
  for (Loop *L : Top.getLoopsInPreorder()) {
    const SCEV *Taken = SE.getBackedgeTakenCount(L);
    if (L->contains(&Nest.L) || Nest.L.contains(L) || !L->isLoopSimplifyForm() || !L->getUniqueExitBlock() || L->getExitingBlock() != L->getLoopLatch() ||
        isa<SCEVCouldNotCompute>(Taken) || !isIn(Taken, Nest.Ty, SE) || any_of(Beside, [&](Loop *Other) { return Other->contains(L); }))
      continue;
    if (SE.getAddExpr(SE.getTruncateOrZeroExtend(Taken, Nest.Ty), SE.getOne(Nest.Ty)) == Nest.Count && !countersOf(*L, SE).Canonical.empty())
      Beside.push_back(L);
  }
  return Beside;
}

// How many rows each iteration of the loops around adds, which is checked.
SmallVector<Value *, 2> rowsOfImages(const Flat &Nest, KnownLengths &At, Value *Safe, Value *Number, Value *Count, ScalarEvolution &SE) {
  SmallVector<Value *, 2> All;
  Value *Last = Count;
  for (const Image &I : Nest.Before) {
    Value *By = At.positive(At.expand(I.By)), *Quotient = At.B.CreateUDiv(By, Safe, "pollyrs.rows");
    At.demand(At.B.CreateICmpEQ(At.B.CreateURem(By, Safe), At.zero()));
    All.push_back(I.By == Nest.Count ? Number : Quotient);
    Value *Furthest = At.exact(Intrinsic::smul_with_overflow, By, At.taken(SE.getBackedgeTakenCount(I.Around)));
    Last = At.exact(Intrinsic::sadd_with_overflow, Last, Furthest);
  }
  return All;
}

// The rows before those of a run of the loop that is divided, in the copy; nothing where there are none.
Value *rowsBefore(const Flat &Nest, ArrayRef<Value *> Each, function_ref<BasicBlock *(BasicBlock *)> Copied) {
  Value *Sum = nullptr;
  for (auto [I, By] : reverse(zip(Nest.Before, Each))) {
    BasicBlock *H = Copied(I.Around->getHeader()), *Latch = Copied(I.Around->getLoopLatch());
    PHINode *Before = PHINode::Create(By->getType(), 2, "pollyrs.before", H->begin());
    Before->setDebugLoc(Latch->getTerminator()->getDebugLoc());
    IRBuilder<> End(Latch->getTerminator()), Begin(H, H->getFirstInsertionPt());
    Before->addIncoming(ConstantInt::get(By->getType(), 0), Copied(I.Around->getLoopPreheader()));
    Before->addIncoming(End.CreateAdd(Before, By, "", true, true), Latch);
    Sum = Sum ? Begin.CreateAdd(Sum, Before, "", true, true) : Before;
  }
  return Sum;
}

// What a length is made of may have no value where the loop does not come to divide by it, and has one from
// here on.
bool giveValues(ArrayRef<const SCEV *> All, Instruction &At, ScalarEvolution &SE, DominatorTree &DT) {
  SmallSetVector<Value *, 8> Without;
  for (const SCEV *S : All)
    SCEVExprContains(S, [&](const SCEV *Part) {
      if (auto *U = dyn_cast<SCEVUnknown>(Part); U && !isGuaranteedNotToBeUndefOrPoison(U->getValue(), nullptr, &At, &DT))
        Without.insert(U->getValue());
      return false;
    });
  bool Changed = false;
  for (Value *V : Without) {
    auto *I = dyn_cast<Instruction>(V);
    auto Behind = I ? I->getInsertionPointAfterDef() : std::optional(cast<Argument>(V)->getParent()->getEntryBlock().getFirstInsertionPt());
    if (!Behind)
      continue;
    SE.forgetValue(V);
    auto *Frozen = new FreezeInst(V, "pollyrs.length", *Behind);
    V->replaceUsesWithIf(Frozen, [&](Use &U) { return U.getUser() != Frozen; });
    Changed = true;
  }
  return Changed;
}

// All that is divided by, and how often the loop runs.
SmallVector<const SCEV *, 8> lengthsOf(const Flat &Nest) {
  SmallVector<const SCEV *, 8> All{Nest.Count, Nest.Length};
  for (const Quotient &Q : Nest.All) {
    All.push_back(Q.By);
    append_range(All, Q.Before);
  }
  for (const Image &I : Nest.Before)
    All.push_back(I.By);
  return All;
}

bool divideFlat(Loop &L, Function &F, Session &S, const DenseSet<const Loop *> &Blocked) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  if (L.getNumBlocks() > MaxFlatBlocks || !pollyrs::isCopyable(L, DT) || !S.work(L))
    return false;
  auto Nest = flat(L, SE);
  if (!Nest)
    return false;
  Factors Each;
  factors(Nest->Length, true, Each);
  // Of a product of 64 bits that stays whole arrays would have the factors for sizes; no row is that short.
  if (Each.size() > 1 && Nest->Ty->getIntegerBitWidth() > 32 && !isDividedAgain(Nest->All))
    return false;
  Loop &Top = outermost(*Nest, SE, DT, Blocked);
  if (giveValues(lengthsOf(*Nest), *Top.getLoopPreheader()->getTerminator(), SE, DT)) {
    auto Again = flat(L, SE);
    if (!Again)
      return false;
    Nest.emplace(std::move(*Again));
    // Of the values that they have now.
    Each.clear();
    factors(Nest->Length, true, Each);
  }
  KnownLengths At(*Top.getLoopPreheader(), SE, Nest->Ty);
  Factors Above = factorsOfCount(Nest->Count), Below = Each;
  cancel(Above, Below);
  const SCEV *A = At.product(Above), *D = At.product(Below);
  auto IsKnown = [&](const Image &I) {
    const SCEV *Taken = SE.getBackedgeTakenCount(I.Around);
    return Top.contains(I.Around) && I.Around->isLoopSimplifyForm() && isIn(Taken, Nest->Ty, SE) && At.canExpand(Taken) && At.canExpand(I.By);
  };
  if (!At.canExpand(Nest->Count) || !At.canExpand(Nest->Length) || !At.canExpand(A) || !At.canExpand(D) || !all_of(Nest->Before, IsKnown))
    return false;
  SmallVector<const SCEV *, 8> Multiples;
  for (Quotient &Q : Nest->All) {
    Factors Rest = Q.Length, Used = Each;
    cancel(Rest, Used);
    Multiples.push_back(Rest.empty() ? nullptr : At.product(Rest));
    if ((Multiples.back() && !At.canExpand(Multiples.back())) || !At.canExpand(Q.By) || !all_of(Q.Before, [&](auto *S) { return At.canExpand(S); }))
      return false;
  }
  RowCounters Own = countersOf(L, SE, Nest->Divided);
  SmallVector<std::pair<BasicBlock *, RowCounters>, 4> Beside;
  for (Loop *Other : loopsBeside(*Nest, Top, SE))
    Beside.push_back({Other->getHeader(), countersOf(*Other, SE)});
  Value *Count = At.expand(Nest->Count), *Length = At.expand(Nest->Length), *Safe = At.positive(Length);
  At.positive(Count);
  SmallVector<InRows, 8> Quotients;
  for (auto [Q, Multiple] : zip(Nest->All, Multiples)) {
    InRows Each{Q.Operation, {}, nullptr};
    for (const SCEV *By : Q.Before)
      At.positive(Each.Before.emplace_back(At.expand(By)));
    // A product that wraps is no multiple.
    if (Multiple)
      At.positive(Each.Multiple = At.expand(Multiple)), At.divides(At.positive(At.expand(Q.By)), Safe, Each.Multiple);
    Quotients.push_back(Each);
  }
  // `B T C / (C T)` is `B`, and `C T / (T d)` what `C / d` is.
  Value *Number = At.expand(A), *Whole = nullptr, *Part = nullptr;
  if (!Below.empty()) {
    Whole = Number;
    At.positive(Whole);
    Part = At.expand(D);
    Number = At.B.CreateUDiv(Whole, At.positive(Part), "pollyrs.rows");
    At.demand(At.B.CreateICmpEQ(At.B.CreateMul(Number, Part), Whole));
  }
  At.divides(Count, Safe, Number);
  SmallVector<Value *, 2> Images = rowsOfImages(*Nest, At, Safe, Number, Count, SE);
  Value *Even = At.all();
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(Top, ".rows", Map, LI, DT);
  auto Copied = [&](auto *V) { return cast<std::remove_pointer_t<decltype(V)>>((Value *)Map[V]); };
  Value *Before = rowsBefore(*Nest, Images, [&](BasicBlock *BB) { return Copied(BB); });
  auto CopyAll = [&](RowCounters &C) {
    for (auto *List : {&C.Canonical, &C.Divided})
      for (Instruction *&I : *List)
        I = Copied(I);
  };
  for (InRows &Q : Quotients)
    Q.Operation = Copied(Q.Operation);
  CopyAll(Own);
  Loop *Inner = LI.getLoopFor(Copied(L.getHeader()));
  for (auto &[Header, Others] : Beside) {
    CopyAll(Others);
    Rows R = divideLoop(*LI.getLoopFor(Copied(Header)), Number, Length);
    useRows(R, {R.Row, R.Column}, {}, Others, Length);
  }
  Rows R = divideLoop(*Inner, Number, Length);
  IRBuilder<> B(Inner->getHeader(), Inner->getHeader()->getFirstInsertionPt());
  B.SetCurrentDebugLocation(R.Column->getDebugLoc());
  useRows(R, dividedBy(R, B, Nest->Down, Before, Number, Length), Quotients, Own, Length);
  addStringMetadataToLoop(Inner, pollyrs::WholeRowsMark);
  if (auto *Known = Whole && Above.size() == 1 ? dyn_cast<SCEVUnknown>(Above[0].Value) : nullptr)
    replaceIn(Copy, *Known, SE.getMulExpr(SE.getUnknown(Number), D), SE);
  IRBuilder<>(Copy.Before).CreateCondBr(Even, Copy.Other, Copy.Own);
  addStringMetadataToLoop(&Top, pollyrs::UnevenRowsMark);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}
} // namespace

extern "C" bool prs_divide_counters(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto Blocked = pollyrs::blockedLoops(*S, S->FAM.getResult<LoopAnalysis>(F));
  const char *Marks[] = {pollyrs::ApartMark, pollyrs::KeptMark, pollyrs::UnevenRowsMark};
  return pollyrs::divideFirst(F, *S, Marks, [&](Loop &L) { return !Blocked.contains(&L) && divideFlat(L, F, *S, Blocked); });
}
