// Values that a loop advances through the loops inside of it; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Session;

namespace {
constexpr unsigned MaxDepth = 8;
// Values made of what a loop leaves that are looked at.
constexpr unsigned MaxResultUses = 128;

// What loop `L` adds to a value of its header in each iteration.
struct Advance {
  Loop &L;
  ScalarEvolution &SE;
  DominatorTree &DT;
  LoopInfo &LI;
  SCEVExpander Expander;
  Instruction *Before;
  // Whether a loop inside contributes; without one, scalar evolution sees for itself.
  bool Inner = false;

  Advance(Loop &L, ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI)
      : L(L), SE(SE), DT(DT), LI(LI), Expander(SE, "pollyrs"), Before(L.getLoopPreheader()->getTerminator()) {}

  Value *expand(const SCEV *S) {
    if (isa<SCEVCouldNotCompute>(S) || S->getType()->isPointerTy() || !SE.isLoopInvariant(S, &L) ||
        !Expander.isSafeToExpandAt(S, Before))
      return nullptr;
    return Expander.expandCodeFor(S, S->getType(), Before->getIterator());
  }

  Value *add(Value *A, Value *B) {
    if (auto *C = dyn_cast<ConstantInt>(A); C && C->isZero())
      return B;
    if (auto *C = dyn_cast<ConstantInt>(B); C && C->isZero())
      return A;
    return IRBuilder<>(Before).CreateAdd(A, B);
  }

  // A loop that runs while `X` is not over `To`, from which on it is 0 iterations: `Count`, which holds where
  // `Guard` does, with `max(X, To)` in place of `X` is 0 elsewhere. Null if the count is none of the forms
  // that scalar evolution has for one.
  const SCEV *guarded(const SCEV *Count, CmpInst::Predicate P, const SCEV *X, const SCEV *To) {
    bool Any = P == CmpInst::ICMP_NE, Signed = P == CmpInst::ICMP_SGT;
    if (!Any && !Signed && P != CmpInst::ICMP_UGT)
      return nullptr;
    auto Max = [&](const SCEV *A, const SCEV *B) { return Signed ? SE.getSMaxExpr(A, B) : SE.getUMaxExpr(A, B); };
    const SCEV *AtLeast = Any ? X : Max(X, To), *Next = SE.getAddExpr(To, SE.getOne(To->getType()));
    Type *Ty = Count->getType();
    // Scalar evolution knows of the guard, or it has the largest of both ends.
    for (const SCEV *End : {X, Any ? X : Max(X, Next)}) {
      if (SE.getTypeSizeInBits(Ty) < SE.getTypeSizeInBits(X->getType()))
        return nullptr;
      if (Count == SE.getNoopOrZeroExtend(SE.getMinusSCEV(End, To), Ty))
        return SE.getNoopOrZeroExtend(SE.getMinusSCEV(AtLeast, To), Ty);
      if (Count == SE.getMinusSCEV(SE.getNoopOrZeroExtend(End, Ty), SE.getNoopOrZeroExtend(To, Ty)))
        return SE.getMinusSCEV(SE.getNoopOrZeroExtend(AtLeast, Ty), SE.getNoopOrZeroExtend(To, Ty));
      if (Count == SE.getMinusSCEV(SE.getNoopOrSignExtend(End, Ty), SE.getNoopOrSignExtend(To, Ty)))
        return SE.getMinusSCEV(SE.getNoopOrSignExtend(AtLeast, Ty), SE.getNoopOrSignExtend(To, Ty));
    }
    return nullptr;
  }

