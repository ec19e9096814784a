//! Blocks and threads of the emulated device.
//!
//! Problem: a kernel is a function for one thread; blocks may run in any order and at once, and the threads
//! of a block meet at barriers. Approach: blocks are dealt out to workers in chunks. The threads of a block
//! run one after the other on the worker's own stack if the kernel has no barrier; otherwise each is a
//! coroutine, and a barrier switches back to the worker. A block then advances in rounds: in each, every
//! thread runs from one barrier to the next ([`crate::emulated::threads`]).
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

use corosensei::stack::DefaultStack;

use crate::base::abi::{EmuKernel, EmuThread, Kernel, Scop};
use crate::base::config::{Config, Order};
use crate::base::error::{Error, Result};
use crate::device::POISON;
use crate::emulated::check::{Checker, Thread, thread_index};
use crate::emulated::flight::{Flight, Step};
use crate::emulated::order::{Permutation, mix};
use crate::emulated::tasks::Tasks;
use crate::emulated::threads::Scheduler;

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

#[cfg(test)]
mod tests;
