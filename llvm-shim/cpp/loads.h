// Questions about loads in loops, which both ways to move them before the loop ask.
#ifndef POLLYRS_LOADS_H
#define POLLYRS_LOADS_H

#include "llvm/ADT/SmallVector.h"
#include <utility>

namespace llvm {
class DominatorTree;
class Instruction;
class LoadInst;
class Loop;
class LoopInfo;
class Value;
} // namespace llvm

namespace pollyrs {

// Conditions of branches, and the way that each goes.
using Guards = llvm::SmallVector<std::pair<llvm::Value *, bool>, 4>;

// Whether bounds, conditions or addresses are computed from the value.
bool steers(llvm::LoadInst &Load);

// Whether in each iteration of `L` the instruction runs at least once if the branches in `Found` go the given way. Innermost condition first.
bool guardsOf(llvm::Instruction &I, llvm::Loop &L, llvm::DominatorTree &DT, llvm::LoopInfo &LI, Guards &Found);

} // namespace pollyrs

#endif
