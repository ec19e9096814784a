//! isl's AST expressions as LLVM IR.
//!
//! An [`ExprEmitter`] turns quasi-affine expressions over named integers into `i64` and conditions into `i1`,
//! wherever its builder stands: in a kernel or in a host function.
//!
//! # Invariants
//! - isl's integers are mathematical, ours have 64 bits. A constant beyond them is an error. That no sum of
//!   *variables* leaves them is what the SCoP's context has to guarantee; the arithmetic here carries no
//!   `nsw`, so a broken guarantee gives a wrong number, never undefined behaviour.
//! - `and_then`, `or_else` and `cond` are evaluated eagerly. That is sound because no expression has side
//!   effects and isl divides by positive constants only; what an arm that is not chosen computes is dropped.
//!
//! # Example
//! `floord(n - 1, 32)` with `n` = `%n`:
//! ```text
//! %1 = sub i64 %n, 1
//! %2 = ashr i64 %1, 5
//! ```

use crate::affine::sums::{Sum, Sums};
use crate::ir::builder::Ir;
use crate::ir::error::{CodegenError, Result, internal};
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMIntPredicate;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_isl as isl;
use pollyrs_isl::{AstExpr, AstExprType, AstOp, DimType};
use std::collections::BTreeMap;

/// One of several lists of sums that are all at least zero, or where marked equal to it. No sum is a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions(Vec<Vec<(Sum, bool)>>);

impl Conditions {
    /// What holds nowhere.
    pub fn never() -> Conditions {
        Conditions(Vec::new())
    }

    /// `Some` if they hold everywhere, or nowhere.
    pub fn constant(&self) -> Option<bool> {
        match &self.0[..] {
            [] => Some(false),
            [one] if one.is_empty() => Some(true),
            _ => None,
        }
    }
}

/// Emits expressions at the insertion point of its builder.
#[derive(Clone)]
pub struct ExprEmitter<'e> {
    ir: &'e Ir,
    /// The value of each isl identifier (parameter or iterator): an `i64` that dominates the insertion point.
    pub names: BTreeMap<String, Value>,
    /// What the sums that were emitted consist of.
    sums: Sums,
    /// Whether all numbers in sums count as such in [`ExprEmitter::emit_apart`], not only those in the
    /// expression itself.
    pub all_apart: bool,
}

