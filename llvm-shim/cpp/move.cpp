// Definitions moved from one module to another of the same context, and those of a library that another one
// lacks. LLVM's linker does more than the former needs (types, metadata, comdats) and walks the whole
// destination each time, which is quadratic for one kernel after the other.

#include "shim.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
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

// False, with nothing done, where the modules are of two contexts, a name is defined in both or there are
// aliases.
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

// Links what the module declares and the library's bitcode defines, and what that needs; nothing else of the
// library is even read. False where it is no bitcode or does not fit.
bool prs_link_needed(LLVMModuleRef ToRef, const char *Bytes, size_t Length) {
  Module &To = *unwrap(ToRef);
  auto Library = getLazyBitcodeModule(MemoryBufferRef(StringRef(Bytes, Length), "library"), To.getContext());
  if (!Library) {
    consumeError(Library.takeError());
    return false;
  }
  (*Library)->setTargetTriple(To.getTargetTriple());
  (*Library)->setDataLayout(To.getDataLayout());
  return !Linker::linkModules(To, std::move(*Library), Linker::LinkOnlyNeeded);
}
}
