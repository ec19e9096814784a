//! One execution of a versioned SCoP: begin, launches, end.
//!
//! Invariants:
//!
//! * host memory is only written in [`Run::end`], by results ([`crate::device::results`]), and by what an
//!   execution displaces from a hold ([`crate::hold`]): results of earlier ones, complete since then;
//! * host memory is written before everything has succeeded only where the original loop would write all of
//!   it again ([`overlap`]);
//! * results of arrays that are held stay on the device; an error of a launch that may have changed what only
//!   the device has ends the program, since nothing can restore it. Where an execution may turn out not to
//!   count for what the data are, a copy can;
//! * whatever happens, dropping the run waits for the device and frees what it holds, or leaves both to the
//!   hold.
//!
//! Example: `A[i] = A[i-1]` for `i` in `5 .. 10` on doubles touches `A[4] .. A[9]` and writes `A[5] .. A[9]`:
//! `start = &A[4]`, `bytes = 48`, `bias = -32`, `out_offset = 8`, `out_bytes = 40`. The device gets 48 bytes
//! at some `d` with `d = start (mod 16)`, the kernel's argument is `d - 32`, and 40 bytes come back from
//! `d + 8` to `start + 8`.

mod checks;
mod choice;
mod compare;
mod divided;
mod faults;
pub mod late;
mod overlap;
mod ranks;
mod room;

use std::ffi::c_int;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::abi::{ARRAY_HELD, ARRAY_SCRATCH, Array, Kernel, Scop};
use crate::base::caller::fatal;
use crate::base::config::{Config, DeviceChoice};
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::base::planted::unless;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::stack;
use crate::cost::{Estimate, inspections};
use crate::device::results::{Back, lost};
use crate::device::snapshot::Snapshot;
use crate::device::{Adopted, DUMMY_ADDRESS, NoQueue, Queue};
use crate::emulated::EmulatedQueue;
use crate::gpu::cuda::Device;
use crate::gpu::queue::CudaQueue;
use crate::group::Group;
use crate::hold::{Hold, asked};
use crate::hosts::{self, World};
use crate::memory::guarded;
use crate::memory::mappings;
use crate::memory::packed::{self, Packed};
use crate::process::nvtx::Range;
use crate::process::registry::{self, State};
use crate::process::{
    lines::ExecutionLine,
    profile::{self, Progress},
};
use crate::residency::{Found, Place, check_apart};

/// An array during an execution.
struct Placed {
    host: Array,
    /// Device address of the touched range.
    device: u64,
    /// What kernels get: the address of the element with all subscripts 0.
    argument: u64,
    /// What of the range is to be copied in, as offset and length; None: all.
    stale: Option<Vec<(u64, u64)>>,
    /// That is left to the launch that needs it.
    waits: bool,
    /// What alone is copied in of the range.
    window: Option<Rows>,
    /// What was copied in, where that is needed to know what changed.
    before: Snapshot,
    /// Its memory is the hold's.
    held: bool,
    /// Another array lies among its bytes.
    shared: bool,
    /// Its memory is its own, its contents those of memory of the hold.
    beside: bool,
    /// A copy of the hold's memory before the launches.
    saved: Option<u64>,
    /// Rows that its addresses stand for.
    packed: Option<Arc<Packed>>,
}

impl Placed {
    /// An array before it has memory.
    fn nowhere(host: Array) -> Placed {
        Placed {
            host,
            device: DUMMY_ADDRESS,
            argument: DUMMY_ADDRESS,
            stale: None,
            waits: false,
            window: None,
            before: Snapshot::default(),
            held: false,
            shared: false,
            beside: false,
            saved: None,
            packed: None,
        }
    }
}

/// The arrays' numbers, those that are written first: what is read of the same memory are copies of what is
/// there before.
fn written_first(arrays: &[Array]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arrays.len()).collect();
    order.sort_by_key(|&index| arrays[index].out_range().is_none());
    order
}

/// What of a launch.
#[derive(Clone, Copy)]
enum Part {
    All,
    Slice { first: bool },
}

/// Why an execution is on the device, and until when.
struct Chosen {
    state: &'static State,
    estimate: Estimate,
    setups: u64,
}

