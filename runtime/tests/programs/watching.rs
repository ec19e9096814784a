//! What tools and people see of a run while it goes on: ranges (NVTX), and the progress of long executions.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::support::{Outcome, compile, fake_cuda, fresh, run};

const ALWAYS: (&str, &str) = ("POLLYRS_RT_OFFLOAD", "always");

fn cuda(scenario: &[&str], variables: &[(&str, &str)]) -> Outcome {
    run(scenario, &[&[("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap())], variables].concat())
}

/// What a tool was shown.
fn ranges(scenario: &[&str], words: &[&str], variables: &[(&str, &str)]) -> String {
    static TOOL: OnceLock<PathBuf> = OnceLock::new();
    let tool = TOOL.get_or_init(|| compile("libfake_nvtx.so", "fake_nvtx.c", &["-shared", "-fPIC"]));
    let log = fresh("nvtx");
    let own = [("NVTX_INJECTION64_PATH", tool.to_str().unwrap()), ("NVTX_LOG", log.to_str().unwrap())];
    cuda(scenario, &[&own, variables].concat()).expect(words);
    std::fs::read_to_string(log).unwrap_or_default()
}

#[test]
fn tools_see_ranges_with_their_places() {
    let place = "plain (a \"file\".c:7)";
    let device = format!("{place}\n  to the device\n  end\n  to the host\n  end\nend\n");
    let seen = ranges(&["plain", "2"], &["device", "device", "right"], &[ALWAYS]);
    assert_eq!(seen, format!("domain pollyrs\n{device}{device}"));
    // Of the original loop, too; what fails on the way closes its ranges.
    let host = format!("{place}: on the host\nend\n");
    let seen = ranges(&["plain"], &["host", "right"], &[("POLLYRS_RT_OFFLOAD", "never")]);
    assert_eq!(seen, format!("domain pollyrs\n{host}"));
    let seen = ranges(&["plain"], &["host", "right"], &[ALWAYS, ("POLLYRS_RT_FAULT", "copy:1")]);
    assert_eq!(seen, format!("domain pollyrs\n{place}\n  to the device\n  end\nend\n{host}"));
    // A descriptor that can't be read has no name.
    let seen = ranges(&["version"], &["host", "right"], &[]);
    assert_eq!(seen, "domain pollyrs\n?: on the host\nend\n");
}

#[test]
fn a_tool_that_is_none_changes_nothing() {
    let words = ["device", "right"];
    let seen = ranges(&["plain"], &words, &[ALWAYS, ("NVTX_FAKE", "no-domains")]);
    assert!(seen.contains("to the device (no domain)\n"), "{seen}");
    for mode in ["refuse", "no-ranges"] {
        let seen = ranges(&["plain"], &words, &[ALWAYS, ("NVTX_FAKE", mode)]);
        assert!(!seen.contains("plain") && !seen.contains("wrong"), "{mode}: {seen}");
    }
    for path in ["/nonexistent/tool.so", "/dev/null", ""] {
        assert_eq!(ranges(&["plain"], &words, &[ALWAYS, ("NVTX_INJECTION64_PATH", path)]), "");
    }
}

/// 30 launches, 40 ms apart.
#[test]
fn long_executions_tell_of_their_progress() {
    let told = |verbose: &str| {
        let outcome = cuda(&["progress"], &[ALWAYS, ("POLLYRS_RT_VERBOSE", verbose)]);
        outcome.expect(&["device", "right"]);
        outcome.stderr.lines().filter(|line| line.contains(" launches in ")).map(str::to_string).collect()
    };
    let lines: Vec<String> = told("1");
    assert!(lines.len() == 1 && lines[0].starts_with("pollyrs: increment: 2"), "{lines:?}");
    assert!(told("0").is_empty());
}
