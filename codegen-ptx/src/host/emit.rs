//! The host plan: the code that replaces a SCoP's region in the user's function.
//!
//! ```text
//! small:   less work than a device takes to begin with?                                    yes → host
//! check:   parameters in range? assumptions hold?                                   no → host_begin(reason)
//! ranges:  touched ranges small and disjoint?                                       no → host_begin(reason)
//! offload: describe the arrays; run = pollyrs_rt_begin(...)                         NULL → host_begin
//!          host loops { pollyrs_rt_launch(run, kernel, blocks, scalars) }
//!          pollyrs_rt_end(run)                                                  nonzero → host_begin
//!          read the values that live on → merge
//! host_begin: pollyrs_rt_host_begin
//! host:    the original region; pollyrs_rt_host_end → merge
//! ```
//!
//! # Invariants
//! - Nothing is written to the program's memory before `pollyrs_rt_end` succeeds, so every edge to `host_begin` is safe.
//! - The checks have no side effects and cannot trap, whatever the parameters: overflow is computed, never assumed away.
//!   Affine expressions are evaluated in 64 bits; they cannot wrap when every 64-bit parameter is within ±2^46 (checked
//!   first in the conjunction, and a false conjunct hides what the others computed from garbage). Linear offsets, which
//!   multiply sizes, use overflow-checked arithmetic, and every touched range must lie within ±2^46 bytes of its base.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::affine::walk;
use crate::host::checks::Gate;
use crate::host::launch::{Launcher, emit_choice, emit_launch, emit_shapes, emit_work};
use crate::host::plan::{Entry, HostPlan, Slots};
use crate::host::ranges::{FAULT, store_array};
use crate::host::{descriptor, small, stencil};
use crate::ir::builder::{Ir, erase, module_context, terminator};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl as isl;
use pollyrs_llvm_shim as shim;
use pollyrs_schedule::Placement;
use pollyrs_scop::{ArrayId, ArrayKind, Scop, ValueHandle};
use std::collections::{BTreeMap, BTreeSet};

/// Reason index that means "ask the run-time library".
const REASON_RUNTIME: u32 = u32::MAX;

/// Creates the check block and computes the parameters in it. Must run for every SCoP of a function before any is
/// [`emit`]ted, because it needs the analyses that `emit` invalidates. `regions` are those of all SCoPs of the function.
pub fn prepare(
    analyses: &shim::Analyses<'_>,
    scop: &Scop,
    regions: &shim::Regions,
) -> Result<Entry, CodegenError> {
    let blocks: Vec<LLVMBasicBlockRef> = blocks(scop).collect();
    let check = analyses
        .split_entry(scop.region.entry.0 as LLVMBasicBlockRef, &blocks)
        .ok_or(CodegenError::Internal("the region's entry cannot be split".into()))?;
    let before =
        terminator(check).ok_or(CodegenError::Internal("the check block has no terminator".into()))?;
    // SAFETY: a live instruction; the builder is positioned before it.
    let ctx = unsafe { LLVMGetTypeContext(LLVMTypeOf(LLVMGetBasicBlockParent(check))) };
    let ir = Ir::new(ctx);
    ir.before(before);
    let mut params = Vec::new();
    for p in &scop.params {
        let v = analyses
            .expand(p.scev.0, before, regions)
            .ok_or_else(|| CodegenError::Internal(format!("parameter {} cannot be computed", p.name)))?;
        // The original may never look at the value (an uninitialised bound behind a guard); the checks do.
        params.push(ir.to_i64(ir.freeze(v)));
    }
    Ok(Entry { check, params })
}

/// The blocks of a SCoP.
pub fn blocks(scop: &Scop) -> impl Iterator<Item = LLVMBasicBlockRef> {
    scop.region.blocks.iter().map(|b| b.0 as LLVMBasicBlockRef)
}

