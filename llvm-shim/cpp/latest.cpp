// Loads of the element that a loop has chosen so far, kept beside its index; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Session;

namespace {
class LatestLoads {
  // Choices of one loop that are followed: values made of an index.
  static constexpr unsigned MaxChoices = 16;
  // Operations between an index and an address.
  static constexpr unsigned MaxDepth = 8;

  Loop &L;
  ScalarEvolution &SE;
  DominatorTree &DT;
  AAResults &AA;
  SimpleLoopSafetyInfo Safety;
  BasicBlock *Latch = L.getLoopLatch(), *Preheader = L.getLoopPreheader();
  SmallVector<LoadInst *, 8> Loads;
  // Of the load that is replaced: its place, the operand that the index is, what widens it.
  GetElementPtrInst *Place = nullptr;
  unsigned At = 0;
  CastInst *Cast = nullptr;
  PHINode *Index = nullptr, *Kept = nullptr;
  LoadInst *Chosen = nullptr;
  // What the place is computed from otherwise, if the index is no operand of it: the object, and the place in
  // it for the index before the first iteration.
  Value *Base = nullptr;
  const SCEV *First = nullptr;
  // What the loop wants of the element alone: its absolute value, say.
  Instruction *Wanted = nullptr;
  unsigned Choices = 0;
  // What was made for a choice; null while it is being made.
  DenseMap<Value *, Value *> Made;
  SmallVector<Instruction *, 8> New;

  // Whether nothing in the loop writes what a pointer leads to.
  bool isRead(Value *Base) {
    for (auto *Block : L.blocks())
      for (auto &I : *Block)
        if (I.mayWriteToMemory() && isModSet(AA.getModRefInfo(&I, MemoryLocation::getBeforeOrAfter(Base))))
          return false;
    return true;
  }

  // Whether `Load` is of an element whose place depends on nothing in the loop but on the index.
  bool isOfIndex(LoadInst &Load) {
    Place = dyn_cast<GetElementPtrInst>(Load.getPointerOperand());
    if (!Load.isSimple() || !Place)
      return false;
    Index = nullptr;
    for (unsigned Op = 1; Op < Place->getNumOperands(); ++Op) {
      auto *Wider = dyn_cast<CastInst>(Place->getOperand(Op));
      auto *Phi = dyn_cast<PHINode>(Wider ? Wider->getOperand(0) : Place->getOperand(Op));
      if (!Phi || Phi->getParent() != L.getHeader() || !SE.isSCEVable(Phi->getType()) || isa<SCEVAddRecExpr>(SE.getSCEV(Phi)))
        continue;
      if (Index || (Wider && !isa<SExtInst>(Wider) && !isa<ZExtInst>(Wider)))
        return false;
      Index = Phi, Cast = Wider, At = Op;
    }
    // What the place is computed from otherwise is computed before the loop.
    for (unsigned Op = 0; Index && Op < Place->getNumOperands(); ++Op)
      if (bool Moved; Op != At && !L.makeLoopInvariant(Place->getOperand(Op), Moved, Preheader->getTerminator(), nullptr, &SE))
        return false;
    return Index;
  }

  // The value of an integer that the address of an access is computed from, in 64 bits, with `Of` for the
  // index. What is said not to wrap doesn't, as the access would have no address.
  const SCEV *wide(Value *V, const SCEV *Of, unsigned Depth = 0) {
    if (V == Index)
      return Of;
    if (!V->getType()->isIntegerTy() || V->getType()->getIntegerBitWidth() > 64)
      return nullptr;
    auto *I = Depth < MaxDepth ? dyn_cast<Instruction>(V) : nullptr;
    auto Operand = [&](unsigned N) { return wide(I->getOperand(N), Of, Depth + 1); };
    if (I && (isa<SExtInst>(I) || (isa<ZExtInst>(I) && I->hasNonNeg()) || (isa<TruncInst>(I) && cast<TruncInst>(I)->hasNoSignedWrap())))
      if (I->getOperand(0)->getType()->getIntegerBitWidth() <= 64)
        return Operand(0);
    auto *Sum = dyn_cast_or_null<OverflowingBinaryOperator>(I);
    if (Sum && I->getOpcode() != Instruction::Shl && (V->getType()->isIntegerTy(64) || Sum->hasNoSignedWrap())) {
      auto *Left = Operand(0), *Right = Left ? Operand(1) : nullptr;
      if (!Right)
        return nullptr;
      return I->getOpcode() == Instruction::Add   ? SE.getAddExpr(Left, Right)
             : I->getOpcode() == Instruction::Sub ? SE.getMinusSCEV(Left, Right)
                                                  : SE.getMulExpr(Left, Right);
    }
    return SE.getNoopOrSignExtend(SE.getSCEV(V), Type::getInt64Ty(V->getContext()));
  }

