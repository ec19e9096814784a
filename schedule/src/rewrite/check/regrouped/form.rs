//! Part 1: the form of a statement that was regrouped, of the one that sets its parts and of the one that
//! applies them.

use super::Regrouped;
use crate::Result;
use crate::rewrite::check::Check;
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, ArrayId, ArrayKind, Cell, Reduction, Scop, Statement, StmtId,
};

/// `S` and `S'`, with their updates, the cells of these, and the array of partial results of each.
struct Form<'c, 'a> {
    check: &'c Check<'a>,
    old: &'a Statement,
    new: &'a Statement,
    update: &'a Reduction,
    cells: Vec<Cell>,
    parts: Vec<ArrayId>,
}

impl<'a> Check<'a> {
    /// The statements that belong together; `None` if they are not of the form.
    pub(super) fn form(&self, id: StmtId, view: &'a isl::Map) -> Result<Option<Regrouped<'a>>> {
        let (before, after): (&'a Scop, &'a Scop) = (self.old, self.new);
        let (Some(old), Some(new)) = (before.statements.get(id.0), after.statements.get(id.0)) else {
            return Ok(None);
        };
        let Some(update) = &old.reduction else { return Ok(None) };
        let form = Form { check: self, old, new, update, cells: update.cells(), parts: self.partial() };
        if !form.has_own_parts() || !form.is_same_statement(view)? {
            return Ok(None);
        }
        let (mut start, mut rest) = (None, None);
        for (n, s) in after.statements.iter().enumerate() {
            if n == id.0 || !s.accesses.iter().any(|a| form.parts.contains(&a.array)) {
                continue;
            }
            let added = n >= before.statements.len();
            if added && start.is_none() && s.body.is_empty() && form.is_start(s)? {
                start = Some(s);
            } else if added && rest.is_none() && (start.is_some() || !s.body.is_empty()) && form.is_rest(s)? {
                rest = Some(s);
            } else {
                return Ok(None);
            }
        }
        let (Some(start), Some(rest)) = (start, rest) else { return Ok(None) };
        Ok(Some(Regrouped { old, new, start, rest, update, view }))
    }
}

impl Form<'_, '_> {
    fn target(&self, c: &Cell) -> ArrayId {
        self.old.accesses[c.write].array
    }

    /// Whether each cell of the update has an array of its own, for partial results and for the rest. (What
    /// two cells take as one value is the same in both of their parts.)
    fn has_own_parts(&self) -> bool {
        let (cells, parts) = (&self.cells, &self.parts);
        let alone = |m: usize, n: usize| {
            parts[m] != parts[n]
                && self.target(&cells[m]) != self.target(&cells[n])
                && (cells[m].value != cells[n].value || cells[m].identity == cells[n].identity)
        };
        parts.len() == cells.len() && (0..parts.len()).all(|n| (0..n).all(|m| alone(m, n)))
    }

    /// Whether `S'` is `S`, instance for instance, but for the cells that it updates.
    fn is_same_statement(&self, view: &isl::Map) -> Result<bool> {
        let (old, new, check) = (self.old, self.new, self.check);
        let Some(updated) = &new.reduction else { return Ok(false) };
        let view = view.clone().intersect_domain(new.domain.clone())?;
        let mut ok = old.name == new.name
            && old.body == new.body
            && old.accesses.len() == new.accesses.len()
            && old.synthesized.len() == new.synthesized.len()
            && updated.regrouped
            && (!self.update.numbers || updated.numbers && check.reports_numbers())
            && (self.cells == updated.cells() && self.update.update == updated.update)
            && view.is_bijective()?
            && view.clone().domain()?.is_equal(&new.domain)?
            && view.clone().range()?.is_equal(&old.domain)?;
        for (c, p) in self.cells.iter().zip(&self.parts) {
            ok &= matches!(check.new.array(*p).kind, ArrayKind::Scalar { live_out: false, .. })
                && check.new.array(*p).elem == check.old.array(self.target(c)).elem;
        }
        for (n, (x, y)) in old.accesses.iter().zip(&new.accesses).enumerate() {
            ok &= x.kind == y.kind && x.value == y.value && self.is_same_access(n, (x, y), &view)?;
        }
        for (x, y) in old.synthesized.iter().zip(&new.synthesized) {
            let got = isl::Map::from_pw_aff(y.function.clone())?.intersect_domain(new.domain.clone())?;
            let wanted = view.clone().apply_range(isl::Map::from_pw_aff(x.function.clone())?)?;
            ok &= x.value == y.value && got.is_equal(&wanted)?;
        }
        Ok(ok)
    }

