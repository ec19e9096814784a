//! Threads that copy memory together with the thread that asks for it.
//!
//! Problem: one core copies some 10 GB/s, a PCIe 5.0 link 55 GB/s; a big transfer needs several cores for its
//! host side, and a small one none. Approach: `run(n, work)` calls `work` on the calling thread and lets up
//! to `n - 1` waiting threads join in. Whoever wakes too late finds nothing to do and is not waited for, so a
//! short job costs no more than the notifications.
//!
//! Invariants:
//!
//! * threads start at the first job that wants them, never before: a program of small transfers has none;
//! * `run` returns (or unwinds) only when no thread is inside of `work`;
//! * the threads block all signals: the program's handlers run on the program's threads;
//! * waiting threads hold nothing, and use the processor for no longer than it takes to be woken, so the end
//!   of the process may take them at any time. The library that holds their code is kept from being unloaded;
//! * a forked child has none of the threads, and no use for them: the crew belongs to a CUDA device, which a
//!   child leaves alone ([`crate::process::registry`]).

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use crate::base::error::{Error, Result};

/// Looks for a new job before a thread goes to sleep: some 50 µs.
const LOOKS: u32 = 1000;
/// The same where a job is expected: some 400 µs, in which 16 MB cross the link.
const EXPECTING_LOOKS: u32 = 8000;
/// Looks whether the others are done before the caller goes to sleep: some 25 µs. No more: 200 µs were no
/// better, nor worse.
const ENDING_LOOKS: u32 = 500;

/// What a job does; the argument is the participant's number, 0 for the calling thread.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// A job, with the lifetime taken off: [`Crew::run`] outlives every use.
#[derive(Clone, Copy)]
struct Job(*const Work<'static>);

// SAFETY: the work is `Sync`, and `Crew::run` keeps it alive while anybody uses it.
unsafe impl Send for Job {}

#[derive(Default)]
struct State {
    job: Option<Job>,
    /// Counts the jobs: a thread joins each once.
    jobs: u64,
    /// Participants have smaller numbers than this.
    limit: usize,
    panicked: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Threads inside of the job; raised and tested for 0 with the state locked.
    active: AtomicUsize,
    /// As `State::jobs`, for who only looks whether there is a new one.
    announced: AtomicU64,
    /// Somebody said that the next job comes soon.
    expected: AtomicBool,
    idle: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another job follows the last one closely, as the copies of an execution's arrays do: waking a
    /// thread takes 30 µs to 200.
    fn comes_soon(&self, last: u64) -> bool {
        let new = |_| {
            std::hint::spin_loop();
            self.announced.load(Ordering::Acquire) != last
        };
        (0..LOOKS).any(new) || self.expected.load(Ordering::Acquire) && (LOOKS..EXPECTING_LOOKS).any(new)
    }

    /// The life of a thread. Its number never changes, so that it meets the buffers that its core has in its
    /// caches.
    fn serve(&self, number: usize) {
        let mut last = 0;
        loop {
            let state = self.lock();
            let job = state.job.filter(|_| state.jobs != last && number < state.limit);
            last = state.jobs;
            if job.is_some() {
                self.active.fetch_add(1, Ordering::Relaxed);
            }
            drop(state);
            let Some(job) = job else {
                if !self.comes_soon(last) {
                    std::thread::park();
                }
                continue;
            };
            // SAFETY: `run` waits for `active` to be 0 before the work ends.
            let ended = catch_unwind(AssertUnwindSafe(|| unsafe { (*job.0)(number) }));
            let mut state = self.lock();
            state.panicked |= ended.is_err();
            if self.active.fetch_sub(1, Ordering::Release) == 1 {
                self.idle.notify_all();
            }
        }
    }
}

/// The threads; one job at a time.
pub struct Crew {
    shared: Arc<Shared>,
    /// Participants 1, 2, ...
    threads: Vec<Thread>,
}

/// Takes the job back and waits for those inside of it, whether the caller's part returns or unwinds.
struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.lock().job = None;
        // The others are about to be done as well.
        for _ in 0..ENDING_LOOKS {
            if self.0.active.load(Ordering::Acquire) == 0 {
                break;
            }
            std::hint::spin_loop();
        }
        let mut state = self.0.lock();
        while self.0.active.load(Ordering::Acquire) > 0 {
            state = self.0.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Crew {
    pub fn new() -> Crew {
        Crew { shared: Arc::default(), threads: Vec::new() }
    }

    /// A job for as many participants comes soon: who sleeps wakes up and looks for it. If none comes, they
    /// sleep again.
    pub fn expect(&mut self, participants: usize) {
        let others = participants.saturating_sub(1);
        self.start(others);
        self.shared.expected.store(true, Ordering::Release);
        self.threads.iter().take(others).for_each(Thread::unpark);
    }

    /// Runs `work` on this thread and at most `participants - 1` others.
    pub fn run(&mut self, participants: usize, work: &Work<'_>) -> Result<()> {
        let others = participants.saturating_sub(1);
        self.start(others);
        if others == 0 || self.threads.is_empty() {
            work(0);
            return Ok(());
        }
        // SAFETY: only the lifetime changes; `Ending` keeps the promise that nobody uses the work after this
        // call.
        let job = Job(unsafe { std::mem::transmute::<*const Work<'_>, *const Work<'static>>(work) });
        {
            let mut state = self.shared.lock();
            *state = State { job: Some(job), jobs: state.jobs + 1, limit: participants, panicked: false };
            self.shared.announced.store(state.jobs, Ordering::Release);
            self.shared.expected.store(false, Ordering::Release);
        }
        let ending = Ending(&self.shared);
        self.threads.iter().take(others).for_each(Thread::unpark);
        work(0);
        drop(ending);
        if self.shared.lock().panicked {
            return Err(Error::Internal("a copying thread panicked".into()));
        }
        Ok(())
    }

    /// Starts threads until there are `wanted`, or as many as the system allows.
    fn start(&mut self, wanted: usize) {
        if self.threads.len() >= wanted {
            return;
        }
        stay_loaded();
        let _blocked = BlockedSignals::new();
        while self.threads.len() < wanted {
            let (shared, number) = (self.shared.clone(), self.threads.len() + 1);
            let thread = std::thread::Builder::new().name("pollyrs-copy".into()).stack_size(256 << 10);
            match thread.spawn(move || shared.serve(number)) {
                Ok(handle) => self.threads.push(handle.thread().clone()),
                Err(_) => return,
            }
        }
    }
}

impl Default for Crew {
    fn default() -> Crew {
        Crew::new()
    }
}

/// `sigset_t` of Linux's C libraries: 1024 bits.
#[repr(C, align(8))]
struct SignalSet([u8; 128]);

/// `Dl_info`.
#[repr(C)]
struct SymbolInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn sigfillset(set: *mut SignalSet) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const SignalSet, old: *mut SignalSet) -> c_int;
    fn dladdr(address: *const c_void, info: *mut SymbolInfo) -> c_int;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
}

