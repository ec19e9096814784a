//! Which device is taken, and how much memory it has.

use crate::support::{Outcome, fake_cuda, run};

fn cuda(scenario: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    run(scenario, &[&[library], variables].concat())
}

const ALWAYS: (&str, &str) = ("POLLYRS_RT_OFFLOAD", "always");

#[test]
fn memory_runs_out() {
    // Twice 8 MiB and room for alignment are needed: blocks of 10 MiB.
    cuda(&["both"], &[("FAKE_CUDA_BYTES", "20971519")])
        .expect_host("not enough memory on the device for 8388608 bytes");
    cuda(&["both", "2"], &[("FAKE_CUDA_BYTES", "20971520")]).expect(&["device", "device", "right"]);
    // A failing first attempt frees what is kept and tries again.
    let outcome = cuda(&["scratch"], &[("FAKE_CUDA_FAIL", "cuMemAlloc_v2:2:2")]);
    outcome.expect(&["device", "right"]);
    assert_eq!(outcome.calls("cuMemAlloc_v2"), 4);
}

/// What does not fit at all is said so, without an attempt; in a hold as well.
#[test]
fn arrays_may_be_larger_than_the_device() {
    let outcome = cuda(&["both", "2"], &[("FAKE_CUDA_BYTES", "16777215"), ALWAYS]);
    outcome.expect(&["host", "host", "right"]);
    let reason = outcome.profile[1]["reason"].as_str().unwrap();
    assert_eq!(reason, "the arrays have 16777216 bytes together, the device 16777215");
    assert_eq!((outcome.calls("cuMemAlloc_v2"), outcome.calls("cuMemFree_v2")), (0, 0), "{outcome}");
    let outcome = cuda(&["held", "1", "2000", "10"], &[("FAKE_CUDA_BYTES", "31999"), ALWAYS]);
    outcome.expect(&["right"]);
    assert!(outcome.profile.iter().all(|line| line["device"] == "host"), "{outcome}");
}

#[test]
fn device_choice() {
    cuda(&["plain"], &[("FAKE_CUDA_DEVICES", "0")]).expect_host("device 0 was asked for, the driver shows 0");
    let outcome = cuda(&["plain"], &[("FAKE_CUDA_DEVICES", "3"), ("POLLYRS_RT_CUDA_DEVICE", "2")]);
    outcome.expect(&["device", "right"]);
    assert!(outcome.log.contains("cuDeviceGet 2\n"), "{outcome}");
}

/// `CUDA_VISIBLE_DEVICES` with numbers and with names, of devices and of parts (MIG): the driver's business,
/// whose order counts.
#[test]
fn visible_devices_are_the_drivers() {
    let table: [(&str, &str, Result<&str, &str>); 10] = [
        ("1", "", Ok("11")),
        ("2,0", "", Ok("12")),
        ("2,0", "1", Ok("10")),
        ("GPU-2", "", Ok("12")),
        ("GPU-1,GPU-0", "1", Ok("10")),
        ("MIG-1", "", Ok("31")),
        ("", "", Err("cuInit failed with error 100")),
        ("3", "", Err("cuInit failed with error 100")),
        ("MIG-7", "", Err("cuInit failed with error 100")),
        ("0,9,1", "1", Err("device 1 was asked for, the driver shows 1")),
    ];
    for (visible, wanted, expected) in table {
        let variables = [
            ("FAKE_CUDA_DEVICES", "3"),
            ("CUDA_VISIBLE_DEVICES", visible),
            ("POLLYRS_RT_CUDA_DEVICE", wanted),
        ];
        let outcome = cuda(&["plain"], &variables[..if wanted.is_empty() { 2 } else { 3 }]);
        match expected {
            Ok(device) => {
                outcome.expect(&["device", "right"]);
                assert!(outcome.log.contains(&format!("cuDevicePrimaryCtxRetain {device}\n")), "{outcome}");
            }
            Err(text) => outcome.expect_host(text),
        }
    }
    // A part of a device has less memory: an eighth of 160,000,000 bytes is too little for two blocks of 10
    // MiB.
    let bytes = ("FAKE_CUDA_BYTES", "160000000");
    cuda(&["both"], &[bytes, ("CUDA_VISIBLE_DEVICES", "GPU-0")]).expect(&["device", "right"]);
    cuda(&["both"], &[bytes, ("CUDA_VISIBLE_DEVICES", "MIG-0")])
        .expect_host("not enough memory on the device");
}

/// The program's arrays are where its own context is; what the settings say comes first.
#[test]
fn the_programs_device_is_taken() {
    let (three, current) = (("FAKE_CUDA_DEVICES", "3"), ("FAKE_CUDA_CURRENT", "2"));
    let table: [(&[(&str, &str)], &str); 5] = [
        (&[three], "10"),
        (&[three, current], "12"),
        (&[three, current, ("POLLYRS_RT_CUDA_DEVICE", "1")], "11"),
        (&[three, current, ("FAKE_CUDA_FAIL", "cuCtxGetCurrent:1:1")], "10"),
        (&[three, current, ("FAKE_CUDA_FAIL", "cuCtxGetDevice:1:1")], "10"),
    ];
    for (variables, device) in table {
        let outcome = cuda(&["plain", "2"], variables);
        outcome.expect(&["device", "device", "right"]);
        assert!(outcome.log.contains(&format!("cuDevicePrimaryCtxRetain {device}\n")), "{outcome}");
        // What was current is so again.
        assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
    }
}
