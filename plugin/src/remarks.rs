//! LLVM remarks: every SCoP and every refusal, at its place in the source.

use crate::base::error::PluginError;
use crate::base::options::{Options, Strategy};
use crate::base::statistics::{self, Counter};
use crate::compiled::Compiled;
use crate::details;
use crate::device::assembler::Code as DeviceCode;
use pollyrs_codegen_ptx::{ImageKind, blocks, host_value};
use pollyrs_llvm_shim::ir::{Block, Value};
use pollyrs_llvm_shim::{
    CHECK_RETURN, Place, RemarkKind, callee, emit_warning, ends_whole_row, location, remark, remark_library,
    remark_place,
};
use pollyrs_schedule::Placement;
use pollyrs_scop::{Array, ArrayKind, AssumptionKind, Code, Location, RejectReason, Rejection, Scop};
use pollyrs_tuning::{Entry, remark as record};

/// What data decides at run time, for which many programs' loops stay on the host: that integers are all
/// different, that rows are equally far apart, where it is not known which columns are accessed, that a
/// counter which is divided goes through whole rows, that parts of an array lie apart.
fn conditions(scop: &Scop) -> String {
    let mut all: Vec<String> = Vec::new();
    for i in scop.inspections.iter().filter(|i| i.distinct) {
        all.push(format!("no two elements of {} are equal", i.display));
    }
    for a in scop.assumptions.iter().filter(|a| a.kind == AssumptionKind::Independence) {
        all.push(a.note.clone());
    }
    let of_a_table = |a: &Array| {
        let ArrayKind::Memory { base } = a.kind else { return false };
        let base = host_value(base);
        // A part of an aggregate has that as its operand.
        let call = if base.is_extract() { base.operand(0) } else { base };
        call.is_call() && callee(call).is_some_and(|f| f.name() == "pollyrs_rt_rows")
    };
    for a in scop.arrays.iter().filter(|a| of_a_table(a)) {
        all.push(format!("the rows of {} are equally far apart", a.display));
    }
    let returns = |i: Value| i.is_call() && callee(i).is_some_and(|f| f.name() == CHECK_RETURN);
    if blocks(scop).flat_map(Block::instructions).any(returns) {
        all.push("no iteration returns early".into());
    }
    if blocks(scop).any(ends_whole_row) {
        all.push("the elements of the loop are a whole number of rows, for quotients and remainders of its counter".into());
    }
    all.dedup();
    if all.is_empty() { String::new() } else { format!(", where {}", all.join(" and ")) }
}

/// What remarks on an offloaded SCoP say of the working copy. Rewriting the copy may erase what it is read
/// from.
pub struct Seen {
    at: Option<Place>,
    conditions: String,
}

impl Seen {
    /// Before the working copy is rewritten.
    pub fn of(scop: &Scop) -> Seen {
        let at = blocks(scop).flat_map(Block::instructions).find(|i| matches(*i, scop.location.as_ref()));
        Seen { at: at.and_then(Place::of), conditions: conditions(scop) }
    }
}

