//! Groups: copies to windows, or instances of one step, that a thread executes together
//! ([`crate::affine::walk::GroupFn`]).
//!
//! A group is emitted twice: first up to the values that it stores, then its stores. So a thread waits for
//! the loads of a group once, where it would else wait for those of each copy or point, which the optimizer
//! may not move ahead of other stores to shared memory.
//!
//! # Invariants
//! - Copies of one stage are of different elements; instances of one step don't depend on each other: the
//!   checker proves both.
//! - No barrier is in a group, and what it consists of has no loop: each value has a slot of its own.
//! - A statement is in a group only if all its loads come before its stores.
//!
//! # Example
//! ```text
//! S(t, i) S(t, i + 128)      v0 = f(loads of S(t, i)); v1 = f(loads of S(t, i + 128)); store v0; store v1
//! ```
//! Exact divisions and roots of a group are fast ones with one test for all ([`fast_division`]), behind which
//! the first half may come once more. Garbage that is computed where an instance does not happen may fail
//! that test; it costs time and nothing else.

use crate::affine::unroll_jam;
use crate::affine::walk::{Event, Group};
use crate::ir::builder::Ir;
use crate::ir::calls;
use crate::ir::calls::is_store;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ops::fast_division;
use crate::staged::state::KernelBuilder;
use crate::staged::stores;
use crate::staged::stores::Stores;
use crate::statement::emit::reports_nan;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use pollyrs_isl as isl;
use pollyrs_schedule::{MappedKernel, Mark, Tuple};
use pollyrs_scop::{Access, AccessValue, Scop, Statement};

/// Copies or instances of one step that are emitted twice: first up to the values that they store, then their
/// stores, so that a thread waits for its loads once. Copies are of different elements; instances of a step
/// don't depend on each other, which the checker proves.
#[derive(Default)]
pub(crate) struct Batch {
    /// A slot for each value, in order.
    values: Vec<Value>,
    /// How many have been stored, once all are loaded.
    stored: Option<usize>,
    /// How many have been computed once more, exactly.
    exactly: Option<usize>,
    /// Where the group begins: the block, and the last instruction ahead of it.
    from: Option<(Block, Option<Value>)>,
    /// Whether what is emitted next happens; its value is thrown away where not.
    happens: Option<Value>,
    /// Where stores may wait for the end of the group: the block that its second half begins in.
    pub begin: Option<Block>,
    /// Stores to global memory.
    pub stores: Stores,
}

/// The most values that a thread holds while it copies, and while it computes.
const COPIES: usize = 32;
const INSTANCES: usize = 24;
/// The most instances of a task's step at once.
const AT_ONCE: u32 = 16;
/// Elements along each coordinate of a task's tile.
const TILE: i64 = 64;

/// The [`Batch`] that begins a list, in a full stage: copies or instances without loops.
pub(crate) fn in_full(kernel: &MappedKernel, scop: &Scop, nodes: &[isl::AstNode]) -> Result<Group> {
    let found = flat(kernel, scop, nodes, &takes_fast_path)?;
    if found.len > 0 {
        return Ok(found);
    }
    let fits = |name: &str| scop.statement_named(name).is_some_and(|(_, s)| stores_last(s));
    Ok(Group { len: leading(nodes, INSTANCES, &fits)?, ..Group::default() })
}

/// The same in stages that are not full, where instances have conditions: a thread computes all of them, if
/// that does no harm, and stores those that there are. Else it would wait for the loads and the arithmetic of
/// each behind its own branch.
pub(crate) fn in_general(kernel: &MappedKernel, scop: &Scop, nodes: &[isl::AstNode]) -> Result<Group> {
    if let Some(found) = together(kernel, scop, nodes)? {
        return Ok(found);
    }
    if kernel.full().is_none() {
        return Ok(Group::default());
    }
    flat(kernel, scop, nodes, &|_| true)
}

/// Beneath the mark [`Mark::Together`]: rows and columns of a thread that are a group, where a task has a
/// tile.
fn together(kernel: &MappedKernel, scop: &Scop, nodes: &[isl::AstNode]) -> Result<Option<Group>> {
    let [node] = nodes else { return Ok(None) };
    if node.node_type()? != isl::AstNodeType::Mark
        || Mark::of(&node.mark_id()?.name()) != Some(Mark::Together)
    {
        return Ok(None);
    }
    let Some(nest) = unroll_jam::nest(&node.mark_node()?)? else { return Ok(None) };
    if kernel.task().is_none_or(|t| t.homes.is_empty())
        || !scop.statement_named(&nest.name()?).is_some_and(|(_, s)| stores_last(s))
    {
        return Ok(None);
    }
    // As many as there are in a tile.
    let [rows, columns] = nest.steps()?;
    let of_tile = |step: i64, most: u32| match step {
        0 => 1,
        step => ((TILE / step).max(1) as u32).min(most),
    };
    let columns = of_tile(columns, AT_ONCE);
    let rows = of_tile(rows, AT_ONCE / columns);
    Ok(Some(Group { at_once: [rows, columns], ..Group::default() }))
}

