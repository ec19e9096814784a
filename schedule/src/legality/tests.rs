use super::*;
use crate::names::Mark;
use crate::testing::{KERNELS, kernel, scop};
use crate::tree::{ScheduleTree, Tree};
use crate::{MapOptions, Mode, map};
use pollyrs_scop::StmtId;

fn mapped(s: &Scop) -> (Dependences, MappedScop) {
    let deps = crate::dependences(s).unwrap();
    let tree = crate::schedule(s, &deps, &Default::default()).unwrap();
    let m = map(s, &deps, &tree, &MapOptions { tiling: None, ..Default::default() }).unwrap();
    (deps, m)
}

fn tiled(s: &Scop) -> (Dependences, MappedScop, usize) {
    let deps = crate::dependences(s).unwrap();
    let tree = crate::schedule(s, &deps, &Default::default()).unwrap();
    let m = map(s, &deps, &tree, &MapOptions::default()).unwrap();
    let tiled = |unrolled| m.kernels.iter().position(|k| k.tiling().is_some_and(|t| t.unrolled == unrolled));
    // (What initialises the result of a product may take several points a thread.)
    let at = tiled(false).or(tiled(true)).unwrap();
    (deps, m, at)
}

fn rules(s: &Scop, deps: &Dependences, m: &MappedScop) -> Vec<Rule> {
    let mut rules: Vec<_> = check(s, deps, m).unwrap().iter().map(|v| v.rule).collect();
    rules.sort();
    rules.dedup();
    rules
}

#[test]
fn all_kernels_are_legal() {
    for (name, _) in KERNELS {
        let s = kernel(name);
        let deps = crate::dependences(&s).unwrap();
        let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
        for options in [MapOptions::default(), MapOptions { tiling: None, ..Default::default() }] {
            let m = map(&s, &deps, &tree, &options).unwrap();
            let t = std::time::Instant::now();
            let v = check(&s, &deps, &m).unwrap();
            println!("{name} {:?}", t.elapsed());
            assert!(v.is_empty(), "{name}: {}\n{m}", v[0]);
        }
    }
}

#[test]
fn larger_tiles_are_legal() {
    let options =
        MapOptions { points: [vec![4], vec![2, 2], vec![1, 2, 2]], tiling: None, ..Default::default() };
    for name in ["gemm", "jacobi-2d", "trisolv", "lu", "dot-rows-phi"] {
        let s = kernel(name);
        let deps = crate::dependences(&s).unwrap();
        let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
        let m = map(&s, &deps, &tree, &options).unwrap();
        let v = check(&s, &deps, &m).unwrap();
        assert!(v.is_empty(), "{name}: {}\n{m}", v[0]);
    }
}

#[test]
fn swapped_launches() {
    let s = kernel("jacobi-2d");
    let (deps, mut m) = mapped(&s);
    let mut host = ScheduleTree::from_isl(&m.host).unwrap();
    let Tree::Band(b) = &mut host.root else { panic!() };
    let Tree::Sequence(c) = &mut *b.child else { panic!() };
    c.swap(0, 1);
    m.host = host.to_isl().unwrap();
    assert_eq!(rules(&s, &deps, &m), [Rule::Order]);
}

#[test]
fn dropped_order_of_host_loops() {
    // gemm's initialisation after its accumulation.
    let s = kernel("gemm");
    let (deps, mut m) = mapped(&s);
    let mut host = ScheduleTree::from_isl(&m.host).unwrap();
    let Tree::Sequence(c) = &mut host.root else { panic!() };
    c.reverse();
    m.host = host.to_isl().unwrap();
    assert_eq!(rules(&s, &deps, &m), [Rule::Order]);
}

