//! Parts 2 to 6, for one cell of an update: its chains in the original, its paths through the parts, and what
//! the rest of the program sees of it.

use super::Regrouped;
use crate::Result;
use crate::rewrite::check::Check;
use pollyrs_isl as isl;
use pollyrs_scop::{ArrayId, Cell, Statement};

/// One cell of a regrouped update: where its values pass.
struct OfCell<'a> {
    of: &'a Regrouped<'a>,
    /// Its number in the update.
    nth: usize,
    cell: Cell,
    /// `X` and `P`.
    array: ArrayId,
    x: String,
    p: String,
    /// The instances of each statement.
    s_old: isl::UnionSet,
    s_new: isl::UnionSet,
    s_start: isl::UnionSet,
    s_rest: isl::UnionSet,
    /// `{ [S -> X[...]] }`, the cell that an instance updates.
    updated: isl::UnionSet,
}

/// The chains of the original.
struct Chains {
    /// How many iterators tell them apart: `o`.
    outer: u32,
    /// `{ S[o, ...] -> [o] }` and `{ R[o, ...] -> [o] }`
    key_old: isl::UnionMap,
    key_rest: isl::UnionMap,
    /// `{ writer -> [reader -> X[...]] }`, and what of it is from update to update of a chain.
    tagged: isl::UnionMap,
    own: isl::UnionMap,
    /// `{ S -> reader }` of what others see of a chain.
    seen: isl::UnionMap,
}

/// The paths of the values through the parts.
struct Paths {
    /// `{ S'[...] -> [P[...] -> [o]] }`
    used: isl::UnionMap,
    /// `{ S'[...] -> R[...] }`, of the part that it applies.
    apply: isl::UnionMap,
    /// `{ S[...] -> S'[...] }`
    back: isl::UnionMap,
}

