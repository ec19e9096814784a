//! What parts of launches touch, for all kernels of a SCoP, proved. What is too costly to prove is launched
//! on one device.

use crate::pipeline::reasons::{reject_reason, unproved};
use pollyrs_schedule as schedule;
use pollyrs_scop::{RejectReason, Scop};

/// By kernel.
pub fn of(scop: &Scop, mapped: &schedule::MappedScop) -> Result<Vec<Option<schedule::Parts>>, RejectReason> {
    let mut all = Vec::new();
    for kernel in 0..mapped.kernels.len() {
        let mut found = proved(scop, mapped, kernel, schedule::parts)?;
        if found.is_err() {
            found = proved(scop, mapped, kernel, schedule::parts_of_boxes)?;
        }
        match found {
            Ok(parts) => all.push(parts),
            Err(violation) => return Err(unproved("parts", &violation)),
        }
    }
    Ok(all)
}

type Estimate = fn(&Scop, &schedule::MappedScop, usize) -> schedule::Result<Option<schedule::Parts>>;

/// Parts, if there are any that can be proved in time; or what is wrong with them.
fn proved(
    scop: &Scop,
    mapped: &schedule::MappedScop,
    kernel: usize,
    estimate: Estimate,
) -> Result<Result<Option<schedule::Parts>, String>, RejectReason> {
    let Some(parts) = estimate(scop, mapped, kernel).map_err(reject_reason)? else { return Ok(Ok(None)) };
    match schedule::legality::parts::check(scop, mapped, kernel, &parts) {
        Ok(violations) => Ok(match violations.first().filter(|_| !schedule::planted::unproved()) {
            Some(violation) => Err(violation.to_string()),
            None => Ok(Some(parts)),
        }),
        Err(schedule::ScheduleError::Budget(_)) => Ok(Ok(None)),
        Err(e) => Err(reject_reason(e)),
    }
}
