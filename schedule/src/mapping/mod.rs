//! The mapping of a placed schedule tree to launches, blocks and threads.
//!
//! The tree is walked from its root. Bands and sequences above the marks become the host schedule; each mark
//! becomes a kernel: beneath [`KERNEL`] the members of the band are cut into tiles, the tile's coordinate is
//! the block and the point in the tile the thread; beneath [`SERIAL`] one block of one thread runs everything
//! (its grid and its block have one dimension of size one, so that every kernel looks the same); beneath
//! [`NEST`](crate::strategy::NEST) the host's schedule itself is part of a kernel (`nest`), and beneath
//! [`EITHER`](crate::strategy::EITHER) a parameter says which of two forms is launched.
//!
//! # Invariants
//! - With member `m`, tile size `s` and `p` threads (`p` divides `s`): `_b = floor(m / s)`, `_t = m mod p`.
//!   With `s = p` that is `m = s _b + _t`; with a larger tile a thread runs the points of its residue class,
//!   in order.
//! - The band has any number of members; at most three of them have more than one thread.
//! - The grid is the exact box around the tiles of one launch. Blocks and threads without instances do
//!   nothing: their part of the domain is empty.
//! - No barrier: all members that are mapped are coincident, so no dependence joins two threads of a launch.
//! - The domain of a kernel in the host schedule holds exactly the host iterations in which it has an
//!   instance.
//!
//! # Example
//! `for t { for i: S0[t, i] : 1 <= i < n - 1 }` with `t` on the host and 256 threads:
//! ```text
//! K0[_h0]   { S0[t, i] : t = _h0 and 0 <= _h0 < T and 1 <= i < n - 1 }
//! grid      _b0 from 0, count floor((n - 2) / 256) + 1
//! tile      { S0[t, i] -> [floor(i / 256)] },   thread { S0[t, i] -> [i mod 256] }
//! schedule  domain [_h0, _b0, _t0] -> { S0[t, i] : t = _h0 and i = 256 _b0 + _t0 and ... }
//! ```

mod carried;
mod counters;
mod graph;
mod hoisting;
mod host;
mod kernel;
mod lanes;
mod launch;
mod leaf;
mod nest;
mod options;
mod placement;
mod promotion;
mod rows;
mod site;
pub(crate) mod task;
mod team;
mod tile;
mod tiling;
mod time;
mod variant;

pub use options::{MapOptions, Nests};
pub use tile::{TileShape, TilingOptions};
pub use tiling::UNROLLED;

use crate::mapped::{Alternative, Choice, Cut, Late, MappedKernel, MappedScop, Placement};
use crate::names::Param;
use crate::strategy::{KERNEL, SERIAL, place};
use crate::time_tiling::waves;
use crate::tree::ScheduleTree;
use crate::{Dependences, Result, ScheduleError, budgeted, is_quota, known};
use host::{Around, collect, host_tree};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop};
use site::Site;
use std::collections::BTreeSet;

/// The part of the budget that the search for tiles may take.
const TILES: u64 = 2;

/// Maps `tree` (placing it first if it has no marks).
pub fn map(scop: &Scop, deps: &Dependences, tree: &ScheduleTree, options: &MapOptions) -> Result<MappedScop> {
    budgeted(&scop.ctx, "mapping", options.budget, || {
        let placed;
        let tree = if tree.root.has_mark(KERNEL) || tree.root.has_mark(SERIAL) {
            tree
        } else {
            placed = place(scop, deps, tree)?.tree;
            &placed
        };
        if !tree.root.has_mark(KERNEL) {
            return Err(ScheduleError::NoParallelism);
        }
        map_marked(scop, deps, tree, options)
    })
}

fn map_marked(
    scop: &Scop,
    deps: &Dependences,
    tree: &ScheduleTree,
    options: &MapOptions,
) -> Result<MappedScop> {
    let known = known(scop)?;
    let mut sites = Vec::new();
    let domain = tree.domain.clone().intersect_params(known.clone())?.coalesce()?;
    let mut around = Around { host: vec![], nests: options.nests, graphs: options.graphs, either: None };
    let mut host = collect(&tree.root, &domain, &mut around, &mut sites, false)?;
    let mut nested = Vec::new();
    for site in &sites {
        if let Some(either) = site.either.as_ref().filter(|e| e.nested) {
            nested.push(time::nested(scop, &sites, &either.param, options)?);
        }
    }
    let (plain, plain_host) = (sites.clone(), host.clone());
    let mut untiled = BTreeSet::new();
    let (placement, kernels, host_domain) = loop {
        if let (Some(h), Some(_)) = (&mut host, &options.tiling) {
            let private = private(&placement::placement(scop, deps, &sites)?);
            let mut tiled = sites.clone();
            let chosen = budgeted(&scop.ctx, "tiles", options.budget / TILES, || {
                tiling::choose(scop, &known, options, &private, h.clone(), &mut tiled)
            });
            match chosen {
                Ok(chosen) => (*h, sites) = (chosen, tiled),
                // Plain kernels are better than none.
                Err(e) if is_quota(&e) => {}
                Err(e) => return Err(e),
            }
        }
        let placement = placement::placement(scop, deps, &sites)?;
        match kernels(scop, deps, &sites, (&known, options), &private(&placement))? {
            Built::All(kernels, launches) => break (placement, kernels, launches),
            // A tile was chosen for a launch as a whole, and a part of it does not have what it needs.
            Built::Unfit(launch) if untiled.insert(launch) => {
                (sites, host) = (plain.clone(), plain_host.clone());
                sites.iter_mut().for_each(|s| s.untiled = untiled.contains(&s.launch));
            }
            Built::Unfit(_) => return Err(ScheduleError::Unsupported("a tile of an untiled launch")),
        }
    };
    let host = match host {
        Some(h) => host_tree(&scop.ctx, &h, &sites, 0)?.0,
        None => return Err(ScheduleError::NoParallelism),
    };
    let host = ScheduleTree { domain: host_domain, root: host }.to_isl()?;
    let choices = choices(&sites, &known, options)?;
    let is_late =
        |s: &Site| s.either.as_ref().is_some_and(|e| e.param == Param::Late.to_string() && e.nested);
    let late: Vec<usize> = (0..sites.len()).filter(|i| is_late(&sites[*i])).collect();
    let late = (!late.is_empty()).then(|| Late { param: Param::Late.to_string(), kernels: late });
    Ok(MappedScop { kernels, host, placement, choices, nested, late, divides: false })
}

