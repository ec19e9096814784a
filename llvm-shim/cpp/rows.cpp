// Tables of pointers to rows: a version of the loop for rows that are equally far apart; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Session;

FunctionCallee pollyrs::rowsFunction(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Word = Type::getInt64Ty(Context), *Pointer = PointerType::get(Context, 0);
  AttrBuilder Attributes(Context);
  Attributes.addAttribute(Attribute::NoUnwind).addAttribute(Attribute::WillReturn).addMemoryAttr(MemoryEffects::readOnly());
  return M.getOrInsertFunction("pollyrs_rt_rows", AttributeList::get(Context, AttributeList::FunctionIndex, Attributes),
                               StructType::get(Context, {Pointer, Word}), Pointer, Pointer, Word, Word);
}

namespace {
// Loops that are larger are not copied.
constexpr unsigned MaxBlocks = 64;

// Loads of rows' addresses from one table: from `Base + Offset` for the offsets of `Loads`, whose differences are multiples of `Step`.
struct Table {
  const SCEV *Base = nullptr;
  int64_t Step = 0;
  uint64_t Unit = 0;
  const SCEV *Least = nullptr, *Most = nullptr;
  SmallVector<std::pair<LoadInst *, const SCEV *>, 4> Loads;
  // Of a table of the ends of rows: the number of the one that has the rows.
  std::optional<unsigned> Rows;
};

// The least and the greatest value that an affine expression takes in the loop `L`, whose nest has counts of iterations that `L` does not change.
bool extremes(const SCEV *S, const Loop &L, ScalarEvolution &SE, const SCEV *&Least, const SCEV *&Most, int64_t *Step) {
  if (SE.isLoopInvariant(S, &L)) {
    Least = Most = S;
    return true;
  }
  auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  if (!Rec || !Rec->isAffine() || !L.contains(Rec->getLoop()))
    return false;
  auto *By = dyn_cast<SCEVConstant>(Rec->getStepRecurrence(SE));
  const SCEV *Count = SE.getBackedgeTakenCount(Rec->getLoop());
  if (!By || By->isZero() || isa<SCEVCouldNotCompute>(Count) || !SE.isLoopInvariant(Count, &L) ||
      SE.getTypeSizeInBits(Count->getType()) > 64 || !extremes(Rec->getStart(), L, SE, Least, Most, nullptr))
    return false;
  int64_t Value = By->getAPInt().getSExtValue();
  const SCEV *Way = SE.getMulExpr(SE.getTruncateOrZeroExtend(Count, S->getType()), By);
  (Value > 0 ? Most : Least) = SE.getAddExpr(Value > 0 ? Most : Least, Way);
  if (Step)
    *Step = std::abs(Value);
  return true;
}

// `S / By` where it is sure to be exact; null elsewhere.
const SCEV *quotient(const SCEV *S, int64_t By, ScalarEvolution &SE) {
  if (auto *C = dyn_cast<SCEVConstant>(S)) {
    int64_t Value = C->getAPInt().getSExtValue();
    return Value % By ? nullptr : SE.getConstant(C->getType(), Value / By, /*isSigned=*/true);
  }
  auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  if (!Rec || !Rec->isAffine())
    return nullptr;
  const SCEV *Start = quotient(Rec->getStart(), By, SE), *Step = quotient(Rec->getStepRecurrence(SE), By, SE);
  return Start && Step ? SE.getAddRecExpr(Start, Step, Rec->getLoop(), SCEV::FlagAnyWrap) : nullptr;
}

// Whether the PHI is the row where there is one: the load was moved before a loop, under the loop's own condition.
bool standsFor(const PHINode &PHI, const Value &Row) {
  return all_of(PHI.incoming_values(), [&](const Use &U) { return U.get() == &Row || isa<UndefValue>(U.get()); });
}

// Whether the PHI walks through the row: a loop begins with the row, and goes on from what it had.
bool walksAlong(const PHINode &PHI, const Value &Row, const Loop &L, const LoopInfo &LI) {
  const Loop *In = LI.getLoopFor(PHI.getParent());
  return In && L.contains(In) && In->getHeader() == PHI.getParent() && all_of(PHI.incoming_values(), [&](const Use &U) {
           auto *Next = dyn_cast<GetElementPtrInst>(U.get());
           return U.get() == &Row || (Next && Next->getPointerOperand() == &PHI);
         });
}

// The bytes of what is accessed in the row; 0 if nothing is but comparisons. None if what is has several sizes, or others see the pointer. All of it happens in
// the loop `L` that the row belongs to.
std::optional<uint64_t> elementOf(Value &Row, const Loop &L, const LoopInfo &LI, const DataLayout &DL, SmallPtrSetImpl<Value *> &Seen) {
  uint64_t Bytes = 0;
  if (!Seen.insert(&Row).second)
    return Bytes;
  for (User *U : Row.users()) {
    std::optional<uint64_t> Own;
    if (isa<GetElementPtrInst>(U) && U->getType()->isPointerTy())
      Own = elementOf(*U, L, LI, DL, Seen);
    else if (auto *PHI = dyn_cast<PHINode>(U); PHI && L.contains(PHI) && (Seen.contains(PHI) || standsFor(*PHI, Row) || walksAlong(*PHI, Row, L, LI)))
      Own = elementOf(*PHI, L, LI, DL, Seen);
    else if (isa<ICmpInst, PtrToIntInst>(U))
      Own = 0;
    else if (getLoadStorePointerOperand(U) == &Row && !getLoadStoreType(U)->isPointerTy() && !DL.getTypeStoreSize(getLoadStoreType(U)).isScalable())
      Own = DL.getTypeStoreSize(getLoadStoreType(U)).getFixedValue();
    if (!Own || (Bytes && *Own && Bytes != *Own))
      return std::nullopt;
    Bytes = std::max(Bytes, *Own);
  }
  return Bytes;
}

bool mayChange(const Loop &L, const LoadInst &Load, AAResults &AA) {
  auto Place = MemoryLocation::getBeforeOrAfter(Load.getPointerOperand(), Load.getAAMetadata());
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (I.mayWriteToMemory() && isModSet(AA.getModRefInfo(&I, Place)))
        return true;
  return false;
}

SmallVector<Table, 4> tablesOf(Loop &L, LoopInfo &LI, ScalarEvolution &SE, AAResults &AA, const DataLayout &DL) {
  SmallVector<Table, 4> Tables;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isSimple() || !Load->getType()->isPointerTy() || Load->getType()->getPointerAddressSpace())
        continue;
      const SCEV *Address = SE.getSCEV(Load->getPointerOperand());
      const SCEV *Base = SE.getPointerBase(Address);
      if (SE.isLoopInvariant(Address, &L) || !SE.isLoopInvariant(Base, &L) || !isa<SCEVUnknown>(Base))
        continue;
      SmallPtrSet<Value *, 8> Seen;
      std::optional<uint64_t> Unit = elementOf(*Load, *LI.getLoopFor(BB), LI, DL, Seen);
      if (!Unit)
        continue;
      const SCEV *Offset = SE.removePointerBase(Address), *Least, *Most;
      int64_t Step = 0;
      if (!extremes(Offset, L, SE, Least, Most, &Step) || Step % 8 || mayChange(L, *Load, AA))
        continue;
      auto *Same = find_if(Tables, [&](Table &T) {
        return T.Base == Base && T.Step == Step && T.Unit == *Unit && quotient(SE.getMinusSCEV(Least, T.Least), Step, SE);
      });
      if (Same == Tables.end()) {
        Tables.push_back({Base, Step, *Unit, Least, Most, {}, {}});
        Same = &Tables.back();
      }
      Same->Least = SE.getSMinExpr(Same->Least, Least);
      Same->Most = SE.getSMaxExpr(Same->Most, Most);
      Same->Loads.push_back({Load, Offset});
    }
  // (The least ones differ by constants, so that one of them is the least.)
  erase_if(Tables, [&](Table &T) {
    return any_of(T.Loads, [&](auto &Load) { return !quotient(SE.getMinusSCEV(Load.second, T.Least), T.Step, SE); });
  });
  // Rows between two pointers: the ends stand beside the beginnings. What else is only compared stays.
  SmallVector<Table, 4> Ends;
  copy_if(Tables, std::back_inserter(Ends), [](Table &T) { return T.Unit == 0; });
  erase_if(Tables, [](Table &T) { return T.Unit == 0; });
  unsigned Count = Tables.size();
  for (Table &T : Ends)
    for (unsigned N = 0; N != Count; ++N) {
      const Table &R = Tables[N];
      auto *Behind = R.Base == T.Base && R.Step == T.Step ? dyn_cast<SCEVConstant>(SE.getMinusSCEV(T.Least, R.Least)) : nullptr;
      if (!Behind || !Behind->getAPInt().isStrictlyPositive() || !Behind->getAPInt().slt(T.Step))
        continue;
      T.Unit = R.Unit, T.Rows = N;
      Tables.push_back(T);
      break;
    }
  return Tables;
}

