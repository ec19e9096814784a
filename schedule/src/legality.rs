//! The checker: proves a mapped SCoP legal from the SCoP and its dependences alone.
//!
//! # What is proved
//! 1. *Once.* The launches in the host schedule execute every statement instance of the SCoP, each exactly
//!    once.
//! 2. *In the grid.* `tile_map` and `thread_map` are total and single-valued on every launch, tiles lie in
//!    `lower .. lower + count`, threads in `0 .. size`; a thread's schedule has exactly the instances of its
//!    tile and thread; what a kernel's context says holds in every thread.
//! 3. *In order.* Every dependence goes from one launch to a later one, or stays in one thread of one launch
//!    and goes forward in its schedule, or, in a kernel with steps, goes from one step of a block to a later
//!    one, or within one forward in a thread. (There are no other barriers; different threads of a launch
//!    must not depend on each other.)
//! 4. *Private.* Each cell of a private array belongs to one thread of one launch, and between a write and a
//!    read that receives its value no other write of that array runs in the thread. Private arrays are not
//!    live out.
//!
//! 5. *Steps.* In a kernel with steps all threads of a block meet at the same barriers in the same order, and
//!    each runs an instance behind the barriers before its step and ahead of the one behind it: the module
//!    `steps`.
//! 6. *Windows.* What a block keeps in shared memory for its steps is there when it is read: the module
//!    `windows`.
//!
//! 7. *Promotion.* A cell that a loop keeps in a register is one, and nothing else in the loop is of it: the
//!    module `promotion`.
//!
//! 8. *Tasks.* Where blocks wait for each other, each dependence between two of them is one that is waited
//!    for, and nobody waits for a block that was claimed later: the module `graph`.
//!
//! 9. *Together.* Instances that a thread may execute at once don't depend on each other: the module
//!    `together`.
//!
//! 10. *Counters.* What a block counts in shared memory is updates of one operation of integers, in the box
//!     that it has counters for: the module `counters`.
//!
//! 11. *Teams.* What all threads of a team load nobody writes meanwhile: the module `team`.
//!
//! Kernels with several points a thread have rules of their own instead of (2): the module `tiling`.
//!
//! # How
//! Kernel parameters `_h*`, `_b*`, `_t*` are existentially quantified after they were bound to tuples: with
//! `launch = { S[i] -> K[_h] }` and `before = { K[h] -> K'[h'] : earlier on the host }`, (3) says that every
//! dependence lies in `launch⁻¹ ∘ before ∘ launch = { S[i] -> T[j] : the launch of S[i] is earlier }` or,
//! within one launch, in `{ S[i] -> T[j] : same _h, _b, _t and S[i] earlier in the thread }`.
//!
//! Nothing of the scheduler or of the mapping is used here.

use crate::mapped::{MappedKernel, MappedScop, Placement};
use crate::names::names;
use crate::{Dependences, Result, budgeted, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};
use std::fmt;

