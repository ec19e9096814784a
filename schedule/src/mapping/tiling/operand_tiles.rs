//! Shared memory: which reads of a strip of the innermost sequential loop go through buffers, and where the
//! copies run.
//!
//! A buffer holds the elements that all points of a block read in one strip: a box of constant size, for
//! references with one and the same function of point and loops.

use super::super::launch::{Launched, product};
use super::super::site::Site;
use super::super::tile::Tile;
use super::affine::{Row, functions, gist, linear};
use super::region::{Region, Uneven, hull_of_reads, is_constant, written};
use crate::mapped::{OperandTile, SharedGroup, Without};
use crate::names::{Param, Tuple};
use crate::planted::planted;
use crate::tree::{Band, Tree, member_map};
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop, StmtId};
use std::collections::BTreeMap;

const WARP: u32 = 32;
/// Statements with guards in one loop of which each may be the one that does not run: code of its own for
/// each.
const MOST_GUARDED: usize = 3;

/// Strips innermost sequential loops and puts copies in front of the strips.
pub(super) struct OperandTiles<'a> {
    pub scop: &'a Scop,
    pub site: &'a Site,
    pub tile: &'a Tile,
    pub region: &'a Region,
    pub launched: &'a Launched,
    pub list: Vec<OperandTile>,
}

/// A copy to a buffer: iterations of the loop at depth `outer` in a strip, and the tuple's name.
struct Copy {
    strip: i64,
    name: Tuple,
    outer: usize,
}

