//! When the code of a SCoP is loaded.
//!
//! Problem: loading takes [`CUBIN`] or longer, as much as several short executions of the original loop. The
//! ski-rental rule pays once the gains that were missed add up to that; but gains are differences of
//! estimates, and a SCoP whose code is not loaded was never on the device: an estimate that is half as long
//! as the truth invents gains, and loading for them loses a tenth of the first 40 executions or more.
//! Approach: besides, the price has to come back by gains that a wrong estimate can not invent. For these the
//! device takes [`WRONG`] times what it is estimated to take, and the host a part of it, as long as few
//! measurements say what it takes ([`trusted`]). Either a few executions like this one get the price back
//! ([`SOON`]), or those that were missed would have paid more than that ([`SLOWLY`]), or the price is a small
//! part of what the original loop has taken so far (the bound of [`super::budget`]), so that little is lost
//! whatever comes.
//!
//! Example: 67 µs on the host, known; 20 on the device by the estimate. The code is loaded when 11 executions
//! have missed 47 µs each, for surely it gains 67 - 1.5 * 20 = 37 µs, and gets the price back after 14. With
//! 38 on the device it surely gains 10 µs, and waits until that is 1.5 ms, 150 executions. With 60 nothing is
//! sure: 32 ms, 480 executions.

use super::budget::WRONG;
use super::{Estimate, Figure, KNOWN, LONG};
use crate::base::abi::{IMAGE_CUBIN, IMAGE_EARLY_CUBIN, IMAGE_PTX, Scop};

/// Seconds a byte of PTX to compile, where the driver's own cache doesn't have it.
const PTX_BYTE: f64 = 0.5e-6;
/// Seconds to load assembled code.
const CUBIN: f64 = 0.5e-3;
/// Gains pay at once if so many executions like this one get the price back.
const SOON: f64 = 16.0;
/// Those that come in more slowly have to pay this many times.
const SLOWLY: f64 = 3.0;
/// The price may be this part of what the host took where gains are only estimated. Trials lose as much
/// again.
const SHARE: f64 = 1.0 / 64.0;

/// What was missed while the code was not loaded. Threads that ask at once may lose some of it.
#[derive(Debug, Default)]
pub struct Loading {
    /// Seconds gained by the estimates, and surely.
    estimated: Figure,
    sure: Figure,
    /// Seconds on the host.
    host: Figure,
}

impl Loading {
    /// An execution would gain `gain` seconds, what it shares with others left out: whether the code is worth
    /// `price` seconds. If not, the gain is missed. `measurements`: how often the host's time was measured.
    pub fn pays(&self, estimate: &Estimate, gain: f64, measurements: u64, price: f64) -> bool {
        let host = estimate.host;
        let least = trusted(measurements, host) * host;
        let sure = sure_gain(estimate, gain, measurements);
        let missed = self.sure.add(sure.max(0.0));
        // A long execution may be the only one.
        let host = self.host.add(if host < LONG { least } else { host });
        self.estimated.add(gain) >= price
            && (SOON * sure >= price || missed >= SLOWLY * price || SHARE * host >= price)
    }
}

/// What an execution gains at least that would gain `gain` by its estimate; it may be negative.
pub(super) fn sure_gain(estimate: &Estimate, gain: f64, measurements: u64) -> f64 {
    let Estimate { host, leave, .. } = *estimate;
    let device = host + leave - gain;
    trusted(measurements, host) * host + leave - WRONG * device
}

/// The part of its estimated time that the host takes at least after so many measurements. The model's
/// instance, a nanosecond, is that of a loop with a cache miss now and then; one that is vectorised and in
/// the nearest cache takes 0.12 to 0.3, which loops that are estimated to be long rarely are. The first
/// measurements are cold.
fn trusted(measurements: u64, host: f64) -> f64 {
    match measurements {
        0 if host < LONG => 0.125,
        0 => 0.25,
        1..KNOWN => 0.5,
        _ => 1.0,
    }
}

