//! What was found out about values on the device: the ends of integers that were inspected.
//!
//! **Invariant.** What is known of a part of an entry holds for the values that this thread would read there:
//! all of it was valid and none of it dirty when it was found, and whatever changes values since (results of
//! an execution, results past the entry, a snapshot, for which all is copied in anew) makes it forgotten. The
//! program's own writes release the entry.

use super::entry::{Entry, Residency};
use crate::base::spans::{Span, holds, overlaps, without};

/// What was looked at: the first address, rows, and the bytes of an element.
pub type Question = (u64, [i64; 7], u32);

/// More answers than these are not remembered of an entry.
const MAX_KNOWN: usize = 32;

/// An answer, and of what: the bytes that were looked at, and the objects of the activation that they belong
/// to.
#[derive(Clone, Debug)]
pub struct Found {
    pub part: Span,
    pub question: Question,
    pub mask: u32,
    pub ends: (i64, i64),
}

/// The least and the largest value of a part.
#[derive(Clone, Debug, Hash)]
pub struct Known {
    part: Span,
    question: Question,
    ends: (i64, i64),
}

impl<W> Entry<W> {
    /// The device has all of a part as the program has it.
    fn agrees(&self, part: Span) -> bool {
        holds(self.host, part)
            && without(part, &self.valid).is_empty()
            && !self.dirty.iter().any(|result| overlaps(result.span(), part))
    }

    /// Values of a part change.
    pub(super) fn forget(&mut self, part: Span) {
        self.known.retain(|known| !overlaps(known.part, part));
    }
}

impl<W> Residency<W> {
    /// What was found before in a part that belongs to the objects of `mask`, if it holds still.
    pub fn known(&self, part: Span, question: &Question, mask: u32) -> Option<(i64, i64)> {
        let entry = self.entries.iter().find(|entry| entry.agrees(part))?;
        let found = entry.known.iter().find(|known| known.question == *question)?;
        entry.is_true_of(self.depth, mask).then_some(found.ends)
    }

    /// Remembers what was found in the program's memory, where the device has the same; whether it has.
    pub fn learn(&mut self, found: &Found) -> bool {
        let &Found { part, question, mask, ends } = found;
        let depth = self.depth;
        let agrees = |entry: &&mut Entry<W>| entry.agrees(part) && entry.is_true_of(depth, mask);
        let Some(entry) = self.entries.iter_mut().find(agrees) else { return false };
        entry.known.retain(|known| known.question != question);
        if entry.known.len() >= MAX_KNOWN {
            entry.known.remove(0);
        }
        entry.known.push(Known { part, question, ends });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::shape::Shape;
    use crate::residency::Dirty;
    use crate::residency::loose::Owners;
    use crate::residency::masks::Masks;

    const QUESTION: Question = (100, [40, 1, 1, 1, 0, 0, 0], 4);
    const PART: Span = (100, 140);

    fn found(part: Span) -> Found {
        Found { part, question: QUESTION, mask: 1, ends: (-3, 8) }
    }

    fn residency() -> Residency<u32> {
        let entry = Entry {
            host: (80, 200),
            device: 4096,
            room: 100,
            masks: Masks::default(),
            valid: vec![(90, 150)],
            windows: Vec::new(),
            dirty: Vec::new(),
            snapshot: false,
            uses: Vec::new(),
            writer: Some(1),
            known: Vec::new(),
            loose: None,
            _pin: crate::memory::packed::Pin::default(),
        };
        Residency { entries: vec![entry], depth: 0, most: 1 }
    }

    #[test]
    fn what_agrees_is_remembered() {
        let mut residency = residency();
        assert_eq!(residency.known(PART, &QUESTION, 1), None);
        assert!(residency.learn(&found(PART)));
        assert_eq!(residency.known(PART, &QUESTION, 1), Some((-3, 8)));
        assert_eq!(residency.known(PART, &(100, QUESTION.1, 8), 1), None);
        // Not all of it is on the device.
        assert!(!residency.learn(&Found { question: (140, QUESTION.1, 4), ..found((140, 160)) }));
        assert_eq!(residency.known((140, 160), &(140, QUESTION.1, 4), 1), None);
    }

    #[test]
    fn what_is_true_of_some_objects_is_known_of_these() {
        for (depth, mask, known) in
            [(0, 1, true), (0, 3, true), (0, 4, false), (0, 5, false), (0, 0, false), (1, 1, false)]
        {
            let mut residency = residency();
            residency.entries[0].loose = Some(Owners { depth: 0, mask: 3 });
            assert!(residency.learn(&found(PART)));
            residency.depth = depth;
            assert_eq!(residency.known(PART, &QUESTION, mask).is_some(), known, "{depth} {mask}");
            assert_eq!(residency.learn(&Found { mask, ..found(PART) }), known, "{depth} {mask}");
        }
    }

    #[test]
    fn answers_are_bounded() {
        let mut residency = residency();
        for n in 0..100 {
            residency.learn(&Found { question: (100, QUESTION.1, n), ..found(PART) });
            residency.learn(&Found { question: (100, QUESTION.1, n), ..found(PART) });
        }
        assert_eq!(residency.entries[0].known.len(), MAX_KNOWN);
        assert!(residency.known(PART, &(100, QUESTION.1, 99), 1).is_some());
    }

    #[test]
    fn what_changes_is_forgotten() {
        for (changed, remembered) in [((90, 100), true), ((139, 150), false), ((100, 101), false)] {
            let mut residency = residency();
            residency.learn(&found(PART));
            residency.entries[0].forget(changed);
            assert_eq!(residency.known(PART, &QUESTION, 1).is_some(), remembered, "{changed:?}");
        }
        // Results that did not come back.
        let mut residency = residency();
        residency.learn(&found(PART));
        residency.entries[0].dirty.push(Dirty { start: 120, bytes: 4, shape: Shape::Dense });
        assert_eq!(residency.known(PART, &QUESTION, 1), None);
    }
}
