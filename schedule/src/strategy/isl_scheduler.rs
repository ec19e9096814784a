//! isl's scheduler: a Pluto-like search for permutable bands with coincident members outside, Feautrier's
//! where that fails (Verdoolaege and Janssens, "Scheduling for PPCG", 2017).

use super::sizes::Sizes;
use crate::tree::{Tree, member_map};
use crate::{Dependences, Result, ScheduleError, ScheduleTree, known};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;
use std::collections::BTreeSet;

/// The schedule isl finds for the SCoP: valid for all dependences, flow as short as it can make it.
///
/// The elimination behind Farkas' lemma is exponential in constraints with constant bounds, and isl's
/// operation budget does not see it: minutes for a stencil whose sizes are constants. Where there is no
/// parameter, the constraints are therefore simplified by what the domain says anyway; the larger relation
/// that results is as valid, yet can hide parallelism: then see [`isl_schedule_of_sizes`].
pub fn isl_schedule(scop: &Scop, deps: &Dependences) -> Result<ScheduleTree> {
    let domain = scop.domain()?;
    let constant = scop.params.is_empty();
    let simple = |d: isl::UnionMap| -> Result<isl::UnionMap> {
        Ok(if constant { d.gist_domain(domain.clone())?.gist_range(domain.clone())?.coalesce()? } else { d })
    };
    let all = simple(deps.all(scop)?)?;
    search(scop, domain.clone(), known(scop)?, all, simple(deps.flow.clone())?)
}

/// The schedule isl finds where the program's sizes, all of them constants, are taken for parameters
/// ([`Sizes`]); `None` if there are parameters, or no sizes.
pub fn isl_schedule_of_sizes(scop: &Scop, deps: &Dependences) -> Result<Option<ScheduleTree>> {
    if !scop.params.is_empty() {
        return Ok(None);
    }
    let (domain, all) = (scop.domain()?, deps.all(scop)?);
    let Some(sizes) = Sizes::of(&domain, &all)? else { return Ok(None) };
    let flow = sizes.named_map(&deps.flow)?;
    let tree =
        search(scop, sizes.named_set(&domain)?, sizes.context(&scop.ctx)?, sizes.named_map(&all)?, flow)?;
    sizes.fixed(tree, &domain).map(Some)
}

/// isl's schedule of these instances that orders `all` and keeps `flow` short; the program's order if isl's
/// makes no sense.
fn search(
    scop: &Scop,
    domain: isl::UnionSet,
    context: isl::Set,
    all: isl::UnionMap,
    flow: isl::UnionMap,
) -> Result<ScheduleTree> {
    if paths(scop, &all)? > MAX_PATHS {
        return Err(ScheduleError::Budget("scheduling"));
    }
    let constraints = isl::ScheduleConstraints::on_domain(domain)?
        .set_context(context)?
        .set_validity(all.clone())?
        .set_coincidence(all)?
        .set_proximity(flow)?;
    let tree = ScheduleTree::from_isl(&constraints.compute_schedule()?)?;
    // isl keeps to its limit of coefficients in most places only: a loop that counts in steps of 2^31 would
    // take for ever.
    if moderate(&tree.root)? { Ok(tree) } else { ScheduleTree::from_isl(&scop.schedule) }
}

/// isl drops the edges between clusters of statements that longer paths imply (`isl_scc_graph`, its
/// `elim_or_next`), and follows each path for that, which no operation budget sees. A million take less than
/// a second; twenty more statements that each use all before them would take a million times as long.
const MAX_PATHS: u64 = 1 << 20;

/// Paths along dependences from statements to later ones.
fn paths(scop: &Scop, all: &isl::UnionMap) -> Result<u64> {
    let number = |name: Option<String>| name.and_then(|n| scop.statement_named(&n)).map(|(id, _)| id.0);
    let mut later = vec![BTreeSet::new(); scop.statements.len()];
    for m in all.maps()? {
        let ends = (number(m.tuple_name(isl::DimType::In)?), number(m.tuple_name(isl::DimType::Out)?));
        if let (Some(from), Some(to)) = ends
            && from < to
        {
            later[from].insert(to);
        }
    }
    let mut from = vec![1u64; later.len()];
    for (s, next) in later.iter().enumerate().rev() {
        from[s] = next.iter().fold(1, |sum: u64, to| sum.saturating_add(from[*to]));
    }
    Ok(from.into_iter().fold(0, u64::saturating_add))
}

/// Coefficients of counters up to this make sense; isl's options allow 20.
const MAX_COEFFICIENT: i64 = 1 << 10;

/// Whether no member has a counter with a huge coefficient.
fn moderate(tree: &Tree) -> Result<bool> {
    match tree {
        Tree::Leaf => Ok(true),
        Tree::Mark(_, child) => moderate(child),
        Tree::Sequence(children) => {
            for (_, child) in children {
                if !moderate(child)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Tree::Band(b) => {
            for member in &b.members {
                for map in member_map(member)?.maps()? {
                    for (_, a) in isl::PwMultiAff::from_map(map)?.at(0)?.pieces()? {
                        for d in 0..a.dim(isl::DimType::In)? as i32 {
                            let c = a.coefficient(isl::DimType::In, d)?.to_i64();
                            if c.is_none_or(|c| c.abs() > MAX_COEFFICIENT) {
                                return Ok(false);
                            }
                        }
                    }
                }
            }
            moderate(&b.child)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scop;

    /// `n` statements, each of which uses what all before it have stored.
    fn dense(n: usize) -> Scop {
        let mut text = "param n; context n >= 0; ".to_owned();
        (0..n).for_each(|s| text += &format!("array A{s} n; "));
        text += "for i : 0 <= i < n { ";
        for s in 0..n {
            let reads: Vec<String> = (0..s).map(|r| format!("A{r}[i]")).collect();
            text += &format!("S{s} : A{s}[i] = {}; ", reads.join(", "));
        }
        scop(&(text + "}"))
    }

    #[test]
    fn statements_that_use_all_before_them_are_not_scheduled_for_ever() {
        for (statements, all, fine) in [(4, 15, true), (24, (1 << 24) - 1, false)] {
            let s = dense(statements);
            let deps = crate::dependences::dependences(&s).unwrap();
            assert_eq!(paths(&s, &deps.all(&s).unwrap()).unwrap(), all);
            match isl_schedule(&s, &deps) {
                Ok(_) => assert!(fine, "{statements}"),
                Err(e) => assert!(!fine && e == ScheduleError::Budget("scheduling"), "{statements}: {e}"),
            }
        }
    }
}
