//! The work of one execution on a CUDA device.
//!
//! Invariants:
//!
//! * the context is current for the length of a call only: the program may use CUDA itself in between;
//! * nothing is allocated for a launch, and nothing waits: arguments are passed by pointers to slots that are
//!   reused;
//! * what is collected ([`crate::gpu::chain`]) goes to the stream before anything else does: all that puts
//!   something there, or waits, asks [`CudaQueue::stream_ready`] for the context;
//! * memory, landing and stream go back to the device only after a wait; if the wait fails they are never
//!   used again.

use std::ffi::c_uint;
use std::ops::Range;

use crate::base::abi::{Array, Kernel, Scop};
use crate::base::config::Config;
use crate::base::error::{Error, Result};
use crate::base::planted::unless;
use crate::base::rows::{Plane, Rows};
use crate::device::code::ModuleSlot;
use crate::device::code::{Function, Module};
use crate::device::{ALIGNMENT, Adopted, Lane, Queue, Store, WIDEST_ACCESS};
use crate::driver::{Handle, KernelNode, PlaneCopy, PlaneEnd};
use crate::gpu::chain::{Chains, Collected, Launch, Progress, together};
use crate::gpu::context::Current;
use crate::gpu::cuda::Device;
use crate::gpu::landings::Landings;
use crate::gpu::lanes::Lanes;
use crate::gpu::marks::{ExchangeTimes, Mark, Timer};
use crate::gpu::pool::Block;
use crate::gpu::resident::Kept;
use crate::gpu::ring::{self, Neighbours};

mod ending;
mod member;

/// Smaller blocks serve any smaller request.
const MIN_BLOCK: u64 = 4096;

/// One execution on a CUDA device.
pub struct CudaQueue {
    device: &'static Device,
    module: &'static Module,
    scop: &'static Scop,
    stream: Handle,
    blocks: Vec<Block>,
    /// Given back while work might still use it: free for later work of this stream.
    spare: Vec<Block>,
    config: &'static Config,
    /// Of the kernels.
    timer: Timer,
    exchange_times: ExchangeTimes,
    landings: Landings,
    /// Work may be under way.
    pending: bool,
    /// This queue has the table of residents; None: not asked yet.
    has_residents: Option<bool>,
    launches: Launches,
    /// For copies beside kernels; None until there were some.
    lanes: Option<Lanes>,
    /// Where launches go for now, in place of the stream.
    lane: Option<Handle>,
    neighbours: Neighbours,
    /// The words by which blocks of a launch wait for each other: where they are, and how many.
    flags: Option<(u64, u64)>,
    /// Behind the copies to the device that were marked last.
    copied: Mark,
    /// Behind what other devices wait for.
    marked: Mark,
}

/// Launches of an execution on their way to the driver.
#[derive(Default)]
struct Launches {
    /// How many there were, and how they went.
    progress: Progress,
    /// Those that are on no stream yet.
    collected: Collected,
    /// None until there was something for them.
    chains: Option<Chains>,
}

impl CudaQueue {
    pub fn open(
        device: &'static Device,
        scop: &'static Scop,
        module: &'static Module,
        config: &'static Config,
    ) -> Result<CudaQueue> {
        let _current = device.current()?;
        let stream = device.stream()?;
        let mut queue = CudaQueue {
            device,
            module,
            scop,
            stream,
            blocks: Vec::new(),
            spare: Vec::new(),
            config,
            timer: Timer::default(),
            exchange_times: ExchangeTimes::default(),
            landings: Landings::default(),
            pending: false,
            has_residents: None,
            launches: Launches::default(),
            lanes: None,
            lane: None,
            neighbours: Neighbours::default(),
            flags: None,
            copied: Mark::default(),
            marked: Mark::default(),
        };
        if config.reports() {
            queue.timer = Timer::new(device);
            queue.exchange_times = ExchangeTimes::wanted();
        }
        Ok(queue)
    }

