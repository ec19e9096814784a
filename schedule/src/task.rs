//! What a block that is a task of a graph keeps in shared memory, and the steps of it that are products
//! ([`crate::StepsOf::Task`]).
//!
//! ```text
//! the home of each array is filled; stages that nobody writes are filled
//! for K { wait; barrier; _stage[K]: stages are filled; barrier; _update0[K]; barrier; ...; the instances of the other steps }
//! barrier; what was written goes from the homes to memory
//! ```
//! An element of the block's own tile is in its *home* as long as the block runs: no one else touches what
//! the block writes, before it has ended. Elements of others that the instances outside of updates read are
//! in a *stage*. An *update* is a step whose instances are `points × times`: each point has an element, which
//! is loaded, gets its values for rising times, and is stored; points depend on none of each other, so that
//! threads may have them in any order.
//!
//! A *carried update* is spread over steps of its own, an instance of each point in each: between these steps
//! are others, of which its operands come. Each thread has some elements in registers from the first of these
//! steps on, and stores one behind its last instance:
//! ```text
//! for t { the instances of other steps; barrier; _carried0[K, .., t]; barrier }
//! _carried0:  if t is the first: registers = home
//!             registers = S(registers, operands of t);  if t is an element's last: home = register
//! ```
//! LU's tile at the diagonal is one: `a[i][j] -= a[i][k] * a[k][j]` in step `k`, with `a[i][k] /= a[k][k]`
//! ahead. Elements are the same thread's in all steps, and an element that has had its last instance is
//! computed on, for nothing: no step asks which points it has.

use crate::names::{Mark, Tuple, names};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, StmtId};

/// Nothing of it: all elements are in memory, and threads run instances one by one.
#[derive(Clone, Debug, Default)]
pub struct TaskMemory {
    /// One for each array in memory that the kernel writes, if any.
    pub homes: Vec<Home>,
    pub stages: Vec<Stage>,
    pub updates: Vec<Update>,
    pub carried: Vec<Carried>,
}

/// A box of an array in shared memory.
#[derive(Clone, Debug)]
pub struct TileBox {
    pub array: ArrayId,
    /// `[params, _h*, _b*] -> { [s] }`: the smallest subscripts, one tuple of them.
    pub corner: isl::Set,
    /// Elements along each dimension of the array.
    pub size: Vec<u32>,
    /// `[params, _h*, _b*] -> { A[s] }`: what is copied to it.
    pub copied: isl::Set,
}

/// The elements of a block's own tile.
#[derive(Clone, Debug)]
pub struct Home {
    pub at: TileBox,
    /// `[params, _h*, _b*] -> { A[s] }`: what the block writes.
    pub stored: isl::Set,
}

/// Elements of others.
#[derive(Clone, Debug)]
pub struct Stage {
    pub at: TileBox,
    /// The kernel writes nothing of the array: the stage is filled when the block begins.
    pub early: bool,
}

/// A step of a block whose instances are products, or what runs like them.
#[derive(Clone, Debug)]
pub struct Update {
    /// Of the tuple and the mark (`_update0`): `_update0[K]`, the same in all threads of a block.
    pub number: usize,
    pub statement: StmtId,
    /// `[params, _h*] -> { S[i] }`
    pub instances: isl::UnionSet,
    /// `[params, _h*] -> { S[i] -> [s, t] }`, one to one: the subscripts of the element that an instance
    /// writes, and its time.
    pub place: isl::Map,
    /// The access that writes, and those that read the same element.
    pub write: usize,
    pub reads: Vec<usize>,
    pub operands: Vec<Operand>,
    /// `[params, _h*, _b*, _k] -> { [s] }`
    pub points: isl::Set,
    /// `[params, _h*, _b*, _k] -> { [t] }`, without holes.
    pub times: isl::Set,
}

impl Update {
    pub fn tuple(&self) -> Tuple {
        Tuple::Update(self.number)
    }

    /// What is around its instances, which code leaves out.
    pub fn mark(&self) -> Mark {
        Mark::Update(self.number)
    }
}

/// Instances whose elements stay in registers from one step to the next.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Of the tuple and the mark (`_carried0`): `_carried0[c]`, with the coordinates of a step, the same in
    /// all threads of a block.
    pub number: usize,
    pub statement: StmtId,
    /// `[params, _h*] -> { S[i] }`
    pub instances: isl::UnionSet,
    /// As that of an [`Update`].
    pub place: isl::Map,
    /// The access that writes, and those that read the same element.
    pub write: usize,
    pub reads: Vec<usize>,
    /// Elements are functions of all coordinates and times, also where there is no instance.
    pub operands: Vec<Operand>,
    /// Which coordinate of a step is the time.
    pub time: usize,
    /// `[params, _h*, _b*, _k] -> { [s, t] }`: with an instance, those at all earlier times.
    pub points: isl::Set,
    /// `[params, _h*, _b*, _k] -> { [t] }`: the times of them, at most [`MOST_TIMES`], without holes.
    pub times: isl::Set,
}

/// Times of a carried update from the first to the last.
pub const MOST_TIMES: i64 = 64;

impl Carried {
    pub fn tuple(&self) -> Tuple {
        Tuple::Carried(self.number)
    }

    /// What is around its instances, which code leaves out.
    pub fn mark(&self) -> Mark {
        Mark::Carried(self.number)
    }
}

/// Another read of an [`Update`].
#[derive(Clone, Debug)]
pub struct Operand {
    pub access: usize,
    /// The coordinate of the point that it moves with. `None`: it is the same for all points.
    pub along: Option<usize>,
    /// `[params, _h*] -> { [p, t] -> A[s] }`, or of `t` alone.
    pub element: isl::Map,
}

impl TileBox {
    /// `[params, _h*, _b*] -> { A[s] }`: the box, of an array of this name.
    pub fn cells(&self, array: &str) -> isl::Result<isl::Set> {
        let n = self.size.len();
        let (l, s) = (names("l", n), names("s", n));
        let inside: Vec<_> =
            (0..n).map(|d| format!("{0} <= {1} < {0} + {2}", l[d], s[d], self.size[d])).collect();
        let text =
            format!("{{ [{}] -> {array}[{}] : {} }}", l.join(", "), s.join(", "), inside.join(" and "));
        self.corner.clone().apply(isl::Map::read(self.corner.context(), &text)?)
    }

    /// Elements from one row of each dimension to the next. Rows are longer by one: threads with a row each
    /// are in different banks.
    pub fn strides(&self) -> Vec<u32> {
        let mut strides = vec![1; self.size.len()];
        for d in (1..self.size.len()).rev() {
            strides[d - 1] = strides[d] * self.size[d] + u32::from(d + 1 == self.size.len());
        }
        strides
    }

    pub fn elements(&self) -> u32 {
        match (self.strides().first(), self.size.first()) {
            (Some(stride), Some(size)) => stride * size,
            _ => 1,
        }
    }
}

/// Whether the values of a coordinate have no holes.
pub(crate) fn whole(set: &isl::Set, d: u32) -> isl::Result<bool> {
    let n = set.dim(isl::DimType::Set)?;
    let values = set.clone().project_out(isl::DimType::Set, d + 1, n - d - 1)?;
    let values = values.project_out(isl::DimType::Set, 0, d)?.coalesce()?;
    let read = |text: &str| isl::Map::read(set.context(), text);
    let behind = values.clone().apply(read("{ [a] -> [v] : v >= a }")?)?;
    let ahead = values.clone().apply(read("{ [a] -> [v] : v <= a }")?)?;
    behind.intersect(ahead)?.is_subset(&values)
}
