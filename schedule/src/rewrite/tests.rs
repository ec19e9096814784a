use super::*;
use crate::dependences;
use crate::testing::{kernel, scop};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, StmtId};

const TRMM: &str = "param m n; array A m m; array B m n;
    for i : 0 <= i < m { for j : 0 <= j < n {
      for k : i + 1 <= k < m { S0 : B[i,j] = B[i,j], A[k,i], B[k,j]; }
      S1 : B[i,j] = B[i,j];
    } }";

const DOITGEN: &str = "param r q p; array A r q p; array C p p; array s p;
    for i : 0 <= i < r { for j : 0 <= j < q {
      for k : 0 <= k < p { S0 : s[k] = ; for l : 0 <= l < p { S1 : s[k] = s[k], A[i,j,l], C[l,k]; } }
      for k : 0 <= k < p { S2 : A[i,j,k] = s[k]; }
    } }";

fn broken(old: &Scop, new: &Scop) -> Vec<String> {
    let (a, b) = (dependences(old).unwrap(), dependences(new).unwrap());
    check::check(old, &a, &new.clone().into(), &b, crate::DEFAULT_BUDGET).unwrap()
}

fn kernels(text: &str) -> (Scheduled, usize) {
    let s = scop(text);
    let d = dependences(&s).unwrap();
    let done = schedule(s, d, &Default::default()).unwrap();
    let depth = host_depth(&done.tree.root);
    (done, depth)
}

/// The largest number of loops on the host around a kernel.
fn host_depth(tree: &crate::Tree) -> usize {
    match tree {
        crate::Tree::Leaf | crate::Tree::Mark(..) => 0,
        crate::Tree::Band(b) => b.members.len() + host_depth(&b.child),
        crate::Tree::Sequence(cs) => cs.iter().map(|c| host_depth(&c.1)).max().unwrap_or(0),
    }
}

#[test]
fn reads_of_initial_values_go_to_a_copy() {
    let s = scop(TRMM);
    let new = initial(&s, &dependences(&s).unwrap()).unwrap().expect("a copy");
    assert_eq!(new.arrays.len(), 3);
    let copied: Vec<_> = new.statements[0].accesses.iter().map(|a| a.array.0).collect();
    assert_eq!(copied, [1, 0, 2, 1], "only B[k,j] is read from the copy");
    assert!(broken(&s, &new).is_empty());
    // Both loops are parallel now.
    let (done, depth) = kernels(TRMM);
    assert_eq!((done.scop.arrays.len(), depth), (3, 0));
    let mapped = crate::map(&done.scop, &done.deps, &done.tree, &Default::default()).unwrap();
    assert!(crate::check(&done.scop, &done.deps, &mapped).unwrap().is_empty());
    assert!(mapped.kernels.iter().any(|k| k.grid.len() == 2));
}

#[test]
fn reads_that_see_writes_stay() {
    for name in ["seidel-2d", "lu", "floyd-warshall", "jacobi-2d"] {
        let s = kernel(name);
        assert!(initial(&s, &dependences(&s).unwrap()).unwrap().is_none(), "{name}");
    }
    let s = scop("param n; array A n; for i : 0 <= i < n { S0 : A[i] = A[i]; }");
    assert!(initial(&s, &dependences(&s).unwrap()).unwrap().is_none());
}

#[test]
fn reused_arrays_get_a_cell_an_iteration() {
    let s = scop(DOITGEN);
    let new = expand(&s, &dependences(&s).unwrap()).unwrap().expect("an expansion");
    assert_eq!(new.arrays[3].dims(), 3);
    assert_eq!(broken(&s, &new), Vec::<String>::new());
    let (done, depth) = kernels(DOITGEN);
    assert_eq!((done.scop.statements.len(), depth), (4, 0));
    let mapped = crate::map(&done.scop, &done.deps, &done.tree, &Default::default()).unwrap();
    assert!(crate::check(&done.scop, &done.deps, &mapped).unwrap().is_empty());
}

