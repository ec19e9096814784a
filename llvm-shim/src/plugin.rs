//! Registration of module passes with the host's pass builder, and the host's command-line options.

use crate::ir::Module;
use crate::sys;
use std::ffi::{CStr, c_void};

/// Runs a pass: module, stage number, parameter text (`a;b=c` of `name<a;b=c>`); returns whether the module
/// changed. Must not unwind.
pub type PassEntry = extern "C" fn(Module, u32, *const u8, usize) -> bool;

/// A module pass by name.
#[derive(Copy, Clone, Debug)]
pub struct RegisteredPass {
    /// As in `-passes=NAME`; `NAME<…>` is accepted too.
    pub name: &'static CStr,
    /// Handed to the [`PassEntry`].
    pub stage: u32,
    /// Also runs at the start of the pipelines O1, O2, O3, Os, Oz; there a module that it changed once is
    /// left alone.
    pub pipeline_start: bool,
    /// Runs at the start of the pipeline O0.
    pub unoptimized: bool,
}

/// Makes the passes known to the pass builder that the host handed to the plugin's registration callback.
///
/// # Safety
/// `pass_builder` is the `llvm::PassBuilder *` of that callback.
pub unsafe fn register_passes(pass_builder: *mut c_void, passes: &[RegisteredPass], entry: PassEntry) {
    let records: Vec<sys::PassRecord> = passes
        .iter()
        .map(|p| sys::PassRecord {
            name: p.name.as_ptr(),
            stage: p.stage,
            pipeline_start: u32::from(p.pipeline_start),
            unoptimized: u32::from(p.unoptimized),
        })
        .collect();
    // SAFETY: the caller vouches for the builder; C++ copies the records; names are static.
    unsafe { sys::prs_register_passes(pass_builder, records.as_ptr(), records.len(), entry) }
}

/// `(name without "pollyrs-", value)` of every option given with `-mllvm -pollyrs-…`, sorted by name; flags
/// have the value `true` or `false`.
pub fn host_options() -> Vec<(String, String)> {
    let texts = sys::collect_strings(|into| sys::prs_host_options(into, sys::push_string));
    let mut options: Vec<_> = texts
        .iter()
        .map(|t| {
            let (name, value) = t.split_once('=').unwrap_or((t, "true"));
            (name.to_owned(), value.to_owned())
        })
        .collect();
    options.sort();
    options
}
