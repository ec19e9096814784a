//! The cells of a thread's points, between arrays and registers.
//!
//! A tile that is whole and whose cells lie in rows at multiples of 16 bytes (of bytes and halves: of the
//! bytes of its consecutive points, 16 at most) moves vectors of consecutive points, unless it has many of
//! them; any other one a cell at a time, each under the condition that the launch has it. (Cell by
//! cell, a warp's accesses touch four times as many sectors as it moves.)
//!
//! **Argument.** A cell belongs to one point, so that nobody else writes what is loaded, and a store of a
//! cell uses what was loaded from it, or the load is dead: vector loads need no order among other accesses.

use crate::affine::expr::ExprEmitter;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ir::marks;
use crate::ir::types::{VECTOR_BYTES, llvm_elem};
use crate::kernel::builder::alignment;
use crate::ops::copies;
use crate::tiled::guard;
use crate::tiled::guard::minds_operands;
use crate::tiled::state::{Coordinate, KernelBuilder, at_point, computes, points, register};
use crate::tiled::words;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use pollyrs_isl as isl;
use pollyrs_isl::AstExpr;
use pollyrs_schedule::{RegisterCell, Tiling};
use pollyrs_scop::{ArrayId, ElemType};

/// Threads with so many points move them one by one: vectors tie registers to groups of four, of which the
/// assembler has no choice when it looks for sums and operands in different banks. Measured on an H200,
/// product of floats, 8 × 16 points: 50.1 in place of 47.5 TFLOP/s at 4096 and 50.5 in place of 47.9 at 8192.
/// Where other members lie outside of the tiles, each cell is used by shorter loops, and vectors are worth
/// it: without them batched products of 128 x 128 x 128 and a contraction took a tenth longer.
const MANY_POINTS: usize = 128;

/// What accesses are, for messages of the checked device.
const COPY: &str = "a copy between an array and registers";

/// Loads the registers of an array, or stores those of points in the box.
pub(super) fn transfer(
    k: &mut KernelBuilder<'_>,
    function: Value,
    r: &RegisterCell,
    load: bool,
) -> Result<()> {
    let ir = k.ir;
    let Some(base) = k.arrays.get(&r.array).copied() else {
        return internal("a register without an array");
    };
    let tiling = k.storage.tiling;
    // [v] as parameters.
    let used = r.cell.clone().domain()?;
    let mut subscripts = Vec::new();
    let f = isl::PwMultiAff::from_map(r.cell.clone())?;
    for d in 0..k.scop.array(r.array).dims() as i32 {
        let p = bind(f.at(d)?, tiling)?;
        subscripts.push(crate::affine::expr::pw_aff_expr(&p, Some(&tiling.context.clone().params()?))?);
    }
    let own = match &r.full {
        Some(_) => guard::of_points(&used, tiling)?,
        None => None,
    };
    let runs = used.params()?.gist_params(tiling.context.clone().params()?)?;
    let emit = k.emit.clone();
    let condition = emit.emit_set(&runs)?;
    let condition = computes(k, tiling)?.map_or(condition, |own| ir.and(condition, own));
    let (then, after) = (ir.append_block(function, "cells"), ir.append_block(function, "endcells"));
    ir.cond_br(condition, then, after);
    ir.at_end(then);
    let elem = k.scop.array(r.array).elem;
    let ty = llvm_elem(ir, elem);
    // (Vectors of narrow elements are put together from registers, and are not taken apart.)
    let narrow = !load && words::is_narrow(elem);
    let along = consecutive(&f, tiling, elem, narrow)?;
    let cells = Cells { array: r.array, base, ty, elem, subscripts };
    let (all, some, done) = (
        ir.append_block(function, "alltile"),
        ir.append_block(function, "parttile"),
        ir.append_block(function, "donetile"),
    );
    let full = k.storage.coordinates.iter().fold(ir.bool(true), |full, c| ir.and(full, c.full));
    let full = match &r.full {
        Some(tiles) => ir.and(full, emit.emit_set(tiles)?),
        None => full,
    };
    let many = tiling.dims.len() == 2 && points(tiling).len() >= MANY_POINTS;
    let along = along.filter(|_| (copies::has_vector(elem) || narrow) && !many);
    let full = match &along {
        Some(vector) => ir.and(full, cells.aligned(k, &emit, vector)?),
        None => full,
    };
    ir.cond_br(full, all, some);
    ir.at_end(all);
    for point in points(tiling) {
        match &along {
            Some(vector) => cells.transfer_vector(k, &emit, &point, vector, load)?,
            None => cells.transfer(k, &emit, &point, |c| &c.plain, load)?,
        }
    }
    ir.br(done);
    ir.at_end(some);
    if load && minds_operands(k) && guard::reads(k, r.array)? {
        // A point outside the box repeats one of the box, whose divisors are the program's.
        for point in points(tiling) {
            cells.transfer(k, &emit, &point, |c| &c.value, load)?;
        }
    } else {
        for point in points(tiling) {
            k.storage.cursor.point = point.clone();
            if load && let Some(register) = register(k, r.array)? {
                ir.store_aligned(ty.zero(), register, elem.bytes());
            }
            let mut inside = ir.bool(true);
            for (c, p) in k.storage.coordinates.iter().zip(&point) {
                inside = ir.and(inside, c.inside[*p]);
            }
            if let Some(own) = &own {
                let emit = at_point(k, &emit, &point)?;
                inside = ir.and(inside, emit.emit_bool(own)?);
            }
            let (own, next) = (ir.append_block(function, "own"), ir.append_block(function, "next"));
            marks::mark(ir, ir.cond_br(inside, own, next));
            ir.at_end(own);
            cells.transfer(k, &emit, &point, |c| &c.plain, load)?;
            ir.br(next);
            ir.at_end(next);
        }
    }
    ir.br(done);
    ir.at_end(done);
    ir.br(after);
    ir.at_end(after);
    Ok(())
}

