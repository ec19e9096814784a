//! Fused kernels: several time steps of a stencil in one launch, after a [`StencilPlan`].
//!
//! # Invariants
//! - Every value is computed by copies of the statement's instructions in their order, so results are the
//!   original's bit for bit. Values at points that the program does not compute are thrown away by selects;
//!   loads there go to valid addresses.
//! - A launch reads live buffers from `src` and writes them, inside of their boxes, to `dst`: two copies of
//!   the array. What lies outside of a box is read from the program's array and written by nobody. Other
//!   buffers are written by complete launches only, in the program's array.
//! - Register queues are SSA values: the row loop is unrolled as often as the longest queue is long, so a
//!   queue is renamed, never moved, and nothing is indexed at run time.
//!
//! - All warps of a block pass the same number of barriers, whichever versions of the code their rows and
//!   columns need ([`emit`]).
//!
//! # Arguments
//! For each array with live buffers `src` and `dst`, then the program's arrays, then parameters, invariants
//! and [`StencilScalar`]s. The copy of an array has the array's layout: the same address arithmetic serves
//! both.

mod blocks;
mod emit;
mod entry;
mod exchange;
mod inside;
mod iteration;
mod memory;
mod node;
mod opaque;
mod points;
mod ramp;
mod reports;
mod tile;
mod warp_transpose;
pub(crate) mod work;

use crate::ir::builder::Ir;
use crate::ir::calls::verify;
use crate::ir::error::{Result, internal, unsupported};
use crate::ir::llvm::*;
use crate::ir::types::{host_type, identifier, slot_type};
use crate::kernel::module::{Depth, FusedKernels, KernelInfo, KernelModule, Part, ScalarArg, StencilScalar};
use crate::statement::errno;
use pollyrs_schedule::MappedScop;
use pollyrs_schedule::stencil::{Config, StencilPlan, plan};
use pollyrs_scop::{AccessValue, ArrayId, Scop};
use std::collections::{BTreeMap, BTreeSet};

/// Adds fused kernels behind those of the mapping, one for each of `plans`, which are for one stencil,
/// deepest first. On an error the module is as it was.
pub fn fuse(km: &mut KernelModule, scop: &Scop, mapped: &MappedScop, plans: &[StencilPlan]) -> Result<()> {
    let Some(deepest) = plans.first() else { return internal("no plan") };
    let threads = if deepest.stencil.dims == 3 { [8, 32] } else { [1, 256] };
    let copying = Config { threads, rows: 4, ..Config::PLAIN };
    let copy = plan::with_config(&deepest.stencil, copying);
    let live = deepest.stencil.buffers.iter().filter(|b| b.live).map(|b| b.array);
    let copied: Vec<ArrayId> = live.collect::<BTreeSet<_>>().into_iter().collect();
    let scalars = scalars(deepest, scop);
    let _budget = scop.ctx.budget(pollyrs_schedule::DEFAULT_BUDGET);
    let family = Family { module: km.module(), scop, mapped, copied: &copied, scalars: &scalars };
    let mut made = Vec::new();
    let mut result = Ok(());
    for p in plans.iter().chain([&copy]) {
        let kind = if p.config.complete { "C" } else { "F" };
        let name = identifier(&format!("{}_{kind}{}", scop.name, p.config.fuse));
        match build(&family, p, &name) {
            Ok(info) => made.push(info),
            Err(e) => {
                result = Err(e);
                break;
            }
        }
    }
    let result = result.and_then(|()| verify(km.module()));
    if result.is_err() || made.len() != plans.len() + 1 {
        for k in &made {
            if let Some(f) = km.module().function(&k.name) {
                // SAFETY: a function without uses.
                unsafe { f.delete_function() };
            }
        }
        return result.and(internal("fused kernels are missing"));
    }
    // The first arguments are src and dst of each copied array.
    let directed = |k: &KernelInfo, forward: bool| {
        let mut k = k.clone();
        for (i, a) in copied.iter().enumerate() {
            let scratch = ArrayId(scop.arrays.len() + i);
            (k.arrays[2 * i], k.arrays[2 * i + 1]) = if forward { (*a, scratch) } else { (scratch, *a) };
        }
        k
    };
    let mut depths = Vec::new();
    for (k, plan) in made.iter().zip(plans) {
        let forward = km.kernels.len();
        km.kernels.extend([directed(k, true), directed(k, false)]);
        depths.push(Depth { plan: plan.clone(), forward, backward: forward + 1 });
    }
    let copy_back = km.kernels.len();
    km.kernels.extend(made.last().map(|k| directed(k, false)));
    km.fused = Some(FusedKernels { depths, copy, copy_back, scalars, copied });
    Ok(())
}

