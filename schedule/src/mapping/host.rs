//! The host's loops and sequences, and the kernels that are launched in them, from a marked tree.

use super::options::Nests;
use super::site::{Either, Site};
use crate::names::Param;
use crate::planted::planted;
use crate::strategy::{EITHER, GRAPH, KERNEL, NEST, ROWS, SERIAL};
use crate::tree::{Band, Tree};
use crate::{Result, ScheduleError};
use pollyrs_isl as isl;

/// The host's loops and sequences.
#[derive(Clone)]
pub(super) enum Host {
    Loops(usize, Box<Host>),
    Sequence(Vec<Host>),
    /// Index into the sites.
    Launch(usize),
}

/// What is above a part of a tree.
pub(super) struct Around {
    /// The members of bands.
    pub host: Vec<isl::UnionPwAff>,
    pub nests: Nests,
    pub graphs: Nests,
    pub either: Option<Either>,
}

/// Collects the kernels beneath `tree` in order; `None` if nothing is there to execute.
pub(super) fn collect(
    tree: &Tree,
    domain: &isl::UnionSet,
    around: &mut Around,
    sites: &mut Vec<Site>,
    alone: bool,
) -> Result<Option<Host>> {
    if domain.is_empty()? {
        return Ok(None);
    }
    let mut site = |members: Vec<isl::UnionPwAff>,
                    inner: &Tree,
                    around: &Around,
                    (nest, rows, graph): (bool, bool, bool)| {
        let name = format!("K{}", sites.len());
        let domain = domain.clone();
        sites.push(Site {
            name,
            host: around.host.clone(),
            domain,
            members,
            inner: inner.clone(),
            tile: None,
            launch: sites.len(),
            untiled: false,
            threads: None,
            count: None,
            team: 1,
            alternative: None,
            alone,
            nest,
            rows,
            graph,
            either: around.either.clone(),
        });
        Ok(Some(Host::Launch(sites.len() - 1)))
    };
    match tree {
        // Without steps the kernels beneath are launches.
        Tree::Mark(m, child) if m == ROWS && around.nests == Nests::Never => match &**child {
            Tree::Band(b) => collect(&b.child, domain, around, sites, false),
            _ => Err(ScheduleError::Unsupported("rows need a band")),
        },
        Tree::Mark(m, child) if [KERNEL, NEST, ROWS, GRAPH].contains(&m.as_str()) => match &**child {
            Tree::Band(b) => site(b.members.clone(), &b.child, around, (m != KERNEL, m == ROWS, m == GRAPH)),
            _ => Err(ScheduleError::Unsupported("a kernel mark needs a band")),
        },
        Tree::Mark(m, child) if m == SERIAL => site(vec![], child, around, (false, false, false)),
        Tree::Mark(m, child) if m == EITHER => {
            let Tree::Sequence(forms) = &**child else {
                return Err(ScheduleError::Unsupported("two forms that are no sequence"));
            };
            let param = Param::Form(sites.len()).to_string();
            let mut out = Vec::new();
            let graph = forms.first().is_some_and(|(_, f)| matches!(f, Tree::Mark(m, _) if m == GRAPH));
            let wanted = if graph { around.graphs } else { around.nests };
            for ((_, form), nested) in forms.iter().zip([true, false]) {
                around.either = match (wanted, nested) {
                    (Nests::Never, true) | (Nests::Always, false) => continue,
                    (Nests::Auto, _) => Some(Either { param: param.clone(), nested }),
                    _ => None,
                };
                let found = collect(form, domain, around, sites, false);
                around.either = None;
                out.extend(found?);
            }
            Ok(if out.is_empty() { None } else { Some(Host::Sequence(out)) })
        }
        Tree::Leaf => site(vec![], &Tree::Leaf, around, (false, false, false)),
        Tree::Mark(_, child) => collect(child, domain, around, sites, false),
        Tree::Band(Band { members, child, .. }) => {
            around.host.extend(members.iter().cloned());
            let kernel = matches!(&**child, Tree::Mark(m, _) if m == KERNEL);
            let inner = collect(child, domain, around, sites, members.len() == 1 && kernel);
            around.host.truncate(around.host.len() - members.len());
            Ok(inner?.map(|h| Host::Loops(members.len(), Box::new(h))))
        }
        Tree::Sequence(children) => {
            let mut out = Vec::new();
            for (filter, child) in children {
                let inside = domain.clone().intersect(filter.clone())?;
                out.extend(collect(child, &inside, around, sites, false)?);
            }
            Ok(if out.is_empty() { None } else { Some(Host::Sequence(out)) })
        }
    }
}

/// The schedule tree over the kernels' tuples, and the kernels in it.
pub(super) fn host_tree(
    ctx: &isl::Context,
    host: &Host,
    sites: &[Site],
    depth: usize,
) -> Result<(Tree, Vec<usize>)> {
    Ok(match host {
        Host::Launch(k) => (Tree::Leaf, vec![*k]),
        Host::Loops(n, child) => {
            let (tree, kernels) = host_tree(ctx, child, sites, depth + n)?;
            let mut members = Vec::new();
            for d in depth..depth + n {
                let pieces: Vec<_> = kernels
                    .iter()
                    .map(|k| format!("{} -> [({})]", sites[*k].tuple(), Param::Host(d)))
                    .collect();
                members.push(isl::UnionPwAff::read(ctx, &format!("{{ {} }}", pieces.join("; ")))?);
            }
            (tree.under(members), kernels)
        }
        Host::Sequence(children) => {
            let (mut out, mut all) = (Vec::new(), Vec::new());
            for c in children {
                let (tree, kernels) = host_tree(ctx, c, sites, depth)?;
                let tuples: Vec<_> = kernels.iter().map(|k| sites[*k].tuple()).collect();
                out.push((isl::UnionSet::read(ctx, &format!("{{ {} }}", tuples.join("; ")))?, tree));
                all.extend(kernels);
            }
            if planted("swap-launches") {
                out.reverse();
            }
            let tree = if out.len() == 1 { out.remove(0).1 } else { Tree::Sequence(out) };
            (tree, all)
        }
    })
}
