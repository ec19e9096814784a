// Source locations and names; remarks.

#include "shim.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/Path.h"

#include <tuple>

using namespace llvm;
using pollyrs::send;
using pollyrs::sendLocation;

// The whole path of a file.
static SmallString<128> wholePath(StringRef Directory, StringRef Name) {
  SmallString<128> Path(Name);
  if (!sys::path::is_absolute(Path)) {
    Path = Directory;
    sys::path::append(Path, Name);
  }
  return Path;
}

// Whether a file is of the language's library, not of the program's author.
static bool isLibraryFile(StringRef Directory, StringRef Name) {
  SmallString<128> Path = wholePath(Directory, Name);
  return Path.starts_with("/usr/include/") || Path.starts_with("/usr/lib/") || Path.starts_with("/rustc/") ||
         Path.starts_with("/rust/deps/") || Path.str().contains("/rustlib/src/");
}

static bool isLibrary(const DILocation &Loc) { return isLibraryFile(Loc.getDirectory(), Loc.getFilename()); }

// Where code that was inlined is in the file of the program's author: `std::transform(...)` there, not a line
// of the library. If all of it is the library's, the innermost place.
static DebugLoc authorsPlace(const DebugLoc &Loc) {
  for (const DILocation *L = Loc.get(); L; L = L->getInlinedAt())
    if (L->getLine() && !isLibrary(*L))
      return DebugLoc(L);
  return Loc;
}

// The library's function that the author's code calls where `Loc` was inlined; null if there is none.
static const DISubprogram *inlinedFromLibrary(const DebugLoc &Loc) {
  const DILocation *Inside = nullptr;
  for (const DILocation *L = Loc.get(); L; Inside = L, L = L->getInlinedAt())
    if (L->getLine() && !isLibrary(*L))
      return Inside ? Inside->getScope()->getSubprogram() : nullptr;
  return nullptr;
}

// A place in the author's code, and the library's function that is called there, if any is.
struct Spot {
  DebugLoc Place;
  const DISubprogram *Called = nullptr;
};

// Functions that are followed from a library's function to one of the author's (a parallel algorithm of C++
// goes through ten), and calls that are looked at on the way.
static const unsigned MaxCallers = 12;
static const unsigned MaxCalls = 256;

// Where a function of a library is called in the author's code, directly or by other functions of the
// library; the first such place of the module.
static Spot authorsCall(const Function &F, unsigned Depth, unsigned &Left) {
  Spot Found;
  auto Earlier = [](const DILocation &A, const DILocation &B) {
    return std::make_tuple(A.getFilename(), A.getLine(), A.getColumn()) < std::make_tuple(B.getFilename(), B.getLine(), B.getColumn());
  };
  for (const User *U : F.users()) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->getCalledFunction() != &F || !Left)
      continue;
    --Left;
    const DISubprogram *Called = inlinedFromLibrary(Call->getDebugLoc());
    Spot Next = {authorsPlace(Call->getDebugLoc()), Called ? Called : F.getSubprogram()};
    if (Next.Place && isLibrary(*Next.Place))
      Next = Depth ? authorsCall(*Call->getFunction(), Depth - 1, Left) : Spot();
    if (Next.Place && Next.Place.getLine() && (!Found.Place || Earlier(*Next.Place, *Found.Place)))
      Found = Next;
  }
  return Found;
}

// Of a remark about `F` at an instruction's debug location, or about all of it.
static Spot remarkSpot(const Function &F, LLVMMetadataRef At) {
  const auto *Loc = At ? dyn_cast<DILocation>(unwrap(At)) : nullptr;
  if (!Loc)
    return {};
  Spot Here = {authorsPlace(DebugLoc(Loc)), inlinedFromLibrary(DebugLoc(Loc))};
  unsigned Left = MaxCalls;
  if (Here.Place && isLibrary(*Here.Place))
    if (Spot Call = authorsCall(F, MaxCallers, Left); Call.Place)
      return Call;
  return Here;
}

bool pollyrs::sendLocation(const DebugLoc &Innermost, uint32_t *Line, uint32_t *Column, void *Ctx, prs_byte_sink Sink) {
  DebugLoc Loc = authorsPlace(Innermost);
  if (!Loc || Loc.getLine() == 0)
    return false;
  *Line = Loc.getLine();
  *Column = Loc.getCol();
  // What a library was built from is not below the author's folder.
  if (isLibrary(*Loc))
    send(Sink, Ctx, wholePath(Loc->getDirectory(), Loc->getFilename()));
  else
    send(Sink, Ctx, Loc->getFilename());
  return true;
}