fn private(placement: &[Placement]) -> Vec<ArrayId> {
    (0..placement.len()).filter(|i| placement[*i] == Placement::Private).map(ArrayId).collect()
}

/// What became of the sites.
enum Built {
    /// The kernels, and their launches.
    All(Vec<MappedKernel>, isl::UnionSet),
    /// A tile does not fit the part that it is for, of the launch with this number.
    Unfit(usize),
}

fn kernels(
    scop: &Scop,
    deps: &Dependences,
    sites: &[Site],
    (known, options): (&isl::Set, &MapOptions),
    private: &[ArrayId],
) -> Result<Built> {
    let mut kernels: Vec<MappedKernel> = Vec::new();
    let mut launches = isl::UnionSet::empty(&scop.ctx)?;
    for site in sites {
        if let Some((kernel, own)) = tiles_of_front(scop, deps, site, known, options)? {
            let own = match &site.either {
                Some(either) => own.intersect_params(either.condition(&scop.ctx)?)?,
                None => own,
            };
            kernels.push(kernel);
            launches = launches.union(own)?;
            continue;
        }
        let kernel = match site.nest {
            true => Some(nest::kernel(scop, deps, site, known, options, private)?),
            false => kernel::build(scop, site, known, options, private)?,
        };
        let Some(mut kernel) = kernel else { return Ok(Built::Unfit(site.launch)) };
        kernel.hoistable = hoisting::reads(scop, deps, &kernel)?;
        kernels.push(kernel);
        launches = launches.union(launch::host_domain(site, known)?)?;
    }
    Ok(Built::All(kernels, launches))
}

/// The kernel of a wavefront's tiles, and its launches.
fn tiles_of_front(
    scop: &Scop,
    deps: &Dependences,
    site: &Site,
    known: &isl::Set,
    options: &MapOptions,
) -> Result<Option<(MappedKernel, isl::UnionSet)>> {
    let Some(sizes) = options.waves.as_ref().filter(|_| site.alone && !site.nest) else { return Ok(None) };
    let front = waves::Front {
        name: &site.name,
        host: &site.host,
        parallel: &site.members,
        domain: &site.domain,
        inner: &site.inner,
    };
    waves::kernel(scop, deps, &front, known, sizes)
}

/// The choices among tiled sites.
fn choices(sites: &[Site], known: &isl::Set, options: &MapOptions) -> Result<Vec<Choice>> {
    let multiprocessors = options.tiling.as_ref().map_or(1, |t| t.multiprocessors);
    let mut out: Vec<Choice> = Vec::new();
    for (kernel, site) in sites.iter().enumerate() {
        let (Some(a), Some(tile)) = (&site.alternative, &site.tile) else { continue };
        let param = a.param();
        let alternative = Alternative { kernel, weight: tile.weight, residents: tile.residents };
        match out.iter_mut().find(|c| c.param == param) {
            Some(c) => c.kernels.push(alternative),
            None => {
                let cut = a.cut.as_ref().map(|cut| Cut {
                    dim: cut.dim,
                    tile: cut.tile,
                    ratio: 1,
                    first: cut.first.clone(),
                    end: cut.end.clone(),
                    grids: [vec![], vec![]],
                });
                out.push(Choice { param, kernels: vec![alternative], multiprocessors, cut });
            }
        }
        let Some(cut) = out.iter_mut().find(|c| c.param == a.param()).and_then(|c| c.cut.as_mut()) else {
            continue;
        };
        if let Some(at) = &a.cut {
            cut.ratio = at.tile / tile.dims[at.dim].tile();
        }
        // Without the cut, in the shape of this site.
        let whole = Site { alternative: None, ..site.clone() };
        let domain = launch::launch_domain(&whole)?;
        let around = domain.clone().params()?.coalesce()?.intersect(known.clone())?.coalesce()?;
        for (m, d) in whole.members.iter().zip(&tile.dims) {
            let values = launch::values(&domain, m)?;
            cut.grids[a.at].push(launch::tiles(&values, d.tile(), &around)?);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
