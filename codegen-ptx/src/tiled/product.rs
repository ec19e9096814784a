//! Sums of products of doubles as fragments of a warp's matrix operation.
//!
//! `c = fma(a, b, c)` over four iterations, where `a` is the same along x and `b` along y, is a matrix
//! product of the points of a warp ([`crate::ops::mma`]), which gives bit for bit what the chain in the order
//! of k gives: the order of the program is kept.
//!
//! A warp has 8 lanes along y and 4 along x, x fastest. Rows and columns of a fragment are labels; these make
//! a lane's part of the result its own points:
//! ```text
//! row    l / 4, l / 4 + 8      point numbers p, p + 1 along y of lane l
//! column 2 (l mod 4) + i       point numbers 2 j, 2 j + 1 along x
//! ```
//! So a lane reads `a` at its own points and iteration `l mod 4`, and `b` at the points whose column is
//! `l / 4`.
//!
//! Where the target has no such operation, the points run one by one.
//!
//! The operands of an operation are loaded while the one before is under way ([`super::stages`]): hence
//! [`Fragments::load`] and [`Fragments::multiply`].

use crate::affine::expr::ExprEmitter;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ops::mma::{A_FACTORS, DEPTH, FACTORS, LANES, MMA, POINTS, SUMS, result_type};
use crate::statement::emit::emit_operand;
use crate::tiled::state::{Coordinate, KernelBuilder, at_point};
use inkwell::llvm_sys::LLVMOpcode::*;
use pollyrs_isl::AstExpr;
use pollyrs_scop::{AccessKind, AccessValue, ArrayId, ElemType, Scop, Statement, StmtId};
use std::collections::BTreeSet;

/// A statement that does nothing but `cell = fma(a, b, cell)`.
struct Product {
    cell: ArrayId,
    factors: [Value; 2],
}

/// The statements of a SCoP that fuse a product of doubles into a sum and do nothing else.
pub fn products(scop: &Scop) -> Vec<StmtId> {
    (0..scop.statements.len())
        .map(StmtId)
        .filter(|id| Product::of(scop, &scop.statements[id.0]).is_some())
        .collect()
}

/// The statements whose last operation waits for another one of the same instance: a product that may not be
/// fused into its sum, or a factor that is computed from several elements, such as the difference in a sum of
/// squares. Each point of a thread then needs a register more for a while.
pub fn chained(scop: &Scop) -> Vec<StmtId> {
    let all = (0..scop.statements.len()).map(StmtId);
    all.filter(|id| waits(&scop.statements[id.0], false)).collect()
}

/// Whether the last operation of a statement waits for another one, see [`chained`]; `fused`: also if it adds
/// what a fused product gives.
pub(super) fn waits(s: &Statement, fused: bool) -> bool {
    let inside = |v: Value| s.body.iter().any(|b| b.address() == v.address());
    let mixed = |v: Value| {
        let mut seen = BTreeSet::new();
        elements(s, v, &mut seen) > 1
    };
    s.accesses.iter().filter(|a| a.kind != AccessKind::Read).any(|a| {
        let last = match a.value {
            AccessValue::Instruction(i) => host_value(i).operand(0),
            AccessValue::ScalarWrite(v) => host_value(v),
            AccessValue::ScalarRead(_) => return false,
        };
        if !inside(last) {
            return false;
        }
        let factors = |v: Value| (0..2).any(|n| mixed(v.operand(n)));
        match last.opcode() {
            LLVMFAdd | LLVMFSub => {
                (0..2).map(|n| last.operand(n)).filter(|v| inside(*v)).any(|v| match v.opcode() {
                    LLVMFMul => !(contracts(last) && contracts(v)) || factors(v),
                    LLVMCall => fused && is_fused(v),
                    _ => false,
                })
            }
            LLVMCall => is_fused(last) && factors(last),
            _ => false,
        }
    })
}

/// How many loads of a statement a value is computed from, without those in `seen`.
fn elements(s: &Statement, v: Value, seen: &mut BTreeSet<usize>) -> usize {
    if !s.body.iter().any(|b| b.address() == v.address()) || !seen.insert(v.address()) {
        return 0;
    }
    match v.opcode() {
        LLVMLoad => 1,
        LLVMPHI => 0,
        _ => v.operands().into_iter().map(|o| elements(s, o, seen)).sum(),
    }
}

/// Whether a call is one that fuses a product into a sum.
fn is_fused(call: Value) -> bool {
    let name = call.callee().name();
    name.starts_with("llvm.fmuladd.") || name.starts_with("llvm.fma.")
}

