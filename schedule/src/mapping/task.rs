//! What tasks of a graph keep in shared memory, and which of their steps are products ([`crate::task`]).
//!
//! All that is found here is proved afterwards (`legality/task.rs`); what does not fit leaves elements in
//! memory, and instances to the threads' schedule.

use super::graph::Tasks;
use super::leaf::{At, Leaf};
use crate::names::Param::Step;
use crate::planted::planted;
use crate::strategy::TILE;
use crate::task::{Home, Operand, Stage, TaskMemory, TileBox, Update, whole};
use crate::tree::{Tree, member_map};
use crate::{Result, budgeted, is_quota};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, ArrayId, Statement, StmtId};

/// isl operations for all of it.
const BUDGET: u64 = crate::DEFAULT_BUDGET / 4;
/// Bytes of homes and stages: two blocks fit a multiprocessor, with what updates copy.
const MOST: u64 = 80 * 1024;
/// Threads of a block with updates of two coordinates, and of one.
const THREADS: [u32; 2] = [256, 64];

/// Whether blocks of so many threads may keep their tiles of so many coordinates in shared memory.
pub(super) fn fits(dims: usize, threads: u32) -> bool {
    threads == THREADS[usize::from(dims < 2)]
}

/// What is known of a kernel when this is asked.
pub(super) struct Kernel<'a> {
    pub leaves: &'a [Leaf],
    /// `[params, _h*, _b*] -> { S[i] }`: the instances of the tile.
    pub one_tile: &'a isl::UnionSet,
    /// `[params, _h*, _b*]`
    pub context: &'a isl::Set,
    pub threads: u32,
}

impl Kernel<'_> {
    /// `[params, _h*, _b*, _k] -> { S[i] }`: instances of a block in a step.
    pub fn in_step(&self, domain: &isl::UnionSet, step: &isl::UnionPwAff) -> Result<isl::UnionSet> {
        let text = format!("[{Step}] -> {{ [k] : k = {Step} }}");
        let at = isl::UnionSet::read(self.context.context(), &text)?;
        let now = member_map(step)?.intersect_range(at)?.domain()?;
        let here = domain.clone().intersect(self.one_tile.clone())?.intersect(now)?;
        Ok(here.intersect_params(self.context.clone())?)
    }
}

