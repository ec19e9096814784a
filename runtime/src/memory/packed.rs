//! Rows that lie anywhere, as one array.
//!
//! **Problem.** A matrix is a table of pointers (`double **`, a vector of vectors, a member of a structure),
//! and its rows lie where the allocator put them. Kernels and the model want an ordinary array with one
//! distance between rows.
//!
//! **Approach.** The rows get addresses of their own: a range of the address space that this library
//! reserves, in which row `i` begins `pitch` bytes behind row `i - 1`. The program's code never uses these
//! addresses; kernels, books and checks do, as those of any array. Memory is behind them, a staging area:
//! what goes to the device is gathered there first ([`Packed::gather`]); results are stored where the rows
//! are, row by row ([`Packed::store`]). A device's own table of addresses would need a load for each access,
//! and tiles, copies in chunks and stencils want one distance.
//!
//! **Invariants.**
//! * What a loop accesses of a row lies within `columns`; the compiler bounds it, before the loop.
//! * A `Packed` never changes: a table whose entries change is another one. While one table is as it was and
//!   asked for again, it has the same addresses, so that what stays on the device is found again.
//! * No address is given to two of them, ever: an address whose rows are forgotten is known to be one.
//! * Two of them, or one and ordinary memory, are compared by where the rows are ([`clash`]); nothing that is
//!   written is reached in two ways. So are two ranges of one whose rows share memory: executions may touch
//!   a row each.
//!
//! Example: rows of 100 doubles at 4096, 9000 and 5000, of which columns 1 to 98 are accessed: the pitch is
//! 832 bytes; what the device writes to column 5 of row 2 comes back to 5000 + 40.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::base::abi::{Array, Scop};
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::spans::{PAGE, Span, overlaps};
use crate::memory::guarded;
use crate::memory::row_table::{NONE, Rows};

unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        length: usize,
        rights: c_int,
        flags: c_int,
        file: c_int,
        at: c_long,
    ) -> *mut c_void;
}

const PROT_NONE: c_int = 0;
const PROT_READ_WRITE: c_int = 3;
const MAP_PRIVATE: c_int = 2;
const MAP_FIXED: c_int = 0x10;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_NORESERVE: c_int = 0x4000;

/// Bytes of the address space that are reserved, for all tables of the process together.
const RESERVED: u64 = 1 << 45;
/// Rows that need more are left to the program: no device has so much memory.
const MAX_BYTES: u64 = 1 << 40;
/// Rows begin at multiples of this, as far as the size of their elements allows. So what a compiler knows of
/// the alignment of the program's rows holds here too.
const ALIGNMENT: u64 = 64;
/// Tables that a thread remembers. A loop asks for few of them, right before it begins
/// ([`crate::memory::row_table`]).
const REMEMBERED: usize = 64;
/// Answers that are remembered.
const MAX_ANSWERS: usize = 1024;
/// Copies of fewer bytes are not worth a thread of their own.
const MIN_PART: u64 = 1 << 21;

/// The rows of a table, with addresses of their own.
#[derive(Debug)]
pub struct Packed {
    /// The reserved addresses of all rows.
    memory: Span,
    /// The addresses that the program has the rows at.
    rows: Vec<u64>,
    /// The numbers of the rows, in the order of the program's addresses.
    ascending: Vec<u32>,
    /// The accessed bytes of a row: from the first to the one behind the last, counted from the row's
    /// address.
    columns: (i64, i64),
    /// No two rows share memory.
    apart: bool,
    unit: u64,
    pitch: u64,
    /// Bytes ahead of the first row.
    padding: u64,
    /// The address of the table, and the distance of its entries in bytes.
    table: u64,
    step: u64,
}

/// A part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The address among the reserved ones.
    pub at: u64,
    /// The address in the program's memory.
    pub real: u64,
    pub bytes: u64,
}

impl Piece {
    fn span(&self) -> Span {
        (self.real, self.real.saturating_add(self.bytes))
    }
}

/// What a loop asks about a table whose entries begin at `first` and are `step` bytes apart.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub first: u64,
    pub step: u64,
    pub unit: u64,
    pub columns: (i64, i64),
}

