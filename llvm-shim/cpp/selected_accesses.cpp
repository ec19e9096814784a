// Accesses by an address that data selects, as one access for each address under a condition;
// src/conditions.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// Values that are looked through for a selection.
constexpr unsigned MaxVisited = 256;

// A selection by data that the address `P` is computed with, in the same block, and the instructions from
// there to `P`, last one first.
SelectInst *selectionOf(Value *P, const Loop &L, ScalarEvolution &SE, SmallVectorImpl<Instruction *> &Way, unsigned &Left) {
  constexpr unsigned Longest = 8;
  auto *I = dyn_cast<Instruction>(P);
  if (!I || !L.contains(I) || Way.size() == Longest || !Left)
    return nullptr;
  --Left;
  if (auto *Select = dyn_cast<SelectInst>(I))
    if (Select->getCondition()->getType()->isIntegerTy(1) && pollyrs::dependsOnData(Select->getCondition(), *L.getOutermostLoop(), SE))
      return Select;
  bool Address = isa<GetElementPtrInst>(I) || isa<SExtInst>(I) || isa<ZExtInst>(I) || isa<TruncInst>(I) || isa<SelectInst>(I);
  switch (I->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::Shl:
    Address = true;
  }
  if (!Address)
    return nullptr;
  Way.push_back(I);
  for (Value *Op : I->operands())
    if (SelectInst *Select = selectionOf(Op, L, SE, Way, Left))
      return Select;
  Way.pop_back();
  return nullptr;
}

// `*(c ? p : q)` becomes `c ? *p : *q`, a branch; a store likewise.
bool divideAccess(Instruction &Access, LoopInfo &LI, ScalarEvolution &SE) {
  Value *Pointer = getLoadStorePointerOperand(&Access);
  const Loop *L = LI.getLoopFor(Access.getParent());
  if (!Pointer || !L || Access.isVolatile() || Access.isAtomic())
    return false;
  SmallVector<Instruction *, 8> Way;
  unsigned Left = MaxVisited;
  SelectInst *Select = selectionOf(Pointer, *L, SE, Way, Left);
  if (!Select)
    return false;
  Instruction *Then = nullptr, *Else = nullptr;
  SplitBlockAndInsertIfThenElse(Select->getCondition(), Access.getIterator(), &Then, &Else);
  PHINode *Joined = nullptr;
  if (!Access.getType()->isVoidTy())
    Joined = PHINode::Create(Access.getType(), 2, "", Access.getParent()->begin());
  for (auto [End, Value] : {std::pair(Then, Select->getTrueValue()), std::pair(Else, Select->getFalseValue())}) {
    ValueToValueMapTy Map;
    Map[Select] = Value;
    for (Instruction *I : reverse(Way)) {
      Instruction *Copy = I->clone();
      Copy->insertBefore(End->getIterator());
      RemapInstruction(Copy, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      Map[I] = Copy;
    }
    Instruction *Copy = Access.clone();
    Copy->insertBefore(End->getIterator());
    RemapInstruction(Copy, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    if (Joined)
      Joined->addIncoming(Copy, End->getParent());
  }
  if (Joined) {
    Joined->setDebugLoc(Access.getDebugLoc());
    Joined->takeName(&Access);
    Access.replaceAllUsesWith(Joined);
  }
  Access.eraseFromParent();
  return true;
}

// The address `P` of an access in the block of `Access` if it is, or moves by arithmetic from, one of some
// that branches join there: the instructions of that block from there to `P`, last one first.
PHINode *joinOf(Value *P, Instruction &Access, SmallVectorImpl<Instruction *> &Way) {
  constexpr unsigned Longest = 8;
  auto *I = dyn_cast<Instruction>(P);
  if (!I || I->getParent() != Access.getParent() || Way.size() == Longest)
    return nullptr;
  if (auto *Join = dyn_cast<PHINode>(I))
    return Join;
  auto *At = dyn_cast<GetElementPtrInst>(I);
  if (!At || any_of(At->indices(), [&](Value *V) {
        auto *Index = dyn_cast<Instruction>(V);
        return Index && Index->getParent() == Access.getParent() && !isa<PHINode>(Index);
      }))
    return nullptr;
  Way.push_back(I);
  return joinOf(At->getPointerOperand(), Access, Way);
}

// `if (c) f = *p; else f = *q;` of which LLVM made one load behind the branches: loads in the branches again.
bool divideJoined(LoadInst &Access, LoopInfo &LI) {
  BasicBlock *Block = Access.getParent();
  const Loop *L = LI.getLoopFor(Block);
  SmallVector<Instruction *, 8> Way;
  if (!L || LI.isLoopHeader(Block) || !Access.isSimple() || !joinOf(Access.getPointerOperand(), Access, Way))
    return false;
  for (Instruction &I : *Block) {
    if (&I == &Access)
      break;
    if (I.mayWriteToMemory() || !isGuaranteedToTransferExecutionToSuccessor(&I))
      return false;
  }
  SmallVector<BasicBlock *, 4> Before(predecessors(Block));
  if (any_of(Before, [&](BasicBlock *From) { return !isa<BranchInst>(From->getTerminator()) || count(Before, From) > 1 || !L->contains(From); }))
    return false;
  // (Without the analyses, which are made again: for their sake it would divide other edges as well.)
  for (BasicBlock *&From : Before)
    if (!From->getUniqueSuccessor())
      From = SplitEdge(From, Block);
  auto *Joined = PHINode::Create(Access.getType(), Before.size(), "", Block->begin());
  for (BasicBlock *End : Before) {
    ValueToValueMapTy Map;
    for (PHINode &PHI : Block->phis())
      if (&PHI != Joined)
        Map[&PHI] = PHI.getIncomingValueForBlock(End);
    auto CopyOf = [&](Instruction &I) {
      Instruction *Copy = I.clone();
      Copy->insertBefore(End->getTerminator()->getIterator());
      RemapInstruction(Copy, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      return Copy;
    };
    for (Instruction *I : reverse(Way))
      Map[I] = CopyOf(*I);
    Joined->addIncoming(CopyOf(Access), End);
  }
  Joined->setDebugLoc(Access.getDebugLoc());
  Joined->takeName(&Access);
  Access.replaceAllUsesWith(Joined);
  Access.eraseFromParent();
  return true;
}
} // namespace

extern "C" {

bool prs_divide_accesses(Session *S, LLVMValueRef FRef, unsigned Limit) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (bool Again = true; Again && Limit && S->work(F);) {
    Again = false;
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    ScalarEvolution &SE = S->FAM.getResult<ScalarEvolutionAnalysis>(F);
    DenseSet<const Loop *> Blocked = pollyrs::blockedLoops(*S, LI);
    for (Instruction &I : instructions(F)) {
      if (const Loop *L = LI.getLoopFor(I.getParent()); L && Blocked.contains(L))
        continue;
      if (!divideAccess(I, LI, SE) && !(isa<LoadInst>(I) && divideJoined(cast<LoadInst>(I), LI)))
        continue;
      Changed = Again = true;
      --Limit;
      S->FAM.invalidate(F, PreservedAnalyses::none());
      break;
    }
  }
  return Changed;
}

} // extern "C"
