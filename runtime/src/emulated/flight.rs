//! A block whose threads are coroutines, from its first round to its last.
//!
//! A round takes every thread from one barrier to the next. Threads that wait for another block keep the
//! round from ending; the worker goes on with other blocks then, if it has some in flight.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use crate::base::caller::fatal;
use crate::emulated::blocks::{Launch, SharedMemory};
use crate::emulated::check::{Checker, Thread, thread_index};
use crate::emulated::threads::{Scheduler, WARP, Wait};

/// A block in flight. A coroutine is never dropped before it is done.
#[derive(Default)]
pub(super) struct Flight {
    pub block: u64,
    round: u64,
    shared: Option<SharedMemory>,
    running: Vec<Coroutine<(), Wait, ()>>,
    threads: Vec<Thread>,
    states: Vec<State>,
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Ahead of this round.
    Ready,
    Waits(Wait),
    Ended,
}

/// What a block did.
pub(super) enum Step {
    Round,
    /// Some threads wait for other blocks.
    Waits,
    Ended,
}

impl Flight {
    /// The threads of a block, none of which runs yet. As many stacks are there.
    pub fn begin(
        &mut self,
        launch: &Launch<'_>,
        block: u64,
        (shared, checker): (SharedMemory, *mut Checker),
        stacks: &mut Vec<DefaultStack>,
    ) {
        (self.block, self.round) = (block, 0);
        self.threads.clear();
        for linear in 0..launch.grid.kernel.block_threads() {
            self.threads.push(launch.thread(block, linear, &shared, checker));
        }
        self.shared = Some(shared);
        let threads = self.threads.as_mut_ptr();
        let first = stacks.len() - self.threads.len();
        for (index, stack) in stacks.drain(first..).enumerate() {
            // SAFETY: as many stacks as threads; the vector doesn't move while the coroutines run.
            let thread = unsafe { threads.add(index) };
            let (function, arguments) = (launch.function, launch.arguments.0.as_ptr());
            self.running.push(Coroutine::with_stack(stack, move |yielder, ()| {
                let mut scheduler = Scheduler::Switch(yielder);
                // SAFETY: this coroutine alone uses its thread; the kernel gets its arguments.
                unsafe {
                    (*thread).abi.scheduler = (&raw mut scheduler).cast();
                    function(thread.cast_const().cast(), arguments);
                }
            }));
        }
        self.states.clear();
        self.states.resize(self.running.len(), State::Ready);
    }

    /// Lets all threads run to the next barrier, as far as they need not wait for other blocks.
    pub fn round(&mut self, launch: &Launch<'_>, checker: *mut Checker) -> Step {
        let kernel = launch.grid.kernel;
        let (round, block, total) = (self.round, self.block, self.running.len());
        let order = launch.thread_order(block, round);
        // Ending the program also keeps the unfinished coroutines from being dropped.
        let divergent = |what: String| {
            let (name, scop) = (kernel.name(), launch.grid.scop.name());
            fatal(&format!("barrier {round} in kernel {name} of {scop}, block {block}: {what}"))
        };
        for at in (0..total as u64).map(|position| order.at(position) as usize) {
            if matches!(self.states[at], State::Ready | State::Waits(Wait::Task)) {
                self.resume(at);
            }
        }
        // Shuffles, until all threads are at the block's barrier.
        for first in (0..total).step_by(WARP as usize) {
            let warp = first..(first + WARP as usize).min(total);
            let mut at = warp.start;
            while let Some((thread, lanes)) = (at..warp.end).find_map(|t| Some((t, self.shuffles(t)?))) {
                let team = thread - thread % lanes..(thread - thread % lanes + lanes).min(total);
                if let Some(other) = team.clone().find(|t| self.states[*t] != self.states[thread]) {
                    if self.states[other] == State::Waits(Wait::Task) {
                        return Step::Waits;
                    }
                    let other = thread_index(other as u64, kernel.block);
                    divergent(format!(
                        "a shuffle is not reached by thread {other:?}, but by others of its warp"
                    ));
                }
                team.clone().for_each(|t| self.resume(t));
                // The same threads first, until they are at the block's barrier.
                at = team.start;
            }
        }
        if self.states.contains(&State::Waits(Wait::Task)) {
            return Step::Waits;
        }
        let waiting = self.states.iter().filter(|s| **s != State::Ended).count();
        let ended = self.states.iter().position(|s| *s == State::Ended);
        let waits = self.states.iter().position(|s| *s != State::Ended);
        if waiting == 0 {
            return Step::Ended;
        }
        if let (Some(ended), Some(waits)) = (ended, waits) {
            let [ended, waits] = [ended, waits].map(|t| thread_index(t as u64, kernel.block));
            divergent(format!(
                "reached by {waiting} of {total} threads, for instance by {waits:?}, not by {ended:?}"
            ));
        }
        let threads = self.threads.as_ptr();
        // SAFETY: all threads wait; none touches its descriptor.
        let barrier_of = |t: usize| unsafe { (*threads.add(t)).barrier };
        if let Some(other) = (1..total).find(|t| barrier_of(*t) != barrier_of(0)) {
            let other = thread_index(other as u64, kernel.block);
            divergent(format!("thread {other:?} waits at another barrier of the code than thread [0, 0, 0]"));
        }
        // SAFETY: as above; the checker is the launch's, and on this thread.
        if let Some(checker) = unsafe { checker.as_mut() } {
            checker.round();
        }
        self.states.fill(State::Ready);
        self.round += 1;
        Step::Round
    }

    /// The threads side by side that a thread waits for, if it is at a shuffle.
    fn shuffles(&self, thread: usize) -> Option<usize> {
        match self.states[thread] {
            State::Waits(wait) => wait.lanes(),
            State::Ready | State::Ended => None,
        }
    }

    /// What the block had, after its end.
    pub fn end(&mut self, stacks: &mut Vec<DefaultStack>) -> Option<SharedMemory> {
        stacks.extend(self.running.drain(..).map(Coroutine::into_stack));
        self.shared.take()
    }

    /// Lets a thread run on.
    fn resume(&mut self, thread: usize) {
        self.states[thread] = match self.running[thread].resume(()) {
            CoroutineResult::Yield(wait) => State::Waits(wait),
            CoroutineResult::Return(()) => State::Ended,
        };
    }
}