#[test]
fn shifted_tiles() {
    let s = kernel("gemm");
    let (deps, mut m) = mapped(&s);
    let shift = isl::UnionMap::read(&s.ctx, "{ [a,b] -> [a+1,b] }").unwrap();
    m.kernels[0].tile_map = m.kernels[0].tile_map.clone().apply_range(shift).unwrap();
    assert_eq!(rules(&s, &deps, &m), [Rule::Grid, Rule::ThreadDomain]);
}

#[test]
fn wrong_count() {
    let s = kernel("gemm");
    let (deps, mut m) = mapped(&s);
    let g = &mut m.kernels[1].grid[1];
    g.count = g.count.clone().add_constant(isl::Val::int(&s.ctx, -1).unwrap()).unwrap();
    assert!(rules(&s, &deps, &m).contains(&Rule::Grid));
    // One tile too many does no harm unless the context denies it.
    let (deps, mut m) = mapped(&s);
    let g = &mut m.kernels[1].grid[1];
    g.count = g.count.clone().add_constant(isl::Val::int(&s.ctx, 1).unwrap()).unwrap();
    assert_eq!(rules(&s, &deps, &m), [Rule::Context]);
    // The first tile is missing, or there is no grid at all for some sizes.
    let one = |s: &Scop, n: i64| isl::Val::int(&s.ctx, n).unwrap();
    let (deps, mut m) = mapped(&s);
    let g = &mut m.kernels[1].grid[1];
    g.lower = g.lower.clone().add_constant(one(&s, 1)).unwrap();
    g.count = g.count.clone().add_constant(one(&s, -1)).unwrap();
    assert!(rules(&s, &deps, &m).contains(&Rule::Grid));
    let (deps, mut m) = mapped(&s);
    let g = &mut m.kernels[1].grid[1];
    let small =
        g.count.clone().le_set(isl::PwAff::constant_on(g.count.domain_space().unwrap(), 1).unwrap()).unwrap();
    g.count = g.count.clone().subtract_domain(small).unwrap();
    assert!(rules(&s, &deps, &m).contains(&Rule::Grid));
}

#[test]
fn small_block() {
    let s = kernel("gemm");
    let (deps, mut m) = mapped(&s);
    m.kernels[0].block[1].size = 31;
    assert!(rules(&s, &deps, &m).contains(&Rule::Grid));
}

#[test]
fn dropped_instance() {
    let s = kernel("gemm");
    let (deps, mut m) = mapped(&s);
    let one = isl::UnionSet::read(&s.ctx, "{ S1[3,4,5] }").unwrap();
    m.kernels[1].domain = m.kernels[1].domain.clone().subtract(one.clone()).unwrap();
    assert!(rules(&s, &deps, &m).contains(&Rule::Missing));

    let (deps, mut m) = mapped(&s);
    let k = &mut m.kernels[1];
    let rest = k.schedule.domain().unwrap().subtract(one).unwrap();
    k.schedule = k.schedule.clone().intersect_domain(rest).unwrap();
    assert_eq!(rules(&s, &deps, &m), [Rule::ThreadDomain, Rule::Order]);
}

#[test]
fn executed_twice() {
    let s = kernel("gemm");
    let (deps, mut m) = mapped(&s);
    let extra =
        isl::UnionSet::read(&s.ctx, "[n,m] -> { S0[i,j] : 0 <= i < n and 0 <= j < m and i = 7 }").unwrap();
    m.kernels[1].domain = m.kernels[1].domain.clone().union(extra).unwrap();
    assert!(rules(&s, &deps, &m).contains(&Rule::Excess));
}

#[test]
fn reversed_thread() {
    let s = kernel("2mm");
    let (deps, mut m) = mapped(&s);
    let mut tree = ScheduleTree::from_isl(&m.kernels[0].schedule).unwrap();
    let Tree::Sequence(c) = &mut tree.root else { panic!() };
    c.swap(0, 1);
    m.kernels[0].schedule = tree.to_isl().unwrap();
    assert_eq!(rules(&s, &deps, &m), [Rule::Order]);
}

