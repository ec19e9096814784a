// Which loops update elements that lists name; src/prepare.rs has the argument.

#include "places.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using pollyrs::GroupedLoop;
using pollyrs::Linear;

namespace {
// The largest constant step of a narrow subscript, so that sums of 64 bits hold it.
constexpr int64_t MaxNarrowStep = 1 << 20;

// What a subscript is as a function of one of its parts, `First + Scale * part`.
struct Affine {
  const SCEV *First, *Scale;
};

std::optional<Affine> affineIn(const SCEV *S, const SCEV *Part, ScalarEvolution &SE) {
  Type *Word = SE.getEffectiveSCEVType(S->getType());
  const SCEV *Zero = SE.getZero(Word);
  if (S == Part)
    return Affine{Zero, SE.getOne(Word)};
  if (!SCEVExprContains(S, [&](const SCEV *P) { return P == Part; }))
    return Affine{S, Zero};
  if (auto *Rec = dyn_cast<SCEVAddRecExpr>(S); Rec && Rec->isAffine()) {
    auto Start = affineIn(Rec->getStart(), Part, SE), Step = affineIn(Rec->getStepRecurrence(SE), Part, SE);
    if (!Start || !Step || !Step->Scale->isZero())
      return std::nullopt;
    return Affine{SE.getAddRecExpr(Start->First, Step->First, Rec->getLoop(), SCEV::FlagAnyWrap), Start->Scale};
  }
  if (!isa<SCEVAddExpr, SCEVMulExpr>(S))
    return std::nullopt;
  bool Product = isa<SCEVMulExpr>(S);
  std::optional<Affine> All;
  for (const SCEV *Operand : cast<SCEVNAryExpr>(S)->operands()) {
    auto Own = affineIn(Operand, Part, SE);
    if (!Own || (Product && All && !All->Scale->isZero() && !Own->Scale->isZero()))
      return std::nullopt;
    if (!All)
      All = Own;
    else if (Product)
      All = Affine{SE.getMulExpr(All->First, Own->First),
                   SE.getAddExpr(SE.getMulExpr(All->Scale, Own->First), SE.getMulExpr(All->First, Own->Scale))};
    else
      All = Affine{SE.getAddExpr(All->First, Own->First), SE.getAddExpr(All->Scale, Own->Scale)};
  }
  return All;
}

// The address of an access: the element, the integer of a list, and what a narrow subscript is made of.
struct Address {
  LoadInst *List;
  bool Unsigned;
  Linear Element;
  const SCEV *Scale;
  std::optional<pollyrs::NarrowPlace> Narrow{};
};

// Whether an instruction is a call that computes from its arguments, and writes errno at most. In kernels
// such calls say so, in any order; where errno would not be ERANGE the program's loop runs
// (prs_assume_no_errno).
bool writesErrnoAtMost(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const MemoryEffects Errno = MemoryEffects::errnoMemOnly(ModRefInfo::Mod);
  bool Plain = Call && Call->getCalledFunction() && Call->willReturn() && !Call->mayThrow() && !Call->isConvergent() && !Call->hasOperandBundles();
  return Plain && !Call->getType()->isVectorTy() && (Call->getMemoryEffects() | Errno) == Errno;
}

// Reads a loop; what it does is in `G`.
class Reader {
public:
  Reader(GroupedLoop &G, ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI) : G(G), SE(SE), DT(DT), LI(LI) {}
  bool read() { return readBlocks() && readStores() && readLoads() && readChecks() && readShape() && keepsOrder() && needsOrder(); }

private:
  // The blocks of an iteration: one way to the loop inside, if there is one; any in the innermost one.
  bool readBlocks() {
    if (G.Inner) {
      SmallVector<BasicBlock *, 8> Way;
      if (!oneWayAround(Way))
        return false;
      G.Blocks.append(Way);
    }
    LoopBlocksRPO Order(const_cast<Loop *>(&G.deepest()));
    Order.perform(&LI);
    G.Blocks.append(Order.begin(), Order.end());
    for (BasicBlock *BB : G.Blocks) {
      bool Head = BB == G.Outer->getHeader() || BB == G.deepest().getHeader();
      if (!isa<BranchInst, SwitchInst>(BB->getTerminator()))
        return false;
      for (Instruction &I : *BB) {
        if (isa<PHINode>(I) && Head && (!SE.isSCEVable(I.getType()) || !G.linear(SE.getSCEV(&I), SE)))
          return false;
        if (++G.Size > GroupedLoop::MaxBody)
          return false;
      }
      Number[BB] = Number.size();
    }
    return true;
  }

