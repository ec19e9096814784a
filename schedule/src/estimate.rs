//! What the host needs to know before it launches: how much work a SCoP is and which memory it touches.
//!
//! # Example
//! `for i < n { for j <= i: A[i][j] = B[j] }` has the work `n · n` (a box around the triangle), touches of B
//! `[0] .. [n-1]` and of A `[0, 0] .. [n-1, n-1]`, and A has to be copied in: the part above the diagonal
//! comes back unchanged.

use crate::strategy::{EITHER, GRAPH, KERNEL, NEST, ROWS, SERIAL};
use crate::tree::{ScheduleTree, Tree};
use crate::{Dependences, Result, ScheduleError, budgeted, is_quota, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop, Statement};

/// The number of executed statement instances, at most: a sum of products. Each factor is a total function of
/// the parameters, never negative: `[params] -> { [v] }`.
#[derive(Clone, Debug)]
pub struct WorkEstimate {
    /// A term for each statement, a factor for each of its loops.
    pub terms: Vec<Vec<isl::PwAff>>,
    /// Of these, what one thread of a launch runs alone, one instance after the other: sums that keep their
    /// order. The first factor is what an instance costs, in additions one after the other. Statements
    /// outside of loops are left out.
    pub serial: Vec<Vec<isl::PwAff>>,
}

/// What a loop that depends on data counts for: its number of iterations is not known before it runs. A
/// guess; the run-time library learns what an execution takes.
const UNKNOWN_ITERATIONS: i64 = 16;

/// As many instructions that do not wait for each other take as long as an addition that does.
const INSTRUCTIONS: f64 = 4.0;

/// The work of a SCoP with this schedule: for each statement the box around its domain. `instructions` are
/// those of one instance, by statement.
pub fn work(scop: &Scop, schedule: &ScheduleTree, instructions: &[f64]) -> Result<WorkEstimate> {
    budgeted(&scop.ctx, "work estimate", crate::DEFAULT_BUDGET, || {
        let known = known(scop)?;
        let alone = run_alone(&schedule.root, schedule.domain.clone())?;
        let (mut terms, mut serial) = (Vec::new(), Vec::new());
        for (s, instructions) in scop.statements.iter().zip(instructions) {
            let domain = s.domain.clone().intersect_params(known.clone())?;
            terms.extend(instances(scop, s, domain.clone(), &known)?);
            let Some(alone) = &alone else { continue };
            let alone = alone.clone().intersect(isl::UnionSet::from_set(domain)?)?;
            for part in alone.sets()? {
                let Some(factors) = instances(scop, s, part, &known)?.filter(|f| !f.is_empty()) else {
                    continue;
                };
                let cost =
                    isl::PwAff::constant_on(scop.param_space()?, 1 + (instructions / INSTRUCTIONS) as i64)?;
                serial.push(std::iter::once(cost).chain(factors).collect());
            }
        }
        Ok(WorkEstimate { terms, serial })
    })
}

/// The instances that reach [`SERIAL`] subtrees of the host: those of blocks and of tasks have neighbours.
fn run_alone(tree: &Tree, reached: isl::UnionSet) -> Result<Option<isl::UnionSet>> {
    Ok(match tree {
        Tree::Leaf => None,
        Tree::Mark(name, _) if name == SERIAL => Some(reached),
        Tree::Mark(name, _) if [KERNEL, NEST, EITHER, GRAPH, ROWS].contains(&name.as_str()) => None,
        Tree::Mark(_, child) => run_alone(child, reached)?,
        Tree::Band(band) => run_alone(&band.child, reached)?,
        Tree::Sequence(children) => {
            let mut all: Option<isl::UnionSet> = None;
            for (filter, child) in children {
                let found = run_alone(child, reached.clone().intersect(filter.clone())?)?;
                all = match (all, found) {
                    (Some(all), Some(found)) => Some(all.union(found)?),
                    (all, found) => all.or(found),
                };
            }
            all
        }
    })
}

