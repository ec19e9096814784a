//! Index polynomials to array shapes, subscripts and assumptions
