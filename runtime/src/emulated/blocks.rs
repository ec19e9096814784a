//! Blocks and threads of the emulated device.
//!
//! Problem: a kernel is a function for one thread; blocks may run in any order and at once, and the threads
//! of a block meet at barriers. Approach: blocks are dealt out to workers in chunks. The threads of a block
//! run one after the other on the worker's own stack if the kernel has no barrier; otherwise each is a
//! coroutine, and a barrier switches back to the worker. A block then advances in rounds: in each, every
//! thread runs from one barrier to the next. Threads of a warp that pass values to each other ([`shuffle`])
//! wait for the others of the warp alone, within a round.
//!
//! Invariants:
//!
//! * after a round either all threads of the block wait at the barrier or all are done; anything else is
//!   undefined on a GPU and ends the program here;
//! * a coroutine is never dropped before it is done: its frames are compiled kernels, which can't be unwound;
//! * nothing is allocated for a thread of the grid: stacks, coroutine slots and shared memory belong to a
//!   worker and serve one block after the other, stacks even one launch after the other.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use corosensei::Yielder;
use corosensei::stack::DefaultStack;

use crate::base::abi::{EmuKernel, EmuThread, Kernel, Scop};
use crate::base::caller::fatal;
use crate::base::config::{Config, Order};
use crate::base::error::{Error, Result};
use crate::device::POISON;
use crate::emulated::check::{Checker, Thread};
use crate::emulated::flight::{Flight, Step};
use crate::emulated::tasks::Tasks;

/// Below this many threads in the grid a launch runs on the calling thread.
const INLINE_THREADS: u64 = 4096;
/// Workers beside the calling thread are started if a launch is not over by then: to start one and to wait
/// for it takes some 50 µs of processor time, and a few thousand threads may take less.
const ALONE: Duration = Duration::from_micros(150);
/// Coroutine stacks at once: each is two mappings, of which Linux gives a process 65,530.
const MAX_STACKS: usize = 16384;
/// Shared memory is aligned to this (the header says so).
const SHARED_ALIGNMENT: usize = 128;

/// One launch.
pub struct Grid<'a> {
    pub scop: &'static Scop,
    pub kernel: &'static Kernel,
    pub blocks: u64,
    /// Number of the launch in its execution.
    pub launch: u64,
    pub config: &'a Config,
}

/// Runs all blocks of a launch. A checked one runs on the calling thread alone.
///
/// # Safety
/// `arguments` are what the kernel expects, and stay so until the return.
pub unsafe fn run(grid: &Grid<'_>, arguments: &[u64], checker: Option<&mut Checker>) -> Result<()> {
    let kernel = grid.kernel;
    let Some(function) = kernel.emulated else {
        return Err(Error::NotEmulated(kernel.name().into_owned()));
    };
    let threads = kernel.block_threads();
    let cooperative = kernel.has_barrier() && threads > 1;
    let mut workers = if checker.is_some() || grid.blocks.saturating_mul(threads) <= INLINE_THREADS {
        1
    } else {
        grid.config.emu_threads
    };
    workers = workers.min(usize::try_from(grid.blocks).unwrap_or(usize::MAX));
    let mut stacks = Vec::new();
    let graph = kernel.is_graph();
    // Blocks in flight on a worker: where others than the first go on, what they don't wait for shows.
    let window = match grid.config.emu_order {
        Order::Forward => 1,
        _ if graph && cooperative && checker.is_none() => WINDOW,
        _ => 1,
    };
    if cooperative {
        let each = threads as usize * window;
        workers = workers.min(MAX_STACKS / each).max(1);
        stacks = take_stacks(workers * each, grid.config.emu_stack);
        workers = workers.min(stacks.len() / each);
        if workers == 0 {
            return_stacks(stacks);
            return Err(Error::OutOfMemory { bytes: threads * grid.config.emu_stack as u64 });
        }
    }
    let launch = Launch {
        grid,
        function,
        window,
        tasks: graph.then(|| Tasks::new(grid.blocks)),
        cooperative,
        arguments: Arguments(
            arguments.iter().map(|slot| std::ptr::from_ref(slot).cast_mut().cast()).collect(),
        ),
        // Blocks that wait for each other are claimed in order, one by one.
        order: Permutation::new(
            grid.blocks,
            if graph { Order::Forward } else { grid.config.emu_order },
            grid.launch,
        ),
        next: AtomicU64::new(0),
        // Eight chunks a worker even out blocks of different length.
        chunk: if graph { 1 } else { (grid.blocks / (8 * workers as u64)).max(1) },
    };
    let own = Share::new(kernel, &mut stacks, (cooperative, window))?;
    let mut others: Vec<Share> =
        (1..workers).map_while(|_| Share::new(kernel, &mut stacks, (cooperative, window)).ok()).collect();
    return_stacks(stacks);
    let checker = checker.map_or(std::ptr::null_mut(), |checker| {
        checker.begin_launch(kernel, grid.blocks);
        std::ptr::from_mut(checker)
    });
    std::thread::scope(|scope| {
        let launch = &launch;
        let begun = Instant::now();
        // Asked before each chunk.
        let help = || {
            if others.is_empty() || begun.elapsed() < ALONE {
                return;
            }
            for share in others.drain(..) {
                // Where a worker can't be started the others do its part, and its share is freed.
                let start = move || Worker::new(launch, share, std::ptr::null_mut()).run(|| ());
                let _ = std::thread::Builder::new().spawn_scoped(scope, start);
            }
        };
        Worker::new(launch, own, checker).run(help);
    });
    others.into_iter().for_each(|share| return_stacks(share.stacks));
    Ok(())
}