  // How often the loop inside runs, modulo what `Ty` counts; guarded by `Guard` if it is not null: `w` and
  // `w > 0` make max(w, 0).
  Value *iterations(Loop &Inner, Value *Guard, bool Enters, Type *Ty) {
    const SCEV *Taken = SE.getBackedgeTakenCount(&Inner);
    if (isa<SCEVCouldNotCompute>(Taken) || !SE.isLoopInvariant(Taken, &L))
      return nullptr;
    // Without a guard the loop runs at least once, and once more than it goes back.
    if (!Guard)
      return expand(SE.getAddExpr(SE.getTruncateOrZeroExtend(Taken, Ty), SE.getOne(Ty)));
    const SCEV *Count = SE.getAddExpr(Taken, SE.getOne(Taken->getType()));
    using namespace PatternMatch;
    CmpPredicate Pred;
    Value *A, *B;
    if (!match(Guard, m_ICmp(Pred, m_Value(A), m_Value(B))) || !A->getType()->isIntegerTy())
      return nullptr;
    CmpInst::Predicate P = Enters ? CmpInst::Predicate(Pred) : CmpInst::getInversePredicate(Pred);
    const SCEV *X = SE.getSCEV(A), *To = SE.getSCEV(B);
    if (P == CmpInst::ICMP_SLT || P == CmpInst::ICMP_ULT || P == CmpInst::ICMP_SLE || P == CmpInst::ICMP_ULE) {
      std::swap(X, To);
      P = CmpInst::getSwappedPredicate(P);
    }
    // (`x >= c` for a number that is not the least is `x > c - 1`.)
    if (auto *C = dyn_cast<SCEVConstant>(To); C && (P == CmpInst::ICMP_SGE || P == CmpInst::ICMP_UGE)) {
      bool Least = P == CmpInst::ICMP_SGE ? C->getAPInt().isMinSignedValue() : C->getAPInt().isZero();
      if (Least)
        return nullptr;
      To = SE.getConstant(C->getAPInt() - 1);
      P = CmpInst::getStrictPredicate(P);
    }
    if (!SE.isLoopInvariant(X, &L) || !SE.isLoopInvariant(To, &L))
      return nullptr;
    const SCEV *Times = guarded(Count, P, X, To);
    if (!Times && P == CmpInst::ICMP_NE)
      Times = guarded(Count, P, To, X);
    return Times ? expand(SE.getTruncateOrZeroExtend(Times, Ty)) : nullptr;
  }

