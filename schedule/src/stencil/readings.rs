//! The proof that a [`Stencil`] says what the SCoP does. All other proofs of fused steps start from its steps
//! and boxes; whoever made it, each of its claims is compared here with the SCoP's domains and relations.
//!
//! Let `y` be the element that an instance `S[t, i]` of a step writes, as the step's `iterators` and box have
//! it (`i_j = y_d + c`). For all parameters in [`Stencil::runs`]:
//! 1. steps stand in the order of their times, then of their statements, and for each time of a period each
//!    write of each statement is one step;
//! 2. the instances of the first [`Stencil::time`] iterations are the points of the box, and of its lattices:
//!    no more and no less, and different ones write different elements;
//! 3. the written element is `y`, of the step's buffer, and lies in the buffer's hull; a step that is not
//!    partial has the hull for its box;
//! 4. a read of a buffer is of `y + offset`, with the offset of the case whose box `y` is in, if there is
//!    one; it lies in the box around all elements, and in the hull where the buffer has no border;
//! 5. any other read finds nothing in a hull;
//! 6. dimensions that are called thin are one element wide.

use super::functions::{coordinate, lift, params};
use super::{Buffer, Case, Stencil, Step, StepAccess};
use crate::{Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, Scop, Statement};

/// A claim that does not hold, if there is one.
pub fn wrong(scop: &Scop, stencil: &Stencil) -> Result<Option<String>> {
    if !are_complete(scop, stencil) {
        return Ok(Some("steps are missing, or in another order".into()));
    }
    for (n, step) in stencil.steps.iter().enumerate() {
        let s = &scop.statements[step.stmt.0];
        if let Some(what) =
            Instances::of(scop, stencil, step, s)?.map_or(Ok(Some("its form")), |i| i.wrong())?
        {
            return Ok(Some(format!("step {n}, of {}: {what}", s.name)));
        }
    }
    Ok(None)
}

/// Claim 1.
fn are_complete(scop: &Scop, stencil: &Stencil) -> bool {
    let mut expected = Vec::new();
    for time in 0..stencil.period {
        for (k, s) in scop.statements.iter().enumerate() {
            let writes = s.accesses.iter().enumerate().filter(|(_, a)| a.kind != AccessKind::Read);
            expected.extend(writes.map(|(at, _)| (time, k, at)));
        }
    }
    stencil.steps.iter().map(|s| (s.time, s.stmt.0, s.write)).eq(expected)
}

/// A step's instances in all iterations that are fused.
struct Instances<'a> {
    scop: &'a Scop,
    stencil: &'a Stencil,
    step: &'a Step,
    statement: &'a Statement,
    /// `[params] -> { : ... }`: parameters that are looked at.
    runs: isl::Set,
    /// `[params] -> { S[t, i] }`, by the SCoP's domain.
    domain: isl::Set,
    /// `{ S[t, i] -> [y_d] }`: the written element, by dimension.
    written: Vec<isl::PwAff>,
}

