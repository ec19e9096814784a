//! Fast copies between ordinary memory and the device.
//!
//! Problem: the driver copies pageable memory through a buffer of its own with one thread, at 9.3 GB/s to the device and
//! 17.7 GB/s back on a link that gives pinned memory 55 GB/s. Pinning the program's memory in place costs 37 ms for 1 GiB,
//! more than the transfer itself. Approach: a ring of pinned buffers, allocated once; several threads ([`crate::crew`]) each
//! own a few of them, copy chunk after chunk between the program's memory and a buffer, and let the device copy the other
//! buffers meanwhile.
//!
//! Invariants:
//!
//! * every device copy goes to the stream of the execution, so that it is ordered like a plain copy: after what was queued
//!   before, before what is queued later;
//! * a buffer is written or read by the host only after the event of its last device copy, of whatever execution;
//! * [`Ring::to_device`] has read all of the program's memory when it returns; [`Ring::to_host`] has written all of it;
//! * after an error the stream is drained before anybody else gets the buffers; where that fails as well, they are never
//!   used again.
//!
//! Example: 3 MiB to the device with two threads of two buffers each: chunks of 256, 256, 512, 512, 1024 and 512 KiB. Thread 0
//! takes the first, copies it into its buffer 0, queues the device copy, takes the third (the second went to thread 1) into its
//! buffer 1, then the fifth into buffer 0 again, after that buffer's event.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::crew::Crew;
use crate::cuda::Device;
use crate::device::Store;
use crate::driver::{self, Api, Handle};
use crate::error::{Error, Result};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Copies below this are left to the driver: a pageable copy of this size takes some 45 µs, what a ring saves is spent on
/// events and notifications.
pub const MIN_BYTES: u64 = 512 * KIB;
/// Before so many bytes were copied (the next copy counted in) there is no ring: pinning its 32 MiB takes 10 ms, in which the
/// driver alone copies 100 MB; but a program that copies this much is likely to copy more, and has paid 200 ms for its start.
pub const WORTH_BYTES: u64 = 16 * MIB;
/// The size of a buffer, and of the chunks in the middle of a large copy. Measured on 8 cores of a Xeon at 55 GB/s (256 MB in
/// and out, GB/s): 1 MiB 43, 48; 2 MiB 50, 49; 4 MiB 49, 45.
const BUFFER_BYTES: u64 = 2 * MIB;
/// The smallest chunk. The device waits for the first chunk of a copy to it, and the program for the host's part of the last
/// chunk of a copy to the host; so the chunks start, or end, this small.
const MIN_CHUNK: u64 = 256 * KIB;
/// Bytes that make one more thread worth its notification.
const BYTES_A_THREAD: u64 = 512 * KIB;
/// Up to this size the copies into the ring bypass the caches: the device is slow to read lines that some core has written
/// (16 MB: 18 GB/s, bypassing 37; 64 MB: 40 and 44). For larger ones the memory's bandwidth counts (256 MB: 50 and 45).
const STREAMED_BYTES: u64 = 128 * MIB;
/// Buffers a thread: one is filled or emptied, one is under way.
const BUFFERS: usize = 2;

struct Buffer {
    start: *mut u8,
    /// The last device copy of this buffer; set at the first use.
    event: Handle,
}

/// The pinned buffers and the threads that fill and empty them.
pub struct Ring {
    buffers: Vec<Buffer>,
    crew: Crew,
    threads: usize,
    /// The state of some device copy is unknown.
    broken: bool,
}

// SAFETY: pinned memory that its ring alone refers to.
unsafe impl Send for Buffer {}
// SAFETY: a shared reference only gives the addresses; `copy` deals the buffers out to one participant each.
unsafe impl Sync for Buffer {}

/// A direction with its addresses.
#[derive(Clone, Copy)]
enum Way<'a> {
    ToDevice { to: u64, from: *const u8 },
    ToHost { from: u64, store: &'a Store<'a> },
}

