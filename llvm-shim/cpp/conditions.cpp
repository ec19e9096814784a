// Branches on data to straight-line code, and back; src/conditions.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// On a store that stands for a conditional one: its value is
// `select(condition, new, load of the same address)`.
constexpr const char Mark[] = "pollyrs.conditional";
// On a store beside it that keeps a minimum, a maximum or its place, and on a load for it of what need not be
// there.
constexpr const char Kept[] = "pollyrs.kept";

struct Context {
  LoopInfo &LI;
  DominatorTree &DT;
  PostDominatorTree &PDT;
  ScalarEvolution &SE;
};

// Whether the integer `S` depends on data that loops of the nest of `Outer` compute.
bool dependsOnData(const SCEV *S, const Loop &Outer, ScalarEvolution &SE, unsigned Depth) {
  if (isa<SCEVCouldNotCompute>(S))
    return true;
  return SCEVExprContains(S, [&](const SCEV *Part) {
    auto *Unknown = dyn_cast<SCEVUnknown>(Part);
    auto *I = Unknown ? dyn_cast<Instruction>(Unknown->getValue()) : nullptr;
    if (!I || !Outer.contains(I))
      return false;
    unsigned Op = I->getOpcode();
    // `(i | j) == 0`: detection takes it apart.
    if (Depth && Op == Instruction::Or)
      return dependsOnData(SE.getSCEV(I->getOperand(0)), Outer, SE, Depth - 1) ||
             dependsOnData(SE.getSCEV(I->getOperand(1)), Outer, SE, Depth - 1);
    bool Division = Op == Instruction::SDiv || Op == Instruction::SRem || Op == Instruction::AShr;
    return !(Division && Depth && isa<ConstantInt>(I->getOperand(1)) &&
             !dependsOnData(SE.getSCEV(I->getOperand(0)), Outer, SE, Depth - 1));
  });
}

bool dependsOnData(Value *Condition, const Loop &Outer, ScalarEvolution &SE, unsigned Depth) {
  auto *I = dyn_cast<Instruction>(Condition);
  if (!I)
    return false;
  switch (I->getOpcode()) {
  case Instruction::ICmp:
    if (!I->getOperand(0)->getType()->isIntegerTy())
      return true;
    return dependsOnData(SE.getSCEV(I->getOperand(0)), Outer, SE, 4) ||
           dependsOnData(SE.getSCEV(I->getOperand(1)), Outer, SE, 4);
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Select:
  case Instruction::Freeze:
    for (Value *Op : I->operands())
      if (!Depth || dependsOnData(Op, Outer, SE, Depth - 1))
        return true;
    return false;
  case Instruction::Trunc:
    return dependsOnData(SE.getSCEV(I->getOperand(0)), Outer, SE, 4);
  default:
    return true;
  }
}

} // namespace

bool pollyrs::dependsOnData(Value *Condition, const Loop &Outer, ScalarEvolution &SE) {
  return ::dependsOnData(Condition, Outer, SE, 6);
}

