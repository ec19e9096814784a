//! Rows of bytes at fixed distances: the part of a larger array that a nest touches.
//!
//! Problem: a nest that works on a window of columns touches little of what lies between its first and its
//! last element. Approach: where the rows are narrow enough, they alone are copied, as planes of rows
//! (`cuMemcpy2D`). The device's memory still has room for all of the range, so that kernels address it as
//! ever; what lies between the rows has no value there, and nobody asks for one.
//!
//! Example: columns 8 .. 24 of rows 0 .. 100 of doubles with 4096 columns: 100 rows of 128 bytes, 32 KiB
//! apart, in one plane; 12,800 bytes in place of 3.2 MB.

/// `count[0] * count[1] * count[2]` rows of `bytes` bytes, `stride` bytes apart along each dimension,
/// outermost first. No count is 0, and they lie inside of a range that fits the address space
/// ([`crate::base::abi::Array::check`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    pub bytes: u64,
    pub count: [u64; 3],
    pub stride: [u64; 3],
}

/// Rows at one distance: what a copy of the driver moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Of its first row.
    pub offset: u64,
    pub rows: u64,
}

/// What rows cost beyond their bytes, in bytes of a large copy at the same cost. Measured on an H200
/// (`bench/notes/021-windows.md`): ordinary memory goes by planes at a fifth of the rate of the ring's copies
/// to the device and at a ninth from it, a row takes 25 ns (as 1,100 bytes at 45 GB/s), a copy some 6 us.
const TIMES: u64 = 9;
const ROW: u64 = 1_100;
const PLANE: u64 = 270_000;
/// The largest distance that the driver takes (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`).
const MAX_STRIDE: u64 = i32::MAX as u64;

impl Rows {
    /// All bytes.
    pub fn total(&self) -> u64 {
        self.bytes * self.number()
    }

    fn number(&self) -> u64 {
        self.count.iter().product()
    }

    /// Whether they ascend, none within another. (Then they are no more bytes than their range.)
    pub fn ascend(&self) -> bool {
        if self.bytes == 0 || self.count.contains(&0) {
            return false;
        }
        let mut extent = Some(self.bytes);
        for d in (0..3).rev() {
            let (count, stride) = (self.count[d], self.stride[d]);
            if count > 1 && extent.is_none_or(|extent| stride < extent) {
                return false;
            }
            let behind = (count - 1).checked_mul(stride);
            extent = extent.and_then(|extent| behind.and_then(|behind| behind.checked_add(extent)));
        }
        extent.is_some()
    }

    /// Whether `other`, which begins so many bytes behind these, lies in them: some of their rows, or parts
    /// of rows.
    pub fn hold(&self, offset: u64, other: &Rows) -> bool {
        if !self.ascend() {
            return false;
        }
        let mut rest = offset;
        for d in 0..3 {
            let first = if self.count[d] > 1 { (rest / self.stride[d]).min(self.count[d] - 1) } else { 0 };
            rest -= first * self.stride[d];
            let same = other.count[d] == 1 || other.stride[d] == self.stride[d];
            if !same || first + other.count[d] > self.count[d] {
                return false;
            }
        }
        rest.checked_add(other.bytes).is_some_and(|end| end <= self.bytes)
    }

    /// The bytes of one copy that takes as long as these do.
    pub fn equivalent(&self) -> u64 {
        if !self.ascend() || self.pitch() > MAX_STRIDE {
            return u64::MAX;
        }
        let (bytes, rows) = (self.total().saturating_mul(TIMES), self.number().saturating_mul(ROW));
        let planes = (self.count[0] * self.count[1]).saturating_mul(PLANE);
        bytes.saturating_add(rows).saturating_add(planes)
    }

    /// From the first byte to the one behind the last.
    pub fn reach(&self) -> u64 {
        let behind = |d: usize| self.count[d].saturating_sub(1).saturating_mul(self.stride[d]);
        (0..3).map(behind).fold(self.bytes, u64::saturating_add)
    }

    /// The distance of rows in a plane.
    pub fn pitch(&self) -> u64 {
        if self.count[2] > 1 { self.stride[2] } else { self.bytes }
    }

    /// The planes, none with more than `most` rows (at least 1).
    pub fn planes(&self, most: u64) -> impl Iterator<Item = Plane> + use<> {
        let Rows { count, stride, .. } = *self;
        let most = most.max(1);
        (0..count[0]).flat_map(move |a| {
            (0..count[1]).flat_map(move |b| {
                (0..count[2].div_ceil(most)).map(move |part| {
                    let first = part * most;
                    Plane {
                        offset: a * stride[0] + b * stride[1] + first * stride[2],
                        rows: most.min(count[2] - first),
                    }
                })
            })
        })
    }

    /// Which of `n` bytes are in a row.
    pub fn among(&self, n: usize) -> Vec<bool> {
        let mut among = vec![false; n];
        self.offsets().for_each(|at| among[at as usize..][..self.bytes as usize].fill(true));
        among
    }

