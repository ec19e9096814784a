// Loops, regions, dominators, scalar evolution and alias analysis of one function, as plain data.

#include "shim.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/GlobalsModRef.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <memory>
#include <optional>

using namespace llvm;
using pollyrs::None;
using pollyrs::Session;

namespace pollyrs {
struct Analyses {
  Analyses(Session &S, Function &F);
  ~Analyses() {
    if (Changed)
      S.FAM.invalidate(F, PreservedAnalyses::none());
  }

  Session &S;
  Function &F;
  DominatorTree &DT;
  PostDominatorTree &PDT;
  LoopInfo &LI;
  RegionInfo &RI;
  ScalarEvolution &SE;
  AAResults &AA;
  std::vector<Loop *> Loops;
  DenseMap<const Loop *, size_t> LoopIds;
  std::vector<Region *> Regions;
  DenseMap<const Region *, size_t> RegionIds;
  std::vector<BasicBlock *> Order;
  std::vector<std::vector<BasicBlock *>> RegionBlocks;
  std::optional<bool> ScopesInLoops;
  bool Changed = false;

private:
  void addRegion(Region *R) {
    RegionIds[R] = Regions.size();
    Regions.push_back(R);
    for (auto &Child : *R)
      addRegion(Child.get());
  }
};
} // namespace pollyrs

using pollyrs::Analyses;

static AAResults &aliasAnalysis(Session &S, Function &F) {
  // The default pipeline uses the globals analysis only where it is cached.
  S.MAM.getResult<GlobalsAA>(S.M);
  return S.FAM.getResult<AAManager>(F);
}

Analyses::Analyses(Session &S, Function &F)
    : S(S), F(F), DT(S.FAM.getResult<DominatorTreeAnalysis>(F)), PDT(S.FAM.getResult<PostDominatorTreeAnalysis>(F)),
      LI(S.FAM.getResult<LoopAnalysis>(F)), RI(S.FAM.getResult<RegionInfoAnalysis>(F)),
      SE(S.FAM.getResult<ScalarEvolutionAnalysis>(F)), AA(aliasAnalysis(S, F)) {
  for (Loop *L : LI.getLoopsInPreorder()) {
    LoopIds[L] = Loops.size();
    Loops.push_back(L);
  }
  addRegion(RI.getTopLevelRegion());
  RegionBlocks.resize(Regions.size());
  for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F)) {
    Order.push_back(BB);
    for (Region *R = RI.getRegionFor(BB); R; R = R->getParent())
      RegionBlocks[RegionIds.lookup(R)].push_back(BB);
  }
}

static bool isUnorderedAccess(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isUnordered();
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->isUnordered();
  return false;
}

static Loop *loopAt(const Analyses &A, size_t Id) { return Id < A.Loops.size() ? A.Loops[Id] : nullptr; }

static const SCEV *scevOf(size_t Handle) { return reinterpret_cast<const SCEV *>(Handle); }

static size_t handleOf(const SCEV *Expr) {
  return !Expr || isa<SCEVCouldNotCompute>(Expr) ? 0 : reinterpret_cast<size_t>(Expr);
}

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

// Whether a tag names the objects of a Fortran procedure (`dummy arg data/_QFsEa`), not types: these stay
// what they are.
static bool namesObjects(const MDNode *Tag) {
  const MDNode *Type = Tag && Tag->getNumOperands() > 1 ? dyn_cast_or_null<MDNode>(Tag->getOperand(1)) : nullptr;
  // From the accessed type to the root, which is a name alone.
  while (Type && Type->getNumOperands() > 1)
    Type = dyn_cast_or_null<MDNode>(Type->getOperand(1));
  const auto *Name = Type && Type->getNumOperands() == 1 ? dyn_cast_or_null<MDString>(Type->getOperand(0)) : nullptr;
  return Name && Name->getString().starts_with("Flang function root");
}

