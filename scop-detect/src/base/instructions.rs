//! Which instructions a region may hold, and which of them a kernel can execute.
//!
//! Two questions: [`check_effects`] looks at *every* instruction of the region, as its effect must be
//! modelled or absent; [`check_body`] only at those that a statement needs.

use crate::base::blame::type_reason;
use crate::base::fail::Fail;
use crate::base::ir::{self, Op, Value};
use pollyrs_llvm_shim::ir::FUNCTION;
use pollyrs_llvm_shim::{CHECK, CHECK_RETURN, source_name};
use pollyrs_scop::{CALLS_ITSELF, Order, RejectReason};

/// Intrinsics without a meaning for the computation.
const IGNORED: [&str; 9] = [
    "llvm.assume",
    "llvm.lifetime.",
    "llvm.dbg.",
    "llvm.experimental.noalias.scope.decl",
    "llvm.donothing",
    "llvm.sideeffect",
    "llvm.pseudoprobe",
    "llvm.invariant.start",
    "llvm.invariant.end",
];

/// Intrinsics that kernels compute, without the type suffix.
const MATH_INTRINSICS: &[&str] = &[
    "fma",
    "fmuladd",
    "sqrt",
    "fabs",
    "minnum",
    "maxnum",
    "minimum",
    "maximum",
    "smin",
    "smax",
    "umin",
    "umax",
    "abs",
    "ctpop",
    "ctlz",
    "cttz",
    "bswap",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "nearbyint",
    "roundeven",
    "copysign",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "pow",
    "powi",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "ldexp",
    "fshl",
    "fshr",
    "canonicalize",
    "exp10",
    "tanh",
    "sadd.sat",
    "ssub.sat",
    "uadd.sat",
    "usub.sat",
    "sshl.sat",
    "ushl.sat",
    "bitreverse",
    "scmp",
    "ucmp",
    "fptosi.sat",
    "fptoui.sat",
    "is.fpclass",
    "maximumnum",
    "minimumnum",
    "llrint",
    "llround",
    "lrint",
    "lround",
];

/// Functions of the C library that kernels compute; with the suffix `f` for float.
const MATH_FUNCTIONS: [&str; 43] = [
    "sqrt",
    "fabs",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "pow",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "cbrt",
    "hypot",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "fmin",
    "fmax",
    "fmod",
    "erf",
    "erfc",
    "exp10",
    "fdim",
    "ldexp",
    "remainder",
    "llrint",
    "llround",
    "lrint",
    "lround",
];

/// Whether the call may be dropped from every kernel.
pub(crate) fn is_ignored(call: Value) -> bool {
    ir::callee(call)
        .is_some_and(|f| ir::is_intrinsic(call) && IGNORED.iter().any(|i| ir::name(f).starts_with(i)))
}

/// Whether the call stands for a branch to an error block.
pub(crate) fn is_check(v: Value) -> bool {
    ir::opcode(v) == Some(Op::LLVMCall)
        && ir::callee(v).is_some_and(|f| [CHECK, CHECK_RETURN].contains(&ir::name(f).as_str()))
}

