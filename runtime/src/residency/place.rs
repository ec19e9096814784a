//! The beginning of an execution: where its arrays lie, and what is copied in.

use super::dirty::Carrier;
use super::entry::{Entry, Residency, needs_snapshot};
use super::parts::Use;
use super::windows::Missing;
use crate::base::abi::Array;
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::rows::Rows;
use crate::base::spans::{Span, holds, overlaps, unite, without};
use crate::memory::packed::Pin;
use crate::residency::loose::Owners;
use crate::residency::masks::Masks;

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

impl<W> Entry<W> {
    /// Whether nothing that the execution under way writes is touched by another of its arrays, this one
    /// included.
    fn is_apart_from(&self, array: &Array) -> bool {
        let own = Use::of(array);
        self.uses.iter().all(|used| used.is_apart_from(&own))
    }
}

impl<W: Copy> Residency<W> {
    pub(super) fn near(&self, host: Span) -> Vec<usize> {
        (0..self.entries.len()).filter(|&i| overlaps(self.entries[i].host, host)).collect()
    }

    /// Brings memory for an array of the execution that begins. An error: the original loop runs, and what
    /// was placed is given up ([`Residency::finish`]).
    pub fn place(&mut self, carrier: &mut dyn Carrier<W>, array: &Array) -> Result<Place> {
        let near = self.near(array.span());
        if let Some(&i) = near.iter().find(|&&i| self.entries[i].in_use()) {
            return self.place_beside(carrier, &near, i, array);
        }
        if !array.held() {
            self.drop_entries(carrier, |i| near.contains(&i))?;
            return Ok(Place::Own);
        }
        let i = match near[..] {
            [i] if holds(self.entries[i].host, array.span()) && self.entries[i].takes(array, self.depth) => {
                if needs_snapshot(array) && !self.entries[i].snapshot {
                    self.take_snapshot(carrier, i)?;
                }
                self.bring_windows(carrier, i, array, false)?;
                i
            }
            _ => {
                // What is true of some objects only does not become part of a larger entry, and gets nothing
                // of others.
                let parts: Vec<bool> = self
                    .entries
                    .iter()
                    .enumerate()
                    .map(|(i, entry)| near.contains(&i) && (array.is_guarded() || entry.is_loose()))
                    .collect();
                self.drop_entries(carrier, |i| parts[i])?;
                let near = self.near(array.span());
                let joined = if near.is_empty() { self.join(carrier, array)? } else { None };
                match joined {
                    Some(i) => i,
                    None => self.grow(carrier, &near, array, 0)?,
                }
            }
        };
        Ok(self.held(carrier, i, array))
    }

    /// Entries of memory that an array of the execution that begins reaches in another way, `these`, come
    /// back and go.
    ///
    /// # Errors
    /// [`Error::Awaited`] where the execution uses one of them.
    pub fn displace(&mut self, carrier: &mut dyn Carrier<W>, these: &[bool]) -> Result<()> {
        if self.entries.iter().zip(these).any(|(entry, goes)| *goes && entry.in_use()) {
            return Err(Error::Awaited);
        }
        self.drop_entries(carrier, |i| these[i])
    }

    /// For an array in whose range the execution uses entry `i` already.
    fn place_beside(
        &mut self,
        carrier: &mut dyn Carrier<W>,
        near: &[usize],
        i: usize,
        array: &Array,
    ) -> Result<Place> {
        let entry = &self.entries[i];
        let only_read = array.out_range().is_none();
        // A copy of initial values lies where another array of the execution writes: they can't share memory.
        let apart = entry.is_apart_from(array) || skips("shared");
        let inside = array.held()
            && near.len() == 1
            && holds(entry.host, array.span())
            && entry.takes(array, self.depth)
            && (!needs_snapshot(array) || entry.snapshot);
        if inside && (apart || only_read) {
            self.bring_windows(carrier, i, array, !apart)?;
        }
        if inside && apart {
            return Ok(self.held(carrier, i, array));
        }
        if inside && only_read {
            self.entries[i].masks.add(self.depth, array.mask());
            return Ok(Place::Beside);
        }
        // The array gets memory of its own, while this execution uses some of these.
        self.drop_entries(carrier, |i| near.contains(&i))?;
        Ok(Place::Own)
    }

    /// What is copied in is kept from now on. Nothing is valid that was copied in before.
    fn take_snapshot(&mut self, carrier: &mut dyn Carrier<W>, i: usize) -> Result<()> {
        self.bring_back(carrier, |other| other == i)?;
        let entry = &mut self.entries[i];
        if !skips("late-snapshot") {
            entry.valid.clear();
        }
        entry.forget(entry.host);
        entry.windows.clear();
        carrier.snapshot(entry.device, entry.host.1 - entry.host.0)?;
        entry.snapshot = true;
        Ok(())
    }

