// Rows that the model knows by addresses of its own: how these are marked while passes run and while scalar
// evolution is asked, and the end of the marks.

#include "rows.h"
#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using pollyrs::Session;

// Marks a `select` with the condition `true`: its first value is the row's address in the model, its second
// one the address in the table.
static constexpr const char RowMark[] = "pollyrs.row";

AttributeList pollyrs::reads(LLVMContext &Context, MemoryEffects Effects) {
  AttrBuilder Attributes(Context);
  Attributes.addAttribute(Attribute::NoUnwind).addAttribute(Attribute::WillReturn).addMemoryAttr(Effects);
  return AttributeList::get(Context, AttributeList::FunctionIndex, Attributes);
}

FunctionCallee pollyrs::rowFunction(Module &M) {
  Type *Pointer = PointerType::get(M.getContext(), 0);
  return M.getOrInsertFunction("pollyrs.row", reads(M.getContext(), MemoryEffects::none()), Pointer, Pointer, Pointer);
}

bool pollyrs::isMarked(const Value &V) {
  return any_of(V.users(), [](const User *U) {
    auto *Call = dyn_cast<CallInst>(U);
    auto *Select = dyn_cast<SelectInst>(U);
    return (Select && Select->hasMetadata(RowMark)) ||
           (Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == "pollyrs.row");
  });
}

void pollyrs::replaceLength(LoadInst &Load, Value &Length) {
  auto *Marked = SelectInst::Create(ConstantInt::getTrue(Load.getContext()), &Length, &Load, Load.getName(), std::next(Load.getIterator()));
  Marked->setMetadata(RowMark, MDNode::get(Load.getContext(), {}));
  Load.replaceUsesWithIf(Marked, [&](llvm::Use &U) { return U.getUser() != Marked; });
}

extern "C" {

// From here on scalar evolution knows each row by its address in the model, so no pass may run.
bool prs_mark_rows(Session *S, LLVMValueRef FRef) {
  SmallVector<CallInst *, 16> Calls;
  for (Instruction &I : instructions(*unwrap<Function>(FRef)))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == "pollyrs.row")
      Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    auto *Marked = SelectInst::Create(ConstantInt::getTrue(Call->getContext()), Call->getArgOperand(0), Call->getArgOperand(1));
    Marked->setDebugLoc(Call->getDebugLoc());
    Marked->setMetadata(RowMark, MDNode::get(Call->getContext(), {}));
    Marked->takeName(Call);
    ReplaceInstWithInst(Call, Marked);
  }
  if (!Calls.empty())
    S->FAM.invalidate(*unwrap<Function>(FRef), PreservedAnalyses::none());
  return !Calls.empty();
}

// Each row has the address that its table says.
bool prs_restore_rows(Session *S, LLVMValueRef FRef) {
  SmallVector<SelectInst *, 16> Marked;
  for (Instruction &I : instructions(*unwrap<Function>(FRef)))
    if (I.hasMetadata(RowMark))
      Marked.push_back(cast<SelectInst>(&I));
  for (SelectInst *Select : Marked) {
    Select->replaceAllUsesWith(Select->getFalseValue());
    Select->eraseFromParent();
  }
  if (!Marked.empty())
    S->FAM.invalidate(*unwrap<Function>(FRef), PreservedAnalyses::none());
  return !Marked.empty();
}

} // extern "C"
