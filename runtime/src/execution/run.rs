//! An execution on a device: what is the same all along, and what is current. What it does is in the modules
//! above this one, each of which has a step of it.

use std::time::Instant;

use super::array::Placed;
use crate::activation::Activation;
use crate::base::abi::Scop;
use crate::base::config::Config;
use crate::base::error::Error;
use crate::cost::Estimate;
use crate::device::{self, Queue};
use crate::hosts::World;
use crate::process::nvtx::Range;
use crate::process::profile::Progress;
use crate::process::registry::State;
use crate::residency::Found;

/// The part of a launch that is queued.
#[derive(Clone, Copy)]
pub(super) enum Part {
    All,
    Slice { first: bool },
}

/// How far an execution is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// No launch may have changed anything.
    Placing,
    /// Launches may have changed arrays.
    Launching,
    /// What launches changed of what only the device has is as it was before them.
    Restored,
    /// It has succeeded.
    Over,
}

/// Why an execution is on the device, and until when.
pub(super) struct Chosen {
    pub(super) state: &'static State,
    pub(super) estimate: Estimate,
    pub(super) setups: u64,
}

/// What is the same all along.
pub(super) struct Fixed {
    pub(super) config: &'static Config,
    pub(super) scop: &'static Scop,
    /// Ranks that share it.
    pub(super) world: Option<&'static World>,
    /// Statement instances.
    pub(super) work: f64,
}

/// When it began.
pub(super) struct Times {
    pub(super) start: Instant,
    /// Before it makes room.
    pub(super) begun: Instant,
    /// After driver, code and memory are there.
    pub(super) ready: Instant,
}

/// What was done.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) launches: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
}

/// What later choices are made from.
pub(super) struct Learning {
    /// Where the settings leave the choice to the estimate.
    pub(super) chosen: Option<Chosen>,
    /// Its time is learnt from.
    pub(super) measured: bool,
    /// What was inspected for it.
    pub(super) asked: Vec<Found>,
}

/// An execution on a device.
pub struct Run<'a> {
    pub(super) fixed: Fixed,
    pub(super) times: Times,
    pub(super) counts: Counts,
    pub(super) learning: Learning,
    pub(super) queue: Box<dyn Queue>,
    /// Where queue and held arrays come from, and go back to: of the thread that runs the execution, and of
    /// nobody else.
    pub(super) activation: Option<&'a mut Activation>,
    pub(super) arrays: Vec<Placed>,
    /// The first error; later operations are left out.
    pub(super) error: Option<Error>,
    /// Copies and slices beside others.
    pub(super) beside: Beside,
    pub(super) stage: Stage,
    /// Argument slots, reused by each launch.
    pub(super) slots: Vec<u64>,
    /// What is known so far of a launch that several devices share.
    pub(super) parts: Parts,
    /// What is told of a long one.
    pub(super) progress: Option<Progress>,
    /// Closed when all else is over.
    pub(super) _range: Option<Range>,
}

/// What an execution does beside its kernels.
#[derive(Default)]
pub(super) struct Beside {
    /// Some arrays were not copied in at the beginning.
    pub(super) deferred: bool,
    /// Copies go beside kernels.
    pub(super) forked: bool,
    /// Something was fetched.
    pub(super) fetched: bool,
    /// The next slice is the first one of a launch.
    pub(super) first: bool,
    /// For each slice, how many bytes of each array nobody touches any more.
    pub(super) done: Vec<Vec<u64>>,
    /// For tests: array, offset and bytes of what was said to be done.
    pub(super) claims: Vec<(usize, u64, Vec<u8>)>,
}

/// What is known so far of a launch.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) kernel: usize,
    pub(super) parts: Vec<device::Part>,
}

impl Run<'_> {
    /// The sizes of an array's inner dimensions, for the reports of the checked device.
    pub fn shape(&mut self, index: usize, dims: usize, sizes: [i64; 3]) {
        self.queue.shape(index, dims, sizes);
    }

    /// Keeps the first error.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Whether the launches may have changed what only the device has.
    pub(super) fn endangers(&self) -> bool {
        let Some(activation) = &self.activation else { return false };
        self.arrays.iter().any(|placed| placed.is_held() && activation.endangers(&placed.host))
    }
}
