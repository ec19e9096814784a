//! Windows of shared memory in the code of a kernel with steps ([`Window`]).
//!
//! Where a stage begins, `_enter(p)` computes for each window where the element with all subscripts zero would lie: from there on the place of an
//! element is a sum of subscripts times constants, so that those of neighbours differ by constants.
//! ```text
//! origin = shared + start - 4 (stride0 lower0(p) + stride1 lower1(p))
//! _in0(p, s0, s1)    origin[stride0 s0 + stride1 s1] = A[s0, s1]
//! S                  loads from origin[...]; stores to origin[...] and to A[...]
//! ```
//!
//! # Invariant
//! Code that uses a window follows, in a block of the AST or one around it, the `_enter` of its stage ([`scoped`] sees to it). The checker proves
//! that stages run one after the other, so this is also the last one that ran.

use crate::ast_expr::ExprEmitter;
use crate::error::{Result, internal};
use crate::kernel::{KernelBuilder, SHARED, llvm_elem};
use crate::llvm::hint_loops;
use crate::tiled;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl as isl;
use pollyrs_schedule::{ENTER, MappedKernel, Window};
use pollyrs_scop::{ArrayId, Scop};

/// Alignment of windows, more than any element needs.
const ALIGN: u64 = 16;
/// The most shared memory of a block.
const MAX_BYTES: u64 = 227 * 1024;

/// The windows of a kernel while its code is emitted.
#[derive(Default)]
pub(crate) struct Windows {
    places: Vec<Place>,
    pub shared_bytes: u32,
}

struct Place {
    array: ArrayId,
    /// In shared memory, in bytes.
    start: u64,
    strides: Vec<u64>,
    /// The address of the element with all subscripts zero in the stage that is emitted.
    origin: Option<LLVMValueRef>,
}

impl Windows {
    pub fn new(scop: &Scop, kernel: &MappedKernel) -> Result<Windows> {
        let (mut places, mut end) = (Vec::new(), 0);
        for w in &kernel.windows {
            places.push(Place { array: w.array, start: end, strides: w.strides(), origin: None });
            let bytes = w.elements() * u64::from(scop.array(w.array).elem.bytes());
            end = (end + bytes).next_multiple_of(ALIGN);
        }
        if end > MAX_BYTES {
            return internal(format!("windows of {end} bytes"));
        }
        Ok(Windows { places, shared_bytes: end as u32 })
    }
}

/// The beginning of the stage `p`.
pub(crate) fn enter(k: &mut KernelBuilder<'_>, emit: &ExprEmitter<'_>, p: &[LLVMValueRef]) -> Result<()> {
    let ir = k.ir;
    let kernel = k.kernel;
    let mut emit = emit.clone();
    for (d, v) in p.iter().enumerate() {
        emit.names.insert(crate::ast_expr::iterator_name(d as u32), *v);
    }
    for (i, w) in kernel.windows.iter().enumerate() {
        let bytes = u64::from(k.scop.array(w.array).elem.bytes());
        let mut begin = ir.int(k.windows.places[i].start as i64);
        for (lower, stride) in w.lower.iter().zip(w.strides()) {
            let lower = crate::ast_expr::parameterize(lower)?;
            let lower = emit.emit_int(&crate::ast_expr::pw_aff_expr(&lower, None)?)?;
            begin = ir.sub(begin, ir.mul(lower, ir.int((stride * bytes) as i64)));
        }
        let shared = k.abstract_call(SHARED, ir.ptr_type());
        k.windows.places[i].origin = Some(ir.byte_offset(shared, begin));
    }
    Ok(())
}

/// The address of an element in its window; `None` if its array has none.
pub(crate) fn address(
    k: &KernelBuilder<'_>,
    array: ArrayId,
    subscripts: &[LLVMValueRef],
) -> Result<Option<LLVMValueRef>> {
    let Some(place) = k.windows.places.iter().find(|p| p.array == array) else { return Ok(None) };
    let Some(origin) = place.origin else { return internal("an access outside of its window's stage") };
    let ir = k.ir;
    let mut offset = ir.int(0);
    for (s, stride) in subscripts.iter().zip(&place.strides) {
        offset = ir.add(offset, ir.mul(*s, ir.int(*stride as i64)));
    }
    Ok(Some(ir.element(llvm_elem(ir, k.scop.array(array).elem), origin, offset)))
}

/// `_p0`, ...: the parameters that stand for a full stage.
fn stage_params(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("_p{i}")).collect()
}

