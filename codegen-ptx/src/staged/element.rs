//! The elements of a thread's schedule: what a tuple's name says is emitted by the module that it belongs to.

use crate::affine::expr::ExprEmitter;
use crate::affine::walk::{self, Event};
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ops::{copies, tasks};
use crate::staged::state::KernelBuilder;
use crate::staged::window::{copies_without_waiting, copy, forget, is_full, passing};
use crate::staged::{boxes, carried, groups, prefetch, update};
use pollyrs_isl as isl;
use pollyrs_schedule::Tuple;

/// Emits an element of a thread's schedule.
pub(crate) fn emit_element(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    event: Event<'_>,
    iterators: &[Value],
) -> Result<Option<Block>> {
    let ir = k.ir;
    match event {
        Event::Exactly => return groups::exactly(k),
        Event::First | Event::Where | Event::Again | Event::End => groups::pass(k, event, iterators)?,
        Event::Between(Tuple::Barrier) => barrier(k)?,
        Event::Between(Tuple::Fill) => boxes::stages(k)?,
        Event::Between(Tuple::Update(number)) => {
            let Some(step) = iterators.first() else { return internal("an update without a step") };
            if boxes::are_updates(k) {
                update::emit(k, emit, number, *step)?;
            }
        }
        Event::Between(Tuple::Carried(number)) => {
            if boxes::are_updates(k) {
                carried::emit(k, emit, number, iterators)?;
            }
        }
        Event::Between(Tuple::Wait) => {
            let Some(task) = &k.task else { return internal("a wait of a block that is no task") };
            let tile = iterators.get(iterators.len().saturating_sub(task.grid.len())..).unwrap_or_default();
            let block = task.grid.iter().zip(tile).fold(ir.int(0), |block, ((lower, size), at)| {
                ir.add(ir.mul(block, *size), ir.sub(*at, *lower))
            });
            tasks::wait(k, task.flags, block);
        }
        Event::Between(tuple @ Tuple::Window(_)) => copy(k, tuple, iterators)?,
        Event::Instance(name) => crate::statement::emit::emit_statement(k, emit, name, iterators)?,
        Event::Between(Tuple::Enter | Tuple::Copy(_)) | Event::Promoted(_) | Event::Done => {
            return internal(format!("{event:?} among the elements of a schedule"));
        }
    }
    Ok(None)
}

/// All threads of the block wait for each other, and for what they copy meanwhile.
fn barrier(k: &mut KernelBuilder<'_>) -> Result<()> {
    if pollyrs_schedule::planted::planted("step-barrier") {
        return Ok(());
    }
    k.has_barrier = true;
    if copies_without_waiting(k.kernel())? {
        copies::commit(k);
        copies::wait(k, 0);
    }
    k.abstract_call(crate::ir::intrinsics::BARRIER, k.ir.void_type());
    Ok(())
}

/// At the beginning of a stage: a branch to its code for full stages. The builder is afterwards where the
/// general code belongs, the block that is given is behind both.
pub(crate) fn branch_to_full<'e>(
    k: &mut KernelBuilder<'_>,
    function: Value,
    general_emit: &mut ExprEmitter<'e>,
    tree: &isl::AstNode,
    p: &[Value],
) -> Result<Option<Block>> {
    let ir = k.ir;
    let mut emit = general_emit.clone();
    let Some(condition) = is_full(k.kernel(), &mut emit, p)? else { return Ok(None) };
    let block = |name: &str| ir.append_block(function, name);
    let (full, general, after) = (block("full"), block("general"), block("stage.end"));
    ir.cond_br(condition, full, general);
    ir.at_end(full);
    k.storage.windows.passing = Some(passing(k)?);
    let (kernel, scop) = (k.kernel(), k.scop);
    let mut asks = kernel.stages().is_some_and(|s| s.prefetch);
    let mut element = |emit: &mut ExprEmitter<'e>, event: Event<'_>, iterators: &[Value]| {
        if event == Event::First {
            forget(k, emit, false)?;
        }
        let join = match event {
            Event::Between(Tuple::Enter) => None,
            _ => emit_element(k, emit, event, iterators)?,
        };
        if asks && event == Event::Between(Tuple::Barrier) {
            // Behind the copies of this stage.
            asks = false;
            prefetch::cache_lines(k, function, emit, p)?;
        }
        Ok(join)
    };
    walk::emit_in_groups(ir, function, &mut emit, tree, &mut element, &|nodes| {
        groups::in_full(kernel, scop, nodes)
    })?;
    k.storage.windows.passing = None;
    ir.br(after);
    ir.at_end(general);
    forget(k, general_emit, false)?;
    Ok(Some(after))
}
