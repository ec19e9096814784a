//! Access relations to steps and buffers.

use super::cases::{self, Read};
use super::functions::{Domain, Place, constant, coordinate, domain_box, equal, params};
use super::{Buffer, NotStencil, Stencil, Step, StepAccess, check, instances, reach, readings};
use crate::{Dependences, Refusal, Result, budgeted_form, known, planted};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, Scop, Statement, StmtId};
use std::collections::BTreeSet;

/// Periods that are tried: two and three time levels in one array are common, four is the last that is cheap
/// to unroll.
const MAX_PERIOD: i64 = 4;
/// More statements than this are no stencil that fusing helps.
pub(super) const MAX_STATEMENTS: usize = 16;

/// Something of a stencil, or why there is none.
pub type Recognised<T> = std::result::Result<T, Refusal<NotStencil>>;

/// The stencil that `scop` is, or why it is none. The order of the steps has been proved against the flow
/// dependences, and all that it says against the SCoP.
pub fn recognise(scop: &Scop, deps: &Dependences) -> Recognised<Stencil> {
    budgeted_form(&scop.ctx, "stencil recognition", crate::DEFAULT_BUDGET, || {
        let found = recognise_form(scop)?;
        if !check::same_flow(scop, deps, &found)? {
            return Err(Refusal::Form(NotStencil::Flow));
        }
        if !planted::unproved()
            && let Some(why) = readings::wrong(scop, &found)?
        {
            planted::refused("reading", &why);
            return Err(Refusal::Form(NotStencil::Readings));
        }
        if !planted::unproved() && !check::hulls_are_touched(scop, &found)? {
            planted::refused("touched", "a hull reaches beyond what is touched");
            return Err(Refusal::Form(NotStencil::Border));
        }
        Ok(found)
    })
}

/// One subscript of an access, over the statement's iterators.
#[derive(Clone, Debug)]
enum Subscript {
    /// The same in all instances: a function of the parameters, and its value where it is a number.
    Fixed(isl::PwAff, Option<i64>),
    /// Iterator number (from 1: 0 is time) plus a constant.
    Iterator(usize, i64),
}

/// What would be the stencil that `scop` is, if its flow is that of the steps.
pub(super) fn recognise_form(scop: &Scop) -> Recognised<Stencil> {
    let n = match scop.statements.first() {
        Some(s) => s.domain.dim(isl::DimType::Set)? as usize,
        None => return Err(Refusal::Form(NotStencil::Shape)),
    };
    let mut n = n;
    for s in &scop.statements {
        n = n.max(s.domain.dim(isl::DimType::Set)? as usize);
    }
    if !(2..=4).contains(&n) {
        return Err(Refusal::Form(NotStencil::Shape));
    }
    if scop.statements.len() > MAX_STATEMENTS {
        return Err(Refusal::Form(NotStencil::Many));
    }
    let accesses = || scop.statements.iter().flat_map(|s| &s.accesses);
    if accesses().any(|a| !scop.array(a.array).is_memory()) {
        return Err(Refusal::Form(NotStencil::Scalars));
    }
    let known = known(scop)?;
    let mut domains = Vec::new();
    for s in &scop.statements {
        if s.domain.dim(isl::DimType::Set)? == 0 {
            return Err(Refusal::Form(NotStencil::Shape));
        }
        if s.accesses.iter().any(|a| !matches!(a.value, AccessValue::Instruction(_))) {
            return Err(Refusal::Form(NotStencil::Scalars));
        }
        if !s.is_plain() {
            return Err(Refusal::Form(NotStencil::Shape));
        }
        let mut writes = s.accesses.iter().filter(|a| a.kind != AccessKind::Read).peekable();
        if writes.peek().is_none() || writes.any(|w| w.kind != AccessKind::MustWrite) {
            return Err(Refusal::Form(NotStencil::Writes));
        }
        match domain_box(&s.domain, &known)? {
            Some(d) => domains.push(d),
            None => return Err(Refusal::Form(NotStencil::Domain)),
        }
    }
    let mut runs = known.clone();
    for d in &domains {
        runs = runs.intersect(d.runs.clone())?;
    }
    let Some(time) = common_time(&domains, &runs)?.filter(|_| !matches!(runs.is_empty(), Ok(true))) else {
        return Err(Refusal::Form(NotStencil::Domain));
    };
    for period in 1..=MAX_PERIOD {
        match with_period(scop, n - 1, period, &domains, (&runs, &time)) {
            // A subscript modulo something else than the period has fractions that isl refuses to compare.
            Err(Refusal::Failed(e)) if !crate::is_quota(&e) => {}
            Err(Refusal::Form(NotStencil::Access)) => {}
            result => return result,
        }
    }
    Err(Refusal::Form(NotStencil::Access))
}

