//! The stages of one SCoP: dependences, schedule, mapping, proof, kernels, device code.
//!
//! The first two have one way to go; for kernels there are plans, from the most that may be had to the least
//! ([`attempt`]).

mod attempt;
mod parts;
mod reasons;
mod sequential;
mod slices;
mod stencil;
mod time_tiles;
pub mod tuned;
mod watch;

pub use reasons::is_quota;

use crate::base::options::{Details, Options, Strategy};
use crate::base::stage::Stage;
use crate::base::timing::Phase;
use crate::base::trace;
use crate::compiled::Compiled;
use crate::device;
use crate::pipeline::attempt::{Attempts, Built};
use crate::pipeline::reasons::reject_reason;
use crate::pipeline::sequential::Sequential;
use crate::pipeline::watch::{Ended, Watch};
use crate::run::Run;
use pollyrs_codegen_ptx as codegen;
use pollyrs_schedule as schedule;
use pollyrs_scop::{ArrayId, RejectReason, Scop};
use std::cell::Cell;

/// Scheduling, mapping, proof and device code of one SCoP; prints what the stage asks for. `None`: only
/// printing was asked for.
pub fn compile(run: &Run<'_>, options: &Options, scop: Scop) -> Result<Option<Compiled>, RejectReason> {
    let _scop = tracing::info_span!(target: trace::PLACE, "scop", message = scop.name).entered();
    match stages(run, options, scop.clone()) {
        // Arrays in one structure or COMMON block lie apart for sizes that only the source knows.
        Err(Ended::Refused(reason @ RejectReason::NoParallelism { .. })) => {
            let assumed = Phase::Dependences.time(|| schedule::apart(&scop, run.budgets.stage()));
            match assumed {
                Ok(assumed) if !assumed.is_empty() => {
                    let mut scop = scop;
                    scop.assumptions.extend(assumed);
                    match stages(run, options, scop) {
                        Ok(compiled) => Ok(Some(compiled)),
                        Err(Ended::Shown) => Ok(None),
                        Err(Ended::Refused(_)) => Err(reason),
                    }
                }
                _ => Err(reason),
            }
        }
        Ok(compiled) => Ok(Some(compiled)),
        Err(Ended::Shown) => Ok(None),
        Err(Ended::Refused(reason)) => Err(reason),
    }
}

fn stages(run: &Run<'_>, options: &Options, scop: Scop) -> Result<Compiled, Ended> {
    let watch = Watch(run.stage);
    watch.see(Stage::Scop, &scop)?;
    let (budget, most) = (run.budgets.stage(), run.budgets.dependences());
    let dependences = Phase::Dependences
        .time(|| schedule::dependences::dependences_within(&scop, most))
        .map_err(reject_reason)?;
    watch.see(Stage::Deps, &dependences)?;
    // The order of tiles may be another one than that of the model, and then nothing below is of the program.
    if !schedule::keeps_order(&scop, &dependences, budget).map_err(reject_reason)? {
        return Err(Ended::Refused(RejectReason::TileOrder));
    }
    let sequential = Sequential::new(&scop, &dependences);
    let ordered = (options.remark_details >= Details::Model).then(|| dependences.to_string());
    let wish = schedule_options(options, budget);
    let scheduled = Phase::Schedule.time(|| schedule::rewrite::schedule(scop, dependences, &wish));
    let scheduled = scheduled.map_err(|e| sequential.explain(reject_reason(e)))?;
    watch.see(Stage::Schedule, &scheduled.tree)?;
    let may_tile = run.budgets.may_tile();
    let attempts = Attempts {
        run,
        options,
        scheduled: &scheduled,
        sequential: &sequential,
        budget,
        may_tile,
        late: device::are_late(options, &run.assembler),
        counted: Cell::new(false),
        watch,
    };
    let Built { mapped, kernels, device, steps: fused } = attempts.first_that_holds()?;
    let device = watch.see_code(device, options.arch)?;
    let told = ordered.map(|dependences| (dependences, scheduled.tree.to_string()));
    let schedule::rewrite::Scheduled { scop, deps: dependences, tree, .. } = scheduled;
    let (footprints, work, inspected) = Phase::Estimates
        .time(|| {
            let work = schedule::work(&scop, &tree, &codegen::work(&scop))?;
            Ok((footprints(&scop, &dependences)?, work, schedule::inspected(&scop)?))
        })
        .map_err(|e| sequential.explain(reject_reason(e)))?;
    let slices = match kernels.fused() {
        Some(_) => Vec::new(),
        None => Phase::Estimates.time(|| slices::of(&scop, &mapped))?,
    };
    let parts = match mapped.divides {
        true => Phase::Estimates.time(|| parts::of(&scop, &mapped))?,
        false => Vec::new(),
    };
    let (code, tuned, entry, model) = (None, None, None, None);
    Ok(Compiled {
        scop,
        mapped,
        kernels,
        device,
        code,
        footprints,
        work,
        inspected,
        slices,
        parts,
        fused,
        tuned,
        entry,
        told,
        model,
    })
}

/// By `ArrayId`; `None` for what is not memory.
fn footprints(
    scop: &Scop,
    deps: &schedule::Dependences,
) -> schedule::Result<Vec<Option<schedule::Footprint>>> {
    let ids = (0..scop.arrays.len()).map(ArrayId);
    ids.map(|id| scop.array(id).is_memory().then(|| schedule::footprint(scop, deps, id)).transpose())
        .collect()
}

fn schedule_options(options: &Options, budget: u64) -> schedule::ScheduleOptions {
    let scheduler = match options.strategy {
        Strategy::Auto | Strategy::Streaming | Strategy::Tiled(_) => schedule::strategy::Scheduler::Auto,
        Strategy::Original => schedule::strategy::Scheduler::Original,
        Strategy::Isl => schedule::strategy::Scheduler::Isl,
    };
    // The program's own order has its own kernels.
    let fuse = options.fuse_kernels && options.strategy != Strategy::Original;
    // What is given is the order from which the mapping starts.
    let given = options.schedule.clone();
    let scheduler = if given.is_some() { schedule::strategy::Scheduler::Original } else { scheduler };
    schedule::ScheduleOptions { scheduler, given, fuse, budget }
}
