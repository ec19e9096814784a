//! What programs of all forms are made of: their texts, element types, arrays.

use std::collections::BTreeSet;

/// The text of a program, and what it has.
pub struct Text {
    /// Everything before the driver.
    pub functions: String,
    /// Statements of the driver.
    pub driver: String,
    pub features: BTreeSet<&'static str>,
}

/// Elements whose sums and differences are defined.
#[derive(Clone, Copy, PartialEq)]
pub struct Elem {
    pub c: &'static str,
    pub bytes: i64,
    /// For the harness.
    pub types: &'static str,
}

impl Elem {
    pub fn is_float(self) -> bool {
        self.types.contains(',')
    }
}

pub const ELEMS: [Elem; 5] = [
    Elem { c: "double", bytes: 8, types: "8:d0," },
    Elem { c: "float", bytes: 4, types: "4:f0," },
    Elem { c: "uint32_t", bytes: 4, types: "4:" },
    Elem { c: "uint64_t", bytes: 8, types: "8:" },
    Elem { c: "uint8_t", bytes: 1, types: "1:" },
];

/// A driver's statement: an array of `count` elements of its own, with random values.
pub fn array(name: &str, number: usize, elem: Elem, count: i64) -> String {
    let bytes = count * elem.bytes;
    let (c, types) = (elem.c, elem.types);
    format!("  {c} *{name} = malloc({bytes});\n  adopt({number}, {name}, {bytes}, 0, \"{types}\");\n")
}
