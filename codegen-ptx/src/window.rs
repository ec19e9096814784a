//! Windows of shared memory in the code of a kernel with steps ([`Window`]).
//!
//! Where a stage begins, `_enter(p)` computes for each window where the element with all subscripts zero would lie: from there on the place of an
//! element is a sum of subscripts times constants, so that those of neighbours differ by constants.
//! ```text
//! origin = shared + start - 4 (stride0 lower0(p) + stride1 lower1(p))
//! _in0(p, s0, s1)    origin[stride0 s0 + stride1 s1] = A[s0, s1]
//! S                  loads from origin[...]; stores to origin[...] and to A[...]
//! ```
//!
//! # Invariant
//! Code that uses a window follows, in a block of the AST or one around it, the `_enter` of its stage ([`scoped`] sees to it). The checker proves
//! that stages run one after the other, so this is also the last one that ran.

use crate::ast_expr::ExprEmitter;
use crate::error::{Result, internal};
use crate::kernel::{KernelBuilder, SHARED, llvm_elem};
use crate::tiled;
use inkwell::llvm_sys::prelude::*;
use pollyrs_isl as isl;
use pollyrs_schedule::{ENTER, MappedKernel, Window};
use pollyrs_scop::{ArrayId, Scop};

/// Alignment of windows, more than any element needs.
const ALIGN: u64 = 16;
/// The most shared memory of a block.
const MAX_BYTES: u64 = 227 * 1024;

/// The windows of a kernel while its code is emitted.
#[derive(Default)]
pub(crate) struct Windows {
    places: Vec<Place>,
    pub shared_bytes: u32,
}

struct Place {
    array: ArrayId,
    /// In shared memory, in bytes.
    start: u64,
    strides: Vec<u64>,
    /// The address of the element with all subscripts zero in the stage that is emitted.
    origin: Option<LLVMValueRef>,
}

impl Windows {
    pub fn new(scop: &Scop, kernel: &MappedKernel) -> Result<Windows> {
        let (mut places, mut end) = (Vec::new(), 0);
        for w in &kernel.windows {
            places.push(Place { array: w.array, start: end, strides: w.strides(), origin: None });
            let bytes = w.elements() * u64::from(scop.array(w.array).elem.bytes());
            end = (end + bytes).next_multiple_of(ALIGN);
        }
        if end > MAX_BYTES {
            return internal(format!("windows of {end} bytes"));
        }
        Ok(Windows { places, shared_bytes: end as u32 })
    }
}

/// The beginning of the stage `p`.
pub(crate) fn enter(k: &mut KernelBuilder<'_>, emit: &ExprEmitter<'_>, p: &[LLVMValueRef]) -> Result<()> {
    let ir = k.ir;
    let kernel = k.kernel;
    let mut emit = emit.clone();
    for (d, v) in p.iter().enumerate() {
        emit.names.insert(crate::ast_expr::iterator_name(d as u32), *v);
    }
    for (i, w) in kernel.windows.iter().enumerate() {
        let bytes = u64::from(k.scop.array(w.array).elem.bytes());
        let mut begin = ir.int(k.windows.places[i].start as i64);
        for (lower, stride) in w.lower.iter().zip(w.strides()) {
            let lower = crate::ast_expr::parameterize(lower)?;
            let lower = emit.emit_int(&crate::ast_expr::pw_aff_expr(&lower, None)?)?;
            begin = ir.sub(begin, ir.mul(lower, ir.int((stride * bytes) as i64)));
        }
        let shared = k.abstract_call(SHARED, ir.ptr_type());
        k.windows.places[i].origin = Some(ir.byte_offset(shared, begin));
    }
    Ok(())
}

/// The address of an element in its window; `None` if its array has none.
pub(crate) fn address(
    k: &KernelBuilder<'_>,
    array: ArrayId,
    subscripts: &[LLVMValueRef],
) -> Result<Option<LLVMValueRef>> {
    let Some(place) = k.windows.places.iter().find(|p| p.array == array) else { return Ok(None) };
    let Some(origin) = place.origin else { return internal("an access outside of its window's stage") };
    let ir = k.ir;
    let mut offset = ir.int(0);
    for (s, stride) in subscripts.iter().zip(&place.strides) {
        offset = ir.add(offset, ir.mul(*s, ir.int(*stride as i64)));
    }
    Ok(Some(ir.element(llvm_elem(ir, k.scop.array(array).elem), origin, offset)))
}

