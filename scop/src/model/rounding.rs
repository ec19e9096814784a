//! Integers that numbers are rounded to, and how far they may reach.

use super::{ArrayId, Scop, ValueHandle};
use pollyrs_isl as isl;

/// Integers that the SCoP rounds numbers to, for subscripts. The host computes between which two integers
/// they are, in the arithmetic of the program: it rounds to the nearest number, and such operations are
/// monotone. The ends of what is loaded are found by an inspection.
///
/// **Example.** Of `y[i] = t[(int)(x[i] * s)]` the terms are `x[i]` (between the least and the largest of
/// `{ x[a] : 0 <= a < n }`), `s`, and their product.
#[derive(Clone, Debug)]
pub struct Rounding {
    /// Each is made of earlier ones; the last one is what is rounded.
    pub terms: Vec<Term>,
    /// The width of the integer, with a sign: 17 of an `unsigned short`.
    pub bits: u32,
    pub signed: bool,
    /// Numbers beyond the integer's type are its ends, and a NaN is 0; otherwise they are the program's
    /// error.
    pub saturates: bool,
    /// Parameters, by index: the least and the largest.
    pub low: usize,
    pub high: usize,
    /// How many of the SCoP's inspections are made before it; its terms depend on no parameter of a later
    /// one, nor of a later rounding.
    pub behind: usize,
    /// What the source calls it.
    pub display: String,
}

/// A number of a [`Rounding`].
#[derive(Clone, Debug)]
pub struct Term {
    /// `float` or `double`.
    pub single: bool,
    pub kind: TermKind,
}

#[derive(Clone, Debug)]
pub enum TermKind {
    /// Of which nothing is known.
    Any,
    /// That is known before the region.
    Known(ValueHandle),
    /// An integer between two functions of the parameters, as a number.
    Count {
        low: isl::PwAff,
        high: isl::PwAff,
    },
    /// One of the elements, as they are before the SCoP: `[params] -> { array[a] }`.
    Memory {
        array: ArrayId,
        elements: isl::Set,
    },
    /// The result of an operation on earlier terms.
    Made(NumberOp, Vec<usize>),
    /// An earlier term that a condition bounds by another one; `ordered`: it holds of no NaN.
    AtMost {
        of: usize,
        bound: usize,
        ordered: bool,
    },
    AtLeast {
        of: usize,
        bound: usize,
        ordered: bool,
    },
}

/// Operations of a [`Rounding`]'s terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOp {
    Add,
    Sub,
    /// `fused`: the product may be that of a fused operation, which does not round it.
    Mul {
        fused: bool,
    },
    Div,
    Neg,
    Abs,
    Sqrt,
    /// To the other type.
    Convert,
    Floor,
    Ceil,
    Truncate,
    /// To the nearest integer; `even`: a half to an even one, else away from 0.
    Nearest {
        even: bool,
    },
    /// Of a number and a NaN the number.
    Min,
    Max,
    /// One of two.
    Choice,
}

impl Scop {
    /// Whether the host has to look at the program's data, or to compute with numbers, before it knows all
    /// parameters.
    pub fn is_inspected(&self) -> bool {
        !self.inspections.is_empty() || !self.roundings.is_empty()
    }

    /// A term for the printer.
    pub(crate) fn number(&self, r: &Rounding, at: usize) -> String {
        let of = |n: &usize| self.number(r, *n);
        match r.terms.get(at).map(|t| &t.kind) {
            None | Some(TermKind::Any) => "?".into(),
            Some(TermKind::Known(_)) => "known".into(),
            Some(TermKind::Count { low, high }) => format!("({low} to {high})"),
            Some(TermKind::Memory { elements, .. }) => elements.to_string(),
            Some(TermKind::Made(op, all)) => {
                format!("{op:?}({})", all.iter().map(of).collect::<Vec<_>>().join(", "))
            }
            Some(TermKind::AtMost { of: x, bound, .. }) => format!("{} if at most {}", of(x), of(bound)),
            Some(TermKind::AtLeast { of: x, bound, .. }) => format!("{} if at least {}", of(x), of(bound)),
        }
    }
}
