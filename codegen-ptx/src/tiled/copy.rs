//! The copies that fill the buffers of an operand tile: all threads load into registers, and store to shared
//! memory later.
//!
//! Each thread moves vectors of up to 16 bytes along the array's last dimension, neighbouring threads
//! neighbouring ones. Loads come in three forms, chosen by conditions that are the same in all threads of the
//! block ([`Stream`]):
//! - the boxes of the buffers are inside the elements that the launch reads, but for rows and whole vectors
//!   that belong to points outside of the box, and their rows are aligned: one access a vector, where rows
//!   and vectors outside are others of the box;
//! - they are inside but for such rows and elements: one by one, where sizes allow it neighbouring ones by
//!   neighbouring lanes ([`super::lanes`]);
//! - else every subscript is clamped to the launch's elements.
//!
//! What is read in place of an element outside belongs to no point of the box.

use crate::affine::expr::ExprEmitter;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::SHARED;
use crate::ir::llvm::*;
use crate::ir::types::{VECTOR_BYTES, llvm_elem};
use crate::kernel::builder::alignment;
use crate::kernel::grid::linear_thread;
use crate::ops::copies;
use crate::tiled::lanes;
use crate::tiled::lanes::Lanes;
use crate::tiled::state::{Bounds, KernelBuilder, KnownBounds};
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSLE, LLVMIntULT};
use pollyrs_isl::{AstExpr, AstExprType, Val};
use pollyrs_schedule::{OperandTile, SharedGroup};
use pollyrs_scop::ElemType;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How the threads of a block share the vectors of a buffer.
pub(super) struct Share {
    /// Elements of a vector.
    pub width: u32,
    /// Vectors of the buffer.
    pub vectors: u32,
    pub threads: u32,
}

impl Share {
    pub fn new(k: &KernelBuilder<'_>, g: &SharedGroup) -> Result<Share> {
        let bytes = k.scop.array(g.array).elem.bytes();
        let last = g.size.last().copied().unwrap_or(1);
        let fits = |w: &u32| w * bytes <= VECTOR_BYTES && last.is_multiple_of(*w);
        let width = [4, 2, 1].into_iter().find(fits).unwrap_or(1);
        let helpers = k.kernel().tiling().map_or(1, |t| t.helpers);
        let threads = k.kernel().block.iter().map(|b| b.size).product::<u32>() * helpers;
        Ok(Share { width, vectors: g.size.iter().product::<u32>() / width, threads })
    }

    pub fn rounds(&self) -> u32 {
        self.vectors.div_ceil(self.threads)
    }

    /// Whether some threads have nothing to move in a round.
    fn partial(&self, round: u32) -> bool {
        (round + 1) * self.threads > self.vectors
    }

    fn number(&self, k: &KernelBuilder<'_>, thread: Value, round: u32) -> Value {
        k.ir.add(thread, k.ir.int((round * self.threads).into()))
    }

    /// For a buffer that is fastest along another dimension than the array: this dimension, and how many of
    /// its elements 16 banks of four bytes hold.
    fn transposed(&self, k: &KernelBuilder<'_>, g: &SharedGroup) -> Option<(usize, u32)> {
        let last = g.size.len().checked_sub(1)?;
        let rows = *g.order.last().filter(|d| **d != last)?;
        let lines = 64 / k.scop.array(g.array).elem.bytes().max(1);
        let fits = g.size[rows].is_multiple_of(lines) && g.size[last].is_multiple_of(4 * self.width);
        fits.then_some((rows, lines))
    }