/// The rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An instance is not executed.
    Missing,
    /// An instance is executed twice, or one that the program does not execute.
    Excess,
    /// A tile or thread index is missing, ambiguous or out of range.
    Grid,
    /// A thread's schedule has not exactly the instances of its tile and thread.
    ThreadDomain,
    /// The context of a kernel does not hold in every thread.
    Context,
    /// A dependence is not kept.
    Order,
    /// A private array is not.
    Private,
    /// A point of a tile uses a cell that is not its own, or several.
    Register,
    /// A buffer in shared memory does not hold what is read from it.
    Shared,
    /// Threads of a block don't meet at the same barriers, or one is missing between two steps.
    Barrier,
    /// A window of shared memory does not hold what is read from it.
    Window,
    /// A slice of a launch touches more than it is said to.
    Slice,
    /// A part of a launch touches or writes more than it is said to.
    Part,
    /// A loop keeps a cell in a register that is not one, or that memory must have meanwhile.
    Promotion,
    /// A task that another one needs is not waited for, or one that may not run yet is.
    Wait,
    /// An element of a task's own tile is not in its home, or another task's is.
    Home,
    /// A stage does not hold what is read from it.
    Stage,
    /// A step of a task that is an update is not one.
    Update,
    /// Steps between which elements stay in registers are not such, or memory must have them meanwhile.
    Carried,
    /// A load that may go ahead of the store of what it reads.
    Hoisting,
    /// Instances that a thread may execute at once depend on each other.
    Together,
    /// An array that a block counts in shared memory is not only counted, or has no room there.
    Counters,
    /// What the threads of a team share might be written meanwhile.
    Team,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Missing => "not executed",
            Rule::Excess => "executed more than once",
            Rule::Grid => "outside the grid",
            Rule::ThreadDomain => "not what the thread executes",
            Rule::Context => "outside the context",
            Rule::Order => "dependence not kept",
            Rule::Private => "private array shared or overwritten",
            Rule::Register => "cell of an array shared by points",
            Rule::Shared => "read from a buffer that does not hold it",
            Rule::Barrier => "not separated by a barrier of all threads",
            Rule::Window => "not in the window that it is read from",
            Rule::Part => "not among what a part touches",
            Rule::Slice => "not among what a slice touches",
            Rule::Promotion => "not the cell that stays in a register",
            Rule::Wait => "not waited for by a task that needs it, or by one that may not wait for it",
            Rule::Home => "not at home in one task",
            Rule::Stage => "not in the stage that it is read from",
            Rule::Update => "not the instances of an update",
            Rule::Carried => "not an update whose elements may stay in registers",
            Rule::Hoisting => "hoisted, and written by the same launch before",
            Rule::Together => "executed at once with what it depends on",
            Rule::Counters => "not an update that a block can make in shared memory",
            Rule::Team => "not what the threads of a team may share",
        })
    }
}

/// A broken rule with a counterexample in isl's notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: Rule,
    /// The kernel or array concerned.
    pub at: String,
    pub counterexample: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (for example {})", self.at, self.rule, self.counterexample)
    }
}

/// All violations of the rules; empty if the mapping is proved legal.
pub fn check(scop: &Scop, deps: &Dependences, mapped: &MappedScop) -> Result<Vec<Violation>> {
    check_within(scop, deps, mapped, 4 * crate::DEFAULT_BUDGET)
}

/// [`check`] with at most `budget` isl operations.
pub fn check_within(
    scop: &Scop,
    deps: &Dependences,
    mapped: &MappedScop,
    budget: u64,
) -> Result<Vec<Violation>> {
    budgeted(&scop.ctx, "checking", budget, || {
        let mut c =
            Checker { scop, deps, mapped, known: known(scop)?, launches: Vec::new(), found: Vec::new() };
        c.once()?;
        for i in 0..mapped.kernels.len() {
            match mapped.kernels[i].tiling() {
                Some(t) => c.tiling(&mapped.kernels[i], t)?,
                None => c.grid(i)?,
            }
            if mapped.kernels[i].steps().is_some() {
                c.steps(i)?;
            }
            c.windows(i)?;
            c.promotions(i)?;
            c.together(i)?;
            c.hoisting(i)?;
            c.counters(i)?;
            c.team(i)?;
            c.task(i)?;
        }
        c.order()?;
        c.private()?;
        Ok(c.found)
    })
}

struct Checker<'a> {
    scop: &'a Scop,
    deps: &'a Dependences,
    mapped: &'a MappedScop,
    known: isl::Set,
    /// By kernel: `[params] -> { S[i] -> K[_h] }`, launched instances only.
    launches: Vec<isl::UnionMap>,
    found: Vec<Violation>,
}