/// One copy, cut into chunks.
struct Copy<'a> {
    device: &'a Device,
    stream: Handle,
    way: Way<'a>,
    cut: Cut,
    next: AtomicU64,
    error: OnceLock<Error>,
}

// SAFETY: the chunks of the program's memory are disjoint, and each is dealt out once.
unsafe impl Sync for Copy<'_> {}

impl Ring {
    /// Allocates the buffers; the device's context is current.
    pub fn new(api: &Api, threads: usize) -> Result<Ring> {
        let n = threads * BUFFERS;
        let mut memory = std::ptr::null_mut();
        // SAFETY: an out-pointer to a local variable.
        unsafe { api.host_allocate(&mut memory, n * BUFFER_BYTES as usize, 0) }?;
        let memory = memory.cast::<u8>();
        let mut buffers = Vec::with_capacity(n);
        for index in 0..n {
            let mut event = Handle::NULL;
            // SAFETY: as above.
            if let Err(error) = unsafe { api.event_create(&mut event, driver::EVENT_DISABLE_TIMING) } {
                // SAFETY: nothing refers to the events and the memory yet.
                unsafe {
                    for Buffer { event, .. } in buffers {
                        let _ = api.event_destroy(event);
                    }
                    let _ = api.host_free(memory.cast());
                }
                return Err(error);
            }
            let start = memory.wrapping_add(index * BUFFER_BYTES as usize);
            buffers.push(Buffer { start, event });
        }
        Ok(Ring { buffers, crew: Crew::new(), threads, broken: false })
    }

    pub fn usable(&self) -> bool {
        !self.broken
    }

    /// Copies to the device. The program's memory is free when it returns, the device's is written when the stream gets there.
    ///
    /// # Safety
    /// `from` is readable, `to` lies in an allocation that the stream's work may use.
    pub unsafe fn to_device(
        &mut self,
        device: &Device,
        stream: Handle,
        to: u64,
        from: *const u8,
        bytes: u64,
    ) -> Result<()> {
        self.copy(device, stream, Way::ToDevice { to, from }, bytes)
    }

    /// Waits for the stream's work so far and copies to the host. After an error the first bytes may have been written.
    ///
    /// # Safety
    /// `to` is writable, `from` lies in an allocation that the stream's work may use.
    pub unsafe fn to_host(
        &mut self,
        device: &Device,
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
        unsafe { self.through(device, stream, from, bytes, &store) }
    }

    /// As [`Ring::to_host`], but `store` gets the pieces, in any order and on several threads at once.
    ///
    /// # Safety
    /// `from` lies in an allocation that the stream's work may use.
    pub unsafe fn through(
        &mut self,
        device: &Device,
        stream: Handle,
        from: u64,
        bytes: u64,
        store: &Store<'_>,
    ) -> Result<()> {
        self.copy(device, stream, Way::ToHost { from, store }, bytes)
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
        let participants = self.participants(bytes);
        let cut = Cut::new(bytes, participants, true);
        self.crew.run(participants, &|_| {
            let Places(to, from) = &places;
            while let Some((offset, part)) = cut.chunk(next.fetch_add(1, Ordering::Relaxed)) {
                // SAFETY: inside of the caller's ranges.
                unsafe { std::ptr::copy_nonoverlapping(from.add(offset), to.add(offset), part) };
            }
        })
    }

    fn participants(&self, bytes: u64) -> usize {
        self.threads.min((bytes / BYTES_A_THREAD).max(1) as usize)
    }

