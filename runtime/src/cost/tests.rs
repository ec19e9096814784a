use super::*;
use crate::base::abi::{ARRAY_COPY_IN, ARRAY_COPY_OUT, ARRAY_SCRATCH};

fn rates() -> Rates {
    Rates::of(&REFERENCE, 8)
}

fn array(bytes: u64, flags: u32) -> Array {
    Array {
        start: std::ptr::null_mut(),
        bytes,
        bias: 0,
        out_offset: 0,
        out_bytes: bytes,
        flags,
        element_bytes: 8,
        row_bytes: 0,
        row_count: [0; 3],
        row_stride: [0; 3],
    }
}

#[test]
fn decisions() {
    let both = ARRAY_COPY_IN | ARRAY_COPY_OUT;
    // (work, arrays, on the device?)
    let table: [(f64, Vec<Array>, bool); 8] = [
        (0.0, vec![], false),
        (f64::NAN, vec![], false),
        (-1e12, vec![], false),
        (1e4, vec![array(80_000, both)], false), // a small vector
        (1e9, vec![array(8_000_000, ARRAY_COPY_IN), array(8_000_000, both)], true), // matrix product, n = 1000
        (1e8, vec![array(2_400_000_000, both)], false), // one pass over large vectors
        (1e8, vec![array(2_400_000_000, ARRAY_SCRATCH)], true), // scratch isn't moved
        (1e5, vec![array(8_000, both)], true),          // a small matrix product, n = 46
    ];
    for (work, arrays, expected) in table {
        let estimate = Learned::default().estimate(work, arrays.iter().map(Moves::of), 1, &rates());
        assert_eq!(estimate.gain() > 0.0, expected, "work {work}: {estimate:?}");
    }
}

/// Sums that keep their order: of 2.7 · 10^8 exponentials, as measured, and a norm behind a matrix product.
#[test]
fn what_one_thread_runs() {
    for (work, serial, expected) in [
        (8e8, None, true),
        (8e8, Some(11.0 * 2.7e8), false),
        (1e9, Some(1e6), true),
        (3e6, Some(3.0 * 1e6), false),
        (8e8, Some(f64::NAN), true),
    ] {
        let learned = Learned::default();
        serial.into_iter().for_each(|additions| learned.run_alone(additions));
        let estimate = learned.estimate(work, std::iter::empty(), 4, &rates());
        assert_eq!(estimate.gain() > 0.0, expected, "work {work}, {serial:?}: {estimate:?}");
    }
}

#[test]
fn transfers_as_measured() {
    // (bytes, threads, microseconds)
    for (bytes, threads, measured) in [
        (64_000u64, 8, 6.0),
        (1_000_000, 8, 65.0),
        (4_000_000, 8, 210.0),
        (64_000_000, 8, 1480.0),
        (256_000_000, 8, 5300.0),
        (256_000_000, 2, 11700.0),
        (256_000_000, 1, 21400.0),
        (4_000_000_000, 8, 80_000.0),
    ] {
        let seconds = Rates::of(&REFERENCE, threads).transfer(bytes);
        assert!((0.7..1.4).contains(&(seconds * 1e6 / measured)), "{bytes} {threads}: {seconds}");
    }
}

#[test]
fn a_wrong_side_is_left_soon() {
    let both = [array(80_000, ARRAY_COPY_IN | ARRAY_COPY_OUT)];
    let learned = Learned::default();
    let estimate = || learned.estimate(1e7, both.iter().map(Moves::of), 1, &rates());
    assert!(estimate().gain() > 0.0);
    // Launch-bound: thousands of launches, 40 ms in all.
    learned.device_took(40e-3, estimate(), 10_000, &rates());
    learned.device_took(40e-3, estimate(), 10_000, &rates());
    assert!(estimate().gain() < 0.0, "{:?}", estimate());
    // The host turns out to be much slower still.
    learned.host_took(5.0, estimate().size(), &rates());
    assert!(estimate().gain() > 0.0, "{:?}", estimate());
    // Now and then a bad measurement changes nothing for long.
    for _ in 0..20 {
        learned.device_took(41e-3, estimate(), 10_000, &rates());
    }
    assert!((estimate().device - 41e-3).abs() < 1e-4, "{:?}", estimate());
    for undefined in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        learned.device_took(undefined, estimate(), 10_000, &rates());
        assert!((estimate().device - 41e-3).abs() < 1e-4, "{undefined}: {:?}", estimate());
    }
}

