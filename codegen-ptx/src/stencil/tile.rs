//! What one thread does for one row of one node: load, compute, keep the border, hand to other threads, store.
//!
//! A thread owns `cells` columns, contiguous along y and x. Rows and columns are coordinates of the arrays, in 32 bits: the host
//! fuses no steps where they do not fit.

use super::StencilScalar;
use crate::error::{Result, internal};
use crate::ir::Ir;
use crate::kernel::*;
use crate::llvm::{EMPTY, function_type};
use crate::statement::emit_stored;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::core::{LLVMBuildBitCast, LLVMBuildCall2, LLVMGetInlineAsm, LLVMTypeOf};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMInlineAsmDialect, LLVMTypeKind};
use pollyrs_schedule::stencil::{NodeRead, StencilPlan, StepAccess, plan};
use pollyrs_scop::{AccessValue, ArrayId};
use std::collections::BTreeMap;

/// By cell.
pub(super) type Values = Vec<LLVMValueRef>;

/// A column of the thread.
#[derive(Clone, Copy)]
struct Column {
    /// Coordinates along y and x.
    at: [LLVMValueRef; 2],
    /// A mask: whether the block writes it.
    output: LLVMValueRef,
}

/// A box that is tested against.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The hull of a buffer.
    Hull(usize),
    /// The box of a step.
    Step(usize),
}

/// One thread's share of a tile.
pub(super) struct Tile<'a> {
    pub k: KernelBuilder<'a>,
    pub function: LLVMValueRef,
    pub plan: &'a StencilPlan,
    elements: &'a [(LLVMTypeRef, u32)],
    given: BTreeMap<StencilScalar, LLVMValueRef>,
    src: BTreeMap<ArrayId, LLVMValueRef>,
    dst: BTreeMap<ArrayId, LLVMValueRef>,
    shared: LLVMValueRef,
    slots: Vec<usize>,
    thread: [LLVMValueRef; 2],
    /// The block's first column along y and x, halo included.
    origin: [LLVMValueRef; 2],
    columns: Vec<Column>,
    /// The block's output rows.
    rows: [LLVMValueRef; 2],
    /// First and last iteration.
    pub begin: LLVMValueRef,
    pub end: LLVMValueRef,
    /// The version being emitted: no test is needed.
    pub inner: bool,
    /// By buffer, then by step, a mask for each column: whether it is in the box.
    inside: Vec<Vec<LLVMValueRef>>,
    /// What this iteration has read of other threads' values: node, age, and cell from the thread's first.
    fetched: BTreeMap<(usize, i64, [i64; 2]), LLVMValueRef>,
    /// By buffer: linear index of the element `[selectors, 0, 0, 0]`, and elements a row and a line (of the y dimension).
    layout: Vec<Layout>,
}

#[derive(Clone, Copy)]
struct Layout {
    start: LLVMValueRef,
    row: LLVMValueRef,
    line: LLVMValueRef,
}

/// An integer through an assembly of no instruction, valid on every target; a `fixed` one is not moved.
fn same(ir: &Ir, ty: LLVMTypeRef, constraints: &str, fixed: bool, v: LLVMValueRef) -> LLVMValueRef {
    let mut args = [v];
    // SAFETY: live types and strings with their lengths; the constraints tie the result to the operand.
    unsafe {
        let asm = LLVMGetInlineAsm(
            function_type(ty, &[ty]),
            "".as_ptr().cast(),
            0,
            constraints.as_ptr().cast(),
            constraints.len(),
            fixed.into(),
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        );
        LLVMBuildCall2(ir.raw(), function_type(ty, &[ty]), asm, args.as_mut_ptr(), 1, EMPTY)
    }
}

/// Threads of a warp.
const WARP: u32 = 32;

