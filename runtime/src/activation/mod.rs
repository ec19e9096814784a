//! Arrays that stay on the device between the SCoPs of one activation of a function.
//!
//! Problem: a host loop around several SCoPs copies the same arrays to the device and back each time round,
//! although nobody looks at them in between. Approach: the compiler knows which instructions of the function
//! may touch which arrays, and calls `pollyrs_rt_release` before them; so a SCoP's results may stay on the
//! device until then.
//!
//! Which bytes are where, and when they move, is decided by a state machine ([`crate::residency`], with all
//! invariants); here its copies are carried out (`carrier`). What is left for this module:
//!
//! * all work of a hold goes to one queue, in order: memory that one execution gives back may be used by the
//!   next at once;
//! * while copies to the device may still read the program's memory (`copying`), the program does not write;
//! * memory that has two addresses is not kept: the kernel is asked once for each entry
//!   ([`crate::memory::mappings`]), before the execution begins;
//! * results that are lost end the program.
//!
//! Functions that call each other may share a hold ([`crate::activation::frame`]).
//!
//! Example: `for (t..) { S1: B = f(A); S2: A = g(B); if (t % 10 == 0) print(A[0]); }`: A is copied in at the
//! first S1, B never; at every tenth step A comes back, and stays valid on the device; B comes back at the
//! end of the function.

pub mod asked;
mod carrier;
mod episode;
pub mod frame;
mod worth;

use std::collections::BTreeMap;

use crate::base::abi::{Array, Scop};
use crate::base::caller::fatal;
use crate::base::config::Config;
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::rows::Rows;
use crate::base::spans::{Span, overlaps, unite};
use crate::device::Queue;
use crate::device::results::lost;
use crate::device::returned::obliterate;
use crate::device::snapshot::Snapshot;
use crate::memory::{guarded, packed};
use crate::residency::{Carrier, Dirty, Found, Place, Question, Residency, Strip};
use carrier::Books;
use episode::Episode;

/// The bytes that are copied while a look waits: ten microseconds at 25 GB/s. So all looks between two
/// executions take at most as long as a copy of everything would.
const LOOK_BYTES: u64 = 1 << 18;

/// Parts of memory that executions touch, which are told apart.
const MAX_TOUCHED: usize = 64;

/// The entries that are of a part of the address space under other addresses.
fn others<W: Copy>(residency: &Residency<W>, part: Span) -> Vec<Span> {
    let clash = |host: &Span| packed::clash(*host, part);
    residency.entries().iter().map(|entry| entry.host).filter(clash).collect()
}

/// Brings what the program is about to read, which has so many `looks` at bytes alone behind it.
fn look<W: Copy>(
    residency: &mut Residency<W>,
    carrier: &mut dyn Carrier<W>,
    strip: &Strip,
    looks: &mut u64,
) -> Result<()> {
    let (lent, snapshot) = residency.lent(strip.span);
    // A copy back takes a snapshot with it, and all of it to the device again.
    let other = if snapshot { *looks } else { (*looks).max(1) };
    if lent <= other.saturating_mul(LOOK_BYTES).saturating_add(strip.equivalent()) {
        return residency.show(carrier, strip.span);
    }
    *looks = looks.saturating_add(1);
    residency.look(carrier, strip)
}

/// See the module documentation.
#[derive(Default)]
pub struct Activation {
    residency: Residency<&'static Scop>,
    /// What was copied in of memory on the device, by its address.
    snapshots: BTreeMap<u64, Snapshot>,
    /// Taken by an execution while it is under way.
    pub queue: Option<Box<dyn Queue>>,
    /// Copies to the device may still read the program's memory.
    pub copying: bool,
    /// Executions on the device.
    executions: u64,
    /// Seconds that executions on the host would have saved on the device, had their arrays been there.
    missed: f64,
    /// The objects that those touched, and the seconds to bring back what they wrote.
    missed_mask: u32,
    missed_back: f64,
    /// Memory of the executions that the next one may share transfers with, ascending and disjoint.
    touched: Vec<Span>,
    /// How often the program looked at bytes alone since the last execution.
    looks: u64,
    /// Of which the next execution is a part.
    episode: Option<Episode>,
}