impl<'a> Instances<'a> {
    /// `None` if the step does not fit its statement at all.
    fn of(
        scop: &'a Scop,
        stencil: &'a Stencil,
        step: &'a Step,
        statement: &'a Statement,
    ) -> Result<Option<Instances<'a>>> {
        let n = statement.domain.dim(isl::DimType::Set)? as usize;
        let dims = stencil.dims;
        let mut by_dimension = vec![None; dims];
        for (j, (d, c)) in step.iterators.iter().enumerate() {
            match by_dimension.get_mut(*d) {
                Some(free @ None) => *free = Some((j as u32 + 1, *c)),
                _ => return Ok(None),
            }
        }
        let fits = [step.lower.len(), step.upper.len()] == [dims, dims] && step.iterators.len() + 1 == n;
        if !fits || step.accesses.len() != statement.accesses.len() || step.buffer >= stencil.buffers.len() {
            return Ok(None);
        }
        let runs = known(scop)?.intersect(stencil.runs.clone())?;
        let everywhere = isl::Set::universe(statement.domain.space()?)?;
        let mut written = Vec::new();
        for (d, iterator) in by_dimension.into_iter().enumerate() {
            written.push(match iterator {
                Some((i, c)) => coordinate(&everywhere, i)?.add_constant(isl::Val::int(&scop.ctx, -c)?)?,
                None => lift(&step.lower[d], &everywhere)?,
            });
        }
        let domain = statement.domain.clone().intersect(times(stencil, step, &everywhere)?)?;
        let domain = domain.intersect_params(runs.clone())?;
        Ok(Some(Instances { scop, stencil, step, statement, runs, domain, written }))
    }

    /// Which claim does not hold.
    fn wrong(&self) -> Result<Option<&'static str>> {
        if !self.is_box()? {
            return Ok(Some("its instances"));
        }
        if !self.has_hull()? {
            return Ok(Some("its buffer's hull"));
        }
        let statement = self.statement;
        for (at, (a, said)) in statement.accesses.iter().zip(&self.step.accesses).enumerate() {
            let holds = match said {
                StepAccess::Write => {
                    let own = a.kind == AccessKind::MustWrite;
                    own && (at != self.step.write || self.is_written(a)?)
                }
                StepAccess::Plain => a.kind == AccessKind::Read && self.is_elsewhere(a)?,
                StepAccess::Buffer { buffer, offset } => match self.stencil.buffers.get(*buffer) {
                    Some(b) => a.kind == AccessKind::Read && self.is_read(a, at, (b, offset))?,
                    None => false,
                },
            };
            if !holds {
                return Ok(Some("an access"));
            }
        }
        Ok(None)
    }

    /// Claims 2 and 6.
    fn is_box(&self) -> Result<bool> {
        let everywhere = isl::Set::universe(self.domain.space()?)?;
        let mut expected = self.within(&everywhere, (&self.step.lower, &self.step.upper))?;
        expected = expected.intersect(times(self.stencil, self.step, &everywhere)?)?;
        for l in &self.step.lattices {
            let names: Vec<String> = (0..l.coefficients.len()).map(|d| format!("i{d}")).collect();
            let terms: Vec<String> =
                names.iter().zip(&l.coefficients).map(|(n, c)| format!("{c} * {n}")).collect();
            let sum = format!("({} + {}) mod {}", l.constant, terms.join(" + "), l.modulus);
            let text = format!("{{ {}[{}] : {sum} = 0 }}", self.statement.name, names.join(", "));
            expected = expected.intersect(isl::Set::read(&self.scop.ctx, &text)?)?;
        }
        let expected = expected.intersect_params(self.runs.clone())?;
        let fixed = (0..self.stencil.dims).filter(|d| self.step.iterators.iter().all(|(at, _)| at != d));
        let thin: Vec<usize> = fixed.chain(self.step.thin.iter().copied()).collect();
        Ok(self.are_thin(&thin, (&self.step.lower, &self.step.upper))? && expected.is_equal(&self.domain)?)
    }

    /// Whether a box is one element wide in these dimensions.
    fn are_thin(&self, dims: &[usize], (lower, upper): (&[isl::PwAff], &[isl::PwAff])) -> Result<bool> {
        for d in dims {
            let (Some(lower), Some(upper)) = (lower.get(*d), upper.get(*d)) else { return Ok(false) };
            if !self.runs.is_subset(&params(lower.clone().eq_set(upper.clone())?)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Claim 3, of the hull.
    fn has_hull(&self) -> Result<bool> {
        let hull = &self.stencil.buffers[self.step.buffer];
        let mut inside = self.runs.clone();
        let mut equal = self.runs.clone();
        for d in 0..self.stencil.dims {
            let (low, high) = (self.step.lower[d].clone(), self.step.upper[d].clone());
            let (Some(first), Some(last)) = (hull.lower.get(d), hull.upper.get(d)) else { return Ok(false) };
            inside = inside.intersect(params(low.clone().ge_set(first.clone())?)?)?;
            inside = inside.intersect(params(high.clone().le_set(last.clone())?)?)?;
            if !self.step.partial {
                equal = equal.intersect(params(low.eq_set(first.clone())?)?)?;
                equal = equal.intersect(params(high.eq_set(last.clone())?)?)?;
            }
        }
        Ok(self.runs.is_subset(&inside)? && self.runs.is_subset(&equal)?)
    }

    /// The part of `domain` whose written elements are in a box.
    fn within(&self, domain: &isl::Set, (lower, upper): (&[isl::PwAff], &[isl::PwAff])) -> Result<isl::Set> {
        let mut out = domain.clone();
        for ((y, low), high) in self.written.iter().zip(lower).zip(upper) {
            out = out.intersect(y.clone().ge_set(lift(low, domain)?)?)?;
            out = out.intersect(y.clone().le_set(lift(high, domain)?)?)?;
        }
        Ok(out)
    }

    /// Claim 3, of the element.
    fn is_written(&self, a: &Access) -> Result<bool> {
        let (buffer, here) = (&self.stencil.buffers[self.step.buffer], vec![0; self.stencil.dims]);
        let all = self.domain.is_subset(&a.relation.clone().domain()?)?;
        Ok(all && self.is_at(a, &self.domain, (buffer, &here))?)
    }

    /// Whether the elements of an access in these instances are the written ones, plus `offset`, of a buffer.
    fn is_at(&self, a: &Access, instances: &isl::Set, (buffer, offset): (&Buffer, &[i64])) -> Result<bool> {
        let array = self.scop.array(a.array);
        let fits = buffer.selectors.len() + self.stencil.dims == array.dims();
        if a.array != buffer.array || !fits || offset.len() != self.stencil.dims {
            return Ok(false);
        }
        let relation = a.relation.clone().intersect_domain(instances.clone())?;
        if !relation.is_single_valued()? {
            return Ok(false);
        }
        let element = isl::PwMultiAff::from_map(relation)?;
        let val = |v: i64| isl::Val::int(&self.scop.ctx, v);
        for (d, selector) in buffer.selectors.iter().enumerate() {
            let at = element.at(d as i32)?.add_constant(val(-selector)?)?;
            if !instances.is_subset(&at.zero_set()?)? {
                return Ok(false);
            }
        }
        for (d, (y, o)) in self.written.iter().zip(offset).enumerate() {
            let at = element.at((buffer.selectors.len() + d) as i32)?;
            if !instances.is_subset(&at.eq_set(y.clone().add_constant(val(*o)?)?)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Claim 4.
    fn is_read(&self, a: &Access, at: usize, (buffer, offset): (&Buffer, &[i64])) -> Result<bool> {
        let cases: Vec<&Case> = self.step.cases.iter().filter(|c| c.access == at).collect();
        let mut usual = self.domain.clone();
        for case in cases {
            let own = self.within(&self.domain, (&case.lower, &case.upper))?;
            // Cases do not meet.
            let alone = own.is_subset(&usual)? && self.are_thin(&case.thin, (&case.lower, &case.upper))?;
            if !alone || case.thin.is_empty() || !self.is_inside(a, &own, (buffer, &case.offset))? {
                return Ok(false);
            }
            usual = usual.subtract(own)?;
        }
        self.is_inside(a, &usual, (buffer, offset))
    }

    /// Claim 4 for some of the instances.
    fn is_inside(&self, a: &Access, own: &isl::Set, (buffer, offset): (&Buffer, &[i64])) -> Result<bool> {
        if !self.is_at(a, own, (buffer, offset))? {
            return Ok(false);
        }
        let mut boxes = vec![(&buffer.outer_lower, &buffer.outer_upper)];
        if !buffer.has_border {
            boxes.push((&buffer.lower, &buffer.upper));
        }
        for (lower, upper) in boxes {
            if [lower.len(), upper.len()] != [self.stencil.dims; 2] {
                return Ok(false);
            }
            let mut inside = isl::Set::universe(own.space()?)?;
            for (d, o) in offset.iter().enumerate() {
                let y = self.written[d].clone().add_constant(isl::Val::int(&self.scop.ctx, *o)?)?;
                inside = inside.intersect(y.clone().ge_set(lift(&lower[d], own)?)?)?;
                inside = inside.intersect(y.le_set(lift(&upper[d], own)?)?)?;
            }
            if !own.is_subset(&inside)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Claim 5.
    fn is_elsewhere(&self, a: &Access) -> Result<bool> {
        let buffers: Vec<_> = self.stencil.buffers.iter().filter(|b| b.array == a.array).collect();
        if buffers.is_empty() {
            return Ok(true);
        }
        let read = a.relation.clone().intersect_domain(self.domain.clone())?.range()?;
        for b in buffers {
            let mut held = isl::Set::universe(read.space()?)?;
            for (d, selector) in b.selectors.iter().enumerate() {
                let at = coordinate(&held, d as u32)?;
                held =
                    held.intersect(at.add_constant(isl::Val::int(&self.scop.ctx, -selector)?)?.zero_set()?)?;
            }
            for (d, (lower, upper)) in b.lower.iter().zip(&b.upper).enumerate() {
                let at = coordinate(&held, (b.selectors.len() + d) as u32)?;
                held = held.intersect(at.clone().ge_set(lift(lower, &read)?)?)?;
                held = held.intersect(at.le_set(lift(upper, &read)?)?)?;
            }
            if !read.is_disjoint(&held)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// `{ S[t, i] }`: at the step's times, of iterations that are fused.
fn times(stencil: &Stencil, step: &Step, everywhere: &isl::Set) -> Result<isl::Set> {
    let ctx = everywhere.context();
    let t = coordinate(everywhere, 0)?;
    let phase = t.clone().add_constant(isl::Val::int(ctx, -step.time)?)?;
    let own = phase.modulo(isl::Val::int(ctx, stencil.period)?)?.zero_set()?;
    let own = own.intersect(t.clone().lt_set(lift(&stencil.time, everywhere)?)?)?;
    Ok(own.lower_bound_val(isl::DimType::Set, 0, isl::Val::int(ctx, 0)?)?)
}
