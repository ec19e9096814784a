// What is left for the host of loops over places, and of those with columns outside: the program's loops.

#include "places.h"
#include "shim.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// The branch between the pair of loops with a number.
BranchInst *branchOfGroups(Function &F, unsigned Id) {
  for (BasicBlock &BB : F)
    if (auto *Branch = dyn_cast<BranchInst>(BB.getTerminator()); Branch && Branch->isConditional())
      if (MDNode *Mark = Branch->getMetadata(pollyrs::GroupedBranchMark))
        if (mdconst::extract<ConstantInt>(Mark->getOperand(0))->getZExtValue() == Id)
          return Branch;
  return nullptr;
}

// A value that is known where `Before` ends: itself, or a copy of what computes it. Null if there is none.
Value *knownAt(Value *V, BasicBlock &Before, DominatorTree &DT, ValueToValueMapTy &Map, unsigned Depth) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || DT.dominates(I, Before.getTerminator()))
    return V;
  if (Value *Known = Map.lookup(I))
    return Known;
  if (!Depth || isa<PHINode>(I) || I->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(I))
    return nullptr;
  Instruction *New = I->clone();
  for (Use &Operand : New->operands()) {
    Value *Known = knownAt(Operand.get(), Before, DT, Map, Depth - 1);
    if (!Known) {
      New->deleteValue();
      return nullptr;
    }
    Operand.set(Known);
  }
  New->insertBefore(Before.getTerminator()->getIterator());
  Map[I] = New;
  return New;
}

// The library is not asked what nobody needs: nothing leads to the users of its answer.
void forgetQuestion(Value *Condition) {
  SmallVector<Instruction *, 8> Way;
  CallInst *Asked = nullptr;
  for (auto *I = dyn_cast<Instruction>(Condition); I && !Asked && Way.size() < 8; I = dyn_cast<Instruction>(I->getOperand(0))) {
    Way.push_back(I);
    Asked = dyn_cast<CallInst>(I);
  }
  if (!Asked || !Asked->getCalledFunction() || !Asked->getCalledFunction()->getName().starts_with("pollyrs_rt_"))
    return;
  SmallSetVector<Instruction *, 16> Users;
  Users.insert(Asked);
  for (unsigned N = 0; N != Users.size(); ++N)
    if (isa<CallInst, GetElementPtrInst>(Users[N]))
      for (User *U : Users[N]->users())
        Users.insert(cast<Instruction>(U));
  while (!Users.empty()) {
    Instruction *I = Users.pop_back_val();
    if (!I->isTerminator() && !isa<PHINode>(I)) {
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
      I->eraseFromParent();
    }
  }
}

// In place of a loop over places, a copy of the program's loop, whose checks were found to hold. False if
// values leave one of them.
bool putListedBack(Loop &Places, Loop &Own, Function &F, DominatorTree &DT) {
  BasicBlock *Before = Places.getLoopPreheader(), *Exit = Places.getUniqueExitBlock(), *Behind = pollyrs::regularExit(Own), *Entry = Own.getLoopPreheader();
  if (!Before || !Exit || !Behind || !Entry || !Behind->phis().empty() || !Exit->phis().empty())
    return false;
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 16> Blocks(Own.block_begin(), Own.block_end()), New;
  for (BasicBlock *BB : Blocks)
    for (Instruction &I : *BB)
      for (Value *V : I.operands())
        if (auto *Used = dyn_cast<Instruction>(V); Used && !Own.contains(Used)) {
          Value *Known = knownAt(Used, *Before, DT, Map, 8);
          if (!Known)
            return false;
          Map[Used] = Known;
        }
  for (BasicBlock *BB : Blocks) {
    New.push_back(CloneBasicBlock(BB, Map, ".listed", &F));
    Map[BB] = New.back();
  }
  Map[Behind] = Exit;
  Map[Entry] = Before;
  remapInstructionsInBlocks(New, Map);
  for (unsigned N = 0; N != New.size(); ++N) {
    auto *Branch = dyn_cast<BranchInst>(Blocks[N]->getTerminator());
    if (BasicBlock *Way = Branch ? pollyrs::checkedWay(*Branch, Own) : nullptr) {
      New[N]->getTerminator()->eraseFromParent();
      BranchInst::Create(cast<BasicBlock>(Map[Way]), New[N]);
    }
    New[N]->getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
  }
  Before->getTerminator()->replaceSuccessorWith(Places.getHeader(), New.front());
  Places.getHeader()->removePredecessor(Before, /*KeepOneInputPHIs=*/true);
  return true;
}
} // namespace

extern "C" bool prs_restore_grouped(Session *S, LLVMValueRef FRef, bool Erase) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<unsigned, 4> Ids;
  erase_if(S->Grouped, [&](auto &T) {
    if (T.first == &F)
      Ids.push_back(T.second);
    return !T.first || T.first == &F;
  });
  for (unsigned Id : Ids) {
    S->FAM.invalidate(F, PreservedAnalyses::none());
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    SmallVector<Loop *, 2> Places, Own;
    for (Loop *L : LI.getLoopsInPreorder()) {
      if (getOptionalIntLoopAttribute(L, pollyrs::GroupedMark) == int(Id))
        Places.push_back(L);
      if (getOptionalIntLoopAttribute(L, pollyrs::ListedMark) == int(Id))
        Own.push_back(L);
    }
    BranchInst *Branch = branchOfGroups(F, Id);
    // A mark that is lost would leave sums that nothing proves to be the program's.
    if (Places.empty() || Own.empty() || !Branch)
      return false;
    if (BasicBlock *Before = Places.front()->getLoopPreheader(); Places.size() == 1 && Before && Before->getSinglePredecessor() == Branch->getParent()) {
      // It stays on the host: nobody is asked.
      Value *Condition = Branch->getCondition();
      Branch->setCondition(ConstantInt::getBool(F.getContext(), Branch->getSuccessor(0) != Before));
      Branch->setMetadata(pollyrs::GroupedBranchMark, nullptr);
      forgetQuestion(Condition);
    }
    if (!all_of(Places, [&](Loop *L) { return putListedBack(*L, *Own.front(), F, DT); }))
      return false;
    if (Erase)
      EliminateUnreachableBlocks(F);
    S->FAM.invalidate(F, PreservedAnalyses::none());
  }
  return true;
}
