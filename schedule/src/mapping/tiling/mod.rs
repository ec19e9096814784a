//! Register tiling and shared memory: which kernels compute several points a thread, and how.
//!
//! A kernel qualifies if
//! 1. two of its members have *reuse*: some read beneath a sequential loop does not depend on the one,
//!    another one not on the other;
//! 2. its points are a box, and the loops beneath are the same at every point; or loops that run what any
//!    point of a tile runs serve all of them, with guards ([`region`]), in coordinates that show it
//!    ([`normal`]);
//! 3. every array that it writes is private, or each point owns one cell of it and no other point uses that
//!    cell.
//!
//! Then the loops beneath run once for all points of a thread (members are coincident, so no dependence joins
//! two points), the cells of (3) live in registers, and reads of arrays that the launch does not write go
//! through shared memory where a strip of the innermost sequential loop touches a box of constant size
//! (reference groups after Verdoolaege et al., "Polyhedral parallel code generation for CUDA", TACO 2013,
//! section 5; here a group is the references with one and the same function).
//!
//! Small problems would waste such tiles: the launch is split by a condition on the sizes, tiles for boxes of
//! at least half a small tile along each tiled member (eight tiles if no other member is parallel), a plain
//! kernel for the others. Which of several shapes of tiles runs, or where the launch is cut between two of
//! them, is decided there, by the number of blocks a multiprocessor gets ([`crate::mapped::Choice`]).
//!
//! Kernels with such reuse but few results that are long sums have tiles of their own: [`few`]; and so have
//! those with many points along one member and few along the other one: [`slim`].
//!
//! Kernels without such reuse but with few points and long loops over operands get tiles, too: [`stream`];
//! and those whose neighbouring points read the same elements: [`neighbours`]; those that wait for memory and
//! move few bytes a point: [`wide`]; and a single sum in order: [`single`].
//!
//! # Example
//! `C[i,j] += A[i,k] * B[k,j]` with 16 × 16 threads of 8 × 16 points and strips of 8: register `C[i,j]`,
//! buffers of 128 × 8 elements of A, fastest along `i`, and of 8 × 256 elements of B.

mod affine;
mod few;
mod neighbours;
mod normal;
mod operand_tiles;
mod region;
mod shape;
mod single;
mod slim;
mod stream;
mod wide;

pub use neighbours::UNROLLED;

use super::host::Host;
use super::launch::{Launched, launch_domain, thread_schedule, values};
use super::options::MapOptions;
use super::site::{Either, Site};
use super::tile::Tile;
use super::variant::{CutAt, Variant};
use super::{counters, team};
use crate::mapped::{TiledDim, Tiling};
use crate::names::Param::{self, Block, Point};
use crate::tree::{Tree, member_map};
use crate::{Result, ScheduleError};
use operand_tiles::OperandTiles;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop};
use region::{Region, registers};
use shape::{Fastest, fastest, shapes};

/// Tiles along each dimension that a launch of two dimensions needs. A few tiles use a few multiprocessors
/// only, but the plain kernel, whose blocks all read the same rows at once, is slower still: products of
/// doubles at 128 x 128 x 8192, 256 and 384 take 0.229, 0.018 and 0.022 ms, the plain kernel 0.871, 0.032 and
/// 0.055 (H200; floats 0.477, 0.028 and 0.028, plain 0.560, 0.030 and 0.036).
const ALONE: u32 = 2;
/// Kernels with more parts are not distributed: each cut is tried.
const MAX_PARTS: usize = 6;

