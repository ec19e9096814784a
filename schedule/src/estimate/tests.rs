use super::*;
use crate::testing::{kernel, scop};

fn of(s: &Scop, array: &str) -> Footprint {
    let id = s.arrays.iter().position(|a| a.name == array).unwrap();
    footprint(s, &crate::dependences(s).unwrap(), ArrayId(id)).unwrap()
}

/// With a schedule of this shape, of statements of 8 instructions.
fn work_in(s: &Scop, root: Tree) -> WorkEstimate {
    let mut domain = isl::UnionSet::empty_in(s.param_space().unwrap()).unwrap();
    for statement in &s.statements {
        domain = domain.add_set(statement.domain.clone()).unwrap();
    }
    work(s, &ScheduleTree { domain, root }, &vec![8.0; s.statements.len()]).unwrap()
}

fn assert_point(s: &Scop, got: &isl::PwMultiAff, want: &str) {
    let (got, want) =
        (isl::Set::from_pw_multi_aff(got.clone()).unwrap(), isl::Set::read(&s.ctx, want).unwrap());
    let params = want.clone().params().unwrap();
    assert!(got.clone().intersect_params(params).unwrap().is_equal(&want).unwrap(), "got {got}\nwant {want}");
}

#[test]
fn triangle() {
    let s = scop(
        "param n; array A n n; array B n; for i : 0 <= i < n { for j : 0 <= j <= i { S0 : A[i,j] = B[j]; } }",
    );
    let a = of(&s, "A");
    assert_point(&s, &a.touched_min, "[n] -> { A[0,0] : n > 0 }");
    assert_point(&s, &a.touched_max, "[n] -> { A[n-1,n-1] : n > 0 }");
    assert!(a.must_read_before_write && !a.boxed);
    assert!(a.nonempty.is_equal(&isl::Set::read(&s.ctx, "[n] -> { : n > 0 }").unwrap()).unwrap());
    let b = of(&s, "B");
    assert!(b.written.is_none() && b.must_read_before_write);
    assert_point(&s, &b.touched_max, "[n] -> { B[n-1] : n > 0 }");
    let w = work_in(&s, Tree::Leaf);
    let n = isl::PwAff::read(&s.ctx, "[n] -> { [(n)] : n > 0; [(0)] : n <= 0 }").unwrap();
    assert_eq!(w.terms.len(), 1);
    assert!(w.terms[0].iter().all(|f| f.is_equal(&n).unwrap()), "{:?}", w.terms);
}

/// isl 0.27 finds a wrong last element here (`isl/c/sorted.c`).
#[test]
fn strided_triangle() {
    let s = scop(
        "param n; array A n n; array C n n; for i : 0 <= 2i < n { for j : 0 <= j <= 2i - 2 {
         S0 : C[n-1-2i, n-2i+j] = A[n-1-2i, n-1-2i+j], A[n-1-2i, n-2i+j]; } }",
    );
    for (array, first) in [("A", 0), ("C", 1)] {
        let f = of(&s, array);
        let text = format!("[n] -> {{ {array}[(n-1) mod 2, (n-1) mod 2 + {first}] : n > 2 }}");
        assert_point(&s, &f.touched_min, &text);
        assert_point(&s, &f.touched_max, &format!("[n] -> {{ {array}[n-3, n-2] : n > 2 }}"));
    }
}

