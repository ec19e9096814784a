// Hot loops in Rust: slices and their iterators, checked subscripts, vectors of vectors, errors that end a
// loop.
#![allow(clippy::all)]
use std::mem::swap;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| 0.5 + (self.next() >> 11) as f64 / (1u64 << 53) as f64).collect()
    }
}

fn show(name: &str, values: &[f64]) {
    let hash = values.iter().flat_map(|v| v.to_bits().to_le_bytes()).fold(1469598103934665603u64, |h, b| (h ^ b as u64).wrapping_mul(1099511628211));
    println!("{name} {hash:016x}");
}

/// y += a x, by zipped iterators.
#[inline(never)]
fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// A product of matrices in rows, with checked subscripts.
#[inline(never)]
fn matmul(n: usize, m: usize, k: usize, a: &[f64], b: &[f64], c: &mut [f64]) {
    for i in 0..n {
        for j in 0..m {
            let mut sum = 0.0;
            for l in 0..k {
                sum += a[i * k + l] * b[l * m + j];
            }
            c[i * m + j] = sum;
        }
    }
}

/// Sums of blocks.
#[inline(never)]
fn block_sums(x: &[f64], size: usize, out: &mut Vec<f64>) {
    out.clear();
    out.extend(x.chunks(size).map(|c| c.iter().sum::<f64>()));
}

/// A moving average.
#[inline(never)]
fn moving_average(x: &[f64], w: usize) -> Vec<f64> {
    x.windows(w).map(|v| v.iter().sum::<f64>() / w as f64).collect()
}

/// Rows of a picture by exact chunks, each pixel three bytes.
#[inline(never)]
fn luminance(rgb: &[u8], grey: &mut [u8]) {
    for (p, g) in rgb.chunks_exact(3).zip(grey.iter_mut()) {
        *g = ((p[0] as u32 * 77 + p[1] as u32 * 150 + p[2] as u32 * 29) >> 8) as u8;
    }
}

/// Heat in two vectors that swap.
#[inline(never)]
fn heat(now: &mut Vec<f64>, next: &mut Vec<f64>, n: usize, steps: usize) {
    for _ in 0..steps {
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                next[i * n + j] = now[i * n + j] + 0.1 * (now[(i - 1) * n + j] + now[(i + 1) * n + j] + now[i * n + j - 1] + now[i * n + j + 1] - 4.0 * now[i * n + j]);
            }
        }
        swap(now, next);
    }
}

/// A transposition of a vector of vectors.
#[inline(never)]
fn add_transposed(a: &Vec<Vec<f64>>, b: &mut Vec<Vec<f64>>) {
    for i in 0..a.len() {
        for j in 0..a[i].len() {
            b[j][i] += a[i][j];
        }
    }
}

/// Square roots, or the first place where there is none.
#[inline(never)]
fn roots(x: &[f64], y: &mut [f64]) -> Result<(), usize> {
    for i in 0..x.len() {
        if x[i] < 0.0 {
            return Err(i);
        }
        y[i] = x[i].sqrt();
    }
    Ok(())
}

/// Every third element, in steps.
#[inline(never)]
fn decimate(x: &[f64], step: usize, y: &mut [f64]) {
    for (y, i) in y.iter_mut().zip((0..x.len()).step_by(step)) {
        *y = x[i] * 0.5;
    }
}

#[derive(Clone, Copy)]
struct Body {
    position: [f64; 3],
    velocity: [f64; 3],
    mass: f64,
}

/// Accelerations of all bodies.
#[inline(never)]
fn gravity(bodies: &[Body], acceleration: &mut [[f64; 3]]) {
    for (i, a) in acceleration.iter_mut().enumerate() {
        *a = [0.0; 3];
        for (j, b) in bodies.iter().enumerate() {
            if i == j {
                continue;
            }
            let mut d = [0.0; 3];
            for k in 0..3 {
                d[k] = b.position[k] - bodies[i].position[k];
            }
            let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
            let w = b.mass / (r2 * r2.sqrt());
            for k in 0..3 {
                a[k] += w * d[k];
            }
        }
    }
}

#[inline(never)]
fn kick(bodies: &mut [Body], acceleration: &[[f64; 3]], dt: f64) {
    for (b, a) in bodies.iter_mut().zip(acceleration) {
        for k in 0..3 {
            b.velocity[k] += dt * a[k];
            b.position[k] += dt * b.velocity[k];
        }
    }
}

