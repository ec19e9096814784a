//! What the program may use, or forget, from now on.

use super::Hold;
use crate::device::Queue;

impl Hold {
    /// The program is about to free the objects of `dead`; their release follows. What lies in no others goes, without a copy.
    pub fn discard(&mut self, dead: u32) {
        let Some(mut queue) = self.queue.take() else { return };
        // The driver may still read a snapshot. If it fails, the release will find out.
        let idle = !self.copying || queue.synchronize().is_ok();
        self.copying &= !idle;
        let depth = self.depth;
        self.entries.retain(|entry| {
            let mask = entry.masks.at(depth);
            let dies = idle && mask != 0 && mask & !dead == 0;
            if dies {
                queue.forsaken(entry.device, entry.host.1 - entry.host.0);
                queue.give_back(entry.device);
            }
            !dies
        });
        self.queue = Some(queue);
    }

    /// The results of some entries are in the program's memory.
    pub(super) fn settled(&self, queue: &mut dyn Queue, which: impl Fn(usize) -> bool) {
        for (_, entry) in self.entries.iter().enumerate().filter(|(i, _)| which(*i)) {
            queue.settled(entry.device, entry.host.1 - entry.host.0);
        }
    }
}
