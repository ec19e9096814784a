use super::check::Rule;
use super::*;
use crate::testing::scop;
use crate::{Refusal, dependences};
use pollyrs_isl as isl;

/// Whatever is recognised here is a test of the proof by form, too.
fn recognised(text: &str) -> std::result::Result<Stencil, NotStencil> {
    let s = scop(text);
    let deps = dependences(&s).unwrap();
    let found = recognise(&s, &deps).map_err(|refusal| refusal.form().unwrap())?;
    assert!(check::same_flow_exactly(&s, &deps, &found).unwrap());
    assert_eq!(readings::wrong(&s, &found).unwrap(), None);
    Ok(found)
}

const JACOBI: &str = "param T n m; array A n m; array B n m;
    for t : 0 <= t < T {
      for i : 1 <= i < n - 1 { for j : 1 <= j < m - 1 { S0 : B[i,j] = A[i,j], A[i,j-1], A[i,j+1], A[i-1,j], A[i+1,j]; } }
      for i : 1 <= i < n - 1 { for j : 1 <= j < m - 1 { S1 : A[i,j] = B[i,j], B[i,j-1], B[i,j+1], B[i-1,j], B[i+1,j]; } }
    }";

#[test]
fn jacobi() {
    let s = recognised(JACOBI).unwrap();
    assert_eq!((s.dims, s.period, s.steps.len(), s.buffers.len()), (2, 1, 2, 2));
    let live: Vec<bool> = s.buffers.iter().map(|b| b.live).collect();
    let border: Vec<bool> = s.buffers.iter().map(|b| b.has_border).collect();
    assert_eq!((live, border), (vec![false, true], vec![true, true]));
}

#[test]
fn the_form_of_a_program_tells_its_flow() {
    let by_form = |text: &str| check::same_flow_by_form(&scop(text), &recognised(text).unwrap()).unwrap();
    assert!(by_form(JACOBI));
    assert!(by_form(
        "param T n; array A 2 n; for t : 0 <= t < T { for i : 1 <= i < n - 1 {
           S0 : A[(t+1) mod 2, i] = A[t mod 2, i-1], A[t mod 2, i+1]; } }"
    ));
    // Statements that take turns in one loop: the exact flow has to tell.
    assert!(!by_form(
        "param T n; array A n; array B n; array C n; for t : 0 <= t < T {
           for i : 1 <= i < n - 1 { S0 : B[i] = A[i-1], A[i+1]; S1 : C[i] = B[i]; }
           for i : 1 <= i < n - 1 { S2 : A[i] = C[i]; } }"
    ));
    // A statement that reads what it writes at that time.
    assert!(!by_form(
        "param T n; array A n; array B n; for t : 0 <= t < T {
           for i : 1 <= i < n - 1 { S0 : B[i] = A[i-1], A[i+1]; }
           for i : 1 <= i < n - 1 { S1 : A[i] = A[i], B[i]; } }"
    ));
}

/// Their number of pairs of reads is beyond what the exact flow does in its budget.
#[test]
fn boxes_of_many_points() {
    let mut reads = Vec::new();
    for (a, b, c) in (0..125).map(|p| (p / 25 - 2, p / 5 % 5 - 2, p % 5 - 2)) {
        reads.push(format!("A[i + {a}, j + {b}, k + {c}]").replace("+ -", "- "));
    }
    let text = format!(
        "param T n; array A n n n; array B n n n; for t : 0 <= t < T {{
           for i : 2 <= i < n - 2 {{ for j : 2 <= j < n - 2 {{ for k : 2 <= k < n - 2 {{ S0 : B[i,j,k] = {}; }} }} }}
           for i : 2 <= i < n - 2 {{ for j : 2 <= j < n - 2 {{ for k : 2 <= k < n - 2 {{ S1 : A[i,j,k] = B[i,j,k]; }} }} }} }}",
        reads.join(", ")
    );
    let s = scop(&text);
    let found = recognise(&s, &dependences(&s).unwrap()).unwrap();
    assert_eq!(found.steps[0].accesses.len(), 126);
}

