//! Rules for kernels whose threads wait for each other ([`Steps`](crate::Steps)).
//!
//! With `σ` the step of an instance and `θ` the thread's schedule:
//! 1. *Same barriers.* The barriers `B` in a thread's schedule are those of all other threads of its block,
//!    and `c < c'` implies `θ(c) < θ(c')`: all threads execute the same sequence.
//! 2. *Between them.* For every instance `S` of a thread: `σ(S)` is single and in `B`; `θ(S) < θ(c)` for the
//!    barriers `c >= σ(S)` and `θ(c) < θ(S)` for the barriers `c < σ(S)`.
//!
//! So if `σ(S) < σ(T)` in one block, the barrier `σ(S)` lies behind `S` in its thread and ahead of `T` in any
//! other. What depends on each other within a step has to be in order in one thread.
//!
//! Launches in which nothing runs are checked as well: what [`Checker::launched`] gives are all that the host
//! starts.

use super::{Checker, Rule, forget, names, params_of};
use crate::Result;
use crate::mapped::MappedKernel;
use crate::names::Tuple::{self, Barrier};
use crate::names::is_statement;
use pollyrs_isl as isl;

/// The part of a schedule's domain that are instances of statements.
pub(super) fn statements(domain: &isl::UnionSet) -> Result<isl::UnionSet> {
    part(domain, is_statement)
}

fn is_barrier(tuple: &str) -> bool {
    Tuple::of(tuple) == Some(Barrier)
}

fn part(domain: &isl::UnionSet, which: impl Fn(&str) -> bool) -> Result<isl::UnionSet> {
    let mut out = isl::UnionSet::empty(domain.context())?;
    for set in domain.sets()? {
        if which(&set.tuple_name()?.unwrap_or_default()) {
            out = out.add_set(set)?;
        }
    }
    Ok(out)
}

