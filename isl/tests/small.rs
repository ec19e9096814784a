//! The arithmetic on vectors of small numbers (`c/small.h`) against isl's own, on values around the ends of
//! 32 bits.

use pollyrs_isl as _;

unsafe extern "C" {
    fn isl_seq_combine(dst: *mut u64, m1: *mut u64, src1: *mut u64, m2: *mut u64, src2: *mut u64, len: u32);
    fn isl_seq_elim(dst: *mut u64, src: *mut u64, pos: u32, len: u32, m: *mut u64);
    fn isl_seq_gcd(p: *mut u64, len: u32, gcd: *mut u64);
    fn isl_seq_inner_product(p1: *mut u64, p2: *mut u64, len: u32, product: *mut u64);
    fn isl_seq_abs_min_non_zero(p: *mut u64, len: u32) -> i32;
    fn isl_seq_eq(p1: *mut u64, p2: *mut u64, len: u32) -> i32;
    fn __real_isl_seq_combine(
        dst: *mut u64,
        m1: *mut u64,
        src1: *mut u64,
        m2: *mut u64,
        src2: *mut u64,
        len: u32,
    );
    fn __real_isl_seq_elim(dst: *mut u64, src: *mut u64, pos: u32, len: u32, m: *mut u64);
    fn __real_isl_seq_gcd(p: *mut u64, len: u32, gcd: *mut u64);
    fn __real_isl_seq_inner_product(p1: *mut u64, p2: *mut u64, len: u32, product: *mut u64);
    fn __real_isl_seq_abs_min_non_zero(p: *mut u64, len: u32) -> i32;
}

const LEN: u32 = 5;

/// A number of isl's with 32 bits.
fn small(value: i32) -> u64 {
    (u64::from(value as u32) << 32) | 1
}

/// Pseudo-random, half of them zero or near it, the rest anywhere or at an end of the range.
struct Numbers(u64);

impl Numbers {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }

    fn next(&mut self) -> u64 {
        small(match self.bits() % 8 {
            0..4 => (self.bits() % 13) as i32 - 6,
            4 => i32::MAX - (self.bits() % 3) as i32,
            5 => (self.bits() % 3) as i32 - i32::MAX,
            6 => 6 * ((self.bits() % 2001) as i32 - 1000),
            _ => (self.bits() as i32).max(-i32::MAX),
        })
    }

    fn vector(&mut self) -> Vec<u64> {
        (0..LEN).map(|_| self.next()).collect()
    }
}

/// Numbers that became long are equal as numbers; what they occupy is left to the end of the test.
fn equal(mut a: Vec<u64>, mut b: Vec<u64>) -> bool {
    // SAFETY: two vectors of isl's numbers of this length.
    unsafe { isl_seq_eq(a.as_mut_ptr(), b.as_mut_ptr(), LEN) != 0 }
}

#[test]
fn agrees_with_isl() {
    let mut numbers = Numbers(7);
    for round in 0..20_000 {
        let (a, b) = (numbers.vector(), numbers.vector());
        let (mut m1, mut m2) = (numbers.next(), if round % 3 == 0 { small(1) } else { numbers.next() });
        // Each source as it is, so that a long number made in a destination is in one vector only.
        let (mut s1, mut s2) = (a.clone(), b.clone());
        let (mut ours, mut theirs) = (b.clone(), b.clone());
        // SAFETY: vectors of isl's numbers of this length, and single ones.
        unsafe {
            isl_seq_combine(ours.as_mut_ptr(), &mut m1, s1.as_mut_ptr(), &mut m2, s2.as_mut_ptr(), LEN);
            __real_isl_seq_combine(
                theirs.as_mut_ptr(),
                &mut m1,
                s1.as_mut_ptr(),
                &mut m2,
                s2.as_mut_ptr(),
                LEN,
            );
        }
        assert!(equal(ours.clone(), theirs), "combine {a:x?} {b:x?} {m1:x} {m2:x}");
        // What has long numbers goes through the same functions.
        let mut mixed = ours;
        let (mut d1, mut d2, mut p1, mut p2) = (small(0), small(0), small(0), small(0));
        // SAFETY: as above; a result is a single number.
        unsafe {
            for v in [&mut s1, &mut mixed] {
                isl_seq_gcd(v.as_mut_ptr(), LEN, &mut d1);
                __real_isl_seq_gcd(v.as_mut_ptr(), LEN, &mut d2);
                assert!(isl_seq_eq(&mut d1, &mut d2, 1) != 0, "gcd {v:x?}");
                assert_eq!(
                    isl_seq_abs_min_non_zero(v.as_mut_ptr(), LEN),
                    __real_isl_seq_abs_min_non_zero(v.as_mut_ptr(), LEN),
                    "{v:x?}"
                );
                isl_seq_inner_product(v.as_mut_ptr(), s2.as_mut_ptr(), LEN, &mut p1);
                __real_isl_seq_inner_product(v.as_mut_ptr(), s2.as_mut_ptr(), LEN, &mut p2);
                assert!(isl_seq_eq(&mut p1, &mut p2, 1) != 0, "inner product {v:x?} {s2:x?}");
            }
        }
        let at = (0..LEN).find(|i| s2[*i as usize] != small(0));
        if let Some(at) = at {
            let (mut ours, mut theirs) = (a.clone(), a.clone());
            let (mut m1, mut m2) = (small(3), small(3));
            // SAFETY: as above.
            unsafe {
                isl_seq_elim(ours.as_mut_ptr(), s2.as_mut_ptr(), at, LEN, &mut m1);
                __real_isl_seq_elim(theirs.as_mut_ptr(), s2.as_mut_ptr(), at, LEN, &mut m2);
                assert!(isl_seq_eq(&mut m1, &mut m2, 1) != 0, "elimination's factor {a:x?} {b:x?} {at}");
            }
            assert!(equal(ours, theirs), "elimination {a:x?} {b:x?} {at}");
        }
    }
}
