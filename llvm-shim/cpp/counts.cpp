// Counts that go up where something is stored, apart from the stores: of
//   if (a && b) { out[k] = v; k += 1; }
// with conditions that load what need not be there, first how much is added is chosen, then the store follows
// if that is not 0. The program does the same as before; that the count goes up is a statement of its own
// then.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// Ways with more blocks are not looked at, no more instructions made again, and nothing larger added.
constexpr unsigned MaxCountBlocks = 12, MaxMadeAgain = 24, MaxCountStep = 1024;

class DividedCount {
  BasicBlock &Head, &Join;
  LoopInfo &LI;
  DominatorTree &DT;
  PHINode &PHI;
  // The count before, what is added, and where.
  PHINode *Old = nullptr;
  ConstantInt *Step = nullptr;
  BasicBlock *Arm = nullptr;
  SmallPtrSet<BasicBlock *, MaxCountBlocks> Ways;
  // What the arm needs of the blocks before it, every definition before its uses.
  SmallVector<Instruction *, 8> Again;

  bool isReady(const Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return !I || DT.dominates(I, Head.getTerminator());
  }

  // Whether the PHI keeps what the loop's head has on all ways but that through one block, which adds a
  // number.
  bool isCount() {
    for (auto [V, From] : zip(PHI.incoming_values(), PHI.blocks())) {
      auto *Add = dyn_cast<BinaryOperator>(V);
      if (!Add) {
        auto *Kept = dyn_cast<PHINode>(V);
        if (!Kept || (Old && Kept != Old))
          return false;
        Old = Kept;
        continue;
      }
      if (Arm || Add->getOpcode() != Instruction::Add || !isa<ConstantInt>(Add->getOperand(1)))
        return false;
      Arm = From;
      Step = cast<ConstantInt>(Add->getOperand(1));
    }
    if (!Old || !Arm || Arm == &Head || Old->getParent() != LI.getLoopFor(&Head)->getHeader())
      return false;
    auto *Add = cast<BinaryOperator>(PHI.getIncomingValueForBlock(Arm));
    return Add->getOperand(0) == Old && Step->getValue().isStrictlyPositive() && Step->getValue().ule(MaxCountStep);
  }

  // Collects the blocks between; nothing but the arm has effects.
  bool walk(BasicBlock &BB) {
    if (&BB == &Join || Ways.contains(&BB))
      return true;
    if (Ways.size() == MaxCountBlocks || &BB == &Head || LI.getLoopFor(&BB) != LI.getLoopFor(&Head) || !DT.dominates(&Head, &BB) ||
        !isa<BranchInst>(BB.getTerminator()))
      return false;
    Ways.insert(&BB);
    for (Instruction &I : BB)
      if (!isGuaranteedToTransferExecutionToSuccessor(&I) || (&BB != Arm && I.mayHaveSideEffects()))
        return false;
    return all_of(successors(&BB), [&](BasicBlock *Next) { return walk(*Next); });
  }

  // Whether an address is computed from the count.
  bool leadsTo(const Value *V, unsigned Depth = 6) const {
    auto *I = dyn_cast<Instruction>(V);
    if (V == Old)
      return true;
    if (!I || !Depth || !(isa<GetElementPtrInst, CastInst>(I) || I->getOpcode() == Instruction::Add || I->getOpcode() == Instruction::Sub || I->getOpcode() == Instruction::Mul || I->getOpcode() == Instruction::Shl))
      return false;
    return any_of(I->operands(), [&](const Use &U) { return leadsTo(U.get(), Depth - 1); });
  }

  bool stores() const {
    bool Found = false;
    for (Instruction &I : *Arm) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (I.mayHaveSideEffects() && (!Store || !Store->isSimple()))
        return false;
      Found |= Store && leadsTo(Store->getPointerOperand());
    }
    return Found;
  }

  // Whether the arm can have a value, made again if it must be.
  bool canHave(Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    if (isReady(V) || I->getParent() == Arm || is_contained(Again, I))
      return true;
    if (!Ways.contains(I->getParent()) || isa<PHINode>(I) || I->mayHaveSideEffects() || Again.size() == MaxMadeAgain)
      return false;
    if (!all_of(I->operands(), [&](Use &U) { return canHave(U.get()); }))
      return false;
    Again.push_back(I);
    return Again.size() <= MaxMadeAgain;
  }

