//! What the plugin does to a module: for each function a working copy is canonicalised and searched for SCoPs; each SCoP goes
//! through all stages; only when everything has succeeded does the copy, with the versioned code, become the function's body.
//!
//! # Invariants
//! - A function in which nothing is offloaded is left as it was, to the byte.
//! - Everything that can fail has happened before the function is touched, except what LLVM's verifier finds at the end; then,
//!   too, the original body stays.
//! - Functions are visited and rewritten in module order, but behind those that they call, and SCoPs in program order; nothing depends on
//!   addresses. A function is rewritten some functions after the search in it, so that `ptxas` need not be waited for.

use crate::assembler::Assembler;
use crate::budget::{self, Budgets};
use crate::callgraph::{callees_first, carriers, is_called};
use crate::commit::{self, Compiled};
use crate::effects::Summaries;
use crate::holds;
use crate::options::{Options, RegisterTile, Strategy};
use crate::prepare;
use crate::prospects;
use crate::remarks;
use crate::search::search;
use crate::sequential::Sequential;
use crate::slices;
use crate::stencil::{self, Steps};
use crate::switches::{Switch, Switches, has_loop_that_is_on};
use crate::time_tiles::tile_time;
use crate::timing::{Phase, Timer};
use crate::tuned::Tuned;
use crate::{PluginError, Stage};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_codegen_ptx as codegen;
use pollyrs_llvm_shim::{Session, ShimError, wants_remarks};
use pollyrs_schedule as schedule;
use pollyrs_scop::{ArrayId, RejectReason, Rejection, Scop};
use pollyrs_scop_detect as detect;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Calls of calls are inlined this deep; C++ iterators over containers need three, an element of an array behind
/// `std::unique_ptr` seven.
const MAX_INLINE_ROUNDS: u32 = 10;
/// So many functions with SCoPs may wait for their machine code while the next ones are worked at.
const AHEAD: usize = 8;

/// What one run over a module needs everywhere.
pub struct Run<'a> {
    session: &'a Session,
    pub stage: Stage,
    pub options: &'a Options,
    pub timer: &'a Timer,
    switches: Switches,
    pub budgets: Budgets,
    pub tuned: Tuned,
    assembler: Assembler,
    summaries: Summaries<'a>,
    /// Functions that may work with their callers' holds, as far as the search has come.
    borrowers: RefCell<holds::Borrowers>,
    /// Those that were rewritten.
    ready: RefCell<BTreeSet<usize>>,
    /// What became of those that are called with a hold.
    extended: RefCell<BTreeMap<usize, LLVMValueRef>>,
}

/// Runs one stage over the module; returns whether the module changed.
pub fn run(module: LLVMModuleRef, stage: Stage, options: &Options) -> Result<bool, PluginError> {
    let session = &Session::new(module);
    let timer = &Timer::new(options.time);
    if options.verify {
        session.verify_steps();
    }
    let mut changed = false;
    let switches = Switches::of(module, options);
    let kept_apart = switches.keep_apart(module);
    // All copies are made, and calls inlined into them, before any function is rewritten: what is inlined is the original.
    let mut copies = Vec::new();
    let carriers = carriers(session, module, options);
    for f in functions(module) {
        if !wanted(f, options) {
            continue;
        }
        if switches.function(f) == Some(Switch::Off) {
            if session.has_loops(f) {
                remarks::switched_off(options, f);
            }
            continue;
        }
        if stage == Stage::Canonicalise {
            prepare::canonicalise(session, f)?;
            changed = true;
            continue;
        }
        if !carriers.contains(&(f as usize)) {
            continue;
        }
        // A function that cannot be copied cannot be versioned either.
        timer.time(Phase::Copies, || -> Result<(), PluginError> {
            match session.clone_function(f) {
                Ok(clone) => {
                    session.limit_work(budget::inlining(options, budget::instructions(clone)));
                    session.inline_calls_in_loops(clone, options.max_inline, MAX_INLINE_ROUNDS)?;
                    copies.push((f, clone));
                }
                // What belongs to another module is reported there.
                Err(_) if is_copy_from_elsewhere(f) => {}
                // All that is left: a block whose address is taken, for a computed goto.
                Err(_) => remarks::computed_goto(options, f, &name_of(f)),
            }
            Ok(())
        })?;
    }
    session.limit_work(u64::MAX);
    drop(kept_apart);
    let instructions = copies.iter().map(|(_, clone)| budget::instructions(*clone)).sum();
    let run = Run {
        session,
        stage,
        options,
        timer,
        switches,
        budgets: Budgets::new(options, instructions),
        tuned: Tuned::load(options)?,
        assembler: Assembler::new(),
        summaries: Summaries::new(session),
        borrowers: RefCell::default(),
        ready: RefCell::default(),
        extended: RefCell::default(),
    };
    let mut searched = VecDeque::new();
    for (n, (f, clone)) in callees_first(&copies).into_iter().enumerate() {
        run.budgets.begin_function(copies.len() - n - 1);
        searched.push_back(Searched { f, clone, result: search_function(&run, f, clone) });
        if searched.len() > AHEAD {
            changed |= searched.pop_front().map_or(Ok(false), |first| commit_function(&run, first))?;
        }
    }
    for rest in searched {
        changed |= commit_function(&run, rest)?;
    }
    if let Some(table) = timer.report(&module_name(module)) {
        eprint!("{table}");
        eprintln!("{:10} isl operations", run.budgets.spent());
    }
    Ok(changed)
}

