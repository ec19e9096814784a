//! The use of the CUDA driver, on the driver of `fake_cuda.c`.

use crate::support::{Outcome, compile, device_program, fake_cuda, fresh, run, run_program};

/// A scenario with a driver.
pub fn cuda(scenario: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    run(scenario, &[&[library], variables].concat())
}

pub const ALWAYS: (&str, &str) = ("POLLYRS_RT_OFFLOAD", "always");

#[test]
fn results() {
    for scenario in ["plain", "scratch", "both"] {
        for staging in ["0", "64"] {
            let outcome =
                cuda(&[scenario, "2"], &[("POLLYRS_RT_STAGING", staging), ("POLLYRS_RT_CHECK", "1")]);
            outcome.expect(&["device", "device", "right"]);
            assert!(outcome.profile.iter().all(|line| line["device"] == "cuda"), "{outcome}");
            assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
        }
    }
    let outcome = cuda(&["sizes"], &[ALWAYS]);
    assert!(
        outcome.words.iter().take(7).all(|word| word == "device") && outcome.words[7] == "right",
        "{outcome}"
    );
}

#[test]
fn the_profile_has_the_drivers_time() {
    let outcome = cuda(&["plain"], &[]);
    let line = &outcome.profile[0];
    assert_eq!((&line["kernel_ms"], &line["kernels"]), (&0.25.into(), &1.into()), "{outcome}");
    let outcome = cuda(&["plain"], &[("POLLYRS_RT_PROFILE", "")]);
    outcome.expect(&["device", "right"]);
    assert_eq!(outcome.calls("cuEventCreate"), 0, "no times without a profile");
}

#[test]
fn driver_module_memory_and_stream_are_kept() {
    let outcome = cuda(&["scratch", "5"], &[]);
    let counts =
        ["cuInit", "cuDevicePrimaryCtxRetain", "cuModuleLoadDataEx", "cuModuleGetFunction", "cuStreamCreate"]
            .map(|name| outcome.calls(name));
    assert_eq!(counts, [1, 1, 1, 2, 1], "{outcome}");
    assert_eq!((outcome.calls("cuMemAlloc_v2"), outcome.calls("cuMemFree_v2")), (3, 0), "{outcome}");
    let outcome = cuda(&["scratch", "5"], &[("POLLYRS_RT_POOL", "0")]);
    assert_eq!((outcome.calls("cuMemAlloc_v2"), outcome.calls("cuMemFree_v2")), (15, 15), "{outcome}");
}

#[test]
fn launches_as_described() {
    let outcome = cuda(&["plain"], &[]);
    assert!(outcome.log.contains("cuLaunchKernel grid 32 1 1 block 32 1 1 shared 0\n"), "{outcome}");
    assert!(outcome.log.contains("cuStreamCreate 1\n"), "not blocked by the default stream: {outcome}");
}

#[test]
fn threads_at_once() {
    let outcome = cuda(&["threads"], &[]);
    outcome.expect(&["right"]);
    assert_eq!((outcome.calls("cuInit"), outcome.calls("cuModuleLoadDataEx")), (1, 1));
    assert!(outcome.profile.len() == 200 && outcome.profile.iter().all(|line| line["device"] == "cuda"));
    assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"));
}

/// Calls of the driver need more of a stack than loops do.
#[test]
fn small_stacks_are_left_alone() {
    let outcome = cuda(&["small_stacks"], &[]);
    outcome.expect(&["right"]);
    let devices: Vec<_> = outcome.profile.iter().map(|line| line["device"].as_str().unwrap()).collect();
    assert_eq!(devices, ["host", "cuda", "host"], "{outcome}");
    for line in [0, 2] {
        let reason = "the stack is too small for calls of the driver, or none of the thread's own";
        assert_eq!(outcome.profile[line]["reason"], reason);
    }
}

#[test]
fn a_forked_child_leaves_the_device_alone() {
    let outcome = cuda(&["fork"], &[]);
    outcome.expect(&["device", "host", "right", "device", "right"]);
    assert_eq!(outcome.profile[1]["reason"], "the process was forked after the CUDA driver had been started");
    assert_eq!(outcome.calls("cuLaunchKernel"), 2);
}

