// The values that expressions take in a nest of loops, between expressions that the nest does not change.
#ifndef POLLYRS_RANGES_H
#define POLLYRS_RANGES_H

#include "llvm/Analysis/ScalarEvolutionExpressions.h"

#include <cstdint>

namespace llvm {
class Loop;
class ScalarEvolution;
} // namespace llvm

namespace pollyrs {

// The least and the greatest value that an affine expression takes in the loop `L`: those of what it begins
// with and of what it ends with in an inner loop. `j` of `for (j = i; j < n; j++)` ends with `n - 1` whatever
// `i` is.
bool extremes(const llvm::SCEV *S, const llvm::Loop &L, llvm::ScalarEvolution &SE, const llvm::SCEV *&Least, const llvm::SCEV *&Most, int64_t *Step);

// `S / By` where it is sure to be exact; null elsewhere.
const llvm::SCEV *quotient(const llvm::SCEV *S, int64_t By, llvm::ScalarEvolution &SE);

// What else is known of how often inner loops go back to their headers.
class Counts {
public:
  // The largest `Count`, by which `Inner` goes back to its header, in 64 bits; null where it is something
  // else.
  virtual const llvm::SCEV *of(const llvm::SCEV *Count, const llvm::Loop &Inner) = 0;

protected:
  ~Counts() = default;
};

// The least and the greatest value of a 64-bit expression over all iterations of `L` and of the loops inside
// it, as expressions that `L` does not change. They mean nothing where the loop never evaluates the
// expression.
class Range {
public:
  Range(const llvm::Loop &L, llvm::ScalarEvolution &SE, llvm::ValueToSCEVMapTy &Known, Counts *Lengths = nullptr) : L(L), SE(SE), Known(Known), Lengths(Lengths) {}

  bool of(const llvm::SCEV *S, const llvm::SCEV *&Least, const llvm::SCEV *&Most, unsigned Depth = 8);

private:
  bool ofRecurrence(const llvm::SCEVAddRecExpr &Rec, const llvm::SCEV *&Least, const llvm::SCEV *&Most, unsigned Depth);
  bool ofExtended(const llvm::SCEVCastExpr &Cast, const llvm::SCEV *&Least, const llvm::SCEV *&Most, unsigned Depth);
  bool ofExtreme(const llvm::SCEVNAryExpr &S, const llvm::SCEV *&Least, const llvm::SCEV *&Most, unsigned Depth);

  const llvm::Loop &L;
  llvm::ScalarEvolution &SE;
  llvm::ValueToSCEVMapTy &Known;
  Counts *Lengths;
};

} // namespace pollyrs

#endif