#[test]
fn a_warp_needs_no_shared_memory() {
    let s = recognised(JACOBI).unwrap();
    let plan =
        plan::with_config(&s, Config { fuse: 3, threads: [1, plan::WARP], cells: [1, 4], ..Config::PLAIN });
    assert!(check(&plan).unwrap().is_empty());
    assert_eq!(plan::exchanged_cells(&plan, 0), vec![]);
    let mut p = plan.clone();
    p.nodes[3].lag -= 1;
    assert!(check(&p).unwrap().iter().any(|v| v.rule == Rule::Time));
}

#[test]
fn slots_of_each_iteration_and_rows_that_are_loaded_late() {
    let s = recognised(JACOBI).unwrap();
    let config = Config { fuse: 3, threads: [1, 128], cells: [1, 4], ..Config::PLAIN };
    for (fixed, near, wanted) in [(false, false, (2, 3)), (true, false, (3, 3)), (true, true, (3, 1))] {
        let plan = plan::with_config(&s, Config { fixed, near, ..config });
        assert_eq!((plan.slots, plan.prefetch_distance), wanted);
        assert!(check(&plan).unwrap().is_empty());
    }
}

#[test]
fn plans_are_right_and_mutations_are_found() {
    let s = recognised(JACOBI).unwrap();
    let config = Config { fuse: 3, threads: [1, 128], cells: [1, 4], ..Config::PLAIN };
    let plan = plan::with_config(&s, config);
    assert!(check(&plan).unwrap().is_empty());
    // A row of A is read until two iterations later, its names are three; of other threads, one iteration
    // later.
    assert_eq!((plan.nodes.len(), plan.unroll, plan.slots, plan.max_lag()), (7, 3, 2, 6));
    assert_eq!((plan.nodes[0].lo, plan.nodes[0].hi), ([6, 0, 6], [6, 0, 6]));
    let broken = |f: &dyn Fn(&mut StencilPlan), rule: Rule| {
        let mut p = plan.clone();
        f(&mut p);
        assert!(check(&p).unwrap().iter().any(|v| v.rule == rule), "{rule:?} not found");
    };
    broken(&|p| p.nodes[2].lo[2] -= 1, Rule::Region);
    broken(&|p| p.nodes[0].hi[0] -= 1, Rule::Region);
    broken(&|p| p.nodes[6].lo[0] = -1, Rule::Region);
    // Without the lag there is no barrier between the writer and the reader of another thread's column.
    broken(&|p| p.nodes[3].lag -= 1, Rule::Time);
    broken(&|p| p.nodes[3].window -= 1, Rule::Time);
    broken(&|p| p.order.swap(2, 3), Rule::Time);
    broken(&|p| p.slots = 1, Rule::Slot);
    broken(&|p| p.nodes[1].exchange = false, Rule::Slot);
    broken(&|p| p.tile[2] += 1, Rule::Columns);
    broken(&|p| p.halo[2] -= 1, Rule::Columns);
    broken(&|p| p.tile[2] = 0, Rule::Tiles);
    broken(&|p| p.nodes[6].output = false, Rule::Output);
    broken(&|p| p.nodes[4].reads[1].node = 1, Rule::Version);
    broken(&|p| p.nodes[4].reads[1].offset[2] = 0, Rule::Version);
    broken(&|p| p.config.fuse = 4, Rule::Version);
    broken(&|p| p.nodes[4].keep = None, Rule::Version);
    broken(&|p| p.nodes[5].keep = Some(2), Rule::Version);
}

#[test]
fn the_last_launches_write_every_buffer() {
    let modulo =
        "param T n m; array A 2 n m; for t : 0 <= t < T { for i : 1 <= i < n - 1 { for j : 1 <= j < m - 1 {
        S0 : A[(t+1) mod 2, i, j] = A[t mod 2, i-1, j], A[t mod 2, i, j-1], A[t mod 2, i, j+1]; } } }";
    for text in [JACOBI, modulo] {
        let s = recognised(text).unwrap();
        let of = |complete| {
            let config =
                Config { fuse: s.period, threads: [1, 128], cells: [1, 2], complete, ..Config::PLAIN };
            plan::with_config(&s, config)
        };
        let outputs =
            |p: &StencilPlan| p.nodes.iter().filter(|n| n.output).map(|n| n.buffer).collect::<Vec<_>>();
        let (some, all) = (of(false), of(true));
        assert!(check(&some).unwrap().is_empty() && check(&all).unwrap().is_empty());
        assert_eq!((outputs(&some).len(), outputs(&all).len()), (1, 2));
        // Neither is the other.
        let mut broken = some.clone();
        broken.config.complete = true;
        assert!(check(&broken).unwrap().iter().any(|v| v.rule == Rule::Output));
        let mut broken = all.clone();
        broken.config.complete = false;
        assert!(check(&broken).unwrap().iter().any(|v| v.rule == Rule::Output));
        // The other buffer's last version must be all that is computed of the tile.
        let mut broken = all.clone();
        let early = broken.nodes.iter().position(|n| n.output).unwrap();
        broken.nodes[early].lo[2] = -1;
        assert!(check(&broken).unwrap().iter().any(|v| v.rule == Rule::Region));
    }
}

