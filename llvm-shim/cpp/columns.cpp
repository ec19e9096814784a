// Loops over the columns of rows outside of those that data counts; src/prepare.rs has the argument.

#include "grouped.h"
#include "rows.h"
#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using pollyrs::linearIn;
using pollyrs::onlyComputes;
using pollyrs::Session;

namespace {
// Instructions of the loops, and how long the way to what a value is made of may be.
constexpr unsigned MaxColumnsBody = 256, MaxRemade = 12;

// A loop whose bounds are loaded, `for (k = start[i]; k < start[i + 1]; k++)`, around one over the elements
// of rows, in a loop over `i`. Each element is handed on from one `k` to the next in memory.
struct CountedRows {
  Loop *Around, *Counted, *Columns;
  // Decides whether the loop runs at all; what comes behind it.
  BasicBlock *Guard = nullptr, *Behind = nullptr;
  // The blocks of an iteration of it.
  SmallVector<BasicBlock *, 4> Blocks{};
  // The stores, and the loads of what they replace.
  SmallVector<StoreInst *, 4> Stores{};
  SmallVector<std::pair<LoadInst *, StoreInst *>, 4> Loads{};
};

// Whether a value can be computed anew from counters, in a block that `Around` comes to in each iteration.
bool canRemake(const Value *V, const CountedRows &R, unsigned Depth = MaxRemade) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !R.Around->contains(I))
    return true;
  if (auto *PHI = dyn_cast<PHINode>(I)) {
    bool Counter = PHI->getParent() == R.Columns->getHeader() || PHI->getParent() == R.Around->getHeader();
    return Counter || (PHI->getNumIncomingValues() == 1 && Depth && canRemake(PHI->getIncomingValue(0), R, Depth - 1));
  }
  return Depth && onlyComputes(*I) && all_of(I->operands(), [&](const Use &O) { return canRemake(O.get(), R, Depth - 1); });
}

// Whether the number of iterations is made of what iterations of the loop around load.
bool isCountedByLoads(Loop &L, const Loop &Around, ScalarEvolution &SE) {
  const SCEV *Count = SE.getBackedgeTakenCount(&L);
  return !isa<SCEVCouldNotCompute>(Count) && SCEVExprContains(Count, [&](const SCEV *S) {
    auto *Unknown = dyn_cast<SCEVUnknown>(S);
    auto *Load = Unknown ? dyn_cast<LoadInst>(Unknown->getValue()) : nullptr;
    return Load && Around.contains(Load);
  });
}

// The branch that decides whether the loop runs, and nothing else.
bool findGuard(CountedRows &R) {
  BasicBlock *Before = R.Counted->getLoopPreheader(), *Exit = R.Counted->getUniqueExitBlock();
  R.Guard = Before ? Before->getSinglePredecessor() : nullptr;
  auto *Branch = R.Guard ? dyn_cast<BranchInst>(R.Guard->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional() || !Exit || Exit->size() != 1 || R.Counted->getExitingBlock() != R.Counted->getLoopLatch())
    return false;
  R.Behind = Branch->getSuccessor(Branch->getSuccessor(0) == Before ? 1 : 0);
  bool Quiet = all_of(*Before, [](Instruction &I) { return I.isTerminator() || (!isa<PHINode>(I) && onlyComputes(I)); });
  return Quiet && R.Behind != Before && Exit->getUniqueSuccessor() == R.Behind && R.Behind->phis().empty() && canRemake(Branch->getCondition(), R);
}

// Whether a store is to the element of its column, whatever `k` is.
bool storesElement(const StoreInst &Store, const CountedRows &R, ScalarEvolution &SE) {
  auto Place = linearIn(SE.getSCEV(const_cast<Value *>(Store.getPointerOperand())), *R.Counted, R.Columns, SE);
  auto *Step = Place ? dyn_cast_or_null<SCEVConstant>(Place->Inner) : nullptr;
  uint64_t Bytes = Store.getDataLayout().getTypeStoreSize(Store.getValueOperand()->getType()).getFixedValue();
  return Store.isSimple() && Store.getParent() == R.Columns->getHeader() && Step && !Place->Outer && Step->getAPInt() == Bytes &&
         canRemake(Store.getPointerOperand(), R);
}

// Whether counters are ones, and can be made anew.
bool countsOnly(PHINode &PHI, const CountedRows &R, ScalarEvolution &SE) {
  auto Counts = SE.isSCEVable(PHI.getType()) ? linearIn(SE.getSCEV(&PHI), *R.Counted, R.Columns, SE) : std::nullopt;
  bool Column = PHI.getParent() == R.Columns->getHeader();
  if (!Counts || (Column ? Counts->Outer != nullptr : PHI.getParent() != R.Counted->getHeader() || Counts->Inner))
    return false;
  return all_of(PHI.blocks(), [&](BasicBlock *From) {
    return (!Column && R.Counted->contains(From)) || canRemake(PHI.getIncomingValueForBlock(From), R);
  });
}

