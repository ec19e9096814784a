//! What the plugin does to a module: for each function a working copy is canonicalised and searched for
//! SCoPs; each SCoP goes through all stages; only when everything has succeeded does the copy, with the
//! versioned code, become the function's body.
//!
//! # Invariants
//! - A function in which nothing is offloaded is left as it was, to the byte.
//! - Everything that can fail has happened before the function is touched, except what LLVM's verifier finds
//!   at the end; then, too, the original body stays.
//! - Functions are visited and rewritten in module order, but behind those that they call, and SCoPs in
//!   program order; nothing depends on addresses. A function is rewritten some functions after the search in
//!   it, so that `ptxas` need not be waited for.

use crate::base::budget::{self, Budgets};
use crate::base::error::PluginError;
use crate::base::options::Options;
use crate::base::stage::Stage;
use crate::base::statistics::{Counter, count};
use crate::base::timing::Phase;
use crate::base::trace;
use crate::commit;
use crate::compiled::Compiled;
use crate::device::assembler::Assembler;
use crate::ir::callgraph::{callees_first, calls, carriers, has_callers, is_called};
use crate::ir::{self, functions, is_copy_from_elsewhere};
use crate::pipeline::is_quota;
use crate::prepare;
use crate::prepare::prospects;
use crate::remarks;
use crate::residency;
use crate::residency::effects::Summaries;
use crate::run::{Progress, Run, Tuned};
use crate::search::{Known, Wish, search};
use crate::switches::{Switch, Switches, has_loop_that_is_on};
use pollyrs_codegen_ptx::CodegenError;
use pollyrs_llvm_shim::ir::{FUNCTION, Module, Value};
use pollyrs_llvm_shim::{Analyses, Session, ShimError, callee, wants_remarks};
use pollyrs_scop::{Rejection, Scop};
use std::collections::{BTreeMap, VecDeque};

/// Calls of calls are inlined this deep; C++ iterators over containers need three, an element of an array
/// behind `std::unique_ptr` seven.
const MAX_INLINE_ROUNDS: u32 = 10;
/// So many functions with SCoPs may wait for their machine code while the next ones are worked at.
const AHEAD: usize = 8;

/// Runs one stage over the module.
pub fn run(module: Module, stage: Stage, options: &Options) -> Result<Done, PluginError> {
    trace::listening(stage, options, |sums| {
        let done = run_listening(module, stage, options)?;
        if let Some(table) = sums.times.as_ref().and_then(|times| times.report(&module.name())) {
            trace::answer(format_args!("{table}{:10} isl operations", done.operations));
        }
        if let Some(totals) = &sums.totals {
            trace::answer(totals.report(&module.name()));
        }
        Ok(done)
    })
}

