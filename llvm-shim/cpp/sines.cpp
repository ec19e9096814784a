// Sines and cosines that one call computes together, as two calls that have no memory; src/prepare.rs has the
// argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

// Whether both results are surely apart. (Of results that go to one place the library says which one stays,
// by the argument; the code that is left for the host has the two calls as well, so that a check before a
// launch is not enough.)
static bool areApart(const CallInst &Call, AAResults &AA) {
  LocationSize Size = LocationSize::precise(Call.getModule()->getDataLayout().getTypeStoreSize(Call.getArgOperand(0)->getType()));
  return AA.isNoAlias(MemoryLocation(Call.getArgOperand(1), Size), MemoryLocation(Call.getArgOperand(2), Size));
}

// Whether it is `sincos(x, &s, &c)` of the C library, or that of floats.
static bool isSineAndCosine(const CallInst &Call) {
  const Function *F = Call.getCalledFunction();
  if (!F || !F->isDeclaration() || F->isVarArg() || F->arg_size() != 3 || !F->getReturnType()->isVoidTy() || Call.isNoBuiltin() || Call.isStrictFP() ||
      Call.hasOperandBundles() || Call.getFunction()->hasFnAttribute("no-builtins"))
    return false;
  Type *T = F->getArg(0)->getType();
  return (F->getName() == "sincos" ? T->isDoubleTy() : F->getName() == "sincosf" && T->isFloatTy()) && F->getArg(1)->getType()->isPointerTy() &&
         F->getArg(2)->getType()->isPointerTy();
}

extern "C" bool prs_split_sines(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  Module &M = *F.getParent();
  AAResults &AA = S->FAM.getResult<AAManager>(F);
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || !isSineAndCosine(*Call) || !areApart(*Call, AA))
      continue;
    Value *X = Call->getArgOperand(0);
    Type *T = X->getType();
    IRBuilder<> B(Call);
    auto Of = [&](StringRef Name) {
      return B.CreateCall(M.getOrInsertFunction(T->isFloatTy() ? (Name + "f").str() : Name.str(), FunctionType::get(T, {T}, false)), {X});
    };
    Value *Sine = Of("sin"), *Cosine = Of("cos");
    B.CreateStore(Sine, Call->getArgOperand(1));
    B.CreateStore(Cosine, Call->getArgOperand(2));
    Call->eraseFromParent();
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
