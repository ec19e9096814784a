//! Register tiling and shared memory: which kernels compute several points a thread, and how.
//!
//! A kernel qualifies if
//! 1. two of its members have *reuse*: some read beneath a sequential loop does not depend on the one, another one not on the other;
//! 2. its points are a box, and the loops beneath are the same at every point;
//! 3. every array that it writes is private, or each point owns one cell of it and no other point uses that cell.
//!
//! Then the loops beneath run once for all points of a thread (members are coincident, so no dependence joins two points), the cells of (3)
//! live in registers, and reads of arrays that the launch does not write go through shared memory where a strip of the innermost sequential
//! loop touches a box of constant size (reference groups after Verdoolaege et al., "Polyhedral parallel code generation for
//! CUDA", TACO 2013, section 5; here a group is the references with one and the same function).
//!
//! Small problems would waste such tiles: the launch is split by a condition on the sizes, `K0` for boxes of at least half a tile
//! along each tiled member (four tiles if no other member is parallel), a plain kernel for the others. One of the two is launched.
//!
//! # Example
//! `C[i,j] += A[i,k] * B[k,j]` with 16 × 16 threads of 8 × 8 points and strips of 8: register `C[i,j]`, buffers of 128 × 8 elements of
//! A, fastest along `i`, and of 8 × 128 elements of B.

use super::kernel::{launch_domain, product, thread_schedule, values};
use super::{Host, MapOptions, Site};
use crate::mapped::{Panel, RegisterCell, SharedGroup, TiledDim, Tiling};
use crate::tree::{Band, Tree, member_map};
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop, StmtId};
use std::collections::BTreeMap;

/// Sizes of register tiles, outer tiled dimension first, then x.
#[derive(Clone, Debug)]
pub struct TilingOptions {
    /// Threads along the two tiled dimensions.
    pub threads: [u32; 2],
    /// Points of a thread along them, for elements of at most four bytes and for larger ones.
    pub points: [[u32; 2]; 2],
    /// Iterations of the sequential loop whose operands are in shared memory at a time; 0: no shared memory.
    pub strip: u32,
}

impl Default for TilingOptions {
    /// Accumulators, operands and addresses have to fit 128 registers, so that two blocks of 256 threads share a multiprocessor:
    /// 64 + 16 registers for four bytes, 64 + 24 for eight. Best of those measured on an H200, gemm at 4096: 35 TFLOP/s (4 × 8: 26,
    /// 8 × 16: 31) and 18 TFLOP/s (4 × 4: 13, 8 × 8: 16).
    fn default() -> Self {
        TilingOptions { threads: [16, 16], points: [[8, 8], [8, 4]], strip: 8 }
    }
}

/// How one member is tiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub threads: u32,
    pub points: u32,
    pub vector: u32,
}

impl Shape {
    /// Tile, threads and consecutive points.
    pub fn sizes(self) -> (u32, u32, u32) {
        (self.threads * self.points, self.threads, self.vector)
    }
}

/// Tiles along each dimension that a launch of two dimensions needs: sixteen blocks of tiles do what the plain kernel does with all
/// multiprocessors (measured on an H200: 0.26 TFLOP/s a block, 5.7 TFLOP/s in all, gemm fp32).
const ALONE: u32 = 4;
/// Shared memory of a panel in bytes: what every device has, for several blocks at once.
const SHARED_BYTES: u32 = 24 * 1024;
/// A kernel with more unrolled instances is not tiled: compile time.
const MAX_INSTANCES: usize = 256;

/// Marks the sites that are tiled, each split by the size of its box.
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
        Host::Launch(k) => match split(scop, known, options, private, &sites[k])? {
            None => Host::Launch(k),
            Some((large, small)) => {
                sites[k] = large;
                if small.domain.is_empty()? {
                    return Ok(Host::Launch(k));
                }
                sites.push(Site { name: format!("K{}", sites.len()), ..small });
                Host::Sequence(vec![Host::Launch(k), Host::Launch(sites.len() - 1)])
            }
        },
    })
}

