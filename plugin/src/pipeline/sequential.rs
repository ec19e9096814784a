//! Why no loop of a SCoP can run in parallel: the values that iterations of the outermost loop need of
//! earlier ones.

use pollyrs_codegen_ptx::host_value;
use pollyrs_isl as isl;
use pollyrs_llvm_shim::source_name;
use pollyrs_schedule::dependences::Dependences;
use pollyrs_scop::{ArrayKind, RejectReason, Scop};

/// isl operations for a message.
const OPERATIONS: u64 = 100_000;

/// More names than these make no message clearer.
const MAX_NAMES: usize = 3;

/// What a message about a SCoP needs, which outlives it: what the sum in its way is called, and one of which
/// each iteration uses what was added up so far; the flow from each statement to itself, `{ S[i] -> S[i'] }`,
/// through arrays whose updates cannot be regrouped, by the arrays' names in the program; the flow between
/// statements of one outermost loop, as `{ [i] -> [i'] }` of that.
pub struct Sequential {
    ctx: isl::Context,
    sum: Option<String>,
    running: Option<String>,
    flow: Vec<(String, isl::Map)>,
    between: Vec<(String, isl::Map)>,
    /// What chooses elements of arrays, by the arrays' names in the program.
    choosers: Vec<(String, String)>,
}

impl Sequential {
    pub fn new(scop: &Scop, dependences: &Dependences) -> Self {
        Sequential {
            ctx: scop.ctx.clone(),
            sum: pollyrs_scop_detect::ordered_sum(scop).ok().flatten(),
            running: pollyrs_scop_detect::running_total(scop).ok().flatten(),
            flow: flow(scop, dependences).unwrap_or_default(),
            between: between(scop, dependences).unwrap_or_default(),
            choosers: choosers(scop),
        }
    }

    /// `reason`, with names where it is that no loop is parallel.
    pub fn explain(&self, reason: RejectReason) -> RejectReason {
        // A sum of which flags are all that is missing would run in parts, be it looked at on the way.
        if let (RejectReason::NoParallelism { .. }, Some(value), None) = (&reason, &self.running, &self.sum) {
            return RejectReason::RunningTotal { value: value.clone() };
        }
        match (reason, &self.sum) {
            (RejectReason::NoParallelism { .. }, Some(value)) => {
                RejectReason::OrderedSum { value: value.clone() }
            }
            (RejectReason::NoParallelism { .. }, None) => {
                let values = self.ctx.with_budget(OPERATIONS, || self.carried()).unwrap_or_default();
                let values = if values.len() > MAX_NAMES { Vec::new() } else { values };
                let chooser = self.choosers.iter().find(|(array, _)| values.contains(array));
                RejectReason::NoParallelism { values, chooser: chooser.map(|(_, by)| by.clone()) }
            }
            (reason, _) => reason,
        }
    }

    /// The names of what one iteration of an outermost loop leaves to a later one.
    fn carried(&self) -> isl::Result<Vec<String>> {
        let far = |all: &[(String, isl::Map)]| {
            let mut names: Vec<String> = Vec::new();
            for (name, flow) in all {
                // Distances are not negative in an outermost loop.
                let most = flow.clone().deltas()?.dim_max_val(0)?;
                if most.to_i64() != Some(0) && !names.contains(name) {
                    names.push(name.clone());
                }
            }
            Ok(names)
        };
        let own = far(&self.flow)?;
        // What a statement leaves to itself says most.
        if own.is_empty() { far(&self.between) } else { Ok(own) }
    }
}

/// The arrays of which data chooses elements, and what the source calls that data.
fn choosers(scop: &Scop) -> Vec<(String, String)> {
    let accesses = scop.statements.iter().flat_map(|s| &s.accesses);
    let chosen = accesses.filter_map(|a| Some((a, a.within.as_ref()?.values.first()?)));
    let named = chosen.filter_map(|(a, by)| {
        Some((scop.array(a.array).display.clone(), source_name(host_value(by.value))?))
    });
    named.filter(|(array, by)| array != by).collect()
}

/// What statements leave to others through memory, where all are in one outermost loop.
fn between(scop: &Scop, dependences: &Dependences) -> isl::Result<Vec<(String, isl::Map)>> {
    let mut found = Vec::new();
    if scop.schedule.root()?.child(0)?.node_type()? != isl::NodeType::Band {
        return Ok(found);
    }
    for m in dependences.tagged_flow.maps()? {
        let target = m.clone().range()?.unwrap()?;
        let names = (m.tuple_name(isl::DimType::In)?, target.tuple_name(isl::DimType::In)?);
        let (Some(from), Some(to)) = names else { continue };
        let through = target.tuple_name(isl::DimType::Out)?;
        let array = scop.arrays.iter().find(|a| Some(a.name.as_str()) == through.as_deref());
        let Some(array) = array.filter(|a| from != to && matches!(a.kind, ArrayKind::Memory { .. })) else {
            continue;
        };
        let mut m = m.range_factor_domain()?;
        if m.dim(isl::DimType::In)? == 0 || m.dim(isl::DimType::Out)? == 0 {
            continue;
        }
        for side in [isl::DimType::In, isl::DimType::Out] {
            let dims = m.dim(side)?;
            m = m.project_out(side, 1, dims - 1)?.reset_tuple_id(side)?;
        }
        found.push((array.display.clone(), m));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn flow(scop: &Scop, dependences: &Dependences) -> isl::Result<Vec<(String, isl::Map)>> {
    let mut found = Vec::new();
    for m in dependences.tagged_flow.maps()? {
        let target = m.clone().range()?.unwrap()?;
        let (from, to) = (m.tuple_name(isl::DimType::In)?, target.tuple_name(isl::DimType::In)?);
        let through = target.tuple_name(isl::DimType::Out)?;
        let Some((_, s)) = from.as_deref().and_then(|name| scop.statement_named(name)) else { continue };
        let Some(array) = scop.arrays.iter().find(|a| Some(a.name.as_str()) == through.as_deref()) else {
            continue;
        };
        let updates =
            |write: usize| s.accesses.get(write).is_some_and(|a| scop.array(a.array).name == array.name);
        if from == to && !s.reduction.as_ref().is_some_and(|r| r.cells().iter().any(|c| updates(c.write))) {
            let own = m.range_factor_domain()?;
            if own.dim(isl::DimType::In)? > 0 {
                found.push((array.display.clone(), own));
            }
        }
    }
    // In the order of the program's names, not of isl's tables.
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}
