// Vectors of vectors whose accesses are checked: rows of one length are an array, wherever they lie. Rows of different lengths and an index that
// is out of range stay with the original loop, which panics where it did.
// ARGS: 40 23
// ARGS: 1 1
// ARGS: 0 3
// ARGS: 3 2
// ARGS: 33 65
// OFFLOAD: partial
// KERNELS: product transposed relaxed weighted counted clipped scaled norms
// FALLBACK: no check in the loop fails
use std::panic::{AssertUnwindSafe, catch_unwind};

type Rows = Vec<Vec<f64>>;

#[inline(never)]
fn product(a: &Rows, b: &Rows, c: &mut Rows, m: usize) {
    for i in 0..a.len() {
        for j in 0..m {
            for k in 0..b.len() {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
}

#[inline(never)]
fn transposed(a: &[Vec<f64>], t: &mut [Vec<f64>]) {
    for i in 0..a.len() {
        for j in 0..a[i].len() {
            t[j][i] = a[i][j];
        }
    }
}

#[inline(never)]
fn relaxed(a: &Rows, b: &mut Rows, n: usize, m: usize) {
    for i in 1..n.max(1) - 1 {
        for j in 1..m.max(1) - 1 {
            b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        }
    }
}

#[inline(never)]
fn updated(w: &mut Rows, x: &[f64], d: &[f64], rate: f64) {
    for i in 0..w.len() {
        for j in 0..x.len() {
            w[i][j] -= rate * d[i] * x[j];
        }
    }
}

#[inline(never)]
fn weighted(a: &Rows, x: &[f64], y: &mut Vec<f64>) {
    for i in 0..a.len() {
        let mut s = 0.0;
        for j in 0..x.len() {
            s += a[i][j] * x[j];
        }
        y[i] = s;
    }
}

#[inline(never)]
fn counted(a: &mut [Vec<u64>], by: u64) {
    for i in 0..a.len() {
        for j in 0..a[i].len() {
            a[i][j] = a[i][j].wrapping_mul(by) ^ (j as u64);
        }
    }
}

#[inline(never)]
fn clipped(a: &mut Rows, least: f64) {
    for i in 0..a.len() {
        for j in 0..a[i].len() {
            if a[i][j] < least {
                a[i][j] = least;
            }
        }
    }
}

#[inline(never)]
fn scaled(a: &mut [Vec<f64>], by: f64) {
    for row in a.iter_mut() {
        for x in row.iter_mut() {
            *x *= by;
        }
    }
}

#[inline(never)]
fn norms(a: &[Vec<f64>], out: &mut [f64]) {
    for (row, y) in a.iter().zip(out.iter_mut()) {
        let mut s = 0.0;
        for x in row {
            s += x * x;
        }
        *y = s;
    }
}

fn rows(n: usize, m: usize, seed: usize) -> Rows {
    (0..n)
        .map(|i| (0..m).map(|j| ((i * 7919 + j * 31 + seed) % 1000) as f64 * 1e-3 - 0.5).collect())
        .collect()
}

fn show(name: &str, rows: &[Vec<f64>]) {
    let sum: f64 = rows.iter().enumerate().map(|(i, r)| r.iter().sum::<f64>() * (i + 1) as f64).sum();
    println!("{name} {} {:016x} {:?}", rows.len(), sum.to_bits(), rows.last().and_then(|r| r.last()));
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (n, m) = (arguments[0], arguments[1]);
    let (a, b) = (rows(n, m, 1), rows(m, n, 2));
    let mut c = rows(n, n, 3);
    product(&a, &b, &mut c, n);
    show("product", &c);
    let mut t = rows(m, n, 4);
    transposed(&a, &mut t);
    show("transposed", &t);
    let mut r = rows(n, m, 5);
    relaxed(&a, &mut r, n, m);
    show("relaxed", &r);
    let (x, d) = (rows(1, m, 6), rows(1, n, 7));
    updated(&mut r, &x[0], &d[0], 0.25);
    show("updated", &r);
    let mut y = vec![0.5; n];
    weighted(&a, &x[0], &mut y);
    show("weighted", &[y.clone()]);
    clipped(&mut r, -0.25);
    scaled(&mut r, 1.5);
    norms(&r, &mut y);
    show("clipped", &r);
    show("norms", &[y.clone()]);
    // Rows of different lengths, and one that is too short, in the middle.
    let mut ragged: Rows = (0..n).map(|i| vec![i as f64; i % 5 + m]).collect();
    updated(&mut ragged, &x[0], &d[0], 0.5);
    clipped(&mut ragged, 0.5);
    scaled(&mut ragged, 0.75);
    show("ragged", &ragged);
    if n > 2 {
        let mut short = rows(n, m, 8);
        short[n / 2].truncate(m - 1);
        let outcome = catch_unwind(AssertUnwindSafe(|| updated(&mut short, &x[0], &d[0], 0.5)));
        println!("{}", outcome.is_err());
        show("short", &short);
        let wide = vec![1.0; m + 1];
        let mut equal = rows(n, m, 9);
        let outcome = catch_unwind(AssertUnwindSafe(|| updated(&mut equal, &wide, &d[0], 0.5)));
        println!("{}", outcome.is_err());
        show("equal", &equal);
    }
    let mut table: Vec<Vec<u64>> = (0..n).map(|i| vec![i as u64; 3 * n]).collect();
    counted(&mut table, 3);
    println!("{:?}", table.last().map(|r| r.iter().fold(0u64, |s, x| s.wrapping_mul(31) ^ x)));
}