/// The tiled site for large boxes and the plain one for others; `None` if tiling does not pay or is not possible.
fn split(
    scop: &Scop,
    known: &isl::Set,
    options: &MapOptions,
    private: &[ArrayId],
    site: &Site,
) -> Result<Option<(Site, Site)>> {
    let Some(shape) = shape(scop, options, site)? else { return Ok(None) };
    let domain = launch_domain(site)?;
    let around = domain.clone().params()?.intersect(known.clone())?;
    let mut bounds = Vec::new();
    for m in &site.members {
        let v = values(&domain, m)?;
        bounds.push((v.clone().dim_min(0)?.coalesce()?, v.dim_max(0)?.coalesce()?));
    }
    let Some(region) = Region::new(scop, site, &domain, &around, &bounds)? else { return Ok(None) };
    if registers(scop, &domain, &region, private)?.is_none() {
        return Ok(None);
    }
    let mut large = isl::Set::universe(around.space()?)?;
    let alone = shape.iter().all(|s| s.points > 1);
    for (s, (min, max)) in shape.iter().zip(&bounds) {
        if s.points > 1 {
            let tile = s.threads * s.points;
            let least = if alone { ALONE * tile } else { tile / 2 };
            let least = isl::Val::int(&scop.ctx, (least - 1).into())?;
            large = large.intersect(min.clone().add_constant(least)?.le_set(max.clone())?)?;
        }
    }
    let large = at_host(site, large)?;
    let inside = site.domain.clone().intersect(large.clone())?.coalesce()?;
    let outside = site.domain.clone().subtract(large)?.coalesce()?;
    if inside.is_empty()? {
        return Ok(None);
    }
    let copy = |domain, shape| Site {
        name: site.name.clone(),
        host: site.host.clone(),
        members: site.members.clone(),
        inner: site.inner.clone(),
        domain,
        shape,
    };
    Ok(Some((copy(inside, Some(shape)), copy(outside, None))))
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

/// A leaf of a kernel's inner tree: the instances that reach it and the sequential members above it.
struct Leaf {
    domain: isl::UnionSet,
    path: Vec<isl::UnionPwAff>,
}

fn leaves(
    tree: &Tree,
    domain: &isl::UnionSet,
    path: &mut Vec<isl::UnionPwAff>,
    out: &mut Vec<Leaf>,
) -> Result<()> {
    match tree {
        Tree::Leaf => out.push(Leaf { domain: domain.clone(), path: path.clone() }),
        Tree::Mark(_, c) => leaves(c, domain, path, out)?,
        Tree::Band(b) => {
            path.extend(b.members.iter().cloned());
            leaves(&b.child, domain, path, out)?;
            path.truncate(path.len() - b.members.len());
        }
        Tree::Sequence(children) => {
            for (filter, child) in children {
                leaves(child, &domain.clone().intersect(filter.clone())?, path, out)?;
            }
        }
    }
    Ok(())
}

/// The two members with reuse, x last, and the sizes for all; `None` if there are none.
fn shape(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Vec<Shape>>> {
    let Some(sizes) = &options.tiling else { return Ok(None) };
    if site.members.len() < 2 {
        return Ok(None);
    }
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    // For each member, the reads that do not depend on it.
    let mut reuse: Vec<Vec<usize>> = vec![Vec::new(); site.members.len()];
    let (mut reads, mut bytes, mut statements) = (0, 4, 0);
    for leaf in &found {
        for set in leaf.domain.sets()? {
            if set.is_empty()? {
                continue;
            }
            statements += 1;
            let name = set.tuple_name()?.unwrap_or_default();
            let Some((_, s)) = scop.statement_named(&name) else { return Ok(None) };
            // The points of a thread advance together; control flow on data would keep them apart.
            if s.subregion.is_some() {
                return Ok(None);
            }
            let Some(point) = functions(&site.members, &set)? else { return Ok(None) };
            for a in &s.accesses {
                let array = scop.array(a.array);
                bytes = bytes.max(array.elem.bytes());
                if a.kind != AccessKind::Read
                    || !array.is_memory()
                    || leaf.path.is_empty()
                    || array.dims() == 0
                {
                    continue;
                }
                let Some(at) = functions(&leaf.path, &set)? else { return Ok(None) };
                let time = point.clone().flat_range_product(at)?;
                let Some(f) = linear(&time, &a.relation)? else { continue };
                for (m, list) in reuse.iter_mut().enumerate() {
                    if f.iter().all(|row| row.inputs[m] == 0) {
                        list.push(reads);
                    }
                }
                reads += 1;
            }
        }
    }
    let x = site.members.len() - 1;
    let along = |m: usize| reuse[m].iter().any(|r| !reuse[x].contains(r));
    let Some(y) = (0..x).rev().find(|m| along(*m)) else { return Ok(None) };
    if !reuse[x].iter().any(|r| !reuse[y].contains(r)) {
        return Ok(None);
    }
    let points = sizes.points[usize::from(bytes > 4)];
    if (points[0] * points[1]) as usize * statements > MAX_INSTANCES {
        return Ok(None);
    }
    let vector = |points: u32| {
        [4, 2, 1].into_iter().find(|v| points.is_multiple_of(*v) && v * bytes <= 16).unwrap_or(1)
    };
    Ok(Some(
        (0..site.members.len())
            .map(|m| match m {
                m if m == y => {
                    Shape { threads: sizes.threads[0], points: points[0], vector: vector(points[0]) }
                }
                m if m == x => {
                    Shape { threads: sizes.threads[1], points: points[1], vector: vector(points[1]) }
                }
                _ => Shape { threads: 1, points: 1, vector: 1 },
            })
            .collect(),
    ))
}

/// `{ S[i] -> [m0, m1, ...] }` on the instances `set`; `None` without members.
fn functions(members: &[isl::UnionPwAff], set: &isl::Set) -> Result<Option<isl::Map>> {
    let maps = members.iter().map(member_map).collect::<Result<Vec<_>>>()?;
    if maps.is_empty() {
        return Ok(None);
    }
    let all = product(maps)?.intersect_domain(isl::UnionSet::from_set(set.clone())?)?;
    Ok(if all.isa_map()? { Some(isl::Map::from_union_map(all)?) } else { None })
}

/// An affine function with integer coefficients.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    inputs: Vec<i64>,
    params: Vec<(String, i64)>,
    constant: i64,
}

/// The subscripts of an access as functions of `time: { S[i] -> [v, o, k] }`, which must be injective; `None` if they are not affine.
fn linear(time: &isl::Map, access: &isl::Map) -> Result<Option<Vec<Row>>> {
    if !time.is_injective()? {
        return Ok(None);
    }
    let map = time.clone().reverse()?.apply_range(access.clone())?;
    if !map.is_single_valued()? {
        return Ok(None);
    }
    let f = isl::PwMultiAff::from_map(map)?.coalesce()?;
    let mut rows = Vec::new();
    for d in 0..f.dim(isl::DimType::Out)? as i32 {
        let p = f.at(d)?.coalesce()?;
        if p.n_piece()? != 1 {
            return Ok(None);
        }
        let a = p.clone().gist(p.domain()?)?;
        let pieces = a.pieces()?;
        let Some((_, a)) = pieces.first() else { return Ok(None) };
        if a.denominator()?.to_i64() != Some(1) {
            return Ok(None);
        }
        let of = |ty: isl::DimType| -> Result<Option<Vec<i64>>> {
            let n = a.dim(ty)? as i32;
            (0..n).map(|i| Ok(a.coefficient(ty, i)?.to_i64())).collect::<Result<Option<Vec<_>>>>()
        };
        let (Some(inputs), Some(params), Some(divs)) =
            (of(isl::DimType::In)?, of(isl::DimType::Param)?, of(isl::DimType::Div)?)
        else {
            return Ok(None);
        };
        let Some(constant) = a.constant()?.to_i64() else { return Ok(None) };
        if divs.iter().any(|c| *c != 0) {
            return Ok(None);
        }
        let space = a.domain_space()?;
        let mut named = Vec::new();
        for (i, c) in params.into_iter().enumerate() {
            if c != 0 {
                named.push((space.dim_name(isl::DimType::Param, i as u32)?.unwrap_or_default(), c));
            }
        }
        named.sort();
        rows.push(Row { inputs, params: named, constant });
    }
    Ok(Some(rows))
}

/// The box of points of a launch, proved to be one, with loops that are the same at all its points.
struct Region {
    /// `[params, _h*] -> { [v] }`
    points: isl::Set,
    /// `[params, _h*] -> { S[i] -> [v] }`
    member_map: isl::UnionMap,
}

impl Region {
    fn new(
        scop: &Scop,
        site: &Site,
        domain: &isl::UnionSet,
        around: &isl::Set,
        bounds: &[(isl::PwAff, isl::PwAff)],
    ) -> Result<Option<Region>> {
        let maps = site.members.iter().map(member_map).collect::<Result<Vec<_>>>()?;
        let member_map = product(maps)?.intersect_domain(domain.clone())?;
        let points = box_of(&scop.ctx, bounds)?.intersect_params(around.clone())?.coalesce()?;
        let mut found = Vec::new();
        leaves(&site.inner, domain, &mut vec![], &mut found)?;
        for leaf in &found {
            for set in leaf.domain.sets()? {
                if set.is_empty()? {
                    continue;
                }
                let Some(point) = functions(&site.members, &set)? else { return Ok(None) };
                // Every point runs the same iterations, if any runs one.
                let runs = set.clone().params()?;
                let all = points.clone().intersect_params(runs)?;
                let (executed, expected, time) = match functions(&leaf.path, &set)? {
                    Some(at) => {
                        let executed = point.clone().reverse()?.apply_range(at.clone())?;
                        let expected = all.product_map(at.clone().range()?)?;
                        (executed.wrap()?, expected.wrap()?, point.flat_range_product(at)?)
                    }
                    None => (point.clone().range()?, all, point),
                };
                if !time.is_injective()? || !executed.is_equal(&expected)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(Region { points, member_map }))
    }
}

/// The tiling of a launch; `None` if some array stands against it.
#[allow(clippy::too_many_arguments)]
pub(super) fn build(
    scop: &Scop,
    site: &Site,
    domain: &isl::UnionSet,
    around: &isl::Set,
    shape: &[Shape],
    bounds: &[(isl::PwAff, isl::PwAff)],
    options: &MapOptions,
    private: &[ArrayId],
) -> Result<Option<Tiling>> {
    let Some(region) = Region::new(scop, site, domain, around, bounds)? else { return Ok(None) };
    let Some(registers) = registers(scop, domain, &region, private)? else { return Ok(None) };

    let mut context = around.clone();
    let mut point_domain = domain.clone();
    let mut dims = Vec::new();
    for (d, ((min, max), s)) in bounds.iter().zip(shape).enumerate() {
        let param = format!("_v{d}");
        let v = isl::PwAff::read(&scop.ctx, &format!("[{param}] -> {{ [({param})] }}"))?;
        context = context.intersect(v.clone().ge_set(min.clone())?)?.intersect(v.le_set(max.clone())?)?;
        let at = isl::UnionSet::read(&scop.ctx, &format!("[{param}] -> {{ [v] : v = {param} }}"))?;
        point_domain =
            point_domain.intersect(member_map(&site.members[d])?.intersect_range(at)?.domain()?)?;
        dims.push(TiledDim { param, points: s.points, vector: s.vector, min: min.clone(), max: max.clone() });
    }
    let context = context.coalesce()?;
    let mut panels = Panels { scop, site, shape, region: &region, options, domain, bounds, list: Vec::new() };
    let (inner, copies) = panels.insert(&site.inner, domain, &mut vec![])?;
    let panels = panels.list;
    let schedule = thread_schedule(point_domain.union(copies)?, &context, inner)?;
    let names = |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let host: Vec<_> = scop.params.iter().map(|p| p.name.clone()).chain(site.host_params()).collect();
    let all: Vec<_> = host.iter().cloned().chain(names("_v", dims.len())).collect();
    let space = isl::Space::params_named(&scop.ctx, all.iter().map(|s| s.as_str()))?;
    Ok(Some(Tiling {
        dims,
        member_map: region.member_map.clone(),
        schedule: schedule.align_params(space.clone())?,
        context: context.align_params(space)?,
        registers,
        panels,
    }))
}

/// The cells of the points in the arrays that the kernel writes; `None` if one of these has no such cells and is not private.
fn registers(
    scop: &Scop,
    domain: &isl::UnionSet,
    region: &Region,
    private: &[ArrayId],
) -> Result<Option<Vec<RegisterCell>>> {
    let mut out = Vec::new();
    for id in written(scop, domain)?.into_iter().filter(|id| !private.contains(id)) {
        let accesses = scop.accesses(|_, a| a.array == id)?.intersect_domain(domain.clone())?;
        let cells = region.member_map.clone().reverse()?.apply_range(accesses)?;
        if !cells.isa_map()? {
            return Ok(None);
        }
        let cell = isl::Map::from_union_map(cells)?.coalesce()?;
        if !cell.is_single_valued()? || !cell.is_injective()? {
            return Ok(None);
        }
        // The same condition for all points, so that it is tested once.
        let used = cell.clone().domain()?;
        let all = region.points.clone().intersect_params(used.clone().params()?)?;
        if !used.is_equal(&all)? {
            return Ok(None);
        }
        out.push(RegisterCell { array: id, cell });
    }
    Ok(Some(out))
}

/// The arrays that instances of `domain` write.
fn written(scop: &Scop, domain: &isl::UnionSet) -> Result<Vec<ArrayId>> {
    let mut out = Vec::new();
    for set in domain.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else { continue };
        out.extend(s.accesses.iter().filter(|a| a.kind != AccessKind::Read).map(|a| a.array));
    }
    out.sort();
    out.dedup();
    Ok(out)
}

/// Strips innermost sequential loops and puts copies in front of the strips.
struct Panels<'a> {
    scop: &'a Scop,
    site: &'a Site,
    shape: &'a [Shape],
    region: &'a Region,
    options: &'a MapOptions,
    domain: &'a isl::UnionSet,
    bounds: &'a [(isl::PwAff, isl::PwAff)],
    list: Vec<Panel>,
}

