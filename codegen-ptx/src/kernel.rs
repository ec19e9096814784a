//! Mapped kernels as target-neutral LLVM IR.
//!
//! [`build_kernels`] makes a module with one function a kernel: what *one thread* of one block does. What depends on the
//! target is a call of an abstract function, which [`lower_ptx`](crate::lower_ptx) and
//! [`lower_emulated`](crate::lower_emulated) replace:
//! ```text
//! i64  @pollyrs.block_id()            linear block index
//! i32  @pollyrs.thread_id.{x,y,z}()   thread index in the block
//! void @pollyrs.barrier()             barrier among the threads of a block
//! ptr  @pollyrs.shared()              the block's shared memory
//! i64  @pollyrs.opaque(i64)           its argument
//! ```
//! A user node of the schedule's AST whose tuple is named `_barrier` (or `_barrier` and more) is such a barrier.
//!
//! # Invariants
//! - Arguments come in this order: the device address of every array of [`KernelInfo::arrays`] (of the element with all
//!   subscripts zero, so it may lie outside the allocation), then [`KernelInfo::scalars`]. Only what the kernel uses is passed.
//! - Array arguments are `noalias`: a SCoP runs on the device only if its arrays' touched ranges are disjoint. Those through which threads
//!   pass values on behind a barrier are not: the optimizer takes it that no one else writes to a `noalias` argument. `readonly` says
//!   that no statement of this kernel writes the array.
//! - Every access claims the alignment that the host's access claims, at most that of its element: device addresses are
//!   congruent to the host's.
//! - The module refers to nothing of the host module but types of the shared context.
//!
//! # Example
//! `for (i) S0: A[i] = B[i] + 1` in tiles of 256:
//! ```text
//! define void @f_K0(ptr noalias %A, ptr noalias readonly %B, i64 %n, i64 %_b0.lower) {
//!   %block = call i64 @pollyrs.block_id()
//!   ...
//! ```

use crate::arguments::{Argument, argument_types, candidates, finish, identifier, used_arrays};
pub(crate) use crate::arguments::{host_type, int_width, llvm_elem, slot_type, type_kind};
use crate::ast_expr::ExprEmitter;
use crate::axes::axes;
use crate::error::{CodegenError, Result, internal, unsupported};
use crate::groups;
use crate::ir::{Ir, c_string};
use crate::llvm::*;
use crate::promotion::{self, Promoted};
use crate::statement::Plan;
use crate::stencil::FusedKernels;
use crate::tiled::{self, Tiled};
use crate::walk::emit_in_groups;
use crate::window::{self, Windows};
use inkwell::llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl as isl;
use pollyrs_schedule::{MappedKernel, MappedScop, Placement};
use pollyrs_scop::{ArrayId, Scop, StmtId};
use std::collections::BTreeMap;
use std::fmt;

/// A kernel argument after the arrays; each fills one 8-byte slot at launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScalarArg {
    /// `Scop::params[i]`, an `i64`.
    Param(usize),
    /// `Scop::invariants[i]` in its own type, in the low bytes of the slot.
    Invariant(usize),
    /// `MappedKernel::host_params[i]`, an `i64`.
    HostParam(usize),
    /// The lower bound of grid dimension `i`, an `i64`.
    TileLower(usize),
    /// The extent of grid dimension `i`, an `i64`.
    TileCount(usize),
    /// The grid's block that is the launch's first one, an `i64`: 0 unless the launch is a slice of the grid.
    FirstBlock,
    /// `FusedKernels::scalars[i]`, an `i64`.
    Stencil(usize),
}

/// How to launch a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// The function's name: `<scop>_<kernel>`, an identifier of PTX.
    pub name: String,
    pub arrays: Vec<ArrayId>,
    pub scalars: Vec<ScalarArg>,
    /// Threads in x, y, z.
    pub block: [u32; 3],
    pub has_barrier: bool,
    /// Shared memory a block.
    pub shared_bytes: u32,
    /// How much of it code without operations of warps needs.
    pub plain_shared_bytes: u32,
    /// Shared memory behind it that only the emulated device needs.
    pub exchange_bytes: u32,
    /// Blocks of so many neighbouring tiles along the first dimension of the grid are neighbours: what slices consist of. 0: it is launched as a whole.
    pub slice_tiles: u32,
}

/// The most shared memory that a block has without asking for it at the launch.
const STATIC_SHARED_BYTES: u32 = 48 * 1024;

impl KernelInfo {
    /// What a launch on a GPU asks for: all or nothing.
    pub fn dynamic_shared_bytes(&self) -> u32 {
        if self.shared_bytes > STATIC_SHARED_BYTES { self.shared_bytes } else { 0 }
    }
}

