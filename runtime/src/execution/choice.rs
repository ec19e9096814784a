//! Whether an execution is to be on the device at all: settings, descriptor, estimate, arrays. It is decided
//! once, by [`decide`]; what follows carries it out.
//!
//! Problem: a loop that is never worth the device asks each time, perhaps a million times. So a refusal
//! allocates nothing, starts nothing, and reads a clock only where all else speaks for starting the driver
//! ([`crate::base::error`] is cheap, too). Invariant: what is chosen here has consistent tables, so that
//! nothing later reads beyond them.

use std::io::Write;
use std::sync::{Arc, Once};

use crate::activation::Activation;
use crate::base::abi::{ABI_VERSION, Array, MAX_BLOCK_DEPTH, MAX_BLOCK_THREADS, Scop};
use crate::base::age;
use crate::base::caller::{Inside, errno_address};
use crate::base::config::{Config, DeviceChoice, Offload};
use crate::base::error::{Error, Result};
use crate::base::size::Size;
use crate::cost::{self, Advice, Course, Estimate, Moves, Wait, inspections};
use crate::gpu::cuda::Device;
use crate::hosts::{self, World};
use crate::memory::packed::{self, Packed};
use crate::memory::{guarded, mappings};
use crate::process::registry::{self, State};
use crate::residency::check_apart;

/// What an execution asks for.
pub struct Request<'r> {
    pub config: &'static Config,
    pub scop: &'static Scop,
    pub work: f64,
    pub arrays: &'r [Array],
}

/// What was decided; nothing is changed yet.
pub struct Decision {
    pub state: &'static State,
    /// The ranks that share the work: they agree on what `plan` is before anything else happens.
    pub world: Option<&'static World>,
    /// An error: this rank can't be on the device.
    pub plan: Result<Plan>,
}

/// What is known of an execution on the device.
pub struct Plan {
    /// `None` if the settings say so, or what favoured the device.
    pub estimate: Option<Estimate>,
    /// Rows that come to the device packed, by array.
    pub packed: Vec<Option<Arc<Packed>>>,
    /// Arrays whose memory has other addresses as well.
    pub shared: Vec<usize>,
}

/// Whether an execution is to be on the device, and can be; the only question to this module. An error is one
/// that all ranks have.
pub fn decide(request: &Request<'_>, mut activation: Option<&mut Activation>) -> Result<Decision> {
    let Request { config, scop, work, arrays } = *request;
    check(config, scop, arrays)?;
    let state = registry::state(scop).ok_or_else(|| Error::Descriptor("no cache slot".into()))?;
    let world = hosts::active(config);
    if world.is_some() {
        is_much(config, work, activation.as_deref())?;
    }
    if let Some(activation) = &mut activation {
        check_queue(activation, world.is_some())?;
    }
    // Of several ranks the first one decides for all.
    let follows = world.is_some_and(|world| world.rank() > 0);
    let estimate = if follows { Ok(None) } else { choose(request, state, activation.as_deref_mut()) };
    Ok(Decision { state, world, plan: estimate.and_then(|estimate| plan(request, estimate, activation)) })
}

/// What can be said of the arrays without a device.
fn plan(
    request: &Request<'_>,
    estimate: Option<Estimate>,
    activation: Option<&mut Activation>,
) -> Result<Plan> {
    let Request { config, scop, arrays, .. } = *request;
    check_tables(scop, arrays)?;
    check_apart(scop, arrays)?;
    let packed = packed::check(scop, arrays)?;
    if config.compare.is_some() && packed.iter().any(Option::is_some) {
        return Err(Error::Incomparable);
    }
    let stays = |array: &Array| activation.as_ref().is_some_and(|activation| activation.knows(array));
    let shared = mappings::check(scop, arrays, stays)?;
    for array in arrays.iter().filter(|array| array.copied_in() && !stays(array)) {
        guarded::check_ends(array)?;
    }
    Ok(Plan { estimate, packed, shared })
}

