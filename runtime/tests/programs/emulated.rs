//! The emulated device, settings, profile and faults.

use std::process::Command;

use crate::support::{Outcome, run, run_program, scratch, shared_library, shared_program};

const EMULATED: (&str, &str) = ("POLLYRS_RT_DEVICE", "emulated");

fn emulated(scenario: &str, variables: &[(&str, &str)]) -> Outcome {
    run(&[scenario], &[&[EMULATED], variables].concat())
}

#[test]
fn results_in_every_order() {
    for scenario in ["plain", "scratch", "rotate", "alone", "both"] {
        for (order, workers) in [("", "1"), ("", "3"), ("reverse", "2"), ("1", "1"), ("2", "2"), ("77", "8")]
        {
            let variables = [("POLLYRS_RT_EMU_ORDER", order), ("POLLYRS_RT_EMU_THREADS", workers)];
            emulated(scenario, &variables).expect(&["device", "right"]);
        }
    }
}

#[test]
fn sizes_from_nothing_to_more_than_a_block() {
    let outcome = emulated("sizes", &[("POLLYRS_RT_CHECK", "1")]);
    outcome.expect(&["device", "device", "device", "device", "device", "device", "device", "right"]);
    let kernels: Vec<_> = outcome.profile.iter().map(|line| line["kernels"].as_u64().unwrap()).collect();
    assert_eq!(kernels, [0, 0, 1, 1, 1, 1, 1], "a launch of no blocks is none");
}

#[test]
fn threads_at_once() {
    let outcome = emulated("threads", &[]);
    outcome.expect(&["right"]);
    assert_eq!(outcome.profile.len(), 200);
    assert!(outcome.profile.iter().all(|line| line["device"] == "emulated"));
}

#[test]
fn a_forked_child_goes_on() {
    emulated("fork", &[]).expect(&["device", "device", "right", "device", "right"]);
}

/// Loops of a signal handler that interrupts the library run on the host; none waits for a lock of the thread
/// it is on.
#[test]
fn signals_are_handled_at_any_time() {
    emulated("signals", &[]).expect(&["interrupted", "right"]);
}

#[test]
fn many_threads() {
    emulated("many", &[]).expect(&["device", "right"]);
    emulated("many_barriers", &[]).expect(&["device", "right"]);
}

#[test]
fn mistakes_of_kernels_end_the_program() {
    emulated("split", &[])
        .expect_fatal("a shuffle is not reached by thread [0, 0, 0], but by others of its warp");
    emulated("diverge", &[])
        .expect_fatal("barrier 0 in kernel diverge of diverge, block 0: reached by 32 of 64");
    emulated("undeclared", &[]).expect_fatal("not marked to have barriers");
    emulated("overrun", &[]).expect_fatal("outside of an array: at byte 512 of one with 512 bytes");
    emulated("underrun", &[]).expect_fatal("outside of an array: at byte -");
    let check = [("POLLYRS_RT_CHECK", "1")];
    emulated("outside", &check).expect_fatal("changed array A at byte 16");
    emulated("inside", &check).expect(&["device", "right"]);
    emulated("outside", &[]).expect(&["device", "right"]);
}

#[test]
fn profile_lines() {
    let outcome = emulated("plain", &[]);
    let line = outcome.profile[0].as_object().unwrap();
    let keys: Vec<&str> = line.keys().map(String::as_str).collect();
    let mut expected = [
        "scop",
        "at",
        "device",
        "kernels",
        "kernel_ms",
        "setup_ms",
        "total_ms",
        "bytes_to_device",
        "bytes_to_host",
        "start_us",
        "process",
        "thread",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected, "{outcome}");
    assert_eq!((&line["scop"], &line["at"]), (&"plain".into(), &"a \"file\".c:7".into()));
    // 998 elements of A; of B these and 3 more in, the 998 back.
    assert_eq!(
        (&line["bytes_to_device"], &line["bytes_to_host"]),
        (&((998 + 1001) * 8).into(), &(998 * 8).into())
    );
    assert_eq!(line["kernels"], 1);
    assert!(line["kernel_ms"].as_f64().unwrap() > 0.0);
    assert!(line["total_ms"].as_f64() > line["kernel_ms"].as_f64());

    let outcome = emulated("scratch", &[]);
    let line = &outcome.profile[0];
    assert_eq!(
        (&line["kernels"], &line["bytes_to_device"], &line["bytes_to_host"]),
        (&2.into(), &8000.into(), &8000.into())
    );

    let outcome = emulated("reason", &[]);
    outcome.expect(&["reported", "right"]);
    assert_eq!(outcome.profile[0]["reason"], "A and B overlap");
    assert_eq!((&outcome.profile[0]["device"], &outcome.profile[0]["kernels"]), (&"host".into(), &0.into()));
    run(&["reason"], &[("POLLYRS_RT_PROFILE", "")]).expect(&["silent", "right"]);
    let unwritable = scratch().join("missing/profile");
    let outcome = emulated("plain", &[("POLLYRS_RT_PROFILE", unwritable.to_str().unwrap())]);
    outcome.expect(&["device", "right"]);
    assert!(outcome.stderr.contains("can't write the profile"), "{outcome}");
}

