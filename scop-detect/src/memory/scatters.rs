//! Stores to elements that a list of integers gives: `y[list[i]] = …`, `a[idx[i]] += b[i]`,
//! `q[list[i] * m + j] = …`.
//!
//! **Problem.** Two iterations may store to one element. Where no two integers of the list are equal, none
//! do: the host looks ([`crate::memory::inspect`]), and the original loop runs where two are.
//!
//! **Approach.** Each access of such an array gets a *place*: the subscripts of the integer in its list, and
//! those of the array that do not depend on it. One subscript is the integer and something that is the same
//! for all accesses, so that the same element is the same integer, which by what was found has one subscript
//! in the list. Dependences are those of the places.
//!
//! **Invariants.** All accesses of the array have a place, by the same list and the same subscript. What the
//! device loads of the list is among what is looked at, and the SCoP does not write it.
//!
//! **Example.** `for (t) for (i) y[list[i]] += b[i];` has the places `{ S0[t, i] -> [i] }`, and is parallel
//! in `i`.

use crate::base::builder::{Builder, Found};
use crate::base::fail::Fail;
use crate::base::found::Draft;
use crate::base::ir::{self, Op, Value};
use crate::memory::subscripts::{Subscripts, instruction};
use isl::{DimType, Map, PwAff};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Array, ArrayId};

/// What the accesses of an array have in common.
struct Key {
    inspection: usize,
    /// The subscript with the integer, and what is added to it.
    at: usize,
    offset: PwAff,
}

impl Builder<'_> {
    /// Gives the accesses of arrays that are stored to under a subscript from a list their places. The result
    /// is a store of an array that has none.
    pub fn add_places(
        &mut self,
        drafts: &mut [Draft],
        arrays: &[Array],
        all: &[Subscripts],
    ) -> Result<Option<Value>, Fail> {
        for (id, array) in arrays.iter().enumerate() {
            let own: Vec<(usize, usize)> = accesses_of(drafts, ArrayId(id));
            let scattered = own.iter().find_map(|(d, a)| {
                let s = &drafts[*d].statement;
                let a = &s.accesses[*a];
                let store = instruction(a)?;
                let chosen = a.within.as_ref().is_some_and(|w| !w.values.is_empty());
                (a.kind != AccessKind::Read && chosen && s.update_of(a).is_none()).then_some(store)
            });
            let Some(store) = scattered else { continue };
            if self.add_appended(drafts, (ArrayId(id), array), &own, all)?.is_some() {
                continue;
            }
            let mut key = None;
            let mut places = Vec::new();
            for (d, a) in &own {
                let Some(place) = self.found.place_of_access(&drafts[*d], (*d, *a), array, all, &mut key)?
                else {
                    break;
                };
                places.push(place);
            }
            if places.len() < own.len() {
                if self.promised_places(drafts, (ArrayId(id), &array.name), &own)? {
                    continue;
                }
                return Ok(Some(store));
            }
            for ((d, a), place) in own.into_iter().zip(places) {
                drafts[d].statement.accesses[a].place = Some(place);
            }
            if let Some(key) = key {
                self.found.inspections[key.inspection].distinct = true;
            }
        }
        Ok(None)
    }
}

impl Found {
    /// The load of the integer that alone chooses the element of a store, if it is inspected.
    pub fn listed(&self, store: Value) -> Option<(Value, usize)> {
        let [subscript] = &self.data_subscripts.get(&store)?[..] else { return None };
        let mut v = subscript.value;
        while matches!(ir::opcode(v), Some(Op::LLVMSExt | Op::LLVMZExt)) {
            v = ir::operand(v, 0);
        }
        Some((v, self.inspections.iter().position(|i| i.looks_at(v))?))
    }

    /// `{ Stmt[i] -> place[...] }`, if the access has the common key.
    fn place_of_access(
        &self,
        draft: &Draft,
        (d, a): (usize, usize),
        array: &Array,
        all: &[Subscripts],
        key: &mut Option<Key>,
    ) -> Result<Option<Map>, Fail> {
        let s = &draft.statement;
        let Some(v) = instruction(&s.accesses[a]) else { return Ok(None) };
        let (Some(own), Some((load, inspection))) =
            (all.iter().find(|o| o.draft == d && o.instruction == v), self.listed(v))
        else {
            return Ok(None);
        };
        let dims = draft.loops.len();
        if own.place.loops.len() != dims || own.place.values.len() != 1 {
            return Ok(None);
        }
        let listed = s.accesses.iter().find(|a| instruction(a) == Some(load) && a.kind == AccessKind::Read);
        let Some(listed) = listed else { return Ok(None) };
        let list = match &listed.within {
            None => listed.relation.clone(),
            Some(w) if w.is_function() => w.relation.clone(),
            Some(_) => return Ok(None),
        };
        let mut place = list;
        let mut found = None;
        for (at, sub) in own.subs.iter().enumerate() {
            let whole = sub.clone().reset_tuple_id(DimType::In)?.gist(own.place.domain.clone())?;
            if !whole.involves_dims(DimType::In, dims as u32, 1)? {
                let other = Map::from_pw_aff(whole)?.project_out(DimType::In, dims as u32, 1)?;
                place = place.flat_range_product(other.set_tuple_name(DimType::In, &s.name)?)?;
                continue;
            }
            // The integer, and what is added to it.
            let space = whole.domain_space()?;
            let local = isl::LocalSpace::from_space(space)?;
            let integer = PwAff::from_aff(isl::Aff::var_on_domain(local, DimType::Set, dims as u32)?)?;
            let offset = whole.sub(integer)?.coalesce()?;
            if found.is_some() || offset.involves_dims(DimType::In, 0, dims as u32 + 1)? {
                return Ok(None);
            }
            found = Some((at, offset.project_domain_on_params()?));
        }
        let Some((at, offset)) = found else { return Ok(None) };
        match key {
            None => *key = Some(Key { inspection, at, offset }),
            Some(k) if k.inspection == inspection && k.at == at && k.offset.is_equal(&offset)? => {}
            Some(_) => return Ok(None),
        }
        let name = format!("{}_place", array.name);
        Ok(Some(place.set_tuple_name(DimType::In, &s.name)?.set_tuple_name(DimType::Out, &name)?.coalesce()?))
    }
}

/// Draft and number of each access of an array.
fn accesses_of(drafts: &[Draft], array: ArrayId) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (d, draft) in drafts.iter().enumerate() {
        let own = draft.statement.accesses.iter().enumerate().filter(|(_, a)| a.array == array);
        found.extend(own.map(|(a, _)| (d, a)));
    }
    found
}
