// Loops whose pointers change places in each iteration: several iterations become one; src/prepare.rs has the
// argument.

#include "loads.h"
#include "shim.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using pollyrs::Session;

// In the metadata of a loop whose pointers go to arrays with rows of other lengths.
static constexpr char UnevenMark[] = "pollyrs.uneven";

namespace {
constexpr unsigned MaxOrder = 4;

struct Rotation {
  // How many iterations it takes until every value is back in its place.
  unsigned Order = 1;
  // PHIs of the header that have their first value again after `Order` iterations.
  SmallSetVector<PHINode *, 4> PHIs;
};

// `v = C - v`, `v ^= C`: back after two iterations.
bool isToggle(PHINode &PHI, Value *Next) {
  auto *BO = dyn_cast<BinaryOperator>(Next);
  if (!BO)
    return false;
  if (BO->getOpcode() == Instruction::Sub)
    return isa<ConstantInt>(BO->getOperand(0)) && BO->getOperand(1) == &PHI;
  return BO->getOpcode() == Instruction::Xor && BO->getOperand(0) == &PHI && isa<ConstantInt>(BO->getOperand(1));
}

unsigned leastCommonMultiple(unsigned A, unsigned B) {
  unsigned M = A;
  while (M % B)
    M += A;
  return M;
}

// The values that the loop only passes around. An order of 1 if there are none.
Rotation rotationOf(Loop &L) {
  Rotation R;
  BasicBlock *Header = L.getHeader(), *Latch = L.getLoopLatch();
  for (PHINode &PHI : Header->phis()) {
    if (!PHI.getType()->isPointerTy() && !PHI.getType()->isIntegerTy())
      continue;
    Value *Next = PHI.getIncomingValueForBlock(Latch);
    if (PHI.getType()->isIntegerTy() && isToggle(PHI, Next)) {
      R.PHIs.insert(&PHI);
      R.Order = leastCommonMultiple(R.Order, 2);
      continue;
    }
    // The cycle that the PHI is on, if it is on one.
    unsigned Length = 1;
    auto *At = dyn_cast<PHINode>(Next);
    while (At && At != &PHI && At->getParent() == Header && Length <= MaxOrder) {
      At = dyn_cast<PHINode>(At->getIncomingValueForBlock(Latch));
      ++Length;
    }
    if (At != &PHI || Length > MaxOrder || Length < 2)
      continue;
    R.PHIs.insert(&PHI);
    R.Order = leastCommonMultiple(R.Order, Length);
  }
  return R;
}

// A test of the lowest bit of an integer: `x & 1`, `x % 2 == 0`. Returns the integer; `Odd`: whether the test
// holds where it is odd.
Value *parityOf(Value *Test, bool &Odd) {
  Value *X = nullptr;
  CmpPredicate P;
  const APInt *C = nullptr;
  if (match(Test, m_Trunc(m_Value(X)))) {
    Odd = true;
    return X;
  }
  if (!match(Test, m_ICmp(P, m_And(m_Value(X), m_One()), m_APInt(C))) || !ICmpInst::isEquality(P) || C->ugt(1))
    return nullptr;
  Odd = (P == CmpInst::ICMP_EQ) == C->isOne();
  return X;
}

// Pointers that are chosen by whether a counter is even, `from = t % 2 ? b : a`, as pointers that change
// places: with a counter whose step is odd the choice is another one in each iteration.
bool takeTurns(Loop &L, ScalarEvolution &SE) {
  struct Pair {
    const SCEV *Counter;
    Value *Odd, *Even;
    PHINode *First, *Second;
  };
  SmallVector<Pair, 4> Pairs;
  BasicBlock *Preheader = L.getLoopPreheader(), *Header = L.getHeader(), *Latch = L.getLoopLatch();
  SmallVector<SelectInst *, 8> Selects;
  if (!L.getSubLoops().empty())
    for (BasicBlock *BB : L.blocks())
      for (Instruction &I : *BB)
        if (auto *S = dyn_cast<SelectInst>(&I); S && S->getType()->isPointerTy())
          Selects.push_back(S);
  SCEVExpander Expander(SE, "pollyrs.turns");
  for (SelectInst *S : Selects) {
    bool WhenOdd = false;
    Value *X = parityOf(S->getCondition(), WhenOdd);
    if (!X || !SE.isSCEVable(X->getType()) || !L.isLoopInvariant(S->getTrueValue()) || !L.isLoopInvariant(S->getFalseValue()))
      continue;
    auto *Counter = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(X));
    auto *Step = Counter && Counter->getLoop() == &L && Counter->isAffine() ? dyn_cast<SCEVConstant>(Counter->getStepRecurrence(SE)) : nullptr;
    if (!Step || !Step->getAPInt()[0] || !Expander.isSafeToExpandAt(Counter->getStart(), Preheader->getTerminator()))
      continue;
    Value *Odd = S->getTrueValue(), *Even = S->getFalseValue();
    if (!WhenOdd)
      std::swap(Odd, Even);
    auto *Known = find_if(Pairs, [&](Pair &P) {
      return P.Counter == Counter && ((P.Odd == Odd && P.Even == Even) || (P.Odd == Even && P.Even == Odd));
    });
    if (Known == Pairs.end()) {
      IRBuilder<> B(Preheader->getTerminator());
      B.SetCurrentDebugLocation(L.getStartLoc());
      Value *Start = Expander.expandCodeFor(Counter->getStart(), X->getType(), Preheader->getTerminator());
      Value *IsOdd = B.CreateTrunc(Start, B.getInt1Ty());
      PHINode *First = PHINode::Create(S->getType(), 2, S->getName(), Header->begin());
      PHINode *Second = PHINode::Create(S->getType(), 2, S->getName(), Header->begin());
      First->addIncoming(B.CreateSelect(IsOdd, Odd, Even), Preheader);
      First->addIncoming(Second, Latch);
      Second->addIncoming(B.CreateSelect(IsOdd, Even, Odd), Preheader);
      Second->addIncoming(First, Latch);
      for (PHINode *P : {First, Second})
        P->setDebugLoc(S->getDebugLoc());
      Pairs.push_back({Counter, Odd, Even, First, Second});
      Known = &Pairs.back();
    }
    S->replaceAllUsesWith(Known->Odd == Odd ? Known->First : Known->Second);
    S->eraseFromParent();
  }
  return !Pairs.empty();
}

