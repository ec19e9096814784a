//! SCoPs made from SCoPs: storage is renamed so that only the dependences that carry values remain.
//!
//! A schedule keeps every dependence, but anti and output dependences are about cells, not values (Feautrier,
//! "Array expansion", ICS 1988; Maydan, Amarasinghe, Lam, "Array dataflow analysis and its use in array
//! privatization", POPL 1993). Two rewritings remove them:
//! - [`initial`]: reads that see only what an array held before the SCoP read a copy of it that nothing
//!   writes;
//! - [`expand`]: an array whose every read sees a write of the same iteration gets a cell for each iteration,
//!   and its last values are written back at the end;
//! - [`reduce`]: updates that may be regrouped run in parts, side by side, with a partial result for each;
//! - [`scan`]: so do those whose results are looked at on the way, twice, the second time from what the parts
//!   before add up to;
//! - [`carry`]: what an iteration stores and the next one loads is handed on in a cell, which makes a running
//!   total of it;
//! - [`apart::planes`]: planes of an array that numbers choose are assumed to be different ones;
//! - [`versions`]: a statement becomes two, by sizes, of which one can then be cut into parts.
//!
//! They cost memory and transfers, so a rewriting is kept only if the estimate of the placed result is
//! clearly lower, and they are tried only where the program as it is stays far from what the device could do.
//!
//! # Invariants
//! - Arrays and statements of the SCoP keep their numbers; new ones come behind them.
//! - Whatever is made is proved by [`check`], which computes the dataflow of both and knows nothing of how
//!   the one was made from the other. A rewriting that is not proved is dropped.
//!
//! # Example
//! `for i, j { for k > i: B[i][j] += A[k][i] * B[k][j] }` overwrites row `i` after the rows above it have
//! read it, so only `j` is parallel. `B[k][j]` sees the program's values from before; read from a copy, it
//! leaves `i` parallel, too.

mod carry;
pub mod check;
mod expand;
mod initial;
mod made;
mod parts;
mod reduce;
mod scan;
mod versions;

pub use expand::expand;
pub use initial::initial;
pub use made::{LoopCarried, Made, Scanned};

use crate::dependences::dependences_within;
use crate::strategy::{self, Placed, ScheduleOptions};
use crate::{Dependences, Result, ScheduleError, ScheduleTree, budgeted};
use crate::{apart, appends, planted};
use pollyrs_scop::Scop;
use std::collections::VecDeque;

/// A SCoP, possibly rewritten, with its schedule.
#[derive(Clone, Debug)]
pub struct Scheduled {
    pub scop: Scop,
    pub deps: Dependences,
    pub tree: ScheduleTree,
}

/// A rewriting: `None` where it has nothing to do.
type Rewriting = fn(&Scop, &Dependences) -> Result<Option<Scop>>;

const REWRITINGS: [Rewriting; 2] = [initial, expand];

/// The schedule of the SCoP or of what is made of it, whichever is estimated to run faster.
pub fn schedule(scop: Scop, deps: Dependences, options: &ScheduleOptions) -> Result<Scheduled> {
    let (mut scop, mut deps) = appends::planted_bug(scop, deps)?;
    if let Some(why) = appends::check(&scop, &deps, options.budget)?.first()
        && !planted::unproved()
    {
        planted::refused("append-count", why);
        // What is appended in no known order stays in the program's.
        return Err(ScheduleError::NoParallelism);
    }
    let mut best = strategy::placed(&scop, &deps, options);
    if options.scheduler == strategy::Scheduler::Auto {
        for rewriting in REWRITINGS {
            if matches!(&best, Ok(b) if strategy::near_ideal(b)) {
                break;
            }
            if matches!(&best, Err(ScheduleError::Budget(_))) {
                break;
            }
            // A failure of a rewriting leaves the SCoP as it is.
            if let Ok(Some((s, d, p))) = attempt(&scop, &deps, rewriting, options)
                && strategy::wins(&p, best.as_ref().ok())
            {
                (scop, deps, best) = (s, d, Ok(p));
            }
        }
    }
    if options.scheduler == strategy::Scheduler::Auto
        && !matches!(&best, Ok(b) if strategy::near_ideal(b))
        && let Ok(Some((s, d, p))) = in_planes(&scop, options)
        && strategy::wins(&p, best.as_ref().ok())
    {
        (scop, deps, best) = (s, d, Ok(p));
    }
    if options.scheduler == strategy::Scheduler::Auto
        && !matches!(&best, Ok(b) if strategy::near_ideal(b))
        && let Ok(Some((s, d, p))) = reduced(&scop, &deps, best.as_ref().ok(), options)
    {
        (scop, deps, best) = (s, d, Ok(p));
    }
    if options.scheduler == strategy::Scheduler::Auto
        && !matches!(&best, Ok(b) if strategy::near_ideal(b))
        && let Ok(Some((s, d, p))) = scanned(&scop, &deps, best.as_ref().ok(), options)
    {
        (scop, deps, best) = (s, d, Ok(p));
    }
    if options.scheduler == strategy::Scheduler::Auto
        && let Ok(placed) = &best
        && let Ok(Some((s, d, p))) = in_rows(&scop, &deps, placed, options)
    {
        (scop, deps, best) = (s, d, Ok(p));
    }
    let placed = best?;
    // Nothing but an estimate: where it takes too long, the answer is no.
    let hopeless =
        || budgeted(&scop.ctx, "scheduling", options.budget, || strategy::hopeless(&scop, &placed));
    let alone = options.scheduler == strategy::Scheduler::Auto && hopeless().unwrap_or(false);
    if placed.parallel && !alone {
        let tree = strategy::with_graphs(&scop, &deps, placed.tree)?;
        Ok(Scheduled { scop, deps, tree })
    } else {
        Err(ScheduleError::NoParallelism)
    }
}

