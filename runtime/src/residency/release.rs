//! What the program is about to do, and what activations of functions hand over.

use super::dirty::Carrier;
use super::entry::Residency;
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::spans::{Span, overlaps};

impl<W: Copy> Residency<W> {
    /// The program is about to read objects of `read`, and to write objects of `write`.
    ///
    /// # Errors
    /// Results are lost, if there are still some.
    pub fn release(&mut self, carrier: &mut dyn Carrier<W>, read: u32, write: u32) -> Result<()> {
        let depth = self.depth;
        let met = |mask| self.entries.iter().map(|entry| entry.masks.met(depth, mask)).collect::<Vec<_>>();
        let (read, written) = (met(read), met(write));
        self.part_with(carrier, &read, &written)
    }

    /// Somebody is about to read a part of the address space, whatever objects that is: an execution looks at
    /// numbers before it begins.
    ///
    /// # Errors
    /// As for [`Residency::release`].
    pub fn show(&mut self, carrier: &mut dyn Carrier<W>, part: Span) -> Result<()> {
        let read: Vec<bool> = self.entries.iter().map(|entry| overlaps(entry.host, part)).collect();
        let written = vec![false; read.len()];
        self.part_with(carrier, &read, &written)
    }

    /// The program is about to write a part of the address space, whatever objects that is.
    ///
    /// # Errors
    /// As for [`Residency::release`].
    pub fn write(&mut self, carrier: &mut dyn Carrier<W>, part: Span) -> Result<()> {
        let written: Vec<bool> = self.entries.iter().map(|entry| overlaps(entry.host, part)).collect();
        self.part_with(carrier, &written, &written)
    }

    /// Some entries come back, and those of `written` with them and go.
    fn part_with(&mut self, carrier: &mut dyn Carrier<W>, read: &[bool], written: &[bool]) -> Result<()> {
        let brought = self.bring_back(carrier, |i| read[i] || written[i]);
        if brought.is_err() && self.writer().is_some() {
            return brought;
        }
        for (i, entry) in self.entries.iter().enumerate() {
            if read[i] || written[i] {
                carrier.settled(entry.device, entry.host.1 - entry.host.0);
            }
        }
        let mut dropped = written.iter();
        self.entries.retain(|entry| {
            let dropped = dropped.next() == Some(&true) && !skips("kept-written");
            if dropped {
                carrier.give_back(entry.device);
            }
            !dropped
        });
        Ok(())
    }

    /// The program is about to free the objects of `dead`; their release follows. What lies in no others
    /// goes, without a copy.
    pub fn discard(&mut self, carrier: &mut dyn Carrier<W>, dead: u32) {
        let depth = self.depth;
        self.entries.retain(|entry| {
            let mask = entry.masks.at(depth);
            let dies = mask != 0 && (mask & !dead == 0 || skips("discarded") && mask & dead != 0);
            if dies {
                carrier.forsaken(entry.device, entry.host.1 - entry.host.0);
                carrier.give_back(entry.device);
            }
            !dies
        });
    }

    /// The activation at `depth` uses it from now on; those that it called are over.
    pub fn turn_to(&mut self, depth: usize) {
        if depth < self.depth {
            self.entries.iter_mut().for_each(|entry| {
                entry.masks.cut(depth);
                entry.disown(depth);
            });
        }
        self.depth = depth;
    }

    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The activation that uses it returns; see [`crate::residency::masks::Masks::hand_over`]. What the
    /// caller doesn't know, if there is such, has to go ([`Residency::drop_these`]) before the caller goes on
    /// ([`Residency::turn_to`]).
    pub fn hand_over(&mut self, known: &[u32]) -> Option<Vec<bool>> {
        let depth = self.depth;
        let loose: Vec<bool> = self.loose_at(depth).collect();
        let entries = self.entries.iter_mut().zip(loose);
        let unknown: Vec<bool> =
            entries.map(|(entry, loose)| !entry.masks.hand_over(depth, known) || loose).collect();
        (unknown.contains(&true) && !skips("handed-over")).then_some(unknown)
    }

    /// Parts with some entries.
    ///
    /// # Errors
    /// As for [`Residency::release`].
    pub fn drop_these(&mut self, carrier: &mut dyn Carrier<W>, these: &[bool]) -> Result<()> {
        self.part_with(carrier, these, these)
    }
}