// Whether the loop accesses memory through the values, and has room for as many bodies.
bool worthwhile(Loop &L, const Rotation &R, uint32_t MaxInstructions) {
  size_t Size = 0;
  for (BasicBlock *BB : L.blocks())
    Size += BB->size();
  if (R.Order < 2 || R.Order > MaxOrder || Size * R.Order > MaxInstructions)
    return false;
  SmallSetVector<Value *, 32> Work;
  Work.insert(R.PHIs.begin(), R.PHIs.end());
  for (unsigned I = 0; I != Work.size() && I != 256; ++I)
    for (User *U : Work[I]->users()) {
      auto *User = dyn_cast<Instruction>(U);
      if (!User || !L.contains(User))
        continue;
      if (isa<GetElementPtrInst>(User) || (getLoadStorePointerOperand(User) == Work[I]))
        return true;
      if (isa<BinaryOperator>(User) || isa<CastInst>(User))
        Work.insert(User);
    }
  return false;
}

// One loop:
//     preheader; body: ...; br (test), body, exit
// becomes, with `count` the number of times that the back edge is taken, for two iterations at a time
//     p = phi [0], [p + 1]
//     body: ...; br (2 * p + 1 <= count), second, join
//     second: ...; br join
//     join: br (p != count / 2), body, exit
// The values that are passed around are those of before the loop in each body; behind the loop they depend on
// `count mod order`.
class Rotator {
public:
  // `Assumed`: how often the loop runs is known by loads that are taken for what their places held before.
  Rotator(Loop &L, const Rotation &R, ScalarEvolution &SE, bool Assumed)
      : L(L), R(R), SE(SE), Assumed(Assumed), Expander(SE, "pollyrs.rotate"), F(*L.getHeader()->getParent()), Ty(Type::getInt64Ty(F.getContext())),
        Preheader(L.getLoopPreheader()), Header(L.getHeader()), Latch(L.getLoopLatch()), Exit(L.getUniqueExitBlock()),
        Before(Preheader->getTerminator()), B(Before), Order(R.Order), Count(SE.getBackedgeTakenCount(&L)) {}

