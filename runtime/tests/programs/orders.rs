//! Whatever order the device works in, within what streams and events allow, the results are the same
//! (`fake_streams.h`); and no wait of the library can be left out (`src/planted.rs`;
//! `cargo test -p pollyrs-runtime --features planted planted`).

use std::os::unix::process::ExitStatusExt;

use crate::support::{Outcome, fake_cuda, run};

/// A scenario and its settings; a failure may end some programs, with a message, but not let one go on with
/// wrong results.
struct Trial {
    scenario: Vec<String>,
    settings: Vec<(&'static str, String)>,
    may_end: bool,
}

impl Trial {
    fn new(scenario: &str, settings: &[(&'static str, &str)]) -> Trial {
        let settings = settings.iter().map(|(name, value)| (*name, value.to_string())).collect();
        Trial { scenario: scenario.split(' ').map(str::to_string).collect(), settings, may_end: false }
    }

    /// It may end the program.
    fn failing(mut self, name: &'static str, value: &str) -> Trial {
        self.settings.push((name, value.to_string()));
        self.may_end = true;
        self
    }

    /// What went wrong in an order; None: nothing.
    fn complaint(&self, order: &[(&str, &str)], plant: &str) -> Option<String> {
        let always = [
            ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap()),
            ("POLLYRS_RT_OFFLOAD", "always"),
            ("POLLYRS_PLANT", plant),
        ];
        let own = self.settings.iter().map(|(name, value)| (*name, value.as_str()));
        let variables: Vec<(&str, &str)> =
            always.into_iter().chain(own).chain(order.iter().copied()).collect();
        let scenario: Vec<&str> = self.scenario.iter().map(String::as_str).collect();
        let outcome = run(&scenario, &variables);
        let what = what_went_wrong(&outcome, self.may_end)?;
        Some(format!("{what}: {scenario:?} {:?} {order:?}", self.settings))
    }
}

fn what_went_wrong(outcome: &Outcome, may_end: bool) -> Option<String> {
    let right = outcome.words.last().is_some_and(|word| word == "right");
    let fatal = outcome.stderr.contains("pollyrs: fatal: ");
    if outcome.output.status.success() && right || may_end && fatal {
        return None;
    }
    let signal = outcome.output.status.signal();
    Some(format!("{signal:?} {:?} {}", outcome.words.last(), outcome.stderr.trim()))
}

/// What uses streams and events in every way that the library has.
fn trials() -> Vec<Trial> {
    const QUIET: (&str, &str) = ("POLLYRS_RT_PROFILE", "");
    const SLICES: (&str, &str) = ("POLLYRS_RT_OVERLAP", "3");
    const DIRECT: (&str, &str) = ("POLLYRS_RT_STAGING", "0");
    const EXACT: (&str, &str) = ("POLLYRS_RT_POOL", "0");
    const SEVERAL: &[(&str, &str)] =
        &[("POLLYRS_RT_DEVICES", "3"), ("FAKE_CUDA_DEVICES", "3"), ("POLLYRS_RT_SHARE", "1")];
    let mut trials = Vec::new();
    for held in ["-1", "0", "12", "13", "14", "15"] {
        let scenario = format!("sliced_steps 1 1000 {held} 6");
        for settings in [&[SLICES, DIRECT][..], &[SLICES, QUIET], &[SLICES, QUIET, EXACT]] {
            trials.push(Trial::new(&scenario, settings));
        }
        for (name, failure) in [
            ("POLLYRS_RT_FAULT", "launch:4"),
            ("POLLYRS_RT_FAULT", "launch:9"),
            ("POLLYRS_RT_FAULT", "copy:6"),
            ("POLLYRS_RT_FAULT", "end-copy:2"),
            ("FAKE_CUDA_FAIL", "cuMemcpyDtoHAsync_v2:2:1"),
            ("FAKE_CUDA_FAIL", "cuStreamWaitEvent:9:1"),
            ("FAKE_CUDA_FAIL", "cuEventRecord:12:1"),
        ] {
            trials.push(Trial::new(&scenario, &[SLICES, QUIET, DIRECT, EXACT]).failing(name, failure));
        }
    }
    trials.extend([
        Trial::new("scratch 3", &[]),
        Trial::new("divided 1 1000 3 0", SEVERAL),
        Trial::new("divided 1 1000 3 1", SEVERAL),
        Trial::new("chains 1 90", &[QUIET]),
        Trial::new("threads", &[QUIET]),
        Trial::new("faulty", &[]),
        Trial::new("faulty", &[SLICES]),
        Trial::new("hurried", &[SLICES, QUIET]),
        Trial::new("hurried", &[SLICES, QUIET]).failing("POLLYRS_RT_FAULT", "end-copy:5"),
        Trial::new("window 2 200", &[DIRECT]),
        Trial::new("held_windows 1 100", &[QUIET]),
        Trial::new("held_parts 1 100", &[QUIET]),
        Trial::new("held_overlap", &[QUIET]),
        Trial::new("held 1 300 20 writes", &[QUIET]),
        Trial::new("steps 1 one", &[("POLLYRS_RT_RESIDENT", "on")]),
        Trial::new("sliced 2", &[SLICES, DIRECT]),
        Trial::new("sliced 2", &[SLICES, EXACT]),
        Trial::new("sliced_threads", &[SLICES, DIRECT]),
        Trial::new("parts 2 70", &[]).failing("POLLYRS_RT_FAULT", "launch:1"),
        Trial::new("large 2", &[DIRECT]),
        Trial::new("large 2", &[("POLLYRS_RT_STAGING", "64"), ("POLLYRS_RT_COPY_THREADS", "2")]),
        Trial::new("large_threads", &[DIRECT, QUIET]),
        Trial::new("parts 2 2000", &[DIRECT]),
        Trial::new("window 2 2000", &[DIRECT]),
        // Copies of 700 KB go through the ring, after the first 16 MB.
        Trial::new("sliced_steps 1 270000 -1 6", &[SLICES, DIRECT]),
        Trial::new("sliced_steps 1 270000 14 6", &[SLICES, QUIET]),
        Trial::new("large 2", &[DIRECT]).failing("FAKE_CUDA_FAIL", "cuMemcpyHtoDAsync_v2:7:1"),
        Trial::new("large_threads", &[DIRECT]).failing("FAKE_CUDA_FAIL", "cuMemcpyHtoDAsync_v2:40:1"),
        Trial::new("large 2", &[]).failing("FAKE_CUDA_FAIL", "cuStreamSynchronize:1:1"),
        // Nothing of the program's memory was written by then.
        Trial::new("both", &[DIRECT, ("FAKE_CUDA_FAIL", "cuStreamSynchronize:1:700")]),
    ]);
    trials
}

/// As late as possible, and by seeds, from ordinary memory and from memory that the program has pinned.
fn in_orders(seeds: u32, mut body: impl FnMut(&[(&str, &str)]) -> bool) {
    for pinned in ["UNUSED", "FAKE_CUDA_PINNED"] {
        if !body(&[(pinned, "1"), ("FAKE_CUDA_BUSY", "1")]) || !body(&[(pinned, "1")]) {
            return;
        }
        for seed in 0..seeds {
            if !body(&[(pinned, "1"), ("FAKE_CUDA_ORDER", &seed.to_string())]) {
                return;
            }
        }
    }
}

#[test]
fn no_order_changes_a_result() {
    let trials = trials();
    std::thread::scope(|scope| {
        for part in trials.chunks(trials.len().div_ceil(2)) {
            scope.spawn(move || {
                for trial in part {
                    in_orders(4, |order| {
                        assert_eq!(trial.complaint(order, ""), None);
                        true
                    });
                }
            });
        }
    });
}

#[cfg(feature = "planted")]
#[test]
fn planted_waits_are_missed() {
    let mut unseen = Vec::new();
    for (bug, what) in pollyrs_rt::planted::BUGS {
        let mut found = None;
        for trial in trials() {
            in_orders(4, |order| {
                found = trial.complaint(order, bug);
                found.is_none()
            });
            if found.is_some() {
                break;
            }
        }
        match found {
            Some(complaint) => println!("{bug} ({what}): {complaint}"),
            None => unseen.push(bug),
        }
    }
    assert_eq!(unseen, [""; 0]);
}
