// Inlining of calls inside loops, and of those that fill variables for loops: at the start of the pipeline
// nothing has been inlined yet.

#include "shim.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using pollyrs::Session;

static bool callsItself(const Function &F) {
  for (const Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Call->getCalledFunction() == &F)
        return true;
  return false;
}

// Instructions that are left once local variables are values: what stands in front of the first optimisation
// is mostly copies.
static uint32_t sizeOf(const Function &F) {
  uint32_t Size = 0;
  for (const Instruction &I : instructions(F)) {
    if (isa<AllocaInst>(I) || I.isLifetimeStartOrEnd() || I.isDebugOrPseudoInst())
      continue;
    const Value *Pointer = getLoadStorePointerOperand(&I);
    Size += !(Pointer && isa<AllocaInst>(Pointer));
  }
  return Size;
}

// A loop over the corners of an element, or the components of a vector, ends at a number like this.
static constexpr int64_t MaxCorners = 64;
// What is done with one element, without loops of any length, may be so many times as large as other callees:
// each thread runs it.
static constexpr uint32_t ElementFactor = 5;

// Whether all loops of the function end at small numbers. (Counters are in memory still, so that nobody
// counts iterations.)
static bool isOfOneElement(Session &S, Function &F) {
  const LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  return all_of(LI.getLoopsInPreorder(), [](const Loop *L) {
    BasicBlock *Exiting = L->getExitingBlock();
    auto *Branch = Exiting ? dyn_cast<BranchInst>(Exiting->getTerminator()) : nullptr;
    auto *Compare = Branch && Branch->isConditional() ? dyn_cast<ICmpInst>(Branch->getCondition()) : nullptr;
    auto *End = Compare ? dyn_cast<ConstantInt>(Compare->getOperand(1)) : nullptr;
    return End && End->getValue().abs().ule(MaxCorners);
  });
}

static bool canInline(Session &S, CallBase &Call, const Function &Caller, const Function *Original,
                      uint32_t MaxInstructions) {
  Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->isIntrinsic() || Callee->isDeclaration() || Callee->isInterposable())
    return false;
  if (Callee == &Caller || Callee == Original || Callee->isVarArg() || Callee->isPresplitCoroutine() || Call.isMustTailCall())
    return false;
  if (Call.isNoInline() || Callee->hasFnAttribute(Attribute::NoInline) || Callee->hasOptNone())
    return false;
  if (Call.getFunctionType() != Callee->getFunctionType() || Call.getCallingConv() != Callee->getCallingConv())
    return false;
  if (!S.work(3 * uint64_t(Callee->getInstructionCount())) || callsItself(*Callee))
    return false;
  uint32_t Size = sizeOf(*Callee);
  if (Size > MaxInstructions && (Size > ElementFactor * MaxInstructions || !isOfOneElement(S, *Callee)))
    return false;
  if (!AttributeFuncs::areInlineCompatible(Caller, *Callee))
    return false;
  if (!S.FAM.getResult<TargetIRAnalysis>(*Callee).areInlineCompatible(&Caller, Callee))
    return false;
  return isInlineViable(*Callee).isSuccess();
}

// Whether the call gets the address of a local variable: constructors of iterators and containers, which
// stand before loops.
static bool getsVariable(const CallBase &Call) {
  return any_of(Call.args(), [](const Use &A) {
    return A->getType()->isPointerTy() && isa<AllocaInst>(getUnderlyingObject(A));
  });
}

// Straight-line code of so many instructions is a container's `begin()` or `size()`.
static constexpr uint32_t MaxAccessor = 16;

// Whether the call does little but read a value of some object. One that stands in front of a loop gives the
// same as another of its kind in the loop, which only shows when both are inlined: the pointers of
// `for (auto &p : all) for (auto &q : all)` belong to one array.
static bool isAccessor(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && (Call.getType()->isPointerTy() || Call.getType()->isIntegerTy()) && Callee->size() == 1 && sizeOf(*Callee) <= MaxAccessor;
}

// Work of its own, not the filling of a container: it is modelled where it is.
static bool hasNest(Session &S, Function &F) {
  const LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  return any_of(LI, [](const Loop *L) { return !L->isInnermost(); });
}

// Where no loop is for the device, functions of so many instructions still tell which objects are handed on.
static constexpr uint32_t MaxWrapper = 64;

static bool isWrapper(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && sizeOf(*Callee) <= MaxWrapper;
}

static bool hasLoops(Session &S, Function &F) { return !S.FAM.getResult<LoopAnalysis>(F).empty(); }

// Of a store that was inlined: the function that it was written in.
static constexpr char OriginMark[] = "pollyrs.origin";

// Callees whose stores have the mark, for as long as calls are inlined.
namespace {
class Origins {
public:
  explicit Origins(LLVMContext &Context) : Kind(Context.getMDKindID(OriginMark)) {}
  ~Origins() {
    for (Function *F : Marked)
      set(*F, nullptr);
  }