namespace {
// Whether every execution of `Head` comes with an access of the bytes that `Access` touches, in the same
// iteration: then the bytes are there. What may end the iteration early was excluded before.
bool surelyAccessed(Instruction &Access, BasicBlock &Head, Context &C) {
  Value *Pointer = getLoadStorePointerOperand(&Access);
  const DataLayout &DL = Access.getDataLayout();
  TypeSize Size = DL.getTypeStoreSize(getLoadStoreType(&Access));
  const SCEV *Address = C.SE.getSCEV(Pointer);
  const Loop *L = C.LI.getLoopFor(&Head);
  auto Accesses = [&](BasicBlock &BB) {
    for (Instruction &I : BB) {
      Value *P = getLoadStorePointerOperand(&I);
      if (P && !I.isVolatile() && !I.hasMetadata(Mark) && !I.hasMetadata(Kept) && DL.getTypeStoreSize(getLoadStoreType(&I)) == Size &&
          (P == Pointer || C.SE.getSCEV(P) == Address) && !isa<SCEVCouldNotCompute>(Address))
        return true;
    }
    return false;
  };
  for (BasicBlock *BB : L->blocks()) {
    if (C.LI.getLoopFor(BB) != L)
      continue;
    if ((C.DT.dominates(BB, &Head) || C.PDT.dominates(BB, &Head)) && Accesses(*BB))
      return true;
  }
  auto *Branch = cast<BranchInst>(Head.getTerminator());
  BasicBlock *T = Branch->getSuccessor(0), *F = Branch->getSuccessor(1);
  return T->getSinglePredecessor() && F->getSinglePredecessor() && Accesses(*T) && Accesses(*F);
}

// Whether every execution of `Head` comes with accesses before and behind the bytes that `Load` reads, less
// than the smallest page apart: then each of the bytes is on a page of one of them. (`if (centre) …` between
// the neighbours on both sides.)
bool liesBetweenAccesses(LoadInst &Load, BasicBlock &Head, Context &C) {
  constexpr int64_t Page = 4096;
  const DataLayout &DL = Load.getDataLayout();
  const Loop *L = C.LI.getLoopFor(&Head);
  const SCEV *Address = C.SE.getSCEV(Load.getPointerOperand());
  if (isa<SCEVCouldNotCompute>(Address) || DL.getTypeStoreSize(Load.getType()).isScalable())
    return false;
  int64_t Size = DL.getTypeStoreSize(Load.getType()).getFixedValue();
  // The nearest bytes on both sides, relative to the first one that is read.
  std::optional<int64_t> Before, Behind;
  for (BasicBlock *BB : L->blocks()) {
    if (C.LI.getLoopFor(BB) != L || !(C.DT.dominates(BB, &Head) || C.PDT.dominates(BB, &Head)))
      continue;
    for (Instruction &I : *BB) {
      Value *P = getLoadStorePointerOperand(&I);
      if (!P || I.isVolatile() || I.hasMetadata(Mark) || I.hasMetadata(Kept) || P->getType() != Load.getPointerOperandType() ||
          DL.getTypeStoreSize(getLoadStoreType(&I)).isScalable())
        continue;
      std::optional<APInt> Distance = C.SE.computeConstantDifference(C.SE.getSCEV(P), Address);
      if (!Distance || Distance->getSignificantBits() > 32)
        continue;
      int64_t First = Distance->getSExtValue(), Last = First + int64_t(DL.getTypeStoreSize(getLoadStoreType(&I)).getFixedValue()) - 1;
      if (First <= 0 && (!Before || First > *Before))
        Before = First;
      if (Last >= Size - 1 && (!Behind || Last < *Behind))
        Behind = Last;
    }
  }
  return Before && Behind && *Behind - *Before < Page;
}

// Whether nobody but this activation of the function can see what is at the address: storing once more what
// is there is no store then, and the scratch array of an iteration is written for certain.
bool isPrivate(const Value *Pointer) {
  auto *Local = dyn_cast<AllocaInst>(getUnderlyingObject(Pointer));
  return Local && !PointerMayBeCaptured(Local, /*ReturnCaptures=*/true);
}

bool isNothing(const Instruction &I) {
  return isa<AssumeInst>(I) || isa<DbgInfoIntrinsic>(I) || I.isLifetimeStartOrEnd();
}

// Whether the branch at the end of `Head` keeps a minimum or maximum: where control goes to `Arm`, one of the
// numbers that are compared takes the other one's place.
bool keepsExtremum(BasicBlock &Arm, BasicBlock &Head) {
  auto *Branch = dyn_cast<BranchInst>(Head.getTerminator());
  auto *Compare = Branch && Branch->isConditional() ? dyn_cast<CmpInst>(Branch->getCondition()) : nullptr;
  BasicBlock *Join = Arm.getSingleSuccessor();
  if (!Compare || !Join)
    return false;
  Value *A = Compare->getOperand(0), *B = Compare->getOperand(1);
  auto Trades = [&](Value *New, Value *Old) { return (New == A && Old == B) || (New == B && Old == A); };
  for (PHINode &PHI : Join->phis())
    if (PHI.getBasicBlockIndex(&Arm) >= 0 && PHI.getBasicBlockIndex(&Head) >= 0 &&
        Trades(PHI.getIncomingValueForBlock(&Arm), PHI.getIncomingValueForBlock(&Head)))
      return true;
  for (Instruction &I : Arm)
    if (auto *Store = dyn_cast<StoreInst>(&I))
      for (Value *Operand : {A, B})
        if (auto *Load = dyn_cast<LoadInst>(Operand);
            Load && Load->getPointerOperand() == Store->getPointerOperand() && Trades(Store->getValueOperand(), Load))
          return true;
  return false;
}

// Whether a store in `Arm` keeps a minimum, a maximum or its place where the loop finds it again.
bool keeps(StoreInst &Store, BasicBlock &Head, Context &C) {
  const Loop *L = C.LI.getLoopFor(&Head);
  return L && Store.isSimple() && C.SE.isSCEVable(Store.getPointerOperandType()) &&
         C.SE.isLoopInvariant(C.SE.getSCEV(Store.getPointerOperand()), L) && keepsExtremum(*Store.getParent(), Head);
}

bool canFlatten(Instruction &I, BasicBlock &Head, Context &C) {
  if (isa<PHINode>(I) || I.getType()->isTokenTy())
    return false;
  if (isa<AssumeInst>(I))
    return true;
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple() && (isSafeToSpeculativelyExecute(Load, Head.getTerminator(), nullptr, &C.DT) ||
                                surelyAccessed(I, Head, C) || liesBetweenAccesses(*Load, Head, C));
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->isSimple() && (Store->hasMetadata(Mark) || surelyAccessed(I, Head, C) || keeps(*Store, Head, C)) &&
           !Store->getValueOperand()->getType()->isPointerTy();
  if (auto *Call = dyn_cast<CallBase>(&I))
    return isa<CallInst>(I) && Call->doesNotAccessMemory() && Call->doesNotThrow() && Call->willReturn() &&
           !Call->isConvergent() && !Call->hasFnAttr("pollyrs-errno");
  return isSafeToSpeculativelyExecute(&I, Head.getTerminator(), nullptr, &C.DT);
}

// Longer arms are worth their branch: what saves the infinities of a complex product is several times the
// product.
constexpr unsigned LongestArm = 48;

// `Arm` hangs on `Head` alone, has one way on, and can run unconditionally.
bool isArm(BasicBlock &Arm, BasicBlock &Head, Context &C) {
  auto *Branch = dyn_cast<BranchInst>(Arm.getTerminator());
  if (Arm.getSinglePredecessor() != &Head || !Branch || Branch->isConditional() ||
      C.LI.getLoopFor(&Arm) != C.LI.getLoopFor(&Head) || Branch->getSuccessor(0) == &Arm)
    return false;
  if (count_if(Arm, [](Instruction &I) { return I.getType()->isFloatingPointTy() || I.getType()->isIntegerTy(1); }) > LongestArm)
    return false;
  for (Instruction &I : drop_end(Arm))
    if (!canFlatten(I, Head, C))
      return false;
  return true;
}

// What a store at `Here` replaces, if its block has loaded that and not written to memory since.
LoadInst *loadedBefore(StoreInst &Here) {
  constexpr unsigned Longest = 64;
  unsigned Left = Longest;
  for (Instruction *I = Here.getPrevNode(); I && Left; I = I->getPrevNode(), --Left) {
    if (I->mayWriteToMemory())
      return nullptr;
    auto *Load = dyn_cast<LoadInst>(I);
    if (Load && Load->isSimple() && Load->getPointerOperand() == Here.getPointerOperand() && Load->getType() == Here.getValueOperand()->getType())
      return Load;
  }
  return nullptr;
}

// Moves `Arm` into `Head`; its stores keep what is in memory where `Condition` is not as the arm wants it.
void moveArm(BasicBlock &Arm, BasicBlock &Head, Value *Condition, bool WhenTrue) {
  Instruction *Before = Head.getTerminator();
  Value *Mask = Condition;
  if (!WhenTrue && any_of(Arm, [](Instruction &I) { return isa<StoreInst>(I); }))
    Mask = IRBuilder<>(Before).CreateNot(Condition);
  for (Instruction &I : make_early_inc_range(drop_end(Arm))) {
    if (isNothing(I)) {
      I.eraseFromParent();
      continue;
    }
    I.moveBefore(Before->getIterator());
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store) {
      // (Poison, from flags that hold under the condition only, is not used without it.)
      I.dropUBImplyingAttrsAndMetadata();
      continue;
    }
    IRBuilder<> B(Store);
    if (Store->hasMetadata(Mark)) {
      auto *Inner = cast<SelectInst>(Store->getValueOperand());
      IRBuilder<> AtInner(Inner);
      // Logical and: the inner condition may be poison where the outer one is false.
      Inner->setCondition(AtInner.CreateSelect(Mask, Inner->getCondition(), B.getFalse()));
      continue;
    }
    LoadInst *Old = loadedBefore(*Store);
    if (!Old) {
      Old = B.CreateAlignedLoad(Store->getValueOperand()->getType(), Store->getPointerOperand(), Store->getAlign());
      Old->copyMetadata(*Store, {LLVMContext::MD_tbaa, LLVMContext::MD_alias_scope, LLVMContext::MD_noalias});
      if (MDNode *Node = Store->getMetadata(Kept); Node && Node->getNumOperands())
        Old->setMetadata(Kept, Node);
    }
    Value *New = Store->getValueOperand();
    auto *Select = SelectInst::Create(Mask, New, Old, "", Store->getIterator());
    Select->setDebugLoc(Store->getDebugLoc());
    Store->setOperand(0, Select);
    if (!isPrivate(Store->getPointerOperand()))
      Store->setMetadata(Mark, MDNode::get(Store->getContext(), {}));
  }
}