impl Tasks<'_> {
    /// What a block keeps in shared memory, and the number of the update that a leaf is.
    pub fn memory(&self, k: &Kernel<'_>) -> Result<(TaskMemory, Vec<Option<usize>>)> {
        let nothing = || (TaskMemory::default(), vec![None; k.leaves.len()]);
        match budgeted(&self.scop.ctx, "tasks", BUDGET, || self.found(k)) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Ok(nothing()),
            Err(e) if is_quota(&e) => Ok(nothing()),
            Err(e) => Err(e),
        }
    }

    fn found(&self, k: &Kernel<'_>) -> Result<Option<(TaskMemory, Vec<Option<usize>>)>> {
        let dims = self.site.members.len();
        if !fits(dims, k.threads) {
            return Ok(None);
        }
        let all = self.scop.statements.iter().filter(|s| self.runs(s).unwrap_or(true));
        if !all.clone().all(|s| s.is_plain() && s.updates.is_empty()) {
            return Ok(None);
        }
        let mut homes = Vec::new();
        for id in (0..self.scop.arrays.len()).map(ArrayId).filter(|id| self.scop.array(*id).is_memory()) {
            if self.writes(id)?.is_empty()? {
                continue;
            }
            match self.home(k, id)? {
                Some(home) => homes.push(home),
                None => return Ok(None),
            }
        }
        let (mut updates, mut of) = (Vec::new(), Vec::new());
        let mut rest = k.one_tile.clone();
        for leaf in k.leaves {
            let update = self.update(k, &homes, leaf, updates.len())?;
            of.push(update.is_some().then_some(updates.len()));
            if let Some(u) = update {
                rest = rest.subtract(u.instances.clone())?;
                updates.push(u);
            }
        }
        let stages = self.stages(k, &homes, &rest)?;
        let boxes = homes.iter().map(|h| &h.at).chain(stages.iter().map(|s| &s.at));
        let bytes: u64 =
            boxes.map(|b| u64::from(b.elements()) * u64::from(self.scop.array(b.array).elem.bytes())).sum();
        if bytes > MOST {
            return Ok(None);
        }
        Ok(Some((TaskMemory { homes, stages, updates, carried: Vec::new() }, of)))
    }

    fn runs(&self, s: &Statement) -> Result<bool> {
        Ok(!self.domain.extract_set(s.domain.space()?)?.is_empty()?)
    }

    fn writes(&self, id: ArrayId) -> Result<isl::UnionMap> {
        let all = self.scop.accesses(|_, a| a.array == id && a.kind != AccessKind::Read)?;
        Ok(all.intersect_domain(self.domain.clone())?)
    }

    fn reads(&self, id: ArrayId) -> Result<isl::UnionMap> {
        let all = self.scop.accesses(|_, a| a.array == id && a.kind == AccessKind::Read)?;
        Ok(all.intersect_domain(self.domain.clone())?)
    }

    /// The elements of an array, as one set, with what is known of all blocks left out.
    fn elements(&self, k: &Kernel<'_>, id: ArrayId, elements: isl::UnionSet) -> Result<isl::Set> {
        let array = self.scop.array(id);
        let s: Vec<_> = (0..array.dims()).map(|d| format!("s{d}")).collect();
        let mut out =
            isl::Set::read(&self.scop.ctx, &format!("{{ {}[{}] : false }}", array.name, s.join(", ")))?;
        for set in elements.sets()? {
            if set.tuple_name()?.as_deref() == Some(array.name.as_str()) {
                out = out.union(set)?;
            }
        }
        Ok(out.coalesce()?.gist_params(k.context.clone())?.coalesce()?)
    }

    /// The box of an array that has all that a block writes of it.
    fn home(&self, k: &Kernel<'_>, id: ArrayId) -> Result<Option<Home>> {
        let (ctx, array) = (&self.scop.ctx, self.scop.array(id));
        let n = self.blocks.len();
        let written = self.elements(k, id, k.one_tile.clone().apply(self.writes(id)?)?)?;
        let written_here = written.clone().intersect_params(k.context.clone())?;
        // The tile along each coordinate: the sum comes first, the last one is what the others leave of it.
        let last: String = self.blocks[1..].iter().map(|b| format!(" - {b}")).collect();
        let tiles: Vec<_> =
            self.blocks[1..].iter().cloned().chain([format!("({}{last})", self.blocks[0])]).collect();
        let params = self.blocks.join(", ");
        let dims = array.dims();
        let s: Vec<_> = (0..dims).map(|d| format!("s{d}")).collect();
        let mut corner = Vec::new();
        for d in 0..dims {
            let mut found = None;
            for tile in tiles.iter().take(n) {
                for lower in [format!("{TILE} * {tile}"), format!("-{TILE} * {tile} - {}", TILE - 1)] {
                    let inside = format!("0 <= s{d} - ({lower}) < {TILE}");
                    let text = format!("[{params}] -> {{ {}[{}] : {inside} }}", array.name, s.join(", "));
                    if found.is_none() && written_here.is_subset(&isl::Set::read(ctx, &text)?)? {
                        found = Some(lower);
                    }
                }
            }
            match found {
                Some(lower) => corner.push(format!("l{d} = {lower}")),
                None => return Ok(None),
            }
        }
        if corner.is_empty() {
            return Ok(None);
        }
        let l: Vec<_> = (0..dims).map(|d| format!("l{d}")).collect();
        let corner = format!("[{params}] -> {{ [{}] : {} }}", l.join(", "), corner.join(" and "));
        let corner = isl::Set::read(ctx, &corner)?;
        let size = vec![TILE as u32; dims];
        let mut at = TileBox { array: id, corner, size, copied: written.clone() };
        let before = k.one_tile.clone().apply(self.of_ones_before()?)?;
        let before =
            self.elements(k, id, before.intersect(isl::UnionSet::from_set(at.cells(&array.name)?)?)?)?;
        at.copied = before;
        if planted("home-copy") {
            let first = format!("{{ {}[{}] : s0 mod {TILE} = 0 }}", array.name, s.join(", "));
            at.copied = at.copied.subtract(isl::Set::read(ctx, &first)?)?;
        }
        Ok(Some(Home { at, stored: written }))
    }

    /// `{ S[i] -> A[s] }`: reads of what no instance of the launch has written.
    fn of_ones_before(&self) -> Result<isl::UnionMap> {
        let other = self.deps.tagged_flow.clone().subtract_domain(self.domain.clone())?.range()?.unwrap()?;
        Ok(self.deps.no_source.clone().union(other)?.intersect_domain(self.domain.clone())?)
    }

    /// `[params, _h*] -> { S[i] -> [k] }`
    fn steps_of(&self, leaves: &[Leaf]) -> Result<isl::UnionMap> {
        let mut all = isl::UnionMap::empty(&self.scop.ctx)?;
        for leaf in leaves {
            if let Some(At::Loop(m)) = leaf.at.first() {
                all = all.union(member_map(m)?.intersect_domain(leaf.domain.clone())?)?;
            }
        }
        Ok(all)
    }

    /// Boxes for what `rest` reads of others: one tile of an array, in one step.
    fn stages(&self, k: &Kernel<'_>, homes: &[Home], rest: &isl::UnionSet) -> Result<Vec<Stage>> {
        let ctx = &self.scop.ctx;
        let steps = self.steps_of(k.leaves)?;
        let (mut out, mut when) = (Vec::new(), isl::UnionSet::empty(ctx)?);
        for id in (0..self.scop.arrays.len()).map(ArrayId).filter(|id| self.scop.array(*id).is_memory()) {
            let array = self.scop.array(id);
            let dims = array.dims();
            if !(1..=2).contains(&dims) {
                continue;
            }
            let reads = self.reads(id)?.intersect_domain(rest.clone())?;
            let home = homes.iter().find(|h| h.at.array == id);
            let mut read = reads.clone().range()?;
            if let Some(home) = home {
                read = read.subtract(isl::UnionSet::from_set(home.at.cells(&array.name)?)?)?;
            }
            let read = read.intersect_params(k.context.clone())?.coalesce()?;
            if read.is_empty()? {
                continue;
            }
            let (s, t): (Vec<_>, Vec<_>) = (0..dims).map(|d| (format!("s{d}"), format!("t{d}"))).unzip();
            let inside: Vec<_> =
                (0..dims).map(|d| format!("{TILE} t{d} <= s{d} < {TILE} t{d} + {TILE}")).collect();
            let to_tile = format!(
                "{{ {}[{}] -> [{}] : {} }}",
                array.name,
                s.join(", "),
                t.join(", "),
                inside.join(" and ")
            );
            let tile = isl::Set::from_union_set(read.clone().apply(isl::UnionMap::read(ctx, &to_tile)?)?)?;
            let tile = tile.gist_params(k.context.clone())?.coalesce()?;
            if !isl::Map::from_range(tile.clone().intersect_params(k.context.clone())?)?.is_single_valued()? {
                continue;
            }
            let first: Vec<_> = t.iter().map(|t| format!("{TILE} {t}")).collect();
            let to_corner = format!("{{ [{}] -> [{}] }}", t.join(", "), first.join(", "));
            let corner = tile.apply(isl::Map::read(ctx, &to_corner)?)?.coalesce()?;
            let early = home.is_none();
            if !early {
                let now = reads.intersect_range(read.clone())?.domain()?.apply(steps.clone())?;
                let both = when.clone().union(now)?.coalesce()?;
                if !isl::Map::from_range(isl::Set::from_union_set(both.clone())?)?.is_single_valued()? {
                    continue;
                }
                when = both;
            }
            let copied = self.elements(k, id, read)?;
            out.push(Stage {
                at: TileBox { array: id, corner, size: vec![TILE as u32; dims], copied },
                early,
            });
        }
        Ok(out)
    }

    /// `[params, _h*, _b*] -> { [k] }`: where stages are filled.
    pub fn stage_steps(&self, k: &Kernel<'_>, memory: &TaskMemory) -> Result<isl::UnionSet> {
        let mut all = isl::UnionSet::empty(&self.scop.ctx)?;
        let mut rest = k.one_tile.clone();
        for u in &memory.updates {
            rest = rest.subtract(u.instances.clone())?;
        }
        for s in memory.stages.iter().filter(|s| !s.early) {
            let reads = self.reads(s.at.array)?.intersect_domain(rest.clone())?;
            let reads = reads.intersect_range(isl::UnionSet::from_set(s.at.copied.clone())?)?;
            all = all.union(reads.domain()?.apply(self.steps_of(k.leaves)?)?)?;
        }
        Ok(all.coalesce()?)
    }

    /// The only write of a leaf with one statement, where its element and its time say which instance it is.
    pub(super) fn written<'a>(
        &'a self,
        homes: &'a [Home],
        domain: &isl::UnionSet,
        time: &isl::UnionPwAff,
    ) -> Result<Option<Written<'a>>> {
        let [set] = &domain.sets()?[..] else { return Ok(None) };
        let name = set.tuple_name()?.unwrap_or_default();
        let Some((id, statement)) = self.scop.statement_named(&name) else { return Ok(None) };
        let plain = |a: &Access| matches!(a.value, AccessValue::Instruction(_));
        let is_write = |i: &usize| statement.accesses[*i].kind != AccessKind::Read;
        let [access] = (0..statement.accesses.len()).filter(is_write).collect::<Vec<_>>()[..] else {
            return Ok(None);
        };
        let w = &statement.accesses[access];
        if !statement.accesses.iter().all(plain) || w.kind != AccessKind::MustWrite {
            return Ok(None);
        }
        let Some(home) = homes.iter().find(|h| h.at.array == w.array) else { return Ok(None) };
        if home.at.size.len() > 2 || home.at.size.len() != self.blocks.len() {
            return Ok(None);
        }
        let cell = w.relation.clone().intersect_domain(set.clone())?;
        let time = isl::Map::from_union_map(member_map(time)?.intersect_domain(domain.clone())?)?;
        let place = cell.clone().reset_tuple_id(isl::DimType::Out)?.flat_range_product(time)?;
        let place = place.intersect_params(crate::known(self.scop)?)?.coalesce()?;
        let one_to_one = place.is_injective()? && place.is_single_valued()?;
        let set = set.clone();
        Ok(one_to_one.then_some(Written { id, statement, access, home, set, cell, place }))
    }

    /// A leaf as an update, if it is one.
    fn update(&self, k: &Kernel<'_>, homes: &[Home], leaf: &Leaf, number: usize) -> Result<Option<Update>> {
        let (&[At::Loop(ref step), At::Place(_)], Some(time)) = (&leaf.at[..], time_of(&leaf.inner)) else {
            return Ok(None);
        };
        let Some(w) = self.written(homes, &leaf.domain, &time)? else { return Ok(None) };
        let Written { id: statement, statement: s, access: write, place, .. } = w.clone();
        let m = w.home.at.size.len() as u32;
        let here = k.in_step(&leaf.domain, step)?;
        let all = here.clone().apply(isl::UnionMap::from_map(place.clone())?)?.coalesce()?;
        if all.is_empty()? {
            return Ok(None);
        }
        let all = isl::Set::from_union_set(all)?;
        let points = all.clone().project_out(isl::DimType::Set, m, 1)?.coalesce()?;
        let times = all.clone().project_out(isl::DimType::Set, 0, m)?.coalesce()?;
        if !points.clone().flat_product(times.clone())?.is_equal(&all)? || !whole(&times, 0)? {
            return Ok(None);
        }
        let (mut reads, mut operands) = (Vec::new(), Vec::new());
        for (access, a) in s.accesses.iter().enumerate().filter(|(i, _)| *i != write) {
            if w.is_own(a)? {
                reads.push(access);
                continue;
            }
            let element = a.relation.clone().intersect_domain(w.set.clone())?;
            if let Some(h) = homes.iter().find(|h| h.at.array == a.array) {
                // Of others.
                let cells = isl::UnionSet::from_set(h.at.cells(&self.scop.array(a.array).name)?)?;
                let read = here.clone().apply(isl::UnionMap::from_map(element.clone())?)?;
                if !read.is_disjoint(&cells)? {
                    return Ok(None);
                }
            }
            let found = w.operand(access)?;
            match found {
                Some(o) if o.along.is_none_or(|d| whole(&points, d as u32).unwrap_or(false)) => {
                    operands.push(o)
                }
                _ => return Ok(None),
            }
        }
        let simple =
            |set: isl::Set| -> Result<isl::Set> { Ok(set.gist_params(k.context.clone())?.coalesce()?) };
        Ok(Some(Update {
            number,
            statement,
            instances: leaf.domain.clone(),
            place,
            write,
            reads,
            operands,
            points: simple(points)?,
            times: simple(times)?,
        }))
    }
}

