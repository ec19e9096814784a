//! Why a region is no SCoP, and why an expression is not affine; where in the source that is.

use crate::base::ir::{self, Block, Value};
use pollyrs_isl as isl;
use pollyrs_scop::{Location, RejectReason};

/// Why a region is no SCoP.
#[derive(Clone, Debug)]
pub(crate) struct Fail {
    pub reason: RejectReason,
    /// The block that is to blame, if it is one.
    pub block: Option<Block>,
    pub location: Option<Location>,
}

impl Fail {
    pub fn new(reason: RejectReason, block: Block) -> Fail {
        Fail { reason, block: Some(block), location: block_location(block) }
    }

    pub fn at(reason: RejectReason, inst: Value) -> Fail {
        let block = ir::parent(inst);
        Fail { reason, block, location: value_location(inst).or_else(|| block.and_then(block_location)) }
    }
}

impl From<isl::Error> for Fail {
    fn from(e: isl::Error) -> Fail {
        let stage = "detection".to_string();
        let reason = match e {
            isl::Error::Quota => RejectReason::Budget { stage },
            other => RejectReason::Internal { stage, message: other.to_string() },
        };
        Fail { reason, block: None, location: None }
    }
}

/// Why an expression is not affine.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// What it depends on, in the user's words.
    Blocker(String),
    Isl(isl::Error),
}

impl From<isl::Error> for Stop {
    fn from(e: isl::Error) -> Stop {
        Stop::Isl(e)
    }
}

impl Stop {
    /// Turns a blocker into the reason that `why` builds.
    pub fn fail(self, at: Value, why: impl FnOnce(String) -> RejectReason) -> Fail {
        match self {
            Stop::Blocker(b) => Fail::at(why(b), at),
            Stop::Isl(e) => Fail::from(e),
        }
    }
}

pub(crate) fn loc(l: pollyrs_llvm_shim::SourceLoc) -> Location {
    Location { file: l.file, line: l.line, column: l.column }
}

pub(crate) fn value_location(v: Value) -> Option<Location> {
    ir::opcode(v).and_then(|_| pollyrs_llvm_shim::location(v)).map(loc)
}

pub(crate) fn block_location(b: Block) -> Option<Location> {
    pollyrs_llvm_shim::block_location(b).map(loc)
}