impl Check<'_> {
    /// Parts 2 to 6 for one cell, which is number `nth` of the update; the number of iterators that tell its
    /// chains apart.
    pub(super) fn chains(&mut self, of: &Regrouped, nth: usize, cell: Cell) -> Result<Option<u32>> {
        let array = of.old.accesses[cell.write].array;
        let (s_old, reads) = (self.all_of(of.old)?, of.old.accesses[cell.read].relation.clone());
        let c = OfCell {
            of,
            nth,
            cell,
            array,
            x: self.old.array(array).name.clone(),
            p: self.new.array(of.new.accesses[cell.write].array).name.clone(),
            updated: isl::UnionMap::from_map(reads)?.intersect_domain(s_old.clone())?.wrap()?,
            s_old,
            s_new: self.all_of(of.new)?,
            s_start: self.all_of(of.start)?,
            s_rest: self.all_of(of.rest)?,
        };
        let Some(chains) = self.original_chains(&c)? else {
            self.report(false, || format!("{} has no chains", of.old.name));
            return Ok(None);
        };
        let paths = self.parts_of(&c, &chains)?;
        self.applied(&c, &chains)?;
        self.firsts(&c, &chains)?;
        let key_to_rest = chains.key_old.clone().apply_range(chains.key_rest.clone().reverse()?)?;
        self.stays_around(c.array, &c.s_old, &key_to_rest, &of.rest.name)?;
        let is_operand = |n: usize| n != cell.read && n != cell.write;
        if of.old.accesses.iter().enumerate().any(|(n, a)| is_operand(n) && a.array == c.array) {
            self.operands(&c, &chains)?;
        }
        if !of.update.commutative {
            self.keeps_order(&c, &chains, paths)?;
        }
        Ok(Some(chains.outer))
    }

    /// Part 2; `None` if what passes from update to update is no chains.
    fn original_chains(&mut self, c: &OfCell) -> Result<Option<Chains>> {
        let (old, rest) = (c.of.old, c.of.rest);
        let tagged = self.tagged(self.old_deps, &c.x)?;
        let from = tagged.clone().intersect_domain(c.s_old.clone())?;
        let own = from.clone().intersect_range(c.updated.clone())?;
        let plain = own.clone().range_factor_domain()?;
        let mut outer = None;
        for o in (0..old.domain.dim(isl::DimType::Set)?).rev() {
            if outer.is_none() && plain.is_equal(&self.later(old, o)?.lexmin()?)? {
                outer = Some(o);
            }
        }
        let Some(outer) = outer else { return Ok(None) };
        let (key_old, key_rest) = (self.key(old, outer)?, self.key(rest, outer)?);
        let seen = from.subtract(own.clone())?.range_factor_domain()?;
        self.report(seen.clone().domain()?.is_disjoint(&plain.domain()?)?, || {
            format!("others see inside a chain of {}", old.name)
        });
        Ok(Some(Chains { outer, key_old, key_rest, tagged, own, seen }))
    }

    /// Part 3.
    fn parts_of(&mut self, c: &OfCell, chains: &Chains) -> Result<Paths> {
        let Regrouped { old, new, start, rest, view, .. } = *c.of;
        // { S'[...] -> [P[...] -> [o]] }: chains that run one after the other may share cells.
        let cell = |s: &Statement, n: usize| -> Result<isl::UnionMap> {
            let cell =
                isl::UnionMap::from_map(s.accesses[n].relation.clone())?.intersect_domain(self.all_of(s)?)?;
            Ok(cell.range_product(self.key(s, chains.outer)?)?)
        };
        let set = cell(start, c.nth)?;
        let used = cell(new, c.cell.write)?;
        let read = cell(rest, 3 * c.nth + 2)?;
        let are_paths = self.are_paths(c, &set, &used, &read)?;
        self.report(are_paths, || format!("the parts of {} are no paths", old.name));
        let apply = used.clone().apply_range(read.reverse()?)?;
        let back = isl::UnionMap::from_map(view.clone())?.intersect_domain(c.s_new.clone())?.reverse()?;
        // { S[...] -> R[...] }
        let home = back.clone().apply_range(apply.clone())?;
        let keys = home.clone().is_single_valued()?
            && home.clone().domain()?.is_equal(&c.s_old)?
            && home.apply_range(chains.key_rest.clone())?.is_equal(&chains.key_old)?;
        self.report(keys, || format!("a part of {} mixes chains", old.name));
        Ok(Paths { used, apply, back })
    }

    /// Whether the flow through `P` is one path for each part and `o`; the cells that are set, updated and
    /// applied are given.
    fn are_paths(
        &self,
        c: &OfCell,
        set: &isl::UnionMap,
        used: &isl::UnionMap,
        read: &isl::UnionMap,
    ) -> Result<bool> {
        let through = self.through(self.new_deps, &c.p)?;
        let part = |from: &isl::UnionSet, to: &isl::UnionSet| -> Result<isl::UnionMap> {
            Ok(through.clone().intersect_domain(from.clone())?.intersect_range(to.clone())?)
        };
        let begun = part(&c.s_start, &c.s_new)?;
        let path = part(&c.s_new, &c.s_new)?;
        let applied = part(&c.s_new, &c.s_rest)?;
        let all = begun.clone().union(path.clone())?.union(applied.clone())?;
        let stays = |flow: &isl::UnionMap, from: &isl::UnionMap, to: &isl::UnionMap| -> Result<bool> {
            Ok(flow.is_subset(&from.clone().apply_range(to.clone().reverse()?)?)?)
        };
        let ends = c.s_new.clone().subtract(path.clone().domain()?)?;
        Ok(self.unseen(self.new_deps, &c.p)?.is_empty()?
            && through.is_equal(&all)?
            && set.is_injective()?
            && stays(&begun, set, used)?
            && stays(&path, used, used)?
            && stays(&applied, used, read)?
            && begun.is_single_valued()?
            && path.is_single_valued()?
            && path.is_injective()?
            && begun.range()?.is_equal(&c.s_new.clone().subtract(path.range()?)?)?
            && applied.is_bijective()?
            && applied.clone().domain()?.is_equal(&ends)?
            && applied.range()?.is_equal(&c.s_rest)?
            && read.is_injective()?)
    }

    /// Part 4, of those that have the values from an update: parts are applied in order, and what others see
    /// is the same.
    fn applied(&mut self, c: &OfCell, chains: &Chains) -> Result<()> {
        let (rest, Chains { key_old, key_rest, .. }) = (c.of.rest, chains);
        let through = self.through(self.new_deps, &c.x)?;
        let (from, to) =
            (through.clone().intersect_domain(c.s_rest.clone())?, through.intersect_range(c.s_rest.clone())?);
        let chain = from.clone().intersect_range(c.s_rest.clone())?;
        self.report(chain.is_equal(&self.later(rest, chains.outer)?.lexmin()?)?, || {
            format!("{} does not apply its parts one after the other", rest.name)
        });
        let seen = from.subtract(chain.clone())?;
        let outside = |seen: &isl::UnionMap, own: &isl::UnionSet| -> Result<isl::UnionMap> {
            Ok(seen.clone().subtract(seen.clone().intersect_range(own.clone())?)?)
        };
        let after = outside(&seen, &c.s_new)?.apply_domain(key_rest.clone())?;
        let same = after.is_equal(&outside(&chains.seen, &c.s_old)?.apply_domain(key_old.clone())?)?
            && seen.domain()?.is_disjoint(&chain.clone().domain()?)?;
        self.report(same, || format!("others see another value of {}", c.x));
        let read_old = chains.tagged.clone().intersect_range(c.updated.clone())?;
        let read_old = read_old.subtract(chains.own.clone())?.range_factor_domain()?;
        let read_new = to.subtract(chain)?.apply_range(key_rest.clone())?;
        let same = read_new.is_equal(&read_old.apply_range(key_old.clone())?)?;
        self.report(same, || format!("a chain of {} starts from another value", c.of.old.name));
        Ok(())
    }

    /// Part 4, of the chains that start with what the memory held before: the same do.
    fn firsts(&mut self, c: &OfCell, chains: &Chains) -> Result<()> {
        let old = self.unseen(self.old_deps, &c.x)?.intersect_domain(c.s_old.clone())?;
        let old = old.intersect(c.updated.clone().unwrap()?)?.apply_domain(chains.key_old.clone())?;
        let new = self.unseen(self.new_deps, &c.x)?.intersect_domain(c.s_rest.clone())?;
        let new = new.apply_domain(chains.key_rest.clone())?;
        self.report(old.is_equal(&new)?, || format!("a chain of {} starts elsewhere", c.of.old.name));
        Ok(())
    }

    /// Part 5.
    fn operands(&mut self, c: &OfCell, chains: &Chains) -> Result<()> {
        let OfCell { x, s_old, s_new, s_rest, updated, .. } = c;
        let (key_old, key_rest) = (&chains.key_old, &chains.key_rest);
        let view = isl::UnionMap::from_map(c.of.view.clone())?.intersect_domain(s_new.clone())?;
        // { writer -> [S -> cell] }, a chain for its writers.
        let named =
            |flow: isl::UnionMap, chain: &isl::UnionSet, key: &isl::UnionMap| -> Result<isl::UnionMap> {
                let others = flow.clone().domain()?.subtract(chain.clone())?.identity()?;
                Ok(flow.apply_domain(others.union(key.clone())?)?)
            };
        let (tagged_old, tagged_new) = (&chains.tagged, self.tagged(self.new_deps, x)?);
        let cells = tagged_old.clone().range()?.union(tagged_new.clone().range()?)?.unwrap()?.range()?;
        let (none_old, none_new) = (self.unseen(self.old_deps, x)?, self.unseen(self.new_deps, x)?);
        let cells = cells.union(none_old.clone().range()?)?.union(none_new.clone().range()?)?.identity()?;
        let of = |flow: &isl::UnionMap, own: &isl::UnionSet| -> Result<isl::UnionMap> {
            let readers = flow.clone().range()?.unwrap()?.intersect_domain(own.clone())?;
            Ok(flow.clone().intersect_range(readers.wrap()?)?)
        };
        let old = of(tagged_old, s_old)?;
        let old = old.clone().subtract(old.intersect_range(updated.clone())?)?;
        let new = of(&tagged_new, s_new)?.apply_range(view.clone().product(cells)?)?;
        let same = named(old, s_old, key_old)?.is_equal(&named(new, s_rest, key_rest)?)?;
        self.report(same, || format!("an operand sees another value of {x}"));
        let old = none_old.intersect_domain(s_old.clone())?.subtract(updated.clone().unwrap()?)?;
        let new = none_new.intersect_domain(s_new.clone())?.apply_domain(view)?;
        self.report(old.is_equal(&new)?, || format!("an operand finds {x} elsewhere"));
        Ok(())
    }

    /// Part 6.
    fn keeps_order(&mut self, c: &OfCell, chains: &Chains, paths: Paths) -> Result<()> {
        let (old, Paths { used, apply, back }) = (c.of.old, paths);
        let time = self.time.clone().intersect_domain(self.new.schedule.domain()?)?;
        let pairs = self.later(old, chains.outer)?.apply_domain(back.clone())?.apply_range(back)?;
        let before = |of: &isl::UnionSet| -> Result<isl::UnionMap> {
            let time = time.clone().intersect_domain(of.clone())?;
            Ok(time.clone().lex_lt(time)?)
        };
        let together = used.clone().apply_range(used.reverse()?)?.intersect(before(&c.s_new)?)?;
        let apart = apply.clone().apply_range(before(&c.s_rest)?)?.apply_range(apply.reverse()?)?;
        let apart = apart.intersect_domain(c.s_new.clone())?.intersect_range(c.s_new.clone())?;
        let moved = pairs.subtract(together)?.subtract(apart)?;
        self.report(moved.is_empty()?, || format!("{} does not commute and was reordered", old.name));
        Ok(())
    }
}
