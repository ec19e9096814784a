//! Arrays that stay on the device between the SCoPs of a function.

use serde_json::Value;

use crate::support::{Outcome, fake_cuda, machine, run};

fn cuda(scenario: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    run(scenario, &[&[library, ALWAYS], variables].concat())
}

const ALWAYS: (&str, &str) = ("POLLYRS_RT_OFFLOAD", "always");

fn sum(profile: &[Value], field: &str) -> u64 {
    profile.iter().map(|line| line[field].as_u64().unwrap()).sum()
}

/// 20 SCoPs in a loop of 100 iterations, a read of A every tenth: each array goes to the device once, A comes
/// back ten times, B once at the end. The inner 19,990 of 20,000 elements are written.
#[test]
fn bytes_moved_are_the_necessary_ones() {
    let outcome = cuda(&["held"], &[]);
    outcome.expect(&["right"]);
    assert!(outcome.profile.iter().all(|line| line["device"] == "cuda"), "{outcome}");
    assert_eq!(sum(&outcome.profile, "kernels"), 2000);
    assert_eq!(sum(&outcome.profile, "bytes_to_device"), 2 * 20_000 * 8);
    assert_eq!(sum(&outcome.profile, "bytes_to_host"), 11 * 19_990 * 8);
    assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{}", outcome.log);
    // With B written by the host every 25th iteration it goes and comes four times.
    let outcome = cuda(&["held", "1", "20000", "100", "writes"], &[]);
    outcome.expect(&["right"]);
    assert_eq!(sum(&outcome.profile, "bytes_to_device"), (1 + 4) * 20_000 * 8);
    assert_eq!(sum(&outcome.profile, "bytes_to_host"), (10 + 4) * 19_990 * 8);
}

#[test]
fn without_a_profile_executions_do_not_wait() {
    let outcome = cuda(&["held"], &[("POLLYRS_RT_PROFILE", "")]);
    outcome.expect(&["right"]);
    let waits = outcome.calls("cuStreamSynchronize");
    assert!(waits < 300, "{waits} waits for 2000 executions");
    assert_eq!(outcome.calls("cuMemAlloc_v2"), 2, "memory stays");
}

/// What is copied in of arrays that are not held must be read before the program goes on; kernels behind it
/// run on.
#[test]
fn copies_are_waited_for_without_their_kernels() {
    let variables = [("POLLYRS_RT_PROFILE", ""), ("FAKE_CUDA_PINNED", "1"), ("FAKE_CUDA_BUSY", "1")];
    for held in ["14", "15"] {
        let outcome = cuda(&["sliced_steps", "12", "1000", held, "6"], &variables);
        outcome.expect(&[&["device"; 72][..], &["right"]].concat());
        // A is copied in by each of six executions. The first one is measured, the others wait for their
        // copies only; results come back five times.
        let waits = ["cuStreamSynchronize", "cuEventSynchronize"].map(|name| outcome.calls(name));
        assert_eq!(waits, [12 * 6, 12 * 5], "{held}: {outcome}");
    }
}

#[test]
fn every_device_and_size() {
    let emulated = ("POLLYRS_RT_DEVICE", "emulated");
    for n in ["11", "33", "1000"] {
        for staging in ["0", "64"] {
            let variables = [("POLLYRS_RT_STAGING", staging)];
            cuda(&["held", "1", n, "26", "writes"], &variables).expect(&["right"]);
            run(&["held", "1", n, "26", "writes"], &[&variables[..], &[emulated]].concat())
                .expect(&["right"]);
        }
    }
    // Large enough for the ring, with parts of different shapes.
    for rows in ["1", "3", "800"] {
        for threads in ["0", "2"] {
            let variables = [("POLLYRS_RT_COPY_THREADS", threads)];
            let words = ["device", "device", "device", "device", "right"];
            cuda(&["held_parts", "1", rows], &variables).expect(&words);
        }
        run(&["held_parts", "1", rows], &[emulated])
            .expect(&["device", "device", "device", "device", "right"]);
    }
}

/// Of windows the rows alone move, once; whoever needs more of the array gets the results of windows first.
#[test]
fn windows_stay() {
    let words: Vec<&str> = [&["device"; 20][..], &["right"]].concat();
    let emulated = ("POLLYRS_RT_DEVICE", "emulated");
    for rows in ["1", "2", "100", "800"] {
        for staging in ["0", "64"] {
            let variables = [("POLLYRS_RT_STAGING", staging), ("POLLYRS_RT_OFFLOAD", "always")];
            run(&["held_windows", "1", rows], &[&variables[..], &[emulated]].concat()).expect(&words);
            let outcome = cuda(&["held_windows", "1", rows], &variables);
            outcome.expect(&words);
            let executions = outcome.profile.iter().filter(|line| line["kernels"] == 1);
            let moved: Vec<u64> =
                executions.map(|line| line["bytes_to_device"].as_u64().unwrap_or(u64::MAX)).collect();
            if rows == "800" {
                // Three columns; there already; only written; twenty columns, the range of 500 in full, there
                // already.
                assert_eq!(moved[..6], [3 * 6400, 0, 0, 20 * 6400, 8 * (799 * 1000 + 500), 0], "{outcome}");
            }
        }
    }
    for (operation, count) in [("alloc", 3), ("copy", 20), ("launch", 20), ("sync", 20)] {
        for k in 1..=count {
            let fault = format!("{operation}:{k}");
            let outcome = run(&["held_windows", "1", "30"], &[emulated, ("POLLYRS_RT_FAULT", &fault)]);
            if outcome.output.status.success() {
                assert_eq!(outcome.words.last().map(String::as_str), Some("right"), "{fault}: {outcome}");
            } else {
                outcome.expect_fatal("");
            }
        }
    }
}

