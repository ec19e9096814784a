// Tables of pointers to rows: a version of the loop in which the rows are equally far apart, or are taken for
// that; src/prepare.rs has the argument.

#include "ranges.h"
#include "rows.h"
#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Counts;
using pollyrs::extremes;
using pollyrs::isMarked;
using pollyrs::quotient;
using pollyrs::Range;
using pollyrs::reads;
using pollyrs::replaceLength;
using pollyrs::rowFunction;
using pollyrs::Session;

FunctionCallee pollyrs::rowsFunction(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Word = Type::getInt64Ty(Context), *Pointer = PointerType::get(Context, 0);
  return M.getOrInsertFunction("pollyrs_rt_rows", reads(Context, MemoryEffects::readOnly()), StructType::get(Context, {Pointer, Word}), Pointer,
                               Pointer, Word, Word);
}

// `pollyrs_rt_rows_anywhere`, for rows of which the loop accesses known columns.
static FunctionCallee rowsAnywhere(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Word = Type::getInt64Ty(Context), *Pointer = PointerType::get(Context, 0);
  return M.getOrInsertFunction("pollyrs_rt_rows_anywhere", reads(Context, MemoryEffects::readOnly()), StructType::get(Context, {Pointer, Word}),
                               Pointer, Pointer, Word, Word, Word, Word);
}

// `pollyrs_rt_row_length`, of rows between two pointers.
static FunctionCallee rowLength(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Word = Type::getInt64Ty(Context), *Pointer = PointerType::get(Context, 0);
  return M.getOrInsertFunction("pollyrs_rt_row_length", reads(Context, MemoryEffects::readOnly()), Word, Pointer, Pointer, Word, Word);
}

// `pollyrs_rt_common_length`, of rows whose lengths stand in a table.
static FunctionCallee commonLength(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Word = Type::getInt64Ty(Context), *Pointer = PointerType::get(Context, 0);
  return M.getOrInsertFunction("pollyrs_rt_common_length", reads(Context, MemoryEffects::readOnly()), Word, Pointer, Pointer, Word);
}

// `pollyrs_rt_most`, the largest number in a table.
static FunctionCallee mostOf(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Word = Type::getInt64Ty(Context), *Pointer = PointerType::get(Context, 0);
  return M.getOrInsertFunction("pollyrs_rt_most", reads(Context, MemoryEffects::readOnly()), Word, Pointer, Pointer, Word, Word);
}

// `pollyrs_rt_rows_leave`, whether what is written to rows leaves a table alone.
static FunctionCallee rowsLeave(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Word = Type::getInt64Ty(Context), *Pointer = PointerType::get(Context, 0);
  return M.getOrInsertFunction("pollyrs_rt_rows_leave", reads(Context, MemoryEffects::readOnly()), Word, Pointer, Pointer, Word, Word, Word,
                               Pointer, Pointer);
}

namespace {
// Larger loops are not copied.
constexpr unsigned MaxBlocks = 64;

// Loads of rows' addresses from one table: from `Base + Offset` for the offsets of `Loads`, whose differences
// are multiples of `Step`.
struct Table {
  const SCEV *Base = nullptr;
  int64_t Step = 0;
  uint64_t Unit = 0;
  const SCEV *Least = nullptr, *Most = nullptr;
  SmallVector<std::pair<LoadInst *, const SCEV *>, 4> Loads;
  // For a table of the ends of rows: the number of the table that has their beginnings.
  std::optional<unsigned> Rows;
  // A table of the rows' lengths, which are numbers.
  bool Lengths = false;
  // What all of these are, by the library.
  Value *Length = nullptr;
  // What writes to memory that might be the table, unless the library finds that it is not.
  SmallSetVector<StoreInst *, 4> Writers;
};

// What a store writes: bytes of rows of a table, or of what begins at one address.
struct Written {
  const Table *Rows = nullptr;
  Value *Base = nullptr;
  const SCEV *From = nullptr, *To = nullptr;
};

// The number of iterations of a loop in a nest that an entry of a table says,
// `for (j = 0; j < lengths[i]; j++)`: the largest entry, which the library looks for before the nest.
class Longest final : public Counts {
public:
  Longest(const Loop &L, ScalarEvolution &SE, AAResults &AA, SCEVExpander &Expander) : L(L), SE(SE), AA(AA), Expander(Expander) {}

