// Every so many elements, by a step that is an argument, zipped with what is written: the end of either, checks of subscripts in between, one that fails.
// ARGS: 900 3 900
// ARGS: 900 3 20
// ARGS: 900 1 901
// ARGS: 5 7 3
// ARGS: 0 2 4
// ARGS: 4 2 0
// OFFLOAD: partial
// KERNELS: \S*8decimate \S*6picked
#[inline(never)]
fn decimate(x: &[f64], step: usize, y: &mut [f64]) {
    for (y, i) in y.iter_mut().zip((0..x.len()).step_by(step)) {
        *y = x[i] * 0.5;
    }
}

#[inline(never)]
fn picked(x: &[f64], last: usize, y: &mut [f64]) {
    for (k, y) in (0..last).zip(y.iter_mut()) {
        *y += x[k] * 2.0;
    }
}

fn show(name: &str, values: &[f64]) {
    let hash = values.iter().fold(7u64, |h, v| h.rotate_left(5) ^ v.to_bits());
    println!("{name} {hash:016x}");
}

fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (n, step, m) = (args[0], args[1], args[2]);
    let x: Vec<f64> = (0..n).map(|i| ((i * 7919 + 13) % 1009) as f64 / 311.0).collect();
    let mut y: Vec<f64> = (0..m).map(|i| (i % 17) as f64).collect();
    decimate(&x, step, &mut y);
    show("decimate", &y);
    picked(&x, n, &mut y);
    show("picked", &y);
    // One that is out of range, where there are as many to write to.
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| picked(&x, n + 1, &mut y)));
    println!("{}", failed.is_err());
    show("behind", &y);
}