/// The SCoP where planes of its arrays are different ones, placed ([`apart`]).
fn in_planes(scop: &Scop, options: &ScheduleOptions) -> Result<Option<(Scop, Dependences, Placed)>> {
    let assumed = apart::planes(scop, options.budget)?;
    if assumed.is_empty() {
        return Ok(None);
    }
    let mut new = scop.clone();
    new.assumptions.extend(assumed);
    let deps = dependences_within(&new, options.budget)?;
    let placed = strategy::placed(&new, &deps, options)?;
    Ok(Some((new, deps, placed)))
}

/// One rewriting, proved and placed.
fn attempt(
    scop: &Scop,
    deps: &Dependences,
    rewriting: Rewriting,
    options: &ScheduleOptions,
) -> Result<Option<(Scop, Dependences, Placed)>> {
    let made = budgeted(&scop.ctx, "rewriting", options.budget, || rewriting(scop, deps))?;
    let Some(new) = made else { return Ok(None) };
    let (new, new_deps) = proved(scop, deps, new.into(), options.budget)?;
    let placed = strategy::placed(&new, &new_deps, options)?;
    Ok(Some((new, new_deps, placed)))
}

/// What a rewriting made, with its dependences, if it is proved.
fn proved(scop: &Scop, deps: &Dependences, made: Made, budget: u64) -> Result<(Scop, Dependences)> {
    pollyrs_scop::verify(&made.scop)
        .map_err(|_| ScheduleError::Unsupported("a rewriting that breaks the model"))?;
    let new_deps = dependences_within(&made.scop, budget)?;
    let broken = check::check(scop, deps, &made, &new_deps, budget)?;
    if !broken.is_empty() && !planted::unproved() {
        for bug in ["pair-order", "scan-start", "carry-start", "both-versions"] {
            planted::refused(bug, &broken[0]);
        }
        return Err(ScheduleError::Unsupported("a rewriting that is not proved"));
    }
    Ok((made.scop, new_deps))
}

/// A reduction that no two chains of run side by side is cut if the estimate is at this fraction of the one
/// before: there may be more of them.
const CUT_WINS_BY: f64 = 0.95;
/// It is cut, too, if that gains so many nanoseconds, be it before a loop over time beside which it counts
/// for nothing: how long that loop is, is a guess.
const CUT_GAINS: f64 = 1e5;
/// The same for a reduction of which some chains run side by side.
const CUT_OF_SOME_GAINS: f64 = 1e6;

