//! Access relations to steps and buffers.

use super::{Buffer, NotStencil, Stencil, Step, StepAccess, check};
use crate::{Dependences, Result, budgeted, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, Scop, Statement, StmtId};
use std::collections::{BTreeMap, BTreeSet};

/// Periods that are tried: two and three time levels in one array are common, four is the last that is cheap to unroll.
const MAX_PERIOD: i64 = 4;
/// More statements than this are no stencil that fusing helps.
const MAX_STATEMENTS: usize = 8;

/// The stencil that `scop` is, or why it is none. The order of the steps has been proved against the flow dependences.
pub fn recognise(scop: &Scop, deps: &Dependences) -> Result<std::result::Result<Stencil, NotStencil>> {
    budgeted(&scop.ctx, "stencil recognition", crate::DEFAULT_BUDGET, || {
        let found = match find(scop)? {
            Ok(s) => s,
            Err(why) => return Ok(Err(why)),
        };
        Ok(if check::same_flow(scop, deps)? { Ok(found) } else { Err(NotStencil::Flow) })
    })
}

/// One subscript of an access, over the statement's iterators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subscript {
    Constant(i64),
    /// Iterator number (from 1: 0 is time) plus a constant.
    Iterator(usize, i64),
}

/// A statement's domain as a box.
struct Domain {
    /// By iterator: first and last value.
    bounds: Vec<(isl::PwAff, isl::PwAff)>,
    runs: isl::Set,
}

fn find(scop: &Scop) -> Result<std::result::Result<Stencil, NotStencil>> {
    let n = match scop.statements.first() {
        Some(s) => s.domain.dim(isl::DimType::Set)? as usize,
        None => return Ok(Err(NotStencil::Shape)),
    };
    if !(2..=4).contains(&n) || scop.statements.len() > MAX_STATEMENTS {
        return Ok(Err(NotStencil::Shape));
    }
    if scop.arrays.iter().any(|a| !a.is_memory()) {
        return Ok(Err(NotStencil::Scalars));
    }
    let known = known(scop)?;
    let mut domains = Vec::new();
    for s in &scop.statements {
        if s.domain.dim(isl::DimType::Set)? as usize != n {
            return Ok(Err(NotStencil::Shape));
        }
        if s.accesses.iter().any(|a| !matches!(a.value, AccessValue::Instruction(_))) {
            return Ok(Err(NotStencil::Scalars));
        }
        let mut writes = s.accesses.iter().filter(|a| a.kind != AccessKind::Read);
        if s.subregion.is_some() {
            return Ok(Err(NotStencil::Shape));
        }
        if !matches!((writes.next(), writes.next()), (Some(w), None) if w.kind == AccessKind::MustWrite) {
            return Ok(Err(NotStencil::Writes));
        }
        match domain_box(s, &known)? {
            Some(d) => domains.push(d),
            None => return Ok(Err(NotStencil::Domain)),
        }
    }
    let mut runs = known.clone();
    for d in &domains {
        runs = runs.intersect(d.runs.clone())?;
    }
    if runs.is_empty()? || !same_time(&domains, &runs)? {
        return Ok(Err(NotStencil::Domain));
    }
    for period in 1..=MAX_PERIOD {
        let result = with_period(scop, n - 1, period, &domains, &runs)?;
        if !matches!(result, Err(NotStencil::Access)) || period == MAX_PERIOD {
            return Ok(result);
        }
    }
    Ok(Err(NotStencil::Access))
}

/// The domain as a product of intervals, if it is one.
fn domain_box(s: &Statement, known: &isl::Set) -> Result<Option<Domain>> {
    let domain = s.domain.clone().intersect_params(known.clone())?;
    if domain.is_empty()? {
        return Ok(None);
    }
    let runs = domain.clone().params()?;
    let mut bounds = Vec::new();
    for d in 0..domain.dim(isl::DimType::Set)? as i32 {
        // A dimension without a bound has no extreme value; isl reports it as an error.
        let at = d as u32;
        if !domain.dim_has_lower_bound(isl::DimType::Set, at)?
            || !domain.dim_has_upper_bound(isl::DimType::Set, at)?
        {
            return Ok(None);
        }
        bounds.push((domain.clone().dim_min(d)?.coalesce()?, domain.clone().dim_max(d)?.coalesce()?));
    }
    let mut product = isl::Set::universe(domain.space()?)?;
    for (d, (lower, upper)) in bounds.iter().enumerate() {
        let x = check::coordinate(&domain, d as u32)?;
        product = product.intersect(x.clone().ge_set(check::lift(lower, &domain)?)?)?;
        product = product.intersect(x.le_set(check::lift(upper, &domain)?)?)?;
    }
    let is_box = product.intersect_params(runs.clone())?.is_equal(&domain)?;
    Ok(is_box.then_some(Domain { bounds, runs }))
}