fn run_listening(module: Module, stage: Stage, options: &Options) -> Result<Done, PluginError> {
    // SAFETY: LLVM hands a pass a live module.
    let session = &unsafe { Session::new(module) };
    if options.verify {
        session.verify_steps();
    }
    let mut changed = false;
    let switches = Switches::of(module, options);
    let kept_apart = switches.keep_apart(module);
    // All copies are made, and calls inlined into them, before any function is rewritten: what is inlined is
    // the original.
    let mut copies = Vec::new();
    let mut plain = BTreeMap::new();
    let carriers = carriers(session, module, options.hold);
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
        if !carriers.contains(&f) {
            continue;
        }
        // A function that cannot be copied cannot be versioned either.
        Phase::Copies.time(|| -> Result<(), PluginError> {
            match session.clone_function(f) {
                Ok(clone) => {
                    session.limit_work(budget::inlining(options, ir::size(clone)));
                    inline(session, options, clone)?;
                    copies.push((f, clone));
                    let may_lend = |of: Value| calls(of).filter_map(callee).any(|c| carriers.contains(&c));
                    if options.hold && (may_lend(f) || may_lend(clone)) {
                        plain.insert(f, plain_copy(session, options, f)?);
                    }
                }
                // What belongs to another module is reported there.
                Err(_) if is_copy_from_elsewhere(f) => {}
                Err(ShimError::Funclets) => remarks::not_copied(options, f, &f.name(), "catchswitch"),
                // All that is left: a block whose address is taken, for a computed goto.
                Err(_) => remarks::not_copied(options, f, &f.name(), "indirectbr"),
            }
            Ok(())
        })?;
    }
    session.limit_work(u64::MAX);
    drop(kept_apart);
    count(Counter::Functions, copies.len());
    let instructions = copies.iter().map(|(_, clone)| ir::size(*clone)).sum();
    let run = Run {
        session,
        stage,
        options,
        switches,
        budgets: Budgets::new(options, instructions),
        tuned: Tuned::load(options)?,
        assembler: Assembler::new(options.cache()),
        summaries: Summaries::new(session),
        progress: Progress::default(),
    };
    let mut searched = VecDeque::new();
    for (n, (f, clone)) in callees_first(&copies).into_iter().enumerate() {
        run.budgets.begin_function(ir::size(clone), copies.len() - n - 1);
        searched.push_back(look_at(&run, f, clone, plain.remove(&f)));
        if searched.len() > AHEAD {
            changed |= searched.pop_front().map_or(Ok(false), |first| commit_function(&run, first))?;
        }
    }
    for rest in searched {
        changed |= commit_function(&run, rest)?;
    }
    let lasting = !run.progress.failed.get() && !run.assembler.has_failed();
    Ok(Done { changed, lasting, operations: run.budgets.spent() })
}

/// What was done in a module.
pub struct Done {
    pub changed: bool,
    /// The next run does the same: nothing failed that need not fail again.
    pub lasting: bool,
    /// Of isl.
    pub operations: u64,
}

impl Done {
    /// Without isl.
    pub fn plain(changed: bool) -> Done {
        Done { changed, lasting: true, operations: 0 }
    }
}

/// Says of each function with loops that `-O0` leaves it alone.
pub fn say_unoptimized(module: Module, options: &Options) -> Result<(), PluginError> {
    // SAFETY: LLVM hands a pass a live module.
    let session = &unsafe { Session::new(module) };
    for f in functions(module) {
        if (options.remark_file.is_some() || wants_remarks(f)) && session.has_loops(f) {
            remarks::unoptimized(options, f);
        }
    }
    Ok(())
}

/// Calls in loops become code, and what that calls through pointers to functions which are known then.
fn inline(session: &Session, options: &Options, clone: Value) -> Result<(), PluginError> {
    session.inline_calls_in_loops(clone, options.max_inline, MAX_INLINE_ROUNDS)?;
    let is_given = |pointer: Value| pointer.accessed().is_some_and(Value::is_alloca);
    if calls(clone).any(|call| callee(call).is_none() && is_given(call.callee())) {
        session.run_passes(clone, prepare::VARIABLES)?;
        session.inline_calls_in_loops(clone, options.max_inline, MAX_INLINE_ROUNDS)?;
    }
    Ok(())
}

/// A working copy for a function none of whose loops is for the device: nothing is inlined into it but what
/// tells which objects it works with.
fn plain_copy(session: &Session, options: &Options, f: Value) -> Result<Value, PluginError> {
    let plain = session.clone_function(f)?;
    session.inline_calls_aside(plain, options.max_inline, MAX_INLINE_ROUNDS)?;
    Ok(plain)
}

/// A function after the search in it, its body still the original one.
struct Searched {
    f: Value,
    /// The working copy that was searched.
    looked_at: Value,
    /// The one that may become the body: the same but where only results of others stay on the device.
    clone: Value,
    result: Result<Found, PluginError>,
}

/// What is said of a function names it.
fn function_span(f: Value) -> tracing::Span {
    tracing::info_span!(target: trace::PLACE, "function", message = f.name())
}

