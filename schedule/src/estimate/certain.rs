//! For which parameters a range that data decides about is there all the same.
//!
//! **Problem.** `p[col[k]]` touches what lies between the least and the largest of the columns, and nobody
//! knows whether all of that is in `p`. But where the same SCoP updates `p[0]` to `p[n - 1]` in any case, and
//! the columns are among these, it is.
//!
//! **Approach.** The first and the last element that may be touched lie between elements that are surely
//! accessed, as functions of the parameters: the host compares numbers.

use super::Footprint;
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, ArrayKind, Scop};

/// A condition with more cases than this is not worth its code.
const MAX_CASES: u32 = 8;

/// See [`Footprint::certain_where`].
pub(super) fn of(scop: &Scop, id: ArrayId, f: &Footprint, known: &isl::Set) -> Result<Option<isl::Set>> {
    let leaves = || scop.arrays.iter().any(|a| matches!(a.kind, ArrayKind::Fault { leaves: true }));
    if f.certain || f.boxed || leaves() {
        return Ok(None);
    }
    let surely =
        scop.accesses(|_, a| a.array == id && a.certain)?.range()?.intersect_params(known.clone())?;
    let Some(surely) = surely.sets()?.into_iter().next() else { return Ok(None) };
    let mut there = f.nonempty.clone().intersect(known.clone())?;
    let (first, last) = (
        isl::Set::from_pw_multi_aff(f.touched_min.clone())?,
        isl::Set::from_pw_multi_aff(f.touched_max.clone())?,
    );
    there = there.intersect(first.lex_ge_set(surely.clone())?.domain()?.params()?)?;
    there = there.intersect(last.lex_le_set(surely)?.domain()?.params()?)?;
    let there = there.coalesce()?.gist(known.clone())?.coalesce()?;
    Ok((!there.is_empty()? && there.n_basic_set()? <= MAX_CASES).then_some(there))
}
