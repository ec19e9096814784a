//! The end of a queue: all that it holds goes back to the device, after a wait, or is never used again.

use super::CudaQueue;
use crate::base::planted::unless;

impl CudaQueue {
    /// The device failed, or the state of its work is unknown: nothing of it is used again.
    fn abandon(&mut self) {
        self.landings.abandon();
        if self.has_residents == Some(true) {
            self.device.with_residents(|residents| residents.forget());
        }
    }
}

impl Drop for CudaQueue {
    fn drop(&mut self) {
        // On a lost device everything is lost with it.
        let Ok(_current) = self.device.current() else {
            self.abandon();
            return;
        };
        if self.pending {
            // SAFETY: a live stream.
            let waited = unless("drop", || unsafe { self.device.api().stream_synchronize(self.stream) });
            let drained = self.lanes.as_ref().map_or(Ok(()), |lanes| lanes.drain(self.device));
            if self.device.note(waited).and(drained).is_err() {
                // The state of the work is unknown: keep its memory out of circulation.
                self.abandon();
                return;
            }
        }
        if self.has_residents == Some(true) {
            self.device.release_residents();
        }
        self.landings.give_back(self.device);
        let marks = self.copied.event().into_iter().chain(self.marked.event());
        for event in self.timer.events().chain(self.exchange_times.events()).chain(marks) {
            // SAFETY: a live event that nothing refers to.
            let _ = unsafe { self.device.api().event_destroy(event) };
        }
        if let Some(chains) = self.launches.chains.take() {
            self.device.give_chains(chains);
        }
        if let Some(lanes) = self.lanes.take() {
            lanes.close(self.device);
        }
        let blocks = self.blocks.drain(..).chain(self.spare.drain(..));
        blocks.for_each(|block| self.device.give_memory(block));
        self.device.give_stream(self.stream);
    }
}
