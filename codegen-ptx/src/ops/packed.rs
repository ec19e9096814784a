//! Stores of floating-point numbers below their alignment, as members of packed structures are.
//!
//! **Problem.** LLVM stores such a number byte by byte, the lowest byte from the register as it is. NVIDIA's
//! assembler (ptxas 12.9, the driver of CUDA 13.0; sm_90) takes a number that comes from an integer
//! (`cvt.rn.f32.u16` before `st.b8`) for that integer there, of which the lowest byte is stored. Random
//! programs found it: `(float)(x & 1023)` in a packed structure had the bytes of `x` in its lowest one.
//!
//! **Solution.** The pieces are taken out of the number's words by byte permutations, which the assembler
//! does not look through.

use crate::ir::builder::Ir;
use crate::ir::error::Result;
use crate::ir::llvm::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

/// Bytes of a number in floating point; `None` for other types.
fn bytes_of(v: Value) -> Option<u32> {
    match v.ty().kind() {
        LLVMTypeKind::LLVMFloatTypeKind => Some(4),
        LLVMTypeKind::LLVMDoubleTypeKind => Some(8),
        _ => None,
    }
}

/// Replaces the stores of a module.
pub(crate) fn to_ptx(module: Module) -> Result<()> {
    let ir = Ir::new(module.context());
    for i in module.functions().into_iter().flat_map(Value::instructions) {
        if i.opcode() != LLVMOpcode::LLVMStore || i.is_volatile() {
            continue;
        }
        let (value, pointer, align) = (i.operand(0), i.operand(1), i.alignment());
        if bytes_of(value).is_some_and(|bytes| align < bytes) {
            ir.before(i);
            store(&ir, value, pointer, align.min(4));
            // SAFETY: nothing uses it any more.
            unsafe { i.erase() };
        }
    }

    Ok(())
}

/// Stores pieces of `size` bytes: 1, 2 or 4.
fn store(ir: &Ir, value: Value, pointer: Value, size: u32) {
    let words = match bytes_of(value) {
        Some(8) => {
            let bits = ir.cast(LLVMOpcode::LLVMBitCast, value, ir.i64_type());
            let high = ir.binary(LLVMOpcode::LLVMLShr, bits, ir.int(32));
            vec![ir.trunc(bits, ir.i32_type()), ir.trunc(high, ir.i32_type())]
        }
        _ => vec![ir.cast(LLVMOpcode::LLVMBitCast, value, ir.i32_type())],
    };
    for (n, word) in words.into_iter().enumerate() {
        for at in (0..4).step_by(size as usize) {
            let to = ir.byte_offset(pointer, ir.int(i64::from(at) + 4 * n as i64));
            let piece = permuted(ir, word, at, size);
            ir.store_aligned(piece, to, size);
        }
    }
}

/// Bytes of a word from `at` on, as an integer of so many bytes.
fn permuted(ir: &Ir, word: Value, at: u32, size: u32) -> Value {
    // Zeros, which are bytes 4 to 7, in front.
    let selector = (0..4).map(|k| if k < size { at + k } else { 4 } << (4 * k)).sum::<u32>();
    let ty = ir.i32_type();
    let text = format!("prmt.b32 $0, $1, 0, {selector};");
    let piece = ir.assembly(ty.function(&[ty]), &text, "=r,r", false, &[word]);
    let half = ir.ctx.int_type(16);
    match size {
        1 => ir.trunc(piece, ir.i8_type()),
        2 => ir.trunc(piece, half),
        _ => piece,
    }
}
