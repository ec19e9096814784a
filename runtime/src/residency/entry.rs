//! Device memory of a range of the program's, and the list of all of it. What happens to it is in the modules
//! above this one.

use super::dirty::{Back, Dirty};
use super::known::Known;
use super::loose::Owners;
use super::masks::Masks;
use super::parts::Use;
use crate::base::abi::Array;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::{Span, holds, overlaps, without};
use crate::memory::packed::Pin;

/// Results of different shapes that an entry keeps; more come back.
pub(super) const MAX_DIRTY: usize = if cfg!(test) { 2 } else { 8 };

/// Entries that stay behind an execution; beyond, those that it did not use go. Each event looks at all of
/// them: an interpreter that runs for an hour may touch a million objects in one activation.
const MAX_ENTRIES: usize = 256;

/// Device memory of a range of the program's.
#[derive(Clone, Debug, Hash)]
pub struct Entry<W> {
    pub host: Span,
    /// The device address of `host.0`.
    pub device: u64,
    /// Up to where the device's memory reaches, as an address of the program's: [`join`].
    pub(super) room: u64,
    /// Which of the functions' objects it may belong to.
    pub(super) masks: Masks,
    /// Ascending, disjoint.
    pub valid: Vec<Span>,
    /// Windows, of which the rows are valid as well, with the ranges that they lie in.
    pub windows: Vec<(Span, Rows)>,
    pub dirty: Vec<Dirty>,
    /// What was copied in is kept.
    pub snapshot: bool,
    /// What arrays of the execution under way do with it.
    pub(super) uses: Vec<Use>,
    /// The last SCoP that wrote it.
    pub(super) writer: Option<W>,
    /// See [`known`].
    pub(super) known: Vec<Known>,
    /// See [`loose`].
    pub(super) loose: Option<Owners>,
    /// Of rows that its addresses stand for.
    pub(super) _pin: Pin,
}

/// See the module documentation.
#[derive(Clone, Debug, Hash)]
pub struct Residency<W> {
    pub(super) entries: Vec<Entry<W>>,
    /// Of the activation that uses it now.
    pub(super) depth: usize,
    /// See [`MAX_ENTRIES`].
    pub(super) most: usize,
}

impl<W> Default for Residency<W> {
    fn default() -> Self {
        Residency::limited(MAX_ENTRIES)
    }
}

pub fn needs_snapshot(array: &Array) -> bool {
    array.out_range().is_some() && matches!(array.shape(), Shape::Changed { .. })
}

impl<W> Entry<W> {
    pub(super) fn stale(&self, array: &Array) -> Vec<Span> {
        if array.needs_values() { without(array.span(), &self.valid) } else { Vec::new() }
    }

    /// An execution uses it.
    pub(super) fn in_use(&self) -> bool {
        !self.uses.is_empty()
    }