  void mark(Function &F) {
    if (Marked.insert(&F).second)
      set(F, MDNode::get(F.getContext(), ConstantAsMetadata::get(&F)));
  }

private:
  void set(Function &F, MDNode *Origin) {
    for (Instruction &I : instructions(F))
      if (isa<StoreInst>(I))
        I.setMetadata(Kind, Origin);
  }

  unsigned Kind;
  SmallPtrSet<Function *, 16> Marked;
};
} // namespace

extern "C" {

// The function that all stores of some blocks were inlined from; null if there are none, or others.
LLVMValueRef prs_origin(const LLVMBasicBlockRef *Blocks, size_t Count) {
  Value *Origin = nullptr;
  for (size_t N = 0; N != Count; ++N)
    for (Instruction &I : *unwrap(Blocks[N])) {
      if (!isa<StoreInst>(I))
        continue;
      MDNode *Mark = I.getMetadata(OriginMark);
      auto *From = Mark && Mark->getNumOperands() == 1 ? dyn_cast_or_null<ConstantAsMetadata>(Mark->getOperand(0)) : nullptr;
      if (!From || (Origin && Origin != From->getValue()))
        return nullptr;
      Origin = From->getValue();
    }
  return Origin ? wrap(Origin) : nullptr;
}

// Nobody but the analysis of the working copy needs to know.
void prs_forget_origins(LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  for (const char *Mark : {OriginMark, pollyrs::LastingMark}) {
    unsigned Kind = F.getContext().getMDKindID(Mark);
    for (Instruction &I : instructions(F))
      I.setMetadata(Kind, nullptr);
  }
}

} // extern "C"

extern "C" uint32_t prs_inline_calls_in_loops(Session *S, LLVMValueRef FRef, uint32_t MaxInstructions,
                                              uint32_t MaxRounds, uint32_t MaxTotal, bool Aside) {
  Function &F = *unwrap<Function>(FRef);
  auto It = S->Clones.find(&F);
  const Function *Original = It == S->Clones.end() ? nullptr : It->second.Original;
  auto GetAssumptionCache = [S](Function &G) -> AssumptionCache & {
    return S->FAM.getResult<AssumptionAnalysis>(G);
  };
  uint32_t Inlined = 0;
  Origins Marks(F.getContext());
  // Callees that are larger than others leave these their part.
  uint64_t Added = 0, AddedLarge = 0;
  auto CanInline = [&](CallBase &Call) { return canInline(*S, Call, *Call.getFunction(), Original, MaxInstructions); };
  pollyrs::LastingCalls Lasting(*S, CanInline);
  for (uint32_t Round = 0; Round != MaxRounds; ++Round) {
    SmallVector<CallBase *, 16> Calls;
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    DenseSet<const Loop *> Hopeless = Lasting.hopeless(F);
    bool Hopes = !Aside && any_of(LI.getLoopsInPreorder(), [&](const Loop *L) { return !Hopeless.contains(L); });
    for (BasicBlock &BB : F) {
      const Loop *Own = LI.getLoopFor(&BB);
      bool InLoop = Hopes && Own && !Hopeless.contains(Own);
      for (Instruction &I : BB) {
        auto *Call = dyn_cast<CallBase>(&I);
        if (!Call || !(InLoop || getsVariable(*Call) || (Hopes ? isAccessor(*Call) : isWrapper(*Call))) ||
            !canInline(*S, *Call, F, Original, InLoop ? MaxInstructions : MaxInstructions / 2))
          continue;
        Function &Callee = *Call->getCalledFunction();
        if (InLoop || (Hopes ? !hasNest(*S, Callee) : !hasLoops(*S, Callee) && !Lasting.lasts(*Call)))
          Calls.push_back(Call);
      }
    }
    uint32_t Before = Inlined;
    for (CallBase *Call : Calls) {
      Function *Callee = Call->getCalledFunction();
      uint64_t Size = sizeOf(*Callee);
      bool Large = Size > MaxInstructions;
      uint64_t &Part = Large ? AddedLarge : Added;
      if (Part + Size > MaxTotal + (Large ? 0 : AddedLarge))
        continue;
      Marks.mark(*Callee);
      InlineFunctionInfo Info(GetAssumptionCache, nullptr, nullptr, nullptr, /*UpdateProfile=*/false);
      if (!InlineFunction(*Call, Info, /*MergeAttributes=*/true, &S->FAM.getResult<AAManager>(*Callee)).isSuccess())
        continue;
      Part += Size;
      ++Inlined;
    }
    if (Inlined == Before)
      break;
    S->FAM.invalidate(F, PreservedAnalyses::none());
  }
  return Inlined;
}