#[test]
fn a_child_forked_before_the_first_loop_has_the_device() {
    let outcome = cuda(&["fork_first"], &[]);
    outcome.expect(&["device", "right", "device", "right"]);
    assert!(outcome.profile.iter().all(|line| line["device"] == "cuda"));
}

/// Loops of a signal handler that interrupts the library run on the host; none waits for a lock of the thread
/// it is on.
#[test]
fn signals_are_handled_at_any_time() {
    cuda(&["signals"], &[]).expect(&["interrupted", "right"]);
}

#[test]
fn every_failing_call_leaves_the_original_loop() {
    // (call, how often at most in one execution)
    let calls = [
        ("cuInit", 1),
        ("cuDeviceGetCount", 1),
        ("cuDeviceGet", 1),
        ("cuDeviceGetName", 1),
        ("cuDeviceGetAttribute", 2),
        ("cuDeviceTotalMem_v2", 1),
        ("cuDevicePrimaryCtxRetain", 1),
        ("cuCtxPushCurrent_v2", 12),
        ("cuModuleLoadDataEx", 1),
        ("cuModuleGetFunction", 2),
        ("cuStreamCreate", 1),
        ("cuMemAlloc_v2", 3),
        ("cuMemcpyHtoDAsync_v2", 1),
        ("cuLaunchKernel", 2),
        ("cuStreamSynchronize", 1),
        ("cuMemcpyDtoHAsync_v2", 1),
    ];
    for code in ["1", "2", "700", "12345"] {
        for (call, count) in calls {
            for k in 1..=count {
                // A failed allocation for want of memory is tried again, with success here.
                if (call, code) == ("cuMemAlloc_v2", "2") {
                    continue;
                }
                let fail = format!("{call}:{k}:{code}");
                let outcome = cuda(&["scratch"], &[("FAKE_CUDA_FAIL", &fail)]);
                // The last pushes are those of the clean-up.
                if call == "cuCtxPushCurrent_v2" && k >= 11 {
                    assert_eq!(outcome.words.last().map(String::as_str), Some("right"), "{fail}: {outcome}");
                    continue;
                }
                outcome.expect_host(&format!("failed with error {code} ("));
                assert!(outcome.profile[0]["reason"].as_str().unwrap().contains(call), "{outcome}");
            }
        }
    }
}

/// Streams, events and memory of the library are gone then, and the driver would not say so.
#[test]
fn a_device_that_the_program_resets_is_left_alone() {
    let first = cuda(&["plain"], &[]).calls("cuCtxGetId");
    let reset = (first + 1).to_string();
    let outcome = cuda(&["plain", "3"], &[("FAKE_CUDA_RESET", &reset)]);
    outcome.expect(&["device", "host", "host", "right"]);
    let reason = outcome.profile[1]["reason"].as_str().unwrap();
    assert!(reason.contains("the program has reset it"), "{outcome}");
    // Within the first execution as well, and where the driver has no number to tell.
    cuda(&["plain", "2"], &[("FAKE_CUDA_RESET", "2")]).expect(&["host", "host", "right"]);
    cuda(&["plain", "2"], &[("FAKE_CUDA_FAIL", "cuCtxGetId:1:801")]).expect(&["device", "device", "right"]);
}

#[test]
fn times_are_not_worth_a_failure() {
    for call in ["cuEventCreate", "cuEventRecord", "cuEventElapsedTime", "cuEventDestroy_v2"] {
        for k in ["1", "2"] {
            cuda(&["plain"], &[("FAKE_CUDA_FAIL", &format!("{call}:{k}:1"))]).expect(&["device", "right"]);
        }
    }
}

#[test]
fn injected_faults() {
    for (operation, count) in
        [("module", 1), ("alloc", 3), ("copy", 2), ("end-copy", 1), ("launch", 2), ("sync", 1)]
    {
        for k in 1..=count {
            let fault = format!("{operation}:{k}");
            let outcome = cuda(&["scratch"], &[("POLLYRS_RT_FAULT", &fault)]);
            outcome.expect_host(&format!("injected fault: {operation} {k}"));
            assert!(outcome.log.ends_with("events 0\n"), "{outcome}");
        }
    }
}

