//! Products of doubles by operations of a warp.
//!
//! `{ double, double, double, double } @pollyrs.mma(a0, a1, b, c0..c3)` is the operation, to be reached by
//! all lanes; `i1 @pollyrs.has_mma()` whether the target has it. Rows and columns of the fragments:
//! ```text
//! row    l / 4, l / 4 + 8      of lane l: a0 and c0, c1; a1 and c2, c3
//! column 2 (l mod 4) + i       c0, c2 and c1, c3; of b it is l / 4
//! ```
//! On sm_90, `mma.m16n8k4` in doubles gives bit for bit what the chain of FMAs in the order of k gives
//! (measured on an H200: 0 of 262,144 results differ, also over 60 binades and with subnormals). It is that
//! chain on all generations that have the operation, Ampere to Blackwell, by a model that was compared with
//! their hardware bit for bit (Xie, Wang, Yang, Yang, *MMA-Sim: Bit-Accurate Reference Model of Tensor Cores
//! and Matrix Cores*, arXiv:2511.10909, 2025). (`m16n8k8` is as fast, and needs twice the registers for
//! operands.)
//!
//! Before sm_90 there is `m8n8k4` only ([`GENERATIONS`]). Its fragments are the upper and the lower half of
//! these: two of them, with the same `b`.

use crate::ir::builder::Ir;
use crate::ir::calls::replace_calls;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::{BARRIER, SHARED, THREAD_ID};
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use crate::kernel::module::{KernelInfo, KernelModule};

/// Iterations of one operation.
pub(crate) const DEPTH: u32 = 4;

/// Factors of a lane in one operation along y, which come first, and in all.
pub(crate) const A_FACTORS: usize = (POINTS * DEPTH / LANES[1]) as usize;
pub(crate) const FACTORS: usize = ((POINTS + 1) * DEPTH / LANES[1]) as usize;

/// Sums of a lane in one operation.
pub(crate) const SUMS: usize = (POINTS * POINTS) as usize;

/// Lanes along y and x, points of a lane in one operation.
pub(crate) const LANES: [u32; 2] = [8, 4];
pub(crate) const POINTS: u32 = 2;
pub(crate) const MMA: &str = "pollyrs.mma";
pub(crate) const HAS_MMA: &str = "pollyrs.has_mma";

pub(crate) fn result_type(ir: &Ir) -> Type {
    ir.ctx.struct_type(&[ir.double_type(); 4])
}

/// Whether the target has the operation.
pub(crate) fn available<S>(k: &KernelBuilder<'_, S>) -> Value {
    k.abstract_call(HAS_MMA, k.ir.int_type(1))
}

/// The architectures from which on there is other code for products: from sm_80 on by operations of 8 × 8
/// sums and asynchronous copies, from sm_90 on by operations of 16 × 8.
pub(crate) const GENERATIONS: [u32; 2] = [80, 90];

impl KernelModule {
    /// The architectures from which on there is other code for these kernels than for those before,
    /// ascending; 80 for sm_80.
    pub fn generations(&self) -> &'static [u32] {
        if self.module().function(MMA).is_some() { &GENERATIONS } else { &[] }
    }
}

pub(crate) fn answer(module: Module, yes: bool) -> Result<()> {
    let Some(f) = module.function(HAS_MMA) else { return Ok(()) };
    replace_calls(module, f, |ir, _| Ok(ir.bool(yes)))
}

