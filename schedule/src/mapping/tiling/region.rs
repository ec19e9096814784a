//! What makes a kernel fit for tiles: its points, loops that are the same at all points of a tile, and what
//! it writes lives in registers.
//!
//! Where the points are a box and run the same iterations, the instances of a point are what the schedule
//! has. Else the schedule has more: in a tile `b`, every point of the box around the launch's points runs the
//! iterations that some point of the tile runs, and *guards* say which instances exist. A guard is left out
//! where all that it would keep out belongs to points that the launch does not have: these compute in
//! registers that nobody stores.
//!
//! # Example
//! `for i { for j <= i { for k < m: C[i,j] += A[i,k] * A[j,k] } }`: points `j <= i`, all with the iterations
//! `0 <= k < m`, no guard. `for i, j { for k > i: B[i,j] += A[k,i] * B0[k,j] }`: in tile `b` the loop runs
//! from `128 b`, with the guard `k > i`.

use super::super::launch::{Launched, product};
use super::super::site::Site;
use super::super::tile::Tile;
use super::affine::{Row, box_of, functions, gist, linear};
use crate::Result;
use crate::mapped::{Guard, RegisterCell};
use crate::names::Param;
use crate::names::names;
use crate::tree::{Tree, member_map};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, ArrayId, Scop, Statement, StmtId};
use std::collections::BTreeMap;

/// A leaf of a kernel's inner tree: the instances that reach it and the sequential members above it.
pub(super) struct Leaf {
    pub domain: isl::UnionSet,
    pub path: Vec<isl::UnionPwAff>,
}

pub(super) fn leaves(
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

/// The points of a launch and what they run.
pub(super) struct Region {
    /// The box around the points: `[params, _h*] -> { [v] }`
    pub points: isl::Set,
    /// `[params, _h*] -> { S[i] -> [v] }`
    pub member_map: isl::UnionMap,
    /// What differs between points.
    pub uneven: Option<Uneven>,
}

/// A launch whose points are no box, or run different iterations.
pub(super) struct Uneven {
    /// `[params, _h*] -> { [v] }`: the points that the launch has.
    pub used: isl::Set,
    /// `[params, _h*, _b*] -> { [v] }`: the points of the box in a tile.
    pub tile: isl::Set,
    /// `[params, _h*, _b*] -> { S[i] }`: what the points of the box in a tile run, guards apart.
    pub relaxed: isl::UnionSet,
    /// The instances of `relaxed` that must not run, by statement.
    pub bad: BTreeMap<String, isl::Set>,
    pub guards: Vec<Guard>,
}

/// A statement in its leaf.
struct Run<'a> {
    statement: &'a Statement,
    set: isl::Set,
    /// `{ [v] -> S[i] }` reversed, and `{ S[i] -> [v, t] }` everywhere.
    time: isl::Map,
    depth: usize,
    /// Of the loops around, outermost first: the same number for the same loop.
    loops: Vec<usize>,
}

impl Region {
    pub fn new(scop: &Scop, site: &Site, launched: &Launched, tile: &Tile) -> Result<Option<Region>> {
        let Launched { domain, around, bounds } = launched;
        let maps = site.members.iter().map(member_map).collect::<Result<Vec<_>>>()?;
        let member_map = product(maps)?.intersect_domain(domain.clone())?;
        let points = box_of(&scop.ctx, bounds)?.intersect_params(around.clone())?.coalesce()?;
        let mut found = Vec::new();
        leaves(&site.inner, domain, &mut vec![], &mut found)?;
        let mut even = true;
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
                if !time.is_injective()? {
                    return Ok(None);
                }
                even &= executed.is_equal(&expected)?;
            }
        }
        let mut region = Region { points, member_map, uneven: None };
        if !even {
            let Some(uneven) = Uneven::new(scop, site, domain, &region, tile)? else { return Ok(None) };
            region.uneven = Some(uneven);
        }
        Ok(Some(region))
    }
}

/// `[_b*] -> { [v] : tile _b <= v < tile (_b + 1) }`
fn in_tile(ctx: &isl::Context, tile: &Tile) -> Result<isl::Set> {
    let n = tile.dims.len();
    let within: Vec<_> = (tile.dims.iter().enumerate())
        .map(|(d, s)| format!("{0} * {1} <= v{d} < {0} * {1} + {0}", s.tile(), Param::Block(d)))
        .collect();
    let text = format!(
        "[{}] -> {{ [{}] : {} }}",
        Param::first(Param::Block, n).join(","),
        names("v", n).join(","),
        within.join(" and ")
    );
    Ok(isl::Set::read(ctx, &text)?)
}