#[test]
fn overlapping_arrays() {
    for variables in [&[][..], &[("POLLYRS_RT_DEVICE", "emulated")]] {
        let outcome = cuda(&["held_overlap"], variables);
        assert_eq!(outcome.words.last().map(String::as_str), Some("right"), "{outcome}");
        assert!(outcome.words[..30].iter().all(|word| word == "device"), "{outcome}");
    }
}

#[test]
fn threads_have_holds_of_their_own() {
    cuda(&["held_threads"], &[]).expect(&["right"]);
    cuda(&["held_threads"], &[("POLLYRS_RT_RESIDENT", "on")]).expect(&["right"]);
}

/// A failure leaves the original loop as long as the program's memory, or the results of earlier executions,
/// are whole; where a launch may have changed the only copy, the program ends.
#[test]
fn every_failure_is_survived_or_fatal() {
    let calls = [
        ("cuCtxPushCurrent_v2", 40),
        ("cuModuleLoadDataEx", 1),
        ("cuStreamCreate", 1),
        ("cuMemAlloc_v2", 2),
        ("cuMemcpyHtoDAsync_v2", 2),
        ("cuLaunchKernel", 20),
        ("cuStreamSynchronize", 22),
        ("cuMemcpyDtoHAsync_v2", 2),
    ];
    let (mut survived, mut ended) = (0, 0);
    for code in ["1", "700"] {
        for (call, count) in calls {
            for k in (1..=count).step_by(if count > 20 { 3 } else { 1 }) {
                let fail = format!("{call}:{k}:{code}");
                let outcome = cuda(&["held_few"], &[("FAKE_CUDA_FAIL", &fail)]);
                if outcome.output.status.success() {
                    outcome.expect(&["right"]);
                    survived += 1;
                } else {
                    outcome.expect_fatal("");
                    ended += 1;
                }
            }
        }
    }
    assert!(survived >= 10 && ended >= 10, "{survived} {ended}");
    for fault in ["alloc:1", "alloc:4", "copy:1", "copy:2", "launch:1", "sync:1", "module:1"] {
        let outcome = cuda(&["held_few"], &[("POLLYRS_RT_FAULT", fault)]);
        outcome.expect(&["right"]);
        assert!(outcome.profile.iter().any(|line| line["device"] == "host"), "{fault}: {outcome}");
    }
}

/// Who loses the only copy of results says whose they were, and why, and ends the program: nobody may go on
/// without them.
#[test]
fn a_lost_device_is_named() {
    let mut ended = 0;
    for call in ["cuMemcpyDtoHAsync_v2", "cuStreamSynchronize", "cuLaunchKernel", "cuCtxPushCurrent_v2"] {
        for k in 1..=12 {
            let outcome = cuda(&["held_few"], &[("FAKE_CUDA_FAIL", &format!("{call}:{k}:700"))]);
            if outcome.output.status.success() {
                outcome.expect(&["right"]);
                continue;
            }
            outcome.expect_fatal("");
            let lost = outcome.stderr.contains("results were lost while they were copied back: ");
            let changed = outcome.stderr.contains("a failure left arrays half changed on the device");
            let why = outcome.stderr.contains(&format!("{call} failed with error 700")) || changed;
            assert!((lost || changed) && why && outcome.stderr.lines().count() == 1, "{call}:{k}: {outcome}");
            ended += 1;
        }
    }
    assert!(ended >= 4, "{ended}");
}

/// The same on the emulated device, and where arrays also stay between executions: each operation fails at
/// each of its first turns.
#[test]
fn every_injected_fault_is_survived_or_fatal() {
    let emulated = ("POLLYRS_RT_DEVICE", "emulated");
    let resident = ("POLLYRS_RT_RESIDENT", "on");
    for settings in [&[emulated][..], &[resident], &[resident, ("POLLYRS_RT_STAGING", "64")]] {
        let (mut survived, mut ended, mut untouched) = (0, 0, 0);
        for operation in ["module", "alloc", "copy", "end-copy", "launch", "sync"] {
            for k in 1..=8 {
                let fault = format!("{operation}:{k}");
                let outcome = cuda(&["held_few"], &[settings, &[("POLLYRS_RT_FAULT", &fault)]].concat());
                if outcome.output.status.success() {
                    outcome.expect(&["right"]);
                    let fell_back = outcome.profile.iter().any(|line| line["device"] == "host");
                    if fell_back { survived += 1 } else { untouched += 1 }
                } else {
                    outcome.expect_fatal("");
                    ended += 1;
                }
            }
        }
        assert!(survived >= 6 && ended >= 2, "{settings:?}: {survived} {ended} {untouched}");
    }
}

#[test]
fn in_auto_mode_an_array_moves_once_it_has_paid() {
    // 1e-3 s of work an execution, by the estimate; moving 160 KB twice takes less. Then, with a thousandth
    // of it, the host is right.
    let folder = machine(1e-5, 36e9);
    let cache = ("POLLYRS_RT_CACHE", folder.to_str().unwrap());
    let outcome = cuda(&["held", "1", "20000", "10"], &[("POLLYRS_RT_OFFLOAD", "auto"), cache]);
    outcome.expect(&["right"]);
    assert!(outcome.profile.iter().any(|line| line["device"] == "cuda"), "{outcome}");
}