/// What loading the code of a SCoP takes at most. Whether the device takes a cubin is known when it is there
/// only; one that it refuses costs a compilation at the wrong time, once.
pub fn price(scop: &Scop) -> f64 {
    if scop.images().iter().any(|image| [IMAGE_CUBIN, IMAGE_EARLY_CUBIN].contains(&image.kind)) {
        return CUBIN;
    }
    let ptx = scop.images().iter().filter(|image| image.kind == IMAGE_PTX).map(|image| image.bytes).max();
    ptx.unwrap_or(0) as f64 * PTX_BYTE
}

#[cfg(test)]
mod tests {
    use super::super::{Advice, Learned, MEASURED, Moves, Rates};
    use super::*;
    use crate::base::size::Size;
    use crate::cost::machine::REFERENCE;

    const EXECUTIONS: usize = 40;
    /// Seconds that a first execution on the device takes longer, besides loading.
    const COLD: f64 = 50e-6;
    /// The most that may be lost to the host.
    const LIMIT: f64 = 0.03;

    /// A loop nest that was never executed: statement instances, bytes of the array that goes there and back,
    /// and how many times as long as estimated both sides take.
    #[derive(Clone, Copy, Debug)]
    struct Nest {
        work: f64,
        bytes: u64,
        host: f64,
        device: f64,
    }

    impl Nest {
        /// What the host and the device take.
        fn seconds(self) -> (f64, f64) {
            let rates = Rates::of(&REFERENCE, 8);
            let new = Learned::default().estimate(self.work, self.moves(), 1, &rates);
            (self.host * new.host, self.device * new.device)
        }

        fn moves(self) -> [Moves; 1] {
            [Moves { to_device: Some(self.bytes), to_host: Some(self.bytes) }]
        }
    }

    /// Where the first executions go ('L': with the code loaded for it), and seconds in all.
    fn run(nest: Nest, executions: usize) -> (String, f64) {
        let (learned, rates) = (Learned::default(), Rates::of(&REFERENCE, 8));
        let (host, device) = nest.seconds();
        let (mut sides, mut seconds) = (String::new(), 0.0);
        for n in 0..executions {
            let mut estimate = learned.estimate(nest.work, nest.moves(), 1, &rates);
            let size: Size = estimate.size();
            let loaded = sides.contains('L');
            // As `crate::execution::choice` does.
            let on_device = match learned.advise(&mut estimate) {
                Advice::TryHost => false,
                Advice::TryDevice if loaded => true,
                _ => {
                    let gain = estimate.gain();
                    gain > 0.0
                        && !learned.is_doubtful(&estimate, false)
                        && (loaded || learned.worth_loading(&estimate, gain, CUBIN))
                }
            };
            match (on_device, loaded) {
                (true, true) => {
                    seconds += device;
                    learned.device_took(device, estimate, 1, &rates);
                    learned.device_took_in_all(device, size);
                }
                // Not measured, and cold.
                (true, false) => seconds += CUBIN + COLD + device,
                (false, _) => {
                    // The first one is cold.
                    let took = host * if n == 0 { 2.0 } else { 1.0 };
                    seconds += took;
                    if learned.times(estimate.host) || took >= MEASURED {
                        learned.host_took(took, size, &rates);
                    }
                }
            }
            sides.push(match (on_device, loaded) {
                (true, false) => 'L',
                (true, true) => 'd',
                (false, _) => 'h',
            });
        }
        (sides, seconds)
    }

    /// Seconds of the host alone.
    fn original(nest: Nest, executions: usize) -> f64 {
        (executions + 1) as f64 * nest.seconds().0
    }

