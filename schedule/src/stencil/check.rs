//! Proofs about fused stencils. Nothing here uses how a plan was made; that the model says what the SCoP does
//! is proved before ([`super::readings`]).
//!
//! - [`same_flow`]: the program's order gives every read the value that the order of steps gives it.
//! - [`hulls_are_touched`]: what tiles write lies within the memory that an array has on the device.
//! - [`check`]: a [`StencilPlan`] computes every value from the right ones and each final element in exactly
//!   one block.
//!
//! # Argument
//! Let a *node* be a step of the launch or a live buffer's version at its start. The kernel holds the value
//! of node `v` at point `y` exactly if `y` is in its region: the tile extended by `lo` and `hi`. Then
//! 1. each read of a step finds the version that the order of steps says: the last node before it that is of
//!    the same buffer; so does what a step keeps outside of its buffer's box (a first node of a buffer that
//!    is not live takes it from the array);
//! 2. by induction over the nodes, the value at each point of the region is right, if the region of a read
//!    node contains the reader's region shifted by the offset ([`Rule::Region`]);
//! 3. a value is there when it is read: in registers it is at most `window` iterations old and not from the
//!    future; in shared memory it was written before the last barrier and its slot is not yet reused
//!    ([`Rule::Time`], [`Rule::Slot`]);
//! 4. threads hold all columns of all regions ([`Rule::Columns`]);
//! 5. each live buffer's last node is written on the tile, tiles partition the box ([`Rule::Output`],
//!    [`Rule::Tiles`]).
//!
//! Input and output of a launch are different memory: live buffers alternate between the array and its copy,
//! and elements outside of a buffer's box are read from the array, where no fused launch writes them. Buffers
//! that are not live are written, by complete plans, in the array: inside of their boxes no launch reads them
//! (a read of one has a node before it, by 1).

use super::functions::{coordinate, lift};
use super::plan::StencilPlan;
use super::versions::NodeRead;
use super::{Buffer, Stencil, StepAccess};
use crate::tree::{ScheduleTree, Tree, member_map};
use crate::{Dependences, MappedScop, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop};
use std::fmt;

/// What a plan must obey; see the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Version,
    Region,
    Time,
    Slot,
    Columns,
    Output,
    Tiles,
}

/// A broken rule.
#[derive(Clone, Debug)]
pub struct Violation {
    pub rule: Rule,
    pub at: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stencil rule {:?}: {}", self.rule, self.at)
    }
}

/// Whether every read gets its value from the same instance when time is outermost, the statements of an
/// iteration run one after the other, and all instances of a statement at one time are simultaneous (and read
/// before they write). Only for parameters in `Stencil::runs`: elsewhere no steps are fused.
///
/// The exact flow dependences decide, whose number of pairs grows with the square of the reads of a written
/// array. Most programs need no more than their form: let the program itself run time outermost and then one
/// statement after the other ([`runs_by_steps`]), and let no statement read at one time a buffer that it
/// writes then. Both orders agree on which writes come before a read but for those of its own statement and
/// time, which are of other buffers. No element is written twice at one time by one statement, so the last
/// write before the read is the same in both.
pub fn same_flow(scop: &Scop, deps: &Dependences, stencil: &Stencil) -> Result<bool> {
    Ok(same_flow_by_form(scop, stencil)? || same_flow_exactly(scop, deps, stencil)?)
}

/// Whether the form of the program alone tells: no isl operation on pairs of accesses.
pub(super) fn same_flow_by_form(scop: &Scop, stencil: &Stencil) -> Result<bool> {
    Ok(reads_no_own_buffer(stencil) && runs_by_steps(scop)?)
}

/// By the flow dependences of both orders.
pub(super) fn same_flow_exactly(scop: &Scop, deps: &Dependences, stencil: &Stencil) -> Result<bool> {
    let known = known(scop)?.intersect(stencil.runs.clone())?;
    let of = |kind: AccessKind| -> Result<isl::UnionMap> {
        Ok(scop.accesses(|_, a| a.kind == kind)?.intersect_params(known.clone())?)
    };
    let mut order = isl::UnionMap::empty(&scop.ctx)?;
    for (k, s) in scop.statements.iter().enumerate() {
        let dims: Vec<String> = (0..s.domain.dim(isl::DimType::Set)?).map(|d| format!("i{d}")).collect();
        let text = format!("{{ {}[{}] -> [i0, {k}] }}", s.name, dims.join(", "));
        order = order.union(isl::UnionMap::read(&scop.ctx, &text)?)?;
    }
    let order = order.intersect_domain(scop.domain()?.intersect_params(known.clone())?)?;
    let flow = isl::UnionAccessInfo::from_sink(of(AccessKind::Read)?)?
        .set_must_source(of(AccessKind::MustWrite)?)?
        .set_may_source(of(AccessKind::MayWrite)?)?
        .set_schedule_map(order)?
        .compute_flow()?;
    let tagged = flow.full_must_dependence()?.union(flow.full_may_dependence()?)?;
    let same = |a: isl::UnionMap, b: isl::UnionMap| -> Result<bool> {
        Ok(a.intersect_params(known.clone())?.is_equal(&b.intersect_params(known.clone())?)?)
    };
    Ok(same(tagged, deps.tagged_flow.clone())? && same(flow.may_no_source()?, deps.no_source.clone())?)
}