/// An execution on a device.
pub struct Run<'a> {
    config: &'static Config,
    scop: &'static Scop,
    queue: Box<dyn Queue>,
    /// Ranks that share it.
    world: Option<&'static World>,
    /// Where queue and held arrays come from, and go back to: of the thread that runs the execution, and of
    /// nobody else.
    hold: Option<&'a mut Hold>,
    arrays: Vec<Placed>,
    /// The first error; later operations are left out.
    error: Option<Error>,
    start: Instant,
    /// After driver, code and memory are there.
    ready: Instant,
    /// Where the settings leave the choice to the estimate.
    chosen: Option<Chosen>,
    /// Its time is learnt from.
    measured: bool,
    /// Before it makes room.
    begun: Instant,
    /// Statement instances.
    work: f64,
    /// Copies and slices beside others.
    beside: overlap::Beside,
    /// The first launch may have changed arrays.
    launched: bool,
    /// What launches changed of what only the device has is as it was before them.
    restored: bool,
    launches: u64,
    succeeded: bool,
    bytes_in: u64,
    bytes_out: u64,
    /// Argument slots, reused by each launch.
    slots: Vec<u64>,
    /// What is known so far of a launch that several devices share.
    parts: divided::Parts,
    /// What was inspected for it.
    asked: Vec<Found>,
    /// What is told of a long one.
    progress: Option<Progress>,
    /// Closed when all else is over.
    _range: Option<Range>,
}

/// Picks the device, loads the code, allocates, copies in. An error: the original loop is to run.
///
/// # Safety
/// The arrays' ranges are readable, and stay unchanged until the run ends; a hold outlives the run and is
/// used by it alone, and what is dirty in it is writable.
pub unsafe fn begin<'a>(
    config: &'static Config,
    scop: &'static Scop,
    work: f64,
    arrays: &[Array],
    mut hold: Option<&'a mut Hold>,
) -> Result<Box<Run<'a>>> {
    // A refusal reads no clock, and moves nothing large.
    let start = config.reports().then(Instant::now);
    let asked = asked::take(scop.cache().map_or(0, |slot| std::ptr::from_ref(slot) as usize));
    choice::check(config, scop, arrays)?;
    let state = registry::state(scop).ok_or_else(|| Error::Descriptor("no cache slot".into()))?;
    let world = hosts::active(config);
    if world.is_some() {
        choice::is_much(config, work, hold.as_deref())?;
    }
    if let Some(hold) = &mut hold {
        ranks::check_queue(hold, world.is_some())?;
    }
    // SAFETY: the caller's promise.
    let ready = prepare(config, (scop, state), work, arrays, hold.as_deref_mut(), world);
    if let Some(world) = world {
        ranks::agree_to_begin(world, config, (scop, work, arrays), ready.is_ok())
            .map_err(|error| ready.as_ref().err().cloned().unwrap_or(error))?;
    }
    let Prepared { estimate, packed, shared, opened } = ready?;
    let start = start.unwrap_or_else(Instant::now);
    let (queue, aimed) = match (opened, hold.as_mut().and_then(|hold| hold.queue.take())) {
        (None, Some(queue)) => (queue, false),
        (Some(mut queue), _) => {
            queue.meet()?;
            (queue, true)
        }
        (None, None) => return Err(Error::Internal("no queue".into())),
    };
    let mut run = Box::new(Run {
        config,
        scop,
        queue,
        world,
        hold,
        arrays: arrays.iter().copied().map(Placed::nowhere).collect(),
        error: None,
        start,
        ready: start,
        chosen: None,
        measured: false,
        begun: start,
        work,
        beside: overlap::Beside::default(),
        launched: false,
        restored: false,
        launches: 0,
        succeeded: false,
        bytes_in: 0,
        bytes_out: 0,
        slots: Vec::new(),
        parts: divided::Parts::default(),
        asked,
        progress: config.verbose.then(|| Progress::since(start)),
        _range: Range::open(|| profile::title(scop)),
    });
    for (placed, packed) in run.arrays.iter_mut().zip(packed) {
        placed.packed = packed;
    }
    // What has other addresses does not stay: nobody would know that it is written there.
    shared.iter().for_each(|&index| run.arrays[index].host.flags &= !ARRAY_HELD);
    if !aimed {
        run.queue.aim(scop, &state.module)?;
    }
    run.check_room()?;
    // SAFETY: the caller's promise.
    let placed = unsafe { run.place_all(estimate, state) };
    if let Some(world) = world {
        ranks::agree(world, "what came to the devices", scop, placed.is_ok())
            .map_err(|error| placed.as_ref().err().cloned().unwrap_or(error))?;
    }
    placed?;
    Ok(run)
}