#[test]
fn forms() {
    let copy_back = "param T n; array A n; array B n; for t : 0 <= t < T {
        for i : 1 <= i < n - 1 { S0 : B[i] = A[i-1], A[i+1]; } for i : 1 <= i < n - 1 { S1 : A[i] = B[i]; } }";
    let s = recognised(copy_back).unwrap();
    assert_eq!(
        s.buffers.iter().map(|b| (b.live, b.has_border)).collect::<Vec<_>>(),
        [(false, false), (true, true)]
    );
    let modulo = "param T n; array A 2 n; for t : 0 <= t < T {
        for i : 1 <= i < n - 1 { S0 : A[(t+1) mod 2, i] = A[t mod 2, i-1], A[t mod 2, i], A[t mod 2, i+1]; } }";
    let s = recognised(modulo).unwrap();
    assert_eq!((s.dims, s.period, s.buffers.len()), (1, 2, 2));
    assert!(s.buffers.iter().any(|b| b.live && b.selectors == [0]) && s.buffers.iter().any(|b| !b.live));
    // A coefficient array is read as the program reads it, whatever its subscripts are.
    let coefficient = "param T n; array A n; array B n; array C n; for t : 0 <= t < T {
        for i : 1 <= i < n - 1 { S0 : B[i] = A[i-1], A[i+1], C[2*i], C[t]; }
        for i : 1 <= i < n - 1 { S1 : A[i] = B[i]; } }";
    let s = recognised(coefficient).unwrap();
    assert_eq!(s.steps[0].accesses.iter().filter(|a| **a == StepAccess::Plain).count(), 2);
}

#[test]
fn refusals() {
    let seidel = "param T n; array A n; for t : 0 <= t < T { for i : 1 <= i < n - 1 { S0 : A[i] = A[i-1], A[i], A[i+1]; } }";
    assert_eq!(recognised(seidel).unwrap_err(), NotStencil::Flow);
    // The second statement sees neighbours of the same iteration of i in different states.
    let fused = "param T n; array A n; array B n; for t : 0 <= t < T {
        for i : 1 <= i < n - 1 { S0 : B[i] = A[i-1], A[i+1]; S1 : A[i] = B[i]; } }";
    assert_eq!(recognised(fused).unwrap_err(), NotStencil::Flow);
    let triangle = "param T n; array A n n; array B n n; for t : 0 <= t < T {
        for i : 1 <= i < n - 1 { for j : 1 <= j < i { S0 : B[i,j] = A[i-1,j]; } }
        for i : 1 <= i < n - 1 { for j : 1 <= j < i { S1 : A[i,j] = B[i,j]; } } }";
    assert_eq!(recognised(triangle).unwrap_err(), NotStencil::Domain);
    let scaled = "param T n; array A n; array B n; for t : 0 <= t < T {
        for i : 1 <= i < n { S0 : B[i] = A[2*i]; } for i : 1 <= i < n { S1 : A[i] = B[i]; } }";
    assert_eq!(recognised(scaled).unwrap_err(), NotStencil::Access);
    let local = "param T n; array A n; for t : 0 <= t < T { for i : 0 <= i < n { S0 : A[i] = A[i]; } }";
    assert_eq!(recognised(local).unwrap_err(), NotStencil::NoReuse);
    let may = "param T n; array A n; array B n; for t : 0 <= t < T {
        for i : 1 <= i < n - 1 { S0 : B[i] ?= A[i-1]; } for i : 1 <= i < n - 1 { S1 : A[i] = B[i]; } }";
    assert_eq!(recognised(may).unwrap_err(), NotStencil::Writes);
}

