// Assignments of whole allocatable arrays in Fortran (`u = v`): a version of the loop for arrays of one
// shape, in which they are loops over elements; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <map>

using namespace llvm;
using pollyrs::Session;

namespace {
// flang's `Fortran::runtime::Assign(to, from, source file, line)`: copies, after it has allocated `to` anew
// where the shapes differ.
constexpr char AssignName[] = "_FortranAAssign";

// Loops that are larger are not copied.
constexpr unsigned MaxAssigning = 200;

// Where a descriptor (ISO_Fortran_binding.h, CFI_cdesc_t) has its members, in bytes; 24 of each dimension:
// lower bound, extent, and the distance of elements in bytes.
constexpr uint64_t ElementAt = 8, RankAt = 20, TypeAt = 21, DimensionsAt = 24, Dimension = 24, ExtentAt = 8, StrideAt = 16;
constexpr unsigned MaxRank = 7;

struct Assignment {
  CallInst *Call = nullptr;
  unsigned Rank = 0;
  uint8_t Code = 0;
  Type *Element = nullptr;
  // What is stored to the descriptor of the right-hand side.
  Value *From = nullptr;
  SmallVector<Value *, 4> Extents, Strides;
  // All stores to that descriptor.
  SmallVector<StoreInst *, 16> Stores;
};

// The element type of a type code (CFI_type_int8_t ... CFI_type_double); null for those that are not copied
// by value.
Type *elementOf(uint8_t Code, LLVMContext &C) {
  switch (Code) {
  case 7:
  case 8:
  case 9:
  case 10:
    return IntegerType::get(C, 8u << (Code - 7));
  case 27:
    return Type::getFloatTy(C);
  case 28:
    return Type::getDoubleTy(C);
  default:
    return nullptr;
  }
}

// The one value that is stored at each offset of a descriptor that is made for the call alone; false if it is
// anything else.
bool membersOf(AllocaInst &Descriptor, CallInst &Call, const DominatorTree &DT, std::map<uint64_t, Value *> &Members,
               SmallVectorImpl<StoreInst *> &Stores) {
  const DataLayout &DL = Call.getDataLayout();
  SmallVector<Instruction *, 16> Work = {&Descriptor};
  while (!Work.empty()) {
    Instruction *At = Work.pop_back_val();
    for (User *U : At->users()) {
      auto *I = cast<Instruction>(U);
      if (isa<GetElementPtrInst>(I)) {
        Work.push_back(I);
      } else if (auto *Store = dyn_cast<StoreInst>(I)) {
        APInt Offset(DL.getIndexTypeSizeInBits(Descriptor.getType()), 0);
        if (Store->getValueOperand() == At || !Store->isSimple() || !DT.dominates(Store, &Call) ||
            Store->getPointerOperand()->stripAndAccumulateConstantOffsets(DL, Offset, true) != &Descriptor ||
            !Members.insert({Offset.getZExtValue(), Store->getValueOperand()}).second)
          return false;
        Stores.push_back(Store);
      } else if (I != &Call && !I->isLifetimeStartOrEnd()) {
        return false;
      }
    }
  }
  return true;
}

bool describe(CallInst &Call, const DominatorTree &DT, Assignment &A) {
  Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || Callee->getName() != AssignName || Call.arg_size() != 4)
    return false;
  auto *Descriptor = dyn_cast<AllocaInst>(Call.getArgOperand(1));
  std::map<uint64_t, Value *> Members;
  if (!Descriptor || Call.getArgOperand(0)->stripPointerCasts() == Descriptor || !membersOf(*Descriptor, Call, DT, Members, A.Stores))
    return false;
  auto Member = [&](uint64_t Offset, unsigned Bits) -> Value * {
    auto It = Members.find(Offset);
    return It != Members.end() && (Bits ? It->second->getType()->isIntegerTy(Bits) : It->second->getType()->isPointerTy()) ? It->second : nullptr;
  };
  auto Number = [&](uint64_t Offset, unsigned Bits) { return dyn_cast_or_null<ConstantInt>(Member(Offset, Bits)); };
  ConstantInt *Bytes = Number(ElementAt, 64), *Rank = Number(RankAt, 8), *Code = Number(TypeAt, 8);
  if (!Bytes || !Rank || !Code || Rank->getZExtValue() < 1 || Rank->getZExtValue() > MaxRank)
    return false;
  A.Call = &Call;
  A.Rank = Rank->getZExtValue();
  A.Code = Code->getZExtValue();
  A.Element = elementOf(A.Code, Call.getContext());
  A.From = Member(0, 0);
  if (!A.From || !A.Element || Call.getDataLayout().getTypeStoreSize(A.Element) != Bytes->getZExtValue())
    return false;
  for (unsigned K = 0; K != A.Rank; ++K) {
    A.Extents.push_back(Member(DimensionsAt + K * Dimension + ExtentAt, 64));
    A.Strides.push_back(Member(DimensionsAt + K * Dimension + StrideAt, 64));
    if (!A.Extents.back() || !A.Strides.back())
      return false;
  }
  return true;
}

