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
//! attempts     what each may take, and what became of a region before
//! control      candidates: regions to try, largest first; domains: iteration domains; versions: what is left
//!              out of a region; subregions: control flow on data, as parts of statements
//! values       effects: what is computed, and where values come from; webs, loop_carried: cells that are
//!              joined; statements: effects as statements
//! memory       raw: base and offset of an access; accesses: one shape for all of a base (strides, extents,
//!              parts, fields); data_subscripts: elements that data chooses (choices, roundings, counted),
//!              data_accesses: what they are then; updates, scatters, appends, promises: stores to such
//!              elements; inspect: what is looked at before; in_place: pairs of arrays that may be one
//! affine       scev_affine: scalar evolution as affine functions, under assumptions (remainders, selects,
//!              conditions, spans, any_numbers); polynomials: the same as polynomials (named_sizes, pitches);
//!              ranges: what is assumed of products
//! base         builder: the state of an attempt; invariant_loads: loads that stand for values from before a
//!              loop
//! outcome      finish: statements as the finished Scop
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
