//! Domains and subscripts of statements, as functions of the parameters.

use super::lattice::{self, Lattice};
use crate::Result;
use pollyrs_isl as isl;

/// The function that returns dimension `d` of the points of `set`.
pub(super) fn coordinate(set: &isl::Set, d: u32) -> Result<isl::PwAff> {
    let ls = isl::LocalSpace::from_space(set.space()?)?;
    Ok(isl::PwAff::from_aff(isl::Aff::var_on_domain(ls, isl::DimType::Set, d)?)?)
}

/// A function of the parameters as a function on the points of `set`'s space.
pub(super) fn lift(f: &isl::PwAff, set: &isl::Set) -> Result<isl::PwAff> {
    let everywhere = isl::Set::universe(set.space()?)?;
    let map = isl::Map::from_pw_aff(f.clone().from_range()?)?;
    let wide = isl::Map::from_domain_and_range(everywhere, map.range()?)?;
    Ok(isl::PwMultiAff::from_map(wide)?.at(0)?)
}

/// A statement's domain as a box.
pub(super) struct Domain {
    /// By iterator: first and last value.
    pub bounds: Bounds,
    pub runs: isl::Set,
    /// Which of the box's points there are.
    pub lattices: Vec<Lattice>,
}

/// First and last value, by dimension.
pub(super) type Bounds = Vec<(isl::PwAff, isl::PwAff)>;

/// Where a subscript of a space dimension points.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Iterator(usize, i64),
    Fixed(isl::PwAff),
}

/// The domain as a product of intervals, or its points on lattices, if it is that.
pub(super) fn domain_box(domain: &isl::Set, known: &isl::Set) -> Result<Option<Domain>> {
    let domain = domain.clone().intersect_params(known.clone())?;
    if domain.is_empty()? {
        return Ok(None);
    }
    match box_of(&domain)? {
        Some(found) => Ok(Some(found)),
        None => lattice::of(&domain),
    }
}

/// A set as a product of intervals, if it is one.
pub(super) fn box_of(domain: &isl::Set) -> Result<Option<Domain>> {
    let Some((bounds, runs)) = bounds(domain)? else { return Ok(None) };
    let is_box = product(domain, &bounds)?.intersect_params(runs.clone())?.is_equal(domain)?;
    Ok(is_box.then_some(Domain { bounds, runs, lattices: Vec::new() }))
}

/// First and last value of each dimension of a set, and where there are any; `None` if a dimension has none.
pub(super) fn bounds(domain: &isl::Set) -> Result<Option<(Bounds, isl::Set)>> {
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
    Ok(Some((bounds, domain.clone().params()?)))
}

/// The points of the space of `domain` within bounds.
pub(super) fn product(domain: &isl::Set, bounds: &Bounds) -> Result<isl::Set> {
    let mut product = isl::Set::universe(domain.space()?)?;
    for (d, (lower, upper)) in bounds.iter().enumerate() {
        let x = coordinate(domain, d as u32)?;
        product = product.intersect(x.clone().ge_set(lift(lower, domain)?)?)?;
        product = product.intersect(x.le_set(lift(upper, domain)?)?)?;
    }
    Ok(product)
}

/// Whether two functions of the parameters agree where `runs` holds.
pub(super) fn equal(a: &isl::PwAff, b: &isl::PwAff, runs: &isl::Set) -> Result<bool> {
    let same = a.clone().eq_set(b.clone())?;
    let same = if same.is_params()? { same } else { same.params()? };
    Ok(runs.is_subset(&same)?)
}

pub(super) fn params(set: isl::Set) -> Result<isl::Set> {
    Ok(if set.is_params()? { set } else { set.params()? })
}

/// The value of a function that has one only.
pub(super) fn constant(f: &isl::PwAff) -> Result<Option<i64>> {
    let (min, max) = (f.clone().min_value()?.to_i64(), f.clone().max_value()?.to_i64());
    Ok(if min == max { min } else { None })
}
