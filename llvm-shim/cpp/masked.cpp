// Updates behind conditions that guard what they load:
//   if (mask[i]) { sum += x[i]; if (x[i] < least) { least = x[i]; place = i; } }
// What is added is chosen there, or what adds nothing. The update itself follows where the ways meet
// again, and is a statement of its own. The program does the same as before: what is chosen without the
// condition leaves what is updated as it is, a NaN as well. (`updates.cpp` has updates whose values can be
// computed ahead.)
//   if (wall[i]) { out[i] = in[i + 1]; } else { out[i] = x; sum += x; }
// A sum in order is parted as well where the loop stores something: all else may run in parallel then.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// A value that is updated on some of the ways to `Join`.
class Masked {
  BasicBlock &Join;
  PHINode &PHI;
  const Loop &L;
  PHINode *Old = nullptr;
  // The update, by what, and the comparison of a selection.
  Instruction *Update = nullptr;
  Value *By = nullptr;
  FCmpInst *Compare = nullptr;
  // Leaves what is updated as it is.
  Constant *Neutral = nullptr;
  // Of a sum in order: the operation, `Update` itself or what that rounds, and what it takes, `Old` or that
  // in more bits.
  Instruction *Operation = nullptr;
  Value *Kept = nullptr;

  // Whether flags that exclude NaNs and infinities hold where nothing is updated, too: what is updated begins
  // with another number, and updates keep it one.
  bool beginsWithNumber() const {
    BasicBlock *Before = L.getLoopPredecessor();
    auto *Start = Before ? dyn_cast<ConstantFP>(Old->getIncomingValueForBlock(Before)) : nullptr;
    return Start && Start->getValueAPF().isFinite();
  }

  // The number that no number is larger than, or smaller.
  Constant *extreme(bool Largest, bool Finite) const {
    Type *Ty = PHI.getType();
    const fltSemantics &Semantics = Ty->getFltSemantics();
    return ConstantFP::get(Ty, Finite ? APFloat::getLargest(Semantics, !Largest) : APFloat::getInf(Semantics, !Largest));
  }

  bool isSum(BinaryOperator &Op) {
    if ((Op.getOperand(0) == Old) == (Op.getOperand(1) == Old) || !Op.isCommutative() || !Op.isAssociative())
      return false;
    By = Op.getOperand(Op.getOperand(0) == Old ? 1 : 0);
    Neutral = ConstantExpr::getBinOpIdentity(Op.getOpcode(), Op.getType());
    return Neutral != nullptr;
  }

  // Whether a number is no signalling NaN, which an addition that leaves all others as they are would quiet.
  static bool isQuiet(Value *Number) {
    constexpr unsigned MaxNumbers = 16;
    SmallSetVector<Value *, MaxNumbers> Work;
    Work.insert(Number);
    for (unsigned K = 0; K < Work.size(); ++K) {
      if (K == MaxNumbers)
        return false;
      if (auto *C = dyn_cast<ConstantFP>(Work[K])) {
        if (C->getValueAPF().isSignaling())
          return false;
      } else if (auto *P = dyn_cast<PHINode>(Work[K])) {
        Work.insert_range(P->incoming_values());
      } else if (auto *I = dyn_cast<Instruction>(Work[K]); !I || !(isa<BinaryOperator, FPTruncInst, FPExtInst, SIToFPInst, UIToFPInst>(I) || isFused(I))) {
        return false;
      }
    }
    return true;
  }

  static bool isFused(const Instruction *I) {
    auto *Call = dyn_cast<IntrinsicInst>(I);
    return Call && (Call->getIntrinsicID() == Intrinsic::fma || Call->getIntrinsicID() == Intrinsic::fmuladd);
  }

  bool storesSomething() const {
    return any_of(L.blocks(), [](const BasicBlock *BB) { return any_of(*BB, [](const Instruction &I) { return isa<StoreInst>(I); }); });
  }

