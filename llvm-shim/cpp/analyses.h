// Loops, regions and scalar evolution of one function, by the numbers and handles that callers have.
#ifndef POLLYRS_ANALYSES_H
#define POLLYRS_ANALYSES_H

#include "shim.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"

#include <optional>
#include <vector>

namespace pollyrs {

struct Analyses {
  Analyses(Session &S, llvm::Function &F);
  ~Analyses() {
    if (Changed)
      S.FAM.invalidate(F, llvm::PreservedAnalyses::none());
  }

  Session &S;
  llvm::Function &F;
  llvm::DominatorTree &DT;
  llvm::PostDominatorTree &PDT;
  llvm::LoopInfo &LI;
  llvm::RegionInfo &RI;
  llvm::ScalarEvolution &SE;
  llvm::AAResults &AA;
  std::vector<llvm::Loop *> Loops;
  llvm::DenseMap<const llvm::Loop *, size_t> LoopIds;
  std::vector<llvm::Region *> Regions;
  llvm::DenseMap<const llvm::Region *, size_t> RegionIds;
  std::vector<llvm::BasicBlock *> Order;
  std::vector<std::vector<llvm::BasicBlock *>> RegionBlocks;
  std::optional<bool> ScopesInLoops;
  bool Changed = false;

private:
  void addRegion(llvm::Region *R) {
    RegionIds[R] = Regions.size();
    Regions.push_back(R);
    for (auto &Child : *R)
      addRegion(Child.get());
  }
};

inline llvm::Loop *loopAt(const Analyses &A, size_t Id) { return Id < A.Loops.size() ? A.Loops[Id] : nullptr; }

inline const llvm::SCEV *scevOf(size_t Handle) { return reinterpret_cast<const llvm::SCEV *>(Handle); }

inline size_t handleOf(const llvm::SCEV *Expr) {
  return !Expr || llvm::isa<llvm::SCEVCouldNotCompute>(Expr) ? 0 : reinterpret_cast<size_t>(Expr);
}

} // namespace pollyrs

#endif
