//! Estimates: what a machine does in a second, when the driver is started, and what is given up.

use std::path::PathBuf;

use crate::cuda::{ALWAYS, cuda};
use crate::support::{Outcome, fresh, machine};

/// The figures of a machine are measured by the first processes that start the driver, where they can be
/// kept.
#[test]
fn machines_are_measured_by_the_first_processes() {
    let folder = fresh("cache");
    let file = || -> Option<PathBuf> {
        let mut files = std::fs::read_dir(&folder).ok()?.map(|entry| entry.unwrap().path());
        let first = files.next();
        assert!(files.next().is_none(), "one file, and no remains");
        first
    };
    let measured = |variables: &[(&str, &str)]| {
        let cache = ("POLLYRS_RT_CACHE", folder.to_str().unwrap());
        let outcome = cuda(&["plain"], &[&[cache, ALWAYS], variables].concat());
        outcome.expect(&["device", "right"]);
        assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
        outcome.calls("cuMemcpyDtoDAsync_v2") > 0
    };
    // No failure of the driver leaves anything, or keeps the program from its work.
    for fail in ["cuMemHostAlloc:1:2", "cuMemAlloc_v2:2:2", "cuModuleLoadDataEx:1:218", "cuLaunchKernel:9:1"]
    {
        measured(&[("FAKE_CUDA_FAIL", fail)]);
        assert_eq!(file(), None, "{fail}");
    }
    assert!(!measured(&[("POLLYRS_RT_CACHE", "off")]) && file().is_none());
    assert!(measured(&[]));
    let path = file().unwrap();
    for _ in 1..8 {
        assert!(measured(&[]) && file().as_ref() == Some(&path));
    }
    assert!(!measured(&[]) && file().as_ref() == Some(&path));
    // Nonsense is replaced.
    std::fs::write(&path, "{").unwrap();
    assert!(measured(&[]) && std::fs::read(&path).unwrap().len() > 50);
    // Where nothing can be written nothing is measured.
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "a file").unwrap();
    assert!(!measured(&[]));
}

/// On a machine whose host is fast an execution stays there that is worth the device on one whose host is
/// slow.
#[test]
fn the_figures_of_the_machine_decide() {
    for (host, side) in [(30e9, "device"), (3000e9, "host")] {
        let folder = machine(0.2, host);
        let cache = ("POLLYRS_RT_CACHE", folder.to_str().unwrap());
        cuda(&["timed", "1", "3e9", "1e6"], &[cache]).expect(&[side, "right"]);
    }
}

#[test]
fn the_estimate_comes_before_the_driver() {
    let outcome = cuda(&["small"], &[]);
    outcome.expect_host("not worth a transfer");
    assert_eq!(outcome.log, "", "the driver was not started");
    cuda(&["small"], &[ALWAYS]).expect(&["device", "right"]);
}

#[test]
fn the_start_of_the_driver_is_at_most_a_twentieth() {
    // 60 ms each: 3 times 60 ms are less than 220 ms. What comes then would pay, but in a process that has
    // run for 4 s only.
    let outcome = cuda(&["timed", "6", "6e7", "6e7"], &[]);
    outcome.expect(&["host", "host", "host", "host", "host", "host", "right"]);
    let reason = |n: usize| outcome.profile[n]["reason"].as_str().unwrap();
    assert!(reason(2).starts_with("not yet worth starting the driver"), "{outcome}");
    assert!(reason(5).starts_with("starting the driver, some 2"), "{outcome}");
    assert_eq!(outcome.log, "", "the driver was not started");
    // One large execution is enough, and one of moderate size that is known to take that long.
    cuda(&["timed", "1", "3e9", "3e6"], &[]).expect(&["device", "right"]);
    cuda(&["timed", "2", "6e8", "6e8"], &[]).expect(&["host", "device", "right"]);
}

#[test]
fn a_driver_that_starts_at_once_is_started_soon() {
    let folder = machine(1e-3, 36e9);
    let cache = ("POLLYRS_RT_CACHE", folder.to_str().unwrap());
    cuda(&["timed", "3", "6e7", "6e7"], &[cache]).expect(&["device", "device", "device", "right"]);
}

/// 20 launches of 40 ms each, 250 ms on the host.
#[test]
fn an_execution_that_goes_on_and_on_is_given_up_once() {
    let folder = machine(1e-3, 36e9);
    let cache = ("POLLYRS_RT_CACHE", folder.to_str().unwrap());
    for profile in [true, false] {
        let variables = [cache, ("POLLYRS_RT_PROFILE", "")];
        let outcome = cuda(&["endless", "3"], if profile { &variables[..1] } else { &variables });
        outcome.expect(&["host", "host", "host", "right"]);
        let launches = outcome.calls("cuLaunchKernel");
        assert!((2..20).contains(&launches), "{launches}");
        assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
        if profile {
            let reasons: Vec<_> =
                outcome.profile.iter().map(|line| line["reason"].as_str().unwrap()).collect();
            assert!(reasons[0].starts_with("given up on the device after 5"), "{outcome}");
            assert!(reasons[1..].iter().all(|reason| reason.starts_with("not worth")), "{outcome}");
        }
    }
    // Whoever wants the device gets it.
    let outcome = cuda(&["endless"], &[ALWAYS]);
    outcome.expect(&["device", "right"]);
}

#[test]
fn the_host_is_measured() {
    // It takes 0.1 ms in place of the estimated 200 ms: less than the 4 ms that the device is estimated to
    // take. On a machine with other things to do it may take longer: then once more.
    let attempt = || cuda(&["timed", "8", "2e8", "1e5"], &[]);
    let measured = |outcome: &Outcome| outcome.words.iter().all(|word| word != "device");
    let outcome = (0..4).map(|_| attempt()).find(measured).unwrap_or_else(attempt);
    outcome.expect(&["host", "host", "host", "host", "host", "host", "host", "host", "right"]);
    assert_eq!(outcome.log, "", "the driver was not started");
    let reason = outcome.profile[7]["reason"].as_str().unwrap();
    assert!(reason.starts_with("not worth a transfer"), "{outcome}");
}
