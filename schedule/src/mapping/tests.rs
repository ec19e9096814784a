use super::*;
use crate::mapped::Placement;
use crate::testing::{KERNELS, kernel, scop, scop_i32};
use pollyrs_scop::StmtId;

/// Mapped with one point a thread.
pub(super) fn mapped(s: &Scop) -> MappedScop {
    mapped_with(s, &MapOptions { tiling: None, ..Default::default() })
}

/// Mapped and proved.
pub(super) fn mapped_with(s: &Scop, options: &MapOptions) -> MappedScop {
    let deps = crate::dependences(s).unwrap();
    let tree = crate::schedule(s, &deps, &Default::default()).unwrap();
    let m = map(s, &deps, &tree, options).unwrap();
    let violations = crate::check(s, &deps, &m).unwrap();
    assert!(violations.is_empty(), "{}", violations[0]);
    m
}

/// The code isl makes of a kernel's schedule, without white space.
fn code(k: &MappedKernel) -> String {
    let build = isl::AstBuild::from_context(k.context.clone()).unwrap();
    flat(&build.node_from_schedule(k.schedule.clone()).unwrap().to_string())
}

fn host_code(m: &MappedScop) -> String {
    let build = isl::AstBuild::new(m.host.context()).unwrap();
    flat(&build.node_from_schedule(m.host.clone()).unwrap().to_string())
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn blocks(k: &MappedKernel) -> Vec<u32> {
    k.block.iter().map(|b| b.size).collect()
}

#[test]
fn gemm() {
    let m = mapped(&kernel("gemm"));
    assert_eq!(host_code(&m), "if (n >= 1 && m >= 1) { K0(); if (k >= 1) K1(); }");
    assert_eq!(blocks(&m.kernels[1]), [8, 32]);
    assert_eq!(
        code(&m.kernels[1]),
        "if (n >= 8 * _b0 + _t0 + 1 && m >= 32 * _b1 + _t1 + 1) for (int c0 = 0; c0 < k; c0 += 1) \
         S1(8 * _b0 + _t0, c0, 32 * _b1 + _t1);"
    );
    let count = isl::PwAff::read(m.host.context(), "[n, m, k] -> { [(floor((m + 31) / 32))] }").unwrap();
    let runs = isl::Set::read(m.host.context(), "[n, m, k] -> { : n >= 1 and m >= 1 and k >= 1 }").unwrap();
    let got = m.kernels[1].grid[1].count.clone().intersect_params(runs.clone()).unwrap();
    assert!(got.is_equal(&count.intersect_params(runs).unwrap()).unwrap());
}

#[test]
fn time_loops_stay_on_the_host() {
    let m = mapped(&kernel("heat-3d"));
    assert_eq!(host_code(&m), "if (n >= 3) for (int c0 = 0; c0 < t; c0 += 1) { K0(c0); K1(c0); }");
    assert_eq!(blocks(&m.kernels[0]), [1, 4, 32]);
    let c = code(&m.kernels[0]);
    assert!(c.starts_with("if (") && !c.contains("for"), "{c}");
    assert!(c.ends_with("S0(_h0, _b0, 4 * _b1 + _t1, 32 * _b2 + _t2);"), "{c}");
}

#[test]
fn interchange_and_distribution() {
    let m = mapped(&kernel("atax"));
    assert_eq!(
        code(&m.kernels[2]),
        "if (m >= 64 * _b0 + _t0 + 1) for (int c0 = 0; c0 < n; c0 += 1) S3(c0, 64 * _b0 + _t0);"
    );
}

#[test]
fn triangular_solve_on_the_host() {
    let m = mapped(&kernel("trisolv"));
    assert_eq!(
        host_code(&m),
        "{ if (n >= 1) K0(); for (int c0 = 0; c0 < n; c0 += 1) { K1(c0); if (n >= c0 + 2) K2(c0); } }"
    );
    assert_eq!(code(&m.kernels[1]), "S2(_h0);");
}

#[test]
fn wavefront() {
    let s = kernel("seidel-2d");
    let tiles = mapped(&s);
    assert!(tiles.kernels[0].steps().is_some() && tiles.kernels[0].windows().len() == 1);
    let m = mapped_with(&s, &MapOptions { tiling: None, waves: None, ..Default::default() });
    let c = code(&m.kernels[0]);
    assert!(!c.contains("for"), "{c}");
    // At one front, the next time step is four elements away, the next row a row.
    assert!(c.contains("S0(32 * _b1 + _t1, 8 * _b0 + _t0, "), "{c}");
}

#[test]
fn adjacent_threads_adjacent_addresses() {
    // The stride-one loop is x although it is the outer one in the program.
    let s =
        scop("param n m; array A m n; for i : 0 <= i < n { for j : 0 <= j < m { S0 : A[j,i] = A[j,i]; } }");
    let c = code(&mapped(&s).kernels[0]);
    assert!(c.ends_with("S0(32 * _b1 + _t1, 8 * _b0 + _t0);"), "{c}");
}

#[test]
fn four_parallel_loops() {
    let s = scop(
        "param n c h w; array A n c h w;
         for a : 0 <= a < 2 { for b : 0 <= b < c { for y : 0 <= y < h { for x : 0 <= x < w { S0 : A[a,b,y,x] = A[a,b,y,x]; } } } }",
    );
    let c = code(&mapped(&s).kernels[0]);
    assert!(c.ends_with("S0(_b0, _b1, 4 * _b2 + _t2, 32 * _b3 + _t3);"), "{c}");
}

#[test]
fn short_loops_get_few_threads() {
    for (x, c, expected) in
        [("w", 3, [1, 32, 4]), ("2", 4, [16, 2, 4]), ("2", 2, [32, 2, 2]), ("1", 2, [256, 1, 2])]
    {
        let s = scop(&format!(
            "param h w; array A h {x} {c}; for y : 0 <= y < h {{ for x : 0 <= x < {x} {{ for c : 0 <= c < {c} {{ S0 : A[y,x,c] = A[y,x,c]; }} }} }}"
        ));
        assert_eq!(blocks(&mapped(&s).kernels[0]), expected, "{x} {c}");
    }
}

#[test]
fn blocks_that_no_device_takes() {
    let s = scop(
        "param n; array A n n n; for i : 0 <= i < n { for j : 0 <= j < n { for k : 0 <= k < n { S0 : A[i,j,k] = ; } } }",
    );
    let deps = crate::dependences(&s).unwrap();
    let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
    for (threads, taken) in
        [([64, 2, 2], true), ([128, 2, 2], false), ([128, 1, 4], true), ([32, 8, 8], false)]
    {
        let options =
            MapOptions { threads: [vec![256], vec![8, 32], threads.to_vec()], ..Default::default() };
        assert_eq!(map(&s, &deps, &tree, &options).is_ok(), taken, "{threads:?}");
    }
}

#[test]
fn larger_tiles() {
    let s = kernel("gemm");
    let deps = crate::dependences(&s).unwrap();
    let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
    let options =
        MapOptions { points: [vec![1], vec![2, 1], vec![1, 1, 1]], tiling: None, ..Default::default() };
    let m = map(&s, &deps, &tree, &options).unwrap();
    let c = code(&m.kernels[0]);
    assert!(c.contains("for") && c.contains("c0 += 8"), "{c}");
}

#[test]
fn accumulators_are_private() {
    let s = scop(
        "param n m k; array C n m; array A n k; array B k m; phi acc n m; scalar last n m;
         for i : 0 <= i < n { for j : 0 <= j < m {
           S0 : acc[i,j] = C[i,j];
           for l : 0 <= l < k { S1 : acc[i,j], last[i,j] = acc[i,j], A[i,l], B[l,j]; }
           S2 : C[i,j] = acc[i,j], last[i,j];
         } }",
    );
    let m = mapped(&s);
    assert_eq!(m.kernels.len(), 1);
    assert_eq!(m.placement[3..], [Placement::Private, Placement::Private]);
}

#[test]
fn live_out_and_shared_scalars_are_global() {
    let s = scop(
        "param n; array A n; scalar x; scalar y n live_out; S0 : x[] = A[0]; for i : 0 <= i < n { S1 : A[i], y[i] = x[]; }",
    );
    assert!(mapped(&s).placement.iter().all(|p| *p == Placement::Global));
}

#[test]
fn nothing_parallel() {
    let s = scop("param n; array A n; for i : 1 <= i < n { S0 : A[i] = A[i-1]; }");
    let deps = crate::dependences(&s).unwrap();
    let tree = ScheduleTree::from_isl(&s.schedule).unwrap();
    assert_eq!(map(&s, &deps, &tree, &Default::default()).unwrap_err(), ScheduleError::NoParallelism);
    assert_eq!(crate::schedule(&s, &deps, &Default::default()).unwrap_err(), ScheduleError::NoParallelism);
}

#[test]
fn budgets_are_reported() {
    let s = kernel("heat-3d");
    let deps = crate::dependences(&s).unwrap();
    let options = crate::ScheduleOptions { budget: 100, ..Default::default() };
    assert_eq!(crate::schedule(&s, &deps, &options).unwrap_err(), ScheduleError::Budget("scheduling"));
    let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
    let options = MapOptions { budget: 100, ..Default::default() };
    assert_eq!(map(&s, &deps, &tree, &options).unwrap_err(), ScheduleError::Budget("mapping"));
    let m = map(&s, &deps, &tree, &Default::default()).unwrap();
    let e = crate::legality::check_within(&s, &deps, &m, 100).unwrap_err();
    assert_eq!(e, ScheduleError::Budget("checking"));
}

/// Parameters as detection knows them, everything twice: the text must not depend on the run.
#[test]
fn ranges_of_types_and_determinism() {
    for (name, text) in KERNELS {
        let print = || {
            let s = scop_i32(text);
            let t = std::time::Instant::now();
            let m = mapped(&s);
            (m.to_string(), t.elapsed(), m)
        };
        let (a, time, m) = print();
        println!("{name} {time:?}");
        assert_eq!(a, print().0, "{name}");
        for k in &m.kernels {
            assert!(!code(k).contains("2147"), "{name} {}", code(k));
            for g in &k.grid {
                assert!(!g.count.to_string().contains("2147"), "{name} {}", g.count);
            }
        }
    }
}
/// Many statements in one body, as unrolled or inlined code has: still within the budget.
#[test]
fn many_statements() {
    let mut text =
        String::from("param n t; array A n n; array B n n; scalar x n n 24; for s : 0 <= s < t { ");
    text += "for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 { S0 : x[i,j,0] = A[i,j]; ";
    for k in 1..24 {
        text += &format!("S{k} : x[i,j,{k}] = x[i,j,{}], A[i-1,j], A[i,j+1]; ", k - 1);
    }
    text += "S24 : B[i,j] = x[i,j,23]; } } for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 { S25 : A[i,j] = B[i,j]; } } }";
    let t = std::time::Instant::now();
    let m = mapped(&scop_i32(&text));
    println!("{:?}", t.elapsed());
    assert_eq!(m.kernels.len(), 2);
}

/// Random loop nests: whatever is mapped is proved legal and has code.
#[test]
fn random_nests() {
    let mut seed = 1u64;
    let mut mapped = 0;
    for case in 0..RANDOM_CASES {
        let text = random_nest(&mut seed);
        let s = scop(&text);
        let deps = crate::dependences(&s).unwrap();
        let tree = match crate::schedule(&s, &deps, &Default::default()) {
            Ok(t) => t,
            Err(ScheduleError::NoParallelism | ScheduleError::Budget(_)) => continue,
            Err(e) => panic!("{case}: {e}\n{text}"),
        };
        let m = match map(&s, &deps, &tree, &Default::default()) {
            Ok(m) => m,
            Err(ScheduleError::Budget(_)) => continue,
            Err(e) => panic!("{case}: {e}\n{text}"),
        };
        let v = crate::check(&s, &deps, &m).unwrap();
        assert!(v.is_empty(), "{case}: {}\n{text}\n{m}", v[0]);
        host_code(&m);
        m.kernels.iter().for_each(|k| drop(code(k)));
        for (i, a) in s.arrays.iter().enumerate() {
            if a.is_memory() {
                crate::footprint(&s, &deps, pollyrs_scop::ArrayId(i)).unwrap();
            }
        }
        crate::work(&s, &tree, &vec![1.0; s.statements.len()]).unwrap();
        mapped += 1;
    }
    assert!(mapped * 2 > RANDOM_CASES, "{mapped}");
}

const RANDOM_CASES: usize = 60;

fn next(seed: &mut u64, n: u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) % n
}

