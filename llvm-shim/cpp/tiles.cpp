// Loops over tiles of a size that is known at run time only, as loops over points; src/prepare.rs has the
// argument.

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
// Loops that are larger are not copied; what a counter is used for is looked for so far.
constexpr unsigned MaxTileBlocks = 64, MaxTileUses = 64;
// Starts, ends and sizes of tiles are less, so that nothing made of two of them wraps in 32 bits, and no
// product in 64.
constexpr uint64_t MostPoints = INT32_MAX;

// Integers of one width as another one; sizes are not negative, so that both ways are the same, and the
// program may have any.
const SCEV *widened(const SCEV *S, Type *Ty, bool Signed, ScalarEvolution &SE) {
  return Signed ? SE.getTruncateOrSignExtend(S, Ty) : SE.getTruncateOrZeroExtend(S, Ty);
}

// A loop over tiles `for (t = Start; ...; t += Step)` around one over the points of a tile,
// `for (p = t; p < min(End, t + Step); p++)`. All that it is made of is known before the outermost such loop.
struct TileLoops {
  Loop *Tiles, *Points;
  const SCEV *Start, *Step, *End = nullptr;
  bool Signed = true;
  // What the counter of tiles is compared with, or how often the loop runs less one.
  const SCEV *Bound = nullptr, *Taken = nullptr;
  // Branches to the points if there are any, and where they lead then.
  SmallVector<std::pair<BranchInst *, unsigned>, 4> Guards;

  const SCEV *tile(Type *Ty, ScalarEvolution &SE) const {
    return SE.getAddRecExpr(widened(Start, Ty, Signed, SE), widened(Step, Ty, Signed, SE), Tiles, SCEV::FlagAnyWrap);
  }
};

// In less than 32 bits the counters of points that are checked might wrap.
bool isNarrow(const Type *Ty) { return !Ty->isIntegerTy() || Ty->getIntegerBitWidth() < 32 || Ty->getIntegerBitWidth() > 64; }

const SCEV *withoutCasts(const SCEV *S) {
  while (auto *Cast = dyn_cast<SCEVIntegralCastExpr>(S))
    S = Cast->getOperand();
  return S;
}

// The minimum of an end that is known before `Top` and the last point of a tile, or the one behind it
// (`Inclusive`), as a part of `S`.
struct LastPoint {
  const SCEVMinMaxExpr *Minimum = nullptr;
  const SCEV *End = nullptr;
  bool Inclusive = false;
};

LastPoint lastPoint(const SCEV *S, const TileLoops &T, const Loop &Top, ScalarEvolution &SE) {
  LastPoint Found;
  SCEVExprContains(S, [&](const SCEV *O) {
    auto *Min = dyn_cast<SCEVMinMaxExpr>(O);
    if (!Min || !isa<SCEVSMinExpr, SCEVUMinExpr>(O) || Min->getNumOperands() != 2)
      return false;
    for (unsigned I : {0, 1}) {
      auto *Rec = dyn_cast<SCEVAddRecExpr>(withoutCasts(Min->getOperand(I)));
      const SCEV *End = Min->getOperand(1 - I);
      if (!Rec || Rec->getLoop() != T.Tiles || !Rec->isAffine() || isNarrow(Rec->getType()) || !SE.isLoopInvariant(End, &Top))
        continue;
      const SCEV *Step = widened(T.Step, Rec->getType(), T.Signed, SE);
      const SCEV *Behind = SE.getAddExpr(widened(T.Start, Rec->getType(), T.Signed, SE), Step);
      if (Rec->getOperand(1) != Step)
        continue;
      for (bool Inclusive : {false, true})
        if (Rec->getStart() == (Inclusive ? SE.getMinusSCEV(Behind, SE.getOne(Rec->getType())) : Behind)) {
          Found = {Min, End, Inclusive};
          return true;
        }
    }
    return false;
  });
  return Found;
}

// How many points a tile has, as a number of type `Ty`.
const SCEV *pointsOfTile(const TileLoops &T, const LastPoint &Last, Type *Ty, ScalarEvolution &SE) {
  const SCEV *Behind = widened(Last.Minimum, Ty, T.Signed, SE);
  if (Last.Inclusive)
    Behind = SE.getAddExpr(Behind, SE.getOne(Ty));
  return SE.getMinusSCEV(Behind, T.tile(Ty, SE));
}

