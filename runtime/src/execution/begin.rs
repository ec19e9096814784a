//! The beginning of an execution: everything that can refuse it comes before anything is changed for it.

use std::time::Instant;

use super::array::Placed;
use super::choice::{self, Decision, Plan, Request};
use super::ranks;
use super::run::{Beside, Counts, Fixed, Learning, Parts, Run, Stage, Times};
use crate::activation::{Activation, asked};
use crate::base::abi::{ARRAY_HELD, Array, Scop};
use crate::base::config::{Config, DeviceChoice};
use crate::base::error::{Error, Result};
use crate::base::stack;
use crate::device::Queue;
use crate::emulated::EmulatedQueue;
use crate::gpu::cuda::Device;
use crate::gpu::queue::CudaQueue;
use crate::group::Group;
use crate::hosts::World;
use crate::process::nvtx::Range;
use crate::process::profile::{self, Progress};
use crate::process::registry::{self, State};

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
    mut activation: Option<&'a mut Activation>,
) -> Result<Box<Run<'a>>> {
    // A refusal reads no clock, and moves nothing large.
    let start = config.reports().then(Instant::now);
    let asked = asked::take(scop.cache().map_or(0, |slot| std::ptr::from_ref(slot) as usize));
    let request = Request { config, scop, work, arrays };
    let Decision { state, world, plan } = choice::decide(&request, activation.as_deref_mut())?;
    let has_queue = activation.as_ref().is_some_and(|activation| activation.queue.is_some());
    let ready = plan.and_then(|plan| match has_queue {
        true => Ok((plan, None)),
        false => Ok((plan, Some(open(config, scop, state, world)?))),
    });
    if let Some(world) = world {
        ranks::agree_to_begin(world, config, (scop, work, arrays), ready.is_ok())
            .map_err(|error| ready.as_ref().err().cloned().unwrap_or(error))?;
    }
    let (Plan { estimate, packed, shared }, opened) = ready?;
    let start = start.unwrap_or_else(Instant::now);
    let (queue, aimed) = match (opened, activation.as_mut().and_then(|activation| activation.queue.take())) {
        (None, Some(queue)) => (queue, false),
        (Some(mut queue), _) => {
            queue.meet()?;
            (queue, true)
        }
        (None, None) => return Err(Error::Internal("no queue".into())),
    };
    let mut run = Box::new(Run {
        fixed: Fixed { config, scop, world, work },
        times: Times { start, begun: start, ready: start },
        counts: Counts::default(),
        learning: Learning { chosen: None, measured: false, asked },
        queue,
        activation,
        arrays: arrays.iter().copied().map(Placed::nowhere).collect(),
        error: None,
        beside: Beside::default(),
        stage: Stage::Placing,
        slots: Vec::new(),
        parts: Parts::default(),
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
    if config.check.any() {
        run.check_lists();
    }
    // SAFETY: the caller's promise.
    let placed = unsafe { run.place_all(estimate, state) };
    if let Some(world) = world {
        ranks::agree(world, "what came to the devices", scop, placed.is_ok())
            .map_err(|error| placed.as_ref().err().cloned().unwrap_or(error))?;
    }
    placed?;
    Ok(run)
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
