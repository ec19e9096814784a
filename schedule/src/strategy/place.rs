//! Placement: which loops run on the host, which become grid and block, which run in a thread; with loop
//! distribution (Allen and Kennedy, "Automatic translation of Fortran programs to vector form", TOPLAS 1987,
//! section 5) and interchange where they give more parallelism.
//!
//! Input is any legal tree. A chain of loops `m0 .. mn` above a subtree, with the dependences no outer host
//! loop carries, is placed by the cheapest of:
//! 1. *kernel*: the coincident members move outside and are mapped, the others run in the thread;
//! 2. *serial*: one thread runs everything;
//! 3. *distribution*: the chain is repeated for consecutive groups of the strongly connected components of
//!    the subtree's children, each group placed by itself;
//! 4. *wavefront* of the outermost members, if none is coincident;
//! 5. *host*: one member becomes a host loop, and the rest is placed without the dependences it carries.
//!
//! Neighbours of a sequence of kernels are made one where that saves launches and traffic ([`super::fuse`]),
//! and so are those of several reductions ([`super::partials`]).
//!
//! Where there are coincident members and others, the result may be joined with a *nest* of these loops, for
//! the sizes that it is better for ([`super::nest`]).
//!
//! # Invariants (why the result is legal)
//! - A coincident member has distance zero for every active dependence; moving it over other members changes
//!   no dependence's first non-zero distance.
//! - The member that (5) picks is the first that is not coincident: with the ones before it at distance zero,
//!   all active dependences have non-negative distance along it, so those with positive distance are carried
//!   and may be dropped.
//! - (3) runs a group to its end before the next starts; no active dependence goes from a later to an earlier
//!   component.
//! - Children of one group keep their textual order beneath the shared chain.
//!
//! # Example
//! `for i { y[i] = 0; for j y[i] += …; for j z[j] += A[i][j] * y[i] }`: `i` is coincident for the first two
//! children only, and as a whole for nothing. Components: {S0}, {S1}, {S2}; the cheapest consecutive groups
//! are {S0, S1}, a kernel over i, and {S2}, whose chain (i, j) is interchanged: a kernel over j with i in the
//! thread.

use super::cost::Model;
use super::marks::{Placed, SERIAL};
use super::node::{Node, Plan, Search, chain, coincident, equal_at, mark};
use super::{fuse, locality, nest, partials, products, rows, wavefront};
use crate::tree::{ScheduleTree, Tree};
use crate::{Dependences, Result, known};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// More groups than this are not combined in every way.
const MAX_COMBINED: usize = 5;

/// A candidate within this factor of the ideal ends the search.
const GOOD_ENOUGH: f64 = 1.5;

/// Places the tree; the result has its marks.
pub fn place(scop: &Scop, deps: &Dependences, tree: &ScheduleTree) -> Result<Placed> {
    placed(scop, deps, tree, Search::Fused)
}

/// [`place`], of what is to be searched through.
pub(super) fn placed(scop: &Scop, deps: &Dependences, tree: &ScheduleTree, search: Search) -> Result<Placed> {
    let model = Model::new(scop)?;
    let known = known(scop)?;
    let domain = tree.domain.clone().intersect_params(known.clone())?;
    let ideal = model.ideal(model.instances(&domain)?);
    let top = Node {
        model: &model,
        domain: domain.clone(),
        deps: deps.all(scop)?,
        trips: 1.0,
        block: false,
        search,
    };
    let plan = plan(&top, &tree.root)?;
    let root = rows::joined(&top, partials::joined(&top, plan.tree)?)?;
    Ok(Placed {
        tree: ScheduleTree { domain, root },
        cost: plan.cost,
        ideal,
        parallel: plan.parallel,
        last_resort: search.is_short(),
    })
}

fn serial(node: &Node, tree: Tree) -> Result<Plan> {
    let instances = node.instances()?;
    let cost = node.launch(instances, 1.0, 0.0, 1.0);
    Ok(Plan { tree: tree.marked(SERIAL), cost, parallel: false, serial: true })
}

