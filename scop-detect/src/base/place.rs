//! Where an expression is evaluated.

use crate::base::found::FoundSubscript;
use crate::base::ir::Value;
use isl::{Set, Space};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr};

/// The loops around an expression inside the region, outermost first, and the iterations that evaluate it,
/// `[params] -> { [i0, ..., v0, ...] }` with one dimension a loop, and then one for each value that data
/// chooses.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub loops: Vec<LoopId>,
    /// Values of the program that are dimensions: see [`crate::memory::data_subscripts`].
    pub values: Vec<FoundSubscript>,
    pub domain: Set,
    /// For messages.
    pub inst: Option<Value>,
}

impl Place {
    pub fn new(loops: Vec<LoopId>, domain: Set, inst: Option<Value>) -> Place {
        Place { loops, values: Vec::new(), domain, inst }
    }

    pub fn space(&self) -> isl::Result<Space> {
        self.domain.space()
    }

    pub fn dims(&self) -> usize {
        self.loops.len() + self.values.len()
    }

    /// The dimension of the value that data chooses for `e`.
    pub fn value_dim(&self, e: &ScevExpr) -> Option<usize> {
        self.values.iter().position(|c| c.scev.handle == e.handle).map(|k| self.loops.len() + k)
    }
}
