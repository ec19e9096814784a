//! Why a check failed: the one condition that does not hold, with the values on its sides.
//!
//! Problem: an assumption is a set of parameters, `n <= ld and m <= ld` beside a few others, and a user asks
//! which of them is not true, and by how much. All of this is computed on the way to the original loop, where
//! time does not matter.
//!
//! # Invariant
//! What is said never decides whether the loop runs on the device: the check is the check, and a condition
//! that is looked at behind it is one of its parts or says nothing.
//!
//! # Example
//! `subscripts of A stay inside its dimensions: ld = 42 < m = 43`.

use crate::CodegenError;
use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use pollyrs_isl as isl;
use pollyrs_isl::DimType;
use pollyrs_scop::{Assumption, Scop};

/// What stands in a reason's text for the values on the left and on the right.
pub(crate) const LEFT: char = '\u{1}';
pub(crate) const RIGHT: char = '\u{2}';

/// An assumption with more conditions is reported as a whole.
const MAX_CONDITIONS: usize = 16;
/// Sides with more parameters are not spelled out.
const MAX_TERMS: usize = 4;

/// A part of a check.
pub(crate) struct Why {
    pub text: String,
    pub fails: Fails,
}

pub(crate) enum Fails {
    /// Whenever the check does and nothing before it in the list.
    Always,
    /// Computed with the check: whether it holds, and the two values.
    Known(Value, Value, Value),
    /// Where parameters are in neither of two sets; the values on its sides.
    Outside(isl::Set, isl::Set, Option<(isl::PwAff, isl::PwAff)>),
}

/// A part of a check, computed where it is asked for: whether it holds, and two values.
pub(crate) fn emit(
    ir: &Ir,
    expr: &ExprEmitter<'_>,
    fails: &Fails,
) -> Result<(Value, Value, Value), CodegenError> {
    let none = || ir.int(0);
    Ok(match fails {
        Fails::Always => (ir.bool(false), none(), none()),
        Fails::Known(holds, left, right) => (*holds, *left, *right),
        Fails::Outside(whole, part, sides) => {
            let holds = ir.or(expr.emit_set(whole)?, expr.emit_set(part)?);
            match sides {
                Some((l, r)) => (holds, expr.emit_pw_aff(l)?, expr.emit_pw_aff(r)?),
                None => (holds, none(), none()),
            }
        }
    })
}

/// The conditions of all assumptions, each with its text.
pub(crate) fn of_assumptions(scop: &Scop) -> Result<Vec<Why>, CodegenError> {
    let mut all = Vec::new();
    for a in &scop.assumptions {
        let prefix = format!("an assumption does not hold: {}", a.note);
        let parts = conditions(scop, a)?;
        if all.len() + parts.len() <= MAX_CONDITIONS {
            for (part, relation, sides) in parts {
                let text = format!("{prefix}{relation}");
                all.push(Why { text, fails: Fails::Outside(a.set.clone(), part, sides) });
            }
        }
        if all.len() < 2 * MAX_CONDITIONS {
            let whole = a.set.clone();
            all.push(Why { text: prefix, fails: Fails::Outside(whole.clone(), whole, None) });
        }
    }
    let notes: std::collections::BTreeSet<&str> = scop.assumptions.iter().map(|a| a.note.as_str()).collect();
    let notes: Vec<&str> = notes.into_iter().collect();
    let text = format!("an assumption does not hold: {}", notes.join("; "));
    all.push(Why { text, fails: Fails::Always });
    Ok(all)
}

/// The same for what is known before anything is inspected: the text alone.
pub(crate) fn of_assumptions_before(scop: &Scop) -> Result<Vec<Why>, CodegenError> {
    let mut all = Vec::new();
    for a in &scop.assumptions {
        let mut free = true;
        for (at, _) in scop.params.iter().enumerate().filter(|(_, p)| p.inspected) {
            free &= !a.set.involves_dims(DimType::Param, at as u32, 1)?;
        }
        if free && all.len() < MAX_CONDITIONS {
            let text = format!("an assumption does not hold: {}", a.note);
            all.push(Why { text, fails: Fails::Outside(a.set.clone(), a.set.clone(), None) });
        }
    }
    let text = "an assumption does not hold, whatever the inspected values are".to_string();
    all.push(Why { text, fails: Fails::Always });
    Ok(all)
}

