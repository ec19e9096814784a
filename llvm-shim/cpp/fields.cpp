// Copies of structures inside loops, field by field: what `std::swap(a, b)` of two grids does to their
// pointers and sizes. src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <map>
#include <optional>

using namespace llvm;
using pollyrs::Session;

namespace {
// A structure, not an array: descriptors of Fortran's arrays of 7 dimensions have 192 bytes.
constexpr uint64_t MinStructure = 12, MaxStructure = 256;

struct Field {
  Type *T = nullptr;
  // The most that holds for all accesses, by type.
  MDNode *Tag = nullptr;
};

// The fields of a structure by their offsets.
using Fields = std::map<uint64_t, Field>;

bool isField(Type *T, const DataLayout &DL) {
  if (T->isPointerTy())
    return T->getPointerAddressSpace() == 0;
  return (T->isIntegerTy() || T->isFloatTy() || T->isDoubleTy()) && DL.typeSizeEqualsStoreSize(T) && DL.getTypeStoreSize(T) <= 8;
}

std::pair<Value *, int64_t> placeAt(Value *Pointer, const DataLayout &DL) {
  APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
  Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true);
  return {Base, Offset.getSExtValue()};
}

// The fields that loads and stores, but for `Copying` ones, of structures at `Places` show, and integers
// between them. None if these accesses overlap, or the objects that the structures belong to have no
// pointers.
Fields fieldsOf(Function &F, ArrayRef<Value *> Places, uint64_t Size, const DataLayout &DL,
                const SmallPtrSetImpl<Instruction *> &Copying = SmallPtrSet<Instruction *, 1>()) {
  SmallDenseMap<Value *, int64_t> Bases;
  for (Value *Pointer : Places) {
    auto [Base, Offset] = placeAt(Pointer, DL);
    auto [It, New] = Bases.try_emplace(Base, Offset);
    if (!New && It->second != Offset)
      return {};
  }
  Fields Found;
  bool Pointers = false, Own = false;
  for (Instruction &I : instructions(F)) {
    Value *Pointer = getLoadStorePointerOperand(&I);
    if (!Pointer || Copying.contains(&I))
      continue;
    auto [Base, Offset] = placeAt(Pointer, DL);
    auto It = Bases.find(Base);
    if (It == Bases.end())
      continue;
    Type *T = getLoadStoreType(&I);
    // (The pointers of a container that is moved are copied one by one, sizes before it together.)
    Pointers |= T->isPointerTy();
    if (Offset < It->second || uint64_t(Offset - It->second) >= Size)
      continue;
    if (!isField(T, DL))
      return {};
    auto [Known, New] = Found.try_emplace(Offset - It->second, Field{T, I.getMetadata(LLVMContext::MD_tbaa)});
    Field &Of = Known->second;
    if (DL.getTypeStoreSize(Of.T) != DL.getTypeStoreSize(T))
      return {};
    Of.Tag = New ? Of.Tag : MDNode::getMostGenericTBAA(Of.Tag, I.getMetadata(LLVMContext::MD_tbaa));
    Own |= T->isPointerTy();
    if (T->isPointerTy())
      Of.T = T;
  }
  if (!Pointers)
    return {};
  uint64_t At = 0;
  Fields All;
  auto FillTo = [&](uint64_t End) {
    while (At < End) {
      uint64_t Bytes = 8;
      while (At % Bytes || At + Bytes > End)
        Bytes /= 2;
      All[At].T = IntegerType::get(F.getContext(), 8 * Bytes);
      At += Bytes;
    }
  };
  for (auto [Offset, Of] : Found) {
    uint64_t End = Offset + DL.getTypeStoreSize(Of.T).getFixedValue();
    if (Offset < At || End > Size)
      return {};
    FillTo(Offset);
    // A copy of a whole structure, with its pointers, says of what types the fields are. That of a part,
    // beside pointers that are copied one by one, is what a C++ compiler makes of the members in front of a
    // container, by which they are read: they are of the types that the loop reads.
    All[Offset] = {Of.T, Own ? nullptr : Of.Tag};
    At = End;
  }
  FillTo(Size);
  return All;
}

