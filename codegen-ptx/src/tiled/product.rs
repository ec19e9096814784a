//! Sums of products of doubles as fragments of a warp's matrix operation.
//!
//! `c = fma(a, b, c)` over four iterations, where `a` is the same along x and `b` along y, is a matrix product of the points of a
//! warp. On sm_90, `mma.m16n8k4` in doubles gives bit for bit what the chain of FMAs in the order of k gives (measured on an H200: 0 of 262,144
//! results differ, also over 60 binades and with subnormals), so the order of the program is kept. It is that chain on all generations that have
//! the operation, Ampere to Blackwell, by a model that was compared with their hardware bit for bit (Xie, Wang, Yang, Yang, *MMA-Sim: Bit-Accurate
//! Reference Model of Tensor Cores and Matrix Cores*, arXiv:2511.10909, 2025). (`m16n8k8` is as fast, and needs twice the registers for operands.)
//!
//! A warp has 8 lanes along y and 4 along x, x fastest. Rows and columns of a fragment are labels; these make a lane's part of the
//! result its own points:
//! ```text
//! row    l / 4, l / 4 + 8      point numbers p, p + 1 along y of lane l
//! column 2 (l mod 4) + i       point numbers 2 j, 2 j + 1 along x
//! ```
//! So a lane reads `a` at its own points and iteration `l mod 4`, and `b` at the points whose column is `l / 4`.
//!
//! Before sm_90 there is `m8n8k4` only ([`GENERATIONS`]). Its fragments are the upper and the lower half of these: two of them, with the same `b`.
//!
//! `{ double, double, double, double } @pollyrs.mma(a0, a1, b, c0..c3)` is the operation, to be reached by all lanes;
//! `i1 @pollyrs.has_mma()` whether the target has it. Where it has not, the points run one by one.
//!
//! The operands of an operation are loaded while the one before is under way ([`super::stages`]): hence [`Fragments::load`] and
//! [`Fragments::multiply`].

use super::{Coordinate, at_point, state};
use crate::ast_expr::ExprEmitter;
use crate::error::{Result, internal};
use crate::ir::Ir;
use crate::kernel::{BARRIER, KernelBuilder, KernelInfo, KernelModule, SHARED, THREAD_ID};
use crate::llvm::*;
use crate::ptx::{find_function, replace_calls};
use crate::statement::emit_operand;
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl::AstExpr;
use pollyrs_scop::{AccessKind, AccessValue, ArrayId, ElemType, Scop, Statement, StmtId};
use std::collections::BTreeSet;

/// Iterations of one operation.
pub(super) const DEPTH: u32 = 4;
/// Factors of a lane in one operation along y, which come first, and in all.
const A_FACTORS: usize = (POINTS * DEPTH / LANES[1]) as usize;
const FACTORS: usize = ((POINTS + 1) * DEPTH / LANES[1]) as usize;
/// Sums of a lane in one operation.
const SUMS: usize = (POINTS * POINTS) as usize;
/// Lanes along y and x, points of a lane in one operation.
const LANES: [u32; 2] = [8, 4];
const POINTS: u32 = 2;

const MMA: &str = "pollyrs.mma";
const HAS_MMA: &str = "pollyrs.has_mma";

/// A statement that does nothing but `cell = fma(a, b, cell)`.
struct Product {
    cell: ArrayId,
    factors: [LLVMValueRef; 2],
}

/// The statements of a SCoP that fuse a product of doubles into a sum and do nothing else.
///
/// # Safety
/// The handles of the SCoP are live.
pub unsafe fn products(scop: &Scop) -> Vec<StmtId> {
    (0..scop.statements.len())
        .map(StmtId)
        .filter(|id| Product::of(scop, &scop.statements[id.0]).is_some())
        .collect()
}

/// The statements whose last operation waits for another one of the same instance: a product that may not be fused into its sum, or a factor
/// that is computed from several elements, such as the difference in a sum of squares. Each point of a thread then needs a register more for
/// a while.
///
/// # Safety
/// The handles of the SCoP are live.
pub unsafe fn chained(scop: &Scop) -> Vec<StmtId> {
    let all = (0..scop.statements.len()).map(StmtId);
    all.filter(|id| waits(&scop.statements[id.0], false)).collect()
}