/// How many time iterations have instances of all statements: each statement's begin at 0, and are without
/// gaps, since its domain is a box. Some may have more, as the first of two bodies that take turns has where
/// the number of turns is odd. `None` if one begins elsewhere.
fn common_time(domains: &[Domain], runs: &isl::Set) -> Result<Option<isl::PwAff>> {
    let mut last: Option<isl::PwAff> = None;
    for d in domains {
        let (first, own) = &d.bounds[0];
        if !runs.is_subset(&params(first.clone().zero_set()?)?)? {
            return Ok(None);
        }
        last = Some(match last {
            None => own.clone(),
            Some(l) if runs.is_subset(&params(l.clone().le_set(own.clone())?)?)? => l,
            Some(l) if runs.is_subset(&params(own.clone().le_set(l.clone())?)?)? => own.clone(),
            Some(l) => l.min(own.clone())?.coalesce()?,
        });
    }
    let Some(last) = last else { return Ok(None) };
    let one = isl::Val::int(runs.context(), 1)?;
    Ok(Some(last.add_constant(one)?.intersect_params(runs.clone())?))
}

/// The instances of a statement at times `period * q + phase`, if there are any.
fn at_phase(s: &Statement, (period, phase): (i64, i64), runs: &isl::Set) -> Result<Option<isl::Set>> {
    let domain = s.domain.clone().intersect_params(runs.clone())?;
    let ctx = runs.context();
    let shifted = coordinate(&domain, 0)?.add_constant(isl::Val::int(ctx, -phase)?)?;
    let domain = domain.intersect(shifted.modulo(isl::Val::int(ctx, period)?)?.zero_set()?)?;
    Ok(if domain.is_empty()? { None } else { Some(domain) })
}

/// The subscripts of an access at times `period * q + phase`; `None` where one is neither constant nor an
/// iterator plus a constant.
fn subscripts(
    scop: &Scop,
    s: &Statement,
    a: &Access,
    (dims, period, phase): (usize, i64, i64),
    runs: &isl::Set,
) -> Result<Option<Vec<Subscript>>> {
    let Some(domain) = at_phase(s, (period, phase), runs)? else { return Ok(None) };
    let function = isl::PwMultiAff::from_map(a.relation.clone().intersect_domain(domain.clone())?)?;
    let mut out = Vec::new();
    for d in 0..scop.array(a.array).dims() {
        let value = function.at(d as i32)?;
        let mut found = None;
        if let Some(c) = constant(&value)? {
            found = Some(Subscript::Fixed(number(c, runs)?, Some(c)));
        }
        // A leading subscript selects a buffer or is none of a stencil.
        let space = d + dims >= scop.array(a.array).dims();
        for i in 1..domain.dim(isl::DimType::Set)? {
            if found.is_some() || !space {
                break;
            }
            let rest = value.clone().sub(coordinate(&domain, i)?)?;
            found = constant(&rest)?.map(|c| Subscript::Iterator(i as usize, c));
        }
        if found.is_none() && space {
            found = fixed(&value, &domain)?.map(|f| Subscript::Fixed(f, None));
        }
        match found {
            Some(f) => out.push(f),
            None => return Ok(None),
        }
    }
    Ok(Some(out))
}

/// A function on a domain as one of the parameters, if it is that.
fn fixed(f: &isl::PwAff, domain: &isl::Set) -> Result<Option<isl::PwAff>> {
    let f = f.clone().gist(domain.clone())?;
    if !f.isa_aff()? {
        return Ok(None);
    }
    let f = f.as_aff()?;
    if f.involves_dims(isl::DimType::In, 0, domain.dim(isl::DimType::Set)?)? {
        return Ok(None);
    }
    Ok(Some(isl::PwAff::from_aff(f)?.project_domain_on_params()?))
}

