//! The kernels of a mapped SCoP.

pub(crate) mod apart;
pub(crate) mod arguments;
pub(crate) mod build;
pub(crate) mod entry;
