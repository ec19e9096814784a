//! What parts of a launch touch and write, for launches that several devices share.
//!
//! Problem: a device that runs some of a launch's blocks needs what these read, and nothing of what the
//! others write. Approach: the launch is cut along the first dimension of its grid, at borders that are known
//! at run time only. What the tiles from a border `_s` on touch, and those below it, are functions of `_s`:
//! of the tiles from `_s` to `_e` the first touched element is that of the tiles from `_s` on, or a later
//! one, and the last one that of the tiles below `_e`, or an earlier one.
//!
//! Invariants of what is found, which [`crate::legality::parts`] proves once more from the threads'
//! schedules, of touched and of written elements:
//! * tiles below `_s` have none behind `last(_s)`, and none at all outside of `below`;
//! * tiles from `_s` on have none before `first(_s)`, and none at all outside of `from`.
//!
//! So a part touches and writes elements between a first and a last one, which may be more than it does. That
//! is right as long as the parts' written elements lie apart, which the run-time library finds by comparing
//! addresses: whoever has the values of all between its first and last written element before the launch has
//! them behind it as well, since nobody else writes there.
//!
//! Example: `for i < n: B[i] = A[i] + A[i+1]` in tiles of 256: tiles from `_s` on touch `A` from `A[256 _s]`
//! and write `B` from `B[256 _s]`, those below it touch `A` up to `A[min(n, 256 _s)]` and write `B` up to
//! `B[min(n, 256 _s) - 1]`.

use super::{Corners, MAX_PIECES, ends};
use crate::names::Param::Border;
use crate::planted::planted;
use crate::{MappedKernel, MappedScop, Placement, Result, budgeted, is_quota, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, ArrayKind, Scop};

/// What parts of a launch touch, by `ArrayId`; `None`: the kernel does not use the array, or perhaps
/// everything of it.
#[derive(Clone, Debug)]
pub struct Parts {
    pub arrays: Vec<Option<PartArray>>,
}

/// Of an array.
#[derive(Clone, Debug)]
pub struct PartArray {
    pub touched: Ends,
    /// `None`: the kernel writes nothing of it.
    pub written: Option<Ends>,
}

/// See the module documentation. All are over the parameters, the kernel's host parameters and [`Border`].
#[derive(Clone, Debug)]
pub struct Ends {
    /// `[params, _s] -> { A[a] }`
    pub first: isl::PwMultiAff,
    /// `[params, _s] -> { : ... }`
    pub from: isl::Set,
    pub last: isl::PwMultiAff,
    pub below: isl::Set,
}

/// isl operations for a kernel: what takes longer is launched on one device.
const BUDGET: u64 = 4_000_000;

/// The parts of a kernel. `None`: it can't be cut, or it is too costly to tell what they touch.
pub fn parts(scop: &Scop, mapped: &MappedScop, kernel: usize) -> Result<Option<Parts>> {
    with_corners(scop, mapped, kernel, Corners::Lexicographic)
}

/// As [`parts`], by the boxes around what they touch: isl's first and last elements are not always that.
pub fn parts_of_boxes(scop: &Scop, mapped: &MappedScop, kernel: usize) -> Result<Option<Parts>> {
    with_corners(scop, mapped, kernel, Corners::Box)
}

fn with_corners(scop: &Scop, mapped: &MappedScop, kernel: usize, corners: Corners) -> Result<Option<Parts>> {
    let k = &mapped.kernels[kernel];
    // Blocks of a graph wait for each other.
    if k.grid.is_empty() || k.task().is_some() {
        return Ok(None);
    }
    match budgeted(&scop.ctx, "parts", BUDGET, || compute(scop, mapped, kernel, corners)) {
        Err(e) if is_quota(&e) => Ok(None),
        found => found,
    }
}

/// `[params, _h*, _s] -> { : ... }`: launches that there are, and borders in their grids, both ends among
/// them.
fn borders(scop: &Scop, k: &MappedKernel) -> Result<isl::Set> {
    let ctx = k.grid[0].lower.context();
    let at = isl::PwAff::read(ctx, &format!("[{Border}] -> {{ [({Border})] }}"))?;
    let end = k.grid[0].lower.clone().add(k.grid[0].count.clone())?;
    let inside = at.clone().ge_set(k.grid[0].lower.clone())?.intersect(at.le_set(end)?)?;
    Ok(known(scop)?.intersect(inside)?.intersect(k.domain.clone().params()?)?)
}

fn compute(scop: &Scop, mapped: &MappedScop, kernel: usize, corners: Corners) -> Result<Option<Parts>> {
    let k = &mapped.kernels[kernel];
    let context = borders(scop, k)?;
    let instances = |relation: &str| -> Result<isl::UnionSet> {
        let dims: Vec<String> = (0..k.grid.len()).map(|d| format!("x{d}")).collect();
        let text = format!("[{Border}] -> {{ [{}] : x0 {relation} {Border} }}", dims.join(","));
        let tiles = isl::UnionSet::read(k.domain.context(), &text)?;
        Ok(k.domain.clone().intersect(k.tile_map.clone().intersect_range(tiles)?.domain()?)?)
    };
    let (below, from) = (instances(if planted("part-halo") { "< -1 +" } else { "<" })?, instances(">=")?);
    let mut arrays = Vec::new();
    for id in (0..scop.arrays.len()).map(ArrayId) {
        let of = |writes: bool, by: &isl::UnionSet| -> Result<Option<isl::Set>> {
            let accesses = scop.accesses(|_, a| a.array == id && (!writes || a.kind != AccessKind::Read))?;
            let elements = accesses.intersect_domain(by.clone())?.range()?;
            let elements = elements.intersect_params(context.clone())?.coalesce()?;
            Ok(elements.sets()?.into_iter().next())
        };
        let corners = if scop.array(id).apart.is_some() { Corners::Box } else { corners };
        let both = |writes: bool| -> Result<Option<Option<Ends>>> {
            match (of(writes, &from)?, of(writes, &below)?) {
                (Some(from), Some(below)) => Ok(Some(ends_of(from, below, &context, corners)?)),
                (None, None) => Ok(None),
                _ => Ok(Some(None)),
            }
        };
        let global = mapped.placement.get(id.0) != Some(&Placement::Private);
        let Some(touched) = both(false)?.filter(|_| global) else {
            arrays.push(None);
            continue;
        };
        let written = both(true)?;
        let costly = touched.is_none() || written.as_ref().is_some_and(Option::is_none);
        let cell = matches!(scop.array(id).kind, ArrayKind::Fault { .. }) || scop.array(id).live_out();
        if written.is_some() && (costly || cell) {
            // Nobody could tell whose values are the right ones.
            return Ok(None);
        }
        arrays.push(touched.map(|touched| PartArray { touched, written: written.flatten() }));
    }
    Ok(Some(Parts { arrays }))
}

