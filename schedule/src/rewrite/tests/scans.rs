//! Running totals in parts.

use super::*;

const INCLUSIVE: &str = "param n; array a n; scalar s; array y n;
    S0 : s[] = ; for k : 0 <= k < n { S1 : s[] = s[], a[k]; S2 : y[k] = s[]; }";
const EXCLUSIVE: &str = "param n; array a n; scalar s; array y n; array out n;
    S0 : s[] = ; for k : 0 <= k < n { S2 : y[k] = s[]; S1 : s[] = s[], a[k]; } S3 : out[0] = s[];";
/// What is stored first, and what is computed of the result.
const AROUND: &str = "param n; array a n; scalar s; array y n; array z n; array w n;
    S0 : s[] = ; for k : 0 <= k < n { S3 : w[k] = a[k]; S1 : s[] = s[], w[k]; S2 : y[k] = s[]; S4 : z[k] = y[k]; }";
const ROWS: &str = "param n m; array a n m; scalar s n; array y n m;
    for i : 0 <= i < n { S0 : s[i] = ; for k : 0 <= k < m { S1 : s[i] = s[i], a[i,k]; S2 : y[i,k] = s[i]; } }";
/// The cell is an element of an array.
const MEMORY: &str = "param n; array a n; array s n; array y n;
    for k : 0 <= k < n { S1 : s[0] = s[0], a[k]; S2 : y[k] = s[0]; }";

/// The SCoP of `text` with `S1` as an update of its first read.
fn total(text: &str) -> Scop {
    let mut s = scop(text);
    let n = s.statements.iter().position(|s| s.name == "S1").unwrap();
    let write = s.statements[n].accesses.len() - 1;
    let moved = |a: &pollyrs_scop::Access| match a.value {
        pollyrs_scop::AccessValue::Instruction(v) => Some(v),
        _ => None,
    };
    for s in &mut s.statements {
        s.body = s.accesses.iter().filter_map(moved).collect();
    }
    // The load and the store of a cell in memory belong to the update.
    let cell = [0, write].map(|a| moved(&s.statements[n].accesses[a]));
    s.statements[n].reduction = Some(pollyrs_scop::Reduction {
        read: 0,
        write,
        value: crate::testing::value(90),
        identity: crate::testing::value(91),
        update: cell.into_iter().flatten().collect(),
        commutative: false,
        numbers: false,
        regrouped: false,
        companions: vec![],
    });
    s
}

fn problems(old: &Scop, made: &Made) -> Vec<String> {
    let (a, b) = (dependences(old).unwrap(), dependences(&made.scop).unwrap());
    check::check(old, &a, made, &b, crate::DEFAULT_BUDGET).unwrap()
}

#[test]
fn totals_are_cut_again_and_again() {
    for text in [INCLUSIVE, EXCLUSIVE, AROUND, MEMORY, ROWS] {
        let mut old = total(text);
        let deps = dependences(&old).unwrap();
        let mut totals = scan::totals(&old, &deps).unwrap();
        assert_eq!(totals.len(), 1, "{text}");
        let mut totals = totals.remove(0);
        let mut cuts = 0;
        while let Some(made) = scan::cut(&old, &dependences(&old).unwrap(), &totals).unwrap() {
            pollyrs_scop::verify(&made.scop).unwrap();
            assert_eq!(problems(&old, &made), Vec::<String>::new(), "{text}");
            totals = scan::again(&made, &totals);
            (old, cuts) = (made.scop, cuts + 1);
        }
        assert_eq!(cuts, 4, "{text}");
    }
}

#[test]
fn totals_of_one_loop_are_cut_together() {
    let text = "param n; array a n; scalar s; scalar t; array y n;
        for k : 0 <= k < n { S1 : s[] = s[], a[k]; S3 : t[] = t[], a[k]; S2 : y[k] = s[], t[]; }";
    let mut old = total(text);
    let reduction = old.statements[0].reduction.clone();
    old.statements[1].reduction = reduction;
    let mut totals = scan::totals(&old, &dependences(&old).unwrap()).unwrap();
    assert_eq!(totals.len(), 1);
    let mut totals = totals.remove(0);
    assert_eq!(totals.statements, [0, 1]);
    while let Some(made) = scan::cut(&old, &dependences(&old).unwrap(), &totals).unwrap() {
        assert_eq!(problems(&old, &made), Vec::<String>::new());
        totals = scan::again(&made, &totals);
        old = made.scop;
    }
    assert_eq!(totals.first.level, 4);
}

