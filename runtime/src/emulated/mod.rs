//! The emulated device: kernels lowered to host code, on memory of their own.
//!
//! It exists for tests and for trying the tool out without a GPU, so it is strict where a GPU is silent:
//!
//! * device memory is separate from the program's and starts as [`POISON`] (a NaN in every float type, -1 in
//!   every integer type), so what nobody copied or wrote shows in the results;
//! * each allocation lies between guard zones; a kernel that wrote there is an error of the compiler, and no
//!   fallback may hide it: the program ends with a message that names the place.
//!
//! How blocks and threads run is in [`crate::emulated::blocks`].

mod blocks;
pub mod check;
mod flight;
mod order;
pub mod tasks;
pub mod threads;

use std::alloc::{Layout, alloc, dealloc};
use std::ops::Range;
use std::time::Instant;

use crate::base::abi::{Array, Scop};
use crate::base::caller::fatal;
use crate::base::config::Config;
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::Span;
use crate::device::code::ModuleSlot;
use crate::device::results::Returning;
use crate::device::{ALIGNMENT, POISON, Queue, buffer, padding};
use crate::emulated::blocks::Grid;
use crate::emulated::check::Checker;
use crate::emulated::check::held::Shadow;
use crate::group::Member;
use crate::memory::packed;

/// What guard zones hold: neither the poison nor a likely value.
const GUARD: u8 = 0xc9;
/// Bytes of each guard zone.
const GUARD_BYTES: usize = 256;

/// One allocation: guard zone, memory, guard zone.
struct Memory {
    start: *mut u8,
    layout: Layout,
    /// Where the memory begins and ends, relative to `start`.
    begin: usize,
    end: usize,
    /// Of memory that stays between executions, if they are checked.
    shadow: Option<Shadow>,
    /// Kernels that were not compiled to be checked may have written here.
    unknown: bool,
}