  const SCEV *of(const SCEV *Count, const Loop &Inner) override;

private:
  Value *ask(LoadInst &Load);

  const Loop &L;
  ScalarEvolution &SE;
  AAResults &AA;
  SCEVExpander &Expander;
  DenseMap<LoadInst *, Value *> Asked;
};

// Whether the PHI is the row where there is one: the load was moved before a loop, under the loop's own
// condition.
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

// The bytes of what is accessed in the row; 0 if nothing is but comparisons. None if what is has several
// sizes, or others see the pointer. All of it happens in the loop `L` that the row belongs to.
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

// The accessed bytes of rows, counted from their addresses: the first one, and the one behind the last. Null
// where nothing is accessed. What was seen of it on the way.
struct Columns {
  const SCEV *From = nullptr, *To = nullptr;
  SmallPtrSet<Value *, 16> Seen;
};

// Adds what is accessed of a row by a pointer into it; false where that is not known.
bool columnsOf(Value &Pointer, LoadInst &Row, Range &Within, ScalarEvolution &SE, Columns &C) {
  if (!C.Seen.insert(&Pointer).second)
    return true;
  for (User *U : Pointer.users()) {
    if ((isa<GetElementPtrInst>(U) && U->getType()->isPointerTy()) || isa<PHINode>(U)) {
      if (!columnsOf(*U, Row, Within, SE, C))
        return false;
    } else if (getLoadStorePointerOperand(U) == &Pointer) {
      const SCEV *Address = SE.getSCEV(&Pointer), *Least, *Most;
      // (What stands for the row is known by its own name.)
      auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(Address));
      auto *PHI = Base ? dyn_cast<PHINode>(Base->getValue()) : nullptr;
      if (!Base || !(Base->getValue() == &Row || (PHI && standsFor(*PHI, Row))) || !Within.of(SE.removePointerBase(Address), Least, Most))
        return false;
      uint64_t Bytes = Row.getDataLayout().getTypeStoreSize(getLoadStoreType(U)).getFixedValue();
      Most = SE.getAddExpr(Most, SE.getConstant(Most->getType(), Bytes));
      C.From = C.From ? SE.getSMinExpr(C.From, Least) : Least;
      C.To = C.To ? SE.getSMaxExpr(C.To, Most) : Most;
    }
  }
  return true;
}

// Whether nothing in the loop may change what is loaded but stores, which are added to `Writers`.
bool isKept(const Loop &L, const LoadInst &Load, AAResults &AA, SmallSetVector<StoreInst *, 4> &Writers) {
  auto Place = MemoryLocation::getBeforeOrAfter(Load.getPointerOperand(), Load.getAAMetadata());
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      if (!I.mayWriteToMemory() || !isModSet(AA.getModRefInfo(&I, Place)))
        continue;
      auto *Store = dyn_cast<StoreInst>(&I);
      if (!Store || !Store->isSimple())
        return false;
      Writers.insert(Store);
    }
  return true;
}

const SCEV *Longest::of(const SCEV *Count, const Loop &Inner) {
  auto Narrow = [](const SCEV *S) { return isa<SCEVZeroExtendExpr, SCEVSignExtendExpr>(S) ? cast<SCEVCastExpr>(S)->getOperand() : S; };
  // `length - 1`, under a condition by which `length` is positive: it doesn't matter where it is extended.
  auto *Sum = dyn_cast<SCEVAddExpr>(Narrow(Count));
  if (!Sum || Sum->getNumOperands() != 2 || !Sum->getOperand(0)->isAllOnesValue())
    return nullptr;
  auto *Length = dyn_cast<SCEVUnknown>(Narrow(Sum->getOperand(1)));
  auto *Load = Length ? dyn_cast<LoadInst>(Length->getValue()) : nullptr;
  if (!Load || !L.contains(Load) || !(Load->getType()->isIntegerTy(32) || Load->getType()->isIntegerTy(64)) ||
      !SE.isLoopEntryGuardedByCond(&Inner, ICmpInst::ICMP_SGT, Length, SE.getZero(Length->getType())))
    return nullptr;
  auto Found = Asked.find(Load);
  Value *Most = Found == Asked.end() ? Asked[Load] = ask(*Load) : Found->second;
  if (!Most)
    return nullptr;
  const SCEV *One = SE.getOne(Most->getType());
  return SE.getMinusSCEV(SE.getSMaxExpr(SE.getUnknown(Most), One), One);
}