#[test]
fn narrow_context() {
    let s = kernel("gemm");
    let (deps, mut m) = mapped(&s);
    let narrow = isl::Set::read(&s.ctx, "[k] -> { : k >= 5 }").unwrap();
    m.kernels[1].context = m.kernels[1].context.clone().intersect(narrow).unwrap();
    assert!(rules(&s, &deps, &m).contains(&Rule::Context));
}

/// Marks the first band as a kernel, whatever its dependences.
fn forced(s: &Scop) -> (Dependences, MappedScop) {
    let deps = crate::dependences(s).unwrap();
    let tree = ScheduleTree::from_isl(&s.schedule).unwrap();
    let tree = ScheduleTree { root: tree.root.marked(crate::strategy::KERNEL), ..tree };
    let m = map(s, &deps, &tree, &MapOptions::default()).unwrap();
    (deps, m)
}

#[test]
fn dependent_loop_as_parallel() {
    let chain = scop("param n; array A n; for i : 1 <= i < n { S0 : A[i] = A[i-1]; }");
    let (deps, m) = forced(&chain);
    let v = check(&chain, &deps, &m).unwrap();
    assert_eq!(v[0].rule, Rule::Order);
    assert!(v[0].counterexample.contains("S0["), "{}", v[0]);
    for name in ["jacobi-2d", "seidel-2d", "trisolv", "lu"] {
        let s = kernel(name);
        let (deps, m) = forced(&s);
        assert!(rules(&s, &deps, &m).contains(&Rule::Order), "{name}");
    }
}

#[test]
fn private_arrays() {
    let s = kernel("dot-rows-phi");
    let (deps, m) = mapped(&s);
    assert_eq!(m.placement.iter().filter(|p| **p == Placement::Private).count(), 1);
    assert!(check(&s, &deps, &m).unwrap().is_empty());

    // Memory is never private.
    let mut bad = m.clone();
    bad.placement[0] = Placement::Private;
    assert_eq!(rules(&s, &deps, &bad), [Rule::Private]);

    // Two cells alive at once in one thread.
    let s = scop(
        "param n; scalar t n 2; array A n; array B n;
         for i : 0 <= i < n { S0 : t[i,0] = A[i]; S1 : t[i,1] = A[i]; S2 : B[i] = t[i,0], t[i,1]; }",
    );
    let (deps, mut m) = mapped(&s);
    assert!(m.placement.iter().all(|p| *p == Placement::Global));
    m.placement[0] = Placement::Private;
    assert_eq!(rules(&s, &deps, &m), [Rule::Private]);

    // A cell used by several launches.
    let s = scop(
        "param n t; scalar x n; array A n; array B n;
         for s : 0 <= s < t { for i : 0 <= i < n { S0 : x[i] = A[i]; } for i : 1 <= i < n { S1 : A[i] = x[i-1]; } }",
    );
    let (deps, mut m) = mapped(&s);
    assert!(m.placement.iter().all(|p| *p == Placement::Global));
    m.placement[0] = Placement::Private;
    assert_eq!(rules(&s, &deps, &m), [Rule::Private]);
}

/// A launch writes one of two planes, and reads the other: these reads stay in memory, and no others.
#[test]
fn broken_planes() {
    let reads = (0..9).map(|k| format!("A[t mod 2,i+{},j+{}]", k / 3, k % 3)).collect::<Vec<_>>().join(", ");
    let s = scop(&format!(
        "param n m; array A 2 n n; array B n n;
         for t : 0 <= t < m {{ for i : 0 <= i < n - 2 {{ for j : 0 <= j < n - 2 {{
           S : A[(t + 1) mod 2,i+1,j+1] = {reads}; T : B[i,j] = A[(t + 1) mod 2,i+1,j+1], B[i,j]; }} }} }}"
    ));
    let (deps, m, at) = tiled(&s);
    assert_eq!(rules(&s, &deps, &m), []);
    let broken = |f: &dyn Fn(&mut crate::Tiling)| {
        let mut m = m.clone();
        f(m.kernels[at].tiling_mut());
        rules(&s, &deps, &m)
    };
    let of_a = |t: &crate::Tiling| t.registers.iter().position(|r| !r.apart.is_empty()).unwrap();
    assert!(
        broken(&|t| {
            let a = of_a(t);
            t.registers[a].apart.pop();
        })
        .contains(&Rule::Register)
    );
    // What the point wrote itself is in its register.
    assert!(
        broken(&|t| {
            let a = of_a(t);
            t.registers[a].apart.push((pollyrs_scop::StmtId(1), 0));
        })
        .contains(&Rule::Register)
    );
}

