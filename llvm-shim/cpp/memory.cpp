// Copies and fills of memory as loops over elements; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Session;

// The bytes of an element for a memory intrinsic: as other accesses of the same object have it, if the length
// and the alignment allow; else the largest power of two that does. `Accesses` is the type of such an access.
static unsigned elementBytes(MemIntrinsic &MI, ScalarEvolution &SE, ArrayRef<const Value *> Pointers, Type *&Accesses) {
  unsigned Fits = 8;
  const SCEV *Length = SE.getSCEV(MI.getLength());
  while (Fits > 1 && SE.getMinTrailingZeros(Length) < Log2_32(Fits))
    Fits /= 2;
  for (const Value *P : Pointers) {
    const Value *Object = getUnderlyingObject(P);
    for (Instruction &I : instructions(MI.getFunction())) {
      const Value *Accessed = getLoadStorePointerOperand(&I);
      if (!Accessed || getUnderlyingObject(Accessed) != Object)
        continue;
      TypeSize Size = MI.getDataLayout().getTypeStoreSize(getLoadStoreType(&I));
      if (Size.isScalable())
        continue;
      unsigned Bytes = Size.getFixedValue();
      Accesses = getLoadStoreType(&I);
      return Bytes <= Fits && isPowerOf2_32(Bytes) ? Bytes : 0;
    }
  }
  return Fits;
}

// The factors of an expression that is not negative and does not wrap, and the product of its numbers.
static bool factorsOf(const SCEV *S, ScalarEvolution &SE, SmallVectorImpl<const SCEV *> &Factors, uint64_t &Number) {
  if (auto *C = dyn_cast<SCEVConstant>(S)) {
    Number *= C->getAPInt().getLimitedValue(1ull << 31);
    return C->getAPInt().isStrictlyPositive() && Number < (1ull << 31);
  }
  if (auto *Product = dyn_cast<SCEVMulExpr>(S))
    return Product->hasNoUnsignedWrap() && all_of(Product->operands(), [&](const SCEV *O) { return factorsOf(O, SE, Factors, Number); });
  Factors.push_back(S);
  return SE.isKnownNonNegative(S);
}

// `A / B` where that is a product of some of the factors of `A`, else null.
static const SCEV *quotient(const SCEV *A, const SCEV *B, ScalarEvolution &SE) {
  SmallVector<const SCEV *, 4> Of, By;
  uint64_t Number = 1, Divisor = 1;
  if (!factorsOf(A, SE, Of, Number) || !factorsOf(B, SE, By, Divisor) || Number % Divisor)
    return nullptr;
  for (const SCEV *F : By) {
    auto *At = find(Of, F);
    if (At == Of.end())
      return nullptr;
    Of.erase(At);
  }
  Of.push_back(SE.getConstant(A->getType(), Number / Divisor));
  return SE.getMulExpr(Of, SCEV::FlagNUW);
}

static constexpr size_t MaxDimensions = 8;

// How often each of the loops runs that go through rows of `Pointers`' arrays, as other accesses have them,
// outermost first; one loop where they have none.
static SmallVector<const SCEV *, 4> rowsOf(MemIntrinsic &MI, unsigned Bytes, ScalarEvolution &SE, ArrayRef<const Value *> Pointers) {
  SmallVector<const SCEV *, 4> Counts;
  const SCEV *Rest = SE.getSCEV(MI.getLength());
  SmallSetVector<const SCEV *, 8> Strides;
  for (Instruction &I : instructions(MI.getFunction())) {
    Value *Accessed = getLoadStorePointerOperand(&I);
    if (!Accessed || none_of(Pointers, [&](const Value *P) { return getUnderlyingObject(P) == getUnderlyingObject(Accessed); }))
      continue;
    for (auto *Rec = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Accessed)); Rec; Rec = dyn_cast<SCEVAddRecExpr>(Rec->getStart()))
      Strides.insert(Rec->getStepRecurrence(SE));
  }
  const SCEV *Element = SE.getConstant(Rest->getType(), Bytes);
  // Of the strides that divide what is left, the one that all others divide.
  for (;;) {
    const SCEV *Largest = nullptr;
    for (const SCEV *Stride : Strides)
      if (Stride != Rest && Stride != Element && Stride->getType() == Rest->getType() && quotient(Rest, Stride, SE) && quotient(Stride, Element, SE) &&
          (!Largest || quotient(Stride, Largest, SE)))
        Largest = Stride;
    const SCEV *Count = quotient(Rest, Largest ? Largest : Element, SE);
    if (!Count)
      return {};
    Counts.push_back(Count);
    if (Counts.size() > MaxDimensions)
      return {};
    if (!Largest)
      return Counts;
    Rest = Largest;
  }
}