// The call for the table that a number is loaded from, which the nest does not write; null where it is none.
Value *Longest::ask(LoadInst &Load) {
  SmallSetVector<StoreInst *, 4> Writers;
  const SCEV *Address = SE.getSCEV(Load.getPointerOperand());
  auto *Rec = dyn_cast<SCEVAddRecExpr>(Address);
  auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(Address));
  if (!Load.isSimple() || Load.getPointerAddressSpace() || !Rec || !Base || !SE.isLoopInvariant(Rec->getStart(), &L) || !SE.isLoopInvariant(Base, &L) ||
      !isKept(L, Load, AA, Writers) || !Writers.empty())
    return nullptr;
  const SCEV *Least, *Greatest;
  int64_t Step = 0, Bytes = Load.getType()->getIntegerBitWidth() / 8;
  Instruction *End = L.getLoopPreheader()->getTerminator();
  if (!extremes(SE.removePointerBase(Address), L, SE, Least, Greatest, &Step) || Step < Bytes || !Expander.isSafeToExpandAt(Least, End) ||
      !Expander.isSafeToExpandAt(Greatest, End))
    return nullptr;
  IRBuilder<> B(End);
  auto At = [&](const SCEV *Offset) { return B.CreatePtrAdd(Base->getValue(), Expander.expandCodeFor(Offset, B.getInt64Ty(), End)); };
  FunctionCallee Function = mostOf(*End->getModule());
  return B.CreateFreeze(B.CreateCall(Function, {At(Least), At(Greatest), B.getInt64(Step), B.getInt64(Bytes)}), "row.most");
}

// Whether the loop loads addresses from the same entries that have the number at `Address`.
bool isBesideRows(const SCEV *Address, const Loop &L, ScalarEvolution &SE) {
  return any_of(L.blocks(), [&](BasicBlock *BB) {
    return any_of(*BB, [&](Instruction &I) {
      auto *Row = dyn_cast<LoadInst>(&I);
      if (!Row || !Row->getType()->isPointerTy() || Row->getPointerAddressSpace())
        return false;
      const SCEV *Own = SE.getSCEV(Row->getPointerOperand());
      auto *Rec = dyn_cast<SCEVAddRecExpr>(Own);
      auto *By = Rec && Rec->isAffine() ? dyn_cast<SCEVConstant>(Rec->getStepRecurrence(SE)) : nullptr;
      if (!By || SE.getPointerBase(Own) != SE.getPointerBase(Address))
        return false;
      auto *Behind = dyn_cast<SCEVConstant>(SE.getMinusSCEV(Address, Own));
      return Behind && !Behind->isZero() && Behind->getAPInt().abs().ult(By->getAPInt().abs());
    });
  });
}

