// Loops and versions of them that only a model of the whole may run: sums by places, columns outside.
#ifndef POLLYRS_GROUPED_H
#define POLLYRS_GROUPED_H

#include "shim.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace llvm {
class SCEV;
class ScalarEvolution;
}

namespace pollyrs {

// What is `First + Outer * i + Inner * k` in iteration `i` of a loop and `k` of the one inside of it; a
// missing step is zero.
struct Linear {
  const llvm::SCEV *First = nullptr, *Outer = nullptr, *Inner = nullptr;
};
std::optional<Linear> linearIn(const llvm::SCEV *S, const llvm::Loop &Outer, const llvm::Loop *Inner, llvm::ScalarEvolution &SE);

// Whether an instruction computes from values, or loads, and nothing else.
bool onlyComputes(const llvm::Instruction &I);

// The blocks of an iteration, in order, where there is one way through it, and through the loop inside, which
// has one block; false otherwise.
bool oneWay(const llvm::Loop &Outer, const llvm::Loop *Inner, llvm::SmallVectorImpl<llvm::BasicBlock *> &Blocks);

// Whether a loop that is left where an iteration ends has no value that anyone uses behind it.
bool leavesNoValue(const llvm::Loop &L);

// A number for a loop of a function and its version; the branch that decides between both has it, too.
unsigned addPair(Session &S, llvm::Function &F);
void markPair(llvm::BranchInst &Branch, unsigned Id);

// On the branch that decides between a loop and its version, with the number of the pair.
inline constexpr char GroupedBranchMark[] = "pollyrs.grouped.branch";

// Added to the bytes of an integer without a sign, where the library is asked of a list; and where not all of
// its integers are surely loaded.
inline constexpr uint64_t UnsignedList = 16, PartlyReadList = 32;

// Loops that get no version by what is done here.
inline constexpr const char *VersionMarks[] = {ApartMark, KeptMark, UnevenRowsMark, TilesMark, PointsMark, GroupedMark, ListedMark};

} // namespace pollyrs

#endif
