//! Copies beside kernels: a launch in slices, then one that uses another array. The driver of `fake_cuda.c`
//! copies nothing before somebody waits for it, so a wait too few gives wrong results.

use crate::support::{Outcome, SYSTEM, compile, fake_cuda, libraries, run, run_program};

const ALWAYS: (&str, &str) = ("POLLYRS_RT_OFFLOAD", "always");
const EMULATED: (&str, &str) = ("POLLYRS_RT_DEVICE", "emulated");

fn cuda(scenario: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    run(scenario, &[&[library, ALWAYS], variables].concat())
}

fn slices(n: &str) -> (&str, &str) {
    ("POLLYRS_RT_OVERLAP", n)
}

#[test]
fn results_with_any_number_of_slices() {
    for (n, launches) in [("off", 2), ("auto", 2), ("1", 2), ("2", 3), ("5", 6), ("100", 9)] {
        for (busy, staging) in [("FAKE_CUDA_BUSY", "0"), ("FAKE_CUDA_BUSY", "64"), ("UNUSED", "0")] {
            let variables =
                [slices(n), (busy, "1"), ("POLLYRS_RT_STAGING", staging), ("POLLYRS_RT_CHECK", "1")];
            let outcome = cuda(&["sliced", "2"], &variables);
            outcome.expect(&["device", "device", "right"]);
            assert!(outcome.profile.iter().all(|line| line["kernels"] == launches), "{n}: {outcome}");
            // A, C and D to the device; B, C and D back.
            let bytes =
                |line: &serde_json::Value| (line["bytes_to_device"].as_u64(), line["bytes_to_host"].as_u64());
            assert!(
                outcome.profile.iter().all(|line| bytes(line) == (Some(24008), Some(24000))),
                "{n}: {outcome}"
            );
            assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
        }
        run(&["sliced", "2"], &[EMULATED, slices(n), ("POLLYRS_RT_CHECK", "1")])
            .expect(&["device", "device", "right"]);
    }
    // Fewer blocks than slices, and none.
    for elements in ["33", "1", "0"] {
        cuda(&["sliced", "1", elements], &[slices("4")]).expect(&["device", "right"]);
    }
}

/// Large arrays are cut by themselves: 2 x 36 MB to the device for the first launch, and 18 MB for the
/// second; copies go through the ring.
#[test]
fn large_arrays() {
    for threads in ["0", "1", "3"] {
        for busy in ["FAKE_CUDA_BUSY", "UNUSED"] {
            let variables = [("POLLYRS_RT_COPY_THREADS", threads), (busy, "1")];
            let outcome = cuda(&["sliced", "2", "4500003", "0", "0", "64e9"], &variables);
            outcome.expect(&["device", "device", "right"]);
            // As many as a kernel of 3.2 ms is worth, at least.
            assert_eq!(outcome.profile[0]["kernels"], 5, "{outcome}");
        }
    }
    // Too small, and too short.
    for elements in ["100000", "4500003"] {
        let outcome = cuda(&["sliced", "1", elements], &[]);
        assert_eq!(outcome.profile[0]["kernels"], 2, "{outcome}");
    }
    let outcome = cuda(&["sliced", "1", "100000"], &[]);
    assert!(outcome.profile[0]["kernels"] == 2 && outcome.calls("cuStreamWaitEvent") == 0, "{outcome}");
}

/// The program of the test can tell: a slice that needs one element more than it says finds none.
#[test]
fn a_wrong_claim_shows() {
    let outcome = cuda(&["sliced", "1", "1000", "8"], &[slices("4")]);
    assert_eq!(outcome.words, ["device", "wrong"], "{outcome}");
    let outcome = run(&["sliced", "1", "1000", "8"], &[EMULATED, slices("4")]);
    assert_eq!(outcome.words, ["device", "wrong"], "{outcome}");
    // What is done must not change any more.
    let variables = [EMULATED, slices("4"), ("POLLYRS_RT_CHECK", "copies")];
    run(&["sliced", "1", "1000", "0", "8"], &variables).expect_fatal("which was said to be done");
}