    /// The place in the buffer of a vector's first element; the last vector stands in for those beyond the
    /// buffer.
    pub fn local(&self, k: &KernelBuilder<'_>, g: &SharedGroup, thread: Value, round: u32) -> Vec<Value> {
        let ir = k.ir;
        let mut rest = self.number(k, thread, round);
        if self.partial(round) {
            let last = ir.int(i64::from(self.vectors) - 1);
            rest = ir.select(ir.icmp(LLVMIntULT, rest, last), rest, last);
        }
        let mut local = vec![ir.int(0); g.size.len()];
        if let Some((rows, lines)) = self.transposed(k, g) {
            // 32 bytes of a row, then rows, then the rest of the rows: stores of neighbours hit different
            // banks.
            let last = g.size.len() - 1;
            let digits = g.size[last] / self.width;
            let mut next = |size: u32| {
                let size = ir.int(size.into());
                let digit = ir.urem(rest, size);
                rest = ir.udiv(rest, size);
                digit
            };
            let (low, row, high) = (next(2), next(lines), next(digits / 2));
            let more = next(g.size[rows] / lines);
            let vector = ir.add(low, ir.mul(high, ir.int(2)));
            local[last] = ir.mul(vector, ir.int(self.width.into()));
            local[rows] = ir.add(row, ir.mul(more, ir.int(lines.into())));
            for d in (0..last).rev().filter(|d| *d != rows) {
                local[d] = next(g.size[d]);
            }
            return local;
        }
        for (d, size) in g.size.iter().enumerate().rev() {
            let width = if d + 1 == g.size.len() { self.width } else { 1 };
            let digits = ir.int((size / width).into());
            local[d] = ir.mul(ir.urem(rest, digits), ir.int(width.into()));
            rest = ir.udiv(rest, digits);
        }
        local
    }
}

/// The linear index of the thread in its block.
pub(super) fn thread(k: &KernelBuilder<'_>) -> Result<Value> {
    k.at_entry(|| Ok(k.ir.zext(linear_thread(k)?, k.ir.i64_type())))
}

/// The offset of a buffer among those of its operand tile, in bytes, and the size of all.
pub(super) fn layout(k: &KernelBuilder<'_>, operand_tile: &OperandTile) -> (Vec<u32>, u32) {
    let mut bytes = 0_u32;
    let mut offsets = Vec::new();
    for g in &operand_tile.groups {
        offsets.push(bytes);
        let size = g.elements() * k.scop.array(g.array).elem.bytes();
        bytes = (bytes + size).next_multiple_of(VECTOR_BYTES);
    }
    (offsets, bytes)
}

/// The smallest subscripts of a buffer.
pub(super) fn smallest(emit: &ExprEmitter<'_>, g: &SharedGroup, args: &[Value]) -> Result<Vec<Value>> {
    let mut emit = emit.clone();
    for (d, v) in args.iter().enumerate() {
        emit.names.insert(crate::affine::expr::iterator_name(d as u32), *v);
    }
    g.lower
        .iter()
        .map(|f| {
            emit.emit_int(&crate::affine::expr::pw_aff_expr(&crate::affine::expr::parameterize(f)?, None)?)
        })
        .collect()
}

/// What the loads of a group need.
pub(super) struct Source {
    pub share: Share,
    pub elem: ElemType,
    pub ty: Type,
    /// What every access of the program claims.
    pub align: u32,
    pub base: Value,
    /// Sizes of the array's dimensions but the first.
    pub sizes: Vec<Value>,
}

impl Source {
    pub fn new(k: &mut KernelBuilder<'_>, g: &SharedGroup) -> Result<Source> {
        let elem = k.scop.array(g.array).elem;
        let Some(base) = k.arrays.get(&g.array).copied() else {
            return internal("a buffer without an array");
        };
        let sizes = (1..g.size.len()).map(|d| k.size(g.array, d)).collect::<Result<Vec<_>>>()?;
        let (ty, align) = (llvm_elem(k.ir, elem), alignment(k, g.array));
        Ok(Source { share: Share::new(k, g)?, elem, ty, align, base, sizes })
    }

    /// Whether vectors are of 16 bytes.
    pub fn whole(&self) -> bool {
        let half = matches!(self.elem, ElemType::F16 | ElemType::BF16);
        self.share.width * self.elem.bytes() == VECTOR_BYTES && !half
    }

    /// The linear offset of an element.
    pub fn linear(&self, k: &KernelBuilder<'_>, at: &[Value]) -> Value {
        let ir = k.ir;
        let first = at.first().copied().unwrap_or(ir.int(0));
        at.iter().skip(1).zip(&self.sizes).fold(first, |sum, (s, size)| ir.add(ir.mul(sum, *size), *s))
    }
}

