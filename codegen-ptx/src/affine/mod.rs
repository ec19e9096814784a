//! Affine expressions and isl's ASTs as code, for kernels and for the host.

pub(crate) mod barriers;
pub(crate) mod expr;
pub(crate) mod nodes;
pub(crate) mod sums;
pub(crate) mod unroll_jam;
pub(crate) mod walk;
