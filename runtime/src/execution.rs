//! One execution of a versioned SCoP: begin, launches, end.
//!
//! Invariants:
//!
//! * host memory is only written in [`Run::end`], after everything on the device has succeeded;
//! * results up to `POLLYRS_RT_STAGING` arrive in a buffer of the library first: then no failure at all can leave the program
//!   with some of its results, and one wait serves kernels and copies. Larger ones are copied to their place, chunk by chunk,
//!   after a wait that reports the kernels' errors; a copy that fails there ends the program, since arrays that are read and
//!   written can't be restored;
//! * whatever happens, dropping the run waits for the device and frees what it holds.
//!
//! Example: `A[i] = A[i-1]` for `i` in `5 .. 10` on doubles touches `A[4] .. A[9]` and writes `A[5] .. A[9]`: `start = &A[4]`,
//! `bytes = 48`, `bias = -32`, `out_offset = 8`, `out_bytes = 40`. The device gets 48 bytes at some `d` with
//! `d = start (mod 256)`, the kernel's argument is `d - 32`, and 40 bytes come back from `d + 8` to `start + 8`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::abi::{ABI_VERSION, ARRAY_SCRATCH, Array, MAX_BLOCK_THREADS, Scop};
use crate::config::{Config, DeviceChoice, Offload, Operation};
use crate::cost::{self, Estimate};
use crate::cuda::Device;
use crate::device::{Adopted, DUMMY_ADDRESS, Queue, buffer};
use crate::emulated::EmulatedQueue;
use crate::error::{Error, Result};
use crate::fatal;
use crate::profile::{self, Line};
use crate::queue::CudaQueue;
use crate::registry::{self, State};
use crate::returned::{Shape, settle, settle_part};

/// An array during an execution.
struct Placed {
    host: Array,
    /// Device address of the touched range.
    device: u64,
    /// What kernels get: the address of the element with all subscripts 0.
    argument: u64,
    /// What of the range is to be copied in, as offset and length; None: all.
    stale: Option<Vec<(u64, u64)>>,
    /// What was copied in, where that is needed to know what changed.
    before: Vec<u8>,
}

/// A result on its way back.
#[derive(Clone)]
struct Returning {
    /// Index of the array.
    array: usize,
    from: u64,
    to: *mut u8,
    bytes: u64,
    shape: Shape,
}

/// Why an execution is on the device, and until when.
struct Chosen {
    state: &'static State,
    estimate: Estimate,
    setups: u64,
}

/// An execution on a device.
pub struct Run {
    config: &'static Config,
    scop: &'static Scop,
    queue: Box<dyn Queue>,
    arrays: Vec<Placed>,
    /// The first error; later operations are left out.
    error: Option<Error>,
    start: Instant,
    /// After driver, code and memory are there.
    ready: Instant,
    /// Where the settings leave the choice to the estimate.
    chosen: Option<Chosen>,
    launches: u64,
    bytes_in: u64,
    bytes_out: u64,
    /// Argument slots, reused by each launch.
    slots: Vec<u64>,
}

/// Picks the device, loads the code, allocates, copies in. An error: the original loop is to run.
///
/// # Safety
/// The arrays' ranges are readable, and stay unchanged until the run ends.
pub unsafe fn begin(
    config: &'static Config,
    scop: &'static Scop,
    work: f64,
    arrays: &[Array],
) -> Result<Run> {
    let start = Instant::now();
    check(config, scop, arrays)?;
    let state = registry::state(scop).ok_or_else(|| Error::Descriptor("no cache slot".into()))?;
    let estimate = choose(config, scop, state, work, arrays)?;
    check_tables(scop, arrays)?;
    let mut run = Run {
        config,
        scop,
        queue: open(config, scop, state)?,
        arrays: Vec::with_capacity(arrays.len()),
        error: None,
        start,
        ready: start,
        chosen: None,
        launches: 0,
        bytes_in: 0,
        bytes_out: 0,
        slots: Vec::new(),
    };
    // All allocations before the first copy: the likeliest failure comes first.
    for array in arrays {
        run.place(*array)?;
    }
    run.ready = Instant::now();
    let setups = run.queue.setups();
    run.chosen = estimate.map(|estimate| Chosen { state, estimate, setups });
    for index in 0..run.arrays.len() {
        // SAFETY: the caller's promise.
        unsafe { run.copy_in(index) }?;
    }
    Ok(run)
}

