//! Executions of original loops, from their beginning to their end, or to where something else shows that
//! they were left.
//!
//! Problem: an exception or `longjmp` may leave an original loop (a bounds check that fails, for one), so
//! that nobody says when it ended; it would be in no profile. Approach: what has begun is remembered by its
//! thread, with the place of the stack that it began at. What is deeper in the stack than something that
//! begins or ends, and what is left when the thread ends, was left.
//!
//! # Invariant
//! A token is the address of something that this thread remembers, or means nothing: what was found to be
//! left is not looked at again.

use std::cell::RefCell;
use std::ffi::c_void;
use std::time::Instant;

use crate::base::abi::Scop;
use crate::base::size::Size;
use crate::cost::inspections;
use crate::process::compare;
use crate::process::{is_unwatched, nvtx, registry};
use crate::process::{lines::ExecutionLine, profile};

/// Whose original loop it is.
pub enum Whose {
    Scop(&'static Scop),
    /// A copy of a loop that never runs on the device: a function, and a place in the source.
    Kept(String, String),
}

/// An execution of an original loop.
pub struct Original {
    pub whose: Whose,
    /// For the profile.
    pub reason: Option<String>,
    /// Whether a check failed, rather than that the device would have been slower or could not go on.
    pub refused: bool,
    /// The size of a loop whose time is to be learnt from.
    pub estimated: Option<Size>,
    pub start: Instant,
    /// What the device has computed.
    pub compared: Option<compare::Results>,
    /// In the tools.
    pub _range: Option<nvtx::Range>,
}

impl Original {
    fn report(&mut self, ended: bool) {
        let seconds = self.start.elapsed().as_secs_f64();
        if let (Whose::Scop(scop), Some(results), true) = (&self.whose, self.compared.take(), ended) {
            results.compare(scop);
        }
        // An estimate comes from a refusal of this version's.
        if let (Whose::Scop(scop), Some(size), true) = (&self.whose, self.estimated, ended)
            && let Some(state) = registry::state(scop)
        {
            state.learned.host_took(seconds, size, registry::rates());
            if is_unwatched() && !registry::config().job.shares() {
                state.host_took(seconds, size.work);
            }
        }
        if let Some(mut reason) = self.reason.take() {
            if !ended {
                reason += " (left before its end)";
            }
            let mut line = match &self.whose {
                Whose::Scop(scop) => ExecutionLine::host(scop, self.start, reason),
                Whose::Kept(name, at) => ExecutionLine::kept(name, at, self.start, reason),
            };
            line.refused = self.refused;
            line.inspect_ms = inspections::take_ms();
            profile::report(registry::config(), &line);
        }
    }
}

/// In the order of their beginnings, each with a place on the stack.
#[derive(Default)]
struct Open(Vec<(usize, Box<Original>)>);

impl Open {
    fn leave(&mut self, from: usize) {
        for (_, mut original) in self.0.drain(from.min(self.0.len())..).rev() {
            original.report(false);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.leave(0);
    }
}

thread_local! {
    static OPEN: RefCell<Open> = const { RefCell::new(Open(Vec::new())) };
}

/// An original loop begins, in a frame of the stack at `place` (which grows downwards). The result is for
/// [`end`]; null if nobody wants to know.
pub fn begin(original: Original, place: usize) -> *mut c_void {
    let begun = OPEN.try_with(|open| {
        let mut open = open.try_borrow_mut().ok()?;
        let kept = open.0.iter().take_while(|(other, _)| *other > place).count();
        open.leave(kept);
        let mut original = Box::new(original);
        let token: *mut Original = &raw mut *original;
        open.0.push((place, original));
        Some(token.cast())
    });
    begun.ok().flatten().unwrap_or(std::ptr::null_mut())
}

/// The end of what `token` stands for.
pub fn end(token: *mut c_void) {
    let _ = OPEN.try_with(|open| {
        let Ok(mut open) = open.try_borrow_mut() else { return };
        let Some(at) = open.0.iter().position(|(_, o)| std::ptr::from_ref(&**o).cast() == token.cast_const())
        else {
            return;
        };
        open.leave(at + 1);
        if let Some((_, mut original)) = open.0.pop() {
            original.report(true);
        }
    });
}
