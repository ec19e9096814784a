//! Cells that stay in a register while a loop runs ([`pollyrs_schedule::Promotion`]):
//!
//! ```text
//! if (first <= last) { r = load A[c]; for (..) S with r for A[c]; store A[c], r }
//! ```
//! Only where each iteration of the loop runs an instance: so the cell is the program's, and no store is one
//! too many. Other loops beneath a mark leave the cell in memory.

use crate::affine::expr::ExprEmitter;
use crate::affine::nodes::Event;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::staged::state::KernelBuilder;
use crate::statement::emit;
use pollyrs_scop::StmtId;

/// The cell of the loop that is being emitted.
#[derive(Clone, Debug)]
pub(crate) struct Promoted {
    statement: StmtId,
    accesses: Vec<usize>,
    /// A stack slot, which the optimizer makes a register of.
    register: Value,
    ty: Type,
    cell: Value,
    align: u32,
    /// The names that reports have for the cell: statement and array.
    report: (String, String),
}

/// The register of an access of the loop that is being emitted.
pub(crate) fn register(k: &KernelBuilder<'_>, id: StmtId, access: usize) -> Option<Value> {
    let p = k.storage.promoted.as_ref()?;
    (p.statement == id && p.accesses.contains(&access)).then_some(p.register)
}

/// Loads a cell ahead of its loop, with the iterators of the first instance; stores it behind the loop.
/// Of all other events false.
pub(crate) fn element(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    event: Event<'_>,
    iterators: &[Value],
) -> Result<bool> {
    if event == Event::Done {
        let Some(p) = k.storage.promoted.take() else { return internal("no cell is in a register") };
        let v = k.ir.load_aligned(p.ty, p.register, p.align);
        k.ir.note(&p.report.0, &p.report.1);
        k.ir.store_aligned(v, p.cell, p.align);
        return Ok(true);
    }
    let Event::Promoted(mark) = event else { return Ok(false) };
    let kernel = k.kernel();
    let Some(p) = kernel.promotions.iter().find(|p| p.mark == mark) else {
        return internal(format!("{mark} is no promotion of {}", kernel.name));
    };
    let Some(first) = p.accesses.first() else { return internal(format!("{mark} has no access")) };
    let (cell, align) = emit::cell_of(k, emit, (p.statement, *first), iterators)?;
    let s = &k.scop.statements[p.statement.0];
    let array = k.scop.array(s.accesses[*first].array);
    let ty = llvm_elem(k.ir, array.elem);
    let register = k.at_entry(|| {
        let register = k.ir.alloca(ty, "");
        register.set_alignment(array.elem.bytes());
        Ok(register)
    })?;
    k.ir.note(&emit::what(s), &array.display);
    let v = k.ir.load_aligned(ty, cell, align);
    k.ir.store_aligned(v, register, align);
    let report = (emit::what(s), array.display.clone());
    k.storage.promoted = Some(Promoted {
        statement: p.statement,
        accesses: p.accesses.clone(),
        register,
        ty,
        cell,
        align,
        report,
    });
    Ok(true)
}
