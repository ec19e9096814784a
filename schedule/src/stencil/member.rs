//! Stencils beside other loops: a time loop between the loops that set its fields and those that sum them up.
//!
//! **Problem.** Detection takes the largest region that it can model. A program whose `main` sets a grid,
//! sweeps over it, and prints a norm is one SCoP, and as a whole no stencil.
//!
//! **Solution.** A member of the outermost sequence that is a stencil by itself is found here, without the
//! others' dependences. The SCoP is divided there, and the run-time library keeps the fields on the device
//! from one part to the next.

use super::recognise::{MAX_STATEMENTS, recognise_form};
use super::{check, recognise};
use crate::tree::{ScheduleTree, Tree};
use crate::{Result, budgeted, dependences};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// Whether `scop` is a sequence with a member that is a stencil. At most `budget` isl operations for each.
pub fn has_member(scop: &Scop, budget: u64) -> Result<bool> {
    let tree = ScheduleTree::from_isl(&scop.schedule)?;
    let Tree::Sequence(members) = tree.root else { return Ok(false) };
    for (filter, child) in members {
        if !matches!(child, Tree::Band(_)) || child.depth() < 2 {
            continue;
        }
        let domain = tree.domain.clone().intersect(filter)?;
        let mut statements = Vec::new();
        for s in &scop.statements {
            let own = isl::UnionSet::empty(&scop.ctx)?.add_set(s.domain.clone())?;
            if !domain.clone().intersect(own)?.is_empty()? {
                statements.push(s.clone());
            }
        }
        if statements.len() > MAX_STATEMENTS || statements.len() == scop.statements.len() {
            continue;
        }
        let schedule = ScheduleTree { domain, root: child }.to_isl()?;
        let member = Scop { statements, schedule, ..scop.clone() };
        match budgeted(&scop.ctx, "stencil recognition", budget, || is_stencil(&member, budget)) {
            Ok(true) => return Ok(true),
            Ok(false) | Err(crate::ScheduleError::Budget(_)) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(false)
}

/// Dependences are computed only for what has the form.
fn is_stencil(member: &Scop, budget: u64) -> Result<bool> {
    let found = match recognise_form(member) {
        Ok(found) => found,
        Err(refusal) => return refusal.form().map(|_| false),
    };
    if check::same_flow_by_form(member, &found)? {
        return Ok(true);
    }
    let deps = dependences::dependences_within(member, budget)?;
    recognise(member, &deps).map(|_| true).or_else(|refusal| refusal.form().map(|_| false))
}
