//! Ranks of a job that run the same program, and share the work of its SCoPs.
//!
//! Problem: a job has many hosts, and the program is sequential. Approach: control replication (Bauer et al.,
//! *Scaling Implicit Parallelism via Dynamic Control Replication*, PPoPP 2021): each rank runs the whole
//! program, with all of the host's data; where a SCoP runs on devices, those of all ranks are one group
//! ([`crate::group`]). Each rank computes the same plan of who does what and what moves from the same state,
//! so that both sides of a message meet.
//!
//! Invariants:
//!
//! * the first message behind anything that ranks could do differently is an agreement ([`World::agree`]):
//!   one reduction, of the same size wherever it is called, that compares a digest of all that was decided so
//!   far. So ranks that went different ways meet there, and never wait for messages that nobody sends;
//! * what depends on time, free memory or failures is decided by rank 0, or agreed;
//! * one thread of a rank talks to others: the process's first one. What other threads run is not divided;
//! * a program is never divided unless somebody asked for it (`POLLYRS_RT_MPI`), nor if it uses MPI itself.

#[cfg(test)]
pub mod channels;
mod mpi;
mod start;

use std::ffi::c_int;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::base::caller::fatal;
use crate::base::config::Config;

/// What carries bytes between ranks. An error is the job's end.
pub trait Transport: Send + Sync {
    fn rank(&self) -> usize;
    fn ranks(&self) -> usize;
    /// The largest of what all ranks have, one by one.
    fn largest(&self, values: &mut [u64]) -> Result<(), String>;
    /// Messages to and from ranks: of two ranks, both have the same in the same order. None waits for another
    /// one to arrive before it is sent.
    fn exchange(&self, sent: &[(usize, &[u8])], received: &mut [(usize, &mut [u8])]) -> Result<(), String>;
    /// All get what one has.
    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), String>;
    /// The job goes on without this rank.
    fn leave(&self);
    /// Ends the job.
    fn end(&self, text: &str) -> !;
}

/// What ranks agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    All,
    /// This rank can't.
    Refused(usize),
    /// They would touch different ranges.
    Differ,
    /// They went different ways, and each goes on by itself.
    Alone,
}

/// Where a rank is when it agrees.
pub struct Point<'a> {
    pub text: &'a dyn Fn() -> String,
    /// It can go on.
    pub able: bool,
    /// What it has does not depend on other ranks.
    pub alone: bool,
    /// A digest of what may differ, so that nobody goes on: ranges that were found by looking at what the
    /// program itself would not read.
    pub ranges: u64,
}

/// All ranks, seen from one.
pub struct World {
    transport: Box<dyn Transport>,
    /// Of all that was decided so far.
    digest: Mutex<u64>,
    /// Ranks that went different ways go on by themselves.
    forgiving: bool,
    /// What is copied in is a part of the digest.
    pub compares_data: bool,
    alone: AtomicBool,
    process: u32,
    /// Memories that are spread over ranks.
    spread: AtomicUsize,
    layout: OnceLock<Layout>,
}

/// The devices of all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How many each rank has.
    pub devices: Vec<usize>,
    /// The least memory that one has, where that has an end.
    pub memory: Option<u64>,
}

/// Bytes of the text about a rank's place in the program.
const TEXT_BYTES: usize = 256;