/// Loads what the thread moves of the copy `args`, every subscript clamped: for each group, round and element
/// of a vector a value.
pub(super) fn clamped(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    operand_tile: &OperandTile,
    args: &[Value],
) -> Result<Vec<Value>> {
    let ir = k.ir;
    // Hidden, so that nothing of this path is computed outside of a loop and kept in registers there.
    let thread = thread(k)?;
    let thread = k.opaque(thread);
    let args: Vec<_> = args.iter().map(|a| k.opaque(*a)).collect();
    let mut values = Vec::new();
    for g in &operand_tile.groups {
        k.ir.note("a copy to shared memory", &k.scop.array(g.array).display);
        let source = Source::new(k, g)?;
        let bounds = bounds(k, g)?;
        let emit = hidden(k, emit, bounds.iter().flat_map(|(a, b)| [a, b]))?;
        let emitted = |e: &AstExpr| emit.emit_int(e);
        let bounds =
            bounds.iter().map(|(min, max)| Ok((emitted(min)?, emitted(max)?))).collect::<Result<Vec<_>>>()?;
        let lower = smallest(&emit, g, &args)?;
        for r in 0..source.share.rounds() {
            let local = source.share.local(k, g, thread, r);
            for i in 0..source.share.width {
                let mut at = Vec::new();
                for (d, (min, max)) in bounds.iter().enumerate() {
                    let more = if d + 1 == g.size.len() { i } else { 0 };
                    let s = ir.add(lower[d], ir.add(local[d], ir.int(more.into())));
                    let s = ir.select(ir.icmp(LLVMIntSLE, s, *max), s, *max);
                    at.push(ir.select(ir.icmp(LLVMIntSLE, s, *min), *min, s));
                }
                let address = ir.element(source.ty, source.base, source.linear(k, &at));
                values.push(ir.load_aligned(source.ty, address, source.align));
            }
        }
    }
    Ok(values)
}

/// The first and last subscripts that the launch reads, by dimension.
fn bounds(k: &KernelBuilder<'_>, g: &SharedGroup) -> Result<Rc<Bounds>> {
    for KnownBounds { of, bounds } in k.storage.bounds.borrow().iter() {
        let mut same = of.len() == g.bounds.len();
        for (a, b) in of.iter().zip(&g.bounds) {
            same = same && a.0.plain_is_equal(&b.0)? && a.1.plain_is_equal(&b.1)?;
        }
        if same {
            return Ok(Rc::clone(bounds));
        }
    }
    let context = k.kernel().context.clone().params()?;
    let expr = |f: &pollyrs_isl::PwAff| crate::affine::expr::pw_aff_expr(f, Some(&context));
    let all = g.bounds.iter().map(|(min, max)| Ok((expr(min)?, expr(max)?))).collect::<Result<Bounds>>()?;
    let all = Rc::new(all);
    k.storage.bounds.borrow_mut().push(KnownBounds { of: g.bounds.clone(), bounds: Rc::clone(&all) });
    Ok(all)
}

/// `emit` with the names in some expressions, and the tile's coordinates, hidden from the optimizer.
fn hidden<'e, 'x>(
    k: &KernelBuilder<'_>,
    emit: &ExprEmitter<'e>,
    expressions: impl Iterator<Item = &'x AstExpr>,
) -> Result<ExprEmitter<'e>> {
    let mut names: BTreeSet<String> = k.kernel().grid.iter().map(|g| g.param.clone()).collect();
    for e in expressions {
        mentioned(e, &mut names)?;
    }
    let mut emit = emit.clone();
    for name in names {
        if let Some(v) = emit.names.get(&name).copied() {
            emit.names.insert(name, k.opaque(v));
        }
    }
    Ok(emit)
}

fn mentioned(e: &AstExpr, names: &mut BTreeSet<String>) -> Result<()> {
    match e.expr_type()? {
        AstExprType::Int => {}
        AstExprType::Id => {
            names.insert(e.id()?.name());
        }
        AstExprType::Op => {
            for i in 0..e.n_arg()? as i32 {
                mentioned(&e.arg(i)?, names)?;
            }
        }
    }
    Ok(())
}