#[test]
fn partial_boxes() {
    // A row of the boundary, then the rest: the first step is thin, both keep what the other writes.
    let text = "param T n; array A n n; array B n n; array E T; for t : 0 <= t < T {
        for j : 0 <= j < n { S0 : A[0,j] = E[t]; }
        for i : 1 <= i < n { for j : 0 <= j < n { S1 : A[i,j] = A[i,j], B[i,j], B[i-1,j]; } }
        for i : 0 <= i < n - 1 { for j : 0 <= j < n - 1 { S2 : B[i,j] = B[i,j], A[i+1,j], A[i,j]; } } }";
    let s = recognised(text).unwrap();
    let of = |k: usize| (s.steps[k].partial, s.steps[k].thin.clone());
    assert_eq!((of(0), of(1), of(2)), ((true, vec![0]), (true, vec![]), (false, vec![])));
    assert!(s.buffers.iter().all(|b| b.live));
    let config = Config { fuse: 3, threads: [1, 128], cells: [1, 2], ..Config::PLAIN };
    let plan = plan::with_config(&s, config);
    assert!(check(&plan).unwrap().is_empty());
    let mut broken = plan.clone();
    let thin = broken.nodes.iter().position(|n| n.step == Some(0)).unwrap();
    broken.nodes[thin].keep = None;
    assert!(check(&broken).unwrap().iter().any(|v| v.rule == Rule::Version));
}

#[test]
fn statements_with_two_writes() {
    let text = "param T n; array A n; array B n; array C n; array D n; for t : 0 <= t < T {
        for i : 1 <= i < n - 1 { S0 : C[i], D[i] = A[i-1], B[i+1]; }
        for i : 1 <= i < n - 1 { S1 : A[i], B[i] = C[i], D[i]; } }";
    let s = recognised(text).unwrap();
    assert_eq!(instances(&s.steps), [0..2, 2..4]);
    let config = Config { fuse: 2, threads: [1, 128], cells: [1, 2], ..Config::PLAIN };
    let plan = plan::with_config(&s, config);
    assert!(check(&plan).unwrap().is_empty());
    // Both steps of the second statement read the nodes of the first.
    let versions = |n: usize| plan.nodes[n].reads.iter().map(|r| r.node).collect::<Vec<_>>();
    assert_eq!((versions(4), versions(5)), (vec![2, 3], vec![2, 3]));
}

/// Neighbours that are clamped and mirrored at the border.
const CLAMPED: &str = "param T n m; array A n m; array B n m;
    for t : 0 <= t < T {
      for i : 0 <= i < n { for j : 0 <= j < m { S0 : B[i,j] = A[i,j], A[i,max(j - 1,0)], A[i,min(j + 1,m - 1)], A[max(i - 1,1 - i),j]; } }
      for i : 0 <= i < n { for j : 0 <= j < m { S1 : A[i,j] = B[i,j], B[max(i - 1,0),max(j - 1,0)]; } }
    }";

