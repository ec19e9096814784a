// Branches to error blocks, taken out of loops and put back; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using pollyrs::Session;

// Whether a value of the block is used elsewhere, but for PHIs of the blocks behind it, which get what a copy
// of the block computes.
static bool hasLiveOuts(const BasicBlock &BB) {
  return any_of(BB, [&](const Instruction &I) {
    return any_of(I.uses(), [&](const Use &U) {
      auto *User = cast<Instruction>(U.getUser());
      auto *PHI = dyn_cast<PHINode>(User);
      return User->getParent() != &BB && !(PHI && PHI->getIncomingBlock(U) == &BB);
    });
  });
}

// What throws an exception makes its object first, which may fail, too.
static constexpr unsigned MaxErrorBlocks = 8;

// Whether all ways from the block end the program or the function by other means than a terminator, at most
// so many blocks later. (An exception that is thrown on the way leaves it as well.)
static bool endsInError(const BasicBlock &BB, unsigned Depth) {
  const Instruction *End = BB.getTerminator();
  if (isa_and_nonnull<UnreachableInst>(End))
    return true;
  if (Depth == 0)
    return false;
  // A call for which the function has something to clean up.
  if (auto *Call = dyn_cast_or_null<InvokeInst>(End))
    return endsInError(*Call->getNormalDest(), Depth - 1);
  auto *Branch = dyn_cast_or_null<BranchInst>(End);
  return Branch && all_of(successors(&BB), [&](const BasicBlock *Next) { return endsInError(*Next, Depth - 1); });
}

bool pollyrs::isErrorBlock(const BasicBlock &BB) {
  if (BB.isEHPad() || BB.hasAddressTaken() || BB.size() > 16 || (!BB.getSinglePredecessor() && hasLiveOuts(BB)))
    return false;
  return endsInError(BB, MaxErrorBlocks);
}

