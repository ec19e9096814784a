//! The examples of the ICS 2015 paper and kernels of its kind, each as C would index them.

mod support;
use pollyrs_delinearize::*;
use support::*;

const ALWAYS: &str = "";

#[test]
fn linear_needs_nothing() {
    let case = Case::new("n", "").flat("i : 0 <= i < n", "i").flat("i : 0 <= i < n", "2*i + n - 1");
    case.expect("", ALWAYS, &["i0", "2i0 + n - 1"]);
}

#[test]
fn gemm_on_variable_length_arrays() {
    let d = "i j k : 0 <= i < n and 0 <= j < m and 0 <= k < p";
    Case::new("n m p", "").array(d, "p", "i, k").expect("p", ALWAYS, &["i0, i2"]);
    Case::new("n m p", "").array(d, "m", "k, j").expect("m", ALWAYS, &["i2, i1"]);
    let c =
        Case::new("n m p", "").array("i j : 0 <= i < n and 0 <= j < m", "m", "i, j").array(d, "m", "i, j");
    c.expect("m", ALWAYS, &["i0, i1", "i0, i1"]);
}

#[test]
fn leading_dimension_needs_a_condition() {
    let case = Case::new("n m lda", "").array("i j : 0 <= i < n and 0 <= j < m", "lda", "i, j");
    let shape = case.expect("lda", "n <= 0 or m <= 0 or m <= lda", &["i0, i1"]);
    let seen = check_points(&case, &shape, -1..=3, -1..=3);
    assert!(seen.holds > 20 && seen.fails > 5, "{seen:?}");
}

#[test]
fn subarray_initialisation() {
    let case = Case::new("m p o0 o1 o2 s0 s1 s2", "s0 >= 1 and s1 >= 1 and s2 >= 1 and o1 >= 0 and o2 >= 0")
        .array("i j k : 0 <= i < s0 and 0 <= j < s1 and 0 <= k < s2", "m, p", "i + o0, j + o1, k + o2");
    case.expect("m, p", "o1 <= m - s1 and o2 <= p - s2", &["i0 + o0, i1 + o1, i2 + o2"]);
}

/// The paper's figure: A[8][9] with the part at (1, 3) inside, and the part at (5, 6) past the end of its
/// rows.
#[test]
fn subarray_settings_of_the_figure() {
    let d = "j k : 0 <= j < s1 and 0 <= k < s2";
    let case = Case::new("p o1 o2 s1 s2", "o1 >= 0 and o2 >= 0").array(d, "p", "j + o1, k + o2");
    let shape = case.solve().unwrap();
    assert!(holds(&shape.assumption, &[9, 1, 3, 3, 6]), "{}", shape.assumption);
    assert!(!holds(&shape.assumption, &[9, 5, 6, 3, 6]), "{}", shape.assumption);
}

/// Listing 19: gemm on structures with pointer and sizes; nothing ties those of B to the loops.
#[test]
fn gemm_on_structures() {
    let d = "i j k : 0 <= i < n and 0 <= j < m and 0 <= k < p";
    let case = Case::new("n m p ld", "n >= 1 and m >= 1 and p >= 1").array(d, "ld", "k, j");
    let shape = case.expect("ld", "m <= ld", &["i2, i1"]);
    let seen = check_points(&case, &shape, 0..=3, 0..=3);
    assert!(seen.holds > 10 && seen.fails > 10, "{seen:?}");
}

#[test]
fn array_sizes_in_subscripts() {
    let case = Case::new("n m p", "p >= 1 and n >= 1 and m >= 1")
        .array("i j k : 0 <= i < p and 0 <= j < n and 0 <= k < m", "n, m", "i, j, k")
        .array(" : ", "n, m", "0, 0, m - 1")
        .array(" : ", "n, m", "0, n - 1, 0")
        .array(" : ", "n, m", "0, n - 1, m - 1");
    let want = ["i0, i1, i2", "0, 0, m - 1", "0, n - 1, 0", "0, n - 1, m - 1"];
    let shape = case.expect("n, m", ALWAYS, &want);
    assert!(shape.subscripts.iter().flatten().all(|f| f.n_piece().unwrap() == 1));
}

