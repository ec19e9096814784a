//! Inspections: the least and the largest of integers in the program's memory.
//!
//! **Problem.** What a subscript made of loaded integers touches is known once these are. Code generation asks for their range before a launch. The rows that it
//! asks for hold what the loop loads, and perhaps more, whose pages may be missing.
//!
//! **Approach.** The kernel copies pieces that fit in a cache ([`crate::memory::guarded`]), which report missing pages; each piece is reduced by
//! comparisons that the compiler makes vectors of. Several threads share what is large.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::spans::Span;
use crate::memory::guarded;

/// Bytes copied at a time: half of the second-level cache of an ordinary core.
const PIECE: usize = 1 << 18;
/// More bytes than this are not looked at.
const MOST: i128 = 1 << 40;

/// Rows of contiguous bytes, outermost dimension first: the bytes of one, how often each dimension repeats, and how many bytes apart.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub bytes: i64,
    pub counts: [i64; 3],
    pub strides: [i64; 3],
}

impl Rows {
    /// As the program gives them.
    pub fn words(&self) -> [i64; 7] {
        let ([a, b, c], [x, y, z]) = (self.counts, self.strides);
        [self.bytes, a, b, c, x, y, z]
    }

    /// The addresses from the first byte to behind the last one; `None` for no bytes, and for what wraps around.
    pub fn span(&self, start: *const c_void) -> Option<Span> {
        if self.bytes <= 0 || self.counts.iter().any(|n| *n <= 0) {
            return None;
        }
        let (mut low, mut high) = (start as i128, start as i128 + i128::from(self.bytes));
        for (count, stride) in self.counts.iter().zip(&self.strides) {
            let far = i128::from(*stride) * i128::from(count - 1);
            (low, high) = (low + far.min(0), high + far.max(0));
        }
        Some((u64::try_from(low).ok()?, u64::try_from(high).ok()?))
    }
}

/// `POLLYRS_INSPECT_DISTINCT`.
const DISTINCT: u32 = 256;
/// Bits of a map for each value that is looked at: with fewer values for as many places they are sorted.
const SPARSE: i128 = 64;

/// The least and the largest element of the rows, as signed integers; `(0, 0)` where there is none. With `DISTINCT` added to the bytes of an element no two may be equal.
///
/// # Errors
/// [`Error::Unreadable`] for memory that isn't there, and for widths and sizes that nothing sensible has; [`Error::Repeated`] for values that are equal.
pub fn look(start: *const c_void, rows: &Rows, element: u32) -> Result<(i64, i64)> {
    if rows.bytes <= 0 || rows.counts.iter().any(|n| *n <= 0) {
        return Ok((0, 0));
    }
    let all = rows.counts.iter().try_fold(i128::from(rows.bytes), |n, c| n.checked_mul(i128::from(*c)));
    if all.is_none_or(|all| all > MOST) {
        return Err(Error::Unreadable);
    }
    let width = element & !DISTINCT;
    let all = all.unwrap_or_default();
    let threads = threads(all);
    let mut ends = in_parts(start, rows, threads, |start, rows| {
        let mut ends = (i64::MAX, i64::MIN);
        each_piece(start, rows, |part| {
            let (low, high) = match width {
                1 => range(part, |b: [u8; 1]| i8::from_ne_bytes(b), (i8::MAX, i8::MIN)),
                2 => range(part, i16::from_ne_bytes, (i16::MAX, i16::MIN)),
                4 => range(part, i32::from_ne_bytes, (i32::MAX, i32::MIN)),
                8 => range(part, i64::from_ne_bytes, (i64::MAX, i64::MIN)),
                _ => return Err(Error::Unreadable),
            };
            ends = (ends.0.min(low), ends.1.max(high));
            Ok(())
        })?;
        Ok(ends)
    })?
    .into_iter()
    .fold((i64::MAX, i64::MIN), |ends, part| (ends.0.min(part.0), ends.1.max(part.1)));
    if skips("largest") {
        ends.1 -= 1;
    }
    if element & DISTINCT != 0 && !skips("distinct") {
        distinct((start, rows, width), threads, (ends, all / i128::from(width)))?;
    }
    Ok(ends)
}

