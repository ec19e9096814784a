// Local arrays whose size is known after all, or the same in all iterations, and what keeps the stack for
// them.
//
// In C `const int n = 8; float r[n];` declares an array of variable length: it is allocated each time that
// control comes there, between a save and a restore of the stack pointer. As one variable of the function it
// can become values. So can what an iteration has of the heap, if it is small and given back before the
// iteration ends: flang allocates the right side of `b(i)%x = b(i)%x + dt * b(i)%v` there.

#include "shim.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
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
// The same for arrays that were on the heap.
static constexpr uint64_t MaxHeapBytes = 4096;

// Whether what `A` allocates in one iteration of a loop is given back before the next one, and before the
// loop is left, on all ways. (Of the innermost loop around it; what is around that never has two of them
// then.)
static bool endsWithIteration(Instruction &A, const Loop &L, function_ref<bool(Instruction &)> GivesBack) {
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

// The same of an array on the stack: by a restore of the stack pointer as it was earlier in the iteration.
static bool endsWithIteration(AllocaInst &A, const Loop &L, DominatorTree &DT, LoopInfo &LI) {
  return endsWithIteration(A, L, [&](Instruction &I) {
    auto *Restore = dyn_cast<IntrinsicInst>(&I);
    if (!Restore || Restore->getIntrinsicID() != Intrinsic::stackrestore)
      return false;
    auto *Save = dyn_cast<IntrinsicInst>(Restore->getArgOperand(0));
    return Save && Save->getIntrinsicID() == Intrinsic::stacksave && LI.getLoopFor(Save->getParent()) == &L &&
           DT.dominates(Save, &A);
  });
}

// The library's function that a call is one of.
static LibFunc calledOf(const Instruction &I, const TargetLibraryInfo &TLI) {
  auto *Call = dyn_cast<CallInst>(&I);
  LibFunc Known = NotLibFunc;
  bool Is = Call && !Call->isNoBuiltin() && Call->getCalledFunction() && TLI.getLibFunc(*Call->getCalledFunction(), Known) && TLI.has(Known);
  return Is ? Known : NotLibFunc;
}

static bool allocates(LibFunc Known) { return Known == LibFunc_malloc || Known == LibFunc_Znwm || Known == LibFunc_Znam; }

static bool frees(LibFunc Known) {
  return Known == LibFunc_free || Known == LibFunc_ZdlPv || Known == LibFunc_ZdlPvm || Known == LibFunc_ZdaPv || Known == LibFunc_ZdaPvm;
}

namespace {
// An array of the heap, what gives it back, and blocks where there is none.
struct HeapArray {
  CallInst *Call;
  SmallPtrSet<Instruction *, 2> Frees;
  SmallPtrSet<BasicBlock *, 2> Without;
};
} // namespace

// Whether nothing else is done with an array of the heap than that its elements are loaded, stored, set and
// copied, that it is compared with no array, and given back.
static bool onlyAccessed(HeapArray &Array, const TargetLibraryInfo &TLI) {
  SmallVector<Instruction *, 16> Work = {Array.Call};
  while (!Work.empty()) {
    Instruction *Pointer = Work.pop_back_val();
    for (Use &U : Pointer->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (isa<GetElementPtrInst>(I)) {
        Work.push_back(I);
      } else if (Pointer == Array.Call && U.getOperandNo() == 0 && frees(calledOf(*I, TLI))) {
        Array.Frees.insert(I);
      } else {
        auto *Compare = dyn_cast<ICmpInst>(I);
        auto *Store = dyn_cast<StoreInst>(I);
        auto *Memory = dyn_cast<MemIntrinsic>(I);
        bool Null = Compare && Compare->isEquality() && isa<ConstantPointerNull>(Compare->getOperand(1)) && Pointer == Array.Call;
        bool Stored = Store && Store->isSimple() && Store->getPointerOperand() == Pointer && Store->getValueOperand() != Pointer;
        if (!(isa<LoadInst>(I) && cast<LoadInst>(I)->isSimple()) && !Stored && !(Memory && !Memory->isVolatile()) && !Null)
          return false;
        for (User *Used : I->users()) {
          auto *Branch = Null ? dyn_cast<BranchInst>(Used) : nullptr;
          BasicBlock *Arm = Branch ? Branch->getSuccessor(Compare->getPredicate() == CmpInst::ICMP_EQ ? 0 : 1) : nullptr;
          if (Arm && Arm->getSinglePredecessor())
            Array.Without.insert(Arm);
        }
      }
    }
  }
  return true;
}

// As what an array of so many bytes is accessed first.
static Type *elementOf(CallInst &Array, uint64_t Bytes) {
  SmallVector<Instruction *, 16> Work = {&Array};
  for (unsigned N = 0; N != Work.size() && N != 64; ++N)
    for (User *U : Work[N]->users()) {
      auto *I = cast<Instruction>(U);
      Type *Ty = isa<LoadInst, StoreInst>(I) ? getLoadStoreType(I) : nullptr;
      if (Ty && Bytes % Array.getDataLayout().getTypeAllocSize(Ty).getFixedValue() == 0)
        return Ty;
      if (isa<GetElementPtrInst>(I))
        Work.push_back(I);
    }
  return Type::getInt8Ty(Array.getContext());
}

// Small arrays of the heap that an iteration allocates and gives back become variables of the function.
static bool settleHeap(Function &F, Session &S) {
  const TargetLibraryInfo &TLI = S.FAM.getResult<TargetLibraryAnalysis>(F);
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  SmallVector<HeapArray, 4> Settled;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    Loop *L = Call ? LI.getLoopFor(Call->getParent()) : nullptr;
    if (!L || !allocates(calledOf(*Call, TLI)))
      continue;
    auto *Bytes = dyn_cast<ConstantInt>(Call->getArgOperand(0));
    if (!Bytes || Bytes->isZero() || Bytes->getValue().ugt(MaxHeapBytes))
      continue;
    HeapArray Array = {Call, {}, {}};
    auto Ends = [&](Instruction &I) { return Array.Frees.contains(&I) || Array.Without.contains(I.getParent()); };
    if (onlyAccessed(Array, TLI) && endsWithIteration(*Call, *L, Ends))
      Settled.push_back(std::move(Array));
  }
  for (auto &[Call, Frees, Without] : Settled) {
    uint64_t Bytes = cast<ConstantInt>(Call->getArgOperand(0))->getZExtValue();
    Type *Element = elementOf(*Call, Bytes);
    auto *Elements = ArrayType::get(Element, Bytes / F.getDataLayout().getTypeAllocSize(Element).getFixedValue());
    Align Least = std::max(Align(16), Call->getRetAlign().valueOrOne());
    auto *Array = new AllocaInst(Elements, F.getDataLayout().getAllocaAddrSpace(), nullptr, Least, "", F.getEntryBlock().begin());
    Array->takeName(Call);
    for (Instruction *Free : Frees)
      Free->eraseFromParent();
    Call->replaceAllUsesWith(Array);
    Call->eraseFromParent();
  }
  return !Settled.empty();
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
  bool Heap = settleHeap(F, *S);
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
  if (Heap || !Settled.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Heap || !Settled.empty();
}
}
