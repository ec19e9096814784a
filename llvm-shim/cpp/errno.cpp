// Calls of square roots, which may set errno, made pure and put back; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/ModRef.h"

using namespace llvm;
using pollyrs::Session;

// On a call that was made pure.
static constexpr const char Key[] = "pollyrs-errno";

static bool isMathCall(const CallInst &Call, const TargetLibraryInfo &TLI) {
  LibFunc F;
  return !Call.isStrictFP() && !Call.hasOperandBundles() && TLI.getLibFunc(Call, F) &&
         (F == LibFunc_sqrt || F == LibFunc_sqrtf);
}

// Whether the argument is a constant with which the call leaves `errno` alone. (Such calls appear where a loop that runs no iteration
// leaves a sum at its first value.)
static bool cannotFail(const CallInst &Call) {
  auto *Argument = dyn_cast<ConstantFP>(Call.getArgOperand(0));
  return Argument && (!Argument->isNegative() || Argument->isZero() || Argument->isNaN());
}

extern "C" {

// What holds for every such call, whatever the front end wrote: it returns, and writes errno at most.
bool prs_describe_square_roots(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  const TargetLibraryInfo &TLI = S->FAM.getResult<TargetLibraryAnalysis>(F);
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || !isMathCall(*Call, TLI))
      continue;
    Call->addFnAttr(Attribute::WillReturn);
    Call->addFnAttr(Attribute::NoUnwind);
    Call->setMemoryEffects(Call->getMemoryEffects() & MemoryEffects::errnoMemOnly(ModRefInfo::Mod));
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

bool prs_assume_no_errno(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  const TargetLibraryInfo &TLI = S->FAM.getResult<TargetLibraryAnalysis>(F);
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || !LI.getLoopFor(Call->getParent()) || !isMathCall(*Call, TLI) || Call->doesNotAccessMemory())
      continue;
    Changed = true;
    if (cannotFail(*Call)) {
      Call->setDoesNotAccessMemory();
      continue;
    }
    S->MathCalls.push_back({Call, Call->getAttributes()});
    Call->setMemoryEffects(MemoryEffects::none());
    Call->addFnAttr(Attribute::get(F.getContext(), Key));
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

// False if a call was lost.
bool prs_restore_errno(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false, Complete = true;
  for (pollyrs::MathCall &M : S->MathCalls) {
    auto *Call = dyn_cast_or_null<CallInst>(static_cast<Value *>(M.Call));
    if (!Call || Call->getFunction() != &F)
      continue;
    Call->setAttributes(M.Attributes);
    Changed = true;
  }
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      Complete &= !Call->hasFnAttr(Key);
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Complete;
}

} // extern "C"
