use super::*;

/// The SCoP of `text`, whose statements `S1`, `S2`, ... are sums of their first read.
fn sums(text: &str, count: usize) -> Scop {
    let mut s = scop(text);
    for at in 1..=count {
        let (n, _) = s.statement_named(&format!("S{at}")).unwrap();
        let statement = &mut s.statements[n.0];
        let write = statement.accesses.iter().position(|a| a.kind == AccessKind::MustWrite).unwrap();
        statement.reduction = Some(crate::testing::sum(write));
    }
    s
}

/// Launches with those of several reductions joined, proved, and without.
fn launches(text: &str, count: usize) -> [usize; 2] {
    [true, false].map(|fuse| {
        let s = sums(text, count);
        let d = dependences(&s).unwrap();
        let done = schedule(s, d, &strategy::ScheduleOptions { fuse, ..Default::default() }).unwrap();
        let mapped = crate::map(&done.scop, &done.deps, &done.tree, &Default::default()).unwrap();
        assert!(crate::check(&done.scop, &done.deps, &mapped).unwrap().is_empty(), "{text}");
        mapped.kernels.len()
    })
}

#[test]
fn reductions_of_equal_shape_share_launches() {
    let table = [
        // One chain: start, three levels, the end.
        ("param n; array a n; array o n; scalar s; S0 : s[] = ; for k : 0 <= k < n { S1 : s[] = s[], a[k]; } S9 : o[0] = s[];", 1, [5, 6]),
        // Two of one loop.
        (
            "param n; array a n; array o n; scalar s; scalar q; S0 : s[] = ; S8 : q[] = ;
             for k : 0 <= k < n { S1 : s[] = s[], a[k]; S2 : q[] = q[], a[k]; } S9 : o[0] = s[], q[];",
            2,
            [5, 10],
        ),
        // Of loops one after the other.
        (
            "param n; array a n; array b n; array o n; scalar s; scalar q; S0 : s[] = ; S8 : q[] = ;
             for k : 0 <= k < n { S1 : s[] = s[], a[k]; } for k : 0 <= k < n { S2 : q[] = q[], b[k]; } S9 : o[0] = s[], q[];",
            2,
            [5, 10],
        ),
        // The second one needs what the first one comes to.
        (
            "param n; array a n; array o n; scalar s; scalar q; S0 : s[] = ;
             for k : 0 <= k < n { S1 : s[] = s[], a[k]; } S8 : q[] = s[];
             for k : 0 <= k < n { S2 : q[] = q[], a[k], s[]; } S9 : o[0] = s[], q[];",
            2,
            [9, 11],
        ),
        // Loops of different lengths: only the end is one thread's.
        (
            "param n m; array a n; array b m; array o n; scalar s; scalar q; S0 : s[] = ; S8 : q[] = ;
             for k : 0 <= k < n { S1 : s[] = s[], a[k]; } for k : 0 <= k < m { S2 : q[] = q[], b[k]; } S9 : o[0] = s[], q[];",
            2,
            [9, 10],
        ),
    ];
    let found = table.map(|(text, count, _)| launches(text, count));
    assert_eq!(found, table.map(|(_, _, expected)| expected));
}
