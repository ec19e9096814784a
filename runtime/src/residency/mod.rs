//! Arrays that stay on the device: which bytes are where, as a state machine.
//!
//! **Problem.** Between the executions of an activation, results may stay on the device, arrays of several
//! shapes lie in one range of memory, ranges grow, results come back in parts, and activations lend each
//! other what they have. One byte that is believed to be where it is not is a wrong result far away.
//!
//! **Approach.** This module decides and keeps the books. It touches no memory and knows no device: a
//! [`Carrier`] carries the copies out. The library runs it ([`crate::activation`]), and so does [`explore`],
//! with bytes of a model in place of memory, in *all* sequences of events up to a depth, against a reference
//! that copies everything around each execution.
//!
//! What the compiler promises, for an array marked `HELD`: between a SCoP and the next release that names the
//! array's mask, this thread does not touch the array's memory, and does nothing that orders its accesses
//! with another thread's. What an execution promises: the bytes that it writes through one array are not
//! accessed through another one, but that one which is only read may be asked for what was there before the
//! execution ([`crate::base::abi`]).
//!
//! **Invariants** between executions (those that need no memory are checked by [`Residency::check`]; all of
//! them, byte for byte, by [`explore`]):
//!
//! * *valid*: a byte in `valid`, or in a row of `windows`, has on the device the value that this thread would
//!   read;
//! * *lent*: a byte that the device wrote and that did not come back yet is in `dirty`; nothing else is ever
//!   stored to the program's memory, so what other threads write between those bytes stays
//!   ([`crate::device::returned`]);
//! * *held*: what is in `dirty` is valid: whoever copies what is valid copies all that is dirty, and whoever
//!   copies in what is not valid copies over no result;
//! * *before*: with a `snapshot`, that holds what was copied in of every valid byte whose result does not
//!   come back as a whole anyway. It can't be refreshed without a copy, so it is dropped once results came
//!   back; valid bytes stay valid, and are copied in again only by who needs a snapshot. There are no
//!   `windows` beside it;
//! * *loose*: an entry whose range may reach into other objects is true of its own object's bytes alone, and
//!   has no results ([`loose`]);
//! * *apart*: entries don't overlap; an execution that touches memory of an entry in another way makes it
//!   come back first, or, if it only reads what another of its arrays writes, gets a copy
//!   ([`Place::Beside`]);
//! * *current*: the program's memory has what this thread would read, but for what is lent.
//!
//! Addresses stand for memory: no byte has two of them. Memory that does is not kept
//! ([`crate::memory::mappings`]).

mod ended;
#[cfg(test)]
mod explore;
mod join;
mod known;
mod look;
pub mod loose;
pub mod masks;
mod parts;
mod place;
mod release;
mod windows;

pub use known::{Found, Question};
pub use look::Strip;
pub use parts::{Use, check_apart};
pub use windows::Missing;

use crate::base::abi::Array;
use crate::base::error::Result;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::{Span, holds, overlaps, without};
use crate::memory::packed::Pin;
use crate::residency::loose::Owners;
use crate::residency::masks::Masks;

/// Results of different shapes that an entry keeps; more come back.
const MAX_DIRTY: usize = if cfg!(test) { 2 } else { 8 };

/// Entries that stay behind an execution; beyond, those that it did not use go. Each event looks at all of
/// them: an interpreter that runs for an hour may touch a million objects in one activation.
const MAX_ENTRIES: usize = 256;

/// Bytes that the device wrote.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dirty {
    /// The first byte's address in the program's memory.
    pub start: u64,
    pub bytes: u64,
    pub shape: Shape,
}

impl Dirty {
    /// What an execution writes of an array.
    pub fn of(array: &Array) -> Option<Dirty> {
        let (offset, bytes) = array.out_range()?;
        Some(Dirty { start: array.start as u64 + offset, bytes, shape: array.shape() })
    }

    pub fn span(&self) -> Span {
        (self.start, self.start + self.bytes)
    }
}

/// A result on its way back.
#[derive(Clone, Debug)]
pub struct Back<'a> {
    /// The device memory that it lies in, by its first address.
    pub memory: u64,
    /// How far into it.
    pub offset: u64,
    pub result: &'a Dirty,
    /// It comes back another time as well.
    pub again: bool,
    /// What comes back of a [`Shape::Changed`] is among these.
    pub rows: Option<Rows>,
}

