// Loops of few iterations whose subscripts come from tables, which choose among variables or arrays, exchange
// two objects word by word, walk through arrays of one iteration, or read neighbours of an element that an
// outer loop updates, unrolled; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;
using pollyrs::Session;

// Uses that are followed from a value to an address.
static constexpr unsigned MaxUses = 256;

// Whether some address is computed from `V`.
static bool reachesAddress(Value &V) {
  SmallPtrSet<Value *, 16> Seen{&V};
  SmallVector<Value *, 16> Work{&V};
  unsigned Uses = 0;
  while (!Work.empty())
    for (User *U : Work.pop_back_val()->users()) {
      if (++Uses > MaxUses)
        return false;
      if (isa<GetElementPtrInst>(U))
        return true;
      if (U->getType()->isIntegerTy() && (isa<BinaryOperator, CastInst, PHINode, SelectInst>(U)) && Seen.insert(U).second)
        Work.push_back(U);
    }
  return false;
}

// An object whose elements are known, or may be values, if their subscripts are constants.
static bool isTable(const Value &Object) {
  if (auto *Variable = dyn_cast<AllocaInst>(&Object))
    return Variable->isStaticAlloca() && Variable->getAllocatedType()->isAggregateType();
  auto *Global = dyn_cast<GlobalVariable>(&Object);
  return Global && Global->isConstant() && Global->hasDefinitiveInitializer();
}

static bool indexesByTable(const Loop &L) {
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto *Load = dyn_cast<LoadInst>(&I))
        if (Load->isSimple() && Load->getType()->isIntegerTy() && !L.isLoopInvariant(Load->getPointerOperand()) &&
            isTable(*getUnderlyingObject(Load->getPointerOperand())) && reachesAddress(*Load))
          return true;
  return false;
}

// `*best < *next ? next : best`: a pointer that is kept from one iteration to another, or not, into variables
// of the function.
static bool choosesElement(const Loop &L, LoopInfo &LI, ScalarEvolution &SE) {
  return any_of(L.getHeader()->phis(), [&](PHINode &PHI) {
    if (!PHI.getType()->isPointerTy() || isa<SCEVAddRecExpr>(SE.getSCEV(&PHI)))
      return false;
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(&PHI, Objects, &LI);
    return all_of(Objects, [](const Value *O) {
      auto *Variable = dyn_cast<AllocaInst>(O);
      return Variable && Variable->isStaticAlloca();
    });
  });
}

// Words of an object that a loop exchanges with another: a container's pointer and sizes, a structure of some
// of them.
static constexpr unsigned MaxExchanged = 32;

// `for (i = 0; i < words; ++i) exchange(p[i], q[i]);` in a loop around that keeps `p` and `q`: what Rust's
// `std::mem::swap(a, b)` makes of two vectors.
static bool exchangesWords(const Loop &L, unsigned Count, ScalarEvolution &SE) {
  if (!L.isInnermost() || !L.getParentLoop() || Count > MaxExchanged)
    return false;
  SmallVector<LoadInst *, 2> Loads;
  SmallVector<StoreInst *, 2> Stores;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      if (auto *Load = dyn_cast<LoadInst>(&I))
        Loads.push_back(Load);
      else if (auto *Store = dyn_cast<StoreInst>(&I))
        Stores.push_back(Store);
      else if (I.mayReadOrWriteMemory() && !isa<AssumeInst>(I) && !I.isLifetimeStartOrEnd())
        return false;
    }
  if (Loads.size() != 2 || Stores.size() != 2)
    return false;
  return all_of(Stores, [&](StoreInst *Store) {
    auto *Load = dyn_cast<LoadInst>(Store->getValueOperand());
    LoadInst *Other = Loads[0] == Load ? Loads[1] : Loads[0];
    auto *At = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Store->getPointerOperand()));
    return Load && is_contained(Loads, Load) && Load->isSimple() && Store->isSimple() && Load->hasOneUse() && Load->getType()->isIntegerTy() && At &&
           At->getLoop() == &L && SE.isLoopInvariant(At->getStart(), L.getParentLoop()) && At == SE.getSCEV(Other->getPointerOperand());
  });
}

