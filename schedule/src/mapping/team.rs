//! Teams: threads that run an instance together whose inner loop data counts ([`pollyrs_scop::Spread`]).
//!
//! A thread that runs a row of a sparse matrix by itself loads elements that lie next to each other one after
//! the other, while its neighbours load those of other rows. Where rows are long enough, some threads share
//! one: they load neighbouring elements. How long rows are is known at run time, from what was inspected, so
//! that there is a kernel for each number of threads, of which one is launched.
//!
//! # Example
//! ```text
//! for (i < n) for (k = ptr[i]; k < ptr[i + 1]; k++) ...      ptr_max - ptr_min elements in n rows
//! K0    ptr_max - ptr_min <  6 n                             a thread for a row
//! K1    6 n <= ptr_max - ptr_min < 96 n                      8 threads
//! K2    96 n <= ptr_max - ptr_min                            32 threads
//! ```

use super::launch::{launch_domain, values};
use super::options::MapOptions;
use super::site::Site;
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop, Statement};

/// Threads of a team by the least number of iterations of an inner loop, in the mean.
const TEAMS: [(u32, i64); 2] = [(8, 6), (32, 24)];
/// The same where values are handed on in the program's order: each thread does that for all of the team, so
/// that larger teams do it more often.
const ORDERED: [(u32, i64); 2] = [(8, 6), (32, 96)];
/// Threads of a block.
const THREADS: u32 = 256;

/// The sites for all lengths of inner loops.
pub(super) fn split(
    scop: &Scop,
    known: &isl::Set,
    options: &MapOptions,
    site: &Site,
) -> Result<Option<Vec<Site>>> {
    let default = MapOptions::default();
    let usual = options.threads == default.threads && options.points == default.points;
    let alone = !site.nest && !site.rows && !site.graph && site.tile.is_none() && site.count.is_none();
    if !usual || !alone || site.members.len() != 1 || site.inner.depth() > 0 {
        return Ok(None);
    }
    let domain = launch_domain(site)?;
    let Some(length) = length(scop, site, &domain)? else { return Ok(None) };
    let mut out = Vec::new();
    let mut rest = site.domain.clone();
    for (team, least) in if length.ordered { ORDERED } else { TEAMS }.into_iter().rev() {
        let long = length.at_least(&scop.ctx, least)?.intersect(known.clone())?;
        let part = rest.clone().intersect_params(long.clone())?.coalesce()?;
        rest = rest.subtract(part.clone())?.coalesce()?;
        if !part.is_empty()? {
            out.push(Site { domain: part, team, threads: Some(vec![THREADS / team]), ..site.clone() });
        }
    }
    if !rest.is_empty()? {
        out.push(Site { domain: rest, ..site.clone() });
    }
    out.reverse();
    Ok(Some(out))
}

/// How many iterations the inner loops of a launch have.
struct Length {
    /// `[params] -> { [v] }`: what is touched in all, of which an instance's part is not known; or what one
    /// touches at most.
    extent: isl::PwAff,
    /// `[params] -> { [v] }`: the instances, where the extent is that of all.
    instances: Option<isl::PwAff>,
    /// Iterations hand on what may not be regrouped.
    ordered: bool,
}

impl Length {
    /// `[params] -> { : ... }`: in the mean at least so many; of what is the most for one, half is taken for
    /// the mean.
    fn at_least(&self, ctx: &isl::Context, least: i64) -> Result<isl::Set> {
        let times =
            |f: &isl::PwAff, n: i64| -> Result<isl::PwAff> { Ok(f.clone().scale(isl::Val::int(ctx, n)?)?) };
        Ok(match &self.instances {
            Some(instances) => self.extent.clone().ge_set(times(instances, least)?)?,
            None => {
                let zero = times(&self.extent, 0)?;
                self.extent.clone().ge_set(zero.add_constant(isl::Val::int(ctx, 2 * least)?)?)?
            }
        })
    }
}

/// Of the loops that may be spread, where a team may run the statements.
fn length(scop: &Scop, site: &Site, domain: &isl::UnionSet) -> Result<Option<Length>> {
    let (mut found, mut ordered) = (None, false);
    for set in domain.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
            return Ok(None);
        };
        if !s.updates.is_empty() {
            return Ok(None);
        }
        let Some(r) = &s.subregion else { continue };
        let written = |array| {
            scop.statements
                .iter()
                .flat_map(|s| &s.accesses)
                .any(|a| a.kind != AccessKind::Read && a.array == array)
        };
        if s.accesses.iter().any(|a| a.within.is_some() && written(a.array)) {
            return Ok(None);
        }
        for (at, l) in r.loops.iter().enumerate() {
            let Some(spread) = &l.spread else { continue };
            ordered |= spread.loop_carried.iter().any(|c| c.regrouped.is_none());
            if found.is_none() {
                found = elements(s, at, set.clone())?;
            }
        }
    }
    let Some(touched) = found else { return Ok(None) };
    let last = touched.dim(isl::DimType::Out)? as i32 - 1;
    // The largest distance of two elements of an instance.
    let apart = touched.clone().reverse()?.apply_range(touched.clone())?.deltas()?;
    let one = isl::Val::int(&scop.ctx, 1)?;
    let extent = apart.dim_max(last)?.coalesce()?.add_constant(one.clone())?;
    let all = touched.range()?;
    let whole = all.clone().dim_max(last)?.sub(all.dim_min(last)?)?.coalesce()?.add_constant(one.clone())?;
    let known = extent.clone().domain()?;
    let same = last == 0 && whole.intersect_domain(known)?.coalesce()?.is_equal(&extent)?;
    let instances = match same {
        false => None,
        true => {
            let v = values(domain, &site.members[0])?;
            Some(v.clone().dim_max(0)?.sub(v.dim_min(0)?)?.coalesce()?.add_constant(one)?)
        }
    };
    Ok(Some(Length { extent, instances, ordered }))
}

/// `{ S[i] -> array[s] }`: what an access touches whose last subscript follows the counter of a loop.
fn elements(s: &Statement, at: usize, instances: isl::Set) -> Result<Option<isl::Map>> {
    let dims = instances.dim(isl::DimType::Set)?;
    for a in &s.accesses {
        let Some(w) = &a.within else { continue };
        let Some(position) = w.counters.iter().position(|c| *c == at) else { continue };
        let follows = w.relation.involves_dims(isl::DimType::In, dims + position as u32, 1)?;
        if follows && w.counters.len() == 1 && a.relation.dim(isl::DimType::Out)? > 0 {
            return Ok(Some(a.relation.clone().intersect_domain(instances)?));
        }
    }
    Ok(None)
}
