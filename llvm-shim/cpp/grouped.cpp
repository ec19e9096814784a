// Sums into elements that a list names, place by place; src/prepare.rs has the argument.

#include "places.h"
#include "rows.h"
#include "shim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Linear;
using pollyrs::onlyComputes;
using pollyrs::Session;

std::optional<Linear> pollyrs::linearIn(const SCEV *S, const Loop &Outer, const Loop *Inner, ScalarEvolution &SE) {
  Linear Found;
  while (auto *Rec = dyn_cast<SCEVAddRecExpr>(S)) {
    const SCEV *&Step = Rec->getLoop() == Inner ? Found.Inner : Found.Outer;
    if ((Rec->getLoop() != Inner && Rec->getLoop() != &Outer) || !Rec->isAffine() || Step)
      break;
    Step = Rec->getStepRecurrence(SE);
    if (!SE.isLoopInvariant(Step, &Outer))
      return std::nullopt;
    S = Rec->getStart();
  }
  Found.First = S;
  if (!SE.isLoopInvariant(S, &Outer))
    return std::nullopt;
  return Found;
}

bool pollyrs::onlyComputes(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple();
  if (auto *Call = dyn_cast<CallInst>(&I))
    return isa<IntrinsicInst>(I) && Call->doesNotAccessMemory() && !I.mayThrow() && !Call->isConvergent();
  return !I.mayReadOrWriteMemory() && !I.mayThrow() && !isa<AllocaInst>(I) && !I.getType()->isTokenTy() && !I.getType()->isVectorTy();
}

bool pollyrs::oneWay(const Loop &Outer, const Loop *Inner, SmallVectorImpl<BasicBlock *> &Blocks) {
  BasicBlock *BB = Outer.getHeader();
  SmallPtrSet<BasicBlock *, 8> Seen;
  while (Seen.insert(BB).second) {
    Blocks.push_back(BB);
    auto *Branch = dyn_cast<BranchInst>(BB->getTerminator());
    if (!Branch)
      return false;
    if (BB == Outer.getLoopLatch())
      return Seen.size() == Outer.getNumBlocks();
    if (Inner && BB == Inner->getHeader())
      BB = Branch->isConditional() ? Branch->getSuccessor(Branch->getSuccessor(0) == BB ? 1 : 0) : nullptr;
    else
      BB = Branch->isConditional() ? nullptr : Branch->getSuccessor(0);
    if (!BB || !Outer.contains(BB))
      return false;
  }
  return false;
}

bool pollyrs::leavesNoValue(const Loop &L) {
  BasicBlock *Exit = L.getUniqueExitBlock();
  return L.isLoopSimplifyForm() && Exit && L.getExitingBlock() == L.getLoopLatch() && Exit->phis().empty() &&
         !findOptionMDForLoop(&L, "llvm.loop.parallel_accesses");
}

unsigned pollyrs::addPair(Session &S, Function &F) {
  S.Grouped.push_back({WeakVH(&F), ++S.LastGrouped});
  return S.LastGrouped;
}

void pollyrs::markPair(BranchInst &Branch, unsigned Id) {
  LLVMContext &Context = Branch.getContext();
  auto *Number = ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(Context), Id));
  Branch.setMetadata(pollyrs::GroupedBranchMark, MDNode::get(Context, Number));
}

namespace {
using pollyrs::GroupedLoop;
using pollyrs::PlaceAccess;
using pollyrs::PlaceList;
using pollyrs::PlaceTarget;

// As many instructions take about as long as the library's model says of a statement.
constexpr unsigned InstructionsOfStatement = 8;

// Builds the version: a loop over places around one over the contributions to each.
class PlaceByPlace {
public:
  PlaceByPlace(GroupedLoop &G, Function &F, ScalarEvolution &SE, bool Apart)
      : G(G), F(F), SE(SE), Apart(Apart), Expander(SE, "pollyrs.grouped"), B(F.getContext()) {
    Word = B.getInt64Ty(), Half = B.getInt32Ty();
  }

