// What `collect` appends to a vector, and small arrays that an iteration has for itself.
// ARGS: 40
// ARGS: 1
// ARGS: 0
// ARGS: 129
// OFFLOAD: yes
// KERNELS: mapped0NC.* ranged0NC.* forces moments
fn values(count: usize) -> Vec<f64> {
    let mut state = 3u64;
    let mut out = vec![0.0; count];
    for v in out.iter_mut() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *v = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    }
    out
}

fn show(name: &str, values: &[f64]) {
    let sum = values.iter().fold(0u64, |h, v| (h ^ v.to_bits()).wrapping_mul(0x100_0000_01b3));
    println!("{name} {} {sum:016x}", values.len());
}

#[inline(never)]
fn mapped(a: &[f64]) -> Vec<f64> {
    a.iter().map(|v| v * v + 1.0).collect()
}

#[inline(never)]
fn ranged(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 / (i as f64 + 1.0)).collect()
}

#[inline(never)]
fn forces(p: &[[f64; 4]], f: &mut [[f64; 3]]) {
    let n = p.len();
    for i in 0..n {
        let mut sum = [0.0; 3];
        for j in 0..n {
            if i == j {
                continue;
            }
            let d = [p[j][0] - p[i][0], p[j][1] - p[i][1], p[j][2] - p[i][2]];
            let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-3;
            let scale = p[j][3] / (r2 * r2.sqrt());
            for k in 0..3 {
                sum[k] += d[k] * scale;
            }
        }
        f[i] = sum;
    }
}

// Copies of a whole array, in and out.
#[inline(never)]
fn moments(p: &[[f64; 4]], m: &mut [[f64; 4]]) {
    for (p, m) in p.iter().zip(m) {
        let mut own = *m;
        for k in 0..4 {
            own[k] = own[k] * 0.5 + p[3 - k] * p[k];
        }
        *m = own;
    }
}

fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let a = values(n * n + 8);
    show("mapped", &mapped(&a[..n * n]));
    show("ranged", &ranged(n * n));
    let mut p = vec![[0.0; 4]; n];
    for i in 0..n {
        p[i] = [a[i], a[i + 1], a[i + 2], a[i + 3].abs()];
    }
    let mut f = vec![[0.0; 3]; n];
    forces(&p, &mut f);
    show("forces", f.as_flattened());
    let mut m = p.clone();
    moments(&p, &mut m);
    show("moments", m.as_flattened());
}
