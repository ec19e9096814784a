//! Decisions of a generator, kept so that a program can be made smaller by deciding less: MacIver and
//! Donaldson, Test-case reduction via test-case generation: insights from the Hypothesis reducer, ECOOP 2020.
//! The first of several choices is the plainest.

use crate::rng::Rng;
use std::time::Instant;

/// See the module documentation.
pub struct Choices<'a> {
    source: Source<'a>,
    /// What was decided so far.
    pub taken: Vec<u32>,
}

enum Source<'a> {
    Random(&'a mut Rng),
    /// Decisions of before; behind the last one, all are 0.
    Given(&'a [u32]),
}

impl<'a> Choices<'a> {
    pub fn random(rng: &'a mut Rng) -> Choices<'a> {
        Choices { source: Source::Random(rng), taken: Vec::new() }
    }

    pub fn given(decisions: &'a [u32]) -> Choices<'a> {
        Choices { source: Source::Given(decisions), taken: Vec::new() }
    }

    fn decide(&mut self, limit: usize, random: impl FnOnce(&mut Rng) -> usize) -> usize {
        let last = limit.saturating_sub(1);
        let value = match &mut self.source {
            Source::Random(rng) => random(rng).min(last),
            Source::Given(list) => list.get(self.taken.len()).map_or(0, |v| *v as usize).min(last),
        };
        self.taken.push(value as u32);
        value
    }

    /// `0 .. n`
    pub fn below(&mut self, n: usize) -> usize {
        self.decide(n, |rng| rng.below(n))
    }

    /// An index, each with its weight.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        self.decide(weights.len(), |rng| rng.weighted(weights))
    }

    /// `low ..= high`
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1).max(1) as usize) as i64
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.weighted(&[100 - percent, percent]) == 1
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// Decisions that are fewer or smaller, after which a program still fails.
pub fn shrink(decisions: &[u32], deadline: Instant, fails: &mut dyn FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut best = decisions.to_vec();
    loop {
        let before = best.clone();
        let mut width = best.len().div_ceil(2);
        while width > 0 {
            let mut at = 0;
            while at < best.len() {
                if Instant::now() >= deadline {
                    return best;
                }
                let end = (at + width).min(best.len());
                let mut without = best.clone();
                without.drain(at..end);
                let mut plain = best.clone();
                plain[at..end].fill(0);
                match [without, plain].into_iter().find(|next| *next != best && fails(next)) {
                    Some(next) => best = next,
                    None => at += width,
                }
            }
            width /= 2;
        }
        if best == before {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_lead_to_the_same() {
        let mut rng = Rng::stream(7, 3);
        let mut random = Choices::random(&mut rng);
        let drawn: Vec<i64> = (0..50).map(|n| random.range(-n, 2 * n)).collect();
        let mut again = Choices::given(&random.taken);
        assert_eq!((0..50).map(|n| again.range(-n, 2 * n)).collect::<Vec<_>>(), drawn);
        assert_eq!((again.below(9), again.chance(99), again.range(-2, 2)), (0, false, -2));
    }

    #[test]
    fn what_does_not_matter_goes() {
        let later = Instant::now() + std::time::Duration::from_secs(60);
        let small = shrink(&[3, 1, 4, 1, 5, 9, 2, 6], later, &mut |d| d.contains(&4) && d.contains(&9));
        assert_eq!(small, [4, 9]);
    }
}
