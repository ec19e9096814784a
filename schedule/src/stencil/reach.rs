//! For which sizes what tiles write of a buffer lies within what the program touches of it.
//!
//! **Problem.** Tiles write all of a buffer's hull, what lies between the boxes of its steps with the values
//! that it has. The memory that an array has on the device reaches from the first to the last element that
//! the program touches: with a border of its own, a first column say, the hull's last row goes on behind
//! that.
//!
//! **Argument.** Elements lie in memory in the order of their coordinates. So the hull is within where an
//! element of a box that is touched comes no later than the hull's first one, and one no earlier than its
//! last.

use super::functions::params;
use super::{Buffer, Step, StepAccess};
use crate::Result;
use crate::planted::planted;
use pollyrs_isl as isl;

/// A box of elements that are touched. Not all of them are on a lattice, but each row of the box has some.
struct Touched {
    lower: Vec<isl::PwAff>,
    upper: Vec<isl::PwAff>,
    sparse: bool,
}

/// Elements along each dimension of a grid that is not small.
const LARGE: i64 = 64;

/// The part of `runs` for which the hull of each buffer lies within what is touched of it; `None` if no large
/// grid is of that part.
pub(super) fn within_touched(
    steps: &[Step],
    buffers: &[Buffer],
    runs: &isl::Set,
) -> Result<Option<isl::Set>> {
    if planted("touched") {
        return Ok(Some(runs.clone()));
    }
    let mut all = runs.clone();
    for (number, buffer) in buffers.iter().enumerate() {
        if steps.iter().any(|s| s.buffer == number && !s.partial) {
            continue;
        }
        let none = runs.clone().subtract(runs.clone())?;
        let (mut first, mut last) = (none.clone(), none);
        for t in touched(steps, number)? {
            let there = nonempty(&t, runs)?;
            let before = not_behind(&t.lower, &buffer.lower, t.sparse, runs)?;
            let behind = not_behind(&buffer.upper, &t.upper, t.sparse, runs)?;
            first = first.union(before.intersect(there.clone())?)?;
            last = last.union(behind.intersect(there)?)?;
        }
        all = all.intersect(first)?.intersect(last)?;
        if is_small(buffer, &all)? && !is_small(buffer, runs)? {
            return Ok(None);
        }
    }
    Ok(if all.is_empty()? { None } else { Some(all.coalesce()?) })
}

/// Whether none of these grids is large.
fn is_small(buffer: &Buffer, runs: &isl::Set) -> Result<bool> {
    let mut large = runs.clone();
    for (lower, upper) in buffer.lower.iter().zip(&buffer.upper) {
        let end = lower.clone().add_constant(isl::Val::int(runs.context(), LARGE)?)?;
        large = large.intersect(params(end.le_set(upper.clone())?)?)?;
    }
    Ok(large.is_empty()?)
}

/// What steps write and read of a buffer.
fn touched(steps: &[Step], buffer: usize) -> Result<Vec<Touched>> {
    let mut all = Vec::new();
    for s in steps {
        let sparse = !s.lattices.is_empty();
        if s.buffer == buffer {
            all.push(Touched { lower: s.lower.clone(), upper: s.upper.clone(), sparse });
        }
        for (number, access) in s.accesses.iter().enumerate() {
            let StepAccess::Buffer { buffer: read, offset } = access else { continue };
            // (Where there are cases, some of the box's elements are read elsewhere.)
            if *read != buffer || s.cases.iter().any(|c| c.access == number) {
                continue;
            }
            let moved = |corner: &[isl::PwAff]| -> Result<Vec<isl::PwAff>> {
                let shift = |(c, o): (&isl::PwAff, &i64)| {
                    Ok(c.clone().add_constant(isl::Val::int(c.context(), *o)?)?)
                };
                corner.iter().zip(offset).map(shift).collect()
            };
            all.push(Touched { lower: moved(&s.lower)?, upper: moved(&s.upper)?, sparse });
        }
    }
    Ok(all)
}

fn nonempty(t: &Touched, runs: &isl::Set) -> Result<isl::Set> {
    let mut there = runs.clone();
    for (lower, upper) in t.lower.iter().zip(&t.upper) {
        there = there.intersect(params(lower.clone().le_set(upper.clone())?)?)?;
    }
    Ok(there)
}

/// Where the point `a` comes before `b` or is the same; `strictly`: by the first coordinate alone.
fn not_behind(a: &[isl::PwAff], b: &[isl::PwAff], strictly: bool, runs: &isl::Set) -> Result<isl::Set> {
    let mut behind = if strictly { runs.clone().subtract(runs.clone())? } else { runs.clone() };
    let looked_at = if strictly { 1 } else { a.len() };
    for (a, b) in a.iter().zip(b).take(looked_at).collect::<Vec<_>>().into_iter().rev() {
        let less = params(a.clone().lt_set(b.clone())?)?;
        let equal = params(a.clone().eq_set(b.clone())?)?;
        behind = less.union(equal.intersect(behind)?)?;
    }
    Ok(behind.intersect(runs.clone())?)
}
