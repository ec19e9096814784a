//! Polynomials with integer coefficients in loop counters and parameters.
//!
//! Invariants: no stored coefficient is zero and no stored exponent is zero, so equality is structural;
//! iteration order is the order of [`Monomial`], so everything derived from a polynomial is deterministic. A
//! coefficient that leaves `i128` *poisons* the polynomial and all that is computed from it;
//! [`Polynomial::is_poisoned`] must be asked before a result is believed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

/// An indeterminate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// A dimension of the access's statement domain, outermost first.
    Iter(usize),
    /// An index into the list of parameter names.
    Param(usize),
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Iter(d) => write!(f, "i{d}"),
            Symbol::Param(p) => write!(f, "p{p}"),
        }
    }
}

/// A product of powers of symbols; empty for the constant 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monomial(BTreeMap<Symbol, u32>);

impl Monomial {
    /// The constant 1.
    pub fn one() -> Self {
        Self::default()
    }

    /// The product of these symbols, with repetition.
    pub fn product(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let mut m = Self::default();
        for s in symbols {
            *m.0.entry(s).or_insert(0) += 1;
        }
        m
    }

    /// Sum of the exponents.
    pub fn degree(&self) -> u32 {
        self.0.values().sum()
    }

    /// Exponent of `s`; 0 where it does not occur.
    pub fn exponent(&self, s: Symbol) -> u32 {
        self.0.get(&s).copied().unwrap_or(0)
    }

    /// The symbols with their exponents, in order.
    pub fn factors(&self) -> impl Iterator<Item = (Symbol, u32)> + '_ {
        self.0.iter().map(|(s, e)| (*s, *e))
    }

    pub fn mul(&self, other: &Monomial) -> Monomial {
        let mut m = self.clone();
        for (s, e) in other.factors() {
            *m.0.entry(s).or_insert(0) += e;
        }
        m
    }

    /// The quotient, where `other` divides this.
    pub fn div(&self, other: &Monomial) -> Option<Monomial> {
        let mut m = self.clone();
        for (s, e) in other.factors() {
            let mine = m.0.get_mut(&s)?;
            *mine = mine.checked_sub(e)?;
            if *mine == 0 {
                m.0.remove(&s);
            }
        }
        Some(m)
    }
}

impl Monomial {
    /// The text, with names for the symbols.
    pub fn display_with(&self, name: impl Fn(Symbol) -> String) -> String {
        let power = |(s, e)| if e == 1 { name(s) } else { format!("{}^{e}", name(s)) };
        if self.0.is_empty() {
            "1".to_string()
        } else {
            self.factors().map(power).collect::<Vec<_>>().join("*")
        }
    }
}

impl fmt::Display for Monomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(|s| s.to_string()))
    }
}

/// A sum of monomials with integer coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Polynomial {
    terms: BTreeMap<Monomial, i128>,
    poisoned: bool,
}

impl Polynomial {
    pub fn zero() -> Self {
        Self::default()
    }

    pub fn constant(c: i128) -> Self {
        Self::term(Monomial::one(), c)
    }

    pub fn symbol(s: Symbol) -> Self {
        Self::term(Monomial::product([s]), 1)
    }

    /// The counter of loop `dim` of the statement's domain.
    pub fn iter(dim: usize) -> Self {
        Self::symbol(Symbol::Iter(dim))
    }

    /// The parameter with this index.
    pub fn param(index: usize) -> Self {
        Self::symbol(Symbol::Param(index))
    }

    pub fn term(m: Monomial, c: i128) -> Self {
        let mut p = Self::default();
        p.accumulate(m, Some(c));
        p
    }

    fn poison() -> Self {
        Polynomial { terms: BTreeMap::new(), poisoned: true }
    }

    fn accumulate(&mut self, m: Monomial, c: Option<i128>) {
        use std::collections::btree_map::Entry;
        let Some(c) = c else {
            self.poisoned = true;
            return;
        };
        match self.terms.entry(m) {
            Entry::Occupied(mut e) => match e.get().checked_add(c) {
                Some(0) => {
                    e.remove();
                }
                Some(v) => *e.get_mut() = v,
                None => self.poisoned = true,
            },
            Entry::Vacant(e) => {
                if c != 0 {
                    e.insert(c);
                }
            }
        }
    }

