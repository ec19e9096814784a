//! One kernel: its domain, grid, block and the schedule of a thread.

use super::launch::{bind, launch_domain, product, thread_schedule, values};
use super::options::MapOptions;
use super::promotion::promote;
use super::site::Site;
use super::{counters, lanes, tiling};
use crate::domains::{aligned, simple};
use crate::mapped::{BlockDim, GridDim, MappedKernel};
use crate::planted::planted;
use crate::tree::member_map;
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop};

/// Threads of a block, and along its third dimension (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
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

/// Threads that a dimension of few iterations cannot use go to the next dimension outside that can (inside, if there is none).
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

pub(super) fn build(
    scop: &Scop,
    site: &Site,
    known: &isl::Set,
    options: &MapOptions,
    private: &[ArrayId],
) -> Result<MappedKernel> {
    let ctx = &scop.ctx;
    let domain = launch_domain(site)?;
    let launched = domain.clone().params()?.coalesce()?.intersect(known.clone())?.coalesce()?;
    if site.members.is_empty() {
        return aligned(scop, serial(scop, site, (domain, launched), known, private)?);
    }
    // Bounds need not tell apart what only the exact set of launches does.
    let around = simple(launched.clone())?;
    let mut dims = Vec::new();
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
    for (d, m) in site.members.iter().enumerate() {
        let values = values(&domain, m)?;
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
        dims.push(Dim {
            tile,
            threads,
            vector,
            min: bound(values.clone().dim_min(0)?)?,
            max: bound(values.dim_max(0)?)?,
        });
    }
    if site.tile.is_none() {
        shrink(&mut dims)?;
    }
    if dims.iter().map(|d| d.threads as u64).product::<u64>() > u64::from(MAX_THREADS) {
        return Err(ScheduleError::Unsupported("more than 1024 threads a block"));
    }
    let mut outer = dims.iter().rev().filter(|d| d.threads > 1).skip(2);
    if outer.any(|d| d.threads > MAX_DEPTH) {
        return Err(ScheduleError::Unsupported("more than 64 threads along the third dimension of a block"));
    }

    let mut context = around.clone();
    let mut thread_domain = domain.clone();
    let (mut grid, mut block) = (Vec::new(), Vec::new());
    let (mut tiles, mut threads) = (Vec::new(), Vec::new());
    for (i, (d, m)) in dims.iter().zip(&site.members).enumerate() {
        let (b, t) = (format!("_b{i}"), format!("_t{i}"));
        let (tile, size, vector) = (d.tile, d.threads, d.vector);
        let floor = |p: &isl::PwAff| -> Result<isl::PwAff> {
            Ok(p.clone().scale_down(isl::Val::int(ctx, tile.into())?)?.floor()?)
        };
        let lower = floor(&d.min)?.coalesce()?;
        let count = floor(&d.max)?.sub(lower.clone())?.add_constant(isl::Val::int(ctx, 1)?)?.coalesce()?;

        // lower <= _b < lower + count, without divisions: tile * _b + tile - 1 >= min and tile * _b <= max.
        let first = isl::PwAff::read(ctx, &format!("[{b}] -> {{ [({tile} * {b})] }}"))?;
        let last = isl::PwAff::read(ctx, &format!("[{b}] -> {{ [({tile} * {b} + {})] }}", tile - 1))?;
        context = context.intersect(last.ge_set(d.min.clone())?)?.intersect(first.le_set(d.max.clone())?)?;
        context = context.intersect(isl::Set::read(ctx, &format!("[{t}] -> {{ : 0 <= {t} < {size} }}"))?)?;

        let count = if planted("grid-count") { count.add_constant(isl::Val::int(ctx, -1)?)? } else { count };
        if site.tile.is_none() {
            let stride = tile + u32::from(planted("tile-stride"));
            let point = if tile == size {
                format!("[{b},{t}] -> {{ [v] : v = {stride} * {b} + {t} }}")
            } else {
                format!(
                    "[{b},{t}] -> {{ [v] : exists e : v = {tile} * {b} + {size} * e + {t} and 0 <= e < {} }}",
                    tile / size
                )
            };
            let point = if planted("idle-thread") {
                point.replace("v =", &format!("{t} < {size} - 1 and v ="))
            } else {
                point
            };
            thread_domain = bind(thread_domain, m, &point)?;
        }
        let to = |text: String| -> Result<isl::UnionMap> {
            Ok(member_map(m)?.apply_range(isl::UnionMap::read(ctx, &text)?)?)
        };
        tiles.push(to(format!("{{ [v] -> [floor(v / {tile})] }}"))?);
        threads.push(to(format!("{{ [v] -> [floor(v / {vector}) mod {size}] }}"))?);
        grid.push(GridDim { param: b, lower, count });
        block.push(BlockDim { param: t, size });
    }
    let context = simple(context)?;
    // With larger tiles a thread runs several points along a member: these loops come first.
    let cyclic: Vec<_> =
        dims.iter().zip(&site.members).filter(|(d, _)| d.tile != d.threads).map(|(_, m)| m.clone()).collect();
    let (inner, promotions) = match site.tile {
        Some(_) => (site.inner.clone(), Vec::new()),
        None => promote(scop, site, &domain, private, 0)?,
    };
    let inner = inner.under(cyclic);
    let tile_map = product(tiles)?.intersect_domain(domain.clone())?.gist_params(known.clone())?;
    let thread_map = product(threads)?.intersect_domain(domain.clone())?.gist_params(known.clone())?;
    let (schedule, tiling) = match &site.tile {
        Some(tile) => {
            let bounds: Vec<_> = dims.iter().map(|d| (d.min.clone(), d.max.clone())).collect();
            let t = tiling::build(scop, site, &domain, &around, tile, &bounds, private)?;
            let t = t.ok_or(ScheduleError::Unsupported("a tiling that fits only a larger launch"))?;
            (t.schedule.clone(), Some(t))
        }
        None => (thread_schedule(thread_domain, &context, inner)?, None),
    };
    let counters = match &site.count {
        Some(count) => counters::counters(scop, &domain, &around, count)?,
        None => Vec::new(),
    };
    let kernel = MappedKernel {
        name: site.name.clone(),
        host_params: site.host_params(),
        domain: domain.gist_params(known.clone())?,
        grid,
        block,
        tile_map,
        thread_map,
        schedule,
        context,
        tiling,
        steps: None,
        windows: Vec::new(),
        full: None,
        unrolled: false,
        ahead: false,
        promotions,
        early: Vec::new(),
        counters,
        team: site.team,
        graph: false,
        task: Default::default(),
    };
    aligned(scop, kernel)
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
    Ok(MappedKernel {
        name: site.name.clone(),
        host_params: site.host_params(),
        grid: vec![GridDim {
            param: "_b0".into(),
            lower: isl::PwAff::read(ctx, "{ [(0)] }")?,
            count: isl::PwAff::read(ctx, "{ [(1)] }")?,
        }],
        block: vec![BlockDim { param: "_t0".into(), size: 1 }],
        tile_map: map.clone(),
        thread_map: map,
        schedule: thread_schedule(domain.clone(), &context, inner)?,
        domain: domain.gist_params(known.clone())?,
        context,
        tiling: None,
        steps: None,
        windows: Vec::new(),
        full: None,
        unrolled: false,
        ahead: false,
        promotions,
        early: Vec::new(),
        counters: Vec::new(),
        team: 1,
        graph: false,
        task: Default::default(),
    })
}