/// As instructions of PTX where the architecture has them: assembly with side effects, which stays where it
/// is among loads and barriers. LLVM has intrinsics, and moves them in front of barriers that they are meant
/// to hide.
pub(crate) fn to_ptx(module: Module, arch: u32) -> Result<()> {
    let [halves, whole] = GENERATIONS;
    answer(module, arch >= halves)?;
    let Some(f) = module.function(MMA) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        let args = arguments(call);
        let (a, rest) = args.split_at(A_FACTORS);
        let (b, sums) = rest.split_at(FACTORS - A_FACTORS);
        if arch >= whole {
            return Ok(operation(ir, 16, a, b, sums));
        }
        let mut result = result_type(ir).poison();
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
pub(crate) fn operation(ir: &Ir, rows: u32, a: &[Value], b: &[Value], sums: &[Value]) -> Value {
    let args = [a, b, sums].concat();
    let double = ir.double_type();
    let result = ir.ctx.struct_type(&vec![double; sums.len()]);
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
    let ty = result.function(&vec![double; args.len()]);
    let call = ir.assembly(ty, &text, &constraints.join(","), true, &args);
    call.add_call_attribute("convergent");
    call
}

/// A structure with another field.
pub(crate) fn insert(ir: &Ir, structure: Value, field: Value, at: usize) -> Value {
    ir.with_field(structure, field, at as u32)
}

/// The arguments of a call of the operation.
pub(crate) fn arguments(call: Value) -> Vec<Value> {
    (0..FACTORS + SUMS).map(|i| call.operand(i as u32)).collect()
}

/// Bytes of shared memory that a thread of the emulated device needs to show its operands to the others.
pub(crate) const EXCHANGE_BYTES: u32 = FACTORS as u32 * 8;

/// The linear index of the thread.
pub(crate) fn linear(module: Module, ir: &Ir, info: &KernelInfo) -> Value {
    let mut linear = ir.int(0);
    for (name, size) in THREAD_ID.iter().zip(info.block).rev() {
        let id = ir.call_function(module.declare(name, ir.i32_type().function(&[])), &[]);
        linear = ir.add(ir.mul(linear, ir.int(size.into())), ir.zext(id, ir.i64_type()));
    }
    linear
}

/// As host code: every lane shows its operands to the others of its warp, between two barriers.
pub(crate) fn to_host<'k>(module: Module, info: impl Fn(&str) -> Option<&'k KernelInfo>) -> Result<()> {
    answer(module, true)?;
    let Some(f) = module.function(MMA) else { return Ok(()) };
    replace_calls(module, f, |ir, call| {
        let args = arguments(call);
        let kernel = call.block().function().name();
        let Some(info) = info(&kernel) else { return internal(format!("{kernel} is no kernel")) };
        let double = ir.double_type();
        let shared = ir.call_function(module.declare(SHARED, ir.ptr_type().function(&[])), &[]);
        let area = ir.byte_offset(shared, ir.int(info.shared_bytes.into()));
        let thread = linear(module, ir, info);
        let lane = ir.urem(thread, ir.int(crate::ir::types::WARP.into()));
        let warp = ir.sub(thread, lane);
        let slot = |lane: Value, number: i64| {
            let bytes = ir.mul(ir.add(warp, lane), ir.int(EXCHANGE_BYTES.into()));
            ir.byte_offset(area, ir.add(bytes, ir.int(8 * number)))
        };
        let wait = || {
            let ty = ir.void_type().function(&[]);
            ir.call_function(module.declare(BARRIER, ty), &[]);
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
            let at = |label: Value| ir.add(ir.mul(label, four), low);
            for (i, sum) in sums.iter_mut().enumerate() {
                let (p, q) = (i as i64 / 2, i as i64 % 2);
                let a = ir.load_aligned(double, slot(at(row), 2 * half + p), 8);
                let b =
                    ir.load_aligned(double, slot(at(ir.add(column, ir.int(q))), A_FACTORS as i64 + half), 8);
                let ty = double.function(&[double; 3]);
                // (LLVM's intrinsic may become a call of the mathematical library, which not every program is
                // linked with.)
                *sum = ir.call_function(module.declare("pollyrs_rt_emu_fma", ty), &[a, b, *sum]);
            }
        }
        wait();
        let mut result = result_type(ir).poison();
        for (i, sum) in sums.into_iter().enumerate() {
            result = insert(ir, result, sum, i);
        }
        Ok(result)
    })
}