#[test]
fn a_running_total_runs_in_parts() {
    for text in [INCLUSIVE, EXCLUSIVE, AROUND] {
        let s = total(text);
        let d = dependences(&s).unwrap();
        let n = s.statements.len();
        let done = schedule(s, d, &Default::default()).unwrap();
        assert_eq!(done.scop.statements.len(), n + 16);
        let mapped = crate::map(&done.scop, &done.deps, &done.tree, &Default::default()).unwrap();
        assert!(crate::check(&done.scop, &done.deps, &mapped).unwrap().is_empty());
    }
}

/// Mistakes in the parts are found.
#[test]
fn the_proof_of_totals_sees_mistakes() {
    let s = total(EXCLUSIVE);
    let deps = dependences(&s).unwrap();
    let totals = scan::totals(&s, &deps).unwrap();
    let good = scan::cut(&s, &deps, &totals[0]).unwrap().unwrap();
    assert_eq!(problems(&s, &good), Vec::<String>::new());
    let scan = good.scans[0];
    let to = |made: &Made, id: StmtId, access: usize, cell: &str| -> isl::Map {
        let s = &made.scop.statements[id.0];
        let array = &made.scop.array(s.accesses[access].array).name;
        let tuple = ["p", "p, t"][(s.domain.dim(isl::DimType::Set).unwrap() - 1) as usize];
        isl::Map::read(&made.scop.ctx, &format!("[n] -> {{ {}[{tuple}] -> {array}[{cell}] }}", s.name))
            .unwrap()
    };
    // A statement, which of its accesses is of another cell, and what is said of that.
    let reader = s.statements.iter().position(|s| s.name == "S2").map(StmtId).unwrap();
    let table = [
        (scan.before, 1, "p + 1", "too small"),
        (scan.before, 1, "0", "starts from another value"),
        (reader, 0, "p - 1", "too small"),
        (reader, 0, "0", "starts from another value"),
        (scan.start, 0, "0", "no paths"),
        (scan.rest, 2, "0", "no paths"),
        (scan.rest, 2, "p + 1", "too small"),
        (scan.sum, 1, "256 p + t + 1", "is no total in parts"),
    ];
    for (id, access, cell, text) in table {
        let mut bad = good.clone();
        bad.scop.statements[id.0].accesses[access].relation = to(&bad, id, access, cell);
        let found = problems(&s, &bad);
        assert!(found.iter().any(|f| f.contains(text)), "{cell}: {found:?}");
    }
    // What is summed up is not what the total adds.
    let mut bad = good.clone();
    bad.scop.statements[scan.sum.0].body.push(crate::testing::value(7));
    assert!(problems(&s, &bad).iter().any(|b| b.contains("no total in parts")));
    // Without the word of the statement there is none.
    let plain = scop(EXCLUSIVE);
    assert!(scan::totals(&plain, &dependences(&plain).unwrap()).unwrap().is_empty());
    assert!(!problems(&plain, &good).is_empty());
}

#[test]
fn what_waits_for_more_than_a_total_is_none() {
    // The second total needs the first one; what is summed up needs the sum; others write the cell.
    for text in [
        "param n; array a n; scalar s; array y n; for k : 0 <= k < n { S1 : s[] = s[], y[k]; S2 : y[k + 1] = s[]; }",
        "param n; array a n; array s n; array y n;
         for k : 0 <= k < n { S1 : s[0] = s[0], a[k]; S2 : y[k] = s[0]; S3 : s[k] = a[k]; }",
    ] {
        let s = total(text);
        let deps = dependences(&s).unwrap();
        for t in scan::totals(&s, &deps).unwrap() {
            if let Some(made) = scan::cut(&s, &deps, &t).unwrap() {
                assert!(!problems(&s, &made).is_empty(), "{text}");
            }
        }
    }
}

