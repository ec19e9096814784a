//! Promises of the program that iterations of a loop are independent: `#pragma omp simd`,
//! `#pragma clang loop vectorize(assume_safety)`, `!$omp simd`, `!dir$ ivdep`, which are
//! `llvm.loop.parallel_accesses` in LLVM's IR.
//!
//! **Problem.** `x[p[i]] += f[i]; x[q[i]] -= f[i];` may touch one element in two iterations, which nothing
//! but the program knows it does not.
//!
//! **Approach.** Believed is only what the analysis lacks: data chooses the elements of all accesses of an
//! array, and no list is found that could be inspected ([`crate::memory::scatters`]). Each access gets the
//! counter of the promised loop as its place, so that accesses of one iteration stay in order, and those of
//! different ones are free. Remarks say so, and the checked device finds where it is not true.
//!
//! **Invariants.** The loop is the outermost of the region around each access of the array, and no access of
//! it is anywhere else: the promise says nothing of two executions of the loop.

use crate::base::builder::Builder;
use crate::base::fail::Fail;
use crate::base::found::Draft;
use crate::memory::subscripts::instruction;
use isl::DimType;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, UpdateOp, outermost_counter};
use std::collections::BTreeSet;

impl Builder<'_> {
    /// Gives the accesses `own` of an array places by a promise; whether there is one. An access is a draft
    /// and a number in it.
    pub fn promised_places(
        &mut self,
        drafts: &mut [Draft],
        array: (ArrayId, &str),
        own: &[(usize, usize)],
    ) -> Result<bool, Fail> {
        let loops: BTreeSet<_> = own.iter().map(|(d, _)| drafts[*d].loops.first().copied()).collect();
        let (Some(Some(l)), 1) = (loops.first().copied(), loops.len()) else { return Ok(false) };
        let promised = |(d, a): &(usize, usize)| {
            let s = &drafts[*d].statement;
            let access = &s.accesses[*a];
            let chosen = access.within.as_ref().is_some_and(|w| !w.values.is_empty());
            let update: Option<UpdateOp> = s.update_of(access).map(|u| u.op);
            chosen
                && update.is_none()
                && instruction(access).is_some_and(|v| self.given.an.promised_apart(l, v))
        };
        if !own.iter().all(promised) {
            return Ok(false);
        }
        for (d, a) in own {
            let s = &mut drafts[*d].statement;
            let place = outermost_counter(&s.domain)?;
            s.accesses[*a].place = Some(place.set_tuple_name(DimType::Out, &format!("{}_place", array.1))?);
        }
        self.found.promised.insert(array.0);
        Ok(true)
    }
}
