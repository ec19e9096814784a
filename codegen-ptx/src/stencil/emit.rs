//! The frame of a fused kernel: arguments, the block's place, the choice between the version for inner tiles
//! and the one for tiles at the border, and the loop over rows.

use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::ir::types::{host_type, slot_type};
use crate::kernel::builder::{KernelBuilder, Launch};
use crate::kernel::module::{ScalarArg, StencilScalar};
use crate::kernel::storage::Plain;
use crate::statement::errno;
use crate::stencil::entry::Arguments;
use crate::stencil::iteration::{LoopCarried, iteration};
use crate::stencil::tile::{Tile, Values, Version};
use crate::stencil::{exchange, ramp};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::MappedScop;
use pollyrs_schedule::stencil::StencilPlan;
use pollyrs_scop::{ArrayId, Scop};
use std::collections::{BTreeMap, VecDeque};

pub(super) struct Input<'a> {
    pub ir: &'a Ir,
    pub module: Module,
    /// Without blocks.
    pub function: Value,
    pub scop: &'a Scop,
    pub mapped: &'a MappedScop,
    pub plan: &'a StencilPlan,
    pub copied: &'a [ArrayId],
    /// Type and alignment, by buffer.
    pub elements: &'a [(Type, u32)],
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
    let param = |i: usize| input.function.param(i as u32);
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
                let handle = input.scop.invariants[*at].value;
                let ty = host_type(handle);
                if slot_type(ir, ty).is_some() {
                    let narrow = ty.int_width().is_some_and(|w| w != 32 && w != 64);
                    invariants.insert(handle.address(), if narrow { ir.trunc(v, ty) } else { v });
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
    let arrays: BTreeMap<ArrayId, Value> =
        input.arrays.iter().enumerate().skip(n).map(|(i, a)| (*a, param(i))).collect();
    ir.br(body);
    let entry_end = start.terminator().ok_or(crate::CodegenError::Internal("no terminator".into()))?;
    ir.at_end(body);
    let k = KernelBuilder {
        scop: input.scop,
        mapped: input.mapped,
        launch: Launch {
            domain: Some(input.scop.domain()?),
            context: &input.scop.context,
            hoistable: &[],
            team: 1,
        },
        module: input.module,
        ir,
        emit: ExprEmitter::new(ir, names),
        arrays,
        invariants,
        sizes: BTreeMap::new(),
        entry_end,
        plans: BTreeMap::new(),
        has_barrier: true,
        task: None,
        counts: None,
        reports: BTreeMap::new(),
        storage: Plain,
    };
    let bytes =
        |i: usize| input.scop.array(plan.stencil.buffers[plan.nodes[i].buffer].array).elem.bytes() as usize;
    let layout = exchange::layout(plan, &bytes);
    let widest = (0..plan.nodes.len()).map(bytes).max().unwrap_or(0);
    let shared_bytes = (layout.0 * plan.slots).max(plan.transposed_elements() * widest);
    let mut t = Tile::new(k, input.function, plan, input.elements, Arguments { given, src, dst }, layout)?;
    if plan.stencil.dims == 1 {
        let zero = t.number(0);
        let full = t.columns_inside();
        let (inner, border) =
            (ir.append_block(input.function, "inner"), ir.append_block(input.function, "border"));
        ir.cond_br(full, inner, border);
        for (block, version) in [(inner, Version::Inner), (border, Version::Border)] {
            ir.at_end(block);
            t.cursor.version = version;
            t.enter(zero)?;
            straight(&mut t)?;
            errno::store(&t.k)?;
            ir.ret_void();
        }
    } else {
        rows(&mut t)?;
        errno::store(&t.k)?;
        ir.ret_void();
    }
    Ok(shared_bytes as u32)
}

