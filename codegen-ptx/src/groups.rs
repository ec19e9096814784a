//! Groups: copies to windows, or instances of one step, that a thread executes together ([`crate::walk::GroupFn`]).
//!
//! A group is emitted twice: first up to the values that it stores, then its stores. So a thread waits for the loads of a group once, where it would
//! else wait for those of each copy or point, which the optimizer may not move ahead of other stores to shared memory.
//!
//! # Invariants
//! - Copies of one stage are of different elements; instances of one step don't depend on each other: the checker proves both.
//! - No barrier is in a group, and what it consists of has no loop: each value has a slot of its own.
//! - A statement is in a group only if all its loads come before its stores.
//!
//! # Example
//! ```text
//! S(t, i) S(t, i + 128)      v0 = f(loads of S(t, i)); v1 = f(loads of S(t, i + 128)); store v0; store v1
//! ```

use crate::error::{Result, internal};
use crate::ir::Ir;
use crate::kernel::KernelBuilder;
use crate::walk;
use crate::window::Windows;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::LLVMGetInstructionOpcode;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl as isl;
use pollyrs_schedule::MappedKernel;
use pollyrs_scop::{Access, AccessValue, Scop, Statement};

/// Copies or instances of one step that are emitted twice: first up to the values that they store, then their stores, so that a thread waits for
/// its loads once. Copies are of different elements; instances of a step don't depend on each other, which the checker proves.
pub(crate) struct Batch {
    /// A slot for each value, in order.
    values: Vec<LLVMValueRef>,
    /// How many have been stored, once all are loaded.
    stored: Option<usize>,
}

/// The most values that a thread holds while it copies, and while it computes.
const COPIES: usize = 32;
const INSTANCES: usize = 8;

/// How many of the nodes that begin a list fit one [`Batch`]: copies or instances without loops.
pub(crate) fn group(kernel: &MappedKernel, scop: &Scop, nodes: &[isl::AstNode]) -> Result<usize> {
    let copies = copies(kernel, nodes)?;
    if copies > 0 {
        return Ok(copies);
    }
    leading(nodes, INSTANCES, &|name| scop.statement_named(name).is_some_and(|(_, s)| stores_last(s)))
}

/// The same for copies alone. In stages that are not full every instance has conditions, which would be evaluated twice.
pub(crate) fn copies(kernel: &MappedKernel, nodes: &[isl::AstNode]) -> Result<usize> {
    if kernel.full.is_none() {
        return Ok(0);
    }
    leading(nodes, COPIES, &|name| kernel.windows.iter().any(|w| w.copy == name))
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

/// The value that something stores, which `make` computes; `None` where a group is emitted for the first time and nothing is stored yet.
pub(crate) fn batched(
    k: &mut KernelBuilder<'_>,
    ty: LLVMTypeRef,
    make: impl FnOnce(&Ir) -> Result<LLVMValueRef>,
) -> Result<Option<LLVMValueRef>> {
    let ir = k.ir;
    let stored = match &k.windows.batch {
        None => return Ok(Some(make(ir)?)),
        Some(batch) => batch.stored,
    };
    let Some(n) = stored else {
        let slot = k.at_entry(|| Ok(ir.alloca(ty, "kept")))?;
        ir.store(make(ir)?, slot);
        k.windows.batch.iter_mut().for_each(|b| b.values.push(slot));
        return Ok(None);
    };
    let slot = k.windows.batch.iter_mut().find_map(|b| {
        b.stored = Some(n + 1);
        b.values.get(n).copied()
    });
    match slot {
        Some(slot) => Ok(Some(ir.load(ty, slot))),
        None => internal("a store of a value that was not computed"),
    }
}

/// Whether only the stores of a group are emitted.
pub(crate) fn only_stores(k: &KernelBuilder<'_>) -> bool {
    k.windows.batch.as_ref().is_some_and(|b| b.stored.is_some())
}

/// The marks of a group; `false` for all other names.
pub(crate) fn mark(windows: &mut Windows, name: &str) -> Result<bool> {
    match (name, &mut windows.batch) {
        (walk::FIRST, batch @ None) => *batch = Some(Batch { values: Vec::new(), stored: None }),
        (walk::AGAIN, Some(batch)) => batch.stored = Some(0),
        (walk::END, batch @ Some(_)) => *batch = None,
        (walk::FIRST | walk::AGAIN | walk::END, _) => return internal("a group inside of another one"),
        _ => return Ok(false),
    }
    Ok(true)
}

pub(crate) fn is_store(i: LLVMValueRef) -> bool {
    // SAFETY: an instruction of the host.
    unsafe { LLVMGetInstructionOpcode(i) == LLVMOpcode::LLVMStore }
}

/// Whether a statement first loads and computes and then stores, all by instructions: then its stores may wait.
fn stores_last(s: &Statement) -> bool {
    let plain = |a: &Access| matches!(a.value, AccessValue::Instruction(_));
    let stores: Vec<_> = s.body.iter().map(|i| is_store(i.0 as LLVMValueRef)).collect();
    let first = stores.iter().position(|s| *s).unwrap_or(stores.len());
    s.subregion.is_none() && s.accesses.iter().all(plain) && stores[first..].iter().all(|s| *s)
}