/// What a worker needs to begin.
struct Share {
    /// Of each block in flight.
    shared: Vec<SharedMemory>,
    /// One for each thread of these blocks if the threads are coroutines.
    stacks: Vec<DefaultStack>,
}

impl Share {
    fn new(
        kernel: &Kernel,
        stacks: &mut Vec<DefaultStack>,
        (cooperative, window): (bool, usize),
    ) -> Result<Share> {
        let shared = (0..window).map(|_| SharedMemory::new(kernel.shared_bytes)).collect::<Result<_>>()?;
        let threads = if cooperative { window * kernel.block_threads() as usize } else { 0 };
        Ok(Share { shared, stacks: stacks.split_off(stacks.len() - threads) })
    }
}

/// Pointers to the argument slots, as the kernel takes them.
pub(super) struct Arguments(pub Vec<*mut c_void>);

// SAFETY: kernels read through the pointers only, and what they point to outlives the launch.
unsafe impl Sync for Arguments {}

pub(super) struct Launch<'a> {
    pub grid: &'a Grid<'a>,
    pub function: EmuKernel,
    /// Blocks in flight on a worker.
    window: usize,
    /// Set if blocks wait for each other.
    pub tasks: Option<Tasks>,
    /// The threads of a block are coroutines.
    cooperative: bool,
    pub arguments: Arguments,
    order: Permutation,
    next: AtomicU64,
    chunk: u64,
}

/// See [`Launch::window`].
const WINDOW: usize = 3;
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

struct Worker<'a> {
    launch: &'a Launch<'a>,
    shared: Vec<SharedMemory>,
    stacks: Vec<DefaultStack>,
    /// Blocks whose threads meet at barriers, and what was one.
    running: Vec<Flight>,
    spare: Vec<Flight>,
    /// NULL, or the launch's, which outlives it and is only used on this thread.
    checker: *mut Checker,
}

impl<'a> Worker<'a> {
    fn new(launch: &'a Launch<'a>, share: Share, checker: *mut Checker) -> Worker<'a> {
        let Share { shared, stacks } = share;
        Worker { launch, shared, stacks, running: Vec::new(), spare: Vec::new(), checker }
    }

    /// Runs blocks until there are no more; `before` each chunk of them that function.
    fn run(mut self, mut before: impl FnMut()) {
        let Launch { grid, next, chunk, .. } = self.launch;
        loop {
            before();
            let first = next.fetch_add(*chunk, Ordering::Relaxed);
            if first >= grid.blocks {
                break;
            }
            for position in first..first.saturating_add(*chunk).min(grid.blocks) {
                let block = self.launch.order.at(position);
                let Some(mut shared) = self.shared.pop() else { continue };
                shared.poison();
                // SAFETY: no kernel runs now; see the field.
                if let Some(checker) = unsafe { self.checker.as_mut() } {
                    checker.begin_block(block, shared.start as u64);
                }
                if !self.launch.cooperative {
                    self.run_threads(block, &shared);
                    self.shared.push(shared);
                    continue;
                }
                let mut flight = self.spare.pop().unwrap_or_default();
                flight.begin(self.launch, block, (shared, self.checker), &mut self.stacks);
                self.running.push(flight);
                self.advance(self.launch.window - 1);
            }
        }
        self.advance(0);
        return_stacks(self.stacks);
    }

    /// Runs blocks until no more than `most` are in flight.
    fn advance(&mut self, most: usize) {
        let Launch { grid, .. } = self.launch;
        for turn in 0u64.. {
            if self.running.len() <= most {
                break;
            }
            let salt = grid.launch ^ mix(self.running[0].block.wrapping_mul(131).wrapping_add(turn));
            let among = self.running.len() as u64;
            let at = Permutation::new(among, grid.config.emu_order, salt).at(turn % among) as usize;
            match self.running[at].round(self.launch, self.checker) {
                Step::Ended => {
                    let mut flight = self.running.remove(at);
                    self.shared.extend(flight.end(&mut self.stacks));
                    self.spare.push(flight);
                }
                // Blocks of other workers, perhaps.
                Step::Waits => std::thread::yield_now(),
                Step::Round => {}
            }
        }
    }

    /// A block without barriers, or of one thread.
    fn run_threads(&self, block: u64, shared: &SharedMemory) {
        let Launch { grid, function, arguments, .. } = self.launch;
        let [x, y, z] = grid.kernel.block;
        let mut alone = Scheduler::Alone;
        let declared = grid.kernel.has_barrier();
        let scheduler = if declared { (&raw mut alone).cast() } else { std::ptr::null_mut() };
        let mut thread = self.launch.thread(block, 0, shared, self.checker);
        thread.abi.scheduler = scheduler;
        let arguments = arguments.0.as_ptr();
        if grid.config.emu_order == Order::Forward {
            for thread_z in 0..z {
                for thread_y in 0..y {
                    for thread_x in 0..x {
                        thread.abi.thread = [thread_x, thread_y, thread_z];
                        // SAFETY: a kernel of the descriptor with its arguments.
                        unsafe { function((&raw const thread).cast(), arguments) };
                        thread.linear += 1;
                    }
                }
            }
            return;
        }
        let order = self.launch.thread_order(block, 0);
        for position in 0..grid.kernel.block_threads() {
            let linear = order.at(position);
            (thread.abi.thread, thread.linear) = (thread_index(linear, [x, y, z]), linear as u32);
            // SAFETY: as above.
            unsafe { function((&raw const thread).cast(), arguments) };
        }
    }
}