// The last access to memory in a block.
Instruction *lastAccess(BasicBlock &BB) {
  for (Instruction &I : reverse(BB))
    if (!isNothing(I) && I.mayReadOrWriteMemory())
      return &I;
  return nullptr;
}

// Takes the stores that both arms of a branch end with out of them, where they are to one place: it is surely
// written, with one of two values.
void takeCommonStores(BasicBlock &T, BasicBlock &F, Context &C, SmallVectorImpl<std::pair<StoreInst *, StoreInst *>> &Common) {
  while (true) {
    auto *A = dyn_cast_or_null<StoreInst>(lastAccess(T)), *B = dyn_cast_or_null<StoreInst>(lastAccess(F));
    if (!A || !B || !A->isSimple() || !B->isSimple() || A->hasMetadata(Mark) || B->hasMetadata(Mark) ||
        A->getValueOperand()->getType() != B->getValueOperand()->getType() || !C.SE.isSCEVable(A->getPointerOperandType()))
      return;
    const SCEV *Address = C.SE.getSCEV(A->getPointerOperand());
    if (isa<SCEVCouldNotCompute>(Address) || Address != C.SE.getSCEV(B->getPointerOperand()))
      return;
    A->removeFromParent();
    B->removeFromParent();
    Common.emplace_back(A, B);
  }
}