impl Checker<'_> {
    fn report_set(&mut self, rule: Rule, at: &str, bad: isl::UnionSet) -> Result<()> {
        let bad = bad.intersect_params(self.known.clone())?;
        for set in bad.sets()? {
            if !set.is_empty()? {
                let counterexample = set.sample_point()?.to_string();
                self.found.push(Violation { rule, at: at.to_string(), counterexample });
            }
        }
        Ok(())
    }

    fn report_map(&mut self, rule: Rule, at: &str, bad: isl::UnionMap) -> Result<()> {
        self.report_set(rule, at, bad.wrap()?)
    }

    /// Rule 1; fills `launches`.
    fn once(&mut self) -> Result<()> {
        let ctx = &self.scop.ctx;
        let host = self.mapped.host.domain()?.intersect_params(self.known.clone())?;
        let mut all = isl::UnionMap::empty(ctx)?;
        for k in &self.mapped.kernels {
            let dims: Vec<_> = (0..k.host_params.len()).map(|i| format!("x{i}")).collect();
            let equal: Vec<_> = dims.iter().zip(&k.host_params).map(|(d, p)| format!("{d} = {p}")).collect();
            let text = format!(
                "[{}] -> {{ {}[{}] : {} }}",
                k.host_params.join(","),
                k.name,
                dims.join(","),
                if equal.is_empty() { "true".into() } else { equal.join(" and ") }
            );
            let tuple = isl::UnionSet::read(ctx, &text)?;
            let map = k.domain.clone().product_map(tuple)?;
            let map = forget(map, &k.host_params)?.intersect_params(self.known.clone())?;
            let map = map.intersect_range(host.clone())?.coalesce()?;
            all = all.union(map.clone())?;
            self.launches.push(map);
        }
        let domain = self.scop.domain()?.intersect_params(self.known.clone())?;
        let executed = all.clone().domain()?;
        self.report_set(Rule::Missing, &self.scop.name, domain.clone().subtract(executed.clone())?)?;
        self.report_set(Rule::Excess, &self.scop.name, executed.subtract(domain)?)?;
        for (i, a) in self.launches.clone().into_iter().enumerate() {
            if !a.is_single_valued()? {
                let twice = a.clone().reverse()?.apply_range(a.clone())?;
                let twice = twice.subtract(a.clone().range()?.identity()?)?;
                self.report_map(Rule::Excess, &self.mapped.kernels[i].name.clone(), twice)?;
            }
            for b in self.launches.clone().iter().skip(i + 1) {
                let both = a.clone().domain()?.intersect(b.clone().domain()?)?;
                self.report_set(Rule::Excess, &self.mapped.kernels[i].name.clone(), both)?;
            }
        }
        // A launch that executes nothing would have a grid without meaning; where there are steps, the grid
        // of every launch is checked.
        let mut stepless = isl::UnionSet::empty(ctx)?;
        for launch in host.sets()? {
            let name = launch.tuple_name()?.unwrap_or_default();
            if !self.mapped.kernels.iter().any(|k| k.name == name && k.steps().is_some()) {
                stepless = stepless.add_set(launch)?;
            }
        }
        let idle = if stepless.is_empty()? { stepless } else { stepless.subtract(all.range()?)? };
        self.report_set(Rule::Excess, "host", idle)
    }

    /// Rule 2. (Without steps those are launched that execute something.)
    fn grid(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let domain = k.domain.clone().intersect_params(self.known.clone())?;
        let launched = match k.steps() {
            Some(_) => self.launched(k)?,
            None => domain.clone().params()?.coalesce()?,
        };
        for (whole, dims) in [(&k.tile_map, k.grid.len()), (&k.thread_map, k.block.len())] {
            let map = whole.clone().intersect_domain(domain.clone())?;
            self.report_set(Rule::Grid, &k.name, domain.clone().subtract(map.clone().domain()?)?)?;
            // Of all there might be is the simpler question.
            if !whole.is_single_valued()? && !map.is_single_valued()? {
                self.report_map(Rule::Grid, &k.name, map.clone())?;
            }
            for m in map.maps()? {
                let out = isl::DimType::Out;
                if m.has_tuple_id(out)? || m.dim(out)? as usize != dims {
                    self.report_set(Rule::Grid, &k.name, isl::UnionSet::from_set(m.domain()?)?)?;
                }
            }
        }

        let tiles = params_of(&k.grid.iter().map(|g| g.param.clone()).collect::<Vec<_>>());
        let threads = params_of(&k.block.iter().map(|b| b.param.clone()).collect::<Vec<_>>());
        // What each point executes by the maps, against what the box and the schedule say.
        let by_map = restrict(domain.clone(), &k.tile_map, &tiles)?;
        let by_map = restrict(by_map, &k.thread_map, &threads)?;
        let points = by_map.clone().params()?;
        let outside = self.outside(k, &domain, &launched, points)?;
        self.report_set(Rule::Grid, &k.name, outside)?;
        let box_ = self.started(k, launched)?;
        let wide = box_.clone().subtract(k.context.clone())?;
        self.report_set(Rule::Context, &k.name, isl::UnionSet::from_set(from_params(wide)?)?)?;
        // All of `by_map` is in the box now. The difference comes before the box, whose pieces (one for each
        // case of the grid's bounds) it would be multiplied by.
        let scheduled = steps::statements(&k.schedule.domain()?)?;
        let more = scheduled.clone().subtract(by_map.clone())?;
        let more = if more.is_empty()? { more } else { more.intersect_params(box_)? };
        self.report_set(Rule::ThreadDomain, &k.name, more)?;
        self.report_set(Rule::ThreadDomain, &k.name, by_map.subtract(scheduled)?)
    }

    /// What of `points`, the launches, tiles and threads that execute something of `domain`,
    /// [`Checker::started`] does not have, of launches the instances in them: condition by condition, because
    /// the differences of whole boxes have very many pieces where the bounds of a grid have some.
    fn outside(
        &self,
        k: &MappedKernel,
        domain: &isl::UnionSet,
        launched: &isl::Set,
        points: isl::Set,
    ) -> Result<isl::UnionSet> {
        let ctx = &self.scop.ctx;
        // Asked of the instances: as a set of their parameters alone it takes quantifiers, and eliminating
        // those may take for ever.
        let mut all = match k.steps() {
            Some(_) => domain.clone().intersect_params(launched.clone().complement()?)?,
            None => isl::UnionSet::empty(ctx)?,
        };
        let mut outside = Vec::new();
        for g in &k.grid {
            let end = g.lower.clone().add(g.count.clone())?;
            // A grid without a value starts blocks that the context does not know.
            outside.push(launched.clone().subtract(end.clone().domain()?)?);
            let at = isl::PwAff::read(ctx, &format!("[{0}] -> {{ [({0})] }}", g.param))?;
            outside.push(at.clone().lt_set(g.lower.clone())?.intersect(points.clone())?);
            outside.push(at.ge_set(end)?.intersect(points.clone())?);
        }
        for b in &k.block {
            let text = format!("[{0}] -> {{ : {0} < 0 or {0} >= {1} }}", b.param, b.size);
            outside.push(isl::Set::read(ctx, &text)?.intersect(points.clone())?);
        }
        for set in outside {
            all = all.union(isl::UnionSet::from_set(from_params(set)?)?)?;
        }
        Ok(all)
    }

    /// `[params, _h*, _b*, _t*]`: the threads that the launches with these parameters start.
    fn started(&self, k: &MappedKernel, launched: isl::Set) -> Result<isl::Set> {
        let ctx = &self.scop.ctx;
        let mut all = launched;
        for g in &k.grid {
            let at = isl::PwAff::read(ctx, &format!("[{0}] -> {{ [({0})] }}", g.param))?;
            let end = g.lower.clone().add(g.count.clone())?;
            all = all.intersect(at.clone().ge_set(g.lower.clone())?)?.intersect(at.lt_set(end)?)?;
        }
        for b in &k.block {
            let text = format!("[{0}] -> {{ : 0 <= {0} < {1} }}", b.param, b.size);
            all = all.intersect(isl::Set::read(ctx, &text)?)?;
        }
        Ok(all)
    }

    /// `{ S[i] -> T[j] : one thread of one launch of the kernel runs S[i] before T[j] }`, with S[i] in
    /// `first` and T[j] in `second`: all pairs of statements would be many more.
    fn in_thread(
        &self,
        k: &MappedKernel,
        first: &isl::UnionSet,
        second: &isl::UnionSet,
    ) -> Result<isl::UnionMap> {
        let before = |time: isl::UnionMap| -> Result<isl::UnionMap> {
            let (from, to) =
                (time.clone().intersect_domain(first.clone())?, time.intersect_domain(second.clone())?);
            Ok(from.lex_lt(to)?)
        };
        if let Some(t) = k.tiling() {
            // The same point, hence the same thread.
            let domain = t.schedule.domain()?.intersect_params(t.context.clone())?;
            let domain = domain.intersect(k.domain.clone())?;
            let time = t.schedule.map()?.intersect_domain(domain)?;
            let before = before(time)?;
            let points = t.dims.iter().map(|d| &d.param).chain(k.grid.iter().map(|g| &g.param));
            return forget(before, &k.host_params.iter().chain(points).cloned().collect::<Vec<_>>());
        }
        let domain = steps::statements(&k.schedule.domain()?)?.intersect_params(k.context.clone())?;
        let time = k.schedule.map()?.intersect_domain(domain)?;
        let before = before(time)?;
        let params = k.host_params.iter().chain(k.grid.iter().map(|g| &g.param));
        let params: Vec<_> = params.chain(k.block.iter().map(|b| &b.param)).cloned().collect();
        forget(before, &params)
    }

    /// Rule 3.
    fn order(&mut self) -> Result<()> {
        let deps = self.deps.all(self.scop)?;
        // The pairs are launches, so their domains need not be repeated in the relations.
        let host = self.mapped.host.map()?.gist_domain(self.mapped.host.domain()?)?;
        let before = host.clone().lex_lt(host.clone())?;
        let plain = |launch: &isl::UnionMap| launch.clone().gist_domain(launch.clone().domain()?);
        let plain = self.launches.iter().map(plain).collect::<isl::Result<Vec<_>>>()?;
        for (i, k) in self.mapped.kernels.iter().enumerate() {
            let inside = self.launches[i].clone();
            let source = deps.clone().intersect_domain(inside.clone().domain()?)?;
            for (j, other) in self.mapped.kernels.iter().enumerate() {
                let target = self.launches[j].clone();
                let between = source.clone().intersect_range(target.clone().domain()?)?;
                if between.is_empty()? {
                    continue;
                }
                if k.task().is_some() && i == j {
                    self.graph(i, between.clone())?;
                }
                if k.steps().is_some() && other.steps().is_some() {
                    self.order_of_steps(i, j, between, &host)?;
                    continue;
                }
                // { S[i] -> T[j] : the launch of S[i] is before that of T[j] }
                let ordered =
                    plain[i].clone().apply_range(before.clone())?.apply_range(plain[j].clone().reverse()?)?;
                let mut late = between.subtract(ordered)?;
                let at = format!("{} to {}", k.name, other.name);
                if i == j && !late.is_empty()? {
                    let same = plain[i].clone().apply_range(plain[i].clone().reverse()?)?;
                    let (from, to) = (late.clone().domain()?.universe()?, late.clone().range()?.universe()?);
                    let loose =
                        late.clone().intersect(same.clone())?.subtract(self.in_thread(k, &from, &to)?)?;
                    self.report_map(Rule::Order, &at, loose)?;
                    late = late.subtract(same)?;
                }
                self.report_map(Rule::Order, &at, late)?;
            }
        }
        Ok(())
    }

    /// Rule 4.
    fn private(&mut self) -> Result<()> {
        for (i, placement) in self.mapped.placement.iter().enumerate() {
            if *placement != Placement::Private {
                continue;
            }
            let array = self.scop.array(ArrayId(i));
            let name = array.name.clone();
            if array.is_memory() || array.live_out() {
                let counterexample = "visible outside".to_string();
                self.found.push(Violation { rule: Rule::Private, at: name, counterexample });
                continue;
            }
            self.private_array(ArrayId(i), &name)?;
        }
        Ok(())
    }

    fn private_array(&mut self, id: ArrayId, name: &str) -> Result<()> {
        let cells = self.scop.accesses(|_, a| a.array == id)?.intersect_params(self.known.clone())?;
        let writes = self.scop.accesses(|_, a| a.array == id && a.kind != AccessKind::Read)?;
        for s in &self.scop.statements {
            if s.accesses.iter().filter(|a| a.array == id && a.kind != AccessKind::Read).count() > 1 {
                let counterexample = format!("{} writes two cells at once", s.name);
                self.found.push(Violation { rule: Rule::Private, at: name.into(), counterexample });
            }
        }
        // { S[i] -> [K[h] -> [[tile] -> [thread]]] }, of the statements that use the array.
        let users = cells.clone().domain()?.universe()?;
        let mut owner = isl::UnionMap::empty(&self.scop.ctx)?;
        for (k, launch) in self.mapped.kernels.iter().zip(&self.launches) {
            let place = match k.tiling() {
                Some(t) => t.member_map.clone(),
                None => k.tile_map.clone().range_product(k.thread_map.clone())?,
            };
            let place = place.intersect_domain(k.domain.clone().intersect(users.clone())?)?;
            let place = forget(place, &k.host_params)?;
            owner = owner.union(launch.clone().range_product(place)?)?;
        }
        let owners = cells.clone().reverse()?.apply_range(owner)?;
        if !owners.is_single_valued()? {
            let shared = owners.clone().reverse()?.apply_range(owners.clone())?;
            let shared = shared.subtract(owners.range()?.identity()?)?;
            self.report_map(Rule::Private, name, shared)?;
            return Ok(());
        }
        let writers = writes.domain()?;
        let mut flow = isl::UnionMap::empty(&self.scop.ctx)?;
        for m in self.deps.tagged_flow.maps()? {
            let through = m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?;
            if through.as_deref() == Some(name) {
                flow = flow.add_map(m.range_factor_domain()?)?;
            }
        }
        for k in &self.mapped.kernels {
            let users = cells.clone().domain()?.intersect(k.domain.clone())?;
            if users.is_empty()? {
                continue;
            }
            let (first, last) = (flow.clone().domain()?, flow.clone().range()?);
            let to_other = self.in_thread(k, &first, &writers)?;
            let from_other = self.in_thread(k, &writers, &last)?;
            let between = to_other.apply_range(from_other)?;
            self.report_map(Rule::Private, name, flow.clone().intersect(between)?)?;
        }
        Ok(())
    }
}