  bool canBuild() {
    SmallVector<const SCEV *, 16> Needed{G.Count};
    auto Need = [&](const Linear &L) { Needed.append({L.First, L.Outer, L.Inner}); };
    for (PlaceTarget &T : G.Targets)
      Need(T.Element), Needed.push_back(T.Scale);
    for (PlaceList &List : G.Lists)
      Need(List.Place);
    for (auto &N : G.Narrow)
      Needed.append({N.First, N.Inner, N.Scale});
    for (auto &C : G.Checks)
      Needed.append({C.Counter.First, C.Counter.Outer, C.Other});
    for (Loop *L : {G.Outer, G.Inner})
      if (L)
        for (PHINode &PHI : L->getHeader()->phis())
          Need(*G.linear(SE.getSCEV(&PHI), SE));
    if (G.Inner)
      Needed.push_back(SE.getBackedgeTakenCount(G.Inner));
    At = G.Outer->getLoopPreheader()->getTerminator();
    return all_of(Needed, [&](const SCEV *S) {
      return !S || (Expander.isSafeToExpandAt(S, At) && (S->getType()->isPointerTy() || S->getType()->getIntegerBitWidth() <= 64));
    });
  }

  // The header of the loop over places.
  BasicBlock *build(unsigned Id) {
    BasicBlock *Before = G.Outer->getLoopPreheader();
    Value *Good = ask();
    for (Loop *L : {G.Outer, G.Inner})
      if (L)
        for (PHINode &PHI : L->getHeader()->phis())
          expandPHI(PHI);
    for (PlaceTarget &T : G.Targets)
      Cells.push_back(cellOf(T));
    BasicBlock *Own = SplitBlock(Before, Before->getTerminator()), *Exit = G.Exit;
    Next = Own;
    BasicBlock *Entry = block(""), *Header = block(".place"), *Column = G.Columns ? block(".column") : Header;
    BasicBlock *Some = block(".some"), *Sum = block(".sum"), *Join = block(".join");
    BasicBlock *After = block(".next"), *Latch = G.Columns ? block(".latch") : After, *End = block(".end");
    B.SetCurrentDebugLocation(G.Outer->getStartLoc());
    Before->getTerminator()->eraseFromParent();
    B.SetInsertPoint(Before);
    pollyrs::markPair(*B.CreateCondBr(Good, Entry, Own), Id);
    B.SetInsertPoint(Entry);
    B.CreateBr(Header);
    PHINode *P = counter(Header, Entry, Latch, Places, End);
    PHINode *C = G.Columns ? counter(Column, Header, After, Columns, Latch) : nullptr;
    if (C) {
      B.SetInsertPoint(Header);
      B.CreateBr(Column);
    }
    B.SetInsertPoint(Column);
    loadElements(P, C);
    auto [From, To] = range(P);
    B.CreateCondBr(B.CreateICmpSLT(From, To), Some, Join);
    // The contributions to this place.
    B.SetInsertPoint(Some);
    Value *First = B.CreateSExt(From, Word), *Behind = B.CreateSExt(To, Word);
    B.CreateBr(Sum);
    B.SetInsertPoint(Sum);
    PHINode *Q = B.CreatePHI(Word, 2);
    Q->addIncoming(First, Some);
    Next = Join;
    contribute(Q, C);
    Value *Following = B.CreateAdd(Q, B.getInt64(1), "", false, true);
    Q->addIncoming(Following, B.GetInsertBlock());
    B.CreateCondBr(B.CreateICmpNE(Following, Behind), Sum, Join);
    B.SetInsertPoint(Join);
    Next = After;
    storeElements(P);
    B.CreateBr(After);
    B.SetInsertPoint(End);
    B.CreateBr(Exit);
    DominatorTree DT(F);
    SmallVector<AllocaInst *, 8> Local;
    for (Cell &Own : Cells)
      Local.append({Own.Total, Own.Stored});
    PromoteMemToReg(Local, DT);
    return Header;
  }

private:
  // A target's value while the contributions to a place are added, and whether one was.
  struct Cell {
    AllocaInst *Total, *Stored;
    Value *First, *Scale, *Step, *Address = nullptr;
  };

  struct Counter {
    PHINode *PHI;
    Value *First, *Outer, *Inner;
  };

  BasicBlock *block(const Twine &Name) { return BasicBlock::Create(F.getContext(), "pollyrs.grouped" + Name, &F, Next); }
  Value *value(const SCEV *S) { return Expander.expandCodeFor(S, S->getType(), At); }
  Value *number(const SCEV *S) { return Expander.expandCodeFor(SE.getTruncateOrSignExtend(S, Word), Word, At); }
  uint64_t bytes(Type *Ty) const { return F.getDataLayout().getTypeStoreSize(Ty).getFixedValue(); }

