//! Copies of an execution that run beside its kernels.
//!
//! Problem: where transfers take as long as kernels, the device waits for the link half of the time, and the
//! link for the device. Approach: arrays are copied in when the first launch needs them; a launch that the
//! compiler cut into slices needs only some of each array at first, and its results come back slice by slice.
//!
//! Invariants:
//!
//! * a launch is queued behind the copies of all that it touches: of a slice the compiler says how much that
//!   is ([`Run::launch_slice`]), of others it is all of the kernel's arrays. Nothing is copied over what an
//!   earlier launch touched;
//! * what waits is in [`CopyIn::Waits`]; all of it is there before the execution ends;
//! * results that come back before everything has succeeded are of arrays that the original loop overwrites
//!   as a whole and does not read (they are not copied in, all of their range is written, and no other array
//!   lies there): whatever fails later, it can still run.
//!
//! Example: 64 MB of `A` in, `B` out, four slices: a quarter of `A` goes to the queue's stream; slice 0; the
//! next quarter beside it; slice 1; ... then at the end, when slice 0 is over, a quarter of `B` comes back
//! while slice 3 runs.

use crate::base::config::Overlap;
use crate::base::error::Result;
use crate::base::faults::Operation;
use crate::base::planted::unless;
use crate::base::shape::Shape;
use crate::device::results::Returning;

use super::array::{CopyIn, Home, Placed};
use super::run::{Part, Run};

/// Less than this is not worth the events.
const WORTH_BYTES: u64 = 16 << 20;
/// A slice moves at least so much: smaller copies are slow.
const SLICE_BYTES: u64 = 16 << 20;
/// More slices gain next to nothing.
const MAX_SLICES: u64 = 8;
/// Seconds that a slice costs: the threads that copy come together and begin anew (256 MB in eight slices
/// took 6.8 ms in place of 5.2 on an H200).
const SLICE_SECONDS: f64 = 0.2e-3;
/// Seconds for a statement instance on the device, at least: measured on an H200 0.05e-12 in a product of
/// floats, 0.09e-12 in a loop of two operations on registers. Whoever waits for memory takes longer, but
/// never so long as the link for the same bytes.
pub(super) const INSTANCE_SECONDS: f64 = 0.05e-12;
/// A result that comes back beside kernels comes in parts of at least this.
const RESULT_BYTES: u64 = 4 << 20;