    /// Whether a coefficient left `i128` on the way here.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty() && !self.poisoned
    }

    /// The terms, in the order of their monomials.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, i128)> + '_ {
        self.terms.iter().map(|(m, c)| (m, *c))
    }

    /// Coefficient of `m`.
    pub fn coefficient(&self, m: &Monomial) -> i128 {
        self.terms.get(m).copied().unwrap_or(0)
    }

    pub fn constant_term(&self) -> i128 {
        self.coefficient(&Monomial::one())
    }

    /// The value, where no symbol occurs.
    pub fn as_constant(&self) -> Option<i128> {
        (!self.poisoned && self.degree() == 0).then(|| self.constant_term())
    }

    /// Largest degree of a monomial; 0 for constants.
    pub fn degree(&self) -> u32 {
        self.terms.keys().map(Monomial::degree).max().unwrap_or(0)
    }

    /// Whether isl can express it: no product of symbols.
    pub fn is_affine(&self) -> bool {
        !self.poisoned && self.degree() <= 1
    }

    pub fn symbols(&self) -> BTreeSet<Symbol> {
        self.terms.keys().flat_map(|m| m.factors().map(|(s, _)| s)).collect()
    }

    /// Whether a loop counter occurs.
    pub fn involves_iters(&self) -> bool {
        self.symbols().iter().any(|s| matches!(s, Symbol::Iter(_)))
    }

    pub fn scale(&self, c: i128) -> Polynomial {
        self * &Polynomial::constant(c)
    }

    /// Greatest common divisor of the coefficients, not negative; 0 for the zero polynomial.
    pub fn content(&self) -> i128 {
        self.terms.values().fold(0, |g, c| gcd(g, *c))
    }

    /// This divided by the number `c`, where every coefficient is a multiple of it.
    pub fn div_exact_constant(&self, c: i128) -> Option<Polynomial> {
        if c == 0 || self.poisoned {
            return None;
        }
        let mut p = Polynomial::zero();
        for (m, v) in self.terms() {
            if v.checked_rem(c)? != 0 {
                return None;
            }
            p.accumulate(m.clone(), v.checked_div(c));
        }
        Some(p)
    }

    /// Coefficients of the powers of `x`: `self = sum of result[k] * x^k`, no result involving `x`.
    pub fn powers_of(&self, x: Symbol) -> BTreeMap<u32, Polynomial> {
        let mut powers: BTreeMap<u32, Polynomial> = BTreeMap::new();
        for (m, c) in self.terms() {
            let mut rest = m.clone();
            let k = rest.0.remove(&x).unwrap_or(0);
            powers.entry(k).or_default().accumulate(rest, Some(c));
        }
        powers
    }

    /// `(q, r)` with `self = q * divisor + r`, dividing as polynomials in `x`, in which the divisor must have
    /// degree 1 with a number `b` as the coefficient: `divisor = b*x + c`. A term of the dividend whose
    /// coefficient is no multiple of `b` leaves its remainder (of the smaller absolute value, ties to the
    /// dividend's sign) in `r`; for `b = 1` no `x` is left.
    pub fn div_rem_in(&self, divisor: &Polynomial, x: Symbol) -> Option<(Polynomial, Polynomial)> {
        let parts = divisor.powers_of(x);
        if self.poisoned || divisor.poisoned || parts.keys().any(|k| *k > 1) {
            return None;
        }
        let b = parts.get(&1)?.as_constant()?;
        let x_power = |k: u32| Monomial(BTreeMap::from([(x, k)]));
        let (mut q, mut r, mut rest) = (Polynomial::zero(), Polynomial::zero(), self.clone());
        // Every round takes the highest power of x away from `rest` and adds lower ones only, so it ends.
        while let Some(k) = rest.terms.keys().map(|m| m.exponent(x)).max() {
            let lead: Vec<(Monomial, i128)> =
                rest.terms().filter(|(m, _)| m.exponent(x) == k).map(|(m, c)| (m.clone(), c)).collect();
            for (m, c) in lead {
                let whole = Polynomial::term(m.clone(), c);
                rest = &rest - &whole;
                let quotient = if k == 0 { 0 } else { nearest_quotient(c, b)? };
                if quotient != 0 {
                    let step = Polynomial::term(m.div(&x_power(1))?, quotient);
                    let leftover = Polynomial::term(m, c.checked_sub(quotient.checked_mul(b)?)?);
                    let tail = divisor - &Polynomial::term(x_power(1), b);
                    rest = &rest - &(&step * &tail);
                    q = &q + &step;
                    r = &r + &leftover;
                } else {
                    r = &r + &whole;
                }
                if rest.poisoned || q.poisoned || r.poisoned {
                    return None;
                }
            }
        }
        Some((q, r))
    }

    /// `(q, r)` with `self = q * divisor + r`. The divisor is a number, or is of degree 1 in its first symbol
    /// with a number as the coefficient. By a number, every coefficient is divided on its own, to the nearest
    /// quotient.
    pub fn div_rem(&self, divisor: &Polynomial) -> Option<(Polynomial, Polynomial)> {
        if let Some(c) = divisor.as_constant() {
            if c == 0 || self.poisoned {
                return None;
            }
            let (mut q, mut r) = (Polynomial::zero(), Polynomial::zero());
            for (m, v) in self.terms() {
                let k = nearest_quotient(v, c)?;
                q.accumulate(m.clone(), Some(k));
                r.accumulate(m.clone(), k.checked_mul(c).and_then(|kc| v.checked_sub(kc)));
            }
            return (!q.poisoned && !r.poisoned).then_some((q, r));
        }
        divisor.symbols().into_iter().find_map(|x| self.div_rem_in(divisor, x))
    }

    /// The quotient, where `divisor` divides this exactly over the integers. Any divisor but zero.
    pub fn div_exact(&self, divisor: &Polynomial) -> Option<Polynomial> {
        if self.poisoned || divisor.poisoned {
            return None;
        }
        let (lead, lead_c) = divisor.leading()?;
        let (mut q, mut rest) = (Polynomial::zero(), self.clone());
        while let Some((m, c)) = rest.leading() {
            if c.checked_rem(lead_c)? != 0 {
                return None;
            }
            let step = Polynomial::term(m.div(&lead)?, c.checked_div(lead_c)?);
            rest = &rest - &(&step * divisor);
            q = &q + &step;
            if rest.poisoned || q.poisoned {
                return None;
            }
        }
        Some(q)
    }

    /// The leading term in the graded lexicographic order, an order that products respect (so exact division
    /// ends).
    pub fn leading(&self) -> Option<(Monomial, i128)> {
        let symbols: Vec<Symbol> = self.symbols().into_iter().collect();
        let key = |m: &Monomial| (m.degree(), symbols.iter().map(|s| m.exponent(*s)).collect::<Vec<_>>());
        self.terms().max_by_key(|(m, _)| key(m)).map(|(m, c)| (m.clone(), c))
    }

    /// The value at a point; `None` past `i128`.
    pub fn eval(&self, at: impl Fn(Symbol) -> i128) -> Option<i128> {
        if self.poisoned {
            return None;
        }
        let mut sum = 0i128;
        for (m, c) in self.terms() {
            let mut v = c;
            for (s, e) in m.factors() {
                v = v.checked_mul(at(s).checked_pow(e)?)?;
            }
            sum = sum.checked_add(v)?;
        }
        Some(sum)
    }
}