/// Marks the sites that are tiled: each becomes one site for every shape of tiles, of which one is launched,
/// and a plain one for small boxes.
pub(super) fn choose(
    scop: &Scop,
    known: &isl::Set,
    options: &MapOptions,
    private: &[ArrayId],
    host: Host,
    sites: &mut Vec<Site>,
) -> Result<Host> {
    Ok(match host {
        Host::Loops(n, child) => {
            Host::Loops(n, Box::new(choose(scop, known, options, private, *child, sites)?))
        }
        Host::Sequence(children) => Host::Sequence(
            children
                .into_iter()
                .map(|c| choose(scop, known, options, private, c, sites))
                .collect::<Result<_>>()?,
        ),
        Host::Launch(k) => {
            let new = split(scop, known, options, private, &sites[k])?;
            if new.is_empty() {
                return Ok(match distributed(scop, known, options, private, &sites[k])? {
                    Some((parts, rest)) => {
                        sites[k] = Site { name: sites[k].name.clone(), ..rest.0 };
                        let rest = (Host::Launch(k), rest.1);
                        let at = sites.len();
                        sites.push(Site { name: format!("K{at}"), ..parts });
                        let parts = choose(scop, known, options, private, Host::Launch(at), sites)?;
                        Host::Sequence(if rest.1 { vec![rest.0, parts] } else { vec![parts, rest.0] })
                    }
                    None => {
                        let parts = match counters::split(scop, known, options, &sites[k])? {
                            Some(parts) => Some(parts),
                            None => match team::split(scop, known, options, &sites[k])? {
                                Some(parts) => Some(parts),
                                None => narrow(scop, known, options, &sites[k], &NARROW)?.map(Vec::from),
                            },
                        };
                        launches(k, parts.unwrap_or_default(), sites)
                    }
                });
            }
            let mut new = new.into_iter();
            let Some(first) = new.next() else { return Ok(Host::Launch(k)) };
            sites[k] = first;
            let mut launches = vec![Host::Launch(k)];
            let choice = k;
            for site in new {
                let alternative = site.alternative.clone().map(|a| Variant { choice, ..a });
                sites.push(Site { name: format!("K{}", sites.len()), alternative, ..site });
                launches.push(Host::Launch(sites.len() - 1));
            }
            sites[k].alternative = sites[k].alternative.take().map(|a| Variant { choice, ..a });
            if sites[k].alternative.as_ref().is_some_and(|a| a.cut.is_some()) {
                // What the larger part is done with is not touched any more.
                launches.swap(0, 1);
            }
            if launches.len() == 1 { Host::Launch(k) } else { Host::Sequence(launches) }
        }
    })
}

/// The launches of these sites in place of site `k`; of that one if there are none.
fn launches(k: usize, parts: Vec<Site>, sites: &mut Vec<Site>) -> Host {
    let mut launches = vec![Host::Launch(k)];
    for (i, part) in parts.into_iter().enumerate() {
        if i == 0 {
            sites[k] = part;
            continue;
        }
        let at = sites.len();
        sites.push(Site { name: format!("K{at}"), ..part });
        launches.push(Host::Launch(at));
    }
    if launches.len() == 1 { Host::Launch(k) } else { Host::Sequence(launches) }
}

/// A plain kernel for a last member of at most so many values: with a warp along it, most lanes would have
/// nothing to do.
struct Narrow {
    values: u32,
    threads: [u32; 3],
}

/// As the channels of an image. (Twice the size of 4096 × 4096 pixels of three floats, on an H200: 3.35 ms,
/// with these blocks 0.43.)
const NARROW: Narrow = Narrow { values: 4, threads: [4, 32, 4] };
/// As small products of matrices.
const SQUARE: Narrow = Narrow { values: 16, threads: [1, 16, 16] };
/// Kernels with more statements are compiled once: the proofs of both take more than their budget (a
/// convolution under conditions of its border).
const MAX_STATEMENTS: u32 = 4;

/// The launches for many and for few values of the last member, where their number is not known.
fn narrow(
    scop: &Scop,
    known: &isl::Set,
    options: &MapOptions,
    site: &Site,
    shape: &Narrow,
) -> Result<Option<[Site; 2]>> {
    let (Some(last), 3.., true) = (site.members.last(), site.members.len(), site.host.is_empty()) else {
        return Ok(None);
    };
    let default = MapOptions::default();
    let usual = options.threads[2] == default.threads[2] && options.points[2] == default.points[2];
    if !usual || site.domain.n_set()? > MAX_STATEMENTS {
        return Ok(None);
    }
    let domain = launch_domain(site)?;
    let extent = values(&domain, last)?;
    let (min, max) = (extent.clone().dim_min(0)?.coalesce()?, extent.dim_max(0)?.coalesce()?);
    let most = isl::Val::int(&scop.ctx, i64::from(shape.values))?;
    let wide = min.add_constant(most)?.le_set(max)?.intersect(known.clone())?.coalesce()?;
    let part = |sizes: isl::Set| {
        Ok::<_, ScheduleError>(at_host(site, sizes)?.intersect(site.domain.clone())?.coalesce()?)
    };
    let many = part(wide.clone())?;
    let few = site.domain.clone().subtract(many.clone())?.coalesce()?;
    if many.is_empty()? || few.is_empty()? {
        return Ok(None);
    }
    let threads = Some(shape.threads.to_vec());
    Ok(Some([Site { domain: many, ..site.clone() }, Site { domain: few, threads, ..site.clone() }]))
}

