// Which calls no inlining removes. At the start of the pipeline nothing has been inlined yet, and local
// variables are in memory: of a loop that calls a function which always calls one of another file, no loop
// is left for the device, however much is inlined into it.
//
// A call lasts if nothing makes another function's code of it, or if the function that it calls has a call
// that lasts and that all callers run into. What the rewritings of loops may decide does not count:
// conditions on constants, on arguments that are numbers, and on counters. `if (t % 10 == 0) print(…);`
// leaves loops over the steps in between, `if (verbose) print(…);` a loop without it; what depends on the
// program's data stays.

#include "shim.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using pollyrs::LastingCalls;

// Of arguments that may be known; one for all of the last.
static uint64_t bitOf(unsigned Argument) { return uint64_t(1) << std::min(Argument, 63u); }

// Operands of operands that are looked at, and calls of calls.
static constexpr unsigned MaxConditionDepth = 8, MaxChain = 64;

namespace {
// What is done with a local variable, or with a part of one.
struct Uses {
  SmallVector<Value *, 4> Stored;
  // Those that get its address.
  SmallVector<CallBase *, 4> Calls;
  bool Parts = false, Escapes = false;

  void collect(Instruction &Pointer) {
    for (User *U : Pointer.users()) {
      auto *I = cast<Instruction>(U);
      if (auto *Store = dyn_cast<StoreInst>(I); Store && Store->getValueOperand() != &Pointer)
        Stored.push_back(Store->getValueOperand());
      else if (isa<LoadInst>(I) || I->isLifetimeStartOrEnd())
        continue;
      else if (auto *Call = dyn_cast<CallBase>(I))
        Calls.push_back(Call);
      else if (auto *Part = dyn_cast<GetElementPtrInst>(I)) {
        Parts = true;
        collect(*Part);
      } else
        Escapes = true;
    }
  }
};
} // namespace

// Whether what a local variable holds may be known once calls are inlined.
bool LastingCalls::mayHoldKnown(AllocaInst &A, uint64_t Arguments, unsigned Depth) {
  // A counter is known if what else it gets is.
  if (!Seen.insert(&A).second)
    return true;
  Uses All;
  All.collect(A);
  // What a call that stays does with the variable nobody knows.
  if (any_of(All.Calls, [&](CallBase *Call) { return lasts(*Call, Arguments, Depth + 1); }))
    return false;
  if (All.Parts || All.Escapes || !All.Calls.empty())
    return true;
  return all_of(All.Stored, [&](Value *V) { return mayBeKnown(V, Arguments, Depth + 1); });
}

// Whether a value may be known once calls are inlined and local variables are values: it is no program's
// data.
bool LastingCalls::mayBeKnown(Value *V, uint64_t Arguments, unsigned Depth) {
  if (isa<Constant>(V) || isa<AllocaInst>(V) || Depth == MaxConditionDepth)
    return true;
  if (auto *A = dyn_cast<Argument>(V))
    return Arguments & bitOf(A->getArgNo());
  auto *I = cast<Instruction>(V);
  auto All = [&](auto &&Operands) {
    return all_of(Operands, [&](Value *Operand) { return mayBeKnown(Operand, Arguments, Depth + 1); });
  };
  if (auto *Load = dyn_cast<LoadInst>(I)) {
    Value *Object = getUnderlyingObject(Load->getPointerOperand(), 0);
    // A switch of the program's, say.
    if (auto *Global = dyn_cast<GlobalVariable>(Object))
      return Global->isConstant() || (Load->getPointerOperand() == Global && I->getType()->isIntegerTy());
    auto *A = dyn_cast<AllocaInst>(Object);
    return A ? mayHoldKnown(*A, Arguments, Depth) : mayBeKnown(Object, Arguments, Depth + 1);
  }
  if (auto *Call = dyn_cast<CallBase>(I)) {
    Function *Callee = Call->getCalledFunction();
    if (!Callee)
      return false;
    if (Callee->isIntrinsic())
      return All(Call->args());
    // What a chain of decisions returns, is data.
    return Callee->size() == 1 && !Callee->isDeclaration();
  }
  if (auto *Phi = dyn_cast<PHINode>(I))
    return !Seen.insert(Phi).second || All(Phi->incoming_values());
  return All(I->operand_values());
}

// Whether a condition at the end of a block decides if control comes to another one: not from both sides of
// it one comes there.
static bool decides(const Instruction &End, const BasicBlock &BB, const DominatorTree &DT) {
  auto *Own = const_cast<BasicBlock *>(End.getParent());
  SmallPtrSet<BasicBlock *, 1> Without = {Own};
  return !all_of(successors(&End), [&](const BasicBlock *Next) {
    return Next != Own && isPotentiallyReachable(&Next->front(), &BB.front(), &Without, &DT);
  });
}

