//! What a thread keeps of a carried update ([`pollyrs_schedule::Carried`]) between its steps: slots, which
//! are registers once the optimizer has seen them.

use crate::ir::llvm::Value;

/// Times of elements in a word of 32 bits, a byte each.
pub(crate) const IN_WORD: usize = 4;

/// What a thread has of a carried update, between its steps.
#[derive(Clone)]
pub(crate) struct Registers {
    /// The values of elements, by row and column of the thread.
    pub values: Vec<Vec<Value>>,
    /// By column: a bit for each time at which one of its elements is stored, from the first one on.
    pub stored: Vec<Value>,
    /// By column: the time at which each of its elements is stored, likewise, in words of [`IN_WORD`] rows.
    pub last: Vec<Vec<Value>>,
    /// How many rows and columns the thread's first ones are from the tile's corner.
    pub ahead: [Value; 2],
    /// Where the first element is at home, in bytes of shared memory, and where the first ones of operands
    /// are at the time that comes next.
    pub home: Value,
    pub operands: Vec<Value>,
}
