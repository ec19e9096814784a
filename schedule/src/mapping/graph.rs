//! Graphs of tiles as kernels with steps ([`crate::strategy::GRAPH`]): what a nest's block is, with waits for
//! other blocks ahead of the steps that need them.
//!
//! ```text
//! step    [K, place, loop counter, ...];   waits of step K at place -1
//! code    for K { one thread: _wait[K, b'] for all b' that step K reads from; _barrier[K, -1, 0]; the steps of a nest }
//! ```
//! A block waits for another one once, where it first needs it, and not for what it waits for through others:
//! with `R = { [b, K] -> b' : step K of task b depends on task b' }`, what is left are the first `K` of each
//! pair in `R - R ∘ R`.
//!
//! # Invariants
//! - A task waits for tasks that come before it in the lexicographic order of tiles.
//! - Barriers ahead of a step are the same for all threads: their set mentions none.

use super::leaf::{At, Leaf};
use super::options::MapOptions;
use super::site::Site;
use crate::names::Tuple::{self, Barrier, Fill, Wait};
use crate::names::names;
use crate::planted::planted;
use crate::task::TaskMemory;
use crate::tree::{Band, Tree, members_mupa};
use crate::{Dependences, Result, ScheduleError};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// The place of waits in a step, ahead of all others.
const BEFORE: i64 = -1;

/// Threads of a task: two warps where a tile has one dimension.
pub(super) fn threads(leaves: &[Leaf], options: &MapOptions) -> Vec<u32> {
    match leaves.iter().all(|l| l.members.len() < 2) {
        true => vec![64],
        false => options.threads[1].clone(),
    }
}

/// What a block does in a step beside waits and instances.
pub(super) struct Ahead {
    /// `[params, _h*, _b*] -> { [k] }`: where stages are filled.
    stages: isl::UnionSet,
    /// Updates, and the places of their leaves.
    updates: Vec<(Tuple, i64)>,
}

/// The tasks of a launch.
pub(super) struct Tasks<'a> {
    pub scop: &'a Scop,
    pub deps: &'a Dependences,
    pub site: &'a Site,
    /// `[params, _h*] -> { S[i] }`
    pub domain: &'a isl::UnionSet,
    /// The parameters of tile and thread.
    pub blocks: &'a [String],
    pub threads: &'a [String],
    /// Coordinates of a step.
    pub steps: usize,
}

/// Tuples as text, for sets and maps.
struct Text {
    /// Coordinates of the block that is waited for.
    others: Vec<String>,
    /// `_wait[k, w0, ...]`
    wait: String,
    /// `c0, c1, ...`: a step.
    step: String,
    /// What follows the first coordinate of a step ahead of all others, and the second one of any.
    before: String,
    rest: String,
}

impl Text {
    fn new(tasks: &Tasks<'_>) -> Text {
        let others = names("w", tasks.blocks.len());
        let rest = vec![", 0"; tasks.steps - 2].concat();
        Text {
            wait: format!("{Wait}[k, {}]", others.join(", ")),
            step: names("c", tasks.steps).join(", "),
            before: format!("{BEFORE}{rest}"),
            others,
            rest,
        }
    }
}

/// The barriers behind the waits: one ahead of each step that has barriers or waits.
fn meetings(domain: &isl::UnionSet, waits: &isl::Set, text: &Text) -> Result<isl::UnionSet> {
    let ctx = domain.context();
    let Text { wait, step, before, .. } = text;
    let mut meet = isl::UnionSet::empty(ctx)?;
    let ahead = isl::UnionMap::read(ctx, &format!("{{ {Barrier}[{step}] -> {Barrier}[c0, {before}] }}"))?;
    for set in domain.sets()? {
        if Tuple::of_set(&set)? == Some(Barrier) {
            meet = meet.union(isl::UnionSet::from_set(set)?.apply(ahead.clone())?)?;
        }
    }
    let waited = isl::UnionMap::read(ctx, &format!("{{ {wait} -> {Barrier}[k, {before}] }}"))?;
    for set in isl::UnionSet::from_set(waits.clone())?.apply(waited)?.sets()? {
        meet = meet.add_set(set.remove_divs()?)?;
    }
    Ok(meet)
}

