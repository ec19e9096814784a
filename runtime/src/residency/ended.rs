//! The end of an execution: its results are the device's until they are asked for.

use super::dirty::{Carrier, Dirty};
use super::entry::{MAX_DIRTY, Residency};
use super::parts::Part;
use crate::base::abi::Array;
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::spans::{Span, overlaps, unite, without};

impl<W: Copy> Residency<W> {
    /// An execution of `writer` succeeded: each of its arrays, with whether its memory stays. The results of
    /// the others are in the program's memory. Some of the former come back at once. After an error they are
    /// lost.
    pub fn ended(&mut self, carrier: &mut dyn Carrier<W>, writer: W, arrays: &[(Array, bool)]) -> Result<()> {
        for (array, _) in arrays.iter().filter(|(_, stays)| *stays) {
            self.keep(writer, array);
        }
        for (array, _) in arrays.iter().filter(|(_, stays)| !*stays) {
            if let Some(part) = Part::written(array) {
                self.overwritten(carrier, part.span)?;
            }
        }
        // Results of an execution share snapshots, so what is too much comes back behind all of them.
        for at in 0..self.entries.len() {
            if self.entries[at].dirty.len() > MAX_DIRTY {
                self.entries[at].unite_changes();
            }
            if self.entries[at].dirty.len() > MAX_DIRTY {
                self.entries[at].uses.clear();
                self.bring_back(carrier, |i| i == at)?;
            }
        }
        self.make_room(carrier)
    }

    /// Where there are too many entries, those that the execution did not use go.
    fn make_room(&mut self, carrier: &mut dyn Carrier<W>) -> Result<()> {
        if self.entries.len() <= self.most {
            return Ok(());
        }
        let idle: Vec<bool> = self.entries.iter().map(|entry| !entry.in_use()).collect();
        if skips("room") {
            self.entries.iter_mut().zip(&idle).filter(|(_, idle)| **idle).for_each(|(e, _)| e.dirty.clear());
        }
        self.drop_entries(carrier, |i| idle[i])
    }

    fn keep(&mut self, writer: W, array: &Array) {
        let (Some(at), Some(result)) = (self.index_of(array), Dirty::of(array)) else { return };
        let entry = &mut self.entries[at];
        entry.writer = Some(writer);
        entry.forget(result.span());
        if array.window().is_some() {
            if !skips("unknown-rows") {
                entry.add_window(array);
            }
        } else if !array.needs_values() && !skips("whole-results") {
            // Written as a whole.
            unite(&mut entry.valid, result.span());
        }
        if entry.is_dirty_with(&result) || skips("forgotten") {
            return;
        }
        entry.add_result(result);
    }

    /// Results in a range are in the program's memory, past the entries: what lies there is of yesterday.
    /// What the same execution left between them comes back, so that no result is left where nothing is
    /// valid.
    fn overwritten(&mut self, carrier: &mut dyn Carrier<W>, span: Span) -> Result<()> {
        for i in 0..self.entries.len() {
            let entry = &mut self.entries[i];
            if !overlaps(entry.host, span) || skips("overwritten") {
                continue;
            }
            entry.uses.clear();
            let among = entry.dirty.iter().any(|result| overlaps(result.span(), span));
            if among && !skips("cut-results") {
                self.bring_back(carrier, |other| other == i)?;
            }
            let entry = &mut self.entries[i];
            let valid = std::mem::take(&mut entry.valid);
            entry.valid = valid.into_iter().flat_map(|part| without(part, &[span])).collect();
            entry.forget(span);
            entry.windows.retain(|(whole, _)| !overlaps(*whole, span));
            let (start, end) = (entry.host.0.max(span.0), entry.host.1.min(span.1));
            carrier.outdated(entry.device + (start - entry.host.0), end - start);
        }
        Ok(())
    }

    /// An execution is over, in whatever way; `failed`: what the device has of the arrays that it writes is
    /// worth nothing.
    pub fn finish(&mut self, carrier: &mut dyn Carrier<W>, arrays: &[Array], failed: bool) {
        self.entries.iter_mut().for_each(|entry| entry.uses.clear());
        if !failed || skips("failed") {
            return;
        }
        let written: Vec<Span> =
            arrays.iter().filter(|a| a.held() && a.out_range().is_some()).map(Array::span).collect();
        self.entries.retain(|entry| {
            let worthless = written.iter().any(|&span| overlaps(entry.host, span));
            if worthless {
                carrier.give_back(entry.device);
            }
            !worthless
        });
    }
}