/// A part of a kernel that can be tiled, where the whole cannot, and the rest, with whether the rest comes
/// first. (The members are coincident, so that what a point runs one after the other may run in two
/// launches.)
fn distributed(
    scop: &Scop,
    known: &isl::Set,
    options: &MapOptions,
    private: &[ArrayId],
    site: &Site,
) -> Result<Option<(Site, (Site, bool))>> {
    let Tree::Sequence(children) = &site.inner else { return Ok(None) };
    if site.members.len() < 2 || site.tile.is_some() || children.len() > MAX_PARTS {
        return Ok(None);
    }
    let part = |range: &[(isl::UnionSet, Tree)]| -> Result<Site> {
        let mut all = isl::UnionSet::empty(&scop.ctx)?;
        for (f, _) in range {
            all = all.union(f.clone())?;
        }
        let inner = match range {
            [(_, child)] => child.clone(),
            _ => Tree::Sequence(range.to_vec()),
        };
        Ok(Site { domain: site.domain.clone().intersect(all)?, inner, ..site.clone() })
    };
    for cut in (1..children.len()).rev() {
        for rest_first in [false, true] {
            let (front, back) = (part(&children[..cut])?, part(&children[cut..])?);
            let (tiled, rest) = if rest_first { (back, front) } else { (front, back) };
            // Values that only a thread has would have to go through memory.
            let mut apart = true;
            for id in private {
                let mut of = Vec::new();
                for s in [&tiled, &rest] {
                    of.push(
                        scop.accesses(|_, a| a.array == *id)?
                            .intersect_domain(s.domain.clone())?
                            .is_empty()?,
                    );
                }
                apart &= of.contains(&true);
            }
            let tiles = if apart { split(scop, known, options, private, &tiled)? } else { vec![] };
            // Where neighbours share what they read, a launch more costs as much.
            if !tiles.is_empty() && !tiles.iter().any(|s| s.tile.as_ref().is_some_and(|t| t.unrolled)) {
                return Ok(Some((tiled, (rest, rest_first))));
            }
        }
    }
    Ok(None)
}

/// The tiled sites for large boxes and the plain one for others; none if tiling does not pay or is not
/// possible.
fn split(
    scop: &Scop,
    known: &isl::Set,
    options: &MapOptions,
    private: &[ArrayId],
    plain: &Site,
) -> Result<Vec<Site>> {
    let Some(sizes) = &options.tiling else { return Ok(vec![]) };
    if plain.nest || plain.untiled {
        return Ok(vec![]);
    }
    let (site, mut tiles) = wanted(scop, options, plain)?;
    let Some(small) = tiles.last().cloned() else { return Ok(vec![]) };
    let launched = launched(&site, known)?;
    let Some(region) = region(scop, &site, &launched, &small, private)? else { return Ok(vec![]) };
    let even = region.uneven.is_none();
    if (options.divides || small.unrolled) && !even {
        return Ok(vec![]);
    }
    let mut large = large(&small, &launched)?;
    if let Some(member) = &small.stream {
        large = large.intersect(stream::pays(scop, member, &launched.domain, &small, &launched.bounds)?)?;
    }
    let sums = match even {
        true if small.wide => wide::planes(scop, &small, &launched.bounds)?,
        true => {
            let own = Site { domain: launched.domain.clone(), ..site.clone() };
            few::shape(scop, &own, &small, &launched.bounds)?
        }
        false => None,
    };
    let words = match even && small.unrolled {
        true => {
            wide::vectors(scop, options, &Site { domain: launched.domain.clone(), ..site.clone() }, &small)?
        }
        false => None,
    };
    let large = at_host(&site, large)?;
    let mut inside = site.domain.clone().intersect(large.clone())?.coalesce()?;
    let mut outside = site.domain.clone().subtract(large)?.coalesce()?;
    let sum = match sums {
        Some((tile, pays)) => carved(&mut outside, &site, pays)?.map(|few| (few, tile)),
        None => None,
    };
    let mut long = Vec::new();
    if even {
        for (tile, pays) in slim::shapes(&site, &small, &launched.bounds)? {
            if let Some(own) = carved(&mut outside, &site, pays)? {
                long.push(copy(&site, own, Some(tile)));
            }
        }
    }
    if inside.is_empty()? && sum.is_none() && long.is_empty() {
        return Ok(vec![]);
    }
    let mut out = Vec::new();
    if let Some((tile, even)) = words
        && let Some(own) = carved(&mut inside, &site, even)?
    {
        let vector = tile.dims.last().map_or(1, |d| d.vector);
        let site = wide::placed(scop, &site, &launched.domain, vector)?;
        out.push(copy(&site, own, Some(tile)));
    }
    if let Some(member) = &small.stream
        && let Some((half, few)) = stream::few(&small, &launched.bounds, sizes.multiprocessors)?
    {
        let few = few.intersect(stream::pays(scop, member, &launched.domain, &half, &launched.bounds)?)?;
        let fits = self::region(scop, &site, &launched, &half, private)?.is_some();
        if fits && let Some(few) = carved(&mut inside, &site, few)? {
            out.push(copy(&site, few, Some(half)));
        }
    }
    if inside.is_empty()? {
        tiles.clear();
    }
    let cut = if even && site.host.is_empty() { cut_at(&tiles, &launched.bounds)? } else { None };
    out.extend(fastest_of(&site, tiles, &inside, &launched, (cut, sizes.multiprocessors))?);
    out.extend(sum.map(|(few, tile)| copy(&site, few, Some(tile))));
    out.extend(long);
    if options.late && site.either.is_none() {
        out.iter_mut().for_each(|tiled| tiled.either = Some(Either::late(true)));
        let tiled = site.domain.clone().subtract(outside.clone())?.coalesce()?;
        out.push(Site { either: Some(Either::late(false)), ..copy(plain, tiled, None) });
    }
    if !outside.is_empty()? {
        let outside = copy(plain, outside, None);
        let parts = match () {
            () if small.wide => narrow(scop, known, options, &outside, &NARROW)?,
            () if small.unrolled || small.stream.is_some() => None,
            () => narrow(scop, known, options, &outside, &SQUARE)?,
        };
        out.extend(parts.map_or(vec![outside], Vec::from));
    }
    Ok(out)
}

