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
//! A map from instances to times, which Polly's JSON files have for each statement, says the same:
//! `[n] -> { S0[i, j] -> [j, i] }`. Its dimensions become bands, or sequences where they are numbers.

use crate::{Dependences, Result, ScheduleError, ScheduleTree, known};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;
use std::collections::BTreeMap;

/// The tree of a schedule.
pub fn tree(scop: &Scop, deps: &Dependences, text: &str) -> Result<ScheduleTree> {
    let wrong = |why: &str| ScheduleError::Given(why.to_owned());
    if text.contains("mark") || text.contains("extension") {
        return Err(wrong("marks and extensions are made by the mapping"));
    }
    let schedule = read(scop, text).map_err(|e| wrong(&format!("isl does not read it ({e})")))?;
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

/// A schedule, or a map of times.
fn read(scop: &Scop, text: &str) -> Result<isl::Schedule> {
    if text.contains("domain") {
        return Ok(isl::Schedule::read(&scop.ctx, text)?);
    }
    let times = isl::UnionMap::read(&scop.ctx, text)?.intersect_domain(scop.schedule.domain()?)?;
    let times = padded(&times)?;
    let maps = times.maps()?;
    let dims = maps.first().map_or(Ok(0), |m| m.dim(isl::DimType::Out))?;
    let text = format!("{{ domain: \"{}\"{} }}", times.domain()?, child(&maps, 0, dims)?);
    Ok(isl::Schedule::read(&scop.ctx, &text)?)
}

/// The child of a node beneath which instances are ordered by their times from dimension `at` on.
fn child(maps: &[isl::Map], at: u32, dims: u32) -> Result<String> {
    if at == dims {
        return Ok(String::new());
    }
    let mut groups: BTreeMap<Option<i64>, Vec<isl::Map>> = BTreeMap::new();
    for m in maps {
        let number = m.plain_get_val_if_fixed(isl::DimType::Out, at)?.to_i64();
        groups.entry(number).or_default().push(m.clone());
    }
    if groups.contains_key(&None) {
        let mut times = isl::UnionMap::empty(maps[0].context())?;
        for m in maps {
            let one = m.clone().project_out(isl::DimType::Out, at + 1, dims - at - 1)?;
            times = times.union(isl::UnionMap::from_map(one.project_out(isl::DimType::Out, 0, at)?)?)?;
        }
        let band = isl::MultiUnionPwAff::from_union_map(times)?;
        return Ok(format!(", child: {{ schedule: \"{band}\"{} }}", child(maps, at + 1, dims)?));
    }
    if groups.len() == 1 {
        return child(maps, at + 1, dims);
    }
    let mut parts = Vec::new();
    for group in groups.values() {
        let mut own = isl::UnionSet::empty(maps[0].context())?;
        for m in group {
            own = own.union(isl::UnionSet::from_set(m.clone().domain()?)?)?;
        }
        parts.push(format!("{{ filter: \"{own}\"{} }}", child(group, at + 1, dims)?));
    }
    Ok(format!(", child: {{ sequence: [ {} ] }}", parts.join(", ")))
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
    fn numbers_of_times_are_sequences() {
        let scop = scop(
            "param n; context n >= 2; array A n; array B n; for i : 0 <= i < n { S0 : A[i] = A[i]; S1 : B[i] = A[i]; }",
        );
        let deps = crate::dependences(&scop).unwrap();
        let maps = "[n] -> { S0[i] -> [0, i, 0]; S1[i] -> [1, i] }";
        assert!(tree(&scop, &deps, maps).is_ok());
        let text = read(&scop, maps).unwrap().to_string();
        assert!(text.contains("sequence") && text.matches("schedule").count() == 2, "{text}");
        let other = "[n] -> { S0[i] -> [1, i]; S1[i] -> [0, i] }";
        assert!(tree(&scop, &deps, other).is_err_and(|e| e.to_string().contains("breaks a dependence")));
    }

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
        for (times, want) in [
            ("[n] -> { S0[i, j] -> [i, j] }", None),
            ("[n] -> { S0[i, j] -> [j, 0, i] }", None),
            ("{ S0[i, j] -> [j, i] }", None),
            ("[n] -> { S0[i, j] -> [o, i, j] : 32o <= j < 32 + 32o }", None),
            ("[n] -> { S0[i, j] -> [-i, j] }", Some("breaks a dependence")),
            ("[n] -> { S0[i, j] -> [j] }", Some("breaks a dependence")),
            ("[n] -> { S0[i, j] -> [i, j] : j > 0 }", Some("other instances")),
            ("[n] -> { S0[i, j] -> [i, o] : 0 <= o < 2 }", Some("isl does not read it")),
            ("[n] -> { S1[i, j] -> [i, j] }", Some("other instances")),
        ] {
            let got = tree(&scop, &deps, times).map(drop).map_err(|e| e.to_string());
            match want {
                None => assert_eq!(got, Ok(()), "{times}"),
                Some(part) => assert!(got.as_ref().is_err_and(|e| e.contains(part)), "{times}: {got:?}"),
            }
        }
        let other = r#"{ domain: "[n] -> { S0[i, j] : 0 < i < n and 0 < j < n }", child: { schedule: "[n] -> [{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]" } }"#;
        assert!(tree(&scop, &deps, other).is_err_and(|e| e.to_string().contains("other instances")));
    }
}