/// `set` without its first dimensions, as a shadow without divisions.
pub(super) fn shadow(set: isl::Set, first: u32, n: u32) -> Result<isl::Set> {
    Ok(set.project_out(isl::DimType::Set, first, n)?.remove_divs()?.coalesce()?)
}

impl Uneven {
    fn new(
        scop: &Scop,
        site: &Site,
        domain: &isl::UnionSet,
        region: &Region,
        tile: &Tile,
    ) -> Result<Option<Uneven>> {
        let ctx = &scop.ctx;
        let n = site.members.len();
        let Some(list) = runs(scop, site, domain)? else { return Ok(None) };
        let used = isl::Set::from_union_set(region.member_map.clone().range()?)?.coalesce()?;
        let boxed = region.points.clone().intersect(in_tile(ctx, tile)?)?;
        // The iterations of a tile, and the hull of those of all statements in one loop.
        let mut times = Vec::new();
        let mut hulls: BTreeMap<usize, isl::Set> = BTreeMap::new();
        let mut tiles: BTreeMap<usize, isl::Set> = BTreeMap::new();
        for r in &list {
            let exact = r.time.clone().intersect_domain(r.set.clone())?.range()?;
            let deep = in_tile(ctx, tile)?.add_dims(isl::DimType::Set, r.depth as u32)?;
            let of_tile = shadow(exact.clone().intersect(deep)?, 0, n as u32)?;
            for (d, l) in r.loops.iter().enumerate() {
                let outer = d as u32 + 1;
                let part = shadow(of_tile.clone(), outer, r.depth as u32 - outer)?;
                let all = match hulls.remove(l) {
                    Some(all) => all.union(part)?,
                    None => part,
                };
                hulls.insert(*l, all);
            }
            // Statements of one loop run in the same tiles: a condition on the tile would be inside of the
            // loop.
            if let Some(l) = r.loops.last() {
                let own = of_tile.clone().params()?;
                let all = match tiles.remove(l) {
                    Some(all) => own.union(all)?.coalesce()?,
                    None => own,
                };
                tiles.insert(*l, all);
            }
            times.push((exact, of_tile));
        }
        for (l, hull) in &mut hulls {
            let outermost = list.iter().any(|r| r.loops.first() == Some(l));
            let Some(simple) = hull_of(hull.clone(), if outermost { tile.strip } else { 0 })? else {
                return Ok(None);
            };
            *hull = simple;
        }
        let mut relaxed = isl::UnionSet::empty(ctx)?;
        let (mut bad, mut guards) = (BTreeMap::new(), Vec::new());
        for (r, (executed, of_tile)) in list.iter().zip(times) {
            let depth = r.depth as u32;
            if depth > 0 && narrow(&executed, n, tile)? {
                return Ok(None);
            }
            let own = r.loops.last().and_then(|l| tiles.get(l)).cloned();
            let own = own.map_or_else(|| of_tile.params(), Ok)?;
            let mut t = own.from_params()?.add_dims(isl::DimType::Set, depth)?;
            if depth == 0 {
                // Where some point of the launch is in the tile.
                t = shadow(used.clone().intersect(boxed.clone())?, 0, n as u32)?;
                let own = r.set.clone().params()?.remove_divs()?;
                t = t.intersect_params(own)?;
            }
            for (d, l) in r.loops.iter().enumerate() {
                let inner = depth - d as u32 - 1;
                t = t.intersect(hulls[l].clone().add_dims(isl::DimType::Set, inner)?)?;
            }
            let point = boxed.clone().flat_product(t)?.reset_tuple_id()?;
            let all = point.clone().apply(r.time.clone().reverse()?)?.coalesce()?;
            // What runs beyond the instances that exist.
            let extra = all.clone().subtract(r.set.clone())?;
            let own = used.clone().add_dims(isl::DimType::Set, depth)?;
            let own = own.apply(r.time.clone().reverse()?)?;
            let harmful =
                if harmless(scop, domain, r, &extra)? { extra.clone().intersect(own)? } else { extra };
            if !harmful.is_empty()? {
                let Some((id, _)) = scop.statement_named(&r.statement.name) else { return Ok(None) };
                guards.push(Guard { statement: id, instances: gist(r.set.clone(), all.clone())? });
                bad.insert(r.statement.name.clone(), harmful);
            }
            relaxed = relaxed.add_set(all)?;
        }
        Ok(Some(Uneven { used, tile: boxed, relaxed, bad, guards }))
    }
}

