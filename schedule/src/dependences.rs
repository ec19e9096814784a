//! Exact data dependences between statement instances (Feautrier, "Dataflow analysis of array and scalar
//! references", IJPP 1991), by isl's dataflow analysis under the original schedule.
//!
//! # Invariants
//! - `flow`, `anti` and `output` relate a source instance to a later instance that must stay later:
//!   `[params] -> { S[i] -> T[j] }`. They hold for arrays of every kind.
//! - `flow` and `output` are reduced: a dependence that follows from others by transitivity (a write that
//!   reaches past an intermediate must-write, say) is left out. Every order in which we check them is
//!   transitive, so nothing is lost. `anti` is not reduced.
//! - `flow` is value-based: the source wrote the value that the sink reads (or may have, for may-writes).
//!   [`memory_flow`] is the unreduced relation. Of an array for which that is too much work `flow` and
//!   `output` are unreduced, and each of its reads may see a value from before: all of it holds what the
//!   exact one does.
//! - Updates in any order (`Statement::updates`) are part of none: nothing else touches their arrays. Of
//!   elements that data chooses and an inspection proves to be different, the dependences are those of their
//!   places (`Access::place`), which stand for the elements in `tagged_flow`.
//! - What is known of the parameters is left out of the relations; whoever asks whether one is empty puts it
//!   back.
//!
//! # Example
//! `for i: S: A[i] = A[i-1];` has `flow = { S[i] -> S[i+1] }`, no anti and no output dependence, and
//! `memory_flow` is the same; with `s = A[i]; B[i] = s` the scalar gives anti dependences
//! `{ T[i] -> S[j] : i < j }` as well.

mod alike;
mod reduced;

use crate::planted::planted;
use crate::{Result, budgeted, independent, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, Scop, Statement};
use std::collections::BTreeSet;

/// The dependences of a SCoP.
#[derive(Clone, Debug)]
pub struct Dependences {
    /// `{ writer -> reader }`, value-based.
    pub flow: isl::UnionMap,
    /// `{ reader -> later writer }`.
    pub anti: isl::UnionMap,
    /// `{ writer -> next writer }`.
    pub output: isl::UnionMap,
    /// `flow` with the cell it goes through: `{ writer -> [reader -> A[a]] }`.
    pub tagged_flow: isl::UnionMap,
    /// Reads that may see a value from before the SCoP: `{ reader -> A[a] }`.
    pub no_source: isl::UnionMap,
}

impl Dependences {
    /// Everything that orders instances of `scop`, whose dependences these are: flow, anti and output, under
    /// all that is known.
    pub fn all(&self, scop: &Scop) -> Result<isl::UnionMap> {
        let all = self.flow.clone().union(self.anti.clone())?.union(self.output.clone())?;
        Ok(all.intersect_params(independent(scop)?)?.coalesce()?)
    }
}

/// The accesses of a SCoP by kind, restricted to the domains and to what is known of the parameters.
struct Accesses {
    reads: isl::UnionMap,
    must_writes: isl::UnionMap,
    may_writes: isl::UnionMap,
}

fn accesses(scop: &Scop) -> Result<Accesses> {
    let known = independent(scop)?;
    let of = |kind: AccessKind| -> Result<isl::UnionMap> {
        Ok(scop.ordered_accesses(|_, a| a.kind == kind)?.intersect_params(known.clone())?)
    };
    Ok(Accesses {
        // As few pieces as possible: the dataflow analysis is quadratic in them. The neighbours that a
        // stencil reads are often all points of a box.
        reads: of(AccessKind::Read)?.coalesce()?,
        must_writes: of(AccessKind::MustWrite)?,
        may_writes: of(AccessKind::MayWrite)?,
    })
}

/// The dependences of `scop`, under the default budget.
pub fn dependences(scop: &Scop) -> Result<Dependences> {
    dependences_within(scop, crate::DEFAULT_BUDGET)
}

/// The dependences of `scop`, with at most `budget` isl operations.
pub fn dependences_within(scop: &Scop, budget: u64) -> Result<Dependences> {
    budgeted(&scop.ctx, "dependences", budget, || compute(scop, accesses(scop)?, budget))
}

