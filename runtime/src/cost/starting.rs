//! When the driver is started.
//!
//! Problem: the start takes [`super::Rates::startup`], a fifth of a second, once a process, and nobody knows
//! what the process has left to do. The ski-rental rule alone, which pays once the gains that were missed add
//! up to the price, loses a whole start where the process ends right after it: a program of 300 ms takes 500.
//! Approach: the start belongs to the price of the execution for which it happens. What that execution surely
//! gains ([`sure_gain`]) is taken off; what is left may be lost, and is paid only if it is at most [`SHARE`]
//! of the time that the process has run so far. So whenever a process ends, the start has not cost it more
//! than that. Besides, gains that were missed have to add up to the price, as before: in a process that has
//! run for hours a start for a microsecond is a loss, too.
//!
//! Example: a loop that takes 10 s on the host by the estimate, never measured, and 0.1 on the device: surely
//! 2.5 s - 0.15, so the driver is started at once. One of 10 ms, again and again: after 20 of them the gains
//! would pay, but the process has to have run for 4 s.

use super::loading::sure_gain;
use super::{Estimate, Figure};

/// What a start may cost of the time that the process has run.
const SHARE: f64 = 1.0 / 20.0;

/// Why the driver is not started: seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wait {
    /// Gains so far.
    Gains(f64),
    /// The process has run for so long.
    Age(f64),
}

/// What was missed while the driver was not started. Threads that ask at once may lose some of it.
#[derive(Debug, Default)]
pub struct Starting {
    missed: Figure,
}

impl Starting {
    pub(super) const fn new() -> Starting {
        Starting { missed: Figure::new() }
    }

