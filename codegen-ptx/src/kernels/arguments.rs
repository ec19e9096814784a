//! A kernel's arguments: everything that can be one, their types, and the function that has only those that
//! are used.

use crate::ir::builder::{Ir, c_string};
use crate::ir::calls;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ir::types::{host_type, identifier, slot_type};
use crate::kernel::axes::{axes, helper_axis};
use crate::kernel::builder::KernelBuilder;
use crate::kernel::module::{KernelInfo, ScalarArg};
use crate::kernel::storage::Storage;
use crate::kernels::entry::Draft;
use crate::ops::mma;
use crate::statement::emit::reports_nan;
use crate::statement::errno;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
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
        if reports_nan(statement) || statement.body.iter().any(|v| calls::is_reported(v.0 as LLVMValueRef)) {
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
    let scalars = (0..scop.params.len())
        .map(ScalarArg::Param)
        .chain((0..scop.invariants.len()).map(ScalarArg::Invariant))
        .chain((0..kernel.host_params.len()).map(ScalarArg::HostParam))
        .chain((0..kernel.grid.len()).flat_map(|d| [ScalarArg::TileLower(d), ScalarArg::TileCount(d)]))
        .chain([ScalarArg::FirstBlock]);
    let flags = kernel.graph.then_some(Argument::Flags);
    arrays.chain(scalars.map(Argument::Scalar)).chain(flags).collect()
}

pub(crate) fn argument_types(ir: &Ir, scop: &Scop, arguments: &[Argument]) -> Result<Vec<LLVMTypeRef>> {
    arguments
        .iter()
        .map(|a| match a {
            Argument::Array(_) | Argument::Flags => Ok(ir.ptr_type()),
            // An invariant of a type that cannot be passed is an error only if it is used: i64 stands in.
            Argument::Scalar(ScalarArg::Invariant(i)) => {
                Ok(slot_type(ir, host_type(scop.invariants[*i].value.0)).unwrap_or(ir.i64_type()))
            }
            Argument::Scalar(_) => Ok(ir.i64_type()),
        })
        .collect()
}

/// Tasks with updates that should fit a multiprocessor at once.
const TASKS: u32 = 2;

/// Moves the draft's blocks into a function that has the used arguments only.
pub(crate) fn finish<'k, S: Storage<'k>>(
    k: &KernelBuilder<'k, S>,
    from: &Draft<'_, '_>,
) -> Result<KernelInfo> {
    let Draft { function: draft, arguments, types, .. } = *from;
    // SAFETY: the draft has one parameter an argument.
    let kept: BTreeSet<usize> = (0..arguments.len())
        .filter(|i| unsafe { !LLVMGetFirstUse(LLVMGetParam(draft, *i as u32)).is_null() })
        .collect();
    let kept_types: Vec<_> = kept.iter().map(|i| types[*i]).collect();
    let name = identifier(&format!("{}_{}", k.scop.name, k.kernel.name));
    let c_name = c_string(&name);
    // SAFETY: live module; the name is checked to be free.
    let function = unsafe {
        if !LLVMGetNamedFunction(k.module, c_name.as_ptr()).is_null() {
            return internal(format!("two kernels are named {name}"));
        }
        let ty = function_type(LLVMVoidTypeInContext(k.ir.ctx), &kept_types);
        LLVMAddFunction(k.module, c_name.as_ptr(), ty)
    };
    let mut info = info(k, name)?;
    for (at, i) in kept.iter().enumerate() {
        let label = match arguments[*i] {
            Argument::Array(id) => {
                info.arrays.push(id);
                add_array_attributes(k, function, at as u32 + 1, from.used[&id]);
                k.scop.array(id).name.clone()
            }
            Argument::Flags => "flags".into(),
            Argument::Scalar(s) => {
                info.scalars.push(s);
                scalar_name(k, s)
            }
        };
        // SAFETY: both functions have the parameter, of one type.
        unsafe {
            let new = LLVMGetParam(function, at as u32);
            LLVMReplaceAllUsesWith(LLVMGetParam(draft, *i as u32), new);
            LLVMSetValueName2(new, label.as_ptr().cast(), label.len());
        }
    }
    // SAFETY: each block is taken out of the draft and put at the end of the function, so order and entry
    // stay.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(draft);
        while !block.is_null() {
            let next = LLVMGetNextBasicBlock(block);
            LLVMRemoveBasicBlockFromParent(block);
            LLVMAppendExistingBasicBlock(function, block);
            block = next;
        }
    }
    add_attributes(k, function);
    Ok(info)
}

