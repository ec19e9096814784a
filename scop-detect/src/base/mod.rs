//! The state of an attempt, and what all stages ask of LLVM's IR.

pub(crate) mod addresses;
pub(crate) mod blame;
pub(crate) mod builder;
pub(crate) mod cfg;
pub(crate) mod detection;
pub(crate) mod fail;
pub(crate) mod flow;
pub(crate) mod found;
pub(crate) mod halves;
pub(crate) mod instructions;
pub(crate) mod invariant_loads;
pub(crate) mod ir;
pub(crate) mod naming;
pub(crate) mod options;
pub(crate) mod place;
pub(crate) mod region;
pub(crate) mod scalars;
pub(crate) mod tried;