/// The paper's S2, `A[1][1][1]`, is inside only where the sizes are at least 2.
#[test]
fn constant_subscripts_bound_the_sizes() {
    let case = Case::new("n m p", "")
        .array("i j k : 0 <= i < p and 0 <= j < n and 0 <= k < m", "n, m", "i, j, k")
        .array(" : ", "n, m", "1, 1, 1");
    let shape = case.expect("n, m", "n >= 2 and m >= 2", &["i0, i1, i2", "1, 1, 1"]);
    check_points(&case, &shape, 0..=3, 0..=3);
}

#[test]
fn reversed_rows_and_columns() {
    let d = "i j : 0 <= i < n and 0 <= j < m";
    Case::new("n m", "").array(d, "m", "n - 1 - i, j").expect("m", ALWAYS, &["n - 1 - i0, i1"]);
    Case::new("n m", "").array(d, "m", "i, m - 1 - j").expect("m", ALWAYS, &["i0, m - 1 - i1"]);
    let square = "i j : 0 <= i < n and 0 <= j < n";
    let case = Case::new("n", "").array(square, "n", "n - 1 - i, n - 1 - j");
    case.expect("n", ALWAYS, &["n - 1 - i0, n - 1 - i1"]);
}

#[test]
fn a_row_wraps_into_the_one_before() {
    // a[i*n + j - 1] with j from 0: the first column reads the end of the row above.
    let case = Case::new("n", "")
        .flat("i j : 0 <= i < n and 0 <= j < n", "i*n + j - 1")
        .flat("i j : 0 <= i < n and 0 <= j < n", "i*n + j");
    let shape = case.solve().unwrap();
    assert!(shape.is_unconditional().unwrap());
    assert_eq!(
        (shape.subscripts[0][0].n_piece().unwrap(), shape.subscripts[1][0].n_piece().unwrap()),
        (2, 1)
    );
    let seen = check_points(&case, &shape, 0..=4, -1..=5);
    assert!(seen.points > 50, "{seen:?}");
}

#[test]
fn image_resize_scales_sizes() {
    // out[2h][2w] from in[h][w]: out[2i][2j], out[2i+1][2j+1] have the stride 4w and 2w.
    let d = "i j : 0 <= i < h and 0 <= j < w";
    let case = Case::new("h w", "").array(d, "2*w", "2*i, 2*j").array(d, "2*w", "2*i + 1, 2*j + 1");
    let shape = case.solve().unwrap();
    assert!(shape.is_unconditional().unwrap());
    check_points(&case, &shape, 0..=3, 0..=3);
    // With accesses to all rows.
    let case = case.array("i j : 0 <= i < 2h and 0 <= j < 2w", "2*w", "i, j");
    case.expect("2*w", ALWAYS, &["2i0, 2i1", "2i0 + 1, 2i1 + 1", "i0, i1"]);
    // Three dimensions, the paper's A[*][b1 P1][b2 P2].
    let d = "i j k : 0 <= i < n and 0 <= j < 3p and 0 <= k < 2q";
    Case::new("n p q", "").array(d, "3*p, 2*q", "i, j, k").expect("3*p, 2*q", ALWAYS, &["i0, i1, i2"]);
}

#[test]
fn diagonal_stencil_on_a_padded_array() {
    let d = "i j k : 1 <= i <= q and 1 <= j <= r and 1 <= k <= s";
    let case = Case::new("q r s", "")
        .array(d, "r + 2, s + 2", "i, j, k")
        .array(d, "r + 2, s + 2", "i + 1, j + 1, k + 1")
        .array(d, "r + 2, s + 2", "i - 1, j - 1, k - 1");
    case.expect("r + 2, s + 2", ALWAYS, &["i0, i1, i2", "i0 + 1, i1 + 1, i2 + 1", "i0 - 1, i1 - 1, i2 - 1"]);
}