/// Says of each function with loops that `-O0` leaves it alone.
pub fn say_unoptimized(module: LLVMModuleRef, options: &Options) -> Result<(), PluginError> {
    let session = &Session::new(module);
    for f in functions(module) {
        if (options.remark_file.is_some() || wants_remarks(f)) && session.has_loops(f) {
            remarks::unoptimized(options, f);
        }
    }
    Ok(())
}

/// A function after the search in it, its body still the original one.
struct Searched {
    f: LLVMValueRef,
    clone: LLVMValueRef,
    result: Result<Found, PluginError>,
}

/// What was found in a function.
enum Found {
    /// The module's budget is spent.
    NotLookedAt,
    Regions {
        rejections: Vec<Rejection>,
        /// In program order; may be none.
        compiled: Vec<Compiled>,
        holds: Option<holds::Plan>,
        /// isl operations for the host code of a SCoP.
        budget: u64,
    },
}

/// The stages up to the device code for one function.
fn search_function(run: &Run<'_>, f: LLVMValueRef, clone: LLVMValueRef) -> Result<Found, PluginError> {
    let Run { session, stage, options, timer, .. } = *run;
    if run.budgets.module_is_spent() {
        return Ok(Found::NotLookedAt);
    }
    session.limit_work(run.budgets.rewriting(budget::instructions(clone)));
    let rewritten = timer.time(Phase::Canonicalise, || rewrite(run, f, clone));
    run.budgets.spend_beside(session.work());
    session.limit_work(u64::MAX);
    let Some(Rewritten { prospects, assumed }) = rewritten? else {
        return Ok(Found::Regions { rejections: Vec::new(), compiled: Vec::new(), holds: None, budget: 0 });
    };
    if options.hold {
        timer.time(Phase::Analyses, || run.summaries.note_captures(clone));
    }
    if assumed {
        settle_unwritten(run, clone)?;
    }
    let mut holds = None;
    let (mut compiled, mut rejections);
    {
        let analyses = timer.time(Phase::Analyses, || session.analyses(clone))?;
        let on = run.switches.function(f) == Some(Switch::On);
        (compiled, rejections) = search(run, &analyses, on);
        if !prospects && stage == Stage::Run {
            rejections.extend(compiled.drain(..).map(|c| prospects::unexpected(&c.scop)));
        }
        if options.hold && stage >= Stage::Host {
            let scops: Vec<&Scop> = compiled.iter().map(|c| &c.scop).collect();
            let request = holds::Request {
                analyses: &analyses,
                summaries: &run.summaries,
                borrowers: &run.borrowers.borrow(),
                borrows: is_called(f, clone).then_some(f),
            };
            holds = timer.time(Phase::Host, || holds::plan(&request, &scops));
        }
        commit::prepare(&analyses, &mut compiled)?;
    }
    session.invalidate(clone)?;
    if let Some(borrower) = holds.as_ref().and_then(|plan| plan.borrows.clone()) {
        run.borrowers.borrow_mut().insert(f as usize, borrower);
    }
    Ok(Found::Regions { rejections, compiled, holds, budget: run.budgets.host() })
}

