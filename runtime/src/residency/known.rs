//! What was found out about values on the device: the ends of integers that were inspected.
//!
//! **Invariant.** What is known of a part of an entry holds for the values that this thread would read there: all of it was valid and none of it dirty when it was
//! found, and whatever changes values since (results of an execution, results past the entry, a snapshot, for which all is copied in anew) makes it forgotten. The
//! program's own writes release the entry.

use super::{Entry, Residency};
use crate::base::spans::{Span, holds, overlaps, without};

/// What was looked at: the first address, rows, and the bytes of an element.
pub type Question = (u64, [i64; 7], u32);

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
    /// What was found before, if it holds still.
    pub fn known(&self, part: Span, question: &Question) -> Option<(i64, i64)> {
        let entry = self.entries.iter().find(|entry| entry.agrees(part))?;
        entry.known.iter().find(|known| known.question == *question).map(|known| known.ends)
    }

    /// Remembers what was found in the program's memory, where the device has the same.
    pub fn learn(&mut self, part: Span, question: Question, ends: (i64, i64)) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.agrees(part)) {
            entry.known.push(Known { part, question, ends });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::shape::Shape;
    use crate::residency::Dirty;
    use crate::residency::masks::Masks;

    const QUESTION: Question = (100, [40, 1, 1, 1, 0, 0, 0], 4);
    const PART: Span = (100, 140);

    fn residency() -> Residency<u32> {
        let entry = Entry {
            host: (80, 200),
            device: 4096,
            masks: Masks::default(),
            valid: vec![(90, 150)],
            windows: Vec::new(),
            dirty: Vec::new(),
            snapshot: false,
            uses: Vec::new(),
            writer: Some(1),
            known: Vec::new(),
        };
        Residency { entries: vec![entry], depth: 0 }
    }

    #[test]
    fn what_agrees_is_remembered() {
        let mut residency = residency();
        assert_eq!(residency.known(PART, &QUESTION), None);
        residency.learn(PART, QUESTION, (-3, 8));
        assert_eq!(residency.known(PART, &QUESTION), Some((-3, 8)));
        assert_eq!(residency.known(PART, &(100, QUESTION.1, 8)), None);
        // Not all of it is on the device.
        residency.learn((140, 160), (140, QUESTION.1, 4), (0, 1));
        assert_eq!(residency.known((140, 160), &(140, QUESTION.1, 4)), None);
    }

    #[test]
    fn what_changes_is_forgotten() {
        for (changed, remembered) in [((90, 100), true), ((139, 150), false), ((100, 101), false)] {
            let mut residency = residency();
            residency.learn(PART, QUESTION, (-3, 8));
            residency.entries[0].forget(changed);
            assert_eq!(residency.known(PART, &QUESTION).is_some(), remembered, "{changed:?}");
        }
        // Results that did not come back.
        let mut residency = residency();
        residency.learn(PART, QUESTION, (-3, 8));
        residency.entries[0].dirty.push(Dirty { start: 120, bytes: 4, shape: Shape::Dense });
        assert_eq!(residency.known(PART, &QUESTION), None);
    }
}