/// Corners that are the same function become one value, so that tests against them are, too.
fn share_corners(plan: &StencilPlan, given: &mut BTreeMap<StencilScalar, Value>) -> Result<()> {
    use StencilScalar::{CaseLower, CaseUpper, Lower, OuterLower, OuterUpper, StepLower, StepUpper, Upper};
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
        for (k, x) in s.steps.iter().enumerate() {
            for (c, x) in x.cases.iter().enumerate() {
                corners.extend([(CaseLower(k, c, d), &x.lower[d]), (CaseUpper(k, c, d), &x.upper[d])]);
            }
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

/// One-dimensional: no row is streamed; each iteration computes the nodes whose turn it is.
fn straight(t: &mut Tile<'_>) -> Result<()> {
    let nodes = t.fixed.plan.nodes.len();
    let mut current: Vec<Option<Values>> = vec![None; nodes];
    let zero = t.number(0);
    for it in 0..=t.fixed.plan.max_lag() {
        t.begin_iteration();
        for i in t.fixed.plan.order.clone() {
            if t.fixed.plan.nodes[i].lag != it {
                continue;
            }
            let values = if t.fixed.plan.nodes[i].step.is_none() {
                t.load_input(i, zero)?
            } else {
                let own = |node: usize, _age: usize, cell: usize| current[node].as_ref().map(|v| v[cell]);
                let border = if t.loads_border(i) { Some(t.load_border(i, zero)?) } else { None };
                t.compute(i, zero, it, &own, border.as_ref())?
            };
            t.publish(i, it, zero, &values)?;
            current[i] = Some(values);
        }
        if it < t.fixed.plan.max_lag() {
            t.barrier();
        }
    }
    Ok(())
}

/// Two and three dimensions: the loop over rows, unrolled so that queues are renamed.
///
/// ```text choose: it = phi; input rows loaded ahead = phi; queues = phi         if the rows of the
/// iterations it .. it + U are inside: to inner or sides, by the warp's columns, else to border inner:
/// unrolled u = 0 .. U: load the inputs' row it+u+D; all nodes, in order; barrier         it += U; while it
/// <= end and the rows are inside sides:  the same with tests of columns border: the same with tests of rows
/// and columns, while it <= end and rows are not inside ramp:   the inner one at both ends of the block,
/// without the nodes whose rows nobody needs, where that pays ([`ramp`]) next:   it <= end? choose : done ```
/// Each version is a loop of its own: in one loop, queues would be moved between the registers of the
/// versions.
fn rows(t: &mut Tile<'_>) -> Result<()> {
    let ir = t.k.ir;
    let plan = t.fixed.plan;
    let cells = t.cells();
    let first = t.fixed.begin;
    t.cursor.version = Version::Border;
    let after = ir.append_block(t.fixed.function, "done");
    idle(t, after);
    let turns = !plan.unroll.is_multiple_of(plan.slots);
    let slots = if turns { t.cursor.slots.clone() } else { Vec::new() };
    let history = vec![VecDeque::new(); plan.nodes.len()];
    let mut start = LoopCarried { prefetched: BTreeMap::new(), history, slots };
    for i in &plan.order {
        if plan.nodes[*i].step.is_none() {
            let rows =
                (0..plan.prefetch_distance as i64).map(|r| t.load_input(*i, ir.add(first, t.number(r))));
            start.prefetched.insert(*i, rows.collect::<Result<_>>()?);
        }
        let nothing = t.element(*i).zero();
        start.history[*i] = vec![vec![nothing; cells]; plan.nodes[*i].window].into();
    }
    let columns = t.columns_inside();
    let before = ir.block();
    let block = |name: &str| ir.append_block(t.fixed.function, name);
    let (choose, next) = (block("rows"), block("next"));
    ir.br(choose);
    ir.at_end(choose);
    let it = ir.phi(ir.i32_type(), &[(first, before)]);
    let mut carried = start.phis(t, before);
    let mut versions = vec![(Version::Inner, false), (Version::Sides, false), (Version::Border, false)];
    if ramp::pays(plan) {
        versions.insert(2, (Version::Inner, true));
    }
    let entry = |(v, ramp): &(Version, bool)| {
        block(&format!("{v:?}{}.enter", if *ramp { ".ramp" } else { "" }).to_lowercase())
    };
    let entries: Vec<_> = versions.iter().map(entry).collect();
    // The border's is what is left.
    let last = versions.len() - 2;
    for (at, (version, entry)) in versions.iter().zip(&entries).enumerate().take(last + 1) {
        (t.cursor.version, t.cursor.ramp) = *version;
        let other = if at == last { entries[at + 1] } else { block("outer") };
        ir.cond_br(applies(t, it, columns), *entry, other);
        if at < last {
            ir.at_end(other);
        }
    }
    let mut ends = Vec::new();
    for (entry, version) in entries.into_iter().zip(versions) {
        ir.at_end(entry);
        (t.cursor.version, t.cursor.ramp) = version;
        ends.push(emit_version(t, it, columns, &carried, next)?);
    }
    t.cursor.ramp = false;
    ir.at_end(next);
    let following = ir.phi(ir.i32_type(), &ends.iter().map(|(b, it, _)| (*it, *b)).collect::<Vec<_>>());
    let mut nexts: Option<LoopCarried> = None;
    for (block, _, c) in &mut ends {
        match &mut nexts {
            None => nexts = Some(c.phis(t, *block)),
            Some(n) => n.add_incoming(t, c, *block),
        }
    }
    if let Some(n) = &mut nexts {
        carried.add_incoming(t, n, next);
    }
    ir.add_incoming(it, following, next);
    ir.cond_br(ir.icmp(LLVMIntSLE, following, t.fixed.end), choose, after);
    ir.at_end(after);
    Ok(())
}

/// Warps that hold no column which an output of the block depends on pass the barriers and do nothing else.
/// The code that follows is for the others.
fn idle(t: &Tile<'_>, after: Block) {
    let ir = t.k.ir;
    let block = |name| ir.append_block(t.fixed.function, name);
    let (waiting, working, before) = (block("idle"), block("working"), ir.block());
    ir.cond_br(t.is_idle(), waiting, working);
    ir.at_end(waiting);
    let it = ir.phi(ir.i32_type(), &[(t.fixed.begin, before)]);
    for _ in 0..t.fixed.plan.unroll {
        t.barrier();
    }
    let following = ir.add(it, t.number(t.fixed.plan.unroll as i64));
    ir.add_incoming(it, following, waiting);
    ir.cond_br(ir.icmp(LLVMIntSLE, following, t.fixed.end), waiting, after);
    ir.at_end(working);
}

/// Whether the version `t.cursor.version` is the right one for the iterations from `it` on, up to the
/// unrolling, for a warp whose columns are all inside or not. Rows that are loaded ahead count.
fn applies(t: &Tile<'_>, it: Value, columns: Value) -> Value {
    let ir = t.k.ir;
    let (first, last) = reach(t, it);
    let rows = t.rows_inside(first, last);
    let within = || ir.and(rows, t.rows_within(first, last));
    let place = match t.cursor.version {
        Version::Inner => ir.and(columns, rows),
        Version::Sides => ir.and(ir.not(columns), within()),
        Version::Border => return ir.not(ir.select(columns, rows, within())),
    };
    if t.cursor.version != Version::Inner || !ramp::pays(t.fixed.plan) {
        return place;
    }
    let needed = ramp::all_needed(t, it);
    ir.and(place, if t.cursor.ramp { ir.not(needed) } else { needed })
}

/// The first and the last row that the iterations from `it` on, up to the unrolling, come to.
fn reach(t: &Tile<'_>, it: Value) -> (Value, Value) {
    let ir = t.k.ir;
    let ahead = t.fixed.plan.unroll as i64 - 1 + t.fixed.plan.prefetch_distance as i64;
    (ir.sub(it, t.number(t.fixed.plan.max_lag())), ir.add(it, t.number(ahead)))
}

/// The loop of the version `t.cursor.version`, entered from the current block; the result is its last block,
/// with the next iteration and what is carried to it.
fn emit_version(
    t: &mut Tile<'_>,
    it: Value,
    columns: Value,
    entering: &LoopCarried,
    next: Block,
) -> Result<(Block, Value, LoopCarried)> {
    let ir = t.k.ir;
    let head = ir.append_block(t.fixed.function, &format!("{:?}", t.cursor.version).to_lowercase());
    t.enter(it)?;
    // Borders that no node holds, a row ahead.
    let mut border = Vec::new();
    for i in t.fixed.plan.order.clone() {
        if !t.loads_border(i) {
            continue;
        }
        border.push((i, t.load_border(i, ir.sub(it, t.number(t.fixed.plan.nodes[i].lag)))?));
    }
    let entry = ir.block();
    ir.br(head);
    ir.at_end(head);
    let now = ir.phi(ir.i32_type(), &[(it, entry)]);
    let mut phis = entering.phis(t, entry);
    let walking = t.walk_phis(entry);
    let early: Vec<(usize, Values)> = border
        .into_iter()
        .map(|(i, values)| {
            let ty = t.element(i);
            let phis = values.iter().map(|v| ir.phi(ty, &[(*v, entry)])).collect::<Values>();
            (i, phis)
        })
        .collect();
    if !phis.slots.is_empty() {
        t.cursor.slots = phis.slots.clone();
    }
    let mut c = phis.clone();
    let mut border: BTreeMap<usize, Values> = early.iter().cloned().collect();
    let unroll = t.fixed.plan.unroll;
    t.guard_prefetch(
        ir.add(now, t.number(unroll as i64 - 1 + t.fixed.plan.prefetch_distance as i64 + t.prefetched())),
    );
    let groups = ramp::groups(t, now);
    for u in 0..unroll as i64 {
        iteration(t, ir.add(now, t.number(u)), u, &groups, (&mut c, &mut border))?;
    }
    // What the next trip calls its first slot is the one whose turn it is.
    if !c.slots.is_empty() {
        c.slots.rotate_left(unroll % t.fixed.plan.slots);
    }
    let following = ir.add(now, t.number(unroll as i64));
    let again = ir.and(ir.icmp(LLVMIntSLE, following, t.fixed.end), applies(t, following, columns));
    let last = ir.block();
    ir.add_incoming(now, following, last);
    phis.add_incoming(t, &mut c, last);
    for (i, phis) in &early {
        for (phi, v) in phis.iter().zip(&border[i]) {
            ir.add_incoming(*phi, *v, last);
        }
    }
    t.walk_on(&walking, last);
    // A block that stays: copies that `next` needs would else be made in every iteration.
    let leave = ir.append_block(t.fixed.function, "leave");
    ir.cond_br(again, head, leave);
    ir.at_end(leave);
    let following = t.fixed(following);
    ir.br(next);
    Ok((leave, following, c))
}