    /// Whether the access number `n` is of the same element in both, or of a cell's part in place of the
    /// cell.
    fn is_same_access(&self, n: usize, (x, y): (&Access, &Access), view: &isl::Map) -> Result<bool> {
        let (old, new) = (self.old, self.new);
        if let Some(at) = self.cells.iter().position(|c| n == c.read || n == c.write) {
            return Ok(y.array == self.parts[at] && alike(y, &new.accesses[self.update.write])?);
        }
        let relation = y.relation.clone().intersect_domain(new.domain.clone())?;
        let wanted = view.clone().apply_range(x.relation.clone())?;
        if y.array != x.array || !relation.is_equal(&wanted)? {
            return Ok(false);
        }
        let Some(c) = self.cells.iter().find(|c| self.target(c) == x.array) else { return Ok(true) };
        // Another cell, always: the updated one would hold no partial result any more.
        let same = x.relation.clone().intersect(old.accesses[c.read].relation.clone())?;
        let same = same.intersect_domain(old.domain.clone())?.intersect_params(self.check.known.clone())?;
        Ok(x.kind == AccessKind::Read && x.within.is_none() && same.is_empty()?)
    }

    /// Whether the statement, which has no body, stores the identity to the part of each cell, and nothing
    /// else.
    fn is_start(&self, s: &Statement) -> Result<bool> {
        let mut sets = s.accesses.len() == self.cells.len();
        for ((w, c), p) in s.accesses.iter().zip(&self.cells).zip(&self.parts) {
            let identity = AccessValue::ScalarWrite(c.identity);
            sets &= (w.kind, w.value, w.array) == (AccessKind::MustWrite, identity, *p)
                && alike(w, &s.accesses[0])?;
        }
        Ok(sets)
    }

    /// Whether the statement updates each original cell by its part, and does nothing else.
    fn is_rest(&self, s: &Statement) -> Result<bool> {
        let (old, update) = (self.old, self.update);
        let kept =
            |q: &Reduction| q.regrouped && q.commutative == update.commutative && q.numbers == update.numbers;
        let mut applies = s.body == update.update
            && s.synthesized.is_empty()
            && s.accesses.len() == 3 * self.cells.len()
            && s.reduction.as_ref().is_none_or(kept);
        for ((of_cell, c), p) in s.accesses.chunks(3).zip(&self.cells).zip(&self.parts) {
            let [a, b, part] = of_cell else { return Ok(false) };
            let (x, y) = (&old.accesses[c.read], &old.accesses[c.write]);
            applies &= (a.kind, a.value, a.array) == (x.kind, x.value, x.array)
                && (b.kind, b.value, b.array) == (y.kind, y.value, y.array)
                && (part.kind, part.value, part.array)
                    == (AccessKind::Read, AccessValue::ScalarRead(c.value), *p)
                && alike(part, &s.accesses[2])?;
        }
        Ok(applies)
    }
}

/// Whether both accesses are of the same cell, each in an array of partial results of its own.
fn alike(a: &Access, b: &Access) -> Result<bool> {
    let plain = |a: &Access| a.relation.clone().reset_tuple_id(isl::DimType::Out);
    Ok(plain(a)?.is_equal(&plain(b)?)?)
}
