//! Reading LLVM IR through the C API: the little that detection asks of single values and blocks.
//!
//! Invariant: every handle here is a live value, type or block of the function under analysis. Detection
//! never changes IR, so a handle stays valid for as long as the analyses do.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMTypeKind, LLVMValueKind};
use pollyrs_llvm_shim::{LLVMBasicBlockRef, LLVMTypeRef, LLVMValueRef};
use pollyrs_scop::{ElemType, UpdateOp, ValueHandle};

pub(crate) use inkwell::llvm_sys::{
    LLVMIntPredicate as Pred, LLVMOpcode as Op, LLVMRealPredicate as RealPred,
};

pub(crate) type Value = LLVMValueRef;
pub(crate) type Block = LLVMBasicBlockRef;

/// The instructions of a block, in order.
pub(crate) fn instructions(b: Block) -> Vec<Value> {
    let mut v = Vec::new();
    // SAFETY: live block; the chain ends with null.
    let mut i = unsafe { LLVMGetFirstInstruction(b) };
    while !i.is_null() {
        v.push(i);
        // SAFETY: live instruction.
        i = unsafe { LLVMGetNextInstruction(i) };
    }
    v
}

pub(crate) fn terminator(b: Block) -> Option<Value> {
    // SAFETY: live block.
    let t = unsafe { LLVMGetBasicBlockTerminator(b) };
    (!t.is_null()).then_some(t)
}

pub(crate) fn successors(b: Block) -> Vec<Block> {
    let Some(t) = terminator(b) else { return Vec::new() };
    // SAFETY: live terminator, index in range.
    unsafe { (0..LLVMGetNumSuccessors(t)).map(|i| LLVMGetSuccessor(t, i)).collect() }
}

/// The condition of a conditional branch.
pub(crate) fn branch_condition(b: Block) -> Option<Value> {
    let t = terminator(b)?;
    // SAFETY: `t` is a branch where it is asked whether it is conditional.
    unsafe { (opcode(t) == Some(Op::LLVMBr) && LLVMIsConditional(t) != 0).then(|| LLVMGetCondition(t)) }
}

/// `None` for what is no instruction.
pub(crate) fn opcode(v: Value) -> Option<Op> {
    // SAFETY: live value; asked only of instructions.
    unsafe { (!LLVMIsAInstruction(v).is_null()).then(|| LLVMGetInstructionOpcode(v)) }
}

/// The block of an instruction.
pub(crate) fn parent(v: Value) -> Option<Block> {
    opcode(v)?;
    // SAFETY: an instruction.
    Some(unsafe { LLVMGetInstructionParent(v) })
}

pub(crate) fn operand(v: Value, i: u32) -> Value {
    // SAFETY: callers know the opcode and so the number of operands.
    unsafe { LLVMGetOperand(v, i) }
}

pub(crate) fn operands(v: Value) -> Vec<Value> {
    // SAFETY: a live user; index in range.
    unsafe { (0..LLVMGetNumOperands(v).max(0) as u32).map(|i| LLVMGetOperand(v, i)).collect() }
}

/// Whether `v` is a sum or difference that is poison where it would wrap as a signed number.
pub(crate) fn is_sum_without_wrap(v: Value) -> bool {
    // SAFETY: a live instruction; the flag is asked of operations that have it.
    matches!(opcode(v), Some(Op::LLVMAdd | Op::LLVMSub)) && unsafe { LLVMGetNSW(v) != 0 }
}

/// The arguments of a call.
pub(crate) fn call_args(v: Value) -> Vec<Value> {
    // SAFETY: a call.
    unsafe { (0..LLVMGetNumArgOperands(v)).map(|i| LLVMGetOperand(v, i)).collect() }
}

/// Incoming values and blocks of a PHI.
pub(crate) fn incoming(phi: Value) -> Vec<(Value, Block)> {
    // SAFETY: a PHI; index in range.
    unsafe {
        (0..LLVMCountIncoming(phi))
            .map(|i| (LLVMGetIncomingValue(phi, i), LLVMGetIncomingBlock(phi, i)))
            .collect()
    }
}

