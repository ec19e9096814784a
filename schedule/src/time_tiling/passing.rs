//! Writes that a block needs not store: values that no one reads outside of the stage they are computed in,
//! in cells that are written again.
//!
//! # Shape
//! All stages of a phase have the same points but for translation, and the dependences of a stencil have the
//! same distances everywhere but at its borders. So with `P` the points of one stage, and `D` the distances
//! from a statement's writes to their reads and to the next write, what may be left out is
//! `{ x in P : x + d in P for all d in D }`, translated to each stage. Reads beyond the borders would only
//! make it smaller, and writes that no other follows are taken out of it. That it is right is the checker's
//! to prove.
//!
//! # Example
//! `A[(t+1)%2][i] = f(A[t%2][i-1 .. i+1])` in a hexagon with `h = 3`, `w = 2`: the rows of steps 0 to 7 have
//! 3, 5, 7, 9, 9, 7, 5, 3 points; what is left out of them are 3, 5, 7, 7, 5, 3, 0 and 0: those of which the
//! neighbours one step later and the place two steps later are inside.

use super::windows::{Site, at_block, place_tuple};
use crate::Result;
use crate::names::names;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId};

/// `[params, _h0, _b*] -> { S[i] -> _enter[p] }`: the writes to an array in the stages `full` that need no
/// store.
pub(super) fn writes(site: &Site<'_>, array: ArrayId, full: &isl::Set) -> Result<isl::UnionMap> {
    let Site { scop, deps, band, phase, known, .. } = site;
    let ctx = &scop.ctx;
    let mut out = isl::UnionMap::empty(ctx)?;
    let stage = place_tuple(phase);
    let (kept, last) = ((phase.blocks + phase.steps) as u32, stage.len());
    let origin: Vec<_> = stage[..kept as usize].iter().map(|c| format!("{c} = 0")).collect();
    let origin = isl::Set::read(ctx, &format!("{{ [{}] : {} }}", stage.join(", "), origin.join(" and ")))?;
    let points = phase.place.clone().intersect_range(origin.clone())?.domain()?;
    let (y, z) = (names("y", band.dims + 1), names("z", band.dims + 1));
    let moved: Vec<_> = y.iter().zip(&z).map(|(y, z)| format!("{z} - {y}")).collect();
    let moved = format!("{{ [[{}] -> [{}]] -> [{}] }}", y.join(", "), z.join(", "), moved.join(", "));
    let moved = isl::Map::read(ctx, &moved)?;
    let at = isl::UnionMap::from_map(isl::Map::read(ctx, &at_block(phase))?.intersect_range(full.clone())?)?;
    // What may or may not be written again stays.
    let all = scop.accesses(|_, a| a.array == array && a.kind != AccessKind::Read)?;
    let surely = scop.accesses(|_, a| a.array == array && a.kind == AccessKind::MustWrite)?;
    let replaced = all.apply_range(surely.reverse()?)?.intersect(deps.output.clone())?;
    for s in &scop.statements {
        if !s.accesses.iter().any(|a| a.array == array && a.kind != AccessKind::Read) {
            continue;
        }
        let own = isl::UnionSet::from_set(s.domain.clone())?;
        let again = replaced.clone().intersect_domain(own.clone())?;
        let goes = deps.flow.clone().union(deps.output.clone())?.intersect_domain(own.clone())?;
        let goes = goes.intersect_params((*known).clone())?;
        let goes = goes.apply_domain(band.coordinates.clone())?.apply_range(band.coordinates.clone())?;
        if goes.is_empty()? {
            continue;
        }
        let distances = isl::Map::from_union_map(goes)?.deltas()?.project_out_all_params()?.coalesce()?;
        let goes = moved.clone().intersect_range(distances)?.domain()?.unwrap()?;
        let goes = goes.intersect_domain(points.clone())?;
        let leaves = goes.clone().subtract(goes.intersect_range(points.clone())?)?.domain()?;
        let stays = points.clone().subtract(leaves)?.apply(phase.place.clone())?;
        // The same in every stage.
        let stays = stays.intersect(origin.clone())?.coalesce()?;
        let stays = stays.project_out(isl::DimType::Set, 0, kept)?.remove_divs()?.coalesce()?;
        let stays = stays.insert_dims(isl::DimType::Set, 0, kept)?;
        let stays = isl::UnionSet::from_set(
            stays.intersect(isl::Set::read(ctx, &format!("{{ [{}] }}", stage[..last].join(", ")))?)?,
        )?;
        let writes = site.full.clone().intersect_domain(own)?.intersect_range(stays)?;
        let kept = format!("{{ [{}] -> [{}] }}", stage.join(", "), stage[..kept as usize].join(", "));
        let stages = writes.apply_range(isl::UnionMap::read(ctx, &kept)?)?.apply_range(at.clone())?;
        out = out.union(stages.intersect_domain(again.domain()?)?.coalesce()?)?;
    }
    Ok(out)
}