impl Panels<'_> {
    /// The tree with copies, and the instances of the copies in it.
    fn insert(
        &mut self,
        tree: &Tree,
        domain: &isl::UnionSet,
        path: &mut Vec<isl::UnionPwAff>,
    ) -> Result<(Tree, isl::UnionSet)> {
        let none = isl::UnionSet::empty(&self.scop.ctx)?;
        Ok(match tree {
            Tree::Leaf => (Tree::Leaf, none),
            Tree::Mark(_, child) => self.insert(child, domain, path)?,
            Tree::Band(b) if b.members.len() > 1 => {
                let mut child = (*b.child).clone();
                for m in b.members.iter().rev() {
                    child = child.under(vec![m.clone()]);
                }
                self.insert(&child, domain, path)?
            }
            Tree::Band(b) => {
                let [member] = b.members.as_slice() else {
                    return Err(ScheduleError::Unsupported("a band without members"));
                };
                if let Some(found) = self.panel(b, member, domain, path)? {
                    return Ok(found);
                }
                path.push(member.clone());
                let (child, copies) = self.insert(&b.child, domain, path)?;
                path.pop();
                (child.under(vec![extended(member, &copies, path.len())?]), copies)
            }
            Tree::Sequence(children) => {
                let (mut out, mut all) = (Vec::new(), none);
                for (filter, child) in children {
                    let inside = domain.clone().intersect(filter.clone())?;
                    let (child, copies) = self.insert(child, &inside, path)?;
                    out.push((filter.clone().union(copies.clone().universe()?)?, child));
                    all = all.union(copies)?;
                }
                (Tree::Sequence(out), all)
            }
        })
    }

    /// The strips of the loop `member` above leaves, if something is worth a copy.
    fn panel(
        &mut self,
        band: &Band,
        member: &isl::UnionPwAff,
        domain: &isl::UnionSet,
        path: &[isl::UnionPwAff],
    ) -> Result<Option<(Tree, isl::UnionSet)>> {
        let Some(sizes) = &self.options.tiling else { return Ok(None) };
        if sizes.strip == 0 || band.child.depth() > 0 {
            return Ok(None);
        }
        let strip = i64::from(sizes.strip);
        let name = format!("_copy{}", self.list.len());
        let name = name.as_str();
        let groups = self.groups(member, domain, path, strip, name)?;
        if groups.is_empty() {
            return Ok(None);
        }
        let val = |v: i64| isl::Val::int(&self.scop.ctx, v);
        let start = member.clone().scale_down(val(strip)?)?.floor()?.scale(val(strip)?)?;
        let members: Vec<_> = path.iter().cloned().chain([start.clone()]).collect();
        let maps = members.iter().map(member_map).collect::<Result<Vec<_>>>()?;
        let dims: Vec<_> = (0..members.len()).map(|d| format!("c{d}")).collect();
        let tuple = dims.join(",");
        let rename = isl::UnionMap::read(&self.scop.ctx, &format!("{{ [{tuple}] -> {name}[{tuple}] }}"))?;
        let reads = product(maps)?.intersect_domain(domain.clone())?.apply_range(rename)?;
        let copies = reads.clone().range()?.coalesce()?;
        let inner = (*band.child).clone().under(vec![member.clone()]);
        let strip_member = extended(&start, &copies, path.len())?;
        let child = Tree::Sequence(vec![
            (copies.clone().universe()?, Tree::Leaf),
            (domain.clone().universe()?, inner),
        ]);
        self.list.push(Panel { name: name.to_string(), reads, strip: sizes.strip, groups });
        Ok(Some((child.under(vec![strip_member]), copies)))
    }

    fn groups(
        &self,
        member: &isl::UnionPwAff,
        domain: &isl::UnionSet,
        path: &[isl::UnionPwAff],
        strip: i64,
        name: &str,
    ) -> Result<Vec<SharedGroup>> {
        let written = written(self.scop, self.domain)?;
        /// An array, its subscripts, and the accesses with them.
        type Found = (ArrayId, Vec<Row>, Vec<(StmtId, usize)>);
        let mut found: Vec<Found> = Vec::new();
        for set in domain.sets()? {
            let Some((id, s)) = self.scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else {
                continue;
            };
            let members: Vec<_> = self.site.members.iter().chain(path).chain([member]).cloned().collect();
            let Some(time) = functions(&members, &set)? else { continue };
            for (i, a) in s.accesses.iter().enumerate() {
                let array = self.scop.array(a.array);
                if a.kind != AccessKind::Read
                    || !array.is_memory()
                    || array.dims() == 0
                    || written.contains(&a.array)
                {
                    continue;
                }
                let Some(rows) = linear(&time, &a.relation)? else { continue };
                match found.iter_mut().find(|f| f.0 == a.array && f.1 == rows) {
                    Some(f) => f.2.push((id, i)),
                    None => found.push((a.array, rows, vec![(id, i)])),
                }
            }
        }
        let mut out = Vec::new();
        let mut bytes = 0;
        for (array, rows, accesses) in found {
            if let Some(g) = self.group(array, &rows, accesses, strip, name, path.len())? {
                let more = g.elements() * self.scop.array(array).elem.bytes();
                if bytes + more <= SHARED_BYTES {
                    bytes += more;
                    out.push(g);
                }
            }
        }
        Ok(out)
    }

    /// The buffer of references with the subscripts `rows` of (v, o, k).
    fn group(
        &self,
        array: ArrayId,
        rows: &[Row],
        accesses: Vec<(StmtId, usize)>,
        strip: i64,
        name: &str,
        outer: usize,
    ) -> Result<Option<SharedGroup>> {
        let n = self.shape.len();
        let tiles: Vec<i64> = self.shape.iter().map(|s| i64::from(s.threads * s.points)).collect();
        // Reused by several points, and another element in each iteration.
        let reused = (0..n).any(|m| tiles[m] > 1 && rows.iter().all(|r| r.inputs[m] == 0));
        let moves = rows.iter().any(|r| r.inputs[n + outer] != 0);
        if !reused || !moves {
            return Ok(None);
        }
        let copy: Vec<_> = (0..=outer).map(|d| format!("c{d}")).collect();
        let blocks: Vec<_> = (0..n).map(|d| format!("_b{d}")).collect();
        let (mut lower, mut size) = (Vec::new(), Vec::new());
        let mut along = vec![None; rows.len()];
        for (d, r) in rows.iter().enumerate() {
            let (mut text, mut extent) = (format!("{}", r.constant), 1);
            for (p, c) in &r.params {
                text += &format!(" + {c} * {p}");
            }
            for (m, (c, tile)) in r.inputs.iter().zip(&tiles[..n]).enumerate() {
                text += &format!(" + {} * _b{m} + {}", c * tile, if *c < 0 { c * (tile - 1) } else { 0 });
                extent += c.abs() * (tile - 1);
            }
            for (o, c) in copy.iter().zip(&r.inputs[n..]) {
                text += &format!(" + {c} * {o}");
            }
            let c = r.inputs[n + outer];
            text += &format!(" + {}", if c < 0 { c * (strip - 1) } else { 0 });
            extent += c.abs() * (strip - 1);
            // A subscript that moves with the point has to follow it alone: then keeping the point in its box and keeping the subscript
            // in its bounds is the same.
            let moving: Vec<_> = (0..n).filter(|m| r.inputs[*m] != 0 && tiles[*m] > 1).collect();
            match moving.as_slice() {
                [] => {}
                [m] if r.inputs[*m] == 1
                    && r.params.is_empty()
                    && r.constant == 0
                    && r.inputs.iter().enumerate().all(|(i, c)| i == *m || *c == 0) =>
                {
                    along[d] = Some(*m);
                }
                _ => return Ok(None),
            }
            let mut params: Vec<_> = r.params.iter().map(|p| p.0.clone()).collect();
            params.extend(blocks.iter().cloned());
            let text = format!("[{}] -> {{ {name}[{}] -> [({text})] }}", params.join(","), copy.join(","));
            lower.push(isl::PwAff::read(&self.scop.ctx, &text)?);
            size.push(u32::try_from(extent).map_err(|_| ScheduleError::Unsupported("a large buffer"))?);
        }
        if size.iter().map(|s| u64::from(*s)).product::<u64>() > u64::from(SHARED_BYTES) {
            return Ok(None);
        }
        // The elements of the launch: a box.
        let read =
            self.scop.accesses(|_, a| a.array == array)?.intersect_domain(self.domain.clone())?.range()?;
        let read = isl::Set::from_union_set(read)?.coalesce()?;
        let mut bounds = Vec::new();
        for d in 0..size.len() as i32 {
            bounds.push((read.clone().dim_min(d)?.coalesce()?, read.clone().dim_max(d)?.coalesce()?));
        }
        let hull = box_of(&self.scop.ctx, &bounds)?.set_tuple_name(&self.scop.array(array).name)?;
        // Subscripts that follow the point stay in the point's box.
        for (d, m) in along.iter().enumerate() {
            if let Some(m) = m {
                bounds[d] = self.bounds[*m].clone();
            }
        }
        let around = self.region.points.clone().params()?.intersect(read.clone().params()?)?;
        if !hull.intersect_params(around.clone())?.is_equal(&read.intersect_params(around)?)? {
            return Ok(None);
        }
        // The fastest dimension of the buffer is one along which threads differ.
        let fast = along.iter().rposition(|a| a.is_some()).unwrap_or(size.len() - 1);
        let mut order: Vec<usize> = (0..size.len()).filter(|d| *d != fast).collect();
        order.push(fast);
        let bytes = self.scop.array(array).elem.bytes().max(1);
        Ok(Some(SharedGroup {
            array,
            accesses,
            lower,
            size,
            order,
            padding: 16_u32.div_ceil(bytes),
            along,
            bounds,
        }))
    }
}

