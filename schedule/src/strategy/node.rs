//! What a subtree is placed under, and what it becomes; members, and dependences along them.

use super::cost::Model;
use super::marks::KERNEL;
use crate::Result;
use crate::planted::planted;
use crate::tree::{Band, Tree, member_mupa};
use pollyrs_isl as isl;

/// What is searched through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// The outermost loops that are parallel are a kernel; nothing is distributed, moved to the host, or
    /// joined.
    Plain,
    /// Loops may be distributed, too: statements that keep what is around them from being parallel get
    /// kernels of their own.
    Apart,
    /// All placements.
    All,
    /// Kernels may become one as well.
    Fused,
}

impl Search {
    /// Whether it is what is done behind a spent budget: no nests, and nothing for a product's sake.
    pub fn is_short(self) -> bool {
        matches!(self, Search::Plain | Search::Apart)
    }
}

/// What a subtree is placed under.
#[derive(Clone)]
pub(super) struct Node<'a> {
    pub model: &'a Model<'a>,
    pub domain: isl::UnionSet,
    /// Dependences between instances of `domain` that no host loop carries.
    pub deps: isl::UnionMap,
    /// Product of the extents of the host loops around.
    pub trips: f64,
    /// Beneath a nest: what is placed is what one block executes, and launches are its steps.
    pub block: bool,
    pub search: Search,
}

impl Node<'_> {
    /// Nanoseconds of a launch, or of a step of a block.
    pub fn launch(&self, instances: f64, threads: f64, strided: f64, wait: f64) -> f64 {
        match self.block {
            true => self.model.step(instances, threads, strided, wait),
            false => self.model.launch(instances, threads, strided, wait),
        }
    }

    pub fn ideal(&self) -> Result<f64> {
        let instances = self.instances()?;
        Ok(match self.block {
            true => self.model.step(instances, f64::INFINITY, 0.0, 1.0),
            false => self.model.ideal(instances),
        })
    }

    /// Instances of one execution of the subtree.
    pub fn instances(&self) -> Result<f64> {
        Ok((self.model.instances(&self.domain)? / self.trips).max(1.0))
    }

    pub fn restricted(&self, filter: &isl::UnionSet) -> Result<Self> {
        let deps = self.deps.clone().intersect_domain(filter.clone())?.intersect_range(filter.clone())?;
        Ok(Node { domain: self.domain.clone().intersect(filter.clone())?, deps, ..self.clone() })
    }
}

/// A placed subtree; `cost` is of one execution.
pub(super) struct Plan {
    pub tree: Tree,
    pub cost: f64,
    pub parallel: bool,
    pub serial: bool,
}

/// The members of directly nested bands, and what is beneath them.
pub(super) fn chain(tree: &Tree) -> (Vec<isl::UnionPwAff>, &Tree) {
    match tree {
        Tree::Band(b) => {
            let (rest, child) = chain(&b.child);
            (b.members.iter().cloned().chain(rest).collect(), child)
        }
        Tree::Mark(_, child) => chain(child),
        other => (vec![], other),
    }
}

/// A kernel of these members.
pub(super) fn mark(members: Vec<isl::UnionPwAff>, child: Tree) -> Tree {
    let coincident = vec![true; members.len()];
    Tree::Band(Band { members, permutable: true, coincident, child: Box::new(child) }).marked(KERNEL)
}

/// Whether every dependence has distance zero along the member.
pub(crate) fn coincident(deps: &isl::UnionMap, member: &isl::UnionPwAff) -> Result<bool> {
    if planted("coincident") {
        return Ok(true);
    }
    let m = member_mupa(member)?;
    Ok(deps.clone().lex_lt_at_multi_union_pw_aff(m.clone())?.is_empty()?
        && deps.clone().reverse()?.lex_lt_at_multi_union_pw_aff(m)?.is_empty()?)
}

/// Whether no dependence has a negative distance along the member.
pub(crate) fn nonnegative(deps: &isl::UnionMap, member: &isl::UnionPwAff) -> Result<bool> {
    Ok(deps.clone().reverse()?.lex_lt_at_multi_union_pw_aff(member_mupa(member)?)?.is_empty()?)
}

/// The dependences with distance zero along the member.
pub(super) fn equal_at(deps: &isl::UnionMap, member: &isl::UnionPwAff) -> Result<isl::UnionMap> {
    Ok(deps.clone().eq_at(member_mupa(member)?)?)
}
