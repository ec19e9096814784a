// Loops that are left where an iteration begins as well as where it ends: both tests at the end, or one test
// where the other one follows from it; src/prepare.rs has the argument.

#include "shim.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using pollyrs::Session;

namespace {
// Instructions that are computed for the next iteration ahead of it.
constexpr unsigned MaxTestLength = 8;

// What a loop's header tells of an iteration, and where it goes then: to `Exit`, as the latch does, or to
// `Own`, from where nothing but the same way leads on.
struct HeaderTest {
  BasicBlock *Header, *Latch, *Exit, *Own, *Body;
  BranchInst *Test, *End;
};

// Whether both blocks do nothing but to go on to one block, which cannot tell them apart.
bool isSameWay(const BasicBlock &A, const BasicBlock &B) {
  auto IsEdge = [](const BasicBlock &BB) { return BB.getSinglePredecessor() && pollyrs::isForwarder(BB) && BB.phis().empty(); };
  return IsEdge(A) && IsEdge(B) && A.getSingleSuccessor() == B.getSingleSuccessor() && all_of(A.getSingleSuccessor()->phis(), [&](const PHINode &PHI) {
           return PHI.getIncomingValueForBlock(&A) == PHI.getIncomingValueForBlock(&B);
         });
}

std::optional<HeaderTest> headerTest(const Loop &L) {
  HeaderTest T{L.getHeader(), L.getLoopLatch(), nullptr, nullptr, nullptr, nullptr, nullptr};
  SmallVector<BasicBlock *, 2> Exiting;
  L.getExitingBlocks(Exiting);
  // Errors in between stay where they are.
  erase_if(Exiting, [&](const BasicBlock *BB) {
    return BB != T.Header && BB != T.Latch && all_of(successors(BB), [&](const BasicBlock *To) { return L.contains(To) || pollyrs::isErrorBlock(*To); });
  });
  if (!L.getLoopPreheader() || !T.Latch || T.Header == T.Latch || Exiting.size() != 2 || !is_contained(Exiting, T.Header) || !is_contained(Exiting, T.Latch))
    return std::nullopt;
  T.Test = dyn_cast<BranchInst>(T.Header->getTerminator());
  T.End = dyn_cast<BranchInst>(T.Latch->getTerminator());
  if (!T.Test || !T.End || T.Test->getNumSuccessors() != 2 || T.End->getNumSuccessors() != 2)
    return std::nullopt;
  bool Leaves = !L.contains(T.Test->getSuccessor(0));
  T.Own = T.Test->getSuccessor(Leaves ? 0 : 1);
  T.Body = T.Test->getSuccessor(Leaves ? 1 : 0);
  T.Exit = T.End->getSuccessor(T.End->getSuccessor(0) == T.Header ? 1 : 0);
  if (L.contains(T.Own) || !L.contains(T.Body) || L.contains(T.Exit) || (T.Own != T.Exit && !isSameWay(*T.Own, *T.Exit)))
    return std::nullopt;
  unsigned Length = 0;
  for (Instruction &I : *T.Header)
    if (!isa<PHINode>(I) && &I != T.Test && (++Length > MaxTestLength || I.mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(&I)))
      return std::nullopt;
  return T;
}

// The header's computations ahead of `At`, for what the PHIs have on the way from `From`.
void computeAhead(const HeaderTest &T, BasicBlock *From, Instruction *At, ValueToValueMapTy &Map) {
  for (PHINode &PHI : T.Header->phis())
    Map[&PHI] = PHI.getIncomingValueForBlock(From);
  for (Instruction &I : *T.Header) {
    if (isa<PHINode>(I) || &I == T.Test)
      continue;
    Instruction *Copy = I.clone();
    Copy->insertBefore(At->getIterator());
    RemapInstruction(Copy, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Map[&I] = Copy;
  }
}

Value *mapped(Value *V, ValueToValueMapTy &Map) {
  Value *Other = Map.lookup(V);
  return Other ? Other : V;
}

bool joinEnds(Loop &L, Session &S) {
  auto T = headerTest(L);
  if (!T || !S.work(L))
    return false;
  // What leaves the loop is the same for both ways out.
  for (PHINode &PHI : T->Exit->phis()) {
    // (There are none where there are two ways.)
    Value *First = PHI.getIncomingValueForBlock(T->Header), *Last = PHI.getIncomingValueForBlock(T->Latch);
    auto *Own = dyn_cast<PHINode>(First);
    bool InHeader = isa<Instruction>(First) && cast<Instruction>(First)->getParent() == T->Header;
    if (InHeader ? !Own || Own->getIncomingValueForBlock(T->Latch) != Last : First != Last)
      return false;
  }
  BasicBlock *Before = L.getLoopPreheader();
  ValueToValueMapTy AtFirst, Next;
  computeAhead(*T, Before, Before->getTerminator(), AtFirst);
  computeAhead(*T, T->Latch, T->End, Next);
  bool LeavesIf = T->Test->getSuccessor(0) == T->Own;
  auto Stays = [&](IRBuilder<> &B, ValueToValueMapTy &Map) {
    Value *Test = mapped(T->Test->getCondition(), Map);
    return LeavesIf ? B.CreateNot(Test) : Test;
  };
  IRBuilder<> AtEnd(T->End);
  Value *Goes = T->End->getSuccessor(0) == T->Header ? T->End->getCondition() : AtEnd.CreateNot(T->End->getCondition());
  Goes = AtEnd.CreateLogicalAnd(Goes, Stays(AtEnd, Next));
  T->End->setCondition(Goes);
  if (T->End->getSuccessor(0) != T->Header)
    T->End->swapSuccessors();
  IRBuilder<> AtBegin(Before->getTerminator());
  Value *Enters = Stays(AtBegin, AtFirst);
  AtBegin.CreateCondBr(Enters, T->Header, T->Exit);
  Before->getTerminator()->eraseFromParent();
  for (PHINode &PHI : T->Exit->phis()) {
    PHI.addIncoming(mapped(PHI.getIncomingValueForBlock(T->Header), AtFirst), Before);
    PHI.removeIncomingValue(T->Header, false);
  }
  IRBuilder<>(T->Test).CreateBr(T->Body);
  T->Test->eraseFromParent();
  if (T->Own != T->Exit)
    DeleteDeadBlock(T->Own);
  return true;
}

// The branch of a block that leaves the loop by one of its two ways, and whether it stays where the condition
// holds.
std::optional<std::pair<BranchInst *, bool>> endIn(const Loop &L, BasicBlock *BB) {
  auto *Branch = BB ? dyn_cast<BranchInst>(BB->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional() || L.contains(Branch->getSuccessor(0)) == L.contains(Branch->getSuccessor(1)))
    return std::nullopt;
  return std::pair(Branch, L.contains(Branch->getSuccessor(0)));
}

// A loop whose header has found out that the iteration comes to its end is left by the header alone. (What
// both compare is of one iteration: nothing but the header's other way leads out of it before.)
bool settleEnds(Loop &L, Session &S) {
  auto Test = endIn(L, L.getHeader());
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  if (!Test || Exiting.size() < 2 || !S.work(L))
    return false;
  bool Changed = false;
  for (BasicBlock *BB : Exiting) {
    auto End = BB == L.getHeader() ? std::nullopt : endIn(L, BB);
    if (!End)
      continue;
    auto [Branch, Stays] = *End;
    Value *Known = Test->first->getCondition(), *Asked = Branch->getCondition();
    std::optional<bool> Implied = Test->second;
    if (Known != Asked)
      Implied = isImpliedCondition(Known, Asked, Branch->getDataLayout(), Test->second);
    if (Implied != std::optional<bool>(Stays))
      continue;
    Branch->getSuccessor(Stays ? 1 : 0)->removePredecessor(BB);
    auto *On = IRBuilder<>(Branch).CreateBr(Branch->getSuccessor(Stays ? 0 : 1));
    On->copyMetadata(*Branch, {LLVMContext::MD_loop});
    Branch->eraseFromParent();
    Changed = true;
  }
  return Changed;
}
// Blocks on a way that leads on to one block each, and does nothing that is seen elsewhere.
constexpr unsigned MaxWay = 4;

SmallVector<BasicBlock *, MaxWay> wayFrom(BasicBlock *First) {
  SmallVector<BasicBlock *, MaxWay> Way = {First};
  while (Way.size() != MaxWay) {
    BasicBlock *BB = Way.back(), *Next = BB->getSingleSuccessor();
    bool Plain = Next && !is_contained(Way, Next) && all_of(*BB, [&](Instruction &I) {
                   auto IsNear = [&](User *U) {
                     auto *By = cast<Instruction>(U);
                     return By->getParent() == BB && !isa<PHINode>(By);
                   };
                   return I.isTerminator() || (!I.mayHaveSideEffects() && all_of(I.users(), IsNear));
                 });
    if (!Plain)
      break;
    Way.push_back(Next);
  }
  return Way;
}

// Whether two ways out of a loop, by these edges, come to one block, which cannot tell them apart.
bool leadToOne(BasicBlock *FromA, BasicBlock *A, BasicBlock *FromB, BasicBlock *B) {
  auto WayA = wayFrom(A), WayB = wayFrom(B);
  for (unsigned N = 0; N != WayA.size(); ++N) {
    auto *At = find(WayB, WayA[N]);
    if (At == WayB.end())
      continue;
    BasicBlock *BeforeA = N ? WayA[N - 1] : FromA, *BeforeB = At != WayB.begin() ? *std::prev(At) : FromB;
    return all_of(WayA[N]->phis(), [&](PHINode &P) { return P.getIncomingValueForBlock(BeforeA) == P.getIncomingValueForBlock(BeforeB); });
  }
  return false;
}

// A loop that is left in the middle of an iteration by the test that ends it, made early: the rest of the
// iteration is under that condition, and its end is left by it alone.
bool rejoinEnd(Loop &L, DominatorTree &DT, Session &S) {
  BasicBlock *Latch = L.getLoopLatch();
  auto End = endIn(L, Latch);
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  if (!End || Exiting.size() < 2 || !S.work(L))
    return false;
  auto [Last, Stays] = *End;
  BasicBlock *Exit = Last->getSuccessor(Stays ? 1 : 0);
  for (BasicBlock *BB : Exiting) {
    auto Early = BB == Latch ? std::nullopt : endIn(L, BB);
    if (!Early || Early->second != Stays || Early->first->getCondition() != Last->getCondition())
      continue;
    BasicBlock *Own = Early->first->getSuccessor(Stays ? 1 : 0);
    if (!leadToOne(BB, Own, Latch, Exit))
      continue;
    // What the next iteration has is computed before the early test.
    SmallVector<Instruction *, 4> Next;
    bool Known = all_of(L.getHeader()->phis(), [&](PHINode &P) {
      auto *I = dyn_cast<Instruction>(P.getIncomingValueForBlock(Latch));
      if (!I || DT.dominates(I, Early->first))
        return true;
      Next.push_back(I);
      return !isa<PHINode>(I) && !I->mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(I) &&
             all_of(I->operands(), [&](Use &U) { return !isa<Instruction>(U) || DT.dominates(cast<Instruction>(U), Early->first); });
    });
    if (!Known)
      continue;
    for (Instruction *I : Next)
      I->moveBefore(Early->first->getIterator());
    BasicBlock *Behind = SplitBlock(Latch, Last);
    // (Nobody looks at these.)
    for (PHINode &P : Exit->phis())
      if (auto *I = dyn_cast<Instruction>(P.getIncomingValueForBlock(Behind)); I && L.contains(I) && !DT.dominates(I, Early->first))
        P.setIncomingValueForBlock(Behind, PoisonValue::get(P.getType()));
    Own->removePredecessor(BB);
    Early->first->setSuccessor(Stays ? 1 : 0, Behind);
    return true;
  }
  return false;
}
} // namespace

extern "C" bool prs_rejoin_ends(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  bool Changed = false;
  for (bool Again = true; Again;) {
    auto &DT = S->FAM.getResult<DominatorTreeAnalysis>(F);
    LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
    Again = any_of(LI.getLoopsInPreorder(), [&](Loop *L) { return rejoinEnd(*L, DT, *S); });
    if (Again)
      S->FAM.invalidate(F, PreservedAnalyses::none());
    Changed |= Again;
  }
  return Changed;
}

extern "C" bool prs_settle_ends(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder())
    Changed |= settleEnds(*L, *S);
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

extern "C" bool prs_join_ends(Session *S, LLVMValueRef FRef) {
  Function &F = *unwrap<Function>(FRef);
  LoopInfo &LI = S->FAM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder())
    Changed |= L->isInnermost() && joinEnds(*L, *S);
  if (Changed)
    S->FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}
