//! The header and its mirror in Rust agree.

use std::mem::{offset_of, size_of};
use std::process::Command;

use pollyrs_rt::abi::{self, Array, EmuThread, Image, Kernel, Scop};

use crate::support::compile;

#[test]
fn header_and_mirror_have_the_same_layout() {
    let mut expected = Vec::new();
    macro_rules! structure {
        ($c:literal, $rust:ty: $($field:ident)*) => {
            expected.push(format!("{} {}", $c, size_of::<$rust>()));
            $(expected.push(format!("{}.{} {}", $c, stringify!($field), offset_of!($rust, $field)));)*
        };
    }
    structure!("PollyrsEmuThread", EmuThread: block thread reserved shared scheduler);
    structure!("PollyrsKernel", Kernel:
        name emulated flags shared_bytes block n_arrays array_index n_scalars dynamic_shared_bytes);
    structure!("PollyrsImage", Image: kind arch data bytes);
    structure!("PollyrsScop", Scop: abi_version flags name at n_kernels n_images kernels images n_reasons n_arrays
        reasons array_names cache);
    structure!("PollyrsArray", Array: start bytes bias out_offset out_bytes flags element_bytes row_bytes row_count row_stride);
    expected.push(format!(
        "{} {} {} {} {} {} {} {}",
        abi::ABI_VERSION,
        abi::REASON_RUNTIME,
        abi::KERNEL_HAS_BARRIER,
        abi::IMAGE_PTX,
        abi::IMAGE_CUBIN,
        abi::ARRAY_COPY_IN,
        abi::ARRAY_COPY_OUT,
        abi::ARRAY_SCRATCH
    ));
    expected.push(format!("{} {}", abi::KERNEL_LATE, abi::IMAGE_EARLY_CUBIN));
    let output = Command::new(compile("layout", "layout.c", &[])).output().unwrap();
    let found: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect();
    assert_eq!(found, expected);
}