/// The tree of a thread with waits, stages and updates: names of updates, and the places of their leaves.
fn with_waits(
    ctx: &isl::Context,
    root: Tree,
    text: &Text,
    updates: &[(Tuple, i64)],
    staged: bool,
) -> Result<Tree> {
    let Text { others, wait, step, .. } = text;
    let Tree::Band(Band { mut members, permutable, coincident, child }) = root else {
        return Err(ScheduleError::Unsupported("a task without a loop of steps"));
    };
    let (1, Tree::Sequence(then)) = (members.len(), *child) else {
        return Err(ScheduleError::Unsupported("a task without a sequence in its loop of steps"));
    };
    let own = [wait.clone()].into_iter();
    let own = own.chain(updates.iter().map(|(name, _)| *name).chain(staged.then_some(Fill)).map(of_step));
    for tuple in own {
        let at = isl::UnionPwAff::read(ctx, &format!("{{ {tuple} -> [(k)] }}"))?;
        members[0] = members[0].clone().union_add(at)?;
    }
    let filter = |text: String| isl::UnionSet::read(ctx, &text);
    let order = others.iter().map(|w| isl::UnionPwAff::read(ctx, &format!("{{ {wait} -> [({w})] }}")));
    let order = order.collect::<isl::Result<Vec<_>>>()?;
    let behind = |more: &str| format!("{{ {Barrier}[{step}] : c1 = {BEFORE}{more} }}");
    let (first, last) = if staged { (" and c2 = 0", " and c2 = 1") } else { ("", "") };
    let mut children = vec![
        (filter(format!("{{ {wait} }}"))?, Tree::Leaf.under(order)),
        (filter(behind(first))?, Tree::Leaf),
    ];
    if staged {
        children.push((filter(format!("{{ {} }}", of_step(Fill)))?, Tree::Leaf));
        children.push((filter(behind(last))?, Tree::Leaf));
    }
    for (own, child) in then {
        let (mut all, mut child) = (own.clone(), child);
        for (name, place) in updates {
            let there = filter(format!("{{ {Barrier}[{step}] : c1 = {place} }}"))?;
            if !own.is_disjoint(&there)? {
                let update = filter(format!("{{ {} }}", of_step(*name)))?;
                child = Tree::Sequence(vec![(update.clone(), Tree::Leaf), (all.clone(), child)]);
                all = all.union(update)?;
            }
        }
        children.push((all, child));
    }
    let child = Box::new(Tree::Sequence(children));
    Ok(Tree::Band(Band { members, permutable, coincident, child }))
}

/// What a block does once in a step: `_stage[k]`.
fn of_step(name: Tuple) -> String {
    format!("{name}[k]")
}

