//! The frame of a fused kernel: arguments, the block's place, the choice between the version for inner tiles and the one
//! for tiles at the border, and the loop over rows.

use super::StencilScalar;
use super::tile::{Tile, Values};
use crate::ast_expr::ExprEmitter;
use crate::error::Result;
use crate::ir::{Ir, terminator};
use crate::kernel::*;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_schedule::planted::planted;
use pollyrs_schedule::stencil::{StencilPlan, plan};
use pollyrs_schedule::{MappedKernel, MappedScop};
use pollyrs_scop::{ArrayId, Scop};
use std::collections::{BTreeMap, VecDeque};

pub(super) struct Input<'a> {
    pub ir: &'a Ir,
    pub module: LLVMModuleRef,
    /// Without blocks.
    pub function: LLVMValueRef,
    pub scop: &'a Scop,
    pub mapped: &'a MappedScop,
    pub kernel: &'a MappedKernel,
    pub plan: &'a StencilPlan,
    pub copied: &'a [ArrayId],
    /// Type and alignment, by buffer.
    pub elements: &'a [(LLVMTypeRef, u32)],
    /// The function's parameters.
    pub arrays: &'a [ArrayId],
    pub args: &'a [ScalarArg],
    pub scalars: &'a [StencilScalar],
}

/// The body of a kernel; the result is its shared memory in bytes.
pub(super) fn emit_kernel(input: Input<'_>) -> Result<u32> {
    let Input { ir, plan, .. } = input;
    let (start, body) = (ir.append_block(input.function, "entry"), ir.append_block(input.function, "body"));
    ir.at_end(start);
    // SAFETY: the function has one parameter an array and argument.
    let param = |i: usize| unsafe { LLVMGetParam(input.function, i as u32) };
    let n = 2 * input.copied.len();
    let mut names = BTreeMap::new();
    let mut invariants = BTreeMap::new();
    let mut given = BTreeMap::new();
    for (i, a) in input.args.iter().enumerate() {
        let v = param(input.arrays.len() + i);
        match a {
            ScalarArg::Param(p) => {
                names.insert(input.scop.params[*p].name.clone(), v);
            }
            ScalarArg::Invariant(at) => {
                let handle = input.scop.invariants[*at].value.0;
                let ty = host_type(handle);
                if slot_type(ir, ty).is_some() {
                    let narrow = int_width(ty).is_some_and(|w| w != 32 && w != 64);
                    invariants.insert(handle, if narrow { ir.trunc(v, ty) } else { v });
                }
            }
            ScalarArg::Stencil(s) => {
                given.insert(input.scalars[*s], v);
            }
            _ => {}
        }
    }
    share_corners(plan, &mut given)?;
    let src = input.copied.iter().enumerate().map(|(i, a)| (*a, param(2 * i))).collect();
    let dst = input.copied.iter().enumerate().map(|(i, a)| (*a, param(2 * i + 1))).collect();
    let arrays: BTreeMap<ArrayId, LLVMValueRef> =
        input.arrays.iter().enumerate().skip(n).map(|(i, a)| (*a, param(i))).collect();
    ir.br(body);
    let entry_end = terminator(start).ok_or(crate::CodegenError::Internal("no terminator".into()))?;
    ir.at_end(body);
    let k = KernelBuilder {
        scop: input.scop,
        mapped: input.mapped,
        kernel: input.kernel,
        module: input.module,
        ir,
        emit: ExprEmitter::new(ir, names),
        arrays,
        invariants,
        sizes: BTreeMap::new(),
        entry_end,
        plans: BTreeMap::new(),
        has_barrier: true,
        tiled: None,
    };
    let shared = slots(&input);
    let mut t = Tile::new(k, input.function, plan, input.elements, given, src, dst, shared.0)?;
    if plan.stencil.dims == 1 {
        let zero = t.number(0);
        let full = t.is_inner(zero, zero);
        let (inner, border) =
            (ir.append_block(input.function, "inner"), ir.append_block(input.function, "border"));
        ir.cond_br(full, inner, border);
        for (block, is_inner) in [(inner, true), (border, false)] {
            ir.at_end(block);
            t.inner = is_inner;
            straight(&mut t)?;
            ir.ret_void();
        }
    } else {
        rows(&mut t)?;
        ir.ret_void();
    }
    Ok(shared.1 as u32)
}

