// Bounds and base pointers that a loop loads from memory which its own stores might change; src/prepare.rs
// has the argument.

#include "loads.h"
#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Guards;
using pollyrs::InvariantMark;
using pollyrs::Session;

// On `select false, before, now`: what is taken for what it is for now.
static constexpr const char SuspendedMark[] = "pollyrs.invariant.suspended";

namespace {
// What is known before a loop, computed there again where the loop computes it.
class Before {
public:
  Before(Loop &L, Instruction *At, DominatorTree &DT) : L(L), At(At), DT(DT) {}

  // Null if it may change in the loop.
  Value *value(Value *V, unsigned Depth = 16) {
    if (L.isLoopInvariant(V))
      return V;
    if (Value *Known = Copies.lookup(V))
      return Known;
    auto *I = cast<Instruction>(V);
    if (I->hasMetadata(InvariantMark)) {
      Value *Earlier = cast<SelectInst>(I)->getTrueValue();
      return L.isLoopInvariant(Earlier) ? Earlier : nullptr;
    }
    bool Copied = isa<BinaryOperator, CastInst, CmpInst, GetElementPtrInst, SelectInst, FreezeInst, MinMaxIntrinsic>(I);
    if (!Depth || !Copied || !isSafeToSpeculativelyExecute(I))
      return nullptr;
    // With as many levels or more it was looked at in vain.
    if (auto Failed = Tried.find(V); Failed != Tried.end() && Depth <= Failed->second)
      return nullptr;
    SmallVector<Value *, 4> Operands;
    for (Value *O : I->operands()) {
      Operands.push_back(value(O, Depth - 1));
      if (!Operands.back()) {
        Tried[V] = Depth;
        return nullptr;
      }
    }
    Instruction *Copy = I->clone();
    for (unsigned N = 0; N != Operands.size(); ++N)
      Copy->setOperand(N, Operands[N]);
    // Rotated loops have computed it before: their headers know it as that.
    auto *Known = find_if(Operands, [](Value *O) { return !isa<Constant>(O); });
    if (Known != Operands.end())
      for (User *U : (*Known)->users())
        if (auto *Same = dyn_cast<Instruction>(U); Same && Same->isIdenticalTo(Copy) && DT.dominates(Same, At)) {
          Copy->deleteValue();
          return Copies[V] = Same;
        }
    Copy->insertBefore(At->getIterator());
    Copy->dropLocation();
    return Copies[V] = Copy;
  }

  // Whether all branches go the given way; null if that may change in the loop. True is no condition at all.
  // `Implied` gets what follows from it: that the outermost ones go this way.
  Value *all(const Guards &Conditions, SmallPtrSetImpl<Value *> &Implied) {
    Value *All = ConstantInt::getTrue(At->getContext());
    Implied.insert(All);
    for (auto &[Condition, Way] : reverse(Conditions)) {
      Value *One = value(Condition);
      if (!One)
        return nullptr;
      // The same conditions are the same value.
      Value *&Both = Conjunctions[{All, {One, unsigned(Way)}}];
      if (!Both) {
        IRBuilder<> B(At);
        Value *Holds = Way ? One : B.CreateNot(One);
        Both = isTrue(All) ? Holds : B.CreateLogicalAnd(All, Holds);
      }
      All = Both;
      Implied.insert(All);
    }
    return All;
  }

  static bool isTrue(Value *V) {
    auto *C = dyn_cast<ConstantInt>(V);
    return C && C->isOne();
  }

private:
  Loop &L;
  Instruction *At;
  DominatorTree &DT;
  DenseMap<Value *, Value *> Copies;
  // At which depth nothing was found.
  DenseMap<Value *, unsigned> Tried;
  DenseMap<std::pair<Value *, std::pair<Value *, unsigned>>, Value *> Conjunctions;
};

// Whether a loop does no more than compute and store, and leaves no integer or pointer behind: scalar
// evolution knows such a value behind the loop from its bounds, which hold only where nothing changes them.
bool onlyStores(Loop &L) {
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      if (auto *Store = dyn_cast<StoreInst>(&I)) {
        if (!Store->isSimple())
          return false;
      } else if (I.mayWriteToMemory() && !I.isLifetimeStartOrEnd() && !isa<AssumeInst>(I)) {
        return false;
      }
      if (!I.getType()->isIntOrPtrTy())
        continue;
      for (User *U : I.users())
        if (!L.contains(cast<Instruction>(U)))
          return false;
    }
  return true;
}

