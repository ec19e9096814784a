// Sums into elements that a list names, place by place; src/prepare.rs has the argument.

#include "grouped.h"
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
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using pollyrs::Linear;
using pollyrs::onlyComputes;
using pollyrs::Session;

// On the branch that decides between the loop and its version, with the number of the pair.
static constexpr char GroupedBranchMark[] = "pollyrs.grouped.branch";

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
  Branch.setMetadata(GroupedBranchMark, MDNode::get(Context, Number));
}

namespace {
// Instructions of an iteration, and lists that it takes places from.
constexpr unsigned MaxGroupedBody = 256, MaxLists = 4;

// One update of an element, `*Address = Load + v`, and the integer in a list that says which element it is.
struct GroupedUpdate {
  LoadInst *Load, *List;
  Instruction *Operation;
  StoreInst *Store;
  Linear Place;
};

// A loop whose iterations do nothing but update elements that lists name. `Inner`, if there is one, runs
// through the list (`node[e][k]`), or through the elements of a place (`table[token[t]][c]`, `Columns`).
struct GroupedLoop {
  Loop *Outer, *Inner = nullptr;
  bool Columns = false, Unsigned = false;
  SmallVector<Instruction *, 64> Body;
  SmallVector<GroupedUpdate, MaxLists> Updates;
  // The element of place `x`: `Element.First + Element.Inner * column + Scale * x`.
  Linear Element;
  const SCEV *Scale = nullptr;
};

// An expression with another one in the place of a part.
struct WithPart : SCEVRewriteVisitor<WithPart> {
  const SCEV *Part, *Other;
  WithPart(ScalarEvolution &SE, const SCEV *Part, const SCEV *Other) : SCEVRewriteVisitor(SE), Part(Part), Other(Other) {}
  const SCEV *visit(const SCEV *S) { return S == Part ? Other : SCEVRewriteVisitor<WithPart>::visit(S); }
};

std::optional<Linear> linearOf(const SCEV *S, const GroupedLoop &G, ScalarEvolution &SE) { return pollyrs::linearIn(S, *G.Outer, G.Inner, SE); }

// The only integer of a list that an address depends on, as it is extended there.
const SCEV *listedPart(const SCEV *Address, const GroupedLoop &G, LoadInst *&List) {
  const SCEV *Part = nullptr;
  bool Single = true;
  auto IsLoad = [&](const SCEV *S) {
    auto *Unknown = dyn_cast<SCEVUnknown>(S);
    auto *Load = Unknown ? dyn_cast<LoadInst>(Unknown->getValue()) : nullptr;
    return Load && G.Outer->contains(Load) ? Load : nullptr;
  };
  SCEVExprContains(Address, [&](const SCEV *S) {
    auto *Cast = dyn_cast<SCEVIntegralCastExpr>(S);
    bool Extends = Cast && isa<SCEVSignExtendExpr, SCEVZeroExtendExpr>(S);
    LoadInst *Load = IsLoad(Extends ? Cast->getOperand() : S);
    if (!Load || !(Extends || S->getType()->isIntegerTy(64)) || !S->getType()->isIntegerTy(64))
      return false;
    Single &= !List || List == Load;
    if (!List)
      List = Load, Part = S;
    return false;
  });
  return Single ? Part : nullptr;
}

// The sum that is stored, of what is loaded from the same place and something else: its operation.
Instruction *sumOf(StoreInst &Store, LoadInst *&Load, ScalarEvolution &SE) {
  auto *Sum = dyn_cast<Instruction>(Store.getValueOperand());
  if (!Sum || !Sum->hasOneUse() || !Store.isSimple() || Sum->getParent() != Store.getParent() || !Sum->getType()->isFloatingPointTy() ||
      (isa<FPMathOperator>(Sum) && Sum->hasAllowReassoc()))
    return nullptr;
  const SCEV *Address = SE.getSCEV(Store.getPointerOperand());
  auto IsOld = [&](Value *V) {
    auto *L = dyn_cast<LoadInst>(V);
    bool Same = L && L->isSimple() && L->hasOneUse() && L->getParent() == Store.getParent() && SE.getSCEV(L->getPointerOperand()) == Address;
    if (Same)
      Load = L;
    return Same;
  };
  auto *Call = dyn_cast<IntrinsicInst>(Sum);
  switch (Sum->getOpcode()) {
  case Instruction::FAdd:
    return IsOld(Sum->getOperand(0)) || IsOld(Sum->getOperand(1)) ? Sum : nullptr;
  case Instruction::FSub:
    return IsOld(Sum->getOperand(0)) ? Sum : nullptr;
  case Instruction::Call:
    return Call && (Call->getIntrinsicID() == Intrinsic::fmuladd || Call->getIntrinsicID() == Intrinsic::fma) && IsOld(Call->getArgOperand(2)) ? Sum
                                                                                                                                   : nullptr;
  default:
    return nullptr;
  }
}

// Collects what an iteration does; false if it is more than updates of elements that lists name.
bool readBody(GroupedLoop &G, ScalarEvolution &SE) {
  SmallVector<BasicBlock *, 8> Blocks;
  if (!pollyrs::oneWay(*G.Outer, G.Inner, Blocks))
    return false;
  Loop *Deepest = G.Inner ? G.Inner : G.Outer;
  for (BasicBlock *BB : Blocks) {
    bool Head = BB == G.Outer->getHeader() || (G.Inner && BB == G.Inner->getHeader());
    for (Instruction &I : *BB) {
      if (auto *PHI = dyn_cast<PHINode>(&I)) {
        if (!Head || !SE.isSCEVable(PHI->getType()) || !linearOf(SE.getSCEV(PHI), G, SE))
          return false;
        continue;
      }
      if (I.isTerminator())
        continue;
      G.Body.push_back(&I);
      auto *Store = dyn_cast<StoreInst>(&I);
      if (!Store) {
        if (!onlyComputes(I))
          return false;
        continue;
      }
      GroupedUpdate U{nullptr, nullptr, nullptr, Store, {}};
      U.Operation = BB == Deepest->getHeader() ? sumOf(*Store, U.Load, SE) : nullptr;
      // (Another update between the load and the store might be of the same element.)
      if (!U.Operation || G.Updates.size() == MaxLists || (!G.Updates.empty() && !G.Updates.back().Store->comesBefore(U.Load)))
        return false;
      G.Updates.push_back(U);
    }
  }
  return !G.Updates.empty() && G.Body.size() <= MaxGroupedBody;
}

// What the address of each update is made of: the same for all but for the integer of a list.
bool readPlaces(GroupedLoop &G, ScalarEvolution &SE) {
  const SCEV *Common = nullptr;
  for (GroupedUpdate &U : G.Updates) {
    const SCEV *Address = SE.getSCEV(U.Store->getPointerOperand());
    const SCEV *Part = listedPart(Address, G, U.List);
    if (!Part)
      return false;
    const SCEV *Zero = SE.getZero(Part->getType());
    const SCEV *At0 = WithPart(SE, Part, Zero).visit(Address), *At1 = WithPart(SE, Part, SE.getOne(Part->getType())).visit(Address);
    const SCEV *Scale = SE.getMinusSCEV(At1, At0);
    auto Element = linearOf(At0, G, SE);
    if (isa<SCEVCouldNotCompute>(Scale) || !Element || Element->Outer || !SE.isLoopInvariant(Scale, G.Outer))
      return false;
    const SCEV *Whole = SE.getAddExpr(At0, SE.getMulExpr(Scale, Part));
    bool Unsigned = isa<SCEVZeroExtendExpr>(Part);
    auto Place = linearOf(SE.getSCEV(U.List->getPointerOperand()), G, SE);
    if (Whole != Address || !Place || !Place->Outer || !U.List->isSimple() || U.List->getType()->getIntegerBitWidth() < 8)
      return false;
    U.Place = *Place;
    if (!Common) {
      Common = At0, G.Scale = Scale, G.Element = *Element, G.Unsigned = Unsigned;
      G.Columns = G.Inner && !Place->Inner;
    }
    const GroupedUpdate &First = G.Updates.front();
    if (At0 != Common || Scale != G.Scale || Unsigned != G.Unsigned || Place->Outer != First.Place.Outer || U.List->getType() != First.List->getType() ||
        U.Store->getValueOperand()->getType() != First.Store->getValueOperand()->getType() || (G.Inner && G.Columns == (Place->Inner != nullptr)))
      return false;
  }
  // A loop through lists is through one; elements of a place are next to each other.
  const SCEV *Along = G.Updates[0].Place.Inner;
  if (G.Inner && !G.Columns && (G.Updates.size() > 1 || G.Element.Inner || !isa<SCEVConstant>(Along) || Along->isZero()))
    return false;
  uint64_t Bytes = G.Updates[0].Store->getDataLayout().getTypeStoreSize(G.Updates[0].Operation->getType()).getFixedValue();
  auto *Step = dyn_cast_or_null<SCEVConstant>(G.Element.Inner);
  return !G.Columns || (Step && Step->getAPInt() == Bytes);
}

// Whether what else is loaded is of other objects than what is summed up.
bool readsOthers(const GroupedLoop &G, ScalarEvolution &SE) {
  const SCEV *Sums = SE.getPointerBase(G.Element.First);
  return all_of(G.Body, [&](Instruction *I) {
    auto *Load = dyn_cast<LoadInst>(I);
    bool Old = Load && any_of(G.Updates, [&](const GroupedUpdate &U) { return U.Load == Load; });
    if (!Load || Old)
      return true;
    const SCEV *Base = SE.getPointerBase(SE.getSCEV(Load->getPointerOperand()));
    return Base != Sums && SE.isLoopInvariant(Base, G.Outer);
  });
}

std::optional<GroupedLoop> groupedLoop(Loop &L, ScalarEvolution &SE) {
  GroupedLoop G;
  G.Outer = &L;
  if (!pollyrs::leavesNoValue(L) || L.getSubLoops().size() > 1)
    return std::nullopt;
  if (!L.isInnermost()) {
    G.Inner = L.getSubLoops()[0];
    const SCEV *Count = SE.getBackedgeTakenCount(G.Inner);
    if (!G.Inner->isInnermost() || G.Inner->getNumBlocks() != 1 || !G.Inner->isLoopSimplifyForm() || isa<SCEVCouldNotCompute>(Count) ||
        !SE.isLoopInvariant(Count, &L))
      return std::nullopt;
  }
  const SCEV *Count = SE.getBackedgeTakenCount(&L);
  if (isa<SCEVCouldNotCompute>(Count) || !readBody(G, SE) || !readPlaces(G, SE) || !readsOthers(G, SE))
    return std::nullopt;
  // What is sorted by place in each iteration of a loop around must be the same in most.
  for (Loop *Around = L.getParentLoop(); Around; Around = Around->getParentLoop())
    if (!SE.isLoopInvariant(Count, Around) || !all_of(G.Updates, [&](GroupedUpdate &U) { return SE.isLoopInvariant(U.Place.First, Around); }))
      return std::nullopt;
  return G;
}

// Builds the version: a loop over places around one over the contributions to each.
class PlaceByPlace {
public:
  PlaceByPlace(GroupedLoop &G, Function &F, ScalarEvolution &SE) : G(G), F(F), SE(SE), Expander(SE, "pollyrs.grouped"), B(F.getContext()) {
    Word = B.getInt64Ty(), Half = B.getInt32Ty();
  }

