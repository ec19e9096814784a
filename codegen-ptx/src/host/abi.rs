//! Numbers of `runtime/include/pollyrs_rt.h` that the host's code is made with: the version, sizes of
//! structures in 8-byte words, flags.

/// Version of the ABI that the generated code follows.
pub(crate) const VERSION: u32 = 10;

/// The index of a reason that means "ask the run-time library".
pub(crate) const REASON_RUNTIME: u32 = u32::MAX;

/// Flags of `PollyrsKernel`.
pub(crate) const KERNEL_HAS_BARRIER: u32 = 1;
pub(crate) const KERNEL_CHECKED: u32 = 2;
pub(crate) const KERNEL_GRAPH: u32 = 4;
pub(crate) const KERNEL_LATE: u32 = 8;
pub(crate) const KERNEL_PLAIN_SHIFT: u32 = 8;

/// A flag of `PollyrsScop`.
pub(crate) const SCOP_APART: u32 = 1;

/// `PollyrsArray`.
pub(crate) const ARRAY_WORDS: u64 = 13;
/// Dimensions of rows that it has room for.
pub(crate) const ROW_DIMS: usize = 3;
/// Its flags.
pub(crate) const COPY_IN: u32 = 1;
pub(crate) const COPY_OUT: u32 = 2;
pub(crate) const SCRATCH: u32 = 4;
pub(crate) const ROWS: u32 = 8;
pub(crate) const CHANGED: u32 = 16;
pub(crate) const GUARDED: u32 = 64;
pub(crate) const FAULT: u32 = 128;
/// Of arrays that are held; objects have the bits from the shift on.
pub(crate) const HELD: u32 = 32;
pub(crate) const MASK_SHIFT: u32 = 8;
/// Of arrays that are not held.
pub(crate) const OWN: u32 = 256;

/// All objects of a hold.
pub const ALL_OBJECTS: u32 = u32::MAX;

/// `PollyrsPart`.
pub(crate) const PART_WORDS: u64 = 5;

/// What an inspection is given and finds: bytes of a row, and three dimensions of rows; the least and the
/// largest value.
pub(crate) const INSPECTED_WORDS: u64 = 1 + 2 * ROW_DIMS as u64 + 2;
/// Refused where two values are equal.
pub(crate) const INSPECT_DISTINCT: u32 = 256;
/// Elements are floating-point numbers; what is found are doubles.
pub(crate) const INSPECT_NUMBERS: u32 = 512;
/// Of an execution.
pub(crate) const INSPECT_FIRST: u32 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a `#define`, as the header has it.
    fn defined(name: &str) -> Option<u32> {
        let header = include_str!("../../../runtime/include/pollyrs_rt.h");
        let line =
            header.lines().find_map(|l| l.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' '))?;
        let value = line.split_whitespace().next()?.trim_end_matches('u');
        match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        }
    }

    #[test]
    fn the_header_says_the_same() {
        let cases = [
            ("POLLYRS_ABI_VERSION", VERSION),
            ("POLLYRS_REASON_RUNTIME", REASON_RUNTIME),
            ("POLLYRS_KERNEL_HAS_BARRIER", KERNEL_HAS_BARRIER),
            ("POLLYRS_KERNEL_CHECKED", KERNEL_CHECKED),
            ("POLLYRS_KERNEL_GRAPH", KERNEL_GRAPH),
            ("POLLYRS_KERNEL_LATE", KERNEL_LATE),
            ("POLLYRS_KERNEL_PLAIN_SHIFT", KERNEL_PLAIN_SHIFT),
            ("POLLYRS_SCOP_APART", SCOP_APART),
            ("POLLYRS_ARRAY_COPY_IN", COPY_IN),
            ("POLLYRS_ARRAY_COPY_OUT", COPY_OUT),
            ("POLLYRS_ARRAY_SCRATCH", SCRATCH),
            ("POLLYRS_ARRAY_ROWS", ROWS),
            ("POLLYRS_ARRAY_CHANGED", CHANGED),
            ("POLLYRS_ARRAY_GUARDED", GUARDED),
            ("POLLYRS_ARRAY_HELD", HELD),
            ("POLLYRS_ARRAY_MASK_SHIFT", MASK_SHIFT),
            ("POLLYRS_ALL", ALL_OBJECTS),
            ("POLLYRS_ARRAY_FAULT", FAULT),
            ("POLLYRS_ARRAY_OWN", OWN),
            ("POLLYRS_INSPECT_DISTINCT", INSPECT_DISTINCT),
            ("POLLYRS_INSPECT_NUMBERS", INSPECT_NUMBERS),
            ("POLLYRS_INSPECT_FIRST", INSPECT_FIRST),
        ];
        for (name, value) in cases {
            assert_eq!(defined(name), Some(value), "{name}");
        }
    }
}
