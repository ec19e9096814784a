// What instructions of one function may do to memory, and which accesses may meet.

#include "analyses.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;
using pollyrs::Analyses;
using pollyrs::handleOf;
using pollyrs::loopAt;
using pollyrs::None;
using pollyrs::scevOf;
using pollyrs::Session;

static bool isUnorderedAccess(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isUnordered();
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->isUnordered();
  return false;
}

// Whether a tag names the objects of a Fortran procedure (`dummy arg data/_QFsEa`), not types: these stay
// what they are.
static bool namesObjects(const MDNode *Tag) {
  const MDNode *Type = Tag && Tag->getNumOperands() > 1 ? dyn_cast_or_null<MDNode>(Tag->getOperand(1)) : nullptr;
  // From the accessed type to the root, which is a name alone.
  while (Type && Type->getNumOperands() > 1)
    Type = dyn_cast_or_null<MDNode>(Type->getOperand(1));
  const auto *Name = Type && Type->getNumOperands() == 1 ? dyn_cast_or_null<MDString>(Type->getOperand(0)) : nullptr;
  return Name && Name->getString().starts_with("Flang function root");
}

// What the tags of an access say of all its executions. Types say nothing of two accesses, since a store
// makes memory one of its own type: between a store of `int` and a load of `float` there may be one of
// `float`, and what is written back as a whole would overwrite it. Scope tags hold between two executions
// only if their scope is entered once, that is, declared outside all loops.
static AAMDNodes tagsOf(Analyses &A, const Value *Access) {
  const auto *I = dyn_cast_or_null<Instruction>(Access);
  if (!I)
    return AAMDNodes();
  AAMDNodes Tags = I->getAAMetadata();
  if (!namesObjects(Tags.TBAA))
    Tags.TBAA = Tags.TBAAStruct = nullptr;
  if (!A.ScopesInLoops) {
    A.ScopesInLoops = false;
    for (Instruction &J : instructions(A.F))
      if (isa<NoAliasScopeDeclInst>(J) && A.LI.getLoopFor(J.getParent()))
        A.ScopesInLoops = true;
  }
  if (*A.ScopesInLoops)
    Tags.Scope = Tags.NoAlias = nullptr;
  return Tags;
}

extern "C" {

// Whether the program promises that no two iterations of the loop access one element, one of them by a store,
// among accesses that `Access` is one of: `llvm.loop.parallel_accesses` of the Language Reference.
bool prs_promised_apart(Analyses *A, size_t Id, LLVMValueRef Access) {
  const Loop *L = loopAt(*A, Id);
  const auto *I = dyn_cast<Instruction>(unwrap(Access));
  const MDNode *Group = I ? I->getMetadata(LLVMContext::MD_access_group) : nullptr;
  const MDNode *LoopID = L ? L->getLoopID() : nullptr;
  if (!Group || !LoopID)
    return false;
  SmallPtrSet<const Metadata *, 4> Parallel;
  for (const MDOperand &Option : drop_begin(LoopID->operands())) {
    const auto *Node = dyn_cast<MDNode>(Option);
    const auto *Name = Node && Node->getNumOperands() ? dyn_cast<MDString>(Node->getOperand(0)) : nullptr;
    if (Name && Name->getString() == "llvm.loop.parallel_accesses")
      for (const MDOperand &Of : drop_begin(Node->operands()))
        Parallel.insert(Of.get());
  }
  // A group has no operands; a list of groups does.
  if (!Group->getNumOperands())
    return Parallel.contains(Group);
  return any_of(Group->operands(), [&](const MDOperand &Of) { return Parallel.contains(Of.get()); });
}

bool prs_may_alias(Analyses *A, LLVMValueRef P, LLVMValueRef PAccess, LLVMValueRef Q, LLVMValueRef QAccess) {
  auto Location = [A](LLVMValueRef Pointer, LLVMValueRef Access) {
    return MemoryLocation::getBeforeOrAfter(unwrap(Pointer), tagsOf(*A, unwrap(Access)));
  };
  return !A->AA.isNoAlias(Location(P, PAccess), Location(Q, QAccess));
}

// What one execution of an instruction may do to memory of `Object`, by any offset from it; `Object` has one
// value all along.
uint32_t prs_memory_effect(Analyses *A, LLVMValueRef InstRef, LLVMValueRef ObjectRef) {
  auto &I = *unwrap<Instruction>(InstRef);
  const Value *Object = unwrap(ObjectRef);
  auto Location = MemoryLocation::getBeforeOrAfter(Object);
  auto Bits = [](ModRefInfo Info) -> uint32_t {
    return (isRefSet(Info) ? PRS_READS : 0) | (isModSet(Info) ? PRS_WRITES : 0);
  };
  if (auto *Call = dyn_cast<CallBase>(&I)) {
    if (!Call->doesNotThrow() && !isa<InvokeInst>(Call) && !A->F.doesNotThrow())
      return PRS_ANYTHING;
    if (Call->doesNotAccessMemory())
      return 0;
    ModRefInfo Info = A->AA.getModRefInfo(Call, Location);
    auto *Memory = dyn_cast<AnyMemIntrinsic>(Call);
    bool Synchronises = Memory ? Memory->isVolatile() || !isa<MemIntrinsic>(Memory)
                               : !Call->hasFnAttr(Attribute::NoSync) && !Call->onlyAccessesInaccessibleMemory();
    // Memory that no other thread knows needs no order.
    bool Private = isa<AllocaInst>(Object) || isNoAliasCall(Object);
    if (Synchronises && !(Private && isNoModRef(Info)))
      return PRS_ANYTHING;
    return Bits(Info);
  }
  if (!I.mayReadOrWriteMemory())
    return 0;
  if (I.isVolatile() || (I.isAtomic() && !isUnorderedAccess(I)))
    return PRS_ANYTHING;
  return Bits(A->AA.getModRefInfo(&I, Location));
}

// What alias analysis leaves open of an instruction and memory of `Object`, whatever it may do beside.
uint32_t prs_mod_ref(Analyses *A, LLVMValueRef InstRef, LLVMValueRef ObjectRef) {
  auto &I = *unwrap<Instruction>(InstRef);
  ModRefInfo Info = A->AA.getModRefInfo(&I, MemoryLocation::getBeforeOrAfter(unwrap(ObjectRef)));
  return (isRefSet(Info) ? PRS_READS : 0) | (isModSet(Info) ? PRS_WRITES : 0);
}

void prs_underlying_objects(LLVMValueRef P, void *Ctx, prs_pointer_sink Sink) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(unwrap(P), Objects, /*LI=*/nullptr, /*MaxLookup=*/0);
  for (const Value *Object : Objects)
    Sink(Ctx, wrap(const_cast<Value *>(Object)));
}

} // extern "C"