/// What was found in a function.
enum Found {
    /// The module's budget is spent.
    NotLookedAt,
    Regions {
        rejections: Vec<Rejection>,
        /// In program order; may be none.
        compiled: Vec<Compiled>,
        residency: Option<residency::Plan>,
        /// isl operations for the host code of a SCoP.
        budget: u64,
    },
}

/// The stages up to the device code for one function. `plain`: its [`plain_copy`], if it calls what may leave
/// results on the device.
fn look_at(run: &Run<'_>, f: Value, clone: Value, plain: Option<Value>) -> Searched {
    let mut searched = Searched { f, looked_at: clone, clone, result: search_function(run, f, clone) };
    let Some(plain) = plain else { return searched };
    if let Ok(Found::Regions { compiled, residency, .. }) = &mut searched.result
        && compiled.is_empty()
    {
        match hold_only(run, f, plain) {
            Ok(None) => {}
            Ok(found) => {
                note_borrower(run, f, found.as_ref());
                *residency = found;
                return Searched { clone: plain, ..searched };
            }
            Err(e) => searched.result = Err(e),
        }
    }
    if let Err(e) = run.session.erase_function(plain) {
        searched.result = Err(e.into());
    }
    searched
}

/// Callers may lend the function their holds.
fn note_borrower(run: &Run<'_>, f: Value, plan: Option<&residency::Plan>) {
    if let Some(borrower) = plan.and_then(|plan| plan.borrows.clone()) {
        run.progress.borrowers.borrow_mut().insert(f, borrower);
    }
}

/// Where arrays stay on the device between calls, in a function that has no SCoPs.
fn hold_only(run: &Run<'_>, f: Value, plain: Value) -> Result<Option<residency::Plan>, PluginError> {
    let Run { session, stage, .. } = *run;
    let lends = |callee: Value| run.progress.borrowers.borrow().contains_key(&callee);
    if stage < Stage::Host || !calls(plain).filter_map(callee).any(lends) {
        return Ok(None);
    }
    session.limit_work(run.budgets.rewriting(ir::size(plain)));
    Phase::Canonicalise.time(|| prepare::plain(session, plain))?;
    run.budgets.spend_beside(session.work());
    session.limit_work(u64::MAX);
    Phase::Analyses.time(|| run.summaries.note_captures(plain));
    let analyses = Phase::Analyses.time(|| session.analyses(plain))?;
    let request = residency::Request {
        analyses: &analyses,
        summaries: &run.summaries,
        borrowers: &run.progress.borrowers.borrow(),
        borrows: is_called(f, plain).then_some(f),
    };
    let mut plan = Phase::Host.time(|| residency::plan(&request, &[]));
    if let Some(plan) = &mut plan {
        plan.expand(&analyses, &commit::regions(&[]));
    }
    drop(analyses);
    session.invalidate(plain)?;
    Ok(plan)
}

