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
//! - Nothing is written to the program's memory before `pollyrs_rt_end` succeeds, so every edge to
//!   `host_begin` is safe.
//! - The checks have no side effects and cannot trap, whatever the parameters: overflow is computed, never
//!   assumed away. Affine expressions are evaluated in 64 bits; they cannot wrap when every 64-bit parameter
//!   is within ±2^46 (checked first in the conjunction, and a false conjunct hides what the others computed
//!   from garbage). Linear offsets, which multiply sizes, use overflow-checked arithmetic, and every touched
//!   range must lie within ±2^46 bytes of its base.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::affine::walk;
use crate::host::abi::{FAULT, REASON_RUNTIME};
use crate::host::checks::Gate;
use crate::host::launch::{Launcher, emit_choice, emit_launch, emit_nested, emit_shapes, emit_work};
use crate::host::plan::{Entry, HostPlan, Slots};
use crate::host::ranges::{Range, store_array};
use crate::host::{descriptor, small, stencil};
use crate::ir::builder::Ir;
use crate::ir::error::internal;
use crate::ir::llvm::*;
use crate::kernel::module::FusedKernels;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_isl as isl;
use pollyrs_llvm_shim as shim;
use pollyrs_schedule::Placement;
use pollyrs_scop::{ArrayId, ArrayKind, Scop, TermKind, ValueHandle};
use std::collections::BTreeSet;

/// Creates the check block and computes the parameters in it. Must run for every SCoP of a function before
/// any is [`emit`]ted, because it needs the analyses that `emit` invalidates. `regions` are those of all
/// SCoPs of the function.
///
/// # Safety
/// The SCoP was found with these analyses.
pub unsafe fn prepare(
    analyses: &shim::Analyses<'_>,
    scop: &Scop,
    regions: &shim::Regions,
) -> Result<Entry, CodegenError> {
    let blocks: Vec<_> = blocks(scop).collect();
    let check = host_block(scop.region.entry)
        .and_then(|entry| analyses.split_entry(entry, &blocks))
        .ok_or(CodegenError::Internal("the region's entry cannot be split".into()))?;
    let before =
        check.terminator().ok_or(CodegenError::Internal("the check block has no terminator".into()))?;
    let ir = Ir::new(check.function().context());
    ir.before(before);
    let mut params = Vec::new();
    for p in &scop.params {
        if p.inspected {
            params.push(ir.int(0));
            continue;
        }
        // SAFETY: the SCoP is of these analyses (the caller's promise).
        let scev = unsafe { analyses.handle_at(p.scev.address()) };
        let v = analyses
            .expand(scev, before, regions)
            .ok_or_else(|| CodegenError::Internal(format!("parameter {} cannot be computed", p.name)))?;
        // The original may never look at the value (an uninitialised bound behind a guard); the checks do.
        params.push(ir.to_i64(ir.freeze(v)));
    }
    Ok(Entry { check, params })
}

/// The blocks of a SCoP.
pub fn blocks(scop: &Scop) -> impl Iterator<Item = Block> {
    scop.region.blocks.iter().filter_map(|b| host_block(*b))
}

/// The values defined in the region and used outside, each once, in program order.
pub fn live_outs(scop: &Scop) -> Vec<ValueHandle> {
    let inside: BTreeSet<usize> = scop.region.blocks.iter().map(|b| b.address()).collect();
    let reached = reached(scop);
    let outside = |user: Value| {
        user.parent().is_none_or(|b| !inside.contains(&b.address()) && reached.contains(&b.address()))
    };
    let all = blocks(scop).flat_map(Block::instructions);
    all.filter(|i| i.users().into_iter().any(outside)).map(handle_of).collect()
}

/// The blocks of the function that its entry leads to. The others are error blocks, and loops of these, which
/// are connected again later.
fn reached(scop: &Scop) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut work: Vec<Block> = blocks(scop).take(1).map(|b| b.function().entry()).collect();
    while let Some(b) = work.pop() {
        if reached.insert(b.address()) {
            work.extend(b.successors());
        }
    }
    reached
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
        ArrayKind::Memory { .. } | ArrayKind::Fault { .. } => false,
    });
    at.map(ArrayId)
}

