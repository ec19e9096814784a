//! Numbers of the C ABI between generated code and the run-time library.
//!
//! **Problem.** The plugin writes versions, flags and sizes into descriptors that the run-time library reads.
//! A number that stands in both is two numbers one day.
//!
//! # Invariants
//! - Each number stands in `runtime/include/pollyrs_rt.h` alone: constants here are read from its text when
//!   this crate is compiled, under its names without `POLLYRS_`.
//! - A name that the header does not define as a number does not compile.
//! - Sizes of structures are counted in words of 8 bytes; the run-time library asserts that its mirrors of
//!   the structures have them.
//!
//! # Example
//! `#define POLLYRS_KERNEL_GRAPH 4u` makes [`KERNEL_GRAPH`] 4.

#![no_std]

const HEADER: &[u8] = include_bytes!("../../runtime/include/pollyrs_rt.h");

macro_rules! defined {
    ($($name:ident)*) => {
        $(pub const $name: u32 = number(HEADER, concat!("POLLYRS_", stringify!($name)));)*
    };
}

defined! {
    ABI_VERSION REASON_RUNTIME
    KERNEL_HAS_BARRIER KERNEL_CHECKED KERNEL_GRAPH KERNEL_LATE KERNEL_PLAIN_SHIFT KERNEL_PLAIN_BEFORE
    IMAGE_PTX IMAGE_CUBIN IMAGE_EARLY_CUBIN
    SCOP_APART
    ARRAY_COPY_IN ARRAY_COPY_OUT ARRAY_SCRATCH ARRAY_ROWS ARRAY_CHANGED ARRAY_HELD ARRAY_MASK_SHIFT ARRAY_OWN
    ARRAY_GUARDED ARRAY_FAULT
    ALL
    FAULT_ERANGE FAULT_CHECK FAULT_NAN FAULT_PERHAPS
    INSPECT_DISTINCT INSPECT_NUMBERS INSPECT_UNSIGNED INSPECT_FIRST GROUPED_UNSIGNED GROUPED_PARTLY
}

/// Dimensions of rows that `PollyrsArray` has room for.
pub const ROW_DIMS: usize = 3;
/// Words of `PollyrsArray`.
pub const ARRAY_WORDS: usize = 7 + 2 * ROW_DIMS;
/// Words of `PollyrsPart`.
pub const PART_WORDS: usize = 5;

/// What `header` defines `name` as.
const fn number(header: &[u8], name: &str) -> u32 {
    let mut at = 0;
    while at < header.len() {
        let line = at == 0 || header[at - 1] == b'\n';
        if line && stands(header, at, b"#define ") && stands(header, at + 8, name.as_bytes()) {
            let value = at + 8 + name.len();
            // Of a longer name this is the beginning.
            if stands(header, value, b" ") {
                return value_of(header, value + 1);
            }
        }
        at += 1;
    }
    panic!("the header does not define this name")
}

/// Whether `text` stands there.
const fn stands(header: &[u8], at: usize, text: &[u8]) -> bool {
    let mut i = 0;
    while i < text.len() {
        if at + i >= header.len() || header[at + i] != text[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The number that stands there, alone, in C's decimal or hexadecimal notation.
const fn value_of(header: &[u8], mut at: usize) -> u32 {
    let radix = if stands(header, at, b"0x") { 16 } else { 10 };
    if radix == 16 {
        at += 2;
    }
    let (mut value, mut digits) = (0u32, 0);
    while at < header.len()
        && let Some(digit) = (header[at] as char).to_digit(radix)
    {
        let Some(more) = value.checked_mul(radix) else { panic!("a number of more than 32 bits") };
        let Some(more) = more.checked_add(digit) else { panic!("a number of more than 32 bits") };
        value = more;
        digits += 1;
        at += 1;
    }
    if stands(header, at, b"u") {
        at += 1;
    }
    assert!(digits > 0 && (at == header.len() || header[at].is_ascii_whitespace()), "no number");
    value
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn numbers_are_what_the_text_defines() {
        let text =
            b"#define A_LONGER 1u\n// #define A 2u\n#define A 3u /* said */\n#define B 0xffu\n#define C 80\n";
        for (name, value) in [("A_LONGER", 1), ("A", 3), ("B", 255), ("C", 80)] {
            assert_eq!(number(text, name), value, "{name}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let texts: [&[u8]; 5] =
            [b"", b"#define A\n", b"#define A (B | 1)\n", b"#define A 12x\n", b"#define A 4294967296u\n"];
        for text in texts {
            assert!(std::panic::catch_unwind(|| number(text, "A")).is_err(), "{text:?}");
        }
    }
}