/// Bytes that are worth a thread, and the most threads: with more of them memory is the limit.
const MIN_PART: i128 = 1 << 21;
const MAX_THREADS: usize = 8;

/// How many threads look at so many bytes.
fn threads(bytes: i128) -> usize {
    let most = usize::try_from(bytes / MIN_PART).unwrap_or(usize::MAX).min(MAX_THREADS);
    if most < 2 { 1 } else { std::thread::available_parallelism().map_or(1, usize::from).min(most) }
}

/// What `look` finds in parts of the rows, each on a thread: parts of a single row, or rows of the outermost dimension that has some.
///
/// # Errors
/// One of those of `look`.
fn in_parts<T: Send>(
    start: *const c_void,
    rows: &Rows,
    threads: usize,
    look: impl Fn(*const c_void, &Rows) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    // Elements stay whole: the widest has 8 bytes.
    let unit = 8;
    let along = rows.counts.iter().position(|n| *n > 1);
    let units = along.map_or(rows.bytes / unit, |d| rows.counts[d]);
    let parts = (threads as i64).clamp(1, units.max(1));
    let from = start as usize;
    let part = |i: i64| {
        let (first, end) = (i * units / parts, (i + 1) * units / parts);
        let (mut own, far) = (
            *rows,
            match along {
                Some(d) => first.wrapping_mul(rows.strides[d]),
                None => first * unit,
            },
        );
        match along {
            Some(d) => own.counts[d] = end - first,
            None => own.bytes = if i + 1 == parts { rows.bytes } else { end * unit } - first * unit,
        }
        look((from as *const u8).wrapping_offset(far as isize).cast(), &own)
    };
    std::thread::scope(|scope| {
        let part = &part;
        // A thread that cannot be started leaves its share to this one.
        let others: Vec<_> = (1..parts)
            .map(|i| (i, std::thread::Builder::new().spawn_scoped(scope, move || part(i))))
            .collect();
        let mut found = vec![part(0)];
        for (i, other) in others {
            found.push(match other {
                Ok(other) => other.join().unwrap_or(Err(Error::Unreadable)),
                Err(_) => part(i),
            });
        }
        found.into_iter().collect()
    })
}

/// Calls `then` with copies of all bytes, in pieces of whole elements.
fn each_piece(start: *const c_void, rows: &Rows, mut then: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut piece = vec![0u8; PIECE.min(rows.bytes as usize)];
    for i in 0..rows.counts[0] {
        for j in 0..rows.counts[1] {
            for k in 0..rows.counts[2] {
                let [x, y, z] = rows.strides;
                let at = i.wrapping_mul(x).wrapping_add(j.wrapping_mul(y)).wrapping_add(k.wrapping_mul(z));
                let mut from = start.cast::<u8>().wrapping_offset(at as isize);
                let mut left = rows.bytes as usize;
                while left > 0 {
                    let part = &mut piece[..left.min(PIECE)];
                    guarded::copy(part, from)?;
                    then(part)?;
                    from = from.wrapping_add(part.len());
                    left -= part.len();
                }
            }
        }
    }
    Ok(())
}

