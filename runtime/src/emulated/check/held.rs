//! What the checked device remembers of memory that stays on the device between executions
//! ([`crate::activation`]).
//!
//! **Problem.** One execution leaves its results on the device, others use them, and they come back when the
//! program wants them. A mistake of the bookkeeping, or of the compiler that has to say when the program
//! wants them, shows as a wrong value far away.
//!
//! **Solution.** Two bits for each byte of such memory: somebody gave it a value, and a kernel wrote it since
//! it last came back. From these follows that
//!
//! - what program and device both have is the same when an execution uses it; if not, the program wrote it
//!   and nobody said so;
//! - what comes back was written, what was written comes back before the program may use it, and nothing is
//!   copied in over it.

use std::ops::Range;

use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::Span;

const DEFINED: u8 = 1;
const DIRTY: u8 = 2;
/// Another one of several devices has the value.
const ELSEWHERE: u8 = 4;

/// One allocation's bits.
pub struct Shadow {
    bytes: Vec<u8>,
    /// Whether all writes are known: not where kernels used the memory that were not compiled to be checked.
    exact: bool,
    /// The last array that lay here, for messages.
    pub name: String,
}

impl Shadow {
    pub fn new(bytes: usize, exact: bool) -> Shadow {
        Shadow { bytes: vec![if exact { 0 } else { DEFINED }; bytes], exact, name: String::new() }
    }

    fn first(&self, range: Range<usize>, wanted: impl Fn(u8) -> bool) -> Option<usize> {
        range.into_iter().find(|&at| wanted(self.bytes[at]))
    }

    /// Whether all of a part has values.
    pub fn is_defined(&self, range: Range<usize>) -> bool {
        self.first(range, |bits| bits & (DEFINED | ELSEWHERE) != DEFINED).is_none()
    }

    /// The program's values arrive. The result is a byte whose own is lost.
    pub fn copied_in(&mut self, range: Range<usize>) -> Option<usize> {
        let lost = self.dirty(range.clone());
        self.bytes[range].fill(DEFINED);
        lost
    }

    /// The program has another value of a part, and the device's is not asked for.
    pub fn outdated(&mut self, range: Range<usize>) {
        if self.exact {
            self.bytes[range].iter_mut().for_each(|bits| *bits &= !DEFINED);
        }
    }

    /// Whether this device has what the part holds, or another one has.
    pub fn is_here(&mut self, range: Range<usize>, here: bool) {
        self.bytes[range]
            .iter_mut()
            .for_each(|bits| *bits = *bits & !ELSEWHERE | if here { 0 } else { ELSEWHERE });
    }

    /// The same values in a replica, which has some parts of them.
    pub fn replica(&self, parts: &[Span]) -> Shadow {
        let mut bytes = vec![0; self.bytes.len()];
        for &(start, end) in parts {
            let part = start as usize..end as usize;
            for (to, from) in bytes[part.clone()].iter_mut().zip(&self.bytes[part]) {
                *to = from & DEFINED;
            }
        }
        Shadow { bytes, exact: self.exact, name: self.name.clone() }
    }

    /// The part moves to `at` of another allocation.
    pub fn move_to(&mut self, range: Range<usize>, to: &mut Shadow, at: usize) {
        to.bytes[at..at + range.len()].copy_from_slice(&self.bytes[range.clone()]);
        to.exact &= self.exact;
        to.name.clone_from(&self.name);
        self.bytes[range].fill(0);
    }

    /// A kernel wrote a part.
    pub fn wrote(&mut self, range: Range<usize>, defined: bool) {
        self.bytes[range].fill(DIRTY | if defined { DEFINED } else { 0 });
    }

    /// A byte that has to come back.
    pub fn dirty(&self, range: Range<usize>) -> Option<usize> {
        self.first(range, |bits| bits & DIRTY != 0)
    }

    /// A byte of a result that begins at `at`, which comes back although no kernel wrote it.
    pub fn unwritten(&self, at: usize, bytes: u64, shape: &Shape) -> Option<usize> {
        let mut found = None;
        if self.exact && !matches!(shape, Shape::Changed { .. }) {
            each_part(at, bytes, shape, |part| found = found.or(self.first(part, |bits| bits & DIRTY == 0)));
        }
        found
    }

