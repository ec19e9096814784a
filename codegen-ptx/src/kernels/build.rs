//! Mapped kernels as target-neutral LLVM IR.
//!
//! [`build_kernels`] makes a module with one function a kernel: what *one thread* of one block does. What
//! depends on the target is a call of an abstract function, which [`lower_ptx`](crate::lower_ptx) and
//! [`lower_emulated`](crate::lower_emulated) replace:
//! ```text
//! i64  @pollyrs.block_id()            linear block index
//! i32  @pollyrs.thread_id.{x,y,z}()   thread index in the block
//! void @pollyrs.barrier()             barrier among the threads of a block
//! ptr  @pollyrs.shared()              the block's shared memory
//! i64  @pollyrs.opaque(i64)           its argument
//! ```
//! A user node of the schedule's AST whose tuple is named `_barrier` (or `_barrier` and more) is such a
//! barrier.
//!
//! # Invariants
//! - Arguments come in this order: the device address of every array of [`KernelInfo::arrays`] (of the
//!   element with all subscripts zero, so it may lie outside the allocation), then [`KernelInfo::scalars`].
//!   Only what the kernel uses is passed.
//! - Array arguments are `noalias`: a SCoP runs on the device only if its arrays' touched ranges are
//!   disjoint. Those through which threads pass values on behind a barrier are not: the optimizer takes it
//!   that no one else writes to a `noalias` argument. `readonly` says that no statement of this kernel writes
//!   the array.
//! - Every access claims the alignment that the host's access claims, at most that of its element: device
//!   addresses are congruent to the host's.
//! - The module refers to nothing of the host module but types of the shared context.
//!
//! # Example
//! `for (i) S0: A[i] = B[i] + 1` in tiles of 256:
//! ```text
//! define void @f_K0(ptr noalias %A, ptr noalias readonly %B, i64 %n, i64 %_b0.lower) {
//!   %block = call i64 @pollyrs.block_id()
//!   ...
//! ```

use crate::affine::expr::ExprEmitter;
use crate::affine::walk::{Event, emit_in_groups};
use crate::ir::builder::Ir;
use crate::ir::calls::verify;
use crate::ir::error::{CodegenError, Result};
use crate::ir::intrinsics::BARRIER;
use crate::ir::llvm::*;
use crate::ir::types::identifier;
use crate::kernel::module::{KernelInfo, KernelModule};
use crate::kernel::storage::Coming;
use crate::kernels::apart::apart;
use crate::kernels::arguments::{argument_types, candidates, finish, used_arrays};
use crate::kernels::entry::{Draft, entry};
use crate::ops::tasks;
use crate::staged::state::Staged;
use crate::staged::{boxes, carried, counters, element, groups, promotion, window};
use crate::statement::errno;
use crate::tiled::emit;
use pollyrs_isl as isl;
use pollyrs_schedule::planted::planted;
use pollyrs_schedule::{MappedKernel, MappedScop, Mark, Placement, ScheduleTree, Tree, Tuple};
use pollyrs_scop::{ArrayId, Scop};

/// Builds the kernels of a mapped SCoP.
///
/// # Errors
/// [`CodegenError::Unsupported`](crate::CodegenError::Unsupported) for instructions that cannot run on a
/// device; [`CodegenError::Internal`](crate::CodegenError::Internal) if an earlier stage broke an invariant.
/// The host module is not touched.
pub fn build_kernels(host_module: Module, scop: &Scop, mapped: &MappedScop) -> Result<KernelModule> {
    let context = host_module.context();
    // SAFETY: a live context; the module is ours, and what is made of it goes ahead of it.
    let owned = unsafe { OwnedModule::new(context.new_module(&identifier(&scop.name))) };
    let module = owned.get();
    // Sizes of types are the same then.
    module.adopt_target(host_module);
    let mut kernels = Vec::new();
    for kernel in &mapped.kernels {
        // One budget a kernel: AST generation is exponential in the worst case.
        let _budget = scop.ctx.budget(if kernel.windows().is_empty() { OPERATIONS } else { STAGED });
        kernels.push(build_kernel(context, module, scop, mapped, kernel)?);
    }
    verify(module)?;
    let host_target = host_block(scop.region.entry).map(host_target).unwrap_or_default();
    Ok(KernelModule { owned, kernels, host_target, fused: None })
}

/// isl operations for the code of one kernel: as many as the whole of scheduling may take.
const OPERATIONS: u64 = pollyrs_schedule::DEFAULT_BUDGET;
/// For kernels of time tiles, which somebody asked for: two versions of the code, one with loops unrolled.
const STAGED: u64 = 8 * OPERATIONS;

