//! What slices of launches touch, for all kernels of a SCoP, proved. What is too costly to prove is launched as a whole.

use crate::driver::reject_reason;
use pollyrs_schedule as schedule;
use pollyrs_scop::{RejectReason, Scop};

/// By kernel.
pub fn of(scop: &Scop, mapped: &schedule::MappedScop) -> Result<Vec<Option<schedule::Slices>>, RejectReason> {
    let mut all = Vec::new();
    for kernel in 0..mapped.kernels.len() {
        let found = schedule::slices(scop, mapped, kernel).map_err(reject_reason)?;
        let Some(slices) = found else {
            all.push(None);
            continue;
        };
        match schedule::legality::slices::check(scop, mapped, kernel, &slices) {
            Ok(violations) => match violations.first().filter(|_| !schedule::planted::unproved()) {
                Some(violation) => {
                    let message = format!("this was not proved: {violation}");
                    return Err(RejectReason::Internal { stage: "slices".into(), message });
                }
                None => all.push(Some(slices)),
            },
            // Without a proof it is launched as a whole.
            Err(schedule::ScheduleError::Budget(_)) => all.push(None),
            Err(e) => return Err(reject_reason(e)),
        }
    }
    Ok(all)
}