  // Whether the bodies may be copied, and the values behind the loop be told.
  bool possible() {
    if (isa<SCEVCouldNotCompute>(Count) || !Count->getType()->isIntegerTy() || SE.getTypeSizeInBits(Count->getType()) > 64)
      return false;
    if (!Expander.isSafeToExpandAt(Count, Before))
      return false;
    // Values of the loop that are used behind it, through PHIs of the exit only.
    if (Exit->getSinglePredecessor() != Latch || (Assumed && !Exit->phis().empty()))
      return false;
    for (BasicBlock *BB : L.blocks())
      for (Instruction &I : *BB)
        for (User *U : I.users()) {
          auto *User = cast<Instruction>(U);
          if (!L.contains(User) && !(isa<PHINode>(User) && User->getParent() == Exit))
            return false;
        }
    for (BasicBlock *BB : L.blocks())
      for (Instruction &I : *BB)
        if (auto *Call = dyn_cast<CallBase>(&I); Call && (Call->cannotDuplicate() || Call->isConvergent()))
          return false;
    return L.isSafeToClone();
  }

  void run() {
    Last = Expander.expandCodeFor(Count, Count->getType(), Before);
    B.SetCurrentDebugLocation(L.getStartLoc());
    Last = B.CreateZExt(Last, Ty);
    // (A load's value is the mark of a place.)
    if (isa<LoadInst>(Last))
      Last = B.Insert(BinaryOperator::CreateAdd(Last, ConstantInt::get(Ty, 0)));
    Value *Passes = B.CreateUDiv(Last, ConstantInt::get(Ty, Order));
    findCounters();
    findFinal();
    auto *Branch = cast<BranchInst>(Latch->getTerminator());
    Loc = Branch->getDebugLoc();
    MDNode *LoopID = Branch->getMetadata(LLVMContext::MD_loop);
    for (PHINode &PHI : Header->phis())
      HeaderPHIs.push_back(&PHI);
    SmallVector<PHINode *, 8> ExitPHIs;
    for (PHINode &PHI : Exit->phis())
      ExitPHIs.push_back(&PHI);
    Pass = PHINode::Create(Ty, 2, "pollyrs.pass", Header->begin());
    Join = BasicBlock::Create(F.getContext(), "pollyrs.rotated", &F, Exit);
    copyBodies();
    for (PHINode *PHI : ExitPHIs)
      leave(PHI);
    for (PHINode *PHI : HeaderPHIs)
      goOn(PHI);
    Value *GoesOn = connectBodies();
    IRBuilder<> AtJoin(Join);
    AtJoin.SetCurrentDebugLocation(Loc);
    if (Assumed)
      Passes = known(AtJoin, Passes, AtJoin.CreateSelect(GoesOn, AtJoin.CreateAdd(Pass, ConstantInt::get(Ty, 1)), Pass));
    Value *NextPass = AtJoin.CreateAdd(Pass, ConstantInt::get(Ty, 1), "", /*HasNUW=*/true, /*HasNSW=*/true);
    BranchInst *Back = AtJoin.CreateCondBr(AtJoin.CreateICmpNE(Pass, Passes), Header, Exit);
    if (LoopID)
      Back->setMetadata(LLVMContext::MD_loop, LoopID);
    Pass->addIncoming(ConstantInt::get(Ty, 0), Preheader);
    Pass->addIncoming(NextPass, Join);
    // No pass comes that would see that they stay the same.
    if (Assumed)
      for (PHINode *PHI : R.PHIs) {
        PHI->replaceAllUsesWith(PHI->getIncomingValueForBlock(Preheader));
        PHI->eraseFromParent();
      }
  }

private:
  // Counters with a constant step keep it, so that later analyses know them.
  void findCounters() {
    for (PHINode &PHI : Header->phis()) {
      if (R.PHIs.contains(&PHI) || !PHI.getType()->isIntegerTy())
        continue;
      auto *AR = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&PHI));
      if (!AR || AR->getLoop() != &L || !AR->isAffine())
        continue;
      if (auto *Step = dyn_cast<SCEVConstant>(AR->getStepRecurrence(SE)))
        Counters.push_back({&PHI, Step->getAPInt()});
    }
  }

  // Integers behind the loop that can be computed before it.
  void findFinal() {
    for (PHINode &PHI : Exit->phis()) {
      Value *V = PHI.getIncomingValueForBlock(Latch);
      if (!V->getType()->isIntegerTy())
        continue;
      const SCEV *S = SE.getSCEVAtScope(V, L.getParentLoop());
      if (SE.isLoopInvariant(S, &L) && Expander.isSafeToExpandAt(S, Before))
        Final[V] = Expander.expandCodeFor(S, V->getType(), Before);
    }
  }

  // What a value of the loop is in one of the bodies.
  Value *in(unsigned Body, Value *V) {
    if (!Body)
      return V;
    auto It = Maps[Body]->find(V);
    return It == Maps[Body]->end() || !It->second ? V : static_cast<Value *>(It->second);
  }

  // The bodies. `Maps[0]` is the identity.
  void copyBodies() {
    SmallVector<BasicBlock *, 16> Blocks(L.blocks());
    SmallVector<MDNode *, 4> Scopes;
    identifyNoAliasScopesToClone(Blocks, Scopes);
    Maps.push_back(std::make_unique<ValueToValueMapTy>());
    Latches = {Latch};
    Headers = {Header};
    for (unsigned Body = 1; Body != Order; ++Body) {
      Maps.push_back(std::make_unique<ValueToValueMapTy>());
      ValueToValueMapTy &Map = *Maps.back();
      SmallVector<BasicBlock *, 16> Cloned;
      for (BasicBlock *BB : Blocks) {
        BasicBlock *New = CloneBasicBlock(BB, Map, "." + Twine(Body + 1), &F);
        New->moveBefore(Join);
        Map[BB] = New;
        Cloned.push_back(New);
      }
      auto *NewHeader = cast<BasicBlock>(static_cast<Value *>(Map[Header]));
      // The PHIs of a further header are values of the body before.
      cast<PHINode>(static_cast<Value *>(Map[Pass]))->eraseFromParent();
      Map[Pass] = Pass;
      for (PHINode *PHI : HeaderPHIs) {
        auto *Copy = cast<PHINode>(static_cast<Value *>(Map[PHI]));
        Value *V = in(Body - 1, PHI->getIncomingValueForBlock(Latch));
        for (auto &[Counter, Step] : Counters)
          if (Counter == PHI) {
            auto *Sum = BinaryOperator::CreateAdd(PHI, ConstantInt::get(PHI->getType(), Step * Body), "",
                                                  Header->getFirstNonPHIIt());
            Sum->setDebugLoc(PHI->getDebugLoc());
            V = Sum;
          }
        Map[PHI] = V;
        Copy->replaceAllUsesWith(V);
        Copy->eraseFromParent();
      }
      remapInstructionsInBlocks(Cloned, Map);
      cloneAndAdaptNoAliasScopes(Scopes, Cloned, F.getContext(), "." + std::to_string(Body + 1));
      Latches.push_back(cast<BasicBlock>(static_cast<Value *>(Map[Latch])));
      Headers.push_back(NewHeader);
    }
  }

  // What goes on, and what leaves the loop, from each body.
  Value *next(Value *V) {
    Value *&J = Joined[V];
    if (J)
      return J;
    SmallVector<Value *, 4> All;
    for (unsigned Body = 0; Body != Order; ++Body)
      All.push_back(in(Body, V));
    if (all_equal(All))
      return J = All[0];
    PHINode *PHI = PHINode::Create(V->getType(), Order, V->getName(), Join->begin());
    PHI->setDebugLoc(Loc);
    for (unsigned Body = 0; Body != Order; ++Body)
      PHI->addIncoming(All[Body], Latches[Body]);
    return J = PHI;
  }

  // Which of the values that are passed around is in a place behind the loop. `V` is a PHI of the rotation,
  // or what it becomes next; else null.
  Value *settled(Value *V) {
    // The value of `V` in the first iteration, the second ...
    auto *PHI = dyn_cast<PHINode>(V);
    bool Later = !PHI || !R.PHIs.contains(PHI);
    if (Later) {
      PHI = nullptr;
      for (PHINode *P : R.PHIs)
        if (P->getIncomingValueForBlock(Latch) == V)
          PHI = P;
      if (!PHI)
        return nullptr;
    }
    SmallVector<Value *, 5> Values;
    PHINode *At = PHI;
    for (unsigned I = 0; I <= Order; ++I) {
      Value *Toggled = At->getIncomingValueForBlock(Latch);
      auto *To = dyn_cast<PHINode>(Toggled);
      if (To && R.PHIs.contains(To)) {
        Values.push_back(At->getIncomingValueForBlock(Preheader));
        At = To;
        continue;
      }
      // A toggle has two values.
      Value *First = At->getIncomingValueForBlock(Preheader);
      auto *BO = cast<BinaryOperator>(Toggled);
      bool Sub = BO->getOpcode() == Instruction::Sub;
      Value *Second = Sub ? B.CreateSub(BO->getOperand(0), First) : B.CreateXor(First, BO->getOperand(1));
      Values.push_back(I % 2 ? Second : First);
    }
    // The last iteration has the number `Last`.
    Value *Phase = B.CreateURem(Last, ConstantInt::get(Ty, Order));
    Value *Result = Values[Later ? Order : Order - 1];
    for (unsigned I = Order - 1; I-- > 0;)
      Result = B.CreateSelect(B.CreateICmpEQ(Phase, ConstantInt::get(Ty, I)), Values[I + (Later ? 1 : 0)], Result);
    return Result;
  }

  void leave(PHINode *PHI) {
    Value *V = PHI->getIncomingValueForBlock(Latch);
    if (Value *S = settled(V))
      PHI->setIncomingValueForBlock(Latch, S);
    else if (Value *S = Final.lookup(V))
      PHI->setIncomingValueForBlock(Latch, S);
    else
      PHI->setIncomingValueForBlock(Latch, next(V));
    PHI->replaceIncomingBlockWith(Latch, Join);
  }

  void goOn(PHINode *PHI) {
    Value *V = PHI->getIncomingValueForBlock(Latch);
    Value *Onward;
    auto Counter = find_if(Counters, [&](auto &P) { return P.first == PHI; });
    if (R.PHIs.contains(PHI)) {
      Onward = PHI;
    } else if (Counter != Counters.end()) {
      auto *Sum = BinaryOperator::CreateAdd(PHI, ConstantInt::get(PHI->getType(), Counter->second * Order), "", Join);
      Sum->setDebugLoc(Loc);
      Onward = Sum;
    } else {
      Onward = next(V);
    }
    PHI->setIncomingValueForBlock(Latch, Onward);
    PHI->replaceIncomingBlockWith(Latch, Join);
  }

  // A number that was computed before the loop, and from what the loop loads.
  static Value *known(IRBuilder<> &At, Value *Before, Value *Now) {
    auto *Marked = SelectInst::Create(At.getTrue(), Before, Now, "pollyrs.last");
    Marked->setMetadata(pollyrs::InvariantMark, MDNode::get(At.getContext(), {}));
    return At.Insert(Marked);
  }

  // Returns, for where the bodies meet, whether the loop goes on; null unless that is what its own tests say.
  Value *connectBodies() {
    PHINode *GoesOn = Assumed ? PHINode::Create(B.getInt1Ty(), Order, "pollyrs.on", Join->begin()) : nullptr;
    for (unsigned Body = 0; Body != Order; ++Body) {
      auto *Old = cast<BranchInst>(Latches[Body]->getTerminator());
      IRBuilder<> AtEnd(Old);
      AtEnd.SetCurrentDebugLocation(Loc);
      // (The first latch goes back to the header, the others to copies of it.)
      Value *Test = Assumed ? Old->getCondition() : nullptr;
      if (Test && Old->getSuccessor(0) == Exit)
        Test = AtEnd.CreateNot(Test);
      if (GoesOn)
        GoesOn->addIncoming(Body + 1 == Order ? Test : B.getFalse(), Latches[Body]);
      if (Body + 1 == Order) {
        AtEnd.CreateBr(Join);
      } else {
        Value *First = AtEnd.CreateMul(Pass, ConstantInt::get(Ty, Order), "", /*HasNUW=*/true, /*HasNSW=*/true);
        Value *Number = AtEnd.CreateAdd(First, ConstantInt::get(Ty, Body + 1), "", /*HasNUW=*/true, /*HasNSW=*/true);
        Value *End = Test ? known(AtEnd, Last, AtEnd.CreateSelect(Test, Number, AtEnd.CreateSub(Number, ConstantInt::get(Ty, 1)))) : Last;
        AtEnd.CreateCondBr(AtEnd.CreateICmpULE(Number, End), Headers[Body + 1], Join);
      }
      Old->eraseFromParent();
    }
    return GoesOn;
  }

  Loop &L;
  const Rotation &R;
  ScalarEvolution &SE;
  bool Assumed;
  SCEVExpander Expander;
  Function &F;
  // Of 64 bits, so that nothing wraps: no loop has as many iterations.
  IntegerType *Ty;
  BasicBlock *Preheader, *Header, *Latch, *Exit;
  Instruction *Before;
  IRBuilder<> B;
  unsigned Order;
  const SCEV *Count;
  // The number of the last iteration.
  Value *Last = nullptr;
  SmallVector<std::pair<PHINode *, APInt>, 4> Counters;
  DenseMap<Value *, Value *> Final, Joined;
  DebugLoc Loc;
  SmallVector<PHINode *, 8> HeaderPHIs;
  PHINode *Pass = nullptr;
  BasicBlock *Join = nullptr;
  std::vector<std::unique_ptr<ValueToValueMapTy>> Maps;
  SmallVector<BasicBlock *, 4> Latches, Headers;
};

