//! What is known of storage while the code of a kernel's threads is emitted.

use crate::ir::error::Result;
use crate::kernel::storage::OfMapping;
use crate::staged::boxes::Boxes;
use crate::staged::counted::AllCounters;
use crate::staged::promotion::Promoted;
use crate::staged::window::Windows;
use pollyrs_schedule::MappedKernel;
use pollyrs_scop::Scop;

/// Elements are in windows of shared memory, in a register while a loop runs, or in their arrays' memory.
pub(crate) struct Staged<'a> {
    pub kernel: &'a MappedKernel,
    pub windows: Windows,
    /// Set while a loop is emitted that keeps a cell in a register.
    pub promoted: Option<Promoted>,
    /// What tasks have of arrays.
    pub boxes: Boxes,
    /// What a block counts.
    pub counters: AllCounters,
}

impl<'a> Staged<'a> {
    pub fn new(scop: &Scop, kernel: &'a MappedKernel) -> Result<Staged<'a>> {
        let windows = Windows::new(scop, kernel)?;
        let (boxes, counters) = (Boxes::default(), AllCounters::default());
        Ok(Staged { kernel, windows, promoted: None, boxes, counters })
    }
}

impl<'a> OfMapping<'a> for Staged<'a> {
    fn kernel(&self) -> &'a MappedKernel {
        self.kernel
    }
}

pub(crate) type KernelBuilder<'a> = crate::kernel::builder::KernelBuilder<'a, Staged<'a>>;
