use super::*;
use crate::Refusal;
use crate::legality::{Rule, check};
use crate::testing::scop;

/// Stencils: name, text, levels, and slopes along each dimension as forward and backward numerators and
/// denominators.
#[allow(clippy::type_complexity)]
const STENCILS: &[(&str, &str, i64, &[[i64; 4]])] = &[
    (
        "two time levels in one array",
        "param n m; array A 2 m;
         for t : 0 <= t < n { for i : 1 <= i < m - 1 { S : A[(t+1) mod 2, i] = A[t mod 2, i-1], A[t mod 2, i], A[t mod 2, i+1]; } }",
        1,
        &[[1, 1, 1, 1]],
    ),
    (
        "copied back",
        "param n m; array A m; array B m;
         for t : 0 <= t < n {
           for i : 1 <= i < m - 1 { S : B[i] = A[i-1], A[i], A[i+1]; }
           for i : 1 <= i < m - 1 { R : A[i] = B[i]; }
         }",
        2,
        &[[1, 1, 1, 1]],
    ),
    (
        // Anti dependences turn the cone around: both sides are as steep as the steeper one.
        "one-sided, copied back over two steps",
        "param n m; array A m; array B m;
         for t : 0 <= t < n {
           for i : 2 <= i < m { S : B[i] = A[i-2], A[i]; }
           for i : 2 <= i < m { R : A[i] = B[i]; }
         }",
        2,
        &[[2, 1, 2, 1]],
    ),
    (
        // All values have a cell of their own: only flow dependences. The slopes of section 3.2 of CGO 2014.
        "asymmetric",
        "param n m; array A n m;
         for t : 2 <= t < n { for i : 2 <= i < m - 2 { S : A[t,i] = A[t-2,i-2], A[t-1,i+2]; } }",
        1,
        &[[1, 1, 2, 1]],
    ),
    (
        "rational",
        "param n m; array A n m;
         for t : 3 <= t < n { for i : 2 <= i < m - 2 { S : A[t,i] = A[t-2,i-1], A[t-3,i+2]; } }",
        1,
        &[[1, 2, 2, 3]],
    ),
    (
        "fdtd-2d",
        "param n nx ny; array X nx ny; array Y nx ny; array H nx ny; array f n;
         for t : 0 <= t < n {
           for j : 0 <= j < ny { S0 : Y[0,j] = f[t]; }
           for i : 1 <= i < nx { for j : 0 <= j < ny { S1 : Y[i,j] = Y[i,j], H[i,j], H[i-1,j]; } }
           for i : 0 <= i < nx { for j : 1 <= j < ny { S2 : X[i,j] = X[i,j], H[i,j], H[i,j-1]; } }
           for i : 0 <= i < nx - 1 { for j : 0 <= j < ny - 1 { S3 : H[i,j] = H[i,j], X[i,j+1], X[i,j], Y[i+1,j], Y[i,j]; } }
         }",
        2,
        &[[1, 1, 1, 1], [1, 1, 1, 1]],
    ),
    (
        "three dimensions",
        "param n m; array A 2 m m m;
         for t : 0 <= t < n { for i : 1 <= i < m - 1 { for j : 1 <= j < m - 1 { for k : 1 <= k < m - 1 {
           S : A[(t+1) mod 2, i, j, k] = A[t mod 2, i, j, k], A[t mod 2, i-1, j, k], A[t mod 2, i+1, j, k],
               A[t mod 2, i, j-1, k], A[t mod 2, i, j+1, k], A[t mod 2, i, j, k-1], A[t mod 2, i, j, k+1]; } } } }",
        1,
        &[[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]],
    ),
];

