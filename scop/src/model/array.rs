//! The arrays of a SCoP: memory, and the cells of scalars.

use super::ValueHandle;
use pollyrs_isl as isl;
use std::fmt;

/// The type of an array's elements. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElemType {
    F16,
    BF16,
    F32,
    F64,
    /// An integer of 8, 16, 32 or 64 bits.
    Int(u32),
}

impl ElemType {
    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            ElemType::F16 | ElemType::BF16 => 2,
            ElemType::F32 => 4,
            ElemType::F64 => 8,
            ElemType::Int(bits) => bits / 8,
        }
    }
}

impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElemType::F16 => f.write_str("half"),
            ElemType::BF16 => f.write_str("bfloat"),
            ElemType::F32 => f.write_str("float"),
            ElemType::F64 => f.write_str("double"),
            ElemType::Int(bits) => write!(f, "i{bits}"),
        }
    }
}

/// What an array stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayKind {
    /// Memory of the program; the element with all subscripts zero is at the address `base`, a pointer that
    /// does not change while the SCoP runs, plus [`Array::shift`].
    Memory { base: ValueHandle },
    /// An SSA value that lives across statements, one cell for each iteration of the loops common to its
    /// definition and all its uses. It exists on the device only.
    Scalar { value: ValueHandle, live_out: bool },
    /// A PHI node: written by the statements it joins, read by its own. As `Scalar` otherwise.
    Phi { phi: ValueHandle, live_out: bool },
    /// A cell that a kernel sets where the program would do what the model lacks (set `errno`): then the
    /// execution on the device does not count, nothing comes back, and the original runs. No statement
    /// accesses it.
    ///
    /// `leaves`: that may also be the program's end, or a jump out of the loops, in any iteration. No access
    /// is certain then: what follows the iteration runs on the device alone.
    Fault { leaves: bool },
}

/// An array: `dims` dimensions, outermost first.
#[derive(Clone, Debug)]
pub struct Array {
    /// isl's tuple name.
    pub name: String,
    /// The source's name for it.
    pub display: String,
    pub elem: ElemType,
    /// Size of each dimension in elements, functions on the parameter space
    /// `[params] -> { [...] }`. `None` where no size is
    /// needed to compute an address (the outermost dimension of memory).
    pub sizes: Vec<Option<isl::PwAff>>,
    pub kind: ArrayKind,
    /// Of memory: the bytes from its base to the element with all subscripts zero, a function on the
    /// parameter space; `None` is 0. Several arrays in one allocation have one base and different shifts.
    pub shift: Option<isl::PwAff>,
    /// Of memory that is only read: for which parameters, `[params] -> { : ... }`, each subscript stays
    /// inside its row. Elsewhere rows overlap: two elements may be one place, and what comes first in the
    /// order of subscripts need not in memory; a larger subscript is a later place all the same. `None`:
    /// rows never overlap.
    pub apart: Option<isl::Set>,
}

impl Array {
    /// Number of dimensions; 0 for a scalar cell.
    pub fn dims(&self) -> usize {
        self.sizes.len()
    }

    pub fn is_memory(&self) -> bool {
        matches!(self.kind, ArrayKind::Memory { .. })
    }

    /// Whether both are memory from the same address on, with elements as wide. (Members of a structure may
    /// be arrays of two widths.)
    pub fn same_place(&self, other: &Array) -> isl::Result<bool> {
        Ok(self.is_memory()
            && self.kind == other.kind
            && self.elem.bytes() == other.elem.bytes()
            && match (&self.shift, &other.shift) {
                (None, None) => true,
                (Some(a), Some(b)) => a.is_equal(b)?,
                _ => false,
            })
    }

    /// Whether a value must come back to the host although the array is not memory.
    pub fn live_out(&self) -> bool {
        matches!(self.kind, ArrayKind::Scalar { live_out: true, .. } | ArrayKind::Phi { live_out: true, .. })
    }
}
