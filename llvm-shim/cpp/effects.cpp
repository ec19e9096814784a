// What is known of single calls, definitions and values.

#include "shim.h"

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/ModRef.h"

using namespace llvm;

extern "C" {

uint32_t prs_call_facts(LLVMValueRef CallRef) {
  auto &Call = *unwrap<CallBase>(CallRef);
  MemoryEffects Effects = Call.getMemoryEffects();
  ModRefInfo Arguments = Effects.getModRef(IRMemLocation::ArgMem), Other = ModRefInfo::NoModRef;
  // What no other function of the program can see is nobody's array; nor is errno.
  for (IRMemLocation Location : MemoryEffects::locations())
    if (Location != IRMemLocation::ArgMem && Location != IRMemLocation::InaccessibleMem &&
        Location != IRMemLocation::ErrnoMem)
      Other |= Effects.getModRef(Location);
  auto *Memory = dyn_cast<AnyMemIntrinsic>(&Call);
  bool Ordered = Memory ? Memory->isVolatile() || !isa<MemIntrinsic>(Memory)
                        : !Call.hasFnAttr(Attribute::NoSync) && !Call.onlyAccessesInaccessibleMemory() &&
                              !Call.doesNotAccessMemory();
  uint32_t Facts = 0;
  Facts |= Call.doesNotThrow() ? PRS_NO_THROW : 0;
  Facts |= Ordered || Call.isConvergent() ? 0 : PRS_NO_SYNC;
  Facts |= isRefSet(Arguments) ? PRS_ARGUMENTS_READ : 0;
  Facts |= isModSet(Arguments) ? PRS_ARGUMENTS_WRITTEN : 0;
  Facts |= isRefSet(Other) ? PRS_OTHER_READ : 0;
  Facts |= isModSet(Other) ? PRS_OTHER_WRITTEN : 0;
  Facts |= Call.isNoBuiltin() || Call.getFunction()->hasFnAttribute("no-builtins") ? 0 : PRS_BUILTIN;
  Facts |= Call.hasOperandBundles() ? PRS_BUNDLES : 0;
  return Facts;
}

// What the call may do to memory through one argument, by the argument's attributes.
uint32_t prs_argument_effect(LLVMValueRef CallRef, uint32_t Index) {
  auto &Call = *unwrap<CallBase>(CallRef);
  if (Call.doesNotAccessMemory(Index))
    return 0;
  return (Call.onlyWritesMemory(Index) ? 0 : PRS_READS) | (Call.onlyReadsMemory(Index) ? 0 : PRS_WRITES);
}

// Whether copies of a parameter may be left behind when its function returns.
bool prs_may_be_captured(LLVMValueRef V) { return PointerMayBeCaptured(unwrap(V), /*ReturnCaptures=*/true); }

void prs_note_not_captured(LLVMValueRef CallRef, uint32_t Index) {
  auto &Call = *unwrap<CallBase>(CallRef);
  Call.addParamAttr(Index, Attribute::getWithCaptureInfo(Call.getContext(), CaptureInfo::none()));
}

// The function that a call runs, for certain: a direct one of the right type.
LLVMValueRef prs_callee(LLVMValueRef CallRef) {
  auto &Call = *unwrap<CallBase>(CallRef);
  return wrap(Call.getCalledFunction());
}

// A definition that is the one that runs.
bool prs_is_final(LLVMValueRef FRef) {
  auto &F = *unwrap<Function>(FRef);
  return !F.isDeclaration() && !F.isInterposable();
}

bool prs_does_not_throw(LLVMValueRef FRef) { return unwrap<Function>(FRef)->doesNotThrow(); }

// New memory, which nothing else points into.
bool prs_is_new_memory(LLVMValueRef V) {
  auto *Call = dyn_cast<CallBase>(unwrap(V));
  return Call && Call->returnDoesNotAlias();
}

// An absolute value, a square, a converted integer.
bool prs_never_negative_zero(LLVMValueRef V) {
  auto *I = dyn_cast<Instruction>(unwrap(V));
  return I && I->getType()->isFloatingPointTy() && cannotBeNegativeZero(I, SimplifyQuery(I->getDataLayout(), I));
}

} // extern "C"
