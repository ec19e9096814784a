//! Memory that nobody gives back, and accesses of memory that is not there: programs under valgrind, on the
//! driver of `fake_cuda.c`, with and without failures. Programs of the compiler on the emulated device:
//! `scripts/leaks`.

use std::process::Command;

use crate::support::{fake_cuda, fresh, program};

/// What valgrind says; of lost memory only what the library allocated.
fn complaints(report: &str) -> Vec<String> {
    // "==1234== text", and "==1234== " between them.
    let text = |line: &str| line.splitn(3, "==").nth(2).unwrap_or_default().trim().to_string();
    let lines: Vec<String> = report.lines().filter(|line| line.starts_with("==")).map(text).collect();
    let complaint = |lines: &[String]| {
        let first = lines.first()?;
        let lost = first.contains("are definitely lost") || first.contains("are indirectly lost");
        let wrong = first.starts_with("Invalid ") || first.contains("uninitialised");
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        // Modules stay loaded, and the fake driver has its own idea of them.
        let own = has("pollyrs_rt") && !has("libfake_cuda");
        (wrong || lost && own).then(|| lines.join("\n"))
    };
    lines.split(String::is_empty).filter_map(complaint).collect()
}

#[test]
fn nothing_is_lost() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("not tested: there is no valgrind");
        return;
    }
    // All of them, or those whose turn it is, a third.
    let turn: Option<usize> = std::env::var("POLLYRS_TEST_TURN").ok().and_then(|turn| turn.parse().ok());
    let cases = [
        (&["plain", "3"][..], &["", "launch:2", "FAKE cuLaunchKernel:1:700"][..]),
        (&["refused"], &[""]),
        (&["held_few"], &["", "copy:2", "launch:1"]),
        (&["chains", "1", "90"], &["", "graph:20"]),
        (&["large"], &["", "FAKE cuMemcpyHtoDAsync_v2:9:1"]),
        (&["parts", "1", "70"], &[""]),
        (&["sliced", "2"], &["", "copy:3", "launch:2", "FAKE cuStreamWaitEvent:3:1"]),
        (&["window", "1", "70"], &[""]),
    ];
    for (number, (scenario, faults)) in cases.into_iter().enumerate() {
        for (which, fault) in faults.iter().enumerate() {
            if turn.is_some_and(|turn| !(number + which + turn).is_multiple_of(3)) {
                continue;
            }
            let report = fresh("valgrind");
            // Behind the tests beside it that measure times.
            let mut command = Command::new("nice");
            command
                .args(["-n", "19", "valgrind", "--leak-check=full"])
                .arg(format!("--log-file={}", report.display()));
            command.arg(program()).args(scenario).env_remove("LD_LIBRARY_PATH");
            command.env("POLLYRS_RT_CUDA_LIBRARY", fake_cuda()).env("POLLYRS_RT_OFFLOAD", "always");
            command.env("POLLYRS_RT_CACHE", "off").env("POLLYRS_RT_PROFILE", fresh("profile.jsonl"));
            if scenario[0] == "sliced" {
                command.env("POLLYRS_RT_OVERLAP", "4");
            }
            match fault.strip_prefix("FAKE ") {
                Some(fault) => command.env("FAKE_CUDA_FAIL", fault),
                None => command.env("POLLYRS_RT_FAULT", fault),
            };
            let output = command.output().unwrap();
            let report = std::fs::read_to_string(report).unwrap();
            let found = complaints(&report);
            assert!(
                output.status.success() && output.stdout.ends_with(b"right\n"),
                "{scenario:?} {fault}: {report}"
            );
            assert!(report.contains("LEAK SUMMARY") || report.contains("no leaks are possible"), "{report}");
            assert!(found.is_empty(), "{scenario:?} {fault}: {}", found.join("\n\n"));
        }
    }
}

#[test]
fn what_is_lost_is_seen() {
    let report = "\
==7== 48 bytes in 1 blocks are definitely lost in loss record 1 of 2
==7==    at 0x1: malloc
==7==    by 0x2: pollyrs_rt::hold::grow
==7==\x20
==7== 64 bytes in 1 blocks are definitely lost in loss record 2 of 2
==7==    at 0x1: malloc
==7==    by 0x2: main
==7==\x20
==7== Invalid read of size 8
==7==    at 0x1: main
==7==\x20
==7== LEAK SUMMARY:
==7==    definitely lost: 112 bytes in 2 blocks
";
    let found = complaints(report);
    assert!(
        found.len() == 2 && found[0].starts_with("48 bytes") && found[1].starts_with("Invalid"),
        "{found:?}"
    );
}