#[test]
fn padded_array_without_the_middle_counter() {
    // Only whole columns of row 1: strides (r+2)(s+2) and 1, a product to factor and order.
    let d = "i k : 1 <= i <= q and 1 <= k <= s";
    Case::new("q r s", "r >= 1 and s >= 1").array(d, "r + 2, s + 2", "i, 1, k").expect(
        "r + 2, s + 2",
        ALWAYS,
        &["i0, 1, i1"],
    );
}

#[test]
fn fdtd_apml_sizes_n_plus_one() {
    let d = "z y x : 0 <= z < cz and 0 <= y < cy and 0 <= x < cx";
    let s = "cy + 1, cx + 1";
    let edge = "z x : 0 <= z < cz and 0 <= x < cx";
    let case = Case::new("cz cy cx", "cy >= 1 and cx >= 1 and cz >= 1")
        .array(d, s, "z, y, x")
        .array(d, s, "z, y + 1, x")
        .array("z y : 0 <= z < cz and 0 <= y < cy", s, "z, y, cx")
        .array(edge, s, "z, cy, x")
        .array("z : 0 <= z < cz", s, "z, cy, cx");
    case.expect(s, ALWAYS, &["i0, i1, i2", "i0, i1 + 1, i2", "i0, i1, cx", "i0, cy, i1", "i0, cy, cx"]);
}

#[test]
fn ludcmp_size_n_plus_one() {
    let case = Case::new("n", "")
        .array("i j : 0 <= i < n and i + 1 <= j <= n", "n + 1", "j, i")
        .array("i j k : 0 <= i < n and i + 1 <= j <= n and 0 <= k < i", "n + 1", "i + 1, j")
        .array("i : 0 <= i <= n", "n + 1", "i, i");
    case.expect("n + 1", ALWAYS, &["i1, i0", "i0 + 1, i1", "i0, i0"]);
}

/// The stride of the diagonal, n + 1, would make rows of n + 1 elements as well, in which nothing is where
/// the program has it.
#[test]
fn rows_and_the_diagonal() {
    let d = "i j k : 0 <= i < n and 0 <= j < i and 0 <= k < j";
    let case = Case::new("n", "")
        .array(d, "n", "i, j")
        .array(d, "n", "i, k")
        .array(d, "n", "k, j")
        .array(d, "n", "j, j")
        .array("i j : 0 <= i < n and 0 <= j < n - i", "n", "i, i + j");
    case.expect("n", ALWAYS, &["i0, i1", "i0, i2", "i2, i1", "i1, i1", "i0, i0 + i1"]);
}

/// Of a triangle without its lower half only the diagonal's stride is seen; rows of n are right, too, and the
/// program's.
#[test]
fn rows_of_a_triangle_alone() {
    let case = Case::new("n", "").array("k : 0 <= k < n", "n", "k, k").array(
        "k j : 0 <= k < n and 0 <= j < n - 1 - k",
        "n",
        "k, k + 1 + j",
    );
    case.expect("n", ALWAYS, &["i0, i0", "i0, i0 + 1 + i1"]);
}

/// Lower bounds of a descriptor are no sizes: rows of n, though other rows need less of the bounds where
/// these are as large as sizes.
#[test]
fn origins_are_no_sizes() {
    let d = "i j : 0 <= i < m and 0 <= j < n";
    let case = Case::new("m n lb lc", "m > 0").array(d, "n", "i + 1 - lc, j + 1 - lb");
    case.expect("n", "n <= 0 or lb = 1", &["i0 + 1 - lc, i1 + 1 - lb"]);
}