// What the loop does: elements are loaded, changed and stored, each by its column.
bool readColumns(CountedRows &R, ScalarEvolution &SE) {
  if (!pollyrs::oneWay(*R.Counted, R.Columns, R.Blocks) || R.Blocks.size() != 3)
    return false;
  SmallDenseMap<const SCEV *, StoreInst *, 4> Bases;
  auto BaseOf = [&](Instruction &I) { return SE.getPointerBase(SE.getSCEV(getLoadStorePointerOperand(&I))); };
  unsigned Size = 0;
  for (BasicBlock *BB : R.Blocks)
    for (Instruction &I : *BB) {
      if (auto *PHI = dyn_cast<PHINode>(&I)) {
        if (!countsOnly(*PHI, R, SE))
          return false;
        continue;
      }
      bool Known = all_of(I.operands(), [&](Use &O) {
        auto *Used = dyn_cast<Instruction>(O.get());
        return !Used || R.Counted->contains(Used) || canRemake(Used, R);
      });
      auto *Store = dyn_cast<StoreInst>(&I);
      if (++Size > MaxColumnsBody || !Known || (!Store && !I.isTerminator() && !onlyComputes(I)))
        return false;
      if (Store && (!storesElement(*Store, R, SE) || !Bases.insert({BaseOf(I), Store}).second))
        return false;
      if (Store)
        R.Stores.push_back(Store);
    }
  // What is loaded of a row that is stored to is the element.
  for (BasicBlock *BB : R.Blocks)
    for (Instruction &I : *BB)
      if (auto *Load = dyn_cast<LoadInst>(&I))
        if (StoreInst *Store = Bases.lookup(BaseOf(I))) {
          if (SE.getSCEV(Store->getPointerOperand()) != SE.getSCEV(Load->getPointerOperand()) || BB != Store->getParent() || !Load->comesBefore(Store) ||
              Load->getType() != Store->getValueOperand()->getType())
            return false;
          R.Loads.push_back({Load, Store});
        }
  return !R.Stores.empty() && canRemake(cast<BranchInst>(R.Columns->getHeader()->getTerminator())->getCondition(), R);
}

// The loops in a loop that columns may be taken out of.
SmallVector<CountedRows, 2> countedRows(Loop &L, ScalarEvolution &SE) {
  SmallVector<CountedRows, 2> All;
  for (Loop *K : L.getSubLoops()) {
    if (K->getSubLoops().size() != 1 || !K->isLoopSimplifyForm() || !isCountedByLoads(*K, L, SE))
      continue;
    CountedRows R{&L, K, K->getSubLoops()[0]};
    const SCEV *Columns = SE.getBackedgeTakenCount(R.Columns);
    if (R.Columns->isInnermost() && R.Columns->getNumBlocks() == 1 && !isa<SCEVCouldNotCompute>(Columns) && SE.isLoopInvariant(Columns, &L) && findGuard(R) &&
        readColumns(R, SE))
      All.push_back(std::move(R));
  }
  return All;
}

// In the copy of the loop around, `for (c) if (there is a k) for (k)` takes the place of
// `if (there is a k) for (k) for (c)`.
class ColumnsOutside {
public:
  ColumnsOutside(const CountedRows &R, ValueToValueMapTy &Copied, Function &F) : R(R), Copied(Copied), B(F.getContext()) {
    BasicBlock *Behind = of(R.Behind);
    auto Block = [&](const Twine &Name) { return BasicBlock::Create(F.getContext(), "pollyrs." + Name, &F, Behind); };
    Column = Block("column"), Some = Block("some"), Sum = Block("counted"), Store = Block("element"), Next = Block("next"), End = Block("end");
  }