/// `-Rpass=pollyrs` for an offloaded SCoP, `-Rpass-analysis=pollyrs` for what it assumes.
pub fn offloaded(with: &Options, f: Value, c: &Compiled, seen: &Seen) {
    let (scop, at) = (&c.scop, seen.at);
    counted(c);
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let memory = scop.arrays.iter().filter(|a| matches!(a.kind, ArrayKind::Memory { .. })).count();
    let private = c.mapped.placement.iter().filter(|p| **p == Placement::Private).count();
    let mut message = format!(
        "offloaded {}: {}, {}, {}, {}",
        scop.name,
        count(scop.loops.len(), "loop"),
        count(scop.statements.len(), "statement"),
        count(memory, "array"),
        count(c.mapped.kernels.len(), "kernel")
    );
    if private > 0 {
        message.push_str(&format!(", {}", count(private, "private scalar")));
    }
    message.push_str(&seen.conditions);
    let about = About { details: details::of(with, c), ..About::default() };
    told(with, f, (RemarkKind::Passed, Code::Offloaded), at, &message, about);
    if let Some(code) = &c.code {
        device_code(with, f, at, code);
    }
    match &c.fused {
        Some(Ok(steps)) => {
            emit(with, f, RemarkKind::Passed, Code::FusedSteps, at, &format!("fuses steps: {}", steps.what))
        }
        Some(Err(why)) if with.strategy != Strategy::Auto || repeated(c) => emit(
            with,
            f,
            RemarkKind::Analysis,
            Code::StepsNotFused,
            at,
            &format!("steps are not fused: {why}"),
        ),
        Some(Err(_)) | None => {}
    }
    match &c.tuned {
        Some(Ok(what)) => {
            emit(with, f, RemarkKind::Passed, Code::Tuned, at, &format!("takes the tuned choice: {what}"))
        }
        Some(Err(why)) => {
            let text = format!("the tuned choice does not hold here, the model's is taken: {why}");
            emit(with, f, RemarkKind::Analysis, Code::TunedRefused, at, &text);
        }
        None => {}
    }
    let assumptions = scop.assumptions.iter().map(|a| (a.kind, &a.note));
    let assumptions: Vec<_> = assumptions.chain(scop.ranges.iter().map(|r| (r.kind, &r.note))).collect();
    for (n, (kind, note)) in assumptions.iter().enumerate() {
        // One text may stand for several conditions.
        if !assumptions[..n].contains(&(*kind, note)) {
            emit(with, f, RemarkKind::Analysis, Code::from(*kind), at, &format!("assumes {kind}: {note}"));
        }
    }
    for (a, b) in &scop.alias_checks {
        let or_one = if scop.in_place.contains(&(*a, *b)) { ", or are one array" } else { "" };
        let (a, b) = (&scop.array(*a).display, &scop.array(*b).display);
        let both = if a == b { format!("two arrays of {a}") } else { format!("{a} and {b}") };
        let text = format!("checks that {both} do not overlap{or_one}");
        emit(with, f, RemarkKind::Analysis, Code::AliasCheck, at, &text);
    }
    for u in &scop.invariant_loads {
        let arrays: Vec<&str> = u.arrays.iter().map(|a| scop.array(*a).display.as_str()).collect();
        let text = format!("checks that stores to {} do not change {}", arrays.join(" and "), u.display);
        emit(with, f, RemarkKind::Analysis, Code::UnwrittenCheck, at, &text);
    }
    for i in &scop.inspections {
        let text =
            format!("inspects the values of {} before each execution: subscripts depend on them", i.display);
        emit(with, f, RemarkKind::Analysis, Code::Inspection, at, &text);
    }
    for r in &scop.roundings {
        let text = format!(
            "computes before each execution between which integers {} is: subscripts depend on it",
            r.display
        );
        emit(with, f, RemarkKind::Analysis, Code::Inspection, at, &text);
    }
    for a in &scop.promised {
        let text = format!(
            "believes the program that iterations of the outer loop have different elements of {}",
            scop.array(*a).display
        );
        emit(with, f, RemarkKind::Analysis, Code::Promise, at, &text);
    }
}

