//! Rules for kernels whose threads compute several points side by side ([`Tiling`]).
//!
//! 1. *Points.* Every instance has one point; the points lie in the box `min .. max`, the grid's tiles cover
//!    it, and tiles without points are the only ones that leave early. Block, thread and number of a point
//!    are digits of its coordinates, so each point belongs to one thread.
//! 2. *Schedule.* At each point of the launch, what the schedule has and guards let through are the point's
//!    instances; also in the strips that run without guards. What runs at other points of the box reads
//!    elements between the first and the last one that the launch reads, or buffers, within these. (That
//!    dependences stay at one point and go forward in this schedule is rule 3 of the module above.)
//! 3. *Registers.* Every array that the kernel writes is private or in registers; a point uses one cell of a
//!    register array and no other point uses that cell; reads of it that stay in memory find elements that
//!    nothing of the launch writes. So what points outside the launch do is not seen by anyone, and the order
//!    of points does not matter. Where a tile moves all its cells at once, all its points use theirs.
//!    Alternatives (kernels of one choice) are proved each by itself, and rule 1 of the module above for
//!    every value of the choice.
//! 4. *Shared.* A buffer holds elements of an array that the launch does not write; every access that reads
//!    it finds its element inside; the copy that it reads is the last one before it; copies read only between
//!    the first and the last element that the program reads.

use super::{Checker, Rule, forget, names, params_of, restrict};
use crate::Result;
use crate::mapped::{MappedKernel, Placement, SharedGroup, Tiling};
use crate::names::Param;
use crate::names::Tuple;
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, ArrayId, StmtId};