  // The blocks around the loop inside, of which those behind it do nothing.
  bool oneWayAround(SmallVectorImpl<BasicBlock *> &Before) {
    BasicBlock *Head = G.Inner->getHeader();
    bool Behind = false;
    SmallPtrSet<BasicBlock *, 8> Seen;
    for (BasicBlock *BB = G.Outer->getHeader(); Seen.insert(BB).second;) {
      auto *Branch = dyn_cast<BranchInst>(BB->getTerminator());
      if (!Branch || !all_of(*BB, [&](Instruction &I) { return isa<PHINode>(I) || I.isTerminator() || pollyrs::onlyComputes(I); }))
        return false;
      if (!Behind)
        Before.push_back(BB);
      if (BB == G.Outer->getLoopLatch())
        return Behind;
      if (Branch->isConditional() && (Behind || !isGuard(*Branch)))
        return false;
      BB = Branch->getSuccessor(Branch->isConditional() && !DT.dominates(Branch->getSuccessor(0), Head));
      if (BB == Head) {
        BB = G.Inner->getUniqueExitBlock(), Behind = true;
        if (G.Inner->getExitingBlock() != G.Inner->getLoopLatch())
          return false;
      }
      if (!BB || !G.Outer->contains(BB) || G.Inner->contains(BB))
        return false;
    }
    return false;
  }

  // Whether a branch says for all iterations alike that there is something to do in the loop inside.
  bool isGuard(BranchInst &Branch) {
    auto *Compare = dyn_cast<ICmpInst>(Branch.getCondition());
    bool First = DT.dominates(Branch.getSuccessor(0), G.Inner->getHeader());
    if (!Compare || !G.Outer->hasLoopInvariantOperands(Compare) || First == DT.dominates(Branch.getSuccessor(1), G.Inner->getHeader()))
      return false;
    G.Guards.push_back({Compare, First});
    return true;
  }

  // The load of the list that an address depends on.
  LoadInst *listOf(const SCEV *S) const {
    LoadInst *Found = nullptr;
    bool Single = true;
    SCEVExprContains(S, [&](const SCEV *Part) {
      auto *Unknown = dyn_cast<SCEVUnknown>(Part);
      auto *Load = Unknown ? dyn_cast<LoadInst>(Unknown->getValue()) : nullptr;
      if (!Load || !G.Outer->contains(Load))
        return false;
      Single &= !Found || Found == Load;
      Found = Load;
      return false;
    });
    return Single ? Found : nullptr;
  }

  // The first part of an expression that extends something with the load in it, or the load.
  static const SCEV *extended(const SCEV *S, const LoadInst *Load, bool Outermost) {
    const SCEV *Found = nullptr;
    SCEVExprContains(S, [&](const SCEV *Part) {
      auto *Unknown = dyn_cast<SCEVUnknown>(Part);
      auto *Cast = dyn_cast<SCEVIntegralCastExpr>(Part);
      bool Extends = Cast && isa<SCEVSignExtendExpr, SCEVZeroExtendExpr>(Part) && SCEVExprContains(Part, [&](const SCEV *P) {
                       auto *U = dyn_cast<SCEVUnknown>(P);
                       return U && U->getValue() == Load;
                     });
      auto *Of = Extends ? dyn_cast<SCEVUnknown>(Cast->getOperand()) : nullptr;
      bool IsLoad = (Unknown && Unknown->getValue() == Load) || (Of && Of->getValue() == Load);
      if (!Found && (IsLoad || (Outermost && Extends)))
        Found = Part;
      return Found != nullptr;
    });
    return Found;
  }

