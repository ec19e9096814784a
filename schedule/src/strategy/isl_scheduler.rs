//! isl's scheduler: a Pluto-like search for permutable bands with coincident members outside, Feautrier's where that fails
//! (Verdoolaege and Janssens, "Scheduling for PPCG", 2017).

use crate::{Dependences, Result, ScheduleTree, known};
use pollyrs_scop::Scop;

/// The schedule isl finds for the SCoP: valid for all dependences, flow as short as it can make it.
pub fn isl_schedule(scop: &Scop, deps: &Dependences) -> Result<ScheduleTree> {
    let all = deps.all(scop)?;
    let constraints = pollyrs_isl::ScheduleConstraints::on_domain(scop.domain()?)?
        .set_context(known(scop)?)?
        .set_validity(all.clone())?
        .set_coincidence(all)?
        .set_proximity(deps.flow.clone())?;
    ScheduleTree::from_isl(&constraints.compute_schedule()?)
}