/// Points whose cells are beside each other.
struct Vector {
    /// The dimension that they lie along.
    along: usize,
    bytes: u32,
    /// Whether the last one of them has the first cell (`y[n - i]`).
    backwards: bool,
}

impl Vector {
    /// How many cells of so many bytes it has.
    fn width(&self, bytes: u32) -> usize {
        (self.bytes / bytes) as usize
    }

    /// The points of the vector that begins with one, in the order of their cells.
    fn points(&self, first: &[usize], bytes: u32) -> Vec<Vec<usize>> {
        let at = |i: usize| {
            let mut point = first.to_vec();
            point[self.along] += i;
            point
        };
        let mut points: Vec<_> = (0..self.width(bytes)).map(at).collect();
        if self.backwards {
            points.reverse();
        }
        points
    }
}

/// The cells of the points in an array, for loads and stores.
struct Cells {
    array: ArrayId,
    base: Value,
    ty: Type,
    elem: ElemType,
    /// Over the coordinates.
    subscripts: Vec<AstExpr>,
}

impl Cells {
    fn transfer(
        &self,
        k: &mut KernelBuilder<'_>,
        emit: &ExprEmitter<'_>,
        point: &[usize],
        which: impl Fn(&Coordinate) -> &Vec<Value>,
        load: bool,
    ) -> Result<()> {
        let ir = k.ir;
        let cell = self.address(k, emit, point, which)?;
        let align = alignment(k, self.array);
        let Some(register) = register(k, self.array)? else { return internal("no register") };
        let array = &k.scop.array(self.array).display;
        if load {
            ir.note(COPY, array);
            ir.store_aligned(ir.load_aligned(self.ty, cell, align.max(1)), register, self.elem.bytes());
        } else {
            let value = ir.load_aligned(self.ty, register, self.elem.bytes());
            ir.note_spare(COPY, array);
            ir.store_aligned(value, cell, align);
        }
        Ok(())
    }

    /// Where the cell of a point is.
    fn address(
        &self,
        k: &mut KernelBuilder<'_>,
        emit: &ExprEmitter<'_>,
        point: &[usize],
        which: impl Fn(&Coordinate) -> &Vec<Value>,
    ) -> Result<Value> {
        let ir = k.ir;
        let mut emit = at_point(k, emit, point)?;
        let t = &mut k.storage;
        for ((d, c), p) in t.tiling.dims.iter().zip(&t.coordinates).zip(point) {
            emit.names.insert(d.param.clone(), which(c)[*p]);
        }
        let mut offset = None;
        for (d, s) in self.subscripts.iter().enumerate() {
            let s = emit.emit_int(s)?;
            offset = Some(match offset {
                None => s,
                Some(o) => {
                    let size = k.size(self.array, d)?;
                    ir.add(ir.mul(o, size), s)
                }
            });
        }
        Ok(offset.map_or(self.base, |o| ir.element(self.ty, self.base, o)))
    }

