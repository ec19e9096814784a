// The C interface between C++ and src/sys.rs, which mirrors it line by line. Plain data out, no decisions
// here.
#ifndef POLLYRS_SHIM_H
#define POLLYRS_SHIM_H

#include "llvm/Analysis/PostDominators.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/TrackingMDRef.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include "llvm-c/Types.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

extern "C" {
typedef void (*prs_byte_sink)(void *ctx, const uint8_t *bytes, size_t len);
typedef void (*prs_pointer_sink)(void *ctx, void *pointer);
typedef void (*prs_loop_sink)(void *ctx, size_t parent, LLVMBasicBlockRef header, const LLVMBasicBlockRef *blocks, size_t count);
typedef bool (*prs_pass_callback)(LLVMModuleRef module, uint32_t stage, const uint8_t *parameters, size_t len);

struct prs_loop_record {
  size_t parent;
  uint32_t depth;
  uint32_t must_progress;
  uint32_t apart;
  uint32_t kept;
  uint32_t other_steps;
  uint32_t uneven_rows;
  uint32_t moves;
  uint32_t tiles, points, last_of_points;
  uint32_t grouped, listed;
  LLVMBasicBlockRef header, preheader, latch, exit;
};

struct prs_region_record {
  size_t parent;
  LLVMBasicBlockRef entry, exit;
};

// LLVM renumbers llvm::SCEVTypes between versions; these numbers are ours.
enum prs_scev_kind : uint32_t {
  PRS_SCEV_CONSTANT = 0,
  PRS_SCEV_UNKNOWN = 1,
  PRS_SCEV_ADD = 2,
  PRS_SCEV_MUL = 3,
  PRS_SCEV_UDIV = 4,
  PRS_SCEV_ADD_REC = 5,
  PRS_SCEV_ZERO_EXTEND = 6,
  PRS_SCEV_SIGN_EXTEND = 7,
  PRS_SCEV_TRUNCATE = 8,
  PRS_SCEV_SMAX = 9,
  PRS_SCEV_UMAX = 10,
  PRS_SCEV_SMIN = 11,
  PRS_SCEV_UMIN = 12,
  PRS_SCEV_SEQUENTIAL_UMIN = 13,
  PRS_SCEV_PTR_TO_INT = 14,
  PRS_SCEV_VSCALE = 15,
  PRS_SCEV_COULD_NOT_COMPUTE = 16,
};

enum prs_scev_flag : uint32_t { PRS_FLAG_NUW = 1, PRS_FLAG_NSW = 2, PRS_FLAG_POINTER = 4 };

enum prs_effect : uint32_t { PRS_READS = 1, PRS_WRITES = 2, PRS_ANYTHING = 4 };

enum prs_call_fact : uint32_t {
  PRS_NO_THROW = 1,
  PRS_NO_SYNC = 2,
  PRS_ARGUMENTS_READ = 4,
  PRS_ARGUMENTS_WRITTEN = 8,
  PRS_OTHER_READ = 16,
  PRS_OTHER_WRITTEN = 32,
  PRS_BUILTIN = 64,
  PRS_BUNDLES = 128,
};

struct prs_scev_record {
  uint32_t kind, bits, flags, reserved;
  size_t loop_id;
  LLVMValueRef value;
  uint64_t low;
  int64_t high;
};

struct prs_version_record {
  LLVMBasicBlockRef offload, host_begin, host_end, merge;
};

struct prs_pass_record {
  const char *name;
  uint32_t stage;
  uint32_t pipeline_start;
  uint32_t unoptimized;
};

// The same numbers as in sys.rs, which mirrors these structures.
static_assert(sizeof(prs_loop_record) == 88 && offsetof(prs_loop_record, moves) == 32 && offsetof(prs_loop_record, exit) == 80);
static_assert(sizeof(prs_region_record) == 24 && offsetof(prs_region_record, exit) == 16);
static_assert(sizeof(prs_scev_record) == 48 && offsetof(prs_scev_record, loop_id) == 16 && offsetof(prs_scev_record, high) == 40);
static_assert(sizeof(prs_version_record) == 32 && offsetof(prs_version_record, merge) == 24);
static_assert(sizeof(prs_pass_record) == 24 && offsetof(prs_pass_record, unoptimized) == 16);
}

namespace llvm {
class DominatorTree;
class Loop;
class LoopInfo;
}