/// What the host has to know of a kernel, apart from its arguments.
fn info<'k, S: Storage<'k>>(k: &KernelBuilder<'k, S>, name: String) -> Result<KernelInfo> {
    let shared = k.storage.shared_memory();
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
        graph: k.kernel.graph,
        late: false,
        entry: None,
    };
    if shared.products {
        let threads: u32 = k.kernel.block.iter().map(|b| b.size).product();
        info.exchange_bytes = threads * mma::EXCHANGE_BYTES;
    }
    for (axis, b) in axes(k.kernel)?.into_iter().zip(&k.kernel.block) {
        if let Some(axis) = axis {
            info.block[axis] = b.size;
        }
    }
    if k.kernel.team > 1 {
        info.block[0] = k.kernel.team;
    }
    if let Some(t) = k.kernel.tiling.as_ref().filter(|t| t.helpers > 1) {
        match info.block.get_mut(helper_axis(k.kernel)?) {
            Some(size) => *size = t.helpers,
            None => return internal("helpers in a block of three dimensions"),
        }
    }
    Ok(info)
}

/// Attributes of the pointer to an array; `index` counts from 1.
fn add_array_attributes<'k, S: Storage<'k>>(
    k: &KernelBuilder<'k, S>,
    function: LLVMValueRef,
    index: u32,
    written: bool,
) {
    let attribute = |name| add_enum_attribute(k.ir.ctx, function, index, name, 0);
    // Other threads' stores become visible at a barrier.
    if k.kernel.steps.is_none() || !written {
        attribute("noalias");
    }
    attribute("captures");
    if !written {
        attribute("readonly");
    }
}

/// Attributes of the kernel as a whole.
fn add_attributes<'k, S: Storage<'k>>(k: &KernelBuilder<'k, S>, function: LLVMValueRef) {
    let context = k.ir.ctx;
    add_enum_attribute(context, function, FUNCTION, "nounwind", 0);
    // A loop on data may be one that the program runs for ever.
    let loops = |s: &Statement| s.subregion.as_ref().is_some_and(|r| !r.loops.is_empty());
    if !k.plans.keys().any(|id| loops(&k.scop.statements[id.0])) {
        add_enum_attribute(context, function, FUNCTION, "mustprogress", 0);
    }
    if let Some(t) = k.kernel.tiling.as_ref().filter(|t| t.residents > 1) {
        add_string_attribute(context, function, "nvvm.minctasm", &t.residents.to_string());
    }
    if !k.kernel.task.updates.is_empty() {
        add_string_attribute(context, function, "nvvm.minctasm", &TASKS.to_string());
    }
    if k.has_barrier {
        add_enum_attribute(context, function, FUNCTION, "convergent", 0);
    }
}

/// A readable name for an argument.
pub(crate) fn scalar_name<'k, S: Storage<'k>>(k: &KernelBuilder<'k, S>, s: ScalarArg) -> String {
    match s {
        ScalarArg::Param(i) => k.scop.params[i].name.clone(),
        ScalarArg::Invariant(i) => k.scop.invariants[i].display.clone(),
        ScalarArg::HostParam(i) => k.kernel.host_params[i].clone(),
        ScalarArg::TileLower(i) => format!("{}.lower", k.kernel.grid[i].param),
        ScalarArg::TileCount(i) => format!("{}.count", k.kernel.grid[i].param),
        ScalarArg::FirstBlock => "first.block".into(),
        ScalarArg::Stencil(i) => format!("stencil.{i}"),
    }
}
