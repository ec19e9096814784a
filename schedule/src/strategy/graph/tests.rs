use crate::legality::{Rule, check};
use crate::mapped::{MappedKernel, StepsOf};
use crate::names::Tuple::{self, Wait};
use crate::testing::{CHOLESKY, as_graph, kernel, scop};
use pollyrs_isl as isl;

/// What a task waits for: `[n, _b*] -> { [k, b'] }`.
fn waits(k: &MappedKernel) -> isl::UnionSet {
    let mut out = isl::UnionSet::empty(k.domain.context()).unwrap();
    for set in k.schedule.domain().unwrap().sets().unwrap() {
        if Tuple::of_set(&set).unwrap() == Some(Wait) {
            let first = isl::Set::read(set.context(), "[_t0, _t1] -> { : _t0 = 0 and _t1 = 0 }").unwrap();
            out = out.add_set(set.intersect_params(first).unwrap().reset_tuple_id().unwrap()).unwrap();
        }
    }
    out.intersect_params(k.context.clone()).unwrap()
}

#[test]
fn tasks_wait_for_what_a_step_reads() {
    let table = [
        // (I, J) as [I + J, I]: at step K for (K, J) and (I, K).
        (
            kernel("lu"),
            1,
            "{ [k, b1 + k, b1] : 0 <= k <= b1 and k < b0 - b1; [k, b0 - b1 + k, k] : 0 <= k < b1 and k <= b0 - b1 }",
        ),
        // For (I, K) and (J, K), J <= I.
        (
            scop(CHOLESKY),
            1,
            "{ [k, b0 - b1 + k, b0 - b1] : 2 b1 > b0 and 0 <= k <= b0 - b1; [k, b1 + k, b1] : 2 b1 >= b0 and 0 <= k < b0 - b1 }",
        ),
        (kernel("trisolv"), 2, "{ [k, k] : 0 <= k < b0 }"),
    ];
    for (s, kernels, expected) in table {
        let (deps, mapped) = as_graph(&s);
        assert_eq!(mapped.kernels.len(), kernels);
        assert!(check(&s, &deps, &mapped).unwrap().is_empty());
        let graph = mapped.kernels.iter().find(|k| k.task().is_some()).unwrap();
        let expected = format!("[b0, b1] -> {expected}").replace("b0", "_b0").replace("b1", "_b1");
        let expected = isl::UnionSet::read(&s.ctx, &expected).unwrap();
        // Inside of the matrix.
        let inside = match graph.grid.len() {
            2 => "[n, _b0, _b1] -> { : 64 _b0 - 64 _b1 < n and _b0 >= _b1 }",
            _ => "{ : }",
        };
        let inside = graph.context.clone().intersect(isl::Set::read(&s.ctx, inside).unwrap()).unwrap();
        let threads = isl::Set::read(&s.ctx, "[_t0, _t1] -> { : _t0 = 0 and _t1 = 0 }").unwrap();
        let inside = inside.intersect(threads).unwrap();
        let both = [waits(graph), expected].map(|w| w.intersect_params(inside.clone()).unwrap());
        assert!(both[0].is_equal(&both[1]).unwrap(), "{}\n{}", both[0], both[1]);
    }
}

#[test]
fn what_is_no_graph() {
    let table = [
        // Parallel as it is, needs what comes later, or has no loop of launches.
        "param n; array A n n; array B n n; for i : 0 <= i < n { for j : 0 <= j < n { S0 : A[i,j] = B[j,i]; } }",
        "param n t; array A n; array B n;
         for s : 0 <= s < t { for i : 1 <= i < n - 1 { S0 : B[i] = A[i-1], A[i+1]; } for i : 1 <= i < n - 1 { S1 : A[i] = B[i]; } }",
        "param n; array P n n;
         for k : 0 <= k < n { for i : 0 <= i < n { for j : 0 <= j < n { S0 : P[i,j] = P[i,j], P[i,k], P[k,j]; } } }",
        // All states are kept: a row of tiles would be steps as a whole, one after the other.
        "param n t; array A t n; array E t n;
         for s : 0 <= s < t - 1 { for i : 1 <= i < n - 1 { S0 : A[s+1,i] = A[s,i-1], A[s,i], A[s,i+1], E[s,i]; } }",
        "param n t; array A t n n;
         for s : 0 <= s < t - 2 { for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 {
           S0 : A[s+2,i,j] = A[s,i,j], A[s+1,i-1,j], A[s+1,i+1,j], A[s+1,i,j-1], A[s+1,i,j+1]; } } }",
    ];
    for text in table {
        let s = scop(text);
        let deps = crate::dependences(&s).unwrap();
        let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
        assert!(!tree.root.has_mark(crate::strategy::GRAPH), "{text}");
    }
}

