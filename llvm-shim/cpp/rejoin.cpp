// Loads that rotation of loops and jump threading divided among the ways to a block: `n` is loaded before a
// loop and at the end of each iteration, and a phi in the header, or behind the loop, has what was loaded
// last. A phi hides that it is what the place holds all the time, if nothing stores to it. It becomes a load
// of the place again.
//
// Phis of phis become loads together. It is right to load where a phi is if every value that comes to it is a
// load of the place, or another one of these phis, and nothing stores to the place between there and the end
// of the block it comes from. By MemorySSA: the walks from both points up to what may have stored to the
// place end in one definition D. (D dominates the load, which dominates the end of the block. Were D executed
// again between the two, there would be a way from it to the end of the block that does not pass the load,
// and so one from the entry.) That also says that the place is the same: its address is computed in a block
// that dominates the phi's. On all ways the place has been loaded before, so that it can be.

#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using pollyrs::Session;

// Phis that become loads together, and walks of a function.
static constexpr unsigned MaxPhis = 16, MaxWalks = 4000;

namespace {
class Rejoin {
public:
  Rejoin(MemorySSA &MSSA, DominatorTree &DT) : MSSA(MSSA), DT(DT) {}

  // Makes loads of a phi and of those that it depends on, which get into `Gone`.
  bool phi(PHINode &P, SmallPtrSetImpl<PHINode *> &Gone) {
    SmallSetVector<PHINode *, MaxPhis> Phis;
    LoadInst *First = nullptr;
    Align Alignment;
    AAMDNodes Kinds;
    Phis.insert(&P);
    for (unsigned N = 0; N != Phis.size(); ++N) {
      if (Phis.size() > MaxPhis)
        return false;
      for (Value *V : Phis[N]->incoming_values()) {
        if (auto *Other = dyn_cast<PHINode>(V)) {
          Phis.insert(Other);
          continue;
        }
        auto *Load = dyn_cast<LoadInst>(V);
        if (!Load || !Load->isSimple() || !before(*Load) || (First && Load->getPointerOperand() != First->getPointerOperand()))
          return false;
        Alignment = First ? std::min(Alignment, Load->getAlign()) : Load->getAlign();
        Kinds = First ? Kinds.merge(Load->getAAMetadata()) : Load->getAAMetadata();
        First = Load;
      }
    }
    if (!First || any_of(Phis, [&](PHINode *Each) { return Gone.contains(Each) || !canLoad(*Each, *First); }))
      return false;
    SmallVector<LoadInst *, MaxPhis> Loads;
    for (PHINode *Each : Phis) {
      auto *Load = new LoadInst(Each->getType(), First->getPointerOperand(), "", false, Alignment);
      Load->insertBefore(Each->getParent()->getFirstInsertionPt());
      Load->setAAMetadata(Kinds);
      Load->takeName(Each);
      Loads.push_back(Load);
      Made[Load] = atStart(*Each->getParent());
    }
    for (unsigned N = 0; N != Phis.size(); ++N)
      Phis[N]->replaceAllUsesWith(Loads[N]);
    Gone.insert_range(Phis);
    return true;
  }

private:
  // Whether a phi can be a load like another one. Types of stores say nothing: a store may make the place one
  // of its own type behind a load.
  bool canLoad(PHINode &P, LoadInst &Like) {
    BasicBlock *BB = P.getParent();
    if (!DT.isReachableFromEntry(BB) || BB->getFirstInsertionPt() == BB->end())
      return false;
    if (auto *Address = dyn_cast<Instruction>(Like.getPointerOperand()); Address && !DT.properlyDominates(Address->getParent(), BB))
      return false;
    MemoryLocation Place = MemoryLocation::get(&Like).getWithoutAATags();
    for (unsigned N = 0; N != P.getNumIncomingValues(); ++N) {
      Value *V = P.getIncomingValue(N);
      BasicBlock *From = P.getIncomingBlock(N);
      if (!DT.isReachableFromEntry(From))
        return false;
      auto *Load = dyn_cast<LoadInst>(V);
      MemoryAccess *Before = Load ? before(*Load) : atStart(*cast<PHINode>(V)->getParent());
      MemoryAccess *After = atEnd(From);
      if (Before != After && clobber(Before, Place) != clobber(After, Place))
        return false;
    }
    return true;
  }

  MemoryAccess *clobber(MemoryAccess *From, const MemoryLocation &Place) {
    if (MSSA.isLiveOnEntryDef(From) || ++Walks > MaxWalks)
      return From;
    return MSSA.getWalker()->getClobberingMemoryAccess(From, Place);
  }

  // The state of memory that a load loads from, or one behind which nothing stored to its place; null if it
  // is not known.
  MemoryAccess *before(LoadInst &Load) {
    if (MemoryAccess *Start = Made.lookup(&Load))
      return Start;
    auto *Use = dyn_cast_or_null<MemoryUse>(MSSA.getMemoryAccess(&Load));
    return Use ? Use->getDefiningAccess() : nullptr;
  }

  // The state of memory behind a block's last instruction.
  MemoryAccess *atEnd(BasicBlock *BB) {
    for (auto *Node = DT.getNode(BB); Node; Node = Node->getIDom())
      if (auto *Defs = MSSA.getBlockDefs(Node->getBlock()))
        return const_cast<MemoryAccess *>(&Defs->back());
    return MSSA.getLiveOnEntryDef();
  }

  // And before its first one.
  MemoryAccess *atStart(BasicBlock &BB) {
    if (MemoryPhi *Phi = MSSA.getMemoryAccess(&BB))
      return Phi;
    auto *Above = DT.getNode(&BB)->getIDom();
    return Above ? atEnd(Above->getBlock()) : MSSA.getLiveOnEntryDef();
  }

  MemorySSA &MSSA;
  DominatorTree &DT;
  // Loads that were phis, which MemorySSA does not know: what memory is at the start of their blocks.
  DenseMap<LoadInst *, MemoryAccess *> Made;
  unsigned Walks = 0;
};
} // namespace

extern "C" bool prs_rejoin_loads(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<PHINode *, 16> Phis;
  for (Instruction &I : instructions(F))
    if (auto *P = dyn_cast<PHINode>(&I); P && P->getType()->isIntOrPtrTy() && any_of(P->incoming_values(), [](Value *V) { return isa<LoadInst>(V); }))
      Phis.push_back(P);
  if (Phis.empty())
    return false;
  MemorySSA &MSSA = S->FAM.getResult<MemorySSAAnalysis>(F).getMSSA();
  Rejoin R(MSSA, S->FAM.getResult<DominatorTreeAnalysis>(F));
  SmallPtrSet<PHINode *, 16> Gone;
  for (PHINode *P : Phis)
    if (!Gone.contains(P))
      R.phi(*P, Gone);
  for (PHINode *P : Gone)
    P->eraseFromParent();
  if (!Gone.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return !Gone.empty();
}