/// Rows of a band, `A[i * (kl + ku + 1) + j - i + kl]`, and LAPACK's columns, `A[ku + i - j + j * lda]`.
#[test]
fn bands() {
    let d = "i j : 0 <= i < n and 0 <= j < n and i - kl <= j <= i + ku";
    let case = Case::new("n kl ku", "").array(d, "kl + ku + 1", "i, j - i + kl");
    case.expect("kl + ku + 1", ALWAYS, &["i0, i1 - i0 + kl"]);
    let d = "j i : 0 <= i < n and 0 <= j < n and j - ku <= i <= j + kl";
    let case = Case::new("n kl ku lda", "n > kl and kl >= 0 and ku >= 0").array(d, "lda", "j, ku + i - j");
    // The last row of the band is reached from n > kl on.
    case.expect("lda", "lda > kl + ku or n <= 0", &["i0, ku + i1 - i0"]);
}

#[test]
fn jacobi_2d_and_seidel() {
    let d = "t i j : 0 <= t < steps and 1 <= i < n - 1 and 1 <= j < n - 1";
    let mut case = Case::new("steps n", "");
    for f in ["i, j", "i - 1, j", "i + 1, j", "i, j - 1", "i, j + 1", "i - 1, j - 1", "i + 1, j + 1"] {
        case = case.array(d, "n", f);
    }
    let want = [
        "i1, i2",
        "i1 - 1, i2",
        "i1 + 1, i2",
        "i1, i2 - 1",
        "i1, i2 + 1",
        "i1 - 1, i2 - 1",
        "i1 + 1, i2 + 1",
    ];
    case.expect("n", ALWAYS, &want);
}

#[test]
fn one_parameter_cubes() {
    let d = "i j k : 0 <= i < n and 0 <= j < n and 0 <= k < n";
    Case::new("n", "").array(d, "n, n", "i, j, k").array(d, "n, n", "k, i, j").expect(
        "n, n",
        ALWAYS,
        &["i0, i1, i2", "i2, i0, i1"],
    );
}

#[test]
fn conv2d_in_four_dimensions() {
    let params = "N C H W K R S";
    let at_least_one = "N >= 1 and C >= 1 and H >= 1 and W >= 1 and K >= 1 and R >= 1 and S >= 1";
    let d = "n k h w c r s : 0 <= n < N and 0 <= k < K and 0 <= h < H and 0 <= w < W \
             and 0 <= c < C and 0 <= r < R and 0 <= s < S";
    Case::new(params, at_least_one).array(d, "C, H + R - 1, W + S - 1", "n, c, h + r, w + s").expect(
        "C, H + R - 1, W + S - 1",
        ALWAYS,
        &["i0, i4, i2 + i5, i3 + i6"],
    );
    Case::new(params, "").array(d, "C, R, S", "k, c, r, s").expect("C, R, S", ALWAYS, &["i1, i4, i5, i6"]);
    Case::new(params, "").array(d, "K, H, W", "n, k, h, w").expect("K, H, W", ALWAYS, &["i0, i1, i2, i3"]);
    // 3x3 kernels, padded by one on each side.
    let d = "n k h w c r s : 0 <= n < N and 0 <= k < K and 0 <= h < H and 0 <= w < W \
             and 0 <= c < C and 0 <= r < 3 and 0 <= s < 3";
    Case::new("N C H W K", "").array(d, "C, H + 2, W + 2", "n, c, h + r, w + s").expect(
        "C, H + 2, W + 2",
        ALWAYS,
        &["i0, i4, i2 + i5, i3 + i6"],
    );
    Case::new("N C H W K", "").array(d, "C, 3, 3", "k, c, r, s").expect(
        "C, 3, 3",
        ALWAYS,
        &["i1, i4, i5, i6"],
    );
}

#[test]
fn missing_dimension_takes_the_order_that_needs_no_condition() {
    // A[i][0][k] in A[*][P][Q]: the stride of i is P*Q; only with Q innermost is k inside.
    let d = "i k : 0 <= i < n and 0 <= k < q";
    let case = Case::new("n p q", "p >= 1").array(d, "p, q", "i, 0, k");
    case.expect("p, q", ALWAYS, &["i0, 0, i1"]);
    let d = "i k : 0 <= i < n and 0 <= k < p";
    Case::new("n p q", "q >= 1").array(d, "q, p", "i, 0, k").expect("q, p", ALWAYS, &["i0, 0, i1"]);
}

