//! The printer behind `print<pollyrs-detect>`: a line for each SCoP and each rejection.

use crate::Detection;
use pollyrs_scop::Location;
use std::fmt;

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
