//! SCoPs that are there already: calls in loops are inlined into the working copy, for the sake of loops
//! around them. Where these come to nothing, the function would get a copy of what its callees have anyway,
//! with its kernels, checks and launches. A garbage collector's step, which calls six functions in a loop
//! over states, has five copies of a loop that clears a stack.
//!
//! # Invariants
//! - A SCoP is left out only if it was inlined from one function, whose own search has found and compiled a
//!   SCoP with the same arrays and accesses but for what parameters and ends of loops are, if nothing else of
//!   its function runs on the device, so that the function keeps its calls, and if no array of its SCoPs
//!   could stay on the device beyond an execution. So nothing runs on the host that would have run on the
//!   device, and nothing is transferred more often.

use crate::base::stage::Stage;
use crate::run::Run;
use crate::search::Wish;
use crate::switches::has_loop_that_is_on;
use pollyrs_codegen_ptx::blocks;
use pollyrs_llvm_shim::Analyses;
use pollyrs_scop::Scop;
use std::collections::BTreeSet;

/// Which SCoPs of a function are copies of what its callees have; none if arrays could stay on the device.
pub fn among(run: &Run<'_>, analyses: &Analyses<'_>, scops: &[Scop], wish: &Wish<'_>) -> BTreeSet<usize> {
    let shown = run.stage != Stage::Run || !run.tuned.entries.is_empty();
    if shown || wish.on || has_loop_that_is_on(analyses.function()) {
        return BTreeSet::new();
    }
    let forms = run.progress.forms.borrow();
    let is_copy = |scop: &Scop| {
        let blocks: Vec<_> = blocks(scop).collect();
        let of_origin = run.session.origin(&blocks).and_then(|f| forms.get(&f));
        of_origin.is_some_and(|known| known.contains(&scop.form()))
    };
    let copies: BTreeSet<usize> = (0..scops.len()).filter(|at| is_copy(&scops[*at])).collect();
    let all: Vec<&Scop> = scops.iter().collect();
    if copies.is_empty() || (wish.stays)(&all) { BTreeSet::new() } else { copies }
}

/// What copies of a SCoP are known by, if there may be some.
pub fn form_of(scop: &Scop, wish: &Wish<'_>) -> Option<String> {
    wish.called.map(|_| scop.form())
}

/// A SCoP of this form has gone through all stages.
pub fn note(run: &Run<'_>, wish: &Wish<'_>, form: Option<String>) {
    if let (Some(f), Some(form)) = (wish.called, form) {
        run.progress.forms.borrow_mut().entry(f).or_default().insert(form);
    }
}
