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
//! attempts     what each may take, and what became of a region before       (tried)
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
mod attempts;
mod base;
mod control;
mod memory;
mod outcome;
mod values;

pub use base::detection::Detection;
pub use base::options::{Before, DetectOptions, Wanted};
pub use values::reductions::{ordered_sum, running_total};

use attempts::{AGAIN, Attempts};
use base::cfg::Cfg;
use base::region::Candidate;
pub use base::tried::Tried;
use control::candidates::{Model, Search};
pub use pollyrs_delinearize::Known;
use pollyrs_llvm_shim::Analyses;
use pollyrs_scop::{RejectReason, Rejection};
use std::collections::BTreeSet;

/// Finds the SCoPs of the function that `analyses` are of.
pub fn detect(analyses: &Analyses<'_>, options: &DetectOptions) -> Detection {
    let cfg = Cfg::new(analyses);
    let mut attempts = Attempts::new(analyses, &cfg, options);
    let function = attempts.function.clone();
    let mut model = |c: &Candidate| attempts.model(c);
    let (mut scops, mut rejections) = searched(analyses, &cfg, options, (&mut model, &function));
    rejections.retain(|r| !matches!(&r.reason, RejectReason::Budget { stage } if stage == AGAIN));
    if let [only] = &mut scops[..]
        && options.before.is_empty()
    {
        only.name = function;
    }
    let Attempts { operations, divided, cut, .. } = attempts;
    Detection { scops, rejections, operations, divided, cut }
}

/// How many loops the SCoPs have that [`detect`] finds, and the isl operations that it takes to know.
pub fn count_loops(analyses: &Analyses<'_>, options: &DetectOptions) -> (usize, u64) {
    let cfg = Cfg::new(analyses);
    let mut attempts = Attempts::new(analyses, &cfg, options);
    let function = attempts.function.clone();
    let mut count = |c: &Candidate| attempts.loops(c);
    let (scops, _) = searched(analyses, &cfg, options, (&mut count, &function));
    (scops.into_iter().sum(), attempts.operations)
}

/// What a search finds, and why it finds no more.
fn searched<T>(
    analyses: &Analyses<'_>,
    cfg: &Cfg,
    options: &DetectOptions,
    (model, function): (&mut Model<'_, T>, &str),
) -> (Vec<T>, Vec<Rejection>) {
    let mut search = Search {
        an: analyses,
        cfg,
        model,
        function: function.to_owned(),
        scops: Vec::new(),
        rejections: Vec::new(),
        quiet: false,
        settled: BTreeSet::new(),
        walked: BTreeSet::new(),
        attempts: options.max_attempts,
    };
    search.run();
    (search.scops, search.rejections)
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