#[test]
fn verbose_text_and_summary() {
    let outcome = run(&["plain", "3"], &[EMULATED, ("POLLYRS_RT_VERBOSE", "1")]);
    outcome.expect(&["device", "device", "device", "right"]);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 6, "{outcome}");
    assert!(lines[0].starts_with("pollyrs: plain (a \"file\".c:7): emulated, "), "{outcome}");
    assert!(
        lines[3].starts_with("pollyrs: summary") && lines[4].starts_with("pollyrs:   SCoP "),
        "{outcome}"
    );
    let words: Vec<&str> = lines[5].split_whitespace().collect();
    assert_eq!(words[..5], ["pollyrs:", "plain", "emulated", "3", "3"], "{outcome}");
    assert_eq!(words.len(), 12, "{outcome}");
}

#[test]
fn every_fault_leaves_the_original_loop() {
    // (operation, how often it happens in the scenario, its words)
    for (scenario, counts) in [
        ("scratch", [("module", 1), ("alloc", 3), ("copy", 2), ("end-copy", 1), ("launch", 2), ("sync", 1)]),
        ("plain", [("module", 1), ("alloc", 2), ("copy", 3), ("end-copy", 1), ("launch", 1), ("sync", 1)]),
        ("both", [("module", 1), ("alloc", 2), ("copy", 4), ("end-copy", 2), ("launch", 1), ("sync", 1)]),
    ] {
        for (operation, count) in counts {
            for k in 1..=count {
                let fault = format!("{operation}:{k}");
                let variables = [("POLLYRS_RT_FAULT", fault.as_str()), ("POLLYRS_RT_STAGING", "64")];
                emulated(scenario, &variables).expect_host(&format!("injected fault: {operation} {k}"));
            }
            let fault = format!("{operation}:{}", count + 1);
            emulated(scenario, &[("POLLYRS_RT_FAULT", &fault)]).expect(&["device", "right"]);
        }
    }
}

#[test]
fn results_lost_halfway_end_the_program() {
    let direct = ("POLLYRS_RT_STAGING", "0");
    emulated("both", &[direct]).expect(&["device", "right"]);
    emulated("both", &[direct, ("POLLYRS_RT_FAULT", "end-copy:1")]).expect_host("injected fault: end-copy 1");
    emulated("both", &[direct, ("POLLYRS_RT_FAULT", "end-copy:2")]).expect_fatal("both: results were lost");
}

#[test]
fn a_failed_execution_says_nothing_about_the_next() {
    let outcome = run(&["plain", "3"], &[EMULATED, ("POLLYRS_RT_FAULT", "launch:2")]);
    outcome.expect(&["device", "host", "device", "right"]);
    let devices: Vec<_> = outcome.profile.iter().map(|line| line["device"].as_str().unwrap()).collect();
    assert_eq!(devices, ["emulated", "host", "emulated"]);
}

#[test]
fn refusals_and_their_reasons() {
    type Variables<'a> = &'a [(&'a str, &'a str)];
    let table: [(&str, Variables<'_>, &str); 8] = [
        ("plain", &[("POLLYRS_RT_DEVICE", "off")], "switched off (POLLYRS_RT_DEVICE=off)"),
        ("plain", &[EMULATED, ("POLLYRS_RT_OFFLOAD", "never")], "switched off (POLLYRS_RT_OFFLOAD=never)"),
        ("host_only", &[EMULATED], "kernel plain was not compiled for the emulated device"),
        ("version", &[EMULATED], "compiled for version 99"),
        ("bad_range", &[EMULATED], "array A is written outside its range"),
        ("small", &[("POLLYRS_RT_CUDA_LIBRARY", "/missing/libcuda.so.1")], "not worth a transfer"),
        (
            "plain",
            &[("POLLYRS_RT_DEVICE", "cuda"), ("POLLYRS_RT_CUDA_LIBRARY", "/missing/libcuda.so.1")],
            "no CUDA device: no driver: /missing/libcuda.so.1",
        ),
        ("plain", &[("POLLYRS_RT_CUDA_LIBRARY", "/missing/libcuda.so.1")], "no CUDA device: no driver"),
    ];
    for (scenario, variables, reason) in table {
        run(&[scenario], variables).expect_host(reason);
    }
    emulated("bad_kernel", &[]).expect(&["host", "right"]);
    emulated("small", &[]).expect(&["device", "right"]);
}

/// A value that isn't understood, and a name that doesn't exist, count for nothing, and are told once.
#[test]
fn wrong_settings_are_told() {
    let variables =
        [EMULATED, ("POLLYRS_RT_OFFLOAD", "yes"), ("POLLYRS_RT_POOOL", "7"), ("POLLYRS_OFFLOAD", "always")];
    let outcome = run(&["plain", "3"], &variables);
    outcome.expect(&["device", "device", "device", "right"]);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "pollyrs: POLLYRS_RT_OFFLOAD=yes is not one of auto, always, always:N, never, require: ignored (meant: always?)",
            "pollyrs: there is no setting POLLYRS_OFFLOAD: ignored (meant: POLLYRS_RT_OFFLOAD?)",
            "pollyrs: there is no setting POLLYRS_RT_POOOL: ignored (meant: POLLYRS_RT_POOL?)",
        ],
        "{outcome}"
    );
}

