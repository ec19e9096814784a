//! The rule for updates that were regrouped: one statement `S` of the original is `S'` (with other iterators and a cell `P` of its own for each part),
//! a statement that sets each `P` to the identity, and a statement `R` that applies the update to the original cell `X` with each `P`.
//!
//! 1. *Form.* `S'` has the instances of `S`, one for one, with the same body, accesses and integers, but that it updates `P` and not `X`. The start only
//!    stores the identity; `R` only runs the instructions of the update with the original accesses of `X`. No other statement touches `P`.
//! 2. *Original chains.* The flow of `S` to itself through the cell of `X` that it updates joins consecutive instances among those with the same first
//!    iterators `o`, and only the last one of a chain is seen by anything else, be it another operand of `S`, which is never the updated cell.
//! 3. *Parts.* Each `P` is set once for each `o`, before it is read; the flow of `S'` to itself through `P` joins its instances into one path for
//!    each `P` and `o`, which ends at the one `R` that reads this `P` and has this `o`. The instances of one path have the `o` of their `R`.
//! 4. *Rest.* The flow of `R` to itself through `X` joins consecutive instances of the same `o`; what the first one reads, and what sees the last
//!    one, is what the first of the original chain reads and what sees its last, and every order of other statements against the chain is kept.
//! 5. *Operands.* Where operands of `S` are other cells of `X`, those of `S'` see the same: a statement outside, the end of a chain (of `S`, now of `R`), or
//!    what the memory held before.
//! 6. *Order.* If the operation does not commute: of two instances of a chain, the earlier one stays the earlier one in its part, or its part is
//!    applied earlier.
//!
//! 7. *Companions.* An update may have several cells `X`, which it changes together, each with a `P` of its own: all of the above holds of each of them, with the
//!    same `o`, and the cells of one part have the same subscripts in each `P`, so that their paths are the same.
//!
//! Each value of `X` that others see is then the original first value updated by the same values, grouped by parts (and, only if the operation
//! commutes, in another order).

use super::Check;
use crate::Result;
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, ArrayId, ArrayKind, Cell, Reduction, Statement, StmtId};