fn plan(node: &Node, tree: &Tree) -> Result<Plan> {
    match tree {
        Tree::Leaf => serial(node, Tree::Leaf),
        Tree::Mark(_, child) => plan(node, child),
        Tree::Sequence(children) => plan_sequence(node, children),
        Tree::Band(_) => {
            let (members, child) = chain(tree);
            plan_chain(node, &members, child, true)
        }
    }
}

/// Each child by itself; neighbours that one thread runs share a launch.
fn plan_sequence(node: &Node, children: &[(isl::UnionSet, Tree)]) -> Result<Plan> {
    let mut plans: Vec<(isl::UnionSet, Plan)> = Vec::new();
    let mut run: Vec<(isl::UnionSet, Tree)> = Vec::new();
    for (filter, child) in children {
        let inside = node.restricted(filter)?;
        if inside.domain.is_empty()? {
            continue;
        }
        let p = plan(&inside, child)?;
        if !p.serial {
            flush(node, &mut run, &mut plans)?;
            plans.push((filter.clone(), p));
            continue;
        }
        run.push((filter.clone(), child.clone()));
    }
    flush(node, &mut run, &mut plans)?;
    Ok(sequence(fuse::fused(node, plans)?))
}

fn flush(
    node: &Node,
    run: &mut Vec<(isl::UnionSet, Tree)>,
    plans: &mut Vec<(isl::UnionSet, Plan)>,
) -> Result<()> {
    let Some((first, rest)) = run.split_first() else { return Ok(()) };
    let mut filter = first.0.clone();
    for (f, _) in rest {
        filter = filter.union(f.clone())?;
    }
    let tree = if rest.is_empty() { first.1.clone() } else { Tree::Sequence(run.clone()) };
    plans.push((filter.clone(), serial(&node.restricted(&filter)?, tree)?));
    run.clear();
    Ok(())
}

fn sequence(mut plans: Vec<(isl::UnionSet, Plan)>) -> Plan {
    if plans.len() == 1
        && let Some((_, p)) = plans.pop()
    {
        return p;
    }
    let cost = plans.iter().map(|p| p.1.cost).sum();
    let parallel = plans.iter().any(|p| p.1.parallel);
    let tree = Tree::Sequence(plans.into_iter().map(|(f, p)| (f, p.tree)).collect());
    Plan { tree, cost, parallel, serial: false }
}

/// Places the loops `members` above `child`. `distribute` is false if the caller tries the distributions
/// itself.
pub(super) fn plan_chain(
    node: &Node,
    members: &[isl::UnionPwAff],
    child: &Tree,
    distribute: bool,
) -> Result<Plan> {
    if members.is_empty() {
        return plan(node, child);
    }
    let flags = members.iter().map(|m| coincident(&node.deps, m)).collect::<Result<Vec<_>>>()?;
    let (best, apart) = cheapest(node, members, &flags, child, distribute)?;
    if apart || node.block || node.search.is_short() {
        return Ok(best);
    }
    nest::joined(node, members, &flags, child, best)
}

/// The cheapest plan without nests of its own, and whether it was found for a product's sake ([`products`]).
fn cheapest(
    node: &Node,
    members: &[isl::UnionPwAff],
    flags: &[bool],
    child: &Tree,
    distribute: bool,
) -> Result<(Plan, bool)> {
    let mut best = serial(node, child.clone().under(members.to_vec()))?;
    let ideal = node.ideal()?;
    let mut consider = |candidate: Plan| {
        if candidate.cost < best.cost {
            best = candidate;
        }
        best.cost <= GOOD_ENOUGH * ideal
    };
    let parallel = flags.iter().any(|f| *f);
    if parallel {
        let (mut p, hides) = kernel(node, members, flags, child)?;
        if hides {
            // Of a group that is one among other cuts, no more is wanted than what it takes.
            p.cost *= products::HIDDEN;
            if !distribute {
                return Ok((p, true));
            }
            if let Some(apart) = distribution(node, members, child, true)?
                && apart.cost < p.cost
            {
                return Ok((apart, true));
            }
            p.cost /= products::HIDDEN;
        }
        if consider(p) || node.search == Search::Plain {
            return Ok((best, false));
        }
    }
    if distribute
        && let Some(p) = distribution(node, members, child, false)?
        && consider(p)
    {
        return Ok((best, false));
    }
    if parallel && node.search == Search::Apart {
        return Ok((best, false));
    }
    if !parallel
        && let Some(w) = wavefront::wavefront(members, &node.deps)?
        && consider(wave(node, members, &w, child)?)
    {
        return Ok((best, false));
    }
    let pos = flags.iter().position(|f| !f).unwrap_or(0);
    consider(host(node, members, pos, child)?);
    Ok((best, false))
}

