//! Bytes of each period: where members of structures lie.

use crate::poly::{Monomial, Polynomial, Symbol, gcd};

/// Every byte of some accesses is at `rest + k * step` to `rest + k * step + bytes` from the base, for whole
/// numbers `k` (only 0 if `step` is 0).
///
/// `p[i].x[k]` for `k < 3`, doubles at the beginning of structures of 64 bytes, is `64 i + 8 k`: step 64,
/// rest 0, 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residue {
    pub step: i128,
    pub rest: i128,
    pub bytes: i128,
}

impl Residue {
    /// The residue of accesses of `bytes` bytes at `offset`. `range` bounds what a symbol may be by
    /// constants, if these are known: symbols with smaller coefficients than another's count by their range.
    /// `None` if numbers are too large.
    pub fn new(
        offset: &Polynomial,
        bytes: u32,
        mut range: impl FnMut(Symbol) -> Option<(i128, i128)>,
    ) -> Option<Self> {
        if offset.is_poisoned() {
            return None;
        }
        let one = Monomial::one();
        let terms: Vec<(&Monomial, i128)> = offset.terms().filter(|(m, _)| **m != one).collect();
        let largest = terms.iter().map(|(_, c)| c.saturating_abs()).max().unwrap_or(0);
        let mut own = Residue { step: 0, rest: offset.constant_term(), bytes: i128::from(bytes) };
        for (m, c) in terms {
            let mut factors = m.factors();
            let alone = match (factors.next(), factors.next()) {
                (Some((symbol, 1)), None) if c.saturating_abs() < largest => range(symbol),
                _ => None,
            };
            match alone {
                Some((low, high)) if low <= high => {
                    let (a, b) = (c.checked_mul(low)?, c.checked_mul(high)?);
                    own.rest = own.rest.checked_add(a.min(b))?;
                    own.bytes = own.bytes.checked_add(a.max(b).checked_sub(a.min(b))?)?;
                }
                _ => own.step = gcd(own.step, c),
            }
        }
        Some(own)
    }

    /// What holds of accesses of both kinds.
    pub fn join(self, other: Self) -> Option<Self> {
        let step = gcd(gcd(self.step, other.step), self.rest.checked_sub(other.rest)?);
        Some(Residue { step, rest: self.rest, bytes: self.bytes.max(other.bytes) })
    }

    /// Whether no byte is in accesses of both.
    pub fn is_apart_from(self, other: Self) -> bool {
        let Some(distance) = other.rest.checked_sub(self.rest) else { return false };
        match gcd(self.step, other.step) {
            0 => distance >= self.bytes || -distance >= other.bytes,
            // The other's first byte lies behind this one's last, and its last before this one's first in the
            // next period.
            step => {
                let distance = distance.rem_euclid(step);
                self.bytes <= distance && distance.saturating_add(other.bytes) <= step
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residue(step: i128, rest: i128, bytes: i128) -> Residue {
        Residue { step, rest, bytes }
    }

    /// Against all bytes of some periods.
    #[test]
    fn apart_means_no_common_byte() {
        let bytes = |r: Residue| -> Vec<i128> {
            let periods = if r.step == 0 { 0..1 } else { -12..12 };
            periods.flat_map(|k| (0..r.bytes).map(move |b| r.rest + k * r.step + b)).collect()
        };
        let mut apart = 0;
        for (step, other_step) in [(0, 0), (0, 12), (12, 12), (8, 12), (12, 0), (24, 12), (4, 6)] {
            for rest in -5..9 {
                for (width, other_width) in [(1, 1), (8, 4), (4, 8), (2, 1), (4, 4)] {
                    let (a, b) = (residue(step, rest, width), residue(other_step, 1, other_width));
                    let common = bytes(a).iter().any(|x| bytes(b).contains(x));
                    assert_eq!(a.is_apart_from(b), !common, "{a:?} {b:?}");
                    assert_eq!(b.is_apart_from(a), !common, "{b:?} {a:?}");
                    apart += usize::from(!common);
                }
            }
        }
        assert!(apart > 50);
    }

    #[test]
    fn bounded_symbols_widen() {
        // 64 i + 8 k + 5, and with a parameter as the pitch.
        let (i, k) = (Polynomial::iter(0), Polynomial::iter(1));
        let members = &(&i.scale(64) + &k.scale(8)) + &Polynomial::constant(5);
        let known = |s| (s == Symbol::Iter(1)).then_some((-1, 2));
        assert_eq!(Residue::new(&members, 8, known), Some(residue(64, -3, 32)));
        assert_eq!(Residue::new(&members, 8, |_| None), Some(residue(8, 5, 8)));
        let pitched = &(&i * &Polynomial::param(0)).scale(4) + &k.scale(8);
        assert_eq!(Residue::new(&pitched, 4, known), Some(residue(4, 0, 4)));
        let down = &i.scale(64) - &k.scale(8);
        assert_eq!(Residue::new(&down, 8, known), Some(residue(64, -16, 32)));
    }

    #[test]
    fn joined_residues_hold_both() {
        assert_eq!(residue(24, 0, 4).join(residue(24, 8, 4)), Some(residue(8, 0, 4)));
        assert_eq!(residue(24, 0, 4).join(residue(24, 0, 8)), Some(residue(24, 0, 8)));
    }
}
