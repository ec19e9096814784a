//! Rows from and to device memory.
//!
//! # Addresses
//! Where all rows are inside, addresses walk from row to row instead of being computed for each. At the
//! sides, a column outside of the box around all that is read is moved into it once; the row stays in the
//! touched range of the array, whose first and last elements are in the first and last rows of the box, and
//! these are left to the border version. That one moves every element into the touched range (corners of the
//! box may lie outside of it).

use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::PREFETCH;
use crate::ir::llvm::*;
use crate::kernel::module::StencilScalar;
use crate::ops::pinned::pinned;
use crate::stencil::tile::{Extent, Tile, Values, Version};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntSLT;

/// Phis of the walks, in their order.
pub(super) struct Walking(Vec<((usize, bool), Value)>);

impl Tile<'_> {
    /// Rows that are brought into the cache before they are loaded.
    pub fn prefetched(&self) -> i64 {
        self.fixed.plan.prefetch as i64
    }

    /// Before the loop of a version, whose first iteration is `it`.
    pub fn enter(&mut self, it: Value) -> Result<()> {
        self.cursor.walks.clear();
        self.cursor.sides.clear();
        self.cursor.prefetches = None;
        self.enter_cases();
        if self.cursor.version == Version::Border {
            return Ok(());
        }
        let ir = self.k.ir;
        let plan = self.fixed.plan;
        self.exchange_columns();
        for i in &plan.order {
            let n = &plan.nodes[*i];
            let (b, ty) = (n.buffer, self.fixed.elements[n.buffer].0);
            let first = self.cursor.columns[0].at;
            if n.step.is_none() {
                let row = ir.add(it, self.number(plan.prefetch_distance as i64));
                let at = if self.cursor.version == Version::Inner {
                    ir.element(ty, self.source(b)?, self.index(b, row, first))
                } else {
                    let bases = self.side_columns(b)?;
                    self.cursor.sides.insert(b, bases);
                    ir.mul(
                        ir.mul(self.wide(row), self.fixed.layout[b].row),
                        ir.int(i64::from(self.bytes(*i))),
                    )
                };
                self.cursor.walks.insert((b, false), at);
            }
            if n.output {
                let row = ir.sub(it, self.number(n.lag));
                let at = ir.element(ty, self.destination(b)?, self.index(b, row, first));
                self.cursor.walks.insert((b, true), at);
            }
        }
        self.exchange_columns();
        Ok(())
    }

    /// In the loop's first block.
    pub fn walk_phis(&mut self, entry: Block) -> Walking {
        let ir = self.k.ir;
        let mut phis = Vec::new();
        for (key, at) in &mut self.cursor.walks {
            let ty =
                if key.1 || self.cursor.version == Version::Inner { ir.ptr_type() } else { ir.i64_type() };
            *at = ir.phi(ty, &[(*at, entry)]);
            phis.push((*key, *at));
        }
        Walking(phis)
    }

    /// At the loop's end.
    pub fn walk_on(&self, walking: &Walking, last: Block) {
        for (key, phi) in &walking.0 {
            self.k.ir.add_incoming(*phi, self.cursor.walks[key], last);
        }
    }

    /// Where the walk of a buffer is; it moves on to the next row.
    fn step_row(&mut self, b: usize, stored: bool) -> Result<Value> {
        let ir = self.k.ir;
        let bytes = ir.mul(self.fixed.layout[b].row, ir.int(self.buffer_bytes(b).into()));
        let step = self.varying(bytes);
        let pointer = stored || self.cursor.version == Version::Inner;
        let Some(at) = self.cursor.walks.get_mut(&(b, stored)) else {
            return internal("a buffer without a walk");
        };
        let now = *at;
        *at = if pointer { ir.byte_offset(now, step) } else { ir.add(now, step) };
        Ok(now)
    }

    /// The address of a cell from that of the thread's first column in the row.
    fn cell(&self, b: usize, at: Value, cell: usize) -> Value {
        let ir = self.k.ir;
        let (ty, nx) = (self.fixed.elements[b].0, self.fixed.plan.config.cells[1] as usize);
        let line = match cell / nx {
            0 => at,
            n => ir.element(ty, at, ir.mul(self.fixed.layout[b].line, ir.int(n as i64))),
        };
        ir.element(ty, line, ir.int(self.stride() * (cell % nx) as i64))
    }

    /// Before a trip of the unrolled loop, which asks the cache for rows up to `last`: only if they are
    /// there.
    pub fn guard_prefetch(&mut self, last: Value) {
        let buffers = 0..self.fixed.plan.stencil.buffers.len();
        let there = buffers.fold(self.k.ir.bool(true), |all, b| {
            let upper = self.corner(StencilScalar::OuterUpper(b, 0));
            self.k.ir.and(all, self.k.ir.icmp(LLVMIntSLT, last, upper))
        });
        let wanted = self.prefetched() > 0 && self.cursor.version != Version::Border;
        self.cursor.prefetches = wanted.then_some(there);
    }

    /// Asks the cache for the element some rows behind an address.
    fn prefetch_row(&self, b: usize, at: Value) {
        let ir = self.k.ir;
        let Some(there) = self.cursor.prefetches else { return };
        let (fetch, next) = (
            ir.append_block(self.fixed.function, "prefetch"),
            ir.append_block(self.fixed.function, "fetched"),
        );
        ir.cond_br(there, fetch, next);
        ir.at_end(fetch);
        let f = self.k.module.declare(PREFETCH, ir.void_type().function(&[ir.ptr_type()]));
        for a in ["nounwind", "willreturn"] {
            f.add_attribute(FUNCTION, a, 0);
        }
        let rows = ir.mul(self.fixed.layout[b].row, ir.int(self.prefetched()));
        ir.call_function(f, &[ir.element(self.fixed.elements[b].0, at, rows)]);
        ir.br(next);
        ir.at_end(next);
    }

    /// By cell: the address in row 0, the column moved into the box around all that is read, of the array
    /// that holds the element if its row is inside.
    fn side_columns(&self, b: usize) -> Result<Values> {
        let ir = self.k.ir;
        let (src, program) = (self.source(b)?, self.program_array(b)?);
        let ty = self.fixed.elements[b].0;
        let at = |(cell, c): (usize, &super::tile::Column)| {
            let index = self.index(b, self.number(0), self.clamped(b, c.at));
            let inside = self.holds(self.number(0), self.cursor.inside[b][cell]);
            let border = self.fixed.plan.stencil.buffers[b].has_border;
            let from = if border { ir.select(inside, src, program) } else { src };
            ir.element(ty, from, index)
        };
        Ok(self.cursor.columns.iter().enumerate().map(at).collect())
    }

    /// Coordinates along y and x, moved into the box around all that is read of a buffer.
    fn clamped(&self, b: usize, at: [Value; 2]) -> [Value; 2] {
        [self.clamp(b, at[0], 1), self.clamp(b, at[1], 2)]
    }

    fn clamp(&self, b: usize, v: Value, axis: usize) -> Value {
        let Some(d) = self.dimension(axis) else { return v };
        let [lower, upper] =
            [StencilScalar::OuterLower(b, d), StencilScalar::OuterUpper(b, d)].map(|s| self.corner(s));
        self.k.ir.smax(self.smin(v, upper), lower)
    }

    /// The thread's points of a row, moved into the box around all that is read of a buffer and into the
    /// touched range of its array: their indices.
    fn moved(&self, b: usize, row: Value) -> Values {
        let ir = self.k.ir;
        if self.cursor.version == Version::Sides {
            return self.cursor.columns.iter().map(|c| self.index(b, row, self.clamped(b, c.at))).collect();
        }
        let buffer = &self.fixed.plan.stencil.buffers[b];
        let nx = self.fixed.plan.config.cells[1] as usize;
        let row = self.clamp(b, row, 0);
        let ends =
            [StencilScalar::Begin(buffer.array), StencilScalar::End(buffer.array)].map(|s| self.scalar(s));
        let x = self.dimension(2).unwrap_or(0);
        let outer =
            [StencilScalar::OuterLower(b, x), StencilScalar::OuterUpper(b, x)].map(|s| self.scalar(s));
        let mut out = Vec::new();
        for line in self.cursor.columns.chunks(nx) {
            let start = self.index(b, row, [self.clamp(b, line[0].at[0], 1), self.number(0)]);
            // A line may lie beside the touched range as a whole: then the nearest element of the range
            // stands for all of it.
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

    /// What the accesses that follow are made for.
    pub(super) fn note(&self, what: &str, b: usize) {
        self.k.ir.note(what, &self.k.scop.array(self.fixed.plan.stencil.buffers[b].array).display);
    }

    /// Loads what may be thrown away: inside of a box the border's values are, and so are those of points
    /// moved into it.
    fn load(&self, b: usize, at: Value) -> Value {
        let (ty, align) = self.fixed.elements[b];
        let array = self.fixed.plan.stencil.buffers[b].array;
        self.k.ir.note_spare("a row at the border", &self.k.scop.array(array).display);
        self.k.ir.load_aligned(ty, at, align)
    }

    fn program_array(&self, b: usize) -> Result<Value> {
        let array = self.fixed.plan.stencil.buffers[b].array;
        match self.k.arrays.get(&array) {
            Some(v) => Ok(*v),
            None => internal("an array of the stencil is no argument"),
        }
    }

    fn source(&self, b: usize) -> Result<Value> {
        match self.fixed.src.get(&self.fixed.plan.stencil.buffers[b].array) {
            Some(v) => Ok(*v),
            None => internal("a live buffer has no source"),
        }
    }

    fn destination(&self, b: usize) -> Result<Value> {
        // What no launch reads has no copy.
        if !self.fixed.plan.stencil.buffers[b].live {
            return self.program_array(b);
        }
        match self.fixed.dst.get(&self.fixed.plan.stencil.buffers[b].array) {
            Some(v) => Ok(*v),
            None => internal("a live buffer has no destination"),
        }
    }

    /// A row of a live buffer at the start of the launch. Where rows are inside, it is the row that comes
    /// next.
    pub fn load_input(&mut self, node: usize, row: Value) -> Result<Values> {
        self.exchange_columns();
        let values = self.load_columns(node, row);
        self.exchange_columns();
        Ok(self.to_own(self.fixed.plan.nodes[node].buffer, values?))
    }

    fn load_columns(&mut self, node: usize, row: Value) -> Result<Values> {
        let ir = self.k.ir;
        let b = self.fixed.plan.nodes[node].buffer;
        let (ty, align) = self.fixed.elements[b];
        let nx = self.fixed.plan.config.cells[1] as usize;
        match self.cursor.version {
            Version::Inner => {
                let start = self.step_row(b, false)?;
                let load = |cell: usize| {
                    let at = self.cell(b, start, cell);
                    if cell.is_multiple_of(nx) {
                        self.prefetch_row(b, at);
                    }
                    self.note("a row that is read", b);
                    ir.load_aligned(ty, at, align)
                };
                Ok((0..self.cells()).map(load).collect())
            }
            Version::Sides => {
                let offset = self.step_row(b, false)?;
                let load = |(cell, base): (usize, &Value)| {
                    let at = ir.byte_offset(*base, offset);
                    if cell.is_multiple_of(nx) {
                        self.prefetch_row(b, at);
                    }
                    self.load(b, at)
                };
                Ok(self.cursor.sides[&b].iter().enumerate().map(load).collect())
            }
            Version::Border => {
                let (src, program) = (self.source(b)?, self.program_array(b)?);
                let row_in = self.row_inside(Extent::Hull(b), row);
                let load = |(cell, index): (usize, &Value)| {
                    // What no launch writes is in the program's array only.
                    let inside = self.holds(row_in, self.cursor.inside[b][cell]);
                    let border = self.fixed.plan.stencil.buffers[b].has_border;
                    let from = if border { ir.select(inside, src, program) } else { src };
                    self.load(b, ir.element(ty, from, *index))
                };
                Ok(self.moved(b, row).iter().enumerate().map(load).collect())
            }
        }
    }

    /// Whether a node's border is loaded: nothing before it in the launch holds it.
    pub fn loads_border(&self, node: usize) -> bool {
        let n = &self.fixed.plan.nodes[node];
        let border = self.fixed.plan.stencil.buffers[n.buffer].has_border;
        self.cursor.version != Version::Inner && n.step.is_some() && n.keep.is_none() && border
    }

    /// A row of the program's array, for the points outside of the buffer's hull; elsewhere the values mean
    /// nothing.
    pub fn load_border(&mut self, node: usize, row: Value) -> Result<Values> {
        let b = self.fixed.plan.nodes[node].buffer;
        let (ty, program) = (self.fixed.elements[b].0, self.program_array(b)?);
        let nx = self.fixed.plan.config.cells[1] as usize;
        let load = |(cell, index): (usize, &Value)| {
            let at = self.k.ir.element(ty, program, *index);
            if cell.is_multiple_of(nx) {
                self.prefetch_row(b, at);
            }
            self.load(b, at)
        };
        Ok(self.moved(b, row).iter().enumerate().map(load).collect())
    }

    /// Stores a row of a final version, inside of the tile and the hull.
    pub(super) fn store_output(&mut self, node: usize, row: Value, values: &Values) -> Result<()> {
        let values = self.to_memory(self.fixed.plan.nodes[node].buffer, values);
        self.exchange_columns();
        let stored = self.store_columns(node, row, &values);
        self.exchange_columns();
        stored
    }

    fn store_columns(&mut self, node: usize, row: Value, values: &Values) -> Result<()> {
        let ir = self.k.ir;
        let b = self.fixed.plan.nodes[node].buffer;
        let dst = self.destination(b)?;
        let mut row_ok = self.number(0);
        if self.fixed.plan.stencil.dims > 1 {
            let [first, last] = self.fixed.rows;
            let mut inside = self.both(row, first, last);
            if self.cursor.version == Version::Border {
                let [lower, upper] = self.corners(Extent::Hull(b), 0);
                inside = ir.and(inside, self.both(row, lower, upper));
            }
            row_ok = self.mask(inside);
        }
        let (ty, align) = self.fixed.elements[b];
        let nx = self.fixed.plan.config.cells[1] as usize;
        // Computed before the first branch, all cells together: else each would be computed alone where it is
        // stored, one chain of dependent instructions behind the other.
        let values: Values = values.iter().map(|v| pinned(ir, *v)).collect();
        let start = if self.cursor.version == Version::Border { None } else { Some(self.step_row(b, true)?) };
        for (cell, v) in values.iter().enumerate() {
            let c = self.cursor.columns[cell];
            let column = match self.cursor.version {
                Version::Inner => c.output,
                _ => ir.or(c.output, self.cursor.inside[b][cell]),
            };
            let ok = self.holds(row_ok, column);
            let to = match start {
                Some(at) => self.cell(b, at, cell),
                None => {
                    let line = self.cursor.columns[cell - cell % nx];
                    let first = ir.element(ty, dst, self.index(b, row, [c.at[0], line.at[1]]));
                    ir.element(ty, first, ir.int(self.stride() * (cell % nx) as i64))
                }
            };
            let (store, next) = (
                ir.append_block(self.fixed.function, "store"),
                ir.append_block(self.fixed.function, "stored"),
            );
            ir.cond_br(ok, store, next);
            ir.at_end(store);
            let array = self.fixed.plan.stencil.buffers[b].array;
            ir.note_spare("the last step's value", &self.k.scop.array(array).display);
            ir.store_aligned(*v, to, align);
            ir.br(next);
            ir.at_end(next);
        }
        Ok(())
    }
}
