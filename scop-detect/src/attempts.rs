//! Attempts at the regions of one function, and what they may take.
//!
//! **Invariants.** An attempt in vain takes no more than half of what is left for all of them, so that those
//! that follow have their turn; what one nest of ordinary size takes is there for each, as often as all could
//! have been spent once more. Loops of which none is inside another one have less, and so have nests of two:
//! a device gains less by them. What became of a region before ([`Tried`](crate::base::tried::Tried)) is not
//! found out again.

use crate::base::builder::Builder;
use crate::base::cfg::Cfg;
use crate::base::fail::Fail;
use crate::base::invariant_loads::Assumed;
use crate::base::ir::{self, Block};
use crate::base::options::DetectOptions;
use crate::base::region::Candidate;
use crate::base::tried::{Circumstances, CountedStores, Outcome};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{Analyses, LoopData};
use pollyrs_scop::{RejectReason, Scop};
use std::collections::BTreeSet;

/// The reason that regions of an earlier search are left alone for; in no result.
pub(crate) const AGAIN: &str = "the search before";

/// The part of what is left that one attempt may take.
const SHARE: u64 = 2;
/// isl operations that an attempt has in any case for each of its loops, and of how many: a nest of three
/// with a dozen accesses takes half of that.
const LEAST: u64 = 200_000;
const MOST_LEAST: u64 = 4;

pub(crate) struct Attempts<'a> {
    analyses: &'a Analyses<'a>,
    cfg: &'a Cfg,
    options: &'a DetectOptions,
    pub function: String,
    assumed: Assumed,
    /// Blocks that depend on loads of which values were read before.
    affected: BTreeSet<Block>,
    found: usize,
    in_vain: u64,
    /// isl operations of all.
    pub operations: u64,
    /// [`Detection::divided`](crate::Detection).
    pub divided: bool,
    /// [`Detection::cut`](crate::Detection).
    pub cut: bool,
}

