// Functions that get two more parameters, and calls of them.

#include "shim.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

// What held no longer than a call, or says too little of a function that gets the address of its caller's
// variable.
static void weaken(CallBase *Call, Function *F) {
  auto Drop = [&](auto *Holder, unsigned Args) {
    Holder->removeFnAttr(Attribute::Memory);
    for (unsigned I = 0; I != Args; ++I)
      Holder->removeParamAttr(I, Attribute::Captures);
  };
  if (Call)
    Drop(Call, Call->arg_size());
  if (F)
    Drop(F, F->arg_size());
}

extern "C" {

bool prs_can_extend(LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  if (F.isDeclaration() || F.isInterposable() || F.isVarArg() || F.hasFnAttribute(Attribute::Naked))
    return false;
  for (Argument &A : F.args())
    if (A.hasInAllocaAttr() || A.hasPreallocatedAttr() || A.hasSwiftErrorAttr() || A.hasNestAttr())
      return false;
  return true;
}

// Moves the body of `F` to a new function with two more pointers as parameters, which `F` then calls with
// null. The last arguments of the calls of `First` and `Second` in the body become those parameters.
LLVMValueRef prs_extend(Session *S, LLVMValueRef FRef, LLVMValueRef FirstRef, LLVMValueRef SecondRef) {
  Function &F = *unwrap<Function>(FRef);
  LLVMContext &Context = F.getContext();
  S->FAM.clear(F, F.getName());
  PointerType *Ptr = PointerType::getUnqual(Context);
  SmallVector<Type *, 8> Params(F.getFunctionType()->params());
  Params.append(2, Ptr);
  auto *Ty = FunctionType::get(F.getReturnType(), Params, false);
  Function *G = Function::Create(Ty, GlobalValue::InternalLinkage, F.getAddressSpace(), F.getName() + ".lent", F.getParent());
  G->copyAttributesFrom(&F);
  G->setLinkage(GlobalValue::InternalLinkage); // also makes visibility and DLL storage class default
  G->setComdat(nullptr);
  weaken(nullptr, G);
  weaken(nullptr, &F);
  G->splice(G->begin(), &F);
  unsigned N = F.arg_size();
  for (unsigned I = 0; I != N; ++I) {
    F.getArg(I)->replaceAllUsesWith(G->getArg(I));
    G->getArg(I)->takeName(F.getArg(I));
  }
  G->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  for (Instruction &I : instructions(*G))
    if (auto *Call = dyn_cast<CallInst>(&I)) {
      Value *Callee = Call->getCalledOperand();
      if (Callee == unwrap(FirstRef))
        Call->setArgOperand(Call->arg_size() - 1, G->getArg(N));
      else if (Callee == unwrap(SecondRef))
        Call->setArgOperand(Call->arg_size() - 1, G->getArg(N + 1));
    }

  BasicBlock *Body = BasicBlock::Create(Context, "", &F);
  SmallVector<Value *, 8> Args;
  SmallVector<AttributeSet, 8> ArgAttrs;
  for (Argument &A : F.args()) {
    Args.push_back(&A);
    ArgAttrs.push_back(F.getAttributes().getParamAttrs(A.getArgNo()));
  }
  Args.append(2, ConstantPointerNull::get(Ptr));
  CallInst *Call = CallInst::Create(Ty, G, Args, "", Body);
  Call->setCallingConv(G->getCallingConv());
  Call->setAttributes(AttributeList::get(Context, AttributeSet(), F.getAttributes().getRetAttrs(), ArgAttrs));
  if (F.getReturnType()->isVoidTy())
    ReturnInst::Create(Context, Body);
  else
    ReturnInst::Create(Context, Call, Body);
  return wrap(G);
}

// Replaces a call by one of `G`, which prs_extend made of its callee.
void prs_redirect(LLVMValueRef CallRef, LLVMValueRef GRef, LLVMValueRef FirstRef, LLVMValueRef SecondRef) {
  auto *Call = unwrap<CallBase>(CallRef);
  Function *G = unwrap<Function>(GRef);
  SmallVector<Value *, 8> Args(Call->args());
  Args.push_back(unwrap(FirstRef));
  Args.push_back(unwrap(SecondRef));
  CallBase *New;
  if (auto *Invoke = dyn_cast<InvokeInst>(Call))
    New = InvokeInst::Create(G->getFunctionType(), G, Invoke->getNormalDest(), Invoke->getUnwindDest(), Args, "",
                             Call->getIterator());
  else
    New = CallInst::Create(G->getFunctionType(), G, Args, "", Call->getIterator());
  New->setCallingConv(Call->getCallingConv());
  New->setAttributes(Call->getAttributes());
  weaken(New, nullptr);
  New->setDebugLoc(Call->getDebugLoc());
  New->copyMetadata(*Call);
  New->takeName(Call);
  Call->replaceAllUsesWith(New);
  Call->eraseFromParent();
}

} // extern "C"
