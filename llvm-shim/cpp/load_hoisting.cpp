// Loads out of loops: what no iteration changes, under conditions by which it is surely read, or where the
// run-time library may look.

#include "escapes.h"
#include "loads.h"
#include "shim.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using pollyrs::Guards;
using pollyrs::guardsOf;
using pollyrs::Session;
using pollyrs::steers;

namespace {
// Alias analysis that knows of objects which are handed to others behind a loop that they are not before; as
// long as no load moves.
struct Aliases {
  AAResults &AA;
  pollyrs::Escapes Escapes;

  Aliases(AAResults &AA, DominatorTree &DT, const LoopInfo &LI) : AA(AA), Escapes(DT, LI) {}

  // What in the loop may write memory.
  ArrayRef<Instruction *> writes(const Loop &L) {
    auto [At, New] = Writes.try_emplace(&L);
    if (New)
      for (BasicBlock *BB : L.blocks())
        for (Instruction &I : *BB)
          if (I.mayWriteToMemory())
            At->second.push_back(&I);
    return At->second;
  }

private:
  DenseMap<const Loop *, SmallVector<Instruction *, 0>> Writes;
};
} // namespace

// Whether nothing in the loop writes what `Load` reads.
static bool isInvariant(LoadInst &Load, const Loop &L, Aliases &A) {
  MemoryLocation Location = MemoryLocation::get(&Load);
  BatchAAResults AA(A.AA, &A.Escapes);
  return none_of(A.writes(L), [&](Instruction *I) { return isModSet(AA.getModRefInfo(I, Location)); });
}

// Whether bounds, conditions or addresses are computed from the value. Data stays where it is: a load moved
// out of a loop would become a value that crosses statements.
bool pollyrs::steers(LoadInst &Load) {
  if (Load.getType()->isPointerTy())
    return true;
  if (!Load.getType()->isIntegerTy())
    return false;
  SmallSetVector<Instruction *, 16> Work;
  Work.insert(&Load);
  for (unsigned I = 0; I != Work.size() && I != 64; ++I)
    for (User *U : Work[I]->users()) {
      if (isa<GetElementPtrInst>(U) || isa<ICmpInst>(U) || isa<SwitchInst>(U))
        return true;
      if (isa<BinaryOperator>(U) || isa<CastInst>(U) || isa<PHINode>(U) || isa<SelectInst>(U) || isa<MinMaxIntrinsic>(U))
        Work.insert(cast<Instruction>(U));
    }
  return false;
}

// Whether in each iteration of `L` the instruction runs at least once if the branches in `Found`, whose
// conditions `L` does not change, go the given way. Innermost condition first.
bool pollyrs::guardsOf(Instruction &I, Loop &L, DominatorTree &DT, LoopInfo &LI, Guards &Found) {
  SimpleLoopSafetyInfo Safety;
  Safety.computeLoopSafetyInfo(&L);
  Instruction *At = &I;
  for (unsigned Steps = 0; Steps != 32; ++Steps) {
    if (Safety.isGuaranteedToExecute(*At, &DT, &L))
      return true;
    BasicBlock *BB = At->getParent();
    Loop *Inner = LI.getLoopFor(BB);
    if (Inner && Inner != &L) {
      // Entered, its header runs; and what is sure to run in an iteration of it.
      SimpleLoopSafetyInfo InnerSafety;
      InnerSafety.computeLoopSafetyInfo(Inner);
      if (Inner->getLoopPreheader() && InnerSafety.isGuaranteedToExecute(*At, &DT, Inner)) {
        At = Inner->getLoopPreheader()->getTerminator();
        continue;
      }
    }
    BasicBlock *Pred = BB->getSinglePredecessor();
    if (!Pred || !L.contains(Pred))
      return false;
    for (Instruction &Earlier : *BB) {
      if (&Earlier == At)
        break;
      if (!isGuaranteedToTransferExecutionToSuccessor(&Earlier))
        return false;
    }
    auto *Branch = dyn_cast<BranchInst>(Pred->getTerminator());
    if (!Branch)
      return false;
    if (Branch->isConditional()) {
      if (Branch->getSuccessor(0) == Branch->getSuccessor(1))
        return false;
      Found.push_back({Branch->getCondition(), Branch->getSuccessor(0) == BB});
    }
    At = Branch;
  }
  return false;
}

