//! The LLVM pass plugin `libpollyrs.so`: entry point, passes, options.
//!
//! **Problem.** One shared library serves opt, clang, flang and rustc. It must load into each, find its
//! options where the host can give any, run early in the pipeline, and never take the host down.
//!
//! **Invariants.**
//! - LLVM's symbols come from the host: nothing of LLVM is linked in.
//! - No panic crosses [`entry`]; after one the module is valid, working copies are gone, the rest is as it
//!   was.
//! - The plugin does nothing at `-O0` but say so in remarks, to modules for other machines than 64-bit x86
//!   and ARM, or twice to one module.
//! - Options are parsed once a run, into one [`base::options::Options`] value, which is passed down.
//!
//! **Passes.** `pollyrs` (also at the start of the pipelines O1 to Oz), `print<pollyrs-detect>`, `-scop`,
//! `-deps`, `-schedule`, `-mapping`, `-kernel`, `-ptx`, `-host` (each runs all stages before it and prints to
//! standard error), `pollyrs-canonicalise` (only the preparation), `pollyrs-unoptimized` (a remark alone, at
//! the start of the pipeline O0), and for tests `pollyrs-test-version`, `-largest` and `-innermost`.
//! Parameters: `pollyrs<tile=32x8;arch=sm_90>`, `print<pollyrs-deps;budget=100000>`.

mod base;
mod commit;
mod compiled;
mod details;
mod device;
mod driver;
mod entry;
mod ir;
mod outcome;
mod pipeline;
mod prepare;
mod remarks;
mod residency;
mod run;
mod search;
mod selftest;
mod switches;
#[cfg(test)]
mod testing;