fn scalars(plan: &StencilPlan, scop: &Scop) -> Vec<StencilScalar> {
    use StencilScalar::*;
    let s = &plan.stencil;
    let mut out = vec![Time, Zero, Count(1), Count(2), Width(1), Width(2)];
    out.extend(
        [Part::Side, Part::Middle].into_iter().flat_map(|p| [Rows(p), Less(p), RowBlocks(p), Columns(p)]),
    );
    out.extend((0..s.dims).flat_map(|d| [First(d), Last(d)]));
    for b in 0..s.buffers.len() {
        out.extend((0..s.dims).flat_map(|d| [Lower(b, d), Upper(b, d), OuterLower(b, d), OuterUpper(b, d)]));
    }
    for (k, _) in s.steps.iter().enumerate().filter(|(_, step)| step.partial) {
        out.extend((0..s.dims).flat_map(|d| [StepLower(k, d), StepUpper(k, d)]));
    }
    for (k, step) in s.steps.iter().enumerate() {
        for c in 0..step.cases.len() {
            out.extend((0..s.dims).flat_map(|d| [CaseLower(k, c, d), CaseUpper(k, c, d)]));
        }
    }
    let arrays: BTreeSet<usize> = s.buffers.iter().map(|b| b.array.0).collect();
    out.extend(
        arrays
            .into_iter()
            .filter(|a| *a < scop.arrays.len())
            .flat_map(|a| [Begin(ArrayId(a)), End(ArrayId(a))]),
    );
    out
}

/// The memory arrays that the statements access, and whether they write them.
fn accessed(scop: &Scop) -> BTreeMap<ArrayId, bool> {
    let mut out = BTreeMap::new();
    for a in scop.statements.iter().flat_map(|s| &s.accesses) {
        *out.entry(a.array).or_default() |= a.kind != pollyrs_scop::AccessKind::Read;
    }
    out
}

/// The type of a buffer's elements and the alignment of all accesses; they agree, or the kernel is not built.
fn element_types(scop: &Scop, plan: &StencilPlan) -> Result<Vec<(Type, u32)>> {
    let mut found: BTreeMap<ArrayId, (Type, u32)> = BTreeMap::new();
    for a in scop.statements.iter().flat_map(|s| &s.accesses) {
        let AccessValue::Instruction(i) = a.value else {
            return internal("a stencil with a scalar");
        };
        let i = host_value(i);
        let (ty, align, plain) = {
            let store = i.opcode() == inkwell::llvm_sys::LLVMOpcode::LLVMStore;
            let ty = (if store { i.operand(0) } else { i }).ty();
            let ordering = i.ordering();
            let atomic = ordering != inkwell::llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
            (ty, i.alignment(), !i.is_volatile() && !atomic)
        };
        if !plain {
            return unsupported("a volatile or atomic access");
        }
        let bytes = scop.array(a.array).elem.bytes();
        let entry = found.entry(a.array).or_insert((ty, bytes));
        if entry.0 != ty {
            return unsupported("one array with elements of two types");
        }
        entry.1 = entry.1.min(align);
    }
    let missing = || crate::CodegenError::Internal("a buffer is not accessed".into());
    plan.stencil.buffers.iter().map(|b| found.get(&b.array).copied().ok_or_else(missing)).collect()
}