namespace pollyrs {

// "No parent", "no loop"; sys::NONE.
constexpr size_t None = SIZE_MAX;

// What is needed to take a clone back.
struct CloneInfo {
  llvm::WeakVH Clone;
  llvm::Function *Original = nullptr;
  // Metadata of the clone -> metadata of the original.
  std::vector<std::pair<llvm::TrackingMDRef, llvm::TrackingMDRef>> Inverse;
};

// A branch to an error block that was taken out: the block has no predecessor until it is put back.
struct ErrorCheck {
  llvm::WeakVH Marker;
  llvm::WeakVH Error;
  llvm::MDNode *Weights;
};

struct Session;

// In the metadata of a PHI that stands behind a region for a value of it, its first operand.
constexpr char Merged[] = "pollyrs.merged";

// In the metadata of a loop that only runs where rows are not equally far apart.
inline constexpr char ApartMark[] = "pollyrs.apart";
// In that of one that stays on the host: there is another version for what nearly all programs do.
inline constexpr char KeptMark[] = "pollyrs.kept";
// In that of one for steps of windows of which no version is.
inline constexpr char OtherStepsMark[] = "pollyrs.other_steps";
// In that of one for rows of which the last one is shorter.
inline constexpr char UnevenRowsMark[] = "pollyrs.uneven_rows";
// On a loop over the columns of rows that a counter was divided into.
inline constexpr char WholeRowsMark[] = "pollyrs.whole_rows";
// In that of one over tiles, and of its version over points, with the number of the pair.
inline constexpr char TilesMark[] = "pollyrs.tiles", PointsMark[] = "pollyrs.points";
// In that of the innermost of the loops over points.
inline constexpr char LastOfPointsMark[] = "pollyrs.last_of_points";
// In that of one that updates elements which lists name, and of its version that goes through them place by
// place, with the number of the pair; and of one that data counts, and its version with columns outside.
inline constexpr char ListedMark[] = "pollyrs.listed", GroupedMark[] = "pollyrs.grouped";
// In that of one of such loops no part of which is worth a launch.
inline constexpr char AsideMark[] = "pollyrs.aside";
// In that of a call: what it calls whatever is inlined.
inline constexpr char LastingMark[] = "pollyrs.lasting";
// In that of a loop that was a call of memcpy, memmove or memset.
inline constexpr char MovesMark[] = "pollyrs.moves";

// `pollyrs_rt_rows`, which looks at tables of pointers without a fault: at single words, too.
llvm::FunctionCallee rowsFunction(llvm::Module &M);

// What is loaded before a loop may be errno: only the original loop can set it, for all calls in there.
void lookAtErrno(Session &S, const llvm::Loop &L);

// Pass builder and analysis managers for one module, apart from the host's.
struct Session {
  explicit Session(llvm::Module &M);

  llvm::Module &M;
  llvm::PassBuilder PB;
  // Destroyed in reverse order: the outer managers hold proxies to the inner ones.
  llvm::LoopAnalysisManager LAM;
  llvm::FunctionAnalysisManager FAM;
  llvm::CGSCCAnalysisManager CGAM;
  llvm::ModuleAnalysisManager MAM;
  llvm::DenseMap<llvm::Function *, CloneInfo> Clones;
  std::vector<ErrorCheck> Checks;
  // What calls that were made pure had, by the number that stands at the call and its copies.
  std::vector<llvm::AttributeList> MathCalls;
  // What the module had when the session began; never dereferenced.
  llvm::DenseSet<const llvm::GlobalValue *> Initial;
  // Functions with versions of loops over tiles, and the numbers of these.
  std::vector<std::pair<llvm::WeakVH, unsigned>> Tiles;
  unsigned LastTiles = 0;
  // The same of loops that go through sums place by place.
  std::vector<std::pair<llvm::WeakVH, unsigned>> Grouped;
  unsigned LastGrouped = 0;
  // Whether all who call a function run into a call that lasts, if some arguments may be known; and one such
  // call. Of functions that are not rewritten yet.
  llvm::DenseMap<std::pair<const llvm::Function *, uint64_t>, bool> Lasting;
  llvm::DenseMap<const llvm::Function *, llvm::CallBase *> LastingCall;
  // What rewritings have done and may do, in operations of isl.
  uint64_t Work = 0, WorkLimit = UINT64_MAX;

  // Counts so many looks at an instruction. False, and for all that follows, where that is too much: then
  // rewritings end, each after a step that leaves a function which means the same.
  bool work(uint64_t Looks) {
    Work += Looks / LooksPerOperation + 1;
    return Work <= WorkLimit;
  }
  // The same for one look at everything, with analyses that are made for that.
  bool work(const llvm::Function &F) { return work(LooksForAnalyses * uint64_t(F.getInstructionCount())); }
  bool work(const llvm::Loop &L, uint64_t Times = 1);