// What the tags of an access say of all its executions. Types say nothing of two accesses, since a store
// makes memory one of its own type: between a store of `int` and a load of `float` there may be one of
// `float`, and what is written back as a whole would overwrite it. Scope tags hold between two executions
// only if their scope is entered once, that is, declared outside all loops.
static AAMDNodes tagsOf(Analyses &A, const Value *Access) {
  const auto *I = dyn_cast_or_null<Instruction>(Access);
  if (!I)
    return AAMDNodes();
  AAMDNodes Tags = I->getAAMetadata();
  if (!namesObjects(Tags.TBAA))
    Tags.TBAA = Tags.TBAAStruct = nullptr;
  if (!A.ScopesInLoops) {
    A.ScopesInLoops = false;
    for (Instruction &J : instructions(A.F))
      if (isa<NoAliasScopeDeclInst>(J) && A.LI.getLoopFor(J.getParent()))
        A.ScopesInLoops = true;
  }
  if (*A.ScopesInLoops)
    Tags.Scope = Tags.NoAlias = nullptr;
  return Tags;
}

// A new entry block in front of `Entry`, which begins the function. Static allocas must stay in the entry
// block.
static BasicBlock *splitFunctionEntry(BasicBlock &Entry) {
  SmallVector<AllocaInst *, 16> Allocas;
  for (Instruction &I : Entry)
    if (auto *Alloca = dyn_cast<AllocaInst>(&I))
      if (Alloca->isStaticAlloca())
        Allocas.push_back(Alloca);
  auto Position = Entry.begin();
  for (AllocaInst *Alloca : Allocas) {
    if (&*Position == Alloca)
      ++Position;
    else
      Alloca->moveBefore(Entry, Position);
  }
  return splitBlockBefore(&Entry, Position, nullptr, nullptr, nullptr, "pollyrs.check");
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
    if (!I || isa<PHINode, AllocaInst>(I) || I->mayReadOrWriteMemory() ||
        (isa<FreezeInst>(I) && !Inserted.contains(I)))
      return V;
    if (auto Found = Done.find(I); Found != Done.end())
      return Found->second;
    auto Region = RegionOf.find(I->getParent());
    bool Inside = Region != RegionOf.end() && !livesOn(I, Region->second);
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
    return Done[I] = Copy;
  }

  // What was inserted and then copied would still make use of the region's values.
  Value *only(Value *V) {
    Value *Own = of(V);
    auto IsDead = [&](Instruction *I) { return I != Own && isInstructionTriviallyDead(I); };
    for (auto Dead = find_if(Inserted, IsDead); Dead != Inserted.end(); Dead = find_if(Inserted, IsDead)) {
      Instruction *I = *Dead;
      Inserted.remove(I);
      I->eraseFromParent();
    }
    return Own;
  }
};

// Scalar evolution looks through what a loop leaves, to values that each iteration has: `k + (a[i] > 0)` for
// a count. A sum of such values is no parameter: none of them lives on. The program's own value does.
struct Left : SCEVRewriteVisitor<Left> {
  Analyses &A;
  Instruction *At;
  const Loop *Where;
  const Apart *To;

  Left(Analyses &A, Instruction *At, const Loop *Where, const Apart *To)
      : SCEVRewriteVisitor(A.SE), A(A), At(At), Where(Where), To(To) {}

  bool isBehind(const Instruction *I) const {
    const Loop *L = A.LI.getLoopFor(I->getParent());
    return L && !(Where && L->contains(Where));
  }

  bool livesOn(const Instruction *I) const {
    if (To)
      if (auto Region = To->RegionOf.find(I->getParent()); Region != To->RegionOf.end())
        return To->livesOn(I, Region->second);
    const Loop *L = A.LI.getLoopFor(I->getParent());
    return any_of(I->users(), [&](const User *U) { return !L->contains(cast<Instruction>(U)); });
  }

  // The instructions of loops that `S` is made of, and which these have left.
  SmallSetVector<Instruction *, 16> parts(const SCEV *S) const {
    SmallSetVector<Instruction *, 16> Parts;
    SCEVExprContains(S, [&](const SCEV *Part) {
      const auto *U = dyn_cast<SCEVUnknown>(Part);
      auto *I = U ? dyn_cast<Instruction>(U->getValue()) : nullptr;
      if (I && isBehind(I))
        Parts.insert(I);
      return false;
    });
    return Parts;
  }

