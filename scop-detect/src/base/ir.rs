//! The little that detection asks of single values and blocks.
//!
//! Invariant: every handle here is a live value, type or block of the function under analysis. Detection
//! never changes IR, so a handle stays valid for as long as the analyses do.

use inkwell::llvm_sys::LLVMTypeKind;
pub(crate) use inkwell::llvm_sys::{
    LLVMIntPredicate as Pred, LLVMOpcode as Op, LLVMRealPredicate as RealPred,
};
pub(crate) use pollyrs_llvm_shim::ir::{Block, Type, Value};
use pollyrs_scop::{ElemType, UpdateOp, ValueHandle};

/// The instructions of a block, in order.
pub(crate) fn instructions(b: Block) -> Vec<Value> {
    b.instructions()
}

pub(crate) fn terminator(b: Block) -> Option<Value> {
    b.terminator()
}

pub(crate) fn successors(b: Block) -> Vec<Block> {
    b.successors()
}

/// The condition of a conditional branch.
pub(crate) fn branch_condition(b: Block) -> Option<Value> {
    b.terminator().filter(|t| t.is_conditional()).map(Value::condition)
}

/// `None` for what is no instruction.
pub(crate) fn opcode(v: Value) -> Option<Op> {
    v.is_instruction().then(|| v.opcode())
}

/// The block of an instruction.
pub(crate) fn parent(v: Value) -> Option<Block> {
    v.parent()
}

pub(crate) fn operand(v: Value, i: u32) -> Value {
    v.operand(i)
}

pub(crate) fn operands(v: Value) -> Vec<Value> {
    v.operands()
}

/// Whether `v` is a sum or difference that is poison where it would wrap as a signed number.
pub(crate) fn is_sum_without_wrap(v: Value) -> bool {
    matches!(opcode(v), Some(Op::LLVMAdd | Op::LLVMSub)) && v.no_wrap().0
}

/// The arguments of a call.
pub(crate) fn call_args(v: Value) -> Vec<Value> {
    v.arguments()
}

/// Incoming values and blocks of a PHI.
pub(crate) fn incoming(phi: Value) -> Vec<(Value, Block)> {
    phi.incoming()
}

/// The instructions that use `v`, each with the block in which the value is needed (a PHI needs it at the end
/// of the incoming block).
pub(crate) fn uses(v: Value) -> Vec<(Value, Block)> {
    let mut out = Vec::new();
    for user in v.users() {
        if opcode(user) == Some(Op::LLVMPHI) {
            out.extend(incoming(user).into_iter().filter(|(x, _)| *x == v).map(|(_, b)| (user, b)));
        } else if let Some(b) = parent(user) {
            out.push((user, b));
        }
    }
    out
}

pub(crate) fn is_constant(v: Value) -> bool {
    v.is_constant()
}

/// The signed value of an integer constant of at most 64 bits.
pub(crate) fn constant_int(v: Value) -> Option<i64> {
    v.constant_int()
}

/// A literal number: an integer or floating-point constant (`poison` and `undef` included), no address.
pub(crate) fn is_literal(v: Value) -> bool {
    v.is_constant_int() || v.is_constant_real() || v.is_undef()
}

pub(crate) fn is_null_or_undef(v: Value) -> bool {
    v.is_null() || v.is_undef()
}

/// Whether a value is some number that nobody chose.
pub(crate) fn is_undefined(v: Value) -> bool {
    v.is_undef()
}

pub(crate) fn type_of(v: Value) -> Type {
    v.ty()
}

/// Width of an integer value.
pub(crate) fn int_bits(v: Value) -> Option<u32> {
    v.ty().int_width()
}