/// The reductions cut into parts that gain by it, each as often as it takes. The best schedule so far tells
/// which chains run one after the other.
fn reduced(
    scop: &Scop,
    deps: &Dependences,
    placed: Option<&Placed>,
    options: &ScheduleOptions,
) -> Result<Option<(Scop, Dependences, Placed)>> {
    let chains = budgeted(&scop.ctx, "rewriting", options.budget, || reduce::chains(scop, deps))?;
    let mut left = Vec::new();
    for first in chains {
        let in_turn = match placed.filter(|p| p.parallel) {
            Some(p) => reduce::on_host(&p.tree, &scop.statements[first.statement])?,
            None => 0,
        };
        let first = reduce::Chain { in_turn: in_turn & ((1 << first.outer.min(31)) - 1), ..first };
        let many = || first.has_many_beside(scop);
        if !budgeted(&scop.ctx, "rewriting", options.budget, many)? {
            left.push(first);
        }
    }
    // Long loops that nothing is around: what is right for one of them is for all, which are placed once.
    let long = |c: &reduce::Chain| {
        c.outer == 0 && !reduce::is_short(scop, &scop.statements[c.statement].domain).unwrap_or(true)
    };
    let (together, others): (Vec<_>, Vec<_>) = left.into_iter().partition(long);
    let mut groups: VecDeque<_> = others.into_iter().map(|c| vec![c]).collect();
    if !together.is_empty() {
        groups.push_front(together);
    }
    let mut best: Option<(Scop, Dependences, Placed)> = None;
    while let Some(group) = groups.pop_front() {
        let before = best.as_ref().map(|b| &b.2).or(placed).filter(|p| p.parallel);
        let start = best.as_ref().map_or((scop, deps), |b| (&b.0, &b.1));
        match cut_together(start, &group, options)? {
            Some((s, d, p)) if gains(&group, before, &p) => best = Some((s, d, p)),
            _ if group.len() > 1 => group.into_iter().rev().for_each(|c| groups.push_front(vec![c])),
            _ => {}
        }
    }
    Ok(best)
}

/// Some reductions cut into parts, placed; `None` if none of them is, or if there is no placement.
fn cut_together(
    (scop, deps): (&Scop, &Dependences),
    group: &[reduce::Chain],
    options: &ScheduleOptions,
) -> Result<Option<(Scop, Dependences, Placed)>> {
    let mut made: Option<(Scop, Dependences)> = None;
    for chain in group {
        let (old, old_deps) = made.as_ref().map_or((scop, deps), |(s, d)| (s, d));
        made = cut(old, old_deps, *chain, options)?.or(made);
    }
    let Some((new, new_deps)) = made else { return Ok(None) };
    let placed = strategy::placed(&new, &new_deps, options);
    Ok(placed.ok().map(|p| (new, new_deps, p)))
}

/// Whether a placement behind the cut of some reductions is better than the one before.
fn gains(group: &[reduce::Chain], before: Option<&Placed>, p: &Placed) -> bool {
    let alone = group.iter().all(reduce::Chain::is_alone);
    let wins = alone && before.is_none_or(|b| p.cost < CUT_WINS_BY * b.cost);
    let least = if alone { CUT_GAINS } else { CUT_OF_SOME_GAINS };
    let gains = before.is_some_and(|b| b.cost - p.cost >= least);
    p.parallel && (wins || gains || strategy::wins(p, before))
}

/// The reductions of rows that blocks have in shared memory, in parts, where what they add up may be
/// regrouped: all threads of a row take part. Only for sizes for which there are such rows; others stay as
/// they are.
fn in_rows(
    scop: &Scop,
    deps: &Dependences,
    placed: &Placed,
    options: &ScheduleOptions,
) -> Result<Option<(Scop, Dependences, Placed)>> {
    let Some(rows) = strategy::instances_of_rows(&placed.tree)? else { return Ok(None) };
    let found = budgeted(&scop.ctx, "rewriting", options.budget, || versions::chains(scop, deps, &rows))?;
    let (mut best, mut cut) = (None, 0);
    for chain in found {
        let (old, old_deps) = best.as_ref().map_or((scop, deps), |(s, d)| (s, d));
        let divide = || versions::divided(old, chain.statement, &rows.clone().params()?);
        let divided = budgeted(&scop.ctx, "rewriting", options.budget, divide)?;
        let next = match divided {
            Some(made) => Some(proved(old, old_deps, made, options.budget)?),
            None => None,
        };
        let (old, old_deps, chain) = match &next {
            Some((s, d)) => (s, d, reduce::Chain { statement: s.statements.len() - 1, ..chain }),
            None => (old, old_deps, chain),
        };
        let made = budgeted(&scop.ctx, "rewriting", options.budget, || reduce::cut(old, chain))?;
        let Some(made) = made else { continue };
        best = Some(proved(old, old_deps, made, options.budget)?);
        cut += 1;
    }
    let Some((new, new_deps)) = best else { return Ok(None) };
    let p = strategy::placed(&new, &new_deps, options)?;
    // All that was cut is there again, in rows.
    let Some(rows) = strategy::instances_of_rows(&p.tree)? else { return Ok(None) };
    let parts = versions::parts(&new, &rows)?;
    Ok((p.parallel && parts == cut).then_some((new, new_deps, p)))
}