// Maxima and minima that are one of their operands for a tile that has points: a loop that is not skipped
// runs at least once.
struct KnownExtrema : SCEVRewriteVisitor<KnownExtrema> {
  const TileLoops &T;
  const LastPoint &Last;
  KnownExtrema(ScalarEvolution &SE, const TileLoops &T, const LastPoint &Last) : SCEVRewriteVisitor(SE), T(T), Last(Last) {}

  // Whether `More` is not less than `Less` in a tile that has points; where these are no signed numbers, only
  // if the latter is surely not negative, as counters of tiles are.
  bool isMore(const SCEV *More, const SCEV *Less, bool Signed) {
    if (!More->getType()->isIntegerTy())
      return false;
    const SCEV *Tile = T.tile(More->getType(), SE);
    auto *Number = dyn_cast<SCEVConstant>(Less);
    if (!Signed && Less != Tile && Less != SE.getAddExpr(Tile, SE.getOne(Tile->getType())) && !(Number && !Number->getAPInt().isNegative()))
      return false;
    const SCEV *Points = pointsOfTile(T, Last, More->getType(), SE);
    const SCEV *By = SE.getMinusSCEV(More, Less);
    return By == Points || By == SE.getMinusSCEV(Points, SE.getOne(By->getType()));
  }
  const SCEV *visitExtremum(const SCEVMinMaxExpr *E, bool Most, bool Signed) {
    if (E == Last.Minimum || E->getNumOperands() != 2)
      return E;
    for (unsigned I : {0, 1})
      if (isMore(E->getOperand(I), E->getOperand(1 - I), Signed))
        return E->getOperand(Most ? I : 1 - I);
    return E;
  }
  const SCEV *visitSMaxExpr(const SCEVSMaxExpr *E) { return visitExtremum(E, true, true); }
  const SCEV *visitUMaxExpr(const SCEVUMaxExpr *E) { return visitExtremum(E, true, false); }
  const SCEV *visitSMinExpr(const SCEVSMinExpr *E) { return visitExtremum(E, false, true); }
  const SCEV *visitUMinExpr(const SCEVUMinExpr *E) { return visitExtremum(E, false, false); }
};

// Whether a branch on `Compare` goes to its successor `To` exactly if a tile has points.
bool asksForPoints(ICmpInst &Compare, unsigned To, const TileLoops &T, const LastPoint &Last, ScalarEvolution &SE) {
  CmpInst::Predicate P = To == 0 ? Compare.getPredicate() : Compare.getInversePredicate();
  const SCEV *Left = SE.getSCEV(Compare.getOperand(0)), *Right = SE.getSCEV(Compare.getOperand(1));
  if (isNarrow(Left->getType()))
    return false;
  if (ICmpInst::isLT(P) || ICmpInst::isLE(P)) {
    std::swap(Left, Right);
    P = CmpInst::getSwappedPredicate(P);
  }
  Type *Ty = Left->getType();
  if (CmpInst::isUnsigned(P))
    return P == CmpInst::ICMP_UGT && !Last.Inclusive && Left == widened(Last.Minimum, Ty, T.Signed, SE) && Right == T.tile(Ty, SE);
  if (P != CmpInst::ICMP_SGT && P != CmpInst::ICMP_SGE)
    return false;
  const SCEV *More = SE.getMinusSCEV(Left, Right);
  if (P == CmpInst::ICMP_SGE)
    More = SE.getAddExpr(More, SE.getOne(Ty));
  return More == pointsOfTile(T, Last, Ty, SE);
}

// Whether an integer leads nowhere but to the branch at the end of a loop.
bool onlyCounts(PHINode &Counter, const Loop &L) {
  SmallSetVector<Instruction *, 8> Work;
  Work.insert(&Counter);
  for (unsigned N = 0; N != Work.size(); ++N)
    for (User *U : Work[N]->users()) {
      auto *I = cast<Instruction>(U);
      if (Work.size() > MaxTileUses || !L.contains(I))
        return false;
      if (isa<BranchInst>(I) ? I != L.getLoopLatch()->getTerminator() : !(I == &Counter || isa<ICmpInst>(I) || I->getOpcode() == Instruction::Add))
        return false;
      if (!isa<BranchInst>(I))
        Work.insert(I);
    }
  return true;
}

