// A five-point heat step in Rust: slices with bounds checks, the time loop inside.
// heat [STEPS ROWS COLUMNS [SEED]]; EXAMPLE_VALUES in the environment prints all values instead of a checksum
use std::env;

#[inline(never)]
fn heat(steps: usize, n: usize, m: usize, a: &mut [f64], b: &mut [f64]) {
    for _ in 0..steps {
        for i in 1..n - 1 {
            for j in 1..m - 1 {
                b[i * m + j] = 0.24 * a[i * m + j]
                    + 0.21 * a[i * m + j - 1]
                    + 0.19 * a[i * m + j + 1]
                    + 0.17 * a[(i + 1) * m + j]
                    + 0.18 * a[(i - 1) * m + j];
            }
        }
        for i in 1..n - 1 {
            for j in 1..m - 1 {
                a[i * m + j] = b[i * m + j];
            }
        }
    }
}

/// Xorshift (Marsaglia 2003); in [-1, 1).
#[inline(never)]
fn next_random(state: &mut i64) -> f64 {
    *state ^= *state << 13;
    *state ^= (*state as u64 >> 7) as i64;
    *state ^= *state << 17;
    *state as f64 * 2f64.powi(-63)
}

/// FNV-1a, 64 bits at a time.
#[inline(never)]
fn mix(hash: u64, value: f64) -> u64 {
    (hash ^ value.to_bits()).wrapping_mul(0x100000001b3)
}

fn main() {
    let arguments: Vec<usize> = env::args().skip(1).map(|a| a.parse().expect("a size")).collect();
    let argument = |k: usize, otherwise: usize| arguments.get(k).copied().unwrap_or(otherwise);
    let (steps, n, m) = (argument(0, 20), argument(1, 300).max(2), argument(2, 260).max(2));
    let repeats = env::var("EXAMPLE_REPEAT").ok().and_then(|r| r.parse().ok()).unwrap_or(1);
    let (mut a, mut b) = (vec![0.0; n * m], vec![0.0; n * m]);
    for _ in 0..repeats {
        let mut state = 88172645463325252 + argument(3, 1) as i64;
        for k in 0..n * m {
            a[k] = next_random(&mut state);
            b[k] = a[k];
        }
        heat(steps, n, m, &mut a, &mut b);
    }
    if env::var_os("EXAMPLE_VALUES").is_some() {
        println!("a {a:?}");
        return;
    }
    let hash = a.iter().fold(0xcbf29ce484222325, |hash, value| mix(hash, *value));
    println!("a {hash:016x}  {:.9} {:.9} {:.9}", a[0], a[a.len() / 2], a[a.len() - 1]);
}