  // `old + x`, `old - x`, `old * x` or `old + x * y` in the order of the program, maybe in more bits than
  // `old` has.
  bool isInOrder(Instruction &I) {
    auto *Narrow = dyn_cast<FPTruncInst>(&I);
    Operation = Narrow ? dyn_cast<Instruction>(Narrow->getOperand(0)) : &I;
    if (!Operation || (Narrow && !Operation->hasOneUse()) || !I.getType()->isFloatingPointTy())
      return false;
    Kept = Old;
    if (Narrow)
      for (Value *O : Operation->operands())
        if (auto *Wide = dyn_cast<FPExtInst>(O); Wide && Wide->getOperand(0) == Old)
          Kept = Wide;
    Function &F = *PHI.getFunction();
    if (count(Operation->operands(), Kept) != 1 || (Narrow && Kept == Old) || F.getDenormalMode(PHI.getType()->getFltSemantics()) != DenormalMode::getIEEE())
      return false;
    Type *Ty = Operation->getType();
    if (isFused(Operation)) {
      if (Operation->getOperand(2) != Kept)
        return false;
      By = Operation->getOperand(0);
      Neutral = ConstantFP::get(Ty, -0.0);
    } else {
      auto *Op = dyn_cast<BinaryOperator>(Operation);
      bool First = Op && Op->getOperand(0) == Kept;
      bool Known = Op && (Op->getOpcode() == Instruction::FAdd || Op->getOpcode() == Instruction::FMul || (Op->getOpcode() == Instruction::FSub && First));
      if (!Known)
        return false;
      By = Op->getOperand(First ? 1 : 0);
      Neutral = ConstantExpr::getBinOpIdentity(Op->getOpcode(), Ty, /*AllowRHSConstant=*/First);
    }
    return Neutral && isQuiet(Old) && storesSomething();
  }

  bool isExtreme(IntrinsicInst &Call) {
    if (Call.arg_size() != 2 || (Call.getArgOperand(0) == Old) == (Call.getArgOperand(1) == Old))
      return false;
    By = Call.getArgOperand(Call.getArgOperand(0) == Old ? 1 : 0);
    unsigned Bits = PHI.getType()->getScalarSizeInBits();
    switch (Call.getIntrinsicID()) {
    case Intrinsic::smax:
      Neutral = ConstantInt::get(PHI.getType(), APInt::getSignedMinValue(Bits));
      return true;
    case Intrinsic::smin:
      Neutral = ConstantInt::get(PHI.getType(), APInt::getSignedMaxValue(Bits));
      return true;
    case Intrinsic::umax:
      Neutral = ConstantInt::get(PHI.getType(), 0);
      return true;
    case Intrinsic::umin:
      Neutral = ConstantInt::getAllOnesValue(PHI.getType());
      return true;
    case Intrinsic::maxnum:
    case Intrinsic::minnum:
      Neutral = Call.hasNoNaNs() ? extreme(Call.getIntrinsicID() == Intrinsic::minnum, Call.hasNoInfs()) : ConstantFP::getNaN(PHI.getType());
      return !Call.hasNoNaNs() || beginsWithNumber();
    default:
      return false;
    }
  }

  // `value < old ? value : old`, which keeps a NaN, and takes none.
  bool isSelection(SelectInst &Select) {
    Compare = dyn_cast<FCmpInst>(Select.getCondition());
    if (!Compare || Select.getFalseValue() != Old || Select.getTrueValue() == Old)
      return false;
    By = Select.getTrueValue();
    FCmpInst::Predicate Is = Compare->getPredicate();
    if (Compare->getOperand(0) == Old && Compare->getOperand(1) == By)
      Is = FCmpInst::getSwappedPredicate(Is);
    else if (Compare->getOperand(0) != By || Compare->getOperand(1) != Old)
      return false;
    bool Less = Is == FCmpInst::FCMP_OLT || Is == FCmpInst::FCMP_OLE;
    if (!Less && Is != FCmpInst::FCMP_OGT && Is != FCmpInst::FCMP_OGE)
      return false;
    bool Flags = Compare->hasNoInfs() || Compare->hasNoNaNs() || Select.hasNoInfs() || Select.hasNoNaNs();
    Neutral = extreme(Less, Compare->hasNoInfs() || Select.hasNoInfs());
    return !Flags || beginsWithNumber();
  }

