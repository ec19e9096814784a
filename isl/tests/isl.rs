//! The safe layer: ownership, errors, budgets, callbacks, schedules and AST generation.

use pollyrs_isl::*;

type Outcome = std::result::Result<(), Error>;

#[test]
fn sets_compare_by_meaning() -> Outcome {
    let ctx = Context::new();
    let table = [
        ("[N] -> { S[i] : 0 <= i < N and N = 1 }", "[N] -> { S[0] : N = 1 }", true),
        ("{ S[i] : exists k : i = 2k and 0 <= i < 4 }", "{ S[0]; S[2] }", true),
        ("{ S[i] : 0 <= i < 4 }", "{ S[i] : 0 <= i < 5 }", false),
    ];
    for (a, b, equal) in table {
        assert_eq!(Set::read(&ctx, a)?.is_equal(&Set::read(&ctx, b)?)?, equal, "{a} {b}");
    }
    Ok(())
}

/// isl 0.27 takes `j >= i` and `i >= 0` for `0 <= i <= 0` where the constraints are in this order
/// (`c/sorted.c`).
#[test]
fn last_elements_do_not_depend_on_the_order_of_constraints() -> Outcome {
    let ctx = Context::new();
    let part = |text| Map::read(&ctx, text)?.range();
    let union =
        part("[n] -> { S[k, l] -> A[n - 1 - 2k, n - 1 - 2k + l] : 0 <= 2k < n and 0 <= l <= 2k - 2 }")?
            .union(part(
                "[n] -> { S[k, l] -> A[n - 1 - 2k, n - 2k + l] : 0 <= 2k < n and 0 <= l <= 2k - 2 }",
            )?)?;
    let last = Set::read(&ctx, "[n] -> { A[n - 3, n - 2] : n >= 3 }")?;
    for set in [union.clone(), union.coalesce()?] {
        assert!(set.clone().lexmax()?.is_equal(&last)?, "{}", set.lexmax()?);
        assert!(Set::from_pw_multi_aff(set.lexmax_pw_multi_aff()?)?.is_equal(&last)?);
    }
    Ok(())
}

#[test]
fn errors_come_back_and_leave_the_context_usable() -> Outcome {
    let ctx = Context::new();
    assert!(matches!(Set::read(&ctx, "{ S[i : }"), Err(Error::Failed(_))));
    assert!(matches!(Set::read(&ctx, "{ S[i] \0 }"), Err(Error::Argument(_))));
    let s = Set::read(&ctx, "{ S[i] }")?;
    let t = Set::read(&ctx, "{ T[i, j] }")?;
    assert!(matches!(s.clone().intersect(t), Err(Error::Failed(_))));
    assert!(!s.is_empty()?);
    Ok(())
}

#[test]
fn a_spent_budget_is_an_error_and_ends_with_its_guard() -> Outcome {
    let ctx = Context::new();
    let hard = || -> Outcome {
        let m = Map::read(
            &ctx,
            "[n] -> { [i, j] -> [k, l] : 0 <= i < n and 0 <= j < n and i + j <= k + 2l and 3k > l - i and j <= l and k < n and l < n }",
        )?;
        let n = m.clone().apply_range(m.clone())?.apply_range(m)?;
        n.lexmin()?;
        Ok(())
    };
    assert_eq!(ctx.with_budget(10, hard), Err(Error::Quota));
    assert_eq!(ctx.with_budget(0, hard), Ok(()));
    let outer = ctx.budget(5);
    assert_eq!(ctx.with_budget(0, hard), Err(Error::Quota));
    assert_eq!(ctx.with_budget(1 << 40, hard), Err(Error::Quota));
    drop(outer);
    hard()
}

#[test]
fn budgets_nest() -> Outcome {
    let ctx = Context::new();
    let work = || Set::read(&ctx, "{ S[i, j] : 0 <= i < 4 and i <= j < 9 }")?.is_empty();
    let before = ctx.operations();
    ctx.with_budget(0, work)?;
    let each = ctx.operations() - before;
    let outer = ctx.budget(5 * each);
    let mut done = 0;
    while ctx.with_budget(2 * each, work).is_ok() {
        done += 1;
    }
    assert!((3..=6).contains(&done), "{done} of {each} operations");
    assert_eq!(work(), Err(Error::Quota));
    drop(outer);
    assert_eq!(work(), Ok(false));
    Ok(())
}