impl Activation {
    /// The books, and what carries out what they say.
    ///
    /// # Safety
    /// What is dirty is writable, as long as the result lives.
    unsafe fn books<'a>(
        &'a mut self,
        config: &'static Config,
        queue: &'a mut dyn Queue,
    ) -> (&'a mut Residency<&'static Scop>, Books<'a>) {
        let books = Books { config, queue, snapshots: &mut self.snapshots, copying: &mut self.copying };
        (&mut self.residency, books)
    }

    /// Something is on the device, or on its way.
    pub fn holds(&self) -> bool {
        !self.residency.is_empty() || self.copying
    }

    /// Whether there is nothing that could come back, or be known.
    pub fn is_idle(&self) -> bool {
        self.queue.is_none() && !self.holds()
    }

    /// Whether nothing changes, here or on the device, where the program reads and writes objects of `write`.
    /// Loops of the host may ask for each element, so this is asked first.
    #[inline]
    pub fn ignores(&self, write: u32) -> bool {
        self.queue.is_none()
            && self.missed_mask & write == 0
            && !self.episode.as_ref().is_some_and(|episode| episode.ends_by(write))
    }

    /// Whether an array lies in memory that stays, so that the kernel was asked about it.
    pub fn knows(&self, array: &Array) -> bool {
        array.held() && self.residency.entry_for(array).is_some()
    }

    /// Brings memory for an array.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn place(
        &mut self,
        config: &'static Config,
        queue: &mut dyn Queue,
        array: &Array,
    ) -> Result<Place> {
        // SAFETY: the caller's promise.
        let (residency, mut books) = unsafe { self.books(config, queue) };
        // The same memory under other addresses.
        let clashes = residency.entries().iter().map(|entry| packed::clash(entry.host, array.span()));
        let clashes: Vec<bool> = clashes.collect();
        if clashes.contains(&true) && !skips("other-addresses") {
            residency.displace(&mut books, &clashes)?;
        }
        residency.place(&mut books, array)
    }

    /// As [`Activation::copy_in`], of memory that may not be there, by way of a buffer of the range's size
    /// that lives until the queue was waited for.
    ///
    /// # Errors
    /// [`Error::Unreadable`]; others of the queue.
    ///
    /// # Safety
    /// The array has a place here.
    pub unsafe fn copy_guarded(
        &mut self,
        queue: &mut dyn Queue,
        array: &Array,
        device: u64,
        buffer: &mut [u8],
    ) -> Result<u64> {
        self.copying = true;
        let first = array.start as u64;
        let mut copied = 0;
        for (start, end) in self.residency.lacks(array, array.span()) {
            let offset = start - first;
            let part = &mut buffer[offset as usize..(end - first) as usize];
            guarded::copy(part, array.start.cast::<u8>().cast_const().wrapping_add(offset as usize))?;
            // SAFETY: a part of the array's place; the buffer is the caller's promise.
            unsafe { queue.copy_in(device + offset, part.as_ptr(), end - start) }?;
            self.residency.copied_in(array, (start, end));
            copied += end - start;
        }
        Ok(copied)
    }

    /// Copies a part of an array in, through the snapshot where there is one, but for what another array of
    /// the execution brought. The bytes.
    ///
    /// # Safety
    /// The array's range is readable; the array has a place here.
    pub unsafe fn copy_in(
        &mut self,
        queue: &mut dyn Queue,
        array: &Array,
        device: u64,
        (offset, bytes): (u64, u64),
    ) -> Result<u64> {
        self.copying = true;
        let first = array.start as u64;
        let Some(entry) = self.residency.entry_of(array) else {
            return Err(Error::Internal("no place".into()));
        };
        let (memory, begin) = (entry.device, entry.host.0);
        let mut copied = 0;
        for (start, end) in self.residency.lacks(array, (first + offset, first + offset + bytes)) {
            let (offset, bytes) = (start - first, end - start);
            let mut from = array.start.cast::<u8>().cast_const().wrapping_add(offset as usize);
            if let Some(before) = self.snapshots.get_mut(&memory) {
                let part = &mut before[(start - begin) as usize..(end - begin) as usize];
                // SAFETY: the caller's promise; the snapshot has the entry's size.
                unsafe { queue.deliver(part.as_mut_ptr(), from, bytes) };
                queue.unify(part)?;
                from = part.as_ptr();
            }
            // SAFETY: the caller's promise; the snapshot is not touched before the next wait.
            unsafe { queue.copy_in(device + offset, from, bytes) }?;
            self.residency.copied_in(array, (start, end));
            copied += bytes;
        }
        Ok(copied)
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
        // SAFETY: the caller's promise.
        unsafe { queue.copy_rows_in(device, array.start.cast::<u8>().cast_const(), rows) }?;
        self.residency.copied_window(array);
        Ok(())
    }

    /// Fills memory of an execution's own, before its launches, with what an array has in the hold; the rest
    /// comes from the program. The bytes of the latter. Example: `f(n, b, b)` with `out[i] = a[i] + 1`, in a
    /// loop: `b` stays in the hold as `out`, and each execution begins with a copy for `a`.
    ///
    /// # Safety
    /// The array's range is readable; [`Activation::place`] said that it lies beside an entry, and those in
    /// the hold are copied in.
    pub unsafe fn copy_beside(&mut self, queue: &mut dyn Queue, array: &Array, device: u64) -> Result<u64> {
        let host = array.span();
        let filled = self.residency.beside(array).ok_or_else(|| Error::Internal("no place".into()))?;
        for (from, (start, end)) in filled.there {
            // SAFETY: parts of the entry's and of the array's allocation.
            unsafe { queue.copy_within(device + (start - host.0), from, end - start) }?;
        }
        self.copying |= !filled.rest.is_empty();
        let mut bytes = 0;
        for (start, end) in filled.rest {
            let from = array.start.cast::<u8>().cast_const().wrapping_add((start - host.0) as usize);
            // SAFETY: the caller's promise.
            unsafe { queue.copy_in(device + (start - host.0), from, end - start) }?;
            bytes += end - start;
        }
        Ok(bytes)
    }

    /// Whether a launch may change what only the device has.
    pub fn endangers(&self, array: &Array) -> bool {
        self.residency.endangers(array)
    }

    /// An execution succeeded: of each of its arrays, whether its memory is the hold's. Those results are the
    /// device's until they are asked for, the others are in place.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn keep(
        &mut self,
        config: &'static Config,
        queue: &mut dyn Queue,
        scop: &'static Scop,
        arrays: &[(Array, bool)],
    ) -> Result<()> {
        for (array, _) in
            arrays.iter().filter(|(array, stays)| *stays && config.check.copies && array.bytes > 0)
        {
            if let Some(result) = Dirty::of(array) {
                // SAFETY: the caller's promise.
                unsafe { obliterate(result.start, result.bytes, &result.shape) };
            }
        }
        self.looks = 0;
        // SAFETY: the caller's promise.
        let (residency, mut books) = unsafe { self.books(config, queue) };
        residency.ended(&mut books, scop, arrays)
    }

    /// An execution ended; `failed`: what the device has of the arrays that it writes is worth nothing.
    pub fn finish(&mut self, config: &'static Config, queue: &mut dyn Queue, arrays: &[Array], failed: bool) {
        if failed {
            queue.discard();
        }
        // SAFETY: nothing comes back.
        let (residency, mut books) = unsafe { self.books(config, queue) };
        residency.finish(&mut books, arrays, failed);
        self.check(config);
    }

    /// The checked device: the invariants hold.
    fn check(&self, config: &Config) {
        if config.check.copies
            && let Err(problem) = self.residency.check()
        {
            fatal(&format!("the books of what stays on the device are wrong: {problem}"));
        }
    }

    /// The program is about to read objects of `read` and to write objects of `write`.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn release(&mut self, config: &'static Config, read: u32, write: u32) {
        if self.missed_mask & write != 0 {
            self.forget_missed();
        } else if self.missed_mask & read != 0 {
            self.missed = (self.missed - self.missed_back).max(0.0);
        }
        // SAFETY: the caller's promise.
        unsafe { self.let_go(config, read, write) };
        self.written_to(write);
    }

    /// The program is about to read a strip of the address space, which comes back alone where that is less
    /// work than all that lies beside it; or, if `write` is not 0, to write it, which may be of these
    /// objects.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn access(&mut self, config: &'static Config, strip: &Strip, write: u32) {
        let (writes, part) = (write != 0, strip.span);
        let touches = writes && self.touched.iter().any(|touched| overlaps(*touched, part));
        if touches && self.missed_mask & write != 0 {
            self.forget_missed();
        }
        let mut looks = self.looks;
        // SAFETY: the caller's promise.
        unsafe {
            self.with_books(config, writes, |residency, books| {
                for other in others(residency, part) {
                    if writes { residency.write(books, other) } else { residency.show(books, other) }?;
                }
                if writes { residency.write(books, part) } else { look(residency, books, strip, &mut looks) }
            });
        }
        self.looks = looks;
        if touches {
            self.written_to(write);
        }
    }

    fn forget_missed(&mut self) {
        (self.missed, self.missed_mask, self.missed_back) = (0.0, 0, 0.0);
    }

    /// An execution touches arrays, on either side.
    fn touch(&mut self, arrays: &[Array]) {
        if self.episode.is_none() && self.missed_mask == 0 {
            self.touched.clear();
        }
        for array in arrays.iter().filter(|array| array.held()) {
            unite(&mut self.touched, array.span());
        }
        if self.touched.len() > MAX_TOUCHED {
            let hull = |a: Span, b: &Span| (a.0.min(b.0), a.1.max(b.1));
            self.touched = vec![self.touched.iter().fold(self.touched[0], hull)];
        }
    }

    /// The ends of integers in a part of the address space, as `look` finds them in the program's memory:
    /// what the device alone has of it comes back before, and stays. Where the device has the same as the
    /// program, nobody looks twice.
    ///
    /// # Errors
    /// Those of `look`.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn inspect(
        &mut self,
        config: &'static Config,
        (part, question, mask): (Span, Question, u32),
        look: impl FnOnce() -> Result<(i64, i64)>,
    ) -> Result<(i64, i64)> {
        if let Some(ends) = self.residency.known(part, &question, mask) {
            return Ok(ends);
        }
        // SAFETY: the caller's promise.
        unsafe {
            self.with_books(config, false, |residency, books| {
                let mut parts = others(residency, part).into_iter().chain([part]);
                parts.try_for_each(|part| residency.show(books, part))
            });
        }
        look()
    }

    /// The execution that inspections were made for succeeded: what they found is known where the device has
    /// the same now.
    pub fn learn(&mut self, found: &[Found]) {
        for found in found {
            self.residency.learn(found);
        }
    }

    /// As [`Activation::release`], but the program itself does nothing.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn let_go(&mut self, config: &'static Config, read: u32, write: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            self.with_books(config, write != 0, |residency, books| residency.release(books, read, write));
        }
    }

    /// Changes the books, where something is on the device; `writes`: the program is about to write.
    ///
    /// # Safety
    /// What is dirty is writable.
    unsafe fn with_books(
        &mut self,
        config: &'static Config,
        writes: bool,
        change: impl FnOnce(&mut Residency<&'static Scop>, &mut Books<'_>) -> Result<()>,
    ) {
        let Some(mut queue) = self.queue.take() else { return };
        // SAFETY: the caller's promise.
        let (residency, mut books) = unsafe { self.books(config, &mut *queue) };
        let mut ended = change(residency, &mut books);
        if self.copying && writes {
            // The driver may still read what the program is about to write.
            ended = ended.and(queue.synchronize());
            self.copying = false;
        }
        if let Err(error) = ended
            && let Some(scop) = self.residency.writer()
        {
            lost(scop, &error);
        }
        self.check(config);
        // Without a queue nothing is left of the driver: the program may fork.
        if !self.residency.is_empty() {
            self.queue = Some(queue);
        }
    }

    /// The program is about to free the objects of `dead`; their release follows. What lies in no others
    /// goes, without a copy.
    pub fn discard(&mut self, config: &'static Config, dead: u32) {
        let Some(mut queue) = self.queue.take() else { return };
        // The driver may still read a snapshot. If it fails, the release will find out.
        let idle = !self.copying || queue.synchronize().is_ok();
        self.copying &= !idle;
        if idle {
            // SAFETY: nothing comes back.
            let (residency, mut books) = unsafe { self.books(config, &mut *queue) };
            residency.discard(&mut books, dead);
        }
        self.queue = Some(queue);
    }

    /// The activation at `depth` uses the hold from now on; those that it called are over.
    pub fn turn_to(&mut self, depth: usize) {
        self.residency.turn_to(depth);
    }

    /// The activation that uses the hold returns; see [`crate::residency::masks::Masks::hand_over`]. What the
    /// caller doesn't know goes.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn hand_over(&mut self, config: &'static Config, known: &[u32]) {
        let depth = self.residency.depth();
        if let Some(unknown) = self.residency.hand_over(known) {
            // SAFETY: the caller's promise.
            unsafe {
                self.with_books(config, true, |residency, books| residency.drop_these(books, &unknown))
            };
        }
        self.residency.turn_to(depth.saturating_sub(1));
        // The numbers mean nothing to the caller: any write ends what adds up.
        self.missed_mask = if self.missed_mask == 0 { 0 } else { u32::MAX };
        if let Some(episode) = &mut self.episode {
            episode.foreign();
        }
    }
}