  // An instruction of a loop that gives `S`, and that the program uses behind the loop and its region.
  Value *valueOf(const SCEV *S) const {
    constexpr unsigned MaxValues = 64;
    SmallSetVector<Instruction *, 16> Work = parts(S);
    for (unsigned K = 0; K < Work.size() && K < MaxValues; ++K) {
      Instruction *I = Work[K];
      if (I->getType() == S->getType() && (I == At || A.DT.dominates(I, At)) && livesOn(I) && SE.getSCEV(I) == S)
        return I;
      for (User *U : I->users())
        if (auto *Next = cast<Instruction>(U); isBehind(Next) && SE.isSCEVable(Next->getType()))
          Work.insert(Next);
    }
    return nullptr;
  }

  const SCEV *visit(const SCEV *S) {
    if (!isa<SCEVConstant, SCEVUnknown, SCEVCouldNotCompute>(S) && !S->getType()->isPointerTy())
      if (Value *V = valueOf(S))
        return SE.getUnknown(V);
    return SCEVRewriteVisitor::visit(S);
  }

  const SCEV *of(const SCEV *S) { return isa<SCEVCouldNotCompute>(S) || parts(S).empty() ? S : visit(S); }
};
} // namespace

extern "C" {

bool prs_has_loops(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  return !F.isDeclaration() && !S->FAM.getResult<LoopAnalysis>(F).empty();
}

Analyses *prs_analyses_new(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  return F.isDeclaration() ? nullptr : new Analyses(*S, F);
}

void prs_analyses_free(Analyses *A) { delete A; }

size_t prs_loop_count(Analyses *A) { return A->Loops.size(); }

void prs_loop(Analyses *A, size_t Id, prs_loop_record *Out) {
  const Loop *L = A->Loops[Id];
  Out->parent = L->getParentLoop() ? A->LoopIds.lookup(L->getParentLoop()) : None;
  Out->depth = L->getLoopDepth();
  Out->must_progress = isMustProgress(L) || A->F.willReturn();
  Out->apart = findStringMetadataForLoop(L, pollyrs::ApartMark).has_value();
  Out->kept = findStringMetadataForLoop(L, pollyrs::KeptMark).has_value();
  Out->moves = findStringMetadataForLoop(L, pollyrs::MovesMark).has_value();
  Out->uneven_rows = findStringMetadataForLoop(L, pollyrs::UnevenRowsMark).has_value();
  Out->other_steps = findStringMetadataForLoop(L, pollyrs::OtherStepsMark).has_value();
  Out->tiles = findStringMetadataForLoop(L, pollyrs::TilesMark).has_value();
  Out->points = findStringMetadataForLoop(L, pollyrs::PointsMark).has_value();
  Out->last_of_points = findStringMetadataForLoop(L, pollyrs::LastOfPointsMark).has_value();
  Out->header = wrap(L->getHeader());
  Out->preheader = wrap(L->getLoopPreheader());
  Out->latch = wrap(L->getLoopLatch());
  Out->exit = wrap(L->getUniqueExitBlock());
}

void prs_loop_blocks(Analyses *A, size_t Id, void *Ctx, prs_pointer_sink Sink) {
  for (BasicBlock *BB : A->Loops[Id]->blocks())
    Sink(Ctx, wrap(BB));
}

void prs_loop_exiting(Analyses *A, size_t Id, void *Ctx, prs_pointer_sink Sink) {
  SmallVector<BasicBlock *, 4> Exiting;
  A->Loops[Id]->getExitingBlocks(Exiting);
  for (BasicBlock *BB : Exiting)
    Sink(Ctx, wrap(BB));
}

size_t prs_innermost_loop(Analyses *A, LLVMBasicBlockRef BB) {
  const Loop *L = A->LI.getLoopFor(unwrap(BB));
  return L ? A->LoopIds.lookup(L) : None;
}

size_t prs_region_count(Analyses *A) { return A->Regions.size(); }

void prs_region(Analyses *A, size_t Id, prs_region_record *Out) {
  const Region *R = A->Regions[Id];
  Out->parent = R->getParent() ? A->RegionIds.lookup(R->getParent()) : None;
  Out->entry = wrap(R->getEntry());
  Out->exit = wrap(R->getExit());
}

void prs_region_blocks(Analyses *A, size_t Id, void *Ctx, prs_pointer_sink Sink) {
  for (BasicBlock *BB : A->RegionBlocks[Id])
    Sink(Ctx, wrap(BB));
}

void prs_reverse_postorder(Analyses *A, void *Ctx, prs_pointer_sink Sink) {
  for (BasicBlock *BB : A->Order)
    Sink(Ctx, wrap(BB));
}

bool prs_dominates(Analyses *A, LLVMBasicBlockRef X, LLVMBasicBlockRef Y) {
  return A->DT.dominates(unwrap(X), unwrap(Y));
}

bool prs_post_dominates(Analyses *A, LLVMBasicBlockRef X, LLVMBasicBlockRef Y) {
  return A->PDT.dominates(unwrap(X), unwrap(Y));
}

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

// Whether the program promises that no two iterations of the loop access one element, one of them by a store,
// among accesses that `Access` is one of: `llvm.loop.parallel_accesses` of the Language Reference.
bool prs_promised_apart(Analyses *A, size_t Id, LLVMValueRef Access) {
  const Loop *L = loopAt(*A, Id);
  const auto *I = dyn_cast<Instruction>(unwrap(Access));
  const MDNode *Group = I ? I->getMetadata(LLVMContext::MD_access_group) : nullptr;
  const MDNode *LoopID = L ? L->getLoopID() : nullptr;
  if (!Group || !LoopID)
    return false;
  SmallPtrSet<const Metadata *, 4> Parallel;
  for (const MDOperand &Option : drop_begin(LoopID->operands())) {
    const auto *Node = dyn_cast<MDNode>(Option);
    const auto *Name = Node && Node->getNumOperands() ? dyn_cast<MDString>(Node->getOperand(0)) : nullptr;
    if (Name && Name->getString() == "llvm.loop.parallel_accesses")
      for (const MDOperand &Of : drop_begin(Node->operands()))
        Parallel.insert(Of.get());
  }
  // A group has no operands; a list of groups does.
  if (!Group->getNumOperands())
    return Parallel.contains(Group);
  return any_of(Group->operands(), [&](const MDOperand &Of) { return Parallel.contains(Of.get()); });
}

bool prs_may_alias(Analyses *A, LLVMValueRef P, LLVMValueRef PAccess, LLVMValueRef Q, LLVMValueRef QAccess) {
  auto Location = [A](LLVMValueRef Pointer, LLVMValueRef Access) {
    return MemoryLocation::getBeforeOrAfter(unwrap(Pointer), tagsOf(*A, unwrap(Access)));
  };
  return !A->AA.isNoAlias(Location(P, PAccess), Location(Q, QAccess));
}

// What one execution of an instruction may do to memory of `Object`, by any offset from it; `Object` has one
// value all along.
uint32_t prs_memory_effect(Analyses *A, LLVMValueRef InstRef, LLVMValueRef ObjectRef) {
  auto &I = *unwrap<Instruction>(InstRef);
  const Value *Object = unwrap(ObjectRef);
  auto Location = MemoryLocation::getBeforeOrAfter(Object);
  auto Bits = [](ModRefInfo Info) -> uint32_t {
    return (isRefSet(Info) ? PRS_READS : 0) | (isModSet(Info) ? PRS_WRITES : 0);
  };
  if (auto *Call = dyn_cast<CallBase>(&I)) {
    if (!Call->doesNotThrow() && !isa<InvokeInst>(Call) && !A->F.doesNotThrow())
      return PRS_ANYTHING;
    if (Call->doesNotAccessMemory())
      return 0;
    ModRefInfo Info = A->AA.getModRefInfo(Call, Location);
    auto *Memory = dyn_cast<AnyMemIntrinsic>(Call);
    bool Synchronises = Memory ? Memory->isVolatile() || !isa<MemIntrinsic>(Memory)
                               : !Call->hasFnAttr(Attribute::NoSync) && !Call->onlyAccessesInaccessibleMemory();
    // Memory that no other thread knows needs no order.
    bool Private = isa<AllocaInst>(Object) || isNoAliasCall(Object);
    if (Synchronises && !(Private && isNoModRef(Info)))
      return PRS_ANYTHING;
    return Bits(Info);
  }
  if (!I.mayReadOrWriteMemory())
    return 0;
  if (I.isVolatile() || (I.isAtomic() && !isUnorderedAccess(I)))
    return PRS_ANYTHING;
  return Bits(A->AA.getModRefInfo(&I, Location));
}

// What alias analysis leaves open of an instruction and memory of `Object`, whatever it may do beside.
uint32_t prs_mod_ref(Analyses *A, LLVMValueRef InstRef, LLVMValueRef ObjectRef) {
  auto &I = *unwrap<Instruction>(InstRef);
  ModRefInfo Info = A->AA.getModRefInfo(&I, MemoryLocation::getBeforeOrAfter(unwrap(ObjectRef)));
  return (isRefSet(Info) ? PRS_READS : 0) | (isModSet(Info) ? PRS_WRITES : 0);
}

void prs_underlying_objects(LLVMValueRef P, void *Ctx, prs_pointer_sink Sink) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(unwrap(P), Objects, /*LI=*/nullptr, /*MaxLookup=*/0);
  for (const Value *Object : Objects)
    Sink(Ctx, wrap(const_cast<Value *>(Object)));
}

