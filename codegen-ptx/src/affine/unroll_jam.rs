//! Unroll and jam: nests of one or two loops beneath the mark [`Together`](pollyrs_schedule::Mark::Together),
//! of which a thread executes some instances at once: it loads and computes for all of them before it stores
//! the first.
//!
//! ```text
//! for c in steps of n s                  rows c, c + s, ..: in place of one that there is not comes another one
//!   for o in steps of m t                columns of each, from its first one + o: likewise
//!     FIRST: n m instances, loads and values;  AGAIN: n m instances, stores
//! ```
//! # Invariants
//! - Each instance that is emitted is one of the nest. In place of those that there are not, one that there
//!   is comes more than once: it loads the same each time, as all loads come first, so that it computes and
//!   stores the same.
//! - Each round has an instance.
//!
//! Rows and columns are sums of the first one and of a number or nothing ([`is_shift`]), so that addresses of
//! all instances share what the first one's is.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::affine::nodes::{Event, UserFn, constant_step, emit_user, last_value, mentions};
use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntSLE;
use pollyrs_isl::{AstNode, AstNodeType};
use pollyrs_schedule::planted::planted;

/// Loops around one user node, which nothing else is beneath, without conditions.
pub(crate) struct Nest {
    outer: Option<AstNode>,
    inner: AstNode,
    user: AstNode,
}

/// The nest that a node is, if it is one.
pub(crate) fn nest(node: &AstNode) -> Result<Option<Nest>> {
    let mut loops = Vec::new();
    let mut at = node.clone();
    loop {
        at = match at.node_type()? {
            AstNodeType::For if !at.for_is_degenerate()? => {
                let body = at.for_body()?;
                loops.push(at);
                body
            }
            AstNodeType::Block => match &at.block_children()?.to_vec()?[..] {
                [one] => one.clone(),
                _ => return Ok(None),
            },
            AstNodeType::User => break,
            AstNodeType::For | AstNodeType::If | AstNodeType::Mark => return Ok(None),
        };
    }
    Ok(match <[AstNode; 2]>::try_from(loops) {
        Ok([outer, inner]) => Some(Nest { outer: Some(outer), inner, user: at }),
        Err(mut loops) => match (loops.pop(), loops.is_empty()) {
            (Some(inner), true) => Some(Nest { outer: None, inner, user: at }),
            _ => None,
        },
    })
}

impl Nest {
    /// The name of the statement.
    pub fn name(&self) -> Result<String> {
        Ok(self.user.user_expr()?.arg(0)?.id()?.name())
    }

    /// The steps of both loops; of one, the outer one's is 0.
    pub fn steps(&self) -> Result<[i64; 2]> {
        Ok([self.outer.as_ref().map_or(Ok(0), constant_step)?, constant_step(&self.inner)?])
    }
}

/// Whether a value is what a row or column is further than the first one: a number, or zero.
pub(crate) fn is_shift(v: Value) -> bool {
    v.is_select() && [1, 2].iter().all(|i| v.operand(*i).is_constant_int())
}

fn iterator(node: &AstNode) -> Result<String> {
    Ok(node.for_iterator()?.id()?.name())
}

/// Rows and columns of one round: the values of both iterators.
type Round = Vec<[Option<Value>; 2]>;

/// Emits a nest, with so many rows and columns at once.
pub(crate) fn emit<'e>(
    ir: &Ir,
    function: Value,
    expr: &mut ExprEmitter<'e>,
    (nest, [rows, columns]): (&Nest, [u32; 2]),
    user: &mut UserFn<'_, 'e>,
) -> Result<()> {
    let bounds = |expr: &ExprEmitter<'e>, node: &AstNode| -> Result<[Value; 2]> {
        let first = expr.emit_int(&node.for_init()?)?;
        Ok([first, last_value(ir, expr, &node.for_iterator()?, &node.for_cond()?)?])
    };
    let outer_names = expr.names.clone();
    let Some(outer) = &nest.outer else {
        let [first, last] = bounds(expr, &nest.inner)?;
        let line = Lines { rows: vec![(None, ir.bool(true), first, last)], equal: true };
        return line.emit(ir, function, expr, (nest, columns), user);
    };
    let (name, step) = (iterator(outer)?, constant_step(outer)?);
    let equal = !mentions(&nest.inner.for_init()?, &name)? && !mentions(&nest.inner.for_cond()?, &name)?;
    let [first, last] = bounds(expr, outer)?;
    let (head, after) = (ir.append_block(function, "rows"), ir.append_block(function, "rows.end"));
    let before = ir.block();
    ir.cond_br(ir.icmp(LLVMIntSLE, first, last), head, after);
    ir.at_end(head);
    let c = ir.phi(ir.i64_type(), &[(first, before)]);
    let mut lines = Lines { rows: Vec::new(), equal };
    for n in 0..i64::from(rows.max(1)) {
        let at = ir.add(c, ir.int(n * step));
        let is = if n == 0 { ir.bool(true) } else { ir.icmp(LLVMIntSLE, at, last) };
        let row = if n > 0 { expr.plus(c, ir.select(is, ir.int(n * step), ir.int(0))) } else { at };
        let [a, z] = match lines.rows.first() {
            Some((_, _, a, z)) if equal => [*a, *z],
            _ => {
                expr.names.insert(name.clone(), row);
                bounds(expr, &nest.inner)?
            }
        };
        lines.rows.push((Some(row), is, a, z));
    }
    lines.emit(ir, function, expr, (nest, columns), user)?;
    expr.names = outer_names;
    let next = ir.add(c, ir.int(i64::from(rows.max(1)) * step));
    ir.add_incoming(c, next, ir.block());
    ir.cond_br(ir.icmp(LLVMIntSLE, next, last), head, after);
    ir.at_end(after);
    Ok(())
}

