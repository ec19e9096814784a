//! Proves what parts of a launch are said to touch and to write ([`crate::estimate::parts`]) from what the
//! threads of their blocks execute.
//!
//! As for slices, each claim is looked at element by element; corners and tile maps are not used. An array of
//! which nothing is said is taken for one of which all is touched, so a kernel that writes it has no parts.

use super::slices::{Side, beyond, executed, outside};
use super::{Rule, Violation};
use crate::estimate::parts::{Ends, Parts};
use crate::names::Param::Border;
use crate::{MappedKernel, MappedScop, Placement, Result, budgeted, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};

/// All wrong claims; empty if the parts are proved.
pub fn check(scop: &Scop, mapped: &MappedScop, kernel: usize, parts: &Parts) -> Result<Vec<Violation>> {
    budgeted(&scop.ctx, "checking parts", crate::DEFAULT_BUDGET, || proved(scop, mapped, kernel, parts))
}

/// `[params, _h*, _s] -> { : ... }`: borders that the host may choose in a launch with instances. So many
/// rows of blocks are below one, from none to all.
fn borders(scop: &Scop, k: &MappedKernel) -> Result<isl::Set> {
    let Some(rows) = k.grid.first() else { return Ok(k.domain.clone().params()?) };
    let border = isl::PwAff::read(&scop.ctx, &format!("[{Border}] -> {{ [({Border})] }}"))?;
    let below = border.clone().sub(rows.lower.clone())?;
    let above = rows.count.clone().sub(below.clone())?;
    let launches = k.domain.clone().params()?.intersect(known(scop)?)?;
    Ok(launches.intersect(below.nonneg_set()?)?.intersect(above.nonneg_set()?)?)
}

fn proved(scop: &Scop, mapped: &MappedScop, kernel: usize, parts: &Parts) -> Result<Vec<Violation>> {
    let k = &mapped.kernels[kernel];
    if k.task().is_some() {
        let counterexample = "blocks that wait for each other".into();
        return Ok(vec![Violation { rule: Rule::Part, at: k.name.clone(), counterexample }]);
    }
    let context = borders(scop, k)?;
    let (below, from) = (executed(mapped, kernel, "<")?, executed(mapped, kernel, ">=")?);
    let mut found = Vec::new();
    for id in (0..scop.arrays.len()).map(ArrayId) {
        if mapped.placement.get(id.0) == Some(&Placement::Private) {
            continue;
        }
        let array = parts.arrays.get(id.0).and_then(Option::as_ref);
        for writes in [false, true] {
            let accesses = scop.accesses(|_, a| a.array == id && (!writes || a.kind != AccessKind::Read))?;
            let touched = |by: &isl::UnionSet| -> Result<Vec<isl::Set>> {
                let elements = accesses.clone().intersect_domain(by.clone())?.range()?;
                Ok(elements.intersect_params(context.clone())?.sets()?)
            };
            let mut report = |bad: isl::Set| -> Result<()> {
                if !bad.is_empty()? {
                    let counterexample = bad.sample_point()?.to_string();
                    found.push(Violation { rule: Rule::Part, at: k.name.clone(), counterexample });
                }
                Ok(())
            };
            let claim: Option<&Ends> = match (writes, array) {
                (false, None) => continue,
                (false, Some(array)) => Some(&array.touched),
                (true, array) => array.and_then(|array| array.written.as_ref()),
            };
            for set in touched(&below)? {
                let Some(ends) = claim else {
                    report(set)?;
                    continue;
                };
                let last = isl::Set::from_pw_multi_aff(ends.last.clone())?;
                report(outside(&set, &ends.below)?)?;
                report(beyond(scop.array(id), &set, last, Side::Behind)?)?;
            }
            for set in touched(&from)? {
                let Some(ends) = claim else {
                    report(set)?;
                    continue;
                };
                let first = isl::Set::from_pw_multi_aff(ends.first.clone())?;
                report(outside(&set, &ends.from)?)?;
                report(beyond(scop.array(id), &set, first, Side::Before)?)?;
            }
        }
    }
    Ok(found)
}
