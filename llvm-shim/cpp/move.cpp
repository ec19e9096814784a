// Definitions moved from one module to another of the same context. LLVM's linker does more (types, metadata, comdats) and walks
// the whole destination each time, which is quadratic for one kernel after the other.

#include "shim.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"

using namespace llvm;

// What stands in the destination for a declaration.
static GlobalValue *counterpart(Module &To, GlobalValue &Declared) {
  if (GlobalValue *There = To.getNamedValue(Declared.getName()))
    return There;
  if (auto *F = dyn_cast<Function>(&Declared)) {
    Function *New = Function::Create(F->getFunctionType(), F->getLinkage(), F->getAddressSpace(), F->getName(), &To);
    New->copyAttributesFrom(F);
    return New;
  }
  auto &G = cast<GlobalVariable>(Declared);
  auto *New = new GlobalVariable(To, G.getValueType(), G.isConstant(), G.getLinkage(), nullptr, G.getName(), nullptr,
                                 G.getThreadLocalMode(), G.getAddressSpace());
  New->copyAttributesFrom(&G);
  return New;
}

extern "C" {

// False, with nothing done, where the modules are of two contexts, a name is defined in both or there are aliases.
bool prs_move_definitions(LLVMModuleRef FromRef, LLVMModuleRef ToRef) {
  Module &From = *unwrap(FromRef);
  Module &To = *unwrap(ToRef);
  if (&From.getContext() != &To.getContext() || !From.alias_empty() || !From.ifunc_empty())
    return false;
  SmallVector<Function *> Functions;
  SmallVector<GlobalVariable *> Variables;
  for (Function &F : From)
    Functions.push_back(&F);
  for (GlobalVariable &G : From.globals())
    Variables.push_back(&G);
  auto Clashes = [&](GlobalValue *V) {
    return !V->isDeclaration() && !V->hasLocalLinkage() && To.getNamedValue(V->getName());
  };
  if (any_of(Functions, Clashes) || any_of(Variables, Clashes))
    return false;
  for (Function *F : Functions) {
    if (F->isDeclaration()) {
      F->replaceAllUsesWith(counterpart(To, *F));
      F->eraseFromParent();
    } else {
      F->removeFromParent();
      To.getFunctionList().push_back(F); // a local name that is taken gets a number
    }
  }
  for (GlobalVariable *G : Variables) {
    if (G->isDeclaration()) {
      G->replaceAllUsesWith(counterpart(To, *G));
      G->eraseFromParent();
    } else {
      G->removeFromParent();
      To.insertGlobalVariable(G);
    }
  }
  return true;
}
}
