//! Arrays that stay on the checked emulated device: see `watched.c`.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::support::{Outcome, SYSTEM, compile, libraries, run_program};

fn watched(scenario: &str, check: &str) -> Outcome {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let library = libraries().join("libpollyrs_rt.a");
        compile("watched", "watched.c", &[&[library.to_str().unwrap()], &SYSTEM[..]].concat())
    });
    run_program(program, &[scenario], &[("POLLYRS_RT_DEVICE", "emulated"), ("POLLYRS_RT_CHECK", check)])
}

#[test]
fn what_is_said_in_time_is_right() {
    for check in ["0", "1", "copies", "init", "race,bounds"] {
        watched("said", check).expect(&["device", "device", "device", "device", "device", "right"]);
    }
}

#[test]
fn writes_of_the_program_have_to_be_said() {
    let outcome = watched("unsaid", "1");
    outcome.expect_fatal(
        "the program changed byte 405 of B in watched while it was on the device, and no release said so",
    );
    watched("unsaid", "race,bounds,init").expect(&["device", "device", "device", "wrong"]);
    // That of an element whose result has yet to come back is lost.
    watched("unused", "0").expect(&["device", "device", "device", "right"]);
}

#[test]
fn results_that_are_not_back_cannot_be_mistaken_for_values() {
    watched("early", "1").expect(&["device", "device", "nothing", "right"]);
    watched("early", "0").expect(&["device", "device", "something", "right"]);
}

#[test]
fn held_results_are_what_kernels_wrote() {
    let less = watched("less", "1");
    less.expect_fatal("watched: store to A wrote A + 59, which is not copied back");
    let more = watched("more", "1");
    more.expect_fatal("watched: A + 60 is copied back, but no kernel wrote it");
}

#[test]
fn what_is_freed_does_not_come_back() {
    for (check, left) in [("1", "nothing"), ("0", "old")] {
        let outcome = watched("freed", check);
        outcome.expect(&["device", "device", left, "device", "right"]);
        let (to_host, to_device): (Vec<_>, Vec<_>) = outcome
            .profile
            .iter()
            .map(|line| (line["bytes_to_host"].as_u64().unwrap(), line["bytes_to_device"].as_u64().unwrap()))
            .unzip();
        assert_eq!((to_host, to_device), (vec![0, 0, 0, 800], vec![1600, 0, 800, 0]), "{outcome}");
    }
}
