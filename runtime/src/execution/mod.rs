//! One execution of a versioned SCoP: begin, launches, end.
//!
//! ```text
//! begin     choice, room, placed                what refuses comes first; arrays are placed and copied in
//! launch    overlap, divided                    slices beside copies; parts for several devices
//! end       checks, faults, compare, late       results come back, or the original loop runs
//! ```
//! `run` and `array` are what an execution consists of; `ranks` is what several of them agree on.
//!
//! Invariants:
//!
//! * host memory is only written in [`Run::end`], by results ([`crate::device::results`]), and by what an
//!   execution displaces from a hold ([`crate::activation`]): results of earlier ones, complete since then;
//! * host memory is written before everything has succeeded only where the original loop would write all of
//!   it again ([`overlap`]);
//! * results of arrays that are held stay on the device; an error of a launch that may have changed what only
//!   the device has ends the program, since nothing can restore it. Where an execution may turn out not to
//!   count for what the data are, a copy can;
//! * whatever happens, dropping the run waits for the device and frees what it holds, or leaves both to the
//!   hold.
//!
//! Example: `A[i] = A[i-1]` for `i` in `5 .. 10` on doubles touches `A[4] .. A[9]` and writes `A[5] .. A[9]`:
//! `start = &A[4]`, `bytes = 48`, `bias = -32`, `out_offset = 8`, `out_bytes = 40`. The device gets 48 bytes
//! at some `d` with `d = start (mod 16)`, the kernel's argument is `d - 32`, and 40 bytes come back from
//! `d + 8` to `start + 8`.

mod array;
mod begin;
mod checks;
mod choice;
mod compare;
mod divided;
mod end;
mod faults;
pub mod late;
mod launch;
mod overlap;
mod placed;
mod ranks;
mod room;
mod run;

pub use begin::begin;
pub use run::Run;
