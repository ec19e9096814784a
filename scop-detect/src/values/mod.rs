//! Statements, and the values that pass between them.

pub(crate) mod effects;
pub(crate) mod loop_carried;
pub(crate) mod operations;
pub(crate) mod read_back;
pub(crate) mod reductions;
pub(crate) mod resolve;
pub(crate) mod schedule;
pub(crate) mod statements;
pub(crate) mod webs;