impl Checker<'_> {
    /// `[params, _h*] -> { : the host launches the kernel with them }`, whatever is chosen.
    pub(super) fn launched(&self, k: &MappedKernel) -> Result<isl::Set> {
        let ctx = &self.scop.ctx;
        let tuple = tuple_of(k);
        let host = self.mapped.host.domain()?.intersect_params(self.known.clone())?;
        let mut launched = host.intersect(isl::UnionSet::read(ctx, &tuple)?)?.params()?;
        let choices = self.mapped.choices.iter().map(|c| &c.param);
        let late = self.mapped.late.iter().map(|l| &l.param);
        for p in choices.chain(self.mapped.nested.iter().map(|n| &n.param)).chain(late) {
            if let Some(pos) = launched.space()?.find_dim_by_name(isl::DimType::Param, p)? {
                launched = launched.project_out(isl::DimType::Param, pos, 1)?;
            }
        }
        Ok(launched.coalesce()?)
    }

    /// Rules 1 and 2.
    pub(super) fn steps(&mut self, i: usize) -> Result<()> {
        let k = &self.mapped.kernels[i];
        let Some(steps) = k.steps() else { return Ok(()) };
        let ctx = &self.scop.ctx;
        let started = self.started(k, self.launched(k)?)?;
        let domain = k.schedule.domain()?.intersect_params(started.clone())?;
        // What windows need has steps as well.
        let (own, barriers) = (part(&domain, |t| !is_barrier(t))?, part(&domain, is_barrier)?);
        // Times of all that might be; which instances and barriers there are comes from the other side of
        // each intersection below, once.
        let time = k.schedule.map()?;
        let (at, meet) = (
            time.clone().intersect_domain(own.clone().universe()?)?,
            time.intersect_domain(barriers.clone().universe()?)?,
        );

        let threads: Vec<_> = k.block.iter().map(|b| b.param.clone()).collect();
        let everywhere = forget_set(barriers.clone(), &threads)?.intersect_params(started)?;
        self.report_set(Rule::Barrier, &k.name, everywhere.subtract(barriers.clone())?)?;
        let not_after = meet.clone().lex_le(meet.clone())?.reverse()?;
        // { _barrier[c] -> _barrier[c'] : c < c' }
        let number = |m: &isl::UnionMap| -> Result<usize> {
            Ok(match m.maps()?.first() {
                Some(m) => m.dim(isl::DimType::Out)? as usize,
                None => 0,
            })
        };
        let n = number(steps)?;
        let (c, d) = (names("c", n).join(","), names("d", n).join(","));
        let before = format!("{{ {Barrier}[{c}] -> {Barrier}[{d}] : {} }}", lex_lt(n));
        let before = isl::UnionMap::read(ctx, &before)?;
        let met_in_turn =
            before.clone().intersect_domain(barriers.clone())?.intersect_range(barriers.clone())?;
        self.report_map(Rule::Barrier, &k.name, met_in_turn.intersect(not_after)?)?;

        // { S[i] -> _barrier[σ] }
        let step = isl::UnionMap::read(ctx, &format!("{{ [{c}] -> {Barrier}[{c}] }}"))?;
        let step = steps.clone().apply_range(step)?.intersect_domain(own.clone())?;
        let met = step.clone().intersect_range(barriers.clone())?;
        self.report_set(Rule::Barrier, &k.name, own.subtract(met.domain()?)?)?;
        if !step.is_single_valued()? {
            self.report_map(Rule::Barrier, &k.name, step.clone())?;
        }
        let late = meet.clone().lex_le(at.clone())?.reverse()?;
        let reached = step.clone().apply_range(before.clone())?.union(step.clone())?;
        let reached = reached.intersect_range(barriers.clone())?;
        self.report_map(Rule::Barrier, &k.name, late.intersect(reached)?)?;
        let early = at.lex_le(meet)?;
        let passed = step.apply_range(before.reverse()?)?.intersect_range(barriers)?;
        self.report_map(Rule::Barrier, &k.name, early.intersect(passed)?)
    }

    /// Rule 3 of the module above for `deps`, from instances of kernel `i` to those of kernel `j`: to a later
    /// launch, or in one block from one step to a later one. `host` is the time of the launches.
    ///
    /// Instances are looked at together with their launch, tile and step, `[S[i] -> [K[h] -> [tile, step]]]`:
    /// then nothing in the question is quantified, which makes it a tenth of the work. What is looked for are
    /// pairs in another order, not those that are left without the ones in order: intersections are a
    /// fraction of the work of differences.
    pub(super) fn order_of_steps(
        &mut self,
        i: usize,
        j: usize,
        deps: isl::UnionMap,
        host: &isl::UnionMap,
    ) -> Result<()> {
        let ctx = &self.scop.ctx;
        let (from, n) = self.position(i)?;
        let (to, m) = self.position(j)?;
        let at = format!("{} to {}", self.mapped.kernels[i].name, self.mapped.kernels[j].name);
        let tuple =
            |prefix: &str, (b, c): (usize, usize)| [names("b", b), names(prefix, c)].concat().join(", ");
        let time = |k: &MappedKernel| -> Result<isl::UnionMap> {
            let launches = format!("{{ {}[{}] }}", k.name, names("h", k.host_params.len()).join(", "));
            Ok(host.clone().intersect_domain(isl::UnionSet::read(ctx, &launches)?)?)
        };
        let (k, other) = (&self.mapped.kernels[i], &self.mapped.kernels[j]);
        let (first, second) = (time(k)?, time(other)?);
        for (k, time) in [(k, &first), (other, &second)] {
            // All launches have a time, so that those not earlier are later or at once.
            let launches = format!("{{ {}[{}] }}", k.name, names("h", k.host_params.len()).join(", "));
            let untimed = isl::UnionSet::read(ctx, &launches)?.subtract(time.clone().domain()?)?;
            self.report_set(Rule::Order, &at, untimed)?;
        }
        let all = isl::UnionMap::read(
            ctx,
            &format!("{{ [{}] -> [{}] }}", tuple("c", n), names("d", m.0 + m.1).join(", ")),
        )?;
        let late = first.lex_ge(second)?;
        let wrong = if i == j {
            let (h, g) = (names("h", k.host_params.len()), names("g", k.host_params.len()));
            let differ = different(&h, &g);
            let text = format!("{{ {0}[{1}] -> {0}[{2}] : {differ} }}", k.name, h.join(", "), g.join(", "));
            let late = late.intersect(isl::UnionMap::read(ctx, &text)?)?;
            let (b, e) = (names("b", n.0), names("e", n.0));
            let (from, to) = ([b.clone(), names("c", n.1)].concat(), [e.clone(), names("d", n.1)].concat());
            let (from, to, apart) = (from.join(", "), to.join(", "), different(&b, &e));
            // Tasks of a graph have a rule of their own.
            let text = match k.task().is_some() {
                true => {
                    let same: Vec<_> = b.iter().zip(&e).map(|(b, e)| format!("{b} = {e}")).collect();
                    format!("{{ [{from}] -> [{to}] : {} and ({}) }}", same.join(" and "), lex_ge(n.1))
                }
                false => format!("{{ [{from}] -> [{to}] : {apart} or {} }}", lex_ge(n.1)),
            };
            let launch = format!("{{ {0}[{1}] -> {0}[{1}] }}", k.name, h.join(", "));
            let inside = isl::UnionMap::read(ctx, &launch)?.product(isl::UnionMap::read(ctx, &text)?)?;
            late.product(all)?.union(inside)?
        } else {
            late.product(all)?
        };
        let wrong = deps.clone().universe()?.product(wrong)?;
        let placed = deps.clone().apply_domain(from.clone())?.apply_range(to.clone())?;
        let late = placed.intersect(wrong)?;
        if i != j || late.is_empty()? {
            return self.report_map(Rule::Order, &at, late);
        }
        // One thread may run both in a step, if in that order.
        let late = late.apply_domain(from.reverse()?)?.apply_range(to.reverse()?)?;
        let (first, second) = (late.clone().domain()?.universe()?, late.clone().range()?.universe()?);
        let late = late.subtract(self.in_thread(&self.mapped.kernels[i], &first, &second)?)?;
        self.report_map(Rule::Order, &at, late)
    }

    /// `{ S[i] -> [S[i] -> [K[h] -> [tile, step]]] }` of a kernel, and the numbers of tile and step
    /// coordinates.
    fn position(&self, i: usize) -> Result<(isl::UnionMap, (usize, usize))> {
        let k = &self.mapped.kernels[i];
        let Some(steps) = k.steps() else {
            return Err(crate::ScheduleError::Unsupported("a kernel without steps"));
        };
        let in_launch = k.tile_map.clone().flat_range_product(steps.clone())?;
        let dims = match in_launch.maps()?.first() {
            Some(m) => m.dim(isl::DimType::Out)? as usize,
            None => k.grid.len(),
        };
        let launch = isl::UnionSet::read(&self.scop.ctx, &tuple_of(k))?;
        let place = k.domain.clone().product_map(launch)?.range_product(in_launch)?;
        let place = forget(place, &k.host_params)?;
        let same = place.clone().domain()?.universe()?.identity()?;
        Ok((same.range_product(place)?, (k.grid.len(), dims - k.grid.len())))
    }
}

