//! Integers that are rounded from numbers: the `(int)(x[i] * s)` of `t[(int)(x[i] * s)]`.
//!
//! **Problem.** Such a subscript may be anything, as far as integers go. But it is made of numbers with
//! operations that are monotone, rounding included: from the ends of what it is made of (counters, arguments,
//! numbers that are loaded) the host computes its ends, in the same arithmetic, and these are parameters like
//! those of an inspection ([`crate::memory::inspect`]).
//!
//! **Which operations.** Sums, differences, products (of a fused operation, too: their ends are moved by more
//! than what rounding takes), quotients, roots, absolute values, minima and maxima, floors, choices of two.
//! Branches before the rounding bound what they compare (`if (x >= 0 && x < n) … t[(int)x]`), and so do
//! choices that are all that uses it. Operations that the program's flags let compilers regroup or
//! approximate are not looked into: nobody knows their bits.
//!
//! **Invariants.** Numbers are as they are before the SCoP: no load of them comes behind a store to the same
//! place ([`Given::check_numbers`], by the proof that calls in place have). A NaN that nothing excludes, or
//! a number beyond the integer's type, leaves the original loop, which may do what it likes.

use crate::base::builder::{Builder, Found, Given};
use crate::base::fail::Fail;
use crate::base::flow::Flow;
use crate::base::found::{Draft, FoundTerm, Rounded, WIDE_BOUND};
use crate::base::ir::{self, Op, RealPred, Value};
use crate::base::place::Place;
use crate::memory::choices::is_bounded;
use crate::memory::raw::base_of;
use isl::{PwAff, Set};
use pollyrs_isl as isl;
use pollyrs_scop::*;
use std::collections::BTreeMap;

/// Roundings of one region, and terms of one: more are hardly worth the host's time.
const MAX_ROUNDINGS: usize = 6;
const MAX_TERMS: usize = 64;
/// Values of counters are looked into this deep.
const DEPTH: u32 = 6;
/// isl operations for the proof that what is loaded was not stored before.
const OPERATIONS: u64 = 500_000;

/// LLVM's flags that let a compiler change the bits of a result: regrouping, reciprocals, approximations.
const ANY_BITS: u32 = 1 | 1 << 4 | 1 << 6;
/// The flag that lets it fuse a product with a sum.
const CONTRACT: u32 = 1 << 5;

/// A rounding whose loads have their arrays.
pub(crate) struct RoundedFrom {
    pub rounding: Rounded,
    pub terms: Vec<Term>,
}

/// The terms of one rounding while they are found.
#[derive(Default)]
struct Terms {
    all: Vec<FoundTerm>,
    /// Whether nothing bounds a term from below, from above.
    open: Vec<(bool, bool)>,
    known: BTreeMap<Value, usize>,
    /// Numbers that the host looks at: once, whatever is known of them.
    loads: BTreeMap<Value, usize>,
}

impl Terms {
    fn push(&mut self, single: bool, kind: TermKind, load: Option<Value>) -> usize {
        let open = match &kind {
            TermKind::Any => (load.is_none(), load.is_none()),
            TermKind::Known(_) | TermKind::Count { .. } | TermKind::Memory { .. } => (false, false),
            TermKind::Made(op, of) => {
                let all: Vec<(bool, bool)> = of.iter().map(|x| self.open[*x]).collect();
                let any = all.iter().any(|o| o.0 || o.1);
                match op {
                    NumberOp::Max => (all.iter().all(|o| o.0), all.iter().any(|o| o.1)),
                    NumberOp::Min => (all.iter().any(|o| o.0), all.iter().all(|o| o.1)),
                    NumberOp::Floor
                    | NumberOp::Ceil
                    | NumberOp::Truncate
                    | NumberOp::Nearest { .. }
                    | NumberOp::Convert => all[0],
                    _ => (any, any),
                }
            }
            TermKind::AtMost { of, bound, .. } => (self.open[*of].0, self.open[*of].1 && self.open[*bound].1),
            TermKind::AtLeast { of, bound, .. } => {
                (self.open[*of].0 && self.open[*bound].0, self.open[*of].1)
            }
        };
        self.all.push(FoundTerm { single, kind, load });
        self.open.push(open);
        self.all.len() - 1
    }
}