/// The element type that holds values of type `t` in memory.
pub(crate) fn elem_type(t: Type) -> Option<ElemType> {
    Some(match t.kind() {
        LLVMTypeKind::LLVMHalfTypeKind => ElemType::F16,
        LLVMTypeKind::LLVMBFloatTypeKind => ElemType::BF16,
        LLVMTypeKind::LLVMFloatTypeKind => ElemType::F32,
        LLVMTypeKind::LLVMDoubleTypeKind => ElemType::F64,
        _ => ElemType::Int(t.int_width().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?),
    })
}

/// Whether kernels can compute with values of `v`'s type.
pub(crate) fn computable(v: Value) -> bool {
    elem_type(type_of(v)).is_some() || int_bits(v).is_some_and(|b| b <= 64)
}

pub(crate) fn is_pointer(v: Value) -> bool {
    v.ty().is_pointer()
}

/// Of a pointer.
pub(crate) fn address_space(v: Value) -> u32 {
    v.ty().address_space().unwrap_or(0)
}

pub(crate) fn is_void(v: Value) -> bool {
    v.ty().kind() == LLVMTypeKind::LLVMVoidTypeKind
}

pub(crate) fn type_text(t: Type) -> String {
    t.text()
}

/// The position of an argument in its function's parameter list.
pub(crate) fn argument_index(v: Value) -> Option<u32> {
    v.argument_index()
}

/// The name of a value; empty where it has none.
pub(crate) fn name(v: Value) -> String {
    v.name()
}

/// A load or store that is neither volatile nor atomic.
pub(crate) fn is_simple_access(v: Value) -> bool {
    v.is_simple_access()
}

/// The address of a load or store.
pub(crate) fn address(v: Value) -> Option<Value> {
    v.accessed()
}

/// Whether a store stands for one that the program executes under a condition on data.
pub(crate) fn is_conditional_store(v: Value) -> bool {
    v.is_store() && v.has_metadata_of(pollyrs_llvm_shim::CONDITIONAL)
}

/// Whether an access of a flattened branch keeps a minimum, a maximum or its place: a store of one of two
/// values, or a load that need not have been there.
pub(crate) fn is_kept(v: Value) -> bool {
    address(v).is_some() && v.has_metadata_of(pollyrs_llvm_shim::KEPT)
}

/// Whether it extends by zeros a value that is poison if it is negative (`zext nneg`).
pub(crate) fn is_extension_of_natural(v: Value) -> bool {
    v.is_instruction() && v.is_zext() && v.is_of_natural()
}