// With `Checked` stores may have to be compared with tables.
SmallVector<Table, 4> tablesOf(Loop &L, LoopInfo &LI, ScalarEvolution &SE, AAResults &AA, const DataLayout &DL, bool Checked) {
  SmallVector<Table, 4> Tables;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isSimple() || Load->getPointerAddressSpace())
        continue;
      bool Length = Load->getType()->isIntegerTy(64);
      if (!Length && (!Load->getType()->isPointerTy() || Load->getType()->getPointerAddressSpace()))
        continue;
      const SCEV *Address = SE.getSCEV(Load->getPointerOperand());
      const SCEV *Base = SE.getPointerBase(Address);
      if (SE.isLoopInvariant(Address, &L) || !SE.isLoopInvariant(Base, &L) || !isa<SCEVUnknown>(Base))
        continue;
      SmallPtrSet<Value *, 8> Seen;
      std::optional<uint64_t> Unit = Length ? 8 : elementOf(*Load, *LI.getLoopFor(BB), LI, DL, Seen);
      if (!Unit || isMarked(*Load) || (Length && (Load->use_empty() || !isBesideRows(Address, L, SE))))
        continue;
      const SCEV *Offset = SE.removePointerBase(Address), *Least, *Most;
      int64_t Step = 0;
      SmallSetVector<StoreInst *, 4> Writers;
      if (!extremes(Offset, L, SE, Least, Most, &Step) || Step % 8 || !isKept(L, *Load, AA, Writers) || (!Checked && !Writers.empty()))
        continue;
      auto *Same = find_if(Tables, [&](Table &T) {
        return T.Base == Base && T.Step == Step && T.Unit == *Unit && T.Lengths == Length && quotient(SE.getMinusSCEV(Least, T.Least), Step, SE);
      });
      if (Same == Tables.end()) {
        Tables.push_back({Base, Step, *Unit, Least, Most, {}, {}, Length, nullptr, {}});
        Same = &Tables.back();
      }
      Same->Writers.insert_range(Writers);
      Same->Least = SE.getSMinExpr(Same->Least, Least);
      Same->Most = SE.getSMaxExpr(Same->Most, Most);
      Same->Loads.push_back({Load, Offset});
    }
  // (The least ones differ by constants, so that one of them is the least.)
  erase_if(Tables, [&](Table &T) {
    return any_of(T.Loads, [&](auto &Load) { return !quotient(SE.getMinusSCEV(Load.second, T.Least), T.Step, SE); });
  });
  // Rows between two pointers: a table of ends stands beside that of beginnings. Other tables whose entries
  // are only compared are left alone.
  SmallVector<Table, 4> Ends;
  copy_if(Tables, std::back_inserter(Ends), [](Table &T) { return T.Unit == 0; });
  erase_if(Tables, [](Table &T) { return T.Unit == 0; });
  unsigned Count = Tables.size();
  for (Table &T : Ends)
    for (unsigned N = 0; N != Count; ++N) {
      const Table &R = Tables[N];
      auto *Behind = R.Base == T.Base && R.Step == T.Step ? dyn_cast<SCEVConstant>(SE.getMinusSCEV(T.Least, R.Least)) : nullptr;
      if (R.Lengths || !Behind || !Behind->getAPInt().isStrictlyPositive() || !Behind->getAPInt().slt(T.Step))
        continue;
      T.Unit = R.Unit, T.Rows = N;
      Tables.push_back(T);
      break;
    }
  return Tables;
}

// Asks the library for the number that all entries of a table of lengths are.
void askForLengths(MutableArrayRef<Table> Tables, Loop &L, ScalarEvolution &SE, SCEVExpander &Expander, ValueToSCEVMapTy &Common) {
  Instruction *End = L.getLoopPreheader()->getTerminator();
  IRBuilder<> B(End);
  for (Table &T : Tables) {
    if (!T.Lengths)
      continue;
    auto At = [&](const SCEV *Offset) {
      return B.CreatePtrAdd(cast<SCEVUnknown>(T.Base)->getValue(), Expander.expandCodeFor(Offset, B.getInt64Ty(), End));
    };
    FunctionCallee Function = commonLength(*End->getModule());
    T.Length = B.CreateFreeze(B.CreateCall(Function, {At(T.Least), At(T.Most), B.getInt64(T.Step)}), "row.length");
    for (auto &[Load, Offset] : T.Loads)
      Common[Load] = SE.getUnknown(T.Length);
  }
}

// What the library says of tables, by table: the length of rows between two pointers, in elements, or null;
// the first row and the distance of rows. With them, what loaded ends of rows are.
struct Answers {
  ValueToSCEVMapTy &Ends;
  SmallVector<Value *, 4> Lengths;
  SmallVector<std::pair<Value *, Value *>, 4> Known;
};