impl Tasks<'_> {
    /// A thread's tree, its domain and the steps, with waits.
    pub fn waiting(
        &self,
        root: Tree,
        domain: isl::UnionSet,
        steps: isl::UnionMap,
        more: &Ahead,
    ) -> Result<(Tree, isl::UnionSet, isl::UnionMap)> {
        let ctx = domain.context().clone();
        let staged = !more.stages.is_empty()?;
        if self.steps < if staged { 3 } else { 2 } {
            return Err(ScheduleError::Unsupported("a task without steps"));
        }
        let text = Text::new(self);
        let Text { wait, rest, before, .. } = &text;
        let mine = self.waits_of_block()?;
        let mut meet = meetings(&domain, &mine, &text)?;
        let only: Vec<_> = self.threads.iter().map(|t| format!("{t} = 0")).collect();
        let only = format!("[{}] -> {{ : {} }}", self.threads.join(", "), only.join(" and "));
        let mine = mine.intersect_params(isl::Set::read(&ctx, &only)?)?;
        let read = |text: String| isl::UnionMap::read(&ctx, &text);
        let mut updates = Vec::new();
        for (name, place) in &more.updates {
            let to = format!("{{ {Barrier}[{}] -> {name}[c0] : c1 = {place} }}", text.step);
            updates.push((*name, *place, domain.clone().apply(read(to)?)?));
        }
        let mut steps = steps.union(read(format!("{{ {wait} -> [k, {before}] }}"))?)?;
        let mut domain = domain.add_set(mine)?;
        if staged {
            let zeros = vec![", 0"; self.steps.saturating_sub(3)].concat();
            let second = format!("{BEFORE}, 1{zeros}");
            domain = domain.union(more.stages.clone().apply(read(format!("{{ [k] -> {Fill}[k] }}"))?)?)?;
            steps = steps.union(read(format!("{{ {Fill}[k] -> [k, {second}] }}"))?)?;
            let behind = read(format!("{{ [k] -> {Barrier}[k, {second}] }}"))?;
            for set in more.stages.clone().apply(behind)?.sets()? {
                meet = meet.add_set(set.remove_divs()?)?;
            }
        }
        for (name, place, set) in &updates {
            domain = domain.union(set.clone())?;
            steps = steps.union(read(format!("{{ {name}[k] -> [k, {place}{rest}] }}"))?)?;
        }
        let domain = domain.union(meet.coalesce()?)?;
        let updates: Vec<_> = updates.iter().map(|(name, place, _)| (*name, *place)).collect();
        Ok((with_waits(&ctx, root, &text, &updates, staged)?, domain, steps))
    }

    /// `[params, _h*, _b*] -> { _wait[k, w*] }`: what this block waits for.
    fn waits_of_block(&self) -> Result<isl::Set> {
        let n = self.blocks.len();
        let b = names("b", n);
        let equal: Vec<_> = b.iter().zip(self.blocks).map(|(b, p)| format!("{b} = {p}")).collect();
        let here =
            format!("[{}] -> {{ [{}, k] : {} }}", self.blocks.join(", "), b.join(", "), equal.join(" and "));
        let here = isl::Set::read(self.domain.context(), &here)?;
        let mine = self.waits()?.intersect_domain(here)?.wrap()?.flatten()?;
        Ok(mine.project_out(isl::DimType::Set, 0, n as u32)?.set_tuple_name(&Wait.to_string())?.coalesce()?)
    }

    /// What comes of what a block keeps in shared memory.
    pub fn ahead(
        &self,
        k: &super::task::Kernel<'_>,
        memory: &TaskMemory,
        updates: &[Option<usize>],
    ) -> Result<Ahead> {
        let mut out = Ahead { stages: self.stage_steps(k, memory)?, updates: Vec::new() };
        for (leaf, update) in k.leaves.iter().zip(updates) {
            let (Some(u), Some(At::Place(place))) =
                (update.and_then(|u| memory.updates.get(u)), leaf.at.get(1))
            else {
                continue;
            };
            out.updates.push((u.tuple(), *place));
        }
        Ok(out)
    }

    /// `[params, _h*] -> { [b, k] -> [b'] }`: the tasks that step `k` of a task waits for.
    fn waits(&self) -> Result<isl::Map> {
        let ctx = &self.scop.ctx;
        let n = self.blocks.len();
        let Tree::Band(Band { members, .. }) = &self.site.inner else {
            return Err(ScheduleError::Unsupported("a task without a loop of steps"));
        };
        // Tiles by all coordinates but their sum: the rational shadow of these is exact more often.
        let Some((sum, task)) = self.site.members.split_first() else {
            return Err(ScheduleError::Unsupported("a task without a tile"));
        };
        let mut last = sum.clone();
        for m in task {
            last = last.sub(m.clone())?;
        }
        let tile = [task, &[last]].concat();
        let place = members_mupa(&[tile.as_slice(), members.as_slice()].concat())?;
        let tile = isl::UnionMap::from_multi_union_pw_aff(members_mupa(&tile)?)?;
        let place = isl::UnionMap::from_multi_union_pw_aff(place)?;
        let by_sum = |x: &str, more: &str| -> Result<isl::UnionMap> {
            let x = names(x, n);
            let (sum, all) = (x.join(" + "), x.join(", "));
            let rest: String = x[..n - 1].iter().map(|x| format!(", {x}")).collect();
            Ok(isl::UnionMap::read(ctx, &format!("{{ [{all}{more}] -> [{sum}{rest}{more}] }}"))?)
        };
        let deps = self.deps.all(self.scop)?;
        let deps = deps.intersect_domain(self.domain.clone())?.intersect_range(self.domain.clone())?;
        let (b, w) = (names("b", n).join(", "), names("w", n).join(", "));
        let apart = earlier(&names("w", n), &names("b", n));
        let apart = isl::UnionMap::read(ctx, &format!("{{ [{b}, k] -> [{w}] : {apart} }}"))?;
        let need = deps.apply_domain(tile)?.apply_range(place)?.reverse()?;
        let mut all = isl::UnionMap::empty(ctx)?;
        for map in need.maps()? {
            all = all.add_map(map.wrap()?.remove_divs()?.coalesce()?.unwrap()?)?;
        }
        let empty = format!("{{ [{b}, k] -> [{w}] : false }}");
        // A matrix of one tile has dependences, but none between tiles.
        let all = all.apply_domain(by_sum("b", ", k")?)?.apply_range(by_sum("w", "")?)?.intersect(apart)?;
        let mut all = match all.is_empty()? {
            true => isl::Map::read(ctx, &empty)?,
            false => isl::Map::from_union_map(all)?.coalesce()?,
        };
        if planted("graph-wait") {
            // Tasks do not wait for the one just before in the order of the last coordinate.
            let spared = format!("{{ [{b}, k] -> [{w}] : w0 = b0 - 1 }}");
            all = all.subtract(isl::Map::read(ctx, &spared)?)?;
        }
        // Once for each pair.
        let turn = format!("{{ [[{b}, k] -> [{w}]] -> [[[{b}] -> [{w}]] -> [k]] }}");
        let pairs = all.wrap()?.apply(isl::Map::read(ctx, &turn)?)?.unwrap()?.lexmin()?;
        let back = format!("{{ [[[{b}] -> [{w}]] -> [k]] -> [[{b}, k] -> [{w}]] }}");
        let first = pairs.wrap()?.apply(isl::Map::read(ctx, &back)?)?.unwrap()?.coalesce()?;
        // Through others.
        let after = format!("{{ [{b}, k] -> [{b}, l] : l >= k }}");
        let by = first.clone().apply_domain(isl::Map::read(ctx, &after)?)?;
        let whole = isl::Map::read(ctx, &format!("{{ [{b}, k] -> [{b}] }}"))?;
        let through = by.apply_range(first.clone().apply_domain(whole)?)?;
        match through.is_disjoint(&first)? {
            true => Ok(first),
            false => Ok(first.subtract(through)?.coalesce()?),
        }
    }
}