// Computes values of a loop in front of it, where nothing in the loop but the assignments writes what they
// are loaded from. All of them are computed in each iteration.
struct Ahead {
  Loop &L;
  AAResults &AA;
  const SmallPtrSetImpl<Instruction *> &Assignments;
  Instruction *At;
  DenseMap<Value *, Value *> Known;
  DenseMap<Value *, bool> Asked;

  bool isKept(LoadInst &Load) {
    MemoryLocation Place = MemoryLocation::get(&Load);
    return Load.isSimple() && none_of(L.blocks(), [&](BasicBlock *BB) {
      return any_of(*BB, [&](Instruction &I) {
        return I.mayWriteToMemory() && !Assignments.contains(&I) && isModSet(AA.getModRefInfo(&I, Place));
      });
    });
  }

  bool can(Value *V) {
    if (L.isLoopInvariant(V))
      return true;
    auto [It, New] = Asked.try_emplace(V, false);
    return New ? Asked[V] = isPlain(*cast<Instruction>(V)) : It->second;
  }

  bool isPlain(Instruction &Of) {
    auto *I = &Of;
    auto *Load = dyn_cast<LoadInst>(I);
    bool Plain = isa<CastInst>(I) || isa<SelectInst>(I) || isa<ICmpInst>(I) || isa<GetElementPtrInst>(I) ||
                 (isa<BinaryOperator>(I) && !I->isIntDivRem());
    return (Plain || (Load && isKept(*Load))) && all_of(I->operands(), [&](Use &U) { return can(U.get()); });
  }

  Value *compute(Value *V) {
    if (L.isLoopInvariant(V))
      return V;
    if (Value *Done = Known.lookup(V))
      return Done;
    auto *I = cast<Instruction>(V);
    SmallVector<Value *, 4> Operands;
    for (Use &U : I->operands())
      Operands.push_back(compute(U.get()));
    Instruction *New = I->clone();
    for (auto [N, Operand] : enumerate(Operands))
      New->setOperand(N, Operand);
    New->insertBefore(At->getIterator());
    return Known[V] = New;
  }
};

// A shape before the loop: first byte, extents, distances of elements.
struct Shape {
  Value *Base;
  SmallVector<Value *, 4> Extents, Strides;
};

Shape shapeOf(Value *Descriptor, unsigned Rank, IRBuilder<> &B, MDNode *Tag) {
  auto Load = [&](Type *T, uint64_t Offset) -> Value * {
    LoadInst *Value = B.CreateAlignedLoad(T, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Descriptor, Offset), Align(1));
    if (Tag)
      Value->setMetadata(LLVMContext::MD_tbaa, Tag);
    return Value;
  };
  Shape S;
  S.Base = Load(B.getPtrTy(), 0);
  for (unsigned K = 0; K != Rank; ++K) {
    S.Extents.push_back(Load(B.getInt64Ty(), DimensionsAt + K * Dimension + ExtentAt));
    S.Strides.push_back(Load(B.getInt64Ty(), DimensionsAt + K * Dimension + StrideAt));
  }
  return S;
}

