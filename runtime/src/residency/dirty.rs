//! What the device wrote and the program's memory has not, and its way back.

use crate::base::abi::Array;
use crate::base::error::Result;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::Span;

/// Bytes that the device wrote.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dirty {
    /// The first byte's address in the program's memory.
    pub start: u64,
    pub bytes: u64,
    pub shape: Shape,
}

impl Dirty {
    /// What an execution writes of an array.
    pub fn of(array: &Array) -> Option<Dirty> {
        let (offset, bytes) = array.out_range()?;
        Some(Dirty { start: array.start as u64 + offset, bytes, shape: array.shape() })
    }

    pub fn span(&self) -> Span {
        (self.start, self.start + self.bytes)
    }
}

/// A result on its way back.
#[derive(Clone, Debug)]
pub struct Back<'a> {
    /// The device memory that it lies in, by its first address.
    pub memory: u64,
    /// How far into it.
    pub offset: u64,
    pub result: &'a Dirty,
    /// It comes back another time as well.
    pub again: bool,
    /// What comes back of a [`Shape::Changed`] is among these.
    pub rows: Option<Rows>,
}

/// Carries out what the books say. All of it takes effect in the order of the calls. `W` stands for the SCoP
/// that wrote.
pub trait Carrier<W> {
    /// Device memory for a range of the program's.
    fn allocate(&mut self, host: Span) -> Result<u64>;

    /// The memory, and a snapshot of it, is not needed any more.
    fn give_back(&mut self, memory: u64);

    /// From now on what is copied into the memory, of so many bytes, is kept beside it.
    fn snapshot(&mut self, memory: u64, bytes: u64) -> Result<()>;

    /// What was kept is not needed any more.
    fn forget_snapshot(&mut self, memory: u64);

    /// What kernels left here moves to another memory.
    fn move_to(&mut self, to: u64, from: u64, bytes: u64) -> Result<()>;

    /// What lies here is not what this thread would read any more.
    fn outdated(&mut self, device: u64, bytes: u64);

    /// Nobody wants what kernels wrote here.
    fn forsaken(&mut self, device: u64, bytes: u64);

    /// All that kernels wrote here is in place: the program may use it.
    fn settled(&mut self, device: u64, bytes: u64);

    /// Whether rows are copied faster than so many bytes.
    fn prefers(&self, rows: &Rows, bytes: u64) -> bool;

    /// Stores results to the program's memory, with one wait for all; what comes back again is what a
    /// snapshot has from now on. An error: nothing was stored.
    fn bring(&mut self, results: &[Back<'_>], writer: Option<W>) -> Result<()>;
}
