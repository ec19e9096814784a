//! Exact divisions and square roots without a branch each, where a thread computes several points.
//!
//! **Problem.** ptxas makes of an exact division or root some ten instructions for usual operands and a call
//! for the others, with a test and a branch around the call. The branches keep the points of a thread apart:
//! each waits for the chain of the one before it, and test, branch and reconvergence are a third of the
//! instructions (gradient3d: 16 of 56 a point).
//!
//! **Solution.** The points are computed by the instructions for usual operands, with one test for all
//! operands of all points behind them; where some operand is unusual, all points are computed again, exactly:
//! ```text
//! fast:   q0 = fast.divide(x0, y0), q1 = fast.divide(x1, y1), ...;  unusual = max(far(x0), far(y0), far(x1), ...) > limit
//!         unusual ? exact : join          exact: p0 = fdiv x0, y0, ...
//! join:   phi(q0, p0), phi(q1, p1), ...
//! ```
//!
//! # Invariants
//! - The results are those of IEEE 754, bit for bit. For the operands that the test lets pass, of magnitude
//!   `2^-60` to `2^60` (doubles: `2^-480` to `2^480`), they come from the very instructions that ptxas (12.9,
//!   sm_90) takes itself for operands that its own test lets pass, seeds included (Markstein's method: an
//!   approximate reciprocal, Newton steps, a quotient and its exact remainder). All intermediate values are
//!   normal numbers there: scaling by powers of two scales them exactly. Zeros, infinities and NaNs never
//!   pass. `test/programs/stencils/stencil_quotients.c` has operands on both sides of the test.
//! - A quotient by a root takes the reciprocal that the root's own steps have found, `R`, instead of another
//!   seed. Markstein's method is right if the reciprocal of the root `b` after its last step is the number
//!   next to `1/b`. That step's is `R(1 + e)`, rounded, with `e = 1 - bR`, that is `(1 - e^2)/b`: another
//!   number only if `1/b` is above the middle of two by at most `e^2/b`. *Doubles*: `b` and `R` are rounded,
//!   and `R`'s seed adds `2^-54.3` (largest of 2^33 measured), so that `|e| < 2^-52`. With `b = B 2^-52` and
//!   the middle `M 2^-54` that leaves `BM = 2^106 - c` with `c < 4`, which few integers `B` of 53 bits
//!   fulfil: 33, found by factoring. With the operands that have such roots, and those with `c` up to 32, in
//!   all binades that pass, the device's reciprocals are right but for `B = 2^53 - 1`. Roots whose lower
//!   words are all ones are unusual, therefore. *Floats*: one unit is added to `R`; of all operands that pass
//!   the device's reciprocals are right but for 22 in each two binades, with which the quotients of all 2^23
//!   mantissas are right (without the unit four, of which a root of ones has wrong quotients).
//!   `test/programs/numbers/root_quotients.c` divides by such roots.
//! - Quotients by constants take two or three operations, proved for each constant ([`divisors`]). Of two
//!   operations zeros, infinities and NaNs are usual numerators.
//! - On the host the abstract functions are the exact operations.
//! - Operations that the program's flags allow to be approximate stay as they are.

use crate::Result;
use crate::ir::builder::Ir;
use crate::ir::calls::replace_calls;
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use crate::ops::divisors::{self, Quotient};
use inkwell::llvm_sys::LLVMIntPredicate::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// For floats and doubles.
const DIVIDE: [&str; 2] = ["pollyrs.fast_divide.f32", "pollyrs.fast_divide.f64"];
const ROOT: [&str; 2] = ["pollyrs.fast_root.f32", "pollyrs.fast_root.f64"];
/// What a test compares, an integer; the identity of its argument, as a function.
const FAR: &str = "pollyrs.far";
/// The bits of `2^-60`, and the high word of `2^-480`, a double.
const LEAST: [u32; 2] = [0x2180_0000, 0x21f0_0000];
/// From there to those of `2^60` and `2^480`.
const SPAN: u32 = 0x3c00_0000;
/// `LLVMFastMathAllowReciprocal | LLVMFastMathApproxFunc`.
const APPROXIMATE: u32 = 16 | 64;

