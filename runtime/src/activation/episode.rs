//! The executions between two looks of the program at their arrays, which go to one side together
//! ([`crate::cost::episodes`]).

use std::time::Instant;

use super::Activation;
use crate::base::abi::Array;
use crate::base::size::Size;
use crate::cost::{Course, Estimate, FREE, Finished, Moves, Plan, Rates};
use crate::process::registry::State;

/// Executions that may share their transfers.
pub struct Episode {
    /// Of the SCoP that began.
    state: &'static State,
    size: Size,
    plan: Plan,
    start: Instant,
    /// The objects that it touched.
    mask: u32,
    work: f64,
    /// Estimated seconds of all executions: on the host, and on the device without transfers; and those of
    /// the largest ones.
    host: f64,
    device: f64,
    transfers: f64,
    on_host: bool,
    on_device: bool,
}

impl Episode {
    /// Whether it is over where the program writes objects of `write`.
    #[inline]
    pub(super) fn ends_by(&self, write: u32) -> bool {
        self.mask & write != 0
    }

    /// The objects' numbers are a caller's from now on: any write may be to one of them.
    pub(super) fn foreign(&mut self) {
        self.mask = if self.mask == 0 { 0 } else { u32::MAX };
    }
}

impl Activation {
    /// What an execution is to do, for the sake of those that it belongs to.
    pub fn course(
        &mut self,
        state: &'static State,
        estimate: &Estimate,
        arrays: &[Array],
        rates: &Rates,
    ) -> Course {
        let plain =
            || arrays.iter().map(Moves::of).flat_map(|moves| [moves.to_device, moves.to_host]).flatten();
        let fresh = !self.holds();
        if self.episode.is_none() && fresh {
            // Not what is to be moved now: that depends on what stayed.
            let size = Size { work: estimate.work, moved: plain().map(|bytes| rates.transfer(bytes)).sum() };
            self.episode = Some(Episode {
                state,
                size,
                plan: state.learned.episodes.plan(size),
                start: Instant::now(),
                mask: 0,
                work: 0.0,
                host: 0.0,
                device: 0.0,
                transfers: 0.0,
                on_host: false,
                on_device: false,
            });
        }
        self.touch(arrays);
        let Some(episode) = &mut self.episode else { return FREE.course };
        episode.mask |= arrays.iter().filter(|array| array.held()).fold(0, |mask, array| mask | array.mask());
        episode.work += estimate.work;
        episode.host += estimate.host;
        let (resident, transfers) = estimate.device_parts();
        episode.device += resident;
        episode.transfers = episode.transfers.max(transfers);
        episode.plan.after(episode.work)
    }

    /// Where it goes.
    pub fn went(&mut self, on_device: bool) {
        if let Some(episode) = &mut self.episode {
            episode.on_host |= !on_device;
            episode.on_device |= on_device;
        }
    }

    /// The program has written, or nothing stays: what comes next is another episode.
    pub fn end_episode(&mut self) {
        let Some(episode) = self.episode.take() else { return };
        let course = match (episode.on_host, episode.on_device) {
            (true, false) => Course::Host,
            (false, true) => Course::Device,
            _ => Course::Mixed,
        };
        // Of what is still the device's alone nobody knows when it is there, and what it will take to come
        // back.
        let complete = self.residency.writer().is_none();
        let took = if complete { episode.start.elapsed().as_secs_f64() } else { 0.0 };
        let (host, device) = (episode.host, episode.device + episode.transfers);
        episode
            .state
            .learned
            .episodes
            .finished(episode.size, &Finished { course, took, work: episode.work, host, device });
    }

    /// The program writes objects of `write`.
    pub(super) fn written_to(&mut self, write: u32) {
        if self.episode.as_ref().is_some_and(|episode| episode.ends_by(write)) {
            self.end_episode();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::{ARRAY_COPY_IN, ARRAY_HELD, ARRAY_MASK_SHIFT};
    use crate::cost::machine::REFERENCE;

    #[test]
    fn episodes_end_where_the_program_writes() {
        let rates = Rates::of(&REFERENCE, 8);
        let array = |mask: u32| Array {
            start: std::ptr::without_provenance_mut(4096),
            bytes: 8_000_000,
            bias: 0,
            out_offset: 0,
            out_bytes: 0,
            flags: ARRAY_COPY_IN | ARRAY_HELD | mask << ARRAY_MASK_SHIFT,
            element_bytes: 8,
            row_bytes: 0,
            row_count: [0; 3],
            row_stride: [0; 3],
        };
        let state: &'static State = Box::leak(Box::default());
        let mut activation = Activation::default();
        let estimate = |activation: &Activation, mask| {
            state.learned.estimate(1e6, [activation.moves(&array(mask))], 1, &rates)
        };
        let run = |activation: &mut Activation, mask: u32, on_device: bool| {
            let estimate = estimate(activation, mask);
            let course = activation.course(state, &estimate, &[array(mask)], &rates);
            activation.went(on_device);
            course
        };
        let first = Size { work: 1e6, moved: rates.transfer(8_000_000) };
        let episodes = &state.learned.episodes;
        // What it touched is objects 1 and 2; a write of another, or a read, changes nothing.
        for mask in [0b01, 0b10] {
            assert_eq!(run(&mut activation, mask, false), Course::Mixed);
            activation.written_to(0b100);
            activation.written_to(0);
        }
        let ignored: Vec<u32> = (0..8).filter(|write| activation.ignores(*write)).collect();
        assert_eq!(ignored, [0, 0b100]);
        assert_eq!(episodes.plan(first).work, 0.0);
        activation.written_to(0b10);
        assert!(activation.episode.is_none() && activation.ignores(u32::MAX));
        assert_eq!(episodes.plan(first).work, 2e6);
        // Three of them ran on the host, which is known then.
        for _ in 0..2 {
            run(&mut activation, 0b01, false);
            run(&mut activation, 0b01, false);
            activation.end_episode();
        }
        assert_eq!(episodes.plan(first), Plan { course: Course::Host, work: 2e6 });
        // A third execution is more than those had.
        let courses: Vec<Course> = (0..3).map(|_| run(&mut activation, 0b01, false)).collect();
        assert_eq!(courses, [Course::Host, Course::Host, Course::Mixed]);
        // In a caller any write counts.
        activation.episode.as_mut().unwrap().foreign();
        activation.written_to(0b1000);
        assert!(activation.episode.is_none());
    }
}