/// Rewrites the region into versioned code. The result is what stands for values of the region behind it now:
/// SCoPs there that name one of them have to name that ([`rename`]).
///
/// # Safety
/// `function` is live and holds the SCoP's region, whose handles are live; `entry` comes from [`prepare`] for
/// it.
pub unsafe fn emit(
    function: Value,
    plan: &HostPlan<'_>,
    entry: &Entry,
) -> Result<Vec<shim::LiveOut>, CodegenError> {
    let scop = plan.scop;
    let module = function.module();
    let ir = &Ir::new(module.context());
    let arrays: Vec<ArrayId> = (0..scop.arrays.len())
        .filter(|i| plan.mapped.placement[*i] == Placement::Global)
        .map(ArrayId)
        .collect();

    let blocks: Vec<Block> = blocks(scop).collect();
    let (Some(first), Some(exit)) = (host_block(scop.region.entry), host_block(scop.region.exit)) else {
        return internal("a region without blocks");
    };
    let versioned = shim::version_region(function, entry.check, first, exit, &blocks)
        .map_err(|e| CodegenError::Internal(e.to_string()))?;

    // Stack slots live in the function's entry block, so that a SCoP in a loop reuses them.
    let slots = &Slots::new(ir, function, scop, plan, &arrays);
    let named = scop.params.iter().zip(&entry.params).filter(|(p, _)| !p.inspected);
    let names = named.map(|(p, v)| (p.name.clone(), *v)).collect();
    let expr = &mut ExprEmitter::new(ir, names);
    let code = Code { ir, module, function, plan, entry, versioned: &versioned, slots, arrays: &arrays };
    let mut params = entry.params.clone();
    let checks = code.checks(expr, &mut params)?;
    let entry = &Entry { check: entry.check, params };
    let code = Code { entry, ..code };
    let descriptor = code.descriptor(&checks)?;
    ir.at_end(versioned.offload);
    let late = code.late(descriptor, checks.work);
    let count = |f| Ok::<_, CodegenError>((f, stencil::count(ir, expr, plan, f, late)?));
    let fused = plan.fused.map(count).transpose()?;
    let begun = code.begin(&checks, descriptor, fused.as_ref())?;
    code.launches(expr, &checks, (begun.run, late), fused.as_ref())?;
    let end_block = code.end(begun.run, checks.refuse)?;

    let runtime = ir.int32(REASON_RUNTIME);
    let failed = [begun.block, end_block].map(|b| (runtime, b));
    let why: Vec<_> = checks.refused.iter().copied().chain(failed).collect();
    code.bracket(descriptor, &checks, &why)?;
    Ok(versioned.live_outs)
}

/// The code of one SCoP while it is emitted.
struct Code<'c> {
    ir: &'c Ir,
    module: Module,
    function: Value,
    plan: &'c HostPlan<'c>,
    entry: &'c Entry,
    versioned: &'c shim::Versioned,
    slots: &'c Slots,
    /// Those on the device.
    arrays: &'c [ArrayId],
}

/// What comes out of the checks.
struct Checks {
    /// The estimated number of statement instances, a double.
    work: Value,
    /// What one thread of a launch runs alone, in additions, if any does.
    serial: Option<Value>,
    /// The run-time library's slot.
    cache: Value,
    /// The block in which small executions go to the original region.
    alone: Block,
    /// Where everything goes that is refused.
    refuse: Block,
    /// The texts of the checks, and which failed from which block.
    reasons: Vec<String>,
    refused: Vec<(Value, Block)>,
    /// The touched ranges, one an array on the device.
    ranges: Vec<Range>,
}

/// A run that began, if it is not NULL, in a block that it is refused from otherwise.
struct Begun {
    run: Value,
    block: Block,
}

/// Fused kernels, and what of their launches the host computes.
type Fused<'f> = (&'f FusedKernels, stencil::Counts);

