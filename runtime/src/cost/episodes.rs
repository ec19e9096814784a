//! What sequences of executions took whose arrays may stay on the device in between.
//!
//! Problem: executions in a hold share their transfers, so the times of single ones say little. Each one
//! alone would stay on the host, or go to the device when what was missed so far has paid for the transfers,
//! which is at most twice the best with hindsight, but a third more than the best where the sequence comes
//! again and again. Approach: an *episode* begins with the first execution whose arrays the device does not
//! have, and ends when the program writes what it touched, or when nothing may stay any more
//! ([`crate::activation`]). It takes one of three courses, all on the host, all on the device, or mixed.
//! Where episodes of the same first execution and about the same work come again, the time of each course is
//! kept, the transfers and what the program does in between included, and the best one is taken. The host
//! comes first: what the others may lose to be known is bounded ([`super::budget`]).
//!
//! Example: 40 executions take 0.98 ms on the host and 0.47 on the device; left to themselves, four wait
//! until the transfers have paid, and all take 0.59. Two episodes take the mixed course, three go to the
//! host, three to the device, one more is mixed, the rest goes to the device as a whole.

use std::sync::atomic::{AtomicU64, Ordering};

use super::budget::{Budget, On};
use super::history::{CLOSE, CLOSE_RETRY, FIRST_RETRY, RETRIED, Side, is_cheap};
use super::{Figure, LONG};
use crate::base::size::Size;

/// Kinds of episodes that are known at once.
const KINDS: usize = 4;
/// A course is known after so many measurements; the first one is cold.
const KNOWN: u64 = 3;
/// Episodes whose work differs by more than this part are different: what they took is not compared.
const ALIKE: f64 = 1.0 / 8.0;

/// A long course that seems no better is not tried for that: it is estimated to take this many times as long.
const MARGIN: f64 = 1.1;
/// The mixed course, before it was taken, is estimated to take this many times as long as the best one. It
/// takes at most twice as long.
const MIXED_MARGIN: f64 = 4.0 / 3.0;

/// Where the executions of an episode ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    Host,
    Device,
    Mixed,
}

const COURSES: [Course; 3] = [Course::Host, Course::Device, Course::Mixed];
/// Their places.
const HOST: usize = 0;
const DEVICE: usize = 1;
const MIXED: usize = 2;

/// What an episode is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Mixed: each execution is decided as it comes.
    pub course: Course,
    /// Statement instances for which the plan was made: more of them go mixed.
    pub work: f64,
}

/// No plan.
pub const FREE: Plan = Plan { course: Course::Mixed, work: 0.0 };

impl Plan {
    /// What executions are to do after `work` instances.
    pub fn after(&self, work: f64) -> Course {
        if work <= (1.0 + ALIKE) * self.work { self.course } else { Course::Mixed }
    }
}

/// An episode that is over.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    pub course: Course,
    /// Seconds.
    pub took: f64,
    /// Statement instances.
    pub work: f64,
    /// Estimated seconds, all on the host and all on the device.
    pub host: f64,
    pub device: f64,
}

/// Episodes with the same first execution.
#[derive(Debug, Default)]
struct Kind {
    /// 0: not used.
    key: AtomicU64,
    work: Figure,
    /// By [`COURSES`].
    sides: [Side; 3],
    /// What the host and the device are estimated to take.
    estimates: [Figure; 2],
    /// Episodes since nothing is left to be tried.
    turns: AtomicU64,
    budget: Budget,
}

/// What a SCoP's episodes took that it began. Threads that measure at once may lose measurements.
#[derive(Debug, Default)]
pub struct Episodes {
    kinds: [Kind; KINDS],
    /// What is displaced next.
    next: AtomicU64,
}

impl Kind {
    fn clear(&self, work: f64) {
        self.sides.iter().for_each(Side::clear);
        self.turns.store(0, Ordering::Relaxed);
        self.budget.clear();
        self.work.set(work);
    }

    fn known(&self, at: usize) -> Option<f64> {
        self.sides[at].after(KNOWN)
    }

