//! Rules for kernels whose threads compute several points side by side ([`Tiling`]).
//!
//! 1. *Points.* Every instance has one point; the points are the box `min .. max`, and the grid's tiles cover it. Block, thread and
//!    number of a point are digits of its coordinates, so each point belongs to one thread.
//! 2. *Schedule.* At each point it has exactly the point's instances. (That dependences stay at one point and go forward in this
//!    schedule is rule 3 of the module above.)
//! 3. *Registers.* Every array that the kernel writes is private or in registers; a point uses one cell of a register array and
//!    no other point uses that cell. So what points outside the box do is not seen by anyone, and the order of points does not matter.
//!    Alternatives (kernels of one choice) are proved each by itself, and rule 1 of the module above for every value of the choice.
//! 4. *Shared.* A buffer holds elements of an array that the launch does not write; every access that reads it finds its element inside;
//!    the copy that it reads is the last one before it; copies read only elements that the program reads.

use super::{Checker, Rule, forget, names, params_of, restrict};
use crate::Result;
use crate::mapped::{MappedKernel, Placement, Tiling};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId};

impl Checker<'_> {
    pub(super) fn tiling(&mut self, k: &MappedKernel, t: &Tiling) -> Result<()> {
        let domain = k.domain.clone().intersect_params(self.known.clone())?;
        self.points(k, t, &domain)?;
        self.registers(k, t, &domain)?;
        self.shared(k, t, &domain)
    }

    /// Rules 1 and 2.
    fn points(&mut self, k: &MappedKernel, t: &Tiling, domain: &isl::UnionSet) -> Result<()> {
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
        // The box and the points of instances: each in the other.
        let at = isl::Set::read(ctx, &params_of(&params))?.intersect_params(inside.clone())?;
        let mut boxed = isl::UnionSet::from_set(at)?;
        for p in &params {
            if let Some(pos) = boxed.space()?.find_dim_by_name(isl::DimType::Param, p)? {
                boxed = boxed.project_out(isl::DimType::Param, pos, 1)?;
            }
        }
        let used = map.range()?;
        self.report_set(Rule::Grid, &k.name, used.clone().subtract(boxed.clone())?)?;
        self.report_set(Rule::Grid, &k.name, boxed.subtract(used)?)?;
        let outside = inside.clone().subtract(t.context.clone())?.from_params()?;
        self.report_set(Rule::Context, &k.name, isl::UnionSet::from_set(outside)?)?;

        let by_map = restrict(domain.clone(), &t.member_map, &params_of(&params))?;
        let mut scheduled = isl::UnionSet::empty(ctx)?;
        for set in t.schedule.domain()?.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            if !t.panels.iter().any(|p| p.name == name) {
                scheduled = scheduled.add_set(set.intersect_params(inside.clone())?)?;
            }
        }
        self.report_set(Rule::ThreadDomain, &k.name, scheduled.clone().subtract(by_map.clone())?)?;
        self.report_set(Rule::ThreadDomain, &k.name, by_map.subtract(scheduled)?)
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
            let accesses = self.scop.accesses(|_, a| a.array == id)?.intersect_domain(domain.clone())?;
            let cells = t.member_map.clone().reverse()?.apply_range(accesses)?;
            if self.mapped.placement.get(id.0) == Some(&Placement::Private) {
                // The cell of a point is enough if it is the cell of a thread's one value at a time: rule 4 above, at one point.
                if !cells.is_injective()? {
                    self.report_map(Rule::Private, &name, cells)?;
                }
                continue;
            }
            let Some(r) = t.registers.iter().find(|r| r.array == id) else {
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
        }
        let _ = k;
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
        let order = self.copies(t)?;
        for p in &t.panels {
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
                    for (d, lower) in g.lower.iter().enumerate() {
                        let dims = names("s", g.size.len());
                        let name = &self.scop.array(g.array).name;
                        let only = format!("{{ {name}[{}] -> [s{d}] }}", dims.join(","));
                        let at = access.clone().apply_range(isl::UnionMap::read(ctx, &only)?)?;
                        let low = isl::UnionMap::from_map(isl::Map::from_pw_aff(lower.clone())?)?;
                        let low = reads.clone().apply_range(low)?;
                        let triple = at.flat_range_product(low)?.flat_range_product(t.member_map.clone())?;
                        // The subscript is inside the buffer, or it is the point's coordinate and the buffer starts with the tile.
                        let text = match g.along[d] {
                            Some(m) => {
                                let tile = k.block[m].size * t.dims[m].points;
                                if g.size[d] < tile {
                                    self.report_set(Rule::Shared, &k.name, domain.clone())?;
                                }
                                format!(
                                    "[{0}] -> {{ [s, l, {1}] : s = {2} and l = {tile} * {0} }}",
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
                }
                // Copies read what the program reads.
                let params = names("_x", g.bounds.len());
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
                let read = self.scop.accesses(|_, a| a.array == g.array)?.intersect_domain(domain.clone())?;
                // Where the strip runs at all.
                let runs = p.reads.clone().intersect_domain(domain.clone())?.params()?;
                let wild = isl::UnionSet::from_set(at)?.intersect_params(runs)?.subtract(read.range()?)?;
                self.report_set(Rule::Shared, &k.name, wild)?;
            }
        }
        Ok(())
    }

    /// `{ copy -> S }` where the copy runs earlier, and where yet another copy runs between.
    fn copies(&self, t: &Tiling) -> Result<(isl::UnionMap, isl::UnionMap)> {
        let params: Vec<_> = t.dims.iter().map(|d| d.param.clone()).collect();
        let time = t.schedule.map()?.intersect_domain(t.schedule.domain()?)?;
        let mut copies = isl::UnionSet::empty(&self.scop.ctx)?;
        for set in t.schedule.domain()?.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            if t.panels.iter().any(|p| p.name == name) {
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
