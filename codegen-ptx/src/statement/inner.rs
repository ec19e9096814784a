//! What subscripts depend on besides the iteration: counters of the subregion's loops, and integers that data
//! chooses.

use crate::affine::expr::iterator_name;
use crate::ir::error::{Result, internal};
use crate::ir::llvm::*;
use crate::kernel::builder::KernelBuilder;
use crate::kernel::storage::Storage;
use crate::statement::emit::{Instance, resolve};
use pollyrs_scop::Access;

/// Gives the dimensions beyond the statement's own their values.
pub(super) fn name<'k, S: Storage<'k>>(
    k: &mut KernelBuilder<'k, S>,
    n: &mut Instance<'_>,
    a: &Access,
) -> Result<()> {
    let Some(w) = &a.within else { return Ok(()) };
    let mut inner = Vec::new();
    for c in &w.counters {
        let Some(v) = n.counters.get(c) else {
            return internal("a subscript needs a loop that is not around it");
        };
        inner.push(*v);
    }
    for c in &w.values {
        let v = resolve(k, n, host_value(c.value))?;
        inner.push(match v.ty().int_width() {
            Some(64) => v,
            Some(_) if c.unsigned => k.ir.zext(v, k.ir.i64_type()),
            Some(_) => k.ir.sext(v, k.ir.i64_type()),
            None => return internal("a subscript that is not an integer"),
        });
    }
    for (d, v) in inner.into_iter().enumerate() {
        n.emit.names.insert(iterator_name((n.plan.dims + d) as u32), v);
    }
    Ok(())
}
