//! Exact quotients by constants, in two or three operations that are proved for each constant.
//!
//! **Problem.** `x / 118.0f` is correctly rounded by an approximate reciprocal, Newton steps, a quotient and
//! its remainder: some ten instructions, or a call.
//!
//! **Solution.** With `zh` and `zl` known when the kernel is made, `RN(x zh + RN(x zl))` is the quotient for
//! most constants (Brisebarre, Muller, Raina: Accelerating Correctly Rounded Floating-Point Division when the
//! Divisor Is Known in Advance, IEEE Transactions on Computers 53(8), 2004), and for most of the others a
//! quotient by the nearest reciprocal, corrected by its remainder.
//!
//! # Proof for a constant
//! Numbers have `p` bits; `x = X 2^i`, `c = C 2^j`, with integers `X` and `C` of `p` bits. `zh` is `1/c` cut
//! to `p` bits, and `zl` the rest, so that both have the sign of `c`.
//! - What is rounded last differs from `x/c` by less than `2^(3-2p)`, relatively: `zl < 2^(1-p) zh`, it is
//!   known to a relative `2^(1-p)`, and its product is rounded. So it does with the corrected quotient, whose
//!   remainder is exact and below `2^(2-p) x`, by a reciprocal with an error of `2^-p`.
//! - The result is wrong only if a middle `M 2^k` of two numbers lies between; `M` is odd and has `p+1` bits.
//!   Then `X 2^t = CM + r`, with `t = p` or `p+1` and an integer `r` that is not 0 (`CM` has too many bits
//!   for `X 2^t`), and `|r| <= 2^(3-2p) CM < 16`.
//! - For each `t` and `r` the remainders modulo `2^t` leave few `M`, and so few `X`: all of them are tried
//!   here.
//!
//! Powers of two change nothing as long as no intermediate value is subnormal, or so small that what is lost
//! is far below the distance to a middle. That holds for magnitudes of `c` from `2^-30` to `2^30` (doubles:
//! `2^-400` to `2^400`) and of `x` from `2^-60` (`2^-480`) on. Of two operations zeros, infinities, NaNs and
//! quotients that overflow are right as well, with their signs, since `zh` and `zl` have one.

/// How a quotient by a constant is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quotient {
    /// `RN(x high + RN(x low))`.
    Two { high: f64, low: f64 },
    /// `q = RN(x reciprocal)`, `RN(q + RN(x - q c) reciprocal)`: for finite numerators other than zero.
    Three { reciprocal: f64 },
}

/// Largest `|r|` of the proof.
const NEAR: i128 = 16;

/// What the proof needs of a type of numbers.
trait Real: Copy + PartialEq {
    /// Bits of the significand.
    const BITS: u32;
    /// Exponents of the divisors' magnitudes: from `2^-RANGE` to `2^RANGE`.
    const RANGE: i32;
    fn of(v: f64) -> Self;
    fn wide(self) -> f64;
    fn over(self, d: Self) -> Self;
    fn times(self, f: Self) -> Self;
    fn fma(self, f: Self, a: Self) -> Self;
    /// The number before this positive one.
    fn before(self) -> Self;
}

macro_rules! real {
    ($type:ty, $bits:expr, $range:expr) => {
        impl Real for $type {
            const BITS: u32 = $bits;
            const RANGE: i32 = $range;
            #[allow(clippy::cast_possible_truncation)]
            fn of(v: f64) -> Self {
                v as $type
            }
            fn wide(self) -> f64 {
                f64::from(self)
            }
            fn over(self, d: Self) -> Self {
                self / d
            }
            fn times(self, f: Self) -> Self {
                self * f
            }
            fn fma(self, f: Self, a: Self) -> Self {
                self.mul_add(f, a)
            }
            fn before(self) -> Self {
                Self::from_bits(self.to_bits() - 1)
            }
        }
    };
}
real!(f32, 24, 30);
real!(f64, 53, 400);

/// How `x / c` is computed for all `x` that the header names; of doubles (1) or floats (0). `None`: by the
/// operations for any divisor.
pub(crate) fn quotient(c: f64, wide: usize) -> Option<Quotient> {
    if wide == 1 { of::<f64>(c) } else { of::<f32>(c) }
}

fn of<R: Real>(c: f64) -> Option<Quotient> {
    if R::of(c).wide() != c
        || !c.is_normal()
        || !(2f64.powi(-R::RANGE)..=2f64.powi(R::RANGE)).contains(&c.abs())
    {
        return None;
    }
    // c = C 2^power, with the sign of `c`.
    let power = exponent(c) - (R::BITS as i32 - 1);
    let scale = 2f64.powi(-power) * c.signum();
    let whole = R::of(c * scale);
    let one = R::of(1.0);
    let nearest = one.over(whole);
    let rest = |z: R| R::of(-z.wide()).fma(whole, one).wide();
    let cut = if rest(nearest) < 0.0 { nearest.before() } else { nearest };
    let low = R::of(rest(cut)).over(whole);
    let two = |x: R| x.fma(cut, x.times(low));
    let three = |x: R| {
        let q = x.times(nearest);
        R::of(-whole.wide()).fma(q, x).fma(nearest, q)
    };
    let numerators = hard_numerators::<R>(whole.wide() as i128);
    let right = |f: &dyn Fn(R) -> R| numerators.iter().all(|x| f(*x) == x.over(whole));
    // (A power of two has no rest; its quotients are products for LLVM.)
    if low.wide() != 0.0 && right(&two) {
        return Some(Quotient::Two { high: cut.wide() * scale, low: low.wide() * scale });
    }
    right(&three).then(|| Quotient::Three { reciprocal: nearest.wide() * scale })
}