    /// An execution would gain `gain` seconds, of which the host's time was measured so often: whether the
    /// driver, and what else has to be there for this execution, is worth `price` seconds. `age`: how long
    /// the process has run; asked only where the rest speaks for a start.
    pub fn pays(
        &self,
        estimate: &Estimate,
        gain: f64,
        measurements: u64,
        price: f64,
        age: impl FnOnce() -> f64,
    ) -> Result<(), Wait> {
        let missed = self.missed.add(gain);
        if missed < price {
            return Err(Wait::Gains(missed));
        }
        // What this execution may take longer on the device is lost as well.
        let lost = price - sure_gain(estimate, gain, measurements);
        if lost <= 0.0 {
            return Ok(());
        }
        let age = age();
        if lost <= SHARE * age { Ok(()) } else { Err(Wait::Age(age)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KNOWN, LONG};
    use super::*;

    const START: f64 = 0.2;
    /// The aim: whole processes, against the original loops.
    const LIMIT: f64 = 0.05;

    fn estimate(host: f64, device: f64) -> Estimate {
        Estimate { host, device, work: 1e9 * host, unscaled: device, transfers: 0.0, moved: 0.0, leave: 0.0 }
    }

    /// A process: `before` seconds of something else, then executions with as much of something else behind
    /// each. The estimates are measured times after the first execution.
    #[derive(Clone, Copy, Debug)]
    struct Process {
        before: f64,
        between: f64,
        host: f64,
        device: f64,
        estimated_host: f64,
        estimated_device: f64,
    }

    /// The execution for which the driver is started, and seconds after each with the choice and with the
    /// host alone.
    fn run(process: Process, executions: u64) -> (Option<u64>, Vec<(f64, f64)>) {
        let Process { before, between, host, device, .. } = process;
        let (starting, mut started, mut clock, mut plain) = (Starting::default(), None, before, before);
        let mut times = Vec::new();
        for n in 0..executions {
            let estimated =
                estimate(if n == 0 { process.estimated_host } else { host }, process.estimated_device);
            let gain = estimated.gain();
            let on_device = match started {
                Some(_) => device < host,
                None => gain > 0.0 && starting.pays(&estimated, gain, n, START, || clock).is_ok(),
            };
            if on_device && started.is_none() {
                started = Some(n);
                clock += START;
            }
            clock += between + if on_device { device } else { host };
            plain += between + host;
            times.push((clock, plain));
        }
        (started, times)
    }

    fn processes() -> Vec<Process> {
        let mut all = Vec::new();
        for before in [0.0, 0.01, 0.3, 2.0, 30.0] {
            for between in [0.0, 1e-3, 0.1] {
                for host in [1e-4, 2e-3, 0.02, 0.1, 0.25, 0.6, 3.0, 20.0] {
                    for ratio in [0.01, 0.2, 0.6, 0.95, 1.4] {
                        // As far as estimates are trusted.
                        for error in [0.25, 0.5, 1.0, 2.0] {
                            for device_error in [0.7, 1.0, 1.5] {
                                let device = ratio * host;
                                let estimated_host = host / error;
                                let estimated_device = device / device_error;
                                if estimated_host >= LONG || error >= 0.5 {
                                    all.push(Process {
                                        before,
                                        between,
                                        host,
                                        device,
                                        estimated_host,
                                        estimated_device,
                                    });
                                }
                            }
                        }
                    }
                }
            }
        }
        all
    }

    #[test]
    fn no_process_loses_more_than_a_twentieth() {
        let (mut starts, mut worst) = (0, 0.0f64);
        for process in processes() {
            let executions = (8.0 / process.host).clamp(4.0, 2000.0) as u64;
            let (started, times) = run(process, executions);
            // Wherever it ends.
            for (n, (clock, plain)) in times.into_iter().enumerate() {
                let loss = clock / plain - 1.0;
                assert!(loss <= LIMIT + 1e-9, "{loss:.4} after {n} executions of {process:?}");
                worst = worst.max(loss);
            }
            starts += usize::from(started.is_some());
        }
        assert!(starts > 1000 && worst > 0.04, "{starts} {worst}");
    }

    #[test]
    fn what_pays_at_once_starts_at_once() {
        // (host by the estimate, device, measurements, seconds that the process has run, started)
        for (host, device, measurements, age, expected) in [
            (10.0, 0.1, 0, 0.0, true),
            (0.3, 0.01, 0, 0.3, false),
            // Known to take that long.
            (0.3, 0.01, KNOWN, 0.0, true),
            (0.3, 0.01, 1, 1.0, false),
            (0.3, 0.01, 1, 1.4, true),
            // A start is more than what is missed.
            (0.1, 0.01, KNOWN, 1e4, false),
            (0.5, 0.49, KNOWN, 1e4, false),
            // Two thirds of the host's time are nothing to rely on.
            (1.0, 0.67, KNOWN, 3.0, false),
            (1.0, 0.67, KNOWN, 4.2, true),
        ] {
            let estimate = estimate(host, device);
            let found = Starting::default().pays(&estimate, estimate.gain(), measurements, START, || age);
            assert_eq!(found.is_ok(), expected, "{host} {device} {measurements} {age}: {found:?}");
        }
    }

    #[test]
    fn many_small_gains_start_a_long_process() {
        // 10 ms on the host, 1 on the device: not before 4 seconds, and soon then.
        let process = Process {
            before: 0.0,
            between: 0.0,
            host: 0.01,
            device: 1e-3,
            estimated_host: 0.01,
            estimated_device: 1e-3,
        };
        let (started, times) = run(process, 3000);
        let at = started.map(|n| times[n as usize].1);
        assert!(at.is_some_and(|at| (3.7..4.1).contains(&at)), "{at:?}");
        assert!(times[2999].0 < 0.25 * times[2999].1);
        // The clock is asked only where gains would pay.
        let (small, starting) = (estimate(0.01, 1e-3), Starting::default());
        for _ in 0..20 {
            let asked = starting.pays(&small, small.gain(), KNOWN, START, || unreachable!());
            assert!(matches!(asked, Err(Wait::Gains(_))), "{asked:?}");
        }
    }
}
