// Registration of the passes and of the command-line options.

#include "shim.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/CommandLine.h"

#include <memory>

using namespace llvm;
using pollyrs::send;

namespace {
struct OptionText {
  const char *Name;
  const char *Value; // null for a flag
  const char *Help;
};

// Parsed and checked in Rust (plugin/src/base/options.rs), where the same names work as pass parameters and,
// in capitals with underscores, as environment variables.
const OptionText Options[] = {
    {"targets", "list", "Targets of the generated code, separated by '+' or ',': cuda, emulated, emulated-checked (default: cuda)"},
    {"arch", "sm_XX", "GPU architecture of the generated PTX (default: sm_70)"},
    {"cubin", "auto|off|sm_XX", "Assemble the PTX with ptxas: where it is found, never, or for this GPU (default: auto)"},
    {"contract", "late|early|only", "Products and sums whose flags allow it are fused by the back ends, or at once, in the same way for host and device; only: nothing is offloaded (default: late)"},
    {"disable", nullptr, "Leave every module as it is"},
    {"only-function", "names", "Consider these functions only: names, or patterns with '*', separated by ','"},
    {"ignore-function", "names", "Leave these functions as they are: names, or patterns with '*', separated by ','"},
    {"verbose", nullptr, "Tell on standard error what happens to each function"},
    {"verify", nullptr, "For tests of the plugin: check each working copy behind each step that rewrites it"},
    {"strategy", "auto|original|isl|streaming|hybrid|diamond|split", "Where the schedule comes from (default: auto); streaming: several time steps of a stencil a launch; hybrid, diamond, split: time tiles"},
    {"stencil-shape", "TYxTXxCYxCXxL", "Of a stencil: threads along y and x, columns of each, and 2 to keep steps apart (default: by its model)"},
    {"fuse-steps", "n", "Time iterations of a stencil in one launch (default: chosen by its size)"},
    {"fuse-kernels", "true|false", "Neighbouring kernels become one where a thread then finds values in its registers (default: true)"},
    {"tile", "sizes", "Tile sizes, outermost first, separated by 'x' or ',': 32x8"},
    {"register-tile", "none|TYxTXxPYxPX[xB]", "Tiles of points in registers: threads and points of a thread along two dimensions, blocks on a multiprocessor (default: by the mapping)"},
    {"wave-tile", "none|NxM[xK]", "Tiles of wavefronts, where no loop is parallel: points along each loop (default: 64x64, 16x16x64)"},
    {"graph", "auto|never|always", "Launches in a loop that depend on each other are one launch whose blocks wait for each other: where it is estimated to be faster, never, or always"},
    {"tiles", "now|late|auto", "When machine code of expensive variants of loop nests is made: with the program, by the driver once they are worth it, "
                               "or with the program for the first ones of a file (default: auto)"},
    {"nest", "auto|never|always", "Where parallel loops are around sequential ones around parallel ones, blocks run the middle ones: where they are estimated to be faster, never, or always"},
    {"tuned", "file", "Choices that pollyrs tune has measured"},
    {"techniques", "LIST", "Of time tiles: windows (values pass between steps in shared memory), unroll (code for full tiles), none; default: all but in three dimensions"},
    {"budget", "operations", "isl operations after which a loop nest is given up"},
    {"module-budget", "operations", "isl operations after which the rest of a module is left as it is"},
    {"tiled", "number", "Loop nests of a file that may get register tiles"},
    {"log", "LEVEL|TARGET=LEVEL,...", "Diagnostics on standard error: info, debug, trace"},
    {"time", nullptr, "Print on standard error how long each stage took"},
    {"stats", nullptr, "Print on standard error how many loop nests were offloaded and refused, and what became of them"},
    {"max-inline", "instructions", "Largest callee that is inlined into a loop before analysis"},
    {"min-work", "instances", "Leave loop nests alone that execute fewer statements than this, whatever their parameters"},
    {"hold", "true|false", "Keep arrays on the device between the SCoPs of a function"},
    {"divide", "true|false", "Cut launches for several devices (POLLYRS_RT_DEVICES; default: false)"},
    {"cache", "FOLDER|off", "Where device code is kept from build to build (default: pollyrs/code in XDG_CACHE_HOME or ~/.cache)"},
    {"cache-size", "MiB", "What it may take there (default: 1024)"},
};

std::string fullName(const OptionText &Option) { return std::string("pollyrs-") + Option.Name; }

// Options register themselves when the library is loaded, which is before the host parses its command line.
// If another copy of the plugin has registered them already, that copy's are used: a second registration
// would abort the host. They are never freed, as the library is never unloaded.
bool registerOptions() {
  auto &Known = cl::getRegisteredOptions();
  for (const OptionText &Option : Options) {
    if (Known.count(fullName(Option)))
      continue;
    // The parser keeps references to name and help text.
    StringRef Name = *new std::string(fullName(Option));
    if (Option.Value)
      new cl::opt<std::string>(Name, cl::desc(Option.Help), cl::value_desc(Option.Value));
    else
      new cl::opt<bool>(Name, cl::desc(Option.Help));
  }
  return true;
}

const bool OptionsRegistered = registerOptions();

// A module pass whose body is a Rust function.
class PollyrsPass : public PassInfoMixin<PollyrsPass> {
public:
  PollyrsPass(prs_pass_callback Callback, uint32_t Stage, StringRef Parameters, bool Once)
      : Callback(Callback), Stage(Stage), Once(Once), Parameters(Parameters.str()) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (Once && M.getNamedMetadata(Done))
      return PreservedAnalyses::all();
    auto *Bytes = reinterpret_cast<const uint8_t *>(Parameters.data());
    if (!Callback(wrap(&M), Stage, Bytes, Parameters.size()))
      return PreservedAnalyses::all();
    if (Once)
      M.getOrInsertNamedMetadata(Done);
    return PreservedAnalyses::none();
  }

private:
  // Left in a module that was changed: neither a second load of the plugin nor a later phase of link-time
  // optimisation shall rewrite the result.
  static constexpr const char *Done = "pollyrs.done";

