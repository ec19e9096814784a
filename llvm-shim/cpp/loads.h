// Questions about loads in loops, which both ways to move them before the loop ask.
#ifndef POLLYRS_LOADS_H
#define POLLYRS_LOADS_H

#include "llvm/ADT/SmallVector.h"
#include <utility>

namespace llvm {
class DominatorTree;
class IRBuilderBase;
class Instruction;
class LoadInst;
class Loop;
class LoopInfo;
class Value;
} // namespace llvm

namespace pollyrs {

// On `select true, before, now`: a load, or a number made of such, and what it was before the loop.
inline constexpr char InvariantMark[] = "pollyrs.invariant";

// Conditions of branches, and the way that each goes.
using Guards = llvm::SmallVector<std::pair<llvm::Value *, bool>, 4>;

// Whether bounds, conditions or addresses are computed from the value.
bool steers(llvm::LoadInst &Load);

// Whether in each iteration of `L` the instruction runs at least once if the branches in `Found` go the given
// way. Innermost condition first.
bool guardsOf(llvm::Instruction &I, llvm::Loop &L, llvm::DominatorTree &DT, llvm::LoopInfo &LI, Guards &Found);

// Whether the run-time library may look before `L` what the place of the load holds, if it can be read: a
// word in a loop that takes longer than that, or of whose rows the library looks at the table.
bool mayPeek(llvm::LoadInst &Load, llvm::Loop &L);

// What it finds, of the word that has the place, which no border of a page divides: { ptr, i64 }, of which
// the number is 0 if it can't be read.
llvm::Value *peek(llvm::IRBuilderBase &B, llvm::Value &Pointer);

// The place that an instruction made by `peek` looks at; null if it is another one.
llvm::Value *peekedPlace(llvm::Instruction &I);

} // namespace pollyrs

#endif