/// Carries out what the books say. All of it takes effect in the order of the calls. `W` stands for the SCoP
/// that wrote.
pub trait Carrier<W> {
    /// Device memory for a range of the program's.
    fn allocate(&mut self, host: Span) -> Result<u64>;

    /// The memory, and a snapshot of it, is not needed any more.
    fn give_back(&mut self, memory: u64);

    /// From now on what is copied into the memory, of so many bytes, is kept beside it.
    fn snapshot(&mut self, memory: u64, bytes: u64) -> Result<()>;

    /// What was kept is not needed any more.
    fn forget_snapshot(&mut self, memory: u64);

    /// What kernels left here moves to another memory.
    fn move_to(&mut self, to: u64, from: u64, bytes: u64) -> Result<()>;

    /// What lies here is not what this thread would read any more.
    fn outdated(&mut self, device: u64, bytes: u64);

    /// Nobody wants what kernels wrote here.
    fn forsaken(&mut self, device: u64, bytes: u64);

    /// All that kernels wrote here is in place: the program may use it.
    fn settled(&mut self, device: u64, bytes: u64);

    /// Whether rows are copied faster than so many bytes.
    fn prefers(&self, rows: &Rows, bytes: u64) -> bool;

    /// Stores results to the program's memory, with one wait for all; what comes back again is what a
    /// snapshot has from now on. An error: nothing was stored.
    fn bring(&mut self, results: &[Back<'_>], writer: Option<W>) -> Result<()>;
}

/// Device memory of a range of the program's.
#[derive(Clone, Debug, Hash)]
pub struct Entry<W> {
    pub host: Span,
    /// The device address of `host.0`.
    pub device: u64,
    /// Up to where the device's memory reaches, as an address of the program's: [`join`].
    room: u64,
    /// Which of the functions' objects it may belong to.
    masks: Masks,
    /// Ascending, disjoint.
    pub valid: Vec<Span>,
    /// Windows, of which the rows are valid as well, with the ranges that they lie in.
    pub windows: Vec<(Span, Rows)>,
    pub dirty: Vec<Dirty>,
    /// What was copied in is kept.
    pub snapshot: bool,
    /// What arrays of the execution under way do with it.
    uses: Vec<Use>,
    /// The last SCoP that wrote it.
    writer: Option<W>,
    /// See [`known`].
    known: Vec<known::Known>,
    /// See [`loose`].
    loose: Option<Owners>,
    /// Of rows that its addresses stand for.
    _pin: Pin,
}

/// See the module documentation.
#[derive(Clone, Debug, Hash)]
pub struct Residency<W> {
    entries: Vec<Entry<W>>,
    /// Of the activation that uses it now.
    depth: usize,
    /// See [`MAX_ENTRIES`].
    most: usize,
}

impl<W> Default for Residency<W> {
    fn default() -> Self {
        Residency::limited(MAX_ENTRIES)
    }
}

/// Where an array of an execution lies.
#[derive(Debug)]
pub enum Place {
    /// In memory of the execution's own; the program's memory is up to date.
    Own,
    /// In memory that stays; `stale` are the parts to copy in, relative to the array's range, or `window` the
    /// rows. `shared`: another array of the execution lies among its bytes.
    Entry { device: u64, stale: Vec<(u64, u64)>, window: Option<Rows>, shared: bool },
    /// In memory of the execution's own, filled from memory that stays: [`Residency::beside`].
    Beside,
}

/// What memory of an execution's own is filled with.
pub struct Filled {
    /// Device address, and the part of the array's range that lies there.
    pub there: Vec<(u64, Span)>,
    /// What comes from the program.
    pub rest: Vec<Span>,
}

pub fn needs_snapshot(array: &Array) -> bool {
    array.out_range().is_some() && matches!(array.shape(), Shape::Changed { .. })
}

impl<W> Entry<W> {
    fn stale(&self, array: &Array) -> Vec<Span> {
        if array.needs_values() { without(array.span(), &self.valid) } else { Vec::new() }
    }

    /// An execution uses it.
    fn in_use(&self) -> bool {
        !self.uses.is_empty()
    }

    /// What comes back.
    fn results(&self) -> impl Iterator<Item = Back<'_>> {
        self.dirty.iter().map(|result| Back {
            memory: self.device,
            offset: result.start - self.host.0,
            result,
            again: false,
            rows: None,
        })
    }

    /// Whether all of a result comes back anyway: as it is, in a range that is the device's as a whole, or
    /// among rows. Elements that are compared with the snapshot are no such range: the snapshot has nothing
    /// of what a kernel wrote without reading, which was never copied in.
    pub fn is_dirty_with(&self, result: &Dirty) -> bool {
        let covers = |old: &Dirty| {
            let inside = holds(old.span(), result.span());
            match (&old.shape, &result.shape) {
                (Shape::Dense, _) => inside,
                // One comparison with the snapshot finds both.
                (Shape::Changed { element: old_element }, Shape::Changed { element }) => {
                    inside
                        && old_element == element
                        && (result.start - old.start).is_multiple_of((*element).max(1))
                }
                (Shape::Rows(old_rows), Shape::Rows(rows)) => {
                    inside && old_rows.hold(result.start - old.start, rows)
                }
                _ => false,
            }
        };
        self.dirty.iter().any(|old| old == result || covers(old))
    }

    /// Why the entry can't be, if it can't.
    fn check(&self) -> std::result::Result<(), &'static str> {
        let ascending = self.valid.windows(2).all(|pair| pair[0].1 < pair[1].0);
        let inside = |span: Span| holds(self.host, span);
        if !ascending || !self.valid.iter().all(|&part| part.0 <= part.1 && inside(part)) {
            return Err("what is valid is no list of parts");
        }
        if self.room < self.host.1 {
            return Err("a range is larger than its memory");
        }
        if self.loose.is_some() && (self.snapshot || !self.windows.is_empty() || !self.dirty.is_empty()) {
            return Err("a range that may reach into other objects has results, or rows");
        }
        if self.snapshot && !self.windows.is_empty() {
            return Err("there are windows beside a snapshot");
        }
        if !self.dirty.is_empty() && self.writer.is_none() {
            return Err("nobody wrote what is dirty");
        }
        for result in &self.dirty {
            if !inside(result.span()) {
                return Err("a result lies outside of its memory");
            }
            if matches!(result.shape, Shape::Changed { .. }) && !self.snapshot {
                return Err("a result has no snapshot");
            }
            if !self.has(result) {
                return Err("what is dirty is not valid");
            }
        }
        Ok(())
    }