fn random_nest(seed: &mut u64) -> String {
    let mut out =
        String::from("param n m; context n >= 0; array A n n; array B n n; array C n; phi p n; scalar q; ");
    let mut statements = 0;
    for _ in 0..1 + next(seed, 2) {
        random_loop(seed, &mut out, &mut vec![], &mut statements);
    }
    out
}

fn random_loop(seed: &mut u64, out: &mut String, its: &mut Vec<String>, statements: &mut usize) {
    let it = format!("i{}", its.len());
    let (lower, upper) = match (its.last(), next(seed, 4)) {
        (Some(o), 0) => (o.clone(), "n".to_string()),
        (Some(o), 1) => ("0".into(), o.clone()),
        (_, 2) => ("1".into(), "m - 1".into()),
        _ => ("0".into(), "n".into()),
    };
    *out += &format!("for {it} : {lower} <= {it} < {upper} {{ ");
    its.push(it);
    for _ in 0..1 + next(seed, 2) {
        if its.len() < 3 && next(seed, 3) > 0 {
            random_loop(seed, out, its, statements);
        } else {
            let kind = if next(seed, 8) == 0 { "?=" } else { "=" };
            let write = random_access(seed, its);
            let reads: Vec<_> = (0..1 + next(seed, 2)).map(|_| random_access(seed, its)).collect();
            *out += &format!("S{statements} : {write} {kind} {}; ", reads.join(", "));
            *statements += 1;
        }
    }
    its.pop();
    *out += "} ";
}

