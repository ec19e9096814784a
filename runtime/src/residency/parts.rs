//! Which bytes an array of an execution touches, as far as that is known, and whether arrays are apart.
//!
//! Problem: members of structures are arrays whose ranges lie in each other but whose bytes do not, and two
//! pointers to one block of memory are arrays whose bytes are the same although their types differ. Approach:
//! rows are compared by where they lie in their common distance: members at bytes 0 .. 8 and 12 .. 13 of 16
//! never meet.

use crate::base::abi::{Array, Scop};
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::{Span, overlaps};

use super::dirty::Dirty;

/// Rows that are looked at one by one.
const MAX_ROWS: u64 = 4096;

/// Some bytes: rows, or any of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    pub span: Span,
    /// The first one begins with the range.
    rows: Option<Rows>,
    /// All of these bytes are meant, not only some of them.
    exact: bool,
}

impl Part {
    /// What is touched of an array.
    pub fn touched(array: &Array) -> Part {
        let rows = array.window();
        Part { span: array.span(), rows, exact: rows.is_some() }
    }

    /// What is written.
    pub fn written(array: &Array) -> Option<Part> {
        let result = Dirty::of(array)?;
        let rows = match result.shape {
            Shape::Rows(rows) => Some(rows),
            _ => None,
        };
        let exact = !matches!(result.shape, Shape::Changed { .. });
        Some(Part { span: result.span(), rows, exact })
    }

    /// Whether it is known that they share no byte.
    pub fn is_apart_from(&self, other: &Part) -> bool {
        if !overlaps(self.span, other.span) {
            return true;
        }
        self.lies_between(other) || self.meeting(other) == Some(false)
    }

    /// Whether the rows of both lie apart in their common distance.
    fn lies_between(&self, other: &Part) -> bool {
        let (Some(a), Some(b)) = (self.rows, other.rows) else { return false };
        let strides = |rows: Rows| {
            rows.count.into_iter().zip(rows.stride).filter(|(count, _)| *count > 1).map(|(_, stride)| stride)
        };
        let common = strides(a).chain(strides(b)).fold(0, greatest_common_divisor);
        if common == 0 || a.bytes >= common || b.bytes >= common {
            return false;
        }
        // How far behind the one the other begins, both rows round the common distance.
        let behind = (other.span.0 % common + common - self.span.0 % common) % common;
        behind >= a.bytes && behind + b.bytes <= common
    }

    /// Whether it is known that they share a byte.
    fn meets(&self, other: &Part) -> bool {
        overlaps(self.span, other.span) && self.meeting(other) == Some(true)
    }

    /// Whether they share a byte, looking at all rows; None: not known.
    fn meeting(&self, other: &Part) -> Option<bool> {
        let (mut a, mut b) = (self.runs()?.into_iter().peekable(), other.runs()?.into_iter().peekable());
        while let (Some(&x), Some(&y)) = (a.peek(), b.peek()) {
            if overlaps(x, y) {
                return Some(true);
            }
            if x.1 <= y.0 {
                a.next()
            } else {
                b.next()
            };
        }
        Some(false)
    }

