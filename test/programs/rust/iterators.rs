// Loops over iterators of slices: zip, windows, chunks, enumerate, skip, take, step_by, rev, closures, inclusive ranges, and a matrix with an index operator.
// ARGS: 24 17
// ARGS: 1 1
// ARGS: 5 3
// ARGS: 33 40
// ARGS: 300 9
// OFFLOAD: yes
// KERNELS: axpy blurred enumerated inclusive matrix_product rejected stepped
use std::hint::black_box;
use std::ops::{Index, IndexMut};

#[unsafe(no_mangle)]
#[inline(never)]
pub fn axpy(alpha: f64, y: &mut [f64], x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y += alpha * *x;
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn smooth(to: &mut [f64], from: &[f64]) {
    for (t, w) in to.iter_mut().skip(1).zip(from.windows(3)) {
        *t = 0.25 * w[0] + 0.5 * w[1] + 0.25 * w[2];
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn rows(a: &mut [f64], factors: &[f64], m: usize) {
    for (row, f) in a.chunks_exact_mut(m).zip(factors) {
        for x in row.iter_mut() {
            *x *= *f;
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn enumerated(a: &mut [f64], m: usize) {
    for (i, row) in a.chunks_exact_mut(m).enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            *x += (3 * i + j) as f64;
        }
    }
}

struct Matrix {
    columns: usize,
    data: Vec<f64>,
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.columns + j]
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn matrix_product(n: usize, m: usize, c: &mut Matrix, a: &Matrix, b: &Matrix) {
    for i in 0..n {
        for j in 0..n {
            let mut sum = 0.0;
            for k in 0..m {
                sum += a[(i, k)] * b[(k, j)];
            }
            c[(i, j)] = sum;
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn closure(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(x, y)| *x = *x * *y + 1.0);
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn stepped(n: usize, a: &mut [f64]) {
    for i in (1..n).step_by(2) {
        a[i] = a[i - 1] * 1.5;
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn trimmed(n: usize, a: &mut [f64], b: &[f64]) {
    for (x, y) in a.iter_mut().take(n / 2).zip(b.iter().skip(n / 3)) {
        *x -= *y;
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn backwards(a: &mut [f64], b: &[f64]) {
    for (x, y) in a.iter_mut().rev().zip(b.iter()) {
        *x += 2.0 * *y;
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn inclusive(first: i64, last: i64, a: &mut [f64]) {
    for i in first..=last {
        a[i as usize] += i as f64;
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn blurred(h: i32, w: i32, r: i32, from: &[f64], to: &mut [f64]) {
    for y in r..h - r {
        for x in r..w - r {
            let mut sum = 0.0;
            for d in -r..=r {
                for e in -1..=1 {
                    sum += from[((y + d) * w + x + e) as usize];
                }
            }
            to[(y * w + x) as usize] = sum;
        }
    }
}

// What is not taken goes on at once.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn rejected(a: &[f64], b: &mut [f64]) -> u32 {
    let mut rejected = 0;
    for i in 0..a.len().min(b.len()) {
        if a[i] < 0.3 {
            rejected += 1;
            continue;
        }
        b[i] = a[i].sqrt();
    }
    rejected
}

// Up to the largest value there is.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn all_bytes(first: u8, a: &mut [f64]) {
    for b in first..=255u8 {
        a[b as usize] *= f64::from(b) + 0.5;
    }
    for (k, i) in (i64::MAX - 40..=i64::MAX).enumerate() {
        a[k] += (i % 7) as f64;
    }
}

fn values(n: usize, seed: u64) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 * 2f64.powi(-53)
    };
    (0..n).map(|_| next()).collect()
}

fn report(name: &str, a: &[f64]) {
    let hash = a.iter().fold(7u64, |h, x| (h ^ x.to_bits()).wrapping_mul(0x100_0000_01b3).rotate_left(7));
    println!("{name} {hash:016x}");
}

fn main() {
    let mut args = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap());
    let (n, m) = (args.next().unwrap_or(24), args.next().unwrap_or(17));
    let (mut y, x) = (values(n, 1), values(n, 2));
    axpy(black_box(1.5), &mut y, &x);
    report("axpy", &y);
    smooth(&mut y, &x);
    report("smooth", &y);
    let mut a = values(n * m, 3);
    rows(&mut a, &x, m);
    report("rows", &a);
    enumerated(&mut a, m);
    report("enumerated", &a);
    let left = Matrix { columns: m, data: values(n * m, 4) };
    let right = Matrix { columns: n, data: values(m * n, 5) };
    let mut product = Matrix { columns: n, data: values(n * n, 6) };
    matrix_product(n, m, &mut product, &left, &right);
    report("matrix_product", &product.data);
    closure(&mut y, &x);
    report("closure", &y);
    stepped(n, &mut y);
    report("stepped", &y);
    trimmed(n, &mut y, &x);
    report("trimmed", &y);
    backwards(&mut y, &x);
    report("backwards", &y);
    let last = y.len() as i64 - 1;
    for (first, last) in [(0, last), (1, last - 1), (last, last), (last, 0), (0, -1)] {
        inclusive(first, last, &mut y);
        report("inclusive", &y);
    }
    let mut b = values(n * m, 7);
    for r in [1, 2, 0] {
        blurred(n as i32, m as i32, r.max(1), &a, &mut b);
        report("blurred", &b);
    }
    println!("{}", rejected(&a, &mut b));
    report("rejected", &b);
    let mut bytes = values(256, 8);
    for first in [0, 17, 255] {
        all_bytes(first, &mut bytes);
        report("all_bytes", &bytes);
    }
}
