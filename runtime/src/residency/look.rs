//! What the program looks at while it stays on the device.
//!
//! **Problem.** A factorisation compares one element with zero in each step, between executions that share
//! the matrix: to bring the matrix back for it costs more than the step, and with it goes the snapshot that
//! only another copy of everything to the device brings again.
//!
//! **Approach.** Of the results only the bytes that are looked at are stored to the program's memory. The
//! books stay as they are: what is *lent* comes back as a whole later, where it stores the same to these
//! bytes, since the program writes nothing of it before a release.

use super::{Back, Carrier, Dirty, Residency};
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::shape::Shape;
use crate::base::spans::{Span, overlaps};

impl Dirty {
    /// What has to come back for a part of the address space, with whole elements where results are found by
    /// comparing them.
    fn among(&self, part: Span) -> Vec<Dirty> {
        let (start, end) = (part.0.max(self.start), part.1.min(self.span().1));
        if start >= end {
            return Vec::new();
        }
        let (first, last) = (start - self.start, end - self.start);
        let dense = |first: u64, last: u64| Dirty {
            start: self.start + first,
            bytes: last - first,
            shape: Shape::Dense,
        };
        match &self.shape {
            Shape::Dense => vec![dense(first, last)],
            Shape::Rows(_) if skips("looked-rows") => Vec::new(),
            Shape::Rows(rows) => {
                let mut found = Vec::new();
                rows.meet((first, last), |first, last| found.push(dense(first, last)));
                found
            }
            Shape::Changed { element } => {
                let unit = (*element).max(1);
                let last =
                    last.checked_next_multiple_of(unit).map_or(self.bytes, |last| last.min(self.bytes));
                vec![Dirty { shape: self.shape.clone(), ..dense(first / unit * unit, last) }]
            }
        }
    }
}

impl<W: Copy> Residency<W> {
    /// Somebody is about to read a part of the address space, and nothing else of what lies beside it.
    ///
    /// # Errors
    /// As for [`Residency::release`].
    pub fn look(&mut self, carrier: &mut dyn Carrier<W>, part: Span) -> Result<()> {
        for entry in &mut self.entries {
            let wanted: Vec<Dirty> = entry.dirty.iter().flat_map(|result| result.among(part)).collect();
            if wanted.is_empty() {
                continue;
            }
            let (memory, first) = (entry.device, entry.host.0);
            let results: Vec<Back<'_>> = wanted
                .iter()
                .map(|result| Back { memory, offset: result.start - first, result, again: true })
                .collect();
            carrier.bring(&results, entry.writer)?;
            if skips("looked-at") {
                entry.dirty.clear();
            }
        }
        Ok(())
    }

    /// Of the entries of a part of the address space: the bytes of results that come back where the entries
    /// do, and whether they take a snapshot with them.
    pub fn lent(&self, part: Span) -> (u64, bool) {
        let met = self.entries.iter().filter(|entry| overlaps(entry.host, part) && !entry.dirty.is_empty());
        met.fold((0, false), |(bytes, snapshot), entry| {
            let own = entry.dirty.iter().fold(0_u64, |sum, result| sum.saturating_add(result.bytes));
            (bytes.saturating_add(own), snapshot || entry.snapshot)
        })
    }
}
