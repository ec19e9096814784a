//! `POLLYRS_RT_CHECK=copies`, on every device: what launches say that they leave alone is as it was.

use crate::base::caller::fatal;
use crate::base::error::{Error, Result};
use crate::base::spans::overlaps;
use crate::device::buffer;
use crate::memory::{between, grouped};

use super::array::{Home, Placed};
use super::run::Run;

impl Run<'_> {
    /// `POLLYRS_RT_CHECK`: nothing that is written lies in a list that iterations were sorted by, as kernels
    /// do not load it again.
    pub(super) fn check_lists(&self) {
        for list in self.arrays.iter().flat_map(|order| grouped::lists_of(order.host.start as u64)) {
            for (index, Placed { host, .. }) in self.arrays.iter().enumerate() {
                let start = host.start as u64;
                let written = host.out_range().map(|(at, bytes)| (start + at, start + at + bytes));
                if written.is_some_and(|written| overlaps(written, list)) {
                    fatal(&format!(
                        "{} writes array {}, in which a list is that its iterations were sorted by",
                        self.fixed.scop.name(),
                        self.fixed.scop.array_name(index)
                    ));
                }
            }
        }
    }

    /// `POLLYRS_RT_CHECK`: what was copied in and isn't said to be written must be unchanged on the device.
    pub(super) unsafe fn check_unwritten(&mut self) -> Result<()> {
        for (index, &Placed { host, home, device, window, .. }) in self.arrays.iter().enumerate() {
            // Of a held array the host may be behind.
            if matches!(home, Home::Activation { .. } | Home::Beside)
                || !host.copied_in()
                || host.is_guarded()
                || host.is_fault()
                || between::reaches(host.start as u64, host.bytes)
            {
                continue;
            }
            let mut after = buffer(host.bytes)?;
            // SAFETY: the buffer is as long as the array's range.
            let copied = unsafe { self.queue.copy_out(after.as_mut_ptr(), device, host.bytes) };
            // The copy may be under way even after an error.
            let waited = self.queue.synchronize();
            if copied.is_err() || waited.is_err() {
                std::mem::forget(after);
                return copied.and(waited);
            }
            // SAFETY: the range is readable, and nothing came back yet.
            let before = unsafe { std::slice::from_raw_parts(host.start.cast::<u8>(), host.bytes as usize) };
            let (offset, bytes) = host.out_range().unwrap_or((0, 0));
            let end = offset + bytes;
            let copied = window.map_or_else(|| vec![true; before.len()], |rows| rows.among(before.len()));
            let outside = |at: &usize| copied[*at] && !(offset..end).contains(&(*at as u64));
            if let Some(at) = (0..before.len()).filter(outside).find(|&at| before[at] != after[at]) {
                fatal(&format!(
                    "{} changed array {} at byte {at}, outside of the range it is said to write, {offset} to {end}",
                    self.fixed.scop.name(),
                    self.fixed.scop.array_name(index)
                ));
            }
        }
        Ok(())
    }

    /// `POLLYRS_RT_CHECK`: keeps what is said to be done. Of arrays that are copied in part by part, what is
    /// behind the `needed` bytes comes later: between the last element that this slice touches and the first
    /// one of the next one.
    pub(super) fn note_claims(&mut self, needed: impl Fn(usize) -> u64) -> Result<()> {
        let slice = self.beside.done.len() - 1;
        for index in 0..self.arrays.len() {
            // Between the members of structures lie those of other arrays, which are not done: such results
            // never come back early.
            let span = |placed: &Placed| {
                let start = placed.host.start as u64;
                (start, start + placed.host.bytes)
            };
            let own = span(&self.arrays[index]);
            let others = self.arrays.iter().enumerate().filter(|(other, _)| *other != index);
            if others.map(|(_, placed)| span(placed)).any(|(from, to)| from < own.1 && own.0 < to) {
                continue;
            }
            let Some((offset, _)) = self.arrays[index].host.out_range() else { continue };
            let earlier = self.beside.claims.iter().filter(|claim| claim.0 == index);
            let from = earlier.map(|(_, at, bytes)| at + bytes.len() as u64).max().unwrap_or(0).max(offset);
            let there = if self.arrays[index].waits() { needed(index) } else { u64::MAX };
            let end = self.done(slice, index).min(there);
            if end > from {
                let bytes = self.read_back(index, from, end - from)?;
                self.beside.claims.push((index, from, bytes));
            }
        }
        Ok(())
    }

    /// What the device has of a part of an array's range.
    fn read_back(&mut self, index: usize, offset: u64, bytes: u64) -> Result<Vec<u8>> {
        let mut read = buffer(bytes)?;
        // SAFETY: the buffer is as long as the part.
        let copied =
            unsafe { self.queue.copy_out(read.as_mut_ptr(), self.arrays[index].device + offset, bytes) };
        let waited = self.queue.synchronize();
        if copied.is_err() || waited.is_err() {
            // The copy may be under way even after an error.
            std::mem::forget(read);
            return copied.and(waited).and(Err(Error::Internal("a copy failed".into())));
        }
        Ok(read)
    }

    /// `POLLYRS_RT_CHECK`: what was said to be done is as it was then.
    pub(super) fn check_claims(&mut self) -> Result<()> {
        for (index, offset, then) in std::mem::take(&mut self.beside.claims) {
            let now = self.read_back(index, offset, then.len() as u64)?;
            if let Some(at) = (0..then.len()).find(|&at| then[at] != now[at]) {
                fatal(&format!(
                    "{} changed array {} at byte {}, which was said to be done",
                    self.fixed.scop.name(),
                    self.fixed.scop.array_name(index),
                    offset + at as u64
                ));
            }
        }
        Ok(())
    }
}