/// How a value rounds a number.
pub(crate) struct Rounds {
    of: Value,
    signed: bool,
    saturates: bool,
    /// What is done before.
    by: Option<NumberOp>,
}

/// How an instruction rounds, if it gives an integer.
pub(crate) fn rounds(v: Value) -> Option<Rounds> {
    let plain = |signed| Rounds { of: ir::operand(v, 0), signed, saturates: false, by: None };
    match ir::opcode(v)? {
        Op::LLVMFPToSI => Some(plain(true)),
        Op::LLVMFPToUI => Some(plain(false)),
        Op::LLVMCall => {
            let name = ir::name(ir::callee(v).filter(|f| ir::is_declaration(*f))?);
            let of = *ir::call_args(v).first()?;
            let nearest =
                |even| Rounds { of, signed: true, saturates: false, by: Some(NumberOp::Nearest { even }) };
            match name.strip_prefix("llvm.").map_or(name.as_str(), |n| n.split('.').next().unwrap_or(n)) {
                "fptosi" => Some(Rounds { of, signed: true, saturates: true, by: None }),
                "fptoui" => Some(Rounds { of, signed: false, saturates: true, by: None }),
                "lround" | "llround" | "lroundf" | "llroundf" => Some(nearest(false)),
                "lrint" | "llrint" | "lrintf" | "llrintf" => Some(nearest(true)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The operation that a call is.
fn function(call: Value) -> Option<NumberOp> {
    let callee = ir::callee(call).filter(|f| ir::is_declaration(*f))?;
    let name = ir::name(callee);
    let base = match name.strip_prefix("llvm.") {
        Some(intrinsic) => intrinsic.split('.').next()?,
        None if ir::call_args(call).iter().all(|a| is_single(*a) == Some(true)) => name.strip_suffix('f')?,
        None => name.as_str(),
    };
    Some(match base {
        "floor" => NumberOp::Floor,
        "ceil" => NumberOp::Ceil,
        "trunc" => NumberOp::Truncate,
        "round" => NumberOp::Nearest { even: false },
        "roundeven" | "rint" | "nearbyint" => NumberOp::Nearest { even: true },
        "fabs" => NumberOp::Abs,
        "sqrt" => NumberOp::Sqrt,
        "minnum" | "fmin" => NumberOp::Min,
        "maxnum" | "fmax" => NumberOp::Max,
        _ => return None,
    })
}

/// Whether a value is a `float`; `None` if it is no `double` either.
fn is_single(v: Value) -> Option<bool> {
    match ir::elem_type(ir::type_of(v))? {
        ElemType::F32 => Some(true),
        ElemType::F64 => Some(false),
        _ => None,
    }
}

impl Builder<'_> {
    /// What an integer that is rounded from a number may be at `place`: `[params] -> { [i..., v] }`. `None`
    /// if it is no such integer, or nothing bounds it.
    pub fn rounded_values(&mut self, flow: &Flow, v: Value, place: &Place) -> Result<Option<Set>, Fail> {
        let Some(bits) = ir::int_bits(v).filter(|bits| matches!(bits, 8 | 16 | 32 | 64)) else {
            return Ok(None);
        };
        self.rounded_within(flow, v, bits, place)
    }

    /// The same of what is no signed number, read as it is: `(unsigned short)x` may be 65535.
    pub fn rounded_naturals(&mut self, flow: &Flow, v: Value, place: &Place) -> Result<Option<Set>, Fail> {
        match ir::int_bits(v) {
            Some(bits @ (8 | 16)) if rounds(v).is_some_and(|how| !how.signed) => {
                self.rounded_within(flow, v, bits + 1, place)
            }
            _ => Ok(None),
        }
    }

    fn rounded_within(
        &mut self,
        flow: &Flow,
        v: Value,
        bits: u32,
        place: &Place,
    ) -> Result<Option<Set>, Fail> {
        let n = match self.found.roundings.iter().position(|r| r.value == v && r.bits == bits) {
            Some(n) => n,
            None => match self.rounding(flow, v, bits)? {
                Some(n) => n,
                None => return Ok(None),
            },
        };
        let ends = (self.found.roundings[n].low.clone(), self.found.roundings[n].high.clone());
        self.between_ends(v, place, ends)
    }

    /// A rounding to a number of `bits` bits with a sign.
    fn rounding(&mut self, flow: &Flow, v: Value, bits: u32) -> Result<Option<usize>, Fail> {
        let Some(how) = rounds(v) else { return Ok(None) };
        let Some(single) = is_single(how.of).filter(|_| self.mode.inspecting && self.given.defined_inside(v))
        else {
            return Ok(None);
        };
        if self.found.roundings.len() >= MAX_ROUNDINGS {
            return Ok(None);
        }
        let mut terms = Terms::default();
        let facts = self.given.facts_before(v);
        let mut last = self.number(flow, how.of, &facts, &mut terms)?;
        if let Some(op) = how.by {
            last = terms.push(single, TermKind::Made(op, vec![last]), None);
        }
        if terms.all.len() >= MAX_TERMS || terms.open[last] != (false, false) {
            return Ok(None);
        }
        terms.all.truncate(last + 1);
        let display = self.name_of(v);
        let display = if display.starts_with("the result of") { "a rounded number".into() } else { display };
        let (low, high) = self.new_ends((v, false), bits.next_power_of_two(), &display)?;
        if !how.signed {
            self.within(self.params.len() - 2, 0, i128::from(WIDE_BOUND))
                .map_err(|s| s.fail(v, |_| RejectReason::ControlFlow))?;
        }
        self.found.roundings.push(Rounded {
            value: v,
            terms: terms.all,
            bits,
            signed: how.signed,
            saturates: how.saturates,
            low,
            high,
            behind: self.found.inspections.len(),
            display,
        });
        Ok(Some(self.found.roundings.len() - 1))
    }

    /// The term of a number, within what is known where it is rounded.
    fn number(&mut self, flow: &Flow, v: Value, facts: &[Fact], terms: &mut Terms) -> Result<usize, Fail> {
        if let Some(known) = terms.known.get(&v) {
            return Ok(*known);
        }
        let Some(single) = is_single(v).filter(|_| terms.all.len() < MAX_TERMS) else {
            return Ok(terms.push(false, TermKind::Any, None));
        };
        let mut at = self.number_itself(flow, v, single, facts, terms)?;
        for fact in facts.iter().filter(|f| f.of == v) {
            // A bound is what is known without other conditions, lest they bound each other.
            let bound = self.number(flow, fact.bound, &[], terms)?;
            at = terms.push(single, fact.term(at, bound), None);
        }
        terms.known.insert(v, at);
        Ok(at)
    }

    fn number_itself(
        &mut self,
        flow: &Flow,
        v: Value,
        single: bool,
        facts: &[Fact],
        terms: &mut Terms,
    ) -> Result<usize, Fail> {
        if !self.given.defined_inside(v) {
            let kind = if ir::is_undefined(v) { TermKind::Any } else { TermKind::Known(ir::handle(v)) };
            return Ok(terms.push(single, kind, None));
        }
        let op = ir::opcode(v).unwrap_or(Op::LLVMUnreachable);
        match op {
            Op::LLVMSIToFP | Op::LLVMUIToFP => {
                let kind = self.count(flow, v, op == Op::LLVMSIToFP)?.unwrap_or(TermKind::Any);
                return Ok(terms.push(single, kind, None));
            }
            Op::LLVMLoad => {
                if let Some(at) = terms.loads.get(&v) {
                    return Ok(*at);
                }
                let load = self.loads_number(flow, v)?.then_some(v);
                let at = terms.push(single, TermKind::Any, load);
                terms.loads.insert(v, at);
                return Ok(at);
            }
            Op::LLVMSelect => {
                let both = self.choice(flow, v, facts, terms)?;
                return Ok(terms.push(single, TermKind::Made(NumberOp::Choice, both), None));
            }
            _ => {}
        }
        let flags = ir::flags(v);
        let fused = flags & CONTRACT != 0;
        let fma = op == Op::LLVMCall && ir::callee(v).is_some_and(|f| is_fused(&ir::name(f)));
        let made = match op {
            _ if flags & ANY_BITS != 0 => None,
            Op::LLVMFAdd => Some(NumberOp::Add),
            Op::LLVMFSub => Some(NumberOp::Sub),
            Op::LLVMFMul => Some(NumberOp::Mul { fused }),
            Op::LLVMFDiv => Some(NumberOp::Div),
            Op::LLVMFNeg => Some(NumberOp::Neg),
            Op::LLVMFPExt | Op::LLVMFPTrunc => Some(NumberOp::Convert),
            // A sum, of the third one with the product of the others.
            Op::LLVMCall if fma => Some(NumberOp::Add),
            Op::LLVMCall => function(v),
            _ => None,
        };
        let Some(made) = made else { return Ok(terms.push(single, TermKind::Any, None)) };
        let mut numbers = Vec::new();
        for x in if op == Op::LLVMCall { ir::call_args(v) } else { ir::operands(v) } {
            numbers.push(self.number(flow, x, facts, terms)?);
        }
        if let [a, b, c] = numbers[..] {
            let product = TermKind::Made(NumberOp::Mul { fused: true }, vec![a, b]);
            numbers = vec![terms.push(single, product, None), c];
        }
        Ok(terms.push(single, TermKind::Made(made, numbers), None))
    }

    /// The two numbers of which one is chosen, each within what the condition says of it.
    fn choice(
        &mut self,
        flow: &Flow,
        v: Value,
        facts: &[Fact],
        terms: &mut Terms,
    ) -> Result<Vec<usize>, Fail> {
        let mut both = Vec::new();
        for (arm, holds) in [(1, true), (2, false)] {
            // What the condition says holds of all that the arm is made of, there.
            let mut own = facts.to_vec();
            facts_of(ir::operand(v, 0), holds, &mut own, DEPTH);
            let outside = std::mem::take(&mut terms.known);
            let at = self.number(flow, ir::operand(v, arm), &own, terms);
            terms.known = outside;
            both.push(at?);
        }
        Ok(both)
    }

    /// An integer as a number.
    fn count(&mut self, flow: &Flow, v: Value, signed: bool) -> Result<Option<TermKind>, Fail> {
        let x = ir::operand(v, 0);
        let (Some(bits), Some(place)) = (ir::int_bits(x).filter(|b| *b <= 64), flow.place_of(v)) else {
            return Ok(None);
        };
        let scev = self.given.an.scev(x, ir::parent(v).and_then(|b| self.given.an.innermost_loop(b)));
        let mut values = self.values(flow, &scev, &place, DEPTH)?;
        if !signed && !self.not_negative(&values, &place)? {
            if bits > 16 {
                return Ok(None);
            }
            values = self.given.between(&place, 0, (1 << bits) - 1)?;
        }
        if !is_bounded(&values)? {
            return Ok(None);
        }
        let ends = values.coalesce()?.shadow(place.dims() as u32)?;
        let ends = match ends.n_basic_set()? {
            0 | 1 => ends,
            _ => {
                let hull = Set::from_basic_set(ends.clone().simple_hull()?)?;
                if is_bounded(&hull)? { hull } else { ends }
            }
        };
        let tidy = |f: PwAff| f.gist_params(self.context.clone())?.coalesce();
        Ok(Some(TermKind::Count { low: tidy(ends.clone().dim_min(0)?)?, high: tidy(ends.dim_max(0)?)? }))
    }

    /// Whether the host can look at all numbers that a load may load.
    fn loads_number(&mut self, flow: &Flow, load: Value) -> Result<bool, Fail> {
        let (Ok(base), Some(place)) = (base_of(self, load), flow.place_of(load)) else {
            return Ok(false);
        };
        if !ir::is_simple_access(load) {
            return Ok(false);
        }
        let inspecting = std::mem::replace(&mut self.mode.inspecting, false);
        let fine = self.trial(|me| me.data_dependent_access(flow, load, base, place));
        self.mode.inspecting = inspecting;
        Ok(fine?.works())
    }
}

impl Given<'_> {
    /// What branches before an instruction say of numbers.
    fn facts_before(&self, v: Value) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (condition, holds) in self.branches_before(v) {
            facts_of(condition, holds, &mut facts, DEPTH);
        }
        // What is only chosen under a condition matters there only: `x < 0 ? 0 : (int)x`.
        let mut chosen = v;
        while let [(choice, _)] = ir::uses(chosen)[..] {
            match ir::opcode(choice) {
                Some(Op::LLVMSExt | Op::LLVMZExt) => {
                    chosen = choice;
                    continue;
                }
                Some(Op::LLVMSelect) if ir::operand(choice, 0) != chosen => {}
                _ => break,
            }
            let [yes, no] = [1, 2].map(|arm| ir::operand(choice, arm) == chosen);
            if yes != no {
                facts_of(ir::operand(choice, 0), yes, &mut facts, DEPTH);
            }
            chosen = choice;
        }
        facts
    }

    /// That no number a rounding is made of is loaded behind a store to its place.
    pub fn check_numbers(
        &self,
        rounded: &[RoundedFrom],
        arrays: &[Array],
        statements: &[Statement],
        order: (&isl::Schedule, &Set),
    ) -> Result<(), Fail> {
        let written = |id: ArrayId| {
            statements.iter().flat_map(|s| &s.accesses).any(|a| a.array == id && a.kind != AccessKind::Read)
        };
        for r in rounded {
            for (found, t) in r.rounding.terms.iter().zip(&r.terms) {
                let (Some(load), TermKind::Memory { array, .. }) = (found.load, &t.kind) else { continue };
                if !written(*array) {
                    continue;
                }
                let name = &arrays[array.0].name;
                let unseen =
                    || self.stores_are_unseen((*array, *array), Some(&[load]), name, statements, order);
                if !self.ctx.with_budget(OPERATIONS, unseen).unwrap_or(false) {
                    return Err(not_inspected(&r.rounding, load));
                }
            }
        }
        Ok(())
    }
}

impl Found {
    /// What the roundings that anything depends on load. Asked when [`Builder::looked_at`] is.
    pub fn rounded_from(&self, drafts: &[Draft], arrays: &[Array]) -> Result<Vec<RoundedFrom>, Fail> {
        let accesses =
            || drafts.iter().flat_map(|d| d.statement.accesses.iter().map(move |a| (&d.statement.domain, a)));
        let mut all = Vec::new();
        for r in &self.roundings {
            let mut terms = Vec::new();
            for t in &r.terms {
                let mut kind = t.kind.clone();
                if let Some(load) = t.load {
                    let mut found: Option<(ArrayId, Set)> = None;
                    let own =
                        |a: &Access| matches!(a.value, AccessValue::Instruction(v) if v == ir::handle(load));
                    for (domain, a) in accesses().filter(|(_, a)| own(a)) {
                        let elements = a.relation.clone().intersect_domain(domain.clone())?.range()?;
                        found = Some(match found {
                            None => (a.array, elements),
                            Some((array, _)) if array != a.array => return Err(not_inspected(r, load)),
                            Some((array, before)) => (array, before.union(elements)?.coalesce()?),
                        });
                    }
                    let Some((array, elements)) = found else { return Err(not_inspected(r, load)) };
                    for (_, a) in accesses().filter(|(_, a)| a.kind != AccessKind::Read && a.array != array) {
                        if arrays[a.array.0].same_place(&arrays[array.0])? {
                            return Err(not_inspected(r, load));
                        }
                    }
                    kind = TermKind::Memory { array, elements };
                }
                terms.push(Term { single: t.single, kind });
            }
            all.push(RoundedFrom { rounding: r.clone(), terms });
        }
        Ok(all)
    }
}

fn is_fused(name: &str) -> bool {
    name.starts_with("llvm.fmuladd.") || name.starts_with("llvm.fma.") || matches!(name, "fma" | "fmaf")
}

fn not_inspected(r: &Rounded, load: Value) -> Fail {
    let blocker = format!("{}, whose numbers the loop itself changes", r.display);
    Fail::at(RejectReason::Subscript { array: "an array".into(), blocker }, load)
}

/// `of` is at most, or at least, `bound`.
#[derive(Clone)]
struct Fact {
    of: Value,
    bound: Value,
    most: bool,
    /// Neither is a NaN.
    ordered: bool,
}

impl Fact {
    fn term(&self, of: usize, bound: usize) -> TermKind {
        let ordered = self.ordered;
        if self.most {
            TermKind::AtMost { of, bound, ordered }
        } else {
            TermKind::AtLeast { of, bound, ordered }
        }
    }
}

/// What a condition says of numbers where it holds, or where it doesn't.
fn facts_of(condition: Value, holds: bool, found: &mut Vec<Fact>, depth: u32) {
    let operand = |i| ir::operand(condition, i);
    // (As an integer of one bit, true is -1.)
    let truth = |i| ir::constant_int(operand(i)).map(|c| c != 0);
    match ir::opcode(condition) {
        _ if depth == 0 => {}
        Some(Op::LLVMAnd) if holds => (0..2).for_each(|i| facts_of(operand(i), true, found, depth - 1)),
        Some(Op::LLVMOr) if !holds => (0..2).for_each(|i| facts_of(operand(i), false, found, depth - 1)),
        Some(Op::LLVMSelect) if holds && truth(2) == Some(false) => {
            (0..2).for_each(|i| facts_of(operand(i), true, found, depth - 1));
        }
        Some(Op::LLVMSelect) if !holds && truth(1) == Some(true) => {
            [0, 2].into_iter().for_each(|i| facts_of(operand(i), false, found, depth - 1));
        }
        Some(Op::LLVMXor) if truth(1) == Some(true) => facts_of(operand(0), !holds, found, depth - 1),
        Some(Op::LLVMFCmp) => {
            let (a, b) = (operand(0), operand(1));
            // What holds of `a` and `b`: at most, at least; whether neither is a NaN.
            let (most, least, ordered) = match (ir::fcmp_predicate(condition), holds) {
                (RealPred::LLVMRealOLT | RealPred::LLVMRealOLE, true) => (true, false, true),
                (RealPred::LLVMRealOGT | RealPred::LLVMRealOGE, true) => (false, true, true),
                (RealPred::LLVMRealOEQ, true) => (true, true, true),
                (RealPred::LLVMRealULT | RealPred::LLVMRealULE, true) => (true, false, false),
                (RealPred::LLVMRealUGT | RealPred::LLVMRealUGE, true) => (false, true, false),
                (RealPred::LLVMRealUGT | RealPred::LLVMRealUGE, false) => (true, false, true),
                (RealPred::LLVMRealULT | RealPred::LLVMRealULE, false) => (false, true, true),
                (RealPred::LLVMRealUNE, false) => (true, true, true),
                (RealPred::LLVMRealOGT | RealPred::LLVMRealOGE, false) => (true, false, false),
                (RealPred::LLVMRealOLT | RealPred::LLVMRealOLE, false) => (false, true, false),
                _ => return,
            };
            for (of, bound, most, least) in [(a, b, most, least), (b, a, least, most)] {
                if most {
                    found.push(Fact { of, bound, most: true, ordered });
                }
                if least {
                    found.push(Fact { of, bound, most: false, ordered });
                }
            }
        }
        _ => {}
    }
}