/// One member becomes a host loop.
fn host(node: &Node, members: &[isl::UnionPwAff], pos: usize, child: &Tree) -> Result<Plan> {
    let mut rest = members.to_vec();
    let member = rest.remove(pos);
    let extent = node.model.extent(&member, &node.domain)?;
    let deps = equal_at(&node.deps, &member)?;
    let inner = Node { deps, trips: node.trips * extent, ..node.clone() };
    let p = plan_chain(&inner, &rest, child, true)?;
    Ok(Plan { tree: p.tree.under(vec![member]), cost: extent * p.cost, serial: false, ..p })
}

/// All coincident members are mapped; the one with the best access pattern is the last (thread x), the others
/// keep their order. Also whether a product is hidden in it ([`products`]).
fn kernel(node: &Node, members: &[isl::UnionPwAff], flags: &[bool], child: &Tree) -> Result<(Plan, bool)> {
    let candidates: Vec<usize> = (0..members.len()).filter(|i| flags[*i]).collect();
    let steps = locality::steps(node.model, &node.domain, members)?;
    let extents = candidates
        .iter()
        .map(|i| node.model.extent(&members[*i], &node.domain))
        .collect::<Result<Vec<_>>>()?;
    // The innermost of equals, and never a loop of one iteration.
    let score = |k: usize| if extents[k] > 1.0 { steps[candidates[k]].score() } else { -1.0 };
    let x = (0..candidates.len()).fold(0, |b, k| if score(k) >= score(b) { k } else { b });
    let mapped: Vec<usize> = (0..candidates.len()).filter(|k| *k != x).chain([x]).collect();
    let threads = mapped.iter().map(|k| extents[*k]).product::<f64>();
    let mapped: Vec<usize> = mapped.into_iter().map(|k| candidates[k]).collect();

    let inner: Vec<_> =
        members.iter().enumerate().filter(|(i, _)| !mapped.contains(i)).map(|(_, m)| m.clone()).collect();
    let parallel: Vec<_> = mapped.iter().map(|i| members[*i].clone()).collect();
    let strided = steps[candidates[x]].strided;
    let wait = match inner.len() + child.depth() {
        0 => 1.0,
        // One nest.
        depth
            if parallel.len() == 1
                && steps[candidates[x]].strided_writes == 0.0
                && loops(child) + inner.len() == depth =>
        {
            1.0 - 0.5 * strided
        }
        _ => 1.0 + strided,
    };
    let cost = node.launch(node.instances()?, threads, strided, wait);
    let hides = !node.search.is_short() && !node.block && products::hidden(node, &parallel, &inner, child)?;
    let tree = mark(parallel, child.clone().under(inner));
    Ok((Plan { tree, cost, parallel: true, serial: false }, hides))
}

/// The loops of a tree, one after the other or nested.
fn loops(tree: &Tree) -> usize {
    match tree {
        Tree::Leaf => 0,
        Tree::Mark(_, c) => loops(c),
        Tree::Band(b) => b.members.len() + loops(&b.child),
        Tree::Sequence(children) => children.iter().map(|c| loops(&c.1)).sum(),
    }
}

