//! What has to hold for the model, and what is looked at before it runs.

use super::{ArrayId, Location, StmtId, ValueHandle};
use pollyrs_isl as isl;
use std::fmt;

/// Why an assumption is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssumptionKind {
    /// Integer arithmetic does not wrap.
    NoWrap,
    /// An integer that the program reads as unsigned is not negative as a signed one, or a size is not
    /// negative.
    NonNegative,
    /// Subscripts stay inside the recovered array shape (Grosser et al., ICS 2015).
    Delinearization,
    /// No iteration accesses what another one writes: parts of an array whose places are parameters.
    Independence,
    /// An error block (a failed bounds check, an assertion) is not reached.
    ErrorBlock,
}

impl fmt::Display for AssumptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AssumptionKind::NoWrap => "no wrap",
            AssumptionKind::NonNegative => "not negative",
            AssumptionKind::Delinearization => "delinearization",
            AssumptionKind::Independence => "independence",
            AssumptionKind::ErrorBlock => "error block not reached",
        })
    }
}

/// A condition on the parameters under which the model is right; checked at run time unless the context
/// implies it.
#[derive(Clone, Debug)]
pub struct Assumption {
    pub kind: AssumptionKind,
    /// `[params] -> { : ... }`
    pub set: isl::Set,
    pub location: Option<Location>,
    /// What is assumed, in the user's terms ("subscript of A stays inside its row").
    pub note: String,
}

/// That a polynomial in the parameters, which isl cannot express, lies in a range wherever the SCoP computes
/// it. The host evaluates it with overflow checks: `low <= v + offset <= high` for all values `v` of the sum
/// of `terms` and both ends of `offsets`.
///
/// **Example.** `A[i * n + j]` with an index of 32 bits and `0 <= i < n`, `0 <= j < m` needs
/// `(n - 1) * n + m - 1 < 2^32`: the terms are `n * x` for `x` between `0` and `n - 1`, and `x` between `0`
/// and `m - 1`.
#[derive(Clone, Debug)]
pub struct ProductRange {
    pub kind: AssumptionKind,
    /// `[params] -> { : ... }`: where anything is executed that needs it.
    pub executed: isl::Set,
    pub terms: Vec<ProductTerm>,
    pub offsets: (i64, i64),
    pub low: i64,
    pub high: i64,
    pub location: Option<Location>,
    /// What is assumed, in the user's terms.
    pub note: String,
}

/// `coefficient * x` for every `x` of a range; without one, for `x = 1`. Functions are `[params] -> { [(f)]
/// }`.
#[derive(Clone, Debug)]
pub struct ProductTerm {
    /// A sum of products, a number before each.
    pub coefficient: Vec<(i64, Vec<isl::PwAff>)>,
    pub between: Option<(isl::PwAff, isl::PwAff)>,
}

impl ProductTerm {
    /// All functions of the term.
    pub fn functions_mut(&mut self) -> impl Iterator<Item = &mut isl::PwAff> {
        let range = self.between.iter_mut().flat_map(|(a, b)| [a, b]);
        self.coefficient.iter_mut().flat_map(|(_, factors)| factors).chain(range)
    }
}

impl fmt::Display for ProductTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (number, factors)) in self.coefficient.iter().enumerate() {
            write!(f, "{}{number}", if n == 0 { "" } else { " + " })?;
            factors.iter().try_for_each(|x| write!(f, " * {x}"))?;
        }
        match &self.between {
            Some((low, high)) => write!(f, ", times {low} to {high}"),
            None => Ok(()),
        }
    }
}

/// A value that was read before the region in place of loads in it. They give the same if no store to
/// `arrays` touches the place, which is compared with the arrays' touched ranges at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantLoad {
    /// The place: a pointer, known before the region.
    pub address: ValueHandle,
    pub bytes: u32,
    /// What the source calls the value.
    pub display: String,
    pub arrays: Vec<ArrayId>,
}

/// Integers that the SCoP loads and never stores, looked at before it runs: the host finds the least and the
/// largest of them, which bound what subscripts made of them may be.
///
/// **Example.** `y[i] = x[idx[i]]` for `i < n` has the parameters `idx_min` and `idx_max`, the least and the
/// largest of `{ idx[a] : 0 <= a < n }`, and reads `{ x[a] : idx_min <= a <= idx_max }`.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Memory that no statement writes.
    pub array: ArrayId,
    /// `[params] -> { array[a] }`: all elements that are loaded, and perhaps more. Depends on no parameter of
    /// this inspection or a later one.
    pub elements: isl::Set,
    /// Parameters, by index: the least and the largest value of the elements, as signed integers unless
    /// `unsigned`; any number where there are none.
    pub low: usize,
    pub high: usize,
    /// The elements have no sign.
    pub unsigned: bool,
    /// No two elements are equal: what [`Access::place`](super::Access::place) relies on.
    pub distinct: bool,
    /// What the source calls the array.
    pub display: String,
}

/// Stores to elements that a running total gives, which goes up wherever one is made: what
/// [`Access::place`](super::Access::place) of them relies on.
///
/// **Example.** Of `for (i) if (a[i] > 0) out[k++] = a[i];` the total is the statement `k += a[i] > 0`, and
/// the store has the place `{ S[i] -> place[i] }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Append {
    /// Memory that nothing else accesses.
    pub array: ArrayId,
    /// Each instance adds to its cell: 0 or more without wrapping, and `step` or more where an access of the
    /// array is made whose place is the instance.
    pub total: StmtId,
    /// At least 1.
    pub step: i64,
}