/// The first reserved address; 0: none is reserved yet, 1: reserving failed.
static RESERVE: OnceLock<u64> = OnceLock::new();
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Whether two ranges share memory, for those that were asked about before.
type Answers = BTreeMap<(Span, Span), bool>;

thread_local! {
    /// The tables that were used last come last.
    static KNOWN: RefCell<Vec<Arc<Packed>>> = const { RefCell::new(Vec::new()) };
    /// Whether this thread remembers any table.
    static ANY: Cell<bool> = const { Cell::new(false) };
    static ANSWERS: RefCell<Answers> = const { RefCell::new(BTreeMap::new()) };
}

impl Packed {
    fn new(request: &Request, rows: Vec<u64>) -> Option<Packed> {
        let Request { first, step, unit, columns } = *request;
        let padding = u64::try_from(columns.0.checked_neg()?).unwrap_or(0).next_multiple_of(ALIGNMENT);
        let wide = padding.checked_add_signed(columns.1)?;
        if wide > MAX_BYTES || padding > MAX_BYTES {
            return None;
        }
        let pitch = (wide.div_ceil(unit).max(1)..).map(|n| n * unit).take(ALIGNMENT as usize);
        let pitch = pitch.clone().find(|p| p % ALIGNMENT == 0).or_else(|| pitch.clone().next())?;
        let bytes = pitch.checked_mul(rows.len() as u64).filter(|bytes| *bytes <= MAX_BYTES)?;
        let memory = reserve(bytes)?;
        let mut ascending: Vec<u32> = (0..u32::try_from(rows.len()).ok()?).collect();
        ascending.sort_by_key(|&row| rows[row as usize]);
        let mut packed = Packed {
            memory,
            rows,
            ascending,
            columns,
            apart: false,
            unit,
            pitch,
            padding,
            table: first,
            step,
        };
        packed.apart = packed.no_row_meets_another();
        Some(packed)
    }

    /// (There is no memory where a row is missing.)
    fn no_row_meets_another(&self) -> bool {
        let there = self.ascending.iter().filter(|&&row| self.rows[row as usize] != 0);
        let pieces = there.filter_map(|&row| self.piece(row as usize, self.memory)).map(|p| p.span());
        pieces.clone().zip(pieces.skip(1)).all(|(a, b)| a.1 <= b.0)
    }

    /// Whether two of its ranges may be partly the same memory by way of two rows that share some. A range
    /// and itself are not: what one execution writes in it was compared with all of it ([`check`]).
    fn meets_itself(&self, a: Span, b: Span) -> bool {
        !self.apart && a != b && (overlaps(a, b) || meet(&self.by_place(a), &self.by_place(b)))
    }

    /// The reserved address of a row's first byte.
    fn row(&self, number: usize) -> u64 {
        self.memory.0 + self.padding + number as u64 * self.pitch
    }

    /// The range of memory that the table takes.
    fn table(&self) -> Span {
        (self.table, self.table + (self.rows.len() as u64 - 1) * self.step + 8)
    }

    /// The number of the row at which an answer to `request` begins, if this is one.
    fn answers(&self, request: &Request, rows: &[u64]) -> Option<usize> {
        let inside = self.columns.0 <= request.columns.0 && request.columns.1 <= self.columns.1;
        let behind = request.first.checked_sub(self.table)?;
        if !inside
            || self.step != request.step
            || self.unit != request.unit
            || !behind.is_multiple_of(self.step)
        {
            return None;
        }
        let number = (behind / self.step) as usize;
        let end = number.checked_add(rows.len())?;
        (self.rows.get(number..end)? == rows).then_some(number)
    }