bool rotate(Loop &L, const Rotation &R, ScalarEvolution &SE, bool Assumed) {
  Rotator Rotated(L, R, SE, Assumed);
  if (!Rotated.possible())
    return false;
  Rotated.run();
  return true;
}

// The values that are factors of an expression; false if it has another form.
bool factors(const SCEV *S, SmallVectorImpl<Value *> &Out) {
  if (auto *Cast = dyn_cast<SCEVCastExpr>(S))
    return factors(Cast->getOperand(), Out);
  if (auto *U = dyn_cast<SCEVUnknown>(S))
    Out.push_back(U->getValue());
  else if (auto *Product = dyn_cast<SCEVMulExpr>(S))
    return all_of(Product->operands(), [&](const SCEV *O) { return factors(O, Out); });
  else
    return isa<SCEVConstant>(S);
  return true;
}

// For each loop around an access, from the innermost on, the factors of its stride.
using Strides = SmallMapVector<const Loop *, SmallVector<Value *, 4>, 4>;

// Adds what an address or subscript steps by, in each loop; false if it has another form. Subscripts of 32
// bits are sums inside of an extension.
bool collectStrides(const SCEV *S, Strides &Out) {
  if (auto *Rec = dyn_cast<SCEVAddRecExpr>(S))
    return Rec->isAffine() && factors(Rec->getOperand(1), Out[Rec->getLoop()]) && collectStrides(Rec->getStart(), Out);
  if (auto *Cast = dyn_cast<SCEVCastExpr>(S))
    return collectStrides(Cast->getOperand(), Out);
  if (auto *Sum = dyn_cast<SCEVAddExpr>(S))
    return all_of(Sum->operands(), [&](const SCEV *O) { return collectStrides(O, Out); });
  if (auto *Product = dyn_cast<SCEVMulExpr>(S); Product && isa<SCEVConstant>(Product->getOperand(0)))
    return Product->getNumOperands() != 2 || collectStrides(Product->getOperand(1), Out);
  return true;
}

