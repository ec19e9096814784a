//! Fast copies between ordinary memory and the device.
//!
//! Problem: the driver copies pageable memory through a buffer of its own with one thread, at 9.3 GB/s to the
//! device and 17.7 GB/s back on a link that gives pinned memory 55 GB/s. Pinning the program's memory in
//! place costs 37 ms for 1 GiB, more than the transfer itself. Approach: a copy is cut into slots, which go
//! through a few pinned buffers one after the other; the host's side of a slot is cut into pieces that
//! several threads ([`crate::gpu::crew`]) take in turn, while the device copies other slots.
//!
//! A slot is large, since the link idles for some 3 µs between two copies of the device (2 MiB at once: 92%
//! of the rate of one large copy, 512 KiB 78%); the last ones of a copy, and the first ones to the device,
//! are small, since nothing overlaps with them. Pieces are small, so that all threads end at about the same
//! time, however late some of them woke.
//!
//! The device is slow to read lines that are still in some core's cache (a slot takes half as long again):
//! what goes to it soon after it was written bypasses the caches, that is, the ends of a copy. What waits for
//! its turn has left the caches by then, and plain stores are the faster ones.
//!
//! Invariants:
//!
//! * every device copy goes to the stream of the execution, so that it is ordered like a plain copy: after
//!   what was queued before, before what is queued later;
//! * a buffer is written or read by the host only after the event of its last device copy, of whatever
//!   execution. The next copy of a buffer is queued by who finishes the last piece of its slot: no thread
//!   waits for an event that is recorded anew;
//! * pieces are dealt out in ascending order, and a thread waits only for slots before the one of its piece,
//!   or for who has its slot's first piece: the earliest unfinished piece waits for the device alone;
//! * [`Ring::to_device`] has read all of the program's memory when it returns; [`Ring::fetch`] has written
//!   all of it;
//! * after an error the stream is drained before anybody else gets the buffers; where that fails as well,
//!   they are never used again.
//!
//! Example: 8 MiB to the device: slots of 512 KiB, 1, 2, 2, 1 MiB, and three of 512 KiB. The first one is 8
//! pieces of 64 KiB; who copies the last of them into the first buffer queues its copy to the device. The
//! seventh slot waits until the first one's buffer was read.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::base::error::{Error, Result};
use crate::base::planted::unless;
use crate::device::Store;
use crate::driver::{self, Api, Handle};
use crate::gpu::context::Context;
use crate::gpu::crew::Crew;
use crate::gpu::pinned::Pinned;
use crate::gpu::streaming::copy_streaming;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Copies below this are left to the driver: a pageable copy of this size takes some 45 µs, what a ring saves
/// is spent on events and notifications.
pub const MIN_BYTES: u64 = 512 * KIB;
/// Before so many bytes were copied (the next copy counted in) there is no ring: pinning its 24 MiB takes 9
/// ms, in which the driver alone copies 90 MB; but a program that copies this much is likely to copy more,
/// and has paid 200 ms for its start.
pub const WORTH_BYTES: u64 = 16 * MIB;
/// The size of a buffer, and of the slots in the middle of a large copy.
const BUFFER_BYTES: u64 = 4 * MIB;
/// Buffers: one is filled or emptied, one is under way, the others keep both sides from waiting. Measured for
/// 64 and 256 MB to the host, of the rate of pinned memory: 4 of them 82% and 82%, 6 91% and 95% (12
/// threads).
const BUFFERS: usize = 6;
/// The smallest slots: the first one to the device, and the last ones.
const MIN_SLOT: u64 = 512 * KIB;
/// So near to its ends a copy to the device goes past the caches.
const STREAMED_BYTES: u64 = 4 * BUFFER_BYTES;
/// A piece is a 16th of its slot, but not less than this, and a multiple of it: of no element lie parts in
/// two pieces.
const MIN_PIECE: u64 = 64 * KIB;
/// Bytes that make one more thread worth its notification.
const BYTES_A_THREAD: u64 = 512 * KIB;
/// Looks at a flag of another thread before the processor is left to others.
const LOOKS: u32 = 2000;

struct Buffer {
    start: *mut u8,
    /// The last device copy of this buffer; set at the first use.
    event: Handle,
}