/// The kernels of a SCoP. It lives in the host module's LLVM context and must be dropped before that.
pub struct KernelModule {
    pub(crate) owned: OwnedModule,
    pub(crate) kernels: Vec<KernelInfo>,
    /// The attributes of the host function that fix its instruction set, for emulated kernels.
    pub(crate) host_target: Vec<(String, String)>,
    /// Kernels of several time steps, behind those of the mapping.
    pub(crate) fused: Option<FusedKernels>,
}

impl KernelModule {
    /// How to launch the kernels, in the order of `MappedScop::kernels`.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// The fused kernels, if [`fuse`](crate::fuse) added some.
    pub fn fused(&self) -> Option<&FusedKernels> {
        self.fused.as_ref()
    }

    /// The module; it stays ours.
    pub fn module(&self) -> LLVMModuleRef {
        self.owned.0
    }
}

impl fmt::Display for KernelModule {
    /// The printer behind `print<pollyrs-kernel>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&module_text(self.owned.0))
    }
}

impl fmt::Debug for KernelModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelModule").field("kernels", &self.kernels).finish_non_exhaustive()
    }
}

/// Builds the kernels of a mapped SCoP.
///
/// # Errors
/// [`CodegenError::Unsupported`](crate::CodegenError::Unsupported) for instructions that cannot run on a device; [`CodegenError::Internal`](crate::CodegenError::Internal) if an earlier stage broke
/// an invariant. The host module is not touched.
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

/// LLVM's verifier.
pub(crate) fn verify(module: LLVMModuleRef) -> Result<()> {
    let mut message = std::ptr::null_mut();
    // SAFETY: a live module; the message is ours.
    let broken =
        unsafe { LLVMVerifyModule(module, LLVMVerifierFailureAction::LLVMReturnStatusAction, &mut message) };
    let text = take_message(message);
    if broken != 0 { internal(format!("broken kernel module: {text}")) } else { Ok(()) }
}

/// The state while one kernel is built.
pub(crate) struct KernelBuilder<'a> {
    pub scop: &'a Scop,
    pub mapped: &'a MappedScop,
    pub kernel: &'a MappedKernel,
    pub module: LLVMModuleRef,
    pub ir: &'a Ir,
    /// Parameters and mapping parameters: what is known in the entry block.
    pub emit: ExprEmitter<'a>,
    /// The address of `[0, ..., 0]`, or of the thread's cell.
    pub arrays: BTreeMap<ArrayId, LLVMValueRef>,
    /// By host value.
    pub invariants: BTreeMap<usize, LLVMValueRef>,
    /// Sizes of array dimensions, computed in the entry block.
    pub sizes: BTreeMap<(ArrayId, usize), LLVMValueRef>,
    /// The branch that ends the entry block.
    pub entry_end: LLVMValueRef,
    pub plans: BTreeMap<StmtId, Plan>,
    pub has_barrier: bool,
    /// Set while the points of a thread are emitted side by side.
    pub tiled: Option<Tiled<'a>>,
    pub windows: Windows,
    /// Set while a loop is emitted that keeps a cell in a register.
    pub promoted: Option<Promoted>,
}

impl KernelBuilder<'_> {
    /// Emits at the end of the entry block, then goes back.
    pub(crate) fn at_entry<T>(&self, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let back = self.ir.block();
        self.ir.before(self.entry_end);
        let v = f();
        self.ir.at_end(back);
        v
    }

    /// The number of elements along dimension `d` of an array.
    pub fn size(&mut self, id: ArrayId, d: usize) -> Result<LLVMValueRef> {
        if let Some(v) = self.sizes.get(&(id, d)) {
            return Ok(*v);
        }
        let array = self.scop.array(id);
        let Some(Some(size)) = array.sizes.get(d) else {
            return internal(format!("{} has no size in dimension {d}", array.name));
        };
        let e = crate::ast_expr::pw_aff_expr(size, Some(&self.kernel.context.clone().params()?))?;
        let v = self.at_entry(|| self.emit.emit_int(&e))?;
        self.sizes.insert((id, d), v);
        Ok(v)
    }

    /// Goes on in a block that is skipped if `c` holds; what is skipped has to end with a branch to the block that is given.
    pub(crate) fn unless(&self, c: LLVMValueRef) -> LLVMBasicBlockRef {
        // SAFETY: the builder is in a block of the draft.
        let function = unsafe { LLVMGetBasicBlockParent(self.ir.block()) };
        let (then, after) =
            (self.ir.append_block(function, "store"), self.ir.append_block(function, "stored"));
        self.ir.cond_br(c, after, then);
        self.ir.at_end(then);
        after
    }

    /// `v`, as something that the optimizer knows nothing of.
    pub(crate) fn opaque(&self, v: LLVMValueRef) -> LLVMValueRef {
        let ty = self.ir.i64_type();
        let f = declare(self.module, OPAQUE, function_type(ty, &[ty]));
        for a in ["nounwind", "willreturn"] {
            add_enum_attribute(self.ir.ctx, f, FUNCTION, a, 0);
        }
        self.ir.call_function(f, &[v])
    }

    /// An abstract function of the target.
    pub fn abstract_call(&self, name: &str, ret: LLVMTypeRef) -> LLVMValueRef {
        let f = declare(self.module, name, function_type(ret, &[]));
        let c = self.ir.ctx;
        add_enum_attribute(c, f, FUNCTION, "nounwind", 0);
        add_enum_attribute(c, f, FUNCTION, "willreturn", 0);
        if name == BARRIER {
            add_enum_attribute(c, f, FUNCTION, "convergent", 0);
        } else {
            // memory(none)
            add_enum_attribute(c, f, FUNCTION, "memory", 0);
        }
        self.ir.call_function(f, &[])
    }
}

