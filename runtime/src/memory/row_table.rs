//! Tables of pointers to the rows of a matrix.
//!
//! **Problem.** The compiler has a version of a loop for rows that are equally far apart
//! (`a[i] == a[0] + i * pitch`), and asks before the loop where they are. The part of the table that the loop
//! will read is known as an interval, of which the loop may in the end read nothing.
//!
//! **Solution.** The table is copied as [`crate::memory::guarded`] does, so that what is not there is an
//! answer. Where the rows are equally far apart, that is the answer. If the compiler knows which columns of
//! the rows the loop accesses, rows that lie anywhere get addresses that are ([`crate::memory::packed`]).
//! So do rows between which there is room for those of other tables: where a program allocates the rows of
//! two matrices in turn, all are equally far apart, and the matrices lie in each other. A table of which a
//! loop has once accessed most of what is between two rows is one of a whole matrix, of which other loops
//! access a few columns: it keeps its addresses, and what stays on the device.
//! Invariant: each entry was read, and its row is found where the compiler puts it, or stands for what is
//! there.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;

use crate::base::planted::skips;
use crate::memory::guarded;
use crate::memory::packed::{self, Request};

/// Larger tables are no tables.
const MAX_BYTES: u64 = 1 << 26;
/// Rows four times as far apart as they are long are copied one by one, unless they are short as well.
const SPARSE: i64 = 1 << 12;
/// Rows of more tables in turn are not looked for: a column of a matrix has far shorter parts of rows.
const IN_TURN: i64 = 8;
/// Whole matrices that a thread remembers.
const REMEMBERED: usize = 64;
/// The distance of a single row to the next one.
const ANY_PITCH: i64 = 1 << 30;

/// `PollyrsRows`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Rows {
    pub first: *mut c_void,
    pub pitch: i64,
}

/// More than any row has.
const UNBOUNDED: i64 = 1 << 46;

pub const NONE: Rows = Rows { first: std::ptr::null_mut(), pitch: 0 };

/// The entries of a table, as far as it can be read; nothing is asked of the addresses.
fn entries(first: *const c_void, last: *const c_void, step: i64, words: usize) -> Option<Vec<u8>> {
    let far_enough = step >= 8;
    far_enough.then(|| bytes_of_entries(first, last, step, 8 * words)).flatten()
}

/// The same of entries of any number of bytes.
fn bytes_of_entries(first: *const c_void, last: *const c_void, step: i64, bytes: usize) -> Option<Vec<u8>> {
    let length = (last as u64).checked_sub(first as u64)?;
    let step = u64::try_from(step).ok().filter(|step| *step > 0 && length.is_multiple_of(*step))?;
    if length > MAX_BYTES || step > MAX_BYTES {
        return None;
    }
    let mut table = vec![0u8; length as usize + bytes];
    guarded::copy(&mut table, first.cast()).ok()?;
    Some(table)
}

fn word(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_ne_bytes(bytes.get(..8)?.try_into().ok()?))
}

/// `pollyrs_rt_rows_anywhere`; nothing is asked of the addresses.
pub fn anywhere(
    first: *const c_void,
    last: *const c_void,
    (step, unit): (i64, i64),
    columns: (i64, i64),
) -> Rows {
    let (Some(table), Ok(bytes)) = (entries(first, last, step, 1), u64::try_from(unit)) else { return NONE };
    let found = distances(&table, step as usize, unit);
    let long = columns.1.saturating_sub(columns.0);
    let pitch = found.pitch.saturating_mul(unit);
    let sparse = found.pitch != ANY_PITCH && pitch / 4 > long.max(SPARSE);
    let rows = table.len() as i64 / step;
    if !(found.first.is_null() || sparse || has_room(found, (rows, pitch), long)) {
        return found;
    }
    let rows: Vec<u64> = table.chunks(step as usize).filter_map(word).map(|row| row as u64).collect();
    let first = first.addr() as u64;
    let packed = packed::pack(&Request { first, step: step as u64, unit: bytes, columns }, &rows);
    if packed.first.is_null() { found } else { packed }
}

thread_local! {
    /// From the first to the last row of tables of whole matrices, and the distance of their rows.
    static WHOLE: RefCell<VecDeque<(i64, i64, i64)>> = const { RefCell::new(VecDeque::new()) };
}

/// Whether rows of other tables may lie between those of this one, `pitch` bytes apart, of which a loop
/// accesses `long` bytes each.
fn has_room(found: Rows, (rows, pitch): (i64, i64), long: i64) -> bool {
    if found.first.is_null() || found.pitch == ANY_PITCH || long <= 0 {
        return false;
    }
    let first = found.first.addr() as i64;
    let last = first.saturating_add(pitch.saturating_mul(rows));
    WHOLE.with_borrow_mut(|whole| {
        if pitch / 2 < long {
            if !whole.contains(&(first, last, pitch)) {
                whole.truncate(REMEMBERED - 1);
                whole.push_front((first, last, pitch));
            }
            return false;
        }
        let inside = |&(begin, end, apart): &(i64, i64, i64)| apart == pitch && begin <= first && last <= end;
        pitch / IN_TURN <= long && !whole.iter().any(inside)
    })
}

