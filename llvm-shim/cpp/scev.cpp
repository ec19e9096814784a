// Scalar evolution of one function, as plain data, and its expressions as code.

#include "analyses.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Analyses;
using pollyrs::handleOf;
using pollyrs::loopAt;
using pollyrs::None;
using pollyrs::scevOf;
using pollyrs::Session;

static uint32_t kindOf(const SCEV *Expr) {
  switch (Expr->getSCEVType()) {
  case scConstant:
    return PRS_SCEV_CONSTANT;
  case scVScale:
    return PRS_SCEV_VSCALE;
  case scTruncate:
    return PRS_SCEV_TRUNCATE;
  case scZeroExtend:
    return PRS_SCEV_ZERO_EXTEND;
  case scSignExtend:
    return PRS_SCEV_SIGN_EXTEND;
  case scAddExpr:
    return PRS_SCEV_ADD;
  case scMulExpr:
    return PRS_SCEV_MUL;
  case scUDivExpr:
    return PRS_SCEV_UDIV;
  case scAddRecExpr:
    return PRS_SCEV_ADD_REC;
  case scUMaxExpr:
    return PRS_SCEV_UMAX;
  case scSMaxExpr:
    return PRS_SCEV_SMAX;
  case scUMinExpr:
    return PRS_SCEV_UMIN;
  case scSMinExpr:
    return PRS_SCEV_SMIN;
  case scSequentialUMinExpr:
    return PRS_SCEV_SEQUENTIAL_UMIN;
  case scPtrToInt:
    return PRS_SCEV_PTR_TO_INT;
  case scUnknown:
    return PRS_SCEV_UNKNOWN;
  default:
    return PRS_SCEV_COULD_NOT_COMPUTE;
  }
}

namespace {
// The expander takes a value that is there already, or puts a new one in front of a loop: perhaps into a
// region of which no other value lives on. What is computed from such values is computed from copies of them
// before `At`.
struct Apart {
  Instruction *At;
  DenseMap<BasicBlock *, uint32_t> RegionOf;
  SmallSetVector<Instruction *, 16> Inserted;
  DenseMap<Value *, Value *> Done;
  // Values of regions that no copy can stand for, and that do not live on.
  SmallSetVector<Instruction *, 4> Bound;

  explicit Apart(Instruction *At) : At(At) {}

  bool livesOn(const Instruction *I, uint32_t Region) const {
    return any_of(I->users(), [&](const User *U) {
      auto Other = RegionOf.find(cast<Instruction>(U)->getParent());
      return !Inserted.contains(cast<Instruction>(U)) && (Other == RegionOf.end() || Other->second != Region);
    });
  }

  Value *of(Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    // (It ran before `At`, so its copy may; what the program froze may differ, what the expander did is used
    // by nobody else.)
    if (!I)
      return V;
    auto Region = RegionOf.find(I->getParent());
    bool Inside = Region != RegionOf.end() && !livesOn(I, Region->second);
    if (isa<PHINode, AllocaInst>(I) || I->mayReadOrWriteMemory() || (isa<FreezeInst>(I) && !Inserted.contains(I))) {
      if (Inside)
        Bound.insert(I);
      return V;
    }
    if (auto Found = Done.find(I); Found != Done.end())
      return Found->second;
    if (!Inside && !Inserted.contains(I))
      return V;
    SmallVector<Value *, 4> Operands;
    for (Value *O : I->operands())
      Operands.push_back(of(O));
    if (!Inside && equal(Operands, I->operands()))
      return Done[I] = I;
    Instruction *Copy = I->clone();
    for (auto [N, O] : enumerate(Operands))
      Copy->setOperand(N, O);
    Copy->insertBefore(At->getIterator());
    Copy->dropLocation();
    Inserted.insert(Copy);
    return Done[I] = Copy;
  }

  // What was inserted and then copied would still make use of the region's values.
  Value *only(Value *V) {
    Value *Own = of(V);
    clean(Own);
    return Own;
  }