// One branch on data to straight-line code.
bool flatten(BasicBlock &Head, Context &C) {
  auto *Branch = dyn_cast<BranchInst>(Head.getTerminator());
  const Loop *L = C.LI.getLoopFor(&Head);
  if (!L || !Branch || Branch->isUnconditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
    return false;
  BasicBlock *T = Branch->getSuccessor(0), *F = Branch->getSuccessor(1);
  bool ArmT = isArm(*T, Head, C), ArmF = isArm(*F, Head, C);
  BasicBlock *Join = nullptr;
  if (ArmT && ArmF && T->getSingleSuccessor() == F->getSingleSuccessor())
    Join = T->getSingleSuccessor();
  else if (ArmT && T->getSingleSuccessor() == F)
    Join = F, ArmF = false;
  else if (ArmF && F->getSingleSuccessor() == T)
    Join = T, ArmT = false;
  if (!Join || C.LI.getLoopFor(Join) != L || Join == L->getHeader())
    return false;
  const Loop *Outer = L->getOutermostLoop();
  if (!pollyrs::dependsOnData(Branch->getCondition(), *Outer, C.SE))
    return false;
  Value *Condition = Branch->getCondition();
  SmallVector<std::pair<StoreInst *, StoreInst *>, 2> Common;
  for (BasicBlock *Arm : {ArmT ? T : nullptr, ArmF ? F : nullptr})
    if (Arm)
      for (Instruction &I : *Arm)
        if (auto *Store = dyn_cast<StoreInst>(&I); Store && !Store->hasMetadata(Mark) && keeps(*Store, Head, C)) {
          // With an operand: what it stores to is perhaps accessed by nothing else.
          LLVMContext &LLVM = Store->getContext();
          bool Surely = surelyAccessed(*Store, Head, C);
          Store->setMetadata(Kept, Surely ? MDNode::get(LLVM, {}) : MDNode::get(LLVM, MDString::get(LLVM, "perhaps")));
        }
  if (ArmT && ArmF)
    takeCommonStores(*T, *F, C, Common);
  if (ArmT)
    moveArm(*T, Head, Condition, true);
  if (ArmF)
    moveArm(*F, Head, Condition, false);
  for (auto [StoreT, StoreF] : reverse(Common)) {
    auto *Value = SelectInst::Create(Condition, StoreT->getValueOperand(), StoreF->getValueOperand(), "", Branch->getIterator());
    Value->setDebugLoc(StoreT->getDebugLoc());
    StoreT->setOperand(0, Value);
    StoreT->setAlignment(std::min(StoreT->getAlign(), StoreF->getAlign()));
    StoreT->setAAMetadata(StoreT->getAAMetadata().merge(StoreF->getAAMetadata()));
    StoreT->insertBefore(Branch->getIterator());
    StoreF->deleteValue();
  }
  BasicBlock *FromT = ArmT ? T : &Head, *FromF = ArmF ? F : &Head;
  for (PHINode &PHI : Join->phis()) {
    Value *VT = PHI.getIncomingValueForBlock(FromT), *VF = PHI.getIncomingValueForBlock(FromF);
    Value *V = VT;
    if (VT != VF) {
      auto *Select = SelectInst::Create(Condition, VT, VF, "", Branch->getIterator());
      Select->setDebugLoc(PHI.getDebugLoc());
      V = Select;
    }
    PHI.removeIncomingValueIf(
        [&](unsigned I) { return PHI.getIncomingBlock(I) == FromT || PHI.getIncomingBlock(I) == FromF; }, false);
    PHI.addIncoming(V, &Head);
  }
  BranchInst *Straight = BranchInst::Create(Join, Branch->getIterator());
  Straight->setDebugLoc(Branch->getDebugLoc());
  Branch->eraseFromParent();
  for (BasicBlock *Arm : {ArmT ? T : nullptr, ArmF ? F : nullptr})
    if (Arm) {
      // The join's PHIs do not know the arm any more.
      Arm->getTerminator()->eraseFromParent();
      new UnreachableInst(Arm->getContext(), Arm);
      DeleteDeadBlock(Arm);
    }
  if (Join->getSinglePredecessor()) {
    FoldSingleEntryPHINodes(Join);
    MergeBlockIntoPredecessor(Join);
  }
  return true;
}

// `if (a && b)` whose other way is not empty: two branches to one block. The second condition is computed in
// any case, and one branch on both is left.
bool joinBranches(BasicBlock &Head, Context &C) {
  auto *First = dyn_cast<BranchInst>(Head.getTerminator());
  const Loop *L = C.LI.getLoopFor(&Head);
  if (!L || !First || First->isUnconditional())
    return false;
  for (unsigned Way : {0u, 1u}) {
    BasicBlock *Next = First->getSuccessor(Way), *Other = First->getSuccessor(1 - Way);
    auto *Second = dyn_cast<BranchInst>(Next->getTerminator());
    if (Next == Other || Next->getSinglePredecessor() != &Head || !Second || Second->isUnconditional() ||
        C.LI.getLoopFor(Next) != L || Second->getSuccessor(0) == Second->getSuccessor(1))
      continue;
    if (Second->getSuccessor(0) != Other && Second->getSuccessor(1) != Other)
      continue;
    bool OtherWhenTrue = Second->getSuccessor(0) == Other;
    BasicBlock *Both = Second->getSuccessor(OtherWhenTrue ? 1 : 0);
    if (C.LI.getLoopFor(Both) != L || C.LI.getLoopFor(Other) != L || Other == L->getHeader() || Both == L->getHeader() ||
        Both == Next || Other == Next)
      continue;
    const Loop &Outer = *L->getOutermostLoop();
    if (!pollyrs::dependsOnData(First->getCondition(), Outer, C.SE) && !pollyrs::dependsOnData(Second->getCondition(), Outer, C.SE))
      continue;
    bool Movable = all_of(drop_end(*Next), [&](Instruction &I) { return !isa<StoreInst>(I) && canFlatten(I, Head, C); });
    if (!Movable)
      continue;
    for (Instruction &I : make_early_inc_range(drop_end(*Next))) {
      if (isNothing(I)) {
        I.eraseFromParent();
        continue;
      }
      I.moveBefore(First->getIterator());
      I.dropUBImplyingAttrsAndMetadata();
    }
    IRBuilder<> B(First);
    Value *A = Way == 0 ? First->getCondition() : B.CreateNot(First->getCondition());
    Value *Z = OtherWhenTrue ? B.CreateNot(Second->getCondition()) : Second->getCondition();
    // Logical and: the second condition may be poison where the first is false.
    Value *All = B.CreateSelect(A, Z, B.getFalse());
    for (PHINode &PHI : Other->phis()) {
      Value *FromHead = PHI.getIncomingValueForBlock(&Head), *FromNext = PHI.getIncomingValueForBlock(Next);
      Value *V = FromHead == FromNext ? FromHead : B.CreateSelect(A, FromNext, FromHead);
      PHI.removeIncomingValueIf([&](unsigned I) { return PHI.getIncomingBlock(I) == Next; }, false);
      PHI.setIncomingValueForBlock(&Head, V);
    }
    Both->replacePhiUsesWith(Next, &Head);
    B.CreateCondBr(All, Both, Other);
    First->eraseFromParent();
    Second->eraseFromParent();
    new UnreachableInst(Next->getContext(), Next);
    DeleteDeadBlock(Next);
    return true;
  }
  return false;
}

// Calls that may not return would end an iteration early: such loops are no SCoPs.
bool mayStop(const Loop &L) {
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (!isGuaranteedToTransferExecutionToSuccessor(&I))
        return true;
  return false;
}
} // namespace