  // As `distance`, for the last value of a counter of a loop inside, of which as much is carried as `P` has.
  Value *lastOf(Instruction &V, PHINode &P, Value *Guard, bool Enters, Value *Without, unsigned Depth) {
    Type *Ty = SE.getEffectiveSCEVType(P.getType());
    Loop *In = LI.getLoopFor(V.getParent());
    auto *Rec = SE.isSCEVable(V.getType()) ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&V)) : nullptr;
    if (!Rec || Rec->getLoop() != In || !Rec->isAffine() || In->getParentLoop() != &L || !In->getExitingBlock() ||
        In->getExitingBlock() != In->getLoopLatch())
      return nullptr;
    for (PHINode &Q : In->getHeader()->phis()) {
      if (Q.getType() != V.getType() || Q.getIncomingValueForBlock(In->getLoopLatch()) != &V)
        continue;
      Value *Start = Q.getIncomingValueForBlock(In->getLoopPreheader());
      if (Start->getType() != P.getType() && (isa<SExtInst>(Start) || isa<ZExtInst>(Start)))
        Start = cast<CastInst>(Start)->getOperand(0);
      // A loop that is skipped adds nothing; neither may what is behind the branch and before it.
      if (Start->getType() != P.getType() || (Guard && Start != Without))
        return nullptr;
      Value *First = distance(Start, P, nullptr, false, nullptr, Depth - 1);
      Value *Step = First ? expand(SE.getTruncateOrNoop(Rec->getStepRecurrence(SE), Ty)) : nullptr;
      Value *Times = Step ? iterations(*In, Guard, Enters, Ty) : nullptr;
      Inner |= Times != nullptr;
      return Times ? add(First, IRBuilder<>(Before).CreateMul(Times, Step)) : nullptr;
    }
    return nullptr;
  }

  // `V - P`, as a number (of bytes, for pointers) known before the loop; null if there is none. With `Guard`,
  // the condition of a branch, `V` is the last value of a loop entered where it is `Enters`, and the result
  // is `Without - P` where it is not.
  Value *distance(Value *V, PHINode &P, Value *Guard, bool Enters, Value *Without, unsigned Depth) {
    Type *Ty = SE.getEffectiveSCEVType(P.getType());
    if (V == &P)
      return ConstantInt::get(Ty, 0);
    auto *I = dyn_cast<Instruction>(V);
    // A counter of a loop inside may be a wider number, of which only this much is carried.
    if (auto *Narrow = dyn_cast_or_null<TruncInst>(I); Narrow && Depth && L.contains(I) && I->getType() == P.getType()) {
      auto *Wide = dyn_cast<Instruction>(Narrow->getOperand(0));
      auto *Last = dyn_cast_or_null<PHINode>(Wide);
      if (Last && Last->getNumIncomingValues() == 1)
        Wide = dyn_cast<Instruction>(Last->getIncomingValue(0));
      return Wide && L.contains(Wide) ? lastOf(*Wide, P, Guard, Enters, Without, Depth - 1) : nullptr;
    }
    if (!I || !Depth || !L.contains(I) || I->getType() != P.getType())
      return nullptr;
    if (auto *PHI = dyn_cast<PHINode>(I)) {
      if (PHI->getNumIncomingValues() == 1)
        return distance(PHI->getIncomingValue(0), P, Guard, Enters, Without, Depth - 1);
      bool Plain = !Guard && PHI->getNumIncomingValues() == 2 && !LI.isLoopHeader(PHI->getParent());
      return Plain ? joined(*PHI, P, Depth) : nullptr;
    }
    if (LI.getLoopFor(I->getParent()) != &L)
      return lastOf(*I, P, Guard, Enters, Without, Depth);
    const SCEV *S = SE.getSCEV(V);
    if (Guard)
      return nullptr;
    Value *From = nullptr, *By = nullptr;
    using namespace PatternMatch;
    if (auto *GEP = dyn_cast<GetElementPtrInst>(I)) {
      From = GEP->getPointerOperand();
      By = expand(SE.getMinusSCEV(S, SE.getSCEV(From)));
    } else if (match(I, m_Add(m_Value(From), m_Value(By)))) {
      if (L.isLoopInvariant(From))
        std::swap(From, By);
      By = L.isLoopInvariant(By) ? expand(SE.getSCEV(By)) : nullptr;
    } else if (match(I, m_Sub(m_Value(From), m_Value(By)))) {
      By = L.isLoopInvariant(By) ? expand(SE.getNegativeSCEV(SE.getSCEV(By))) : nullptr;
    }
    Value *Rest = By ? distance(From, P, nullptr, false, nullptr, Depth - 1) : nullptr;
    return Rest ? add(Rest, By) : nullptr;
  }

  // A value joined behind a loop inside that is skipped where it would not run.
  Value *joined(PHINode &PHI, PHINode &P, unsigned Depth) {
    BasicBlock *Join = PHI.getParent();
    auto *Dominator = DT.getNode(Join)->getIDom();
    BasicBlock *Head = Dominator ? Dominator->getBlock() : nullptr;
    auto *Branch = Head ? dyn_cast<BranchInst>(Head->getTerminator()) : nullptr;
    if (!Branch || !Branch->isConditional() || PHI.getBasicBlockIndex(Head) < 0)
      return nullptr;
    bool Enters = Branch->getSuccessor(1) == Join;
    if (Branch->getSuccessor(0) == Branch->getSuccessor(1))
      return nullptr;
    unsigned Skipped = PHI.getBasicBlockIndex(Head);
    Value *Without = PHI.getIncomingValue(Skipped), *With = PHI.getIncomingValue(1 - Skipped);
    return distance(With, P, Branch->getCondition(), Enters, Without, Depth - 1);
  }
};
} // namespace

