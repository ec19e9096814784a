//! The instances of a launch, the values that its members have there, and where it is in the host's schedule.

use super::site::Site;
use crate::names::Param;
use crate::tree::{ScheduleTree, Tree, member_map};
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;

/// `[params, _h*] -> { S[i] }`: the instances of one launch.
pub(super) fn launch_domain(site: &Site) -> Result<isl::UnionSet> {
    let mut domain = site.domain.clone();
    for (m, p) in site.host.iter().zip(site.host_params()) {
        domain = bind(domain, m, &format!("[{p}] -> {{ [v] : v = {p} }}"))?;
    }
    if let Some((a, cut)) = site.alternative.as_ref().and_then(|a| Some((a, a.cut.as_ref()?))) {
        domain = bind(domain, &site.members[cut.dim], &a.side(cut))?.intersect_params(a.places(cut)?)?;
    }
    Ok(domain.coalesce()?)
}

/// The instances whose value of `member` is in the set that `values` describes.
pub(super) fn bind(domain: isl::UnionSet, member: &isl::UnionPwAff, values: &str) -> Result<isl::UnionSet> {
    let values = isl::UnionSet::read(domain.context(), values)?;
    Ok(domain.intersect(member_map(member)?.intersect_range(values)?.domain()?)?)
}

/// The instances of a launch, what is known where there are any, and the least and largest value of each
/// member: `[params, _h*] -> { [v] }`.
pub(super) struct Launched {
    pub domain: isl::UnionSet,
    pub around: isl::Set,
    pub bounds: Vec<(isl::PwAff, isl::PwAff)>,
}

/// What bounds values by a number of at least this size is their type, not what programs have.
const LARGE: i64 = 1 << 16;

/// The values of a member over a domain: `{ [v] }`, as the rational shadow (Fourier-Motzkin). The exact
/// projection of a skewed domain has divisions and many pieces; its shadow has the same bounds up to rounding
/// and covers it. Quotients of parameters stay where the shadow is as wide as a type: that of
/// `0 <= v < 4 s mod 2^32` is all of 32 bits.
pub(super) fn values(domain: &isl::UnionSet, member: &isl::UnionPwAff) -> Result<isl::Set> {
    let mut shadow = isl::UnionSet::empty(domain.context())?;
    for map in member_map(member)?.intersect_domain(domain.clone())?.maps()? {
        // The range quantifies the iterators existentially, `remove_divs` eliminates what is quantified.
        let exact = map.range()?;
        let wide = exact.clone().remove_divs()?;
        shadow = shadow.add_set(if is_as_wide_as_a_type(&wide)? {
            exact.remove_divs_involving_dims(isl::DimType::Set, 0, 1)?.remove_unknown_divs()?
        } else {
            wide
        })?;
    }
    Ok(isl::Set::from_union_set(shadow)?.coalesce()?)
}

/// Whether a bound of the values of `{ [v] }` is a large number somewhere.
fn is_as_wide_as_a_type(values: &isl::Set) -> Result<bool> {
    if values.is_empty()? {
        return Ok(false);
    }
    for bound in [values.clone().dim_max(0)?, values.clone().dim_min(0)?.neg()?] {
        for (_, aff) in bound.pieces()? {
            if aff.is_cst()? && aff.constant()?.to_i64().is_some_and(|v| v >= LARGE) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The smallest tile coordinate along a dimension whose members have these values, and the number of tiles.
pub(super) fn tiles(values: &isl::Set, tile: u32, around: &isl::Set) -> Result<(isl::PwAff, isl::PwAff)> {
    let size = isl::Val::int(values.context(), tile.into())?;
    let at = |bound: isl::PwAff| -> Result<isl::PwAff> {
        let bound = bound.coalesce()?.gist(around.clone())?.coalesce()?;
        Ok(bound.scale_down(size.clone())?.floor()?.coalesce()?)
    };
    let (first, last) = (at(values.clone().dim_min(0)?)?, at(values.clone().dim_max(0)?)?);
    let one = isl::Val::int(values.context(), 1)?;
    Ok((first.clone(), last.sub(first)?.add_constant(one)?.coalesce()?))
}

/// `{ K[_h] : the launch has an instance }`.
pub(super) fn host_domain(site: &Site, known: &isl::Set) -> Result<isl::UnionSet> {
    // Bind the tuple to the parameters, then forget these.
    let text = format!("[{}] -> {{ {} }}", site.host_params().join(","), tuple_bound(site));
    let tuple = isl::UnionSet::read(known.context(), &text)?;
    let mut domain = tuple.intersect_params(launch_domain(site)?.params()?)?;
    if let Some(a) = &site.alternative {
        domain = domain.intersect_params(a.condition(known.context())?)?;
    }
    if let Some(either) = &site.either {
        domain = domain.intersect_params(either.condition(known.context())?)?;
    }
    for p in site.host_params() {
        let Some(pos) = domain.space()?.find_dim_by_name(isl::DimType::Param, &p)? else { continue };
        domain = domain.project_out(isl::DimType::Param, pos, 1)?;
    }
    Ok(domain.coalesce()?.gist_params(known.clone())?)
}

/// `K0[x0] : x0 = _h0`
fn tuple_bound(site: &Site) -> String {
    let n = site.host_params().len();
    let dims: Vec<_> = (0..n).map(|i| format!("x{i}")).collect();
    let equal: Vec<_> = (0..n).map(|i| format!("x{i} = {}", Param::Host(i))).collect();
    let condition = if equal.is_empty() { "true".into() } else { equal.join(" and ") };
    format!("{}[{}] : {condition}", site.name, dims.join(","))
}

/// The maps' flat product.
pub(super) fn product(maps: Vec<isl::UnionMap>) -> Result<isl::UnionMap> {
    let mut maps = maps.into_iter();
    let first = maps.next().ok_or(ScheduleError::Unsupported("a kernel without dimensions"))?;
    maps.try_fold(first, |all, m| Ok(all.flat_range_product(m)?))
}

/// The thread's domain, without what its context implies, under the thread's loops.
pub(super) fn thread_schedule(
    domain: isl::UnionSet,
    context: &isl::Set,
    inner: Tree,
) -> Result<isl::Schedule> {
    let domain = domain.coalesce()?.detect_equalities()?.gist_params(context.clone())?;
    ScheduleTree { domain, root: inner }.to_isl()
}
