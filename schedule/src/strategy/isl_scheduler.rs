//! isl's scheduler: a Pluto-like search for permutable bands with coincident members outside, Feautrier's where that fails
//! (Verdoolaege and Janssens, "Scheduling for PPCG", 2017).

use crate::{Dependences, Result, ScheduleTree, known};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// The schedule isl finds for the SCoP: valid for all dependences, flow as short as it can make it.
///
/// The elimination behind Farkas' lemma is exponential in constraints with constant bounds, and isl's operation budget does not see
/// it: minutes for a stencil whose sizes are constants. Where there is no parameter, the constraints are therefore simplified by what the
/// domain says anyway; the larger relation that results is as valid, yet can hide parallelism, so exact ones are used otherwise.
pub fn isl_schedule(scop: &Scop, deps: &Dependences) -> Result<ScheduleTree> {
    let domain = scop.domain()?;
    let constant = scop.params.is_empty();
    let simple = |d: isl::UnionMap| -> Result<isl::UnionMap> {
        Ok(if constant { d.gist_domain(domain.clone())?.gist_range(domain.clone())?.coalesce()? } else { d })
    };
    let all = simple(deps.all(scop)?)?;
    let constraints = isl::ScheduleConstraints::on_domain(domain.clone())?
        .set_context(known(scop)?)?
        .set_validity(all.clone())?
        .set_coincidence(all)?
        .set_proximity(simple(deps.flow.clone())?)?;
    ScheduleTree::from_isl(&constraints.compute_schedule()?)
}
