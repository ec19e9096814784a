// Pointers among which a loop chooses to indices; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <functional>

using namespace llvm;
using pollyrs::Session;

namespace {
class Positions {
  // Values among which is chosen.
  static constexpr unsigned MaxChoices = 16;

  Loop &L;
  ScalarEvolution &SE;
  DominatorTree &DT;
  PHINode &Chosen;
  Value *Base;
  // Bytes from element to element.
  int64_t Unit = 0;
  // What chooses, and what is chosen: pointers that go through the elements, with the first index and the
  // step.
  SmallSetVector<Instruction *, 8> Choices;
  MapVector<Value *, std::pair<int64_t, int64_t>> Ends;

  bool isEnd(Value *V) {
    const SCEV *S = SE.getSCEV(V);
    int64_t Step = 0;
    if (auto *Rec = dyn_cast<SCEVAddRecExpr>(S); Rec && Rec->getLoop() == &L && Rec->isAffine()) {
      auto *By = dyn_cast<SCEVConstant>(Rec->getStepRecurrence(SE));
      if (!By || By->isZero())
        return false;
      Step = By->getAPInt().getSExtValue();
      S = Rec->getStart();
    } else if (!SE.isLoopInvariant(S, &L)) {
      return false;
    }
    auto *Distance = dyn_cast<SCEVConstant>(SE.getMinusSCEV(S, SE.getSCEV(Base)));
    if (!Distance)
      return false;
    // In the loop itself, where its index is.
    if (Step && (!isa<Instruction>(V) || !L.contains(cast<Instruction>(V)) || (Unit && std::abs(Step) != Unit)))
      return false;
    if (Step)
      Unit = std::abs(Step);
    Ends[V] = {Distance->getAPInt().getSExtValue(), Step};
    return true;
  }

  bool follow(Value *V) {
    if (V == &Chosen)
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L.contains(I) || isa<SCEVAddRecExpr>(SE.getSCEV(V)) || !isa<SelectInst, PHINode>(I))
      return isEnd(V);
    if (Choices.contains(I))
      return true;
    // Of a loop inside, the header's choice is made again and again.
    if (Choices.size() == MaxChoices || (isa<PHINode>(I) && I->getParent() == L.getHeader()))
      return false;
    Choices.insert(I);
    if (auto *Select = dyn_cast<SelectInst>(I))
      return follow(Select->getTrueValue()) && follow(Select->getFalseValue());
    return all_of(cast<PHINode>(I)->incoming_values(), [&](Use &U) { return follow(U.get()); });
  }

  // What leaves the loop is an index, too, and the pointer is made of it there.
  template <class Make> void leave(DenseMap<Value *, Value *> &Index, Make At) {
    SmallSetVector<PHINode *, 4> Left;
    for (Instruction *I : Choices)
      for (User *U : I->users())
        if (auto *Phi = dyn_cast<PHINode>(U); Phi && !L.contains(Phi))
          Left.insert(Phi);
    for (PHINode *Phi : Left) {
      if (!all_of(Phi->incoming_values(), [&](Use &U) { return Index.lookup(U.get()); }))
        continue;
      auto *Number = PHINode::Create(Index[&Chosen]->getType(), Phi->getNumIncomingValues(), "index", Phi->getIterator());
      for (auto [Value, Block] : zip(Phi->incoming_values(), Phi->blocks()))
        Number->addIncoming(Index[Value], Block);
      Phi->replaceAllUsesWith(At(Number, Phi->getParent()->getFirstInsertionPt()));
      Phi->eraseFromParent();
    }
  }

public:
  Positions(Loop &L, ScalarEvolution &SE, DominatorTree &DT, PHINode &Chosen)
      : L(L), SE(SE), DT(DT), Chosen(Chosen), Base(Chosen.getIncomingValueForBlock(L.getLoopPreheader())) {}

  // Whether the pointer is one of elements equally far apart, the first of which is what it begins with.
  bool isChoice() {
    Value *Next = Chosen.getIncomingValueForBlock(L.getLoopLatch());
    return L.isLoopInvariant(Base) && isa<Instruction>(Next) && follow(Next) && Unit && !Choices.empty() &&
           all_of(Ends, [&](auto &E) { return E.second.first % Unit == 0; });
  }

