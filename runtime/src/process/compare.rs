//! `POLLYRS_RT_COMPARE`: each execution runs on both sides, and their results are compared where the program
//! has them.
//!
//! The device runs first. Its results land in memory of the library, over a copy of what the program has
//! there; then the execution counts as one that could not be done on the device, so that the original loop
//! runs as well. When that ends, both are compared byte for byte.
//!
//! # Invariants
//! * The program's memory has the original loop's results only.
//! * What the device has computed is compared with the original of the same execution: it is kept by thread
//!   and SCoP, and dropped where another execution of the SCoP begins first.

use std::cell::RefCell;

use crate::base::abi::Scop;
use crate::device::snapshot::Snapshot;
use crate::memory::guarded;
use crate::process::lines::{ComparisonLine, Difference};
use crate::process::{profile, registry};

/// One array as the device left it.
pub struct Written {
    pub array: String,
    /// Bytes of an element.
    pub element: usize,
    /// The number of the first element, counted from that with all subscripts 0.
    pub first: i64,
    /// Where the program has it.
    pub place: *const u8,
    pub bytes: Snapshot,
}

/// The results of an execution on the device.
pub struct Results {
    pub device: &'static str,
    pub arrays: Vec<Written>,
}

thread_local! {
    static KEPT: RefCell<Vec<(*const Scop, Results)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps what the device has computed for [`take`].
pub fn keep(scop: &Scop, results: Results) {
    KEPT.with_borrow_mut(|kept| {
        kept.retain(|(other, _)| !std::ptr::eq(*other, scop));
        kept.push((scop, results));
    });
}

/// What the device computed in the execution of `scop` whose original loop is about to run.
pub fn take(scop: &Scop) -> Option<Results> {
    KEPT.with_borrow_mut(|kept| {
        let at = kept.iter().position(|(other, _)| std::ptr::eq(*other, scop))?;
        Some(kept.swap_remove(at).1)
    })
}

impl Results {
    /// Compares with the program's memory; the line goes to the file.
    pub fn compare(&self, scop: &Scop) {
        let Some(path) = &registry::config().compare else { return };
        let line = ComparisonLine {
            scop: scop.name().into_owned(),
            at: scop.at().into_owned(),
            device: self.device.into(),
            elements: self.arrays.iter().map(|w| w.bytes.len().div_ceil(w.element) as u64).sum(),
            differences: self.arrays.iter().filter_map(Written::difference).collect(),
        };
        profile::append(path, &line);
    }
}

impl Written {
    /// `None`: both sides have the same, or the program has the memory no longer.
    fn difference(&self) -> Option<Difference> {
        let mut host = Snapshot::new(self.bytes.len() as u64).ok()?;
        guarded::copy(&mut host, self.place).ok()?;
        difference(&self.array, self.element, self.first, &host, &self.bytes)
    }
}

fn difference(array: &str, element: usize, first: i64, host: &[u8], device: &[u8]) -> Option<Difference> {
    if host == device {
        return None;
    }
    let pairs = || host.chunks(element).zip(device.chunks(element));
    let at = pairs().position(|(a, b)| a != b)?;
    let digits = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect();
    let (a, b) = pairs().nth(at)?;
    Some(Difference {
        array: array.to_owned(),
        element_bytes: element,
        different: pairs().filter(|(a, b)| a != b).count() as u64,
        element: first + at as i64,
        host: digits(a),
        on_device: digits(b),
        largest: largest(pairs().filter(|(a, b)| a != b)),
    })
}

/// The largest relative difference of pairs of floating-point numbers.
fn largest<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Option<f64> {
    let number = |bytes: &[u8]| match bytes.len() {
        4 => bytes.try_into().ok().map(|b| f64::from(f32::from_le_bytes(b))),
        8 => bytes.try_into().ok().map(f64::from_le_bytes),
        _ => None,
    };
    let mut most = 0.0;
    for (a, b) in pairs {
        let (a, b) = (number(a)?, number(b)?);
        if !(a.is_finite() && b.is_finite()) {
            return None;
        }
        let larger = a.abs().max(b.abs());
        most = f64::max(most, if larger > 0.0 { (a - b).abs() / larger } else { 0.0 });
    }
    Some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_has_its_place() {
        let host = [0u8, 0, 1, 0, 2, 0, 3, 0];
        let mut device = host;
        assert_eq!(difference("a", 2, 4, &host, &device), None);
        (device[5], device[6]) = (9, 7);
        let found = difference("a", 2, 4, &host, &device).unwrap();
        assert_eq!((found.different, found.element, found.largest), (2, 6, None));
        let [a, b] = [1.5f64, 1.25].map(f64::to_le_bytes);
        let larger = difference("a", 8, 0, &a, &b).and_then(|d| d.largest).unwrap();
        assert!((larger - 1.0 / 6.0).abs() < 1e-15);
        assert_eq!((found.host.as_str(), found.on_device.as_str()), ("0200", "0209"));
    }
}