/// The loads of a loop over strips. The smallest subscripts are affine in the strip, so addresses grow by
/// constants, and what holds at the first and at the last strip holds in between.
pub(super) struct Stream {
    pub sources: Vec<Source>,
    /// By group, if elements are moved by lanes: then, in form 1, the first of a group's addresses is theirs.
    pub lanes: Option<Vec<Lanes>>,
    /// Of the first strip: for each group and round an address.
    pub addresses: Vec<Vec<Value>>,
    /// Bytes from one strip to the next, by group.
    pub steps: Vec<Value>,
    /// 0 if subscripts have to be clamped, 1 for elements, 2 for vectors.
    pub form: Value,
}

/// Whether subscript `d` of a buffer is a point's coordinate within the box, and no tile begins before it. Of
/// the part of a launch that is cut the bound is computed; in the loop over strips it would need registers
/// (28 bytes spilled, products of floats in tiles of 64 × 64 took 4% longer).
fn starts_in_box(k: &KernelBuilder<'_>, g: &SharedGroup, d: usize) -> Result<bool> {
    let Some(m) = g.along[d] else { return Ok(false) };
    let Some(dim) = k.kernel().tiling().and_then(|t| t.dims.get(m)) else { return Ok(false) };
    if k.kernel().host_params.is_empty() || dim.min.is_cst()? || !g.bounds[d].0.is_equal(&dim.min)? {
        return Ok(false);
    }
    let tile = Val::int(dim.min.context(), i64::from(k.kernel().block[m].size * dim.points))?;
    Ok(k.kernel().grid[m].lower.clone().scale(tile)?.lt_set(dim.min.clone())?.is_empty()?)
}

/// The first and last subscripts that the launch reads, by dimension, as the loop over strips needs them; the
/// first copy begins at `first`.
pub(super) fn limits(
    k: &KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    g: &SharedGroup,
    first: &[Value],
) -> Result<Vec<(Value, Value)>> {
    let limit = |(d, (min, max)): (usize, &(AstExpr, AstExpr))| {
        let min = if starts_in_box(k, g, d)? { first[d] } else { emit.emit_int(min)? };
        Ok((min, emit.emit_int(max)?))
    };
    bounds(k, g)?.iter().enumerate().map(limit).collect()
}

/// Whether the `size` subscripts from each of `starts` on are from `min` to `max`.
pub(super) fn within(
    k: &KernelBuilder<'_>,
    size: u32,
    starts: [Value; 2],
    (min, max): (Value, Value),
) -> Value {
    let ir = k.ir;
    starts.into_iter().fold(ir.bool(true), |all, start| {
        let end = ir.add(start, ir.int(i64::from(size) - 1));
        let inside = ir.and(ir.icmp(LLVMIntSLE, min, start), ir.icmp(LLVMIntSLE, end, max));
        ir.and(all, inside)
    })
}