impl Product {
    fn of(scop: &Scop, s: &Statement) -> Option<Product> {
        if !s.is_plain() {
            return None;
        }
        let mut writes = s.accesses.iter().filter(|a| a.kind != AccessKind::Read);
        let (write, None) = (writes.next()?, writes.next()) else { return None };
        if scop.array(write.array).elem != ElemType::F64 {
            return None;
        }
        let sum = match write.value {
            AccessValue::Instruction(i) => host_value(i).operand(0),
            AccessValue::ScalarWrite(v) => host_value(v),
            AccessValue::ScalarRead(_) => return None,
        };
        let inside = |v: Value| s.body.iter().any(|b| b.address() == v.address());
        let before = |v: Value| {
            s.accesses.iter().any(|a| {
                let value = match a.value {
                    AccessValue::Instruction(v) | AccessValue::ScalarRead(v) => v,
                    AccessValue::ScalarWrite(_) => return false,
                };
                a.kind == AccessKind::Read && a.array == write.array && value.address() == v.address()
            })
        };
        if !inside(sum) {
            return None;
        }
        let factors = match sum.opcode() {
            LLVMCall => {
                (is_fused(sum) && before(sum.operand(2))).then(|| [sum.operand(0), sum.operand(1)])?
            }
            LLVMFAdd if contracts(sum) => {
                let product = |v: Value| inside(v) && v.opcode() == LLVMFMul && contracts(v);
                let (l, r) = (sum.operand(0), sum.operand(1));
                let p = match () {
                    () if before(l) && product(r) => r,
                    () if before(r) && product(l) => l,
                    () => return None,
                };
                [p.operand(0), p.operand(1)]
            }
            _ => return None,
        };
        Some(Product { cell: write.array, factors })
    }
}

/// Whether an operation may be fused with others.
fn contracts(v: Value) -> bool {
    const CONTRACT: u32 = 1 << 5;
    v.fast_math_flags() & CONTRACT != 0
}

/// What is needed of a tiling's innermost statement.
pub(super) struct Fragments<'n> {
    id: StmtId,
    product: Product,
    args: &'n [AstExpr],
    /// The tiled dimensions: y, x.
    dims: [usize; 2],
}

impl<'n> Fragments<'n> {
    /// The statement `name` in a strip as fragments, if its factors come from the buffers in force, one of
    /// them along y, the other along x.
    pub fn new(k: &mut KernelBuilder<'_>, name: &str, args: &'n [AstExpr]) -> Result<Option<Fragments<'n>>> {
        let Some((id, s)) = k.scop.statement_named(name) else { return Ok(None) };
        let t = &mut k.storage;
        if !t.tiling.products {
            return Ok(None);
        }
        let tiled: Vec<usize> = (0..t.tiling.dims.len()).filter(|d| t.tiling.lanes[*d] > 1).collect();
        let [y, x] = tiled[..] else { return Ok(None) };
        let whole = t.tiling.lanes[y] == LANES[0]
            && t.tiling.lanes[x] == LANES[1]
            && t.tiling.dims[y].points.is_multiple_of(POINTS)
            && t.tiling.dims[y].vector == 1
            && t.tiling.dims[x].vector == POINTS;
        let Some(mut product) = Product::of(k.scop, s).filter(|_| whole) else { return Ok(None) };
        if crate::tiled::state::register(k, product.cell)?.is_none() {
            return Ok(None);
        }
        let along = |v: Value, m: usize| free_of(k, id, s, v, m);
        if !(along(product.factors[0], x) && along(product.factors[1], y)) {
            product.factors.reverse();
            if !(along(product.factors[0], x) && along(product.factors[1], y)) {
                return Ok(None);
            }
        }
        Ok(Some(Fragments { id, product, args, dims: [y, x] }))
    }
}

/// Whether `v` is made of invariants and of elements of the buffers in force that are the same along
/// dimension `m`.
fn free_of(k: &KernelBuilder<'_>, id: StmtId, s: &Statement, v: Value, m: usize) -> bool {
    let t = &k.storage;
    if !s.body.iter().any(|b| b.address() == v.address()) {
        let constant = v.is_constant_real();
        return constant || k.invariants.contains_key(&v.address());
    }
    match v.opcode() {
        LLVMLoad => {
            let at = s.accesses.iter().position(|a| {
                a.kind == AccessKind::Read && a.value == AccessValue::Instruction(handle_of(v))
            });
            let group =
                t.cursor.buffers.iter().map(|b| &t.tiling.operand_tiles[b.operand_tile].groups[b.group]);
            at.and_then(|at| group.into_iter().find(|g| g.accesses.contains(&(id, at))))
                .is_some_and(|g| !g.along.contains(&Some(m)))
        }
        LLVMFMul | LLVMFAdd | LLVMFSub | LLVMFNeg | LLVMFPExt => {
            v.operands().into_iter().all(|o| free_of(k, id, s, o, m))
        }
        _ => false,
    }
}

/// A lane's factors in an operation for all of its points.
pub(super) struct Operands {
    /// By pairs of points along y.
    a: Vec<Value>,
    /// By pairs of points along x.
    b: Vec<Value>,
}

impl Operands {
    /// The values, in the order of [`Operands::of`].
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.a.iter().chain(&self.b).copied()
    }

    /// Operands like these with other values.
    pub fn of(&self, values: &[Value]) -> Operands {
        let (a, b) = values.split_at(self.a.len());
        Operands { a: a.to_vec(), b: b.to_vec() }
    }
}