pub(crate) const BLOCK_ID: &str = "pollyrs.block_id";
pub(crate) const THREAD_ID: [&str; 3] = ["pollyrs.thread_id.x", "pollyrs.thread_id.y", "pollyrs.thread_id.z"];
pub(crate) const BARRIER: &str = "pollyrs.barrier";
/// Asks the cache for the line at an address in global memory.
pub(crate) const PREFETCH: &str = "pollyrs.prefetch";
/// The identity of `i64`, which nothing looks through.
pub(crate) const OPAQUE: &str = "pollyrs.opaque";
/// The block's shared memory, `KernelInfo::shared_bytes` of it: a generic pointer.
pub(crate) const SHARED: &str = "pollyrs.shared";

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
    // SAFETY: live context and module. The function is a draft that holds the blocks until the used arguments are known.
    let draft = unsafe {
        let ty = function_type(LLVMVoidTypeInContext(context), &types);
        LLVMAddFunction(module, c"pollyrs.draft".as_ptr(), ty)
    };
    let result = (|| {
        let mut k = entry(ir, module, draft, scop, mapped, kernel, &arguments, &used)?;
        if let Some(tiling) = &kernel.tiling {
            let tree = tiled::ast(tiling)?;
            let private = |id: &ArrayId| mapped.placement.get(id.0) == Some(&Placement::Private);
            let private: Vec<_> = used.keys().copied().filter(private).collect();
            tiled::emit(&mut k, draft, tiling, &tree, &private)?;
            ir.ret_void();
            return finish(&k, draft, &arguments, &types, &used);
        }
        let build = isl::AstBuild::from_context(kernel.context.clone().params()?)?;
        let tree = build.node_from_schedule(window::general(kernel)?)?;
        if kernel.steps.is_some() && !crate::barriers::same_barriers(&tree)? {
            return Err(CodegenError::Divergent);
        }
        if !window::scoped(&kernel.windows, &tree)? {
            return Err(CodegenError::Unscoped);
        }
        k.windows.disturb(scop, kernel, &tree)?;
        let full = window::full_stage(kernel)?;
        let mut emit = k.emit.clone();
        let mut element = |emit: &mut ExprEmitter<'_>, name: &str, iterators: &[LLVMValueRef]| {
            if name == pollyrs_schedule::ENTER {
                window::enter(&mut k, emit, iterators)?;
                return match &full {
                    Some(tree) => window::branch_to_full(&mut k, draft, emit, tree, iterators),
                    None => Ok(None),
                };
            }
            if promotion::element(&mut k, emit, name, iterators)? {
                return Ok(None);
            }
            window::emit_element(&mut k, emit, name, iterators)
        };
        let groups = |nodes: &[isl::AstNode]| groups::in_general(kernel, scop, nodes);
        emit_in_groups(ir, draft, &mut emit, &tree, &mut element, &groups)?;
        ir.ret_void();
        match kernel.block.iter().map(|b| b.size).product::<u32>() {
            1 => unroll_loops(context, draft, UNROLL_ALONE),
            2..=FEW_THREADS => unroll_loops(context, draft, UNROLL),
            ..=MORE_THREADS if full.is_none() => unroll_loops(context, draft, UNROLL_MORE),
            _ if full.is_some() && kernel.unrolled => window::unroll_steps(context, draft),
            _ => {}
        }
        finish(&k, draft, &arguments, &types, &used)
    })();
    // SAFETY: the draft has no uses; after `finish` it is empty, after an error it takes its blocks with it.
    unsafe { LLVMDeleteFunction(draft) };
    result
}