impl OperandTiles<'_> {
    /// The tree with copies, and the instances of the copies in it.
    pub fn insert(
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
                if let Some(found) = self.operand_tile(b, member, domain, path)? {
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
    fn operand_tile(
        &mut self,
        band: &Band,
        member: &isl::UnionPwAff,
        domain: &isl::UnionSet,
        path: &[isl::UnionPwAff],
    ) -> Result<Option<(Tree, isl::UnionSet)>> {
        if self.tile.strip == 0 || band.child.depth() > 0 {
            return Ok(None);
        }
        let strip = i64::from(self.tile.strip);
        let name = Tuple::Copy(self.list.len());
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
        let reads = product(maps)?.intersect_domain(domain.clone().universe()?)?.apply_range(rename)?;
        let (reads, copies, full, without) = match &self.region.uneven {
            None => {
                let reads = reads.intersect_domain(domain.clone())?;
                (reads.clone(), reads.range()?.coalesce()?, None, vec![])
            }
            Some(u) => {
                let runs = u.relaxed.clone().intersect(domain.clone().universe()?)?;
                let copies = reads.clone().intersect_domain(runs)?.range()?.coalesce()?;
                let (full, without) = self.unguarded(u, domain, &reads, &copies)?;
                (reads, copies, full, without)
            }
        };
        let inner = (*band.child).clone().under(vec![member.clone()]);
        let strip_member = extended(&start, &copies, path.len())?;
        let child = Tree::Sequence(vec![
            (copies.clone().universe()?, Tree::Leaf),
            (domain.clone().universe()?, inner),
        ]);
        let strip = self.tile.strip;
        self.list.push(OperandTile { name, reads, strip, full, without, groups });
        Ok(Some((child.under(vec![strip_member]), copies)))
    }

    /// The strips in which no guard keeps a point of the launch from an instance of `domain`; `None` if these
    /// are all. And those in which one statement with a guard does not run at all, and the rest as well as
    /// ever: where one of two statements runs, as for the elements of a symmetric matrix, a strip of the
    /// first kind is never there.
    fn unguarded(
        &self,
        u: &Uneven,
        domain: &isl::UnionSet,
        reads: &isl::UnionMap,
        copies: &isl::UnionSet,
    ) -> Result<(Option<isl::Set>, Vec<Without>)> {
        // By statement with a guard: the strips without one, and those without an instance.
        let mut guarded = Vec::new();
        for set in domain.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            let (Some(bad), Some((id, _))) = (u.bad.get(&name), self.scop.statement_named(&name)) else {
                continue;
            };
            let strips = |of: isl::UnionSet| -> Result<Option<isl::Set>> {
                let part = reads.clone().intersect_domain(of)?.range()?;
                if part.is_empty()? {
                    return Ok(None);
                }
                let part = isl::Set::from_union_set(part)?.remove_divs()?.coalesce()?;
                Ok(Some(isl::Set::universe(part.space()?)?.subtract(part)?))
            };
            let bad = isl::UnionSet::from_set(bad.clone())?;
            let of_tile = u.relaxed.clone().intersect(isl::UnionSet::from_set(set)?)?;
            guarded.push((id, strips(bad)?, strips(of_tile)?));
        }
        if guarded.is_empty() {
            return Ok((None, vec![]));
        }
        let given = isl::Set::from_union_set(copies.clone())?;
        let all = |but: Option<StmtId>| -> Result<isl::Set> {
            let mut strips = isl::Set::universe(given.space()?)?;
            for (id, whole, none) in &guarded {
                if but == Some(*id) && planted("strip-without") {
                    continue;
                }
                let own = if but == Some(*id) { none } else { whole };
                if let Some(own) = own {
                    strips = strips.intersect(own.clone())?;
                }
            }
            Ok(strips.coalesce()?)
        };
        let mut without = Vec::new();
        if (2..=MOST_GUARDED).contains(&guarded.len()) {
            for (id, ..) in &guarded {
                let strips = all(Some(*id))?;
                if !strips.clone().intersect(given.clone())?.is_empty()? {
                    without.push(Without { strips: gist(strips, given.clone())?, statements: vec![*id] });
                }
            }
        }
        Ok((Some(gist(all(None)?, given.clone())?), without))
    }

    fn groups(
        &self,
        member: &isl::UnionPwAff,
        domain: &isl::UnionSet,
        path: &[isl::UnionPwAff],
        strip: i64,
        name: Tuple,
    ) -> Result<Vec<SharedGroup>> {
        let written = written(self.scop, &self.launched.domain)?;
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
                    || array.dims() == 0
                    || !is_constant(self.scop, a.array, &written)
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
                if bytes + more <= self.tile.shared {
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
        name: Tuple,
        outer: usize,
    ) -> Result<Option<SharedGroup>> {
        let n = self.tile.dims.len();
        // Reused by several points, and another element in each iteration.
        let reused = (0..n).any(|m| self.tile.dims[m].tile() > 1 && rows.iter().all(|r| r.inputs[m] == 0));
        let moves = rows.iter().any(|r| r.inputs[n + outer] != 0);
        if !(reused || self.tile.helpers > 1) || !moves {
            return Ok(None);
        }
        let copy = Copy { strip, name, outer };
        let (mut lower, mut size, mut along, mut alone) = (vec![], vec![], vec![], vec![]);
        for r in rows {
            let Some(moving) = self.moving(r, outer) else { return Ok(None) };
            let (member, same) = moving.map_or((None, false), |(m, same)| (Some(m), same));
            if self.tile.repeats && member.is_some() && !same {
                return Ok(None);
            }
            let (first, extent) = self.first(r, &copy, member.is_some())?;
            along.push(member);
            alone.push(same);
            lower.push(first);
            size.push(u32::try_from(extent).map_err(|_| ScheduleError::Unsupported("a large buffer"))?);
        }
        if size.iter().map(|s| u64::from(*s)).product::<u64>() > u64::from(self.tile.shared) {
            return Ok(None);
        }
        let Some(bounds) = self.elements(array, &along, &alone)? else { return Ok(None) };
        // The fastest dimension of the buffer is one along which threads differ; fragments are read without
        // conflicts in either order, and copies are wider in that of the array. Where most threads only help,
        // the others add up, and what such a thread reads in iterations side by side are vectors; but lanes
        // of a whole warp read as much at a time as they can either way, and rows are copied as they are.
        let iterates = rows.iter().position(|r| r.inputs[n + outer] != 0);
        let of_lanes = |m: &Option<usize>| m.is_some_and(|m| self.tile.dims[m].tile() >= WARP);
        let fast = match along.iter().rposition(|a| a.is_some()) {
            Some(d) if self.tile.helpers > 1 && of_lanes(&along[d]) && d + 1 == size.len() => d,
            _ if self.tile.helpers > 1 => iterates.unwrap_or(size.len() - 1),
            Some(d) if !(self.tile.products && self.tile.stages > 1) => d,
            _ => size.len() - 1,
        };
        let mut order: Vec<usize> = (0..size.len()).filter(|d| *d != fast).collect();
        order.push(fast);
        // Rows start at multiples of 16 bytes; fragments of four iterations hit different banks with twice as
        // much.
        let bytes = self.scop.array(array).elem.bytes().max(1);
        let padding = if self.tile.products { 32 } else { 16_u32 };
        Ok(Some(SharedGroup {
            array,
            accesses,
            lower,
            size,
            order,
            padding: padding.div_ceil(bytes),
            along,
            bounds,
        }))
    }

    /// The member with which a subscript moves within the tile, and whether it is that member's coordinate;
    /// none if it stays. `None` where its distance to the first one in the buffer depends on more.
    ///
    /// A subscript that moves with the point within the tile keeps its distance to the first one in the
    /// buffer whatever else it depends on, if that is the same for all points and iterations that use a
    /// buffer: the window of a convolution moves as a whole.
    fn moving(&self, r: &Row, outer: usize) -> Option<Option<(usize, bool)>> {
        let n = self.tile.dims.len();
        let moving: Vec<_> = (0..n).filter(|m| r.inputs[*m] != 0 && self.tile.dims[*m].tile() > 1).collect();
        match moving.as_slice() {
            [] => Some(None),
            [m] if r.inputs[*m] == 1 && r.inputs[n + outer] == 0 => {
                // Then keeping the point in its box and keeping the subscript in its bounds is the same.
                let alone = r.params.is_empty()
                    && r.constant == 0
                    && r.inputs.iter().enumerate().all(|(i, c)| i == *m || *c == 0);
                Some(Some((*m, alone)))
            }
            _ => None,
        }
    }

    /// The first subscript in the buffer of a copy, and how many there are.
    fn first(&self, r: &Row, copy: &Copy, moves: bool) -> Result<(isl::PwAff, i64)> {
        let Copy { strip, name, outer } = *copy;
        let n = self.tile.dims.len();
        let loops: Vec<_> = (0..=outer).map(|d| format!("c{d}")).collect();
        let (mut text, mut extent) = (format!("{}", r.constant), 1);
        for (p, c) in &r.params {
            text += &format!(" + {c} * {p}");
        }
        for (m, (c, dim)) in r.inputs.iter().zip(&self.tile.dims).enumerate() {
            let tile = i64::from(dim.tile());
            text += &format!(
                " + {} * {} + {}",
                c * tile,
                Param::Block(m),
                if *c < 0 { c * (tile - 1) } else { 0 }
            );
            extent += c.abs() * (tile - 1);
        }
        for (o, c) in loops.iter().zip(&r.inputs[n..]) {
            text += &format!(" + {c} * {o}");
        }
        let c = r.inputs[n + outer];
        text += &format!(" + {}", if c < 0 { c * (strip - 1) } else { 0 });
        extent += c.abs() * (strip - 1);
        let mut params: Vec<_> = r.params.iter().map(|p| p.0.clone()).collect();
        params.extend(Param::first(Param::Block, n));
        let text = format!("[{}] -> {{ {name}[{}] -> [({text})] }}", params.join(","), loops.join(","));
        let mut first = isl::PwAff::read(&self.scop.ctx, &text)?;
        if planted("operand-tile-shift") && !moves {
            first = first.add_constant(isl::Val::int(&self.scop.ctx, 1)?)?;
        }
        if planted("operand-tile-size") && !moves {
            extent -= 1;
        }
        Ok((first, extent))
    }

    /// Least and largest subscripts of the elements that the launch reads: a box, or what is between the
    /// first and the last of them. `None` where these are no elements that may be read.
    fn elements(
        &self,
        array: ArrayId,
        along: &[Option<usize>],
        alone: &[bool],
    ) -> Result<Option<Vec<(isl::PwAff, isl::PwAff)>>> {
        let domain = &self.launched.domain;
        let read = self.scop.accesses(|_, a| a.array == array)?.intersect_domain(domain.clone())?.range()?;
        let read = isl::Set::from_union_set(read)?.coalesce()?;
        let mut bounds = Vec::new();
        for d in 0..along.len() as i32 {
            bounds.push((read.clone().dim_min(d)?.coalesce()?, read.clone().dim_max(d)?.coalesce()?));
        }
        if hull_of_reads(self.scop, domain, array)?.is_none() {
            return Ok(None);
        }
        // Subscripts that are the point's coordinate stay in the point's box.
        if self.region.uneven.is_none() {
            for (d, m) in along.iter().enumerate() {
                if let Some(m) = m.filter(|_| alone[d]) {
                    bounds[d] = self.launched.bounds[m].clone();
                }
            }
        }
        Ok(Some(bounds))
    }
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