impl<'a> Attempts<'a> {
    pub fn new(analyses: &'a Analyses<'a>, cfg: &'a Cfg, options: &'a DetectOptions) -> Attempts<'a> {
        let function = ir::name(analyses.function());
        // A clone under analysis carries the original's name and a suffix.
        let function = function.strip_suffix(".pollyrs").unwrap_or(&function).to_string();
        Attempts {
            analyses,
            cfg,
            options,
            function,
            assumed: Assumed::new(analyses, &cfg.blocks),
            affected: Assumed::affected(analyses, &cfg.blocks),
            found: options.before.len(),
            in_vain: 0,
            operations: 0,
            divided: false,
            cut: false,
        }
    }

    /// Models a region.
    pub fn model(&mut self, c: &Candidate) -> Result<Scop, Fail> {
        self.allows(c)?;
        let limit = self.limit(c);
        match self.known(c, limit) {
            Some(Outcome::InVain(fail)) => Err(fail),
            _ => self.attempt(c, limit),
        }
    }

    /// How many loops the SCoP of a region has.
    pub fn loops(&mut self, c: &Candidate) -> Result<usize, Fail> {
        self.allows(c)?;
        let limit = self.limit(c);
        match self.known(c, limit) {
            Some(Outcome::InVain(fail)) => Err(fail),
            Some(Outcome::Found { loops }) => Ok(loops),
            None => self.attempt(c, limit).map(|scop| scop.loops.len()),
        }
    }

    /// Refuses what is known to be none without a look at it.
    fn allows(&mut self, c: &Candidate) -> Result<(), Fail> {
        if self.options.before.iter().any(|b| b.forbids(c)) || divides_points(self.analyses, c) {
            let reason = RejectReason::Budget { stage: AGAIN.into() };
            return Err(Fail { reason, block: None, location: None });
        }
        self.divided |= self.assumed.divides(self.analyses, c);
        self.assumed.check(self.analyses, c)
    }

    /// The isl operations that an attempt may take.
    fn limit(&self, c: &Candidate) -> u64 {
        let all = self.options.all_operations;
        let headed = || self.analyses.loops().iter().filter(|l| c.blocks.contains(&l.header));
        let loops = (headed().count() as u64).min(MOST_LEAST);
        let least = (LEAST * loops).min((2 * all).saturating_sub(self.in_vain));
        let left = (all.saturating_sub(self.in_vain) / SHARE).max(least).max(1);
        let depths = || headed().map(|l| l.depth);
        let gain = match depths().max().zip(depths().min()).map_or(0, |(most, least)| most - least) {
            0 => self.options.flat_operations.saturating_mul(loops),
            1 => self.options.plane_operations,
            _ => u64::MAX,
        };
        self.options.isl_operations.min(left).min(gain.max(1))
    }

    /// What became of a region before.
    fn known(&mut self, c: &Candidate, limit: u64) -> Option<Outcome> {
        let under = Circumstances {
            counted_stores: Some(self.options.counted_stores),
            loads_suspended: Some(self.options.loads_suspended),
            limit,
        };
        let (outcome, took) = self.options.tried.outcome(self.cfg, c, under)?;
        if let Outcome::InVain(_) = outcome {
            self.in_vain += took;
            self.cut |= took >= limit;
        }
        Some(outcome)
    }

    fn attempt(&mut self, c: &Candidate, limit: u64) -> Result<Scop, Fail> {
        let ctx = isl::Context::new();
        let name = format!("{}.{}", self.function, self.found + 1);
        let counted_stores = CountedStores::new(self.options.counted_stores);
        let scop = ctx.with_budget(limit, || {
            let said = (&self.assumed, &counted_stores);
            let start = || Builder::new(self.analyses, self.cfg, ctx.clone(), c, self.options, said);
            let mut builder = start()?;
            let left_out = builder.begin(true)?;
            match builder.build(name.clone(), self.function.clone()) {
                Err(_) if left_out => {
                    let mut whole = start()?;
                    whole.begin(false)?;
                    whole.build(name, self.function.clone())
                }
                found => found,
            }
        });
        tracing::debug!(
            blocks = c.blocks.len(),
            joined = c.joined,
            operations = ctx.operations(),
            refused = scop.as_ref().err().map(|f| f.reason.to_string()),
            "tried a region"
        );
        let took = ctx.operations();
        self.operations += took;
        self.cut |= took >= limit;
        match &scop {
            Ok(_) => self.found += 1,
            Err(_) => self.in_vain += took,
        }
        let outcome = match &scop {
            Ok(scop) => Outcome::Found { loops: scop.loops.len() },
            Err(fail) => Outcome::InVain(fail.clone()),
        };
        let under = Circumstances {
            counted_stores: counted_stores.answer(),
            loads_suspended: self.depends_on_loads(c).then_some(self.options.loads_suspended),
            limit,
        };
        self.options.tried.note(self.cfg, c, outcome, (under, took));
        scop
    }

    /// Whether anything that the model of a region is made of may depend on loads of which values were read
    /// before: what is in it, or the conditions in front of it.
    fn depends_on_loads(&self, c: &Candidate) -> bool {
        let mut before = std::iter::successors(Some(c.entry), |b| self.cfg.idom(*b));
        // (Where they are suspended they bear no mark.)
        self.options.loads_suspended
            || before.any(|b| self.affected.contains(&b))
            || c.blocks.iter().chain([&c.exit]).any(|b| self.affected.contains(b))
    }
}

/// Whether a region is a part of a nest over points that the program runs through tile by tile, or of one
/// that goes through sums place by place: the nest as a whole is in an order that can be proved to be as
/// good, no part of it is.
fn divides_points(analyses: &Analyses<'_>, c: &Candidate) -> bool {
    let inside = |b: &_| c.blocks.contains(b);
    let whole = |l: &LoopData| l.points || l.grouped;
    analyses.loops().iter().any(|l| whole(l) && l.blocks.iter().any(inside) && !l.blocks.iter().all(inside))
}