  // The object that an address is in, and the place in it, with `Of` for the index.
  std::pair<Value *, const SCEV *> place(Value *Pointer, const SCEV *Of) {
    const DataLayout &Layout = L.getHeader()->getModule()->getDataLayout();
    auto *Ty = Type::getInt64Ty(Pointer->getContext());
    const SCEV *Sum = SE.getZero(Ty);
    if (Layout.getIndexTypeSizeInBits(Pointer->getType()) != 64)
      return {nullptr, nullptr};
    for (unsigned N = 0; N < MaxDepth; ++N) {
      auto *Step = dyn_cast<GEPOperator>(Pointer);
      if (!Step)
        return {Pointer, Sum};
      SmallMapVector<Value *, APInt, 4> Offsets;
      APInt Constant(64, 0);
      if (Step->getType()->isVectorTy() || !Step->collectOffset(Layout, 64, Offsets, Constant))
        return {nullptr, nullptr};
      Sum = SE.getAddExpr(Sum, SE.getConstant(Constant));
      for (auto &[V, Scale] : Offsets) {
        auto *Factor = wide(V, Of);
        if (!Factor)
          return {nullptr, nullptr};
        Sum = SE.getAddExpr(Sum, SE.getMulExpr(Factor, SE.getConstant(Scale)));
      }
      Pointer = Step->getPointerOperand();
    }
    return {nullptr, nullptr};
  }

  // A value of the index in 64 bits.
  const SCEV *widened(Value *V) {
    auto *Narrow = dyn_cast<TruncInst>(V);
    V = Narrow && Narrow->hasNoSignedWrap() && Narrow->getOperand(0)->getType()->isIntegerTy(64) ? Narrow->getOperand(0) : V;
    return SE.getNoopOrSignExtend(SE.getSCEV(V), Type::getInt64Ty(V->getContext()));
  }

  // Whether `Load` is of an element whose place is computed from one index and what doesn't change.
  bool isComputed(LoadInst &Load) {
    if (!Load.isSimple())
      return false;
    auto *Ty = Type::getInt64Ty(Load.getContext());
    for (PHINode &Phi : L.getHeader()->phis()) {
      if (!Phi.getType()->isIntegerTy() || Phi.getType()->getIntegerBitWidth() > 64 || isa<SCEVAddRecExpr>(SE.getSCEV(&Phi)))
        continue;
      Index = &Phi;
      auto [Object, At] = place(Load.getPointerOperand(), widened(Phi.getIncomingValueForBlock(Preheader)));
      if (!Object || !L.isLoopInvariant(Object) || !SE.isLoopInvariant(At, &L) ||
          place(Load.getPointerOperand(), SE.getZero(Ty)).second == place(Load.getPointerOperand(), SE.getOne(Ty)).second)
        continue;
      Base = Object, First = SE.getAddExpr(SE.getSCEV(Object), At);
      return SCEVExpander(SE, "latest").isSafeToExpandAt(First, Preheader->getTerminator());
    }
    return false;
  }

  // What the loop wants of the chosen element, of one that it has loaded; null if it has not computed it.
  Value *wanted(LoadInst *Load, Instruction *Where) {
    if (!Wanted)
      return Load;
    for (User *U : Load->users()) {
      auto *I = dyn_cast<Instruction>(U);
      if (!I || I == Wanted || !I->isSameOperationAs(Wanted) || !I->hasSameSubclassOptionalData(Wanted) || !DT.dominates(I, Where))
        continue;
      bool Same = true;
      for (unsigned Op = 0; Same && Op < I->getNumOperands(); ++Op)
        Same = Wanted->getOperand(Op) == Chosen ? I->getOperand(Op) == Load : I->getOperand(Op) == Wanted->getOperand(Op);
      if (Same)
        return I;
    }
    return nullptr;
  }