// Whether all that a loop over points hands on goes from tile to tile as from point to point.
bool goesOn(const TileLoops &T, const Loop &Top, ScalarEvolution &SE) {
  return all_of(T.Points->getHeader()->phis(), [&](PHINode &PHI) {
    if (!PHI.getType()->isIntegerTy())
      return false;
    auto *Rec = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&PHI));
    auto *From = Rec && Rec->getLoop() == T.Points && Rec->isAffine() ? dyn_cast<SCEVAddRecExpr>(Rec->getStart()) : nullptr;
    if (!From || From->getLoop() != T.Tiles || !From->isAffine() || !SE.isLoopInvariant(From->getStart(), &Top) || !SE.isLoopInvariant(From->getOperand(1), &Top))
      return onlyCounts(PHI, *T.Points);
    const SCEV *By = SE.getMulExpr(Rec->getOperand(1), widened(T.Step, PHI.getType(), T.Signed, SE));
    return From->getOperand(1) == By || onlyCounts(PHI, *T.Points);
  });
}

// Whether counters of tiles say which points there are, and nothing else; finds the guards of the points.
bool onlyBoundsPoints(TileLoops &T, const LastPoint &Last, ScalarEvolution &SE, DominatorTree &DT) {
  SmallSetVector<Instruction *, 16> Work;
  for (PHINode &PHI : T.Tiles->getHeader()->phis()) {
    auto *Rec = PHI.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&PHI)) : nullptr;
    if (!Rec || Rec->getLoop() != T.Tiles || !Rec->isAffine())
      return false;
    Work.insert(&PHI);
  }
  const Instruction *OwnEnd = T.Tiles->getLoopLatch()->getTerminator(), *PointsEnd = T.Points->getLoopLatch()->getTerminator();
  for (unsigned N = 0; N != Work.size(); ++N)
    for (User *U : Work[N]->users()) {
      auto *I = cast<Instruction>(U);
      if (Work.size() > MaxTileUses || !T.Tiles->contains(I))
        return false;
      if (auto *PHI = dyn_cast<PHINode>(I)) {
        if (PHI->getParent() != T.Tiles->getHeader() && PHI->getParent() != T.Points->getHeader())
          return false;
      } else if (auto *Branch = dyn_cast<BranchInst>(I)) {
        if (I == OwnEnd || I == PointsEnd)
          continue;
        auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition());
        BasicBlock *Header = T.Points->getHeader();
        auto Leads = [&](unsigned To) { return DT.dominates(BasicBlockEdge(Branch->getParent(), Branch->getSuccessor(To)), Header); };
        if (!Compare || Branch->getSuccessor(0) == Branch->getSuccessor(1) || T.Points->contains(Branch))
          return false;
        unsigned To = Leads(0) ? 0 : 1;
        if (!Leads(To) || !asksForPoints(*Compare, To, T, Last, SE))
          return false;
        T.Guards.push_back({Branch, To});
      } else if (isa<ICmpInst>(I) || (I->getType()->isIntegerTy() && (isa<BinaryOperator, CastInst, MinMaxIntrinsic>(I)))) {
        Work.insert(I);
      } else {
        return false;
      }
    }
  return true;
}

