//! What can be said of loops and calls in code of any form, at little cost: [`Analyses`](crate::Analyses) are
//! for code in canonical form.

use crate::ir::{Block, Value};
use crate::{Session, ShimError, sys};

/// A natural loop.
#[derive(Clone, Debug)]
pub struct PlainLoop {
    /// The index of the loop around it, which comes first.
    pub parent: Option<usize>,
    pub header: Block,
    /// Blocks that are in no loop inside of it.
    pub blocks: Vec<Block>,
}

impl Session {
    /// The loops of `f`, outer ones first.
    ///
    /// # Errors
    /// [`ShimError::Busy`] while analyses of `f` live.
    pub fn loops(&self, f: Value) -> Result<Vec<PlainLoop>, ShimError> {
        let f = self.require_idle(f)?;
        let found = sys::collect(|into| sys::prs_loops(self.raw(), f, into, sys::push_loop));
        let plain = |sys::LoopParts { parent, header, blocks }| {
            let parent = (parent != sys::NONE).then_some(parent);
            PlainLoop { parent, header, blocks }
        };
        Ok(found.into_iter().map(plain).collect())
    }

    /// Whether a loop goes from record to record: it carries a pointer that it loads from where the same
    /// pointer points to.
    pub fn follows_links(&self, l: &PlainLoop) -> bool {
        sys::prs_follows_links(self.raw(), l.header)
    }

    /// How often a loop's header is executed each time that the loop is entered, at most.
    pub fn most_iterations(&self, l: &PlainLoop) -> Option<u64> {
        let n = sys::prs_most_iterations(self.raw(), l.header);
        (n != 0).then_some(u64::from(n))
    }

    /// Whether a call or an invoke reads or writes memory in another function, which no simplification
    /// replaces by instructions.
    pub fn stays_a_call(&self, call: Value) -> bool {
        sys::prs_stays_a_call(self.raw(), call.as_call())
    }
}

/// Whether remarks about loops of `f` reach anybody.
pub fn wants_remarks(f: Value) -> bool {
    sys::prs_wants_remarks(f.as_function())
}