// Whether `P`, a value that loop `L` carries, is advanced by loops inside by a number known before `L`. It is
// at once then; and so is what it is between two of these loops.
static bool advance(Loop &L, PHINode &P, ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI) {
  if ((!P.getType()->isPointerTy() && !P.getType()->isIntegerTy()) || !SE.isSCEVable(P.getType()))
    return false;
  auto *V = dyn_cast<Instruction>(P.getIncomingValueForBlock(L.getLoopLatch()));
  // (A block that only hands exceptions on has no room.)
  auto HasRoom = [](Instruction &I) { return !isa<PHINode>(I) || I.getParent()->getFirstInsertionPt() != I.getParent()->end(); };
  if (!V || V == &P || isa<SCEVAddRecExpr>(SE.getSCEV(&P)) || !DT.dominates(P.getParent(), V->getParent()) || !HasRoom(*V))
    return false;
  Advance A(L, SE, DT, LI);
  Value *Distance = A.distance(V, P, nullptr, false, nullptr, MaxDepth);
  if (!Distance || !A.Inner)
    return false;
  SmallVector<std::pair<Instruction *, Value *>, 4> Known = {{V, Distance}};
  for (BasicBlock *BB : L.blocks())
    if (BB != L.getHeader() && LI.getLoopFor(BB) == &L)
      for (PHINode &Between : BB->phis())
        if (&Between != V && Between.getNumIncomingValues() == 2 && Between.getType() == P.getType() && HasRoom(Between))
          if (Value *Until = A.distance(&Between, P, nullptr, false, nullptr, MaxDepth))
            Known.push_back({&Between, Until});
  SE.forgetAllLoops();
  for (auto [I, Until] : Known) {
    IRBuilder<> Builder(I->getParent(), isa<PHINode>(I) ? I->getParent()->getFirstInsertionPt() : std::next(I->getIterator()));
    I->replaceAllUsesWith(P.getType()->isPointerTy() ? Builder.CreatePtrAdd(&P, Until) : Builder.CreateAdd(&P, Until));
  }
  return true;
}

extern "C" bool prs_advance_counters(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto &LI = S->FAM.getResult<LoopAnalysis>(F);
  auto &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  bool Changed = false;
  // Inner loops first: what they do becomes a step of the outer ones.
  auto Loops = LI.getLoopsInPreorder();
  for (Loop *L : reverse(Loops))
    if (!L->isInnermost() && L->isLoopSimplifyForm())
      for (PHINode &P : L->getHeader()->phis())
        Changed |= advance(*L, P, SE, DT, LI);
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

// `for (rest = n; rest >= m; rest -= m)`, which scalar evolution does not count for an `m` that is not a
// number: it runs `n / m` times, as Rust's iterators over chunks do. Rotated, the loop is entered where
// `n >= m` holds; and `m` is not 0, for which it would not end, or is positive where the comparison is
// signed.
static bool countChunks(Loop &L, ScalarEvolution &SE) {
  using namespace PatternMatch;
  BasicBlock *Latch = L.getLoopLatch(), *Before = L.getLoopPreheader();
  auto *Branch = Latch && Before && L.getExitingBlock() == Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
  CmpPredicate Pred;
  Value *Rest, *M;
  if (!Branch || !Branch->isConditional() || !isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(&L)) ||
      !match(Branch->getCondition(), m_ICmp(Pred, m_Value(Rest), m_Value(M))))
    return false;
  CmpInst::Predicate Stays = L.contains(Branch->getSuccessor(0)) ? CmpInst::Predicate(Pred) : CmpInst::getInversePredicate(Pred);
  if (L.isLoopInvariant(Rest)) {
    std::swap(Rest, M);
    Stays = CmpInst::getSwappedPredicate(Stays);
  }
  Value *Last;
  bool Taken = match(Rest, m_Sub(m_Value(Last), m_Specific(M)));
  auto *PHI = Taken ? dyn_cast<PHINode>(Last) : nullptr;
  bool Signed = Stays == CmpInst::ICMP_SGE;
  if ((!Signed && Stays != CmpInst::ICMP_UGE) || !L.isLoopInvariant(M) || isa<Constant>(M) || !PHI || PHI->getParent() != L.getHeader() ||
      PHI->getIncomingValueForBlock(Latch) != Rest)
    return false;
  Value *N = PHI->getIncomingValueForBlock(Before);
  const SCEV *By = SE.getSCEV(M), *Zero = SE.getZero(By->getType());
  if (!SE.isLoopEntryGuardedByCond(&L, Stays, SE.getSCEV(N), By) ||
      !SE.isLoopEntryGuardedByCond(&L, Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_NE, By, Zero))
    return false;
  SE.forgetLoop(&L);
  Value *Chunks = IRBuilder<>(Before->getTerminator()).CreateUDiv(N, M, "pollyrs.chunks");
  Type *Ty = N->getType();
  PHINode *Chunk = PHINode::Create(Ty, 2, "pollyrs.chunk", L.getHeader()->begin());
  IRBuilder<> B(Branch);
  Value *Next = B.CreateAdd(Chunk, ConstantInt::get(Ty, 1), "", /*HasNUW=*/true);
  Chunk->addIncoming(ConstantInt::get(Ty, 0), Before);
  Chunk->addIncoming(Next, Latch);
  bool First = L.contains(Branch->getSuccessor(0));
  Branch->setCondition(B.CreateICmp(First ? CmpInst::ICMP_NE : CmpInst::ICMP_EQ, Next, Chunks));
  return true;
}