  // The only thing that is computed of a load, if it is something that depends on nothing else in the loop.
  Instruction *onlyUse(LoadInst &Load) {
    auto *I = Load.hasOneUse() ? dyn_cast<Instruction>(*Load.user_begin()) : nullptr;
    if (!I || !L.contains(I) || isa<PHINode>(I) || I->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(I) || I->getType()->isVoidTy())
      return nullptr;
    bool Alone = all_of(I->operands(), [&](Value *V) { return V == &Load || isa<Constant>(V); });
    return Alone ? I : nullptr;
  }

  // Whether an operand of a place is a value of the index, widened as that of the chosen load.
  bool isWidened(Value *Operand, Value *V) {
    if (!Cast)
      return Operand == V;
    bool Signed = isa<SExtInst>(Cast);
    if (auto *Wider = dyn_cast<CastInst>(Operand); Wider && Wider->getOpcode() == Cast->getOpcode() && Wider->getOperand(0) == V)
      return true;
    if (auto *Narrow = dyn_cast<TruncInst>(V); Narrow && Narrow->getOperand(0) == Operand)
      return Signed ? Narrow->hasNoSignedWrap() : Narrow->hasNoUnsignedWrap();
    if (!SE.isSCEVable(V->getType()) || Operand->getType() != Cast->getType())
      return false;
    auto *Wide = Signed ? SE.getSignExtendExpr(SE.getSCEV(V), Operand->getType()) : SE.getZeroExtendExpr(SE.getSCEV(V), Operand->getType());
    return Wide == SE.getSCEV(Operand);
  }

  // What the loop has loaded, before `Where`, of the element of index `V`.
  Value *loaded(Value *V, Instruction *Where) {
    if (First) {
      if (!SE.isSCEVable(V->getType()))
        return nullptr;
      auto At = place(Chosen->getPointerOperand(), widened(V));
      for (LoadInst *Load : Loads)
        if (Load != Chosen && Load->getType() == Chosen->getType() && DT.dominates(Load, Where) && At.first &&
            place(Load->getPointerOperand(), widened(Index)) == At)
          if (Value *Found = wanted(Load, Where))
            return Found;
      return nullptr;
    }
    for (LoadInst *Load : Loads) {
      auto *Other = dyn_cast<GetElementPtrInst>(Load->getPointerOperand());
      if (!Other || Load->getType() != Chosen->getType() || Other->getSourceElementType() != Place->getSourceElementType() ||
          Other->getNumOperands() != Place->getNumOperands() || !DT.dominates(Load, Where))
        continue;
      bool Same = true;
      for (unsigned Op = 0; Same && Op < Other->getNumOperands(); ++Op)
        Same = Op == At ? isWidened(Other->getOperand(Op), V) : Other->getOperand(Op) == Place->getOperand(Op);
      if (Same)
        if (Value *Found = wanted(Load, Where))
          return Found;
    }
    return nullptr;
  }

  // The element of the index `V`, which is used at `Where`.
  Value *element(Value *V, Instruction *Where) {
    if (V == Index)
      return Kept;
    if (auto Found = Made.find(V); Found != Made.end())
      return Found->second;
    if (Value *Load = loaded(V, Where))
      return Load;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L.contains(I) || ++Choices > MaxChoices)
      return nullptr;
    Made[V] = nullptr;
    if (auto *Select = dyn_cast<SelectInst>(I)) {
      Value *True = element(Select->getTrueValue(), Select), *False = True ? element(Select->getFalseValue(), Select) : nullptr;
      if (!False)
        return nullptr;
      auto *S = SelectInst::Create(Select->getCondition(), True, False, "", Select->getIterator());
      New.push_back(S);
      return Made[V] = S;
    }
    auto *Phi = dyn_cast<PHINode>(I);
    if (!Phi || Phi->getParent() == L.getHeader())
      return nullptr;
    SmallVector<std::pair<Value *, BasicBlock *>, 4> Incoming;
    for (unsigned N = 0; N < Phi->getNumIncomingValues(); ++N) {
      auto *From = Phi->getIncomingBlock(N);
      Value *E = L.contains(From) ? element(Phi->getIncomingValue(N), From->getTerminator()) : nullptr;
      if (!E)
        return nullptr;
      Incoming.push_back({E, From});
    }
    auto *P = PHINode::Create(Kept->getType(), Incoming.size(), "", Phi->getIterator());
    for (auto &[E, From] : Incoming)
      P->addIncoming(E, From);
    New.push_back(P);
    return Made[V] = P;
  }

