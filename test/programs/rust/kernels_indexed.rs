// The ten kernels on slices with bounds checks; a matrix is a flat slice and its sizes, as Rust programs have it.
// ARGS: 24 17
// ARGS: 1 1
// ARGS: 5 3
// ARGS: 33 40
// OFFLOAD: yes
// TURNS: 3
// KERNELS: gemm jacobi_2d heat_3d fdtd_2d covariance conv2d atax floyd_warshall lu gemver
use std::hint::black_box;

#[unsafe(no_mangle)]
#[inline(never)]
pub fn gemm(n: usize, m: usize, k: usize, alpha: f64, beta: f64, c: &mut [f64], a: &[f64], b: &[f64]) {
    for i in 0..n {
        for j in 0..m {
            c[i * m + j] *= beta;
        }
        for l in 0..k {
            for j in 0..m {
                c[i * m + j] += alpha * a[i * k + l] * b[l * m + j];
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn jacobi_2d(steps: usize, n: usize, a: &mut [f64], b: &mut [f64]) {
    for _ in 0..steps {
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                b[i * n + j] = 0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
            }
        }
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                a[i * n + j] = 0.2 * (b[i * n + j] + b[i * n + j - 1] + b[i * n + j + 1] + b[(i + 1) * n + j] + b[(i - 1) * n + j]);
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn heat_3d(steps: usize, n: usize, a: &mut [f64], b: &mut [f64]) {
    fn sweep(n: usize, to: &mut [f64], from: &[f64]) {
        let p = n * n;
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                for k in 1..n - 1 {
                    let c = i * p + j * n + k;
                    to[c] = 0.125 * (from[c + p] - 2.0 * from[c] + from[c - p])
                        + 0.125 * (from[c + n] - 2.0 * from[c] + from[c - n])
                        + 0.125 * (from[c + 1] - 2.0 * from[c] + from[c - 1])
                        + from[c];
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
pub fn fdtd_2d(steps: usize, nx: usize, ny: usize, ex: &mut [f64], ey: &mut [f64], hz: &mut [f64], source: &[f64]) {
    for t in 0..steps {
        for j in 0..ny {
            ey[j] = source[t];
        }
        for i in 1..nx {
            for j in 0..ny {
                ey[i * ny + j] -= 0.5 * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
            }
        }
        for i in 0..nx {
            for j in 1..ny {
                ex[i * ny + j] -= 0.5 * (hz[i * ny + j] - hz[i * ny + j - 1]);
            }
        }
        for i in 0..nx - 1 {
            for j in 0..ny - 1 {
                hz[i * ny + j] -= 0.7 * (ex[i * ny + j + 1] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn covariance(n: usize, m: usize, data: &mut [f64], cov: &mut [f64], mean: &mut [f64]) {
    for j in 0..m {
        mean[j] = 0.0;
        for i in 0..n {
            mean[j] += data[i * m + j];
        }
        mean[j] /= n as f64;
    }
    for i in 0..n {
        for j in 0..m {
            data[i * m + j] -= mean[j];
        }
    }
    for i in 0..m {
        for j in i..m {
            let mut sum = 0.0;
            for k in 0..n {
                sum += data[k * m + i] * data[k * m + j];
            }
            sum /= n as f64 - 1.0;
            cov[i * m + j] = sum;
            cov[j * m + i] = sum;
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn conv2d(h: usize, w: usize, out: &mut [f64], image: &[f64], filter: &[f64; 9]) {
    for y in 0..h - 2 {
        for x in 0..w - 2 {
            let mut sum = 0.0;
            for dy in 0..3 {
                for dx in 0..3 {
                    sum += filter[dy * 3 + dx] * image[(y + dy) * w + x + dx];
                }
            }
            out[y * (w - 2) + x] = sum;
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn atax(n: usize, m: usize, a: &[f64], x: &[f64], y: &mut [f64], tmp: &mut [f64]) {
    for j in 0..m {
        y[j] = 0.0;
    }
    for i in 0..n {
        tmp[i] = 0.0;
        for j in 0..m {
            tmp[i] += a[i * m + j] * x[j];
        }
        for j in 0..m {
            y[j] += a[i * m + j] * tmp[i];
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn floyd_warshall(n: usize, path: &mut [f64]) {
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                let through = path[i * n + k] + path[k * n + j];
                if through < path[i * n + j] {
                    path[i * n + j] = through;
                }
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn lu(n: usize, a: &mut [f64]) {
    for i in 0..n {
        for j in 0..i {
            for k in 0..j {
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
            }
            a[i * n + j] /= a[j * n + j];
        }
        for j in i..n {
            for k in 0..i {
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
            }
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn gemver(n: usize, alpha: f64, beta: f64, a: &mut [f64], u1: &[f64], v1: &[f64], u2: &[f64], v2: &[f64], w: &mut [f64], x: &mut [f64], y: &[f64], z: &[f64]) {
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
        }
    }
    for i in 0..n {
        for j in 0..n {
            x[i] += beta * a[j * n + i] * y[j];
        }
    }
    for i in 0..n {
        x[i] += z[i];
    }
    for i in 0..n {
        for j in 0..n {
            w[i] += alpha * a[i * n + j] * x[j];
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

fn main() {
    let mut args = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap());
    let (n, m) = (args.next().unwrap_or(24), args.next().unwrap_or(17));
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
