//! What statements read and write.

use super::{ArrayId, ValueHandle};
use pollyrs_isl as isl;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    Read,
    MustWrite,
    MayWrite,
}

/// How an access shows in the statement's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessValue {
    /// This load or store of the body.
    Instruction(ValueHandle),
    /// Before the body, the cell is read; uses of this SSA value in the body mean what was read.
    ScalarRead(ValueHandle),
    /// After the body, this SSA value (of the body, synthesised, constant, or read) is written to the cell.
    ScalarWrite(ValueHandle),
}

/// One access of a statement.
#[derive(Clone, Debug)]
pub struct Access {
    pub kind: AccessKind,
    pub array: ArrayId,
    /// `[params] -> { Stmt[i...] -> Array[subscripts...] }`, single-valued, not restricted to the domain.
    /// Piecewise where the subscripts are.
    pub relation: isl::Map,
    pub value: AccessValue,
    /// Every instance of the statement touches its elements. Not so where control flow inside the statement
    /// decides.
    pub certain: bool,
    /// For accesses of the statement's [`Subregion`](super::Subregion), and those whose subscripts depend on
    /// data: which element one execution of the instruction touches. `relation` holds all that the instance
    /// may touch and need not be single-valued nor total.
    pub within: Option<Within>,
    /// `[params] -> { Stmt[i...] -> place[p...] }`, where data chooses the element and an inspection or a
    /// count ([`Append`](super::Append)) proves that different places have different elements: two accesses
    /// of the array meet only where their places do. All accesses of the array have one then.
    pub place: Option<isl::Map>,
}

impl Access {
    /// An access of straight-line code.
    pub fn new(kind: AccessKind, array: ArrayId, relation: isl::Map, value: AccessValue) -> Access {
        Access {
            kind,
            array,
            relation,
            value,
            certain: kind != AccessKind::MayWrite,
            within: None,
            place: None,
        }
    }
}

/// The element that an instruction touches in one iteration of the subregion's loops around it, for the
/// values that choose it.
#[derive(Clone, Debug)]
pub struct Within {
    /// Indices into [`Subregion::loops`](super::Subregion::loops), outermost first; each counts from 0 by 1.
    pub counters: Vec<usize>,
    /// Values of the statement that choose the element.
    pub values: Vec<DataSubscript>,
    /// `[params] -> { Stmt[i..., counters..., values...] -> Array[subscripts...] }`, single-valued and total.
    pub relation: isl::Map,
}

impl Within {
    /// Whether an instance touches one element at most, known before it runs.
    pub fn is_function(&self) -> bool {
        self.counters.is_empty() && self.values.is_empty()
    }
}

/// An integer that the statement computes, reads or is given, and that a subscript depends on: `in[i]` of
/// `table[in[i]]`. What values it may have is part of [`Access::relation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSubscript {
    pub value: ValueHandle,
    /// Read as an unsigned number.
    pub unsigned: bool,
}
