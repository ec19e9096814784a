//! Exact divisions and square roots without a branch each, where a thread computes several points.
//!
//! **Problem.** ptxas makes of an exact division or root some ten instructions for usual operands and a call for the others, with a
//! test and a branch around the call. The branches keep the points of a thread apart: each waits for the chain of the one before it, and
//! test, branch and reconvergence are a third of the instructions (gradient3d: 16 of 56 a point).
//!
//! **Solution.** The points are computed by the instructions for usual operands, with one test for all operands of all points behind
//! them; where some operand is unusual, all points are computed again, exactly:
//! ```text
//! quick:  q0 = quick.divide(x0, y0), q1 = quick.divide(x1, y1), ...;  unusual = max(far(x0), far(y0), far(x1), ...)
//!         unusual > LIMIT ? exact : join          exact: p0 = fdiv x0, y0, ...
//! join:   phi(q0, p0), phi(q1, p1), ...
//! ```
//!
//! # Invariants
//! - The results are those of IEEE 754, bit for bit. For the operands that the test lets pass, of magnitude `2^-60` to `2^60` (doubles:
//!   `2^-480` to `2^480`), they come from the very instructions that ptxas (12.9, sm_90) takes itself for operands that its own test lets pass,
//!   seeds included (Markstein's method: an approximate reciprocal, Newton steps, a quotient and its exact remainder). All intermediate values
//!   are normal numbers there: scaling by powers of two scales them exactly. Zeros, infinities and NaNs never pass. `test/programs/stencil_quotients.c`
//!   has operands on both sides of the test.
//! - On the host the abstract functions are the exact operations.
//! - Operations that the program's flags allow to be approximate stay as they are.

use crate::Result;
use crate::ir::Ir;
use crate::kernel::KernelBuilder;
use crate::llvm::*;
use crate::ptx::{find_function, replace_calls};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::collections::BTreeSet;

/// For floats and doubles.
const DIVIDE: [&str; 2] = ["pollyrs.quick_divide.f32", "pollyrs.quick_divide.f64"];
const ROOT: [&str; 2] = ["pollyrs.quick_root.f32", "pollyrs.quick_root.f64"];
/// How far the bits of a number are above [`LEAST`], as an unsigned integer; the identity of its argument, as a function.
const FAR: &str = "pollyrs.far";
/// The bits of `2^-60`, and the high word of `2^-480`, a double; and from there to those of `2^60` and `2^480`.
const LEAST: [u32; 2] = [0x2180_0000, 0x21f0_0000];
const LIMIT: u32 = 0x3c00_0000;
const SIGN: u32 = 0x8000_0000;
/// `LLVMFastMathAllowReciprocal | LLVMFastMathApproxFunc`.
const APPROXIMATE: u32 = 16 | 64;

/// Makes the exact divisions and roots of floats and doubles behind `after`, in the builder's block, quick ones; the result is their test, an integer that is
/// at most [`LIMIT`] if all operands are usual. `None`: there are none.
pub(crate) fn quicken(k: &KernelBuilder<'_>, after: Option<LLVMValueRef>) -> Option<LLVMValueRef> {
    let block = k.ir.block();
    let all = instructions_of(block);
    let from = after.and_then(|a| all.iter().position(|i| *i == a)).map_or(0, |at| at + 1);
    let mut test: Option<LLVMValueRef> = None;
    // Roots of usual numbers are usual.
    let mut usual = BTreeSet::new();
    for i in all.into_iter().skip(from) {
        let Some((operation, wide)) = exact(i) else { continue };
        k.ir.before(i);
        let operands = match operation {
            Operation::Divide => vec![(operand(i, 0), true), (operand(i, 1), true)],
            Operation::Root => vec![(operand(i, 0), false)],
        };
        for (v, any_sign) in operands.iter().copied() {
            if usual.contains(&(v as usize)) || is_usual(v, wide) {
                continue;
            }
            let far = far(k, v, wide, any_sign);
            test = Some(match test {
                None => far,
                Some(t) => k.ir.select(k.ir.icmp(LLVMIntUGT, t, far), t, far),
            });
        }
        let name = if operation == Operation::Divide { DIVIDE } else { ROOT }[wide];
        let args: Vec<LLVMValueRef> = operands.iter().map(|(v, _)| *v).collect();
        let quick = pure(k, name, real(k.ir, wide), &args);
        if operation == Operation::Root {
            usual.insert(quick as usize);
        }
        // SAFETY: an instruction of the block whose uses are all replaced.
        unsafe {
            LLVMReplaceAllUsesWith(i, quick);
            LLVMInstructionEraseFromParent(i);
        }
        test = test.or(Some(k.ir.int32(0)));
    }
    k.ir.at_end(block);
    test
}

/// Whether some operand of a test is unusual.
pub(crate) fn is_unusual(ir: &Ir, test: LLVMValueRef) -> LLVMValueRef {
    ir.icmp(LLVMIntUGT, test, ir.int32(LIMIT))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Divide,
    Root,
}

