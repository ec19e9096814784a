//! The nodes of a plan: versions of buffers, what they read, which part of them is needed, and queues.

use super::plan::{Config, axis};
use super::{Stencil, Step, StepAccess, instances};
use crate::planted::planted;

/// A version of a buffer: at the start of the launch, or behind one of its steps.
#[derive(Clone, Debug)]
pub struct Node {
    pub buffer: usize,
    /// `None`: the version at the start.
    pub step: Option<usize>,
    /// Time iteration within the launch.
    pub time: i64,
    /// The reads of buffers, in the order of the statement's accesses.
    pub reads: Vec<NodeRead>,
    /// The node before it of the same buffer, if the buffer has a border: outside of the box its values are
    /// kept.
    pub keep: Option<usize>,
    pub lag: i64,
    /// The region in which it is computed: the tile, extended towards lower and higher coordinates.
    pub lo: [i64; 3],
    pub hi: [i64; 3],
    /// Iterations that its values stay in registers.
    pub window: usize,
    /// Other threads read it.
    pub exchange: bool,
    /// The final version of a live buffer; of any buffer in a complete plan.
    pub output: bool,
    /// Whether an output depends on it.
    pub needed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRead {
    /// Position in the statement's accesses.
    pub access: usize,
    pub node: usize,
    pub offset: [i64; 3],
    /// Among the step's cases; `None`: wherever none of them applies.
    pub case: Option<usize>,
}

pub(super) fn node(buffer: usize, step: Option<usize>, time: i64) -> Node {
    Node {
        buffer,
        step,
        time,
        reads: Vec::new(),
        keep: None,
        lag: 0,
        lo: [0; 3],
        hi: [0; 3],
        window: 0,
        exchange: false,
        output: false,
        needed: false,
    }
}

/// The versions of all buffers: what is loaded, and what each fused step makes of it, with the iterations
/// that it comes later.
pub(super) fn versions(stencil: &Stencil, config: &Config) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut last: Vec<Option<usize>> = vec![None; stencil.buffers.len()];
    for (b, buffer) in stencil.buffers.iter().enumerate().filter(|(_, b)| b.live) {
        debug_assert!(buffer.live);
        last[b] = Some(nodes.len());
        nodes.push(node(b, None, 0));
    }
    let together = instances(&stencil.steps);
    for t in (0..config.fuse).step_by(stencil.period as usize) {
        for at in &together {
            let before = last.clone();
            for k in at.clone() {
                let step = &stencil.steps[k];
                let mut n = node(step.buffer, Some(k), t + step.time);
                n.reads = reads(stencil, step, &before);
                for r in &n.reads {
                    let crosses = r.offset[1] != 0 || r.offset[2] != 0;
                    let later = i64::from(config.apart || crosses && !config.is_warp());
                    let later = if planted("lag") { 0 } else { later };
                    let lag = nodes[r.node].lag;
                    n.lag = n.lag.max(lag + (r.offset[0] + later).max(0));
                }
                if stencil.buffers[step.buffer].has_border || step.partial {
                    n.keep = before[step.buffer];
                }
                if let Some(kept) = n.keep {
                    n.lag = n.lag.max(nodes[kept].lag);
                }
                last[step.buffer] = Some(nodes.len());
                nodes.push(n);
            }
        }
    }
    for (b, v) in last.iter().enumerate() {
        if let (Some(v), true) = (v, stencil.buffers[b].live || config.complete) {
            nodes[*v].output = true;
            nodes[*v].needed = true;
        }
    }
    nodes
}

/// What a step reads of buffers, whose versions are `before`.
pub(super) fn reads(stencil: &Stencil, step: &Step, before: &[Option<usize>]) -> Vec<NodeRead> {
    let mut reads = Vec::new();
    for (access, a) in step.accesses.iter().enumerate() {
        let StepAccess::Buffer { buffer, offset } = a else { continue };
        let Some(from) = before[*buffer] else { continue };
        let mut read = |offset: &[i64], case| {
            let mut o = [0; 3];
            for (d, v) in offset.iter().enumerate() {
                o[axis(stencil.dims, d)] = *v;
            }
            reads.push(NodeRead { access, node: from, offset: o, case });
        };
        read(offset, None);
        for (c, case) in step.cases.iter().enumerate().filter(|(_, c)| c.access == access) {
            read(&case.offset, Some(c));
        }
    }
    reads
}

/// Backwards: what is read must be computed where it is read, and be there until it is.
pub(super) fn need(nodes: &mut [Node]) {
    for i in (0..nodes.len()).rev() {
        let (lag, lo, hi) = (nodes[i].lag, nodes[i].lo, nodes[i].hi);
        if !nodes[i].needed {
            continue;
        }
        let kept = nodes[i].keep.map(|node| NodeRead { access: 0, node, offset: [0; 3], case: None });
        for r in nodes[i].reads.clone().into_iter().chain(kept) {
            let p = &mut nodes[r.node];
            p.needed = true;
            for a in 0..3 {
                p.lo[a] = p.lo[a].max(lo[a] - r.offset[a]);
                p.hi[a] = p.hi[a].max(hi[a] + r.offset[a]);
            }
            let age = (lag - p.lag - r.offset[0]) as usize;
            p.window = p.window.max(age);
            p.exchange |= r.offset[1] != 0 || r.offset[2] != 0;
        }
    }
}

/// Iterations that are unrolled, so that queues need no moves, and slots of shared memory.
pub(super) fn queues(nodes: &[Node], config: &Config) -> (usize, usize) {
    let (mut unroll, mut slots) = (1, 1);
    for n in nodes.iter().filter(|n| n.needed) {
        // A value of `window` iterations ago and the one of this iteration are there at once: in fewer names
        // they would be moved.
        unroll = unroll.max(n.window + 1);
        for r in &n.reads {
            if r.offset[1] != 0 || r.offset[2] != 0 {
                slots = slots.max((n.lag - nodes[r.node].lag - r.offset[0]) as usize + 1);
            }
        }
    }
    unroll = unroll.next_multiple_of(config.rows.max(1));
    slots -= usize::from(planted("slots") && slots > 1);
    if config.fixed && !unroll.is_multiple_of(slots) {
        slots = unroll;
    }
    (unroll, slots)
}
