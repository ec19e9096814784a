//! Where IR comes from in the source, and remarks that say so.

use crate::ir::{Block, Context, Place, Value};
use crate::sys;
use std::fmt;

/// A place in a source file; lines and columns from 1, column 0 where unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLoc {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Which of `-Rpass=`, `-Rpass-missed=`, `-Rpass-analysis=` shows a remark.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    Passed,
    Missed,
    Analysis,
}

/// Of an instruction.
pub fn location(v: Value) -> Option<SourceLoc> {
    read_location(|line, column, into, sink| sys::prs_location(v, line, column, into, sink))
}

/// Of the first instruction of the block that has one.
pub fn block_location(bb: Block) -> Option<SourceLoc> {
    read_location(|line, column, into, sink| sys::prs_block_location(bb, line, column, into, sink))
}

/// Of the function's declaration.
pub fn function_location(f: Value) -> Option<SourceLoc> {
    let f = f.as_function();
    read_location(|line, column, into, sink| sys::prs_function_location(f, line, column, into, sink))
}

/// The user's name of a value: its source variable by debug records, else the name of the global, argument or
/// alloca, of the pointer it was loaded from, or its IR name. `None` if nameless.
pub fn source_name(v: Value) -> Option<String> {
    let (found, name) = sys::collect_bytes(|into| sys::prs_source_name(v, into, sys::push_bytes));
    (found && !name.is_empty()).then_some(name)
}

/// Emits an optimisation remark of pass `pollyrs` about `f`, located at `at`, or else at `f`.
pub fn remark(f: Value, kind: RemarkKind, name: &str, at: Option<Place>, message: &str) {
    let kind = match kind {
        RemarkKind::Passed => 0,
        RemarkKind::Missed => 1,
        RemarkKind::Analysis => 2,
    };
    let f = f.as_function();
    // SAFETY: both texts are passed with their lengths, and copied.
    unsafe { sys::prs_remark(f, kind, name.as_ptr(), name.len(), at, message.as_ptr(), message.len()) }
}

/// Whether a block ends a loop over the columns of rows that a counter was divided into
/// ([`crate::Session::divide_counters`]).
pub fn ends_whole_row(block: Block) -> bool {
    sys::prs_ends_whole_row(block)
}

/// Where [`remark`] puts a remark: of code that was inlined from a language's library, the place in the
/// author's code; of a library's function, where the author's code calls it.
pub fn remark_place(f: Value, at: Option<Place>) -> Option<SourceLoc> {
    let f = f.as_function();
    read_location(|line, column, into, sink| sys::prs_remark_place(f, at, line, column, into, sink))
}

/// The function of a language's library in which the code of a remark is, by the name that the author's code
/// calls at [`remark_place`]; `None` for the author's own code.
pub fn remark_library(f: Value, at: Option<Place>) -> Option<String> {
    let f = f.as_function();
    let (found, name) = sys::collect_bytes(|into| sys::prs_remark_library(f, at, into, sys::push_bytes));
    found.then_some(name)
}

/// Reports an error of the user's to the host, which fails the compilation.
pub fn emit_error(context: Context, message: &str) {
    // SAFETY: the message is passed with its length, and copied.
    unsafe { sys::prs_error(context, message.as_ptr(), message.len()) }
}

/// Reports to the host what its user should know; the compilation goes on.
pub fn emit_warning(context: Context, message: &str) {
    // SAFETY: the message is passed with its length, and copied.
    unsafe { sys::prs_warning(context, message.as_ptr(), message.len()) }
}

/// Takes the flag `contract` from an instruction.
pub fn forbid_contraction(instruction: Value) {
    sys::prs_forbid_contraction(instruction)
}

/// Calls a location function of `sys`.
pub(crate) fn read_location(
    f: impl FnOnce(&mut u32, &mut u32, &mut Vec<u8>, sys::ByteSink) -> bool,
) -> Option<SourceLoc> {
    let (mut line, mut column) = (0, 0);
    let (found, file) = sys::collect_bytes(|into| f(&mut line, &mut column, into, sys::push_bytes));
    found.then_some(SourceLoc { file, line, column })
}
