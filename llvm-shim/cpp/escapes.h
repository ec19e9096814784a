// What is known of objects before they are handed to others.
#ifndef POLLYRS_ESCAPES_H
#define POLLYRS_ESCAPES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/BasicBlock.h"

namespace pollyrs {

// For alias analysis, as long as no instruction moves: LLVM's analysis takes what dominates all places that
// hand an object on for the first of them, where a way that leads around a loop may be one, as
// `if (empty) { destroy(c); return; } for (...) ...; destroy(c);` has it. Here only those places count from
// which control gets to the instruction in question.
class Escapes final : public llvm::CaptureAnalysis {
public:
  Escapes(llvm::DominatorTree &DT, const llvm::LoopInfo &LI) : Earliest(DT, &LI), DT(DT), LI(LI) {}

  llvm::CaptureComponents getCapturesBefore(const llvm::Value *Object, const llvm::Instruction *I, bool OrAt) override {
    llvm::CaptureComponents Found = Earliest.getCapturesBefore(Object, I, OrAt);
    if (llvm::capturesNothing(Found) || !I || !llvm::isIdentifiedFunctionLocal(Object))
      return Found;
    // From each instruction of a loop control may get to its header.
    const llvm::Loop *L = LI.getLoopFor(I->getParent());
    const llvm::BasicBlock *Here = L ? L->getOutermostLoop()->getHeader() : I->getParent();
    auto [At, New] = Before.try_emplace({Object, Here}, llvm::CaptureComponents::Provenance);
    if (New)
      At->second = llvm::PointerMayBeCapturedBefore(Object, /*ReturnCaptures=*/false, Here->getTerminator(), &DT, /*IncludeI=*/true,
                                                    llvm::CaptureComponents::Provenance, llvm::capturesFullProvenance, &LI);
    return Found & At->second;
  }

private:
  llvm::EarliestEscapeAnalysis Earliest;
  llvm::DominatorTree &DT;
  const llvm::LoopInfo &LI;
  // By object and block.
  llvm::DenseMap<std::pair<const llvm::Value *, const llvm::BasicBlock *>, llvm::CaptureComponents> Before;
};

} // namespace pollyrs

#endif