  bool canBuild() {
    SmallVector<const SCEV *, 16> Needed{G.Scale, SE.getBackedgeTakenCount(G.Outer)};
    auto Need = [&](const Linear &L) { Needed.append({L.First, L.Outer, L.Inner}); };
    Need(G.Element);
    for (GroupedUpdate &U : G.Updates)
      Need(U.Place);
    for (Loop *L : {G.Outer, G.Inner})
      if (L)
        for (PHINode &PHI : L->getHeader()->phis())
          Need(*linearOf(SE.getSCEV(&PHI), G, SE));
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
    Value *Element = value(G.Element.First), *Step = G.Element.Inner ? number(G.Element.Inner) : nullptr;
    BasicBlock *Own = SplitBlock(Before, Before->getTerminator()), *Exit = G.Outer->getUniqueExitBlock();
    auto Block = [&](const Twine &Name) { return BasicBlock::Create(F.getContext(), "pollyrs.grouped" + Name, &F, Own); };
    BasicBlock *Entry = Block(""), *Header = Block(".place"), *Column = G.Columns ? Block(".column") : Header;
    BasicBlock *Some = Block(".some"), *Sum = Block(".sum"), *Join = Block(".join"), *Store = Block(".store");
    BasicBlock *Next = Block(".next"), *Latch = G.Columns ? Block(".latch") : Next, *End = Block(".end");
    B.SetCurrentDebugLocation(G.Outer->getStartLoc());
    Before->getTerminator()->eraseFromParent();
    B.SetInsertPoint(Before);
    BranchInst *Branch = B.CreateCondBr(Good, Entry, Own);
    pollyrs::markPair(*Branch, Id);
    B.SetInsertPoint(Entry);
    B.CreateBr(Header);
    PHINode *P = counter(Header, Entry, Latch, Places, End);
    PHINode *C = G.Columns ? counter(Column, Header, Next, Columns, Latch) : nullptr;
    if (C) {
      B.SetInsertPoint(Header);
      B.CreateBr(Column);
    }
    // The contributions to this place.
    B.SetInsertPoint(Column);
    Value *Address = B.CreateGEP(B.getInt8Ty(), Element, B.CreateMul(B.CreateAdd(P, Low, "", false, true), Scale, "", false, true));
    if (C)
      Address = B.CreateGEP(B.getInt8Ty(), Address, B.CreateMul(C, Step, "", true, true));
    Type *Ty = G.Updates[0].Operation->getType();
    LoadInst *Old = B.CreateAlignedLoad(Ty, Address, G.Updates[0].Load->getAlign());
    copyTags(*G.Updates[0].Load, *Old);
    auto [From, To] = range(P);
    B.CreateCondBr(B.CreateICmpSLT(From, To), Some, Join);
    B.SetInsertPoint(Some);
    Value *First = B.CreateSExt(From, Word), *Behind = B.CreateSExt(To, Word);
    B.CreateBr(Sum);
    B.SetInsertPoint(Sum);
    PHINode *Q = B.CreatePHI(Word, 2), *Total = B.CreatePHI(Ty, 2);
    Q->addIncoming(First, Some);
    Total->addIncoming(Old, Some);
    Value *New = contribution(Q, C, Total);
    Value *Following = B.CreateAdd(Q, B.getInt64(1), "", false, true);
    Q->addIncoming(Following, Sum);
    Total->addIncoming(New, Sum);
    B.CreateCondBr(B.CreateICmpNE(Following, Behind), Sum, Join);
    // Stored only where there are some: other elements may be another thread's. (A second look, so that this
    // stays a condition of its own.)
    B.SetInsertPoint(Join);
    PHINode *All = B.CreatePHI(Ty, 2);
    All->addIncoming(Old, Column);
    All->addIncoming(New, Sum);
    auto [Again, Behind2] = range(P);
    B.CreateCondBr(B.CreateICmpSLT(Again, Behind2), Store, Next);
    B.SetInsertPoint(Store);
    StoreInst *Last = B.CreateAlignedStore(All, Address, G.Updates[0].Store->getAlign());
    copyTags(*G.Updates[0].Store, *Last);
    B.CreateBr(Next);
    B.SetInsertPoint(End);
    B.CreateBr(Exit);
    return Header;
  }

private:
  Value *value(const SCEV *S) { return Expander.expandCodeFor(S, S->getType(), At); }
  Value *number(const SCEV *S) { return Expander.expandCodeFor(SE.getTruncateOrSignExtend(S, Word), Word, At); }
  // How often a loop runs, which is less than 2^31 where `Good` says so.
  Value *times(Loop &L, Value *&Good) {
    IRBuilder<> Here(At);
    Value *Count = Expander.expandCodeFor(SE.getTruncateOrZeroExtend(SE.getBackedgeTakenCount(&L), Word), Word, At);
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
    Value *Outer = times(*G.Outer, Good), *Inner = Here.getInt64(1), *Distance = Here.getInt64(0);
    Scale = number(G.Scale);
    const GroupedUpdate &First = G.Updates.front();
    if (G.Inner) {
      Value *Count = times(*G.Inner, Good);
      uint64_t Bytes = F.getDataLayout().getTypeStoreSize(First.Operation->getType()).getFixedValue();
      if (G.Columns) {
        // Places do not reach into each other.
        Columns = Count;
        Good = Here.CreateAnd(Good, Here.CreateICmpSLE(Here.CreateMul(Count, Here.getInt64(Bytes)), Scale));
      } else {
        Inner = Count, Distance = number(First.Place.Inner);
      }
    }
    if (!G.Columns) {
      uint64_t Bytes = F.getDataLayout().getTypeStoreSize(First.Operation->getType()).getFixedValue();
      Good = Here.CreateAnd(Good, Here.CreateICmpSGE(Scale, Here.getInt64(Bytes)));
    }
    SmallVector<Value *, 12> Arguments;
    for (unsigned N = 0; N != MaxLists; ++N)
      Arguments.push_back(N < G.Updates.size() ? value(G.Updates[N].Place.First) : ConstantPointerNull::get(cast<PointerType>(Pointer)));
    uint64_t Kind = First.List->getType()->getIntegerBitWidth() / 8 + (G.Unsigned ? pollyrs::UnsignedList : 0);
    // Without an answer in sight nothing is asked for.
    Value *Iterations = Here.CreateSelect(Here.CreateFreeze(Good), Outer, Here.getInt64(0));
    Arguments.append({number(First.Place.Outer), Distance, Inner, Iterations, Here.getInt64(Kind)});
    auto Reads = pollyrs::reads(Context, MemoryEffects::readOnly());
    FunctionCallee Function = F.getParent()->getOrInsertFunction("pollyrs_rt_grouped", Reads, Pointer, Pointer, Pointer, Pointer, Pointer, Word, Word, Word, Word, Word);
    Value *Found = Here.CreateCall(Function, Arguments, "pollyrs.groups");
    auto Field = [&](Type *Ty, unsigned N) { return Here.CreateLoad(Ty, Here.CreateConstInBoundsGEP1_64(Word, Found, N)); };
    Start = Field(Pointer, 0), Order = Field(Pointer, 1), Second = Field(Pointer, 2);
    Low = Here.CreateFreeze(Field(Word, 3)), Places = Here.CreateFreeze(Field(Word, 4));
    // (The question comes first: `forgetQuestion` follows first operands.)
    return Here.CreateAnd(Here.CreateICmpSGT(Places, Here.getInt64(0)), sumsAreNoLists(Here, Outer, Inner, Distance));
  }

