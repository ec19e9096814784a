// Differences that are sums: `total -= x` adds `-x`, so that parts of it can be summed up on their own.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

// Terms of one sum that are looked through.
static constexpr unsigned MaxSumTerms = 8;

// Whether a value is what a loop takes over from the iteration before, with more added or subtracted.
static bool isRunning(Value *V, LoopInfo &LI) {
  for (unsigned N = 0; N != MaxSumTerms; ++N) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return false;
    if (isa<PHINode>(I)) {
      Loop *L = LI.getLoopFor(I->getParent());
      return L && L->getHeader() == I->getParent();
    }
    switch (I->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::FAdd:
    case Instruction::FSub:
      V = I->getOperand(0);
      break;
    default:
      return false;
    }
  }
  return false;
}

extern "C" {
bool prs_add_differences(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  SmallVector<BinaryOperator *, 8> Found;
  for (Instruction &I : instructions(F)) {
    auto *Difference = dyn_cast<BinaryOperator>(&I);
    bool Integer = Difference && Difference->getOpcode() == Instruction::Sub && Difference->getType()->isIntegerTy();
    // Without the flag that lets it be regrouped it stays in its order anyway.
    bool Floating = Difference && Difference->getOpcode() == Instruction::FSub && Difference->hasAllowReassoc() && !Difference->getType()->isVectorTy();
    // (What is the same in all iterations is a step.)
    Loop *L = Integer || Floating ? LI.getLoopFor(I.getParent()) : nullptr;
    if (L && !L->isLoopInvariant(Difference->getOperand(1)) && isRunning(Difference->getOperand(0), LI))
      Found.push_back(Difference);
  }
  for (BinaryOperator *Difference : Found) {
    IRBuilder<> B(Difference);
    Value *Total = Difference->getOperand(0), *Less = Difference->getOperand(1);
    Value *Sum = nullptr;
    if (Difference->getOpcode() == Instruction::FSub) {
      B.setFastMathFlags(Difference->getFastMathFlags());
      Sum = B.CreateFAdd(Total, B.CreateFNeg(Less), Difference->getName());
    } else {
      Sum = B.CreateAdd(Total, B.CreateNeg(Less), Difference->getName());
    }
    Difference->replaceAllUsesWith(Sum);
    Difference->eraseFromParent();
  }
  if (!Found.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return !Found.empty();
}
}