    /// Makes an entry that holds the array and what the entries `near` hold, which it replaces, with room up
    /// to an address.
    pub(super) fn grow(
        &mut self,
        carrier: &mut dyn Carrier<W>,
        near: &[usize],
        array: &Array,
        room: u64,
    ) -> Result<usize> {
        let hull = near.iter().fold(array.span(), |hull, &i| {
            (hull.0.min(self.entries[i].host.0), hull.1.max(self.entries[i].host.1))
        });
        // With snapshots or windows it would take more than one copy: the host has it all then.
        let apart = |&i: &usize| !self.entries[i].snapshot && self.entries[i].windows.is_empty();
        if needs_snapshot(array) || !near.iter().all(apart) {
            self.drop_entries(carrier, |i| near.contains(&i))?;
        }
        let room = room.max(hull.1);
        let device = match carrier.allocate((hull.0, room)) {
            Err(Error::OutOfMemory { .. }) => {
                let idle: Vec<bool> = self.entries.iter().map(|entry| !entry.in_use()).collect();
                self.drop_entries(carrier, |i| idle[i] || skips("ended-snapshot"))?;
                carrier.allocate((hull.0, room))?
            }
            allocated => allocated?,
        };
        if let Err(error) = self.fill_grown(carrier, hull, device, needs_snapshot(array)) {
            // The old entries are as they were.
            carrier.give_back(device);
            return Err(error);
        }
        let mut grown = Entry {
            host: hull,
            device,
            room,
            masks: Masks::default(),
            valid: Vec::new(),
            windows: Vec::new(),
            dirty: Vec::new(),
            snapshot: needs_snapshot(array),
            uses: Vec::new(),
            writer: None,
            known: Vec::new(),
            loose: Owners::of(array, self.depth),
            _pin: Pin::of(hull),
        };
        for i in self.near(hull).into_iter().rev() {
            let old = self.entries.swap_remove(i);
            carrier.give_back(old.device);
            grown.masks.merge(&old.masks);
            old.valid.into_iter().for_each(|part| unite(&mut grown.valid, part));
            grown.dirty.extend(old.dirty);
            grown.known.extend(old.known);
            grown.writer = grown.writer.or(old.writer);
        }
        self.entries.push(grown);
        Ok(self.entries.len() - 1)
    }

    /// What entries in the range of a new one have goes there. All that is dirty is valid.
    fn fill_grown(
        &self,
        carrier: &mut dyn Carrier<W>,
        hull: Span,
        device: u64,
        snapshot: bool,
    ) -> Result<()> {
        if snapshot {
            carrier.snapshot(device, hull.1 - hull.0)?;
        }
        for i in self.near(hull) {
            let entry = &self.entries[i];
            for &(start, end) in entry.valid.iter().skip(usize::from(skips("moved-valid"))) {
                let (to, from) = (device + (start - hull.0), entry.device + (start - entry.host.0));
                carrier.move_to(to, from, end - start)?;
            }
        }
        Ok(())
    }

    fn held(&mut self, carrier: &mut dyn Carrier<W>, i: usize, array: &Array) -> Place {
        let entry = &mut self.entries[i];
        entry.masks.add(self.depth, array.mask());
        let shared = entry.uses.iter().any(|used| overlaps(used.touched.span, array.span()));
        entry.uses.push(Use::of(array));
        let start = array.start as u64;
        let (parts, window) = match entry.missing(array, |rows, bytes| carrier.prefers(rows, bytes)) {
            Missing::Nothing => (Vec::new(), None),
            Missing::Parts(parts) => (parts, None),
            Missing::Window(rows) => (Vec::new(), Some(rows)),
        };
        Place::Entry {
            device: entry.device + (start - entry.host.0),
            stale: parts.iter().map(|&(from, to)| (from - start, to - from)).collect(),
            window,
            shared,
        }
    }

    /// What of a part of an array is still to be copied in: another array of the execution may have brought
    /// some of it.
    pub fn lacks(&self, array: &Array, part: Span) -> Vec<Span> {
        self.entry_of(array).map_or_else(Vec::new, |entry| without(part, &entry.valid))
    }

    /// A part of an array was copied in.
    pub fn copied_in(&mut self, array: &Array, part: Span) {
        if let Some(i) = self.index_of(array) {
            unite(&mut self.entries[i].valid, part);
        }
    }

    /// With what memory of an execution's own is filled, before its launches, for an array that lies beside
    /// an entry.
    pub fn beside(&self, array: &Array) -> Option<Filled> {
        let (host, entry) = (array.span(), self.entry_of(array)?);
        let rest = without(host, &entry.valid);
        let there = without(host, &rest);
        let there = there.into_iter().map(|part| (entry.device + (part.0 - entry.host.0), part));
        Some(Filled { there: there.collect(), rest })
    }

    /// Results of some entries go to the program's memory, with one wait for all.
    pub(super) fn bring_back(
        &mut self,
        carrier: &mut dyn Carrier<W>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let dirty: Vec<usize> =
            (0..self.entries.len()).filter(|&i| wanted(i) && !self.entries[i].dirty.is_empty()).collect();
        let Some(&first) = dirty.first() else { return Ok(()) };
        // It would end a snapshot that the execution under way needs.
        let needed = |&i: &usize| self.entries[i].snapshot && self.entries[i].in_use();
        if dirty.iter().any(needed) && !skips("ended-snapshot") {
            return Err(Error::Awaited);
        }
        let results: Vec<_> = dirty.iter().flat_map(|&i| self.entries[i].results()).collect();
        carrier.bring(&results, self.entries[first].writer)?;
        for i in dirty {
            let entry = &mut self.entries[i];
            entry.dirty.clear();
            if entry.snapshot && !skips("old-snapshot") {
                carrier.forget_snapshot(entry.device);
                entry.snapshot = false;
            }
        }
        Ok(())
    }

    /// Results of some entries come back; those that the execution under way does not use go.
    pub(super) fn drop_entries(
        &mut self,
        carrier: &mut dyn Carrier<W>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<()> {
        self.bring_back(carrier, &wanted)?;
        for i in (0..self.entries.len()).rev() {
            if wanted(i) && !self.entries[i].in_use() {
                let entry = self.entries.swap_remove(i);
                carrier.give_back(entry.device);
            }
        }
        Ok(())
    }
}
