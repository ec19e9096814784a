//! What a rewriting says of the SCoP that it made: which instances and statements came of which. It is a
//! claim, no more: [`check`](super::check) proves what follows from it, and trusts none of it.

use pollyrs_isl as isl;
use pollyrs_scop::{Scop, StmtId};
use std::collections::BTreeMap;

/// What a rewriting makes.
#[derive(Clone, Debug)]
pub struct Made {
    pub scop: Scop,
    /// For statements with other iterators than before: `{ new instance -> old instance }`.
    pub instances: BTreeMap<StmtId, isl::Map>,
    /// Running totals that were cut into parts; empty if `instances` is of a reduction.
    pub scans: Vec<Scanned>,
    /// Elements of arrays that cells took the place of.
    pub loop_carried: Vec<LoopCarried>,
    /// Statements that have some sizes left, and those that have the others.
    pub versions: Vec<(StmtId, StmtId)>,
}

/// A statement that reads what its instance before wrote, from a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopCarried {
    pub statement: StmtId,
    /// Copies the element that the first instance reads to the cell.
    pub before: StmtId,
    /// Copies the cell to the element, where all instances have the same one.
    pub behind: Option<StmtId>,
}

/// The statements of a running total that was cut into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The total, which runs in the parts.
    pub total: StmtId,
    /// Sets the sum of each part to the identity.
    pub start: StmtId,
    /// The total again, which sums each part up.
    pub sum: StmtId,
    /// Notes the cell before each part.
    pub before: StmtId,
    /// Applies the sum of each part to the cell.
    pub rest: StmtId,
}

impl From<Scop> for Made {
    fn from(scop: Scop) -> Made {
        Made {
            scop,
            instances: BTreeMap::new(),
            scans: Vec::new(),
            loop_carried: Vec::new(),
            versions: Vec::new(),
        }
    }
}