  // How often a loop runs, which is less than 2^31 where `Good` says so.
  Value *times(const SCEV *BackEdges, Value *&Good) {
    IRBuilder<> Here(At);
    Value *Count = Expander.expandCodeFor(SE.getTruncateOrZeroExtend(BackEdges, Word), Word, At);
    Good = Here.CreateAnd(Good, Here.CreateICmpULT(Count, Here.getInt64(INT32_MAX)));
    return Here.CreateAdd(Count, Here.getInt64(1));
  }

  static void copyTags(const Instruction &From, Instruction &To) {
    To.setMetadata(LLVMContext::MD_tbaa, From.getMetadata(LLVMContext::MD_tbaa));
  }

  // Asks the library for the lists' integers in order of places. The result says whether there is an answer.
  Value *ask() {
    IRBuilder<> Here(At);
    Here.SetCurrentDebugLocation(G.Outer->getStartLoc());
    LLVMContext &Context = F.getContext();
    Type *Pointer = PointerType::get(Context, 0);
    Value *Good = Here.getTrue();
    for (auto [Compare, Result] : G.Guards) {
      Value *Own = Here.CreateICmp(Compare->getPredicate(), Compare->getOperand(0), Compare->getOperand(1));
      Good = Here.CreateAnd(Good, Result ? Own : Here.CreateNot(Own));
    }
    const PlaceList &First = G.Lists.front();
    Outer = times(G.Count, Good), Inner = Here.getInt64(1), Distance = Here.getInt64(0);
    if (G.Inner)
      (G.Columns ? Columns : Inner) = times(SE.getBackedgeTakenCount(G.Inner), Good);
    if (G.Inner && !G.Columns)
      Distance = number(First.Place.Inner);
    Good = Here.CreateAnd(Good, placesAreApart(Here));
    SmallVector<Value *, 12> Arguments;
    for (unsigned N = 0; N != GroupedLoop::MaxLists; ++N)
      Arguments.push_back(N < G.Lists.size() ? value(G.Lists[N].Place.First) : ConstantPointerNull::get(cast<PointerType>(Pointer)));
    bool Always = all_of(G.Lists, [](const PlaceList &List) { return List.Always; });
    uint64_t Kind = First.Ty->getIntegerBitWidth() / 8 + (G.Unsigned ? pollyrs::UnsignedList : 0) + (Always ? 0 : pollyrs::PartlyReadList);
    // Without an answer in sight nothing is asked for.
    Value *Iterations = Here.CreateSelect(Here.CreateFreeze(Good), Outer, Here.getInt64(0));
    Value *Work = Here.getInt64(divideCeil(G.Size, InstructionsOfStatement));
    if (G.Columns)
      Work = Here.CreateMul(Columns, Work);
    Arguments.append({number(First.Place.Outer), Distance, Inner, Iterations, Here.getInt64(Kind), Work});
    auto Reads = pollyrs::reads(Context, MemoryEffects::readOnly());
    FunctionCallee Function = F.getParent()->getOrInsertFunction("pollyrs_rt_places", Reads, Pointer, Pointer, Pointer, Pointer, Pointer, Word, Word, Word, Word, Word, Word);
    Value *Found = Here.CreateCall(Function, Arguments, "pollyrs.groups");
    auto Field = [&](Type *Ty, unsigned N) { return Here.CreateLoad(Ty, Here.CreateConstInBoundsGEP1_64(Word, Found, N)); };
    Start = Field(Pointer, 0), Order = Field(Pointer, 1), Second = Field(Pointer, 2);
    Low = Here.CreateFreeze(Field(Word, 3)), Places = Here.CreateFreeze(Field(Word, 4));
    // (The question comes first: `forgetQuestion` follows first operands.)
    Value *Fits = Here.CreateAnd(Here.CreateICmpSGT(Places, Here.getInt64(0)), Here.CreateFreeze(Here.CreateAnd(subscriptsFit(Here), checksHold(Here))));
    return Here.CreateAnd(Fits, Here.CreateFreeze(memoryIsApart(Here)));
  }

