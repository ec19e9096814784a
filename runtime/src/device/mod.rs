//! What an execution needs of a device, the same for CUDA and for the emulated device.
//!
//! Invariants that every device keeps:
//!
//! * operations on one queue take effect in the order of the calls; queues are independent of each other;
//! * an allocation for host address `a` has a device address congruent to `a` modulo [`WIDEST_ACCESS`], on
//!   the emulated device modulo [`ALIGNMENT`], so that whatever code generation knows about the alignment of
//!   accesses to the host's memory holds on the device as well;
//! * dropping a queue waits for its work and gives back all it holds; it can be dropped in any state.

pub mod code;
pub mod results;
pub mod returned;
pub mod snapshot;

use std::alloc::{Layout, alloc_zeroed};

use serde::{Deserialize, Serialize};

use crate::base::abi::{Array, Scop};
use crate::base::error::{Error, Result};
use crate::base::rows::{Plane, Rows};
use crate::base::spans::Span;
use crate::device::code::ModuleSlot;
use crate::device::results::Returning;

/// The driver aligns allocations to 256 bytes at least (CUDA C Programming Guide, "Device Memory Accesses").
/// Addresses of the emulated device equal the host's modulo this: its kernels are code of the host, with
/// whatever vectors its compiler makes.
pub const ALIGNMENT: u64 = 256;

/// What kernels for GPUs need of it: the widest access, whose alignment is that of the host's, or tested. But
/// for the rest by this, arrays begin at a multiple of [`ALIGNMENT`]: `malloc` puts large ones 16 bytes
/// behind a page, where each part of a row that a warp loads lies on two cache lines (products of doubles at
/// 4096 took 15% longer, `bench/notes/002-matrix-products.md`).
pub const WIDEST_ACCESS: u64 = 16;

/// What fresh memory holds.
pub const POISON: u8 = 0xff;

/// Stands for the address of an array of which nothing is touched: not null, aligned, and never mapped.
pub const DUMMY_ADDRESS: u64 = ALIGNMENT;

/// What takes a piece of a copy.
pub type Store<'a> = dyn Fn(usize, &[u8]) + Sync + 'a;

/// Memory that outlives an execution.
pub struct Adopted {
    /// The device address of the array's range.
    pub device: u64,
    /// The parts of the range, as offset and length, that are to be copied in if the array is.
    pub stale: Vec<(u64, u64)>,
}

/// A part of a launch, for one of several devices.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub blocks: u64,
    /// Its argument slots.
    pub arguments: Vec<u64>,
    /// Device addresses between which it touches something, and writes something.
    pub touched: Vec<Span>,
    pub written: Vec<Span>,
}

/// One of several devices in an execution, in milliseconds by its clock.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Lane {
    /// Kernels, from the first to the last, without what follows.
    pub kernel_ms: f64,
    /// Waits for other devices, and copies from these, with no kernel at the same time.
    pub waiting_ms: f64,
    pub copy_ms: f64,
    /// Waits and copies beside kernels.
    pub beside_ms: f64,
}

/// The work of one execution on one device, and the memory it uses.
pub trait Queue {
    /// The name in the profile.
    fn label(&self) -> &'static str;

    /// Bytes of the device's memory, where that has an end.
    fn memory(&self) -> Option<u64> {
        None
    }

    /// `bytes` (> 0) of device memory at an address congruent to `host` modulo [`WIDEST_ACCESS`], on the
    /// emulated device modulo [`ALIGNMENT`].
    fn allocate(&mut self, bytes: u64, host: u64) -> Result<u64>;

    /// Takes back memory that [`Queue::allocate`] gave: work of this queue that was queued before may still
    /// use it, work that is queued later may get it.
    fn give_back(&mut self, device: u64);

    /// The next work is another execution's.
    fn aim(&mut self, scop: &'static Scop, module: &'static ModuleSlot) -> Result<()>;