// Whether two loads of the same type read the same place, by the same pointer or by constant offsets from
// one.
static bool readSamePlace(LoadInst &A, LoadInst &B) {
  if (A.getType() != B.getType())
    return false;
  if (A.getPointerOperand() == B.getPointerOperand())
    return true;
  const DataLayout &Layout = A.getDataLayout();
  int64_t OffsetA = 0, OffsetB = 0;
  return GetPointerBaseWithConstantOffset(A.getPointerOperand(), OffsetA, Layout) ==
             GetPointerBaseWithConstantOffset(B.getPointerOperand(), OffsetB, Layout) &&
         OffsetA == OffsetB;
}

// Moves the conditions before the loop, where they do not change in it.
static bool hoistGuards(const Guards &Conditions, Loop &L, Instruction *Before, bool &Changed) {
  bool Moved = false;
  bool Invariant = all_of(Conditions, [&](auto &C) { return L.makeLoopInvariant(C.first, Moved, Before); });
  Changed |= Moved;
  return Invariant;
}

// Whether all branches go the given way. The loop branches on these conditions one after the other only where
// it gets there; here all of them are looked at, so the result has to be frozen.
static Value *conjunction(const Guards &Conditions, IRBuilder<> &B) {
  Value *All = nullptr;
  for (auto &[Condition, Way] : reverse(Conditions)) {
    Value *One = Way ? Condition : B.CreateNot(Condition);
    All = All ? B.CreateLogicalAnd(All, One) : One;
  }
  return B.CreateFreeze(All);
}

// Variables that are one value in every iteration, now that it is loaded once, are that value: rotation
// carries what it loads again around a loop.
static void replaceCarried(Value &V) {
  SmallVector<PHINode *, 4> Carried;
  do {
    Carried.clear();
    for (User *U : V.users())
      if (auto *PHI = dyn_cast<PHINode>(U); PHI && PHI != &V && PHI->hasConstantValue() == &V && !is_contained(Carried, PHI))
        Carried.push_back(PHI);
    for (PHINode *PHI : Carried) {
      PHI->replaceAllUsesWith(&V);
      PHI->eraseFromParent();
    }
  } while (!Carried.empty());
}

// Which loads move: those of outermost loops with all others of their place; all that can; and those that the
// run-time library looks at.
enum class Hoisting : uint32_t { Together, Any, Peeking };

// Whether what can be accessed before `I` surely can behind it: it frees nothing, ends no lifetime, and does
// not wait for another thread that does.
static bool keepsMemory(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return !I.isAtomic() && (!Call || Call->onlyReadsMemory() || isa<MemIntrinsic>(Call) || isa<AssumeInst>(Call) ||
                           (!isa<IntrinsicInst>(Call) && Call->hasFnAttr(Attribute::NoFree) && Call->hasFnAttr(Attribute::NoSync)));
}

// The block that control comes from to `BB` on every way, directly or past a block or two that keep memory;
// null where it is not as simple.
static const BasicBlock *comesFrom(const BasicBlock &BB) {
  if (const BasicBlock *Only = BB.getSinglePredecessor())
    return Only;
  if (!BB.hasNPredecessors(2))
    return nullptr;
  const BasicBlock *A = *pred_begin(&BB), *B = *std::next(pred_begin(&BB));
  auto Keeps = [](const BasicBlock &Arm) { return all_of(Arm, keepsMemory); };
  const BasicBlock *OfA = A->getSinglePredecessor(), *OfB = B->getSinglePredecessor();
  if (OfA == B && Keeps(*A))
    return B;
  if (OfB == A && Keeps(*B))
    return A;
  return OfA && OfA == OfB && Keeps(*A) && Keeps(*B) ? OfA : nullptr;
}

// Whether `Wanted` holds of an access that is made on every way to `Before`, with nothing behind it that may
// take memory away: what can be accessed there, can be at `Before`.
static bool anyAccessedBefore(const Instruction *Before, function_ref<bool(const Instruction &, const Value *)> Wanted) {
  constexpr unsigned Farthest = 16;
  const BasicBlock *BB = Before->getParent();
  for (unsigned Blocks = 0; BB && Blocks != Farthest; ++Blocks, BB = comesFrom(*BB))
    for (const Instruction &I : reverse(*BB)) {
      if (!keepsMemory(I))
        return false;
      const Value *Pointer = getLoadStorePointerOperand(&I);
      if (Pointer && !I.isVolatile() && Wanted(I, Pointer))
        return true;
    }
  return false;
}