/// Whether offloading is wanted at all, and what the program passes can be read.
fn check(config: &Config, scop: &Scop, arrays: &[Array]) -> Result<()> {
    if scop.abi_version != ABI_VERSION {
        return Err(Error::Version { found: scop.abi_version, own: ABI_VERSION });
    }
    if let Some(invalid) = &config.invalid {
        return Err(invalid.clone());
    }
    if config.device == DeviceChoice::Off {
        return Err(Error::DeviceOff);
    }
    if config.offload == Offload::Never {
        return Err(Error::Never);
    }
    if arrays.len() != scop.n_arrays as usize {
        let text = format!("{} arrays were declared, {} passed", scop.n_arrays, arrays.len());
        return Err(Error::Descriptor(text));
    }
    Ok(())
}

/// What else can be said without a device.
fn check_tables(scop: &Scop, arrays: &[Array]) -> Result<()> {
    for (index, array) in arrays.iter().enumerate() {
        array
            .check()
            .map_err(|problem| Error::Descriptor(format!("array {} {problem}", scop.array_name(index))))?;
    }
    for kernel in scop.kernels() {
        let threads = kernel.block_threads();
        let text = if !(1..=MAX_BLOCK_THREADS).contains(&threads) {
            format!("kernel {} has {threads} threads a block", kernel.name())
        } else if let Some(index) = kernel.array_index().iter().find(|&&index| index >= scop.n_arrays) {
            format!("kernel {} uses array {index} of {}", kernel.name(), scop.n_arrays)
        } else {
            continue;
        };
        return Err(Error::Descriptor(text));
    }
    Ok(())
}

/// Whether the device is to be used: None if the settings say so, or what favoured it.
fn choose(
    config: &Config,
    scop: &Scop,
    state: &State,
    work: f64,
    arrays: &[Array],
) -> Result<Option<Estimate>> {
    if config.device == DeviceChoice::Emulated || config.offload == Offload::Always {
        return Ok(None);
    }
    let estimate = state.learned.estimate(work, arrays, scop.kernels().len(), config.copy_threads);
    let (gain, host_ms) = (estimate.gain(), estimate.host * 1e3);
    if gain <= 0.0 {
        return Err(Error::NotWorthIt { device_ms: estimate.device * 1e3, host_ms });
    }
    // Both count the gain.
    let loading = Device::knows(&state.module) || state.learned.worth_loading(gain, scop);
    if !registry::cuda_started()
        && let Err(gains) = cost::worth_starting(gain)
    {
        let (gains_ms, price_ms) = (gains * 1e3, cost::STARTUP * 1e3);
        return Err(Error::NotYetStarted { gains_ms, price_ms, host_ms });
    }
    if loading { Ok(Some(estimate)) } else { Err(Error::NotYetLoaded { gain_ms: gain * 1e3, host_ms }) }
}

/// A queue on the device that the settings choose.
fn open(config: &'static Config, scop: &'static Scop, state: &'static State) -> Result<Box<dyn Queue>> {
    if config.device == DeviceChoice::Emulated {
        return Ok(Box::new(EmulatedQueue::open(config, scop)?));
    }
    let device = registry::cuda(config)?;
    let module = device.module(scop, &state.module, config)?;
    Ok(Box::new(CudaQueue::open(device, scop, module, config.reports())?))
}

impl Run {
    fn place(&mut self, host: Array) -> Result<()> {
        if host.bytes == 0 {
            let (device, argument) = (DUMMY_ADDRESS, DUMMY_ADDRESS);
            self.arrays.push(Placed { host, device, argument, stale: None, before: Vec::new() });
            return Ok(());
        }
        self.config.faults.check(Operation::Alloc)?;
        let scratch = host.flags & ARRAY_SCRATCH != 0;
        // What other threads may write in between can't be told from what the device left unchanged.
        let whole = host.out_range().is_none() || host.shape() == Shape::Dense;
        let adopted = if scratch { None } else { self.queue.adopt(&host, whole)? };
        let (device, stale) = match adopted {
            Some(Adopted { device, stale }) => (device, Some(stale)),
            None => (self.queue.allocate(host.bytes, if scratch { 0 } else { host.start as u64 })?, None),
        };
        let argument = device.wrapping_add_signed(host.bias);
        self.arrays.push(Placed { host, device, argument, stale, before: Vec::new() });
        Ok(())
    }