    /// A request that this and the other one are parts of, where the tables meet and agree.
    fn hull(&self, request: &Request, rows: &[u64]) -> Option<(Request, Vec<u64>)> {
        let (first, step) = (request.first, self.step);
        let aligned = self.step == request.step
            && self.unit == request.unit
            && first.abs_diff(self.table).is_multiple_of(step);
        let (own_end, end) = (self.table + self.rows.len() as u64 * step, first + rows.len() as u64 * step);
        if !aligned || first > own_end || self.table > end {
            return None;
        }
        let begin = self.table.min(first);
        let count = (own_end.max(end) - begin) / step;
        let entry = |table: u64, rows: &[u64], at: u64| {
            let number = at.checked_sub(table)? / step;
            rows.get(number as usize).copied()
        };
        let mut all = Vec::with_capacity(count as usize);
        for n in 0..count {
            let at = begin + n * step;
            match (entry(self.table, &self.rows, at), entry(first, rows, at)) {
                (Some(old), Some(new)) if old != new => return None,
                (old, new) => all.push(new.or(old)?),
            }
        }
        let columns = (self.columns.0.min(request.columns.0), self.columns.1.max(request.columns.1));
        Some((Request { first: begin, columns, ..*request }, all))
    }

    /// The rows of a range, without what lies between them.
    pub fn pieces(&self, (from, to): Span) -> impl Iterator<Item = Piece> + '_ {
        let number = |at: u64| ((at.max(self.memory.0) - self.memory.0) / self.pitch) as usize;
        let end = if from < to { (number(to - 1) + 1).min(self.rows.len()) } else { 0 };
        (number(from)..end).filter_map(move |row| self.piece(row, (from, to)))
    }

    fn piece(&self, row: usize, (from, to): Span) -> Option<Piece> {
        let begin = self.row(row);
        let start = begin.checked_add_signed(self.columns.0)?.max(from);
        let end = begin.checked_add_signed(self.columns.1)?.min(to);
        let real = self.rows[row].wrapping_add(start.wrapping_sub(begin));
        (start < end).then(|| Piece { at: start, real, bytes: end - start })
    }

    /// The same, by where the program has them.
    fn by_place(&self, range: Span) -> Vec<Span> {
        self.ascending.iter().filter_map(|&row| self.piece(row as usize, range)).map(|p| p.span()).collect()
    }

    /// Brings what the program has in the rows of a range. `guarded`: some of it may not be there.
    ///
    /// # Errors
    /// [`Error::Unreadable`]
    ///
    /// # Safety
    /// Unless guarded, the rows are readable. Nobody else uses the range.
    pub unsafe fn gather(&self, range: Span, guarded: bool, threads: usize) -> Result<()> {
        if guarded {
            let pieces: Vec<Piece> = self.pieces(range).collect();
            // SAFETY: the memory is ours.
            return unsafe { guarded::gather(&pieces) };
        }
        let parts = ((range.1 - range.0) / MIN_PART).clamp(1, threads.max(1) as u64);
        let bound = |i: u64| range.0 + (range.1 - range.0) / parts * i;
        let part = |i: u64| {
            let end = if i + 1 == parts { range.1 } else { bound(i + 1) };
            for Piece { at, real, bytes } in self.pieces((bound(i), end)) {
                let to: *mut u8 = std::ptr::with_exposed_provenance_mut(at as usize);
                // SAFETY: the caller's promise.
                unsafe {
                    to.copy_from_nonoverlapping(
                        std::ptr::with_exposed_provenance(real as usize),
                        bytes as usize,
                    )
                };
            }
        };
        std::thread::scope(|scope| {
            let part = &part;
            let left: Vec<u64> = (1..parts)
                .filter(|&i| std::thread::Builder::new().spawn_scoped(scope, move || part(i)).is_err())
                .collect();
            part(0);
            left.into_iter().for_each(part);
        });
        Ok(())
    }

    /// Stores bytes that belong to some address here to the rows.
    ///
    /// # Safety
    /// The rows are writable there, and no other thread's.
    pub unsafe fn store(&self, at: u64, bytes: &[u8]) {
        for piece in self.pieces((at, at + bytes.len() as u64)) {
            let from = &bytes[(piece.at - at) as usize..][..piece.bytes as usize];
            let to: *mut u8 = std::ptr::with_exposed_provenance_mut(piece.real as usize);
            // SAFETY: the caller's promise.
            unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        }
    }

    /// Whether what is written of a range lies apart from all else that is touched of it, and from the table.
    fn is_apart(&self, touched: Span, written: Span) -> bool {
        let (mut all, mut stored) = (0, 0);
        for &row in &self.ascending {
            let Some(piece) = self.piece(row as usize, touched) else { continue };
            let writes = self.piece(row as usize, written).is_some();
            let (start, end) = piece.span();
            if start < if writes { all } else { stored } || writes && overlaps((start, end), self.table()) {
                return false;
            }
            all = all.max(end);
            stored = if writes { stored.max(end) } else { stored };
        }
        true
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
        let (start, end) = self.memory;
        let at = std::ptr::with_exposed_provenance_mut(start as usize);
        // SAFETY: addresses of this one alone, which nobody uses any more. (If it fails they stay memory.)
        unsafe { mmap(at, (end - start) as usize, PROT_NONE, flags, -1, 0) };
    }
}