/// A queue that other ranks take part in is not used without them: since they parted, nothing is on it.
fn check_queue(activation: &mut Activation, shared: bool) -> Result<()> {
    if activation.queue.as_ref().is_none_or(|queue| queue.is_shared() == shared) {
        return Ok(());
    }
    if activation.holds() {
        return Err(Error::Parted);
    }
    activation.queue = None;
    Ok(())
}

/// Whether offloading is wanted at all, and what the program passes can be read.
fn check(config: &Config, scop: &Scop, arrays: &[Array]) -> Result<()> {
    if !scop.understood() {
        refuse(scop.abi_version);
        return Err(Error::Version { found: scop.abi_version, own: ABI_VERSION });
    }
    if config.device == DeviceChoice::Off {
        return Err(Error::DeviceOff);
    }
    if config.offload == Offload::Never {
        return Err(Error::Never);
    }
    if Inside::traps() {
        return Err(Error::Traps);
    }
    if arrays.len() != scop.n_arrays as usize {
        let text = format!("{} arrays were declared, {} passed", scop.n_arrays, arrays.len());
        return Err(Error::Descriptor(text));
    }
    Ok(())
}

/// Says once that a program and the library do not belong together: nobody would look for the reason of a
/// program that is as slow as ever.
#[cold]
fn refuse(found: u32) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        let error = Error::Version { found, own: ABI_VERSION };
        let _ = writeln!(std::io::stderr(), "pollyrs: {error}; its original loops run");
    });
}

/// Whether devices take blocks of so many threads along x, y and z.
fn is_launched(block: [u32; 3]) -> bool {
    let threads = block.iter().map(|&n| u64::from(n)).product();
    (1..=MAX_BLOCK_THREADS).contains(&threads) && block[2] <= MAX_BLOCK_DEPTH
}

/// What else the descriptor must say.
fn check_tables(scop: &Scop, arrays: &[Array]) -> Result<()> {
    for (index, array) in arrays.iter().enumerate() {
        array
            .check()
            .map_err(|problem| Error::Descriptor(format!("array {} {problem}", scop.array_name(index))))?;
        // What the library calls may set it, and so may what the program itself calls.
        if (array.start as u64..array.start as u64 + array.bytes).contains(&errno_address()) {
            return Err(Error::Errno);
        }
    }
    for kernel in scop.kernels() {
        let text = if !is_launched(kernel.block) {
            let [x, y, z] = kernel.block;
            format!("kernel {} has blocks of {x} x {y} x {z} threads", kernel.name())
        } else if let Some(index) = kernel.array_index().iter().find(|&&index| index >= scop.n_arrays) {
            format!("kernel {} uses array {index} of {}", kernel.name(), scop.n_arrays)
        } else {
            continue;
        };
        return Err(Error::Descriptor(text));
    }
    Ok(())
}

/// Instances of statements that a core of the host runs in a tenth of a millisecond: as long as ranks take to
/// agree, launch and tell each other what came of it.
const LITTLE_WORK: f64 = 1e5;

/// An error: an execution is too little for ranks to talk about, by what all of them know.
fn is_much(config: &Config, work: f64, activation: Option<&Activation>) -> Result<()> {
    let chosen = config.device == DeviceChoice::Emulated || config.offload != Offload::Auto;
    match chosen || work >= LITTLE_WORK || activation.is_some_and(|activation| activation.holds()) {
        true => Ok(()),
        false => Err(Error::TooLittle { work }),
    }
}

/// Whether the device is to be used: None if the settings say so, or what favoured it.
fn choose(
    request: &Request<'_>,
    state: &'static State,
    activation: Option<&mut Activation>,
) -> Result<Option<Estimate>> {
    let Request { config, scop, work, arrays } = *request;
    match config.offload {
        Offload::First(most) if !state.is_among(most) => return Err(Error::Enough { most }),
        Offload::First(_) | Offload::Always | Offload::Require => return Ok(None),
        Offload::Auto | Offload::Never if config.device == DeviceChoice::Emulated => return Ok(None),
        Offload::Auto | Offload::Never => {}
    }
    let chosen = choose_by_time(scop, state, work, arrays, activation);
    inspections::settle(chosen.is_err());
    chosen
}

