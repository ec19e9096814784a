//! An iteration of a block: one row of every node.
//!
//! # Exact divisions and roots
//! They have one test for unusual operands ([`fast_division`]): of all nodes of an iteration together, where
//! the rows can be computed again without other threads. A test for each node ends a block of code each, and
//! keeps apart what does not depend on one another: the points of one step from those of the next. The test
//! comes before the rows are given to other threads and to memory:
//! ```text
//! r1 = fast(step 1), r2 = fast(step 2), ...;  unusual? exact : join
//! exact:  e1 = step 1, e2 = step 2, ...
//! join:   publish phi(r1, e1), phi(r2, e2), ...
//! ```

use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::ops::fast_division;
use crate::stencil::ramp::Group;
use crate::stencil::tile::{Tile, Values, Version};
use pollyrs_schedule::planted::planted;
use pollyrs_schedule::stencil::Exchange;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

/// One row of every node; `u` is its number in the unrolled loop. `border` has the rows of borders that were
/// loaded for this iteration, and then those for the next.
pub(super) fn iteration(
    t: &mut Tile<'_>,
    now: Value,
    u: i64,
    groups: &[Group],
    (c, border): (&mut LoopCarried, &mut BTreeMap<usize, Values>),
) -> Result<()> {
    let ir = t.k.ir;
    let plan = t.fixed.plan;
    let mut current: Vec<Option<Values>> = vec![None; plan.nodes.len()];
    let mut later = BTreeMap::new();
    for i in &plan.order {
        if plan.nodes[*i].step.is_none() {
            let taken = c.prefetched.get_mut(i).and_then(VecDeque::pop_front);
            current[*i] = taken.map(|row| row.iter().map(|v| t.taken(*v)).collect());
            let loaded = t.load_input(*i, ir.add(now, t.number(plan.prefetch_distance as i64)))?;
            if let Some(queue) = c.prefetched.get_mut(i) {
                queue.push_back(loaded);
            }
        } else if t.loads_border(*i) {
            let row = ir.sub(now, t.number(plan.nodes[*i].lag - 1));
            later.insert(*i, t.load_border(*i, row)?);
        }
    }
    for i in plan.order.iter().copied() {
        if let Some(v) = &current[i] {
            t.publish(i, u, row_of(t, i, now), v)?;
        }
    }
    let it = Iteration { now, u, history: &c.history, border };
    for group in groups {
        t.begin_iteration();
        let Some(join) = group.enter(t) else {
            it.compute_and_publish(t, &group.nodes, &mut current)?;
            continue;
        };
        it.compute(t, &group.nodes, &mut current, |t, i, values| {
            if plan.nodes[i].exchange { t.exchange(i, u, values) } else { Ok(()) }
        })?;
        group.leave(t, join, &mut current);
        for i in group.nodes.iter().copied().filter(|i| plan.nodes[*i].output) {
            if let Some(v) = &current[i] {
                t.store_output(i, row_of(t, i, now), v)?;
            }
        }
    }
    *border = later;
    for i in &plan.order {
        if let Some(v) = current[*i].take() {
            c.history[*i].push_front(v);
            c.history[*i].truncate(plan.nodes[*i].window);
        }
    }
    if !planted("row-barrier") {
        t.barrier();
    }
    Ok(())
}

/// The row of a node in an iteration.
fn row_of(t: &Tile<'_>, node: usize, now: Value) -> Value {
    t.k.ir.sub(now, t.number(t.fixed.plan.nodes[node].lag))
}

struct Iteration<'a> {
    now: Value,
    u: i64,
    /// `history[node][age - 1]`.
    history: &'a [VecDeque<Values>],
    border: &'a BTreeMap<usize, Values>,
}