#[test]
fn what_is_assumed_of_sizes_does_not_hinder() {
    let mut s = scop(DOITGEN);
    s.assumptions.push(pollyrs_scop::Assumption {
        kind: pollyrs_scop::AssumptionKind::NoWrap,
        set: isl::Set::read(&s.ctx, "[r, q, p] -> { : r <= 1000000 }").unwrap(),
        location: None,
        note: "a loop counter does not overflow".into(),
    });
    let new = expand(&s, &dependences(&s).unwrap()).unwrap().expect("an expansion");
    pollyrs_scop::verify(&new).unwrap();
    assert_eq!(broken(&s, &new), Vec::<String>::new());
}

#[test]
fn several_arrays_get_cells_at_once() {
    // Two lines of sums a row, as in the smoother of NAS MG: each has a copy of its last values.
    let text = "param n m; array A n m; array B n m; array x m; array y m;
        for i : 0 <= i < n {
          for j : 0 <= j < m { S0 : x[j] = A[i,j]; }
          for j : 0 <= j < m { S1 : y[j] = A[i,j]; }
          for j : 1 <= j < m { S2 : B[i,j] = x[j-1], x[j], y[j]; }
        }";
    let s = scop(text);
    let new = expand(&s, &dependences(&s).unwrap()).unwrap().expect("an expansion");
    assert_eq!(new.statements.len(), 5);
    assert_eq!(broken(&s, &new), Vec::<String>::new());
    let (done, depth) = kernels(text);
    assert_eq!((done.scop.statements.len(), depth), (5, 0));
    // A copy between the statements whose last values it takes is found.
    let mut bad = new.clone();
    let early = pollyrs_isl::Schedule::from_domain(bad.schedule.domain().unwrap()).unwrap();
    bad.schedule = early;
    assert!(!broken(&s, &bad).is_empty());
}

#[test]
fn memory_bounds_expansion() {
    // Expanded along t, the temporary would have far more elements than any array of the program.
    let text = "param n t; array A n; array T n;
        for s : 0 <= s < t {
          for i : 1 <= i < n - 1 { S0 : T[i] = A[i-1], A[i+1]; }
          for i : 1 <= i < n - 1 { S1 : A[i] = T[i]; }
        }";
    let s = scop(text);
    assert!(expand(&s, &dependences(&s).unwrap()).unwrap().is_none());
    // A value that survives an iteration is no reuse of the cell alone.
    let text = "param n; array A n n; array T n;
        for i : 0 <= i < n { for j : 0 <= j < n { S0 : T[j] = A[i,j]; }
          for j : 1 <= j < n { S1 : A[i,j] = T[j-1]; } }
        S2 : A[0,0] = T[0];";
    let s = scop(text);
    assert!(expand(&s, &dependences(&s).unwrap()).unwrap().is_none());
}