// The words of exchanged objects that are pointers elsewhere in the function are pointers where they are
// exchanged, too: values that change places.
static void retypeExchanged(Function &F) {
  const DataLayout &DL = F.getDataLayout();
  using Place = std::pair<const Value *, int64_t>;
  auto PlaceOf = [&](const Value *Pointer) {
    APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
    const Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true);
    return Place(Base, Offset.getSExtValue());
  };
  DenseSet<Place> Pointers;
  SmallVector<LoadInst *, 8> Words;
  for (BasicBlock &BB : F)
    for (Instruction &I : BB) {
      const Value *At = getLoadStorePointerOperand(&I);
      if (!At)
        continue;
      Type *T = getLoadStoreType(&I);
      if (T->isPointerTy() && T->getPointerAddressSpace() == 0)
        Pointers.insert(PlaceOf(At));
      auto *Load = dyn_cast<LoadInst>(&I);
      if (Load && Load->isSimple() && T->isIntegerTy(DL.getPointerSizeInBits()) && !Load->use_empty() && all_of(Load->uses(), [](const Use &U) {
            auto *Store = dyn_cast<StoreInst>(U.getUser());
            return Store && Store->isSimple() && U.getOperandNo() == 0;
          }))
        Words.push_back(Load);
    }
  for (LoadInst *Load : Words) {
    bool Known = Pointers.contains(PlaceOf(Load->getPointerOperand())) || any_of(Load->users(), [&](User *U) {
                   return Pointers.contains(PlaceOf(cast<StoreInst>(U)->getPointerOperand()));
                 });
    if (!Known)
      continue;
    auto *Pointer = new LoadInst(PointerType::get(F.getContext(), 0), Load->getPointerOperand(), "", false, Load->getAlign(), Load->getIterator());
    Pointer->setAAMetadata(Load->getAAMetadata());
    Pointer->takeName(Load);
    for (Use &U : make_early_inc_range(Load->uses()))
      U.set(Pointer);
    Load->eraseFromParent();
  }
}

// Bytes of an array on the stack that may become values, and values that are looked through for its
// subscripts.
static constexpr unsigned MaxLocalBytes = 4096, MaxLocalValues = 64, MaxLocalTrips = 32;

// Loads and stores of such an array when all is unrolled. A product of two matrices of 5 x 5 that is kept in
// one has 150 and becomes 55 statements; of 6 x 6 252, of 8 x 8 (a cosine transform) 576 in 128 statements,
// which are more than later stages do in their budgets: arrays do better.
static constexpr uint64_t MaxLocalAccesses = 240;
// Elements that a loop of many iterations may hand on as values: points of space and time.
static constexpr unsigned MaxCoordinates = 4;

// The number of iterations if it is small and known.
static unsigned fewTrips(const Loop &L, ScalarEvolution &SE) {
  unsigned Trips = L.getExitingBlock() ? SE.getSmallConstantTripCount(&L) : 0;
  return Trips <= MaxLocalTrips ? Trips : 0;
}

// Whether the number of iterations is small and known, or becomes so when such loops around it are unrolled.
static bool becomesFew(const Loop &L, const Loop &Around, ScalarEvolution &SE) {
  if (&L == &Around || !Around.contains(&L))
    return false;
  if (fewTrips(L, SE))
    return true;
  unsigned Most = L.getExitingBlock() ? SE.getSmallConstantMaxTripCount(&L) : 0;
  const SCEV *Count = SE.getBackedgeTakenCount(&L);
  return Most && Most <= MaxLocalTrips && !isa<SCEVCouldNotCompute>(Count) && !SCEVExprContains(Count, [&](const SCEV *S) {
    auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
    return isa<SCEVUnknown>(S) || (Rec && !becomesFew(*Rec->getLoop(), Around, SE));
  });
}

