//! Executions of many launches, whose order shows in the results: one by one and as graphs.

use crate::support::{Outcome, compile, fake_cuda, program, run, run_program};

const ALWAYS: (&str, &str) = ("POLLYRS_RT_OFFLOAD", "always");

/// Six executions of so many launches: one alone, then five in a hold.
fn chains(launches: usize, variables: &[(&str, &str)]) -> Outcome {
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    run(&["chains", "1", &launches.to_string()], &[&[library, ALWAYS], variables].concat())
}

#[track_caller]
fn expect_device(outcome: &Outcome) {
    outcome.expect(&[&["device"; 6][..], &["right"]].concat());
    assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
}

const LAUNCH: &str = "cuLaunchKernel";
const CREATE: &str = "cuGraphCreate";
const ADD: &str = "cuGraphAddKernelNode_v2";
const INSTANTIATE: &str = "cuGraphInstantiateWithFlags";
const SET: &str = "cuGraphExecKernelNodeSetParams_v2";
const GRAPH: &str = "cuGraphLaunch";

/// The graphs of 300 launches, by their lengths, in the first execution and in the others.
const FIRST: [usize; 8] = [16, 16, 16, 16, 64, 64, 16, 16];
const OTHERS: [usize; 8] = [16, 16, 16, 16, 64, 64, 64, 16];

#[test]
fn many_launches_go_as_graphs() {
    let outcome = chains(300, &[]);
    expect_device(&outcome);
    let calls = [LAUNCH, GRAPH, CREATE, ADD, INSTANTIATE, SET].map(|name| outcome.calls(name));
    // Two graphs of each length are made, and changed for 29 uses of 16 and 15 of 64 launches.
    assert_eq!(calls, [76 + 5 * 28, 6 * 8, 4, 2 * (16 + 64), 4, 29 * 16 + 15 * 64], "{outcome}");
    assert_eq!(outcome.calls("cuGraphDestroy"), 0);
    let executions = outcome.profile.iter().filter(|line| line["release"] != true);
    assert!(executions.clone().count() == 6 && executions.clone().all(|line| line["kernels"] == 300));
    assert!(executions.clone().all(|line| line["kernel_ms"] == 0.25), "{outcome}");
    // Without a wait at the end of each execution.
    expect_device(&chains(300, &[("POLLYRS_RT_PROFILE", "")]));
}

#[test]
fn any_number_of_launches() {
    for launches in
        [0, 1, 2, 15, 16, 17, 32, 63, 64, 65, 79, 80, 81, 127, 128, 129, 144, 191, 192, 193, 208, 1000]
    {
        let outcome = chains(launches, &[("POLLYRS_RT_STAGING", "0")]);
        expect_device(&outcome);
        let (mut alone, mut graphs) = (0, 0);
        for _ in 0..6 {
            let mut left = launches - launches.min(if graphs > 0 { 16 } else { 64 });
            alone += launches - left;
            let short = (left / 16).min(4);
            left -= 16 * short;
            graphs += short + left / 64 + left % 64 / 16;
            alone += left % 16;
        }
        assert_eq!([LAUNCH, GRAPH].map(|name| outcome.calls(name)), [alone, graphs], "{launches}");
    }
}

#[test]
fn graphs_can_be_switched_off() {
    let outcome = chains(300, &[("POLLYRS_RT_GRAPHS", "0")]);
    expect_device(&outcome);
    assert_eq!((outcome.calls(LAUNCH), outcome.log.contains("cuGraph")), (6 * 300, false));
}

#[test]
fn drivers_without_graphs_launch_one_by_one() {
    let old = compile("libfake_cuda_old.so", "fake_cuda.c", &["-shared", "-fPIC", "-ldl", "-DNO_GRAPHS"]);
    let outcome = chains(300, &[("POLLYRS_RT_CUDA_LIBRARY", old.to_str().unwrap())]);
    expect_device(&outcome);
    assert_eq!(outcome.calls(LAUNCH), 6 * 300);
    // Nodes keep their kernels: the third graph is the first again, and begins with another kernel.
    let outcome = chains(300, &[("FAKE_CUDA_SAME_KERNEL", "1")]);
    expect_device(&outcome);
    assert_eq!([LAUNCH, GRAPH].map(|name| outcome.calls(name)), [6 * 300 - 32, 2]);
}

