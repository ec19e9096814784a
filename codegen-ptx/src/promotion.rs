//! Cells that stay in a register while a loop runs ([`pollyrs_schedule::Promotion`]):
//!
//! ```text
//! if (first <= last) { r = load A[c]; for (..) S with r for A[c]; store A[c], r }
//! ```
//! Only where each iteration of the loop runs an instance: so the cell is the program's, and no store is one too many. Other loops beneath a
//! mark leave the cell in memory.

use crate::ast_expr::ExprEmitter;
use crate::error::{CodegenError, Result, internal};
use crate::kernel::{KernelBuilder, llvm_elem};
use crate::llvm::*;
use crate::statement;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl::{AstExprType, AstNode, AstNodeType, AstOp};
use pollyrs_schedule::PROMOTED;
use pollyrs_scop::StmtId;

/// The call of [`UserFn`](crate::walk::UserFn) behind the loop.
pub(crate) const DONE: &str = "_promoted";

/// The cell of the loop that is being emitted.
#[derive(Clone, Debug)]
pub(crate) struct Promoted {
    statement: StmtId,
    accesses: Vec<usize>,
    /// A stack slot, which the optimizer makes a register of.
    register: LLVMValueRef,
    ty: LLVMTypeRef,
    cell: LLVMValueRef,
    align: u32,
    /// The names that reports have for the cell: statement and array.
    report: (String, String),
}

/// The one user node that each iteration of a loop's body reaches.
fn only_user(body: &AstNode) -> Result<Option<AstNode>> {
    Ok(match body.node_type()? {
        AstNodeType::User => Some(body.clone()),
        AstNodeType::Mark => only_user(&body.mark_node()?)?,
        AstNodeType::Block => match &body.block_children()?.to_vec()?[..] {
            [one] => only_user(one)?,
            _ => None,
        },
        AstNodeType::For | AstNodeType::If => None,
    })
}

/// Whether a node is a loop of which each iteration runs an instance.
pub(crate) fn is_plain_loop(node: &AstNode) -> Result<bool> {
    Ok(node.node_type()? == AstNodeType::For
        && !node.for_is_degenerate()?
        && only_user(&node.for_body()?)?.is_some())
}

/// The iterators of the instance in the body of such a loop.
pub(crate) fn instance(expr: &ExprEmitter<'_>, body: &AstNode) -> Result<Vec<LLVMValueRef>> {
    let Some(user) = only_user(body)? else { return internal("a promoted cell without an instance") };
    let call = user.user_expr()?;
    if call.expr_type()? != AstExprType::Op || call.op()? != AstOp::Call {
        return Err(CodegenError::Internal("a user node is not a call".into()));
    }
    (1..call.n_arg()?).map(|i| expr.emit_int(&call.arg(i as i32)?)).collect()
}

/// The register of an access of the loop that is being emitted.
pub(crate) fn register(k: &KernelBuilder<'_>, id: StmtId, access: usize) -> Option<LLVMValueRef> {
    let p = k.promoted.as_ref()?;
    (p.statement == id && p.accesses.contains(&access)).then_some(p.register)
}

/// Loads a cell if `name` is a mark, with the iterators of the first instance beneath it; stores it if it is [`DONE`]. Otherwise false.
pub(crate) fn element(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    name: &str,
    iterators: &[LLVMValueRef],
) -> Result<bool> {
    if name == DONE {
        let Some(p) = k.promoted.take() else { return internal("no cell is in a register") };
        let v = k.ir.load_aligned(p.ty, p.register, p.align);
        k.ir.note(&p.report.0, &p.report.1);
        k.ir.store_aligned(v, p.cell, p.align);
        return Ok(true);
    }
    if !name.starts_with(PROMOTED) {
        return Ok(false);
    }
    let kernel = k.kernel;
    let Some(p) = kernel.promotions.iter().find(|p| p.mark == name) else {
        return internal(format!("{name} is no promotion of {}", kernel.name));
    };
    let Some(first) = p.accesses.first() else { return internal(format!("{name} has no access")) };
    let (cell, align) = statement::cell_of(k, emit, (p.statement, *first), iterators)?;
    let s = &k.scop.statements[p.statement.0];
    let array = k.scop.array(s.accesses[*first].array);
    let ty = llvm_elem(k.ir, array.elem);
    let register = k.at_entry(|| {
        // SAFETY: the builder is in the entry block; a sized type.
        unsafe {
            let register = LLVMBuildAlloca(k.ir.raw(), ty, EMPTY);
            LLVMSetAlignment(register, array.elem.bytes());
            Ok(register)
        }
    })?;
    k.ir.note(&statement::what(s), &array.display);
    let v = k.ir.load_aligned(ty, cell, align);
    k.ir.store_aligned(v, register, align);
    let report = (statement::what(s), array.display.clone());
    k.promoted = Some(Promoted {
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