/// Every single change that breaks a rewriting is found.
#[test]
fn the_proof_sees_mistakes() {
    let s = scop(TRMM);
    let d = dependences(&s).unwrap();
    let good = initial(&s, &d).unwrap().unwrap();
    // The accumulator read from the copy, too.
    let mut bad = good.clone();
    let own = bad.statements[0].accesses[0].clone();
    bad.statements[0].accesses[0].array = ArrayId(2);
    bad.statements[0].accesses[0].relation = parts::renamed(&own.relation, None, "B_before").unwrap();
    assert!(!broken(&s, &bad).is_empty());
    // Another element.
    let mut bad = good.clone();
    let other = pollyrs_isl::Map::read(&s.ctx, "[m,n] -> { S0[i,j,k] -> B_before[i,j] }").unwrap();
    bad.statements[0].accesses[2].relation = other;
    assert!(!broken(&s, &bad).is_empty());
    // No check of overlap with what must be disjoint.
    let mut with = s.clone();
    with.alias_checks.push((ArrayId(0), ArrayId(1)));
    assert!(!broken(&with, &good).is_empty());

    let s = scop(DOITGEN);
    let d = dependences(&s).unwrap();
    let good = expand(&s, &d).unwrap().unwrap();
    let set = |text: &str| pollyrs_isl::Map::read(&s.ctx, text).unwrap();
    // A cell for each i only.
    let mut bad = good.clone();
    for (statement, text) in [
        (0, "[r,q,p] -> { S0[i,j,k] -> s_each[i,0,k] }"),
        (1, "[r,q,p] -> { S1[i,j,k,l] -> s_each[i,0,k] }"),
        (2, "[r,q,p] -> { S2[i,j,k] -> s_each[i,0,k] }"),
    ] {
        for a in bad.statements[statement].accesses.iter_mut().filter(|a| a.array == ArrayId(3)) {
            a.relation = set(text);
        }
    }
    assert!(!broken(&s, &bad).is_empty(), "the copy reads a cell that is never written");
    // The first values instead of the last.
    let mut bad = good.clone();
    let copy = bad.statements.len() - 1;
    let name = bad.statements[copy].name.clone();
    bad.statements[copy].accesses[0].relation = set(&format!("[r,q,p] -> {{ {name}[k] -> s_each[0,0,k] }}"));
    assert!(!broken(&s, &bad).is_empty());
    // Not everything comes back.
    let mut bad = good.clone();
    bad.statements[copy].domain =
        bad.statements[copy].domain.clone().lower_bound_si(pollyrs_isl::DimType::Set, 0, 1).unwrap();
    assert!(!broken(&s, &bad).is_empty());
    // Nothing comes back.
    let mut bad = good.clone();
    bad.statements.pop();
    bad.schedule = s.schedule.clone();
    assert!(!broken(&s, &bad).is_empty());
    // A certain write that is not.
    let mut may = s.clone();
    let write = may.statements[0].accesses.iter_mut().find(|a| a.kind == AccessKind::MustWrite).unwrap();
    write.kind = AccessKind::MayWrite;
    assert!(expand(&may, &dependences(&may).unwrap()).unwrap().is_none());
}

/// A sum, a sum of a matrix, sums of rows; each `s = s + e` a reduction.
const SUM: &str = "param n; array a n; scalar s; array out n;
    S0 : s[] = ; for k : 0 <= k < n { S1 : s[] = s[], a[k]; } S2 : out[0] = s[];";
const TOTAL: &str = "param n m; array a n m; scalar s; array out n;
    S0 : s[] = ; for i : 0 <= i < n { for k : 0 <= k < m { S1 : s[] = s[], a[i,k]; } } S2 : out[0] = s[];";
const ROWS: &str = "param n m; array a n m; array x m; array y n;
    for i : 0 <= i < n { S0 : y[i] = ; for k : 0 <= k < m { S1 : y[i] = y[i], a[i,k], x[k]; } }";

/// The SCoP of `text` with statement 1 as a reduction of its first read.
fn reduction(text: &str, commutative: bool) -> Scop {
    let mut s = scop(text);
    let write = s.statements[1].accesses.len() - 1;
    let load = s.arrays[s.statements[1].accesses[0].array.0].is_memory();
    s.statements[1].reduction = Some(pollyrs_scop::Reduction {
        read: 0,
        write,
        value: crate::testing::value(90),
        identity: crate::testing::value(91),
        update: if load { vec![crate::testing::value(0)] } else { vec![] },
        commutative,
        numbers: false,
        regrouped: false,
        companions: vec![],
    });
    s
}

#[test]
fn reductions_are_cut() {
    for (text, outer) in [(SUM, 0), (TOTAL, 0), (ROWS, 1)] {
        for commutative in [true, false] {
            let s = reduction(text, commutative);
            let deps = dependences(&s).unwrap();
            let chains = reduce::chains(&s, &deps).unwrap();
            assert_eq!(chains.len(), 1, "{text}");
            assert_eq!(chains[0].outer, outer);
            let (mut old, mut old_deps, mut chain) = (s, deps, chains[0]);
            let mut cuts = 0;
            while let Some(made) = reduce::cut(&old, chain).unwrap() {
                pollyrs_scop::verify(&made.scop).unwrap();
                let new_deps = dependences(&made.scop).unwrap();
                let broken = check::check(&old, &old_deps, &made, &new_deps, crate::DEFAULT_BUDGET).unwrap();
                assert_eq!(broken, Vec::<String>::new(), "{text} cut {cuts}");
                chain = reduce::again(&made, chain);
                (old, old_deps) = (made.scop, new_deps);
                cuts += 1;
            }
            assert!(cuts >= 2, "{text}");
        }
    }
}

