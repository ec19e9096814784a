//! Choices that `pollyrs tune` has measured: each SCoP with an entry takes the options of the entry, in place
//! of the model's choice.
//!
//! # Invariants
//! - An entry changes options only; all stages, the proofs among them, are the same.
//! - An entry whose options lead nowhere (the schedule is not legal any more, the shape does not fit) is as
//!   if it were not there, with a remark.
//! - An entry for a content that no SCoP of its function has is reported, and never taken for another SCoP.

use crate::base::options::Details;
use crate::base::stage::Stage;
use crate::base::trace::answer;
use crate::compiled::Compiled;
use crate::details;
use crate::pipeline::compile as compile_with;
use crate::run::Run;
use pollyrs_scop::{RejectReason, Scop};
use pollyrs_tuning::{self as tuning, Entry, Told};
use std::collections::BTreeSet;

/// All stages of one SCoP, by its entry if it has one. `several_nests`: the search may find smaller regions
/// in it.
pub fn compile(run: &Run<'_>, scop: Scop, several_nests: bool) -> Result<Option<Compiled>, RejectReason> {
    let ctx = scop.ctx.clone();
    let told = run.options.remark_details >= Details::Model;
    let needed = told || run.options.show_choices || !run.tuned.entries.is_empty();
    let content = if needed { tuning::content_hash(scop.content()) } else { String::new() };
    let name = (scop.function.clone(), scop.name.clone());
    let model = if told { details::model(&scop, &content).ok() } else { None };
    let mut tuned = None;
    let mut result = None;
    if let Some((entry, options)) = run.tuned.find(&scop.function, &content) {
        let _budget = ctx.budget(run.budgets.scop(several_nests));
        match taken(compile_with(run, options, scop.clone()), entry) {
            Ok(done) => {
                tuned = Some(Ok(described(entry)));
                result = Some(Ok(done));
            }
            Err(why) => tuned = Some(Err(format!("{}: {why}", described(entry)))),
        }
    }
    let result = match result {
        Some(done) => done,
        None => {
            let _budget = ctx.budget(run.budgets.scop(several_nests));
            compile_with(run, run.options, scop)
        }
    };
    let Some(mut compiled) = result? else { return Ok(None) };
    compiled.tuned = tuned;
    compiled.model = model.map(Box::new);
    if run.options.show_choices && run.stage == Stage::Run {
        tell(&compiled, name, content);
    }
    Ok(Some(compiled))
}

/// What was compiled by an entry, or why that does not count.
fn taken(result: Result<Option<Compiled>, RejectReason>, entry: &Entry) -> Result<Option<Compiled>, String> {
    let of_steps = |value: &String| matches!(value.as_str(), "streaming" | "hybrid" | "diamond" | "split");
    let steps = entry.options.get("strategy").is_some_and(of_steps)
        || entry.options.contains_key("fuse-steps")
        || entry.options.contains_key("stencil-shape");
    match result {
        Err(reason) => Err(reason.to_string()),
        Ok(Some(Compiled { fused: Some(Err(why)), .. })) if steps => Err(why),
        Ok(done) => Ok(done),
    }
}

/// `strategy=streaming fuse-steps=4`, and what it brought.
fn described(entry: &Entry) -> String {
    // A schedule takes several lines.
    let short =
        |n: &String, v: &String| if n == "schedule" { "the schedule".to_owned() } else { format!("{n}={v}") };
    let options: Vec<String> = entry.options.iter().map(|(n, v)| short(n, v)).collect();
    let options = if options.is_empty() { "the model's".to_owned() } else { options.join(" ") };
    match (entry.ms, entry.model_ms) {
        (Some(ms), Some(model)) => {
            format!("{options} ({ms:.3} ms, the model's {model:.3} ms when it was measured)")
        }
        _ => options,
    }
}

/// The line for `pollyrs tune`, on standard error.
fn tell(c: &Compiled, (function, scop): (String, String), content: String) {
    let steps = c.fused.as_ref().and_then(|f| f.as_ref().ok());
    let plain = c.mapped.kernels.iter().filter(|k| k.tiling().is_none() && k.steps().is_none());
    let blocks: BTreeSet<usize> = plain.map(|k| k.block.len()).collect();
    let told = Told {
        function,
        content,
        scop,
        code: tuning::content_hash(c.kernels.to_string()),
        steps: steps.map_or(String::new(), |s| s.what.clone()),
        stencil: steps.and_then(|s| s.shape),
        time_loop: c.mapped.kernels.iter().any(|k| !k.host_params.is_empty()),
        blocks: blocks.into_iter().collect(),
        register_tiles: c.mapped.kernels.iter().any(|k| k.tiling().is_some_and(|t| !t.products)),
        refused: c.tuned.as_ref().and_then(|t| t.as_ref().err().cloned()),
    };
    if let Ok(line) = told.line() {
        answer(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(options: &[(&str, &str)], times: Option<(f64, f64)>) -> Entry {
        Entry {
            function: "f".into(),
            content: String::new(),
            scop: String::new(),
            options: options.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect(),
            ms: times.map(|(ms, _)| ms),
            model_ms: times.map(|(_, model)| model),
            launches: 1,
            model: None,
        }
    }

    #[test]
    fn entries_are_described_in_a_line() {
        let table = [
            (entry(&[], None), "the model's"),
            (entry(&[("tile", "32x8"), ("strategy", "streaming")], None), "strategy=streaming tile=32x8"),
            (entry(&[("schedule", "domain: ...\nchild: ...")], None), "the schedule"),
            (
                entry(&[("tile", "4")], Some((0.5, 1.0))),
                "tile=4 (0.500 ms, the model's 1.000 ms when it was measured)",
            ),
        ];
        for (entry, expected) in table {
            assert_eq!(described(&entry), expected);
        }
    }

    #[test]
    fn what_was_refused_does_not_count() {
        let refused = taken(Err(RejectReason::SwitchedOff), &entry(&[], None)).err();
        assert_eq!(refused, Some(RejectReason::SwitchedOff.to_string()));
        // The stages before the code make nothing.
        assert!(matches!(taken(Ok(None), &entry(&[("fuse-steps", "4")], None)), Ok(None)));
    }
}