  bool isUpdate(Instruction &I) {
    if (auto *Op = dyn_cast<BinaryOperator>(&I); Op && isSum(*Op))
      return true;
    if (isa<BinaryOperator, FPTruncInst>(I) || isFused(&I))
      return isInOrder(I);
    if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      return isExtreme(*Call);
    auto *Select = dyn_cast<SelectInst>(&I);
    return Select && isSelection(*Select);
  }

  // Whether a value is what the loop hands on, or is handed on with it.
  bool isHandedOn() const {
    return any_of(PHI.users(), [&](User *U) { return isa<PHINode>(U) && L.contains(cast<Instruction>(U)); });
  }

  // The place of an extreme: a value that is taken where the extreme takes its own.
  struct Place {
    PHINode *PHI, *Old;
    SelectInst *Select;
    CmpInst *Compare;
  };

  // Whether a comparison says that `By` takes the place of `Old`, and never says so of what leaves `Old` as
  // it is.
  bool tells(CmpInst &C) const {
    bool First = C.getOperand(0) == By && C.getOperand(1) == Old;
    if (!First && (C.getOperand(0) != Old || C.getOperand(1) != By))
      return false;
    if (Compare)
      return &C == Compare && (C.getPredicate() == CmpInst::FCMP_OLT || C.getPredicate() == CmpInst::FCMP_OGT);
    auto *Call = dyn_cast<IntrinsicInst>(Update);
    if (!Call || !isa<ICmpInst>(C))
      return false;
    CmpInst::Predicate Is = First ? C.getPredicate() : C.getSwappedPredicate();
    switch (Call->getIntrinsicID()) {
    case Intrinsic::smax:
      return Is == CmpInst::ICMP_SGT;
    case Intrinsic::smin:
      return Is == CmpInst::ICMP_SLT;
    case Intrinsic::umax:
      return Is == CmpInst::ICMP_UGT;
    case Intrinsic::umin:
      return Is == CmpInst::ICMP_ULT;
    default:
      return false;
    }
  }

  std::optional<Place> placeOf(PHINode &Other) const {
    Place P = {&Other, nullptr, nullptr, nullptr};
    for (auto [V, From] : zip(Other.incoming_values(), Other.blocks())) {
      if (PHI.getIncomingValueForBlock(From) == Old) {
        P.Old = dyn_cast<PHINode>(V);
        continue;
      }
      auto *Select = dyn_cast<SelectInst>(V);
      if (!Select || (P.Select && P.Select != Select))
        return std::nullopt;
      P.Select = Select;
    }
    if (!P.Old || !P.Select || P.Old->getParent() != L.getHeader() || P.Select->getFalseValue() != P.Old || P.Select->getTrueValue() == P.Old)
      return std::nullopt;
    for (auto [V, From] : zip(Other.incoming_values(), Other.blocks()))
      if (V != P.Old && V != P.Select)
        return std::nullopt;
    P.Compare = dyn_cast<CmpInst>(P.Select->getCondition());
    if (!P.Compare || !tells(*P.Compare) || !P.Select->hasOneUser())
      return std::nullopt;
    return P;
  }

  PHINode *chosen(PHINode &Of, Value *Kept, Value *Taken, Constant *Otherwise) {
    PHINode *New = PHINode::Create(Otherwise->getType(), Of.getNumIncomingValues(), "masked", Join.begin());
    for (auto [V, From] : zip(Of.incoming_values(), Of.blocks()))
      New->addIncoming(V == Kept ? cast<Value>(Otherwise) : Taken, From);
    return New;
  }

