//! Launches that go to the device many at a time.
//!
//! Problem: a time loop launches thousands of kernels one after the other, and the driver takes four
//! microseconds for a launch, more than many of the kernels. Approach: launches are collected, and some of
//! them go as one CUDA graph, a chain of kernel nodes, which takes the driver a fifth
//! (`bench/notes/024-launches-in-a-row.md`). Graphs are made once, of a few lengths; before each use their
//! nodes get the kernels, grids and arguments of the launches. Invariants:
//!
//! * launches run in their order: a graph is a chain, and takes its place in the stream as any operation
//!   does. Whoever puts something else into the stream sends what is collected before
//!   ([`crate::gpu::queue`]);
//! * each launch goes to the stream once: what is collected is kept until the driver took the graph, and
//!   where it refuses any step before that, an old driver perhaps, the launches go one by one. Then the
//!   process uses no graphs any more;
//! * a graph is used by one queue at a time, and changed when its last launch is over: so the device is at
//!   most some graphs behind the program, which has to see in time that an execution takes too long
//!   ([`crate::cost`]). Several take turns, so that the device has work meanwhile.
//!
//! Making a graph costs what its launches would cost one by one, and the first one of a process as much
//! again; so long ones are made when short ones have been used so often that longer ones would have saved
//! that.
//!
//! Example: 300 launches of an execution. 64 go one by one, so that the device has work at once and programs
//! with few launches need no graph, in later executions 16; then as many times 16 as graphs as there are, and
//! the last 12 one by one. The same with graphs of both lengths: 16 one by one, four times 16, three times
//! 64; before the results are copied 16 more, and the last 12 one by one.

use std::ffi::{c_uint, c_void};
use std::ops::Range;

use crate::base::error::{Error, Result};
use crate::base::faults::{Faults, Operation};
use crate::driver::{self, Api, Handle, KernelNode};

/// Launches of a graph: the driver's time for the graph itself is spread over them.
const LENGTHS: [usize; 2] = [16, 64];
/// Launches of an execution that go one by one, before there are graphs and with them.
const FIRST: [usize; 2] = [64, 16];
/// Graphs that take turns.
const TURNS: usize = 2;
/// So many uses of short graphs make long ones worth making: 0.5 ms for two of them, and a use of a short one
/// takes 7 µs more for its launches than a long one.
const WORTH_LONG: usize = 64;

/// A launch without its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    pub function: Handle,
    pub blocks: c_uint,
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
}

/// Launches that are not in the stream yet.
#[derive(Default)]
pub struct Collected {
    /// Each with the place of its first slot.
    launches: Vec<(Launch, usize)>,
    /// The arguments of all.
    slots: Vec<u64>,
    /// To the slots; the driver takes arguments by such.
    pointers: Vec<*mut c_void>,
}

impl Collected {
    pub fn push(&mut self, launch: Launch, arguments: &[u64]) {
        self.launches.push((launch, self.slots.len()));
        self.slots.extend_from_slice(arguments);
        // The slots may have moved.
        self.pointers.clear();
    }

    pub fn len(&self) -> usize {
        self.launches.len()
    }

    pub fn is_empty(&self) -> bool {
        self.launches.is_empty()
    }

    pub fn clear(&mut self) {
        self.launches.clear();
        self.slots.clear();
        self.pointers.clear();
    }

    /// Some of the launches as the driver takes them: the pointers in them are good until the next change.
    pub fn kernels(&mut self, range: Range<usize>) -> impl ExactSizeIterator<Item = KernelNode> {
        if self.pointers.len() != self.slots.len() {
            self.pointers.clear();
            // The driver reads through these pointers only.
            let pointer = |slot| std::ptr::from_ref::<u64>(slot).cast_mut().cast::<c_void>();
            self.pointers.extend(self.slots.iter().map(pointer));
        }
        let pointers = self.pointers.as_mut_ptr();
        self.launches[range].iter().map(move |(launch, first)| KernelNode {
            function: launch.function,
            grid: [launch.blocks, 1, 1],
            block: launch.block,
            shared_bytes: launch.shared_bytes,
            // At most one past the last pointer, for a kernel without arguments.
            arguments: pointers.wrapping_add(*first),
            extra: std::ptr::null_mut(),
            kernel: Handle::NULL,
            context: Handle::NULL,
        })
    }
}

