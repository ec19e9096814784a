//! Arrays that stay on the device between the SCoPs of one activation of a function.
//!
//! Problem: a host loop around several SCoPs copies the same arrays to the device and back each time round, although nobody looks
//! at them in between. Approach: the compiler knows which instructions of the function may touch which arrays, and calls
//! `pollyrs_rt_release` before them; so a SCoP's results may stay on the device until then.
//!
//! What the compiler promises, for an array marked `HELD`: between a SCoP and the next release that names the array's mask, this
//! thread does not touch the array's memory, and does nothing that orders its accesses with another thread's. Functions that call each
//! other may share a hold ([`crate::frame`]). Invariants:
//!
//! * a byte in `valid`, or in a row of `windows`, has on the device the value that this thread would read;
//! * bytes that the device wrote and that did not come back yet are in `dirty`; nothing else is ever stored to the program's
//!   memory, so what other threads write between those bytes stays ([`crate::returned`]);
//! * where `before` is not empty, it holds what was copied in of every valid byte. It can't be refreshed without a copy, so it is
//!   dropped once results came back; valid bytes stay valid, and are copied in again only by who needs a snapshot. There are no `windows` beside it;
//! * entries don't overlap; an execution that touches memory of an entry in another way makes it come back first, or, if it only reads
//!   what another of its arrays writes, gets a copy ([`Hold::copy_beside`]);
//! * all work of a hold goes to one queue, in order: memory that one execution gives back may be used by the next at once.
//!
//! Example: `for (t..) { S1: B = f(A); S2: A = g(B); if (t % 10 == 0) print(A[0]); }`: A is copied in at the first S1, B never; at
//! every tenth step A comes back, and stays valid on the device; B comes back at the end of the function.

use std::time::Instant;

use crate::abi::{Array, Scop};
use crate::config::Config;
use crate::device::Queue;
use crate::error::{Error, Result};
use crate::frame::Masks;
use crate::nvtx::Range;
use crate::profile::{self, Line};
use crate::results::{Back, Returning, lost};
use crate::returned::{Shape, obliterate};
use crate::rows::Rows;
use crate::snapshot::Snapshot;
use crate::spans::{holds, overlaps, unite, without};
use crate::written::Span;
use episode::Episode;

/// Results of different shapes that an entry keeps; more come back.
const MAX_DIRTY: usize = 8;

/// Bytes that the device wrote.
#[derive(Clone, Debug, PartialEq)]
struct Dirty {
    /// The first byte's address in the program's memory.
    start: u64,
    bytes: u64,
    shape: Shape,
}

/// Device memory of a range of the program's.
struct Entry {
    host: Span,
    /// The device address of `host.0`.
    device: u64,
    /// Which of the functions' objects it may belong to.
    masks: Masks,
    /// Ascending, disjoint.
    valid: Vec<Span>,
    /// Windows, of which the rows are valid as well, with the ranges that they lie in.
    windows: Vec<(Span, Rows)>,
    dirty: Vec<Dirty>,
    /// What was copied in, or empty.
    before: Snapshot,
    /// What arrays of the execution under way touch of it, and write.
    uses: Vec<(Span, Option<Span>)>,
    /// The last SCoP that wrote it.
    writer: Option<&'static Scop>,
}

/// See the module documentation.
#[derive(Default)]
pub struct Hold {
    entries: Vec<Entry>,
    /// Of the activation that uses the hold now.
    depth: usize,
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
    /// Of which the next execution is a part.
    episode: Option<Episode>,
}

/// Where an array of an execution lies.
pub enum Place {
    /// In memory of the execution's own; the program's memory is up to date.
    Own,
    /// In memory of the hold; `stale` are the parts to copy in, relative to the array's range, or `window` the rows.
    Entry { device: u64, stale: Vec<(u64, u64)>, window: Option<Rows> },
    /// In memory of the execution's own, filled from that of the hold: [`Hold::copy_beside`].
    Beside,
}

fn range(array: &Array) -> Span {
    (array.start as u64, array.start as u64 + array.bytes)
}

fn written(array: &Array) -> Option<Dirty> {
    let (offset, bytes) = array.out_range()?;
    Some(Dirty { start: array.start as u64 + offset, bytes, shape: array.shape() })
}

fn written_span(array: &Array) -> Option<Span> {
    written(array).map(|result| (result.start, result.start + result.bytes))
}