// Whether elements lie side by side in both, which have one shape and one place each, or the same.
Value *areCopied(const Assignment &A, Value *Descriptor, const Shape &To, const Shape &From, IRBuilder<> &B) {
  auto Byte = [&](uint64_t Offset) { return B.CreateAlignedLoad(B.getInt8Ty(), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Descriptor, Offset), Align(1)); };
  Value *Good = B.CreateAnd(B.CreateIsNotNull(To.Base), B.CreateICmpEQ(Byte(RankAt), B.getInt8(A.Rank)));
  auto And = [&](Value *V) { Good = B.CreateAnd(Good, B.CreateFreeze(V)); };
  And(B.CreateICmpEQ(Byte(TypeAt), B.getInt8(A.Code)));
  Value *Bytes = B.getInt64(B.GetInsertBlock()->getDataLayout().getTypeStoreSize(A.Element));
  And(B.CreateICmpEQ(B.CreateAlignedLoad(B.getInt64Ty(), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Descriptor, ElementAt), Align(1)), Bytes));
  for (unsigned K = 0; K != A.Rank; ++K) {
    And(B.CreateICmpEQ(To.Extents[K], From.Extents[K]));
    And(B.CreateICmpEQ(To.Strides[K], Bytes));
    And(B.CreateICmpEQ(From.Strides[K], Bytes));
    Bytes = B.CreateMul(Bytes, To.Extents[K]);
  }
  Value *Below = B.CreateICmpULE(B.CreatePtrAdd(To.Base, Bytes), From.Base), *Above = B.CreateICmpULE(B.CreatePtrAdd(From.Base, Bytes), To.Base);
  And(B.CreateOr(B.CreateOr(Below, Above), B.CreateICmpEQ(To.Base, From.Base)));
  return Good;
}

// A copy of elements, which has a loop for each dimension, and what its instructions are marked with.
struct Copy {
  Type *Element;
  const Shape &To, &From;
  MDNode *Tag;
  const DebugLoc &Loc;
};

// How far loops around have gone in both, in elements; null outside of all.
struct Indices {
  Value *To = nullptr, *From = nullptr;
};

// `do k; ...; to(i, ...) = from(i, ...)` between two blocks, dimension `K` and all before it.
void copyBetween(const Copy &C, unsigned K, Indices Around, BasicBlock *Head, BasicBlock *Behind) {
  const Shape &To = C.To, &From = C.From;
  Function &F = *Head->getParent();
  BasicBlock *Body = BasicBlock::Create(F.getContext(), "pollyrs.assign", &F, Behind);
  BasicBlock *Latch = K ? BasicBlock::Create(F.getContext(), "pollyrs.assigned", &F, Behind) : Body;
  IRBuilder<> B(Head);
  B.SetCurrentDebugLocation(C.Loc);
  B.CreateCondBr(B.CreateICmpSGT(To.Extents[K], B.getInt64(0)), Body, Behind);
  B.SetInsertPoint(Body);
  PHINode *I = B.CreatePHI(B.getInt64Ty(), 2);
  I->addIncoming(B.getInt64(0), Head);
  auto IndexIn = [&](const Shape &S, Value *Rest) {
    Value *Index = I;
    for (unsigned D = 0; D != K; ++D)
      Index = B.CreateMul(Index, S.Extents[D], "", /*HasNUW=*/false, /*HasNSW=*/true);
    return Rest ? B.CreateAdd(Rest, Index, "", /*HasNUW=*/false, /*HasNSW=*/true) : Index;
  };
  Value *InTo = IndexIn(To, Around.To), *InFrom = IndexIn(From, Around.From);
  if (K) {
    copyBetween(C, K - 1, {InTo, InFrom}, Body, Latch);
  } else {
    LoadInst *Load = B.CreateLoad(C.Element, B.CreateInBoundsGEP(C.Element, From.Base, InFrom));
    StoreInst *Store = B.CreateStore(Load, B.CreateInBoundsGEP(C.Element, To.Base, InTo));
    Load->setMetadata(LLVMContext::MD_tbaa, C.Tag);
    Store->setMetadata(LLVMContext::MD_tbaa, C.Tag);
  }
  B.SetInsertPoint(Latch);
  Value *Next = B.CreateAdd(I, B.getInt64(1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  I->addIncoming(Next, Latch);
  B.CreateCondBr(B.CreateICmpSLT(Next, To.Extents[K]), Body, Behind);
}

// By type: the loop's accesses of elements, which are the same objects' or others', and those of descriptors,
// which elements never are.
MDNode *tagOf(Loop &L, Type *Element) {
  MDNode *Tag = nullptr;
  bool First = true;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (getLoadStorePointerOperand(&I) && getLoadStoreType(&I) == Element) {
        MDNode *Own = I.getMetadata(LLVMContext::MD_tbaa);
        Tag = First ? Own : MDNode::getMostGenericTBAA(Tag, Own);
        First = false;
      }
  return Tag;
}

// Loads in the loop of what the extent `Of` was loaded from, which nothing in the loop writes: one shape for
// both arrays, as the extents are equal.
void replaceLoads(Value *Of, Value *By, Loop &L, Ahead &Values) {
  auto *First = dyn_cast<LoadInst>(Of);
  if (!First)
    return;
  const DataLayout &DL = First->getDataLayout();
  auto PlaceOf = [&](LoadInst &Load) {
    APInt Offset(DL.getIndexTypeSizeInBits(Load.getPointerOperandType()), 0);
    const Value *Base = Load.getPointerOperand()->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/true);
    return std::pair(Base, Offset);
  };
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->getType() == By->getType() && PlaceOf(*Load) == PlaceOf(*First) && Values.isKept(*Load))
        Load->replaceAllUsesWith(By);
}

