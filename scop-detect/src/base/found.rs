//! What an attempt to model a region finds on its way, by concept: parameters, values that data chooses,
//! updates, inspections, and what is known of ranges and quotients, so that it is not computed again.

use crate::base::ir::{Value, handle};
use isl::{PwAff, Set};
use pollyrs_delinearize::Polynomial;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr};
use pollyrs_scop::{ArrayId, AssumptionKind, DataSubscript, ProductRange, Statement, TermKind, UpdateOp};

/// 64-bit parameters are checked at run time to lie within ±2^46, so that 64-bit address arithmetic cannot
/// wrap.
pub(crate) const WIDE_BOUND: i64 = 1 << 46;

#[derive(Clone, Debug)]
pub(crate) struct ParamEntry {
    pub name: String,
    pub display: String,
    pub bits: u32,
    pub scev: ScevExpr,
    /// `scev` is the loaded value: see [`crate::memory::inspect`].
    pub inspected: bool,
}

/// `times * param + constant` bytes between two addresses.
#[derive(Clone, Copy)]
pub(crate) struct Multiple {
    /// By number.
    pub param: usize,
    pub times: i64,
    pub constant: i64,
}

/// A value that is a dimension of a place.
#[derive(Clone, Debug)]
pub(crate) struct FoundSubscript {
    pub scev: ScevExpr,
    pub value: Value,
    /// `value` is narrower than `scev`, which extends it by zeros.
    pub unsigned: bool,
    /// Sums of counters that it is chosen from are assumed not to wrap.
    pub assuming: bool,
}

impl FoundSubscript {
    /// For the model.
    pub fn describe(&self) -> DataSubscript {
        DataSubscript { value: handle(self.value), unsigned: self.unsigned }
    }
}

/// What a store does to an element that it was loaded from.
#[derive(Clone, Debug)]
pub(crate) struct FoundUpdate {
    pub load: Value,
    /// In program order.
    pub chain: Vec<Value>,
    pub op: UpdateOp,
    /// The flags of the program fix the order of its additions.
    pub ordered: bool,
}

/// Loads whose values are looked at together.
#[derive(Clone, Debug)]
pub(crate) struct Inspected {
    pub base: Value,
    pub bits: u32,
    pub unsigned: bool,
    /// Members of a structure have ranges of their own.
    pub member: bool,
    pub loads: Vec<Value>,
    /// isl's names of the parameters.
    pub low: String,
    pub high: String,
    pub display: String,
    /// No two of them may be equal: see [`crate::memory::scatters`].
    pub distinct: bool,
}

/// An integer that is rounded from a number: see [`crate::memory::roundings`].
#[derive(Clone, Debug)]
pub(crate) struct Rounded {
    pub value: Value,
    pub terms: Vec<FoundTerm>,
    pub bits: u32,
    pub signed: bool,
    pub saturates: bool,
    /// isl's names of the parameters.
    pub low: String,
    pub high: String,
    /// Inspections that were there before it.
    pub behind: usize,
    pub display: String,
}

/// A term before arrays have their numbers.
#[derive(Clone, Debug)]
pub(crate) struct FoundTerm {
    pub single: bool,
    pub kind: TermKind,
    /// Of [`TermKind::Any`]: the load that it stands for.
    pub load: Option<Value>,
}

impl Inspected {
    pub fn looks_at(&self, load: Value) -> bool {
        self.loads.contains(&load)
    }
}

/// The polynomial of a value that the region does not change, and what was known before and after it was
/// asked for.
pub(crate) struct KnownSize {
    pub domain: Set,
    pub context: Set,
    pub assumed: Set,
    pub polynomial: Polynomial,
}

/// What was found of a sum in a domain, under what was known then: of all that differ in their constant.
pub(crate) struct KnownRange {
    pub kind: AssumptionKind,
    pub sum: Polynomial,
    pub limits: (i64, i64),
    pub domain: Set,
    pub known: Set,
    /// Least and largest value, if they are numbers.
    pub between: Option<(i128, i128)>,
    /// What is assumed where these do not fit.
    pub range: Option<ProductRange>,
}

impl KnownRange {
    /// Whether it is the range of such a sum, which may be in another form.
    pub fn is_of(&self, other: &KnownRange) -> isl::Result<bool> {
        let same = self.kind == other.kind && self.limits == other.limits && self.sum == other.sum;
        Ok(same && self.domain.plain_is_equal(&other.domain)? && self.known.plain_is_equal(&other.known)?)
    }

    /// Whether the sum and a constant are known to lie within the limits.
    pub fn fits(&self, constant: i64) -> bool {
        let ((low, high), constant) = (self.limits, i128::from(constant));
        self.between.is_some_and(|(least, most)| {
            i128::from(low) <= least + constant && most + constant <= i128::from(high)
        })
    }
}

/// A quotient that no few cases cover, with what was assumed when it was tried.
pub(crate) struct Uncovered {
    pub x: PwAff,
    pub n: PwAff,
    pub domain: Set,
    pub strict: bool,
    pub assumed: usize,
}

impl Uncovered {
    pub fn is(&self, x: &PwAff, n: &PwAff, domain: &Set, strict: bool, assumed: usize) -> isl::Result<bool> {
        let same = self.strict == strict && self.assumed == assumed;
        Ok(same
            && self.x.plain_is_equal(x)?
            && self.n.plain_is_equal(n)?
            && self.domain.plain_is_equal(domain)?)
    }
}

/// A statement while it is put together.
pub(crate) struct Draft {
    pub name: String,
    pub loops: Vec<LoopId>,
    pub statement: Statement,
}

/// An array all of whose accesses are appended.
pub(crate) struct Appended {
    pub array: ArrayId,
    pub base: Value,
    pub count: Value,
    pub step: i64,
}
