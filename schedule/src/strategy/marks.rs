//! What a placed schedule is: a tree with marks, and its estimate.

use crate::ScheduleTree;

/// The mark on a band that becomes grid and block.
pub const KERNEL: &str = "kernel";
/// The mark on a subtree that one thread runs.
pub const SERIAL: &str = "serial";
/// The mark on a band whose iterations are blocks. Beneath it, what would be loops on the host are loops of
/// the block, and what would be a launch, a step: its kernels' members become threads, and the block's
/// threads wait for each other behind it.
pub const NEST: &str = "nest";
/// The mark on a sequence of two subtrees for the same instances, of which one is executed: with a nest, and
/// without.
pub const EITHER: &str = "either";

/// The mark on a band whose iterations are tasks, which blocks claim in lexicographic order and which wait
/// for each other ([`super::graph`]). Beneath it is a band of one member, in each iteration of which a task
/// waits for those that it reads from, and beneath that a sequence as of a nest.
pub const GRAPH: &str = "graph";

/// The mark on a band whose iterations are blocks of rows ([`super::rows`]); beneath it is a sequence of
/// kernels, which are steps of a block, or launches.
pub const ROWS: &str = "rows";

/// A legal schedule with marks, and its estimated running time.
#[derive(Clone, Debug)]
pub struct Placed {
    pub tree: ScheduleTree,
    /// Nanoseconds on the model machine of [`super::place::place`], at parameter values of about a thousand.
    pub cost: f64,
    /// A lower bound of `cost`: everything in one launch at full throughput.
    pub ideal: f64,
    /// Whether anything runs in parallel.
    pub parallel: bool,
    /// Everything else was too much for the budget: nothing more is tried.
    pub last_resort: bool,
}
