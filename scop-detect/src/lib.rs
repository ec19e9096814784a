//! Finds SCoPs in LLVM IR
