//! Rules for what tasks keep in shared memory, and for their updates ([`crate::task`]). With `b` a tile and
//! `I(b)` its instances outside of updates:
//!
//! 1. *Homes.* All that a block writes is in the boxes of its homes, and the boxes of tiles have no element
//!    in common: no other block writes there. What is copied to a home are the elements in it that instances
//!    of the block read from before the launch; what is stored are those that the block writes.
//! 2. *Stages.* What `I(b)` reads of the array beside its home is what is copied, inside of the box. Where
//!    the kernel writes the array, the copies come with the step of these reads, behind its waits
//!    ([`super::graph`]) and the barrier there.
//! 3. *Updates.* In each step the instances are `points × times`, all of one update. What one of them depends
//!    on in the same step of the block is an earlier one of its point. It reads its point's element, and
//!    elements that are beside the home of their array, if that has one; all those are known by time and one
//!    coordinate, of which points have all values between the first and the last.
//!
//! 4. *Steps.* An update is in the step of its instances, a stage is filled in one ahead of those that read
//!    it, both behind the waits of the step's first coordinate. What is beneath the mark of an update are its
//!    instances, and no other.
//!
//! That what a step reads from other blocks was written before is asked of its waits, with all instances
//! taken to run at once behind them.

use super::{Checker, Rule, names, params_of};
use crate::Result;
use crate::mapped::MappedKernel;
use crate::names::Param::Step;
use crate::names::Tuple::{self, Fill};
use crate::names::{Mark, is_statement};
use crate::task::{Home, TaskMemory, TileBox, Update};
use crate::tree::{ScheduleTree, Tree};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId};

