//! Guards: statements of which a tile's schedule has more instances than there are.
//!
//! A statement whose reads are all in registers and buffers is computed anyway, and its registers keep their
//! value where the instance does not exist: points share the loads from buffers, and no branch parts the
//! threads. Any other one runs behind a branch.

use crate::affine::expr::{ExprEmitter, iterator_name, parameterize_set};
use crate::ir::calls::is_reported;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::statement::emit::{emit_statement, reports_nan};
use crate::tiled::state::{KernelBuilder, Tiled, register};
use pollyrs_isl as isl;
use pollyrs_isl::AstExpr;
use pollyrs_schedule::Tiling;
use pollyrs_scop::{Access, AccessKind, AccessValue, ArrayId, Scop, Statement, StmtId, ValueHandle};
use std::collections::{BTreeMap, BTreeSet};

/// The conditions of a tiling's guards, over the statements' iterators.
pub(super) fn conditions(tiling: &Tiling) -> Result<BTreeMap<StmtId, AstExpr>> {
    tiling.guards.iter().map(|g| Ok((g.statement, condition(&g.instances)?))).collect()
}

/// Whether a tuple, given by the names of iterators, is in a set.
pub(super) fn condition(set: &isl::Set) -> Result<AstExpr> {
    let set = parameterize_set(&set.clone().coalesce()?.compute_divs()?)?;
    let build = isl::AstBuild::from_context(isl::Set::universe(set.space()?)?)?;
    Ok(build.expr_from_set(set)?)
}

/// Whether the point of the names `_v0`, ... is in `{ [v] }`; `None` if every point of the box is.
pub(super) fn of_points(set: &isl::Set, tiling: &Tiling) -> Result<Option<AstExpr>> {
    let mut set = set.clone().reset_tuple_id()?;
    for d in &tiling.dims {
        let at = set.dim(isl::DimType::Param)?;
        set = set.move_dims(isl::DimType::Param, at, isl::DimType::Set, 0, 1)?;
        set = set.set_dim_name(isl::DimType::Param, at, &d.param)?;
    }
    let set = set.params()?.gist_params(tiling.context.clone().params()?)?.coalesce()?.compute_divs()?;
    if set.plain_is_universe()? {
        return Ok(None);
    }
    let build = isl::AstBuild::from_context(isl::Set::universe(set.space()?)?)?;
    Ok(Some(build.expr_from_set(set)?))
}

/// Emits the instance of the current point, if it exists.
pub(super) fn emit_guarded(
    k: &mut KernelBuilder<'_>,
    function: Value,
    emit: &ExprEmitter<'_>,
    name: &str,
    iterators: &[Value],
) -> Result<()> {
    let found = k.scop.statement_named(name).map(|(id, _)| id);
    let t = &mut k.storage;
    if found.is_some_and(|id| t.cursor.without.contains(&id)) {
        return Ok(());
    }
    let guard = found.filter(|_| !t.cursor.unguarded).and_then(|id| Some((id, t.guards.get(&id)?.clone())));
    let Some((id, guard)) = guard else { return emit_statement(k, emit, name, iterators) };
    let mut names = emit.clone();
    for (d, v) in iterators.iter().enumerate() {
        names.names.insert(iterator_name(d as u32), *v);
    }
    let exists = names.emit_bool(&guard)?;
    if quiet(k, id)? {
        k.storage.cursor.keep = Some(exists);
        let result = emit_statement(k, emit, name, iterators);
        k.storage.cursor.keep = None;
        return result;
    }
    let (then, after) = (k.ir.append_block(function, "exists"), k.ir.append_block(function, "endexists"));
    k.ir.cond_br(exists, then, after);
    k.ir.at_end(then);
    emit_statement(k, emit, name, iterators)?;
    k.ir.br(after);
    k.ir.at_end(after);
    Ok(())
}

