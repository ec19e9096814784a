//! Limits of the search, and what an earlier one has found.

use crate::base::ir::handle_of_block;
use crate::base::region::Candidate;
use crate::base::tried::Tried;
use pollyrs_delinearize::Known;
use pollyrs_scop::ValueHandle;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Limits of the search.
#[derive(Clone, Debug)]
pub struct DetectOptions {
    /// isl operations for one region.
    pub isl_operations: u64,
    /// For each loop of a region of which none is inside another one, and for a region of nests of two: a
    /// device gains less by them.
    pub flat_operations: u64,
    pub plane_operations: u64,
    /// isl operations for all regions of a function that are tried in vain.
    pub all_operations: u64,
    /// Regions tried in a function.
    pub max_attempts: usize,
    /// A loop with a known number of iterations that stores under a branch on data becomes part of a
    /// statement. It is not parallel any more: try again without where that leaves nothing parallel
    /// ([`Scop::stores_in_subregion_loop`](pollyrs_scop::Scop)).
    pub counted_stores: bool,
    /// Shapes of arrays that were found before; of one compilation.
    pub shapes: Rc<Known>,
    /// Regions that a search before this one found, by their blocks (as [`pollyrs_scop::Region`] has them).
    pub before: Vec<Before>,
    /// Regions that were tried in the same function.
    pub tried: Rc<Tried>,
    /// Whether the loads of loops whose values were read before are taken for loads
    /// ([`Session::suspend_invariant_loads`](pollyrs_llvm_shim::Session::suspend_invariant_loads)).
    pub loads_suspended: bool,
}

/// A SCoP of an earlier search in the same function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    pub blocks: BTreeSet<ValueHandle>,
    pub wanted: Wanted,
}

/// What a later search may take of a SCoP that an earlier one found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It is compiled, or refused.
    Nothing,
    /// Any smaller region: something in it keeps the rest from the device.
    Smaller,
    /// It was too much for a later stage: single nests, and of several in a row at most half.
    Half,
}

impl Before {
    /// Whether the search must leave a region of these blocks alone.
    pub(crate) fn forbids(&self, c: &Candidate) -> bool {
        let inside = c.blocks.iter().filter(|b| self.blocks.contains(&handle_of_block(**b))).count();
        match self.wanted {
            Wanted::Nothing => inside > 0,
            Wanted::Half if c.joined => 2 * inside > self.blocks.len(),
            Wanted::Smaller | Wanted::Half => inside == self.blocks.len(),
        }
    }
}

impl Default for DetectOptions {
    fn default() -> Self {
        // A five-point stencil under a time loop takes 60 thousand operations, PolyBench's largest kernel
        // some millions.
        DetectOptions {
            isl_operations: 10_000_000,
            flat_operations: 1_250_000,
            plane_operations: 4_000_000,
            all_operations: 20_000_000,
            max_attempts: 512,
            counted_stores: true,
            shapes: Rc::default(),
            before: Vec::new(),
            tried: Rc::default(),
            loads_suspended: false,
        }
    }
}