/// The AST of one full stage `_p*`, from the thread's schedule restricted to it: bounds that hold in full stages are left out, and what a thread
/// does in turns is unrolled. `None` if the kernel has no such code.
pub(crate) fn full_stage(kernel: &MappedKernel) -> Result<Option<isl::AstNode>> {
    let Some(full) = kernel.full.as_ref().filter(|f| matches!(f.is_empty(), Ok(false))) else {
        return Ok(None);
    };
    let ctx = full.context();
    let n = full.dim(isl::DimType::Set)? as usize;
    let names = stage_params(n);
    let equal: Vec<_> = names.iter().enumerate().map(|(d, p)| format!("c{d} = {p}")).collect();
    let tuple: Vec<_> = (0..n).map(|d| format!("c{d}")).collect();
    let condition = if n == 0 { "true".to_owned() } else { equal.join(" and ") };
    let at = format!("[{}] -> {{ [{}] : {condition} }}", names.join(","), tuple.join(","));
    let here = isl::Set::read(ctx, &at)?.set_tuple_name(ENTER)?.intersect(full.clone())?.params()?;
    let context = kernel.context.clone().params()?.intersect(here)?;
    let mut schedule = kernel.schedule.clone();
    if n > 0 {
        let stages = schedule.root()?.child(0)?.band_partial_schedule()?;
        let stages = isl::UnionMap::from_multi_union_pw_aff(stages)?;
        let at = isl::UnionSet::read(ctx, &at)?;
        let part = stages.intersect_range(at)?.domain()?.gist(schedule.domain()?)?;
        schedule = schedule.intersect_domain(part)?;
    }
    let node = unrolled_turns(schedule.root()?.child(0)?, n)?;
    let tree = isl::AstBuild::from_context(context)?.node_from_schedule(node.schedule()?)?;
    match crate::barriers::same_barriers(&tree)? {
        true => Ok(Some(tree)),
        false => internal("a barrier under a condition that is not the same in all threads of a block"),
    }
}

/// The bands in which a thread takes turns, unrolled: those that hold no barrier.
fn unrolled_turns(node: isl::ScheduleNode, stages: usize) -> Result<isl::ScheduleNode> {
    let mut node = node;
    if node.node_type()? == isl::NodeType::Band && node.schedule_depth()? as usize >= stages {
        let mut meets = false;
        for set in node.universe_domain()?.sets()? {
            meets |= set.tuple_name()?.as_deref() == Some(pollyrs_schedule::BARRIER);
        }
        if !meets {
            for d in 0..node.band_n_member()? {
                node = node.band_set_ast_loop_type(d as i32, isl::AstLoopType::Unroll)?;
            }
        }
    }
    for i in 0..if node.has_children()? { node.n_children()? as i32 } else { 0 } {
        node = unrolled_turns(node.child(i)?, stages)?.parent()?;
    }
    Ok(node)
}

/// Whether the stage `p` is full; `emit` learns its coordinates.
fn is_full(
    kernel: &MappedKernel,
    emit: &mut ExprEmitter<'_>,
    p: &[LLVMValueRef],
) -> Result<Option<LLVMValueRef>> {
    let Some(full) = &kernel.full else { return Ok(None) };
    for (d, (v, name)) in p.iter().zip(stage_params(p.len())).enumerate() {
        emit.names.insert(crate::ast_expr::iterator_name(d as u32), *v);
        emit.names.insert(name, *v);
    }
    Ok(Some(emit.emit_set(&crate::ast_expr::parameterize_set(full)?)?))
}

/// Emits an element of a thread's schedule.
pub(crate) fn emit_element(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    name: &str,
    iterators: &[LLVMValueRef],
) -> Result<()> {
    if name.starts_with(pollyrs_schedule::BARRIER) {
        if pollyrs_schedule::planted::planted("step-barrier") {
            return Ok(());
        }
        k.has_barrier = true;
        k.abstract_call(crate::kernel::BARRIER, k.ir.void_type());
        return Ok(());
    }
    if copy(k, name, iterators)? {
        return Ok(());
    }
    crate::statement::emit_statement(k, emit, name, iterators)
}

/// At the beginning of a stage: a branch to its code for full stages. The builder is afterwards where the general code belongs, the block that is
/// given is behind both.
pub(crate) fn branch_to_full<'e>(
    k: &mut KernelBuilder<'_>,
    function: LLVMValueRef,
    emit: &ExprEmitter<'e>,
    tree: &isl::AstNode,
    p: &[LLVMValueRef],
) -> Result<Option<LLVMBasicBlockRef>> {
    let ir = k.ir;
    let mut emit = emit.clone();
    let Some(condition) = is_full(k.kernel, &mut emit, p)? else { return Ok(None) };
    let block = |name: &str| ir.append_block(function, name);
    let (full, general, after) = (block("full"), block("general"), block("stage.end"));
    ir.cond_br(condition, full, general);
    ir.at_end(full);
    crate::walk::emit_ast(ir, function, &mut emit, tree, &mut |emit, name, iterators| {
        if name != pollyrs_schedule::ENTER {
            emit_element(k, emit, name, iterators)?;
        }
        Ok(None)
    })?;
    ir.br(after);
    ir.at_end(general);
    Ok(Some(after))
}