    /// Device memory for an array that outlives this execution. None: the array gets memory of its own. Asked
    /// once for each array, before the first copy. `whole`: nothing or all of the written range comes back.
    fn adopt(&mut self, _array: &Array, _whole: bool) -> Result<Option<Adopted>> {
        Ok(None)
    }

    /// Array `index` of the SCoP got device memory; `argument` is the address of its element with all
    /// subscripts 0. `held`: the memory has contents of earlier executions and stays.
    fn placed(&mut self, _index: usize, _array: &Array, _device: u64, _argument: u64, _held: bool) {}

    /// The sizes of the inner ones of an array's `dims` dimensions, for reports.
    fn shape(&mut self, _index: usize, _dims: usize, _sizes: [i64; 3]) {}

    /// Everything ran: the device's own checks, which end the program if they find something.
    fn check(&mut self) {}

    /// Everything has succeeded, and the next writes to the program's memory are the results.
    fn returning(&mut self) {}

    /// All results are in place, or held.
    fn returned(&mut self) {}

    /// These results, of whatever execution, are in place.
    fn brought(&mut self, _results: &[Returning<'_>]) {}

    /// What kernels wrote here was copied, and the copy takes its place.
    fn moved(&mut self, _to: u64, _from: u64, _bytes: u64) {}

    /// What lies here is not what the program would read any more.
    fn outdated(&mut self, _device: u64, _bytes: u64) {}

    /// Nobody wants what kernels wrote here.
    fn forsaken(&mut self, _device: u64, _bytes: u64) {}

    /// All that kernels wrote here is in place: the program may use it.
    fn settled(&mut self, _device: u64, _bytes: u64) {}

    /// Copies between allocations of this queue, which don't overlap.
    ///
    /// # Safety
    /// Both ranges lie in allocations of this queue.
    unsafe fn copy_within(&mut self, to: u64, from: u64, bytes: u64) -> Result<()>;

    /// Copies to the device.
    ///
    /// # Safety
    /// `from` is readable and stays unchanged until [`Queue::synchronize`]; `to` lies in an allocation of
    /// this queue.
    unsafe fn copy_in(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()>;

    /// Whether copying rows takes less than copying all of the range that they lie in.
    fn prefers(&self, rows: &Rows, range: u64) -> bool {
        rows.equivalent() < range
    }

    /// Copies rows to the device, where they lie at the same distances.
    ///
    /// # Safety
    /// As for [`Queue::copy_in`], for each row.
    unsafe fn copy_rows_in(&mut self, to: u64, from: *const u8, rows: &Rows) -> Result<()> {
        for offset in rows.offsets() {
            // SAFETY: the caller's promise.
            unsafe { self.copy_in(to + offset, from.wrapping_add(offset as usize), rows.bytes) }?;
        }
        Ok(())
    }

    /// Copies a plane of rows, the first of which begins at `from`, to the host, one row behind the other.
    ///
    /// # Safety
    /// As for [`Queue::copy_out`].
    unsafe fn copy_plane_out(&mut self, to: *mut u8, from: u64, rows: &Rows, plane: &Plane) -> Result<()> {
        for row in 0..plane.rows {
            let to = to.wrapping_add((row * rows.bytes) as usize);
            // SAFETY: the caller's promise.
            unsafe { self.copy_out(to, from + plane.offset + row * rows.pitch(), rows.bytes) }?;
        }
        Ok(())
    }

    /// [`Queue::await_copies`] waits for the copies to the device so far.
    fn mark_copies(&mut self) -> Result<()> {
        Ok(())
    }

    /// The copies to the device up to the last mark have read the program's memory. Kernels behind them may
    /// still run.
    fn await_copies(&mut self) -> Result<()> {
        self.synchronize()
    }

    /// Launches a kernel of the SCoP; `arguments` are its argument slots.
    ///
    /// # Safety
    /// The arguments are what the kernel expects.
    unsafe fn launch(&mut self, kernel: usize, blocks: u64, arguments: &[u64]) -> Result<()>;

    /// Whether copies can run beside kernels. If not, the functions below, up to [`Queue::follow`], do
    /// nothing but launch.
    fn overlaps(&self) -> bool {
        false
    }

    /// From here on copies run beside what is launched, behind what was queued before.
    fn fork(&mut self) -> Result<()> {
        Ok(())
    }

    /// Launches that follow wait for the copies so far.
    fn join(&mut self) -> Result<()> {
        Ok(())
    }

    /// [`Queue::join`], and copies that follow wait for what was launched again.
    fn gather(&mut self) -> Result<()> {
        Ok(())
    }

    /// Of the next copy: whether others come right before and behind it.
    fn neighbours(&mut self, _before: bool, _behind: bool) {}

    /// [`Queue::launch`] of a slice, after [`Queue::fork`]: behind the copies so far and the launches before,
    /// beside other slices of its launch, of which it may be the `first`.
    ///
    /// # Safety
    /// As for [`Queue::launch`].
    unsafe fn launch_slice(
        &mut self,
        kernel: usize,
        blocks: u64,
        arguments: &[u64],
        _first: bool,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch(kernel, blocks, arguments) }
    }

    /// Whether a slice of this execution is over.
    fn is_over(&self, _slice: usize) -> bool {
        true
    }

    /// Copies that follow, beside what was launched, wait for a slice, and for those before it only if they
    /// did.
    fn follow(&mut self, _slice: usize) -> Result<()> {
        Ok(())
    }

    /// Devices that may share a launch.
    fn devices(&self) -> usize {
        1
    }

    /// Whether they do so whatever it costs.
    fn always_shares(&self) -> bool {
        true
    }

    /// In how many parts a launch goes that they share, if it can be cut into so many units.
    fn parts(&self, _kernel: usize, _units: u64) -> u64 {
        1
    }

    /// Other ranks' devices become known. All ranks do it at once, before the first allocation.
    fn meet(&mut self) -> Result<()> {
        Ok(())
    }

    /// Other ranks take part in what it does.
    fn is_shared(&self) -> bool {
        false
    }

    /// A snapshot of the program's memory, which results are compared with: that of the rank whose devices
    /// get it. (Between a program's elements may be what is each rank's own, as addresses are.)
    fn unify(&mut self, _snapshot: &mut [u8]) -> Result<()> {
        Ok(())
    }

    /// Of this execution: launches that devices shared, and bytes that moved between these.
    fn divided(&self) -> (u64, u64) {
        (0, 0)
    }

    /// [`Queue::launch`] of all parts of one launch: as many as [`Queue::parts`] said.
    ///
    /// # Safety
    /// As for [`Queue::launch`]; no part touches or writes anything else than it says.
    unsafe fn launch_parts(&mut self, kernel: usize, parts: &[Part]) -> Result<()> {
        // SAFETY: the caller's promise.
        parts.iter().try_for_each(|part| unsafe { self.launch(kernel, part.blocks, &part.arguments) })
    }

    /// Nothing that was launched waits for later calls any more.
    fn submit(&mut self) -> Result<()> {
        Ok(())
    }

    /// The execution failed: launches that wait for later calls are never made.
    fn discard(&mut self) {}

    /// Waits for everything so far and reports its errors.
    fn synchronize(&mut self) -> Result<()>;

    /// Memory of the host for results on their way, as fast to reach as the device knows. Lives as long as
    /// the queue.
    fn landing(&mut self, bytes: u64) -> Result<*mut u8>;

    /// [`Queue::deliver`] of so many bytes comes soon: the device's helpers wake up meanwhile.
    fn expect_delivery(&mut self, _bytes: u64) {}

    /// Copies between places of the host, as fast as the device's helpers can. Can't fail: some results may
    /// be in place.
    ///
    /// # Safety
    /// As for [`std::ptr::copy_nonoverlapping`].
    unsafe fn deliver(&mut self, to: *mut u8, from: *const u8, bytes: u64) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes as usize) };
    }

    /// Copies to the host; complete after the next [`Queue::synchronize`] only, some of it perhaps before.
    ///
    /// # Safety
    /// `to` is writable until then; `from` lies in an allocation of this queue.
    unsafe fn copy_out(&mut self, to: *mut u8, from: u64, bytes: u64) -> Result<()>;

    /// [`Queue::copy_out`] of what one of several devices has for itself. False: it has nothing.
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_out_of(&mut self, _device: usize, to: *mut u8, from: u64, bytes: u64) -> Result<bool> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_out(to, from, bytes) }?;
        Ok(true)
    }

    /// How many one-time costs (pinning) there were on this device so far, of whatever execution.
    fn setups(&self) -> u64 {
        0
    }

    /// Whether [`Queue::copy_through`] is there for a copy of this size.
    fn copies_through(&mut self, _bytes: u64) -> bool {
        false
    }

    /// Copies to the host piece by piece: each goes with its offset to `store`, on several threads at once.
    /// All are stored at the return; after an error some may be. The offsets are multiples of 4096.
    ///
    /// # Safety
    /// `from` lies in an allocation of this queue.
    unsafe fn copy_through(&mut self, _from: u64, _bytes: u64, _store: &Store<'_>) -> Result<()> {
        Err(Error::Internal("no copies in pieces on this device".into()))
    }

    /// Time in kernels after [`Queue::synchronize`], in milliseconds; 0 if times were not asked for.
    fn kernel_ms(&mut self) -> f64;

    /// The times of each device, where they are known.
    fn lanes(&mut self) -> Option<Vec<Lane>> {
        None
    }
}

