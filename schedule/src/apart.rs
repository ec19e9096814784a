//! Parts of one array that lie apart for the sizes that a program has.
//!
//! **Problem.** `g.y[i] = 2 * g.x[i]`, where both members are arrays of 1000 elements in one structure (or in
//! one COMMON block) and the bound is an argument, is a loop over one array: for a bound above 1000 the loop
//! would read what it wrote before. No such bound exists in the program, but only the source says so.
//!
//! **What is assumed.** Of two accesses whose elements are a constant distance from each other, the same in
//! each iteration and at least [`FAR`] in some dimension, that they touch no common element at all. It is a
//! condition on the parameters, checked before each execution like any other. It is asked for only where
//! nothing runs in parallel without it, and made only if it leaves sizes for which something is worth doing:
//! a recurrence over 20 elements is none of two arrays.
//!
//! **Example.** `h[1000 + i] = 2 * h[i]` for `0 <= i < n`: common elements need `n > 1000`; what is assumed
//! is `n <= 1000`.

use crate::base::{Result, budgeted, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, ArrayKind, Assumption, AssumptionKind, Scop, Statement};

/// Elements between two parts, and that the written one must have room for.
const FAR: i64 = 16;

/// Pairs of accesses that are looked at.
const MAX_PAIRS: usize = 200;

/// What has to be assumed so that parts of arrays of `scop` do not overlap, with at most `budget` isl
/// operations; empty if there is nothing of the kind.
pub fn apart(scop: &Scop, budget: u64) -> Result<Vec<Assumption>> {
    budgeted(&scop.ctx, "parts of arrays", budget, || {
        let known = known(scop)?;
        let mut found: Vec<Assumption> = Vec::new();
        let all = || scop.statements.iter().flat_map(|s| s.accesses.iter().map(move |a| (s, a)));
        let mut left = MAX_PAIRS;
        for (s, a) in all().filter(|(_, a)| a.kind != AccessKind::Read) {
            if !matches!(scop.array(a.array).kind, ArrayKind::Memory { .. }) {
                continue;
            }
            for (t, b) in all().filter(|(_, b)| b.array == a.array) {
                if left == 0 {
                    return Ok(found);
                }
                left -= 1;
                let own = found.iter().try_fold(known.clone(), |k, f| k.intersect(f.set.clone()))?;
                if let Some(set) = separated((s, a), (t, b), &own, &scop.ctx)? {
                    let note = format!("parts of {} do not overlap", scop.array(a.array).display);
                    let location = s.location.clone();
                    found.push(Assumption { kind: AssumptionKind::Delinearization, set, location, note });
                }
            }
        }
        Ok(found)
    })
}

/// The sizes for which a write and another access touch nothing in common, if they are a constant distance
/// apart. `known`: of parameters.
fn separated(
    (s, a): (&Statement, &Access),
    (t, b): (&Statement, &Access),
    known: &isl::Set,
    ctx: &isl::Context,
) -> Result<Option<isl::Set>> {
    if a.within.is_some()
        || b.within.is_some()
        || s.domain.dim(isl::DimType::Set)? != t.domain.dim(isl::DimType::Set)?
    {
        return Ok(None);
    }
    let touched = |s: &Statement, a: &Access| -> Result<isl::Map> {
        Ok(a.relation.clone().intersect_domain(s.domain.clone())?.intersect_params(known.clone())?)
    };
    let (x, y) = (touched(s, a)?, touched(t, b)?);
    let anonymous = |m: &isl::Map| m.clone().reset_tuple_id(isl::DimType::In);
    let distance = anonymous(&x)?.reverse()?.apply_range(anonymous(&y)?)?.deltas()?;
    if distance.is_empty()? {
        return Ok(None);
    }
    let mut far = false;
    for d in 0..distance.dim(isl::DimType::Set)? as i32 {
        match (distance.clone().dim_min_val(d)?.to_i64(), distance.clone().dim_max_val(d)?.to_i64()) {
            (Some(least), Some(most)) if least == most => far |= least.abs() >= FAR,
            _ => return Ok(None),
        }
    }
    let (written, other) = (x.range()?, y.range()?);
    let common = written.clone().intersect(other.clone())?.params()?;
    if !far || common.is_empty()? {
        return Ok(None);
    }
    // That the loops run at all is not negated along.
    let executed = written.clone().params()?.intersect(other.params()?)?;
    let good = common.gist(executed)?.complement()?.coalesce()?;
    if good.n_basic_set()? != 1 || !has_room(ctx, written, good.clone().intersect(known.clone())?)? {
        return Ok(None);
    }
    Ok(Some(good))
}

/// Whether for some of the sizes elements are written that are as far from each other in some dimension.
fn has_room(ctx: &isl::Context, written: isl::Set, sizes: isl::Set) -> Result<bool> {
    let written = written.intersect_params(sizes)?;
    let distances = isl::Map::from_domain_and_range(written.clone(), written)?.deltas()?;
    for d in 0..distances.dim(isl::DimType::Set)? {
        let far = isl::Val::int(ctx, FAR)?;
        if !distances.clone().lower_bound_val(isl::DimType::Set, d, far)?.is_empty()? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scop;

    /// What is assumed of a loop, joined.
    fn assumed(text: &str) -> Option<String> {
        let s = scop(text);
        let found = apart(&s, crate::DEFAULT_BUDGET).unwrap();
        let all = found.iter().map(|a| a.set.clone()).reduce(|a, b| a.intersect(b).unwrap())?;
        Some(all.coalesce().unwrap().to_string())
    }

    #[test]
    fn only_parts_at_a_constant_distance_with_room_between() {
        let table = [
            ("A[i + 1000] = A[i]", Some("[n] -> {  : n <= 1000 }")),
            ("A[i] = A[i + 1000], A[i + 2000]", Some("[n] -> {  : n <= 1000 }")),
            // Recurrences, however long.
            ("A[i + 1] = A[i]", None),
            ("A[i + 16] = A[i]", None),
            // No constant distance.
            ("A[2 * i] = A[i + 1000]", None),
            ("A[i] = A[i + n]", None),
        ];
        for (body, want) in table {
            let text = format!("param n; array A n; for i : 0 <= i < n {{ S0 : {body}; }}");
            assert_eq!(assumed(&text).as_deref(), want, "{body}");
        }
        let rows = "param n m; array A 76 40; for i : 0 <= i < n { for j : 0 <= j < m { S0 : A[i + 38, j] = A[i, j]; } }";
        assert_eq!(assumed(rows).as_deref(), Some("[n, m] -> {  : n <= 38 }"));
    }
}
