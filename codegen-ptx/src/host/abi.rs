//! Numbers of the C ABI that the host's code is made with, by the names that they have here. `abi/` takes
//! them from `runtime/include/pollyrs_rt.h`.

pub(crate) use pollyrs_abi::{
    ABI_VERSION as VERSION, ARRAY_CHANGED as CHANGED, ARRAY_COPY_IN as COPY_IN, ARRAY_COPY_OUT as COPY_OUT,
    ARRAY_FAULT as FAULT, ARRAY_GUARDED as GUARDED, ARRAY_HELD as HELD, ARRAY_MASK_SHIFT as MASK_SHIFT,
    ARRAY_OWN as OWN, ARRAY_ROWS as ROWS, ARRAY_SCRATCH as SCRATCH, INSPECT_DISTINCT, INSPECT_FIRST,
    INSPECT_NUMBERS, INSPECT_UNSIGNED, KERNEL_CHECKED, KERNEL_GRAPH, KERNEL_HAS_BARRIER, KERNEL_LATE,
    KERNEL_PLAIN_SHIFT, REASON_RUNTIME, ROW_DIMS, SCOP_APART,
};

/// All objects of a hold.
pub use pollyrs_abi::ALL as ALL_OBJECTS;

/// Words of `PollyrsArray` and of `PollyrsPart`.
pub(crate) const ARRAY_WORDS: u64 = pollyrs_abi::ARRAY_WORDS as u64;
pub(crate) const PART_WORDS: u64 = pollyrs_abi::PART_WORDS as u64;

/// What an inspection is given and finds: bytes of a row, and three dimensions of rows; the least and the
/// largest value.
pub(crate) const INSPECTED_WORDS: u64 = 1 + 2 * ROW_DIMS as u64 + 2;
