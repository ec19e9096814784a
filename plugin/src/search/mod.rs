//! The search in one function: what detection finds goes through all stages; what is too much for a stage is
//! searched again.
//!
//! **Problem.** Detection takes the largest region that it can model. A time loop around a sweep over red and
//! black cells may need more operations of isl than a stage gets, where the sweep alone needs few. So a
//! region that runs out of budget is forbidden, and detection looks for smaller ones in it, as long as the
//! function's budget lasts. So is a region that has a stencil beside other loops: its steps are fused if it
//! is a SCoP of its own.
//!
//! **Invariants.** SCoPs are returned in program order and do not overlap. What one search has compiled stays
//! as it is.

mod copies;
mod worth;

use crate::base::options::Strategy;
use crate::base::stage::Stage;
use crate::base::timing::Phase;
use crate::base::trace::answer;
use crate::compiled::Compiled;
use crate::pipeline::tuned;
use crate::run::Run;
use crate::switches::{self, Switch};
use pollyrs_codegen_ptx::{blocks, host_block};
use pollyrs_isl::DimType;
use pollyrs_llvm_shim::ir::{Block, Value};
use pollyrs_llvm_shim::{Analyses, LoopData};
use pollyrs_schedule as schedule;
use pollyrs_scop::{Location, RejectReason, Rejection, Scop, ValueHandle};
use pollyrs_scop_detect::{self as detect, Detection, Tried, Wanted};
use std::collections::BTreeSet;
use std::rc::Rc;
use tracing::debug;

/// What a search needs to know of its function.
pub struct Wish<'a> {
    /// Nothing is too small.
    pub on: bool,
    /// The function, if others call it, and may have copies of its SCoPs.
    pub called: Option<Value>,
    /// Whether arrays of SCoPs can stay on the device.
    pub stays: &'a dyn Fn(&[&Scop]) -> bool,
}

/// What is known of a function before the search.
#[derive(Default)]
pub struct Known {
    /// What detection has found in it, and the limits that it had: isl operations for a region, and for all
    /// in vain.
    first: Option<(Detection, (u64, u64))>,
    tried: Rc<Tried>,
    loads_suspended: bool,
}

impl Known {
    pub fn detect(run: &Run<'_>, analyses: &Analyses<'_>) -> Known {
        let options = run.detect_options();
        let detection = detect_now(run, analyses, &options);
        let limits = (options.isl_operations, options.all_operations);
        Known { first: Some((detection, limits)), tried: options.tried, loads_suspended: false }
    }

    /// [`Detection::divided`].
    pub fn divided(&self) -> bool {
        self.first.as_ref().is_some_and(|(found, _)| found.divided)
    }

    /// How many loops there are in what was found.
    pub fn loops(&self) -> usize {
        self.first.iter().flat_map(|(found, _)| &found.scops).map(|s| s.loops.len()).sum()
    }

    /// The same of a copy whose invariant loads are suspended.
    pub fn loops_of_suspended(&self, run: &Run<'_>, copy: &Analyses<'_>) -> usize {
        let tried = self.tried.clone();
        let options = detect::DetectOptions { tried, loads_suspended: true, ..run.detect_options() };
        let (loops, operations) = Phase::Detection.time(|| detect::count_loops(copy, &options));
        run.budgets.spend(operations);
        loops
    }

    /// What is known of the function without its invariant loads.
    pub fn suspended(self) -> Known {
        Known { first: None, loads_suspended: true, ..self }
    }

    /// What was found, if the same would be found with these options: nothing in it met its limit, or the
    /// limits have not become wider.
    fn found(self, options: &detect::DetectOptions) -> Option<Detection> {
        let (found, limits) = self.first?;
        let wider = options.isl_operations > limits.0 || options.all_operations > limits.1;
        (!found.cut || !wider).then_some(found)
    }
}

fn detect_now(run: &Run<'_>, analyses: &Analyses<'_>, options: &detect::DetectOptions) -> Detection {
    let detection = Phase::Detection.time(|| detect::detect(analyses, options));
    run.budgets.spend(detection.operations);
    detection
}

