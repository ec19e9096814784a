//! The arrays of an execution: where each has its memory, and how its contents come there.

use std::time::Instant;

use super::array::{CopyIn, Home, Placed};
use super::run::{Chosen, Run};
use crate::base::abi::{ARRAY_SCRATCH, Array};
use crate::base::error::Result;
use crate::base::faults::Operation;
use crate::base::shape::Shape;
use crate::cost::Estimate;
use crate::device::Adopted;
use crate::device::snapshot::Snapshot;
use crate::memory::guarded;
use crate::process::nvtx::Range;
use crate::process::registry::State;
use crate::residency::Place;

/// The arrays' numbers, those that are written first: what is read of the same memory are copies of what is
/// there before.
fn written_first(arrays: &[Array]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arrays.len()).collect();
    order.sort_by_key(|&index| arrays[index].out_range().is_none());
    order
}

impl Run<'_> {
    /// Places all arrays, and copies in what is not left to launches.
    ///
    /// # Safety
    /// As for [`super::begin`].
    pub(super) unsafe fn place_all(
        &mut self,
        estimate: Option<Estimate>,
        state: &'static State,
    ) -> Result<()> {
        let run = self;
        run.learning.measured =
            estimate.is_some() && (run.activation.is_none() || state.learned.measures_held());
        if run.learning.measured && run.activation.is_some() {
            // What earlier ones left to do is not this one's time.
            run.queue.synchronize()?;
        }
        run.times.begun = Instant::now();
        // All allocations before the first copy: the likeliest failure comes first.
        let arrays: Vec<Array> = run.arrays.iter().map(|placed| placed.host).collect();
        let order = written_first(&arrays);
        for &index in &order {
            // SAFETY: the caller's promise.
            unsafe { run.place(index) }?;
        }
        run.times.ready = Instant::now();
        let copying = Range::open(|| "to the device".into());
        let setups = run.queue.setups();
        run.learning.chosen = estimate.map(|estimate| Chosen { state, estimate, setups });
        let may_defer = run.may_defer();
        for index in order {
            if !(may_defer && run.defer(index)) {
                // SAFETY: the caller's promise.
                unsafe { run.copy_in(index) }?;
            }
        }
        run.mark_copies()?;
        run.save()?;
        drop(copying);
        Ok(())
    }

    /// # Safety
    /// As for [`super::begin`].
    unsafe fn place(&mut self, index: usize) -> Result<()> {
        let host = self.arrays[index].host;
        let packed = self.arrays[index].packed.take();
        let mut placed = Placed { packed, ..Placed::nowhere(host) };
        if host.bytes == 0 {
            return Ok(());
        }
        self.fixed.config.faults.check(Operation::Alloc)?;
        let scratch = host.flags & ARRAY_SCRATCH != 0;
        if let (Some(activation), false) = (&mut self.activation, scratch) {
            // SAFETY: the caller's promise.
            match unsafe { activation.place(self.fixed.config, &mut *self.queue, &host) }? {
                Place::Entry { device, stale, window, shared } => {
                    (placed.home, placed.device) = (Home::Activation { shared }, device);
                    (placed.stale, placed.window) = (CopyIn::Parts(stale), window);
                }
                Place::Beside => {
                    placed.device = self.queue.allocate(host.bytes, host.start as u64)?;
                    placed.home = Home::Beside;
                }
                Place::Own => {}
            }
        }
        if placed.home == Home::Nowhere {
            placed.home = Home::Own;
            // What other threads may write in between can't be told from what the device left unchanged. What
            // stays in a hold gets ordinary memory; residents in its way have to know.
            let whole = self.activation.is_none()
                && !host.is_guarded()
                && (host.out_range().is_none() || host.shape() == Shape::Dense);
            let own = scratch || host.is_fault() || placed.packed.is_some();
            match if own { None } else { self.queue.adopt(&host, whole)? } {
                Some(Adopted { device, stale }) => {
                    (placed.device, placed.stale) = (device, CopyIn::Parts(stale))
                }
                None => {
                    placed.device =
                        self.queue.allocate(host.bytes, if scratch { 0 } else { host.start as u64 })?;
                    placed.window = host.window().filter(|rows| self.queue.prefers(rows, host.bytes));
                }
            }
        }
        placed.argument = placed.device.wrapping_add_signed(host.bias);
        self.queue.placed(index, &host, placed.device, placed.argument, placed.is_held());
        self.arrays[index] = placed;
        Ok(())
    }

    /// # Safety
    /// As for [`super::begin`].
    unsafe fn copy_in(&mut self, index: usize) -> Result<()> {
        let Placed { host, home, device, window, .. } = self.arrays[index];
        let held = self.arrays[index].is_held();
        if !(host.copied_in() || held && host.needs_values()) {
            return Ok(());
        }
        self.fixed.config.faults.check(Operation::Copy)?;
        if let (Home::Beside, Some(activation)) = (home, &mut self.activation) {
            if let Some(packed) = &self.arrays[index].packed {
                // SAFETY: the caller's promise.
                unsafe { packed.gather(host.span(), host.is_guarded(), self.fixed.config.copy_threads) }?;
            }
            // SAFETY: the caller's promise; the allocation has the range's size.
            self.counts.bytes_in += unsafe { activation.copy_beside(&mut *self.queue, &host, device) }?;
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.pack(index) }?;
        let stale = self.arrays[index].stale.take(host.bytes);
        if let (true, Some(activation)) = (held, &mut self.activation) {
            if let Some(rows) = window {
                // SAFETY: the caller's promise.
                unsafe { activation.copy_window(&mut *self.queue, &host, device, &rows) }?;
                self.counts.bytes_in += rows.total();
            }
            if host.is_guarded() {
                if !stale.is_empty() {
                    // It lives as long as the queue may read it.
                    let mut buffer = Snapshot::new(host.bytes)?;
                    // SAFETY: the caller's promise.
                    let copied =
                        unsafe { activation.copy_guarded(&mut *self.queue, &host, device, &mut buffer) };
                    self.arrays[index].before = buffer;
                    self.counts.bytes_in += copied?;
                }
                return Ok(());
            }
            for part in stale {
                // SAFETY: the caller's promise.
                self.counts.bytes_in += unsafe { activation.copy_in(&mut *self.queue, &host, device, part) }?;
            }
            return Ok(());
        }
        self.copies_own();
        let mut from = host.start.cast::<u8>().cast_const();
        if let Some(rows) = window {
            // SAFETY: the caller's promise; the allocation has the range's size.
            unsafe { self.queue.copy_rows_in(device, from, &rows) }?;
            self.counts.bytes_in += rows.total();
            return Ok(());
        }
        if host.is_guarded() {
            let mut before = Snapshot::new(host.bytes)?;
            guarded::copy(&mut before, from)?;
            if host.out_range().is_some() {
                self.queue.unify(&mut before)?;
            }
            from = before.as_ptr();
            self.arrays[index].before = before;
        } else if host.out_range().is_some() && matches!(host.shape(), Shape::Changed { .. }) {
            let mut before = Snapshot::new(host.bytes)?;
            // SAFETY: the caller's promise; the buffer has the range's size.
            unsafe { self.queue.deliver(before.as_mut_ptr(), from, host.bytes) };
            self.queue.unify(&mut before)?;
            from = before.as_ptr();
            // The copy may still read the buffer when this function returns; it lives as long as the queue.
            self.arrays[index].before = before;
        }
        for (offset, bytes) in stale {
            // SAFETY: the caller's promise; the allocation has the range's size.
            unsafe { self.queue.copy_in(device + offset, from.add(offset as usize), bytes) }?;
            self.counts.bytes_in += bytes;
        }
        Ok(())
    }

    /// Brings the rows of what is to be copied in.
    ///
    /// # Safety
    /// As for [`super::begin`].
    unsafe fn pack(&self, index: usize) -> Result<()> {
        let Placed { host, stale, packed, window, .. } = &self.arrays[index];
        let Some(packed) = packed else { return Ok(()) };
        let start = host.span().0;
        let whole = [(0, host.bytes)];
        let wanted = match stale {
            CopyIn::Parts(parts) if window.is_none() => parts,
            _ => &whole[..],
        };
        for (offset, bytes) in wanted {
            let part = (start + offset, start + offset + bytes);
            // SAFETY: the caller's promise.
            unsafe { packed.gather(part, host.is_guarded(), self.fixed.config.copy_threads) }?;
        }
        Ok(())
    }

    /// An array that is not held is being copied in: the program may write to it as soon as the execution is
    /// over, and the driver reads memory that the program has pinned later than that.
    pub(super) fn copies_own(&mut self) {
        if let Some(activation) = &mut self.activation {
            activation.copying = true;
        }
    }

    /// The execution's end waits for the copies so far, but not for what is queued behind them.
    pub(super) fn mark_copies(&mut self) -> Result<()> {
        if self.activation.as_ref().is_some_and(|activation| activation.copying) {
            self.queue.mark_copies()
        } else {
            Ok(())
        }
    }
}
