//! Bugs on purpose, to show that the tests would find them: waits that are left out
//! (`tests/programs/orders.rs`), each by a condition at its place, and mistakes in the books of what stays on
//! the device (`residency/explore`). (Not those waits that only come before another one, as what a failed
//! execution has under way is waited for by the end of its queue as well.) [`SEEN`] are those that random
//! programs have to show.
//!
//! Only with the feature `planted`, and then only the one that `POLLYRS_PLANT` names; otherwise [`unless`]
//! waits. Unit tests plant mistakes for their own thread (`MISTAKE`).

use crate::base::error::Result;

/// Every bug, and what it leaves out.
pub const BUGS: [(&str, &str); 26] = [
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
    ("member", "a device does not wait for another one that gives it values, or takes some"),
    ("beside-fork", "exchanges beside a launch do not wait for the launches before it"),
    ("beside-exchange", "a launch beside others does not wait for what it gets from other devices"),
    ("beside-join", "launches do not wait for what was beside the one before"),
    ("fault-cell", "faults are looked for before the kernels are over"),
];

/// Mistakes in the books of what stays on the device ([`crate::residency`]), which the exploration of all its
/// states has to find.
pub const MISTAKES: [(&str, &str); 23] = [
    ("shared", "arrays of one execution share memory although one reads what the other writes"),
    ("copied-over", "results of windows do not come back before all of their range is copied in"),
    ("late-snapshot", "what is valid stays valid when a snapshot begins"),
    ("old-snapshot", "a snapshot stays when the results came back that it was for"),
    ("ended-snapshot", "results come back while the execution under way needs their snapshot"),
    ("whole-results", "what was written as a whole is not valid"),
    ("forgotten", "a result is forgotten"),
    ("overwritten", "what was overwritten past an entry stays valid there"),
    ("cut-results", "results stay where what is valid is cut"),
    ("room", "results that go because there is no room for them are forgotten"),
    ("failed", "what a failed execution left stays"),
    ("kept-written", "what the program writes stays on the device"),
    ("discarded", "what lies in a freed object and perhaps in another is forgotten"),
    ("looked-at", "results of which a part was looked at don't come back"),
    ("seen-snapshot", "what was looked at is compared with what was copied in before"),
    ("looked-rows", "a look brings nothing of results in rows"),
    ("handed-over", "what the caller does not know stays"),
    ("united", "results that lie apart come back as one"),
    ("joined-over", "an entry takes in the place of another one"),
    ("moved-valid", "what is valid moves to a larger entry but in part"),
    ("unknown-rows", "rows that were written are not valid"),
    ("loose-taken", "what is true of one object's bytes is taken for true of another's"),
    (
        "loose-handed-over",
        "what is true of one of the callee's objects is taken for true of one of the caller's",
    ),
];

/// What the fuzzer's sequences of events have to show in less than a minute each (scripts/planted): what an
/// array was once taken for.
pub const SEEN: [(&str, &str); 4] = [
    ("unknown-rows", "sequences: rows that were written are not valid"),
    ("retyped", "sequences: arrays of different types are taken for different memory"),
    ("holes", "sequences: all pages between an array's first and last element are there"),
    ("two-addresses", "sequences: memory with two addresses is taken for two memories"),
];

/// What is believed of inspected values although it does not hold, which the checked device has to find
/// (`test/planted/inspections.c`).
pub const INSPECTED: [(&str, &str); 5] = [
    ("distinct", "inspections: equal values are taken for different ones"),
    ("largest", "inspections: the largest value is one too small"),
    ("unstable", "inspections: what is added to one element is not in the program's order"),
    ("lists-apart", "inspections: what is written by a list is taken for memory apart from the list"),
    ("largest-number", "inspections: the largest number that is rounded is one too small"),
];

/// Mistakes where several devices share launches, which the checked device has to find
/// (`test/planted/parts.c`).
pub const DIVIDED: [(&str, &str); 3] = [
    ("exchange", "parts: nothing moves between devices before a launch"),
    ("stale-part", "parts: what another device has written anew counts as there"),
    ("early-part", "parts: what another device gives is there when the launch begins"),
];

/// Mistakes where ranks share launches (`test/planted/parts.c`, on three ranks).
pub const RANKS: [(&str, &str); 3] = [
    ("rank-message", "ranks: nothing is sent from one rank's device to another one's"),
    ("rank-snapshot", "ranks: each compares results with its own memory"),
    ("rank-result", "ranks: results stay with the rank that has them"),
];

#[cfg(test)]
thread_local! {
    /// The mistake that this thread makes.
    pub static MISTAKE: std::cell::Cell<&'static str> = const { std::cell::Cell::new("") };
}

/// Whether this mistake is planted.
#[cfg(any(test, feature = "planted"))]
pub fn skips(mistake: &str) -> bool {
    debug_assert!(
        MISTAKES
            .iter()
            .chain(&SEEN)
            .chain(&INSPECTED)
            .chain(&DIVIDED)
            .chain(&RANKS)
            .any(|(name, _)| *name == mistake),
        "{mistake}"
    );
    #[cfg(test)]
    return MISTAKE.with(|planted| planted.get() == mistake);
    #[cfg(not(test))]
    return std::env::var("POLLYRS_PLANT").is_ok_and(|name| name == mistake);
}

/// Whether this mistake is planted.
#[cfg(not(any(test, feature = "planted")))]
pub fn skips(_mistake: &str) -> bool {
    false
}

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
