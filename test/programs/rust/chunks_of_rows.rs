// Rows as chunks of a slice whose size is an argument: `chunks_exact_mut` leaves over what is less than a row.
// ARGS: 1000 10
// ARGS: 1005 10
// ARGS: 9 10
// ARGS: 10 10
// ARGS: 300 1
// ARGS: 0 7
// OFFLOAD: yes
fn values(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 + 3) % 1013) as f64 * 1e-3 - 0.5).collect()
}

fn show(name: &str, values: &[f64]) {
    let sum = values.iter().fold(0u64, |h, v| (h ^ v.to_bits()).wrapping_mul(0x100_0000_01b3));
    println!("{name} {} {sum:016x}", values.len());
}

#[inline(never)]
fn scale(a: &mut [f64], cols: usize) {
    for (i, row) in a.chunks_exact_mut(cols).enumerate() {
        for (j, v) in row.iter_mut().enumerate() {
            *v = *v * 2.0 + (i * j) as f64;
        }
    }
}

#[inline(never)]
fn normalise(a: &mut [f64], cols: usize) {
    for row in a.chunks_exact_mut(cols) {
        let most = row.iter().copied().fold(f64::MIN, |p, q| if p > q { p } else { q });
        let mut sum = 0.0;
        for v in row.iter_mut() {
            *v = (*v - most) * (*v - most) + 1.0;
            sum += *v;
        }
        for v in row.iter_mut() {
            *v /= sum;
        }
    }
}

// The same by hand, in another width.
#[inline(never)]
fn by_hand(a: &mut [f64], cols: u32) {
    let mut left = a.len() as u32;
    let mut first = 0;
    assert!(cols > 0);
    while left >= cols {
        for j in 0..cols as usize {
            a[first + j] += j as f64;
        }
        first += cols as usize;
        left -= cols;
    }
}

fn main() {
    let mut words = std::env::args().skip(1).map(|w| w.parse::<usize>().unwrap());
    let (count, cols) = (words.next().unwrap(), words.next().unwrap());
    let mut a = values(count);
    scale(&mut a, cols);
    show("scale", &a);
    normalise(&mut a, cols);
    show("normalise", &a);
    by_hand(&mut a, cols as u32);
    show("by hand", &a);
}
