//! What the program looks at while it stays on the device.
//!
//! **Problem.** A factorisation compares one element with zero in each step, between executions that share
//! the matrix: to bring the matrix back for it costs more than the step, and with it goes the snapshot that
//! only another copy of everything to the device brings again.
//!
//! **Approach.** Of the results only the bytes that are looked at are stored to the program's memory. The
//! books stay as they are: what is *lent* comes back as a whole later, since the program writes nothing of
//! it before a release. What a snapshot has of these bytes is what was stored: a kernel may change them back.

use super::dirty::{Back, Carrier, Dirty};
use super::entry::{Entry, Residency};
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::rows::{Rows, meeting};
use crate::base::shape::Shape;
use crate::base::spans::{Span, overlaps};

/// What the program is about to access: bytes, or as many of them at one distance, in a loop.
#[derive(Clone, Copy, Debug)]
pub struct Strip {
    pub span: Span,
    /// If something lies between.
    pub rows: Option<Rows>,
}

impl Strip {
    /// So many bytes, and `times` more of them, each `step` bytes behind the ones before. `None`: they don't
    /// fit the address space.
    pub fn new(start: u64, bytes: u64, step: i64, times: u64) -> Option<Strip> {
        let last = i128::from(start) + i128::from(step) * i128::from(times);
        let low = u64::try_from(last.min(i128::from(start))).ok()?;
        let end = u64::try_from(last.max(i128::from(start)) + i128::from(bytes)).ok()?;
        let stride = step.unsigned_abs();
        let apart = times > 0 && stride > bytes && bytes > 0;
        let rows = Rows { bytes, count: [1, 1, times.saturating_add(1)], stride: [0, 0, stride] };
        Some(Strip { span: (low, end), rows: apart.then_some(rows) })
    }

    /// The bytes of one copy that takes as long as one of these.
    pub fn equivalent(&self) -> u64 {
        self.rows.map_or(self.span.1 - self.span.0, |rows| rows.equivalent())
    }
}

/// A part of a result, and which rows of it.
type Part = (Dirty, Option<Rows>);

impl Dirty {
    /// What has to come back for a strip, and among which rows of it changes are looked for; `None`: all of
    /// it.
    fn of_strip(&self, strip: &Strip) -> Option<Vec<Part>> {
        let Some(rows) = strip.rows else {
            return Some(self.among(strip.span).into_iter().map(|part| (part, None)).collect());
        };
        let (low, stride) = (strip.span.0, rows.stride[2]);
        if self.span().1 <= low {
            return Some(Vec::new());
        }
        let (start, end) = (self.start.saturating_sub(low), self.span().1 - low);
        let met = meeting(start, end, 0, rows.count[2], stride, rows.bytes);
        if met.is_empty() {
            return Some(Vec::new());
        }
        let own = Rows { count: [1, 1, met.end - met.start], ..rows };
        let part = Dirty { start: low + met.start * stride, bytes: own.reach(), shape: Shape::Rows(own) };
        if part.start < self.start || part.span().1 > self.span().1 {
            return None;
        }
        match &self.shape {
            Shape::Dense => Some(vec![(part, None)]),
            Shape::Rows(_) if skips("looked-rows") => Some(Vec::new()),
            Shape::Rows(all) if all.hold(part.start - self.start, &own) => Some(vec![(part, None)]),
            Shape::Changed { element }
                if rows.bytes == *element
                    && stride.is_multiple_of(*element)
                    && (part.start - self.start).is_multiple_of(*element) =>
            {
                Some(vec![(Dirty { shape: self.shape.clone(), ..part }, Some(own))])
            }
            _ => None,
        }
    }

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
    /// Somebody is about to read a strip of the address space, and nothing else of what lies beside it.
    ///
    /// # Errors
    /// As for [`Residency::release`].
    pub fn look(&mut self, carrier: &mut dyn Carrier<W>, strip: &Strip) -> Result<()> {
        let of = |entry: &Entry<W>| -> Option<Vec<Part>> {
            let parts: Option<Vec<Vec<Part>>> = entry.dirty.iter().map(|d| d.of_strip(strip)).collect();
            Some(parts?.concat())
        };
        let Some(all) = self.entries.iter().map(of).collect::<Option<Vec<_>>>() else {
            return self.show(carrier, strip.span);
        };
        for (entry, wanted) in self.entries.iter_mut().zip(all) {
            if wanted.is_empty() {
                continue;
            }
            let (memory, first) = (entry.device, entry.host.0);
            let results: Vec<Back<'_>> = wanted
                .iter()
                .map(|(result, rows)| Back {
                    memory,
                    offset: result.start - first,
                    result,
                    again: true,
                    rows: *rows,
                })
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
