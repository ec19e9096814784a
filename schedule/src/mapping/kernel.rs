//! One kernel: its domain, grid, block and the schedule of a thread.

use super::launch::{Launched, bind, launch_domain, product, thread_schedule, values};
use super::options::MapOptions;
use super::promotion::promote;
use super::site::Site;
use super::{counters, lanes, tiling};
use crate::domains::{aligned, simple};
use crate::mapped::{BlockDim, Core, GridDim, MappedKernel, Mode};
use crate::names::Param::{Block, Thread};
use crate::planted::planted;
use crate::tree::member_map;
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop};

/// Threads of a block, and along its third dimension (CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability").
const MAX_THREADS: u32 = 1024;
const MAX_DEPTH: u32 = 64;

struct Dim {
    tile: u32,
    threads: u32,
    /// Consecutive points of a thread.
    vector: u32,
    /// Smallest and largest value of the member in one launch; `[params, _h*] -> { [v] }`.
    min: isl::PwAff,
    max: isl::PwAff,
}

/// Threads that a dimension of few iterations cannot use go to the next dimension outside that can (inside,
/// if there is none).
fn shrink(dims: &mut [Dim]) -> Result<()> {
    let mut short = Vec::new();
    for d in dims.iter() {
        let extent = d.max.clone().sub(d.min.clone())?.coalesce()?;
        let extent =
            if extent.n_piece()? == 1 && extent.is_cst()? { extent.max_value()?.to_i64() } else { None };
        short.push(extent.and_then(|e| u32::try_from(e + 1).ok()).filter(|e| *e < u32::MAX / 2));
    }
    for i in (0..dims.len()).rev() {
        let Some(need) = short[i].map(|e| e.max(1).next_power_of_two()) else { continue };
        if need >= dims[i].threads {
            continue;
        }
        let surplus = dims[i].threads / need;
        dims[i].tile = need;
        dims[i].threads = need;
        // A block has at most three dimensions.
        let full = dims.iter().filter(|d| d.threads > 1).count() >= 3;
        let wide = |j: &usize| {
            let threads = dims[*j].threads * surplus;
            let around = dims[j + 1..].iter().filter(|d| d.threads > 1).count();
            let most = if around >= 2 { MAX_DEPTH } else { MAX_THREADS };
            (dims[*j].threads > 1 || !full) && threads <= most && short[*j].is_none_or(|e| e >= threads)
        };
        if let Some(j) = (0..i).rev().chain(i + 1..dims.len()).find(wide) {
            dims[j].tile *= surplus;
            dims[j].threads *= surplus;
        }
    }
    Ok(())
}

/// How the members of a site are cut into tiles: as its shape says, or as the options and what lanes access
/// do.
fn dims(
    scop: &Scop,
    site: &Site,
    domain: &isl::UnionSet,
    around: &isl::Set,
    options: &MapOptions,
) -> Result<Vec<Dim>> {
    let mut options = options.clone();
    if site.tile.is_none()
        && let Some(threads) = match &site.threads {
            Some(threads) => Some(threads.clone()),
            None => lanes::threads(scop, site, &options)?,
        }
    {
        let n = threads.len();
        options.threads[n - 1] = threads;
    }
    let mut dims = Vec::new();
    for (d, m) in site.members.iter().enumerate() {
        let values = values(domain, m)?;
        let (tile, threads, vector) = match &site.tile {
            Some(tile) => tile.dims[d].sizes(),
            None if site.members.len() == 1 && site.inner.depth() > 0 && !lanes::short(site)? => {
                let threads = lanes::looped(scop, site, &options)?;
                (threads, threads, 1)
            }
            None => {
                let (tile, threads) = options.sizes(site.members.len(), d);
                let points = site.count.as_ref().map_or(1, |c| c.points[d]);
                (points * tile, threads, 1)
            }
        };
        let bound =
            |p: isl::PwAff| -> Result<isl::PwAff> { Ok(p.coalesce()?.gist(around.clone())?.coalesce()?) };
        let (min, max) = (bound(values.clone().dim_min(0)?)?, bound(values.dim_max(0)?)?);
        dims.push(Dim { tile, threads, vector, min, max });
    }
    if site.tile.is_none() {
        shrink(&mut dims)?;
    }
    Ok(dims)
}

