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
mod ended;
pub mod held;
mod members;
mod region;
mod report;
pub mod shadow;
mod site;
mod thread;

pub use site::Site;
pub use thread::{Thread, thread_index};

use crate::base::abi::{Array, Kernel, Scop};
use crate::base::caller::fatal;
use crate::base::checks::Checks;
use held::Shadow;
use region::Region;
use shadow::{Cell, Clock, FRESH};
use site::{ANY_ARRAY, MAY_BE_UNUSED, SHARED_MEMORY, UPDATE, text};

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
        if !address.is_multiple_of(known.multiple()) && self.checks.bounds {
            let place =
                format!("{}, not at a multiple of {}", self.element(index, address), known.multiple());
            self.fail(thread, &self.verb(known, write, &place));
        }
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
}