/// The values defined in the region and used outside, each once, in program order.
pub fn live_outs(scop: &Scop) -> Vec<ValueHandle> {
    let inside: BTreeSet<usize> = scop.region.blocks.iter().map(|b| b.0).collect();
    let mut out = Vec::new();
    for b in &scop.region.blocks {
        // SAFETY: live blocks and instructions of the host function.
        unsafe {
            let mut i = LLVMGetFirstInstruction(b.0 as LLVMBasicBlockRef);
            while !i.is_null() {
                let mut u = LLVMGetFirstUse(i);
                while !u.is_null() {
                    let user = LLVMGetUser(u);
                    let block = (!LLVMIsAInstruction(user).is_null()).then(|| LLVMGetInstructionParent(user));
                    // A block that nothing branches to is an error block, connected again later.
                    let cut = |b| LLVMGetFirstUse(LLVMBasicBlockAsValue(b)).is_null();
                    if block.is_none_or(|b| !inside.contains(&(b as usize)) && !cut(b)) {
                        out.push(ValueHandle(i as usize));
                        break;
                    }
                    u = LLVMGetNextUse(u);
                }
                i = LLVMGetNextInstruction(i);
            }
        }
    }
    out
}

/// Whether every value that lives on after the region comes back through an array; otherwise the offender.
pub fn check_live_outs(scop: &Scop) -> Result<(), CodegenError> {
    for v in live_outs(scop) {
        if live_out_array(scop, v).is_none() {
            return Err(CodegenError::Internal("a value of the region lives on but is not modelled".into()));
        }
    }
    Ok(())
}

fn live_out_array(scop: &Scop, v: ValueHandle) -> Option<ArrayId> {
    let at = scop.arrays.iter().position(|a| match a.kind {
        ArrayKind::Scalar { value, live_out } => live_out && value == v,
        ArrayKind::Phi { phi, live_out } => live_out && phi == v,
        ArrayKind::Memory { .. } | ArrayKind::Fault => false,
    });
    at.map(ArrayId)
}