bool assign(Loop &L, Function &F, Session &S) {
  auto &AA = S.FAM.getResult<AAManager>(F);
  auto &LI = S.FAM.getResult<LoopAnalysis>(F);
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  BasicBlock *Preheader = L.getLoopPreheader(), *Latch = L.getLoopLatch();
  if (!Preheader || !Latch || L.getNumBlocks() > MaxAssigning || !pollyrs::isCopyable(L, DT))
    return false;
  SmallVector<Assignment, 4> All;
  SmallPtrSet<Instruction *, 4> Calls;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (auto *Call = dyn_cast<CallInst>(&I); Call && DT.dominates(BB, Latch))
        if (Assignment A; describe(*Call, DT, A)) {
          All.push_back(A);
          Calls.insert(Call);
        }
  Ahead Values{L, AA, Calls, Preheader->getTerminator(), DenseMap<Value *, Value *>(), DenseMap<Value *, bool>()};
  erase_if(All, [&](Assignment &A) {
    auto Can = [&](Value *V) { return Values.can(V); };
    return !Can(A.Call->getArgOperand(0)) || !Can(A.From) || !all_of(A.Extents, Can) || !all_of(A.Strides, Can) || !tagOf(L, A.Element);
  });
  // Another one would be an assignment that may change the shapes.
  if (All.empty() || All.size() != Calls.size())
    return false;

  IRBuilder<> B(Preheader->getTerminator());
  Value *Good = B.getTrue();
  SmallVector<std::pair<Shape, Shape>, 4> Shapes;
  for (Assignment &A : All) {
    Value *Descriptor = Values.compute(A.Call->getArgOperand(0));
    Shape From = {Values.compute(A.From), {}, {}};
    for (Value *V : A.Extents)
      From.Extents.push_back(Values.compute(V));
    for (Value *V : A.Strides)
      From.Strides.push_back(Values.compute(V));
    Shape To = shapeOf(Descriptor, A.Rank, B, nullptr);
    Good = B.CreateAnd(Good, areCopied(A, Descriptor, To, From, B));
    Shapes.push_back({To, From});
  }
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".assigning", Map, LI, DT);
  addStringMetadataToLoop(Copy.Copied, pollyrs::KeptMark);
  IRBuilder<>(Copy.Before).CreateCondBr(Good, Copy.Own, Copy.Other);
  for (auto [A, Both] : zip(All, Shapes))
    for (const auto &Side : {Both.second.Extents, Both.first.Extents})
      for (unsigned K = 0; K != A.Rank; ++K) {
        replaceLoads(A.Extents[K], Both.first.Extents[K], L, Values);
        replaceLoads(Side[K], Both.first.Extents[K], L, Values);
      }
  for (auto [A, Both] : zip(All, Shapes)) {
    BasicBlock *Head = A.Call->getParent();
    DebugLoc Loc = A.Call->getDebugLoc();
    MDNode *Tag = tagOf(L, A.Element);
    BasicBlock *Behind = SplitBlock(Head, A.Call);
    A.Call->eraseFromParent();
    for (StoreInst *Store : A.Stores)
      if (L.contains(Store))
        Store->eraseFromParent();
    Head->getTerminator()->eraseFromParent();
    Both.second.Extents = Both.first.Extents;
    copyBetween({A.Element, Both.first, Both.second, Tag, Loc}, A.Rank - 1, {}, Head, Behind);
  }
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}
} // namespace

// At most one loop, as that changes all analyses.
extern "C" bool prs_divide_assignments(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  return pollyrs::divideFirst(F, *S, pollyrs::KeptMark, [&](Loop &L) { return assign(L, F, *S); });
}