/// Whether the program's flags allow an instruction's result to be approximate.
pub(crate) fn is_approximate(i: LLVMValueRef) -> bool {
    // SAFETY: a live instruction; only those that may have flags are asked for them.
    unsafe { LLVMCanValueUseFastMathFlags(i) != 0 && LLVMGetFastMathFlags(i) & APPROXIMATE != 0 }
}

/// Whether an instruction is an exact division or root of floats or doubles.
pub(crate) fn is_exact(i: LLVMValueRef) -> bool {
    exact(i).is_some()
}

/// What an instruction is, if its result has to be exact, and whether of doubles (1) or floats (0).
fn exact(i: LLVMValueRef) -> Option<(Operation, usize)> {
    // SAFETY: a live instruction.
    unsafe {
        let wide = match LLVMGetTypeKind(LLVMTypeOf(i)) {
            LLVMTypeKind::LLVMFloatTypeKind => 0,
            LLVMTypeKind::LLVMDoubleTypeKind => 1,
            _ => return None,
        };
        if LLVMCanValueUseFastMathFlags(i) == 0 || is_approximate(i) {
            return None;
        }
        match LLVMGetInstructionOpcode(i) {
            LLVMOpcode::LLVMFDiv => Some((Operation::Divide, wide)),
            LLVMOpcode::LLVMCall => {
                let name = name_of(LLVMGetCalledValue(i));
                let root = [["llvm.sqrt.f32", "sqrtf"], ["llvm.sqrt.f64", "sqrt"]][wide];
                root.contains(&name.as_str()).then_some((Operation::Root, wide))
            }
            _ => None,
        }
    }
}

/// `float` or `double`.
fn real(ir: &Ir, wide: usize) -> LLVMTypeRef {
    // SAFETY: a live context.
    if wide == 1 { ir.double_type() } else { unsafe { LLVMFloatTypeInContext(ir.ctx) } }
}

/// Whether a constant is usual.
fn is_usual(v: LLVMValueRef, wide: usize) -> bool {
    let range = [2f64.powi(-60)..=2f64.powi(60), 2f64.powi(-480)..=2f64.powi(480)];
    // SAFETY: a live value; only constants are asked for their value.
    unsafe {
        let mut lossy = 0;
        !LLVMIsAConstantFP(v).is_null() && range[wide].contains(&LLVMConstRealGetDouble(v, &mut lossy).abs())
    }
}

/// The bits, of a double the high word.
fn high(ir: &Ir, v: LLVMValueRef, wide: usize) -> LLVMValueRef {
    if wide == 0 {
        return ir.cast(LLVMOpcode::LLVMBitCast, v, ir.i32_type());
    }
    let bits = ir.cast(LLVMOpcode::LLVMBitCast, v, ir.i64_type());
    ir.trunc(ir.binary(LLVMOpcode::LLVMLShr, bits, ir.int(32)), ir.i32_type())
}

/// The bits less those of the smallest usual number: at most [`LIMIT`] for usual ones.
fn far(k: &KernelBuilder<'_>, v: LLVMValueRef, wide: usize, any_sign: bool) -> LLVMValueRef {
    let ir = k.ir;
    let mut bits = high(ir, v, wide);
    if any_sign {
        bits = ir.and(bits, ir.int32(!SIGN));
    }
    pure(k, FAR, ir.i32_type(), &[ir.sub(bits, ir.int32(LEAST[wide]))])
}

/// A call of an abstract function without effects.
fn pure(k: &KernelBuilder<'_>, name: &str, ret: LLVMTypeRef, args: &[LLVMValueRef]) -> LLVMValueRef {
    // SAFETY: live values.
    let types: Vec<LLVMTypeRef> = args.iter().map(|a| unsafe { LLVMTypeOf(*a) }).collect();
    let f = declare(k.module, name, function_type(ret, &types));
    for a in ["nounwind", "willreturn", "memory"] {
        add_enum_attribute(k.ir.ctx, f, FUNCTION, a, 0);
    }
    k.ir.call_function(f, args)
}

fn argument(call: LLVMValueRef, at: u32) -> LLVMValueRef {
    // SAFETY: a live call with so many arguments.
    unsafe { LLVMGetOperand(call, at) }
}

/// Arithmetic on floats or doubles in front of a call.
struct Reals<'a> {
    ir: &'a Ir,
    module: LLVMModuleRef,
    wide: usize,
}