/// What is known of a working copy that detection can look at.
struct Rewritten {
    /// Whether something may be found, as far as a quick look tells.
    prospects: bool,
    /// Whether loads are taken for what their places held before loops.
    assumed: bool,
}

/// Brings the working copy into the form that detection expects. `None`: nothing is to be looked for in there.
fn rewrite(run: &Run<'_>, f: LLVMValueRef, clone: LLVMValueRef) -> Result<Option<Rewritten>, PluginError> {
    let Run { session, stage, options, .. } = *run;
    prepare::values(session, clone)?;
    let lends = |callee: LLVMValueRef| run.borrowers.borrow().contains_key(&(callee as usize));
    let on = run.switches.function(f) == Some(Switch::On);
    // A trip count of one is a loop no more.
    let least = if on || has_loop_that_is_on(clone) { 1 } else { options.min_work };
    let prospects = prospects::any(session, clone, least, lends)?;
    let curious =
        options.verbose || options.show_choices || options.remark_file.is_some() || wants_remarks(f);
    if !prospects && stage == Stage::Run && !curious {
        return Ok(None);
    }
    let assumed = prepare::flatten(session, clone)?;
    session.require_work()?;
    Ok(Some(Rewritten { prospects, assumed }))
}

/// Drops the assumption that what loops load is what its place held before them, where that leaves fewer loops that can be modelled: values
/// are read before the outermost loop, which may be too large.
fn settle_unwritten(run: &Run<'_>, clone: LLVMValueRef) -> Result<(), PluginError> {
    let Run { session, timer, .. } = *run;
    let detect = || -> Result<(bool, usize), PluginError> {
        let analyses = timer.time(Phase::Analyses, || session.analyses(clone))?;
        let found = timer.time(Phase::Detection, || detect::detect(&analyses, &detect_options(run)));
        run.budgets.spend(found.operations);
        Ok((found.divided, found.scops.iter().map(|s| s.loops.len()).sum()))
    };
    let (divided, with) = detect()?;
    if divided {
        session.suspend_unwritten(clone, true)?;
        let without = detect()?.1;
        // Where nothing is found either way, the remark is of what stands in the way besides.
        if without < with || without == 0 {
            session.suspend_unwritten(clone, false)?;
        } else {
            session.restore_unwritten(clone)?;
        }
    }
    Ok(())
}