impl Fragments<'_> {
    /// Loads what `DEPTH` iterations need, from `start` on of the loop variable `name`.
    pub fn load<'a>(
        &self,
        k: &mut KernelBuilder<'a>,
        emit: &ExprEmitter<'a>,
        name: &str,
        start: Value,
    ) -> Result<Operands> {
        let ir = k.ir;
        let [y, x] = self.dims;
        let (lane, column) = k.at_entry(|| {
            let lane = ir.urem(crate::kernel::grid::linear_thread(k)?, ir.int32(crate::ir::types::WARP));
            let wide = |v| ir.zext(v, ir.i64_type());
            Ok((wide(ir.urem(lane, ir.int32(LANES[1]))), wide(ir.udiv(lane, ir.int32(LANES[1])))))
        })?;
        let values: Vec<_> = (0..DEPTH)
            .step_by(LANES[1] as usize)
            .map(|i| ir.add(start, ir.add(lane, ir.int(i.into()))))
            .collect();
        // Of the coordinates along x, those whose column in the fragment the lane reads.
        let t = &mut k.storage;
        t.of_fragments(true);
        let own = std::mem::replace(
            &mut t.coordinates[x],
            Coordinate {
                local: vec![],
                steps: vec![],
                plain: vec![],
                value: vec![],
                inside: vec![],
                full: lane,
            },
        );
        let count = (t.tiling.dims[x].points / POINTS) as usize;
        let at_column = |local: Value| ir.add(ir.sub(local, ir.mul(lane, ir.int(POINTS.into()))), column);
        let fragment = Coordinate {
            local: (0..count).map(|j| at_column(own.local[j * POINTS as usize])).collect(),
            steps: (0..count).map(|j| own.steps[j * POINTS as usize]).collect(),
            plain: vec![],
            value: own.value.clone(),
            inside: vec![],
            full: own.full,
        };
        let operand = |k: &mut KernelBuilder<'a>, v: Value, p: usize, q: usize, value: Value| {
            let mut point = vec![0; k.storage.tiling.dims.len()];
            (point[y], point[x]) = (p, q);
            let mut emit = at_point(k, emit, &point)?;
            emit.names.insert(name.to_string(), value);
            let iterators = self.args.iter().map(|a| emit.emit_int(a)).collect::<Result<Vec<_>>>()?;
            emit_operand(k, &emit, self.id, &iterators, v)
        };
        k.storage.coordinates[x] = fragment;
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for j in 0..count {
            for value in &values {
                b.push(operand(k, self.product.factors[1], 0, j, *value)?);
            }
        }
        let t = &mut k.storage;
        t.coordinates[x] = own;
        t.cursor.loaded.clear();
        for p in (0..t.tiling.dims[y].points as usize).step_by(POINTS as usize) {
            for value in &values {
                for p in p..p + POINTS as usize {
                    a.push(operand(k, self.product.factors[0], p, 0, *value)?);
                }
            }
        }
        let t = &mut k.storage;
        t.cursor.loaded.clear();
        t.of_fragments(false);
        Ok(Operands { a, b })
    }

    /// Adds the products of the operands to the sums of all points.
    pub fn multiply(&self, k: &mut KernelBuilder<'_>, operands: &Operands) -> Result<()> {
        let ir = k.ir;
        let [y, x] = self.dims;
        let (rows, columns) = (operands.a.chunks(A_FACTORS), operands.b.chunks(FACTORS - A_FACTORS));
        for (p, a) in rows.enumerate() {
            for (j, b) in columns.clone().enumerate() {
                let mut cells = Vec::new();
                for p in p * POINTS as usize..(p + 1) * POINTS as usize {
                    for q in j * POINTS as usize..(j + 1) * POINTS as usize {
                        let t = &mut k.storage;
                        t.cursor.point = vec![0; t.tiling.dims.len()];
                        (t.cursor.point[y], t.cursor.point[x]) = (p, q);
                        let Some(cell) = crate::tiled::state::register(k, self.product.cell)? else {
                            return internal("a sum without a register");
                        };
                        cells.push(cell);
                    }
                }
                let mut args = [a, b].concat();
                args.extend(cells.iter().map(|c| ir.load_aligned(ir.double_type(), *c, 8)));
                let sums = call(k, &args);
                for (i, c) in cells.into_iter().enumerate() {
                    ir.store_aligned(ir.field(sums, i as u32), c, 8);
                }
            }
        }
        Ok(())
    }
}

fn call(k: &mut KernelBuilder<'_>, args: &[Value]) -> Value {
    k.has_barrier = true;
    k.storage.products = true;
    let f = k.module.declare(MMA, result_type(k.ir).function(&[k.ir.double_type(); FACTORS + SUMS]));
    for a in ["nounwind", "willreturn", "convergent"] {
        f.add_attribute(FUNCTION, a, 0);
    }
    k.ir.call_function(f, args)
}