/// The stages up to the device code for one function.
fn search_function(run: &Run<'_>, f: Value, clone: Value) -> Result<Found, PluginError> {
    let Run { session, stage, options, .. } = *run;
    let _function = function_span(f).entered();
    if run.budgets.module_is_spent() {
        return Ok(Found::NotLookedAt);
    }
    session.limit_work(run.budgets.rewriting(ir::size(clone)));
    let rewritten = Phase::Canonicalise.time(|| rewrite(run, f, clone));
    run.budgets.spend_beside(session.work());
    session.limit_work(u64::MAX);
    let Some(Rewritten { little, assumed }) = rewritten? else {
        return Ok(Found::Regions {
            rejections: Vec::new(),
            compiled: Vec::new(),
            residency: None,
            budget: 0,
        });
    };
    if options.hold {
        Phase::Analyses.time(|| run.summaries.note_captures(clone));
    }
    let settled = if assumed { settle_invariant_loads(run, clone)? } else { Settled::default() };
    let mut residency = None;
    let (mut compiled, mut rejections);
    {
        let analyses = match settled.analyses {
            Some(analyses) => analyses,
            None => Phase::Analyses.time(|| session.analyses(clone))?,
        };
        let on = run.switches.function(f) == Some(Switch::On);
        let request = residency::Request {
            analyses: &analyses,
            summaries: &run.summaries,
            borrowers: &run.progress.borrowers.borrow(),
            borrows: is_called(f, clone).then_some(f),
        };
        let stays = |scops: &[&Scop]| options.hold && residency::plan(&request, scops).is_some();
        let wish = Wish { on, called: has_callers(f, clone).then_some(f), stays: &stays };
        (compiled, rejections) = search(run, &analyses, &wish, settled.known);
        if let (Some(most), Stage::Run) = (little, stage) {
            rejections.extend(compiled.drain(..).map(|c| prospects::refusal(&c.scop, most)));
            run.progress.forms.borrow_mut().remove(&f);
        }
        if options.hold && stage >= Stage::Host && !compiled.is_empty() {
            let scops: Vec<&Scop> = compiled.iter().map(|c| &c.scop).collect();
            residency = Phase::Host.time(|| residency::plan(&request, &scops));
        }
        if let Some(plan) = &mut residency {
            plan.expand(&analyses, &commit::regions(&compiled));
        }
        commit::prepare(&analyses, &mut compiled)?;
    }
    session.invalidate(clone)?;
    note_borrower(run, f, residency.as_ref());
    Ok(Found::Regions { rejections, compiled, residency, budget: run.budgets.host() })
}

/// What is known of a working copy that detection can look at.
struct Rewritten {
    /// The most instructions that its loops run, where a quick look tells that nothing in there is worth it.
    little: Option<u64>,
    /// Whether loads are taken for what their places held before loops.
    assumed: bool,
}

/// Brings the working copy into the form that detection expects. `None`: nothing is to be looked for in
/// there.
fn rewrite(run: &Run<'_>, f: Value, clone: Value) -> Result<Option<Rewritten>, PluginError> {
    let Run { session, stage, options, .. } = *run;
    prepare::values(session, clone)?;
    let on = run.switches.function(f) == Some(Switch::On);
    // A trip count of one is a loop no more.
    let least = if on || has_loop_that_is_on(clone) { 1 } else { options.min_work };
    let little = prospects::without(session, clone, least)?;
    let curious =
        options.verbose || options.show_choices || options.remark_file.is_some() || wants_remarks(f);
    if little.is_some() && stage == Stage::Run && !curious {
        return Ok(None);
    }
    let assumed = prepare::flatten(session, clone)?;
    session.require_work()?;
    Ok(Some(Rewritten { little, assumed }))
}

/// What is known of a working copy, with analyses of it if it is as it was then.
#[derive(Default)]
struct Settled<'s> {
    analyses: Option<Analyses<'s>>,
    known: Known,
}

/// Drops the assumption that what loops load is what its place held before them, where that leaves fewer
/// loops that can be modelled: values are read before the outermost loop, which may be too large.
fn settle_invariant_loads<'s>(run: &Run<'s>, clone: Value) -> Result<Settled<'s>, PluginError> {
    let Run { session, .. } = *run;
    let analyses = Phase::Analyses.time(|| session.analyses(clone))?;
    let known = Known::detect(run, &analyses);
    // Where nothing is found either way, the remark is of what stands in the way besides.
    let drops = known.divided() && {
        let without = loops_without_assumption(run, clone, &known)?;
        without >= known.loops() && without != 0
    };
    if !drops {
        return Ok(Settled { analyses: Some(analyses), known });
    }
    drop(analyses);
    session.restore_invariant_loads(clone)?;
    Ok(Settled { analyses: None, known: known.suspended() })
}