/// What operands have to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Usual {
    /// Of a magnitude between the bounds.
    Magnitude,
    /// Positive as well.
    Positive,
    /// Not below the smallest magnitude, but for zeros; infinities and NaNs are.
    NotTiny,
}

impl Usual {
    /// The largest of a usual operand's integers ([`Tests::far`]).
    fn limit(self, wide: usize) -> u32 {
        match self {
            Usual::Magnitude => 2 * SPAN,
            Usual::Positive => SPAN,
            Usual::NotTiny => (2 * LEAST[wide]).wrapping_neg(),
        }
    }
}

/// The operands that were met: by what they have to be the largest of their integers.
#[derive(Default)]
struct Tests {
    largest: BTreeMap<(Usual, usize), Value>,
}

impl Tests {
    fn add(&mut self, k: Place<'_>, usual: Usual, v: Value, wide: usize) {
        let far = Tests::far(k, usual, v, wide);
        let largest = self.largest.get(&(usual, wide)).copied();
        self.largest.insert((usual, wide), maximum(k.ir, largest, far));
    }

    /// An integer that is the larger the less usual an operand is. (Shifts drop the sign.)
    fn far(k: Place<'_>, usual: Usual, v: Value, wide: usize) -> Value {
        let ir = k.ir;
        let bits = high(ir, v, wide);
        let twice = |bits| ir.binary(LLVMOpcode::LLVMShl, bits, ir.int32(1));
        let far = match usual {
            Usual::Magnitude => ir.sub(twice(bits), ir.int32(2 * LEAST[wide])),
            Usual::Positive => ir.sub(bits, ir.int32(LEAST[wide])),
            Usual::NotTiny => {
                let mut all = twice(bits);
                if wide == 1 {
                    let low = low_word(ir, v);
                    let some = ir.icmp(LLVMIntNE, low, ir.int32(0));
                    all = ir.or(all, ir.zext(some, ir.i32_type()));
                }
                ir.sub(ir.int32(0), all)
            }
        };
        pure(k, FAR, ir.i32_type(), &[far])
    }

    /// Whether some operand is unusual.
    fn any(&self, ir: &Ir) -> Option<Value> {
        let beyond =
            |(key, v): (&(Usual, usize), &Value)| ir.icmp(LLVMIntUGT, *v, ir.int32(key.0.limit(key.1)));
        self.largest.iter().map(beyond).reduce(|a, b| ir.or(a, b))
    }
}

/// Makes the exact divisions and roots of floats and doubles behind `after`, in the builder's block, fast
/// ones; the result is their test, a bit that is set if some operand is unusual. `None`: there are none.
pub(crate) fn use_fast_paths<S>(k: &KernelBuilder<'_, S>, after: Option<Value>) -> Option<Value> {
    use_fast_paths_in(k.ir, k.module, after)
}

/// Where abstract functions are called.
#[derive(Clone, Copy)]
struct Place<'a> {
    ir: &'a Ir,
    module: Module,
}

/// [`use_fast_paths`], in the block of a builder.
pub(crate) fn use_fast_paths_in(ir: &Ir, module: Module, after: Option<Value>) -> Option<Value> {
    let k = Place { ir, module };
    let block = k.ir.block();
    let all = block.instructions();
    let from = after.and_then(|a| all.iter().position(|i| *i == a)).map_or(0, |at| at + 1);
    let (mut tests, mut met) = (Tests::default(), false);
    // Roots of usual numbers are usual.
    let mut usual = BTreeSet::new();
    let (mut divisors, mut most) = (BTreeSet::new(), None);
    for i in all.into_iter().skip(from) {
        let Some((operation, wide)) = exact(i) else { continue };
        met = true;
        k.ir.before(i);
        let args: Vec<Value> = match operation {
            Operation::Divide => vec![i.operand(0), i.operand(1)],
            Operation::Root => vec![i.operand(0)],
        };
        let demand = match (operation, by_constant(i)) {
            (Operation::Root, _) => Usual::Positive,
            (Operation::Divide, Some(Quotient::Two { .. })) => Usual::NotTiny,
            (Operation::Divide, _) => Usual::Magnitude,
        };
        for v in args.iter().copied() {
            if !usual.contains(&v.address()) && !is_usual(v, wide) {
                tests.add(k, demand, v, wide);
            }
        }
        if let (Operation::Divide, 1, root) = (operation, wide, i.operand(1))
            && usual.contains(&root.address())
            && divisors.insert(root)
        {
            let mantissa = pure(k, FAR, k.ir.i32_type(), &[low_word(k.ir, root)]);
            most = Some(maximum(k.ir, most, mantissa));
        }
        let name = if operation == Operation::Divide { DIVIDE } else { ROOT }[wide];
        let fast = pure(k, name, real(k.ir, wide), &args);
        if operation == Operation::Root {
            usual.insert(fast.address());
        }
        // SAFETY: the handle is not used any more.
        unsafe { i.replace(fast) };
    }
    k.ir.at_end(block);
    let ones = most.map(|m| k.ir.icmp(LLVMIntEQ, m, k.ir.int32(u32::MAX)));
    let any = tests.any(k.ir).into_iter().chain(ones).reduce(|a, b| k.ir.or(a, b));
    any.or_else(|| met.then(|| k.ir.bool(false)))
}

