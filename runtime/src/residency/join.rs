//! Entries and results that lie beside each other.
//!
//! **Problem.** A loop stores one element in each of its steps, `pivots[k]`, by an execution of its own. With
//! an entry and a result for each, every question about an address goes through thousands of them, and all
//! of them come back one by one.
//!
//! **Approach.** An array that lies right beside an entry of the same objects makes that one larger, and the
//! next one finds room there. Results that touch each other become one.
//!
//! # Invariants
//! - An entry's memory reaches from the first byte of its range to `room`; what lies behind the range belongs
//!   to no entry, or to another one, and is never valid here.
//! - Between two parts that are joined lie so few bytes that the kernel was asked about their pages.
//! - One result in place of two comes back with the same bytes: all of both, or the elements of both that
//!   differ from the snapshot.

use super::dirty::{Carrier, Dirty};
use super::entry::{Entry, Residency, needs_snapshot};
use crate::base::abi::Array;
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::shape::Shape;
use crate::base::spans::{Span, holds, without};
use crate::memory::packed;

/// Bytes between an entry and what is joined to it: fewer than a page, and what structures and alignment
/// leave free.
const MAX_GAP: u64 = 64;
/// Larger entries stay as they are: a copy within the device for each step would be a cost of its own.
const MAX_JOINED: u64 = 1 << 20;

fn hull(a: Span, b: Span) -> Span {
    (a.0.min(b.0), a.1.max(b.1))
}

impl<W> Entry<W> {
    /// Whether an array that lies outside may become a part of it.
    fn joins(&self, array: &Array, depth: usize) -> bool {
        let (span, own) = (array.span(), self.host);
        let gap = span.0.saturating_sub(own.1).max(own.0.saturating_sub(span.1));
        let plain = !self.snapshot && self.windows.is_empty() && !self.is_loose() && !self.in_use();
        let (start, end) = hull(span, own);
        gap <= MAX_GAP && end - start <= MAX_JOINED && plain && self.masks.at(depth) == array.mask()
    }

    /// Adds a result to those that come back.
    pub(super) fn add_result(&mut self, mut result: Dirty) {
        while let Some((at, one)) = self.dirty.iter().enumerate().find_map(|(at, old)| {
            let one = result.with(old)?;
            Some((at, one))
        }) {
            self.dirty.remove(at);
            result = one;
        }
        self.dirty.push(result);
    }

    /// Changes of elements are looked for in one part that has all of theirs, where all of it is valid.
    pub(super) fn unite_changes(&mut self) {
        let changed = |result: &Dirty| matches!(result.shape, Shape::Changed { .. });
        let mut all = self.dirty.iter().filter(|result| changed(result));
        let Some(first) = all.next().cloned() else { return };
        let Some(one) = all.try_fold(first, |one, next| one.spanning(next)) else { return };
        if without(one.span(), &self.valid).is_empty() {
            self.dirty.retain(|result| !changed(result));
            self.add_result(one);
        }
    }
}

impl Dirty {
    /// What comes back of both, if one result can say so.
    fn with(&self, old: &Dirty) -> Option<Dirty> {
        let (a, b) = (self.span(), old.span());
        let touches = a.0 <= b.1 && b.0 <= a.1 || skips("united");
        match (&self.shape, &old.shape) {
            (Shape::Dense, Shape::Dense) if touches => {
                let (start, end) = hull(a, b);
                Some(Dirty { start, bytes: end - start, shape: Shape::Dense })
            }
            (Shape::Dense, _) => holds(a, b).then(|| self.clone()),
            (Shape::Changed { .. }, Shape::Changed { .. }) if touches => self.spanning(old),
            _ => None,
        }
    }

    /// From the first element of two results to the last one, where elements of both are the same.
    fn spanning(&self, other: &Dirty) -> Option<Dirty> {
        let (Shape::Changed { element }, Shape::Changed { element: other_element }) =
            (&self.shape, &other.shape)
        else {
            return None;
        };
        let (start, end) = hull(self.span(), other.span());
        let apart = self.start.abs_diff(other.start);
        (element == other_element && apart.is_multiple_of((*element).max(1))).then(|| Dirty {
            start,
            bytes: end - start,
            shape: self.shape.clone(),
        })
    }
}