// Whether a block is run in general, each time that control comes to a loop around it, or to the function:
// it is not where the program ends, and no condition decides about it that may be known. That the loops
// around it run at all is presumed.
bool LastingCalls::isSure(BasicBlock &BB, uint64_t Arguments, const Loop *Within) {
  const BasicBlock *Last = &BB;
  for (unsigned N = 0; N != MaxConditionDepth && Last->getUniqueSuccessor(); ++N)
    Last = Last->getUniqueSuccessor();
  if (isa<UnreachableInst>(Last->getTerminator()))
    return false;
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(*BB.getParent());
  auto &LI = S.FAM.getResult<LoopAnalysis>(*BB.getParent());
  auto *Node = DT.getNode(&BB);
  if (!Node)
    return false;
  for (Node = Node->getIDom(); Node && (!Within || Within->contains(Node->getBlock())); Node = Node->getIDom()) {
    BasicBlock *At = Node->getBlock();
    Instruction *End = At->getTerminator();
    const Loop *Around = LI.getLoopFor(At);
    if (Around && Around->isLoopExiting(At))
      continue;
    Value *Condition = nullptr;
    if (auto *Branch = dyn_cast<BranchInst>(End))
      Condition = Branch->isConditional() ? Branch->getCondition() : nullptr;
    else if (auto *Switch = dyn_cast<SwitchInst>(End))
      Condition = Switch->getCondition();
    Seen.clear();
    if (Condition && mayBeKnown(Condition, Arguments, 0) && decides(*End, BB, DT))
      return false;
  }
  return true;
}

bool LastingCalls::lasts(CallBase &Call, uint64_t Arguments, unsigned Depth) {
  if (Call.doesNotReturn() || !pollyrs::staysACall(S, Call))
    return false;
  Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return Call.isInlineAsm() || !mayBeKnown(Call.getCalledOperand(), Arguments, Depth);
  if (!CanInline(Call))
    return true;
  auto Around = std::move(Seen);
  uint64_t Given = 0;
  for (auto [N, A] : enumerate(Call.args())) {
    Seen = Around;
    if (mayBeKnown(A, Arguments, Depth))
      Given |= bitOf(N);
  }
  bool Has = hasLasting(*Callee, Given);
  Seen = std::move(Around);
  return Has;
}

// Whether all who call the function run into a call that lasts, if some arguments may be known.
bool LastingCalls::hasLasting(Function &F, uint64_t Arguments) {
  // A function that calls itself lasts, and so does one of which not all is inlined.
  if (Chain == MaxChain)
    return true;
  auto [It, New] = S.Lasting.try_emplace({&F, Arguments}, true);
  if (!New)
    return It->second;
  bool Found = false;
  ++Chain;
  if (S.work(F))
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && lasts(*Call, Arguments) && isSure(*I.getParent(), Arguments, nullptr)) {
        S.LastingCall.try_emplace(&F, Call);
        Found = true;
        break;
      }
  --Chain;
  return S.Lasting[{&F, Arguments}] = Found;
}

static void mark(CallBase &Call, StringRef Text) {
  LLVMContext &Context = Call.getContext();
  Call.setMetadata(pollyrs::LastingMark, MDNode::get(Context, MDString::get(Context, Text)));
}

// Notes at a call that lasts because of what is called in there, what that is, for remarks.
void LastingCalls::note(CallBase &Call) {
  CallBase *Last = &Call;
  for (unsigned N = 0; N != MaxChain; ++N) {
    CallBase *Next = S.LastingCall.lookup(Last->getCalledFunction());
    if (!Next || !CanInline(*Last))
      break;
    Last = Next;
  }
  Function *Callee = Last->getCalledFunction();
  if (Last != &Call)
    mark(Call, Callee ? Callee->getName() : "a function pointer");
}

// Whether the loop goes from record to record: a variable gets what is loaded from where it points to.
static bool goesAlongLinks(const Loop &L) {
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      auto *Store = dyn_cast<StoreInst>(&I);
      auto *Variable = Store ? dyn_cast<AllocaInst>(Store->getPointerOperand()) : nullptr;
      auto *Next = Variable ? dyn_cast<LoadInst>(Store->getValueOperand()) : nullptr;
      if (!Next || !Next->getType()->isPointerTy())
        continue;
      auto *Record = dyn_cast<LoadInst>(getUnderlyingObject(Next->getPointerOperand(), 0));
      if (Record && Record->getPointerOperand() == Variable)
        return true;
    }
  return false;
}

DenseSet<const Loop *> LastingCalls::hopeless(Function &F) {
  DenseSet<const Loop *> Found;
  uint64_t Numbers = 0;
  for (const Argument &A : F.args())
    if (!A.getType()->isPointerTy())
      Numbers |= bitOf(A.getArgNo());
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  auto Note = [&](const Loop *L) {
    for (; L && Found.insert(L).second; L = L->getParentLoop())
      ;
  };
  for (const Loop *L : LI.getLoopsInPreorder()) {
    if (!goesAlongLinks(*L))
      continue;
    Note(L);
    for (BasicBlock *BB : L->blocks())
      for (Instruction &I : *BB)
        if (auto *Call = dyn_cast<CallBase>(&I); Call && LI.getLoopFor(BB) == L && pollyrs::staysACall(S, *Call) && CanInline(*Call))
          mark(*Call, "");
  }
  for (BasicBlock &BB : F) {
    const Loop *L = LI.getLoopFor(&BB);
    if (L && !Found.contains(L) && any_of(BB, [&](Instruction &I) {
          auto *Call = dyn_cast<CallBase>(&I);
          bool Lasts = Call && lasts(*Call, Numbers) && isSure(BB, Numbers, L);
          if (Lasts)
            note(*Call);
          return Lasts;
        }))
      Note(L);
  }
  return Found;
}