    /// What comes back.
    pub(super) fn results(&self) -> impl Iterator<Item = Back<'_>> {
        self.dirty.iter().map(|result| Back {
            memory: self.device,
            offset: result.start - self.host.0,
            result,
            again: false,
            rows: None,
        })
    }

    /// Whether all of a result comes back anyway: as it is, in a range that is the device's as a whole, or
    /// among rows. Elements that are compared with the snapshot are no such range: the snapshot has nothing
    /// of what a kernel wrote without reading, which was never copied in.
    pub fn is_dirty_with(&self, result: &Dirty) -> bool {
        let covers = |old: &Dirty| {
            let inside = holds(old.span(), result.span());
            match (&old.shape, &result.shape) {
                (Shape::Dense, _) => inside,
                // One comparison with the snapshot finds both.
                (Shape::Changed { element: old_element }, Shape::Changed { element }) => {
                    inside
                        && old_element == element
                        && (result.start - old.start).is_multiple_of((*element).max(1))
                }
                (Shape::Rows(old_rows), Shape::Rows(rows)) => {
                    inside && old_rows.hold(result.start - old.start, rows)
                }
                _ => false,
            }
        };
        self.dirty.iter().any(|old| old == result || covers(old))
    }

    /// Why the entry can't be, if it can't.
    pub(super) fn check(&self) -> std::result::Result<(), &'static str> {
        let ascending = self.valid.windows(2).all(|pair| pair[0].1 < pair[1].0);
        let inside = |span: Span| holds(self.host, span);
        if !ascending || !self.valid.iter().all(|&part| part.0 <= part.1 && inside(part)) {
            return Err("what is valid is no list of parts");
        }
        if self.room < self.host.1 {
            return Err("a range is larger than its memory");
        }
        if self.loose.is_some() && (self.snapshot || !self.windows.is_empty() || !self.dirty.is_empty()) {
            return Err("a range that may reach into other objects has results, or rows");
        }
        if self.snapshot && !self.windows.is_empty() {
            return Err("there are windows beside a snapshot");
        }
        if !self.dirty.is_empty() && self.writer.is_none() {
            return Err("nobody wrote what is dirty");
        }
        for result in &self.dirty {
            if !inside(result.span()) {
                return Err("a result lies outside of its memory");
            }
            if matches!(result.shape, Shape::Changed { .. }) && !self.snapshot {
                return Err("a result has no snapshot");
            }
            if !self.has(result) {
                return Err("what is dirty is not valid");
            }
        }
        Ok(())
    }

    /// Whether all of a result is valid.
    pub(super) fn has(&self, result: &Dirty) -> bool {
        let rest = without(result.span(), &self.valid);
        match &result.shape {
            _ if rest.is_empty() => true,
            Shape::Rows(rows) => {
                let among = |(span, window): &(Span, Rows)| {
                    result.start >= span.0 && window.hold(result.start - span.0, rows)
                };
                let valid = |start: u64| without((start, start + rows.bytes), &self.valid).is_empty();
                self.windows.iter().any(among) || rows.offsets().all(|offset| valid(result.start + offset))
            }
            _ => false,
        }
    }
}

impl<W> Residency<W> {
    /// With so many entries at most that an execution did not use.
    pub(super) fn limited(most: usize) -> Residency<W> {
        Residency { entries: Vec::new(), depth: 0, most }
    }

    /// Whether nothing is on the device.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> &[Entry<W>] {
        &self.entries
    }

    /// The SCoP of some result that did not come back.
    pub fn writer(&self) -> Option<W>
    where
        W: Copy,
    {
        self.entries.iter().filter(|entry| !entry.dirty.is_empty()).find_map(|entry| entry.writer)
    }

    /// The entry that an array lies in.
    pub fn entry_of(&self, array: &Array) -> Option<&Entry<W>> {
        self.entries.iter().find(|entry| holds(entry.host, array.span()))
    }

    pub(super) fn index_of(&self, array: &Array) -> Option<usize> {
        self.entries.iter().position(|entry| holds(entry.host, array.span()))
    }

    /// The entry that an array would be placed in as it is.
    pub fn entry_for(&self, array: &Array) -> Option<&Entry<W>> {
        self.entry_of(array).filter(|entry| entry.takes(array, self.depth))
    }

    /// Whether a launch may change what only the device has.
    pub fn endangers(&self, array: &Array) -> bool {
        array.out_range().is_some() && self.entry_of(array).is_some_and(|entry| !entry.dirty.is_empty())
    }

    /// Which invariant does not hold, of those that need no memory to be looked at. Between executions.
    pub fn check(&self) -> std::result::Result<(), &'static str> {
        for (i, entry) in self.entries.iter().enumerate() {
            entry.check()?;
            if entry.in_use() {
                return Err("an execution that is over uses an entry");
            }
            if self.entries[i + 1..].iter().any(|other| overlaps(other.host, entry.host)) {
                return Err("two entries are of one memory");
            }
        }
        Ok(())
    }
}