impl Stream {
    /// The stream of the copies from `first` to `last`, with `second` the one behind the first.
    pub fn new(
        k: &mut KernelBuilder<'_>,
        emit: &ExprEmitter<'_>,
        operand_tile: &OperandTile,
        [first, second, last]: [&[Value]; 3],
    ) -> Result<Stream> {
        let ir = k.ir;
        let thread = thread(k)?;
        let (mut sources, mut addresses, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        let (mut inside, mut low) = (ir.bool(true), ir.int(0));
        // Of the last dimension, where it moves within the tile.
        let mut columns = ir.bool(true);
        // What is combined from elements that no point combines might trap.
        let strict = crate::tiled::guard::minds_operands(k);
        let mut lanes = Vec::new();
        for g in &operand_tile.groups {
            let source = Source::new(k, g)?;
            let at = [smallest(emit, g, first)?, smallest(emit, g, second)?, smallest(emit, g, last)?];
            let bytes = ir.int(source.elem.bytes().into());
            let mut clamps = vec![None; g.size.len()];
            // Of elements.
            let mut singles = vec![None; g.size.len()];
            for (d, (min, max)) in limits(k, emit, g, &at[0])?.into_iter().enumerate() {
                let all = within(k, g.size[d], [at[0][d], at[2][d]], (min, max));
                let moves = g.along[d].is_some() && !strict;
                singles[d] = moves.then(|| (ir.sub(min, at[0][d]), ir.sub(max, at[0][d])));
                if moves && d + 1 < g.size.len() {
                    clamps[d] = Some((min, max));
                } else if moves && source.whole() {
                    // The box has whole vectors.
                    let width = ir.int(source.share.width.into());
                    let behind = ir.add(max, ir.int(1));
                    for end in [min, behind] {
                        low = ir.or(low, ir.mul(ir.sub(end, at[0][d]), bytes));
                    }
                    clamps[d] = Some((min, ir.sub(behind, width)));
                    columns = ir.and(columns, all);
                } else {
                    inside = ir.and(inside, all);
                }
            }
            let (from, to) = (source.linear(k, &at[0]), source.linear(k, &at[1]));
            let step = ir.mul(ir.sub(to, from), bytes);
            let corner = ir.element(source.ty, source.base, from);
            if source.whole() {
                low = ir.or(low, ir.or(ir.ptr_to_int(corner), step));
                if let Some(row) = source.sizes.last() {
                    low = ir.or(low, ir.mul(*row, bytes));
                }
            }
            let rounds = 0..source.share.rounds();
            let address = |r| {
                let mut local = source.share.local(k, g, thread, r);
                for ((l, lower), clamp) in local.iter_mut().zip(&at[0]).zip(&clamps) {
                    if let Some((min, max)) = clamp {
                        *l = ir.sub(ir.smax(ir.smin(ir.add(*lower, *l), *max), *min), *lower);
                    }
                }
                ir.element(source.ty, corner, source.linear(k, &local))
            };
            addresses.push(rounds.map(address).collect::<Vec<_>>());
            lanes.push(Lanes::new(k, g, &source, (thread, corner), singles));
            steps.push(step);
            sources.push(source);
        }
        let aligned = ir.icmp(LLVMIntEQ, ir.and(low, ir.int(i64::from(VECTOR_BYTES) - 1)), ir.int(0));
        let lanes = lanes::all(k, lanes);
        let elements = match &lanes {
            Some(lanes) => lanes.iter().fold(inside, |all, l| ir.and(all, l.fits(k))),
            None => ir.and(inside, columns),
        };
        let elements = ir.select(elements, ir.int(1), ir.int(0));
        let form = ir.select(ir.and(inside, aligned), ir.int(2), elements);
        // Hidden: else its conditions are tested in the loop, with all that they are made of.
        let form = k.opaque(form);
        let single = ir.icmp(LLVMIntEQ, form, ir.int(1));
        for (l, list) in lanes.iter().flatten().zip(&mut addresses) {
            list[0] = ir.select(single, l.start(k), list[0]);
        }
        Ok(Stream { sources, lanes, addresses, steps, form })
    }

    /// Loads the strip `args` from these addresses: for each group, round and element of a vector a value.
    pub fn load(
        &self,
        k: &mut KernelBuilder<'_>,
        function: Value,
        emit: &ExprEmitter<'_>,
        operand_tile: &OperandTile,
        addresses: &[Vec<Value>],
        args: &[Value],
    ) -> Result<Vec<Value>> {
        let ir = k.ir;
        let block = |name: &str| ir.append_block(function, name);
        let (vectors, other, elements, rest, after) =
            (block("vectors"), block("unaligned"), block("elements"), block("clamped"), block("loaded"));
        let mut arms: Vec<(Block, Vec<Value>)> = Vec::new();
        ir.cond_br(ir.icmp(LLVMIntEQ, self.form, ir.int(2)), vectors, other);
        ir.at_end(other);
        ir.cond_br(ir.icmp(LLVMIntEQ, self.form, ir.int(1)), elements, rest);
        for (arm, aligned) in [(vectors, true), (elements, false)] {
            ir.at_end(arm);
            let mut values = Vec::new();
            let groups = self.sources.iter().zip(addresses).zip(&operand_tile.groups).enumerate();
            for (at, ((source, addresses), g)) in groups {
                k.ir.note("a copy to shared memory", &k.scop.array(g.array).display);
                if let Some(lanes) = self.lanes.as_ref().filter(|_| !aligned) {
                    let from = lanes[at].addresses(k, addresses[0]);
                    values.extend(from.into_iter().map(|a| ir.load_aligned(source.ty, a, source.align)));
                    continue;
                }
                for address in addresses {
                    let width = source.share.width;
                    if aligned && source.whole() {
                        match copies::load_vector(k, source.elem, width, *address) {
                            Some(v) => values.extend(v),
                            None => return internal("a vector without a load"),
                        }
                        continue;
                    }
                    for i in 0..width {
                        let address = ir.element(source.ty, *address, ir.int(i.into()));
                        values.push(ir.load_aligned(source.ty, address, source.align));
                    }
                }
            }
            ir.br(after);
            arms.push((arm, values));
        }
        ir.at_end(rest);
        let values = clamped(k, emit, operand_tile, args)?;
        ir.br(after);
        arms.push((rest, values));
        ir.at_end(after);
        let count = arms[0].1.len();
        Ok((0..count)
            .map(|i| {
                let incoming: Vec<_> = arms.iter().map(|(block, values)| (values[i], *block)).collect();
                ir.phi(arms[0].1[i].ty(), &incoming)
            })
            .collect())
    }
}

/// Where in shared memory the thread's vector of a round goes, in the buffer `start` bytes behind `offset`.
fn place(
    k: &mut KernelBuilder<'_>,
    share: &Share,
    g: &SharedGroup,
    thread: Value,
    round: u32,
    (offset, start): (Value, u32),
) -> Value {
    let ir = k.ir;
    let mut to = ir.int(0);
    for (l, stride) in share.local(k, g, thread, round).iter().zip(&g.strides()) {
        to = ir.add(to, ir.mul(*l, ir.int((*stride).into())));
    }
    let buffer = buffer(k, offset, start);
    ir.element(llvm_elem(ir, k.scop.array(g.array).elem), buffer, to)
}

/// The buffer `start` bytes behind `offset` in shared memory.
pub(super) fn buffer(k: &mut KernelBuilder<'_>, offset: Value, start: u32) -> Value {
    let shared = k.abstract_call(SHARED, k.ir.ptr_type());
    k.ir.byte_offset(k.ir.byte_offset(shared, offset), k.ir.int(start.into()))
}

/// Stores what loads gave to the buffers that start `offset` bytes into shared memory.
pub(super) fn store(
    k: &mut KernelBuilder<'_>,
    function: Value,
    operand_tile: &OperandTile,
    values: &[Value],
    offset: Value,
) -> Result<()> {
    let ir = k.ir;
    let thread = thread(k)?;
    let (starts, _) = layout(k, operand_tile);
    let mut values = values.iter().copied();
    for (g, start) in operand_tile.groups.iter().zip(starts) {
        k.ir.note("a copy to shared memory", &k.scop.array(g.array).display);
        let share = Share::new(k, g)?;
        let elem = k.scop.array(g.array).elem;
        let (ty, bytes) = (llvm_elem(ir, elem), elem.bytes());
        let strides = g.strides();
        let last = strides.last().copied().unwrap_or(1);
        let rows = strides.iter().take(strides.len().saturating_sub(1));
        let whole = last == 1 && rows.clone().all(|s| s.is_multiple_of(share.width));
        for r in 0..share.rounds() {
            let moved: Vec<_> = values.by_ref().take(share.width as usize).collect();
            let to = place(k, &share, g, thread, r, (offset, start));
            let next = if share.partial(r) {
                let (own, next) = (ir.append_block(function, "own"), ir.append_block(function, "next"));
                let exists = ir.icmp(LLVMIntULT, share.number(k, thread, r), ir.int(share.vectors.into()));
                ir.cond_br(exists, own, next);
                ir.at_end(own);
                Some(next)
            } else {
                None
            };
            if whole && share.width > 1 {
                ir.store_aligned(ir.vector(ty, &moved), to, share.width * bytes);
            } else {
                for (i, v) in moved.into_iter().enumerate() {
                    let to = ir.element(ty, to, ir.int(i as i64 * i64::from(last)));
                    ir.store_aligned(v, to, bytes);
                }
            }
            if let Some(next) = next {
                ir.br(next);
                ir.at_end(next);
            }
        }
    }
    Ok(())
}

/// A value of type `ty` that nobody looks at.
pub(super) fn poison(ty: Type) -> Value {
    ty.poison()
}