/// The statements with loops and points that are affine everywhere; `None` if some are not, or in several
/// places of the tree.
fn runs<'a>(scop: &'a Scop, site: &Site, domain: &isl::UnionSet) -> Result<Option<Vec<Run<'a>>>> {
    let mut out = Vec::new();
    let mut numbered = Numbered { next: 0, out: Vec::new() };
    numbered.walk(&site.inner, domain, &mut vec![])?;
    let mut names = Vec::new();
    for (leaf, path) in numbered.out {
        for set in leaf.sets()? {
            if set.is_empty()? {
                continue;
            }
            let name = set.tuple_name()?.unwrap_or_default();
            let Some((_, statement)) = scop.statement_named(&name) else { return Ok(None) };
            if names.contains(&name) {
                return Ok(None);
            }
            names.push(name);
            let universe = isl::Set::universe(set.space()?)?;
            let members: Vec<_> = site.members.iter().chain(path.iter().map(|p| &p.1)).cloned().collect();
            let Some(time) = functions(&members, &universe)? else { return Ok(None) };
            // Everywhere, and onto: then an instance beyond the domain is one iteration of one point.
            let onto =
                time.clone().range()?.is_equal(&isl::Set::universe(time.clone().range()?.space()?)?)?;
            if !time.clone().domain()?.is_equal(&universe)? || !time.is_injective()? || !onto {
                return Ok(None);
            }
            let loops: Vec<_> = path.iter().map(|p| p.0).collect();
            out.push(Run { statement, set, time, depth: loops.len(), loops });
        }
    }
    Ok(Some(out))
}

/// Leaves with numbers for the loops above them.
struct Numbered {
    next: usize,
    out: Vec<(isl::UnionSet, Vec<(usize, isl::UnionPwAff)>)>,
}

impl Numbered {
    fn walk(
        &mut self,
        tree: &Tree,
        domain: &isl::UnionSet,
        path: &mut Vec<(usize, isl::UnionPwAff)>,
    ) -> Result<()> {
        match tree {
            Tree::Leaf => self.out.push((domain.clone(), path.clone())),
            Tree::Mark(_, c) => self.walk(c, domain, path)?,
            Tree::Band(b) => {
                for m in &b.members {
                    path.push((self.next, m.clone()));
                    self.next += 1;
                }
                self.walk(&b.child, domain, path)?;
                path.truncate(path.len() - b.members.len());
            }
            Tree::Sequence(children) => {
                for (filter, child) in children {
                    self.walk(child, &domain.clone().intersect(filter.clone())?, path)?;
                }
            }
        }
        Ok(())
    }
}

/// One polyhedron without divisions around the iterations of a tile, whose last dimension is bounded; an
/// outermost loop starts at a multiple of the strip where its first iteration moves by multiples of strips,
/// so that whole strips do.
fn hull_of(set: isl::Set, strip: u32) -> Result<Option<isl::Set>> {
    let simple = |s: isl::Set| -> Result<isl::Set> {
        let s = s.remove_divs()?.coalesce()?;
        Ok(if s.n_basic_set()? > 1 { isl::Set::from_basic_set(s.simple_hull()?)? } else { s })
    };
    let mut hull = simple(set)?;
    let last = hull.dim(isl::DimType::Set)? - 1;
    if !hull.dim_is_bounded(isl::DimType::Set, last)? {
        return Ok(None);
    }
    if last == 0 && strip > 1 {
        let strip = isl::Val::int(hull.context(), strip.into())?;
        let first = hull.clone().dim_min(0)?.coalesce()?;
        let start = first.clone().scale_down(strip.clone())?.floor()?.scale(strip)?.coalesce()?;
        let mut plain = true;
        for (_, f) in start.pieces()? {
            plain &= f.dim(isl::DimType::Div)? == 0;
        }
        if plain {
            let end = hull.clone().dim_max(0)?.coalesce()?;
            let wide = box_of(hull.context(), &[(start, end)])?.intersect_params(hull.clone().params()?)?;
            let wide = wide.coalesce()?;
            if wide.n_basic_set()? == 1 {
                hull = wide;
            }
        }
    }
    Ok(Some(hull))
}

