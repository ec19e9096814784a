// The ten kernels on slices without bounds checks: get_unchecked.
// ARGS: 24 17
// ARGS: 1 1
// ARGS: 5 3
// ARGS: 33 40
// OFFLOAD: yes
// TURNS: 3
// KERNELS: gemm jacobi_2d heat_3d fdtd_2d covariance conv2d atax floyd_warshall lu gemver
#![allow(unsafe_op_in_unsafe_fn)]
use std::hint::black_box;

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn gemm(n: usize, m: usize, k: usize, alpha: f64, beta: f64, c: &mut [f64], a: &[f64], b: &[f64]) {
    for i in 0..n {
        for j in 0..m {
            *c.get_unchecked_mut(i * m + j) *= beta;
        }
        for l in 0..k {
            for j in 0..m {
                *c.get_unchecked_mut(i * m + j) += alpha * *a.get_unchecked(i * k + l) * *b.get_unchecked(l * m + j);
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn jacobi_2d(steps: usize, n: usize, a: &mut [f64], b: &mut [f64]) {
    for _ in 0..steps {
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                *b.get_unchecked_mut(i * n + j) = 0.2
                    * (*a.get_unchecked(i * n + j)
                        + *a.get_unchecked(i * n + j - 1)
                        + *a.get_unchecked(i * n + j + 1)
                        + *a.get_unchecked((i + 1) * n + j)
                        + *a.get_unchecked((i - 1) * n + j));
            }
        }
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                *a.get_unchecked_mut(i * n + j) = 0.2
                    * (*b.get_unchecked(i * n + j)
                        + *b.get_unchecked(i * n + j - 1)
                        + *b.get_unchecked(i * n + j + 1)
                        + *b.get_unchecked((i + 1) * n + j)
                        + *b.get_unchecked((i - 1) * n + j));
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn heat_3d(steps: usize, n: usize, a: &mut [f64], b: &mut [f64]) {
    unsafe fn sweep(n: usize, to: &mut [f64], from: &[f64]) {
        let p = n * n;
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                for k in 1..n - 1 {
                    let c = i * p + j * n + k;
                    *to.get_unchecked_mut(c) = 0.125
                        * (*from.get_unchecked(c + p) - 2.0 * *from.get_unchecked(c) + *from.get_unchecked(c - p))
                        + 0.125 * (*from.get_unchecked(c + n) - 2.0 * *from.get_unchecked(c) + *from.get_unchecked(c - n))
                        + 0.125 * (*from.get_unchecked(c + 1) - 2.0 * *from.get_unchecked(c) + *from.get_unchecked(c - 1))
                        + *from.get_unchecked(c);
                }
            }
        }
    }
    for _ in 0..steps {
        sweep(n, b, a);
        sweep(n, a, b);
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn fdtd_2d(steps: usize, nx: usize, ny: usize, ex: &mut [f64], ey: &mut [f64], hz: &mut [f64], source: &[f64]) {
    for t in 0..steps {
        for j in 0..ny {
            *ey.get_unchecked_mut(j) = *source.get_unchecked(t);
        }
        for i in 1..nx {
            for j in 0..ny {
                *ey.get_unchecked_mut(i * ny + j) -= 0.5 * (*hz.get_unchecked(i * ny + j) - *hz.get_unchecked((i - 1) * ny + j));
            }
        }
        for i in 0..nx {
            for j in 1..ny {
                *ex.get_unchecked_mut(i * ny + j) -= 0.5 * (*hz.get_unchecked(i * ny + j) - *hz.get_unchecked(i * ny + j - 1));
            }
        }
        for i in 0..nx - 1 {
            for j in 0..ny - 1 {
                *hz.get_unchecked_mut(i * ny + j) -= 0.7
                    * (*ex.get_unchecked(i * ny + j + 1) - *ex.get_unchecked(i * ny + j) + *ey.get_unchecked((i + 1) * ny + j)
                        - *ey.get_unchecked(i * ny + j));
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn covariance(n: usize, m: usize, data: &mut [f64], cov: &mut [f64], mean: &mut [f64]) {
    for j in 0..m {
        *mean.get_unchecked_mut(j) = 0.0;
        for i in 0..n {
            *mean.get_unchecked_mut(j) += *data.get_unchecked(i * m + j);
        }
        *mean.get_unchecked_mut(j) /= n as f64;
    }
    for i in 0..n {
        for j in 0..m {
            *data.get_unchecked_mut(i * m + j) -= *mean.get_unchecked(j);
        }
    }
    for i in 0..m {
        for j in i..m {
            let mut sum = 0.0;
            for k in 0..n {
                sum += *data.get_unchecked(k * m + i) * *data.get_unchecked(k * m + j);
            }
            sum /= n as f64 - 1.0;
            *cov.get_unchecked_mut(i * m + j) = sum;
            *cov.get_unchecked_mut(j * m + i) = sum;
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn conv2d(h: usize, w: usize, out: &mut [f64], image: &[f64], filter: &[f64; 9]) {
    for y in 0..h - 2 {
        for x in 0..w - 2 {
            let mut sum = 0.0;
            for dy in 0..3 {
                for dx in 0..3 {
                    sum += *filter.get_unchecked(dy * 3 + dx) * *image.get_unchecked((y + dy) * w + x + dx);
                }
            }
            *out.get_unchecked_mut(y * (w - 2) + x) = sum;
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn atax(n: usize, m: usize, a: &[f64], x: &[f64], y: &mut [f64], tmp: &mut [f64]) {
    for j in 0..m {
        *y.get_unchecked_mut(j) = 0.0;
    }
    for i in 0..n {
        *tmp.get_unchecked_mut(i) = 0.0;
        for j in 0..m {
            *tmp.get_unchecked_mut(i) += *a.get_unchecked(i * m + j) * *x.get_unchecked(j);
        }
        for j in 0..m {
            *y.get_unchecked_mut(j) += *a.get_unchecked(i * m + j) * *tmp.get_unchecked(i);
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn floyd_warshall(n: usize, path: &mut [f64]) {
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                let through = *path.get_unchecked(i * n + k) + *path.get_unchecked(k * n + j);
                if through < *path.get_unchecked(i * n + j) {
                    *path.get_unchecked_mut(i * n + j) = through;
                }
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn lu(n: usize, a: &mut [f64]) {
    for i in 0..n {
        for j in 0..i {
            for k in 0..j {
                *a.get_unchecked_mut(i * n + j) -= *a.get_unchecked(i * n + k) * *a.get_unchecked(k * n + j);
            }
            *a.get_unchecked_mut(i * n + j) /= *a.get_unchecked(j * n + j);
        }
        for j in i..n {
            for k in 0..i {
                *a.get_unchecked_mut(i * n + j) -= *a.get_unchecked(i * n + k) * *a.get_unchecked(k * n + j);
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn gemver(
    n: usize,
    alpha: f64,
    beta: f64,
    a: &mut [f64],
    u1: &[f64],
    v1: &[f64],
    u2: &[f64],
    v2: &[f64],
    w: &mut [f64],
    x: &mut [f64],
    y: &[f64],
    z: &[f64],
) {
    for i in 0..n {
        for j in 0..n {
            *a.get_unchecked_mut(i * n + j) += *u1.get_unchecked(i) * *v1.get_unchecked(j) + *u2.get_unchecked(i) * *v2.get_unchecked(j);
        }
    }
    for i in 0..n {
        for j in 0..n {
            *x.get_unchecked_mut(i) += beta * *a.get_unchecked(j * n + i) * *y.get_unchecked(j);
        }
    }
    for i in 0..n {
        *x.get_unchecked_mut(i) += *z.get_unchecked(i);
    }
    for i in 0..n {
        for j in 0..n {
            *w.get_unchecked_mut(i) += alpha * *a.get_unchecked(i * n + j) * *x.get_unchecked(j);
        }
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

fn run(n: usize, m: usize) {
    // SAFETY: each kernel gets slices of the lengths that its sizes say.
    unsafe {
        let (a, b, mut c) = (values(n * m, 1), values(m * n, 2), values(n * n, 3));
        gemm(n, n, m, black_box(1.5), black_box(1.25), &mut c, &a, &b);
        report("gemm", &c);
        let (mut a, mut b) = (values(n * n, 4), values(n * n, 5));
        jacobi_2d(3, n, &mut a, &mut b);
        report("jacobi-2d", &a);
        let (mut a, mut b) = (values(m * m * m, 6), values(m * m * m, 7));
        heat_3d(2, m, &mut a, &mut b);
        report("heat-3d", &a);
        let (mut ex, mut ey, mut hz) = (values(n * m, 8), values(n * m, 9), values(n * m, 10));
        fdtd_2d(4, n, m, &mut ex, &mut ey, &mut hz, &values(4, 11));
        report("fdtd-2d", &hz);
        let (mut data, mut cov, mut mean) = (values(n * m, 12), values(m * m, 13), values(m, 14));
        covariance(n, m, &mut data, &mut cov, &mut mean);
        report("covariance", &cov);
        if n > 2 && m > 2 {
            let mut out = values((n - 2) * (m - 2), 15);
            conv2d(n, m, &mut out, &values(n * m, 16), &[0.1, 0.2, 0.3, -0.1, 1.0, 0.4, 0.2, -0.3, 0.5]);
            report("conv2d", &out);
        }
        let (mut y, mut tmp) = (values(m, 17), values(n, 18));
        atax(n, m, &values(n * m, 19), &values(m, 20), &mut y, &mut tmp);
        report("atax", &y);
        let mut path = values(n * n, 21);
        floyd_warshall(n, &mut path);
        report("floyd-warshall", &path);
        let mut a = values(n * n, 22);
        for i in 0..n {
            a[i * n + i] += n as f64;
        }
        lu(n, &mut a);
        report("lu", &a);
        let (mut a, mut w, mut x) = (values(n * n, 23), values(n, 24), values(n, 25));
        let v: Vec<_> = (26..32).map(|s| values(n, s)).collect();
        gemver(n, 1.5, 1.25, &mut a, &v[0], &v[1], &v[2], &v[3], &mut w, &mut x, &v[4], &v[5]);
        report("gemver", &w);
    }
}

fn main() {
    let mut args = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap());
    let (n, m) = (args.next().unwrap_or(24), args.next().unwrap_or(17));
    run(n, m);
}