/// How a division by a constant is done, if it is one.
fn by_constant(i: Value) -> Option<Quotient> {
    let (operation, wide) = exact(i)?;
    if operation == Operation::Divide {
        constant(i.operand(1)).and_then(|c| divisors::quotient(c, wide))
    } else {
        None
    }
}

/// Whether an instruction is an exact division by a constant that takes two or three operations.
pub(crate) fn is_by_constant(i: Value) -> bool {
    by_constant(i).is_some()
}

/// The larger of two unsigned integers.
fn maximum(ir: &Ir, a: Option<Value>, b: Value) -> Value {
    a.map_or(b, |a| ir.select(ir.icmp(LLVMIntUGT, a, b), a, b))
}

/// A branch on a test: where some operand is unusual, to the first of two new blocks of the builder's
/// function, in which the builder is afterwards; else to the second.
pub(crate) fn branch(ir: &Ir, test: Value) -> [Block; 2] {
    let function = ir.block().function();
    let blocks = ["exact", "fast"].map(|name| ir.append_block(function, name));
    ir.mark_rare(ir.cond_br(test, blocks[0], blocks[1]));
    ir.at_end(blocks[0]);
    blocks
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Divide,
    Root,
}

/// Whether the program's flags allow an instruction's result to be approximate.
pub(crate) fn is_approximate(i: Value) -> bool {
    i.may_have_fast_math_flags() && i.fast_math_flags() & APPROXIMATE != 0
}

/// Whether an instruction is an exact division or root of floats or doubles.
pub(crate) fn is_exact(i: Value) -> bool {
    exact(i).is_some()
}

/// What an instruction is, if its result has to be exact, and whether of doubles (1) or floats (0).
fn exact(i: Value) -> Option<(Operation, usize)> {
    let wide = match i.ty().kind() {
        LLVMTypeKind::LLVMFloatTypeKind => 0,
        LLVMTypeKind::LLVMDoubleTypeKind => 1,
        _ => return None,
    };
    if !i.may_have_fast_math_flags() || is_approximate(i) {
        return None;
    }
    match i.opcode() {
        LLVMOpcode::LLVMFDiv => Some((Operation::Divide, wide)),
        LLVMOpcode::LLVMCall => {
            let name = i.callee().name();
            let root = [["llvm.sqrt.f32", "sqrtf"], ["llvm.sqrt.f64", "sqrt"]][wide];
            root.contains(&name.as_str()).then_some((Operation::Root, wide))
        }
        _ => None,
    }
}

/// `float` or `double`.
fn real(ir: &Ir, wide: usize) -> Type {
    if wide == 1 { ir.double_type() } else { ir.ctx.float_type() }
}

/// The value of a constant.
fn constant(v: Value) -> Option<f64> {
    Some(v.constant_real()?.0)
}

/// Whether a constant is usual.
fn is_usual(v: Value, wide: usize) -> bool {
    let range = [2f64.powi(-60)..=2f64.powi(60), 2f64.powi(-480)..=2f64.powi(480)];
    constant(v).is_some_and(|c| range[wide].contains(&c.abs()))
}