// All fields are loaded before the first is stored: a structure may be copied to itself.
void split(MemCpyInst &Copy, const Fields &All, const DataLayout &DL) {
  IRBuilder<> B(&Copy);
  AAMDNodes Known = Copy.getAAMetadata();
  SmallVector<Value *, 16> Values;
  auto Describe = [&](Instruction &I, uint64_t Offset, const Field &Of) {
    AAMDNodes Metadata = Known.adjustForAccess(Offset, Of.T, DL);
    if (!Metadata.TBAA)
      Metadata.TBAA = Of.Tag;
    I.setAAMetadata(Metadata);
  };
  for (auto &[Offset, Of] : All) {
    Align A = commonAlignment(Copy.getSourceAlign().valueOrOne(), Offset);
    LoadInst *Load = B.CreateAlignedLoad(Of.T, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Copy.getRawSource(), Offset), A);
    Describe(*Load, Offset, Of);
    Values.push_back(Load);
  }
  for (auto [Part, V] : zip(All, Values)) {
    Align A = commonAlignment(Copy.getDestAlign().valueOrOne(), Part.first);
    StoreInst *Store = B.CreateAlignedStore(V, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Copy.getRawDest(), Part.first), A);
    Describe(*Store, Part.first, Part.second);
  }
  Copy.eraseFromParent();
}

// `int width, height` of a class are copied as one word, of which nothing but copies is made.
struct Word {
  LoadInst *Load;
  SmallVector<StoreInst *, 2> Stores;
};

// None where the value is used otherwise, or where the loop walks over objects: those do not change places.
std::optional<Word> wordOf(Instruction &I, const Loop &L, const DataLayout &DL) {
  auto *Load = dyn_cast<LoadInst>(&I);
  if (!Load || !Load->isSimple() || Load->getPointerAddressSpace() || !Load->getType()->isIntegerTy(64) || Load->use_empty() ||
      !L.isLoopInvariant(placeAt(Load->getPointerOperand(), DL).first))
    return std::nullopt;
  Word Found{Load, {}};
  for (User *U : Load->users()) {
    auto *Store = dyn_cast<StoreInst>(U);
    if (!Store || !Store->isSimple() || Store->getPointerAddressSpace() || Store->getValueOperand() != Load || !L.contains(Store) ||
        !L.isLoopInvariant(placeAt(Store->getPointerOperand(), DL).first))
      return std::nullopt;
    Found.Stores.push_back(Store);
  }
  return Found;
}

// Loads and stores stay where they are, and become some of each field.
void split(Word &Of, const Fields &All, const DataLayout &DL) {
  SmallVector<std::pair<Value *, uint64_t>, 4> Values;
  auto Describe = [&](Instruction &Part, Instruction &Whole, uint64_t Offset, const Field &Of) {
    AAMDNodes Metadata = Whole.getAAMetadata().adjustForAccess(Offset, Of.T, DL);
    if (!Metadata.TBAA)
      Metadata.TBAA = Of.Tag;
    Part.setAAMetadata(Metadata);
  };
  auto At = [](IRBuilder<> &B, Value *Pointer, uint64_t Offset) { return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Pointer, Offset); };
  IRBuilder<> B(Of.Load);
  for (auto &[Offset, Part] : All) {
    Align A = commonAlignment(Of.Load->getAlign(), Offset);
    LoadInst *Load = B.CreateAlignedLoad(Part.T, At(B, Of.Load->getPointerOperand(), Offset), A);
    Describe(*Load, *Of.Load, Offset, Part);
    Values.push_back({Load, Offset});
  }
  for (StoreInst *Whole : Of.Stores) {
    B.SetInsertPoint(Whole);
    for (auto [Value, Offset] : Values) {
      Align A = commonAlignment(Whole->getAlign(), Offset);
      StoreInst *Store = B.CreateAlignedStore(Value, At(B, Whole->getPointerOperand(), Offset), A);
      Describe(*Store, *Whole, Offset, All.at(Offset));
    }
    Whole->eraseFromParent();
  }
  Of.Load->eraseFromParent();
}

