//! The checked emulated device: kernels compiled with `-mllvm -pollyrs-targets=emulated-checked` call in here
//! at each access, and what can't be right ends the program with a message that names array, subscripts,
//! statement, block and thread.
//!
//! | `POLLYRS_RT_CHECK` | finds |
//! |---|---|
//! | `race` | two accesses to one location, one of them a write, by threads of a block between the same barriers or by blocks of one launch |
//! | `bounds` | accesses outside of the array, or of shared memory |
//! | `init` | values that nobody wrote and that decide something or end up in an array of the program |
//! | `copies` | what is copied back and was never written, or was written and is not copied back; of arrays that stay on the device: see [`held`] |
//!
//! # Invariants
//! - One host thread runs all blocks of a checked launch, one after the other: epochs are in order (see
//!   [`shadow`]).
//! - Nothing here changes what kernels compute: with everything switched off, or nothing found, results are
//!   the same.

mod calls;
pub mod held;
pub mod shadow;

pub use calls::Thread;

use std::ffi::{CStr, c_char};
use std::fmt::Write;

use crate::base::abi::{Array, Kernel, Scop};
use crate::base::caller::fatal;
use crate::base::checks::Checks;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use held::Shadow;
use shadow::{Between, Cell, Clock, FRESH, Stamp};

/// `PollyrsEmuSite`: who accesses what.
#[derive(Debug)]
#[repr(C)]
pub struct Site {
    what: *const c_char,
    array: *const c_char,
    bytes: u32,
    flags: u32,
    argument: u32,
    granule: u32,
}

/// `PollyrsEmuSite::flags`: a load whose value may be thrown away. One that races with a write has no defined
/// value, and is no mistake unless this value is used.
const MAY_BE_UNUSED: u32 = 2;
/// A store that combines with what is there, as one operation: in any order with others of its kind.
const UPDATE: u32 = 4;
/// A store that gives elements which the program leaves alone the values that they have: tiles of fused steps
/// write whole rows between the borders of all steps.
const MAY_KEEP: u32 = 8;

/// `PollyrsEmuSite::argument` of shared memory.
const SHARED_MEMORY: u32 = u32::MAX;
/// Where it may be of any array, or of shared memory.
const ANY_ARRAY: u32 = u32::MAX - 1;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::size_of::<Site>() == 32 && std::mem::offset_of!(Site, granule) == 28);

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: a text of the program's constants.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

impl Site {
    fn what(&self) -> String {
        text(self.what)
    }
}

/// An array on the device.
struct Region {
    begin: u64,
    end: u64,
    /// The address of the element with all subscripts 0.
    argument: u64,
    element: u64,
    host: Array,
    scratch: bool,
    held: bool,
    cells: Vec<Cell>,
    /// What the array held before the first store that may keep an element; empty without one.
    before: Vec<u8>,
    /// Which elements other stores wrote.
    changed: Vec<bool>,
    /// Sizes of all dimensions but the first; None: not known.
    inner: Option<Vec<i64>>,
}

impl Region {
    fn cell_range(&self, address: u64, bytes: u64) -> std::ops::Range<usize> {
        let first = (address - self.begin) / self.element;
        let last = (address + bytes.max(1) - 1 - self.begin) / self.element;
        first as usize..last as usize + 1
    }

    /// The bytes of element `at` now.
    fn bytes(&self, at: usize) -> &[u8] {
        let offset = at as u64 * self.element;
        let n = self.element.min(self.end - self.begin - offset) as usize;
        // SAFETY: `placed` had this memory of the emulated device, which lives until the execution ends.
        unsafe { std::slice::from_raw_parts((self.begin + offset) as *const u8, n) }
    }

    /// Element `at` is about to be written.
    fn note_value(&mut self, at: usize, site: &Site) {
        if site.flags & MAY_KEEP == 0 {
            self.changed[at] = true;
        } else if self.before.is_empty() {
            // SAFETY: as in `bytes`.
            let all = unsafe {
                std::slice::from_raw_parts(self.begin as *const u8, (self.end - self.begin) as usize)
            };
            self.before = all.to_vec();
        }
    }