/// Whether the last operation of a statement waits for another one, see [`chained`]; `fused`: also if it adds what a fused product gives.
pub(super) fn waits(s: &Statement, fused: bool) -> bool {
    let inside = |v: LLVMValueRef| s.body.iter().any(|b| b.0 == v as usize);
    let mixed = |v: LLVMValueRef| {
        let mut seen = BTreeSet::new();
        elements(s, v, &mut seen) > 1
    };
    s.accesses.iter().filter(|a| a.kind != AccessKind::Read).any(|a| {
        // SAFETY: live instructions of the host, asked for operands that they have.
        unsafe {
            let last = match a.value {
                AccessValue::Instruction(i) => LLVMGetOperand(i.0 as LLVMValueRef, 0),
                AccessValue::ScalarWrite(v) => v.0 as LLVMValueRef,
                AccessValue::ScalarRead(_) => return false,
            };
            if !inside(last) {
                return false;
            }
            let factors = |v: LLVMValueRef| (0..2).any(|n| mixed(LLVMGetOperand(v, n)));
            match LLVMGetInstructionOpcode(last) {
                LLVMFAdd | LLVMFSub => {
                    (0..2).map(|n| LLVMGetOperand(last, n)).filter(|v| inside(*v)).any(|v| {
                        match LLVMGetInstructionOpcode(v) {
                            LLVMFMul => !(contracts(last) && contracts(v)) || factors(v),
                            LLVMCall => fused && is_fused(v),
                            _ => false,
                        }
                    })
                }
                LLVMCall => is_fused(last) && factors(last),
                _ => false,
            }
        }
    })
}

/// How many loads of a statement a value is computed from, without those in `seen`.
fn elements(s: &Statement, v: LLVMValueRef, seen: &mut BTreeSet<usize>) -> usize {
    if !s.body.iter().any(|b| b.0 == v as usize) || !seen.insert(v as usize) {
        return 0;
    }
    // SAFETY: a live instruction of the host, and its operands.
    unsafe {
        match LLVMGetInstructionOpcode(v) {
            LLVMLoad => 1,
            LLVMPHI => 0,
            _ => (0..LLVMGetNumOperands(v) as u32).map(|n| elements(s, LLVMGetOperand(v, n), seen)).sum(),
        }
    }
}

/// Whether a call is one that fuses a product into a sum.
fn is_fused(call: LLVMValueRef) -> bool {
    // SAFETY: a live call.
    let name = name_of(unsafe { LLVMGetCalledValue(call) });
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
            // SAFETY: a store of the host.
            AccessValue::Instruction(i) => unsafe { LLVMGetOperand(i.0 as LLVMValueRef, 0) },
            AccessValue::ScalarWrite(v) => v.0 as LLVMValueRef,
            AccessValue::ScalarRead(_) => return None,
        };
        let inside = |v: LLVMValueRef| s.body.iter().any(|b| b.0 == v as usize);
        let before = |v: LLVMValueRef| {
            s.accesses.iter().any(|a| {
                let value = match a.value {
                    AccessValue::Instruction(v) | AccessValue::ScalarRead(v) => v,
                    AccessValue::ScalarWrite(_) => return false,
                };
                a.kind == AccessKind::Read && a.array == write.array && value.0 == v as usize
            })
        };
        if !inside(sum) {
            return None;
        }
        let operand = |v: LLVMValueRef, n: u32| {
            // SAFETY: the callers ask for operands that the instruction has.
            unsafe { LLVMGetOperand(v, n) }
        };
        // SAFETY: live instructions of the host.
        let factors = unsafe {
            match LLVMGetInstructionOpcode(sum) {
                LLVMCall => {
                    (is_fused(sum) && before(operand(sum, 2))).then(|| [operand(sum, 0), operand(sum, 1)])?
                }
                LLVMFAdd if contracts(sum) => {
                    let product = |v: LLVMValueRef| {
                        inside(v) && LLVMGetInstructionOpcode(v) == LLVMFMul && contracts(v)
                    };
                    let (l, r) = (operand(sum, 0), operand(sum, 1));
                    let p = match () {
                        () if before(l) && product(r) => r,
                        () if before(r) && product(l) => l,
                        () => return None,
                    };
                    [operand(p, 0), operand(p, 1)]
                }
                _ => return None,
            }
        };
        Some(Product { cell: write.array, factors })
    }
}

