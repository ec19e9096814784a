//! What the host's code of one SCoP is made from, and its stack slots.

use crate::host::abi::{ARRAY_WORDS, INSPECTED_WORDS, PART_WORDS};
use crate::host::residency::Held;
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::kernel::module::{FusedKernels, KernelInfo};
use pollyrs_schedule::stencil::StencilPlan;
use pollyrs_schedule::{Footprint, InspectedBox, MappedScop, Parts, Slices, WorkEstimate};
use pollyrs_scop::{ArrayId, ArrayKind, Scop};
use std::collections::BTreeMap;

/// Everything about one SCoP that its host code depends on.
pub struct HostPlan<'a> {
    pub scop: &'a Scop,
    pub mapped: &'a MappedScop,
    pub kernels: &'a [KernelInfo],
    pub images: &'a [Image],
    /// Emulated kernels, one a kernel, in the host module.
    pub emulated: Option<&'a [Value]>,
    /// The emulated kernels call the run-time library at each access.
    pub checked: bool,
    /// By `ArrayId`; `None` for arrays that are not memory.
    pub footprints: &'a [Option<Footprint>],
    pub work: &'a WorkEstimate,
    /// By inspection of the SCoP, and behind them what its roundings load.
    pub inspected: &'a [InspectedBox],
    /// Kernels of several time steps that run before the mapping's.
    pub fused: Option<&'a FusedKernels>,
    /// Arrays that may stay on the device between the function's SCoPs.
    pub held: Option<Held<'a>>,
    /// By kernel: what slices of its launch touch, where it may be launched in slices.
    pub slices: &'a [Option<Slices>],
    /// By kernel: what parts of its launch touch, where several devices may share it.
    pub parts: &'a [Option<Parts>],
}

/// The block in front of a region, and the parameters' values there.
pub struct Entry {
    pub check: Block,
    /// `i64`, by parameter index.
    pub params: Vec<Value>,
}

/// Stack slots of one SCoP.
pub(crate) struct Slots {
    /// `[n x PollyrsArray]`
    pub arrays: Value,
    /// `[max scalars x i64]`
    pub scalars: Value,
    /// `[2 x [n x i64]]`, where launches have slices: bytes of each array that are needed, and that are done.
    pub slices: Value,
    /// `[n x PollyrsPart]`, where launches have parts: what one touches and writes of each array. And the
    /// scalars of one that is no part of a grid.
    pub parts: Value,
    pub part_scalars: Value,
    /// `[9 x i64]`, where values are inspected: rows, and what is found.
    pub inspected: Value,
    /// 8 bytes for each live-out cell and each fault cell.
    pub live_out: BTreeMap<ArrayId, Value>,
}

impl Slots {
    pub(crate) fn new(
        ir: &Ir,
        function: Value,
        scop: &Scop,
        plan: &HostPlan<'_>,
        arrays: &[ArrayId],
    ) -> Slots {
        let i64_array = |n: u64| ir.i64_type().array_of(n);
        ir.at_start(function.entry());
        let copies = plan.fused.map_or(0, |f| f.copied.len());
        let words = ARRAY_WORDS * (arrays.len() + copies).max(1) as u64;
        let scalars = plan.kernels.iter().map(|k| k.scalars.len()).max().unwrap_or(0).max(1);
        let of_fused = |f: &FusedKernels| most_entries(arrays.len(), &f.copy);
        let entries = plan.fused.map_or(arrays.len(), of_fused);
        let on_host =
            |a: &ArrayId| scop.array(*a).live_out() || matches!(scop.array(*a).kind, ArrayKind::Fault { .. });
        let live: Vec<ArrayId> = (0..scop.arrays.len()).map(ArrayId).filter(on_host).collect();
        // Slots of parts are zero at first: ranks compare them as words, whatever is in the bytes behind a
        // short value.
        let scalar_slots = |name: &str| {
            let slots = ir.alloca(i64_array(scalars as u64), name);
            if plan.mapped.divides {
                let slot = |at: usize| ir.byte_offset(slots, ir.int(8 * at as i64));
                for at in 0..scalars {
                    ir.store(ir.int(0), slot(at));
                }
            }
            slots
        };
        Slots {
            arrays: ir.alloca(i64_array(words), "pollyrs.arrays"),
            scalars: scalar_slots("pollyrs.scalars"),
            slices: match plan.slices.iter().any(Option::is_some) {
                true => ir.alloca(i64_array(2 * arrays.len().max(1) as u64), "pollyrs.slices"),
                false => ir.null(),
            },
            parts: match plan.mapped.divides {
                true => ir.alloca(i64_array(PART_WORDS * entries.max(1) as u64), "pollyrs.parts"),
                false => ir.null(),
            },
            part_scalars: match plan.fused.is_some() && plan.mapped.divides {
                true => scalar_slots("pollyrs.part.scalars"),
                false => ir.null(),
            },
            inspected: match scop.is_inspected() {
                false => ir.null(),
                true => ir.alloca(i64_array(INSPECTED_WORDS), "pollyrs.inspected"),
            },
            live_out: live.into_iter().map(|a| (a, ir.alloca(ir.i64_type(), "pollyrs.live"))).collect(),
        }
    }
}

/// Device code of all kernels of a SCoP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub kind: ImageKind,
    /// 70 for sm_70.
    pub arch: u32,
    /// Without a trailing NUL.
    pub data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    Ptx = 1,
    Cubin = 2,
    /// A cubin without the kernels that are late.
    EarlyCubin = 3,
}

/// Entries that a launch of fused steps has at most.
fn most_entries(arrays: usize, plan: &StencilPlan) -> usize {
    arrays + 2 * plan.stencil.buffers.len()
}