/// What an execution needs before it may change anything.
struct Prepared {
    estimate: Option<Estimate>,
    packed: Vec<Option<Arc<Packed>>>,
    shared: Vec<usize>,
    /// Where the hold has no queue.
    opened: Option<Box<dyn Queue>>,
}

/// Whether an execution is to be on the device, and can be.
fn prepare(
    config: &'static Config,
    (scop, state): (&'static Scop, &'static State),
    work: f64,
    arrays: &[Array],
    mut hold: Option<&mut Hold>,
    world: Option<&'static World>,
) -> Result<Prepared> {
    // Of several ranks the first one decides for all.
    let estimate = match world {
        Some(world) if world.rank() > 0 => None,
        _ => choice::choose(config, scop, state, work, arrays, hold.as_deref_mut())?,
    };
    choice::check_tables(scop, arrays)?;
    check_apart(scop, arrays)?;
    let packed = packed::check(scop, arrays)?;
    if config.compare.is_some() && packed.iter().any(Option::is_some) {
        return Err(Error::Incomparable);
    }
    let shared = mappings::check(scop, arrays, |array| hold.as_ref().is_some_and(|hold| hold.knows(array)))?;
    for array in arrays {
        if array.copied_in() && !hold.as_ref().is_some_and(|hold| hold.knows(array)) {
            guarded::check_ends(array)?;
        }
    }
    let opened = match hold.is_some_and(|hold| hold.queue.is_some()) {
        true => None,
        false => Some(open(config, scop, state, world)?),
    };
    Ok(Prepared { estimate, packed, shared, opened })
}

impl Run<'_> {
    /// Places all arrays, and copies in what is not left to launches.
    ///
    /// # Safety
    /// As for [`begin`].
    unsafe fn place_all(&mut self, estimate: Option<Estimate>, state: &'static State) -> Result<()> {
        let run = self;
        run.measured = estimate.is_some() && (run.hold.is_none() || state.learned.measures_held());
        if run.measured && run.hold.is_some() {
            // What earlier ones left to do is not this one's time.
            run.queue.synchronize()?;
        }
        run.begun = Instant::now();
        // All allocations before the first copy: the likeliest failure comes first.
        let arrays: Vec<Array> = run.arrays.iter().map(|placed| placed.host).collect();
        let order = written_first(&arrays);
        for &index in &order {
            // SAFETY: the caller's promise.
            unsafe { run.place(index) }?;
        }
        run.ready = Instant::now();
        let copying = Range::open(|| "to the device".into());
        let setups = run.queue.setups();
        run.chosen = estimate.map(|estimate| Chosen { state, estimate, setups });
        let may_defer = run.may_defer();
        for index in order {
            if !(may_defer && run.defer(index)) {
                // SAFETY: the caller's promise.
                unsafe { run.copy_in(index) }?;
            }
        }
        run.mark_copies()?;
        run.save()?;
        drop(copying);
        Ok(())
    }
}