fn random_access(seed: &mut u64, its: &[String]) -> String {
    let subscript = |seed: &mut u64| {
        let it = &its[next(seed, its.len() as u64) as usize];
        match next(seed, 6) {
            0 => format!("{it} + 1"),
            1 => format!("{it} - 1"),
            2 => format!("n - {it}"),
            _ => it.clone(),
        }
    };
    match next(seed, 8) {
        0 => format!("C[{}]", subscript(seed)),
        1 => format!("p[{}]", its[0]),
        2 if next(seed, 3) == 0 => "q[]".into(),
        k => format!("{}[{}, {}]", if k % 2 == 0 { "A" } else { "B" }, subscript(seed), subscript(seed)),
    }
}

/// The code of a tiling.
fn tiled_code(k: &MappedKernel) -> String {
    let t = k.tiling().unwrap();
    let build = isl::AstBuild::from_context(t.context.clone()).unwrap();
    flat(&build.node_from_schedule(t.schedule.clone()).unwrap().to_string())
}

#[test]
fn register_tiles_and_operand_tiles() {
    let m = mapped_with(&kernel("gemm"), &MapOptions::default());
    let tiled: Vec<_> = m.kernels.iter().filter(|k| k.tiling().is_some_and(|t| !t.unrolled)).collect();
    // One for each shape of tiles, one for few results that are long sums, two for many points along one
    // member.
    assert_eq!(tiled.len(), 5);
    assert_eq!(m.choices.len(), 1);
    assert_eq!(m.choices[0].kernels.len(), 2);
    let k = tiled[0];
    assert_eq!(blocks(k), [16, 16]);
    let t = k.tiling().unwrap();
    assert_eq!(t.registers.len(), 1);
    assert_eq!(t.operand_tiles.len(), 1);
    let sizes: Vec<_> = t.operand_tiles[0].groups.iter().map(|g| (g.size.clone(), g.order.clone())).collect();
    let (y, x) = (16 * t.dims[0].points, 16 * t.dims[1].points);
    assert_eq!(sizes, [(vec![y, 8], vec![1, 0]), (vec![8, x], vec![0, 1])]);
    let c = tiled_code(k);
    assert!(c.contains("_copy0(c0); for (int c1 = c0;") && c.ends_with("S1(_v0, c1, _v1); }"), "{c}");
    // The first tiles by the one, what is left by the other; what is done with first is the smaller part.
    assert!(m.choices[0].cut.is_some());
    assert_eq!(m.kernels.iter().map(|k| k.host_params.len()).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 0, 0, 0]);
    let code = host_code(&m);
    assert!(code.contains("else") && code.contains("_c"), "{code}");
}

