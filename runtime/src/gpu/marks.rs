//! Events of a queue: what others wait for, and the times of its kernels and exchanges.

use crate::base::error::Result;
use crate::device::Lane;
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
        record(device, event, stream)
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
            let _ = record(device, start, stream);
        }
        self.launched = true;
    }

    /// Something else than launches follows. The context is current.
    ///
    /// # Safety
    /// The stream is live.
    pub unsafe fn end(&mut self, device: &Device, stream: Handle) {
        if let Some((_, end)) = self.events.filter(|_| self.launched && !self.ended) {
            let _ = record(device, end, stream);
            self.ended = true;
        }
    }

    /// All that is in the stream is over. The context is current.
    pub fn read(&mut self, device: &Device) {
        if let Some((start, end)) = self.events.filter(|_| self.ended && self.ms.is_none()) {
            self.ms = elapsed(device, start, end);
        }
    }

    pub fn ms(&self) -> f64 {
        self.ms.unwrap_or(0.0)
    }

    pub fn events(&self) -> impl Iterator<Item = Handle> + use<> {
        self.events.into_iter().flat_map(|(start, end)| [start, end])
    }
}

/// At most so many exchanges of an execution are timed.
const MOST_EXCHANGES: usize = 4096;

/// What a device's exchanges with others took in an execution, if it is wanted.
#[derive(Default)]
pub(super) struct ExchangeTimes {
    wanted: bool,
    exchanges: Vec<Exchange>,
    /// The last one has no end yet.
    open: bool,
    /// Events that nobody waits for.
    spare: Vec<Handle>,
    /// Known after the wait that follows; None: there were too many, or the driver refused.
    lane: Option<Lane>,
}

struct Exchange {
    /// Before the first wait for another device, before the first copy, and behind the last.
    wait: Handle,
    copy: Option<Handle>,
    end: Option<Handle>,
    beside: bool,
}

impl ExchangeTimes {
    pub fn wanted() -> ExchangeTimes {
        ExchangeTimes { wanted: true, ..ExchangeTimes::default() }
    }

    /// For the next execution; what was timed is over.
    pub fn reset(&mut self) {
        let events = |e: Exchange| [Some(e.wait), e.copy, e.end].into_iter().flatten();
        self.spare.extend(self.exchanges.drain(..).flat_map(events));
        (self.open, self.lane) = (false, Some(Lane::default()));
    }

    fn now(&mut self, device: &Device, stream: Handle) -> Option<Handle> {
        let event = self.spare.pop().or_else(|| {
            let mut event = Handle::NULL;
            device.api().event_create(&mut event, 0).ok().map(|()| event)
        })?;
        record(device, event, stream).ok()?;
        Some(event)
    }

    /// A wait for another device follows, `beside` kernels or in front of them. The context is current.
    pub fn wait(&mut self, device: &Device, stream: Handle, beside: bool) {
        if !self.wanted || self.open || self.exchanges.len() >= MOST_EXCHANGES {
            return;
        }
        if let Some(wait) = self.now(device, stream) {
            self.exchanges.push(Exchange { wait, copy: None, end: None, beside });
            self.open = true;
        }
    }

    /// A copy follows. The context is current.
    pub fn copy(&mut self, device: &Device, stream: Handle) {
        if self.open && self.exchanges.last().is_some_and(|last| last.copy.is_none()) {
            let now = self.now(device, stream);
            if let Some(last) = self.exchanges.last_mut() {
                last.copy = now;
            }
        }
    }

    /// Something else follows. The context is current.
    pub fn end(&mut self, device: &Device, stream: Handle) {
        if std::mem::take(&mut self.open) {
            let now = self.now(device, stream);
            if let Some(last) = self.exchanges.last_mut() {
                last.end = now;
            }
        }
    }

    /// All that is in the streams is over. The context is current.
    pub fn read(&mut self, device: &Device) {
        if self.exchanges.is_empty() || self.open {
            return;
        }
        let mut lane = Lane::default();
        let complete = self.exchanges.len() < MOST_EXCHANGES;
        let read = self.exchanges.iter().try_for_each(|exchange| {
            let end = exchange.end?;
            let copy = exchange.copy.unwrap_or(end);
            let (waited, copied) = (elapsed(device, exchange.wait, copy)?, elapsed(device, copy, end)?);
            if exchange.beside {
                lane.beside_ms += waited + copied;
            } else {
                (lane.waiting_ms, lane.copy_ms) = (lane.waiting_ms + waited, lane.copy_ms + copied);
            }
            Some(())
        });
        self.lane = read.filter(|()| complete).map(|()| lane);
    }

    /// Without the time of kernels.
    pub fn lane(&self) -> Option<Lane> {
        self.lane
    }

    pub fn events(&self) -> impl Iterator<Item = Handle> + use<'_> {
        let events = |e: &Exchange| [Some(e.wait), e.copy, e.end].into_iter().flatten();
        self.exchanges.iter().flat_map(events).chain(self.spare.iter().copied())
    }
}

/// Sets an event behind all that is in a stream; both are live. The context is current.
pub(super) fn record(device: &Device, event: Handle, stream: Handle) -> Result<()> {
    // SAFETY: as above.
    device.note(unsafe { device.api().event_record(event, stream) })
}

/// Milliseconds between two live events that are over. The context is current.
pub(super) fn elapsed(device: &Device, start: Handle, end: Handle) -> Option<f64> {
    let mut ms = 0.0;
    // SAFETY: as above.
    unsafe { device.api().event_elapsed(&mut ms, start, end) }.ok()?;
    Some(f64::from(ms))
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