/// For the table of statistics.
fn counted(c: &Compiled) {
    let scop = &c.scop;
    let images = |kinds: &[ImageKind]| {
        let all = c.code.iter().flat_map(|code| &code.images);
        all.filter(|image| kinds.contains(&image.kind)).count()
    };
    let counts = [
        (Counter::Nests, 1),
        (Counter::Loops, scop.loops.len()),
        (Counter::Statements, scop.statements.len()),
        (Counter::Accesses, scop.statements.iter().map(|s| s.accesses.len()).sum()),
        (Counter::Arrays, scop.arrays.iter().filter(|a| matches!(a.kind, ArrayKind::Memory { .. })).count()),
        (Counter::Private, c.mapped.placement.iter().filter(|p| **p == Placement::Private).count()),
        (Counter::Assumptions, scop.assumptions.len() + scop.ranges.len()),
        (Counter::Overlaps, scop.alias_checks.len()),
        (Counter::Inspections, scop.inspections.len()),
        (Counter::Kernels, c.mapped.kernels.len()),
        (Counter::Repeated, c.mapped.kernels.iter().filter(|k| !k.host_params.is_empty()).count()),
        (Counter::Fused, usize::from(matches!(c.fused, Some(Ok(_))))),
        (Counter::Cubins, images(&[ImageKind::Cubin, ImageKind::EarlyCubin])),
        (Counter::Texts, images(&[ImageKind::Ptx])),
    ];
    counts.into_iter().for_each(|(counter, n)| statistics::count(counter, n));
}

/// `-Rpass-analysis=pollyrs`: which devices have code of their own, and what the driver is left to compile.
fn device_code(with: &Options, f: Value, at: Option<Place>, code: &DeviceCode) {
    let list = |kind: ImageKind| {
        let archs = code.images.iter().filter(|i| i.kind == kind).map(|i| format!("sm_{}", i.arch));
        archs.rev().collect::<Vec<_>>().join(", ")
    };
    let texts = list(ImageKind::Ptx);
    if texts.contains(',') {
        let text = format!(
            "has PTX for {texts}: products of doubles take tensor cores and asynchronous copies from sm_80 on, in larger shared memory; \
             older devices compute them point by point"
        );
        emit(with, f, RemarkKind::Analysis, Code::Generations, at, &text);
    }
    if let Some(why) = &code.missing {
        let text = match code.images.iter().any(|i| i.kind == ImageKind::EarlyCubin) {
            true => "has machine code of plain kernels, the driver compiles the others in the background (option tiles)".to_owned(),
            false => format!("has no machine code, the driver compiles the PTX at the first execution: {why}"),
        };
        emit(with, f, RemarkKind::Analysis, Code::NoMachineCode, at, &text);
    }
}

/// Whether a loop of the host launches a kernel again and again: there may be steps to fuse.
fn repeated(c: &Compiled) -> bool {
    c.mapped.kernels.iter().any(|k| !k.host_params.is_empty())
}

/// `-Rpass-missed=pollyrs` for a refusal. `clone` is where the instructions are.
pub fn rejected(with: &Options, f: Value, clone: Value, r: &Rejection) {
    let place = r.location.as_ref().or(r.loop_location.as_ref());
    let at = place.and_then(|_| find(clone, place)).and_then(Place::of);
    let mut message = format!("not offloaded: {r}");
    if let (Some(l), Some(at)) = (&r.loop_location, &r.location)
        && l != at
        // Which line of a library has the loop tells nobody anything.
        && l.file == at.file
    {
        message.push_str(&format!(" (loop at {l})"));
    }
    let about = About { depth: r.depth, ..About::default() };
    told(with, f, (RemarkKind::Missed, Code::from(&r.reason)), at, &message, about);
}

/// An entry of a tuned file for this function that no loop nest of it has the content of.
pub fn stale(with: &Options, f: Value, entry: &Entry) {
    let what = format!(
        "the tuned choice for {} (content {}) fits no loop nest of this function any more: the model's choice is taken",
        entry.scop, entry.content
    );
    emit(with, f, RemarkKind::Analysis, Code::TunedStale, None, &what);
}

/// A budget that ends the work on a whole function.
pub fn budget(with: &Options, f: Value, function: &str, stage: &str) {
    let reason = RejectReason::Budget { stage: stage.into() };
    let r = Rejection { reason, function: function.into(), location: None, loop_location: None, depth: 0 };
    emit(with, f, RemarkKind::Missed, Code::from(&r.reason), None, &format!("not offloaded: {r}"));
}