// Whether the program's author knows a variable: not those inside of a library, nor those that a compiler
// adds (`__begin1`).
static bool isAuthors(const DILocalVariable *Variable) {
  if (!Variable || Variable->getName().starts_with("__"))
    return false;
  const DIScope *Scope = Variable->getScope();
  return !Scope || !isLibraryFile(Scope->getDirectory(), Scope->getFilename());
}

// The number of words of an expression that says which part of a variable something is, and no more.
static const unsigned FragmentWords = 3;

static const DILocalVariable *variableOf(const Value &V, bool &Declared) {
  Value *Mutable = const_cast<Value *>(&V);
  Declared = false;
  // Only "this value is the variable": with an expression it is something computed from it.
  for (const DbgVariableRecord *Record : findDVRValues(Mutable))
    if (isAuthors(Record->getVariable()) && !Record->hasArgList() && Record->getExpression()->getNumElements() == 0)
      return Record->getVariable();
  Declared = true;
  for (const DbgVariableRecord *Record : findDVRDeclares(Mutable))
    if (isAuthors(Record->getVariable()))
      return Record->getVariable();
  return nullptr;
}

// A type without names for it and qualifiers.
static const DIType *plain(const DIType *T) {
  while (auto *Derived = dyn_cast_or_null<DIDerivedType>(T)) {
    unsigned Tag = Derived->getTag();
    if (Tag != dwarf::DW_TAG_typedef && Tag != dwarf::DW_TAG_const_type && Tag != dwarf::DW_TAG_volatile_type &&
        Tag != dwarf::DW_TAG_restrict_type)
      break;
    T = Derived->getBaseType();
  }
  return T;
}

// Whether a type is one of a language's library, whose members an author does not know.
static bool isLibraryType(const DICompositeType &T) {
  const DIScope *Outermost = nullptr;
  for (const DIScope *Scope = T.getScope(); Scope && isa<DINamespace>(Scope); Scope = Scope->getScope())
    Outermost = Scope;
  return Outermost && is_contained({"std", "core", "alloc", "__gnu_cxx"}, Outermost->getName());
}

// The member at so many bits from the beginning of a structure of the author's; empty if there is none.
static std::string memberAt(const DIType *T, uint64_t Bits, unsigned Depth) {
  auto *Structure = dyn_cast_or_null<DICompositeType>(plain(T));
  if (!Structure || !Depth || isLibraryType(*Structure))
    return {};
  for (const DINode *Element : Structure->getElements()) {
    auto *Member = dyn_cast_or_null<DIDerivedType>(Element);
    if (!Member || Member->isStaticMember())
      continue;
    uint64_t Begin = Member->getOffsetInBits();
    bool Base = Member->getTag() == dwarf::DW_TAG_inheritance;
    if (!Base && Member->getTag() != dwarf::DW_TAG_member)
      continue;
    std::string Inner = Begin <= Bits ? memberAt(Member->getBaseType(), Bits - Begin, Depth - 1) : std::string();
    if (!Inner.empty())
      return Base ? Inner : Member->getName().str() + "." + Inner;
    if (Begin == Bits && !Base)
      return Member->getName().str();
  }
  return {};
}

// `grid->width`, for the load of a member of a structure.
static std::string memberName(const LoadInst &Load) {
  int64_t Offset = 0;
  const Value *Base = GetPointerBaseWithConstantOffset(Load.getPointerOperand(), Offset, Load.getDataLayout());
  bool Declared = false;
  const DILocalVariable *Variable = Base && Offset >= 0 ? variableOf(*Base, Declared) : nullptr;
  // A parameter without a name is the compiler's.
  if (!Variable || Variable->getName().empty())
    return {};
  const DIType *T = plain(Variable->getType());
  if (!Declared) {
    auto *Pointer = dyn_cast_or_null<DIDerivedType>(T);
    T = Pointer ? Pointer->getBaseType() : nullptr;
  }
  std::string Member = memberAt(T, 8 * uint64_t(Offset), 4);
  // Members of the C++ library tell a user nothing: `grid.cells`, not `grid.cells._M_impl`.
  for (size_t Begin = 0; Begin < Member.size();) {
    StringRef Rest = StringRef(Member).substr(Begin);
    if (Rest.starts_with("_M_") || Rest.starts_with("__")) {
      Member.resize(Begin ? Begin - 1 : 0);
      break;
    }
    size_t Dot = Member.find('.', Begin);
    Begin = Dot == std::string::npos ? Member.size() : Dot + 1;
  }
  if (Member.empty())
    return {};
  return Variable->getName().str() + (Declared ? "." : "->") + Member;
}