#[test]
fn a_parameter_times_a_parameter() {
    // A[t][i] with a parameter t: t*n may be size n, subscript t, or the other way round.
    let case = Case::new("n t", "").array("i : 0 <= i < n", "n", "t, i");
    case.expect("n", ALWAYS, &["t, i0"]);
}

#[test]
fn rows_that_no_counter_steps_over() {
    // The border of a grid with a halo of g: its rows are n + 2g apart, which is no counter's stride and no
    // single product.
    let d = "i : -1 <= i <= n";
    let case = Case::new("n g", "").array(d, "n + 2*g", "g - 1, i + g").array(d, "n + 2*g", "g, i + g");
    let shape = case.expect("n + 2*g", "n < -1 or g >= 1", &["g - 1, i0 + g", "g, i0 + g"]);
    let seen = check_points(&case, &shape, -1..=4, -1..=4);
    assert!(seen.holds > 10 && seen.fails > 2, "{seen:?}");
}

#[test]
fn a_counter_in_every_dimension() {
    // The stride p*q + q + 1 has no affine factor; `[p + 1][q]` with `i, 0, i` is the same addresses as
    // `[p][q]` with `i, i, i`.
    let case = Case::new("n p q", "").array("i : 0 <= i < n", "p, q", "i, i, i");
    let shape = case.solve().unwrap();
    assert_eq!(shape.dims(), 3);
    let seen = check_points(&case, &shape, -1..=4, -1..=4);
    assert!(seen.holds > 100 && seen.fails > 30, "{seen:?}");
}

#[test]
fn width_as_a_difference() {
    let d = "i j : 0 <= i < n and 0 <= j < hi - lo";
    Case::new("n hi lo", "").array(d, "hi - lo", "i, j").expect("hi - lo", ALWAYS, &["i0, i1"]);
    Case::new("n hi lo", "").array(d, "hi - lo", "n - 1 - i, j").expect(
        "hi - lo",
        ALWAYS,
        &["n - 1 - i0, i1"],
    );
}

#[test]
fn constant_sizes_are_recovered_where_provable() {
    let d = "i j k : 0 <= i < n and 0 <= j < 10 and 0 <= k < 20";
    Case::new("n", "").array(d, "10, 20", "i, j, k").expect("10, 20", ALWAYS, &["i0, i1, i2"]);
    let stencil = "i j : 1 <= i < n and 1 <= j < 99";
    Case::new("n", "").array(stencil, "100", "i - 1, j + 1").array(stencil, "100", "i, j - 1").expect(
        "100",
        ALWAYS,
        &["i0 - 1, i1 + 1", "i0, i1 - 1"],
    );
    // Not provable: the linear view needs no condition.
    let d = "i j : 0 <= i < n and 0 <= j < m";
    Case::new("n m", "").array(d, "100", "i, j").expect("", ALWAYS, &["100i0 + i1"]);
    // Named by the type: a condition is worth it.
    let case = Case::new("n m", "").array(d, "100", "i, j").hint(&[100]);
    let shape = case.expect("100", "n <= 0 or m <= 0 or m <= 100", &["i0, i1"]);
    assert_eq!(shape.origin, Origin::Hint);
    // Named, but the program runs through the rows.
    Case::new("m", "").flat("i : 0 <= i < m", "i").hint(&[100]).expect("", ALWAYS, &["i0"]);
}

#[test]
fn parametric_rows_of_constant_pixels() {
    let d = "y x c : 0 <= y < h and 0 <= x < w and 0 <= c < 3";
    Case::new("h w", "").array(d, "w, 3", "y, x, c").expect("w, 3", ALWAYS, &["i0, i1, i2"]);
}