#[test]
fn classes_are_the_nearest_powers_of_eight() {
    let nearest = |work: f64| ((work.log2() - 6.0) / 3.0).round().clamp(0.0, 12.0) as usize;
    let mut work = 1.0;
    while work < 1e16 {
        assert_eq!(Scales::class(work), nearest(work), "{work}");
        work *= 1.0371;
    }
    for exponent in 0..60 {
        let power = 2f64.powi(exponent);
        assert_eq!(Scales::class(power), nearest(power), "2^{exponent}");
    }
    let table = [(f64::NAN, 0), (-1.0, 0), (0.0, 0), (f64::INFINITY, 12), (f64::MAX, 12)];
    assert!(table.into_iter().all(|(work, class)| Scales::class(work) == class));
}

#[test]
fn sizes_learn_apart() {
    let learned = Learned::default();
    let estimate = |work: f64| learned.estimate(work, [], 1, &rates());
    // Small ones are slower on the device than thought, and much faster on the host.
    for _ in 0..2 {
        learned.device_took(1e-4, estimate(1e5), 1, &rates());
    }
    learned.host_took(2e-5, estimate(1e5).size(), &rates());
    assert!(estimate(1e5).gain() < 0.0, "{:?}", estimate(1e5));
    for _ in 0..2 {
        learned.device_took(5e-3, estimate(1e9), 1, &rates());
    }
    learned.host_took(0.5, estimate(1e9).size(), &rates());
    assert!(estimate(1e9).gain() > 0.4 && estimate(1e5).gain() < 0.0, "{:?}", estimate(1e9));
    // What is learnt from large ones is not taken from what each execution costs.
    let fast = Learned::default();
    for _ in 0..2 {
        fast.device_took(1e-3, fast.estimate(1e9, [], 1, &rates()), 1, &rates());
    }
    assert!(fast.estimate(1e9, [], 1, &rates()).device < 1.1e-3);
    assert_eq!(fast.estimate(1e3, [], 1, &rates()).device, OVERHEAD + rates().launching(1.0));
    // Between them the nearer one counts; a cold first execution is forgotten.
    assert!(estimate(2e8).gain() > 0.05, "{:?}", estimate(2e8));
    let cold = Learned::default();
    let estimate = || cold.estimate(1e7, [], 1, &rates());
    cold.device_took(1.0, estimate(), 1, &rates());
    assert!(estimate().gain() > 0.0, "{:?}", estimate());
    cold.device_took(1e-4, estimate(), 1, &rates());
    assert!((estimate().device - 1e-4).abs() < 1e-6, "{:?}", estimate());
}

#[test]
fn cold_measurements_of_the_host_decide_nothing() {
    let both = [array(8_000_000, ARRAY_COPY_IN | ARRAY_COPY_OUT)];
    let learned = Learned::default();
    let estimate = || learned.estimate(1e6, both.iter().map(Moves::of), 1, &rates());
    let device = estimate().device;
    // Two cold executions, then what they really take: a third less than on the device.
    for factor in [1.9, 1.5] {
        learned.host_took(factor * device, estimate().size(), &rates());
    }
    assert!(estimate().gain() > 0.0 && learned.is_doubtful(&estimate(), false), "{:?}", estimate());
    assert!(!learned.is_doubtful(&estimate(), true), "without its transfers it is clear");
    for _ in 0..2 {
        learned.host_took(0.7 * device, estimate().size(), &rates());
    }
    assert!(!learned.is_doubtful(&estimate(), false) && estimate().gain() < 0.0, "{:?}", estimate());
    // What is clear, or long, is no matter of doubt.
    let other = Learned::default();
    assert!(!other.is_doubtful(&other.estimate(1e6, [], 1, &rates()), false));
    let large = [array(800_000_000, ARRAY_COPY_IN)];
    let large = other.estimate(3e7, large.iter().map(Moves::of), 1, &rates());
    assert!(
        large.gain() > 0.0 && large.host < CLEAR * large.device && !other.is_doubtful(&large, false),
        "{large:?}"
    );
}

#[test]
fn giving_up_is_remembered() {
    let learned = Learned::default();
    let estimate = || learned.estimate(1e7, [], 3, &rates());
    let first = estimate();
    assert!(first.gain() > 0.0 && first.patience() >= 2.0 * first.host);
    learned.given_up(first.patience(), first, 700, &rates());
    assert!(estimate().gain() < 0.0 && estimate().device >= first.patience(), "{:?}", estimate());
}