/// What the kernels of one stencil have in common.
struct Family<'f> {
    module: Module,
    scop: &'f Scop,
    mapped: &'f MappedScop,
    /// Arrays with live buffers.
    copied: &'f [ArrayId],
    scalars: &'f [StencilScalar],
}

/// One kernel. Its `arrays` name the program's arrays for `src` and `dst` too.
fn build(family: &Family<'_>, plan: &StencilPlan, name: &str) -> Result<KernelInfo> {
    let Family { module, scop, mapped, copied, scalars } = *family;
    let ir = Ir::new(module.context());
    let elements = element_types(scop, plan)?;
    let mut arrays: Vec<ArrayId> = copied.iter().flat_map(|a| [*a, *a]).collect();
    arrays.extend(accessed(scop).keys());
    let cell = if reports::any(scop, plan) { Some(errno::cell(scop)?) } else { None };
    arrays.extend(cell);
    let args: Vec<ScalarArg> = (0..scop.params.len())
        .map(ScalarArg::Param)
        .chain((0..scop.invariants.len()).map(ScalarArg::Invariant))
        .chain((0..scalars.len()).map(ScalarArg::Stencil))
        .collect();
    let function = without_blocks(&ir, family, plan, name, (&arrays, cell), &args)?;
    let result = emit::emit_kernel(emit::Input {
        ir: &ir,
        module,
        function,
        scop,
        mapped,
        plan,
        copied,
        elements: &elements,
        arrays: &arrays,
        args: &args,
        scalars,
    });
    match result {
        Ok(shared_bytes) => Ok(KernelInfo {
            name: name.into(),
            arrays,
            scalars: args,
            block: [plan.config.threads[1], plan.config.threads[0], 1],
            has_barrier: true,
            shared_bytes,
            plain_shared_bytes: shared_bytes,
            exchange_bytes: 0,
            slice_tiles: 0,
            graph: false,
            late: false,
            entry: None,
        }),
        Err(e) => {
            // SAFETY: a function without uses; its blocks go with it.
            unsafe { function.delete_function() };
            Err(e)
        }
    }
}

/// The function of a kernel, with what is known of its arguments.
fn without_blocks(
    ir: &Ir,
    family: &Family<'_>,
    plan: &StencilPlan,
    name: &str,
    (arrays, cell): (&[ArrayId], Option<ArrayId>),
    args: &[ScalarArg],
) -> Result<Value> {
    let Family { module, scop, copied, .. } = *family;
    let mut types = vec![ir.ptr_type(); arrays.len()];
    types.extend(args.iter().map(|a| match a {
        ScalarArg::Invariant(i) => {
            slot_type(ir, host_type(scop.invariants[*i].value)).unwrap_or(ir.i64_type())
        }
        _ => ir.i64_type(),
    }));
    if module.function(name).is_some() {
        return internal(format!("two kernels are named {name}"));
    }
    let function = module.declare(name, ir.void_type().function(&types));
    for (i, a) in arrays.iter().enumerate() {
        let attribute = |name| function.add_attribute(i as u32 + 1, name, 0);
        attribute("captures");
        // `dst` may be the program's array, of which other elements are read. `src` could be said to be
        // without alias; but then its loads may be moved over barriers, and ptxas does, to where they are
        // waited for.
        let written = plan.config.complete && plan.stencil.buffers.iter().any(|b| b.array == *a);
        if i >= 2 * copied.len() && !copied.contains(a) && !written && cell != Some(*a) {
            attribute("noalias");
            attribute("readonly");
        }
    }
    // What the model counts on: the registers that so many blocks leave each other.
    function.add_string_attribute("nvvm.minctasm", &plan.model.resident.max(1).to_string());
    for a in ["nounwind", "mustprogress", "convergent"] {
        function.add_attribute(FUNCTION, a, 0);
    }
    Ok(function)
}