impl<'c> Code<'c> {
    /// `small`, `check` and `ranges`, in the check block; ends in a branch to `offload`.
    fn checks(&self, expr: &mut ExprEmitter<'_>, params: &mut [Value]) -> Result<Checks, CodegenError> {
        let Code { ir, function, plan, .. } = *self;
        let check_end = self.entry.check.terminator().ok_or(CodegenError::Internal("check block".into()))?;
        // SAFETY: a branch, which has no uses.
        unsafe { check_end.erase() };
        ir.at_end(self.entry.check);
        let work = emit_work(ir, expr, &plan.work.terms)?;
        let cache = descriptor::cache_slot(self.module, ir);
        let hold = plan.held.map(|held| held.slot);
        let alone = small::emit(ir, function, (cache, work), hold, self.versioned.host_begin);
        let refuse = ir.append_block(function, "pollyrs.host.begin");
        let mut gate = Gate { ir, function, refuse, reasons: vec![], refused: vec![] };
        if plan.scop.is_inspected() {
            gate.pass_before_inspection(expr, plan.scop)?;
            gate.inspect(expr, plan, self.slots, params, (cache, work))?;
        }
        gate.pass_numbers(expr, plan.scop)?;
        let mut ranges = gate.pass_memory(expr, plan, self.arrays, self.slots)?;
        if let Some(held) = plan.held {
            for (range, id) in ranges.iter_mut().zip(self.arrays) {
                range.flags |= held.flags(*id);
            }
        }
        let Gate { reasons, refused, .. } = gate;
        let serial = match plan.work.serial.as_slice() {
            [] => None,
            terms => Some(emit_work(ir, expr, terms)?),
        };
        ir.br(self.versioned.offload);
        Ok(Checks { work, serial, cache, alone, refuse, reasons, refused, ranges })
    }

    fn descriptor(&self, checks: &Checks) -> Result<Value, CodegenError> {
        let Code { plan, arrays, .. } = *self;
        let scop = plan.scop;
        let copied: &[ArrayId] = plan.fused.map_or(&[], |f| &f.copied);
        let mut names: Vec<String> = arrays.iter().map(|a| scop.array(*a).display.clone()).collect();
        names.extend(copied.iter().map(|a| format!("copy of {}", scop.array(*a).display)));
        // Numbers behind the model's arrays are those of copies.
        let index_of = |a: ArrayId| match a.0.checked_sub(scop.arrays.len()) {
            None => arrays.iter().position(|d| *d == a).map(|i| i as u32),
            Some(copy) => (copy < copied.len()).then_some((arrays.len() + copy) as u32),
        };
        let (cache, reasons) = (checks.cache, &checks.reasons);
        let said = descriptor::Said { cache, reasons, array_names: &names, array_index: &index_of };
        descriptor::build(self.module, self.ir, plan, &said)
    }

    /// Whether kernels that may be late are not there yet; `None`: there are no such kernels.
    fn late(&self, descriptor: Value, work: Value) -> Option<Value> {
        let Code { ir, module, plan, .. } = *self;
        plan.kernels.iter().any(|k| k.late).then(|| {
            let arguments = [ir.ptr_type(), ir.double_type()];
            let late = ir.declare(module, "pollyrs_rt_late", ir.i32_type(), &arguments);
            let late = ir.call(ir.i32_type(), late, &[descriptor, work]);
            ir.icmp(LLVMIntNE, late, ir.int32(0))
        })
    }

    /// The range of an array on the device.
    fn range_of(&self, checks: &Checks, a: ArrayId) -> Option<Range> {
        self.arrays.iter().position(|d| *d == a).map(|i| checks.ranges[i])
    }