// How long the loop over tiles runs.
bool findEnd(TileLoops &T, const Loop &Top, ScalarEvolution &SE) {
  BasicBlock *Latch = T.Tiles->getLoopLatch();
  auto *Branch = dyn_cast<BranchInst>(Latch->getTerminator());
  auto *Compare = Branch && Branch->isConditional() ? dyn_cast<ICmpInst>(Branch->getCondition()) : nullptr;
  if (!Compare)
    return false;
  CmpInst::Predicate P = Branch->getSuccessor(0) == T.Tiles->getHeader() ? Compare->getPredicate() : Compare->getInversePredicate();
  const SCEV *Left = SE.getSCEV(Compare->getOperand(0)), *Right = SE.getSCEV(Compare->getOperand(1));
  if (ICmpInst::isGT(P)) {
    std::swap(Left, Right);
    P = CmpInst::getSwappedPredicate(P);
  }
  Type *Ty = Left->getType();
  if (ICmpInst::isLT(P) && !isNarrow(Ty) && Left == SE.getAddExpr(T.tile(Ty, SE), widened(T.Step, Ty, T.Signed, SE)) && SE.isLoopInvariant(Right, &Top))
    T.Bound = Right;
  else
    T.Taken = SE.getBackedgeTakenCount(T.Tiles);
  return T.Bound || (!isa<SCEVCouldNotCompute>(T.Taken) && SE.isLoopInvariant(T.Taken, &Top));
}

bool leavesNothing(const Loop &L) {
  BasicBlock *Exit = L.getUniqueExitBlock();
  return L.isLoopSimplifyForm() && Exit && L.getExitingBlock() == L.getLoopLatch() && Exit->phis().empty();
}

// The loop over points whose counter begins at that of `Tiles`: `Inner`, one loop in another.
std::optional<TileLoops> tileLoops(Loop &Tiles, Loop &Inner, const Loop &Top, ScalarEvolution &SE, DominatorTree &DT) {
  for (PHINode &PHI : Inner.getHeader()->phis()) {
    auto *Rec = PHI.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&PHI)) : nullptr;
    if (!Rec || Rec->getLoop() != &Inner || !Rec->isAffine() || !Rec->getOperand(1)->isOne())
      continue;
    auto *From = dyn_cast<SCEVAddRecExpr>(Rec->getStart());
    if (!From || From->getLoop() != &Tiles || !From->isAffine() || isa<SCEVConstant>(From->getOperand(1)) || !SE.isLoopInvariant(From->getStart(), &Top) ||
        !SE.isLoopInvariant(From->getOperand(1), &Top))
      continue;
    const SCEV *Count = SE.getBackedgeTakenCount(&Inner);
    if (isa<SCEVCouldNotCompute>(Count) || isNarrow(Count->getType()) || isNarrow(PHI.getType()))
      continue;
    for (bool Signed : {true, false}) {
      TileLoops T{&Tiles, &Inner, From->getStart(), From->getOperand(1), nullptr, Signed, nullptr, nullptr, {}};
      LastPoint Last = lastPoint(Count, T, Top, SE);
      if (!Last.Minimum)
        continue;
      Type *Ty = Count->getType();
      const SCEV *Points = SE.getAddExpr(KnownExtrema(SE, T, Last).visit(Count), SE.getOne(Ty));
      if (Points != pointsOfTile(T, Last, Ty, SE) || !goesOn(T, Top, SE) || !onlyBoundsPoints(T, Last, SE, DT) || !findEnd(T, Top, SE))
        continue;
      T.End = widened(Last.End, Ty, Signed, SE);
      if (Last.Inclusive)
        T.End = SE.getAddExpr(T.End, SE.getOne(Ty));
      return T;
    }
  }
  return std::nullopt;
}

// The loops over tiles from `Top` inwards, and the loop over points that is inside of all others. In between
// nothing is done that could be seen, and nothing is handed on but counters.
std::optional<SmallVector<TileLoops, 4>> allTileLoops(Loop &Top, ScalarEvolution &SE, DominatorTree &DT) {
  SmallVector<Loop *, 8> Chain;
  for (Loop *L = &Top; L && leavesNothing(*L); L = L->getSubLoops().size() == 1 ? L->getSubLoops()[0] : nullptr)
    Chain.push_back(L);
  SmallVector<TileLoops, 4> All;
  SmallPtrSet<Loop *, 8> Taken;
  unsigned Last = 0;
  for (unsigned I = 0; I < Chain.size() && (I == 0 || !All.empty()); ++I)
    for (unsigned J = I + 1; J < Chain.size() && !Taken.contains(Chain[I]); ++J)
      if (!Taken.contains(Chain[J]))
        if (auto T = tileLoops(*Chain[I], *Chain[J], Top, SE, DT)) {
          Taken.insert(Chain[I]);
          Taken.insert(Chain[J]);
          Last = std::max(Last, J);
          All.push_back(std::move(*T));
        }
  if (All.empty())
    return std::nullopt;
  for (unsigned I = 0; I <= Last; ++I) {
    if (findOptionMDForLoop(Chain[I], "llvm.loop.parallel_accesses"))
      return std::nullopt;
    for (PHINode &PHI : Chain[I]->getHeader()->phis()) {
      auto *Rec = PHI.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&PHI)) : nullptr;
      bool Counts = Rec && Rec->getLoop() == Chain[I] && Rec->isAffine();
      if (!Counts && !(Taken.contains(Chain[I]) && onlyCounts(PHI, *Chain[I])))
        return std::nullopt;
    }
  }
  for (BasicBlock *BB : Top.blocks())
    for (Instruction &I : *BB)
      if (!Chain[Last]->contains(BB) && (I.mayReadOrWriteMemory() || I.mayThrow()))
        return std::nullopt;
  return All;
}

