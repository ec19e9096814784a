// Sums into elements that lists name, with repeats, by indices that are checked: counted loops, zipped and enumerated ones, pairs of places, components, a condition. Where an index is out of range the loop panics
// where it did, with the sums before it.
// ARGS: 333
// ARGS: 1500
// ARGS: 0
// OFFLOAD: yes
// KERNELS: counted zipped enumerated pairs components chosen signed
use std::panic::{AssertUnwindSafe, catch_unwind};

fn show(name: &str, values: &[f64]) {
    let sum = values.iter().fold(0u64, |h, v| (h ^ v.to_bits()).wrapping_mul(0x100_0000_01b3));
    println!("{name} {} {sum:016x}", values.len());
}

#[inline(never)]
fn counted(place: &[u32], v: &[f64], f: &mut [f64]) {
    for i in 0..place.len() {
        f[place[i] as usize] += v[i];
    }
}

#[inline(never)]
fn zipped(place: &[usize], v: &[f64], f: &mut [f64]) {
    for (&k, &x) in place.iter().zip(v) {
        f[k] += x;
    }
}

#[inline(never)]
fn enumerated(place: &[u32], v: &[f64], f: &mut [f64]) {
    for (i, &k) in place.iter().enumerate() {
        f[k as usize] -= v[i] * 2.0;
    }
}

#[inline(never)]
fn pairs(place: &[[u32; 2]], v: &[f64], f: &mut [f64]) {
    for (p, &x) in place.iter().zip(v) {
        f[p[0] as usize] += x;
        f[p[1] as usize] -= x;
    }
}

#[inline(never)]
fn components(place: &[u32], v: &[[f64; 3]], f: &mut [[f64; 3]]) {
    for (&k, x) in place.iter().zip(v) {
        let to = &mut f[k as usize];
        to[0] += x[0];
        to[1] += x[1];
        to[2] += x[2];
    }
}

#[inline(never)]
fn chosen(place: &[u32], v: &[f64], f: &mut [f64]) {
    for (&k, &x) in place.iter().zip(v) {
        if x > 0.25 {
            f[k as usize] += x;
        }
    }
}

#[inline(never)]
fn signed(place: &[i32], v: &[f64], f: &mut [f64]) {
    for i in 0..place.len() {
        f[place[i] as usize] += v[i];
    }
}

fn main() {
    let n: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(333);
    let mut state = 88172645463325252u64;
    let mut number = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % most
    };
    let places = n / 4 + 60;
    let mut list: Vec<u32> = (0..n).map(|_| number(places) as u32).collect();
    let mut wide: Vec<usize> = (0..n).map(|_| number(places)).collect();
    let two: Vec<[u32; 2]> = (0..n).map(|_| [number(places) as u32, number(places) as u32]).collect();
    let mut with_sign: Vec<i32> = list.iter().map(|k| *k as i32).collect();
    let v: Vec<f64> =
        (0..n).map(|i| (number(1000) as f64 / 777.0 - 0.5) * if i % 3 == 1 { 1e6 } else { 1.0 }).collect();
    let vectors: Vec<[f64; 3]> = v.iter().map(|x| [*x, x * 2.0, x / 3.0]).collect();
    let mut f = vec![0.5; places];
    let mut three = vec![[0.25; 3]; places];
    counted(&list, &v, &mut f);
    show("counted", &f);
    zipped(&wide, &v, &mut f);
    show("zipped", &f);
    enumerated(&list, &v, &mut f);
    show("enumerated", &f);
    pairs(&two, &v, &mut f);
    show("pairs", &f);
    components(&list, &vectors, &mut three);
    show("components", three.as_flattened());
    chosen(&list, &v, &mut f);
    show("chosen", &f);
    signed(&with_sign, &v, &mut f);
    show("signed", &f);
    if n == 0 {
        return;
    }
    // An index that is one too large, one that is negative, too few numbers.
    std::panic::set_hook(Box::new(|_| println!("panics")));
    let mut caught = |name: &str, run: &mut dyn FnMut(&mut [f64])| {
        let panics = catch_unwind(AssertUnwindSafe(|| run(&mut f))).is_err();
        println!("{panics}");
        show(name, &f);
    };
    list[n / 2] = places as u32;
    wide[n / 3] = usize::MAX;
    with_sign[n - 2] = -1;
    caught("counted", &mut |f| counted(&list, &v, f));
    caught("zipped", &mut |f| zipped(&wide, &v, f));
    caught("enumerated", &mut |f| enumerated(&list, &v, f));
    caught("chosen", &mut |f| chosen(&list, &v, f));
    caught("signed", &mut |f| signed(&with_sign, &v, f));
    list[n / 2] = 0;
    caught("too few", &mut |f| counted(&list, &v[..n - 1], f));
}