// Words of one loop that are copied from or to one place, directly or by way of others, and so are of one
// type.
struct Related {
  SmallVector<Word, 4> Words;
  SmallSetVector<std::pair<Value *, int64_t>, 8> Places;
  SmallVector<Value *, 8> Pointers;
  SmallPtrSet<Instruction *, 8> Copying;
};

void addWord(SmallVectorImpl<Related> &Groups, Word &&Of, const DataLayout &DL) {
  Related All;
  auto Add = [&](Instruction *I) {
    Value *Pointer = getLoadStorePointerOperand(I);
    All.Places.insert(placeAt(Pointer, DL));
    All.Pointers.push_back(Pointer);
    All.Copying.insert(I);
  };
  Add(Of.Load);
  for (StoreInst *Store : Of.Stores)
    Add(Store);
  All.Words.push_back(std::move(Of));
  SmallVector<Related, 4> Rest;
  for (Related &Known : Groups) {
    if (none_of(Known.Places, [&](auto &Place) { return All.Places.contains(Place); })) {
      Rest.push_back(std::move(Known));
      continue;
    }
    All.Words.append(Known.Words.begin(), Known.Words.end());
    All.Places.insert(Known.Places.begin(), Known.Places.end());
    All.Pointers.append(Known.Pointers);
    All.Copying.insert(Known.Copying.begin(), Known.Copying.end());
  }
  Rest.push_back(std::move(All));
  Groups = std::move(Rest);
}

bool splitWords(Session &S, Function &F, LoopInfo &LI, const DataLayout &DL) {
  MapVector<Loop *, SmallVector<Related, 4>> Loops;
  for (Instruction &I : instructions(F))
    if (Loop *L = LI.getLoopFor(I.getParent()))
      if (std::optional<Word> Found = wordOf(I, *L, DL))
        addWord(Loops[L], std::move(*Found), DL);
  bool Changed = false;
  for (auto &[L, Groups] : Loops)
    for (Related &Group : Groups) {
      if (!S.work(F.getInstructionCount()))
        return Changed;
      Fields All = fieldsOf(F, Group.Pointers, sizeof(uint64_t), DL, Group.Copying);
      if (All.size() < 2)
        continue;
      for (Word &Of : Group.Words)
        split(Of, All, DL);
      Changed = true;
    }
  return Changed;
}

// Loops that are larger are not copied, and no more values are compared.
constexpr unsigned MaxCopied = 200, MaxCycle = 4;

using Cycle = SmallSetVector<PHINode *, 4>;

// The PHIs of the header that `PHI` passes its place on to, if all of them are such; empty if not.
Cycle cycleOf(PHINode &PHI, const Loop &L) {
  Cycle Found;
  PHINode *At = &PHI;
  while (Found.insert(At)) {
    At = dyn_cast<PHINode>(At->getIncomingValueForBlock(L.getLoopLatch()));
    if (!At || At->getParent() != L.getHeader() || Found.size() > MaxCycle)
      return {};
  }
  // (One that only leads to a cycle belongs to none.)
  return Found.size() > 1 && At == &PHI ? Found : Cycle();
}

