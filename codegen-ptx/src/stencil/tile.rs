//! What one thread does for one row of one node: load, compute, keep the border, hand to other threads,
//! store.
//!
//! A thread owns `cells` columns, contiguous along y and x. Rows and columns are coordinates of the arrays,
//! in 32 bits: the host fuses no steps where they do not fit.

use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::{BARRIER, SHARED, THREAD_ID};
use crate::ir::llvm::*;
use crate::kernel::module::StencilScalar;
use crate::kernel::storage::PlainBuilder as KernelBuilder;
use crate::ops::fast_division;
use crate::statement::emit::emit_stored;
use crate::stencil::reports;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use pollyrs_schedule::stencil::{StencilPlan, Step, StepAccess, plan};
use pollyrs_scop::{AccessValue, ArrayId, StmtId};
use std::collections::BTreeMap;

/// By cell.
pub(super) type Values = Vec<Value>;

/// The iterators of an instance, what it reads, by load, and whether what it reports counts, where it may
/// report something.
type Point = (Vec<Value>, BTreeMap<usize, Value>, Option<Value>);

/// A column of the thread.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Coordinates along y and x.
    pub(super) at: [Value; 2],
    /// A mask: whether the block writes it.
    pub(super) output: Value,
}

/// A box that is tested against.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The hull of a buffer.
    Hull(usize),
    /// The box of a step.
    Step(usize),
    /// The box of a case of a step.
    Case(usize, usize),
}

/// What the code of an iteration can rely on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Version {
    /// All rows and columns are inside: no test is needed.
    Inner,
    /// All rows are inside; columns are tested, once for all rows.
    Sides,
    /// Nothing.
    Border,
}

/// One thread's share of a tile.
pub(super) struct Tile<'a> {
    pub k: KernelBuilder<'a>,
    pub fixed: Fixed<'a>,
    pub cursor: Cursor,
}

/// What is the same in all of a thread's code: computed in the entry block.
pub(super) struct Fixed<'a> {
    pub function: Value,
    pub plan: &'a StencilPlan,
    pub(super) elements: &'a [(Type, u32)],
    given: BTreeMap<StencilScalar, Value>,
    pub(super) src: BTreeMap<ArrayId, Value>,
    pub(super) dst: BTreeMap<ArrayId, Value>,
    pub(super) shared: Value,
    /// Where each node's part of a slot begins, and bytes of a slot.
    pub(super) begins: Vec<usize>,
    pub(super) slot_bytes: usize,
    pub(super) thread: [Value; 2],
    /// The block's first column along y and x, halo included.
    pub(super) origin: [Value; 2],
    /// The block's last output column along y and x.
    pub(super) last: [Value; 2],
    /// The block's output rows.
    pub(super) rows: [Value; 2],
    /// First and last iteration.
    pub begin: Value,
    pub end: Value,
    /// By step, whether its reports count ([`super::reports`]).
    counted: Vec<bool>,
    /// By buffer: linear index of the element `[selectors, 0, 0, 0]`, and elements a row and a line (of the y
    /// dimension).
    pub(super) layout: Vec<Layout>,
}

/// What belongs to the code that is being emitted.
pub(super) struct Cursor {
    /// The version, and whether it is the one for a block's first and last iterations ([`super::ramp`]).
    pub version: Version,
    pub ramp: bool,
    /// Whether the points of a step have a test of their own for operands of divisions
    /// ([`super::iteration`]).
    pub(super) tests: bool,
    /// Addresses of the slots, by iteration of the unrolled loop modulo their number.
    pub slots: Vec<Value>,
    pub(super) columns: Vec<Column>,
    /// The columns that a thread loads and stores, where these are others ([`super::warp_transpose`]), and
    /// their masks; or the thread's own, while `columns` are those.
    pub(super) transposed: Option<(Vec<Column>, Vec<Vec<Value>>)>,
    /// By buffer, then by step, a mask for each column: whether it is in the box.
    pub(super) inside: Vec<Vec<Value>>,
    /// By step and case the same, of the version: the inner one has none.
    cases: BTreeMap<(usize, usize), Vec<Value>>,
    /// What this iteration has read of other threads' values: node, age, and cell from the thread's first.
    pub(super) fetched: BTreeMap<(usize, i64, [i64; 2]), Value>,
    /// For each buffer that is loaded, and each that is stored, the address of the thread's first column in
    /// the row that comes next; at the sides, of a load, the row's offset in bytes.
    pub(super) walks: BTreeMap<(usize, bool), Value>,
    /// Whether rows are asked of the cache early.
    pub(super) prefetches: Option<Value>,
    /// By buffer and cell, see [`Tile::enter`].
    pub(super) sides: BTreeMap<usize, Values>,
}