  // Whether no two places, each with all its targets, have a byte in common.
  Value *placesAreApart(IRBuilder<> &Here) {
    Value *Apart = Here.getTrue();
    for (unsigned N = 0; N != G.Targets.size(); ++N) {
      if (G.Targets[N].Base != N)
        continue;
      int64_t From = 0, To = 0;
      for (const PlaceTarget &T : G.Targets)
        if (T.Base == N)
          From = std::min(From, T.Distance), To = std::max(To, T.Distance + int64_t(bytes(T.Ty)));
      Value *Span = G.Columns ? Here.CreateMul(Columns, Here.getInt64(bytes(G.Targets[N].Ty))) : Here.getInt64(To - From);
      Apart = Here.CreateAnd(Apart, Here.CreateICmpSLE(Span, number(G.Targets[N].Scale)));
    }
    return Apart;
  }

  // Whether subscripts of 32 bits are those that 64 would hold: at both ends of all that they depend on.
  Value *subscriptsFit(IRBuilder<> &Here) {
    Value *Fit = Here.getTrue(), *One = Here.getInt64(1);
    for (const pollyrs::NarrowPlace &N : G.Narrow) {
      Value *First = number(N.First), *By = number(N.Scale);
      Value *Along = N.Inner ? Here.CreateMul(number(N.Inner), Here.CreateSub(G.Columns ? Columns : Inner, One)) : nullptr;
      for (Value *Place : {Low, Here.CreateAdd(Low, Here.CreateSub(Places, One))})
        for (Value *Column : {static_cast<Value *>(Here.getInt64(0)), Along}) {
          if (!Column)
            continue;
          Value *At = Here.CreateAdd(Here.CreateAdd(First, Here.CreateMul(By, Place)), Column);
          int64_t Least = N.Signed ? INT32_MIN : 0, Largest = N.Signed ? int64_t(INT32_MAX) : int64_t(UINT32_MAX);
          Fit = Here.CreateAnd(Fit, Here.CreateAnd(Here.CreateICmpSGE(At, Here.getInt64(Least)), Here.CreateICmpSLE(At, Here.getInt64(Largest))));
        }
    }
    return Fit;
  }

  // Whether no check would end the program: at both ends of what is compared, between which all of it lies.
  Value *checksHold(IRBuilder<> &Here) {
    Value *All = Here.getTrue(), *One = Here.getInt64(1), *Zero = Here.getInt64(0);
    for (const pollyrs::PlaceCheck &C : G.Checks) {
      Value *First = C.OfPlace ? Low : number(C.Counter.First);
      Value *Last = Here.CreateAdd(First, C.OfPlace ? Here.CreateSub(Places, One) : Here.CreateMul(number(C.Counter.Outer), Here.CreateSub(Outer, One)));
      Value *Other = number(C.Other), *Holds = nullptr;
      if (C.Holds == CmpInst::ICMP_NE) {
        Value *Least = Here.CreateBinaryIntrinsic(Intrinsic::smin, First, Last), *Largest = Here.CreateBinaryIntrinsic(Intrinsic::smax, First, Last);
        Holds = Here.CreateOr(Here.CreateICmpSLT(Other, Least), Here.CreateICmpSGT(Other, Largest));
      } else {
        Holds = Here.CreateAnd(Here.CreateICmp(C.Holds, First, Other), Here.CreateICmp(C.Holds, Last, Other));
      }
      if (CmpInst::isUnsigned(C.Holds))
        Holds = Here.CreateAnd(Holds, Here.CreateAnd(Here.CreateICmpSGE(First, Zero), Here.CreateICmpSGE(Last, Zero)));
      // A counter from somewhere in the middle does not wrap.
      if (!C.OfPlace)
        Holds = Here.CreateAnd(Holds, Here.CreateAnd(Here.CreateICmpSGE(First, Here.getInt64(-(int64_t(1) << 61))), Here.CreateICmpSLE(First, Here.getInt64(int64_t(1) << 61))));
      All = Here.CreateAnd(All, Holds);
    }
    return All;
  }

