// What the back edge of a loop implies for the values that it carries; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Session;

namespace {
constexpr unsigned MaxNesting = 6;

// `V` where `Condition` is `Known`, computed at the end of `Latch`; null if that is `V` itself.
Value *where(Value *V, Value *Condition, bool Known, BasicBlock &Latch, unsigned Depth) {
  if (V == Condition)
    return ConstantInt::getBool(V->getContext(), Known);
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getParent() != &Latch || !Depth || isa<PHINode>(I) || I->mayReadOrWriteMemory())
    return nullptr;
  auto Inner = [&](Value *Op) { return where(Op, Condition, Known, Latch, Depth - 1); };
  if (auto *Select = dyn_cast<SelectInst>(I)) {
    auto *C = dyn_cast_or_null<ConstantInt>(Inner(Select->getCondition()));
    if (!C)
      return nullptr;
    Value *Arm = C->isOne() ? Select->getTrueValue() : Select->getFalseValue();
    Value *Simpler = Inner(Arm);
    return Simpler ? Simpler : Arm;
  }
  if (!isa<CastInst>(I) && !isa<BinaryOperator>(I) && !isa<GetElementPtrInst>(I) && !isa<FreezeInst>(I))
    return nullptr;
  SmallVector<std::pair<unsigned, Value *>, 2> Changed;
  for (Use &Op : I->operands())
    if (Value *Simpler = Inner(Op))
      Changed.push_back({Op.getOperandNo(), Simpler});
  if (Changed.empty())
    return nullptr;
  if (isa<ZExtInst>(I))
    if (auto *C = dyn_cast<ConstantInt>(Changed[0].second))
      return ConstantInt::get(I->getType(), C->getZExtValue());
  Instruction *Copy = I->clone();
  for (auto &[At, Simpler] : Changed)
    Copy->setOperand(At, Simpler);
  // What was poison for another value of the condition says nothing here; what is computed is the same.
  Copy->insertBefore(Latch.getTerminator()->getIterator());
  return Copy;
}
} // namespace

extern "C" bool prs_specialise_back_edges(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    BasicBlock *Latch = L->getLoopLatch(), *Header = L->getHeader();
    auto *Branch = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
    if (!Branch || Branch->isUnconditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
      continue;
    bool Known = Branch->getSuccessor(0) == Header;
    for (PHINode &PHI : Header->phis())
      if (Value *V = where(PHI.getIncomingValueForBlock(Latch), Branch->getCondition(), Known, *Latch, MaxNesting)) {
        PHI.setIncomingValueForBlock(Latch, V);
        Changed = true;
      }
  }
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