/// A queue on the device that the settings choose.
fn open(
    config: &'static Config,
    scop: &'static Scop,
    state: &'static State,
    world: Option<&'static World>,
) -> Result<Box<dyn Queue>> {
    if config.device == DeviceChoice::Emulated {
        let open_one = |number| EmulatedQueue::open_one(config, scop, number);
        let n = config.devices.of(config.emulated_devices);
        if let Some(world) = world {
            let members = (0..n).map(open_one).collect::<Result<Vec<_>>>()?;
            return Ok(Box::new(Group::across(members, scop, true, world)));
        }
        return Ok(match n {
            1 => Box::new(EmulatedQueue::open(config, scop)?),
            n => Box::new(Group::of((0..n).map(open_one).collect::<Result<Vec<_>>>()?, scop, true)),
        });
    }
    if !stack::has_room() {
        return Err(Error::SmallStack);
    }
    let open_one = |device: &'static Device| {
        CudaQueue::open(device, scop, device.module(scop, &state.module, config)?, config)
    };
    let devices = registry::cuda_devices(config)?;
    if let Some(world) = world {
        let members = devices.iter().map(|device| open_one(device)).collect::<Result<Vec<_>>>()?;
        return Ok(Box::new(Group::across(members, scop, config.shares_always, world)));
    }
    Ok(match devices.as_slice() {
        [device] => Box::new(open_one(device)?),
        several => {
            let members = several.iter().map(|device| open_one(device)).collect::<Result<Vec<_>>>()?;
            Box::new(Group::of(members, scop, config.shares_always))
        }
    })
}

