//! Where IR comes from in the source, and remarks that say so.

use crate::{LLVMBasicBlockRef, LLVMContextRef, LLVMMetadataRef, LLVMValueRef, sys};
use inkwell::llvm_sys::core::LLVMIsAInstruction;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use std::ffi::c_void;
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

/// An instruction's debug location, which outlives the instruction.
#[derive(Copy, Clone, Debug)]
pub struct Place(LLVMMetadataRef);

impl Place {
    /// `v`: an instruction. `None`: it has no location.
    pub fn of(v: LLVMValueRef) -> Option<Place> {
        // SAFETY: a live value; only instructions are asked.
        let loc = unsafe {
            if LLVMIsAInstruction(v).is_null() { return None } else { LLVMInstructionGetDebugLoc(v) }
        };
        (!loc.is_null()).then_some(Place(loc))
    }

    fn raw(at: Option<Place>) -> LLVMMetadataRef {
        at.map_or(std::ptr::null_mut(), |p| p.0)
    }
}

/// Of an instruction.
pub fn location(v: LLVMValueRef) -> Option<SourceLoc> {
    // SAFETY: live value; out pointers and sink are valid during the call.
    read_location(|line, column, ctx, sink| unsafe { sys::prs_location(v, line, column, ctx, sink) })
}

/// Of the first instruction of the block that has one.
pub fn block_location(bb: LLVMBasicBlockRef) -> Option<SourceLoc> {
    // SAFETY: live block; as above.
    read_location(|line, column, ctx, sink| unsafe { sys::prs_block_location(bb, line, column, ctx, sink) })
}

/// Of the function's declaration.
pub fn function_location(f: LLVMValueRef) -> Option<SourceLoc> {
    // SAFETY: live function; as above.
    read_location(|line, column, ctx, sink| unsafe { sys::prs_function_location(f, line, column, ctx, sink) })
}

/// The user's name of a value: its source variable by debug records, else the name of the global, argument or
/// alloca, of the pointer it was loaded from, or its IR name. `None` if nameless.
pub fn source_name(v: LLVMValueRef) -> Option<String> {
    // SAFETY: live value; the sink is valid during the call.
    let (found, name) = sys::collect_bytes(|ctx| unsafe { sys::prs_source_name(v, ctx, sys::push_bytes) });
    (found && !name.is_empty()).then_some(name)
}

/// Emits an optimisation remark of pass `pollyrs` about `f`, located at `at`, or else at `f`.
pub fn remark(f: LLVMValueRef, kind: RemarkKind, name: &str, at: Option<Place>, message: &str) {
    let kind = match kind {
        RemarkKind::Passed => 0,
        RemarkKind::Missed => 1,
        RemarkKind::Analysis => 2,
    };
    let at = Place::raw(at);
    // SAFETY: a live function; C++ copies both strings.
    unsafe { sys::prs_remark(f, kind, name.as_ptr(), name.len(), at, message.as_ptr(), message.len()) }
}

/// Whether a block ends a loop over the columns of rows that a counter was divided into
/// ([`crate::Session::divide_counters`]).
pub fn ends_whole_row(block: LLVMBasicBlockRef) -> bool {
    // SAFETY: a live block.
    unsafe { sys::prs_ends_whole_row(block) }
}

/// Where [`remark`] puts a remark: of code that was inlined from a language's library, the place in the
/// author's code; of a library's function, where the author's code calls it.
pub fn remark_place(f: LLVMValueRef, at: Option<Place>) -> Option<SourceLoc> {
    let at = Place::raw(at);
    // SAFETY: a live function; as above.
    read_location(|line, column, ctx, sink| unsafe { sys::prs_remark_place(f, at, line, column, ctx, sink) })
}

/// Reports an error of the user's to the host, which fails the compilation.
pub fn emit_error(context: LLVMContextRef, message: &str) {
    // SAFETY: live context; C++ copies the message.
    unsafe { sys::prs_error(context, message.as_ptr(), message.len()) }
}

/// Reports to the host what its user should know; the compilation goes on.
pub fn emit_warning(context: LLVMContextRef, message: &str) {
    // SAFETY: live context; C++ copies the message.
    unsafe { sys::prs_warning(context, message.as_ptr(), message.len()) }
}

/// Takes the flag `contract` from an instruction.
pub fn forbid_contraction(instruction: LLVMValueRef) {
    // SAFETY: a live instruction.
    unsafe { sys::prs_forbid_contraction(instruction) }
}

/// Calls a location function of `sys`.
pub(crate) fn read_location(
    f: impl FnOnce(*mut u32, *mut u32, *mut c_void, sys::ByteSink) -> bool,
) -> Option<SourceLoc> {
    let (mut line, mut column) = (0, 0);
    let (found, file) = sys::collect_bytes(|ctx| f(&raw mut line, &raw mut column, ctx, sys::push_bytes));
    found.then_some(SourceLoc { file, line, column })
}