/// The reserved addresses.
fn reserved() -> Span {
    let start = RESERVE.get().copied().unwrap_or(0);
    if start > 1 { (start, start + RESERVED) } else { (0, 0) }
}

/// Reserves memory at addresses that were never given to anybody.
fn reserve(bytes: u64) -> Option<Span> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    let start = *RESERVE.get_or_init(|| {
        // SAFETY: new addresses.
        let start = unsafe { mmap(std::ptr::null_mut(), RESERVED as usize, PROT_NONE, flags, -1, 0) };
        if start.addr() == usize::MAX { 1 } else { start.expose_provenance() as u64 }
    });
    // A page between two of them, so that none is a part of another one's range.
    let size = bytes.checked_next_multiple_of(PAGE)? + PAGE;
    let offset = NEXT.fetch_add(size, Ordering::Relaxed);
    if start <= 1 || offset.checked_add(size).is_none_or(|end| end > RESERVED) {
        return None;
    }
    let at = std::ptr::with_exposed_provenance_mut::<c_void>((start + offset) as usize);
    // SAFETY: a part of the reserved addresses that was nobody's.
    let memory = unsafe { mmap(at, (size - PAGE) as usize, PROT_READ_WRITE, flags | MAP_FIXED, -1, 0) };
    (memory == at).then_some((start + offset, start + offset + size - PAGE))
}

/// Gives rows addresses of their own; `rows` are the entries of the table.
pub fn pack(request: &Request, rows: &[u64]) -> Rows {
    let (low, high) = request.columns;
    if rows.is_empty() || low >= high || request.unit == 0 || skips("packed") {
        return NONE;
    }
    KNOWN.with_borrow_mut(|known| {
        let found = known.iter().rposition(|packed| packed.answers(request, rows).is_some());
        let packed = match found {
            Some(at) => known.remove(at),
            None => {
                let hull = known.iter().rev().find_map(|packed| packed.hull(request, rows));
                let whole = hull.and_then(|(request, rows)| Packed::new(&request, rows));
                let Some(packed) = whole.or_else(|| Packed::new(request, rows.to_vec())) else { return NONE };
                forget(known);
                Arc::new(packed)
            }
        };
        let number = packed.answers(request, rows);
        let first = number.map(|number| packed.row(number));
        let pitch = (packed.pitch / packed.unit) as i64;
        known.push(packed);
        ANY.set(true);
        first.map_or(NONE, |first| Rows {
            first: std::ptr::with_exposed_provenance_mut(first as usize),
            pitch,
        })
    })
}

/// Makes room for another table: the oldest ones that nothing refers to are forgotten.
fn forget(known: &mut Vec<Arc<Packed>>) {
    while known.len() >= REMEMBERED {
        let Some(at) = known.iter().position(|packed| Arc::strong_count(packed) == 1) else { return };
        known.remove(at);
    }
}

/// The table that an address belongs to; None for ordinary memory.
pub fn of(address: u64) -> Option<Arc<Packed>> {
    if !ANY.get() {
        return None;
    }
    let inside = |packed: &&Arc<Packed>| (packed.memory.0..packed.memory.1).contains(&address);
    KNOWN.with_borrow(|known| known.iter().rev().find(inside).cloned())
}