/// Whether the points of a tile run few iterations each, but different ones: `{ [v, t] }` with a span that no
/// parameter lets grow.
fn narrow(executed: &isl::Set, n: usize, tile: &Tile) -> Result<bool> {
    let depth = executed.dim(isl::DimType::Set)? - n as u32;
    let v: Vec<_> = (0..n).map(|d| format!("v{d}")).collect();
    let t: Vec<_> = (0..depth).map(|d| format!("t{d}")).collect();
    let text = format!("{{ [{0},{1}] -> [{0}] }}", v.join(","), t.join(","));
    let point = isl::Map::read(executed.context(), &text)?;
    let last = format!("{{ [{},{}] -> [t{}] }}", v.join(","), t.join(","), depth - 1);
    let last = isl::Map::read(executed.context(), &last)?;
    let point = point.intersect_domain(executed.clone())?;
    let span = point.reverse()?.apply_range(last)?;
    let span = span.clone().reverse()?.apply_range(span)?.deltas()?.project_out_all_params()?;
    let space = isl::LocalSpace::from_space(span.space()?)?;
    let most = span.max_val(&isl::Aff::var_on_domain(space, isl::DimType::Set, 0)?)?.to_i64();
    let tiles = tile.dims.iter().map(|s| i64::from(s.tile())).max().unwrap_or(1);
    Ok(most.is_some_and(|m| m < 2 * tiles))
}

