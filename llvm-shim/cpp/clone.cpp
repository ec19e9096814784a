// Working copies of functions: clone, take back, erase. Debug info stays valid throughout.

#include "shim.h"

#include "llvm/IR/Comdat.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/EHPersonalities.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using pollyrs::CloneInfo;
using pollyrs::send;
using pollyrs::Session;

static const char *whyNotCloneable(const Function &F) {
  if (F.isDeclaration())
    return "it is a declaration";
  if (F.hasAvailableExternallyLinkage())
    return "its definition belongs to another module";
  if (F.hasFnAttribute(Attribute::Naked))
    return "it is naked";
  if (F.isPresplitCoroutine())
    return "it is a coroutine";
  // Edges into pads of such handlers cannot be redirected, and they may lead into loops.
  if (F.hasPersonalityFn() && isScopedEHPersonality(classifyEHPersonality(F.getPersonalityFn())))
    return "its exception handlers are funclets";
  for (const BasicBlock &BB : F)
    if (BB.hasAddressTaken())
      return "the address of one of its blocks is taken";
  return nullptr;
}

// Whether a node belongs to other code than the function with subprogram `SP` and so maps to itself. LLVM
// clones functions within a module under the same rule (CloneFunction.cpp, createIdentityMDPredicate).
static bool isForeign(const Metadata *MD, const DISubprogram *SP) {
  if (isa<DICompileUnit>(MD) || isa<DIType>(MD))
    return true;
  if (auto *Other = dyn_cast<DISubprogram>(MD))
    return Other != SP;
  if (auto *Scope = dyn_cast<DILocalScope>(MD))
    return Scope->getSubprogram() != SP;
  if (auto *Variable = dyn_cast<DILocalVariable>(MD))
    return Variable->getScope()->getSubprogram() != SP;
  if (auto *Label = dyn_cast<DILabel>(MD))
    return Label->getScope()->getSubprogram() != SP;
  return false;
}

static void deleteBlocks(Function &F) {
  for (BasicBlock &BB : F)
    BB.dropAllReferences();
  while (!F.empty())
    F.begin()->eraseFromParent();
}

// Moves the metadata of `F`'s body from the clone's scopes to `F`'s own.
static void restoreMetadata(Function &F, const DISubprogram *CloneSP, const CloneInfo &Info) {
  ValueToValueMapTy VMap;
  for (const auto &[New, Old] : Info.Inverse)
    VMap.MD()[New.get()].reset(Old.get());
  const MetadataPredicate Identity = [CloneSP](const Metadata *MD) { return isForeign(MD, CloneSP); };
  ValueMapper Mapper(VMap, RF_IgnoreMissingLocals, nullptr, nullptr, &Identity);
  for (BasicBlock &BB : F)
    for (Instruction &I : BB) {
      Mapper.remapInstruction(I);
      Mapper.remapDbgRecordRange(F.getParent(), I.getDbgRecordRange());
    }
}

extern "C" {

LLVMValueRef prs_clone_function(Session *S, LLVMValueRef FRef, void *Ctx, prs_byte_sink Sink) {
  Function &F = *unwrap<Function>(FRef);
  if (const char *Reason = whyNotCloneable(F)) {
    send(Sink, Ctx, Reason);
    return nullptr;
  }
  ValueToValueMapTy VMap;
  Function *Clone = CloneFunction(&F, VMap);
  Clone->setName(F.getName() + ".pollyrs");
  Clone->setComdat(nullptr);
  Clone->setLinkage(GlobalValue::InternalLinkage); // also makes visibility and DLL storage class default
  CloneInfo &Info = S->Clones[Clone];
  Info.Clone = Clone;
  Info.Original = &F;
  Info.Inverse.clear();
  if (VMap.hasMD())
    for (const auto &[Old, New] : VMap.MD())
      if (New.get() && New.get() != Old)
        Info.Inverse.emplace_back(TrackingMDRef(New.get()), TrackingMDRef(const_cast<Metadata *>(Old)));
  return wrap(Clone);
}

bool prs_adopt_body(Session *S, LLVMValueRef FRef, LLVMValueRef CloneRef) {
  Function &F = *unwrap<Function>(FRef);
  Function &Clone = *unwrap<Function>(CloneRef);
  auto It = S->Clones.find(&Clone);
  if (It == S->Clones.end() || It->second.Original != &F)
    return false;
  S->FAM.clear(F, F.getName());
  S->FAM.clear(Clone, Clone.getName());

  // Not deleteBody(): it drops linkage, metadata, personality, prefix and prologue data as well.
  deleteBlocks(F);
  F.splice(F.end(), &Clone);
  for (unsigned I = 0, E = F.arg_size(); I != E; ++I)
    Clone.getArg(I)->replaceAllUsesWith(F.getArg(I));
  if (DISubprogram *CloneSP = Clone.getSubprogram())
    restoreMetadata(F, CloneSP, It->second);

  // Inlining may have merged the callee's function attributes, personality and collector into the clone's.
  LLVMContext &Context = F.getContext();
  AttrBuilder FnAttrs(Context, Clone.getAttributes().getFnAttrs());
  F.setAttributes(F.getAttributes().removeFnAttributes(Context).addFnAttributes(Context, FnAttrs));
  if (Clone.hasPersonalityFn())
    F.setPersonalityFn(Clone.getPersonalityFn());
  if (Clone.hasGC())
    F.setGC(Clone.getGC());

  S->Clones.erase(It);
  Clone.replaceAllUsesWith(&F);
  Clone.eraseFromParent();
  return true;
}

void prs_erase_function(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  S->FAM.clear(F, F.getName());
  S->Clones.erase(&F);
  deleteBlocks(F);
  if (!F.use_empty())
    F.replaceAllUsesWith(PoisonValue::get(F.getType()));
  F.eraseFromParent();
}

} // extern "C"