/// The attributes of the function around a block that fix the instruction set.
fn host_target(block: Block) -> Vec<(String, String)> {
    let function = block.function();
    let of = |key: &str| Some((key.to_string(), function.string_attribute(key)?));
    ["target-cpu", "target-features", "tune-cpu"].into_iter().filter_map(of).collect()
}

fn build_kernel(
    context: Context,
    module: Module,
    scop: &Scop,
    mapped: &MappedScop,
    kernel: &MappedKernel,
) -> Result<KernelInfo> {
    let ir = &Ir::new(context);
    let used = used_arrays(scop, kernel)?;
    let arguments = candidates(scop, mapped, kernel, &used);
    let types = argument_types(ir, scop, &arguments)?;
    // It holds the blocks until the used arguments are known.
    let draft = module.add_function("pollyrs.draft", context.void_type().function(&types));
    let result = (|| {
        let (arguments, types, used) = (&arguments, &types, &used);
        let from = Draft { ir, module, function: draft, scop, mapped, kernel, arguments, types, used };
        if let Some(tiling) = kernel.tiling() {
            let coming = entry(&from, Coming(kernel))?;
            let tree = emit::ast(tiling)?;
            let private = |id: &ArrayId| mapped.placement.get(id.0) == Some(&Placement::Private);
            let private: Vec<_> = used.keys().copied().filter(private).collect();
            let k = emit::emit(coming, draft, tiling, &tree, &private)?;
            errno::store(&k)?;
            ir.ret_void();
            return finish(&k, &from);
        }
        let mut k = entry(&from, Staged::new(scop, kernel)?)?;
        let build = isl::AstBuild::from_context(kernel.context.clone().params()?)?;
        let mut schedule = window::general(kernel)?;
        if !boxes::are_updates(&k) {
            schedule = one_by_one(&schedule)?;
        }
        let tree = build.node_from_schedule(schedule)?;
        if kernel.steps().is_some() && !crate::affine::barriers::same_barriers(&tree)? {
            return Err(CodegenError::Divergent);
        }
        if !window::scoped(kernel.windows(), &tree)? {
            return Err(CodegenError::Unscoped);
        }
        k.storage.windows.disturb(scop, kernel, &tree)?;
        let full = window::full_stage(kernel)?;
        boxes::begin(&mut k)?;
        carried::begin(&mut k)?;
        counters::begin(&mut k)?;
        let mut emit = k.emit.clone();
        if let Some(task) = k.task.as_ref().filter(|_| planted("graph-signal")) {
            tasks::signal(&k, task.flags, task.own, task.thread);
        }
        let mut element = |emit: &mut ExprEmitter<'_>, event: Event<'_>, iterators: &[Value]| {
            if event == Event::Between(Tuple::Enter) {
                window::enter(&mut k, emit, iterators)?;
                return match &full {
                    Some(tree) => element::branch_to_full(&mut k, draft, emit, tree, iterators),
                    None => {
                        k.storage.windows.passing = Some(window::passing(&k)?);
                        Ok(None)
                    }
                };
            }
            if promotion::element(&mut k, emit, event, iterators)? {
                return Ok(None);
            }
            element::emit_element(&mut k, emit, event, iterators)
        };
        let groups = |nodes: &[isl::AstNode]| groups::in_general(kernel, scop, nodes);
        emit_in_groups(ir, draft, &mut emit, &tree, &mut element, &groups)?;
        boxes::end(&mut k)?;
        counters::end(&mut k)?;
        if let Some(task) = &k.task {
            k.abstract_call(BARRIER, ir.void_type());
            tasks::signal(&k, task.flags, task.own, task.thread);
        }
        errno::store(&k)?;
        ir.ret_void();
        match kernel.block.iter().map(|b| b.size).product::<u32>() {
            _ if kernel.team() > 1 => {}
            1 => unroll_loops(draft, UNROLL_ALONE),
            2..=FEW_THREADS => unroll_loops(draft, UNROLL),
            ..=MORE_THREADS if full.is_none() => unroll_loops(draft, UNROLL_MORE),
            _ if full.is_some() && kernel.stages().is_some_and(|s| s.unrolled) => window::unroll_steps(draft),
            _ if !kernel.counters().is_empty() => unroll_loops(draft, UNROLL_MORE),
            // Sums of rows in shared memory, a thread each.
            _ if kernel.has_rows() => {
                apart(draft, arguments);
                unroll_loops(draft, UNROLL_MORE);
                unroll_sums(draft);
            }
            _ => {}
        }
        finish(&k, &from)
    })();
    // SAFETY: the draft has no uses; after `finish` it is empty, after an error it takes its blocks with it.
    unsafe { draft.delete_function() };
    result
}

