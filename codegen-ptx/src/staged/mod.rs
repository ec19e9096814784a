//! Kernels whose threads go through their schedule one element after the other: windows of shared memory,
//! groups of instances, cells in registers.

pub(crate) mod boxes;
pub(crate) mod carried;
pub(crate) mod counted;
pub(crate) mod counters;
pub(crate) mod element;
pub(crate) mod groups;
pub(crate) mod prefetch;
pub(crate) mod promotion;
pub(crate) mod registers;
pub(crate) mod state;
pub(crate) mod storage;
pub(crate) mod stores;
pub(crate) mod update;
pub(crate) mod window;