/// The instructions that use `v`, each with the block in which the value is needed (a PHI needs it at the end
/// of the incoming block).
pub(crate) fn uses(v: Value) -> Vec<(Value, Block)> {
    let mut out = Vec::new();
    // SAFETY: live value; the chain ends with null.
    let mut u = unsafe { LLVMGetFirstUse(v) };
    while !u.is_null() {
        // SAFETY: live use.
        let user = unsafe { LLVMGetUser(u) };
        if opcode(user) == Some(Op::LLVMPHI) {
            out.extend(incoming(user).into_iter().filter(|(x, _)| *x == v).map(|(_, b)| (user, b)));
        } else if let Some(b) = parent(user) {
            out.push((user, b));
        }
        // SAFETY: live use.
        u = unsafe { LLVMGetNextUse(u) };
    }
    out
}

pub(crate) fn is_constant(v: Value) -> bool {
    // SAFETY: live value.
    unsafe { LLVMIsConstant(v) != 0 }
}

/// The signed value of an integer constant of at most 64 bits.
pub(crate) fn constant_int(v: Value) -> Option<i64> {
    // SAFETY: live value; read only where it is a ConstantInt that fits.
    unsafe {
        let is = LLVMGetValueKind(v) == LLVMValueKind::LLVMConstantIntValueKind;
        (is && int_bits(v)? <= 64).then(|| LLVMConstIntGetSExtValue(v))
    }
}

/// A literal number: an integer or floating-point constant (`poison` and `undef` included), no address.
pub(crate) fn is_literal(v: Value) -> bool {
    // SAFETY: live value.
    let kind = unsafe { LLVMGetValueKind(v) };
    matches!(
        kind,
        LLVMValueKind::LLVMConstantIntValueKind
            | LLVMValueKind::LLVMConstantFPValueKind
            | LLVMValueKind::LLVMUndefValueValueKind
            | LLVMValueKind::LLVMPoisonValueKind
    )
}

pub(crate) fn is_null_or_undef(v: Value) -> bool {
    let (null, undefined) = null_undefined(v);
    null || undefined
}

/// Whether a value is some number that nobody chose.
pub(crate) fn is_undefined(v: Value) -> bool {
    null_undefined(v).1
}

fn null_undefined(v: Value) -> (bool, bool) {
    // SAFETY: live value.
    unsafe { (LLVMIsNull(v) != 0, LLVMIsUndef(v) != 0) }
}

pub(crate) fn type_of(v: Value) -> LLVMTypeRef {
    // SAFETY: live value.
    unsafe { LLVMTypeOf(v) }
}

fn type_kind(t: LLVMTypeRef) -> LLVMTypeKind {
    // SAFETY: live type.
    unsafe { LLVMGetTypeKind(t) }
}

/// Width of an integer value.
pub(crate) fn int_bits(v: Value) -> Option<u32> {
    let t = type_of(v);
    // SAFETY: asked only of integer types.
    (type_kind(t) == LLVMTypeKind::LLVMIntegerTypeKind).then(|| unsafe { LLVMGetIntTypeWidth(t) })
}

/// The element type that holds values of type `t` in memory.
pub(crate) fn elem_type(t: LLVMTypeRef) -> Option<ElemType> {
    Some(match type_kind(t) {
        LLVMTypeKind::LLVMHalfTypeKind => ElemType::F16,
        LLVMTypeKind::LLVMBFloatTypeKind => ElemType::BF16,
        LLVMTypeKind::LLVMFloatTypeKind => ElemType::F32,
        LLVMTypeKind::LLVMDoubleTypeKind => ElemType::F64,
        LLVMTypeKind::LLVMIntegerTypeKind => {
            // SAFETY: an integer type.
            let bits = unsafe { LLVMGetIntTypeWidth(t) };
            if !matches!(bits, 8 | 16 | 32 | 64) {
                return None;
            }
            ElemType::Int(bits)
        }
        _ => return None,
    })
}

/// Whether kernels can compute with values of `v`'s type.
pub(crate) fn computable(v: Value) -> bool {
    elem_type(type_of(v)).is_some() || int_bits(v).is_some_and(|b| b <= 64)
}

pub(crate) fn is_pointer(v: Value) -> bool {
    type_kind(type_of(v)) == LLVMTypeKind::LLVMPointerTypeKind
}

/// Of a pointer.
pub(crate) fn address_space(v: Value) -> u32 {
    // SAFETY: the type of a live value, of which only pointers have address spaces.
    unsafe { if is_pointer(v) { LLVMGetPointerAddressSpace(type_of(v)) } else { 0 } }
}