/// The sides of the box around these instances of a statement; `None` where there are none.
fn instances(
    scop: &Scop,
    statement: &Statement,
    domain: isl::Set,
    known: &isl::Set,
) -> Result<Option<Vec<isl::PwAff>>> {
    let runs = domain.clone().params()?;
    if runs.is_empty()? {
        return Ok(None);
    }
    let zero = isl::PwAff::constant_on(scop.param_space()?, 0)?;
    let mut factors = Vec::new();
    for d in 0..domain.dim(isl::DimType::Set)? {
        let values = domain.shadow(d)?;
        let extent = values.clone().dim_max(0)?.coalesce()?.sub(values.dim_min(0)?.coalesce()?)?;
        let extent = extent.add_constant(isl::Val::int(&scop.ctx, 1)?)?.coalesce()?;
        // Nothing where the statement does not run: the gist may continue the formula there, the
        // maximum with zero makes it total again.
        let extent = extent.gist(runs.clone())?.union_max(zero.clone())?;
        factors.push(extent.gist_params(known.clone())?.coalesce()?);
    }
    if statement.subregion.as_ref().is_some_and(|r| !r.loops.is_empty()) {
        factors.push(isl::PwAff::constant_on(scop.param_space()?, UNKNOWN_ITERATIONS)?);
    }
    Ok(Some(factors))
}

/// At most this many statement instances are executed, if a constant below `limit` bounds their number.
pub fn constant_work(scop: &Scop, limit: u64) -> Result<Option<u64>> {
    budgeted(&scop.ctx, "work estimate", crate::DEFAULT_BUDGET, || {
        let known = known(scop)?;
        let mut all = 0u64;
        for s in &scop.statements {
            if s.subregion.as_ref().is_some_and(|r| !r.loops.is_empty()) {
                return Ok(None);
            }
            let domain = s.domain.clone().intersect_params(known.clone())?;
            if domain.is_empty()? {
                continue;
            }
            let mut instances = 1u64;
            for d in 0..domain.dim(isl::DimType::Set)? as i32 {
                let extent = domain.clone().dim_max(d)?.sub(domain.clone().dim_min(d)?)?.max_value()?;
                if !extent.is_int()? || extent.cmp_si(i64::from(u32::MAX))? >= 0 {
                    return Ok(None);
                }
                instances = instances.saturating_mul(extent.num_si()?.unsigned_abs() + 1);
            }
            all = all.saturating_add(instances);
            if all >= limit {
                return Ok(None);
            }
        }
        Ok(Some(all))
    })
}

/// The elements of an array that a SCoP touches, as ranges in memory order.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// First and last touched element, functions of the parameters where `nonempty` holds:
    /// `[params] -> { A[a] }`.
    pub touched_min: isl::PwMultiAff,
    pub touched_max: isl::PwMultiAff,
    /// First and last element that may be written; `None` for an array that is only read.
    pub written: Option<(isl::PwMultiAff, isl::PwMultiAff)>,
    /// Where anything is touched, and where anything is written: `[params] -> { : ... }`.
    pub nonempty: isl::Set,
    pub written_nonempty: isl::Set,
    /// The array must be copied in: some element is read before it is surely written, or some element in the
    /// written range is not surely written (it would come back without its value).
    pub must_read_before_write: bool,
    /// Some element is read before it is surely written.
    pub reads_initial: bool,
    /// Nothing outside of this box is touched, whose first and last element are; of a written array it is
    /// also what comes back. It may be far narrower than the array.
    pub window: Option<Corner>,
    /// What comes back to the host and nothing else: other threads of the program may own the elements in
    /// between.
    pub returned: Returned,
    /// The corners are those of a box around the elements, not elements themselves: the exact ones were too
    /// costly, or rows overlap. They are inside the rows (`0 <= a_d < size_d` for the inner dimensions)
    /// wherever the accesses are, unless nothing of the range is certain, or rows overlap.
    pub boxed: bool,
    /// The same of the written elements alone. Where only these are boxed, their corners may lie outside of
    /// the touched range.
    pub written_boxed: bool,
    /// Every touched element is, or lies between, elements that the program accesses in any case: then it is
    /// there. Otherwise data decides, or the corners of a box are not touched, and parts of the range may not
    /// be readable.
    pub certain: bool,
    /// Otherwise for which parameters that is so all the same:
    /// `[n, col_min, col_max] -> { : 0 <= col_min and col_max < n }` of a vector that is written as a whole
    /// and gathered from. `None`: nobody knows.
    pub certain_where: Option<isl::Set>,
}

