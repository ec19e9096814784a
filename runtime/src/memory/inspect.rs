//! Inspections: the least and the largest of integers in the program's memory.
//!
//! **Problem.** What a subscript made of loaded integers touches is known once these are. Code generation
//! asks for their range before a launch. The rows that it asks for hold what the loop loads, and perhaps
//! more, whose pages may be missing.
//!
//! **Approach.** The kernel copies pieces that fit in a cache ([`crate::memory::guarded`]), which report
//! missing pages; each piece is reduced by comparisons that the compiler makes vectors of. Several threads
//! share what is large. Whether integers are equal: [`crate::memory::distinct`].

use std::ffi::c_void;

use crate::base::abi::{INSPECT_DISTINCT, INSPECT_NUMBERS, INSPECT_UNSIGNED};
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::spans::Span;
use crate::memory::distinct::{self, Ascent, Walk, on_threads};
use crate::memory::numbers::Numbers;
use crate::memory::{guarded, packed};

/// Bytes copied at a time: a part of the second-level cache of an ordinary core. (10^8 integers by one
/// thread: 105 ms, with pieces half as large 130, twice as large 154; 79 without the kernel's copy.)
const PIECE: usize = 1 << 17;
/// More bytes than this are not looked at.
const MOST: i128 = 1 << 40;

/// Rows of contiguous bytes, outermost dimension first: the bytes of one, how often each dimension repeats,
/// and how many bytes apart.
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

    /// The addresses from the first byte to behind the last one; `None` for no bytes, and for what wraps
    /// around.
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

/// [`look`], where the addresses may stand for rows.
///
/// # Errors
/// As there.
pub fn gathered(start: *const c_void, rows: &Rows, element: u32) -> Result<(i64, i64)> {
    if let Some((packed, part)) = packed::of(start.addr() as u64).zip(rows.span(start)) {
        // SAFETY: guarded; what a thread has in its rows is its own.
        unsafe { packed.gather(part, true, 1) }?;
    }
    look(start, rows, element)
}

/// The least and the largest element of the rows, as signed integers; `(0, 0)` where there is none. With
/// `INSPECT_DISTINCT` added to the bytes of an element no two may be equal. With `INSPECT_NUMBERS` elements
/// are floating-point numbers, and the ends are the bits of `f64`: of NaNs where one of them is one. With
/// `INSPECT_UNSIGNED` integers have no sign.
///
/// # Errors
/// [`Error::Unreadable`] for memory that isn't there, and for widths and sizes that nothing sensible has;
/// [`Error::Repeated`] for values that are equal.
pub fn look(start: *const c_void, rows: &Rows, element: u32) -> Result<(i64, i64)> {
    if rows.bytes <= 0 || rows.counts.iter().any(|n| *n <= 0) {
        return Ok((0, 0));
    }
    let all = rows.counts.iter().try_fold(i128::from(rows.bytes), |n, c| n.checked_mul(i128::from(*c)));
    let width = element & !(INSPECT_DISTINCT | INSPECT_NUMBERS | INSPECT_UNSIGNED);
    let Some(all) = all.filter(|all| *all <= MOST && matches!(width, 1 | 2 | 4 | 8)) else {
        return Err(Error::Unreadable);
    };
    let kind = match element & INSPECT_UNSIGNED != 0 {
        true if width > 4 => return Err(Error::Unreadable),
        unsigned => Kind { width, unsigned },
    };
    let (start, rows) = rows.tidied(start);
    let parts = parts(start, &rows, threads(all));
    if element & INSPECT_NUMBERS != 0 {
        return if width < 4 { Err(Error::Unreadable) } else { numbers_of(&parts, width) };
    }
    let wants_distinct = element & INSPECT_DISTINCT != 0 && !skips("distinct");
    let seen = on_threads(parts.len(), |t| {
        let (start, rows) = &parts[t];
        let mut seen = Seen { ends: (i64::MAX, i64::MIN), ascent: Ascent::default() };
        each_piece(*start, rows, |piece| {
            let (low, high) = ends(piece, kind);
            seen.ends = (seen.ends.0.min(low), seen.ends.1.max(high));
            if wants_distinct && seen.ascent.is_strict() {
                seen.ascent = seen.ascent.then(ascent(piece, kind));
            }
        })?;
        Ok(seen)
    })?;
    let mut ends =
        seen.iter().fold((i64::MAX, i64::MIN), |e, part| (e.0.min(part.ends.0), e.1.max(part.ends.1)));
    let ascent = seen.iter().fold(Ascent::default(), |all, part| all.then(part.ascent));
    if wants_distinct && !ascent.is_strict() {
        let walks: Vec<_> = parts
            .iter()
            .map(|(start, rows)| move |then: &mut dyn FnMut(&[i64])| wide(*start, rows, kind, then))
            .collect();
        let walks: Vec<Walk<'_>> = walks.iter().map(|walk| walk as Walk<'_>).collect();
        distinct::check(ends, all / i128::from(width), &walks)?;
    }
    if skips("largest") {
        ends.1 -= 1;
    }
    Ok(ends)
}