impl<'a> Tile<'a> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        k: KernelBuilder<'a>,
        function: LLVMValueRef,
        plan: &'a StencilPlan,
        elements: &'a [(LLVMTypeRef, u32)],
        given: BTreeMap<StencilScalar, LLVMValueRef>,
        src: BTreeMap<ArrayId, LLVMValueRef>,
        dst: BTreeMap<ArrayId, LLVMValueRef>,
        slots: Vec<usize>,
    ) -> Result<Tile<'a>> {
        let ir = k.ir;
        let zero = ir.int32(0);
        let thread = [1, 0].map(|axis| k.abstract_call(THREAD_ID[axis], ir.i32_type()));
        let shared = k.abstract_call(SHARED, ir.ptr_type());
        let mut t = Tile {
            k,
            function,
            plan,
            elements,
            given,
            src,
            dst,
            shared,
            slots,
            thread,
            origin: [zero; 2],
            columns: Vec::new(),
            rows: [zero; 2],
            begin: zero,
            end: zero,
            inner: false,
            inside: Vec::new(),
            fetched: BTreeMap::new(),
            layout: Vec::new(),
        };
        t.place()?;
        for b in 0..plan.stencil.buffers.len() {
            let layout = t.layout_of(b)?;
            t.layout.push(layout);
        }
        t.inside = t.masks();
        Ok(t)
    }

    fn scalar(&self, s: StencilScalar) -> LLVMValueRef {
        self.given.get(&s).copied().unwrap_or_else(|| self.k.ir.int(0))
    }

    pub fn cells(&self) -> usize {
        self.plan.config.cells.iter().product::<u32>() as usize
    }

    /// The array dimension of an axis; the missing ones have one coordinate, 0.
    fn dimension(&self, axis: usize) -> Option<usize> {
        (0..self.plan.stencil.dims).find(|d| plan::axis(self.plan.stencil.dims, *d) == axis)
    }

    /// A coordinate that the host computed.
    fn corner(&self, s: StencilScalar) -> LLVMValueRef {
        self.k.ir.trunc(self.scalar(s), self.k.ir.i32_type())
    }

    /// First and last coordinate of a box along a dimension.
    fn ends(&self, e: Extent, d: usize) -> [StencilScalar; 2] {
        let steps = &self.plan.stencil.steps;
        match e {
            Extent::Step(k) if steps[k].partial => {
                [StencilScalar::StepLower(k, d), StencilScalar::StepUpper(k, d)]
            }
            Extent::Step(k) => self.ends(Extent::Hull(steps[k].buffer), d),
            Extent::Hull(b) => [StencilScalar::Lower(b, d), StencilScalar::Upper(b, d)],
        }
    }

    fn corners(&self, e: Extent, d: usize) -> [LLVMValueRef; 2] {
        self.ends(e, d).map(|s| self.corner(s))
    }

    /// Bounds along an axis.
    fn bound(&self, axis: usize, f: impl Fn(usize) -> StencilScalar) -> LLVMValueRef {
        self.dimension(axis).map_or(self.number(0), |d| self.corner(f(d)))
    }

    /// A constant coordinate.
    pub fn number(&self, v: i64) -> LLVMValueRef {
        self.k.ir.int32(v as u32)
    }

    fn wide(&self, v: LLVMValueRef) -> LLVMValueRef {
        self.k.ir.sext(v, self.k.ir.i64_type())
    }

    /// A test as a mask, 0 where it holds and 1 elsewhere, that the optimizer cannot see through: a predicate that lives through the
    /// loop would be packed into a register with others and unpacked at each use, a mask is tested by one instruction together
    /// with another ([`Self::holds`]).
    fn mask(&self, holds: LLVMValueRef) -> LLVMValueRef {
        let ir = self.k.ir;
        same(ir, ir.i32_type(), "=r,0", false, ir.select(holds, ir.int32(0), ir.int32(1)))
    }

    /// Whether two masks hold.
    fn holds(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        let ir = self.k.ir;
        ir.icmp(LLVMIntEQ, ir.or(a, b), ir.int32(0))
    }

    fn both(&self, at: LLVMValueRef, lower: LLVMValueRef, upper: LLVMValueRef) -> LLVMValueRef {
        let ir = self.k.ir;
        ir.and(ir.icmp(LLVMIntSLE, lower, at), ir.icmp(LLVMIntSLE, at, upper))
    }

    fn smin(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        let ir = self.k.ir;
        ir.select(ir.icmp(LLVMIntSLT, a, b), a, b)
    }

    /// The block's and the thread's columns and rows.
    fn place(&mut self) -> Result<()> {
        let ir = self.k.ir;
        let plan = self.plan;
        let narrow = |v| ir.trunc(v, ir.i32_type());
        let mut rest = self.k.abstract_call(BLOCK_ID, ir.i64_type());
        let mut output = [(self.number(0), self.number(0)); 2];
        for axis in [2, 1] {
            let mut index = ir.int(0);
            if self.dimension(axis).is_some() {
                let count = self.scalar(StencilScalar::Count(axis));
                index = ir.urem(rest, count);
                rest = ir.udiv(rest, count);
            }
            let shift = narrow(ir.mul(index, ir.int(plan.tile[axis])));
            let first = ir.add(self.bound(axis, StencilScalar::First), shift);
            let last = ir.add(first, self.number(plan.tile[axis] - 1));
            let last = self.smin(last, self.bound(axis, StencilScalar::Last));
            output[axis - 1] = (first, last);
            self.origin[axis - 1] = ir.sub(first, self.number(plan.halo[axis]));
        }
        let mut own = self.origin;
        for (a, o) in own.iter_mut().enumerate() {
            *o = ir.add(*o, ir.mul(self.thread[a], self.number(i64::from(plan.config.cells[a]))));
        }
        for cy in 0..plan.config.cells[0] {
            for cx in 0..plan.config.cells[1] {
                let at = [ir.add(own[0], self.number(cy.into())), ir.add(own[1], self.number(cx.into()))];
                let is_output = |a: usize| self.both(at[a], output[a].0, output[a].1);
                let output = self.mask(ir.and(is_output(0), is_output(1)));
                self.columns.push(Column { at, output });
            }
        }
        if plan.stencil.dims > 1 {
            let height = narrow(self.scalar(StencilScalar::Rows));
            let first = ir.add(self.bound(0, StencilScalar::First), ir.mul(narrow(rest), height));
            let last = ir.sub(ir.add(first, height), self.number(1));
            self.rows = [first, self.smin(last, self.bound(0, StencilScalar::Last))];
            self.begin = ir.sub(first, self.number(plan.warm_up()));
            self.end = ir.add(self.rows[1], self.number(plan.drain()));
        }
        Ok(())
    }

    fn layout_of(&mut self, b: usize) -> Result<Layout> {
        let ir = self.k.ir;
        let buffer = &self.plan.stencil.buffers[b];
        let lead = buffer.selectors.len();
        let dims = self.plan.stencil.dims;
        let mut start = ir.int(0);
        for d in 0..lead + dims {
            if d > 0 {
                start = ir.mul(start, self.k.size(buffer.array, d)?);
            }
            if let Some(s) = buffer.selectors.get(d) {
                start = ir.add(start, ir.int(*s));
            }
        }
        let size = |t: &mut Self, d: usize| -> Result<LLVMValueRef> { t.k.size(buffer.array, lead + d) };
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
    fn index(&self, b: usize, row: LLVMValueRef, at: [LLVMValueRef; 2]) -> LLVMValueRef {
        let ir = self.k.ir;
        let l = self.layout[b];
        let mut index = ir.add(l.start, self.wide(at[1]));
        if self.plan.stencil.dims == 3 {
            index = ir.add(index, ir.mul(self.wide(at[0]), l.line));
        }
        if self.plan.stencil.dims > 1 {
            index = ir.add(index, ir.mul(self.wide(row), l.row));
        }
        index
    }

    /// Whether all that the warp computes and loads from row `first` to row `last` is inside of every box, and away from the thin
    /// ones. The same for all threads of a warp: barriers are passed in either version.
    pub fn is_inner(&self, first: LLVMValueRef, last: LLVMValueRef) -> LLVMValueRef {
        let ir = self.k.ir;
        let plan = self.plan;
        let mut inner = ir.bool(true);
        let hulls = (0..plan.stencil.buffers.len()).map(Extent::Hull);
        let partial =
            plan.stencil.steps.iter().enumerate().filter(|(_, s)| s.partial).map(|(k, _)| Extent::Step(k));
        for e in hulls.chain(partial) {
            let thin = match e {
                Extent::Step(k) => plan.stencil.steps[k].thin.as_slice(),
                Extent::Hull(_) => &[],
            };
            let mut apart = ir.bool(false);
            for axis in 0..3 {
                let Some(d) = self.dimension(axis) else { continue };
                let [lower, upper] = self.corners(e, d);
                let [first, last] = if axis == 0 { [first, last] } else { self.reach(axis) };
                if thin.contains(&d) {
                    let before = ir.icmp(LLVMIntSLT, last, lower);
                    let behind = ir.icmp(LLVMIntSLT, upper, first);
                    apart = ir.or(apart, ir.or(before, behind));
                } else if thin.is_empty() {
                    let covers = ir.and(ir.icmp(LLVMIntSLE, lower, first), ir.icmp(LLVMIntSLE, last, upper));
                    inner = ir.and(inner, covers);
                }
            }
            if !thin.is_empty() {
                inner = ir.and(inner, apart);
            }
        }
        inner
    }

    /// First and last column of the thread's warp along an axis; of the block where warps are not lines of threads.
    fn reach(&self, axis: usize) -> [LLVMValueRef; 2] {
        let ir = self.k.ir;
        let [threads, cells] =
            [self.plan.config.threads, self.plan.config.cells].map(|n| i64::from(n[axis - 1]));
        let lines = self.plan.config.threads[1].is_multiple_of(WARP);
        let (begin, held) = match (lines, axis) {
            (false, _) => (ir.int32(0), threads),
            (true, 2) => (ir.and(self.thread[1], self.number(-i64::from(WARP))), WARP.into()),
            (true, _) => (self.thread[0], 1),
        };
        let first = ir.add(self.origin[axis - 1], ir.mul(begin, self.number(cells)));
        [first, ir.add(first, self.number(held * cells - 1))]
    }

    /// Called at the start of an iteration's code.
    pub fn begin_iteration(&mut self) {
        self.fetched.clear();
    }

    /// The masks of [`Tile::inside`]; boxes with the same corners share them.
    fn masks(&self) -> Vec<Vec<LLVMValueRef>> {
        let ir = self.k.ir;
        let mut made: BTreeMap<Vec<usize>, Vec<LLVMValueRef>> = BTreeMap::new();
        let hulls = (0..self.plan.stencil.buffers.len()).map(Extent::Hull);
        let steps = (0..self.plan.stencil.steps.len()).map(Extent::Step);
        let mask_of = |e: Extent| {
            let axes: Vec<(usize, usize)> = (1..3).filter_map(|a| Some((a, self.dimension(a)?))).collect();
            let key =
                axes.iter().flat_map(|(_, d)| self.ends(e, *d)).map(|s| self.scalar(s) as usize).collect();
            let build = || {
                let inside = |c: &Column| {
                    axes.iter().fold(ir.bool(true), |all, (axis, d)| {
                        let [lower, upper] = self.corners(e, *d);
                        ir.and(all, self.both(c.at[axis - 1], lower, upper))
                    })
                };
                self.columns.iter().map(|c| self.mask(inside(c))).collect()
            };
            made.entry(key).or_insert_with(build).clone()
        };
        hulls.chain(steps).map(mask_of).collect()
    }

    /// The thread's points of a row, moved into the box around all that is read of a buffer and into the touched range of its array
    /// (corners of a box may lie outside of it): their indices.
    fn moved(&self, b: usize, row: LLVMValueRef) -> Values {
        let ir = self.k.ir;
        let buffer = &self.plan.stencil.buffers[b];
        let nx = self.plan.config.cells[1] as usize;
        let clamp = |v: LLVMValueRef, axis: usize| match self.dimension(axis) {
            None => v,
            Some(d) => {
                let [lower, upper] = [StencilScalar::OuterLower(b, d), StencilScalar::OuterUpper(b, d)]
                    .map(|s| self.corner(s));
                ir.smax(self.smin(v, upper), lower)
            }
        };
        let row = clamp(row, 0);
        let ends =
            [StencilScalar::Begin(buffer.array), StencilScalar::End(buffer.array)].map(|s| self.scalar(s));
        let x = self.dimension(2).unwrap_or(0);
        let outer =
            [StencilScalar::OuterLower(b, x), StencilScalar::OuterUpper(b, x)].map(|s| self.scalar(s));
        let mut out = Vec::new();
        for line in self.columns.chunks(nx) {
            let start = self.index(b, row, [clamp(line[0].at[0], 1), self.number(0)]);
            // A line may lie beside the touched range as a whole: then the nearest element of the range stands for all of it.
            let last = ir.sub(ends[1], start);
            let lower = self.smin(ir.smax(outer[0], ir.sub(ends[0], start)), last);
            let upper = self.smin(outer[1], last);
            let [lower, upper] = [lower, upper].map(|v| ir.trunc(v, ir.i32_type()));
            for c in line {
                let at = ir.smax(self.smin(c.at[1], upper), lower);
                out.push(ir.add(start, self.wide(at)));
            }
        }
        out
    }

    /// A mask: whether a row is in a box.
    fn row_inside(&self, e: Extent, row: LLVMValueRef) -> LLVMValueRef {
        if self.plan.stencil.dims == 1 {
            return self.number(0);
        }
        let [lower, upper] = self.corners(e, 0);
        self.mask(self.both(row, lower, upper))
    }

    /// The type of a node's values.
    pub fn element(&self, node: usize) -> LLVMTypeRef {
        self.elements[self.plan.nodes[node].buffer].0
    }

    /// What the accesses that follow are made for.
    fn note(&self, what: &str, b: usize) {
        self.k.ir.note(what, &self.k.scop.array(self.plan.stencil.buffers[b].array).display);
    }

    fn load(&self, b: usize, from: LLVMValueRef, index: LLVMValueRef) -> LLVMValueRef {
        let (ty, align) = self.elements[b];
        // Inside of a box the border's values are thrown away, and so are those of points moved into it.
        let array = self.plan.stencil.buffers[b].array;
        self.k.ir.note_spare("a row at the border", &self.k.scop.array(array).display);
        self.k.ir.load_aligned(ty, self.k.ir.element(ty, from, index), align)
    }

    fn program_array(&self, b: usize) -> Result<LLVMValueRef> {
        let array = self.plan.stencil.buffers[b].array;
        match self.k.arrays.get(&array) {
            Some(v) => Ok(*v),
            None => internal("an array of the stencil is no argument"),
        }
    }

    /// A row of a live buffer at the start of the launch.
    pub fn load_input(&mut self, node: usize, row: LLVMValueRef) -> Result<Values> {
        let ir = self.k.ir;
        let b = self.plan.nodes[node].buffer;
        let buffer = &self.plan.stencil.buffers[b];
        let Some(src) = self.src.get(&buffer.array).copied() else {
            return internal("a live buffer has no source");
        };
        let (ty, align) = self.elements[b];
        let nx = self.plan.config.cells[1] as usize;
        if self.inner {
            // One address a line of the thread's columns.
            let load = |(cell, c): (usize, &Column)| {
                let line = self.columns[cell - cell % nx];
                let first = ir.element(ty, src, self.index(b, row, [c.at[0], line.at[1]]));
                self.note("a row that is read", b);
                ir.load_aligned(ty, ir.element(ty, first, ir.int((cell % nx) as i64)), align)
            };
            return Ok(self.columns.iter().enumerate().map(load).collect());
        }
        let program = self.program_array(b)?;
        let row_in = self.row_inside(Extent::Hull(b), row);
        let load = |(cell, index): (usize, &LLVMValueRef)| {
            // What no launch writes is in the program's array only.
            let inside = self.holds(row_in, self.inside[b][cell]);
            let from = if buffer.has_border { ir.select(inside, src, program) } else { src };
            self.load(b, from, *index)
        };
        Ok(self.moved(b, row).iter().enumerate().map(load).collect())
    }

    /// A row of a step. `own` gives the thread's own value of a node, so many iterations ago.
    pub fn compute(
        &mut self,
        node: usize,
        row: LLVMValueRef,
        iteration: i64,
        own: &dyn Fn(usize, usize, usize) -> Option<LLVMValueRef>,
        border: Option<&Values>,
    ) -> Result<Values> {
        let n = &self.plan.nodes[node];
        let Some((number, step)) = n.step.and_then(|s| Some((s, self.plan.stencil.steps.get(s)?))) else {
            return internal("a node without a step is computed");
        };
        let ir = self.k.ir;
        if let (true, false, Some(kept)) = (self.inner, step.thin.is_empty(), n.keep) {
            let age = (n.lag - self.plan.nodes[kept].lag) as usize;
            let held = (0..self.cells()).map(|c| own(kept, age, c)).collect::<Option<Values>>();
            return held.ok_or(crate::CodegenError::Internal(format!("what node {node} keeps is not there")));
        }
        let statement = &self.k.scop.statements[step.stmt.0];
        let time = ir.add(self.scalar(StencilScalar::Time), ir.int(n.time));
        let mut out = Vec::new();
        for cell in 0..self.cells() {
            let mut given = BTreeMap::new();
            for r in &n.reads {
                let AccessValue::Instruction(load) = statement.accesses[r.access].value else {
                    return internal("a stencil reads a scalar");
                };
                given.insert(load.0, self.operand(node, r, cell, iteration, own)?);
            }
            let mut coordinates = [row, self.columns[cell].at[0], self.columns[cell].at[1]];
            let plain = step.accesses.contains(&StepAccess::Plain);
            if plain && !self.inner {
                // The program's own loads need an instance of the statement.
                for (axis, c) in coordinates.iter_mut().enumerate() {
                    if let Some(d) = self.dimension(axis) {
                        let [lower, upper] = self.corners(Extent::Step(number), d);
                        *c = ir.smax(self.smin(*c, upper), lower);
                    }
                }
            }
            let mut iterators = vec![time];
            for (d, shift) in &step.iterators {
                let c = coordinates[plan::axis(self.plan.stencil.dims, *d)];
                iterators.push(ir.add(self.wide(c), ir.int(*shift)));
            }
            let emit = self.k.emit.clone();
            out.push(emit_stored(&mut self.k, &emit, step.stmt, step.write, &iterators, given)?);
        }
        if self.inner || !(self.plan.stencil.buffers[n.buffer].has_border || step.partial) {
            return Ok(out);
        }
        let old = match (n.keep, border) {
            (Some(before), _) => {
                let age = n.lag - self.plan.nodes[before].lag;
                (0..self.cells()).map(|c| own(before, age as usize, c)).collect::<Option<Values>>()
            }
            (None, given) => given.cloned(),
        };
        let Some(old) = old else {
            return internal(format!("the border of node {node} is not there"));
        };
        let row_in = self.row_inside(Extent::Step(number), row);
        let columns = &self.inside[self.plan.stencil.buffers.len() + number];
        let result = |c: usize| ir.select(self.holds(row_in, columns[c]), out[c], old[c]);
        Ok((0..self.cells()).map(result).collect())
    }

    /// What a read of a step sees at a cell.
    fn operand(
        &mut self,
        node: usize,
        r: &NodeRead,
        cell: usize,
        iteration: i64,
        own: &dyn Fn(usize, usize, usize) -> Option<LLVMValueRef>,
    ) -> Result<LLVMValueRef> {
        let ir = self.k.ir;
        let plan = self.plan;
        let age = plan.nodes[node].lag - plan.nodes[r.node].lag - r.offset[0];
        let [ny, nx] = plan.config.cells.map(i64::from);
        let (y, x) = (cell as i64 / nx + r.offset[1], cell as i64 % nx + r.offset[2]);
        if (0..ny).contains(&y) && (0..nx).contains(&x) {
            return match own(r.node, age as usize, (y * nx + x) as usize) {
                Some(v) => Ok(v),
                None => internal(format!("node {} is not there when node {node} reads it", r.node)),
            };
        }
        // Shared by the cells and nodes that need it.
        if let Some(v) = self.fetched.get(&(r.node, age, [y, x])) {
            return Ok(*v);
        }
        let owner = [y.div_euclid(ny), x.div_euclid(nx)];
        let its_cell = (y.rem_euclid(ny) * nx + x.rem_euclid(nx)) as usize;
        let (ty, _) = self.elements[plan.nodes[r.node].buffer];
        let at = self.slot(r.node, iteration - age, its_cell, owner)?;
        self.note("a step's value from another thread", plan.nodes[r.node].buffer);
        let v = ir.load_aligned(ty, at, self.bytes(r.node));
        self.fetched.insert((r.node, age, [y, x]), v);
        Ok(v)
    }

    fn bytes(&self, node: usize) -> u32 {
        self.k.scop.array(self.plan.stencil.buffers[self.plan.nodes[node].buffer].array).elem.bytes()
    }

    /// The address in shared memory of a cell of the thread `owner` away, as it was in an iteration (modulo the unrolling).
    fn slot(&self, node: usize, iteration: i64, cell: usize, owner: [i64; 2]) -> Result<LLVMValueRef> {
        let ir = self.k.ir;
        let plan = self.plan;
        let margin = plan::margins(plan, node).map(|m| m as i64);
        let width: Vec<i64> = (0..2).map(|a| i64::from(plan.config.threads[a]) + 2 * margin[a]).collect();
        let cells = plan::exchanged_cells(plan, node);
        let Some(at) = cells.iter().position(|c| *c == cell) else {
            return internal("a cell is not exchanged");
        };
        let slot = iteration.rem_euclid(plan.unroll as i64);
        let plane = (slot * cells.len() as i64 + at as i64) * width[0] * width[1];
        let there = (owner[0] + margin[0]) * width[1] + owner[1] + margin[1];
        let bytes = i64::from(self.bytes(node));
        let mine = ir.add(ir.mul(self.thread[0], self.number(width[1])), self.thread[1]);
        let mine = self.wide(ir.mul(mine, self.number(bytes)));
        let mine = ir.byte_offset(self.shared, mine);
        Ok(ir.byte_offset(mine, ir.int((plane + there) * bytes + self.slots[node] as i64)))
    }

    /// Whether a node's border is loaded: nothing before it in the launch holds it.
    pub fn loads_border(&self, node: usize) -> bool {
        let n = &self.plan.nodes[node];
        !self.inner && n.step.is_some() && n.keep.is_none() && self.plan.stencil.buffers[n.buffer].has_border
    }

    /// A row of the program's array, for the points outside of the buffer's hull; elsewhere the values mean nothing.
    pub fn load_border(&mut self, node: usize, row: LLVMValueRef) -> Result<Values> {
        let b = self.plan.nodes[node].buffer;
        let program = self.program_array(b)?;
        Ok(self.moved(b, row).iter().map(|index| self.load(b, program, *index)).collect())
    }

    /// Gives a row to other threads and, if it is final, to memory.
    pub fn publish(&mut self, node: usize, iteration: i64, row: LLVMValueRef, values: &Values) -> Result<()> {
        let ir = self.k.ir;
        let n = &self.plan.nodes[node];
        if n.exchange {
            for cell in plan::exchanged_cells(self.plan, node) {
                let to = self.slot(node, iteration, cell, [0, 0])?;
                self.note("a step's value for other threads", n.buffer);
                ir.store_aligned(values[cell], to, self.bytes(node));
            }
        }
        if !n.output {
            return Ok(());
        }
        let b = n.buffer;
        let Some(dst) = self.dst.get(&self.plan.stencil.buffers[b].array).copied() else {
            return internal("a live buffer has no destination");
        };
        let mut row_ok = self.number(0);
        if self.plan.stencil.dims > 1 {
            let [first, last] = self.rows;
            let mut inside = self.both(row, first, last);
            if !self.inner {
                let [lower, upper] = self.corners(Extent::Hull(b), 0);
                inside = ir.and(inside, self.both(row, lower, upper));
            }
            row_ok = self.mask(inside);
        }
        let (ty, align) = self.elements[b];
        let nx = self.plan.config.cells[1] as usize;
        // Computed before the first branch, all cells together: else each would be computed alone where it is stored, one chain of
        // dependent instructions behind the other.
        let values: Values = values.iter().map(|v| self.pinned(*v)).collect();
        for (cell, v) in values.iter().enumerate() {
            let c = self.columns[cell];
            let line = self.columns[cell - cell % nx];
            let column = if self.inner { c.output } else { ir.or(c.output, self.inside[b][cell]) };
            let ok = self.holds(row_ok, column);
            let first = ir.element(ty, dst, self.index(b, row, [c.at[0], line.at[1]]));
            let to = ir.element(ty, first, ir.int((cell % nx) as i64));
            let (store, next) =
                (ir.append_block(self.function, "store"), ir.append_block(self.function, "stored"));
            ir.cond_br(ok, store, next);
            ir.at_end(store);
            self.note("the last step's value", b);
            ir.store_aligned(*v, to, align);
            ir.br(next);
            ir.at_end(next);
        }
        Ok(())
    }

    /// The same value, computed here: the optimizer does not move it behind a branch.
    pub fn pinned(&self, v: LLVMValueRef) -> LLVMValueRef {
        let ir = self.k.ir;
        // SAFETY: live types and values; both casts are between types of the same size.
        unsafe {
            let ty = LLVMTypeOf(v);
            let (int, constraints) = match type_kind(ty) {
                LLVMTypeKind::LLVMFloatTypeKind => (ir.i32_type(), "=r,0"),
                LLVMTypeKind::LLVMDoubleTypeKind => (ir.i64_type(), "=l,0"),
                _ => return v,
            };
            let bits = LLVMBuildBitCast(ir.raw(), v, int, EMPTY);
            LLVMBuildBitCast(ir.raw(), same(ir, int, constraints, true, bits), ty, EMPTY)
        }
    }

    pub fn barrier(&self) {
        self.k.abstract_call(BARRIER, self.k.ir.void_type());
    }
}