impl Cursor {
    /// Before the first version.
    fn new() -> Cursor {
        Cursor {
            version: Version::Border,
            ramp: false,
            tests: true,
            slots: Vec::new(),
            columns: Vec::new(),
            transposed: None,
            inside: Vec::new(),
            cases: BTreeMap::new(),
            fetched: BTreeMap::new(),
            walks: BTreeMap::new(),
            prefetches: None,
            sides: BTreeMap::new(),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Layout {
    start: Value,
    pub(super) row: Value,
    pub(super) line: Value,
}

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// The kernel's arguments, but for those that all kernels have.
pub(super) struct Arguments {
    pub given: BTreeMap<StencilScalar, Value>,
    /// The arrays with live buffers: where they are read from, and where they are written to.
    pub src: BTreeMap<ArrayId, Value>,
    pub dst: BTreeMap<ArrayId, Value>,
}

impl<'a> Tile<'a> {
    pub fn new(
        k: KernelBuilder<'a>,
        function: Value,
        plan: &'a StencilPlan,
        elements: &'a [(Type, u32)],
        arguments: Arguments,
        (slot_bytes, begins): (usize, Vec<usize>),
    ) -> Result<Tile<'a>> {
        let Arguments { given, src, dst } = arguments;
        let ir = k.ir;
        let zero = ir.int32(0);
        let counted = reports::counted(k.scop, plan);
        let thread = [1, 0].map(|axis| k.abstract_call(THREAD_ID[axis], ir.i32_type()));
        let shared = k.abstract_call(SHARED, ir.ptr_type());
        let fixed = Fixed {
            function,
            plan,
            elements,
            given,
            src,
            dst,
            shared,
            begins,
            slot_bytes,
            thread,
            origin: [zero; 2],
            last: [zero; 2],
            rows: [zero; 2],
            begin: zero,
            end: zero,
            counted,
            layout: Vec::new(),
        };
        let mut t = Tile { k, fixed, cursor: Cursor::new() };
        t.cursor.slots = t.slot_addresses();
        t.place()?;
        for b in 0..plan.stencil.buffers.len() {
            let layout = t.layout_of(b)?;
            t.fixed.layout.push(layout);
        }
        t.cursor.inside = t.masks();
        t.prepare_transposes();
        Ok(t)
    }

    pub(super) fn scalar(&self, s: StencilScalar) -> Value {
        self.fixed.given.get(&s).copied().unwrap_or_else(|| self.k.ir.int(0))
    }

    pub fn cells(&self) -> usize {
        self.fixed.plan.config.cells.iter().product::<u32>() as usize
    }

    /// The array dimension of an axis; the missing ones have one coordinate, 0.
    pub(super) fn dimension(&self, axis: usize) -> Option<usize> {
        (0..self.fixed.plan.stencil.dims).find(|d| plan::axis(self.fixed.plan.stencil.dims, *d) == axis)
    }

    /// What the host computed, in 32 bits.
    pub(super) fn corner(&self, s: StencilScalar) -> Value {
        self.k.ir.trunc(self.scalar(s), self.k.ir.i32_type())
    }

    /// First and last coordinate of a box along a dimension.
    fn ends(&self, e: Extent, d: usize) -> [StencilScalar; 2] {
        let steps = &self.fixed.plan.stencil.steps;
        match e {
            Extent::Step(k) if steps[k].partial => {
                [StencilScalar::StepLower(k, d), StencilScalar::StepUpper(k, d)]
            }
            Extent::Case(k, c) => [StencilScalar::CaseLower(k, c, d), StencilScalar::CaseUpper(k, c, d)],
            Extent::Step(k) => self.ends(Extent::Hull(steps[k].buffer), d),
            Extent::Hull(b) => [StencilScalar::Lower(b, d), StencilScalar::Upper(b, d)],
        }
    }

    pub(super) fn corners(&self, e: Extent, d: usize) -> [Value; 2] {
        self.ends(e, d).map(|s| self.corner(s))
    }

    /// Bounds along an axis.
    fn bound(&self, axis: usize, f: impl Fn(usize) -> StencilScalar) -> Value {
        self.dimension(axis).map_or(self.number(0), |d| self.corner(f(d)))
    }

    /// A constant coordinate.
    pub fn number(&self, v: i64) -> Value {
        self.k.ir.int32(v as u32)
    }

    pub(super) fn wide(&self, v: Value) -> Value {
        self.k.ir.sext(v, self.k.ir.i64_type())
    }

    pub(super) fn both(&self, at: Value, lower: Value, upper: Value) -> Value {
        let ir = self.k.ir;
        ir.and(ir.icmp(LLVMIntSLE, lower, at), ir.icmp(LLVMIntSLE, at, upper))
    }

    pub(super) fn smin(&self, a: Value, b: Value) -> Value {
        let ir = self.k.ir;
        ir.select(ir.icmp(LLVMIntSLT, a, b), a, b)
    }

    /// The block's and the thread's columns and rows.
    fn place(&mut self) -> Result<()> {
        let ir = self.k.ir;
        let plan = self.fixed.plan;
        let place = self.position();
        let mut output = [(self.number(0), self.number(0)); 2];
        for axis in [2, 1] {
            let index = place.columns[axis - 1];
            let width = match self.dimension(axis) {
                Some(_) => self.corner(StencilScalar::Width(axis)),
                None => self.number(plan.tile[axis]),
            };
            let first = ir.add(self.bound(axis, StencilScalar::First), ir.mul(index, width));
            let last = ir.sub(ir.add(first, width), self.number(1));
            let last = self.smin(last, self.bound(axis, StencilScalar::Last));
            self.fixed.last[axis - 1] = last;
            output[axis - 1] = (first, last);
            self.fixed.origin[axis - 1] = ir.sub(first, self.number(plan.halo[axis]));
        }
        let mut own = self.fixed.origin;
        for (a, o) in own.iter_mut().enumerate() {
            *o = ir.add(*o, ir.mul(self.fixed.thread[a], self.number(i64::from(plan.config.cells[a]))));
        }
        let column = |at: [Value; 2]| {
            let is_output = |a: usize| self.both(at[a], output[a].0, output[a].1);
            Column { at, output: self.mask(ir.and(is_output(0), is_output(1))) }
        };
        let mut columns = Vec::new();
        for cy in 0..plan.config.cells[0] {
            for cx in 0..plan.config.cells[1] {
                columns.push(column([
                    ir.add(own[0], self.number(cy.into())),
                    ir.add(own[1], self.number(cx.into())),
                ]));
            }
        }
        if plan.transposes() {
            let first = ir.add(self.fixed.origin[1], self.fixed.thread[1]);
            let line = |c: u32| column([own[0], ir.add(first, self.number((c * WARP).into()))]);
            self.cursor.transposed = Some(((0..plan.config.cells[1]).map(line).collect(), Vec::new()));
        }
        self.cursor.columns = columns;
        if plan.stencil.dims > 1 {
            let height = place.height;
            // The first block may have fewer rows, see the host's side.
            let top = self.bound(0, StencilScalar::First);
            let first = ir.add(ir.sub(top, place.less), ir.mul(place.rows, height));
            let last = ir.sub(ir.add(first, height), self.number(1));
            let first = ir.smax(first, top);
            self.fixed.rows = [first, self.smin(last, self.bound(0, StencilScalar::Last))];
            // Rows before the first that is read are of no use.
            let read = (0..plan.stencil.buffers.len()).map(|b| self.corner(StencilScalar::OuterLower(b, 0)));
            let begin = ir.sub(first, self.number(plan.warm_up()));
            self.fixed.begin = read.reduce(|a, b| self.smin(a, b)).map_or(begin, |read| ir.smax(begin, read));
            self.fixed.end = ir.add(self.fixed.rows[1], self.number(plan.drain()));
        }
        Ok(())
    }

    fn layout_of(&mut self, b: usize) -> Result<Layout> {
        let ir = self.k.ir;
        let buffer = &self.fixed.plan.stencil.buffers[b];
        let lead = buffer.selectors.len();
        let dims = self.fixed.plan.stencil.dims;
        let mut start = ir.int(0);
        for d in 0..lead + dims {
            if d > 0 {
                start = ir.mul(start, self.k.size(buffer.array, d)?);
            }
            if let Some(s) = buffer.selectors.get(d) {
                start = ir.add(start, ir.int(*s));
            }
        }
        let size = |t: &mut Self, d: usize| -> Result<Value> { t.k.size(buffer.array, lead + d) };
        let (row, line) = match dims {
            1 => (ir.int(0), ir.int(0)),
            2 => (size(self, 1)?, ir.int(0)),
            _ => {
                let line = size(self, 2)?;
                (ir.mul(size(self, 1)?, line), line)
            }
        };
        Ok(Layout { start, row, line })
    }

    /// The linear index of an element of a buffer.
    pub(super) fn index(&self, b: usize, row: Value, at: [Value; 2]) -> Value {
        let ir = self.k.ir;
        let l = self.fixed.layout[b];
        let mut index = ir.add(l.start, self.wide(at[1]));
        if self.fixed.plan.stencil.dims == 3 {
            index = ir.add(index, ir.mul(self.wide(at[0]), l.line));
        }
        if self.fixed.plan.stencil.dims > 1 {
            index = ir.add(index, ir.mul(self.wide(row), l.row));
        }
        index
    }

    /// First and last column of the thread's warp along an axis; of the block where warps are not lines of
    /// threads.
    pub(super) fn reach(&self, axis: usize) -> [Value; 2] {
        let ir = self.k.ir;
        let [threads, cells] =
            [self.fixed.plan.config.threads, self.fixed.plan.config.cells].map(|n| i64::from(n[axis - 1]));
        let lines = self.fixed.plan.config.threads[1].is_multiple_of(WARP);
        let (begin, held) = match (lines, axis) {
            (false, _) => (ir.int32(0), threads),
            (true, 2) => (ir.and(self.fixed.thread[1], self.number(-i64::from(WARP))), WARP.into()),
            (true, _) => (self.fixed.thread[0], 1),
        };
        let first = ir.add(self.fixed.origin[axis - 1], ir.mul(begin, self.number(cells)));
        [first, ir.add(first, self.number(held * cells - 1))]
    }

    /// Called at the start of an iteration's code.
    pub fn begin_iteration(&mut self) {
        self.cursor.fetched.clear();
    }

    /// The masks of [`Tile::inside`].
    pub(super) fn masks(&self) -> Vec<Vec<Value>> {
        let hulls = (0..self.fixed.plan.stencil.buffers.len()).map(Extent::Hull);
        self.masks_of(hulls.chain((0..self.fixed.plan.stencil.steps.len()).map(Extent::Step)))
    }

    /// The masks of the cases, in front of the loop of a version that needs them.
    pub(super) fn enter_cases(&mut self) {
        self.cursor.cases.clear();
        if self.cursor.version == Version::Inner {
            return;
        }
        let numbers =
            |(k, step): (usize, &Step)| (0..step.cases.len()).map(move |c| (k, c)).collect::<Vec<_>>();
        let all: Vec<_> = self.fixed.plan.stencil.steps.iter().enumerate().flat_map(numbers).collect();
        let masks = self.masks_of(all.iter().map(|(k, c)| Extent::Case(*k, *c)));
        self.cursor.cases = all.into_iter().zip(masks).collect();
    }

    /// For each box a mask of each column; boxes with the same corners share them.
    fn masks_of(&self, boxes: impl Iterator<Item = Extent>) -> Vec<Vec<Value>> {
        let ir = self.k.ir;
        let mut made: BTreeMap<Vec<usize>, Vec<Value>> = BTreeMap::new();
        let mask_of = |e: Extent| {
            let axes: Vec<(usize, usize)> = (1..3).filter_map(|a| Some((a, self.dimension(a)?))).collect();
            let key =
                axes.iter().flat_map(|(_, d)| self.ends(e, *d)).map(|s| self.scalar(s).address()).collect();
            let build = || {
                let inside = |c: &Column| {
                    axes.iter().fold(ir.bool(true), |all, (axis, d)| {
                        let [lower, upper] = self.corners(e, *d);
                        ir.and(all, self.both(c.at[axis - 1], lower, upper))
                    })
                };
                self.cursor.columns.iter().map(|c| self.mask(inside(c))).collect()
            };
            made.entry(key).or_insert_with(build).clone()
        };
        boxes.map(mask_of).collect()
    }

    /// A mask: whether a row is in a box.
    pub(super) fn row_inside(&self, e: Extent, row: Value) -> Value {
        if self.fixed.plan.stencil.dims == 1 || self.cursor.version != Version::Border {
            return self.number(0);
        }
        let [lower, upper] = self.corners(e, 0);
        self.mask(self.both(row, lower, upper))
    }

    /// The type of a node's values.
    pub fn element(&self, node: usize) -> Type {
        self.fixed.elements[self.fixed.plan.nodes[node].buffer].0
    }

    /// A row of a step. `own` gives the thread's own value of a node, so many iterations ago.
    pub fn compute(
        &mut self,
        node: usize,
        row: Value,
        iteration: i64,
        own: &dyn Fn(usize, usize, usize) -> Option<Value>,
        border: Option<&Values>,
    ) -> Result<Values> {
        let n = &self.fixed.plan.nodes[node];
        let Some((number, step)) = n.step.and_then(|s| Some((s, self.fixed.plan.stencil.steps.get(s)?)))
        else {
            return internal("a node without a step is computed");
        };
        let ir = self.k.ir;
        if let (true, Some(kept)) = (self.is_missed(node), n.keep) {
            let age = (n.lag - self.fixed.plan.nodes[kept].lag) as usize;
            let held = (0..self.cells()).map(|c| own(kept, age, c)).collect::<Option<Values>>();
            return held.ok_or(crate::CodegenError::Internal(format!("what node {node} keeps is not there")));
        }
        let statement = &self.k.scop.statements[step.stmt.0];
        let time = ir.add(self.scalar(StencilScalar::Time), ir.int(n.time));
        let mut points = Vec::new();
        let place = self.place_of(step, row);
        for cell in 0..self.cells() {
            let mut given = BTreeMap::new();
            for r in &n.reads {
                let AccessValue::Instruction(load) = statement.accesses[r.access].value else {
                    return internal("a stencil reads a scalar");
                };
                let Some(case) = r.case else {
                    given.insert(load.address(), self.operand(node, r, cell, iteration, own)?);
                    continue;
                };
                // Inner rows do not meet a case that is thin along rows; inner columns meet none.
                let rows_miss = self.dimension(0).is_some_and(|d| step.cases[case].thin.contains(&d));
                if self.cursor.version == Version::Inner
                    || (self.cursor.version == Version::Sides && rows_miss)
                {
                    continue;
                }
                let (Some(usual), Some(masks)) =
                    (given.get(&load.address()).copied(), self.cursor.cases.get(&(number, case)))
                else {
                    return internal("a case without what it differs from");
                };
                let column = masks[cell];
                let applies = self.holds(self.row_inside(Extent::Case(number, case), row), column);
                let other = self.operand(node, r, cell, iteration, own)?;
                given.insert(load.address(), ir.select(applies, other, usual));
            }
            let coordinates = self.executed((number, step), place, cell, time);
            let mut iterators = vec![time];
            for (d, shift) in &step.iterators {
                let c = coordinates[plan::axis(self.fixed.plan.stencil.dims, *d)];
                iterators.push(ir.add(self.wide(c), ir.int(*shift)));
            }
            let counts = self.fixed.counted[number].then(|| self.counts_at(node, number, row, cell));
            points.push((iterators, given, counts));
        }
        let out = self.results(step.stmt, step.write, &points)?;
        self.with_kept(node, (number, step), (row, time), out, own, border)
    }

    /// The row of a step's instances. Where these load from memory that no step writes, it is another number
    /// in each iteration: addresses of every step, array and column would become variables of their own
    /// otherwise ([`Tile::varying`]), more than there are registers for.
    fn place_of(&self, step: &Step, row: Value) -> Value {
        let loads = step.accesses.contains(&StepAccess::Plain) && self.fixed.plan.stencil.dims > 1;
        if loads { self.fixed(row) } else { row }
    }

    /// Whether this version meets none of a node's points: nothing of a thin box is met by inner rows, or
    /// inner columns.
    pub(super) fn is_missed(&self, node: usize) -> bool {
        let n = &self.fixed.plan.nodes[node];
        let Some(step) = n.step.and_then(|s| self.fixed.plan.stencil.steps.get(s)) else { return false };
        n.keep.is_some()
            && match self.cursor.version {
                Version::Inner => !step.thin.is_empty(),
                Version::Sides => step.thin.contains(&0),
                Version::Border => false,
            }
    }

    /// What the points of a step store. Their divisions and roots have one test for unusual operands
    /// ([`fast_division`]), but at the border, where values that are thrown away are often unusual.
    fn results(&mut self, stmt: StmtId, write: usize, points: &[Point]) -> Result<Values> {
        let ir = self.k.ir;
        let emit = self.k.emit.clone();
        let all = |k: &mut KernelBuilder<'_>| {
            let one = |(iterators, given, counts): &Point| {
                k.counts = *counts;
                emit_stored(k, &emit, stmt, write, iterators, given.clone())
            };
            let values = points.iter().map(one).collect::<Result<Values>>();
            k.counts = None;
            values
        };
        let before = ir.block();
        let last = before.last();
        let values = all(&mut self.k)?;
        if !self.cursor.tests || self.cursor.version == Version::Border || ir.block() != before {
            return Ok(values);
        }
        // What a division stores itself is replaced: its user stands in for it.
        let held: Vec<Value> = values.iter().map(|v| ir.freeze(*v)).collect();
        let Some(test) = fast_division::use_fast_paths(&self.k, last) else {
            for (v, held) in values.iter().zip(&held) {
                // SAFETY: the handle is not used any more.
                unsafe { held.replace(*v) };
            }
            return Ok(values);
        };
        let [_, join] = fast_division::branch(ir, test);
        let exactly = all(&mut self.k)?;
        let from = ir.block();
        ir.br(join);
        ir.at_end(join);
        let phi = |(q, e): (&Value, &Value)| {
            let ty = q.ty();
            ir.phi(ty, &[(*q, before), (*e, from)])
        };
        Ok(held.iter().zip(&exactly).map(phi).collect())
    }

    /// Bytes of an element of a buffer, and of a node's.
    pub(super) fn buffer_bytes(&self, b: usize) -> u32 {
        self.k.scop.array(self.fixed.plan.stencil.buffers[b].array).elem.bytes()
    }

    pub(super) fn bytes(&self, node: usize) -> u32 {
        self.buffer_bytes(self.fixed.plan.nodes[node].buffer)
    }

    /// Gives a row to other threads and, if it is final, to memory.
    pub fn publish(&mut self, node: usize, iteration: i64, row: Value, values: &Values) -> Result<()> {
        let n = &self.fixed.plan.nodes[node];
        if n.exchange {
            self.exchange(node, iteration, values)?;
        }
        if n.output { self.store_output(node, row, values) } else { Ok(()) }
    }

    /// Waits for the other threads of the block, if values pass through shared memory.
    pub fn barrier(&self) {
        if self.fixed.plan.config.is_warp() {
            return;
        }
        self.k.abstract_call(BARRIER, self.k.ir.void_type());
    }
}
