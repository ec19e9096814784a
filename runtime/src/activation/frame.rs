//! Activations of functions that share a hold.
//!
//! Problem: `main` calls `init(n, A)`, `step(n, A)` a hundred times, and `sum(n, A)`. Each has loop nests
//! over the same array, each alone would bring its results back when it returns. Where the compiler knows
//! caller and callee, the caller lends its hold (`pollyrs_rt_enter`), and what the callee leaves on the
//! device stays there when it returns (`pollyrs_rt_return`).
//!
//! Each activation numbers the objects that arrays may belong to on its own; so an entry of the hold has a
//! mask for each activation that shares it ([`Masks`]). A callee gives back only what lies in objects that
//! its caller knows.
//!
//! What the compiler promises of a lent hold: before the call, what the callee's own instructions read or
//! write of held arrays was released in the caller; before what may do anything, also throw, the callee
//! leaves. So an entry that no SCoP of an activation used, and whose mask there is empty, concerns none of
//! that activation's instructions; and one that is left by an exception leaves no entries behind.
//!
//! A slot of the program is NULL or points to a [`Frame`]; or, where a hold was lent and nothing has asked
//! for a frame yet, says whose it is (`crate::interface`).

use crate::activation::Activation;
use crate::base::abi;
use crate::base::config::Config;
use crate::cost::lists;

/// An activation's part in a hold. The outermost one, of depth 0, owns it.
pub struct Frame {
    activation: *mut Activation,
    depth: usize,
}

impl Frame {
    /// A new hold.
    pub fn outermost() -> Frame {
        Frame { activation: Box::into_raw(Box::default()), depth: 0 }
    }

    /// For an activation that this one calls.
    pub fn inner(&self) -> Frame {
        Frame { activation: self.activation, depth: self.depth + 1 }
    }

    /// The hold, whoever uses it, for questions about all of it.
    ///
    /// # Safety
    /// As for [`Frame::activation`].
    pub unsafe fn shared(&self) -> &Activation {
        // SAFETY: the caller's promise.
        unsafe { &*self.activation }
    }

    /// The hold, as this activation sees it.
    ///
    /// # Safety
    /// The activation of the outermost frame is not over, and no other reference to the hold is in use.
    pub unsafe fn activation(&mut self) -> &mut Activation {
        // SAFETY: the caller's promise; frames live as long as their activations, inner ones end first.
        let activation = unsafe { &mut *self.activation };
        activation.turn_to(self.depth);
        activation
    }

    /// Nothing stays, for none of the activations.
    ///
    /// # Safety
    /// As for [`Frame::activation`]; what is dirty is writable.
    pub unsafe fn leave(mut self, config: &'static Config) {
        // SAFETY: the caller's promise.
        unsafe { self.activation().let_go(config, abi::ALL, abi::ALL) };
        if self.depth == 0 {
            lists::note_held(false);
            // SAFETY: as above.
            unsafe { self.activation() }.end_episode();
            // SAFETY: made by `outermost`, and inner frames are over.
            drop(unsafe { Box::from_raw(self.activation) });
        }
    }

    /// The activation ends plainly: what is in objects that the caller knows, for each of this activation's
    /// the caller's mask in `known`, stays.
    ///
    /// # Safety
    /// As for [`Frame::leave`].
    pub unsafe fn give_back(mut self, config: &'static Config, known: &[u32]) {
        if self.depth == 0 {
            // SAFETY: the caller's promise.
            return unsafe { self.leave(config) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.activation().hand_over(config, known) };
    }
}
