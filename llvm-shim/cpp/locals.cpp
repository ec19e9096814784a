// Local arrays whose size is known after all, or the same in all iterations, and what keeps the stack for
// them.
//
// In C `const int n = 8; float r[n];` declares an array of variable length: it is allocated each time that
// control comes there, between a save and a restore of the stack pointer. As one variable of the function it
// can become values.

#include "shim.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

// What the stack may get larger by, for each array.
static constexpr uint64_t MaxSettledBytes = 16384;

// Whether what is allocated in one iteration of a loop is given back before the next one, and before the loop
// is left: all ways from the array to the end of the iteration and out of the loop lead through a restore of
// the stack pointer as it was earlier in the iteration. (Of the innermost loop around the array; what is
// around that never has two of them then.)
static bool endsWithIteration(AllocaInst &A, const Loop &L, DominatorTree &DT, LoopInfo &LI) {
  auto GivesBack = [&](Instruction &I) {
    auto *Restore = dyn_cast<IntrinsicInst>(&I);
    if (!Restore || Restore->getIntrinsicID() != Intrinsic::stackrestore)
      return false;
    auto *Save = dyn_cast<IntrinsicInst>(Restore->getArgOperand(0));
    return Save && Save->getIntrinsicID() == Intrinsic::stacksave && LI.getLoopFor(Save->getParent()) == &L &&
           DT.dominates(Save, &A);
  };
  if (any_of(make_range(std::next(A.getIterator()), A.getParent()->end()), GivesBack))
    return true;
  SmallSetVector<BasicBlock *, 16> Work;
  Work.insert_range(successors(A.getParent()));
  for (unsigned N = 0; N != Work.size(); ++N) {
    BasicBlock *BB = Work[N];
    if (BB == L.getHeader() || BB == A.getParent() || !L.contains(BB))
      return false;
    if (!any_of(*BB, GivesBack))
      Work.insert_range(successors(BB));
  }
  return true;
}

// The stores to a local variable that nothing else is done with; false if something is.
static bool onlyStored(AllocaInst &A, SmallVectorImpl<Instruction *> &Stores) {
  for (User *U : A.users()) {
    auto *I = cast<Instruction>(U);
    if (auto *Store = dyn_cast<StoreInst>(I); Store ? !Store->isSimple() || Store->getValueOperand() == &A : !I->isLifetimeStartOrEnd())
      return false;
    Stores.push_back(I);
  }
  return true;
}

// Where one array of the function can stand for those of all iterations: before the outermost loop around it,
// if that runs an iteration whenever control comes there, and each iteration of each loop has the array, or
// it might be one of a size that is none. Null if there is no such place.
static Instruction *beforeAllLoops(AllocaInst &A, Loop &Innermost, DominatorTree &DT) {
  BasicBlock *At = A.getParent();
  for (Loop *L = &Innermost; L; L = L->getParentLoop()) {
    SmallVector<BasicBlock *, 4> Ends;
    L->getExitingBlocks(Ends);
    Ends.push_back(L->getLoopLatch());
    auto Has = [&](BasicBlock *BB) { return BB && DT.dominates(At, BB); };
    if (!L->getLoopPreheader() || !all_of(Ends, Has))
      return nullptr;
    At = L->getLoopPreheader();
  }
  return At->getTerminator();
}

extern "C" {
bool prs_hoist_arrays(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  SmallVector<AllocaInst *, 4> Arrays;
  for (Instruction &I : instructions(F))
    if (auto *A = dyn_cast<AllocaInst>(&I); A && !A->isStaticAlloca() && !A->isUsedWithInAlloca() && !A->isSwiftError() && LI.getLoopFor(A->getParent()))
      Arrays.push_back(A);
  bool Changed = false;
  for (AllocaInst *A : Arrays) {
    Loop *L = LI.getLoopFor(A->getParent());
    Instruction *Before = DT.isReachableFromEntry(A->getParent()) && endsWithIteration(*A, *L, DT, LI) ? beforeAllLoops(*A, *L, DT) : nullptr;
    if (!Before || !L->getOutermostLoop()->makeLoopInvariant(A->getArraySize(), Changed, Before))
      continue;
    A->moveBefore(Before->getIterator());
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

// Arguments by reference are stored to variables (`std::min(x, 0.0f)`), which no one loads where the
// comparison of values has taken the place of the one of addresses.
bool prs_drop_unread_locals(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  SmallVector<AllocaInst *, 8> Locals;
  for (Instruction &I : F.getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I))
      Locals.push_back(A);
  for (AllocaInst *A : Locals) {
    SmallVector<Instruction *, 8> Stores;
    if (!onlyStored(*A, Stores))
      continue;
    for (Instruction *Store : Stores)
      Store->eraseFromParent();
    Changed |= !Stores.empty();
    if (A->use_empty())
      A->eraseFromParent();
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

bool prs_settle_arrays(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  const DataLayout &DL = F.getDataLayout();
  DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  SmallVector<AllocaInst *, 4> Settled;
  for (Instruction &I : instructions(F)) {
    auto *A = dyn_cast<AllocaInst>(&I);
    if (!A || A->isStaticAlloca() || A->isUsedWithInAlloca() || A->isSwiftError() || !DT.isReachableFromEntry(A->getParent()))
      continue;
    std::optional<TypeSize> Size = A->getAllocationSize(DL);
    if (!Size || Size->isScalable() || *Size > MaxSettledBytes)
      continue;
    Loop *L = LI.getLoopFor(A->getParent());
    if (!L || endsWithIteration(*A, *L, DT, LI))
      Settled.push_back(A);
  }
  for (AllocaInst *A : Settled) {
    uint64_t Count = cast<ConstantInt>(A->getArraySize())->getZExtValue();
    auto *Array = new AllocaInst(ArrayType::get(A->getAllocatedType(), Count), A->getAddressSpace(), nullptr,
                                 A->getAlign(), "", F.getEntryBlock().begin());
    Array->takeName(A);
    A->replaceAllUsesWith(Array);
    A->eraseFromParent();
  }
  if (!Settled.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return !Settled.empty();
}
}