/// The site's instances in `domain`, with a tile or without one.
fn copy(site: &Site, domain: isl::UnionSet, tile: Option<Tile>) -> Site {
    Site { domain, tile, alternative: None, ..site.clone() }
}

/// The shapes that a site may have, of which the last one is the smallest, and the site in the form that they
/// are for.
fn wanted(scop: &Scop, options: &MapOptions, plain: &Site) -> Result<(Site, Vec<Tile>)> {
    // Of one launch: subscripts are functions of its points and loops.
    let launched =
        |site: &Site| Ok::<_, ScheduleError>(Site { domain: launch_domain(site)?, ..site.clone() });
    if plain.members.is_empty() {
        let found = single::shape(scop, plain)?.map(|(site, tile)| (site, vec![tile]));
        return Ok(found.unwrap_or_else(|| (plain.clone(), vec![])));
    }
    let normal = normal::normalised(scop, plain)?;
    let of_one = launched(&normal)?;
    let tiles = if normal.inner.depth() > 0 { shapes(scop, options, &of_one)? } else { vec![] };
    // In coordinates of their own, windows do not move from point to point.
    if plain.inner.depth() > 0
        && let Some(tile) = neighbours::windows(scop, options, &launched(plain)?)?
    {
        return Ok((plain.clone(), vec![tile]));
    }
    if !tiles.is_empty() {
        return Ok((normal, tiles));
    }
    let of_one = launched(plain)?;
    let tile = match neighbours::shape(scop, options, &of_one)? {
        Some(tile) => Some(tile),
        None => wide::shape(scop, options, &of_one)?,
    };
    let site = match tile.as_ref().map(|t| (t.wide, t.dims.as_slice())) {
        Some((true, [line])) if line.vector > 1 => wide::placed(scop, plain, &of_one.domain, line.vector)?,
        _ => plain.clone(),
    };
    Ok((site, tile.into_iter().collect()))
}

/// What is known of one launch of a site.
fn launched(site: &Site, known: &isl::Set) -> Result<Launched> {
    let domain = launch_domain(site)?;
    let around = domain.clone().params()?.intersect(known.clone())?;
    let mut bounds = Vec::new();
    for m in &site.members {
        let v = values(&domain, m)?;
        bounds.push((v.clone().dim_min(0)?.coalesce()?, v.dim_max(0)?.coalesce()?));
    }
    Ok(Launched { domain, around, bounds })
}