// Lets what a loop computes be known by what it was before the loop.
void mark(Instruction &I, Value &Earlier) {
  auto *Marked = SelectInst::Create(ConstantInt::getTrue(I.getContext()), &Earlier, &I, I.getName());
  Marked->insertBefore(isa<PHINode>(I) ? I.getParent()->getFirstInsertionPt() : std::next(I.getIterator()));
  Marked->setDebugLoc(I.getDebugLoc());
  Marked->setMetadata(InvariantMark, MDNode::get(I.getContext(), {}));
  I.replaceUsesWithIf(Marked, [&](Use &U) { return U.getUser() != Marked; });
}

// Values that phis may have, and phis that are looked at together.
constexpr unsigned MaxJoined = 16;

// What was known before the loop of all that comes to a phi, through other phis of the loop too, which get
// into `Web`: one value. Null if there is none.
Value *joined(PHINode &P, Loop &L, SmallSetVector<PHINode *, MaxJoined> &Web) {
  Value *Earlier = nullptr;
  bool AnyLoad = false;
  Web.insert(&P);
  for (unsigned N = 0; N != Web.size(); ++N) {
    if (Web.size() > MaxJoined)
      return nullptr;
    for (Value *V : Web[N]->incoming_values()) {
      if (auto *Marked = dyn_cast<SelectInst>(V); Marked && Marked->hasMetadata(InvariantMark)) {
        V = Marked->getTrueValue();
        AnyLoad = true;
      } else if (auto *Other = dyn_cast<PHINode>(V); Other && L.contains(Other)) {
        Web.insert(Other);
        continue;
      }
      if (!L.isLoopInvariant(V) || (Earlier && Earlier != V))
        return nullptr;
      Earlier = V;
    }
  }
  return AnyLoad ? Earlier : nullptr;
}

// So is what a header takes over from iterations in which it is the same, and what several ways bring to a
// block that is the same on all of them.
void markTaken(Loop &L) {
  auto IsKnown = [](PHINode &P) { return any_of(P.users(), [](User *U) { return cast<Instruction>(U)->hasMetadata(InvariantMark); }); };
  for (BasicBlock *BB : L.blocks())
    for (PHINode &P : BB->phis()) {
      SmallSetVector<PHINode *, MaxJoined> Web;
      Value *Earlier = P.getType()->isIntOrPtrTy() && !IsKnown(P) ? joined(P, L, Web) : nullptr;
      if (!Earlier)
        continue;
      for (PHINode *Each : Web)
        if (!IsKnown(*Each))
          mark(*Each, *Earlier);
    }
}

// A place in memory before the loop, and what it holds.
struct Held {
  Value *Base;
  int64_t Offset;
  // The conditions under which loads of the loop read it, and that of reading it before the loop: any of
  // them.
  SmallVector<Value *, 2> Guards;
  Value *Any, *Content;
  // Read wherever it can be.
  bool Peeked;

  bool isOf(const Value *B, int64_t At, const Type *Ty) const {
    return B == Base && At == Offset && Ty == Content->getType();
  }
  bool isReadWhere(const SmallPtrSetImpl<Value *> &Implied) const {
    return Peeked || any_of(Guards, [&](Value *G) { return Implied.contains(G); });
  }
};

// What a pointer points into. Marked loads of one place are one pointer.
const Value *objectOf(const Value *Pointer) {
  const Value *Object = getUnderlyingObject(Pointer, 0);
  auto *Select = dyn_cast<SelectInst>(Object);
  return Select && (Select->hasMetadata(InvariantMark) || Select->hasMetadata("pollyrs.row")) ? Select->getTrueValue() : Object;
}

// Whether the stores of the loop leave the place of a load alone if they do not overlap it by chance: none is
// known to be of this place or of the same object.
bool isApart(LoadInst &Load, Loop &L, AAResults &AA) {
  MemoryLocation Location = MemoryLocation::get(&Load);
  const Value *Object = objectOf(Load.getPointerOperand());
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (!Store)
        continue;
      AliasResult R = AA.alias(MemoryLocation::get(Store), Location);
      if (R == AliasResult::NoAlias)
        continue;
      if (R != AliasResult::MayAlias || objectOf(Store->getPointerOperand()) == Object)
        return false;
    }
  return true;
}

