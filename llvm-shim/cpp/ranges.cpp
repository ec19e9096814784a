// The values that expressions take in a nest of loops.

#include "ranges.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

using namespace llvm;
using pollyrs::Range;

bool pollyrs::extremes(const SCEV *S, const Loop &L, ScalarEvolution &SE, const SCEV *&Least, const SCEV *&Most, int64_t *Step) {
  if (SE.isLoopInvariant(S, &L)) {
    Least = Most = S;
    return true;
  }
  auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  if (!Rec || !Rec->isAffine() || !L.contains(Rec->getLoop()))
    return false;
  auto *By = dyn_cast<SCEVConstant>(Rec->getStepRecurrence(SE));
  const SCEV *Count = SE.getBackedgeTakenCount(Rec->getLoop());
  if (!By || By->isZero() || isa<SCEVCouldNotCompute>(Count) || SE.getTypeSizeInBits(Count->getType()) > 64)
    return false;
  int64_t Value = By->getAPInt().getSExtValue();
  const SCEV *Last = SE.getAddExpr(Rec->getStart(), SE.getMulExpr(SE.getTruncateOrZeroExtend(Count, S->getType()), By)), *Other;
  if (!extremes(Value > 0 ? Rec->getStart() : Last, L, SE, Least, Other, nullptr) || !extremes(Value > 0 ? Last : Rec->getStart(), L, SE, Other, Most, nullptr))
    return false;
  if (Step)
    *Step = std::abs(Value);
  return true;
}

bool Range::of(const SCEV *S, const SCEV *&Least, const SCEV *&Most, unsigned Depth) {
  if (SE.isLoopInvariant(S, &L)) {
    Least = Most = S;
    return true;
  }
  if (!Depth)
    return false;
  if (auto *Rec = dyn_cast<SCEVAddRecExpr>(S))
    return ofRecurrence(*Rec, Least, Most, Depth);
  if (auto *Sum = dyn_cast<SCEVAddExpr>(S)) {
    Least = Most = SE.getZero(S->getType());
    return all_of(Sum->operands(), [&](const SCEV *Part) {
      const SCEV *Low, *High;
      if (!of(Part, Low, High, Depth - 1))
        return false;
      Least = SE.getAddExpr(Least, Low), Most = SE.getAddExpr(Most, High);
      return true;
    });
  }
  if (auto *Product = dyn_cast<SCEVMulExpr>(S); Product && Product->getNumOperands() == 2) {
    auto *Factor = dyn_cast<SCEVConstant>(Product->getOperand(0));
    if (!Factor || !of(Product->getOperand(1), Least, Most, Depth - 1))
      return false;
    if (Factor->getAPInt().isNegative())
      std::swap(Least, Most);
    Least = SE.getMulExpr(Least, Factor), Most = SE.getMulExpr(Most, Factor);
    return true;
  }
  if (isa<SCEVSignExtendExpr, SCEVZeroExtendExpr>(S))
    return ofExtended(*cast<SCEVCastExpr>(S), Least, Most, Depth);
  if (isa<SCEVSMaxExpr, SCEVSMinExpr>(S))
    return ofExtreme(*cast<SCEVNAryExpr>(S), Least, Most, Depth);
  return false;
}

bool Range::ofRecurrence(const SCEVAddRecExpr &Rec, const SCEV *&Least, const SCEV *&Most, unsigned Depth) {
  if (!Rec.isAffine() || !L.contains(Rec.getLoop()))
    return false;
  const SCEV *By = Rec.getStepRecurrence(SE);
  const SCEV *Count = SE.getBackedgeTakenCount(Rec.getLoop()), *Low, *High;
  if (!SE.isLoopInvariant(By, &L) || isa<SCEVCouldNotCompute>(Count) || SE.getTypeSizeInBits(Count->getType()) > 64 ||
      !of(Rec.getStart(), Least, Most, Depth - 1))
    return false;
  const SCEV *Loaded = Count;
  Count = SE.getNoopOrZeroExtend(SCEVParameterRewriter::rewrite(Count, SE, Known), Type::getInt64Ty(SE.getContext()));
  // What the loop ends with is often the same wherever it begins.
  if (auto *Constant = dyn_cast<SCEVConstant>(By)) {
    const SCEV *Last = SE.getAddExpr(Rec.getStart(), SE.getMulExpr(Count, By));
    if (!SE.isLoopInvariant(Rec.getStart(), &L) && SE.isLoopInvariant(Last, &L)) {
      (Constant->getAPInt().isNegative() ? Least : Most) = Last;
      return true;
    }
  }
  if (!of(Count, Low, High, Depth - 1)) {
    High = Lengths ? Lengths->of(Loaded, *Rec.getLoop()) : nullptr;
    if (!High)
      return false;
  }
  const SCEV *Way = SE.getMulExpr(High, By);
  if (auto *Constant = dyn_cast<SCEVConstant>(By)) {
    bool Down = Constant->getAPInt().isNegative();
    (Down ? Least : Most) = SE.getAddExpr(Down ? Least : Most, Way);
  } else {
    Least = SE.getSMinExpr(Least, SE.getAddExpr(Least, Way)), Most = SE.getSMaxExpr(Most, SE.getAddExpr(Most, Way));
  }
  return true;
}