// A copy of `Error` for the edge from `Pred` alone.
static BasicBlock *ownErrorBlock(BasicBlock &Error, BasicBlock &Pred) {
  if (Error.getSinglePredecessor()) {
    FoldSingleEntryPHINodes(&Error);
    return &Error;
  }
  ValueToValueMapTy Map;
  for (PHINode &PHI : Error.phis())
    Map[&PHI] = PHI.getIncomingValueForBlock(&Pred);
  BasicBlock *Own = BasicBlock::Create(Error.getContext(), Error.getName() + ".own", Error.getParent(), &Error);
  for (Instruction &I : make_range(Error.getFirstNonPHIIt(), Error.end())) {
    Instruction *Copy = I.clone();
    Copy->insertInto(Own, Own->end());
    Map[&I] = Copy;
  }
  for (Instruction &I : *Own)
    RemapInstruction(&I, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  for (BasicBlock *Next : successors(Own))
    for (PHINode &PHI : Next->phis()) {
      Value *V = PHI.getIncomingValueForBlock(&Error), *Copy = Map.lookup(V);
      PHI.addIncoming(Copy ? Copy : V, Own);
    }
  Error.removePredecessor(&Pred, /*KeepOneInputPHIs=*/true);
  Pred.getTerminator()->replaceSuccessorWith(&Error, Own);
  return Own;
}

// Instructions that a condition is made of.
static constexpr unsigned MaxErrorCondition = 32;

// Whether a condition is made of what the loop loads.
static bool dependsOnLoad(Value &Condition, const Loop &L) {
  SmallSetVector<Instruction *, 16> Work;
  auto Push = [&](Value *V) {
    if (auto *I = dyn_cast<Instruction>(V); I && L.contains(I) && !(isa<PHINode>(I) && I->getParent() == L.getHeader()))
      Work.insert(I);
  };
  Push(&Condition);
  for (unsigned I = 0; I != Work.size() && I != MaxErrorCondition; ++I) {
    if (isa<LoadInst>(Work[I]))
      return true;
    for (Value *V : Work[I]->operands())
      Push(V);
  }
  return false;
}

// Whether the function returns at once where the edge is taken, and something else than it does otherwise.
static bool returnsEarly(const BasicBlock &From, const BasicBlock &To, const LoopInfo &LI) {
  bool Tells = false, Alone = true;
  const BasicBlock *Before = &From, *BB = &To;
  for (unsigned Blocks = 0; BB && Blocks != MaxErrorBlocks; ++Blocks) {
    if (LI.getLoopFor(BB) || BB->isEHPad())
      return false;
    // What only this way stores says what went wrong: `*info = i + 1`.
    Alone &= BB->getSinglePredecessor() == Before;
    Tells |= Alone && any_of(*BB, [](const Instruction &I) { return isa<StoreInst>(I); });
    for (const PHINode &PHI : BB->phis()) {
      // One constant in place of another, or the place of the error in place of a number.
      const Value *Own = PHI.getIncomingValueForBlock(Before);
      auto IsOther = [&](const BasicBlock *Pred) { return Pred == Before || isa<ConstantInt>(PHI.getIncomingValueForBlock(Pred)); };
      auto IsConstant = [](const Value *V) { return isa<Constant>(V) && !isa<UndefValue>(V); };
      if (IsConstant(Own))
        Tells |= any_of(PHI.incoming_values(), [&](const Use &U) { return IsConstant(U) && U != Own; });
      else
        Tells |= PHI.getNumIncomingValues() > 1 && PHI.getType()->isIntegerTy() && all_of(PHI.blocks(), IsOther);
    }
    if (isa<ReturnInst>(BB->getTerminator()))
      return Tells;
    Before = BB;
    BB = BB->getSingleSuccessor();
  }
  return false;
}

// The way of a branch that leaves loops that store with an error of the program's own; none of a search,
// which stores nothing.
static std::optional<unsigned> earlyReturn(const BranchInst &Branch, const LoopInfo &LI) {
  const BasicBlock &BB = *Branch.getParent();
  const Loop *L = LI.getLoopFor(&BB);
  auto Stores = [](const BasicBlock *Block) { return any_of(*Block, [](const Instruction &I) { return isa<StoreInst>(I); }); };
  if (none_of(L->getOutermostLoop()->blocks(), Stores) || !dependsOnLoad(*Branch.getCondition(), *L))
    return std::nullopt;
  for (unsigned Way : {0u, 1u})
    if (!L->contains(Branch.getSuccessor(Way)) && L->contains(Branch.getSuccessor(1 - Way)) && returnsEarly(BB, *Branch.getSuccessor(Way), LI))
      return Way;
  return std::nullopt;
}

// A block for an edge alone.
static BasicBlock *ownEdgeBlock(BasicBlock &From, BasicBlock &To) {
  BasicBlock *Own = BasicBlock::Create(To.getContext(), To.getName() + ".early", To.getParent(), &To);
  BranchInst *Branch = BranchInst::Create(&To, Own);
  Branch->setDebugLoc(From.getTerminator()->getDebugLoc());
  From.getTerminator()->replaceSuccessorWith(&To, Own);
  To.replacePhiUsesWith(&From, Own);
  return Own;
}

// What stands for a branch to an error block, or for one that returns early.
static FunctionCallee checkFunction(Module &M, bool Early) {
  LLVMContext &Context = M.getContext();
  FunctionCallee Check = M.getOrInsertFunction(Early ? "pollyrs.check.return" : "pollyrs.check",
                                               FunctionType::get(Type::getVoidTy(Context), {Type::getInt1Ty(Context)}, false));
  auto *Callee = cast<Function>(Check.getCallee());
  Callee->setDoesNotThrow();
  // Not `willreturn`: scalar evolution must not conclude from the loop's having no other exit that it ends
  // regularly.
  Callee->setDoesNotAccessMemory();
  return Check;
}

bool pollyrs::hasCopyableChecks(const Loop &L, Session &S) {
  SmallPtrSet<const BasicBlock *, 8> Errors;
  for (ErrorCheck &C : S.Checks) {
    auto *Marker = dyn_cast_or_null<CallInst>(static_cast<Value *>(C.Marker));
    auto *Error = dyn_cast_or_null<BasicBlock>(static_cast<Value *>(C.Error));
    if (!Marker || !Error || !L.contains(Marker))
      continue;
    if (!pred_empty(Error) || hasLiveOuts(*Error))
      return false;
    Errors.insert(Error);
  }
  const BasicBlock *Exit = L.getUniqueExitBlock();
  auto IsKnown = [&](const Use &U) {
    auto *User = cast<Instruction>(U.getUser());
    if (auto *PHI = dyn_cast<PHINode>(User))
      return L.contains(PHI) || PHI->getParent() == Exit || Errors.contains(PHI->getIncomingBlock(U));
    return L.contains(User) || Errors.contains(User->getParent());
  };
  return all_of(L.blocks(), [&](const BasicBlock *BB) {
    return all_of(*BB, [&](const Instruction &I) { return all_of(I.uses(), IsKnown); });
  });
}

void pollyrs::copyChecks(Session &S, ValueToValueMapTy &Map) {
  for (size_t I = 0, Old = S.Checks.size(); I != Old; ++I) {
    auto *Marker = dyn_cast_or_null<CallInst>(static_cast<Value *>(S.Checks[I].Marker));
    auto *Error = dyn_cast_or_null<BasicBlock>(static_cast<Value *>(S.Checks[I].Error));
    Value *Copied = Marker && Error ? Map.lookup(Marker) : nullptr;
    if (!Copied)
      continue;
    BasicBlock *Own = BasicBlock::Create(Error->getContext(), Error->getName() + ".own", Error->getParent(), Error);
    for (Instruction &Part : *Error) {
      Instruction *Copy = Part.clone();
      Copy->insertInto(Own, Own->end());
      Map[&Part] = Copy;
    }
    for (Instruction &Part : *Own)
      RemapInstruction(&Part, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    for (BasicBlock *Next : successors(Own))
      for (PHINode &PHI : Next->phis()) {
        Value *V = PHI.getIncomingValueForBlock(Error), *Copy = Map.lookup(V);
        PHI.addIncoming(Copy ? Copy : V, Own);
      }
    S.Checks.push_back({Copied, Own, S.Checks[I].Weights});
  }
}

// Error blocks that follow a region which has two versions now use what stands for its values there:
// nothing led to them when the others were given that.
static void useMerged(Function &F) {
  SmallVector<PHINode *, 16> Merged;
  for (Instruction &I : instructions(F))
    if (auto *PHI = dyn_cast<PHINode>(&I); PHI && PHI->hasMetadata(pollyrs::Merged))
      Merged.push_back(PHI);
  if (Merged.empty())
    return;
  const DominatorTree DT(F);
  for (PHINode *PHI : Merged) {
    Value *Of = PHI->getIncomingValue(0);
    Of->replaceUsesWithIf(PHI, [&](Use &U) { return U.getUser() != PHI && !DT.dominates(Of, U) && DT.dominates(PHI, U); });
    PHI->setMetadata(pollyrs::Merged, nullptr);
  }
}

extern "C" {

bool prs_assume_no_errors(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  // Branches, and the ways that are taken away; whether those return early.
  MapVector<BranchInst *, std::pair<unsigned, bool>> Found;
  for (BasicBlock &BB : F) {
    auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
    if (!LI.getLoopFor(&BB) || !Branch || Branch->isUnconditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
      continue;
    bool First = pollyrs::isErrorBlock(*Branch->getSuccessor(0));
    if (First != pollyrs::isErrorBlock(*Branch->getSuccessor(1)))
      Found[Branch] = {First ? 0 : 1, false};
    else if (std::optional<unsigned> Way = earlyReturn(*Branch, LI))
      Found[Branch] = {*Way, true};
  }
  // What stands behind a loop may end the program, too: that is how the loop ends, and no error.
  SmallSet<Loop::Edge, 8> Checked;
  for (auto &[Branch, What] : Found)
    Checked.insert({Branch->getParent(), Branch->getSuccessor(What.first)});
  auto LeavesElsewhere = [&](const Loop *L) {
    SmallVector<Loop::Edge, 8> Edges;
    L->getExitEdges(Edges);
    return any_of(Edges, [&](const Loop::Edge &E) { return !Checked.contains(E); });
  };
  Found.remove_if([&](auto &Each) {
    for (const Loop *L = LI.getLoopFor(Each.first->getParent()); L; L = L->getParentLoop())
      if (!LeavesElsewhere(L))
        return true;
    return false;
  });
  if (Found.empty())
    return false;
  for (auto &[Branch, What] : Found) {
    BasicBlock *BB = Branch->getParent();
    auto [Bad, Early] = What;
    BasicBlock &To = *Branch->getSuccessor(Bad), *Next = Branch->getSuccessor(1 - Bad);
    BasicBlock *Error = Early ? ownEdgeBlock(*BB, To) : ownErrorBlock(To, *BB);
    IRBuilder<> B(Branch);
    Value *Good = Bad ? Branch->getCondition() : B.CreateNot(Branch->getCondition());
    CallInst *Marker = B.CreateCall(checkFunction(*F.getParent(), Early), {Good});
    MDNode *Weights = Branch->getMetadata(LLVMContext::MD_prof);
    B.CreateBr(Next);
    Branch->eraseFromParent();
    S->Checks.push_back({Marker, Error, Bad ? Weights : nullptr});
  }
  S->FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

// False if a check was lost.
bool prs_restore_errors(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (pollyrs::ErrorCheck &C : S->Checks) {
    // Clones that were erased took their blocks along.
    auto *Error = dyn_cast_or_null<BasicBlock>(static_cast<Value *>(C.Error));
    if (!Error || Error->getParent() != &F)
      continue;
    auto *Marker = dyn_cast_or_null<CallInst>(static_cast<Value *>(C.Marker));
    if (!Marker || Marker->getFunction() != &F)
      return false;
    BasicBlock *Head = Marker->getParent();
    BasicBlock *Rest = SplitBlock(Head, Marker);
    Head->getTerminator()->eraseFromParent();
    BranchInst *Branch = BranchInst::Create(Rest, Error, Marker->getArgOperand(0), Head);
    Branch->setDebugLoc(Marker->getDebugLoc());
    if (C.Weights)
      Branch->setMetadata(LLVMContext::MD_prof, C.Weights);
    Marker->eraseFromParent();
    Changed = true;
  }
  useMerged(F);
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

} // extern "C"
