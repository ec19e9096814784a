//! A part of the control-flow graph that may become a SCoP.

use crate::base::ir::Block;
use std::collections::BTreeSet;

/// A single-entry single-exit region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub entry: Block,
    pub exit: Block,
    pub blocks: BTreeSet<Block>,
    /// Whether this is a run of several regions, each of which could be modelled alone.
    pub joined: bool,
}