  void build() {
    BasicBlock *Guard = of(R.Guard), *Columns = of(R.Columns->getHeader());
    auto *Branch = cast<BranchInst>(Guard->getTerminator());
    bool IfTrue = Branch->getSuccessor(0) == of(R.Counted->getLoopPreheader());
    ValueToValueMapTy First, Inside, Last;
    // The columns' counters.
    SmallVector<std::pair<PHINode *, PHINode *>, 4> Counters;
    for (PHINode &PHI : Columns->phis()) {
      B.SetInsertPoint(Column);
      PHINode *New = B.CreatePHI(PHI.getType(), 2, PHI.getName());
      Counters.push_back({&PHI, New});
      Inside[&PHI] = Last[&PHI] = New;
      B.SetInsertPoint(Branch);
      New->addIncoming(remake(outsideOf(PHI, *Columns), First), Guard);
    }
    B.SetInsertPoint(Column);
    B.SetCurrentDebugLocation(Branch->getDebugLoc());
    Value *Condition = remake(Branch->getCondition(), Inside);
    for (StoreInst *Old : R.Stores)
      if (isLocal(*Old))
        load(Old, Inside);
    B.CreateCondBr(Condition, IfTrue ? Some : Next, IfTrue ? Next : Some);
    counted(Inside);
    storeLocals();
    auto *Back = cast<BranchInst>(Columns->getTerminator());
    for (auto &[Old, New] : Counters)
      New->addIncoming(remake(Old->getIncomingValueForBlock(Columns), Last), Next);
    Value *More = remake(Back->getCondition(), Last);
    bool Again = Back->getSuccessor(0) == Columns;
    B.CreateCondBr(More, Again ? Column : End, Again ? End : Column);
    B.SetInsertPoint(End);
    B.CreateBr(of(R.Behind));
    B.SetInsertPoint(Branch);
    B.CreateBr(Column);
    Branch->eraseFromParent();
  }

private:
  template <typename T> T *of(T *V) { return cast<T>((Value *)Copied[V]); }

  static Value *outsideOf(PHINode &PHI, BasicBlock &Own) {
    return PHI.getIncomingValue(PHI.getIncomingBlock(0) == &Own ? 1 : 0);
  }

  bool isInCopy(Instruction &I) {
    if (Blocks.empty())
      for (BasicBlock *BB : R.Around->blocks())
        Blocks.insert(of(BB));
    return Blocks.contains(I.getParent());
  }

  // The value, computed anew where the builder stands.
  Value *remake(Value *V, ValueToValueMapTy &Map) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !isInCopy(*I))
      return V;
    if (Value *Known = Map.lookup(I))
      return Known;
    if (auto *PHI = dyn_cast<PHINode>(I))
      return PHI->getParent() == of(R.Around->getHeader()) ? PHI : remake(PHI->getIncomingValue(0), Map);
    Instruction *New = I->clone();
    for (Use &O : New->operands())
      O.set(remake(O.get(), Map));
    insert(*I, New);
    Map[I] = New;
    return New;
  }

  void insert(const Instruction &Old, Instruction *New) {
    New->dropDbgRecords();
    New->dropUnknownNonDebugMetadata({LLVMContext::MD_tbaa, LLVMContext::MD_fpmath});
    B.Insert(New, Old.getName());
    New->setDebugLoc(Old.getDebugLoc());
  }

  // The loop that data counts, for one column; elements are handed on in values.
  void counted(ValueToValueMapTy &Map) {
    BasicBlock *Header = of(R.Counted->getHeader());
    B.SetInsertPoint(Some);
    SmallDenseMap<StoreInst *, PHINode *, 4> Elements;
    for (StoreInst *Old : R.Stores) {
      if (!isLocal(*Old))
        load(Old, Map);
      if (none_of(R.Loads, [&](auto &L) { return L.second == Old; }))
        continue;
      Element &Own = Places[Old];
      Elements[Old] = PHINode::Create(Own.Before->getType(), 2, "element", Sum);
      Elements[Old]->addIncoming(Own.Before, Some);
    }
    SmallVector<std::pair<PHINode *, PHINode *>, 4> Counters;
    for (PHINode &PHI : Header->phis()) {
      PHINode *New = PHINode::Create(PHI.getType(), 2, PHI.getName(), Sum);
      New->addIncoming(remake(outsideOf(PHI, *of(R.Counted->getLoopLatch())), Map), Some);
      Counters.push_back({&PHI, New});
    }
    // What is computed before the loop, while the builder is there.
    for (BasicBlock *BB : R.Blocks)
      for (Instruction &I : *of(BB))
        for (Use &O : I.operands())
          if (auto *Used = dyn_cast<Instruction>(O.get()); Used && isInCopy(*Used) && !R.Counted->contains(original(Used)))
            remake(Used, Map);
    B.CreateBr(Sum);
    B.SetInsertPoint(Sum);
    for (auto &[Old, New] : Counters)
      Map[Old] = New;
    for (auto &[Load, Into] : R.Loads)
      Map[of(Load)] = Elements[Into];
    for (BasicBlock *BB : R.Blocks)
      for (Instruction &I : *of(BB))
        if (!isa<PHINode, StoreInst>(I) && !I.isTerminator())
          (void)remake(&I, Map);
    for (auto &[Old, New] : Counters)
      New->addIncoming(remake(Old->getIncomingValueForBlock(of(R.Counted->getLoopLatch())), Map), Sum);
    auto *Back = cast<BranchInst>(of(R.Counted->getLoopLatch())->getTerminator());
    Value *More = remake(Back->getCondition(), Map);
    for (StoreInst *Old : R.Stores) {
      Places[Old].Behind = remake(of(Old)->getValueOperand(), Map);
      if (PHINode *PHI = Elements.lookup(Old))
        PHI->addIncoming(Places[Old].Behind, Sum);
    }
    bool Again = Back->getSuccessor(0) == Header;
    B.CreateCondBr(More, Again ? Sum : Store, Again ? Store : Sum);
    B.SetInsertPoint(Store);
    for (StoreInst *Old : R.Stores)
      if (!isLocal(*Old))
        store(*Old, Places[Old].Behind);
    B.CreateBr(Next);
  }

  // What is on the stack, and nobody else knows, may be stored in any case: then it is seen that an iteration
  // has it for itself. Elsewhere what the program does not store may be another thread's.
  static bool isLocal(const StoreInst &Old) {
    auto *Variable = dyn_cast<AllocaInst>(getUnderlyingObject(Old.getPointerOperand()));
    return Variable && !PointerMayBeCaptured(Variable, /*ReturnCaptures=*/true);
  }

  void load(StoreInst *Old, ValueToValueMapTy &Map) {
    Value *Place = remake(of(Old)->getPointerOperand(), Map);
    LoadInst *Before = B.CreateAlignedLoad(Old->getValueOperand()->getType(), Place, Old->getAlign());
    Before->setMetadata(LLVMContext::MD_tbaa, Old->getMetadata(LLVMContext::MD_tbaa));
    Places[Old] = {Place, Before, nullptr};
  }

  void store(StoreInst &Old, Value *New) {
    StoreInst *Last = B.CreateAlignedStore(New, Places[&Old].Place, Old.getAlign());
    Last->setMetadata(LLVMContext::MD_tbaa, Old.getMetadata(LLVMContext::MD_tbaa));
  }

  void storeLocals() {
    B.SetInsertPoint(Next);
    SmallVector<std::pair<StoreInst *, PHINode *>, 4> All;
    for (StoreInst *Old : R.Stores)
      if (isLocal(*Old)) {
        PHINode *PHI = B.CreatePHI(Places[Old].Before->getType(), 2);
        PHI->addIncoming(Places[Old].Before, Column);
        PHI->addIncoming(Places[Old].Behind, Store);
        All.push_back({Old, PHI});
      }
    for (auto &[Old, PHI] : All)
      store(*Old, PHI);
  }

  // What an instruction of the copy is a copy of.
  const Instruction *original(const Instruction *New) {
    if (Originals.empty())
      for (BasicBlock *BB : R.Around->blocks())
        for (Instruction &I : *BB)
          if (auto *C = dyn_cast_or_null<Instruction>(Copied.lookup(&I)))
            Originals[C] = &I;
    return Originals.lookup(New);
  }

  // Where an element is, and what it is before and behind the loop that data counts.
  struct Element {
    Value *Place, *Before, *Behind;
  };

  const CountedRows &R;
  ValueToValueMapTy &Copied;
  IRBuilder<> B;
  SmallDenseMap<StoreInst *, Element, 4> Places;
  BasicBlock *Column, *Some, *Sum, *Store, *Next, *End;
  SmallPtrSet<BasicBlock *, 16> Blocks;
  DenseMap<const Instruction *, const Instruction *> Originals;
};