/// A thread's schedule without the marks of updates: their instances are in it.
fn one_by_one(schedule: &isl::Schedule) -> Result<isl::Schedule> {
    fn plain(tree: Tree) -> Tree {
        match tree {
            Tree::Leaf => Tree::Leaf,
            Tree::Mark(name, child)
                if matches!(Mark::of(&name), Some(Mark::Update(_) | Mark::Carried(_))) =>
            {
                plain(*child)
            }
            Tree::Mark(name, child) => Tree::Mark(name, Box::new(plain(*child))),
            Tree::Band(b) => {
                let child = Box::new(plain((*b.child).clone()));
                Tree::Band(pollyrs_schedule::Band { child, ..b })
            }
            Tree::Sequence(children) => {
                Tree::Sequence(children.into_iter().map(|(f, c)| (f, plain(c))).collect())
            }
        }
    }
    let again = |schedule: &isl::Schedule| -> pollyrs_schedule::Result<isl::Schedule> {
        let ScheduleTree { domain, root } = ScheduleTree::from_isl(schedule)?;
        ScheduleTree { domain, root: plain(root) }.to_isl()
    };
    again(schedule).map_err(|e| CodegenError::Internal(e.to_string()))
}

/// Blocks of at most so many threads are those of long loops in few threads, or in some more where neighbours
/// touch neighbouring elements.
const FEW_THREADS: u32 = 32;
const MORE_THREADS: u32 = pollyrs_schedule::FEW_THREADS;
/// Loads of so many iterations are on their way at once: with one thread, 32 take little longer than one. (On
/// an H200, a warp: 8, 16 and 32 iterations give 303, 226 and 227 ms of gramschmidt in floats, 371, 357 and
/// 349 in doubles, 3.03, 2.74 and 2.72 of deriche. Two warps: a filter of 31 points takes 0.65 ms with 8 and
/// 1.34 with 32. One thread: 32, 64 and 128 give 129, 116 and 120 ms of durbin in floats, 177, 180 and 191 in
/// doubles.)
const UNROLL: u32 = 16;
const UNROLL_MORE: u32 = 8;
const UNROLL_ALONE: u32 = 32;
/// A sum of a row in shared memory waits for the loads of an iteration and then for each addition: the more
/// of these, the less does the former count.
const UNROLL_SUMS: u32 = 32;

/// Asks the optimizer to unroll loops of one block. Nothing else hides the latency of loads where threads are
/// few, and by itself it unrolls less.
/// (Not where calls other than roots are reported, whose code is long: eight iterations of a sum of sines and
/// cosines, unrolled, took 203 registers in place of 40, and 4.1 ms in place of 1.5 on an H200.)
fn unroll_loops(function: Value, iterations: u32) {
    unroll(function, iterations, |end| is_loop(end) && !reports_calls(end));
}

/// Whether the block of a terminator notes what calls do ([`errno`]), of functions other than roots.
fn reports_calls(end: Value) -> bool {
    let instructions = end.block().instructions();
    let bit = end.context().int_type(1);
    let elaborate = |i: &Value| {
        let name = if i.is_call() { i.callee().name() } else { return false };
        !["llvm.", "pollyrs.", "sqrt"].iter().any(|plain| name.starts_with(plain))
    };
    instructions.iter().any(|i| i.is_store() && i.operand(0).ty() == bit)
        && instructions.iter().any(elaborate)
}

/// Those of loops that store to nothing but registers, and to cells that stay the same.
fn unroll_sums(function: Value) {
    unroll(function, UNROLL_SUMS, |end| is_loop(end) && stores_to_cells(end));
}

fn unroll(function: Value, iterations: u32, which: impl Fn(Value) -> bool) {
    let count = function.context().int_type(32).int(iterations.into(), false);
    hint_loops(function, "llvm.loop.unroll.count", Some(count), which);
}

/// Whether a terminator leads to its own block.
fn is_loop(end: Value) -> bool {
    end.successors().contains(&end.block())
}

/// Whether the block of a terminator, which is a loop, stores, and to the same places in each iteration only.
fn stores_to_cells(end: Value) -> bool {
    let block = end.block();
    let stores: Vec<_> = block.instructions().into_iter().filter(|i| i.is_store()).collect();
    !stores.is_empty() && stores.iter().all(|i| stays(i.operand(1), block, MOST_OPERATIONS))
}

/// An address is computed by so many operations, one after the other, where anyone looks.
const MOST_OPERATIONS: u32 = 12;

/// Whether a value is the same in each iteration of a loop of one block: computed by at most `operations`
/// from what comes from outside, and from nothing that is loaded.
fn stays(value: Value, block: Block, operations: u32) -> bool {
    if value.parent() != Some(block) {
        return true;
    }
    let computes = value.is_gep() || value.is_binary() || value.is_cast();
    computes && operations > 0 && value.operands().into_iter().all(|v| stays(v, block, operations - 1))
}