extern "C" {

bool prs_flatten_conditions(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (bool Again = true; Again && S->work(F);) {
    Again = false;
    DenseMap<const Loop *, bool> Stops;
    DenseSet<const Loop *> Blocked = pollyrs::blockedLoops(*S, S->FAM.getResult<LoopAnalysis>(F));
    Context C{S->FAM.getResult<LoopAnalysis>(F), S->FAM.getResult<DominatorTreeAnalysis>(F),
              S->FAM.getResult<PostDominatorTreeAnalysis>(F), S->FAM.getResult<ScalarEvolutionAnalysis>(F)};
    for (BasicBlock &BB : F) {
      const Loop *L = C.LI.getLoopFor(&BB);
      if (!L || Blocked.contains(L))
        continue;
      if (auto [It, New] = Stops.try_emplace(L, false); New && !S->work(*L))
        return Changed;
      else if (New)
        It->second = mayStop(*L);
      if (Stops.lookup(L) || (!flatten(BB, C) && !joinBranches(BB, C)))
        continue;
      Changed = Again = true;
      S->FAM.invalidate(F, PreservedAnalyses::none());
      break;
    }
  }
  return Changed;
}

// Every marked store becomes conditional again. False if one has not the shape that was left.
bool prs_restore_conditions(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<StoreInst *, 8> Marked;
  for (Instruction &I : instructions(F))
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->hasMetadata(Mark))
      Marked.push_back(Store);
  for (StoreInst *Store : Marked) {
    auto *Select = dyn_cast<SelectInst>(Store->getValueOperand());
    auto *Old = Select ? dyn_cast<LoadInst>(Select->getFalseValue()) : nullptr;
    if (!Old || Old->getPointerOperand() != Store->getPointerOperand() || Old->getParent() != Store->getParent())
      return false;
    Store->setMetadata(Mark, nullptr);
    Store->setMetadata(Kept, nullptr);
    Store->setOperand(0, Select->getTrueValue());
    Instruction *Then = SplitBlockAndInsertIfThen(Select->getCondition(), Store->getIterator(), /*Unreachable=*/false);
    Store->moveBefore(Then->getIterator());
    if (Select->use_empty())
      Select->eraseFromParent();
    if (Old->use_empty())
      Old->eraseFromParent();
  }
  if (!Marked.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

} // extern "C"