#[test]
fn passing_failures_are_tried_again_lasting_ones_not() {
    cuda(&["plain", "3"], &[("POLLYRS_RT_FAULT", "module:1")]).expect(&["host", "device", "device", "right"]);
    // Out of memory while loading.
    let outcome = cuda(&["plain", "2"], &[("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:1:2")]);
    outcome.expect(&["host", "device", "right"]);
    // A kernel that failed takes the context with it.
    let outcome = cuda(&["plain", "3"], &[("FAKE_CUDA_FAIL", "cuStreamSynchronize:1:700")]);
    outcome.expect(&["host", "host", "host", "right"]);
    let reason = outcome.profile[2]["reason"].as_str().unwrap();
    assert!(reason.contains("failed earlier") && reason.contains("cuStreamSynchronize"), "{outcome}");
    assert_eq!(outcome.calls("cuLaunchKernel"), 1, "{outcome}");
}

#[test]
fn refused_code() {
    let outcome = cuda(&["refused", "3"], &[]);
    outcome.expect(&["host", "host", "host", "right"]);
    let reason = "device code for sm_70 was refused: cuModuleLoadDataEx failed with error 218 \
                  (CUDA_ERROR_INVALID_PTX): ptxas: line 1: nonsense";
    assert!(outcome.profile.iter().all(|line| line["reason"] == reason), "{outcome}");
    assert_eq!(outcome.calls("cuModuleLoadDataEx"), 1, "compiled once only: {outcome}");
    cuda(&["late"], &[]).expect_host("no device code for Fake 10 (sm_90) in the program");
    cuda(&["imageless"], &[]).expect_host("no device code for Fake 10 (sm_90) in the program");
}

#[test]
fn the_next_best_image_is_tried() {
    // On sm_90 the cubin is refused and the PTX taken; on sm_86 the cubin for sm_80 comes first.
    for (arch, loads) in [("90", 2), ("86", 1), ("75", 1)] {
        let outcome = cuda(&["mixed"], &[("FAKE_CUDA_ARCH", arch)]);
        outcome.expect(&["device", "right"]);
        assert_eq!(outcome.calls("cuModuleLoadDataEx"), loads, "sm_{arch}: {outcome}");
    }
}

/// The text of the device's generation, in a launch with the shared memory of its code; where a block has
/// less, that of an earlier generation, without an attempt to load the other.
#[test]
fn generations() {
    let table = [
        ("75", "96000", Ok(("70", 76800))),
        ("75", "65536", Err("a block needs 76800 bytes of shared memory, Fake 10 has 65536")),
        ("80", "166912", Ok(("80", 150000))),
        ("86", "101376", Ok(("70", 76800))),
        ("90", "232448", Ok(("90", 150000))),
        ("100", "232448", Ok(("90", 150000))),
        // A driver that does not tell.
        ("90", "0", Err("cuFuncSetAttribute failed")),
    ];
    for (arch, shared, expected) in table {
        let outcome = cuda(&["generations"], &[("FAKE_CUDA_ARCH", arch), ("FAKE_CUDA_SHARED", shared)]);
        match expected {
            Ok((text, bytes)) => {
                outcome.expect(&["device", "right"]);
                assert!(outcome.log.contains(&format!("//PTX for sm_{text}\n")), "sm_{arch}: {outcome}");
                assert!(outcome.log.contains(&format!("shared {bytes}\n")), "sm_{arch}: {outcome}");
            }
            Err(reason) => outcome.expect_host(reason),
        }
    }
}

/// What the kernels of an execution were: the functions of the modules that were loaded, in order, and what
/// the profile says of late ones.
fn late_course(scenario: &str, variables: &[(&str, &str)]) -> (Vec<String>, Vec<Option<String>>) {
    let pause = "100000";
    let outcome = cuda(&[scenario, "3", pause], &[&[ALWAYS], variables].concat());
    outcome.expect(&["device", "device", "device", "right"]);
    let loads = outcome.log.lines().filter_map(|line| line.strip_prefix("cuModuleLoadDataEx //PTX "));
    let said = outcome.profile.iter().map(|line| line["late"].as_str().map(str::to_owned));
    assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
    (loads.map(str::to_owned).collect(), said.collect())
}

