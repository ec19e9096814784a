//! The rule for carried updates of a task ([`crate::task::Carried`]).
//!
//! Let an instance's *series* be those of the same block, step of the task and place as its own. With `σ` the
//! step of an instance:
//! 1. Each instance is known by its element and the time, which is a coordinate of `σ`. Times of a series are
//!    few and without holes, and an element has instances at all of them up to its last one.
//! 2. Whatever else of the series touches the element comes, by `σ`, behind its last instance. So a thread
//!    may load it in the first step and store it in the last: no one sees what memory has meanwhile.
//! 3. What an instance reads beside its element is known by the time and one coordinate. For all coordinates
//!    of the tile and all times of the series that is in a box, the home of its array, or else the stage:
//!    code may load for instances that there are not.
//! 4. `_carried0[c]` is in all threads of a block wherever an instance has the step `c`. What is beneath the
//!    mark are the instances.
//!
//! Which thread has an element in registers does not matter: by 2, points of a step don't depend on each
//! other. What is read from others is behind barriers, as for all instances: the rules of steps.

use super::{Checker, Rule, names};
use crate::Result;
use crate::mapped::MappedKernel;
use crate::names::Param::Step;
use crate::task::{Carried, MOST_TIMES, Operand};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, Statement};

/// A carried update with what is known of it.
struct Series<'a> {
    k: &'a MappedKernel,
    c: &'a Carried,
    statement: &'a Statement,
    /// `[params, _h*]`
    instances: isl::UnionSet,
    place: isl::UnionMap,
    /// `[params, _h*, _b*, _k] -> { [s, t] }` and `{ [t] }`
    points: isl::Set,
    times: isl::Set,
}

impl Series<'_> {
    fn is_own(&self, access: usize) -> bool {
        access == self.c.write || self.c.reads.contains(&access)
    }

    fn touches(&self, a: &Access) -> Result<isl::UnionMap> {
        Ok(isl::UnionMap::from_map(a.relation.clone())?)
    }
}