impl Checker<'_> {
    pub(super) fn tiling(&mut self, k: &MappedKernel, t: &Tiling) -> Result<()> {
        let domain = k.domain.clone().intersect_params(self.known.clone())?;
        let beyond = self.points(k, t, &domain)?;
        self.harmless(k, t, &domain, beyond)?;
        self.registers(k, t, &domain)?;
        self.shared(k, t, &domain)
    }

    /// Rules 1 and 2; what runs at points that the launch does not have.
    fn points(&mut self, k: &MappedKernel, t: &Tiling, domain: &isl::UnionSet) -> Result<isl::UnionSet> {
        let ctx = &self.scop.ctx;
        let launched = domain.clone().params()?.coalesce()?;
        let map = t.member_map.clone().intersect_domain(domain.clone())?;
        self.report_set(Rule::Grid, &k.name, domain.clone().subtract(map.clone().domain()?)?)?;
        if !map.is_single_valued()? {
            self.report_map(Rule::Grid, &k.name, map.clone())?;
        }
        let params: Vec<_> = t.dims.iter().map(|d| d.param.clone()).collect();
        let mut inside = launched.clone();
        let mut covered = launched.clone();
        for ((d, g), b) in t.dims.iter().zip(&k.grid).zip(&k.block) {
            let v = isl::PwAff::read(ctx, &format!("[{0}] -> {{ [({0})] }}", d.param))?;
            inside =
                inside.intersect(v.clone().ge_set(d.min.clone())?)?.intersect(v.le_set(d.max.clone())?)?;
            let tile = isl::Val::int(ctx, (b.size * d.points).into())?;
            let first = g.lower.clone().scale(tile.clone())?;
            let end = g.lower.clone().add(g.count.clone())?.scale(tile)?;
            covered =
                covered.intersect(first.le_set(d.min.clone())?)?.intersect(end.gt_set(d.max.clone())?)?;
        }
        // Thread indices are digits of the linear index by lanes and warps: each combination once.
        let lanes_agree = t.lanes.len() == k.block.len()
            && t.lanes.iter().zip(&k.block).all(|(l, b)| *l > 0 && b.size % l == 0);
        let sizes_agree = lanes_agree
            && t.dims.len() == k.grid.len()
            && t.dims.len() == k.block.len()
            && t.dims.iter().all(|d| d.vector > 0 && d.points % d.vector == 0);
        if !sizes_agree {
            self.report_set(Rule::Grid, &k.name, domain.clone())?;
        }
        let outside = launched.subtract(covered)?.from_params()?;
        self.report_set(Rule::Grid, &k.name, isl::UnionSet::from_set(outside)?)?;
        // The points of instances are in the box.
        let at = isl::Set::read(ctx, &params_of(&params))?.intersect_params(inside.clone())?;
        let mut boxed = isl::UnionSet::from_set(at)?;
        for p in &params {
            if let Some(pos) = boxed.space()?.find_dim_by_name(isl::DimType::Param, p)? {
                boxed = boxed.project_out(isl::DimType::Param, pos, 1)?;
            }
        }
        let used = map.range()?;
        self.report_set(Rule::Grid, &k.name, used.clone().subtract(boxed)?)?;
        for ((d, g), b) in t.dims.iter().zip(&k.grid).zip(&k.block) {
            let (v, tile) = (&d.param, b.size * d.points);
            let text = format!("[{0}, {v}] -> {{ : {tile} * {0} <= {v} < {tile} * {0} + {tile} }}", g.param);
            inside = inside.intersect(isl::Set::read(ctx, &text)?)?;
        }
        // Points of the launch, as parameters.
        let at = isl::UnionSet::read(ctx, &params_of(&params))?;
        let of_launch = used.intersect(at)?.params()?.intersect(inside.clone())?;
        if let Some(tiles) = &t.tiles {
            let lost = of_launch.clone().subtract(tiles.clone())?.from_params()?;
            self.report_set(Rule::Grid, &k.name, isl::UnionSet::from_set(lost)?)?;
        }
        let outside = inside.clone().subtract(t.context.clone())?.from_params()?;
        self.report_set(Rule::Context, &k.name, isl::UnionSet::from_set(outside)?)?;

        let by_map = restrict(domain.clone(), &t.member_map, &params_of(&params))?;
        let by_map = by_map.intersect_params(inside.clone())?;
        let (scheduled, unguarded) = self.instances(t, &inside)?;
        self.report_set(Rule::ThreadDomain, &k.name, by_map.clone().subtract(scheduled.clone())?)?;
        let beyond = scheduled.union(unguarded)?.subtract(by_map)?;
        self.report_set(Rule::ThreadDomain, &k.name, beyond.clone().intersect_params(of_launch)?)?;
        Ok(beyond)
    }

    /// What the points of `inside` run: with guards, and in the strips that do without.
    fn instances(&self, t: &Tiling, inside: &isl::Set) -> Result<(isl::UnionSet, isl::UnionSet)> {
        let ctx = &self.scop.ctx;
        let (mut scheduled, mut unguarded) = (isl::UnionSet::empty(ctx)?, isl::UnionSet::empty(ctx)?);
        for set in t.schedule.domain()?.sets()? {
            let tuple = Tuple::of_set(&set)?;
            if t.operand_tiles.iter().any(|p| Some(p.name) == tuple) {
                continue;
            }
            let set = set.intersect_params(inside.clone())?;
            let name = set.tuple_name()?.unwrap_or_default();
            let id = self.scop.statement_named(&name).map(|(id, _)| id);
            let guard = t.guards.iter().find(|g| Some(g.statement) == id);
            let exists = match guard {
                Some(guard) => set.clone().intersect(guard.instances.clone())?,
                None => set.clone(),
            };
            let (mut exists, own) = (isl::UnionSet::from_set(exists)?, isl::UnionSet::from_set(set)?);
            for p in &t.operand_tiles {
                let runs_in = |strips: &isl::Set| -> Result<isl::UnionSet> {
                    let strips = isl::UnionSet::from_set(strips.clone())?;
                    Ok(p.reads.clone().intersect_range(strips)?.domain()?.intersect(own.clone())?)
                };
                if guard.is_some() {
                    let full = match &p.full {
                        Some(full) => runs_in(full)?,
                        None => p.reads.clone().domain()?.intersect(own.clone())?,
                    };
                    unguarded = unguarded.union(full)?;
                }
                for w in &p.without {
                    match id.is_some_and(|id| w.statements.contains(&id)) {
                        true => exists = exists.subtract(runs_in(&w.strips)?)?,
                        false if guard.is_some() => unguarded = unguarded.union(runs_in(&w.strips)?)?,
                        false => {}
                    }
                }
            }
            scheduled = scheduled.union(exists)?;
        }
        Ok((scheduled, unguarded))
    }

    /// Rule 2, what points read that the launch does not have: `[params, _h*, _b*, _v*] -> { S[i] }`.
    fn harmless(
        &mut self,
        k: &MappedKernel,
        t: &Tiling,
        domain: &isl::UnionSet,
        beyond: isl::UnionSet,
    ) -> Result<()> {
        let written = self.written(domain)?;
        for set in beyond.sets()? {
            if set.is_empty()? {
                continue;
            }
            let name = set.tuple_name()?.unwrap_or_default();
            let Some((id, s)) = self.scop.statement_named(&name) else { continue };
            for (i, a) in s.accesses.iter().enumerate() {
                if a.kind != AccessKind::Read
                    || self.mapped.placement.get(a.array.0) == Some(&Placement::Private)
                    || self.scop.array(a.array).dims() == 0
                    || written.contains(&a.array) && !t.reads_in_memory(id, i)
                {
                    continue;
                }
                let Some(subscripts) = everywhere(a)? else {
                    self.report_set(Rule::ThreadDomain, &k.name, isl::UnionSet::from_set(set.clone())?)?;
                    continue;
                };
                let read = isl::UnionMap::from_map(subscripts.intersect_domain(set.clone())?)?;
                let mut buffered = false;
                for p in &t.operand_tiles {
                    for g in p.groups.iter().filter(|g| g.accesses.contains(&(id, i))) {
                        buffered = true;
                        self.inside_buffer(k, t, &p.reads, g, &read)?;
                    }
                }
                if !buffered {
                    let between = self.between(domain, a.array)?;
                    self.report_set(Rule::ThreadDomain, &k.name, read.range()?.subtract(between)?)?;
                }
            }
        }
        Ok(())
    }

    /// The box around the elements of an array that the launch reads, if its first and last element are among
    /// them: else these elements.
    fn between(&self, domain: &isl::UnionSet, array: ArrayId) -> Result<isl::UnionSet> {
        let read = self.scop.accesses(|_, a| a.array == array && a.kind == AccessKind::Read)?;
        let read = read.intersect_domain(domain.clone())?.range()?;
        let Some(one) = read.sets()?.into_iter().next() else { return Ok(read) };
        let ends = isl::Set::from_union_set(read.clone())?;
        let mut hull = isl::Set::universe(one.space()?)?.intersect_params(ends.clone().params()?)?;
        let n = ends.dim(isl::DimType::Set)?;
        for d in 0..n {
            // { A[s] : some element that is read has the same or a smaller, and one the same or a larger
            // subscript d }
            let space = ends.space()?;
            let everything = isl::Set::universe(space.clone())?;
            let pairs = isl::Map::from_domain_and_range(ends.clone(), everything)?;
            let (place, other) = (d as i32, d as i32);
            let above = pairs.clone().order_le(isl::DimType::In, place, isl::DimType::Out, other)?.range()?;
            let below = pairs.order_le(isl::DimType::Out, other, isl::DimType::In, place)?.range()?;
            hull = hull.intersect(above)?.intersect(below)?;
        }
        let corners = hull.clone().lexmin()?.union(hull.clone().lexmax()?)?;
        let corners = corners.intersect_params(self.known.clone())?;
        Ok(if corners.is_subset(&ends)? { isl::UnionSet::from_set(hull)? } else { read })
    }

    /// The arrays that the kernel writes.
    fn written(&self, domain: &isl::UnionSet) -> Result<Vec<ArrayId>> {
        let mut out = Vec::new();
        for set in domain.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            if let Some((_, s)) = self.scop.statement_named(&name) {
                out.extend(s.accesses.iter().filter(|a| a.kind != AccessKind::Read).map(|a| a.array));
            }
        }
        out.sort();
        out.dedup();
        Ok(out)
    }

    /// Rule 3.
    fn registers(&mut self, k: &MappedKernel, t: &Tiling, domain: &isl::UnionSet) -> Result<()> {
        for id in self.written(domain)? {
            let name = self.scop.array(id).name.clone();
            let r = t.registers.iter().find(|r| r.array == id);
            let apart = |a: &Access| {
                let of =
                    |(s, i): &(StmtId, usize)| self.scop.statements.get(s.0).and_then(|s| s.accesses.get(*i));
                r.is_some_and(|r| r.apart.iter().any(|read| of(read).is_some_and(|own| std::ptr::eq(own, a))))
            };
            let in_memory = self.scop.accesses(|_, a| a.array == id && apart(a))?;
            let accesses = self.scop.accesses(|_, a| a.array == id && !apart(a))?;
            let accesses = accesses.intersect_domain(domain.clone())?;
            // What stays in memory is read, and nothing of the launch stores to it.
            let written = self.scop.accesses(|_, a| a.array == id && a.kind != AccessKind::Read)?;
            let written = written.intersect_domain(domain.clone())?.range()?;
            let in_memory = in_memory.intersect_domain(domain.clone())?.intersect_range(written)?;
            self.report_map(Rule::Register, &name, in_memory)?;
            let cells = t.member_map.clone().reverse()?.apply_range(accesses)?;
            if self.mapped.placement.get(id.0) == Some(&Placement::Private) {
                // The cell of a point is enough if it is the cell of a thread's one value at a time: rule 4
                // above, at one point.
                if !cells.is_injective()? {
                    self.report_map(Rule::Private, &name, cells)?;
                }
                continue;
            }
            let Some(r) = r else {
                self.report_map(Rule::Register, &name, cells)?;
                continue;
            };
            if !cells.is_single_valued()? || !cells.is_injective()? {
                self.report_map(Rule::Register, &name, cells.clone())?;
            }
            let given = isl::UnionMap::from_map(r.cell.clone())?;
            let launched = domain.clone().params()?;
            let given = given.intersect_params(launched)?;
            self.report_map(Rule::Register, &name, given.clone().subtract(cells.clone())?)?;
            self.report_map(Rule::Register, &name, cells.subtract(given)?)?;
            // All points of the box in these tiles.
            let Some(full) = &r.full else {
                if t.tiles.is_some() {
                    self.report_set(Rule::Register, &k.name, domain.clone())?;
                }
                continue;
            };
            let params: Vec<_> = t.dims.iter().map(|d| d.param.clone()).collect();
            let used = r.cell.clone().domain()?;
            let at = isl::UnionSet::read(&self.scop.ctx, &params_of(&params))?;
            let owns = isl::UnionSet::from_set(used.clone())?.intersect(at)?.params()?;
            let launched = used.params()?.intersect(domain.clone().params()?)?;
            let wanted = t.context.clone().intersect(full.clone())?.intersect(launched)?;
            let lost = wanted.subtract(owns)?.from_params()?;
            self.report_set(Rule::Register, &k.name, isl::UnionSet::from_set(lost)?)?;
        }
        Ok(())
    }

    /// Rule 4.
    fn shared(&mut self, k: &MappedKernel, t: &Tiling, domain: &isl::UnionSet) -> Result<()> {
        let ctx = &self.scop.ctx;
        let written = self.written(domain)?;
        // { S[i] -> S[i] } with the tile of the instance in _b*.
        let v = names("x", t.dims.len());
        let within: Vec<_> = (t.dims.iter().zip(&k.grid).zip(&k.block).zip(&v))
            .map(|(((d, g), b), v)| {
                let tile = b.size * d.points;
                format!("{tile} * {0} <= {v} < {tile} * {0} + {tile}", g.param)
            })
            .collect();
        let blocks: Vec<_> = k.grid.iter().map(|g| g.param.clone()).collect();
        let tile = format!("[{}] -> {{ [{}] : {} }}", blocks.join(","), v.join(","), within.join(" and "));
        let tiled = restrict(domain.clone(), &t.member_map, &tile)?;
        let order = self.copies(k, t)?;
        for p in &t.operand_tiles {
            let reads = p.reads.clone().intersect_domain(domain.clone())?;
            if !reads.is_single_valued()? {
                self.report_map(Rule::Shared, &k.name, reads.clone())?;
            }
            let (before, between) = &order;
            let copied = reads.clone().reverse()?;
            self.report_map(Rule::Shared, &k.name, copied.clone().subtract(before.clone())?)?;
            self.report_map(Rule::Shared, &k.name, copied.intersect(between.clone())?)?;
            for g in &p.groups {
                if written.contains(&g.array)
                    || self.mapped.placement.get(g.array.0) == Some(&Placement::Private)
                    || g.lower.len() != g.size.len()
                    || g.bounds.len() != g.size.len()
                {
                    self.report_set(Rule::Shared, &k.name, domain.clone())?;
                    continue;
                }
                for (s, a) in &g.accesses {
                    let s = &self.scop.statements[s.0];
                    let Some(a) =
                        s.accesses.get(*a).filter(|a| a.array == g.array && a.kind == AccessKind::Read)
                    else {
                        self.report_set(Rule::Shared, &k.name, domain.clone())?;
                        continue;
                    };
                    let own = isl::UnionSet::from_set(s.domain.clone())?.intersect(tiled.clone())?;
                    let access =
                        isl::UnionMap::from_map(a.relation.clone())?.intersect_domain(own.clone())?;
                    self.report_set(Rule::Shared, &k.name, own.subtract(reads.clone().domain()?)?)?;
                    self.inside_buffer(k, t, &reads, g, &access)?;
                }
                // Copies read between what the program reads.
                let params = Param::first(Param::Subscript, g.bounds.len());
                let mut inside = domain.clone().params()?;
                for (p, (min, max)) in params.iter().zip(&g.bounds) {
                    let x = isl::PwAff::read(ctx, &format!("[{p}] -> {{ [({p})] }}"))?;
                    inside = inside
                        .intersect(x.clone().ge_set(min.clone())?)?
                        .intersect(x.le_set(max.clone())?)?;
                }
                let at = isl::Set::read(ctx, &params_of(&params))?
                    .set_tuple_name(&self.scop.array(g.array).name)?
                    .intersect_params(inside)?;
                let read = self.between(domain, g.array)?;
                // Where the strip runs at all.
                let runs = p.reads.clone().intersect_domain(domain.clone())?.params()?;
                let wild = isl::UnionSet::from_set(at)?.intersect_params(runs)?.subtract(read)?;
                self.report_set(Rule::Shared, &k.name, wild)?;
            }
        }
        Ok(())
    }

    /// That accesses `{ S[i] -> A[s] }` of the instances of a tile find their elements in a buffer.
    fn inside_buffer(
        &mut self,
        k: &MappedKernel,
        t: &Tiling,
        reads: &isl::UnionMap,
        g: &SharedGroup,
        access: &isl::UnionMap,
    ) -> Result<()> {
        let ctx = &self.scop.ctx;
        let v = names("x", t.dims.len());
        for (d, lower) in g.lower.iter().enumerate() {
            let dims = names("s", g.size.len());
            let name = &self.scop.array(g.array).name;
            let only = format!("{{ {name}[{}] -> [s{d}] }}", dims.join(","));
            let at = access.clone().apply_range(isl::UnionMap::read(ctx, &only)?)?;
            let low = isl::UnionMap::from_map(isl::Map::from_pw_aff(lower.clone())?)?;
            let low = reads.clone().apply_range(low)?;
            let points = self.everywhere_at(t, access)?;
            let triple = at.flat_range_product(low)?.flat_range_product(points)?;
            // The subscript is inside the buffer, or as far from the buffer's start as the point is from that
            // of its tile.
            let text = match g.along[d] {
                Some(m) => {
                    let tile = k.block[m].size * t.dims[m].points;
                    if g.size[d] < tile {
                        self.report_set(Rule::Shared, &k.name, k.domain.clone())?;
                    }
                    format!(
                        "[{0}] -> {{ [s, l, {1}] : s - l = {2} - {tile} * {0} }}",
                        k.grid[m].param,
                        v.join(","),
                        v[m]
                    )
                }
                None => {
                    format!("{{ [s, l, {}] : l <= s < l + {} }}", v.join(","), g.size[d])
                }
            };
            let inside = isl::UnionSet::read(ctx, &text)?;
            let outside = triple.range()?.subtract(inside)?;
            let outside = outside.intersect_params(self.known.clone())?;
            self.report_set(Rule::Shared, &k.name, outside)?;
        }
        Ok(())
    }

    /// The points of instances that may not be the launch's: the tiling's map where it is defined, else the
    /// point of the parameters.
    fn everywhere_at(&self, t: &Tiling, access: &isl::UnionMap) -> Result<isl::UnionMap> {
        let instances = access.clone().domain()?;
        let known = t.member_map.clone();
        if instances.is_subset(&known.clone().domain()?)? {
            return Ok(known);
        }
        let params: Vec<_> = t.dims.iter().map(|d| d.param.clone()).collect();
        let at = isl::UnionSet::read(&self.scop.ctx, &params_of(&params))?;
        Ok(instances.product_map(at)?)
    }

    /// `{ copy -> S }` where the copy runs earlier, and where yet another copy runs between.
    fn copies(&self, k: &MappedKernel, t: &Tiling) -> Result<(isl::UnionMap, isl::UnionMap)> {
        let params = t.dims.iter().map(|d| &d.param).chain(k.grid.iter().map(|g| &g.param));
        let params: Vec<_> = params.cloned().collect();
        // In the tile of the point: a tile has copies of its own.
        let time = t.schedule.map()?.intersect_domain(t.schedule.domain()?)?;
        let time = time.intersect_params(t.context.clone())?;
        let mut copies = isl::UnionSet::empty(&self.scop.ctx)?;
        for set in t.schedule.domain()?.sets()? {
            let tuple = Tuple::of_set(&set)?;
            if t.operand_tiles.iter().any(|p| Some(p.name) == tuple) {
                copies = copies.add_set(set)?;
            }
        }
        let copied = time.clone().intersect_domain(copies.clone())?;
        let rest = time.clone().subtract_domain(copies)?;
        let before = copied.clone().lex_lt(rest)?;
        let between = copied.clone().lex_lt(copied)?.apply_range(before.clone())?;
        Ok((forget(before, &params)?, forget(between, &params)?))
    }
}

