// Whole modules: their bitcode, and one that takes another one's place.

#include "shim.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Comdat.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using pollyrs::send;

namespace {
// Names of the structure types of a module, which belong to the context: a module that is read there would
// get others.
struct TypeNames {
  std::vector<std::pair<StructType *, std::string>> Names;

  explicit TypeNames(const Module &M) {
    for (StructType *Type : M.getIdentifiedStructTypes()) {
      if (!Type->hasName())
        continue;
      Names.emplace_back(Type, Type->getName().str());
      Type->setName("");
    }
  }

  void restore() {
    for (auto &[Type, Name] : Names)
      Type->setName(Name);
  }
};
} // namespace

// All that a module has, as its destructor does.
static void clear(Module &M) {
  M.dropAllReferences();
  while (!M.named_metadata_empty())
    M.eraseNamedMetadata(&*M.named_metadata_begin());
  for (Function &F : make_early_inc_range(M))
    F.eraseFromParent();
  for (GlobalVariable &G : make_early_inc_range(M.globals()))
    G.eraseFromParent();
  for (GlobalAlias &A : make_early_inc_range(M.aliases()))
    A.eraseFromParent();
  for (GlobalIFunc &I : make_early_inc_range(M.ifuncs()))
    I.eraseFromParent();
  M.getComdatSymbolTable().clear();
}

static void moveComdat(GlobalObject &G, Module &To) {
  const Comdat *Old = G.getComdat();
  if (!Old)
    return;
  Comdat *New = To.getOrInsertComdat(Old->getName());
  New->setSelectionKind(Old->getSelectionKind());
  G.setComdat(New);
}

// All that `From` has to `To`, which is empty, in its order.
static void moveAll(Module &From, Module &To) {
  for (GlobalVariable &G : make_early_inc_range(From.globals())) {
    G.removeFromParent();
    To.insertGlobalVariable(&G);
    moveComdat(G, To);
  }
  for (Function &F : make_early_inc_range(From)) {
    F.removeFromParent();
    To.getFunctionList().push_back(&F);
    moveComdat(F, To);
  }
  for (GlobalAlias &A : make_early_inc_range(From.aliases())) {
    From.removeAlias(&A);
    To.insertAlias(&A);
  }
  for (GlobalIFunc &I : make_early_inc_range(From.ifuncs())) {
    From.removeIFunc(&I);
    To.insertIFunc(&I);
  }
  for (NamedMDNode &Old : From.named_metadata()) {
    NamedMDNode *New = To.getOrInsertNamedMetadata(Old.getName());
    for (MDNode *Operand : Old.operands())
      New->addOperand(Operand);
  }
  To.setModuleInlineAsm(From.getModuleInlineAsm());
}

extern "C" {

// `Ordered`: with the order of uses, on which LLVM's passes may depend.
void prs_module_bitcode(LLVMModuleRef M, bool Ordered, void *Ctx, prs_byte_sink Sink) {
  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  WriteBitcodeToFile(*unwrap(M), OS, Ordered);
  send(Sink, Ctx, StringRef(Bytes.data(), Bytes.size()));
}

// The module becomes the one of this bitcode, made of a module with its triple and layout. False, with
// nothing done: it is none.
bool prs_replace_module(LLVMModuleRef MRef, const uint8_t *Bytes, size_t Len) {
  Module &M = *unwrap(MRef);
  TypeNames Names(M);
  StringRef Text(reinterpret_cast<const char *>(Bytes), Len);
  Expected<std::unique_ptr<Module>> Read = parseBitcodeFile(MemoryBufferRef(Text, M.getModuleIdentifier()), M.getContext());
  if (!Read || (*Read)->getTargetTriple() != M.getTargetTriple() || (*Read)->getDataLayout() != M.getDataLayout()) {
    if (!Read)
      consumeError(Read.takeError());
    Names.restore();
    return false;
  }
  clear(M);
  moveAll(**Read, M);
  return true;
}

// The names of the options of LLVM that were set.
void prs_set_options(void *Ctx, prs_byte_sink Sink) {
  for (auto &[Name, Option] : cl::getRegisteredOptions())
    if (Option->getNumOccurrences() != 0)
      send(Sink, Ctx, Name);
}

} // extern "C"
