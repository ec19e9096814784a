//! The program's memory as the kernel sees it: what can be read, what was written, what has two addresses.

pub mod between;
mod distinct;
pub mod grouped;
pub mod guarded;
pub mod inspect;
pub mod mappings;
mod numbers;
pub mod packed;
pub mod row_table;
pub mod written;