// Whether a value is a number once the loops of few iterations inside of `Around` are unrolled.
static bool countsOnly(Value *Of, const Loop &Around, LoopInfo &LI, ScalarEvolution &SE) {
  SmallVector<Value *, 8> Work = {Of};
  SmallPtrSet<Value *, 16> Seen;
  while (!Work.empty()) {
    Value *V = Work.pop_back_val();
    if (isa<Constant>(V) || isa<AllocaInst>(V) || !Seen.insert(V).second)
      continue;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || Seen.size() > MaxLocalValues)
      return false;
    const Loop *Own = LI.getLoopFor(I->getParent());
    if (auto *PHI = dyn_cast<PHINode>(I)) {
      if (!Own || (PHI->getParent() == Own->getHeader() && !becomesFew(*Own, Around, SE)))
        return false;
    } else if (auto *Load = dyn_cast<LoadInst>(I)) {
      auto *Table = dyn_cast<GlobalVariable>(getUnderlyingObject(Load->getPointerOperand()));
      if (!Table || !Table->isConstant() || !Table->hasDefinitiveInitializer())
        return false;
    } else if (!isa<BinaryOperator>(I) && !isa<CastInst>(I) && !isa<SelectInst>(I) && !isa<CmpInst>(I) && !isa<GetElementPtrInst>(I)) {
      return false;
    }
    Work.append(I->op_begin(), I->op_end());
  }
  return true;
}

// How often an instruction is there when the loops of few iterations around it, inside of `Around`, are
// unrolled.
static uint64_t copiesOf(const Instruction &I, const Loop &Around, LoopInfo &LI, ScalarEvolution &SE) {
  uint64_t Copies = 1;
  for (const Loop *L = LI.getLoopFor(I.getParent()); L && L != &Around && Copies <= MaxLocalAccesses; L = L->getParentLoop())
    Copies *= std::max(1u, SE.getSmallConstantMaxTripCount(L));
  return Copies;
}

// Whether all subscripts of an array on the stack that is not seen elsewhere are numbers once loops of few
// iterations are unrolled, each of them inside of `Around`.
static bool isLocal(AllocaInst &Array, const Loop &Around, LoopInfo &LI, ScalarEvolution &SE) {
  std::optional<TypeSize> Size = Array.getAllocationSize(Array.getDataLayout());
  if (!Size || Size->isScalable() || *Size > MaxLocalBytes)
    return false;
  uint64_t Accesses = 0;
  SmallVector<Value *, 8> Work = {&Array};
  while (!Work.empty())
    for (Use &U : Work.pop_back_val()->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (auto *Intrinsic = dyn_cast<IntrinsicInst>(I); Intrinsic && Intrinsic->isLifetimeStartOrEnd())
        continue;
      if (isa<GetElementPtrInst>(I)) {
        Work.push_back(I);
        continue;
      }
      // A copy or fill as a whole (`forces[i] = sum;`), which scalar replacement takes apart.
      if (auto *Whole = dyn_cast<MemIntrinsic>(I)) {
        auto *Length = dyn_cast<ConstantInt>(Whole->getLength());
        if (!Length || Length->getValue().ugt(MaxLocalBytes) || Whole->isVolatile() || !Around.contains(I) || !countsOnly(U.get(), Around, LI, SE))
          return false;
        Accesses += copiesOf(*I, Around, LI, SE) * divideCeil(Length->getZExtValue(), 8);
        if (Accesses > MaxLocalAccesses)
          return false;
        continue;
      }
      auto *Store = dyn_cast<StoreInst>(I);
      bool Simple = Store ? Store->isSimple() && Store->getValueOperand() != U.get() : isa<LoadInst>(I) && cast<LoadInst>(I)->isSimple();
      if (!Simple || !Around.contains(I) || !countsOnly(getLoadStorePointerOperand(I), Around, LI, SE))
        return false;
      Accesses += copiesOf(*I, Around, LI, SE);
      if (Accesses > MaxLocalAccesses)
        return false;
    }
  return true;
}