// Whether the place of a load lies between others that were accessed on every way to `Before`: those belong
// to one object, so this does, too (`x->data` of a structure of which `x->height` and `x->stride` were looked
// at). Then it may be read there, with `Known` alignment.
static bool liesBetweenAccesses(const LoadInst &Load, const Instruction *Before, Align &Known) {
  const DataLayout &DL = Load.getDataLayout();
  // Without `inbounds` an offset may lead to another object.
  auto PlaceOf = [&](const Value *Pointer, Type *Ty, int64_t &From, int64_t &To) -> const Value * {
    APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
    const Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/false);
    TypeSize Size = DL.getTypeStoreSize(Ty);
    if (Size.isScalable() || Offset.getSignificantBits() > 32)
      return nullptr;
    From = Offset.getSExtValue(), To = From + static_cast<int64_t>(Size.getFixedValue());
    return Base;
  };
  int64_t From, To, First = INT64_MAX, Last = INT64_MIN;
  const Value *Base = PlaceOf(Load.getPointerOperand(), Load.getType(), From, To);
  return Base && anyAccessedBefore(Before, [&](const Instruction &I, const Value *Pointer) {
    int64_t Begin, End;
    if (PlaceOf(Pointer, getLoadStoreType(&I), Begin, End) != Base)
      return false;
    First = std::min(First, Begin), Last = std::max(Last, End);
    Known = std::max(Known, commonAlignment(getLoadStoreAlignment(&I), static_cast<uint64_t>(std::abs(From - Begin))));
    return First <= From && To <= Last;
  });
}

// An address of the object that `Load` reads from, which is accessed on every way to `Before`; null if there
// is none.
static Value *accessedBeside(const LoadInst &Load, const Instruction *Before) {
  const Value *Object = Load.getPointerOperand()->stripInBoundsOffsets();
  const Value *Beside = nullptr;
  anyAccessedBefore(Before, [&](const Instruction &, const Value *Pointer) {
    Beside = Pointer->stripInBoundsOffsets() == Object ? Pointer : nullptr;
    return Beside != nullptr;
  });
  return const_cast<Value *>(Beside);
}

// Whether nothing on any way from `Earlier`, which dominates it, to `Before` writes what `Load` reads.
static bool isUnchangedSince(const LoadInst &Earlier, const LoadInst &Load, Instruction *Before, BatchAAResults &AA) {
  constexpr unsigned MaxBlocks = 64;
  MemoryLocation Location = MemoryLocation::get(&Load);
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const BasicBlock *, 16> Work;
  // Up to `End`, from behind; whether that is all there is on this way.
  auto Scan = [&](const BasicBlock &BB, BasicBlock::const_iterator End) {
    for (auto I = End; I != BB.begin();) {
      --I;
      if (&*I == &Earlier)
        return true;
      if (I->mayWriteToMemory() && isModSet(AA.getModRefInfo(&*I, Location)))
        return false;
    }
    for (const BasicBlock *Pred : predecessors(&BB))
      if (Seen.insert(Pred).second)
        Work.push_back(Pred);
    return true;
  };
  if (!Scan(*Before->getParent(), Before->getIterator()))
    return false;
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (Seen.size() > MaxBlocks || !Scan(*BB, BB->end()))
      return false;
  }
  return true;
}

// Takes the loads of one place in the loop for what was loaded before it, where nothing has written there
// since: an earlier loop over the same container has hoisted its own load. What a type tells of a place is
// known of loads where they are; one that is moved no longer says it.
static bool takeEarlier(LoadInst &Load, Loop &L, Instruction *Before, Aliases &A, DominatorTree &DT) {
  BatchAAResults AA(A.AA, &A.Escapes);
  auto Serves = [&](LoadInst &Earlier, LoadInst &Other) {
    return Other.isSimple() && readSamePlace(Earlier, Other) && isInvariant(Other, L, A) && isUnchangedSince(Earlier, Other, Before, AA);
  };
  LoadInst *Earlier = nullptr;
  for (User *U : Load.getPointerOperand()->users())
    if (auto *Known = dyn_cast<LoadInst>(U); Known && Known->isSimple() && Known->getFunction() == Load.getFunction() && !L.contains(Known) &&
                                             DT.dominates(Known, Before) && Serves(*Known, Load)) {
      Earlier = Known;
      break;
    }
  if (!Earlier)
    return false;
  SmallVector<LoadInst *, 4> Same;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto *Other = dyn_cast<LoadInst>(&I); Other && readSamePlace(*Earlier, *Other)) {
        if (!Serves(*Earlier, *Other))
          return false;
        Same.push_back(Other);
      }
  Earlier->dropPoisonGeneratingAnnotations();
  for (LoadInst *Other : Same) {
    Other->replaceAllUsesWith(Earlier);
    Other->eraseFromParent();
  }
  replaceCarried(*Earlier);
  return true;
}