/// Whether all that a statement accesses is in registers and in the buffers in force.
fn quiet(k: &KernelBuilder<'_>, id: StmtId) -> Result<bool> {
    let t = &k.storage;
    for (at, a) in k.scop.statements[id.0].accesses.iter().enumerate() {
        let buffered = a.kind == AccessKind::Read && buffered(t, id, at);
        if !buffered && (t.tiling.reads_in_memory(id, at) || register(k, a.array)?.is_none()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn buffered(t: &Tiled<'_>, id: StmtId, at: usize) -> bool {
    t.cursor
        .buffers
        .iter()
        .any(|b| t.tiling.operand_tiles[b.operand_tile].groups[b.group].accesses.contains(&(id, at)))
}

/// Whether some statement minds which operands it gets ([`minds_operands_of`]).
pub(super) fn minds_operands(k: &KernelBuilder<'_>) -> bool {
    minds_operands_of(k.scop)
}

/// Whether a statement of the kernel reads an array, or one in the same memory.
pub(super) fn reads(k: &KernelBuilder<'_>, id: ArrayId) -> Result<bool> {
    let all = accesses(k)?;
    Ok(all.iter().any(|a| a.kind == AccessKind::Read && share_memory(k, a.array, id)))
}

/// Whether the kernel writes to memory that it reads from.
pub(super) fn reads_what_it_writes(k: &KernelBuilder<'_>) -> Result<bool> {
    let all = accesses(k)?;
    let reads = |a: &&&Access| a.kind == AccessKind::Read;
    let meets = |w: &Access| all.iter().filter(reads).any(|a| share_memory(k, a.array, w.array));
    Ok(all.iter().filter(|w| w.kind != AccessKind::Read).any(|w| meets(w)))
}

/// Whether two arrays are one, or have one base. (Those of other bases are apart, or the original runs.)
fn share_memory(k: &KernelBuilder<'_>, a: ArrayId, b: ArrayId) -> bool {
    let [of_a, of_b] = [a, b].map(|id| k.scop.array(id));
    a == b || of_a.is_memory() && of_a.kind == of_b.kind
}

/// The accesses of all statements that the kernel runs.
fn accesses<'k>(k: &KernelBuilder<'k>) -> Result<Vec<&'k Access>> {
    let mut all = Vec::new();
    for set in k.storage.kernel.domain.sets()? {
        if let Some((_, s)) = k.scop.statement_named(&set.tuple_name()?.unwrap_or_default()) {
            all.extend(&s.accesses);
        }
    }
    Ok(all)
}

/// Whether some statement minds which operands it gets, so that no point may be computed with others than the
/// program's: it divides integers, which may trap on a host, it reports that `errno` would be set or that a
/// check failed, or what it reads of a cell that is written chooses an element, or how often a loop runs.
pub fn minds_operands_of(scop: &Scop) -> bool {
    use inkwell::llvm_sys::LLVMOpcode::{LLVMCall, LLVMSDiv, LLVMSRem, LLVMUDiv, LLVMURem};
    scop.statements.iter().any(|s| reports_nan(s) || is_steered(scop, s))
        || scop.statements.iter().flat_map(|s| &s.body).any(|i| {
            let v = host_value(*i);
            match v.opcode() {
                LLVMSDiv | LLVMSRem | LLVMUDiv | LLVMURem => true,
                LLVMCall => is_reported(v),
                _ => false,
            }
        })
}

/// Whether a cell that the SCoP writes chooses elements of a statement, as in `x[i] = t[(int)x[i]]`, or is
/// read by one with a loop. Other cells are read where they are, those of points in the box.
fn is_steered(scop: &Scop, s: &Statement) -> bool {
    let writes = |a: &Access, array| a.kind != AccessKind::Read && a.array == array;
    let is_written = |array| scop.statements.iter().flat_map(|s| &s.accesses).any(|a| writes(a, array));
    let read = s.accesses.iter().filter(|a| a.kind == AccessKind::Read && is_written(a.array));
    let cells: Vec<ValueHandle> = read
        .filter_map(|a| match a.value {
            AccessValue::Instruction(v) | AccessValue::ScalarRead(v) => Some(v),
            AccessValue::ScalarWrite(_) => None,
        })
        .collect();
    if cells.is_empty() {
        return false;
    }
    let loops = s.subregion.as_ref().is_some_and(|r| !r.loops.is_empty());
    let chosen = s.accesses.iter().filter_map(|a| a.within.as_ref()).flat_map(|w| &w.values);
    loops || is_made_of(s, chosen.map(|v| v.value).collect(), &cells)
}

/// Whether the statement computes one of the values from one of the cells.
fn is_made_of(s: &Statement, mut values: Vec<ValueHandle>, cells: &[ValueHandle]) -> bool {
    let body: BTreeSet<ValueHandle> = s.body.iter().copied().collect();
    let mut seen = BTreeSet::new();
    while let Some(v) = values.pop() {
        if cells.contains(&v) {
            return true;
        }
        if body.contains(&v) && seen.insert(v) {
            let i = host_value(v);
            values.extend((0..i.operand_count()).map(|at| handle_of(i.operand(at))));
        }
    }
    false
}

/// What a store of `v` to a cell leaves there: the old value where the current instance does not exist.
pub(crate) fn kept(k: &KernelBuilder<'_>, v: Value, cell: Value, align: u32) -> Value {
    match k.storage.cursor.keep {
        Some(exists) => {
            let old = k.ir.load_aligned(v.ty(), cell, align);
            k.ir.select(exists, v, old)
        }
        None => v,
    }
}