/// `a < b`, lexicographically, as text.
fn earlier(a: &[String], b: &[String]) -> String {
    let case = |i: usize| {
        let equal: String = (0..i).map(|j| format!("{} = {} and ", a[j], b[j])).collect();
        format!("({equal}{} < {})", a[i], b[i])
    };
    (0..a.len()).map(case).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use crate::testing::{kernel, scop};
    use crate::{MapOptions, Nests, Time};
    use pollyrs_isl as isl;

    fn value(t: &Time, n: i64) -> f64 {
        match t {
            Time::Number(v) => *v,
            Time::Extent(f) => {
                let at = isl::Set::read(f.context(), &format!("[n] -> {{ : n = {n} }}")).unwrap();
                f.clone().intersect_params(at).unwrap().max_value().unwrap().to_i64().unwrap_or(0) as f64
            }
            Time::Sum(all) => all.iter().map(|t| value(t, n)).sum(),
            Time::Product(all) => all.iter().map(|t| value(t, n)).product(),
            Time::Max(all) => all.iter().map(|t| value(t, n)).fold(0.0, f64::max),
        }
    }

    #[test]
    fn one_launch_is_estimated_to_be_the_faster_form() {
        // Measured on an H100: a factor of two for LU of 65, of one and a half for 512, more for all others.
        let right_looking = "param n; array A n n;
             for k : 0 <= k < n {
               for i : k < i < n { S0 : A[i,k] = A[i,k], A[k,k]; }
               for i : k < i < n { for j : k < j < n { S1 : A[i,j] = A[i,j], A[i,k], A[k,j]; } } }";
        let cholesky = "param n; array A n n;
             for i : 0 <= i < n {
               for j : 0 <= j < i { for k : 0 <= k < j { S0 : A[i,j] = A[i,j], A[i,k], A[j,k]; } S1 : A[i,j] = A[i,j], A[j,j]; }
               for k : 0 <= k < i { S2 : A[i,i] = A[i,i], A[i,k]; }
               S3 : A[i,i] = A[i,i];
             }";
        let mut wrong = Vec::new();
        for s in [scop(right_looking), kernel("lu"), scop(cholesky), kernel("trisolv")] {
            let deps = crate::dependences(&s).unwrap();
            let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
            let options = MapOptions { graphs: Nests::Auto, ..Default::default() };
            let mapped = crate::map(&s, &deps, &tree, &options).unwrap();
            let nested = &mapped.nested[0];
            for n in [65, 200, 512, 1024, 2048, 4000, 8192] {
                let [one, many] = [0, 1].map(|i| value(&nested.times[i], n));
                if one >= many {
                    wrong.push(format!("{} {n}: {one} and {many}", s.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
