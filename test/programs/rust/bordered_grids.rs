// Neighbours at the borders of grids whose indices are checked: mirrored, clamped and periodic ones, which are in range in each of their cases; where
// one is not, the loop panics where it did.
// ARGS: 30 20
// ARGS: 1 1
// ARGS: 0 5
// ARGS: 2 3
// ARGS: 65 33
// OFFLOAD: partial
// KERNELS: mirrored clamped periodic
use std::panic::{AssertUnwindSafe, catch_unwind};

fn values(count: usize) -> Vec<f64> {
    let mut out = vec![0.0; count];
    for (i, v) in out.iter_mut().enumerate() {
        *v = ((i * 7919 + 3) % 1013) as f64 * 1e-3 - 0.5;
    }
    out
}

fn show(name: &str, values: &[f64]) {
    let sum = values.iter().fold(0u64, |h, v| (h ^ v.to_bits()).wrapping_mul(0x100_0000_01b3));
    println!("{name} {} {sum:016x}", values.len());
}

#[inline(never)]
fn mirrored(w: usize, h: usize, a: &[f64], b: &mut [f64]) {
    for y in 0..h {
        for x in 0..w {
            let left = if x == 0 { 0 } else { x - 1 };
            let right = if x + 1 == w { x } else { x + 1 };
            b[y * w + x] = a[y * w + left] + a[y * w + right] - 2.0 * a[y * w + x];
        }
    }
}

#[inline(never)]
fn clamped(w: usize, h: usize, a: &[f64], b: &mut [f64]) {
    for y in 0..h {
        for x in 0..w {
            let (up, down) = (y.saturating_sub(1), (y + 1).min(h - 1));
            b[y * w + x] = 0.5 * (a[up * w + x] + a[down * w + x]) - a[y * w + (x + 1).min(w - 1)];
        }
    }
}

#[inline(never)]
fn periodic(w: usize, h: usize, a: &[f64], b: &mut [f64]) {
    for y in 0..h {
        for x in 0..w {
            b[y * w + x] = a[y * w + (x + 1) % w] + a[((y + h - 1) % h) * w + x];
        }
    }
}

// The row behind the last one does not exist.
#[inline(never)]
fn beyond(w: usize, h: usize, a: &[f64], b: &mut [f64]) {
    for y in 0..h {
        for x in 0..w {
            let down = if y == h { y } else { y + 1 };
            b[y * w + x] = a[down * w + x];
        }
    }
}

fn main() {
    let mut words = std::env::args().skip(1).map(|w| w.parse::<usize>().unwrap());
    let (w, h) = (words.next().unwrap(), words.next().unwrap());
    std::panic::set_hook(Box::new(|_| {}));
    let mut a = values(w * h);
    let mut b = a.clone();
    mirrored(w, h, &a, &mut b);
    show("mirrored", &b);
    clamped(w, h, &b, &mut a);
    show("clamped", &a);
    periodic(w, h, &a, &mut b);
    show("periodic", &b);
    for rows in [h, h + 1] {
        a.resize(w * rows, 0.25);
        let fine = catch_unwind(AssertUnwindSafe(|| beyond(w, h, &a, &mut b))).is_ok();
        println!("{fine}");
        show("beyond", &b);
    }
}