impl Memory {
    fn new(bytes: u64, host: u64) -> Result<Memory> {
        let out_of_memory = || Error::OutOfMemory { bytes };
        let begin = GUARD_BYTES + padding(host) as usize;
        let end = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_add(begin));
        let end = end.ok_or_else(out_of_memory)?;
        let size = end.checked_add(GUARD_BYTES).ok_or_else(out_of_memory)?;
        let layout = Layout::from_size_align(size, ALIGNMENT as usize).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return Err(out_of_memory());
        }
        // SAFETY: all three parts lie in the allocation.
        unsafe {
            start.write_bytes(GUARD, begin);
            start.add(begin).write_bytes(POISON, end - begin);
            start.add(end).write_bytes(GUARD, size - end);
        }
        Ok(Memory { start, layout, begin, end, shadow: None, unknown: false })
    }

    fn address(&self) -> u64 {
        self.start as u64 + self.begin as u64
    }

    fn len(&self) -> usize {
        self.end - self.begin
    }

    /// The bits of its bytes.
    fn shadow(&mut self) -> &mut Shadow {
        let (len, exact) = (self.len(), !self.unknown);
        self.shadow.get_or_insert_with(|| Shadow::new(len, exact))
    }

    /// Ends the program if some of what kernels wrote in a part did not come back.
    fn expect_clean(&self, part: Range<usize>) {
        let Some(shadow) = &self.shadow else { return };
        if let Some(at) = shadow.dirty(part) {
            fatal(&format!(
                "byte {at} of the memory of {} was written by a kernel and did not come back before the program may use it",
                shadow.name
            ));
        }
    }

    /// The offset of a changed guard byte, relative to the memory's begin.
    fn overrun(&self) -> Option<i64> {
        let outside = (0..self.begin).rev().chain(self.end..self.layout.size());
        // SAFETY: in the allocation, and initialised above.
        let mut changed = outside.filter(|&offset| unsafe { *self.start.add(offset) } != GUARD);
        changed.next().map(|offset| offset as i64 - self.begin as i64)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and dropped once.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// One execution on the emulated device.
pub struct EmulatedQueue {
    scop: &'static Scop,
    config: &'static Config,
    memory: Vec<Memory>,
    landing: Vec<u8>,
    kernel_ms: f64,
    /// Launches so far: part of the seed of the order.
    launches: u64,
    /// Where kernels were compiled to be checked, and checks are on.
    checker: Option<Box<Checker>>,
    /// The execution has launched something.
    launched: bool,
    /// It is one of several devices, and not the first, which keeps the books of what stays on all of them.
    replica: bool,
}

/// What loading a module is elsewhere.
fn usable(config: &Config, scop: &Scop) -> Result<()> {
    config.faults.check(Operation::Module)?;
    match scop.kernels().iter().find(|kernel| kernel.emulated.is_none()) {
        Some(kernel) => Err(Error::NotEmulated(kernel.name().into_owned())),
        None => Ok(()),
    }
}

/// For an execution of `scop`, if its kernels were compiled to be checked and checks are on.
fn checker(config: &Config, scop: &'static Scop) -> Option<Box<Checker>> {
    let checked = config.check.any() && scop.kernels().iter().any(|kernel| kernel.checked());
    checked.then(|| Box::new(Checker::new(scop, config.check)))
}

impl EmulatedQueue {
    pub fn open(config: &'static Config, scop: &'static Scop) -> Result<EmulatedQueue> {
        usable(config, scop)?;
        Ok(EmulatedQueue {
            checker: checker(config, scop),
            scop,
            config,
            memory: Vec::new(),
            landing: Vec::new(),
            kernel_ms: 0.0,
            launches: 0,
            launched: false,
            replica: false,
        })
    }

    /// One of several devices, from 0.
    pub fn open_one(config: &'static Config, scop: &'static Scop, number: usize) -> Result<EmulatedQueue> {
        Ok(EmulatedQueue { replica: number > 0, ..EmulatedQueue::open(config, scop)? })
    }

    /// The bits of the memory at an address, and where they begin.
    fn shadow_at(&mut self, device: u64) -> Option<(&mut Shadow, usize)> {
        let (index, at) = self.memory_at(device)?;
        self.memory[index].shadow.as_mut().map(|shadow| (shadow, at))
    }

    /// What came from the program is what the program has.
    fn note_copy(&mut self, to: u64, bytes: u64) {
        let copies = self.config.check.copies;
        if let Some((shadow, at)) = self.shadow_at(to)
            && let Some(lost) = shadow.copied_in(at..at + bytes as usize)
            && copies
        {
            fatal(&format!("byte {lost} of the memory of {} was copied in over a result", shadow.name));
        }
    }

    /// The memory that an address is in, and where.
    fn memory_at(&self, device: u64) -> Option<(usize, usize)> {
        let inside =
            |memory: &Memory| (memory.address()..memory.address() + memory.len() as u64).contains(&device);
        let index = self.memory.iter().position(inside)?;
        Some((index, (device - self.memory[index].address()) as usize))
    }

    /// Behind the last launch: what kernels read of a range that may reach into other objects is what the
    /// program has. (Before it nobody knows what they will read.)
    fn check_reads(&self, checker: &Checker) {
        for (device, host, bytes) in checker.guarded_reads() {
            let Some((index, at)) = self.memory_at(device) else { continue };
            let Some(shadow) = &self.memory[index].shadow else { continue };
            // SAFETY: the original loop reads these bytes.
            if !unsafe { rows_are_gathered(host, bytes) } {
                continue;
            }
            // SAFETY: the original loop reads these bytes; the array's memory has them too.
            let (here, there) = unsafe {
                (
                    std::slice::from_raw_parts(device as *const u8, bytes as usize),
                    std::slice::from_raw_parts(host as *const u8, bytes as usize),
                )
            };
            self.agree(shadow, (at, here, there));
        }
    }

    /// Ends the program if both sides differ in a part of memory that begins at a byte of the shadow's.
    fn agree(&self, shadow: &Shadow, (at, here, there): (usize, &[u8], &[u8])) {
        if let Some(byte) = shadow.disagreement(at, here, there) {
            fatal(&format!(
                "{}: the program changed byte {byte} of {} while it was on the device, and no release said so",
                self.scop.name(),
                shadow.name
            ));
        }
    }

    /// Before the first launch: what the device has of earlier executions is what the program has, unless it
    /// has yet to come back.
    fn check_agreement(&self) {
        let Some(checker) = self.checker.as_ref().filter(|_| self.config.check.copies) else { return };
        for (array, device) in checker.held_inputs() {
            let Some((index, at)) = self.memory_at(device) else { continue };
            let Some(shadow) = &self.memory[index].shadow else { continue };
            let bytes = array.bytes as usize;
            // Of rows of several lengths, the longest reaches into what is nobody's; what is read is compared
            // behind the launches.
            if packed::of(array.start as u64).is_some() {
                continue;
            }
            // SAFETY: the array's range is readable by the promise of `begin`, and its memory as large.
            let (here, there) = unsafe {
                (
                    std::slice::from_raw_parts(device as *const u8, bytes),
                    std::slice::from_raw_parts(array.start.cast::<u8>(), bytes),
                )
            };
            self.agree(shadow, (at, here, there));
        }
    }
}

impl Queue for EmulatedQueue {
    fn label(&self) -> &'static str {
        "emulated"
    }

    fn allocate(&mut self, bytes: u64, host: u64) -> Result<u64> {
        let memory = Memory::new(bytes, host)?;
        let address = memory.address();
        self.memory.push(memory);
        Ok(address)
    }

    fn give_back(&mut self, device: u64) {
        // A guard that is damaged by now would go unnoticed.
        let _ = self.synchronize();
        if self.config.check.copies {
            let given = self.memory.iter().filter(|memory| memory.address() == device);
            given.for_each(|memory| memory.expect_clean(0..memory.len()));
        }
        self.memory.retain(|memory| memory.address() != device);
    }

    fn aim(&mut self, scop: &'static Scop, _module: &'static ModuleSlot) -> Result<()> {
        usable(self.config, scop)?;
        self.scop = scop;
        self.checker = checker(self.config, scop);
        self.kernel_ms = 0.0;
        self.launched = false;
        Ok(())
    }

    unsafe fn copy_within(&mut self, to: u64, from: u64, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise; device memory is host memory.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes as usize) };
        if let Some(checker) = &mut self.checker {
            checker.copied_in(to, bytes);
        }
        Ok(())
    }

    fn moved(&mut self, to: u64, from: u64, bytes: u64) {
        if let (Some((to, at)), Some((from, start))) = (self.memory_at(to), self.memory_at(from))
            && let Ok([to, from]) = self.memory.get_disjoint_mut([to, from])
        {
            to.unknown |= from.unknown;
            if let Some(shadow) = &mut from.shadow {
                shadow.move_to(start..start + bytes as usize, to.shadow(), at);
            }
        }
    }

    unsafe fn copy_in(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise; device memory is host memory.
        unsafe { std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes as usize) };
        if let Some(checker) = &mut self.checker {
            checker.copied_in(to, bytes);
        }
        self.note_copy(to, bytes);
        Ok(())
    }

    fn placed(&mut self, index: usize, array: &Array, device: u64, argument: u64, held: bool) {
        let place = self.memory_at(device).filter(|_| held);
        let Some(checker) = &mut self.checker else {
            if let Some((memory, _)) = place {
                (self.memory[memory].shadow, self.memory[memory].unknown) = (None, true);
            }
            return;
        };
        let held = place.map(|(memory, at)| {
            let shadow = self.memory[memory].shadow();
            shadow.name = format!("{} in {}", self.scop.array_name(index), self.scop.name());
            (&*shadow, at)
        });
        checker.placed(index, array, device, argument, held);
    }

    fn returned(&mut self) {
        let Some(checker) = self.checker.take() else { return };
        if self.config.check.copies {
            self.check_reads(&checker);
        }
        for (address, bytes, defined) in checker.held_writes() {
            if let Some((index, at)) = self.memory_at(address) {
                self.memory[index].shadow().wrote(at..at + bytes as usize, defined);
            }
        }
        self.checker = Some(checker);
    }

    fn brought(&mut self, results: &[Returning<'_>]) {
        // Some may overlap: no bits change before all are looked at.
        for clears in [false, true] {
            for result in results {
                let Some((index, at)) = self.memory_at(result.from) else { continue };
                let Some(shadow) = &mut self.memory[index].shadow else { continue };
                if clears {
                    if !result.again {
                        shadow.brought(at, result.bytes, &result.shape);
                    }
                } else if let Some(byte) = shadow.unwritten(at, result.bytes, &result.shape)
                    && self.config.check.copies
                {
                    fatal(&format!(
                        "byte {byte} of the memory of {} came back, but no kernel wrote it",
                        shadow.name
                    ));
                }
            }
        }
    }

    fn outdated(&mut self, device: u64, bytes: u64) {
        if let Some((index, at)) = self.memory_at(device) {
            if self.config.check.copies {
                self.memory[index].expect_clean(at..at + bytes as usize);
            }
            if let Some(shadow) = &mut self.memory[index].shadow {
                shadow.outdated(at..at + bytes as usize);
            }
        }
    }

    fn forsaken(&mut self, device: u64, bytes: u64) {
        if let Some((index, at)) = self.memory_at(device)
            && let Some(shadow) = &mut self.memory[index].shadow
        {
            shadow.brought(at, bytes, &Shape::Dense);
        }
    }

    fn settled(&mut self, device: u64, bytes: u64) {
        if let Some((index, at)) = self.memory_at(device).filter(|_| self.config.check.copies) {
            self.memory[index].expect_clean(at..at + bytes as usize);
        }
    }

    fn shape(&mut self, index: usize, dims: usize, sizes: [i64; 3]) {
        if let Some(checker) = &mut self.checker {
            checker.shape(index, dims, sizes);
        }
    }

    fn check(&mut self) {
        if let Some(checker) = &mut self.checker {
            checker.finish();
        }
    }

    unsafe fn launch(&mut self, kernel: usize, blocks: u64, arguments: &[u64]) -> Result<()> {
        let Some(kernel) = self.scop.kernels().get(kernel) else {
            return Err(Error::Descriptor(format!("no kernel {kernel}")));
        };
        self.before_launches();
        let grid = Grid { scop: self.scop, kernel, blocks, launch: self.launches, config: self.config };
        self.launches += 1;
        let start = Instant::now();
        let checker = self.checker.as_deref_mut().filter(|_| kernel.checked());
        // SAFETY: the caller's promise about the arguments.
        unsafe { blocks::run(&grid, arguments, checker) }?;
        self.kernel_ms += start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    fn synchronize(&mut self) -> Result<()> {
        for memory in &self.memory {
            if let Some(offset) = memory.overrun() {
                fatal(&format!(
                    "a kernel of {} wrote outside of an array: at byte {offset} of one with {} bytes",
                    self.scop.name(),
                    memory.end - memory.begin
                ));
            }
        }
        Ok(())
    }

    fn prefers(&self, rows: &Rows, range: u64) -> bool {
        rows.ascend() && rows.total() < range
    }

    fn landing(&mut self, bytes: u64) -> Result<*mut u8> {
        self.landing = buffer(bytes)?;
        Ok(self.landing.as_mut_ptr())
    }

    unsafe fn copy_out(&mut self, to: *mut u8, from: u64, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise; device memory is host memory.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, bytes as usize) };
        Ok(())
    }

    fn kernel_ms(&mut self) -> f64 {
        self.kernel_ms
    }
}