/// Whether no statement reads at one time a buffer that it writes at that time. (What is no buffer is not
/// written at all.)
fn reads_no_own_buffer(stencil: &Stencil) -> bool {
    stencil.steps.iter().all(|s| {
        let same = stencil.steps.iter().filter(|o| (o.stmt, o.time) == (s.stmt, s.time));
        let written: Vec<usize> = same.map(|o| o.buffer).collect();
        s.accesses.iter().all(|a| !matches!(a, StepAccess::Buffer { buffer, .. } if written.contains(buffer)))
    })
}

/// Whether the program's schedule has the first iterator of every statement outermost, and beneath it the
/// statements one after the other, in their order.
fn runs_by_steps(scop: &Scop) -> Result<bool> {
    let tree = ScheduleTree::from_isl(&scop.schedule)?;
    let mut root = &tree.root;
    while let Tree::Mark(_, child) = root {
        root = child;
    }
    let Tree::Band(band) = root else { return Ok(false) };
    let Some(first) = band.members.first() else { return Ok(false) };
    let mut time = isl::UnionMap::empty(&scop.ctx)?;
    for s in &scop.statements {
        let dims: Vec<String> = (0..s.domain.dim(isl::DimType::Set)?).map(|d| format!("i{d}")).collect();
        let text = format!("{{ {}[{}] -> [i0] }}", s.name, dims.join(", "));
        time = time.union(isl::UnionMap::read(&scop.ctx, &text)?)?;
    }
    if !member_map(first)?.intersect_domain(scop.domain()?)?.is_subset(&time)? {
        return Ok(false);
    }
    let mut order = Vec::new();
    let alone = band.members.len() == 1;
    let in_turn = scop.statements.len() == 1 || (alone && in_turn(&band.child, &mut order)?);
    let expected = scop.statements.iter().map(|s| s.name.clone());
    Ok(in_turn && (scop.statements.len() == 1 || order.into_iter().eq(expected)))
}