    /// Whether element `at` was written with the value that it had.
    fn is_kept(&self, at: usize) -> bool {
        let (bytes, offset) = (self.bytes(at), at * self.element as usize);
        !self.changed[at] && self.before.get(offset..offset + bytes.len()) == Some(bytes)
    }

    /// Which elements come back, now or later.
    fn returned(&self) -> Vec<bool> {
        let (offset, bytes) = self.host.out_range().unwrap_or((0, 0));
        returned_cells(&self.host.shape(), offset, bytes, self.element, self.cells.len())
    }
}

/// The checks of one execution.
pub struct Checker {
    scop: &'static Scop,
    checks: Checks,
    regions: Vec<Option<Region>>,
    clock: Clock,
    /// The running launch: kernel, and region of each array argument.
    kernel: Option<&'static Kernel>,
    arguments: Vec<Option<usize>>,
    /// The running block's shared memory.
    shared: u64,
    shared_cells: Vec<Cell>,
    granule: u64,
    /// Where each thread last read what nobody wrote.
    origins: Vec<Option<(*const Site, u64)>>,
}

impl Checker {
    pub fn new(scop: &'static Scop, checks: Checks) -> Checker {
        Checker {
            scop,
            checks,
            regions: (0..scop.n_arrays).map(|_| None).collect(),
            clock: Clock::default(),
            kernel: None,
            arguments: Vec::new(),
            shared: 0,
            shared_cells: Vec::new(),
            granule: 1,
            origins: Vec::new(),
        }
    }

    /// An array got its memory. `held`: which has contents of earlier executions and stays, and where in it
    /// the array begins.
    pub fn placed(
        &mut self,
        index: usize,
        host: &Array,
        device: u64,
        argument: u64,
        held: Option<(&Shadow, usize)>,
    ) {
        let element = u64::from(host.element_bytes).max(1);
        let mut cells = vec![FRESH; host.bytes.div_ceil(element) as usize];
        let changed = vec![false; cells.len()];
        if let Some((shadow, start)) = held {
            let (element, bytes) = (element as usize, host.bytes as usize);
            for (at, cell) in cells.iter_mut().enumerate() {
                if shadow.is_defined(start + at * element..start + ((at + 1) * element).min(bytes)) {
                    cell.define();
                }
            }
        }
        let held = held.is_some();
        let scratch = host.flags & crate::base::abi::ARRAY_SCRATCH != 0;
        let (begin, end) = (device, device + host.bytes);
        if let Some(region) = self.regions.get_mut(index) {
            *region = Some(Region {
                begin,
                end,
                argument,
                element,
                host: *host,
                scratch,
                held,
                cells,
                before: Vec::new(),
                changed,
                inner: None,
            });
        }
    }

    /// `bytes` at `to` came from the program.
    pub fn copied_in(&mut self, to: u64, bytes: u64) {
        // Members of structures are arrays among each other's bytes.
        for region in self.regions.iter_mut().flatten() {
            let (begin, end) = (to.max(region.begin), (to + bytes).min(region.end));
            if begin < end {
                let cells = region.cell_range(begin, end - begin);
                region.cells[cells].iter_mut().for_each(Cell::define);
            }
        }
    }

    /// `bytes` at `to` came from another device, with what is known of them there.
    pub fn pulled(&mut self, to: u64, other: &Checker, from: u64, bytes: u64) {
        for (own, theirs) in self.regions.iter_mut().zip(&other.regions) {
            let (Some(own), Some(theirs)) = (own, theirs) else { continue };
            let (begin, end) = (to.max(own.begin), (to + bytes).min(own.end));
            if begin >= end {
                continue;
            }
            let cells = own.cell_range(begin, end - begin);
            let there = theirs.cell_range(from + (begin - to), end - begin);
            for (cell, known) in own.cells[cells].iter_mut().zip(&theirs.cells[there]) {
                if known.undefined() { cell.undefine() } else { cell.define() }
            }
        }
    }