#[test]
fn neighbours_by_cases() {
    let s = recognised(CLAMPED).unwrap();
    let cases = |k: usize| s.steps[k].cases.iter().map(|c| (c.access, c.offset.clone(), c.thin.clone()));
    let accesses = |k: usize| {
        let offset = |a: &StepAccess| match a {
            StepAccess::Buffer { offset, .. } => offset.clone(),
            _ => Vec::new(),
        };
        s.steps[k].accesses.iter().map(offset).collect::<Vec<_>>()
    };
    let reads = |k: usize| accesses(k).into_iter().filter(|o| !o.is_empty()).collect::<Vec<_>>();
    assert_eq!(reads(0), [vec![0, 0], vec![0, -1], vec![0, 1], vec![-1, 0]]);
    assert_eq!(reads(1), [vec![0, 0], vec![-1, -1]]);
    let first: Vec<_> = cases(0).map(|(_, o, t)| (o, t)).collect();
    assert_eq!(first, [(vec![0, 0], vec![1]), (vec![0, 0], vec![1]), (vec![1, 0], vec![0])]);
    let mut corners: Vec<_> = cases(1).map(|(_, o, t)| (o, t)).collect();
    corners.sort();
    assert_eq!(corners, [(vec![-1, 0], vec![1]), (vec![0, -1], vec![0]), (vec![0, 0], vec![0, 1])]);
    // Nothing outside of the grid is read, and small grids are left to the ordinary mapping.
    assert!(s.buffers.iter().all(|b| !b.has_border));
    let small = isl::Set::read(s.runs.context(), "[T, n, m] -> { : n <= 3 or m <= 3 }").unwrap();
    assert!(s.runs.is_disjoint(&small).unwrap());

    let config = Config { fuse: 3, threads: [1, 128], cells: [1, 2], ..Config::PLAIN };
    let plan = plan::with_config(&s, config);
    assert!(check(&plan).unwrap().is_empty());
    let node = plan.nodes.iter().position(|n| n.reads.iter().any(|r| r.case.is_some())).unwrap();
    let at = plan.nodes[node].reads.iter().position(|r| r.case.is_some()).unwrap();
    let broken = |change: &dyn Fn(&mut Vec<NodeRead>)| {
        let mut broken = plan.clone();
        change(&mut broken.nodes[node].reads);
        assert!(check(&broken).unwrap().iter().any(|v| v.rule == Rule::Version));
    };
    broken(&|r| r.truncate(at));
    broken(&|r| r[at].offset[2] -= 1);
    broken(&|r| r[at].case = None);
    broken(&|r| r[at].node += 1);
    // The row of the other side is read where the row itself is not yet there.
    let mirrored = |r: &NodeRead| r.case.is_some() && r.offset[0] == 1;
    let node = plan.nodes.iter().position(|n| n.reads.iter().any(mirrored)).unwrap();
    let mut broken = plan.clone();
    broken.nodes[node].lag -= 1;
    assert!(check(&broken).unwrap().iter().any(|v| v.rule == Rule::Time));
}

#[test]
fn distances_that_are_no_cases() {
    let at = |subscript: &str| {
        let text = format!(
            "param T n; array A n; array B n; for t : 0 <= t < T {{
            for i : 0 <= i < n {{ S0 : B[i] = A[{subscript}], A[i]; }} for i : 0 <= i < n {{ S1 : A[i] = B[i]; }} }}"
        );
        recognised(&text).map(|s| s.steps[0].cases.len())
    };
    assert_eq!(at("max(i - 3,0)"), Ok(3));
    assert_eq!(at("max(min(i + 2,n - 1),0)"), Ok(2));
    // From the other end, by the parity of the element, far away.
    assert_eq!(at("n - 1 - i").unwrap_err(), NotStencil::Access);
    assert_eq!(at("i - (i mod 2)").unwrap_err(), NotStencil::Access);
    assert_eq!(at("max(i - 12,0)").unwrap_err(), NotStencil::Access);
}

/// Threads and columns of a thread along x, and steps, that the model chooses with so many instructions of
/// arithmetic a point.
fn choice(text: &str, elem: pollyrs_scop::ElemType, work: f64) -> (u32, u32, i64) {
    let mut s = scop(text);
    s.arrays.iter_mut().for_each(|a| a.elem = elem);
    let stencil = recognise(&s, &dependences(&s).unwrap()).unwrap();
    let plans = plan::plans(&s, &stencil, &plan::Wish::default(), &[work]).unwrap();
    let config = plans[0].config;
    assert_eq!((config.threads[0], config.cells[0]), (1, 1));
    (config.threads[1], config.cells[1], config.fuse)
}

/// Of two-dimensional stencils; how fast the alternatives are on an H200 is in
/// bench/notes/014-stencils-contracted.md.
#[test]
fn choices_of_the_model() {
    use pollyrs_scop::ElemType::{F32, F64};
    let of = |reads: &str| {
        format!(
            "param T n m; array A 2 n m; for t : 0 <= t < T {{ for i : 1 <= i < n - 1 {{ for j : 1 <= j < m - 1 {{
             S0 : A[(t+1) mod 2, i, j] = A[t mod 2, i, j], {reads}; }} }} }}"
        )
    };
    let near = |y: &str, x: &str| format!("A[t mod 2, i{y}, j{x}]");
    let star = [near("-1", ""), near("+1", ""), near("", "-1"), near("", "+1")].join(", ");
    let corners = [near("-1", "-1"), near("-1", "+1"), near("+1", "-1"), near("+1", "+1")].join(", ");
    let (star, square) = (of(&star), of(&format!("{star}, {corners}")));
    for (text, elem, work, wanted) in [
        (&star, F32, 5.0, (128, 3, 12)),
        (&star, F64, 5.0, (128, 2, 10)),
        (&square, F32, 9.0, (128, 3, 6)),
        (&square, F64, 9.0, (128, 2, 4)),
        // Exact divisions and roots.
        (&star, F32, 47.0, (256, 1, 8)),
    ] {
        assert_eq!(choice(text, elem, work), wanted, "{elem:?} {work}");
    }
    assert!(choice(&star, F32, 18.0).1 < 3);
    // In one dimension, warps alone.
    let line = "param T n; array A 2 n; for t : 0 <= t < T { for i : 1 <= i < n - 1 {
         S0 : A[(t+1) mod 2, i] = A[t mod 2, i], A[t mod 2, i-1], A[t mod 2, i+1]; } }";
    assert_eq!(choice(line, F32, 3.0), (32, 12, 32));
    assert_eq!(choice(line, F64, 3.0), (32, 12, 32));
}