  std::optional<Address> addressOf(Value *Pointer) const {
    const SCEV *S = SE.getSCEV(Pointer);
    LoadInst *List = listOf(S);
    const SCEV *Part = List ? extended(S, List, true) : nullptr;
    if (!Part || !List->isSimple() || !List->getType()->isIntegerTy() || !Part->getType()->isIntegerTy(64))
      return std::nullopt;
    auto Outside = affineIn(S, Part, SE);
    auto Element = Outside ? G.linear(Outside->First, SE) : std::nullopt;
    if (!Element || Element->Outer || !SE.isLoopInvariant(Outside->Scale, G.Outer))
      return std::nullopt;
    Address A{List, isa<SCEVZeroExtendExpr>(Part), *Element, Outside->Scale};
    auto *Cast = dyn_cast<SCEVIntegralCastExpr>(Part);
    if (!Cast || isa<SCEVUnknown>(Cast->getOperand()))
      return A;
    return narrow(A, *Cast) ? std::optional(A) : std::nullopt;
  }

  // A subscript of fewer bits: the same in 64, as long as nothing wraps.
  bool narrow(Address &A, const SCEVIntegralCastExpr &Cast) const {
    const SCEV *Whole = Cast.getOperand(), *Integer = extended(Whole, A.List, false);
    auto Inside = Integer ? affineIn(Whole, Integer, SE) : std::nullopt;
    auto Within = Inside ? G.linear(Inside->First, SE) : std::nullopt;
    auto *Step = Within ? dyn_cast_or_null<SCEVConstant>(Within->Inner) : nullptr;
    if (!Within || Within->Outer || !SE.isLoopInvariant(Inside->Scale, G.Outer) || !Whole->getType()->isIntegerTy(32) || !Integer->getType()->isIntegerTy(32))
      return false;
    if (Within->Inner && (!Step || Step->getAPInt().getSExtValue() > MaxNarrowStep || Step->getAPInt().getSExtValue() < -MaxNarrowStep))
      return false;
    bool Signed = isa<SCEVSignExtendExpr>(Cast);
    // An integer of 32 bits is read as the subscript is.
    A.Unsigned = isa<SCEVZeroExtendExpr>(Integer) || (isa<SCEVUnknown>(Integer) && !Signed);
    A.Narrow = pollyrs::NarrowPlace{Within->First, Within->Inner, Inside->Scale, Signed};
    auto Wide = [&](const SCEV *S) { return SE.getMulExpr(A.Scale, SE.getSignExtendExpr(S, A.Scale->getType())); };
    A.Element.First = SE.getAddExpr(A.Element.First, Wide(Within->First));
    if (Within->Inner)
      A.Element.Inner = A.Element.Inner ? SE.getAddExpr(A.Element.Inner, Wide(Within->Inner)) : Wide(Within->Inner);
    A.Scale = Wide(Inside->Scale);
    return true;
  }

  // The number of a list, which may be a new one.
  std::optional<unsigned> listNumber(const Address &A) {
    auto Place = G.linear(SE.getSCEV(A.List->getPointerOperand()), SE);
    if (!Place || !Place->Outer || A.List->getType()->getIntegerBitWidth() < 8 || A.List->getType()->getIntegerBitWidth() > 64)
      return std::nullopt;
    for (unsigned N = 0; N != G.Lists.size(); ++N) {
      const pollyrs::PlaceList &List = G.Lists[N];
      if (List.Place.First == Place->First && List.Place.Outer == Place->Outer && List.Place.Inner == Place->Inner && List.Ty == A.List->getType()) {
        G.Lists[N].Always |= isAlways(*A.List->getParent());
        return N;
      }
    }
    if (G.Lists.size() == GroupedLoop::MaxLists)
      return std::nullopt;
    G.Lists.push_back({*Place, A.List->getType(), isAlways(*A.List->getParent())});
    return G.Lists.size() - 1;
  }

  bool isAlways(const BasicBlock &BB) const { return DT.dominates(&BB, (G.deepest().contains(&BB) ? G.deepest() : *G.Outer).getLoopLatch()); }

  // The number of a target; without `New` only of one that is known.
  std::optional<unsigned> targetNumber(const Address &A, Type *Ty, bool New) {
    for (unsigned N = 0; N != G.Targets.size(); ++N)
      if (G.Targets[N].Element.First == A.Element.First)
        return G.Targets[N].Ty == Ty && G.Targets[N].Element.Inner == A.Element.Inner && G.Targets[N].Scale == A.Scale ? std::optional(N) : std::nullopt;
    if (!New || G.Targets.size() == GroupedLoop::MaxTargets)
      return std::nullopt;
    G.Targets.push_back({A.Element, A.Scale, Ty});
    return G.Targets.size() - 1;
  }

