//! Proves what slices of a launch are said to touch ([`crate::estimate::slices`]) from what the threads of
//! its blocks execute.
//!
//! Both sides of each claim are looked at element by element: no element that blocks below the border touch
//! is behind the last one that is claimed, and none that blocks from there on, or later launches, touch is
//! before the first one. Corners and tile maps are not used.

use super::{Rule, Violation, forget, steps};
use crate::estimate::slices::Slices;
use crate::names::Param::Border;
use crate::{MappedKernel, MappedScop, Result, budgeted, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Array, ArrayId, Scop};

/// All wrong claims; empty if the slices are proved.
pub fn check(scop: &Scop, mapped: &MappedScop, kernel: usize, slices: &Slices) -> Result<Vec<Violation>> {
    budgeted(&scop.ctx, "checking slices", crate::DEFAULT_BUDGET, || proved(scop, mapped, kernel, slices))
}

fn proved(scop: &Scop, mapped: &MappedScop, kernel: usize, slices: &Slices) -> Result<Vec<Violation>> {
    let k = &mapped.kernels[kernel];
    let context = known(scop)?.intersect(borders(k)?)?;
    let (below, from) = (executed(mapped, kernel, "<")?, executed(mapped, kernel, ">=")?);
    let later = launched_later(mapped, k)?;
    let mut found = Vec::new();
    for (id, array) in slices.arrays.iter().enumerate() {
        let Some(array) = array else { continue };
        let accesses = scop.accesses(|_, a| a.array == ArrayId(id))?;
        let touched = |by: &isl::UnionSet| -> Result<Vec<isl::Set>> {
            let elements = accesses.clone().intersect_domain(by.clone())?.range()?;
            Ok(elements.intersect_params(context.clone())?.sets()?)
        };
        let mut report = |bad: isl::Set| -> Result<()> {
            if !bad.is_empty()? {
                let counterexample = bad.sample_point()?.to_string();
                found.push(Violation { rule: Rule::Slice, at: k.name.clone(), counterexample });
            }
            Ok(())
        };
        for set in touched(&below)? {
            let last = isl::Set::from_pw_multi_aff(array.last.clone())?;
            report(outside(&set, &array.used)?)?;
            report(beyond(scop.array(ArrayId(id)), &set, last, Side::Behind)?)?;
        }
        let Some(rest) = &array.rest else { continue };
        for set in touched(&from)?.into_iter().chain(touched(&later)?) {
            let first = isl::Set::from_pw_multi_aff(rest.first.clone())?;
            report(outside(&set, &rest.left)?)?;
            report(beyond(scop.array(ArrayId(id)), &set, first, Side::Before)?)?;
        }
    }
    Ok(found)
}

/// On which side of an end elements are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    Behind,
}

/// The elements of `set` that are, or in rows that overlap may be, behind the last place or before the first
/// one: there all subscripts have to be on one side.
pub(super) fn beyond(array: &Array, set: &isl::Set, end: isl::Set, side: Side) -> Result<isl::Set> {
    let inside = match (&array.apart, side) {
        (None, Side::Behind) => set.clone().lex_le_set(end)?.domain()?,
        (None, Side::Before) => set.clone().lex_ge_set(end)?.domain()?,
        (Some(_), _) => {
            let names = |of: &str| -> Vec<String> { (0..array.dims()).map(|d| format!("{of}{d}")).collect() };
            let (x, y) = (names("x"), names("y"));
            let relation = if side == Side::Behind { "<=" } else { ">=" };
            let each: Vec<String> = x.iter().zip(&y).map(|(x, y)| format!("{x} {relation} {y}")).collect();
            let (name, each) = (&array.name, each.join(" and "));
            let text = format!("{{ {name}[{}] -> {name}[{}] : {each} }}", x.join(","), y.join(","));
            let map = isl::Map::read(set.context(), &text)?;
            map.intersect_domain(set.clone())?.intersect_range(end)?.domain()?
        }
    };
    Ok(set.clone().subtract(inside)?)
}

pub(super) fn outside(set: &isl::Set, params: &isl::Set) -> Result<isl::Set> {
    Ok(set.clone().subtract(set.clone().intersect_params(params.clone())?)?)
}

/// `[params, _s] -> { : ... }`: each border has a block below it, and none but the last ends the grid.
fn borders(k: &MappedKernel) -> Result<isl::Set> {
    let along = &k.grid[0];
    let text = format!("[{Border}, {0}] -> {{ : {0} = {Border} - 1 }}", along.param);
    let below = isl::Set::read(k.domain.context(), &text)?;
    let at = isl::PwAff::read(k.domain.context(), &format!("[{0}] -> {{ [({0})] }}", along.param))?;
    let number = at.clone().sub(along.lower.clone())?;
    let first = at.ge_set(along.lower.clone())?;
    let blocks = first.intersect(number.lt_set(along.count.clone())?)?.intersect(below)?;
    match blocks.space()?.find_dim_by_name(isl::DimType::Param, &along.param)? {
        Some(at) => Ok(blocks.project_out(isl::DimType::Param, at, 1)?),
        None => Ok(blocks),
    }
}

/// `[params] -> { S[i] }`: what launches execute that the host's schedule has behind one of `k`.
fn launched_later(mapped: &MappedScop, k: &MappedKernel) -> Result<isl::UnionSet> {
    let host = mapped.host.map()?;
    let of = |kernel: &MappedKernel| -> Result<isl::UnionMap> {
        let dims: Vec<String> = (0..kernel.host_params.len()).map(|d| format!("x{d}")).collect();
        let launches = format!("{{ {}[{}] }}", kernel.name, dims.join(","));
        let launches = isl::UnionSet::read(k.domain.context(), &launches)?;
        Ok(host.clone().intersect_domain(launches)?)
    };
    let own = of(k)?;
    let mut all = isl::UnionSet::empty(k.domain.context())?;
    for other in &mapped.kernels {
        if !own.clone().lex_lt(of(other)?)?.is_empty()? {
            // A relation to itself, since parameters are forgotten in relations.
            let executed = forget(other.domain.clone().identity()?, &other.host_params)?;
            all = all.union(executed.domain()?)?;
        }
    }
    Ok(all)
}

/// `[params, _s] -> { S[i] }`: what blocks whose first coordinate stands in this relation to the border
/// execute.
pub(super) fn executed(mapped: &MappedScop, kernel: usize, relation: &str) -> Result<isl::UnionSet> {
    let k = &mapped.kernels[kernel];
    let ctx = k.domain.context();
    let side = format!("[{Border}, {0}] -> {{ : {0} {relation} {Border} }}", k.grid[0].param);
    let side = isl::Set::read(ctx, &side)?;
    let blocks = k.grid.iter().map(|g| g.param.clone());
    let (all, inner): (isl::UnionSet, Vec<String>) = match k.tiling() {
        Some(t) => {
            let all = t.schedule.domain()?.intersect_params(t.context.clone())?;
            (all.intersect(k.domain.clone())?, t.dims.iter().map(|d| d.param.clone()).collect())
        }
        None => {
            let all = steps::statements(&k.schedule.domain()?)?.intersect_params(k.context.clone())?;
            (all, k.block.iter().map(|b| b.param.clone()).collect())
        }
    };
    let some = all.intersect_params(side)?;
    // A relation to itself, since parameters are forgotten in relations.
    let forgotten = forget(some.identity()?, &blocks.chain(inner).collect::<Vec<_>>())?;
    Ok(forgotten.domain()?)
}
