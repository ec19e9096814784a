//! Buffers of doubles filled by chunks: 16 bytes from multiples of 16 bytes, by copies that no thread waits
//! for, wherever the rows of an array begin.
//!
//! If a row of a buffer begins in the middle of a chunk of the array, it does so in the buffer as well: it is
//! *shifted* by one element. Its first chunk starts with an element that nobody asked for, and its last
//! element lies in one chunk more.
//! ```text
//! array     . . | a b | c d | e f | ...        array     . a | b c | d e | f . | ...
//! buffer        | a b | c d | e f |            buffer    . a | b c | d e | f . |
//! ```
//! With `s(r)` = 1 if row `r` is shifted, else 0, and `x = c + s(r)`, element `(r, c)` is number
//! ```text
//! (r / 2) 2 (size + 4) + (x / 4) 8 + (r mod 2) 4 + x mod 4
//! ```
//! of the buffer: two rows take turns by four elements. That takes no more room than rows with
//! [padding](SharedGroup::padding).
//!
//! **No two lanes meet in a bank.** Half a warp reads elements `c, ..., c + 3` of rows `r, ..., r + 3`, where
//! `c` and `r` are multiples of four. With a size that eight divides, these are numbers
//! `4 (r mod 2) + 8 (r / 2) + {s, ..., 3}` and, if `s = 1`, `4 (r mod 2) + 8 (r / 2) + 8`, modulo 16. Rows
//! `r` and `r + 2` are both shifted or both not, as the distance of two rows is a multiple of 16 bytes:
//! together they have `4 (r mod 2) + {0, ..., 3, 8, ..., 11}`. (With rows one after the other, a shifted row
//! meets its neighbour: four elements of each of four rows fill all banks only if rows start at multiples of
//! four elements. Were not the lanes of a fragment's iterations fixed by the order of sums, rows could change
//! places instead.) Copies by quarters of a warp, each with four chunks of two rows, meet nowhere either.
//!
//! **What is read beside the elements** of a strip shares a chunk with one of them: nobody asks for its
//! value, and memory is not divided so finely that it could be missing. Rows and chunks outside of the tile's
//! box are others of the box, as in [`super::copy`]; what does not lie in the elements that the launch reads
//! is clamped, element by element, and no row is shifted.

use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use crate::ir::marks;
use crate::ir::types::{VECTOR_BYTES, llvm_elem};
use crate::ops::copies;
use crate::tiled::copy;
use crate::tiled::copy::{Share, Source};
use crate::tiled::places::{BYTES, Place, Places, Rows, WIDTH, shifted};
use crate::tiled::state::KernelBuilder;
use inkwell::llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE, LLVMIntSLE, LLVMIntULT};
use inkwell::llvm_sys::LLVMOpcode::LLVMIntToPtr;
use pollyrs_schedule::OperandTile;
use pollyrs_schedule::planted::planted;
use std::cell::RefCell;

/// A chunk that a thread copies.
struct Chunk {
    /// Further than the thread's first one in the buffer, in elements.
    place: Value,
    /// Whether the halves are elements of the row.
    halves: [Value; 2],
}

/// How a buffer is filled.
struct Group {
    rows: Rows,
    chunks: Vec<Chunk>,
    /// The thread's last chunks of shifted rows, by round: bytes from its first chunk and [`BYTES`] more, or
    /// a multiple of 16 if there is none; whether the halves are elements of the row.
    ends: Vec<(Value, [Value; 2])>,
    /// The address of the first strip's first element, and bytes from one row to the next.
    corner: Value,
    stride: Value,
    share: Share,
}

/// The copies of a loop over strips.
pub(super) struct Chunks {
    groups: Vec<Group>,
    /// Of the first strip: by group and round the address of a chunk.
    pub addresses: Vec<Vec<Value>>,
    /// Bytes from one strip to the next, by group: multiples of 16.
    pub steps: Vec<Value>,
    /// 0 if subscripts have to be clamped, 1 if no row is shifted, 2 if some are.
    form: Value,
}

/// A strip of an operand tile that is to be copied.
pub(super) struct Strip<'s> {
    /// Those of the thread's chunks, by group and round.
    pub addresses: &'s [Vec<Value>],
    /// The arguments of its copy.
    pub args: &'s [Value],
    /// Where its buffers start in shared memory, in bytes.
    pub offset: Value,
}

/// Whether chunks can fill the buffers of an operand tile.
pub(super) fn fit(k: &KernelBuilder<'_>, operand_tile: &OperandTile) -> bool {
    (operand_tile.strip * BYTES).is_multiple_of(VECTOR_BYTES)
        && operand_tile.groups.iter().all(|g| Rows::of(k, g).is_some())
}