    /// The parts of rows between two offsets, each from its first byte to the one behind its last.
    pub fn meet(&self, (start, end): (u64, u64), mut body: impl FnMut(u64, u64)) {
        let Rows { bytes, count, stride } = *self;
        // What one row of each dimension spans.
        let plane = [
            (count[1].max(1) - 1) * stride[1] + (count[2].max(1) - 1) * stride[2] + bytes,
            (count[2].max(1) - 1) * stride[2] + bytes,
            bytes,
        ];
        for a in meeting(start, end, 0, count[0], stride[0], plane[0]) {
            let base = a * stride[0];
            for b in meeting(start, end, base, count[1], stride[1], plane[1]) {
                let base = base + b * stride[1];
                for c in meeting(start, end, base, count[2], stride[2], plane[2]) {
                    let row = base + c * stride[2];
                    let (first, last) = (row.max(start), (row + bytes).min(end));
                    if first < last {
                        body(first, last);
                    }
                }
            }
        }
    }

    /// Where the rows begin.
    pub fn offsets(&self) -> impl Iterator<Item = u64> + use<> {
        self.planes(1).map(|plane| plane.offset)
    }
}

/// The indices `i` below `count` for which `base + i * stride .. + extent` meets `start .. end`.
pub fn meeting(
    start: u64,
    end: u64,
    base: u64,
    count: u64,
    stride: u64,
    extent: u64,
) -> std::ops::Range<u64> {
    if base >= end || count == 0 {
        return 0..0;
    }
    if stride == 0 {
        return if base + extent > start { 0..count } else { 0..0 };
    }
    let first = if base + extent > start { 0 } else { (start - base - extent) / stride + 1 };
    first..count.min((end - base).div_ceil(stride))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_rows() {
        let rows = |bytes, count, stride| Rows { bytes, count, stride };
        let table = rows(80, [1, 1, 10], [0, 0, 100]);
        let boxes = rows(16, [3, 4, 5], [10_000, 1000, 100]);
        for (outer, offset, inner, expected) in [
            (table, 0, table, true),
            (table, 108, rows(72, [1, 1, 9], [0, 0, 100]), true),
            (table, 100, table, false),
            (table, 108, rows(73, [1, 1, 9], [0, 0, 100]), false),
            (table, 0, rows(80, [1, 1, 5], [0, 0, 200]), false),
            (table, 950, rows(30, [1, 1, 1], [0, 0, 0]), true),
            (table, 1000, rows(8, [1, 1, 1], [0, 0, 0]), false),
            (table, 85, rows(8, [1, 1, 1], [0, 0, 0]), false),
            (boxes, 11_104, rows(12, [2, 3, 4], [10_000, 1000, 100]), true),
            (boxes, 11_104, rows(12, [2, 3, 5], [10_000, 1000, 100]), false),
            (boxes, 21_104, rows(12, [2, 3, 4], [10_000, 1000, 100]), false),
            (rows(80, [1, 1, 10], [0, 0, 50]), 0, rows(8, [1, 1, 2], [0, 0, 50]), false), // overlap
        ] {
            assert_eq!(outer.hold(offset, &inner), expected, "{outer:?} {offset} {inner:?}");
        }
    }

    #[test]
    fn planes_and_offsets() {
        let rows = Rows { bytes: 8, count: [1, 2, 5], stride: [0, 1000, 100] };
        assert_eq!((rows.total(), rows.pitch()), (80, 100));
        let offsets: Vec<u64> = rows.offsets().collect();
        assert_eq!(offsets, [0, 100, 200, 300, 400, 1000, 1100, 1200, 1300, 1400]);
        let planes: Vec<(u64, u64)> = rows.planes(3).map(|plane| (plane.offset, plane.rows)).collect();
        assert_eq!(planes, [(0, 3), (300, 2), (1000, 3), (1300, 2)]);
        assert_eq!(rows.planes(100).count(), 2);
        let one = Rows { bytes: 8, count: [1, 1, 1], stride: [0, 0, 0] };
        assert_eq!((one.pitch(), one.offsets().count()), (8, 1));
    }

    #[test]
    fn narrow_rows_are_worth_it() {
        // (columns of 4096 doubles, rows, worth it)
        for (columns, count, expected) in
            [(1, 4096, true), (64, 4096, true), (256, 4096, true), (512, 4096, false), (16, 4, false)]
        {
            let rows = Rows { bytes: 8 * columns, count: [1, 1, count], stride: [0, 0, 8 * 4096] };
            let range = (count - 1) * 8 * 4096 + 8 * columns;
            assert_eq!(rows.equivalent() < range, expected, "{columns} {count}: {}", rows.equivalent());
        }
        for (count, stride) in [
            ([1, 1, 4], [0, 0, 1 << 32]),
            ([1, 1, 4], [0, 0, 4]),
            ([1, 2, 4], [0, 30, 10]),
            ([1 << 40, 1, 1], [0, 0, 0]),
            ([u64::MAX, 2, 4], [u64::MAX, 100, 10]),
        ] {
            assert_eq!(Rows { bytes: 8, count, stride }.equivalent(), u64::MAX, "{count:?} {stride:?}");
        }
    }
}
