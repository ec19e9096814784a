//! What everything else stands on: the C ABI, settings, errors, shapes and spans of memory.

pub mod abi;
pub mod age;
pub mod caller;
pub mod checks;
pub mod config;
pub mod error;
pub mod faults;
pub mod job;
pub mod planted;
pub mod rows;
pub mod settings;
pub mod shape;
pub mod size;
pub mod spans;
pub mod stack;
pub mod why;