/// Blocks of at most so many threads are those of long loops in few threads, or in some more where neighbours touch neighbouring elements.
const FEW_THREADS: u32 = 32;
const MORE_THREADS: u32 = pollyrs_schedule::FEW_THREADS;
/// Loads of so many iterations are on their way at once: with one thread, 32 take little longer than one. (On an H200, a warp: 8, 16 and 32 iterations give
/// 303, 226 and 227 ms of gramschmidt in floats, 371, 357 and 349 in doubles, 3.03, 2.74 and 2.72 of deriche. Two warps: a filter of 31 points takes 0.65 ms
/// with 8 and 1.34 with 32. One thread: 32, 64 and 128 give 129, 116 and 120 ms of durbin in floats, 177, 180 and 191 in doubles.)
const UNROLL: u32 = 16;
const UNROLL_MORE: u32 = 8;
const UNROLL_ALONE: u32 = 32;

/// Asks the optimizer to unroll loops of one block. Nothing else hides the latency of loads where threads are few, and by itself it unrolls less.
fn unroll_loops(context: LLVMContextRef, function: LLVMValueRef, iterations: u32) {
    // SAFETY: live context and function, and the terminators of its blocks.
    unsafe {
        let count = LLVMConstInt(LLVMInt32TypeInContext(context), iterations.into(), 0);
        hint_loops(context, function, "llvm.loop.unroll.count", Some(count), |end| {
            let block = LLVMGetInstructionParent(end);
            (0..LLVMGetNumSuccessors(end)).any(|i| LLVMGetSuccessor(end, i) == block)
        });
    }
}

/// Fills the entry block: names for the arguments, the tile and thread coordinates, the private cells.
#[allow(clippy::too_many_arguments)]
fn entry<'a>(
    ir: &'a Ir,
    module: LLVMModuleRef,
    draft: LLVMValueRef,
    scop: &'a Scop,
    mapped: &'a MappedScop,
    kernel: &'a MappedKernel,
    arguments: &[Argument],
    used: &BTreeMap<ArrayId, bool>,
) -> Result<KernelBuilder<'a>> {
    // SAFETY: a live function without blocks.
    let (start, body) = unsafe {
        let block = || LLVMAppendBasicBlockInContext(ir.ctx, draft, EMPTY);
        (block(), block())
    };
    ir.at_end(start);
    let mut names = BTreeMap::new();
    let mut arrays = BTreeMap::new();
    let mut invariants = BTreeMap::new();
    let (mut lower, mut count) = (BTreeMap::new(), BTreeMap::new());
    let mut first_block = None;
    for (i, a) in arguments.iter().enumerate() {
        // SAFETY: the draft has one parameter an argument.
        let v = unsafe { LLVMGetParam(draft, i as u32) };
        match *a {
            Argument::Array(id) => {
                arrays.insert(id, v);
            }
            Argument::Scalar(ScalarArg::Param(p)) => {
                names.insert(scop.params[p].name.clone(), v);
            }
            Argument::Scalar(ScalarArg::HostParam(h)) => {
                names.insert(kernel.host_params[h].clone(), v);
            }
            Argument::Scalar(ScalarArg::Invariant(n)) => {
                let handle = scop.invariants[n].value.0;
                let ty = host_type(handle);
                if slot_type(ir, ty).is_some() {
                    let narrow = int_width(ty).is_some_and(|w| w != 32 && w != 64);
                    invariants.insert(handle, if narrow { ir.trunc(v, ty) } else { v });
                }
            }
            Argument::Scalar(ScalarArg::TileLower(d)) => {
                lower.insert(d, v);
            }
            Argument::Scalar(ScalarArg::TileCount(d)) => {
                count.insert(d, v);
            }
            Argument::Scalar(ScalarArg::FirstBlock) => first_block = Some(v),
            Argument::Scalar(ScalarArg::Stencil(_)) => return internal("an argument of fused kernels"),
        }
    }
    for id in used.keys() {
        if !arrays.contains_key(id) {
            let elem = scop.array(*id).elem;
            // SAFETY: live context; a sized type.
            let cell = unsafe {
                let cell = LLVMBuildAlloca(ir.raw(), llvm_elem(ir, elem), EMPTY);
                LLVMSetAlignment(cell, elem.bytes());
                cell
            };
            arrays.insert(*id, cell);
        }
    }
    let entry_end = {
        ir.br(body);
        // SAFETY: the block has just got its terminator.
        unsafe { LLVMGetBasicBlockTerminator(start) }
    };
    ir.at_end(body);
    let emit = ExprEmitter::new(ir, names);
    let mut k = KernelBuilder {
        scop,
        mapped,
        kernel,
        module,
        ir,
        emit,
        arrays,
        invariants,
        sizes: BTreeMap::new(),
        entry_end,
        plans: BTreeMap::new(),
        has_barrier: false,
        tiled: None,
        windows: Windows::new(scop, kernel)?,
        promoted: None,
    };
    let first_block = first_block.filter(|_| crate::slice::slice_tiles(&k).is_ok_and(|tiles| tiles > 0));
    let coordinates = k.at_entry(|| coordinates(&k, first_block, &lower, &count))?;
    k.emit.names.extend(coordinates);
    Ok(k)
}

