//! The printer behind `print<pollyrs-scop>`: stable text, isl notation, one fact a line.

use crate::model::*;
use std::fmt;

impl fmt::Display for Scop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scop {}", self.name)?;
        match &self.location {
            Some(l) => writeln!(f, " at {l}")?,
            None => writeln!(f)?,
        }
        for p in &self.params {
            writeln!(f, "  param {} i{}", p.name, p.bits)?;
        }
        writeln!(f, "  context {}", self.context)?;
        for a in &self.assumptions {
            writeln!(f, "  assume {}: {} ({})", a.kind, a.set, a.note)?;
        }
        for r in &self.ranges {
            let terms: Vec<String> = r.terms.iter().map(|t| t.to_string()).collect();
            let (least, most) = r.offsets;
            let terms = terms.join("; ");
            writeln!(
                f,
                "  assume {}: {} <= [{terms}] + {least}..{most} <= {} ({})",
                r.kind, r.low, r.high, r.note
            )?;
        }
        for a in &self.arrays {
            let kind = match a.kind {
                ArrayKind::Memory { .. } => "memory",
                ArrayKind::Scalar { live_out: false, .. } => "scalar",
                ArrayKind::Scalar { live_out: true, .. } => "scalar, live out",
                ArrayKind::Fault { leaves: false } => "fault",
                ArrayKind::Fault { leaves: true } => "fault, leaves",
                ArrayKind::Phi { live_out: false, .. } => "phi",
                ArrayKind::Phi { live_out: true, .. } => "phi, live out",
            };
            write!(f, "  array {} {}", a.elem, a.name)?;
            for s in &a.sizes {
                match s {
                    None => f.write_str("[*]")?,
                    Some(s) => write!(f, "[{s}]")?,
                }
            }
            match &a.shift {
                None => writeln!(f, " ({kind})")?,
                Some(shift) => writeln!(f, " ({kind} at {shift})")?,
            }
            if let Some(apart) = &a.apart {
                writeln!(f, "    rows overlap unless {apart}")?;
            }
        }
        for (a, b) in &self.alias_checks {
            let or_one = if self.in_place.contains(&(*a, *b)) { " or one" } else { "" };
            writeln!(f, "  check disjoint {} {}{or_one}", self.array(*a).name, self.array(*b).name)?;
        }
        for (u, a) in self.invariant_loads.iter().flat_map(|u| u.arrays.iter().map(move |a| (u, a))) {
            writeln!(f, "  check {} bytes of {} unwritten by {}", u.bytes, u.display, self.array(*a).name)?;
        }
        for i in &self.inspections {
            let (low, high) = (&self.params[i.low].name, &self.params[i.high].name);
            let unsigned = if i.unsigned { ", without sign" } else { "" };
            let distinct = if i.distinct { ", all different" } else { "" };
            writeln!(f, "  inspect {low} to {high}{unsigned}{distinct}: {}", i.elements)?;
        }
        for r in &self.roundings {
            let (low, high) = (&self.params[r.low].name, &self.params[r.high].name);
            writeln!(f, "  round {low} to {high}: {}", self.number(r, r.terms.len().saturating_sub(1)))?;
        }
        for a in &self.promised {
            writeln!(f, "  promised: iterations have different elements of {}", self.array(*a).name)?;
        }
        for r in &self.reordered {
            let names: Vec<&str> = r.statements.iter().map(|s| self.statements[s.0].name.as_str()).collect();
            writeln!(f, "  tile by tile in dimensions {} to {}: {}", r.first, r.last, names.join(", "))?;
        }
        for a in &self.appends {
            let (name, total) = (&self.array(a.array).name, &self.statements[a.total.0].name);
            writeln!(f, "  append to {name}: the total of {total} goes up by {} or more", a.step)?;
        }
        for s in &self.statements {
            writeln!(f, "  statement {}", s.name)?;
            writeln!(f, "    domain {}", s.domain)?;
            if let Some(r) = &s.subregion {
                writeln!(f, "    subregion of {} blocks and {} loops", r.blocks.len(), r.loops.len())?;
                for spread in r.loops.iter().filter_map(|l| l.spread.as_ref()) {
                    let regrouped = spread.loop_carried.iter().filter(|c| c.regrouped.is_some()).count();
                    writeln!(
                        f,
                        "    a loop of iterations side by side, which hand on {} values, {regrouped} of them regrouped",
                        spread.loop_carried.len()
                    )?;
                }
            }
            for a in &s.accesses {
                let kind = match a.kind {
                    AccessKind::Read if !a.certain => "may-read",
                    AccessKind::Read => "read",
                    AccessKind::MustWrite => "must-write",
                    AccessKind::MayWrite => "may-write",
                };
                writeln!(f, "    {kind} {}", a.relation)?;
                if let Some(place) = &a.place {
                    writeln!(f, "      at {place}")?;
                }
            }
            for u in &s.updates {
                let of = s.accesses.iter().find(|a| a.value == AccessValue::Instruction(u.store));
                let name = of.map_or("", |a| &self.array(a.array).name);
                writeln!(f, "    update of {name} in any order: {:?}", u.op)?;
            }
            let running = s.running.iter().map(|r| {
                let memory = self.array(s.accesses[r.update.write].array).is_memory();
                (if memory { "total handed on in an element" } else { "running total" }, &r.update)
            });
            for (what, r) in s.reduction.iter().map(|r| ("reduction", r)).chain(running) {
                let order = if r.commutative { "in any order" } else { "in order" };
                let order = if r.numbers { format!("{order}, of numbers") } else { order.to_string() };
                let name = |write: usize| self.array(s.accesses[write].array).name.as_str();
                let beside: String = r.companions.iter().map(|c| format!(", {}", name(c.write))).collect();
                writeln!(f, "    {what} of {}{beside} {order}", name(r.write))?;
            }
        }
        write!(f, "  schedule {}", self.schedule)
    }
}
