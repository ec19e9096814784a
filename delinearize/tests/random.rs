//! Random shapes, subscripts and domains, linearised and recovered, checked at every point of small boxes.

mod support;
use pollyrs_delinearize::*;
use support::*;

/// Numerical Recipes' linear congruential generator, high bits: the same cases in every run.
struct Random(u64);

/// Kinds of subscripts; the last two are those of a part of an array at an offset that is a parameter, and of
/// one that is a size.
const KINDS: usize = 14;

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a>(&mut self, menu: &[&'a str]) -> &'a str {
        menu[self.below(menu.len())]
    }
}

const SIZES: &[&str] = &["p", "q", "p + 1", "q + 2", "2*p", "p + q - 1", "3", "q", "p"];
const BOUNDS: &[&str] = &["p", "q", "2", "p - 1", "p + 1", "2p", "p + q - 1"];

/// A subscript of a dimension of size `size` from the counters `i0 .. i(n-1)`.
fn subscript(random: &mut Random, size: &str, n: usize, kinds: usize) -> String {
    let i = format!("i{}", random.below(n));
    let j = format!("i{}", random.below(n));
    match random.below(kinds) {
        0..=4 => i,
        5 => format!("{i} + 1"),
        6 => format!("{i} - 1"),
        7 => format!("{i} + {j}"),
        8 => format!("{size} - 1 - {i}"),
        9 => "1".to_string(),
        10 => format!("{size} - 1"),
        12 => format!("{i} + q - 1"),
        13 => format!("{i} + {size} - 2"),
        _ => format!("2*{i}"),
    }
}

/// A case with the array as it was declared: its inner sizes and each access's subscripts.
struct Declared {
    case: Case,
    text: String,
    sizes: Vec<Polynomial>,
    subscripts: Vec<Vec<Polynomial>>,
}

impl Declared {
    /// Whether the declared inner subscripts are inside wherever executed, for these parameters.
    fn inside(&self, p: &[i32]) -> bool {
        let at = |i: &[i32], f: &Polynomial| {
            f.eval(|s| match s {
                Symbol::Param(n) => i128::from(p[n]),
                Symbol::Iter(d) => i128::from(i[d]),
            })
            .unwrap()
        };
        self.case.accesses.iter().zip(&self.subscripts).all(|(a, f)| {
            executed(a, p, -1..=5)
                .iter()
                .all(|i| self.sizes.iter().zip(&f[1..]).all(|(d, f)| (0..at(i, d)).contains(&at(i, f))))
        })
    }
}

fn random_case(random: &mut Random, menu: &[&str], hinted: bool, kinds: usize) -> Declared {
    let dims = 1 + random.below(3);
    let sizes: Vec<&str> = (1..dims).map(|_| random.pick(menu)).collect();
    let hint: Vec<i64> = sizes.iter().filter_map(|s| s.parse().ok()).collect();
    let sizes = sizes.join(", ");
    let context = random.pick(&["", "", "p >= 1 and q >= 1"]);
    let mut case = Case::new("p q", context);
    let mut text = format!("{context}: A[*] {sizes}");
    let mut declared = Vec::new();
    for _ in 0..1 + random.below(3) {
        let n = 1 + random.below(3);
        let bounds: Vec<String> = (0..n)
            .map(|d| match random.below(5) {
                0 if d > 0 => format!("0 <= i{d} <= i{}", d - 1),
                1 => format!("1 <= i{d} < {}", random.pick(BOUNDS)),
                2 => format!("0 <= i{d} < {} and (i{d} + p) mod 2 = 0", random.pick(BOUNDS)),
                _ => format!("0 <= i{d} < {}", random.pick(BOUNDS)),
            })
            .collect();
        let iters: Vec<String> = (0..n).map(|d| format!("i{d}")).collect();
        let subscripts: Vec<String> = ["p"]
            .into_iter()
            .chain(sizes.split(", ").filter(|s| !s.is_empty()))
            .map(|s| subscript(random, s, n, kinds))
            .collect();
        let domain = format!("{} : {}", iters.join(" "), bounds.join(" and "));
        let names: Vec<&str> = iters.iter().map(String::as_str).collect();
        declared.push(subscripts.iter().map(|f| parse(f, &names, &["p", "q"])).collect());
        let subscripts = subscripts.join(", ");
        text += &format!("; {domain} -> {subscripts}");
        case = case.array(&domain, &sizes, &subscripts);
        if hinted && random.below(2) == 0 {
            case = case.hint(&hint);
        }
    }
    let sizes = sizes.split(", ").filter(|s| !s.is_empty()).map(|s| parse(s, &[], &["p", "q"])).collect();
    Declared { case, text, sizes, subscripts: declared }
}

/// What a run over random cases saw.
#[derive(Debug, Default)]
struct Totals {
    recovered: usize,
    conditional: usize,
    inner_dims: usize,
    seen: Seen,
    /// Parameters for which the declared view is right, and of those the ones that the recovered one covers.
    declared_right: usize,
    covered: usize,
}

fn run(seed: u64, cases: usize, menu: &[&str], hinted: bool, kinds: usize) -> Totals {
    let mut random = Random(seed);
    let mut totals = Totals::default();
    for n in 0..cases {
        let declared = random_case(&mut random, menu, hinted, kinds);
        let (case, text) = (&declared.case, &declared.text);
        let shape = match case.solve() {
            Ok(shape) => shape,
            Err(DelinearizeError::Blocked(b)) => {
                println!("case {n}: {text}\n   {b}");
                continue;
            }
            Err(e) => panic!("case {n}: {text}: {e}"),
        };
        totals.recovered += 1;
        totals.inner_dims += shape.dims() - 1;
        if !shape.is_unconditional().unwrap() {
            totals.conditional += 1;
        }
        let sizes: Vec<String> = shape.sizes.iter().flatten().map(|s| s.to_string()).collect();
        println!("case {n}: {text}\n   {sizes:?} if {}", shape.assumption);
        let seen = check_points(case, &shape, -1..=3, -1..=5);
        totals.seen.points += seen.points;
        totals.seen.holds += seen.holds;
        totals.seen.fails += seen.fails;
        for p in grid(2, -1..=3).into_iter().filter(|p| case.in_context(p) && declared.inside(p)) {
            totals.declared_right += 1;
            if holds(&shape.assumption, &p) {
                totals.covered += 1;
            } else {
                println!("   not covered: {p:?}");
            }
        }
    }
    println!("{totals:?}");
    totals
}

#[test]
fn parametric_shapes() {
    let t = run(20150608, 120, SIZES, false, KINDS - 2);
    assert!(t.recovered > 110 && t.conditional > 30, "{t:?}");
    assert!(t.seen.points > 10_000 && t.seen.holds > 1_000 && t.seen.fails > 200, "{t:?}");
    assert!(t.covered * 100 > t.declared_right * 95, "{t:?}");
}

#[test]
fn constant_shapes_never_fail_and_need_conditions_only_with_hints() {
    let menu = ["2", "3", "4", "6"];
    let t = run(7, 80, &menu, false, KINDS - 2);
    assert!(t.recovered == 80 && t.conditional == 0 && t.inner_dims > 5, "{t:?}");
    let t = run(8, 80, &menu, true, KINDS - 2);
    assert!(t.recovered == 80 && t.conditional > 5 && t.inner_dims > 20, "{t:?}");
    assert!(t.seen.points > 4_000 && t.seen.fails > 2, "{t:?}");
}

/// Sizes of one class at a time, with parts of arrays and sizes in subscripts among the accesses: in each,
/// conditions are exact on both sides.
#[test]
fn each_class_of_sizes() {
    let classes: [(&str, &[&str]); 7] = [
        ("one parameter", &["p", "q", "p"]),
        ("a parameter and a number", &["p + 1", "q + 2", "p - 1"]),
        ("a multiple", &["2*p", "3*q", "2*q"]),
        ("a multiple and a number", &["2*p + 2", "3*q - 3"]),
        ("a sum", &["p + q - 1", "p + q + 1"]),
        ("a difference", &["p - q", "2*p - q"]),
        ("numbers beside parameters", &["p", "3", "q", "2"]),
    ];
    for (seed, (class, menu)) in (1..).zip(classes) {
        let t = run(seed, 24, menu, false, KINDS);
        // The diagonals of arrays whose sizes are sums have strides that say little.
        assert!(t.recovered >= 15 && t.conditional >= 3 && t.inner_dims >= 6, "{class}: {t:?}");
        assert!(t.seen.points > 1_000 && t.seen.holds > 100 && t.seen.fails > 10, "{class}: {t:?}");
    }
}