/// Whether what the instances `extra`, which do not exist, read is memory of the device: elements between two
/// that the launch reads, in arrays that it does not write.
fn harmless(scop: &Scop, domain: &isl::UnionSet, r: &Run<'_>, extra: &isl::Set) -> Result<bool> {
    if extra.is_empty()? {
        return Ok(true);
    }
    let written = written(scop, domain)?;
    let universe = isl::Set::universe(r.set.space()?)?;
    let identity = universe.identity()?.reset_tuple_id(isl::DimType::Out)?;
    for a in r.statement.accesses.iter().filter(|a| a.kind == AccessKind::Read) {
        let array = scop.array(a.array);
        if array.dims() == 0 || !is_constant(scop, a.array, &written) {
            continue;
        }
        let Some(rows) = linear(&identity.clone().intersect_domain(r.set.clone())?, &a.relation)? else {
            return Ok(false);
        };
        let Some(hull) = hull_of_reads(scop, domain, a.array)? else { return Ok(false) };
        let at = extra.clone().reset_tuple_id()?.apply(rows_map(scop, &rows)?)?;
        if !at.is_subset(&hull.reset_tuple_id()?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `{ [i] -> [s] }` of subscripts.
fn rows_map(scop: &Scop, rows: &[Row]) -> Result<isl::Map> {
    let n = rows.first().map_or(0, |r| r.inputs.len());
    let mut params: Vec<String> = rows.iter().flat_map(|r| r.params.iter().map(|p| p.0.clone())).collect();
    params.sort();
    params.dedup();
    let dims: Vec<_> = (0..n).map(|d| format!("x{d}")).collect();
    let mut out = Vec::new();
    for r in rows {
        let mut text = format!("{}", r.constant);
        for (c, d) in r.inputs.iter().zip(&dims) {
            text += &format!(" + {c} * {d}");
        }
        for (p, c) in &r.params {
            text += &format!(" + {c} * {p}");
        }
        out.push(text);
    }
    let text = format!("[{}] -> {{ [{}] -> [{}] }}", params.join(","), dims.join(","), out.join(","));
    Ok(isl::Map::read(&scop.ctx, &text)?)
}

/// The box around the elements of an array that the launch reads, if its first and its last element are read:
/// then all of it lies between the two in memory.
pub(super) fn hull_of_reads(scop: &Scop, domain: &isl::UnionSet, array: ArrayId) -> Result<Option<isl::Set>> {
    let read = scop.accesses(|_, a| a.array == array && a.kind == AccessKind::Read)?;
    let read = isl::Set::from_union_set(read.intersect_domain(domain.clone())?.range()?)?.coalesce()?;
    let mut bounds = Vec::new();
    for d in 0..read.dim(isl::DimType::Set)? as i32 {
        bounds.push((read.clone().dim_min(d)?.coalesce()?, read.clone().dim_max(d)?.coalesce()?));
    }
    let hull = box_of(&scop.ctx, &bounds)?.set_tuple_name(&scop.array(array).name)?;
    let around = read.clone().params()?;
    let hull = hull.intersect_params(around)?;
    let whole = hull.clone().lexmin()?.is_subset(&read)? && hull.clone().lexmax()?.is_subset(&read)?;
    Ok(whole.then_some(hull))
}

/// The cells of the points in the arrays that the kernel writes; `None` if one of these has no such cells and
/// is not private.
pub(super) fn registers(
    scop: &Scop,
    domain: &isl::UnionSet,
    region: &Region,
    private: &[ArrayId],
) -> Result<Option<Vec<RegisterCell>>> {
    let mut out = Vec::new();
    for id in written(scop, domain)?.into_iter().filter(|id| !private.contains(id)) {
        let cells = |accesses: isl::UnionMap| -> Result<Option<isl::Map>> {
            let accesses = accesses.intersect_domain(domain.clone())?;
            let cells = region.member_map.clone().reverse()?.apply_range(accesses)?;
            if !cells.isa_map()? {
                return Ok(None);
            }
            let cell = isl::Map::from_union_map(cells)?.coalesce()?;
            Ok((cell.is_single_valued()? && cell.is_injective()?).then_some(cell))
        };
        let (mut cell, mut apart) = (cells(scop.accesses(|_, a| a.array == id)?)?, Vec::new());
        if cell.is_none() && region.uneven.is_none() {
            apart = reads_apart(scop, domain, id)?;
            let is_apart = |a: &Access| {
                let same = |(s, i): &(StmtId, usize)| std::ptr::eq(a, &scop.statements[s.0].accesses[*i]);
                apart.iter().any(same)
            };
            cell = cells(scop.accesses(|_, a| a.array == id && !is_apart(a))?)?;
        }
        let Some(cell) = cell else { return Ok(None) };
        // The tiles all of whose points use their cells.
        let used = cell.clone().domain()?;
        let all = region.points.clone().intersect_params(used.clone().params()?)?;
        let full = match &region.uneven {
            None if used.is_equal(&all)? => None,
            None => return Ok(None),
            Some(u) => {
                let n = u.tile.dim(isl::DimType::Set)?;
                let without = u.tile.clone().intersect(all)?.subtract(used)?;
                let without = shadow(without, 0, n)?.params()?;
                let given = u.tile.clone().params()?.intersect(cell.clone().domain()?.params()?)?;
                Some(gist(isl::Set::universe(without.space()?)?.subtract(without)?, given)?)
            }
        };
        out.push(RegisterCell { array: id, cell, full, apart });
    }
    Ok(Some(out))
}

/// The reads of an array whose elements no instance of the launch writes.
fn reads_apart(scop: &Scop, domain: &isl::UnionSet, id: ArrayId) -> Result<Vec<(StmtId, usize)>> {
    let written = scop.accesses(|_, a| a.array == id && a.kind != AccessKind::Read)?;
    let written = written.intersect_domain(domain.clone())?.range()?;
    let mut out = Vec::new();
    for (n, s) in scop.statements.iter().enumerate() {
        for (i, a) in s.accesses.iter().enumerate() {
            if a.array != id || a.kind != AccessKind::Read {
                continue;
            }
            let read = scop
                .accesses(|_, other| std::ptr::eq(a, other))?
                .intersect_domain(domain.clone())?
                .range()?;
            if read.intersect(written.clone())?.is_empty()? {
                out.push((StmtId(n), i));
            }
        }
    }
    Ok(out)
}

/// Whether what is read of an array is in the device's memory, where a launch that writes `written` does not
/// change it: the program's arrays, and what another launch hands on in memory of the library
/// ([`super::super::placement`]: no such array is private).
pub(super) fn is_constant(scop: &Scop, array: ArrayId, written: &[ArrayId]) -> bool {
    let writes = |s: &pollyrs_scop::Statement| {
        s.accesses.iter().any(|a| a.array == array && a.kind != AccessKind::Read)
    };
    !written.contains(&array) && (scop.array(array).is_memory() || scop.statements.iter().any(writes))
}

/// The arrays that instances of `domain` write.
pub(super) fn written(scop: &Scop, domain: &isl::UnionSet) -> Result<Vec<ArrayId>> {
    let mut out = Vec::new();
    for set in domain.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else { continue };
        out.extend(s.accesses.iter().filter(|a| a.kind != AccessKind::Read).map(|a| a.array));
    }
    out.sort();
    out.dedup();
    Ok(out)
}
