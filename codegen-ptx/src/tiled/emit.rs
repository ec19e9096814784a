//! The body of a kernel with tiles of points: registers are loaded, the schedule is walked, registers are
//! stored.

use crate::affine::expr::ExprEmitter;
use crate::affine::nodes::tuple_of;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::kernel::builder;
use crate::kernel::storage::{Coming, OfMapping};
use crate::tiled::cells::transfer;
use crate::tiled::guard::minds_operands;
use crate::tiled::state::{Coordinate, Cursor, KernelBuilder, Tiled, points, register};
use crate::tiled::{guard, walk, words};
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntSLE;
use pollyrs_isl as isl;
use pollyrs_isl::{AstExpr, AstExprType, AstNode, AstNodeType};
use pollyrs_schedule::{Param, Tiling, Tuple};
use pollyrs_scop::ArrayId;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The AST of the tiling, whose loops and conditions are the same in all threads and points.
pub(crate) fn ast(tiling: &Tiling) -> Result<AstNode> {
    let build = isl::AstBuild::from_context(tiling.context.clone().params()?)?;
    let node = build.node_from_schedule(tiling.schedule.clone())?;
    if uniform(&node)? { Ok(node) } else { Err(crate::CodegenError::Divergent) }
}

/// Whether no loop and no condition mentions a point.
pub(crate) fn uniform(node: &AstNode) -> Result<bool> {
    Ok(match node.node_type()? {
        AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if !uniform(&child)? {
                    return Ok(false);
                }
            }
            true
        }
        AstNodeType::Mark => uniform(&node.mark_node()?)?,
        AstNodeType::If => {
            free_of_points(&node.if_cond()?)?
                && uniform(&node.if_then()?)?
                && (!node.if_has_else()? || uniform(&node.if_else()?)?)
        }
        AstNodeType::For => {
            free_of_points(&node.for_init()?)?
                && (node.for_is_degenerate()? || free_of_points(&node.for_cond()?)?)
                && uniform(&node.for_body()?)?
        }
        AstNodeType::User => {
            let call = node.user_expr()?;
            let copy = matches!(tuple_of(node)?, Some(Tuple::Copy(_)));
            let mut ok = true;
            for i in 1..call.n_arg()? as i32 {
                ok &= !copy || free_of_points(&call.arg(i)?)?;
            }
            ok
        }
    })
}

pub(crate) fn free_of_points(e: &AstExpr) -> Result<bool> {
    Ok(match e.expr_type()? {
        AstExprType::Int => true,
        AstExprType::Id => !matches!(Param::of(&e.id()?.name()), Some(Param::Point(_))),
        AstExprType::Op => {
            for i in 0..e.n_arg()? as i32 {
                if !free_of_points(&e.arg(i)?)? {
                    return Ok(false);
                }
            }
            true
        }
    })
}

/// Emits the kernel's body in front of its return.
pub(crate) fn emit<'a>(
    coming: builder::KernelBuilder<'a, Coming<'a>>,
    function: Value,
    tiling: &'a Tiling,
    tree: &AstNode,
    private: &[ArrayId],
) -> Result<KernelBuilder<'a>> {
    let mut k = coming.with_storage(|k| start(k, tiling, private))?;
    body(&mut k, function, tiling, tree)?;
    Ok(k)
}

fn body<'a>(k: &mut KernelBuilder<'a>, function: Value, tiling: &'a Tiling, tree: &AstNode) -> Result<()> {
    // Tiles without points leave: all threads of the block do.
    let leave = match &tiling.tiles {
        Some(tiles) => {
            let (work, leave) = (k.ir.append_block(function, "tile"), k.ir.append_block(function, "leave"));
            k.ir.cond_br(k.emit.emit_set(tiles)?, work, leave);
            k.ir.at_end(work);
            Some(leave)
        }
        None => None,
    };
    for r in &tiling.registers {
        transfer(k, function, r, true)?;
    }
    let mut names = k.emit.clone();
    match tiling.unrolled {
        true => unrolled(k, function, &mut names, tiling, tree)?,
        false => walk::walk(k, function, &mut names, tree)?,
    }
    // Addresses of a hundred cells would otherwise stay in registers from the loads to the stores.
    let again = coordinates(k, tiling, true)?;
    k.storage.coordinates = again;
    if minds_operands(k) && guard::reads_what_it_writes(k)? {
        // Points outside the box have read what other threads store now, if no copy with its barriers came
        // between.
        walk::barrier(k);
    }
    for r in &tiling.registers {
        transfer(k, function, r, false)?;
    }
    if let Some(leave) = leave {
        k.ir.br(leave);
        k.ir.at_end(leave);
    }
    Ok(())
}

/// The state before the first point: coordinates and cells are in the entry block.
fn start<'a>(
    k: &builder::KernelBuilder<'a, Coming<'a>>,
    tiling: &'a Tiling,
    private: &[ArrayId],
) -> Result<Tiled<'a>> {
    let coordinates = k.at_entry(|| coordinates(k, tiling, false))?;
    let points: usize = tiling.dims.iter().map(|d| d.points as usize).product();
    let mut cells = BTreeMap::new();
    k.at_entry(|| {
        for id in private.iter().chain(tiling.registers.iter().map(|r| &r.array)) {
            let elem = k.scop.array(*id).elem;
            let cell = {
                let ty = llvm_elem(k.ir, elem).array_of(points as u64);
                let cell = k.ir.alloca(ty, "");
                cell.set_alignment(elem.bytes());
                cell
            };
            cells.insert(*id, cell);
        }
        Ok(())
    })?;
    Ok(Tiled {
        kernel: k.kernel(),
        tiling,
        coordinates,
        cells,
        shared_bytes: 0,
        plain_shared_bytes: 0,
        products: false,
        guards: guard::conditions(tiling)?,
        bounds: RefCell::default(),
        cursor: Cursor { point: vec![0; tiling.dims.len()], ..Cursor::default() },
    })
}

