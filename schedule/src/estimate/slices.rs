//! What slices of a launch touch, for launches that begin before all of their data are on the device.
//!
//! Problem: a kernel could begin with the first rows of an array while the others are on their way, and the
//! first rows of its results could go back while it computes the last ones. Approach: the launch is cut along
//! the first dimension of its grid. Slices are the tiles below some coordinate `_s`, which is a number known
//! at run time only; so what they touch is a function of `_s`, as a footprint is one of the parameters.
//!
//! Invariants of what is found, which [`crate::legality::slices`] proves once more from the threads'
//! schedules:
//! * tiles below `_s` touch no element behind `last(_s)`, and none at all outside of `used`;
//! * tiles from `_s` on, and later launches, touch no element before `first(_s)`, and none at all outside of
//!   `left`.
//!
//! Values in the vicinity may be loaded as well ([`crate::Tiling`]: points that a launch does not have, boxes
//! of operand tiles); they go nowhere.
//!
//! Example: `for i < n: B[i] = A[i] + A[i+1]` in tiles of 256: tiles below `_s` touch `A` up to
//! `A[min(n, 256 _s)]`, those from there on `B` from `B[256 _s]`.

use super::{Corners, MAX_PIECES, ends};
use crate::names::Param::Border;
use crate::planted::planted;
use crate::{MappedKernel, MappedScop, Result, budgeted, is_quota, known};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop};

/// What slices of a launch touch, by `ArrayId`; `None`: perhaps everything.
#[derive(Clone, Debug)]
pub struct Slices {
    pub arrays: Vec<Option<SlicedArray>>,
}

/// See the module documentation. All are over the parameters and [`Border`].
#[derive(Clone, Debug)]
pub struct SlicedArray {
    /// `[params, _s] -> { A[a] }`
    pub last: isl::PwMultiAff,
    /// `[params, _s] -> { : ... }`
    pub used: isl::Set,
    /// `None`: a later launch uses the array.
    pub rest: Option<Rest>,
}

/// What is left for the tiles from [`Border`] on.
#[derive(Clone, Debug)]
pub struct Rest {
    pub first: isl::PwMultiAff,
    pub left: isl::Set,
}

/// isl operations for a kernel: what takes longer is launched as a whole.
const BUDGET: u64 = 2_000_000;

/// The slices of a kernel that is launched once, outside of all host loops, ahead of all others or behind
/// them. `None`: nothing is gained, or it is too costly to tell.
pub fn slices(scop: &Scop, mapped: &MappedScop, kernel: usize) -> Result<Option<Slices>> {
    with_corners(scop, mapped, kernel, Corners::Lexicographic)
}

/// As [`slices`], by the boxes around what slices touch: isl's first and last elements are not always that.
pub fn slices_of_boxes(scop: &Scop, mapped: &MappedScop, kernel: usize) -> Result<Option<Slices>> {
    with_corners(scop, mapped, kernel, Corners::Box)
}

fn with_corners(scop: &Scop, mapped: &MappedScop, kernel: usize, corners: Corners) -> Result<Option<Slices>> {
    let k = &mapped.kernels[kernel];
    if k.grid.is_empty() || k.steps().is_some() || !once(mapped, k)? {
        return Ok(None);
    }
    let found = budgeted(&scop.ctx, "slices", BUDGET, || {
        let at_an_end = if k.host_params.is_empty() {
            others(mapped, k, true)?.is_empty()? || others(mapped, k, false)?.is_empty()?
        } else {
            // The last part of a cut launch is the larger one; kernels for other sizes are never launched
            // with it.
            let host = mapped.host.map()?.intersect_domain(mapped.host.domain()?)?;
            beside(host, k, true)?.is_empty()?
        };
        if at_an_end { compute(scop, mapped, kernel, corners) } else { Ok(None) }
    });
    match found {
        Err(e) if is_quota(&e) => Ok(None),
        found => found,
    }
}

/// `[params, _s] -> { : ... }`: the values that the parameter takes.
fn range(k: &MappedKernel) -> Result<isl::Set> {
    let ctx = k.grid[0].lower.context();
    let at = isl::PwAff::read(ctx, &format!("[{Border}] -> {{ [({Border})] }}"))?;
    let end = k.grid[0].lower.clone().add(k.grid[0].count.clone())?;
    Ok(at.clone().gt_set(k.grid[0].lower.clone())?.intersect(at.le_set(end)?)?)
}

/// The instances of tiles below [`Border`], or of those from there on.
fn instances(k: &MappedKernel, below: bool) -> Result<isl::UnionSet> {
    let dims: Vec<String> = (0..k.grid.len()).map(|d| format!("x{d}")).collect();
    let relation = match below {
        true if planted("slice-end") => "< -1 +",
        true => "<",
        false => ">=",
    };
    let text = format!("[{Border}] -> {{ [{}] : x0 {relation} {Border} }}", dims.join(","));
    let tiles = isl::UnionSet::read(k.domain.context(), &text)?;
    Ok(k.domain.clone().intersect(k.tile_map.clone().intersect_range(tiles)?.domain()?)?)
}