  void clean(Value *Own) {
    auto IsDead = [&](Instruction *I) { return I != Own && isInstructionTriviallyDead(I); };
    for (auto Dead = find_if(Inserted, IsDead); Dead != Inserted.end(); Dead = find_if(Inserted, IsDead)) {
      Instruction *I = *Dead;
      Inserted.remove(I);
      I->eraseFromParent();
    }
  }
};

// Scalar evolution looks through what a loop leaves, to values that each iteration has: `k + (a[i] > 0)` for
// a count; and through what a region leaves, to values that only the region has. A sum of such values is no
// parameter: none of them lives on. The program's own value does.
struct Left : SCEVRewriteVisitor<Left> {
  Analyses &A;
  Instruction *At;
  const Loop *Where;
  const Apart *To;

  Left(Analyses &A, Instruction *At, const Loop *Where, const Apart *To)
      : SCEVRewriteVisitor(A.SE), A(A), At(At), Where(Where), To(To) {}

  bool isOfRegion(const Instruction *I) const { return To && To->RegionOf.contains(I->getParent()); }

  bool isBehind(const Instruction *I) const {
    const Loop *L = A.LI.getLoopFor(I->getParent());
    return L && !(Where && L->contains(Where));
  }

  bool livesOn(const Instruction *I) const {
    if (isOfRegion(I))
      return To->livesOn(I, To->RegionOf.lookup(I->getParent()));
    const Loop *L = A.LI.getLoopFor(I->getParent());
    return any_of(I->users(), [&](const User *U) { return !L->contains(cast<Instruction>(U)); });
  }

  // The instructions of loops that `S` is made of, and which these have left; and those of regions.
  SmallSetVector<Instruction *, 16> parts(const SCEV *S) const {
    SmallSetVector<Instruction *, 16> Parts;
    SCEVExprContains(S, [&](const SCEV *Part) {
      const auto *U = dyn_cast<SCEVUnknown>(Part);
      auto *I = U ? dyn_cast<Instruction>(U->getValue()) : nullptr;
      if (I && (isBehind(I) || (isOfRegion(I) && !livesOn(I))))
        Parts.insert(I);
      return false;
    });
    return Parts;
  }

  // `S` by an instruction of a loop or region that gives it, and that the program uses behind both; of a
  // region, by one that gives it but for a number.
  const SCEV *byValue(const SCEV *S) const {
    constexpr unsigned MaxValues = 64;
    const SCEV *Near = nullptr;
    SmallSetVector<Instruction *, 16> Work = parts(S);
    for (unsigned K = 0; K < Work.size() && K < MaxValues; ++K) {
      Instruction *I = Work[K];
      if (I->getType() == S->getType() && (I == At || A.DT.dominates(I, At)) && livesOn(I)) {
        const SCEV *Own = SE.getSCEV(I);
        if (Own == S)
          return SE.getUnknown(I);
        if (const SCEV *Apart = To && !Near ? SE.getMinusSCEV(S, Own) : nullptr; isa_and_nonnull<SCEVConstant>(Apart))
          Near = SE.getAddExpr(SE.getUnknown(I), Apart);
      }
      for (User *U : I->users())
        if (auto *Next = cast<Instruction>(U); (isBehind(Next) || isOfRegion(Next)) && SE.isSCEVable(Next->getType()))
          Work.insert(Next);
    }
    return Near;
  }

  const SCEV *visit(const SCEV *S) {
    bool IsOfParts = isa<SCEVUnknown>(S) ? To && !parts(S).empty() : !isa<SCEVConstant, SCEVCouldNotCompute>(S);
    if (IsOfParts && !S->getType()->isPointerTy())
      if (const SCEV *Own = byValue(S))
        return Own;
    return SCEVRewriteVisitor::visit(S);
  }

  const SCEV *of(const SCEV *S) { return isa<SCEVCouldNotCompute>(S) || parts(S).empty() ? S : visit(S); }
};
} // namespace