/// Appends the statements beneath a node in their order; `false` if some of them take turns.
fn in_turn(tree: &Tree, order: &mut Vec<String>) -> Result<bool> {
    match tree {
        Tree::Mark(_, child) => in_turn(child, order),
        Tree::Band(_) | Tree::Leaf => Ok(false),
        Tree::Sequence(children) => {
            for (filter, child) in children {
                let sets = filter.sets()?;
                let done = match sets.as_slice() {
                    [one] => {
                        order.push(one.tuple_name()?.unwrap_or_default());
                        true
                    }
                    _ => in_turn(child, order)?,
                };
                if !done {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Whether every element of each buffer's hull comes neither before the first nor behind the last element
/// that the program touches of its array: tiles write all of the hull, and the array's memory on the device
/// reaches from the one to the other.
pub fn hulls_are_touched(scop: &Scop, stencil: &Stencil) -> Result<bool> {
    let known = known(scop)?.intersect(stencil.runs.clone())?;
    for b in &stencil.buffers {
        let mut touched = Vec::new();
        for (s, a) in scop.statements.iter().flat_map(|s| s.accesses.iter().map(move |a| (s, a))) {
            if a.array != b.array {
                continue;
            }
            let mut elements = a.relation.clone().intersect_domain(s.domain.clone())?.range()?;
            for (d, selector) in b.selectors.iter().enumerate() {
                let Ok(selector) = i32::try_from(*selector) else { return Ok(false) };
                elements = elements.fix_si(isl::DimType::Set, d as u32, selector)?;
            }
            let elements = elements.project_out(isl::DimType::Set, 0, b.selectors.len() as u32)?;
            touched.push(elements.intersect_params(known.clone())?);
        }
        let Some(first) = touched.first() else { return Ok(false) };
        let space = first.space()?;
        let hull = hull(b, &space)?.intersect_params(known.clone())?;
        for order in [isl::Map::lex_le(space.clone())?, isl::Map::lex_le(space)?.reverse()?] {
            let mut beyond = hull.clone();
            for elements in &touched {
                beyond = beyond.subtract(elements.clone().apply(order.clone())?)?;
                if beyond.is_empty()? {
                    break;
                }
            }
            if !beyond.is_empty()? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The elements between a buffer's corners.
fn hull(buffer: &Buffer, space: &isl::Space) -> Result<isl::Set> {
    let mut hull = isl::Set::universe(space.clone())?;
    for (d, (lower, upper)) in buffer.lower.iter().zip(&buffer.upper).enumerate() {
        let x = coordinate(&hull, d as u32)?;
        let (lower, upper) = (lift(lower, &hull)?, lift(upper, &hull)?);
        hull = hull.intersect(x.clone().ge_set(lower)?)?.intersect(x.le_set(upper)?)?;
    }
    Ok(hull)
}

/// Whether the first host parameter of every kernel is the time of all its instances: then the launches from
/// some time on are those of the instances from that time on.
pub fn time_on_host(mapped: &MappedScop) -> Result<bool> {
    for k in &mapped.kernels {
        let Some(h) = k.host_params.first() else { return Ok(false) };
        for set in k.domain.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            let dims: Vec<String> = (0..set.dim(isl::DimType::Set)?).map(|d| format!("i{d}")).collect();
            let text = format!("[{h}] -> {{ {name}[{}] : i0 = {h} }}", dims.join(", "));
            if !set.is_subset(&isl::Set::read(set.context(), &text)?)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// All broken rules of a plan.
pub fn check(plan: &StencilPlan) -> Result<Vec<Violation>> {
    let mut found = Vec::new();
    let mut report = |rule: Rule, at: String| found.push(Violation { rule, at });
    versions(plan, &mut report);
    reads(plan, &mut report);
    columns(plan, &mut report);
    tiles(plan, &mut report)?;
    Ok(found)
}

/// The nodes are the launch's steps in order, behind the live buffers, and each read goes to the last node of
/// its buffer.
fn versions(plan: &StencilPlan, report: &mut impl FnMut(Rule, String)) {
    let s = &plan.stencil;
    let mut last: Vec<Option<usize>> = vec![None; s.buffers.len()];
    let inputs = plan.nodes.iter().take_while(|n| n.step.is_none()).count();
    for (i, n) in plan.nodes[..inputs].iter().enumerate() {
        if !s.buffers[n.buffer].live || last[n.buffer].is_some() || n.lag != 0 {
            report(Rule::Version, format!("node {i} is no version of a live buffer"));
        }
        last[n.buffer] = Some(i);
    }
    let mut next = inputs;
    for t in (0..plan.config.fuse).step_by(s.period as usize) {
        let mut before = last.clone();
        for (k, step) in s.steps.iter().enumerate() {
            // The steps of one statement at one time read what was there before all of them.
            let first = k == 0 || (s.steps[k - 1].stmt, s.steps[k - 1].time) != (step.stmt, step.time);
            if first {
                before = last.clone();
            }
            let Some(n) = plan.nodes.get(next) else {
                return report(Rule::Version, "steps are missing".into());
            };
            if n.step != Some(k) || n.time != t + step.time || n.buffer != step.buffer {
                report(Rule::Version, format!("node {next} is not step {k} at {t}"));
            }
            let mut given = n.reads.iter();
            for (a, access) in step.accesses.iter().enumerate() {
                if let StepAccess::Buffer { buffer, offset } = access {
                    let of_access = step.cases.iter().enumerate().filter(|(_, c)| c.access == a);
                    let cases = of_access.map(|(i, c)| (&c.offset, Some(i)));
                    for (offset, case) in [(offset, None)].into_iter().chain(cases) {
                        let node = before[*buffer];
                        let right = given.next().is_some_and(|r| {
                            (r.access, Some(r.node), r.offset, r.case) == (a, node, axes(s, offset), case)
                        });
                        if !right {
                            report(Rule::Version, format!("read {a} of node {next}"));
                        }
                    }
                }
            }
            if !step.lattices.is_empty() && !step.partial {
                report(Rule::Version, format!("step {k} writes all elements"));
            }
            let keeps = s.buffers[step.buffer].has_border || step.partial;
            // Memory holds what lies outside of the hull; of the hull only an earlier node holds all.
            if n.keep != before[step.buffer].filter(|_| keeps) || (step.partial && n.keep.is_none()) {
                report(Rule::Version, format!("node {next} keeps the wrong border"));
            }
            if before[step.buffer] != last[step.buffer] {
                report(Rule::Version, format!("node {next} writes a buffer of its statement again"));
            }
            last[step.buffer] = Some(next);
            next += 1;
        }
    }
    if next != plan.nodes.len() || plan.config.fuse % s.period != 0 {
        report(Rule::Version, "the launch is not a number of periods".into());
    }
    for (b, buffer) in s.buffers.iter().enumerate() {
        for (i, n) in plan.nodes.iter().enumerate().filter(|(_, n)| n.buffer == b) {
            if n.output != ((buffer.live || plan.config.complete) && last[b] == Some(i)) {
                report(Rule::Output, format!("node {i}"));
            }
        }
        // What no launch wrote is in its place already, or in the wrong one.
        if plan.config.complete && last[b].is_none_or(|i| plan.nodes[i].step.is_none()) {
            report(Rule::Output, format!("no step writes buffer {b}"));
        }
    }
}

/// A space vector as row, y, x; the outermost dimension of two or more is streamed through.
fn axes(s: &Stencil, v: &[i64]) -> [i64; 3] {
    match (s.dims, v) {
        (1, [x]) => [0, 0, *x],
        (2, [row, x]) => [*row, 0, *x],
        (_, [row, y, x]) => [*row, *y, *x],
        _ => [i64::MAX / 4; 3],
    }
}

fn reads(plan: &StencilPlan, report: &mut impl FnMut(Rule, String)) {
    for (i, n) in plan.nodes.iter().enumerate() {
        for axis in 0..3 {
            if n.output && (n.lo[axis] < 0 || n.hi[axis] < 0) {
                report(Rule::Region, format!("node {i} does not cover the tile"));
            }
        }
        // What is kept outside of the box is a read of the same point.
        let kept = n.keep.map(|node| NodeRead { access: 0, node, offset: [0; 3], case: None });
        for r in n.reads.iter().chain(&kept).filter(|_| n.needed) {
            let p = &plan.nodes[r.node];
            let at = format!("node {i} reads node {} at {:?}", r.node, r.offset);
            for axis in 0..3 {
                // Region [first - lo, last + hi], shifted by the offset, inside of the read node's.
                if p.lo[axis] < n.lo[axis] - r.offset[axis] || p.hi[axis] < n.hi[axis] + r.offset[axis] {
                    report(Rule::Region, at.clone());
                }
            }
            if !p.needed {
                report(Rule::Region, at.clone());
            }
            // Node v computes row i at iteration i + lag(v).
            let age = n.lag - p.lag - r.offset[0];
            let crosses = r.offset[1] != 0 || r.offset[2] != 0;
            // A value of the same iteration is there if the node comes first in it; one of another thread
            // needs a barrier, or a shuffle.
            let lane = crosses && plan.config.is_warp();
            let in_order =
                plan.order.iter().position(|v| *v == r.node) < plan.order.iter().position(|v| *v == i);
            if age < i64::from(crosses && !lane) || (age == 0 && !in_order) {
                report(Rule::Time, at.clone());
            }
            if age > p.window as i64 {
                report(Rule::Time, at.clone());
            }
            // The slot is written again `slots` iterations later. (What comes by shuffles alone has none, but
            // an age that fits.)
            if crosses && !lane && (age >= plan.slots as i64 || !p.exchange) {
                report(Rule::Slot, at);
            }
        }
        if n.output && !n.needed {
            report(Rule::Output, format!("node {i} is not computed"));
        }
    }
    let mut order = plan.order.clone();
    order.sort_unstable();
    let needed: Vec<usize> = (0..plan.nodes.len()).filter(|i| plan.nodes[*i].needed).collect();
    if order != needed {
        report(Rule::Time, "an iteration does not compute each node once".into());
    }
}

/// The block's columns are the tile and the largest halo.
fn columns(plan: &StencilPlan, report: &mut impl FnMut(Rule, String)) {
    for axis in 1..3 {
        let held = i64::from(plan.config.threads[axis - 1]) * i64::from(plan.config.cells[axis - 1]);
        for (i, n) in plan.nodes.iter().enumerate().filter(|(_, n)| n.needed) {
            if n.lo[axis] > plan.halo[axis] || plan.tile[axis] + n.hi[axis] + plan.halo[axis] > held {
                report(Rule::Columns, format!("node {i}, axis {axis}"));
            }
        }
    }
}

/// `{ [y] -> [b] : W b <= y - lower < W b + W }` is a function that is defined everywhere: tiles cover and do
/// not overlap.
fn tiles(plan: &StencilPlan, report: &mut impl FnMut(Rule, String)) -> Result<()> {
    let ctx = plan.stencil.runs.context().clone();
    for axis in 1..3 {
        let w = plan.tile[axis];
        let text = format!("[l] -> {{ [y] -> [b] : {w} b <= y - l < {w} b + {w} }}");
        let tile = isl::Map::read(&ctx, &text)?;
        let all = isl::Set::read(&ctx, "[l] -> { [y] }")?;
        if w < 1 || !tile.is_single_valued()? || !tile.domain()?.is_equal(&all)? {
            report(Rule::Tiles, format!("axis {axis}"));
        }
    }
    Ok(())
}