// Bytes of a copy of constant length that is an array's. Shorter ones count in loops only: a structure, an
// array of a few cells.
static constexpr uint64_t MinConstantLength = 2048;
// So many elements of a short copy are copied one by one.
static constexpr uint64_t MaxWrittenOut = 32;

namespace {
// A copy of memory, or a store of one byte to all of it, as loads and stores of elements.
struct Move {
  MemIntrinsic &MI;
  MemTransferInst *Copy = nullptr;
  // Of a store.
  ConstantInt *Byte = nullptr;
  Constant *Pattern = nullptr;
  // Set if it is known and short.
  ConstantInt *Short = nullptr;
  SmallVector<const Value *, 2> Pointers = {};
  unsigned Bytes = 0;
  Type *Element = nullptr;

  Value *load(IRBuilder<> &B, Value *I) const {
    if (Pattern)
      return Pattern;
    return B.CreateAlignedLoad(Element, B.CreateInBoundsGEP(Element, Copy->getRawSource(), I), alignAt(Copy->getSourceAlign()));
  }
  void store(IRBuilder<> &B, Value *V, Value *I) const {
    B.CreateAlignedStore(V, B.CreateInBoundsGEP(Element, MI.getRawDest(), I), alignAt(MI.getDestAlign()));
  }

private:
  Align alignAt(MaybeAlign A) const { return commonAlignment(A.valueOrOne(), Bytes); }
};
} // namespace

// Whether the copy may be a loop: forward order is right for memcpy, whose operands are equal or disjoint,
// and for a memmove that is known to be one.
static bool isLoop(Move &M, AAResults &AA, LoopInfo &LI) {
  MemIntrinsic &MI = M.MI;
  if (MI.isVolatile() || MI.getDestAddressSpace() != 0 || !MI.getLength()->getType()->isIntegerTy(64))
    return false;
  auto *Length = dyn_cast<ConstantInt>(MI.getLength());
  if (Length && Length->getValue().ult(MinConstantLength))
    M.Short = Length;
  if (M.Short && (Length->isZero() || !LI.getLoopFor(MI.getParent())))
    return false;
  M.Pointers = {MI.getRawDest()};
  if (auto *Set = dyn_cast<MemSetInst>(&MI)) {
    M.Byte = dyn_cast<ConstantInt>(Set->getValue());
    return M.Byte;
  }
  M.Copy = dyn_cast<MemTransferInst>(&MI);
  if (!M.Copy || M.Copy->getSourceAddressSpace() != 0)
    return false;
  if (isa<MemMoveInst>(M.Copy) && !AA.isNoAlias(MemoryLocation::getForDest(M.Copy), MemoryLocation::getForSource(M.Copy)))
    return false;
  M.Pointers.push_back(M.Copy->getRawSource());
  return true;
}

// The elements that are moved; false if there are none that everybody means.
static bool findElement(Move &M, ScalarEvolution &SE) {
  MemIntrinsic &MI = M.MI;
  Type *Accesses = nullptr;
  M.Bytes = elementBytes(MI, SE, M.Pointers, Accesses);
  if (!M.Bytes)
    return false;
  // Fields of a structure, as far as they show.
  if (M.Short)
    M.Bytes = std::min<uint64_t>({M.Bytes, MI.getDestAlign().valueOrOne().value(),
                                  M.Copy ? M.Copy->getSourceAlign().valueOrOne().value() : M.Bytes});
  LLVMContext &Context = MI.getContext();
  // Loads and stores leave all bits of floating-point numbers as they are.
  bool Float = Accesses && (Accesses->isFloatTy() || Accesses->isDoubleTy()) && Accesses->getPrimitiveSizeInBits() == 8 * M.Bytes;
  M.Element = Float ? Accesses : IntegerType::get(Context, 8 * M.Bytes);
  if (M.Byte)
    M.Pattern = ConstantExpr::getBitCast(ConstantInt::get(Context, APInt::getSplat(8 * M.Bytes, M.Byte->getValue())), M.Element);
  return true;
}

// All elements one by one. Nothing is stored before all is loaded: no store can be between a load and its
// own.
static void writeOut(const Move &M) {
  IRBuilder<> B(&M.MI);
  SmallVector<Value *, MaxWrittenOut> Values;
  for (uint64_t I = 0, E = M.Short->getZExtValue() / M.Bytes; I != E; ++I)
    Values.push_back(M.load(B, B.getInt64(I)));
  for (auto [I, V] : enumerate(Values))
    M.store(B, V, B.getInt64(I));
}

