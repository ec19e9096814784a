//! Carries out what the books of a hold say, by its queue.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::base::abi::Scop;
use crate::base::config::Config;
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::Span;
use crate::device::results::{self, Returning};
use crate::device::snapshot::Snapshot;
use crate::device::{Queue, buffer};
use crate::process::nvtx::Range;
use crate::process::{lines::ExecutionLine, profile};
use crate::residency::{Back, Carrier};

/// A hold's, but for its books. Made where it is promised that what is dirty is writable as long as this
/// lives.
pub struct Books<'a> {
    pub config: &'static Config,
    pub queue: &'a mut dyn Queue,
    pub snapshots: &'a mut BTreeMap<u64, Snapshot>,
    pub copying: &'a mut bool,
}

/// What the program sees of memory that has a snapshot, and that comes back later as well.
struct Seen {
    memory: u64,
    offset: u64,
    rows: Rows,
    /// Row by row, as it is on the device.
    bytes: Vec<u8>,
}

impl Books<'_> {
    /// What belongs into snapshots once these results are stored: a later kernel may leave there what was
    /// copied in at first, which then has to be stored again.
    fn seen(&mut self, results: &[Back<'_>]) -> Result<Vec<Seen>> {
        let mut all = Vec::new();
        let kept = |back: &&Back<'_>| back.again && self.snapshots.contains_key(&back.memory);
        for Back { memory, offset, result, rows, .. } in results.iter().filter(kept) {
            let whole = Rows { bytes: result.bytes, count: [1; 3], stride: [0; 3] };
            let rows = match result.shape {
                Shape::Rows(rows) => rows,
                _ => rows.unwrap_or(whole),
            };
            let mut bytes = buffer(rows.total())?;
            let mut at = 0;
            let copied = rows.planes(u64::MAX).try_for_each(|plane| {
                // SAFETY: part of the memory; the buffer is as long as all rows.
                let copied = unsafe {
                    let to = bytes.as_mut_ptr().wrapping_add(at);
                    self.queue.copy_plane_out(to, memory + offset, &rows, &plane)
                };
                at += (plane.rows * rows.bytes) as usize;
                copied
            });
            let waited = self.queue.synchronize();
            if copied.is_err() || waited.is_err() {
                // The copy may be under way even after an error.
                std::mem::forget(bytes);
                return copied.and(waited).map(|()| all);
            }
            if !skips("seen-snapshot") {
                all.push(Seen { memory: *memory, offset: *offset, rows, bytes });
            }
        }
        Ok(all)
    }
}

impl Carrier<&'static Scop> for Books<'_> {
    fn allocate(&mut self, (start, end): Span) -> Result<u64> {
        self.queue.allocate(end - start, start)
    }

    fn give_back(&mut self, memory: u64) {
        self.queue.give_back(memory);
        self.snapshots.remove(&memory);
    }

    fn snapshot(&mut self, memory: u64, bytes: u64) -> Result<()> {
        self.snapshots.insert(memory, Snapshot::new(bytes)?);
        Ok(())
    }

    fn forget_snapshot(&mut self, memory: u64) {
        self.snapshots.remove(&memory);
    }

    fn move_to(&mut self, to: u64, from: u64, bytes: u64) -> Result<()> {
        // SAFETY: parts of two allocations of the queue's.
        unsafe { self.queue.copy_within(to, from, bytes) }?;
        self.queue.moved(to, from, bytes);
        Ok(())
    }

    fn outdated(&mut self, device: u64, bytes: u64) {
        self.queue.outdated(device, bytes);
    }

    fn forsaken(&mut self, device: u64, bytes: u64) {
        self.queue.forsaken(device, bytes);
    }

    fn settled(&mut self, device: u64, bytes: u64) {
        self.queue.settled(device, bytes);
    }

    fn prefers(&self, rows: &Rows, bytes: u64) -> bool {
        self.queue.prefers(rows, bytes)
    }

    fn bring(&mut self, results: &[Back<'_>], writer: Option<&'static Scop>) -> Result<()> {
        let Some(scop) = writer else { return Ok(()) };
        let start = Instant::now();
        let seen = self.seen(results)?;
        let _range = Range::open(|| format!("{}: to the host on demand", profile::title(scop)));
        let returning: Vec<Returning<'_>> = results
            .iter()
            .map(|Back { memory, offset, result, again, rows }| {
                let range = *offset as usize..(offset + result.bytes) as usize;
                let before = self.snapshots.get(memory).and_then(|before| before.get(range));
                Returning {
                    from: memory + offset,
                    to: std::ptr::with_exposed_provenance_mut(result.start as usize),
                    bytes: result.bytes,
                    shape: result.shape.clone(),
                    before: before.unwrap_or_default(),
                    again: *again,
                    rows: *rows,
                }
            })
            .collect();
        let mut back = results::Back { config: self.config, scop, queue: &mut *self.queue };
        // SAFETY: the promise of who made this; shapes were checked when the executions began.
        let bytes = unsafe { back.bring(&returning) }?;
        *self.copying = false;
        for Seen { memory, offset, rows, bytes } in seen {
            let Some(snapshot) = self.snapshots.get_mut(&memory) else { continue };
            for (row, at) in bytes.chunks(rows.bytes as usize).zip(rows.offsets()) {
                snapshot[(offset + at) as usize..][..row.len()].copy_from_slice(row);
            }
        }
        if self.config.reports() {
            profile::report(self.config, &ExecutionLine::returned(scop, self.queue.label(), start, bytes));
        }
        Ok(())
    }
}
