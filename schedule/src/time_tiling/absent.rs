//! What instances that there are not would read.
//!
//! Code for stages that are not full computes all points of a step, and stores those that there are: else it
//! would wait for the loads of each behind its own branch. What it loads for nothing is thrown away, and lies
//! in shared memory whatever the subscripts are, so nothing depends on it. But a tool that watches shared
//! memory reports it where another thread writes the element between the same barriers. In most stencils that
//! can't be: a step reads one plane and writes another, or each point its own element. Where it can, code
//! generation loads from a cell that no one writes, which takes two instructions more a load. On an H200,
//! fdtd2d with hexagons had 130 GStencil/s with all loads from such a cell.
//!
//! # Example
//! `for t, for i < 50: S: A[i] = A[i] + A[i + 50]`: the absent `S` at `i = -1` would read `A[49]`, which that
//! at `i = 49` writes. `for t { for i: S: B[i] = A[i - 1]; for i: R: A[i] = B[i] }`: where the code of a step
//! of `R` has `S` under a condition, it computes an absent `S`, which would read what `R` writes. Where steps
//! of `S` and of `R` have code of their own, with a barrier between them, it does not.

use super::band::Band;
use crate::Result;
use crate::names::names;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop, StmtId};

/// The statements of which an absent instance would read an element of the array that an instance of the
/// second one writes, if the code of one step has both.
pub(super) fn meet_writes(
    scop: &Scop,
    band: &Band,
    known: &isl::Set,
    array: ArrayId,
) -> Result<Vec<(StmtId, StmtId)>> {
    let ctx = &scop.ctx;
    let space = names("y", band.dims + 1).join(", ");
    let time = isl::UnionMap::read(ctx, &format!("{{ [{space}] -> [y0] }}"))?;
    // For all points, as the code has them; and subscripts likewise.
    let of_all = band.coordinates.clone().gist_domain(scop.domain()?)?.gist_params(known.clone())?;
    let (all, real) = (of_all.apply_range(time.clone())?, band.coordinates.clone().apply_range(time)?);
    // Of several statements an iteration, code that has all of them in a step keeps that of the step: the
    // others are of the iteration that it is in, or of the one before, and there such a point may well be.
    let together = |times: &str| -> Result<isl::UnionMap> {
        let times = isl::UnionMap::read(ctx, &format!("{{ [a] -> [b] : {times} }}"))?;
        Ok(all.clone().apply_range(times)?.apply_range(real.clone().reverse()?)?)
    };
    let (same, near) =
        (together("a = b")?, together(&format!("0 < a - b < {0} or 0 < b - a < {0}", band.levels))?);
    let mut found = Vec::new();
    for (r, s) in scop.statements.iter().enumerate() {
        let absent = isl::Set::universe(s.domain.space()?)?.subtract(s.domain.clone())?;
        let reads = s.accesses.iter().filter(|a| a.array == array && a.kind == AccessKind::Read);
        let reads = reads
            .map(|a| Ok(a.relation.clone().gist_domain(s.domain.clone())?))
            .collect::<Result<Vec<_>>>()?;
        for (w, writer) in scop.statements.iter().enumerate() {
            let writes = scop
                .accesses(|x, a| x.name == writer.name && a.array == array && a.kind != AccessKind::Read)?;
            let writes = writes.intersect_params(known.clone())?.reverse()?;
            let mut meets = false;
            for read in &reads {
                let writers = isl::UnionMap::from_map(read.clone())?.apply_range(writes.clone())?;
                let outside = writers.clone().intersect_domain(isl::UnionSet::from_set(absent.clone())?)?;
                meets = meets
                    || !outside.intersect(same.clone())?.is_empty()?
                    || !writers.intersect(near.clone())?.is_empty()?;
            }
            if meets {
                found.push((StmtId(r), StmtId(w)));
            }
        }
    }
    Ok(found)
}