/// The subscripts of an access as one affine function without divisions, on all instances:
/// `{ S[i] -> A[s] }`.
fn everywhere(a: &Access) -> Result<Option<isl::Map>> {
    let f = isl::PwMultiAff::from_map(a.relation.clone())?.coalesce()?;
    // Of instances with an equality, code may compute a subscript from one or the other iterator.
    let free = f.clone().domain()?.affine_hull()?;
    for c in free.constraints()? {
        if c.involves_dims(isl::DimType::Set, 0, free.dim(isl::DimType::Set)?)? {
            return Ok(None);
        }
    }
    let mut out: Option<isl::Map> = None;
    for d in 0..f.dim(isl::DimType::Out)? as i32 {
        let p = f.at(d)?.coalesce()?;
        let pieces = p.pieces()?;
        let [(_, one)] = pieces.as_slice() else { return Ok(None) };
        if one.dim(isl::DimType::Div)? > 0 {
            return Ok(None);
        }
        let one = isl::Map::from_aff(one.clone())?;
        out = Some(match out {
            Some(all) => all.flat_range_product(one)?,
            None => one,
        });
    }
    let Some(out) = out else { return Ok(None) };
    match a.relation.tuple_name(isl::DimType::Out)? {
        Some(name) => Ok(Some(out.set_tuple_name(isl::DimType::Out, &name)?)),
        None => Ok(None),
    }
}
