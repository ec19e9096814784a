//! Windows: arrays of which some rows alone are touched, far apart.
//!
//! Problem: an entry has room for all of the range, so that others find their elements there, but what lies between the rows need not be moved.
//! Approach: beside its valid ranges an entry has a few windows whose rows are valid. Invariants:
//!
//! * nothing is copied to the device over results that are there alone: who needs more of the range than some windows makes those come back first
//!   ([`Hold::bring_windows`]);
//! * a window that is only written is valid after the execution, without a copy.
//!
//! Example: columns 8 .. 24 of a matrix are updated, then all of it is added up: the columns are copied in, updated and come back, and all of
//! the matrix is copied in.

use super::{Entry, Hold, range};
use crate::abi::Array;
use crate::config::Config;
use crate::device::Queue;
use crate::error::{Error, Result};
use crate::rows::Rows;
use crate::spans::overlaps;
use crate::written::Span;

/// Windows that an entry knows; others are parts of it like any.
const MAX_WINDOWS: usize = 8;

/// What an entry lacks of an array.
pub enum Missing {
    Nothing,
    /// Ranges of addresses.
    Parts(Vec<Span>),
    Window(Rows),
}

impl Entry {
    /// What has to be copied in; `prefers`: whether rows are copied faster than that many bytes.
    pub fn missing(&self, array: &Array, prefers: impl Fn(&Rows, u64) -> bool) -> Missing {
        let parts = self.stale(array);
        if parts.is_empty() {
            return Missing::Nothing;
        }
        let Some(rows) = array.window().filter(|_| self.knows_window(array)) else {
            return Missing::Parts(parts);
        };
        if !array.copied_in() || self.windows.contains(&(range(array), rows)) {
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
        let room = |rows| self.windows.len() < MAX_WINDOWS || self.windows.contains(&(range(array), rows));
        array.window().is_some_and(|rows| rows.ascend() && self.before.is_empty() && room(rows))
    }

    /// The rows are valid from now on.
    pub fn add_window(&mut self, array: &Array) {
        let Some(window) = array.window().map(|rows| (range(array), rows)) else { return };
        // What is copied in as a whole need not be known as a window.
        if !self.windows.contains(&window) && !self.stale(array).is_empty() {
            self.windows.push(window);
        }
    }

    fn has_results_in(&self, array: &Array) -> bool {
        self.dirty.iter().any(|result| overlaps((result.start, result.start + result.bytes), range(array)))
    }
}

impl Hold {
    /// Before an array is copied in that needs more than windows have: `all` of it, or what is missing.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub(super) unsafe fn bring_windows(
        &mut self,
        config: &'static Config,
        queue: &mut dyn Queue,
        i: usize,
        array: &Array,
        all: bool,
    ) -> Result<()> {
        let entry = &self.entries[i];
        if entry.windows.is_empty() || !entry.has_results_in(array) {
            return Ok(());
        }
        let parts =
            || matches!(entry.missing(array, |rows, bytes| queue.prefers(rows, bytes)), Missing::Parts(_));
        if !all && !parts() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.bring_back(config, queue, |other| other == i) }
    }

    /// Copies the rows of an array in.
    ///
    /// # Safety
    /// The array's rows are readable; the array has a place here.
    pub unsafe fn copy_window(
        &mut self,
        queue: &mut dyn Queue,
        array: &Array,
        device: u64,
        rows: &Rows,
    ) -> Result<()> {
        self.copying = true;
        let Some(entry) = self.entry_of(array) else { return Err(Error::Internal("no place".into())) };
        // SAFETY: the caller's promise.
        unsafe { queue.copy_rows_in(device, array.start.cast::<u8>().cast_const(), rows) }?;
        entry.add_window(array);
        Ok(())
    }
}
