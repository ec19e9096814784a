#[inline(never)]
fn scale(y: &mut [f64], x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = 2.0 * x + 1.0;
    }
}

fn main() {
    let x: Vec<f64> = (0..4000).map(|i| f64::from(i % 17) * 0.25).collect();
    let mut y = vec![0.0; x.len()];
    scale(&mut y, &x);
    println!("{}", y.iter().fold(0.0, |sum, v| sum * 0.5 + v));
}
