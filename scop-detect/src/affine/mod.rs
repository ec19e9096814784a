//! Scalar evolution as affine functions and polynomials of parameters and counters.

pub(crate) mod any_numbers;
pub(crate) mod arithmetic;
pub(crate) mod conditions;
pub(crate) mod distances;
pub(crate) mod loop_ends;
pub(crate) mod named_sizes;
pub(crate) mod pitches;
pub(crate) mod polynomials;
pub(crate) mod ranges;
pub(crate) mod remainders;
pub(crate) mod scev_affine;
pub(crate) mod selects;
pub(crate) mod spans;
pub(crate) mod wraps;
