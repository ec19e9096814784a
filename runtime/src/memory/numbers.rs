//! The least and the largest of floating-point numbers, which subscripts are rounded from: a part of
//! [`crate::memory::inspect`].

/// What was seen of some numbers.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    low: f64,
    high: f64,
    /// There is a NaN among them.
    unordered: bool,
    any: bool,
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers { low: f64::INFINITY, high: f64::NEG_INFINITY, unordered: false, any: false }
    }
}

impl Numbers {
    /// Of whole elements of 4 or 8 bytes.
    pub fn of(piece: &[u8], width: u32) -> Numbers {
        let any = !piece.is_empty();
        if width == 4 {
            let (low, high, unordered) = range(piece, f32::from_ne_bytes, (f32::INFINITY, f32::NEG_INFINITY));
            return Numbers { low: low.into(), high: high.into(), unordered, any };
        }
        let (low, high, unordered) = range(piece, f64::from_ne_bytes, (f64::INFINITY, f64::NEG_INFINITY));
        Numbers { low, high, unordered, any }
    }

    pub fn and(self, other: Numbers) -> Numbers {
        Numbers {
            low: if other.low < self.low { other.low } else { self.low },
            high: if other.high > self.high { other.high } else { self.high },
            unordered: self.unordered || other.unordered,
            any: self.any || other.any,
        }
    }

    /// Both ends; 0 where there are no numbers, and NaNs where one of them is one.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Numbers { unordered: true, .. } => (f64::NAN, f64::NAN),
            Numbers { any: false, .. } => (0.0, 0.0),
            Numbers { low, high, .. } => (low, high),
        }
    }
}

/// Numbers that are compared side by side, each with the ends of its own.
const LANES: usize = 16;

/// The least and the largest of whole elements, and whether there is a NaN; `ends` is what none of them is
/// beyond.
fn range<const N: usize, T: Copy + PartialOrd>(
    bytes: &[u8],
    value: impl Fn([u8; N]) -> T,
    ends: (T, T),
) -> (T, T, bool) {
    let (mut low, mut high, mut unordered) = ([ends.0; LANES], [ends.1; LANES], [false; LANES]);
    for group in bytes.as_chunks::<N>().0.chunks(LANES) {
        for (lane, element) in group.iter().enumerate() {
            let v = value(*element);
            low[lane] = if v < low[lane] { v } else { low[lane] };
            high[lane] = if v > high[lane] { v } else { high[lane] };
            // (A NaN is not equal to itself.)
            unordered[lane] |= v.partial_cmp(&v).is_none();
        }
    }
    let least = low.into_iter().fold(ends.0, |a, b| if b < a { b } else { a });
    let largest = high.into_iter().fold(ends.1, |a, b| if b > a { b } else { a });
    (least, largest, unordered.contains(&true))
}
