//! A schedule that somebody wrote, in isl's notation, as `pollyrs schedule` writes the program's own.
//!
//! **Invariant.** What is taken has the instances of the SCoP, and keeps all its dependences. What the
//! mapping makes of it is proved like any other schedule; this check is there so that a mistake is told in
//! terms of what was written.
//!
//! **Example.** Of `for (i) for (j) A[i][j] = A[i-1][j]`, with the loops exchanged:
//! ```text
//! { domain: "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < n }",
//!   child: { schedule: "[n] -> [{ S0[i, j] -> [j] }, { S0[i, j] -> [i] }]" } }
//! ```

use crate::{Dependences, Result, ScheduleError, ScheduleTree, known};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// The tree of a schedule.
pub fn tree(scop: &Scop, deps: &Dependences, text: &str) -> Result<ScheduleTree> {
    let wrong = |why: &str| ScheduleError::Given(why.to_owned());
    if text.contains("mark") || text.contains("extension") {
        return Err(wrong("marks and extensions are made by the mapping"));
    }
    let schedule =
        isl::Schedule::read(&scop.ctx, text).map_err(|e| wrong(&format!("isl does not read it ({e})")))?;
    let schedule = schedule.align_params(scop.param_space()?)?;
    let known = known(scop)?;
    let own = scop.schedule.domain()?.intersect_params(known.clone())?;
    if !schedule.domain()?.intersect_params(known)?.is_equal(&own)? {
        return Err(wrong("it has other instances than the loop nest"));
    }
    let times = padded(&schedule.map()?)?;
    // { instance -> instance that is not later }
    let not_later = times.clone().lex_ge(times)?;
    let broken = deps.all(scop)?.intersect(not_later)?;
    if let Some(first) = broken.maps()?.first() {
        return Err(wrong(&format!("it breaks a dependence: {first}")));
    }
    ScheduleTree::from_isl(&schedule)
}

/// All times with as many numbers, those that are not there being 0.
fn padded(times: &isl::UnionMap) -> Result<isl::UnionMap> {
    let maps = times.maps()?;
    let dims = |m: &isl::Map| m.dim(isl::DimType::Out);
    let mut most = 0;
    for m in &maps {
        most = most.max(dims(m)?);
    }
    let mut all = isl::UnionMap::empty(times.context())?;
    for m in maps {
        let own = dims(&m)?;
        let mut m = m.add_dims(isl::DimType::Out, most - own)?;
        for at in own..most {
            m = m.fix_si(isl::DimType::Out, at, 0)?;
        }
        all = all.union(isl::UnionMap::from_map(m)?)?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn what_is_legal_is_taken() {
        let scop = scop(
            "param n; context n >= 2; array A n n; for i : 0 < i < n { for j : 0 <= j < n { S0 : A[i,j] = A[i-1,j]; } }",
        );
        let deps = crate::dependences(&scop).unwrap();
        let domain = r#"domain: "[n] -> { S0[i, j] : 0 < i < n and 0 <= j < n }""#;
        let table = [
            (r#"child: { schedule: "[n] -> [{ S0[i, j] -> [(j)] }, { S0[i, j] -> [(i)] }]" }"#, None),
            (
                r#"child: { schedule: "[n] -> [{ S0[i, j] -> [(i)] }]", child: { schedule: "[n] -> [{ S0[i, j] -> [(j)] }]" } }"#,
                None,
            ),
            (
                r#"child: { schedule: "[n] -> [{ S0[i, j] -> [(-i)] }, { S0[i, j] -> [(j)] }]" }"#,
                Some("breaks a dependence"),
            ),
            (r#"child: { schedule: "[n] -> [{ S0[i, j] -> [(j)] }]" }"#, Some("breaks a dependence")),
            (
                r#"child: { mark: "kernel", child: { schedule: "[n] -> [{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]" } }"#,
                Some("marks"),
            ),
            ("child: {", Some("isl does not read it")),
        ];
        for (child, want) in table {
            let got =
                tree(&scop, &deps, &format!("{{ {domain}, {child} }}")).map(drop).map_err(|e| e.to_string());
            match want {
                None => assert_eq!(got, Ok(()), "{child}"),
                Some(part) => assert!(got.as_ref().is_err_and(|e| e.contains(part)), "{child}: {got:?}"),
            }
        }
        let other = r#"{ domain: "[n] -> { S0[i, j] : 0 < i < n and 0 < j < n }", child: { schedule: "[n] -> [{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]" } }"#;
        assert!(tree(&scop, &deps, other).is_err_and(|e| e.to_string().contains("other instances")));
    }
}