/// The grid's steps, and beside them a border with a loop of its own in both grids.
fn bordered(border: [&str; 2]) -> String {
    format!(
        "param T n m; array A n m; array B n m; for t : 0 <= t < T {{
           for i : 1 <= i < n - 1 {{ for j : 1 <= j < m - 1 {{ S0 : B[i,j] = A[i,j], A[i-1,j], A[i+1,j], A[i,j-1], A[i,j+1]; }} }}
           {}
           for i : 1 <= i < n - 1 {{ for j : 1 <= j < m - 1 {{ S2 : A[i,j] = B[i,j]; }} }}
           {} }}",
        border[0], border[1]
    )
}

#[test]
fn hulls_lie_within_what_is_touched() {
    // The hull begins with row 1 or 0 and column 0 or 1; of B the program touches nothing but what it writes.
    let rows = |row: &str, to: &str| {
        [
            format!("for j : 0 <= j < {to} {{ S1 : B[{row},j] = A[{row},j]; }}"),
            format!("for j : 0 <= j < {to} {{ S3 : A[{row},j] = B[{row},j]; }}"),
        ]
    };
    let columns = |column: &str, from: &str, to: &str| {
        [
            format!("for i : {from} <= i < {to} {{ S1 : B[i,{column}] = A[i,{column}]; }}"),
            format!("for i : {from} <= i < {to} {{ S3 : A[i,{column}] = B[i,{column}]; }}"),
        ]
    };
    for (border, within) in [
        // The first row begins the hull; its last row ends in column m - 2, behind which there is a column.
        (rows("0", "m"), false),
        (rows("0", "m - 1"), true),
        // The hull's first element, in column 0 of row 1, comes before all that is touched.
        (rows("n - 1", "m"), false),
        // Columns over all rows of the hull, or over fewer.
        (columns("0", "1", "n - 1"), true),
        (columns("m - 1", "1", "n - 1"), true),
        (columns("0", "2", "n - 1"), false),
        (columns("m - 1", "1", "n - 2"), false),
        // One that goes on in the last row: the hull's last row has more columns.
        (columns("0", "1", "n"), false),
    ] {
        let scop = scop(&bordered([&border[0], &border[1]]));
        match recognise(&scop, &dependences(&scop).unwrap()) {
            Ok(s) => assert!(check::hulls_are_touched(&scop, &s).unwrap() && within, "{}", border[0]),
            Err(why) => assert!(why == Refusal::Form(NotStencil::Border) && !within, "{}: {why}", border[0]),
        }
    }
}

#[test]
fn the_proof_finds_hulls_that_reach_beyond() {
    let scop = scop(JACOBI);
    let s = recognise(&scop, &dependences(&scop).unwrap()).unwrap();
    for buffer in 0..s.buffers.len() {
        // Neighbours in one more row are read, on either side.
        for (rows, within) in [(0, true), (1, true), (2, false)] {
            let by = |n: i64| pollyrs_isl::Val::int(&scop.ctx, n).unwrap();
            let (mut above, mut below) = (s.clone(), s.clone());
            let b = &mut above.buffers[buffer];
            b.lower[0] = b.lower[0].clone().add_constant(by(-rows)).unwrap();
            let b = &mut below.buffers[buffer];
            b.upper[0] = b.upper[0].clone().add_constant(by(rows)).unwrap();
            for wider in [above, below] {
                let found = check::hulls_are_touched(&scop, &wider).unwrap();
                assert_eq!(found, within, "buffer {buffer}, {rows} rows more");
            }
        }
    }
}

