// Structures of a few bytes that are passed, returned and copied in one register, as their members again;
// src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using pollyrs::Session;

namespace {
constexpr unsigned MaxWordBits = 128, MaxWordDepth = 16;

// `Bits` bits of a word, from bit `At` on, which are `Of`; null for zeros.
struct Piece {
  Value *Of;
  unsigned At, Bits;
};
using Pieces = SmallVector<Piece, 8>;

bool isWord(const Type *T) {
  auto *I = dyn_cast<IntegerType>(T);
  return I && I->getBitWidth() > 8 && I->getBitWidth() <= MaxWordBits && I->getBitWidth() % 8 == 0;
}

// Widths that memory is accessed in on a device.
bool isAccessed(unsigned Bits) { return isPowerOf2_32(Bits) && Bits >= 8 && Bits <= 64; }

// What `V`, which lies at bit `At` of a word, is put together from. False where that is not known by bytes.
bool takeApart(Value *V, unsigned At, unsigned Depth, Pieces &Out) {
  unsigned Bits = V->getType()->getScalarSizeInBits();
  Value *X, *Y;
  const APInt *By;
  if (match(V, m_Zero())) {
    Out.push_back({nullptr, At, Bits});
    return true;
  }
  if (Depth && match(V, m_ZExt(m_Value(X))) && X->getType()->isIntegerTy()) {
    unsigned Inner = X->getType()->getIntegerBitWidth();
    if (Inner % 8 != 0)
      return false;
    Out.push_back({nullptr, At + Inner, Bits - Inner});
    return takeApart(X, At, Depth - 1, Out);
  }
  // Bits that leave at the top have to be zeros: those of an extension.
  if (Depth && match(V, m_Shl(m_Value(X), m_APInt(By))) && By->ult(Bits) && By->getZExtValue() % 8 == 0) {
    unsigned Down = By->getZExtValue();
    Pieces Inner;
    if (!takeApart(X, At + Down, Depth - 1, Inner))
      return false;
    for (Piece &P : Inner) {
      if (P.At + P.Bits > At + Bits) {
        if (P.Of)
          return false;
        if (P.At >= At + Bits)
          continue;
        P.Bits = At + Bits - P.At;
      }
      Out.push_back(P);
    }
    Out.push_back({nullptr, At, Down});
    return true;
  }
  if (Depth && match(V, m_Or(m_Value(X), m_Value(Y)))) {
    Pieces Both;
    if (!takeApart(X, At, Depth - 1, Both) || !takeApart(Y, At, Depth - 1, Both))
      return false;
    // One operand has something where the other has zeros.
    Pieces Some;
    for (const Piece &P : Both)
      if (P.Of)
        Some.push_back(P);
    sort(Some, [](const Piece &A, const Piece &B) { return A.At < B.At; });
    unsigned Next = At;
    for (const Piece &P : Some) {
      if (P.At < Next)
        return false;
      if (P.At > Next)
        Out.push_back({nullptr, Next, P.At - Next});
      Out.push_back(P);
      Next = P.At + P.Bits;
    }
    if (Next < At + Bits)
      Out.push_back({nullptr, Next, At + Bits - Next});
    return true;
  }
  if (match(V, m_BitCast(m_Value(X))) && (X->getType()->isFloatTy() || X->getType()->isDoubleTy()))
    V = X;
  Out.push_back({V, At, Bits});
  return true;
}

Value *addressOf(IRBuilder<> &B, Value *Base, unsigned Bits) { return Bits ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base, Bits / 8) : Base; }

// What an access says of aliasing holds for its parts, but for types.
void copyScopes(const Instruction &From, Instruction &To) {
  for (unsigned Kind : {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias, LLVMContext::MD_access_group, LLVMContext::MD_nontemporal})
    To.setMetadata(Kind, From.getMetadata(Kind));
  To.setDebugLoc(From.getDebugLoc());
}

// The widest accesses that a word of `Bits` bits, as which nothing can be accessed, is a whole number of.
unsigned unitOf(unsigned Bits) { return std::min(64u, 1u << countr_zero(Bits)); }

bool splitStore(StoreInst &Store, bool Mixed) {
  Value *V = Store.getValueOperand();
  unsigned Bits = V->getType()->getIntegerBitWidth();
  Pieces All;
  bool Known = takeApart(V, 0, MaxWordDepth, All);
  // A number that is put together from others (`a << 24 | r << 16 | …`) stays one where its place is.
  if (isAccessed(Bits) && (!Known || !Mixed || count_if(All, [](const Piece &P) { return P.Of; }) < 2))
    return false;
  IRBuilder<> B(&Store);
  auto Put = [&](Value *Part, unsigned At) {
    copyScopes(Store, *B.CreateAlignedStore(Part, addressOf(B, Store.getPointerOperand(), At), commonAlignment(Store.getAlign(), At / 8)));
  };
  if (!Known)
    All = {{V, 0, Bits}};
  for (const Piece &P : All) {
    if (P.Of && isAccessed(P.Bits)) {
      Put(P.Of, P.At);
      continue;
    }
    for (unsigned At = 0, Unit = unitOf(P.Bits | P.At); At < P.Bits; At += Unit) {
      Type *T = B.getIntNTy(Unit);
      Put(P.Of ? B.CreateTrunc(B.CreateLShr(P.Of, At), T) : ConstantInt::get(T, 0), P.At + At);
    }
  }
  Store.eraseFromParent();
  return true;
}