#[test]
fn tiles_come_later_than_plain_kernels() {
    let (compiled, compiling) = ("not compiled yet".to_owned(), "being compiled".to_owned());
    // In the background, behind the first execution; the second may be over before that is.
    let (loads, said) = late_course("tiled", &[("POLLYRS_RT_LATE", "soon")]);
    assert_eq!(loads, ["early", "whole"]);
    assert_eq!((&said[0], &said[2]), (&Some(compiled.clone()), &None));
    assert!(said[1].is_none() || said[1] == Some(compiling));
    // Before the first one, never, and behind one that took the time for some bytes.
    assert_eq!(
        late_course("tiled", &[("POLLYRS_RT_LATE", "now")]),
        (vec!["whole".to_owned()], vec![None; 3])
    );
    let never = late_course("tiled", &[("POLLYRS_RT_LATE", "never")]);
    assert_eq!(never, (vec!["early".to_owned()], vec![Some(compiled.clone()); 3]));
    let (loads, said) = late_course("tiled", &[]);
    assert_eq!((loads.len(), &said[0], &said[2]), (2, &Some(compiled), &None));
    // A device that the early image is not for gets all at once.
    let (loads, said) = late_course("tiled", &[("FAKE_CUDA_ARCH", "80")]);
    assert_eq!((loads, said[1].clone(), said[2].clone()), (vec!["whole".to_owned()], None, None));
}

#[test]
fn tiles_that_do_not_compile_leave_plain_kernels() {
    let (loads, said) = late_course("untiled", &[("POLLYRS_RT_LATE", "soon")]);
    assert_eq!(loads, ["early"]);
    assert_eq!(said[0].as_deref(), Some("not compiled yet"));
    assert!(said[2].as_ref().is_some_and(|why| why.contains("nonsense")), "{said:?}");
    let (_, said) = late_course("untiled", &[("POLLYRS_RT_LATE", "now")]);
    assert!(said.iter().all(|why| why.as_ref().is_some_and(|why| why.contains("nonsense"))), "{said:?}");
    // A failure that may pass is not tried again either.
    let fault = ("POLLYRS_RT_FAULT", "module:2");
    let (loads, said) = late_course("tiled", &[("POLLYRS_RT_LATE", "soon"), fault]);
    assert_eq!(loads, ["early"]);
    assert!(said[2].is_some(), "{said:?}");
}

#[test]
fn results_lost_halfway_end_the_program() {
    for (fail, text) in [
        ("cuMemcpyDtoHAsync_v2:1:1", "cuMemcpyDtoHAsync_v2 failed"),
        ("cuMemcpyDtoHAsync_v2:2:1", "cuMemcpyDtoHAsync_v2 failed"),
        ("cuStreamSynchronize:2:700", "cuStreamSynchronize failed"),
    ] {
        for threads in ["0", "2"] {
            let threads = ("POLLYRS_RT_COPY_THREADS", threads);
            let fail = ("FAKE_CUDA_FAIL", fail);
            let outcome = cuda(&["both"], &[("POLLYRS_RT_STAGING", "0"), fail, threads]);
            outcome.expect_fatal("results were lost while they were copied back");
            assert!(outcome.stderr.contains(text) && outcome.profile.is_empty(), "{outcome}");
        }
    }
    // Through a buffer every failure leaves the original loop.
    for (fail, text) in [
        ("cuMemcpyDtoHAsync_v2:1:1", "cuMemcpyDtoHAsync_v2 failed"),
        ("cuMemcpyDtoHAsync_v2:2:1", "cuMemcpyDtoHAsync_v2 failed"),
        ("cuStreamSynchronize:1:700", "cuStreamSynchronize failed"),
    ] {
        cuda(&["both"], &[("POLLYRS_RT_STAGING", "64"), ("FAKE_CUDA_FAIL", fail)]).expect_host(text);
    }
    // A kernel's error is known before the first byte comes back.
    let kernel = ("FAKE_CUDA_FAIL", "cuStreamSynchronize:1:700");
    cuda(&["both"], &[("POLLYRS_RT_STAGING", "0"), kernel]).expect_host("cuStreamSynchronize failed");
}

