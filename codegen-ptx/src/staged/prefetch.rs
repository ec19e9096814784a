//! The cache lines of a block's next stage, asked for while it computes the one before.
//!
//! Where a block has a multiprocessor to itself, nothing else hides what a stage waits for when it fills its
//! windows. Part of what it loads is written by the stage before, so no copy can run ahead; but the lines can
//! come to the second-level cache. If the next stage is full, all elements of its windows exist, so that each
//! address is one of the array.
//! ```text
//! if (full(p + 1)) for q in _t, _t + threads, .. { row = q / lines; prefetch(&A[lower(p + 1) + row][128 (q mod lines)]) }
//! ```

use crate::affine::expr;
use crate::affine::expr::ExprEmitter;
use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::PREFETCH;
use crate::ir::llvm::*;
use crate::staged::state::KernelBuilder;
use crate::staged::window;
use inkwell::llvm_sys::LLVMIntPredicate::LLVMIntSLT;

/// Bytes of a cache line.
const LINE: i64 = 128;
/// Requests of a thread at most: they take the slots of other instructions.
const MOST: i64 = 4;

/// Emits the requests for the stage behind the full one `p`.
pub(crate) fn cache_lines(
    k: &mut KernelBuilder<'_>,
    function: Value,
    emit: &ExprEmitter<'_>,
    p: &[Value],
) -> Result<()> {
    let (ir, kernel) = (k.ir, k.kernel());
    let Some((last, outer)) = p.split_last() else { return Ok(()) };
    let mut emit = emit.clone();
    let next = [outer, &[ir.add(*last, ir.int(1))]].concat();
    let Some(full) = window::is_full(kernel, &mut emit, &next)? else { return Ok(()) };
    let (then, after) = (ir.append_block(function, "prefetch"), ir.append_block(function, "asked"));
    ir.cond_br(full, then, after);
    ir.at_end(then);
    // The thread's number in the block.
    let (mut thread, mut threads) = (ir.int(0), 1);
    for b in &kernel.block {
        let Some(v) = emit.names.get(&b.param).copied() else {
            return internal("a thread without a coordinate");
        };
        thread = ir.add(ir.mul(thread, ir.int(i64::from(b.size))), v);
        threads *= i64::from(b.size);
    }
    let request = k.module.declare(PREFETCH, ir.void_type().function(&[ir.ptr_type()]));
    for w in kernel.windows() {
        let bytes = i64::from(k.scop.array(w.array).elem.bytes());
        let Some((length, outer)) = w.size.split_last() else { continue };
        let span = i64::from(*length) * bytes;
        let lines = (span + LINE - 1) / LINE + 1;
        let all = outer.iter().map(|s| i64::from(*s)).product::<i64>() * lines;
        let turns = (all + threads - 1) / threads;
        let Some(base) = k.arrays.get(&w.array).copied().filter(|_| turns <= MOST) else { continue };
        let mut lower = Vec::new();
        for l in &w.lower {
            let l = expr::parameterize(l)?;
            lower.push(emit.emit_int(&expr::pw_aff_expr(&l, None)?)?);
        }
        for turn in 0..turns {
            let number = ir.add(thread, ir.int(turn * threads));
            // Those behind the last one ask for it again.
            let number = ir.select(ir.icmp(LLVMIntSLT, number, ir.int(all)), number, ir.int(all - 1));
            let (mut row, line) = (ir.udiv(number, ir.int(lines)), ir.urem(number, ir.int(lines)));
            let mut subscripts = lower.clone();
            for (d, size) in outer.iter().enumerate().rev() {
                let size = ir.int(i64::from(*size));
                subscripts[d] = ir.add(subscripts[d], ir.urem(row, size));
                row = ir.udiv(row, size);
            }
            let mut element = ir.int(0);
            for (d, s) in subscripts.iter().enumerate() {
                if d > 0 {
                    let size = k.size(w.array, d)?;
                    element = ir.mul(element, size);
                }
                element = ir.add(element, *s);
            }
            let along = ir.smin(ir.mul(line, ir.int(LINE)), ir.int(span - bytes));
            let offset = ir.add(ir.mul(element, ir.int(bytes)), along);
            ir.call_function(request, &[ir.byte_offset(base, offset)]);
        }
    }
    ir.br(after);
    ir.at_end(after);
    Ok(())
}
