//! Integer values as sums of others.
//!
//! Where a tile's place is in the subscripts of an access and in the beginning of its window as well, the
//! difference of both has no such term. The optimizer does not always see it: a sum may have become a
//! disjunction of bits. So the emitter of expressions remembers what the sums that it made consist of, and
//! differences are made of that.
//!
//! # Invariant
//! All arithmetic is modulo 2^64, as that of the emitted code is: a sum has the same value as the
//! instructions it stands for.
//!
//! # Example
//! `i = 24 b + r + 3` and `lower = 24 b - 1`: `i - lower` is `r + 4`.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Values times numbers, in the order in which they came, plus a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    terms: Vec<(Value, i64)>,
    number: i64,
}

impl Sum {
    pub fn number(number: i64) -> Sum {
        Sum { terms: Vec::new(), number }
    }

    /// The number, if there are no terms.
    pub fn constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.number)
    }

    /// The remainder of a division by a power of two, where that is a number: the plane of `A[t % 2][i]` in a
    /// step of a tile of even height.
    pub fn remainder(&self, divisor: i64) -> Option<i64> {
        let known = divisor & (divisor - 1) == 0 && self.terms.iter().all(|(_, n)| n % divisor == 0);
        known.then_some(self.number & (divisor - 1))
    }

    /// A number with as many zeros at its end, in binary, as each value of the sum surely has, if the value
    /// of each term is a multiple of the power of two that `of` says.
    pub fn multiple(&self, of: &dyn Fn(Value) -> u64) -> u64 {
        let terms = self.terms.iter().map(|(v, n)| of(*v).wrapping_mul(*n as u64));
        terms.fold(self.number as u64, |all, n| all | n)
    }

    /// The terms, where there are some and all stand once, and the number.
    pub fn terms_apart(&self) -> Option<(Vec<Value>, i64)> {
        let once = !self.terms.is_empty() && self.terms.iter().all(|(_, n)| *n == 1);
        once.then(|| (self.terms.iter().map(|(v, _)| *v).collect(), self.number))
    }

    /// `self + factor * other`
    pub fn plus(mut self, other: &Sum, factor: i64) -> Sum {
        self.number = self.number.wrapping_add(other.number.wrapping_mul(factor));
        for (v, n) in &other.terms {
            let n = n.wrapping_mul(factor);
            match self.terms.iter_mut().find(|(o, _)| o == v) {
                Some((_, m)) => *m = m.wrapping_add(n),
                None => self.terms.push((*v, n)),
            }
        }
        self.terms.retain(|(_, n)| *n != 0);
        self
    }

    /// The smallest and the largest value, if each term's value is from 0 to less than what `most` says.
    pub fn range(&self, most: &dyn Fn(Value) -> Option<i64>) -> Option<(i64, i64)> {
        let (mut first, mut last) = (self.number, self.number);
        for (v, n) in &self.terms {
            let reach = n.checked_mul(most(*v)?.checked_sub(1)?)?;
            let end = if reach < 0 { &mut first } else { &mut last };
            *end = end.checked_add(reach)?;
        }
        Some((first, last))
    }

    /// The terms of a kind, and the rest.
    pub fn divided(&self, kind: impl Fn(Value) -> bool) -> (Sum, Sum) {
        let (own, rest): (Vec<_>, Vec<_>) = self.terms.iter().partition(|(v, _)| kind(*v));
        (Sum { terms: own, number: 0 }, Sum { terms: rest, number: self.number })
    }

    /// The terms added up, and the number.
    pub fn emit(&self, ir: &Ir) -> (Value, i64) {
        let mut sum = ir.int(0);
        for (v, n) in &self.terms {
            sum = ir.add(sum, ir.mul(*v, ir.int(*n)));
        }
        (sum, self.number)
    }
}

/// What is known of the values of one function; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Sums(Rc<RefCell<BTreeMap<usize, Sum>>>);

impl Sums {
    pub fn of(&self, v: Value) -> Sum {
        if let Some(n) = v.constant_int() {
            return Sum::number(n);
        }
        let known = self.0.borrow().get(&v.address()).cloned();
        known.unwrap_or_else(|| Sum { terms: vec![(v, 1)], number: 0 })
    }

    /// Remembers that `v` is `a + factor * b`.
    pub fn remember(&self, v: Value, a: &Sum, b: &Sum, factor: i64) {
        if v.constant_int().is_none() {
            self.0.borrow_mut().insert(v.address(), a.clone().plus(b, factor));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_cancel() {
        // SAFETY: nobody looks at what it stands for.
        let term = |n: usize| unsafe { Value::new(n as *mut _) };
        let value = |n: usize| Sum { terms: vec![(term(n), 1)], number: 0 };
        let (b, r) = (value(8), value(16));
        // 24 b + r + 3 less 24 b - 1.
        let i = Sum::number(3).plus(&b, 24).plus(&r, 1);
        let lower = Sum::number(-1).plus(&b, 24);
        assert_eq!(i.clone().plus(&lower, -1), Sum::number(4).plus(&r, 1));
        assert_eq!(i.clone().plus(&i, -1), Sum::number(0));
        // In the order in which they came, modulo 2^64.
        assert_eq!(i.plus(&b, 1 << 40).terms, [(term(8), 24 + (1 << 40)), (term(16), 1)]);
        assert_eq!(Sum::number(i64::MAX).plus(&Sum::number(1), 1), Sum::number(i64::MIN));
        assert_eq!(Sum::number(-3).plus(&b, 12).remainder(4), Some(1));
        assert_eq!(Sum::number(5).plus(&b, 12).plus(&r, 2).remainder(4), None);
        assert_eq!(Sum::number(5).plus(&b, 12).remainder(3), None);
        let of = |v: Value| if v.address() == 8 { 16 } else { 1 };
        for (sum, zeros) in [
            (Sum::number(0).plus(&b, 1), 4),
            (Sum::number(8).plus(&b, 1), 3),
            (Sum::number(-1).plus(&b, 3), 0),
            (Sum::number(-4).plus(&b, -3), 2),
            (Sum::number(0).plus(&b, 1).plus(&r, 4), 2),
            (Sum::number(0).plus(&r, 1), 0),
            (Sum::number(0), 64),
        ] {
            assert_eq!(sum.multiple(&of).trailing_zeros(), zeros, "{sum:?}");
        }
        let most = |v: Value| (v.address() == 8).then_some(32);
        assert_eq!(Sum::number(7).plus(&b, -4).range(&most), Some((7 - 4 * 31, 7)));
        assert_eq!(Sum::number(7).plus(&b, 4).range(&most), Some((7, 7 + 4 * 31)));
        assert_eq!(Sum::number(7).plus(&r, 4).range(&most), None);
        assert_eq!(Sum::number(7).plus(&b, 1 << 60).range(&most), None);
        assert_eq!(Sum::default().plus(&b, 1 << 62).plus(&b, 3 << 62), Sum::number(0));
    }
}
