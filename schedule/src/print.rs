//! The printers behind `print<pollyrs-deps>`, `print<pollyrs-schedule>` and `print<pollyrs-mapping>`: stable
//! text, one fact a line, pieces sorted by their text.

use crate::dependences::Dependences;
use crate::mapped::{MappedKernel, MappedScop, Mode, Placement, Tiling};
use crate::task::TaskMemory;
use crate::tree::{ScheduleTree, Tree};
use pollyrs_isl as isl;
use std::fmt;

/// One line for each map of the union, sorted.
fn lines(f: &mut fmt::Formatter<'_>, what: &str, m: &isl::UnionMap) -> fmt::Result {
    writeln!(f, "{what}")?;
    for m in m.maps().map_err(|_| fmt::Error)? {
        writeln!(f, "  {m}")?;
    }
    Ok(())
}

impl fmt::Display for Dependences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(f, "flow", &self.flow)?;
        lines(f, "anti", &self.anti)?;
        lines(f, "output", &self.output)?;
        lines(f, "no source", &self.no_source)
    }
}

impl fmt::Display for ScheduleTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "domain")?;
        for s in self.domain.sets().map_err(|_| fmt::Error)? {
            writeln!(f, "  {s}")?;
        }
        write_tree(f, &self.root, 1)
    }
}

fn write_tree(f: &mut fmt::Formatter<'_>, tree: &Tree, depth: usize) -> fmt::Result {
    let pad = 2 * depth;
    match tree {
        Tree::Leaf => Ok(()),
        Tree::Mark(name, child) => {
            writeln!(f, "{:pad$}mark {name}", "")?;
            write_tree(f, child, depth + 1)
        }
        Tree::Band(b) => {
            writeln!(f, "{:pad$}band{}", "", if b.permutable { " (permutable)" } else { "" })?;
            for (m, c) in b.members.iter().zip(&b.coincident) {
                writeln!(f, "{:pad$}  {} {}", "", if *c { "coincident" } else { "sequential" }, sorted(m))?;
            }
            write_tree(f, &b.child, depth + 1)
        }
        Tree::Sequence(children) => {
            writeln!(f, "{:pad$}sequence", "")?;
            for (filter, child) in children {
                let sets = filter.sets().map_err(|_| fmt::Error)?;
                let sets: Vec<_> = sets.iter().map(|s| s.to_string()).collect();
                writeln!(f, "{:pad$}  filter {}", "", sets.join(" "))?;
                write_tree(f, child, depth + 2)?;
            }
            Ok(())
        }
    }
}

/// isl prints the pieces of a union in the order of a hash table that depends on addresses; sort them.
fn sorted(m: &isl::UnionPwAff) -> String {
    let pieces = crate::tree::member_map(m).and_then(|m| Ok(m.maps()?));
    match pieces {
        Ok(maps) => maps.iter().map(|m| m.to_string()).collect::<Vec<_>>().join(" "),
        Err(_) => "?".into(),
    }
}