impl Checker<'_> {
    /// All three rules for kernel `i`.
    pub(super) fn task(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let Some(task) = k.task() else { return Ok(()) };
        let none = task.homes.is_empty() && task.stages.is_empty() && task.updates.is_empty();
        if none && task.carried.is_empty() {
            return Ok(());
        }
        let started = self.started(k, self.launched(k)?)?;
        let blocks = self.blocks(k, &started)?;
        // Homes for all or none, and no stage or update without them.
        let here = self.here(k)?.intersect_params(blocks.clone())?;
        for id in (0..self.scop.arrays.len()).map(ArrayId).filter(|id| self.scop.array(*id).is_memory()) {
            let written = here.clone().apply(self.touched(id, false)?)?;
            let mut boxes = task.homes.iter().filter(|h| h.at.array == id);
            let Some(home) = boxes.next() else {
                self.report_set(Rule::Home, &k.name, written)?;
                continue;
            };
            if boxes.next().is_some() {
                self.report_set(Rule::Home, &k.name, written.clone())?;
            }
            self.home(k, &here, &blocks, home, written)?;
        }
        for s in &self.scop.statements {
            let own = isl::UnionSet::from_set(k.domain.extract_set(s.domain.space()?)?)?;
            let sure = s.accesses.iter().all(|a| a.kind != AccessKind::MayWrite);
            if !s.is_plain() || !s.updates.is_empty() || !sure {
                self.report_set(Rule::Home, &k.name, own)?;
            }
        }
        self.marks(k)?;
        let mut rest = here.clone();
        for u in &task.updates {
            self.report_set(
                Rule::Update,
                &u.tuple().to_string(),
                u.instances.clone().subtract(k.domain.clone())?,
            )?;
            let own = u.instances.clone().intersect_params(blocks.clone())?;
            self.report_set(
                Rule::Update,
                &u.tuple().to_string(),
                own.intersect(here.clone())?.subtract(rest.clone())?,
            )?;
            rest = rest.subtract(u.instances.clone())?;
            self.update(i, u, &here, &blocks)?;
        }
        let mut single = rest.clone();
        for c in &task.carried {
            let (name, own) = (c.tuple().to_string(), c.instances.clone());
            self.report_set(Rule::Carried, &name, own.clone().subtract(k.domain.clone())?)?;
            let twice = own.clone().intersect(here.clone())?.subtract(single.clone())?;
            self.report_set(Rule::Carried, &name, twice)?;
            single = single.subtract(own)?;
            self.carried(i, c, &here, &blocks)?;
        }
        self.stages_of_task((k, task), &rest, &blocks)
    }

    /// Rule 4 for marks.
    fn marks(&mut self, k: &MappedKernel) -> Result<()> {
        let domain = super::steps::statements(&k.schedule.domain()?)?;
        let tree = ScheduleTree::from_isl(&k.schedule)?;
        let mut marked = Vec::new();
        beneath(&tree.root, &domain, &mut marked)?;
        let mut rest = domain;
        let updates = k.updates().iter().map(|u| (u.mark(), u.tuple(), u.instances.clone()));
        let carried = k.carried().iter().map(|c| (c.mark(), c.tuple(), c.instances.clone()));
        let said: Vec<_> = updates.chain(carried).collect();
        for (name, set) in marked {
            let own: Vec<_> = said.iter().filter(|(mark, ..)| Mark::of(&name) == Some(*mark)).collect();
            let own: Vec<_> = own.into_iter().map(|(.., set)| set.clone()).collect();
            let wrong = match &own[..] {
                [own] => set.clone().subtract(own.clone())?,
                _ => set.clone(),
            };
            self.report_set(Rule::Update, &name, wrong)?;
            rest = rest.subtract(set)?;
        }
        for (_, tuple, instances) in said {
            self.report_set(Rule::Update, &tuple.to_string(), rest.clone().intersect(instances)?)?;
        }
        Ok(())
    }

    /// `{ [k] -> [c] }`: the steps of a tuple of one coordinate.
    pub(super) fn own_steps(&self, k: &MappedKernel, tuple: Tuple) -> Result<isl::UnionMap> {
        let mut out = isl::UnionMap::empty(&self.scop.ctx)?;
        for map in k.steps().iter().map(|s| s.maps()).collect::<isl::Result<Vec<_>>>()?.concat() {
            if map.tuple_name(isl::DimType::In)?.as_deref().and_then(Tuple::of) == Some(tuple) {
                out = out.add_map(map.reset_tuple_id(isl::DimType::In)?)?;
            }
        }
        Ok(out)
    }

    /// Steps of a tuple are behind the waits of their first coordinate.
    fn behind_waits(&mut self, tuple: Tuple, steps: &isl::UnionMap) -> Result<()> {
        let Some(n) = steps.maps()?.first().map(|m| m.dim(isl::DimType::Out)).transpose()? else {
            return Ok(());
        };
        let c = names("c", n as usize);
        let behind = match n {
            0 => "false".to_owned(),
            1 => "c0 = k and false".to_owned(),
            2 => "c0 = k and c1 >= 0".to_owned(),
            _ => "c0 = k and (c1 >= 0 or (c1 = -1 and c2 >= 1))".to_owned(),
        };
        let text = format!("{{ [k] -> [{}] : {behind} }}", c.join(", "));
        let behind = isl::UnionMap::read(&self.scop.ctx, &text)?;
        self.report_map(Rule::Update, &tuple.to_string(), steps.clone().subtract(behind)?)
    }

    /// `[params, _h*, _b*]`: the blocks that there are.
    fn blocks(&self, k: &MappedKernel, started: &isl::Set) -> Result<isl::Set> {
        let mut set = started.clone();
        for b in &k.block {
            if let Some(pos) = set.space()?.find_dim_by_name(isl::DimType::Param, &b.param)? {
                set = set.project_out(isl::DimType::Param, pos, 1)?;
            }
        }
        Ok(set.intersect(self.known.clone())?.coalesce()?)
    }

    /// `[params, _h*, _b*] -> { S[i] }`: a block's instances.
    fn here(&self, k: &MappedKernel) -> Result<isl::UnionSet> {
        let params: Vec<_> = k.grid.iter().map(|g| g.param.clone()).collect();
        let at = isl::UnionSet::read(&self.scop.ctx, &params_of(&params))?;
        Ok(k.tile_map.clone().intersect_range(at)?.domain()?.intersect(k.domain.clone())?)
    }

    /// `{ S[i] -> A[s] }` of an array: reads, or writes.
    fn touched(&self, id: ArrayId, reads: bool) -> Result<isl::UnionMap> {
        Ok(self.scop.accesses(|_, a| a.array == id && (a.kind == AccessKind::Read) == reads)?)
    }

    pub(super) fn cells(&self, at: &TileBox) -> Result<isl::UnionSet> {
        Ok(isl::UnionSet::from_set(at.cells(&self.scop.array(at.array).name)?)?)
    }

    /// Rule 1 for an array of which the block writes `written`.
    fn home(
        &mut self,
        k: &MappedKernel,
        here: &isl::UnionSet,
        blocks: &isl::Set,
        home: &Home,
        written: isl::UnionSet,
    ) -> Result<()> {
        let ctx = &self.scop.ctx;
        let cells = self.cells(&home.at)?.intersect_params(blocks.clone())?;
        self.report_set(Rule::Home, &k.name, written.clone().subtract(cells.clone())?)?;
        self.corner(k, &home.at, blocks)?;
        // { A[s] -> [b] }: of one block each.
        let params: Vec<_> = k.grid.iter().map(|g| g.param.clone()).collect();
        let tile = isl::UnionSet::read(ctx, &params_of(&params))?;
        let owner = super::forget(cells.clone().product_map(tile)?, &params)?;
        if !owner.is_single_valued()? {
            self.report_map(Rule::Home, &k.name, owner)?;
        }
        let stored = isl::UnionSet::from_set(home.stored.clone())?.intersect_params(blocks.clone())?;
        self.differ(Rule::Home, &k.name, &stored, &written)?;
        let other = self.deps.tagged_flow.clone().subtract_domain(k.domain.clone())?.range()?.unwrap()?;
        let before = self.deps.no_source.clone().union(other)?;
        let before = here.clone().apply(before)?.intersect(cells)?;
        let copied = isl::UnionSet::from_set(home.at.copied.clone())?.intersect_params(blocks.clone())?;
        self.differ(Rule::Home, &k.name, &copied, &before)
    }

    /// A box has one corner at most.
    fn corner(&mut self, k: &MappedKernel, at: &TileBox, blocks: &isl::Set) -> Result<()> {
        let corner = isl::Map::from_range(at.corner.clone().intersect_params(blocks.clone())?)?;
        let dims = self.scop.array(at.array).dims();
        if !corner.is_single_valued()?
            || at.size.len() != dims
            || at.corner.dim(isl::DimType::Set)? as usize != dims
        {
            self.report_set(Rule::Home, &k.name, isl::UnionSet::from_set(at.corner.clone())?)?;
        }
        Ok(())
    }

    pub(super) fn differ(
        &mut self,
        rule: Rule,
        at: &str,
        a: &isl::UnionSet,
        b: &isl::UnionSet,
    ) -> Result<()> {
        self.report_set(rule, at, a.clone().subtract(b.clone())?)?;
        self.report_set(rule, at, b.clone().subtract(a.clone())?)
    }

    /// Rule 2 for the instances that are no updates.
    fn stages_of_task(
        &mut self,
        (k, task): (&MappedKernel, &TaskMemory),
        rest: &isl::UnionSet,
        blocks: &isl::Set,
    ) -> Result<()> {
        let ctx = &self.scop.ctx;
        let mut when = isl::UnionSet::empty(ctx)?;
        for (n, s) in task.stages.iter().enumerate() {
            let id = s.at.array;
            let twice = task.stages[..n].iter().any(|t| t.at.array == id);
            let written = rest
                .clone()
                .universe()?
                .apply(self.touched(id, false)?.intersect_domain(k.domain.clone())?)?;
            let home = task.homes.iter().find(|h| h.at.array == id);
            if twice || home.is_none() && !written.is_empty()? || s.early && !written.is_empty()? {
                self.report_set(Rule::Stage, &k.name, isl::UnionSet::from_set(s.at.corner.clone())?)?;
            }
            self.corner(k, &s.at, blocks)?;
            let reads = self.touched(id, true)?.intersect_domain(rest.clone())?;
            let reads = match home {
                Some(h) => {
                    let beside = reads.clone().range()?.subtract(self.cells(&h.at)?)?;
                    reads.intersect_range(beside)?
                }
                None => reads,
            };
            let read = reads.clone().range()?;
            let copied = isl::UnionSet::from_set(s.at.copied.clone())?.intersect_params(blocks.clone())?;
            self.differ(Rule::Stage, &k.name, &copied, &read)?;
            self.report_set(Rule::Stage, &k.name, copied.subtract(self.cells(&s.at)?)?)?;
            if !s.early {
                let readers = reads.domain()?;
                when = when.union(readers.clone().apply(self.first_of_steps(k)?)?)?;
                // { [k] -> [c] }: filled ahead of them.
                let Some(steps) = k.steps() else { return Ok(()) };
                let at = self
                    .first_of_steps(k)?
                    .intersect_domain(readers)?
                    .reverse()?
                    .apply_range(steps.clone())?;
                let filled = self.own_steps(k, Fill)?;
                let both = filled.range_product(at)?;
                for map in both.maps()? {
                    let n = map.dim(isl::DimType::Out)? as usize / 2;
                    let (c, d) = (names("c", n), names("d", n));
                    let after = super::graph::earlier(&c, &d);
                    let text = format!("{{ [[{}] -> [{}]] : {after} }}", c.join(", "), d.join(", "));
                    let ordered = isl::UnionSet::read(ctx, &text)?;
                    let wrong = isl::UnionSet::from_set(map.range()?)?.subtract(ordered)?;
                    self.report_set(Rule::Stage, &k.name, wrong)?;
                }
            }
        }
        // In one step, in all threads.
        let when = when.coalesce()?;
        if !isl::UnionMap::from_range(when.clone())?.is_single_valued()? {
            self.report_set(Rule::Stage, &k.name, when.clone())?;
        }
        let steps = self.own_steps(k, Fill)?;
        self.behind_waits(Fill, &steps)?;
        let there = self.steps_of(k, Fill)?.intersect_params(blocks.clone())?;
        self.differ(Rule::Stage, &k.name, &there, &when)
    }

    /// `{ S[i] -> [k] }`: the first coordinate of steps.
    pub(super) fn first_of_steps(&self, k: &MappedKernel) -> Result<isl::UnionMap> {
        let Some(steps) = k.steps() else { return Ok(isl::UnionMap::empty(&self.scop.ctx)?) };
        let mut out = isl::UnionMap::empty(&self.scop.ctx)?;
        for map in steps.maps()? {
            if is_statement(&map.tuple_name(isl::DimType::In)?.unwrap_or_default()) {
                let n = map.dim(isl::DimType::Out)?;
                out = out.add_map(map.project_out(isl::DimType::Out, 1, n - 1)?)?;
            }
        }
        Ok(out)
    }

    /// `[params, _h*, _b*] -> { [k] }`: where the schedule has a tuple, in all threads or none.
    pub(super) fn steps_of(&mut self, k: &MappedKernel, tuple: Tuple) -> Result<isl::UnionSet> {
        let mut out = isl::UnionSet::empty(&self.scop.ctx)?;
        let threads: Vec<_> = k.block.iter().map(|b| b.param.clone()).collect();
        for set in k.schedule.domain()?.sets()? {
            if Tuple::of_set(&set)? != Some(tuple) {
                continue;
            }
            let set = isl::UnionSet::from_set(set.reset_tuple_id()?)?;
            if threads.iter().any(|t| mentions(&set, t).unwrap_or(true)) {
                self.report_set(Rule::Update, &tuple.to_string(), set.clone())?;
            }
            out = out.union(set)?;
        }
        let mut out = out;
        for t in &threads {
            if let Some(pos) = out.space()?.find_dim_by_name(isl::DimType::Param, t)? {
                out = out.project_out(isl::DimType::Param, pos, 1)?;
            }
        }
        Ok(out)
    }

    /// Rule 3.
    fn update(&mut self, i: usize, u: &Update, here: &isl::UnionSet, blocks: &isl::Set) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let (ctx, name) = (&self.scop.ctx, &u.tuple().to_string());
        let s = &self.scop.statements[u.statement.0];
        let place = isl::UnionMap::from_map(u.place.clone())?;
        let m = u.place.dim(isl::DimType::Out)?.saturating_sub(1);
        let instances = u.instances.clone().intersect_params(self.known.clone())?;
        if !u.place.is_injective()? {
            self.report_set(Rule::Update, name, instances.clone())?;
        }
        self.report_set(Rule::Update, name, instances.clone().subtract(place.clone().domain()?)?)?;
        // The element comes first.
        let accesses = |n: usize| -> Result<isl::UnionMap> {
            let all = match s.accesses.get(n) {
                Some(a) => isl::UnionMap::from_map(a.relation.clone())?,
                None => isl::UnionMap::empty(ctx)?,
            };
            Ok(all.intersect_domain(instances.clone())?)
        };
        let written = accesses(u.write)?;
        for n in std::iter::once(u.write).chain(u.reads.iter().copied()) {
            let cell = accesses(n)?;
            if !cell.is_equal(&written)? {
                self.report_map(Rule::Update, name, cell)?;
            }
        }
        let a = names("s", m as usize).join(", ");
        let point =
            place.clone().apply_range(isl::UnionMap::read(ctx, &format!("{{ [{a}, t] -> [{a}] }}"))?)?;
        for map in written.maps()? {
            let element = isl::UnionMap::from_map(map.reset_tuple_id(isl::DimType::Out)?)?;
            self.report_map(Rule::Update, name, element.subtract(point.clone())?)?;
        }
        let known = std::iter::once(u.write).chain(u.reads.iter().copied());
        let known: Vec<_> = known.chain(u.operands.iter().map(|o| o.access)).collect();
        if (0..s.accesses.len()).any(|n| known.iter().filter(|k| **k == n).count() != 1) {
            self.report_set(Rule::Update, name, instances.clone())?;
        }
        // points × times, for each step.
        let at = isl::UnionSet::read(ctx, &format!("[{Step}] -> {{ [k] : k = {Step} }}"))?;
        let now =
            self.first_of_steps(k)?.intersect_domain(u.instances.clone())?.intersect_range(at)?.domain()?;
        let mine = here.clone().intersect(u.instances.clone())?;
        let all = mine.clone().intersect(now)?.apply(place.clone())?;
        let run = u.points.clone().flat_product(u.times.clone())?.intersect_params(blocks.clone())?;
        let run = isl::UnionSet::from_set(run)?;
        self.differ(Rule::Update, name, &all, &run)?;
        let inside = u.points.clone().intersect_params(blocks.clone())?;
        if !whole(&u.times.clone().intersect_params(blocks.clone())?, 0)? {
            self.report_set(Rule::Update, name, isl::UnionSet::from_set(u.times.clone())?)?;
        }
        let own = self.own_steps(k, u.tuple())?;
        self.behind_waits(u.tuple(), &own)?;
        let Some(all) = k.steps() else { return Ok(()) };
        let of_instances = self.first_of_steps(k)?.intersect_domain(instances.clone())?.reverse()?;
        let of_instances = of_instances.apply_range(all.clone().intersect_domain(instances.clone())?)?;
        self.report_map(Rule::Update, name, of_instances.subtract(own)?)?;
        let there = self.steps_of(k, u.tuple())?;
        let steps = mine.clone().apply(self.first_of_steps(k)?)?;
        self.report_set(Rule::Update, name, steps.subtract(there)?)?;
        for o in &u.operands {
            let read = accesses(o.access)?;
            let element = isl::UnionMap::from_map(o.element.clone())?;
            let by = match o.along {
                Some(d) if d < m as usize => format!("{{ [{a}, t] -> [s{d}, t] }}"),
                Some(_) => format!("{{ [{a}, t] -> [t] : false }}"),
                None => format!("{{ [{a}, t] -> [t] }}"),
            };
            let found = place.clone().apply_range(isl::UnionMap::read(ctx, &by)?)?.apply_range(element)?;
            let found = found.intersect_domain(instances.clone())?;
            if !found.is_single_valued()? {
                self.report_map(Rule::Update, name, found.clone())?;
            }
            self.report_map(Rule::Update, name, read.clone().subtract(found)?)?;
            if o.along.is_some_and(|d| !whole(&inside, d as u32).unwrap_or(false)) {
                self.report_set(Rule::Update, name, isl::UnionSet::from_set(u.points.clone())?)?;
            }
            let array = s.accesses.get(o.access).map(|a| a.array);
            if let Some(h) = k.task().and_then(|t| t.homes.iter().find(|h| Some(h.at.array) == array)) {
                let own = mine.clone().apply(read)?.intersect(self.cells(&h.at)?)?;
                self.report_set(Rule::Update, name, own)?;
            }
        }
        // One point's instances alone depend on each other in a step, and in the order of times.
        let Some(steps) = k.steps() else { return Ok(()) };
        let deps = self.deps.all(self.scop)?;
        let deps = deps.intersect_domain(instances.clone())?.intersect_range(instances)?;
        let both =
            k.tile_map.clone().flat_range_product(steps.clone())?.intersect_domain(u.instances.clone())?;
        let same = both.clone().apply_range(both.reverse()?)?;
        let later = isl::UnionMap::read(ctx, &format!("{{ [{a}, t] -> [{a}, u] : t < u }}"))?;
        let fine = place.clone().apply_range(later)?.apply_range(place.reverse()?)?;
        self.report_map(Rule::Update, name, deps.intersect(same)?.subtract(fine)?)
    }
}