    /// A result is in the program's memory.
    pub fn brought(&mut self, at: usize, bytes: u64, shape: &Shape) {
        each_part(at, bytes, shape, |part| self.bytes[part].iter_mut().for_each(|bits| *bits &= !DIRTY));
    }

    /// A byte that the program has in another version, although it did not say that it wrote it. The part
    /// begins at `at`.
    pub fn disagreement(&self, at: usize, device: &[u8], host: &[u8]) -> Option<usize> {
        let alike = |bits: u8| bits & (DEFINED | DIRTY | ELSEWHERE) == DEFINED;
        let differs = |i: &usize| alike(self.bytes[at + i]) && device[*i] != host[*i];
        (0..device.len()).find(differs)
    }
}

/// The parts of an allocation that a result makes up, which begins at `at`.
fn each_part(at: usize, bytes: u64, shape: &Shape, mut body: impl FnMut(Range<usize>)) {
    let Shape::Rows(Rows { bytes, count, stride }) = *shape else { return body(at..at + bytes as usize) };
    for a in 0..count[0] {
        for b in 0..count[1] {
            for c in 0..count[2] {
                let row = at + (a * stride[0] + b * stride[1] + c * stride[2]) as usize;
                body(row..row + bytes as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shadow: &Shadow) -> String {
        shadow.bytes.iter().map(|bits| ['.', 'd', 'u', 'D'][usize::from(*bits)]).collect()
    }

    #[test]
    fn bits_follow_the_bytes() {
        let mut shadow = Shadow::new(12, true);
        assert_eq!(shadow.copied_in(2..8), None);
        shadow.wrote(4..6, true);
        shadow.wrote(9..10, false);
        assert_eq!(text(&shadow), "..ddDDdd.u..");
        assert_eq!(
            (shadow.is_defined(2..8), shadow.is_defined(1..3), shadow.is_defined(9..10)),
            (true, false, false)
        );
        assert_eq!((shadow.dirty(0..4), shadow.dirty(0..12), shadow.dirty(6..12)), (None, Some(4), Some(9)));
        let rows = Shape::Rows(Rows { bytes: 1, count: [1, 1, 2], stride: [0, 0, 5] });
        assert_eq!((shadow.unwritten(4, 6, &rows), shadow.unwritten(4, 6, &Shape::Dense)), (None, Some(6)));
        assert_eq!(shadow.unwritten(0, 12, &Shape::Changed { element: 1 }), None);
        shadow.brought(4, 6, &rows);
        assert_eq!(text(&shadow), "..ddDDdd....".replace("DDdd.", "dDdd."));
        assert_eq!(shadow.copied_in(3..7), Some(5));
        let mut other = Shadow::new(6, true);
        shadow.wrote(3..4, true);
        shadow.move_to(2..6, &mut other, 1);
        assert_eq!((text(&shadow), text(&other)), ("......dd....".into(), ".dDdd.".into()));
    }

    #[test]
    fn program_and_device_agree_but_for_what_has_to_come_back() {
        let mut shadow = Shadow::new(6, true);
        shadow.copied_in(1..6);
        shadow.wrote(2..3, true);
        let device = [0, 1, 2, 3, 4];
        let table = [([0, 1, 2, 3, 4], None), ([0, 9, 2, 3, 4], Some(1)), ([0, 1, 2, 3, 9], Some(4))];
        for (host, expected) in table {
            // The part begins at byte 1; byte 2 of the memory is the kernel's.
            let differing = shadow.disagreement(1, &device, &host);
            assert_eq!(differing, expected.filter(|&at| at != 1), "{host:?}");
        }
    }

    #[test]
    fn of_unknown_writes_nothing_is_said() {
        let mut shadow = Shadow::new(4, false);
        assert_eq!((shadow.is_defined(0..4), shadow.unwritten(0, 4, &Shape::Dense)), (true, None));
        let mut exact = Shadow::new(4, true);
        shadow.move_to(0..4, &mut exact, 0);
        assert!(!exact.exact);
    }
}
