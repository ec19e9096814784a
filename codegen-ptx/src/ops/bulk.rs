//! How much code the long operations of a statement are: divisions and functions of the mathematical library,
//! which are inlined wherever they are called.
//!
//! # Example
//! `C[i][j] += exp(A[i][k] - B[k][j])` in a tile of 64 points a thread whose loop runs four iterations at a
//! time has 256 copies of `exp`: 24,000 lines of PTX, a quarter of a minute of `ptxas`, 800 bytes of spilled
//! registers; with `pow` for doubles minutes. One copy of it needs no tile.

use crate::ir::error::{CodegenError, Result};
use crate::ir::llvm::*;
use crate::ir::math::{Precision, library_function, library_intrinsic};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMTypeKind};
use pollyrs_scop::Scop;
use std::collections::BTreeMap;

/// Instructions of an exact division or square root, of 32 and of 64 bits (as in the model of fused steps).
const DIVISION: [u32; 2] = [14, 20];
/// Of a division of integers by one that is known at run time only, of at most 32 and of 64 bits; with a
/// branch for small numbers.
const INTEGER_DIVISION: [u32; 2] = [30, 80];
/// By a constant: a product, shifts and a correction.
const BY_CONSTANT: [u32; 2] = [5, 16];
/// Of a function of the mathematical library, `float` and `double`: `expf` of libclc has 60 instructions,
/// `exp` 100, `pow` 700.
const FUNCTION: [u32; 2] = [50, 150];

/// Instructions that the SCoP's kernels may have before LLVM simplifies them: about ten seconds of LLVM and
/// `ptxas` where they are functions. The tiles of trmm have 68,000, most of which are gone later; 256 calls
/// of `pow` with 65,000 took 10 s, a stencil with ten of them and time steps in a launch 13 s.
const MOST_INSTRUCTIONS: u64 = 100_000;
/// Those of inlined functions weigh more: little of them is simplified away.
const INLINED: u64 = 2;

/// By statement: instructions of the device that its divisions and functions are, beyond one each.
pub fn bulk(scop: &Scop) -> Vec<u32> {
    let of = |i: Value| {
        let wide = |ty: Type| match ty.kind() {
            LLVMTypeKind::LLVMDoubleTypeKind => 1,
            LLVMTypeKind::LLVMIntegerTypeKind => usize::from(ty.int_width() > Some(32)),
            _ => 0,
        };
        match i.opcode() {
            LLVMFDiv => DIVISION[wide(i.ty())],
            LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem => {
                let constant = i.operand(1).is_constant_int();
                let table = if constant { BY_CONSTANT } else { INTEGER_DIVISION };
                table[wide(i.ty())]
            }
            LLVMFRem => FUNCTION[wide(i.ty())],
            LLVMCall => {
                let name = i.callee().name();
                let long = library_function(&name).or_else(|| library_intrinsic(&name));
                match long {
                    Some(f) => FUNCTION[usize::from(f.precision == Precision::Double)],
                    None if name.starts_with("sqrt") || name.starts_with("llvm.sqrt.") => {
                        DIVISION[wide(i.ty())]
                    }
                    None => 0,
                }
            }
            _ => 0,
        }
    };
    let body = |s: &pollyrs_scop::Statement| s.body.iter().map(|i| of(host_value(*i))).sum();
    scop.statements.iter().map(body).collect()
}

/// Refuses kernels that would be too long once all that they call is inlined.
///
/// # Errors
/// [`CodegenError::TooLong`].
pub(crate) fn check_length(module: Module) -> Result<()> {
    let mut known = BTreeMap::new();
    let mut all = 0u64;
    for f in module.functions() {
        if f.linkage() == LLVMLinkage::LLVMExternalLinkage {
            let own = f.instructions().len() as u64;
            let inlined = length(f, &mut known).saturating_sub(own);
            all = all.saturating_add(own).saturating_add(INLINED.saturating_mul(inlined));
        }
    }
    if all > MOST_INSTRUCTIONS { Err(CodegenError::TooLong(all)) } else { Ok(()) }
}

/// Instructions of a function with all that it calls; what calls itself counts once.
fn length(f: Value, known: &mut BTreeMap<usize, u64>) -> u64 {
    if let Some(n) = known.get(&f.address()) {
        return *n;
    }
    known.insert(f.address(), 0);
    let mut n = 0u64;
    for i in f.instructions() {
        let callee = i.is_call().then(|| i.callee()).filter(|f| f.is_function());
        let called = callee.map_or(0, |f| length(f, known));
        n = n.saturating_add(1).saturating_add(called);
    }
    known.insert(f.address(), n);
    n
}
