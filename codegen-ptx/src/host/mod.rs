//! The host's side: checks, ranges, descriptors, launches around the original region.

pub(crate) mod abi;
pub(crate) mod checks;
pub(crate) mod descriptor;
pub(crate) mod emit;
pub(crate) mod inspect;
pub(crate) mod launch;
mod numbers;
pub(crate) mod part;
pub(crate) mod plan;
pub(crate) mod product_range;
pub(crate) mod ranges;
pub(crate) mod residency;
pub(crate) mod slice;
pub(crate) mod small;
pub(crate) mod stencil;
pub(crate) mod stencil_parts;
pub(crate) mod stencil_rows;
pub(crate) mod why;