  // All stores, which are of elements that lists name.
  bool readStores() {
    for (BasicBlock *BB : G.Blocks)
      for (Instruction &I : *BB) {
        auto *Store = dyn_cast<StoreInst>(&I);
        if (!Store) {
          if (!isa<PHINode>(I) && !I.isTerminator() && !pollyrs::onlyComputes(I) && !writesErrnoAtMost(I))
            return false;
          continue;
        }
        Type *Ty = Store->getValueOperand()->getType();
        auto A = addressOf(Store->getPointerOperand());
        if (!A || !Store->isSimple() || !G.deepest().contains(Store) || !(Ty->isFloatingPointTy() || Ty->isIntegerTy()))
          return false;
        auto List = listNumber(*A);
        auto Target = List ? targetNumber(*A, Ty, true) : std::nullopt;
        if (!Target || (!G.Accesses.empty() && A->Unsigned != G.Unsigned))
          return false;
        G.Unsigned = A->Unsigned;
        if (A->Narrow)
          G.Narrow.push_back(*A->Narrow);
        G.Targets[*Target].Store = Store;
        G.Accesses.insert({Store, {*List, *Target}});
      }
    return !G.Targets.empty();
  }

  // Loads are of the same elements, or of other objects.
  bool readLoads() {
    for (BasicBlock *BB : G.Blocks)
      for (Instruction &I : *BB) {
        auto *Load = dyn_cast<LoadInst>(&I);
        if (!Load)
          continue;
        const SCEV *Base = SE.getPointerBase(SE.getSCEV(Load->getPointerOperand()));
        auto IsSummed = [&](const pollyrs::PlaceTarget &T) { return SE.getPointerBase(T.Element.First) == Base; };
        if (none_of(G.Targets, IsSummed)) {
          if (!SE.isLoopInvariant(Base, G.Outer))
            return false;
          continue;
        }
        auto A = addressOf(Load->getPointerOperand());
        auto List = A && A->Unsigned == G.Unsigned ? listNumber(*A) : std::nullopt;
        auto Target = List ? targetNumber(*A, Load->getType(), false) : std::nullopt;
        if (!Target || !G.deepest().contains(Load))
          return false;
        G.Targets[*Target].Load = Load;
        G.Accesses.insert({Load, {*List, *Target}});
        if (A->Narrow)
          G.Narrow.push_back(*A->Narrow);
      }
    return true;
  }

  // All checks, which are tested before the loop.
  bool readChecks() {
    return all_of(G.Blocks, [&](BasicBlock *BB) {
      auto *Branch = dyn_cast<BranchInst>(BB->getTerminator());
      BasicBlock *Way = Branch ? pollyrs::checkedWay(*Branch, *G.Outer) : nullptr;
      return !Way || readCondition(Branch->getCondition(), Way == Branch->getSuccessor(0));
    });
  }

  // Comparisons, all of which have to have one result.
  bool readCondition(Value *Condition, bool Result) {
    Value *One, *Other;
    if (Result ? match(Condition, PatternMatch::m_LogicalAnd(PatternMatch::m_Value(One), PatternMatch::m_Value(Other)))
               : match(Condition, PatternMatch::m_LogicalOr(PatternMatch::m_Value(One), PatternMatch::m_Value(Other))))
      return readCondition(One, Result) && readCondition(Other, Result);
    auto *Compare = dyn_cast<ICmpInst>(Condition);
    return Compare && readCheck(*Compare, Result);
  }