#[test]
fn blocked() {
    let blocked = |case: Case| match case.solve() {
        Err(DelinearizeError::Blocked(b)) => b,
        other => panic!("{other:?}"),
    };
    let mut case = Case::new("n", "").flat("i : 0 <= i < n", "i");
    case.accesses[0].offset = Polynomial::iter(0).scale(2);
    assert_eq!(blocked(case), Blocked::NotDivisible { access: 0, term: "2*i0".into() });
    let mut case = Case::new("n", "").flat("i : 0 <= i < n", "i");
    case.accesses[0].offset = Polynomial::iter(0).scale(4) + Polynomial::constant(1);
    assert_eq!(blocked(case), Blocked::NotDivisible { access: 0, term: "1".into() });
    let case = Case::new("n", "").flat("i : 0 <= i < n", "i*i");
    assert_eq!(blocked(case), Blocked::NonAffineSubscript { access: 0, term: "i0^2".into() });
    let case = Case::new("n m", "").flat("i : 0 <= i < n", "i").flat("i j : 0 <= i, j < n", "i*n + j*m");
    assert_eq!(blocked(case), Blocked::NonAffineSubscript { access: 1, term: "i0*n".into() });
    // A convolution with a stride that is a parameter: without it, there is an image.
    let d = "c y x r t : 0 <= c < k and 0 <= y, x < n and 0 <= r, t < 3";
    let case = Case::new("n h w s k", "").flat(d, "c*h*w + y*s*w + r*w + x*s + t");
    assert_eq!(blocked(case), Blocked::NonAffineSubscript { access: 0, term: "i1*w*s".into() });
    // A row of the declared size is never inside: each iteration reaches past it.
    let case = Case::new("n", "n >= 1").flat("i j : 0 <= i < n and 0 <= j < 1000*n", "i*n + j");
    assert_eq!(blocked(case), Blocked::NeverInside);
}

#[test]
fn a_spent_budget_is_an_error() {
    let d = "i j k : 0 <= i < n and 0 <= j < m and 0 <= k < p";
    let case = Case::new("n m p", "").array(d, "m, p", "i, j, k");
    let r = case.ctx.with_budget(50, || case.solve());
    assert!(matches!(r, Err(DelinearizeError::Isl(pollyrs_isl::Error::Quota))), "{r:?}");
}

#[test]
fn results_are_the_same_in_every_run() {
    let solve = || {
        let d = "i j k : 0 <= i < s0 and 0 <= j < s1 and 0 <= k < s2";
        let case =
            Case::new("m p o1 s0 s1 s2", "").array(d, "m, p", "i, j + o1, k").array(d, "m, p", "i, 0, k - 1");
        let s = case.solve().unwrap();
        let f: Vec<String> = s.subscripts.iter().flatten().map(|f| f.to_string()).collect();
        format!("{:?} {} {f:?}", s.sizes, s.assumption)
    };
    assert_eq!(solve(), solve());
}

#[test]
fn sizes_as_functions_of_the_parameters() {
    let case = Case::new("n m", "").array("i j : 0 <= i < n and 0 <= j < m", "2*m + 1", "i, j");
    let shape = case.solve().unwrap();
    let sizes = shape.size_functions(&case.problem()).unwrap();
    let want = pollyrs_isl::PwAff::read(&case.ctx, "[n, m] -> { [] -> [2m + 1] }").unwrap();
    assert!(sizes[0].is_none() && sizes[1].as_ref().unwrap().is_equal(&want).unwrap(), "{sizes:?}");
}

#[test]
fn malformed_problems_are_errors() {
    let malformed = |case: &Case| matches!(case.solve(), Err(DelinearizeError::Malformed(_)));
    assert!(malformed(&Case::new("n", "")));
    let mut case = Case::new("n", "").flat("i : 0 <= i < n", "i");
    case.accesses[0].offset = Polynomial::iter(1).scale(4);
    assert!(malformed(&case));
    case.accesses[0].offset = Polynomial::param(1).scale(4);
    assert!(malformed(&case));
    case.element_bytes = 0;
    assert!(malformed(&case));
    let mut case = Case::new("n", "").flat("i : 0 <= i < n", "i");
    case.accesses[0].offset = Polynomial::iter(0).scale(1 << 70);
    assert_eq!(case.solve().unwrap_err(), DelinearizeError::Blocked(Blocked::Overflow { access: 0 }));
}

