//! Temporal blocking of iterative stencils: several time steps a launch, by overlapped tiles that are streamed through.
//!
//! ```text
//! Scop, Dependences ─recognise→ Stencil ─plan→ StencilPlan ─check→ violations ─(codegen)→ one fused kernel
//! ```
//! The method is that of Matsumura et al. (AN5D, CGO 2020) and Zhang et al. (EBISU, ICS 2023): a block owns a tile, reads it with
//! a halo, computes all fused steps on tiles that shrink by the radius at each step, and walks along the outermost space
//! dimension; the rows that later steps still need stay in registers, neighbouring columns come through shared memory.
//!
//! # What is a stencil here
//! A SCoP whose instances are *steps*: with time `t` and statement `k`, all instances `S_k[t, x]` read only what earlier
//! statements wrote (or nobody), and write one element of each of some buffers. A statement with several writes is several steps
//! that read the same versions. Recognition looks at access relations; that the program's order gives every read the value that
//! this order of statements gives it is proved by comparing the exact flow dependences ([`check::same_flow`]). The spelling of
//! the loops does not matter.
//!
//! A time loop beside other loops is a stencil by itself ([`has_member`]); the SCoP is divided there.
//!
//! A *buffer* is an array, or the part of an array with fixed leading subscripts that depend on `t` modulo a small period only
//! (`A[t % 2][i][j]`). Each step writes it on a box; the *hull* of these boxes is what a launch hands on, elements outside of it
//! never change. A step whose box is smaller than the hull is *partial* and keeps the other elements; one whose box is a single
//! row, column or point (a boundary) is *thin*. A step may write every other element of its box only ([`Lattice`]); it is partial, too.
//! Loops over colours are unfolded before that ([`unfold()`]). A read may have a [`Case`] for each such boundary: clamped and mirrored neighbours. A buffer is *live* if some step of a period reads or keeps its elements before a
//! step of the same period wrote all of it: the only ones that a launch hands to the next.
//!
//! # How it runs
//! The first launches fuse `G` time iterations each: they read live buffers from one copy and write them to the other, never
//! the same. The last launches fuse a period each, and are *complete*: they write the buffers that are not live as well, so all arrays
//! get their final values. What is less than a period runs as the ordinary mapping has it.
//!
//! # Example
//! ```c
//! for (int t = 0; t < T; t++) {
//!   for (int i = 1; i < n - 1; i++) B[i] = f(A[i-1], A[i], A[i+1]);   // step 0: reads A at -1, 0, 1; writes B
//!   for (int i = 1; i < n - 1; i++) A[i] = B[i];                      // step 1: reads B at 0; writes A
//! }
//! ```
//! Period 1, buffers A and B with the box `1 .. n-2`, A is live, B is not.

mod cases;
pub mod check;
pub mod cost;
mod lattice;
mod member;
pub mod plan;
mod recognise;
mod unfold;

pub use check::{Violation, check};
pub use lattice::Lattice;
pub use member::has_member;
pub use plan::{Config, Exchange, Node, NodeRead, StencilPlan, Wish, plans};
pub use recognise::recognise;
pub use unfold::unfold;

use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, StmtId};

/// A SCoP seen as steps on buffers. Space dimensions are those of the arrays, outermost first: `dims` of them.
#[derive(Clone, Debug)]
pub struct Stencil {
    pub dims: usize,
    /// After this many time iterations the buffers have the same roles again.
    pub period: i64,
    /// The steps of one period, in order.
    pub steps: Vec<Step>,
    pub buffers: Vec<Buffer>,
    /// `[params] -> { [] -> [T] }`: the number of time iterations in which all statements run, from the first on, where `runs` holds. What is behind
    /// them runs as the ordinary mapping has it.
    pub time: isl::PwAff,
    /// `[params] -> { : ... }`: where every statement has instances.
    pub runs: isl::Set,
}

/// All instances of one statement at one time.
#[derive(Clone, Debug)]
pub struct Step {
    pub stmt: StmtId,
    /// Time within the period.
    pub time: i64,
    /// The buffer it writes, at every element of its box.
    pub buffer: usize,
    /// The access that writes it.
    pub write: usize,
    /// The written box, by dimension: first and last element. `[params] -> { [] -> [v] }`, where `Stencil::runs` holds.
    pub lower: Vec<isl::PwAff>,
    pub upper: Vec<isl::PwAff>,
    /// Whether its box is not known to be the buffer's hull.
    pub partial: bool,
    /// Dimensions in which its box is one element wide whatever the sizes are: no inner tile meets it.
    pub thin: Vec<usize>,
    /// Which elements of its box it writes: those whose instances are on all of these. It is partial if there are any.
    pub lattices: Vec<Lattice>,
    /// Statement iterator `1 + j` is the coordinate `iterators[j].0` of the written element plus `iterators[j].1`.
    pub iterators: Vec<(usize, i64)>,
    /// One for each access of the statement, in their order.
    pub accesses: Vec<StepAccess>,
    /// Where reads have another offset.
    pub cases: Vec<Case>,
}

/// A box of written elements whose read of a buffer has another offset than elsewhere: at the border of a grid programs read the
/// element itself in place of a missing neighbour, or the neighbour on the other side. The cases of an access do not meet.
#[derive(Clone, Debug)]
pub struct Case {
    /// Position in the statement's accesses.
    pub access: usize,
    pub lower: Vec<isl::PwAff>,
    pub upper: Vec<isl::PwAff>,
    /// Dimensions in which the box is one element wide whatever the sizes are; at least one.
    pub thin: Vec<usize>,
    pub offset: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepAccess {
    /// Reads the buffer at the written element's coordinates plus `offset`, outside of the step's [`Case`]s.
    Buffer {
        buffer: usize,
        offset: Vec<i64>,
    },
    /// Reads memory that no step writes, through the statement's access relation.
    Plain,
    Write,
}

/// The steps that are one statement at one time, as ranges, in order: they read the same versions.
pub fn instances(steps: &[Step]) -> Vec<std::ops::Range<usize>> {
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    for (i, s) in steps.iter().enumerate() {
        match out.last_mut() {
            Some(r) if (steps[r.start].stmt, steps[r.start].time) == (s.stmt, s.time) => r.end = i + 1,
            _ => out.push(i..i + 1),
        }
    }
    out
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub array: ArrayId,
    /// The leading subscripts.
    pub selectors: Vec<i64>,
    /// The hull of the written boxes, by dimension.
    pub lower: Vec<isl::PwAff>,
    pub upper: Vec<isl::PwAff>,
    /// The box around the written and all read elements.
    pub outer_lower: Vec<isl::PwAff>,
    pub outer_upper: Vec<isl::PwAff>,
    /// Whether a step reads elements outside of the hull: they keep their values from before the SCoP.
    pub has_border: bool,
    pub live: bool,
}

/// Why a SCoP is not a stencil in our sense. It keeps the ordinary mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStencil {
    #[error("the statements are not all nests of one to three dimensions under a time loop")]
    Shape,
    #[error("there are more statements than steps are fused of")]
    Many,
    #[error("a statement may or may not write, or writes nothing")]
    Writes,
    #[error("a value crosses statements in a scalar")]
    Scalars,
    #[error("a domain is not a box")]
    Domain,
    #[error("an access to a written array is not uniform")]
    Access,
    #[error("a statement writes one buffer twice")]
    Boxes,
    #[error("a step needs values of its own step")]
    Flow,
    #[error("no step reads a neighbour of an earlier step")]
    NoReuse,
    #[error("no number of steps to fuse fits the device")]
    Resources,
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod unfold_tests;