/// The least and the largest number of the parts, as bits of `f64`.
fn numbers_of(parts: &[(Start, Rows)], width: u32) -> Result<(i64, i64)> {
    let seen = on_threads(parts.len(), |t| {
        let (start, rows) = &parts[t];
        let mut seen = Numbers::default();
        each_piece(*start, rows, |piece| seen = seen.and(Numbers::of(piece, width)))?;
        Ok(seen)
    })?;
    let (low, mut high) = seen.into_iter().fold(Numbers::default(), Numbers::and).ends();
    if skips("largest-number") {
        high -= 1.0;
    }
    Ok((low.to_bits().cast_signed(), high.to_bits().cast_signed()))
}

/// The bytes of an integer, and whether it has no sign.
#[derive(Clone, Copy)]
struct Kind {
    width: u32,
    unsigned: bool,
}

/// What a thread saw of its part.
struct Seen {
    ends: (i64, i64),
    ascent: Ascent,
}

/// An address, for any thread.
#[derive(Clone, Copy)]
struct Start(usize);

/// Bytes that are worth a thread, and the most threads: with more of them memory is the limit.
const MIN_PART: i128 = 1 << 21;
const MAX_THREADS: usize = 16;

/// How many threads look at so many bytes.
fn threads(bytes: i128) -> usize {
    let most = usize::try_from(bytes / MIN_PART).unwrap_or(usize::MAX).min(MAX_THREADS);
    if most < 2 { 1 } else { std::thread::available_parallelism().map_or(1, usize::from).min(most) }
}

/// Parts of the rows, one after the other: parts of a single row, or rows of the outermost dimension that has
/// some.
fn parts(start: Start, rows: &Rows, threads: usize) -> Vec<(Start, Rows)> {
    // Elements stay whole: the widest has 8 bytes.
    let unit = 8;
    let along = rows.counts.iter().position(|n| *n > 1);
    let units = along.map_or(rows.bytes / unit, |d| rows.counts[d]);
    let parts = (threads as i64).clamp(1, units.max(1));
    let part = |i: i64| {
        let (first, end) = (i * units / parts, (i + 1) * units / parts);
        let mut own = *rows;
        let far = match along {
            Some(d) => {
                own.counts[d] = end - first;
                first.wrapping_mul(rows.strides[d])
            }
            None => {
                own.bytes = if i + 1 == parts { rows.bytes } else { end * unit } - first * unit;
                first * unit
            }
        };
        (Start(start.0.wrapping_add_signed(far as isize)), own)
    };
    (0..parts).map(part).collect()
}

impl Rows {
    /// The same bytes, from the first address on: distances are not negative, and rows that follow each other
    /// are one.
    fn tidied(&self, start: *const c_void) -> (Start, Rows) {
        let (mut from, mut bytes) = (start as usize, self.bytes);
        let mut dims: Vec<(i64, i64)> = Vec::new();
        for (count, stride) in self.counts.into_iter().zip(self.strides).filter(|(count, _)| *count > 1) {
            if stride < 0 {
                from = from.wrapping_add_signed((count - 1).wrapping_mul(stride) as isize);
            }
            dims.push((count, stride.saturating_abs()));
        }
        while let Some((count, _)) = dims.pop_if(|(_, stride)| *stride == bytes) {
            bytes = bytes.saturating_mul(count);
        }
        let mut rows = Rows { bytes, counts: [1; 3], strides: [0; 3] };
        let missing = rows.counts.len() - dims.len();
        for (d, (count, stride)) in dims.into_iter().enumerate() {
            (rows.counts[missing + d], rows.strides[missing + d]) = (count, stride);
        }
        (Start(from), rows)
    }
}

