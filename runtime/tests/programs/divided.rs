//! Launches that several devices share: emulated ones, and those of the driver of `fake_cuda.c`, which does
//! nothing before somebody waits for it, so that a wait too few between two devices gives wrong results.

use crate::support::{Outcome, fake_cuda, run};

fn cuda(scenario: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    let always =
        [library, ("POLLYRS_RT_OFFLOAD", "always"), ("FAKE_CUDA_DEVICES", "3"), ("POLLYRS_RT_SHARE", "1")];
    run(scenario, &[&always, variables].concat())
}

fn emulated(scenario: &[&str], devices: &str, check: &str) -> Outcome {
    let variables = [
        ("POLLYRS_RT_DEVICE", "emulated"),
        ("POLLYRS_RT_EMULATED_DEVICES", devices),
        ("POLLYRS_RT_CHECK", check),
    ];
    run(scenario, &variables)
}

#[test]
fn results_on_any_number_of_devices() {
    for held in ["0", "1"] {
        let scenario = ["divided", "1", "1000", "3", held];
        for n in ["1", "2", "3", "5"] {
            let outcome = emulated(&scenario, n, "1");
            outcome.expect(&["device", "device", "device", "right"]);
            let first = &outcome.profile[0];
            assert_eq!(first["devices"].as_u64(), n.parse().ok().filter(|&n: &u64| n > 1), "{outcome}");
        }
        for devices in ["1", "2", "all", "2,0"] {
            for pinned in ["UNUSED", "FAKE_CUDA_PINNED"] {
                let outcome = cuda(&scenario, &[("POLLYRS_RT_DEVICES", devices), (pinned, "1")]);
                outcome.expect(&["device", "device", "device", "right"]);
                assert_eq!(outcome.calls("cuMemcpyPeerAsync") > 0, devices != "1", "{outcome}");
                assert_eq!(outcome.profile[0].get("devices").is_some(), devices != "1", "{outcome}");
                // The driver says 0.25 ms between any two events.
                let lanes = outcome.profile[0].get("lanes").and_then(|lanes| lanes.as_array());
                let waited = |lane: &serde_json::Value| lane["waiting_ms"].as_f64() > Some(0.0);
                assert_eq!(
                    lanes.is_some_and(|lanes| lanes.len() > 1 && lanes.iter().all(waited)),
                    devices != "1",
                    "{outcome}"
                );
                assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
                // Of the four and three steps by each kernel every other one has three parts a device.
                if devices == "2" && held == "0" {
                    assert_eq!(outcome.profile[0]["kernels"], 7 * 2 + 3 * 4, "{outcome}");
                }
            }
        }
    }
    // What does not pay.
    let outcome = cuda(&["divided"], &[("POLLYRS_RT_DEVICES", "2"), ("POLLYRS_RT_SHARE", "0")]);
    outcome.expect(&["device", "device", "right"]);
    assert!(
        outcome.calls("cuMemcpyPeerAsync") == 0 && outcome.profile[0].get("devices").is_none(),
        "{outcome}"
    );
    // Fewer blocks than devices, and none.
    for elements in ["33", "3"] {
        emulated(&["divided", "1", elements, "1"], "4", "1").expect(&["device", "right"]);
    }
}

/// What a part says of its halo counts: with one element less it has an old one.
#[test]
fn a_wrong_claim_shows() {
    for held in ["0", "1"] {
        let scenario = ["divided", "1", "1000", "2", held, "1"];
        assert_eq!(emulated(&scenario, "3", "0").words.last().unwrap(), "wrong");
        assert_eq!(emulated(&scenario, "1", "0").words.last().unwrap(), "right");
        assert_eq!(cuda(&scenario, &[("POLLYRS_RT_DEVICES", "2")]).words.last().unwrap(), "wrong");
    }
}

/// Whatever fails, and when: the original loop runs, or the program ends with a message where results are
/// lost.
#[test]
fn every_failure_leaves_the_original_loop() {
    for (call, count) in [
        ("cuDevicePrimaryCtxRetain", 3),
        ("cuStreamCreate", 3),
        ("cuMemAlloc_v2", 4),
        ("cuMemcpyHtoDAsync_v2", 2),
        ("cuMemcpyPeerAsync", 8),
        ("cuStreamWaitEvent", 8),
        ("cuLaunchKernel", 8),
        ("cuMemcpyDtoHAsync_v2", 2),
        ("cuStreamSynchronize", 3),
    ] {
        for code in ["1", "700"] {
            for k in 1..=count {
                let fail = format!("{call}:{k}:{code}");
                let outcome = cuda(&["divided"], &[("POLLYRS_RT_DEVICES", "3"), ("FAKE_CUDA_FAIL", &fail)]);
                assert_eq!(outcome.words.last().map(String::as_str), Some("right"), "{fail}: {outcome}");
            }
        }
    }
}