/// Stands where a queue was taken from.
pub struct NoQueue;

impl NoQueue {
    fn refuse<T>(&self) -> Result<T> {
        Err(Error::Internal("no queue".into()))
    }
}

impl Queue for NoQueue {
    fn label(&self) -> &'static str {
        "none"
    }

    fn allocate(&mut self, _bytes: u64, _host: u64) -> Result<u64> {
        self.refuse()
    }

    fn give_back(&mut self, _device: u64) {}

    fn aim(&mut self, _scop: &'static Scop, _module: &'static ModuleSlot) -> Result<()> {
        self.refuse()
    }

    unsafe fn copy_within(&mut self, _to: u64, _from: u64, _bytes: u64) -> Result<()> {
        self.refuse()
    }

    unsafe fn copy_in(&mut self, _to: u64, _from: *const u8, _bytes: u64) -> Result<()> {
        self.refuse()
    }

    unsafe fn launch(&mut self, _kernel: usize, _blocks: u64, _arguments: &[u64]) -> Result<()> {
        self.refuse()
    }

    fn synchronize(&mut self) -> Result<()> {
        self.refuse()
    }

    fn landing(&mut self, _bytes: u64) -> Result<*mut u8> {
        self.refuse()
    }

    unsafe fn copy_out(&mut self, _to: *mut u8, _from: u64, _bytes: u64) -> Result<()> {
        self.refuse()
    }

    fn kernel_ms(&mut self) -> f64 {
        0.0
    }
}

/// Zeroed bytes; a failing allocation is an error, not the end of the program. The system's zeros: large ones
/// are not touched here.
pub fn buffer(bytes: u64) -> Result<Vec<u8>> {
    let out_of_memory = || Error::OutOfMemory { bytes };
    let size = usize::try_from(bytes).map_err(|_| out_of_memory())?;
    if size == 0 {
        return Ok(Vec::new());
    }
    let layout = Layout::array::<u8>(size).map_err(|_| out_of_memory())?;
    // SAFETY: the size is not zero.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        return Err(out_of_memory());
    }
    // SAFETY: allocated with the layout of a vector of this capacity; all bytes are zero.
    Ok(unsafe { Vec::from_raw_parts(start, size, size) })
}

/// Bytes to skip from an address aligned to [`ALIGNMENT`] to one congruent to `host`.
pub fn padding(host: u64) -> u64 {
    host % ALIGNMENT
}