    /// What lies here is another device's.
    pub fn lacks(&mut self, device: u64, bytes: u64) {
        for region in self.regions.iter_mut().flatten() {
            let (begin, end) = (device.max(region.begin), (device + bytes).min(region.end));
            if begin < end {
                let cells = region.cell_range(begin, end - begin);
                region.cells[cells].iter_mut().for_each(Cell::undefine);
            }
        }
    }

    /// What the kernels of another device did in this execution counts as done here.
    pub fn absorb(&mut self, other: &Checker) {
        for (own, theirs) in self.regions.iter_mut().zip(&other.regions) {
            let (Some(own), Some(theirs)) = (own, theirs) else { continue };
            let returned = theirs.returned();
            for (at, (cell, other)) in own.cells.iter_mut().zip(&theirs.cells).enumerate() {
                cell.absorb(other, returned[at] || !theirs.is_kept(at));
            }
        }
    }

    /// Of each byte, whether it has a value.
    pub fn knowledge(&self, from: u64, bytes: u64) -> Vec<u8> {
        let mut known = vec![1; bytes as usize];
        for region in self.regions.iter().flatten() {
            let (begin, end) = (from.max(region.begin), (from + bytes).min(region.end));
            for address in begin..end.max(begin) {
                let cell = &region.cells[((address - region.begin) / region.element) as usize];
                known[(address - from) as usize] &= u8::from(!cell.undefined());
            }
        }
        known
    }

    /// Bytes at `to` came from a device of another rank, with what is known of them there.
    pub fn learn(&mut self, to: u64, known: &[u8]) {
        for region in self.regions.iter_mut().flatten() {
            let (begin, end) = (to.max(region.begin), (to + known.len() as u64).min(region.end));
            if begin >= end {
                continue;
            }
            for at in region.cell_range(begin, end - begin) {
                let first = region.begin + at as u64 * region.element;
                let part = first.max(begin)..(first + region.element).min(end);
                let part = (part.start - to) as usize..(part.end - to) as usize;
                let defined = known[part].iter().all(|byte| *byte != 0);
                if defined { region.cells[at].define() } else { region.cells[at].undefine() }
            }
        }
    }

    /// What the kernels of this device did, for those of other ranks.
    pub fn account(&self) -> Vec<u8> {
        self.regions.iter().flatten().flat_map(|region| region.cells.iter().map(Cell::account)).collect()
    }

    /// [`Checker::absorb`] of a device of another rank.
    pub fn hear(&mut self, account: &[u8]) {
        let cells = self.regions.iter_mut().flatten().flat_map(|region| &mut region.cells);
        cells.zip(account).for_each(|(cell, account)| cell.hear(*account));
    }

    /// The sizes of an array's inner dimensions.
    pub fn shape(&mut self, index: usize, dims: usize, sizes: [i64; 3]) {
        if let Some(Some(region)) = self.regions.get_mut(index) {
            region.inner = dims.checked_sub(1).and_then(|n| sizes.get(..n)).map(<[i64]>::to_vec);
        }
    }

    /// A launch of so many blocks.
    pub fn begin_launch(&mut self, kernel: &'static Kernel, blocks: u64) {
        self.kernel = Some(kernel);
        self.arguments = kernel
            .array_index()
            .iter()
            .map(|&index| {
                self.regions.get(index as usize).is_some_and(Option::is_some).then_some(index as usize)
            })
            .collect();
        self.origins = vec![None; kernel.block_threads() as usize];
        let more = self.clock.begin_launch(kernel.is_graph().then_some(blocks));
        enough(more);
    }

    pub fn begin_block(&mut self, block: u64, shared: u64) {
        self.shared = shared;
        self.shared_cells.clear();
        enough(self.clock.begin_block(block));
    }