// What does not wrap in a narrow type is the same in a wide one.
bool Range::ofExtended(const SCEVCastExpr &Cast, const SCEV *&Least, const SCEV *&Most, unsigned Depth) {
  bool Signed = isa<SCEVSignExtendExpr>(Cast);
  auto Wide = [&](const SCEV *S) {
    return Signed ? SE.getSignExtendExpr(S, Cast.getType()) : SE.getZeroExtendExpr(S, Cast.getType());
  };
  const SCEV *Inner = Cast.getOperand();
  if (auto *Rec = dyn_cast<SCEVAddRecExpr>(Inner); Rec && Rec->isAffine() && (Signed ? Rec->hasNoSignedWrap() : Rec->hasNoUnsignedWrap())) {
    const SCEV *Step = Rec->getStepRecurrence(SE), *Same;
    Same = SE.getAddRecExpr(Wide(Rec->getStart()), Signed ? Wide(Step) : SE.getZeroExtendExpr(Step, Cast.getType()), Rec->getLoop(), SCEV::FlagAnyWrap);
    return of(Same, Least, Most, Depth - 1);
  }
  if (auto *Sum = dyn_cast<SCEVAddExpr>(Inner); Sum && (Signed ? Sum->hasNoSignedWrap() : Sum->hasNoUnsignedWrap())) {
    SmallVector<const SCEV *, 4> Parts;
    for (const SCEV *Part : Sum->operands())
      Parts.push_back(Wide(Part));
    return of(SE.getAddExpr(Parts), Least, Most, Depth - 1);
  }
  return false;
}

bool Range::ofExtreme(const SCEVNAryExpr &S, const SCEV *&Least, const SCEV *&Most, unsigned Depth) {
  Least = Most = nullptr;
  for (const SCEV *Part : S.operands()) {
    const SCEV *Low, *High;
    if (!of(Part, Low, High, Depth - 1))
      return false;
    auto Joined = [&](const SCEV *A, const SCEV *B) {
      return !A ? B : isa<SCEVSMaxExpr>(S) ? SE.getSMaxExpr(A, B) : SE.getSMinExpr(A, B);
    };
    Least = Joined(Least, Low), Most = Joined(Most, High);
  }
  return true;
}

const SCEV *pollyrs::quotient(const SCEV *S, int64_t By, ScalarEvolution &SE) {
  if (auto *C = dyn_cast<SCEVConstant>(S)) {
    int64_t Value = C->getAPInt().getSExtValue();
    return Value % By ? nullptr : SE.getConstant(C->getType(), Value / By, /*isSigned=*/true);
  }
  // (Entries of a table don't wrap.)
  if (auto *Product = dyn_cast<SCEVMulExpr>(S)) {
    auto *Factor = Product->getNumOperands() == 2 ? dyn_cast<SCEVConstant>(Product->getOperand(0)) : nullptr;
    const SCEV *Part = Factor ? quotient(Factor, By, SE) : nullptr;
    return Part ? SE.getMulExpr(Part, Product->getOperand(1)) : nullptr;
  }
  auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  if (!Rec || !Rec->isAffine())
    return nullptr;
  const SCEV *Start = quotient(Rec->getStart(), By, SE), *Step = quotient(Rec->getStepRecurrence(SE), By, SE);
  return Start && Step ? SE.getAddRecExpr(Start, Step, Rec->getLoop(), SCEV::FlagAnyWrap) : nullptr;
}