/// The bits, of a double the high word.
fn high(ir: &Ir, v: Value, wide: usize) -> Value {
    if wide == 0 {
        return ir.cast(LLVMOpcode::LLVMBitCast, v, ir.i32_type());
    }
    let bits = ir.cast(LLVMOpcode::LLVMBitCast, v, ir.i64_type());
    ir.trunc(ir.binary(LLVMOpcode::LLVMLShr, bits, ir.int(32)), ir.i32_type())
}

/// The low word of a double.
fn low_word(ir: &Ir, v: Value) -> Value {
    ir.trunc(ir.cast(LLVMOpcode::LLVMBitCast, v, ir.i64_type()), ir.i32_type())
}

/// A call of an abstract function without effects.
fn pure(k: Place<'_>, name: &str, ret: Type, args: &[Value]) -> Value {
    let types: Vec<Type> = args.iter().map(|a| a.ty()).collect();
    let f = k.module.declare(name, ret.function(&types));
    for a in ["nounwind", "willreturn", "memory"] {
        f.add_attribute(FUNCTION, a, 0);
    }
    k.ir.call_function(f, args)
}

fn argument(call: Value, at: u32) -> Value {
    call.operand(at)
}

/// Arithmetic on floats or doubles in front of a call.
struct Reals<'a> {
    ir: &'a Ir,
    module: Module,
    wide: usize,
}

impl Reals<'_> {
    fn number(&self, v: f64) -> Value {
        real(self.ir, self.wide).real(v)
    }

    fn product(&self, a: Value, b: Value) -> Value {
        self.ir.binary(LLVMOpcode::LLVMFMul, a, b)
    }

    fn negated(&self, v: Value) -> Value {
        self.ir.fneg(v)
    }

    /// `a * b + c`, rounded once.
    fn fma(&self, a: Value, b: Value, c: Value) -> Value {
        let ty = real(self.ir, self.wide);
        let f = self.module.declare(["llvm.fma.f32", "llvm.fma.f64"][self.wide], ty.function(&[ty; 3]));
        self.ir.call_function(f, &[a, b, c])
    }

    /// An instruction of the unit for special functions. (An intrinsic, not text: so copies of it are one.)
    fn approximate(&self, what: &str, v: Value) -> Value {
        let ty = real(self.ir, self.wide);
        let name = format!("llvm.nvvm.{what}.approx.ftz.{}", ["f", "d"][self.wide]);
        self.ir.call_function(self.module.declare(&name, ty.function(&[ty])), &[v])
    }

    /// Of doubles, the seed with another low word; the approximation has none.
    fn with_low(&self, v: Value, low: Value) -> Value {
        let ir = self.ir;
        let bits = ir.or(ir.cast(LLVMOpcode::LLVMBitCast, v, ir.i64_type()), ir.zext(low, ir.i64_type()));
        ir.cast(LLVMOpcode::LLVMBitCast, bits, ir.double_type())
    }

    /// By a constant.
    fn divide_by(&self, x: Value, y: Value, how: Quotient) -> Value {
        match how {
            Quotient::Two { high, low } => self.fma(x, self.number(high), self.product(x, self.number(low))),
            Quotient::Three { reciprocal } => {
                let reciprocal = self.number(reciprocal);
                let quotient = self.product(x, reciprocal);
                self.fma(reciprocal, self.fma(self.negated(y), quotient, x), quotient)
            }
        }
    }

    /// The reciprocal of `y` that quotients take. `near`: an approximate one, where `y` is a root.
    fn reciprocal(&self, y: Value, near: Option<Value>) -> Value {
        let minus = self.negated(y);
        let error = |r: Value| self.fma(minus, r, self.number(1.0));
        let near = near.unwrap_or_else(|| {
            let seed = self.approximate("rcp", y);
            if self.wide == 0 {
                return seed;
            }
            let seed = self.with_low(seed, self.ir.int32(1));
            let e = error(seed);
            self.fma(seed, self.fma(e, e, e), seed)
        });
        self.fma(near, error(near), near)
    }

    fn divide(&self, x: Value, y: Value, reciprocal: Value) -> Value {
        let quotient = self.product(x, reciprocal);
        self.fma(reciprocal, self.fma(self.negated(y), quotient, x), quotient)
    }

    /// The root, and its reciprocal approximately.
    fn root(&self, x: Value) -> (Value, Value) {
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
        // One unit up, see the invariants.
        let above =
            |v| self.ir.add(self.ir.cast(LLVMOpcode::LLVMBitCast, v, self.ir.i32_type()), self.ir.int32(1));
        let for_quotients = match self.wide {
            0 => self.ir.cast(LLVMOpcode::LLVMBitCast, above(reciprocal), real(self.ir, 0)),
            _ => reciprocal,
        };
        (self.fma(self.fma(self.negated(root), root, x), half, root), for_quotients)
    }
}

