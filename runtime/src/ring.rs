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
//! Example: 10 MiB with chunks of 2 MiB and two threads of two buffers each. Thread 0 takes chunk 0, copies it into its buffer
//! 0, queues the device copy, takes chunk 2 (chunk 1 went to thread 1) into buffer 1, then chunk 4 into buffer 0 again, after
//! its event.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::crew::Crew;
use crate::cuda::Device;
use crate::driver::{self, Api, Handle};
use crate::error::{Error, Result};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Copies below this are left to the driver: a pageable copy of this size takes some 30 µs, what a ring saves is spent on
/// events and notifications.
pub const MIN_BYTES: u64 = 512 * KIB;
/// The size of a buffer, and of the chunks of a large copy: 38 µs of the link, far above the 5 µs that queueing a copy and
/// its event take.
const BUFFER_BYTES: u64 = 2 * MIB;
/// The smallest chunk: medium copies are cut so that all threads get something.
const MIN_CHUNK: u64 = 256 * KIB;
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
enum Way {
    ToDevice { to: u64, from: *const u8 },
    ToHost { to: *mut u8, from: u64 },
}

/// One copy, cut into chunks.
struct Copy<'a> {
    device: &'a Device,
    stream: Handle,
    way: Way,
    bytes: u64,
    chunk: u64,
    chunks: u64,
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
        self.copy(device, stream, Way::ToHost { to, from }, bytes)
    }

    /// Copies between places of the host, with all threads where that pays.
    ///
    /// # Safety
    /// As for [`std::ptr::copy_nonoverlapping`].
    pub unsafe fn on_host(&mut self, to: *mut u8, from: *const u8, bytes: u64) -> Result<()> {
        struct Places(*mut u8, *const u8);
        // SAFETY: the parts are disjoint, and each is dealt out once.
        unsafe impl Sync for Places {}
        let (chunk, chunks) = cut(bytes, self.threads);
        let (places, next) = (Places(to, from), AtomicU64::new(0));
        let participants = self.threads.min(chunks as usize);
        self.crew.run(participants, &|_| {
            let Places(to, from) = &places;
            loop {
                let offset = next.fetch_add(1, Ordering::Relaxed).saturating_mul(chunk);
                if offset >= bytes {
                    break;
                }
                let part = chunk.min(bytes - offset) as usize;
                let offset = offset as usize;
                // SAFETY: inside of the caller's ranges.
                unsafe { std::ptr::copy_nonoverlapping(from.add(offset), to.add(offset), part) };
            }
        })
    }

    fn copy(&mut self, device: &Device, stream: Handle, way: Way, bytes: u64) -> Result<()> {
        let (chunk, chunks) = cut(bytes, self.threads);
        let (next, error) = (AtomicU64::new(0), OnceLock::new());
        let copy = Copy { device, stream, way, bytes, chunk, chunks, next, error };
        let participants = self.threads.min(chunks as usize);
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

/// The size and number of chunks of a copy by `threads` threads.
fn cut(bytes: u64, threads: usize) -> (u64, u64) {
    let even = bytes / (threads * BUFFERS) as u64;
    let chunk = even.next_multiple_of(4 * KIB).clamp(MIN_CHUNK, BUFFER_BYTES);
    (chunk, bytes.div_ceil(chunk))
}

impl Copy<'_> {
    /// The next chunk: offset and length. None: all are taken, or somebody failed.
    fn take(&self) -> Option<(usize, usize)> {
        if self.error.get().is_some() {
            return None;
        }
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let offset = (index < self.chunks).then(|| index * self.chunk)?;
        Some((offset as usize, self.chunk.min(self.bytes - offset) as usize))
    }

    /// # Safety
    /// Nobody else uses these buffers; the addresses are the callers' of [`Ring::copy`].
    unsafe fn take_part(&self, own: &[Buffer]) -> Result<()> {
        let _current = self.device.current()?;
        let api = self.device.api();
        let note = |result| self.device.note(result);
        match self.way {
            Way::ToDevice { to, from } => {
                for buffer in own.iter().cycle() {
                    let Some((offset, bytes)) = self.take() else { break };
                    // SAFETY: the buffer is this thread's, and free after its event.
                    unsafe {
                        note(api.event_synchronize(buffer.event))?;
                        std::ptr::copy_nonoverlapping(from.add(offset), buffer.start, bytes);
                        let start = buffer.start.cast();
                        note(api.copy_to_device(to + offset as u64, start, bytes, self.stream))?;
                        note(api.event_record(buffer.event, self.stream))?;
                    }
                }
            }
            Way::ToHost { to, from } => {
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
                    // SAFETY: the event says that the buffer has arrived; the chunk of the program's memory is this thread's.
                    unsafe {
                        note(api.event_synchronize(ready.event))?;
                        std::ptr::copy_nonoverlapping(ready.start, to.add(offset), bytes);
                    }
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
        for threads in [1, 2, 7, 8] {
            for bytes in [1, MIN_CHUNK, MIN_BYTES, MIB + 1, 3 * MIB + 17, 16 * MIB, 4096 * MIB + 5] {
                let (chunk, chunks) = cut(bytes, threads);
                assert!((MIN_CHUNK..=BUFFER_BYTES).contains(&chunk), "{bytes} {threads}: {chunk}");
                assert!(chunk * chunks >= bytes && chunk * (chunks - 1) < bytes, "{bytes} {threads}");
            }
        }
    }
}