/// Refuses blocks that no device has.
fn check(dims: &[Dim]) -> Result<()> {
    if dims.iter().map(|d| d.threads as u64).product::<u64>() > u64::from(MAX_THREADS) {
        return Err(ScheduleError::Unsupported("more than 1024 threads a block"));
    }
    let mut outer = dims.iter().rev().filter(|d| d.threads > 1).skip(2);
    if outer.any(|d| d.threads > MAX_DEPTH) {
        return Err(ScheduleError::Unsupported("more than 64 threads along the third dimension of a block"));
    }
    Ok(())
}

/// Blocks and threads of a launch.
struct Places {
    grid: Vec<GridDim>,
    block: Vec<BlockDim>,
    tiles: Vec<isl::UnionMap>,
    threads: Vec<isl::UnionMap>,
    context: isl::Set,
    /// The instances of one thread, unless a tiling says which these are.
    thread_domain: isl::UnionSet,
}

impl Places {
    fn new(site: &Site, dims: &[Dim], domain: &isl::UnionSet, around: &isl::Set) -> Result<Places> {
        let mut places = Places {
            grid: Vec::new(),
            block: Vec::new(),
            tiles: Vec::new(),
            threads: Vec::new(),
            context: around.clone(),
            thread_domain: domain.clone(),
        };
        for (i, (d, m)) in dims.iter().zip(&site.members).enumerate() {
            places.add((Block(i).to_string(), Thread(i).to_string()), d, m, site.tile.is_none())?;
        }
        places.context = simple(places.context)?;
        Ok(places)
    }

    /// The blocks and threads along a member; `plain` if a thread has the points of its residue class.
    fn add(
        &mut self,
        (b, t): (String, String),
        d: &Dim,
        member: &isl::UnionPwAff,
        plain: bool,
    ) -> Result<()> {
        let ctx = member.context();
        let (tile, size, vector) = (d.tile, d.threads, d.vector);
        let floor = |p: &isl::PwAff| -> Result<isl::PwAff> {
            Ok(p.clone().scale_down(isl::Val::int(ctx, tile.into())?)?.floor()?)
        };
        let lower = floor(&d.min)?.coalesce()?;
        let count = floor(&d.max)?.sub(lower.clone())?.add_constant(isl::Val::int(ctx, 1)?)?.coalesce()?;

        // lower <= _b < lower + count, without divisions: tile * _b + tile - 1 >= min and tile * _b <= max.
        let first = isl::PwAff::read(ctx, &format!("[{b}] -> {{ [({tile} * {b})] }}"))?;
        let last = isl::PwAff::read(ctx, &format!("[{b}] -> {{ [({tile} * {b} + {})] }}", tile - 1))?;
        let own = isl::Set::read(ctx, &format!("[{t}] -> {{ : 0 <= {t} < {size} }}"))?;
        let context = self.context.clone().intersect(last.ge_set(d.min.clone())?)?;
        self.context = context.intersect(first.le_set(d.max.clone())?)?.intersect(own)?;

        let count = if planted("grid-count") { count.add_constant(isl::Val::int(ctx, -1)?)? } else { count };
        if plain {
            let points = points_of_thread(d, &b, &t);
            self.thread_domain = bind(self.thread_domain.clone(), member, &points)?;
        }
        let to = |text: String| -> Result<isl::UnionMap> {
            Ok(member_map(member)?.apply_range(isl::UnionMap::read(ctx, &text)?)?)
        };
        self.tiles.push(to(format!("{{ [v] -> [floor(v / {tile})] }}"))?);
        self.threads.push(to(format!("{{ [v] -> [floor(v / {vector}) mod {size}] }}"))?);
        self.grid.push(GridDim { param: b, lower, count });
        self.block.push(BlockDim { param: t, size });
        Ok(())
    }
}

/// `[_b0, _t0] -> { [v] : ... }`: the values of a member that thread `t` of block `b` has.
fn points_of_thread(d: &Dim, b: &str, t: &str) -> String {
    let (tile, size) = (d.tile, d.threads);
    let stride = tile + u32::from(planted("tile-stride"));
    let point = if tile == size {
        format!("[{b},{t}] -> {{ [v] : v = {stride} * {b} + {t} }}")
    } else {
        format!(
            "[{b},{t}] -> {{ [v] : exists e : v = {tile} * {b} + {size} * e + {t} and 0 <= e < {} }}",
            tile / size
        )
    };
    match planted("idle-thread") {
        true => point.replace("v =", &format!("{t} < {size} - 1 and v =")),
        false => point,
    }
}

