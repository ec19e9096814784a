//! Index polynomials to array shapes, subscripts and assumptions.
//!
//! **Problem.** The accesses to one base pointer are byte offsets: polynomials in loop counters and
//! parameters, such as `4*P*i + 4*j`. isl knows affine expressions only. Find *one* array shape for all of
//! them, with affine subscripts, and the weakest condition on the parameters under which that view is right.
//! Follows Grosser, Ramanujam, Pouchet, Sadayappan and Pop, "Optimistic Delinearization of Parametrically
//! Sized Arrays", ICS 2015; deviations are named in the modules.
//!
//! **Invariants** of a [`Shape`]:
//! - *Same address*: for every iteration of an access and parameters in the assumption, the row-major offset
//!   of its subscripts in the shape times the element size is the access's offset.
//! - *Bijective*: there every inner subscript `f_k` satisfies `0 <= f_k < d_k`, so two subscript vectors are
//!   one address only if they are equal. Dependences between them are therefore exact.
//! - *Exact*: the assumption holds for exactly the parameters (in the context) where no executed iteration
//!   breaks that.
//! - *Checked*: the check implies the assumption (in the context).
//!
//! **Example.** `for (i < n) for (j < m) A[i][j] = ...` with `float A[n][P]`: offset `4*P*i + 4*j`, domain
//! `[n, m, P] -> { S[i, j] : 0 <= i < n and 0 <= j < m }` gives the shape `A[*][P]`, the subscripts `[i, j]`,
//! and the assumption `[n, m, P] -> { : n <= 0 or m <= 0 or m <= P }` (nothing is executed in the first two
//! cases).

mod affine;
mod condition;
mod known;
mod poly;
mod quotient;
mod residue;
mod search;
mod shapes;
mod typical;
mod view;

pub use known::Known;
pub use poly::{Monomial, Polynomial, Symbol};
pub use residue::Residue;

use pollyrs_isl as isl;
use std::fmt;

/// One access to the base pointer.
#[derive(Clone, Debug)]
pub struct AccessPoly {
    /// Distance from the base in bytes. `Iter(d)` is dimension `d` of `domain`, `Param(p)` is
    /// `Problem::params[p]`.
    pub offset: Polynomial,
    /// `[params] -> { S[i0, ...] : ... }`: the iterations that execute the access.
    pub domain: isl::Set,
    /// Constant sizes of the inner dimensions in elements, outermost first, where the IR's array type names
    /// them (`float A[10][20][30]`: `[20, 30]`). Only a hint: a view from it is checked as any other. Where
    /// it fits the strides, a view that needs a run-time condition is preferred to the linear one.
    pub size_hint: Option<Vec<i64>>,
}

/// All accesses to one base pointer.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// isl names of the parameters, the meaning of `Symbol::Param`.
    pub params: &'a [String],
    /// `[params] -> { : ... }`: what is known of the parameters.
    pub context: &'a isl::Set,
    /// Size of an element in bytes; all accesses access whole elements.
    pub element_bytes: u32,
    pub accesses: &'a [AccessPoly],
    /// isl names of parameters that are the least and the largest subscript which data has.
    pub found: &'a [(String, String)],
    /// Only a shape that is right for all parameters, with one piece an access, is of use.
    pub certain: bool,
}

/// Where a shape came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// One dimension: the offsets are affine.
    Linear,
    /// [`AccessPoly::size_hint`].
    Hint,
    /// The coefficients of the offsets.
    Strides,
}

/// A multi-dimensional view of the array.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Size of each dimension in elements, outermost first, affine in the parameters (`Symbol::Param` only).
    /// `None` for the outermost and only for it.
    pub sizes: Vec<Option<Polynomial>>,
    /// For each access, for each dimension, `[params] -> { S[i0, ...] -> [f] }`. Defined at least on the
    /// executed iterations for parameters in the assumption; with one piece, everywhere.
    pub subscripts: Vec<Vec<isl::PwAff>>,
    /// `[params] -> { : ... }`: condition under which the view is right, gisted against the context; the
    /// universe where none is needed.
    pub assumption: isl::Set,
    /// What to check at run time: the assumption, or where that has many cases something without cases that
    /// implies it.
    pub check: isl::Set,
    /// Under which condition, weaker than `check`, subscripts give the access's offset and offsets grow with
    /// each subscript, though some may be outside of their rows: two subscript vectors may be one address
    /// then, which does not matter to who only reads. `None`: the view has no condition, or several pieces.
    pub overlapping: Option<isl::Set>,
    pub origin: Origin,
    /// Whether the view is right for some parameters that are alike, give or take a few: what the sizes of a
    /// matrix and the bounds of loops over it mostly are.
    pub likely: bool,
    /// Whether it is right only where a parameter that says no more than where an array begins has one of a
    /// few values, or is in one of a few rows, or is as large as a size: `w[p + i * n + j]` for `j < n` is no
    /// place in rows of `n`, unless `p` is 0.
    pub pinned: bool,
    /// Whether some accesses reach over the ends of rows, so that what is near in the linear view is not in
    /// this one.
    pub wraps: bool,
}

impl Shape {
    pub fn dims(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the view is right for all parameters of the context.
    pub fn is_unconditional(&self) -> isl::Result<bool> {
        self.assumption.clone().complement()?.is_empty()
    }

    /// The sizes as functions on a parameter domain, `[params] -> { [(size)] }`, as `scop::Array::sizes`
    /// wants them.
    pub fn size_functions(&self, problem: &Problem) -> Result<Vec<Option<isl::PwAff>>, DelinearizeError> {
        let ctx = problem.context.context();
        let space = isl::Space::params_named(ctx, problem.params.iter().map(String::as_str))?;
        self.sizes
            .iter()
            .map(|s| s.as_ref().map(|s| affine::to_pw_aff(s, &space, problem.params)).transpose())
            .collect()
    }
}

/// What makes a view impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// An offset (its term `term`) is no multiple of the element size.
    NotDivisible { access: usize, term: String },
    /// No shape makes the offset of `access` affine; `term` is a product that stays.
    NonAffineSubscript { access: usize, term: String },
    /// Shapes exist, but for no parameters of the context do the accesses stay inside one.
    NeverInside,
    /// A coefficient is out of range.
    Overflow { access: usize },
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocked::NotDivisible { access, term } => {
                write!(f, "access {access}: the term {term} of the offset is no multiple of the element size")
            }
            Blocked::NonAffineSubscript { access, term } => {
                write!(f, "access {access}: the product {term} stays in a subscript")
            }
            Blocked::NeverInside => f.write_str("the accesses stay inside no recovered array shape"),
            Blocked::Overflow { access } => write!(f, "access {access}: a coefficient is out of range"),
        }
    }
}

/// Why there is no [`Shape`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DelinearizeError {
    #[error("{0}")]
    Blocked(Blocked),
    /// isl failed, or its budget is spent ([`isl::Error::Quota`]).
    #[error(transparent)]
    Isl(#[from] isl::Error),
    /// A coefficient does not fit 64 bits.
    #[error("the integer {0} does not fit 64 bits")]
    Range(i128),
    /// The problem contradicts itself: a symbol that its domain or the parameter list does not have, no
    /// accesses, or a zero size.
    #[error("malformed problem: {0}")]
    Malformed(&'static str),
}

impl From<Blocked> for DelinearizeError {
    fn from(b: Blocked) -> Self {
        DelinearizeError::Blocked(b)
    }
}

/// One shape for all accesses of `problem`; see the module's invariants.
pub fn delinearize(problem: &Problem) -> Result<Shape, DelinearizeError> {
    search::best(problem)
}