// `for (rest = n; rest != 0; rest -= min(m, rest))`, as Rust's iterators over chunks of which the last one
// may be shorter: `n / m` chunks have `m` elements, and what is left is one more. The chunk begins at `m`
// times its number, as the one that is shorter is the last.
//
// Only with one loop inside: several that have two lengths each, in one nest, are more than isl's generation
// of code is up to.
static bool countUnevenChunks(Loop &L, ScalarEvolution &SE) {
  using namespace PatternMatch;
  if (L.getSubLoops().size() != 1)
    return false;
  BasicBlock *Latch = L.getLoopLatch(), *Before = L.getLoopPreheader();
  auto *Branch = Latch && Before && L.getExitingBlock() == Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
  CmpPredicate Pred;
  Value *Rest, *Last, *Taken;
  if (!Branch || !Branch->isConditional() || !match(Branch->getCondition(), m_ICmp(Pred, m_Value(Rest), m_Zero())) ||
      !match(Rest, m_Sub(m_Value(Last), m_Value(Taken))) || !isa<IntrinsicInst>(Taken))
    return false;
  auto *PHI = dyn_cast<PHINode>(Last);
  Value *M = nullptr;
  bool First = L.contains(Branch->getSuccessor(0));
  if (!PHI || PHI->getParent() != L.getHeader() || PHI->getIncomingValueForBlock(Latch) != Rest || !match(Taken, m_c_UMin(m_Value(M), m_Specific(PHI))) ||
      !L.isLoopInvariant(M) || CmpInst::Predicate(Pred) != (First ? CmpInst::ICMP_NE : CmpInst::ICMP_EQ))
    return false;
  Value *N = PHI->getIncomingValueForBlock(Before);
  if (!N->getType()->isIntegerTy(64))
    return false;
  SmallVector<std::pair<PHINode *, int64_t>, 4> Advanced;
  for (PHINode &P : L.getHeader()->phis()) {
    if (&P != PHI && !P.getType()->isPointerTy() && P.getType() != N->getType())
      continue;
    const SCEV *Way = SE.getMinusSCEV(SE.getSCEV(P.getIncomingValueForBlock(Latch)), SE.getSCEV(&P)), *Length = SE.getSCEV(Taken);
    auto *Product = dyn_cast<SCEVMulExpr>(Way);
    auto *Times = Product && Product->getNumOperands() == 2 ? dyn_cast<SCEVConstant>(Product->getOperand(0)) : nullptr;
    if (Way == Length)
      Advanced.push_back({&P, 1});
    else if (Times && Product->getOperand(1) == Length && Times->getAPInt().getSignificantBits() < 32)
      Advanced.push_back({&P, Times->getAPInt().getSExtValue()});
  }
  if (none_of(Advanced, [&](auto &A) { return A.first == PHI; }))
    return false;
  SE.forgetLoop(&L);
  Type *Ty = N->getType();
  Constant *One = ConstantInt::get(Ty, 1), *Zero = ConstantInt::get(Ty, 0);
  IRBuilder<> B(Before->getTerminator());
  // Chunks of no elements never come to an end, nor does a counter of 64 bits; a loop that is entered has one
  // chunk at least, if an empty one.
  Value *None = B.CreateICmpEQ(B.CreateFreeze(M), Zero), *By = B.CreateSelect(None, One, M);
  Value *Whole = B.CreateFreeze(B.CreateSelect(None, ConstantInt::getAllOnesValue(Ty), B.CreateUDiv(N, By)), "pollyrs.whole");
  Value *Left = B.CreateFreeze(B.CreateURem(N, By), "pollyrs.left");
  Value *All = B.CreateBinaryIntrinsic(Intrinsic::umax, B.CreateAdd(B.CreateUDiv(N, By), B.CreateZExt(B.CreateIsNotNull(Left), Ty)), One);
  Value *Chunks = B.CreateFreeze(B.CreateSelect(None, Zero, All), "pollyrs.chunks");
  PHINode *Chunk = PHINode::Create(Ty, 2, "pollyrs.chunk", L.getHeader()->begin());
  B.SetInsertPoint(Branch);
  Value *Next = B.CreateAdd(Chunk, One);
  Chunk->addIncoming(Zero, Before);
  Chunk->addIncoming(Next, Latch);
  Branch->setCondition(B.CreateICmp(First ? CmpInst::ICMP_NE : CmpInst::ICMP_EQ, Next, Chunks));
  B.SetInsertPoint(L.getHeader(), L.getHeader()->getFirstInsertionPt());
  Value *Begin = B.CreateMul(Chunk, M);
  Value *Length = B.CreateSelect(B.CreateICmpULT(Chunk, Whole), M, Left, "pollyrs.length");
  // What is advanced by the chunk's length is where the chunk begins.
  auto Behind = [&](IRBuilder<> &At, PHINode &P, Value *Elements, int64_t Times) {
    Value *Start = P.getIncomingValueForBlock(Before), *By = At.CreateMul(Elements, ConstantInt::getSigned(Ty, Times));
    return Start->getType()->isPointerTy() ? At.CreatePtrAdd(Start, By) : At.CreateAdd(Start, By);
  };
  IRBuilder<> Early(Before->getTerminator());
  for (auto [P, Times] : Advanced) {
    // Behind the loop all elements are.
    for (User *U : make_early_inc_range(P->getIncomingValueForBlock(Latch)->users()))
      if (auto *Last = dyn_cast<PHINode>(U); Last && !L.contains(Last) && Last->getNumIncomingValues() == 1)
        Last->replaceAllUsesWith(Behind(Early, *P, N, Times));
    P->replaceAllUsesWith(Behind(B, *P, Begin, Times));
  }
  Taken->replaceAllUsesWith(Length);
  for (auto [P, Times] : Advanced)
    RecursivelyDeleteDeadPHINode(P);
  return true;
}