/// Each iteration of the outermost loop is a part; what is left in it is cut again, unless it is short or a
/// single loop whose order counts.
#[test]
fn parts_of_several_loops_are_cut_again() {
    let cube = |l: &str| {
        format!(
            "param n m l; array a n m l; scalar s; array out n;
            S0 : s[] = ; for i : 0 <= i < n {{ for j : 0 <= j < m {{ for k : 0 <= k < {l} {{ S1 : s[] = s[], a[i,j,k]; }} }} }}
            S2 : out[0] = s[];"
        )
    };
    // The loops around an element in the end, and how often they were cut.
    for (text, commutative, loops, arrays) in [
        (TOTAL.to_string(), true, 3, 2),
        (TOTAL.to_string(), false, 2, 1),
        (cube("l"), true, 4, 3),
        (cube("l"), false, 3, 2),
        (cube("4"), true, 3, 2),
        (ROWS.to_string(), true, 3, 1),
    ] {
        let s = reduction(&text, commutative);
        let mut now = (s.clone(), dependences(&s).unwrap());
        let mut chain = Some(reduce::chains(&now.0, &now.1).unwrap()[0]);
        let mut cuts = 0;
        while let Some(c) = chain {
            let Some(made) = reduce::cut(&now.0, c).unwrap() else { break };
            let deps = dependences(&made.scop).unwrap();
            let broken = check::check(&now.0, &now.1, &made, &deps, crate::DEFAULT_BUDGET).unwrap();
            assert_eq!(broken, Vec::<String>::new(), "{text} cut {cuts}");
            chain = reduce::inside(&now.0, c).unwrap();
            now = (made.scop, deps);
            cuts += 1;
        }
        let dims = now.0.statements[1].domain.dim(pollyrs_isl::DimType::Set).unwrap();
        assert_eq!((dims, cuts), (loops, arrays), "{text} {commutative}");
    }
}

/// Reductions of one nest are cut one after the other, each in loops of its own.
#[test]
fn several_of_a_nest_are_cut() {
    let text = "param n m; array a n m; scalar s; scalar q; array out n;
        S0 : s[] = ; S3 : q[] = ;
        for i : 0 <= i < n { for k : 0 <= k < m { S1 : s[] = s[], a[i,k]; S4 : q[] = q[], a[i,k]; } } S2 : out[0] = s[], q[];";
    let mut s = scop(text);
    for n in [2, 3] {
        let write = s.statements[n].accesses.len() - 1;
        s.statements[n].reduction = Some(crate::testing::sum(write));
    }
    let d = dependences(&s).unwrap();
    assert_eq!(reduce::chains(&s, &d).unwrap().len(), 2);
    let done = schedule(s, d, &Default::default()).unwrap();
    for n in [2, 3] {
        assert!(done.scop.statements[n].reduction.as_ref().is_some_and(|r| r.regrouped));
    }
}

/// A sum before a loop over time: a thousandth of all that is estimated, and yet a second of one thread.
#[test]
fn a_sum_beside_longer_loops_is_cut() {
    let text = "param n m t; array a n m; scalar s; scalar q; array out n;
        S0 : s[] = ; for i : 0 <= i < n { for k : 0 <= k < m { S1 : s[] = s[], a[i,k]; } }
        S2 : out[0] = s[];
        for h : 0 <= h < t { S3 : q[] = ; for i : 0 <= i < n { for k : 0 <= k < m { S4 : q[] = q[], a[i,k]; } } S5 : out[0] = out[0], q[]; }";
    let mut s = scop(text);
    let sums: Vec<_> =
        (0..s.statements.len()).filter(|n| ["S1", "S4"].contains(&&*s.statements[*n].name)).collect();
    for n in sums.iter().copied() {
        let write = s.statements[n].accesses.len() - 1;
        s.statements[n].reduction = Some(crate::testing::sum(write));
    }
    let d = dependences(&s).unwrap();
    let done = schedule(s, d, &Default::default()).unwrap();
    for n in sums {
        assert!(done.scop.statements[n].reduction.as_ref().is_some_and(|r| r.regrouped), "{n}");
    }
}

