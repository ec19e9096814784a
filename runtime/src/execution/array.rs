//! An array during an execution: whose its memory on the device is, and what of it is still to be copied in.

use std::sync::Arc;

use crate::base::abi::Array;
use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::device::DUMMY_ADDRESS;
use crate::device::snapshot::Snapshot;
use crate::memory::packed::Packed;

/// Whose an array's memory on the device is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// It has none: nothing of it is touched, or it is not placed yet.
    Nowhere,
    /// The execution's.
    Own,
    /// The hold's, where it stays. `shared`: another array lies among its bytes.
    Activation { shared: bool },
    /// The execution's, with the contents of memory of the hold.
    Beside,
}

/// The part of an array's range that must be copied in; parts are offset and length.
pub(super) enum CopyIn {
    All,
    Parts(Vec<(u64, u64)>),
    /// These are left to the launch that needs them.
    Waits(Vec<(u64, u64)>),
    Done,
}

impl CopyIn {
    /// The parts, of a range of so many bytes; nothing is left.
    pub(super) fn take(&mut self, bytes: u64) -> Vec<(u64, u64)> {
        match std::mem::replace(self, CopyIn::Done) {
            CopyIn::All => vec![(0, bytes)],
            CopyIn::Parts(parts) | CopyIn::Waits(parts) => parts,
            CopyIn::Done => Vec::new(),
        }
    }
}

/// An array during an execution.
pub(super) struct Placed {
    pub(super) host: Array,
    pub(super) home: Home,
    /// Device address of the touched range.
    pub(super) device: u64,
    /// What kernels get: the address of the element with all subscripts 0.
    pub(super) argument: u64,
    pub(super) stale: CopyIn,
    /// What alone is copied in of the range.
    pub(super) window: Option<Rows>,
    /// What was copied in, where that is needed to know what changed.
    pub(super) before: Snapshot,
    /// A copy of the hold's memory before the launches.
    pub(super) saved: Option<u64>,
    /// Rows that its addresses stand for.
    pub(super) packed: Option<Arc<Packed>>,
}

impl Placed {
    /// An array before it has memory.
    pub(super) fn nowhere(host: Array) -> Placed {
        Placed {
            host,
            home: Home::Nowhere,
            device: DUMMY_ADDRESS,
            argument: DUMMY_ADDRESS,
            stale: CopyIn::All,
            window: None,
            before: Snapshot::default(),
            saved: None,
            packed: None,
        }
    }

    /// Whether its memory is the hold's.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.home, Home::Activation { .. })
    }

    /// Whether some of its copy is left to launches.
    pub(super) fn waits(&self) -> bool {
        matches!(self.stale, CopyIn::Waits(_))
    }

    /// Whether its copy to the device, if there is one, may be made in parts and later.
    pub(super) fn may_wait(&self) -> bool {
        let host = &self.host;
        let copied = host.copied_in() || self.is_held() && host.needs_values();
        let snapshot = host.out_range().is_some() && matches!(host.shape(), Shape::Changed { .. });
        let plain = self.window.is_none() && !host.is_guarded() && !host.is_fault();
        let plain = plain && self.home != Home::Beside && self.packed.is_none();
        host.bytes > 0 && copied && plain && !snapshot
    }

    /// Bytes that are still to be copied in.
    pub(super) fn stale_bytes(&self) -> u64 {
        match &self.stale {
            CopyIn::All => self.host.bytes,
            CopyIn::Parts(parts) | CopyIn::Waits(parts) => parts.iter().map(|part| part.1).sum(),
            CopyIn::Done => 0,
        }
    }
}
