//! The time of the forms of a nest: as a kernel with steps, as a graph of tasks, as launches. Both are
//! products and sums of extents, for the host to compute.

use super::graph::threads as threads_of_task;
use super::launch::values;
use super::leaf::{At, Leaf, leaves};
use super::nest::threads as threads_of_nest;
use super::options::MapOptions;
use super::site::Site;
use super::task::fits;
use crate::Result;
use crate::mapped::{Nested, Time};
use crate::strategy::{
    BARRIER as BARRIER_TIME, INSTANCE, LATENCY, MULTIPROCESSORS, Model, STEP_LATENCY, TILE, UNCOALESCED,
    steps,
};
use crate::tree::Tree;
use pollyrs_isl as isl;
use pollyrs_scop::Scop;
use std::collections::BTreeMap;

/// Nanoseconds of a launch in a loop of launches, most of which go in graphs.
const LAUNCH: f64 = 1500.0;

/// The same in factorisations and solves of one system, whose launches each wait for the one before (H100, LU
/// of 65 to 512: 2.0 to 2.3 µs).
const CHAINED: f64 = 2000.0;

/// Threads that a multiprocessor runs at once, and blocks.
const RESIDENT_THREADS: f64 = 2048.0;

const RESIDENT_BLOCKS: u32 = 32;

/// Instances of a block whose data are taken to stay in the cache of its multiprocessor: a factorisation of
/// 128 x 128.
const CACHED: f64 = 700_000.0;

/// How many times longer memory takes because lanes along the last member touch elements far from each other.
fn far(scop: &Scop, domain: &isl::UnionSet, members: &[isl::UnionPwAff]) -> Result<f64> {
    let along = steps(&Model::new(scop)?, domain, members)?;
    Ok(along.last().map_or(1.0, |s| 1.0 + (UNCOALESCED - 1.0) * s.strided))
}

/// Both times of the forms that `sites` are, the nests first.
pub(super) fn nested(scop: &Scop, sites: &[Site], param: &str, options: &MapOptions) -> Result<Nested> {
    let (mut nest, mut plain) = (Vec::new(), Vec::new());
    let own = |s: &&Site| s.either.as_ref().is_some_and(|e| e.param == param);
    let launch = if sites.iter().filter(own).any(|s| s.graph) { CHAINED } else { LAUNCH };
    for site in sites {
        match &site.either {
            Some(either) if either.param == param && either.nested => {
                nest.push(time(scop, site, options, launch)?);
            }
            Some(either) if either.param == param => plain.push(time(scop, site, options, launch)?),
            _ => {}
        }
    }
    Ok(Nested { param: param.into(), times: [Time::Sum(nest), Time::Sum(plain)] })
}