extern "C" bool prs_count_chunks(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
  bool Changed = false;
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    Changed |= countChunks(*L, SE) || countUnevenChunks(*L, SE);
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

// Whether `V` is computed in the block of `P` from that.
static bool isComputedFrom(Value *V, PHINode &P) {
  SmallSetVector<Value *, 8> Work;
  Work.insert(V);
  for (unsigned N = 0; N != Work.size(); ++N)
    if (auto *I = dyn_cast<Instruction>(Work[N]); I && I->getParent() == P.getParent() && !isa<PHINode>(I))
      for (Value *Op : I->operands()) {
        if (Op == &P)
          return true;
        Work.insert(Op);
      }
  return false;
}

// Whether conditions or places behind `L` are made of the number `P`, which no loop around `L` takes over to
// its next iteration.
static bool decidesBehind(PHINode &P, Loop &L) {
  SmallSetVector<Instruction *, 16> Work;
  Work.insert(&P);
  bool Decides = false;
  for (unsigned N = 0; N != Work.size(); ++N) {
    if (N == MaxResultUses)
      return false;
    for (User *U : Work[N]->users()) {
      auto *I = cast<Instruction>(U);
      if (auto *Phi = dyn_cast<PHINode>(I))
        for (Loop *Around = L.getParentLoop(); Around; Around = Around->getParentLoop())
          if (Around->getHeader() == Phi->getParent())
            return false;
      Decides |= isa<ICmpInst, GetElementPtrInst>(I);
      if (I->getType()->isIntegerTy() && isa<BinaryOperator, CastInst, SelectInst, PHINode, MinMaxIntrinsic>(I))
        Work.insert(I);
    }
  }
  return Decides;
}

// What a loop over data leaves in a number (a sum, a count, a place) and what decides behind it is a number
// of its own. Scalar evolution looks through a PHI of one value: without this, bounds and conditions of a
// later nest would be made of what is in an iteration of this loop, and that isn't there where the loop runs
// on a device.
extern "C" bool prs_separate_results(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto &LI = S->FAM.getResult<LoopAnalysis>(F);
  auto &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder()) {
    BasicBlock *Exit = L->getUniqueExitBlock();
    if (!Exit || Exit->getFirstInsertionPt() == Exit->end())
      continue;
    Instruction *Behind = &*Exit->getFirstInsertionPt();
    for (PHINode &P : Exit->phis()) {
      bool Frozen = P.hasOneUse() && isa<FreezeInst>(P.user_back());
      if (P.getNumIncomingValues() != 1 || !P.getType()->isIntegerTy() || Frozen || !decidesBehind(P, *L))
        continue;
      const SCEV *Last = SE.getSCEVAtScope(P.getIncomingValue(0), L->getParentLoop());
      if (SE.isLoopInvariant(Last, L))
        continue;
      auto *Result = new FreezeInst(&P, "", Behind->getIterator());
      P.replaceUsesWithIf(Result, [&](Use &U) { return U.getUser() != Result; });
      Changed = true;
    }
    // A later region begins behind the numbers.
    if (&*Exit->getFirstInsertionPt() != Behind)
      SplitBlock(Exit, Behind, &DT, &LI, nullptr, "results");
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

// What outermost loops leave in pointers (`return result;` of std::transform) is computed behind them.
extern "C" bool prs_rewrite_exit_values(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto &LI = S->FAM.getResult<LoopAnalysis>(F);
  auto &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
  SCEVExpander Expander(SE, "pollyrs.exit");
  bool Changed = false;
  for (Loop *L : LI) {
    BasicBlock *Exit = L->getUniqueExitBlock();
    if (!Exit || Exit->getFirstInsertionPt() == Exit->end())
      continue;
    for (PHINode &P : make_early_inc_range(Exit->phis())) {
      if (P.getNumIncomingValues() != 1 || L->isLoopInvariant(P.getIncomingValue(0)) || !SE.isSCEVable(P.getType()))
        continue;
      auto *Counter = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(P.getIncomingValue(0)));
      if (!P.getType()->isPointerTy() && !(Counter && Counter->isAffine() && Counter->getLoop() == L))
        continue;
      const SCEV *Last = SE.getSCEVAtScope(P.getIncomingValue(0), nullptr);
      auto At = Exit->getFirstInsertionPt();
      if (isa<SCEVCouldNotCompute>(Last) || !SE.isLoopInvariant(Last, L) || !Expander.isSafeToExpandAt(Last, &*At))
        continue;
      Value *V = Expander.expandCodeFor(Last, P.getType(), At);
      // The expander takes a value that is there already, and the PHI is one.
      if (V == &P || isComputedFrom(V, P))
        continue;
      SE.forgetValue(&P);
      P.replaceAllUsesWith(V);
      P.eraseFromParent();
      Changed = true;
    }
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
