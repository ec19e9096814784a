// Products of complex numbers: the call for results that are not numbers becomes code; and their absolute
// values: the call becomes that of hypot. src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// The number type of `__muldc3(a, b, c, d)` and `__mulsc3`, as the x86-64 ABI has them: two numbers in a
// structure, or two in a vector.
Type *partOf(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || Call.arg_size() != 4 || Call.isStrictFP() || Call.hasOperandBundles())
    return nullptr;
  bool Double = Callee->getName() == "__muldc3";
  if (!Double && Callee->getName() != "__mulsc3")
    return nullptr;
  Type *Part = Double ? Type::getDoubleTy(Call.getContext()) : Type::getFloatTy(Call.getContext());
  Type *Whole = Double ? static_cast<Type *>(StructType::get(Part, Part)) : FixedVectorType::get(Part, 2);
  for (const Use &Arg : Call.args())
    if (Arg->getType() != Part)
      return nullptr;
  return Call.getType() == Whole ? Part : nullptr;
}

// Annex G of ISO C, G.5.1, example 1: infinities survive. What the number is where neither part is one is not
// laid down.
struct Product {
  IRBuilder<> B;
  Type *Part;
  Value *A[4];
  Value *Zero = ConstantFP::get(Part, 0.0), *One = ConstantFP::get(Part, 1.0);

  Value *isInfinite(Value *V) {
    return B.CreateFCmpOEQ(B.CreateUnaryIntrinsic(Intrinsic::fabs, V), ConstantFP::getInfinity(Part));
  }
  Value *isNaN(Value *V) { return B.CreateFCmpUNO(V, V); }
  Value *either(Value *X, Value *Y) { return B.CreateOr(isInfinite(X), isInfinite(Y)); }
  Value *copySign(Value *Magnitude, Value *V) { return B.CreateBinaryIntrinsic(Intrinsic::copysign, Magnitude, V); }

  // Where `When`: parts at `P` and the next become a corner of the unit square if infinite, else zero.
  void box(unsigned P, Value *When) {
    for (unsigned I : {P, P + 1})
      A[I] = B.CreateSelect(When, copySign(B.CreateSelect(isInfinite(A[I]), One, Zero), A[I]), A[I]);
  }
  // Where `When`: those that are no numbers become zero.
  void clear(unsigned P, Value *When) {
    for (unsigned I : {P, P + 1})
      A[I] = B.CreateSelect(B.CreateAnd(When, isNaN(A[I])), copySign(Zero, A[I]), A[I]);
  }

  std::pair<Value *, Value *> build() {
    Value *AC = B.CreateFMul(A[0], A[2]), *BD = B.CreateFMul(A[1], A[3]);
    Value *AD = B.CreateFMul(A[0], A[3]), *BC = B.CreateFMul(A[1], A[2]);
    Value *Re = B.CreateFSub(AC, BD), *Im = B.CreateFAdd(AD, BC);
    Value *Lost = B.CreateAnd(isNaN(Re), isNaN(Im));
    Value *First = either(A[0], A[1]);
    box(0, First);
    clear(2, First);
    Value *Second = either(A[2], A[3]);
    box(2, Second);
    clear(0, Second);
    Value *Again = B.CreateOr(First, Second);
    Value *Over = B.CreateOr(either(AC, BD), either(AD, BC));
    Value *Third = B.CreateAnd(B.CreateNot(Again), Over);
    clear(0, Third);
    clear(2, Third);
    Value *Use = B.CreateAnd(Lost, B.CreateOr(Again, Third));
    Value *Infinity = ConstantFP::getInfinity(Part);
    Value *NewRe = B.CreateFMul(Infinity, B.CreateFSub(B.CreateFMul(A[0], A[2]), B.CreateFMul(A[1], A[3])));
    Value *NewIm = B.CreateFMul(Infinity, B.CreateFAdd(B.CreateFMul(A[0], A[3]), B.CreateFMul(A[1], A[2])));
    return {B.CreateSelect(Use, NewRe, Re), B.CreateSelect(Use, NewIm, Im)};
  }
};
} // namespace

// `cabs(z)` is defined as `hypot(creal(z), cimag(z))`. Whether the call is one; of floats, the ABI has both
// parts in a vector.
static bool isMagnitude(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || Call.isStrictFP() || Call.hasOperandBundles() || Call.isNoBuiltin())
    return false;
  auto Is = [&](StringRef Name, Type *T, ArrayRef<Type *> Args) {
    return Callee->getName() == Name && Callee->getFunctionType() == FunctionType::get(T, Args, false) &&
           Call.getFunctionType() == Callee->getFunctionType() && !Call.getFunction()->hasFnAttribute("no-builtins");
  };
  Type *Single = Type::getFloatTy(Call.getContext()), *Double = Type::getDoubleTy(Call.getContext());
  return Is("cabs", Double, {Double, Double}) || Is("cabsf", Single, {FixedVectorType::get(Single, 2)});
}

static void becomeHypot(CallInst &Call) {
  IRBuilder<> B(&Call);
  bool Single = Call.arg_size() == 1;
  Type *T = Call.getType();
  Value *Parts = Call.getArgOperand(0);
  Value *X = Single ? B.CreateExtractElement(Parts, uint64_t(0)) : Parts;
  Value *Y = Single ? B.CreateExtractElement(Parts, uint64_t(1)) : Call.getArgOperand(1);
  CallInst *New = B.CreateCall(Call.getModule()->getOrInsertFunction(Single ? "hypotf" : "hypot", T, T, T), {X, Y});
  New->copyFastMathFlags(&Call);
  New->setDebugLoc(Call.getDebugLoc());
  if (Call.doesNotAccessMemory())
    New->setDoesNotAccessMemory();
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

extern "C" bool prs_expand_complex_calls(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<CallInst *, 8> Magnitudes;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && isMagnitude(*Call))
      Magnitudes.push_back(Call);
  for (CallInst *Call : Magnitudes)
    becomeHypot(*Call);
  SmallVector<CallInst *, 8> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && partOf(*Call))
      Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    Product P{IRBuilder<>(Call), partOf(*Call), {}};
    for (unsigned I = 0; I != 4; ++I)
      P.A[I] = Call->getArgOperand(I);
    auto [Re, Im] = P.build();
    Value *Whole = PoisonValue::get(Call->getType());
    if (Call->getType()->isStructTy())
      Whole = P.B.CreateInsertValue(P.B.CreateInsertValue(Whole, Re, 0), Im, 1);
    else
      Whole = P.B.CreateInsertElement(P.B.CreateInsertElement(Whole, Re, uint64_t(0)), Im, uint64_t(1));
    Call->replaceAllUsesWith(Whole);
    Call->eraseFromParent();
  }
  bool Changed = !Calls.empty() || !Magnitudes.empty();
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