/// The values of the tile and thread parameters. The linear block index is `((i0 * count1) + i1) * count2 + i2`, but for the
/// order of tiles in a plane ([`tiled::in_plane`]).
fn coordinates(
    k: &KernelBuilder,
    first_block: Option<LLVMValueRef>,
    lower: &BTreeMap<usize, LLVMValueRef>,
    count: &BTreeMap<usize, LLVMValueRef>,
) -> Result<Vec<(String, LLVMValueRef)>> {
    let ir = k.ir;
    let mut out = Vec::new();
    if !k.kernel.grid.is_empty() {
        let mut rest = k.abstract_call(BLOCK_ID, ir.i64_type());
        if let Some(first) = first_block {
            // A grid has less than 2^31 blocks. In 32 bits, so that the optimizer knows that the sum is not negative.
            let narrow = |v| ir.trunc(v, ir.int_type(32));
            rest = ir.zext(ir.add(narrow(rest), narrow(first)), ir.i64_type());
        }
        let size = |d: usize| -> Result<LLVMValueRef> {
            let f = &k.kernel.grid[d].count;
            match (constant(k, f)?, count.get(&d)) {
                (Some(c), _) => Ok(c),
                (None, Some(c)) => Ok(*c),
                (None, None) => {
                    let context = k.kernel.context.clone().params()?;
                    k.emit.emit_int(&crate::ast_expr::pw_aff_expr(f, Some(&context))?)
                }
            }
        };
        let n = k.kernel.grid.len();
        let mut place = Vec::new();
        if tiled::in_groups(k) {
            let (columns, rows) = (size(n - 1)?, size(n - 2)?);
            let mut index = rest;
            if n > 2 {
                let plane = ir.mul(rows, columns);
                index = ir.urem(rest, plane);
                rest = ir.udiv(rest, plane);
            }
            place = tiled::in_plane(ir, index, rows, columns).to_vec();
        }
        for (d, g) in k.kernel.grid.iter().enumerate().rev() {
            let index = if d + place.len() >= n {
                place[n - 1 - d]
            } else if d > 0 {
                let count = size(d)?;
                let index = ir.urem(rest, count);
                rest = ir.udiv(rest, count);
                index
            } else {
                rest
            };
            let lower = constant(k, &g.lower)?.unwrap_or(lower[&d]);
            out.push((g.param.clone(), ir.add(index, lower)));
        }
    }
    if let Some(t) = &k.kernel.tiling {
        out.extend(tiled::threads(k, t)?);
        return Ok(out);
    }
    for (axis, b) in axes(k.kernel)?.into_iter().zip(&k.kernel.block) {
        let id = match axis {
            Some(axis) => ir.zext(k.abstract_call(THREAD_ID[axis], ir.int_type(32)), ir.i64_type()),
            None => ir.int(0),
        };
        out.push((b.param.clone(), id));
    }
    Ok(out)
}

/// The value of a function that has the same one everywhere.
fn constant(k: &KernelBuilder, f: &isl::PwAff) -> Result<Option<LLVMValueRef>> {
    let e = crate::ast_expr::pw_aff_expr(f, None)?;
    Ok(if e.expr_type()? == isl::AstExprType::Int { Some(k.emit.emit_int(&e)?) } else { None })
}

/// The value of an invariant.
pub(crate) fn invariant(k: &KernelBuilder, handle: usize) -> Result<Option<LLVMValueRef>> {
    if let Some(v) = k.invariants.get(&handle) {
        return Ok(Some(*v));
    }
    if k.scop.invariants.iter().any(|i| i.value.0 == handle) {
        return unsupported(format!("the value {}", text_of(handle as LLVMValueRef)));
    }
    Ok(None)
}