/// The parts of the program's memory that a range stands for.
pub fn places(range: Span) -> Vec<Span> {
    of(range.0).map_or_else(|| vec![range], |packed| packed.pieces(range).map(|piece| piece.span()).collect())
}

/// Whether two ranges are partly the same memory under different addresses.
pub fn clash(a: Span, b: Span) -> bool {
    if !ANY.get() {
        return false;
    }
    let (own, other) = (of(a.0), of(b.0));
    match (&own, &other) {
        (None, None) => return false,
        (Some(p), Some(q)) if p.memory == q.memory => return p.meets_itself(a, b),
        _ => {}
    }
    // (Addresses mean the same rows for ever.)
    if let Some(answer) = ANSWERS.with_borrow(|answers| answers.get(&(a, b)).copied()) {
        return answer;
    }
    let places = |packed: &Option<Arc<Packed>>, range| {
        packed.as_ref().map_or_else(|| vec![range], |p| p.by_place(range))
    };
    let answer = meet(&places(&own, a), &places(&other, b));
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.insert((a, b), answer);
    });
    answer
}

/// Whether some range of `a` overlaps some range of `b`; both are sorted by their first addresses.
fn meet(a: &[Span], b: &[Span]) -> bool {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let (mut end_a, mut end_b) = (0, 0);
    loop {
        let first = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => x.0 <= y.0,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return false,
        };
        let (next, end, other) =
            if first { (a.next(), &mut end_a, end_b) } else { (b.next(), &mut end_b, end_a) };
        let Some(&(start, stop)) = next else { return false };
        if start < other {
            return true;
        }
        *end = stop.max(*end);
    }
}

/// The rows of an execution's arrays, for those that have some.
///
/// # Errors
/// [`Error::Forgotten`]; [`Error::SharedRows`] where rows that are written are something else as well. The
/// original loop has to run.
pub fn check(scop: &Scop, arrays: &[Array]) -> Result<Vec<Option<Arc<Packed>>>> {
    let space = reserved();
    if space.1 == 0 {
        return Ok(vec![None; arrays.len()]);
    }
    let memory = |array: &Array| array.is_memory().then_some(array.start as u64);
    let all: Vec<Option<Arc<Packed>>> = arrays.iter().map(|array| of(memory(array)?)).collect();
    for (array, packed) in arrays.iter().zip(&all) {
        let inside =
            |packed: &Arc<Packed>| packed.memory.0 <= array.span().0 && array.span().1 <= packed.memory.1;
        if memory(array).is_some() && overlaps(array.span(), space) && !packed.as_ref().is_some_and(inside) {
            return Err(Error::Forgotten);
        }
    }
    if all.iter().all(Option::is_none) || skips("rows-apart") {
        return Ok(all);
    }
    for (i, a) in arrays.iter().enumerate().filter(|(_, a)| a.is_memory()) {
        let Some((offset, bytes)) = a.out_range() else { continue };
        let written = (a.span().0 + offset, a.span().0 + offset + bytes);
        let overlap =
            |j: usize| Error::SharedRows { a: scop.array_name(i).into(), b: scop.array_name(j).into() };
        if all[i].as_ref().is_some_and(|packed| !packed.is_apart(a.span(), written)) {
            return Err(overlap(i));
        }
        for (j, b) in arrays.iter().enumerate().filter(|(j, b)| *j != i && b.is_memory()) {
            let table = all[j].as_ref().map(|packed| packed.table());
            let in_table =
                |table: Span| clash(written, table) || all[i].is_none() && overlaps(written, table);
            if clash(written, b.span()) || table.is_some_and(in_table) {
                return Err(overlap(j));
            }
        }
    }
    Ok(all)
}

/// Keeps rows for as long as the device holds something of them.
#[derive(Clone, Debug, Default)]
pub struct Pin(Option<Arc<Packed>>);

impl Pin {
    pub fn of(range: Span) -> Pin {
        Pin(of(range.0))
    }
}

impl std::hash::Hash for Pin {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.as_ref().map(|packed| packed.memory).hash(state);
    }
}

#[cfg(test)]
mod tests;
