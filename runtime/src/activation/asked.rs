//! Answers of inspections that wait for the execution that they were asked for.
//!
//! **Problem.** An inspection comes before the execution, and what it found is remembered of memory on the
//! device, where an array is only behind the execution's beginning. **Approach.** The answers of a SCoP's
//! inspections are kept for the thread's next execution of the same SCoP, and remembered when that has
//! succeeded: between the two the program does nothing.
//!
//! # Invariant
//! What is kept was found by the checks of one execution: the first inspection of an execution drops what is
//! left of others.

use std::cell::RefCell;

use crate::residency::Found;

thread_local! {
    /// The SCoP, by its slot, and what was found for it.
    static WAITING: RefCell<(usize, Vec<Found>)> = const { RefCell::new((0, Vec::new())) };
}

/// The checks of an execution of the SCoP with this slot begin.
pub fn begin(slot: usize) {
    WAITING.set((slot, Vec::new()));
}

/// Keeps an answer.
pub fn keep(slot: usize, found: Found) {
    WAITING.with_borrow_mut(|(whose, all)| {
        if *whose == slot {
            all.push(found);
        }
    });
}

/// What was found for the execution of the SCoP with this slot, which begins. Nothing waits any more.
pub fn take(slot: usize) -> Vec<Found> {
    let (whose, found) = WAITING.take();
    if whose == slot && slot != 0 { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_one_execution() {
        let found =
            |n| Found { part: (0, 8), question: (n, [8, 1, 1, 1, 0, 0, 0], 4), mask: 1, ends: (0, 1) };
        let numbers = |slot| take(slot).iter().map(|f| f.question.0).collect::<Vec<_>>();
        begin(16);
        keep(16, found(1));
        keep(16, found(2));
        keep(24, found(3));
        assert_eq!(numbers(16), [1, 2]);
        assert!(numbers(16).is_empty(), "told once");
        begin(16);
        keep(16, found(1));
        assert!(numbers(24).is_empty());
        assert!(numbers(16).is_empty(), "another SCoP was executed");
        // Checks that failed behind an inspection.
        begin(16);
        keep(16, found(1));
        begin(16);
        keep(16, found(2));
        assert_eq!(numbers(16), [2]);
    }
}
