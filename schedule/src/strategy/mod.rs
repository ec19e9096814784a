//! Strategies: functions from a schedule tree (and the dependences) to a schedule tree with mapping marks.
//!
//! # Invariants
//! - A strategy's result orders every dependence; [`crate::legality::check`] proves it again after the
//!   mapping.
//! - The mark [`KERNEL`] stands on a band whose members are all coincident: they become grid and block. What
//!   is beneath runs in order in one thread. The mark [`SERIAL`] stands on a subtree that one thread
//!   executes. Everything above the marks runs on the host. Every instance is beneath exactly one mark.
//! - Beneath [`NEST`] the same marks stand for parts of a block, and what is above them runs in the block.
//!   Beneath [`EITHER`] are two subtrees, each with all instances; the one or the other is executed.
//!
//! # Choice
//! The tree that detection found (the program's order) is placed by [`place::place`], which distributes
//! loops, moves parallel loops outwards and picks what runs on the host, by an estimate of the running time.
//! Only if the estimate is far from what the device could do are other orders tried: the program's with split
//! statements, then the one isl's scheduler finds, and the one it finds with constant sizes as parameters.
//! One of them wins if its estimate is clearly lower. So a stencil whose space loops are parallel keeps its
//! plain time loop, and a triangular solver that is serial as written becomes a sequence of parallel updates.
//! Each further tiling (hexagonal, split, overlapped, streaming) is a module here.

mod cost;
mod fuse;
mod given;
mod graph;
mod isl_scheduler;
mod locality;
mod marks;
mod nest;
mod node;
mod original;
mod partials;
mod place;
mod products;
mod rows;
mod sizes;
mod split;
mod wavefront;

pub(crate) use cost::single_loops;
pub(crate) use cost::{
    BARRIER, INSTANCE, LATENCY, MULTIPROCESSORS, Model, STEP_LATENCY, UNCOALESCED, extent_of, hopeless,
    volume,
};
pub(crate) use graph::{TILE, joined as with_graphs};
pub use isl_scheduler::{isl_schedule, isl_schedule_of_sizes};
pub(crate) use locality::{Movement, linear, movements, steps};
pub use marks::{EITHER, GRAPH, KERNEL, NEST, Placed, ROWS, SERIAL};
pub(crate) use node::{coincident, nonnegative};
pub use original::original;
pub use place::place;
pub(crate) use rows::{COLUMNS, arrays as arrays_of_rows, instances_of_rows, rows_of_block};
pub use split::split;

use crate::{Dependences, Result, ScheduleError, ScheduleTree, budgeted};
use node::Search;
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// Which order the mapping starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scheduler {
    /// The better one by the estimate.
    #[default]
    Auto,
    Original,
    Isl,
}

/// Options of [`schedule`].
#[derive(Clone, Debug)]
pub struct ScheduleOptions {
    pub scheduler: Scheduler,
    /// A schedule in isl's notation, in place of the program's order.
    pub given: Option<String>,
    /// Whether neighbouring kernels may become one.
    pub fuse: bool,
    /// isl operations a candidate may use.
    pub budget: u64,
}

impl Default for ScheduleOptions {
    fn default() -> Self {
        ScheduleOptions { scheduler: Scheduler::Auto, given: None, fuse: true, budget: crate::DEFAULT_BUDGET }
    }
}

/// A candidate must be estimated at this fraction of the running time of the one before it to be taken: the
/// order of the program keeps its access patterns and gives simpler code.
const MUST_WIN_BY: f64 = 0.7;

/// Other candidates are tried when the original order is estimated at more than this many times the ideal.
const FAR_FROM_IDEAL: f64 = 8.0;

/// Whether a candidate is so close to what the device could do that no other one is tried.
pub(crate) fn near_ideal(placed: &Placed) -> bool {
    placed.parallel && (placed.last_resort || placed.cost <= FAR_FROM_IDEAL * placed.ideal)
}

/// Whether a candidate is clearly better than the best one so far.
pub(crate) fn wins(candidate: &Placed, best: Option<&Placed>) -> bool {
    candidate.parallel && best.is_none_or(|b| !b.parallel || candidate.cost < MUST_WIN_BY * b.cost)
}

/// Whether isl's scheduler found no way to carry the dependences, as happens where bounds are numbers.
pub(crate) fn gives_up(e: &ScheduleError) -> bool {
    matches!(e, ScheduleError::Isl(isl::Error::Failed(why)) if why.contains("unable to carry"))
}

/// A schedule for the device, chosen as the module documentation says.
pub fn schedule(scop: &Scop, deps: &Dependences, options: &ScheduleOptions) -> Result<ScheduleTree> {
    let placed = placed(scop, deps, options)?;
    if placed.parallel { with_graphs(scop, deps, placed.tree) } else { Err(ScheduleError::NoParallelism) }
}

/// [`schedule`] with its estimate.
pub(crate) fn placed(scop: &Scop, deps: &Dependences, options: &ScheduleOptions) -> Result<Placed> {
    let search = if options.fuse { Search::Fused } else { Search::All };
    let place = |tree: &ScheduleTree| place::placed(scop, deps, tree, search);
    if let Some(text) = &options.given {
        return budgeted(&scop.ctx, "scheduling", options.budget, || place(&given::tree(scop, deps, text)?));
    }
    let from_original = || {
        budgeted(&scop.ctx, "scheduling", options.budget, || place(&ScheduleTree::from_isl(&scop.schedule)?))
    };
    let from_split = || {
        budgeted(&scop.ctx, "scheduling", options.budget, || {
            let tree = split(scop, &ScheduleTree::from_isl(&scop.schedule)?)?;
            tree.map(|t| place(&t)).transpose()
        })
    };
    let from_isl = || budgeted(&scop.ctx, "scheduling", options.budget, || place(&isl_schedule(scop, deps)?));
    let from_sizes = || {
        budgeted(&scop.ctx, "scheduling", options.budget, || {
            let tree = isl_schedule_of_sizes(scop, deps)?;
            tree.map(|t| place(&t)).transpose()
        })
    };
    match options.scheduler {
        Scheduler::Original => from_original(),
        // The program's order is legal where isl's scheduler gives up, "unable to carry dependences".
        Scheduler::Isl => match from_isl() {
            Err(e) if gives_up(&e) => from_original(),
            other => other,
        },
        Scheduler::Auto => {
            let mut best = from_original();
            // Where the search is too much, what is parallel as it stands still is.
            if matches!(best, Err(ScheduleError::Budget(_))) {
                let short = |search| {
                    budgeted(&scop.ctx, "scheduling", options.budget, || {
                        place::placed(scop, deps, &ScheduleTree::from_isl(&scop.schedule)?, search)
                    })
                };
                let plain = short(Search::Plain);
                // One loop of several may leave most of the device idle.
                if !matches!(&plain, Ok(p) if p.parallel && p.cost <= FAR_FROM_IDEAL * p.ideal)
                    && let Ok(apart) = short(Search::Apart)
                    && wins(&apart, plain.as_ref().ok())
                {
                    return Ok(apart);
                }
                return match plain {
                    Ok(p) if p.parallel => Ok(p),
                    _ => best,
                };
            }
            // A failure of one candidate leaves the others.
            let others: [&dyn Fn() -> Result<Option<Placed>>; 3] =
                [&from_split, &|| from_isl().map(Some), &from_sizes];
            for other in others {
                if matches!(&best, Ok(b) if near_ideal(b)) {
                    break;
                }
                if let Ok(Some(o)) = other()
                    && wins(&o, best.as_ref().ok())
                {
                    best = Ok(o);
                }
            }
            best
        }
    }
}