/// Whether an operation may be fused with others.
fn contracts(v: LLVMValueRef) -> bool {
    const CONTRACT: u32 = 1 << 5;
    // SAFETY: a live instruction of floating point.
    unsafe { LLVMGetFastMathFlags(v) & CONTRACT != 0 }
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
    /// The statement `name` in a strip as fragments, if its factors come from the buffers in force, one of them along y, the other along x.
    pub fn new(k: &mut KernelBuilder<'_>, name: &str, args: &'n [AstExpr]) -> Result<Option<Fragments<'n>>> {
        let Some((id, s)) = k.scop.statement_named(name) else { return Ok(None) };
        let t = state(k)?;
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
        if super::register(k, product.cell)?.is_none() {
            return Ok(None);
        }
        let along = |v: LLVMValueRef, m: usize| free_of(k, id, s, v, m);
        if !(along(product.factors[0], x) && along(product.factors[1], y)) {
            product.factors.reverse();
            if !(along(product.factors[0], x) && along(product.factors[1], y)) {
                return Ok(None);
            }
        }
        Ok(Some(Fragments { id, product, args, dims: [y, x] }))
    }
}

/// Whether `v` is made of invariants and of elements of the buffers in force that are the same along dimension `m`.
fn free_of(k: &KernelBuilder<'_>, id: StmtId, s: &Statement, v: LLVMValueRef, m: usize) -> bool {
    let Some(t) = &k.tiled else { return false };
    if !s.body.iter().any(|b| b.0 == v as usize) {
        // SAFETY: a live value.
        let constant = unsafe { !LLVMIsAConstantFP(v).is_null() };
        return constant || k.invariants.contains_key(&(v as usize));
    }
    // SAFETY: live instructions of the host.
    unsafe {
        match LLVMGetInstructionOpcode(v) {
            LLVMLoad => {
                let at = s.accesses.iter().position(|a| {
                    a.kind == AccessKind::Read
                        && a.value == AccessValue::Instruction(pollyrs_scop::ValueHandle(v as usize))
                });
                let group = t.buffers.iter().map(|b| &t.tiling.panels[b.panel].groups[b.group]);
                at.and_then(|at| group.into_iter().find(|g| g.accesses.contains(&(id, at))))
                    .is_some_and(|g| !g.along.contains(&Some(m)))
            }
            LLVMFMul | LLVMFAdd | LLVMFSub | LLVMFNeg | LLVMFPExt => {
                (0..LLVMGetNumOperands(v) as u32).all(|o| free_of(k, id, s, LLVMGetOperand(v, o), m))
            }
            _ => false,
        }
    }
}

/// A lane's factors in an operation for all of its points.
pub(super) struct Operands {
    /// By pairs of points along y.
    a: Vec<LLVMValueRef>,
    /// By pairs of points along x.
    b: Vec<LLVMValueRef>,
}

impl Operands {
    /// The values, in the order of [`Operands::of`].
    pub fn values(&self) -> impl Iterator<Item = LLVMValueRef> + '_ {
        self.a.iter().chain(&self.b).copied()
    }

    /// Operands like these with other values.
    pub fn of(&self, values: &[LLVMValueRef]) -> Operands {
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
        start: LLVMValueRef,
    ) -> Result<Operands> {
        let ir = k.ir;
        let [y, x] = self.dims;
        let (lane, column) = k.at_entry(|| {
            let lane = ir.urem(super::linear_thread(k)?, ir.int32(super::WARP));
            let wide = |v| ir.zext(v, ir.i64_type());
            Ok((wide(ir.urem(lane, ir.int32(LANES[1]))), wide(ir.udiv(lane, ir.int32(LANES[1])))))
        })?;
        let values: Vec<_> = (0..DEPTH)
            .step_by(LANES[1] as usize)
            .map(|i| ir.add(start, ir.add(lane, ir.int(i.into()))))
            .collect();
        // Of the coordinates along x, those whose column in the fragment the lane reads.
        let t = state(k)?;
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
        let at_column =
            |local: LLVMValueRef| ir.add(ir.sub(local, ir.mul(lane, ir.int(POINTS.into()))), column);
        let fragment = Coordinate {
            local: (0..count).map(|j| at_column(own.local[j * POINTS as usize])).collect(),
            steps: (0..count).map(|j| own.steps[j * POINTS as usize]).collect(),
            plain: vec![],
            value: own.value.clone(),
            inside: vec![],
            full: own.full,
        };
        let operand =
            |k: &mut KernelBuilder<'a>, v: LLVMValueRef, p: usize, q: usize, value: LLVMValueRef| {
                let mut point = vec![0; state(k)?.tiling.dims.len()];
                (point[y], point[x]) = (p, q);
                let mut emit = at_point(k, emit, &point)?;
                emit.names.insert(name.to_string(), value);
                let iterators = self.args.iter().map(|a| emit.emit_int(a)).collect::<Result<Vec<_>>>()?;
                emit_operand(k, &emit, self.id, &iterators, v)
            };
        state(k)?.coordinates[x] = fragment;
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for j in 0..count {
            for value in &values {
                b.push(operand(k, self.product.factors[1], 0, j, *value)?);
            }
        }
        let t = state(k)?;
        t.coordinates[x] = own;
        t.loaded.clear();
        for p in (0..t.tiling.dims[y].points as usize).step_by(POINTS as usize) {
            for value in &values {
                for p in p..p + POINTS as usize {
                    a.push(operand(k, self.product.factors[0], p, 0, *value)?);
                }
            }
        }
        let t = state(k)?;
        t.loaded.clear();
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
                        let t = state(k)?;
                        t.point = vec![0; t.tiling.dims.len()];
                        (t.point[y], t.point[x]) = (p, q);
                        let Some(cell) = super::register(k, self.product.cell)? else {
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

fn result_type(ir: &Ir) -> LLVMTypeRef {
    let mut fields = [ir.double_type(); 4];
    // SAFETY: live types of one context.
    unsafe { LLVMStructTypeInContext(ir.ctx, fields.as_mut_ptr(), 4, 0) }
}

fn call(k: &mut KernelBuilder<'_>, args: &[LLVMValueRef]) -> LLVMValueRef {
    k.has_barrier = true;
    if let Some(t) = &mut k.tiled {
        t.products = true;
    }
    let f = declare(k.module, MMA, function_type(result_type(k.ir), &[k.ir.double_type(); FACTORS + SUMS]));
    for a in ["nounwind", "willreturn", "convergent"] {
        add_enum_attribute(k.ir.ctx, f, FUNCTION, a, 0);
    }
    k.ir.call_function(f, args)
}

/// Whether the target has the operation.
pub(super) fn available(k: &KernelBuilder<'_>) -> LLVMValueRef {
    k.abstract_call(HAS_MMA, k.ir.int_type(1))
}

/// The architectures from which on there is other code for products: from sm_80 on by operations of 8 × 8 sums and asynchronous copies, from sm_90
/// on by operations of 16 × 8.
const GENERATIONS: [u32; 2] = [80, 90];

impl KernelModule {
    /// The architectures from which on there is other code for these kernels than for those before, ascending; 80 for sm_80.
    pub fn generations(&self) -> &'static [u32] {
        if find_function(self.module(), MMA).is_some() { &GENERATIONS } else { &[] }
    }
}

