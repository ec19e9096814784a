// Nests in a main that owns its vectors, behind loops that may unwind: vectors that grow by `push`, calls that may panic.
// ARGS: 40 3
// ARGS: 1 1
// ARGS: 2 2
// ARGS: 33 0
// OFFLOAD: yes
// KERNELS: .*4main.*
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    fn grown(&mut self, count: usize) -> Vec<f64> {
        let mut out = Vec::new();
        for _ in 0..count {
            out.push(self.next());
        }
        out
    }
}

#[inline(never)]
fn show(name: &str, values: &[f64]) {
    let sum = values.iter().fold(0u64, |h, v| (h ^ v.to_bits()).wrapping_mul(0x100_0000_01b3));
    println!("{name} {} {sum:016x}", values.len());
}

fn main() {
    let mut words = std::env::args().skip(1).map(|w| w.parse::<usize>().unwrap());
    let (n, steps) = (words.next().unwrap(), words.next().unwrap());
    let mut numbers = Numbers(88172645463325252);
    let a = numbers.grown(n * n);
    let mut c = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let mut s = 0.0;
            for k in 0..n {
                s += a[i * n + k] * a[k * n + j];
            }
            c[i * n + j] = s;
        }
    }
    show("product", &c);
    let mut p = c.clone();
    let mut q = numbers.grown(n * n);
    for _ in 0..steps {
        for i in 1..n.max(1) - 1 {
            for j in 1..n.max(1) - 1 {
                q[i * n + j] = 0.25 * (p[i * n - n + j] + p[i * n + n + j] + p[i * n + j - 1] + p[i * n + j + 1]);
            }
        }
        std::mem::swap(&mut p, &mut q);
    }
    let squares: f64 = p.iter().map(|v| v * v).sum();
    for (x, y) in c.iter_mut().zip(&p) {
        *x = *y - 0.5 * *x;
    }
    show("p", &p);
    show("c", &c);
    println!("{squares}");
}