/// Detection, and all stages for each SCoP that is found. What is too much for a stage is searched again for
/// smaller regions.
pub fn search(
    run: &Run<'_>,
    analyses: &Analyses<'_>,
    wish: &Wish<'_>,
    known: Known,
) -> (Vec<Compiled>, Vec<Rejection>) {
    run.budgets.begin_search(analyses.loops().len());
    let (tried, loads_suspended) = (known.tried.clone(), known.loads_suspended);
    let mut detect_options = detect::DetectOptions { tried, loads_suspended, ..run.detect_options() };
    let mut first = known.found(&detect_options);
    let mut found: Vec<(Place, Compiled)> = Vec::new();
    let mut refused: Vec<Rejection> = Vec::new();
    let mut divided: Vec<(Place, BTreeSet<ValueHandle>)> = Vec::new();
    loop {
        let detection = first.take().unwrap_or_else(|| detect_now(run, analyses, &detect_options));
        let looked_for = Looked { detection, counted_stores: detect_options.counted_stores };
        let round = search_once(run, analyses, looked_for, &found, wish);
        if round.hidden && detect_options.before.is_empty() {
            // What was parallel may have become part of a statement.
            detect_options.counted_stores = false;
            continue;
        }
        // A part of a region comes where the region came; parts of parts are listed last.
        let place = |at: usize, block: ValueHandle| {
            let whole = divided.iter().rev().find(|(_, blocks)| blocks.contains(&block));
            whole.map_or(Vec::new(), |(place, _)| place.clone()).into_iter().chain([at]).collect::<Place>()
        };
        found.extend(round.compiled.into_iter().map(|(at, c)| (place(at, c.scop.region.entry), c)));
        let large = round.seen.iter().filter(|b| b.divides());
        let large =
            large.filter_map(|b| Some((place(b.at, *b.region.blocks.first()?), b.region.blocks.clone())));
        let large: Vec<_> = large.collect();
        divided.extend(large);
        for r in round.rejections {
            if !refused
                .iter()
                .any(|o| o.reason == r.reason && o.location == r.location && o.function == r.function)
            {
                refused.push(r);
            }
        }
        if !round.seen.iter().any(Seen::divides) || !run.budgets.allows_another_search() {
            found.sort_by(|(a, _), (b, _)| a.cmp(b));
            return (found.into_iter().map(|(_, c)| c).collect(), refused);
        }
        detect_options.before.extend(round.seen.into_iter().map(|b| b.region));
        let limits = run.detect_options();
        (detect_options.isl_operations, detect_options.all_operations) =
            (limits.isl_operations, limits.all_operations);
    }
}

/// Which SCoP of a function: which of the first search, which of the search in that, and so on; in program
/// order.
type Place = Vec<usize>;

/// What one search in a function found.
struct Round {
    /// In the order of the search: where in it.
    compiled: Vec<(usize, Compiled)>,
    rejections: Vec<Rejection>,
    /// All SCoPs of the search.
    seen: Vec<Seen>,
    /// Whether parallel loops may have become parts of statements.
    hidden: bool,
}

struct Seen {
    at: usize,
    region: detect::Before,
}

impl Seen {
    /// Whether smaller regions in it are looked for.
    fn divides(&self) -> bool {
        self.region.wanted != Wanted::Nothing
    }
}

/// What detection found, and whether stores in counted loops may be parts of statements.
struct Looked {
    detection: Detection,
    counted_stores: bool,
}