// Its activations end in returns and unwinding only, each once.
bool prs_leaves_plainly(LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  if (F.callsFunctionThatReturnsTwice())
    return false;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isMustTailCall())
      return false;
  return true;
}

bool prs_can_speculate(Analyses *A, LLVMValueRef Inst, LLVMValueRef Before) {
  return isSafeToSpeculativelyExecute(unwrap<Instruction>(Inst), unwrap<Instruction>(Before),
                                      &A->S.FAM.getResult<AssumptionAnalysis>(A->F), &A->DT,
                                      &A->S.FAM.getResult<TargetLibraryAnalysis>(A->F));
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
  SCEVExpander Expander(A->SE, "pollyrs");
  if (!Handle)
    return nullptr;
  Apart To(At);
  for (size_t I = 0; I != Count; ++I)
    To.RegionOf[unwrap(Blocks[I])] = Regions[I];
  const SCEV *S = Left(*A, At, A->LI.getLoopFor(At->getParent()), &To).of(scevOf(Handle));
  if (!Expander.isSafeToExpandAt(S, At))
    return nullptr;
  Value *V = Expander.expandCodeFor(S, S->getType(), At);
  for (Instruction *I : Expander.getAllInsertedInstructions())
    To.Inserted.insert(I);
  return wrap(To.only(V));
}