#[test]
fn a_sum_runs_in_parts() {
    let s = reduction(SUM, true);
    let d = dependences(&s).unwrap();
    let done = schedule(s, d, &Default::default()).unwrap();
    assert_eq!(done.scop.statements.len(), 9);
    let mapped = crate::map(&done.scop, &done.deps, &done.tree, &Default::default()).unwrap();
    assert!(crate::check(&done.scop, &done.deps, &mapped).unwrap().is_empty());
    // Without the statement's word for it, the order stays.
    let s = scop(SUM);
    let d = dependences(&s).unwrap();
    assert!(matches!(schedule(s, d, &Default::default()), Err(ScheduleError::NoParallelism)));
}

#[test]
fn what_is_seen_on_the_way_is_no_reduction() {
    let prefix = "param n; array a n; scalar s; array out n;
        S0 : s[] = ; for k : 0 <= k < n { S1 : s[] = s[], a[k]; S2 : out[k] = s[]; }";
    let s = reduction(prefix, true);
    assert!(reduce::chains(&s, &dependences(&s).unwrap()).unwrap().is_empty());
}

/// `a[k + 1] = f(a[k]); s = s + a[k + 1];` in one statement: its instances wait for each other, whatever
/// becomes of the sum.
#[test]
fn what_else_a_reduction_stores_keeps_its_order() {
    let text = "param n; array a n; scalar s; array out n;
        S0 : s[] = ; for k : 0 <= k < n - 1 { S1 : s[] = s[], a[k]; } S2 : out[0] = s[];";
    for recurs in [true, false] {
        let mut s = reduction(text, true);
        let mut store = s.statements[1].accesses[1].clone();
        store.kind = pollyrs_scop::AccessKind::MustWrite;
        let to = if recurs { "[n] -> { S1[k] -> a[k + 1] }" } else { "[n] -> { S1[k] -> a[k] }" };
        store.relation = isl::Map::read(&s.ctx, to).unwrap();
        s.statements[1].accesses.push(store);
        let deps = dependences(&s).unwrap();
        let chain = reduce::chains(&s, &deps).unwrap()[0];
        let made = reduce::cut(&s, chain).unwrap().unwrap();
        let new_deps = dependences(&made.scop).unwrap();
        let broken = check::check(&s, &deps, &made, &new_deps, crate::DEFAULT_BUDGET).unwrap();
        assert_eq!(broken.iter().any(|b| b.contains("breaks a dependence")), recurs, "{broken:?}");
    }
}