// `signal` and `signal.len()` for the two parts of a slice; `p.x` for a part of a structure.
static std::string partName(const Value &V) {
  for (const DbgVariableRecord *Record : findDVRValues(const_cast<Value *>(&V))) {
    const DILocalVariable *Variable = Record->getVariable();
    if (!isAuthors(Variable) || Record->hasArgList() || Record->getExpression()->getNumElements() != FragmentWords)
      continue;
    auto Part = Record->getExpression()->getFragmentInfo();
    if (!Part)
      continue;
    std::string Member = memberAt(Variable->getType(), Part->OffsetInBits, 1);
    std::string Name = Variable->getName().str();
    // What rustc calls the parts of slices and of references to traits.
    if (Member == "length")
      return Name + ".len()";
    if (Member == "data_ptr" || Member == "pointer" || Member == "vtable" || StringRef(Member).starts_with("_"))
      return Name;
    return Member.empty() ? Name : Name + "." + Member;
  }
  return {};
}

static std::string variableName(const Value &V) {
  bool Declared = false;
  const DILocalVariable *Variable = variableOf(V, Declared);
  return Variable ? Variable->getName().str() : partName(V);
}

static std::string sourceName(const Value *V) {
  // Through loads, address arithmetic and casts to the object that a user would name.
  for (unsigned Step = 0; V && Step != 16; ++Step) {
    if (auto *Global = dyn_cast<GlobalVariable>(V)) {
      SmallVector<DIGlobalVariableExpression *, 1> Descriptions;
      Global->getDebugInfo(Descriptions);
      if (!Descriptions.empty() && !Descriptions[0]->getVariable()->getName().empty())
        return Descriptions[0]->getVariable()->getName().str();
      return Global->getName().str();
    }
    if (isa<Constant>(V) && !isa<ConstantExpr>(V))
      return V->getName().str();
    std::string Name = variableName(*V);
    if (!Name.empty())
      return Name;
    if (auto *Load = dyn_cast<LoadInst>(V)) {
      std::string Member = memberName(*Load);
      if (!Member.empty())
        return Member;
      V = Load->getPointerOperand();
    }
    else if (auto *GEP = dyn_cast<GEPOperator>(V))
      V = GEP->getPointerOperand();
    else if (auto *Cast = dyn_cast<CastInst>(V))
      V = Cast->getOperand(0);
    else if (auto *Part = dyn_cast<ExtractValueInst>(V)) {
      // Rows of a table (rows.cpp).
      auto *Call = dyn_cast<CallInst>(Part->getAggregateOperand());
      if (!Call || !Call->getCalledFunction() || !Call->getCalledFunction()->getName().starts_with("pollyrs_rt_rows"))
        break;
      V = Call->getArgOperand(0);
    } else if (auto *Word = dyn_cast<BinaryOperator>(V); Word && Word->getOpcode() == Instruction::And &&
                                                         isa<PtrToIntInst>(Word->getOperand(0)) &&
                                                         match(Word->getOperand(1), PatternMatch::m_SpecificInt(~7ULL)))
      // The word of a place that is looked at before a loop.
      V = Word->getOperand(0);
    else
      break;
  }
  if (!V)
    return {};
  StringRef Name = V->getName();
  // Clang's slots of parameters.
  if (isa<AllocaInst>(V))
    Name.consume_back(".addr");
  return Name.str();
}

template <typename Remark>
static void emit(OptimizationRemarkEmitter &ORE, StringRef Name, const DiagnosticLocation &Loc, Function &F,
                 StringRef Message) {
  Remark R("pollyrs", Name, Loc, &F.getEntryBlock());
  R << Message;
  ORE.emit(R);
}