// A subscript of an array that becomes values when its loops are unrolled.
static bool walksLocal(Instruction &I, const Loop &L, LoopInfo &LI, ScalarEvolution &SE) {
  Value *Pointer = getLoadStorePointerOperand(&I);
  auto *Array = Pointer ? dyn_cast<AllocaInst>(getUnderlyingObject(Pointer)) : nullptr;
  if (!Array || SE.isLoopInvariant(SE.getSCEV(Pointer), &L))
    return false;
  // An iteration of the innermost loop around with many iterations has the array for itself.
  const Loop *Around = L.getParentLoop();
  while (Around && fewTrips(*Around, SE))
    Around = Around->getParentLoop();
  if (!Around || isLocal(*Array, *Around, LI, SE))
    return Around != nullptr;
  // Coordinates that a loop of any length adds up for the iteration of the loop around it.
  return fewTrips(L, SE) <= MaxCoordinates && Around->getParentLoop() && isLocal(*Array, *Around->getParentLoop(), LI, SE);
}

static bool walksLocals(Session &S, const Loop &L, LoopInfo &LI, ScalarEvolution &SE) {
  return any_of(L.blocks(), [&](BasicBlock *BB) {
    return any_of(*BB, [&](Instruction &I) { return getLoadStorePointerOperand(&I) && S.work(MaxLocalAccesses) && walksLocal(I, L, LI, SE); });
  });
}

// Instructions that a loop over neighbours may become: a box of 7 x 7 x 7 points has 343, of about twelve
// instructions each.
static constexpr uint64_t MaxNeighbours = 6000;

// The outermost loop around `L` if at least two loops around it have many iterations: steps in time, and
// elements.
static const Loop *stepsAround(const Loop &L, ScalarEvolution &SE) {
  const Loop *Outermost = nullptr;
  unsigned Many = 0;
  for (const Loop *Around = L.getParentLoop(); Around; Around = Around->getParentLoop()) {
    Many += !fewTrips(*Around, SE);
    Outermost = Around;
  }
  return Many >= 2 ? Outermost : nullptr;
}

// Whether two objects may be one: a pointer that is loaded anew for each access is the same if it comes from
// the same place.
static bool isSameObject(const Value *A, const Value *B) {
  if (A == B)
    return true;
  auto *LoadA = dyn_cast<LoadInst>(A), *LoadB = dyn_cast<LoadInst>(B);
  return LoadA && LoadB && LoadA->getPointerOperand()->stripPointerCasts() == LoadB->getPointerOperand()->stripPointerCasts();
}

// `for (d = 1; d <= 3; d++) sum += w[d] * (a[i - d][j] + a[i + d][j]);` inside of loops over steps and
// elements: all that leaves an iteration is a value, or what is added up in one place, and a load that moves
// with the loop is from an object that the outermost loop stores to.
static bool readsNeighbours(const Loop &L, LoopInfo &LI, ScalarEvolution &SE) {
  const Loop *Steps = L.isInnermost() ? stepsAround(L, SE) : nullptr;
  if (!Steps)
    return false;
  SmallVector<const Value *, 8> Read;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      if (auto *Store = dyn_cast<StoreInst>(&I)) {
        if (!Store->isSimple() || !SE.isLoopInvariant(SE.getSCEV(Store->getPointerOperand()), &L))
          return false;
      } else if (auto *Load = dyn_cast<LoadInst>(&I)) {
        if (!Load->isSimple())
          return false;
        if (!SE.isLoopInvariant(SE.getSCEV(Load->getPointerOperand()), &L))
          getUnderlyingObjects(Load->getPointerOperand(), Read, &LI);
      } else if (I.mayHaveSideEffects() && !isa<AssumeInst>(I) && !I.isLifetimeStartOrEnd()) {
        return false;
      }
    }
  if (Read.empty())
    return false;
  for (BasicBlock *BB : Steps->blocks())
    for (Instruction &I : *BB) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (!Store)
        continue;
      // Objects that change places.
      if (Store->getValueOperand()->getType()->isPointerTy())
        return true;
      SmallVector<const Value *, 4> Written;
      getUnderlyingObjects(Store->getPointerOperand(), Written, &LI);
      if (any_of(Written, [&](const Value *W) { return any_of(Read, [&](const Value *R) { return isSameObject(R, W); }); }))
        return true;
    }
  return false;
}

