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
use crate::affine::walk::emit_in_groups;
use crate::ir::builder::{Ir, c_string};
use crate::ir::calls::verify;
use crate::ir::error::{CodegenError, Result};
use crate::ir::intrinsics::BARRIER;
use crate::ir::llvm::*;
use crate::ir::types::identifier;
use crate::kernel::module::{KernelInfo, KernelModule};
use crate::kernels::apart::apart;
use crate::kernels::arguments::{argument_types, candidates, finish, used_arrays};
use crate::kernels::entry::{Draft, entry};
use crate::ops::tasks;
use crate::staged::state::Staged;
use crate::staged::{boxes, counters, element, groups, promotion, window};
use crate::tiled::emit;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl as isl;
use pollyrs_schedule::planted::planted;
use pollyrs_schedule::{MappedKernel, MappedScop, Placement, ScheduleTree, Tree, UPDATE};
use pollyrs_scop::{ArrayId, Scop};

/// Builds the kernels of a mapped SCoP.
///
/// # Errors
/// [`CodegenError::Unsupported`](crate::CodegenError::Unsupported) for instructions that cannot run on a
/// device; [`CodegenError::Internal`](crate::CodegenError::Internal) if an earlier stage broke an invariant.
/// The host module is not touched.
///
/// # Safety
/// `host_module` is a live module, and all handles in `scop` are values of it.
pub unsafe fn build_kernels(
    host_module: LLVMModuleRef,
    scop: &Scop,
    mapped: &MappedScop,
) -> Result<KernelModule> {
    // SAFETY: the caller's promise; the new module takes its layout so that sizes of types agree.
    let (context, module) = unsafe {
        let context = LLVMGetModuleContext(host_module);
        let name = c_string(&identifier(&scop.name));
        let module = LLVMModuleCreateWithNameInContext(name.as_ptr(), context);
        LLVMSetTarget(module, LLVMGetTarget(host_module));
        LLVMSetDataLayout(module, LLVMGetDataLayoutStr(host_module));
        (context, OwnedModule(module))
    };
    let mut kernels = Vec::new();
    for kernel in &mapped.kernels {
        // One budget a kernel: AST generation is exponential in the worst case.
        let _budget = scop.ctx.budget(if kernel.windows.is_empty() { OPERATIONS } else { STAGED });
        kernels.push(build_kernel(context, module.0, scop, mapped, kernel)?);
    }
    verify(module.0)?;
    let host_target = host_target(scop.region.entry.0 as LLVMBasicBlockRef);
    Ok(KernelModule { owned: module, kernels, host_target, fused: None })
}

/// isl operations for the code of one kernel: as many as the whole of scheduling may take.
const OPERATIONS: u64 = pollyrs_schedule::DEFAULT_BUDGET;
/// For kernels of time tiles, which somebody asked for: two versions of the code, one with loops unrolled.
const STAGED: u64 = 8 * OPERATIONS;

/// The attributes of the function around a block that fix the instruction set.
fn host_target(block: LLVMBasicBlockRef) -> Vec<(String, String)> {
    if block.is_null() {
        return Vec::new();
    }
    // SAFETY: a live block in a function; keys with their lengths; the value is copied at once.
    unsafe {
        let function = LLVMGetBasicBlockParent(block);
        ["target-cpu", "target-features", "tune-cpu"]
            .iter()
            .filter_map(|key| {
                let a =
                    LLVMGetStringAttributeAtIndex(function, FUNCTION, key.as_ptr().cast(), key.len() as u32);
                if a.is_null() {
                    return None;
                }
                let mut len = 0;
                let value = LLVMGetStringAttributeValue(a, &mut len);
                let value = std::slice::from_raw_parts(value.cast(), len as usize);
                Some((key.to_string(), String::from_utf8_lossy(value).into_owned()))
            })
            .collect()
    }
}