impl Check<'_> {
    /// The arrays of partial results, one for each cell of the update.
    pub(super) fn partial(&self) -> Vec<ArrayId> {
        if !self.made.scans.is_empty() {
            return self.running();
        }
        let Some(s) = self.made.instances.keys().next().map(|id| &self.new.statements[id.0]) else {
            return vec![];
        };
        let cells = s.reduction.iter().flat_map(Reduction::cells);
        let arrays = cells.filter_map(|c| Some(s.accesses.get(c.write)?.array));
        arrays.filter(|a| self.is_new(*a)).collect()
    }

    /// Whether there is a cell in which a NaN among values can be reported.
    pub(super) fn reports_numbers(&self) -> bool {
        self.new.arrays.iter().any(|a| matches!(a.kind, ArrayKind::Fault { .. }))
    }

    /// Rule 6 of the module above.
    pub(super) fn regrouped(&mut self) -> Result<()> {
        if !self.made.scans.is_empty() {
            return self.scanned();
        }
        let Some((id, view)) = self.made.instances.iter().next() else { return Ok(()) };
        let (id, view) = (*id, view.clone());
        self.report(self.made.instances.len() == 1, || "two statements were regrouped at once".into());
        let Some((start, rest)) = self.form(id, &view)? else {
            self.report(false, || "a regrouped statement of another form".into());
            return Ok(());
        };
        let Some(cells) = self.old.statements[id.0].reduction.as_ref().map(Reduction::cells) else {
            return Ok(());
        };
        let mut outer = None;
        for (n, cell) in cells.into_iter().enumerate() {
            let own = self.chains(id, &view, (start, rest), (n, cell))?;
            self.report(n == 0 || own == outer, || "cells of one update have different chains".into());
            outer = own;
        }
        Ok(())
    }

    /// Part 1: start and rest.
    fn form(&self, id: StmtId, view: &isl::Map) -> Result<Option<(usize, usize)>> {
        let (Some(old), Some(new)) = (self.old.statements.get(id.0), self.new.statements.get(id.0)) else {
            return Ok(None);
        };
        let (Some(r), Some(q)) = (&old.reduction, &new.reduction) else { return Ok(None) };
        let (cells, parts) = (r.cells(), self.partial());
        let target = |c: &Cell| old.accesses[c.write].array;
        // (What two cells take as one value is the same in both of their parts.)
        let alone = |m: usize, n: usize| {
            parts[m] != parts[n]
                && target(&cells[m]) != target(&cells[n])
                && (cells[m].value != cells[n].value || cells[m].identity == cells[n].identity)
        };
        let apart = |n: usize| (0..n).all(|m| alone(m, n));
        if parts.len() != cells.len() || !(0..parts.len()).all(apart) {
            return Ok(None);
        }
        // The same cell in each array of partial results.
        let alike = |a: &Access, b: &Access| -> Result<bool> {
            let plain = |a: &Access| a.relation.clone().reset_tuple_id(isl::DimType::Out);
            Ok(plain(a)?.is_equal(&plain(b)?)?)
        };
        let view = view.clone().intersect_domain(new.domain.clone())?;
        let mut ok = old.name == new.name
            && old.body == new.body
            && old.accesses.len() == new.accesses.len()
            && old.synthesized.len() == new.synthesized.len()
            && q.regrouped
            && (!r.numbers || q.numbers && self.reports_numbers())
            && (cells == q.cells() && r.update == q.update)
            && view.is_bijective()?
            && view.clone().domain()?.is_equal(&new.domain)?
            && view.clone().range()?.is_equal(&old.domain)?;
        for (c, p) in cells.iter().zip(&parts) {
            ok &= matches!(self.new.array(*p).kind, ArrayKind::Scalar { live_out: false, .. })
                && self.new.array(*p).elem == self.old.array(target(c)).elem;
        }
        for (n, (x, y)) in old.accesses.iter().zip(&new.accesses).enumerate() {
            let relation = y.relation.clone().intersect_domain(new.domain.clone())?;
            ok &= x.kind == y.kind && x.value == y.value;
            if let Some(at) = cells.iter().position(|c| n == c.read || n == c.write) {
                ok &= y.array == parts[at] && alike(y, &new.accesses[r.write])?;
            } else {
                let wanted = view.clone().apply_range(x.relation.clone())?;
                ok &= y.array == x.array && relation.is_equal(&wanted)?;
                if let Some(c) = cells.iter().find(|c| target(c) == x.array) {
                    // Another cell, always: the updated one would hold no partial result any more.
                    let same = x.relation.clone().intersect(old.accesses[c.read].relation.clone())?;
                    let same =
                        same.intersect_domain(old.domain.clone())?.intersect_params(self.known.clone())?;
                    ok &= x.kind == AccessKind::Read && x.within.is_none() && same.is_empty()?;
                }
            }
        }
        for (x, y) in old.synthesized.iter().zip(&new.synthesized) {
            let got = isl::Map::from_pw_aff(y.function.clone())?.intersect_domain(new.domain.clone())?;
            let wanted = view.clone().apply_range(isl::Map::from_pw_aff(x.function.clone())?)?;
            ok &= x.value == y.value && got.is_equal(&wanted)?;
        }
        if !ok {
            return Ok(None);
        }
        let mut found = (None, None);
        for (n, s) in self.new.statements.iter().enumerate() {
            if n == id.0 || !s.accesses.iter().any(|a| parts.contains(&a.array)) {
                continue;
            }
            if n < self.old.statements.len() {
                return Ok(None);
            }
            if found.0.is_none() && s.body.is_empty() {
                let mut sets = s.accesses.len() == cells.len();
                for ((w, c), p) in s.accesses.iter().zip(&cells).zip(&parts) {
                    let identity = AccessValue::ScalarWrite(c.identity);
                    sets &= (w.kind, w.value, w.array) == (AccessKind::MustWrite, identity, *p)
                        && alike(w, &s.accesses[0])?;
                }
                if !sets {
                    return Ok(None);
                }
                found.0 = Some(n);
                continue;
            }
            let mut applies = found.1.is_none()
                && s.body == r.update
                && s.synthesized.is_empty()
                && s.accesses.len() == 3 * cells.len()
                && s.reduction
                    .as_ref()
                    .is_none_or(|q| q.regrouped && q.commutative == r.commutative && q.numbers == r.numbers);
            for ((of_cell, c), p) in s.accesses.chunks(3).zip(&cells).zip(&parts) {
                let [a, b, part] = of_cell else { return Ok(None) };
                let (x, y) = (&old.accesses[c.read], &old.accesses[c.write]);
                applies &= (a.kind, a.value, a.array) == (x.kind, x.value, x.array)
                    && (b.kind, b.value, b.array) == (y.kind, y.value, y.array)
                    && (part.kind, part.value, part.array)
                        == (AccessKind::Read, AccessValue::ScalarRead(c.value), *p)
                    && alike(part, &s.accesses[2])?;
            }
            if !applies {
                return Ok(None);
            }
            found.1 = Some(n);
        }
        Ok(match found {
            (Some(start), Some(rest)) => Some((start, rest)),
            _ => None,
        })
    }

    /// `{ S[...] -> S[...] : d before d' }` among instances with the same first `outer` iterators.
    fn later(&self, s: &Statement, outer: u32) -> Result<isl::UnionMap> {
        let (n, name) = (s.domain.dim(isl::DimType::Set)?, &s.name);
        let tuple = |v: &str| (0..n).map(|d| format!("{v}{d}")).collect::<Vec<_>>().join(",");
        let mut text = format!("{{ {name}[{}] -> {name}[{}] : ", tuple("x"), tuple("y"));
        for d in outer..n {
            let equal: String = (0..d).map(|e| format!("x{e} = y{e} and ")).collect();
            text += &format!("({equal}x{d} < y{d}){}", if d + 1 < n { " or " } else { " }" });
        }
        let pairs = isl::UnionMap::read(&self.old.ctx, &text)?;
        let own = self.all_of(s)?;
        Ok(pairs.intersect_domain(own.clone())?.intersect_range(own)?)
    }

    pub(super) fn all_of(&self, s: &Statement) -> Result<isl::UnionSet> {
        Ok(isl::UnionSet::from_set(s.domain.clone().intersect_params(self.known.clone())?)?)
    }

    /// `{ S[o, ...] -> [o] }`
    pub(super) fn key(&self, s: &Statement, outer: u32) -> Result<isl::UnionMap> {
        let n = s.domain.dim(isl::DimType::Set)?;
        let names: Vec<_> = (0..n).map(|d| format!("x{d}")).collect();
        let text =
            format!("{{ {}[{}] -> [{}] }}", s.name, names.join(","), names[..outer as usize].join(","));
        Ok(isl::UnionMap::read(&self.old.ctx, &text)?.intersect_domain(self.all_of(s)?)?)
    }

    /// Parts 2 to 6 for one cell, which is number `nth` of the update; the number of iterators that tell its chains apart.
    fn chains(
        &mut self,
        id: StmtId,
        view: &isl::Map,
        (start, rest): (usize, usize),
        (nth, r): (usize, Cell),
    ) -> Result<Option<u32>> {
        let (old, new) = (&self.old.statements[id.0], &self.new.statements[id.0]);
        let (start, rest) = (&self.new.statements[start], &self.new.statements[rest]);
        let commutative = old.reduction.as_ref().is_some_and(|r| r.commutative);
        let x = self.old.array(old.accesses[r.write].array).name.clone();
        let p = self.new.array(new.accesses[r.write].array).name.clone();
        let at = |s: &Statement| self.all_of(s);
        let (s_old, s_new, s_start, s_rest) = (at(old)?, at(new)?, at(start)?, at(rest)?);

        // 2
        let tagged_x = self.tagged(self.old_deps, &x)?;
        let updated = isl::UnionMap::from_map(old.accesses[r.read].relation.clone())?
            .intersect_domain(s_old.clone())?
            .wrap()?;
        let own_tagged =
            tagged_x.clone().intersect_domain(s_old.clone())?.intersect_range(updated.clone())?;
        let own = own_tagged.clone().range_factor_domain()?;
        let mut outer = None;
        for o in (0..old.domain.dim(isl::DimType::Set)?).rev() {
            if outer.is_none() && own.is_equal(&self.later(old, o)?.lexmin()?)? {
                outer = Some(o);
            }
        }
        let Some(outer) = outer else {
            self.report(false, || format!("{} has no chains", old.name));
            return Ok(None);
        };
        let (key_old, key_rest) = (self.key(old, outer)?, self.key(rest, outer)?);
        let seen_old = tagged_x.clone().intersect_domain(s_old.clone())?.subtract(own_tagged.clone())?;
        let seen_old = seen_old.range_factor_domain()?;
        self.report(seen_old.clone().domain()?.is_disjoint(&own.clone().domain()?)?, || {
            format!("others see inside a chain of {}", old.name)
        });

        // 3
        let through_p = self.through(self.new_deps, &p)?;
        let part = |from: &isl::UnionSet, to: &isl::UnionSet| -> Result<isl::UnionMap> {
            Ok(through_p.clone().intersect_domain(from.clone())?.intersect_range(to.clone())?)
        };
        let (begun, path, applied) = (part(&s_start, &s_new)?, part(&s_new, &s_new)?, part(&s_new, &s_rest)?);
        let all = begun.clone().union(path.clone())?.union(applied.clone())?;
        let mut unseen = false;
        for m in self.new_deps.no_source.maps()? {
            unseen |= m.tuple_name(isl::DimType::Out)?.as_deref() == Some(&p)
                && !m.intersect_params(self.known.clone())?.is_empty()?;
        }
        // { S'[...] -> [P[...] -> [o]] }: chains that run one after the other may share cells.
        let cell = |s: &Statement, n: usize| -> Result<isl::UnionMap> {
            let cell =
                isl::UnionMap::from_map(s.accesses[n].relation.clone())?.intersect_domain(self.all_of(s)?)?;
            Ok(cell.range_product(self.key(s, outer)?)?)
        };
        let (set, used, read) = (cell(start, nth)?, cell(new, r.write)?, cell(rest, 3 * nth + 2)?);
        let stays = |flow: &isl::UnionMap, from: &isl::UnionMap, to: &isl::UnionMap| -> Result<bool> {
            Ok(flow.is_subset(&from.clone().apply_range(to.clone().reverse()?)?)?)
        };
        let ends = s_new.clone().subtract(path.clone().domain()?)?;
        let paths = !unseen
            && through_p.is_equal(&all)?
            && set.is_injective()?
            && stays(&begun, &set, &used)?
            && stays(&path, &used, &used)?
            && stays(&applied, &used, &read)?
            && begun.is_single_valued()?
            && path.is_single_valued()?
            && path.is_injective()?
            && begun.clone().range()?.is_equal(&s_new.clone().subtract(path.clone().range()?)?)?
            && applied.is_bijective()?
            && applied.clone().domain()?.is_equal(&ends)?
            && applied.clone().range()?.is_equal(&s_rest)?
            && read.is_injective()?;
        self.report(paths, || format!("the parts of {} are no paths", old.name));
        // { S'[...] -> R[...] : of the part that it applies }, and { S[...] -> R[...] }.
        let apply = used.clone().apply_range(read.clone().reverse()?)?;
        let back = isl::UnionMap::from_map(view.clone())?.intersect_domain(s_new.clone())?.reverse()?;
        let home = back.clone().apply_range(apply.clone())?;
        let keys = home.clone().is_single_valued()?
            && home.clone().domain()?.is_equal(&s_old)?
            && home.clone().apply_range(key_rest.clone())?.is_equal(&key_old)?;
        self.report(keys, || format!("a part of {} mixes chains", old.name));

        // 4
        let through_new = self.through(self.new_deps, &x)?;
        let chain = through_new.clone().intersect_domain(s_rest.clone())?.intersect_range(s_rest.clone())?;
        self.report(chain.is_equal(&self.later(rest, outer)?.lexmin()?)?, || {
            format!("{} does not apply its parts one after the other", rest.name)
        });
        let seen_new = through_new.clone().intersect_domain(s_rest.clone())?.subtract(chain.clone())?;
        let outside = |seen: &isl::UnionMap, own: &isl::UnionSet| -> Result<isl::UnionMap> {
            Ok(seen.clone().subtract(seen.clone().intersect_range(own.clone())?)?)
        };
        let after = outside(&seen_new, &s_new)?.apply_domain(key_rest.clone())?;
        let same = after.is_equal(&outside(&seen_old, &s_old)?.apply_domain(key_old.clone())?)?
            && seen_new.domain()?.is_disjoint(&chain.clone().domain()?)?;
        self.report(same, || format!("others see another value of {x}"));
        let read_old = tagged_x.clone().intersect_range(updated.clone())?.subtract(own_tagged)?;
        let read_old = read_old.range_factor_domain()?;
        let read_new = through_new.clone().intersect_range(s_rest.clone())?.subtract(chain)?;
        let same =
            read_new.apply_range(key_rest.clone())?.is_equal(&read_old.apply_range(key_old.clone())?)?;
        self.report(same, || format!("a chain of {} starts from another value", old.name));
        let mut firsts = Vec::new();
        for (deps, set, key) in [(self.old_deps, &s_old, &key_old), (self.new_deps, &s_rest, &key_rest)] {
            let mut unseen = isl::UnionMap::empty(&self.old.ctx)?;
            for m in deps.no_source.maps()? {
                if m.tuple_name(isl::DimType::Out)?.as_deref() == Some(&x) {
                    unseen = unseen.add_map(m)?;
                }
            }
            let unseen = unseen.intersect_domain(set.clone())?.intersect_params(self.known.clone())?;
            let unseen =
                if firsts.is_empty() { unseen.intersect(updated.clone().unwrap()?)? } else { unseen };
            firsts.push(unseen.apply_domain(key.clone())?);
        }
        self.report(firsts[0].is_equal(&firsts[1])?, || format!("a chain of {} starts elsewhere", old.name));
        let key_to_rest = key_old.clone().apply_range(key_rest.clone().reverse()?)?;
        self.stays_around(old.accesses[r.write].array, &s_old, &key_to_rest, &rest.name)?;

        // 5
        let operands = old
            .accesses
            .iter()
            .enumerate()
            .any(|(n, a)| n != r.read && n != r.write && a.array.0 == old.accesses[r.write].array.0);
        if operands {
            self.operands(&x, (&s_old, &key_old, &updated), (&s_new, &key_rest, &s_rest), view)?;
        }

        // 6
        if !commutative {
            let time = self.time.clone().intersect_domain(self.new.schedule.domain()?)?;
            let pairs = self.later(old, outer)?.apply_domain(back.clone())?.apply_range(back)?;
            let before = |of: &isl::UnionSet| -> Result<isl::UnionMap> {
                let time = time.clone().intersect_domain(of.clone())?;
                Ok(time.clone().lex_lt(time)?)
            };
            let together = used.clone().apply_range(used.reverse()?)?.intersect(before(&s_new)?)?;
            let apart = apply.clone().apply_range(before(&s_rest)?)?.apply_range(apply.reverse()?)?;
            let apart = apart.intersect_domain(s_new.clone())?.intersect_range(s_new)?;
            let moved = pairs.subtract(together)?.subtract(apart)?;
            self.report(moved.is_empty()?, || format!("{} does not commute and was reordered", old.name));
        }
        Ok(Some(outer))
    }

    /// Whether every order of others against the updates `s_old` of an array is kept against what is applied with the same outer iterators:
    /// `to_rest` is `{ S -> R }`.
    pub(super) fn stays_around(
        &mut self,
        array: ArrayId,
        s_old: &isl::UnionSet,
        to_rest: &isl::UnionMap,
        rest: &str,
    ) -> Result<()> {
        let time = self.time.clone().intersect_domain(self.new.schedule.domain()?)?;
        let accesses = self.old.accesses(|_, a| a.array == array)?;
        let around =
            accesses.clone().apply_range(accesses.reverse()?)?.intersect(self.old_deps.all(self.old)?)?;
        let outside = |pairs: isl::UnionMap, own: isl::UnionMap| -> Result<isl::UnionMap> {
            let mut pairs = pairs.subtract(own)?;
            // What has other iterators now looks at the cells of parts.
            for s in self.made.instances.keys() {
                let own =
                    isl::UnionSet::from_set(isl::Set::universe(self.old.statements[s.0].domain.space()?)?)?;
                let inside = pairs.clone().intersect_domain(own.clone())?.intersect_range(s_old.clone())?;
                let behind = pairs.clone().intersect_range(own)?.intersect_domain(s_old.clone())?;
                pairs = pairs.subtract(inside)?.subtract(behind)?;
            }
            Ok(pairs)
        };
        let leave = around.clone().intersect_domain(s_old.clone())?;
        let leave = outside(leave, around.clone().intersect_range(s_old.clone())?)?;
        let enter = around.clone().intersect_range(s_old.clone())?;
        let enter = outside(enter, around.intersect_domain(s_old.clone())?)?;
        let kept = leave.apply_domain(to_rest.clone())?.union(enter.apply_range(to_rest.clone())?)?;
        let all = kept.clone().domain()?.union(kept.clone().range()?)?;
        let stays = all.is_subset(&time.domain()?)? && self.forward(&kept)?;
        self.report(stays, || format!("another statement moved past {rest}"));
        Ok(())
    }

    /// Part 5: instances, keys of chains, and the updated cells of `S`; those of `S'`; those of `R`.
    fn operands(
        &mut self,
        x: &str,
        (s_old, key_old, updated): (&isl::UnionSet, &isl::UnionMap, &isl::UnionSet),
        (s_new, key_rest, s_rest): (&isl::UnionSet, &isl::UnionMap, &isl::UnionSet),
        view: &isl::Map,
    ) -> Result<()> {
        let view = isl::UnionMap::from_map(view.clone())?.intersect_domain(s_new.clone())?;
        // { writer -> [S -> cell] }, a chain for its writers.
        let named =
            |flow: isl::UnionMap, chain: &isl::UnionSet, key: &isl::UnionMap| -> Result<isl::UnionMap> {
                let others = flow.clone().domain()?.subtract(chain.clone())?.identity()?;
                Ok(flow.apply_domain(others.union(key.clone())?)?)
            };
        let (tagged_old, tagged_new) = (self.tagged(self.old_deps, x)?, self.tagged(self.new_deps, x)?);
        let cells = tagged_old.clone().range()?.union(tagged_new.clone().range()?)?.unwrap()?.range()?;
        let (none_old, none_new) = (self.unseen(self.old_deps, x)?, self.unseen(self.new_deps, x)?);
        let cells = cells.union(none_old.clone().range()?)?.union(none_new.clone().range()?)?.identity()?;
        let of = |flow: &isl::UnionMap, own: &isl::UnionSet| -> Result<isl::UnionMap> {
            let readers = flow.clone().range()?.unwrap()?.intersect_domain(own.clone())?;
            Ok(flow.clone().intersect_range(readers.wrap()?)?)
        };
        let old = of(&tagged_old, s_old)?;
        let old = old.clone().subtract(old.intersect_range(updated.clone())?)?;
        let new = of(&tagged_new, s_new)?.apply_range(view.clone().product(cells)?)?;
        let same = named(old, s_old, key_old)?.is_equal(&named(new, s_rest, key_rest)?)?;
        self.report(same, || format!("an operand sees another value of {x}"));
        let old = none_old.intersect_domain(s_old.clone())?.subtract(updated.clone().unwrap()?)?;
        let new = none_new.intersect_domain(s_new.clone())?.apply_domain(view)?;
        self.report(old.is_equal(&new)?, || format!("an operand finds {x} elsewhere"));
        Ok(())
    }

    /// `{ writer -> [reader -> cell] }` through one array.
    pub(super) fn tagged(&self, deps: &crate::Dependences, name: &str) -> Result<isl::UnionMap> {
        let mut flow = isl::UnionMap::empty(&self.old.ctx)?;
        for m in deps.tagged_flow.maps()? {
            if m.clone().range()?.unwrap()?.tuple_name(isl::DimType::Out)?.as_deref() == Some(name) {
                flow = flow.add_map(m)?;
            }
        }
        Ok(flow.intersect_params(self.known.clone())?)
    }

    /// `{ reader -> cell }` of one array that nothing wrote before.
    pub(super) fn unseen(&self, deps: &crate::Dependences, name: &str) -> Result<isl::UnionMap> {
        let mut reads = isl::UnionMap::empty(&self.old.ctx)?;
        for m in deps.no_source.maps()? {
            if m.tuple_name(isl::DimType::Out)?.as_deref() == Some(name) {
                reads = reads.add_map(m)?;
            }
        }
        Ok(reads.intersect_params(self.known.clone())?)
    }
}