/// The body with code of its own where all points of the tile are in the box ([`Tiling::unrolled`]); threads
/// without a point in it have none.
fn unrolled<'a>(
    k: &mut KernelBuilder<'a>,
    function: Value,
    names: &mut ExprEmitter<'a>,
    tiling: &Tiling,
    tree: &AstNode,
) -> Result<()> {
    if !tiling.operand_tiles.is_empty() {
        return internal("barriers where threads part");
    }
    let ir = k.ir;
    let (mut all, mut some) = (ir.bool(true), ir.bool(true));
    for c in &k.storage.coordinates {
        // The same for all threads of the block.
        all = if c.plain.len() > 1 { ir.and(all, c.full) } else { all };
        some = ir.and(some, c.inside.iter().fold(ir.bool(false), |some, inside| ir.or(some, *inside)));
    }
    let block = |name: &str| ir.append_block(function, name);
    let (whole, rest, part, done) =
        (block("allpoints"), block("rest"), block("somepoints"), block("computed"));
    let none = block("nopoints");
    ir.cond_br(all, whole, rest);
    ir.at_end(rest);
    ir.cond_br(some, part, none);
    // Nobody stores these: so loads of what the other two ways overwrite are dead.
    ir.at_end(none);
    for r in &tiling.registers {
        let elem = k.scop.array(r.array).elem;
        for point in points(tiling) {
            k.storage.cursor.point = point;
            if let Some(register) = register(k, r.array)? {
                ir.store_aligned(llvm_elem(ir, elem).zero(), register, elem.bytes());
            }
        }
    }
    ir.br(done);
    ir.at_end(whole);
    k.storage.cursor.whole = true;
    names.all_apart = true;
    match words::test(k, tiling)? {
        Some(test) => {
            let (wide, single) = (block("allwords"), block("allelements"));
            ir.cond_br(test.holds(ir), wide, single);
            ir.at_end(wide);
            k.storage.cursor.words = test.words;
            walk::walk(k, function, names, tree)?;
            k.storage.cursor.words.clear();
            ir.br(done);
            ir.at_end(single);
            // What both ways load would be loaded ahead of them, element by element.
            let hidden = coordinates(k, tiling, true)?;
            let own = std::mem::replace(&mut k.storage.coordinates, hidden);
            walk::walk(k, function, names, tree)?;
            k.storage.coordinates = own;
        }
        None => walk::walk(k, function, names, tree)?,
    }
    names.all_apart = false;
    k.storage.cursor.whole = false;
    ir.br(done);
    ir.at_end(part);
    walk::walk(k, function, names, tree)?;
    ir.br(done);
    ir.at_end(done);
    Ok(())
}

/// The coordinates of a thread's points; `hidden` from the optimizer, they are computed anew and not kept
/// from the last time.
pub(crate) fn coordinates<'a, S: OfMapping<'a>>(
    k: &builder::KernelBuilder<'a, S>,
    tiling: &Tiling,
    hidden: bool,
) -> Result<Vec<Coordinate>> {
    let ir = k.ir;
    let mut out = Vec::new();
    for ((d, g), b) in tiling.dims.iter().zip(&k.kernel().grid).zip(&k.kernel().block) {
        let (Some(block), Some(thread)) = (k.emit.names.get(&g.param), k.emit.names.get(&b.param)) else {
            return internal("a tile without coordinates");
        };
        let tile = i64::from(b.size * d.points);
        let hide = |v: Value| if hidden { k.opaque(v) } else { v };
        let start = hide(ir.mul(*block, ir.int(tile)));
        let max = k.emit.emit_int(&crate::affine::expr::pw_aff_expr(
            &d.max,
            Some(&k.kernel().context.clone().params()?),
        )?)?;
        let first = hide(ir.mul(*thread, ir.int(d.vector.into())));
        let min = k.emit.emit_int(&crate::affine::expr::pw_aff_expr(
            &d.min,
            Some(&k.kernel().context.clone().params()?),
        )?)?;
        let end = ir.add(start, ir.int(tile - 1));
        let full = ir.and(ir.icmp(LLVMIntSLE, min, start), ir.icmp(LLVMIntSLE, end, max));
        let corner = ir.add(start, first);
        let mut c =
            Coordinate { local: vec![], steps: vec![], plain: vec![], value: vec![], inside: vec![], full };
        for p in 0..d.points {
            let step = p / d.vector * d.vector * b.size + p % d.vector;
            let local = ir.add(first, ir.int(step.into()));
            let v = match tiling.unrolled {
                true => k.emit.beside(corner, step.into()),
                false => ir.add(start, local),
            };
            let above = ir.icmp(LLVMIntSLE, min, v);
            let below = ir.icmp(LLVMIntSLE, v, max);
            c.local.push(local);
            c.steps.push(step);
            c.plain.push(v);
            c.value.push(ir.select(below, ir.select(above, v, min), max));
            c.inside.push(ir.and(above, below));
        }
        out.push(c);
    }
    Ok(out)
}