fn needs_snapshot(array: &Array) -> bool {
    array.out_range().is_some() && matches!(array.shape(), Shape::Changed { .. })
}

impl Entry {
    fn stale(&self, array: &Array) -> Vec<Span> {
        if array.needs_values() { without(range(array), &self.valid) } else { Vec::new() }
    }

    /// An execution uses it.
    fn in_use(&self) -> bool {
        !self.uses.is_empty()
    }

    /// Whether nothing that the execution under way writes is touched by another of its arrays, this one included.
    fn is_apart_from(&self, array: &Array) -> bool {
        let (whole, out) = (range(array), written_span(array));
        self.uses.iter().all(|(used, written)| {
            !written.is_some_and(|span| overlaps(span, whole))
                && !out.is_some_and(|span| overlaps(span, *used))
        })
    }

    /// What comes back.
    fn results(&self) -> impl Iterator<Item = Returning<'_>> {
        self.dirty.iter().map(|result| {
            let offset = result.start - self.host.0;
            let range = offset as usize..(offset + result.bytes) as usize;
            Returning {
                from: self.device + offset,
                to: std::ptr::with_exposed_provenance_mut(result.start as usize),
                bytes: result.bytes,
                shape: result.shape.clone(),
                before: self.before.get(range).unwrap_or_default(),
            }
        })
    }

    /// Whether all of a result comes back anyway: as it is, in a range that is the device's as a whole, or among rows.
    fn is_dirty_with(&self, result: &Dirty) -> bool {
        let span = |dirty: &Dirty| (dirty.start, dirty.start + dirty.bytes);
        let covers = |old: &Dirty| {
            let inside = holds(span(old), span(result));
            match (&old.shape, &result.shape) {
                (Shape::Dense, _) => inside,
                (Shape::Rows(old_rows), Shape::Rows(rows)) => {
                    inside && old_rows.hold(result.start - old.start, rows)
                }
                _ => false,
            }
        };
        self.dirty.iter().any(|old| old == result || covers(old))
    }
}

impl Hold {
    /// Something is on the device, or on its way.
    pub fn holds(&self) -> bool {
        !self.entries.is_empty() || self.copying
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
        let host = range(array);
        let near: Vec<usize> =
            (0..self.entries.len()).filter(|&i| overlaps(self.entries[i].host, host)).collect();
        let fits =
            |entry: &Entry| holds(entry.host, host) && (!needs_snapshot(array) || !entry.before.is_empty());
        if let Some(&i) = near.iter().find(|&&i| self.entries[i].in_use()) {
            // A copy of initial values lies where another array of the execution writes: they can't share memory.
            let apart = self.entries[i].is_apart_from(array);
            let inside = array.held() && near.len() == 1 && fits(&self.entries[i]);
            if inside && (apart || written(array).is_none()) {
                // SAFETY: the caller's promise.
                unsafe { self.bring_windows(config, queue, i, array, !apart) }?;
            }
            if inside && apart {
                return Ok(self.held(i, array, queue));
            }
            if inside && written(array).is_none() {
                self.entries[i].masks.add(self.depth, array.mask());
                return Ok(Place::Beside);
            }
            // SAFETY: the caller's promise.
            unsafe { self.step_aside(config, queue, &near, array) }?;
            return Ok(Place::Own);
        }
        if !array.held() {
            // SAFETY: the caller's promise.
            unsafe { self.drop_entries(config, queue, |i| near.contains(&i)) }?;
            return Ok(Place::Own);
        }
        if let [i] = near[..]
            && holds(self.entries[i].host, host)
        {
            if needs_snapshot(array) && self.entries[i].before.is_empty() {
                // SAFETY: the caller's promise.
                unsafe { self.bring_back(config, queue, |other| other == i) }?;
                self.entries[i].valid.clear();
                self.entries[i].windows.clear();
                let host = self.entries[i].host;
                self.entries[i].before = Snapshot::new(host.1 - host.0)?;
            }
            // SAFETY: the caller's promise.
            unsafe { self.bring_windows(config, queue, i, array, false) }?;
            return Ok(self.held(i, array, queue));
        }
        // SAFETY: the caller's promise.
        unsafe { self.grow(config, queue, &near, array) }?;
        Ok(self.held(self.entries.len() - 1, array, queue))
    }

