//! Schedule trees as owned Rust values (Verdoolaege, Guelton, Grosser, Cohen, "Schedule trees", IMPACT 2014).
//! Transformations are functions from tree to tree; isl's own trees are only the form in which they come and
//! go.
//!
//! # Invariants
//! - A [`Band`]'s functions are defined on every instance that reaches it (they may be defined on more).
//! - The filters of a [`Tree::Sequence`] are disjoint and cover what reaches it; isl's unordered *set* nodes
//!   become sequences.
//! - The children of a sequence run in order; a leaf holds instances that nothing orders (one instance where
//!   it matters).
//!
//! # Example
//! `for i { S0; for k S1 }` is
//! ```text
//! domain { S0[i] : 0 <= i < n; S1[i, k] : 0 <= i < n and 0 <= k < m }
//!   band { S0[i] -> [i]; S1[i, k] -> [i] }
//!     sequence
//!       filter { S0[i] }
//!       filter { S1[i, k] }
//!         band { S1[i, k] -> [k] }
//! ```

use crate::{Result, ScheduleError};
use pollyrs_isl as isl;

/// A schedule: the instances and their order.
#[derive(Clone, Debug)]
pub struct ScheduleTree {
    /// `[params] -> { S[i] : ... }`
    pub domain: isl::UnionSet,
    pub root: Tree,
}

/// A node with everything beneath it.
#[derive(Clone, Debug)]
pub enum Tree {
    Band(Band),
    /// Filters and what they lead to, in execution order.
    Sequence(Vec<(isl::UnionSet, Tree)>),
    Mark(String, Box<Tree>),
    Leaf,
}

/// Loops: `[params] -> { S[i] -> [m0, m1, ...] }`, executed in lexicographic order.
#[derive(Clone, Debug)]
pub struct Band {
    /// One function for each member, outermost first; never empty.
    pub members: Vec<isl::UnionPwAff>,
    /// Every dependence that reaches the band has a non-negative distance along every member.
    pub permutable: bool,
    /// For each member: every dependence that reaches the band has distance zero along it.
    pub coincident: Vec<bool>,
    pub child: Box<Tree>,
}

impl Tree {
    /// A band of sequential members above `self`; `self` if there is none.
    pub fn under(self, members: Vec<isl::UnionPwAff>) -> Tree {
        if members.is_empty() {
            return self;
        }
        let coincident = vec![false; members.len()];
        Tree::Band(Band { members, permutable: false, coincident, child: Box::new(self) })
    }

    pub fn marked(self, name: impl std::fmt::Display) -> Tree {
        Tree::Mark(name.to_string(), Box::new(self))
    }

    /// Whether a mark of this name is on the tree.
    pub fn has_mark(&self, name: &str) -> bool {
        match self {
            Tree::Leaf => false,
            Tree::Mark(m, c) => m == name || c.has_mark(name),
            Tree::Band(b) => b.child.has_mark(name),
            Tree::Sequence(cs) => cs.iter().any(|(_, c)| c.has_mark(name)),
        }
    }

    /// The number of members on the longest path.
    pub fn depth(&self) -> usize {
        match self {
            Tree::Leaf => 0,
            Tree::Mark(_, c) => c.depth(),
            Tree::Band(b) => b.members.len() + b.child.depth(),
            Tree::Sequence(cs) => cs.iter().map(|(_, c)| c.depth()).max().unwrap_or(0),
        }
    }
}

/// `{ S[i] -> [v] }` of one band member.
pub fn member_map(member: &isl::UnionPwAff) -> Result<isl::UnionMap> {
    Ok(isl::UnionMap::from_multi_union_pw_aff(member_mupa(member)?)?)
}

/// One member as a tuple of one.
pub fn member_mupa(member: &isl::UnionPwAff) -> Result<isl::MultiUnionPwAff> {
    Ok(isl::MultiUnionPwAff::from_union_pw_aff(member.clone())?)
}

/// The tuple of all members.
pub fn members_mupa(members: &[isl::UnionPwAff]) -> Result<isl::MultiUnionPwAff> {
    let (first, rest) = members.split_first().ok_or(ScheduleError::Unsupported("a band without members"))?;
    let mut mupa = member_mupa(first)?;
    for m in rest {
        mupa = mupa.flat_range_product(member_mupa(m)?)?;
    }
    Ok(mupa)
}