  // The version does not load what the lists had, and loads targets before it stores any: whether no target
  // lies in a list or in another one.
  Value *memoryIsApart(IRBuilder<> &Here) {
    auto Address = [&](const SCEV *S) { return Here.CreatePtrToInt(value(S), Word); };
    auto Last = [&](Value *Step, Value *Times) { return Here.CreateMul(Step, Here.CreateSub(Times, Here.getInt64(1))); };
    SmallVector<std::array<Value *, 2>, 8> Written, Read;
    for (const PlaceTarget &T : G.Targets) {
      Value *Own = G.Columns ? Here.CreateMul(Columns, Here.getInt64(bytes(T.Ty))) : Here.getInt64(bytes(T.Ty));
      Value *Scale = number(T.Scale), *From = Here.CreateAdd(Address(T.Element.First), Here.CreateMul(Scale, Low));
      Written.push_back({From, Here.CreateAdd(Here.CreateAdd(From, Last(Scale, Places)), Own)});
    }
    for (const PlaceList &List : G.Lists) {
      Value *From = Address(List.Place.First), *To = Here.CreateAdd(From, Here.getInt64(bytes(List.Ty)));
      for (Value *Reach : {Last(number(List.Place.Outer), Outer), Last(Distance, Inner)}) {
        From = Here.CreateAdd(From, Here.CreateBinaryIntrinsic(Intrinsic::smin, Reach, Here.getInt64(0)));
        To = Here.CreateAdd(To, Here.CreateBinaryIntrinsic(Intrinsic::smax, Reach, Here.getInt64(0)));
      }
      Read.push_back({From, To});
    }
    Value *Apart = Here.getTrue();
    auto Compare = [&](std::array<Value *, 2> A, std::array<Value *, 2> C) {
      Apart = Here.CreateAnd(Apart, Here.CreateOr(Here.CreateICmpULE(A[1], C[0]), Here.CreateICmpULE(C[1], A[0])));
    };
    for (unsigned N = 0; N != Written.size(); ++N) {
      for (unsigned Other = 0; Other != N; ++Other)
        if (G.Targets[Other].Base != G.Targets[N].Base)
          Compare(Written[N], Written[Other]);
      for (auto &List : Read)
        if (!this->Apart)
          Compare(Written[N], List);
    }
    return Apart;
  }

  PHINode *counter(BasicBlock *Header, BasicBlock *From, BasicBlock *Latch, Value *Count, BasicBlock *Exit) {
    B.SetInsertPoint(Header);
    PHINode *PHI = B.CreatePHI(Word, 2);
    B.SetInsertPoint(Latch);
    Value *Next = B.CreateAdd(PHI, B.getInt64(1), "", true, true);
    B.CreateCondBr(B.CreateICmpNE(Next, Count), Header, Exit);
    PHI->addIncoming(B.getInt64(0), From);
    PHI->addIncoming(Next, Latch);
    return PHI;
  }

  // Where the iterations of place `P` begin and end.
  std::pair<Value *, Value *> range(Value *P) {
    Value *From = B.CreateLoad(Half, B.CreateInBoundsGEP(Half, Start, P));
    return {From, B.CreateLoad(Half, B.CreateInBoundsGEP(Half, Start, B.CreateAdd(P, B.getInt64(1), "", true, true)))};
  }

  // What a counter of the original loop is made of, before it.
  void expandPHI(PHINode &PHI) {
    Linear L = *G.linear(SE.getSCEV(&PHI), SE);
    auto Number = [&](const SCEV *S) -> Value * { return S ? value(S) : nullptr; };
    Counters.push_back({&PHI, value(L.First), Number(L.Outer), Number(L.Inner)});
  }

  Cell cellOf(const PlaceTarget &T) {
    IRBuilder<> Top(&F.getEntryBlock(), F.getEntryBlock().begin());
    Cell Own{Top.CreateAlloca(T.Ty), Top.CreateAlloca(Top.getInt1Ty()), value(T.Element.First), number(T.Scale), nullptr};
    Own.Step = T.Element.Inner ? number(T.Element.Inner) : nullptr;
    return Own;
  }

  void loadElements(Value *P, Value *C) {
    Value *Place = B.CreateAdd(P, Low, "", false, true);
    for (unsigned N = 0; N != Cells.size(); ++N) {
      Cell &Own = Cells[N];
      const PlaceTarget &T = G.Targets[N];
      Own.Address = B.CreateGEP(B.getInt8Ty(), Own.First, B.CreateMul(Place, Own.Scale, "", false, true));
      if (C)
        Own.Address = B.CreateGEP(B.getInt8Ty(), Own.Address, B.CreateMul(C, Own.Step, "", true, true));
      // (What is only stored has no value before its first store, behind which it is looked at.)
      Value *Before = Constant::getNullValue(T.Ty);
      if (T.Load) {
        LoadInst *Old = B.CreateAlignedLoad(T.Ty, Own.Address, T.Load->getAlign());
        copyTags(*T.Load, *Old);
        Before = Old;
      }
      B.CreateStore(Before, Own.Total);
      B.CreateStore(B.getFalse(), Own.Stored);
    }
  }

