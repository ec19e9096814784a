//! The LLVM pass plugin libpollyrs.so