    /// Whether all of a result is valid.
    fn has(&self, result: &Dirty) -> bool {
        let rest = without(result.span(), &self.valid);
        match &result.shape {
            _ if rest.is_empty() => true,
            Shape::Rows(rows) => {
                let among = |(span, window): &(Span, Rows)| {
                    result.start >= span.0 && window.hold(result.start - span.0, rows)
                };
                let valid = |start: u64| without((start, start + rows.bytes), &self.valid).is_empty();
                self.windows.iter().any(among) || rows.offsets().all(|offset| valid(result.start + offset))
            }
            _ => false,
        }
    }
}

impl<W> Residency<W> {
    /// With so many entries at most that an execution did not use.
    fn limited(most: usize) -> Residency<W> {
        Residency { entries: Vec::new(), depth: 0, most }
    }

    /// Whether nothing is on the device.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> &[Entry<W>] {
        &self.entries
    }

    /// The SCoP of some result that did not come back.
    pub fn writer(&self) -> Option<W>
    where
        W: Copy,
    {
        self.entries.iter().filter(|entry| !entry.dirty.is_empty()).find_map(|entry| entry.writer)
    }

    /// The entry that an array lies in.
    pub fn entry_of(&self, array: &Array) -> Option<&Entry<W>> {
        self.entries.iter().find(|entry| holds(entry.host, array.span()))
    }

    fn index_of(&self, array: &Array) -> Option<usize> {
        self.entries.iter().position(|entry| holds(entry.host, array.span()))
    }

    /// The entry that an array would be placed in as it is.
    pub fn entry_for(&self, array: &Array) -> Option<&Entry<W>> {
        self.entry_of(array).filter(|entry| entry.takes(array, self.depth))
    }

    /// Whether a launch may change what only the device has.
    pub fn endangers(&self, array: &Array) -> bool {
        array.out_range().is_some() && self.entry_of(array).is_some_and(|entry| !entry.dirty.is_empty())
    }

    /// Which invariant does not hold, of those that need no memory to be looked at. Between executions.
    pub fn check(&self) -> std::result::Result<(), &'static str> {
        for (i, entry) in self.entries.iter().enumerate() {
            entry.check()?;
            if entry.in_use() {
                return Err("an execution that is over uses an entry");
            }
            if self.entries[i + 1..].iter().any(|other| overlaps(other.host, entry.host)) {
                return Err("two entries are of one memory");
            }
        }
        Ok(())
    }
}
