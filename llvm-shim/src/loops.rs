//! What can be said of loops and calls in code of any form, at little cost: [`Analyses`](crate::Analyses) are
//! for code in canonical form.

use crate::{LLVMBasicBlockRef, LLVMValueRef, Session, ShimError, sys};
use std::ffi::c_void;

/// A natural loop.
#[derive(Clone, Debug)]
pub struct PlainLoop {
    /// The index of the loop around it, which comes first.
    pub parent: Option<usize>,
    pub header: LLVMBasicBlockRef,
    /// Blocks that are in no loop inside of it.
    pub blocks: Vec<LLVMBasicBlockRef>,
}

impl Session {
    /// The loops of `f`, outer ones first.
    ///
    /// # Errors
    /// [`ShimError::Busy`] while analyses of `f` live.
    pub fn loops(&self, f: LLVMValueRef) -> Result<Vec<PlainLoop>, ShimError> {
        self.require_idle(f)?;
        let mut found: Vec<PlainLoop> = Vec::new();
        // SAFETY: live session and function; the list outlives the call, and only the sink touches it.
        unsafe { sys::prs_loops(self.raw, f, (&raw mut found).cast(), push_loop) };
        Ok(found)
    }

    /// Whether a loop goes from record to record: it carries a pointer that it loads from where the same
    /// pointer points to.
    pub fn follows_links(&self, l: &PlainLoop) -> bool {
        // SAFETY: live session and the header of a loop.
        unsafe { sys::prs_follows_links(self.raw, l.header) }
    }

    /// How often a loop's header is executed each time that the loop is entered, at most.
    pub fn most_iterations(&self, l: &PlainLoop) -> Option<u64> {
        // SAFETY: live session and the header of a loop.
        let n = unsafe { sys::prs_most_iterations(self.raw, l.header) };
        (n != 0).then_some(u64::from(n))
    }

    /// Whether a call or an invoke reads or writes memory in another function, which no simplification
    /// replaces by instructions.
    pub fn stays_a_call(&self, call: LLVMValueRef) -> bool {
        // SAFETY: live session and call.
        unsafe { sys::prs_stays_a_call(self.raw, call) }
    }
}

/// Whether remarks about loops of `f` reach anybody.
pub fn wants_remarks(f: LLVMValueRef) -> bool {
    // SAFETY: a live function.
    unsafe { sys::prs_wants_remarks(f) }
}

extern "C" fn push_loop(
    ctx: *mut c_void,
    parent: usize,
    header: LLVMBasicBlockRef,
    blocks: *const LLVMBasicBlockRef,
    count: usize,
) {
    let parent = (parent != sys::NONE).then_some(parent);
    // SAFETY: `ctx` is the list of `Session::loops`, alive and unaliased during the call; a loop has blocks,
    // but perhaps none of its own.
    unsafe {
        let blocks = if count == 0 { &[] } else { std::slice::from_raw_parts(blocks, count) };
        (*ctx.cast::<Vec<PlainLoop>>()).push(PlainLoop { parent, header, blocks: blocks.to_vec() });
    }
}
