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
    let full = t.is_inner();
    let (inner, border) =
        (ir.append_block(input.function, "inner"), ir.append_block(input.function, "border"));
    ir.cond_br(full, inner, border);
    for (block, is_inner) in [(inner, true), (border, false)] {
        ir.at_end(block);
        t.enter(is_inner)?;
        if plan.stencil.dims == 1 {
            straight(&mut t)?
        } else {
            rows(&mut t)?
        }
        ir.ret_void();
    }
    Ok(shared.1 as u32)
}

/// Corners that are the same function for two buffers become one value, so that tests against them are, too.
fn share_corners(plan: &StencilPlan, given: &mut BTreeMap<StencilScalar, LLVMValueRef>) -> Result<()> {
    use StencilScalar::{Lower, OuterLower, OuterUpper, Upper};
    let buffers = &plan.stencil.buffers;
    for b in 1..buffers.len() {
        for first in (0..b).rev() {
            for d in 0..plan.stencil.dims {
                let (x, y) = (&buffers[first], &buffers[b]);
                let pairs = [
                    (Lower(first, d), Lower(b, d), &x.lower[d], &y.lower[d]),
                    (Upper(first, d), Upper(b, d), &x.upper[d], &y.upper[d]),
                    (OuterLower(first, d), OuterLower(b, d), &x.outer_lower[d], &y.outer_lower[d]),
                    (OuterUpper(first, d), OuterUpper(b, d), &x.outer_upper[d], &y.outer_upper[d]),
                ];
                for (from, to, f, g) in pairs {
                    if let Some(v) = given.get(&from).copied()
                        && f.is_equal(g)?
                    {
                        given.insert(to, v);
                    }
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
        for i in t.plan.order.clone() {
            if t.plan.nodes[i].lag != it {
                continue;
            }
            let values = if t.plan.nodes[i].step.is_none() {
                t.load_input(i, zero)?
            } else {
                let own = |node: usize, _age: usize, cell: usize| current[node].as_ref().map(|v| v[cell]);
                {
                    let border = if t.loads_border(i) { Some(t.load_border(i, zero)?) } else { None };
                    t.compute(i, zero, it, &own, border.as_ref())?
                }
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

/// Two and three dimensions: the loop over rows, unrolled so that queues are renamed.
///
/// ```text
/// loop: it = phi; input rows loaded ahead = phi; queues = phi
///       unrolled u = 0 .. U: load the inputs' row it+u+1; all nodes, in order; barrier
/// ```
fn rows(t: &mut Tile<'_>) -> Result<()> {
    let ir = t.k.ir;
    let plan = t.plan;
    let cells = t.cells();
    let inputs: Vec<usize> = plan.order.iter().copied().filter(|i| plan.nodes[*i].step.is_none()).collect();
    let mut ahead: BTreeMap<usize, Values> = BTreeMap::new();
    let first = t.begin;
    for i in &inputs {
        ahead.insert(*i, t.load_input(*i, first)?);
    }
    let borders: Vec<usize> = plan.order.iter().copied().filter(|i| t.loads_border(*i)).collect();
    for i in &borders {
        let row = ir.sub(first, t.number(plan.nodes[*i].lag));
        ahead.insert(*i, t.load_border(*i, row)?);
    }
    let before = ir.block();
    let (head, after) = (ir.append_block(t.function, "rows"), ir.append_block(t.function, "done"));
    ir.br(head);
    ir.at_end(head);
    let it = ir.phi(ir.i32_type(), &[(first, before)]);
    let mut phis: Vec<(LLVMValueRef, usize, Option<usize>, usize)> = Vec::new();
    let mut next: BTreeMap<usize, Values> = BTreeMap::new();
    for i in inputs.iter().chain(&borders) {
        let mut values = Vec::new();
        for (cell, v) in ahead[i].iter().enumerate() {
            let phi = ir.phi(t.element(*i), &[(*v, before)]);
            phis.push((phi, *i, None, cell));
            values.push(phi);
        }
        next.insert(*i, values);
    }
    // history[node][age - 1]
    let mut history: Vec<VecDeque<Values>> = vec![VecDeque::new(); plan.nodes.len()];
    for i in &plan.order {
        for age in 0..plan.nodes[*i].window {
            let mut values = Vec::new();
            for cell in 0..cells {
                let ty = t.element(*i);
                // SAFETY: a scalar type. The value is never part of a result.
                let phi = ir.phi(ty, &[(unsafe { LLVMConstNull(ty) }, before)]);
                phis.push((phi, *i, Some(age), cell));
                values.push(phi);
            }
            history[*i].push_back(values);
        }
    }
    for u in 0..plan.unroll as i64 {
        let now = ir.add(it, t.number(u));
        let mut current: Vec<Option<Values>> = vec![None; plan.nodes.len()];
        for i in &inputs {
            let loaded = t.load_input(*i, ir.add(now, t.number(1)))?;
            current[*i] = next.insert(*i, loaded);
        }
        let mut border = BTreeMap::new();
        for i in &borders {
            let row = ir.sub(ir.add(now, t.number(1)), t.number(plan.nodes[*i].lag));
            let loaded = t.load_border(*i, row)?;
            border.insert(*i, next.insert(*i, loaded));
        }
        for i in plan.order.clone() {
            let row = ir.sub(now, t.number(plan.nodes[i].lag));
            let values = match current[i].take() {
                Some(v) => v,
                None => {
                    let own = |node: usize, age: usize, cell: usize| match age {
                        0 => current[node].as_ref().map(|v: &Values| v[cell]),
                        _ => history[node].get(age - 1).map(|v| v[cell]),
                    };
                    t.compute(i, row, u, &own, border.get(&i).and_then(Option::as_ref))?
                }
            };
            t.publish(i, u, row, &values)?;
            current[i] = Some(values);
        }
        for i in &plan.order {
            if let Some(v) = current[*i].take() {
                history[*i].push_front(v);
                history[*i].truncate(plan.nodes[*i].window);
            }
        }
        t.barrier();
    }
    let end = ir.block();
    for (phi, node, age, cell) in phis {
        let v = match age {
            None => next[&node][cell],
            Some(age) => history[node][age][cell],
        };
        ir.add_incoming(phi, v, end);
    }
    let following = ir.add(it, t.number(plan.unroll as i64));
    ir.add_incoming(it, following, end);
    ir.cond_br(ir.icmp(LLVMIntSLE, following, t.end), head, after);
    ir.at_end(after);
    Ok(())
}