    /// The best of the courses but one that is known.
    fn best_but(&self, but: Option<usize>) -> Option<(usize, f64)> {
        let known =
            (0..COURSES.len()).filter(|at| Some(*at) != but).filter_map(|at| Some((at, self.known(at)?)));
        known.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn plan(&self) -> Course {
        let [host, device] = [0, 1].map(|at| self.estimates[at].get());
        // What the original loops take comes first, all else is measured by that: after one episode that took
        // longer, or two of the same length.
        let mixed = &self.sides[MIXED];
        if let (Some(host), Some(took), None) =
            (self.sides[HOST].after(2).or(host), mixed.after(1), self.known(HOST))
            && (took >= host || mixed.count() > 1)
            && is_cheap(
                KNOWN,
                host,
                self.best_but(None).map_or(took, |(_, least)| least),
                self.budget.executions(),
            )
        {
            return Course::Host;
        }
        let Some((best, least)) = self.best_but(None) else { return Course::Mixed };
        let margin = if least < LONG { 1.0 } else { MARGIN };
        let tries = |at: usize, on, estimated| {
            self.known(at).is_none() && self.budget.tries(on, &self.sides[at], estimated, least)
        };
        if device.is_some_and(|seconds| tries(DEVICE, On::Device, margin * seconds)) {
            return Course::Device;
        }
        let expected = mixed.after(1).map_or(MIXED_MARGIN * least, |took| took.clamp(least, 2.0 * least));
        // What may be lost is for the device first.
        if (expected <= least || self.known(DEVICE).is_some()) && tries(MIXED, On::Both, expected) {
            return Course::Mixed;
        }
        let turn = 1 + self.turns.fetch_add(1, Ordering::Relaxed);
        let limit = if turn < FIRST_RETRY { CLOSE } else { RETRIED };
        let retries = turn >= CLOSE_RETRY && (turn.is_power_of_two() || (turn - 1).is_power_of_two());
        let second = self.best_but(Some(best));
        let again = second
            .filter(|&(_, took)| retries && took < limit * least && self.budget.allows(took - least, least));
        let on = if best == MIXED { On::Both } else { On::Device };
        let spent = best != HOST && self.known(HOST).is_some_and(|host| self.budget.is_spent(on, host));
        COURSES[if spent { HOST } else { again.map_or(best, |(at, _)| at) }]
    }
}

impl Episodes {
    fn find(&self, size: Size) -> Option<&Kind> {
        let key = size.key();
        self.kinds.iter().find(|kind| kind.key.load(Ordering::Relaxed) == key)
    }

    /// What an episode is to do that begins with an execution of this size.
    pub fn plan(&self, size: Size) -> Plan {
        let planned = |kind: &Kind| Some(Plan { course: kind.plan(), work: kind.work.get()? });
        self.find(size).and_then(planned).unwrap_or(FREE)
    }

