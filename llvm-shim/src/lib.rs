//! LLVM analyses and passes for Rust: sys, owned snapshots, safe functions