public:
  DividedCount(BasicBlock &Head, BasicBlock &Join, LoopInfo &LI, DominatorTree &DT, PHINode &PHI)
      : Head(Head), Join(Join), LI(LI), DT(DT), PHI(PHI) {}

  bool match() {
    if (!PHI.getType()->isIntegerTy() || !isCount() || Arm->getSingleSuccessor() != &Join || isa<PHINode>(Arm->front()))
      return false;
    if (!all_of(successors(&Head), [&](BasicBlock *Next) { return walk(*Next); }) || !Ways.contains(Arm) || !stores())
      return false;
    if (!all_of(predecessors(&Join), [&](BasicBlock *From) { return From == &Head || Ways.contains(From); }))
      return false;
    for (PHINode &Other : Join.phis()) {
      Value *Kept = nullptr;
      for (auto [V, From] : zip(Other.incoming_values(), Other.blocks())) {
        if (From == Arm)
          continue;
        if (!isReady(V) || (Kept && Kept != V))
          return false;
        Kept = V;
      }
      if (!Kept || !canHave(Other.getIncomingValueForBlock(Arm)))
        return false;
    }
    return all_of(*Arm, [&](Instruction &I) { return all_of(I.operands(), [&](Use &U) { return isa<BasicBlock>(U.get()) || canHave(U.get()); }); });
  }

  void rewrite() {
    Function &F = *Head.getParent();
    auto *Chosen = BasicBlock::Create(F.getContext(), "", &F, &Join), *Then = BasicBlock::Create(F.getContext(), "", &F, &Join);
    IRBuilder<> B(Chosen);
    PHINode *Added = B.CreatePHI(PHI.getType(), PHI.getNumIncomingValues(), "added");
    for (BasicBlock *From : PHI.blocks())
      Added->addIncoming(From == Arm ? cast<Constant>(Step) : Constant::getNullValue(PHI.getType()), From);
    B.SetCurrentDebugLocation(Arm->getTerminator()->getDebugLoc());
    Value *New = B.CreateAdd(Old, Added);
    B.CreateCondBr(B.CreateICmpNE(Added, Constant::getNullValue(PHI.getType())), Then, &Join);
    ValueToValueMapTy Map;
    for (Instruction *I : Again) {
      Instruction *Copy = I->clone();
      Copy->insertInto(Then, Then->end());
      RemapInstruction(Copy, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      Map[I] = Copy;
    }
    Then->splice(Then->end(), Arm, Arm->begin(), Arm->getTerminator()->getIterator());
    for (Instruction &I : *Then)
      RemapInstruction(&I, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    IRBuilder<> AtEnd(Then);
    AtEnd.SetCurrentDebugLocation(Arm->getTerminator()->getDebugLoc());
    AtEnd.CreateBr(&Join);
    SmallPtrSet<BasicBlock *, 8> Before(llvm::from_range, PHI.blocks());
    for (PHINode &Other : Join.phis()) {
      Value *Kept = nullptr, *Moved = Other.getIncomingValueForBlock(Arm);
      for (auto [V, From] : zip(Other.incoming_values(), Other.blocks()))
        Kept = From == Arm ? Kept : V;
      Other.removeIncomingValueIf([](unsigned) { return true; }, /*DeletePHIIfEmpty=*/false);
      Other.addIncoming(Kept, Chosen);
      Value *Copy = Map.lookup(Moved);
      Other.addIncoming(Copy ? Copy : Moved, Then);
    }
    for (BasicBlock *From : Before)
      From->getTerminator()->replaceSuccessorWith(&Join, Chosen);
    PHI.replaceAllUsesWith(New);
    PHI.eraseFromParent();
  }
};

bool divideCount(BasicBlock &Head, LoopInfo &LI, DominatorTree &DT, PostDominatorTree &PDT) {
  BasicBlock *Join = pollyrs::joinBehind(Head, LI, DT, PDT);
  if (!Join)
    return false;
  for (PHINode &PHI : Join->phis()) {
    DividedCount D(Head, *Join, LI, DT, PHI);
    if (!D.match())
      continue;
    D.rewrite();
    return true;
  }
  return false;
}
} // namespace

extern "C" bool prs_divide_counts(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (bool Again = true; Again && S->work(F);) {
    Again = false;
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    PostDominatorTree &PDT = S->FAM.getResult<PostDominatorTreeAnalysis>(F);
    DenseSet<const Loop *> Blocked = pollyrs::blockedLoops(*S, LI);
    for (BasicBlock &BB : F) {
      if (Blocked.contains(LI.getLoopFor(&BB)) || !divideCount(BB, LI, DT, PDT))
        continue;
      Changed = Again = true;
      S->FAM.invalidate(F, PreservedAnalyses::none());
      break;
    }
  }
  return Changed;
}