// `if (rows of all tables are equally far apart) L; else a copy of L;`
bool divide(Loop &L, Function &F, Session &S) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  AAResults &AA = S.FAM.getResult<AAManager>(F);
  BasicBlock *Before = L.getLoopPreheader(), *Exit = L.getUniqueExitBlock();
  if (!Before || !Exit || L.getNumBlocks() > MaxBlocks || !L.isLoopSimplifyForm() || !L.isSafeToClone() || !L.isLCSSAForm(DT))
    return false;
  SmallVector<Table, 4> Tables = tablesOf(L, LI, SE, AA, F.getDataLayout());
  SCEVExpander Expander(SE, "rows");
  auto Computable = [&](const SCEV *E) { return Expander.isSafeToExpandAt(E, Before->getTerminator()); };
  if (Tables.empty() || !all_of(Tables, [&](Table &T) { return Computable(T.Least) && Computable(T.Most); }))
    return false;

  Type *Word = Type::getInt64Ty(F.getContext());
  FunctionCallee Ask = pollyrs::rowsFunction(*F.getParent());
  IRBuilder<> B(Before->getTerminator());
  Value *Good = B.getTrue();
  SmallVector<std::pair<Value *, Value *>, 4> Known;
  SmallVector<Value *, 4> Lengths;
  for (Table &T : Tables) {
    Value *Base = cast<SCEVUnknown>(T.Base)->getValue();
    auto At = [&](const SCEV *Offset) {
      return B.CreatePtrAdd(Base, Expander.expandCodeFor(Offset, Word, Before->getTerminator()));
    };
    Value *First = At(T.Least), *Last = At(T.Most);
    Value *Rows = B.CreateCall(Ask, {First, Last, B.getInt64(T.Step), B.getInt64(T.Unit)});
    Known.push_back({B.CreateExtractValue(Rows, 0), B.CreateExtractValue(Rows, 1)});
    Good = B.CreateAnd(Good, B.CreateIsNotNull(Known.back().first));
  }
  // Rows whose ends are as far apart as they are have one length, which is whole elements.
  for (auto [T, Row] : zip(Tables, Known)) {
    Lengths.push_back(nullptr);
    if (!T.Rows)
      continue;
    auto [First, Pitch] = Known[*T.Rows];
    Value *Bytes = B.CreateSub(B.CreatePtrToInt(Row.first, Word), B.CreatePtrToInt(First, Word));
    Value *Whole = B.CreateICmpEQ(B.CreateURem(Bytes, B.getInt64(T.Unit)), B.getInt64(0));
    Value *Same = B.CreateAnd(B.CreateICmpEQ(Row.second, Pitch), B.CreateICmpSGE(Bytes, B.getInt64(0)));
    Good = B.CreateAnd(Good, B.CreateAnd(Same, Whole));
    Lengths.back() = B.CreateFreeze(B.CreateUDiv(Bytes, B.getInt64(T.Unit)), "row.length");
  }
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".apart", Map, LI, DT);
  addStringMetadataToLoop(Copy.Copied, pollyrs::ApartMark);
  IRBuilder<>(Copy.Before).CreateCondBr(Good, Copy.Own, Copy.Other);

  for (auto [T, Found, Length] : zip(Tables, Known, Lengths))
    for (auto &[Load, Offset] : T.Loads) {
      auto Row = T.Rows ? Known[*T.Rows] : Found;
      const SCEV *Number = quotient(SE.getMinusSCEV(Offset, T.Least), T.Step, SE);
      auto Replace = [&, Unit = T.Unit, Length = Length](Instruction &Old, BasicBlock::iterator Place) {
        Value *Index = Expander.expandCodeFor(Number, Word, Place);
        IRBuilder<> At(Place->getParent(), Place);
        Type *Element = ArrayType::get(At.getInt8Ty(), Unit);
        Value *Begin = At.CreateGEP(Element, Row.first, At.CreateMul(Index, Row.second), "row");
        Old.replaceAllUsesWith(Length ? At.CreateGEP(Element, Begin, Length, "row.end") : Begin);
        Old.eraseFromParent();
      };
      // (One may take the row from several blocks.)
      SmallSetVector<PHINode *, 4> PHIs;
      for (User *U : Load->users())
        if (auto *PHI = dyn_cast<PHINode>(U); PHI && standsFor(*PHI, *Load))
          PHIs.insert(PHI);
      for (PHINode *PHI : PHIs)
        Replace(*PHI, PHI->getParent()->getFirstInsertionPt());
      Replace(*Load, Load->getIterator());
    }
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

bool divideWithin(ArrayRef<Loop *> Loops, Function &F, Session &S) {
  for (Loop *L : Loops)
    if (S.work(*L) && !findStringMetadataForLoop(L, pollyrs::ApartMark) && (divide(*L, F, S) || divideWithin(L->getSubLoops(), F, S)))
      return true;
  return false;
}
} // namespace

// Loops that have a version already have no table any more; `Limit` bounds how often the rest is looked through.
extern "C" bool prs_divide_rows(Session *S, LLVMValueRef FRef, unsigned Limit) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (; Limit && S->work(F); --Limit) {
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    SmallVector<Loop *, 8> Outermost(LI.begin(), LI.end());
    if (!divideWithin(Outermost, F, *S))
      break;
    Changed = true;
  }
  return Changed;
}