// SAFETY: pinned memory that its ring alone refers to.
unsafe impl Send for Buffer {}
// SAFETY: a shared reference only gives the addresses; each piece of a buffer is dealt out once.
unsafe impl Sync for Buffer {}

/// The pinned buffers and the threads that fill and empty them.
pub struct Ring {
    /// Outer None: not needed yet, inner: the driver has no pinned memory.
    buffers: Option<Option<Vec<Buffer>>>,
    crew: Crew,
    threads: usize,
    /// The state of some device copy is unknown.
    broken: bool,
}

/// Of a copy to the device: whether others come right before it, and behind. Then the link is busy while the
/// host begins, and at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neighbours {
    pub before: bool,
    pub behind: bool,
}

/// A direction with its addresses.
#[derive(Clone, Copy)]
enum Way<'a> {
    ToDevice { to: u64, from: *const u8, neighbours: Neighbours },
    ToHost { from: u64, store: &'a Store<'a> },
}

/// What goes through a buffer at once.
#[derive(Debug)]
struct Slot {
    offset: u64,
    bytes: u64,
    piece: u64,
    /// The number of its first piece.
    first: u64,
    /// Pieces that are not done.
    left: AtomicU32,
    /// Its device copy and the event are in the stream.
    queued: AtomicBool,
    /// Its buffer is free to be filled, or full.
    ready: AtomicBool,
}

/// One copy, cut into slots and pieces.
struct Copy<'a> {
    context: &'a Context,
    stream: Handle,
    way: Way<'a>,
    buffers: &'a [Buffer],
    slots: Vec<Slot>,
    next: AtomicU64,
    /// Somebody failed, or panicked: nobody waits any longer.
    stopped: AtomicBool,
    error: OnceLock<Error>,
}

// SAFETY: the pieces of the program's memory are disjoint, and each is dealt out once.
unsafe impl Sync for Copy<'_> {}

impl Ring {
    pub fn new(threads: usize) -> Ring {
        Ring { buffers: None, crew: Crew::new(), threads, broken: false }
    }

    /// Whether it has buffers; allocates them, with a call of `count`. The device's context is current.
    pub fn has_buffers(&mut self, api: &Api, count: impl FnOnce()) -> bool {
        let buffers = self.buffers.get_or_insert_with(|| {
            count();
            allocate(api).ok()
        });
        buffers.is_some() && !self.broken
    }

    /// Copies to the device. The program's memory is free when it returns, the device's is written when the
    /// stream gets there.
    ///
    /// # Safety
    /// `from` is readable, `to` lies in an allocation that the stream's work may use.
    pub unsafe fn send(
        &mut self,
        context: &Context,
        stream: Handle,
        to: u64,
        from: *const u8,
        bytes: u64,
        neighbours: Neighbours,
    ) -> Result<()> {
        self.copy(context, stream, Way::ToDevice { to, from, neighbours }, bytes)
    }

