//! The state while the points of a thread are emitted, and where the elements are that they access.

use crate::affine::expr::ExprEmitter;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::SHARED;
use crate::ir::llvm::*;
use crate::ir::types::{VECTOR_BYTES, llvm_elem};
use crate::kernel::grid::helper;
use crate::kernel::storage::OfMapping;
use crate::tiled::{places, words};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use pollyrs_isl as isl;
use pollyrs_isl::AstExpr;
use pollyrs_schedule::{MappedKernel, Tiling};
use pollyrs_scop::{ArrayId, StmtId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// One dimension of the points of a thread, by number.
pub(crate) struct Coordinate {
    /// Counted from the tile's start.
    pub(crate) local: Vec<Value>,
    /// How far that is from the first point's.
    pub(crate) steps: Vec<u32>,
    /// Of the point itself.
    pub(crate) plain: Vec<Value>,
    /// In the box.
    pub(crate) value: Vec<Value>,
    /// Whether the point itself is in the box.
    pub(crate) inside: Vec<Value>,
    /// Whether the whole tile is in the box.
    pub(crate) full: Value,
}

/// A subscript in a buffer, counted from the buffer's first one.
pub(crate) enum Local<'c> {
    /// That of a point, by its number along a dimension.
    Point(&'c Coordinate, usize),
    Value(Value),
}

impl Local<'_> {
    pub(crate) fn value(&self) -> Value {
        match self {
            Local::Point(c, p) => c.local[*p],
            Local::Value(v) => *v,
        }
    }
}

/// A buffer in force.
pub(crate) struct Buffer {
    pub(crate) operand_tile: usize,
    pub(crate) group: usize,
    /// Where it starts in shared memory, in bytes.
    pub(crate) start: Value,
    /// The smallest subscripts in it.
    pub(crate) lower: Vec<Value>,
}

/// An element of a buffer, as a key: the block of the load, the buffer, and by dimension the number of a
/// point or a value.
pub(crate) type Element = (usize, usize, Vec<(bool, usize)>);

/// The state while the points of a thread are emitted.
pub(crate) struct Tiled<'a> {
    pub(crate) kernel: &'a MappedKernel,
    pub(crate) tiling: &'a Tiling,
    pub(crate) coordinates: Vec<Coordinate>,
    /// An array with a cell for each point.
    pub(crate) cells: BTreeMap<ArrayId, Value>,
    pub shared_bytes: u32,
    /// What of it is needed without operations of warps.
    pub plain_shared_bytes: u32,
    /// Whether operations of warps are in the code.
    pub products: bool,
    /// By statement: where its instances exist.
    pub(crate) guards: BTreeMap<StmtId, AstExpr>,
    /// The first and last subscripts that the launch reads, by dimension, of the groups that were asked for:
    /// each copy of a group asks, and isl takes long for them.
    pub(crate) bounds: RefCell<Vec<KnownBounds>>,
    pub(crate) cursor: Cursor,
}

/// A group's bounds, and the functions that they are the expressions of.
pub(crate) struct KnownBounds {
    pub(crate) of: Vec<(isl::PwAff, isl::PwAff)>,
    pub(crate) bounds: Rc<Bounds>,
}

/// First and last subscripts, by dimension.
pub(crate) type Bounds = Vec<(AstExpr, AstExpr)>;

/// What belongs to the code that is being emitted.
#[derive(Default)]
pub(crate) struct Cursor {
    /// The number of the point along each dimension.
    pub(crate) point: Vec<usize>,
    /// The shared memory in force.
    pub(crate) buffers: Vec<Buffer>,
    /// Where the elements of the buffers in force are, if chunks fill them.
    pub(crate) places: Option<places::Places>,
    /// What was loaded from the buffers in force, so that all points that use an element share one load.
    pub(crate) loaded: BTreeMap<Element, Value>,
    /// Whether the code being emitted runs in threads with points only.
    pub(crate) apart: bool,
    /// Whether guards are known to hold.
    pub(crate) unguarded: bool,
    /// Statements that are known to have no instance.
    pub(crate) without: Vec<StmtId>,
    /// Registers keep their old value where this is false.
    pub(crate) keep: Option<Value>,
    /// The arguments of the copy that filled the buffers in force.
    pub(crate) args: Vec<Value>,
    /// Whether the code is that of threads all of whose points are in the box ([`Tiling::unrolled`]).
    pub(crate) whole: bool,
    /// The row that is being emitted, of a window that moves with the points.
    pub(crate) row: Option<Row>,
    /// In the code being emitted: of arrays that were tested, the bytes that their first element and their
    /// rows are known to be multiples of ([`words`]).
    pub(crate) words: words::Words,
}

/// A row of what the points of a thread read in iterations of a loop: the point with number `p` along a
/// dimension is at iteration `at - p`.
pub(crate) struct Row {
    /// The loop's iterator.
    pub(crate) name: String,
    pub(crate) at: Value,
    pub(crate) dim: usize,
    /// The points that have the row.
    pub(crate) points: std::ops::Range<usize>,
}

impl Tiled<'_> {
    /// What is asked for next of the buffers in force is of fragments, or is not.
    pub(crate) fn of_fragments(&mut self, yes: bool) {
        if let Some(places) = &mut self.cursor.places {
            places.fragments = yes;
        }
    }
}

impl<'a> OfMapping<'a> for Tiled<'a> {
    fn kernel(&self) -> &'a MappedKernel {
        self.kernel
    }
}

/// All points of a thread, the last dimension fastest.
pub(crate) fn points(tiling: &Tiling) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for d in &tiling.dims {
        all = all
            .into_iter()
            .flat_map(|p: Vec<usize>| (0..d.points as usize).map(move |i| [p.as_slice(), &[i]].concat()))
            .collect();
    }
    all
}

