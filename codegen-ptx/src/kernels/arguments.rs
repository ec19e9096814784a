//! A kernel's arguments: everything that can be one, their types, and the function that has only those that
//! are used.

use crate::ir::builder::Ir;
use crate::ir::calls;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ir::types::{host_type, identifier, slot_type};
use crate::kernel::axes::{axes, helper_axis};
use crate::kernel::builder::KernelBuilder;
use crate::kernel::module::{KernelInfo, ScalarArg};
use crate::kernel::storage::{OfMapping, Storage};
use crate::kernels::entry::Draft;
use crate::ops::mma;
use crate::statement::emit::reports_nan;
use crate::statement::errno;
use pollyrs_schedule::{MappedKernel, MappedScop, Placement};
use pollyrs_scop::{AccessKind, ArrayId, Scop, Statement};
use std::collections::{BTreeMap, BTreeSet};

/// What an argument of the kernel stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument {
    Array(ArrayId),
    Scalar(ScalarArg),
    /// The counter and the flags of blocks that wait for each other; the last one.
    Flags,
}

/// The arrays that the kernel's statements access, and whether they write them.
pub(crate) fn used_arrays(scop: &Scop, kernel: &MappedKernel) -> Result<BTreeMap<ArrayId, bool>> {
    let mut used = BTreeMap::new();
    for set in kernel.domain.sets()? {
        let name = set.tuple_name()?.unwrap_or_default();
        let Some((_, statement)) = scop.statement_named(&name) else {
            return internal(format!("{} executes an unknown statement {name}", kernel.name));
        };
        for a in &statement.accesses {
            *used.entry(a.array).or_default() |= a.kind != AccessKind::Read;
        }
        if reports_nan(statement) || statement.body.iter().any(|v| calls::is_reported(host_value(*v))) {
            used.insert(errno::cell(scop)?, true);
        }
    }
    Ok(used)
}

/// Everything that can be an argument, in the order of the ABI.
pub(crate) fn candidates(
    scop: &Scop,
    mapped: &MappedScop,
    kernel: &MappedKernel,
    used: &BTreeMap<ArrayId, bool>,
) -> Vec<Argument> {
    let global = |id: &&ArrayId| mapped.placement.get(id.0) != Some(&Placement::Private);
    let arrays = used.keys().filter(global).map(|id| Argument::Array(*id));
    let of_grid = |d| [ScalarArg::TileLower(d), ScalarArg::TileCount(d), ScalarArg::TileFactor(d)];
    let scalars = (0..scop.params.len())
        .map(ScalarArg::Param)
        .chain((0..scop.invariants.len()).map(ScalarArg::Invariant))
        .chain((0..kernel.host_params.len()).map(ScalarArg::HostParam))
        .chain((0..kernel.grid.len()).flat_map(of_grid))
        .chain([ScalarArg::FirstBlock]);
    let flags = kernel.task().is_some().then_some(Argument::Flags);
    arrays.chain(scalars.map(Argument::Scalar)).chain(flags).collect()
}

pub(crate) fn argument_types(ir: &Ir, scop: &Scop, arguments: &[Argument]) -> Result<Vec<Type>> {
    arguments
        .iter()
        .map(|a| match a {
            Argument::Array(_) | Argument::Flags => Ok(ir.ptr_type()),
            // An invariant of a type that cannot be passed is an error only if it is used: i64 stands in.
            Argument::Scalar(ScalarArg::Invariant(i)) => {
                Ok(slot_type(ir, host_type(scop.invariants[*i].value)).unwrap_or(ir.i64_type()))
            }
            Argument::Scalar(_) => Ok(ir.i64_type()),
        })
        .collect()
}

/// Tasks with updates that should fit a multiprocessor at once.
const TASKS: u32 = 2;

