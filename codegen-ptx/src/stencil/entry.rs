//! The entry block of a stencil's kernel: the thread's columns, the block's rows, layouts of the buffers.

use crate::ir::error::Result;
use crate::ir::intrinsics::{SHARED, THREAD_ID};
use crate::ir::llvm::*;
use crate::kernel::module::StencilScalar;
use crate::kernel::storage::PlainBuilder as KernelBuilder;
use crate::stencil::reports;
use crate::stencil::tile::{Column, Cursor, Fixed, Layout, Tile, WARP};
use pollyrs_schedule::stencil::StencilPlan;
use pollyrs_scop::ArrayId;
use std::collections::BTreeMap;

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
}