impl Member for EmulatedQueue {
    fn before_launches(&mut self) {
        if !std::mem::replace(&mut self.launched, true) && !self.replica {
            self.check_agreement();
        }
    }

    const SHARED_COPY: u64 = 0;
    const LINKS: bool = false;

    unsafe fn pull(&mut self, to: u64, other: &Self, from: u64, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise; device memory is host memory.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes as usize) };
        if let (Some(own), Some(theirs)) = (&mut self.checker, &other.checker) {
            own.pulled(to, theirs, from, bytes);
        }
        if let Some((shadow, at)) = self.shadow_at(to) {
            shadow.is_here(at..at + bytes as usize, true);
        }
        Ok(())
    }

    unsafe fn copy_in_replica(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise; device memory is host memory.
        unsafe { std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes as usize) };
        if let Some(checker) = &mut self.checker {
            checker.copied_in(to, bytes);
        }
        Ok(())
    }

    fn give_back_replica(&mut self, device: u64) {
        let _ = self.synchronize();
        self.memory.retain(|memory| memory.address() != device);
    }

    fn lacks(&mut self, device: u64, bytes: u64) {
        if let Some(checker) = &mut self.checker {
            checker.lacks(device, bytes);
        }
        if let Some((shadow, at)) = self.shadow_at(device) {
            shadow.is_here(at..at + bytes as usize, false);
        }
    }

    fn copied_elsewhere(&mut self, device: u64, bytes: u64) {
        self.note_copy(device, bytes);
        if let Some((shadow, at)) = self.shadow_at(device) {
            shadow.is_here(at..at + bytes as usize, false);
        }
    }

    fn share(&mut self, device: u64, first: &Self, from: u64, valid: &[Span]) {
        let bits = first.memory_at(from).and_then(|(index, _)| first.memory[index].shadow.as_ref());
        let bits = bits.map(|shadow| shadow.replica(valid));
        if let Some((index, _)) = self.memory_at(device) {
            let memory = &mut self.memory[index];
            (memory.unknown, memory.shadow) = (bits.is_none(), bits);
        }
    }

    unsafe fn receive(&mut self, to: u64, bytes: &[u8], known: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise; device memory is host memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
        if let Some(checker) = &mut self.checker {
            checker.learn(to, known);
        }
        if let Some((shadow, at)) = self.shadow_at(to) {
            shadow.is_here(at..at + bytes.len(), true);
        }
        Ok(())
    }

    fn knowledge(&self, from: u64, bytes: u64) -> Vec<u8> {
        self.checker.as_ref().map_or_else(Vec::new, |checker| checker.knowledge(from, bytes))
    }

    fn account(&self) -> Vec<u8> {
        self.checker.as_ref().map_or_else(Vec::new, |checker| checker.account())
    }

    fn hear(&mut self, account: &[u8]) {
        if let Some(checker) = &mut self.checker {
            checker.hear(account);
        }
    }

    fn absorb(&mut self, other: &Self) {
        if let (Some(own), Some(theirs)) = (&mut self.checker, &other.checker) {
            own.absorb(theirs);
        }
    }
}