/// Nanoseconds of all launches of a site, each of which takes `launch` by itself. Extents are those of boxes
/// around the instances, for nests and launches alike.
fn time(scop: &Scop, site: &Site, options: &MapOptions, launch: f64) -> Result<Time> {
    let extents = |members: &[isl::UnionPwAff], domain: &isl::UnionSet| -> Result<Time> {
        Ok(Time::Product(members.iter().map(|m| extent(scop, m, domain)).collect::<Result<_>>()?))
    };
    let number = Time::Number;
    if !site.nest {
        // Launches, each as long as a thread, but not shorter than the device's throughput allows.
        let (launches, threads) = (extents(&site.host, &site.domain)?, extents(&site.members, &site.domain)?);
        let inner = path(scop, &site.inner, &site.domain)?;
        let busy = Time::Product(vec![threads, inner.clone(), number(INSTANCE)]);
        let long = Time::Product(vec![inner, number(LATENCY)]);
        let each = Time::Sum(vec![number(launch), Time::Max(vec![busy, long])]);
        return Ok(Time::Product(vec![launches, each]));
    }
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    if site.graph {
        return time_of_tasks(scop, site, &found, options);
    }
    let threads: u32 = threads_of_nest(scop, &found, options)?.iter().product();
    let residents = (RESIDENT_THREADS / f64::from(threads)).min(RESIDENT_BLOCKS.into());
    let blocks =
        Time::Product(vec![extents(&site.host, &site.domain)?, extents(&site.members, &site.domain)?]);
    let (mut each, mut all) = (Vec::new(), Vec::new());
    for leaf in &found {
        let loops = leaf.at.iter().filter_map(|at| match at {
            At::Loop(m) => Some(m.clone()),
            At::Place(_) => None,
        });
        let loops: Vec<_> = loops.collect();
        let (steps, points) = (extents(&loops, &leaf.domain)?, extents(&leaf.members, &leaf.domain)?);
        let inner = path(scop, &leaf.inner, &leaf.domain)?;
        let turns = Time::Product(vec![points.clone(), number(1.0 / f64::from(threads))]);
        let turns = Time::Max(vec![turns, number(1.0)]);
        let step = Time::Product(vec![turns, inner.clone(), number(STEP_LATENCY)]);
        each.push(Time::Product(vec![steps.clone(), Time::Sum(vec![number(BARRIER_TIME), step])]));
        let busy = Time::Product(vec![blocks.clone(), steps, points, inner, number(INSTANCE)]);
        let members: Vec<_> = site.members.iter().chain(&loops).chain(&leaf.members).cloned().collect();
        let wide = if leaf.members.is_empty() { 1.0 } else { far(scop, &leaf.domain, &members)? };
        all.push(if wide > 1.0 {
            let cached = Time::Product(vec![blocks.clone(), number((1.0 - wide) * INSTANCE * CACHED)]);
            let far = Time::Sum(vec![Time::Product(vec![busy.clone(), number(wide)]), cached]);
            Time::Max(vec![busy, far])
        } else {
            busy
        });
    }
    let turns = Time::Product(vec![blocks, number(1.0 / (MULTIPROCESSORS * residents))]);
    let turns = Time::Max(vec![turns, number(1.0)]);
    Ok(Time::Max(vec![Time::Product(vec![turns, Time::Sum(each)]), Time::Sum(all)]))
}