fn answer(module: LLVMModuleRef, yes: bool) -> Result<()> {
    let Some(f) = find_function(module, HAS_MMA) else { return Ok(()) };
    replace_calls(module, f, |ir, _| Ok(ir.bool(yes)))
}

/// As instructions of PTX where the architecture has them: assembly with side effects, which stays where it is among loads and barriers. LLVM
/// has intrinsics, and moves them in front of barriers that they are meant to hide.
pub(crate) fn to_ptx(module: LLVMModuleRef, arch: u32) -> Result<()> {
    let [halves, whole] = GENERATIONS;
    answer(module, arch >= halves)?;
    let Some(f) = find_function(module, MMA) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        let args = arguments(call);
        let (a, rest) = args.split_at(A_FACTORS);
        let (b, sums) = rest.split_at(FACTORS - A_FACTORS);
        if arch >= whole {
            return Ok(operation(ir, 16, a, b, sums));
        }
        // SAFETY: a live type. Before `halves` nothing reaches this.
        let mut result = unsafe { LLVMGetPoison(result_type(ir)) };
        if arch >= halves {
            let half = SUMS / A_FACTORS;
            for (i, a) in a.iter().enumerate() {
                let of = operation(ir, 8, &[*a], b, &sums[i * half..][..half]);
                for j in 0..half {
                    result = insert(ir, result, ir.field(of, j as u32), i * half + j);
                }
            }
        }
        Ok(result)
    })
}

