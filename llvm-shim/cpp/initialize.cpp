// Calls with which flang initializes variables of derived types whose components have no initial values;
// src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// flang's `Fortran::runtime::Initialize(descriptor, source file, line)`. It looks for the description of the
// type in the descriptor, and does nothing if that says that there is nothing to do.
constexpr char InitializeName[] = "_FortranAInitialize";
// The description: `type derivedType` of flang/module/__fortran_type_info.f90, and the number of its
// component `noInitializationNeeded`.
constexpr char DescriptionName[] = "_QM__fortran_type_infoTderivedtype";
constexpr unsigned NoInitialization = 11;

// Whether what a descriptor holds as a member is the description of a type that needs no initialization.
bool needsNone(const Value *Member) {
  auto *Global = dyn_cast<GlobalVariable>(Member);
  if (!Global || !Global->isConstant() || !Global->hasDefinitiveInitializer())
    return false;
  auto *Type = dyn_cast<StructType>(Global->getValueType());
  if (!Type || Type->isLiteral() || Type->getName() != DescriptionName || Type->getNumElements() <= NoInitialization)
    return false;
  auto *None = dyn_cast_or_null<ConstantInt>(Global->getInitializer()->getAggregateElement(NoInitialization));
  return None && !None->isZero();
}

// Whether a descriptor, of which each member is inserted into a constant, describes such a type. The
// description is the one pointer but the address of the variable, which comes first.
bool describesNone(const Value *Descriptor) {
  while (auto *Insert = dyn_cast<InsertValueInst>(Descriptor)) {
    if (Insert->getIndices().size() == 1 && Insert->getIndices()[0] != 0 && Insert->getInsertedValueOperand()->getType()->isPointerTy())
      return needsNone(Insert->getInsertedValueOperand());
    Descriptor = Insert->getAggregateOperand();
  }
  auto *C = dyn_cast<Constant>(Descriptor);
  auto *Type = C ? dyn_cast<StructType>(C->getType()) : nullptr;
  for (unsigned I = 1; Type && I < Type->getNumElements(); ++I)
    if (Type->getElementType(I)->isPointerTy())
      return needsNone(C->getAggregateElement(I));
  return false;
}

// Whether the call's descriptor is a variable that holds nothing but descriptors of such types whenever it is
// looked at.
bool doesNothing(const CallInst &Call) {
  auto *Variable = dyn_cast<AllocaInst>(Call.getArgOperand(0));
  if (!Variable || !Call.use_empty())
    return false;
  bool Set = false;
  for (const User *U : Variable->users()) {
    if (auto *Store = dyn_cast<StoreInst>(U)) {
      if (Store->getValueOperand() == Variable || !describesNone(Store->getValueOperand()))
        return false;
      Set |= Store->getParent() == Call.getParent() && Store->comesBefore(&Call);
    } else if (auto *Other = dyn_cast<CallInst>(U)) {
      auto *Callee = Other->getCalledFunction();
      if (!Other->isLifetimeStartOrEnd() && !(Callee && Callee->getName() == InitializeName))
        return false;
    } else if (!isa<LoadInst>(U)) {
      return false;
    }
  }
  return Set;
}
} // namespace

extern "C" bool prs_drop_initializations(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<CallInst *, 8> Idle;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Callee && Callee->isDeclaration() && Callee->getName() == InitializeName && Call->arg_size() == 3 && doesNothing(*Call))
      Idle.push_back(Call);
  }
  for (CallInst *Call : Idle)
    Call->eraseFromParent();
  if (!Idle.empty())
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return !Idle.empty();
}
