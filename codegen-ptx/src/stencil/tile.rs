//! What one thread does for one row of one node: load, compute, keep the border, hand to other threads, store.
//!
//! A thread owns `cells` columns, contiguous along y and x. Rows and columns are coordinates of the arrays, in 32 bits: the host
//! fuses no steps where they do not fit.

use super::StencilScalar;
use crate::error::{Result, internal};
use crate::kernel::*;
use crate::llvm::{EMPTY, function_type};
use crate::statement::emit_stored;
use inkwell::llvm_sys::LLVMInlineAsmDialect;
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::core::{LLVMBuildCall2, LLVMConstNull, LLVMGetInlineAsm};
use inkwell::llvm_sys::prelude::*;
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
    /// Whether the block writes it.
    output: LLVMValueRef,
}

/// What the border version knows of a buffer: which of the thread's columns are in its box.
#[derive(Clone)]
struct Inside {
    columns: Vec<LLVMValueRef>,
    all: LLVMValueRef,
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
    inner: bool,
    /// By buffer; filled for the border version.
    inside: Vec<Inside>,
    /// By buffer: linear index of the element `[selectors, 0, 0, 0]`, and elements a row and a line (of the y dimension).
    layout: Vec<Layout>,
}

#[derive(Clone, Copy)]
struct Layout {
    start: LLVMValueRef,
    row: LLVMValueRef,
    line: LLVMValueRef,
}

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
            layout: Vec::new(),
        };
        t.place()?;
        for b in 0..plan.stencil.buffers.len() {
            let layout = t.layout_of(b)?;
            t.layout.push(layout);
        }
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

    /// The same coordinate, as far as the optimizer knows another one: what is computed from it stays where it is. Else
    /// all that only threads at the border need would be computed before the loop and take registers in it.
    fn opaque(&self, v: LLVMValueRef) -> LLVMValueRef {
        let ir = self.k.ir;
        let (code, constraints) = ("", "=r,0");
        let ty = function_type(ir.i32_type(), &[ir.i32_type()]);
        let mut args = [v];
        // SAFETY: live types and strings with their lengths; an assembly of no instruction, valid on every target.
        unsafe {
            let asm = LLVMGetInlineAsm(
                ty,
                code.as_ptr().cast(),
                code.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                1,
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            );
            LLVMBuildCall2(ir.raw(), ty, asm, args.as_mut_ptr(), 1, EMPTY)
        }
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
                let output = ir.and(is_output(0), is_output(1));
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

    /// Whether all that the block computes and loads is inside of every buffer's box.
    pub fn is_inner(&self) -> LLVMValueRef {
        let ir = self.k.ir;
        let plan = self.plan;
        let mut inner = ir.bool(true);
        for b in 0..plan.stencil.buffers.len() {
            for axis in 1..3 {
                if let Some(d) = self.dimension(axis) {
                    let first = self.origin[axis - 1];
                    let held = i64::from(plan.config.threads[axis - 1] * plan.config.cells[axis - 1]);
                    let last = ir.add(first, self.number(held - 1));
                    inner =
                        ir.and(inner, ir.icmp(LLVMIntSLE, self.corner(StencilScalar::Lower(b, d)), first));
                    inner = ir.and(inner, ir.icmp(LLVMIntSLE, last, self.corner(StencilScalar::Upper(b, d))));
                }
            }
            if plan.stencil.dims > 1 {
                // The last iterations of the unrolled loop and the row loaded ahead included.
                let first = ir.sub(self.begin, self.number(plan.max_lag()));
                let last = ir.add(self.end, self.number(plan.unroll as i64 + 1));
                inner = ir.and(inner, ir.icmp(LLVMIntSLE, self.corner(StencilScalar::Lower(b, 0)), first));
                inner = ir.and(inner, ir.icmp(LLVMIntSLE, last, self.corner(StencilScalar::Upper(b, 0))));
            }
        }
        inner
    }

    /// Begins the version for inner tiles or the one for tiles at the border.
    pub fn enter(&mut self, inner: bool) -> Result<()> {
        self.inner = inner;
        self.inside.clear();
        if inner {
            return Ok(());
        }
        let all = (0..self.plan.stencil.buffers.len()).map(|b| self.inside_of(b)).collect();
        self.inside = all;
        Ok(())
    }

    fn inside_of(&self, b: usize) -> Inside {
        let ir = self.k.ir;
        let mut columns = Vec::new();
        for c in &self.columns {
            let mut column = ir.bool(true);
            for axis in 1..3 {
                if let Some(d) = self.dimension(axis) {
                    let (lower, upper) = (StencilScalar::Lower(b, d), StencilScalar::Upper(b, d));
                    let inside = self.both(c.at[axis - 1], self.corner(lower), self.corner(upper));
                    column = ir.and(column, inside);
                }
            }
            columns.push(column);
        }
        let all = columns.iter().skip(1).fold(columns[0], |a, c| ir.and(a, *c));
        Inside { columns, all }
    }

    /// A point moved into the box around all that is read of a buffer: its index, and whether it is in the buffer's box.
    fn moved(&self, b: usize, row: LLVMValueRef, cell: usize) -> (LLVMValueRef, LLVMValueRef) {
        let ir = self.k.ir;
        let at = self.columns[cell].at;
        let mut point = [row, self.opaque(at[0]), self.opaque(at[1])];
        let mut inside = ir.bool(true);
        for (axis, p) in point.iter_mut().enumerate() {
            if let Some(d) = self.dimension(axis) {
                let outer = [StencilScalar::OuterLower(b, d), StencilScalar::OuterUpper(b, d)]
                    .map(|s| self.corner(s));
                *p = ir.smax(self.smin(*p, outer[1]), outer[0]);
                let own = [StencilScalar::Lower(b, d), StencilScalar::Upper(b, d)].map(|s| self.corner(s));
                inside = ir.and(inside, self.both(*p, own[0], own[1]));
            }
        }
        (self.index(b, point[0], [point[1], point[2]]), inside)
    }

    /// Whether a row is in a buffer's box.
    fn row_inside(&self, b: usize, row: LLVMValueRef) -> LLVMValueRef {
        if self.plan.stencil.dims == 1 {
            return self.k.ir.bool(true);
        }
        self.both(row, self.corner(StencilScalar::Lower(b, 0)), self.corner(StencilScalar::Upper(b, 0)))
    }

    /// The type of a node's values.
    pub fn element(&self, node: usize) -> LLVMTypeRef {
        self.elements[self.plan.nodes[node].buffer].0
    }

    fn load(&self, b: usize, from: LLVMValueRef, index: LLVMValueRef) -> LLVMValueRef {
        let (ty, align) = self.elements[b];
        self.k.ir.load_aligned(ty, self.k.ir.element(ty, from, index), align)
    }

    /// An index moved into the touched range of the buffer's array: corners of a box may lie outside of it.
    fn touched(&self, b: usize, index: LLVMValueRef) -> LLVMValueRef {
        let array = self.plan.stencil.buffers[b].array;
        let (begin, end) = (self.scalar(StencilScalar::Begin(array)), self.scalar(StencilScalar::End(array)));
        self.k.ir.smax(self.smin(index, end), begin)
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
        let direct = || -> Values {
            // One address a line of the thread's columns.
            let load = |(cell, c): (usize, &Column)| {
                let line = self.columns[cell - cell % nx];
                let first = ir.element(ty, src, self.index(b, row, [c.at[0], line.at[1]]));
                ir.load_aligned(ty, ir.element(ty, first, ir.int((cell % nx) as i64)), align)
            };
            self.columns.iter().enumerate().map(load).collect()
        };
        if self.inner {
            return Ok(direct());
        }
        let program = self.program_array(b)?;
        let all = ir.and(self.row_inside(b, row), self.inside[b].all);
        let name = |n: &str| ir.append_block(self.function, n);
        let (near, far, after) = (name("within"), name("across"), name("loaded"));
        ir.cond_br(all, near, far);
        ir.at_end(near);
        let plain = direct();
        ir.br(after);
        ir.at_end(far);
        let mut moved = Vec::new();
        for cell in 0..self.cells() {
            let (mut index, inside) = self.moved(b, row, cell);
            let mut from = src;
            if buffer.has_border {
                index = self.touched(b, index);
                from = ir.select(inside, src, program);
            }
            moved.push(self.load(b, from, index));
        }
        ir.br(after);
        ir.at_end(after);
        Ok(plain.iter().zip(moved).map(|(p, m)| ir.phi(ty, &[(*p, near), (m, far)])).collect())
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
        let Some(step) = n.step.and_then(|s| self.plan.stencil.steps.get(s)) else {
            return internal("a node without a step is computed");
        };
        let ir = self.k.ir;
        let statement = &self.k.scop.statements[step.stmt.0];
        let time = ir.add(self.scalar(StencilScalar::Time), ir.int(n.time));
        // Loads of another thread's value are shared by the cells that need it.
        let mut fetched = BTreeMap::new();
        let mut out = Vec::new();
        for cell in 0..self.cells() {
            let mut given = BTreeMap::new();
            for r in &n.reads {
                let AccessValue::Instruction(load) = statement.accesses[r.access].value else {
                    return internal("a stencil reads a scalar");
                };
                given.insert(load.0, self.operand(node, r, cell, iteration, own, &mut fetched)?);
            }
            let mut coordinates = [row, self.columns[cell].at[0], self.columns[cell].at[1]];
            let plain = step.accesses.contains(&StepAccess::Plain);
            if plain && !self.inner {
                // The program's own loads need an instance of the statement.
                for (axis, c) in coordinates.iter_mut().enumerate() {
                    if let Some(d) = self.dimension(axis) {
                        let b = step.buffer;
                        let upper = self.corner(StencilScalar::Upper(b, d));
                        *c = ir.smax(self.smin(*c, upper), self.corner(StencilScalar::Lower(b, d)));
                    }
                }
            }
            let mut iterators = vec![time];
            for (d, shift) in &step.iterators {
                let c = coordinates[plan::axis(self.plan.stencil.dims, *d)];
                iterators.push(ir.add(self.wide(c), ir.int(*shift)));
            }
            let emit = self.k.emit.clone();
            out.push(emit_stored(&mut self.k, &emit, step.stmt, &iterators, given)?);
        }
        if self.inner || !self.plan.stencil.buffers[n.buffer].has_border {
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
        let row_in = self.row_inside(n.buffer, row);
        let columns = &self.inside[n.buffer].columns;
        Ok((0..self.cells()).map(|c| ir.select(ir.and(row_in, columns[c]), out[c], old[c])).collect())
    }

    /// What a read of a step sees at a cell.
    fn operand(
        &self,
        node: usize,
        r: &NodeRead,
        cell: usize,
        iteration: i64,
        own: &dyn Fn(usize, usize, usize) -> Option<LLVMValueRef>,
        fetched: &mut BTreeMap<(usize, i64, [i64; 2]), LLVMValueRef>,
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
        if let Some(v) = fetched.get(&(r.node, age, [y, x])) {
            return Ok(*v);
        }
        let owner = [y.div_euclid(ny), x.div_euclid(nx)];
        let its_cell = (y.rem_euclid(ny) * nx + x.rem_euclid(nx)) as usize;
        let (ty, _) = self.elements[plan.nodes[r.node].buffer];
        let at = self.slot(r.node, iteration - age, its_cell, owner)?;
        let v = ir.load_aligned(ty, at, self.bytes(r.node));
        fetched.insert((r.node, age, [y, x]), v);
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

    /// A row of the program's array, for the columns outside of the buffer's box; elsewhere the values mean nothing.
    pub fn load_border(&mut self, node: usize, row: LLVMValueRef) -> Result<Values> {
        let ir = self.k.ir;
        let b = self.plan.nodes[node].buffer;
        let (ty, _) = self.elements[b];
        let program = self.program_array(b)?;
        let all = ir.and(self.row_inside(b, row), self.inside[b].all);
        let before = ir.block();
        let (far, after) =
            (ir.append_block(self.function, "outside"), ir.append_block(self.function, "loaded"));
        ir.cond_br(all, after, far);
        ir.at_end(far);
        let mut loaded = Vec::new();
        for cell in 0..self.cells() {
            let (index, _) = self.moved(b, row, cell);
            loaded.push(self.load(b, program, self.touched(b, index)));
        }
        ir.br(after);
        ir.at_end(after);
        // SAFETY: a scalar type.
        let nothing = unsafe { LLVMConstNull(ty) };
        Ok(loaded.iter().map(|v| ir.phi(ty, &[(nothing, before), (*v, far)])).collect())
    }

    /// Gives a row to other threads and, if it is final, to memory.
    pub fn publish(&mut self, node: usize, iteration: i64, row: LLVMValueRef, values: &Values) -> Result<()> {
        let ir = self.k.ir;
        let n = &self.plan.nodes[node];
        if n.exchange {
            for cell in plan::exchanged_cells(self.plan, node) {
                let to = self.slot(node, iteration, cell, [0, 0])?;
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
        let mut row_ok = ir.bool(true);
        if self.plan.stencil.dims > 1 {
            row_ok = self.both(row, self.rows[0], self.rows[1]);
        }
        if !self.inner {
            row_ok = ir.and(row_ok, self.row_inside(b, row));
        }
        let (write, after) =
            (ir.append_block(self.function, "write"), ir.append_block(self.function, "written"));
        ir.cond_br(row_ok, write, after);
        ir.at_end(write);
        let (ty, align) = self.elements[b];
        let nx = self.plan.config.cells[1] as usize;
        for (cell, v) in values.iter().enumerate() {
            let c = self.columns[cell];
            let line = self.columns[cell - cell % nx];
            let ok = if self.inner { c.output } else { ir.and(c.output, self.inside[b].columns[cell]) };
            let (store, next) =
                (ir.append_block(self.function, "store"), ir.append_block(self.function, "stored"));
            ir.cond_br(ok, store, next);
            ir.at_end(store);
            let first = ir.element(ty, dst, self.index(b, row, [c.at[0], line.at[1]]));
            ir.store_aligned(*v, ir.element(ty, first, ir.int((cell % nx) as i64)), align);
            ir.br(next);
            ir.at_end(next);
        }
        ir.br(after);
        ir.at_end(after);
        Ok(())
    }

    pub fn barrier(&self) {
        self.k.abstract_call(BARRIER, self.k.ir.void_type());
    }
}
