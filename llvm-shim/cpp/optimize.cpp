// Pipelines of passes over a whole module, in their textual form.

#include "shim.h"

#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"

using namespace llvm;
using pollyrs::send;

extern "C" {

// `pollyrs-unroll-full` is the loop pass `loop-unroll-full` with the thresholds of -O3, which its textual
// form cannot ask for.
bool prs_optimize(LLVMModuleRef MRef, void *Machine, const uint8_t *Text, size_t Len, void *Ctx, prs_byte_sink Sink) {
  PassBuilder PB(static_cast<TargetMachine *>(Machine));
  PB.registerPipelineParsingCallback([](StringRef Name, LoopPassManager &LPM, ArrayRef<PassBuilder::PipelineElement>) {
    if (Name != "pollyrs-unroll-full")
      return false;
    LPM.addPass(LoopFullUnrollPass(/*OptLevel=*/3));
    return true;
  });
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  ModulePassManager MPM;
  StringRef Pipeline(reinterpret_cast<const char *>(Text), Len);
  if (Error E = PB.parsePassPipeline(MPM, Pipeline)) {
    send(Sink, Ctx, toString(std::move(E)));
    return false;
  }
  MPM.run(*unwrap(MRef), MAM);
  return true;
}
}
