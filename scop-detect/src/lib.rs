//! Finds SCoPs in LLVM IR.
//!
//! **Problem.** Find the parts of a function whose control flow and memory accesses are affine in loop
//! counters and symbolic constants, and describe them as [`pollyrs_scop::Scop`]. What follows Polly (Grosser,
//! Größlinger, Lengauer, "Polly – Performing polyhedral optimizations on a low-level intermediate
//! representation", PPL 2012) is its view of IR through scalar evolution and regions; what differs is that
//! values may cross statements freely, that statements are finer than blocks, and that each optimistic step
//! is an assumption checked at run time.
//!
//! ```text
//! candidates   regions to try, largest first                               (versions: what is left out of them)
//!   domains      control flow      → iteration domains
//!   effects      stores, cells     → what is computed, where values come from   (scalars: the cells)
//!   webs         cells that only hand one value on, joined
//!   subregions   control flow on data → parts of statements
//!   statements   effects           → statements                                 (accesses, strides)
//!   updates      sums and the like in elements that data chooses
//!   scatters     stores to elements that a list gives
//!   appends      stores to elements that a count gives
//!   promises     stores to elements that the program says are different
//!   fields       members of structures, as arrays of one width each
//!   finish       statements        → the finished Scop                          (schedule)
//!   carried      cells of values that several loops carry, joined
//!   in_place     pairs of arrays that may be one
//!   unwritten    loads that stand for values from before a loop
//! scev_affine  scalar evolution    → affine functions and polynomials, assumptions
//!                                    (extents: named sizes, remainders: `% n`, ranges: products on the host)
//! ```
//!
//! **Invariants.** Detection changes nothing in the function. Every SCoP returned has passed
//! [`pollyrs_scop::verify`]. SCoPs do not overlap. Every loop that is in no SCoP has an outer, inner or own
//! loop with a [`Rejection`].
//!
//! **Example.** `void f(int n, float *A) { for (int i = 0; i < n; i++) A[i] = 2 * A[i]; }` gives
//! ```text
//! scop f: param n i32, array float A[*]
//!   S0: domain [n] -> { S0[i0] : 0 <= i0 < n }; read S0[i0] -> A[i0]; must-write S0[i0] -> A[i0]
//! ```

mod affine;
mod base;
mod control;
mod memory;
mod outcome;
mod values;

pub use base::detection::Detection;
pub use base::options::{Before, DetectOptions, Wanted};
pub use values::reductions::{ordered_sum, running_total};

use base::builder::Builder;
use base::cfg::Cfg;
use base::fail::Fail;
use base::invariant_loads::Assumed;
use base::ir;
use base::region::Candidate;
use control::candidates::Search;
pub use pollyrs_delinearize::Known;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::Analyses;
use pollyrs_scop::{RejectReason, Scop};
use std::collections::BTreeSet;

/// The reason that regions of an earlier search are left alone for; in no result.
const AGAIN: &str = "the search before";

/// Whether a region is a part of a nest over points that the program runs through tile by tile: the nest as a
/// whole is in an order that can be proved to be as good, no part of it is.
fn divides_points(analyses: &Analyses<'_>, c: &Candidate) -> bool {
    let inside = |b: &_| c.blocks.contains(b);
    analyses.loops().iter().any(|l| l.points && l.blocks.iter().any(inside) && !l.blocks.iter().all(inside))
}

/// The part of what is left that one attempt may take.
const SHARE: u64 = 2;
/// isl operations that an attempt has in any case for each of its loops, and of how many: a nest of three
/// with a dozen accesses takes half of that.
const LEAST: u64 = 200_000;
const MOST_LEAST: u64 = 4;

/// Finds the SCoPs of the function that `analyses` are of.
pub fn detect(analyses: &Analyses<'_>, options: &DetectOptions) -> Detection {
    let cfg = Cfg::new(analyses);
    let function = ir::name(analyses.function());
    // A clone under analysis carries the original's name and a suffix.
    let function = function.strip_suffix(".pollyrs").unwrap_or(&function).to_string();
    let assumed = Assumed::new(analyses, &cfg.blocks);
    let mut count = options.before.len();
    let mut divided = false;
    let (mut operations, mut in_vain) = (0u64, 0u64);
    let mut model = |c: &Candidate| -> Result<Scop, Fail> {
        if options.before.iter().any(|b| b.forbids(c)) || divides_points(analyses, c) {
            return Err(Fail {
                reason: RejectReason::Budget { stage: AGAIN.into() },
                block: None,
                location: None,
            });
        }
        divided |= assumed.divides(analyses, c);
        assumed.check(analyses, c)?;
        let ctx = isl::Context::new();
        let name = format!("{function}.{}", count + 1);
        // An attempt in vain takes no more than half of what is left: those that follow have their turn. What
        // one nest of ordinary size takes is there for each, as often as all could have been spent once more.
        let loops = analyses.loops().iter().filter(|l| c.blocks.contains(&l.header)).count() as u64;
        let least = (LEAST * loops.min(MOST_LEAST)).min((2 * options.all_operations).saturating_sub(in_vain));
        let left = (options.all_operations.saturating_sub(in_vain) / SHARE).max(least).max(1);
        let scop = ctx.with_budget(options.isl_operations.min(left), || {
            let start = || Builder::new(analyses, &cfg, ctx.clone(), c, options, &assumed);
            let mut builder = start()?;
            let left_out = builder.begin(true)?;
            match builder.build(name.clone(), function.clone()) {
                Err(_) if left_out => {
                    let mut whole = start()?;
                    whole.begin(false)?;
                    whole.build(name, function.clone())
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
        operations += ctx.operations();
        match &scop {
            Ok(_) => count += 1,
            Err(_) => in_vain += ctx.operations(),
        }
        scop
    };
    let mut search = Search {
        an: analyses,
        cfg: &cfg,
        model: &mut model,
        function: function.clone(),
        scops: Vec::new(),
        rejections: Vec::new(),
        quiet: false,
        settled: BTreeSet::new(),
        walked: BTreeSet::new(),
        attempts: options.max_attempts,
    };
    search.run();
    let (mut scops, mut rejections) = (search.scops, search.rejections);
    rejections.retain(|r| !matches!(&r.reason, RejectReason::Budget { stage } if stage == AGAIN));
    if let [only] = &mut scops[..]
        && options.before.is_empty()
    {
        only.name = function;
    }
    Detection { scops, rejections, operations, divided }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