// Asks the library about all tables. The result says whether all answers allow the version.
Value *ask(ArrayRef<Table> Tables, Loop &L, SCEVExpander &Expander, IRBuilderBase &B, Longest &Entries, Answers &Said) {
  ScalarEvolution &SE = *Expander.getSE();
  Module &M = *B.GetInsertBlock()->getModule();
  Type *Word = B.getInt64Ty();
  Instruction *End = L.getLoopPreheader()->getTerminator();
  Value *Good = B.getTrue();
  auto At = [&](const Table &T, const SCEV *Offset) {
    return B.CreatePtrAdd(cast<SCEVUnknown>(T.Base)->getValue(), Expander.expandCodeFor(Offset, Word, End));
  };
  for (const Table &T : Tables) {
    Said.Lengths.push_back(T.Length);
    if (T.Lengths)
      Good = B.CreateAnd(Good, B.CreateICmpSGE(T.Length, B.getInt64(0)));
    if (!T.Rows)
      continue;
    const Table &R = Tables[*T.Rows];
    const SCEV *Behind = SE.getMinusSCEV(T.Least, R.Least);
    Value *Bytes = B.CreateCall(rowLength(M), {At(T, T.Least), At(T, T.Most), B.getInt64(T.Step), Expander.expandCodeFor(Behind, Word, End)});
    Value *Whole = B.CreateICmpEQ(B.CreateURem(Bytes, B.getInt64(T.Unit)), B.getInt64(0));
    Good = B.CreateAnd(Good, B.CreateAnd(B.CreateICmpSGE(Bytes, B.getInt64(0)), Whole));
    Value *Length = B.CreateFreeze(B.CreateUDiv(Bytes, B.getInt64(T.Unit)), "row.length");
    Said.Lengths.back() = Length;
    const SCEV *Way = SE.getMulExpr(SE.getUnknown(Length), SE.getConstant(Word, T.Unit));
    for (auto &[Load, Offset] : T.Loads)
      for (auto &[Row, Own] : R.Loads)
        if (SE.getMinusSCEV(Offset, Own) == Behind)
          Said.Ends[Load] = SE.getAddExpr(SE.getUnknown(Row), Way);
  }
  Range Within(L, SE, Said.Ends, &Entries);
  for (const Table &T : Tables) {
    Said.Known.push_back({});
    if (T.Rows || T.Lengths)
      continue;
    Value *First = At(T, T.Least), *Last = At(T, T.Most), *Rows;
    Columns C;
    bool Bounded = all_of(T.Loads, [&](auto &Load) { return columnsOf(*Load.first, *Load.first, Within, SE, C); });
    if (Bounded && C.From && Expander.isSafeToExpandAt(C.From, End) && Expander.isSafeToExpandAt(C.To, End)) {
      Value *Low = B.CreateFreeze(Expander.expandCodeFor(C.From, Word, End)), *High = B.CreateFreeze(Expander.expandCodeFor(C.To, Word, End));
      Rows = B.CreateCall(rowsAnywhere(M), {First, Last, B.getInt64(T.Step), B.getInt64(T.Unit), Low, High});
    } else {
      Rows = B.CreateCall(pollyrs::rowsFunction(M), {First, Last, B.getInt64(T.Step), B.getInt64(T.Unit)});
    }
    Said.Known.back() = {B.CreateExtractValue(Rows, 0), B.CreateExtractValue(Rows, 1)};
    Good = B.CreateAnd(Good, B.CreateIsNotNull(Said.Known.back().first));
  }
  return Good;
}

// Beside tables of lengths, which may bound them next time, rows of which any column may be accessed are left
// alone.
void leaveUnbounded(SmallVectorImpl<Table> &Tables, Loop &L, ScalarEvolution &SE, ValueToSCEVMapTy &Common) {
  if (none_of(Tables, [](Table &T) { return T.Lengths; }) || any_of(Tables, [](Table &T) { return T.Rows.has_value(); }))
    return;
  Range Within(L, SE, Common);
  erase_if(Tables, [&](Table &T) {
    Columns C;
    return !T.Lengths && !all_of(T.Loads, [&](auto &Load) { return columnsOf(*Load.first, *Load.first, Within, SE, C); });
  });
}