fn compute(scop: &Scop, acc: Accesses, budget: u64) -> Result<Dependences> {
    let known = &known(scop)?;
    let writes = acc.must_writes.clone().union(acc.may_writes.clone())?;

    let readers = alike::Readers::new(scop, &acc.reads, &writes)?;
    let sources = reduced::Sources { scop, must: &acc.must_writes, may: &acc.may_writes, budget };
    let reduced::Flow { tagged, no_source, unreduced } = sources.reach(&readers.reads, &BTreeSet::new())?;
    let tagged = readers.all_tagged(tagged.coalesce()?)?;

    // All later writes, not only the next ones: the relation is a single polyhedron more often, and finding
    // it takes a tenth of the operations where many statements read one array.
    let (many, few) = reduced::divided(&scop.ctx, &acc.reads, &unreduced)?;
    let anti = isl::UnionAccessInfo::from_sink(writes.clone())?
        .set_may_source(few)?
        .set_schedule(scop.schedule.clone())?
        .compute_flow()?
        .may_dependence()?;
    let anti = anti.union(reduced::pairs(scop, &many, &writes)?.range_factor_domain()?)?;

    let output = sources.reach(&writes, &unreduced)?.tagged.range_factor_domain()?;

    let none = || isl::UnionMap::empty(&scop.ctx);
    let anti = if planted("no-anti") { none()? } else { anti };
    let tagged = if planted("no-flow") { none()? } else { tagged };
    Ok(Dependences {
        flow: tidy(tagged.clone().range_factor_domain()?, known)?,
        anti: tidy(anti, known)?,
        output: tidy(output, known)?,
        tagged_flow: tidy(tagged, known)?,
        no_source: tidy(unordered(scop, known, readers.all_reads(no_source)?)?, known)?,
    })
}

/// `no_source` of elements. Reads of elements that data chooses, of arrays that are written to as well, are
/// no part of the dataflow, or their places are: any of them may see what was there before.
fn unordered(scop: &Scop, known: &isl::Set, no_source: isl::UnionMap) -> Result<isl::UnionMap> {
    let apart = |s: &Statement, a: &Access| s.update_of(a).is_some() || a.place.is_some();
    let reads = scop.accesses(|s, a| a.kind == AccessKind::Read && apart(s, a))?;
    let mut all = reads.intersect_params(known.clone())?;
    for m in no_source.maps()? {
        let name = m.tuple_name(isl::DimType::Out)?;
        if scop.arrays.iter().any(|a| Some(&a.name) == name.as_ref()) {
            all = all.add_map(m)?;
        }
    }
    Ok(all)
}

/// All pairs of a write and a later read of the same cell, whatever happens between: `{ writer -> reader }`.
pub fn memory_flow(scop: &Scop) -> Result<isl::UnionMap> {
    budgeted(&scop.ctx, "dependences", crate::DEFAULT_BUDGET, || {
        let acc = accesses(scop)?;
        let flow = isl::UnionAccessInfo::from_sink(acc.reads)?
            .set_may_source(acc.must_writes.union(acc.may_writes)?)?
            .set_schedule(scop.schedule.clone())?
            .compute_flow()?;
        tidy(flow.may_dependence()?, &known(scop)?)
    })
}

