// Vectors that change places between time steps, passed by reference, in a structure, and as variables: they stay on the device. Where an index
// is out of range after some steps, what was exchanged before is exchanged.
// ARGS: 40 33 7
// ARGS: 33 40 4
// ARGS: 3 3 1
// ARGS: 20 20 0
// OFFLOAD: yes
// MOVED: 92008 216176
use std::mem::swap;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn values(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 + seed * 31) % 1013) as f64 * 1e-3 - 0.5).collect()
}

fn show(name: &str, values: &[f64]) {
    let sum = values.iter().fold(0u64, |h, v| (h ^ v.to_bits()).wrapping_mul(0x100_0000_01b3));
    println!("{name} {} {sum:016x}", values.len());
}

#[inline(never)]
fn by_reference(a: &mut Vec<f64>, b: &mut Vec<f64>, rows: usize, cols: usize, steps: usize) {
    for _ in 0..steps {
        for i in 1..rows - 1 {
            for j in 1..cols - 1 {
                b[i * cols + j] = 0.25 * (a[(i - 1) * cols + j] + a[(i + 1) * cols + j] + a[i * cols + j - 1] + a[i * cols + j + 1]);
            }
        }
        swap(a, b);
    }
}

struct Grid {
    rows: usize,
    cols: usize,
    now: Vec<f64>,
    next: Vec<f64>,
}

impl Grid {
    fn at(&self, i: usize, j: usize) -> f64 {
        self.now[i * self.cols + j]
    }

    #[inline(never)]
    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            for i in 1..self.rows - 1 {
                for j in 1..self.cols - 1 {
                    let k = i * self.cols + j;
                    self.next[k] = 0.5 * self.now[k] + 0.25 * (self.now[k + self.cols] + self.now[k - self.cols]);
                }
            }
            swap(&mut self.now, &mut self.next);
        }
    }

    // What comes behind the loop is handed the grid: before, nobody else has it.
    #[inline(never)]
    fn step(&mut self) {
        for i in 1..self.rows - 1 {
            for j in 1..self.cols - 1 {
                self.next[i * self.cols + j] = self.at(i, j) + 0.1 * (self.at(i + 1, j) - 2.0 * self.at(i, j) + self.at(i - 1, j));
            }
        }
        swap(&mut self.now, &mut self.next);
    }
}

#[inline(never)]
fn variables(count: usize, steps: usize) -> Vec<f64> {
    let mut a = values(count, 3);
    let mut b = a.clone();
    for _ in 0..steps {
        for i in 1..count - 1 {
            b[i] = 0.5 * (a[i - 1] + a[i + 1]);
        }
        swap(&mut a, &mut b);
    }
    a
}

fn main() {
    let mut words = std::env::args().skip(1).map(|w| w.parse::<usize>().unwrap());
    let (rows, cols, steps) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    std::panic::set_hook(Box::new(|_| {}));
    let (mut a, mut b) = (values(rows * cols, 1), values(rows * cols, 2));
    by_reference(&mut a, &mut b, rows, cols, steps);
    show("a", &a);
    show("b", &b);
    // The second is too short: the first step fails, and with the arguments the other way around the second one.
    let (mut long, mut short) = (values(rows * cols, 4), values((rows - 2) * cols, 5));
    let done = catch_unwind(AssertUnwindSafe(|| by_reference(&mut long, &mut short, rows, cols, steps)));
    println!("{}", done.is_ok());
    show("long", &long);
    show("short", &short);
    let (mut long, mut short) = (values((rows + 2) * cols, 4), values(rows * cols - 1 - cols, 5));
    let done = catch_unwind(AssertUnwindSafe(|| by_reference(&mut long, &mut short, rows, cols, steps)));
    println!("{}", done.is_ok());
    show("long", &long);
    show("short", &short);
    let mut grid = Grid { rows, cols, now: values(rows * cols, 6), next: values(rows * cols, 7) };
    grid.run(steps);
    show("now", &grid.now);
    for _ in 0..steps.min(3) {
        grid.step();
    }
    show("now", &grid.now);
    show("next", &grid.next);
    grid.next.truncate((rows - 1) * cols - 2);
    let done = catch_unwind(AssertUnwindSafe(|| grid.run(steps)));
    println!("{}", done.is_ok());
    show("now", &grid.now);
    show("next", &grid.next);
    show("variables", &variables(rows * cols, steps));
}