/// `s += y[k]; y[k] = s` in one statement: what is stored is no part of the sums.
#[test]
fn a_total_in_its_own_statement_is_cut() {
    let text = "param n; array y n; scalar s; for k : 0 <= k < n { S1 : s[], y[k] = s[], y[k]; }";
    let mut old = scop(text);
    let handle = crate::testing::value;
    old.statements[0].body = vec![handle(1), handle(50), handle(3)];
    old.statements[0].running = Some(pollyrs_scop::Running {
        update: pollyrs_scop::Reduction {
            read: 0,
            write: 2,
            value: handle(1),
            identity: handle(91),
            update: vec![handle(50)],
            commutative: true,
            numbers: false,
            regrouped: false,
            companions: vec![],
        },
        needs: vec![handle(1), handle(50)],
        stored: handle(50),
    });
    let deps = dependences(&old).unwrap();
    let totals = scan::totals(&old, &deps).unwrap();
    let made = scan::cut(&old, &deps, &totals[0]).unwrap().unwrap();
    assert_eq!(problems(&old, &made), Vec::<String>::new());
    let sum = &made.scop.statements[made.scans[0].sum.0];
    assert_eq!((sum.accesses.len(), sum.body.len()), (3, 2));
    // What the statement stored before it is read would be missing.
    let mut early = old.clone();
    early.statements[0].body = vec![handle(3), handle(1), handle(50)];
    let made = scan::cut(&early, &deps, &totals[0]).unwrap().unwrap();
    assert!(problems(&early, &made).iter().any(|b| b.contains("no total in parts")));
}

/// `y[k + 1] = y[k] + a[k]`, and totals of other shapes in memory.
const HANDED: [&str; 4] = [
    "param n; array a n; array y n; for k : 0 <= k < n { S1 : y[k + 1] = y[k], a[k]; }",
    "param n; array y n; for k : 0 <= k < n { S1 : y[k] = y[k + 1 - 2], y[k]; }",
    "param n; array a n; array s n; array z n; for k : 0 <= k < n { S1 : z[k], s[0] = s[0], a[k]; } S2 : z[0] = s[0];",
    "param n m; array a n m; array s n; array z n m;
     for i : 0 <= i < n { for k : 0 <= k < m { S1 : z[i,k], s[i] = s[i], a[i,k]; } }",
];

/// The SCoP of `text` with `S1` as an update, by the value of its second read, of what its last write stores.
fn handed(text: &str) -> Scop {
    let mut s = scop(text);
    let handle = crate::testing::value;
    let moved = |a: &pollyrs_scop::Access| match a.value {
        pollyrs_scop::AccessValue::Instruction(v) => Some(v),
        _ => None,
    };
    for s in &mut s.statements {
        s.body = s.accesses.iter().filter_map(moved).collect();
    }
    let n = s.statements.iter().position(|s| s.name == "S1").unwrap();
    let s1 = &mut s.statements[n];
    let reads = s1.accesses.iter().filter(|a| a.kind == pollyrs_scop::AccessKind::Read).count();
    let value = moved(&s1.accesses[1]).unwrap();
    s1.body.insert(reads, handle(5000));
    s1.running = Some(pollyrs_scop::Running {
        update: pollyrs_scop::Reduction {
            read: 0,
            write: s1.accesses.len() - 1,
            value,
            identity: handle(91),
            update: vec![handle(5000)],
            commutative: true,
            numbers: false,
            regrouped: false,
            companions: vec![],
        },
        needs: vec![value, handle(5000)],
        stored: handle(5000),
    });
    s
}

