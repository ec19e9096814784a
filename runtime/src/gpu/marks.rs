//! Events of a queue: what others wait for, and the time of its kernels.

use crate::base::error::Result;
use crate::driver::{self, Handle};
use crate::gpu::cuda::Device;

/// A place in a stream; it has no event until it was set.
#[derive(Default)]
pub(super) struct Mark(Option<Handle>);

impl Mark {
    /// Sets it behind all that is in the stream. The context is current.
    ///
    /// # Safety
    /// The stream is live.
    pub unsafe fn set(&mut self, device: &Device, stream: Handle) -> Result<()> {
        let api = device.api();
        let event = match self.0 {
            Some(event) => event,
            None => {
                let mut event = Handle::NULL;
                device.note(api.event_create(&mut event, driver::EVENT_DISABLE_TIMING))?;
                *self.0.insert(event)
            }
        };
        // SAFETY: a live event, and the caller's promise.
        device.note(unsafe { api.event_record(event, stream) })
    }

    pub fn event(&self) -> Option<Handle> {
        self.0
    }
}

/// The time of an execution's kernels, if it is wanted.
#[derive(Default)]
pub(super) struct Timer {
    /// In front of the first launch, and behind the last.
    events: Option<(Handle, Handle)>,
    launched: bool,
    /// The second event is in the stream.
    ended: bool,
    /// Known after the first wait that follows the launches.
    ms: Option<f64>,
}

impl Timer {
    /// Without events if the driver refuses, since a missing time is no reason not to run. The context is
    /// current.
    pub fn new(device: &Device) -> Timer {
        Timer { events: events(device), ..Timer::default() }
    }

    /// For the next execution.
    pub fn reset(&mut self) {
        (self.launched, self.ended, self.ms) = (false, false, None);
    }

    /// More launches follow those that were timed.
    pub fn resume(&mut self) {
        (self.ended, self.ms) = (false, None);
    }

    /// A launch follows. The context is current.
    ///
    /// # Safety
    /// The stream is live.
    pub unsafe fn begin(&mut self, device: &Device, stream: Handle) {
        if let (Some((start, _)), false) = (self.events, self.launched) {
            // SAFETY: a live event, and the caller's promise.
            let _ = unsafe { device.api().event_record(start, stream) };
        }
        self.launched = true;
    }

    /// Something else than launches follows. The context is current.
    ///
    /// # Safety
    /// The stream is live.
    pub unsafe fn end(&mut self, device: &Device, stream: Handle) {
        if let Some((_, end)) = self.events.filter(|_| self.launched && !self.ended) {
            // SAFETY: a live event, and the caller's promise.
            let _ = unsafe { device.api().event_record(end, stream) };
            self.ended = true;
        }
    }

    /// All that is in the stream is over. The context is current.
    pub fn read(&mut self, device: &Device) {
        if let Some((start, end)) = self.events.filter(|_| self.ended && self.ms.is_none()) {
            let mut ms = 0.0;
            // SAFETY: live events.
            if unsafe { device.api().event_elapsed(&mut ms, start, end) }.is_ok() {
                self.ms = Some(f64::from(ms));
            }
        }
    }

    pub fn ms(&self) -> f64 {
        self.ms.unwrap_or(0.0)
    }

    pub fn events(&self) -> impl Iterator<Item = Handle> + use<> {
        self.events.into_iter().flat_map(|(start, end)| [start, end])
    }
}

/// Two events with times.
fn events(device: &Device) -> Option<(Handle, Handle)> {
    let (mut start, mut end) = (Handle::NULL, Handle::NULL);
    device.api().event_create(&mut start, 0).ok()?;
    if device.api().event_create(&mut end, 0).is_err() {
        // SAFETY: an event that nothing refers to.
        let _ = unsafe { device.api().event_destroy(start) };
        return None;
    }
    Some((start, end))
}