/// What a leaf writes.
#[derive(Clone)]
pub(super) struct Written<'a> {
    pub id: StmtId,
    pub statement: &'a Statement,
    /// The access.
    pub access: usize,
    pub home: &'a Home,
    /// The instances, and their elements.
    pub set: isl::Set,
    pub cell: isl::Map,
    /// `{ S[i] -> [s, t] }`, one to one.
    pub place: isl::Map,
}

impl Written<'_> {
    /// Whether an access is of the element that its instance writes.
    pub fn is_own(&self, a: &Access) -> Result<bool> {
        let element = a.relation.clone().intersect_domain(self.set.clone())?;
        Ok(a.array == self.home.at.array && element.is_equal(&self.cell)?)
    }

    /// A read whose element is known by the time and one coordinate, or none.
    pub fn operand(&self, access: usize) -> Result<Option<Operand>> {
        let m = self.place.dim(isl::DimType::Out)?.saturating_sub(1);
        let element = self.statement.accesses[access].relation.clone().intersect_domain(self.set.clone())?;
        let by_place = element.apply_domain(self.place.clone())?;
        for along in std::iter::once(None).chain((0..m as usize).map(Some)) {
            let mut f = by_place.clone();
            for d in (0..m).rev().filter(|d| Some(*d as usize) != along) {
                f = f.project_out(isl::DimType::In, d, 1)?;
            }
            if f.is_single_valued()? {
                return Ok(Some(Operand { access, along, element: f.coalesce()? }));
            }
        }
        Ok(None)
    }
}

