//! Temporal blocking of iterative stencils: several time steps a launch, by overlapped tiles that are
//! streamed through.
//!
//! ```text
//! Scop, Dependences ─recognise→ Stencil ─plan→ StencilPlan ─check→ violations ─(codegen)→ one fused kernel
//! ```
//! The method is that of Matsumura et al. (AN5D, CGO 2020) and Zhang et al. (EBISU, ICS 2023): a block owns a
//! tile, reads it with a halo, computes all fused steps on tiles that shrink by the radius at each step, and
//! walks along the outermost space dimension; the rows that later steps still need stay in registers,
//! neighbouring columns come through shared memory.
//!
//! # What is a stencil here
//! A SCoP whose instances are *steps*: with time `t` and statement `k`, all instances `S_k[t, x]` read only
//! what earlier statements wrote (or nobody), and write one element of each of some buffers. A statement with
//! several writes is several steps that read the same versions. Recognition looks at access relations; that
//! the program's order gives every read the value that this order of statements gives it is proved by
//! comparing the exact flow dependences ([`check::same_flow`]), and that steps, boxes and offsets say what
//! the SCoP's domains and relations do is proved by [`readings`]. The spelling of the loops does not matter.
//!
//! A time loop beside other loops is a stencil by itself ([`has_member`]); the SCoP is divided there.
//!
//! A *buffer* is an array, or the part of an array with fixed leading subscripts that depend on `t` modulo a
//! small period only (`A[t % 2][i][j]`). Each step writes it on a box; the *hull* of these boxes is what a
//! launch hands on, elements outside of it never change. A step whose box is smaller than the hull is
//! *partial* and keeps the other elements; one whose box is a single row, column or point (a boundary) is
//! *thin*. A step may write every other element of its box only ([`Lattice`]); it is partial, too. Loops over
//! colours are unfolded before that ([`unfold()`]). A read may have a [`Case`] for each such boundary:
//! clamped and mirrored neighbours. A buffer is *live* if some step of a period reads or keeps its elements
//! before a step of the same period wrote all of it: the only ones that a launch hands to the next.
//!
//! # How it runs
//! The first launches fuse `G` time iterations each: they read live buffers from one copy and write them to
//! the other, never the same. The last launches fuse a period each, and are *complete*: they write the
//! buffers that are not live as well, so all arrays get their final values. What is less than a period runs
//! as the ordinary mapping has it.
//!
//! # Example
//! ```c
//! for (int t = 0; t < T; t++) {
//!   for (int i = 1; i < n - 1; i++) B[i] = f(A[i-1], A[i], A[i+1]);   // step 0: reads A at -1, 0, 1; writes B
//!   for (int i = 1; i < n - 1; i++) A[i] = B[i];                      // step 1: reads B at 0; writes A
//! }
//! ```
//! Period 1, buffers A and B with the box `1 .. n-2`, A is live, B is not.

mod alone;
mod cases;
pub mod check;
pub mod cost;
mod functions;
mod lattice;
mod member;
mod model;
pub mod plan;
mod reach;
mod readings;
mod recognise;
mod unfold;
mod versions;

pub use alone::better_alone;
pub use check::{Violation, check};
pub use lattice::Lattice;
pub use member::has_member;
pub use model::{Buffer, Case, NotStencil, Stencil, Step, StepAccess, instances};
pub use plan::{Config, Exchange, StencilPlan, Wish, plans};
pub use recognise::recognise;
pub use unfold::unfold;
pub use versions::{Node, NodeRead};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod unfold_tests;