/// Behind addresses of rows ([`packed`]) is what was sent last: brings what the program has there now.
/// Whether it is there.
///
/// # Safety
/// The program's rows are readable where it says so, and nobody else uses what is behind the addresses.
unsafe fn rows_are_gathered(start: u64, bytes: u64) -> bool {
    // SAFETY: the caller's promise.
    packed::of(start).is_none_or(|rows| unsafe { rows.gather((start, start + bytes), true, 1) }.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_poisoned_aligned_like_the_host_and_guarded() {
        for host in [0u64, 8, 24, 255, 256, 4104] {
            for bytes in [1u64, 7, 256, 4097] {
                let memory = Memory::new(bytes, host).unwrap();
                assert_eq!(memory.address() % ALIGNMENT, host % ALIGNMENT);
                let data = memory.address() as *mut u8;
                // SAFETY: inside the allocation, guard zones included.
                unsafe {
                    assert!((0..bytes as usize).all(|i| *data.add(i) == POISON));
                    data.write_bytes(0, bytes as usize);
                    assert_eq!(memory.overrun(), None);
                    *data.add(bytes as usize) = 0;
                    assert_eq!(memory.overrun(), Some(bytes as i64));
                    *data.sub(1) = 0;
                    assert_eq!(memory.overrun(), Some(-1));
                }
            }
        }
        assert!(matches!(Memory::new(u64::MAX, 0), Err(Error::OutOfMemory { .. })));
        assert!(matches!(Memory::new(1 << 62, 0), Err(Error::OutOfMemory { .. })));
    }
}
