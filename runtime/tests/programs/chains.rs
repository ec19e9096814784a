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

/// What executions one after the other send: launches alone, and graphs by their lengths.
struct Sent {
    alone: usize,
    graphs: Vec<usize>,
    /// Uses of short graphs after they were made: with 64 there are long ones.
    uses: usize,
}

impl Sent {
    /// Nothing yet.
    fn nothing() -> Sent {
        Sent { alone: 0, graphs: Vec::new(), uses: 0 }
    }

    fn execution(&mut self, launches: usize) {
        let mut left = launches.saturating_sub(if self.graphs.is_empty() { 64 } else { 16 });
        self.alone += launches - left;
        let mut chained = 0;
        while left >= 16 {
            let length = if self.uses >= 64 && chained >= 64 && left >= 64 { 64 } else { 16 };
            self.uses += usize::from(length == 16 && self.graphs.len() >= 2);
            self.graphs.push(length);
            chained += length;
            left -= length;
        }
        self.alone += left;
    }

    fn six(launches: usize) -> Sent {
        let mut sent = Sent::nothing();
        (0..6).for_each(|_| sent.execution(launches));
        sent
    }

    /// Graphs of this length; two are made, and changed for all further uses.
    fn of(&self, length: usize) -> usize {
        self.graphs.iter().filter(|known| **known == length).count()
    }

    fn calls(&self) -> [usize; 6] {
        let (made, set) = [16, 64].into_iter().fold((Vec::new(), 0), |(mut made, set), length| {
            made.extend(vec![length; self.of(length).min(2)]);
            (made, set + length * self.of(length).saturating_sub(2))
        });
        [self.alone, self.graphs.len(), made.len(), made.iter().sum(), made.len(), set]
    }

    /// Graphs that were launched before the k-th call of a kind.
    fn before(&self, call: &str, k: usize) -> usize {
        let mut calls = 0;
        let found = (0..self.graphs.len()).find(|&index| {
            let length = self.graphs[index];
            let new = self.graphs[..index].iter().filter(|known| **known == length).count() < 2;
            calls += match call {
                CREATE | INSTANTIATE => usize::from(new),
                ADD => {
                    if new {
                        length
                    } else {
                        0
                    }
                }
                SET => {
                    if new {
                        0
                    } else {
                        length
                    }
                }
                _ => 1,
            };
            calls >= k
        });
        found.unwrap()
    }
}

#[test]
fn many_launches_go_as_graphs() {
    let outcome = chains(300, &[]);
    expect_device(&outcome);
    let sent = Sent::six(300);
    let calls = [LAUNCH, GRAPH, CREATE, ADD, INSTANTIATE, SET].map(|name| outcome.calls(name));
    assert_eq!(calls, sent.calls(), "{outcome}");
    assert!(calls[2] == 4 && sent.of(64) > 3, "both lengths: {:?}", sent.graphs);
    assert_eq!(outcome.calls("cuGraphDestroy"), 0);
    let executions = outcome.profile.iter().filter(|line| line["release"] != true);
    assert!(executions.clone().count() == 6 && executions.clone().all(|line| line["kernels"] == 300));
    assert!(executions.clone().all(|line| line["kernel_ms"] == 0.25), "{outcome}");
    // Without a wait at the end of each execution.
    expect_device(&chains(300, &[("POLLYRS_RT_PROFILE", "")]));
}

/// A first execution makes short graphs only.
#[test]
fn any_number_of_launches() {
    for launches in
        [0, 1, 2, 15, 16, 17, 32, 63, 64, 65, 79, 80, 81, 127, 128, 129, 144, 191, 192, 193, 208, 1000]
    {
        let outcome = chains(launches, &[("POLLYRS_RT_STAGING", "0")]);
        expect_device(&outcome);
        let sent = Sent::six(launches);
        assert_eq!([LAUNCH, GRAPH].map(|name| outcome.calls(name)), sent.calls()[..2], "{launches}");
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
    let sent = Sent::six(300);
    let table = [
        (CREATE, &[1, 2, 3, 4][..]),
        (ADD, &[1, 10, 32, 33, 160]),
        (INSTANTIATE, &[1, 4]),
        (SET, &[1, 16, 17, 64, 65, 1025, 1100]),
        (GRAPH, &[1, 2, 3, 48]),
    ];
    let table = table.into_iter().flat_map(|(call, ks)| ks.iter().map(move |&k| (call, k)));
    let table: Vec<_> = table.map(|(call, k)| (call, k, sent.before(call, k))).collect();
    for code in ["1", "2", "801", "12345"] {
        for &(call, k, before) in &table {
            let outcome = chains(300, &[("FAKE_CUDA_FAIL", &format!("{call}:{k}:{code}"))]);
            expect_device(&outcome);
            let tried = before + usize::from(call == GRAPH);
            assert_eq!(outcome.calls(GRAPH), tried, "{call}:{k}");
            assert_eq!(
                outcome.calls(LAUNCH),
                6 * 300 - sent.graphs[..before].iter().sum::<usize>(),
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
    for k in [65usize, 80, 81, 100, 128, 129, 290] {
        let outcome = chains(300, &[("POLLYRS_RT_FAULT", &format!("launch:{k}"))]);
        outcome.expect(&["host", "device", "device", "device", "device", "device", "right"]);
        let mut sent = Sent::nothing();
        // What the first execution had sent, and the other five.
        sent.execution((k - 1).min(64) + (k - 1).saturating_sub(64) / 16 * 16);
        (0..5).for_each(|_| sent.execution(300));
        assert_eq!([LAUNCH, GRAPH].map(|name| outcome.calls(name)), sent.calls()[..2], "{k}");
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

/// A step a second for a day in executions of two on arrays that stay, then all of them in one execution.
#[test]
fn a_day_of_steps() {
    let quiet = [("POLLYRS_RT_PROFILE", ""), ("FAKE_CUDA_LOG", "/dev/null"), ALWAYS];
    let library = ("POLLYRS_RT_CUDA_LIBRARY", fake_cuda().to_str().unwrap());
    let emulated = ("POLLYRS_RT_DEVICE", "emulated");
    for (device, executions) in [(library, "43200"), (emulated, "4320")] {
        run(&["long", "1", executions], &[&quiet[..], &[device]].concat()).expect(&["steady", "right"]);
    }
}