    /// The ranges that it consists of, ascending, if they are known and not too many.
    fn runs(&self) -> Option<Vec<Span>> {
        let run = |start: u64, bytes: u64| (start, start + bytes);
        match self.rows {
            _ if !self.exact => None,
            None => Some(vec![self.span]),
            Some(rows) => {
                let few = rows.ascend()
                    && rows.count.iter().try_fold(1, |n: u64, c| n.checked_mul(*c))? <= MAX_ROWS;
                few.then(|| rows.offsets().map(|offset| run(self.span.0 + offset, rows.bytes)).collect())
            }
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What an array of the execution under way does with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Use {
    pub touched: Part,
    pub written: Option<Part>,
}

impl Use {
    pub fn of(array: &Array) -> Use {
        Use { touched: Part::touched(array), written: Part::written(array) }
    }

    /// Whether the two may lie in the same memory: nothing that the one writes is touched by the other.
    ///
    /// Where both are written, no byte that the one writes is accessed through the other, by the execution's
    /// promise; so it is enough that what they write is apart, and what comes back with it.
    pub fn is_apart_from(&self, other: &Use) -> bool {
        let from = |written: &Option<Part>, touched: &Part| written.is_none_or(|w| w.is_apart_from(touched));
        match (&self.written, &other.written) {
            (Some(a), Some(b)) => a.is_apart_from(b),
            _ => from(&self.written, &other.touched) && from(&other.written, &self.touched),
        }
    }
}

/// Whether arrays of an execution are as the interface wants them: what one writes is not another's, unless
/// that is only read and may be the same array. The library compares addresses, whatever the compiler knew of
/// types.
///
/// # Errors
/// [`Error::Overlap`]: the original loop has to run.
pub fn check_apart(scop: &Scop, arrays: &[Array]) -> Result<()> {
    if skips("retyped") {
        return Ok(());
    }
    for (i, a) in arrays.iter().enumerate().filter(|(_, a)| a.is_memory()) {
        let Some(written) = Part::written(a) else { continue };
        for (j, b) in arrays.iter().enumerate().filter(|(j, b)| *j != i && b.is_memory()) {
            if !overlaps(written.span, b.span()) {
                continue;
            }
            let wrong = match Part::written(b) {
                // Each pair once.
                Some(_) if j < i => false,
                Some(other) => written.meets(&other) || scop.is_apart() && !written.is_apart_from(&other),
                None => scop.is_apart() && !written.is_apart_from(&Part::touched(b)),
            };
            if wrong {
                return Err(Error::Overlap { a: scop.array_name(i).into(), b: scop.array_name(j).into() });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::{
        ARRAY_CHANGED, ARRAY_COPY_IN, ARRAY_COPY_OUT, ARRAY_SCRATCH, ARRAY_WINDOW, SCOP_APART,
    };

    fn part(start: u64, bytes: u64, count: u64, stride: u64) -> Part {
        let rows = Rows { bytes, count: [1, 1, count], stride: [0, 0, stride] };
        Part { span: (start, start + (count - 1) * stride + bytes), rows: Some(rows), exact: true }
    }

    fn whole(start: u64, end: u64) -> Part {
        Part { span: (start, end), rows: None, exact: true }
    }

    #[test]
    fn members_of_structures_are_apart() {
        for (a, b, apart, meet) in [
            (whole(0, 10), whole(10, 20), true, false),
            (whole(0, 11), whole(10, 20), false, true),
            // Members of structures of 16 bytes.
            (part(1000, 8, 10, 16), part(1008, 4, 10, 16), true, false),
            (part(1000, 8, 10, 16), part(1012, 1, 7, 16), true, false),
            (part(1000, 8, 10, 16), part(1007, 1, 7, 16), false, true),
            (part(1012, 4, 10, 16), part(1000, 8, 10, 16), true, false),
            (part(1012, 5, 10, 16), part(1000, 8, 10, 16), false, true),
            // One of them from the third structure on, and every second of them.
            (part(1000, 8, 10, 16), part(1012 + 48, 1, 7, 32), true, false),
            (part(1000, 8, 10, 24), part(1008, 8, 10, 16), false, true),
            // Rows and what lies between all of them, and another distance.
            (part(0, 8, 10, 16), whole(0, 100), false, true),
            (part(0, 8, 2, 16), whole(8, 16), true, false),
            (part(0, 16, 10, 16), part(0, 4, 10, 16), false, true),
        ] {
            assert_eq!((a.is_apart_from(&b), a.meets(&b)), (apart, meet), "{a:?} {b:?}");
            assert_eq!((b.is_apart_from(&a), b.meets(&a)), (apart, meet), "{b:?} {a:?}");
        }
        // Planes of rows: columns of two matrices in one.
        let rows = |columns: u64| Rows { bytes: columns * 8, count: [1, 5, 10], stride: [0, 10 * 320, 320] };
        let columns = |at: u64, n: u64| Part {
            span: (8 * at, 8 * at + 4 * 3200 + 9 * 320 + 8 * n),
            rows: Some(rows(n)),
            exact: true,
        };
        assert!(
            columns(0, 20).is_apart_from(&columns(20, 20)) && !columns(0, 21).is_apart_from(&columns(20, 20))
        );
        // Of some of a range nothing is known.
        let some = Part { exact: false, ..whole(0, 100) };
        assert!(!some.meets(&whole(0, 100)) && !some.is_apart_from(&whole(50, 60)));
    }

    #[test]
    fn arrays_of_an_execution_are_compared_by_address() {
        let array = |start: usize, bytes: u64, flags: u32| Array {
            start: std::ptr::without_provenance_mut(start),
            bytes,
            bias: 0,
            out_offset: 0,
            out_bytes: bytes,
            flags,
            element_bytes: 1,
            row_bytes: 1,
            row_count: [1, 1, bytes.div_ceil(4)],
            row_stride: [0, 0, 4],
        };
        let (read, write) = (ARRAY_COPY_IN, ARRAY_COPY_OUT);
        let (member, sparse) = (write | ARRAY_WINDOW, read | write | ARRAY_CHANGED);
        let scratch = write | ARRAY_SCRATCH;
        // Whether the compiler says that nothing overlaps, the arrays, whether they are as it says.
        for (apart, arrays, fine) in [
            (true, [array(100, 40, write), array(140, 40, read)], true),
            (true, [array(100, 40, write), array(120, 40, read)], false),
            (true, [array(120, 40, read), array(100, 40, write)], false),
            // One array, where reads see nothing that is stored.
            (false, [array(100, 40, write), array(100, 40, read)], true),
            // The same bytes come back of both.
            (false, [array(100, 40, write), array(139, 40, write)], false),
            (false, [array(100, 41, member), array(100, 41, member)], false),
            (true, [array(100, 41, member), array(101, 41, member)], true),
            (true, [array(100, 41, member), array(102, 33, read)], false),
            // Some of a range.
            (false, [array(100, 40, sparse), array(110, 10, write)], true),
            (true, [array(100, 40, sparse), array(110, 10, write)], false),
            (true, [array(100, 40, read), array(100, 40, read)], true),
            (true, [array(100, 40, scratch), array(100, 40, write)], true),
            (true, [array(100, 40, write), array(110, 0, write)], true),
        ] {
            let scop = Scop {
                abi_version: 9,
                flags: if apart { SCOP_APART } else { 0 },
                name: std::ptr::null(),
                at: std::ptr::null(),
                n_kernels: 0,
                n_images: 0,
                kernels: std::ptr::null(),
                images: std::ptr::null(),
                n_reasons: 0,
                n_arrays: 2,
                reasons: std::ptr::null(),
                array_names: std::ptr::null(),
                cache: std::ptr::null_mut(),
            };
            assert_eq!(check_apart(&scop, &arrays).is_ok(), fine, "{apart} {arrays:?}");
        }
    }
}