pub(crate) fn is_void(v: Value) -> bool {
    type_kind(type_of(v)) == LLVMTypeKind::LLVMVoidTypeKind
}

pub(crate) fn type_text(t: LLVMTypeRef) -> String {
    // SAFETY: live type; the string is LLVM's and freed here after it was copied.
    unsafe {
        let raw = LLVMPrintTypeToString(t);
        let s = std::ffi::CStr::from_ptr(raw).to_string_lossy().into_owned();
        LLVMDisposeMessage(raw);
        s
    }
}

/// The position of an argument in its function's parameter list.
pub(crate) fn argument_index(v: Value) -> Option<u32> {
    // SAFETY: live value; the parent is asked only of an argument.
    unsafe {
        if LLVMIsAArgument(v).is_null() {
            return None;
        }
        let f = LLVMGetParamParent(v);
        (0..LLVMCountParams(f)).find(|i| LLVMGetParam(f, *i) == v)
    }
}

/// The name of a value; empty where it has none.
pub(crate) fn name(v: Value) -> String {
    let mut len = 0;
    // SAFETY: live value; the bytes belong to it and are copied at once.
    unsafe {
        let p = LLVMGetValueName2(v, &raw mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(p.cast::<u8>(), len)).into_owned()
    }
}

/// Neither volatile nor atomic.
pub(crate) fn is_simple_access(v: Value) -> bool {
    // SAFETY: a load or a store.
    unsafe {
        LLVMGetVolatile(v) == 0 && LLVMGetOrdering(v) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }
}

/// The address of a load or store.
pub(crate) fn address(v: Value) -> Option<Value> {
    match opcode(v)? {
        Op::LLVMLoad => Some(operand(v, 0)),
        Op::LLVMStore => Some(operand(v, 1)),
        _ => None,
    }
}

/// Whether a store stands for one that the program executes under a condition on data.
pub(crate) fn is_conditional_store(v: Value) -> bool {
    opcode(v) == Some(Op::LLVMStore) && has_metadata(v, pollyrs_llvm_shim::CONDITIONAL)
}

/// Whether an access of a flattened branch keeps a minimum, a maximum or its place: a store of one of two
/// values, or a load that need not have been there.
pub(crate) fn is_kept(v: Value) -> bool {
    address(v).is_some() && has_metadata(v, pollyrs_llvm_shim::KEPT)
}

/// Whether it extends by zeros a value that is poison if it is negative (`zext nneg`).
pub(crate) fn is_extension_of_natural(v: Value) -> bool {
    // SAFETY: an extension.
    opcode(v) == Some(Op::LLVMZExt) && unsafe { LLVMGetNNeg(v) != 0 }
}

/// Whether an address is that of a member of a structure.
pub(crate) fn is_member(mut pointer: Value) -> bool {
    while opcode(pointer) == Some(Op::LLVMGetElementPtr) {
        // SAFETY: a GEP.
        if type_kind(unsafe { LLVMGetGEPSourceElementType(pointer) }) == LLVMTypeKind::LLVMStructTypeKind {
            return true;
        }
        pointer = operand(pointer, 0);
    }
    false
}

/// The pointer and the bytes that an address is behind it, where they are a number.
pub(crate) fn base_and_bytes(mut pointer: Value) -> (Value, i64) {
    let mut bytes = 0i64;
    while opcode(pointer) == Some(Op::LLVMGetElementPtr) {
        // SAFETY: a GEP.
        let kind = unsafe { LLVMGetGEPSourceElementType(pointer) };
        let is_integer = type_kind(kind) == LLVMTypeKind::LLVMIntegerTypeKind;
        // SAFETY: a type of integers.
        let of_bytes =
            is_integer && unsafe { LLVMGetIntTypeWidth(kind) } == 8 && operands(pointer).len() == 2;
        match constant_int(operand(pointer, 1)).and_then(|n| bytes.checked_add(n)) {
            Some(all) if of_bytes => bytes = all,
            _ => break,
        }
        pointer = operand(pointer, 0);
    }
    (pointer, bytes)
}

