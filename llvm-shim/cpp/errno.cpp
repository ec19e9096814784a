// Calls of the mathematical library, which may set errno, made pure and put back; src/prepare.rs has the
// argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/KnownFPClass.h"
#include "llvm/Support/ModRef.h"

using namespace llvm;
using pollyrs::Session;

// On a call that was made pure; its value says who sets errno.
static constexpr const char Key[] = "pollyrs-errno";
// On the same one: which of Session::MathCalls it was. A copy, in another version of a loop or another
// iteration of its body, has the number as well.
static constexpr const char Number[] = "pollyrs-errno-call";
// The run-time library may do so in the end: nobody looks in between.
static constexpr const char Afterwards[] = "";
// The original loop has to.
static constexpr const char Again[] = "again";

// The functions for which code generation knows when they set errno (codegen-ptx/src/statement/errno).
#define BOTH(name) LibFunc_##name, LibFunc_##name##f
static constexpr LibFunc Functions[] = {
    BOTH(acos), BOTH(acosh), BOTH(asin),  BOTH(asinh), BOTH(atan),      BOTH(atan2), BOTH(atanh), BOTH(cbrt),
    BOTH(cos),  BOTH(cosh),  BOTH(erf),   BOTH(exp),   BOTH(exp10),     BOTH(exp2),  BOTH(expm1), BOTH(fdim),
    BOTH(fmod), BOTH(hypot), BOTH(ldexp), BOTH(log),   BOTH(log10),     BOTH(log1p), BOTH(log2),  BOTH(pow),
    BOTH(sin),  BOTH(sinh),  BOTH(sqrt),  BOTH(tan),   BOTH(remainder), BOTH(tanh),
};
#undef BOTH

// Those that LLVM's table lacks.
static bool isFurtherFunction(const CallInst &Call) {
  const Function &F = *Call.getCalledFunction();
  const Function &Caller = *Call.getFunction();
  if (F.arg_size() != 1 || F.isVarArg() || Call.isNoBuiltin() || Caller.hasFnAttribute("no-builtins") ||
      Caller.hasFnAttribute(("no-builtin-" + F.getName()).str()))
    return false;
  Type *T = F.getArg(0)->getType(), *R = F.getReturnType();
  StringRef Name = F.getName();
  if (T->isFloatTy() ? !Name.consume_back("f") : !T->isDoubleTy())
    return false;
  if (Name == "lrint" || Name == "lround")
    return R->isIntegerTy(32) || R->isIntegerTy(64);
  return Name == "erfc" ? R == T : (Name == "llrint" || Name == "llround") && R->isIntegerTy(64);
}

static bool isMathCall(const CallInst &Call, const TargetLibraryInfo &TLI) {
  if (Call.isStrictFP() || Call.hasOperandBundles() || !Call.getCalledFunction() || !Call.getCalledFunction()->isDeclaration())
    return false;
  LibFunc F;
  return TLI.getLibFunc(Call, F) ? TLI.has(F) && is_contained(Functions, F) : isFurtherFunction(Call);
}

// Whether it is a root that leaves `errno` alone, as its argument is never below zero: a constant (such calls
// appear where a loop that runs no iteration leaves a sum at its first value), a sum of squares, a magnitude.
// (A root of NaN or of -0 is no error.)
static bool cannotFail(CallInst &Call, const TargetLibraryInfo &TLI) {
  LibFunc F;
  if (!TLI.getLibFunc(Call, F) || (F != LibFunc_sqrt && F != LibFunc_sqrtf))
    return false;
  const SimplifyQuery Query(Call.getModule()->getDataLayout(), &TLI, nullptr, nullptr, &Call);
  return computeKnownFPClass(Call.getArgOperand(0), fcNegative, Query).cannotBeOrderedLessThanZero();
}

void pollyrs::lookAtErrno(Session &S, const Loop &L) {
  if (S.MathCalls.empty())
    return;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->hasFnAttr(Key))
        Call->addFnAttr(Attribute::get(Call->getContext(), Key, Again));
}

extern "C" {

// What holds for every such call, whatever the front end wrote: it returns, and writes errno at most.
bool prs_describe_math_calls(Session *S, LLVMValueRef FRef) {
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
    const AttributeList Attributes = Call->getAttributes();
    if (!cannotFail(*Call, TLI)) {
      Call->addFnAttr(Attribute::get(F.getContext(), Number, std::to_string(S->MathCalls.size())));
      S->MathCalls.push_back(Attributes);
      Call->addFnAttr(Attribute::get(F.getContext(), Key, Afterwards));
    }
    Call->setDoesNotAccessMemory();
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

// False if a mark has no number.
bool prs_restore_errno(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false, Complete = true;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || !Call->hasFnAttr(Key))
      continue;
    size_t Which = 0;
    if (Call->getFnAttr(Number).getValueAsString().getAsInteger(10, Which) || Which >= S->MathCalls.size()) {
      Complete = false;
      continue;
    }
    Call->setAttributes(S->MathCalls[Which]);
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Complete;
}

} // extern "C"