fn tidy(m: isl::UnionMap, known: &isl::Set) -> Result<isl::UnionMap> {
    Ok(m.coalesce()?.detect_equalities()?.gist_params(known.clone())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scop;

    fn assert_map(scop: &Scop, got: &isl::UnionMap, want: &str) {
        let want =
            isl::UnionMap::read(&scop.ctx, want).unwrap().intersect_params(scop.context.clone()).unwrap();
        assert!(got.is_equal(&want).unwrap(), "got {got}\nwant {want}");
    }

    #[test]
    fn chain() {
        let s = scop("param n; array A n; for i : 1 <= i < n { S0 : A[i] = A[i-1]; }");
        let d = dependences(&s).unwrap();
        assert_map(&s, &d.flow, "[n] -> { S0[i] -> S0[i+1] : 1 <= i < n - 1 }");
        assert!(d.anti.is_empty().unwrap() && d.output.is_empty().unwrap());
        assert_map(&s, &memory_flow(&s).unwrap(), "[n] -> { S0[i] -> S0[i+1] : 1 <= i < n - 1 }");
        assert!(
            d.no_source
                .is_equal(&isl::UnionMap::read(&s.ctx, "[n] -> { S0[1] -> A[0] : n > 1 }").unwrap())
                .unwrap()
        );
    }

    #[test]
    fn scalar_in_the_way() {
        let s = scop(
            "param n; array A n; array B n; scalar t; for i : 0 <= i < n { S0 : t[] = A[i]; S1 : B[i] = t[]; }",
        );
        let d = dependences(&s).unwrap();
        assert_map(&s, &d.flow, "[n] -> { S0[i] -> S1[i] : 0 <= i < n }");
        assert_map(&s, &d.anti, "[n] -> { S1[i] -> S0[j] : 0 <= i < j < n }");
        assert_map(&s, &d.output, "[n] -> { S0[i] -> S0[i+1] : 0 <= i < n - 1 }");
        assert_map(&s, &memory_flow(&s).unwrap(), "[n] -> { S0[i] -> S1[j] : 0 <= i <= j < n }");
    }

    #[test]
    fn may_writes_do_not_hide_earlier_writes() {
        let s = scop(
            "param n; scalar t; array A n; for i : 0 <= i < n { S0 : t[] = A[i]; S1 : t[] ?= A[i]; S2 : A[i] = t[]; }",
        );
        let d = dependences(&s).unwrap();
        let from_both = "[n] -> { S0[i] -> S2[i] : 0 <= i < n; S1[i] -> S2[i] : 0 <= i < n }";
        let through_t = isl::UnionMap::read(&s.ctx, from_both).unwrap();
        assert!(through_t.is_equal(&d.flow).unwrap(), "{}", d.flow);
    }

    #[test]
    fn accumulation() {
        let s = scop("param n m; array C n; for i : 0 <= i < n { for k : 0 <= k < m { S0 : C[i] = C[i]; } }");
        let d = dependences(&s).unwrap();
        assert_map(&s, &d.flow, "[n,m] -> { S0[i,k] -> S0[i,k+1] : 0 <= i < n and 0 <= k < m - 1 }");
    }

    #[test]
    fn later_writes_hide_earlier_ones_whatever_the_subscripts() {
        // Found by the fuzzer: isl 0.27 has no lexicographic maximum for these (`isl/c/sorted.c`).
        let s = scop(
            "param n; array A 2 12 12;
             for t : 0 <= t < n {
               for i : 0 <= i < 5 { for j : 0 <= j < 2 and j < i {
                 S0 : A[(t + 1) mod 2, j, i] = A[(t + 1) mod 2, j, i];
               } }
               for i : 0 <= i < 12 { for j : 1 <= j < 11 { for k : 0 <= k < n {
                 S1 : A[t mod 2, j, t] = A[t mod 2, t, i - 1], A[t mod 2, j, t];
               } } }
             }",
        );
        let d = dependences(&s).unwrap();
        let memory = memory_flow(&s).unwrap();
        assert!(!d.flow.is_empty().unwrap());
        assert!(d.flow.is_subset(&memory).unwrap() && !memory.is_subset(&d.flow).unwrap());
    }

    #[test]
    fn neighbours_are_one_read() {
        let mut reads = Vec::new();
        for (a, b) in (-1..=1).flat_map(|a| (-1..=1).map(move |b| (a, b))) {
            reads.push(format!("A[t mod 2, i + {}, j + {}]", a + 1, b + 1));
        }
        let s = scop(&format!(
            "param n m; array A 2 m m;
             for t : 0 <= t < n {{ for i : 0 <= i < m - 2 {{ for j : 0 <= j < m - 2 {{
               S0 : A[(t + 1) mod 2, i + 1, j + 1] = {};
             }} }} }}",
            reads.join(", ")
        ));
        let acc = accesses(&s).unwrap();
        assert_eq!(acc.reads.map_list().unwrap().to_vec().unwrap()[0].n_basic_map().unwrap(), 1);
        let d = dependences_within(&s, 100_000).unwrap();
        let one_step =
            "[n, m] -> { S0[t, i, j] -> S0[t + 1, x, y] : 0 <= t < n - 1 and 0 <= i, j, x, y < m - 2
                        and -1 <= x - i <= 1 and -1 <= y - j <= 1 }";
        assert_map(&s, &d.flow, one_step);
    }

    /// Readers that are alike, those between which somebody writes, and those that write themselves.
    #[test]
    fn readers_alike_have_their_own_dependences() {
        let reads = "A[i], A[i + 10], A[i + 21], A[i + 33], A[i + 46]";
        let apart = format!(
            "S0 : B[i] = {reads}; S1 : C[i] = {reads}; }} for i : 0 <= i < n {{ S2 : A[i] = B[i], C[i]; }}"
        );
        let between = format!("S0 : B[i] = {reads}; S2 : A[i] = B[i]; S1 : C[i] = {reads}; }}");
        let itself = format!("S0 : A[i] = {reads}; S1 : C[i] = {reads}; }}");
        let before = format!(
            "S2 : A[i] = B[i]; }} for i : 0 <= i < n {{ S0 : B[i] = {reads}; S1 : C[i] = {reads}; S3 : A[i + n] = C[i]; }}"
        );
        for (body, found) in [(apart, true), (between, false), (itself, false), (before, false)] {
            let s = scop(&format!(
                "param n; array A n; array B n; array C n; for t : 0 <= t < 3 {{ for i : 0 <= i < n {{ {body} }}"
            ));
            let acc = accesses(&s).unwrap();
            let writes = acc.must_writes.clone().union(acc.may_writes.clone()).unwrap();
            let readers = alike::Readers::new(&s, &acc.reads, &writes).unwrap();
            assert_eq!(
                readers.reads.maps().unwrap().len() < acc.reads.maps().unwrap().len(),
                found,
                "{body}"
            );
            let all = isl::UnionAccessInfo::from_sink(acc.reads)
                .and_then(|i| i.set_must_source(acc.must_writes))
                .and_then(|i| i.set_schedule(s.schedule.clone()))
                .and_then(|i| i.compute_flow())
                .unwrap();
            let d = dependences(&s).unwrap();
            let known = known(&s).unwrap();
            let same = |a: isl::UnionMap, b: isl::UnionMap| {
                let under = |m: isl::UnionMap| m.intersect_params(known.clone()).unwrap();
                assert!(!b.is_empty().unwrap() && under(a).is_equal(&under(b)).unwrap(), "{body}");
            };
            same(d.tagged_flow, all.full_must_dependence().unwrap());
            same(d.no_source, all.may_no_source().unwrap());
        }
    }

    /// Writes at borders that lie to each other in any order: with nothing to spend no write hides another,
    /// and all that the exact relations have is there.
    #[test]
    fn without_a_budget_all_pairs_are_kept() {
        let s = scop(
            "param n a b; context n >= 9; array A n;
             for t : 0 <= t < n {
               for i : a <= i < b { S0 : A[i] = A[i]; }
               S1 : A[1] = A[2]; S2 : A[n - 3] = A[n - 4];
               for i : 3 <= i < n - 3 { S3 : A[i] = A[i - 1]; }
             }",
        );
        let exact = dependences(&s).unwrap();
        let all = compute(&s, accesses(&s).unwrap(), 1).unwrap();
        for (few, many) in [
            (&exact.flow, &all.flow),
            (&exact.anti, &all.anti),
            (&exact.output, &all.output),
            (&exact.tagged_flow, &all.tagged_flow),
            (&exact.no_source, &all.no_source),
        ] {
            let few = few.clone().intersect_params(s.context.clone()).unwrap();
            assert!(few.is_subset(many).unwrap(), "{few}\nin {many}");
        }
        let all_flow = all.flow.clone().intersect_params(s.context.clone()).unwrap();
        let memory = memory_flow(&s).unwrap().intersect_params(s.context.clone()).unwrap();
        assert!(all_flow.is_equal(&memory).unwrap() && !all_flow.is_subset(&exact.flow).unwrap());
    }

    #[test]
    fn budget_is_reported() {
        let s = scop("param n; array A n; for i : 1 <= i < n { S0 : A[i] = A[i-1]; }");
        let e = dependences_within(&s, 10).unwrap_err();
        assert_eq!(e, crate::ScheduleError::Budget("dependences"));
    }
}