    fn copy(&mut self, device: &Device, stream: Handle, way: Way<'_>, bytes: u64) -> Result<()> {
        let participants = self.participants(bytes);
        let cut = Cut::new(bytes, participants, matches!(way, Way::ToHost { .. }));
        let (next, error) = (AtomicU64::new(0), OnceLock::new());
        let copy = Copy { device, stream, way, cut, next, error };
        let buffers = &self.buffers;
        let ran = self.crew.run(participants, &|number| {
            let own = &buffers[number * BUFFERS..(number + 1) * BUFFERS];
            // SAFETY: the callers' promises; each participant has buffers of its own.
            if let Err(error) = unsafe { copy.take_part(own) } {
                let _ = copy.error.set(error);
            }
        });
        let result = ran.and(copy.error.into_inner().map_or(Ok(()), Err));
        if result.is_err() {
            // SAFETY: a live stream.
            self.broken = device.note(unsafe { device.api().stream_synchronize(stream) }).is_err();
        }
        result
    }
}

/// How a copy is cut: chunks of 1, 2, 4, ... times [`MIN_CHUNK`], `same` of each size, up to [`BUFFER_BYTES`]; the other way
/// round if the end is what somebody waits for.
struct Cut {
    bytes: u64,
    same: u64,
    reversed: bool,
    chunks: u64,
}

impl Cut {
    fn new(bytes: u64, participants: usize, reversed: bool) -> Cut {
        let same = participants as u64;
        let mut cut = Cut { bytes, same, reversed, chunks: u64::MAX };
        let (ramp, steps) =
            (same * (BUFFER_BYTES - MIN_CHUNK), u64::from((BUFFER_BYTES / MIN_CHUNK).ilog2()));
        cut.chunks = if bytes > ramp {
            same * steps + (bytes - ramp).div_ceil(BUFFER_BYTES)
        } else {
            // On the ramp there are few.
            (0..).find(|&index| cut.begin(index) >= bytes).unwrap_or(0)
        };
        cut
    }

    /// Where a chunk begins when they are counted from the small ones, were there no end.
    fn begin(&self, index: u64) -> u64 {
        let steps = u64::from((BUFFER_BYTES / MIN_CHUNK).ilog2());
        let step = (index / self.same).min(steps);
        let before = self.same * MIN_CHUNK * ((1 << step) - 1);
        before + (index - step * self.same) * (MIN_CHUNK << step)
    }

    /// Offset and length of a chunk, in the order in which they are dealt out.
    fn chunk(&self, index: u64) -> Option<(usize, usize)> {
        if index >= self.chunks {
            return None;
        }
        let index = if self.reversed { self.chunks - 1 - index } else { index };
        let (begin, end) = (self.begin(index), self.begin(index + 1).min(self.bytes));
        let offset = if self.reversed { self.bytes - end } else { begin };
        Some((offset as usize, (end - begin) as usize))
    }
}

/// Copies into memory that no core reads soon.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`].
unsafe fn copy_streaming(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64; `to` is aligned to 16 where it is streamed to, and all accesses are inside of the ranges.
    unsafe {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        let head = to.align_offset(64).min(bytes);
        std::ptr::copy_nonoverlapping(from, to, head);
        let mut done = head;
        while bytes - done >= 64 {
            let (from, to) = (from.add(done), to.add(done));
            let parts = [0, 16, 32, 48].map(|at| _mm_loadu_si128(from.add(at).cast()));
            for (at, part) in parts.into_iter().enumerate() {
                _mm_stream_si128(to.add(16 * at).cast(), part);
            }
            done += 64;
        }
        std::ptr::copy_nonoverlapping(from.add(done), to.add(done), bytes - done);
        // Before the device is told.
        _mm_sfence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's promise.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes)
    };
}