/// Whatever fails, and when: the original loop runs, on memory as it was but for the array that it
/// overwrites.
#[test]
fn every_failure_leaves_the_original_loop() {
    for (call, count) in [
        ("cuStreamCreate", 6),
        ("cuEventCreate", 8),
        ("cuEventRecord", 14),
        ("cuStreamWaitEvent", 14),
        ("cuMemcpyHtoDAsync_v2", 9),
        ("cuLaunchKernel", 5),
        ("cuMemcpyDtoHAsync_v2", 5),
    ] {
        for code in ["1", "700"] {
            for k in 1..=count {
                let fail = format!("{call}:{k}:{code}");
                let variables = [
                    slices("4"),
                    ("FAKE_CUDA_FAIL", &fail),
                    ("FAKE_CUDA_BUSY", "1"),
                    ("POLLYRS_RT_STAGING", "64"),
                ];
                let outcome = cuda(&["sliced"], &variables);
                assert_eq!(outcome.words.last().map(String::as_str), Some("right"), "{fail}: {outcome}");
                // Some calls are for times only.
                if !call.starts_with("cuEvent") && k < count {
                    assert_eq!(outcome.words[0], "host", "{fail}: {outcome}");
                }
            }
        }
    }
    for fault in [
        "copy:1",
        "copy:5",
        "copy:9",
        "end-copy:1",
        "end-copy:3",
        "launch:1",
        "launch:3",
        "launch:5",
        "sync:1",
    ] {
        for device in [("POLLYRS_RT_DEVICE", "cuda"), EMULATED] {
            let variables = [slices("4"), ("POLLYRS_RT_FAULT", fault), device];
            cuda(&["sliced"], &variables).expect_host("injected");
        }
    }
}

/// Executions on the same arrays, in a hold and not: each operation fails at each of its first turns. The
/// results are right, or the program ends and says why.
#[test]
fn every_injected_fault_among_many_executions() {
    for held in ["-1", "0", "12", "14", "15"] {
        let (mut survived, mut ended) = (0, 0);
        for (operation, count) in
            [("module", 1), ("alloc", 8), ("copy", 24), ("end-copy", 16), ("launch", 16), ("sync", 6)]
        {
            for k in 1..=count {
                let fault = format!("{operation}:{k}");
                for order in
                    [("UNUSED", "1"), ("FAKE_CUDA_ORDER", fault.strip_prefix("sync:").unwrap_or("3"))]
                {
                    let variables = [
                        slices("3"),
                        ("POLLYRS_RT_FAULT", fault.as_str()),
                        ("POLLYRS_RT_STAGING", if k % 2 == 0 { "0" } else { "4" }),
                        order,
                    ];
                    let outcome = cuda(&["sliced_steps", "1", "1000", held, "4"], &variables);
                    if outcome.output.status.success() {
                        assert_eq!(
                            outcome.words.last().map(String::as_str),
                            Some("right"),
                            "{fault}: {outcome}"
                        );
                        survived += u32::from(outcome.words.contains(&"host".to_string()));
                    } else {
                        outcome.expect_fatal("");
                        ended += 1;
                    }
                }
            }
        }
        assert!(survived >= 10 && ended >= 4, "{held}: {survived} {ended}");
    }
}

/// Three of four arrays fit.
#[test]
fn a_lack_of_memory_leaves_the_original_loop() {
    for held in ["-1", "12"] {
        let outcome =
            cuda(&["sliced_steps", "1", "1000", held, "2"], &[slices("3"), ("FAKE_CUDA_BYTES", "50000")]);
        outcome.expect(&["host", "host", "right"]);
        let reason = outcome.profile[0]["reason"].as_str().unwrap();
        assert!(reason.starts_with("not enough memory on the device for 80"), "{outcome}");
    }
}

#[test]
fn threads_and_children() {
    for order in [("UNUSED", "1"), ("FAKE_CUDA_ORDER", "2"), ("FAKE_CUDA_ORDER", "3")] {
        let outcome = cuda(&["sliced_threads"], &[slices("3"), order]);
        outcome.expect(&["right"]);
        assert!(
            outcome
                .profile
                .iter()
                .filter(|line| line["release"] != true)
                .all(|line| line["device"] == "cuda")
        );
        // The child of a process with streams, events and copying threads leaves the device alone; its parent
        // goes on.
        let outcome = cuda(&["sliced_fork"], &[slices("3"), order]);
        outcome.expect(&["device", "device", "host", "host", "right", "device", "device", "right"]);
    }
}

/// A library with loops comes and goes, with copies beside its kernels, with copying threads (large arrays)
/// and without.
#[test]
fn libraries_come_and_go() {
    let archive = libraries().join("libpollyrs_rt.a");
    let shared = ["-shared", "-fPIC", archive.to_str().unwrap()];
    let library = compile("libloaded.so", "program.c", &[&shared, &SYSTEM[..]].concat());
    let loads = compile("loads", "loads.c", &SYSTEM);
    let driver = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    for elements in ["1000", "270000"] {
        let scenario = [library.to_str().unwrap(), "sliced_steps", "1", elements, "12", "3"];
        let outcome = run_program(&loads, &scenario, &[driver, ALWAYS, slices("3")]);
        outcome.expect(&["device", "device", "device", "right"].repeat(3));
    }
}