  // An operation of isl takes 200 ns, a look 20 to 50; to make dominators, loops, scalar evolution and alias
  // analysis anew takes about a microsecond an instruction, and so does a pass (bench/COMPILE_TIME.md).
  static constexpr uint64_t LooksPerOperation = 8, LooksForAnalyses = 40;
};

// Loops that no SCoP has a part in: they, or loops inside of them, call what stays a call, or follow links
// from record to record. Rewritings leave them alone.
llvm::DenseSet<const llvm::Loop *> blockedLoops(Session &S, const llvm::LoopInfo &LI);

// Whether no simplification makes another function's code, a number or nothing of the call.
bool staysACall(Session &S, llvm::CallBase &Call);

// Calls that no inlining removes, asked before anything is inlined (lasting.cpp). `CanInline` tells whether a
// call can be inlined at all.
class LastingCalls {
public:
  LastingCalls(Session &S, llvm::function_ref<bool(llvm::CallBase &)> CanInline) : S(S), CanInline(CanInline) {}

  // Loops that stay on the host whatever is inlined into them, with those around them.
  llvm::DenseSet<const llvm::Loop *> hopeless(llvm::Function &F);

  // `Arguments`: those of the function with the call that may be known, a bit for each.
  bool lasts(llvm::CallBase &Call, uint64_t Arguments = 0, unsigned Depth = 0);

private:
  bool mayHoldKnown(llvm::AllocaInst &A, uint64_t Arguments, unsigned Depth);
  bool mayBeKnown(llvm::Value *V, uint64_t Arguments, unsigned Depth);
  bool isSure(llvm::BasicBlock &BB, uint64_t Arguments, const llvm::Loop *Within);
  bool hasLasting(llvm::Function &F, uint64_t Arguments);
  void note(llvm::CallBase &Call);

  Session &S;
  // Callers of what is looked at.
  unsigned Chain = 0;
  // Variables that a question has led to.
  llvm::SmallPtrSet<const llvm::Value *, 8> Seen;
  llvm::function_ref<bool(llvm::CallBase &)> CanInline;
};

inline void send(prs_byte_sink Sink, void *Ctx, llvm::StringRef Text) {
  Sink(Ctx, reinterpret_cast<const uint8_t *>(Text.data()), Text.size());
}

// Line, column and file of a location; false if there is none.
bool sendLocation(const llvm::DebugLoc &Loc, uint32_t *Line, uint32_t *Column, void *Ctx, prs_byte_sink Sink);

// PHIs and an unconditional branch, nothing else.
bool isForwarder(const llvm::BasicBlock &BB);

// Edges from `Pred` can be redirected.
bool canRedirect(const llvm::BasicBlock &Pred);

// The block of the same loop where all ways from a conditional branch in `Head` meet again, inside one
// iteration; null if there is none.
llvm::BasicBlock *joinBehind(llvm::BasicBlock &Head, llvm::LoopInfo &LI, llvm::DominatorTree &DT, llvm::PostDominatorTree &PDT);

// A copy of a loop, `Other` its preheader, beside the loop, whose preheader is `Own`. `Before`, ahead of
// both, is left without a branch.
struct LoopCopy {
  llvm::Loop *Copied;
  llvm::BasicBlock *Before, *Own, *Other;
  llvm::SmallPtrSet<llvm::BasicBlock *, 16> Blocks;
};

// Whether [`copyLoop`] can copy a loop.
bool isCopyable(const llvm::Loop &L, const llvm::DominatorTree &DT);

// Copies a loop with a preheader and one block behind it, in LCSSA form. `Map` says what became of its
// values.
LoopCopy copyLoop(llvm::Loop &L, llvm::StringRef Suffix, llvm::ValueToValueMapTy &Map, llvm::LoopInfo &LI, llvm::DominatorTree &DT);

// Gives the loops of a function to `Divide`, outer ones first, until it has made versions of one: that
// changes all analyses. Loops with one of the marks in their metadata are left alone, and so are those
// inside.
bool divideFirst(llvm::Function &F, Session &S, llvm::ArrayRef<const char *> Marks, llvm::function_ref<bool(llvm::Loop &)> Divide);

// Whether a block ends the program or the function by other means than its terminator.
bool isErrorBlock(const llvm::BasicBlock &BB);

// Whether a loop whose error blocks are taken out can be copied: nothing but these and what stands behind its
// end uses its values.
bool hasCopyableChecks(const llvm::Loop &L, Session &S);

// The checks in what was copied get error blocks of their own.
void copyChecks(Session &S, llvm::ValueToValueMapTy &Map);
// Whether a condition in a loop of the nest of `Outer` depends on more than counters and what is known before
// it.
bool dependsOnData(llvm::Value *Condition, const llvm::Loop &Outer, llvm::ScalarEvolution &SE);

} // namespace pollyrs

#endif