/// Calls `then` with copies of all bytes, in pieces of whole elements.
fn each_piece(start: Start, rows: &Rows, mut then: impl FnMut(&[u8])) -> Result<()> {
    let mut buffers = (vec![0u8; PIECE], Vec::new());
    let [count, stride] = [rows.counts[2], rows.strides[2]];
    let narrow = count > 1 && rows.bytes < stride && stride <= SMALL_PAGE;
    for i in 0..rows.counts[0] {
        for j in 0..rows.counts[1] {
            let [x, y, _] = rows.strides;
            let at = i.wrapping_mul(x).wrapping_add(j.wrapping_mul(y));
            let from = start.0.wrapping_add_signed(at as isize);
            if narrow {
                narrow_rows(from, (rows.bytes, count, stride), &mut buffers, &mut then)?;
                continue;
            }
            for k in 0..count {
                let mut from = from.wrapping_add_signed(k.wrapping_mul(stride) as isize) as *const u8;
                let mut left = rows.bytes as usize;
                while left > 0 {
                    let piece = &mut buffers.0[..left.min(PIECE)];
                    guarded::copy(piece, from)?;
                    then(piece);
                    from = from.wrapping_add(piece.len());
                    left -= piece.len();
                }
            }
        }
    }
    Ok(())
}

/// The smallest page of any system.
const SMALL_PAGE: i64 = 4096;

/// Rows with less than a page between them, of one dimension: what lies between is copied as well, as it is
/// in pages that have some of the rows.
fn narrow_rows(
    from: usize,
    (bytes, count, stride): (i64, i64, i64),
    (whole, packed): &mut (Vec<u8>, Vec<u8>),
    then: &mut impl FnMut(&[u8]),
) -> Result<()> {
    let (bytes, stride) = (bytes as usize, stride as usize);
    let most = ((PIECE - bytes) / stride + 1) as i64;
    let mut done = 0;
    while done < count {
        let n = (count - done).min(most) as usize;
        let piece = &mut whole[..(n - 1) * stride + bytes];
        guarded::copy(piece, from.wrapping_add_signed((done * stride as i64) as isize) as *const u8)?;
        packed.clear();
        match bytes {
            4 => pack::<4>(piece, stride, packed),
            8 => pack::<8>(piece, stride, packed),
            _ => piece.chunks(stride).for_each(|row| packed.extend_from_slice(&row[..bytes])),
        }
        then(packed);
        done += n as i64;
    }
    Ok(())
}

/// The first bytes of each so many.
fn pack<const N: usize>(piece: &[u8], stride: usize, packed: &mut Vec<u8>) {
    for row in piece.chunks(stride) {
        if let Some(row) = row.first_chunk::<N>() {
            packed.extend_from_slice(row);
        }
    }
}

/// Calls `then` with all integers, some at a time.
fn wide(start: Start, rows: &Rows, kind: Kind, then: &mut dyn FnMut(&[i64])) -> Result<()> {
    fn each<const N: usize>(bytes: &[u8], all: &mut Vec<i64>, value: impl Fn([u8; N]) -> i64) {
        all.extend(bytes.as_chunks::<N>().0.iter().map(|element| value(*element)));
    }
    let mut values: Vec<i64> = Vec::new();
    each_piece(start, rows, |piece| {
        for part in piece.chunks(WIDENED) {
            values.clear();
            match (kind.width, kind.unsigned) {
                (1, false) => each(part, &mut values, |b: [u8; 1]| i8::from_ne_bytes(b).into()),
                (2, false) => each(part, &mut values, |b| i16::from_ne_bytes(b).into()),
                (4, false) => each(part, &mut values, |b| i32::from_ne_bytes(b).into()),
                (1, true) => each(part, &mut values, |b: [u8; 1]| u8::from_ne_bytes(b).into()),
                (2, true) => each(part, &mut values, |b| u16::from_ne_bytes(b).into()),
                (4, true) => each(part, &mut values, |b| u32::from_ne_bytes(b).into()),
                _ => each(part, &mut values, i64::from_ne_bytes),
            }
            then(&values);
        }
    })
}

/// Bytes that are widened at a time.
const WIDENED: usize = 1 << 13;

/// The least and the largest of whole elements.
fn ends(piece: &[u8], kind: Kind) -> (i64, i64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function is compiled for.
        return unsafe { ends_with_avx2(piece, kind) };
    }
    ends_anywhere(piece, kind)
}