  bool readCheck(ICmpInst &Compare, bool Result) {
    auto Holds = Result ? Compare.getPredicate() : Compare.getInversePredicate();
    if (!SE.isSCEVable(Compare.getOperand(0)->getType()) || Compare.getOperand(0)->getType()->isPointerTy())
      return false;
    const SCEV *Own = SE.getSCEV(Compare.getOperand(0)), *Other = SE.getSCEV(Compare.getOperand(1));
    if (SE.isLoopInvariant(Own, G.Outer)) {
      std::swap(Own, Other);
      Holds = CmpInst::getSwappedPredicate(Holds);
    }
    if (Holds == CmpInst::ICMP_EQ || !SE.isLoopInvariant(Other, G.Outer))
      return false;
    auto *Cast = dyn_cast<SCEVIntegralCastExpr>(Own);
    auto *Unknown = dyn_cast<SCEVUnknown>(Cast ? Cast->getOperand() : Own);
    auto *Load = Unknown ? dyn_cast<LoadInst>(Unknown->getValue()) : nullptr;
    if (!Load) {
      auto Counter = Own->getType()->isIntegerTy(64) ? G.linear(Own, SE) : std::nullopt;
      auto *Step = Counter ? dyn_cast_or_null<SCEVConstant>(Counter->Outer) : nullptr;
      if (!Counter || Counter->Inner || !Step || Step->getAPInt().abs().ugt(MaxNarrowStep))
        return false;
      G.Checks.push_back({Holds, false, *Counter, Other});
      return true;
    }
    // The integer as the library reads it, or as the check does.
    bool Wide = Own->getType()->isIntegerTy(64);
    bool AsRead = Cast ? Wide && isa<SCEVZeroExtendExpr>(Cast) == G.Unsigned && !isa<SCEVTruncateExpr>(Cast) : Wide || CmpInst::isUnsigned(Holds) || !G.Unsigned;
    if (Holds == CmpInst::ICMP_NE || !AsRead || !isList(*Load))
      return false;
    Type *Word = Type::getInt64Ty(Compare.getContext());
    Other = CmpInst::isSigned(Holds) ? SE.getNoopOrSignExtend(Other, Word) : SE.getNoopOrZeroExtend(Other, Word);
    G.Checks.push_back({Holds, true, {}, Other});
    return true;
  }

  bool isList(LoadInst &Load) const {
    auto Place = G.linear(SE.getSCEV(Load.getPointerOperand()), SE);
    return Place && any_of(G.Lists, [&](const pollyrs::PlaceList &List) {
             return List.Place.First == Place->First && List.Place.Outer == Place->Outer && List.Place.Inner == Place->Inner && List.Ty == Load.getType();
           });
  }

  // What lists and targets have in common.
  bool readShape() {
    const pollyrs::PlaceList &First = G.Lists[0];
    G.Columns = G.Inner && !First.Place.Inner;
    for (const pollyrs::PlaceList &List : G.Lists)
      if (List.Ty != First.Ty || List.Place.Outer != First.Place.Outer || (G.Inner && G.Columns == (List.Place.Inner != nullptr)))
        return false;
    // A loop through lists is through one.
    if (G.Inner && !G.Columns && (G.Lists.size() > 1 || !isa<SCEVConstant>(First.Place.Inner) || First.Place.Inner->isZero()))
      return false;
    for (unsigned N = 0; N != G.Targets.size(); ++N)
      if (!readTarget(N))
        return false;
    return true;
  }

  // How a target lies beside those before it.
  bool readTarget(unsigned N) {
    pollyrs::PlaceTarget &T = G.Targets[N];
    int64_t Bytes = size(T);
    auto *Step = dyn_cast_or_null<SCEVConstant>(T.Element.Inner);
    // Elements of a place are next to each other.
    if (G.Columns ? !Step || Step->getAPInt() != Bytes : T.Element.Inner != nullptr)
      return false;
    T.Base = N;
    for (unsigned Other = 0; Other != N; ++Other) {
      pollyrs::PlaceTarget &O = G.Targets[Other];
      if (SE.getPointerBase(O.Element.First) != SE.getPointerBase(T.Element.First))
        continue;
      auto *Apart = dyn_cast<SCEVConstant>(SE.getMinusSCEV(T.Element.First, O.Element.First));
      if (!Apart || G.Columns || T.Scale != O.Scale)
        return false;
      int64_t By = Apart->getAPInt().getSExtValue();
      if (By > -Bytes && By < int64_t(size(O)))
        return false;
      if (T.Base == N)
        T.Base = O.Base, T.Distance = O.Distance + By;
    }
    for (unsigned List = 0; List != G.Lists.size(); ++List)
      T.Always &= any_of(G.Accesses, [&](auto &A) {
        return isa<StoreInst>(A.first) && A.second.Target == N && A.second.List == List && isAlways(*A.first->getParent());
      });
    return true;
  }

  static uint64_t size(const pollyrs::PlaceTarget &T) { return T.Store->getDataLayout().getTypeStoreSize(T.Ty).getFixedValue(); }