#[test]
fn broken_tilings() {
    let s = kernel("gemm");
    let (deps, m, at) = tiled(&s);
    assert_eq!(rules(&s, &deps, &m), []);
    let broken = |f: &dyn Fn(&mut crate::Tiling)| {
        let mut m = m.clone();
        f(m.kernels[at].tiling_mut());
        rules(&s, &deps, &m)
    };
    // An array that is written and in no register.
    assert_eq!(broken(&|t| t.registers.clear()), [Rule::Register]);
    // A register for another cell than the point's.
    let shifted = |t: &mut crate::Tiling| {
        let shift = isl::Map::read(&s.ctx, "{ C[a,b] -> C[a,b+1] }").unwrap();
        t.registers[0].cell = t.registers[0].cell.clone().apply_range(shift).unwrap();
    };
    assert!(broken(&shifted).contains(&Rule::Register));
    // Buffers that are too small, start elsewhere, or are filled from beyond the array.
    assert_eq!(broken(&|t| t.operand_tiles[0].groups[0].size[1] = 7), [Rule::Shared]);
    assert_eq!(broken(&|t| t.operand_tiles[0].groups[0].size[0] = 100), [Rule::Shared]);
    let one = || isl::Val::int(&s.ctx, 1).unwrap();
    let moved = |t: &mut crate::Tiling| {
        let l = &mut t.operand_tiles[0].groups[1].lower[0];
        *l = l.clone().add_constant(one()).unwrap();
    };
    assert_eq!(broken(&moved), [Rule::Shared]);
    let wild = |t: &mut crate::Tiling| {
        let b = &mut t.operand_tiles[0].groups[1].bounds[0].1;
        *b = b.clone().add_constant(one()).unwrap();
    };
    assert_eq!(broken(&wild), [Rule::Shared]);
    // Points that the grid does not reach.
    let mut few = m.clone();
    few.kernels[at].tiling_mut().dims[0].points = 4;
    assert!(rules(&s, &deps, &few).contains(&Rule::Grid));
    // Copies after the loop that reads them.
    let late = |t: &mut crate::Tiling| {
        let mut tree = ScheduleTree::from_isl(&t.schedule).unwrap();
        fn turn(tree: &mut Tree) {
            match tree {
                Tree::Band(b) => turn(&mut b.child),
                Tree::Sequence(c) => c.reverse(),
                _ => panic!(),
            }
        }
        turn(&mut tree.root);
        t.schedule = tree.to_isl().unwrap();
    };
    assert_eq!(broken(&late), [Rule::Shared]);
}