  // The version does not load what the lists had: whether no sum is stored where they are.
  Value *sumsAreNoLists(IRBuilder<> &Here, Value *Outer, Value *Inner, Value *Distance) {
    const DataLayout &DL = F.getDataLayout();
    const GroupedUpdate &First = G.Updates.front();
    auto Bytes = [&](Type *Ty) { return Here.getInt64(DL.getTypeStoreSize(Ty).getFixedValue()); };
    auto Address = [&](const SCEV *S) { return Here.CreatePtrToInt(value(S), Word); };
    auto Last = [&](Value *Step, Value *Times) { return Here.CreateMul(Step, Here.CreateSub(Times, Here.getInt64(1))); };
    Value *Zero = Here.getInt64(0), *Own = Bytes(First.Operation->getType());
    Value *From = Here.CreateAdd(Address(G.Element.First), Here.CreateMul(Scale, Low));
    Value *To = Here.CreateAdd(Here.CreateAdd(From, Last(Scale, Places)), G.Columns ? Here.CreateMul(Columns, Own) : Own);
    Value *Apart = Here.getTrue();
    for (GroupedUpdate &U : G.Updates) {
      Value *Start = Address(U.Place.First), *End = Here.CreateAdd(Start, Bytes(U.List->getType()));
      for (Value *Reach : {Last(number(U.Place.Outer), Outer), Last(Distance, Inner)}) {
        Start = Here.CreateAdd(Start, Here.CreateBinaryIntrinsic(Intrinsic::smin, Reach, Zero));
        End = Here.CreateAdd(End, Here.CreateBinaryIntrinsic(Intrinsic::smax, Reach, Zero));
      }
      Apart = Here.CreateAnd(Apart, Here.CreateOr(Here.CreateICmpULE(To, Start), Here.CreateICmpULE(End, From)));
    }
    return Here.CreateFreeze(Apart);
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
    Linear L = *linearOf(SE.getSCEV(&PHI), G, SE);
    auto Number = [&](const SCEV *S) -> Value * { return S ? value(S) : nullptr; };
    Counters.push_back({&PHI, value(L.First), Number(L.Outer), Number(L.Inner)});
  }

