//! What a refusal names: the variable or array in the source that is in the way.

use crate::base::fail::Fail;
use crate::base::ir::{self, Block, Op, Value};
use pollyrs_llvm_shim::{Analyses, LoopId, source_name};
use pollyrs_scop::RejectReason;

/// How far a value is followed to what has a name.
const TO_A_NAME: usize = 4;

/// How deep a condition is searched.
const DEPTH: u32 = 6;

/// Why a value of type `ty` at `v` stays on the host: with the variable that has it, or the array that it is
/// stored to.
pub(crate) fn type_reason(ty: ir::Type, v: Value) -> RejectReason {
    let mut object = if ir::is_void(v) { ir::address(v).and_then(source_name) } else { source_name(v) };
    let mut at = v;
    for _ in 0..TO_A_NAME {
        let Some((user, _)) = ir::uses(at).first().copied().filter(|_| object.is_none()) else { break };
        object = match ir::opcode(user) {
            Some(Op::LLVMStore) => ir::address(user).and_then(source_name),
            _ => source_name(user),
        };
        at = user;
    }
    // Variables inside of a library tell a user nothing.
    let object = object.filter(|name| !name.starts_with('_') && name != "this");
    let object = match (finds_arguments(v), object) {
        (true, Some(list)) => Some(format!("the arguments behind '...' ({list})")),
        (true, None) => Some("the arguments behind '...'".to_owned()),
        (false, object) => object,
    };
    RejectReason::Type { ty: ir::type_text(ty), object }
}

/// Whether a value is an address of one of the arguments that a function has behind its `...`: it comes from
/// what `va_start` prepares, which is a local variable.
fn finds_arguments(v: Value) -> bool {
    let prepared = |place: Value| {
        ir::opcode(place) == Some(Op::LLVMAlloca)
            && ir::uses(place).into_iter().any(|(user, _)| {
                ir::opcode(user) == Some(Op::LLVMCall)
                    && ir::callee(user).is_some_and(|f| ir::name(f).starts_with("llvm.va_start"))
            })
    };
    let mut values = vec![v];
    for _ in 0..TO_A_NAME {
        values = values.into_iter().filter(|v| ir::opcode(*v).is_some()).flat_map(ir::operands).collect();
        if values.iter().any(|v| prepared(*v)) {
            return true;
        }
    }
    false
}

/// Blocks behind a loop that are searched for a throw.
const BLOCKS_TO_A_THROW: usize = 8;

/// Where a loop throws an exception: in one of its blocks, or on a way out of it that does not come back.
pub(crate) fn throws(an: &Analyses<'_>, l: LoopId) -> Option<Value> {
    let data = &an.loops()[l.0];
    let thrown = |b: &Block| {
        ir::instructions(*b).into_iter().find(|v| {
            let calls = matches!(ir::opcode(*v), Some(Op::LLVMCall | Op::LLVMInvoke));
            calls && ir::callee(*v).is_some_and(|f| THROWING.iter().any(|t| ir::name(f).starts_with(t)))
        })
    };
    data.blocks.iter().find_map(thrown).or_else(|| {
        let outside = |b: &Block| ir::successors(*b).into_iter().find(|s| !data.blocks.contains(s));
        data.blocks.iter().filter_map(outside).find_map(|first| {
            let mut at = Some(first);
            for _ in 0..BLOCKS_TO_A_THROW {
                let block = at?;
                if let Some(found) = thrown(&block) {
                    return Some(found);
                }
                at = ir::successors(block).first().copied();
            }
            None
        })
    })
}

/// Beginnings of names of functions by which C++ throws: an exception of the program's own, and those of the
/// library.
const THROWING: [&str; 3] = ["__cxa_allocate_exception", "__cxa_throw", "_ZSt"];

/// Why a loop that ends at several places stays on the host: at the first exit that depends on what the loop
/// loads or calls. `block` is to blame.
pub(crate) fn several_exits(an: &Analyses<'_>, l: LoopId, block: Block) -> Fail {
    let data = &an.loops()[l.0];
    let early = data.exiting.iter().find_map(|b| {
        let name = loaded(ir::branch_condition(*b)?, &data.blocks, DEPTH)?;
        Some((ir::terminator(*b)?, name))
    });
    match early {
        Some((at, name)) => {
            let reason = RejectReason::LoopExits { blocker: Some(name) };
            Fail { block: Some(block), ..Fail::at(reason, at) }
        }
        None => Fail::new(RejectReason::LoopExits { blocker: None }, block),
    }
}

/// What the source calls the memory or function that a value in `blocks` comes from.
fn loaded(v: Value, blocks: &[Block], depth: u32) -> Option<String> {
    ir::parent(v).filter(|b| blocks.contains(b))?;
    match ir::opcode(v)? {
        Op::LLVMLoad => source_name(v),
        Op::LLVMCall if !ir::is_intrinsic(v) => {
            ir::callee(v).map(|f| format!("the result of {}", ir::name(f)))
        }
        Op::LLVMPHI => None,
        _ => ir::operands(v).into_iter().find_map(|o| loaded(o, blocks, depth.checked_sub(1)?)),
    }
}