/// The integer nearest to `a / b`, ties towards zero.
fn nearest_quotient(a: i128, b: i128) -> Option<i128> {
    let (q, r) = (a.checked_div(b)?, a.checked_rem(b)?);
    if r.unsigned_abs() > b.unsigned_abs() / 2 {
        q.checked_add(if (a < 0) == (b < 0) { 1 } else { -1 })
    } else {
        Some(q)
    }
}

/// Greatest common divisor, not negative.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

impl Add<&Polynomial> for &Polynomial {
    type Output = Polynomial;
    fn add(self, o: &Polynomial) -> Polynomial {
        let mut p = self.clone();
        p.poisoned = self.poisoned || o.poisoned;
        for (m, c) in o.terms() {
            p.accumulate(m.clone(), Some(c));
        }
        p
    }
}

impl Neg for &Polynomial {
    type Output = Polynomial;
    fn neg(self) -> Polynomial {
        self.scale(-1)
    }
}

impl Sub<&Polynomial> for &Polynomial {
    type Output = Polynomial;
    fn sub(self, o: &Polynomial) -> Polynomial {
        self + &-o
    }
}

impl Mul<&Polynomial> for &Polynomial {
    type Output = Polynomial;
    fn mul(self, o: &Polynomial) -> Polynomial {
        if self.poisoned || o.poisoned {
            return Polynomial::poison();
        }
        let mut p = Polynomial::zero();
        for (m, c) in self.terms() {
            for (n, d) in o.terms() {
                p.accumulate(m.mul(n), c.checked_mul(d));
            }
        }
        p
    }
}

