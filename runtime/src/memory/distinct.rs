//! Whether no two of many integers are equal.
//!
//! **Problem.** Each integer is a place of a map of bits, and neighbours in memory are anywhere in the map:
//! threads that share it take its lines from each other.
//!
//! **Approach.** What ascends is seen while the ends are looked for ([`Ascent`]). Otherwise one thread marks
//! its map. Several first sort their integers roughly, by the part of the map that they are in, and then each
//! marks parts of its own, which fit in a cache (the partitions of hash joins: Balkesen, Teubner, Alonso,
//! Özsu, "Main-Memory Hash Joins on Multi-Core CPUs", ICDE 2013, section 3). Integers that are far apart are
//! sorted.

use crate::base::error::{Error, Result};
use std::ops::Range;

/// Bits of a map for each value that is looked at: with fewer values for as many places they are sorted.
const SPARSE: i128 = 64;
/// Bits of a part of the map: half of an ordinary second-level cache.
const PART_BITS: i128 = 1 << 22;
/// Parts at most: each is a place that a thread writes to in turns.
const MAX_PARTS: i128 = 256;

/// How the integers of some rows follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ascent {
    /// The first and the last one; `None` for none.
    ends: Option<(i64, i64)>,
    /// Some integer is not larger than the one before.
    broken: bool,
}

impl Ascent {
    /// Whether each integer is larger than the one before: then no two are equal.
    pub fn is_strict(&self) -> bool {
        !self.broken
    }

    /// What follows.
    pub fn then(self, next: Ascent) -> Ascent {
        let (Some((first, before)), Some((behind, last))) = (self.ends, next.ends) else {
            return if self.ends.is_some() { self } else { next };
        };
        Ascent { ends: Some((first, last)), broken: self.broken || next.broken || behind <= before }
    }

    /// Of integers beside each other.
    pub fn of<T: Copy + Ord + Into<i64>>(values: impl Iterator<Item = T> + Clone) -> Ascent {
        let mut others = values.clone();
        let Some(first) = others.next() else { return Ascent::default() };
        let (mut last, mut broken) = (first, false);
        for value in others {
            broken |= value <= last;
            last = value;
        }
        Ascent { ends: Some((first.into(), last.into())), broken }
    }
}

/// A walk over the integers of a part: calls its argument with each.
pub type Walk<'a> = &'a (dyn Fn(&mut dyn FnMut(&[i64])) -> Result<()> + Sync);