// What must hold so that the points of all tiles are those from the start to the end: tiles are one next to
// the other, and none is empty.
class TileCheck {
public:
  TileCheck(Instruction *At, ScalarEvolution &SE) : At(At), SE(SE), Expander(SE, "pollyrs.tiles"), B(At), Wide(B.getInt64Ty()), Ok(B.getTrue()) {}

  bool canExpand(const TileLoops &T) {
    return all_of(ArrayRef{T.Start, T.Step, T.End, T.Bound, T.Taken}, [&](const SCEV *S) {
      return !S || (Expander.isSafeToExpandAt(S, At) && S->getType()->getIntegerBitWidth() <= 64);
    });
  }
  void demand(const TileLoops &T) {
    Value *Start = expand(T.Start, T), *Step = expand(T.Step, T), *End = expand(T.End, T);
    Value *Most = B.getInt64(MostPoints);
    // As the counters' own type has it: what is known of the loop over points is found there.
    Value *First = Expander.expandCodeFor(widened(T.Start, T.End->getType(), T.Signed, SE), T.End->getType(), At);
    Value *Behind = Expander.expandCodeFor(T.End, T.End->getType(), At);
    Ok = B.CreateAnd(Ok, B.CreateICmpSGT(Behind, First));
    demand(B.CreateICmpSGE(Start, B.getInt64(0)));
    demand(B.CreateICmpSGT(End, Start));
    demand(B.CreateICmpSLE(End, Most));
    demand(B.CreateICmpSGE(Step, B.getInt64(1)));
    demand(B.CreateICmpSLE(Step, Most));
    if (T.Bound) {
      demand(B.CreateICmpEQ(expand(T.Bound, T), End));
      demand(B.CreateICmpSLE(B.CreateAdd(End, Step), Most));
      return;
    }
    Value *Taken = Expander.expandCodeFor(SE.getTruncateOrZeroExtend(T.Taken, Wide), Wide, At);
    demand(B.CreateICmpULE(Taken, Most));
    Value *Last = B.CreateAdd(B.CreateMul(Taken, Step), Start), *Next = B.CreateAdd(Last, Step);
    demand(B.CreateICmpSLT(Last, End));
    demand(B.CreateICmpSLE(End, Next));
    demand(B.CreateICmpSLE(Next, Most));
  }
  // How many points there are.
  Value *points(const TileLoops &T, Type *Ty) {
    const SCEV *Count = SE.getMinusSCEV(widened(T.End, Ty, T.Signed, SE), widened(T.Start, Ty, T.Signed, SE));
    return Expander.expandCodeFor(Count, Ty, At);
  }
  Value *all() { return B.CreateFreeze(Ok); }

private:
  Value *expand(const SCEV *S, const TileLoops &T) { return Expander.expandCodeFor(widened(S, Wide, T.Signed, SE), Wide, At); }
  void demand(Value *Condition) { Ok = B.CreateAnd(Ok, Condition); }

  Instruction *At;
  ScalarEvolution &SE;
  SCEVExpander Expander;
  IRBuilder<> B;
  Type *Wide;
  Value *Ok;
};

// A branch always goes to one of its successors; the block that it does not go to any more is told later.
void always(BranchInst &Branch, unsigned To) { Branch.setCondition(ConstantInt::getBool(Branch.getContext(), To == 0)); }

