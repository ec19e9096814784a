//! Block indices divided by the extents of a grid, by a multiplication.
//!
//! Every thread of a grid of several dimensions takes the index of its block apart. A division of integers is
//! some thirty instructions on a device, as many as a thread with one or two points has besides. The host
//! knows the divisor, and passes a factor.
//!
//! # Argument
//! `0 <= n < 2^31` (a grid has fewer blocks), `1 <= d < 2^31`, and `M = ceil(2^63 / d)`, so that
//! `M d = 2^63 + e` with `0 <= e < d`. Then `n M / 2^63 = n/d + n e / (2^63 d)`, and the latter is less than
//! `n / 2^63`, which is less than `1/d`: the floors of `n M / 2^63` and of `n / d` are the same (Granlund and
//! Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994). The product is that of `2 n`,
//! which has 32 bits, with both words of `M`.

use crate::ir::builder::Ir;
use crate::ir::llvm::*;
use inkwell::llvm_sys::LLVMOpcode::LLVMLShr;

/// On the host: the factor for a divisor below `2^31`; of one below 1, which nobody divides by, any.
pub(crate) fn factor(ir: &Ir, divisor: Value) -> Value {
    let divisor = ir.smax(divisor, ir.int(1));
    ir.add(ir.udiv(ir.int(i64::MAX), divisor), ir.int(1))
}

/// In a kernel: quotient and remainder of `n`, an `i64` of a block's index, by `divisor`.
pub(crate) fn divided(ir: &Ir, n: Value, divisor: Value, factor: Value) -> [Value; 2] {
    let (word, wide) = (ir.i32_type(), ir.i64_type());
    let narrow = |v| ir.trunc(v, word);
    let upper = |v| ir.binary(LLVMLShr, v, ir.int(32));
    let product = |a, b| ir.mul(ir.zext(a, wide), ir.zext(b, wide));
    let small = narrow(n);
    let twice = ir.mul(small, ir.int32(2));
    let carried = upper(product(twice, narrow(factor)));
    let quotient = narrow(upper(ir.add(product(twice, narrow(upper(factor))), carried)));
    let remainder = ir.sub(small, ir.mul(quotient, narrow(divisor)));
    [quotient, remainder].map(|v| ir.zext(v, wide))
}

#[cfg(test)]
mod tests {
    /// The arithmetic of [`super::factor`] and [`super::divided`].
    fn quotient(n: u32, d: u32) -> u32 {
        let factor = (i64::MAX as u64 / u64::from(d)).wrapping_add(1);
        let twice = u64::from(n.wrapping_mul(2));
        let carried = (twice * (factor & 0xffff_ffff)) >> 32;
        ((twice * (factor >> 32) + carried) >> 32) as u32
    }

    #[test]
    fn quotients_are_those_of_integers() {
        let most = i32::MAX as u32;
        let near = |v: u32| (v.saturating_sub(2)..=v.saturating_add(2).min(most)).filter(|v| *v > 0);
        let mut divisors: Vec<u32> = (1..200).chain((0..31).flat_map(|b| near(1 << b))).collect();
        divisors.extend(near(most).chain([3_000_017, 46_341, 715_827_883]));
        for d in divisors {
            let multiples = [1, 2, 3, 1000, most / d / 2, most / d].map(|q| q.saturating_mul(d).min(most));
            for n in multiples.into_iter().flat_map(near).chain([0, most]) {
                assert_eq!(quotient(n, d), n / d, "{n} / {d}");
            }
        }
    }
}