/// Whether no two of `count` integers between the ends are equal. `walks`: one for each thread that shares
/// them.
///
/// # Errors
/// [`Error::Repeated`] if two are; [`Error::Unreadable`] where there is no memory to find out; those of the
/// walks.
pub fn check(ends: (i64, i64), count: i128, walks: &[Walk<'_>]) -> Result<()> {
    let places = i128::from(ends.1) - i128::from(ends.0) + 1;
    if places < count {
        return Err(Error::Repeated);
    }
    if places > SPARSE * count {
        return sorted(count, walks);
    }
    if walks.len() < 2 || places > i128::from(u32::MAX) {
        let mut seen = Map::new(places)?;
        return walks.iter().try_for_each(|walk| {
            let mut twice = false;
            walk(&mut |values| {
                values.iter().for_each(|v| twice |= seen.mark(v.wrapping_sub(ends.0) as u64))
            })?;
            if twice { Err(Error::Repeated) } else { Ok(()) }
        });
    }
    parted(ends.0, places, count, walks)
}

/// A bit for each place.
struct Map(Vec<u64>);

impl Map {
    fn new(places: i128) -> Result<Map> {
        let words = usize::try_from(places).map_err(|_| Error::Unreadable)?.div_ceil(64);
        let mut seen = Vec::new();
        seen.try_reserve_exact(words).map_err(|_| Error::Unreadable)?;
        seen.resize(words, 0);
        Ok(Map(seen))
    }

    /// Marks a place; whether it was marked. (What another thread of the program changes meanwhile may be
    /// beyond the ends.)
    fn mark(&mut self, place: u64) -> bool {
        let Some(word) = self.0.get_mut((place / 64) as usize) else { return false };
        let bit = 1u64 << (place % 64);
        let before = *word & bit != 0;
        *word |= bit;
        before
    }
}

/// By parts of the map: each thread sorts its integers by these, then each marks some parts.
fn parted(low: i64, places: i128, count: i128, walks: &[Walk<'_>]) -> Result<()> {
    let shift = (places.max(1) as u128).next_power_of_two().trailing_zeros();
    let log = (places / PART_BITS).clamp(walks.len() as i128, MAX_PARTS) as u64;
    let log = log.next_power_of_two().trailing_zeros().min(shift);
    let (parts, shift) = (1usize << log, shift - log);
    let room = (count as usize / walks.len() / parts).saturating_mul(9) / 8 + 16;
    let sorted = on_threads(walks.len(), |t| {
        let mut own: Vec<Vec<u32>> = Vec::new();
        for _ in 0..parts {
            let mut part = Vec::new();
            part.try_reserve_exact(room).map_err(|_| Error::Unreadable)?;
            own.push(part);
        }
        walks[t](&mut |values| {
            for v in values {
                let place = v.wrapping_sub(low) as u64;
                if let Some(part) = own.get_mut((place >> shift) as usize) {
                    part.push(place as u32);
                }
            }
        })?;
        Ok(own)
    })?;
    let share = |t: usize| -> Range<usize> { parts * t / walks.len()..parts * (t + 1) / walks.len() };
    on_threads(walks.len(), |t| {
        for part in share(t) {
            let mut seen = Map::new(1 << shift)?;
            let mask = (1u64 << shift) - 1;
            let mut twice = false;
            for own in &sorted {
                own[part].iter().for_each(|place| twice |= seen.mark(u64::from(*place) & mask));
            }
            if twice {
                return Err(Error::Repeated);
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// By sorting all.
fn sorted(count: i128, walks: &[Walk<'_>]) -> Result<()> {
    let mut all = Vec::new();
    all.try_reserve_exact(usize::try_from(count).unwrap_or(usize::MAX)).map_err(|_| Error::Unreadable)?;
    for walk in walks {
        walk(&mut |values| all.extend_from_slice(values))?;
    }
    all.sort_unstable();
    if all.windows(2).any(|pair| pair[0] == pair[1]) { Err(Error::Repeated) } else { Ok(()) }
}

/// What `body` finds for each number, each on a thread.
///
/// # Errors
/// One of those of `body`.
pub fn on_threads<T: Send>(threads: usize, body: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let body = &body;
        // A thread that cannot be started leaves its share to this one.
        let others: Vec<_> = (1..threads)
            .map(|i| (i, std::thread::Builder::new().spawn_scoped(scope, move || body(i))))
            .collect();
        let mut found = vec![body(0)];
        for (i, other) in others {
            found.push(match other {
                Ok(other) => other.join().unwrap_or(Err(Error::Unreadable)),
                Err(_) => body(i),
            });
        }
        found.into_iter().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(values: &[i64], threads: usize) -> Result<()> {
        let share = |t: usize| &values[values.len() * t / threads..values.len() * (t + 1) / threads];
        let walks: Vec<_> = (0..threads)
            .map(|t| {
                move |then: &mut dyn FnMut(&[i64])| -> Result<()> {
                    share(t).chunks(1000).for_each(&mut *then);
                    Ok(())
                }
            })
            .collect();
        let walks: Vec<Walk<'_>> = walks.iter().map(|walk| walk as Walk<'_>).collect();
        let ends = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        check(ends, values.len() as i128, &walks)
    }

    #[test]
    fn equal_values_are_found() {
        let shuffled = |n: i64, step: i64| (0..n).map(|i| i * 7919 % n * step - 5).collect::<Vec<_>>();
        for values in [
            shuffled(5, 1),
            shuffled(64, 1),
            shuffled(100_003, 1),
            shuffled(50_021, 31),
            shuffled(3001, 1 << 40),
        ] {
            for threads in [1, 2, 3, 8] {
                assert_eq!(ask(&values, threads), Ok(()), "{} {threads}", values.len());
                for (a, b) in [(0, values.len() - 1), (1, 2), (values.len() / 2, 1)] {
                    let mut spoiled = values.clone();
                    spoiled[a] = spoiled[b];
                    assert_eq!(ask(&spoiled, threads), Err(Error::Repeated), "{} {threads}", values.len());
                }
            }
        }
    }

    #[test]
    fn ascents() {
        for (parts, strict) in [
            (vec![vec![]], true),
            (vec![vec![1], vec![], vec![2, 3]], true),
            (vec![vec![1, 2], vec![2]], false),
            (vec![vec![1, 3, 2], vec![4]], false),
            (vec![vec![], vec![-5, -4], vec![7, i32::MAX]], true),
            (vec![vec![1, 1]], false),
        ] {
            let all = parts.iter().map(|part| Ascent::of(part.iter().copied()));
            assert_eq!(all.fold(Ascent::default(), Ascent::then).is_strict(), strict, "{parts:?}");
        }
    }
}