/// Whether no two of the values, of which there are so many between the ends, are equal.
fn distinct(
    (start, rows, width): (*const c_void, &Rows, u32),
    threads: usize,
    (ends, count): ((i64, i64), i128),
) -> Result<()> {
    let places = i128::from(ends.1) - i128::from(ends.0) + 1;
    if places < count {
        return Err(Error::Repeated);
    }
    if places <= SPARSE * count {
        let words = (places as usize).div_ceil(64);
        let mut seen = Vec::new();
        seen.try_reserve_exact(words).map_err(|_| Error::Unreadable)?;
        seen.resize_with(words, || AtomicU64::new(0));
        let mark = |start, rows: &Rows| {
            each_piece(start, rows, |part| {
                let mut twice = 0;
                values(part, width, |v| {
                    let at = v.wrapping_sub(ends.0) as usize;
                    // (What another thread of the program changes meanwhile may be beyond the ends.)
                    if let Some(word) = seen.get(at / 64) {
                        let bit = 1u64 << (at % 64);
                        let before = match threads {
                            1 => {
                                let before = word.load(Relaxed);
                                word.store(before | bit, Relaxed);
                                before
                            }
                            _ => word.fetch_or(bit, Relaxed),
                        };
                        twice |= before & bit;
                    }
                });
                if twice == 0 { Ok(()) } else { Err(Error::Repeated) }
            })
        };
        return in_parts(start, rows, threads, mark).map(drop);
    }
    let mut all = Vec::new();
    all.try_reserve_exact(usize::try_from(count).unwrap_or(usize::MAX)).map_err(|_| Error::Unreadable)?;
    each_piece(start, rows, |part| {
        values(part, width, |v| all.push(v));
        Ok(())
    })?;
    all.sort_unstable();
    if all.windows(2).any(|pair| pair[0] == pair[1]) { Err(Error::Repeated) } else { Ok(()) }
}

/// Each whole element, as a signed integer.
fn values(bytes: &[u8], width: u32, mut then: impl FnMut(i64)) {
    fn each<const N: usize>(bytes: &[u8], mut then: impl FnMut([u8; N])) {
        bytes.as_chunks::<N>().0.iter().for_each(|element| then(*element));
    }
    match width {
        1 => each(bytes, |b: [u8; 1]| then(i8::from_ne_bytes(b).into())),
        2 => each(bytes, |b| then(i16::from_ne_bytes(b).into())),
        4 => each(bytes, |b| then(i32::from_ne_bytes(b).into())),
        _ => each(bytes, |b| then(i64::from_ne_bytes(b))),
    }
}

