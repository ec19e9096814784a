//! What a kernel is, and the state while one is built. How elements are stored is a parameter of that state
//! ([`storage`]).

pub(crate) mod axes;
pub(crate) mod builder;
pub(crate) mod division;
pub(crate) mod grid;
pub(crate) mod module;
pub(crate) mod plan;
pub(crate) mod storage;