    /// Describes the arrays and begins a run; ends in a branch to where the launches are.
    fn begin(
        &self,
        checks: &Checks,
        descriptor: Value,
        fused: Option<&Fused<'_>>,
    ) -> Result<Begun, CodegenError> {
        let Code { ir, plan, slots, .. } = *self;
        let mut described = checks.ranges.clone();
        if let Some((f, counts)) = fused {
            described.extend(stencil::scratch_ranges(ir, f, counts, &|a| self.range_of(checks, a))?);
        }
        for r in described.iter().filter(|r| r.flags & FAULT != 0) {
            ir.store(ir.int(0), r.start);
        }
        for (i, r) in described.iter().enumerate() {
            store_array(ir, slots.arrays, i as u64, r);
        }
        let ptr = ir.ptr_type();
        if let Some(serial) = checks.serial {
            let said = ir.declare(self.module, "pollyrs_rt_serial", ir.void_type(), &[ptr, ir.double_type()]);
            ir.call(ir.void_type(), said, &[descriptor, serial]);
        }
        let n = ir.int32(described.len() as u32);
        let (mut types, mut args) =
            (vec![ptr, ir.double_type(), ptr, ir.i32_type()], vec![descriptor, checks.work, slots.arrays, n]);
        let begin = in_activation(plan, "pollyrs_rt_begin", ptr, &mut types, &mut args);
        let begin = ir.declare(self.module, &begin, ptr, &types);
        let run = ir.call(ptr, begin, &args);
        let launches = ir.append_block(self.function, "pollyrs.launches");
        let begun = ir.icmp(LLVMIntNE, run, ir.null());
        let block = ir.block();
        ir.cond_br(begun, launches, checks.refuse);
        ir.at_end(launches);
        Ok(Begun { run, block })
    }

    /// The host's loops with the launches in them.
    fn launches(
        &self,
        expr: &mut ExprEmitter<'_>,
        checks: &Checks,
        (run, late): (Value, Option<Value>),
        fused: Option<&Fused<'_>>,
    ) -> Result<(), CodegenError> {
        let Code { ir, module, function, plan, entry, slots, arrays, .. } = *self;
        let scop = plan.scop;
        if plan.checked {
            let copied = plan.fused.iter().flat_map(|f| &f.copied);
            emit_shapes(ir, expr, module, scop, run, arrays.iter().chain(copied))?;
        }
        let mut host = plan.mapped.host.clone();
        let arguments = [ir.ptr_type(), ir.i32_type(), ir.i64_type(), ir.ptr_type()];
        let launch = ir.declare(module, "pollyrs_rt_launch", ir.void_type(), &arguments);
        if let Some((f, counts)) = fused {
            let (params, scalars) = (&entry.params, slots.scalars);
            let (part_scalars, parts) = (slots.part_scalars, slots.parts);
            let l = stencil::Launcher {
                function,
                plan,
                fused: f,
                params,
                scalars,
                launch,
                run,
                arrays,
                part_scalars,
                parts,
            };
            let first = stencil::emit_fused(ir, expr, &l, counts, &|a| self.range_of(checks, a))?;
            expr.names.insert(FIRST_TIME.into(), first);
            host = from_first_time(scop, &host)?;
        }
        for c in &plan.mapped.choices {
            let fastest = emit_choice(ir, expr, plan, c)?;
            expr.names.insert(c.param.clone(), fastest);
        }
        for n in &plan.mapped.nested {
            let mut form = emit_nested(ir, expr, n)?;
            if let Some(late) = late.filter(|_| plan.kernels.iter().any(|k| k.late && k.graph)) {
                form = ir.select(late, ir.int(1), form);
            }
            expr.names.insert(n.param.clone(), form);
        }
        if let Some(l) = &plan.mapped.late {
            let form = late.map_or(ir.int(0), |late| ir.select(late, ir.int(1), ir.int(0)));
            expr.names.insert(l.param.clone(), form);
        }
        let ast = isl::AstBuild::from_context(scop.context.clone())?.node_from_schedule(host)?;
        let ranges: Vec<_> = arrays.iter().copied().zip(checks.ranges.iter().copied()).collect();
        let launcher = Launcher { plan, entry, slots, function, launch, run, ranges: &ranges };
        walk::emit_ast(ir, function, expr, &ast, &mut |expr, event, args| match event {
            walk::Event::Instance(name) => emit_launch(ir, expr, &launcher, name, args).map(|()| None),
            _ => internal(format!("{event:?} among launches")),
        })
    }