namespace {
// What is known of a function.
struct HoistingIn {
  Aliases &AA;
  DominatorTree &DT;
  LoopInfo &LI;
};
} // namespace

// Moves one load before the loop; under the conditions under which the loop executes it, if it is not safe
// without. All loads of its place in the loop read the same: rotation leaves one in the guard and one in the
// loop, versions of a loop have one each. They become one, which runs where one of them does. If they have to
// go `Together`, none moves that leaves another one behind.
static bool hoistLoad(LoadInst &Load, Loop &L, const HoistingIn &Of, bool Together, bool &Changed) {
  auto &[AA, DT, LI] = Of;
  Instruction *Before = L.getLoopPreheader()->getTerminator();
  if (takeEarlier(Load, L, Before, AA, DT))
    return Changed = true;
  Align Known;
  bool Between = !Load.isVolatile() && liesBetweenAccesses(Load, Before, Known);
  bool Speculated = Between || isSafeToSpeculativelyExecute(&Load, Before, nullptr, &DT);
  SmallVector<Guards, 2> Ways(1);
  if (!Speculated && !guardsOf(Load, L, DT, LI, Ways[0]))
    return false;
  if (!isInvariant(Load, L, AA))
    return false;
  bool Moved = false;
  bool Invariant = L.makeLoopInvariant(Load.getPointerOperand(), Moved, Before);
  Changed |= Moved;
  if (!Invariant || !hoistGuards(Ways[0], L, Before, Changed))
    return false;
  bool Guarded = !Ways[0].empty();
  SmallVector<LoadInst *, 4> Same;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      auto *Other = dyn_cast<LoadInst>(&I);
      if (!Other || Other == &Load || !Other->isSimple() || !readSamePlace(Load, *Other) || !isInvariant(*Other, L, AA))
        continue;
      // Unlike this one it may run where this one does not.
      if (Guarded && !DT.dominates(&Load, Other)) {
        Guards Conditions;
        if (!guardsOf(*Other, L, DT, LI, Conditions) || !hoistGuards(Conditions, L, Before, Changed)) {
          if (Together)
            return false;
          continue;
        }
        if (!is_contained(Ways, Conditions))
          Ways.push_back(Conditions);
      }
      Same.push_back(Other);
    }
  auto Replace = [&](Value *V) {
    for (LoadInst *Other : Same) {
      Load.setAlignment(std::min(Load.getAlign(), Other->getAlign()));
      Other->replaceAllUsesWith(V);
      Other->eraseFromParent();
    }
    if (!Same.empty())
      Load.dropPoisonGeneratingAnnotations();
    if (Ways.size() > 1)
      Load.dropUBImplyingAttrsAndMetadata();
    replaceCarried(*V);
  };
  // One that every execution of the loop reaches makes up for the conditions of all.
  if (any_of(Ways, [](const Guards &Conditions) { return Conditions.empty(); })) {
    // What every execution of the loop reaches keeps what is known of it: its type tells it from stores of
    // others when loops around are looked at.
    Guards Own;
    if (Speculated && !(guardsOf(Load, L, DT, LI, Own) && Own.empty()))
      Load.dropUBImplyingAttrsAndMetadata();
    if (Between)
      Load.setAlignment(std::min(Load.getAlign(), Known));
    Load.moveBefore(Before->getIterator());
    Replace(&Load);
    return Changed = true;
  }
  IRBuilder<> B(Before);
  Value *Any = nullptr;
  for (const Guards &Conditions : Ways) {
    Value *All = conjunction(Conditions, B);
    Any = Any ? B.CreateOr(Any, All) : All;
  }
  Instruction *Then = SplitBlockAndInsertIfThen(Any, Before->getIterator(), /*Unreachable=*/false);
  BasicBlock *Split = Then->getParent()->getSinglePredecessor();
  PHINode *PHI = PHINode::Create(Load.getType(), 2, Load.getName(), Before->getParent()->begin());
  PHI->setDebugLoc(Load.getDebugLoc());
  Load.replaceAllUsesWith(PHI);
  Load.moveBefore(Then->getIterator());
  PHI->addIncoming(&Load, Then->getParent());
  PHI->addIncoming(PoisonValue::get(Load.getType()), Split);
  Replace(PHI);
  return Changed = true;
}