/// Rewrites the region into versioned code. The result is what stands for values of the region behind it now: SCoPs there that name one of
/// them have to name that ([`rename`]).
///
/// # Safety
/// `function` is live and holds the SCoP's region, whose handles are live; `entry` comes from [`prepare`] for it.
pub unsafe fn emit(
    function: LLVMValueRef,
    plan: &HostPlan<'_>,
    entry: &Entry,
) -> Result<Vec<shim::LiveOut>, CodegenError> {
    let scop = plan.scop;
    // SAFETY: a live function.
    let module = unsafe { LLVMGetGlobalParent(function) };
    let ir = Ir::new(module_context(module));
    let device_arrays: Vec<ArrayId> = (0..scop.arrays.len())
        .filter(|i| plan.mapped.placement[*i] == Placement::Global)
        .map(ArrayId)
        .collect();

    let blocks: Vec<LLVMBasicBlockRef> =
        scop.region.blocks.iter().map(|b| b.0 as LLVMBasicBlockRef).collect();
    let (first, exit) = (scop.region.entry.0 as LLVMBasicBlockRef, scop.region.exit.0 as LLVMBasicBlockRef);
    let versioned = shim::version_region(function, entry.check, first, exit, &blocks)
        .map_err(|e| CodegenError::Internal(e.to_string()))?;

    // Stack slots live in the function's entry block, so that a SCoP in a loop reuses them.
    let slots = Slots::new(&ir, function, scop, plan, &device_arrays);

    // check
    let check_end = terminator(entry.check).ok_or(CodegenError::Internal("check block".into()))?;
    erase(check_end);
    ir.at_end(entry.check);
    let mut names = BTreeMap::new();
    for (p, v) in scop.params.iter().zip(&entry.params) {
        names.insert(p.name.clone(), *v);
    }
    let mut expr = ExprEmitter::new(&ir, names);
    let work = emit_work(&ir, &mut expr, plan.work)?;
    let cache = descriptor::cache_slot(module, &ir);
    let hold = plan.held.map(|held| held.slot);
    // SAFETY: live values of the function.
    let alone = unsafe { small::emit(&ir, function, (cache, work), hold, versioned.host_begin) };
    let refuse = ir.append_block(function, "pollyrs.host.begin");
    let mut gate = Gate { ir: &ir, function, refuse, reasons: vec![], refused: vec![] };
    gate.pass_numbers(&expr, scop)?;
    let mut ranges = gate.pass_memory(&mut expr, plan, &device_arrays, &slots)?;
    if let Some(held) = plan.held {
        for (range, id) in ranges.iter_mut().zip(&device_arrays) {
            range.flags |= held.flags(*id);
        }
    }
    let Gate { reasons, refused, .. } = gate;
    ir.br(versioned.offload);

    // The descriptor.
    let mut names: Vec<String> = device_arrays.iter().map(|a| scop.array(*a).display.clone()).collect();
    let copies = plan.fused.map_or(0, |f| f.copied.len());
    names.extend(
        plan.fused.iter().flat_map(|f| &f.copied).map(|a| format!("copy of {}", scop.array(*a).display)),
    );
    // Numbers behind the model's arrays are those of copies.
    let index_of = |a: ArrayId| match a.0.checked_sub(scop.arrays.len()) {
        None => device_arrays.iter().position(|d| *d == a).map(|i| i as u32),
        Some(copy) => (copy < copies).then_some((device_arrays.len() + copy) as u32),
    };
    let descriptor = descriptor::build(module, &ir, plan, cache, &reasons, &names, &index_of)?;

    // offload
    ir.at_end(versioned.offload);
    let range_of = |a: ArrayId| device_arrays.iter().position(|d| *d == a).map(|i| ranges[i]);
    let fused =
        plan.fused.map(|f| Ok::<_, CodegenError>((f, stencil::count(&ir, &expr, plan, f)?))).transpose()?;
    let mut described = ranges.clone();
    if let Some((f, counts)) = &fused {
        described.extend(stencil::scratch_ranges(&ir, f, counts, &range_of)?);
    }
    for r in described.iter().filter(|r| r.flags & FAULT != 0) {
        ir.store(ir.int(0), r.start);
    }
    for (i, r) in described.iter().enumerate() {
        store_array(&ir, slots.arrays, i as u64, r);
    }
    let ptr = ir.ptr_type();
    let n = ir.int32(described.len() as u32);
    let (mut types, mut args) =
        (vec![ptr, ir.double_type(), ptr, ir.i32_type()], vec![descriptor, work, slots.arrays, n]);
    let begin = on_hold(plan, "pollyrs_rt_begin", ptr, &mut types, &mut args);
    let begin = ir.declare(module, &begin, ptr, &types);
    let run = ir.call(ptr, begin, &args);
    let launches = ir.append_block(function, "pollyrs.launches");
    let begun = ir.icmp(LLVMIntNE, run, ir.null());
    let begin_block = ir.block();
    ir.cond_br(begun, launches, refuse);

    ir.at_end(launches);
    if plan.checked {
        let copied = plan.fused.iter().flat_map(|f| &f.copied);
        emit_shapes(&ir, &expr, module, scop, run, device_arrays.iter().chain(copied))?;
    }
    let mut host = plan.mapped.host.clone();
    let launch = ir.declare(
        module,
        "pollyrs_rt_launch",
        ir.void_type(),
        &[ir.ptr_type(), ir.i32_type(), ir.i64_type(), ir.ptr_type()],
    );
    if let Some((f, counts)) = &fused {
        let l = stencil::Launcher {
            function,
            plan,
            fused: f,
            params: &entry.params,
            scalars: slots.scalars,
            launch,
            run,
        };
        let first = stencil::emit_fused(&ir, &expr, &l, counts, &range_of)?;
        expr.names.insert(FIRST_TIME.into(), first);
        host = from_first_time(scop, &host)?;
    }
    for c in &plan.mapped.choices {
        let fastest = emit_choice(&ir, &mut expr, plan, c)?;
        expr.names.insert(c.param.clone(), fastest);
    }
    let ast = isl::AstBuild::from_context(scop.context.clone())?.node_from_schedule(host)?;
    let ranges: Vec<_> = device_arrays.iter().copied().zip(ranges).collect();
    let launcher = Launcher { plan, entry, slots: &slots, function, launch, run, ranges: &ranges };
    walk::emit_ast(&ir, function, &mut expr, &ast, &mut |expr, name, args| {
        emit_launch(&ir, expr, &launcher, name, args).map(|()| None)
    })?;

    let end = ir.declare(module, "pollyrs_rt_end", ir.i32_type(), &[ir.ptr_type()]);
    let status = ir.call(ir.i32_type(), end, &[run]);
    let done = ir.append_block(function, "pollyrs.done");
    let end_block = ir.block();
    let good = ir.icmp(LLVMIntEQ, status, ir.int32(0));
    ir.cond_br(good, done, refuse);

    ir.at_end(done);
    for l in &versioned.live_outs {
        let array = live_out_array(scop, ValueHandle(l.value as usize)).ok_or_else(|| {
            CodegenError::Internal(format!(
                "the live value {} is not modelled",
                crate::ir::llvm::text_of(l.value)
            ))
        })?;
        let slot = slots.live_out[&array];
        // SAFETY: a live value.
        let value = ir.load(unsafe { LLVMTypeOf(l.value) }, slot);
        ir.add_incoming(l.phi, value, done);
    }
    ir.br(versioned.merge);

    let runtime = ir.int32(REASON_RUNTIME);
    let why = refused.into_iter().chain([begin_block, end_block].map(|b| (runtime, b))).collect();
    bracket_host(&ir, module, plan, descriptor, &versioned, refuse, why, alone)?;
    Ok(versioned.live_outs)
}