/// The running totals cut into parts that gain by it, each as often as it takes.
fn scanned(
    scop: &Scop,
    deps: &Dependences,
    placed: Option<&Placed>,
    options: &ScheduleOptions,
) -> Result<Option<(Scop, Dependences, Placed)>> {
    let handed = handed_on(scop, deps, options)?;
    let (scop, deps) = handed.as_ref().map_or((scop, deps), |(s, d)| (s, d));
    let totals = budgeted(&scop.ctx, "rewriting", options.budget, || scan::totals(scop, deps))?;
    let mut best: Option<(Scop, Dependences, Placed)> = None;
    for mut totals in totals {
        if let Some(p) = placed.filter(|p| p.parallel) {
            let in_turn = reduce::on_host(&p.tree, &scop.statements[totals.first.statement])?;
            totals.first.in_turn = in_turn & ((1 << totals.first.outer.min(31)) - 1);
        }
        let many = || totals.first.has_many_beside(scop);
        if budgeted(&scop.ctx, "rewriting", options.budget, many)? {
            continue;
        }
        let (old, old_deps) = best.as_ref().map_or((scop, deps), |b| (&b.0, &b.1));
        let Some((new, new_deps)) = cut_totals(old, old_deps, totals, options)? else { continue };
        let before = best.as_ref().map(|b| &b.2).or(placed).filter(|p| p.parallel);
        let Ok(p) = strategy::placed(&new, &new_deps, options) else { continue };
        if p.parallel && strategy::wins(&p, before) {
            best = Some((new, new_deps, p));
        }
    }
    Ok(best)
}

/// The SCoP with cells for what iterations take over from those before.
fn handed_on(
    scop: &Scop,
    deps: &Dependences,
    options: &ScheduleOptions,
) -> Result<Option<(Scop, Dependences)>> {
    let mut best: Option<(Scop, Dependences)> = None;
    for n in 0..scop.statements.len() {
        let (old, old_deps) = best.as_ref().map_or((scop, deps), |b| (&b.0, &b.1));
        let made = budgeted(&scop.ctx, "rewriting", options.budget, || carry::carry(old, old_deps, n));
        let Ok(Some(made)) = made else { continue };
        if let Ok(next) = proved(old, old_deps, made, options.budget) {
            best = Some(next);
        }
    }
    Ok(best)
}

/// The running totals of a loop cut into parts.
fn cut_totals(
    scop: &Scop,
    deps: &Dependences,
    mut totals: scan::Totals,
    options: &ScheduleOptions,
) -> Result<Option<(Scop, Dependences)>> {
    let mut best: Option<(Scop, Dependences)> = None;
    loop {
        let (old, old_deps) = best.as_ref().map_or((scop, deps), |b| (&b.0, &b.1));
        let made = budgeted(&scop.ctx, "rewriting", options.budget, || scan::cut(old, old_deps, &totals));
        let Ok(Some(made)) = made else { return Ok(best) };
        totals = scan::again(&made, &totals);
        let Ok(next) = proved(old, old_deps, made, options.budget) else { return Ok(best) };
        best = Some(next);
    }
}

/// One reduction cut into parts.
fn cut(
    scop: &Scop,
    deps: &Dependences,
    first: reduce::Chain,
    options: &ScheduleOptions,
) -> Result<Option<(Scop, Dependences)>> {
    let mut best: Option<(Scop, Dependences)> = None;
    let mut left = vec![first];
    while let Some(chain) = left.pop() {
        let (old, old_deps) = best.as_ref().map_or((scop, deps), |b| (&b.0, &b.1));
        let made = budgeted(&scop.ctx, "rewriting", options.budget, || reduce::cut(old, chain));
        let Ok(Some(made)) = made else { continue };
        let rest = reduce::again(&made, chain);
        let inside = reduce::inside(old, chain)?;
        let Ok(next) = proved(old, old_deps, made, options.budget) else { continue };
        left.extend([rest].into_iter().chain(inside));
        best = Some(next);
    }
    Ok(best)
}

#[cfg(test)]
mod tests;
