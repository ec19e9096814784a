// Loops that return an error of what they read, with its place or in an option, and a table of rows whose sums a closure computes: none is wrong, or one is,
// counted from one.
// ARGS: 700 0
// ARGS: 700 1
// ARGS: 700 699
// ARGS: 0 0
// OFFLOAD: partial
// FALLBACK: a check in the loop failed, which ends it
// KERNELS: \S*5roots \S*6scaled
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

#[inline(never)]
fn scaled(x: &mut [f64], limit: f64) -> Option<u32> {
    for v in x.iter_mut() {
        let w = *v * 3.0;
        if w > limit {
            return None;
        }
        *v = w;
    }
    Some(7)
}

fn show(name: &str, values: &[f64]) {
    let hash = values.iter().fold(7u64, |h, v| h.rotate_left(5) ^ v.to_bits());
    println!("{name} {hash:016x}");
}

fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (n, wrong) = (args[0], args[1]);
    let mut x: Vec<f64> = (0..n).map(|i| ((i * 7919 + 13) % 1009) as f64 / 311.0 + 0.01).collect();
    let mut y: Vec<f64> = (0..n).map(|i| (i % 17) as f64).collect();
    if wrong > 0 {
        x[wrong - 1] = -1.5;
    }
    println!("{:?}", roots(&x, &mut y));
    show("roots", &y);
    println!("{:?}", scaled(&mut x, 1e3));
    if wrong > 0 {
        x[wrong - 1] = 1e4;
    }
    println!("{:?}", scaled(&mut x, 1e3));
    show("scaled", &x);
}