#[test]
fn what_an_iteration_takes_over_is_a_total() {
    for text in HANDED {
        let old = handed(text);
        let n = old.statements.iter().position(|s| s.name == "S1").unwrap();
        let made = carry::carry(&old, &dependences(&old).unwrap(), n).unwrap().expect(text);
        pollyrs_scop::verify(&made.scop).unwrap();
        assert_eq!(problems(&old, &made), Vec::<String>::new(), "{text}");
        let deps = dependences(&made.scop).unwrap();
        let totals = scan::totals(&made.scop, &deps).unwrap();
        assert_eq!(totals.len(), 1, "{text}");
        let cut = scan::cut(&made.scop, &deps, &totals[0]).unwrap().expect(text);
        assert_eq!(problems(&made.scop, &cut), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_no_iteration_takes_over_stays() {
    for text in [
        "param n; array a n; array y n; for k : 0 <= k < n { S1 : y[k + 1] = y[k], a[k]; S2 : y[k + 1] = a[k]; }",
        "param n; array a n; array y n; for k : 0 <= k < n { S1 : y[k + 2] = y[k], a[k]; }",
        "param n; array a n; array y n; for k : 0 <= k < n { S1 : y[n - k] = y[k], a[k]; }",
        "param n; array a n; array y n; for k : 0 <= k < n { S1 : y[k] = y[k + 1], a[k]; }",
    ] {
        let old = handed(text);
        let made = carry::carry(&old, &dependences(&old).unwrap(), 0).unwrap();
        assert!(made.is_none(), "{text}");
    }
    // The proof knows that others look at the cell on the way, and that others store to it.
    for text in [
        "param n; array a n; array s n; array z n; for k : 0 <= k < n { S1 : s[0] = s[0], a[k]; S2 : z[k] = s[0]; }",
        "param n; array a n; array s n; array z n; for k : 0 <= k < n { S1 : s[0] = s[0], a[k]; } S2 : s[0] = a[0];",
    ] {
        let old = handed(text);
        let made = carry::carry(&old, &dependences(&old).unwrap(), 0).unwrap().expect(text);
        let wrong = text.contains("z[k] = s");
        assert_eq!(!problems(&old, &made).is_empty(), wrong, "{text}");
    }
}

/// Mistakes of what is handed on are found.
#[test]
fn the_proof_of_what_is_handed_on_sees_mistakes() {
    let replaced = |text: &str, found: &str, change: &dyn Fn(&mut Made)| {
        let old = handed(text);
        let n = old.statements.iter().position(|s| s.name == "S1").unwrap();
        let mut made = carry::carry(&old, &dependences(&old).unwrap(), n).unwrap().expect(text);
        change(&mut made);
        let all = problems(&old, &made);
        assert!(all.iter().any(|p| p.contains(found)), "{found}: {all:?}");
    };
    let relation = |made: &mut Made, s: StmtId, access: usize, text: &str| {
        let text = format!("[n] -> {{ {}[] -> {text} }}", made.scop.statements[s.0].name);
        made.scop.statements[s.0].accesses[access].relation = isl::Map::read(&made.scop.ctx, &text).unwrap();
    };
    replaced(HANDED[0], "takes over another", &|m| {
        let s = m.loop_carried[0].before;
        relation(m, s, 0, "y[1]");
    });
    replaced(HANDED[2], "stores something else", &|m| {
        let s = m.loop_carried[0].behind.unwrap();
        relation(m, s, 1, "s[1]");
    });
    replaced(HANDED[0], "hands on what it did not", &|m| {
        m.scop.statements[0].accesses[1].relation =
            isl::Map::read(&m.scop.ctx, "[n] -> { S1[k] -> a[k + 1] }").unwrap();
    });
    replaced(HANDED[0], "hands on what it did not", &|m| {
        m.scop.statements[0].body.pop();
    });
    // A copy that runs behind the loop.
    replaced(HANDED[0], "takes over another", &|m| {
        let tree = crate::ScheduleTree::from_isl(&m.scop.schedule).unwrap();
        let crate::Tree::Sequence(mut order) = tree.root else { panic!() };
        order.reverse();
        let root = crate::Tree::Sequence(order);
        m.scop.schedule = crate::ScheduleTree { root, ..tree }.to_isl().unwrap();
    });
}