impl Chunks {
    /// The copies from `first` to `last`, with `second` the one behind the first. Only for operand tiles that
    /// [`fit`].
    pub fn new(
        k: &mut KernelBuilder<'_>,
        emit: &ExprEmitter<'_>,
        operand_tile: &OperandTile,
        [first, second, last]: [&[Value]; 3],
    ) -> Result<Chunks> {
        let ir = k.ir;
        let thread = copy::thread(k)?;
        let (mut groups, mut addresses, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        let (mut inside, mut odd) = (ir.bool(true), ir.int(0));
        // What is combined from elements that no point combines might trap.
        let strict = crate::tiled::guard::minds_operands(k);
        for g in &operand_tile.groups {
            let Some(rows) = Rows::of(k, g) else {
                return crate::ir::error::internal("a buffer without chunks");
            };
            let source = Source::new(k, g)?;
            let at = [first, second, last].map(|args| copy::smallest(emit, g, args));
            let [start, next, end] = at;
            let (start, next, end) = (start?, next?, end?);
            // From the buffer's first subscript: where the elements end that the launch reads, if others
            // stand in for those beyond.
            let mut ends = vec![None; g.size.len()];
            for (d, (min, max)) in copy::limits(k, emit, g, &start)?.into_iter().enumerate() {
                if g.along[d].is_some() && !strict {
                    ends[d] = Some((ir.sub(min, start[d]), ir.sub(max, start[d])));
                } else {
                    inside = ir.and(inside, copy::within(k, g.size[d], [start[d], end[d]], (min, max)));
                }
            }
            let bytes = ir.int(BYTES.into());
            let corner = ir.element(source.ty, source.base, source.linear(k, &start));
            let mut one = vec![ir.int(0); g.size.len()];
            one[rows.dim] = ir.int(1);
            let stride = ir.mul(source.linear(k, &one), bytes);
            odd = ir.or(odd, ir.or(ir.ptr_to_int(corner), stride));
            let address = |row, element| {
                let bytes = ir.add(ir.mul(row, stride), ir.mul(element, bytes));
                ir.byte_offset(corner, bytes)
            };
            let clamp = |v, end: Option<_>| end.map_or(v, |(min, max)| ir.smax(ir.smin(v, max), min));
            // The chunk of an element, and whether its halves are elements of the row.
            let chunk = |row, element| {
                let element = clamp(element, ends[rows.last]);
                let wanted = address(clamp(row, ends[rows.dim]), element);
                let low = ir.sub(element, shifted(ir, wanted));
                let (min, max) = (ir.int(0), ir.int(i64::from(rows.size) - 1));
                let (min, max) = match ends[rows.last] {
                    Some((first, last)) => (ir.smax(min, first), ir.smin(max, last)),
                    None => (min, max),
                };
                let halves = [low, ir.add(low, ir.int(1))];
                let halves = halves.map(|e| ir.and(ir.icmp(LLVMIntSLE, min, e), ir.icmp(LLVMIntSLE, e, max)));
                (even(ir, wanted), halves)
            };
            let (mut starts, mut chunks) = (Vec::new(), Vec::new());
            let [row, element] = rows.own(ir, thread, source.share.threads);
            for r in 0..source.share.rounds() {
                let more = rows.round(r, source.share.threads).map(|v| ir.int(v.into()));
                let (start, halves) = chunk(ir.add(row, more[0]), ir.add(element, more[1]));
                starts.push(start);
                chunks.push(Chunk { place: rows.further(ir, more[0], more[1]), halves });
            }
            // Row `thread + threads round` has one chunk more if it is shifted.
            let mut behind = Vec::new();
            for r in 0..rows.count.div_ceil(source.share.threads) {
                let row = ir.add(thread, ir.int((r * source.share.threads).into()));
                let exists = ir.icmp(LLVMIntULT, row, ir.int(rows.count.into()));
                let (start, halves) = chunk(row, ir.int(i64::from(rows.size) - 1));
                let distance = ir.sub(ir.ptr_to_int(start), ir.ptr_to_int(starts[0]));
                let mark = ir.mul(shifted(ir, address(row, ir.int(0))), bytes);
                behind.push((ir.select(exists, ir.add(distance, mark), ir.int(0)), halves));
            }
            steps.push(ir.mul(ir.sub(source.linear(k, &next), source.linear(k, &start)), bytes));
            addresses.push(starts);
            groups.push(Group { rows, chunks, ends: behind, corner, stride, share: source.share });
        }
        let aligned = ir.icmp(LLVMIntEQ, ir.and(odd, ir.int(i64::from(VECTOR_BYTES) - 1)), ir.int(0));
        let form = ir.select(aligned, ir.int(1), ir.int(2));
        // Hidden: else its conditions are tested in the loop, with all that they are made of.
        let form = k.opaque(ir.select(inside, form, ir.int(0)));
        Ok(Chunks { groups, addresses, steps, form })
    }

    /// Where the elements are.
    pub fn places(&self) -> Places {
        let groups = self.groups.iter().map(|g| Place {
            rows: g.rows,
            corner: g.corner,
            stride: g.stride,
            form: self.form,
        });
        Places { groups: groups.collect(), fragments: false, starts: RefCell::default() }
    }

    /// Starts to copy a strip; what has to be clamped is copied at once.
    pub fn copy(
        &self,
        k: &mut KernelBuilder<'_>,
        function: Value,
        emit: &ExprEmitter<'_>,
        operand_tile: &OperandTile,
        strip: &Strip<'_>,
    ) -> Result<()> {
        let Strip { addresses, args, offset } = *strip;
        let ir = k.ir;
        let block = |name: &str| ir.append_block(function, name);
        let (chunks, ends, rest, after) = (block("chunks"), block("ends"), block("clamped"), block("copied"));
        ir.cond_br(ir.icmp(LLVMIntNE, self.form, ir.int(0)), chunks, rest);
        ir.at_end(chunks);
        let thread = copy::thread(k)?;
        let (starts, _) = copy::layout(k, operand_tile);
        for (((g, addresses), group), start) in
            self.groups.iter().zip(addresses).zip(&operand_tile.groups).zip(&starts)
        {
            k.ir.note("a copy to shared memory", &k.scop.array(group.array).display);
            let [row, element] = g.rows.own(ir, thread, g.share.threads);
            let own = g.rows.place(ir, row, element);
            let buffer = copy::buffer(k, offset, *start);
            for (chunk, from) in g.chunks.iter().zip(addresses) {
                let to = ir.element(ir.double_type(), buffer, ir.add(own, chunk.place));
                copies::copy(k, to, *from, chunk.halves);
            }
        }
        ir.cond_br(ir.icmp(LLVMIntEQ, self.form, ir.int(2)), ends, after);
        ir.at_end(ends);
        for (((g, addresses), group), start) in
            self.groups.iter().zip(addresses).zip(&operand_tile.groups).zip(&starts)
        {
            k.ir.note("a copy to shared memory", &k.scop.array(group.array).display);
            let buffer = copy::buffer(k, offset, *start);
            for (r, (distance, halves)) in (0..).zip(&g.ends) {
                if planted("last-chunk") {
                    continue;
                }
                let row = ir.add(thread, ir.int((r * g.share.threads).into()));
                let to =
                    ir.element(ir.double_type(), buffer, g.rows.place(ir, row, ir.int(g.rows.size.into())));
                let from = ir.byte_offset(addresses[0], ir.sub(*distance, ir.int(BYTES.into())));
                let (own, next) = (ir.append_block(function, "end"), ir.append_block(function, "next"));
                let exists = ir.icmp(LLVMIntNE, ir.and(*distance, ir.int(BYTES.into())), ir.int(0));
                marks::mark(ir, ir.cond_br(exists, own, next));
                ir.at_end(own);
                copies::copy(k, to, from, *halves);
                ir.br(next);
                ir.at_end(next);
            }
        }
        ir.br(after);
        ir.at_end(rest);
        let values = copy::clamped(k, emit, operand_tile, args)?;
        self.store(k, operand_tile, &values, offset)?;
        ir.br(after);
        ir.at_end(after);
        Ok(())
    }

    /// Stores what [`copy::clamped`] gave.
    fn store(
        &self,
        k: &mut KernelBuilder<'_>,
        operand_tile: &OperandTile,
        values: &[Value],
        offset: Value,
    ) -> Result<()> {
        let ir = k.ir;
        let thread = copy::thread(k)?;
        let (starts, _) = copy::layout(k, operand_tile);
        let mut values = values.chunks(WIDTH as usize);
        for ((g, group), start) in self.groups.iter().zip(&operand_tile.groups).zip(starts) {
            k.ir.note("a copy to shared memory", &k.scop.array(group.array).display);
            let buffer = copy::buffer(k, offset, start);
            for (r, moved) in (0..g.share.rounds()).zip(values.by_ref()) {
                let local = g.share.local(k, group, thread, r);
                let place = g.rows.place(ir, local[g.rows.dim], local[g.rows.last]);
                let ty = llvm_elem(ir, k.scop.array(group.array).elem);
                ir.store_aligned(ir.vector(ty, moved), ir.element(ty, buffer, place), VECTOR_BYTES);
            }
        }
        Ok(())
    }
}

/// The address of the chunk that an element is in.
fn even(ir: &Ir, address: Value) -> Value {
    let start = ir.and(ir.ptr_to_int(address), ir.int(-i64::from(VECTOR_BYTES)));
    ir.cast(LLVMIntToPtr, start, ir.ptr_type())
}
