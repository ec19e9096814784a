//! The stages of one SCoP: dependences, schedule, mapping, proof, kernels, device code.

pub mod sequential;
pub mod slices;
pub mod stencil;
pub mod time_tiles;
pub mod tuned;

use crate::base::options::{Options, RegisterTile, Strategy};
use crate::base::stage::Stage;
use crate::base::timing::Phase;
use crate::compiled::{Compiled, Failure, Steps};
use crate::device;
use crate::pipeline::sequential::Sequential;
use crate::pipeline::time_tiles::tile_time;
use crate::run::Run;
use pollyrs_codegen_ptx as codegen;
use pollyrs_schedule as schedule;
use pollyrs_scop::{ArrayId, RejectReason, Scop};

/// Scheduling, mapping, proof and device code of one SCoP; prints what the stage asks for. `None`: only printing was asked for.
pub fn compile(run: &Run<'_>, options: &Options, scop: Scop) -> Result<Option<Compiled>, RejectReason> {
    let Run { session, stage, timer, .. } = *run;
    if stage == Stage::Scop {
        eprintln!("{scop}");
    }
    if stage < Stage::Deps {
        return Ok(None);
    }
    let (budget, most) = (run.budgets.stage(), run.budgets.dependences());
    let dependences = timer
        .time(Phase::Dependences, || schedule::dependences::dependences_within(&scop, most))
        .map_err(reject_reason)?;
    if stage == Stage::Deps {
        eprintln!("{dependences}");
        return Ok(None);
    }
    let sequential = Sequential::new(&scop, &dependences);
    let reject_reason = |e| sequential.explain(reject_reason(e));
    let schedule::rewrite::Scheduled { scop, deps: dependences, tree } = timer
        .time(Phase::Schedule, || {
            schedule::rewrite::schedule(scop, dependences, &schedule_options(options, budget))
        })
        .map_err(reject_reason)?;
    if stage == Stage::Schedule {
        eprintln!("{tree}");
        return Ok(None);
    }
    let unproved = |stage: &str, violation: &str| RejectReason::Internal {
        stage: stage.into(),
        message: format!("the legality check failed: {violation}"),
    };
    let (mut tiled, mut in_time) = (None, None);
    if let Strategy::Tiled(tiling) = options.strategy {
        in_time = Some(match tile_time(run, options, &scop, &dependences, tiling, budget, true) {
            Ok(mapped) => {
                tiled = Some(mapped);
                Ok(Steps { what: "several in a tile, by time tiles".to_owned(), shape: None })
            }
            Err(Failure::Unproved(violation)) => return Err(unproved("time tiles", &violation)),
            Err(Failure::Reason(why)) => Err(why),
        });
    }
    let proved = tiled.is_some();
    let with = |tiles: bool, nests: bool| {
        timer.time(Phase::Mapping, || {
            let mut wish = map_options(options, budget);
            if !tiles {
                (wish.tiling, wish.waves) = (None, None);
            }
            if !nests {
                wish.nests = schedule::Nests::Never;
            }
            // SAFETY: detection's handles are live as long as the working copy.
            unsafe {
                (wish.products, wish.chained) = (codegen::products(&scop), codegen::chained(&scop));
                (wish.divides, wish.bulk) = (codegen::divides_integers(&scop), codegen::bulk(&scop));
            }
            schedule::map(&scop, &dependences, &tree, &wish)
        })
    };
    let ordinary = |tiles: bool| with(tiles, false);
    let plain_at_least = |mapped| match mapped {
        Err(schedule::ScheduleError::Budget(_)) => ordinary(false),
        mapped => mapped,
    };
    let may_tile = run.budgets.may_tile();
    let fuses = matches!(options.strategy, Strategy::Auto | Strategy::Streaming);
    let mapped = tiled.map_or_else(
        || match plain_at_least(with(may_tile, true)) {
            // Several steps of a stencil in a launch are better than one in a step of a block.
            Ok(m) if !m.nested.is_empty() && fuses && stencil::is_one(&scop, &dependences) => {
                plain_at_least(ordinary(may_tile))
            }
            mapped => mapped,
        },
        Ok,
    );
    let mut mapped = mapped.map_err(reject_reason)?;
    let has_steps = |m: &schedule::MappedScop| m.kernels.iter().any(|k| k.steps.is_some());
    let has_nests =
        |m: &schedule::MappedScop| m.kernels.iter().any(|k| k.steps.is_some() && k.windows.is_empty());
    let has_tiles = |m: &schedule::MappedScop| has_steps(m) || m.kernels.iter().any(|k| k.tiling.is_some());
    if has_tiles(&mapped) {
        run.budgets.tiled();
    }
    if stage == Stage::Mapping {
        eprintln!("{mapped}");
        return Ok(None);
    }
    let check = |mapped: &schedule::MappedScop, budget: u64| {
        timer.time(Phase::Check, || schedule::legality::check_within(&scop, &dependences, mapped, budget))
    };
    let violations = match proved {
        true => Vec::new(),
        false if has_tiles(&mapped) => {
            let mut found = check(&mapped, if has_steps(&mapped) { 4 } else { 2 } * budget);
            if has_nests(&mapped) && matches!(&found, Err(schedule::ScheduleError::Budget(_))) {
                mapped = plain_at_least(ordinary(may_tile)).map_err(reject_reason)?;
                found = check(&mapped, if has_steps(&mapped) { 4 } else { 2 } * budget);
            }
            // Tiles of seven loops may be too much for the proof where plain kernels are not; of what is wrong with a wavefront's only tests hear.
            let wrong = |v: &Vec<_>| !v.is_empty() && has_steps(&mapped) && !options.targets.checked;
            if matches!(&found, Err(schedule::ScheduleError::Budget(_)))
                || matches!(&found, Ok(v) if wrong(v))
            {
                mapped = ordinary(false).map_err(reject_reason)?;
                check(&mapped, 2 * budget).map_err(reject_reason)?
            } else {
                found.map_err(reject_reason)?
            }
        }
        false => check(&mapped, 4 * budget).map_err(reject_reason)?,
    };
    let accept = |violations: &[schedule::legality::Violation]| match violations.first() {
        Some(v) if !schedule::planted::unproved() => Err(unproved("mapping", &v.to_string())),
        _ => Ok(()),
    };
    accept(&violations)?;
    let generated = |e: codegen::CodegenError| match e {
        codegen::CodegenError::Unsupported(what) => RejectReason::Device { what },
        e if is_quota(&e) || matches!(e, codegen::CodegenError::TooLong(_)) => {
            RejectReason::Budget { stage: "code generation".into() }
        }
        e => RejectReason::Internal { stage: "code generation".into(), message: e.to_string() },
    };
    codegen::check_live_outs(&scop).map_err(generated)?;
    let build = |mapped: &schedule::MappedScop| {
        // SAFETY: the module outlives the kernels, which live in its context.
        timer.time(Phase::Kernels, || unsafe { codegen::build_kernels(session.module(), &scop, mapped) })
    };
    let mut kernels = build(&mapped);
    // isl's code for tiles may not have the form that windows, barriers or registers need; then values pass in global memory, or nothing is tiled.
    let formless = |kernels: &codegen::Result<_>| {
        matches!(kernels, Err(codegen::CodegenError::Unscoped | codegen::CodegenError::Divergent))
    };
    if let (true, Strategy::Tiled(tiling)) = (proved && formless(&kernels), options.strategy) {
        match tile_time(run, options, &scop, &dependences, tiling, budget, false) {
            Ok(tiles) => {
                mapped = tiles;
                kernels = build(&mapped);
            }
            Err(Failure::Unproved(violation)) => return Err(unproved("time tiles", &violation)),
            Err(Failure::Reason(_)) => {}
        }
    }
    if (proved || has_tiles(&mapped)) && formless(&kernels) {
        mapped = ordinary(false).map_err(reject_reason)?;
        accept(&check(&mapped, 4 * budget).map_err(reject_reason)?)?;
        kernels = build(&mapped);
    }
    if proved && mapped.kernels.iter().all(|k| k.steps.is_none()) {
        in_time =
            Some(Err("isl's code for time tiles has barriers that not all threads seem to reach".to_owned()));
    }
    let mut kernels = kernels.map_err(generated)?;
    if !options.targets.checked {
        kernels.share();
    }
    let mut fused = in_time;
    if fuses {
        let fuse = || stencil::fuse(&scop, &dependences, &mapped, &mut kernels, options);
        fused = Some(match timer.time(Phase::Kernels, fuse) {
            Ok(what) => Ok(what),
            Err(Failure::Unproved(violation)) => return Err(unproved("time steps", &violation)),
            Err(Failure::Reason(_)) if has_nests(&mapped) => {
                Ok(Steps { what: "loops of blocks, a barrier for each step".to_owned(), shape: None })
            }
            Err(Failure::Reason(_)) if has_steps(&mapped) => {
                Ok(Steps { what: "tiles of a wavefront, a launch for each diagonal".to_owned(), shape: None })
            }
            Err(Failure::Reason(why)) => Err(why),
        });
    }
    if stage == Stage::Kernel {
        eprintln!("{kernels}");
        return Ok(None);
    }
    let mut device = device::device_code(&kernels, options, timer, &run.assembler);
    let several = proved || has_tiles(&mapped) || kernels.fused().is_some();
    if let (true, Err(e @ codegen::CodegenError::TooLong(_))) = (several, &device) {
        fused = fused.map(|_| Err(e.to_string()));
        mapped = ordinary(false).map_err(reject_reason)?;
        accept(&check(&mapped, 4 * budget).map_err(reject_reason)?)?;
        kernels = build(&mapped).map_err(generated)?;
        if !options.targets.checked {
            kernels.share();
        }
        device = device::device_code(&kernels, options, timer, &run.assembler);
    }
    let device = device.map_err(generated)?;
    if stage == Stage::Ptx {
        let code = device.map(|job| job.wait(timer)).transpose().map_err(generated)?;
        let asked = |i: &&codegen::Image| i.kind == codegen::ImageKind::Ptx && i.arch == options.arch;
        for i in code.iter().flat_map(|code| &code.images).filter(asked) {
            eprintln!("{}", String::from_utf8_lossy(&i.data));
        }
        return Ok(None);
    }
    let (footprints, work, inspected) = timer
        .time(Phase::Estimates, || {
            Ok((footprints(&scop, &dependences)?, schedule::work(&scop)?, schedule::inspected(&scop)?))
        })
        .map_err(reject_reason)?;
    let slices = match kernels.fused() {
        Some(_) => Vec::new(),
        None => timer.time(Phase::Estimates, || slices::of(&scop, &mapped))?,
    };
    let (tuned, entry) = (None, None);
    let code = None;
    Ok(Some(Compiled {
        scop,
        mapped,
        kernels,
        device,
        code,
        footprints,
        work,
        inspected,
        slices,
        fused,
        tuned,
        entry,
    }))
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
    schedule::ScheduleOptions { scheduler, budget }
}