impl fmt::Display for MappedScop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "host")?;
        let host = ScheduleTree::from_isl(&self.host).map_err(|_| fmt::Error)?;
        for line in host.to_string().lines() {
            writeln!(f, "  {line}")?;
        }
        for k in &self.kernels {
            write!(f, "{k}")?;
        }
        for (i, p) in self.placement.iter().enumerate() {
            let p = match p {
                Placement::Global => "global",
                Placement::Private => "private",
            };
            writeln!(f, "array {i} {p}")?;
        }
        for c in &self.choices {
            write!(f, "choice {}", c.param)?;
            for a in &c.kernels {
                let name = &self.kernels[a.kernel].name;
                write!(f, " {name} weight {} residents {}", a.weight, a.residents)?;
            }
            if let Some(cut) = &c.cut {
                write!(f, " cut along {}", cut.dim)?;
            }
            writeln!(f, " on {}", c.multiprocessors)?;
        }
        for n in &self.nested {
            writeln!(f, "nested {}", n.param)?;
        }
        if let Some(late) = &self.late {
            write!(f, "late {}", late.param)?;
            late.kernels.iter().try_for_each(|k| write!(f, " {}", self.kernels[*k].name))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for MappedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel {}[{}]", self.name, self.host_params.join(", "))?;
        for s in self.domain.sets().map_err(|_| fmt::Error)? {
            writeln!(f, "  domain {s}")?;
        }
        if self.task().is_some() {
            writeln!(f, "  tasks")?;
        }
        for g in &self.grid {
            writeln!(f, "  grid {} from {} count {}", g.param, g.lower, g.count)?;
        }
        for b in &self.block {
            writeln!(f, "  block {} size {}", b.param, b.size)?;
        }
        if let Mode::Team(threads) = self.mode {
            writeln!(f, "  team of {threads}")?;
        }
        for m in self.tile_map.maps().map_err(|_| fmt::Error)? {
            writeln!(f, "  tile {m}")?;
        }
        for m in self.thread_map.maps().map_err(|_| fmt::Error)? {
            writeln!(f, "  thread {m}")?;
        }
        for m in self.steps().iter().map(|s| s.maps()) {
            for m in m.map_err(|_| fmt::Error)? {
                writeln!(f, "  step {m}")?;
            }
        }
        writeln!(f, "  context {}", self.context)?;
        for w in self.windows() {
            writeln!(f, "  window {} array {} size {:?}", w.copy, w.array.0, w.size)?;
            for (d, lower) in w.lower.iter().enumerate() {
                writeln!(f, "    dimension {d} from {lower}")?;
            }
            if !w.passing.is_empty().map_err(|_| fmt::Error)? {
                writeln!(f, "    passing {}", w.passing)?;
            }
        }
        if let Some(task) = self.task() {
            write!(f, "{task}")?;
        }
        for c in self.counters() {
            write!(f, "  counters array {} at most {}", c.array.0, c.most)?;
            for (first, last) in &c.bounds {
                write!(f, " from {first} to {last}")?;
            }
            writeln!(f)?;
        }
        if let Some(full) = self.full() {
            writeln!(f, "  full {full}")?;
        }
        let tree = ScheduleTree::from_isl(&self.schedule).map_err(|_| fmt::Error)?;
        for line in tree.to_string().lines() {
            writeln!(f, "  {line}")?;
        }
        match self.tiling() {
            Some(t) => write!(f, "{t}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for TaskMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for h in &self.homes {
            writeln!(f, "  home array {} size {:?} at {}", h.at.array.0, h.at.size, h.at.corner)?;
            writeln!(f, "    copied {}", h.at.copied)?;
            writeln!(f, "    stored {}", h.stored)?;
        }
        for s in &self.stages {
            let early = if s.early { " early" } else { "" };
            writeln!(f, "  stage{early} array {} size {:?} at {}", s.at.array.0, s.at.size, s.at.corner)?;
            writeln!(f, "    copied {}", s.at.copied)?;
        }
        for u in &self.updates {
            writeln!(f, "  update {} place {}", u.tuple(), u.place)?;
            writeln!(f, "    points {}", u.points)?;
            writeln!(f, "    times {}", u.times)?;
            for o in &u.operands {
                writeln!(f, "    operand {} along {:?} {}", o.access, o.along, o.element)?;
            }
        }
        for c in &self.carried {
            writeln!(f, "  carried {} place {}", c.tuple(), c.place)?;
            writeln!(f, "    points {}", c.points)?;
            writeln!(f, "    times {} of coordinate {}", c.times, c.time)?;
            for o in &c.operands {
                writeln!(f, "    operand {} along {:?} {}", o.access, o.along, o.element)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Tiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  lanes {:?} residents {} stages {} products {}",
            self.lanes, self.residents, self.stages, self.products
        )?;
        for d in &self.dims {
            writeln!(f, "  point {} of {} by {} from {} to {}", d.param, d.points, d.vector, d.min, d.max)?;
        }
        if let Some(depth) = self.slides {
            writeln!(f, "  window along loop {depth}")?;
        }
        if let Some(tiles) = &self.tiles {
            writeln!(f, "  tiles {tiles}")?;
        }
        for g in &self.guards {
            writeln!(f, "  guard {}", g.instances)?;
        }
        for r in &self.registers {
            writeln!(f, "  register array {} {}", r.array.0, r.cell)?;
            if !r.apart.is_empty() {
                let reads = r.apart.iter().map(|(s, a)| format!("S{}.{a}", s.0)).collect::<Vec<_>>();
                writeln!(f, "    in memory {}", reads.join(" "))?;
            }
            if let Some(full) = &r.full {
                writeln!(f, "    all points {full}")?;
            }
        }
        for p in &self.operand_tiles {
            writeln!(f, "  operand tile {} of {}", p.name, p.strip)?;
            if let Some(full) = &p.full {
                writeln!(f, "    all points {full}")?;
            }
            for w in &p.without {
                let names = w.statements.iter().map(|s| format!("S{}", s.0)).collect::<Vec<_>>();
                writeln!(f, "    without {} {}", names.join(" "), w.strips)?;
            }
            for g in &p.groups {
                writeln!(
                    f,
                    "    shared array {} size {:?} order {:?} padding {}",
                    g.array.0, g.size, g.order, g.padding
                )?;
            }
        }
        let tree = ScheduleTree::from_isl(&self.schedule).map_err(|_| fmt::Error)?;
        for line in tree.to_string().lines() {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}
