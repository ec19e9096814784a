//! The beginning of an execution: everything that can refuse it comes before anything is changed for it.

use std::sync::Arc;
use std::time::Instant;

use super::placed::Placed;
use super::{Run, Stage, choice, divided, overlap, ranks};
use crate::base::abi::{ARRAY_HELD, Array, Scop};
use crate::base::config::{Config, DeviceChoice};
use crate::base::error::{Error, Result};
use crate::base::stack;
use crate::cost::Estimate;
use crate::device::Queue;
use crate::emulated::EmulatedQueue;
use crate::gpu::cuda::Device;
use crate::gpu::queue::CudaQueue;
use crate::group::Group;
use crate::hold::{Hold, asked};
use crate::hosts::{self, World};
use crate::memory::packed::{self, Packed};
use crate::memory::{guarded, mappings};
use crate::process::nvtx::Range;
use crate::process::profile::{self, Progress};
use crate::process::registry::{self, State};
use crate::residency::check_apart;

/// Picks the device, loads the code, allocates, copies in. An error: the original loop is to run.
///
/// # Safety
/// The arrays' ranges are readable, and stay unchanged until the run ends; a hold outlives the run and is
/// used by it alone, and what is dirty in it is writable.
pub unsafe fn begin<'a>(
    config: &'static Config,
    scop: &'static Scop,
    work: f64,
    arrays: &[Array],
    mut hold: Option<&'a mut Hold>,
) -> Result<Box<Run<'a>>> {
    // A refusal reads no clock, and moves nothing large.
    let start = config.reports().then(Instant::now);
    let asked = asked::take(scop.cache().map_or(0, |slot| std::ptr::from_ref(slot) as usize));
    choice::check(config, scop, arrays)?;
    let state = registry::state(scop).ok_or_else(|| Error::Descriptor("no cache slot".into()))?;
    let world = hosts::active(config);
    if world.is_some() {
        choice::is_much(config, work, hold.as_deref())?;
    }
    if let Some(hold) = &mut hold {
        ranks::check_queue(hold, world.is_some())?;
    }
    // SAFETY: the caller's promise.
    let ready = prepare(config, (scop, state), work, arrays, hold.as_deref_mut(), world);
    if let Some(world) = world {
        ranks::agree_to_begin(world, config, (scop, work, arrays), ready.is_ok())
            .map_err(|error| ready.as_ref().err().cloned().unwrap_or(error))?;
    }
    let Prepared { estimate, packed, shared, opened } = ready?;
    let start = start.unwrap_or_else(Instant::now);
    let (queue, aimed) = match (opened, hold.as_mut().and_then(|hold| hold.queue.take())) {
        (None, Some(queue)) => (queue, false),
        (Some(mut queue), _) => {
            queue.meet()?;
            (queue, true)
        }
        (None, None) => return Err(Error::Internal("no queue".into())),
    };
    let mut run = Box::new(Run {
        config,
        scop,
        queue,
        world,
        hold,
        arrays: arrays.iter().copied().map(Placed::nowhere).collect(),
        error: None,
        start,
        ready: start,
        chosen: None,
        measured: false,
        begun: start,
        work,
        beside: overlap::Beside::default(),
        stage: Stage::Placing,
        launches: 0,
        bytes_in: 0,
        bytes_out: 0,
        slots: Vec::new(),
        parts: divided::Parts::default(),
        asked,
        progress: config.verbose.then(|| Progress::since(start)),
        _range: Range::open(|| profile::title(scop)),
    });
    for (placed, packed) in run.arrays.iter_mut().zip(packed) {
        placed.packed = packed;
    }
    // What has other addresses does not stay: nobody would know that it is written there.
    shared.iter().for_each(|&index| run.arrays[index].host.flags &= !ARRAY_HELD);
    if !aimed {
        run.queue.aim(scop, &state.module)?;
    }
    run.check_room()?;
    // SAFETY: the caller's promise.
    let placed = unsafe { run.place_all(estimate, state) };
    if let Some(world) = world {
        ranks::agree(world, "what came to the devices", scop, placed.is_ok())
            .map_err(|error| placed.as_ref().err().cloned().unwrap_or(error))?;
    }
    placed?;
    Ok(run)
}

/// What an execution needs before it may change anything.
struct Prepared {
    estimate: Option<Estimate>,
    packed: Vec<Option<Arc<Packed>>>,
    shared: Vec<usize>,
    /// Where the hold has no queue.
    opened: Option<Box<dyn Queue>>,
}

/// Whether an execution is to be on the device, and can be.
fn prepare(
    config: &'static Config,
    (scop, state): (&'static Scop, &'static State),
    work: f64,
    arrays: &[Array],
    mut hold: Option<&mut Hold>,
    world: Option<&'static World>,
) -> Result<Prepared> {
    // Of several ranks the first one decides for all.
    let estimate = match world {
        Some(world) if world.rank() > 0 => None,
        _ => choice::choose(config, scop, state, work, arrays, hold.as_deref_mut())?,
    };
    choice::check_tables(scop, arrays)?;
    check_apart(scop, arrays)?;
    let packed = packed::check(scop, arrays)?;
    if config.compare.is_some() && packed.iter().any(Option::is_some) {
        return Err(Error::Incomparable);
    }
    let shared = mappings::check(scop, arrays, |array| hold.as_ref().is_some_and(|hold| hold.knows(array)))?;
    for array in arrays {
        if array.copied_in() && !hold.as_ref().is_some_and(|hold| hold.knows(array)) {
            guarded::check_ends(array)?;
        }
    }
    let opened = match hold.is_some_and(|hold| hold.queue.is_some()) {
        true => None,
        false => Some(open(config, scop, state, world)?),
    };
    Ok(Prepared { estimate, packed, shared, opened })
}

/// A queue on the device that the settings choose.
fn open(
    config: &'static Config,
    scop: &'static Scop,
    state: &'static State,
    world: Option<&'static World>,
) -> Result<Box<dyn Queue>> {
    if config.device == DeviceChoice::Emulated {
        let open_one = |number| EmulatedQueue::open_one(config, scop, number);
        let n = config.devices.of(config.emulated_devices);
        if let Some(world) = world {
            let members = (0..n).map(open_one).collect::<Result<Vec<_>>>()?;
            return Ok(Box::new(Group::across(members, scop, true, world)));
        }
        return Ok(match n {
            1 => Box::new(EmulatedQueue::open(config, scop)?),
            n => Box::new(Group::of((0..n).map(open_one).collect::<Result<Vec<_>>>()?, scop, true)),
        });
    }
    if !stack::has_room() {
        return Err(Error::SmallStack);
    }
    let open_one = |device: &'static Device| {
        CudaQueue::open(device, scop, device.module(scop, &state.module, config)?, config)
    };
    let devices = registry::cuda_devices(config)?;
    if let Some(world) = world {
        let members = devices.iter().map(|device| open_one(device)).collect::<Result<Vec<_>>>()?;
        return Ok(Box::new(Group::across(members, scop, config.shares_always, world)));
    }
    Ok(match devices.as_slice() {
        [device] => Box::new(open_one(device)?),
        several => {
            let members = several.iter().map(|device| open_one(device)).collect::<Result<Vec<_>>>()?;
            Box::new(Group::of(members, scop, config.shares_always))
        }
    })
}