fn map_options(options: &Options, budget: u64) -> schedule::MapOptions {
    let mut map = schedule::MapOptions { budget, ..Default::default() };
    let n = options.tile.len();
    if let Some(threads) = n.checked_sub(1).and_then(|at| map.threads.get_mut(at)) {
        *threads = options.tile.clone();
    }
    if let [threads] = options.tile.as_slice() {
        map.looped = *threads;
    }
    map.waves.clone_from(&options.wave_tile);
    map.nests = options.nest;
    map.tiling = match options.register_tile {
        None => map.tiling,
        Some(RegisterTile::Never) => None,
        // The numbers were checked with the options.
        Some(RegisterTile::Shape { threads, points, residents }) => {
            map.tiling.and_then(|t| t.only(threads, points, residents).ok())
        }
    };
    map
}

pub fn is_quota(e: &codegen::CodegenError) -> bool {
    matches!(e, codegen::CodegenError::Isl(pollyrs_isl::Error::Quota))
}

pub(crate) fn reject_reason(e: schedule::ScheduleError) -> RejectReason {
    match e {
        schedule::ScheduleError::Budget(stage) => RejectReason::Budget { stage: stage.into() },
        schedule::ScheduleError::NoParallelism => RejectReason::NoParallelism { values: Vec::new() },
        e => RejectReason::Internal { stage: "scheduling".into(), message: e.to_string() },
    }
}