/// Mistakes in the parts are found.
#[test]
fn the_proof_of_reductions_sees_mistakes() {
    let s = reduction(SUM, false);
    let d = dependences(&s).unwrap();
    let chain = reduce::chains(&s, &d).unwrap()[0];
    let broken = |made: &Made| {
        let deps = dependences(&made.scop).unwrap();
        check::check(&s, &d, made, &deps, crate::DEFAULT_BUDGET).unwrap()
    };
    let good = reduce::cut(&s, chain).unwrap().unwrap();
    assert!(broken(&good).is_empty());
    // Parts that are not runs: only a commutative operation may have them.
    let cyclic = reduce::cut(&reduction(SUM, true), chain).unwrap().unwrap();
    let mut bad = cyclic.clone();
    for s in &mut bad.scop.statements {
        if let Some(r) = &mut s.reduction {
            r.commutative = false;
        }
    }
    assert!(!broken(&bad).is_empty());
    // Another start, a part left out, a part applied twice.
    let mut bad = good.clone();
    let start = bad.scop.statements.len() - 2;
    bad.scop.statements[start].accesses[0].value =
        pollyrs_scop::AccessValue::ScalarWrite(crate::testing::value(7));
    assert!(!broken(&bad).is_empty());
    let mut bad = good.clone();
    let rest = &mut bad.scop.statements[start + 1];
    rest.domain = rest.domain.clone().lower_bound_si(pollyrs_isl::DimType::Set, 0, 1).unwrap();
    assert!(!broken(&bad).is_empty());
    let mut bad = good.clone();
    let rest = &mut bad.scop.statements[start + 1];
    let name = rest.name.clone();
    let twice = format!("{{ {name}[p] -> s_part[floor(p / 2)] }}");
    rest.accesses[2].relation = pollyrs_isl::Map::read(&s.ctx, &twice).unwrap();
    assert!(!broken(&bad).is_empty());
}

/// Intervals by length, each from all its splits: a reduction whose operands are other cells of the array
/// that it updates.
const INTERVALS: &str = "param n; array a n n;
    for d : 2 <= d < n { for i : 0 <= i < n - d {
        S0 : a[i,i+d] = a[i+1,i+d]; for k : i < k < i + d { S1 : a[i,i+d] = a[i,i+d], a[i,k], a[k,i+d]; } } }";

fn intervals() -> (Scop, crate::Dependences, reduce::Chain) {
    let s = reduction(INTERVALS, true);
    let deps = dependences(&s).unwrap();
    let chains = reduce::chains(&s, &deps).unwrap();
    assert_eq!(chains.len(), 1);
    let chain = chains[0];
    assert_eq!(chain.outer, 2);
    (s, deps, chain)
}

#[test]
fn chains_that_run_in_turn_share_their_parts() {
    let (s, deps, chain) = intervals();
    // A partial result for each interval takes more memory than the program.
    assert!(reduce::cut(&s, chain).unwrap().is_none());
    let made = reduce::cut(&s, reduce::Chain { in_turn: 1, ..chain }).unwrap().unwrap();
    pollyrs_scop::verify(&made.scop).unwrap();
    assert_eq!(made.scop.arrays.last().unwrap().sizes.len(), 2, "of an interval's start and the part");
    let new_deps = dependences(&made.scop).unwrap();
    let broken = check::check(&s, &deps, &made, &new_deps, crate::DEFAULT_BUDGET).unwrap();
    assert_eq!(broken, Vec::<String>::new());
    // The scheduler finds out which ones run in turn.
    let done = schedule(s, deps, &Default::default()).unwrap();
    assert_eq!(done.scop.statements.len(), 4);
    let mapped = crate::map(&done.scop, &done.deps, &done.tree, &Default::default()).unwrap();
    assert!(crate::check(&done.scop, &done.deps, &mapped).unwrap().is_empty());
}

