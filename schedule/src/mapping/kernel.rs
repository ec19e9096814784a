//! One kernel: its domain, grid, block and the schedule of a thread.

use super::promotion::promote;
use super::{MapOptions, Site, counters, lanes, tiling};
use crate::domains::{aligned, simple};
use crate::mapped::{BlockDim, GridDim, MappedKernel};
use crate::planted::planted;
use crate::tree::{ScheduleTree, Tree, member_map};
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop};

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
    let equal: Vec<_> = (0..n).map(|i| format!("x{i} = _h{i}")).collect();
    let condition = if equal.is_empty() { "true".into() } else { equal.join(" and ") };
    format!("{}[{}] : {condition}", site.name, dims.join(","))
}

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
fn bind(domain: isl::UnionSet, member: &isl::UnionPwAff, values: &str) -> Result<isl::UnionSet> {
    let values = isl::UnionSet::read(domain.context(), values)?;
    Ok(domain.intersect(member_map(member)?.intersect_range(values)?.domain()?)?)
}

/// What bounds values by a number of at least this size is their type, not what programs have.
const LARGE: i64 = 1 << 16;

/// The values of a member over a domain: `{ [v] }`, as the rational shadow (Fourier-Motzkin). The exact projection of a
/// skewed domain has divisions and many pieces; its shadow has the same bounds up to rounding and covers it. Quotients of parameters stay where the
/// shadow is as wide as a type: that of `0 <= v < 4 s mod 2^32` is all of 32 bits.
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