impl Checker<'_> {
    /// The rule for one carried update of kernel `i`, of which a block has `here`.
    pub(super) fn carried(
        &mut self,
        i: usize,
        c: &Carried,
        here: &isl::UnionSet,
        blocks: &isl::Set,
    ) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let (ctx, name) = (&self.scop.ctx, &c.tuple().to_string());
        let instances = c.instances.clone().intersect_params(self.known.clone())?;
        let place = isl::UnionMap::from_map(c.place.clone())?.intersect_domain(instances.clone())?;
        let (Some(statement), Some(steps)) = (self.scop.statements.get(c.statement.0), k.steps()) else {
            return self.report_set(Rule::Carried, name, instances);
        };
        let mine = here.clone().intersect(c.instances.clone())?;
        let (points, times) = (c.points.clone(), c.times.clone());
        let of = Series { k, c, statement, instances: instances.clone(), place, points, times };

        // 1.
        if c.place.dim(isl::DimType::Out)? != 3
            || !of.place.is_injective()?
            || !of.place.is_single_valued()?
        {
            self.report_set(Rule::Carried, name, instances.clone())?;
        }
        self.report_set(Rule::Carried, name, instances.clone().subtract(of.place.clone().domain()?)?)?;
        self.elements(&of)?;
        let at = isl::UnionSet::read(ctx, &format!("[{Step}] -> {{ [k] : k = {Step} }}"))?;
        let now =
            self.first_of_steps(k)?.intersect_domain(instances.clone())?.intersect_range(at)?.domain()?;
        let all = mine.clone().intersect(now)?.apply(of.place.clone())?;
        let points = isl::UnionSet::from_set(of.points.clone().intersect_params(blocks.clone())?)?;
        self.differ(Rule::Carried, name, &all, &points)?;
        self.times(&of, blocks)?;
        // { [s, t] -> [c] }
        let when = of.place.clone().reverse()?.apply_range(steps.clone())?;
        let own = steps.clone().intersect_domain(instances.clone())?;
        let dims = own.maps()?.first().map_or(Ok(0), |m| m.dim(isl::DimType::Out))? as usize;
        let coordinates = names("c", dims);
        match coordinates.get(c.time) {
            Some(time) if dims >= 2 => {
                let text = format!("{{ [a, b, t] -> [{}] : {time} = t }}", coordinates.join(", "));
                let wrong = when.subtract(isl::UnionMap::read(ctx, &text)?)?;
                self.report_map(Rule::Carried, name, wrong)?;
            }
            _ => self.report_set(Rule::Carried, name, instances.clone())?,
        }
        self.touched_meanwhile(&of, steps, &coordinates)?;
        for o in &c.operands {
            self.operand(&of, o, blocks)?;
        }

        // 4.
        let there = self.steps_of(k, c.tuple())?;
        self.report_set(Rule::Carried, name, mine.apply(own)?.subtract(there)?)?;
        let same = format!("{{ [{0}] -> [{0}] }}", coordinates.join(", "));
        let moved = self.own_steps(k, c.tuple())?.subtract(isl::UnionMap::read(ctx, &same)?)?;
        self.report_map(Rule::Carried, name, moved)
    }

    /// The write and the reads of the element, and that all accesses are known.
    fn elements(&mut self, of: &Series<'_>) -> Result<()> {
        let (name, c) = (&of.c.tuple().to_string(), of.c);
        let count = of.statement.accesses.len();
        let known: Vec<_> = [c.write].iter().chain(&c.reads).copied().collect();
        let known: Vec<_> = known.into_iter().chain(c.operands.iter().map(|o| o.access)).collect();
        if (0..count).any(|n| known.iter().filter(|k| **k == n).count() != 1)
            || known.iter().any(|n| *n >= count)
        {
            return self.report_set(Rule::Carried, name, of.instances.clone());
        }
        let accesses = &of.statement.accesses;
        let written = of.touches(&accesses[c.write])?.intersect_domain(of.instances.clone())?;
        for (n, a) in accesses.iter().enumerate() {
            let cell = of.touches(a)?.intersect_domain(of.instances.clone())?;
            let fits = match n == c.write {
                true => a.kind == AccessKind::MustWrite,
                false => a.kind == AccessKind::Read && (!c.reads.contains(&n) || cell.is_equal(&written)?),
            };
            if !fits {
                self.report_map(Rule::Carried, name, cell)?;
            }
        }
        // The element comes first.
        let point = isl::UnionMap::read(&self.scop.ctx, "{ [a, b, t] -> [a, b] }")?;
        let point = of.place.clone().apply_range(point)?;
        for map in written.maps()? {
            let element = isl::UnionMap::from_map(map.reset_tuple_id(isl::DimType::Out)?)?;
            self.report_map(Rule::Carried, name, element.subtract(point.clone())?)?;
        }
        let homes = of.k.task().map_or(&[][..], |t| &t.homes);
        if !homes.iter().any(|h| h.at.array == accesses[c.write].array && h.at.size.len() == 2) {
            self.report_map(Rule::Carried, name, written)?;
        }
        Ok(())
    }

    /// Times are those of points, few, without holes, and all up to an element's last one.
    fn times(&mut self, of: &Series<'_>, blocks: &isl::Set) -> Result<()> {
        let (ctx, name) = (&self.scop.ctx, &of.c.tuple().to_string());
        let points = isl::UnionSet::from_set(of.points.clone().intersect_params(blocks.clone())?)?;
        let times = isl::UnionSet::from_set(of.times.clone().intersect_params(blocks.clone())?)?;
        let read = |text: &str| isl::UnionMap::read(ctx, text);
        let of_points = points.clone().apply(read("{ [a, b, t] -> [t] }")?)?;
        self.differ(Rule::Carried, name, &of_points, &times)?;
        let far = times.clone().apply(read(&format!("{{ [t] -> [u] : u >= t + {MOST_TIMES} }}"))?)?;
        self.report_set(Rule::Carried, name, far.intersect(times.clone())?)?;
        if !super::task::whole(&of.times.clone().intersect_params(blocks.clone())?, 0)? {
            self.report_set(Rule::Carried, name, times.clone())?;
        }
        let any = times.apply(read("{ [u] -> [a, b, u] }")?)?;
        let earlier = points.clone().apply(read("{ [a, b, t] -> [a, b, u] : u < t }")?)?;
        self.report_set(Rule::Carried, name, earlier.intersect(any)?.subtract(points)?)
    }

    /// 2.
    fn touched_meanwhile(&mut self, of: &Series<'_>, steps: &isl::UnionMap, c: &[String]) -> Result<()> {
        let (ctx, name) = (&self.scop.ctx, &of.c.tuple().to_string());
        let Some(write) = of.statement.accesses.get(of.c.write) else { return Ok(()) };
        let own = of.touches(write)?.intersect_domain(of.instances.clone())?;
        // { S'[i] -> S[i] }: touches an element.
        let mut pairs = isl::UnionMap::empty(ctx)?;
        for s in &self.scop.statements {
            for (n, a) in s.accesses.iter().enumerate().filter(|(_, a)| a.array == write.array) {
                let touched = of.touches(a)?.intersect_domain(of.k.domain.clone())?;
                let touched = match std::ptr::eq(s, of.statement) && of.is_own(n) {
                    true => touched.subtract_domain(of.instances.clone())?,
                    false => touched,
                };
                pairs = pairs.union(touched.apply_range(own.clone().reverse()?)?)?;
            }
        }
        // In a series.
        let first: Vec<_> = c.iter().take(2).cloned().collect();
        let project =
            isl::UnionMap::read(ctx, &format!("{{ [{}] -> [{}] }}", c.join(", "), first.join(", ")))?;
        let series = of.k.tile_map.clone().flat_range_product(steps.clone().apply_range(project)?)?;
        let of_own = series.clone().intersect_domain(of.instances.clone())?;
        let same = series.apply_range(of_own.reverse()?)?;
        let before = steps.clone().lex_le(steps.clone().intersect_domain(of.instances.clone())?)?;
        self.report_map(Rule::Carried, name, pairs.intersect(same)?.intersect(before)?)
    }

    /// 3.
    fn operand(&mut self, of: &Series<'_>, o: &Operand, blocks: &isl::Set) -> Result<()> {
        let (ctx, name) = (&self.scop.ctx, &of.c.tuple().to_string());
        let (Some(a), Some(write)) =
            (of.statement.accesses.get(o.access), of.statement.accesses.get(of.c.write))
        else {
            return Ok(());
        };
        let task = of.k.task().ok_or(crate::ScheduleError::Unsupported("a carried update without a task"))?;
        let by = match o.along {
            Some(0) => "{ [a, b, t] -> [a, t] }",
            Some(1) => "{ [a, b, t] -> [b, t] }",
            Some(_) => "{ [a, b, t] -> [t] : false }",
            None => "{ [a, b, t] -> [t] }",
        };
        let element = isl::UnionMap::from_map(o.element.clone())?;
        let found =
            of.place.clone().apply_range(isl::UnionMap::read(ctx, by)?)?.apply_range(element.clone())?;
        let read = of.touches(a)?.intersect_domain(of.instances.clone())?;
        self.report_map(Rule::Carried, name, read.subtract(found)?)?;
        // One piece, everywhere.
        let pieces = isl::PwMultiAff::from_map(o.element.clone())?.n_piece()?;
        if pieces != 1
            || !o.element.is_single_valued()?
            || !o.element.clone().domain()?.plain_is_universe()?
        {
            self.report_map(Rule::Carried, name, element.clone())?;
        }
        let Some(home) = task.homes.iter().find(|h| h.at.array == write.array) else { return Ok(()) };
        let times = of.times.clone().intersect_params(blocks.clone())?;
        let from = match o.along {
            Some(d @ (0 | 1)) => {
                let cells = home.at.cells("A")?.reset_tuple_id()?;
                cells.project_out(isl::DimType::Set, 1 - d as u32, 1)?.flat_product(times)?
            }
            _ => times,
        };
        let loaded = isl::UnionSet::from_set(from)?.apply(element)?;
        let nothing = || isl::UnionSet::empty(ctx);
        let own = task.homes.iter().find(|h| h.at.array == a.array);
        let own = own.map_or_else(|| Ok(nothing()?), |h| self.cells(&h.at))?;
        let stage = task.stages.iter().find(|s| s.at.array == a.array);
        let stage = stage.map_or_else(|| Ok(nothing()?), |s| self.cells(&s.at))?;
        let at_home = loaded.clone().intersect(own.clone())?.params()?;
        let beside = loaded.subtract(own)?;
        self.report_set(Rule::Carried, name, beside.clone().intersect_params(at_home)?)?;
        self.report_set(Rule::Carried, name, beside.subtract(stage)?)
    }
}
