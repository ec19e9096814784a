//! Copies beside kernels: streams of one queue besides its own.
//!
//! Problem: a stream carries out one operation after the other, so that a kernel on it waits for all copies
//! before it, also for those whose data it does not touch. Approach: while an execution's launches are under
//! way, its copies go to a stream of their own; a slice of a launch goes to one of a few lanes, behind the
//! copies so far. Slices are parts of one launch, which do not depend on each other: they may run at once.
//!
//! Invariants:
//!
//! * [`Lanes::fork`] comes first: what follows beside the queue's stream begins after all that was there
//!   before, so that memory which earlier work used is free;
//! * a slice waits for all launches before its own: the queue's stream does so as well when its first slice
//!   is launched, and is asked then;
//! * the queue's stream waits for each slice and, at [`Lanes::join`], for the copies so far; so whoever waits
//!   for the queue's stream has waited for both. An error in between leaves work that nobody waits for:
//!   [`Lanes::drain`];
//! * an event is recorded anew only where its last recording has been waited for, or the driver was told who
//!   waits (`cuStreamWaitEvent` refers to the recording before it).
//!
//! Example: two slices, copies in pieces a and b, then results of the first slice: stream
//! `a, fork | wait slice 0, wait slice 1`; copies `wait fork, b | wait slice 0, results`; lane 0
//! `wait origin, wait fork, slice 0`; lane 1 `wait origin, wait b, slice 1`.

use crate::base::error::{Error, Result};
use crate::base::planted::unless;
use crate::driver::{self, Handle};
use crate::gpu::cuda::Device;
use crate::gpu::marks::{elapsed, record};

/// Slices that may run at once.
const LANES: usize = 4;
/// Launches behind an exchange that may.
const BESIDE: usize = 2;

/// A slice on its way.
struct Slice {
    /// When times are wanted.
    start: Option<Handle>,
    end: Handle,
}

/// See the module documentation.
pub struct Lanes {
    copies: Handle,
    lanes: [Handle; LANES],
    /// Of the last recording that somebody else waits for.
    meeting: Handle,
    /// All launches before the one that is under way in slices.
    origin: Handle,
    slices: Vec<Slice>,
    /// Events that nobody waits for, with times.
    spare: Vec<Handle>,
    /// Copies go beside the queue's stream.
    forked: bool,
    /// Exchanges with other devices do ([`crate::group`]): on the first lane.
    exchanges: bool,
}

impl Lanes {
    /// The device's context is current.
    pub fn open(device: &Device) -> Result<Lanes> {
        let copies = device.stream()?;
        let mut lanes = Lanes {
            copies,
            lanes: [Handle::NULL; LANES],
            meeting: Handle::NULL,
            origin: Handle::NULL,
            slices: Vec::new(),
            spare: Vec::new(),
            forked: false,
            exchanges: false,
        };
        let opened = (|| {
            for lane in &mut lanes.lanes {
                *lane = device.stream()?;
            }
            for event in [&mut lanes.meeting, &mut lanes.origin] {
                device.note(device.api().event_create(event, driver::EVENT_DISABLE_TIMING))?;
            }
            Ok(())
        })();
        match opened {
            Ok(()) => Ok(lanes),
            Err(error) => {
                lanes.close(device);
                Err(error)
            }
        }
    }

    /// Where copies go, if they don't go to the queue's stream.
    pub fn copies(&self) -> Option<Handle> {
        self.forked.then_some(self.copies)
    }

    fn wait(device: &Device, stream: Handle, event: Handle) -> Result<()> {
        // SAFETY: live event and stream.
        device.note(unsafe { device.api().stream_wait_event(stream, event, 0) })
    }

    /// What follows on `stream` waits for what is on `other` so far.
    fn meet(&self, device: &Device, stream: Handle, other: Handle) -> Result<()> {
        record(device, self.meeting, other)?;
        Lanes::wait(device, stream, self.meeting)
    }

    /// From here on copies go beside the queue's stream, behind what is there now.
    pub fn fork(&mut self, device: &Device, stream: Handle) -> Result<()> {
        // (No test tells: what is copied beside kernels is nothing that launches ahead of them touched, and
        // memory goes to others when all is over.)
        self.meet(device, self.copies, stream)?;
        self.forked = true;
        Ok(())
    }

    /// The queue's stream waits for the copies so far.
    pub fn join(&self, device: &Device, stream: Handle) -> Result<()> {
        if self.forked { unless("join", || self.meet(device, stream, self.copies)) } else { Ok(()) }
    }

    /// Copies go to the queue's stream again.
    pub fn gather(&mut self, device: &Device, stream: Handle) -> Result<()> {
        self.join(device, stream)?;
        self.forked = false;
        Ok(())
    }