  // An iteration's contribution, added to the total.
  Value *contribution(PHINode *Q, PHINode *C, Value *Total) {
    Value *I = B.CreateSExt(B.CreateLoad(Half, B.CreateInBoundsGEP(Half, Order, Q)), Word);
    bool Two = G.Updates.size() > 1 || (G.Inner && !G.Columns);
    Value *Other = Two ? B.CreateLoad(Half, B.CreateInBoundsGEP(Half, Second, Q)) : nullptr;
    Value *K = C ? C : G.Inner ? B.CreateSExt(Other, Word) : nullptr;
    ValueToValueMapTy Map;
    for (auto &[PHI, First, Outer, Inner] : Counters)
      Map[PHI] = counted(*PHI, First, {{Outer, I}, {Inner, K}});
    SmallPtrSet<Instruction *, 16> Updating;
    for (GroupedUpdate &U : G.Updates)
      Updating.insert({U.Load, U.Operation, U.Store});
    for (Instruction *Old : G.Body) {
      if (Updating.contains(Old))
        continue;
      copy(*Old, Map);
    }
    Value *New = nullptr;
    for (unsigned N = 0; N != G.Updates.size(); ++N) {
      GroupedUpdate &U = G.Updates[N];
      Map[U.Load] = Total;
      Value *Own = copy(*U.Operation, Map);
      New = New ? B.CreateSelect(B.CreateICmpEQ(Other, B.getInt32(N)), Own, New) : Own;
    }
    return New;
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

  Instruction *copy(const Instruction &Old, ValueToValueMapTy &Map) {
    Instruction *New = Old.clone();
    New->dropDbgRecords();
    New->dropUnknownNonDebugMetadata({LLVMContext::MD_tbaa, LLVMContext::MD_fpmath});
    New->setDebugLoc(Old.getDebugLoc());
    B.Insert(New);
    RemapInstruction(New, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Map[&Old] = New;
    return New;
  }

  struct Counter {
    PHINode *PHI;
    Value *First, *Outer, *Inner;
  };

  GroupedLoop &G;
  Function &F;
  ScalarEvolution &SE;
  SCEVExpander Expander;
  IRBuilder<> B;
  Type *Word, *Half;
  Instruction *At = nullptr;
  Value *Start = nullptr, *Order = nullptr, *Second = nullptr, *Low = nullptr, *Places = nullptr, *Scale = nullptr, *Columns = nullptr;
  SmallVector<Counter, 4> Counters;
};

bool groupByPlace(Loop &L, Function &F, Session &S) {
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  if (!pollyrs::isCopyable(L, DT) || L.getNumBlocks() > 8 || !S.work(L))
    return false;
  auto G = groupedLoop(L, SE);
  if (!G)
    return false;
  PlaceByPlace Version(*G, F, SE);
  if (!Version.canBuild())
    return false;
  unsigned Id = pollyrs::addPair(S, F);
  BasicBlock *Own = L.getHeader(), *Header = Version.build(Id);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  addStringMetadataToLoop(LI.getLoopFor(Own), pollyrs::ListedMark, Id);
  addStringMetadataToLoop(LI.getLoopFor(Header), pollyrs::GroupedMark, Id);
  return true;
}

// The branch between the pair of loops with a number.
BranchInst *branchOfGroups(Function &F, unsigned Id) {
  for (BasicBlock &BB : F)
    if (auto *Branch = dyn_cast<BranchInst>(BB.getTerminator()); Branch && Branch->isConditional())
      if (MDNode *Mark = Branch->getMetadata(GroupedBranchMark))
        if (mdconst::extract<ConstantInt>(Mark->getOperand(0))->getZExtValue() == Id)
          return Branch;
  return nullptr;
}

// A value that is known where `Before` ends: itself, or a copy of what computes it. Null if there is none.
Value *knownAt(Value *V, BasicBlock &Before, DominatorTree &DT, ValueToValueMapTy &Map, unsigned Depth) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || DT.dominates(I, Before.getTerminator()))
    return V;
  if (Value *Known = Map.lookup(I))
    return Known;
  if (!Depth || isa<PHINode>(I) || I->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(I))
    return nullptr;
  Instruction *New = I->clone();
  for (Use &Operand : New->operands()) {
    Value *Known = knownAt(Operand.get(), Before, DT, Map, Depth - 1);
    if (!Known) {
      New->deleteValue();
      return nullptr;
    }
    Operand.set(Known);
  }
  New->insertBefore(Before.getTerminator()->getIterator());
  Map[I] = New;
  return New;
}

// The library is not asked what nobody needs: nothing leads to the users of its answer.
void forgetQuestion(Value *Condition) {
  SmallVector<Instruction *, 8> Way;
  CallInst *Asked = nullptr;
  for (auto *I = dyn_cast<Instruction>(Condition); I && !Asked && Way.size() < 8; I = dyn_cast<Instruction>(I->getOperand(0))) {
    Way.push_back(I);
    Asked = dyn_cast<CallInst>(I);
  }
  if (!Asked || !Asked->getCalledFunction() || !Asked->getCalledFunction()->getName().starts_with("pollyrs_rt_"))
    return;
  SmallSetVector<Instruction *, 16> Users;
  Users.insert(Asked);
  for (unsigned N = 0; N != Users.size(); ++N)
    if (isa<CallInst, GetElementPtrInst>(Users[N]))
      for (User *U : Users[N]->users())
        Users.insert(cast<Instruction>(U));
  while (!Users.empty()) {
    Instruction *I = Users.pop_back_val();
    if (!I->isTerminator() && !isa<PHINode>(I)) {
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
      I->eraseFromParent();
    }
  }
}

// In place of a loop over places, a copy of the program's loop. False if values leave one of them.
bool putListedBack(Loop &Places, Loop &Own, Function &F, DominatorTree &DT) {
  BasicBlock *Before = Places.getLoopPreheader(), *Exit = Places.getUniqueExitBlock(), *Behind = Own.getUniqueExitBlock(), *Entry = Own.getLoopPreheader();
  if (!Before || !Exit || !Behind || !Entry || !Behind->phis().empty() || !Exit->phis().empty())
    return false;
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 16> Blocks(Own.block_begin(), Own.block_end()), New;
  for (BasicBlock *BB : Blocks)
    for (Instruction &I : *BB)
      for (Value *V : I.operands())
        if (auto *Used = dyn_cast<Instruction>(V); Used && !Own.contains(Used)) {
          Value *Known = knownAt(Used, *Before, DT, Map, 8);
          if (!Known)
            return false;
          Map[Used] = Known;
        }
  for (BasicBlock *BB : Blocks) {
    New.push_back(CloneBasicBlock(BB, Map, ".listed", &F));
    Map[BB] = New.back();
  }
  Map[Behind] = Exit;
  Map[Entry] = Before;
  remapInstructionsInBlocks(New, Map);
  for (BasicBlock *BB : New)
    BB->getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
  Before->getTerminator()->replaceSuccessorWith(Places.getHeader(), New.front());
  Places.getHeader()->removePredecessor(Before, /*KeepOneInputPHIs=*/true);
  return true;
}
} // namespace

