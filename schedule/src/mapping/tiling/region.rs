//! What makes a kernel fit for tiles: its points are a box, its loops are the same at every point, and what it writes lives in registers.

use super::super::Site;
use super::super::kernel::product;
use super::affine::{box_of, functions};
use crate::Result;
use crate::mapped::RegisterCell;
use crate::tree::{Tree, member_map};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};

/// A leaf of a kernel's inner tree: the instances that reach it and the sequential members above it.
pub(super) struct Leaf {
    pub domain: isl::UnionSet,
    pub path: Vec<isl::UnionPwAff>,
}

pub(super) fn leaves(
    tree: &Tree,
    domain: &isl::UnionSet,
    path: &mut Vec<isl::UnionPwAff>,
    out: &mut Vec<Leaf>,
) -> Result<()> {
    match tree {
        Tree::Leaf => out.push(Leaf { domain: domain.clone(), path: path.clone() }),
        Tree::Mark(_, c) => leaves(c, domain, path, out)?,
        Tree::Band(b) => {
            path.extend(b.members.iter().cloned());
            leaves(&b.child, domain, path, out)?;
            path.truncate(path.len() - b.members.len());
        }
        Tree::Sequence(children) => {
            for (filter, child) in children {
                leaves(child, &domain.clone().intersect(filter.clone())?, path, out)?;
            }
        }
    }
    Ok(())
}

/// The box of points of a launch, proved to be one, with loops that are the same at all its points.
pub(super) struct Region {
    /// `[params, _h*] -> { [v] }`
    pub points: isl::Set,
    /// `[params, _h*] -> { S[i] -> [v] }`
    pub member_map: isl::UnionMap,
}

impl Region {
    pub fn new(
        scop: &Scop,
        site: &Site,
        domain: &isl::UnionSet,
        around: &isl::Set,
        bounds: &[(isl::PwAff, isl::PwAff)],
    ) -> Result<Option<Region>> {
        let maps = site.members.iter().map(member_map).collect::<Result<Vec<_>>>()?;
        let member_map = product(maps)?.intersect_domain(domain.clone())?;
        let points = box_of(&scop.ctx, bounds)?.intersect_params(around.clone())?.coalesce()?;
        let mut found = Vec::new();
        leaves(&site.inner, domain, &mut vec![], &mut found)?;
        for leaf in &found {
            for set in leaf.domain.sets()? {
                if set.is_empty()? {
                    continue;
                }
                let Some(point) = functions(&site.members, &set)? else { return Ok(None) };
                // Every point runs the same iterations, if any runs one.
                let runs = set.clone().params()?;
                let all = points.clone().intersect_params(runs)?;
                let (executed, expected, time) = match functions(&leaf.path, &set)? {
                    Some(at) => {
                        let executed = point.clone().reverse()?.apply_range(at.clone())?;
                        let expected = all.product_map(at.clone().range()?)?;
                        (executed.wrap()?, expected.wrap()?, point.flat_range_product(at)?)
                    }
                    None => (point.clone().range()?, all, point),
                };
                if !time.is_injective()? || !executed.is_equal(&expected)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(Region { points, member_map }))
    }
}

/// The cells of the points in the arrays that the kernel writes; `None` if one of these has no such cells and is not private.
pub(super) fn registers(
    scop: &Scop,
    domain: &isl::UnionSet,
    region: &Region,
    private: &[ArrayId],
) -> Result<Option<Vec<RegisterCell>>> {
    let mut out = Vec::new();
    for id in written(scop, domain)?.into_iter().filter(|id| !private.contains(id)) {
        let accesses = scop.accesses(|_, a| a.array == id)?.intersect_domain(domain.clone())?;
        let cells = region.member_map.clone().reverse()?.apply_range(accesses)?;
        if !cells.isa_map()? {
            return Ok(None);
        }
        let cell = isl::Map::from_union_map(cells)?.coalesce()?;
        if !cell.is_single_valued()? || !cell.is_injective()? {
            return Ok(None);
        }
        // The same condition for all points, so that it is tested once.
        let used = cell.clone().domain()?;
        let all = region.points.clone().intersect_params(used.clone().params()?)?;
        if !used.is_equal(&all)? {
            return Ok(None);
        }
        out.push(RegisterCell { array: id, cell });
    }
    Ok(Some(out))
}

/// The arrays that instances of `domain` write.
pub(super) fn written(scop: &Scop, domain: &isl::UnionSet) -> Result<Vec<ArrayId>> {
    let mut out = Vec::new();
    for set in domain.sets()? {
        let Some((_, s)) = scop.statement_named(&set.tuple_name()?.unwrap_or_default()) else { continue };
        out.extend(s.accesses.iter().filter(|a| a.kind != AccessKind::Read).map(|a| a.array));
    }
    out.sort();
    out.dedup();
    Ok(out)
}
