//! Regions to try, and the control flow in them: domains, subregions, errors.

pub(crate) mod candidates;
pub(crate) mod domains;
pub(crate) mod errors;
pub(crate) mod subregions;
pub(crate) mod versions;