/// Emits the copy `name(p, s)` of an element; `false` if there is no window of this name.
pub(crate) fn copy(k: &mut KernelBuilder<'_>, name: &str, args: &[LLVMValueRef]) -> Result<bool> {
    let kernel = k.kernel;
    let Some(w) = kernel.windows.iter().find(|w| w.copy == name) else { return Ok(false) };
    let ir = k.ir;
    let Some(first) = args.len().checked_sub(w.size.len()) else {
        return internal("a copy with too few dimensions");
    };
    let subscripts = &args[first..];
    let array = k.scop.array(w.array);
    let (ty, align) = (llvm_elem(ir, array.elem), tiled::alignment(k, w.array));
    let Some(base) = k.arrays.get(&w.array).copied() else { return internal("a window without an array") };
    let mut offset = subscripts[0];
    for (d, s) in subscripts.iter().enumerate().skip(1) {
        let size = k.size(w.array, d)?;
        offset = ir.add(ir.mul(offset, size), *s);
    }
    let Some(to) = address(k, w.array, subscripts)? else { return internal("a copy without a window") };
    ir.note("a copy to shared memory", &array.display);
    let v = ir.load_aligned(ty, ir.element(ty, base, offset), align);
    ir.note("a copy to shared memory", &array.display);
    ir.store_aligned(v, to, array.elem.bytes());
    Ok(true)
}

/// Whether everything but barriers follows the beginning of its stage, which runs where it does; see the module documentation.
pub(crate) fn scoped(windows: &[Window], node: &isl::AstNode) -> Result<bool> {
    if windows.is_empty() {
        return Ok(true);
    }
    Ok(walk(node, false)?.is_some())
}

/// Whether a stage has begun behind the node, if it had `before` it; `None` if something runs outside of any.
fn walk(node: &isl::AstNode, before: bool) -> Result<Option<bool>> {
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => {
            let mut begun = before;
            for child in node.block_children()?.to_vec()? {
                match walk(&child, begun)? {
                    Some(now) => begun = now,
                    None => return Ok(None),
                }
            }
            Some(begun)
        }
        isl::AstNodeType::Mark => walk(&node.mark_node()?, before)?,
        isl::AstNodeType::User => {
            let name = node.user_expr()?.arg(0)?.id()?.name();
            if name == ENTER {
                Some(true)
            } else {
                (before || name == pollyrs_schedule::BARRIER).then_some(before)
            }
        }
        // What begins in a branch or a loop ends there.
        isl::AstNodeType::If => {
            let mut children = vec![node.if_then()?];
            if node.if_has_else()? {
                children.push(node.if_else()?);
            }
            ends(&children, before)?
        }
        isl::AstNodeType::For => ends(&[node.for_body()?], before)?,
    })
}

/// The same for children whose stages must not reach beyond them.
fn ends(children: &[isl::AstNode], before: bool) -> Result<Option<bool>> {
    for child in children {
        // A stage that begins inside of another one would leave what follows in the wrong one.
        if walk(child, before && !enters(child)?)?.is_none() {
            return Ok(None);
        }
    }
    let mut inner = false;
    for child in children {
        inner |= enters(child)?;
    }
    Ok(Some(before && !inner))
}

fn enters(node: &isl::AstNode) -> Result<bool> {
    Ok(match node.node_type()? {
        isl::AstNodeType::Block => {
            for child in node.block_children()?.to_vec()? {
                if enters(&child)? {
                    return Ok(true);
                }
            }
            false
        }
        isl::AstNodeType::Mark => enters(&node.mark_node()?)?,
        isl::AstNodeType::User => node.user_expr()?.arg(0)?.id()?.name() == ENTER,
        isl::AstNodeType::If => enters(&node.if_then()?)? || node.if_has_else()? && enters(&node.if_else()?)?,
        isl::AstNodeType::For => enters(&node.for_body()?)?,
    })
}
