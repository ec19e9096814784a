//! Bugs on purpose, to show that the tests would find them (`tests/programs/orders.rs`): waits that are left out, each by a condition at its place. (Not
//! those that only come before another one, as what a failed execution has under way is waited for by the end of its queue as well.)
//!
//! Only with the feature `planted`, and then only the one that `POLLYRS_PLANT` names; otherwise [`unless`] waits.

use crate::error::Result;

/// Every bug, and what it leaves out.
pub const BUGS: [(&str, &str); 22] = [
    ("join", "the queue's stream does not wait for copies beside it"),
    ("launch-join", "a launch of all blocks does not wait for its arrays' copies beside earlier ones"),
    ("slice-origin", "a slice does not wait for the launches before its own"),
    ("slice-copies", "a slice does not wait for the copies before it"),
    ("slice-end", "the queue's stream does not wait for slices"),
    ("follow", "results that come back beside slices do not wait for theirs"),
    ("hurry-gather", "an execution's end forgets the copies beside its kernels"),
    ("drain", "a queue that ends does not wait for what is beside its stream"),
    ("drop", "a queue that ends does not wait for its stream"),
    ("collected", "launches that wait for others go to the stream behind what follows them"),
    ("wait-stream", "waiting does not wait for the queue's stream"),
    ("wait-copies", "waiting does not wait for copies beside it"),
    ("ring-turn", "a buffer is filled again while the device reads it"),
    ("ring-former", "a buffer is filled while the device reads an earlier copy from it"),
    ("ring-arrival", "a buffer is read before its contents arrived"),
    ("copies-read", "the program goes on before copies to the device have read its memory"),
    ("landed", "results are stored that have not landed"),
    ("landed-rows", "rows are stored that have not landed"),
    (
        "direct-kernels",
        "results overwrite the program's memory before it is known that the kernels succeeded",
    ),
    ("direct", "the program goes on before its results are there"),
    ("fault-gather", "faults are looked for beside the last kernels"),
    ("fault-cell", "faults are looked for before the kernels are over"),
];

/// Does `wait`, unless this bug is planted.
#[cfg(feature = "planted")]
pub fn unless(bug: &str, wait: impl FnOnce() -> Result<()>) -> Result<()> {
    assert!(BUGS.iter().any(|(name, _)| *name == bug), "{bug}");
    if std::env::var("POLLYRS_PLANT").is_ok_and(|name| name == bug) { Ok(()) } else { wait() }
}

/// Does `wait`, unless this bug is planted.
#[cfg(not(feature = "planted"))]
pub fn unless(_bug: &str, wait: impl FnOnce() -> Result<()>) -> Result<()> {
    wait()
}
