// Loads of the element that a loop has chosen so far, kept beside its index; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

namespace {
class LatestLoads {
  // Choices of one loop that are followed: values made of an index.
  static constexpr unsigned MaxChoices = 16;

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
    for (LoadInst *Load : Loads) {
      auto *Other = dyn_cast<GetElementPtrInst>(Load->getPointerOperand());
      if (!Other || Load->getType() != Chosen->getType() || Other->getSourceElementType() != Place->getSourceElementType() ||
          Other->getNumOperands() != Place->getNumOperands() || !DT.dominates(Load, Where))
        continue;
      bool Same = true;
      for (unsigned Op = 0; Same && Op < Other->getNumOperands(); ++Op)
        Same = Op == At ? isWidened(Other->getOperand(Op), V) : Other->getOperand(Op) == Place->getOperand(Op);
      if (Same)
        return Load;
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
    auto *P = PHINode::Create(Chosen->getType(), Incoming.size(), "", Phi->getIterator());
    for (auto &[E, From] : Incoming)
      P->addIncoming(E, From);
    New.push_back(P);
    return Made[V] = P;
  }

  bool keep(LoadInst &Load) {
    if (!isOfIndex(Load) || !Safety.isGuaranteedToExecute(Load, &DT, &L) || !isRead(Place->getPointerOperand()))
      return false;
    Chosen = &Load, Choices = 0;
    Made.clear(), New.clear();
    Kept = PHINode::Create(Load.getType(), 2, "", L.getHeader()->begin());
    Value *Next = element(Index->getIncomingValueForBlock(Latch), Latch->getTerminator());
    if (!Next) {
      for (auto *I : New)
        I->replaceAllUsesWith(PoisonValue::get(I->getType()));
      for (auto *I : New)
        I->eraseFromParent();
      Kept->eraseFromParent();
      return false;
    }
    IRBuilder<> Builder(Preheader->getTerminator());
    Value *First = Index->getIncomingValueForBlock(Preheader);
    if (Cast)
      First = Builder.CreateCast(Cast->getOpcode(), First, Cast->getType());
    auto *FirstPlace = cast<GetElementPtrInst>(Place->clone());
    FirstPlace->setOperand(At, First);
    Builder.Insert(FirstPlace);
    auto *FirstLoad = Builder.CreateAlignedLoad(Load.getType(), FirstPlace, Load.getAlign());
    FirstLoad->setDebugLoc(Load.getDebugLoc());
    Kept->addIncoming(FirstLoad, Preheader);
    Kept->addIncoming(Next, Latch);
    Load.replaceAllUsesWith(Kept);
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