fn compute(scop: &Scop, mapped: &MappedScop, kernel: usize, corners: Corners) -> Result<Option<Slices>> {
    let k = &mapped.kernels[kernel];
    let context = known(scop)?.intersect(range(k)?)?;
    let (before, behind) = (instances(k, true)?, instances(k, false)?);
    let later = later(mapped, k)?;
    let space = context.space()?;
    let (mut arrays, mut gains) = (Vec::new(), false);
    for id in (0..scop.arrays.len()).map(ArrayId) {
        if !scop.array(id).is_memory() {
            arrays.push(None);
            continue;
        }
        let accesses = scop.accesses(|_, a| a.array == id)?;
        let touched = |by: &isl::UnionSet| -> Result<Option<isl::Set>> {
            let elements = accesses.clone().intersect_domain(by.clone())?.range()?;
            let elements = elements.intersect_params(context.clone())?.coalesce()?;
            Ok(elements.sets()?.into_iter().next())
        };
        let (before, behind) = (touched(&before)?, touched(&behind)?);
        gains |= before.is_some();
        let space = space
            .clone()
            .add_named_tuple(isl::Id::new(&scop.ctx, &scop.array(id).name)?, scop.array(id).dims() as u32)?;
        let corners = if scop.array(id).apart.is_some() { Corners::Box } else { corners };
        let mut array =
            sliced(before.map_or_else(|| isl::Set::empty(space), Ok)?, behind, &context, corners)?;
        if let Some(array) = &mut array
            && !accesses.intersect_domain(later.clone())?.is_empty()?
        {
            array.rest = None;
        }
        arrays.push(array);
    }
    Ok(gains.then_some(Slices { arrays }))
}

fn sliced(
    before: isl::Set,
    behind: Option<isl::Set>,
    context: &isl::Set,
    corners: Corners,
) -> Result<Option<SlicedArray>> {
    let few = |end: &isl::PwMultiAff| -> Result<bool> { Ok(end.n_piece()? <= MAX_PIECES) };
    let (_, last, _) = ends(&before, corners, context)?;
    if !few(&last)? {
        return Ok(None);
    }
    let used = before.clone().params()?.gist(context.clone())?.coalesce()?;
    let rest = match behind {
        Some(set) => {
            let (first, _, _) = ends(&set, corners, context)?;
            let left = set.params()?.gist(context.clone())?.coalesce()?;
            if few(&first)? { Some(Rest { first, left }) } else { None }
        }
        None => {
            let space = before.clone().params()?.space()?;
            let nowhere = isl::Set::empty(before.space()?)?.lexmin_pw_multi_aff()?;
            Some(Rest { first: nowhere, left: isl::Set::empty(space)? })
        }
    };
    Ok(Some(SlicedArray { last, used, rest }))
}

/// The instances of launches that may come after that of a kernel without host loops.
fn later(mapped: &MappedScop, k: &MappedKernel) -> Result<isl::UnionSet> {
    let after = others(mapped, k, true)?;
    let mut all = isl::UnionSet::empty(k.domain.context())?;
    if planted("slice-later") {
        return Ok(all);
    }
    for launch in after.sets()? {
        let name = launch.tuple_name()?.unwrap_or_default();
        if let Some(other) = mapped.kernels.iter().find(|other| other.name == name) {
            let mut domain = other.domain.clone();
            for p in &other.host_params {
                if let Some(at) = domain.space()?.find_dim_by_name(isl::DimType::Param, p)? {
                    domain = domain.project_out(isl::DimType::Param, at, 1)?;
                }
            }
            all = all.union(domain)?;
        }
    }
    Ok(all)
}