/// Moves the draft's blocks into a function that has the used arguments only.
pub(crate) fn finish<'k, S: Storage<'k> + OfMapping<'k>>(
    k: &KernelBuilder<'k, S>,
    from: &Draft<'_, '_>,
) -> Result<KernelInfo> {
    let Draft { function: draft, arguments, types, .. } = *from;
    let kept: BTreeSet<usize> = (0..arguments.len()).filter(|i| draft.param(*i as u32).is_used()).collect();
    let kept_types: Vec<_> = kept.iter().map(|i| types[*i]).collect();
    let name = identifier(&format!("{}_{}", k.scop.name, k.kernel().name));
    if k.module.function(&name).is_some() {
        return internal(format!("two kernels are named {name}"));
    }
    let function = k.module.add_function(&name, k.ir.ctx.void_type().function(&kept_types));
    let mut info = info(k, name)?;
    for (at, i) in kept.iter().enumerate() {
        let label = match arguments[*i] {
            Argument::Array(id) => {
                info.arrays.push(id);
                add_array_attributes(from.kernel, function, at as u32 + 1, from.used[&id]);
                k.scop.array(id).name.clone()
            }
            Argument::Flags => "flags".into(),
            Argument::Scalar(s) => {
                info.scalars.push(s);
                scalar_name(k.scop, from.kernel, s)
            }
        };
        let new = function.param(at as u32);
        draft.param(*i as u32).replace_uses(new);
        new.set_name(&label);
    }
    for block in draft.blocks() {
        block.remove();
        block.append_to(function);
    }
    add_attributes(k, from.kernel, function);
    Ok(info)
}

/// What the host has to know of a kernel, apart from its arguments.
fn info<'k, S: Storage<'k> + OfMapping<'k>>(k: &KernelBuilder<'k, S>, name: String) -> Result<KernelInfo> {
    let (kernel, shared) = (k.kernel(), k.storage.shared_memory());
    let mut info = KernelInfo {
        name,
        arrays: Vec::new(),
        scalars: Vec::new(),
        block: [1; 3],
        has_barrier: k.has_barrier,
        shared_bytes: shared.bytes,
        plain_shared_bytes: shared.plain_bytes,
        exchange_bytes: 0,
        slice_tiles: crate::kernel::grid::slice_tiles(k)?,
        graph: kernel.task().is_some(),
        late: false,
        entry: None,
    };
    if shared.products {
        let threads: u32 = kernel.block.iter().map(|b| b.size).product();
        info.exchange_bytes = threads * mma::EXCHANGE_BYTES;
    }
    for (axis, b) in axes(kernel)?.into_iter().zip(&kernel.block) {
        if let Some(axis) = axis {
            info.block[axis] = b.size;
        }
    }
    if kernel.team() > 1 {
        info.block[0] = kernel.team();
    }
    if let Some(t) = kernel.tiling().filter(|t| t.helpers > 1) {
        match info.block.get_mut(helper_axis(kernel)?) {
            Some(size) => *size = t.helpers,
            None => return internal("helpers in a block of three dimensions"),
        }
    }
    Ok(info)
}

/// Attributes of the pointer to an array; `index` counts from 1.
fn add_array_attributes(kernel: &MappedKernel, function: Value, index: u32, written: bool) {
    let attribute = |name| function.add_attribute(index, name, 0);
    // Other threads' stores become visible at a barrier.
    if kernel.steps().is_none() || !written {
        attribute("noalias");
    }
    attribute("captures");
    if !written {
        attribute("readonly");
    }
}

/// Attributes of the kernel as a whole.
fn add_attributes<'a, S: OfMapping<'a>>(k: &KernelBuilder<'a, S>, kernel: &MappedKernel, function: Value) {
    function.add_attribute(FUNCTION, "nounwind", 0);
    // A loop on data may be one that the program runs for ever.
    let loops = |s: &Statement| s.subregion.as_ref().is_some_and(|r| !r.loops.is_empty());
    if !k.plans.keys().any(|id| loops(&k.scop.statements[id.0])) {
        function.add_attribute(FUNCTION, "mustprogress", 0);
    }
    if let Some(t) = kernel.tiling().filter(|t| t.residents > 1) {
        function.add_string_attribute("nvvm.minctasm", &t.residents.to_string());
    }
    if !kernel.updates().is_empty() {
        function.add_string_attribute("nvvm.minctasm", &TASKS.to_string());
    }
    if k.has_barrier {
        function.add_attribute(FUNCTION, "convergent", 0);
    }
}

/// A readable name for an argument.
fn scalar_name(scop: &Scop, kernel: &MappedKernel, s: ScalarArg) -> String {
    match s {
        ScalarArg::Param(i) => scop.params[i].name.clone(),
        ScalarArg::Invariant(i) => scop.invariants[i].display.clone(),
        ScalarArg::HostParam(i) => kernel.host_params[i].clone(),
        ScalarArg::TileLower(i) => format!("{}.lower", kernel.grid[i].param),
        ScalarArg::TileCount(i) => format!("{}.count", kernel.grid[i].param),
        ScalarArg::TileFactor(i) => format!("{}.factor", kernel.grid[i].param),
        ScalarArg::FirstBlock => "first.block".into(),
        ScalarArg::Stencil(i) => format!("stencil.{i}"),
    }
}