/// The kernel of a site; `None` if its tile does not fit the part of the launch that it has.
pub(super) fn build(
    scop: &Scop,
    site: &Site,
    known: &isl::Set,
    options: &MapOptions,
    private: &[ArrayId],
) -> Result<Option<MappedKernel>> {
    let domain = launch_domain(site)?;
    let around = domain.clone().params()?.coalesce()?.intersect(known.clone())?.coalesce()?;
    if site.members.is_empty() {
        return aligned(scop, serial(scop, site, (domain, around), known, private)?).map(Some);
    }
    // Bounds need not tell apart what only the exact set of launches does.
    let around = simple(around)?;
    let dims = dims(scop, site, &domain, &around, options)?;
    check(&dims)?;
    let places = Places::new(site, &dims, &domain, &around)?;
    // With larger tiles a thread runs several points along a member: these loops come first.
    let cyclic: Vec<_> =
        dims.iter().zip(&site.members).filter(|(d, _)| d.tile != d.threads).map(|(_, m)| m.clone()).collect();
    let (inner, promotions) = match site.tile {
        Some(_) => (site.inner.clone(), Vec::new()),
        None => promote(scop, site, &domain, private, 0)?,
    };
    let inner = inner.under(cyclic);
    let mode = match &site.count {
        Some(count) => match counters::counters(scop, &domain, &around, count)? {
            none if none.is_empty() => Mode::Points,
            counters => Mode::Counters(counters),
        },
        None if site.team > 1 => Mode::Team(site.team),
        None => Mode::Points,
    };
    let bounds = dims.into_iter().map(|d| (d.min, d.max)).collect();
    let launched = Launched { domain, around, bounds };
    let (schedule, mode) = match &site.tile {
        Some(tile) => {
            let Some(t) = tiling::build(scop, site, &launched, tile, private)? else { return Ok(None) };
            (t.schedule.clone(), Mode::Tiled(Box::new(t)))
        }
        None => (thread_schedule(places.thread_domain, &places.context, inner)?, mode),
    };
    let Launched { domain, .. } = launched;
    let core = Core {
        tile_map: product(places.tiles)?.intersect_domain(domain.clone())?.gist_params(known.clone())?,
        thread_map: product(places.threads)?.intersect_domain(domain.clone())?.gist_params(known.clone())?,
        domain: domain.gist_params(known.clone())?,
        grid: places.grid,
        block: places.block,
        schedule,
        context: places.context,
    };
    let kernel =
        MappedKernel { mode, promotions, ..MappedKernel::new(site.name.clone(), site.host_params(), core) };
    aligned(scop, kernel).map(Some)
}

fn serial(
    scop: &Scop,
    site: &Site,
    (domain, launched): (isl::UnionSet, isl::Set),
    known: &isl::Set,
    private: &[ArrayId],
) -> Result<MappedKernel> {
    let ctx = &scop.ctx;
    let (inner, promotions) = promote(scop, site, &domain, private, 0)?;
    let context = launched.intersect(isl::Set::read(ctx, "[_b0, _t0] -> { : _b0 = 0 and _t0 = 0 }")?)?;
    let context = simple(context)?;
    let map = domain.clone().product_map(isl::UnionSet::read(ctx, "{ [0] }")?)?;
    let core = Core {
        grid: vec![GridDim {
            param: Block(0).to_string(),
            lower: isl::PwAff::read(ctx, "{ [(0)] }")?,
            count: isl::PwAff::read(ctx, "{ [(1)] }")?,
        }],
        block: vec![BlockDim { param: Thread(0).to_string(), size: 1 }],
        tile_map: map.clone(),
        thread_map: map,
        schedule: thread_schedule(domain.clone(), &context, inner)?,
        domain: domain.gist_params(known.clone())?,
        context,
    };
    Ok(MappedKernel { promotions, ..MappedKernel::new(site.name.clone(), site.host_params(), core) })
}
