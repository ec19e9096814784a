//! Reads of values from before the SCoP, taken from a copy.
//!
//! If no write of the SCoP reaches the reads of an access, they see what the array held when the SCoP began.
//! They may then read a second array with the same contents at the beginning and no writes: on the device
//! that is one more array copied in from the same memory. The anti dependences from these reads go away.
//!
//! An access that reads just the element which its own statement writes is left alone: the statement's own
//! order keeps it.

use super::parts::{fresh, push, renamed};
use crate::{Dependences, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AccessValue, Array, ArrayId, Scop, Statement};

/// The SCoP with copies; `None` if no read gains by one.
pub fn initial(scop: &Scop, deps: &Dependences) -> Result<Option<Scop>> {
    let known = known(scop)?;
    let mut new = scop.clone();
    let mut any = false;
    for id in (0..scop.arrays.len()).map(ArrayId) {
        if !scop.array(id).is_memory() {
            continue;
        }
        let mut found = Vec::new();
        for (s, statement) in scop.statements.iter().enumerate() {
            for (a, access) in statement.accesses.iter().enumerate() {
                if access.array == id
                    && access.kind == AccessKind::Read
                    && access.within.is_none()
                    && matches!(access.value, AccessValue::Instruction(_))
                    && gains(scop, deps, &known, statement, access)?
                {
                    found.push((s, a));
                }
            }
        }
        if found.is_empty() {
            continue;
        }
        let array = scop.array(id);
        let name = fresh(&new, &format!("{}_before", array.name));
        let display = format!("{} before", array.display);
        let copy = push(&mut new, Array { name: name.clone(), display, ..array.clone() });
        for (s, a) in found {
            let access = &mut new.statements[s].accesses[a];
            access.relation = renamed(&access.relation, None, &name)?;
            access.array = copy;
        }
        // What must not overlap the array must not overlap the copy's source.
        for (a, b) in &scop.alias_checks {
            match (*a == id, *b == id) {
                (true, false) => new.alias_checks.push((*b, copy)),
                (false, true) => new.alias_checks.push((*a, copy)),
                _ => {}
            }
        }
        any = true;
    }
    Ok(any.then_some(new))
}

/// Whether the access `w` comes before `a` in the statement's body.
fn earlier(s: &Statement, w: &Access, a: &Access) -> bool {
    let at = |x: &Access| match x.value {
        AccessValue::Instruction(v) => s.body.iter().position(|b| *b == v),
        _ => None,
    };
    matches!((at(w), at(a)), (Some(w), Some(a)) if w < a)
}

/// Whether the access sees no write of the SCoP although others overwrite later what it read.
fn gains(scop: &Scop, deps: &Dependences, known: &isl::Set, s: &Statement, a: &Access) -> Result<bool> {
    let own = s.accesses.iter().filter(|w| w.array == a.array && w.kind != AccessKind::Read);
    for w in own {
        if w.relation.is_equal(&a.relation)? {
            return Ok(false);
        }
        // What the instance itself has written is no dependence, and not from before.
        let same = w.relation.clone().intersect(a.relation.clone())?.intersect_domain(s.domain.clone())?;
        if earlier(s, w, a) && !same.intersect_params(known.clone())?.is_empty()? {
            return Ok(false);
        }
    }
    let reads = a.relation.clone().intersect_domain(s.domain.clone())?.intersect_params(known.clone())?;
    let reads = isl::UnionMap::from_map(reads)?;
    let writes = scop.accesses(|_, w| w.array == a.array && w.kind != AccessKind::Read)?;
    let later = reads.clone().apply_range(writes.reverse()?)?.intersect(deps.anti.clone())?;
    if later.is_empty()? {
        return Ok(false);
    }
    let seen = deps.tagged_flow.clone().range()?.intersect(reads.wrap()?)?;
    Ok(seen.intersect_params(known.clone())?.is_empty()?)
}