/// Graphs are used as long as all goes well; no launch is lost or made twice.
#[test]
fn a_failing_call_ends_the_use_of_graphs_and_nothing_else() {
    // Of the calls, the k-th; graphs that were launched before it.
    let table = [
        (CREATE, 1, 0),
        (CREATE, 2, 1),
        (CREATE, 3, 4),
        (ADD, 1, 0),
        (ADD, 10, 0),
        (ADD, 32, 1),
        (ADD, 33, 4),
        (ADD, 160, 5),
        (INSTANTIATE, 1, 0),
        (INSTANTIATE, 4, 5),
        (SET, 1, 2),
        (SET, 16, 2),
        (SET, 17, 3),
        (SET, 64, 7),
        (SET, 65, 8),
        (SET, 129, 12),
        (GRAPH, 1, 0),
        (GRAPH, 2, 1),
        (GRAPH, 3, 2),
        (GRAPH, 48, 47),
    ];
    let lengths: Vec<usize> = [&FIRST[..], &OTHERS.repeat(5)].concat();
    for code in ["1", "2", "801", "12345"] {
        for (call, k, before) in table {
            let outcome = chains(300, &[("FAKE_CUDA_FAIL", &format!("{call}:{k}:{code}"))]);
            expect_device(&outcome);
            let tried = before + usize::from(call == GRAPH);
            assert_eq!(outcome.calls(GRAPH), tried, "{call}:{k}");
            assert_eq!(
                outcome.calls(LAUNCH),
                6 * 300 - lengths[..before].iter().sum::<usize>(),
                "{call}:{k}"
            );
            let after = outcome
                .log
                .lines()
                .skip_while(|line| !line.starts_with(LAUNCH))
                .filter(|line| line.starts_with("cuGraph"));
            let last = after.last().unwrap().split(' ').next().unwrap();
            assert!(last == call || last == "cuGraphDestroy", "{call}:{k}: {last}");
        }
    }
    for k in ["1", "2", "18", "19", "20", "500"] {
        let outcome = chains(300, &[("POLLYRS_RT_FAULT", &format!("graph:{k}"))]);
        expect_device(&outcome);
    }
}

/// A graph is changed when it is done. What says so may fail, too.
#[test]
fn few_graphs_are_under_way() {
    let outcome = chains(1000, &[]);
    expect_device(&outcome);
    assert_eq!(
        outcome.calls("cuEventSynchronize"),
        outcome.calls(GRAPH) - outcome.calls(CREATE),
        "{outcome}"
    );
    // Of the events, two are for the profile; the first record is theirs.
    for (call, k, graphs) in [("cuEventCreate", 3, 0), ("cuEventRecord", 2, 1), ("cuEventSynchronize", 1, 2)]
    {
        for (code, words) in [("1", "device"), ("700", "host")] {
            let outcome = chains(300, &[("FAKE_CUDA_FAIL", &format!("{call}:{k}:{code}"))]);
            outcome.expect(&[&[words; 6][..], &["right"]].concat());
            assert_eq!(outcome.calls(GRAPH), graphs, "{call} {code}");
        }
    }
}

#[test]
fn an_error_of_the_device_is_no_error_of_graphs() {
    for call in [CREATE, ADD, INSTANTIATE, GRAPH] {
        let outcome = chains(300, &[("FAKE_CUDA_FAIL", &format!("{call}:1:700"))]);
        outcome.expect(&[&["host"; 6][..], &["right"]].concat());
        assert!(outcome.profile[0]["reason"].as_str().unwrap().contains(call), "{outcome}");
        assert_eq!(outcome.calls(LAUNCH), 64, "{call}");
    }
}

/// What is collected when an execution fails is not launched.
#[test]
fn failures_while_launches_wait() {
    for k in [65, 80, 81, 100, 128, 129, 290] {
        let outcome = chains(300, &[("POLLYRS_RT_FAULT", &format!("launch:{k}"))]);
        outcome.expect(&["host", "device", "device", "device", "device", "device", "right"]);
        let graphs = [80, 96, 112, 128, 192, 256].iter().filter(|launches| **launches < k).count();
        assert_eq!(outcome.calls(LAUNCH), 64 + if graphs > 0 { 28 } else { 76 } + 4 * 28, "{k}");
        assert_eq!(outcome.calls(GRAPH), graphs + 5 * 8, "{k}");
        assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"), "{outcome}");
    }
    // The first execution of the hold: nothing is on the device alone yet. Later the results are lost.
    for k in [400, 520] {
        let outcome = chains(300, &[("POLLYRS_RT_FAULT", &format!("launch:{k}"))]);
        outcome.expect(&["device", "host", "device", "device", "device", "device", "right"]);
    }
    chains(300, &[("POLLYRS_RT_FAULT", "launch:750")]).expect_fatal("half changed");
    // Of the last launches, which go one by one at the end.
    let outcome = chains(300, &[("FAKE_CUDA_FAIL", &format!("{LAUNCH}:70:1"))]);
    outcome.expect(&["host", "device", "device", "device", "device", "device", "right"]);
}

#[test]
fn each_queue_has_graphs_of_its_own() {
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    for fault in ["", "graph:700"] {
        let outcome =
            run_program(program(), &["chain_threads"], &[library, ALWAYS, ("POLLYRS_RT_FAULT", fault)]);
        outcome.expect(&["right"]);
        let executions = outcome.profile.iter().filter(|line| line["release"] != true);
        assert!(
            executions.clone().count() == 4 * 3 * 6
                && executions.clone().all(|line| line["device"] == "cuda")
        );
        let made = outcome.calls(INSTANTIATE);
        assert!((1..=16).contains(&made), "{made}");
        assert!(outcome.log.ends_with("exit: contexts 0 events 0\n"));
    }
}

/// Thousands of executions of all kinds, 29 a round.
#[test]
fn nothing_grows() {
    let quiet = [("POLLYRS_RT_PROFILE", ""), ("FAKE_CUDA_LOG", "/dev/null"), ALWAYS];
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    let emulated = ("POLLYRS_RT_DEVICE", "emulated");
    for (device, rounds) in [(library, "400"), (emulated, "80")] {
        run(&["steady", "1", rounds], &[&quiet[..], &[device]].concat()).expect(&["steady", "right"]);
    }
}