/// Whether an address is that of a member of a structure.
pub(crate) fn is_member(mut pointer: Value) -> bool {
    while opcode(pointer) == Some(Op::LLVMGetElementPtr) {
        if pointer.source_type().kind() == LLVMTypeKind::LLVMStructTypeKind {
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
        let of_bytes = pointer.source_type().int_width() == Some(8) && pointer.operand_count() == 2;
        match constant_int(operand(pointer, 1)).and_then(|n| bytes.checked_add(n)) {
            Some(all) if of_bytes => bytes = all,
            _ => break,
        }
        pointer = operand(pointer, 0);
    }
    (pointer, bytes)
}

/// Whether a value is a load with what its place held before the loop ([`pollyrs_llvm_shim::INVARIANT`]).
pub(crate) fn is_invariant_load(v: Value) -> bool {
    opcode(v) == Some(Op::LLVMSelect) && v.has_metadata_of(pollyrs_llvm_shim::INVARIANT)
}

/// Whether a value is a load that the model knows by another value.
pub(crate) fn is_known_load(v: Value) -> bool {
    is_invariant_load(v) || opcode(v) == Some(Op::LLVMSelect) && v.has_metadata_of(pollyrs_llvm_shim::ROW)
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
    v.call_attribute(pollyrs_llvm_shim::ERRNO).is_some()
}

/// The type a load or store moves.
pub(crate) fn accessed_type(v: Value) -> Type {
    if opcode(v) == Some(Op::LLVMStore) { type_of(operand(v, 0)) } else { type_of(v) }
}

pub(crate) fn icmp_predicate(v: Value) -> Pred {
    v.icmp_predicate()
}

/// The function a call names, if it is direct.
pub(crate) fn callee(call: Value) -> Option<Value> {
    Some(call.callee()).filter(|f| f.is_function())
}

/// What a call that is not inlined calls in the end, if that is why; nothing if that is since its loop goes
/// from record to record.
pub(crate) fn leads_to(call: Value) -> Option<String> {
    let node = call.metadata(call.context().kind(pollyrs_llvm_shim::LASTING))?;
    node.node_operands().into_iter().flatten().next()?.node_text()
}

pub(crate) fn is_inline_asm(call: Value) -> bool {
    call.callee().is_inline_asm()
}

/// `memory(none)`: the call reads and writes nothing, `errno` included.
pub(crate) fn accesses_no_memory(call: Value) -> bool {
    call.promise("memory") == Some(0)
}

/// Whether a function's body is elsewhere.
pub(crate) fn is_declaration(f: Value) -> bool {
    f.is_declaration()
}

/// The call has no effect but its result: no memory, no exception, and it returns.
pub(crate) fn is_pure_call(call: Value) -> bool {
    accesses_no_memory(call) && call.promise("nounwind").is_some() && call.promise("willreturn").is_some()
}

pub(crate) fn is_intrinsic(call: Value) -> bool {
    callee(call).is_some_and(|f| f.intrinsic() != 0)
}

/// The constant sizes of the inner dimensions that the array types on the way to `pointer` name, outermost
/// first.
pub(crate) fn constant_sizes(pointer: Value) -> Option<Vec<i64>> {
    if opcode(pointer) != Some(Op::LLVMGetElementPtr) {
        let all = array_sizes(pointer.is_variable().then(|| pointer.value_type())?);
        return (all.len() > 1).then(|| all[1..].to_vec());
    }
    let own = array_sizes(pointer.source_type());
    let leading_zero = pointer.index_count() > 1 && constant_int(operand(pointer, 1)) == Some(0);
    let outer = constant_sizes(operand(pointer, 0));
    let mine = if leading_zero { own.get(1..).unwrap_or(&[]).to_vec() } else { own };
    match outer {
        Some(o) if o.len() >= mine.len() => Some(o),
        _ => (!mine.is_empty()).then_some(mine),
    }
}

fn array_sizes(mut t: Type) -> Vec<i64> {
    let mut v = Vec::new();
    while let Some((element, count)) = t.array_parts() {
        v.push(i64::try_from(count).unwrap_or(0));
        t = element;
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
    v.fast_math_flags()
}

pub(crate) fn fcmp_predicate(v: Value) -> RealPred {
    v.fcmp_predicate()
}

/// The constant that changes nothing, of the type of `v`.
pub(crate) fn identity(op: UpdateOp, v: Value) -> Value {
    let ty = type_of(v);
    let bits = int_bits(v).unwrap_or(64).min(64);
    match op {
        UpdateOp::Add | UpdateOp::Or | UpdateOp::Xor | UpdateOp::UMax => ty.int(0, false),
        UpdateOp::And | UpdateOp::UMin => ty.all_ones(),
        UpdateOp::SMax => ty.int(1 << (bits - 1), false),
        UpdateOp::SMin => ty.int((1 << (bits - 1)) - 1, false),
        UpdateOp::FAdd => ty.real(-0.0),
    }
}

pub(crate) fn handle(v: Value) -> ValueHandle {
    // SAFETY: a value of the function that is looked at, which the SCoP is about.
    unsafe { ValueHandle::new(v.address()) }
}

pub(crate) fn handle_of_block(b: Block) -> ValueHandle {
    // SAFETY: as above, a block.
    unsafe { ValueHandle::new(b.address()) }
}

/// What a handle of the SCoP stands for.
pub(crate) fn value(handle: ValueHandle) -> Value {
    // SAFETY: a handle of a SCoP under construction is one of the function that is looked at.
    unsafe { Value::new(handle.address() as *mut _) }
}