  // Stored only where the program does: other elements may be another thread's. (A second look at the ends of
  // the place, so that this stays a condition of its own.)
  void storeElements(Value *P) {
    for (bool Always : {true, false}) {
      Value *Any = nullptr;
      BasicBlock *Behind = nullptr;
      for (unsigned N = 0; N != Cells.size(); ++N) {
        const PlaceTarget &T = G.Targets[N];
        if (T.Always != Always)
          continue;
        if (!Any || !Always) {
          auto [From, To] = range(P);
          Any = Always ? B.CreateICmpSLT(From, To) : B.CreateLoad(B.getInt1Ty(), Cells[N].Stored);
          BasicBlock *Store = block(".store");
          Behind = block(".stored");
          B.CreateCondBr(Any, Store, Behind);
          B.SetInsertPoint(Store);
        }
        StoreInst *Last = B.CreateAlignedStore(B.CreateLoad(T.Ty, Cells[N].Total), Cells[N].Address, T.Store->getAlign());
        copyTags(*T.Store, *Last);
        if (!Always) {
          B.CreateBr(Behind);
          B.SetInsertPoint(Behind);
        }
      }
      if (Always && Behind) {
        B.CreateBr(Behind);
        B.SetInsertPoint(Behind);
      }
    }
  }

  // An iteration's contributions, in blocks as the program has them; the builder stands behind.
  void contribute(PHINode *Q, PHINode *C) {
    Value *I = B.CreateSExt(B.CreateLoad(Half, B.CreateInBoundsGEP(Half, Order, Q)), Word);
    bool Two = G.Lists.size() > 1 || (G.Inner && !G.Columns);
    Value *Other = Two ? B.CreateLoad(Half, B.CreateInBoundsGEP(Half, Second, Q)) : nullptr;
    Value *K = C ? C : G.Inner ? B.CreateSExt(Other, Word) : nullptr;
    ValueToValueMapTy Map;
    for (auto &[PHI, First, Outer, Inner] : Counters)
      Map[PHI] = counted(*PHI, First, {{Outer, I}, {Inner, K}});
    SmallVector<BasicBlock *, 8> New;
    for (BasicBlock *BB : G.Blocks) {
      New.push_back(block(".contribution"));
      Map[BB] = New.back();
    }
    BasicBlock *Done = block(".done");
    B.CreateBr(New.front());
    for (unsigned N = 0; N != New.size(); ++N)
      copyBlock(*G.Blocks[N], *New[N], N + 1 == New.size() ? Done : New[N + 1], Other, Map);
    // Values of other blocks are all known now.
    for (BasicBlock *BB : New)
      for (PHINode &PHI : BB->phis())
        RemapInstruction(&PHI, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    B.SetInsertPoint(Done);
  }

  void copyBlock(BasicBlock &Old, BasicBlock &New, BasicBlock *Following, Value *Other, ValueToValueMapTy &Map) {
    B.SetInsertPoint(&New);
    bool Head = &Old == G.Outer->getHeader() || &Old == G.deepest().getHeader();
    for (Instruction &I : Old) {
      auto It = G.Accesses.find(&I);
      if (It != G.Accesses.end())
        access(I, It->second, Other, Map);
      else if (auto *PHI = dyn_cast<PHINode>(&I)) {
        if (!Head)
          Map[&I] = B.Insert(PHI->clone());
      } else if (!I.isTerminator())
        copy(I, Map);
    }
    // Where the iteration ends, and before the loop inside, there is one way.
    auto *Branch = dyn_cast<BranchInst>(Old.getTerminator());
    BasicBlock *Way = Branch ? pollyrs::checkedWay(*Branch, *G.Outer) : nullptr;
    if (&Old == G.deepest().getLoopLatch() || !G.deepest().contains(&Old))
      B.CreateBr(Following);
    else if (Way)
      B.CreateBr(cast<BasicBlock>(Map[Way]));
    else
      copy(*Old.getTerminator(), Map);
  }

  // What a target holds, and becomes, where the contribution is one to the place of this list.
  void access(Instruction &I, PlaceAccess A, Value *Other, ValueToValueMapTy &Map) {
    Cell &Own = Cells[A.Target];
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store) {
      Map[&I] = B.CreateLoad(I.getType(), Own.Total);
      return;
    }
    Value *New = Store->getValueOperand();
    if (Value *Mapped = Map.lookup(New))
      New = Mapped;
    Value *Is = G.Lists.size() > 1 ? B.CreateICmpEQ(Other, B.getInt32(A.List)) : nullptr;
    B.CreateStore(Is ? B.CreateSelect(Is, New, B.CreateLoad(New->getType(), Own.Total)) : New, Own.Total);
    B.CreateStore(Is ? B.CreateOr(Is, B.CreateLoad(B.getInt1Ty(), Own.Stored)) : B.getTrue(), Own.Stored);
  }