// The part that `U` takes of a word: how many bits, from which on.
std::optional<std::pair<unsigned, unsigned>> partOf(const User &U, SmallVectorImpl<Instruction *> &Taken) {
  if (auto *T = dyn_cast<TruncInst>(&U); T && T->getType()->isIntegerTy()) {
    Taken.push_back(const_cast<TruncInst *>(T));
    return std::pair(0u, T->getType()->getIntegerBitWidth());
  }
  const APInt *By;
  auto *Down = dyn_cast<BinaryOperator>(&U);
  if (!Down || !match(Down, m_LShr(m_Value(), m_APInt(By))) || !By->ult(Down->getType()->getIntegerBitWidth()) || !Down->hasOneUse())
    return std::nullopt;
  auto *T = const_cast<TruncInst *>(dyn_cast<TruncInst>(Down->user_back()));
  if (!T || !T->getType()->isIntegerTy())
    return std::nullopt;
  Taken.push_back(T);
  return std::pair(unsigned(By->getZExtValue()), T->getType()->getIntegerBitWidth());
}

// Loads of words of which members are used, each by itself.
bool splitLoad(LoadInst &Load, bool Mixed) {
  unsigned Bits = Load.getType()->getIntegerBitWidth();
  IRBuilder<> B(&Load);
  auto Get = [&](unsigned At, unsigned Width) {
    auto *Part = B.CreateAlignedLoad(B.getIntNTy(Width), addressOf(B, Load.getPointerOperand(), At), commonAlignment(Load.getAlign(), At / 8));
    copyScopes(Load, *Part);
    return Part;
  };
  SmallVector<Instruction *, 8> Taken;
  SmallVector<std::pair<unsigned, unsigned>, 8> Parts;
  bool ByParts = !Load.use_empty() && (Mixed || !isAccessed(Bits));
  for (const User *U : Load.users()) {
    auto Part = partOf(*U, Taken);
    ByParts &= Part && Part->first % Part->second == 0 && isAccessed(Part->second) && Part->first + Part->second <= Bits;
    if (!ByParts)
      break;
    Parts.push_back(*Part);
  }
  // Parts of two widths that overlap stay one access.
  for (auto [At, Width] : Parts)
    for (auto [Other, Much] : Parts)
      ByParts &= (At == Other && Width == Much) || At + Width <= Other || Other + Much <= At;
  if (ByParts) {
    SmallDenseMap<unsigned, Value *> Made;
    for (auto [Part, I] : zip(Parts, Taken)) {
      Value *&V = Made[Part.first];
      if (!V)
        V = Get(Part.first, Part.second);
      I->replaceAllUsesWith(V);
    }
    return true;
  }
  if (isAccessed(Bits))
    return false;
  unsigned Unit = unitOf(Bits);
  Value *Word = nullptr;
  for (unsigned At = 0; At < Bits; At += Unit) {
    Value *Part = B.CreateShl(B.CreateZExt(Get(At, Unit), Load.getType()), At);
    Word = Word ? B.CreateOr(Word, Part) : Part;
  }
  Load.replaceAllUsesWith(Word);
  return true;
}

// A choice among words of a width that no register has is one among wider ones.
bool widen(PHINode &Phi) {
  unsigned Bits = Phi.getType()->getIntegerBitWidth();
  if (isAccessed(Bits) || Bits > 64)
    return false;
  Type *Wide = IntegerType::get(Phi.getContext(), PowerOf2Ceil(Bits));
  PHINode *New = PHINode::Create(Wide, Phi.getNumIncomingValues(), Phi.getName(), Phi.getIterator());
  SmallDenseMap<BasicBlock *, Value *> Of;
  for (auto [V, Block] : zip(Phi.incoming_values(), Phi.blocks())) {
    Value *&Extended = Of[Block];
    if (!Extended)
      Extended = IRBuilder<>(Block->getTerminator()).CreateZExt(V, Wide);
    New->addIncoming(Extended, Block);
  }
  IRBuilder<> B(Phi.getParent(), Phi.getParent()->getFirstInsertionPt());
  Phi.replaceAllUsesWith(B.CreateTrunc(New, Phi.getType()));
  return true;
}
} // namespace

extern "C" bool prs_split_words(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  if (LI.empty() || !F.getParent()->getDataLayout().isLittleEndian())
    return false;
  SmallVector<LoadInst *, 8> Loads;
  SmallVector<StoreInst *, 8> Stores;
  SmallVector<PHINode *, 8> Phis;
  // By object, the narrowest access.
  SmallDenseMap<const Value *, unsigned> Narrowest;
  for (Instruction &I : instructions(F)) {
    if (!LI.getLoopFor(I.getParent()))
      continue;
    if (const Value *Pointer = getLoadStorePointerOperand(&I)) {
      unsigned Bits = F.getDataLayout().getTypeStoreSizeInBits(getLoadStoreType(&I)).getKnownMinValue();
      unsigned &Least = Narrowest.try_emplace(getUnderlyingObject(Pointer), Bits).first->second;
      Least = std::min({Least, Bits, isAccessed(Bits) ? Bits : unitOf(Bits)});
    }
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && isWord(Load->getType()))
      Loads.push_back(Load);
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isSimple() && isWord(Store->getValueOperand()->getType()))
      Stores.push_back(Store);
    if (auto *Phi = dyn_cast<PHINode>(&I); Phi && isWord(Phi->getType()))
      Phis.push_back(Phi);
  }
  auto IsMixed = [&](const Value *Pointer, Type *T) { return Narrowest.lookup(getUnderlyingObject(Pointer)) < T->getIntegerBitWidth(); };
  bool Changed = false;
  for (PHINode *Phi : Phis)
    Changed |= widen(*Phi);
  for (LoadInst *Load : Loads)
    Changed |= splitLoad(*Load, IsMixed(Load->getPointerOperand(), Load->getType()));
  for (StoreInst *Store : Stores)
    Changed |= splitStore(*Store, IsMixed(Store->getPointerOperand(), Store->getValueOperand()->getType()));
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