/// A number in the code on the host, which ends the work on a whole function.
pub fn wide(with: &Options, f: Value, function: &str, value: &str) {
    let reason = RejectReason::wide_number(value);
    let r = Rejection { reason, function: function.into(), location: None, loop_location: None, depth: 0 };
    emit(with, f, RemarkKind::Missed, Code::from(&r.reason), None, &format!("not offloaded: {r}"));
}

/// A function with loops that cannot be copied: it has `terminator`, which is no branch that can be moved.
pub fn not_copied(with: &Options, f: Value, function: &str, terminator: &str) {
    let reason = RejectReason::Terminator { opcode: terminator.into(), callee: None };
    let r = Rejection { reason, function: function.into(), location: None, loop_location: None, depth: 0 };
    emit(with, f, RemarkKind::Missed, Code::from(&r.reason), None, &format!("not offloaded: {r}"));
}

/// A function that the source or an option switches off.
pub fn switched_off(with: &Options, f: Value) {
    emit(with, f, RemarkKind::Missed, Code::SwitchedOff, None, "not offloaded: switched off");
}

/// A function that is compiled at `-O0`.
pub fn unoptimized(with: &Options, f: Value) {
    let text = "not offloaded: compiled at -O0, where pollyrs does nothing; -O1 and above offload";
    emit(with, f, RemarkKind::Missed, Code::Unoptimized, None, text);
}

/// A failure of our own; the function is as it was.
pub fn internal(with: &Options, f: Value, e: &PluginError) {
    emit(with, f, RemarkKind::Missed, Code::Internal, None, &format!("not offloaded: internal error: {e}"));
}

/// What the file of remarks has beside the message.
#[derive(Default)]
struct About {
    details: Option<Box<record::Details>>,
    depth: u32,
}

fn emit(with: &Options, f: Value, kind: RemarkKind, code: Code, at: Option<Place>, message: &str) {
    told(with, f, (kind, code), at, message, About::default());
}

/// A remark ends with its code, which `docs/reference/remarks` explains.
fn told(
    with: &Options,
    f: Value,
    (kind, code): (RemarkKind, Code),
    at: Option<Place>,
    message: &str,
    about: About,
) {
    if matches!(kind, RemarkKind::Missed) {
        statistics::refused(code);
    }
    remark(f, kind, code.name(), at, &format!("{message} [{code}]"));
    let Some(path) = &with.remark_file else { return };
    let place = remark_place(f, at);
    let (file, line, column) = place.map_or_else(Default::default, |l| (l.file, l.line, l.column));
    // Compilers run in the folder that names of files are relative to.
    let file = if file.is_empty() { Ok(file.into()) } else { std::path::absolute(file) };
    let record = record::Remark {
        kind: match kind {
            RemarkKind::Passed => record::RemarkKind::Passed,
            RemarkKind::Missed => record::RemarkKind::Missed,
            RemarkKind::Analysis => record::RemarkKind::Analysis,
        },
        code: code.to_string(),
        name: code.name().to_owned(),
        file: file.map(|f| f.to_string_lossy().into_owned()).unwrap_or_default(),
        line,
        column,
        function: f.name(),
        text: message.to_owned(),
        depth: about.depth,
        library: remark_library(f, at),
        details: about.details,
    };
    if let Err(e) = record::append(path, &record) {
        emit_warning(f.context(), &format!("pollyrs: {}: {e}", path.display()));
    }
}

fn find(function: Value, place: Option<&Location>) -> Option<Value> {
    function.blocks().into_iter().flat_map(Block::instructions).find(|i| matches(*i, place))
}

fn matches(i: Value, place: Option<&Location>) -> bool {
    match (location(i), place) {
        (Some(l), Some(p)) => l.line == p.line && l.column == p.column && l.file == p.file,
        _ => false,
    }
}