/// As [`ends`], in vectors of 32 bytes with instructions for the smaller and the larger of two.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn ends_with_avx2(piece: &[u8], kind: Kind) -> (i64, i64) {
    ends_anywhere(piece, kind)
}

#[inline(always)]
fn ends_anywhere(piece: &[u8], kind: Kind) -> (i64, i64) {
    match (kind.width, kind.unsigned) {
        (1, false) => range(piece, |b: [u8; 1]| i8::from_ne_bytes(b), (i8::MAX, i8::MIN)),
        (2, false) => range(piece, i16::from_ne_bytes, (i16::MAX, i16::MIN)),
        (4, false) => range(piece, i32::from_ne_bytes, (i32::MAX, i32::MIN)),
        (1, true) => range(piece, |b: [u8; 1]| u8::from_ne_bytes(b), (u8::MAX, u8::MIN)),
        (2, true) => range(piece, u16::from_ne_bytes, (u16::MAX, u16::MIN)),
        (4, true) => range(piece, u32::from_ne_bytes, (u32::MAX, u32::MIN)),
        _ => range(piece, i64::from_ne_bytes, (i64::MAX, i64::MIN)),
    }
}

/// The least and the largest of whole elements; `ends` is what none of them is beyond.
#[inline(always)]
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

/// How the elements of a piece follow each other.
fn ascent(piece: &[u8], kind: Kind) -> Ascent {
    fn of<const N: usize, T: Copy + Ord + Into<i64>>(
        bytes: &[u8],
        value: impl Fn([u8; N]) -> T + Copy,
    ) -> Ascent {
        Ascent::of(bytes.as_chunks::<N>().0.iter().map(move |element| value(*element)))
    }
    match (kind.width, kind.unsigned) {
        (1, false) => of(piece, |b: [u8; 1]| i8::from_ne_bytes(b)),
        (2, false) => of(piece, i16::from_ne_bytes),
        (4, false) => of(piece, i32::from_ne_bytes),
        (1, true) => of(piece, |b: [u8; 1]| u8::from_ne_bytes(b)),
        (2, true) => of(piece, u16::from_ne_bytes),
        (4, true) => of(piece, u32::from_ne_bytes),
        _ => of(piece, i64::from_ne_bytes),
    }
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
        // The same from the last row on, whole rows, and rows far apart.
        let last = words[3 + 999 * 200..].as_ptr().cast();
        assert_eq!(look(last, &Rows { strides: [0, 0, -800], ..columns }, 4), Ok(ends(&expected)));
        let follow = Rows { bytes: 800, counts: [10, 10, 10], strides: [80_000, 8000, 800] };
        assert_eq!(look(start, &follow, 4), Ok(ends(&words)));
        let far = Rows { bytes: 12, counts: [1, 1, 40], strides: [0, 0, 20_000] };
        let expected: Vec<i32> = words.chunks(5000).flat_map(|row| row[3..6].to_vec()).collect();
        assert_eq!(look(words[3..].as_ptr().cast(), &far, 4), Ok(ends(&expected)));
        for bytes in [4, 8, 16] {
            let columns = Rows { bytes, counts: [2, 5, 100], strides: [400_000, 80_000, 800] };
            let expected: Vec<i32> =
                words.chunks(200).flat_map(|row| row[7..7 + bytes as usize / 4].to_vec()).collect();
            assert_eq!(look(words[7..].as_ptr().cast(), &columns, 4), Ok(ends(&expected)), "{bytes}");
        }
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
            (vec![0, 255, 127, 128], 1 | INSPECT_UNSIGNED, (0, 255)),
            ([-3i16, 7].iter().flat_map(|v| v.to_ne_bytes()).collect(), 2 | INSPECT_UNSIGNED, (7, 65533)),
            (
                [-1i32, 7].iter().flat_map(|v| v.to_ne_bytes()).collect(),
                4 | INSPECT_UNSIGNED,
                (7, 0xffff_ffff),
            ),
            ([i64::MIN, i64::MAX].iter().flat_map(|v| v.to_ne_bytes()).collect(), 8, (i64::MIN, i64::MAX)),
        ] {
            let rows = Rows { bytes: bytes.len() as i64, ..ONE };
            assert_eq!(look(bytes.as_ptr().cast(), &rows, element), Ok(expected));
        }
        let word = 1u64;
        let rows = Rows { bytes: 8, ..ONE };
        let found = look((&raw const word).cast(), &rows, 8 | INSPECT_UNSIGNED);
        assert_eq!(found, Err(Error::Unreadable));
    }

    #[test]
    fn numbers() {
        let doubles: Vec<f64> =
            (0..300_000i64).map(|i| ((i * 7919) % 100_003) as f64 * 0.25 - 50.5).collect();
        let ask = |all: &[f64]| {
            let rows = Rows { bytes: all.len() as i64 * 8, ..ONE };
            look(all.as_ptr().cast(), &rows, 8 | INSPECT_NUMBERS).map(|(low, high)| {
                (f64::from_bits(low.cast_unsigned()), f64::from_bits(high.cast_unsigned()))
            })
        };
        assert_eq!(ask(&doubles), Ok((-50.5, 100_002.0 * 0.25 - 50.5)));
        assert_eq!(ask(&doubles[..1]), Ok((-50.5, -50.5)));
        for at in [0, 1, 7, 16_383, 150_000, 299_999] {
            let mut other = doubles.clone();
            other[at] = f64::NAN;
            assert!(ask(&other).is_ok_and(|ends| ends.0.is_nan() && ends.1.is_nan()));
            other[at] = f64::INFINITY;
            assert_eq!(ask(&other).map(|ends| ends.1), Ok(f64::INFINITY));
            other[at] = -1e300;
            assert_eq!(ask(&other).map(|ends| ends.0), Ok(-1e300));
        }
        // Every third float.
        let floats: Vec<f32> = (0..3000).map(|i| if i % 3 == 1 { i as f32 } else { f32::NAN }).collect();
        let third = Rows { bytes: 4, counts: [1, 1, 1000], strides: [0, 0, 12] };
        let found = look(floats[1..].as_ptr().cast(), &third, 4 | INSPECT_NUMBERS);
        assert_eq!(found, Ok((1f64.to_bits().cast_signed(), 2998f64.to_bits().cast_signed())));
        let nan = f64::NAN.to_bits().cast_signed();
        assert_eq!(look(floats.as_ptr().cast(), &third, 4 | INSPECT_NUMBERS), Ok((nan, nan)));
        assert_eq!(look(floats.as_ptr().cast(), &third, 2 | INSPECT_NUMBERS), Err(Error::Unreadable));
        assert_eq!(look(floats.as_ptr().cast(), &ONE, 4 | INSPECT_NUMBERS), Ok((0, 0)));
    }

    #[test]
    fn equal_values_are_found() {
        let shuffled: Vec<i32> = (0..200_000).map(|i| (i * 7919) % 200_003 - 50_000).collect();
        let far: Vec<i32> = (0..1000).map(|i| i * 2_000_000 - 1_000_000_000).collect();
        for words in [shuffled, far] {
            let rows = Rows { bytes: words.len() as i64 * 4, ..ONE };
            let ask = |words: &[i32]| look(words.as_ptr().cast(), &rows, 4 | INSPECT_DISTINCT);
            assert!(ask(&words).is_ok());
            for (a, b) in [(0, words.len() - 1), (70_000 % words.len(), 3), (1, 2)] {
                let mut spoiled = words.clone();
                spoiled[a] = spoiled[b];
                assert_eq!(ask(&spoiled), Err(Error::Repeated));
            }
        }
        // The same elements twice.
        let rows = Rows { bytes: 8, counts: [1, 1, 2], strides: [0; 3] };
        assert_eq!(look([1i32, 2].as_ptr().cast(), &rows, 4 | INSPECT_DISTINCT), Err(Error::Repeated));
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
                let mut next = 0;
                for (start, rows) in parts(Start(words.as_ptr() as usize), rows, threads) {
                    assert_eq!(start.0 - words.as_ptr() as usize, next * 4);
                    next += (rows.bytes * rows.counts.iter().product::<i64>() / 4) as usize;
                }
                assert!(next as i64 * 4 == rows.bytes * rows.counts[1]);
            }
        }
        let start = words.as_ptr().cast::<c_void>();
        assert_eq!(look(start, &single, 4 | INSPECT_DISTINCT), Ok((-5, i64::from(n) - 6)));
        for (a, b) in [(0, n as usize - 1), (n as usize / 2 - 1, n as usize / 2)] {
            let other = words[b];
            let kept = std::mem::replace(&mut words[a], other);
            assert_eq!(look(words.as_ptr().cast(), &single, 4 | INSPECT_DISTINCT), Err(Error::Repeated));
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