/// A buffer whose subscripts follow a point and a loop: the pixels beneath a window.
#[test]
fn broken_windows() {
    let s = scop(
        "param n m k r; array O n m; array I n+r k; array W r k m; context n >= 0 and m >= 0 and k >= 0 and r >= 0;
         for x : 0 <= x < n { for o : 0 <= o < m { for q : 0 <= q < r { for i : 0 <= i < k {
           S0 : O[x,o] = O[x,o], I[x+q,i], W[q,i,o]; } } } }",
    );
    let (deps, m, at) = tiled(&s);
    assert_eq!(rules(&s, &deps, &m), []);
    let broken = |f: &dyn Fn(&mut crate::mapped::SharedGroup)| {
        let mut m = m.clone();
        let groups = m.kernels[at].tiling_mut().operand_tiles.iter_mut().flat_map(|p| &mut p.groups);
        let image = groups.into_iter().find(|g| g.along == [Some(0), None]).unwrap();
        f(image);
        rules(&s, &deps, &m)
    };
    let read = |text: &str| isl::PwAff::read(&s.ctx, text).unwrap();
    // The window does not move, or the other way; the tile starts elsewhere; the last row is missing.
    assert_eq!(
        broken(&|g| g.lower[0] = read("[_b0] -> { _copy0[c0, c1] -> [(128 * _b0)] }")),
        [Rule::Shared]
    );
    assert_eq!(
        broken(&|g| g.lower[0] = read("[_b0] -> { _copy0[c0, c1] -> [(128 * _b0 - c0)] }")),
        [Rule::Shared]
    );
    assert_eq!(
        broken(&|g| g.lower[0] = read("[_b0] -> { _copy0[c0, c1] -> [(128 * _b0 + c0 + 1)] }")),
        [Rule::Shared]
    );
    assert_eq!(broken(&|g| g.size[0] -= 1), [Rule::Shared]);
    // Copies beyond the last pixel beneath the last window.
    let one = || isl::Val::int(&s.ctx, 1).unwrap();
    let wild = |g: &mut crate::mapped::SharedGroup| {
        let b = &mut g.bounds[0].1;
        *b = b.clone().add_constant(one()).unwrap();
    };
    assert_eq!(broken(&wild), [Rule::Shared]);
    // A thread's own array has no memory to copy from.
    let mut private = m.clone();
    let tiling = private.kernels[at].tiling().unwrap();
    let array = tiling.operand_tiles[0].groups[0].array;
    private.placement[array.0] = crate::mapped::Placement::Private;
    assert!(rules(&s, &deps, &private).contains(&Rule::Shared));
}

/// Of two statements of a loop one runs: strips of either have no guards, and the other one is not in their
/// code.
#[test]
fn broken_strips_without_a_statement() {
    let mut s = scop(
        "param n m; array B n m; array C n m; array A n n; phi a n m n;
         for i : 0 <= i < n { for j : 0 <= j < m { for k : 0 <= k < n {
           S0 : a[i,j,k] = A[i,k];
           S1 : a[i,j,k] = A[k,i];
           S2 : C[i,j] = C[i,j], a[i,j,k], B[k,j];
         } } }",
    );
    for (at, which) in ["k <= i", "k > i"].into_iter().enumerate() {
        let half = isl::Set::read(&s.ctx, &format!("{{ S{at}[i,j,k] : {which} }}")).unwrap();
        s.statements[at].domain = s.statements[at].domain.clone().intersect(half).unwrap();
    }
    let tree = ScheduleTree::from_isl(&s.schedule).unwrap();
    let domain = tree.domain.intersect(s.domain().unwrap()).unwrap();
    s.schedule = ScheduleTree { domain, root: tree.root }.to_isl().unwrap();
    let (deps, m, at) = tiled(&s);
    assert_eq!(rules(&s, &deps, &m), []);
    let operand_tile = &m.kernels[at].tiling().unwrap().operand_tiles[0];
    assert!(operand_tile.full.as_ref().unwrap().is_empty().unwrap());
    let strips: Vec<_> = operand_tile.without.iter().map(|w| w.statements.clone()).collect();
    assert_eq!(strips, [[StmtId(0)], [StmtId(1)]]);
    let broken = |f: &dyn Fn(&mut crate::mapped::Without)| {
        let mut m = m.clone();
        f(&mut m.kernels[at].tiling_mut().operand_tiles[0].without[0]);
        rules(&s, &deps, &m)
    };
    // Strips in which the statement has instances, and the other one needs its guard; another statement, and
    // one without guards.
    let strips = |text: &str| isl::Set::read(&s.ctx, text).unwrap();
    assert_eq!(broken(&|w| w.strips = strips("{ _copy0[c] }")), [Rule::ThreadDomain]);
    assert_eq!(broken(&|w| w.statements = vec![StmtId(1)]), [Rule::ThreadDomain]);
    assert_eq!(broken(&|w| w.statements.push(StmtId(2))), [Rule::ThreadDomain]);
}

