//! Failures on purpose, for tests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::error::{Error, Result};

/// A kind of operation that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    Module,
    Alloc,
    Copy,
    CopyOut,
    Launch,
    Graph,
    Sync,
}

impl Operation {
    const ALL: [(Operation, &str); 7] = [
        (Operation::Module, "module"),
        (Operation::Alloc, "alloc"),
        (Operation::Copy, "copy"),
        (Operation::CopyOut, "end-copy"),
        (Operation::Launch, "launch"),
        (Operation::Graph, "graph"),
        (Operation::Sync, "sync"),
    ];
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            Operation::ALL.iter().find(|(operation, _)| operation == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// `POLLYRS_RT_FAULT`: which operations are to fail, and how many there have been.
#[derive(Debug, Default)]
pub struct Faults {
    planned: BTreeMap<Operation, (u64, AtomicU64)>,
}

impl Faults {
    /// Counts one operation; the planned one fails.
    pub fn check(&self, operation: Operation) -> Result<()> {
        let Some((planned, seen)) = self.planned.get(&operation) else { return Ok(()) };
        let count = seen.fetch_add(1, Ordering::Relaxed) + 1;
        if count == *planned { Err(Error::Injected { operation, count }) } else { Ok(()) }
    }

    pub fn parse(text: &str) -> Option<Faults> {
        let mut planned = BTreeMap::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, count) = part.split_once(':')?;
            let (operation, _) = Operation::ALL.into_iter().find(|(_, known)| *known == name)?;
            planned.insert(operation, (count.parse().ok()?, AtomicU64::new(0)));
        }
        Some(Faults { planned })
    }
}