/// A Fortran array `lo:hi+2`: its rows are `e + 1` long, and `e` is no size, though all of `e` would be right
/// for sizes that are alike.
#[test]
fn rows_of_an_extent_and_one() {
    let case = Case::new("m lo hi e", "m >= 1 and e >= -1").array(
        "k j : 0 <= k < m and 0 <= j <= hi - lo",
        "e + 1",
        "k, j",
    );
    case.expect("e + 1", "hi < lo or e >= hi - lo", &["i0, i1"]);
    // Lower bounds, and borders, in other variables than the loops' bounds.
    let case = Case::new("e lo hi m from to b c", "").array(
        "k j : 0 <= k <= m - to and 0 <= j <= hi - lo",
        "e + 1",
        "to - from + b + k, lo - c + b + j",
    );
    case.expect(
        "e + 1",
        "hi < lo or m < to or (lo - c + b >= 0 and hi - c + b <= e)",
        &["to - from + b + i0, lo - c + b + i1"],
    );
}

/// Bands, in rows of one element more than a counter strides over: a symmetric one by diagonals, a general
/// one by rows. Rows of what the counter strides over would have to be as long as there are rows.
#[test]
fn rows_of_bands() {
    let case = Case::new("n mu", "").array("j : 0 <= j < n", "mu + 1", "j, mu").array(
        "i j : 0 <= i < mu and 0 <= j <= n - 2 - i",
        "mu + 1",
        "1 + i + j, mu - 1 - i",
    );
    let shape = case.expect("mu + 1", "n <= 0 or mu >= 0", &["i0, mu", "1 + i0 + i1, mu - 1 - i0"]);
    let seen = check_points(&case, &shape, -1..=4, -1..=4);
    assert!(seen.holds > 10 && seen.fails > 2, "{seen:?}");
    let band = "i j : 1 <= i <= n and 1 <= j <= m and i - ml <= j <= i + mu";
    let case = Case::new("n m ml mu", "").array(band, "2*ml + mu + 1", "j - 1, i - j + ml + mu");
    let shape = case.solve().unwrap();
    let right = |n, m, ml, mu| holds(&shape.assumption, &[n, m, ml, mu]);
    assert!(right(50, 50, 2, 3) && right(9, 30, 0, 4) && right(30, 9, 4, 0), "{}", shape.assumption);
    check_points(&case, &shape, -1..=3, -1..=3);
}

/// The border below a grid that has two elements more on either side, as wide as an argument says: at most
/// two rows, and nothing else is assumed.
#[test]
fn rows_of_a_border() {
    let d = "j k : 0 <= j < w + 2d and 0 <= k < d";
    let case =
        Case::new("w d", "").array(d, "w + 4", "1 - k, j + 2 - d").array(d, "w + 4", "2 + k, j + 2 - d");
    let shape = case.solve().unwrap();
    let right = |w, d| holds(&shape.assumption, &[w, d]);
    assert!(right(40, 1) && right(40, 2) && right(1, 2) && !right(40, 3), "{}", shape.assumption);
    assert!(!shape.wraps && shape.subscripts.iter().flatten().all(|f| f.n_piece().unwrap() == 1));
    check_points(&case, &shape, -1..=4, -1..=4);
}

/// `table[i * n + v]` for values `v` that data has: rows of `n`, as `v` is any of `0` to `n - 1`, and no rows
/// of `n + 1` that each begin one element earlier.
#[test]
fn subscripts_of_data() {
    let d = "i v : 0 <= i < m and low <= v <= high";
    let case = Case::new("m n low high", "low <= high").flat(d, "i*n + v").found("low", "high");
    let shape = case.solve().unwrap();
    assert_eq!(shape.sizes.len(), 2);
    assert!(
        holds(&shape.assumption, &[40, 4, 0, 3]) && !holds(&shape.assumption, &[40, 4, 0, 4]),
        "{}",
        shape.assumption
    );
}