/// By what both sides are thought to take.
fn choose_by_time(
    scop: &Scop,
    state: &'static State,
    work: f64,
    arrays: &[Array],
    activation: Option<&mut Activation>,
) -> Result<Option<Estimate>> {
    let (kernels, rates) = (scop.kernels().len(), registry::rates());
    if !activation.as_ref().is_some_and(|activation| activation.holds())
        && let Some(seconds) = state.learned.tiny(work, rates)
    {
        let (device_ms, host_ms) = (cost::OVERHEAD * 1e3, seconds * 1e3);
        return Err(Error::NotWorthIt { device_ms, host_ms, size: Size { work, moved: 0.0 } });
    }
    let mut advice = Advice::Estimate;
    let estimate = match &activation {
        None => {
            let mut estimate = state.learned.estimate(work, arrays.iter().map(Moves::of), kernels, rates);
            advice = state.learned.advise(&mut estimate);
            estimate
        }
        Some(activation) => {
            let moves = arrays.iter().map(|array| activation.moves(array));
            let mut estimate = state.learned.estimate(work, moves, kernels, rates);
            estimate.leave = activation.seconds_to_leave(rates);
            estimate
        }
    };
    let Some(activation) = activation else {
        let (device_ms, host_ms, size) = estimate.reported();
        return match advice {
            Advice::TryHost => Err(Error::Doubtful { device_ms, host_ms, size }),
            Advice::TryDevice if Device::has(&state.module) => Ok(Some(estimate)),
            _ => choose_alone(scop, state, arrays, estimate, None).map(Some),
        };
    };
    let (device_ms, host_ms, size) = estimate.reported();
    let chosen = match activation.course(state, &estimate, arrays, rates) {
        Course::Host => Err(Error::Together { device_ms, host_ms, size }),
        Course::Device if registry::cuda_started() && Device::has(&state.module) => Ok(estimate),
        _ => choose_alone(scop, state, arrays, estimate, Some(activation)),
    };
    activation.went(chosen.is_ok());
    chosen.map(Some)
}

/// What is best as far as this execution can tell.
fn choose_alone(
    scop: &Scop,
    state: &State,
    arrays: &[Array],
    estimate: Estimate,
    activation: Option<&mut Activation>,
) -> Result<Estimate> {
    let rates = registry::rates();
    let (device_ms, host_ms, size) = estimate.reported();
    let mut gain = estimate.gain();
    if gain <= 0.0 {
        let resident = estimate.gain_without_transfers();
        if !activation.is_some_and(|activation| activation.worth_moving(resident, arrays, rates)) {
            return Err(Error::NotWorthIt { device_ms, host_ms, size });
        }
        gain = resident;
    } else if state.learned.is_doubtful(&estimate, activation.is_some()) {
        return Err(Error::Doubtful { device_ms, host_ms, size });
    }
    // Both count the gain.
    let (known, price) = (Device::knows(&state.module), cost::price(scop));
    let loading = known || state.learned.worth_loading(&estimate, gain, price);
    if !registry::cuda_started() {
        let price = rates.startup + if known { 0.0 } else { price };
        let price_ms = price * 1e3;
        state.learned.worth_starting(&estimate, gain, price, age::seconds).map_err(|wait| match wait {
            Wait::Gains(gains) => Error::NotYetStarted { gains_ms: gains * 1e3, price_ms, host_ms, size },
            Wait::Age(age) => Error::TooYoung { age_ms: age * 1e3, price_ms, host_ms, size },
        })?;
    }
    if loading { Ok(estimate) } else { Err(Error::NotYetLoaded { gain_ms: gain * 1e3, host_ms, size }) }
}

#[cfg(test)]
mod tests {
    use super::is_launched;

    #[test]
    fn blocks_that_devices_take() {
        for (block, taken) in [
            ([1, 1, 1], true),
            ([1024, 1, 1], true),
            ([1, 1024, 1], true),
            ([4, 4, 64], true),
            ([2, 2, 128], false),
            ([32, 33, 1], false),
            ([0, 1, 1], false),
            ([u32::MAX, u32::MAX, 1], false),
        ] {
            assert_eq!(is_launched(block), taken, "{block:?}");
        }
    }
}