/// The nearest of some points to each query.
#[inline(never)]
fn nearest(queries: &[[f64; 2]], points: &[[f64; 2]]) -> Vec<usize> {
    queries
        .iter()
        .map(|q| {
            let mut best = 0;
            let mut least = f64::INFINITY;
            for (i, p) in points.iter().enumerate() {
                let d = (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2);
                if d < least {
                    least = d;
                    best = i;
                }
            }
            best
        })
        .collect()
}

/// A convolution backwards: one iterator reversed.
#[inline(never)]
fn correlate(x: &[f64], kernel: &[f64], out: &mut [f64]) {
    for (i, o) in out.iter_mut().enumerate() {
        *o = x[i..i + kernel.len()].iter().zip(kernel.iter().rev()).map(|(a, b)| a * b).sum();
    }
}

/// Softmax of each row.
#[inline(never)]
fn softmax(rows: &mut [f64], n: usize) {
    for row in rows.chunks_mut(n) {
        let most = row.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for v in row.iter_mut() {
            *v = (*v - most).exp();
            sum += *v;
        }
        for v in row.iter_mut() {
            *v /= sum;
        }
    }
}

/// Prices of options by paths of a tree.
#[inline(never)]
fn options(spot: &[f64], price: &mut [f64], steps: usize) {
    for (s, out) in spot.iter().zip(price.iter_mut()) {
        let mut v = [0.0; 64];
        for j in 0..=steps {
            v[j] = (s * 1.02f64.powi(2 * j as i32 - steps as i32) - 1.0).max(0.0);
        }
        for t in (0..steps).rev() {
            for j in 0..=t {
                v[j] = 0.999 * (0.51 * v[j + 1] + 0.49 * v[j]);
            }
        }
        *out = v[0];
    }
}

fn main() {
    let mut r = Random(88172645463325252);
    let x = r.vector(900);
    let mut y = r.vector(900);
    axpy(0.3, &x, &mut y);
    show("axpy", &y);
    let mut c = r.vector(30 * 25);
    matmul(30, 25, 20, &x, &y, &mut c);
    show("matmul", &c);
    let mut sums = Vec::new();
    block_sums(&x, 32, &mut sums);
    show("block_sums", &sums);
    show("moving_average", &moving_average(&x, 7));
    let rgb: Vec<u8> = (0..3000).map(|_| r.next() as u8).collect();
    let mut grey = vec![7u8; 1000];
    luminance(&rgb, &mut grey);
    show("luminance", &grey.iter().map(|&g| g as f64).collect::<Vec<_>>());
    let mut next = y.clone();
    heat(&mut y, &mut next, 30, 5);
    show("heat", &y);
    let a: Vec<Vec<f64>> = (0..30).map(|_| r.vector(20)).collect();
    let mut b: Vec<Vec<f64>> = (0..20).map(|_| r.vector(30)).collect();
    add_transposed(&a, &mut b);
    show("add_transposed", &b.concat());
    let failed = roots(&x, &mut y);
    y[0] += failed.is_err() as u8 as f64;
    show("roots", &y);
    decimate(&x, 3, &mut y);
    show("decimate", &y);
    let mut bodies: Vec<Body> = (0..70)
        .map(|_| {
            let v = r.vector(7);
            Body { position: [v[0], v[1], v[2]], velocity: [v[3], v[4], v[5]], mass: v[6] }
        })
        .collect();
    let mut acceleration = vec![[0.5; 3]; 70];
    gravity(&bodies, &mut acceleration);
    show("gravity", &acceleration.concat());
    kick(&mut bodies, &acceleration, 0.01);
    show("kick", &bodies.iter().flat_map(|b| b.position).collect::<Vec<_>>());
    let queries: Vec<[f64; 2]> = x.chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    let places = nearest(&queries, &queries[100..160]);
    show("nearest", &places.iter().map(|&p| p as f64).collect::<Vec<_>>());
    correlate(&x, &y[..11], &mut c);
    show("correlate", &c);
    softmax(&mut c, 25);
    show("softmax", &c);
    let mut price = r.vector(80);
    options(&x[..80], &mut price, 40);
    show("options", &price);
}
