//! The rule for updates that were regrouped: one statement `S` of the original is `S'` (with other iterators
//! and a cell `P` of its own for each part), a statement that sets each `P` to the identity, and a statement
//! `R` that applies the update to the original cell `X` with each `P`.
//!
//! 1. *Form.* `S'` has the instances of `S`, one for one, with the same body, accesses and integers, but that
//!    it updates `P` and not `X`. The start only stores the identity; `R` only runs the instructions of the
//!    update with the original accesses of `X`. No other statement touches `P`.
//! 2. *Original chains.* The flow of `S` to itself through the cell of `X` that it updates joins consecutive
//!    instances among those with the same first iterators `o`, and only the last one of a chain is seen by
//!    anything else, be it another operand of `S`, which is never the updated cell.
//! 3. *Parts.* Each `P` is set once for each `o`, before it is read; the flow of `S'` to itself through `P`
//!    joins its instances into one path for each `P` and `o`, which ends at the one `R` that reads this `P`
//!    and has this `o`. The instances of one path have the `o` of their `R`.
//! 4. *Rest.* The flow of `R` to itself through `X` joins consecutive instances of the same `o`; what the
//!    first one reads, and what sees the last one, is what the first of the original chain reads and what
//!    sees its last, and every order of other statements against the chain is kept.
//! 5. *Operands.* Where operands of `S` are other cells of `X`, those of `S'` see the same: a statement
//!    outside, the end of a chain (of `S`, now of `R`), or what the memory held before.
//! 6. *Order.* If the operation does not commute: of two instances of a chain, the earlier one stays the
//!    earlier one in its part, or its part is applied earlier.
//!
//! 7. *Companions.* An update may have several cells `X`, which it changes together, each with a `P` of its
//!    own: all of the above holds of each of them, with the same `o`, and the cells of one part have the same
//!    subscripts in each `P`, so that their paths are the same.
//!
//! Each value of `X` that others see is then the original first value updated by the same values, grouped by
//! parts (and, only if the operation commutes, in another order).

mod chains;
mod form;

use super::Check;
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Reduction, Statement};

/// A statement that was regrouped, and the two that belong to it.
struct Regrouped<'a> {
    /// `S`, `S'`, the one that sets the parts, and `R`.
    old: &'a Statement,
    new: &'a Statement,
    start: &'a Statement,
    rest: &'a Statement,
    /// The update of `S`.
    update: &'a Reduction,
    /// `{ S' -> S }`
    view: &'a isl::Map,
}

impl Check<'_> {
    /// The arrays of partial results, one for each cell of the update.
    pub(super) fn partial(&self) -> Vec<ArrayId> {
        if !self.made.scans.is_empty() {
            return self.running();
        }
        let Some(s) = self.made.instances.keys().next().map(|id| &self.new.statements[id.0]) else {
            return vec![];
        };
        let cells = s.reduction.iter().flat_map(Reduction::cells);
        let arrays = cells.filter_map(|c| Some(s.accesses.get(c.write)?.array));
        arrays.filter(|a| self.is_new(*a)).collect()
    }

    /// Rule 6 of the module above.
    pub(super) fn regrouped(&mut self) -> Result<()> {
        if !self.made.scans.is_empty() {
            return self.scanned();
        }
        let Some((id, view)) = self.made.instances.iter().next() else { return Ok(()) };
        self.report(self.made.instances.len() == 1, || "two statements were regrouped at once".into());
        let Some(regrouped) = self.form(*id, view)? else {
            self.report(false, || "a regrouped statement of another form".into());
            return Ok(());
        };
        let mut outer = None;
        for (n, cell) in regrouped.update.cells().into_iter().enumerate() {
            let own = self.chains(&regrouped, n, cell)?;
            self.report(n == 0 || own == outer, || "cells of one update have different chains".into());
            outer = own;
        }
        Ok(())
    }
}
