//! Kernels that count: updates of few elements that data chooses, as those of a histogram, are made in shared
//! memory first.
//!
//! One atomic operation on the device's memory for each element that is counted takes as long as the most
//! frequent element has hits. A block has counters of its own instead, adds them up behind its last instance,
//! and has many points, so that this is rare. Where the range of the elements is known at run time only, the
//! kernel compares it with the room that it has.
//!
//! # Example
//! `h[p[i]]++` over bytes: 128 points a thread, 256 counters, which 256 threads set to zero before and add to
//! `h` behind.

use super::launch::{launch_domain, values};
use super::options::MapOptions;
use super::site::{Count, Site};
use crate::Result;
use crate::mapped::Counters;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, ElemType, Scop, UpdateOp};
use std::collections::BTreeMap;

/// Points of a thread along the last members, by their number, of launches with many points: as long as all
/// blocks together are some for each multiprocessor, more of them make what is done once a block matter less.
const MANY: [&[u32]; 3] = [&[128], &[16, 8], &[1, 16, 8]];
/// The same of others.
const SOME: [&[u32]; 3] = [&[16], &[4, 4], &[1, 4, 4]];
/// Points along the last two members of a launch with many.
const LEAST: [&[i64]; 2] = [&[1 << 22], &[1 << 11, 1 << 11]];
/// Bytes of all counters.
const BYTES: u32 = 16 * 1024;
/// The same where blocks have fewer points.
const FEW_BYTES: u32 = 4 * 1024;

/// The sites for many points and for others, of one that counts.
pub(super) fn split(
    scop: &Scop,
    known: &isl::Set,
    options: &MapOptions,
    site: &Site,
) -> Result<Option<Vec<Site>>> {
    let n = site.members.len();
    let default = MapOptions::default();
    let usual = options.threads == default.threads && options.points == default.points;
    if !usual || n == 0 || site.inner.depth() > 0 || site.nest {
        return Ok(None);
    }
    let domain = launch_domain(site)?;
    let arrays = counted(scop, &domain)?;
    let known_in = |bytes: u32| -> Result<bool> {
        for id in &arrays {
            match elements(scop, &domain, *id)? {
                Some(e) if e <= i64::from(bytes / scop.array(*id).elem.bytes().max(1)) => {}
                Some(_) => return Ok(false),
                None => {}
            }
        }
        Ok(!arrays.is_empty())
    };
    if !known_in(BYTES)? {
        return Ok(None);
    }
    let with = |points: &[&[u32]; 3], bytes: u32, domain: isl::UnionSet| {
        let of = points[n.min(3) - 1];
        let mut all = vec![1; n - of.len()];
        all.extend(of);
        Site { domain, count: Some(Count { points: all, bytes }), ..site.clone() }
    };
    let few_bytes = if known_in(FEW_BYTES)? { FEW_BYTES } else { 0 };
    if !site.host.is_empty() {
        return Ok(Some(vec![with(&SOME, few_bytes, site.domain.clone())]));
    }
    let mut large = isl::Set::universe(known.space()?)?;
    let least = LEAST[n.min(2) - 1];
    for (m, least) in site.members.iter().rev().zip(least.iter().rev()) {
        let v = values(&domain, m)?;
        let (min, max) = (v.clone().dim_min(0)?.coalesce()?, v.dim_max(0)?.coalesce()?);
        let least = isl::Val::int(&scop.ctx, least - 1)?;
        large = large.intersect(min.add_constant(least)?.le_set(max)?)?;
    }
    let many = site.domain.clone().intersect_params(large.clone())?.coalesce()?;
    let few = site.domain.clone().subtract(many.clone())?.coalesce()?;
    let mut out = Vec::new();
    if !many.is_empty()? {
        out.push(with(&MANY, BYTES, many));
    }
    if !few.is_empty()? {
        out.push(with(&SOME, few_bytes, few));
    }
    Ok(Some(out))
}