/// `{ [x0, x1, ...] : min <= x <= max }` for bounds that are functions of the parameters.
fn box_of(ctx: &isl::Context, bounds: &[(isl::PwAff, isl::PwAff)]) -> Result<isl::Set> {
    let names = |prefix: &str| (0..bounds.len()).map(|d| format!("{prefix}{d}")).collect::<Vec<_>>();
    let (params, dims) = (names("_x"), names("x"));
    let equal: Vec<_> = params.iter().zip(&dims).map(|(p, d)| format!("{d} = {p}")).collect();
    let text = format!("[{}] -> {{ [{}] : {} }}", params.join(","), dims.join(","), equal.join(" and "));
    let mut out = isl::Set::read(ctx, &text)?;
    for (p, (min, max)) in params.iter().zip(bounds) {
        let x = isl::PwAff::read(ctx, &format!("[{p}] -> {{ [({p})] }}"))?;
        out = out.intersect_params(x.clone().ge_set(min.clone())?.intersect(x.le_set(max.clone())?)?)?;
    }
    for p in &params {
        if let Some(pos) = out.space()?.find_dim_by_name(isl::DimType::Param, p)? {
            out = out.project_out(isl::DimType::Param, pos, 1)?;
        }
    }
    Ok(out)
}

/// A member that is also defined on copies, whose coordinate `at` it is.
fn extended(member: &isl::UnionPwAff, copies: &isl::UnionSet, at: usize) -> Result<isl::UnionPwAff> {
    let mut out = member.clone();
    let mut names = BTreeMap::new();
    for set in copies.sets()? {
        names.insert(set.tuple_name()?.unwrap_or_default(), set.dim(isl::DimType::Set)?);
    }
    for (name, n) in names {
        let dims: Vec<_> = (0..n).map(|d| format!("c{d}")).collect();
        let text = format!("{{ {name}[{}] -> [(c{at})] }}", dims.join(","));
        out = out.union_add(isl::UnionPwAff::read(member.context(), &text)?)?;
    }
    Ok(out)
}