impl Iteration<'_> {
    /// Computes the rows of nodes; `behind` is called behind each.
    fn compute(
        &self,
        t: &mut Tile<'_>,
        nodes: &[usize],
        current: &mut [Option<Values>],
        behind: impl Fn(&mut Tile<'_>, usize, &mut Values) -> Result<()>,
    ) -> Result<()> {
        for (at, i) in nodes.iter().copied().enumerate() {
            let own = |node: usize, age: usize, cell: usize| match age {
                0 => current[node].as_ref().map(|v: &Values| v[cell]),
                _ => self.history[node].get(age - 1).map(|v| v[cell]),
            };
            // Operands of the next node are on their way while this one is computed.
            let next = if at == 0 { 0..2 } else { at + 1..at + 2 };
            for next in nodes.iter().take(next.end).skip(next.start) {
                t.fetch_operands(*next, self.u, &own)?;
            }
            let row = row_of(t, i, self.now);
            let mut values = t.compute(i, row, self.u, &own, self.border.get(&i))?;
            behind(t, i, &mut values)?;
            current[i] = Some(values);
        }
        Ok(())
    }

    /// The same, and gives the rows to other threads and to memory.
    fn compute_and_publish(
        &self,
        t: &mut Tile<'_>,
        nodes: &[usize],
        current: &mut [Option<Values>],
    ) -> Result<()> {
        let publish = |t: &mut Tile<'_>, i, v: &mut Values| t.publish(i, self.u, row_of(t, i, self.now), v);
        if !tests_together(t, nodes) {
            return self.compute(t, nodes, current, publish);
        }
        let ir = t.k.ir;
        let before = ir.block();
        let last = before.last();
        let mut exactly = current.to_vec();
        t.cursor.tests = false;
        // What a division stores itself is replaced: its user stands in for it.
        let held = RefCell::new(Vec::new());
        let hold = |t: &mut Tile<'_>, _, values: &mut Values| {
            for v in values {
                let user = t.k.ir.freeze(*v);
                held.borrow_mut().push((user, *v));
                *v = user;
            }
            Ok(())
        };
        self.compute(t, nodes, current, hold)?;
        let test = if ir.block() == before { fast_division::use_fast_paths(&t.k, last) } else { None };
        if let Some(test) = test {
            let [_, join] = fast_division::branch(ir, test);
            t.begin_iteration();
            self.compute(t, nodes, &mut exactly, |_, _, _| Ok(()))?;
            let from = ir.block();
            ir.br(join);
            ir.at_end(join);
            for i in nodes {
                let ty = t.element(*i);
                for (q, e) in current[*i].iter_mut().flatten().zip(exactly[*i].iter().flatten()) {
                    *q = ir.phi(ty, &[(*q, before), (*e, from)]);
                }
            }
        }
        t.cursor.tests = true;
        if test.is_none() {
            let mut values = BTreeMap::new();
            for (user, v) in held.take() {
                // A node may keep the row of another.
                let v = values.get(&v).copied().unwrap_or(v);
                values.insert(user, v);
                // SAFETY: the handle is not used any more.
                unsafe { user.replace(v) };
            }
            for v in current.iter_mut().flatten().flatten() {
                *v = values.get(v).copied().unwrap_or(*v);
            }
        }
        for i in nodes.iter().copied() {
            if let Some(v) = &mut current[i] {
                publish(t, i, v)?;
            }
        }
        Ok(())
    }
}

/// Whether the rows of these nodes can be computed again by one thread alone, and have divisions or roots for
/// which that pays. Other rows are given to other threads and to memory as soon as they are there (reaction2d
/// 342 for 319 GStencil/s on an H200).
fn tests_together(t: &Tile<'_>, nodes: &[usize]) -> bool {
    let alone = !t.fixed.plan.config.is_warp() && t.fixed.plan.config.exchange == Exchange::Shared;
    let exact = |i: &usize| {
        let step = t.fixed.plan.nodes[*i].step.and_then(|s| t.fixed.plan.stencil.steps.get(s));
        step.is_some_and(|s| {
            t.k.scop.statements[s.stmt.0].body.iter().any(|i| fast_division::is_exact(host_value(*i)))
        })
    };
    alone && t.cursor.version != Version::Border && nodes.iter().filter(|i| exact(i)).count() > 1
}

/// The values that an iteration hands to the next.
#[derive(Clone)]
pub(crate) struct LoopCarried {
    /// Of each input node the rows loaded ahead, the next first.
    pub(crate) prefetched: BTreeMap<usize, VecDeque<Values>>,
    /// `history[node][age - 1]`.
    pub(crate) history: Vec<VecDeque<Values>>,
    /// Addresses of the slots in shared memory, if they change places.
    pub(crate) slots: Vec<Value>,
}

impl LoopCarried {
    /// All values, with the nodes they are of (`None`: a slot), in a fixed order.
    pub(crate) fn values(&mut self) -> impl Iterator<Item = (Option<usize>, &mut Value)> {
        let prefetched =
            self.prefetched.iter_mut().flat_map(|(i, q)| q.iter_mut().flatten().map(|v| (Some(*i), v)));
        let queues = self.history.iter_mut().enumerate();
        let queues = queues.flat_map(|(i, q)| q.iter_mut().flatten().map(move |v| (Some(i), v)));
        prefetched.chain(queues).chain(self.slots.iter_mut().map(|v| (None, v)))
    }

    /// Each value as a phi in the current block.
    pub(crate) fn phis(&self, t: &Tile<'_>, before: Block) -> LoopCarried {
        let mut phis = self.clone();
        for (i, v) in phis.values() {
            let ty = i.map_or(t.k.ir.ptr_type(), |i| t.element(i));
            *v = t.k.ir.phi(ty, &[(*v, before)]);
        }
        phis
    }

    /// Gives phis their values on another edge.
    pub(crate) fn add_incoming(&mut self, t: &Tile<'_>, other: &mut LoopCarried, from: Block) {
        for ((_, phi), (_, v)) in self.values().zip(other.values()) {
            t.k.ir.add_incoming(*phi, *v, from);
        }
    }
}