/// The one loop that a thread runs for an element.
fn time_of(inner: &Tree) -> Option<isl::UnionPwAff> {
    match inner {
        Tree::Mark(_, child) => time_of(child),
        Tree::Band(b) if b.members.len() == 1 && is_leaf(&b.child) => b.members.first().cloned(),
        _ => None,
    }
}

/// Whether a point has one instance there.
pub(super) fn is_leaf(tree: &Tree) -> bool {
    match tree {
        Tree::Leaf => true,
        Tree::Mark(_, child) => is_leaf(child),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::legality::{Rule, check};
    use crate::mapped::MappedKernel;
    use crate::names::Mark;
    use crate::names::Tuple::Fill;
    use crate::testing::{CHOLESKY, as_graph, kernel, scop};
    use crate::{MapOptions, MappedScop, Nests, ScheduleTree, Tree};
    use pollyrs_isl as isl;
    use pollyrs_scop::Scop;

    #[test]
    fn tiles_have_homes_stages_and_updates() {
        // Of the graph: homes, stages, those that are filled at once, updates, carried ones.
        for (s, expected) in [
            (kernel("lu"), [1, 1, 0, 2, 2]),
            (scop(CHOLESKY), [1, 1, 0, 2, 2]),
            (kernel("trisolv"), [1, 1, 1, 1, 0]),
        ] {
            let (deps, mapped) = as_graph(&s);
            let task = mapped.kernels.iter().find(|k| k.task().is_some()).unwrap().task().unwrap();
            let early = task.stages.iter().filter(|s| s.early).count();
            let found = [task.homes.len(), task.stages.len(), early, task.updates.len(), task.carried.len()];
            assert_eq!(found, expected);
            assert_eq!(check(&s, &deps, &mapped).unwrap(), []);
        }
    }

    #[test]
    fn other_blocks_have_nothing_in_shared_memory() {
        let s = scop(CHOLESKY);
        let deps = crate::dependences(&s).unwrap();
        let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
        let threads = [vec![32], vec![4, 32], vec![1, 4, 32]];
        let options = MapOptions { graphs: Nests::Always, threads, ..Default::default() };
        let mapped = crate::map(&s, &deps, &tree, &options).unwrap();
        assert!(mapped.kernels[0].task().is_some_and(|t| t.homes.is_empty()));
        assert_eq!(check(&s, &deps, &mapped).unwrap(), []);
    }

    type Change = &'static dyn Fn(&mut MappedKernel);

    /// The rules that a mapped factorisation breaks after a change.
    fn spoilt(
        (s, deps, mapped): (&Scop, &crate::Dependences, &MappedScop),
        change: &dyn Fn(&mut MappedKernel),
    ) -> Vec<Rule> {
        let mut mapped = mapped.clone();
        change(&mut mapped.kernels[0]);
        let mut rules: Vec<_> = check(s, deps, &mapped).unwrap().into_iter().map(|v| v.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    fn set(k: &MappedKernel, text: &str) -> isl::Set {
        isl::Set::read(k.domain.context(), text).unwrap()
    }

    /// The schedule with another domain.
    fn scheduled(k: &mut MappedKernel, from: &str, to: Option<&str>) {
        let ctx = k.domain.context().clone();
        let domain = k.schedule.domain().unwrap();
        let own = isl::UnionSet::read(&ctx, from).unwrap();
        let mut rest = domain.clone().subtract(own.clone()).unwrap();
        if let Some(to) = to {
            let map = isl::UnionMap::read(&ctx, to).unwrap();
            rest = rest.union(domain.intersect(own).unwrap().apply(map).unwrap()).unwrap();
        }
        let root = ScheduleTree::from_isl(&k.schedule).unwrap().root;
        k.schedule = ScheduleTree { domain: rest, root }.to_isl().unwrap();
    }

    fn without_marks(tree: Tree) -> Tree {
        match tree {
            Tree::Mark(m, child) if matches!(Mark::of(&m), Some(Mark::Update(_) | Mark::Carried(_))) => {
                without_marks(*child)
            }
            Tree::Mark(m, child) => without_marks(*child).marked(&m),
            Tree::Band(b) => {
                Tree::Band(crate::Band { child: Box::new(without_marks((*b.child).clone())), ..b })
            }
            Tree::Sequence(all) => {
                Tree::Sequence(all.into_iter().map(|(f, c)| (f, without_marks(c))).collect())
            }
            Tree::Leaf => Tree::Leaf,
        }
    }

    #[test]
    fn what_a_task_keeps_is_proved() {
        let s = scop(CHOLESKY);
        let (deps, mapped) = as_graph(&s);
        let all = (&s, &deps, &mapped);
        assert_eq!(spoilt(all, &|_| ()), []);
        let table: [(Rule, Change); 21] = [
            (Rule::Home, &|k| k.task_mut().homes.clear()),
            (Rule::Home, &|k| k.task_mut().homes[0].at.size[0] = 63),
            (Rule::Home, &|k| k.task_mut().homes[0].at.size[1] = 65),
            (Rule::Home, &|k| {
                let corner = set(k, "[_b0, _b1] -> { [64 _b1, 64 _b0 - 64 _b1 + 1] }");
                k.task_mut().homes[0].at.corner = corner;
            }),
            (Rule::Home, &|k| {
                let left = set(k, "{ A[i, j] : i > j }");
                k.task_mut().homes[0].at.copied =
                    k.task_mut().homes[0].at.copied.clone().intersect(left).unwrap();
            }),
            (Rule::Home, &|k| k.task_mut().homes[0].stored = set(k, "{ A[i, j] : j <= i and i < 100 }")),
            (Rule::Stage, &|k| k.task_mut().stages.clear()),
            (Rule::Stage, &|k| k.task_mut().stages[0].early = true),
            (Rule::Stage, &|k| k.task_mut().stages[0].at.size[1] = 32),
            (Rule::Stage, &|k| {
                let left = set(k, "{ A[i, j] : i > j }");
                k.task_mut().stages[0].at.copied =
                    k.task_mut().stages[0].at.copied.clone().intersect(left).unwrap();
            }),
            // Filled a step late, and with the waits.
            (Rule::Stage, &|k| scheduled(k, "{ _stage[k] }", Some("{ _stage[k] -> _stage[k + 1] }"))),
            (Rule::Update, &|k| {
                let ctx = k.domain.context().clone();
                let steps = k.steps().unwrap().clone();
                let own = isl::UnionSet::read(&ctx, &format!("{{ {Fill}[k] }}")).unwrap();
                let early = format!("{{ {Fill}[k] -> [k, -1, 0, 0] }}");
                let early = isl::UnionMap::read(&ctx, &early).unwrap();
                k.steps_mut().order = steps.subtract_domain(own).unwrap().union(early).unwrap();
            }),
            (Rule::Update, &|k| {
                let all = k.task_mut().updates[1].points.clone();
                k.task_mut().updates[1].points = all.intersect(set(k, "{ [i, j] : j < 64 }")).unwrap();
            }),
            (Rule::Update, &|k| {
                let all = k.task_mut().updates[1].times.clone();
                k.task_mut().updates[1].times = all.intersect(set(k, "{ [t] : t mod 64 < 63 }")).unwrap();
            }),
            (Rule::Update, &|k| k.task_mut().updates[1].operands[0].along = Some(1)),
            (Rule::Update, &|k| k.task_mut().updates[1].operands.clear()),
            (Rule::Update, &|k| k.task_mut().updates[1].reads.clear()),
            (Rule::Update, &|k| {
                let root = ScheduleTree::from_isl(&k.schedule).unwrap().root;
                let tree = ScheduleTree { domain: k.schedule.domain().unwrap(), root: without_marks(root) };
                k.schedule = tree.to_isl().unwrap();
            }),
            (Rule::Update, &|k| scheduled(k, "{ _update1[0] }", None)),
            // Instances that a thread executes at once: those of a step, and no others.
            (Rule::Together, &|k| {
                let root = ScheduleTree::from_isl(&k.schedule).unwrap().root.marked(Mark::Together);
                k.schedule = ScheduleTree { domain: k.schedule.domain().unwrap(), root }.to_isl().unwrap();
            }),
            // One that says to be all of the statement.
            (Rule::Update, &|k| {
                let all = isl::UnionSet::read(k.domain.context(), "{ S0[i, j, k] }").unwrap();
                k.task_mut().updates[1].instances = k.domain.clone().intersect(all).unwrap();
            }),
        ];
        all_found(all, &table);
    }

    fn all_found(all: (&Scop, &crate::Dependences, &MappedScop), table: &[(Rule, Change)]) {
        for (n, (rule, change)) in table.iter().enumerate() {
            let found = spoilt(all, change);
            assert!(found.contains(rule), "change {n} breaks {found:?}, not {rule:?}");
        }
    }

    #[test]
    fn what_stays_in_registers_is_proved() {
        let s = scop(CHOLESKY);
        let (deps, mapped) = as_graph(&s);
        fn of(k: &mut MappedKernel) -> &mut crate::Carried {
            &mut k.task_mut().carried[0]
        }
        let table: [(Rule, Change); 16] = [
            (Rule::Carried, &|k| {
                let all = of(k).points.clone();
                of(k).points = all.intersect(set(k, "{ [i, j, t] : j < 64 }")).unwrap();
            }),
            (Rule::Carried, &|k| {
                let all = of(k).times.clone();
                of(k).times = all.intersect(set(k, "{ [t] : t mod 64 < 63 and t mod 64 > 0 }")).unwrap();
            }),
            (Rule::Carried, &|k| of(k).operands[0].along = Some(1 - of(k).operands[0].along.unwrap())),
            (Rule::Carried, &|k| of(k).operands[0].along = None),
            (Rule::Carried, &|k| of(k).operands.truncate(1)),
            // Known where there are instances alone.
            (Rule::Carried, &|k| {
                let ctx = k.domain.context().clone();
                let some = isl::Set::read(&ctx, "{ [p, t] : p >= t }").unwrap();
                let element = of(k).operands[0].element.clone();
                of(k).operands[0].element = element.intersect_domain(some).unwrap();
            }),
            (Rule::Carried, &|k| of(k).reads.clear()),
            (Rule::Carried, &|k| of(k).time = 3),
            (Rule::Carried, &|k| of(k).time = 9),
            (Rule::Carried, &|k| of(k).place = of(k).place.clone().intersect_params(none(k)).unwrap()),
            (Rule::Carried, &|k| k.task_mut().stages.clear()),
            // An element is stored by a thread that is none of those that computed it.
            (Rule::Carried, &|k| scheduled(k, "{ _carried0[a, b, c, d] : c mod 64 = 5 }", None)),
            (Rule::Carried, &|k| {
                let ctx = k.domain.context().clone();
                let steps = k.steps().unwrap().clone();
                let own = isl::UnionSet::read(&ctx, "{ _carried0[a, b, c, d] }").unwrap();
                let late = "{ _carried0[a, b, c, d] -> [a, b, c + 1, d] }";
                let late = isl::UnionMap::read(&ctx, late).unwrap();
                k.steps_mut().order = steps.subtract_domain(own).unwrap().union(late).unwrap();
            }),
            // What divides a column reads it a step before its last update.
            (Rule::Carried, &|k| {
                let ctx = k.domain.context().clone();
                let steps = k.steps().unwrap().clone();
                let own = isl::UnionSet::read(&ctx, "{ S1[i, j] }").unwrap();
                let early = isl::UnionMap::read(&ctx, "{ [a, b, c, d] -> [a, b, c - 1, d] }").unwrap();
                let moved = steps.clone().intersect_domain(own.clone()).unwrap().apply_range(early).unwrap();
                k.steps_mut().order = steps.subtract_domain(own).unwrap().union(moved).unwrap();
            }),
            (Rule::Update, &|k| {
                let root = ScheduleTree::from_isl(&k.schedule).unwrap().root;
                let tree = ScheduleTree { domain: k.schedule.domain().unwrap(), root: without_marks(root) };
                k.schedule = tree.to_isl().unwrap();
            }),
            (Rule::Carried, &|k| {
                let all = isl::UnionSet::read(k.domain.context(), "{ S0[i, j, k] }").unwrap();
                of(k).instances = k.domain.clone().intersect(all).unwrap();
            }),
        ];
        all_found((&s, &deps, &mapped), &table);
    }

    fn none(k: &MappedKernel) -> isl::Set {
        isl::Set::read(k.domain.context(), "{ : false }").unwrap()
    }
}
