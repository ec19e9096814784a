// Functions that own vectors have something to clean up where an index is out of range: the panic unwinds through them, as in the
// original, and what was written before it is there.
// ARGS: 33 17
// ARGS: 2 3
// ARGS: 40 41
// OFFLOAD: yes
use std::panic::{AssertUnwindSafe, catch_unwind};

struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Drop for Matrix {
    fn drop(&mut self) {
        println!("dropped {} x {}", self.rows, self.cols);
    }
}

impl Matrix {
    fn new(rows: usize, cols: usize, seed: usize) -> Matrix {
        let data = (0..rows * cols).map(|i| ((i * 7919 + seed) % 1000) as f64 * 1e-3 - 0.5).collect();
        Matrix { rows, cols, data }
    }

    #[inline(never)]
    fn times(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.cols, other.rows);
        let mut product = Matrix { rows: self.rows, cols: other.cols, data: vec![0.0; self.rows * other.cols] };
        for i in 0..self.rows {
            for j in 0..other.cols {
                let mut sum = 0.0;
                for k in 0..self.cols {
                    sum += self.data[i * self.cols + k] * other.data[k * other.cols + j];
                }
                product.data[i * other.cols + j] = sum;
            }
        }
        product
    }

    #[inline(never)]
    fn prefix(&self, count: usize, log: &mut [f64]) -> Matrix {
        let mut copy = Matrix { rows: 1, cols: count, data: vec![1.0; count] };
        for i in 0..count {
            log[i] = 2.0 * i as f64;
            copy.data[i] += self.data[i] * 0.5;
        }
        copy
    }
}

fn sum(data: &[f64]) -> f64 {
    data.iter().enumerate().map(|(i, x)| x * (1 + i % 5) as f64).sum()
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (n, m) = (arguments[0], arguments[1]);
    let (a, b) = (Matrix::new(n, m, 3), Matrix::new(m, n, 5));
    let product = a.times(&b);
    println!("{:?}", sum(&product.data));
    let mut log = vec![0.0; n * m];
    for count in [n * m, n * m + 1] {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut longer = vec![0.0; n * m + 1];
            let copy = a.prefix(count, if count == n * m { &mut log } else { &mut longer });
            sum(&copy.data)
        }));
        println!("{:?} {:?}", outcome.ok(), sum(&log));
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let copy = a.prefix(n * m, &mut log[..n]);
        sum(&copy.data)
    }));
    println!("{:?} {:?}", outcome.ok(), sum(&log));
}