/// `found`: what searches before this one have found.
fn search_once(
    run: &Run<'_>,
    analyses: &Analyses<'_>,
    Looked { detection, counted_stores }: Looked,
    found: &[(Place, Compiled)],
    wish: &Wish<'_>,
) -> Round {
    let Run { stage, options, .. } = *run;
    if stage == Stage::Detect {
        let found = detection.to_string();
        if !found.is_empty() {
            answer(found.trim_end());
        }
    }
    let copies = copies::among(run, analyses, &detection.scops, wish);
    let mut compiled: Vec<(usize, Compiled)> = Vec::new();
    let (mut rejections, mut seen, mut again) = (detection.rejections, Vec::new(), false);
    // The first stages show what was found, of any size.
    let least = if stage < Stage::Deps || wish.on { 0 } else { options.min_work };
    let mut in_turn = worth::in_turn(analyses, detection.scops, least);
    in_turn.sort_by_key(|(at, little, _)| (little.is_some(), copies.contains(at)));
    for (at, little, scop) in in_turn {
        // The function stays as it is if there is nothing else.
        if copies.contains(&at) && found.is_empty() && compiled.is_empty() {
            debug!(scop = scop.name, "a callee has it");
            continue;
        }
        let (function, mut location) = (scop.function.clone(), scop.location.clone());
        let (ctx, before) = (scop.ctx.clone(), scop.ctx.operations());
        let hidden = counted_stores && scop.stores_in_subregion_loop();
        let (blocks, loops) = (scop.region.blocks.iter().copied().collect(), scop.loops.len());
        let beside = several_nests(analyses, &scop);
        let dims = scop.statements.iter().filter_map(|s| s.domain.dim(DimType::Set).ok());
        let depth = dims.max().unwrap_or(0);
        let large = || found.iter().map(|(_, c)| c).chain(compiled.iter().map(|(_, c)| c));
        let (switch, switched) = switch_of(analyses, &scop).unzip();
        if switch != Some(Switch::Off) && loops > 2 && fuses_apart(run, &scop) {
            seen.push(Seen { at, region: detect::Before { blocks, wanted: Wanted::Smaller } });
            continue;
        }
        let form = copies::form_of(&scop, wish);
        let result = match little {
            _ if switch == Some(Switch::Off) => {
                location = switched.flatten().or(location);
                Err(RejectReason::SwitchedOff)
            }
            Some(reason) if switch != Some(Switch::On) && !worth::accompanies(analyses, &scop, large()) => {
                Err(reason)
            }
            _ => tuned::compile(run, scop, beside),
        };
        run.budgets.spend(ctx.operations() - before);
        let wanted = match &result {
            Err(RejectReason::Budget { .. }) if loops > 1 => Wanted::Half,
            Err(RejectReason::SwitchedOff) if loops > 1 => Wanted::Smaller,
            // One that can't run in parallel keeps what stands beside it from the device.
            Err(
                RejectReason::NoParallelism { .. }
                | RejectReason::TileOrder
                | RejectReason::OrderedSum { .. }
                | RejectReason::RunningTotal { .. },
            ) if beside => Wanted::Smaller,
            _ => Wanted::Nothing,
        };
        seen.push(Seen { at, region: detect::Before { blocks, wanted } });
        match result {
            Ok(Some(c)) => {
                copies::note(run, wish, form);
                compiled.push((at, c));
            }
            Ok(None) => {}
            // Its parts have reasons of their own.
            Err(_) if beside && wanted != Wanted::Nothing && run.budgets.allows_another_search() => {}
            Err(reason) => {
                again |= hidden
                    && matches!(reason, RejectReason::NoParallelism { .. } | RejectReason::OrderedSum { .. });
                let loop_location = location.clone();
                rejections.push(Rejection { reason, function, location, loop_location, depth });
            }
        }
    }
    Round { compiled, rejections, seen, hidden: again }
}

/// Whether a SCoP has more than one outermost loop.
fn several_nests(analyses: &Analyses<'_>, scop: &Scop) -> bool {
    let inside: BTreeSet<Block> = blocks(scop).collect();
    let is_inside = |l: &LoopData| inside.contains(&l.header);
    let loops = analyses.loops();
    let outermost = |l: &&LoopData| is_inside(l) && !l.parent.is_some_and(|p| is_inside(&loops[p.0]));
    loops.iter().filter(outermost).count() > 1
}

/// Whether a part of a SCoP is a stencil whose steps may be fused as soon as it is alone, and there is time
/// to look for it.
fn fuses_apart(run: &Run<'_>, scop: &Scop) -> bool {
    let fuses = matches!(run.options.strategy, Strategy::Auto | Strategy::Streaming)
        && run.options.fuse_steps != Some(1);
    let before = scop.ctx.operations();
    let found = fuses
        && run.budgets.allows_another_search()
        && Phase::Schedule.time(|| schedule::stencil::has_member(scop, run.budgets.stage())).unwrap_or(false);
    run.budgets.spend(scop.ctx.operations() - before);
    found
}

