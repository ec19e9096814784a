//! Rules for kernels whose blocks are tasks that wait for each other ([`StepsOf::Task`](crate::StepsOf)).
//!
//! With `W = { [b, c] -> b' : task b waits for b' at step c }` from the threads' schedules and
//! `R = { [b, c] -> b' : step c of task b depends on task b' }`:
//! 1. *Claimed before.* A task waits for tiles of the grid that come before its own in lexicographic order,
//!    in which tiles are claimed: those were claimed by blocks that run, so there is no deadlock, however
//!    many blocks run at once.
//! 2. *Waited for.* With instances of the same first coordinate of a step in one step behind its waits: for
//!    each `[b, c] -> b'` in `R`, `W` has `[b, d] -> x` with a step `d < c` such that `x = b'`, or `x` itself
//!    depends on `b'`.
//!
//! By induction over the tiles in their order, `x` has then waited for `b'` before it ended. That a wait at
//! step `d` is ahead of the instances of later steps, in all threads, is the rule of steps: waits have steps
//! like instances.

use super::{Checker, Rule, forget, names, params_of};
use crate::Result;
use crate::mapped::MappedKernel;
use crate::names::Tuple::{self, Wait};
use pollyrs_isl as isl;

impl Checker<'_> {
    /// Both rules for dependences between instances of kernel `i`; those within a task are none of its.
    pub(super) fn graph(&mut self, i: usize, deps: isl::UnionMap) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let (Some(steps), ctx) = (k.steps(), &self.scop.ctx) else {
            return self.report_set(Rule::Wait, &k.name, k.domain.clone());
        };
        let at = format!("{} to itself", k.name);
        let n = k.grid.len();
        let waits = self.waits(k)?;
        let in_launch = k.tile_map.clone().flat_range_product(first(steps)?)?;
        let c = match in_launch.maps()?.first() {
            Some(m) => m.dim(isl::DimType::Out)? as usize - n,
            None => 0,
        };
        let (b, w) = (names("b", n), names("w", n));
        let (c, d) = (names("c", c), names("d", c));
        let of = |parts: &[&[String]]| parts.concat().join(", ");
        let read = |text: String| isl::UnionMap::read(ctx, &text);

        // Of one launch: both ends have its parameters.
        let domain = k.domain.clone().intersect_params(self.known.clone())?;
        let deps = deps.intersect_domain(domain.clone())?.intersect_range(domain)?;
        let need = deps.apply_domain(k.tile_map.clone())?.apply_range(in_launch)?.reverse()?;
        let differ: Vec<_> = b.iter().zip(&w).map(|(b, w)| format!("{b} < {w} or {b} > {w}")).collect();
        let apart = format!("{{ [{}] -> [{}] : {} }}", of(&[&b, &c]), of(&[&w]), differ.join(" or "));
        let need = need.intersect(read(apart)?)?.coalesce()?;

        let task = read(format!("{{ [{}] -> [{}] }}", of(&[&b, &c]), of(&[&b])))?;
        let known = need.clone().apply_domain(task)?;
        let later = read(format!("{{ [{}] -> [{}] : {} }}", of(&[&b, &c]), of(&[&b, &d]), earlier(&c, &d)))?;
        let done = waits.clone().apply_domain(later)?;
        let missing = need.subtract(done.clone())?;
        let missing =
            if missing.is_empty()? { missing } else { missing.subtract(done.apply_range(known)?)? };
        self.report_map(Rule::Wait, &at, missing)?;

        let before = read(format!("{{ [{}] -> [{}] : {} }}", of(&[&b, &c]), of(&[&w]), earlier(&w, &b)))?;
        self.report_map(Rule::Wait, &at, waits.clone().subtract(before)?)?;
        let outside = waits.range()?.subtract(self.tiles(k)?)?;
        self.report_set(Rule::Wait, &at, outside)
    }

    /// `[params, _h*] -> { [b, c] -> [b'] }`: what blocks wait for, in launches that there are.
    fn waits(&self, k: &MappedKernel) -> Result<isl::UnionMap> {
        let ctx = &self.scop.ctx;
        let n = k.grid.len();
        let started = self.started(k, self.launched(k)?)?;
        let blocks: Vec<_> = k.grid.iter().map(|g| g.param.clone()).collect();
        let own = isl::UnionSet::read(ctx, &params_of(&blocks))?;
        let params: Vec<_> = blocks.iter().chain(k.block.iter().map(|b| &b.param)).cloned().collect();
        let mut all = isl::UnionMap::empty(ctx)?;
        for set in k.schedule.domain()?.intersect_params(started)?.sets()? {
            if Tuple::of_set(&set)? != Some(Wait) {
                continue;
            }
            let dims = names("i", set.dim(isl::DimType::Set)? as usize);
            let set = isl::UnionSet::from_set(set)?;
            let Some(first) = dims.len().checked_sub(n) else {
                return Err(crate::ScheduleError::Unsupported("a wait for no tile"));
            };
            let whom = format!("{{ {Wait}[{}] -> [{}] }}", dims.join(", "), dims[first..].join(", "));
            let Some(steps) = k.steps() else { continue };
            let when = set.clone().product_map(own.clone())?;
            let when = forget(when, &params)?;
            let steps = steps.clone().intersect_domain(set.universe()?)?;
            let when = when.flat_range_product(steps)?;
            all = all.union(when.reverse()?.apply_range(isl::UnionMap::read(ctx, &whom)?)?)?;
        }
        Ok(all)
    }

    /// `[params, _h*] -> { [b] }`: the tiles of the grid.
    fn tiles(&self, k: &MappedKernel) -> Result<isl::UnionSet> {
        let ctx = &self.scop.ctx;
        let blocks: Vec<_> = k.grid.iter().map(|g| g.param.clone()).collect();
        let mut tiles = isl::Set::read(ctx, &params_of(&blocks))?;
        for g in &k.grid {
            let at = isl::PwAff::read(ctx, &format!("[{0}] -> {{ [({0})] }}", g.param))?;
            let end = g.lower.clone().add(g.count.clone())?;
            let inside = at.clone().ge_set(g.lower.clone())?.intersect(at.lt_set(end)?)?;
            tiles = tiles.intersect_params(inside)?;
        }
        for b in &blocks {
            if let Some(pos) = tiles.space()?.find_dim_by_name(isl::DimType::Param, b)? {
                tiles = tiles.project_out(isl::DimType::Param, pos, 1)?;
            }
        }
        Ok(isl::UnionSet::from_set(tiles)?)
    }
}