/// Mistakes in operands that are cells of the array, and in shared parts, are found.
#[test]
fn the_proof_sees_mistakes_in_operands_and_shared_parts() {
    let (s, deps, chain) = intervals();
    let good = reduce::cut(&s, reduce::Chain { in_turn: 1, ..chain }).unwrap().unwrap();
    let broken = |old: &Scop, made: &Made| {
        let (old_deps, deps) = (dependences(old).unwrap(), dependences(&made.scop).unwrap());
        check::check(old, &old_deps, made, &deps, crate::DEFAULT_BUDGET).unwrap()
    };
    assert!(broken(&s, &good).is_empty());
    let map = |text: &str| pollyrs_isl::Map::read(&s.ctx, text).unwrap();
    // An operand that is the updated cell.
    let (mut old, mut bad) = (s.clone(), good.clone());
    old.statements[1].accesses[1].relation = map("[n] -> { S1[d,i,k] -> a[i,i+d] }");
    bad.scop.statements[1].accesses[1].relation = map("[n] -> { S1[d,i,p,t] -> a[i,i+d] }");
    assert!(!broken(&old, &bad).is_empty());
    // ... and one that is at the last split only.
    old.statements[1].accesses[1].relation = map("[n] -> { S1[d,i,k] -> a[i,k+1] }");
    assert!(reduce::chains(&old, &dependences(&old).unwrap()).unwrap().is_empty());
    // Another operand.
    let mut bad = good.clone();
    bad.scop.statements[1].accesses[1].relation = map("[n] -> { S1[d,i,p,t] -> a[i,i] }");
    assert!(!broken(&s, &bad).is_empty());
    // Parts that are set for the first interval of a length only.
    let start = good.scop.statements.len() - 2;
    let mut bad = good.clone();
    let domain = &mut bad.scop.statements[start].domain;
    *domain = domain.clone().fix_si(pollyrs_isl::DimType::Set, 1, 0).unwrap();
    assert!(!broken(&s, &bad).is_empty());
    // Results that come too late for the operands of longer intervals: all of them at the end.
    let mut bad = good.clone();
    let tree = crate::ScheduleTree::from_isl(&bad.scop.schedule).unwrap();
    let rest = pollyrs_isl::UnionSet::from_set(good.scop.statements[start + 1].domain.clone()).unwrap();
    let others = tree.domain.clone().subtract(rest.clone()).unwrap();
    let root = crate::Tree::Sequence(vec![(others, tree.root.clone()), (rest, tree.root)]);
    bad.scop.schedule = crate::ScheduleTree { domain: tree.domain, root }.to_isl().unwrap();
    assert!(!broken(&s, &bad).is_empty());
    drop(deps);
}

#[test]
fn loops_on_the_host_tell_chains_apart() {
    let (s, _, _) = intervals();
    let tree = |member: &str| {
        let members = vec![pollyrs_isl::UnionPwAff::read(&s.ctx, member).unwrap()];
        let below = crate::Tree::Leaf.marked(strategy::KERNEL).under(members.clone());
        ScheduleTree { domain: s.domain().unwrap(), root: below.under(members) }
    };
    for (member, expected) in [
        ("{ S0[d,i] -> [(d)]; S1[d,i,k] -> [(d)] }", 0b001),
        ("{ S0[d,i] -> [(i)]; S1[d,i,k] -> [(i)] }", 0b010),
        ("{ S0[d,i] -> [(d + i)]; S1[d,i,k] -> [(d + i)] }", 0b011),
        ("{ S0[d,i] -> [(0)]; S1[d,i,k] -> [(3)] }", 0),
        ("{ S0[d,i] -> [(d)] }", 0),
    ] {
        assert_eq!(reduce::on_host(&tree(member), &s.statements[1]).unwrap(), expected, "{member}");
    }
    // What is beneath a kernel runs side by side.
    let t = tree("{ S0[d,i] -> [(d)]; S1[d,i,k] -> [(d)] }");
    let t = ScheduleTree { root: t.root.marked(strategy::KERNEL), ..t };
    assert_eq!(reduce::on_host(&t, &s.statements[1]).unwrap(), 0);
}

/// A minimum and its place: one update of two cells.
const PAIR: &str = "param n; array a n; scalar s; scalar q; array out n;
    S0 : s[] = ; S3 : q[] = ; for k : 0 <= k < n { S1 : s[] = s[], q[], a[k]; } S2 : out[0] = s[], q[];";
const PAIRS: &str = "param n m; array a n m; array x n; array y n;
    for i : 0 <= i < n { S0 : x[i] = ; S3 : y[i] = ; for k : 0 <= k < m { S1 : x[i] = x[i], y[i], a[i,k]; } }";