impl ScheduleTree {
    /// The tree of an isl schedule.
    pub fn from_isl(schedule: &isl::Schedule) -> Result<ScheduleTree> {
        let root = schedule.root()?;
        Ok(ScheduleTree { domain: schedule.domain()?, root: from_node(&root.get_child(0)?)? })
    }

    /// The same as an isl schedule.
    pub fn to_isl(&self) -> Result<isl::Schedule> {
        let node = isl::ScheduleNode::from_domain(self.domain.clone())?;
        let node = build(node.child(0)?, &self.root)?;
        Ok(node.schedule()?)
    }
}

fn from_node(node: &isl::ScheduleNode) -> Result<Tree> {
    use isl::NodeType::*;
    let child = || -> Result<Box<Tree>> { Ok(Box::new(from_node(&node.get_child(0)?)?)) };
    Ok(match node.node_type()? {
        Leaf => Tree::Leaf,
        Mark => Tree::Mark(node.mark_id()?.name(), child()?),
        Band => {
            let mupa = node.band_partial_schedule()?;
            let n = mupa.dim(isl::DimType::Out)?;
            if n == 0 {
                return Ok(*child()?);
            }
            let members = (0..n as i32).map(|i| mupa.at(i)).collect::<isl::Result<Vec<_>>>()?;
            let coincident =
                (0..n as i32).map(|i| node.band_coincident(i)).collect::<isl::Result<Vec<_>>>()?;
            Tree::Band(self::Band {
                members,
                permutable: node.band_permutable()?,
                coincident,
                child: child()?,
            })
        }
        Sequence | Set => {
            let mut children = Vec::new();
            for filter in node.children()? {
                children.push((filter.filter_filter()?, from_node(&filter.get_child(0)?)?));
            }
            Tree::Sequence(children)
        }
        Filter => Tree::Sequence(vec![(node.filter_filter()?, *child()?)]),
        // What a context node says of the parameters, the SCoP's context says as well.
        Context => *child()?,
        Domain => return Err(ScheduleError::Unsupported("inner domain node")),
        Expansion => return Err(ScheduleError::Unsupported("expansion node")),
        Extension => return Err(ScheduleError::Unsupported("extension node")),
        Guard => return Err(ScheduleError::Unsupported("guard node")),
    })
}

/// Inserts `tree` at the leaf `node` and returns to the same place.
fn build(node: isl::ScheduleNode, tree: &Tree) -> Result<isl::ScheduleNode> {
    Ok(match tree {
        Tree::Leaf => node,
        Tree::Mark(name, child) => {
            let id = isl::Id::new(node.context(), name)?;
            build(node.insert_mark(id)?.child(0)?, child)?.parent()?
        }
        Tree::Band(b) => {
            let mut node = node.insert_partial_schedule(members_mupa(&b.members)?)?;
            node = node.band_set_permutable(b.permutable)?;
            for (i, c) in b.coincident.iter().enumerate() {
                node = node.band_set_coincident(i as i32, *c)?;
            }
            build(node.child(0)?, &b.child)?.parent()?
        }
        Tree::Sequence(children) if children.len() == 1 => {
            let (filter, child) = &children[0];
            build(node.insert_filter(filter.clone())?.child(0)?, child)?.parent()?
        }
        Tree::Sequence(children) => {
            let filters = isl::UnionSetList::new(node.context(), children.iter().map(|(f, _)| f.clone()))?;
            let mut node = node.insert_sequence(filters)?;
            for (i, (_, child)) in children.iter().enumerate() {
                node = build(node.child(i as i32)?.child(0)?, child)?.parent()?.parent()?;
            }
            node
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{KERNELS, scop};

    #[test]
    fn round_trip_keeps_the_order() {
        for (name, text) in KERNELS {
            let s = scop(text);
            let tree = ScheduleTree::from_isl(&s.schedule).unwrap();
            let again = tree.to_isl().unwrap();
            let (a, b) = (s.schedule.map().unwrap(), again.map().unwrap());
            let (da, db) = (s.schedule.domain().unwrap(), again.domain().unwrap());
            assert!(da.is_equal(&db).unwrap(), "{name}");
            let (a, b) = (a.intersect_domain(da.clone()).unwrap(), b.intersect_domain(da).unwrap());
            let before = a.clone().lex_lt(a).unwrap();
            assert!(before.is_equal(&b.clone().lex_lt(b).unwrap()).unwrap(), "{name}");
        }
    }
}
