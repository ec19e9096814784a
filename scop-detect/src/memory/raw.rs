//! Accesses as the program makes them: a base pointer, which must not change in the region, and the offset in
//! bytes, a polynomial in loop counters and parameters.

use crate::affine::ranges::extension;
use crate::base::blame::type_reason;
use crate::base::builder::Builder;
use crate::base::fail::{Fail, Stop};
use crate::base::ir::{self, Value};
use crate::base::naming::power_of;
use crate::base::place::Place;
use isl::{DimType, Map, PwAff, Set};
use pollyrs_delinearize::Polynomial;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{ScevExpr, ScevKind};
use pollyrs_scop::RejectReason;

/// What is in the way of a part of a nest alone.
pub(crate) const OUTER_POINTER: &str = "a pointer that moves with an outer loop";

/// One access, ready for delinearisation.
#[derive(Clone)]
pub(crate) struct Raw {
    pub inst: Value,
    pub place: Place,
    pub offset: Polynomial,
    pub quasi: Vec<PwAff>,
}

fn pointer_base(e: &ScevExpr) -> Option<Value> {
    match &e.kind {
        ScevKind::Unknown(v) => Some(*v),
        ScevKind::Add(ops) => {
            let mut pointers = ops.iter().filter(|o| o.is_pointer);
            match (pointers.next(), pointers.next()) {
                (Some(p), None) => pointer_base(p),
                _ => None,
            }
        }
        ScevKind::AddRec { operands, .. } => pointer_base(operands.first()?),
        _ => None,
    }
}

/// The base pointer of a load or store.
pub(crate) fn base_of(b: &Builder<'_>, inst: Value) -> Result<Value, Fail> {
    let address = ir::address(inst).unwrap_or(inst);
    let array = || b.name_of(root(address));
    let scope = ir::parent(inst).and_then(|p| b.given.an.innermost_loop(p));
    let e = b.given.an.scev(address, scope);
    if ir::address_space(address) != 0 {
        // Relative to a segment, or memory that no pointer of the run-time library reaches.
        return Err(Fail::at(type_reason(ir::type_of(address), inst), inst));
    }
    let Some(base) = pointer_base(&e) else {
        let blocker = match ir::opcode(address) {
            Some(ir::Op::LLVMSelect | ir::Op::LLVMPHI) => "a choice between pointers".to_string(),
            _ => b.describe(&e),
        };
        return Err(Fail::at(RejectReason::Subscript { array: array(), blocker }, inst));
    };
    if b.given.defined_inside(base) {
        return Err(Fail::at(RejectReason::BaseChanges { array: b.name_of(base) }, inst));
    }
    if ir::is_null_or_undef(base) {
        return Err(Fail::at(RejectReason::Instruction { opcode: "access through null".into() }, inst));
    }
    Ok(base)
}

/// The pointer that a chain of address computations starts from.
fn root(mut v: Value) -> Value {
    while ir::opcode(v) == Some(ir::Op::LLVMGetElementPtr) {
        v = ir::operand(v, 0);
    }
    v
}

impl Raw {
    /// The outermost loop that dimension `d` of the offset changes with: the loop itself, or those of a
    /// choice between its iterations.
    pub fn outermost_loop(&self, d: usize) -> Option<usize> {
        let loops = self.place.loops.len();
        if d < loops {
            return Some(d);
        }
        let chosen = self.quasi.get(d.checked_sub(self.place.dims())?)?;
        (0..loops).find(|l| chosen.involves_dims(DimType::In, *l as u32, 1).unwrap_or(true))
    }
}

impl Builder<'_> {
    /// The offset of a load or store from its base, for the iterations of `place`.
    pub fn raw_access(&mut self, inst: Value, base: Value, place: Place) -> Result<Raw, Fail> {
        let scope = ir::parent(inst).and_then(|p| self.given.an.innermost_loop(p));
        let e = self.given.an.scev(ir::address(inst).unwrap_or(inst), scope);
        let mut quasi = Vec::new();
        let array = self.name_of(base);
        let offset = self
            .offset(&e, &place, &mut quasi)
            .map_err(|s| s.fail(inst, |blocker| RejectReason::Subscript { array, blocker }))?;
        Ok(Raw { inst, place, offset, quasi })
    }

    /// The polynomial of a pointer without its base.
    fn offset(&mut self, e: &ScevExpr, place: &Place, quasi: &mut Vec<PwAff>) -> Result<Polynomial, Stop> {
        match &e.kind {
            ScevKind::Unknown(_) if e.is_pointer => Ok(Polynomial::zero()),
            ScevKind::Add(ops) if e.is_pointer => {
                let spans = self.polynomial_of_spans(ops)?;
                let taken = if spans.is_none() { self.polynomial_taken(e)? } else { spans };
                let (mut p, rest) = taken.unwrap_or_else(|| (Polynomial::zero(), ops.clone()));
                for o in &rest {
                    let part = if o.is_pointer {
                        self.offset(o, place, quasi)?
                    } else {
                        self.polynomial(o, place, quasi)?
                    };
                    p = &p + &part;
                }
                Ok(p)
            }
            ScevKind::AddRec { loop_id, operands } if e.is_pointer => {
                let [start, step] = &operands[..] else {
                    let counter = self.counter_name(*loop_id);
                    let moves = || "a pointer that moves at no constant rate".into();
                    return Err(Stop::Blocker(counter.map_or_else(moves, |c| power_of(&c))));
                };
                let i = if let Some(d) = place.loops.iter().position(|l| l == loop_id) {
                    Polynomial::iter(d)
                } else if self.given.is_invariant(e)
                    && let Some((p, offset)) = self.outer_iteration(*loop_id)
                {
                    &Polynomial::param(p) - &Polynomial::constant(i128::from(offset))
                } else {
                    return Err(Stop::Blocker(OUTER_POINTER.into()));
                };
                let start = self.offset(start, place, quasi)?;
                Ok(&start + &(&self.factor(step, place, quasi)? * &i))
            }
            _ => self.polynomial(e, place, quasi),
        }
    }

    /// The iterations with a dimension for each function among the offset's symbols.
    pub fn extended_domain(&self, r: &Raw) -> isl::Result<Set> {
        Ok(match extension(&r.place, &r.quasi)? {
            None => r.place.domain.clone(),
            Some(m) => r.place.domain.clone().apply(Map::from_pw_multi_aff(m)?)?,
        })
    }
}
