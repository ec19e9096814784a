//! Which objects of which activation's memory may belong to ([`crate::activation::frame`]).

use crate::base::abi;

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

    /// Whether instructions of the activation at `depth` that touch the objects of `mask` may touch the
    /// entry.
    pub fn met(&self, depth: usize, mask: u32) -> bool {
        mask == abi::ALL || self.at(depth) & mask != 0
    }

    /// The activation at `depth` returns: its mask becomes one of its caller's by `known`. False: some object
    /// is not the caller's.
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
