//! Whole modules as bitcode, to be kept and to be taken again.

use crate::ir::Module;
use crate::sys;

/// The bitcode of a module; `ordered`: with the order of uses, on which what LLVM's passes make of it may
/// depend.
pub fn bitcode(module: Module, ordered: bool) -> Vec<u8> {
    sys::collect(|into| sys::prs_module_bitcode(module, ordered, into, sys::push_bytes))
}

/// Makes a module what this bitcode of [`bitcode`] says, with its triple and data layout. All handles of its
/// functions and globals are stale then. `false`, with nothing done: that is no bitcode, or for another
/// target.
///
/// # Safety
/// No handle of a part of the module is used any more.
pub unsafe fn replace(module: Module, bitcode: &[u8]) -> bool {
    // SAFETY: so many bytes, and the caller's promise.
    unsafe { sys::prs_replace_module(module, bitcode.as_ptr(), bitcode.len()) }
}

/// The names of LLVM's options that were set in this process, ours among them, sorted.
pub fn set_options() -> Vec<String> {
    let mut names = sys::collect_strings(|into| sys::prs_set_options(into, sys::push_string));
    names.sort();
    names
}