    /// Launches a slice, by `launch`, behind the copies so far and the launches before its own, of which it
    /// may be the `first` slice.
    pub fn launch(
        &mut self,
        device: &Device,
        stream: Handle,
        (first, times): (bool, bool),
        launch: impl FnOnce(Handle) -> Result<()>,
    ) -> Result<()> {
        let lane = self.lanes[self.slices.len() % LANES];
        if first {
            record(device, self.origin, stream)?;
        }
        unless("slice-origin", || Lanes::wait(device, lane, self.origin))?;
        unless("slice-copies", || self.meet(device, lane, self.copies))?;
        let start = if times { Some(self.event(device)?) } else { None };
        let end = self.event(device)?;
        self.slices.push(Slice { start, end });
        if let Some(start) = start {
            record(device, start, lane)?;
        }
        launch(lane)?;
        record(device, end, lane)?;
        unless("slice-end", || Lanes::wait(device, stream, end))
    }

    /// Where exchanges go, if they don't go to the queue's stream.
    pub fn exchange(&self) -> Option<Handle> {
        self.exchanges.then_some(self.lanes[0])
    }

    /// Exchanges, and what is launched behind them, go beside the queue's stream from here on, behind what is
    /// there now.
    pub fn fork_beside(&mut self, device: &Device, stream: Handle) -> Result<()> {
        self.exchanges = true;
        record(device, self.origin, stream)?;
        self.lanes
            .iter()
            .take(BESIDE)
            .try_for_each(|&lane| unless("beside-fork", || Lanes::wait(device, lane, self.origin)))
    }

    /// The lane for a launch beside the stream; all but the first one, on which they are, wait for the
    /// exchanges.
    pub fn beside(&self, device: &Device, number: usize, exchanged: Handle) -> Result<Handle> {
        let number = number % BESIDE;
        let lane = self.lanes[number];
        if number > 0 {
            unless("beside-exchange", || Lanes::wait(device, lane, exchanged))?;
        }
        Ok(lane)
    }

    /// The queue's stream waits for all of that, and exchanges go there again.
    pub fn join_beside(&mut self, device: &Device, stream: Handle) -> Result<()> {
        self.exchanges = false;
        self.lanes
            .iter()
            .take(BESIDE)
            .try_for_each(|&lane| unless("beside-join", || self.meet(device, stream, lane)))
    }

    fn event(&mut self, device: &Device) -> Result<Handle> {
        if let Some(event) = self.spare.pop() {
            return Ok(event);
        }
        let mut event = Handle::NULL;
        device.note(device.api().event_create(&mut event, 0))?;
        Ok(event)
    }

    /// Whether a slice is over. An error is the next wait's.
    pub fn is_over(&self, device: &Device, slice: usize) -> bool {
        // SAFETY: a live event.
        self.slices.get(slice).is_none_or(|slice| unsafe { device.api().event_query(slice.end) }.is_ok())
    }

    /// Copies that follow wait for a slice.
    pub fn follow(&self, device: &Device, slice: usize) -> Result<()> {
        let slice = self.slices.get(slice).ok_or_else(|| Error::Internal("no such slice".into()))?;
        unless("follow", || Lanes::wait(device, self.copies, slice.end))
    }

    /// Milliseconds in which a slice ran. All are over.
    pub fn kernel_ms(&self, device: &Device) -> f64 {
        let Some(origin) = self.slices.first().and_then(|slice| slice.start) else { return 0.0 };
        let at = |event: Handle| elapsed(device, origin, event).unwrap_or_default();
        let mut spans: Vec<(f64, f64)> =
            self.slices.iter().map(|slice| (slice.start.map_or(0.0, at), at(slice.end))).collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut total, mut until) = (0.0, f64::NEG_INFINITY);
        for (start, end) in spans {
            total += (end - start.max(until)).max(0.0);
            until = until.max(end);
        }
        total
    }

    /// The next execution's work follows; all of the former's is on its way, and the queue's stream waits for
    /// it.
    pub fn reset(&mut self) {
        let events = self.slices.drain(..).flat_map(|slice| slice.start.into_iter().chain([slice.end]));
        self.spare.extend(events);
        self.forked = false;
    }

    /// Waits for everything beside the queue's stream.
    pub fn drain(&self, device: &Device) -> Result<()> {
        for &stream in self.lanes.iter().chain([&self.copies]) {
            // SAFETY: a live stream.
            unless("drain", || device.note(unsafe { device.api().stream_synchronize(stream) }))?;
        }
        Ok(())
    }

    /// Gives streams and events back; their work is over. The context is current.
    pub fn close(mut self, device: &Device) {
        self.reset();
        let streams = self.lanes.iter().chain([&self.copies]).filter(|stream| **stream != Handle::NULL);
        streams.for_each(|&stream| device.give_stream(stream));
        for event in
            self.spare.drain(..).chain([self.meeting, self.origin]).filter(|event| *event != Handle::NULL)
        {
            // SAFETY: a live event that nothing refers to.
            let _ = unsafe { device.api().event_destroy(event) };
        }
    }
}