/// Of an instruction.
fn has_metadata(v: Value, name: &str) -> bool {
    // SAFETY: a live instruction; the name lives through the call.
    unsafe {
        let ctx = LLVMGetTypeContext(LLVMTypeOf(v));
        let kind = LLVMGetMDKindIDInContext(ctx, name.as_ptr().cast(), name.len() as u32);
        !LLVMGetMetadata(v, kind).is_null()
    }
}

/// Whether a value is a load with what its place held before the loop ([`pollyrs_llvm_shim::INVARIANT`]).
pub(crate) fn is_invariant_load(v: Value) -> bool {
    opcode(v) == Some(Op::LLVMSelect) && has_metadata(v, pollyrs_llvm_shim::INVARIANT)
}

/// Whether a value is a load that the model knows by another value.
pub(crate) fn is_known_load(v: Value) -> bool {
    is_invariant_load(v) || opcode(v) == Some(Op::LLVMSelect) && has_metadata(v, pollyrs_llvm_shim::ROW)
}

/// Whether a function looks at tables of rows.
pub(crate) fn looks_at_rows(f: Value) -> bool {
    const NAMES: [&str; 6] = [
        "pollyrs_rt_rows",
        "pollyrs_rt_rows_anywhere",
        "pollyrs_rt_row_length",
        "pollyrs_rt_common_length",
        "pollyrs_rt_most",
        "pollyrs_rt_rows_leave",
    ];
    NAMES.contains(&name(f).as_str())
}

/// Whether a call may set `errno`, which the device reports as a fault ([`pollyrs_llvm_shim::ERRNO`]).
pub(crate) fn may_set_errno(v: Value) -> bool {
    const FUNCTION_INDEX: u32 = u32::MAX;
    const KEY: &str = pollyrs_llvm_shim::ERRNO;
    // SAFETY: attributes are asked of calls only; the name lives through the call.
    opcode(v) == Some(Op::LLVMCall)
        && unsafe {
            !LLVMGetCallSiteStringAttribute(v, FUNCTION_INDEX, KEY.as_ptr().cast(), KEY.len() as u32)
                .is_null()
        }
}

/// The type a load or store moves.
pub(crate) fn accessed_type(v: Value) -> LLVMTypeRef {
    if opcode(v) == Some(Op::LLVMStore) { type_of(operand(v, 0)) } else { type_of(v) }
}

pub(crate) fn icmp_predicate(v: Value) -> LLVMIntPredicate {
    // SAFETY: an `icmp`.
    unsafe { LLVMGetICmpPredicate(v) }
}

/// The function a call names, if it is direct.
pub(crate) fn callee(call: Value) -> Option<Value> {
    // SAFETY: a call.
    let f = unsafe { LLVMGetCalledValue(call) };
    // SAFETY: live value.
    (!f.is_null() && unsafe { !LLVMIsAFunction(f).is_null() }).then_some(f)
}

pub(crate) fn is_inline_asm(call: Value) -> bool {
    // SAFETY: a call.
    unsafe { !LLVMIsAInlineAsm(LLVMGetCalledValue(call)).is_null() }
}

fn attribute(call: Value, name: &str) -> Option<u64> {
    const FUNCTION_INDEX: u32 = u32::MAX;
    // SAFETY: a call; the name is not kept.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let mut a = LLVMGetCallSiteEnumAttribute(call, FUNCTION_INDEX, kind);
        if a.is_null() {
            a = LLVMGetEnumAttributeAtIndex(callee(call)?, FUNCTION_INDEX, kind);
        }
        (!a.is_null()).then(|| LLVMGetEnumAttributeValue(a))
    }
}

/// `memory(none)`: the call reads and writes nothing, `errno` included.
pub(crate) fn accesses_no_memory(call: Value) -> bool {
    attribute(call, "memory") == Some(0)
}

/// Whether a function's body is elsewhere.
pub(crate) fn is_declaration(f: Value) -> bool {
    // SAFETY: a function.
    unsafe { LLVMIsDeclaration(f) != 0 }
}

/// The call has no effect but its result: no memory, no exception, and it returns.
pub(crate) fn is_pure_call(call: Value) -> bool {
    accesses_no_memory(call)
        && attribute(call, "nounwind").is_some()
        && attribute(call, "willreturn").is_some()
}

pub(crate) fn is_intrinsic(call: Value) -> bool {
    // SAFETY: a function.
    callee(call).is_some_and(|f| unsafe { LLVMGetIntrinsicID(f) } != 0)
}