#[test]
fn what_a_stencil_says_is_compared_with_the_program() {
    const TWO_PLANES: &str = "param T n m; array A 2 n m; array C n m; for t : 0 <= t < T {
        for i : 1 <= i < n - 1 { for j : 1 <= j < m - 1 {
          S0 : A[(t+1) mod 2, i, j] = A[t mod 2, i, j-1], A[t mod 2, i+1, j], C[i, j]; } } }";
    let sound = |text: &str| (scop(text), recognised(text).unwrap());
    type Change = fn(&mut Stencil);
    let broken: [(&str, &str, Change); 20] = [
        ("an offset", JACOBI, |s| offset(&mut s.steps[0], 1)[1] += 1),
        ("another offset of time's other plane", TWO_PLANES, |s| offset(&mut s.steps[1], 0)[0] -= 1),
        ("an offset too few", JACOBI, |s| offset(&mut s.steps[0], 1).truncate(1)),
        ("a read of the other buffer", JACOBI, |s| {
            *buffer(&mut s.steps[0], 0) = 1 - *buffer(&mut s.steps[0], 0)
        }),
        ("a read of the other plane", TWO_PLANES, |s| *buffer(&mut s.steps[0], 0) = s.steps[0].buffer),
        ("a read that is called one of other memory", JACOBI, |s| {
            *read(&mut s.steps[0], 0) = StepAccess::Plain
        }),
        ("a read that is called a write", JACOBI, |s| *read(&mut s.steps[0], 0) = StepAccess::Write),
        ("a selector", TWO_PLANES, |s| s.buffers[0].selectors[0] += 2),
        ("a box that is too small", JACOBI, |s| s.steps[0].lower[0] = plus(&s.steps[0].lower[0], 1)),
        ("a box that is too large", JACOBI, |s| s.steps[1].upper[1] = plus(&s.steps[1].upper[1], 1)),
        ("a hull that is too small", JACOBI, |s| s.buffers[0].upper[0] = plus(&s.buffers[0].upper[0], -1)),
        ("a hull that is too large", JACOBI, |s| s.buffers[0].lower[0] = plus(&s.buffers[0].lower[0], -1)),
        ("no border", JACOBI, |s| s.buffers[1].has_border = false),
        ("too few elements around", JACOBI, |s| {
            s.buffers[1].outer_upper[0] = plus(&s.buffers[1].outer_upper[0], -1);
        }),
        ("another iterator", JACOBI, |s| s.steps[0].iterators.swap(0, 1)),
        ("an iterator's distance", JACOBI, |s| s.steps[0].iterators[1].1 += 1),
        ("one iterator twice", JACOBI, |s| s.steps[0].iterators[1] = s.steps[0].iterators[0]),
        ("a thin dimension", JACOBI, |s| s.steps[0].thin.push(0)),
        ("steps in another order", JACOBI, |s| s.steps.swap(0, 1)),
        ("a step too few", TWO_PLANES, |s| drop(s.steps.pop())),
    ];
    for (what, text, change) in broken {
        let (scop, mut found) = sound(text);
        change(&mut found);
        assert!(readings::wrong(&scop, &found).unwrap().is_some(), "{what}");
    }
    // Time: one iteration more than there are.
    let (scop, mut found) = sound(JACOBI);
    found.time = plus(&found.time, 1);
    assert!(readings::wrong(&scop, &found).unwrap().is_some());
}

fn read(step: &mut Step, number: usize) -> &mut StepAccess {
    let reads = step.accesses.iter_mut().filter(|a| matches!(a, StepAccess::Buffer { .. }));
    reads.into_iter().nth(number).unwrap()
}

fn offset(step: &mut Step, number: usize) -> &mut Vec<i64> {
    match read(step, number) {
        StepAccess::Buffer { offset, .. } => offset,
        _ => unreachable!(),
    }
}

fn buffer(step: &mut Step, number: usize) -> &mut usize {
    match read(step, number) {
        StepAccess::Buffer { buffer, .. } => buffer,
        _ => unreachable!(),
    }
}

fn plus(f: &isl::PwAff, n: i64) -> isl::PwAff {
    f.clone().add_constant(isl::Val::int(f.context(), n).unwrap()).unwrap()
}