// Loops around loops around loops, which take longer than a call of the run-time library.
static bool isDeep(const Loop &L) {
  return !L.getParentLoop() && any_of(L.getSubLoops(), [](Loop *Inner) { return !Inner->isInnermost(); });
}

// Loops around loops whose rows are found in each iteration, of which the library looks at the table anyway.
static bool findsRows(const Loop &L) {
  if (L.getParentLoop() || L.isInnermost())
    return false;
  return any_of(L.blocks(), [&](const BasicBlock *BB) {
    return any_of(*BB, [&](const Instruction &I) {
      auto *Row = dyn_cast<LoadInst>(&I);
      if (!Row || !Row->getType()->isPointerTy())
        return false;
      // A member of a structure is none.
      int64_t Offset = 0;
      return !L.isLoopInvariant(GetPointerBaseWithConstantOffset(Row->getPointerOperand(), Offset, Row->getDataLayout()));
    });
  });
}

// Whether the run-time library can read what `Load` reads.
static bool isPeekable(const LoadInst &Load) {
  Type *Ty = Load.getType();
  const DataLayout &DL = Load.getDataLayout();
  bool Known = Ty->isPointerTy() ? !Ty->getPointerAddressSpace() : Ty->isIntegerTy(32) || Ty->isIntegerTy(64);
  return Known && !Load.getPointerAddressSpace() && DL.getIntPtrType(Load.getContext())->isIntegerTy(64) &&
         Load.getAlign() >= DL.getTypeStoreSize(Ty).getFixedValue();
}

bool pollyrs::mayPeek(LoadInst &Load, Loop &L) { return (isDeep(L) || findsRows(L)) && isPeekable(Load); }

Value *pollyrs::peek(IRBuilderBase &B, Value &Pointer) {
  Value *Address = B.CreatePtrToInt(&Pointer, B.getInt64Ty());
  Value *Place = B.CreateIntToPtr(B.CreateAnd(Address, ~7ULL), B.getPtrTy());
  Module &M = *B.GetInsertBlock()->getModule();
  return B.CreateCall(rowsFunction(M), {Place, Place, B.getInt64(8), B.getInt64(1)});
}

Value *pollyrs::peekedPlace(Instruction &I) {
  using namespace PatternMatch;
  auto *Call = dyn_cast<CallInst>(&I);
  Value *Pointer;
  bool Peeked = Call && Call->getCalledFunction() && Call->getCalledOperand() == rowsFunction(*I.getModule()).getCallee() &&
                Call->getArgOperand(0) == Call->getArgOperand(1) && match(Call->getArgOperand(2), m_SpecificInt(8)) &&
                match(Call->getArgOperand(3), m_One()) &&
                match(Call->getArgOperand(0), m_IntToPtr(m_And(m_PtrToInt(m_Value(Pointer)), m_SpecificInt(~7ULL))));
  return Peeked ? Pointer : nullptr;
}

// What the run-time library finds at the place of `Load`.
static Value *peekedAt(IRBuilder<> &B, const LoadInst &Load) {
  Type *Ty = Load.getType(), *Word = Load.getDataLayout().getIntPtrType(Load.getContext());
  Value *Pointer = const_cast<Value *>(Load.getPointerOperand());
  Value *Found = B.CreateExtractValue(pollyrs::peek(B, *Pointer), 0);
  if (Ty->isPointerTy())
    return Found;
  Value *Address = B.CreatePtrToInt(Pointer, Word);
  Value *Bits = B.CreateLShr(B.CreatePtrToInt(Found, Word), B.CreateShl(B.CreateAnd(Address, 7), 3));
  return B.CreateTrunc(Bits, Ty, Load.getName());
}