/// The values that a SCoP takes from outside, after other regions of its function were rewritten.
pub fn rename(scop: &mut Scop, live_outs: &[shim::LiveOut]) {
    let rename = |v: &mut ValueHandle| {
        if let Some(l) = live_outs.iter().find(|l| l.value as usize == v.0) {
            *v = ValueHandle(l.phi as usize);
        }
    };
    scop.invariants.iter_mut().for_each(|i| rename(&mut i.value));
    for a in &mut scop.arrays {
        if let ArrayKind::Memory { base } = &mut a.kind {
            rename(base);
        }
    }
}

/// The name of a function of the run-time library, and its arguments, in a function with a hold or in one without.
fn on_hold(
    plan: &HostPlan<'_>,
    name: &str,
    ptr: LLVMTypeRef,
    types: &mut Vec<LLVMTypeRef>,
    args: &mut Vec<LLVMValueRef>,
) -> String {
    let Some(held) = plan.held else { return name.to_owned() };
    types.insert(0, ptr);
    args.insert(0, held.slot);
    format!("{name}_held")
}

/// isl's name for the first time iteration that the mapping's kernels run.
const FIRST_TIME: &str = "_first";

/// The part of the launches whose first host parameter, time, is at least [`FIRST_TIME`].
fn from_first_time(scop: &Scop, host: &isl::Schedule) -> Result<isl::Schedule, CodegenError> {
    let mut rest = isl::UnionSet::empty(&scop.ctx)?;
    for k in host.domain()?.sets()? {
        let name = k.tuple_name()?.unwrap_or_default();
        let dims: Vec<String> = (0..k.dim(isl::DimType::Set)?).map(|d| format!("h{d}")).collect();
        let text = format!(
            "[{FIRST_TIME}] -> {{ {name}[{}] : h0 >= {FIRST_TIME} and {FIRST_TIME} >= 0 }}",
            dims.join(", ")
        );
        rest = rest.union(isl::UnionSet::read(&scop.ctx, &text)?)?;
    }
    Ok(host.clone().intersect_domain(rest)?)
}

/// `pollyrs_rt_host_begin`, in the block `refuse`, and `pollyrs_rt_host_end` around the original region. `why` are the blocks that come to the former, with
/// the number of the check that failed or what says that the run-time library could not go on; `alone` comes to the region itself.
#[expect(clippy::too_many_arguments)]
fn bracket_host(
    ir: &Ir,
    module: LLVMModuleRef,
    plan: &HostPlan<'_>,
    descriptor: LLVMValueRef,
    versioned: &shim::Versioned,
    refuse: LLVMBasicBlockRef,
    why: Vec<(LLVMValueRef, LLVMBasicBlockRef)>,
    alone: LLVMBasicBlockRef,
) -> Result<(), CodegenError> {
    ir.at_end(refuse);
    let why = ir.phi(ir.i32_type(), &why);
    let ptr = ir.ptr_type();
    let (mut types, mut args) = (vec![ptr, ir.i32_type()], vec![descriptor, why]);
    let begin = on_hold(plan, "pollyrs_rt_host_begin", ptr, &mut types, &mut args);
    let begin = ir.declare(module, &begin, ptr, &types);
    let reported = ir.call(ptr, begin, &args);
    ir.br(versioned.host_begin);
    let end = terminator(versioned.host_begin).ok_or(CodegenError::Internal("host_begin".into()))?;
    ir.before(end);
    let token = ir.phi(ptr, &[(reported, refuse), (ir.null(), alone)]);
    let end = terminator(versioned.host_end).ok_or(CodegenError::Internal("host_end".into()))?;
    ir.before(end);
    let host_end = ir.declare(module, "pollyrs_rt_host_end", ir.void_type(), &[ir.ptr_type()]);
    ir.call(ir.void_type(), host_end, &[token]);
    Ok(())
}
