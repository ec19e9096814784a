//! A queue as one of several devices' ([`crate::group`]).
//!
//! Invariant: what a device gives to another one is ordered by events: the copy, on the stream of the device
//! that gets it, waits for all that was in the giving one's stream, which goes on behind the copy only.
//! Between [`Member::fork_beside`] and [`Member::join_beside`] copies are on the first of the queue's lanes.

use super::CudaQueue;
use crate::base::error::{Error, Result};
use crate::base::planted::unless;
use crate::driver::Handle;
use crate::gpu::lanes::Lanes;
use crate::group::Member;

impl CudaQueue {
    /// Where copies from other devices go.
    fn exchange(&self) -> Handle {
        self.lanes.as_ref().and_then(Lanes::exchange).unwrap_or(self.stream)
    }
}

impl Member for CudaQueue {
    const SHARED_COPY: u64 = 8 << 20;
    const LINKS: bool = true;

    fn mark(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        let stream = self.exchange();
        self.exchange_times.end(self.device, stream);
        // SAFETY: a stream of the queue.
        unsafe { self.marked.set(self.device, stream) }
    }

    fn fork_beside(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        self.exchange_times.end(self.device, self.stream);
        if self.lanes.is_none() {
            self.lanes = Some(Lanes::open(self.device)?);
        }
        self.pending = true;
        self.lanes.as_mut().map_or(Ok(()), |lanes| lanes.fork_beside(self.device, self.stream))
    }

    fn join_beside(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        self.lane = None;
        let Some(lanes) = &mut self.lanes else { return Ok(()) };
        // What the stream may not wait for is waited for here: memory that it uses may go to others soon.
        let joined = lanes.join_beside(self.device, self.stream);
        joined.or_else(|error| lanes.drain(self.device).and(Err(error)))
    }

    fn launch_beside(&mut self, number: usize) -> Result<()> {
        let _current = self.stream_ready()?;
        let (Some(lanes), Some(marked)) = (&self.lanes, self.marked.event()) else {
            return Err(Error::Internal("a launch beside a stream without a fork".into()));
        };
        self.lane = Some(lanes.beside(self.device, number, marked)?);
        Ok(())
    }

    fn await_member(&mut self, other: &Self) -> Result<()> {
        let Some(event) = other.marked.event() else { return Err(Error::Internal("no mark".into())) };
        let _current = self.stream_ready()?;
        self.pending = true;
        let (api, stream) = (self.device.api(), self.exchange());
        self.exchange_times.wait(self.device, stream, stream != self.stream);
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
        let stream = self.exchange();
        self.exchange_times.copy(self.device, stream);
        let (own, theirs) = (self.device.context().handle(), other.device.context().handle());
        // SAFETY: the caller's promise; a live stream.
        let copied = unsafe { self.device.api().copy_between(to, own, from, theirs, bytes as usize, stream) };
        self.device.note(copied)
    }
}