  void rewrite() {
    Type *Word = Type::getInt64Ty(Chosen.getContext());
    SCEVExpander Expander(SE, "position");
    DenseMap<Value *, Value *> Index;
    auto Behind = [](Instruction *I) { return isa<PHINode>(I) ? I->getParent()->getFirstInsertionPt() : std::next(I->getIterator()); };
    auto At = [&](Value *Number, BasicBlock::iterator Place) {
      IRBuilder<> B(Place->getParent(), Place);
      return B.CreateGEP(ArrayType::get(B.getInt8Ty(), Unit), Base, Number, "at");
    };
    for (auto &[End, From] : Ends) {
      const SCEV *First = SE.getConstant(Word, From.first / Unit, /*isSigned=*/true);
      if (!From.second) {
        Index[End] = cast<SCEVConstant>(First)->getValue();
        continue;
      }
      const SCEV *Step = SE.getConstant(Word, From.second / Unit, /*isSigned=*/true);
      BasicBlock::iterator Place = Behind(cast<Instruction>(End));
      Index[End] = Expander.expandCodeFor(SE.getAddRecExpr(First, Step, &L, SCEV::FlagAnyWrap), Word, Place);
      // What is loaded of the elements is loaded by their indices, so that one sees which are the same.
      auto *Pointer = cast<Instruction>(At(Index[End], Place));
      End->replaceUsesWithIf(Pointer, [&](Use &U) {
        auto *Load = dyn_cast<LoadInst>(U.getUser());
        return Load && L.contains(Load) && DT.dominates(Pointer, Load);
      });
    }
    auto *Number = PHINode::Create(Word, 2, "index", Chosen.getIterator());
    Index[&Chosen] = Number;
    for (Instruction *I : Choices)
      if (auto *Phi = dyn_cast<PHINode>(I))
        Index[I] = PHINode::Create(Word, Phi->getNumIncomingValues(), "index", Phi->getIterator());
    // A choice among choices comes behind these.
    std::function<Value *(Value *)> Of = [&](Value *V) -> Value * {
      if (Value *Known = Index.lookup(V))
        return Known;
      auto *Select = cast<SelectInst>(V);
      Value *Yes = Of(Select->getTrueValue()), *No = Of(Select->getFalseValue());
      return Index[V] = SelectInst::Create(Select->getCondition(), Yes, No, "index", Select->getIterator());
    };
    for (Instruction *I : Choices)
      Of(I);
    for (Instruction *I : Choices)
      if (auto *Phi = dyn_cast<PHINode>(I))
        for (auto [Value, Block] : zip(Phi->incoming_values(), Phi->blocks()))
          cast<PHINode>(Index[I])->addIncoming(Of(Value), Block);
    Number->addIncoming(ConstantInt::get(Word, 0), L.getLoopPreheader());
    Number->addIncoming(Of(Chosen.getIncomingValueForBlock(L.getLoopLatch())), L.getLoopLatch());
    Choices.insert(&Chosen);
    leave(Index, At);
    for (Instruction *I : Choices) {
      auto *New = cast<Instruction>(Index[I]);
      Value *Pointer = At(New, Behind(isa<PHINode>(I) ? I : New));
      I->replaceUsesWithIf(Pointer, [&](Use &U) { return !Choices.contains(dyn_cast<Instruction>(U.getUser())); });
    }
    for (Instruction *I : Choices)
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
    for (Instruction *I : Choices)
      I->eraseFromParent();
  }
};
} // namespace

extern "C" bool prs_index_choices(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    if (!L->isLoopSimplifyForm() || !S->work(*L))
      continue;
    auto &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
    for (PHINode &Phi : make_early_inc_range(L->getHeader()->phis())) {
      if (!Phi.getType()->isPointerTy() || Phi.getType()->getPointerAddressSpace() || isa<SCEVAddRecExpr>(SE.getSCEV(&Phi)))
        continue;
      Positions P(*L, SE, S->FAM.getResult<DominatorTreeAnalysis>(F), Phi);
      if (!P.isChoice())
        continue;
      P.rewrite();
      Changed = true;
      break;
    }
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