Strides stridesOf(PHINode &Base, Loop &L, ScalarEvolution &SE) {
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      Value *Pointer = getLoadStorePointerOperand(&I);
      auto *Of = Pointer ? dyn_cast<SCEVUnknown>(SE.getPointerBase(SE.getSCEV(Pointer))) : nullptr;
      if (!Of || Of->getValue() != &Base)
        continue;
      Strides Found;
      if (collectStrides(SE.getSCEV(Pointer), Found) && !Found.empty())
        return Found;
    }
  return {};
}

// Sizes of two arrays in the place of each other, which are different values.
using Sizes = SmallVector<std::pair<Value *, Value *>, 4>;

// Those that have to be equal for the strides to be; false if that can't be.
bool differences(const Strides &A, const Strides &B, Loop &L, Sizes &Out) {
  for (auto &[In, Values] : A) {
    auto Other = B.find(In);
    if (Other == B.end())
      return false;
    SmallVector<Value *, 4> Left = Values, Right = Other->second;
    for (Value *&V : Right)
      for (auto &[Same, Instead] : Out)
        if (V == Instead)
          V = Same;
    for (Value *V : Values)
      if (auto *At = find(Right, V); At != Right.end()) {
        Right.erase(At);
        Left.erase(find(Left, V));
      }
    if (Left.empty() && Right.empty())
      continue;
    if (Left.size() != 1 || Right.size() != 1)
      return false;
    Value *X = Left[0], *Y = Right[0];
    if (!X->getType()->isIntegerTy() || X->getType() != Y->getType() || isa<Constant>(X) || isa<Constant>(Y) || !L.isLoopInvariant(X) ||
        !L.isLoopInvariant(Y))
      return false;
    Out.push_back({X, Y});
  }
  return true;
}

