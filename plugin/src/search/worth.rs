//! Which SCoPs are too small to be offloaded at all.
//!
//! Problem: the window of an image filter, `for a in -1..=1 { for b in -1..=1 { s += G[i + a][j + b] } }`, is
//! a SCoP of its own where the loops around it are none. It runs once a pixel; no execution can pay off, and
//! the checks before each cost more than the loops.
//!
//! A launch takes about five microseconds, in which a core executes some ten thousand instructions. So a SCoP
//! whose statement instances a constant below [`LEAST`] bounds is left as it is. What is decided here holds
//! for every execution; where the number depends on parameters, the run-time library decides.
//!
//! Calls of memcpy, memmove and memset are loops in the model, since what stands beside them may need them
//! there. By themselves they are not worth a kernel: the C library is faster than the link to a device. In
//! code that is not numerical they are most of what a model is found for.
//!
//! One exception for both: a small SCoP (a border of fixed width) beside a large one that touches the same
//! object would move that object back and forth each time; on the device it is nearly free. It stays if no
//! loop runs it more often than the large one.

use crate::compiled::Compiled;
use pollyrs_codegen_ptx::{blocks, host_block, host_value};
use pollyrs_llvm_shim::ir::{Block, Value};
use pollyrs_llvm_shim::{Analyses, LoopId};
use pollyrs_schedule as schedule;
use pollyrs_scop::{ArrayKind, RejectReason, Scop};
use std::collections::BTreeSet;

/// SCoPs in the order in which they are compiled, each with its number and, if it is not worth it alone, with
/// the reason: such come last, since it depends on the others whether they are worth it.
pub fn in_turn(
    analyses: &Analyses<'_>,
    scops: Vec<Scop>,
    least: u64,
) -> Vec<(usize, Option<RejectReason>, Scop)> {
    let little = |s: &Scop| {
        if least == 0 {
            return None;
        }
        if moves_only(analyses, s) {
            return Some(RejectReason::MovesOnly);
        }
        // What takes too long to find out is not small.
        let instances = schedule::constant_work(s, least).ok().flatten()?;
        Some(RejectReason::LittleWork { instances })
    };
    let mut all: Vec<_> = scops.into_iter().enumerate().map(|(at, s)| (at, little(&s), s)).collect();
    all.sort_by_key(|(at, little, _)| (little.is_some(), *at));
    all
}

/// Whether all loops of a SCoP were calls that copy or fill memory.
fn moves_only(analyses: &Analyses<'_>, scop: &Scop) -> bool {
    let inside: BTreeSet<Block> = blocks(scop).collect();
    let mut loops = analyses.loops().iter().filter(|l| inside.contains(&l.header));
    loops.all(|l| l.moves)
}

/// Whether one of `large` makes the offload of `small` worthwhile.
pub fn accompanies<'c>(
    analyses: &Analyses<'_>,
    small: &Scop,
    mut large: impl Iterator<Item = &'c Compiled>,
) -> bool {
    let (around, objects) = (enclosing(analyses, small), objects(analyses, small));
    large.any(|c| {
        around.is_subset(&enclosing(analyses, &c.scop))
            && !objects.is_disjoint(&self::objects(analyses, &c.scop))
    })
}

/// The loops around a SCoP.
fn enclosing(analyses: &Analyses<'_>, scop: &Scop) -> BTreeSet<LoopId> {
    let inside: BTreeSet<Block> = blocks(scop).collect();
    let mut all = BTreeSet::new();
    let mut next = host_block(scop.region.entry).and_then(|entry| analyses.innermost_loop(entry));
    while let Some(l) = next {
        let data = &analyses.loops()[l.0];
        if !inside.contains(&data.header) {
            all.insert(l);
        }
        next = data.parent;
    }
    all
}

/// What the arrays of a SCoP may be part of. Only compared, never listed: addresses decide no order.
fn objects(analyses: &Analyses<'_>, scop: &Scop) -> BTreeSet<Value> {
    let bases = scop.arrays.iter().filter_map(|a| match a.kind {
        ArrayKind::Memory { base } => Some(base),
        _ => None,
    });
    bases.flat_map(|b| analyses.underlying_objects(host_value(b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Doubling, function, scops, with_analyses};

    /// Two loops that are a SCoP each.
    fn apart<'a>(first: (&'a str, &'a str), second: (&'a str, &'a str), times: u32) -> String {
        let first = Doubling { call: true, ..Doubling::of(first.0, first.1) };
        function(&[first, Doubling::of(second.0, second.1)], times)
    }

    #[test]
    fn little_work_comes_last_and_says_how_little() {
        // (iterations of both loops, the least that is worthwhile, the order, what is little)
        let table = [
            (["4", "%n"], 1000, [1, 0], vec![4]),
            (["%n", "4"], 1000, [0, 1], vec![4]),
            (["4", "999"], 1000, [0, 1], vec![4, 999]),
            (["1000", "4"], 1000, [0, 1], vec![4]),
            (["4", "%n"], 4, [0, 1], vec![]),
            (["4", "%n"], 0, [0, 1], vec![]),
        ];
        for (iterations, least, order, little) in table {
            with_analyses(&apart(("a", iterations[0]), ("b", iterations[1]), 1), |analyses| {
                let found = in_turn(analyses, scops(analyses), least);
                let at: Vec<_> = found.iter().map(|(at, ..)| *at).collect();
                assert_eq!(at, order, "{iterations:?} {least}");
                let reasons: Vec<_> = found.into_iter().filter_map(|(_, reason, _)| reason).collect();
                let expected = little.into_iter().map(|instances| RejectReason::LittleWork { instances });
                assert_eq!(reasons, expected.collect::<Vec<_>>(), "{iterations:?} {least}");
            });
        }
    }

    #[test]
    fn loops_around_and_objects_are_those_of_the_program() {
        for (arrays, times) in [(("a", "b"), 1), (("a", "a"), 1), (("a", "b"), 9), (("b", "b"), 9)] {
            with_analyses(&apart((arrays.0, "%n"), (arrays.1, "%n"), times), |analyses| {
                let found = scops(analyses);
                let [first, second] = found.as_slice() else { panic!("{} SCoPs", found.len()) };
                for s in [first, second] {
                    assert_eq!(enclosing(analyses, s).len(), usize::from(times > 1), "{arrays:?} {times}");
                }
                assert_eq!(enclosing(analyses, first), enclosing(analyses, second));
                let same = !objects(analyses, first).is_disjoint(&objects(analyses, second));
                assert_eq!(same, arrays.0 == arrays.1, "{arrays:?}");
                assert!(!accompanies(analyses, first, std::iter::empty()));
            });
        }
    }
}
