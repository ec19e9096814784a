// Loops over all elements of rows of a length that is known at run time only, as counters of two loops; src/prepare.rs has the argument.

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

// Takes what both have out of both.
void cancel(Factors &A, Factors &B) {
  erase_if(A, [&](const Factor &X) {
    auto *Same = find_if(B, [&](const Factor &Y) { return isSame(X, Y); });
    if (Same == B.end())
      return false;
    B.erase(Same);
    return true;
  });
}

// A quotient or remainder of a loop's counter by a length that the loop does not change; or a quotient of such a quotient, `k / a / w`.
struct Quotient {
  BinaryOperator *Operation;
  const SCEV *By;
  Factors Length;
  SmallVector<const SCEV *, 2> Before;

  Value *dividend() const { return Operation->getOperand(0); }
};

bool isRemainder(const BinaryOperator &Op) { return Op.getOpcode() == Instruction::SRem || Op.getOpcode() == Instruction::URem; }

// What a quotient is in rows: of `Before` one after the other, then by `Multiple` of the length, if there is one.
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

// A loop that is a nest over rows: `Count` iterations in rows of `Length`, of a quotient's type.
struct Flat {
  Loop &L;
  SmallVector<Quotient, 8> All;
  const SCEV *Count, *Length;
  Type *Ty;
};

// Whether `S` is how often the loop has run before.
bool counts(const SCEV *S, const Loop &L) {
  auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  return Rec && Rec->getLoop() == &L && Rec->isAffine() && Rec->getStart()->isZero() && Rec->getOperand(1)->isOne();
}

// A quotient of the counter of `L`, or of one of `Others`.
std::optional<Quotient> quotientOf(Instruction &I, const Loop &L, ScalarEvolution &SE, ArrayRef<Quotient> Others) {
  auto *Op = dyn_cast<BinaryOperator>(&I);
  if (!Op || !Op->isIntDivRem() || isa<Constant>(Op->getOperand(1)))
    return std::nullopt;
  Quotient Q{Op, SE.getSCEV(Op->getOperand(1)), {}, {}};
  if (isa<SCEVConstant>(Q.By) || !SE.isLoopInvariant(Q.By, &L))
    return std::nullopt;
  auto *Inner = find_if(Others, [&](const Quotient &Other) { return Other.Operation == Q.dividend() && !isRemainder(*Other.Operation) && !isRemainder(*Op); });
  if (Inner != Others.end()) {
    Q.Before = Inner->Before;
    Q.Before.push_back(Inner->By);
  } else if (!counts(SE.getSCEV(Q.dividend()), L)) {
    return std::nullopt;
  }
  factors(Q.By, true, Q.Length);
  return Q;
}

// All quotients of a loop's counter that something is steered by, but for those that are only there for others.
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
  Quotient Least = *llvm::min_element(All, [](auto &A, auto &B) { return A.Length.size() < B.Length.size(); });
  Type *Ty = Least.Operation->getType();
  // The counter has to have its value in this type; that it is not negative is checked when the program runs.
  if (!isIn(Taken, Ty, SE))
    return std::nullopt;
  erase_if(All, [&](Quotient &Q) {
    Factors Own = Least.Length;
    cancel(Own, Q.Length);
    return !Own.empty() || Q.Operation->getType() != Ty;
  });
  const SCEV *Count = SE.getAddExpr(SE.getTruncateOrZeroExtend(Taken, Ty), SE.getOne(Ty));
  return Flat{L, All, Count, Least.By, Ty};
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
  for (Loop *L = Top->getParentLoop(); L; L = L->getParentLoop())
    if (L->getNumBlocks() > MaxFlatBlocks || !L->isLoopSimplifyForm() || !L->getUniqueExitBlock() || !L->isSafeToClone() || !L->isLCSSAForm(DT) ||
        Blocked.contains(L) || !SE.isLoopInvariant(Nest.Count, L) || !SE.isLoopInvariant(Nest.Length, L))
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

