//! From mapped kernels to code: target-neutral kernel IR, PTX, host-emulated kernels, and the host plan.
//!
//! ```text
//! MappedScop ─build_kernels→ KernelModule ─lower_ptx→ PTX text ─assemble→ cubin
//!                                         └lower_emulated→ functions in the host module
//! ```
//!
//! # Folders
//! `ir → affine → kernel → ops → statement → {staged, tiled, stencil} → kernels`, beside them `device` (over
//! `ops`) and `host` (over `kernel`). Each uses only what stands before it; `scripts/lib/layers.py` checks
//! the imports.
//!
//! # Invariants
//! - Everything lives in the host module's `LLVMContext`; nothing is written to the host module but by
//!   [`lower_emulated`].
//! - A kernel computes what the original statements compute: floating-point operations are neither contracted
//!   nor flushed nor approximated beyond the flags of the host's IR.
//! - Any function here may fail without harm: the original loop stays.

mod affine;
mod device;
mod host;
mod ir;
mod kernel;
mod kernels;
mod ops;
mod staged;
mod statement;
mod stencil;
#[doc(hidden)]
pub mod testing;
mod tiled;

pub use device::emulated::{KERNEL_ATTRIBUTE, lower_emulated};
pub use device::library::{MathLibrary, PtxOptions, find_math_library};
pub use device::machine::DeviceModule;
pub use device::mma_depth::with_deep_products;
pub use device::ptx::{assemble, lower_ptx, prepare_early_ptx, prepare_ptx};
pub use host::emit::{blocks, check_live_outs, emit, live_outs, prepare, rename};
pub use host::plan::{Entry, HostPlan, Image, ImageKind};
pub use host::residency::{
    ALL_OBJECTS, Borrowing, Held, MAX_OBJECTS, Release, Strip, emit_releases, known_table, placeholders,
    residency_slot,
};
pub use ir::builder::Ir;
pub use ir::error::{CodegenError, Result};
pub use ir::llvm::{handle_of_block, host_block, host_value};
pub use kernel::module::{FusedKernels, KernelInfo, KernelModule, ScalarArg};
pub use kernels::build::build_kernels;
pub use ops::bulk::bulk;
pub use staged::groups::{divides, takes_long};
pub use stencil::fuse;
pub use stencil::work::work;
pub use tiled::guard::minds_operands_of;
pub use tiled::product::{chained, products};