/// Rows of a round: the outer iterator, if there is one, whether there is such a row, and the first and last
/// value of the inner one.
struct Lines {
    rows: Vec<(Option<Value>, Value, Value, Value)>,
    /// All rows have the bounds of the first one.
    equal: bool,
}

impl Lines {
    /// Whether a row has a column from its first one + `o` on.
    fn left(&self, ir: &Ir, row: usize, o: Value) -> Value {
        let (_, is, first, last) = self.rows[row];
        ir.and(is, ir.icmp(LLVMIntSLE, ir.add(first, o), last))
    }

    /// Whether there is an instance from there on.
    fn any(&self, ir: &Ir, o: Value) -> Value {
        let rows = if self.equal { 1 } else { self.rows.len() };
        (1..rows).fold(self.left(ir, 0, o), |any, n| ir.or(any, self.left(ir, n, o)))
    }

    fn emit<'e>(
        &self,
        ir: &Ir,
        function: Value,
        expr: &mut ExprEmitter<'e>,
        (nest, columns): (&Nest, u32),
        user: &mut UserFn<'_, 'e>,
    ) -> Result<()> {
        let step = constant_step(&nest.inner)?;
        let (head, after) = (ir.append_block(function, "turn"), ir.append_block(function, "turn.end"));
        let zero = ir.int(0);
        let before = ir.block();
        ir.cond_br(self.any(ir, zero), head, after);
        ir.at_end(head);
        let o = ir.phi(ir.i64_type(), &[(zero, before)]);
        let round = self.round(ir, expr, o, (step, columns.max(1)));
        let names = expr.names.clone();
        for pass in [Event::First, Event::Again] {
            user(expr, pass, &[])?;
            for [row, column] in &round {
                if let (Some(outer), Some(row)) = (&nest.outer, row) {
                    expr.names.insert(iterator(outer)?, *row);
                }
                if let Some(column) = column {
                    expr.names.insert(iterator(&nest.inner)?, *column);
                }
                if emit_user(expr, &nest.user, user)?.is_some() {
                    return Err(CodegenError::Internal("a stage in a group".into()));
                }
                expr.names.clone_from(&names);
            }
        }
        user(expr, Event::End, &[])?;
        let next = ir.add(o, ir.int(i64::from(columns.max(1)) * step));
        let more = self.any(ir, next);
        ir.add_incoming(o, next, ir.block());
        ir.cond_br(more, head, after);
        ir.at_end(after);
        Ok(())
    }

    /// The instances of a round.
    fn round(&self, ir: &Ir, expr: &ExprEmitter<'_>, o: Value, (step, columns): (i64, u32)) -> Round {
        let mut out = Vec::new();
        // A row that has a column left, for those that have none.
        let mut stand_in = None;
        if !self.equal {
            for n in (0..self.rows.len()).rev() {
                let (row, _, first, _) = self.rows[n];
                let own = (row, ir.add(first, o));
                stand_in = Some(match stand_in {
                    None => own,
                    Some((other, column)) => {
                        let left = self.left(ir, n, o);
                        let row = row.zip(other).map(|(row, other)| ir.select(left, row, other));
                        (row, ir.select(left, own.1, column))
                    }
                });
            }
        }
        for (n, (row, _, first, last)) in self.rows.iter().enumerate() {
            let (mut row, mut from) = (*row, expr.plus(*first, o));
            let left = (!self.equal).then(|| self.left(ir, n, o));
            if let (Some(left), Some((other, column))) = (left, stand_in) {
                row = row.zip(other).map(|(row, other)| ir.select(left, row, other));
                from = ir.select(left, from, column);
            }
            for m in 0..i64::from(columns) {
                let at = ir.add(from, ir.int(m * step));
                let mut is = ir.icmp(LLVMIntSLE, at, *last);
                if let Some(left) = left {
                    is = ir.and(left, is);
                }
                let beyond = if planted("spare-columns") { m * step } else { 0 };
                let further = ir.select(is, ir.int(m * step), ir.int(beyond));
                out.push([row, Some(if m == 0 { from } else { expr.plus(from, further) })]);
            }
        }
        out
    }
}