/// Copies, or instances of statements of a kind that are computed whatever their conditions say.
fn flat(
    kernel: &MappedKernel,
    scop: &Scop,
    nodes: &[isl::AstNode],
    kind: &dyn Fn(&Statement) -> bool,
) -> Result<Group> {
    let copies =
        leading(nodes, COPIES, &|name| kernel.windows().iter().any(|w| Tuple::of(name) == Some(w.copy)))?;
    if copies > 0 {
        return Ok(Group { len: copies, ..Group::default() });
    }
    let fits = |name: &str| {
        scop.statement_named(name).is_some_and(|(_, s)| kind(s) && stores_last(s) && harmless(kernel, s))
    };
    Ok(Group { len: leading(nodes, INSTANCES, &fits)?, flat: true, exactly: true, ..Group::default() })
}

/// Whether a statement has exact divisions or roots for which [`fast_division`] has code without branches.
fn takes_fast_path(s: &Statement) -> bool {
    let is_fast = |i: Value| fast_division::is_exact(i) && !calls::may_be_set(i);
    s.body.iter().any(|i| is_fast(host_value(*i)))
}

/// The number of leading nodes with nothing but conditions and at most `most` users with fitting names.
fn leading(nodes: &[isl::AstNode], most: usize, fits: &dyn Fn(&str) -> bool) -> Result<usize> {
    let (mut n, mut all) = (0, 0);
    for node in nodes {
        let Some(users) = users(node, fits)? else { break };
        all += users;
        if n > 0 && all > most {
            break;
        }
        n += 1;
    }
    Ok(n)
}

fn users(node: &isl::AstNode, fits: &dyn Fn(&str) -> bool) -> Result<Option<usize>> {
    let children = match node.node_type()? {
        isl::AstNodeType::User => {
            let name = node.user_expr()?.arg(0)?.id()?.name();
            return Ok(fits(&name).then_some(1));
        }
        isl::AstNodeType::Block => node.block_children()?.to_vec()?,
        isl::AstNodeType::Mark => vec![node.mark_node()?],
        isl::AstNodeType::If if node.if_has_else()? => vec![node.if_then()?, node.if_else()?],
        isl::AstNodeType::If => vec![node.if_then()?],
        isl::AstNodeType::For => return Ok(None),
    };
    let mut all = 0;
    for child in &children {
        let Some(n) = users(child, fits)? else { return Ok(None) };
        all += n;
    }
    Ok(Some(all))
}

/// The value that something stores, which `make` computes; `None` where a group is emitted for the first time
/// and nothing is stored yet.
pub(crate) fn batched(
    k: &mut KernelBuilder<'_>,
    ty: Type,
    make: impl FnOnce(&Ir) -> Result<Value>,
) -> Result<Option<Value>> {
    let ir = k.ir;
    let stored = match &k.storage.windows.batch {
        None => return Ok(Some(make(ir)?)),
        Some(batch) => batch.stored,
    };
    let Some(n) = stored else {
        let again = k.storage.windows.batch.as_mut().and_then(|b| {
            let n = b.exactly.as_mut()?;
            *n += 1;
            Some(b.values.get(*n - 1).copied())
        });
        let slot = match again {
            None => k.at_entry(|| Ok(ir.alloca(ty, "kept")))?,
            Some(Some(slot)) => slot,
            Some(None) => return internal("an exact value of which there is no quick one"),
        };
        let mut v = make(ir)?;
        if happens(k).is_some() {
            v = opaque(k, ty, v);
        }
        ir.store(v, slot);
        if again.is_none() {
            k.storage.windows.batch.iter_mut().for_each(|b| b.values.push(slot));
        }
        return Ok(None);
    };
    let slot = k.storage.windows.batch.iter_mut().find_map(|b| {
        b.stored = Some(n + 1);
        b.values.get(n).copied()
    });
    match slot {
        Some(slot) => Ok(Some(ir.load(ty, slot))),
        None => internal("a store of a value that was not computed"),
    }
}

/// The condition of what is emitted although it may not happen.
pub(crate) fn happens(k: &KernelBuilder<'_>) -> Option<Value> {
    k.storage.windows.batch.as_ref().and_then(|b| b.happens)
}