#[test]
fn broken_guards() {
    let s = scop(
        "param n m; array B n m; array C n n; array A n n;
         for i : 0 <= i < n { for j : 0 <= j <= i { for k : i <= k < n { S0 : C[i,j] = C[i,j], A[k,i], B[k,j]; } } }",
    );
    let (deps, m, at) = tiled(&s);
    assert_eq!(rules(&s, &deps, &m), []);
    let broken = |f: &dyn Fn(&mut crate::Tiling)| {
        let mut m = m.clone();
        f(m.kernels[at].tiling_mut());
        rules(&s, &deps, &m)
    };
    let set = |text: &str| isl::Set::read(&s.ctx, text).unwrap();
    // Instances that do not exist, instances that are lost.
    assert!(broken(&|t| t.guards.clear()).contains(&Rule::ThreadDomain));
    let few = |t: &mut crate::Tiling| t.guards[0].instances = set("{ S0[i,j,k] : k > i }");
    assert_eq!(broken(&few), [Rule::ThreadDomain]);
    // Strips without guards that need them.
    assert_eq!(broken(&|t| t.operand_tiles[0].full = None), [Rule::ThreadDomain]);
    let wide =
        |t: &mut crate::Tiling| t.operand_tiles[0].full = Some(set("[_b0] -> { _copy0[c] : c >= 4 * _b0 }"));
    assert_eq!(broken(&wide), [Rule::ThreadDomain]);
    // Tiles with points that leave, tiles that move cells of points that have none.
    assert_eq!(broken(&|t| t.tiles = Some(set("[_b0] -> { : _b0 > 0 }"))), [Rule::Grid]);
    assert_eq!(broken(&|t| t.registers[0].full = None), [Rule::Register]);
    let all = |t: &mut crate::Tiling| t.registers[0].full = Some(set("[_b0] -> { : }"));
    assert_eq!(broken(&all), [Rule::Register]);
}

#[test]
fn parts_of_a_cut_launch() {
    let s = kernel("gemm");
    let (deps, m, at) = tiled(&s);
    assert!(m.choices[0].cut.is_some());
    assert!(rules(&s, &deps, &m).is_empty());
    // A point between the parts is lost, or the first has all.
    let change = |kernel: usize, text: &str| {
        let mut m = m.clone();
        let k = &mut m.kernels[kernel];
        let name = k.domain.sets().unwrap()[0].tuple_name().unwrap().unwrap();
        let part = isl::UnionSet::read(&s.ctx, &text.replace("S[", &format!("{name}["))).unwrap();
        k.domain = k.domain.clone().intersect(part).unwrap();
        rules(&s, &deps, &m)
    };
    assert!(change(at + 1, "[_h0] -> { S[i, j, k] : i > 64 * _h0 }").contains(&Rule::Missing));
    assert!(change(at, "[_h0] -> { S[i, j, k] : i < _h0 - 1 }").contains(&Rule::Missing));
    let mut twice = m.clone();
    let all = twice.kernels[at].domain.clone().universe().unwrap();
    twice.kernels[at].domain = s.domain().unwrap().intersect(all).unwrap();
    assert!(rules(&s, &deps, &twice).contains(&Rule::Excess));
}