fn wave(node: &Node, members: &[isl::UnionPwAff], w: &wavefront::Wavefront, child: &Tree) -> Result<Plan> {
    let launches = node.model.extent(&w.front, &node.domain)?;
    // The best for thread x is the last. A step along one keeps the front, so it moves along the member that
    // the front determines, too.
    let mut parallel = members[..w.replaces - 1].to_vec();
    let around: Vec<_> = [w.front.clone()].into_iter().chain(parallel.clone()).collect();
    let steps = locality::steps(node.model, &node.domain, &around)?;
    let score = |k: usize| steps[k + 1].score();
    let x = (0..parallel.len()).fold(0, |b, k| if score(k) >= score(b) { k } else { b });
    let last = parallel.remove(x);
    parallel.push(last);
    let mut threads = 1.0;
    for m in &parallel {
        threads *= node.model.extent(m, &node.domain)?;
    }
    // A front crosses the box of the parallel members obliquely: half of it, on average.
    let cost = node.launch(node.instances()? / launches, threads / 2.0, 1.0, 1.0);
    let inner = child.clone().under(members[w.replaces..].to_vec());
    let tree = mark(parallel, inner).under(vec![w.front.clone()]);
    Ok(Plan { tree, cost: launches * cost, parallel: true, serial: false })
}

/// The cheapest way to cut the child's components into more than one group; where what passes between groups
/// has to `fit`, it does ([`products::fits`]).
fn distribution(node: &Node, members: &[isl::UnionPwAff], child: &Tree, fit: bool) -> Result<Option<Plan>> {
    let Tree::Sequence(children) = child else { return Ok(None) };
    let mut groups = components(node, children)?;
    if groups.len() > MAX_COMBINED {
        groups = together(node, members, children, groups)?;
    }
    if groups.len() < 2 {
        return Ok(None);
    }
    let n = groups.len();
    // cheapest[i]: the first i groups.
    let mut cheapest: Vec<Option<(f64, Groups)>> = (0..=n).map(|_| None).collect();
    cheapest[0] = Some((0.0, vec![]));
    for from in 0..n {
        let Some((cost, done)) = cheapest[from].take() else { continue };
        let longest = if n <= MAX_COMBINED { n - from } else { 1 };
        for len in 1..=longest {
            if len == n {
                continue;
            }
            let p = group(node, members, children, groups[from..from + len].concat())?;
            let total = cost + p.1.cost;
            if cheapest[from + len].as_ref().is_none_or(|c| total < c.0) {
                let plans = done.iter().map(|(f, p)| (f.clone(), p.copy())).chain([p]).collect();
                cheapest[from + len] = Some((total, plans));
            }
        }
    }
    match cheapest[n].take() {
        Some((_, plans))
            if fit && !products::fits(node, &plans.iter().map(|p| p.0.clone()).collect::<Vec<_>>())? =>
        {
            Ok(None)
        }
        Some((_, plans)) => Ok(Some(sequence(fuse::fused(node, plans)?))),
        None => Ok(None),
    }
}

/// The components with neighbours made one that have no loops of their own, if all of `members` stay
/// parallel: a launch less. (Not parts of one statement, which are rows, columns and boxes: one grid for two
/// of these has blocks with nothing to do.)
fn together(
    node: &Node,
    members: &[isl::UnionPwAff],
    children: &[(isl::UnionSet, Tree)],
    groups: Vec<Vec<usize>>,
) -> Result<Vec<Vec<usize>>> {
    let plain = |group: &[usize]| group.iter().all(|i| children[*i].1.depth() == 0);
    let mut out: Vec<Vec<usize>> = Vec::new();
    for group in groups {
        let Some(last) = out.last().filter(|last| plain(last) && plain(&group)) else {
            out.push(group);
            continue;
        };
        let both = [last.as_slice(), &group].concat();
        let mut filter = isl::UnionSet::empty(node.domain.context())?;
        let mut statements = 0;
        for i in &both {
            statements += children[*i].0.n_set()?;
            filter = filter.union(children[*i].0.clone())?;
        }
        let inside = node.restricted(&filter)?;
        let mut parallel = filter.n_set()? == statements;
        for m in members {
            parallel = parallel && coincident(&inside.deps, &m.clone().intersect_domain(filter.clone())?)?;
        }
        match out.last_mut() {
            Some(last) if parallel => *last = both,
            _ => out.push(group),
        }
    }
    Ok(out)
}

