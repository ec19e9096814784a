//! Activations of functions that share a hold.
//!
//! Problem: `main` calls `init(n, A)`, `step(n, A)` a hundred times, and `sum(n, A)`. Each has loop nests over the same array, each alone
//! would bring its results back when it returns. Where the compiler knows caller and callee, the caller lends its hold
//! (`pollyrs_rt_enter`), and what the callee leaves on the device stays there when it returns (`pollyrs_rt_return`).
//!
//! Each activation numbers the objects that arrays may belong to on its own; so an entry of the hold has a mask for each activation
//! that shares it ([`Masks`]). A callee gives back only what lies in objects that its caller knows.
//!
//! What the compiler promises of a lent hold: before the call, what the callee's own instructions read or write of held arrays was released
//! in the caller; before what may do anything, also throw, the callee leaves. So an entry that no SCoP of an activation used, and whose mask
//! there is empty, concerns none of that activation's instructions; and one that is left by an exception leaves no entries behind.
//!
//! A slot of the program is NULL or points to a [`Frame`].

use crate::base::abi;
use crate::base::config::Config;
use crate::hold::Hold;

/// An activation's part in a hold. The outermost one, of depth 0, owns it.
pub struct Frame {
    hold: *mut Hold,
    depth: usize,
}

impl Frame {
    /// A new hold.
    pub fn outermost() -> Frame {
        Frame { hold: Box::into_raw(Box::default()), depth: 0 }
    }

    /// For an activation that this one calls.
    pub fn inner(&self) -> Frame {
        Frame { hold: self.hold, depth: self.depth + 1 }
    }

    /// Whether anything may be on the device.
    ///
    /// # Safety
    /// As for [`Frame::hold`].
    pub unsafe fn holds(&self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (*self.hold).holds() }
    }

    /// The hold, as this activation sees it.
    ///
    /// # Safety
    /// The activation of the outermost frame is not over, and no other reference to the hold is in use.
    pub unsafe fn hold(&mut self) -> &mut Hold {
        // SAFETY: the caller's promise; frames live as long as their activations, inner ones end first.
        let hold = unsafe { &mut *self.hold };
        hold.turn_to(self.depth);
        hold
    }

    /// Nothing stays, for none of the activations.
    ///
    /// # Safety
    /// As for [`Frame::hold`]; what is dirty is writable.
    pub unsafe fn leave(mut self, config: &'static Config) {
        // SAFETY: the caller's promise.
        unsafe { self.hold().let_go(config, abi::ALL, abi::ALL) };
        if self.depth == 0 {
            // SAFETY: as above.
            unsafe { self.hold() }.end_episode();
            // SAFETY: made by `outermost`, and inner frames are over.
            drop(unsafe { Box::from_raw(self.hold) });
        }
    }

    /// The activation ends plainly: what is in objects that the caller knows, for each of this activation's the caller's mask in `known`, stays.
    ///
    /// # Safety
    /// As for [`Frame::leave`].
    pub unsafe fn give_back(mut self, config: &'static Config, known: &[u32]) {
        if self.depth == 0 {
            // SAFETY: the caller's promise.
            return unsafe { self.leave(config) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.hold().hand_over(config, known) };
    }
}

/// For each activation that shares a hold, the outermost first: which of its objects an entry may belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Masks(Vec<u32>);

impl Masks {
    pub fn at(&self, depth: usize) -> u32 {
        self.0.get(depth).copied().unwrap_or_default()
    }

    pub fn add(&mut self, depth: usize, mask: u32) {
        if self.0.len() <= depth {
            self.0.resize(depth + 1, 0);
        }
        self.0[depth] |= mask;
    }

    pub fn merge(&mut self, other: &Masks) {
        other.0.iter().enumerate().for_each(|(depth, mask)| self.add(depth, *mask));
    }

    /// Activations deeper than `depth` are over.
    pub fn cut(&mut self, depth: usize) {
        self.0.truncate(depth + 1);
    }

    /// Whether instructions of the activation at `depth` that touch the objects of `mask` may touch the entry.
    pub fn met(&self, depth: usize, mask: u32) -> bool {
        mask == abi::ALL || self.at(depth) & mask != 0
    }

    /// The activation at `depth` returns: its mask becomes one of its caller's by `known`. False: some object is not the caller's.
    pub fn hand_over(&mut self, depth: usize, known: &[u32]) -> bool {
        let own = self.at(depth);
        let bits = (0..u32::BITS).filter(|bit| own >> bit & 1 != 0);
        let outer: Vec<u32> = bits.map(|bit| known.get(bit as usize).copied().unwrap_or_default()).collect();
        if outer.contains(&0) {
            return false;
        }
        if let Some(caller) = depth.checked_sub(1) {
            outer.into_iter().for_each(|mask| self.add(caller, mask));
            self.cut(caller);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_of_activations() {
        let mut masks = Masks::default();
        masks.add(0, 0b001);
        assert!(masks.met(0, 0b011) && !masks.met(0, 0b110) && masks.met(0, abi::ALL));
        // Nothing of the callee's, until one of its SCoPs uses it.
        assert!(!masks.met(1, 0b111) && masks.met(1, abi::ALL));
        masks.add(1, 0b100);
        assert!(masks.met(1, 0b100) && !masks.met(0, 0b100));
        assert!(masks.hand_over(1, &[0b1000, 0, 0b0110]));
        assert_eq!(masks, Masks(vec![0b0111]));
        // The callee's own object, and one that it has no number for.
        for (own, known) in [(0b010, &[1, 0][..]), (0b101, &[1, 1]), (1 << 23, &[1, 1])] {
            let mut masks = Masks::default();
            masks.add(1, own);
            assert!(!masks.hand_over(1, known), "{own:b}");
        }
        // What the callee did not use is as it was.
        let mut masks = Masks(vec![0b10]);
        assert!(masks.hand_over(1, &[]));
        assert_eq!(masks, Masks(vec![0b10]));
        let mut merged = Masks(vec![0b01, 0b10]);
        merged.merge(&Masks(vec![0b10, 0, 0b1]));
        merged.cut(1);
        assert_eq!(merged, Masks(vec![0b11, 0b10]));
    }
}