/// Arrays of several times the ring: every buffer is used again and again. The driver carries out copies as
/// late as it may.
#[test]
fn large_copies() {
    for threads in ["0", "1", "2", "3", "8"] {
        for staging in ["0", "64"] {
            let variables = [("POLLYRS_RT_COPY_THREADS", threads), ("POLLYRS_RT_STAGING", staging), ALWAYS];
            let outcome = cuda(&["large", "3"], &variables);
            outcome.expect(&["device", "device", "device", "right"]);
            let ring = usize::from(threads != "0");
            let landing = usize::from(staging == "64");
            assert_eq!(outcome.calls("cuMemHostRegister_v2"), ring, "pinned once: {outcome}");
            assert_eq!(outcome.calls("cuMemHostAlloc"), landing, "allocated once: {outcome}");
            let bytes = 8 * ((9 << 18) + 3);
            assert!(outcome.profile.iter().all(|line| line["bytes_to_device"] == 2 * bytes), "{outcome}");
            assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
        }
    }
    let (three, direct) = (("POLLYRS_RT_COPY_THREADS", "3"), ("POLLYRS_RT_STAGING", "0"));
    // A driver that pins no memory of others has some of its own.
    let outcome =
        cuda(&["large"], &[("FAKE_CUDA_FAIL", "cuMemHostRegister_v2:1:801"), three, direct, ALWAYS]);
    outcome.expect(&["device", "right"]);
    assert_eq!(outcome.calls("cuMemHostAlloc"), 1, "{outcome}");
    let outcome = cuda(&["large_threads"], &[three, direct, ALWAYS]);
    outcome.expect(&["right"]);
    assert!(outcome.profile.len() == 16 && outcome.profile.iter().all(|line| line["device"] == "cuda"));
}

#[test]
fn every_failure_of_a_large_copy_in_leaves_the_original_loop() {
    // With two threads of two buffers, 10 copies and records a direction and array.
    for (call, ks) in [
        ("cuMemcpyHtoDAsync_v2", &[1, 2, 7, 14][..]),
        ("cuEventSynchronize", &[1, 3, 14]),
        ("cuEventRecord", &[2, 3, 12]),
        ("cuCtxPushCurrent_v2", &[6, 7]),
    ] {
        for k in ks {
            for code in ["1", "700"] {
                let fail = format!("{call}:{k}:{code}");
                let variables = [("FAKE_CUDA_FAIL", fail.as_str()), ("POLLYRS_RT_COPY_THREADS", "2"), ALWAYS];
                let outcome = cuda(&["large"], &variables);
                // Once the context is broken, the other thread may be the first to see it.
                let call = if code == "700" { "" } else { call };
                outcome.expect_host(&format!("{call} failed with error {code} ("));
            }
        }
    }
    // The stream can't be drained either: the ring is not used again, other copies are.
    let variables =
        [("FAKE_CUDA_FAIL", "cuMemcpyHtoDAsync_v2:2:1"), ("POLLYRS_RT_COPY_THREADS", "2"), ALWAYS];
    let outcome = cuda(&["large", "2"], &variables);
    outcome.expect(&["host", "device", "right"]);
}

#[test]
fn a_lack_of_pinned_memory_is_no_reason_not_to_run() {
    for k in ["1", "2"] {
        for staging in ["0", "64"] {
            for call in ["cuMemHostRegister_v2", "cuMemHostAlloc"] {
                let fail = ("FAKE_CUDA_FAIL", format!("{call}:{k}:2"));
                let variables = [(fail.0, fail.1.as_str()), ("POLLYRS_RT_STAGING", staging), ALWAYS];
                cuda(&["large", "2"], &variables).expect(&["device", "device", "right"]);
            }
        }
    }
}

