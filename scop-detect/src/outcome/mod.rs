//! The finished SCoP, and whether it is worth its conditions.

pub(crate) mod finish;
pub(crate) mod trivial;