// The block before this one: the predecessor, or the one that branches around a block which writes nothing.
// Null if there is no such block.
BasicBlock *onlyWayTo(BasicBlock &BB, DominatorTree &DT) {
  if (BasicBlock *Only = BB.getSinglePredecessor())
    return Only;
  auto *Node = DT.getNode(&BB);
  BasicBlock *Head = Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
  for (BasicBlock *Pred : predecessors(&BB)) {
    bool Arm = Pred->getSinglePredecessor() == Head && none_of(*Pred, [](Instruction &I) { return I.mayWriteToMemory(); });
    if (Pred != Head && !Arm)
      return nullptr;
  }
  return Head;
}

// A load of the same place on the only way to the loop, with nothing in between that may write it.
Value *loadedEarlier(LoadInst &Load, Value *Pointer, Loop &L, LoopInfo &LI, DominatorTree &DT,
                     AAResults &AA) {
  BasicBlock *BB = L.getLoopPreheader();
  const DataLayout &Layout = Load.getDataLayout();
  for (unsigned Steps = 0; BB && Steps != 8 && LI.getLoopFor(BB) == L.getParentLoop(); ++Steps) {
    for (Instruction &I : reverse(*BB)) {
      auto *Other = dyn_cast<LoadInst>(&I);
      if (Other && Other->isSimple() && Other->getType() == Load.getType()) {
        int64_t OffsetA = 0, OffsetB = 0;
        Value *A = GetPointerBaseWithConstantOffset(Other->getPointerOperand(), OffsetA, Layout);
        if (A == GetPointerBaseWithConstantOffset(Pointer, OffsetB, Layout) && OffsetA == OffsetB)
          return Other;
      }
      if (I.mayWriteToMemory() && isModSet(AA.getModRefInfo(&I, MemoryLocation::get(&Load).getWithNewPtr(Pointer))))
        return nullptr;
    }
    BB = onlyWayTo(*BB, DT);
  }
  return nullptr;
}

// Whether no store of the loop runs before the marked load in the first iteration, of the loops inside as
// well: then what was read before the loop is what it reads there, also if the stores change it later.
bool readsFirst(const SelectInst &Marked, Loop &L, DominatorTree &DT, LoopInfo &LI) {
  auto *At = cast<Instruction>(Marked.getFalseValue());
  for (Loop *Around = LI.getLoopFor(At->getParent()); Around; Around = Around->getParentLoop()) {
    SmallPtrSet<BasicBlock *, 1> Header = {Around->getHeader()};
    for (BasicBlock *BB : Around->blocks())
      for (Instruction &I : *BB) {
        if (!isa<StoreInst>(I))
          continue;
        bool Before = At->getParent() == Around->getHeader() ? BB == Around->getHeader() && I.comesBefore(At)
                                                             : isPotentiallyReachable(&I, At, &Header, &DT, &LI);
        if (Before)
          return false;
      }
    if (Around == &L)
      return true;
    if (!Around->getLoopPreheader())
      return false;
    At = Around->getLoopPreheader()->getTerminator();
  }
  return false;
}

// Whether what the loop computes a value from, marked loads, are all read first.
bool isSettled(Value *V, Loop &L, DominatorTree &DT, LoopInfo &LI, SmallPtrSetImpl<Value *> &Seen, unsigned Depth = 16) {
  auto *I = dyn_cast<Instruction>(V);
  // (What was seen is, or no answer is needed any more.)
  if (!I || L.isLoopInvariant(I) || !Seen.insert(I).second)
    return true;
  if (I->hasMetadata(InvariantMark))
    return readsFirst(*cast<SelectInst>(I), L, DT, LI);
  return Depth && !isa<PHINode>(I) &&
         all_of(I->operands(), [&](Use &U) { return isSettled(U, L, DT, LI, Seen, Depth - 1); });
}

// The pointers that the run-time library has read before the loop, in the block of `At`, which writes nothing
// behind that.
SmallVector<Held, 16> peekedBefore(Instruction &At) {
  SmallVector<Held, 16> All;
  for (Instruction &I : reverse(make_range(At.getParent()->begin(), At.getIterator()))) {
    if (I.mayWriteToMemory() && !pollyrs::peekedPlace(I))
      break;
    auto *Taken = dyn_cast<ExtractValueInst>(&I);
    auto *Call = Taken && Taken->getIndices() == ArrayRef<unsigned>(0) ? dyn_cast<Instruction>(Taken->getAggregateOperand()) : nullptr;
    Value *Pointer = Call ? pollyrs::peekedPlace(*Call) : nullptr;
    if (!Pointer)
      continue;
    int64_t Offset = 0;
    Value *Base = GetPointerBaseWithConstantOffset(Pointer, Offset, At.getDataLayout());
    All.push_back({Base, Offset, {}, nullptr, Taken, true});
  }
  return All;
}