bool takeColumnsOutside(Loop &L, Function &F, Session &S) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  if (L.isInnermost() || !pollyrs::isCopyable(L, DT) || L.getNumBlocks() > 64 || !S.work(L) || !pollyrs::leavesNoValue(L))
    return false;
  SmallVector<CountedRows, 2> All = countedRows(L, SE);
  if (All.empty())
    return false;
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".columns", Map, LI, DT);
  unsigned Id = pollyrs::addPair(S, F);
  addStringMetadataToLoop(&L, pollyrs::ListedMark, Id);
  addStringMetadataToLoop(&L, pollyrs::AsideMark);
  addStringMetadataToLoop(Copy.Copied, pollyrs::GroupedMark, Id);
  for (CountedRows &R : All)
    ColumnsOutside(R, Map, F).build();
  IRBuilder<> B(Copy.Before);
  B.SetCurrentDebugLocation(L.getStartLoc());
  FunctionCallee Wanted = F.getParent()->getOrInsertFunction("pollyrs_rt_wanted", pollyrs::reads(F.getContext(), MemoryEffects::readOnly()), B.getInt64Ty());
  Value *Good = B.CreateICmpNE(B.CreateCall(Wanted), B.getInt64(0));
  pollyrs::markPair(*B.CreateCondBr(Good, Copy.Other, Copy.Own), Id);
  EliminateUnreachableBlocks(F);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}
} // namespace

extern "C" bool prs_take_columns_outside(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto Blocked = pollyrs::blockedLoops(*S, S->FAM.getResult<LoopAnalysis>(F));
  return pollyrs::divideFirst(F, *S, pollyrs::VersionMarks, [&](Loop &L) { return !Blocked.contains(&L) && takeColumnsOutside(L, F, *S); });
}