// More arrays than that are none that a program names one by one.
static constexpr unsigned MaxChosen = 4;

// `float *v = k == 0 ? q : p;`: which of a few arrays each iteration goes to.
static bool choosesBase(const Loop &L, unsigned Most) {
  if (Most > MaxChosen)
    return false;
  return any_of(L.blocks(), [&](const BasicBlock *BB) {
    return any_of(*BB, [&](const Instruction &I) {
      auto *Choice = dyn_cast<SelectInst>(&I);
      if (!Choice || !I.getType()->isPointerTy() || L.isLoopInvariant(Choice->getCondition()))
        return false;
      bool Arrays = L.isLoopInvariant(Choice->getTrueValue()) && L.isLoopInvariant(Choice->getFalseValue());
      return Arrays && any_of(I.users(), [](const User *U) { return isa<GetElementPtrInst>(U) || getLoadStorePointerOperand(U); });
    });
  });
}

// False if there is none.
static bool unrollOne(Session &S, Function &F, uint32_t MaxIterations, uint32_t MaxInstructions) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  // Inner loops first.
  auto Loops = LI.getLoopsInPreorder();
  for (Loop *L : reverse(Loops)) {
    unsigned Count = SE.getSmallConstantTripCount(L), Most = SE.getSmallConstantMaxTripCount(L);
    bool Chooses = choosesBase(*L, Most);
    // (Whether there is an iteration may be a condition.)
    if (Chooses)
      Count = Most;
    uint64_t Size = 0;
    for (BasicBlock *BB : L->blocks())
      Size += BB->size();
    if (!Count || Count > MaxIterations || Size * Count > std::max<uint64_t>(MaxInstructions, MaxNeighbours) || !L->isLoopSimplifyForm() ||
        !L->isSafeToClone())
      continue;
    if (!S.work(*L))
      return false;
    bool Exchanges = exchangesWords(*L, Count, SE);
    bool Few = Size * Count <= MaxInstructions && (Exchanges || Chooses || indexesByTable(*L) || (L->isInnermost() && choosesElement(*L, LI, SE)) || walksLocals(S, *L, LI, SE));
    if (!Few && !readsNeighbours(*L, LI, SE))
      continue;
    UnrollLoopOptions Options{};
    Options.Count = Count;
    Options.Force = true;
    Options.ForgetAllSCEV = true;
    OptimizationRemarkEmitter Remarks(&F);
    LoopUnrollResult Result =
        UnrollLoop(L, Options, &LI, &SE, &S.FAM.getResult<DominatorTreeAnalysis>(F), &S.FAM.getResult<AssumptionAnalysis>(F),
                   &S.FAM.getResult<TargetIRAnalysis>(F), &Remarks, /*PreserveLCSSA=*/true);
    if (Result == LoopUnrollResult::Unmodified)
      continue;
    if (Exchanges && Few)
      retypeExchanged(F);
    S.FAM.invalidate(F, PreservedAnalyses::none());
    return true;
  }
  return false;
}

extern "C" bool prs_unroll_tables(Session *S, LLVMValueRef FRef, uint32_t MaxLoops, uint32_t MaxIterations,
                                  uint32_t MaxInstructions) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (uint32_t I = 0; I != MaxLoops && S->work(F) && unrollOne(*S, F, MaxIterations, MaxInstructions); ++I)
    Changed = true;
  return Changed;
}