impl Copy<'_> {
    /// The next chunk: offset and length. None: all are taken, or somebody failed.
    fn take(&self) -> Option<(usize, usize)> {
        if self.error.get().is_some() {
            return None;
        }
        self.cut.chunk(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// # Safety
    /// Nobody else uses these buffers; the addresses are the callers' of [`Ring::copy`].
    unsafe fn take_part(&self, own: &[Buffer]) -> Result<()> {
        let _current = self.device.current()?;
        let api = self.device.api();
        let note = |result| self.device.note(result);
        match self.way {
            Way::ToDevice { to, from } => {
                let streamed = self.cut.bytes <= STREAMED_BYTES;
                for buffer in own.iter().cycle() {
                    let Some((offset, bytes)) = self.take() else { break };
                    // SAFETY: the buffer is this thread's, and free after its event.
                    unsafe {
                        note(api.event_synchronize(buffer.event))?;
                        if streamed {
                            copy_streaming(from.add(offset), buffer.start, bytes);
                        } else {
                            std::ptr::copy_nonoverlapping(from.add(offset), buffer.start, bytes);
                        }
                        let start = buffer.start.cast();
                        note(api.copy_to_device(to + offset as u64, start, bytes, self.stream))?;
                        note(api.event_record(buffer.event, self.stream))?;
                    }
                }
            }
            Way::ToHost { from, store } => {
                // The chunk under way, and its buffer.
                let mut pending: Option<(usize, usize, &Buffer)> = None;
                for buffer in own.iter().cycle() {
                    let taken = self.take();
                    if let Some((offset, bytes)) = taken {
                        // SAFETY: as above.
                        unsafe {
                            note(api.event_synchronize(buffer.event))?;
                            let start = buffer.start.cast();
                            note(api.copy_to_host(start, from + offset as u64, bytes, self.stream))?;
                            note(api.event_record(buffer.event, self.stream))?;
                        }
                    }
                    let next = taken.map(|(offset, bytes)| (offset, bytes, buffer));
                    let Some((offset, bytes, ready)) = std::mem::replace(&mut pending, next) else {
                        if next.is_none() {
                            break;
                        }
                        continue;
                    };
                    // SAFETY: a live event.
                    note(unsafe { api.event_synchronize(ready.event) })?;
                    // SAFETY: the event says that the buffer has arrived; nobody writes it while it is pending.
                    store(offset, unsafe { std::slice::from_raw_parts(ready.start, bytes) });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_and_fit() {
        for participants in [1, 2, 7, 8] {
            for bytes in [1, MIN_CHUNK, MIN_BYTES, MIB + 1, 3 * MIB + 17, 14 * MIB, 16 * MIB, 4096 * MIB + 5]
            {
                for reversed in [false, true] {
                    let cut = Cut::new(bytes, participants, reversed);
                    let mut at = 0;
                    for index in 0..cut.chunks {
                        let (offset, part) = cut.chunk(index).unwrap();
                        assert_eq!(offset, at, "{bytes} {participants} {reversed} {index}");
                        assert!((1..=BUFFER_BYTES as usize).contains(&part));
                        at += part;
                    }
                    assert_eq!((at as u64, cut.chunk(cut.chunks)), (bytes, None));
                }
            }
        }
        let sizes = |reversed| {
            let cut = Cut::new(3 * MIB, 2, reversed);
            (0..cut.chunks).map(|index| cut.chunk(index).unwrap().1 >> 10).collect::<Vec<_>>()
        };
        assert_eq!(sizes(false), [256, 256, 512, 512, 1024, 512]);
        assert_eq!(sizes(true), [512, 1024, 512, 512, 256, 256]);
    }

    #[test]
    fn streaming_copies_every_byte() {
        let from: Vec<u8> = (0..1000u32).map(|i| (i * 7 + i / 256) as u8).collect();
        for (skip, start, bytes) in [(0, 0, 1000), (1, 3, 0), (3, 1, 5), (5, 7, 63), (2, 60, 64), (9, 1, 900)]
        {
            let mut to = vec![0xee; 1100];
            // SAFETY: inside of both vectors.
            unsafe { copy_streaming(from.as_ptr().add(skip), to.as_mut_ptr().add(start), bytes) };
            assert_eq!(to[start..start + bytes], from[skip..skip + bytes]);
            assert!(to[..start].iter().chain(&to[start + bytes..]).all(|&byte| byte == 0xee));
        }
    }
}