LLVMBasicBlockRef prs_split_entry(Analyses *A, LLVMBasicBlockRef EntryRef, const LLVMBasicBlockRef *Blocks,
                                  size_t Count) {
  BasicBlock &Entry = *unwrap(EntryRef);
  A->Changed = true;
  if (Entry.isEntryBlock()) {
    BasicBlock *Check = splitFunctionEntry(Entry);
    A->DT.recalculate(A->F);
    return wrap(Check);
  }
  SmallPtrSet<BasicBlock *, 32> Inside;
  for (size_t I = 0; I != Count; ++I)
    Inside.insert(unwrap(Blocks[I]));
  SmallSetVector<BasicBlock *, 4> Preds;
  for (BasicBlock *Pred : predecessors(&Entry))
    if (!Inside.contains(Pred)) {
      if (!pollyrs::canRedirect(*Pred))
        return nullptr;
      Preds.insert(Pred);
    }
  if (Preds.empty() || Entry.isEHPad())
    return nullptr;
  return wrap(SplitBlockPredecessors(&Entry, Preds.getArrayRef(), ".pollyrs.check", &A->DT, &A->LI, nullptr,
                                     /*PreserveLCSSA=*/true));
}

bool prs_loop_location(Analyses *A, size_t Id, uint32_t *Line, uint32_t *Column, void *Ctx, prs_byte_sink Sink) {
  return pollyrs::sendLocation(A->Loops[Id]->getStartLoc(), Line, Column, Ctx, Sink);
}

} // extern "C"
