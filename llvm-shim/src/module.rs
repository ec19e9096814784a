//! Whole modules as bitcode, to be kept and to be taken again.

use crate::{LLVMModuleRef, sys};

/// The bitcode of a module; `ordered`: with the order of uses, on which what LLVM's passes make of it may
/// depend.
pub fn bitcode(module: LLVMModuleRef, ordered: bool) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    // SAFETY: a live module; the sink is `push_bytes` on a context of its own.
    unsafe { sys::prs_module_bitcode(module, ordered, (&raw mut bytes).cast(), sys::push_bytes) }
    bytes
}

/// Makes a module what this bitcode of [`bitcode`] says, with its triple and data layout. All handles of its
/// functions and globals are stale then. `false`, with nothing done: that is no bitcode, or for another
/// target.
pub fn replace(module: LLVMModuleRef, bitcode: &[u8]) -> bool {
    // SAFETY: a live module; the bytes are read during the call only.
    unsafe { sys::prs_replace_module(module, bitcode.as_ptr(), bitcode.len()) }
}

/// The names of LLVM's options that were set in this process, ours among them, sorted.
pub fn set_options() -> Vec<String> {
    // SAFETY: the sink has its own context.
    let mut names = sys::collect_strings(|ctx| unsafe { sys::prs_set_options(ctx, sys::push_string) });
    names.sort();
    names
}