fn is_math(call: Value) -> bool {
    let Some(f) = ir::callee(call) else { return false };
    let name = ir::name(f);
    if ir::is_intrinsic(call) {
        let stem = name.trim_start_matches("llvm.");
        let typed = |base: &&str| {
            stem.strip_prefix(*base).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        return MATH_INTRINSICS.iter().any(typed);
    }
    // A function of the program may have such a name, too.
    is_math_function(&name) && ir::is_declaration(f) && ir::accesses_no_memory(call)
}

fn is_math_function(name: &str) -> bool {
    MATH_FUNCTIONS.contains(&name) || name.strip_suffix('f').is_some_and(|n| MATH_FUNCTIONS.contains(&n))
}

pub(crate) fn call_reason(call: Value) -> RejectReason {
    if ir::is_inline_asm(call) {
        return RejectReason::InlineAssembly;
    }
    let own = |f: Value| !ir::is_declaration(f);
    // What divides loops by the rows of tables has put it there.
    if ir::callee(call).is_some_and(ir::looks_at_rows) {
        return RejectReason::NestedTables { table: source_name(ir::operand(call, 0)) };
    }
    if let Some(f) = ir::callee(call).filter(|f| !own(*f) && changes_nothing(call, *f)) {
        // What LLVM makes of a comparison with memcmp.
        let name = Some(ir::name(f)).filter(|n| n != "bcmp");
        return RejectReason::ElsewhereCall { callee: name.unwrap_or_else(|| "memcmp".to_owned()) };
    }
    let callee = match ir::callee(call).map(ir::name) {
        Some(n)
            if ir::callee(call).is_some_and(|f| own(f) && f.attribute(FUNCTION, "noinline").is_some()) =>
        {
            format!("{n} (marked not to be inlined)")
        }
        Some(n) if ir::callee(call).is_some_and(calls_itself) => format!("{n}{CALLS_ITSELF}"),
        Some(n) if is_math_function(&n) && !ir::callee(call).is_some_and(own) => {
            format!("{n} (it may set errno; compile with -fno-math-errno)")
        }
        Some(n) => match ir::leads_to(call).as_deref() {
            Some("") => format!("{n} for each record of a list"),
            Some(other) => format!("{n}, which calls {other},"),
            None => n,
        },
        None => match ir::operands(call).last().copied().and_then(source_name) {
            Some(name) if is_virtual(call) => format!("a virtual function ({name})"),
            None if is_virtual(call) => "a virtual function".to_string(),
            Some(name) => format!("a function pointer ({name})"),
            None => "a function pointer".to_string(),
        },
    };
    RejectReason::Call { callee }
}

/// Whether a function of this module is a recursion: nothing inlines all of it.
fn calls_itself(f: Value) -> bool {
    !ir::is_declaration(f)
        && f.blocks()
            .into_iter()
            .flat_map(ir::instructions)
            .any(|i| matches!(ir::opcode(i), Some(Op::LLVMCall | Op::LLVMInvoke)) && ir::callee(i) == Some(f))
}

/// Functions of the C library that compare and search memory; what they return depends on that alone.
const SEARCHES: [&str; 22] = [
    "bcmp",
    "memchr",
    "memcmp",
    "memmem",
    "memrchr",
    "strcasecmp",
    "strchr",
    "strcmp",
    "strcspn",
    "strlen",
    "strncasecmp",
    "strncmp",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "wcschr",
    "wcscmp",
    "wcslen",
    "wmemchr",
    "wmemcmp",
];

/// Whether a call does nothing but compute its result from its arguments and memory: the function is known
/// to, or is declared so (`__attribute__((pure))`).
fn changes_nothing(call: Value, f: Value) -> bool {
    // Two bits for each kind of memory: that it is read, and that it is written.
    const WRITES: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let declared = call.promise("memory").is_some_and(|effects| effects & WRITES == 0);
    declared && call.promise("nounwind").is_some() || SEARCHES.contains(&ir::name(f).as_str())
}

/// Whether what is called comes from a table that its first argument points to, as C++ finds virtual
/// functions.
fn is_virtual(call: Value) -> bool {
    let loaded = |v: Value| (ir::opcode(v) == Some(Op::LLVMLoad)).then(|| ir::operand(v, 0));
    let Some(mut slot) = ir::operands(call).last().copied().and_then(loaded) else { return false };
    while ir::opcode(slot) == Some(Op::LLVMGetElementPtr) {
        slot = ir::operand(slot, 0);
    }
    loaded(slot).is_some_and(|object| ir::operands(call).len() > 1 && object == ir::operand(call, 0))
}

/// Why a block that ends with `t`, which is no branch, stays on the host.
pub(crate) fn terminator_reason(t: Value) -> RejectReason {
    let opcode = ir::opcode(t);
    let callee = (opcode == Some(Op::LLVMInvoke)).then(|| ir::callee(t).map(ir::name)).flatten();
    RejectReason::Terminator { opcode: opcode.map(ir::opcode_text).unwrap_or_default(), callee }
}

/// Refuses what has an effect that the model lacks.
pub(crate) fn check_effects(v: Value) -> Result<(), Fail> {
    use Op::*;
    let Some(op) = ir::opcode(v) else { return Ok(()) };
    match op {
        LLVMLoad | LLVMStore if !ir::is_simple_access(v) => {
            let order = if v.is_volatile() { Order::Volatile } else { Order::Atomic };
            Err(Fail::at(
                RejectReason::OrderedAccess { order, object: ir::address(v).and_then(source_name) },
                v,
            ))
        }
        LLVMStore if ir::elem_type(ir::accessed_type(v)).is_none() => {
            // The call for which something is put together says more.
            let call = |c: &Value| ir::opcode(*c) == Some(LLVMCall);
            let behind = ir::parent(v).map(ir::instructions).unwrap_or_default();
            behind.into_iter().filter(call).try_for_each(check_effects)?;
            Err(Fail::at(type_reason(ir::accessed_type(v), v), v))
        }
        LLVMFence => Err(Fail::at(RejectReason::OrderedAccess { order: Order::Fence, object: None }, v)),
        LLVMAtomicCmpXchg | LLVMAtomicRMW => {
            let object = source_name(ir::operand(v, 0));
            Err(Fail::at(RejectReason::OrderedAccess { order: Order::Atomic, object }, v))
        }
        LLVMCall if !is_ignored(v) && !is_check(v) && !is_math(v) && !ir::is_pure_call(v) => {
            Err(Fail::at(call_reason(v), v))
        }
        LLVMVAArg | LLVMLandingPad | LLVMCatchPad | LLVMCleanupPad => {
            Err(Fail::at(RejectReason::Instruction { opcode: ir::opcode_text(op) }, v))
        }
        LLVMBr => Ok(()),
        LLVMSwitch | LLVMIndirectBr | LLVMInvoke | LLVMUnreachable | LLVMCallBr | LLVMRet | LLVMResume
        | LLVMCleanupRet | LLVMCatchRet | LLVMCatchSwitch => Err(Fail::at(terminator_reason(v), v)),
        _ => Ok(()),
    }
}

/// Refuses what a kernel cannot execute. Loads are checked with their addresses elsewhere; PHIs are no
/// instructions of bodies.
pub(crate) fn check_body(v: Value) -> Result<(), Fail> {
    use Op::*;
    let Some(op) = ir::opcode(v) else { return Ok(()) };
    let fine = match op {
        LLVMFNeg | LLVMAdd | LLVMFAdd | LLVMSub | LLVMFSub | LLVMMul | LLVMFMul | LLVMUDiv | LLVMSDiv
        | LLVMFDiv | LLVMURem | LLVMSRem | LLVMFRem | LLVMShl | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr
        | LLVMXor | LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP
        | LLVMFPTrunc | LLVMFPExt | LLVMBitCast | LLVMICmp | LLVMFCmp | LLVMSelect | LLVMFreeze
        | LLVMLoad => true,
        LLVMCall if is_math(v) => true,
        LLVMCall => return Err(Fail::at(call_reason(v), v)),
        _ => false,
    };
    if !fine {
        return Err(Fail::at(RejectReason::Instruction { opcode: ir::opcode_text(op) }, v));
    }
    let memory = op == LLVMLoad;
    if !ir::computable(v) || (memory && ir::elem_type(ir::type_of(v)).is_none()) {
        return Err(Fail::at(type_reason(ir::type_of(v), v), v));
    }
    Ok(())
}

/// The values a body instruction computes from.
pub(crate) fn inputs(v: Value) -> Vec<Value> {
    match ir::opcode(v) {
        Some(Op::LLVMLoad) => Vec::new(),
        Some(Op::LLVMCall) => ir::call_args(v),
        // A load that is known by another value: nothing is loaded.
        Some(Op::LLVMSelect) if ir::is_known_load(v) => vec![ir::operand(v, 1)],
        _ => ir::operands(v),
    }
}

/// Too expensive to be computed again for each iteration of inner loops.
pub(crate) fn is_expensive(v: Value) -> bool {
    matches!(
        ir::opcode(v),
        Some(
            Op::LLVMCall
                | Op::LLVMFDiv
                | Op::LLVMFRem
                | Op::LLVMSDiv
                | Op::LLVMUDiv
                | Op::LLVMSRem
                | Op::LLVMURem
        )
    )
}