/// Whether two functions of the parameters agree where `runs` holds.
fn equal(a: &isl::PwAff, b: &isl::PwAff, runs: &isl::Set) -> Result<bool> {
    let same = a.clone().eq_set(b.clone())?;
    let same = if same.is_params()? { same } else { same.params()? };
    Ok(runs.is_subset(&same)?)
}

/// Time starts at 0 and ends with the same value in every statement.
fn same_time(domains: &[Domain], runs: &isl::Set) -> Result<bool> {
    let (first, last) = &domains[0].bounds[0];
    if !runs.is_subset(&params(first.clone().zero_set()?)?)? {
        return Ok(false);
    }
    for d in domains {
        if !equal(&d.bounds[0].0, first, runs)? || !equal(&d.bounds[0].1, last, runs)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn params(set: isl::Set) -> Result<isl::Set> {
    Ok(if set.is_params()? { set } else { set.params()? })
}

/// The subscripts of an access at times `period * q + phase`; `None` where one is neither constant nor an iterator plus a constant.
fn subscripts(
    scop: &Scop,
    s: &Statement,
    a: &Access,
    period: i64,
    phase: i64,
    runs: &isl::Set,
) -> Result<Option<Vec<Subscript>>> {
    let domain = s.domain.clone().intersect_params(runs.clone())?;
    let time = check::coordinate(&domain, 0)?;
    let shifted = time.add_constant(isl::Val::int(&scop.ctx, -phase)?)?;
    let at_phase = shifted.modulo(isl::Val::int(&scop.ctx, period)?)?.zero_set()?;
    let domain = domain.intersect(at_phase)?;
    if domain.is_empty()? {
        return Ok(None);
    }
    let function = isl::PwMultiAff::from_map(a.relation.clone().intersect_domain(domain.clone())?)?;
    let mut out = Vec::new();
    for d in 0..scop.array(a.array).dims() {
        let value = function.at(d as i32)?;
        let mut found = constant(&value)?.map(Subscript::Constant);
        for i in 1..domain.dim(isl::DimType::Set)? {
            if found.is_some() {
                break;
            }
            let rest = value.clone().sub(check::coordinate(&domain, i)?)?;
            found = constant(&rest)?.map(|c| Subscript::Iterator(i as usize, c));
        }
        match found {
            Some(f) => out.push(f),
            None => return Ok(None),
        }
    }
    Ok(Some(out))
}

/// The value of a function that has one only.
fn constant(f: &isl::PwAff) -> Result<Option<i64>> {
    let (min, max) = (f.clone().min_value()?.to_i64(), f.clone().max_value()?.to_i64());
    Ok(if min == max { min } else { None })
}

/// By space dimension: iterator and constant.
type Space = Vec<(usize, i64)>;

/// Leading constants, then iterators: selectors and the space dimensions.
fn split(subscripts: &[Subscript], dims: usize) -> Option<(Vec<i64>, Space)> {
    let lead = subscripts.len().checked_sub(dims)?;
    let mut selectors = Vec::new();
    let mut space = Vec::new();
    for (i, s) in subscripts.iter().enumerate() {
        match s {
            Subscript::Constant(c) if i < lead => selectors.push(*c),
            Subscript::Iterator(j, c) if i >= lead => space.push((*j, *c)),
            _ => return None,
        }
    }
    let distinct: BTreeSet<usize> = space.iter().map(|s| s.0).collect();
    (distinct.len() == dims).then_some((selectors, space))
}

fn with_period(
    scop: &Scop,
    dims: usize,
    period: i64,
    domains: &[Domain],
    runs: &isl::Set,
) -> Result<std::result::Result<Stencil, NotStencil>> {
    let written: BTreeSet<_> = scop
        .statements
        .iter()
        .flat_map(|s| &s.accesses)
        .filter(|a| a.kind != AccessKind::Read)
        .map(|a| a.array)
        .collect();
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut index: BTreeMap<(usize, Vec<i64>), usize> = BTreeMap::new();
    // The writes first: they say which buffers there are.
    let mut writes = Vec::new();
    for time in 0..period {
        for (k, s) in scop.statements.iter().enumerate() {
            let Some(w) = s.accesses.iter().find(|a| a.kind != AccessKind::Read) else {
                return Ok(Err(NotStencil::Writes));
            };
            let Some(subscripts) = subscripts(scop, s, w, period, time, runs)? else {
                return Ok(Err(NotStencil::Access));
            };
            let Some((selectors, space)) = split(&subscripts, dims) else {
                return Ok(Err(NotStencil::Access));
            };
            let bound = |upper: bool| -> Result<Vec<isl::PwAff>> {
                space
                    .iter()
                    .map(|(j, c)| {
                        let b = &domains[k].bounds[*j];
                        let b = if upper { &b.1 } else { &b.0 };
                        Ok(b.clone()
                            .add_constant(isl::Val::int(&scop.ctx, *c)?)?
                            .intersect_params(runs.clone())?)
                    })
                    .collect()
            };
            let (lower, upper) = (bound(false)?, bound(true)?);
            let key = (w.array.0, selectors.clone());
            match index.get(&key) {
                Some(b) => {
                    let b: &Buffer = &buffers[*b];
                    for d in 0..dims {
                        if !equal(&b.lower[d], &lower[d], runs)? || !equal(&b.upper[d], &upper[d], runs)? {
                            return Ok(Err(NotStencil::Boxes));
                        }
                    }
                }
                None => {
                    index.insert(key.clone(), buffers.len());
                    buffers.push(Buffer {
                        array: w.array,
                        selectors,
                        outer_lower: lower.clone(),
                        outer_upper: upper.clone(),
                        lower,
                        upper,
                        has_border: false,
                        live: false,
                    });
                }
            }
            writes.push((time, k, index[&key], space));
        }
    }
    let mut steps = Vec::new();
    let mut neighbours = false;
    for (time, k, buffer, space) in writes {
        let s = &scop.statements[k];
        let mut accesses = Vec::new();
        for a in &s.accesses {
            if a.kind != AccessKind::Read {
                accesses.push(StepAccess::Write);
                continue;
            }
            if !written.contains(&a.array) {
                accesses.push(StepAccess::Plain);
                continue;
            }
            let found = subscripts(scop, s, a, period, time, runs)?.and_then(|x| split(&x, dims));
            let Some((selectors, read_space)) = found else {
                return Ok(Err(NotStencil::Access));
            };
            // The same iterator along the same dimension.
            if read_space.iter().zip(&space).any(|(r, w)| r.0 != w.0) {
                return Ok(Err(NotStencil::Access));
            }
            let Some(from) = index.get(&(a.array.0, selectors)).copied() else {
                accesses.push(StepAccess::Plain);
                continue;
            };
            let offset: Vec<i64> = read_space.iter().zip(&space).map(|(r, w)| r.1 - w.1).collect();
            neighbours |= offset.iter().any(|o| *o != 0);
            // What this step reads of the buffer: its own box, shifted.
            for (d, o) in offset.iter().enumerate() {
                let shift = isl::Val::int(&scop.ctx, *o)?;
                let lower = buffers[buffer].lower[d].clone().add_constant(shift.clone())?;
                let upper = buffers[buffer].upper[d].clone().add_constant(shift)?;
                let b = &mut buffers[from];
                let inside = params(lower.clone().ge_set(b.lower[d].clone())?)?
                    .intersect(params(upper.clone().le_set(b.upper[d].clone())?)?)?;
                b.has_border |= !runs.is_subset(&inside)?;
                b.outer_lower[d] = b.outer_lower[d].clone().min(lower)?.coalesce()?;
                b.outer_upper[d] = b.outer_upper[d].clone().max(upper)?.coalesce()?;
            }
            accesses.push(StepAccess::Buffer { buffer: from, offset });
        }
        let mut iterators = vec![(0, 0); dims];
        for (d, (j, c)) in space.iter().enumerate() {
            iterators[*j - 1] = (d, -c);
        }
        steps.push(Step { stmt: StmtId(k), time, buffer, iterators, accesses });
    }
    let mut fresh = BTreeSet::new();
    for s in &steps {
        for a in &s.accesses {
            if let StepAccess::Buffer { buffer, .. } = a
                && !fresh.contains(buffer)
            {
                buffers[*buffer].live = true;
            }
        }
        fresh.insert(s.buffer);
    }
    if !neighbours || !buffers.iter().any(|b| b.live) {
        return Ok(Err(NotStencil::NoReuse));
    }
    let time = domains[0].bounds[0].1.clone().add_constant(isl::Val::int(&scop.ctx, 1)?)?;
    let time = time.intersect_params(runs.clone())?;
    let runs = runs.clone();
    Ok(Ok(Stencil { dims, period, steps, buffers, time, runs }))
}