  prs_pass_callback Callback;
  uint32_t Stage;
  bool Once;
  std::string Parameters;
};

// `NAME` or `NAME<…>` for a plain name, `print<NAME>` or `print<NAME;…>` for one in brackets.
bool matches(StringRef Text, StringRef Name, StringRef &Parameters) {
  Parameters = StringRef();
  if (Text == Name)
    return true;
  bool Bracketed = Name.consume_back(">");
  if (!Text.consume_front(Name) || !Text.consume_front(Bracketed ? ";" : "<") || !Text.consume_back(">"))
    return false;
  Parameters = Text;
  return true;
}
} // namespace

extern "C" {

void prs_register_passes(void *Builder, const prs_pass_record *Passes, size_t Count, prs_pass_callback Callback) {
  auto &PB = *static_cast<PassBuilder *>(Builder);
  auto Records = std::make_shared<std::vector<prs_pass_record>>(Passes, Passes + Count);
  PB.registerPipelineParsingCallback(
      [Records, Callback](StringRef Text, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement> Inner) {
        StringRef Parameters;
        for (const prs_pass_record &R : *Records)
          if (Inner.empty() && matches(Text, R.name, Parameters)) {
            MPM.addPass(PollyrsPass(Callback, R.stage, Parameters, /*Once=*/R.pipeline_start));
            return true;
          }
        return false;
      });
  // Called for the pipelines before linking, plain or for (thin) link-time optimisation, never for those
  // after it.
  PB.registerPipelineStartEPCallback([Records, Callback](ModulePassManager &MPM, OptimizationLevel Level) {
    bool Optimized = Level != OptimizationLevel::O0;
    for (const prs_pass_record &R : *Records)
      if (Optimized ? R.pipeline_start : R.unoptimized)
        MPM.addPass(PollyrsPass(Callback, R.stage, "", /*Once=*/Optimized));
  });
}

void prs_host_options(void *Ctx, prs_byte_sink Sink) {
  auto &Known = cl::getRegisteredOptions();
  for (const OptionText &Option : Options) {
    auto It = Known.find(fullName(Option));
    if (It == Known.end() || It->second->getNumOccurrences() == 0)
      continue;
    std::string Value;
    if (Option.Value)
      Value = static_cast<cl::opt<std::string> *>(It->second)->getValue();
    else
      Value = static_cast<cl::opt<bool> *>(It->second)->getValue() ? "true" : "false";
    send(Sink, Ctx, std::string(Option.Name) + "=" + Value);
  }
}

} // extern "C"
