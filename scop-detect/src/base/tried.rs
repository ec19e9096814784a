//! Regions that were tried, for further searches in the same function.
//!
//! **Problem.** A function is searched again where a later stage refuses what was found, where too much
//! became part of a statement, and to find out whether there is more without values that were read before
//! loops ([`crate::base::invariant_loads`]). Most regions are met each time, and most are no SCoP.
//!
//! **Invariants.** All searches that share what is remembered are in one function or a copy of it: regions
//! are known by the numbers of the blocks at their ends. What became of a region depends on the region, on
//! [`counted_stores`](crate::DetectOptions::counted_stores) if it was asked for, on
//! [`loads_suspended`](crate::DetectOptions::loads_suspended) where anything in it depends on such loads, and
//! on its limit if it ended there; it is used where all these are the same. What an attempt in vain took
//! counts again, so that the others have the limits that they had.

use crate::base::cfg::Cfg;
use crate::base::fail::Fail;
use crate::base::ir::Block;
use crate::base::region::Candidate;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Whether loops that store may be parts of statements, and whether anything depended on it.
pub(crate) struct CountedStores {
    allowed: bool,
    asked: Cell<bool>,
}

impl CountedStores {
    pub fn new(allowed: bool) -> CountedStores {
        CountedStores { allowed, asked: Cell::new(false) }
    }

    pub fn allowed(&self) -> bool {
        self.asked.set(true);
        self.allowed
    }

    /// The answer, if it was asked for.
    pub fn answer(&self) -> Option<bool> {
        self.asked.get().then_some(self.allowed)
    }
}

/// What became of an attempt.
#[derive(Clone)]
pub(crate) enum Outcome {
    /// A SCoP of so many loops.
    Found {
        loops: usize,
    },
    InVain(Fail),
}

/// What an attempt depended on beside the region.
#[derive(Clone, Copy)]
pub(crate) struct Circumstances {
    /// If it was asked.
    pub counted_stores: Option<bool>,
    /// If anything depends on it.
    pub loads_suspended: Option<bool>,
    pub limit: u64,
}

struct Attempt {
    outcome: Outcome,
    /// The block that is to blame, by its number.
    block: Option<usize>,
    under: Circumstances,
    operations: u64,
}

/// What was tried in a function.
#[derive(Default)]
pub struct Tried(RefCell<BTreeMap<(usize, usize), Attempt>>);

impl std::fmt::Debug for Tried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} regions", self.0.borrow().len())
    }
}

fn key(cfg: &Cfg, c: &Candidate) -> Option<(usize, usize)> {
    Some((cfg.id(c.entry)?, cfg.id(c.exit)?))
}

impl Tried {
    /// What would become of a region, and the isl operations that it took to find out.
    pub(crate) fn outcome(&self, cfg: &Cfg, c: &Candidate, under: Circumstances) -> Option<(Outcome, u64)> {
        let tried = self.0.borrow();
        let before = tried.get(&key(cfg, c)?)?;
        let same = |then: Option<bool>, now: Option<bool>| then.is_none() || then == now;
        let ended = before.operations >= before.under.limit;
        let fits = same(before.under.counted_stores, under.counted_stores)
            && same(before.under.loads_suspended, under.loads_suspended)
            && if ended { under.limit <= before.under.limit } else { under.limit > before.operations };
        let outcome = match &before.outcome {
            Outcome::InVain(fail) => {
                let block: Option<Block> = before.block.map(|b| cfg.blocks[b]);
                Outcome::InVain(Fail { block, ..fail.clone() })
            }
            found => found.clone(),
        };
        fits.then_some((outcome, before.operations))
    }

    pub(crate) fn note(
        &self,
        cfg: &Cfg,
        c: &Candidate,
        outcome: Outcome,
        (under, operations): (Circumstances, u64),
    ) {
        let Some(key) = key(cfg, c) else { return };
        let block = match &outcome {
            Outcome::InVain(fail) => fail.block.and_then(|b| cfg.id(b)),
            Outcome::Found { .. } => None,
        };
        self.0.borrow_mut().insert(key, Attempt { outcome, block, under, operations });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{function, to, with_analyses};
    use pollyrs_scop::RejectReason;

    #[test]
    fn what_was_tried_holds_under_the_same_circumstances() {
        let under =
            |counted_stores, loads_suspended, limit| Circumstances { counted_stores, loads_suspended, limit };
        let now = |counted, suspended, limit| under(Some(counted), Some(suspended), limit);
        // (what it depended on, operations, what is asked for, whether it is known)
        let table = [
            (under(None, None, 100), 10, now(false, true, 100), true),
            (under(None, None, 100), 10, now(false, true, 11), true),
            // It would end at its limit now,
            (under(None, None, 100), 10, now(false, true, 10), false),
            // as it did then: with more it may not.
            (under(None, None, 100), 101, now(true, false, 100), true),
            (under(None, None, 100), 101, now(true, false, 50), true),
            (under(None, None, 100), 101, now(true, false, 200), false),
            (under(Some(true), None, 100), 10, now(true, false, 100), true),
            (under(Some(true), None, 100), 10, now(false, false, 100), false),
            (under(None, Some(false), 100), 10, now(true, false, 100), true),
            (under(None, Some(false), 100), 10, now(true, true, 100), false),
        ];
        with_analyses(&function(&[to("i", "%n")], ""), |analyses| {
            let cfg = Cfg::new(analyses);
            let header = analyses.loops()[0].header;
            let region = cfg.region(header, analyses.loops()[0].exit.unwrap()).unwrap();
            for (n, (then, operations, asked, known)) in table.into_iter().enumerate() {
                let tried = Tried::default();
                let fail = Fail { block: Some(header), ..Fail::new(RejectReason::ControlFlow, header) };
                tried.note(&cfg, &region, Outcome::InVain(fail), (then, operations));
                let found = tried.outcome(&cfg, &region, asked);
                assert_eq!(found.is_some(), known, "{n}");
                if let Some((Outcome::InVain(fail), took)) = found {
                    assert_eq!((fail.block, took), (Some(header), operations), "{n}");
                }
            }
        });
    }
}
