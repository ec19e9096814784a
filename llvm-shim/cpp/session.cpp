// Sessions: analysis managers, pass pipelines, verification.

#include "shim.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/GlobalsModRef.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/ModRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using pollyrs::Session;
using pollyrs::send;

Session::Session(Module &M) : M(M) {
  for (GlobalValue &G : M.global_values())
    Initial.insert(&G);
  // Basic, scoped-noalias, type-based and (where cached) globals alias analysis. Registered before the
  // defaults, which would register an empty one.
  FAM.registerPass([this] { return PB.buildDefaultAAPipeline(); });
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  // Function analyses may look up cached module analyses only through this proxy.
  MAM.getResult<FunctionAnalysisManagerModuleProxy>(M);
}

bool Session::work(const Loop &L, uint64_t Times) {
  uint64_t Size = 0;
  for (const BasicBlock *BB : L.blocks())
    Size += BB->size();
  return work(Times * Size);
}

// Passes on a clone declare intrinsics and library functions and make string constants; those that nothing
// uses once the clone is gone would make a module look changed that is not.
static void eraseUnusedAdditions(Session &S) {
  for (Function &F : make_early_inc_range(S.M))
    if (F.isDeclaration() && F.use_empty() && !S.Initial.contains(&F))
      F.eraseFromParent();
  for (GlobalVariable &G : make_early_inc_range(S.M.globals()))
    if (G.hasLocalLinkage() && G.use_empty() && !S.Initial.contains(&G))
      G.eraseFromParent();
}

extern "C" {

void prs_erase_function(Session *S, LLVMValueRef FRef); // clone.cpp

Session *prs_session_new(LLVMModuleRef M) { return new Session(*unwrap(M)); }

// Clones that were neither adopted nor erased go with the session: it may be unwound by a panic half-way.
void prs_session_free(Session *S) {
  SmallVector<WeakVH, 4> Left;
  for (auto &[F, Info] : S->Clones)
    Left.push_back(Info.Clone);
  for (WeakVH &Clone : Left)
    if (Clone)
      prs_erase_function(S, wrap(static_cast<Value *>(Clone)));
  eraseUnusedAdditions(*S);
  delete S;
}

bool prs_run_passes(Session *S, LLVMValueRef FRef, const uint8_t *Text, size_t Len, void *Ctx, prs_byte_sink Sink) {
  Function &F = *unwrap<Function>(FRef);
  FunctionPassManager FPM;
  StringRef Pipeline(reinterpret_cast<const char *>(Text), Len);
  if (Error E = S->PB.parsePassPipeline(FPM, Pipeline)) {
    send(Sink, Ctx, toString(std::move(E)));
    return false;
  }
  if (F.isDeclaration())
    return true;
  S->work(Session::LooksForAnalyses * F.getInstructionCount() * (Pipeline.count(',') + 1));
  PreservedAnalyses PA = FPM.run(F, S->FAM);
  S->FAM.invalidate(F, PA);
  return true;
}

// From here on, so many operations; what was done before is forgotten.
void prs_limit_work(Session *S, uint64_t Operations) {
  S->Work = 0;
  S->WorkLimit = Operations;
}

uint64_t prs_work(Session *S) { return S->Work; }

// Counts one look at everything in the function; false where that is too much.
bool prs_begin_step(Session *S, LLVMValueRef FRef) { return S->work(*unwrap<Function>(FRef)); }

bool prs_verify_function(LLVMValueRef FRef, void *Ctx, prs_byte_sink Sink) {
  std::string Text;
  raw_string_ostream OS(Text);
  bool Broken = verifyFunction(*unwrap<Function>(FRef), &OS);
  send(Sink, Ctx, Text);
  return !Broken;
}

bool prs_verify_module(LLVMModuleRef MRef, void *Ctx, prs_byte_sink Sink) {
  std::string Text;
  raw_string_ostream OS(Text);
  // Without the last argument broken debug info counts as an error, as it should for IR of our making.
  bool Broken = verifyModule(*unwrap(MRef), &OS);
  send(Sink, Ctx, Text);
  return !Broken;
}

void prs_invalidate(Session *S, LLVMValueRef FRef) {
  S->FAM.invalidate(*unwrap<Function>(FRef), PreservedAnalyses::none());
}

// A function that launches kernels talks to a driver: it touches memory nobody else here can see, takes locks
// and allocates; and it reads arrays it only wrote before, as partly written arrays are copied both ways.
void prs_weaken_attributes(LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  static const Attribute::AttrKind Dropped[] = {Attribute::NoSync, Attribute::NoFree, Attribute::NoRecurse,
                                                Attribute::NoCallback, Attribute::Speculatable};
  static const Attribute::AttrKind DroppedAtParams[] = {Attribute::WriteOnly, Attribute::Initializes,
                                                        Attribute::NoFree};
  auto Weaker = [](MemoryEffects Effects) {
    for (IRMemLocation Location : MemoryEffects::locations())
      if (isModSet(Effects.getModRef(Location)))
        Effects = Effects.getWithModRef(Location, ModRefInfo::ModRef);
    return Effects | MemoryEffects::inaccessibleMemOnly();
  };
  for (Attribute::AttrKind Kind : Dropped)
    F.removeFnAttr(Kind);
  for (Attribute::AttrKind Kind : DroppedAtParams)
    for (unsigned I = 0, E = F.arg_size(); I != E; ++I)
      F.removeParamAttr(I, Kind);
  F.setMemoryEffects(Weaker(F.getMemoryEffects()));
  for (User *U : F.users()) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->getCalledOperand() != &F)
      continue;
    for (Attribute::AttrKind Kind : Dropped)
      Call->removeFnAttr(Kind);
    for (Attribute::AttrKind Kind : DroppedAtParams)
      for (unsigned I = 0, E = Call->arg_size(); I != E; ++I)
        Call->removeParamAttr(I, Kind);
    if (Call->getAttributes().hasFnAttr(Attribute::Memory))
      Call->setMemoryEffects(Weaker(Call->getAttributes().getMemoryEffects()));
  }
}

} // extern "C"