/// What a tile computes, if its points may advance together and have registers.
fn region(
    scop: &Scop,
    site: &Site,
    launched: &Launched,
    tile: &Tile,
    private: &[ArrayId],
) -> Result<Option<Region>> {
    let Some(region) = Region::new(scop, site, launched, tile)? else { return Ok(None) };
    Ok(registers(scop, &launched.domain, &region, private)?.map(|_| region))
}

/// Launches with points enough for the tile.
fn large(tile: &Tile, launched: &Launched) -> Result<isl::Set> {
    let mut large = isl::Set::universe(launched.around.space()?)?;
    let alone = tile.dims.iter().all(|s| s.points > 1);
    let pairs = tile.unrolled && tile.dims.len() == 2;
    for (s, (min, max)) in tile.dims.iter().zip(&launched.bounds) {
        // Few tiles would leave many lanes without a point; along a single member one tile does.
        let of_wide = tile.dims.len() > 1 && (s.points > 1 || s.lanes > 1);
        let least = match () {
            () if tile.wide && of_wide => ALONE * s.tile(),
            () if tile.wide => continue,
            () if pairs => neighbours::ALONE,
            () if s.points <= 1 => continue,
            () if alone => ALONE * s.tile(),
            () => s.tile() / 2,
        };
        let least = isl::Val::int(large.context(), (least - 1).into())?;
        large = large.intersect(min.clone().add_constant(least)?.le_set(max.clone())?)?;
    }
    Ok(large)
}

/// Takes the launches with a condition out of `instances`, if there are any.
fn carved(instances: &mut isl::UnionSet, site: &Site, condition: isl::Set) -> Result<Option<isl::UnionSet>> {
    let own = instances.clone().intersect(at_host(site, condition)?)?.coalesce()?;
    if own.is_empty()? {
        return Ok(None);
    }
    *instances = instances.clone().subtract(own.clone())?.coalesce()?;
    Ok(Some(own))
}

/// The sites of `inside` for these shapes: the best one or two of them where sizes are known, else
/// alternatives, for the host to choose.
fn fastest_of(
    site: &Site,
    mut tiles: Vec<Tile>,
    inside: &isl::UnionSet,
    launched: &Launched,
    (cut, multiprocessors): (Option<CutAt>, u32),
) -> Result<Vec<Site>> {
    let mut out = Vec::new();
    // Sizes that change from launch to launch are those of small operand tiles; known ones need no choice at
    // run time.
    match fastest(&tiles, cut.as_ref().map(|c| c.dim), &launched.bounds, multiprocessors)? {
        _ if tiles.is_empty() => {}
        _ if !site.host.is_empty() => tiles.drain(..tiles.len().saturating_sub(1)).for_each(drop),
        Some(Fastest::One(best)) => tiles = vec![tiles.swap_remove(best)],
        Some(Fastest::Cut(at)) => {
            let member = member_map(&site.members[cut.as_ref().map_or(0, |c| c.dim)])?;
            for (tile, relation) in tiles.drain(..).rev().zip([">=", "<"]) {
                let side = format!("{{ [v] : v {relation} {at} }}");
                let side = isl::UnionSet::read(inside.context(), &side)?;
                let part = inside.clone().intersect(member.clone().intersect_range(side)?.domain()?)?;
                out.push(copy(site, part.coalesce()?, Some(tile)));
            }
        }
        None => {}
    }
    let of = tiles.len();
    for (at, tile) in tiles.into_iter().enumerate() {
        let alternative = (of > 1).then_some(Variant { choice: 0, at, of, cut: cut.clone() });
        out.push(Site { alternative, ..copy(site, inside.clone(), Some(tile)) });
    }
    Ok(out)
}

/// Where the instances may be parted between two shapes: along the outermost member that both tile, if tiles
/// of the first are whole numbers of those of the second.
fn cut_at(tiles: &[Tile], bounds: &[(isl::PwAff, isl::PwAff)]) -> Result<Option<CutAt>> {
    let [large, small] = tiles else { return Ok(None) };
    let Some(dim) = large.dims.iter().position(|d| d.points > 1) else { return Ok(None) };
    let (tile, part) = (large.dims[dim].tile(), small.dims[dim].tile());
    let (first, last) = &bounds[dim];
    // Cases would be told apart in every thread.
    if tile <= part || !tile.is_multiple_of(part) || first.n_piece()? != 1 || last.n_piece()? != 1 {
        return Ok(None);
    }
    let end = last.clone().add_constant(isl::Val::int(last.context(), 1)?)?;
    Ok(Some(CutAt { dim, tile, part, first: first.clone(), end }))
}

