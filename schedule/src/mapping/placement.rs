//! Which virtual arrays shrink to a cell in each thread.
//!
//! A scalar or PHI array `a` that is not live out becomes private if
//! 1. each cell is accessed by one thread of one launch, and kernels that use the array use different cells
//!    of it (those of alternatives under different parameters);
//! 2. with every cell of `a` that a thread uses contracted to one cell of that thread, and the thread's
//!    order, every read still sees the same write as in the program.
//!
//! **Argument.** Two threads never share a contracted cell, so only the order inside a thread matters. The
//! dataflow of the contracted accesses under the kernel's schedule, computed with the contracted cell named
//! by the values of the host members and mapped members (which determine launch and thread), gives for each
//! read the last write of its thread; condition 2 demands that it is the program's own. Reads that see no
//! write see an undefined value before and after. A statement that writes two cells of `a` in one instance is
//! left alone: their order inside the instance is not part of the model.
//!
//! With tiles of several points a thread, threads are told apart more finely here than on the device (a cell
//! for each point); arrays whose accesses stay within one point are found, and [`crate::legality::check`]
//! proves the contraction over whole threads, so the inner schedule is one of points: the loops over points
//! are the outermost ones of a thread.

use super::leaf::homes;
use super::site::Site;
use crate::mapped::Placement;
use crate::tree::{ScheduleTree, members_mupa};
use crate::{Dependences, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};

/// The placement of each array.
pub(super) fn placement(scop: &Scop, deps: &Dependences, sites: &[Site]) -> Result<Vec<Placement>> {
    let mut out = Vec::new();
    for i in 0..scop.arrays.len() {
        // Of two forms, each by itself.
        let mut private = true;
        for nested in [true, false] {
            let form = sites.iter().filter(|s| s.either.as_ref().is_none_or(|e| e.nested == nested));
            let parts = form.map(homes).collect::<Result<Vec<_>>>()?.concat();
            private = private && is_private(scop, deps, &parts, ArrayId(i))?;
            if sites.iter().all(|s| s.either.is_none()) {
                break;
            }
        }
        out.push(if private { Placement::Private } else { Placement::Global });
    }
    Ok(out)
}

fn is_private(scop: &Scop, deps: &Dependences, sites: &[Site], id: ArrayId) -> Result<bool> {
    let array = scop.array(id);
    if array.is_memory() || array.live_out() {
        return Ok(false);
    }
    if crate::planted::planted("private") {
        return Ok(true);
    }
    let writes_once = scop
        .statements
        .iter()
        .all(|s| s.accesses.iter().filter(|a| a.array == id && a.kind != AccessKind::Read).count() <= 1);
    let may_write = scop
        .statements
        .iter()
        .any(|s| s.accesses.iter().any(|a| a.array == id && a.kind == AccessKind::MayWrite));
    if !writes_once || may_write {
        return Ok(false);
    }
    let of = |kind: AccessKind| scop.accesses(|_, a| a.array == id && a.kind == kind);
    let (reads, writes) = (of(AccessKind::Read)?, of(AccessKind::MustWrite)?);
    let users = reads.clone().union(writes.clone())?.domain()?;
    // Alternatives have the same instances, launches and threads in another shape: one speaks for all.
    let speakers = sites.iter().filter(|s| s.alternative.as_ref().is_none_or(|a| a.at == 0));
    let homes = speakers.filter_map(|site| match site.domain.is_disjoint(&users) {
        Ok(true) => None,
        Ok(false) => Some(Ok(site)),
        Err(e) => Some(Err(e)),
    });
    let homes = homes.collect::<isl::Result<Vec<_>>>()?;
    if homes.is_empty() {
        return Ok(false);
    }
    let cells = reads.clone().union(writes.clone())?;
    let mut taken = isl::UnionSet::empty(&scop.ctx)?;
    let mut flow = isl::UnionMap::empty(&scop.ctx)?;
    for site in homes {
        let users = users.clone().intersect(site.domain.clone())?;
        // Sites that are alternatives of each other use the same cells under different parameters.
        let used = cells.clone().intersect_domain(users.clone())?.range()?;
        if !used.is_disjoint(&taken)? {
            return Ok(false);
        }
        taken = taken.union(used)?;
        // S[i] -> [host members, mapped members]: the launch and the thread.
        let members: Vec<_> = site.host.iter().chain(&site.members).cloned().collect();
        let thread = if members.is_empty() {
            users.clone().product_map(isl::UnionSet::read(&scop.ctx, "{ [] }")?)?
        } else {
            isl::UnionMap::from_multi_union_pw_aff(members_mupa(&members)?)?
                .intersect_domain(users.clone())?
        };
        if !cells.clone().reverse()?.apply_range(thread.clone())?.is_single_valued()? {
            return Ok(false);
        }
        let inner = ScheduleTree { domain: site.domain.clone(), root: site.inner.clone() }.to_isl()?;
        let contracted =
            |accesses: &isl::UnionMap| thread.clone().intersect_domain(accesses.clone().domain()?);
        let inside = isl::UnionAccessInfo::from_sink(contracted(&reads)?)?
            .set_must_source(contracted(&writes)?)?
            .set_schedule(inner)?
            .compute_flow()?
            .must_dependence()?;
        flow = flow.union(inside)?;
    }
    let mut original = isl::UnionMap::empty(&scop.ctx)?;
    let mut readers = isl::UnionSet::empty(&scop.ctx)?;
    for m in deps.tagged_flow.maps()? {
        let through = m.clone().range()?.unwrap()?;
        if through.tuple_name(isl::DimType::Out)?.as_deref() == Some(&array.name) {
            readers = readers.add_set(through.domain()?)?;
            original = original.add_map(m.range_factor_domain()?)?;
        }
    }
    let known = known(scop)?;
    let flow = flow.intersect_range(readers)?.intersect_params(known.clone())?;
    Ok(flow.is_equal(&original.intersect_params(known)?)?)
}
