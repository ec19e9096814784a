//! Statements: their instances, control flow inside of them, and the updates that they are.

use super::{Access, AccessValue, Location, ValueHandle};
use pollyrs_isl as isl;

/// Control flow inside a statement that depends on data: a part of the host's control-flow graph with one way
/// in and one way out, executed as a whole (Polly's non-affine subregion).
///
/// ```text
/// head:  its instructions in the body run first; its branch leads into `blocks`, or past them to `exit`
/// blocks ... exit     PHIs of `exit` that the statement writes to cells are values of the statement
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subregion {
    pub head: ValueHandle,
    /// Every definition before its uses outside of PHIs.
    pub blocks: Vec<ValueHandle>,
    pub exit: ValueHandle,
    pub loops: Vec<SubregionLoop>,
}

/// A loop of a subregion. How often it runs is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubregionLoop {
    pub header: ValueHandle,
    /// The header included.
    pub blocks: Vec<ValueHandle>,
    /// Set if its iterations may be computed side by side, but for what one hands on to the next.
    pub spread: Option<Spread>,
}

/// A loop of one block, which stores nothing and whose number of iterations is known ahead of it. Some of its
/// instructions need what the iteration before hands on; all others, with the loads, an iteration computes
/// alone.
///
/// **Example.** Of `for (k = a; k < b; k++) s += val[k] * x[col[k]]` the loads and the product are computed
/// alone, the sum is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// PHIs that count, the value of each in the next iteration, and how much larger that is.
    pub counting: Vec<(ValueHandle, ValueHandle, i64)>,
    /// What the first of these, which counts by one, is after the last iteration. There is at least one
    /// iteration.
    pub end: ValueHandle,
    /// PHIs whose values are handed on.
    pub loop_carried: Vec<LoopCarried>,
    /// What needs a carried value, in program order: no loads, and nothing that can fail.
    pub after: Vec<ValueHandle>,
}

/// A value that iterations hand on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopCarried {
    pub phi: ValueHandle,
    /// Its value in the next iteration.
    pub next: ValueHandle,
    /// Set if `next` is `op(phi, value)` with a value that the iteration computes alone, and the program lets
    /// such updates be regrouped: the operation by which two results are combined, and the constant to begin
    /// with.
    pub regrouped: Option<(UpdateOp, ValueHandle)>,
}

/// An integer SSA value that is an affine function of the iteration and the parameters; code generation
/// computes it instead of copying the instructions it came from.
#[derive(Clone, Debug)]
pub struct Synthesized {
    pub value: ValueHandle,
    /// `[params] -> { Stmt[i...] -> [value] }`.
    pub function: isl::PwAff,
}

/// An update `cell = op(cell, value)` of an operation that may be regrouped: a chain of updates gives the
/// same cell if consecutive ones are first combined among themselves, starting from the identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Numbers of the accesses that read and write the cell.
    pub read: usize,
    pub write: usize,
    /// The value that is combined with the cell, not computed from it.
    pub value: ValueHandle,
    /// The constant with `op(identity, value) = value`.
    pub identity: ValueHandle,
    /// The instructions from the cell and the value to the new cell, in program order; the load and the store
    /// of the cell are among them where it is memory. Nothing else of the statement uses what they compute.
    pub update: Vec<ValueHandle>,
    /// Whether the updates may also be reordered.
    pub commutative: bool,
    /// Whether they may only be regrouped where no value is a NaN, which the device reports otherwise.
    pub numbers: bool,
    /// Whether they were regrouped: integers then wrap, whatever the instructions claim.
    pub regrouped: bool,
    /// Further cells of a minimum or maximum: where the update takes its value, each takes one of its own,
    /// and where the cell is kept, so are they.
    pub companions: Vec<Cell>,
}

/// An update like that of a [`Reduction`], of a cell which the statement looks at in other ways as well: of
/// `s += y[i]; y[i] = s;` in one statement.
///
/// The cell may be memory, and another element may be read than is written: of `y[i] = y[i - 1] + x[i]` the
/// cell is `y[i - 1]`, then `y[i]`. Such a total is one where the next instance reads what this one wrote,
/// which the dependences tell. The load and the store of the cell are not among the instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    pub update: Reduction,
    /// The instructions of the body that the update needs, with its own, in program order.
    pub needs: Vec<ValueHandle>,
    /// What the cell becomes.
    pub stored: ValueHandle,
}

/// A cell of a [`Reduction`]: numbers of the accesses that read and write it, what it is updated with, and
/// the constant that a part begins with.
///
/// **Example.** Of `if (x[i] < m) { m = x[i]; k = i; }` the cell `m` is updated with `x[i]`, and its
/// companion `k` with `i`. A part begins with the pair of infinity and zero, of which the zero is seen by
/// nothing: what is not below infinity is below no `m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub read: usize,
    pub write: usize,
    pub value: ValueHandle,
    pub identity: ValueHandle,
}

impl Reduction {
    /// All cells, that of the update first.
    pub fn cells(&self) -> Vec<Cell> {
        let Reduction { read, write, value, identity, .. } = *self;
        std::iter::once(Cell { read, write, value, identity })
            .chain(self.companions.iter().copied())
            .collect()
    }
}

/// How an [`Update`] combines an element with a value. Any order of updates gives the same integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpdateOp {
    /// Modulo 2^bits.
    Add,
    And,
    Or,
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
    /// Of floating-point numbers whose sums the program lets be regrouped.
    FAdd,
}

/// An update `a[k] = op(a[k], value)` of an element that data chooses. Nothing else is done to the array but
/// updates with the same operation, and nobody looks at what is there in between, so that they may be made in
/// any order, each as a whole.
///
/// **Example.** `h[p[i]] -= w[i]` is [`UpdateOp::Add`] with `chain` the subtraction: with the identity in
/// place of what is loaded it gives what is to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub load: ValueHandle,
    pub store: ValueHandle,
    /// The instructions from what is loaded to what is stored, in program order. Nothing else uses what they
    /// compute.
    pub chain: Vec<ValueHandle>,
    pub op: UpdateOp,
    /// The constant with `op(identity, value) = value`.
    pub identity: ValueHandle,
}

/// A statement: instructions that run once for each point of its domain.
#[derive(Clone, Debug)]
pub struct Statement {
    /// isl's tuple name (`S0`, `S1`, ... in program order).
    pub name: String,
    /// `[params] -> { Stmt[i0, ...] : ... }`, outermost loop first; each loop counts from 0 by 1.
    pub domain: isl::Set,
    pub accesses: Vec<Access>,
    /// The instructions to execute, in program order; loads and stores are also in `accesses`.
    pub body: Vec<ValueHandle>,
    pub synthesized: Vec<Synthesized>,
    pub reduction: Option<Reduction>,
    /// Set only without a reduction, or where another element of an array is read than is written.
    pub running: Option<Running>,
    /// Of elements that data chooses.
    pub updates: Vec<Update>,
    /// Control flow that depends on data. Instructions of its blocks are in `body`, behind all others.
    pub subregion: Option<Subregion>,
    pub location: Option<Location>,
}

impl Statement {
    /// Whether each instance runs the same instructions on elements known beforehand: no control flow, and no
    /// subscript, depends on data.
    pub fn is_plain(&self) -> bool {
        self.subregion.is_none() && self.accesses.iter().all(|a| a.within.is_none())
    }

    /// The update that an access is a part of.
    pub fn update_of(&self, a: &Access) -> Option<&Update> {
        let AccessValue::Instruction(v) = a.value else { return None };
        self.updates.iter().find(|u| u.load == v || u.store == v)
    }
}