    /// Makes the last entry one that holds the array and what the entries `near` hold, which it replaces.
    ///
    /// # Safety
    /// What is dirty is writable.
    unsafe fn grow(
        &mut self,
        config: &'static Config,
        queue: &mut dyn Queue,
        near: &[usize],
        array: &Array,
    ) -> Result<()> {
        let hull = near.iter().fold(range(array), |hull, &i| {
            (hull.0.min(self.entries[i].host.0), hull.1.max(self.entries[i].host.1))
        });
        let mut replaced: Vec<Span> = near.iter().map(|&i| self.entries[i].host).collect();
        // With snapshots or windows it would take more than one copy: the host has it all then.
        let apart = |&i: &usize| self.entries[i].before.is_empty() && self.entries[i].windows.is_empty();
        if needs_snapshot(array) || !near.iter().all(apart) {
            // SAFETY: the caller's promise.
            unsafe { self.drop_entries(config, queue, |i| near.contains(&i)) }?;
            replaced.clear();
        }
        let before =
            if needs_snapshot(array) { Snapshot::new(hull.1 - hull.0)? } else { Snapshot::default() };
        let device = match queue.allocate(hull.1 - hull.0, hull.0) {
            Err(Error::OutOfMemory { .. }) => {
                // SAFETY: the caller's promise.
                unsafe { self.drop_entries(config, queue, |_| true) }?;
                replaced.clear();
                queue.allocate(hull.1 - hull.0, hull.0)?
            }
            allocated => allocated?,
        };
        let mut grown = Entry {
            host: hull,
            device,
            masks: Masks::default(),
            valid: Vec::new(),
            windows: Vec::new(),
            dirty: Vec::new(),
            before,
            uses: Vec::new(),
            writer: None,
        };
        // A failing copy leaves the old entries as they are.
        for entry in self.entries.iter().filter(|entry| replaced.contains(&entry.host)) {
            for &(start, end) in &entry.valid {
                let (to, from) = (device + (start - hull.0), entry.device + (start - entry.host.0));
                // SAFETY: parts of the two entries' allocations.
                unsafe { queue.copy_within(to, from, end - start) }?;
                queue.moved(to, from, end - start);
            }
        }
        for i in (0..self.entries.len()).rev() {
            if !replaced.contains(&self.entries[i].host) {
                continue;
            }
            let old = self.entries.swap_remove(i);
            queue.give_back(old.device);
            grown.masks.merge(&old.masks);
            old.valid.into_iter().for_each(|part| unite(&mut grown.valid, part));
            grown.dirty.extend(old.dirty);
            grown.writer = grown.writer.or(old.writer);
        }
        self.entries.push(grown);
        Ok(())
    }

    fn held(&mut self, i: usize, array: &Array, queue: &dyn Queue) -> Place {
        let entry = &mut self.entries[i];
        entry.masks.add(self.depth, array.mask());
        entry.uses.push((range(array), written_span(array)));
        let start = array.start as u64;
        let (parts, window) = match entry.missing(array, |rows, bytes| queue.prefers(rows, bytes)) {
            Missing::Nothing => (Vec::new(), None),
            Missing::Parts(parts) => (parts, None),
            Missing::Window(rows) => (Vec::new(), Some(rows)),
        };
        Place::Entry {
            device: entry.device + (start - entry.host.0),
            stale: parts.iter().map(|&(from, to)| (from - start, to - from)).collect(),
            window,
        }
    }