// A nest of loops. Where rows show, a loop for each dimension: the array keeps its shape.
static void writeLoops(const Move &M, ScalarEvolution &SE) {
  MemIntrinsic &MI = M.MI;
  LLVMContext &Context = MI.getContext();
  IntegerType *Index = Type::getInt64Ty(Context);
  SmallVector<Value *, 4> Counts;
  SCEVExpander Expander(SE, "pollyrs.memory");
  SmallVector<const SCEV *, 4> Rows = rowsOf(MI, M.Bytes, SE, M.Pointers);
  if (Rows.size() > 1 && all_of(Rows, [&](const SCEV *S) { return Expander.isSafeToExpandAt(S, &MI); }))
    for (const SCEV *S : Rows)
      Counts.push_back(Expander.expandCodeFor(S, Index, MI.getIterator()));
  BasicBlock *Before = MI.getParent();
  BasicBlock *After = SplitBlock(Before, &MI);
  Before->getTerminator()->eraseFromParent();
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(MI.getDebugLoc());
  Value *Zero = ConstantInt::get(Index, 0);
  Value *All = B.CreateExactUDiv(MI.getLength(), ConstantInt::get(Index, M.Bytes));
  if (Counts.empty())
    Counts.push_back(All);
  BasicBlock *Outer = BasicBlock::Create(Context, "pollyrs.memory", Before->getParent(), After);
  B.CreateCondBr(B.CreateICmpNE(All, Zero), Outer, After);
  // No count is zero where the length is not.
  SmallVector<std::pair<PHINode *, BasicBlock *>, 4> Loops;
  Value *Place = Zero;
  BasicBlock *From = Before;
  for (unsigned Level = 0; Level != Counts.size(); ++Level) {
    BasicBlock *Body = Level ? BasicBlock::Create(Context, "pollyrs.row", Before->getParent(), After) : Outer;
    if (Level)
      B.CreateBr(Body);
    B.SetInsertPoint(Body);
    PHINode *I = B.CreatePHI(Index, 2);
    I->addIncoming(Zero, From);
    Value *Row = Level ? B.CreateMul(Place, Counts[Level], "", /*HasNUW=*/true, /*HasNSW=*/true) : nullptr;
    Place = Row ? B.CreateAdd(Row, I, "", /*HasNUW=*/true, /*HasNSW=*/true) : I;
    Loops.push_back({I, Body});
    From = Body;
  }
  M.store(B, M.load(B, Place), Place);
  for (unsigned Level = Counts.size(); Level--;) {
    auto [I, Body] = Loops[Level];
    Value *Next = B.CreateAdd(I, ConstantInt::get(Index, 1), "", /*HasNUW=*/true, /*HasNSW=*/true);
    I->addIncoming(Next, B.GetInsertBlock());
    BasicBlock *Behind = Level ? BasicBlock::Create(Context, "pollyrs.behind", Before->getParent(), After) : After;
    auto *Latch = B.CreateCondBr(B.CreateICmpNE(Next, Counts[Level]), Body, Behind);
    MDNode *Id = MDNode::getDistinct(Context, {nullptr, MDNode::get(Context, MDString::get(Context, pollyrs::MovesMark))});
    Id->replaceOperandWith(0, Id);
    Latch->setMetadata(LLVMContext::MD_loop, Id);
    if (Level)
      B.SetInsertPoint(Behind);
  }
}

// `for (i = 0; i < length / bytes; ++i) dst[i] = value or src[i]`.
static bool expandIntrinsic(MemIntrinsic &MI, ScalarEvolution &SE, AAResults &AA, LoopInfo &LI) {
  Move M{MI};
  if (!isLoop(M, AA, LI) || !findElement(M, SE))
    return false;
  if (M.Short && M.Short->getZExtValue() / M.Bytes <= MaxWrittenOut)
    writeOut(M);
  else
    writeLoops(M, SE);
  MI.eraseFromParent();
  return true;
}

extern "C" bool prs_expand_memory_intrinsics(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  SmallVector<MemIntrinsic *, 8> Found;
  for (Instruction &I : instructions(F))
    if (auto *MI = dyn_cast<MemIntrinsic>(&I))
      Found.push_back(MI);
  for (MemIntrinsic *MI : Found) {
    if (!S->work(F))
      break;
    // The analyses are of the function before the previous expansion.
    if (expandIntrinsic(*MI, S->FAM.getResult<ScalarEvolutionAnalysis>(F), S->FAM.getResult<AAManager>(F),
                        S->FAM.getResult<LoopAnalysis>(F))) {
      S->FAM.invalidate(F, PreservedAnalyses::none());
      Changed = true;
    }
  }
  return Changed;
}
