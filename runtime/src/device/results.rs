//! Results on their way back to the program's memory.
//!
//! Problem: a copy to the host can fail half-way, and arrays that are read and written can't be restored.
//! Invariants:
//!
//! * results up to `POLLYRS_RT_STAGING` arrive in a buffer of the library first: then no failure at all can
//!   leave the program with some of its results, and one wait serves kernels and copies;
//! * larger ones are copied to their place, chunk by chunk, after a wait that reports the kernels' errors; a
//!   copy that fails there ends the program;
//! * of a result of which only some bytes are the device's ([`Shape`]) no other byte is stored to.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::abi::Scop;
use crate::base::caller::fatal;
use crate::base::config::Config;
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::base::planted::unless;
use crate::base::rows::{Plane, Rows};
use crate::base::shape::Shape;
use crate::device::Queue;
use crate::device::returned::{Target, settle, settle_part};
use crate::memory::packed;

/// A result on its way back.
#[derive(Clone)]
pub struct Returning<'a> {
    pub from: u64,
    pub to: *mut u8,
    pub bytes: u64,
    pub shape: Shape,
    /// The same bytes as they were copied in, for [`Shape::Changed`].
    pub before: &'a [u8],
    /// It comes back another time as well.
    pub again: bool,
    /// Of a [`Shape::Changed`], what comes back is among these, each of whole elements.
    pub rows: Option<Rows>,
}

/// What brings results back.
pub struct Back<'a> {
    pub config: &'static Config,
    /// For messages.
    pub scop: &'static Scop,
    pub queue: &'a mut dyn Queue,
}

/// Rows that land together: as many bytes as a pinned buffer that is there anyway.
const ROWS_LANDING: u64 = 4 << 20;

/// Results of this size are delivered by several threads, whose waking takes as long as the copy.
const HELPED_BYTES: u64 = 1 << 20;

/// Some results are in place, others will never be.
pub fn lost(scop: &Scop, error: &Error) -> ! {
    fatal(&format!("{}: results were lost while they were copied back: {error}", scop.name()))
}

