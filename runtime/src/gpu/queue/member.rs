//! A queue as one of several devices' ([`crate::group`]).
//!
//! Invariant: what a device gives to another one is ordered by events: the copy, on the stream of the device
//! that gets it, waits for all that was in the giving one's stream, which goes on behind the copy only.

use super::CudaQueue;
use crate::base::error::{Error, Result};
use crate::base::planted::unless;
use crate::group::Member;

impl Member for CudaQueue {
    const SHARED_COPY: u64 = 8 << 20;
    const LINKS: bool = true;

    fn mark(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        // SAFETY: the queue's stream.
        unsafe { self.marked.set(self.device, self.stream) }
    }

    fn await_member(&mut self, other: &Self) -> Result<()> {
        let Some(event) = other.marked.event() else { return Err(Error::Internal("no mark".into())) };
        let _current = self.stream_ready()?;
        self.pending = true;
        let (api, stream) = (self.device.api(), self.stream);
        // SAFETY: live event and stream.
        unless("member", || self.device.note(unsafe { api.stream_wait_event(stream, event, 0) }))
    }

    fn room(&mut self, receives: bool, bytes: u64) -> Option<*mut u8> {
        let _current = self.device.current().ok()?;
        self.landings.room(self.device, receives, bytes)
    }

    fn resume(&mut self) {
        self.timer.resume();
    }

    unsafe fn pull(&mut self, to: u64, other: &Self, from: u64, bytes: u64) -> Result<()> {
        let _current = self.stream_ready()?;
        self.pending = true;
        let (own, theirs) = (self.device.context().handle(), other.device.context().handle());
        // SAFETY: the caller's promise; a live stream.
        let copied =
            unsafe { self.device.api().copy_between(to, own, from, theirs, bytes as usize, self.stream) };
        self.device.note(copied)
    }
}