/// Steps as those behind the waits of their first coordinate, ahead of all else: what a step reads may be
/// copied there.
fn first(steps: &isl::UnionMap) -> Result<isl::UnionMap> {
    let mut out = isl::UnionMap::empty(steps.context())?;
    for map in steps.maps()? {
        let n = map.dim(isl::DimType::Out)? as usize;
        let c = names("c", n);
        let at: Vec<String> = (0..n)
            .map(|d| match (d, n) {
                (0, _) => "c0".into(),
                (1, 3..) => "-1".into(),
                (2, _) => "1".into(),
                _ => "0".into(),
            })
            .collect();
        let text = format!("{{ [{}] -> [{}] }}", c.join(", "), at.join(", "));
        out = out.union(
            isl::UnionMap::from_map(map)?.apply_range(isl::UnionMap::read(steps.context(), &text)?)?,
        )?;
    }
    Ok(out)
}

/// `a < b`, lexicographically, as text.
pub(super) fn earlier(a: &[String], b: &[String]) -> String {
    let case = |i: usize| {
        let equal: String = a.iter().zip(b).take(i).map(|(a, b)| format!("{a} = {b} and ")).collect();
        format!("({equal}{} < {})", a[i], b[i])
    };
    let cases: Vec<_> = (0..a.len()).map(case).collect();
    if cases.is_empty() { "false".into() } else { cases.join(" or ") }
}