/// `[_h*] -> { K[_h] }` as text.
fn tuple_of(k: &MappedKernel) -> String {
    params_of(&k.host_params).replacen("{ [", &format!("{{ {}[", k.name), 1)
}

/// `c < d`, lexicographically, as text.
fn lex_lt(n: usize) -> String {
    let cases: Vec<_> = (0..n)
        .map(|i| {
            let equal: String = (0..i).map(|j| format!("c{j} = d{j} and ")).collect();
            format!("({equal}c{i} < d{i})")
        })
        .collect();
    if cases.is_empty() { "false".into() } else { cases.join(" or ") }
}

/// `c >= d`, lexicographically, as text.
fn lex_ge(n: usize) -> String {
    let equal: Vec<_> = (0..n).map(|i| format!("c{i} = d{i}")).collect();
    let after = (0..n).map(|i| {
        let first: String = equal[..i].iter().map(|e| format!("{e} and ")).collect();
        format!("({first}c{i} > d{i})")
    });
    let same = if equal.is_empty() { "true".into() } else { format!("({})", equal.join(" and ")) };
    after.chain([same]).collect::<Vec<_>>().join(" or ")
}

/// Some of `a` is not what `b` has there, as text.
fn different(a: &[String], b: &[String]) -> String {
    let cases: Vec<_> = a.iter().zip(b).map(|(x, y)| format!("{x} < {y} or {x} > {y}")).collect();
    if cases.is_empty() { "false".into() } else { cases.join(" or ") }
}

fn forget_set(set: isl::UnionSet, params: &[String]) -> Result<isl::UnionSet> {
    let mut set = set;
    for p in params {
        if let Some(pos) = set.space()?.find_dim_by_name(isl::DimType::Param, p)? {
            set = set.project_out(isl::DimType::Param, pos, 1)?;
        }
    }
    Ok(set)
}