/// `[p, q] -> { [x0, x1] : x0 = p and x1 = q }` as text.
fn params_of(params: &[String]) -> String {
    let dims = names("x", params.len());
    let equal: Vec<_> = dims.iter().zip(params).map(|(d, p)| format!("{d} = {p}")).collect();
    let equal = if equal.is_empty() { "true".into() } else { equal.join(" and ") };
    format!("[{}] -> {{ [{}] : {equal} }}", params.join(","), dims.join(","))
}

/// The part of `domain` that `map` takes to the point that `values` describes.
fn restrict(domain: isl::UnionSet, map: &isl::UnionMap, values: &str) -> Result<isl::UnionSet> {
    let values = isl::UnionSet::read(domain.context(), values)?;
    Ok(domain.intersect(map.clone().intersect_range(values)?.domain()?)?)
}

/// A set of parameters as a set of the one point `[]`.
fn from_params(set: isl::Set) -> Result<isl::Set> {
    Ok(set.from_params()?)
}

/// Quantifies the named parameters existentially.
fn forget(mut map: isl::UnionMap, params: &[String]) -> Result<isl::UnionMap> {
    for p in params {
        if let Some(pos) = map.space()?.find_dim_by_name(isl::DimType::Param, p)? {
            map = map.project_out(isl::DimType::Param, pos, 1)?;
        }
    }
    Ok(map)
}

mod carried;
mod counters;
mod graph;
mod hoisting;
pub mod parts;
mod promotion;
pub mod slices;
mod steps;
mod task;
mod team;
mod tiling;
mod together;
mod windows;

#[cfg(test)]
mod tests;