/// `pollyrs_rt_row_length`: the bytes of rows whose ends stand in a table, `behind` bytes behind their
/// beginnings; -1 if they differ.
pub fn length(first: *const c_void, last: *const c_void, step: i64, behind: i64) -> i64 {
    let beginnings = |place: *const c_void| place.wrapping_byte_sub(behind as usize);
    if !(8..=step - 8).contains(&behind) || behind % 8 != 0 {
        return -1;
    }
    let Some(table) = entries(beginnings(first), beginnings(last), step, behind as usize / 8 + 1) else {
        return -1;
    };
    let mut rows = table.chunks(step as usize).map(|entry| {
        let (begin, end) = (word(entry)?, word(entry.get(behind as usize..)?)?);
        end.checked_sub(begin).filter(|bytes| *bytes >= 0)
    });
    let Some(Some(bytes)) = rows.next() else { return -1 };
    if rows.all(|row| row == Some(bytes)) { bytes } else { -1 }
}

/// `pollyrs_rt_common_length`; nothing is asked of the addresses.
pub fn common(first: *const c_void, last: *const c_void, step: i64) -> i64 {
    let Some(table) = entries(first, last, step, 1) else { return -1 };
    let mut lengths = table.chunks(step as usize).map(word);
    match lengths.next() {
        Some(Some(length)) if length >= 0 && lengths.all(|own| own == Some(length)) => length,
        _ => -1,
    }
}

/// `pollyrs_rt_most`; nothing is asked of the addresses.
pub fn most(first: *const c_void, last: *const c_void, step: i64, bytes: i64) -> i64 {
    let width = match bytes {
        4 | 8 => bytes as usize,
        _ => return UNBOUNDED,
    };
    let far_enough = step >= bytes;
    let table = far_enough.then(|| bytes_of_entries(first, last, step, width)).flatten();
    let number = |entry: &[u8]| {
        let entry = entry.get(..width)?;
        match width {
            4 => Some(i64::from(i32::from_ne_bytes(entry.try_into().ok()?))),
            _ => Some(i64::from_ne_bytes(entry.try_into().ok()?)),
        }
    };
    let Some(table) = table else { return UNBOUNDED };
    table.chunks(step as usize).filter_map(number).max().map_or(UNBOUNDED, |most| most.min(UNBOUNDED))
}

/// `pollyrs_rt_rows_leave`: whether the bytes `columns` of each row lie outside of `place`.
pub fn leave(
    (first, last, step): (*const c_void, *const c_void, i64),
    columns: (i64, i64),
    place: (*const c_void, *const c_void),
) -> bool {
    let (begin, end) = (place.0.addr() as i128, place.1.addr() as i128);
    let (low, high) = (i128::from(columns.0), i128::from(columns.1));
    let apart = |row: u64| i128::from(row) + high <= begin || i128::from(row) + low >= end;
    // What wraps has no order.
    if low > high || begin > end || skips("rows-leave") {
        return skips("rows-leave");
    }
    if step == 0 {
        return apart(first.addr() as u64);
    }
    entries(first, last, step, 1).is_some_and(|table| {
        table.chunks(step as usize).all(|entry| word(entry).is_some_and(|row| apart(row as u64)))
    })
}

/// `pollyrs_rt_rows`; nothing is asked of the addresses.
pub fn look(first: *const c_void, last: *const c_void, step: i64, unit: i64) -> Rows {
    entries(first, last, step, 1).map_or(NONE, |table| distances(&table, step as usize, unit))
}

