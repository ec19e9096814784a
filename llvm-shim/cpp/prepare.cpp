// Rewritings of the working copy that keep its meaning: conditions and arithmetic out of loops, marks of the
// stack that nothing needs.

#include "shim.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

extern "C" {

bool prs_hoist_conditions(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  for (BasicBlock &BB : F) {
    auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
    auto *Condition = Branch && Branch->isConditional() ? dyn_cast<CmpInst>(Branch->getCondition()) : nullptr;
    // Comparisons of integers are modelled as they are.
    if (!Condition || Condition->getOperand(0)->getType()->isIntOrIntVectorTy())
      continue;
    Loop *Outermost = nullptr;
    for (Loop *L = LI.getLoopFor(&BB); L && L->hasLoopInvariantOperands(Condition) && L->getLoopPreheader(); L = L->getParentLoop())
      Outermost = L;
    if (!Outermost)
      continue;
    Instruction *Copy = Condition->clone();
    Copy->insertBefore(Outermost->getLoopPreheader()->getTerminator()->getIterator());
    Copy->dropLocation();
    IRBuilder<> B(Outermost->getLoopPreheader()->getTerminator());
    Value *Number = B.CreateFreeze(B.CreateZExt(Copy, B.getInt32Ty()), Condition->getName());
    B.SetInsertPoint(Branch);
    Branch->setCondition(B.CreateICmpNE(Number, B.getInt32(0)));
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

bool prs_drop_stack_saves(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<IntrinsicInst *, 8> Saves;
  SmallVector<AllocaInst *, 4> Sized;
  for (Instruction &I : instructions(F)) {
    if (auto *A = dyn_cast<AllocaInst>(&I); A && !A->isStaticAlloca())
      Sized.push_back(A);
    if (auto *II = dyn_cast<IntrinsicInst>(&I); II && II->getIntrinsicID() == Intrinsic::stacksave)
      Saves.push_back(II);
  }
  DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  for (IntrinsicInst *Save : Saves) {
    auto IsRestore = [](User *U) {
      auto *II = dyn_cast<IntrinsicInst>(U);
      return II && II->getIntrinsicID() == Intrinsic::stackrestore;
    };
    // Nothing that a restore would take back has come since.
    auto MayFollow = [&](AllocaInst *A) { return isPotentiallyReachable(Save, A, nullptr, &DT, &LI); };
    if (!all_of(Save->users(), IsRestore) || any_of(Sized, MayFollow))
      continue;
    for (User *U : make_early_inc_range(Save->users()))
      cast<Instruction>(U)->eraseFromParent();
    Save->eraseFromParent();
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

// A division that gives the same wherever `I` runs, and is defined everywhere.
static void hoistDivision(Instruction &I, Instruction *Before) {
  IRBuilder<> B(Before);
  Type *Ty = I.getType();
  Value *X = I.getOperand(0), *D = B.CreateFreeze(I.getOperand(1));
  Value *Zero = ConstantInt::get(Ty, 0), *One = ConstantInt::get(Ty, 1), *Minus = ConstantInt::getSigned(Ty, -1);
  bool Signed = I.getOpcode() == Instruction::SDiv;
  Value *Bad = B.CreateICmpEQ(D, Zero);
  Value *Negates = Signed ? B.CreateICmpEQ(D, Minus) : nullptr;
  if (Signed)
    Bad = B.CreateOr(Bad, Negates);
  Value *Safe = B.CreateSelect(Bad, One, D);
  Value *Quotient = Signed ? B.CreateSDiv(X, Safe, I.getName()) : B.CreateUDiv(X, Safe, I.getName());
  if (Signed)
    Quotient = B.CreateSelect(Negates, B.CreateNeg(X), Quotient, I.getName());
  I.replaceAllUsesWith(Quotient);
  I.eraseFromParent();
}

// PHIs that handed `I` out of a loop that it is not in any more.
static void forgetClosing(Instruction &I, LoopInfo &LI) {
  Loop *Own = LI.getLoopFor(I.getParent());
  SmallSetVector<PHINode *, 4> Closing;
  for (User *U : I.users())
    if (auto *PHI = dyn_cast<PHINode>(U); PHI && PHI->hasConstantValue() == &I && (!Own || Own->contains(PHI)))
      Closing.insert(PHI);
  for (PHINode *PHI : Closing) {
    PHI->replaceAllUsesWith(&I);
    PHI->eraseFromParent();
  }
}

bool prs_hoist_arithmetic(Session *S, LLVMValueRef FRef, bool OnlyShared) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder()) {
    BasicBlock *Before = L->getLoopPreheader();
    if (!Before)
      continue;
    LoopBlocksRPO Blocks(L);
    Blocks.perform(&LI);
    for (BasicBlock *BB : Blocks)
      for (Instruction &I : make_early_inc_range(*BB)) {
        // (A complex argument may come as a vector.)
        bool Integer = !OnlyShared && isa<BinaryOperator, CastInst>(I) && I.getType()->isIntegerTy();
        // A test that later loops repeat: copies of one loop share those that do not depend on the counter.
        bool Shared = isa<ICmpInst>(I) && any_of(I.users(), [&](User *U) { return !L->contains(cast<Instruction>(U)); });
        if (!(Integer || Shared || (!OnlyShared && isa<ExtractElementInst>(I))) || !L->hasLoopInvariantOperands(&I))
          continue;
        if (!isSafeToSpeculativelyExecute(&I)) {
          if (I.getOpcode() == Instruction::SDiv || I.getOpcode() == Instruction::UDiv) {
            hoistDivision(I, Before->getTerminator());
            Changed = true;
          }
          continue;
        }
        I.moveBefore(Before->getTerminator()->getIterator());
        I.dropLocation();
        if (Shared)
          forgetClosing(I, LI);
        Changed = true;
      }
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

} // extern "C"
