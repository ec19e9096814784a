//! Executions that ranks of a job share ([`crate::hosts`]).
//!
//! Invariants:
//!
//! * all ranks begin an execution, or none: what one of them can't do the original loop does everywhere;
//! * the digest that they compare has all that their plans are made of: the SCoP, its arrays but for where
//!   they are, each launch with its scalars. With `POLLYRS_RT_MPI_COMPARE` it has the data as well.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::base::abi::{Array, Scop};
use crate::base::config::Config;
use crate::base::error::{Error, Result};
use crate::hosts::{Agreement, Point, World, digest_of};

use super::run::Run;

fn place(scop: &Scop) -> String {
    match scop.at() {
        at if at.is_empty() => scop.name().into_owned(),
        at => format!("{} ({at})", scop.name()),
    }
}

fn agreed(agreement: Agreement) -> Result<()> {
    match agreement {
        Agreement::All => Ok(()),
        Agreement::Refused(rank) => Err(Error::Elsewhere(rank)),
        Agreement::Differ => Err(Error::DifferentRanges),
        Agreement::Alone => Err(Error::Parted),
    }
}

/// Whether all ranks begin this execution.
pub(super) fn agree_to_begin(
    world: &World,
    config: &Config,
    (scop, work, arrays): (&Scop, f64, &[Array]),
    able: bool,
) -> Result<()> {
    world.note([config.shared_digest(), digest_of(place(scop).as_bytes()), work.to_bits()]);
    let mut ranges = 0;
    for array in arrays {
        let bias = if array.bytes > 0 { array.bias } else { 0 };
        world.note([array.flags.into(), array.element_bytes.into()]);
        // Of the rest some fields have no values where they mean nothing.
        let (out, shape, window) = (array.out_range(), array.shape(), array.window());
        let text = format!("{ranges} {} {bias} {out:?} {shape:?} {window:?}", array.bytes);
        ranges = digest_of(text.as_bytes());
    }
    let text = || format!("the beginning of {}, {work} instances", place(scop));
    agreed(world.agree(&Point { text: &text, able, alone: world.is_gathered(), ranges }))
}

/// Whether all ranks are here, and able to go on.
pub(super) fn agree(world: &World, what: &str, scop: &Scop, able: bool) -> Result<()> {
    world.note([digest_of(what.as_bytes())]);
    agreed(world.agree(&Point {
        text: &|| format!("{}: {what}", place(scop)),
        able,
        alone: false,
        ranges: 0,
    }))
}

impl Run<'_> {
    /// A launch of the first device alone.
    pub(super) fn note_launch(&self, kernel: usize, blocks: u64) {
        if let Some(world) = self.fixed.world {
            world.note([kernel as u64, blocks]);
        }
    }

    /// A part of a launch. (Slots that hold parts' scalars are zero at first, so that what is behind a short
    /// value is the same on all ranks.)
    ///
    /// # Safety
    /// As for [`Run::part`].
    pub(super) unsafe fn note_part(&self, kernel: usize, blocks: u64, scalars: *const u64) {
        let Some(world) = self.fixed.world else { return };
        let slots = self.fixed.scop.kernels().get(kernel).map_or(0, |kernel| kernel.n_scalars as usize);
        self.note_launch(kernel, blocks);
        // SAFETY: the caller's promise.
        world.note((0..slots).map(|slot| unsafe { scalars.add(slot).read() }));
    }
}

impl Config {
    /// Of the settings that all ranks must have.
    fn shared_digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let choices = format!("{:?} {:?} {:?} {:?}", self.device, self.offload, self.check, self.job.mpi);
        (choices, self.shares_always, self.staging_bytes, self.compare.is_some()).hash(&mut hasher);
        hasher.finish()
    }
}