/// Corners that are the same function become one value, so that tests against them are, too.
fn share_corners(plan: &StencilPlan, given: &mut BTreeMap<StencilScalar, LLVMValueRef>) -> Result<()> {
    use StencilScalar::{Lower, OuterLower, OuterUpper, StepLower, StepUpper, Upper};
    let s = &plan.stencil;
    for d in 0..s.dims {
        let mut corners = Vec::new();
        for (b, x) in s.buffers.iter().enumerate() {
            corners.extend([(Lower(b, d), &x.lower[d]), (Upper(b, d), &x.upper[d])]);
            corners.extend([(OuterLower(b, d), &x.outer_lower[d]), (OuterUpper(b, d), &x.outer_upper[d])]);
        }
        for (k, x) in s.steps.iter().enumerate().filter(|(_, x)| x.partial) {
            corners.extend([(StepLower(k, d), &x.lower[d]), (StepUpper(k, d), &x.upper[d])]);
        }
        for (i, (to, f)) in corners.iter().enumerate() {
            for (from, g) in &corners[..i] {
                if f.is_equal(g)? {
                    if let Some(v) = given.get(from).copied() {
                        given.insert(*to, v);
                    }
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Where each node's slots begin in shared memory, and where the last ends.
fn slots(input: &Input<'_>) -> (Vec<usize>, usize) {
    let mut begin = Vec::new();
    let mut end = 0usize;
    for (i, n) in input.plan.nodes.iter().enumerate() {
        let bytes = input.scop.array(input.plan.stencil.buffers[n.buffer].array).elem.bytes() as usize;
        if n.needed {
            begin.push(end.next_multiple_of(bytes));
            end = plan::shared_end(input.plan, i, end, bytes);
        } else {
            begin.push(end);
        }
    }
    (begin, end)
}

/// One-dimensional: no row is streamed; each iteration computes the nodes whose turn it is.
fn straight(t: &mut Tile<'_>) -> Result<()> {
    let nodes = t.plan.nodes.len();
    let mut current: Vec<Option<Values>> = vec![None; nodes];
    let zero = t.number(0);
    for it in 0..=t.plan.max_lag() {
        t.begin_iteration();
        for i in t.plan.order.clone() {
            if t.plan.nodes[i].lag != it {
                continue;
            }
            let values = if t.plan.nodes[i].step.is_none() {
                t.load_input(i, zero)?
            } else {
                let own = |node: usize, _age: usize, cell: usize| current[node].as_ref().map(|v| v[cell]);
                let border = if t.loads_border(i) { Some(t.load_border(i, zero)?) } else { None };
                t.compute(i, zero, it, &own, border.as_ref())?
            };
            t.publish(i, it, zero, &values)?;
            current[i] = Some(values);
        }
        if it < t.plan.max_lag() {
            t.barrier();
        }
    }
    Ok(())
}

/// The values that an iteration hands to the next.
#[derive(Clone)]
struct Carried {
    /// Of each input node the rows loaded ahead, the next first.
    ahead: BTreeMap<usize, VecDeque<Values>>,
    /// `history[node][age - 1]`.
    history: Vec<VecDeque<Values>>,
}

impl Carried {
    /// All values, with the nodes they are of, in a fixed order.
    fn values(&mut self) -> impl Iterator<Item = (usize, &mut LLVMValueRef)> {
        let ahead = self.ahead.iter_mut().flat_map(|(i, q)| q.iter_mut().flatten().map(|v| (*i, v)));
        let queues = self.history.iter_mut().enumerate();
        ahead.chain(queues.flat_map(|(i, q)| q.iter_mut().flatten().map(move |v| (i, v))))
    }

    /// Each value as a phi in the current block.
    fn phis(&self, t: &Tile<'_>, before: LLVMBasicBlockRef) -> Carried {
        let mut phis = self.clone();
        for (i, v) in phis.values() {
            *v = t.k.ir.phi(t.element(i), &[(*v, before)]);
        }
        phis
    }
}

/// Two and three dimensions: the loop over rows, unrolled so that queues are renamed.
///
/// ```text
/// loop: it = phi; input rows loaded ahead = phi; queues = phi
///       if all rows of the iterations it .. it + U are inside for this warp: inner version, else border version; both:
///         unrolled u = 0 .. U: load the inputs' row it+u+D; all nodes, in order; barrier
/// ```
fn rows(t: &mut Tile<'_>) -> Result<()> {
    let ir = t.k.ir;
    let plan = t.plan;
    let cells = t.cells();
    let unroll = plan.unroll as i64;
    let first = t.begin;
    t.inner = false;
    let mut start = Carried { ahead: BTreeMap::new(), history: vec![VecDeque::new(); plan.nodes.len()] };
    for i in &plan.order {
        if plan.nodes[*i].step.is_none() {
            let rows = (0..plan.ahead as i64).map(|r| t.load_input(*i, ir.add(first, t.number(r))));
            start.ahead.insert(*i, rows.collect::<Result<_>>()?);
        }
        // SAFETY: a scalar type. The value is never part of a result.
        let nothing = unsafe { LLVMConstNull(t.element(*i)) };
        start.history[*i] = vec![vec![nothing; cells]; plan.nodes[*i].window].into();
    }
    let before = ir.block();
    let block = |name| ir.append_block(t.function, name);
    let (head, inner, border) = (block("rows"), block("inner"), block("border"));
    let (latch, after) = (block("next"), block("done"));
    ir.br(head);
    ir.at_end(head);
    let it = ir.phi(ir.i32_type(), &[(first, before)]);
    let mut carried = start.phis(t, before);
    // The rows loaded ahead included.
    let lowest = ir.sub(it, t.number(plan.max_lag()));
    let full = t.is_inner(lowest, ir.add(it, t.number(unroll - 1 + plan.ahead as i64)));
    ir.cond_br(full, inner, border);
    let mut ends = Vec::new();
    for (block, is_inner) in [(inner, true), (border, false)] {
        ir.at_end(block);
        t.inner = is_inner;
        let mut c = carried.clone();
        if !is_inner {
            // Else the optimizer would find the versions' common subexpressions and compute them in front of both, all at once.
            // Not what is still being loaded: that would wait for it.
            c.history.iter_mut().flatten().flatten().for_each(|v| *v = t.pinned(*v));
        }
        for u in 0..unroll {
            iteration(t, ir.add(it, t.number(u)), u, &mut c)?;
        }
        ends.push((ir.block(), c));
        ir.br(latch);
    }
    ir.at_end(latch);
    let mut nexts = Vec::new();
    for ((i, phi), ends) in carried.values().zip(columns(&mut ends)) {
        nexts.push((*phi, ir.phi(t.element(i), &ends)));
    }
    for (phi, next) in nexts {
        ir.add_incoming(phi, next, latch);
    }
    let following = ir.add(it, t.number(unroll));
    ir.add_incoming(it, following, latch);
    ir.cond_br(ir.icmp(LLVMIntSLE, following, t.end), head, after);
    ir.at_end(after);
    Ok(())
}

/// For each carried value, what it is at the end of each version.
fn columns(ends: &mut [(LLVMBasicBlockRef, Carried)]) -> Vec<Vec<(LLVMValueRef, LLVMBasicBlockRef)>> {
    let mut out: Vec<Vec<(LLVMValueRef, LLVMBasicBlockRef)>> = Vec::new();
    for (block, c) in ends {
        for (at, (_, v)) in c.values().enumerate() {
            if at == out.len() {
                out.push(Vec::new());
            }
            out[at].push((*v, *block));
        }
    }
    out
}

/// One row of every node; `u` is its number in the unrolled loop.
fn iteration(t: &mut Tile<'_>, now: LLVMValueRef, u: i64, c: &mut Carried) -> Result<()> {
    let ir = t.k.ir;
    let plan = t.plan;
    t.begin_iteration();
    let mut current: Vec<Option<Values>> = vec![None; plan.nodes.len()];
    let mut border = BTreeMap::new();
    for i in &plan.order {
        if plan.nodes[*i].step.is_none() {
            let loaded = t.load_input(*i, ir.add(now, t.number(plan.ahead as i64)))?;
            if let Some(queue) = c.ahead.get_mut(i) {
                queue.push_back(loaded);
                current[*i] = queue.pop_front();
            }
        } else if t.loads_border(*i) {
            let row = ir.sub(now, t.number(plan.nodes[*i].lag));
            border.insert(*i, t.load_border(*i, row)?);
        }
    }
    for i in plan.order.iter().copied() {
        let row = ir.sub(now, t.number(plan.nodes[i].lag));
        let values = match current[i].take() {
            Some(v) => v,
            None => {
                let own = |node: usize, age: usize, cell: usize| match age {
                    0 => current[node].as_ref().map(|v: &Values| v[cell]),
                    _ => c.history[node].get(age - 1).map(|v| v[cell]),
                };
                t.compute(i, row, u, &own, border.get(&i))?
            }
        };
        t.publish(i, u, row, &values)?;
        current[i] = Some(values);
    }
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