/// While it lives this thread, and every thread it starts, takes no signals.
pub struct BlockedSignals(Option<SignalSet>);

impl BlockedSignals {
    pub fn new() -> BlockedSignals {
        const SIG_SETMASK: c_int = 2;
        let (mut all, mut old) = (SignalSet([0; 128]), SignalSet([0; 128]));
        // SAFETY: both sets have the C library's size.
        let blocked =
            unsafe { sigfillset(&mut all) == 0 && pthread_sigmask(SIG_SETMASK, &all, &mut old) == 0 };
        BlockedSignals(blocked.then_some(old))
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        const SIG_SETMASK: c_int = 2;
        if let Some(old) = &self.0 {
            // SAFETY: the set that was in force before.
            unsafe { pthread_sigmask(SIG_SETMASK, old, std::ptr::null_mut()) };
        }
    }
}

/// Keeps the shared object that holds this code, if it is one, from being unloaded under the threads' feet.
pub fn stay_loaded() {
    const LAZY_NOLOAD_NODELETE: c_int = 0x1 | 0x4 | 0x1000;
    let mut info = SymbolInfo {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: an address of this object; the name that `dladdr` gives is NUL-terminated. Nothing is loaded
    // that isn't there.
    unsafe {
        if dladdr(stay_loaded as fn() as *const c_void, &mut info) != 0 && !info.file.is_null() {
            dlopen(info.file, LAZY_NOLOAD_NODELETE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_done_once_and_numbers_differ() {
        let mut crew = Crew::new();
        for participants in [1, 2, 8, 3, 1, 8] {
            for parts in [0, 1, 7, 1000] {
                let next = AtomicUsize::new(0);
                let done: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
                let numbers: Vec<AtomicUsize> = (0..8).map(|_| AtomicUsize::new(0)).collect();
                crew.run(participants, &|number| {
                    assert!(number < participants);
                    numbers[number].fetch_add(1, Ordering::Relaxed);
                    loop {
                        let part = next.fetch_add(1, Ordering::Relaxed);
                        if part >= parts {
                            break;
                        }
                        done[part].fetch_add(1, Ordering::Relaxed);
                    }
                })
                .unwrap();
                assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                assert!(numbers.iter().all(|count| count.load(Ordering::Relaxed) <= 1));
            }
        }
        assert_eq!(crew.threads.len(), 7);
    }

    #[test]
    fn a_panic_is_reported_and_the_crew_goes_on() {
        let mut crew = Crew::new();
        // Wait until another thread joins, so that the panic is not the caller's.
        let joined = AtomicUsize::new(0);
        let result = crew.run(2, &|number| {
            if number == 1 {
                joined.store(1, Ordering::Release);
                panic!("on purpose");
            }
            while joined.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
        });
        assert!(matches!(result, Err(Error::Internal(_))));
        assert!(catch_unwind(AssertUnwindSafe(|| crew.run(2, &|number| assert!(number != 0)))).is_err());
        crew.run(2, &|_| ()).unwrap();
    }

    #[test]
    fn what_is_expected_may_come_or_not() {
        let mut crew = Crew::new();
        crew.expect(3);
        assert_eq!(crew.threads.len(), 2);
        for _ in 0..3 {
            crew.expect(3);
            let joined = AtomicUsize::new(0);
            // Ends only if the others are awake, or wake.
            crew.run(3, &|_| {
                joined.fetch_add(1, Ordering::AcqRel);
                while joined.load(Ordering::Acquire) < 3 {
                    std::thread::yield_now();
                }
            })
            .unwrap();
            assert!(!crew.shared.expected.load(Ordering::Acquire));
        }
        crew.expect(1);
        crew.run(1, &|number| assert_eq!(number, 0)).unwrap();
    }

    #[test]
    fn no_threads_without_need() {
        let mut crew = Crew::new();
        crew.run(1, &|number| assert_eq!(number, 0)).unwrap();
        assert!(crew.threads.is_empty());
    }
}