// Where pointers that change places go to arrays with sizes of their own (`a.columns`, `b.columns`), a copy
// of the loop for equal ones.
bool equalise(Loop &L, Function &F, Session &S) {
  LoopInfo &LI = S.FAM.getResult<LoopAnalysis>(F);
  DominatorTree &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  ScalarEvolution &SE = S.FAM.getResult<ScalarEvolutionAnalysis>(F);
  Strides First;
  Sizes Different;
  for (PHINode *P : rotationOf(L).PHIs) {
    if (!P->getType()->isPointerTy())
      continue;
    Strides Own = stridesOf(*P, L, SE);
    if (First.empty())
      First = std::move(Own);
    else if (!Own.empty() && !differences(First, Own, L, Different))
      return false;
  }
  if (Different.empty())
    return false;
  IRBuilder<> B(L.getLoopPreheader()->getTerminator());
  Value *Same = B.getTrue();
  for (auto &[X, Y] : Different)
    Same = B.CreateAnd(B.CreateFreeze(B.CreateICmpEQ(X, Y)), Same);
  ValueToValueMapTy Map;
  pollyrs::LoopCopy Copy = pollyrs::copyLoop(L, ".even", Map, LI, DT);
  for (auto &[X, Y] : Different)
    Y->replaceUsesWithIf(X, [&](Use &U) {
      auto *User = dyn_cast<Instruction>(U.getUser());
      return User && Copy.Blocks.contains(User->getParent()) && !isa<PHINode>(User);
    });
  IRBuilder<>(Copy.Before).CreateCondBr(Same, Copy.Other, Copy.Own);
  addStringMetadataToLoop(&L, UnevenMark);
  S.FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}
} // namespace