fn mixed(digest: u64, word: u64) -> u64 {
    (digest.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ digest >> 31
}

/// A digest of bytes.
pub fn digest_of(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.fold(bytes.len() as u64, mixed)
}

impl World {
    pub fn new(transport: Box<dyn Transport>, forgiving: bool) -> World {
        World {
            transport,
            digest: Mutex::new(1),
            forgiving,
            compares_data: false,
            alone: AtomicBool::new(false),
            process: std::process::id(),
            spread: AtomicUsize::new(0),
            layout: OnceLock::new(),
        }
    }

    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    pub fn ranks(&self) -> usize {
        self.transport.ranks()
    }

    fn digest(&self) -> MutexGuard<'_, u64> {
        self.digest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something was decided, which has to be the same on all ranks.
    pub fn note(&self, words: impl IntoIterator<Item = u64>) {
        let mut digest = self.digest();
        *digest = words.into_iter().fold(*digest, mixed);
    }

    /// What a transport says, or the end of the job.
    fn done<T>(&self, said: Result<T, String>) -> T {
        said.unwrap_or_else(|text| fatal(&format!("rank {} lost the other ranks: {text}", self.rank())))
    }

    /// Whether all ranks came here with the same digest, and all are able to go on. If they went different
    /// ways, the job ends, or they part.
    pub fn agree(&self, point: &Point<'_>) -> Agreement {
        let own = *self.digest();
        let failed = if point.able { 0 } else { self.rank() as u64 + 1 };
        let (bound, ranges) = (u64::from(!point.alone || !self.forgiving), point.ranges);
        let mut values = [own, !own, failed, bound, ranges, !ranges];
        self.done(self.transport.largest(&mut values));
        let [most, least, failed, bound, most_ranges, least_ranges] = values;
        if most != !least {
            if bound == 0 {
                self.part();
                return Agreement::Alone;
            }
            self.diverged(point);
        }
        match failed.checked_sub(1) {
            None if most_ranges != !least_ranges => Agreement::Differ,
            None => Agreement::All,
            Some(rank) => Agreement::Refused(rank as usize),
        }
    }

    fn part(&self) {
        self.alone.store(true, Ordering::Relaxed);
        if self.rank() == 0 {
            // A program without a standard error goes on.
            let text = "pollyrs: the ranks of the job went different ways: each goes on by itself";
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }

    /// Tells where each rank is, and ends the job.
    fn diverged(&self, point: &Point<'_>) -> ! {
        let text = (point.text)();
        let mut texts = Vec::new();
        for rank in 0..self.ranks() {
            let mut bytes = [0; TEXT_BYTES];
            if rank == self.rank() {
                let length = (0..=text.len().min(TEXT_BYTES)).rev().find(|&at| text.is_char_boundary(at));
                let length = length.unwrap_or_default();
                bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
            }
            self.done(self.transport.broadcast(rank, &mut bytes));
            let text = String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned();
            texts.push(text);
        }
        let said = parted(&texts);
        if self.rank() == 0 {
            let _ = writeln!(std::io::stderr(), "pollyrs: fatal: {said}");
        }
        // Nobody ends the job before this is told.
        self.done(self.transport.largest(&mut [0]));
        self.transport.end(&said)
    }

    pub fn exchange(&self, sent: &[(usize, &[u8])], received: &mut [(usize, &mut [u8])]) {
        self.done(self.transport.exchange(sent, received));
    }

    pub fn broadcast(&self, from: usize, bytes: &mut [u8]) {
        self.done(self.transport.broadcast(from, bytes));
    }

    /// A memory is spread over ranks from now on, or so many are not any more.
    pub fn spreads(&self) {
        self.spread.fetch_add(1, Ordering::Relaxed);
    }

    pub fn gathers(&self, memories: usize) {
        self.spread.fetch_sub(memories, Ordering::Relaxed);
    }

    /// Whether nothing is spread over ranks.
    pub fn is_gathered(&self) -> bool {
        self.spread.load(Ordering::Relaxed) == 0
    }

    /// The devices of all ranks. All ask at once, the first time.
    pub fn layout(&self, devices: usize, memory: Option<u64>) -> &Layout {
        self.layout.get_or_init(|| {
            let mut values = vec![0; self.ranks() + 1];
            values[self.rank()] = devices as u64;
            values[self.ranks()] = !memory.unwrap_or(u64::MAX);
            self.done(self.transport.largest(&mut values));
            let memory = values.pop().map(|least| !least).filter(|least| *least != u64::MAX);
            Layout { devices: values.iter().map(|&n| n as usize).collect(), memory }
        })
    }

    /// Whether this thread may talk to other ranks.
    fn is_here(&self) -> bool {
        self.process == std::process::id() && start::is_first_thread() && !self.alone.load(Ordering::Relaxed)
    }

    /// The program ends.
    fn leave(&self) {
        if self.is_here() {
            self.note([u64::MAX]);
            self.agree(&Point {
                text: &|| "the end of the program".into(),
                able: true,
                alone: self.is_gathered(),
                ranges: 0,
            });
        }
        self.transport.leave();
    }
}

/// Says where ranks are, by their texts.
fn parted(texts: &[String]) -> String {
    let mut said: Vec<(String, Vec<usize>)> = Vec::new();
    for (rank, text) in texts.iter().enumerate() {
        match said.iter_mut().find(|(other, _)| other == text) {
            Some((_, ranks)) => ranks.push(rank),
            None => said.push((text.clone(), vec![rank])),
        }
    }
    let list = |ranks: &[usize]| {
        let shown: Vec<String> = ranks.iter().take(8).map(usize::to_string).collect();
        let rest = if ranks.len() > 8 { format!(" and {} more", ranks.len() - 8) } else { String::new() };
        format!("rank{} {}{rest}", if ranks.len() > 1 { "s" } else { "" }, shown.join(", "))
    };
    let places: Vec<String> = said.iter().map(|(text, ranks)| format!("{} at {text}", list(ranks))).collect();
    let values = if said.len() == 1 { ", with different values" } else { "" };
    format!(
        "the ranks of the job, which run one program (POLLYRS_RT_MPI), went different ways: {}{values}",
        places.join("; ")
    )
}

static WORLD: OnceLock<Option<World>> = OnceLock::new();

/// The ranks that this thread's executions are shared with. Starts MPI at the first use.
pub fn active(config: &Config) -> Option<&'static World> {
    if !config.job.shares() || !start::is_first_thread() || !start::is_job() {
        return None;
    }
    let world = WORLD.get_or_init(|| {
        let world = start::world(config)?;
        // SAFETY: a C function of the process; the handler has the right type and lives as long as this
        // library.
        unsafe { atexit(leave) };
        Some(world)
    });
    world.as_ref().filter(|world| world.ranks() > 1 && world.is_here())
}

/// This process's number among those that share work.
pub fn rank() -> Option<usize> {
    WORLD.get()?.as_ref().map(World::rank)
}

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> c_int;
}

