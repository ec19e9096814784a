//! Stores to global memory of values that are in a window as well ([`crate::staged::window`]).
//!
//! Most values of a full stage stay in the window: which instances need no store is a condition
//! ([`pollyrs_schedule::Window::passing`]). Most of its inequalities are about the stage's steps, hence
//! numbers once the steps are unrolled; what is left is the same for all points of a thread's column. So the
//! stores of a group wait for its end, those with one condition behind one branch.
//! ```text
//! group       v0 = ..; v1 = ..; window[..] = v0; window[..] = v1;
//! its end     if (_t1 < 3 or _t1 > 120) { to = &A[s0][s1]; *to = v0; to += n; *to = v1 }
//! ```
//! An address is computed once in each such list: the others are a number of rows, columns, ... away from the
//! one before.
//!
//! # Invariant
//! A store waits only from the block that the second half of its group begins in, which is then the block
//! that its end is in, or one ahead of it with nothing but such branches between.

use crate::affine::expr::{Conditions, ExprEmitter};
use crate::affine::sums::Sum;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::ir::types::llvm_elem;
use crate::kernel::storage::Stored;
use crate::staged::state::KernelBuilder;
use pollyrs_scop::{ArrayId, StmtId};

/// Stores that wait for the end of their group, by the condition under which they are not needed, in the
/// order in which these were met.
#[derive(Default)]
pub(crate) struct Stores(Vec<(Conditions, Vec<Waiting>)>);

struct Waiting {
    array: ArrayId,
    subscripts: Vec<Sum>,
    value: Value,
    align: u32,
    what: String,
}

/// The last address of a list.
struct Cursor {
    array: ArrayId,
    subscripts: Vec<Sum>,
    at: Value,
}

/// Stores a value of a window to the array, unless its instance of the statement needs none; perhaps only at
/// the end of the group.
pub(crate) fn from_window(
    k: &mut KernelBuilder<'_>,
    emit: &ExprEmitter<'_>,
    (array, id): (ArrayId, StmtId),
    subscripts: &[Value],
    stored: Stored<'_>,
) -> Result<()> {
    let Stored { value, align, what } = stored;
    let spared = k.storage.windows.passing.as_ref().and_then(|p| p.get(&(array, id))).cloned();
    let unneeded = match &spared {
        Some(set) => emit.sums_of_set(set)?,
        None => Some(Conditions::never()),
    };
    if unneeded.as_ref().is_some_and(|c| c.constant() == Some(true)) {
        return Ok(());
    }
    let sums: Vec<_> = subscripts.iter().map(|s| emit.sum_of(*s)).collect();
    let waiting = Waiting { array, subscripts: sums, value, align, what: what.to_owned() };
    let here = k.ir.block();
    if let Some(batch) = &mut k.storage.windows.batch
        && batch.begin == Some(here)
        && let Some(unneeded) = &unneeded
    {
        let lists = &mut batch.stores.0;
        match lists.iter_mut().find(|(c, _)| c == unneeded) {
            Some((_, list)) => list.push(waiting),
            None => lists.push((unneeded.clone(), vec![waiting])),
        }
        return Ok(());
    }
    let condition = match (&unneeded, &spared) {
        (Some(c), _) => emit.emit_conditions(c),
        (None, Some(set)) => emit.emit_set(set)?,
        (None, None) => k.ir.bool(false),
    };
    list(k, spared.is_some().then_some(condition), &[waiting])
}

/// Emits what waits.
pub(crate) fn emit(k: &mut KernelBuilder<'_>, stores: &Stores) -> Result<()> {
    for (unneeded, waiting) in &stores.0 {
        let condition = match unneeded.constant() {
            Some(_) => None,
            None => Some(k.emit.emit_conditions(unneeded)),
        };
        list(k, condition, waiting)?;
    }
    Ok(())
}

/// Emits a list of stores, behind a branch where they might be unneeded.
fn list(k: &mut KernelBuilder<'_>, unneeded: Option<Value>, waiting: &[Waiting]) -> Result<()> {
    let after = unneeded.map(|c| k.unless(c));
    let sizes = k.sizes.clone();
    let mut cursor = None;
    for w in waiting {
        if after.is_some() && cursor.is_none() {
            forget_sizes(k, w.array)?;
        }
        let next = address(k, w, cursor)?;
        k.ir.note(&w.what, &k.scop.array(w.array).display);
        k.ir.store_aligned(w.value, next.at, w.align);
        cursor = Some(next);
    }
    if let Some(after) = after {
        k.sizes = sizes;
        k.ir.br(after);
        k.ir.at_end(after);
    }
    Ok(())
}

/// Few points of a full stage store, so that nothing of their addresses is worth computing ahead: from here
/// on the sizes of an array are unknown.
fn forget_sizes(k: &mut KernelBuilder<'_>, array: ArrayId) -> Result<()> {
    for d in 1..k.scop.array(array).dims() {
        let size = k.size(array, d)?;
        let size = k.opaque(size);
        k.sizes.insert((array, d), size);
    }
    Ok(())
}

/// The address of an element: from the last one where that is a known number of rows and elements away.
fn address(k: &mut KernelBuilder<'_>, w: &Waiting, last: Option<Cursor>) -> Result<Cursor> {
    let array = w.array;
    let elem = llvm_elem(k.ir, k.scop.array(array).elem);
    let away = last.filter(|l| l.array == array).and_then(|l| {
        let by = |(new, old): (&Sum, &Sum)| new.clone().plus(old, -1).constant();
        let away: Option<Vec<_>> = w.subscripts.iter().zip(&l.subscripts).map(by).collect();
        Some((l.at, away?))
    });
    let at = match away {
        Some((from, away)) => {
            let away = linear(k, array, &away.iter().map(|n| k.ir.int(*n)).collect::<Vec<_>>())?;
            k.ir.element(elem, from, away)
        }
        None => {
            let Some(base) = k.arrays.get(&array).copied() else {
                return internal(format!("{} is not an array of the kernel", k.scop.array(array).name));
            };
            // Numbers last: so neighbours share the rest.
            let (terms, numbers): (Vec<_>, Vec<_>) =
                w.subscripts.iter().map(|s| s.emit(k.ir)).map(|(t, n)| (t, k.ir.int(n))).unzip();
            let (near, far) = (linear(k, array, &terms)?, linear(k, array, &numbers)?);
            k.ir.element(elem, k.ir.element(elem, base, near), far)
        }
    };
    Ok(Cursor { array, subscripts: w.subscripts.clone(), at })
}

/// Row-major: `((s0 * size1) + s1) * size2 + s2`.
fn linear(k: &mut KernelBuilder<'_>, array: ArrayId, subscripts: &[Value]) -> Result<Value> {
    let mut sum = k.ir.int(0);
    for (d, s) in subscripts.iter().enumerate() {
        if d > 0 {
            let size = k.size(array, d)?;
            sum = k.ir.mul(sum, size);
        }
        sum = k.ir.add(sum, *s);
    }
    Ok(sum)
}