/// The function of the parameters that is `c`.
fn number(c: i64, runs: &isl::Set) -> Result<isl::PwAff> {
    let zero = isl::PwAff::from_aff(isl::Aff::zero_on_domain_space(runs.space()?)?)?;
    Ok(zero.add_constant(isl::Val::int(runs.context(), c)?)?)
}

/// Leading constants, then the space dimensions: selectors and places.
fn split(subscripts: &[Subscript], dims: usize) -> Option<(Vec<i64>, Vec<Place>)> {
    let lead = subscripts.len().checked_sub(dims)?;
    let mut selectors = Vec::new();
    let mut space = Vec::new();
    for (i, s) in subscripts.iter().enumerate() {
        match s {
            Subscript::Fixed(_, Some(c)) if i < lead => selectors.push(*c),
            Subscript::Iterator(j, c) if i >= lead => space.push(Place::Iterator(*j, *c)),
            Subscript::Fixed(f, _) if i >= lead => space.push(Place::Fixed(f.clone())),
            _ => return None,
        }
    }
    Some((selectors, space))
}

/// Whether different instances of a statement with so many iterators, time included, have different places at
/// one time.
fn injective(space: &[Place], iterators: usize) -> bool {
    let used = space.iter().filter_map(|p| if let Place::Iterator(j, _) = p { Some(*j) } else { None });
    let (count, distinct) = (used.clone().count(), used.collect::<BTreeSet<_>>().len());
    count == distinct && distinct + 1 == iterators
}

/// A write of a statement at a time of the period.
struct Write {
    time: i64,
    stmt: usize,
    access: usize,
    buffer: usize,
    space: Vec<Place>,
    lower: Vec<isl::PwAff>,
    upper: Vec<isl::PwAff>,
}

/// All writes of a period in order, or why there are none.
fn writes_of(
    scop: &Scop,
    dims: usize,
    period: i64,
    domains: &[Domain],
    runs: &isl::Set,
    buffers: &mut Vec<Buffer>,
) -> Recognised<Vec<Write>> {
    let mut writes: Vec<Write> = Vec::new();
    for time in 0..period {
        for (stmt, s) in scop.statements.iter().enumerate() {
            let before = writes.len();
            for (access, w) in s.accesses.iter().enumerate().filter(|(_, a)| a.kind != AccessKind::Read) {
                let found = subscripts(scop, s, w, (dims, period, time), runs)?.and_then(|x| split(&x, dims));
                let Some((selectors, space)) = found.filter(|f| injective(&f.1, domains[stmt].bounds.len()))
                else {
                    return Err(Refusal::Form(NotStencil::Access));
                };
                let bound = |upper: bool| -> Result<Vec<isl::PwAff>> {
                    let of = |p: &Place| -> Result<isl::PwAff> {
                        let b = match p {
                            Place::Fixed(f) => f.clone(),
                            Place::Iterator(j, c) => {
                                let b = &domains[stmt].bounds[*j];
                                let b = if upper { &b.1 } else { &b.0 };
                                b.clone().add_constant(isl::Val::int(&scop.ctx, *c)?)?
                            }
                        };
                        Ok(b.intersect_params(runs.clone())?)
                    };
                    space.iter().map(of).collect()
                };
                let (lower, upper) = (bound(false)?, bound(true)?);
                let same = |b: &Buffer| b.array == w.array && b.selectors == selectors;
                let buffer = match buffers.iter().position(same) {
                    Some(at) => {
                        let b = &mut buffers[at];
                        for d in 0..dims {
                            b.lower[d] = b.lower[d].clone().min(lower[d].clone())?.coalesce()?;
                            b.upper[d] = b.upper[d].clone().max(upper[d].clone())?.coalesce()?;
                        }
                        at
                    }
                    None => {
                        buffers.push(Buffer {
                            array: w.array,
                            selectors,
                            lower: lower.clone(),
                            upper: upper.clone(),
                            outer_lower: Vec::new(),
                            outer_upper: Vec::new(),
                            has_border: false,
                            live: false,
                        });
                        buffers.len() - 1
                    }
                };
                if writes[before..].iter().any(|o| o.buffer == buffer) {
                    return Err(Refusal::Form(NotStencil::Boxes));
                }
                writes.push(Write { time, stmt, access, buffer, space, lower, upper });
            }
        }
    }
    for b in buffers {
        (b.outer_lower, b.outer_upper) = (b.lower.clone(), b.upper.clone());
    }
    Ok(writes)
}