// What the writers of all tables write, each with the table that it might be; none where that has no bounds.
bool writtenBy(ArrayRef<Table> Tables, Loop &L, ScalarEvolution &SE, ValueToSCEVMapTy &Lengths,
               SmallVectorImpl<std::pair<Written, const Table *>> &Found) {
  Range Within(L, SE, Lengths);
  auto RowsOf = [&](Value *V) -> const Table * {
    for (const Table &T : Tables)
      for (auto &[Load, Offset] : T.Loads) {
        auto *PHI = dyn_cast<PHINode>(V);
        if (!T.Rows && !T.Lengths && (V == Load || (PHI && standsFor(*PHI, *Load))))
          return &T;
      }
    return nullptr;
  };
  for (const Table &T : Tables)
    for (StoreInst *Store : T.Writers) {
      const SCEV *Address = SE.getSCEV(Store->getPointerOperand()), *Least, *Most;
      auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(Address));
      if (!Base || !Within.of(SE.removePointerBase(Address), Least, Most))
        return false;
      uint64_t Bytes = Store->getDataLayout().getTypeStoreSize(Store->getValueOperand()->getType()).getFixedValue();
      Written W{RowsOf(Base->getValue()), Base->getValue(), Least, SE.getAddExpr(Most, SE.getConstant(Most->getType(), Bytes))};
      if (!W.Rows && !SE.isLoopInvariant(Base, &L))
        return false;
      Found.push_back({W, &T});
    }
  return true;
}

// Asks the library whether what is written leaves the tables alone.
Value *askOfWritten(ArrayRef<std::pair<Written, const Table *>> Found, Loop &L, SCEVExpander &Expander, IRBuilderBase &B, Value *Good) {
  Module &M = *B.GetInsertBlock()->getModule();
  Instruction *End = L.getLoopPreheader()->getTerminator();
  auto Number = [&](const SCEV *S) { return B.CreateFreeze(Expander.expandCodeFor(S, B.getInt64Ty(), End)); };
  auto At = [&](const Table &T, const SCEV *Offset) { return B.CreatePtrAdd(cast<SCEVUnknown>(T.Base)->getValue(), Number(Offset)); };
  for (auto &[W, T] : Found) {
    Value *First = W.Rows ? At(*W.Rows, W.Rows->Least) : W.Base, *Last = W.Rows ? At(*W.Rows, W.Rows->Most) : W.Base;
    Value *Low = Number(W.From), *High = Number(W.To);
    Value *Begin = At(*T, T->Least), *Behind = B.CreatePtrAdd(At(*T, T->Most), B.getInt64(8));
    Value *Step = B.getInt64(W.Rows ? W.Rows->Step : 0);
    Value *Apart = B.CreateCall(rowsLeave(M), {First, Last, Step, Low, High, Begin, Behind});
    Good = B.CreateAnd(Good, B.CreateICmpNE(Apart, B.getInt64(0)));
  }
  return Good;
}

// After a loop was copied where no pass follows: loops have exits of their own.
void ownExits(Function &F, Session &S) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  for (Loop *L : LI.getLoopsInPreorder())
    formDedicatedExitBlocks(L, &DT, &LI, nullptr, /*PreserveLCSSA=*/true);
  S.FAM.invalidate(F, PreservedAnalyses::none());
}