extern "C" bool prs_equalise_sizes(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  DominatorTree &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
  for (Loop *L : S->FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    if (pollyrs::isCopyable(*L, DT) &&
        !findStringMetadataForLoop(L, UnevenMark) && equalise(*L, F, *S))
      return true;
  return false;
}

// `Assumed`: behind prs_assume_invariant_loads.
extern "C" bool prs_rotate_pointers(Session *S, LLVMValueRef FRef, uint32_t MaxInstructions, bool Assumed) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (bool Again = true; Again && S->work(F);) {
    Again = false;
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    for (Loop *L : LI.getLoopsInPreorder()) {
      if (!L->isLoopSimplifyForm() || L->getExitingBlock() != L->getLoopLatch() || !L->getUniqueExitBlock() ||
          !isa<BranchInst>(L->getLoopLatch()->getTerminator()) || L->isAnnotatedParallel() ||
          findStringMetadataForLoop(L, UnevenMark) || findStringMetadataForLoop(L, pollyrs::KeptMark))
        continue;
      if (!Assumed && takeTurns(*L, S->FAM.getResult<ScalarEvolutionAnalysis>(F))) {
        Changed = Again = true;
        S->FAM.invalidate(F, PreservedAnalyses::none());
        break;
      }
      Rotation R = rotationOf(*L);
      if (!worthwhile(*L, R, MaxInstructions))
        continue;
      if (!rotate(*L, R, S->FAM.getResult<ScalarEvolutionAnalysis>(F), Assumed))
        continue;
      Changed = Again = true;
      S->FAM.invalidate(F, PreservedAnalyses::none());
      break;
    }
  }
  return Changed;
}