extern "C" {

size_t prs_scev(Analyses *A, LLVMValueRef VRef, size_t Scope) {
  Value *V = unwrap(VRef);
  if (!A->SE.isSCEVable(V->getType()) || (Scope != None && !loopAt(*A, Scope)))
    return 0;
  const Loop *L = loopAt(*A, Scope);
  const SCEV *S = A->SE.getSCEVAtScope(V, L);
  auto *I = dyn_cast<Instruction>(V);
  return handleOf(I ? Left(*A, I, L, nullptr).of(S) : S);
}

size_t prs_backedge_taken_count(Analyses *A, size_t Id) {
  Loop *L = loopAt(*A, Id);
  if (!L)
    return 0;
  Left Count(*A, L->getHeader()->getTerminator(), L->getParentLoop(), nullptr);
  return handleOf(Count.of(A->SE.getBackedgeTakenCount(L)));
}

size_t prs_backedge_taken_bound(Analyses *A, size_t Id) {
  Loop *L = loopAt(*A, Id);
  return L ? handleOf(A->SE.getSymbolicMaxBackedgeTakenCount(L)) : 0;
}

void prs_scev_node(Analyses *A, size_t Handle, prs_scev_record *Out) {
  const SCEV *Expr = scevOf(Handle);
  *Out = {kindOf(Expr), 0, 0, 0, None, nullptr, 0, 0};
  Type *Ty = Expr->getType();
  Out->bits = A->SE.getTypeSizeInBits(A->SE.getEffectiveSCEVType(Ty));
  if (Ty->isPointerTy())
    Out->flags |= PRS_FLAG_POINTER;
  if (auto *NAry = dyn_cast<SCEVNAryExpr>(Expr)) {
    if (NAry->hasNoUnsignedWrap())
      Out->flags |= PRS_FLAG_NUW;
    if (NAry->hasNoSignedWrap())
      Out->flags |= PRS_FLAG_NSW;
  }
  if (auto *Rec = dyn_cast<SCEVAddRecExpr>(Expr)) {
    auto It = A->LoopIds.find(Rec->getLoop());
    Out->loop_id = It == A->LoopIds.end() ? None : It->second;
  } else if (auto *Unknown = dyn_cast<SCEVUnknown>(Expr)) {
    Out->value = wrap(Unknown->getValue());
  } else if (auto *Constant = dyn_cast<SCEVConstant>(Expr)) {
    const APInt &Value = Constant->getAPInt();
    if (Value.getSignificantBits() > 128) {
      Out->kind = PRS_SCEV_COULD_NOT_COMPUTE;
      return;
    }
    APInt Wide = Value.sextOrTrunc(128);
    Out->low = Wide.extractBitsAsZExtValue(64, 0);
    Out->high = static_cast<int64_t>(Wide.extractBitsAsZExtValue(64, 64));
  }
}

void prs_scev_operands(Analyses *, size_t Handle, void *Ctx, prs_pointer_sink Sink) {
  for (const SCEV *Operand : scevOf(Handle)->operands())
    Sink(Ctx, reinterpret_cast<void *>(handleOf(Operand)));
}

size_t prs_scev_product(Analyses *A, const size_t *Handles, size_t Count) {
  ScalarEvolution &SE = A->SE;
  Type *Ty = Type::getInt64Ty(A->F.getContext());
  SmallVector<const SCEV *, 4> Factors;
  for (size_t I = 0; I != Count; ++I) {
    if (!Handles[I] || !scevOf(Handles[I])->getType()->isIntegerTy() || SE.getTypeSizeInBits(scevOf(Handles[I])->getType()) > 64)
      return 0;
    Factors.push_back(SE.getNoopOrSignExtend(scevOf(Handles[I]), Ty));
  }
  return Factors.empty() ? 0 : handleOf(SE.getMulExpr(Factors));
}

// The sum of integers, each times its factor, in the narrowest of their types; it wraps. 0 for pointers, and
// for no terms.
size_t prs_scev_sum(Analyses *A, const size_t *Handles, const int64_t *Factors, size_t Count) {
  ScalarEvolution &SE = A->SE;
  Type *Narrowest = nullptr;
  for (size_t I = 0; I != Count; ++I) {
    Type *Ty = Handles[I] ? scevOf(Handles[I])->getType() : nullptr;
    if (!Ty || !Ty->isIntegerTy())
      return 0;
    if (!Narrowest || Ty->getIntegerBitWidth() < Narrowest->getIntegerBitWidth())
      Narrowest = Ty;
  }
  SmallVector<const SCEV *, 4> Terms;
  for (size_t I = 0; I != Count; ++I) {
    const SCEV *Factor = SE.getConstant(ConstantInt::get(Narrowest->getContext(), APInt(64, Factors[I], true).sextOrTrunc(Narrowest->getIntegerBitWidth())));
    Terms.push_back(SE.getMulExpr(Factor, SE.getTruncateOrNoop(scevOf(Handles[I]), Narrowest)));
  }
  return Terms.empty() ? 0 : handleOf(SE.getAddExpr(Terms));
}

bool prs_scev_non_negative(Analyses *A, size_t Handle) { return Handle && A->SE.isKnownNonNegative(scevOf(Handle)); }

size_t prs_scev_udiv(Analyses *A, size_t Handle, uint64_t Divisor) {
  if (!Handle || !Divisor)
    return 0;
  const SCEV *S = scevOf(Handle);
  if (!S->getType()->isIntegerTy())
    return 0;
  return handleOf(A->SE.getUDivExpr(S, A->SE.getConstant(S->getType(), Divisor)));
}

size_t prs_scev_zero_extended(Analyses *A, size_t Handle, uint32_t Bits) {
  const SCEV *S = Handle ? scevOf(Handle) : nullptr;
  if (!S || !S->getType()->isIntegerTy() || S->getType()->getIntegerBitWidth() > Bits || Bits > 64)
    return 0;
  return handleOf(A->SE.getNoopOrZeroExtend(S, IntegerType::get(A->F.getContext(), Bits)));
}

void prs_scev_range(Analyses *A, size_t S, int64_t *Least, int64_t *Most) {
  *Least = INT64_MIN, *Most = INT64_MAX;
  const SCEV *E = S ? scevOf(S) : nullptr;
  if (!E || !E->getType()->isIntegerTy() || E->getType()->getIntegerBitWidth() > 64)
    return;
  ConstantRange Range = A->SE.getSignedRange(E);
  if (Range.isEmptySet())
    return;
  *Least = Range.getSignedMin().getSExtValue(), *Most = Range.getSignedMax().getSExtValue();
}

size_t prs_scev_iteration(Analyses *A, size_t Id) {
  Loop *L = loopAt(*A, Id);
  if (!L)
    return 0;
  Type *Wide = Type::getInt64Ty(A->F.getContext());
  // 64 bits never come around.
  auto Exact = ScalarEvolution::setFlags(SCEV::FlagNUW, SCEV::FlagNSW);
  return handleOf(A->SE.getAddRecExpr(A->SE.getZero(Wide), A->SE.getOne(Wide), L, Exact));
}

static size_t divided(Analyses *A, size_t Dividend, size_t Divisor, bool Remainder) {
  if (!Dividend || !Divisor)
    return 0;
  const SCEV *N = scevOf(Dividend), *D = scevOf(Divisor);
  if (!N->getType()->isIntegerTy() || !D->getType()->isIntegerTy())
    return 0;
  Type *Wide = IntegerType::get(N->getType()->getContext(), 64);
  if (A->SE.getTypeSizeInBits(N->getType()) > 64 || A->SE.getTypeSizeInBits(D->getType()) > 64)
    return 0;
  N = A->SE.getNoopOrSignExtend(N, Wide);
  D = A->SE.getUMaxExpr(A->SE.getNoopOrSignExtend(D, Wide), A->SE.getOne(Wide));
  return handleOf(Remainder ? A->SE.getURemExpr(N, D) : A->SE.getUDivExpr(N, D));
}

size_t prs_scev_quotient(Analyses *A, size_t Dividend, size_t Divisor) { return divided(A, Dividend, Divisor, false); }

size_t prs_scev_remainder(Analyses *A, size_t Dividend, size_t Divisor) { return divided(A, Dividend, Divisor, true); }

// `Left - Right` of integers of one type, or of the addresses of pointers in bytes; else 0.
size_t prs_scev_difference(Analyses *A, size_t Left, size_t Right) {
  if (!Left || !Right || scevOf(Left)->getType() != scevOf(Right)->getType())
    return 0;
  const SCEV *L = scevOf(Left), *R = scevOf(Right);
  if (L->getType()->isPointerTy() && A->SE.getPointerBase(L) != A->SE.getPointerBase(R)) {
    L = A->SE.getLosslessPtrToIntExpr(L);
    R = A->SE.getLosslessPtrToIntExpr(R);
    if (isa<SCEVCouldNotCompute>(L) || isa<SCEVCouldNotCompute>(R))
      return 0;
  }
  return handleOf(A->SE.getMinusSCEV(L, R));
}

// Of a pointer: 0 if it is null, else 1. (An address itself may be greater than any size.) 0 if that can't be
// said.
size_t prs_scev_not_null(Analyses *A, size_t Pointer) {
  if (!Pointer || !scevOf(Pointer)->getType()->isPointerTy())
    return 0;
  const SCEV *Address = A->SE.getLosslessPtrToIntExpr(scevOf(Pointer));
  if (isa<SCEVCouldNotCompute>(Address))
    return 0;
  return handleOf(A->SE.getUMinExpr(Address, A->SE.getOne(Address->getType())));
}

// How often `Step`, or 1 where that is less, can be added to `First` until `End` is reached; in 64 bits.
size_t prs_scev_steps(Analyses *A, size_t End, size_t First, size_t Step) {
  Type *Wide = Type::getInt64Ty(A->F.getContext());
  const SCEV *Operands[3];
  size_t Handles[3] = {End, First, Step};
  for (int I = 0; I != 3; ++I) {
    if (!Handles[I] || !scevOf(Handles[I])->getType()->isIntegerTy() || A->SE.getTypeSizeInBits(scevOf(Handles[I])->getType()) > 64)
      return 0;
    Operands[I] = A->SE.getNoopOrSignExtend(scevOf(Handles[I]), Wide);
  }
  const SCEV *Last = A->SE.getMinusSCEV(A->SE.getAddExpr(Operands[0], Operands[2]), A->SE.getAddExpr(Operands[1], A->SE.getOne(Wide)));
  return handleOf(A->SE.getUDivExpr(Last, A->SE.getUMaxExpr(Operands[2], A->SE.getOne(Wide))));
}

bool prs_scev_loop_invariant(Analyses *A, size_t Handle, size_t Id) {
  Loop *L = loopAt(*A, Id);
  return Handle && L && A->SE.isLoopInvariant(scevOf(Handle), L);
}

// `Expr` with divisors that may be 0 replaced by 1 there.
size_t prs_scev_safe_division(Analyses *A, size_t Handle) {
  struct Rewriter : SCEVRewriteVisitor<Rewriter> {
    using SCEVRewriteVisitor::SCEVRewriteVisitor;
    const SCEV *visitUDivExpr(const SCEVUDivExpr *Expr) {
      const SCEV *L = visit(Expr->getLHS()), *R = visit(Expr->getRHS());
      if (!SE.isKnownNonZero(R))
        R = SE.getUMaxExpr(R, SE.getOne(R->getType()));
      return SE.getUDivExpr(L, R);
    }
  };
  return Handle ? handleOf(Rewriter(A->SE).visit(scevOf(Handle))) : 0;
}

bool prs_can_expand(Analyses *A, size_t Handle, LLVMValueRef Before) {
  if (!Handle)
    return false;
  SCEVExpander Expander(A->SE, "pollyrs");
  return Expander.isSafeToExpandAt(scevOf(Handle), unwrap<Instruction>(Before));
}

LLVMValueRef prs_expand(Analyses *A, size_t Handle, LLVMValueRef Before, const LLVMBasicBlockRef *Blocks,
                        const uint32_t *Regions, size_t Count) {
  auto *At = unwrap<Instruction>(Before);
  if (!Handle)
    return nullptr;
  Apart To(At);
  for (size_t I = 0; I != Count; ++I)
    To.RegionOf[unwrap(Blocks[I])] = Regions[I];
  const SCEV *S = Left(*A, At, A->LI.getLoopFor(At->getParent()), &To).of(scevOf(Handle));
  if (!SCEVExpander(A->SE, "pollyrs").isSafeToExpandAt(S, At))
    return nullptr;
  // What the expander found in a region and can't be copied is forgotten: the expression is computed without
  // it.
  constexpr unsigned MaxForgotten = 16;
  for (unsigned Forgotten = 0; Forgotten <= MaxForgotten; Forgotten += To.Bound.size()) {
    for (Instruction *I : To.Bound)
      A->SE.forgetValue(I);
    To.Bound.clear();
    To.Done.clear();
    SCEVExpander Expander(A->SE, "pollyrs");
    Value *V = Expander.expandCodeFor(S, S->getType(), At);
    for (Instruction *I : Expander.getAllInsertedInstructions())
      To.Inserted.insert(I);
    V = To.only(V);
    if (To.Bound.empty())
      return wrap(V);
    To.clean(nullptr);
  }
  return nullptr;
}

} // extern "C"