/// The least and the largest of whole elements; `ends` is what none of them is beyond.
fn range<const N: usize, T: Copy + Ord + Into<i64>>(
    bytes: &[u8],
    value: impl Fn([u8; N]) -> T,
    ends: (T, T),
) -> (i64, i64) {
    let (mut low, mut high) = ends;
    for element in bytes.as_chunks::<N>().0 {
        let v = value(*element);
        low = low.min(v);
        high = high.max(v);
    }
    (low.into(), high.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Rows = Rows { bytes: 0, counts: [1; 3], strides: [0; 3] };

    #[test]
    fn ends_of_rows() {
        let words: Vec<i32> = (0..200_000).map(|i| (i * 7919) % 100_003 - 50_000).collect();
        let ends =
            |part: &[i32]| (i64::from(*part.iter().min().unwrap()), i64::from(*part.iter().max().unwrap()));
        let start = words.as_ptr().cast::<c_void>();
        let whole = Rows { bytes: 800_000, ..ONE };
        assert_eq!(look(start, &whole, 4), Ok(ends(&words)));
        // Columns 3 to 5 of 1,000 rows of 200.
        let columns = Rows { bytes: 12, counts: [1, 1, 1000], strides: [0, 0, 800] };
        let expected: Vec<i32> = words.chunks(200).flat_map(|row| row[3..6].to_vec()).collect();
        assert_eq!(look(words[3..].as_ptr().cast(), &columns, 4), Ok(ends(&expected)));
        assert_eq!(look(start, &ONE, 4), Ok((0, 0)));
        assert_eq!(look(start, &Rows { counts: [1, 0, 1], ..whole }, 4), Ok((0, 0)));
    }

    #[test]
    fn spans() {
        let start = 1000 as *const c_void;
        for (rows, expected) in [
            (Rows { bytes: 8, ..ONE }, Some((1000, 1008))),
            (Rows { bytes: 8, counts: [1, 3, 5], strides: [0, 100, 10] }, Some((1000, 1248))),
            (Rows { bytes: 8, counts: [1, 1, 4], strides: [0, 0, -10] }, Some((970, 1008))),
            (Rows { bytes: 8, counts: [1, 1, 400], strides: [0, 0, -10] }, None),
            (ONE, None),
        ] {
            assert_eq!(rows.span(start), expected);
        }
    }

    #[test]
    fn widths() {
        for (bytes, element, expected) in [
            (vec![0u8, 255, 127, 128], 1, (-128, 127)),
            ([-3i16, 7].iter().flat_map(|v| v.to_ne_bytes()).collect(), 2, (-3, 7)),
            ([i64::MIN, i64::MAX].iter().flat_map(|v| v.to_ne_bytes()).collect(), 8, (i64::MIN, i64::MAX)),
        ] {
            let rows = Rows { bytes: bytes.len() as i64, ..ONE };
            assert_eq!(look(bytes.as_ptr().cast(), &rows, element), Ok(expected));
        }
    }

    #[test]
    fn equal_values_are_found() {
        let shuffled: Vec<i32> = (0..200_000).map(|i| (i * 7919) % 200_003 - 50_000).collect();
        let far: Vec<i32> = (0..1000).map(|i| i * 2_000_000 - 1_000_000_000).collect();
        for words in [shuffled, far] {
            let rows = Rows { bytes: words.len() as i64 * 4, ..ONE };
            let ask = |words: &[i32]| look(words.as_ptr().cast(), &rows, 4 | DISTINCT);
            assert!(ask(&words).is_ok());
            for (a, b) in [(0, words.len() - 1), (70_000 % words.len(), 3), (1, 2)] {
                let mut spoiled = words.clone();
                spoiled[a] = spoiled[b];
                assert_eq!(ask(&spoiled), Err(Error::Repeated));
            }
        }
        // The same elements twice.
        let rows = Rows { bytes: 8, counts: [1, 1, 2], strides: [0; 3] };
        assert_eq!(look([1i32, 2].as_ptr().cast(), &rows, 4 | DISTINCT), Err(Error::Repeated));
    }

    #[test]
    fn parts_are_all_that_there_is() {
        let n = 3_000_001;
        let mut words: Vec<i32> = (0..n).map(|i| (i as i64 * 7919 % i64::from(n)) as i32 - 5).collect();
        let single = Rows { bytes: i64::from(n) * 4, ..ONE };
        // The same in 1,000 rows, and the first element.
        let many = Rows { bytes: 12_000, counts: [1, 1000, 1], strides: [0, 12_000, 0] };
        for threads in [1, 2, 3, 7] {
            for rows in [&single, &many] {
                let covered = in_parts(words.as_ptr().cast(), rows, threads, |start, rows| {
                    let first = (start as usize - words.as_ptr() as usize) / 4;
                    Ok((first, rows.bytes * rows.counts.iter().product::<i64>() / 4))
                });
                let mut next = 0;
                for (first, count) in covered.unwrap() {
                    assert_eq!(first, next);
                    next += count as usize;
                }
                assert!(next as i64 * 4 == rows.bytes * rows.counts[1]);
            }
        }
        let start = words.as_ptr().cast::<c_void>();
        assert_eq!(look(start, &single, 4 | DISTINCT), Ok((-5, i64::from(n) - 6)));
        for (a, b) in [(0, n as usize - 1), (n as usize / 2 - 1, n as usize / 2)] {
            let other = words[b];
            let kept = std::mem::replace(&mut words[a], other);
            assert_eq!(look(words.as_ptr().cast(), &single, 4 | DISTINCT), Err(Error::Repeated));
            words[a] = kept;
        }
    }

    #[test]
    fn what_is_not_there_is_told() {
        let rows = Rows { bytes: 64, ..ONE };
        assert_eq!(look(4096 as *const c_void, &rows, 4), Err(Error::Unreadable));
        let far = Rows { bytes: 1 << 30, counts: [1 << 30, 1, 1], strides: [0; 3] };
        assert_eq!(look(4096 as *const c_void, &far, 4), Err(Error::Unreadable));
    }
}