    /// # Safety
    /// As for [`begin`].
    unsafe fn copy_in(&mut self, index: usize) -> Result<()> {
        let (host, device) = (self.arrays[index].host, self.arrays[index].device);
        if !host.copied_in() {
            return Ok(());
        }
        self.config.faults.check(Operation::Copy)?;
        let mut from = host.start.cast::<u8>().cast_const();
        if host.out_range().is_some() && matches!(host.shape(), Shape::Changed { .. }) {
            let mut before = buffer(host.bytes)?;
            // SAFETY: the caller's promise; the buffer has the range's size.
            unsafe { self.queue.deliver(before.as_mut_ptr(), from, host.bytes) };
            from = before.as_ptr();
            // The copy may still read the buffer when this function returns; it lives as long as the queue.
            self.arrays[index].before = before;
        }
        let stale = self.arrays[index].stale.take();
        for (offset, bytes) in stale.unwrap_or_else(|| vec![(0, host.bytes)]) {
            // SAFETY: the caller's promise; the allocation has the range's size.
            unsafe { self.queue.copy_in(device + offset, from.add(offset as usize), bytes) }?;
            self.bytes_in += bytes;
        }
        Ok(())
    }

    /// Launches a kernel; errors are kept for [`Run::end`].
    ///
    /// # Safety
    /// `scalars` points to as many slots as the kernel has scalars.
    pub unsafe fn launch(&mut self, kernel: u32, blocks: u64, scalars: *const u64) {
        if self.error.is_some() || blocks == 0 {
            return;
        }
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { self.try_launch(kernel, blocks, scalars) } {
            self.fail(error);
        }
    }

    unsafe fn try_launch(&mut self, index: u32, blocks: u64, scalars: *const u64) -> Result<()> {
        let Some(kernel) = self.scop.kernels().get(index as usize) else {
            return Err(Error::Descriptor(format!("no kernel {index}")));
        };
        self.config.faults.check(Operation::Launch)?;
        self.check_patience()?;
        self.slots.clear();
        for &array in kernel.array_index() {
            self.slots.push(self.arrays[array as usize].argument);
        }
        for scalar in 0..kernel.n_scalars as usize {
            // SAFETY: the caller's promise.
            self.slots.push(unsafe { scalars.add(scalar).read() });
        }
        // SAFETY: the slots are laid out as the header describes.
        unsafe { self.queue.launch(index as usize, blocks, &self.slots) }?;
        self.launches += 1;
        Ok(())
    }

    /// Gives up an execution that takes far longer than the original loop would.
    fn check_patience(&self) -> Result<()> {
        let Some(chosen) = &self.chosen else { return Ok(()) };
        let taken = self.ready.elapsed();
        if taken <= Duration::from_secs_f64(chosen.estimate.patience()) {
            return Ok(());
        }
        let seconds = taken.as_secs_f64();
        chosen.state.learned.given_up(seconds, chosen.estimate, self.launches);
        Err(Error::GivenUp { after_ms: seconds * 1e3, host_ms: chosen.estimate.host * 1e3 })
    }