    /// The context, with all launches so far in the stream.
    fn stream_ready(&mut self) -> Result<Current<'static>> {
        let current = self.device.current()?;
        unless("collected", || self.send_collected())?;
        Ok(current)
    }

    /// Puts what is collected into the stream. The context is current.
    fn send_collected(&mut self) -> Result<()> {
        if self.launches.collected.is_empty() {
            return Ok(());
        }
        self.pending = true;
        let mut sent = Ok(());
        let mut at = 0;
        while sent.is_ok() && at < self.launches.collected.len() {
            let n = if self.wanted() > 1 {
                together(self.launches.collected.len() - at, self.has_long())
            } else {
                1
            };
            sent = if n > 1 { self.send_chain(at..at + n) } else { self.send_each(at..at + n) };
            self.launches.progress.count(n);
            at += n;
        }
        self.launches.collected.clear();
        sent
    }

    /// How many launches to collect.
    fn wanted(&self) -> usize {
        let wanted = || self.launches.progress.wanted(self.device.made_graphs(), self.has_long());
        if self.device.uses_graphs() && self.lane.is_none() { wanted() } else { 1 }
    }

    fn has_long(&self) -> bool {
        self.launches.chains.as_ref().is_some_and(Chains::long)
    }

    fn send_chain(&mut self, range: Range<usize>) -> Result<()> {
        let device = self.device;
        let chains = self.launches.chains.get_or_insert_with(|| device.chains());
        // SAFETY: functions of loaded modules with arguments by the promise of `launch`, and a live stream.
        let sent = unsafe {
            chains.launch(
                device.api(),
                &self.config.faults,
                self.stream,
                self.launches.collected.kernels(range.clone()),
            )
        };
        match device.note(sent) {
            Ok(()) => Ok(()),
            // Of earlier work.
            Err(error) if device.is_lost() => Err(error),
            Err(_) => {
                device.stop_graphs();
                self.send_each(range)
            }
        }
    }

    fn send_each(&mut self, range: Range<usize>) -> Result<()> {
        for kernel in self.launches.collected.kernels(range) {
            // SAFETY: as for `send_chain`.
            unsafe { send(self.device, &kernel, self.lane.unwrap_or(self.stream)) }?;
        }
        Ok(())
    }

    fn described(&self, kernel: usize, blocks: u64) -> Result<Launch> {
        let (Some(&Function { handle: function, shared_bytes }), Some(description)) =
            (self.module.functions.get(kernel), self.scop.kernels().get(kernel))
        else {
            return Err(Error::Descriptor(format!("no kernel {kernel}")));
        };
        if function == Handle::NULL {
            return Err(Error::Descriptor(format!("kernel {} is not there yet", description.name())));
        }
        let too_large =
            || Error::Launch { kernel: description.name().into_owned(), cause: "more than 2^31 - 1 blocks" };
        let blocks = i32::try_from(blocks).map_err(|_| too_large())? as c_uint;
        Ok(Launch { function, blocks, block: description.block, shared_bytes })
    }

    /// The address of a counter and as many flags as there are blocks, zero for what follows in the stream.
    fn clear_flags(&mut self, blocks: u64) -> Result<u64> {
        let words = blocks + 1;
        let address = match self.flags {
            Some((address, there)) if there >= words => address,
            _ => {
                // The former ones are given back with all memory.
                let words = words.next_power_of_two();
                let address = self.allocate(4 * words, 0)?;
                self.flags = Some((address, words));
                address
            }
        };
        let _current = self.stream_ready()?;
        self.pending = true;
        // SAFETY: so many words of the queue's memory, and a live stream.
        let set = unsafe { self.device.api().memory_set(address, 0, words as usize, self.stream) };
        self.device.note(set)?;
        Ok(address)
    }

    /// Where copies go.
    fn copies(&self) -> Handle {
        self.lanes.as_ref().and_then(Lanes::copies).unwrap_or(self.stream)
    }

    /// Ends the time of the kernels: what follows is something else. The context is current.
    fn end_kernels(&mut self) {
        // SAFETY: the queue's stream.
        unsafe { self.timer.end(self.device, self.stream) };
    }
}

/// Launches a kernel; the driver copies its arguments before it returns.
///
/// # Safety
/// As for `cuLaunchKernel`.
unsafe fn send(device: &Device, kernel: &KernelNode, stream: Handle) -> Result<()> {
    let &KernelNode { function, grid, block, shared_bytes, arguments, extra, .. } = kernel;
    let ([gx, gy, gz], [x, y, z]) = (grid, block);
    // SAFETY: the caller's promise.
    device.note(unsafe {
        device.api().launch(function, gx, gy, gz, x, y, z, shared_bytes, stream, arguments, extra)
    })
}

