//! Where the elements of a buffer are if chunks of 16 bytes fill it ([`super::chunks`]).

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use crate::ir::types::VECTOR_BYTES;
use crate::tiled::copy::Share;
use crate::tiled::state::{KernelBuilder, Local};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntNE;
use pollyrs_schedule::SharedGroup;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Bytes of an element.
pub(crate) const BYTES: u32 = 8;

/// Elements of a chunk.
pub(crate) const WIDTH: u32 = VECTOR_BYTES / BYTES;

/// Elements after which rows take turns.
pub(crate) const TURN: u32 = 4;

/// The rows of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// The only dimension of the array but the last along which the buffer has more than one element.
    pub(crate) dim: usize,
    pub(crate) last: usize,
    pub(crate) count: u32,
    /// Elements of a row.
    pub(crate) size: u32,
}

impl Rows {
    /// `None` if chunks can't fill the buffer.
    pub(crate) fn of(k: &KernelBuilder<'_>, g: &SharedGroup) -> Option<Rows> {
        let last = g.size.len().checked_sub(1)?;
        let several: Vec<_> = (0..last).filter(|d| g.size[*d] > 1).collect();
        let [dim] = several[..] else { return None };
        let (count, size) = (g.size[dim], g.size[last]);
        let Share { width, vectors, threads } = Share::new(k, g).ok()?;
        let doubles = k.scop.array(g.array).elem == pollyrs_scop::ElemType::F64;
        // What a round and a thread add to the number of a chunk does not carry.
        let regular = threads.is_multiple_of(size) || size.is_multiple_of(threads);
        let fits = doubles
            && width == WIDTH
            && crate::kernel::builder::alignment(k, g.array) >= BYTES
            && g.order.last() == Some(&last)
            && g.padding == TURN
            && count.is_multiple_of(2)
            && size.is_multiple_of(2 * TURN)
            && vectors.is_multiple_of(threads)
            && threads.is_multiple_of(2 * WIDTH)
            && regular
            && k.kernel().tiling().is_some_and(|t| t.helpers <= 1);
        fits.then_some(Rows { dim, last, count, size })
    }

    /// The number of the element `x` places behind the start of an unshifted row.
    pub(crate) fn place(&self, ir: &Ir, row: Value, x: Value) -> Value {
        let int = |v: u32| ir.int(v.into());
        let pair = ir.mul(ir.and(row, ir.int(-2)), int(self.size + TURN));
        let turns = ir.add(x, ir.and(x, ir.int(-i64::from(TURN))));
        ir.add(pair, ir.add(ir.mul(ir.and(row, int(1)), int(TURN)), turns))
    }

    /// How much further an element is `rows` rows and `x` elements on, multiples of [`TURN`].
    pub(crate) fn further(&self, ir: &Ir, rows: Value, x: Value) -> Value {
        ir.add(ir.mul(rows, ir.int((self.size + TURN).into())), ir.mul(x, ir.int(2)))
    }

    /// The row and the element that the chunk of a thread starts with in the first round.
    pub(crate) fn own(&self, ir: &Ir, thread: Value, threads: u32) -> [Value; 2] {
        let int = |v: u32| ir.int(v.into());
        let inside = ir.urem(thread, int(self.size.min(threads)));
        let pair = ir.udiv(thread, int(self.size.max(1)));
        let pair = if threads > self.size { pair } else { int(0) };
        let row = ir.add(ir.mul(pair, int(2)), ir.urem(ir.udiv(inside, int(2)), int(2)));
        let chunk = ir.add(ir.mul(ir.udiv(inside, int(4)), int(2)), ir.urem(inside, int(2)));
        [row, ir.mul(chunk, int(WIDTH))]
    }

    /// How many rows and elements further the chunk of a round is than that of the first one.
    pub(crate) fn round(&self, round: u32, threads: u32) -> [u32; 2] {
        let number = round * threads;
        [number / self.size * 2, number % self.size / 4 * 2 * WIDTH]
    }
}

/// Of an address: whether it is in the middle of a chunk.
pub(crate) fn shifted(ir: &Ir, address: Value) -> Value {
    ir.urem(ir.udiv(ir.ptr_to_int(address), ir.int(BYTES.into())), ir.int(WIDTH.into()))
}

/// Where the elements of a buffer are.
pub(crate) struct Place {
    pub(crate) rows: Rows,
    pub(crate) corner: Value,
    pub(crate) stride: Value,
    pub(crate) form: Value,
}

/// Where the elements of the buffers of an operand tile are.
pub(crate) struct Places {
    pub(crate) groups: Vec<Place>,
    /// Whether only elements of fragments are asked for: what differs from load to load are multiples of
    /// [`TURN`] rows or elements, the same in all lanes.
    pub fragments: bool,
    /// By group: an element of a fragment, and the subscripts there.
    pub(crate) starts: RefCell<BTreeMap<usize, (Value, [Value; 2])>>,
}

impl Places {
    /// The number of an element in the buffer of a group, from its subscripts there.
    pub fn offset(&self, ir: &Ir, group: usize, at: &[Local<'_>]) -> Value {
        let p = &self.groups[group];
        let dims = [p.rows.dim, p.rows.last];
        if !self.fragments {
            return p.offset(ir, dims.map(|d| at[d].value()));
        }
        let first = dims.map(|d| match at[d] {
            Local::Point(c, _) => c.local[0],
            Local::Value(v) => v,
        });
        let mut starts = self.starts.borrow_mut();
        let (start, origin) = starts.entry(group).or_insert_with(|| (p.offset(ir, first), first));
        let [rows, x] = [0, 1].map(|n| match at[dims[n]] {
            Local::Point(c, p) => ir.int(c.steps[p].into()),
            Local::Value(v) => ir.sub(v, origin[n]),
        });
        ir.add(*start, p.rows.further(ir, rows, x))
    }
}

impl Place {
    pub(crate) fn offset(&self, ir: &Ir, [row, element]: [Value; 2]) -> Value {
        let shift = shifted(ir, ir.byte_offset(self.corner, ir.mul(row, self.stride)));
        let shift = ir.select(ir.icmp(LLVMIntNE, self.form, ir.int(0)), shift, ir.int(0));
        self.rows.place(ir, row, ir.add(element, shift))
    }
}