/// Bytes copied in by each execution of `steps`: two arrays of 1.6 MB.
fn steps(between: &str, variables: &[(&str, &str)]) -> Vec<u64> {
    let variables = [&[ALWAYS, ("POLLYRS_RT_CHECK", "1")], variables].concat();
    let outcome = cuda(&["steps", "1", between], &variables);
    outcome.expect(&["device", "device", "device", "device", "device", "device", "right"]);
    assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
    outcome.profile.iter().map(|line| line["bytes_to_device"].as_u64().unwrap()).collect()
}

/// Needs Linux 6.11; without it everything is copied.
#[test]
fn residents_are_copied_where_the_program_wrote() {
    const ALL: u64 = 2 * 200_000 * 8;
    const PAGE: u64 = 4096;
    let on = ("POLLYRS_RT_RESIDENT", "on");
    assert!(steps("nothing", &[]).iter().all(|&bytes| bytes == ALL));
    let supported = steps("nothing", &[on])[1] < ALL;
    for staging in ["0", "64"] {
        for between in ["nothing", "one", "all", "read", "free", "realloc", "fork"] {
            let bytes = steps(between, &[on, ("POLLYRS_RT_STAGING", staging)]);
            assert_eq!(bytes[0], ALL, "{between}");
            if !supported {
                assert!(bytes.iter().all(|&bytes| bytes == ALL), "{between}");
                continue;
            }
            // The edges of both arrays, and what was written.
            let edges = 4 * PAGE;
            let most = match between {
                "nothing" => edges,
                "one" => edges + PAGE,
                "read" => edges + 100_000 + 2 * PAGE,
                "fork" => edges + 3 * PAGE,
                _ => ALL,
            };
            assert!(bytes[1..].iter().all(|&bytes| bytes <= most), "{between}: {bytes:?}");
            if between == "all" {
                assert!(bytes[1..].iter().all(|&bytes| bytes == ALL), "{bytes:?}");
            }
        }
    }
    // What fails is copied again.
    for fault in ["launch:2", "sync:3", "copy:6", "alloc:4"] {
        let variables = [on, ALWAYS, ("POLLYRS_RT_FAULT", fault), ("POLLYRS_RT_STAGING", "64")];
        let outcome = cuda(&["steps", "1", "one"], &variables);
        let hosts = outcome.words.iter().filter(|word| *word == "host").count();
        assert!(hosts == 1 && outcome.words.last().unwrap() == "right", "{outcome}");
    }
    // Too little memory for what is kept and something new: the first goes.
    let variables = [on, ALWAYS, ("FAKE_CUDA_BYTES", "9000000")];
    cuda(&["steps", "2", "free"], &variables).expect(&[&["device"; 12][..], &["right"]].concat());
    // Several threads: one has the table.
    cuda(&["large_threads"], &[on, ALWAYS]).expect(&["right"]);
}

/// Of a window in a large array its rows alone move, both ways; where they are hardly less than their range,
/// that moves as a whole.
#[test]
fn windows_move_row_by_row() {
    let window = |rows: u64| rows * (24 + 256);
    // (rows, planes that are copied, bytes to the device)
    for (rows, planes, bytes) in [(2, 0, 2 * 16_000), (20, 0, 2 * 160_000), (2000, 6, window(2000))] {
        for (staging, resident) in [("0", "off"), ("64", "off"), ("0", "on")] {
            let variables = [("POLLYRS_RT_STAGING", staging), ("POLLYRS_RT_RESIDENT", resident), ALWAYS];
            let outcome = cuda(&["window", "2", &rows.to_string()], &variables);
            outcome.expect(&["device", "device", "right"]);
            // What comes back together with others lands as it is.
            let planes = if staging == "64" { planes / 2 } else { planes };
            assert_eq!(outcome.calls("cuMemcpy2DAsync_v2"), 2 * planes, "{rows}: {outcome}");
            let back = if staging == "64" { 2 * rows * 8000 } else { bytes };
            let moved =
                |line: &serde_json::Value| line["bytes_to_device"] == bytes && line["bytes_to_host"] == back;
            assert!(outcome.profile.iter().all(moved), "{outcome}");
        }
    }
    let direct = ("POLLYRS_RT_STAGING", "0");
    for k in 1..=4 {
        let fail = format!("cuMemcpy2DAsync_v2:{k}:1");
        let variables = [("FAKE_CUDA_FAIL", fail.as_str()), direct, ALWAYS];
        cuda(&["window"], &variables).expect_host("cuMemcpy2DAsync_v2 failed");
    }
    let variables = [("FAKE_CUDA_FAIL", "cuMemcpy2DAsync_v2:5:1"), direct, ALWAYS];
    cuda(&["window"], &variables).expect_fatal("results were lost");
    cuda(&["window"], &[("POLLYRS_RT_FAULT", "end-copy:1"), direct, ALWAYS]).expect_host("injected");
}