  // Whether updates of one iteration by several lists can be made one by one, in the order of the lists.
  bool keepsOrder() {
    if (G.Lists.size() == 1)
      return true;
    SmallVector<unsigned, 8> Latest(G.Targets.size(), 0);
    SmallVector<std::pair<Instruction *, pollyrs::PlaceAccess>, 16> Sorted(G.Accesses.begin(), G.Accesses.end());
    sort(Sorted, [&](auto &A, auto &B) {
      BasicBlock *X = A.first->getParent(), *Y = B.first->getParent();
      return X == Y ? A.first->comesBefore(B.first) : Number[X] < Number[Y];
    });
    return all_of(Sorted, [&](auto &A) {
      unsigned &Last = Latest[A.second.Target];
      bool Ascends = Last <= A.second.List;
      Last = A.second.List;
      return Ascends && (isa<StoreInst>(A.first) || leadsToItsStore(*A.first, A.second));
    });
  }

  // Whether nothing but the same element's next value is made of one that is loaded.
  bool leadsToItsStore(Instruction &Load, pollyrs::PlaceAccess A) const {
    Instruction *I = &Load;
    for (unsigned Steps = 0; Steps != 8; ++Steps) {
      auto *Next = I->hasOneUse() ? dyn_cast<Instruction>(*I->user_begin()) : nullptr;
      if (!Next || Next->getParent() != Load.getParent())
        return false;
      if (auto *Store = dyn_cast<StoreInst>(Next)) {
        auto It = G.Accesses.find(Store);
        return Store->getValueOperand() == I && It != G.Accesses.end() && It->second.List == A.List && It->second.Target == A.Target;
      }
      // (A quotient that the program does not compute may have none.)
      if (!pollyrs::onlyComputes(*Next) || isa<LoadInst>(Next) || Next->isIntDivRem())
        return false;
      I = Next;
    }
    return false;
  }

  // Sums and differences are of one kind, each operation on bits is another one, and the others have none.
  static unsigned kindOf(const BinaryOperator &Op) {
    if (Op.getOpcode() == Instruction::Add || Op.getOpcode() == Instruction::Sub)
      return Instruction::Add;
    return Op.isBitwiseLogicOp() ? unsigned(Op.getOpcode()) : 0;
  }

  // Whether a value is made of what an element holds by operations of one kind, as those of atomics are.
  bool isAtomic(Value &V, pollyrs::PlaceAccess Of, unsigned Kind) const {
    auto It = isa<LoadInst>(V) ? G.Accesses.find(cast<Instruction>(&V)) : G.Accesses.end();
    if (It != G.Accesses.end())
      return It->second.Target == Of.Target && It->second.List == Of.List;
    auto *Op = dyn_cast<BinaryOperator>(&V);
    if (!Op || !Kind || kindOf(*Op) != Kind)
      return false;
    return isAtomic(*Op->getOperand(0), Of, Kind) || (Op->isCommutative() && isAtomic(*Op->getOperand(1), Of, Kind));
  }

  bool isOneAtomic(Instruction *V, pollyrs::PlaceAccess Of) const {
    auto *Op = dyn_cast_or_null<BinaryOperator>(V);
    return !Op || isAtomic(*Op, Of, kindOf(*Op));
  }

  // Whether operations of several kinds are made on the elements of a target.
  bool hasKinds(unsigned Target) const {
    std::optional<unsigned> Kind;
    return any_of(G.Accesses, [&](auto &A) {
      auto *Store = dyn_cast<StoreInst>(A.first);
      auto *Op = Store && A.second.Target == Target ? dyn_cast<BinaryOperator>(Store->getValueOperand()) : nullptr;
      if (Op && !Kind)
        Kind = kindOf(*Op);
      return Op && *Kind != kindOf(*Op);
    });
  }

  // Whether atomic operations would not do.
  bool needsOrder() const {
    return any_of(G.Accesses, [&](auto &A) {
      auto *Store = dyn_cast<StoreInst>(A.first);
      if (!Store)
        return false;
      // Of elements that are only stored the last iteration's stays.
      if (!G.Targets[A.second.Target].Load)
        return true;
      auto *Value = dyn_cast<Instruction>(Store->getValueOperand());
      Type *Ty = Store->getValueOperand()->getType();
      if (Ty->isFloatingPointTy())
        return !(Value && isa<FPMathOperator>(Value) && Value->hasAllowReassoc() && Value->getOpcode() != Instruction::FMul);
      return Ty->getIntegerBitWidth() < 32 || hasKinds(A.second.Target) || !isOneAtomic(Value, A.second);
    });
  }

