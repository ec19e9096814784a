//! Operations that targets carry out in their own way, and passes over whole kernels: each has a form in
//! kernel IR, one for PTX, and one for the host.

pub(crate) mod bulk;
pub(crate) mod copies;
pub(crate) mod divisors;
pub(crate) mod elements;
pub(crate) mod fast_division;
pub(crate) mod load_hoisting;
pub(crate) mod mma;
pub(crate) mod packed;
pub(crate) mod pinned;
pub(crate) mod predicate;
pub(crate) mod roots;
pub(crate) mod share;
pub(crate) mod shuffle;
pub(crate) mod squares;
pub(crate) mod sum_prefetch;
pub(crate) mod tasks;
pub(crate) mod together;
pub(crate) mod updates;
pub(crate) mod walks;