  Value *counted(PHINode &PHI, Value *First, ArrayRef<std::pair<Value *, Value *>> Steps) {
    Value *V = First;
    for (auto &[Step, Count] : Steps) {
      if (!Step)
        continue;
      Value *Times = B.CreateTrunc(Count, Step->getType());
      if (auto *One = dyn_cast<ConstantInt>(Step); !One || !One->isOne())
        Times = B.CreateMul(Times, Step);
      auto *Zero = dyn_cast<ConstantInt>(V);
      if (PHI.getType()->isPointerTy())
        V = B.CreateGEP(B.getInt8Ty(), V, Times);
      else
        V = Zero && Zero->isZero() ? Times : B.CreateAdd(V, Times);
    }
    return V;
  }

  void copy(const Instruction &Old, ValueToValueMapTy &Map) {
    Instruction *New = Old.clone();
    New->dropDbgRecords();
    New->dropUnknownNonDebugMetadata({LLVMContext::MD_tbaa, LLVMContext::MD_fpmath});
    New->setDebugLoc(Old.getDebugLoc());
    B.Insert(New);
    RemapInstruction(New, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Map[&Old] = New;
  }

  GroupedLoop &G;
  Function &F;
  ScalarEvolution &SE;
  // Targets lie in no list, untested.
  const bool Apart;
  SCEVExpander Expander;
  IRBuilder<> B;
  Type *Word, *Half;
  Instruction *At = nullptr;
  // New blocks stand before this one.
  BasicBlock *Next = nullptr;
  Value *Start = nullptr, *Order = nullptr, *Second = nullptr, *Low = nullptr, *Places = nullptr;
  Value *Outer = nullptr, *Inner = nullptr, *Distance = nullptr, *Columns = nullptr;
  SmallVector<Counter, 4> Counters;
  SmallVector<Cell, 4> Cells;
};

bool groupByPlace(Loop &L, Function &F, Session &S, bool Apart) {
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  if (!L.getLoopPreheader() || !L.isSafeToClone() || L.getNumBlocks() > 16 || !S.work(L))
    return false;
  auto G = pollyrs::groupedLoop(L, SE, DT, LI);
  if (!G)
    return false;
  PlaceByPlace Version(*G, F, SE, Apart);
  if (!Version.canBuild())
    return false;
  unsigned Id = pollyrs::addPair(S, F);
  BasicBlock *Own = L.getHeader(), *Header = Version.build(Id);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  LoopInfo &Now = S.FAM.getResult<LoopAnalysis>(F);
  addStringMetadataToLoop(Now.getLoopFor(Own), pollyrs::ListedMark, Id);
  addStringMetadataToLoop(Now.getLoopFor(Header), pollyrs::GroupedMark, Id);
  return true;
}
} // namespace

extern "C" bool prs_group_sums(Session *S, LLVMValueRef FRef, bool Apart) {
  Function &F = *unwrap<Function>(FRef);
  auto Blocked = pollyrs::blockedLoops(*S, S->FAM.getResult<LoopAnalysis>(F));
  return pollyrs::divideFirst(F, *S, pollyrs::VersionMarks, [&](Loop &L) { return !Blocked.contains(&L) && groupByPlace(L, F, *S, Apart); });
}

