//! One instance of a statement: its body cloned, its accesses rebuilt. Where elements are is asked of the
//! kernel's [`Storage`](crate::kernel::storage::Storage).

pub(crate) mod call;
pub(crate) mod cell;
pub(crate) mod emit;
pub(crate) mod errno;
pub(crate) mod inner;
mod spread;
pub(crate) mod subregion;
mod team;