// The same, but read at once where another place of its page is accessed before: no page is smaller than
// this.
static Value *readBeside(const LoadInst &Load, Value &Beside, Instruction *Before) {
  constexpr uint64_t Page = 4096;
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(Load.getDebugLoc());
  Type *Word = Load.getDataLayout().getIntPtrType(Load.getContext());
  Value *Pointer = const_cast<Value *>(Load.getPointerOperand());
  Value *Apart = B.CreateXor(B.CreatePtrToInt(Pointer, Word), B.CreatePtrToInt(&Beside, Word));
  Instruction *Then, *Else;
  SplitBlockAndInsertIfThenElse(B.CreateICmpULT(Apart, ConstantInt::get(Word, Page)), Before->getIterator(), &Then, &Else);
  IRBuilder<> Here(Then), There(Else);
  Here.SetCurrentDebugLocation(Load.getDebugLoc());
  There.SetCurrentDebugLocation(Load.getDebugLoc());
  Value *Direct = Here.CreateFreeze(Here.CreateAlignedLoad(Load.getType(), Pointer, Load.getAlign()));
  Value *Peeked = peekedAt(There, Load);
  PHINode *PHI = PHINode::Create(Load.getType(), 2, Load.getName(), Before->getParent()->begin());
  PHI->setDebugLoc(Load.getDebugLoc());
  PHI->addIncoming(Direct, Then->getParent());
  PHI->addIncoming(Peeked, Else->getParent());
  return PHI;
}

// A load under a condition that changes in the loop, of a place that doesn't, and nothing else of which is
// known (`x->data`, where `x->height` was looked at, too). Before the loop, the run-time library reads the
// place, if it can be read; otherwise no execution of the load would have come back. Before loops that may be
// short it is asked only where nothing of the object lies on the same page.
static bool peekAtLoad(LoadInst &Load, Loop &L, Aliases &AA, bool &Changed) {
  Instruction *Before = L.getLoopPreheader()->getTerminator();
  Value *Beside = isPeekable(Load) ? accessedBeside(Load, Before) : nullptr;
  if ((!Beside && !pollyrs::mayPeek(Load, L)) || !isInvariant(Load, L, AA))
    return false;
  bool Moved = false;
  bool Invariant = L.makeLoopInvariant(Load.getPointerOperand(), Moved, Before);
  Changed |= Moved;
  if (!Invariant)
    return false;
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(Load.getDebugLoc());
  Value *Found = Beside ? readBeside(Load, *Beside, Before) : peekedAt(B, Load);
  SmallVector<LoadInst *, 4> Same;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto *Other = dyn_cast<LoadInst>(&I))
        if (Other->isSimple() && readSamePlace(Load, *Other) && isInvariant(*Other, L, AA))
          Same.push_back(Other);
  for (LoadInst *Other : Same) {
    Other->replaceAllUsesWith(Found);
    Other->eraseFromParent();
  }
  replaceCarried(*Found);
  return Changed = true;
}

// One load of one loop, outermost loops first.
static bool hoistAnyLoad(Session &S, Aliases &AA, DominatorTree &DT, LoopInfo &LI, Hoisting How, bool &Changed) {
  bool Together = How == Hoisting::Together;
  DenseSet<const Loop *> Blocked = pollyrs::blockedLoops(S, LI);
  for (Loop *L : LI.getLoopsInPreorder()) {
    Loop *Around = L->getParentLoop();
    if (Blocked.contains(L) || !L->getLoopPreheader() || (Together && Around && !Blocked.contains(Around)))
      continue;
    for (BasicBlock *BB : L->blocks())
      for (Instruction &I : *BB)
        if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && steers(*Load)) {
          if (!S.work(*L))
            return false;
          if (hoistLoad(*Load, *L, {AA, DT, LI}, Together, Changed))
            return true;
        }
  }
  if (How != Hoisting::Peeking)
    return false;
  for (Loop *L : LI)
    if (!Blocked.contains(L) && L->getLoopPreheader())
      for (BasicBlock *BB : L->blocks())
        for (Instruction &I : *BB)
          if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && steers(*Load) && S.work(*L) && peekAtLoad(*Load, *L, AA, Changed))
            return true;
  return false;
}

extern "C" {

bool prs_hoist_loads(Session *S, LLVMValueRef FRef, uint32_t MaxLoads, uint32_t How) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (uint32_t N = 0; N != MaxLoads && S->work(F); ++N) {
    auto &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    auto &LI = S->FAM.getResult<LoopAnalysis>(F);
    Aliases AA(S->FAM.getResult<AAManager>(F), DT, LI);
    bool Again = hoistAnyLoad(*S, AA, DT, LI, Hoisting(How), Changed);
    if (Changed)
      S->FAM.invalidate(F, PreservedAnalyses::none());
    if (!Again)
      break;
  }
  return Changed;
}

} // extern "C"
