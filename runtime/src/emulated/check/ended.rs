//! What is told, and checked, of an execution as a whole.

use super::Checker;
use super::region::Region;
use super::site::Site;
use crate::base::abi::Array;
use crate::base::caller::fatal;
use crate::base::shape::Shape;
use crate::memory::between;

/// Whether parts of an array's range may be of other objects.
fn is_shared(array: &Array) -> bool {
    array.is_guarded() || between::reaches(array.start as u64, array.bytes)
}

impl Checker {
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
        inputs.filter(|region| !is_shared(&region.host)).map(|region| (region.host, region.begin))
    }

    /// What kernels read of memory that stays, in ranges of which parts may be of other objects: its address
    /// there, that of the program, and the bytes.
    pub fn guarded_reads(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let guarded = self.regions.iter().flatten().filter(|region| region.held && is_shared(&region.host));
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
