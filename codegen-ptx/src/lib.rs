//! From mapped kernels to code: target-neutral kernel IR, PTX, host-emulated kernels, and the host plan.
//!
//! ```text
//! MappedScop ─build_kernels→ KernelModule ─lower_ptx→ PTX text ─assemble→ cubin
//!                                         └lower_emulated→ functions in the host module
//! ```
//!
//! # Invariants
//! - Everything lives in the host module's `LLVMContext`; nothing is written to the host module but by
//!   [`lower_emulated`].
//! - A kernel computes what the original statements compute: floating-point operations are neither contracted nor flushed nor
//!   approximated beyond the flags of the host's IR.
//! - Any function here may fail without harm: the original loop stays.

mod ahead;
mod arguments;
mod ast_expr;
mod axes;
mod barriers;
mod bulk;
mod cell;
mod checked;
mod checks;
mod descriptor;
mod early;
mod elements;
mod emulated;
mod errno;
mod error;
mod groups;
mod hold;
mod host;
mod ir;
mod kernel;
mod launch;
mod llvm;
mod machine;
mod math;
mod pinned;
mod product_range;
mod promotion;
mod ptx;
mod quick;
mod ranges;
mod roots;
mod share;
mod shuffle;
mod slice;
mod small;
mod squares;
mod statement;
mod stencil;
mod stores;
mod subregion;
mod sums;
#[doc(hidden)]
pub mod testing;
mod tiled;
mod walk;
mod window;

pub use bulk::bulk;
pub use descriptor::{Image, ImageKind};
pub use emulated::{KERNEL_ATTRIBUTE, lower_emulated};
pub use error::{CodegenError, Result};
pub use groups::{divides, takes_long};
pub use hold::{
    ALL_OBJECTS, Borrowing, Held, MAX_OBJECTS, Release, emit_releases, hold_slot, known_table, placeholders,
};
pub use host::{Entry, HostPlan, blocks, check_live_outs, emit, live_outs, prepare, rename};
pub use kernel::{KernelInfo, KernelModule, ScalarArg, build_kernels};
pub use machine::DeviceModule;
pub use ptx::{MathLibrary, PtxOptions, assemble, find_math_library, lower_ptx, prepare_ptx};
pub use stencil::{FusedKernels, fuse, work};
pub use tiled::{chained, divides_integers, products};
