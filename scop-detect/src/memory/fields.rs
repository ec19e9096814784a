//! Members of structures.
//!
//! **Problem.** `struct { double x, v; int kind; } *p` is accessed in elements of two widths, which no one
//! array has. Accesses of each width are an array by themselves, with one base; a launch needs them to be
//! disjoint where one is written, and their ranges are not: they interleave.
//!
//! **Approach.** Bytes of two accesses never meet where their offsets, modulo what divides all steps of both,
//! do not: bytes 0 to 8 and 16 to 20 of every 24. (Types tell nothing: a store may make memory one of another
//! type.)
//!
//! **Invariants.** A residue holds for every execution of an instruction in the region, since polynomials are
//! exact under the SCoP's assumptions, and whole numbers whatever their symbols are. Of arrays that
//! interleave each brings back what it wrote and nothing else, as any array does.
//!
//! **Example.** `p[i].v += p[i].kind` stores at `24 i + 8` and reads at `24 i + 16`: the arrays `p[*][3]` of
//! doubles and `p_2[*][6]` of integers.

use crate::base::builder::{Builder, Found};
use crate::base::ir::{self, Op, Value};
use crate::memory::raw::Raw;
use pollyrs_delinearize::{Residue, Symbol};
use pollyrs_isl as isl;
use std::collections::BTreeMap;

/// Accesses by the bytes of their elements.
pub(crate) type Widths = BTreeMap<u32, Vec<usize>>;

impl Builder<'_> {
    /// Whether no store goes to what is accessed with another width.
    pub fn widths_are_apart(&self, base: Value, raws: &[Raw], widths: &Widths) -> bool {
        let stores = |v: Value| ir::opcode(v) == Some(Op::LLVMStore);
        let apart = |x: Value, y: Value| {
            !(stores(x) || stores(y))
                || self.found.in_other_bytes(x, y)
                || !self.given.an.may_alias_accesses((base, Some(x)), (base, Some(y)))
        };
        let groups: Vec<&Vec<usize>> = widths.values().collect();
        groups.iter().enumerate().all(|(n, group)| {
            let others = || groups[n + 1..].iter().flat_map(|other| other.iter());
            group.iter().all(|a| others().all(|b| apart(raws[*a].inst, raws[*b].inst)))
        })
    }
}

impl Found {
    /// Remembers where accesses from `base` lie.
    pub fn note_residues(&mut self, base: Value, raws: &[Raw]) {
        for raw in raws {
            let bytes = ir::elem_type(ir::accessed_type(raw.inst)).map(|t| t.bytes());
            let own = bytes.and_then(|bytes| Residue::new(&raw.offset, bytes, |s| constants(raw, s)));
            let joined = match self.residues.get(&raw.inst) {
                Some((_, before)) => before.and_then(|before| before.join(own?)),
                None => own,
            };
            self.residues.insert(raw.inst, (base, joined));
        }
    }

    /// Whether two instructions access different bytes of each period.
    pub fn in_other_bytes(&self, x: Value, y: Value) -> bool {
        match (self.residues.get(&x), self.residues.get(&y)) {
            (Some((p, Some(x))), Some((q, Some(y)))) => p == q && x.is_apart_from(*y),
            _ => false,
        }
    }
}

/// The accesses by width; those of no type the model has are 0 bytes wide.
pub(crate) fn by_width(raws: &[Raw]) -> Widths {
    let mut widths = Widths::new();
    for (k, r) in raws.iter().enumerate() {
        let bytes = ir::elem_type(ir::accessed_type(r.inst)).map_or(0, |t| t.bytes());
        widths.entry(bytes).or_default().push(k);
    }
    widths
}

/// The least and the largest value of a counter, where both are constants.
fn constants(raw: &Raw, symbol: Symbol) -> Option<(i128, i128)> {
    let Symbol::Iter(d) = symbol else { return None };
    if d >= raw.place.loops.len() {
        return None;
    }
    let value = |v: isl::Result<isl::Val>| v.ok()?.to_i64().map(i128::from);
    let domain = || raw.place.domain.clone();
    Some((value(domain().dim_min_val(d as i32))?, value(domain().dim_max_val(d as i32))?))
}