impl Run<'_> {
    /// Whether arrays may be copied in later than at the beginning.
    pub(super) fn may_defer(&self) -> bool {
        // What is copied in later could be copied over what another array of the same memory has written by
        // then.
        let beside = self
            .arrays
            .iter()
            .any(|placed| matches!(placed.home, Home::Beside | Home::Activation { shared: true }));
        let wanted = match self.fixed.config.overlap {
            Overlap::Off => false,
            Overlap::Slices(_) => true,
            Overlap::Auto => {
                let bytes = |placed: &Placed| if placed.may_wait() { placed.stale_bytes() } else { 0 };
                self.queue.overlaps()
                    && self.best() > 1
                    && self.arrays.iter().map(bytes).sum::<u64>() >= WORTH_BYTES
            }
        };
        // A copy that fails once launches have begun must not cost what only the device has.
        wanted && !beside && !self.fixed.config.resident && !self.endangers()
    }

    /// The number of slices by the time of the kernels: with k of them all but a k-th of it overlaps with
    /// copies, for k - 1 times the costs.
    fn best(&self) -> u64 {
        (self.fixed.work * INSTANCE_SECONDS / SLICE_SECONDS).sqrt() as u64
    }

    /// Leaves an array's copy to the launch that needs it. False: it is to be copied now.
    pub(super) fn defer(&mut self, index: usize) -> bool {
        let placed = &mut self.arrays[index];
        if placed.may_wait() {
            placed.stale = CopyIn::Waits(placed.stale.take(placed.host.bytes));
            self.beside.deferred = true;
        }
        placed.waits()
    }

    /// Copies what waits of the first `needed` bytes of an array.
    ///
    /// # Safety
    /// As for [`super::begin`].
    unsafe fn fetch(&mut self, index: usize, needed: u64) -> Result<bool> {
        let placed = &mut self.arrays[index];
        if !placed.waits() {
            return Ok(false);
        }
        let (host, device, held) = (placed.host, placed.device, placed.is_held());
        let (mut parts, mut rest) = (Vec::new(), Vec::new());
        for (offset, bytes) in placed.stale.take(host.bytes) {
            let now = needed.saturating_sub(offset).min(bytes);
            if now > 0 {
                parts.push((offset, now));
            }
            if now < bytes {
                rest.push((offset + now, bytes - now));
            }
        }
        if !rest.is_empty() {
            placed.stale = CopyIn::Waits(rest);
        }
        if parts.is_empty() {
            return Ok(false);
        }
        self.fixed.config.faults.check(Operation::Copy)?;
        let behind = self.arrays.iter().any(Placed::waits);
        for part in parts {
            self.queue.neighbours(std::mem::replace(&mut self.beside.fetched, true), behind);
            match (held, &mut self.activation) {
                // SAFETY: the caller's promise; the array has a place in the hold.
                (true, Some(activation)) => unsafe {
                    activation.copy_in(&mut *self.queue, &host, device, part)?;
                },
                // SAFETY: the caller's promise; the allocation has the range's size.
                _ => unsafe {
                    self.copies_own();
                    let from = host.start.cast::<u8>().cast_const().add(part.0 as usize);
                    self.queue.copy_in(device + part.0, from, part.1)?;
                },
            }
            self.counts.bytes_in += part.1;
        }
        self.mark_copies()?;
        Ok(true)
    }

    /// Before a launch: copies `needed(array)` bytes of each array of the kernel; copies that follow run
    /// beside it.
    ///
    /// # Safety
    /// As for [`super::begin`].
    pub(super) unsafe fn prepare(&mut self, kernel: usize, needed: impl Fn(usize) -> u64) -> Result<()> {
        if !self.beside.deferred {
            return Ok(());
        }
        let Some(kernel) = self.fixed.scop.kernels().get(kernel) else { return Ok(()) };
        for &array in kernel.array_index() {
            // SAFETY: the caller's promise.
            unsafe { self.fetch(array as usize, needed(array as usize)) }?;
        }
        Ok(())
    }

    /// Before the execution ends: everything is on its way, also what no launch needed.
    ///
    /// # Safety
    /// As for [`super::begin`].
    pub(super) unsafe fn fetch_all(&mut self) -> Result<()> {
        for index in 0..self.arrays.len() {
            // SAFETY: the caller's promise.
            unsafe { self.fetch(index, u64::MAX) }?;
        }
        Ok(())
    }

    /// Copies that follow run beside what is launched next.
    pub(super) fn fork(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.beside.forked, true) {
            self.queue.fork()?;
        }
        Ok(())
    }

    /// Behind [`Run::prepare`], ahead of a launch of all blocks.
    pub(super) fn meet(&mut self) -> Result<()> {
        if self.beside.forked {
            unless("launch-join", || self.queue.join())
        } else if self.arrays.iter().any(Placed::waits) {
            self.fork()
        } else {
            Ok(())
        }
    }

    /// How many slices a launch of so many units is worth; 1: it goes as a whole.
    pub fn slices(&mut self, kernel: u32, units: u64) -> u64 {
        self.beside.first = true;
        let Some(kernel) = self.fixed.scop.kernels().get(kernel as usize) else { return 1 };
        let wanted = match self.fixed.config.overlap {
            _ if self.error.is_some() => 1,
            Overlap::Off => 1,
            Overlap::Slices(n) => n,
            Overlap::Auto => {
                let waiting = |&array: &u32| self.arrays.get(array as usize).filter(|placed| placed.waits());
                let waiting = kernel.array_index().iter().filter_map(waiting);
                let waiting: u64 = waiting.map(Placed::stale_bytes).sum();
                let results: u64 = (0..self.arrays.len()).filter_map(|index| self.may_hurry(index)).sum();
                self.best().min((waiting + results) / SLICE_BYTES)
            }
        };
        wanted.min(MAX_SLICES).min(units).max(1)
    }

    /// The bytes of an array's result, if they may come back before everything has succeeded. (Where the
    /// original loop may be left early, it need not overwrite all of them; arrays are guarded there.)
    fn may_hurry(&self, index: usize) -> Option<u64> {
        let Placed { host, home, ref packed, .. } = self.arrays[index];
        let (offset, bytes) = host.out_range()?;
        let plain = matches!(home, Home::Own | Home::Nowhere)
            && !host.copied_in()
            && !host.is_fault()
            && !host.is_guarded();
        let plain = plain && host.shape() == Shape::Dense && packed.is_none();
        let from = host.start as u64 + offset;
        let apart = |(other, placed): (usize, &Placed)| {
            let start = placed.host.start as u64;
            other == index || start >= from + bytes || start + placed.host.bytes <= from
        };
        let wanted = match self.fixed.config.overlap {
            Overlap::Off => false,
            Overlap::Slices(_) => true,
            Overlap::Auto => self.queue.overlaps() && bytes > self.fixed.config.staging_bytes,
        };
        let hurries = wanted && plain && !self.fixed.config.resident;
        (hurries && self.arrays.iter().enumerate().all(apart)).then_some(bytes)
    }

    pub fn n_arrays(&self) -> usize {
        self.arrays.len()
    }

    /// `pollyrs_rt_launch_slice`; errors are kept for [`Run::end`].
    ///
    /// # Safety
    /// As for [`Run::launch`]; `needed` and `done` have a number for each array of the execution.
    pub unsafe fn launch_slice(
        &mut self,
        kernel: u32,
        blocks: u64,
        scalars: *const u64,
        needed: &[u64],
        done: &[u64],
    ) {
        if self.error.is_some() || blocks == 0 {
            return;
        }
        let of = |index: usize| needed.get(index).copied().unwrap_or(u64::MAX);
        let launched = (|| {
            // SAFETY: the caller's promise.
            unsafe {
                self.prepare(kernel as usize, of)?;
                self.fork()?;
                let first = std::mem::take(&mut self.beside.first);
                self.try_launch(kernel, blocks, scalars, Part::Slice { first })?;
            }
            self.beside.done.push(done.to_vec());
            if self.fixed.config.check.copies { self.note_claims(of) } else { Ok(()) }
        })();
        if let Err(error) = launched {
            self.fail(error);
        }
    }

    /// The end of what is done of an array's result, relative to its range.
    pub(super) fn done(&self, slice: usize, index: usize) -> u64 {
        let Some((offset, bytes)) = self.arrays[index].host.out_range() else { return 0 };
        let done = self.beside.done[slice].get(index).copied().unwrap_or(0);
        done.min(offset + bytes)
    }

    /// Brings results back beside slices that still run; the number of bytes of each array's result. After an
    /// error the original loop overwrites what came back.
    ///
    /// # Safety
    /// The arrays' written ranges are writable.
    pub(super) unsafe fn hurry(&mut self) -> Result<Vec<u64>> {
        // SAFETY: the caller's promise.
        let brought = unsafe { self.bring_done() };
        if brought.is_err() {
            // Copies may be under way to memory that the original loop is about to write.
            let _ = self.queue.synchronize();
        }
        unless("hurry-gather", || self.gather()).and(brought)
    }

    /// Copies that follow wait for all that was launched.
    pub(super) fn gather(&mut self) -> Result<()> {
        if std::mem::take(&mut self.beside.forked) { self.queue.gather() } else { Ok(()) }
    }

    /// # Safety
    /// As for [`Run::hurry`].
    unsafe fn bring_done(&mut self) -> Result<Vec<u64>> {
        let mut brought = vec![0; self.arrays.len()];
        let slices = self.beside.done.len();
        let hurried: Vec<usize> = match slices {
            0 => Vec::new(),
            _ => (0..self.arrays.len()).filter(|&index| self.may_hurry(index).is_some()).collect(),
        };
        if hurried.is_empty() {
            return Ok(brought);
        }
        let least = if self.fixed.config.overlap == Overlap::Auto { RESULT_BYTES } else { 1 };
        for slice in 0..slices {
            self.queue.follow(slice)?;
            if slice + 1 < slices && self.queue.is_over(slice + 1) {
                // More at once.
                continue;
            }
            for &index in &hurried {
                let Placed { host, device, .. } = self.arrays[index];
                let offset = host.out_range().map_or(0, |(offset, _)| offset);
                let part = self.done(slice, index).saturating_sub(offset + brought[index]);
                if part < least {
                    continue;
                }
                self.fixed.config.faults.check(Operation::Copy)?;
                self.fixed.config.faults.check(Operation::CopyOut)?;
                let at = offset + brought[index];
                let to = host.start.cast::<u8>().wrapping_add(at as usize);
                // SAFETY: the caller's promise; no launch touches these bytes any more, and copies here wait
                // for those that did.
                unsafe { self.queue.copy_out(to, device + at, part) }?;
                brought[index] += part;
            }
        }
        Ok(brought)
    }
}

/// What comes back at the end of an execution, behind what came before.
pub(super) fn results<'a>(arrays: &'a [Placed], brought: &[u64]) -> Vec<Returning<'a>> {
    arrays
        .iter()
        .zip(brought)
        .filter(|(placed, _)| !placed.is_held())
        .filter_map(|(placed, &brought)| {
            let (offset, bytes) = placed.host.out_range()?;
            let range = offset as usize..(offset + bytes) as usize;
            let result = Returning {
                from: placed.device + offset,
                to: placed.host.start.cast::<u8>().wrapping_add(offset as usize),
                bytes,
                shape: placed.host.shape(),
                before: placed.before.get(range).unwrap_or_default(),
                again: false,
                rows: None,
            };
            result.behind(brought)
        })
        .collect()
}

impl Returning<'_> {
    /// What is left when the first bytes have come back.
    fn behind(mut self, brought: u64) -> Option<Self> {
        self.from += brought;
        self.to = self.to.wrapping_add(brought as usize);
        self.bytes -= brought;
        (self.bytes > 0).then_some(self)
    }
}