    /// Keeps the first error.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Waits, copies the written ranges back, reports. An error: host memory is as it was before.
    ///
    /// # Safety
    /// The arrays' written ranges are writable.
    pub unsafe fn end(mut self) -> Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.config.faults.check(Operation::Sync)?;
        if self.config.check {
            self.queue.synchronize()?;
            // SAFETY: the caller's promise.
            unsafe { self.check_unwritten() }?;
        }
        let total: u64 = self.results().map(|r| r.bytes).fold(0, u64::saturating_add);
        // SAFETY: the caller's promise.
        unsafe {
            if total <= self.config.staging_bytes { self.end_staged(total) } else { self.end_direct() }
        }?;
        self.queue.returned();
        if let Some(Chosen { state, estimate, setups }) = self.chosen
            && setups == self.queue.setups()
        {
            state.learned.device_took(self.ready.elapsed().as_secs_f64(), estimate, self.launches);
        }
        self.bytes_out = total;
        if self.config.reports() {
            self.report();
        }
        Ok(())
    }

    /// What comes back.
    fn results(&self) -> impl Iterator<Item = Returning> + use<'_> {
        self.arrays.iter().enumerate().filter_map(|(index, array)| {
            let (offset, bytes) = array.host.out_range()?;
            let to = array.host.start.cast::<u8>().wrapping_add(offset as usize);
            Some(Returning {
                array: index,
                from: array.device + offset,
                to,
                bytes,
                shape: array.host.shape(),
            })
        })
    }

    /// Stores a result that has landed at `landed` to its place.
    ///
    /// # Safety
    /// The promise about the written ranges; `landed` holds the result's bytes.
    unsafe fn settle(&mut self, result: &Returning, landed: *const u8) {
        if result.shape == Shape::Dense {
            // SAFETY: the caller's promise.
            return unsafe { self.queue.deliver(result.to, landed, result.bytes) };
        }
        let Placed { host, before, .. } = &self.arrays[result.array];
        let range = host.out_offset as usize..(host.out_offset + result.bytes) as usize;
        let before = before.get(range).unwrap_or_default();
        // SAFETY: the caller's promise; the shape was checked at the beginning.
        unsafe {
            let results = std::slice::from_raw_parts(landed, result.bytes as usize);
            settle(result.to, results, &result.shape, before, self.config.copy_threads);
        }
    }

    /// Whether a result of which some bytes come back can be stored while it arrives: pieces must not cut elements.
    fn settles_through(&mut self, r: &Returning) -> bool {
        let cut = match r.shape {
            Shape::Changed { element } => {
                !element.is_power_of_two() || element > 4096 || !r.bytes.is_multiple_of(element)
            }
            _ => false,
        };
        !cut && self.queue.copies_through(r.bytes)
    }

    /// Stores a result of which some bytes come back while it arrives. An error: nothing was stored.
    ///
    /// # Safety
    /// The promise about the written ranges.
    unsafe fn settle_through(&mut self, r: &Returning) -> Result<()> {
        self.check_copy_out()?;
        let Placed { host, before, .. } = &self.arrays[r.array];
        let range = host.out_offset as usize..(host.out_offset + r.bytes) as usize;
        let (before, shape) = (before.get(range).unwrap_or_default(), &r.shape);
        struct Place(*mut u8);
        // SAFETY: a plain address; pieces are disjoint.
        unsafe impl Sync for Place {}
        let (place, stored) = (Place(r.to), AtomicBool::new(false));
        let store = |offset: usize, piece: &[u8]| {
            stored.store(true, Ordering::Relaxed);
            let Place(to) = &place;
            // SAFETY: the caller's promise; the shape was checked at the beginning, the piece lies in the range.
            unsafe { settle_part(*to, offset, piece, shape, before) };
        };
        // SAFETY: the array's allocation.
        match unsafe { self.queue.copy_through(r.from, r.bytes, &store) } {
            Err(error) if stored.load(Ordering::Relaxed) => lost(self.scop, &error),
            settled => settled,
        }
    }

    fn check_copy_out(&self) -> Result<()> {
        self.config.faults.check(Operation::Copy)?;
        self.config.faults.check(Operation::CopyOut)
    }

    /// Everything through a buffer: all or nothing.
    unsafe fn end_staged(&mut self, total: u64) -> Result<()> {
        let results: Vec<_> = self.results().collect();
        // SAFETY: the caller's promise.
        unsafe {
            let landing = self.land(&results, total)?;
            self.queue.returning();
            self.settle_all(&results, landing);
        }
        Ok(())
    }

    /// Brings results to the host, one behind the other; nothing of the program's memory is touched.
    ///
    /// # Safety
    /// `total` is the sum of the results' bytes.
    unsafe fn land(&mut self, results: &[Returning], total: u64) -> Result<*const u8> {
        let landing = self.queue.landing(total)?;
        let mut at = 0;
        for r in results {
            self.check_copy_out()?;
            // SAFETY: the buffer is as long as all results together.
            unsafe { self.queue.copy_out(landing.add(at), r.from, r.bytes) }?;
            at += r.bytes as usize;
        }
        self.queue.synchronize()?;
        Ok(landing)
    }

    /// # Safety
    /// The promise about the written ranges; `landing` is what [`Run::land`] returned for the same results.
    unsafe fn settle_all(&mut self, results: &[Returning], landing: *const u8) {
        let mut at = 0;
        for r in results {
            // SAFETY: the caller's promise.
            unsafe { self.settle(r, landing.add(at)) };
            at += r.bytes as usize;
        }
    }

    /// Straight to the program's memory, but for results of which only some bytes come back.
    unsafe fn end_direct(&mut self) -> Result<()> {
        self.queue.synchronize()?;
        let (direct, partial): (Vec<_>, Vec<_>) = self.results().partition(|r| r.shape == Shape::Dense);
        let mut written = false;
        self.queue.returning();
        // Large ones as they arrive, where the device has a way.
        let mut partial_left = Vec::new();
        for r in partial {
            if !self.settles_through(&r) {
                partial_left.push(r);
                continue;
            }
            // SAFETY: the caller's promise.
            match unsafe { self.settle_through(&r) } {
                Err(error) if written => lost(self.scop, &error),
                settled => settled?,
            }
            written = true;
        }
        let partial = partial_left;
        let total = partial.iter().map(|r| r.bytes).fold(0, u64::saturating_add);
        let landing = if partial.is_empty() {
            std::ptr::null()
        } else {
            // SAFETY: the sum of the results' bytes.
            match unsafe { self.land(&partial, total) } {
                Err(error) if written => lost(self.scop, &error),
                landing => landing?,
            }
        };
        for r in direct {
            match self.check_copy_out() {
                Err(error) if written => lost(self.scop, &error),
                checked => checked?,
            }
            written = true;
            // SAFETY: the caller's promise about the written ranges.
            if let Err(error) = unsafe { self.queue.copy_out(r.to, r.from, r.bytes) } {
                lost(self.scop, &error);
            }
        }
        match self.queue.synchronize() {
            Err(error) if written => lost(self.scop, &error),
            synchronised => synchronised?,
        }
        // SAFETY: the caller's promise.
        unsafe { self.settle_all(&partial, landing) };
        Ok(())
    }

    /// `POLLYRS_RT_CHECK`: what was copied in and isn't said to be written must be unchanged on the device.
    unsafe fn check_unwritten(&mut self) -> Result<()> {
        for (index, &Placed { host, device, .. }) in self.arrays.iter().enumerate() {
            if !host.copied_in() {
                continue;
            }
            let mut after = buffer(host.bytes)?;
            // SAFETY: the buffer is as long as the array's range.
            let copied = unsafe { self.queue.copy_out(after.as_mut_ptr(), device, host.bytes) };
            // The copy may be under way even after an error.
            let waited = self.queue.synchronize();
            if copied.is_err() || waited.is_err() {
                std::mem::forget(after);
                return copied.and(waited);
            }
            // SAFETY: the range is readable, and nothing came back yet.
            let before = unsafe { std::slice::from_raw_parts(host.start.cast::<u8>(), host.bytes as usize) };
            let (offset, bytes) = host.out_range().unwrap_or((0, 0));
            let end = offset + bytes;
            let outside = |at: &usize| !(offset..end).contains(&(*at as u64));
            if let Some(at) = (0..before.len()).filter(outside).find(|&at| before[at] != after[at]) {
                fatal(&format!(
                    "{} changed array {} at byte {at}, outside of the range it is said to write, {offset} to {end}",
                    self.scop.name(),
                    self.scop.array_name(index)
                ));
            }
        }
        Ok(())
    }

    fn report(&mut self) {
        let line = Line {
            scop: self.scop.name().into_owned(),
            at: self.scop.at().into_owned(),
            device: self.queue.label(),
            kernels: self.launches,
            kernel_ms: self.queue.kernel_ms(),
            setup_ms: (self.ready - self.start).as_secs_f64() * 1e3,
            total_ms: self.start.elapsed().as_secs_f64() * 1e3,
            bytes_to_device: self.bytes_in,
            bytes_to_host: self.bytes_out,
            reason: None,
        };
        profile::report(self.config, &line);
    }
}

/// Some results are in place, others will never be.
fn lost(scop: &Scop, error: &Error) -> ! {
    fatal(&format!("{}: results were lost while they were copied back: {error}", scop.name()))
}