/// The instances in whose launch a condition `[params, _h*] -> { : ... }` holds.
fn at_host(site: &Site, condition: isl::Set) -> Result<isl::UnionSet> {
    let universe = site.domain.clone().universe()?;
    let mut inside = universe.intersect_params(condition)?;
    for (m, p) in site.host.iter().zip(site.host_params()) {
        let value = isl::UnionSet::read(inside.context(), &format!("[{p}] -> {{ [v] : v = {p} }}"))?;
        inside = inside.intersect(member_map(m)?.intersect_range(value)?.domain()?)?;
    }
    for p in site.host_params() {
        if let Some(pos) = inside.space()?.find_dim_by_name(isl::DimType::Param, &p)? {
            inside = inside.project_out(isl::DimType::Param, pos, 1)?;
        }
    }
    Ok(inside)
}

/// The tiling of a launch; `None` if some array stands against it.
pub(super) fn build(
    scop: &Scop,
    site: &Site,
    launched: &Launched,
    tile: &Tile,
    private: &[ArrayId],
) -> Result<Option<Tiling>> {
    let Launched { domain, around, bounds } = launched;
    let Some(region) = Region::new(scop, site, launched, tile)? else { return Ok(None) };
    let Some(registers) = registers(scop, domain, &region, private)? else { return Ok(None) };

    // (What the context leaves out is a condition in each thread. It leaves out lengths of rows in words.)
    let exact = domain.clone().params()?.coalesce()?;
    let mut context = match tile.unrolled && exact.n_basic_set()? == 1 {
        true => around.clone().intersect(exact)?,
        false => around.clone(),
    };
    let mut point_domain = region.uneven.as_ref().map_or(domain, |u| &u.relaxed).clone();
    let mut dims = Vec::new();
    for (d, ((min, max), s)) in bounds.iter().zip(&tile.dims).enumerate() {
        let param = Point(d).to_string();
        let v = isl::PwAff::read(&scop.ctx, &format!("[{param}] -> {{ [({param})] }}"))?;
        context = context.intersect(v.clone().ge_set(min.clone())?)?.intersect(v.le_set(max.clone())?)?;
        let at = isl::UnionSet::read(&scop.ctx, &format!("[{param}] -> {{ [v] : v = {param} }}"))?;
        point_domain =
            point_domain.intersect(member_map(&site.members[d])?.intersect_range(at)?.domain()?)?;
        dims.push(TiledDim { param, points: s.points, vector: s.vector, min: min.clone(), max: max.clone() });
    }
    for (d, s) in tile.dims.iter().enumerate() {
        let (b, v, tile) = (Block(d), Point(d), s.tile());
        let text = format!("[{b}, {v}] -> {{ : {tile} * {b} <= {v} < {tile} * {b} + {tile} }}");
        context = context.intersect(isl::Set::read(&scop.ctx, &text)?)?;
    }
    let context = context.coalesce()?;
    let mut operand_tiles = OperandTiles { scop, site, tile, region: &region, launched, list: Vec::new() };
    let (inner, copies) = operand_tiles.insert(&site.inner, domain, &mut vec![])?;
    let operand_tiles = operand_tiles.list;
    let schedule = thread_schedule(point_domain.union(copies)?, &context, inner)?;
    let host: Vec<_> = scop.params.iter().map(|p| p.name.clone()).chain(site.host_params()).collect();
    let all =
        host.iter().cloned().chain(Param::first(Block, dims.len())).chain(Param::first(Point, dims.len()));
    let all: Vec<_> = all.collect();
    let space = isl::Space::params_named(&scop.ctx, all.iter().map(|s| s.as_str()))?;
    let (mut tiles, mut guards) = (None, Vec::new());
    if let Some(u) = &region.uneven {
        let n = dims.len() as u32;
        let some = region::shadow(u.used.clone().intersect(u.tile.clone())?, 0, n)?.params()?;
        tiles = Some(affine::gist(some, context.clone().params()?)?);
        guards = u.guards.clone();
    }
    Ok(Some(Tiling {
        lanes: tile.dims.iter().map(|d| d.lanes).collect(),
        residents: tile.residents,
        stages: tile.stages,
        products: tile.products,
        helpers: tile.helpers,
        unrolled: tile.unrolled,
        slides: tile.slides,
        dims,
        member_map: region.member_map.clone(),
        schedule: schedule.align_params(space.clone())?,
        context: context.align_params(space)?,
        tiles,
        guards,
        registers,
        operand_tiles,
    }))
}