/// One instruction for so many rows: a structure of the new sums.
fn operation(
    ir: &Ir,
    rows: u32,
    a: &[LLVMValueRef],
    b: &[LLVMValueRef],
    sums: &[LLVMValueRef],
) -> LLVMValueRef {
    let args = [a, b, sums].concat();
    let double = ir.double_type();
    let mut fields = vec![double; sums.len()];
    // SAFETY: live types of one context.
    let result = unsafe { LLVMStructTypeInContext(ir.ctx, fields.as_mut_ptr(), fields.len() as u32, 0) };
    let list = |from: usize, n: usize| {
        let names: Vec<_> = (from..from + n).map(|i| format!("${i}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let n = sums.len();
    let operands = [list(0, n), list(n, a.len()), list(n + a.len(), b.len()), list(0, n)].join(", ");
    let text = format!("mma.sync.aligned.m{rows}n8k{DEPTH}.row.col.f64.f64.f64.f64 {operands};");
    let given = (0..n).map(|i| i.to_string());
    let factors = vec!["d".to_string(); a.len() + b.len()];
    let constraints: Vec<_> = vec!["=d".to_string(); n].into_iter().chain(factors).chain(given).collect();
    let ty = function_type(result, &vec![double; args.len()]);
    let call = ir.assembly(ty, &text, &constraints.join(","), true, &args);
    add_call_attribute(call, "convergent");
    call
}

/// A structure with another field.
fn insert(ir: &Ir, structure: LLVMValueRef, field: LLVMValueRef, at: usize) -> LLVMValueRef {
    // SAFETY: live values, the latter of the field's type.
    unsafe { LLVMBuildInsertValue(ir.raw(), structure, field, at as u32, EMPTY) }
}

/// The arguments of a call of the operation.
fn arguments(call: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: a live call with so many arguments.
    (0..FACTORS + SUMS).map(|i| unsafe { LLVMGetOperand(call, i as u32) }).collect()
}

/// Bytes of shared memory that a thread of the emulated device needs to show its operands to the others.
pub(crate) const EXCHANGE_BYTES: u32 = FACTORS as u32 * 8;

/// The linear index of the thread.
fn linear(module: LLVMModuleRef, ir: &Ir, info: &KernelInfo) -> LLVMValueRef {
    let mut linear = ir.int(0);
    for (name, size) in THREAD_ID.iter().zip(info.block).rev() {
        let id = ir.call_function(declare(module, name, function_type(ir.i32_type(), &[])), &[]);
        linear = ir.add(ir.mul(linear, ir.int(size.into())), ir.zext(id, ir.i64_type()));
    }
    linear
}

/// As host code: every lane shows its operands to the others of its warp, between two barriers.
pub(crate) fn to_host<'k>(
    module: LLVMModuleRef,
    info: impl Fn(&str) -> Option<&'k KernelInfo>,
) -> Result<()> {
    answer(module, true)?;
    let Some(f) = find_function(module, MMA) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        let args = arguments(call);
        // SAFETY: a live call in a kernel.
        let kernel = unsafe { name_of(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call))) };
        let Some(info) = info(&kernel) else { return internal(format!("{kernel} is no kernel")) };
        let double = ir.double_type();
        let shared = ir.call_function(declare(module, SHARED, function_type(ir.ptr_type(), &[])), &[]);
        let area = ir.byte_offset(shared, ir.int(info.shared_bytes.into()));
        let thread = linear(module, ir, info);
        let lane = ir.urem(thread, ir.int(super::WARP.into()));
        let warp = ir.sub(thread, lane);
        let slot = |lane: LLVMValueRef, number: i64| {
            let bytes = ir.mul(ir.add(warp, lane), ir.int(EXCHANGE_BYTES.into()));
            ir.byte_offset(area, ir.add(bytes, ir.int(8 * number)))
        };
        let wait = || {
            let ty = function_type(ir.void_type(), &[]);
            ir.call_function(declare(module, BARRIER, ty), &[]);
        };
        for (i, v) in args[..FACTORS].iter().enumerate() {
            ir.store_aligned(*v, slot(lane, i as i64), 8);
        }
        wait();
        let four = ir.int(LANES[1].into());
        let (row, column) = (ir.udiv(lane, four), ir.mul(ir.urem(lane, four), ir.int(POINTS.into())));
        let mut sums = args[FACTORS..].to_vec();
        for step in 0..i64::from(DEPTH) {
            let (low, half) = (ir.int(step % 4), step / 4);
            let at = |label: LLVMValueRef| ir.add(ir.mul(label, four), low);
            for (i, sum) in sums.iter_mut().enumerate() {
                let (p, q) = (i as i64 / 2, i as i64 % 2);
                let a = ir.load_aligned(double, slot(at(row), 2 * half + p), 8);
                let b =
                    ir.load_aligned(double, slot(at(ir.add(column, ir.int(q))), A_FACTORS as i64 + half), 8);
                let ty = function_type(double, &[double; 3]);
                // (LLVM's intrinsic may become a call of the mathematical library, which not every program is linked with.)
                *sum = ir.call_function(declare(module, "pollyrs_rt_emu_fma", ty), &[a, b, *sum]);
            }
        }
        wait();
        // SAFETY: a live type.
        let mut result = unsafe { LLVMGetPoison(result_type(ir)) };
        for (i, sum) in sums.into_iter().enumerate() {
            result = insert(ir, result, sum, i);
        }
        Ok(result)
    })
}
