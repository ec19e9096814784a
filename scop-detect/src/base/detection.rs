//! What detection gives, and the printer behind `print<pollyrs-detect>`: a line for each SCoP and each
//! rejection.

use pollyrs_scop::{Location, Rejection, Scop};
use std::fmt;

/// What a function holds.
#[derive(Debug)]
pub struct Detection {
    /// In program order, disjoint.
    pub scops: Vec<Scop>,
    pub rejections: Vec<Rejection>,
    /// Whether some region was refused for having a part only of what values that were read before a loop
    /// belong to ([`crate::base::invariant_loads`]): without them there may be more.
    pub divided: bool,
    /// isl operations of all attempts, those that failed included.
    pub operations: u64,
    /// Whether an attempt ended at its limit: with another one the result may be another.
    pub cut: bool,
}

fn place(l: &Option<Location>) -> String {
    l.as_ref().map_or_else(|| "an unknown place".to_string(), Location::to_string)
}

impl fmt::Display for Detection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for s in &self.scops {
            let memory = s.arrays.iter().filter(|a| a.is_memory()).count();
            writeln!(
                f,
                "scop {} at {}: {} statements, {} arrays, {} loops",
                s.name,
                place(&s.location),
                s.statements.len(),
                memory,
                s.loops.len()
            )?;
        }
        for r in &self.rejections {
            let at = r.loop_location.clone().or_else(|| r.location.clone());
            write!(f, "rejected {} at {}: {}", r.reason.remark_name(), place(&at), r.reason)?;
            match &r.location {
                Some(l) if r.location != at => writeln!(f, " (at {l})")?,
                _ => writeln!(f)?,
            }
        }
        Ok(())
    }
}
