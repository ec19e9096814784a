//! The entry block: everything that is known before the thread's first instance.

use crate::affine::expr::ExprEmitter;
use crate::ir::builder::Ir;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::{BLOCK_ID, THREAD_ID};
use crate::ir::llvm::*;
use crate::ir::types::{host_type, llvm_elem, slot_type};
use crate::kernel::axes::axes;
use crate::kernel::builder::{KernelBuilder, Launch, Task, constant};
use crate::kernel::module::ScalarArg;
use crate::kernel::storage::OfMapping;
use crate::kernel::{division, grid};
use crate::kernels::arguments::Argument;
use crate::ops::tasks;
use pollyrs_schedule::{MappedKernel, MappedScop};
use pollyrs_scop::{ArrayId, Scop};
use std::collections::BTreeMap;

/// What a kernel is built from, and the function that holds its blocks until the used arguments are known.
pub(crate) struct Draft<'d, 'a> {
    pub ir: &'a Ir,
    pub module: Module,
    pub function: Value,
    pub scop: &'a Scop,
    pub mapped: &'a MappedScop,
    pub kernel: &'a MappedKernel,
    /// All that can be one, and their types.
    pub arguments: &'d [Argument],
    pub types: &'d [Type],
    /// The arrays that the kernel accesses, and whether it writes them.
    pub used: &'d BTreeMap<ArrayId, bool>,
}

/// Fills the entry block: names for the arguments, the tile and thread coordinates, the private cells.
pub(crate) fn entry<'a, S: OfMapping<'a>>(draft: &Draft<'_, 'a>, storage: S) -> Result<KernelBuilder<'a, S>> {
    let Draft { ir, module, function: draft, scop, mapped, kernel, arguments, used, .. } = *draft;
    let [start, body] = [(); 2].map(|()| ir.append_block(draft, ""));
    ir.at_end(start);
    let mut names = BTreeMap::new();
    let mut arrays = BTreeMap::new();
    let mut invariants = BTreeMap::new();
    let mut tiles = Tiles::default();
    let (mut first_block, mut flags) = (None, None);
    for (i, a) in arguments.iter().enumerate() {
        let v = draft.param(i as u32);
        match *a {
            Argument::Array(id) => {
                arrays.insert(id, v);
            }
            Argument::Flags => flags = Some(v),
            Argument::Scalar(ScalarArg::Param(p)) => {
                names.insert(scop.params[p].name.clone(), v);
            }
            Argument::Scalar(ScalarArg::HostParam(h)) => {
                names.insert(kernel.host_params[h].clone(), v);
            }
            Argument::Scalar(ScalarArg::Invariant(n)) => {
                let handle = scop.invariants[n].value;
                let ty = host_type(handle);
                if slot_type(ir, ty).is_some() {
                    let narrow = ty.int_width().is_some_and(|w| w != 32 && w != 64);
                    invariants.insert(handle.address(), if narrow { ir.trunc(v, ty) } else { v });
                }
            }
            Argument::Scalar(ScalarArg::TileLower(d)) => {
                tiles.lower.insert(d, v);
            }
            Argument::Scalar(ScalarArg::TileCount(d)) => {
                tiles.count.insert(d, v);
            }
            Argument::Scalar(ScalarArg::TileFactor(d)) => {
                tiles.factor.insert(d, v);
            }
            Argument::Scalar(ScalarArg::FirstBlock) => first_block = Some(v),
            Argument::Scalar(ScalarArg::Stencil(_)) => return internal("an argument of fused kernels"),
        }
    }
    for id in used.keys() {
        if !arrays.contains_key(id) {
            let elem = scop.array(*id).elem;
            let cell = ir.alloca(llvm_elem(ir, elem), "");
            cell.set_alignment(elem.bytes());
            arrays.insert(*id, cell);
        }
    }
    let entry_end = {
        ir.br(body);
        start.end()
    };
    ir.at_end(body);
    let emit = ExprEmitter::new(ir, names);
    let mut k = KernelBuilder {
        scop,
        mapped,
        launch: Launch::of(kernel),
        module,
        ir,
        emit,
        arrays,
        invariants,
        sizes: BTreeMap::new(),
        entry_end,
        plans: BTreeMap::new(),
        has_barrier: flags.is_some(),
        task: None,
        counts: None,
        reports: BTreeMap::new(),
        storage,
    };
    let first_block =
        first_block.filter(|_| crate::kernel::grid::slice_tiles(&k).is_ok_and(|tiles| tiles > 0));
    if let Some(flags) = flags {
        k.task = Some(k.at_entry(|| task(&k, flags, &tiles))?);
    }
    let coordinates = k.at_entry(|| coordinates(&k, first_block, &tiles))?;
    k.emit.names.extend(coordinates);
    Ok(k)
}

