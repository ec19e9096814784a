//! Arrays that stay on the device: which bytes are where, as a state machine.
//!
//! **Problem.** Between the executions of an activation, results may stay on the device, arrays of several
//! shapes lie in one range of memory, ranges grow, results come back in parts, and activations lend each
//! other what they have. One byte that is believed to be where it is not is a wrong result far away.
//!
//! **Approach.** This module decides and keeps the books. It touches no memory and knows no device: a
//! [`Carrier`] carries the copies out. The library runs it ([`crate::activation`]), and so does [`explore`],
//! with bytes of a model in place of memory, in *all* sequences of events up to a depth, against a reference
//! that copies everything around each execution.
//!
//! What the compiler promises, for an array marked `HELD`: between a SCoP and the next release that names the
//! array's mask, this thread does not touch the array's memory, and does nothing that orders its accesses
//! with another thread's. What an execution promises: the bytes that it writes through one array are not
//! accessed through another one, but that one which is only read may be asked for what was there before the
//! execution ([`crate::base::abi`]).
//!
//! **Invariants** between executions (those that need no memory are checked by [`Residency::check`]; all of
//! them, byte for byte, by [`explore`]):
//!
//! * *valid*: a byte in `valid`, or in a row of `windows`, has on the device the value that this thread would
//!   read;
//! * *lent*: a byte that the device wrote and that did not come back yet is in `dirty`; nothing else is ever
//!   stored to the program's memory, so what other threads write between those bytes stays
//!   ([`crate::device::returned`]);
//! * *held*: what is in `dirty` is valid: whoever copies what is valid copies all that is dirty, and whoever
//!   copies in what is not valid copies over no result;
//! * *before*: with a `snapshot`, that holds what was copied in of every valid byte whose result does not
//!   come back as a whole anyway. It can't be refreshed without a copy, so it is dropped once results came
//!   back; valid bytes stay valid, and are copied in again only by who needs a snapshot. There are no
//!   `windows` beside it;
//! * *loose*: an entry whose range may reach into other objects is true of its own object's bytes alone, and
//!   has no results ([`loose`]);
//! * *apart*: entries don't overlap; an execution that touches memory of an entry in another way makes it
//!   come back first, or, if it only reads what another of its arrays writes, gets a copy
//!   ([`Place::Beside`]);
//! * *current*: the program's memory has what this thread would read, but for what is lent.
//!
//! Addresses stand for memory: no byte has two of them. Memory that does is not kept
//! ([`crate::memory::mappings`]).

mod dirty;
mod ended;
mod entry;
#[cfg(test)]
mod explore;
mod join;
mod known;
mod look;
pub mod loose;
pub mod masks;
mod parts;
mod place;
mod release;
mod windows;

pub use dirty::{Back, Carrier, Dirty};
pub use entry::{Residency, needs_snapshot};
pub use known::{Found, Question};
pub use look::Strip;
pub use parts::check_apart;
pub use place::Place;
pub use windows::Missing;