// `if (the answers about all tables allow it) L; else a copy of L;` With `Checked` error blocks are taken out
// of the function.
bool divide(Loop &L, Function &F, Session &S, bool Checked) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  AAResults &AA = S.FAM.getResult<AAManager>(F);
  BasicBlock *Before = L.getLoopPreheader(), *Exit = L.getUniqueExitBlock();
  if (!Before || !Exit || L.getNumBlocks() > MaxBlocks || !L.isLoopSimplifyForm() || !L.isSafeToClone() || !L.isLCSSAForm(DT))
    return false;
  if (Checked && !pollyrs::hasCopyableChecks(L, S))
    return false;
  SmallVector<Table, 4> Tables = tablesOf(L, LI, SE, AA, F.getDataLayout(), Checked);
  SCEVExpander Expander(SE, "rows");
  auto Computable = [&](const SCEV *E) { return Expander.isSafeToExpandAt(E, Before->getTerminator()); };
  if (Tables.empty() || !all_of(Tables, [&](Table &T) { return Computable(T.Least) && Computable(T.Most); }))
    return false;
  ValueToSCEVMapTy Common;
  askForLengths(Tables, L, SE, Expander, Common);
  leaveUnbounded(Tables, L, SE, Common);
  SmallVector<std::pair<Written, const Table *>, 4> Stores;
  if (!writtenBy(Tables, L, SE, Common, Stores) || !all_of(Stores, [&](auto &W) { return Computable(W.first.From) && Computable(W.first.To); })) {
    for (Table &T : Tables)
      if (T.Length)
        RecursivelyDeleteTriviallyDeadInstructions(T.Length);
    return false;
  }

  IRBuilder<> B(Before->getTerminator());
  Answers Said{Common, {}, {}};
  Longest Entries(L, SE, AA, Expander);
  Value *Good = askOfWritten(Stores, L, Expander, B, ask(Tables, L, Expander, B, Entries, Said));
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".apart", Map, LI, DT);
  if (Checked)
    pollyrs::copyChecks(S, Map);
  addStringMetadataToLoop(Copy.Copied, pollyrs::ApartMark);
  IRBuilder<>(Copy.Before).CreateCondBr(Good, Copy.Own, Copy.Other);

  for (auto [T, Found, Length] : zip(Tables, Said.Known, Said.Lengths))
    for (auto &[Load, Offset] : T.Loads) {
      if (T.Lengths) {
        if (Checked)
          replaceLength(*Load, *Length);
        else
          Load->replaceAllUsesWith(Length);
        continue;
      }
      auto Row = T.Rows ? Said.Known[*T.Rows] : Found;
      const SCEV *Number = quotient(SE.getMinusSCEV(Offset, T.Least), T.Step, SE);
      auto Replace = [&, Unit = T.Unit, Length = Length](Instruction &Old, BasicBlock::iterator Place) {
        Value *Index = Expander.expandCodeFor(Number, Type::getInt64Ty(F.getContext()), Place);
        IRBuilder<> At(Place->getParent(), Place);
        Type *Element = ArrayType::get(At.getInt8Ty(), Unit);
        Value *Begin = At.CreateGEP(Element, Row.first, At.CreateMul(Index, Row.second), "row");
        Value *Modelled = Length ? At.CreateGEP(Element, Begin, Length, "row.end") : Begin;
        CallInst *Both = At.CreateCall(rowFunction(*F.getParent()), {Modelled, &Old}, Old.getName());
        Old.replaceUsesWithIf(Both, [&](llvm::Use &U) { return U.getUser() != Both; });
      };
      // (One may take the row from several blocks.)
      SmallSetVector<PHINode *, 4> PHIs;
      for (User *U : Load->users())
        if (auto *PHI = dyn_cast<PHINode>(U); PHI && standsFor(*PHI, *Load))
          PHIs.insert(PHI);
      for (PHINode *PHI : PHIs)
        Replace(*PHI, PHI->getParent()->getFirstInsertionPt());
      Replace(*Load, std::next(Load->getIterator()));
    }
  S.FAM.invalidate(F, PreservedAnalyses::none());
  if (Checked)
    ownExits(F, S);
  return true;
}
} // namespace

extern "C" {
// A loop that has a version has no table any more; `Limit` bounds how often the remaining loops are searched.
// With `Checked` no pass follows, and error blocks are taken out.
bool prs_divide_rows(Session *S, LLVMValueRef FRef, unsigned Limit, bool Checked) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (; Limit && S->work(F); --Limit) {
    auto Divide = [&](Loop &L) { return S->work(L) && divide(L, F, *S, Checked); };
    if (!pollyrs::divideFirst(F, *S, pollyrs::ApartMark, Divide))
      break;
    Changed = true;
  }
  return Changed;
}
} // extern "C"