// `if (sizes that change places are equal) L, in which they are one value; else a copy of L, which stays on
// the host;`
bool divideBySizes(Loop &L, Function &F, Session &S) {
  auto &LI = S.FAM.getResult<LoopAnalysis>(F);
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  BasicBlock *Before = L.getLoopPreheader(), *Exit = L.getUniqueExitBlock();
  if (!Before || !Exit || !L.getLoopLatch() || L.getNumBlocks() > MaxCopied || !L.isSafeToClone())
    return false;
  bool Pointers = false;
  SmallVector<Cycle, 4> Sizes;
  IRBuilder<> B(Before->getTerminator());
  Value *Equal = nullptr;
  for (PHINode &PHI : L.getHeader()->phis()) {
    Cycle Own = cycleOf(PHI, L);
    Pointers |= !Own.empty() && PHI.getType()->isPointerTy();
    // What promotion has made of places in memory.
    if (Own.empty() || !PHI.getType()->isIntegerTy() || any_of(Sizes, [&](Cycle &C) { return C.contains(&PHI); }) ||
        !all_of(Own, [&](PHINode *P) { return isa<LoadInst>(P->getIncomingValueForBlock(Before)); }))
      continue;
    Sizes.push_back(Own);
  }
  if (!Pointers || Sizes.empty())
    return false;
  for (Cycle &C : Sizes)
    for (PHINode *PHI : drop_begin(C)) {
      Value *Same = B.CreateICmpEQ(C[0]->getIncomingValueForBlock(Before), PHI->getIncomingValueForBlock(Before));
      Equal = Equal ? B.CreateAnd(Equal, Same) : Same;
    }
  Equal = B.CreateFreeze(Equal);
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".sizes", Map, LI, DT);
  addStringMetadataToLoop(Copy.Copied, pollyrs::KeptMark);
  IRBuilder<>(Copy.Before).CreateCondBr(Equal, Copy.Own, Copy.Other);
  // One value for all: what has equal sizes has one shape.
  for (Cycle &C : Sizes) {
    Value *Size = C[0]->getIncomingValueForBlock(Copy.Own);
    for (PHINode *PHI : C)
      PHI->replaceAllUsesWith(Size);
    for (PHINode *PHI : C)
      PHI->eraseFromParent();
  }
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}
} // namespace

// At most one, as it changes all analyses; its exit is no longer the loop's own.
extern "C" bool prs_divide_sizes(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  return any_of(S->FAM.getResult<LoopAnalysis>(F), [&](Loop *L) {
    return !L->isInnermost() && !findStringMetadataForLoop(L, pollyrs::KeptMark) && L->isLoopSimplifyForm() &&
           L->isLCSSAForm(S->FAM.getResult<DominatorTreeAnalysis>(F)) && divideBySizes(*L, F, *S);
  });
}

extern "C" bool prs_split_structures(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  const DataLayout &DL = F.getDataLayout();
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  // Copies of one loop and size that go around are of one type.
  MapVector<std::pair<Loop *, uint64_t>, SmallVector<MemCpyInst *, 4>> Groups;
  for (Instruction &I : instructions(F)) {
    auto *Copy = dyn_cast<MemCpyInst>(&I);
    Loop *L = LI.getLoopFor(I.getParent());
    auto *Length = Copy ? dyn_cast<ConstantInt>(Copy->getLength()) : nullptr;
    if (!L || !Length || Copy->isVolatile() || Copy->getDestAddressSpace() || Copy->getSourceAddressSpace() ||
        Length->getZExtValue() < MinStructure || Length->getZExtValue() > MaxStructure)
      continue;
    Groups[{L, Length->getZExtValue()}].push_back(Copy);
  }
  bool Changed = splitWords(*S, F, LI, DL);
  for (auto &[Key, Copies] : Groups) {
    if (!S->work(F.getInstructionCount()))
      break;
    SmallVector<Value *, 8> Places;
    for (MemCpyInst *Copy : Copies)
      Places.append({Copy->getRawDest(), Copy->getRawSource()});
    Fields All = fieldsOf(F, Places, Key.second, DL);
    if (All.empty())
      continue;
    for (MemCpyInst *Copy : Copies)
      split(*Copy, All, DL);
    Changed = true;
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