/// The right border of a grid with a halo of `h`: column `x - h + k` is in the row for `h` of at least `d`;
/// in the next one, as `k - h`, for none.
#[test]
fn columns_from_the_right_border() {
    let d = "j k : 0 <= j < y - 2h and 0 <= k < d";
    let case =
        Case::new("x y h d", "").array(d, "x", "j + h, x - h + k").array(d, "x", "j + h, x - h - 1 - k");
    let shape = case.solve().unwrap();
    assert!(
        holds(&shape.assumption, &[40, 60, 2, 2]) && holds(&shape.assumption, &[40, 60, 2, 1]),
        "{}",
        shape.assumption
    );
    assert!(!shape.wraps && shape.subscripts.iter().flatten().all(|f| f.n_piece().unwrap() == 1));
    check_points(&case, &shape, -1..=4, -1..=4);
}

/// Loops in one branch of a choice between numbers that are not equal, of which either may be the larger one:
/// what is checked says nothing of these.
#[test]
fn behind_a_choice() {
    let of = |n: &str| format!("i j : 0 <= i < {n} and 0 <= j < {n}q");
    let names = "m x y aq bq cq dq a b c d";
    let case = ["a", "b", "c", "d"]
        .iter()
        .fold(Case::new(names, "x < y or x > y"), |case, n| case.array(&of(n), "m", "i, j"));
    let shape = case.solve().unwrap();
    let check = |x, y, q| holds(&shape.check, &[40, x, y, q, 9, 8, 7, 3, 4, 5, 6]);
    assert!(check(1, 2, 40) && check(2, 1, 40) && !check(1, 2, 41) && !check(2, 1, 41), "{}", shape.check);
}

/// Places in a workspace are no columns where rows are as long as the loop over columns.
#[test]
fn places_that_are_no_columns_are_pinned() {
    let all = "i j : 0 <= i < m and 0 <= j < n";
    let inner = "i j : 1 <= i < m - 1 and 1 <= j < n - 1";
    let border = "i j : 0 <= i < m + 4 and 0 <= j < n + 4";
    type Access<'a> = (&'a str, &'a str, &'a str);
    let cases: &[(&str, &[Access<'_>], bool)] = &[
        ("m n p", &[(all, "n", "i, j + p")], true),
        ("m n p q", &[(all, "n", "i, j + p"), (all, "n", "i, j + q")], true),
        ("m n p", &[(inner, "n", "i, j + p")], true),
        (
            "m n p q",
            &[(inner, "n", "i, j + p"), (inner, "n", "i - 1, j + q"), (inner, "n", "i, j + q + 1")],
            true,
        ),
        ("m n p ld", &[(all, "ld", "i, j + p")], false),
        ("m n ld", &[(all, "ld", "i, j")], false),
        ("m n h", &[(all, "n + 2*h", "i + h, j + h")], false),
        ("m n", &[(all, "n", "i, j"), (all, "n", "i + 1, j")], false),
        // Lower bounds of a grid with two elements around it, and of one without.
        ("m n lb lc e", &[(border, "e", "i - 1 - lc, j - 1 - lb")], true),
        ("m n lb lc ld e f", &[(border, "f, e", "4 - ld, i - 1 - lc, j - 1 - lb")], true),
        ("m n lb lc e", &[(all, "e", "i + 1 - lc, j + 1 - lb")], false),
    ];
    for (params, accesses, pinned) in cases {
        let add = |case: Case, (domain, sizes, subscripts): &(&str, &str, &str)| {
            case.array(domain, sizes, subscripts)
        };
        let shape = accesses.iter().fold(Case::new(params, ""), add).solve().unwrap();
        assert_eq!(shape.pinned, *pinned, "{accesses:?}: {}", shape.assumption);
    }
}