  // The sum in order by what is chosen. What its flags exclude may be there where nothing was added.
  Instruction *inOrder(Value *X) {
    bool Rounded = Operation != Update;
    Value *Factor = isFused(Operation) ? Operation->getOperand(1) : nullptr;
    if (Factor)
      Factor = chosen(PHI, Old, Factor, ConstantFP::get(Factor->getType(), 0.0));
    // (What is inserted later comes first.)
    Instruction *Narrow = Rounded ? again(*Update, {}) : nullptr;
    Instruction *New = again(*Operation, {});
    Instruction *Wide = Rounded ? again(*cast<Instruction>(Kept), {}) : nullptr;
    for (Use &U : New->operands()) {
      if (U.get() == Kept)
        U.set(Wide ? cast<Value>(Wide) : Kept);
      else if (Factor && U.getOperandNo() == 1)
        U.set(Factor);
      else if (isa<BinaryOperator>(New) || U.getOperandNo() == 0)
        U.set(X);
    }
    if (Narrow)
      Narrow->setOperand(0, New);
    for (Instruction *I : {Narrow, New, Wide})
      if (isa_and_nonnull<FPMathOperator>(I)) {
        I->setHasNoNaNs(false);
        I->setHasNoInfs(false);
        I->setHasNoSignedZeros(false);
      }
    return Narrow ? Narrow : New;
  }

  Instruction *again(Instruction &I, ArrayRef<std::pair<Value *, Value *>> Instead) {
    Instruction *New = I.clone();
    for (Use &U : New->operands())
      for (auto [From, To] : Instead)
        if (U.get() == From) {
          U.set(To);
          break;
        }
    if (isa<OverflowingBinaryOperator, PossiblyDisjointInst>(New))
      New->dropPoisonGeneratingFlags();
    New->dropUnknownNonDebugMetadata();
    New->insertBefore(Join.getFirstInsertionPt());
    return New;
  }

public:
  Masked(BasicBlock &Join, PHINode &PHI, const Loop &L) : Join(Join), PHI(PHI), L(L) {}

  bool match() {
    for (Value *V : PHI.incoming_values())
      if (auto *P = dyn_cast<PHINode>(V); P && P->getParent() == L.getHeader())
        Old = P;
    if (!Old || !(PHI.getType()->isIntegerTy() || PHI.getType()->isFloatTy() || PHI.getType()->isDoubleTy()) || !isHandedOn())
      return false;
    for (Value *V : PHI.incoming_values()) {
      if (V == Old)
        continue;
      auto *I = dyn_cast<Instruction>(V);
      if (!I || I->getParent() == &Join || (Update && Update != I) || !L.contains(I) || isInside(*I))
        return false;
      Update = I;
    }
    // (Nobody else looks at what it is in between.)
    return Update && all_of(Update->users(), [&](User *U) { return U == &PHI; }) && isUpdate(*Update) && By != Old;
  }

  // Whether an instruction is of an inner loop, which hands on what is updated there.
  bool isInside(const Instruction &I) const {
    return any_of(L.getSubLoops(), [&](const Loop *Inner) { return Inner->contains(&I); });
  }

  void rewrite() {
    SmallVector<Place, 2> Places;
    for (PHINode &Other : Join.phis())
      if (&Other != &PHI)
        if (auto P = placeOf(Other))
          Places.push_back(*P);
    PHINode *X = chosen(PHI, Old, By, Neutral);
    SmallVector<PHINode *, 2> Xs;
    for (Place &P : Places)
      Xs.push_back(chosen(*P.PHI, P.Old, P.Select->getTrueValue(), Constant::getNullValue(P.PHI->getType())));
    // (What is inserted later comes first.)
    SmallDenseMap<CmpInst *, SmallVector<std::pair<Instruction *, Place *>, 2>> Selections;
    Instruction *New = Operation ? inOrder(X) : again(*Update, {{By, X}});
    for (auto [P, Taken] : zip(Places, Xs)) {
      Instruction *Select = again(*P.Select, {{P.Select->getTrueValue(), Taken}});
      Selections[P.Compare].push_back({Select, &P});
    }
    Instruction *Own = nullptr;
    if (Compare) {
      Own = again(*Compare, {{By, X}});
      New->setOperand(0, Own);
    }
    for (Place &P : Places) {
      auto &Of = Selections[P.Compare];
      if (Of.empty())
        continue;
      Instruction *C = P.Compare == Compare ? Own : again(*P.Compare, {{By, X}});
      for (auto &[Select, Mine] : Of) {
        Select->setOperand(0, C);
        Mine->PHI->replaceAllUsesWith(Select);
        Mine->PHI->eraseFromParent();
      }
      Of.clear();
    }
    PHI.replaceAllUsesWith(New);
    PHI.eraseFromParent();
    if (Operation)
      RecursivelyDeleteTriviallyDeadInstructions(Update);
  }
};

