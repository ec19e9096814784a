//! Boxes that are all that a SCoP touches of an array, for instance some columns of a matrix.
//!
//! Problem: what lies between the first and the last touched element may be most of the array, and the SCoP
//! needs none of it. Invariants of what is found: no element outside of the box is touched; its first and
//! last element are touched, so that all of it lies in the range that is checked to be there; of a written
//! array all of the box is surely written, so that it comes back as it is.
//!
//! Example: `for i, j: if (j >= 8 && j < 24) x[i] += A[i][j]` with `A[n][m]`: the box
//! `{ A[i,j] : 0 <= i < n and 8 <= j < 24 }`.

use super::{Corner, Footprint, Returned, around, elements, filled, lift, on_dimension};
use crate::{Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Scop};

/// The box of [`Footprint::window`]. A single dimension is never narrower than its range, and neither are
/// whole rows.
pub fn of(scop: &Scop, id: ArrayId, f: &Footprint) -> Result<Option<Corner>> {
    let array = scop.array(id);
    if array.dims() < 2 || f.boxed && array.apart.is_none() || f.written_boxed || !f.certain {
        return Ok(None);
    }
    let known = known(scop)?;
    let touched = elements(scop.accesses(|_, a| a.array == id)?.intersect_params(known.clone())?)?;
    let Some(touched) = touched else { return Ok(None) };
    let corner = match (&f.written, &f.returned) {
        (None, _) => match around(&touched)? {
            Some(corner) if !has_whole_rows(scop, id, &touched, &corner, &known)? => corner,
            _ => return Ok(None),
        },
        (Some(_), Returned::Box(corner)) => corner.clone(),
        (Some(_), _) => return Ok(None),
    };
    let fits = if f.written.is_some() {
        // All of the box is written.
        touched.is_subset(&filled(&touched, &corner)?)?
    } else {
        let at = |ends: &[isl::PwAff]| -> Result<bool> {
            let mut point =
                isl::Set::universe(touched.space()?)?.intersect_params(touched.clone().params()?)?;
            for (d, end) in ends.iter().enumerate() {
                point = point
                    .intersect(on_dimension(&touched, d as u32)?.eq_set(lift(&touched, end.clone())?)?)?;
            }
            Ok(point.intersect_params(known.clone())?.is_subset(&touched)?)
        };
        at(&corner.min)? && at(&corner.max)?
    };
    let simplify = |ends: Vec<isl::PwAff>| -> Result<Vec<isl::PwAff>> {
        ends.into_iter().map(|end| Ok(end.gist_params(known.clone())?)).collect()
    };
    Ok(if fits { Some(Corner { min: simplify(corner.min)?, max: simplify(corner.max)? }) } else { None })
}

/// Whether a box has rows from the first element to the last.
fn has_whole_rows(
    scop: &Scop,
    id: ArrayId,
    touched: &isl::Set,
    corner: &Corner,
    known: &isl::Set,
) -> Result<bool> {
    let array = scop.array(id);
    let inner = array.dims() - 1;
    let (Some(Some(size)), Some(first), Some(last)) =
        (array.sizes.get(inner), corner.min.get(inner), corner.max.get(inner))
    else {
        return Ok(true);
    };
    let at = on_dimension(touched, inner as u32)?;
    let zero = isl::PwAff::constant_on(touched.space()?, 0)?;
    let row = at.clone().ge_set(zero)?.intersect(at.clone().lt_set(lift(touched, size.clone())?)?)?;
    let inside = at
        .clone()
        .ge_set(lift(touched, first.clone())?)?
        .intersect(at.le_set(lift(touched, last.clone())?)?)?;
    let row = row.intersect_params(known.clone())?.intersect_params(touched.clone().params()?)?;
    Ok(row.is_subset(&inside)?)
}

#[cfg(test)]
mod tests {
    use crate::estimate::{Footprint, footprint};
    use crate::testing::scop;
    use pollyrs_scop::{ArrayId, Scop};

    fn a_of(s: &Scop) -> Footprint {
        let id = s.arrays.iter().position(|a| a.name == "A").unwrap();
        footprint(s, &crate::dependences(s).unwrap(), ArrayId(id)).unwrap()
    }

    #[test]
    fn windows() {
        // (SCoP, whether a box is all that is touched, whether anything is read before it is written)
        for (text, window, reads) in [
            ("param n m k; array A n m; array x n; for i : 0 <= i < n { S0 : x[i] = A[i,k]; }", true, true),
            (
                "param n m; array A n m; for i : 0 <= i < n { for j : 3 <= j < m { S0 : A[i,j] = ; } }",
                true,
                false,
            ),
            (
                "param n m; array A n m; for i : 0 <= i < n { for j : 0 <= j < m { S0 : A[i,j] = A[i,j]; } }",
                false,
                true,
            ),
            (
                "param n m; array A n m; array x n; for i : 0 <= i < n { for j : 0 <= j < m { S0 : x[i] = A[i,j]; } }",
                false,
                true,
            ),
            // Beside what is written, the column before it is read; a triangle is the box around it as far as
            // reading goes.
            (
                "param n m; array A n m; for i : 0 <= i < n { for j : 3 <= j < m { S0 : A[i,j] = A[i,j-1]; } }",
                false,
                true,
            ),
            (
                "param n m; array A n m; array x n; for i : 0 <= i < n { for j : 3 <= j <= i + 3 { S0 : x[i] = A[i,j]; } }",
                true,
                true,
            ),
            // The box's first element is not touched, and need not exist.
            (
                "param n m; array A n m; array x n; for i : 0 <= i < n { for j : n - i <= j <= n { S0 : x[i] = A[i,j]; } }",
                false,
                true,
            ),
            ("param n; array A n; for i : 2 <= i < n { S0 : A[i] = A[i]; }", false, true),
        ] {
            let footprint = a_of(&scop(text));
            assert_eq!((footprint.window.is_some(), footprint.reads_initial), (window, reads), "{text}");
        }
    }
}