    fn entry_of(&mut self, array: &Array) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| holds(entry.host, range(array)))
    }

    /// Copies a part of an array in, through the snapshot where there is one.
    ///
    /// # Safety
    /// The array's range is readable; the array has a place here.
    pub unsafe fn copy_in(
        &mut self,
        queue: &mut dyn Queue,
        array: &Array,
        device: u64,
        (offset, bytes): (u64, u64),
    ) -> Result<()> {
        self.copying = true;
        let start = array.start as u64 + offset;
        let Some(entry) = self.entry_of(array) else { return Err(Error::Internal("no place".into())) };
        let mut from = array.start.cast::<u8>().cast_const().wrapping_add(offset as usize);
        if !entry.before.is_empty() {
            let at = (start - entry.host.0) as usize;
            let part = &mut entry.before[at..at + bytes as usize];
            // SAFETY: the caller's promise; the snapshot has the entry's size.
            unsafe { queue.deliver(part.as_mut_ptr(), from, bytes) };
            from = part.as_ptr();
        }
        // SAFETY: the caller's promise; the snapshot is not touched before the next wait.
        unsafe { queue.copy_in(device + offset, from, bytes) }?;
        unite(&mut entry.valid, (start, start + bytes));
        Ok(())
    }

    /// Whether a launch may change what only the device has.
    pub fn endangers(&self, array: &Array) -> bool {
        let found = self.entries.iter().find(|entry| holds(entry.host, range(array)));
        array.out_range().is_some() && found.is_some_and(|entry| !entry.dirty.is_empty())
    }

    /// An execution succeeded: its results in an array are the device's until they are asked for.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn keep(&mut self, config: &Config, scop: &'static Scop, array: &Array) {
        let Some(at) = self.entries.iter().position(|entry| holds(entry.host, range(array))) else { return };
        let Some(result) = written(array) else { return };
        if config.check.copies {
            // SAFETY: the caller's promise.
            unsafe { obliterate(result.start, result.bytes, &result.shape) };
        }
        let entry = &mut self.entries[at];
        entry.writer = Some(scop);
        if array.window().is_some() {
            entry.add_window(array);
        } else if !array.needs_values() {
            // Written as a whole.
            unite(&mut entry.valid, (result.start, result.start + result.bytes));
        }
        if entry.is_dirty_with(&result) {
            return;
        }
        let within = |old: &Dirty| {
            result.shape == Shape::Dense
                && holds((result.start, result.start + result.bytes), (old.start, old.start + old.bytes))
        };
        entry.dirty.retain(|old| !within(old));
        entry.dirty.push(result);
    }

    /// Behind the last [`Hold::keep`] of an execution, whose results share snapshots: those of entries that have too many come back.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn bound(&mut self, config: &'static Config, queue: &mut dyn Queue) -> Result<()> {
        for at in 0..self.entries.len() {
            if self.entries[at].dirty.len() > MAX_DIRTY {
                // SAFETY: the caller's promise.
                unsafe { self.bring_back(config, queue, |i| i == at) }?;
            }
        }
        Ok(())
    }

    /// An execution ended; `failed`: what the device has of the arrays that it writes is worth nothing.
    pub fn finish(&mut self, queue: &mut dyn Queue, arrays: &[Array], failed: bool) {
        self.entries.iter_mut().for_each(|entry| entry.uses.clear());
        if !failed {
            return;
        }
        queue.discard();
        let written: Vec<Span> =
            arrays.iter().filter(|a| a.held() && a.out_range().is_some()).map(range).collect();
        self.entries.retain(|entry| {
            let worthless = written.iter().any(|&span| overlaps(entry.host, span));
            if worthless {
                queue.give_back(entry.device);
            }
            !worthless
        });
    }

    /// The results of some entries go to the program's memory, with one wait for all.
    ///
    /// # Safety
    /// They are writable.
    unsafe fn bring_back(
        &mut self,
        config: &'static Config,
        queue: &mut dyn Queue,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let start = Instant::now();
        let dirty: Vec<usize> =
            (0..self.entries.len()).filter(|&i| wanted(i) && !self.entries[i].dirty.is_empty()).collect();
        let Some(scop) = dirty.first().and_then(|&i| self.entries[i].writer) else { return Ok(()) };
        let _range = Range::open(|| format!("{}: to the host on demand", profile::title(scop)));
        let results: Vec<Returning<'_>> = dirty.iter().flat_map(|&i| self.entries[i].results()).collect();
        // SAFETY: the caller's promise; shapes were checked when the executions began.
        let bytes = unsafe { Back { config, scop, queue: &mut *queue }.bring(&results) }?;
        self.copying = false;
        for i in dirty {
            let entry = &mut self.entries[i];
            entry.dirty.clear();
            if !entry.before.is_empty() {
                entry.before = Snapshot::default();
            }
        }
        if config.reports() {
            profile::report(config, &Line::returned(scop, queue.label(), start, bytes));
        }
        Ok(())
    }

    /// An array that overlaps entries gets memory of its own, while this execution uses some of them.
    ///
    /// # Safety
    /// What is dirty is writable.
    unsafe fn step_aside(
        &mut self,
        config: &'static Config,
        queue: &mut dyn Queue,
        near: &[usize],
        array: &Array,
    ) -> Result<()> {
        // Bringing back would end a snapshot that this execution needs.
        let snapshot = |e: &Entry| e.in_use() && !e.before.is_empty() && !e.dirty.is_empty();
        if near.iter().any(|&i| snapshot(&self.entries[i])) {
            return Err(Error::Awaited);
        }
        // What the array writes comes back at the end of the execution, past the entries.
        if let Some(result) = written(array) {
            let span = (result.start, result.start + result.bytes);
            for &i in near {
                let valid = std::mem::take(&mut self.entries[i].valid);
                self.entries[i].valid = valid.into_iter().flat_map(|part| without(part, &[span])).collect();
                self.entries[i].windows.retain(|(whole, _)| !overlaps(*whole, span));
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.drop_entries(config, queue, |i| near.contains(&i)) }
    }

    /// # Safety
    /// What is dirty is writable.
    unsafe fn drop_entries(
        &mut self,
        config: &'static Config,
        queue: &mut dyn Queue,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.bring_back(config, queue, &wanted) }?;
        for i in (0..self.entries.len()).rev() {
            if wanted(i) && !self.entries[i].in_use() {
                let entry = self.entries.swap_remove(i);
                queue.give_back(entry.device);
            }
        }
        Ok(())
    }

    /// The program is about to read objects of `read` and to write objects of `write`.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn release(&mut self, config: &'static Config, read: u32, write: u32) {
        if self.missed_mask & write != 0 {
            (self.missed, self.missed_mask, self.missed_back) = (0.0, 0, 0.0);
        } else if self.missed_mask & read != 0 {
            self.missed = (self.missed - self.missed_back).max(0.0);
        }
        // SAFETY: the caller's promise.
        unsafe { self.let_go(config, read, write) };
        self.written_to(write);
    }

    /// As [`Hold::release`], but the program itself does nothing.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn let_go(&mut self, config: &'static Config, read: u32, write: u32) {
        let depth = self.depth;
        let met = |mask| self.entries.iter().map(|entry| entry.masks.met(depth, mask)).collect::<Vec<_>>();
        let (read, written) = (met(read), met(write));
        // SAFETY: the caller's promise.
        unsafe { self.part_with(config, &read, &written, write != 0) };
    }

    /// Some entries come back, and those of `written` with them and go; `writes`: the program is about to write.
    ///
    /// # Safety
    /// What is dirty is writable.
    unsafe fn part_with(&mut self, config: &'static Config, read: &[bool], written: &[bool], writes: bool) {
        let Some(mut queue) = self.queue.take() else { return };
        // SAFETY: the caller's promise.
        let mut ended = unsafe { self.bring_back(config, &mut *queue, |i| read[i] || written[i]) };
        if ended.is_ok() && self.copying && writes {
            // The driver may still read what the program is about to write.
            ended = queue.synchronize();
            self.copying = false;
        }
        if let Err(error) = ended {
            let scop = self.entries.iter().filter(|entry| !entry.dirty.is_empty()).find_map(|e| e.writer);
            if let Some(scop) = scop {
                lost(scop, &error);
            }
        }
        self.settled(&mut *queue, |i| read[i] || written[i]);
        let mut dropped = written.iter();
        self.entries.retain(|entry| {
            let dropped = dropped.next() == Some(&true);
            if dropped {
                queue.give_back(entry.device);
            }
            !dropped
        });
        // Without a queue nothing is left of the driver: the program may fork.
        if !self.entries.is_empty() {
            self.queue = Some(queue);
        }
    }

    /// The activation at `depth` uses the hold from now on; those that it called are over.
    pub fn turn_to(&mut self, depth: usize) {
        if depth < self.depth {
            self.entries.iter_mut().for_each(|entry| entry.masks.cut(depth));
        }
        self.depth = depth;
    }

    /// The activation that uses the hold returns; see [`Masks::hand_over`]. What the caller doesn't know goes.
    ///
    /// # Safety
    /// What is dirty is writable.
    pub unsafe fn hand_over(&mut self, config: &'static Config, known: &[u32]) {
        let depth = self.depth;
        let unknown: Vec<bool> =
            self.entries.iter_mut().map(|entry| !entry.masks.hand_over(depth, known)).collect();
        if unknown.contains(&true) {
            // SAFETY: the caller's promise.
            unsafe { self.part_with(config, &unknown, &unknown, true) };
        }
        // The numbers mean nothing to the caller: any write ends what adds up.
        self.missed_mask = if self.missed_mask == 0 { 0 } else { u32::MAX };
        if let Some(episode) = &mut self.episode {
            episode.foreign();
        }
        self.turn_to(depth.saturating_sub(1));
    }
}

mod beside;
mod discard;
mod episode;
mod windows;
mod worth;

use windows::Missing;