extern "C" bool prs_group_sums(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  auto Blocked = pollyrs::blockedLoops(*S, S->FAM.getResult<LoopAnalysis>(F));
  return pollyrs::divideFirst(F, *S, pollyrs::VersionMarks, [&](Loop &L) { return !Blocked.contains(&L) && groupByPlace(L, F, *S); });
}

extern "C" bool prs_restore_grouped(Session *S, LLVMValueRef FRef, bool Erase) {
  Function &F = *unwrap<Function>(FRef);
  SmallVector<unsigned, 4> Ids;
  erase_if(S->Grouped, [&](auto &T) {
    if (T.first == &F)
      Ids.push_back(T.second);
    return !T.first || T.first == &F;
  });
  for (unsigned Id : Ids) {
    S->FAM.invalidate(F, PreservedAnalyses::none());
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    SmallVector<Loop *, 2> Places, Own;
    for (Loop *L : LI.getLoopsInPreorder()) {
      if (getOptionalIntLoopAttribute(L, pollyrs::GroupedMark) == int(Id))
        Places.push_back(L);
      if (getOptionalIntLoopAttribute(L, pollyrs::ListedMark) == int(Id))
        Own.push_back(L);
    }
    BranchInst *Branch = branchOfGroups(F, Id);
    // A mark that is lost would leave sums that nothing proves to be the program's.
    if (Places.empty() || Own.empty() || !Branch)
      return false;
    if (BasicBlock *Before = Places.front()->getLoopPreheader(); Places.size() == 1 && Before && Before->getSinglePredecessor() == Branch->getParent()) {
      // It stays on the host: nobody is asked.
      Value *Condition = Branch->getCondition();
      Branch->setCondition(ConstantInt::getBool(F.getContext(), Branch->getSuccessor(0) != Before));
      Branch->setMetadata(GroupedBranchMark, nullptr);
      forgetQuestion(Condition);
    }
    if (!all_of(Places, [&](Loop *L) { return putListedBack(*L, *Own.front(), F, DT); }))
      return false;
    if (Erase)
      EliminateUnreachableBlocks(F);
    S->FAM.invalidate(F, PreservedAnalyses::none());
  }
  return true;
}