// Loops over tiles run once, and those over their points from the start to the end.
void joinTiles(const TileLoops &T, Value *Points, ValueToValueMapTy &Map, LoopInfo &LI) {
  auto Copied = [&](auto *V) { return cast<std::remove_pointer_t<decltype(V)>>((Value *)Map[V]); };
  for (auto [Branch, To] : T.Guards)
    always(*Copied(Branch), To);
  auto *End = cast<BranchInst>(Copied(T.Tiles->getLoopLatch())->getTerminator());
  always(*End, End->getSuccessor(0) == Copied(T.Tiles->getHeader()) ? 1 : 0);
  BasicBlock *Header = Copied(T.Points->getHeader()), *Latch = Copied(T.Points->getLoopLatch());
  auto *Branch = cast<BranchInst>(Latch->getTerminator());
  IRBuilder<> B(Header, Header->begin());
  B.SetCurrentDebugLocation(Branch->getDebugLoc());
  PHINode *Counter = B.CreatePHI(Points->getType(), 2, "pollyrs.point");
  B.SetInsertPoint(Branch);
  Value *Next = B.CreateAdd(Counter, ConstantInt::get(Points->getType(), 1), "", true, true);
  for (BasicBlock *Pred : predecessors(Header))
    Counter->addIncoming(Pred == Latch ? Next : ConstantInt::get(Points->getType(), 0), Pred);
  Value *More = B.CreateICmpSLT(Next, Points);
  Branch->setCondition(Branch->getSuccessor(0) == Header ? More : B.CreateNot(More));
}

bool joinAllTiles(Loop &Top, Function &F, Session &S) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  if (Top.getNumBlocks() > MaxTileBlocks || Top.isInnermost() || !pollyrs::isCopyable(Top, DT) || !S.work(Top))
    return false;
  auto All = allTileLoops(Top, SE, DT);
  if (!All)
    return false;
  TileCheck Check(Top.getLoopPreheader()->getTerminator(), SE);
  if (!all_of(*All, [&](TileLoops &T) { return Check.canExpand(T); }))
    return false;
  SmallVector<Value *, 4> Points;
  for (TileLoops &T : *All) {
    Check.demand(T);
    Points.push_back(Check.points(T, T.End->getType()));
  }
  Value *Adjacent = Check.all();
  // Those that stay loops.
  SmallVector<BasicBlock *, 8> Headers;
  Loop *Last = nullptr;
  for (TileLoops &T : *All)
    if (!Last || Last->contains(T.Points))
      Last = T.Points;
  for (Loop *L = &Top;; L = L->getSubLoops()[0]) {
    if (none_of(*All, [&](TileLoops &T) { return T.Tiles == L; }))
      Headers.push_back(L->getHeader());
    if (L == Last)
      break;
  }
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(Top, ".tiles", Map, LI, DT);
  for (auto [T, N] : zip(*All, Points))
    joinTiles(T, N, Map, LI);
  unsigned Id = ++S.LastTiles;
  S.Tiles.push_back({WeakVH(&F), Id});
  Loop *Outer = LI.getLoopFor(cast<BasicBlock>((Value *)Map[Headers.front()]));
  Loop *Inner = LI.getLoopFor(cast<BasicBlock>((Value *)Map[Headers.back()]));
  addStringMetadataToLoop(Inner, pollyrs::LastOfPointsMark);
  addStringMetadataToLoop(Outer, pollyrs::PointsMark, Id);
  addStringMetadataToLoop(&Top, pollyrs::TilesMark, Id);
  BranchInst *Branch = IRBuilder<>(Copy.Before).CreateCondBr(Adjacent, Copy.Other, Copy.Own);
  Branch->setDebugLoc(Top.getStartLoc());
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

// Whether `Before` leads to a loop, and not yet to another block, `At`.
bool leadsOnlyTo(BasicBlock *Before, BasicBlock &At, const DominatorTree &DT) { return Before && !DT.dominates(Before, &At); }

