//! Accesses: arrays and their shapes, subscripts that data chooses, what the host looks at before.

pub(crate) mod accesses;
pub(crate) mod appends;
pub(crate) mod choices;
pub(crate) mod counted;
pub(crate) mod counts;
pub(crate) mod data_accesses;
pub(crate) mod data_subscripts;
pub(crate) mod extents;
pub(crate) mod fields;
pub(crate) mod in_place;
pub(crate) mod inspect;
pub(crate) mod ordinals;
pub(crate) mod parts;
pub(crate) mod promises;
pub(crate) mod raw;
pub(crate) mod roundings;
pub(crate) mod scatters;
pub(crate) mod strides;
pub(crate) mod subscripts;
pub(crate) mod updates;