impl Queue for CudaQueue {
    fn label(&self) -> &'static str {
        "cuda"
    }

    fn memory(&self) -> Option<u64> {
        Some(self.device.memory())
    }

    fn allocate(&mut self, bytes: u64, host: u64) -> Result<u64> {
        let _current = self.device.current()?;
        // Room for any padding, so that the size, and with it what the pool finds, doesn't depend on host
        // addresses.
        let exact = self.device.allocates_exactly();
        let room = if exact { host % WIDEST_ACCESS } else { ALIGNMENT };
        // Kernels may read the rest of an aligned vector that holds an element.
        let size = bytes.checked_add(room).and_then(|s| s.checked_next_multiple_of(WIDEST_ACCESS));
        let size = size.ok_or(Error::OutOfMemory { bytes })?;
        let fits = |block: &Block| !exact && block.size >= size && block.size / 2 <= size.max(MIN_BLOCK);
        let block = match self.spare.iter().position(fits) {
            Some(index) => self.spare.swap_remove(index),
            None => self.device.allocate(size).map_err(|error| match error {
                Error::OutOfMemory { .. } => Error::OutOfMemory { bytes },
                other => other,
            })?,
        };
        self.blocks.push(block);
        Ok(block.address + host % WIDEST_ACCESS)
    }

    fn give_back(&mut self, device: u64) {
        let holds = |block: &Block| (block.address..block.address + block.size).contains(&device);
        if let Some(index) = self.blocks.iter().position(holds) {
            self.spare.push(self.blocks.swap_remove(index));
        }
    }

    fn overlaps(&self) -> bool {
        true
    }

    fn fork(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        if self.lanes.is_none() {
            self.lanes = Some(Lanes::open(self.device)?);
        }
        self.pending = true;
        self.lanes.as_mut().map_or(Ok(()), |lanes| lanes.fork(self.device, self.stream))
    }

    fn join(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        self.lanes.as_ref().map_or(Ok(()), |lanes| lanes.join(self.device, self.stream))
    }

    fn gather(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        self.lanes.as_mut().map_or(Ok(()), |lanes| lanes.gather(self.device, self.stream))
    }

    fn neighbours(&mut self, before: bool, behind: bool) {
        self.neighbours = Neighbours { before, behind };
    }

    unsafe fn launch_slice(
        &mut self,
        kernel: usize,
        blocks: u64,
        arguments: &[u64],
        first: bool,
    ) -> Result<()> {
        if self.scop.kernels().get(kernel).is_some_and(Kernel::is_graph) {
            return Err(Error::Descriptor("a slice of blocks that wait for each other".into()));
        }
        let launch = self.described(kernel, blocks)?;
        let _current = self.stream_ready()?;
        self.pending = true;
        let (device, stream, times) = (self.device, self.stream, self.config.reports());
        let lanes = self.lanes.as_mut().ok_or_else(|| Error::Internal("a slice without a fork".into()))?;
        let mut alone = Collected::default();
        alone.push(launch, arguments);
        let mut kernels = alone.kernels(0..1);
        let Some(kernel) = kernels.next() else { return Ok(()) };
        // SAFETY: the caller's promise; the driver copies the arguments before it returns.
        let launched =
            lanes.launch(device, stream, (first, times), |lane| unsafe { send(device, &kernel, lane) });
        // What the queue's stream may not wait for is waited for here: memory that it uses may go to others
        // soon.
        launched.or_else(|error| lanes.drain(device).and(Err(error)))
    }

    fn is_over(&self, slice: usize) -> bool {
        let over = |lanes: &Lanes| self.device.current().is_ok_and(|_| lanes.is_over(self.device, slice));
        self.lanes.as_ref().is_none_or(over)
    }

    fn follow(&mut self, slice: usize) -> Result<()> {
        let _current = self.device.current()?;
        self.lanes.as_ref().map_or(Ok(()), |lanes| lanes.follow(self.device, slice))
    }

    fn aim(&mut self, scop: &'static Scop, module: &'static ModuleSlot) -> Result<()> {
        self.module = self.device.module(scop, module, self.config)?;
        self.scop = scop;
        self.timer.reset();
        self.exchange_times.reset();
        self.launches.progress = Progress::default();
        if let Some(lanes) = &mut self.lanes {
            lanes.reset();
        }
        Ok(())
    }

    fn adopt(&mut self, array: &Array, whole: bool) -> Result<Option<Adopted>> {
        let _current = self.device.current()?;
        let device = self.device;
        let take = || device.with_residents(|residents| residents.take()) == Some(true);
        if !*self.has_residents.get_or_insert_with(take) {
            return Ok(None);
        }
        let mut dropped = Vec::new();
        let mut kept = device.with_residents(|residents| residents.find(array, whole, &mut dropped));
        dropped.into_iter().for_each(|block| device.give_memory(block));
        if let Some(Kept::Fresh) = kept {
            let size = array.bytes.checked_add(ALIGNMENT).ok_or(Error::OutOfMemory { bytes: array.bytes })?;
            let block = device.allocate(size)?;
            let address = block.address + array.start as u64 % WIDEST_ACCESS;
            kept = device.with_residents(|residents| residents.add(array, block, address));
        }
        let Some(Kept::Yes { device: address, stale }) = kept else { return Ok(None) };
        let start = array.start as u64;
        let stale = stale.into_iter().map(|(from, to)| (from - start, to - from)).collect();
        Ok(Some(Adopted { device: address, stale }))
    }

    fn returning(&mut self) {
        if self.has_residents == Some(true) {
            self.device.with_residents(|residents| residents.returning());
        }
    }

    fn returned(&mut self) {
        if self.has_residents == Some(true) {
            self.device.with_residents(|residents| residents.returned());
        }
    }

    unsafe fn copy_within(&mut self, to: u64, from: u64, bytes: u64) -> Result<()> {
        let _current = self.stream_ready()?;
        self.pending = true;
        // SAFETY: the caller's promise.
        let copied = unsafe { self.device.api().copy_on_device(to, from, bytes as usize, self.stream) };
        self.device.note(copied)
    }

    unsafe fn copy_in(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        let _current = self.stream_ready()?;
        self.pending = true;
        let (device, stream) = (self.device, self.copies());
        let neighbours = std::mem::take(&mut self.neighbours);
        let through_ring = |bytes: u64| {
            // SAFETY: the caller's promise.
            device.with_ring(bytes, |ring| unsafe {
                ring.send(device.context(), stream, to, from, bytes, neighbours)
            })
        };
        let copied = if self.landings.hold(from) { None } else { through_ring(bytes) };
        if let Some(copied) = copied {
            return copied;
        }
        // SAFETY: the caller's promise.
        let copied = unsafe { self.device.api().copy_to_device(to, from.cast(), bytes as usize, stream) };
        self.device.note(copied)
    }

    fn mark_copies(&mut self) -> Result<()> {
        let _current = self.device.current()?;
        // Copies beside kernels are behind those that went before them.
        let copies = self.copies();
        // SAFETY: a stream of the queue.
        unsafe { self.copied.set(self.device, copies) }
    }

    fn await_copies(&mut self) -> Result<()> {
        let _current = self.device.current()?;
        let Some(event) = self.copied.event() else { return Ok(()) };
        // SAFETY: a live event.
        self.device.note(unsafe { self.device.api().event_synchronize(event) })
    }

    unsafe fn copy_rows_in(&mut self, to: u64, from: *const u8, rows: &Rows) -> Result<()> {
        let _current = self.stream_ready()?;
        self.pending = true;
        for plane in rows.planes(u64::MAX) {
            let host = from.wrapping_add(plane.offset as usize).cast_mut();
            let copy = PlaneCopy {
                from: PlaneEnd::host(host, rows.pitch()),
                to: PlaneEnd::device(to + plane.offset, rows.pitch()),
                width: rows.bytes as usize,
                height: plane.rows as usize,
            };
            // SAFETY: the caller's promise; a live stream.
            self.device.note(unsafe { self.device.api().copy_plane(&copy, self.stream) })?;
        }
        Ok(())
    }

    unsafe fn copy_plane_out(&mut self, to: *mut u8, from: u64, rows: &Rows, plane: &Plane) -> Result<()> {
        let _current = self.stream_ready()?;
        self.end_kernels();
        self.pending = true;
        let copy = PlaneCopy {
            from: PlaneEnd::device(from + plane.offset, rows.pitch()),
            to: PlaneEnd::host(to, rows.bytes),
            width: rows.bytes as usize,
            height: plane.rows as usize,
        };
        // SAFETY: the caller's promise; a live stream.
        self.device.note(unsafe { self.device.api().copy_plane(&copy, self.stream) })
    }

    unsafe fn launch(&mut self, kernel: usize, blocks: u64, arguments: &[u64]) -> Result<()> {
        let launch = self.described(kernel, blocks)?;
        match self.scop.kernels().get(kernel) {
            Some(kernel) if kernel.is_graph() => {
                let flags = self.clear_flags(blocks)?;
                self.launches.collected.push(launch, &[arguments, &[flags]].concat());
            }
            _ => self.launches.collected.push(launch, arguments),
        }
        if self.launches.collected.len() < self.wanted() {
            return Ok(());
        }
        let _current = self.device.current()?;
        // SAFETY: the queue's stream.
        unsafe { self.timer.begin(self.device, self.stream) };
        if self.lane.is_none() {
            self.exchange_times.end(self.device, self.stream);
        }
        self.send_collected()
    }

    fn submit(&mut self) -> Result<()> {
        if !self.launches.collected.is_empty() {
            self.stream_ready()?;
        }
        Ok(())
    }

    fn discard(&mut self) {
        self.launches.collected.clear();
    }

    fn synchronize(&mut self) -> Result<()> {
        let _current = self.stream_ready()?;
        self.end_kernels();
        self.exchange_times.end(self.device, self.stream);
        let api = self.device.api();
        // SAFETY: live streams.
        unsafe {
            unless("wait-stream", || self.device.note(api.stream_synchronize(self.stream)))?;
            if let Some(copies) = self.lanes.as_ref().and_then(Lanes::copies) {
                unless("wait-copies", || self.device.note(api.stream_synchronize(copies)))?;
            }
        }
        self.pending = false;
        self.timer.read(self.device);
        self.exchange_times.read(self.device);
        Ok(())
    }

    fn landing(&mut self, bytes: u64) -> Result<*mut u8> {
        let _current = self.device.current()?;
        self.landings.result(self.device, bytes)
    }

    fn expect_delivery(&mut self, bytes: u64) {
        if let Ok(_current) = self.device.current() {
            self.device.with_ring(bytes, |ring| ring.expect(bytes));
        }
    }

    unsafe fn deliver(&mut self, to: *mut u8, from: *const u8, bytes: u64) {
        let mut done = false;
        if bytes >= ring::MIN_BYTES
            && let Ok(_current) = self.device.current()
        {
            // SAFETY: the caller's promise. After an error everything is copied once more.
            let copied = self.device.with_ring(bytes, |ring| unsafe { ring.on_host(to, from, bytes) });
            done = matches!(copied, Some(Ok(())));
        }
        if !done {
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(from, to, bytes as usize) };
        }
    }

    unsafe fn copy_out(&mut self, to: *mut u8, from: u64, bytes: u64) -> Result<()> {
        let _current = self.stream_ready()?;
        self.end_kernels();
        self.pending = true;
        let pinned = self.landings.hold(to);
        let (device, stream) = (self.device, self.copies());
        if !pinned {
            // SAFETY: the caller's promise.
            let copied = device
                .with_ring(bytes, |ring| unsafe { ring.fetch(device.context(), stream, to, from, bytes) });
            if let Some(copied) = copied {
                return copied;
            }
        }
        // SAFETY: the caller's promise.
        let copied = unsafe { self.device.api().copy_to_host(to.cast(), from, bytes as usize, stream) };
        self.device.note(copied)
    }

    fn copies_through(&mut self, bytes: u64) -> bool {
        let ring = || self.device.with_ring(bytes, |_| ());
        self.device.current().is_ok_and(|_current| ring().is_some())
    }

    unsafe fn copy_through(&mut self, from: u64, bytes: u64, store: &Store<'_>) -> Result<()> {
        let _current = self.stream_ready()?;
        self.end_kernels();
        self.pending = true;
        let (device, stream) = (self.device, self.stream);
        // SAFETY: the caller's promise.
        let copied = device
            .with_ring(bytes, |ring| unsafe { ring.through(device.context(), stream, from, bytes, store) });
        copied.unwrap_or_else(|| Err(Error::Internal("the ring broke".into())))
    }

    fn setups(&self) -> u64 {
        self.device.setups()
    }

    fn kernel_ms(&mut self) -> f64 {
        let current = self.device.current();
        let slices = |lanes: &Lanes| if current.is_ok() { lanes.kernel_ms(self.device) } else { 0.0 };
        self.timer.ms() + self.lanes.as_ref().map_or(0.0, slices)
    }

    fn lanes(&mut self) -> Option<Vec<Lane>> {
        let lane = self.exchange_times.lane()?;
        let kernel_ms = (self.kernel_ms() - lane.waiting_ms - lane.copy_ms).max(0.0);
        Some(vec![Lane { kernel_ms, ..lane }])
    }
}
