//! From kernel IR to code: PTX, machine code, host functions for the emulated device.

pub(crate) mod checked;
pub(crate) mod emulated;
pub(crate) mod library;
pub(crate) mod machine;
pub(crate) mod mma_depth;
pub(crate) mod ptx;
pub(crate) mod sines;