/// Pivots of tables of long numbers: few operations to isl, and a second of work.
#[test]
fn arithmetic_on_vectors_counts() -> Outcome {
    let ctx = Context::new();
    let dense = |n: u64| {
        let sum = |row: u64| {
            let terms = (0..n).map(|c| format!("{}x{c}", (row * 7919 + c * 104729) % 99991 + 1));
            terms.collect::<Vec<_>>().join(" + ")
        };
        let rows = (0..n).map(|r| format!("{} <= {}y", sum(r), r + 12345)).collect::<Vec<_>>();
        let names = (0..n).map(|c| format!("x{c}")).collect::<Vec<_>>();
        format!("[y] -> {{ [{}] : {} }}", names.join(", "), rows.join(" and "))
    };
    let cost = |text: &str| -> std::result::Result<u64, Error> {
        let s = Set::read(&ctx, text)?;
        let before = ctx.operations();
        ctx.with_budget(0, || s.lexmin().map(drop).or(Ok::<_, Error>(())))?;
        Ok(ctx.operations() - before)
    };
    let (small, large) = (cost(&dense(4))?, cost(&dense(16))?);
    assert!(large > 16 * small, "{small} {large}");
    Ok(())
}

#[test]
fn values_beyond_64_bits_are_recognised() -> Outcome {
    let ctx = Context::new();
    let v = Val::int(&ctx, 1 << 62)?;
    assert_eq!(v.to_i64(), Some(1 << 62));
    let big = v.clone().mul(v)?;
    assert_eq!(big.to_i64(), None);
    assert_eq!(Val::read(&ctx, "1/2")?.to_i64(), None);
    Ok(())
}

#[test]
fn pieces_are_disjoint_and_complete() -> Outcome {
    let ctx = Context::new();
    let f = PwAff::read(&ctx, "{ [i] -> [(i)] : i >= 0; [i] -> [(-i)] : i < 0 }")?;
    let pieces = f.pieces()?;
    assert_eq!(pieces.len(), 2);
    assert!(pieces[0].0.is_disjoint(&pieces[1].0)?);
    let all = pieces[0].0.clone().union(pieces[1].0.clone())?;
    assert!(all.is_equal(&Set::read(&ctx, "{ [i] }")?)?);
    Ok(())
}

#[test]
fn objects_outlive_the_handle_of_their_context() -> Outcome {
    let s = {
        let ctx = Context::new();
        Set::read(&ctx, "{ S[i] : 0 <= i < 3 }")?
    };
    assert_eq!(s.lexmax()?.sample_point()?.coordinate(DimType::Set, 0)?.to_i64(), Some(2));
    Ok(())
}

#[test]
fn a_schedule_becomes_a_loop() -> Outcome {
    let ctx = Context::new();
    let schedule =
        Schedule::from_domain(UnionSet::read(&ctx, "[n] -> { S[i, j] : 0 <= i < n and 0 <= j <= i }")?)?
            .insert_partial_schedule(MultiUnionPwAff::read(
                &ctx,
                "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]",
            )?)?;
    let build = AstBuild::from_context(Set::read(&ctx, "[n] -> { : n >= 1 }")?)?;
    let outer = build.node_from_schedule(schedule)?;
    assert_eq!(outer.node_type()?, AstNodeType::For);
    let inner = outer.for_body()?;
    assert_eq!(inner.node_type()?, AstNodeType::For);
    let call = inner.for_body()?.user_expr()?;
    assert_eq!((call.op()?, call.n_arg()?, call.arg(0)?.id()?.name()), (AstOp::Call, 3, "S".to_string()));
    Ok(())
}

#[test]
fn dataflow_finds_the_last_writer() -> Outcome {
    let ctx = Context::new();
    let schedule = Schedule::from_domain(UnionSet::read(&ctx, "{ S[i] : 0 <= i < 9 }")?)?
        .insert_partial_schedule(MultiUnionPwAff::read(&ctx, "[{ S[i] -> [(i)] }]")?)?;
    let flow = UnionAccessInfo::from_sink(UnionMap::read(&ctx, "{ S[i] -> A[i - 1] }")?)?
        .set_must_source(UnionMap::read(&ctx, "{ S[i] -> A[i] }")?)?
        .set_schedule(schedule)?
        .compute_flow()?;
    let expected = UnionMap::read(&ctx, "{ S[i] -> S[i + 1] : 0 <= i < 8 }")?;
    assert!(flow.must_dependence()?.is_equal(&expected)?);
    Ok(())
}
