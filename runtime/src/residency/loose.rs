//! Entries of arrays whose ranges may reach into other objects.
//!
//! **Problem.** Data decides what a loop over a row of a sparse matrix reads: between the least and the
//! largest of the rows' bounds lies all of it, and perhaps more, if some bound is never used. What is more
//! belongs to any object. The program changes that one without a release of this one, and the device's copy
//! of those bytes is of yesterday. The array's own bytes are not, and no kernel uses others.
//!
//! **Approach.** Such an entry is *loose*: its bytes are valid as far as they belong to its [`Owners`], the
//! objects of one activation that the array may belong to. Only an array that is only read, and belongs to
//! none but these, is placed there; any other one makes the entry go, which costs a copy. In an entry that is
//! not loose such an array is placed only where all of its range is valid, so that nothing of other objects
//! is copied in there.
//!
//! # Invariants
//! - Nothing in a loose entry is written by the device: there are no results, snapshots or windows.
//! - The owners are those of the array that the entry was made for, in its activation: objects that share a
//!   bit share their releases. When that activation returns, or hands over, the entry goes: its caller may
//!   tell fewer objects apart.

use super::entry::{Entry, Residency};
use crate::base::abi::Array;
use crate::base::planted::skips;
use crate::base::spans::without;

/// The objects whose bytes are valid in a loose entry, as the activation at a depth numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owners {
    pub depth: usize,
    pub mask: u32,
}

impl Owners {
    /// Those of an entry that is made for an array.
    pub fn of(array: &Array, depth: usize) -> Option<Owners> {
        array.is_guarded().then(|| Owners { depth, mask: array.mask() })
    }

    /// Whether all that the activation at `depth` knows by `mask` belongs to them.
    pub fn include(&self, depth: usize, mask: u32) -> bool {
        mask != 0 && self.depth == depth && mask & !self.mask == 0
    }
}

impl<W> Entry<W> {
    /// Whether an array of the activation at `depth`, whose range the entry holds, may lie here.
    pub(super) fn takes(&self, array: &Array, depth: usize) -> bool {
        if skips("loose-taken") {
            return true;
        }
        match self.loose {
            Some(owners) => array.out_range().is_none() && owners.include(depth, array.mask()),
            None => !array.is_guarded() || without(array.span(), &self.valid).is_empty(),
        }
    }

    pub fn is_loose(&self) -> bool {
        self.loose.is_some()
    }

    /// The objects of which the entry is true: all, but where it is loose. `mask`: as the activation at
    /// `depth` knows them.
    pub(super) fn is_true_of(&self, depth: usize, mask: u32) -> bool {
        self.loose.is_none_or(|owners| owners.include(depth, mask))
    }

    /// Activations deeper than `depth` are over.
    pub(super) fn disown(&mut self, depth: usize) {
        if let Some(owners) = self.loose.as_mut().filter(|owners| owners.depth > depth) {
            if skips("loose-handed-over") {
                owners.depth = depth;
            } else {
                owners.mask = 0;
            }
        }
    }
}

impl<W> Residency<W> {
    /// The entries that are true of objects of the activation at this depth alone.
    pub(super) fn loose_at(&self, depth: usize) -> impl Iterator<Item = bool> {
        self.entries.iter().map(move |entry| {
            entry.loose.is_some_and(|owners| owners.depth == depth) && !skips("loose-handed-over")
        })
    }
}