    /// A thread of the running block has waited for another block.
    pub fn waited(&mut self, thread: u16, block: u64) {
        self.clock.waited(thread, block);
    }

    /// The running block says that it has ended.
    pub fn signalled(&mut self) {
        self.clock.signalled();
    }

    /// All threads of the block passed a barrier.
    pub fn round(&mut self) {
        enough(self.clock.round());
    }

    /// The region that an access means, by the site or by the address.
    fn region(&self, site: &Site, address: u64) -> Option<usize> {
        if let Some(known) = self.arguments.get(site.argument as usize) {
            return *known;
        }
        let inside = |r: &Region| (r.begin..r.end).contains(&address);
        self.regions.iter().position(|r| r.as_ref().is_some_and(inside))
    }

    /// An access; the result is whether something is read that nobody wrote.
    fn access(&mut self, thread: &Thread, address: u64, site: *const Site, write: Option<bool>) -> bool {
        // SAFETY: a constant of the program.
        let known = unsafe { &*site };
        let linear = thread.linear as u16;
        let bytes = u64::from(known.bytes).max(1);
        let size = self.kernel.map_or(0, |k| u64::from(k.shared_bytes));
        let offset = address.wrapping_sub(self.shared);
        // A task finds some elements at home and others of the same array in memory, by one instruction.
        if known.argument == SHARED_MEMORY || known.argument == ANY_ARRAY && offset < size {
            if offset.checked_add(bytes).is_none_or(|end| end > size) {
                if self.checks.bounds {
                    self.fail(
                        thread,
                        &format!(
                            "{} of {size} bytes of shared memory: byte {}",
                            self.verb(known, write, "outside"),
                            offset as i64
                        ),
                    );
                }
                return false;
            }
            if self.shared_cells.is_empty() {
                self.granule = u64::from(known.granule).max(1);
                self.shared_cells = vec![FRESH; size.div_ceil(self.granule) as usize];
            }
            let cells = (offset / self.granule) as usize..((offset + bytes - 1) / self.granule) as usize + 1;
            let Checker { clock, shared_cells, .. } = self;
            let mut undefined = false;
            for at in cells {
                let cell = &mut shared_cells[at];
                if known.flags & MAY_BE_UNUSED != 0 {
                    undefined |= cell.undefined() || cell.being_written(clock, linear);
                    continue;
                }
                undefined |= write.is_none() && cell.undefined();
                if let Some(conflict) = touch(cell, clock, linear, known, write)
                    && self.checks.race
                {
                    let what = format!("byte {offset} of shared memory, for {},", text(known.array));
                    self.race(thread, known, write, &what, conflict);
                }
            }
            return self.remember(thread, site, address, undefined);
        }
        let Some(index) = self.region(known, address) else {
            if self.checks.bounds {
                let place = format!("{} at an address outside of all arrays", text(known.array));
                self.fail(thread, &self.verb(known, write, &place));
            }
            return false;
        };
        let Some(region) = self.regions[index].as_mut() else { return false };
        if address < region.begin || region.end - address.min(region.end) < bytes {
            if self.checks.bounds {
                let element = self.element(index, address);
                self.fail(
                    thread,
                    &format!(
                        "{} of the range that {} is said to touch",
                        self.verb(known, write, &format!("{element}, outside")),
                        self.scop.array_name(index)
                    ),
                );
            }
            return false;
        }
        let mut undefined = false;
        for at in region.cell_range(address, bytes) {
            if write.is_some() {
                region.note_value(at, known);
            }
            let cell = &mut region.cells[at];
            if known.flags & MAY_BE_UNUSED != 0 {
                undefined |= cell.undefined() || cell.being_written(&self.clock, linear);
                continue;
            }
            undefined |= write.is_none() && cell.undefined();
            if let Some(conflict) = touch(cell, &self.clock, linear, known, write)
                && self.checks.race
            {
                let element = self.element(index, address);
                self.race(thread, known, write, &element, conflict);
            }
        }
        if write == Some(true) && !region.scratch && self.checks.init {
            let element = self.element(index, address);
            self.uninitialised(thread, &self.verb(known, write, &format!("to {element} a value")));
        }
        self.remember(thread, site, address, undefined)
    }