// Reads a place before the loop where `Guard` holds, or where loads do that are known of the place (`Same`):
// two nests may read it under conditions of their own, and what they read is one value.
LoadInst *readBefore(LoadInst &Load, Value *Pointer, Value *Guard, Held *Same, Loop &L, AllocaInst *&Nothing) {
  Function &F = *Load.getFunction();
  IRBuilder<> B(L.getLoopPreheader()->getTerminator());
  Value *Any = Same ? B.CreateLogicalOr(Same->Any, Guard) : Guard;
  if (!Before::isTrue(Any)) {
    if (!Nothing) {
      IRBuilder<> Entry(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      Nothing = new AllocaInst(Entry.getInt64Ty(), F.getDataLayout().getAllocaAddrSpace(), "pollyrs.nothing",
                               F.getEntryBlock().begin());
      Entry.CreateStore(Entry.getInt64(0), Nothing);
    }
    Pointer = B.CreateSelect(B.CreateFreeze(Any), Pointer, Nothing);
  }
  Align Least = std::min(Load.getAlign(), Align(8));
  if (Same)
    Least = std::min(Least, cast<LoadInst>(Same->Content)->getAlign());
  LoadInst *New = B.CreateAlignedLoad(Load.getType(), Pointer, Least, Load.getName());
  New->setDebugLoc(Load.getDebugLoc());
  if (Same) {
    Same->Content->replaceUsesWithIf(New, [&](Use &U) {
      auto *User = cast<Instruction>(U.getUser());
      return User->hasMetadata(InvariantMark) && L.contains(User);
    });
    Same->Guards.push_back(Guard);
    Same->Any = Any;
    Same->Content = New;
  }
  return New;
}

// Marks the loads of one loop. `Nothing` is a variable that is read in place of what must not be read.
bool assumeInvariantLoads(Loop &L, Function &F, Session &S, AllocaInst *&Nothing) {
  auto &AA = S.FAM.getResult<AAManager>(F);
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  auto &LI = S.FAM.getResult<LoopAnalysis>(F);
  Instruction *At = L.getLoopPreheader()->getTerminator();
  SmallVector<LoadInst *, 16> Loads;
  LoopBlocksRPO Blocks(&L);
  Blocks.perform(&LI);
  for (BasicBlock *BB : Blocks)
    for (Instruction &I : *BB)
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && Load->getPointerAddressSpace() == 0)
        Loads.push_back(Load);
  SmallVector<Held, 16> Values = peekedBefore(*At);
  SmallPtrSet<LoadInst *, 16> Found;
  bool Changed = false;
  // The condition of a load may be what a header takes over, of a load that comes later in the iteration:
  // then it is known the second time.
  for (unsigned Round = 0; Round < (Changed && Found.size() != Loads.size() ? 2 : 1); ++Round) {
    Before Known(L, At, DT);
    for (LoadInst *Load : Loads) {
      if (Found.contains(Load))
        continue;
      auto *Integer = dyn_cast<IntegerType>(Load->getType());
      if (Integer ? Integer->getBitWidth() > 64 : !Load->getType()->isPointerTy())
        continue;
      if (L.isLoopInvariant(Load) || !pollyrs::steers(*Load) || !S.work(L, 2) || !isApart(*Load, L, AA))
        continue;
      Guards Conditions;
      bool Speculated = isSafeToSpeculativelyExecute(Load, At, nullptr, &DT);
      bool Guarded = Speculated || pollyrs::guardsOf(*Load, L, DT, LI, Conditions);
      Value *Pointer = Known.value(Load->getPointerOperand());
      if (!Pointer)
        continue;
      SmallPtrSet<Value *, 8> Implied;
      Value *Guard = Guarded ? Known.all(Conditions, Implied) : nullptr;
      int64_t Offset = 0;
      Value *Base = GetPointerBaseWithConstantOffset(Pointer, Offset, F.getDataLayout());
      // (Words that the library reads are whole ones.)
      bool Whole = Load->getType()->isIntegerTy() || Load->getAlign() >= 8;
      Held *Same = find_if(Values, [&](const Held &H) { return H.isOf(Base, Offset, Load->getType()) && (Whole || !H.Peeked); });
      Same = Same == Values.end() ? nullptr : Same;
      Value *Earlier = Same && Same->isReadWhere(Implied) ? Same->Content : nullptr;
      bool Again = Earlier, Peeked = false;
      if (!Earlier && (Earlier = loadedEarlier(*Load, Pointer, L, LI, DT, AA)))
        Guard = ConstantInt::getTrue(F.getContext());
      if (!Earlier) {
        // It has to be one that the program executes, whatever the stores of the loop change. (What is read
        // before the loop in any case is no other access.)
        SmallPtrSet<Value *, 16> Seen;
        if (!isSettled(Load->getPointerOperand(), L, DT, LI, Seen))
          continue;
        if (!all_of(Conditions, [&](auto &C) { return isSettled(C.first, L, DT, LI, Seen); }))
          Guard = nullptr;
        // Under conditions that change in the loop, it is read if it can be: otherwise no execution of the
        // load would have come back.
        Peeked = !Guard;
        if (Peeked && !pollyrs::mayPeek(*Load, L))
          continue;
        IRBuilder<> B(At);
        if (Peeked)
          Guard = B.CreateICmpNE(B.CreateExtractValue(pollyrs::peek(B, *Pointer), 1), B.getInt64(0));
        Earlier = readBefore(*Load, Pointer, Guard, Same, L, Nothing);
        if (Same) {
          Same->Peeked |= Peeked;
          Again = true;
        }
      }
      if (!Again)
        Values.push_back({Base, Offset, {Guard}, Guard, Earlier, Peeked});
      mark(*Load, *Earlier);
      if (AA.aliasErrno(MemoryLocation::get(Load), F.getParent()) != AliasResult::NoAlias)
        pollyrs::lookAtErrno(S, *L.getOutermostLoop());
      Found.insert(Load);
      Changed = true;
    }
    if (Changed)
      markTaken(L);
  }
  if (!Changed)
    return false;
  Before Known(L, At, DT);
  // Quotients are no sums: scalar evolution knows them to stay the same only where they are computed before
  // the loop.
  for (BasicBlock *BB : Blocks)
    for (Instruction &I : make_early_inc_range(*BB)) {
      auto *Operation = dyn_cast<BinaryOperator>(&I);
      bool Quotient = Operation && (Operation->isIntDivRem() || Operation->getOpcode() == Instruction::AShr);
      if (Value *V = Quotient ? Known.value(Operation) : nullptr)
        mark(I, *V);
    }
  markTaken(L);
  return true;
}