/// Remarks, and the clone, with the versioned code, as the function's body. `false`: nothing was found, or that failed; all is as it was.
fn commit_function(run: &Run<'_>, searched: Searched) -> Result<bool, PluginError> {
    let Run { session, stage, options, timer, .. } = *run;
    let Searched { f, clone, result } = searched;
    let abandon = |e: PluginError| -> Result<bool, PluginError> {
        session.erase_function(clone)?;
        match &e {
            PluginError::Codegen(e) if is_quota(e) => {
                remarks::budget(options, f, &name_of(f), "the code on the host")
            }
            PluginError::Shim(ShimError::Work) => remarks::budget(options, f, &name_of(f), "rewriting"),
            e => remarks::internal(options, f, e),
        }
        Ok(false)
    };
    let (rejections, mut compiled, holds, budget) = match result {
        Ok(Found::Regions { rejections, compiled, holds, budget }) => (rejections, compiled, holds, budget),
        Ok(Found::NotLookedAt) => {
            session.erase_function(clone)?;
            remarks::budget(options, f, &name_of(f), "the module");
            return Ok(false);
        }
        Err(e) => return abandon(e),
    };
    for entry in run.tuned.stale(&name_of(f)) {
        remarks::stale(options, f, entry);
    }
    for rejection in &rejections {
        remarks::rejected(options, f, clone, rejection);
    }
    // A callee whose rewriting failed takes no hold, and then nothing is known of what it does.
    let ready = |lend: &holds::Lend| run.ready.borrow().contains(&(lend.callee as usize));
    let holds = holds.filter(|plan| plan.lends.iter().all(ready));
    if compiled.is_empty() && holds.as_ref().is_none_or(|plan| plan.lends.is_empty()) {
        session.erase_function(clone)?;
        return Ok(false);
    }
    run.summaries.remember(f);
    let spent = |compiled: &[Compiled]| compiled.iter().map(|c| c.scop.ctx.operations()).sum::<u64>();
    let before = spent(&compiled);
    let with =
        commit::Rewrite { session, options, timer, budget, holds: holds.as_ref(), extended: &run.extended };
    let result = commit::rewrite(&with, f, clone, &mut compiled);
    run.budgets.spend_beside(spent(&compiled) - before);
    if let Err(e) = result {
        return abandon(e);
    }
    if holds.is_some_and(|plan| plan.borrows.is_some()) {
        run.ready.borrow_mut().insert(f as usize);
    }
    if stage == Stage::Host {
        eprint!("{}", function_text(f));
    }
    Ok(true)
}

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
            Err(stencil::Failure::Unproved(violation)) => return Err(unproved("time tiles", &violation)),
            Err(stencil::Failure::Reason(why)) => Err(why),
        });
    }
    let proved = tiled.is_some();
    let ordinary = |tiles: bool| {
        timer.time(Phase::Mapping, || {
            let mut wish = map_options(options, budget);
            if !tiles {
                (wish.tiling, wish.waves) = (None, None);
            }
            // SAFETY: detection's handles are live as long as the working copy.
            unsafe {
                (wish.products, wish.chained) = (codegen::products(&scop), codegen::chained(&scop));
                (wish.divides, wish.bulk) = (codegen::divides_integers(&scop), codegen::bulk(&scop));
            }
            schedule::map(&scop, &dependences, &tree, &wish)
        })
    };
    let plain_at_least = |mapped| match mapped {
        Err(schedule::ScheduleError::Budget(_)) => ordinary(false),
        mapped => mapped,
    };
    let mapped = tiled.map_or_else(|| plain_at_least(ordinary(run.budgets.may_tile())), Ok);
    let mut mapped = mapped.map_err(reject_reason)?;
    let has_steps = |m: &schedule::MappedScop| m.kernels.iter().any(|k| k.steps.is_some());
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
            let found = check(&mapped, if has_steps(&mapped) { 4 } else { 2 } * budget);
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
            Err(stencil::Failure::Unproved(violation)) => return Err(unproved("time tiles", &violation)),
            Err(stencil::Failure::Reason(_)) => {}
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
    if matches!(options.strategy, Strategy::Auto | Strategy::Streaming) {
        let fuse = || stencil::fuse(&scop, &dependences, &mapped, &mut kernels, options);
        fused = Some(match timer.time(Phase::Kernels, fuse) {
            Ok(what) => Ok(what),
            Err(stencil::Failure::Unproved(violation)) => return Err(unproved("time steps", &violation)),
            Err(stencil::Failure::Reason(_)) if has_steps(&mapped) => {
                Ok(Steps { what: "tiles of a wavefront, a launch for each diagonal".to_owned(), shape: None })
            }
            Err(stencil::Failure::Reason(why)) => Err(why),
        });
    }
    if stage == Stage::Kernel {
        eprintln!("{kernels}");
        return Ok(None);
    }
    let mut device = commit::device_code(&kernels, options, timer, &run.assembler);
    let several = proved || has_tiles(&mapped) || kernels.fused().is_some();
    if let (true, Err(e @ codegen::CodegenError::TooLong(_))) = (several, &device) {
        fused = fused.map(|_| Err(e.to_string()));
        mapped = ordinary(false).map_err(reject_reason)?;
        accept(&check(&mapped, 4 * budget).map_err(reject_reason)?)?;
        kernels = build(&mapped).map_err(generated)?;
        if !options.targets.checked {
            kernels.share();
        }
        device = commit::device_code(&kernels, options, timer, &run.assembler);
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
    let (footprints, work) = timer
        .time(Phase::Estimates, || Ok((footprints(&scop, &dependences)?, schedule::work(&scop)?)))
        .map_err(reject_reason)?;
    let slices = match kernels.fused() {
        Some(_) => Vec::new(),
        None => timer.time(Phase::Estimates, || slices::of(&scop, &mapped))?,
    };
    let (tuned, entry) = (None, None);
    let code = None;
    Ok(Some(Compiled { scop, mapped, kernels, device, code, footprints, work, slices, fused, tuned, entry }))
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

pub fn detect_options(run: &Run<'_>) -> detect::DetectOptions {
    let (isl_operations, all_operations) = (run.budgets.attempt(), run.budgets.detection());
    detect::DetectOptions { isl_operations, all_operations, ..Default::default() }
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

fn is_quota(e: &codegen::CodegenError) -> bool {
    matches!(e, codegen::CodegenError::Isl(pollyrs_isl::Error::Quota))
}

pub(crate) fn reject_reason(e: schedule::ScheduleError) -> RejectReason {
    match e {
        schedule::ScheduleError::Budget(stage) => RejectReason::Budget { stage: stage.into() },
        schedule::ScheduleError::NoParallelism => RejectReason::NoParallelism { values: Vec::new() },
        e => RejectReason::Internal { stage: "scheduling".into(), message: e.to_string() },
    }
}

/// The module's function definitions, in order.
pub(crate) fn functions(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: a live module.
    unsafe {
        let mut f = LLVMGetFirstFunction(module);
        while !f.is_null() {
            if LLVMIsDeclaration(f) == 0 {
                all.push(f);
            }
            f = LLVMGetNextFunction(f);
        }
    }
    all
}

fn module_name(module: LLVMModuleRef) -> String {
    let mut len = 0;
    // SAFETY: a live module; LLVM returns pointer and length of its name.
    unsafe {
        let p = LLVMGetModuleIdentifier(module, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(p.cast::<u8>(), len)).into_owned()
    }
}

pub(crate) fn name_of(f: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: a live value; LLVM returns pointer and length of its name.
    unsafe {
        let p = LLVMGetValueName2(f, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(p.cast::<u8>(), len)).into_owned()
    }
}

fn function_text(f: LLVMValueRef) -> String {
    // SAFETY: a live value; the message is freed after the copy.
    unsafe {
        let p = LLVMPrintValueToString(f);
        let text = std::ffi::CStr::from_ptr(p).to_string_lossy().into_owned();
        LLVMDisposeMessage(p);
        text
    }
}

/// Whether a definition is there for inlining only.
fn is_copy_from_elsewhere(f: LLVMValueRef) -> bool {
    // SAFETY: a live function.
    unsafe { LLVMGetLinkage(f) == inkwell::llvm_sys::LLVMLinkage::LLVMAvailableExternallyLinkage }
}

/// Whether a function is looked at: not switched off, not one of our kernels, not opted out.
fn wanted(f: LLVMValueRef, options: &Options) -> bool {
    let has = |attribute: &str| {
        // SAFETY: a live function; the name lives through the call.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len());
            !LLVMGetEnumAttributeAtIndex(f, inkwell::llvm_sys::LLVMAttributeFunctionIndex, kind).is_null()
        }
    };
    let has_string = |attribute: &str| {
        let len = attribute.len() as u32;
        // SAFETY: a live function; the name lives through the call.
        unsafe {
            !LLVMGetStringAttributeAtIndex(
                f,
                inkwell::llvm_sys::LLVMAttributeFunctionIndex,
                attribute.as_ptr().cast(),
                len,
            )
            .is_null()
        }
    };
    if has("optnone") || has("naked") || has("presplitcoroutine") || has_string("pollyrs-kernel") {
        return false;
    }
    options.only_function.as_ref().is_none_or(|only| only.matches(&name_of(f)))
}