/// The ends of what tiles from a border on, and those below it, touch. `None`: too many pieces.
fn ends_of(from: isl::Set, below: isl::Set, context: &isl::Set, corners: Corners) -> Result<Option<Ends>> {
    let (first, _, _) = ends(&from, corners, context)?;
    let (_, last, _) = ends(&below, corners, context)?;
    if first.n_piece()?.max(last.n_piece()?) > MAX_PIECES {
        return Ok(None);
    }
    let when = |set: isl::Set| -> Result<isl::Set> { Ok(set.params()?.gist(context.clone())?.coalesce()?) };
    Ok(Some(Ends { first, from: when(from)?, last, below: when(below)? }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{same, scop};

    fn of(text: &str, tile: u32, kernel: usize) -> (Scop, MappedScop, Parts) {
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
        let found = parts(&s, &mapped, kernel).unwrap().expect("parts");
        assert_eq!(crate::legality::parts::check(&s, &mapped, kernel, &found).unwrap(), vec![]);
        (s, mapped, found)
    }

    #[test]
    fn a_part_of_rows() {
        let (_, _, parts) = of(
            "param n; context n >= 1; array A n; array B n; for i : 0 <= i < n { S0 : B[i] = A[i], A[i+1]; }",
            16,
            0,
        );
        let (a, b) = (parts.arrays[0].clone().unwrap(), parts.arrays[1].clone().unwrap());
        assert!(a.written.is_none());
        let from = "[n, _s] -> { : 0 <= _s and 16 * _s < n }";
        let below = "[n, _s] -> { : 1 <= _s and 16 * _s < n + 16 }";
        same(&a.touched.first, from, "[n, _s] -> { A[16 * _s] }");
        same(&a.touched.last, below, "[n, _s] -> { A[i] : i = 16 * _s and i < n; A[n] : 16 * _s >= n }");
        let written = b.written.unwrap();
        same(&written.first, from, "[n, _s] -> { B[16 * _s] }");
        same(&written.last, below, "[n, _s] -> { B[i] : i = 16 * _s - 1 and i < n; B[n-1] : 16 * _s > n }");
    }

    /// Launches of a host loop have its counter among their parameters; wrong claims are seen.
    #[test]
    fn parts_of_a_step() {
        let (s, mapped, parts) = of(
            "param n; param t; context n >= 3 and t >= 1; array A 2 n n; \
             for k : 0 <= k < t { for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 \
             { S0 : A[k+1,i,j] = A[k,i-1,j], A[k,i+1,j], A[k,i,j-1], A[k,i,j+1]; } } }",
            4,
            0,
        );
        assert_eq!(mapped.kernels[0].host_params.len(), 1);
        let check = |wrong: &Parts| crate::legality::parts::check(&s, &mapped, 0, wrong).unwrap();
        assert_eq!(check(&parts), vec![]);
        let move_up = |of: &isl::PwMultiAff| {
            let up = isl::Set::from_pw_multi_aff(of.clone()).unwrap();
            let up = up.apply(isl::Map::read(&s.ctx, "{ A[k,i,j] -> A[k,i,j+1] }").unwrap()).unwrap();
            up.lexmin_pw_multi_aff().unwrap()
        };
        let move_down = |of: &isl::PwMultiAff| {
            let up = isl::Set::from_pw_multi_aff(of.clone()).unwrap();
            let up = up.apply(isl::Map::read(&s.ctx, "{ A[k,i,j] -> A[k,i,j-1] }").unwrap()).unwrap();
            up.lexmin_pw_multi_aff().unwrap()
        };
        let change = |change: &dyn Fn(&mut PartArray)| {
            let mut wrong = parts.clone();
            change(wrong.arrays[0].as_mut().unwrap());
            check(&wrong)
        };
        assert!(!change(&|a| a.touched.first = move_up(&a.touched.first)).is_empty());
        assert!(!change(&|a| a.touched.last = move_down(&a.touched.last)).is_empty());
        let first = move_up(&parts.arrays[0].as_ref().unwrap().written.as_ref().unwrap().first);
        assert!(!change(&|a| a.written.as_mut().unwrap().first = first.clone()).is_empty());
        assert!(!change(&|a| a.written = None).is_empty());
        let nothing = isl::Set::read(&s.ctx, "[n, t, _s] -> { : n > 1000 }").unwrap();
        assert!(!change(&|a| a.written.as_mut().unwrap().below = nothing.clone()).is_empty());
    }
}