/// Rows, and elements that changed: at once and in pieces, of little and of 16 MB.
#[test]
fn results_in_parts() {
    for rows in ["1", "3", "70", "2000"] {
        for threads in ["0", "1", "3"] {
            for (staging, resident) in [("0", "off"), ("64", "off"), ("0", "on")] {
                let variables = [
                    ("POLLYRS_RT_COPY_THREADS", threads),
                    ("POLLYRS_RT_STAGING", staging),
                    ("POLLYRS_RT_RESIDENT", resident),
                    ALWAYS,
                ];
                cuda(&["parts", "2", rows], &variables).expect(&["device", "device", "right"]);
            }
        }
    }
    let direct = ("POLLYRS_RT_STAGING", "0");
    // The first piece that is refused leaves the original loop, a later one ends the program.
    for (fail, text) in
        [("cuMemcpyDtoHAsync_v2:1:1", None), ("cuMemcpyDtoHAsync_v2:9:1", Some("results were lost"))]
    {
        let variables = [("FAKE_CUDA_FAIL", fail), ("POLLYRS_RT_COPY_THREADS", "1"), direct, ALWAYS];
        let outcome = cuda(&["parts"], &variables);
        match text {
            None => outcome.expect_host("cuMemcpyDtoHAsync_v2 failed"),
            Some(text) => outcome.expect_fatal(text),
        }
    }
    cuda(&["parts"], &[("POLLYRS_RT_FAULT", "end-copy:1"), direct, ALWAYS]).expect_host("injected");
    cuda(&["parts"], &[("POLLYRS_RT_FAULT", "end-copy:2"), direct, ALWAYS]).expect_fatal("results were lost");
}

#[test]
fn not_a_driver() {
    let file = fresh("libcuda.so.1");
    std::fs::write(&file, "text").unwrap();
    run(&["plain"], &[("POLLYRS_RT_CUDA_LIBRARY", file.to_str().unwrap())])
        .expect_host("no CUDA device: no driver");
    let old = compile("libold_cuda.so", "layout.c", &["-shared", "-fPIC"]);
    run(&["plain"], &[("POLLYRS_RT_CUDA_LIBRARY", old.to_str().unwrap())])
        .expect_host("too old or not a driver");
}

/// On a machine without a device this only shows that the original loop runs.
#[test]
fn a_real_device() {
    let program = device_program();
    let variables = [("POLLYRS_RT_DEVICE", "cuda"), ALWAYS, ("POLLYRS_RT_CHECK", "1")];
    let outcome = run_program(&program, &["plain"], &variables);
    if outcome.words.first().is_some_and(|word| word == "host") {
        outcome.expect_host("no CUDA device: ");
        return;
    }
    for scenario in ["plain", "scratch", "both", "rotate"] {
        for staging in ["0", "64"] {
            let variables = [&variables[..], &[("POLLYRS_RT_STAGING", staging)]].concat();
            let outcome = run_program(&program, &[scenario, "3"], &variables);
            outcome.expect(&["device", "device", "device", "right"]);
            let timed = |line: &serde_json::Value| line["kernel_ms"].as_f64().unwrap() > 0.0;
            assert!(outcome.profile.len() == 3 && outcome.profile.iter().all(timed), "{outcome}");
        }
    }
    run_program(&program, &["threads"], &variables).expect(&["right"]);
    run_program(&program, &["fork"], &variables).expect(&["device", "host", "right", "device", "right"]);
    // Code that the driver refuses, in its own words.
    run_program(&program, &["refused"], &variables).expect_host("CUDA_ERROR_INVALID_PTX");
}
