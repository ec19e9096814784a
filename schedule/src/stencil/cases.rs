//! Reads whose distance from the written element is another one at the border of the grid: neighbours that
//! are clamped (`x == 0 ? 0 : x - 1`) or mirrored (`x == 0 ? 1 : x - 1`).
//!
//! Where the distance takes few values, the instances of each are a set of their own. All but one must be
//! boxes one element wide in some dimension, so that tiles amid the grid do not meet them.

use super::Case;
use super::functions::{Domain, Place, box_of, constant, coordinate, equal, lift, params};
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{Access, Scop};

/// More values of a distance along a dimension, and more cases, are no border.
const MAX_SPREAD: i64 = 8;
/// Of smaller grids one element may be at two borders, and have a neighbour that no other element has. Their
/// steps are not fused.
const LEAST_EXTENT: i64 = 4;
const MAX_CASES: usize = 27;

/// A distance by dimension, and the instances that have it.
type Part = (Vec<i64>, isl::Set);

/// A read of a buffer.
pub(super) struct Read {
    pub selectors: Vec<i64>,
    /// Where no case applies: for written elements from `lower` to `upper`.
    pub offset: Vec<i64>,
    pub lower: Vec<isl::PwAff>,
    pub upper: Vec<isl::PwAff>,
    pub cases: Vec<Case>,
    /// `[params] -> { : ... }`: where every case has elements, and what is said holds.
    pub runs: isl::Set,
}

/// A read of a statement's instances `domain`, in a box `whole`, which write the elements at `space`; `None`
/// if its distances are not such cases.
pub(super) fn read(
    scop: &Scop,
    (a, number): (&Access, usize),
    (domain, whole): (&isl::Set, &Domain),
    space: &[Place],
    runs: &isl::Set,
) -> Result<Option<Read>> {
    let mut runs = runs.clone();
    for (low, high) in &whole.bounds[1..] {
        let least = low.clone().add_constant(isl::Val::int(&scop.ctx, LEAST_EXTENT - 1)?)?;
        runs = runs.intersect(params(least.le_set(high.clone())?)?)?;
    }
    let domain = &domain.clone().intersect_params(runs.clone())?;
    if domain.is_empty()? {
        return Ok(None);
    }
    let function = isl::PwMultiAff::from_map(a.relation.clone().intersect_domain(domain.clone())?)?;
    let Some(lead) = scop.array(a.array).dims().checked_sub(space.len()) else { return Ok(None) };
    let mut selectors = Vec::new();
    for d in 0..lead {
        match constant(&function.at(d as i32)?)? {
            Some(c) => selectors.push(c),
            None => return Ok(None),
        }
    }
    let Some(parts) = by_distance(&function, lead, domain, space)? else { return Ok(None) };
    let (mut usual, mut cases) = (None, Vec::new());
    let mut covered = isl::Set::empty(domain.space()?)?;
    for (offset, set) in parts {
        covered = covered.union(set.clone())?;
        // The same elements at all times.
        let id = set.tuple_id()?;
        let part = set.clone().project_out(isl::DimType::Set, 0, 1)?;
        let always = part.clone().insert_dims(isl::DimType::Set, 0, 1)?.set_tuple_id(id)?;
        if !always.intersect(domain.clone())?.is_equal(&set)? {
            return Ok(None);
        }
        let Some(found) = box_of(&part)? else { return Ok(None) };
        let (mut lower, mut upper, mut thin) = (Vec::new(), Vec::new(), Vec::new());
        for (d, place) in space.iter().enumerate() {
            let (low, high) = match place {
                Place::Fixed(f) => (f.clone(), f.clone()),
                Place::Iterator(j, c) => {
                    let (low, high) = found.bounds[*j - 1].clone();
                    if equal(&low, &high, &found.runs)? {
                        thin.push(d);
                    }
                    let shift = isl::Val::int(&scop.ctx, *c)?;
                    (low.add_constant(shift.clone())?, high.add_constant(shift)?)
                }
            };
            lower.push(low);
            upper.push(high);
        }
        runs = runs.intersect(found.runs)?;
        if !thin.is_empty() {
            cases.push(Case { access: number, lower, upper, thin, offset });
        } else if usual.replace((offset, lower, upper)).is_some() {
            return Ok(None);
        }
    }
    let Some((offset, lower, upper)) = usual else { return Ok(None) };
    if !domain.is_subset(&covered)? {
        return Ok(None);
    }
    Ok(Some(Read { selectors, offset, lower, upper, cases, runs }))
}

/// The distances between read and written elements, each with its instances.
fn by_distance(
    function: &isl::PwMultiAff,
    lead: usize,
    domain: &isl::Set,
    space: &[Place],
) -> Result<Option<Vec<Part>>> {
    let ctx = domain.context();
    let mut parts = vec![(Vec::new(), domain.clone())];
    for (d, place) in space.iter().enumerate() {
        let written = match place {
            Place::Fixed(f) => lift(f, domain)?,
            Place::Iterator(j, c) => coordinate(domain, *j as u32)?.add_constant(isl::Val::int(ctx, *c)?)?,
        };
        let distance = function.at((lead + d) as i32)?.sub(written)?;
        let ends = (distance.clone().min_value()?.to_i64(), distance.clone().max_value()?.to_i64());
        let (Some(low), Some(high)) = ends else { return Ok(None) };
        if high - low > MAX_SPREAD {
            return Ok(None);
        }
        let mut next = Vec::new();
        for o in low..=high {
            let here = distance.clone().add_constant(isl::Val::int(ctx, -o)?)?.zero_set()?;
            for (offset, set) in &parts {
                let both = set.clone().intersect(here.clone())?.coalesce()?;
                if !both.is_empty()? {
                    let offset: Vec<i64> = offset.iter().copied().chain([o]).collect();
                    next.push((offset, both));
                }
            }
        }
        if next.len() > MAX_CASES {
            return Ok(None);
        }
        parts = next;
    }
    Ok(Some(parts))
}