/// A value that the optimizer does not compute where it is stored instead.
fn opaque(k: &KernelBuilder<'_>, ty: Type, v: Value) -> Value {
    let ir = k.ir;
    let (bits, float) = match ty.kind() {
        LLVMTypeKind::LLVMFloatTypeKind => (32, true),
        LLVMTypeKind::LLVMDoubleTypeKind => (64, true),
        LLVMTypeKind::LLVMIntegerTypeKind => (ty.int_width().unwrap_or(0), false),
        _ => return v,
    };
    if bits > 64 {
        return v;
    }
    let number = if float { ir.cast(LLVMOpcode::LLVMBitCast, v, ir.int_type(bits)) } else { v };
    let wide = k.opaque(if bits < 64 { ir.zext(number, ir.i64_type()) } else { number });
    let number = if bits < 64 { ir.trunc(wide, ir.int_type(bits)) } else { wide };
    if float { ir.cast(LLVMOpcode::LLVMBitCast, number, ty) } else { number }
}

/// Whether only the stores of a group are emitted.
pub(crate) fn only_stores(k: &KernelBuilder<'_>) -> bool {
    k.storage.windows.batch.as_ref().is_some_and(|b| b.stored.is_some())
}

/// The passes of a group.
pub(crate) fn pass(k: &mut KernelBuilder<'_>, event: Event<'_>, values: &[Value]) -> Result<()> {
    match (event, &mut k.storage.windows.batch) {
        (Event::First, batch @ None) => {
            let block = k.ir.block();
            let last = block.last();
            *batch = Some(Batch { from: Some((block, last)), ..Batch::default() });
        }
        (Event::Where, Some(batch)) => batch.happens = values.first().copied(),
        (Event::Again, Some(batch)) => {
            (batch.happens, batch.exactly) = (None, None);
            batch.stored = Some(0);
            batch.begin = Some(k.ir.block());
        }
        (Event::End, batch @ Some(_)) => {
            if let Some(batch) = batch.take() {
                stores::emit(k, &batch.stores)?;
            }
        }
        (Event::First | Event::Again | Event::Where | Event::End, _) => {
            return internal("a group inside of another one");
        }
        _ => return internal(format!("{event:?} is no pass of a group")),
    }
    Ok(())
}

/// Makes the divisions and roots of a group fast ones ([`fast_division`]). The builder is afterwards where
/// they belong that are exact, for operands that fast ones are not for; the block that is given is behind
/// both. `None`: there is nothing to do.
pub(crate) fn exactly(k: &mut KernelBuilder<'_>) -> Result<Option<Block>> {
    let Some((block, last)) = k.storage.windows.batch.as_ref().and_then(|b| b.from) else {
        return internal("exact values without a group");
    };
    if k.ir.block() != block {
        return Ok(None);
    }
    let Some(test) = fast_division::use_fast_paths(k, last) else { return Ok(None) };
    let [_, join] = fast_division::branch(k.ir, test);
    if let Some(batch) = &mut k.storage.windows.batch {
        (batch.happens, batch.exactly) = (None, Some(0));
    }
    Ok(Some(join))
}

/// Whether a statement first loads and computes and then stores, all by instructions: then its stores may
/// wait.
fn stores_last(s: &Statement) -> bool {
    let plain = |a: &Access| matches!(a.value, AccessValue::Instruction(_));
    let stores: Vec<_> = s.body.iter().map(|i| is_store(host_value(*i))).collect();
    let first = stores.iter().position(|s| *s).unwrap_or(stores.len());
    s.is_plain() && s.accesses.iter().all(plain) && stores[first..].iter().all(|s| *s)
}

/// Whether a statement may compute for instances that there are not: it loads from windows alone, and nothing
/// else in it can fail.
fn harmless(kernel: &MappedKernel, s: &Statement) -> bool {
    let windowed = |a: &Access| kernel.windows().iter().any(|w| w.array == a.array);
    s.accesses.iter().all(windowed) && !reports_nan(s) && s.body.iter().all(|i| speculates(host_value(*i)))
}

/// Whether points have divisions or roots that a thread computes side by side ([`fast_division`]).
pub fn divides(scop: &Scop) -> bool {
    scop.statements.iter().any(takes_fast_path)
}

/// Whether a point takes long, and keeps others of its thread waiting: some statement has a division of
/// integers, or a function that is no instruction of the device.
pub fn takes_long(scop: &Scop) -> bool {
    scop.statements.iter().any(|s| !s.body.iter().all(|i| speculates(host_value(*i))))
}

/// Whether an instruction of the host can't fail, and is one of the device, without branches.
pub(crate) fn speculates(i: Value) -> bool {
    use LLVMOpcode::*;
    if fast_division::is_exact(i) {
        return !calls::may_be_set(i);
    }
    match i.opcode() {
        LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => false,
        LLVMFRem => false,
        LLVMCall => {
            let callee = i.callee();
            let floating = ["fabs", "fma", "fmuladd", "minnum", "maxnum", "copysign"];
            callee.is_function() && floating.iter().any(|f| callee.name().starts_with(&format!("llvm.{f}.")))
        }
        _ => true,
    }
}
