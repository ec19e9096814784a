// Short vectors that calls return where an exception may come instead.

#include "shim.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using pollyrs::Session;

// The elements of a vector are taken behind its definition. LLVM's pass puts them behind an invoke, too,
// which ends its block: what follows is lost. It does not look through words of the vector's size, so that
// all uses see a vector made of one where the call returns to.
static bool landVector(InvokeInst &Invoke) {
  BasicBlock *Back = Invoke.getNormalDest();
  if (!Back->getSinglePredecessor())
    Back = SplitCriticalEdge(&Invoke, 0);
  if (!Back)
    return false;
  FoldSingleEntryPHINodes(Back);
  IRBuilder<> B(Back, Back->getFirstInsertionPt());
  B.SetCurrentDebugLocation(Invoke.getDebugLoc());
  Type *Vector = Invoke.getType();
  Value *Word = B.CreateBitCast(&Invoke, B.getIntNTy(unsigned(Vector->getPrimitiveSizeInBits().getFixedValue())));
  Value *Copy = B.CreateBitCast(Word, Vector);
  Invoke.replaceUsesWithIf(Copy, [&](Use &U) { return U.getUser() != Word; });
  return true;
}

// False if there is one that stays, then vectors must.
extern "C" bool prs_land_vectors(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<InvokeInst *, 4> Found;
  for (Instruction &I : instructions(F))
    if (auto *Invoke = dyn_cast<InvokeInst>(&I); Invoke && isa<FixedVectorType>(Invoke->getType()) && !Invoke->use_empty())
      Found.push_back(Invoke);
  bool All = all_of(Found, [](InvokeInst *Invoke) { return landVector(*Invoke); });
  if (!Found.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return All;
}