extern "C" fn leave() {
    // A forked child is no rank.
    if let Some(Some(world)) = WORLD.get()
        && world.process == std::process::id()
        && start::is_first_thread()
    {
        world.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use channels::{each_rank, ranks};

    #[test]
    fn what_differs_is_told() {
        let text = |texts: &[&str]| parted(&texts.iter().map(|t| t.to_string()).collect::<Vec<_>>());
        assert!(text(&["a", "b", "a"]).ends_with("went different ways: ranks 0, 2 at a; rank 1 at b"));
        assert!(text(&["a", "a"]).ends_with("ranks 0, 1 at a, with different values"));
    }

    #[test]
    fn digests_tell_order_and_length() {
        let all = [&[][..], &[0], &[0, 0], &[1], &[0, 1], &[1, 0], &[0; 8], &[0; 9]];
        let mut digests: Vec<u64> = all.iter().map(|bytes| digest_of(bytes)).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), all.len());
    }

    #[test]
    fn ranks_agree_or_part() {
        for (different, ranges, unable, alone, expected) in [
            (false, 0, None, true, Agreement::All),
            (false, 0, Some(1), true, Agreement::Refused(1)),
            (false, 5, None, false, Agreement::Differ),
            (false, 5, Some(2), true, Agreement::Refused(2)),
            (true, 0, None, true, Agreement::Alone),
        ] {
            let found = each_rank(ranks(3), move |transport| {
                let rank = transport.rank();
                let world = World::new(transport, true);
                world.note([7, if different { rank as u64 } else { 0 }]);
                let (ranges, able) = (ranges * (rank as u64 + 1), unable != Some(rank));
                world.agree(&Point { text: &|| "here".into(), able, alone, ranges })
            });
            assert_eq!(found, vec![expected; 3]);
        }
    }

    #[test]
    fn different_ways_end_the_job() {
        for forgiving in [false, true] {
            let said = each_rank(ranks(3), move |transport| {
                let rank = transport.rank();
                let world = World::new(transport, forgiving);
                world.note([rank as u64 / 2]);
                let text = || if rank == 2 { "there".to_owned() } else { "here".to_owned() };
                let agree = || world.agree(&Point { text: &text, able: true, alone: !forgiving, ranges: 0 });
                let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(agree)).unwrap_err();
                panic.downcast_ref::<String>().cloned().unwrap_or_default()
            });
            assert!(
                said.iter().all(|text| text.ends_with("ranks 0, 1 at here; rank 2 at there")),
                "{said:?}"
            );
        }
    }

    #[test]
    fn layouts_are_everybodys() {
        let found = each_rank(ranks(3), |transport| {
            let (rank, world) = (transport.rank(), World::new(transport, false));
            world.layout(rank + 1, (rank > 0).then_some(100 * rank as u64)).clone()
        });
        assert_eq!(found, vec![Layout { devices: vec![1, 2, 3], memory: Some(100) }; 3]);
    }
}