/// Elimination along columns, each by a thread: `d[i,j]` is what memory had before the launch, `d[i-1,j]` is
/// not.
#[test]
fn early_reads() {
    let s = scop(
        "param n m; array d n m; array a n m; context n >= 0 and m >= 0;
         for j : 0 <= j < m { for i : 1 <= i < n { S0 : d[i,j] = d[i,j], a[i,j], d[i-1,j]; } }",
    );
    let (deps, m) = mapped(&s);
    assert_eq!(m.kernels[0].hoistable, [(pollyrs_scop::StmtId(0), 0)], "{m}");
    assert_eq!(rules(&s, &deps, &m), []);
    let write = s.statements[0].accesses.iter().position(|a| a.kind != AccessKind::Read).unwrap();
    for (what, access) in [("a value of the launch", 2), ("a write", write), ("no access", 17)] {
        let mut m = m.clone();
        m.kernels[0].hoistable.push((pollyrs_scop::StmtId(0), access));
        assert_eq!(rules(&s, &deps, &m), [Rule::Hoisting], "{what}");
    }
    let mut m = m.clone();
    m.kernels[0].hoistable.push((pollyrs_scop::StmtId(9), 0));
    assert_eq!(rules(&s, &deps, &m), [Rule::Hoisting]);
}

/// A backward solve with several right-hand sides, in threads of one column each; its inner loop keeps a cell
/// in a register.
fn promoted() -> (Scop, Dependences, MappedScop) {
    let s = scop(
        "param n m; array L n n; array B n m; context n >= 0 and m >= 0;
         for i : 0 <= i < n { for j : 0 <= j < m {
           for k : 0 <= k < i { S0 : B[n-1-i,j] = B[n-1-i,j], L[n-1-i,n-i+k], B[n-i+k,j]; }
           S1 : B[n-1-i,j] = B[n-1-i,j], L[n-1-i,n-1-i]; } }",
    );
    let (deps, m) = mapped(&s);
    (s, deps, m)
}

#[test]
fn cells_in_registers() {
    let (s, deps, m) = promoted();
    let promotions: Vec<_> = m.kernels.iter().flat_map(|k| &k.promotions).collect();
    assert_eq!(promotions.len(), 1, "{m}");
    assert_eq!(promotions[0].accesses.len(), 2);
    assert_eq!(rules(&s, &deps, &m), []);
    // A statement that stores its cell in each instance, where the program may not, stores it behind the run.
    let mut kept = s.clone();
    let own = m.kernels.iter().flat_map(|k| &k.promotions).next().unwrap().statement.0;
    let of = |s: &mut Scop, change: fn(&mut pollyrs_scop::Access)| {
        s.statements[own].accesses.iter_mut().filter(|a| a.kind != AccessKind::Read).for_each(change);
    };
    of(&mut kept, |a| a.certain = false);
    assert_eq!(rules(&kept, &deps, &m), []);
    of(&mut kept, |a| a.kind = AccessKind::MayWrite);
    assert!(rules(&kept, &deps, &m).contains(&Rule::Promotion));
    type Break = fn(&Scop, &mut MappedKernel);
    let broken: [(&str, Break); 5] = [
        ("another read of the cell's array", |_, k| k.promotions[0].accesses = vec![0, 1, 2, 3]),
        ("no write", |s, k| {
            let accesses = &s.statements[k.promotions[0].statement.0].accesses;
            k.promotions[0].accesses.retain(|at| accesses[*at].kind == AccessKind::Read);
        }),
        ("an access that there is not", |_, k| k.promotions[0].accesses.push(17)),
        ("another mark", |_, k| k.promotions[0].mark = Mark::Promoted(77)),
        ("a mark above all loops, where the cell is not the same", |_, k| {
            let tree = ScheduleTree::from_isl(&k.schedule).unwrap();
            let root = tree.root.marked(k.promotions[0].mark);
            k.schedule = ScheduleTree { domain: tree.domain, root }.to_isl().unwrap();
        }),
    ];
    for (what, change) in broken {
        let mut m = m.clone();
        let kernel = m.kernels.iter_mut().find(|k| !k.promotions.is_empty()).unwrap();
        change(&s, kernel);
        assert_eq!(rules(&s, &deps, &m), [Rule::Promotion], "{what}");
    }
}