#[test]
fn late_tiles_have_plain_kernels_beside_them() {
    let now = mapped_with(&kernel("gemm"), &MapOptions::default());
    let late = mapped_with(&kernel("gemm"), &MapOptions { late: true, ..Default::default() });
    assert!(now.late.is_none());
    // Proved: of tiles and plain kernels, one or the other runs.
    assert!(late.kernels.len() > now.kernels.len());
    let l = late.late.as_ref().unwrap();
    let tiled: Vec<_> = (0..late.kernels.len()).filter(|k| late.kernels[*k].tiling().is_some()).collect();
    assert_eq!((l.param.as_str(), &l.kernels), ("_late", &tiled));
    assert!(host_code(&late).contains("_late"), "{}", host_code(&late));
    // Without the plain kernel nothing would run where tiles don't.
    let s = kernel("gemm");
    let mut wrong = mapped_with(&s, &MapOptions { late: true, ..Default::default() });
    let there = isl::Set::read(&s.ctx, "[_late] -> { : _late <= 0 }").unwrap();
    let domain = wrong.host.domain().unwrap().intersect_params(there).unwrap();
    wrong.host = wrong.host.intersect_domain(domain).unwrap();
    let deps = crate::dependences(&s).unwrap();
    assert!(!crate::check(&s, &deps, &wrong).unwrap().is_empty());
}

