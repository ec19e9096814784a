//! Detection as a whole on small functions: domains, access relations, reasons.

use crate::testing::{Count, detected, function, to, with_analyses};
use crate::{DetectOptions, count_loops, detect};
use pollyrs_isl as isl;
use pollyrs_scop::{Access, AccessKind, AssumptionKind, Order, RejectReason, Scop};

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
    let table: [(&str, Reason); 9] = [
        // Whether the check fails is not known before the loop.
        ("%c = icmp sge i64 %i, %m; stop if %c; a[%i] = 1.0", |r| {
            matches!(r, RejectReason::LoopExits { .. })
        }),
        (
            "%s = mul nsw i64 %i, %i; a[%s] = 1.0",
            |r| matches!(r, RejectReason::Subscript { array, .. } if array == "a"),
        ),
        (
            "%x = load volatile double, ptr %b; a[%i] = %x",
            |r| matches!(r, RejectReason::OrderedAccess { order: Order::Volatile, object: Some(b) } if b == "b"),
        ),
        ("fence seq_cst; a[%i] = 1.0", |r| {
            matches!(r, RejectReason::OrderedAccess { order: Order::Fence, .. })
        }),
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

#[test]
fn shapes_are_those_of_the_index_polynomials() {
    let two = vec![to("i", "%n"), to("j", "%m")];
    let three = vec![to("i", "%n"), to("j", "%m"), to("k", "8")];
    let table = [
        (&two, "%r = mul nsw i64 %i, %m; %s = add nsw i64 %r, %j; a[%s] = 1.0", vec!["[m] -> { [(m)] }"]),
        // Nothing keeps j within a row.
        (&two, "%r = mul nsw i64 %i, 100; %s = add nsw i64 %r, %j; a[%s] = 1.0", vec![]),
        // A column of the rows' end.
        (
            &two,
            "%r = mul nsw i64 %i, %m; %s = add nsw i64 %r, %j; %u = add nsw i64 %s, -1; a[%u] = 1.0",
            vec!["[m] -> { [(m)] }"],
        ),
        (
            &three,
            "%r = mul nsw i64 %i, %m; %s = add nsw i64 %r, %j; %u = mul nsw i64 %s, 8; %v = add nsw i64 %u, %k; a[%v] = 1.0",
            vec!["[m] -> { [(m)] }", "{ [(8)] }"],
        ),
        (
            &two,
            "%p = getelementptr inbounds [40 x double], ptr %a, i64 %i, i64 %j; store double 1.0, ptr %p",
            vec!["{ [(40)] }"],
        ),
        (&two, "%s = add nsw i64 %i, %j; a[%s] = 1.0", vec![]),
    ];
    for (loops, body, inner) in table {
        let s = scop(loops, body);
        let array = s.arrays.iter().find(|a| a.display == "a").unwrap();
        assert_eq!(array.sizes.len(), 1 + inner.len(), "{body}: {s}");
        assert!(array.sizes[0].is_none(), "{body}");
        for (size, expected) in array.sizes[1..].iter().zip(inner) {
            let expected = isl::PwAff::read(&s.ctx, expected).unwrap();
            let size = size.clone().unwrap();
            let same = size.clone().eq_set(expected).unwrap();
            assert!(same.is_equal(&size.domain().unwrap()).unwrap(), "{body}: {s}");
        }
    }
}

#[test]
fn conditions_restrict_domains() {
    let table = [
        ("%c = icmp slt i64 %i, 5", "[n] -> { S1[i] : 0 <= i < 5 and i < n }"),
        ("%c = icmp sge i64 %i, %m", "[n, m] -> { S1[i] : 0 <= i < n and i >= m }"),
        ("%c = icmp eq i64 %i, %m", "[n, m] -> { S1[i] : 0 <= i < n and i = m }"),
        ("%c = icmp ne i64 %i, 3", "[n] -> { S1[i] : 0 <= i < n and i != 3 }"),
        ("%u = and i64 %i, 1; %c = icmp eq i64 %u, 0", "[n] -> { S1[i] : 0 <= i < n and i mod 2 = 0 }"),
        ("%u = urem i64 %i, 3; %c = icmp eq i64 %u, 2", "[n] -> { S1[i] : 0 <= i < n and i mod 3 = 2 }"),
        (
            "%d = icmp sgt i64 %i, 2; %e = icmp slt i64 %i, %m; %c = and i1 %d, %e",
            "[n, m] -> { S1[i] : 0 <= i < n and 2 < i < m }",
        ),
        (
            "%d = icmp slt i64 %i, 2; %e = icmp sgt i64 %i, %m; %c = select i1 %d, i1 true, i1 %e",
            "[n, m] -> { S1[i] : 0 <= i < n and (i < 2 or i > m) }",
        ),
    ];
    for (condition, domain) in table {
        let s = scop(&[to("i", "%n")], &format!("a[%i] = 1.0; {condition}; if %c: b[%i] = 2.0"));
        let array = s.arrays.iter().position(|a| a.display == "b").unwrap();
        let statement = s.statements.iter().find(|s| s.accesses.iter().any(|a| a.array.0 == array)).unwrap();
        let expected = isl::Set::read(&s.ctx, domain).unwrap();
        let own = statement.domain.clone().reset_tuple_id().unwrap();
        let expected = expected.reset_tuple_id().unwrap().intersect_params(s.facts().unwrap()).unwrap();
        let own = own.intersect_params(s.facts().unwrap()).unwrap();
        assert!(own.is_equal(&expected).unwrap(), "{domain}: {s}");
    }
}

/// Kind, and the parameters for which the assumption holds.
type Assumed = (AssumptionKind, &'static str);

#[test]
fn assumptions_are_what_the_program_does_not_say() {
    use AssumptionKind::*;
    let row = vec![to("i", "%n")];
    let table: [(&str, &[Assumed]); 2] = [
        ("a[%i] = 1.0", &[]),
        // A sum of 32 bits that may wrap.
        (
            "%k = trunc i64 %i to i32; %l = add i32 %k, 5; %s = sext i32 %l to i64; a[%s] = 1.0",
            &[(NoWrap, "[n] -> { : n <= 2147483643 }")],
        ),
    ];
    for (body, expected) in table {
        let s = scop(&row, body);
        let kinds: Vec<_> = s.assumptions.iter().map(|a| a.kind).collect();
        assert_eq!(kinds, expected.iter().map(|e| e.0).collect::<Vec<_>>(), "{body}: {s}");
        let runs = isl::Set::read(&s.ctx, "[n] -> { : n >= 1 }").unwrap();
        let runs = runs.intersect(s.facts().unwrap()).unwrap();
        for (a, (_, expected)) in s.assumptions.iter().zip(expected) {
            let expected = isl::Set::read(&s.ctx, expected).unwrap().intersect(runs.clone()).unwrap();
            let own = a.set.clone().intersect(runs.clone()).unwrap();
            assert!(own.is_equal(&expected).unwrap(), "{body}: {s}");
        }
    }
}

#[test]
fn what_data_chooses_is_bounded_or_refused() {
    let number = "%p = getelementptr inbounds i32, ptr %t, i64 %i; %v = load i32, ptr %p";
    let real = "%y = b[%i]";
    let of = |how: &str| format!("{how}; %x = a[%w]; store double %x, ptr %b");
    // What is read of `a`, by body, if it is bounded.
    let table = [
        (of(&format!("{number}; %u = urem i32 %v, 10; %w = zext i32 %u to i64")), Some("0 <= c <= 9")),
        (of(&format!("{number}; %u = lshr i32 %v, 28; %w = zext i32 %u to i64")), Some("0 <= c <= 15")),
        (of(&format!("{number}; %u = trunc i32 %v to i8; %w = sext i8 %u to i64")), Some("-128 <= c <= 127")),
        (
            of(&format!(
                "{number}; %u = call i32 @llvm.smax.i32(i32 %v, i32 0); %l = call i32 @llvm.smin.i32(i32 %u, i32 7); \
                 %w = zext i32 %l to i64"
            )),
            Some("0 <= c <= 7"),
        ),
        // Rounded from a number that the host looks at: as far as addresses reach.
        (
            of(&format!("{real}; %w = fptosi double %y to i64")).replace("ptr %b", "ptr %t"),
            Some("-70368744177664 <= c <= 70368744177664"),
        ),
        // Each iteration chooses anew what the next one reads.
        (of("%w = load i64, ptr %b"), None),
    ];
    for (body, expected) in table {
        let found = detected(&[to("i", "%n")], &body);
        let s = found.scops.first();
        let read = s.and_then(|s| {
            let array = s.arrays.iter().position(|a| a.display == "a")?;
            let a = s.statements.iter().flat_map(|s| &s.accesses).find(|a| a.array.0 == array)?;
            Some((s, a))
        });
        match (read, expected) {
            (Some((s, a)), Some(range)) => {
                let expected = isl::Set::read(&s.ctx, &format!("{{ a[c] : {range} }}")).unwrap();
                let domain = s.statements[0].domain.clone();
                let own = a.relation.clone().intersect_domain(domain).unwrap().range().unwrap();
                let own = own.intersect_params(s.context.clone()).unwrap();
                let own = s.assumptions.iter().fold(own, |o, a| o.intersect_params(a.set.clone()).unwrap());
                let own = own.project_out(isl::DimType::Param, 0, s.params.len() as u32).unwrap();
                assert!(own.is_subset(&expected).unwrap() && !own.is_empty().unwrap(), "{body}: {s}");
            }
            (read, expected) => {
                assert_eq!(
                    read.is_some(),
                    expected.is_some(),
                    "{body}: {:?} {:?}",
                    found.rejections,
                    s.map(|s| s.to_string())
                );
            }
        }
    }
}

#[test]
fn what_was_tried_is_not_tried_again() {
    let nest = [to("i", "%n"), to("j", "%m")];
    // (body, SCoPs, loops in them)
    let table = [
        ("a[%j] = 1.0", 1, 2),
        ("%q = mul nsw i64 %j, %j; a[%q] = 1.0", 0, 0),
        ("%c = fcmp ogt double 1.0, 2.0; if %c: a[%j] = 1.0", 1, 2),
    ];
    for (body, scops, loops) in table {
        with_analyses(&function(&nest, body), |analyses| {
            let options = DetectOptions::default();
            let first = detect(analyses, &options);
            assert_eq!(first.scops.len(), scops, "{body}");
            assert!(first.operations > 0 && !first.cut, "{body}");
            assert_eq!(count_loops(analyses, &options), (loops, 0), "{body}");
            // What was found is made again, what was tried in vain is not.
            let second = detect(analyses, &options);
            assert_eq!(second.operations > 0, scops > 0, "{body}");
            assert_eq!((second.to_string(), second.cut), (first.to_string(), false), "{body}");
            assert_eq!(count_loops(analyses, &DetectOptions::default()).0, loops, "{body}");
        });
    }
}

#[test]
fn an_attempt_that_ended_at_its_limit_is_made_again_with_more() {
    with_analyses(&function(&[to("i", "%n")], "a[%i] = 1.0"), |analyses| {
        let few = DetectOptions { isl_operations: 10, ..DetectOptions::default() };
        let found = detect(analyses, &few);
        assert!(found.cut && found.scops.is_empty() && found.operations > 0);
        let again = detect(analyses, &few);
        assert!(again.cut && again.operations == 0, "{again}");
        let more = DetectOptions { tried: few.tried.clone(), ..DetectOptions::default() };
        let found = detect(analyses, &more);
        assert!(!found.cut && found.scops.len() == 1, "{found}");
    });
}

#[test]
fn nests_that_are_not_deep_have_less() {
    let (flat, plane, deep) = (
        vec![to("i", "%n")],
        vec![to("i", "%n"), to("j", "%m")],
        vec![to("i", "%n"), to("k", "%n"), to("j", "%m")],
    );
    let few = DetectOptions::default;
    // (nest, limits, whether an attempt ended at its limit, loops that are found)
    let table = [
        (&flat, DetectOptions { plane_operations: 10, ..few() }, false, 1),
        (&flat, DetectOptions { flat_operations: 10, ..few() }, true, 0),
        (&plane, DetectOptions { flat_operations: 10, ..few() }, false, 2),
        // The inner loop is tried by itself.
        (&plane, DetectOptions { plane_operations: 10, ..few() }, true, 1),
        (&deep, DetectOptions { flat_operations: 10, plane_operations: 10, ..few() }, false, 3),
    ];
    for (n, (nest, options, cut, loops)) in table.into_iter().enumerate() {
        let last = nest.last().unwrap().name;
        with_analyses(&function(nest, &format!("a[%{last}] = 1.0")), |analyses| {
            let found = detect(analyses, &options);
            let found_loops: usize = found.scops.iter().map(|s| s.loops.len()).sum();
            assert_eq!((found.cut, found_loops), (cut, loops), "{n}: {found}");
        });
    }
}