    /// Ends the run and reads the values that live on. The result is the block from which a failed run is
    /// refused.
    fn end(&self, run: Value, refuse: Block) -> Result<Block, CodegenError> {
        let ir = self.ir;
        let end = ir.declare(self.module, "pollyrs_rt_end", ir.i32_type(), &[ir.ptr_type()]);
        let status = ir.call(ir.i32_type(), end, &[run]);
        let done = ir.append_block(self.function, "pollyrs.done");
        let block = ir.block();
        let good = ir.icmp(LLVMIntEQ, status, ir.int32(0));
        ir.cond_br(good, done, refuse);

        ir.at_end(done);
        for l in &self.versioned.live_outs {
            let value = handle_of(l.value);
            let Some(array) = live_out_array(self.plan.scop, value) else {
                return internal(format!("the live value {} is not modelled", l.value.text()));
            };
            let value = ir.load(l.value.ty(), self.slots.live_out[&array]);
            ir.add_incoming(l.phi, value, done);
        }
        ir.br(self.versioned.merge);
        Ok(block)
    }

    /// `pollyrs_rt_host_begin`, where everything goes that is refused, and `pollyrs_rt_host_end` around the
    /// original region. `why` are the blocks that come to the former, with the number of the check that
    /// failed or what says that the run-time library could not go on.
    fn bracket(
        &self,
        descriptor: Value,
        checks: &Checks,
        why: &[(Value, Block)],
    ) -> Result<(), CodegenError> {
        let Code { ir, module, versioned, slots, .. } = *self;
        ir.at_end(checks.refuse);
        let why = ir.phi(ir.i32_type(), why);
        let ptr = ir.ptr_type();
        let (mut types, mut args) = (vec![ptr, ir.i32_type()], vec![descriptor, why]);
        let begin = in_activation(self.plan, "pollyrs_rt_host_begin", ptr, &mut types, &mut args);
        let begin = ir.declare(module, &begin, ptr, &types);
        let reported = ir.call(ptr, begin, &args);
        ir.br(versioned.host_begin);
        let end = versioned.host_begin.terminator().ok_or(CodegenError::Internal("host_begin".into()))?;
        ir.before(end);
        let token = ir.phi(ptr, &[(reported, checks.refuse), (ir.null(), checks.alone)]);
        let end = versioned.host_end.terminator().ok_or(CodegenError::Internal("host_end".into()))?;
        ir.before(end);
        // For a comparison of both sides (the run-time library's `process/compare.rs`).
        for l in &versioned.live_outs {
            if let Some(array) = live_out_array(self.plan.scop, handle_of(l.value)) {
                ir.store(l.value, slots.live_out[&array]);
            }
        }
        let host_end = ir.declare(module, "pollyrs_rt_host_end", ir.void_type(), &[ir.ptr_type()]);
        ir.call(ir.void_type(), host_end, &[token]);
        Ok(())
    }
}

/// The values that a SCoP takes from outside, after other regions of its function were rewritten.
pub fn rename(scop: &mut Scop, live_outs: &[shim::LiveOut]) {
    let rename = |v: &mut ValueHandle| {
        if let Some(l) = live_outs.iter().find(|l| l.value.address() == v.address()) {
            *v = handle_of(l.phi);
        }
    };
    scop.invariants.iter_mut().for_each(|i| rename(&mut i.value));
    for t in scop.roundings.iter_mut().flat_map(|r| &mut r.terms) {
        if let TermKind::Known(value) = &mut t.kind {
            rename(value);
        }
    }
    for a in &mut scop.arrays {
        if let ArrayKind::Memory { base } = &mut a.kind {
            rename(base);
        }
    }
}

/// The name of a function of the run-time library, and its arguments, in a function with a hold or in one
/// without.
pub(crate) fn in_activation(
    plan: &HostPlan<'_>,
    name: &str,
    ptr: Type,
    types: &mut Vec<Type>,
    args: &mut Vec<Value>,
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