/// With `require` an execution that falls back ends the program.
#[test]
fn required_executions_run_on_the_device_or_not_at_all() {
    let require = ("POLLYRS_RT_OFFLOAD", "require");
    run(&["small"], &[EMULATED, require]).expect(&["device", "right"]);
    let off = run(&["plain"], &[("POLLYRS_RT_DEVICE", "off"), require]);
    off.expect_fatal("does not run on a device, as POLLYRS_RT_OFFLOAD=require demands");
    off.expect_fatal("offloading is switched off (POLLYRS_RT_DEVICE=off)");
    run(&["plain", "3"], &[EMULATED, require, ("POLLYRS_RT_FAULT", "launch:2")])
        .expect_fatal("injected fault: launch 2");
    run(&["host_only"], &[EMULATED, require]).expect_fatal("kernel plain was not compiled");
}

#[test]
fn the_shared_library_links_and_exports_the_interface_only() {
    run_program(&shared_program(), &["rotate"], &[EMULATED]).expect(&["device", "right"]);
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(shared_library()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next_back()).collect();
    names.sort_unstable();
    let expected = [
        "pollyrs_rt_abi_10",
        "pollyrs_rt_abi_11",
        "pollyrs_rt_abi_12",
        "pollyrs_rt_abi_13",
        "pollyrs_rt_abi_8",
        "pollyrs_rt_abi_9",
        "pollyrs_rt_access",
        "pollyrs_rt_begin",
        "pollyrs_rt_begin_held",
        "pollyrs_rt_common_length",
        "pollyrs_rt_discard",
        "pollyrs_rt_emu_barrier",
        "pollyrs_rt_emu_barrier_at",
        "pollyrs_rt_emu_decide",
        "pollyrs_rt_emu_fma",
        "pollyrs_rt_emu_load",
        "pollyrs_rt_emu_pass",
        "pollyrs_rt_emu_shape",
        "pollyrs_rt_emu_shuffle",
        "pollyrs_rt_emu_signal",
        "pollyrs_rt_emu_store",
        "pollyrs_rt_emu_wait",
        "pollyrs_rt_end",
        "pollyrs_rt_enter",
        "pollyrs_rt_grouped",
        "pollyrs_rt_holds",
        "pollyrs_rt_host_begin",
        "pollyrs_rt_host_begin_held",
        "pollyrs_rt_host_end",
        "pollyrs_rt_inspect",
        "pollyrs_rt_inspect_held",
        "pollyrs_rt_kept_begin",
        "pollyrs_rt_late",
        "pollyrs_rt_launch",
        "pollyrs_rt_launch_parts",
        "pollyrs_rt_launch_slice",
        "pollyrs_rt_leave",
        "pollyrs_rt_most",
        "pollyrs_rt_part",
        "pollyrs_rt_parts",
        "pollyrs_rt_places",
        "pollyrs_rt_release",
        "pollyrs_rt_return",
        "pollyrs_rt_row_length",
        "pollyrs_rt_rows",
        "pollyrs_rt_rows_anywhere",
        "pollyrs_rt_rows_leave",
        "pollyrs_rt_serial",
        "pollyrs_rt_sides",
        "pollyrs_rt_slices",
        "pollyrs_rt_wanted",
        "pollyrs_rt_worth",
        "pollyrs_rt_worth_held",
    ];
    assert_eq!(names, expected);
    let output = Command::new("readelf").arg("-d").arg(shared_program()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // By a name that changes with the oldest version that the library understands.
    let name = format!("[libpollyrs_rt.so.{}]", pollyrs_rt::abi::OLDEST_ABI_VERSION);
    assert!(text.lines().any(|line| line.contains("NEEDED") && line.contains(&name)), "{text}");
}

#[test]
fn programs_of_another_version_are_told() {
    let outcome = run(&["versions"], &[EMULATED]);
    outcome.expect(&["host", "host", "host", "right"]);
    let said: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("version 99")).collect();
    assert_eq!(said.len(), 1, "{}", outcome.stderr);
    assert!(said[0].starts_with("pollyrs: the program was compiled for version 99"), "{}", said[0]);
    assert_eq!(emulated("small", &[]).stderr, "");
}
