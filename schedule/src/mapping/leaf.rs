//! The leaves of a nest: what would be launches if all loops above them were the host's.

use super::site::Site;
use crate::strategy::{KERNEL, SERIAL};
use crate::tree::Tree;
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;

/// A coordinate of a step.
#[derive(Clone)]
pub(super) enum At {
    Loop(isl::UnionPwAff),
    Place(i64),
}

/// What would be a launch without the nest.
pub(super) struct Leaf {
    pub domain: isl::UnionSet,
    pub at: Vec<At>,
    pub members: Vec<isl::UnionPwAff>,
    pub inner: Tree,
}

/// The leaves beneath a nest, in order.
pub(super) fn leaves(
    tree: &Tree,
    domain: &isl::UnionSet,
    at: &mut Vec<At>,
    out: &mut Vec<Leaf>,
) -> Result<()> {
    if domain.is_empty()? {
        return Ok(());
    }
    let mut leaf = |members: &[isl::UnionPwAff], inner: &Tree, at: &[At]| {
        let (members, inner) = (members.to_vec(), inner.clone());
        out.push(Leaf { domain: domain.clone(), at: at.to_vec(), members, inner });
    };
    match tree {
        Tree::Mark(m, child) if m == KERNEL => match &**child {
            Tree::Band(b) => leaf(&b.members, &b.child, at),
            _ => return Err(ScheduleError::Unsupported("a kernel mark needs a band")),
        },
        Tree::Mark(m, child) if m == SERIAL => leaf(&[], child, at),
        Tree::Leaf => leaf(&[], &Tree::Leaf, at),
        Tree::Mark(_, child) => leaves(child, domain, at, out)?,
        Tree::Band(b) => {
            at.extend(b.members.iter().cloned().map(At::Loop));
            leaves(&b.child, domain, at, out)?;
            at.truncate(at.len() - b.members.len());
        }
        Tree::Sequence(children) => {
            for ((filter, child), place) in children.iter().zip(0..) {
                at.push(At::Place(place));
                leaves(child, &domain.clone().intersect(filter.clone())?, at, out)?;
                at.pop();
            }
        }
    }
    Ok(())
}

/// The sites that there would be if all loops above the kernels of a nest were the host's; any other site by
/// itself.
pub(super) fn parts(site: &Site) -> Result<Vec<Site>> {
    if !site.nest {
        return Ok(vec![site.clone()]);
    }
    let mut found = Vec::new();
    leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
    let part = |leaf: Leaf| {
        let mut host = site.host.clone();
        host.extend(site.members.iter().cloned());
        host.extend(leaf.at.iter().filter_map(|at| match at {
            At::Loop(m) => Some(m.clone()),
            At::Place(_) => None,
        }));
        let (domain, members, inner) = (leaf.domain, leaf.members, leaf.inner);
        Site { host, domain, members, inner, nest: false, graph: false, ..site.clone() }
    };
    Ok(found.into_iter().map(part).collect())
}

/// [`parts`], but for blocks of rows: a thread has the same rows in all leaves of one member, so that they
/// are one part.
pub(super) fn homes(site: &Site) -> Result<Vec<Site>> {
    let all = parts(site)?;
    if !site.rows {
        return Ok(all);
    }
    let (of_rows, mut out): (Vec<_>, Vec<_>) = all.into_iter().partition(|p| p.members.len() == 1);
    let Some(first) = of_rows.first().cloned() else { return Ok(out) };
    let mut home = Site { domain: isl::UnionSet::empty(site.domain.context())?, ..first };
    let (mut members, mut steps) = (None::<isl::UnionPwAff>, Vec::new());
    for p in of_rows {
        let filter = p.domain.clone().universe()?;
        home.domain = home.domain.union(p.domain)?;
        let own = p.members[0].clone().intersect_domain(filter.clone())?;
        members = Some(match members {
            Some(all) => all.union_add(own)?,
            None => own,
        });
        steps.push((filter, p.inner));
    }
    home.members = members.into_iter().collect();
    home.inner = Tree::Sequence(steps);
    out.insert(0, home);
    Ok(out)
}