void assumeWithin(Loop &L, Function &F, Session &S, AllocaInst *&Nothing, bool &Changed) {
  if (L.getLoopPreheader() && onlyStores(L)) {
    Changed |= assumeInvariantLoads(L, F, S, Nothing);
    return;
  }
  for (Loop *Inner : L)
    assumeWithin(*Inner, F, S, Nothing, Changed);
}
} // namespace

extern "C" {

bool prs_assume_invariant_loads(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  AllocaInst *Nothing = nullptr;
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F))
    assumeWithin(*L, F, *S, Nothing, Changed);
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

void prs_suspend_invariant_loads(Session *S, LLVMValueRef FRef, bool Suspended) {
  Function &F = *unwrap<Function>(FRef);
  const char *From = Suspended ? InvariantMark : SuspendedMark, *To = Suspended ? SuspendedMark : InvariantMark;
  for (Instruction &I : instructions(F))
    if (I.hasMetadata(From)) {
      I.setMetadata(From, nullptr);
      I.setMetadata(To, MDNode::get(I.getContext(), {}));
      cast<SelectInst>(I).setCondition(ConstantInt::getBool(I.getContext(), !Suspended));
    }
  S->FAM.invalidate(F, PreservedAnalyses::none());
}

bool prs_restore_invariant_loads(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<SelectInst *, 16> Marked;
  for (Instruction &I : instructions(F))
    if (I.hasMetadata(InvariantMark) || I.hasMetadata(SuspendedMark))
      Marked.push_back(cast<SelectInst>(&I));
  for (SelectInst *Select : Marked) {
    Select->replaceAllUsesWith(Select->getFalseValue());
    Select->eraseFromParent();
  }
  if (!Marked.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return !Marked.empty();
}

} // extern "C"