  // The element before the first iteration.
  Value *first(LoadInst &Load) {
    IRBuilder<> Builder(Preheader->getTerminator());
    Value *Pointer = nullptr;
    if (First) {
      Pointer = SCEVExpander(SE, "latest").expandCodeFor(First, Load.getPointerOperandType(), Preheader->getTerminator()->getIterator());
    } else {
      Value *Start = Index->getIncomingValueForBlock(Preheader);
      if (Cast)
        Start = Builder.CreateCast(Cast->getOpcode(), Start, Cast->getType());
      auto *FirstPlace = cast<GetElementPtrInst>(Place->clone());
      FirstPlace->setOperand(At, Start);
      Pointer = Builder.Insert(FirstPlace);
    }
    auto *FirstLoad = Builder.CreateAlignedLoad(Load.getType(), Pointer, Load.getAlign());
    FirstLoad->setDebugLoc(Load.getDebugLoc());
    if (!Wanted)
      return FirstLoad;
    Instruction *Same = Wanted->clone();
    Same->replaceUsesOfWith(&Load, FirstLoad);
    return Builder.Insert(Same);
  }

  bool keep(LoadInst &Load) {
    First = nullptr;
    if (!isOfIndex(Load) && !isComputed(Load))
      return false;
    if (!Safety.isGuaranteedToExecute(Load, &DT, &L) || !isRead(First ? Base : Place->getPointerOperand()))
      return false;
    Chosen = &Load, Choices = 0, Wanted = onlyUse(Load);
    Made.clear(), New.clear();
    Instruction *Old = Wanted ? Wanted : &Load;
    Kept = PHINode::Create(Old->getType(), 2, "", L.getHeader()->begin());
    Value *Next = element(Index->getIncomingValueForBlock(Latch), Latch->getTerminator());
    if (!Next) {
      for (auto *I : New)
        I->replaceAllUsesWith(PoisonValue::get(I->getType()));
      for (auto *I : New)
        I->eraseFromParent();
      Kept->eraseFromParent();
      return false;
    }
    Kept->addIncoming(first(Load), Preheader);
    Kept->addIncoming(Next, Latch);
    Old->replaceAllUsesWith(Kept);
    Old->eraseFromParent();
    if (Wanted)
      Load.eraseFromParent();
    return true;
  }

public:
  LatestLoads(Loop &L, ScalarEvolution &SE, DominatorTree &DT, AAResults &AA) : L(L), SE(SE), DT(DT), AA(AA) {}

  // Whether there was a load to replace.
  bool run() {
    if (!Latch || !Preheader || !L.isInnermost())
      return false;
    Safety.computeLoopSafetyInfo(&L);
    for (auto *Block : L.blocks())
      for (auto &I : *Block)
        if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple())
          Loads.push_back(Load);
    for (LoadInst *Load : Loads)
      if (keep(*Load))
        return true;
    return false;
  }
};
} // namespace

extern "C" bool prs_keep_latest(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false, Again = true;
  while (Again && S->work(F)) {
    Again = false;
    for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (LatestLoads(*L, S->FAM.getResult<ScalarEvolutionAnalysis>(F), S->FAM.getResult<DominatorTreeAnalysis>(F), S->FAM.getResult<AAManager>(F)).run()) {
        Changed = Again = true;
        S->FAM.invalidate(F, PreservedAnalyses::none());
        break;
      }
  }
  return Changed;
}