    /// Waits for the stream's work so far and copies to the host. After an error the first bytes may have
    /// been written.
    ///
    /// # Safety
    /// `to` is writable, `from` lies in an allocation that the stream's work may use.
    pub unsafe fn fetch(
        &mut self,
        context: &Context,
        stream: Handle,
        to: *mut u8,
        from: u64,
        bytes: u64,
    ) -> Result<()> {
        struct Place(*mut u8);
        // SAFETY: a plain address; the pieces are disjoint.
        unsafe impl Sync for Place {}
        let place = Place(to);
        let store = move |offset: usize, piece: &[u8]| {
            let Place(to) = &place;
            // SAFETY: the caller's promise; a piece lies in the range.
            unsafe { to.add(offset).copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
        };
        // SAFETY: the caller's promise.
        unsafe { self.through(context, stream, from, bytes, &store) }
    }

    /// As [`Ring::fetch`], but `store` gets the pieces, in any order and on several threads at once.
    ///
    /// # Safety
    /// `from` lies in an allocation that the stream's work may use.
    pub unsafe fn through(
        &mut self,
        context: &Context,
        stream: Handle,
        from: u64,
        bytes: u64,
        store: &Store<'_>,
    ) -> Result<()> {
        self.copy(context, stream, Way::ToHost { from, store }, bytes)
    }

    /// Copies between places of the host, with all threads where that pays.
    ///
    /// # Safety
    /// As for [`std::ptr::copy_nonoverlapping`].
    pub unsafe fn on_host(&mut self, to: *mut u8, from: *const u8, bytes: u64) -> Result<()> {
        struct Places(*mut u8, *const u8);
        // SAFETY: the parts are disjoint, and each is dealt out once.
        unsafe impl Sync for Places {}
        let (places, next) = (Places(to, from), AtomicU64::new(0));
        let pieces = bytes.div_ceil(HOST_PIECE);
        self.crew.run(participants(self.threads, bytes), &|_| {
            let Places(to, from) = &places;
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= pieces {
                    break;
                }
                let (offset, part) = (at * HOST_PIECE, HOST_PIECE.min(bytes - at * HOST_PIECE));
                // SAFETY: inside of the caller's ranges.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        from.add(offset as usize),
                        to.add(offset as usize),
                        part as usize,
                    )
                };
            }
        })
    }

    /// [`Ring::on_host`] of so many bytes comes soon.
    pub fn expect(&mut self, bytes: u64) {
        self.crew.expect(participants(self.threads, bytes));
    }

    fn copy(&mut self, context: &Context, stream: Handle, way: Way<'_>, bytes: u64) -> Result<()> {
        let Some(Some(buffers)) = &self.buffers else {
            return Err(Error::Internal("a ring without buffers".into()));
        };
        let copy = Copy {
            context,
            stream,
            way,
            buffers,
            slots: slots(bytes, way.neighbours()),
            next: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            error: OnceLock::new(),
        };
        let ran = copy.begin().and_then(|()| {
            // SAFETY: the callers' promises.
            self.crew.run(participants(self.threads, bytes), &|_| unsafe { copy.take_part() })
        });
        let result = ran.and(copy.error.into_inner().map_or(Ok(()), Err));
        if result.is_err() {
            // SAFETY: a live stream.
            self.broken = context.note(unsafe { context.api().stream_synchronize(stream) }).is_err();
        }
        result
    }
}

/// Pieces of copies that stay on the host.
const HOST_PIECE: u64 = 256 * KIB;

fn participants(threads: usize, bytes: u64) -> usize {
    threads.min((bytes / BYTES_A_THREAD).max(1) as usize)
}

/// The buffers; the device's context is current.
fn allocate(api: &Api) -> Result<Vec<Buffer>> {
    let memory = Pinned::new(api, BUFFERS * BUFFER_BYTES as usize)?;
    let mut buffers = Vec::with_capacity(BUFFERS);
    for index in 0..BUFFERS {
        let mut event = Handle::NULL;
        if let Err(error) = api.event_create(&mut event, driver::EVENT_DISABLE_TIMING) {
            // SAFETY: nothing refers to the events and the memory yet.
            unsafe {
                for Buffer { event, .. } in buffers {
                    let _ = api.event_destroy(event);
                }
                memory.free(api);
            }
            return Err(error);
        }
        let start = memory.start.wrapping_add(index * BUFFER_BYTES as usize);
        buffers.push(Buffer { start, event });
    }
    Ok(buffers)
}

impl Way<'_> {
    /// From the device the host begins late anyway, and catches up.
    fn neighbours(&self) -> Neighbours {
        match self {
            Way::ToDevice { neighbours, .. } => *neighbours,
            Way::ToHost { .. } => Neighbours { before: true, behind: false },
        }
    }
}

/// How a copy is cut: sizes double from [`MIN_SLOT`] to [`BUFFER_BYTES`] and halve again towards the end, but
/// where it has neighbours.
fn slots(bytes: u64, neighbours: Neighbours) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    let growing = if neighbours.before { BUFFER_BYTES } else { MIN_SLOT };
    let (mut offset, mut first, mut growing) = (0, 0, growing);
    while offset < bytes {
        let left = bytes - offset;
        let mut size = growing;
        // At least as much comes after it, until the end.
        while size > MIN_SLOT && left < 2 * size && !neighbours.behind {
            size /= 2;
        }
        let taken = match neighbours.behind {
            true => left.min(size),
            false if left < 2 * MIN_SLOT => left,
            false => size,
        };
        let piece = (size / 16).max(MIN_PIECE);
        let pieces = taken.div_ceil(piece);
        slots.push(Slot {
            offset,
            bytes: taken,
            piece,
            first,
            left: AtomicU32::new(pieces as u32),
            queued: AtomicBool::new(false),
            ready: AtomicBool::new(false),
        });
        offset += taken;
        first += pieces;
        growing = (2 * growing).min(BUFFER_BYTES);
    }
    slots
}