// In place of a loop over points, a copy of that over tiles. False if values leave one of them.
bool putBack(Loop &Points, Loop &Tiles, Function &F, DominatorTree &DT) {
  BasicBlock *Before = Points.getLoopPreheader(), *Exit = Points.getUniqueExitBlock();
  BasicBlock *Entry = Tiles.getLoopPreheader(), *Behind = Tiles.getUniqueExitBlock(), *Exiting = Points.getExitingBlock();
  if (!Before || !Exit || !Entry || !Behind || !Exiting || !Behind->phis().empty())
    return false;
  // What was computed ahead of the loop over tiles alone.
  SmallVector<BasicBlock *, 16> Blocks;
  for (BasicBlock *BB = Entry; leadsOnlyTo(BB, *Before, DT); BB = BB->getSinglePredecessor())
    Blocks.insert(Blocks.begin(), BB);
  if (Blocks.empty() || any_of(Blocks, [](BasicBlock *BB) { return BB->getUniqueSuccessor() == nullptr || !BB->phis().empty(); }))
    return false;
  BasicBlock *First = Blocks.front();
  Blocks.append(Tiles.block_begin(), Tiles.block_end());
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 16> New;
  for (BasicBlock *BB : Blocks) {
    New.push_back(CloneBasicBlock(BB, Map, ".back", &F));
    Map[BB] = New.back();
  }
  Map[Behind] = Exit;
  remapInstructionsInBlocks(New, Map);
  for (PHINode &PHI : Exit->phis()) {
    Value *V = PHI.getIncomingValueForBlock(Exiting);
    if (auto *I = dyn_cast<Instruction>(V); I && Points.contains(I))
      return false;
    for (BasicBlock *BB : New)
      for (BasicBlock *To : successors(BB))
        if (To == Exit && PHI.getBasicBlockIndex(BB) < 0)
          PHI.addIncoming(V, BB);
  }
  // Executions of the loop that stays are recorded there.
  for (BasicBlock *BB : New)
    for (Instruction &I : make_early_inc_range(*BB))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getCalledFunction() && Call->use_empty() && Call->getCalledFunction()->getName() == "pollyrs_rt_kept_begin")
        Call->eraseFromParent();
  for (BasicBlock *BB : New)
    BB->getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
  Before->getTerminator()->replaceSuccessorWith(Points.getHeader(), cast<BasicBlock>((Value *)Map[First]));
  Points.getHeader()->removePredecessor(Before, /*KeepOneInputPHIs=*/true);
  return true;
}
} // namespace

extern "C" bool prs_join_tiles(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto Blocked = pollyrs::blockedLoops(*S, S->FAM.getResult<LoopAnalysis>(F));
  const char *Marks[] = {pollyrs::ApartMark, pollyrs::KeptMark, pollyrs::UnevenRowsMark, pollyrs::TilesMark, pollyrs::PointsMark};
  return pollyrs::divideFirst(F, *S, Marks, [&](Loop &L) { return !Blocked.contains(&L) && joinAllTiles(L, F, *S); });
}

extern "C" bool prs_restore_tiles(Session *S, LLVMValueRef FRef, bool Erase) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<unsigned, 4> Ids;
  erase_if(S->Tiles, [&](auto &T) {
    if (T.first == &F)
      Ids.push_back(T.second);
    return !T.first || T.first == &F;
  });
  if (Ids.empty())
    return true;
  S->FAM.invalidate(F, PreservedAnalyses::none());
  for (unsigned Id : Ids) {
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    SmallVector<Loop *, 2> Points, Tiles;
    for (Loop *L : LI.getLoopsInPreorder()) {
      if (getOptionalIntLoopAttribute(L, pollyrs::PointsMark) == int(Id))
        Points.push_back(L);
      if (getOptionalIntLoopAttribute(L, pollyrs::TilesMark) == int(Id))
        Tiles.push_back(L);
    }
    // A mark that is lost would leave an order that is not the program's.
    if (Points.empty() || Tiles.empty() || !all_of(Points, [&](Loop *L) { return putBack(*L, *Tiles.front(), F, DT); }))
      return false;
    // What was the version's blocks stays, for those who remember them, where nothing leads there.
    if (Erase)
      EliminateUnreachableBlocks(F);
    S->FAM.invalidate(F, PreservedAnalyses::none());
  }
  return true;
}