/// Whether a kernel is launched at most once: without host loops, or where only a choice says what part is
/// its.
fn once(mapped: &MappedScop, k: &MappedKernel) -> Result<bool> {
    for launches in mapped.host.domain()?.sets()? {
        if launches.tuple_name()?.as_deref() == Some(&k.name)
            && !launches.clone().lexmin()?.is_equal(&launches.lexmax()?)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The launches after that of a kernel that is launched once, or those before it, whatever the parameters.
fn others(mapped: &MappedScop, k: &MappedKernel, after: bool) -> Result<isl::UnionSet> {
    beside(mapped.host.map()?, k, after)
}

fn beside(host: isl::UnionMap, k: &MappedKernel, after: bool) -> Result<isl::UnionSet> {
    let dims: Vec<String> = (0..k.host_params.len()).map(|d| format!("x{d}")).collect();
    let own = isl::UnionSet::read(k.domain.context(), &format!("{{ {}[{}] }}", k.name, dims.join(",")))?;
    let own = host.clone().intersect_domain(own)?;
    Ok(if after { own.lex_lt(host)?.range()? } else { host.lex_lt(own)?.domain()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{same, scop};

    fn of(text: &str, tile: u32) -> (Scop, MappedScop, Slices) {
        let s = scop(text);
        let deps = crate::dependences(&s).unwrap();
        let tree = crate::schedule(&s, &deps, &crate::ScheduleOptions::default()).unwrap();
        let options = crate::MapOptions {
            threads: [vec![tile], vec![tile, tile], vec![4, 4, 32]],
            looped: tile,
            tiling: None,
            ..Default::default()
        };
        let mapped = crate::map(&s, &deps, &tree, &options).unwrap();
        assert_eq!(crate::check(&s, &deps, &mapped).unwrap(), vec![]);
        let first = slices(&s, &mapped, 0).unwrap().expect("slices");
        assert_eq!(crate::legality::slices::check(&s, &mapped, 0, &first).unwrap(), vec![]);
        (s, mapped, first)
    }

    #[test]
    fn rows_in_and_out() {
        let (_, _, slices) = of(
            "param n; context n >= 1; array A n; array B n; for i : 0 <= i < n { S0 : B[i] = A[i], A[i+1]; }",
            16,
        );
        let (a, b) = (slices.arrays[0].clone().unwrap(), slices.arrays[1].clone().unwrap());
        let when = "[n, _s] -> { : 1 <= _s and 16 * _s < n + 16 }";
        same(&a.last, when, "[n, _s] -> { A[i] : i = 16 * _s and i < n; A[n] : 16 * _s >= n }");
        let rest = b.rest.unwrap();
        same(&rest.first, "[n, _s] -> { : 1 <= _s and 16 * _s < n }", "[n, _s] -> { B[16 * _s] }");
        let left = isl::Set::read(rest.left.context(), "[n, _s] -> { : 16 * _s < n }").unwrap();
        let when = isl::Set::read(left.context(), "[n, _s] -> { : 1 <= _s and 16 * _s < n + 16 }").unwrap();
        let (got, want) =
            (rest.left.intersect_params(when.clone()).unwrap(), left.intersect_params(when).unwrap());
        assert!(got.is_equal(&want).unwrap());
    }

    #[test]
    fn what_every_tile_touches_is_needed_first() {
        let (_, _, slices) = of(
            "param n; context n >= 1; array A n; array B n; for i : 0 <= i < n { S0 : B[i] = A[n-1-i], A[0]; }",
            16,
        );
        let a = slices.arrays[0].clone().unwrap();
        let when = "[n, _s] -> { : 1 <= _s and 16 * _s < n + 16 }";
        same(&a.last, when, "[n, _s] -> { A[n - 1] }");
        same(&a.rest.unwrap().first, "[n, _s] -> { : 1 <= _s and 16 * _s < n }", "[n, _s] -> { A[0] }");
    }

    /// What a later launch reads is not done, however far the first one is.
    #[test]
    fn later_launches_count() {
        let (_, mapped, slices) = of(
            "param n; context n >= 1; array A n; array B n; array C n; \
             for i : 0 <= i < n { S0 : B[i] = A[i]; } for i : 0 <= i < n { S1 : C[i] = B[n-1-i]; }",
            16,
        );
        assert_eq!(mapped.kernels.len(), 2);
        assert!(slices.arrays[0].as_ref().unwrap().rest.is_some());
        assert!(slices.arrays[1].as_ref().unwrap().rest.is_none());
        // A wrong claim is seen.
        let s = scop(
            "param n; context n >= 1; array A n; array B n; for i : 0 <= i < n { S0 : B[i] = A[i], A[i+1]; }",
        );
        let deps = crate::dependences(&s).unwrap();
        let tree = crate::schedule(&s, &deps, &crate::ScheduleOptions::default()).unwrap();
        let mapped = crate::map(&s, &deps, &tree, &crate::MapOptions::default()).unwrap();
        let right = super::slices(&s, &mapped, 0).unwrap().unwrap();
        let read = |text: &str| isl::Set::read(&s.ctx, text).unwrap().lexmin_pw_multi_aff().unwrap();
        let check = |wrong: &Slices| crate::legality::slices::check(&s, &mapped, 0, wrong).unwrap();
        assert_eq!(check(&right), vec![]);
        for (array, last) in [(0, "[n, _s] -> { A[512 * _s - 1] }"), (1, "[n, _s] -> { B[0] }")] {
            let mut wrong = right.clone();
            wrong.arrays[array].as_mut().unwrap().last = read(last);
            assert!(!check(&wrong).is_empty(), "{last}");
        }
        let mut wrong = right.clone();
        wrong.arrays[0].as_mut().unwrap().rest.as_mut().unwrap().first =
            read("[n, _s] -> { A[512 * _s + 1] }");
        assert!(!check(&wrong).is_empty());
        let mut wrong = right;
        let nothing = isl::Set::read(&s.ctx, "[n, _s] -> { : n > 1000 }").unwrap();
        wrong.arrays[1].as_mut().unwrap().used = nothing;
        assert!(!check(&wrong).is_empty());
    }
}