    fn remember(&mut self, thread: &Thread, site: *const Site, address: u64, undefined: bool) -> bool {
        if undefined && let Some(origin) = self.origins.get_mut(thread.linear as usize) {
            *origin = Some((site, address));
        }
        undefined
    }

    fn verb(&self, site: &Site, write: Option<bool>, what: &str) -> String {
        format!("{} {} {what}", site.what(), if write.is_some() { "writes" } else { "reads" })
    }

    /// `A[1][2]`.
    fn element(&self, index: usize, address: u64) -> String {
        let name = self.scop.array_name(index);
        let Some(Some(region)) = self.regions.get(index) else { return name.into_owned() };
        let mut offset =
            (address as i64).wrapping_sub(region.argument as i64).div_euclid(region.element as i64);
        let Some(inner) = region.inner.as_ref().filter(|sizes| sizes.iter().all(|s| *s > 0)) else {
            return format!("{name} + {offset}");
        };
        let mut subscripts = Vec::new();
        for size in inner.iter().rev() {
            subscripts.push(offset.rem_euclid(*size));
            offset = offset.div_euclid(*size);
        }
        subscripts.push(offset);
        subscripts.iter().rev().fold(name.into_owned(), |mut text, s| {
            let _ = write!(text, "[{s}]");
            text
        })
    }

    /// A mistake of `thread`.
    fn fail(&self, thread: &Thread, what: &str) -> ! {
        let place = self.place(Some(thread.abi.block), Some(u64::from(thread.linear)));
        fatal(&format!("{}: {what}, in {place}", self.kernel_name()))
    }

    fn kernel_name(&self) -> String {
        let kernel = self.kernel.map_or_else(String::new, |k| format!("kernel {}", k.name()));
        let at = self.scop.at();
        if at.is_empty() { kernel } else { format!("{at}: {kernel}") }
    }

    fn place(&self, block: Option<u64>, thread: Option<u64>) -> String {
        let block = block.map_or_else(|| "several blocks".into(), |b| format!("block {b}"));
        match (thread, self.kernel) {
            (Some(t), Some(k)) => {
                let [x, y, z] = crate::emulated::blocks::thread_index(t, k.block);
                format!("{block}, thread ({x}, {y}, {z})")
            }
            _ => block,
        }
    }

    fn race(&self, thread: &Thread, site: &Site, write: Option<bool>, what: &str, c: shadow::Conflict) -> ! {
        let Stamp { epoch, site: other, .. } = c.earlier;
        // SAFETY: a constant of the program, or NULL.
        let other = unsafe { other.as_ref() }.map_or_else(String::new, Site::what);
        let place = match c.earlier.thread() {
            None if c.between == Between::Blocks => "several blocks".into(),
            t => self.place(self.clock.block_at(epoch), t),
        };
        let between = match c.between {
            Between::Blocks => "blocks of one launch",
            Between::Threads => "threads between the same barriers",
        };
        let verb = if c.wrote { "written" } else { "read" };
        let own = if write.is_some() { "writes" } else { "reads" };
        self.fail(
            thread,
            &format!(
                "race of {between}: {what} is {verb} by {other} in {place}, and {} {own} it",
                site.what()
            ),
        )
    }