    /// It is over.
    pub fn finished(&self, size: Size, episode: &Finished) {
        let kind = self.find(size).unwrap_or_else(|| {
            let kind = &self.kinds[self.next.fetch_add(1, Ordering::Relaxed) as usize % KINDS];
            kind.clear(episode.work);
            kind.key.store(size.key(), Ordering::Relaxed);
            kind
        });
        let former = kind.work.get().unwrap_or_default();
        if (episode.work - former).abs() > ALIKE * former {
            kind.clear(episode.work);
        }
        kind.estimates[0].set(episode.host);
        kind.estimates[1].set(episode.device);
        if episode.took > 0.0
            && let Some(at) = COURSES.iter().position(|course| *course == episode.course)
        {
            let first = kind.sides[at].count() == 0;
            let host = kind.sides[HOST].after(1).or(kind.estimates[HOST].get());
            match episode.course {
                Course::Host => kind.budget.on_host(),
                Course::Device => kind.budget.elsewhere(On::Device, episode.took, host, first),
                Course::Mixed => kind.budget.elsewhere(On::Both, episode.took, host, first),
            }
            kind.sides[at].took(episode.took);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { work: 1e5, moved: 1e-4 };

    /// The courses of episodes that take so long on the host, on the device and mixed, where the estimates
    /// are `estimated`.
    fn courses(episodes: &Episodes, count: usize, work: f64, estimated: [f64; 2], real: [f64; 3]) -> String {
        let [host, device] = estimated;
        let run = |_| {
            let course = episodes.plan(SIZE).course;
            let at = COURSES.iter().position(|known| *known == course).unwrap();
            episodes.finished(SIZE, &Finished { course, took: real[at], work, host, device });
            ["h", "d", "m"][at]
        };
        (0..count).map(run).collect()
    }

    #[test]
    fn the_best_course_is_found() {
        // (estimated on the host and on the device, real with the mixed one, courses)
        let table = [
            ([0.98e-3, 0.5e-3], [0.98e-3, 0.47e-3, 0.59e-3], "mmhhhdddmddd"),
            ([0.49e-3, 0.6e-3], [0.49e-3, 0.52e-3, 0.67e-3], "mhhhhhhhhhhhhhhhhhhhhh"),
            ([0.9e-3, 0.6e-3], [0.9e-3, 0.8e-3, 0.5e-3], "mmhhhdddmmmmmm"),
            // Tried where no loss is expected, in spite of a mixed one that was half as long again.
            ([0.49e-3, 0.4e-3], [0.49e-3, 0.3e-3, 0.67e-3], "mhhhdddddddd"),
            // Far apart, or long: not tried at once.
            ([5e-3, 2e-3], [5e-3, 2.1e-3, 2e-3], "mmmdddmmm"),
            ([9e-1, 5e-1], [9e-1, 8e-1, 5e-1], "mmmmmmdmm"),
            // Estimated badly: given up after the second time.
            ([5e-3, 1e-3], [5e-3, 4e-3, 1e-3], "mmmddmmmm"),
        ];
        for (estimated, real, expected) in table {
            let found = courses(&Episodes::default(), expected.len(), 1e6, estimated, real);
            assert_eq!(found, expected, "{estimated:?} {real:?}");
        }
    }

    #[test]
    fn episodes_of_other_lengths_are_not_compared() {
        let episodes = Episodes::default();
        let (estimated, real) = ([1e-3, 0.5e-3], [1e-3, 0.5e-3, 0.6e-3]);
        assert_eq!(courses(&episodes, 10, 1e6, estimated, real), "mmhhhdddmd");
        // A little longer is the same.
        assert_eq!(courses(&episodes, 2, 1.1e6, estimated, real), "dd");
        let plan = episodes.plan(SIZE);
        assert_eq!(plan, Plan { course: Course::Device, work: 1e6 });
        // One that goes on and on is decided step by step, and begins anew.
        assert_eq!(
            (plan.after(0.0), plan.after(1.1e6), plan.after(1.2e6)),
            (Course::Device, Course::Device, Course::Mixed)
        );
        assert_eq!(courses(&episodes, 6, 2e6, estimated, real), "dmmhhh");
        assert_eq!(FREE.after(0.0), Course::Mixed);
    }

    #[test]
    fn kinds_displace_each_other() {
        let episodes = Episodes::default();
        let size = |n: usize| Size { work: n as f64, moved: 1e-4 };
        let episode = Finished { course: Course::Mixed, took: 1e-3, work: 5.0, host: 1e-3, device: 1e-3 };
        for n in 0..=KINDS {
            episodes.finished(size(n), &episode);
        }
        let work: Vec<f64> = (0..=KINDS).map(|n| episodes.plan(size(n)).work).collect();
        assert_eq!(work, [0.0, 5.0, 5.0, 5.0, 5.0]);
        // What was not measured is no time.
        episodes.finished(SIZE, &Finished { took: 0.0, ..episode });
        assert_eq!(episodes.find(SIZE).unwrap().sides[2].count(), 0);
    }
}
