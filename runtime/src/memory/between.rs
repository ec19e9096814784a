//! What lies between the rows of a table, for `POLLYRS_RT_CHECK`.
//!
//! **Problem.** Rows that are equally far apart are one array, from the first to the last. If they are blocks
//! of a heap, what is between two of them is no row: a block of another owner, the library among them, or
//! nobody's. It may change at any time; the checked device, which compares whole arrays with the program's,
//! took that for a mistake.
//!
//! **Solution.** Where rows were found so, that is noted. Of arrays in such places only what kernels read is
//! compared.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::memory::row_table::Rows;

/// Older ones are forgotten: then arrays are compared as a whole.
const MOST: usize = 64;

static PLACES: Mutex<VecDeque<(u64, u64)>> = Mutex::new(VecDeque::new());

/// So many rows were found, in units of so many bytes.
pub fn note(rows: Rows, count: u64, unit: i64) {
    let bytes = u64::try_from(rows.pitch.saturating_mul(unit)).unwrap_or(0).saturating_mul(count);
    if rows.first.is_null() || count < 2 || bytes == 0 {
        return;
    }
    let first = rows.first.addr() as u64;
    let place = (first, first.saturating_add(bytes));
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    if places.contains(&place) {
        return;
    }
    if places.len() == MOST {
        places.pop_front();
    }
    places.push_back(place);
}

/// Whether something of the range may be between rows.
pub fn reaches(start: u64, bytes: u64) -> bool {
    let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    places.iter().any(|(from, to)| start < *to && *from < start.saturating_add(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_rows() {
        let rows = |first: usize, pitch| Rows { first: std::ptr::without_provenance_mut(first), pitch };
        // Addresses that nobody has.
        let first = 1usize << 60;
        note(rows(first, 10), 3, 8);
        note(rows(0, 10), 3, 8);
        note(rows(first + 4096, 10), 1, 8);
        note(rows(first + 8192, -1), 3, 8);
        let of = |from: u64, bytes: u64| reaches(first as u64 + from, bytes);
        assert!(of(0, 8) && of(239, 1) && of(232, 1000) && reaches(first as u64 - 8, 9));
        assert!(!of(240, 8) && !reaches(first as u64 - 8, 8) && !of(4096, 100) && !of(8192, 100));
    }
}
