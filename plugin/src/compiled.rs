//! What the stages make of a SCoP.

use crate::device::assembler::{Assembling, Code};
use pollyrs_codegen_ptx as codegen;
use pollyrs_schedule::{Footprint, InspectedBox, MappedScop, Parts, Slices, WorkEstimate};
use pollyrs_scop::Scop;
use pollyrs_tuning::StencilShape;
use pollyrs_tuning::remark::Model;

/// A SCoP that went through all stages.
pub struct Compiled {
    pub scop: Scop,
    pub mapped: MappedScop,
    pub kernels: codegen::KernelModule,
    /// PTX and machine code, in the making.
    pub device: Option<Assembling>,
    /// Both, once they are made.
    pub code: Option<Code>,
    /// By `ArrayId`; `None` for arrays that are not memory.
    pub footprints: Vec<Option<Footprint>>,
    pub work: WorkEstimate,
    /// By inspection of the SCoP: what the host looks at.
    pub inspected: Vec<InspectedBox>,
    /// By kernel: what slices of its launch touch, proved.
    pub slices: Vec<Option<Slices>>,
    /// By kernel: what parts of its launch touch, proved; empty: none is divided.
    pub parts: Vec<Option<Parts>>,
    /// What was fused of the time steps of a stencil, or why nothing was; `None`: not tried.
    pub fused: Option<Result<Steps, String>>,
    /// What was taken from a file of tuned choices, or why nothing was; `None`: it has no entry.
    pub tuned: Option<Result<String, String>>,
    /// Set by [`Compiled::prepare`].
    pub entry: Option<codegen::Entry>,
    /// Dependences and schedule, where remarks are to tell of them.
    pub told: Option<(String, String)>,
    /// The loop nest before anything was done with it, where remarks are to tell of it.
    pub model: Option<Box<Model>>,
}

/// What was done with the time steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// For the user.
    pub what: String,
    /// If they are fused.
    pub shape: Option<StencilShape>,
}

/// Why steps are not several in a launch or tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The SCoP is mapped without; the reason is for the user.
    Reason(String),
    /// The legality checker refused what was planned: an error of ours, which keeps the original loop.
    Unproved(String),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(e: E) -> Failure {
        Failure::Reason(e.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Reason(why) => write!(f, "{why}"),
            Failure::Unproved(violation) => write!(f, "the proof failed: {violation}"),
        }
    }
}