/// The points of a thread that run what is being emitted.
pub(crate) fn running(k: &mut KernelBuilder<'_>) -> Result<Vec<Vec<usize>>> {
    let t = &mut k.storage;
    let mut all = points(t.tiling);
    if let Some(row) = &t.cursor.row {
        all.retain(|p| row.points.contains(&p[row.dim]));
    }
    Ok(all)
}

/// `emit` with the coordinates of a point.
pub(crate) fn at_point<'e>(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'e>,
    point: &[usize],
) -> Result<ExprEmitter<'e>> {
    let t = &mut k.storage;
    t.cursor.point = point.to_vec();
    let mut emit = emit.clone();
    for ((d, c), p) in t.tiling.dims.iter().zip(&t.coordinates).zip(point) {
        emit.names.insert(
            d.param.clone(),
            if t.cursor.whole && c.plain.len() > 1 { c.plain[*p] } else { c.value[*p] },
        );
    }
    if let Some(row) = &t.cursor.row {
        let iteration = emit.beside(row.at, -(point[row.dim] as i64));
        emit.names.insert(row.name.clone(), iteration);
    }
    Ok(emit)
}

/// The register of the current point for an array, if it has one.
pub(crate) fn register(k: &KernelBuilder<'_>, id: ArrayId) -> Result<Option<Value>> {
    let t = &k.storage;
    let Some(base) = t.cells.get(&id) else { return Ok(None) };
    let number = t.cursor.point.iter().zip(&t.tiling.dims).fold(0, |n, (p, d)| n * d.points as usize + p);
    let ty = llvm_elem(k.ir, k.scop.array(id).elem);
    Ok(Some(k.ir.element(ty, *base, k.ir.int(number as i64))))
}

/// The value in shared memory that an access of the current point reads; `None` if it reads the array.
/// `subscript` gives the value of a subscript.
pub(crate) fn shared(
    k: &mut KernelBuilder<'_>,
    statement: StmtId,
    access: usize,
    ty: Type,
    subscript: impl Fn(usize) -> Result<Value>,
) -> Result<Option<Value>> {
    let t = &k.storage;
    let groups = t.cursor.buffers.iter().map(|b| &t.tiling.operand_tiles[b.operand_tile].groups[b.group]);
    let Some(at) = groups.into_iter().position(|g| g.accesses.contains(&(statement, access))) else {
        return Ok(None);
    };
    let b = &t.cursor.buffers[at];
    let g = &t.tiling.operand_tiles[b.operand_tile].groups[b.group];
    let ir = k.ir;
    let subscripts = (0..g.size.len())
        .map(|d| if g.along[d].is_some() { Ok(None) } else { subscript(d).map(Some) })
        .collect::<Result<Vec<_>>>()?;
    let place = g.along.iter().zip(&subscripts).map(|(m, s)| match (m, s) {
        (Some(m), _) => (true, t.cursor.point[*m]),
        (None, s) => (false, s.map_or(0, |s| s.address())),
    });
    let key = (ir.block().address(), at, place.collect());
    if let Some(v) = t.cursor.loaded.get(&key).filter(|v| v.ty() == ty) {
        return Ok(Some(*v));
    }
    let bytes = k.scop.array(g.array).elem.bytes();
    let mut locals = Vec::new();
    for (d, s) in subscripts.iter().enumerate() {
        locals.push(match (g.along[d], s) {
            (Some(m), _) => Local::Point(&t.coordinates[m], t.cursor.point[m]),
            (None, Some(s)) => Local::Value(ir.sub(*s, b.lower[d])),
            (None, None) => return internal("a subscript that nothing gives"),
        });
    }
    let offset = match &t.cursor.places {
        Some(places) => places.offset(ir, b.group, &locals),
        None => (locals.iter().zip(g.strides()))
            .fold(ir.int(0), |sum, (l, stride)| ir.add(sum, ir.mul(l.value(), ir.int(stride.into())))),
    };
    // Whole vectors of points start at multiples of them, rows at multiples of 16 bytes. (The columns of
    // fragments are no points.)
    let mut align = bytes;
    if t.cursor.places.is_none()
        && let Some(fast) = g.order.last()
        && let Some(m) = g.along[*fast]
        && !t.coordinates[m].plain.is_empty()
        && t.tiling.dims[m].vector * bytes >= VECTOR_BYTES
        && ((g.size[*fast] + g.padding) * bytes).is_multiple_of(VECTOR_BYTES)
        && (t.cursor.point[m] as u32 * bytes).is_multiple_of(VECTOR_BYTES)
    {
        align = VECTOR_BYTES;
    }
    let base = ir.byte_offset(k.abstract_call(SHARED, ir.ptr_type()), b.start);
    let v = ir.load_aligned(ty, ir.element(llvm_elem(ir, k.scop.array(g.array).elem), base, offset), align);
    k.storage.cursor.loaded.insert(key, v);
    Ok(Some(v))
}

/// Whether the thread has points, where some only help.
pub(crate) fn computes(k: &KernelBuilder<'_>, tiling: &Tiling) -> Result<Option<Value>> {
    if tiling.helpers <= 1 {
        return Ok(None);
    }
    let ir = k.ir;
    let helper = helper(k)?;
    Ok(Some(ir.icmp(LLVMIntEQ, helper, ir.int32(0))))
}

/// The state while the points of threads are emitted.
pub(crate) type KernelBuilder<'a> = crate::kernel::builder::KernelBuilder<'a, Tiled<'a>>;
