//! Which bytes of a range are written.

use crate::base::rows::Rows;

/// Which bytes of a written range are stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// All.
    Dense,
    /// Rows, the first of which begins with the range.
    Rows(Rows),
    /// The elements of this many bytes that differ from the snapshot.
    Changed { element: u64 },
}

impl Shape {
    /// Why the shape is wrong for a range of `bytes` bytes, if it is.
    pub fn check(&self, range: u64) -> Option<&'static str> {
        let Shape::Rows(Rows { bytes, count, stride }) = *self else { return None };
        if count.contains(&0) {
            return (range != 0).then_some("comes back in no rows");
        }
        let last =
            count.iter().zip(stride).try_fold(bytes, |sum, (n, s)| sum.checked_add((n - 1).checked_mul(s)?));
        (last.is_none_or(|end| end > range)).then_some("comes back in rows beyond its written range")
    }
}