#[test]
fn copy_in() {
    let full = scop("param n m; array A n m; for i : 0 <= i < n { for j : 0 <= j < m { S0 : A[i,j] = ; } }");
    assert!(!of(&full, "A").must_read_before_write);
    let holes =
        scop("param n m; array A n m; for i : 0 <= i < n { for j : 0 <= j < m - 1 { S0 : A[i,j] = ; } }");
    assert!(of(&holes, "A").must_read_before_write);
    let strided = scop("param n; array A n; for i : 0 <= i < n { S0 : A[2*i] = ; }");
    assert!(of(&strided, "A").must_read_before_write);
    let may = scop("param n; array A n; for i : 0 <= i < n { S0 : A[i] ?= ; }");
    assert!(of(&may, "A").must_read_before_write);
    let read_later = scop(
        "param n; array A n; array B n; for i : 0 <= i < n { S0 : A[i] = ; } for i : 0 <= i < n { S1 : B[i] = A[i]; }",
    );
    assert!(!of(&read_later, "A").must_read_before_write);
    let read_outside = scop(
        "param n; array A n; array B n; for i : 0 <= i < n { S0 : A[i] = ; } for i : 0 <= i <= n { S1 : B[i] = A[i]; }",
    );
    assert!(of(&read_outside, "A").must_read_before_write);
    assert!(of(&kernel("gemm"), "C").must_read_before_write);
    assert!(!of(&kernel("2mm"), "T").must_read_before_write);
}

#[test]
fn what_comes_back() {
    let of = |text: &str| of(&scop(text), "A").returned;
    let full = "param n m; array A n m; for i : 0 <= i < n { for j : 0 <= j < m { S0 : A[i,j] = A[i,j]; } }";
    assert!(matches!(of(full), Returned::Dense));
    let inside = "param n m; array A n m; array B n m; \
        for i : 1 <= i < n - 1 { for j : 1 <= j < m - 1 { S0 : A[i,j] = B[i,j]; } }";
    let Returned::Box(Corner { min, max }) = of(inside) else { panic!("not a box") };
    let s = scop(inside);
    assert_eq!((min.len(), max.len()), (2, 2));
    let last = isl::PwAff::read(max[1].context(), "[m] -> { [(m - 2)] : m >= 3 }").unwrap();
    let differ = max[1].clone().ne_set(last.clone()).unwrap().params().unwrap();
    assert!(differ.is_empty().unwrap(), "{} {}", max[1], s.name);
    let triangle = "param n; array A n n; for i : 0 <= i < n { for j : 0 <= j <= i { S0 : A[i,j] = ; } }";
    assert!(matches!(of(triangle), Returned::Sparse));
    let strided = "param n; array A n; for i : 0 <= i < n { S0 : A[2*i] = ; }";
    assert!(matches!(of(strided), Returned::Sparse));
    let may = "param n m; array A n m; for i : 0 <= i < n { for j : 1 <= j < m { S0 : A[i,j] ?= ; } }";
    assert!(matches!(of(may), Returned::Sparse));
}

#[test]
fn box_corners_cover_and_stay_inside() {
    let s = scop(
        "param n; context n >= 1; array A n n; for i : 0 <= i < n { for j : i <= j < n { S0 : A[i,j] = A[i,j]; } }",
    );
    let deps = crate::dependences(&s).unwrap();
    let f = compute(&s, &deps, ArrayId(0), Corners::Box).unwrap();
    assert!(f.boxed && f.certain);
    assert_point(&s, &f.touched_min, "[n] -> { A[0,0] : n > 0 }");
    assert_point(&s, &f.touched_max, "[n] -> { A[n-1,n-1] : n > 0 }");
    // A triangle whose first row starts inside: the box's corner comes before every element,
    // and need not be there.
    let s =
        scop("param n; context n >= 1; array A n n; for i : 0 <= i < n { S0 : A[i,n-1-i] = A[i,n-1-i]; }");
    let deps = crate::dependences(&s).unwrap();
    let f = compute(&s, &deps, ArrayId(0), Corners::Box).unwrap();
    assert_point(&s, &f.touched_min, "[n] -> { A[0,0] : n > 0 }");
    assert!(!f.certain);
    let exact = compute(&s, &deps, ArrayId(0), Corners::Lexicographic).unwrap();
    assert!(!exact.boxed && exact.certain);
    assert_point(&s, &exact.touched_min, "[n] -> { A[0,n-1] : n > 0 }");
}

