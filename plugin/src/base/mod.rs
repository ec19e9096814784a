//! What everything else stands on: options, errors, budgets, times, statistics, diagnostics.

pub mod budget;
pub mod error;
pub mod options;
pub mod patterns;
pub mod stage;
pub mod statistics;
pub mod timing;
pub mod trace;
