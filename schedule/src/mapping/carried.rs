//! Which leaves of a task are carried updates ([`crate::task::Carried`]): their elements stay in registers
//! from one step to the next.
//!
//! All that is found here is proved afterwards (`legality/carried.rs`); a leaf that is none stays what it is.

use super::graph::Tasks;
use super::leaf::{At, Leaf};
use super::task::{Kernel, Written, is_leaf};
use crate::planted::planted;
use crate::strategy::TILE;
use crate::task::{Carried, MOST_TIMES, Operand, TaskMemory, TileBox, whole};
use crate::tree::member_map;
use crate::{Result, budgeted, is_quota};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Statement};

/// isl operations for all of it.
const BUDGET: u64 = crate::DEFAULT_BUDGET / 4;

/// The coordinates of a leaf's steps: that of the task's step, a place, and the time.
struct Coordinates<'a> {
    step: &'a isl::UnionPwAff,
    place: i64,
    time: &'a isl::UnionPwAff,
    /// Behind the time.
    then: i64,
}

impl Coordinates<'_> {
    fn of(leaf: &Leaf) -> Option<Coordinates<'_>> {
        match &leaf.at[..] {
            [At::Loop(step), At::Place(place), At::Loop(time), rest @ ..] => match rest {
                [] => Some(Coordinates { step, place: *place, time, then: 0 }),
                [At::Place(then)] => Some(Coordinates { step, place: *place, time, then: *then }),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Tasks<'_> {
    /// [`Tasks::memory`] with carried updates, and the number of that which a leaf is. `bulk`: as
    /// [`super::MapOptions::bulk`].
    #[allow(clippy::type_complexity)]
    pub fn kept(
        &self,
        k: &Kernel<'_>,
        bulk: &[u32],
    ) -> Result<(TaskMemory, Vec<Option<usize>>, Vec<Option<usize>>)> {
        let (memory, updates) = self.memory(k)?;
        let (carried, of) = self.carried(k, &memory, &updates, bulk)?;
        Ok((TaskMemory { carried, ..memory }, updates, of))
    }

    /// Carried updates, and the number of that which a leaf is. `updates`: leaves that are updates.
    ///
    /// Divisions of elements that have no instance any more take as long as others: with them, L D L^T of
    /// 1024 took 4.3 in place of 2.2 ms on an H200.
    fn carried(
        &self,
        k: &Kernel<'_>,
        memory: &TaskMemory,
        updates: &[Option<usize>],
        bulk: &[u32],
    ) -> Result<(Vec<Carried>, Vec<Option<usize>>)> {
        let nothing = || (Vec::new(), vec![None; k.leaves.len()]);
        if memory.homes.is_empty() || self.site.members.len() != 2 {
            return Ok(nothing());
        }
        let found = budgeted(&self.scop.ctx, "carried updates", BUDGET, || {
            let (mut all, mut of) = (Vec::new(), Vec::new());
            for (leaf, update) in k.leaves.iter().zip(updates) {
                let found = match update {
                    Some(_) => None,
                    None => self.carried_leaf(k, memory, leaf, all.len())?,
                };
                let long = |c: &Carried| bulk.get(c.statement.0).is_some_and(|n| *n > 0);
                let found = found.filter(|c| !long(c));
                of.push(found.is_some().then_some(all.len()));
                all.extend(found);
            }
            Ok((all, of))
        });
        match found {
            Err(e) if is_quota(&e) => Ok(nothing()),
            other => other,
        }
    }

    fn carried_leaf(
        &self,
        k: &Kernel<'_>,
        memory: &TaskMemory,
        leaf: &Leaf,
        number: usize,
    ) -> Result<Option<Carried>> {
        let Some(c) = Coordinates::of(leaf) else { return Ok(None) };
        if !is_leaf(&leaf.inner) || leaf.members.len() != 2 {
            return Ok(None);
        }
        let Some(w) = self.written(&memory.homes, &leaf.domain, c.time)? else { return Ok(None) };
        let here = k.in_step(&leaf.domain, c.step)?;
        let all = here.clone().apply(isl::UnionMap::from_map(w.place.clone())?)?.coalesce()?;
        if w.home.at.size.len() != 2 || all.is_empty()? {
            return Ok(None);
        }
        let points = isl::Set::from_union_set(all)?;
        let times = points.clone().project_out(isl::DimType::Set, 0, 2)?.coalesce()?;
        if !few(&times)? || !whole(&times, 0)? || !from_the_first(&points, &times)? {
            return Ok(None);
        }
        let (mut reads, mut operands) = (Vec::new(), Vec::new());
        for (access, a) in w.statement.accesses.iter().enumerate().filter(|(i, _)| *i != w.access) {
            if w.is_own(a)? {
                reads.push(access);
                continue;
            }
            match self.everywhere(&w, access)? {
                Some(o) if self.in_boxes(memory, &w, (a.array, &o), &times)? => operands.push(o),
                _ => return Ok(None),
            }
        }
        if self.touched_meanwhile(k, leaf, &c, &w, &here)? {
            return Ok(None);
        }
        let points = match planted("carried-last") {
            true => points.clone().intersect(
                points.apply(isl::Map::read(&self.scop.ctx, "{ [a, b, t] -> [a, b, t - 1] }")?)?,
            )?,
            false => points,
        };
        let simple =
            |set: isl::Set| -> Result<isl::Set> { Ok(set.gist_params(k.context.clone())?.coalesce()?) };
        Ok(Some(Carried {
            number,
            statement: w.id,
            instances: leaf.domain.clone(),
            place: w.place.clone(),
            write: w.access,
            reads,
            operands,
            time: 2,
            points: simple(points)?,
            times: simple(times)?,
        }))
    }

    /// An operand whose element is one function of the coordinate and the time, wherever these are.
    fn everywhere(&self, w: &Written<'_>, access: usize) -> Result<Option<Operand>> {
        let Some(o) = w.operand(access)? else { return Ok(None) };
        let pieces = isl::PwMultiAff::from_map(o.element)?.pieces()?;
        let Ok([(_, f)]) = <[_; 1]>::try_from(pieces) else { return Ok(None) };
        let element = isl::Map::from_multi_aff(f)?;
        let whole = element.n_basic_map()? == 1 && element.clone().domain()?.plain_is_universe()?;
        Ok(whole.then_some(Operand { element, ..o }))
    }

    /// Whether an operand's elements, for all coordinates of the tile and all times, are at home, or all in
    /// the stage.
    fn in_boxes(
        &self,
        memory: &TaskMemory,
        w: &Written<'_>,
        (array, o): (ArrayId, &Operand),
        times: &isl::Set,
    ) -> Result<bool> {
        let name = &self.scop.array(array).name;
        let from = match o.along {
            Some(d) => {
                let cells = w.home.at.cells(&self.scop.array(w.home.at.array).name)?.reset_tuple_id()?;
                let along = cells.project_out(isl::DimType::Set, 1 - d as u32, 1)?;
                along.flat_product(times.clone())?
            }
            None => times.clone(),
        };
        let elements = from.apply(o.element.clone())?;
        let cells = |at: Option<&TileBox>| -> Result<isl::Set> {
            Ok(match at {
                Some(at) => at.cells(name)?,
                None => isl::Set::empty(elements.space()?)?,
            })
        };
        let home = cells(memory.homes.iter().find(|h| h.at.array == array).map(|h| &h.at))?;
        let stage = cells(memory.stages.iter().find(|s| s.at.array == array).map(|s| &s.at))?;
        let at_home = elements.clone().intersect(home.clone())?.params()?;
        let beside = elements.subtract(home)?;
        Ok(beside.clone().intersect_params(at_home)?.is_empty()? && beside.is_subset(&stage)?)
    }

    /// Whether something else touches an element between the first step and the element's last one.
    fn touched_meanwhile(
        &self,
        k: &Kernel<'_>,
        leaf: &Leaf,
        c: &Coordinates<'_>,
        w: &Written<'_>,
        here: &isl::UnionSet,
    ) -> Result<bool> {
        let ctx = &self.scop.ctx;
        let when = |c: &Coordinates<'_>, domain: &isl::UnionSet| -> Result<isl::UnionMap> {
            let then = isl::UnionSet::read(ctx, &format!("{{ [{}] }}", c.then))?;
            let time = member_map(c.time)?.intersect_domain(domain.clone())?;
            Ok(time.flat_range_product(domain.clone().product_map(then)?)?)
        };
        let own = isl::UnionMap::from_map(w.cell.clone())?.intersect_domain(here.clone())?.reverse()?;
        let last = when(c, &leaf.domain)?;
        for other in k.leaves {
            let Some(d) = Coordinates::of(other) else { continue };
            if d.place != c.place {
                continue;
            }
            let itself = std::ptr::eq(other, leaf);
            let there = k.in_step(&other.domain, d.step)?;
            let of = |s: &Statement, access: usize| -> Result<bool> {
                let a = &s.accesses[access];
                let own = itself && std::ptr::eq(s, w.statement);
                let its = own && (a.kind != AccessKind::Read || w.is_own(a)?);
                Ok(a.array == w.home.at.array && !its)
            };
            let mut touched = isl::UnionMap::empty(ctx)?;
            for s in &self.scop.statements {
                for (access, a) in s.accesses.iter().enumerate() {
                    if of(s, access)? {
                        touched = touched.union(isl::UnionMap::from_map(a.relation.clone())?)?;
                    }
                }
            }
            let pairs = touched.intersect_domain(there)?.apply_range(own.clone())?;
            let before = when(&d, &other.domain)?.lex_le(last.clone())?;
            if !pairs.is_disjoint(&before)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `{ S[i] -> [t] }` of a carried update's instances, and those that thread `_t*` has among `here`: an
    /// element has one thread.
    pub fn owners(
        &self,
        carried: &Carried,
        sizes: &[u32],
        here: isl::UnionSet,
    ) -> Result<(isl::UnionMap, isl::UnionSet)> {
        let ctx = &self.scop.ctx;
        let [p, q] = [0, 1].map(|d| sizes.get(d).copied().unwrap_or(1));
        let place = isl::UnionMap::from_map(carried.place.clone())?;
        let place = place.intersect_domain(carried.instances.clone())?;
        let thread = format!("{{ [s0, s1, t] -> [s0 mod {p}, s1 mod {q}] }}");
        let threads = place.apply_range(isl::UnionMap::read(ctx, &thread)?)?;
        let (a, b) = (&self.threads[0], &self.threads[1]);
        let one = isl::UnionSet::read(ctx, &format!("[{a}, {b}] -> {{ [{a}, {b}] }}"))?;
        let mine = here.intersect(threads.clone().intersect_range(one)?.domain()?)?;
        Ok((threads, mine))
    }
}

/// Whether times are few enough to have a bit each.
fn few(times: &isl::Set) -> Result<bool> {
    let later = format!("{{ [t] -> [u] : u >= t + {MOST_TIMES} }}");
    let later = times.clone().apply(isl::Map::read(times.context(), &later)?)?;
    Ok(MOST_TIMES >= TILE && later.is_disjoint(times)?)
}

/// Whether each element has an instance at all times before its last one.
fn from_the_first(points: &isl::Set, times: &isl::Set) -> Result<bool> {
    let elements = points.clone().project_out(isl::DimType::Set, 2, 1)?;
    let earlier = isl::Map::read(points.context(), "{ [a, b, t] -> [a, b, u] : u < t }")?;
    let earlier = points.clone().apply(earlier)?.intersect(elements.flat_product(times.clone())?)?;
    Ok(earlier.is_subset(points)?)
}