#[test]
fn many_systems_are_tiles_in_any_order_of_loops() {
    let table = [
        // By right-hand sides; by equations, whose launches as they are wait in each step; by unknowns,
        // where a nest is the other form.
        "param n m; array L n n; array B n m;
         for j : 0 <= j < m { for i : 0 <= i < n {
           for k : 0 <= k < i { S0 : B[i,j] = B[i,j], L[i,k], B[k,j]; }
           S1 : B[i,j] = B[i,j], L[i,i]; } }",
        "param n m; array L n n; array B n m;
         for i : 0 <= i < n {
           for k : 0 <= k < i { for j : 0 <= j < m { S0 : B[i,j] = B[i,j], L[i,k], B[k,j]; } }
           for j : 0 <= j < m { S1 : B[i,j] = B[i,j], L[i,i]; } }",
        "param n m; array L n n; array B n m;
         for j : 0 <= j < m { for k : 0 <= k < n {
           S1 : B[k,j] = B[k,j], L[k,k];
           for i : k < i < n { S0 : B[i,j] = B[i,j], L[i,k], B[k,j]; } } }",
    ];
    for text in table {
        let s = scop(text);
        let (deps, mapped) = as_graph(&s);
        let graph = mapped.kernels.iter().find(|k| k.task().is_some()).expect(text);
        assert_eq!((graph.grid.len(), graph.updates().len()), (2, 1), "{text}");
        assert!(check(&s, &deps, &mapped).unwrap().is_empty(), "{text}");
    }
}

/// The rules that a factorisation breaks after a change.
fn spoilt(change: &dyn Fn(&mut MappedKernel)) -> Vec<Rule> {
    let s = scop(CHOLESKY);
    let (deps, mut mapped) = as_graph(&s);
    change(&mut mapped.kernels[0]);
    let mut rules: Vec<_> = check(&s, &deps, &mapped).unwrap().into_iter().map(|v| v.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// Waits that a map makes of those that there are.
fn moved(k: &mut MappedKernel, text: &str) {
    let map = isl::UnionMap::read(k.domain.context(), text).unwrap();
    let domain = k.schedule.domain().unwrap();
    let own = isl::UnionSet::read(k.domain.context(), "{ _wait[k, w0, w1] }").unwrap();
    let waits = domain.clone().intersect(own.clone()).unwrap().apply(map).unwrap();
    let rest = domain.subtract(own).unwrap();
    let root = crate::ScheduleTree::from_isl(&k.schedule).unwrap().root;
    let tree = crate::ScheduleTree { domain: rest.union(waits).unwrap(), root };
    k.schedule = tree.to_isl().unwrap();
}

#[test]
fn what_orders_tasks_is_proved() {
    assert_eq!(spoilt(&|_| ()), []);
    // One wait dropped, for a tile elsewhere, too late, for a task that is claimed later, for one that
    // there is not.
    for text in [
        "{ _wait[k, w0, w1] -> _wait[k, w0, w1] : w1 < k or w1 > k }",
        "{ _wait[k, w0, w1] -> _wait[k, w0 - 1, w1] }",
        "{ _wait[k, w0, w1] -> _wait[k + 1, w0, w1] }",
        "[_b0, _b1] -> { _wait[k, w0, w1] -> _wait[k, w0, w1]; _wait[k, w0, w1] -> _wait[k, _b0, _b1] }",
        "{ _wait[k, w0, w1] -> _wait[k, w0, w1]; _wait[k, w0, w1] -> _wait[k, -9, 0] }",
    ] {
        assert!(spoilt(&|k| moved(k, text)).contains(&Rule::Wait), "{text}");
    }
    // The barrier behind the waits of a step.
    let dropped = |k: &mut MappedKernel| {
        let gone = isl::UnionSet::read(k.domain.context(), "{ _barrier[c, -1, 0, 0] }").unwrap();
        let kept = k.schedule.domain().unwrap().subtract(gone).unwrap();
        k.schedule = k.schedule.clone().intersect_domain(kept).unwrap();
    };
    assert!(spoilt(&dropped).contains(&Rule::Barrier));
    // Blocks that do not wait at all.
    assert!(spoilt(&|k| k.steps_mut().of = StepsOf::Nest).contains(&Rule::Order));
}
