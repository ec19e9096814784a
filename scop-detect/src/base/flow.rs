//! When the blocks of a region are executed: domains of blocks, entries of loops, and parts that are executed
//! as a whole.

use crate::base::fail::Fail;
use crate::base::ir::{self, Block, Value};
use crate::base::place::Place;
use isl::{DimType, PwAff, Set};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::LoopId;
use pollyrs_scop::RejectReason;
use std::collections::BTreeMap;

/// What is known of control flow in the region.
pub(crate) struct Flow {
    /// All blocks in program order.
    pub order: Vec<Block>,
    /// The iterations that execute a block; unnamed tuple, one dimension for each loop of the region around
    /// it.
    pub domains: BTreeMap<Block, Set>,
    pub loops: BTreeMap<Block, Vec<LoopId>>,
    /// The iterations of the surrounding loops that enter a loop, and its backedge-taken count there.
    pub entered: BTreeMap<LoopId, (Set, PwAff)>,
    /// The side of a conditional branch where it is taken: (block, successor) to the iterations.
    pub edges: BTreeMap<(Block, Block), Set>,
    pub subregions: Vec<Subregion>,
    /// The subregion that a block is in. Such blocks are not in `order`; their domain and loops are those of
    /// the head.
    pub within: BTreeMap<Block, usize>,
}

/// The same function over `more` further dimensions.
pub(crate) fn lift(p: PwAff, more: usize) -> isl::Result<PwAff> {
    p.add_dims(DimType::In, more as u32)
}

/// A part of the control-flow graph that is executed as a whole.
pub(crate) struct Subregion {
    /// The block in front.
    pub head: Block,
    /// The block behind.
    pub exit: Block,
    /// The head's own branch depends on data: one of its ways may lead past the blocks.
    pub branches: bool,
    /// In reverse postorder.
    pub blocks: Vec<Block>,
    /// Outer before inner.
    pub loops: Vec<LoopId>,
    /// The loops around each block that have a bound, those of the model first, and the iterations that may
    /// reach it.
    pub places: BTreeMap<Block, Place>,
}

impl Subregion {
    /// Where an instruction of the subregion runs, at most.
    pub fn place(&self, inst: Value) -> Option<Place> {
        let place = self.places.get(&ir::parent(inst)?)?;
        Some(Place { inst: Some(inst), ..place.clone() })
    }

    /// The condition by which the head decides.
    pub fn head_condition(&self) -> Option<Value> {
        ir::branch_condition(self.head).filter(|_| self.branches)
    }
}

impl Flow {
    /// Where something is evaluated in a block.
    pub fn place(&self, b: Block, inst: Option<Value>) -> Result<Place, Fail> {
        let missing = || Fail::new(RejectReason::ControlFlow, b);
        let loops = self.loops.get(&b).ok_or_else(missing)?.clone();
        Ok(Place::new(loops, self.domains.get(&b).ok_or_else(missing)?.clone(), inst))
    }

    /// Where an instruction runs, at most.
    pub fn place_of(&self, v: Value) -> Option<Place> {
        let block = ir::parent(v)?;
        match self.within.get(&block) {
            Some(k) => self.subregions[*k].place(v),
            None => self.place(block, Some(v)).ok(),
        }
    }

    /// The subregion from which an edge comes.
    pub fn subregion_edge(&self, from: Block, to: Block) -> Option<usize> {
        let own = |s: &Subregion| s.branches && s.head == from && s.exit == to;
        self.within.get(&from).copied().or_else(|| self.subregions.iter().position(own))
    }

    /// The block of the model that stands for `b`: the head, for blocks of a subregion.
    pub fn representative(&self, b: Block) -> Block {
        self.within.get(&b).map_or(b, |k| self.subregions[*k].head)
    }
}