#[test]
fn bands() {
    for (name, text, levels, slopes) in STENCILS {
        let s = scop(text);
        let deps = crate::dependences(&s).unwrap();
        let band = recognise(&s, &deps).unwrap();
        assert_eq!(band.levels, *levels, "{name}");
        let got: Vec<_> = band.slopes.clone();
        let want: Vec<_> = slopes.iter().map(|s| testing::slopes(*s)).collect();
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn no_bands() {
    for (text, why) in [
        // A step needs values of its own step.
        (
            "param n m; array A m; for t : 0 <= t < n { for i : 1 <= i < m - 1 { S : A[i] = A[i-1], A[i+1]; } }",
            NotTiled::Order,
        ),
        // Periodic boundaries: a step reaches across the whole array.
        (
            "param n m; array A 2 m; context m > 4;
             for t : 0 <= t < n {
               for i : 1 <= i < m { S : A[(t+1) mod 2, i] = A[t mod 2, i-1]; }
               R : A[(t+1) mod 2, 0] = A[t mod 2, m-1];
             }",
            NotTiled::Unbounded,
        ),
        ("param m; array A m; for i : 1 <= i < m - 1 { S : A[i] = A[i-1]; }", NotTiled::Shape),
    ] {
        let s = scop(text);
        let deps = crate::dependences(&s).unwrap();
        assert_eq!(recognise(&s, &deps).unwrap_err(), Refusal::Form(why), "{text}");
    }
}

const PLAIN: Techniques =
    Techniques { windows: false, unroll: false, passing: false, prefetch: false, spread: false };

fn mapped(s: &Scop, tiling: TimeTiling, sizes: &[i64]) -> (Dependences, MappedScop) {
    let deps = crate::dependences(s).unwrap();
    let m = map(s, &deps, tiling, sizes, PLAIN, 4 * crate::DEFAULT_BUDGET).unwrap();
    (deps, m)
}

/// Every stencil with every strategy; the sizes are chosen so that no extent is a multiple of another.
#[test]
fn stencils_are_proved() {
    for (name, text, _, slopes) in STENCILS {
        for (tiling, sizes) in [
            (TimeTiling::Hybrid, [2, 3, 5, 4]),
            (TimeTiling::Diamond, [5, 6, 7, 0]),
            (TimeTiling::Split, [3, 2, 3, 2]),
        ] {
            let s = scop(text);
            let (deps, m) = mapped(&s, tiling, &sizes[..=slopes.len()]);
            let before = s.ctx.operations();
            let violations = check(&s, &deps, &m).unwrap();
            println!("{name} {tiling:?}: {} operations", s.ctx.operations() - before);
            assert!(violations.is_empty(), "{name} {tiling:?}: {}\n{m}", violations[0]);
        }
    }
}

fn rules(s: &Scop, deps: &Dependences, m: &MappedScop) -> Vec<Rule> {
    let mut rules: Vec<_> = check(s, deps, m).unwrap().iter().map(|v| v.rule).collect();
    rules.sort();
    rules.dedup();
    rules
}

/// A stencil of one dimension and two statements, tiled.
fn tiled(tiling: TimeTiling) -> (Scop, Dependences, MappedScop) {
    let s = scop(STENCILS[1].1);
    let (deps, m) = mapped(&s, tiling, &[3, 2]);
    (s, deps, m)
}

const ALL: [TimeTiling; 3] = [TimeTiling::Hybrid, TimeTiling::Diamond, TimeTiling::Split];

#[test]
fn shifted_tiles_are_found() {
    for tiling in ALL {
        let (s, deps, mut m) = tiled(tiling);
        let k = &mut m.kernels[0];
        let shift = isl::UnionMap::read(&s.ctx, "{ [b] -> [b + 1] }").unwrap();
        k.tile_map = k.tile_map.clone().apply_range(shift).unwrap();
        let found = rules(&s, &deps, &m);
        assert!(found.contains(&Rule::ThreadDomain), "{tiling:?}: {found:?}");
    }
}

#[test]
fn swapped_phases_are_found() {
    for tiling in [TimeTiling::Hybrid, TimeTiling::Split] {
        let (s, deps, mut m) = tiled(tiling);
        let mut host = crate::ScheduleTree::from_isl(&m.host).unwrap();
        let crate::Tree::Band(b) = &mut host.root else { panic!() };
        let crate::Tree::Sequence(c) = &mut *b.child else { panic!() };
        c.swap(0, 1);
        m.host = host.to_isl().unwrap();
        assert_eq!(rules(&s, &deps, &m), [Rule::Order], "{tiling:?}");
    }
}

/// A launch for which the grid has no bounds: its blocks are beyond the context that the code of the kernel
/// trusts.
#[test]
fn launches_without_a_grid_are_found() {
    for tiling in ALL {
        let (s, deps, mut m) = tiled(tiling);
        let mut host = crate::ScheduleTree::from_isl(&m.host).unwrap();
        let more = isl::UnionSet::read(&s.ctx, "{ K0[T] : -3 <= T < 0 }").unwrap();
        host.domain = host.domain.union(more).unwrap();
        m.host = host.to_isl().unwrap();
        assert_eq!(rules(&s, &deps, &m), [Rule::Grid], "{tiling:?}");
    }
}

/// The schedule of the first kernel with the part of its domain that `text` describes only.
fn restricted(m: &mut MappedScop, text: &str) {
    let k = &mut m.kernels[0];
    let part = isl::UnionSet::read(k.domain.context(), text).unwrap();
    k.schedule = k.schedule.clone().intersect_domain(part).unwrap();
}

#[test]
fn missing_barriers_are_found() {
    for tiling in ALL {
        // None at all; one step's; one thread's.
        for barriers in ["false", "c != 1", "_t0 != 3"] {
            let (s, deps, mut m) = tiled(tiling);
            restricted(&mut m, &format!("[_t0] -> {{ S[t, i]; R[t, i]; _barrier[c] : {barriers} }}"));
            assert_eq!(rules(&s, &deps, &m), [Rule::Barrier], "{tiling:?} {barriers}");
        }
    }
}

#[test]
fn barriers_in_the_wrong_place_are_found() {
    // Ahead of their steps, and in another order.
    for order in ["S[t, i]; R[t, i]", "_barrier[c]"] {
        let (s, deps, mut m) = tiled(TimeTiling::Hybrid);
        let mut tree = crate::ScheduleTree::from_isl(&m.kernels[0].schedule).unwrap();
        let crate::Tree::Band(b) = &mut tree.root else { panic!() };
        let crate::Tree::Sequence(c) = &mut *b.child else { panic!() };
        if order.starts_with('S') {
            c.reverse();
        } else {
            b.members[0] = b.members[0].clone().neg().unwrap();
        }
        m.kernels[0].schedule = tree.to_isl().unwrap();
        assert!(rules(&s, &deps, &m).contains(&Rule::Barrier), "{order}");
    }
}

#[test]
fn tiles_that_are_too_narrow_are_found() {
    for tiling in ALL {
        let s = scop(STENCILS[1].1);
        let deps = crate::dependences(&s).unwrap();
        let mut band = recognise(&s, &deps).unwrap();
        // As if neighbours were never read.
        band.slopes[0] = testing::slopes([0, 1, 1, 2]);
        let phases = phases(&s.ctx, tiling, &band, &[3, 2]).unwrap();
        let m = kernels::build(&s, &deps, &band, &phases, PLAIN).unwrap();
        assert_eq!(rules(&s, &deps, &m), [Rule::Order], "{tiling:?}");
    }
}

#[test]
fn gaps_and_overlaps_are_found() {
    let s = scop(STENCILS[1].1);
    let deps = crate::dependences(&s).unwrap();
    let band = recognise(&s, &deps).unwrap();
    for (change, rule) in [("{ [t, s0] : not (t = 5 and s0 = 7) }", Rule::Missing), ("", Rule::Excess)] {
        let mut phases = phases(&s.ctx, TimeTiling::Hybrid, &band, &[3, 2]).unwrap();
        if change.is_empty() {
            phases[1] = phases[0].clone();
        } else {
            let part = isl::Set::read(&s.ctx, change).unwrap();
            phases = phases
                .into_iter()
                .map(|p| Phase { place: p.place.intersect_domain(part.clone()).unwrap(), ..p })
                .collect();
        }
        let m = kernels::build(&s, &deps, &band, &phases, PLAIN).unwrap();
        assert!(rules(&s, &deps, &m).contains(&rule), "{change}");
    }
}

/// With windows.
fn staged(s: &Scop, tiling: TimeTiling, sizes: &[i64]) -> (Dependences, MappedScop) {
    let deps = crate::dependences(s).unwrap();
    let windows = Techniques::default();
    let m = map(s, &deps, tiling, sizes, windows, 8 * crate::DEFAULT_BUDGET).unwrap();
    (deps, m)
}

#[test]
fn windows_are_proved() {
    for (name, text, _, slopes) in STENCILS {
        for (tiling, sizes) in [
            (TimeTiling::Hybrid, [2, 3, 5, 4]),
            (TimeTiling::Diamond, [5, 6, 7, 0]),
            (TimeTiling::Split, [3, 2, 3, 2]),
        ] {
            // Longer proofs than a test is worth, and than compilations have a budget for.
            if slopes.len() > if tiling == TimeTiling::Hybrid { 2 } else { 1 } {
                continue;
            }
            let s = scop(text);
            let before = s.ctx.operations();
            let (deps, m) = staged(&s, tiling, &sizes[..=slopes.len()]);
            let mapping = s.ctx.operations() - before;
            for k in &m.kernels {
                let sizes: Vec<_> =
                    k.windows().iter().map(|w| (s.array(w.array).name.as_str(), &w.size)).collect();
                println!("{name} {tiling:?} {}: {sizes:?}", k.name);
            }
            let before = s.ctx.operations();
            let violations = check(&s, &deps, &m).unwrap();
            println!("{name} {tiling:?}: {mapping} and {} operations", s.ctx.operations() - before);
            assert!(violations.is_empty(), "{name} {tiling:?}: {}\n{m}", violations[0]);
        }
    }
}

/// A stencil of one dimension in windows, and what the checker finds after a change to its second kernel.
fn spoilt(change: &dyn Fn(&Scop, &mut crate::MappedKernel)) -> Vec<Rule> {
    let s = scop(STENCILS[0].1);
    let (deps, mut m) = staged(&s, TimeTiling::Hybrid, &[3, 2]);
    assert_eq!(rules(&s, &deps, &m), []);
    change(&s, &mut m.kernels[1]);
    rules(&s, &deps, &m)
}

/// Leaves out what `text` does not have of a thread's schedule.
fn without(k: &mut crate::MappedKernel, text: &str) {
    let mut part =
        isl::UnionSet::read(k.domain.context(), "{ S[t, i]; _enter[]; _in0[x0, x1]; _barrier[c] }").unwrap();
    let kept = isl::UnionSet::read(k.domain.context(), &format!("[_b0, _t0] -> {{ {text} }}")).unwrap();
    part = part.subtract(kept.clone().universe().unwrap()).unwrap().union(kept).unwrap();
    k.schedule = k.schedule.clone().intersect_domain(part).unwrap();
}

/// Adds copies to the first thread's schedule.
fn with(k: &mut crate::MappedKernel, text: &str) {
    let mut tree = crate::ScheduleTree::from_isl(&k.schedule).unwrap();
    let more = format!("[m, _h0, _b0, _t0] -> {{ _in0[x0, x1] : _t0 = 0 and x0 = 0 and {text} }}");
    let more = isl::UnionSet::read(k.domain.context(), &more).unwrap();
    let more = more.intersect_params(tree.domain.clone().params().unwrap()).unwrap();
    tree.domain = tree.domain.union(more).unwrap();
    k.schedule = tree.to_isl().unwrap();
}

#[test]
fn broken_windows_are_found() {
    let one = |s: &Scop, n: i64| isl::Val::int(&s.ctx, n).unwrap();
    // Too small, in another place, and a copy of the whole.
    for d in 0..2 {
        assert_eq!(spoilt(&|_, k| k.windows_mut()[0].size[d] -= 1), [Rule::Window], "size {d}");
        let moved = |s: &Scop, k: &mut crate::MappedKernel| {
            let lower = &mut k.windows_mut()[0].lower[d];
            *lower = lower.clone().add_constant(one(s, 1)).unwrap();
        };
        assert_eq!(spoilt(&moved), [Rule::Window], "moved {d}");
    }
    assert_eq!(spoilt(&|_, k| k.windows_mut().extend_from_within(..1)), [Rule::Window]);
    // A window that does not move, one that moves after the copies.
    assert_eq!(spoilt(&|_, k| without(k, "_enter[] : _t0 != 3")), [Rule::Window]);
    let late = |_: &Scop, k: &mut crate::MappedKernel| {
        let mut tree = crate::ScheduleTree::from_isl(&k.schedule).unwrap();
        let crate::Tree::Sequence(c) = &mut tree.root else { panic!() };
        c.swap(0, 1);
        k.schedule = tree.to_isl().unwrap();
    };
    assert_eq!(spoilt(&late), [Rule::Window]);
    // An element that is not copied; no barrier behind the copies; copies with the first step.
    assert_eq!(spoilt(&|_, k| without(k, "_in0[x0, x1] : x1 != 9 + 14 * _b0 + 0 * x0")), [Rule::Window]);
    assert_eq!(spoilt(&|_, k| without(k, "_barrier[c] : c >= 0")), [Rule::Barrier]);
    let step = |s: &Scop, k: &mut crate::MappedKernel| {
        let steps = isl::UnionMap::read(&s.ctx, "{ _in0[x0, x1] -> [0] }").unwrap();
        let old = isl::UnionSet::read(&s.ctx, "{ _in0[x0, x1] }").unwrap();
        let order = &mut k.steps_mut().order;
        *order = order.clone().subtract_domain(old).unwrap().union(steps).unwrap();
    };
    assert!(spoilt(&step).contains(&Rule::Window));
    // Copies of what is beside the array's part that the SCoP reads, and of what the next block writes.
    let wide = |s: &Scop, k: &mut crate::MappedKernel, low: i64| {
        k.windows_mut()[0].size[1] += 100;
        let lower = &mut k.windows_mut()[0].lower[1];
        *lower = lower.clone().add_constant(one(s, -low)).unwrap();
    };
    assert_eq!(spoilt(&|s, k| wide(s, k, 50)), []);
    let beside = |s: &Scop, k: &mut crate::MappedKernel| {
        wide(s, k, 50);
        with(k, "x1 = -1 and 0 <= _b0 <= 1");
    };
    assert_eq!(spoilt(&beside), [Rule::Window]);
    let theirs = |s: &Scop, k: &mut crate::MappedKernel| {
        wide(s, k, 50);
        with(k, "0 <= x1 < m and 14 * _b0 + 14 <= x1 < 14 * _b0 + 28 and _h0 >= 1");
    };
    assert_eq!(spoilt(&theirs), [Rule::Window]);
}

#[test]
fn absent_instances_meet_writes_where_they_would() {
    for (text, disturbed) in [
        // One plane is read and another one written; each point its own element; a point that there is not
        // reads what others write.
        (STENCILS[0].1, vec![vec![]]),
        // Statements of one iteration write what the others read, each in steps of its own.
        (STENCILS[1].1, vec![vec![(1, 0)], vec![(0, 1)]]),
        (
            "param n m; array A m; for t : 0 <= t < n { for i : 0 <= i < m { S : A[i] = A[i]; } }",
            vec![vec![]],
        ),
        (
            "param n; array A 100; for t : 0 <= t < n { for i : 0 <= i < 50 { S : A[i] = A[i], A[i+50]; } }",
            vec![vec![(0, 0)]],
        ),
        // Two statements in one step: what one would read at a point that it does not have, the other writes.
        (
            "param n; array A 100; array B 100; for t : 0 <= t < n {
               for i : 0 <= i < 50 { S : A[i] = A[i], B[i]; } for i : 60 <= i < 100 { R : B[i] = B[i]; } }",
            vec![vec![], vec![(0, 1)]],
        ),
    ] {
        let s = scop(text);
        let (_, m) = staged(&s, TimeTiling::Hybrid, &[3, 2]);
        for k in &m.kernels {
            let pairs = |w: &crate::Window| w.disturbed.iter().map(|(r, w)| (r.0, w.0)).collect::<Vec<_>>();
            let got: Vec<_> = k.windows().iter().map(pairs).collect();
            assert_eq!(got, disturbed, "{text}");
        }
    }
}

#[test]
fn techniques_are_switches() {
    let s = scop(STENCILS[0].1);
    let deps = crate::dependences(&s).unwrap();
    let all = Techniques::default();
    for (techniques, windows, full, passing, prefetch) in [
        (all, 1, true, true, true),
        (PLAIN, 0, false, false, false),
        (Techniques { unroll: false, ..all }, 1, false, true, true),
        (Techniques { passing: false, ..all }, 1, true, false, true),
        (Techniques { prefetch: false, ..all }, 1, true, true, false),
    ] {
        let m = map(&s, &deps, TimeTiling::Hybrid, &[3, 2], techniques, 8 * crate::DEFAULT_BUDGET);
        for k in &m.unwrap().kernels {
            let passes = k.windows().iter().any(|w| !w.passing.is_empty().unwrap());
            let got = (k.windows().len(), k.full().is_some(), passes, k.stages().is_some_and(|s| s.prefetch));
            assert_eq!(got, (windows, full, passing, prefetch), "{techniques:?}");
        }
    }
}

/// All writes of a kernel's block in one step, with a condition on the instance, as those that need no store.
fn left_out(k: &mut crate::MappedKernel, step: i64, condition: &str) {
    let read = |text: &str| isl::UnionSet::read(k.domain.context(), text).unwrap();
    let block =
        k.tile_map.clone().intersect_range(read("[_b0] -> { [b] : b = _b0 }")).unwrap().domain().unwrap();
    let steps = k.steps().unwrap().clone().intersect_range(read(&format!("{{ [{step}] }}"))).unwrap();
    let which = steps.domain().unwrap().intersect(block).unwrap();
    let which = which.intersect(read(&format!("[n, m] -> {{ S[t, i] : {condition} }}"))).unwrap();
    k.windows_mut()[0].passing = which.product_map(read("{ _enter[] }")).unwrap();
}

#[test]
fn stores_that_are_missed_are_found() {
    // Rows of 3, 5, 7, 9, 9, 7, 5, 3 points: from the fourth on someone else reads a value.
    for step in 0..8 {
        let inner = if step < 3 { vec![] } else { vec![Rule::Window] };
        assert_eq!(spoilt(&|_, k| left_out(k, step, "t < n - 2")), inner, "step {step}");
    }
    // The last values of a cell.
    assert_eq!(spoilt(&|_, k| left_out(k, 0, "t >= n - 2")), [Rule::Window]);
    // Only what a block does not write, and nothing.
    assert_eq!(spoilt(&|_, k| left_out(k, 5, "t >= n")), []);
}

#[test]
fn most_values_of_a_full_stage_pass() {
    let s = scop(STENCILS[0].1);
    let (_, m) = staged(&s, TimeTiling::Hybrid, &[3, 2]);
    for k in &m.kernels {
        let at =
            isl::Set::read(&s.ctx, "[n, m, _h0, _b0] -> { : n = 100 and m = 200 and _h0 = 5 and _b0 = 4 }")
                .unwrap();
        let of = |map: isl::UnionMap| {
            let set = map.domain().unwrap().intersect_params(at.clone()).unwrap();
            let mut rows = Vec::new();
            for step in 0..8 {
                let c = isl::UnionSet::read(&s.ctx, &format!("{{ [{step}] }}")).unwrap();
                let in_step = k.steps().unwrap().clone().intersect_range(c).unwrap().domain().unwrap();
                let parts = set.clone().intersect(in_step).unwrap().sets().unwrap();
                rows.push(parts.into_iter().map(testing::count).sum::<usize>());
            }
            rows
        };
        assert_eq!(of(k.windows()[0].passing.clone()), [3, 5, 7, 7, 5, 3, 0, 0], "{}", k.name);
    }
}

#[test]
fn what_may_be_written_again_is_stored() {
    let s = scop(
        "param n; array A n n; array B n n; for t : 0 <= t < n { for i : 0 <= i < t {
        S0 : B[t,i] = A[t,i]; S1 : B[t,i] ?= B[t,i], A[t,i]; S2 : A[t,i] ?= A[t,i]; } }",
    );
    let (deps, m) = staged(&s, TimeTiling::Hybrid, &[16, 96]);
    assert!(m.kernels.iter().any(|k| k.windows().iter().any(|w| w.array.0 == 1)));
    let violations = check(&s, &deps, &m).unwrap();
    assert!(violations.is_empty(), "{}\n{m}", violations[0]);
}