impl Add for Polynomial {
    type Output = Polynomial;
    fn add(self, o: Polynomial) -> Polynomial {
        &self + &o
    }
}

impl Sub for Polynomial {
    type Output = Polynomial;
    fn sub(self, o: Polynomial) -> Polynomial {
        &self - &o
    }
}

impl Mul for Polynomial {
    type Output = Polynomial;
    fn mul(self, o: Polynomial) -> Polynomial {
        &self * &o
    }
}

impl From<i128> for Polynomial {
    fn from(c: i128) -> Self {
        Polynomial::constant(c)
    }
}

impl Polynomial {
    /// The text, with names for the symbols.
    pub fn display_with(&self, name: impl Fn(Symbol) -> String) -> String {
        if self.poisoned {
            return "<overflow>".to_string();
        }
        let mut text = String::new();
        for (m, c) in self.terms() {
            let sign = match (text.is_empty(), c < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let a = c.unsigned_abs();
            let product = match (a, m.degree()) {
                (_, 0) => a.to_string(),
                (1, _) => m.display_with(&name),
                _ => format!("{a}*{}", m.display_with(&name)),
            };
            text.push_str(sign);
            text.push_str(&product);
        }
        if text.is_empty() { "0".to_string() } else { text }
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(|s| s.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(i: usize) -> Polynomial {
        Polynomial::param(i)
    }
    fn c(v: i128) -> Polynomial {
        Polynomial::constant(v)
    }

    #[test]
    fn arithmetic_and_display() {
        let x = &(p(0) + c(2)) * &(p(1) - c(3));
        assert_eq!(x.to_string(), "-6 - 3*p0 + p0*p1 + 2*p1");
        assert!((&x - &x).is_zero());
        assert_eq!(x.eval(|s| if s == Symbol::Param(0) { 5 } else { 7 }), Some(28));
        assert_eq!(Polynomial::zero().to_string(), "0");
    }

    #[test]
    fn overflow_poisons() {
        let big = c(i128::MAX);
        assert!((&big + &c(1)).is_poisoned());
        assert!((&big * &c(2)).is_poisoned());
        assert!((&(&big * &c(2)) - &c(1)).is_poisoned());
        assert_eq!((&big * &c(2)).eval(|_| 0), None);
    }

    #[test]
    fn exact_division() {
        let (a, b) = (p(0) + p(2) - c(1), &p(1).scale(2) + &c(1));
        let x = &a * &b;
        assert_eq!(x.div_exact(&a), Some(b.clone()));
        assert_eq!(x.div_exact(&b), Some(a));
        assert_eq!((&x + &c(1)).div_exact(&b), None);
        assert_eq!(x.div_exact(&Polynomial::zero()), None);
    }

    #[test]
    fn division_with_remainder_keeps_the_value() {
        let (i, j) = (Polynomial::iter(0), Polynomial::iter(1));
        for size in [p(0), p(0) + c(2), p(0).scale(2), p(0).scale(2) + c(1), p(1) + p(0) - c(1), c(7), c(-4)]
        {
            let x = &(&(&i.scale(3) + &p(0)) * &(p(0) + c(2))) + &(&j + &c(12));
            let (q, r) = x.div_rem(&size).unwrap();
            assert_eq!(&(&q * &size) + &r, x, "{size}");
        }
    }
}