    /// Whether the vectors of a thread start at multiples of their bytes: the first one does, and so do rows.
    fn aligned(&self, k: &mut KernelBuilder<'_>, emit: &ExprEmitter<'_>, vector: &Vector) -> Result<Value> {
        let ir = k.ir;
        let first = vec![0; k.storage.cursor.point.len()];
        let points = vector.points(&first, self.elem.bytes());
        let mut low = ir.ptr_to_int(self.address(k, emit, &points[0], |c| &c.plain)?);
        if self.subscripts.len() > 1 {
            let row = k.size(self.array, self.subscripts.len() - 1)?;
            low = ir.or(low, ir.mul(row, ir.int(self.elem.bytes().into())));
        }
        Ok(ir.icmp(LLVMIntEQ, ir.and(low, ir.int(i64::from(vector.bytes) - 1)), ir.int(0)))
    }

    /// The cells of the vector that starts with a point; nothing for other points.
    fn transfer_vector(
        &self,
        k: &mut KernelBuilder<'_>,
        emit: &ExprEmitter<'_>,
        point: &[usize],
        vector: &Vector,
        load: bool,
    ) -> Result<()> {
        let (ir, bytes) = (k.ir, self.elem.bytes());
        let width = vector.width(bytes);
        if !point[vector.along].is_multiple_of(width) {
            return Ok(());
        }
        let points = vector.points(point, bytes);
        let cell = self.address(k, emit, &points[0], |c| &c.plain)?;
        let mut registers = Vec::new();
        for at in points {
            k.storage.cursor.point = at;
            let Some(register) = register(k, self.array)? else { return internal("no register") };
            registers.push(register);
        }
        let array = &k.scop.array(self.array).display;
        if load {
            ir.note(COPY, array);
            let Some(values) = copies::load_own_vector(k, self.elem, width as u32, cell) else {
                return internal("a vector without a load");
            };
            for (v, register) in values.into_iter().zip(registers) {
                ir.store_aligned(v, register, bytes);
            }
        } else {
            let values: Vec<_> = registers.into_iter().map(|r| ir.load_aligned(self.ty, r, bytes)).collect();
            ir.note_spare(COPY, array);
            ir.store_aligned(ir.vector(self.ty, &values), cell, vector.bytes);
        }
        Ok(())
    }
}

/// The points whose vectors (of 16 bytes, or narrow ones) are consecutive cells: the last subscript of
/// `{ [v] -> A[s] }` follows their dimension alone, forwards or backwards, and no other one does.
fn consecutive(f: &isl::PwMultiAff, tiling: &Tiling, elem: ElemType, narrow: bool) -> Result<Option<Vector>> {
    let count = f.dim(isl::DimType::Out)? as i32;
    let mut found = None;
    for d in 0..count {
        let p = f.at(d)?.coalesce()?;
        let p = p.clone().gist(p.domain()?)?;
        let pieces = p.pieces()?;
        let [(_, a)] = pieces.as_slice() else { return Ok(None) };
        if a.dim(isl::DimType::Div)? > 0 || a.denominator()?.to_i64() != Some(1) {
            return Ok(None);
        }
        for (m, dim) in tiling.dims.iter().enumerate() {
            let moves = a.coefficient(isl::DimType::In, m as i32)?.to_i64();
            let bytes = match narrow {
                true => words::width(dim.vector, elem),
                false if (dim.vector * elem.bytes()).is_multiple_of(VECTOR_BYTES) => VECTOR_BYTES,
                false => 0,
            };
            let vector = bytes > elem.bytes() && found.is_none();
            match moves {
                Some(0) => {}
                Some(by @ (1 | -1)) if d + 1 == count && vector => {
                    found = Some(Vector { along: m, bytes, backwards: by < 0 });
                }
                _ if d + 1 < count => {}
                _ => return Ok(None),
            }
        }
    }
    // Rows that move with the vector, too, are no rows.
    let Some(vector) = found else { return Ok(None) };
    for d in 0..count - 1 {
        for (_, a) in f.at(d)?.pieces()? {
            if a.coefficient(isl::DimType::In, vector.along as i32)?.to_i64() != Some(0) {
                return Ok(None);
            }
        }
    }
    Ok(Some(vector))
}

/// A function of `[v]` as one of the parameters `_v0`, ...
fn bind(f: isl::PwAff, tiling: &Tiling) -> Result<isl::PwAff> {
    let mut f = f;
    for d in &tiling.dims {
        let at = f.dim(isl::DimType::Param)?;
        f = f.move_dims(isl::DimType::Param, at, isl::DimType::In, 0, 1)?;
        let id = isl::Id::new(f.context(), &d.param)?;
        f = f.set_dim_id(isl::DimType::Param, at, id)?;
    }
    Ok(f.project_domain_on_params()?)
}