/// How a read of a written array goes to the element that the statement writes at `space`, in a box; `None`
/// where it has no constant distance, not even by cases.
fn read_of(
    scop: &Scop,
    (s, number): (&Statement, usize),
    (dims, period, time): (usize, i64, i64),
    (runs, whole): (&isl::Set, &Domain),
    w: &Write,
) -> Result<Option<Read>> {
    let a = &s.accesses[number];
    let found = subscripts(scop, s, a, (dims, period, time), runs)?.and_then(|x| split(&x, dims));
    if let Some((selectors, space)) = found {
        // The same iterator along the same dimension.
        let mut offset: Vec<i64> = Vec::new();
        for (r, w) in space.iter().zip(&w.space) {
            let distance = match (r, w) {
                (Place::Iterator(i, r), Place::Iterator(j, w)) if i == j => {
                    Some(r - w - i64::from(planted::planted("reading") && r > w))
                }
                (Place::Fixed(r), Place::Fixed(w)) => {
                    constant(&r.clone().sub(w.clone())?.intersect_params(runs.clone())?)?
                }
                _ => None,
            };
            offset.extend(distance);
        }
        if offset.len() == dims {
            let (lower, upper) = (w.lower.clone(), w.upper.clone());
            return Ok(Some(Read { selectors, offset, lower, upper, cases: Vec::new(), runs: runs.clone() }));
        }
    }
    match at_phase(s, (period, time), runs)? {
        Some(domain) => cases::read(scop, (a, number), (&domain, whole), &w.space, runs),
        None => Ok(None),
    }
}

/// The step that a write is, whose statement reads `reads` of buffers; whether it reads other points than its
/// own. Counts what it reads of each buffer.
fn step(
    scop: &Scop,
    w: Write,
    reads: Vec<Option<Read>>,
    domains: &[Domain],
    (runs, buffers): (&isl::Set, &mut [Buffer]),
) -> Result<(Step, bool)> {
    let Write { time, stmt, access, buffer, space, lower, upper } = w;
    let s = &scop.statements[stmt];
    let (mut accesses, mut cases, mut held) = (Vec::new(), Vec::new(), 0);
    let points = s.domain.dim(isl::DimType::Set)? - 1;
    let mut neighbours = false;
    for (a, read) in s.accesses.iter().zip(reads) {
        let Some(read) = read else {
            let reads = a.kind == AccessKind::Read;
            held += usize::from(reads && !a.relation.involves_dims(isl::DimType::In, 1, points)?);
            accesses.push(if reads { StepAccess::Plain } else { StepAccess::Write });
            continue;
        };
        let same = |b: &Buffer| b.array == a.array && b.selectors == read.selectors;
        let Some(from) = buffers.iter().position(same) else {
            accesses.push(StepAccess::Plain);
            continue;
        };
        let usual = (&read.offset, &read.lower, &read.upper);
        let all = [usual].into_iter().chain(read.cases.iter().map(|c| (&c.offset, &c.lower, &c.upper)));
        for (offset, lower, upper) in all {
            neighbours |= offset.iter().any(|o| *o != 0);
            buffers[from].widen(offset, lower, upper, runs)?;
        }
        cases.extend(read.cases);
        accesses.push(StepAccess::Buffer { buffer: from, offset: read.offset });
    }
    let mut iterators = vec![(0, 0); domains[stmt].bounds.len() - 1];
    let lattices = domains[stmt].lattices.clone();
    let (mut partial, mut thin) = (!lattices.is_empty(), Vec::new());
    for (d, place) in space.iter().enumerate() {
        match place {
            Place::Iterator(j, c) => iterators[*j - 1] = (d, -c),
            Place::Fixed(_) => thin.push(d),
        }
        let hull = &buffers[buffer];
        partial |= !equal(&hull.lower[d], &lower[d], runs)? || !equal(&hull.upper[d], &upper[d], runs)?;
    }
    if !partial {
        thin.clear();
    }
    let step = Step {
        stmt: StmtId(stmt),
        time,
        buffer,
        write: access,
        lower,
        upper,
        partial,
        thin,
        lattices,
        iterators,
        accesses,
        held,
        cases,
    };
    Ok((step, neighbours))
}