/// How many of `n` launches, of which no more follow at once, go together; 1: each goes alone. `long`: as
/// graphs of all lengths.
pub fn together(n: usize, long: bool) -> usize {
    let lengths = if long { &LENGTHS[..] } else { &LENGTHS[..1] };
    lengths.iter().copied().rev().find(|&length| length <= n).unwrap_or(1)
}

/// How far an execution's launches have got.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Went to the stream one by one before there were any others.
    alone: usize,
    /// Went as graphs.
    chained: usize,
}

impl Progress {
    /// How many launches to collect, the next one counted in; 1: none. `made`: there are graphs; `long`:
    /// [`Chains::long`].
    pub fn wanted(&self, made: bool, long: bool) -> usize {
        if self.chained == 0 && self.alone < FIRST[usize::from(made)] {
            1
        } else {
            // The device has little to do at first: no long wait.
            LENGTHS[usize::from(long && self.chained >= LENGTHS[1])]
        }
    }

    /// So many went together.
    pub fn count(&mut self, n: usize) {
        if n > 1 {
            self.chained += n;
        } else {
            self.alone += 1;
        }
    }
}

/// An executable graph.
struct Chain {
    executable: Handle,
    nodes: Vec<Handle>,
    /// Its last launch is over.
    done: Handle,
}

/// Graphs of one length.
#[derive(Default)]
struct Turns {
    made: Vec<Chain>,
    next: usize,
}

/// Graphs that a queue uses in turn.
#[derive(Default)]
pub struct Chains {
    turns: [Turns; LENGTHS.len()],
    /// Uses of short graphs after they were made.
    uses: usize,
    /// It is not known when a graph is done.
    error: Option<Error>,
}

impl Chains {
    /// Whether there are long graphs, or it is time to make them.
    pub fn long(&self) -> bool {
        self.uses >= WORTH_LONG
    }

    /// Launches as many kernels as [`together`] says. After an error none of them is in the stream.
    ///
    /// # Safety
    /// The kernels' context is current, their arguments are what they expect, and the stream is live.
    pub unsafe fn launch(
        &mut self,
        api: &Api,
        faults: &Faults,
        stream: Handle,
        kernels: impl ExactSizeIterator<Item = KernelNode>,
    ) -> Result<()> {
        let Some(kind) = LENGTHS.iter().position(|length| *length == kernels.len()) else {
            return Err(Error::Internal(format!("a chain of {}", kernels.len())));
        };
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let Turns { made, next } = &mut self.turns[kind];
        // SAFETY: the caller's promise; a graph's nodes live as long as it does.
        unsafe {
            if let Some(chain) = made.get(*next) {
                faults.check(Operation::Graph)?;
                api.event_synchronize(chain.done)?;
                for (&node, kernel) in chain.nodes.iter().zip(kernels) {
                    faults.check(Operation::Graph)?;
                    api.graph_set_kernel(chain.executable, node, &kernel)?;
                }
                self.uses += 1;
            } else {
                made.push(Chain::new(api, faults, kernels)?);
            }
            faults.check(Operation::Graph)?;
            api.graph_launch(made[*next].executable, stream)?;
            // This one is on its way; the next finds out.
            self.error = api.event_record(made[*next].done, stream).err();
        }
        *next = (*next + 1) % TURNS;
        Ok(())
    }
}

impl Chain {
    /// # Safety
    /// As for [`Chains::launch`].
    unsafe fn new(api: &Api, faults: &Faults, kernels: impl Iterator<Item = KernelNode>) -> Result<Chain> {
        faults.check(Operation::Graph)?;
        let (mut graph, mut done) = (Handle::NULL, Handle::NULL);
        // SAFETY: out-pointers to local variables; a new graph that nothing else refers to, or its nodes do
        // if it is complete.
        unsafe {
            api.event_create(&mut done, driver::EVENT_DISABLE_TIMING)?;
            let chain = api.graph_create(&mut graph, 0).and_then(|()| {
                let chain = Chain::fill(api, faults, graph, kernels, done);
                if chain.is_err() {
                    let _ = api.graph_destroy(graph);
                }
                chain
            });
            if chain.is_err() {
                let _ = api.event_destroy(done);
            }
            chain
        }
    }