#[test]
fn long_operations_are_not_tiled() {
    // Instructions of both statements: points of a thread of the largest tile.
    let table = [
        (vec![], Some(32)),
        (vec![0, 32], Some(32)),
        (vec![0, 33], None),
        // What is outside of the loop gets a launch of its own.
        (vec![129, 0], Some(32)),
    ];
    for (bulk, points) in table {
        let m = mapped_with(&kernel("gemm"), &MapOptions { bulk: bulk.clone(), ..Default::default() });
        let of = |t: &crate::Tiling| t.dims.iter().map(|d| d.points).product::<u32>();
        let most = m.kernels.iter().filter_map(|k| k.tiling()).filter(|t| !t.unrolled).map(of).max();
        assert_eq!(most, points, "{bulk:?}");
    }
}

#[test]
fn private_accumulators_in_tiles() {
    let s = scop(
        "param n m k; array C n m; array A n k; array B k m; phi acc n m;
         for i : 0 <= i < n { for j : 0 <= j < m {
           S0 : acc[i,j] = ;
           for l : 0 <= l < k { S1 : acc[i,j] = acc[i,j], A[i,l], B[l,j]; }
           S2 : C[i,j] = acc[i,j];
         } }",
    );
    let m = mapped_with(&s, &MapOptions::default());
    assert_eq!(m.placement[3], Placement::Private);
    assert!(m.kernels.iter().any(|k| k.tiling().is_some()));
}

/// The first tiling of a SCoP, proved.
fn first_tiling(s: &Scop) -> Option<crate::Tiling> {
    let m = mapped_with(s, &MapOptions::default());
    m.kernels.iter().find_map(|k| k.tiling().cloned())
}

#[test]
fn tiles_of_triangles() {
    // The points are a triangle and run the same loop: no guards, tiles above the diagonal leave.
    let s = scop(
        "param n m; array C n n; array A n m;
         for i : 0 <= i < n { for j : 0 <= j <= i { for k : 0 <= k < m { S0 : C[i,j] = C[i,j], A[i,k], A[j,k]; } } }",
    );
    let t = first_tiling(&s).unwrap();
    assert!(t.guards.is_empty() && t.operand_tiles[0].full.is_none());
    let corner = isl::Set::read(&s.ctx, "[_b0, _b1] -> { : _b0 = 0 and _b1 = 2 }").unwrap();
    assert!(t.tiles.unwrap().intersect(corner).unwrap().is_empty().unwrap());
    // The second point counts from the first: its coordinate becomes the subscript.
    let s = scop(
        "param n m; array C n n; array A m n;
         for i : 0 <= i < n { for j : 0 <= j < n - i { for k : 0 <= k < m { S0 : C[i,i+j] = C[i,i+j], A[k,i], A[k,i+j]; } } }",
    );
    let t = first_tiling(&s).unwrap();
    assert!(t.guards.is_empty());
    assert_eq!(t.operand_tiles[0].groups.len(), 2);
    assert_eq!(t.operand_tiles[0].groups[1].along, [None, Some(1)]);
}