impl Reals<'_> {
    fn number(&self, v: f64) -> LLVMValueRef {
        // SAFETY: a live type.
        unsafe { LLVMConstReal(real(self.ir, self.wide), v) }
    }

    fn product(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        self.ir.binary(LLVMOpcode::LLVMFMul, a, b)
    }

    fn negated(&self, v: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the builder of a replacement stands in front of the call; the operand is a float or double.
        unsafe { LLVMBuildFNeg(self.ir.raw(), v, EMPTY) }
    }

    /// `a * b + c`, rounded once.
    fn fma(&self, a: LLVMValueRef, b: LLVMValueRef, c: LLVMValueRef) -> LLVMValueRef {
        let ty = real(self.ir, self.wide);
        let f =
            declare(self.module, ["llvm.fma.f32", "llvm.fma.f64"][self.wide], function_type(ty, &[ty; 3]));
        self.ir.call_function(f, &[a, b, c])
    }

    /// An instruction of the unit for special functions.
    fn approximate(&self, what: &str, v: LLVMValueRef) -> LLVMValueRef {
        let (ty, (suffix, constraints)) =
            (real(self.ir, self.wide), [("f32", "=f,f"), ("f64", "=d,d")][self.wide]);
        let text = format!("{what}.approx.ftz.{suffix} $0, $1;");
        self.ir.assembly(function_type(ty, &[ty]), &text, constraints, false, &[v])
    }

    /// Of doubles, the seed with another low word; the approximation has none.
    fn with_low(&self, v: LLVMValueRef, low: LLVMValueRef) -> LLVMValueRef {
        let ir = self.ir;
        let bits = ir.or(ir.cast(LLVMOpcode::LLVMBitCast, v, ir.i64_type()), ir.zext(low, ir.i64_type()));
        ir.cast(LLVMOpcode::LLVMBitCast, bits, ir.double_type())
    }

    fn divide(&self, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let (minus, near) = (self.negated(y), self.approximate("rcp", y));
        let error = |r: LLVMValueRef| self.fma(minus, r, self.number(1.0));
        let reciprocal = if self.wide == 0 {
            self.fma(near, error(near), near)
        } else {
            let near = self.with_low(near, self.ir.int32(1));
            let e = error(near);
            let closer = self.fma(near, self.fma(e, e, e), near);
            self.fma(closer, error(closer), closer)
        };
        let quotient = self.product(x, reciprocal);
        self.fma(reciprocal, self.fma(minus, quotient, x), quotient)
    }

    fn root(&self, x: LLVMValueRef) -> LLVMValueRef {
        let near = self.approximate("rsqrt", x);
        let (reciprocal, half) = if self.wide == 0 {
            (near, self.product(near, self.number(0.5)))
        } else {
            // ptxas takes for the low word what its test has computed.
            let low = self.ir.add(high(self.ir, x, 1), self.ir.int32(0xfcb0_0000));
            let near = self.with_low(near, low);
            let e = self.fma(x, self.negated(self.product(near, near)), self.number(1.0));
            let h = self.fma(e, self.number(0.375), self.number(0.5));
            let reciprocal = self.fma(h, self.product(near, e), near);
            let ir = self.ir;
            let bits = ir.cast(LLVMOpcode::LLVMBitCast, reciprocal, ir.i64_type());
            // The exponent less one.
            let half = ir.cast(LLVMOpcode::LLVMBitCast, ir.sub(bits, ir.int(1 << 52)), ir.double_type());
            (reciprocal, half)
        };
        let root = self.product(x, reciprocal);
        self.fma(self.fma(self.negated(root), root, x), half, root)
    }
}

/// The instructions of ptxas for usual operands.
pub(crate) fn to_ptx(module: LLVMModuleRef) -> Result<()> {
    for wide in 0..2 {
        if let Some(f) = find_function(module, DIVIDE[wide]) {
            replace_calls(module, f, |ir, c| {
                Ok(Reals { ir, module, wide }.divide(argument(c, 0), argument(c, 1)))
            })?;
        }
        if let Some(f) = find_function(module, ROOT[wide]) {
            replace_calls(module, f, |ir, c| Ok(Reals { ir, module, wide }.root(argument(c, 0))))?;
        }
    }
    identity(module)
}

/// The operations themselves. `always`: every operand counts as unusual, as the checked device must not see conditions on values that
/// are thrown away.
pub(crate) fn to_host(module: LLVMModuleRef, always: bool) -> Result<()> {
    for wide in 0..2 {
        if let Some(f) = find_function(module, DIVIDE[wide]) {
            let quotient = |ir: &Ir, c| ir.binary(LLVMOpcode::LLVMFDiv, argument(c, 0), argument(c, 1));
            replace_calls(module, f, |ir, c| Ok(quotient(ir, c)))?;
        }
        if let Some(f) = find_function(module, ROOT[wide]) {
            replace_calls(module, f, |ir, c| {
                let ty = real(ir, wide);
                let root =
                    declare(module, ["llvm.sqrt.f32", "llvm.sqrt.f64"][wide], function_type(ty, &[ty]));
                Ok(ir.call_function(root, &[argument(c, 0)]))
            })?;
        }
    }
    match find_function(module, FAR) {
        Some(f) if always => replace_calls(module, f, |ir, _| Ok(ir.int32(u32::MAX))),
        _ => identity(module),
    }
}

fn identity(module: LLVMModuleRef) -> Result<()> {
    match find_function(module, FAR) {
        Some(f) => replace_calls(module, f, |_, c| Ok(argument(c, 0))),
        None => Ok(()),
    }
}