/// What is beneath marks of updates, carried ones among them.
fn beneath(tree: &Tree, domain: &isl::UnionSet, out: &mut Vec<(String, isl::UnionSet)>) -> Result<()> {
    match tree {
        Tree::Leaf => {}
        Tree::Mark(m, _) if matches!(Mark::of(m), Some(Mark::Update(_) | Mark::Carried(_))) => {
            out.push((m.clone(), domain.clone()))
        }
        Tree::Mark(_, child) => beneath(child, domain, out)?,
        Tree::Band(b) => beneath(&b.child, domain, out)?,
        Tree::Sequence(children) => {
            for (filter, child) in children {
                beneath(child, &domain.clone().intersect(filter.clone())?, out)?;
            }
        }
    }
    Ok(())
}

fn mentions(set: &isl::UnionSet, param: &str) -> Result<bool> {
    for s in set.sets()? {
        if let Some(pos) = s.space()?.find_dim_by_name(isl::DimType::Param, param)?
            && s.involves_dims(isl::DimType::Param, pos, 1)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the values of a coordinate have no holes: no value comes behind one that is missing after another.
pub(super) fn whole(set: &isl::Set, d: u32) -> Result<bool> {
    let n = set.dim(isl::DimType::Set)?;
    let values = set.clone().project_out(isl::DimType::Set, d + 1, n - d - 1)?;
    let values = values.project_out(isl::DimType::Set, 0, d)?.coalesce()?;
    let next = isl::Map::read(set.context(), "{ [v] -> [v + 1] }")?;
    let missing = values.clone().apply(next)?.subtract(values.clone())?;
    Ok(missing.lex_lt_set(values)?.is_empty()?)
}