/// The first row, and how far apart all are, in units.
fn distances(table: &[u8], step: usize, unit: i64) -> Rows {
    let mut rows = table.chunks(step).filter_map(word);
    let Some(start) = rows.next().filter(|_| unit > 0) else { return NONE };
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
    fn the_largest_number_bounds_rows() {
        let of = |table: &[i32], step: i64, bytes: i64| {
            let first: *const c_void = table.as_ptr().cast();
            most(
                first,
                first.wrapping_byte_add(4 * (table.len() - 1) / step as usize * step as usize),
                step,
                bytes,
            )
        };
        assert_eq!(of(&[3, 9, -4, 7], 4, 4), 9);
        assert_eq!(of(&[3, 9, -4, 7], 8, 4), 3);
        assert_eq!(of(&[-3], 4, 4), -3);
        assert_eq!(of(&[5, 1, 6, 0, 7, 0], 8, 8), (1 << 32) + 5);
        assert_eq!(of(&[5, i32::MAX], 8, 8), UNBOUNDED);
        assert_eq!(of(&[3, 9], 2, 4), UNBOUNDED, "entries lie over each other");
        assert_eq!(of(&[3, 9], 4, 2), UNBOUNDED, "no number has so many bytes");
        assert_eq!(most(16 as *const c_void, 32 as *const c_void, 8, 8), UNBOUNDED, "it is not there");
        assert_eq!(most(32 as *const c_void, 16 as *const c_void, 8, 8), UNBOUNDED, "it has no entries");
    }

    #[test]
    fn lengths_are_equal_or_not() {
        let of = |table: &[i64], step: i64| {
            let first: *const c_void = table.as_ptr().cast();
            common(first, first.wrapping_byte_add(8 * (table.len() - 1)), step)
        };
        let table = [
            (vec![7, 7, 7], 8, 7),
            (vec![7, 9, 7], 16, 7),
            (vec![7, 9, 7], 8, -1),
            (vec![-2, -2], 8, -1),
            (vec![0], 8, 0),
        ];
        for (lengths, step, expected) in table {
            assert_eq!(of(&lengths, step), expected, "{lengths:?} by {step}");
        }
        assert_eq!(common(16 as *const c_void, 32 as *const c_void, 8), -1, "it is not there");
        assert_eq!(common(32 as *const c_void, 16 as *const c_void, 8), -1, "it has no entries");
    }

    #[test]
    fn what_is_written_leaves_a_table_or_does_not() {
        let rows = [4096i64, 9000, 5000];
        let first: *const c_void = rows.as_ptr().cast();
        let place = |begin: usize, end: usize| (begin as *const c_void, end as *const c_void);
        let of =
            |columns, begin, end| leave((first, first.wrapping_byte_add(16), 8), columns, place(begin, end));
        let table = [
            ((0, 80), 4176, 5000, true),
            ((0, 80), 4175, 5000, false),
            ((0, 80), 4176, 5001, false),
            ((-8, 80), 4176, 5000, false),
            ((0, 80), 9079, 10000, false),
            ((0, 80), 9080, 10000, true),
            ((8, 0), 20000, 20008, false),
            ((0, 80), 20008, 20000, false),
        ];
        for (columns, begin, end, expected) in table {
            assert_eq!(of(columns, begin, end), expected, "{columns:?} and {begin} to {end}");
        }
        let row = |at: usize| (at as *const c_void, at as *const c_void, 0);
        assert!(
            leave(row(4096), (0, 80), place(4176, 5000)) && !leave(row(4097), (0, 80), place(4176, 5000))
        );
        assert!(!leave((16 as *const c_void, 32 as *const c_void, 8), (0, 8), place(4096, 4104)), "no table");
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
    fn rows_of_tables_that_are_allocated_in_turn_have_room_between_them() {
        let first = |at: usize| std::ptr::without_provenance_mut::<c_void>(at);
        // (first row, rows, pitch, accessed bytes), in this order of questions
        let table = [
            ((4096, 10, 100), 40, true),
            ((4096, 10, 100), 50, true),
            ((4096, 10, 100), 12, true),
            ((4096, 10, 100), 11, false),
            ((4096, 10, 100), 0, false),
            // A whole matrix, and then a part of its columns, and of its rows; another matrix beside it.
            ((4096, 10, 100), 90, false),
            ((4096, 10, 100), 40, false),
            ((4196, 5, 100), 40, false),
            ((4096, 10, 200), 40, true),
            ((9000, 10, 100), 40, true),
            ((4096, 10, ANY_PITCH), 40, false),
            ((0, 10, 100), 40, false),
        ];
        for ((at, rows, pitch), long, expected) in table {
            let found = Rows { first: first(at), pitch };
            assert_eq!(has_room(found, (rows, pitch), long), expected, "{at} {rows} {pitch} {long}");
        }
    }

    #[test]
    fn a_table_that_is_not_there_has_no_rows() {
        let at = |address: usize| std::ptr::without_provenance::<c_void>(address);
        for (first, last) in [(64, 128), (128, 64), (0, 0), (64, 67), (8, usize::MAX - 7)] {
            assert_eq!(look(at(first), at(last), 8, 8), NONE);
        }
    }

    #[test]
    fn rows_between_two_pointers_have_one_length_or_not() {
        for (table, step, behind, expected) in [
            (vec![4096i64, 4176, 0, 9000, 9080, 0, 100, 180, 0], 24, 8, 80),
            (vec![4096, 0, 4176, 9000, 0, 9080], 24, 16, 80),
            (vec![4096, 4176, 0, 9000, 9081, 0], 24, 8, -1),
            (vec![4096, 4088, 0], 24, 8, -1),
            (vec![4096, 4096, 0], 24, 8, 0),
            (vec![4096, 4176], 16, 16, -1),
        ] {
            let first: *const c_void = table.as_ptr().wrapping_byte_add(behind).cast();
            let last = first.wrapping_byte_add((table.len() * 8 / step - 1) * step);
            assert_eq!(length(first, last, step as i64, behind as i64), expected, "{table:?}");
        }
    }
}