// Whether a value can be used at the end of a block.
bool isReady(const Value *V, const BasicBlock &BB, const DominatorTree &DT) {
  auto *I = dyn_cast<Instruction>(V);
  return !I || DT.dominates(I, BB.getTerminator());
}

// Of `if (value < old) old = value;`, where the join has more ways into it, the branch becomes a selection.
// `Empty` is the block where the value is taken.
bool selectTaken(BasicBlock &Empty, BasicBlock &Join, const Loop &L, const DominatorTree &DT) {
  BasicBlock *From = Empty.getSinglePredecessor();
  auto *Branch = From ? dyn_cast<BranchInst>(From->getTerminator()) : nullptr;
  if (!Branch || Branch->isUnconditional() || &Empty.front() != Empty.getTerminator() || Empty.getSingleSuccessor() != &Join)
    return false;
  bool Taken = Branch->getSuccessor(0) == &Empty;
  auto *Compare = dyn_cast<CmpInst>(Branch->getCondition());
  if (Branch->getSuccessor(Taken ? 1 : 0) != &Join || !Compare || !(Taken || Compare->hasOneUse()))
    return false;
  bool Found = false;
  for (PHINode &PHI : Join.phis()) {
    Value *New = PHI.getIncomingValueForBlock(&Empty), *Old = PHI.getIncomingValueForBlock(From);
    if (!isReady(New, *From, DT) || !isReady(Old, *From, DT))
      return false;
    auto *Handed = dyn_cast<PHINode>(Old);
    bool Own = (Compare->getOperand(0) == New && Compare->getOperand(1) == Old) || (Compare->getOperand(0) == Old && Compare->getOperand(1) == New);
    Found |= Handed && Handed->getParent() == L.getHeader() && Own;
  }
  if (!Found)
    return false;
  if (!Taken)
    Compare->setPredicate(Compare->getInversePredicate());
  IRBuilder<> B(Branch);
  for (PHINode &PHI : Join.phis()) {
    Value *New = PHI.getIncomingValueForBlock(&Empty), *Old = PHI.getIncomingValueForBlock(From);
    if (New != Old)
      PHI.setIncomingValueForBlock(&Empty, B.CreateSelect(Compare, New, Old));
    PHI.removeIncomingValue(From, /*DeletePHIIfEmpty=*/false);
  }
  B.CreateBr(&Empty);
  Branch->eraseFromParent();
  return true;
}

bool partMasked(BasicBlock &Head, LoopInfo &LI, DominatorTree &DT, PostDominatorTree &PDT, ScalarEvolution &SE) {
  BasicBlock *Join = pollyrs::joinBehind(Head, LI, DT, PDT);
  if (!Join)
    return false;
  const Loop &L = *LI.getLoopFor(&Head);
  if (!pollyrs::dependsOnData(cast<BranchInst>(Head.getTerminator())->getCondition(), *L.getOutermostLoop(), SE))
    return false;
  for (BasicBlock *From : predecessors(Join))
    if (From != &Head && From->getSinglePredecessor() != &Head && L.contains(From) && selectTaken(*From, *Join, L, DT))
      return true;
  for (PHINode &PHI : Join->phis()) {
    Masked M(*Join, PHI, L);
    if (!M.match())
      continue;
    M.rewrite();
    return true;
  }
  return false;
}
} // namespace

extern "C" bool prs_part_masked(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (bool Again = true; Again && S->work(F);) {
    Again = false;
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    PostDominatorTree &PDT = S->FAM.getResult<PostDominatorTreeAnalysis>(F);
    ScalarEvolution &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
    DenseSet<const Loop *> Blocked = pollyrs::blockedLoops(*S, LI);
    for (BasicBlock &BB : F) {
      if (Blocked.contains(LI.getLoopFor(&BB)) || !partMasked(BB, LI, DT, PDT, SE))
        continue;
      Changed = Again = true;
      S->FAM.invalidate(F, PreservedAnalyses::none());
      break;
    }
  }
  return Changed;
}