impl Slot {
    fn pieces(&self) -> u64 {
        self.bytes.div_ceil(self.piece)
    }

    /// Offset in the copy and length of the piece of this number.
    fn piece(&self, number: u64) -> (usize, usize) {
        let within = (number - self.first) * self.piece;
        ((self.offset + within) as usize, self.piece.min(self.bytes - within) as usize)
    }
}

/// Ends everybody's waiting if its thread panics.
struct Unwinding<'a>(&'a AtomicBool);

impl Drop for Unwinding<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}

impl Copy<'_> {
    fn buffer(&self, slot: usize) -> &Buffer {
        &self.buffers[slot % BUFFERS]
    }

    /// What can be queued before the host has done anything. The context is current.
    fn begin(&self) -> Result<()> {
        if matches!(self.way, Way::ToHost { .. }) {
            for slot in 0..self.slots.len().min(BUFFERS) {
                self.wait_for_event(slot)?;
                self.queue(slot)?;
            }
        }
        Ok(())
    }

    /// Puts the slot's device copy into the stream. The buffer is free, or filled.
    fn queue(&self, slot: usize) -> Result<()> {
        let (api, buffer, part) = (self.context.api(), self.buffer(slot), &self.slots[slot]);
        let (start, bytes) = (buffer.start.cast(), part.bytes as usize);
        // SAFETY: the callers' promise about the device's memory, and a buffer of this size; a live stream.
        let queued = unsafe {
            match self.way {
                Way::ToDevice { to, .. } => api.copy_to_device(to + part.offset, start, bytes, self.stream),
                Way::ToHost { from, .. } => api.copy_to_host(start, from + part.offset, bytes, self.stream),
            }
            .and_then(|()| api.event_record(buffer.event, self.stream))
        };
        self.context.note(queued)?;
        part.queued.store(true, Ordering::Release);
        Ok(())
    }

    fn wait_for_event(&self, slot: usize) -> Result<()> {
        // SAFETY: a live event.
        self.context.note(unsafe { self.context.api().event_synchronize(self.buffer(slot).event) })
    }

    /// Whether the device reads what is written now before it has left the caches.
    fn is_near_an_end(&self, part: &Slot) -> bool {
        let end = self.slots.last().map_or(0, |last| last.offset + last.bytes);
        let Neighbours { before, behind } = self.way.neighbours();
        !before && part.offset < STREAMED_BYTES || !behind && part.offset + part.bytes + STREAMED_BYTES > end
    }

    /// Waits until the slot's buffer is free, or full. False: somebody failed. The driver's lock is asked for
    /// by who has the `first` piece only: it is needed for the copies that are queued meanwhile.
    fn obtain(&self, slot: usize, first: bool) -> Result<bool> {
        let part = &self.slots[slot];
        if !first {
            return Ok(self.comes(&part.ready));
        }
        match (self.way, slot.checked_sub(BUFFERS)) {
            (Way::ToHost { .. }, _) if !self.is_over(slot)? => return Ok(false),
            (Way::ToDevice { .. }, Some(before)) if !self.is_over(before)? => return Ok(false),
            // Of an earlier copy.
            (Way::ToDevice { .. }, None) => unless("ring-former", || self.wait_for_event(slot))?,
            _ => {}
        }
        part.ready.store(true, Ordering::Release);
        Ok(true)
    }

    /// Waits until the slot's device copy is over. False: somebody failed.
    fn is_over(&self, slot: usize) -> Result<bool> {
        if !self.comes(&self.slots[slot].queued) {
            return Ok(false);
        }
        let bug = if matches!(self.way, Way::ToDevice { .. }) { "ring-turn" } else { "ring-arrival" };
        unless(bug, || self.wait_for_event(slot))?;
        Ok(true)
    }

    /// Waits until a flag is set. False: somebody failed.
    fn comes(&self, flag: &AtomicBool) -> bool {
        let mut looks = 0u32;
        while !flag.load(Ordering::Acquire) {
            if self.stopped.load(Ordering::Acquire) {
                return false;
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
        true
    }

    /// Takes pieces until there are none.
    ///
    /// # Safety
    /// The addresses are the callers' of [`Ring::copy`].
    unsafe fn take_part(&self) {
        let _unwinding = Unwinding(&self.stopped);
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { self.take_pieces() } {
            let _ = self.error.set(error);
            self.stopped.store(true, Ordering::Release);
        }
    }

    /// # Safety
    /// As for [`Copy::take_part`].
    unsafe fn take_pieces(&self) -> Result<()> {
        let _current = self.context.current()?;
        let (mut slot, mut mine) = (0, None);
        while !self.stopped.load(Ordering::Acquire) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            while self.slots.get(slot).is_some_and(|part| number >= part.first + part.pieces()) {
                slot += 1;
            }
            let Some(part) = self.slots.get(slot) else { break };
            let buffer = self.buffer(slot);
            let (offset, bytes) = part.piece(number);
            let place = buffer.start.wrapping_add(offset - part.offset as usize);
            match self.way {
                Way::ToDevice { from, .. } => {
                    if mine != Some(slot) && !self.obtain(slot, number == part.first)? {
                        break;
                    }
                    // SAFETY: the caller's promise; the buffer is free, and this piece of it this thread's.
                    unsafe {
                        if self.is_near_an_end(part) {
                            copy_streaming(from.add(offset), place, bytes);
                        } else {
                            std::ptr::copy_nonoverlapping(from.add(offset), place, bytes);
                        }
                    }
                    if part.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                        self.queue(slot)?;
                    }
                }
                Way::ToHost { store, .. } => {
                    if mine != Some(slot) && !self.obtain(slot, number == part.first)? {
                        break;
                    }
                    // SAFETY: the slot has arrived, and nothing is copied to its buffer before all of its
                    // pieces are done.
                    store(offset, unsafe { std::slice::from_raw_parts(place, bytes) });
                    let next = slot + BUFFERS;
                    if part.left.fetch_sub(1, Ordering::AcqRel) == 1 && next < self.slots.len() {
                        self.queue(next)?;
                    }
                }
            }
            mine = Some(slot);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_pieces_cover_and_fit() {
        for bytes in [1, MIN_PIECE, MIN_SLOT, MIN_SLOT + 1, 3 * MIB + 17, 14 * MIB, 16 * MIB, 300 * MIB + 5] {
            for (before, behind) in [(false, false), (true, false), (false, true), (true, true)] {
                let (mut at, mut number) = (0, 0);
                let slots = slots(bytes, Neighbours { before, behind });
                for slot in &slots {
                    assert_eq!((slot.offset, slot.first), (at, number), "{bytes}");
                    assert!((1..=BUFFER_BYTES).contains(&slot.bytes));
                    for _ in 0..slot.pieces() {
                        let (offset, part) = slot.piece(number);
                        assert_eq!(offset as u64, at, "{bytes}");
                        assert!(part > 0 && (offset as u64).is_multiple_of(MIN_PIECE));
                        at += part as u64;
                        number += 1;
                    }
                    assert_eq!(u64::from(slot.left.load(Ordering::Relaxed)), slot.pieces());
                }
                assert_eq!(at, bytes);
                let largest = slots.iter().map(|slot| slot.bytes).max().unwrap();
                assert!(behind || slots.last().unwrap().bytes < 2 * MIN_SLOT, "{bytes}");
                assert!(bytes < 40 * MIB || largest == BUFFER_BYTES);
            }
        }
        let cut = |bytes, before, behind| slots(bytes, Neighbours { before, behind });
        let sizes = |bytes, before, behind| -> Vec<u64> {
            cut(bytes, before, behind).iter().map(|slot| slot.bytes / KIB).collect()
        };
        assert_eq!(sizes(8 * MIB, false, false), [512, 1024, 2048, 2048, 1024, 512, 512, 512]);
        assert_eq!(sizes(8 * MIB, true, false), [4096, 2048, 1024, 512, 512]);
        assert_eq!(sizes(9 * MIB, true, true), [4096, 4096, 1024]);
        // What all threads copy at first, and at last, is cut for all of them.
        assert_eq!(
            (cut(64 * MIB, false, false)[0].pieces(), cut(64 * MIB, true, false)[4].pieces()),
            (8, 16)
        );
    }
}