    fn nests() -> Vec<Nest> {
        let mut nests = Vec::new();
        for work in [3e4, 1e5, 1.5e5, 5e5, 2e6, 1e7, 1e8] {
            for bytes in [4_000, 32_000, 500_000, 8_000_000, 80_000_000] {
                // From vectorised in the nearest cache to a division each; the device as far as its estimates
                // are trusted.
                for host in [0.12, 0.2, 0.3, 0.45, 0.7, 1.0, 1.6, 3.0] {
                    for device in [0.6, 0.8, 1.0, 1.2, 1.45] {
                        nests.push(Nest { work, bytes, host, device });
                    }
                }
            }
        }
        nests.retain(|nest| nest.host >= 0.2 || nest.work * 1e-9 < LONG);
        nests
    }

    #[test]
    fn wrong_estimates_load_nothing() {
        let (mut loaded, mut worst) = (0, 0.0f64);
        for nest in nests() {
            let (sides, seconds) = run(nest, EXECUTIONS);
            let loss = seconds / original(nest, EXECUTIONS) - 1.0;
            assert!(loss <= LIMIT, "{loss:.4} {nest:?} {:?} {sides}", nest.seconds());
            loaded += usize::from(sides.contains('L'));
            worst = worst.max(loss);
        }
        // Nothing is lost where nothing is loaded; something is.
        assert!(loaded > 500 && worst > 0.02, "{loaded} {worst}");
        // Twenty steps of a stencil on 64 x 64 points: half the time by the estimate, as much in truth.
        let (sides, _) = run(Nest { work: 153_760.0, bytes: 64_000, host: 0.43, device: 2.0 }, EXECUTIONS);
        assert_eq!(sides, "h".repeat(EXECUTIONS));
    }

    #[test]
    fn what_pays_is_loaded_soon() {
        // Where the device takes a fifth of the time, and is estimated well: no later than where gains alone
        // counted.
        let (mut lost, mut count) = (0.0, 0);
        for nest in nests().into_iter().filter(|nest| nest.device == 1.0) {
            let (host, device) = nest.seconds();
            if device > 0.2 * host {
                continue;
            }
            let (sides, _) = run(nest, EXECUTIONS);
            let at = sides.find('L').unwrap_or(EXECUTIONS);
            // Missed gains count from the first execution that is no matter of doubt.
            let paid = KNOWN as usize + (CUBIN / (host - device)).ceil() as usize;
            assert!(at <= paid, "{nest:?} {:?} {sides}", nest.seconds());
            lost += at as f64 * (host - device) / original(nest, EXECUTIONS);
            count += 1;
        }
        assert!(count > 80 && lost / f64::from(count) < 0.05, "{count} {lost}");
    }

    #[test]
    fn slow_gains_are_found_in_the_long_run() {
        // (µs on the device by the estimate, where the host takes 67, the execution that loads)
        for (device, expected) in [(20.0, 11), (38.0, 150), (60.0, 478)] {
            let loading = Loading::default();
            let device = device * 1e-6;
            let estimate = Estimate {
                host: 67e-6,
                device,
                work: 1e5,
                unscaled: device,
                transfers: 0.0,
                moved: 0.0,
                leave: 0.0,
            };
            let at =
                1 + (0..1000).take_while(|_| !loading.pays(&estimate, estimate.gain(), KNOWN, CUBIN)).count();
            assert_eq!(at, expected, "{device}");
        }
    }

    #[test]
    fn one_long_execution_is_enough() {
        let rates = Rates::of(&REFERENCE, 8);
        // (work, bytes, loaded for the first one)
        for (work, bytes, expected) in [
            (2e6, 32_000, true),
            (1e7, 8_000_000, true),
            (1e8, 80_000_000, true),
            (1e8, 1_000_000_000, true),
            (1e6, 500_000, false),
            (2e5, 32_000, false),
            (1e7, 80_000_000, false),
        ] {
            let nest = Nest { work, bytes, host: 1.0, device: 1.0 };
            let learned = Learned::default();
            let estimate = learned.estimate(work, nest.moves(), 1, &rates);
            assert!(estimate.gain() > 0.0, "{estimate:?}");
            assert_eq!(learned.worth_loading(&estimate, estimate.gain(), CUBIN), expected, "{estimate:?}");
        }
    }
}
