//! Windows: arrays of which some rows alone are touched, far apart.
//!
//! Problem: an entry has room for all of the range, so that others find their elements there, but what lies
//! between the rows need not be moved. Approach: beside its valid ranges an entry has a few windows whose
//! rows are valid. Invariants:
//!
//! * nothing is copied to the device over results that are there alone: who needs more of the range than some
//!   windows makes those come back first ([`Residency::bring_windows`]);
//! * a window that is only written is valid after the execution, without a copy.
//!
//! Example: columns 8 .. 24 of a matrix are updated, then all of it is added up: the columns are copied in,
//! updated and come back, and all of the matrix is copied in.

use super::dirty::Carrier;
use super::entry::{Entry, Residency};
use crate::base::abi::Array;
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::rows::Rows;
use crate::base::spans::{Span, overlaps};

/// Windows that an entry knows; others are parts of it like any.
const MAX_WINDOWS: usize = 8;

/// What an entry lacks of an array.
pub enum Missing {
    Nothing,
    /// Ranges of addresses.
    Parts(Vec<Span>),
    Window(Rows),
}

impl<W> Entry<W> {
    /// What has to be copied in; `prefers`: whether rows are copied faster than that many bytes.
    pub fn missing(&self, array: &Array, prefers: impl Fn(&Rows, u64) -> bool) -> Missing {
        let parts = self.stale(array);
        if parts.is_empty() {
            return Missing::Nothing;
        }
        let Some(rows) = array.window().filter(|_| self.knows_window(array)) else {
            return Missing::Parts(parts);
        };
        if !array.copied_in() || self.windows.contains(&(array.span(), rows)) {
            return Missing::Nothing;
        }
        let bytes = parts.iter().map(|(start, end)| end - start).sum();
        // Some of the rows may be there, in a later version than the program's.
        if self.has_results_in(array) || !prefers(&rows, bytes) {
            return Missing::Parts(parts);
        }
        Missing::Window(rows)
    }

    /// Whether the array is a window that the entry knows, or has room for.
    fn knows_window(&self, array: &Array) -> bool {
        let room = |rows| self.windows.len() < MAX_WINDOWS || self.windows.contains(&(array.span(), rows));
        array.window().is_some_and(|rows| rows.ascend() && !self.snapshot && room(rows))
    }

    /// The rows are valid from now on.
    pub(super) fn add_window(&mut self, array: &Array) {
        let Some(window) = array.window().map(|rows| (array.span(), rows)) else { return };
        // What is copied in as a whole need not be known as a window.
        if !self.windows.contains(&window) && !self.stale(array).is_empty() {
            self.windows.push(window);
        }
    }

    fn has_results_in(&self, array: &Array) -> bool {
        self.dirty.iter().any(|result| overlaps(result.span(), array.span()))
    }
}

impl<W: Copy> Residency<W> {
    /// Before an array is copied in that needs more than windows have: `all` of it, or what is missing.
    pub(super) fn bring_windows(
        &mut self,
        carrier: &mut dyn Carrier<W>,
        i: usize,
        array: &Array,
        all: bool,
    ) -> Result<()> {
        let entry = &self.entries[i];
        if entry.windows.is_empty() || !entry.has_results_in(array) || skips("copied-over") {
            return Ok(());
        }
        let parts =
            || matches!(entry.missing(array, |rows, bytes| carrier.prefers(rows, bytes)), Missing::Parts(_));
        if !all && !parts() {
            return Ok(());
        }
        self.bring_back(carrier, |other| other == i)
    }

    /// The rows of an array are on the device.
    pub fn copied_window(&mut self, array: &Array) {
        if let Some(i) = self.index_of(array) {
            self.entries[i].add_window(array);
        }
    }
}