#[test]
fn tiles_where_loops_differ_between_points() {
    // The sequential loop of a triangular matrix starts at the row: guarded where a strip crosses it.
    for text in [
        "param n m; array B n m; array C n m; array A n n;
         for i : 0 <= i < n { for j : 0 <= j < m { for k : i <= k < n { S0 : C[i,j] = C[i,j], A[k,i], B[k,j]; } } }",
        // The same, counted from zero.
        "param n m; array B n m; array C n m; array A n n;
         for i : 0 <= i < n { for j : 0 <= j < m { for k : 0 <= k < n - i { S0 : C[i,j] = C[i,j], A[i+k,i], B[i+k,j]; } } }",
    ] {
        let s = scop(text);
        let t = first_tiling(&s).unwrap();
        assert_eq!(t.guards.len(), 1);
        let full = t.operand_tiles[0].full.clone().unwrap();
        let tile = 16 * t.dims[0].points;
        let at = |c: u32| {
            let text = format!("[n, m, _b0] -> {{ _copy0[c] : _b0 = 0 and c = {c} and n = 10000 and m = 10000 }}");
            isl::Set::read(&s.ctx, &text).unwrap().is_subset(&full).unwrap()
        };
        assert!(!at(0) && !at(8) && at(tile));
    }
    // A loop of five iterations would run a tile's worth of them.
    let s = scop(
        "param n m; array B n m; array C n m; array A n n;
         for i : 2 <= i < n - 2 { for j : 0 <= j < m { for k : i - 2 <= k <= i + 2 { S0 : C[i,j] = C[i,j], A[k,i], B[k,j]; } } }",
    );
    assert!(first_tiling(&s).is_none());
}

#[test]
fn kernels_are_distributed_for_tiles() {
    // The mirrored store has two cells of one array at a point; the sum by itself has one.
    let s = scop(
        "param n m; array C n n; array A m n;
         for i : 0 <= i < n { for j : i <= j < n {
           S0 : C[i,j] = ;
           for k : 0 <= k < m { S1 : C[i,j] = C[i,j], A[k,i], A[k,j]; }
           S2 : C[j,i] = C[i,j];
         } }",
    );
    let m = mapped_with(&s, &MapOptions::default());
    let tiled: Vec<_> = m.kernels.iter().filter(|k| k.tiling().is_some()).collect();
    assert!(!tiled.is_empty());
    for k in tiled {
        let names: Vec<_> =
            k.domain.sets().unwrap().iter().map(|s| s.tuple_name().unwrap().unwrap()).collect();
        assert_eq!(names, ["S0", "S1"]);
    }
}

#[test]
fn few_points_have_one_each() {
    // Small known sizes never fill a quarter of a slim tile; long sums of them have threads that only help.
    let s = scop(
        "param n; array C n 3; array A n n; array B n 3;
         for i : 0 <= i < n { for j : 0 <= j < 3 { for k : 0 <= k < n { S0 : C[i,j] = C[i,j], A[i,k], B[k,j]; } } }",
    );
    let m = mapped_with(&s, &MapOptions::default());
    assert!(m.kernels.iter().all(|k| k.tiling().is_none_or(|t| t.helpers > 1)));
}

#[test]
fn products_of_known_sizes_are_cut() {
    for (n, kernels) in [(4096, 1), (4104, 2), (1024, 1)] {
        let m = mapped_with(
            &scop(&format!(
                "array C {n} {n}; array A {n} {n}; array B {n} {n};
                 for i : 0 <= i < {n} {{ for j : 0 <= j < {n} {{ for k : 0 <= k < {n} {{
                   S : C[i,j] = C[i,j], A[i,k], B[k,j]; }} }} }}"
            )),
            &MapOptions { products: vec![StmtId(0)], ..Default::default() },
        );
        assert_eq!((m.kernels.len(), m.choices.len()), (kernels, 0), "{n}");
        assert!(m.kernels.iter().all(|k| k.tiling().is_some() && k.host_params.is_empty()));
    }
}

/// Stages name their own budgets; one around all of them is a budget too, and no internal error.
#[test]
fn budgets_around_stages_are_budgets() {
    let s = scop("param n; array A n; for i : 0 <= i < n { S : A[i] = A[i]; }");
    let spent = s.ctx.with_budget(1, || -> crate::Result<_> {
        Ok(s.domain()?.apply(isl::UnionMap::read(&s.ctx, "{ S[i] -> [floor(i / 7)] }")?)?.coalesce()?)
    });
    assert!(matches!(spent, Err(crate::ScheduleError::Budget(_))), "{:?}", spent.err());
}