    /// # Safety
    /// As for [`Chains::launch`]; the graph is new.
    unsafe fn fill(
        api: &Api,
        faults: &Faults,
        graph: Handle,
        kernels: impl Iterator<Item = KernelNode>,
        done: Handle,
    ) -> Result<Chain> {
        let mut nodes: Vec<Handle> = Vec::new();
        for kernel in kernels {
            faults.check(Operation::Graph)?;
            let mut node = Handle::NULL;
            let before = nodes.last().map_or(&[][..], std::slice::from_ref);
            // SAFETY: the graph's own nodes, and a kernel by the caller's promise; the driver copies its
            // arguments.
            unsafe { api.graph_add_kernel(&mut node, graph, before.as_ptr(), before.len(), &kernel) }?;
            nodes.push(node);
        }
        faults.check(Operation::Graph)?;
        let mut executable = Handle::NULL;
        // SAFETY: an out-pointer to a local variable. The graph stays, since its nodes name those of the
        // executable one.
        unsafe { api.graph_instantiate(&mut executable, graph, 0) }?;
        Ok(Chain { executable, nodes, done })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stay_with_their_launches() {
        let mut collected = Collected::default();
        let launch = |blocks| Launch { function: Handle::NULL, blocks, block: [32, 1, 1], shared_bytes: 0 };
        for round in 0..3u64 {
            for (blocks, arguments) in [(7, &[1, 2, 3][..]), (8, &[]), (9, &[4]), (10, &[5 + round, 6])] {
                collected.push(launch(blocks), arguments);
            }
            let read = |kernel: KernelNode, n: usize| -> Vec<u64> {
                // SAFETY: so many slots were pushed with the launch.
                (0..n).map(|i| unsafe { *(*kernel.arguments.add(i)).cast::<u64>() }).collect()
            };
            let found: Vec<_> =
                (0..2).flat_map(|i| collected.kernels(2 * i..2 * i + 2).collect::<Vec<_>>()).collect();
            let grids: Vec<_> = found.iter().map(|kernel| kernel.grid[0]).collect();
            assert_eq!(grids, [7, 8, 9, 10]);
            let slots: Vec<_> =
                found.into_iter().zip([3, 0, 1, 2]).map(|(kernel, n)| read(kernel, n)).collect();
            assert_eq!(slots, [vec![1, 2, 3], vec![], vec![4], vec![5 + round, 6]]);
            assert_eq!((collected.len(), collected.is_empty()), (4, false));
            collected.clear();
            assert!(collected.is_empty());
        }
    }

    #[test]
    fn lengths() {
        // What goes together of a number of launches, by what there was before.
        let sent = |launches: usize, mut made: bool, long: bool| {
            let (mut progress, mut waiting, mut sent) = (Progress::default(), 0, Vec::new());
            for launch in 1..=launches {
                waiting += 1;
                while waiting > 0 && (launch == launches || waiting >= progress.wanted(made, long)) {
                    let n = if progress.wanted(made, long) == 1 { 1 } else { together(waiting, long) };
                    progress.count(n);
                    made |= n > 1;
                    waiting -= n;
                    match sent.last_mut() {
                        Some((length, times)) if *length == n => *times += 1,
                        _ => sent.push((n, 1)),
                    }
                }
            }
            sent
        };
        assert_eq!(sent(0, false, false), []);
        assert_eq!(sent(79, false, false), [(1, 79)]);
        assert_eq!(sent(80, false, false), [(1, 64), (16, 1)]);
        assert_eq!(sent(300, false, false), [(1, 64), (16, 14), (1, 12)]);
        assert_eq!(sent(300, true, true), [(1, 16), (16, 4), (64, 3), (16, 1), (1, 12)]);
        assert_eq!(sent(31, true, true), [(1, 31)]);
    }
}