impl Back<'_> {
    /// Waits for the device and stores all results; returns their bytes. An error: nothing was stored.
    ///
    /// # Safety
    /// The results' places are writable, and their shapes were checked.
    pub unsafe fn bring(&mut self, results: &[Returning<'_>]) -> Result<u64> {
        if results.is_empty() {
            self.queue.synchronize()?;
            self.queue.returning();
            return Ok(0);
        }
        let total = results.iter().map(|r| r.bytes).fold(0, u64::saturating_add);
        // What comes back again anyway does so whole, if at all: a failure is one either way.
        let few = results.iter().any(|r| r.again && self.narrow(r).is_some());
        let staged = total <= self.config.staging_bytes && !few;
        // SAFETY: the caller's promise.
        unsafe { if staged { self.staged(results, total) } else { self.direct(results) } }?;
        self.queue.brought(results);
        let alone = |r: &Returning<'_>| self.narrow(r).map_or(r.bytes, |rows| rows.total());
        Ok(if staged { total } else { results.iter().map(alone).fold(0, u64::saturating_add) })
    }

    /// The rows of a result whose rows alone move.
    fn narrow(&self, r: &Returning<'_>) -> Option<Rows> {
        let rows = match &r.shape {
            Shape::Rows(rows) => Some(*rows),
            _ => r.rows,
        };
        rows.filter(|rows| self.queue.prefers(rows, r.bytes))
    }

    /// Stores a result that has landed at `landed` to its place.
    ///
    /// # Safety
    /// The promise about the written ranges; `landed` holds the result's bytes.
    unsafe fn settle(&mut self, result: &Returning<'_>, landed: *const u8) {
        let packed = packed::of(result.to.addr() as u64);
        if result.shape == Shape::Dense && packed.is_none() {
            // SAFETY: the caller's promise.
            return unsafe { self.queue.deliver(result.to, landed, result.bytes) };
        }
        // SAFETY: the caller's promise; the shape was checked at the beginning.
        unsafe {
            let results = std::slice::from_raw_parts(landed, result.bytes as usize);
            let to = Target::new(result.to, packed.as_deref());
            if let Some(rows) = result.rows {
                for at in rows.offsets() {
                    let row = &results[at as usize..(at + rows.bytes) as usize];
                    settle_part(to, at as usize, row, &result.shape, result.before);
                }
                return;
            }
            settle(to, results, &result.shape, result.before, self.config.copy_threads);
        }
    }

    /// Whether a result of which some bytes come back can be stored while it arrives: pieces must not cut
    /// elements.
    fn settles_through(&mut self, r: &Returning<'_>) -> bool {
        let cut = match r.shape {
            Shape::Changed { element } => {
                !element.is_power_of_two() || element > 4096 || !r.bytes.is_multiple_of(element)
            }
            _ => false,
        };
        !cut && r.rows.is_none() && self.queue.copies_through(r.bytes)
    }

    /// Stores a result of which some bytes come back while it arrives. An error: nothing was stored.
    ///
    /// # Safety
    /// The promise about the written ranges.
    unsafe fn settle_through(&mut self, r: &Returning<'_>) -> Result<()> {
        self.check_copy_out()?;
        let packed = packed::of(r.to.addr() as u64);
        let place = Target::new(r.to, packed.as_deref());
        let (stored, shape, before) = (AtomicBool::new(false), &r.shape, r.before);
        let store = |offset: usize, piece: &[u8]| {
            stored.store(true, Ordering::Relaxed);
            // SAFETY: the caller's promise; the shape was checked at the beginning, the piece lies in the
            // range.
            unsafe { settle_part(place, offset, piece, shape, before) };
        };
        // SAFETY: the array's allocation.
        match unsafe { self.queue.copy_through(r.from, r.bytes, &store) } {
            Err(error) if stored.load(Ordering::Relaxed) => lost(self.scop, &error),
            settled => settled,
        }
    }

    /// Stores a result that is made of narrow rows, as many at once as land together. An error: nothing was
    /// stored.
    ///
    /// # Safety
    /// The promise about the written ranges.
    unsafe fn settle_rows(&mut self, r: &Returning<'_>, rows: &Rows) -> Result<()> {
        self.check_copy_out()?;
        let packed = packed::of(r.to.addr() as u64);
        let place = Target::new(r.to, packed.as_deref());
        let room = rows.total().min(ROWS_LANDING.max(rows.bytes));
        let landing = self.queue.landing(room)?;
        let (mut landed, mut at, mut stored): (Vec<(u64, Plane)>, u64, bool) = (Vec::new(), 0, false);
        for plane in rows.planes(room / rows.bytes).map(Some).chain([None]) {
            if plane.is_none_or(|plane| at + plane.rows * rows.bytes > room) {
                match unless("landed-rows", || self.queue.synchronize()) {
                    Err(error) if stored => lost(self.scop, &error),
                    waited => waited?,
                }
                for (at, plane) in landed.drain(..) {
                    for row in 0..plane.rows {
                        let from = landing.wrapping_add((at + row * rows.bytes) as usize);
                        // SAFETY: the caller's promise; it has landed there.
                        unsafe {
                            let landed = std::slice::from_raw_parts(from, rows.bytes as usize);
                            let to = (plane.offset + row * rows.pitch()) as usize;
                            match r.shape {
                                Shape::Changed { .. } => settle_part(place, to, landed, &r.shape, r.before),
                                _ => place.store(to, landed),
                            }
                        }
                    }
                }
                (at, stored) = (0, true);
            }
            let Some(plane) = plane else { break };
            let to = landing.wrapping_add(at as usize);
            // SAFETY: the array's allocation; the landing has room.
            match unsafe { self.queue.copy_plane_out(to, r.from, rows, &plane) } {
                Err(error) if stored => lost(self.scop, &error),
                copied => copied?,
            }
            landed.push((at, plane));
            at += plane.rows * rows.bytes;
        }
        Ok(())
    }

    fn check_copy_out(&self) -> Result<()> {
        self.config.faults.check(Operation::Copy)?;
        self.config.faults.check(Operation::CopyOut)
    }

    /// Everything through a buffer: all or nothing.
    unsafe fn staged(&mut self, results: &[Returning<'_>], total: u64) -> Result<()> {
        let all: Vec<&Returning<'_>> = results.iter().collect();
        // SAFETY: the caller's promise.
        unsafe {
            let landing = self.land(&all, total)?;
            self.queue.returning();
            self.settle_all(&all, landing);
        }
        Ok(())
    }

    /// Brings results to the host, one behind the other; nothing of the program's memory is touched.
    ///
    /// # Safety
    /// `total` is the sum of the results' bytes.
    unsafe fn land(&mut self, results: &[&Returning<'_>], total: u64) -> Result<*const u8> {
        let landing = self.queue.landing(total)?;
        let delivered = results.iter().filter(|r| r.shape == Shape::Dense).map(|r| r.bytes).max();
        let helped = delivered.filter(|bytes| *bytes >= HELPED_BYTES);
        if helped.is_some() {
            // Helpers are to wake while the results arrive, not while kernels run.
            self.queue.synchronize()?;
        }
        let mut at = 0;
        for r in results {
            self.check_copy_out()?;
            // SAFETY: the buffer is as long as all results together.
            unsafe { self.queue.copy_out(landing.add(at), r.from, r.bytes) }?;
            at += r.bytes as usize;
        }
        if let Some(bytes) = helped {
            self.queue.expect_delivery(bytes);
        }
        unless("landed", || self.queue.synchronize())?;
        Ok(landing)
    }

    /// # Safety
    /// The promise about the written ranges; `landing` is what [`Back::land`] returned for the same results.
    unsafe fn settle_all(&mut self, results: &[&Returning<'_>], landing: *const u8) {
        let mut at = 0;
        for r in results {
            // SAFETY: the caller's promise.
            unsafe { self.settle(r, landing.add(at)) };
            at += r.bytes as usize;
        }
    }

    /// Straight to the program's memory, but for results of which only some bytes come back.
    unsafe fn direct(&mut self, results: &[Returning<'_>]) -> Result<()> {
        unless("direct-kernels", || self.queue.synchronize())?;
        let (direct, partial): (Vec<_>, Vec<_>) =
            results.iter().partition(|r| r.shape == Shape::Dense && packed::of(r.to.addr() as u64).is_none());
        let mut written = false;
        self.queue.returning();
        // Large ones as they arrive, where the device has a way.
        let mut partial_left = Vec::new();
        for r in partial {
            let rows = self.narrow(r);
            if rows.is_none() && !self.settles_through(r) {
                partial_left.push(r);
                continue;
            }
            // SAFETY: the caller's promise.
            let settled = unsafe {
                match rows {
                    Some(rows) => self.settle_rows(r, &rows),
                    None => self.settle_through(r),
                }
            };
            match settled {
                Err(error) if written => lost(self.scop, &error),
                settled => settled?,
            }
            written = true;
        }
        let partial = partial_left;
        let total = partial.iter().map(|r| r.bytes).fold(0, u64::saturating_add);
        let landing = if partial.is_empty() {
            std::ptr::null()
        } else {
            // SAFETY: the sum of the results' bytes.
            match unsafe { self.land(&partial, total) } {
                Err(error) if written => lost(self.scop, &error),
                landing => landing?,
            }
        };
        for r in direct {
            match self.check_copy_out() {
                Err(error) if written => lost(self.scop, &error),
                checked => checked?,
            }
            written = true;
            // SAFETY: the caller's promise about the written ranges.
            if let Err(error) = unsafe { self.queue.copy_out(r.to, r.from, r.bytes) } {
                lost(self.scop, &error);
            }
        }
        match unless("direct", || self.queue.synchronize()) {
            Err(error) if written => lost(self.scop, &error),
            synchronised => synchronised?,
        }
        // SAFETY: the caller's promise.
        unsafe { self.settle_all(&partial, landing) };
        Ok(())
    }
}
