//! Kernels in which a thread computes a block of points side by side ([`Tiling`]).
//!
//! The code follows the AST of the tiling's schedule, whose loops and conditions are the same for all points:
//! a statement is emitted once for each point of the thread, a copy once for the block.
//! ```text
//! v[p] = min(tile b + vector (t + threads (p / vector)) + p mod vector, max)
//! register[p] = A[cell(v[p])]                    all points
//! for k0 by strip
//!   _copy0(k0): loads; barrier; stores to shared memory; barrier
//!   for k: S(v[p], k)                            all points, reading registers and shared memory
//! A[cell(v[p])] = register[p]                    points inside the box
//! ```
//!
//! # Invariants
//! - Barriers are reached by all threads: nothing around them depends on the thread, see [`emit`].
//! - A point outside the box computes with zeros, or repeats a point of the box where a division might trap,
//!   in its own registers, and reads elements that the launch reads: copies clamp subscripts. Its registers
//!   are not stored.
//! - Where a tile's points run what only some of them have, a guard decides: as a branch, or by keeping the
//!   old value of the register where all that the statement reads is in registers and buffers ([`guard`]).
//! - Threads that only help to copy ([`Tiling::helpers`]) skip everything else, and reach the same barriers.
//! - The cells of a point are elements of small arrays with constant index, which the optimizer turns into
//!   registers.

mod cells;
mod chunks;
mod copy;
pub(crate) mod emit;
pub(crate) mod guard;
mod lanes;
mod pipeline;
mod places;
mod prefetch;
pub(crate) mod product;
mod slide;
mod stages;
pub(crate) mod state;
mod storage;
mod walk;
mod words;