impl Run<'_> {
    /// # Safety
    /// As for [`begin`].
    unsafe fn place(&mut self, index: usize) -> Result<()> {
        let host = self.arrays[index].host;
        let packed = self.arrays[index].packed.take();
        let mut placed = Placed { packed, ..Placed::nowhere(host) };
        if host.bytes == 0 {
            return Ok(());
        }
        self.config.faults.check(Operation::Alloc)?;
        let scratch = host.flags & ARRAY_SCRATCH != 0;
        if let (Some(hold), false) = (&mut self.hold, scratch) {
            // SAFETY: the caller's promise.
            match unsafe { hold.place(self.config, &mut *self.queue, &host) }? {
                Place::Entry { device, stale, window, shared } => {
                    (placed.device, placed.stale, placed.held) = (device, Some(stale), true);
                    (placed.window, placed.shared) = (window, shared);
                }
                Place::Beside => {
                    placed.device = self.queue.allocate(host.bytes, host.start as u64)?;
                    placed.beside = true;
                }
                Place::Own => {}
            }
        }
        if !placed.held && !placed.beside {
            // What other threads may write in between can't be told from what the device left unchanged. What
            // stays in a hold gets ordinary memory; residents in its way have to know.
            let whole = self.hold.is_none()
                && !host.is_guarded()
                && (host.out_range().is_none() || host.shape() == Shape::Dense);
            let own = scratch || host.is_fault() || placed.packed.is_some();
            match if own { None } else { self.queue.adopt(&host, whole)? } {
                Some(Adopted { device, stale }) => (placed.device, placed.stale) = (device, Some(stale)),
                None => {
                    placed.device =
                        self.queue.allocate(host.bytes, if scratch { 0 } else { host.start as u64 })?;
                    placed.window = host.window().filter(|rows| self.queue.prefers(rows, host.bytes));
                }
            }
        }
        placed.argument = placed.device.wrapping_add_signed(host.bias);
        self.queue.placed(index, &host, placed.device, placed.argument, placed.held);
        self.arrays[index] = placed;
        Ok(())
    }

    /// # Safety
    /// As for [`begin`].
    unsafe fn copy_in(&mut self, index: usize) -> Result<()> {
        let Placed { host, device, held, beside, window, .. } = self.arrays[index];
        if !(host.copied_in() || held && host.needs_values()) {
            return Ok(());
        }
        self.config.faults.check(Operation::Copy)?;
        if let (true, Some(hold)) = (beside, &mut self.hold) {
            if let Some(packed) = &self.arrays[index].packed {
                // SAFETY: the caller's promise.
                unsafe { packed.gather(host.span(), host.is_guarded(), self.config.copy_threads) }?;
            }
            // SAFETY: the caller's promise; the allocation has the range's size.
            self.bytes_in += unsafe { hold.copy_beside(&mut *self.queue, &host, device) }?;
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.pack(index) }?;
        let stale = self.arrays[index].stale.take();
        if let (true, Some(hold)) = (held, &mut self.hold) {
            if let Some(rows) = window {
                // SAFETY: the caller's promise.
                unsafe { hold.copy_window(&mut *self.queue, &host, device, &rows) }?;
                self.bytes_in += rows.total();
            }
            if host.is_guarded() {
                if stale.is_some_and(|stale| !stale.is_empty()) {
                    // It lives as long as the queue may read it.
                    let mut buffer = Snapshot::new(host.bytes)?;
                    // SAFETY: the caller's promise.
                    let copied = unsafe { hold.copy_guarded(&mut *self.queue, &host, device, &mut buffer) };
                    self.arrays[index].before = buffer;
                    self.bytes_in += copied?;
                }
                return Ok(());
            }
            for part in stale.unwrap_or_default() {
                // SAFETY: the caller's promise.
                self.bytes_in += unsafe { hold.copy_in(&mut *self.queue, &host, device, part) }?;
            }
            return Ok(());
        }
        self.copies_own();
        let mut from = host.start.cast::<u8>().cast_const();
        if let Some(rows) = window {
            // SAFETY: the caller's promise; the allocation has the range's size.
            unsafe { self.queue.copy_rows_in(device, from, &rows) }?;
            self.bytes_in += rows.total();
            return Ok(());
        }
        if host.is_guarded() {
            let mut before = Snapshot::new(host.bytes)?;
            guarded::copy(&mut before, from)?;
            if host.out_range().is_some() {
                self.queue.unify(&mut before)?;
            }
            from = before.as_ptr();
            self.arrays[index].before = before;
        } else if host.out_range().is_some() && matches!(host.shape(), Shape::Changed { .. }) {
            let mut before = Snapshot::new(host.bytes)?;
            // SAFETY: the caller's promise; the buffer has the range's size.
            unsafe { self.queue.deliver(before.as_mut_ptr(), from, host.bytes) };
            self.queue.unify(&mut before)?;
            from = before.as_ptr();
            // The copy may still read the buffer when this function returns; it lives as long as the queue.
            self.arrays[index].before = before;
        }
        for (offset, bytes) in stale.unwrap_or_else(|| vec![(0, host.bytes)]) {
            // SAFETY: the caller's promise; the allocation has the range's size.
            unsafe { self.queue.copy_in(device + offset, from.add(offset as usize), bytes) }?;
            self.bytes_in += bytes;
        }
        Ok(())
    }

    /// Brings the rows of what is to be copied in.
    ///
    /// # Safety
    /// As for [`begin`].
    unsafe fn pack(&self, index: usize) -> Result<()> {
        let Placed { host, stale, packed, .. } = &self.arrays[index];
        let Some(packed) = packed else { return Ok(()) };
        let start = host.span().0;
        let whole = [(0, host.bytes)];
        let wanted =
            if self.arrays[index].window.is_some() { &whole } else { stale.as_deref().unwrap_or(&whole) };
        for (offset, bytes) in wanted {
            let part = (start + offset, start + offset + bytes);
            // SAFETY: the caller's promise.
            unsafe { packed.gather(part, host.is_guarded(), self.config.copy_threads) }?;
        }
        Ok(())
    }

    /// An array that is not held is being copied in: the program may write to it as soon as the execution is
    /// over, and the driver reads memory that the program has pinned later than that.
    fn copies_own(&mut self) {
        if let Some(hold) = &mut self.hold {
            hold.copying = true;
        }
    }

    /// The execution's end waits for the copies so far, but not for what is queued behind them.
    fn mark_copies(&mut self) -> Result<()> {
        if self.hold.as_ref().is_some_and(|hold| hold.copying) { self.queue.mark_copies() } else { Ok(()) }
    }

    /// Launches a kernel; errors are kept for [`Run::end`].
    ///
    /// # Safety
    /// `scalars` points to as many slots as the kernel has scalars.
    pub unsafe fn launch(&mut self, kernel: u32, blocks: u64, scalars: *const u64) {
        self.note_launch(kernel as usize, blocks);
        if self.error.is_some() || blocks == 0 {
            return;
        }
        // SAFETY: the caller's promise.
        let launched = unsafe {
            let prepared = self.prepare(kernel as usize, |_| u64::MAX).and_then(|()| self.meet());
            prepared.and_then(|()| self.try_launch(kernel, blocks, scalars, Part::All))
        };
        if let Err(error) = launched {
            self.fail(error);
        }
    }

    unsafe fn try_launch(&mut self, index: u32, blocks: u64, scalars: *const u64, part: Part) -> Result<()> {
        let Some(kernel) = self.scop.kernels().get(index as usize) else {
            return Err(Error::Descriptor(format!("no kernel {index}")));
        };
        self.config.faults.check(Operation::Launch)?;
        self.check_patience()?;
        // SAFETY: the caller's promise.
        unsafe { self.fill_slots(kernel, scalars) };
        self.launched = true;
        // SAFETY: the slots are laid out as the header describes; slices of a launch don't depend on each
        // other.
        unsafe {
            match part {
                Part::Slice { first } => self.queue.launch_slice(index as usize, blocks, &self.slots, first),
                Part::All => self.queue.launch(index as usize, blocks, &self.slots),
            }
        }?;
        self.launches += 1;
        if let Some(progress) = &mut self.progress {
            progress.tell(self.scop, self.launches);
        }
        Ok(())
    }

    /// The argument slots of a launch.
    ///
    /// # Safety
    /// As for [`Run::launch`].
    unsafe fn fill_slots(&mut self, kernel: &Kernel, scalars: *const u64) {
        self.slots.clear();
        for &array in kernel.array_index() {
            self.slots.push(self.arrays[array as usize].argument);
        }
        for scalar in 0..kernel.n_scalars as usize {
            // SAFETY: the caller's promise.
            self.slots.push(unsafe { scalars.add(scalar).read() });
        }
    }

    /// Gives up an execution that takes far longer than the original loop would.
    fn check_patience(&self) -> Result<()> {
        let Some(chosen) = self.chosen.as_ref().filter(|_| self.world.is_none()) else { return Ok(()) };
        // What only the device has can't be given up.
        if self.launched && self.endangers() {
            return Ok(());
        }
        let taken = self.ready.elapsed();
        if taken <= Duration::from_secs_f64(chosen.estimate.patience()) {
            return Ok(());
        }
        let seconds = taken.as_secs_f64();
        chosen.state.learned.given_up(seconds, chosen.estimate, self.launches, registry::rates());
        let (host, size) = (chosen.estimate.host, chosen.estimate.size());
        Err(Error::GivenUp { after_ms: seconds * 1e3, host_ms: host * 1e3, size })
    }

    /// The sizes of an array's inner dimensions, for the reports of the checked device.
    pub fn shape(&mut self, index: usize, dims: usize, sizes: [i64; 3]) {
        self.queue.shape(index, dims, sizes);
    }

    /// Keeps the first error.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Waits, copies the written ranges back, reports; results of held arrays stay. An error: host memory is
    /// as it was before. The result is what the program's `errno` is to be, if the program would have set it.
    ///
    /// # Safety
    /// The arrays' written ranges are writable.
    pub unsafe fn end(mut self) -> Result<Option<c_int>> {
        let failed = self.error.take().or(self.config.faults.check(Operation::Sync).err());
        if let Some(world) = self.world {
            ranks::agree(world, "the end of an execution", self.scop, failed.is_none())
                .map_err(|error| failed.clone().unwrap_or(error))?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        // SAFETY: the caller's promise.
        unsafe { self.fetch_all() }?;
        self.queue.submit()?;
        if self.config.check.any() {
            self.queue.synchronize()?;
            self.queue.check();
        }
        if self.config.check.copies {
            self.check_claims()?;
            // SAFETY: the caller's promise.
            unsafe { self.check_unwritten() }?;
        }
        // SAFETY: the caller's promise.
        let errno = unsafe { self.check_faults() }?;
        if self.config.compare.is_some() {
            // SAFETY: the caller's promise.
            unsafe { self.keep_apart() }?;
            return Err(Error::Compared);
        }
        // SAFETY: the caller's promise.
        let brought = unsafe { self.hurry() }?;
        self.bytes_out = brought.iter().sum();
        let results = overlap::results(&self.arrays, &brought);
        let waits = self.hold.as_mut().is_none_or(|hold| hold.awaits())
            || !results.is_empty()
            || self.bytes_out > 0
            || self.config.reports()
            || self.measured;
        if waits {
            let _range = Range::open(|| "to the host".into());
            let mut back = Back { config: self.config, scop: self.scop, queue: &mut *self.queue };
            // SAFETY: the caller's promise.
            self.bytes_out += unsafe { back.bring(&results) }?;
        } else if self.hold.as_ref().is_some_and(|hold| hold.copying) {
            unless("copies-read", || self.queue.await_copies())?;
        }
        if let Some(hold) = &mut self.hold {
            hold.copying = false;
        }
        self.queue.returned();
        // SAFETY: the caller's promise.
        unsafe { self.keep() };
        self.succeeded = true;
        let late = late::took(self.scop, self.ready.elapsed().as_secs_f64());
        if let Some(Chosen { state, estimate, setups }) = self.chosen.take()
            && setups == self.queue.setups()
            && self.measured
        {
            let now = Instant::now();
            // In a hold other arrays may have to come back before there is room.
            let since = if self.hold.is_some() { self.begun } else { self.ready };
            let seconds = (now - since).as_secs_f64();
            state.learned.device_took(seconds, estimate, self.launches, registry::rates());
            if self.hold.is_none() {
                state.learned.device_took_in_all((now - self.start).as_secs_f64(), estimate.size());
            }
        }
        if self.config.reports() {
            self.report(late);
        }
        Ok(errno)
    }

    /// The results of held arrays are the hold's.
    ///
    /// # Safety
    /// As for [`begin`].
    unsafe fn keep(&mut self) {
        let Some(hold) = &mut self.hold else { return };
        let arrays: Vec<(Array, bool)> = self.arrays.iter().map(|p| (p.host, p.held)).collect();
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { hold.keep(self.config, &mut *self.queue, self.scop, &arrays) } {
            lost(self.scop, &error);
        }
        hold.learn(&std::mem::take(&mut self.asked));
    }

    /// Whether the launches may have changed what only the device has.
    fn endangers(&self) -> bool {
        let Some(hold) = &self.hold else { return false };
        self.arrays.iter().any(|placed| placed.held && hold.endangers(&placed.host))
    }

    fn report(&mut self, late: Option<String>) {
        let line = ExecutionLine {
            device: self.queue.label().into(),
            kernels: self.launches,
            kernel_ms: self.queue.kernel_ms(),
            setup_ms: (self.ready - self.start).as_secs_f64() * 1e3,
            inspect_ms: inspections::take_ms(),
            total_ms: self.start.elapsed().as_secs_f64() * 1e3,
            bytes_to_device: self.bytes_in,
            bytes_to_host: self.bytes_out,
            devices: if self.queue.divided().0 > 0 { self.queue.devices() } else { 1 },
            bytes_between_devices: self.queue.divided().1,
            late,
            ..ExecutionLine::of(self.scop, self.start)
        };
        profile::report(self.config, &line);
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if self.hold.is_none() {
            return;
        }
        let failed = !self.succeeded && self.launched;
        if failed && !self.restored && self.endangers() {
            fatal(&format!("{}: a failure left arrays half changed on the device", self.scop.name()));
        }
        let mut queue = std::mem::replace(&mut self.queue, Box::new(NoQueue));
        if self.beside.forked {
            // After a failure; what fails here, too, is the device.
            let _ = queue.gather();
        }
        // Memory of this execution alone; what was copied in from buffers of it is there.
        if self.arrays.iter().any(|placed| !placed.before.is_empty()) && queue.synchronize().is_err() {
            self.arrays.iter_mut().for_each(|placed| std::mem::forget(std::mem::take(&mut placed.before)));
        }
        for placed in self.arrays.iter().filter(|p| !p.held && p.device != DUMMY_ADDRESS) {
            queue.give_back(placed.device);
        }
        self.arrays.iter().filter_map(|placed| placed.saved).for_each(|saved| queue.give_back(saved));
        // What is as it was before is not worthless.
        let lost = |placed: &&Placed| placed.held && !(self.restored && placed.saved.is_some());
        let held: Vec<Array> = self.arrays.iter().filter(lost).map(|p| p.host).collect();
        if let Some(hold) = &mut self.hold {
            hold.finish(self.config, &mut *queue, &held, failed);
            hold.queue = Some(queue);
        }
    }
}