extern "C" {

bool prs_location(LLVMValueRef V, uint32_t *Line, uint32_t *Column, void *Ctx, prs_byte_sink Sink) {
  auto *I = dyn_cast<Instruction>(unwrap(V));
  return I && sendLocation(I->getDebugLoc(), Line, Column, Ctx, Sink);
}

bool prs_block_location(LLVMBasicBlockRef BB, uint32_t *Line, uint32_t *Column, void *Ctx, prs_byte_sink Sink) {
  for (Instruction &I : *unwrap(BB))
    if (sendLocation(I.getDebugLoc(), Line, Column, Ctx, Sink))
      return true;
  return false;
}

bool prs_function_location(LLVMValueRef FRef, uint32_t *Line, uint32_t *Column, void *Ctx, prs_byte_sink Sink) {
  DISubprogram *SP = unwrap<Function>(FRef)->getSubprogram();
  if (!SP)
    return false;
  *Line = SP->getLine();
  *Column = 0;
  send(Sink, Ctx, SP->getFilename());
  return true;
}

bool prs_source_name(LLVMValueRef V, void *Ctx, prs_byte_sink Sink) {
  std::string Name = sourceName(unwrap(V));
  send(Sink, Ctx, Name);
  return !Name.empty();
}

// Whether the block is the end of a loop over the columns of rows that a counter was divided into.
bool prs_ends_whole_row(LLVMBasicBlockRef BB) {
  const Instruction *End = unwrap(BB)->getTerminator();
  const MDNode *Id = End ? End->getMetadata(LLVMContext::MD_loop) : nullptr;
  return Id && any_of(Id->operands(), [](const MDOperand &Operand) {
           auto *Node = dyn_cast_or_null<MDNode>(Operand.get());
           auto *Name = Node && Node->getNumOperands() ? dyn_cast_or_null<MDString>(Node->getOperand(0).get()) : nullptr;
           return Name && Name->getString() == pollyrs::WholeRowsMark;
         });
}

bool prs_remark_place(LLVMValueRef FRef, LLVMMetadataRef At, uint32_t *Line, uint32_t *Column, void *Ctx, prs_byte_sink Sink) {
  DebugLoc Place = remarkSpot(*unwrap<Function>(FRef), At).Place;
  return sendLocation(Place, Line, Column, Ctx, Sink) || prs_function_location(FRef, Line, Column, Ctx, Sink);
}

bool prs_remark_library(LLVMValueRef FRef, LLVMMetadataRef At, void *Ctx, prs_byte_sink Sink) {
  const DISubprogram *Called = remarkSpot(*unwrap<Function>(FRef), At).Called;
  if (Called)
    send(Sink, Ctx, Called->getLinkageName().empty() ? Called->getName() : Called->getLinkageName());
  return Called;
}

void prs_error(LLVMContextRef Context, const uint8_t *Bytes, size_t Len) {
  unwrap(Context)->emitError(StringRef(reinterpret_cast<const char *>(Bytes), Len));
}

// The C API sets flags only.
void prs_forbid_contraction(LLVMValueRef IRef) {
  auto *I = dyn_cast<Instruction>(unwrap(IRef));
  if (I && isa<FPMathOperator>(I))
    I->setHasAllowContract(false);
}

void prs_warning(LLVMContextRef Context, const uint8_t *Bytes, size_t Len) {
  std::string Message(reinterpret_cast<const char *>(Bytes), Len);
  unwrap(Context)->diagnose(DiagnosticInfoGeneric(Message, DS_Warning));
}

void prs_remark(LLVMValueRef FRef, uint32_t Kind, const uint8_t *NameBytes, size_t NameLen, LLVMMetadataRef At,
                const uint8_t *MessageBytes, size_t MessageLen) {
  Function &F = *unwrap<Function>(FRef);
  if (F.isDeclaration())
    return;
  std::string Name(reinterpret_cast<const char *>(NameBytes), NameLen);
  StringRef Message(reinterpret_cast<const char *>(MessageBytes), MessageLen);
  DiagnosticLocation Loc;
  if (DebugLoc Place = remarkSpot(F, At).Place)
    Loc = DiagnosticLocation(Place);
  else if (DISubprogram *SP = F.getSubprogram())
    Loc = DiagnosticLocation(SP);
  OptimizationRemarkEmitter ORE(&F);
  switch (Kind) {
  case 0:
    return emit<OptimizationRemark>(ORE, Name, Loc, F, Message);
  case 1:
    return emit<OptimizationRemarkMissed>(ORE, Name, Loc, F, Message);
  default:
    return emit<OptimizationRemarkAnalysis>(ORE, Name, Loc, F, Message);
  }
}

} // extern "C"