  GroupedLoop &G;
  ScalarEvolution &SE;
  DominatorTree &DT;
  LoopInfo &LI;
  DenseMap<const BasicBlock *, unsigned> Number;
};
} // namespace

BasicBlock *pollyrs::checkedWay(const BranchInst &Branch, const Loop &L) {
  if (!Branch.isConditional())
    return nullptr;
  for (unsigned Bad : {0, 1})
    if (!L.contains(Branch.getSuccessor(Bad)) && L.contains(Branch.getSuccessor(1 - Bad)) && isErrorBlock(*Branch.getSuccessor(Bad)))
      return Branch.getSuccessor(1 - Bad);
  return nullptr;
}

BasicBlock *pollyrs::regularExit(const Loop &L) {
  BasicBlock *Latch = L.getLoopLatch();
  auto *Branch = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional())
    return nullptr;
  BasicBlock *Exit = Branch->getSuccessor(Branch->getSuccessor(0) == L.getHeader() ? 1 : 0);
  SmallVector<BasicBlock *, 4> Leaving;
  L.getExitingBlocks(Leaving);
  bool Checks = all_of(Leaving, [&](BasicBlock *BB) {
    auto *Way = dyn_cast<BranchInst>(BB->getTerminator());
    return BB == Latch || (Way && checkedWay(*Way, L));
  });
  return Checks && !L.contains(Exit) && !checkedWay(*Branch, L) ? Exit : nullptr;
}

// Whether something is the same in all iterations of a loop, or what one place in memory has, such as a
// member of a structure, which stores of the loop rarely change.
static bool staysInMost(const SCEV *S, const Loop &L, ScalarEvolution &SE) {
  return !SCEVExprContains(S, [&](const SCEV *Part) {
    if (auto *Rec = dyn_cast<SCEVAddRecExpr>(Part))
      return Rec->getLoop() == &L;
    auto *Unknown = dyn_cast<SCEVUnknown>(Part);
    auto *I = Unknown ? dyn_cast<Instruction>(Unknown->getValue()) : nullptr;
    if (!I || !L.contains(I))
      return false;
    auto *Load = dyn_cast<LoadInst>(I);
    return !Load || !L.isLoopInvariant(Load->getPointerOperand());
  });
}

std::optional<GroupedLoop> pollyrs::groupedLoop(Loop &L, ScalarEvolution &SE, DominatorTree &DT, LoopInfo &LI) {
  GroupedLoop G{&L};
  G.Exit = L.isLoopSimplifyForm() ? regularExit(L) : nullptr;
  bool Simple = G.Exit && G.Exit->phis().empty() && !findOptionMDForLoop(&L, "llvm.loop.parallel_accesses");
  // (Checks are those of the innermost loop.)
  if (!Simple || L.getSubLoops().size() > 1 || (!L.isInnermost() && !L.getExitingBlock()))
    return std::nullopt;
  if (!L.isInnermost()) {
    G.Inner = L.getSubLoops()[0];
    const SCEV *Count = SE.getBackedgeTakenCount(G.Inner);
    if (!G.Inner->isInnermost() || !G.Inner->isLoopSimplifyForm() || isa<SCEVCouldNotCompute>(Count) || !SE.isLoopInvariant(Count, &L))
      return std::nullopt;
  }
  G.Count = SE.getExitCount(&L, L.getLoopLatch());
  if (isa<SCEVCouldNotCompute>(G.Count) || !Reader(G, SE, DT, LI).read())
    return std::nullopt;
  // What is sorted by place in each iteration of a loop around must be the same in most.
  for (Loop *Around = L.getParentLoop(); Around; Around = Around->getParentLoop())
    if (!staysInMost(G.Count, *Around, SE) || !all_of(G.Lists, [&](PlaceList &List) { return staysInMost(List.Place.First, *Around, SE); }))
      return std::nullopt;
  return G;
}