/// How many loops can be modelled without that assumption: in a copy, so that what was found stays as it is.
fn loops_without_assumption(run: &Run<'_>, clone: Value, known: &Known) -> Result<usize, PluginError> {
    let Run { session, .. } = *run;
    let copy = Phase::Copies.time(|| session.clone_function(clone))?;
    session.suspend_invariant_loads(copy, true)?;
    let loops = {
        let analyses = Phase::Analyses.time(|| session.analyses(copy))?;
        known.loops_of_suspended(run, &analyses)
    };
    session.erase_function(copy)?;
    Ok(loops)
}

/// Remarks, and the clone, with the versioned code, as the function's body. `false`: nothing was found, or
/// that failed; all is as it was.
fn commit_function(run: &Run<'_>, searched: Searched) -> Result<bool, PluginError> {
    let Run { session, stage, options, .. } = *run;
    let Searched { f, looked_at, clone, result } = searched;
    let _function = function_span(f).entered();
    let abandon = |e: PluginError| -> Result<bool, PluginError> {
        session.erase_function(clone)?;
        match &e {
            PluginError::Codegen(e) if is_quota(e) => {
                remarks::budget(options, f, &f.name(), "the code on the host")
            }
            PluginError::Codegen(CodegenError::IntegerRange(value)) => {
                remarks::wide(options, f, &f.name(), value)
            }
            PluginError::Shim(ShimError::Work) => remarks::budget(options, f, &f.name(), "rewriting"),
            e => {
                run.progress.failed.set(true);
                remarks::internal(options, f, e);
            }
        }
        Ok(false)
    };
    let (rejections, mut compiled, residency, budget) = match result {
        Ok(Found::Regions { rejections, compiled, residency, budget }) => {
            (rejections, compiled, residency, budget)
        }
        Ok(Found::NotLookedAt) => {
            session.erase_function(clone)?;
            remarks::budget(options, f, &f.name(), "the module");
            return Ok(false);
        }
        Err(e) => return abandon(e),
    };
    for entry in run.tuned.stale(&f.name()) {
        remarks::stale(options, f, entry);
    }
    for rejection in &rejections {
        remarks::rejected(options, f, looked_at, rejection);
    }
    if looked_at != clone {
        session.erase_function(looked_at)?;
    }
    // A callee whose rewriting failed takes no hold, and then nothing is known of what it does.
    let ready = |lend: &residency::Lend| run.progress.ready.borrow().contains(&lend.callee);
    let residency = residency.filter(|plan| plan.lends.iter().all(ready));
    if compiled.is_empty() && residency.as_ref().is_none_or(|plan| plan.lends.is_empty()) {
        session.erase_function(clone)?;
        return Ok(false);
    }
    run.summaries.remember(f);
    let spent = |compiled: &[Compiled]| compiled.iter().map(|c| c.scop.ctx.operations()).sum::<u64>();
    let before = spent(&compiled);
    let with = commit::Rewrite {
        session,
        options,
        budget,
        residency: residency.as_ref(),
        extended: &run.progress.extended,
    };
    let result = commit::rewrite(&with, f, clone, &mut compiled);
    run.budgets.spend_beside(spent(&compiled) - before);
    if let Err(e) = result {
        return abandon(e);
    }
    if residency.is_some_and(|plan| plan.borrows.is_some()) {
        run.progress.ready.borrow_mut().insert(f);
    }
    if stage == Stage::Host {
        trace::answer(f.text());
    }
    Ok(true)
}

/// Whether a function is looked at: not switched off, not one of our kernels, not opted out.
fn wanted(f: Value, options: &Options) -> bool {
    let has = |attribute: &str| f.attribute(FUNCTION, attribute).is_some();
    let has_string = |attribute: &str| f.string_attribute(attribute).is_some();
    if has("optnone") || has("naked") || has("presplitcoroutine") || has_string("pollyrs-kernel") {
        return false;
    }
    options.only_function.as_ref().is_none_or(|only| only.matches(&f.name()))
}
