// Facts about loops and calls of functions in any form, without regions and the other analyses that detection
// needs.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/ModRef.h"

using namespace llvm;
using pollyrs::Session;

static bool followsLinks(const Loop &L) {
  for (const PHINode &Phi : L.getHeader()->phis())
    for (const BasicBlock *From : Phi.blocks()) {
      auto *Next = dyn_cast<LoadInst>(Phi.getIncomingValueForBlock(From));
      if (L.contains(From) && Phi.getType()->isPointerTy() && Next && getUnderlyingObject(Next->getPointerOperand(), 0) == &Phi)
        return true;
    }
  return false;
}

bool pollyrs::staysACall(Session &S, CallBase &Call) {
  // The device has mathematical functions; what they do to `errno` is dealt with.
  if (isa<IntrinsicInst>(Call) || Call.getMemoryEffects().getWithoutLoc(IRMemLocation::ErrnoMem).doesNotAccessMemory())
    return false;
  if (Call.isInlineAsm())
    return true;
  if (auto *Callee = Call.getCalledFunction()) {
    LibFunc Known;
    if (!S.FAM.getResult<TargetLibraryAnalysis>(*Call.getFunction()).getLibFunc(*Callee, Known))
      return true;
    static const LibFunc Lasting[] = {LibFunc_fprintf, LibFunc_printf, LibFunc_putchar, LibFunc_puts, LibFunc_fputc,
                                      LibFunc_fputs,   LibFunc_putc,   LibFunc_getc,    LibFunc_fgetc, LibFunc_fgets,
                                      LibFunc_getchar, LibFunc_realloc};
    return is_contained(Lasting, Known);
  }
  // A pointer that this function keeps, or a constant table's, may turn out to be a certain function.
  auto *Load = dyn_cast<LoadInst>(Call.getCalledOperand());
  if (!Load)
    return isa<Argument>(Call.getCalledOperand());
  const Value *Object = getUnderlyingObject(Load->getPointerOperand(), 0);
  auto *Global = dyn_cast<GlobalVariable>(Object);
  return !isa<AllocaInst>(Object) && !(Global && Global->isConstant());
}

DenseSet<const Loop *> pollyrs::blockedLoops(Session &S, const LoopInfo &LI) {
  DenseSet<const Loop *> Blocked;
  auto Block = [&](const Loop *L) {
    for (; L && Blocked.insert(L).second; L = L->getParentLoop())
      ;
  };
  for (const Loop *L : LI.getLoopsInPreorder()) {
    if (followsLinks(*L))
      Block(L);
    for (BasicBlock *BB : L->blocks())
      if (LI.getLoopFor(BB) == L && !Blocked.contains(L) && any_of(*BB, [&](Instruction &I) {
            auto *Call = dyn_cast<CallBase>(&I);
            return Call && pollyrs::staysACall(S, *Call);
          }))
        Block(L);
  }
  return Blocked;
}

extern "C" {

// Outer loops before inner ones; the blocks are those of no inner loop.
void prs_loops(Session *S, LLVMValueRef FRef, void *Ctx, prs_loop_sink Sink) {
  const LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(*unwrap<Function>(FRef));
  DenseMap<const Loop *, size_t> Numbers;
  for (const Loop *L : LI.getLoopsInPreorder()) {
    std::vector<LLVMBasicBlockRef> Own;
    for (BasicBlock *BB : L->blocks())
      if (LI.getLoopFor(BB) == L)
        Own.push_back(wrap(BB));
    const Loop *Parent = L->getParentLoop();
    Sink(Ctx, Parent ? Numbers.lookup(Parent) : SIZE_MAX, wrap(L->getHeader()), Own.data(), Own.size());
    size_t Number = Numbers.size();
    Numbers[L] = Number;
  }
}

// Whether the loop goes from record to record: a pointer that it carries is loaded from where that pointer
// points to.
bool prs_follows_links(Session *S, LLVMBasicBlockRef HeaderRef) {
  BasicBlock &Header = *unwrap(HeaderRef);
  const Loop *L = S->FAM.getResult<LoopAnalysis>(*Header.getParent()).getLoopFor(&Header);
  return L && followsLinks(*L);
}

// Executions of the header each time that the loop is entered, at most; 0 where no such number is known.
uint32_t prs_most_iterations(Session *S, LLVMBasicBlockRef HeaderRef) {
  BasicBlock &Header = *unwrap(HeaderRef);
  const Loop *L = S->FAM.getResult<LoopAnalysis>(*Header.getParent()).getLoopFor(&Header);
  return L ? S->FAM.getResult<ScalarEvolutionAnalysis>(*Header.getParent()).getSmallConstantMaxTripCount(L) : 0;
}

bool prs_stays_a_call(Session *S, LLVMValueRef CallRef) { return pollyrs::staysACall(*S, *unwrap<CallBase>(CallRef)); }

// Whether somebody wants to know what became of loops.
bool prs_wants_remarks(LLVMValueRef FRef) {
  return OptimizationRemarkEmitter::allowExtraAnalysis(*unwrap<Function>(FRef), "pollyrs");
}

} // extern "C"
