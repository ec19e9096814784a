// What is known of loops that update elements which lists name.
#ifndef POLLYRS_PLACES_H
#define POLLYRS_PLACES_H

#include "grouped.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InstrTypes.h"

namespace llvm {
class DominatorTree;
class LoopInfo;
}

namespace pollyrs {

// The integers of a list, which say what an iteration's place is.
struct PlaceList {
  Linear Place;
  llvm::Type *Ty;
  // Each iteration loads its integer.
  bool Always = true;
};

// One element of each place. Element `x` begins at `First + Inner * column + Scale * x`.
struct PlaceTarget {
  Linear Element;
  const llvm::SCEV *Scale;
  llvm::Type *Ty;
  // Null: iterations only store it, and the last one's stays.
  llvm::LoadInst *Load = nullptr;
  llvm::StoreInst *Store = nullptr;
  // All iterations of a place store it.
  bool Always = true;
  // The first target of the same memory, and how many bytes behind it this one begins.
  unsigned Base = 0;
  int64_t Distance = 0;
};

// A load or a store of a target, at the place that a list says.
struct PlaceAccess {
  unsigned List, Target;
};

// A subscript that is computed in fewer bits than an address has: `First + Inner * column + Scale * place`.
struct NarrowPlace {
  const llvm::SCEV *First, *Inner, *Scale;
  bool Signed;
};

// A check that ends the program where it fails: an integer of a list, or a counter, is compared with what is
// known before the loop.
struct PlaceCheck {
  llvm::CmpInst::Predicate Holds;
  bool OfPlace;
  Linear Counter;
  const llvm::SCEV *Other;
};

// A loop whose iterations do nothing but update or store elements that lists name. `Inner`, if there is one,
// runs through the list (`node[e][k]`), or through the elements of a place (`table[token[t]][c]`, `Columns`).
struct GroupedLoop {
  // The most instructions of an iteration, and lists that it takes places from.
  static constexpr unsigned MaxBody = 256, MaxLists = 4, MaxTargets = 8;

  llvm::Loop *Outer, *Inner = nullptr;
  // How often the iteration's end leads back, and what stands behind the loop where no check fails.
  const llvm::SCEV *Count = nullptr;
  llvm::BasicBlock *Exit = nullptr;
  bool Columns = false, Unsigned = false;
  // Instructions of an iteration.
  unsigned Size = 0;
  // The blocks of an iteration, from its beginning to the end of the innermost loop's.
  llvm::SmallVector<llvm::BasicBlock *, 8> Blocks{};
  llvm::SmallVector<PlaceList, MaxLists> Lists{};
  llvm::SmallVector<PlaceTarget, 4> Targets{};
  llvm::MapVector<llvm::Instruction *, PlaceAccess> Accesses{};
  llvm::SmallVector<NarrowPlace, 4> Narrow{};
  // Comparisons that say, for all iterations alike, whether the loop inside runs, and with what result.
  llvm::SmallVector<std::pair<llvm::ICmpInst *, bool>, 2> Guards{};
  llvm::SmallVector<PlaceCheck, 4> Checks{};

  const llvm::Loop &deepest() const { return Inner ? *Inner : *Outer; }
  // What a loop's counters are made of.
  std::optional<Linear> linear(const llvm::SCEV *S, llvm::ScalarEvolution &SE) const { return linearIn(S, *Outer, Inner, SE); }
};

// Where a loop goes on that is left at its iterations' ends, and by checks that end the program; null if it
// is left otherwise.
llvm::BasicBlock *regularExit(const llvm::Loop &L);

// The way of a branch that is no error's, if the other one leaves the loop for one; null otherwise.
llvm::BasicBlock *checkedWay(const llvm::BranchInst &Branch, const llvm::Loop &L);

// Such a loop, if `L` is one of which something else than atomic operations has to keep the order.
std::optional<GroupedLoop> groupedLoop(llvm::Loop &L, llvm::ScalarEvolution &SE, llvm::DominatorTree &DT, llvm::LoopInfo &LI);

} // namespace pollyrs

#endif
