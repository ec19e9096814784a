//! Detection as a whole on small functions: domains, access relations, reasons.

use crate::testing::{Count, detected, to};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, RejectReason, Scop};

/// The one SCoP of a function.
fn scop(loops: &[Count<'_>], body: &str) -> Scop {
    let mut found = detected(loops, body);
    assert_eq!((found.scops.len(), found.rejections.len()), (1, 0), "{body}: {:?}", found.rejections);
    found.scops.remove(0)
}

#[test]
fn domains_are_the_iterations() {
    let from = |first, end, step| vec![Count { name: "i", first, end, step }];
    let table = [
        (from("0", "%n", 1), "[n] -> { S0[i] : 0 <= i < n }"),
        // Iterators count from 0, by 1.
        (from("3", "%n", 2), "[n] -> { S0[i] : 0 <= i and 3 + 2i < n }"),
        (from("%m", "%n", 1), "[m, n] -> { S0[i] : 0 <= i < n - m }"),
        (from("-2", "%n", 1), "[n] -> { S0[i] : 0 <= i < n + 2 }"),
        (from("0", "%n", 7), "[n] -> { S0[i] : 0 <= 7i < n }"),
        (vec![to("i", "%n"), to("j", "%i")], "[n] -> { S0[i, j] : 0 <= j < i < n }"),
        (
            vec![to("i", "%n"), Count { name: "j", first: "%i", end: "%m", step: 1 }],
            "[n, m] -> { S0[i, j] : 0 <= i < n and 0 <= j < m - i }",
        ),
    ];
    for (loops, domain) in table {
        let s = scop(&loops, &format!("a[%{}] = 1.0", loops.last().unwrap().name));
        let expected = isl::Set::read(&s.ctx, domain).unwrap();
        assert!(s.statements[0].domain.is_equal(&expected).unwrap(), "{domain}: {s}");
    }
}

#[test]
fn accesses_touch_what_the_program_does() {
    let (rows, row) = (vec![to("i", "%n"), to("j", "%m")], vec![to("i", "%n")]);
    let by_m = "%r = mul nsw i64 %i, %m; %s = add nsw i64 %r, %j; a[%s] = 1.0";
    let by_8 = "%r = mul nsw i64 %i, 8; %s = add nsw i64 %r, 3; a[%s] = 1.0";
    let number = "%p = getelementptr inbounds i32, ptr %t, i64 %i; %v = load i32, ptr %p";
    let masked = format!("{number}; %u = and i32 %v, 255; %w = zext i32 %u to i64");
    let table = [
        (&row, "a[%i] = 1.0".into(), AccessKind::MustWrite, "[n] -> { S0[i] -> a[i] : 0 <= i < n }"),
        (&row, "%x = b[5]; a[%i] = %x".into(), AccessKind::Read, "[n] -> { S0[i] -> b[5] : 0 <= i < n }"),
        (
            &rows,
            by_m.into(),
            AccessKind::MustWrite,
            "[n, m] -> { S0[i, j] -> a[i, j] : 0 <= i < n and 0 <= j < m }",
        ),
        (&row, by_8.into(), AccessKind::MustWrite, "[n] -> { S0[i] -> a[i, 3] : 0 <= i < n }"),
        // Data chooses among what it may be.
        (
            &row,
            format!("{masked}; %x = b[%w]; a[%i] = %x"),
            AccessKind::Read,
            "[n] -> { S0[i] -> b[c] : 0 <= i < n and 0 <= c <= 255 }",
        ),
        (
            &row,
            format!("{number}; %w = sext i32 %v to i64; %x = b[%w]; a[%i] = %x"),
            AccessKind::Read,
            "[n, t_min, t_max] -> { S0[i] -> b[c] : 0 <= i < n and t_min <= c <= t_max }",
        ),
    ];
    for (loops, body, kind, relation) in table {
        let s = scop(loops, &body);
        let statement = &s.statements[0];
        let expected = isl::Map::read(&s.ctx, relation).unwrap();
        let matches = |a: &&Access| {
            let touched = a.relation.clone().intersect_domain(statement.domain.clone()).unwrap();
            a.kind == kind && touched.is_equal(&expected).unwrap()
        };
        assert_eq!(statement.accesses.iter().filter(matches).count(), 1, "{relation}: {s}");
    }
}

#[test]
fn what_is_no_scop_has_its_reason() {
    type Reason = fn(&RejectReason) -> bool;
    let table: [(&str, Reason); 8] = [
        (
            "%s = mul nsw i64 %i, %i; a[%s] = 1.0",
            |r| matches!(r, RejectReason::Subscript { array, .. } if array == "a"),
        ),
        (
            "%x = load volatile double, ptr %b; a[%i] = %x",
            |r| matches!(r, RejectReason::OrderedAccess { object: Some(b) } if b == "b"),
        ),
        ("fence seq_cst; a[%i] = 1.0", |r| matches!(r, RejectReason::OrderedAccess { object: None })),
        (
            "call void @other(); a[%i] = 1.0",
            |r| matches!(r, RejectReason::Call { callee } if callee == "other"),
        ),
        (
            "%x = call double @unknown(double 1.0); a[%i] = %x",
            |r| matches!(r, RejectReason::Call { callee } if callee == "unknown"),
        ),
        ("call void asm sideeffect \"\", \"\"(); a[%i] = 1.0", |r| matches!(r, RejectReason::InlineAssembly)),
        (
            "store float 1.0, ptr %a; a[%i] = 1.0",
            |r| matches!(r, RejectReason::ElementType { array, .. } if array == "a"),
        ),
        ("%x = load fp128, ptr %b; %y = fptrunc fp128 %x to double; a[%i] = %y", |r| {
            matches!(r, RejectReason::Type { .. })
        }),
    ];
    for (body, is_reason) in table {
        let found = detected(&[to("i", "%n")], body);
        assert_eq!(found.scops.len(), 0, "{body}");
        assert!(
            matches!(&found.rejections[..], [r] if is_reason(&r.reason)),
            "{body}: {:?}",
            found.rejections
        );
    }
}