impl<'e> ExprEmitter<'e> {
    pub fn new(ir: &'e Ir, names: BTreeMap<String, Value>) -> ExprEmitter<'e> {
        ExprEmitter { ir, names, sums: Sums::default(), all_apart: false }
    }

    /// The value of an integer expression, an `i64`.
    pub fn emit_int(&self, e: &AstExpr) -> Result<Value> {
        match e.expr_type()? {
            AstExprType::Int => {
                let v = e.int()?;
                match v.to_i64() {
                    Some(v) => Ok(self.ir.int(v)),
                    None => Err(CodegenError::IntegerRange(v.to_string())),
                }
            }
            AstExprType::Id => self.name(&e.id()?.name()),
            AstExprType::Op => self.emit_int_op(e),
        }
    }

    /// The value of an integer expression as a sum of a value and a number, which is the last term.
    pub fn emit_apart(&self, e: &AstExpr) -> Result<(Value, i64)> {
        if self.all_apart {
            let v = self.emit_int(e)?;
            let several = |(terms, number): &(Vec<_>, i64)| terms.len() > 1 || *number != 0;
            let Some((terms, number)) = self.sum_of(v).terms_apart().filter(several) else {
                return Ok((v, 0));
            };
            // The same sum at each distance.
            let of = terms.into_iter().reduce(|sum, v| self.ir.add(sum, v));
            return Ok((of.unwrap_or(v), number));
        }
        if e.expr_type()? == AstExprType::Op && matches!(e.op()?, AstOp::Add | AstOp::Sub) {
            let last = e.arg(1)?;
            if last.expr_type()? == AstExprType::Int
                && let Some(v) = last.int()?.to_i64()
            {
                let v = if e.op()? == AstOp::Sub { v.checked_neg() } else { Some(v) };
                if let Some(v) = v {
                    return Ok((self.emit_int(&e.arg(0)?)?, v));
                }
            }
        }
        Ok((self.emit_int(e)?, 0))
    }

    /// What a value is the sum of.
    pub fn sum_of(&self, v: Value) -> Sum {
        self.sums.of(v)
    }

    /// `value + number`, which is remembered as such.
    pub fn beside(&self, value: Value, number: i64) -> Value {
        let v = self.ir.add(value, self.ir.int(number));
        self.remembered(v, &self.sum_of(value), &Sum::number(number), 1)
    }

    /// `a + b`, which is remembered as such.
    pub fn plus(&self, a: Value, b: Value) -> Value {
        self.remembered(self.ir.add(a, b), &self.sum_of(a), &self.sum_of(b), 1)
    }

    fn remembered(&self, v: Value, a: &Sum, b: &Sum, factor: i64) -> Value {
        self.sums.remember(v, a, b, factor);
        v
    }

    fn name(&self, name: &str) -> Result<Value> {
        match self.names.get(name) {
            Some(v) => Ok(*v),
            None => internal(format!("no value for the identifier {name}")),
        }
    }

    fn emit_int_op(&self, e: &AstExpr) -> Result<Value> {
        let ir = self.ir;
        let arg = |i: i32| -> Result<Value> { self.emit_int(&e.arg(i)?) };
        Ok(match e.op()? {
            AstOp::Max => self.fold(e, |a, b| ir.select(ir.icmp(LLVMIntSGT, a, b), a, b))?,
            AstOp::Min => self.fold(e, |a, b| ir.select(ir.icmp(LLVMIntSLT, a, b), a, b))?,
            AstOp::Minus => {
                let a = arg(0)?;
                self.remembered(ir.neg(a), &Sum::default(), &self.sum_of(a), -1)
            }
            AstOp::Add | AstOp::Sub => {
                let (a, b) = (arg(0)?, arg(1)?);
                let (v, factor) = if e.op()? == AstOp::Add { (ir.add(a, b), 1) } else { (ir.sub(a, b), -1) };
                self.remembered(v, &self.sum_of(a), &self.sum_of(b), factor)
            }
            AstOp::Mul => {
                let (a, b) = (arg(0)?, arg(1)?);
                let v = ir.mul(a, b);
                match (a.constant_int(), b.constant_int()) {
                    (Some(n), _) => self.remembered(v, &Sum::default(), &self.sum_of(b), n),
                    (_, Some(n)) => self.remembered(v, &Sum::default(), &self.sum_of(a), n),
                    _ => v,
                }
            }
            AstOp::Div => {
                divisor(e)?;
                ir.exact_sdiv(arg(0)?, arg(1)?)
            }
            AstOp::FdivQ => self.floor_div(arg(0)?, divisor(e)?),
            AstOp::PdivQ => {
                divisor(e)?;
                ir.udiv(arg(0)?, arg(1)?)
            }
            AstOp::PdivR => {
                let a = arg(0)?;
                match self.sum_of(a).remainder(divisor(e)?) {
                    Some(v) => ir.int(v),
                    None => ir.urem(a, arg(1)?),
                }
            }
            AstOp::ZdivR => {
                divisor(e)?;
                ir.srem(arg(0)?, arg(1)?)
            }
            AstOp::Cond | AstOp::Select => ir.select(self.emit_bool(&e.arg(0)?)?, arg(1)?, arg(2)?),
            AstOp::Call | AstOp::Access | AstOp::Member | AstOp::AddressOf => {
                return internal(format!("{e} is not an integer expression"));
            }
            // A condition used as a number is 0 or 1.
            _ => ir.zext(self.emit_bool(e)?, ir.i64_type()),
        })
    }

    /// `a` divided by `d > 0`, rounded towards minus infinity.
    fn floor_div(&self, a: Value, d: i64) -> Value {
        let ir = self.ir;
        if d & (d - 1) == 0 {
            return ir.ashr(a, ir.int(i64::from(d.trailing_zeros())));
        }
        let d = ir.int(d);
        let truncated = ir.sdiv(a, d);
        let negative_rest = ir.icmp(LLVMIntSLT, ir.srem(a, d), ir.int(0));
        ir.sub(truncated, ir.zext(negative_rest, ir.i64_type()))
    }

    /// The value of a condition, an `i1`.
    pub fn emit_bool(&self, e: &AstExpr) -> Result<Value> {
        let ir = self.ir;
        if e.expr_type()? != AstExprType::Op {
            return Ok(ir.icmp(LLVMIntNE, self.emit_int(e)?, ir.int(0)));
        }
        let compare = |p: LLVMIntPredicate| -> Result<Value> {
            Ok(ir.icmp(p, self.emit_int(&e.arg(0)?)?, self.emit_int(&e.arg(1)?)?))
        };
        match e.op()? {
            AstOp::And | AstOp::AndThen => self.fold_bool(e, |a, b| ir.and(a, b)),
            AstOp::Or | AstOp::OrElse => self.fold_bool(e, |a, b| ir.or(a, b)),
            AstOp::Eq => compare(LLVMIntEQ),
            AstOp::Le => compare(LLVMIntSLE),
            AstOp::Lt => compare(LLVMIntSLT),
            AstOp::Ge => compare(LLVMIntSGE),
            AstOp::Gt => compare(LLVMIntSGT),
            AstOp::Cond | AstOp::Select => {
                let arg = |i: i32| -> Result<Value> { self.emit_bool(&e.arg(i)?) };
                Ok(ir.select(arg(0)?, arg(1)?, arg(2)?))
            }
            _ => Ok(ir.icmp(LLVMIntNE, self.emit_int_op(e)?, ir.int(0))),
        }
    }

    fn fold(&self, e: &AstExpr, f: impl Fn(Value, Value) -> Value) -> Result<Value> {
        let mut v = self.emit_int(&e.arg(0)?)?;
        for i in 1..e.n_arg()? as i32 {
            v = f(v, self.emit_int(&e.arg(i)?)?);
        }
        Ok(v)
    }

    fn fold_bool(&self, e: &AstExpr, f: impl Fn(Value, Value) -> Value) -> Result<Value> {
        let mut v = self.emit_bool(&e.arg(0)?)?;
        for i in 1..e.n_arg()? as i32 {
            v = f(v, self.emit_bool(&e.arg(i)?)?);
        }
        Ok(v)
    }

    /// The value of a function of the parameters, `[params] -> { [] -> [v] }` or `[params] -> { [v] }`, an
    /// `i64`. Outside the function's domain the result is some number.
    pub fn emit_pw_aff(&self, f: &isl::PwAff) -> Result<Value> {
        self.emit_int(&pw_aff_expr(f, None)?)
    }

    /// A set `[params] -> { : ... }` as sums, in which terms cancel; `None` if it needs divisions.
    pub fn sums_of_set(&self, s: &isl::Set) -> Result<Option<Conditions>> {
        let mut any = Vec::new();
        for part in s.clone().compute_divs()?.basic_sets()? {
            if part.dim(DimType::Div)? > 0 {
                return Ok(None);
            }
            let (mut all, mut never) = (Vec::new(), false);
            for c in part.constraints()? {
                let number = |v: isl::Val| match v.to_i64() {
                    Some(v) => Ok(v),
                    None => Err(CodegenError::IntegerRange(v.to_string())),
                };
                let mut sum = Sum::number(number(c.constant()?)?);
                for d in 0..part.dim(DimType::Param)? {
                    let factor = number(c.coefficient(DimType::Param, d as i32)?)?;
                    if factor != 0 {
                        let name = part.space()?.dim_name(DimType::Param, d)?.unwrap_or_default();
                        sum = sum.plus(&self.sum_of(self.name(&name)?), factor);
                    }
                }
                let equality = c.is_equality()?;
                match sum.constant() {
                    Some(v) if if equality { v == 0 } else { v >= 0 } => {}
                    Some(_) => never = true,
                    None => all.push((sum, equality)),
                }
            }
            if !never && all.is_empty() {
                return Ok(Some(Conditions(vec![all])));
            }
            if !never && !any.contains(&all) {
                any.push(all);
            }
        }
        Ok(Some(Conditions(any)))
    }

    /// The value of conditions, an `i1`.
    pub fn emit_conditions(&self, conditions: &Conditions) -> Value {
        let ir = self.ir;
        let mut any = ir.bool(false);
        for part in &conditions.0 {
            let mut all = ir.bool(true);
            for (sum, equality) in part {
                let (sum, number) = sum.emit(ir);
                let sum = ir.add(sum, ir.int(number));
                all = ir.and(all, ir.icmp(if *equality { LLVMIntEQ } else { LLVMIntSGE }, sum, ir.int(0)));
            }
            any = ir.or(any, all);
        }
        any
    }

    /// Whether the parameters are in the set `[params] -> { : ... }` (or `{ [] : ... }`), an `i1`.
    pub fn emit_set(&self, s: &isl::Set) -> Result<Value> {
        if s.is_empty()? {
            return Ok(self.ir.bool(false));
        }
        let s = s.clone().coalesce()?.compute_divs()?;
        let s = if s.is_params()? { s } else { s.params()? };
        let build = isl::AstBuild::from_context(isl::Set::universe(s.space()?)?)?;
        self.emit_bool(&build.expr_from_set(s)?)
    }
}

/// The divisor of a division, a positive constant.
fn divisor(e: &AstExpr) -> Result<i64> {
    let d = e.arg(1)?;
    if d.expr_type()? == AstExprType::Int
        && let Some(d) = d.int()?.to_i64()
        && d > 0
    {
        return Ok(d);
    }
    internal(format!("{e} does not divide by a positive constant of 64 bits"))
}

/// The expression of a function of the parameters, simplified under `context` (and the function's own
/// domain).
pub(crate) fn pw_aff_expr(f: &isl::PwAff, context: Option<&isl::Set>) -> Result<AstExpr> {
    let mut known = f.clone().domain()?;
    if !known.is_params()? {
        known = known.params()?;
    }
    if let Some(c) = context {
        // (The function's domain may be of many cases that together are all that is known.)
        known = if c.is_subset(&known)? { c.clone() } else { known.intersect(c.clone())? };
    }
    let mut f = f.clone();
    if !f.domain_space()?.is_params()? {
        f = f.project_domain_on_params()?;
    }
    if known.is_empty()? {
        // Never evaluated; isl has no expression for it.
        known = isl::Set::universe(known.space()?)?;
        if f.is_empty()? {
            f = isl::PwAff::constant_on(known.space()?, 0)?;
        }
    }
    // The build simplifies as well; pieces are merged before that.
    if f.n_piece()? > 1 {
        f = with_few_cases(f.gist_params(known.clone())?.coalesce()?, &known)?;
    }
    Ok(isl::AstBuild::from_context(known)?.expr_from_pw_aff(f)?)
}

/// Pieces of more cases are left as they are: each two are compared.
const MOST_CASES: usize = 16;

/// The same function where `known` holds, with pieces of fewer cases: two cases of a piece are one if nothing
/// else that is known lies in what is around both.
///
/// A subscript of an access that is one of several, `in[mirrored(y)][mirrored(x)]`, has the conditions of all
/// other subscripts as well, and isl joins cases only where their union is convex of itself.
fn with_few_cases(f: isl::PwAff, known: &isl::Set) -> Result<isl::PwAff> {
    let pieces = f.pieces()?;
    let (mut out, mut fewer): (Option<isl::PwAff>, _) = (None, false);
    for (domain, value) in pieces {
        let cases = joined(&domain, known)?;
        fewer |= cases.is_some();
        // What was simplified under `known` is apart from the other pieces there only.
        let piece = isl::PwAff::alloc(cases.unwrap_or(domain).intersect(known.clone())?, value)?;
        out = Some(match out {
            Some(out) => out.union_add(piece)?,
            None => piece,
        });
    }
    Ok(out.filter(|_| fewer).unwrap_or(f))
}

/// A set that is `set` where `known` holds, of fewer cases, if there is one.
fn joined(set: &isl::Set, known: &isl::Set) -> Result<Option<isl::Set>> {
    let mut parts = set.basic_sets()?;
    let cases = parts.len();
    if !(2..=MOST_CASES).contains(&cases) || known.n_basic_set()? > 1 {
        return Ok(None);
    }
    let mut first = 0;
    while first < parts.len() {
        let mut other = first + 1;
        while other < parts.len() {
            let [a, b] = [first, other].map(|at| isl::Set::from_basic_set(parts[at].clone()));
            let around = a?.union(b?)?.simple_hull()?;
            let inside = isl::Set::from_basic_set(around.clone())?.intersect(known.clone())?;
            if inside.is_subset(set)? {
                parts[first] = around;
                parts.remove(other);
                other = first + 1;
            } else {
                other += 1;
            }
        }
        first += 1;
    }
    let fewer = parts.len() < cases;
    let mut parts = parts.into_iter().map(isl::Set::from_basic_set);
    let Some(first) = parts.next().filter(|_| fewer) else { return Ok(None) };
    Ok(Some(parts.try_fold(first?, |all, part| all.union(part?))?))
}

/// The name of the parameter that stands for dimension `d` of a statement's domain in [`parameterize`].
pub(crate) fn iterator_name(d: u32) -> String {
    pollyrs_schedule::Param::Iterator(d as usize).to_string()
}

/// `[params] -> { S[i...] -> [v] }` as a function of parameters alone: dimension `d` of the domain becomes
/// the parameter `_i<d>`.
pub(crate) fn parameterize(f: &isl::PwAff) -> Result<isl::PwAff> {
    let mut f = f.clone().reset_tuple_id(DimType::In)?;
    let dims = f.dim(DimType::In)?;
    for d in 0..dims {
        let at = f.dim(DimType::Param)?;
        f = f.move_dims(DimType::Param, at, DimType::In, 0, 1)?;
        let id = isl::Id::new(f.context(), &iterator_name(d))?;
        f = f.set_dim_id(DimType::Param, at, id)?;
    }
    Ok(f.project_domain_on_params()?)
}

/// The same for a set `[params] -> { S[i...] }`.
pub(crate) fn parameterize_set(s: &isl::Set) -> Result<isl::Set> {
    let mut s = s.clone().reset_tuple_id()?;
    let dims = s.dim(DimType::Set)?;
    for d in 0..dims {
        let at = s.dim(DimType::Param)?;
        s = s.move_dims(DimType::Param, at, DimType::Set, 0, 1)?;
        s = s.set_dim_name(DimType::Param, at, &iterator_name(d))?;
    }
    Ok(s.params()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscript_has_no_conditions_of_the_others() {
        let ctx = isl::Context::new();
        // A row that is mirrored at both ends, of an image whose columns are mirrored, too.
        let columns = ["x < 0", "0 <= x < m", "x >= m and 2x < 3m", "2x >= 3m"];
        let rows = [("-y", "y < 0"), ("y", "0 <= y < n"), ("2n - y - 2", "y >= n")];
        let pieces: Vec<_> = rows
            .iter()
            .flat_map(|(value, row)| columns.map(|column| format!("[({value})] : {row} and {column}")))
            .collect();
        let text = format!("[n, m, x, y] -> {{ {} }}", pieces.join("; "));
        let f = isl::PwAff::read(&ctx, &text).unwrap();
        let known = isl::Set::read(
            &ctx,
            "[n, m, x, y] -> { : n > 8 and m > 8 and -5 <= x < m + 5 and -5 <= y < n + 5 }",
        );
        let known = known.unwrap();
        let f = f.intersect_domain(known.clone()).unwrap().coalesce().unwrap();
        let few = with_few_cases(f.clone(), &known).unwrap();
        let expected = isl::PwAff::read(
            &ctx,
            "[n, m, x, y] -> { [(-y)] : y < 0; [(y)] : 0 <= y < n; [(2n - y - 2)] : y >= n }",
        );
        let expected = expected.unwrap().intersect_domain(known.clone()).unwrap();
        assert!(few.is_equal(&expected).unwrap(), "{few}");
        assert!(few.pieces().unwrap().iter().all(|(set, _)| set.n_basic_set().unwrap() == 1), "{few}");
        let e = pw_aff_expr(&f, Some(&known)).unwrap().to_string();
        assert_eq!(e, "y >= n ? 2 * n - y - 2 : max(-y, y)");
    }

    #[test]
    fn cases_with_others_between_them_stay() {
        let ctx = isl::Context::new();
        let f = isl::PwAff::read(&ctx, "[x] -> { [(0)] : x < 0 or x > 9; [(1)] : 0 <= x <= 9 }").unwrap();
        let known = isl::Set::read(&ctx, "[x] -> { : -100 <= x <= 100 }").unwrap();
        let same = with_few_cases(f.clone(), &known).unwrap();
        assert!(same.is_equal(&f).unwrap(), "{same}");
    }
}