/// Placed groups of children, in order.
type Groups = Vec<(isl::UnionSet, Plan)>;

impl Plan {
    pub fn copy(&self) -> Plan {
        Plan { tree: self.tree.clone(), ..*self }
    }
}

fn group(
    node: &Node,
    members: &[isl::UnionPwAff],
    children: &[(isl::UnionSet, Tree)],
    mut which: Vec<usize>,
) -> Result<(isl::UnionSet, Plan)> {
    which.sort_unstable();
    let mut filter = isl::UnionSet::empty(node.domain.context())?;
    for i in &which {
        filter = filter.union(children[*i].0.clone())?;
    }
    let inside = node.restricted(&filter)?;
    let members = members
        .iter()
        .map(|m| m.clone().intersect_domain(filter.clone()))
        .collect::<isl::Result<Vec<_>>>()?;
    let plan = match which.as_slice() {
        [one] => {
            let (more, child) = chain(&children[*one].1);
            let members: Vec<_> = members.into_iter().chain(more).collect();
            plan_chain(&inside, &members, child, true)?
        }
        _ => {
            let child = Tree::Sequence(which.iter().map(|i| children[*i].clone()).collect());
            plan_chain(&inside, &members, &child, false)?
        }
    };
    Ok((filter, plan))
}

/// The strongly connected components of the children under the active dependences, in an order that respects
/// them; textual order where they leave a choice. Children without instances are dropped.
fn components(node: &Node, children: &[(isl::UnionSet, Tree)]) -> Result<Vec<Vec<usize>>> {
    let mut live = Vec::new();
    for (i, (filter, _)) in children.iter().enumerate() {
        if !node.domain.clone().intersect(filter.clone())?.is_empty()? {
            live.push(i);
        }
    }
    let n = live.len();
    let mut reach = vec![vec![false; n]; n];
    for (a, i) in live.iter().enumerate() {
        let from = node.deps.clone().intersect_domain(children[*i].0.clone())?;
        for (b, j) in live.iter().enumerate() {
            reach[a][b] = a == b || !from.clone().intersect_range(children[*j].0.clone())?.is_empty()?;
        }
    }
    for k in 0..n {
        for a in 0..n {
            for b in 0..n {
                reach[a][b] |= reach[a][k] && reach[k][b];
            }
        }
    }
    let mut done = vec![false; n];
    let mut out = Vec::new();
    while let Some(a) = (0..n).find(|a| !done[*a] && (0..n).all(|b| done[b] || !reach[b][*a] || reach[*a][b]))
    {
        let component: Vec<usize> = (0..n).filter(|b| reach[a][*b] && reach[*b][a]).collect();
        component.iter().for_each(|b| done[*b] = true);
        out.push(component.into_iter().map(|b| live[b]).collect());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::KERNEL;
    use crate::testing::{KERNELS, kernel, scop};

    /// The shape of a placed tree: `H` a host loop, `K2` a kernel of two members, `S` a serial kernel,
    /// sequences in parentheses.
    fn shape(tree: &Tree) -> String {
        match tree {
            Tree::Leaf => String::new(),
            Tree::Mark(m, c) if m == KERNEL => match &**c {
                Tree::Band(b) => format!("K{}", b.members.len()),
                _ => "?".into(),
            },
            Tree::Mark(..) => "S".into(),
            Tree::Band(b) => format!("{}{}", "H".repeat(b.members.len()), shape(&b.child)),
            Tree::Sequence(cs) => {
                format!("({})", cs.iter().map(|c| shape(&c.1)).collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn shape_of(s: &Scop) -> String {
        let deps = crate::dependences(s).unwrap();
        shape(&crate::schedule(s, &deps, &Default::default()).map(|t| t.root).unwrap_or(Tree::Leaf))
    }

    #[test]
    fn shapes() {
        for (name, _) in KERNELS {
            let t = std::time::Instant::now();
            println!("{name}: {} {:?}", shape_of(&kernel(name)), t.elapsed());
        }
        let table = [
            ("gemm", "(K2 K2)"),
            ("2mm", "(K2 K2)"),
            ("jacobi-2d", "H(K2 K2)"),
            ("heat-3d", "H(K3 K3)"),
            ("covariance", "(K1 K2 K2)"),
            ("conv2d", "K2"),
            ("gemver", "(K2 K1 K1 K1)"),
            ("atax", "(K1 (K1 K1))"),
            ("dot-rows-phi", "K1"),
            ("mvt", "(K1 K1)"),
        ];
        for (name, want) in table {
            assert_eq!(shape_of(&kernel(name)), want, "{name}");
        }
    }

    /// A product in a row's loop is a kernel of its own where the program has an array for what passes
    /// ([`products`]).
    #[test]
    fn hidden_products() {
        let text = |row: &str| {
            format!(
                "param n; array A n n; array B n n; array S n n; array M n; scalar s;
                 for i : 0 <= i < n {{ S0 : M[i] = ; for j : 0 <= j < n {{ S1 : {row} = ;
                   for k : 0 <= k < n {{ S2 : {row} = {row}, A[i,k], B[j,k]; }}
                   S3 : M[i] = M[i], {row}; }} }}"
            )
        };
        assert_eq!(shape_of(&scop(&text("S[i,j]"))), "(K1 (K2 K1))");
        // What passes through a scalar would need an array that the program has not.
        assert_ne!(shape_of(&scop(&text("s[]"))), "(K1 (K2 K1))");
    }

    /// Statements around one with strided accesses do not cost more for being with it.
    #[test]
    fn pooling_is_one_kernel() {
        let s = scop(
            "param n; array X n n; array Y n n;
             for i : 0 <= i < n { for j : 0 <= j < n {
               S0 : Y[i,j] = ;
               for r : 0 <= r < 2 { for s : 0 <= s < 2 { S1 : Y[i,j] = Y[i,j], X[2*i+r,2*j+s]; } }
               S2 : Y[i,j] = Y[i,j]; } }",
        );
        assert_eq!(shape_of(&s), "K2");
    }

    /// Totals of the inner loop keep the outer one in order for all that is around them, unless they are
    /// taken apart; that is found behind a spent budget, too.
    #[test]
    fn totals_are_taken_apart() {
        let s = scop(
            "param n; array X n n n; array Y n n n; array M n n; array T n; array U n;
             for b : 0 <= b < n { for g : 0 <= g < n {
               S0 : M[b,g] = ;
               for i : 0 <= i < n { S1 : M[b,g] = M[b,g], X[b,g,i]; }
               for i : 0 <= i < n { S2 : Y[b,g,i] = M[b,g], X[b,g,i]; }
               for i : 0 <= i < n { S3 : T[g] = T[g], Y[b,g,i]; }
               for i : 0 <= i < n { S4 : U[g] = U[g], X[b,g,i]; } } }",
        );
        let deps = crate::dependences(&s).unwrap();
        let tree = ScheduleTree::from_isl(&s.schedule).unwrap();
        let found = |search| {
            let before = s.ctx.operations();
            let placed = placed(&s, &deps, &tree, search).unwrap();
            (shape(&placed.tree.root), placed.cost, s.ctx.operations() - before)
        };
        let (plain, all, apart) = (found(Search::Plain), found(Search::Fused), found(Search::Apart));
        assert_eq!(plain.0, "K1");
        assert!(apart.0.contains("K2") && apart.1 < plain.1 / 2.0, "{apart:?}");
        assert!(apart.2 < all.2 / 2, "{} of {}", apart.2, all.2);
        let budget = apart.2 + apart.2 / 4;
        let options = crate::ScheduleOptions { budget, ..Default::default() };
        let short = crate::schedule(&s, &deps, &options).unwrap();
        assert_eq!(shape(&short.root), apart.0);
    }

    #[test]
    fn nothing_parallel() {
        let s = scop("param n; array A n; for i : 1 <= i < n { S0 : A[i] = A[i-1]; }");
        assert_eq!(shape_of(&s), "");
    }
}