fn with_period(
    scop: &Scop,
    dims: usize,
    period: i64,
    domains: &[Domain],
    (runs, time): (&isl::Set, &isl::PwAff),
) -> Recognised<Stencil> {
    let mut buffers: Vec<Buffer> = Vec::new();
    // The writes first: they say which buffers there are.
    let writes = writes_of(scop, dims, period, domains, runs, &mut buffers)?;
    let written: BTreeSet<_> = buffers.iter().map(|b| b.array).collect();
    // Then the reads: where there are cases, they say how large a grid must be.
    let mut runs = runs.clone();
    let mut reads = Vec::new();
    for w in &writes {
        let s = &scop.statements[w.stmt];
        let mut found = Vec::new();
        for (number, a) in s.accesses.iter().enumerate() {
            if a.kind != AccessKind::Read || !written.contains(&a.array) {
                found.push(None);
                continue;
            }
            let Some(read) =
                read_of(scop, (s, number), (dims, period, w.time), (&runs, &domains[w.stmt]), w)?
            else {
                return Err(Refusal::Form(NotStencil::Access));
            };
            runs = runs.intersect(read.runs.clone())?;
            found.push(Some(read));
        }
        reads.push(found);
    }
    if runs.is_empty()? {
        return Err(Refusal::Form(NotStencil::Access));
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut neighbours = false;
    for (w, reads) in writes.into_iter().zip(reads) {
        let (step, reaches) = step(scop, w, reads, domains, (&runs, &mut buffers))?;
        neighbours |= reaches;
        steps.push(step);
    }
    let Some(runs) = reach::within_touched(&steps, &buffers, &runs)? else {
        return Err(Refusal::Form(NotStencil::Border));
    };
    mark_live(&steps, &mut buffers);
    // A first period in a launch has nothing to keep of a buffer that is not live.
    if !neighbours || !buffers.iter().any(|b| b.live) {
        return Err(Refusal::Form(NotStencil::NoReuse));
    }
    let time = time.clone().intersect_params(runs.clone())?;
    Ok(Stencil { dims, period, steps, buffers, time, runs })
}

impl Buffer {
    /// Counts what a step reads of the buffer: a box of written elements, shifted.
    fn widen(
        &mut self,
        offset: &[i64],
        lower: &[isl::PwAff],
        upper: &[isl::PwAff],
        runs: &isl::Set,
    ) -> Result<()> {
        for (d, o) in offset.iter().enumerate() {
            let shift = isl::Val::int(runs.context(), *o)?;
            let lower = lower[d].clone().add_constant(shift.clone())?;
            let upper = upper[d].clone().add_constant(shift)?;
            let inside = params(lower.clone().ge_set(self.lower[d].clone())?)?
                .intersect(params(upper.clone().le_set(self.upper[d].clone())?)?)?;
            self.has_border |= !runs.is_subset(&inside)?;
            self.outer_lower[d] = self.outer_lower[d].clone().min(lower)?.coalesce()?;
            self.outer_upper[d] = self.outer_upper[d].clone().max(upper)?.coalesce()?;
        }
        Ok(())
    }
}

/// A buffer is live if a step reads or keeps it before one of the period has written all of it.
fn mark_live(steps: &[Step], buffers: &mut [Buffer]) {
    let mut fresh = BTreeSet::new();
    for at in instances(steps) {
        for s in &steps[at.clone()] {
            for a in &s.accesses {
                if let StepAccess::Buffer { buffer, .. } = a
                    && !fresh.contains(buffer)
                {
                    buffers[*buffer].live = true;
                }
            }
            if s.partial && !fresh.contains(&s.buffer) {
                buffers[s.buffer].live = true;
            }
        }
        fresh.extend(steps[at].iter().map(|s| s.buffer));
    }
}