/// The exponent of a normal number.
fn exponent(c: f64) -> i32 {
    (c.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// The integers of `p` bits whose quotients by `c`, another one, are nearest to the middles of two numbers.
fn hard_numerators<R: Real>(c: i128) -> Vec<R> {
    let (p, shift) = (R::BITS, c.trailing_zeros());
    let odd = c >> shift;
    let mut found = Vec::new();
    for t in [p, p + 1] {
        let modulus = 1i128 << (t - shift);
        let inverse = inverse_of(odd, modulus);
        for r in (-NEAR..=NEAR).filter(|r| *r != 0 && r % (1 << shift.min(8)) == 0) {
            let first = (-(r >> shift) * inverse).rem_euclid(modulus);
            let from = 1i128 << p;
            let mut middle = from + (first - from).rem_euclid(modulus);
            while middle < 2 * from {
                let x = (c * middle + r) >> t;
                if middle % 2 == 1 && (from / 2..from).contains(&x) {
                    found.push(R::of(x as f64));
                }
                middle += modulus;
            }
        }
    }
    found
}

/// The inverse of an odd number modulo a power of two: each Newton step has twice as many bits right.
fn inverse_of(odd: i128, modulus: i128) -> i128 {
    let mut inverse = odd;
    for _ in 0..6 {
        let product = (odd * inverse).rem_euclid(modulus);
        inverse = (inverse * (2 - product)).rem_euclid(modulus);
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(q: Quotient, c: f32, x: f32) -> f32 {
        match q {
            Quotient::Two { high, low } => x.mul_add(high as f32, x * low as f32),
            Quotient::Three { reciprocal } => {
                let (z, q) = (reciprocal as f32, x * reciprocal as f32);
                (-c).mul_add(q, x).mul_add(z, q)
            }
        }
    }

    fn double(q: Quotient, c: f64, x: f64) -> f64 {
        match q {
            Quotient::Two { high, low } => x.mul_add(high, x * low),
            Quotient::Three { reciprocal } => {
                (-c).mul_add(x * reciprocal, x).mul_add(reciprocal, x * reciprocal)
            }
        }
    }

    /// Numbers that look random, the same each time.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.0 ^ self.0 >> 29
        }
    }

    #[test]
    fn all_numerators_of_floats() {
        let mut ways = [0; 3];
        let mut numbers = Numbers(1);
        let usual = [3.0, 118.0, 159.0, 1.7, -5.0, 7.0, 0.1, 1e-3, 9.0, 1.999_999_9];
        let some = (0..4).map(|_| f32::from_bits(0x3f80_0000 | numbers.next() as u32 >> 9));
        for c in usual.into_iter().chain(some) {
            let way = quotient(c.into(), 0);
            ways[match way {
                Some(Quotient::Two { .. }) => 0,
                Some(Quotient::Three { .. }) => 1,
                None => 2,
            }] += 1;
            let Some(way) = way else { continue };
            for mantissa in 0..1 << 23 {
                let x = f32::from_bits(0x3f80_0000 | mantissa);
                assert_eq!(float(way, c, x), x / c, "{x} / {c}, {way:?}");
            }
        }
        assert!(ways[0] > 9 && ways[2] < 2, "{ways:?}");
    }

    /// For small significands wrong reciprocals are right nearly always: a proof that lets them pass would be
    /// none.
    #[test]
    fn what_is_not_proved_is_wrong() {
        let mut numbers = Numbers(2);
        let mut refuted = 0;
        for _ in 0..20_000 {
            let c = f32::from_bits(0x4b00_0000 | numbers.next() as u32 >> 9);
            let cut = {
                let z = 1.0 / c;
                if (-z).mul_add(c, 1.0) < 0.0 { z.before() } else { z }
            };
            let two = Quotient::Two { high: cut.into(), low: ((-cut).mul_add(c, 1.0) / c).into() };
            let wrong = hard_numerators::<f32>(c as i128).iter().any(|x| float(two, c, *x) != x / c);
            assert_eq!(!wrong, matches!(quotient(c.into(), 0), Some(Quotient::Two { .. })), "{c}");
            refuted += usize::from(wrong);
        }
        // A share of the constants has a numerator for which two operations do not do.
        assert!((100..10_000).contains(&refuted), "{refuted}");
    }

    #[test]
    fn doubles() {
        let mut numbers = Numbers(3);
        for c in [3.0, 118.0, 159.0, -1.7, 0.1, 1e-9, 6.02e23, 1.0 / 3.0] {
            let way = quotient(c, 1).expect("a constant of usual size");
            for _ in 0..200_000 {
                let x = f64::from_bits(numbers.next() >> 12 | 0x3ff0_0000_0000_0000);
                assert_eq!(double(way, c, x), x / c, "{x} / {c}");
            }
        }
    }

    #[test]
    fn special_numerators_and_signs() {
        for c in [3.0f32, -118.0, 1.7, -0.1] {
            let Some(way @ Quotient::Two { .. }) = quotient(c.into(), 0) else {
                panic!("{c} takes two operations")
            };
            for x in [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -f32::MAX, 2f32.powi(-60)] {
                assert_eq!(float(way, c, x).to_bits(), (x / c).to_bits(), "{x} / {c}");
            }
            assert!(float(way, c, f32::NAN).is_nan());
        }
    }

    #[test]
    fn others_are_left() {
        for (c, wide) in [
            (0.0, 0),
            (f64::INFINITY, 0),
            (f64::NAN, 1),
            (2f64.powi(31), 0),
            (1e-10, 0),
            (1e200, 1),
            (0.1, 0),
        ] {
            assert_eq!(quotient(c, wide), None, "{c}");
        }
    }
}