// Counters of the loop that was divided are made of row and column, and so are its quotients.
void useRows(const Rows &R, ArrayRef<InRows> Quotients, ArrayRef<Instruction *> Counters, Value *Length) {
  BasicBlock *H = R.Column->getParent();
  IRBuilder<> B(H, H->getFirstInsertionPt());
  B.SetCurrentDebugLocation(R.Column->getDebugLoc());
  Value *Place = B.CreateAdd(B.CreateMul(R.Row, Length, "", true, true), R.Column, "pollyrs.place", true, true);
  SmallVector<Value *, 8> Places;
  SmallVector<PHINode *, 4> PHIs;
  for (Instruction *I : Counters)
    Places.push_back(B.CreateZExtOrTrunc(Place, I->getType()));
  for (auto [I, V] : zip(Counters, Places)) {
    if (auto *P = dyn_cast<PHINode>(I))
      PHIs.push_back(P);
    I->replaceAllUsesWith(V);
  }
  // Those of quotients come behind these.
  for (const InRows &Q : reverse(Quotients)) {
    IRBuilder<> Here(Q.Operation);
    Value *V = R.Row;
    for (Value *By : Q.Before)
      V = Here.CreateUDiv(V, By);
    if (!isRemainder(*Q.Operation))
      V = Q.Multiple ? Here.CreateUDiv(V, Q.Multiple) : V;
    else if (!Q.Multiple)
      V = R.Column;
    else
      V = Here.CreateAdd(Here.CreateMul(Here.CreateURem(V, Q.Multiple), Length, "", true, true), R.Column, "", true, true);
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

// The counters of a loop that begin at 0 and go up by one, and what they are widened to where they are known not to wrap: that first.
SmallVector<Instruction *, 4> countersOf(const Loop &L, ScalarEvolution &SE) {
  SmallVector<Instruction *, 4> Counters, Wide;
  for (PHINode &P : L.getHeader()->phis()) {
    if (!P.getType()->isIntegerTy() || !counts(SE.getSCEV(&P), L))
      continue;
    Counters.push_back(&P);
    for (User *U : P.users())
      if (isa<SExtInst, ZExtInst>(U) && L.contains(cast<Instruction>(U)) && counts(SE.getSCEV(U), L))
        Wide.push_back(cast<Instruction>(U));
  }
  Wide.append(Counters);
  return Wide;
}

// Loops beside the one that is divided that run as often: over the same rows, so that arrays have one shape in both.
SmallVector<Loop *, 4> loopsBeside(const Flat &Nest, Loop &Top, ScalarEvolution &SE) {
  SmallVector<Loop *, 4> Beside;
  for (Loop *L : Top.getLoopsInPreorder()) {
    const SCEV *Taken = SE.getBackedgeTakenCount(L);
    if (L->contains(&Nest.L) || Nest.L.contains(L) || !L->isLoopSimplifyForm() || !L->getUniqueExitBlock() || L->getExitingBlock() != L->getLoopLatch() ||
        isa<SCEVCouldNotCompute>(Taken) || !isIn(Taken, Nest.Ty, SE) || any_of(Beside, [&](Loop *Other) { return Other->contains(L); }))
      continue;
    if (SE.getAddExpr(SE.getTruncateOrZeroExtend(Taken, Nest.Ty), SE.getOne(Nest.Ty)) == Nest.Count && !countersOf(*L, SE).empty())
      Beside.push_back(L);
  }
  return Beside;
}

bool divideFlat(Loop &L, Function &F, Session &S, const DenseSet<const Loop *> &Blocked) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  if (L.getNumBlocks() > MaxFlatBlocks || !L.isLoopSimplifyForm() || !L.getUniqueExitBlock() || !L.isSafeToClone() || !L.isLCSSAForm(DT) || !S.work(L))
    return false;
  auto Nest = flat(L, SE);
  if (!Nest)
    return false;
  Factors Own;
  factors(Nest->Length, true, Own);
  // Of a product of 64 bits that stays whole, arrays would have its factors for sizes, and no row is as short as one of these.
  if (Own.size() > 1 && Nest->Ty->getIntegerBitWidth() > 32 && !isDividedAgain(Nest->All))
    return false;
  Loop &Top = outermost(*Nest, SE, DT, Blocked);
  KnownLengths At(*Top.getLoopPreheader(), SE, Nest->Ty);
  Factors Above = factorsOfCount(Nest->Count), Below = Own;
  cancel(Above, Below);
  const SCEV *A = At.product(Above), *D = At.product(Below);
  if (!At.canExpand(Nest->Count) || !At.canExpand(Nest->Length) || !At.canExpand(A) || !At.canExpand(D))
    return false;
  SmallVector<const SCEV *, 8> Multiples;
  for (Quotient &Q : Nest->All) {
    Factors Rest = Q.Length, Used = Own;
    cancel(Rest, Used);
    Multiples.push_back(Rest.empty() ? nullptr : At.product(Rest));
    if ((Multiples.back() && !At.canExpand(Multiples.back())) || !At.canExpand(Q.By) || !all_of(Q.Before, [&](auto *S) { return At.canExpand(S); }))
      return false;
  }
  SmallVector<Instruction *, 4> Counters = countersOf(L, SE);
  SmallVector<std::pair<BasicBlock *, SmallVector<Instruction *, 4>>, 4> Beside;
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
  Value *Even = At.all();
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(Top, ".rows", Map, LI, DT);
  auto Copied = [&](auto *V) { return cast<std::remove_pointer_t<decltype(V)>>((Value *)Map[V]); };
  for (InRows &Q : Quotients)
    Q.Operation = Copied(Q.Operation);
  for (Instruction *&I : Counters)
    I = Copied(I);
  Loop *Inner = LI.getLoopFor(Copied(L.getHeader()));
  for (auto &[Header, Others] : Beside) {
    for (Instruction *&I : Others)
      I = Copied(I);
    useRows(divideLoop(*LI.getLoopFor(Copied(Header)), Number, Length), {}, Others, Length);
  }
  useRows(divideLoop(*Inner, Number, Length), Quotients, Counters, Length);
  if (auto *Known = Whole && Above.size() == 1 ? dyn_cast<SCEVUnknown>(Above[0].Value) : nullptr)
    replaceIn(Copy, *Known, SE.getMulExpr(SE.getUnknown(Number), D), SE);
  IRBuilder<>(Copy.Before).CreateCondBr(Even, Copy.Other, Copy.Own);
  addStringMetadataToLoop(&Top, pollyrs::UnevenRowsMark);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

bool divideFlatWithin(ArrayRef<Loop *> Loops, Function &F, Session &S, const DenseSet<const Loop *> &Blocked) {
  for (Loop *L : Loops)
    if (!findStringMetadataForLoop(L, pollyrs::ApartMark) && !findStringMetadataForLoop(L, pollyrs::KeptMark) &&
        !findStringMetadataForLoop(L, pollyrs::UnevenRowsMark) &&
        ((!Blocked.contains(L) && divideFlat(*L, F, S, Blocked)) || divideFlatWithin(L->getSubLoops(), F, S, Blocked)))
      return true;
  return false;
}
} // namespace

extern "C" bool prs_divide_counters(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  SmallVector<Loop *, 8> Outermost(LI.begin(), LI.end());
  return divideFlatWithin(Outermost, F, *S, pollyrs::blockedLoops(*S, LI));
}