/// The counters of a kernel with these instances, `[params, _h*] -> { S[i] }`.
pub(super) fn counters(
    scop: &Scop,
    domain: &isl::UnionSet,
    around: &isl::Set,
    count: &Count,
) -> Result<Vec<Counters>> {
    let arrays = counted(scop, domain)?;
    let mut out = Vec::new();
    for id in &arrays {
        let array = scop.array(*id);
        let room = count.bytes / arrays.len() as u32 / array.elem.bytes().max(1);
        let Some(range) = range(scop, domain, *id)? else { continue };
        let mut bounds = Vec::new();
        for d in 0..array.dims() as i32 {
            let bound =
                |p: isl::PwAff| -> Result<isl::PwAff> { Ok(p.coalesce()?.gist(around.clone())?.coalesce()?) };
            bounds.push((bound(range.clone().dim_min(d)?)?, bound(range.clone().dim_max(d)?)?));
        }
        let most = match elements(scop, domain, *id)? {
            Some(e) if e > i64::from(room) => continue,
            Some(e) => e.max(1) as u32,
            None => room,
        };
        if most > 0 {
            out.push(Counters { array: *id, bounds, most });
        }
    }
    Ok(out)
}

/// The arrays of which instances make updates of integers alone.
fn counted(scop: &Scop, domain: &isl::UnionSet) -> Result<Vec<ArrayId>> {
    let mut found: BTreeMap<ArrayId, Option<UpdateOp>> = BTreeMap::new();
    for set in domain.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else { continue };
        for a in &s.accesses {
            let op = s.update_of(a).map(|u| u.op).filter(|op| *op != UpdateOp::FAdd);
            let op = op.filter(|_| is_counter(scop, a.array));
            found.entry(a.array).and_modify(|o| *o = o.filter(|o| Some(*o) == op)).or_insert(op);
        }
    }
    Ok(found.into_iter().filter_map(|(id, op)| op.map(|_| id)).collect())
}

/// Whether shared memory has atomic operations of an array's elements, and it has subscripts.
fn is_counter(scop: &Scop, id: ArrayId) -> bool {
    let array = scop.array(id);
    array.is_memory() && array.dims() > 0 && matches!(array.elem, ElemType::Int(32 | 64))
}

/// `[params, _h*] -> { [s] }`: the elements that may be counted, if they are bounded.
fn range(scop: &Scop, domain: &isl::UnionSet, id: ArrayId) -> Result<Option<isl::Set>> {
    let touched = scop.accesses(|_, a| a.array == id)?.intersect_domain(domain.clone())?.range()?;
    if touched.is_empty()? {
        return Ok(None);
    }
    let touched = isl::Set::from_union_set(touched)?.coalesce()?;
    for d in 0..touched.dim(isl::DimType::Set)? {
        if !touched.dim_is_bounded(isl::DimType::Set, d)? {
            return Ok(None);
        }
    }
    Ok(Some(touched))
}

/// The number of elements of the box around all that may be counted, where it is a constant.
fn elements(scop: &Scop, domain: &isl::UnionSet, id: ArrayId) -> Result<Option<i64>> {
    let Some(range) = range(scop, domain, id)? else { return Ok(Some(i64::MAX)) };
    let mut all: i64 = 1;
    for d in 0..range.dim(isl::DimType::Set)? as i32 {
        let mut of = [0; 2];
        for (v, bound) in of.iter_mut().zip([range.clone().dim_min(d)?, range.clone().dim_max(d)?]) {
            let bound = bound.coalesce()?;
            match bound.n_piece()? == 1 && bound.is_cst()? {
                true => *v = bound.max_value()?.to_i64().unwrap_or(i64::MAX / 2),
                false => return Ok(None),
            }
        }
        all = all.saturating_mul(of[1].saturating_sub(of[0]).saturating_add(1));
    }
    Ok(Some(all))
}