/// The constant sizes of the inner dimensions that the array types on the way to `pointer` name, outermost
/// first.
pub(crate) fn constant_sizes(pointer: Value) -> Option<Vec<i64>> {
    if opcode(pointer) != Some(Op::LLVMGetElementPtr) {
        // SAFETY: asked of global variables only.
        let t =
            unsafe { (!LLVMIsAGlobalVariable(pointer).is_null()).then(|| LLVMGlobalGetValueType(pointer)) };
        let all = array_sizes(t?);
        return (all.len() > 1).then(|| all[1..].to_vec());
    }
    // SAFETY: a GEP.
    let own = array_sizes(unsafe { LLVMGetGEPSourceElementType(pointer) });
    let indices = operands(pointer).len().saturating_sub(1);
    let leading_zero = indices > 1 && constant_int(operand(pointer, 1)) == Some(0);
    let outer = constant_sizes(operand(pointer, 0));
    let mine = if leading_zero { own.get(1..).unwrap_or(&[]).to_vec() } else { own };
    match outer {
        Some(o) if o.len() >= mine.len() => Some(o),
        _ => (!mine.is_empty()).then_some(mine),
    }
}

fn array_sizes(mut t: LLVMTypeRef) -> Vec<i64> {
    let mut v = Vec::new();
    while type_kind(t) == LLVMTypeKind::LLVMArrayTypeKind {
        // SAFETY: an array type.
        unsafe {
            v.push(i64::try_from(LLVMGetArrayLength2(t)).unwrap_or(0));
            t = LLVMGetElementType(t);
        }
    }
    v
}

/// An opcode's name in IR.
pub(crate) fn opcode_text(op: Op) -> String {
    format!("{op:?}").trim_start_matches("LLVM").to_lowercase()
}

/// Operands that are followed from a value for a message.
const MAX_FOLLOWED: usize = 64;

/// Whether a value is computed from itself, an iteration earlier.
pub(crate) fn comes_back(phi: Value) -> bool {
    let mut seen = Vec::new();
    let mut next: Vec<Value> = incoming(phi).into_iter().map(|(x, _)| x).collect();
    while let Some(x) = next.pop() {
        if x == phi {
            return true;
        }
        if !seen.contains(&x) && seen.len() < MAX_FOLLOWED && opcode(x).is_some() {
            seen.push(x);
            match opcode(x) {
                Some(Op::LLVMPHI) => next.extend(incoming(x).into_iter().map(|(y, _)| y)),
                _ => next.extend(operands(x)),
            }
        }
    }
    false
}

/// The fast-math flags of a value that may have some.
pub(crate) fn flags(v: Value) -> u32 {
    // SAFETY: a live value; asked for flags only if it may have them.
    unsafe { if LLVMCanValueUseFastMathFlags(v) != 0 { LLVMGetFastMathFlags(v) } else { 0 } }
}

pub(crate) fn fcmp_predicate(v: Value) -> RealPred {
    // SAFETY: an `fcmp`.
    unsafe { LLVMGetFCmpPredicate(v) }
}

/// The constant that changes nothing, of the type of `v`.
pub(crate) fn identity(op: UpdateOp, v: Value) -> Value {
    let ty = type_of(v);
    let bits = int_bits(v).unwrap_or(64).min(64);
    // SAFETY: constants of the value's type, an integer where the operation is one of integers.
    unsafe {
        match op {
            UpdateOp::Add | UpdateOp::Or | UpdateOp::Xor | UpdateOp::UMax => LLVMConstInt(ty, 0, 0),
            UpdateOp::And | UpdateOp::UMin => LLVMConstAllOnes(ty),
            UpdateOp::SMax => LLVMConstInt(ty, 1 << (bits - 1), 0),
            UpdateOp::SMin => LLVMConstInt(ty, (1 << (bits - 1)) - 1, 0),
            UpdateOp::FAdd => LLVMConstReal(ty, -0.0),
        }
    }
}

pub(crate) fn handle(v: Value) -> ValueHandle {
    // SAFETY: a value of the function that is looked at, which the SCoP is about.
    unsafe { ValueHandle::new(v as usize) }
}

pub(crate) fn handle_of_block(b: Block) -> ValueHandle {
    // SAFETY: as above, a block.
    unsafe { ValueHandle::new(b as usize) }
}
