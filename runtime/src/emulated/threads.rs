//! Threads that wait for each other, and pass values: what kernels of the emulated device call.
//!
//! A thread that waits switches back to its worker ([`crate::emulated::flight`]), which resumes it when those
//! that it waits for have come as far. Threads of a warp wait for the others of the warp alone, within a
//! round.

use corosensei::Yielder;

use crate::base::abi::EmuThread;
use crate::base::caller::fatal;
use crate::emulated::check::Thread;

/// Threads of a warp.
pub(super) const WARP: u64 = 32;

/// Whom a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Block,
    Warp,
    /// For the threads of its team: so many side by side.
    Team(u32),
    /// For another block.
    Task,
}

impl Wait {
    /// How many threads side by side wait for each other.
    pub fn lanes(self) -> Option<usize> {
        match self {
            Wait::Warp => Some(WARP as usize),
            Wait::Team(lanes) => Some(lanes as usize),
            Wait::Block | Wait::Task => None,
        }
    }
}

/// How a barrier of this thread is done; `EmuThread::scheduler` points here.
pub(super) enum Scheduler {
    /// The thread is alone in its block.
    Alone,
    /// Switches to the worker.
    Switch(*const Yielder<(), Wait>),
}

/// The barrier of `thread`'s block.
///
/// # Safety
/// `thread` is what the running kernel was called with.
pub unsafe fn barrier(thread: *const EmuThread) {
    // SAFETY: the caller's promise; a scheduler that is not NULL lives as long as its thread runs.
    match unsafe { (*thread).scheduler.cast::<Scheduler>().as_ref() } {
        Some(Scheduler::Alone) => {}
        // SAFETY: the yielder is that of the running coroutine.
        Some(Scheduler::Switch(yielder)) => unsafe { (**yielder).suspend(Wait::Block) },
        None => fatal("a kernel that is not marked to have barriers reached one"),
    }
}

/// Until a block that was claimed before has ended.
///
/// # Safety
/// `thread` is what the running kernel was called with.
pub unsafe fn wait(thread: *const EmuThread, block: u64) {
    let me = thread.cast::<Thread>();
    // SAFETY: the caller's promise; tasks outlive the launch, and a scheduler lives as long as its thread
    // runs.
    unsafe {
        let Some(tasks) = (*me).tasks.as_ref() else {
            fatal("a block of a kernel whose blocks do not wait for each other waits for one");
        };
        if block >= (*thread).block {
            fatal(&format!(
                "block {} waits for block {block}, which is claimed no earlier",
                (*thread).block as i64
            ));
        }
        while !tasks.has_ended(block) {
            match (*thread).scheduler.cast::<Scheduler>().as_ref() {
                Some(Scheduler::Switch(yielder)) => (**yielder).suspend(Wait::Task),
                _ => std::thread::yield_now(),
            }
        }
        if let Some(checker) = (*me).checker.as_mut() {
            checker.waited((*me).linear as u16, block);
        }
    }
}

/// The block of `thread` has ended; its first thread's call counts.
///
/// # Safety
/// `thread` is what the running kernel was called with.
pub unsafe fn signal(thread: *const EmuThread) {
    let me = thread.cast::<Thread>();
    // SAFETY: the caller's promise; tasks outlive the launch.
    unsafe {
        let Some(tasks) = (*me).tasks.as_ref().filter(|_| (*me).linear == 0) else { return };
        if let Some(checker) = (*me).checker.as_mut() {
            checker.signalled();
        }
        tasks.end((*thread).block);
    }
}

/// Shows a value to threads of the warp, waits until they show theirs, and gives the place where; `None`: the
/// thread is alone.
///
/// # Safety
/// `thread` is what the running kernel was called with; all threads that are waited for call it together.
unsafe fn show(thread: *const EmuThread, value: u64, wait: Wait) -> Option<usize> {
    let me = thread.cast::<Thread>().cast_mut();
    // SAFETY: the caller's promise; a thread alone writes what is its own, and a scheduler lives as long as
    // its thread runs.
    unsafe {
        let Some(Scheduler::Switch(yielder)) = (*thread).scheduler.cast::<Scheduler>().as_ref() else {
            return None;
        };
        let turn = (*me).shuffles as usize % 2;
        (*me).shown[turn] = value;
        (*me).shuffles = (*me).shuffles.wrapping_add(1);
        (**yielder).suspend(wait);
        Some(turn)
    }
}

/// The value that the thread `away` lanes away shows, or the thread's own where there is no such lane. All
/// threads of the warp call it together.
///
/// # Safety
/// `thread` is what the running kernel was called with.
pub unsafe fn shuffle(thread: *const EmuThread, value: u64, away: i32) -> u64 {
    let me = thread.cast::<Thread>();
    // SAFETY: the caller's promise; the threads of a block lie side by side, by their linear number.
    unsafe {
        let Some(turn) = show(thread, value, Wait::Warp) else { return value };
        let lane = i64::from((*me).linear) % WARP as i64 + i64::from(away);
        if !(0..WARP as i64).contains(&lane) {
            return value;
        }
        (*me.offset(away as isize)).shown[turn]
    }
}

/// The value that a thread of the team shows, of `lanes` threads side by side, a power of two up to a warp.
/// All of them call it together.
///
/// # Safety
/// `thread` is what the running kernel was called with.
pub unsafe fn pass(thread: *const EmuThread, value: u64, lane: u32, lanes: u32) -> u64 {
    let me = thread.cast::<Thread>();
    // SAFETY: as for `shuffle`; a team is within the block.
    unsafe {
        let Some(turn) = show(thread, value, Wait::Team(lanes)) else { return value };
        let away = i64::from(lane % lanes) - i64::from((*me).linear % lanes);
        (*me.offset(away as isize)).shown[turn]
    }
}
