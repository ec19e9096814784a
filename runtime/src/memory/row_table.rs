//! Tables of pointers to the rows of a matrix.
//!
//! **Problem.** The compiler has a version of a loop for rows that are equally far apart (`a[i] == a[0] + i * pitch`), and asks before the loop whether
//! they are. The part of the table that the loop will read is known as an interval, of which the loop may in the end read nothing.
//!
//! **Solution.** The table is copied as [`crate::memory::guarded`] does, so that what is not there is an answer. Invariant: the answer is yes only if every
//! entry was read and found where the compiler puts its row.

use std::ffi::c_void;

use crate::memory::guarded;

/// Larger tables are no tables.
const MAX_BYTES: u64 = 1 << 26;
/// The distance of a single row to the next one.
const ANY_PITCH: i64 = 1 << 30;

/// `PollyrsRows`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Rows {
    pub first: *mut c_void,
    pub pitch: i64,
}

const NONE: Rows = Rows { first: std::ptr::null_mut(), pitch: 0 };

/// `pollyrs_rt_rows`; nothing is asked of the addresses.
pub fn look(first: *const c_void, last: *const c_void, step: i64, unit: i64) -> Rows {
    let (Ok(step), true) = (usize::try_from(step), unit > 0) else { return NONE };
    let Some(length) = (last as u64).checked_sub(first as u64) else { return NONE };
    if step < 8 || length % step as u64 != 0 || length > MAX_BYTES {
        return NONE;
    }
    let mut table = vec![0u8; length as usize + 8];
    if guarded::copy(&mut table, first.cast()).is_err() {
        return NONE;
    }
    let mut rows =
        table.chunks(step).filter_map(|entry| Some(i64::from_ne_bytes(entry.get(..8)?.try_into().ok()?)));
    let Some(start) = rows.next() else { return NONE };
    let mut before = start;
    let mut distance = None;
    for row in rows {
        let Some(own) = row.checked_sub(before) else { return NONE };
        if *distance.get_or_insert(own) != own {
            return NONE;
        }
        before = row;
    }
    let pitch = match distance {
        None => ANY_PITCH,
        Some(bytes) if bytes > 0 && bytes % unit == 0 => bytes / unit,
        Some(_) => return NONE,
    };
    Rows { first: std::ptr::with_exposed_provenance_mut(start as usize), pitch }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(table: &[i64], step: usize, unit: i64) -> Option<(i64, i64)> {
        let first: *const c_void = table.as_ptr().cast();
        let last = first.wrapping_byte_add(8 * (table.len() - 1) / step * step);
        let found = look(first, last, step as i64, unit);
        (!found.first.is_null()).then_some((found.first as i64, found.pitch))
    }

    #[test]
    fn rows_are_equally_far_apart_or_not() {
        let table = [
            (vec![4096, 4176, 4256], 8, 8, Some((4096, 10))),
            (vec![4096, 4176, 4260], 8, 8, None),
            (vec![4096, 4100, 4104], 8, 8, None),
            (vec![4096, 4100, 4104], 8, 4, Some((4096, 1))),
            (vec![4096, 4000, 3904], 8, 8, None),
            (vec![4096, 4096], 8, 8, None),
            (vec![4096], 8, 8, Some((4096, ANY_PITCH))),
            (vec![0, 80, 160], 8, 8, None),
            (vec![4096, 1, 2, 4176, 5, 6, 4256], 24, 8, Some((4096, 10))),
            (vec![i64::MIN, i64::MAX, 3], 8, 8, None),
        ];
        for (rows, step, unit, expected) in table {
            assert_eq!(of(&rows, step, unit), expected, "{rows:?}");
        }
    }

    #[test]
    fn a_table_that_is_not_there_has_no_rows() {
        let at = |address: usize| std::ptr::without_provenance::<c_void>(address);
        for (first, last) in [(64, 128), (128, 64), (0, 0), (64, 67), (8, usize::MAX - 7)] {
            assert_eq!(look(at(first), at(last), 8, 8), NONE);
        }
    }
}
