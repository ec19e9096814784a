// Records of loops that stay on the host, because another version of them is for what can be offloaded.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using pollyrs::Session;

// Whether some part of the loop has code for the device, which says itself where it runs.
static bool hasLaunch(const Loop &L) {
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Function *Callee = Call->getCalledFunction(); Callee && Callee->getName().starts_with("pollyrs_rt_begin"))
          return true;
  return false;
}

// `FILE:LINE` of the loop, or nothing.
static std::string placeOf(const Loop &L) {
  DebugLoc Start = L.getStartLoc();
  if (!Start)
    return "";
  return (cast<DIScope>(Start.getScope())->getFilename() + ":" + Twine(Start.getLine())).str();
}

extern "C" void prs_record_kept(Session *S, LLVMValueRef FRef, const char *Name, const char *Apart, const char *Kept, const char *Steps,
                                const char *Uneven, const char *Tiles) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  const std::pair<const char *, const char *> Reasons[] = {
      {pollyrs::ApartMark, Apart}, {pollyrs::KeptMark, Kept}, {pollyrs::OtherStepsMark, Steps}, {pollyrs::UnevenRowsMark, Uneven}, {pollyrs::TilesMark, Tiles}};
  Module &M = *F.getParent();
  Type *Pointer = PointerType::get(F.getContext(), 0);
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder()) {
    auto *Reason = find_if(Reasons, [&](auto &R) { return findStringMetadataForLoop(L, R.first).has_value(); });
    BasicBlock *Before = L->getLoopPreheader(), *Exit = L->getUniqueExitBlock();
    if (Reason == std::end(Reasons) || !Before || !Exit || !L->hasDedicatedExits() || hasLaunch(*L) || Exit->getFirstInsertionPt() == Exit->end())
      continue;
    IRBuilder<> B(Before->getTerminator());
    B.SetCurrentDebugLocation(L->getStartLoc());
    auto Text = [&](StringRef T) { return B.CreateGlobalString(T, "pollyrs.kept", 0, &M); };
    FunctionCallee Begin = M.getOrInsertFunction("pollyrs_rt_kept_begin", Pointer, Pointer, Pointer, Pointer);
    Value *Record = B.CreateCall(Begin, {Text(Name), Text(placeOf(*L)), Text(Reason->second)});
    B.SetInsertPoint(Exit, Exit->getFirstInsertionPt());
    B.CreateCall(M.getOrInsertFunction("pollyrs_rt_host_end", Type::getVoidTy(F.getContext()), Pointer), {Record});
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
}