/// The SCoP of `text` with `S1` as a minimum of its first read, whose place is its second read.
fn pair(text: &str) -> Scop {
    let mut s = scop(text);
    let (n, _) = s.statement_named("S1").unwrap();
    let s1 = &mut s.statements[n.0];
    let mut store = s1.accesses[1].clone();
    store.kind = AccessKind::MustWrite;
    let place = crate::testing::value(92);
    store.value = pollyrs_scop::AccessValue::ScalarWrite(crate::testing::value(93));
    s1.accesses.push(store);
    let (write, last) = (s1.accesses.len() - 2, s1.accesses.len() - 1);
    let identity = crate::testing::value(94);
    s1.reduction = Some(pollyrs_scop::Reduction {
        read: 0,
        write,
        value: crate::testing::value(90),
        identity: crate::testing::value(91),
        update: vec![],
        commutative: false,
        numbers: false,
        regrouped: false,
        companions: vec![pollyrs_scop::Cell { read: 1, write: last, value: place, identity }],
    });
    s
}

#[test]
fn a_minimum_is_cut_with_its_place() {
    for (text, outer) in [(PAIR, 0), (PAIRS, 1)] {
        let s = pair(text);
        let deps = dependences(&s).unwrap();
        let chains = reduce::chains(&s, &deps).unwrap();
        assert_eq!(chains.len(), 1, "{text}");
        assert_eq!(chains[0].outer, outer);
        let (mut old, mut old_deps, mut chain) = (s, deps, chains[0]);
        let mut cuts = 0;
        while let Some(made) = reduce::cut(&old, chain).unwrap() {
            pollyrs_scop::verify(&made.scop).unwrap();
            let new_deps = dependences(&made.scop).unwrap();
            let broken = check::check(&old, &old_deps, &made, &new_deps, crate::DEFAULT_BUDGET).unwrap();
            assert_eq!(broken, Vec::<String>::new(), "{text} cut {cuts}");
            chain = reduce::again(&made, chain);
            (old, old_deps) = (made.scop, new_deps);
            cuts += 1;
        }
        assert!(cuts >= 2, "{text}");
    }
    let s = pair(PAIR);
    let d = dependences(&s).unwrap();
    let done = schedule(s, d, &Default::default()).unwrap();
    let mapped = crate::map(&done.scop, &done.deps, &done.tree, &Default::default()).unwrap();
    assert!(crate::check(&done.scop, &done.deps, &mapped).unwrap().is_empty());
}

/// The place of another part, one that is seen on the way, a start without it.
#[test]
fn the_proof_of_pairs_sees_mistakes() {
    let s = pair(PAIR);
    let d = dependences(&s).unwrap();
    let chain = reduce::chains(&s, &d).unwrap()[0];
    let holds = |made: &Made| {
        let deps = dependences(&made.scop).unwrap();
        let found = check::check(&s, &d, made, &deps, crate::DEFAULT_BUDGET);
        matches!(found, Ok(found) if found.is_empty())
    };
    let good = reduce::cut(&s, chain).unwrap().unwrap();
    assert!(holds(&good));
    let start = good.scop.statements.len() - 2;
    let mut bad = good.clone();
    bad.scop.statements[start].accesses.pop();
    assert!(!holds(&bad));
    let mut bad = good.clone();
    let rest = &mut bad.scop.statements[start + 1];
    let swapped = rest.accesses[5].array;
    rest.accesses[5].array = rest.accesses[2].array;
    rest.accesses[2].array = swapped;
    assert!(!holds(&bad));
    let mut bad = good.clone();
    let rest = &mut bad.scop.statements[start + 1];
    let other = format!("{{ {}[p] -> q_part[p - 1] : p > 0; {}[0] -> q_part[0] }}", rest.name, rest.name);
    rest.accesses[5].relation = isl::Map::read(&s.ctx, &other).unwrap();
    assert!(!holds(&bad));
    // A place that each iteration shows is none that can be kept in parts.
    let seen = "param n; array a n; scalar s; scalar q; array out n;
        S0 : s[] = ; S3 : q[] = ; for k : 0 <= k < n { S1 : s[] = s[], q[], a[k]; S2 : out[k] = q[]; }";
    let s = pair(seen);
    assert!(reduce::chains(&s, &dependences(&s).unwrap()).unwrap().is_empty());
}

mod scans;
mod several;
mod versions;
