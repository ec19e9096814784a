//! Which SCoPs are too small to be offloaded at all.
//!
//! Problem: the window of an image filter, `for a in -1..=1 { for b in -1..=1 { s += G[i + a][j + b] } }`, is a SCoP of its own where
//! the loops around it are none. It runs once a pixel; no execution can pay off, and the checks before each cost more than the loops.
//!
//! A launch takes about five microseconds, in which a core executes some ten thousand instructions. So a SCoP whose statement
//! instances a constant below [`LEAST`] bounds is left as it is. What is decided here holds for every execution; where the number depends on
//! parameters, the run-time library decides.
//!
//! One exception: a small SCoP (a border of fixed width) beside a large one that touches the same object would move that object back
//! and forth each time; on the device it is nearly free. It stays if no loop runs it more often than the large one.

use crate::compiled::Compiled;
use pollyrs_llvm_shim::{Analyses, LoopId};
use pollyrs_schedule as schedule;
use pollyrs_scop::{ArrayKind, Scop};
use std::collections::BTreeSet;

/// SCoPs in the order in which they are compiled, each with its number and, if it is small, with the bound: small ones last, since it
/// depends on the others whether they are worth it.
pub fn in_turn(scops: Vec<Scop>, least: u64) -> Vec<(usize, Option<u64>, Scop)> {
    // What takes too long to find out is not small.
    let little = |s: &Scop| if least > 0 { schedule::constant_work(s, least).ok().flatten() } else { None };
    let mut all: Vec<_> = scops.into_iter().enumerate().map(|(at, s)| (at, little(&s), s)).collect();
    all.sort_by_key(|(at, little, _)| (little.is_some(), *at));
    all
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
    let inside: BTreeSet<usize> = scop.region.blocks.iter().map(|b| b.0).collect();
    let mut all = BTreeSet::new();
    let mut next = analyses.innermost_loop(scop.region.entry.0 as _);
    while let Some(l) = next {
        let data = &analyses.loops()[l.0];
        if !inside.contains(&(data.header as usize)) {
            all.insert(l);
        }
        next = data.parent;
    }
    all
}

/// What the arrays of a SCoP may be part of. Only compared, never listed: addresses decide no order.
fn objects(analyses: &Analyses<'_>, scop: &Scop) -> BTreeSet<usize> {
    let bases = scop.arrays.iter().filter_map(|a| match a.kind {
        ArrayKind::Memory { base } => Some(base),
        _ => None,
    });
    bases.flat_map(|b| analyses.underlying_objects(b.0 as _)).map(|o| o as usize).collect()
}