impl<W: Copy> Residency<W> {
    /// Makes the array a part of an entry that it lies beside, if there is one.
    pub(super) fn join(&mut self, carrier: &mut dyn Carrier<W>, array: &Array) -> Result<Option<usize>> {
        let span = array.span();
        if needs_snapshot(array) || array.is_guarded() || packed::of(span.0).is_some() {
            return Ok(None);
        }
        let Some(i) = self.entries.iter().position(|entry| entry.joins(array, self.depth)) else {
            return Ok(None);
        };
        let entry = &self.entries[i];
        let (whole, room) = (hull(entry.host, span), entry.room);
        let alone = self.near(whole) == [i] || skips("joined-over");
        if !alone || packed::of(entry.host.0).is_some() {
            return Ok(None);
        }
        if whole.0 == entry.host.0 && whole.1 <= room {
            self.entries[i].host = whole;
            return Ok(Some(i));
        }
        let room = whole.1.saturating_add(whole.1 - whole.0);
        self.grow(carrier, &[i], array, room).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows::Rows;
    use crate::memory::packed::Pin;
    use crate::residency::masks::Masks;

    #[test]
    fn one_result_in_place_of_two() {
        let (dense, changed) = (Shape::Dense, Shape::Changed { element: 4 });
        let rows = |bytes| Shape::Rows(Rows { bytes, count: [1, 1, 3], stride: [0, 0, 16] });
        let table: [(&Shape, Span, &Shape, Span, Option<Span>); 11] = [
            (&dense, (8, 12), &dense, (0, 8), Some((0, 12))),
            (&dense, (0, 8), &dense, (8, 12), Some((0, 12))),
            (&dense, (0, 8), &dense, (9, 12), None),
            (&dense, (0, 40), &rows(8), (0, 40), Some((0, 40))),
            (&rows(8), (0, 40), &dense, (0, 40), None),
            (&changed, (0, 8), &changed, (8, 16), Some((0, 16))),
            (&changed, (0, 8), &changed, (6, 14), None),
            (&changed, (0, 8), &changed, (12, 16), None),
            (&changed, (0, 8), &dense, (8, 16), None),
            (&changed, (0, 80), &rows(8), (4, 44), None),
            (&changed, (8, 80), &rows(8), (4, 44), None),
        ];
        for (shape, new, other, old, expected) in table {
            let result =
                |(start, end): Span, shape: &Shape| Dirty { start, bytes: end - start, shape: shape.clone() };
            let one = result(new, shape).with(&result(old, other));
            assert_eq!(one.map(|one| one.span()), expected, "{shape:?} {new:?} {other:?} {old:?}");
        }
    }

    fn entry(valid: Vec<Span>, dirty: Vec<Dirty>) -> Entry<u32> {
        Entry {
            host: (0, 100),
            device: 4096,
            room: 100,
            masks: Masks::default(),
            valid,
            windows: Vec::new(),
            dirty,
            snapshot: true,
            uses: Vec::new(),
            writer: Some(1),
            known: Vec::new(),
            loose: None,
            _pin: Pin::default(),
        }
    }

    #[test]
    fn changes_are_looked_for_where_all_is_valid() {
        let result = |(start, end): Span, shape: Shape| Dirty { start, bytes: end - start, shape };
        let changed = |span: Span| result(span, Shape::Changed { element: 4 });
        let dense = |span: Span| result(span, Shape::Dense);
        let three = || vec![changed((0, 8)), dense((12, 16)), changed((40, 48))];
        for (valid, dirty, expected) in [
            (vec![(0, 100)], three(), vec![dense((12, 16)), changed((0, 48))]),
            (vec![(0, 20), (24, 100)], three(), three()),
            (
                vec![(0, 100)],
                vec![changed((0, 8)), changed((42, 50))],
                vec![changed((0, 8)), changed((42, 50))],
            ),
            (vec![(0, 100)], vec![dense((0, 8))], vec![dense((0, 8))]),
        ] {
            let mut entry = entry(valid, dirty);
            entry.unite_changes();
            assert_eq!(entry.dirty, expected);
        }
    }

    #[test]
    fn results_beside_each_other_become_one() {
        let mut entry = entry(vec![(0, 100)], Vec::new());
        for (start, one) in [(0, 1), (8, 2), (4, 1), (12, 1), (40, 2)] {
            entry.add_result(Dirty { start, bytes: 4, shape: Shape::Dense });
            assert_eq!(entry.dirty.len(), one, "{start}");
        }
        assert_eq!(entry.dirty[0].span(), (0, 16));
    }
}
