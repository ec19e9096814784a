//! Orders in which blocks and threads run: forward, backward, or by a seed.

use crate::base::config::Order;

/// An order of `0 .. n`: position `p` holds `(p * step + offset) mod n` with `step` coprime to `n`, or
/// `n - 1 - p`.
pub(super) struct Permutation {
    n: u64,
    step: u64,
    offset: u64,
}

impl Permutation {
    pub fn new(n: u64, order: Order, salt: u64) -> Permutation {
        let n = n.max(1);
        match order {
            Order::Forward => Permutation { n, step: 1, offset: 0 },
            Order::Reverse => Permutation { n, step: n - 1, offset: n - 1 },
            Order::Seeded(seed) => {
                let random = mix(seed ^ mix(salt));
                let coprime = |&step: &u64| gcd(step, n) == 1;
                // Some number in a few dozen consecutive ones is coprime; 1 always is.
                let step = (1 + random % n..=n).find(coprime).unwrap_or(1);
                Permutation { n, step, offset: mix(random) % n }
            }
        }
    }

    pub fn at(&self, position: u64) -> u64 {
        if self.step == 1 && self.offset == 0 {
            return position;
        }
        ((u128::from(position) * u128::from(self.step) + u128::from(self.offset)) % u128::from(self.n)) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
/// 2014).
pub(super) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