fn build_kernel(
    context: LLVMContextRef,
    module: LLVMModuleRef,
    scop: &Scop,
    mapped: &MappedScop,
    kernel: &MappedKernel,
) -> Result<KernelInfo> {
    let ir = &Ir::new(context);
    let used = used_arrays(scop, kernel)?;
    let arguments = candidates(scop, mapped, kernel, &used);
    let types = argument_types(ir, scop, &arguments)?;
    // SAFETY: live context and module. The function is a draft that holds the blocks until the used arguments
    // are known.
    let draft = unsafe {
        let ty = function_type(LLVMVoidTypeInContext(context), &types);
        LLVMAddFunction(module, c"pollyrs.draft".as_ptr(), ty)
    };
    let result = (|| {
        let (arguments, types, used) = (&arguments, &types, &used);
        let from = Draft { ir, module, function: draft, scop, mapped, kernel, arguments, types, used };
        if let Some(tiling) = &kernel.tiling {
            let mut k = entry(&from, None)?;
            let tree = emit::ast(tiling)?;
            let private = |id: &ArrayId| mapped.placement.get(id.0) == Some(&Placement::Private);
            let private: Vec<_> = used.keys().copied().filter(private).collect();
            emit::emit(&mut k, draft, tiling, &tree, &private)?;
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
        if kernel.steps.is_some() && !crate::affine::barriers::same_barriers(&tree)? {
            return Err(CodegenError::Divergent);
        }
        if !window::scoped(&kernel.windows, &tree)? {
            return Err(CodegenError::Unscoped);
        }
        k.storage.windows.disturb(scop, kernel, &tree)?;
        let full = window::full_stage(kernel)?;
        boxes::begin(&mut k)?;
        counters::begin(&mut k)?;
        let mut emit = k.emit.clone();
        if let Some(task) = k.task.as_ref().filter(|_| planted("graph-signal")) {
            tasks::signal(&k, task.flags, task.own, task.thread);
        }
        let mut element = |emit: &mut ExprEmitter<'_>, name: &str, iterators: &[LLVMValueRef]| {
            if name == pollyrs_schedule::ENTER {
                window::enter(&mut k, emit, iterators)?;
                return match &full {
                    Some(tree) => element::branch_to_full(&mut k, draft, emit, tree, iterators),
                    None => {
                        k.storage.windows.passing = Some(window::passing(&k)?);
                        Ok(None)
                    }
                };
            }
            if promotion::element(&mut k, emit, name, iterators)? {
                return Ok(None);
            }
            element::emit_element(&mut k, emit, name, iterators)
        };
        let groups = |nodes: &[isl::AstNode]| groups::in_general(kernel, scop, nodes);
        emit_in_groups(ir, draft, &mut emit, &tree, &mut element, &groups)?;
        boxes::end(&mut k)?;
        counters::end(&mut k)?;
        if let Some(task) = &k.task {
            k.abstract_call(BARRIER, ir.void_type());
            tasks::signal(&k, task.flags, task.own, task.thread);
        }
        ir.ret_void();
        match kernel.block.iter().map(|b| b.size).product::<u32>() {
            _ if kernel.team > 1 => {}
            1 => unroll_loops(context, draft, UNROLL_ALONE),
            2..=FEW_THREADS => unroll_loops(context, draft, UNROLL),
            ..=MORE_THREADS if full.is_none() => unroll_loops(context, draft, UNROLL_MORE),
            _ if full.is_some() && kernel.unrolled => window::unroll_steps(context, draft),
            _ if !kernel.counters.is_empty() => unroll_loops(context, draft, UNROLL_MORE),
            // Sums of rows in shared memory, a thread each.
            _ if full.is_none() && !kernel.windows.is_empty() && kernel.host_params.is_empty() => {
                apart(context, draft, arguments);
                unroll_loops(context, draft, UNROLL_MORE);
                unroll_sums(context, draft);
            }
            _ => {}
        }
        finish(&k, &from)
    })();
    // SAFETY: the draft has no uses; after `finish` it is empty, after an error it takes its blocks with it.
    unsafe { LLVMDeleteFunction(draft) };
    result
}

/// A thread's schedule without the marks of updates: their instances are in it.
fn one_by_one(schedule: &isl::Schedule) -> Result<isl::Schedule> {
    fn plain(tree: Tree) -> Tree {
        match tree {
            Tree::Leaf => Tree::Leaf,
            Tree::Mark(name, child) if name.starts_with(UPDATE) => plain(*child),
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
fn unroll_loops(context: LLVMContextRef, function: LLVMValueRef, iterations: u32) {
    // SAFETY: the terminators of the function's blocks.
    unroll(context, function, iterations, |end| unsafe { is_loop(end) });
}

/// Those of loops that store to nothing but registers, and to cells that stay the same.
fn unroll_sums(context: LLVMContextRef, function: LLVMValueRef) {
    // SAFETY: the terminators of the function's blocks.
    unroll(context, function, UNROLL_SUMS, |end| unsafe { is_loop(end) && stores_to_cells(end) });
}

fn unroll(
    context: LLVMContextRef,
    function: LLVMValueRef,
    iterations: u32,
    which: impl Fn(LLVMValueRef) -> bool,
) {
    // SAFETY: live context and function.
    unsafe {
        let count = LLVMConstInt(LLVMInt32TypeInContext(context), iterations.into(), 0);
        hint_loops(context, function, "llvm.loop.unroll.count", Some(count), which);
    }
}

/// Whether a terminator leads to its own block.
///
/// # Safety
/// It is live.
unsafe fn is_loop(end: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let block = LLVMGetInstructionParent(end);
        (0..LLVMGetNumSuccessors(end)).any(|i| LLVMGetSuccessor(end, i) == block)
    }
}

/// Whether the block of a terminator, which is a loop, stores, and to the same places in each iteration only.
///
/// # Safety
/// It is live.
unsafe fn stores_to_cells(end: LLVMValueRef) -> bool {
    let mut any = false;
    // SAFETY: the caller's promise; the operands of stores.
    unsafe {
        let block = LLVMGetInstructionParent(end);
        let mut i = LLVMGetFirstInstruction(block);
        while !i.is_null() {
            if !LLVMIsAStoreInst(i).is_null() {
                if !stays(LLVMGetOperand(i, 1), block, MOST_OPERATIONS) {
                    return false;
                }
                any = true;
            }
            i = LLVMGetNextInstruction(i);
        }
    }
    any
}

/// An address is computed by so many operations, one after the other, where anyone looks.
const MOST_OPERATIONS: u32 = 12;

/// Whether a value is the same in each iteration of a loop of one block: computed by at most `operations` from what
/// comes from outside, and from nothing that is loaded.
///
/// # Safety
/// Both are live.
unsafe fn stays(value: LLVMValueRef, block: LLVMBasicBlockRef, operations: u32) -> bool {
    // SAFETY: the operands of an instruction; phis, which end the way back, have none that are looked at.
    unsafe {
        if LLVMIsAInstruction(value).is_null() || LLVMGetInstructionParent(value) != block {
            return true;
        }
        let computes = !LLVMIsAGetElementPtrInst(value).is_null()
            || !LLVMIsABinaryOperator(value).is_null()
            || !LLVMIsACastInst(value).is_null();
        computes
            && operations > 0
            && (0..LLVMGetNumOperands(value))
                .all(|n| stays(LLVMGetOperand(value, n as u32), block, operations - 1))
    }
}
