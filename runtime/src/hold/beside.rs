//! Two arrays of one execution in the same memory: one is written and lies in the hold, the other is read as it was before.
//!
//! It needs memory of its own, but its contents are on the device, for the most part: they are copied there. Example: `f(n, b, b)` with
//! `out[i] = a[i] + 1`, in a loop: `b` stays in the hold as `out`, and each execution begins with a copy for `a`.

use super::{Hold, range, written_span};
use crate::abi::Array;
use crate::device::Queue;
use crate::error::{Error, Result};
use crate::spans::{overlaps, without};

impl Hold {
    /// Fills memory of an execution's own, before its launches, with what an array has in the hold; the rest comes from the program. The bytes
    /// of the latter.
    ///
    /// # Safety
    /// The array's range is readable; [`Hold::place`] said that it lies beside an entry, and those in the hold are copied in.
    pub unsafe fn copy_beside(&mut self, queue: &mut dyn Queue, array: &Array, device: u64) -> Result<u64> {
        let host = range(array);
        let Some(entry) = self.entry_of(array) else { return Err(Error::Internal("no place".into())) };
        let rest = without(host, &entry.valid);
        for (start, end) in without(host, &rest) {
            let (to, from) = (device + (start - host.0), entry.device + (start - entry.host.0));
            // SAFETY: parts of the entry's and of the array's allocation.
            unsafe { queue.copy_within(to, from, end - start) }?;
        }
        self.copying |= !rest.is_empty();
        let mut bytes = 0;
        for (start, end) in rest {
            let from = array.start.cast::<u8>().cast_const().wrapping_add((start - host.0) as usize);
            // SAFETY: the caller's promise.
            unsafe { queue.copy_in(device + (start - host.0), from, end - start) }?;
            bytes += end - start;
        }
        Ok(bytes)
    }

    /// Results of an array that has no place here are in the program's memory.
    pub fn overwritten(&mut self, array: &Array) {
        let Some(span) = written_span(array) else { return };
        for entry in self.entries.iter_mut().filter(|entry| overlaps(entry.host, span)) {
            let valid = std::mem::take(&mut entry.valid);
            entry.valid = valid.into_iter().flat_map(|part| without(part, &[span])).collect();
            entry.windows.retain(|(whole, _)| !overlaps(*whole, span));
        }
    }
}