    /// A value that comes from what nobody wrote is used.
    fn uninitialised(&self, thread: &Thread, what: &str) -> ! {
        let origin = self.origins.get(thread.linear as usize).copied().flatten();
        let from = origin.map_or_else(String::new, |(site, address)| {
            // SAFETY: a constant of the program.
            let site = unsafe { &*site };
            let place = if site.argument == SHARED_MEMORY {
                format!(
                    "byte {} of shared memory, for {}",
                    address.wrapping_sub(self.shared),
                    text(site.array)
                )
            } else {
                self.region(site, address).map_or_else(String::new, |index| self.element(index, address))
            };
            format!(" (last of such, {} read {place})", site.what())
        });
        self.fail(
            thread,
            &format!("{what} that comes from memory nobody wrote, or that others write meanwhile{from}"),
        )
    }

    /// What the kernels wrote of memory that stays: address, bytes, and whether they have a value.
    pub fn held_writes(&self) -> impl Iterator<Item = (u64, u64, bool)> {
        self.regions.iter().flatten().filter(|region| region.held).flat_map(|region| {
            let returned = region.returned();
            let counts = move |at: usize| returned[at] || !region.is_kept(at);
            let written = region.cells.iter().enumerate().filter(|(_, cell)| cell.written());
            written.filter(move |(at, _)| counts(*at)).map(|(at, cell)| {
                let begin = region.begin + at as u64 * region.element;
                (begin, region.element.min(region.end - begin), !cell.undefined())
            })
        })
    }

    /// The arrays whose contents may be of earlier executions, and their memory.
    pub fn held_inputs(&self) -> impl Iterator<Item = (Array, u64)> {
        let inputs = self.regions.iter().flatten().filter(|region| region.held && region.host.copied_in());
        inputs.filter(|region| !region.host.is_guarded()).map(|region| (region.host, region.begin))
    }

    /// What kernels read of memory that stays, in ranges of which parts may be of other objects: its address
    /// there, that of the program, and the bytes.
    pub fn guarded_reads(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let guarded = self.regions.iter().flatten().filter(|region| region.held && region.host.is_guarded());
        guarded.flat_map(|region| {
            let read = region.cells.iter().enumerate().filter(|(_, cell)| cell.was_read());
            let places = read.map(|(at, _)| {
                let offset = at as u64 * region.element;
                let bytes = region.element.min(region.end - region.begin - offset);
                (region.begin + offset, region.host.start as u64 + offset, bytes)
            });
            // (Two arrays may be one where no read sees a store: what was written has come back by now.)
            places.filter(|(_, host, bytes)| !self.is_written(*host) && !self.is_written(host + bytes - 1))
        })
    }

    /// Whether kernels wrote to a byte of the program's.
    fn is_written(&self, address: u64) -> bool {
        let mut written = self.regions.iter().flatten().filter(|region| region.host.out_range().is_some());
        written.any(|region| {
            let offset = address.checked_sub(region.host.start as u64).filter(|o| *o < region.host.bytes);
            offset.is_some_and(|o| {
                region.cells.get((o / region.element) as usize).is_some_and(|cell| cell.written())
            })
        })
    }

    /// Ends the program if a byte is written through one array and accessed through another one that is
    /// written, too: the two could lie in one memory, or each in its own, with different results.
    fn check_apart(&self) {
        let written = |region: &&Region| region.host.is_memory() && region.host.out_range().is_some();
        let regions: Vec<(usize, &Region)> = self
            .regions
            .iter()
            .enumerate()
            .filter_map(|(i, r)| Some((i, r.as_ref().filter(written)?)))
            .collect();
        for (n, &(i, a)) in regions.iter().enumerate() {
            for &(j, b) in &regions[n + 1..] {
                let start = |region: &Region| region.host.start as u64;
                let common = start(a).max(start(b))..(start(a) + a.host.bytes).min(start(b) + b.host.bytes);
                for address in common {
                    let cell =
                        |region: &Region| region.cells[((address - start(region)) / region.element) as usize];
                    let (x, y) = (cell(a), cell(b));
                    if x.written() && (y.written() || y.was_read()) || y.written() && x.was_read() {
                        fatal(&format!(
                            "{}: {} and {} are the same byte, and one of them is written",
                            self.scop.name(),
                            self.element(i, a.begin + (address - start(a))),
                            self.element(j, b.begin + (address - start(b)))
                        ));
                    }
                }
            }
        }
    }