/// A histogram of 100 elements, 16 points a thread: a block's counters have to be for all elements, and for
/// nothing but one operation of integers.
#[test]
fn broken_counters() {
    let mut s = scop(
        "param n; array h 100; array p n; context n >= 0;
         for i : 0 <= i < n { S0 : h[i mod 100] = h[i mod 100], p[i]; }",
    );
    s.arrays[0].elem = pollyrs_scop::ElemType::Int(32);
    let update = |s: &Scop, op| {
        let handle = |kind: AccessKind| {
            let a =
                s.statements[0].accesses.iter().find(|a| a.array == ArrayId(0) && a.kind == kind).unwrap();
            let pollyrs_scop::AccessValue::Instruction(v) = a.value else { panic!() };
            v
        };
        let (load, store) = (handle(AccessKind::Read), handle(AccessKind::MustWrite));
        vec![pollyrs_scop::Update { load, store, chain: vec![], op, identity: crate::testing::value(0) }]
    };
    s.statements[0].updates = update(&s, pollyrs_scop::UpdateOp::Add);
    let deps = crate::dependences(&s).unwrap();
    let tree = crate::schedule(&s, &deps, &Default::default()).unwrap();
    let m = map(&s, &deps, &tree, &MapOptions::default()).unwrap();
    assert!(m.kernels.iter().all(|k| k.counters().len() == 1), "{m}");
    assert_eq!(rules(&s, &deps, &m), []);
    for end in 0..2 {
        let mut few = m.clone();
        let bound = &mut few.kernels[0].counters_mut()[0].bounds[0];
        let by = isl::Val::int(&s.ctx, if end == 0 { 1 } else { -1 }).unwrap();
        let side = if end == 0 { &mut bound.0 } else { &mut bound.1 };
        *side = side.clone().add_constant(by).unwrap();
        assert_eq!(rules(&s, &deps, &few), [Rule::Counters]);
    }
    let mut twice = m.clone();
    let again = twice.kernels[0].counters()[0].clone();
    twice.kernels[0].counters_mut().push(again);
    assert_eq!(rules(&s, &deps, &twice), [Rule::Counters]);
    s.statements[0].updates = update(&s, pollyrs_scop::UpdateOp::FAdd);
    assert_eq!(rules(&s, &deps, &m), [Rule::Counters]);
}

#[test]
fn teams_share_what_is_not_written() {
    let s = kernel("gemm");
    let (deps, m) = mapped(&s);
    let with = |team: u32| {
        let mut m = m.clone();
        m.kernels.iter_mut().for_each(|k| k.mode = Mode::Team(team));
        m
    };
    assert_eq!(rules(&s, &deps, &with(4)), []);
    // No power of two; more threads than a block has.
    assert_eq!(rules(&s, &deps, &with(3)), [Rule::Team]);
    assert_eq!(rules(&s, &deps, &with(32)), [Rule::Team]);
    // Control flow on data around a read of what is written, or of what isn't.
    for (written, expected) in [(true, vec![Rule::Team]), (false, vec![])] {
        let mut s = s.clone();
        let writes: Vec<_> = s.statements.iter().flat_map(|s| &s.accesses).cloned().collect();
        let writes = |array| writes.iter().any(|w| w.kind != AccessKind::Read && w.array == array);
        let reads = s.statements.iter_mut().flat_map(|s| &mut s.accesses);
        for a in reads.filter(|a| a.kind == AccessKind::Read && writes(a.array) == written) {
            let relation = a.relation.clone();
            a.within = Some(pollyrs_scop::Within { counters: vec![], values: vec![], relation });
        }
        assert_eq!(rules(&s, &deps, &with(4)), expected);
    }
}