/// A half-space, the text of its opposite, and its sides.
type Condition = (isl::Set, String, Option<(isl::PwAff, isl::PwAff)>);

/// The conditions of the case of an assumption that says most: of `n <= 0 or (n <= ld and m <= ld)` the
/// latter, as nobody means the former.
fn conditions(scop: &Scop, a: &Assumption) -> Result<Vec<Condition>, CodegenError> {
    let mut best: Option<(usize, Vec<isl::Constraint>)> = None;
    for case in a.set.basic_sets()? {
        let all = case.constraints()?;
        let mut weight = 0;
        for c in &all {
            for p in 0..c.dim(DimType::Param)? {
                weight += usize::from(c.involves_dims(DimType::Param, p, 1)?);
            }
        }
        if best.as_ref().is_none_or(|b| weight > b.0) {
            best = Some((weight, all));
        }
    }
    let mut out = Vec::new();
    for c in best.map(|b| b.1).unwrap_or_default() {
        let part = isl::Set::from_basic_set(isl::BasicSet::from_constraint(c.clone())?)?;
        let (relation, sides) = match sides(scop, &c)? {
            Some((text, left, right)) => (format!(": {text}"), Some((left, right))),
            None => (String::new(), None),
        };
        out.push((part, relation, sides));
    }
    Ok(out)
}

/// A constraint without quotients as two sums without negative factors, and the text that says that it does
/// not hold.
fn sides(scop: &Scop, c: &isl::Constraint) -> Result<Option<(String, isl::PwAff, isl::PwAff)>, CodegenError> {
    let divs = c.dim(DimType::Div)?;
    if divs > 0 && c.involves_dims(DimType::Div, 0, divs)? {
        return Ok(None);
    }
    let Some(constant) = c.constant()?.to_i64() else { return Ok(None) };
    let space = scop.param_space()?;
    let mut values = [
        isl::PwAff::constant_on(space.clone(), constant.max(0))?,
        isl::PwAff::constant_on(space.clone(), constant.saturating_neg().max(0))?,
    ];
    let mut texts = [Vec::new(), Vec::new()];
    for p in 0..c.dim(DimType::Param)? {
        let Some(factor) = c.coefficient(DimType::Param, p as i32)?.to_i64() else { return Ok(None) };
        if factor == 0 {
            continue;
        }
        let Some(param) = scop.params.get(p as usize) else { return Ok(None) };
        let (side, by) = (usize::from(factor < 0), factor.saturating_abs());
        let id = isl::Id::new(&scop.ctx, &param.name)?;
        let value = isl::PwAff::from_aff(isl::Aff::param_on_domain(space.clone(), id)?)?;
        let value = value.scale(isl::Val::int(&scop.ctx, by)?)?;
        values[side] = values[side].clone().add(value)?;
        texts[side].push(if by == 1 { param.display.clone() } else { format!("{by}*{}", param.display) });
    }
    if texts.iter().any(|t| t.len() > MAX_TERMS) {
        return Ok(None);
    }
    let side = |n: usize, mark: char| {
        let number = if n == 0 { constant.max(0) } else { constant.saturating_neg().max(0) };
        match (texts[n].join(" + "), number) {
            (terms, _) if terms.is_empty() => mark.to_string(),
            (terms, 0) => format!("{terms} = {mark}"),
            (terms, number) => format!("{terms} + {number} = {mark}"),
        }
    };
    let relation = if c.is_equality()? { "is not" } else { "<" };
    let [left, right] = values;
    Ok(Some((format!("{} {relation} {}", side(0, LEFT), side(1, RIGHT)), left, right)))
}
