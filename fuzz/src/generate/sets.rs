//! Argument lists: sizes and which arrays share memory.

use crate::ast::{ArgSet, Program, Scale};
use crate::evaluate::evaluate;
use crate::rng::Rng;

/// Typical sizes first, then tiny and odd ones, then overlapping arrays; those with undefined behaviour are
/// left out. With them, how much the longest call does.
pub(super) fn argument_sets(program: &Program, rng: &mut Rng) -> (Vec<ArgSet>, u64) {
    let mut sets = Vec::new();
    let mut work = 0;
    let common = [7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40];
    let none = vec![None; program.arrays.len()];
    for kind in 0..6 {
        if kind >= argument_lists(program.scale) {
            break;
        }
        for attempt in 0..5 {
            let params = (0..program.n_params)
                .map(|p| {
                    let signed = program.vars[p].ty.is_signed();
                    match program.scale {
                        Scale::Usual => {}
                        // More steps than are fused into a launch, and fewer.
                        Scale::Steps if program.vars[p].name.starts_with('t') => {
                            return *rng.pick(&[0, 5, 11, 14, 23, 34, 41]);
                        }
                        Scale::Steps => return *rng.pick(&[1, 3, 8, 17, 24, 33, 40, 65]),
                        // Products are tiled from 512 on along both dimensions.
                        Scale::Wide if p < 2 => return rng.range(509, 533),
                        Scale::Wide => return rng.range(0, 17),
                    }
                    if program.vars[p].name.starts_with('t') {
                        return *rng.pick(&[1, 2, 3, 5, 4, 0]);
                    }
                    match kind {
                        1 => rng.range(0, 4),
                        2 if signed && rng.chance(20) => -rng.range(1, 5),
                        2 => *rng.pick(&[1, 0, 2, 64, 65, 5]),
                        _ if attempt > 2 => rng.range(2, 8),
                        _ => *rng.pick(&common),
                    }
                })
                .collect();
            let alias = if kind >= 4 { overlap(program, rng) } else { none.clone() };
            if kind >= 4 && alias == none {
                break;
            }
            let set = ArgSet { params, alias, seed: rng.next() };
            if let Ok(trace) = evaluate(program, &set) {
                work = work.max(trace.work);
                sets.push(set);
                break;
            }
        }
    }
    (sets, work)
}

/// How many are tried: those of large programs take time.
fn argument_lists(scale: Scale) -> usize {
    match scale {
        Scale::Usual => 6,
        Scale::Steps => 3,
        Scale::Wide => 1,
    }
}

/// Two or more arrays of one type in the same memory; `restrict` forbids it.
fn overlap(program: &Program, rng: &mut Rng) -> Vec<Option<(usize, i64)>> {
    let mut alias = vec![None; program.arrays.len()];
    for array in 1..program.arrays.len() {
        let owner = rng.below(array);
        let (a, b) = (&program.arrays[array], &program.arrays[owner]);
        if a.elem == b.elem && !a.restrict && !b.restrict && alias[owner].is_none() && rng.chance(70) {
            let distance = *rng.pick(&[0, 0, 1, -1, 3, -2, 17, -33, 100, -150]);
            alias[array] = Some((owner, distance));
        }
    }
    alias
}
