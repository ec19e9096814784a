//! What instances that there are not would read.
//!
//! Code for stages that are not full computes all points of a step, and stores those that there are: else it would wait for the loads of each
//! behind its own branch. What it loads for nothing is thrown away, and lies in shared memory whatever the subscripts are, so nothing
//! depends on it. But a tool that watches shared memory reports it where another thread writes the element in the same step. In most
//! stencils that can't be: a step reads one plane and writes another, or each point its own element. Where it can, code generation loads from a cell
//! that no one writes, which takes two instructions more a load.
//!
//! # Example
//! `for t, for i < 50: S: A[i] = A[i] + A[i + 50]`: the absent `S` at `i = -1` would read `A[49]`, which that at `i = 49` writes. `for t { for i: S: B[i] =
//! A[i - 1]; for i: R: A[i] = B[i] }`: in a step of `R`, the code computes an absent `S` too, which would read what `R` writes.

use super::band::{Band, names};
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, Scop};

/// Whether an absent instance, in the step of one that there is, would read an element of the array that the latter writes.
pub(super) fn meet_writes(scop: &Scop, band: &Band, known: &isl::Set, array: ArrayId) -> Result<bool> {
    let ctx = &scop.ctx;
    let space = names("y", band.dims + 1).join(", ");
    let time = isl::UnionMap::read(ctx, &format!("{{ [{space}] -> [y0] }}"))?;
    // For all points, as the code has them; and subscripts likewise.
    let of_all = band.coordinates.clone().gist_domain(scop.domain()?)?.gist_params(known.clone())?;
    let (all, real) = (of_all.apply_range(time.clone())?, band.coordinates.clone().apply_range(time)?);
    // Of several statements an iteration, the code of a step computes all, and keeps that of the step: the others are of the iteration that it is in,
    // or of the one before.
    let near = isl::UnionMap::read(ctx, &format!("{{ [a] -> [b] : a - {0} < b < a + {0} }}", band.levels))?;
    let together = all.apply_range(near)?.apply_range(real.reverse()?)?;
    let writes = scop.accesses(|_, a| a.array == array && a.kind != AccessKind::Read)?;
    let writes = writes.intersect_params(known.clone())?;
    for s in &scop.statements {
        let absent = isl::Set::universe(s.domain.space()?)?.subtract(s.domain.clone())?;
        for a in s.accesses.iter().filter(|a| a.array == array && a.kind == AccessKind::Read) {
            let reads = a.relation.clone().gist_domain(s.domain.clone())?.intersect_domain(absent.clone())?;
            let writers = isl::UnionMap::from_map(reads)?.apply_range(writes.clone().reverse()?)?;
            if !writers.intersect(together.clone())?.is_empty()? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