/// A box of elements, by its corners: functions on the parameter space, outermost dimension first.
#[derive(Clone, Debug)]
pub struct Corner {
    pub min: Vec<isl::PwAff>,
    pub max: Vec<isl::PwAff>,
}

/// The shape of the elements that are surely written, among those between the first and the last written one.
#[derive(Clone, Debug)]
pub enum Returned {
    /// Every element between the first and the last.
    Dense,
    /// Exactly the elements of a box.
    Box(Corner),
    /// Only some, in a shape that is not described.
    Sparse,
}

/// The footprint of a memory array.
pub fn footprint(scop: &Scop, deps: &Dependences, array: ArrayId) -> Result<Footprint> {
    let mut found = Err(ScheduleError::Budget("footprint"));
    let overlaps = scop.array(array).apart.is_some();
    for (corners, part) in ATTEMPTS {
        if overlaps && corners == Corners::Lexicographic {
            continue;
        }
        if matches!(&found, Err(e) if is_quota(e)) {
            let budget = crate::DEFAULT_BUDGET / part;
            found = budgeted(&scop.ctx, "footprint", budget, || compute(scop, deps, array, corners));
        }
    }
    let mut footprint = found?;
    let certain = budgeted(&scop.ctx, "footprint", crate::DEFAULT_BUDGET / 4, || {
        certain::of(scop, array, &footprint, &known(scop)?)
    });
    footprint.certain_where = match certain {
        Err(e) if is_quota(&e) => None,
        found => found?,
    };
    let window =
        budgeted(&scop.ctx, "footprint", crate::DEFAULT_BUDGET, || window::of(scop, array, &footprint));
    // Without one, all in between is copied. (What isl finds for the ends of a dimension may have pieces that
    // overlap: "map is not single-valued".)
    footprint.window = match window {
        Err(e) if is_quota(&e) => None,
        Err(ScheduleError::Isl(isl::Error::Failed(_))) => None,
        found => found?,
    };
    Ok(footprint)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Corners {
    Lexicographic,
    Box,
    /// Of a box around what the elements' dimensions may be where the counters of loops are rational. Nobody
    /// knows whether its elements are there.
    Shadow,
}

/// How corners are looked for, one way after the other, and what part of the budget each may take.
const ATTEMPTS: [(Corners, u64); 3] = [(Corners::Lexicographic, 2), (Corners::Box, 4), (Corners::Shadow, 1)];

/// More pieces than this in a corner are a burden for the host code; the box has fewer.
const MAX_PIECES: u32 = 8;
/// And of a box with more pieces than this the code alone would take the host's budget.
const MOST_PIECES: u32 = 64;

fn compute(scop: &Scop, deps: &Dependences, id: ArrayId, corners: Corners) -> Result<Footprint> {
    let known = known(scop)?;
    let of = |keep: &dyn Fn(AccessKind) -> bool| -> Result<Option<isl::Set>> {
        elements(scop.accesses(|_, a| a.array == id && keep(a.kind))?.intersect_params(known.clone())?)
    };
    let name = &scop.array(id).name;
    let of = |keep: &dyn Fn(AccessKind) -> bool| -> Result<Option<isl::Set>> {
        match (corners, of(keep)?) {
            (Corners::Shadow, Some(set)) => Ok(Some(box_of_shadows(&set)?)),
            (_, set) => Ok(set),
        }
    };
    let touched = match of(&|_| true)? {
        Some(t) => t,
        None => {
            let space = scop
                .param_space()?
                .add_named_tuple(isl::Id::new(&scop.ctx, name)?, scop.array(id).dims() as u32)?;
            isl::Set::empty(space)?
        }
    };
    let written = of(&|k| k != AccessKind::Read)?;
    let shadow = corners == Corners::Shadow;
    // (What a minimum has not replaced is stored as it was: it does not come back.)
    let stored = || scop.accesses(|_, a| a.array == id && a.kind == AccessKind::MustWrite && a.certain);
    let surely = if shadow { None } else { elements(stored()?.intersect_params(known.clone())?)? };

    let nonempty = touched.clone().params()?.gist(known.clone())?.coalesce()?;
    let (touched_min, touched_max, boxed) = ends(&touched, corners, &known)?;
    let (mut range, mut written_nonempty) = (None, isl::Set::empty(scop.param_space()?)?);
    let mut written_boxed = false;
    if let Some(w) = &written {
        written_nonempty = w.clone().params()?.gist(known.clone())?.coalesce()?;
        let (min, max, box_around) = ends(w, corners, &known)?;
        range = Some((min, max));
        written_boxed = box_around;
    }
    let mut reads_initial = false;
    for m in deps.no_source.maps()? {
        reads_initial |= m.tuple_name(isl::DimType::Out)?.as_deref() == Some(name);
    }
    let mut copy_in = reads_initial;
    let mut returned = Returned::Dense;
    if let Some(w) = &written
        && !covers(scop, id, w, surely.as_ref(), &known)?
    {
        copy_in = true;
        returned = written_box(w, surely.as_ref(), &known)?;
    }
    Ok(Footprint {
        written: range,
        nonempty,
        written_nonempty,
        written_boxed,
        must_read_before_write: copy_in,
        reads_initial,
        window: None,
        returned,
        boxed,
        certain: !shadow
            && is_certain(scop, id, &touched, &known)?
            && (!boxed || holds_corners(&scop.ctx, &touched, (&touched_min, &touched_max), &known)?),
        certain_where: None,
        touched_min,
        touched_max,
    })
}

/// Whether the corners of a box around `touched` are elements of it. Otherwise the box may reach beyond the
/// array, as where subscripts wrap around from row to row and end somewhere in the last one. Where isl
/// doesn't find out in time, nobody knows.
fn holds_corners(
    ctx: &isl::Context,
    touched: &isl::Set,
    corners: (&isl::PwMultiAff, &isl::PwMultiAff),
    known: &isl::Set,
) -> Result<bool> {
    let there = touched.clone().params()?.intersect(known.clone())?;
    let found = budgeted(ctx, "footprint", crate::DEFAULT_BUDGET / 8, || {
        let all = isl::Set::from_pw_multi_aff(corners.0.clone())?
            .union(isl::Set::from_pw_multi_aff(corners.1.clone())?)?;
        Ok(all.intersect_params(there)?.is_subset(touched)?)
    });
    match found {
        Err(e) if is_quota(&e) => Ok(false),
        found => found,
    }
}

/// The box around the shadows of a set's dimensions.
fn box_of_shadows(set: &isl::Set) -> Result<isl::Set> {
    let dims = set.dim(isl::DimType::Set)?;
    let mut all = isl::Set::universe(set.space()?)?;
    for d in 0..dims {
        let shadow = set.shadow(d)?;
        // (The hull of parts whose ends have nothing in common has none.)
        let hull = isl::Set::from_basic_set(shadow.clone().simple_hull()?)?;
        let ends = hull.dim_has_lower_bound(isl::DimType::Set, 0)?
            && hull.dim_has_upper_bound(isl::DimType::Set, 0)?;
        let own = if ends { hull } else { shadow };
        let own = own.insert_dims(isl::DimType::Set, 0, d)?.add_dims(isl::DimType::Set, dims - d - 1)?;
        let space = all.space()?;
        all = all.intersect(own.reset_space(space)?)?;
    }
    Ok(all)
}

/// What accesses of one array touch, without counters of loops where they can go; `None` for nothing.
fn elements(accesses: isl::UnionMap) -> Result<Option<isl::Set>> {
    let Some(exact) = accesses.clone().range()?.coalesce()?.sets()?.into_iter().next() else {
        return Ok(None);
    };
    let mut whole = isl::Set::empty(exact.space()?)?;
    for m in accesses.maps()? {
        let n = m.dim(isl::DimType::In)?;
        let Some(part) = m.wrap()?.flatten()?.range_of_last(n)? else { return Ok(Some(exact)) };
        whole = whole.union(part.reset_space(exact.space()?)?)?;
    }
    Ok(Some(whole.coalesce()?))
}

/// Whether every element of `touched` lies between two that are accessed in any case.
fn is_certain(scop: &Scop, id: ArrayId, touched: &isl::Set, known: &isl::Set) -> Result<bool> {
    if scop.arrays.iter().any(|a| matches!(a.kind, pollyrs_scop::ArrayKind::Fault { leaves: true })) {
        return Ok(false);
    }
    let mut accesses = scop.statements.iter().flat_map(|s| &s.accesses).filter(|a| a.array == id);
    // (A store in place of a conditional one stands beside a load of the same element.)
    if accesses.all(|a| a.within.is_none() && a.kind == AccessKind::MayWrite || a.certain) {
        return Ok(true);
    }
    // Between two elements of rows that overlap others may lie than between their places.
    if scop.array(id).apart.is_some() {
        return Ok(false);
    }
    let surely =
        scop.accesses(|_, a| a.array == id && a.certain)?.range()?.intersect_params(known.clone())?;
    let Some(surely) = surely.sets()?.into_iter().next() else { return Ok(touched.is_empty()?) };
    let behind = touched.clone().lex_ge_set(surely.clone())?.domain()?;
    let before = touched.clone().lex_le_set(surely)?.domain()?;
    Ok(touched.is_subset(&behind)? && touched.is_subset(&before)?)
}

/// First and last element of a set, and whether they are the box's.
fn ends(
    set: &isl::Set,
    corners: Corners,
    known: &isl::Set,
) -> Result<(isl::PwMultiAff, isl::PwMultiAff, bool)> {
    let tidy = |p: isl::PwMultiAff| -> Result<isl::PwMultiAff> { Ok(p.coalesce()?.gist(known.clone())?) };
    if corners == Corners::Lexicographic {
        let min = tidy(set.clone().lexmin_pw_multi_aff()?)?;
        let max = tidy(set.clone().lexmax_pw_multi_aff()?)?;
        if min.n_piece()? <= MAX_PIECES && max.n_piece()? <= MAX_PIECES {
            return Ok((min, max, false));
        }
    }
    let min = isl::PwMultiAff::from_multi_pw_aff(set.clone().min_multi_pw_aff()?)?;
    let max = isl::PwMultiAff::from_multi_pw_aff(set.clone().max_multi_pw_aff()?)?;
    let (min, max) = (tidy(min)?, tidy(max)?);
    if corners != Corners::Shadow && min.n_piece()?.max(max.n_piece()?) > MOST_PIECES {
        return Err(ScheduleError::Budget("footprint"));
    }
    Ok((min, max, true))
}

/// The box around a set, unless its corners have too many pieces.
fn around(set: &isl::Set) -> Result<Option<Corner>> {
    let mut corner = Corner { min: Vec::new(), max: Vec::new() };
    for d in 0..set.dim(isl::DimType::Set)? as i32 {
        let (first, last) = (set.clone().dim_min(d)?.coalesce()?, set.clone().dim_max(d)?.coalesce()?);
        if first.n_piece()? > MAX_PIECES || last.n_piece()? > MAX_PIECES {
            return Ok(None);
        }
        corner.min.push(first);
        corner.max.push(last);
    }
    Ok(Some(corner))
}

/// All elements of a box, in the space of `set`.
fn filled(set: &isl::Set, corner: &Corner) -> Result<isl::Set> {
    let mut hull = isl::Set::universe(set.space()?)?;
    for (d, (first, last)) in corner.min.iter().zip(&corner.max).enumerate() {
        let at = on_dimension(set, d as u32)?;
        hull = hull.intersect(at.clone().ge_set(lift(set, first.clone())?)?)?;
        hull = hull.intersect(at.le_set(lift(set, last.clone())?)?)?;
    }
    Ok(hull)
}

/// The box around the written elements, if every element in it is surely written.
fn written_box(written: &isl::Set, surely: Option<&isl::Set>, known: &isl::Set) -> Result<Returned> {
    let dims = written.dim(isl::DimType::Set)?;
    let Some(surely) = surely.filter(|_| dims >= 2) else { return Ok(Returned::Sparse) };
    let Some(Corner { min, mut max }) = around(written)? else { return Ok(Returned::Sparse) };
    let hull = filled(written, &Corner { min: min.clone(), max: max.clone() })?;
    let exact = hull.intersect_params(known.clone())?.is_subset(surely)?;
    let simplify = |ends: &mut Vec<isl::PwAff>| -> Result<()> {
        for end in ends {
            *end = end.clone().gist_params(known.clone())?;
        }
        Ok(())
    };
    let mut min = min;
    simplify(&mut min)?;
    simplify(&mut max)?;
    if crate::planted::planted("copy-out")
        && let Some(m) = max.first_mut()
    {
        *m = m.clone().add_constant(isl::Val::int(m.context(), -1)?)?;
    }
    Ok(if exact { Returned::Box(Corner { min, max }) } else { Returned::Sparse })
}

/// The function that gives dimension `d` of the elements of `set`.
fn on_dimension(set: &isl::Set, d: u32) -> Result<isl::PwAff> {
    let ls = isl::LocalSpace::from_space(set.space()?)?;
    Ok(isl::PwAff::from_aff(isl::Aff::var_on_domain(ls, isl::DimType::Set, d)?)?)
}

/// A function of the parameters as a function on the space of `set`.
fn lift(set: &isl::Set, p: isl::PwAff) -> Result<isl::PwAff> {
    let everywhere = isl::Set::universe(set.space()?)?;
    let map = isl::Map::from_pw_aff(p.from_range()?)?;
    let wide = isl::Map::from_domain_and_range(everywhere, map.range()?)?;
    Ok(isl::PwMultiAff::from_map(wide)?.at(0)?)
}

/// Whether every element between the first and the last written one is surely written. The range is widened
/// to whole rows, which can only make the answer more careful.
fn covers(
    scop: &Scop,
    id: ArrayId,
    written: &isl::Set,
    surely: Option<&isl::Set>,
    known: &isl::Set,
) -> Result<bool> {
    let Some(surely) = surely else { return Ok(false) };
    let array = scop.array(id);
    if array.dims() == 0 {
        return Ok(written.is_subset(surely)?);
    }
    // The rows: the outermost subscript as written, the others anywhere in `0 .. size`.
    let inner = array.dims() as u32 - 1;
    let mut rows = written.clone();
    if inner > 0 {
        rows = rows.eliminate(isl::DimType::Set, 1, inner)?;
    }
    let outer: isl::Set = rows.clone().project_out(isl::DimType::Set, 1, inner)?;
    let (first, last) = (outer.clone().dim_min(0)?, outer.dim_max(0)?);
    let mut range = isl::Set::universe(written.space()?)?;
    let at = on_dimension(written, 0)?;
    range = range.intersect(at.clone().ge_set(lift(written, first)?)?)?;
    range = range.intersect(at.le_set(lift(written, last)?)?)?;
    for d in 1..array.dims() {
        let Some(size) = array.sizes.get(d).cloned().flatten() else { return Ok(false) };
        let zero = isl::PwAff::constant_on(written.space()?, 0)?;
        let at = on_dimension(written, d as u32)?;
        range = range.intersect(at.clone().ge_set(zero)?)?.intersect(at.lt_set(lift(written, size)?)?)?;
    }
    Ok(range.intersect_params(known.clone())?.is_subset(surely)?)
}

mod certain;
pub mod inspected;
pub mod parts;
pub mod slices;
mod window;

#[cfg(test)]
mod tests;