/// Reciprocals that several quotients of a block share, in front of the first one: by block and divisor.
fn shared_reciprocals(
    (ir, module, wide): (&Ir, Module, usize),
    quotients: &[Value],
    roots: &BTreeMap<Value, Value>,
) -> BTreeMap<(Block, Value), Value> {
    let mut out = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for call in quotients {
        let block = block_of(*call);
        if !seen.insert(block) {
            continue;
        }
        let inside: Vec<_> = block.instructions().into_iter().filter(|i| quotients.contains(i)).collect();
        for first in &inside {
            let y = argument(*first, 1);
            let several = inside.iter().filter(|i| argument(**i, 1) == y).count() > 1;
            if several && constant(y).is_none() && !out.contains_key(&(block, y)) {
                ir.before(*first);
                let reals = Reals { ir, module, wide };
                out.insert((block, y), reals.reciprocal(y, roots.get(&y).copied()));
            }
        }
    }
    out
}

fn block_of(i: Value) -> Block {
    i.block()
}

/// The instructions of ptxas for usual operands.
pub(crate) fn to_ptx(module: Module) -> Result<()> {
    let mut reciprocals = BTreeMap::new();
    let ir = Ir::new(module.context());
    for wide in 0..2 {
        if let Some(f) = module.function(ROOT[wide]) {
            replace_calls(module, f, |ir, c| {
                let (root, reciprocal) = Reals { ir, module, wide }.root(argument(c, 0));
                reciprocals.insert(root, reciprocal);
                Ok(root)
            })?;
        }
        if let Some(f) = module.function(DIVIDE[wide]) {
            let shared = shared_reciprocals((&ir, module, wide), &f.calls(), &reciprocals);
            replace_calls(module, f, |ir, c| {
                let (reals, x, y) = (Reals { ir, module, wide }, argument(c, 0), argument(c, 1));
                if let Some(how) = constant(y).and_then(|c| divisors::quotient(c, wide)) {
                    return Ok(reals.divide_by(x, y, how));
                }
                let reciprocal = shared.get(&(block_of(c), y)).copied();
                let reciprocal =
                    reciprocal.unwrap_or_else(|| reals.reciprocal(y, reciprocals.get(&y).copied()));
                Ok(reals.divide(x, y, reciprocal))
            })?;
        }
    }
    identity(module)
}

/// The operations themselves. `always`: every operand counts as unusual, as the checked device must not see
/// conditions on values that are thrown away.
pub(crate) fn to_host(module: Module, always: bool) -> Result<()> {
    for wide in 0..2 {
        if let Some(f) = module.function(DIVIDE[wide]) {
            let quotient = |ir: &Ir, c| ir.binary(LLVMOpcode::LLVMFDiv, argument(c, 0), argument(c, 1));
            replace_calls(module, f, |ir, c| Ok(quotient(ir, c)))?;
        }
        if let Some(f) = module.function(ROOT[wide]) {
            replace_calls(module, f, |ir, c| {
                let ty = real(ir, wide);
                let root = module.declare(["llvm.sqrt.f32", "llvm.sqrt.f64"][wide], ty.function(&[ty]));
                Ok(ir.call_function(root, &[argument(c, 0)]))
            })?;
        }
    }
    match module.function(FAR) {
        Some(f) if always => replace_calls(module, f, |ir, _| Ok(ir.int32(u32::MAX))),
        _ => identity(module),
    }
}

fn identity(module: Module) -> Result<()> {
    match module.function(FAR) {
        Some(f) => replace_calls(module, f, |_, c| Ok(argument(c, 0))),
        None => Ok(()),
    }
}
