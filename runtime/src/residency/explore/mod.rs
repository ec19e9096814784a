//! All states of the books that sequences of events lead to, up to a depth.
//!
//! **Problem.** A mistake in what is valid, lent or kept shows as a wrong result after several events that
//! have to come in the right order: an array of structures whose one member is read and two others written,
//! then a wider range. Nobody thinks of all of them.
//!
//! **Approach.** A program of two functions, the one lending to the other, has two arrays and one of the
//! callee's own, a few bytes each. An event is an execution (of arrays in three ranges and all shapes, alone
//! or together), what the program itself does behind a release, or a call or return (`events`). Each event
//! changes the books, by the library's own code, and bytes of a model (`world`), in which nobody moves what
//! the books do not say. A reference does the same on one memory, as if everything were copied around each
//! execution. After each event all invariants of the books are looked at, byte for byte. States are told
//! apart by what matters of them: the books, and of each byte which of its copies are the same. Written
//! values are always new ones, but where an execution stores what is there already, or was at first.
//!
//! The search is by breadth, so that the first sequence that fails is a shortest one. Nothing here depends on
//! a clock.

mod events;
mod world;

use std::collections::HashSet;
use std::time::Instant;

use events::{Event, all};
use world::World;

/// What a search has seen.
struct Explored {
    states: usize,
    transitions: u64,
    depth: usize,
    /// The events that lead to a state that can't be, and why.
    failure: Option<(Vec<String>, String)>,
}

/// Follows all events from `begin` up to a depth, or until so many states are known, or the first failure.
fn explore(begin: World, events: &[Event], depth: usize, most: usize) -> Explored {
    let mut seen = HashSet::new();
    // For each state how it came about: the one before and the event.
    let mut ways: Vec<(usize, usize)> = vec![(0, 0)];
    let mut level: Vec<(usize, World)> = vec![(0, begin)];
    let mut explored = Explored { states: 1, transitions: 0, depth: 0, failure: None };
    seen.insert(level[0].1.key());
    while explored.depth < depth && !level.is_empty() {
        let mut next = Vec::new();
        let last = explored.depth + 1 == depth;
        for (at, world) in &level {
            for (n, event) in events.iter().enumerate() {
                let mut after = world.clone();
                explored.transitions += 1;
                match after.follow(event) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(problem) => {
                        let mut names = vec![events[n].name.clone()];
                        let mut at = *at;
                        while at != 0 {
                            names.push(events[ways[at].1].name.clone());
                            at = ways[at].0;
                        }
                        names.reverse();
                        explored.failure = Some((names, problem));
                        return explored;
                    }
                }
                if seen.insert(after.key()) {
                    ways.push((*at, n));
                    explored.states += 1;
                    if !last {
                        next.push((ways.len() - 1, after));
                    }
                }
            }
            if explored.states >= most {
                return explored;
            }
        }
        explored.depth += 1;
        level = next;
    }
    explored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::planted::{MISTAKE, MISTAKES};

    /// Explores and says how far that went.
    fn expect_no_failure(begin: World, depth: usize, most: usize) {
        let events = all();
        let begun = Instant::now();
        let explored = explore(begin, &events, depth, most);
        println!(
            "{} events, {} states, {} transitions, all up to depth {}, {:.1} s",
            events.len(),
            explored.states,
            explored.transitions,
            explored.depth,
            begun.elapsed().as_secs_f64()
        );
        if let Some((events, problem)) = explored.failure {
            panic!("{problem}, after: {}", events.join("; "));
        }
        assert!(explored.depth + 1 >= depth, "depth {}", explored.depth);
    }

    #[test]
    fn no_sequence_of_events_breaks_an_invariant() {
        expect_no_failure(World::default(), 4, usize::MAX);
    }

    #[test]
    fn nothing_is_lost_where_there_is_no_room() {
        expect_no_failure(World::limited(0), 4, usize::MAX);
        expect_no_failure(World::limited(1), 4, usize::MAX);
    }

    /// Minutes, and some gigabytes of memory:
    /// `cargo test -p pollyrs-runtime --lib -- --ignored --nocapture longer_sequences`.
    #[test]
    #[ignore]
    fn longer_sequences_break_none() {
        expect_no_failure(World::default(), 5, 4_000_000);
    }

    #[test]
    fn planted_mistakes_are_found() {
        let events = all();
        let mut missed = Vec::new();
        for (mistake, what) in MISTAKES {
            MISTAKE.with(|planted| planted.set(mistake));
            let begin = if mistake == "room" { World::limited(1) } else { World::default() };
            let explored = explore(begin, &events, 4, usize::MAX);
            match explored.failure {
                Some((events, problem)) => println!("{mistake}: {problem}, after: {}", events.join("; ")),
                None => missed.push(format!("{mistake} ({what}), {} states", explored.states)),
            }
        }
        MISTAKE.with(|planted| planted.set(""));
        assert!(missed.is_empty(), "not found: {}", missed.join("; "));
    }
}