impl Launch<'_> {
    /// The order of a block's threads in a round.
    pub fn thread_order(&self, block: u64, round: u64) -> Permutation {
        let salt = self.grid.launch ^ mix(block.wrapping_mul(31).wrapping_add(round));
        Permutation::new(self.grid.kernel.block_threads(), self.grid.config.emu_order, salt)
    }

    /// A thread of a block, without a scheduler.
    pub fn thread(&self, block: u64, linear: u64, shared: &SharedMemory, checker: *mut Checker) -> Thread {
        let thread = thread_index(linear, self.grid.kernel.block);
        let (shared, scheduler) = (shared.start.cast(), std::ptr::null_mut());
        Thread {
            abi: EmuThread { block, thread, reserved: 0, shared, scheduler },
            linear: linear as u32,
            tasks: self.tasks.as_ref().map_or(std::ptr::null(), std::ptr::from_ref),
            checker,
            barrier: std::ptr::null(),
            shown: [0; 2],
            shuffles: 0,
        }
    }
}

/// The x, y, z of a linear thread index; x varies fastest.
pub fn thread_index(linear: u64, block: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = block.map(u64::from);
    [(linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32]
}

/// The shared memory of the block that a worker runs.
pub(super) struct SharedMemory {
    start: *mut u8,
    layout: Layout,
    bytes: usize,
}

// SAFETY: memory that it alone owns.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    fn new(bytes: u32) -> Result<SharedMemory> {
        let out_of_memory = || Error::OutOfMemory { bytes: bytes.into() };
        let size = (bytes.max(1) as usize).next_multiple_of(SHARED_ALIGNMENT);
        let layout = Layout::from_size_align(size, SHARED_ALIGNMENT).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return Err(out_of_memory());
        }
        Ok(SharedMemory { start, layout, bytes: bytes as usize })
    }

    /// What one block left there means nothing to the next.
    fn poison(&mut self) {
        // SAFETY: `bytes` is at most the allocated size.
        unsafe { self.start.write_bytes(POISON, self.bytes) };
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and dropped once.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// Stacks between launches; all have the configured size.
static STACKS: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());

/// `n` stacks, or as many as there is memory for.
fn take_stacks(n: usize, bytes: usize) -> Vec<DefaultStack> {
    let mut pool = STACKS.lock().unwrap_or_else(PoisonError::into_inner);
    let keep = pool.len().saturating_sub(n);
    let mut stacks = pool.split_off(keep);
    drop(pool);
    while stacks.len() < n {
        match DefaultStack::new(bytes) {
            Ok(stack) => stacks.push(stack),
            Err(_) => break,
        }
    }
    stacks
}

fn return_stacks(mut stacks: Vec<DefaultStack>) {
    let mut pool = STACKS.lock().unwrap_or_else(PoisonError::into_inner);
    stacks.truncate(MAX_STACKS.saturating_sub(pool.len()));
    pool.append(&mut stacks);
}

/// An order of `0 .. n`: position `p` holds `(p * step + offset) mod n` with `step` coprime to `n`, or
/// `n - 1 - p`.
pub(super) struct Permutation {
    n: u64,
    step: u64,
    offset: u64,
}

impl Permutation {
    fn new(n: u64, order: Order, salt: u64) -> Permutation {
        let n = n.max(1);
        match order {
            Order::Forward => Permutation { n, step: 1, offset: 0 },
            Order::Reverse => Permutation { n, step: n - 1, offset: n - 1 },
            Order::Seeded(seed) => {
                let random = mix(seed ^ mix(salt));
                let coprime = |&step: &u64| gcd(step, n) == 1;
                // Some number in a few dozen consecutive ones is coprime; 1 always is.
                let step = (1 + random % n..=n).find(coprime).unwrap_or(1);
                Permutation { n, step, offset: mix(random) % n }
            }
        }
    }

    pub fn at(&self, position: u64) -> u64 {
        if self.step == 1 && self.offset == 0 {
            return position;
        }
        ((u128::from(position) * u128::from(self.step) + u128::from(self.offset)) % u128::from(self.n)) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
/// 2014).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