    /// The end of the execution: what comes back, now or later, was written, and what was written comes back.
    pub fn finish(&mut self) {
        if !self.checks.copies {
            return;
        }
        self.check_apart();
        for (index, region) in self.regions.iter().enumerate() {
            let Some(region) = region.as_ref().filter(|r| !r.scratch && !r.host.is_fault()) else {
                continue;
            };
            let shape = region.host.shape();
            for (at, (cell, returned)) in region.cells.iter().zip(region.returned()).enumerate() {
                let element = || self.element(index, region.begin + at as u64 * region.element);
                let changed_only = matches!(shape, Shape::Changed { .. });
                if returned && !cell.written() && (!changed_only || cell.undefined()) {
                    fatal(&format!(
                        "{}: {} is copied back, but no kernel wrote it",
                        self.scop.name(),
                        element()
                    ));
                }
                if cell.written() && !returned && !region.is_kept(at) {
                    // SAFETY: a constant of the program, or NULL.
                    let site =
                        unsafe { cell.last_write().site.as_ref() }.map_or_else(String::new, Site::what);
                    fatal(&format!(
                        "{}: {site} wrote {}, which is not copied back",
                        self.scop.name(),
                        element()
                    ));
                }
            }
        }
    }
}

/// Which elements come back.
fn returned_cells(shape: &Shape, offset: u64, bytes: u64, element: u64, n: usize) -> Vec<bool> {
    let mut cells = vec![false; n];
    let mut mark = |from: u64, bytes: u64| {
        for at in from / element..(from + bytes).div_ceil(element) {
            if let Some(cell) = cells.get_mut(at as usize) {
                *cell = true;
            }
        }
    };
    match *shape {
        _ if bytes == 0 => {}
        Shape::Dense | Shape::Changed { .. } => mark(offset, bytes),
        Shape::Rows(Rows { bytes, count, stride }) => {
            for a in 0..count[0] {
                for b in 0..count[1] {
                    for c in 0..count[2] {
                        mark(offset + a * stride[0] + b * stride[1] + c * stride[2], bytes);
                    }
                }
            }
        }
    }
    cells
}

fn touch(
    cell: &mut Cell,
    clock: &Clock,
    thread: u16,
    site: &Site,
    write: Option<bool>,
) -> Option<shadow::Conflict> {
    match write {
        None => cell.read(clock, thread, site),
        Some(undefined) if site.flags & UPDATE != 0 => cell.update(clock, thread, site, undefined),
        Some(undefined) => cell.write(clock, thread, site, undefined),
    }
}

fn enough(more: bool) {
    if !more {
        fatal("the checked device ran out of epochs: check a shorter run");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_checks() {
        assert_eq!(Checks::parse("0"), Some(Checks::default()));
        assert_eq!(Checks::parse("1"), Some(Checks::ALL));
        assert_eq!(Checks::parse("race,init"), Some(Checks { race: true, init: true, ..Checks::default() }));
        assert_eq!(Checks::parse("race,"), None);
        assert_eq!(Checks::parse("races"), None);
    }

    #[test]
    fn cells_that_come_back() {
        let as_text =
            |cells: Vec<bool>| -> String { cells.iter().map(|c| if *c { 'x' } else { '.' }).collect() };
        assert_eq!(as_text(returned_cells(&Shape::Dense, 8, 24, 8, 6)), ".xxx..");
        assert_eq!(as_text(returned_cells(&Shape::Dense, 0, 0, 8, 3)), "...");
        let rows = Shape::Rows(Rows { bytes: 8, count: [1, 2, 2], stride: [0, 32, 12] });
        assert_eq!(as_text(returned_cells(&rows, 4, 56, 4, 16)), ".xx.xx...xx.xx..");
    }
}