/// The first written element depends on a parameter in ten pieces, the first and the last touched one do
/// not.
#[test]
fn only_the_written_corners_are_boxed() {
    let mut text = String::from("param n m; context n >= 100 and m >= 0; array A n n; ");
    for k in 1..=9 {
        text += &format!("for i{k} : i{k} = 0 and m <= {} {{ S{k} : A[1,{k}] = A[1,0]; }} ", 10 * k);
    }
    text += "S10 : A[2,0] = A[1,0];";
    let s = scop(&text);
    let f = of(&s, "A");
    assert!(f.written_boxed && !f.boxed);
    assert_point(&s, &f.touched_min, "[n, m] -> { A[1,0] : n >= 100 and m >= 0 }");
    assert_point(&s, &f.touched_max, "[n, m] -> { A[2,0] : n >= 100 and m >= 0 }");
    let (first, last) = f.written.unwrap();
    assert_point(&s, &first, "[n, m] -> { A[1,0] : n >= 100 and 0 <= m <= 90 }");
    // Behind what is touched: the code on the host cuts it.
    assert_point(&s, &last, "[n, m] -> { A[2,9] : n >= 100 and 0 <= m <= 90 }");
}

#[test]
fn work_is_never_negative() {
    let s = scop(
        "param n m; array A n; for i : 3 <= i < n { for j : i <= j < m { S0 : A[i] = A[i]; } } S1 : A[0] = ;",
    );
    let w = work_in(&s, Tree::Leaf);
    assert_eq!(w.terms.iter().map(|t| t.len()).collect::<Vec<_>>(), [2, 0]);
    for f in &w.terms[0] {
        assert!(
            f.clone()
                .domain()
                .unwrap()
                .is_equal(&isl::Set::universe(s.param_space().unwrap()).unwrap())
                .unwrap()
        );
        assert!(!f.min_value_is_negative());
    }
}

/// What is beneath the marks of kernels, nests and tasks has neighbours, whatever is marked in them.
#[test]
fn serial_work() {
    let s = scop(
        "param n m; array A n; array B n; for i : 0 <= i < n { S0 : A[i] = B[i]; }
         for i : 0 <= i < n { for j : 0 <= j < m { S1 : B[0] = B[0], A[i]; } } S2 : B[1] = B[0];",
    );
    let filter = |text: &str| isl::UnionSet::read(&s.ctx, text).unwrap();
    let tree = |first: &str, second: &str| {
        let serial = |name: &str| match name {
            SERIAL => Tree::Leaf.marked(SERIAL),
            name => Tree::Leaf.marked(SERIAL).marked(name),
        };
        Tree::Sequence(vec![
            (filter("[n, m] -> { S0[i] }"), serial(first)),
            (filter("[n, m] -> { S1[i, j]; S2[] }"), serial(second)),
        ])
    };
    for (first, second, want) in [
        (KERNEL, NEST, &[][..]),
        (GRAPH, ROWS, &[]),
        (KERNEL, SERIAL, &[("n", "m")]),
        (SERIAL, EITHER, &[("n", "")]),
        (SERIAL, SERIAL, &[("n", ""), ("n", "m")]),
    ] {
        let got = work_in(&s, tree(first, second)).serial;
        assert_eq!(got.len(), want.len(), "{first} {second}");
        for (factors, (outer, inner)) in got.iter().zip(want) {
            let sizes = ["3", outer, inner].into_iter().filter(|size| !size.is_empty());
            assert_eq!(factors.len(), sizes.clone().count(), "{first} {second}");
            for (factor, size) in factors.iter().zip(sizes) {
                let want = isl::PwAff::read(&s.ctx, &format!("[n, m] -> {{ [({size})] }}")).unwrap();
                let runs = isl::Set::read(&s.ctx, "[n, m] -> { : n > 0 and m > 0 }").unwrap();
                let got = factor.clone().intersect_params(runs.clone()).unwrap();
                assert!(got.is_equal(&want.intersect_params(runs).unwrap()).unwrap(), "{factor} {size}");
            }
        }
    }
}

trait Negative {
    fn min_value_is_negative(&self) -> bool;
}

impl Negative for isl::PwAff {
    fn min_value_is_negative(&self) -> bool {
        self.clone().min_value().unwrap().is_neg().unwrap()
    }
}