/// What is said of a SCoP's loops, or of those around it, and of which loop. One that is off is enough.
fn switch_of(analyses: &Analyses<'_>, scop: &Scop) -> Option<(Switch, Option<Location>)> {
    let inside: BTreeSet<Block> = blocks(scop).collect();
    let entry = host_block(scop.region.entry);
    // Loops with a part in the region are in it, or around it.
    let loops = analyses
        .loops()
        .iter()
        .filter(|l| inside.contains(&l.header) || l.blocks.iter().any(|b| Some(*b) == entry));
    let said = loops.filter_map(|l| Some((switches::of_latch(l.latch?)?, l.location.clone())));
    let (switch, at) = said.min_by_key(|(switch, _)| *switch)?;
    Some((switch, at.map(|l| Location { file: l.file, line: l.line, column: l.column })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::options::Options;
    use crate::testing::{Doubling, function, scops, with_analyses, with_function, with_run};

    #[test]
    fn nests_and_switches_of_a_region_are_seen() {
        // (loops by what they say, nests, what holds)
        let table = [
            (vec![0], false, None),
            (vec![0, 0], true, None),
            (vec![2], false, Some(Switch::On)),
            (vec![0, 2], true, Some(Switch::On)),
            // One that is off is enough.
            (vec![2, 1], true, Some(Switch::Off)),
        ];
        for (switches, several, expected) in table {
            let loops = switches.iter().map(|s| Doubling { switch: *s, ..Doubling::of("a", "%n") });
            with_analyses(&function(&loops.collect::<Vec<_>>(), 1), |analyses| {
                let found = scops(analyses);
                assert_eq!(found.len(), 1, "{switches:?}");
                assert_eq!(several_nests(analyses, &found[0]), several, "{switches:?}");
                let switch = switch_of(analyses, &found[0]).map(|(switch, _)| switch);
                assert_eq!(switch, expected, "{switches:?}");
            });
        }
    }

    /// How many SCoPs a search compiles, and why others are not.
    fn searched(text: &str, options: Options) -> (usize, Vec<RejectReason>) {
        let mut out = (0, Vec::new());
        with_function(text, |session, f| {
            with_run(session, options, |run| {
                let analyses = session.analyses(f).unwrap();
                let wish = Wish { on: false, called: None, stays: &|_| false };
                let (compiled, refused) = search(run, &analyses, &wish, Known::default());
                out = (compiled.len(), refused.into_iter().map(|r| r.reason).collect());
            });
        });
        out
    }

    #[test]
    fn a_search_compiles_what_is_worth_it() {
        let apart = |a, b| {
            let first = Doubling { call: true, ..Doubling::of("a", a) };
            function(&[first, Doubling::of("b", b)], 1)
        };
        assert_eq!(searched(&apart("%n", "%n"), Options::default()), (2, vec![]));
        let little = vec![RejectReason::LittleWork { instances: 4 }];
        assert_eq!(searched(&apart("%n", "4"), Options::default()), (1, little));
        assert_eq!(searched(&apart("%n", "4"), Options { min_work: 0, ..Options::default() }), (2, vec![]));
    }

    #[test]
    fn what_is_off_is_left_out_of_a_row() {
        let row = |switches: [u32; 3]| {
            let loops = switches.map(|switch| Doubling { switch, ..Doubling::of("a", "%n") });
            function(&loops, 1)
        };
        assert_eq!(searched(&row([0, 0, 0]), Options::default()), (1, vec![]));
        let (compiled, refused) = searched(&row([0, 1, 0]), Options::default());
        assert_eq!((compiled, refused), (2, vec![RejectReason::SwitchedOff]));
    }

    #[test]
    fn a_search_ends_where_nothing_is_left() {
        let text = function(&[Doubling::of("a", "%n"), Doubling::of("b", "%n")], 1);
        let (compiled, refused) = searched(&text, Options { module_budget: Some(1), ..Options::default() });
        assert_eq!(compiled, 0);
        assert!(refused.iter().any(|r| matches!(r, RejectReason::Budget { .. })), "{refused:?}");
    }
}
