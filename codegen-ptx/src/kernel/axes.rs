//! Which of a block's three axes each of its dimensions lies along.

use crate::ir::error::{Result, internal};
use crate::ir::intrinsics::THREAD_ID;
use pollyrs_schedule::MappedKernel;

/// The axis (0 for x) of each block dimension, the last first: those of one thread have none, unless all are.
/// The threads of a team lie along x, ahead of all.
pub(crate) fn axes(kernel: &MappedKernel) -> Result<Vec<Option<usize>>> {
    let single = kernel.block.iter().all(|b| b.size <= 1);
    let first = usize::from(kernel.team() > 1);
    let mut next = first;
    let mut out = Vec::new();
    for b in kernel.block.iter().rev() {
        let axis = (b.size > 1 || single && next == first).then_some(next);
        next += usize::from(axis.is_some());
        out.push(axis);
    }
    if next > THREAD_ID.len() {
        return internal(format!("{} has more than three block dimensions", kernel.name));
    }
    out.reverse();
    Ok(out)
}

/// The axis along which threads for the same points lie: the first that no block dimension has.
pub(crate) fn helper_axis(kernel: &MappedKernel) -> Result<usize> {
    Ok(axes(kernel)?.iter().flatten().count() + usize::from(kernel.team() > 1))
}
