//! A stencil: its steps, what they read, its buffers.

use super::lattice::Lattice;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, StmtId};

/// A SCoP seen as steps on buffers. Space dimensions are those of the arrays, outermost first: `dims` of
/// them.
#[derive(Clone, Debug)]
pub struct Stencil {
    pub dims: usize,
    /// After this many time iterations the buffers have the same roles again.
    pub period: i64,
    /// The steps of one period, in order.
    pub steps: Vec<Step>,
    pub buffers: Vec<Buffer>,
    /// `[params] -> { [] -> [T] }`: the number of time iterations in which all statements run, from the first
    /// on, where `runs` holds. What is behind them runs as the ordinary mapping has it.
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
    /// The written box, by dimension: first and last element. `[params] -> { [] -> [v] }`, where
    /// `Stencil::runs` holds.
    pub lower: Vec<isl::PwAff>,
    pub upper: Vec<isl::PwAff>,
    /// Whether its box is not known to be the buffer's hull.
    pub partial: bool,
    /// Dimensions in which its box is one element wide whatever the sizes are: no inner tile meets it.
    pub thin: Vec<usize>,
    /// Which elements of its box it writes: those whose instances are on all of these. It is partial if there
    /// are any.
    pub lattices: Vec<Lattice>,
    /// Statement iterator `1 + j` is the coordinate `iterators[j].0` of the written element plus
    /// `iterators[j].1`.
    pub iterators: Vec<(usize, i64)>,
    /// One for each access of the statement, in their order.
    pub accesses: Vec<StepAccess>,
    /// How many of the [`StepAccess::Plain`] are the same element at all points, as coefficients are.
    pub held: usize,
    /// Where reads have another offset.
    pub cases: Vec<Case>,
}

/// A box of written elements whose read of a buffer has another offset than elsewhere: at the border of a
/// grid programs read the element itself in place of a missing neighbour, or the neighbour on the other side.
/// The cases of an access do not meet.
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
    #[error("a border with a loop of its own reaches beyond what is touched of the grid's first or last row")]
    Border,
    #[error("what was recognised is not what the program does")]
    Readings,
    #[error("a step needs values of its own step")]
    Flow,
    #[error("no step reads a neighbour of an earlier step")]
    NoReuse,
    #[error("no number of steps to fuse fits the device")]
    Resources,
}