/// The number of values of a member over a domain, zero where there is none: `[params] -> { [] -> [v] }`.
pub(super) fn extent(scop: &Scop, member: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<Time> {
    let values = values(domain, member)?;
    let known = crate::known(scop)?;
    let runs = domain.clone().params()?.intersect(known.clone())?;
    let extent = values.clone().dim_max(0)?.coalesce()?.sub(values.dim_min(0)?.coalesce()?)?;
    let extent = extent.add_constant(isl::Val::int(&scop.ctx, 1)?)?.coalesce()?;
    let extent = extent.gist(runs)?.union_max(isl::PwAff::constant_on(scop.param_space()?, 0)?)?;
    Ok(Time::Extent(extent.gist_params(known)?.coalesce()?))
}

/// Iterations of what a thread runs.
pub(super) fn path(scop: &Scop, tree: &Tree, domain: &isl::UnionSet) -> Result<Time> {
    if domain.is_empty()? {
        return Ok(Time::Number(0.0));
    }
    Ok(match tree {
        Tree::Leaf => Time::Number(1.0),
        Tree::Mark(_, child) => path(scop, child, domain)?,
        Tree::Band(b) => {
            let mut all = b.members.iter().map(|m| extent(scop, m, domain)).collect::<Result<Vec<_>>>()?;
            all.push(path(scop, &b.child, domain)?);
            Time::Product(all)
        }
        Tree::Sequence(children) => {
            let mut all = Vec::new();
            for (filter, child) in children {
                all.push(path(scop, child, &domain.clone().intersect(filter.clone())?)?);
            }
            Time::Sum(all)
        }
    })
}

/// Nanoseconds from a task's end to the start of what waits for it (0.56 µs from flag to block on an H100), a
/// claim included.
const HAND_OVER: f64 = 1500.0;

/// Nanoseconds of an instance among others of its thread that wait for nobody.
const COARSE: f64 = 3.0;

/// Nanoseconds of a point of a thread in a step whose elements are in shared memory, all points loaded
/// together, and of the barrier there (H100: LU of 2048, 64 tasks of 64 iterations one after the other, 39 µs
/// each; a solve, one point a thread, 12.7 µs a task).
const SHARED: f64 = 25.0;

const SHARED_BARRIER: f64 = 100.0;

/// The part of an instance's time that one of an update takes: 16 points of a thread share what they load.
const UPDATE: f64 = 0.1;

/// Nanoseconds of the launch: not less than the arithmetic of all tasks takes, nor than a chain of tasks, in
/// which the steps that join threads come one after the other.
fn time_of_tasks(scop: &Scop, site: &Site, leaves: &[Leaf], options: &MapOptions) -> Result<Time> {
    let number = Time::Number;
    let extents = |members: &[isl::UnionPwAff], domain: &isl::UnionSet| -> Result<Time> {
        Ok(Time::Product(members.iter().map(|m| extent(scop, m, domain)).collect::<Result<_>>()?))
    };
    let threads: f64 = threads_of_task(leaves, options).iter().map(|t| f64::from(*t)).product();
    let dims = site.members.len();
    let shared = fits(dims, threads as u32);
    let (latency, barrier) = if shared { (SHARED, SHARED_BARRIER) } else { (STEP_LATENCY, BARRIER_TIME) };
    // The first coordinate of a task is the sum of all: as long is a chain.
    let chain = extent(scop, &site.members[0], &site.domain)?;
    let (mut each, mut all) = (vec![number(HAND_OVER)], Vec::new());
    // By kind of tile, of which a task is one: iterations, barriers in each, and what threads do between
    // them. Statements share the elements of a tile.
    let mut kinds: BTreeMap<i64, (Vec<Time>, f64, Vec<Time>)> = BTreeMap::new();
    for leaf in leaves {
        let loops: Vec<_> = leaf
            .at
            .iter()
            .filter_map(|at| match at {
                At::Loop(m) => Some(m.clone()),
                At::Place(_) => None,
            })
            .collect();
        let points = (TILE as f64).powi(leaf.members.len() as i32);
        let turns = (points / threads).max(1.0);
        // Of several statements without loops, one has an element of the tile.
        let inner = match shared && leaf.inner.depth() == 0 {
            true => number(1.0),
            false => path(scop, &leaf.inner, &leaf.domain)?,
        };
        let mut instance = INSTANCE;
        if let Some(iterations) = loops.get(1) {
            // Of a step that joins threads: an iteration of the loop of launches after the other, in a chain
            // all of them along each coordinate.
            let turns = Time::Product(vec![number(turns * latency), inner.clone()]);
            let kind = leaf.at.iter().find_map(|at| match at {
                At::Place(p) => Some(*p),
                At::Loop(_) => None,
            });
            let (along, barriers, all) = kinds.entry(kind.unwrap_or(0)).or_default();
            along.push(extent(scop, iterations, &leaf.domain)?);
            *barriers += barrier;
            all.push(turns);
        } else {
            let part = if shared { UPDATE } else { 1.0 };
            each.push(number(turns * TILE as f64 * COARSE));
            instance *= part;
        }
        let steps = number(if loops.len() > 1 { TILE as f64 } else { 1.0 });
        let instances = [extents(&leaf.members, &leaf.domain)?, steps, inner];
        all.push(Time::Product([instances.to_vec(), vec![number(instance)]].concat()));
    }
    let mut along = vec![Time::Product(vec![chain, Time::Sum(each)])];
    if !kinds.is_empty() {
        let path = |(along, barriers, turns): (Vec<Time>, f64, Vec<Time>)| {
            let iteration = Time::Sum(vec![number(barriers), Time::Max(turns)]);
            Time::Product(vec![number(dims as f64), Time::Max(along), iteration])
        };
        along.push(Time::Max(kinds.into_values().map(path).collect()));
    }
    Ok(Time::Max(vec![Time::Sum(along), Time::Sum(all)]))
}