/// Arguments that say where the grid lies: by dimension the first tile, the number of tiles, and what is
/// divided by it with.
#[derive(Default)]
pub(crate) struct Tiles {
    lower: BTreeMap<usize, Value>,
    count: BTreeMap<usize, Value>,
    factor: BTreeMap<usize, Value>,
}

/// The tiles along a dimension of the grid.
fn size<'a, S: OfMapping<'a>>(k: &KernelBuilder<'a, S>, tiles: &Tiles, d: usize) -> Result<Value> {
    let f = &k.kernel().grid[d].count;
    match (constant(k, f)?, tiles.count.get(&d)) {
        (Some(c), _) => Ok(c),
        (None, Some(c)) => Ok(*c),
        (None, None) => {
            let context = k.kernel().context.clone().params()?;
            k.emit.emit_int(&crate::affine::expr::pw_aff_expr(f, Some(&context))?)
        }
    }
}

/// The quotient and the remainder of a block's index by the tiles along a dimension.
fn divided<'a, S: OfMapping<'a>>(
    k: &KernelBuilder<'a, S>,
    tiles: &Tiles,
    d: usize,
    index: Value,
) -> Result<[Value; 2]> {
    let count = size(k, tiles, d)?;
    // (Divisions by constants are products for the optimizer.)
    match tiles.factor.get(&d).filter(|_| count.constant_int().is_none()) {
        Some(factor) => Ok(division::divided(k.ir, index, count, *factor)),
        None => Ok([k.ir.udiv(index, count), k.ir.urem(index, count)]),
    }
}

/// What a block knows that is a task of a graph.
fn task<'a, S: OfMapping<'a>>(k: &KernelBuilder<'a, S>, flags: Value, tiles: &Tiles) -> Result<Task> {
    let thread = grid::linear_thread(k)?;
    let mut grid = Vec::new();
    for (d, g) in k.kernel().grid.iter().enumerate() {
        let lower = constant(k, &g.lower)?.unwrap_or(tiles.lower[&d]);
        // The first one is not asked for.
        let size = if d == 0 { k.ir.int(0) } else { size(k, tiles, d)? };
        grid.push((lower, size));
    }
    Ok(Task { flags, thread, own: tasks::claim(k, flags, thread), grid })
}

/// The values of the tile and thread parameters. The linear block index is
/// `((i0 * count1) + i1) * count2 + i2`, but for the order of tiles in a plane ([`grid::in_plane`]).
pub(crate) fn coordinates<'a, S: OfMapping<'a>>(
    k: &KernelBuilder<'a, S>,
    first_block: Option<Value>,
    tiles: &Tiles,
) -> Result<Vec<(String, Value)>> {
    let ir = k.ir;
    let mut out = Vec::new();
    if !k.kernel().grid.is_empty() {
        let mut rest = match &k.task {
            Some(task) => task.own,
            None => k.abstract_call(BLOCK_ID, ir.i64_type()),
        };
        if let Some(first) = first_block {
            // A grid has less than 2^31 blocks. In 32 bits, so that the optimizer knows that the sum is not
            // negative.
            let narrow = |v| ir.trunc(v, ir.int_type(32));
            rest = ir.zext(ir.add(narrow(rest), narrow(first)), ir.i64_type());
        }
        let n = k.kernel().grid.len();
        let mut place = Vec::new();
        if grid::in_groups(k) {
            let (columns, rows) = (size(k, tiles, n - 1)?, size(k, tiles, n - 2)?);
            let mut index = rest;
            if n > 2 {
                let plane = ir.mul(rows, columns);
                index = ir.urem(rest, plane);
                rest = ir.udiv(rest, plane);
            }
            let by_columns = |index| divided(k, tiles, n - 1, index);
            place = grid::in_plane(ir, index, rows, by_columns)?.to_vec();
        }
        for (d, g) in k.kernel().grid.iter().enumerate().rev() {
            let index = if d + place.len() >= n {
                place[n - 1 - d]
            } else if d > 0 {
                let [above, index] = divided(k, tiles, d, rest)?;
                rest = above;
                index
            } else {
                rest
            };
            let lower = constant(k, &g.lower)?.unwrap_or(tiles.lower[&d]);
            out.push((g.param.clone(), ir.add(index, lower)));
        }
    }
    if let Some(t) = k.kernel().tiling() {
        out.extend(grid::threads(k, t)?);
        return Ok(out);
    }
    for (axis, b) in axes(k.kernel())?.into_iter().zip(&k.kernel().block) {
        let id = match axis {
            Some(axis) => ir.zext(k.abstract_call(THREAD_ID[axis], ir.int_type(32)), ir.i64_type()),
            None => ir.int(0),
        };
        out.push((b.param.clone(), id));
    }
    Ok(out)
}
