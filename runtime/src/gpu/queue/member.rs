//! A queue as one of several devices' ([`crate::group`]).
//!
//! Invariant: what a device gives to another one is ordered by events: the copy, on the stream of the device
//! that gets it, waits for all that was in the giving one's stream, which goes on behind the copy only.

use super::CudaQueue;
use crate::base::error::{Error, Result};
use crate::base::planted::unless;
use crate::driver::{self, Handle};
use crate::group::Member;

impl Member for CudaQueue {
    const SHARED_COPY: u64 = 8 << 20;
    const LINKS: bool = true;

    fn mark(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        let api = self.device.api();
        let event = match self.marked {
            Some(event) => event,
            None => {
                let mut event = Handle::NULL;
                // SAFETY: an out-pointer to a local variable.
                self.device.note(unsafe { api.event_create(&mut event, driver::EVENT_DISABLE_TIMING) })?;
                *self.marked.insert(event)
            }
        };
        // SAFETY: live event and stream.
        self.device.note(unsafe { api.event_record(event, self.stream) })
    }

    fn await_member(&mut self, other: &Self) -> Result<()> {
        let Some(event) = other.marked else { return Err(Error::Internal("no mark".into())) };
        let _current = self.stream_ready()?;
        self.pending = true;
        let (api, stream) = (self.device.api(), self.stream);
        // SAFETY: live event and stream.
        unless("member", || self.device.note(unsafe { api.stream_wait_event(stream, event, 0) }))
    }

    fn room(&mut self, receives: bool, bytes: u64) -> Option<*mut u8> {
        let _current = self.device.current().ok()?;
        let room = &mut self.rooms[usize::from(receives)];
        if room.as_ref().is_none_or(|room| room.bytes < bytes) {
            // What was in the former one has been waited for.
            if let Some(room) = room.take() {
                self.device.give_landing(room);
            }
            *room = self.device.landing(bytes);
        }
        self.rooms[usize::from(receives)].as_ref().map(|room| room.start)
    }

    fn resume(&mut self) {
        (self.ended, self.kernel_ms) = (false, None);
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