/// Asks the optimizer to unroll the loops that run a constant number of times, which the steps of a full stage do.
pub(crate) fn unroll_steps(context: LLVMContextRef, function: LLVMValueRef) {
    // SAFETY: live context and function, and the terminators of its blocks.
    unsafe { hint_loops(context, function, "llvm.loop.unroll.full", None, |end| counts_to_constant(end)) }
}

/// Whether a branch is the end of a loop from one constant to another, as [`crate::walk`] makes them.
///
/// # Safety
/// A live terminator.
unsafe fn counts_to_constant(end: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise; operands and incoming values are asked of instructions that have them.
    unsafe {
        if LLVMIsABranchInst(end).is_null() || LLVMIsConditional(end) == 0 {
            return false;
        }
        let test = LLVMGetCondition(end);
        if LLVMIsAICmpInst(test).is_null() || LLVMIsAConstantInt(LLVMGetOperand(test, 1)).is_null() {
            return false;
        }
        let counter = LLVMGetOperand(test, 0);
        !LLVMIsAPHINode(counter).is_null()
            && LLVMGetSuccessor(end, 1) == LLVMGetInstructionParent(counter)
            && !LLVMIsAConstantInt(LLVMGetIncomingValue(counter, 0)).is_null()
    }
}

/// Emits the copy `name(p, s)` of an element; `false` if there is no window of this name.
pub(crate) fn copy(k: &mut KernelBuilder<'_>, name: &str, args: &[LLVMValueRef]) -> Result<bool> {
    let kernel = k.kernel;
    let Some(w) = kernel.windows.iter().find(|w| w.copy == name) else { return Ok(false) };
    let ir = k.ir;
    let Some(first) = args.len().checked_sub(w.size.len()) else {
        return internal("a copy with too few dimensions");
    };
    let subscripts = &args[first..];
    let array = k.scop.array(w.array);
    let (ty, align) = (llvm_elem(ir, array.elem), tiled::alignment(k, w.array));
    let Some(base) = k.arrays.get(&w.array).copied() else { return internal("a window without an array") };
    let mut offset = subscripts[0];
    for (d, s) in subscripts.iter().enumerate().skip(1) {
        let size = k.size(w.array, d)?;
        offset = ir.add(ir.mul(offset, size), *s);
    }
    let Some(to) = address(k, w.array, subscripts)? else { return internal("a copy without a window") };
    ir.note("a copy to shared memory", &array.display);
    let v = ir.load_aligned(ty, ir.element(ty, base, offset), align);
    ir.note("a copy to shared memory", &array.display);
    ir.store_aligned(v, to, array.elem.bytes());
    Ok(true)
}

/// Whether everything but barriers follows the beginning of its stage, which runs where it does; see the module documentation.
pub(crate) fn scoped(windows: &[Window], node: &isl::AstNode) -> Result<bool> {
    if windows.is_empty() {
        return Ok(true);
    }
    Ok(walk(node, false)?.is_some())
}

/// Whether a stage has begun behind the node, if it had `before` it; `None` if something runs outside of any.
fn walk(node: &isl::AstNode, before: bool) -> Result<Option<bool>> {
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => {
            let mut begun = before;
            for child in node.block_children()?.to_vec()? {
                match walk(&child, begun)? {
                    Some(now) => begun = now,
                    None => return Ok(None),
                }
            }
            Some(begun)
        }
        isl::AstNodeType::Mark => walk(&node.mark_node()?, before)?,
        isl::AstNodeType::User => {
            let name = node.user_expr()?.arg(0)?.id()?.name();
            if name == ENTER {
                Some(true)
            } else {
                (before || name == pollyrs_schedule::BARRIER).then_some(before)
            }
        }
        // What begins in a branch or a loop ends there.
        isl::AstNodeType::If => {
            let mut children = vec![node.if_then()?];
            if node.if_has_else()? {
                children.push(node.if_else()?);
            }
            ends(&children, before)?
        }
        isl::AstNodeType::For => ends(&[node.for_body()?], before)?,
    })
}

/// The same for children whose stages must not reach beyond them.
fn ends(children: &[isl::AstNode], before: bool) -> Result<Option<bool>> {
    for child in children {
        // A stage that begins inside of another one would leave what follows in the wrong one.
        if walk(child, before && !enters(child)?)?.is_none() {
            return Ok(None);
        }
    }
    let mut inner = false;
    for child in children {
        inner |= enters(child)?;
    }
    Ok(Some(before && !inner))
}

fn enters(node: &isl::AstNode) -> Result<bool> {
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if enters(&child)? {
                    return Ok(true);
                }
            }
            false
        }
        isl::AstNodeType::Mark => enters(&node.mark_node()?)?,
        isl::AstNodeType::User => node.user_expr()?.arg(0)?.id()?.name() == ENTER,
        isl::AstNodeType::If => enters(&node.if_then()?)? || node.if_has_else()? && enters(&node.if_else()?)?,
        isl::AstNodeType::For => enters(&node.for_body()?)?,
    })
}
