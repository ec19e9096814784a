//! The kernels of a SCoP and how to launch them.

use crate::ir::llvm::*;
use pollyrs_schedule::stencil::StencilPlan;
use pollyrs_scop::ArrayId;
use std::fmt;

/// A kernel argument after the arrays; each fills one 8-byte slot at launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScalarArg {
    /// `Scop::params[i]`, an `i64`.
    Param(usize),
    /// `Scop::invariants[i]` in its own type, in the low bytes of the slot.
    Invariant(usize),
    /// `MappedKernel::host_params[i]`, an `i64`.
    HostParam(usize),
    /// The lower bound of grid dimension `i`, an `i64`.
    TileLower(usize),
    /// The extent of grid dimension `i`, an `i64`.
    TileCount(usize),
    /// What a kernel divides by that extent with ([`crate::kernel::division::factor`]), an `i64`.
    TileFactor(usize),
    /// The grid's block that is the launch's first one, an `i64`: 0 unless the launch is a slice of the grid.
    FirstBlock,
    /// `FusedKernels::scalars[i]`, an `i64`.
    Stencil(usize),
}

/// How to launch a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// The function's name: `<scop>_<kernel>`, an identifier of PTX.
    pub name: String,
    /// The function in device code that it has from another SCoP, whose kernels are the same.
    pub entry: Option<String>,
    pub arrays: Vec<ArrayId>,
    pub scalars: Vec<ScalarArg>,
    /// Threads in x, y, z.
    pub block: [u32; 3],
    pub has_barrier: bool,
    /// Shared memory a block.
    pub shared_bytes: u32,
    /// How much of it code without operations of warps needs.
    pub plain_shared_bytes: u32,
    /// Shared memory behind it that only the emulated device needs.
    pub exchange_bytes: u32,
    /// Blocks of so many neighbouring tiles along the first dimension of the grid are neighbours: what slices
    /// consist of. 0: it is launched as a whole.
    pub slice_tiles: u32,
    /// Blocks wait for each other: behind the scalars comes the address of a word that is zero and as many as
    /// there are blocks.
    pub graph: bool,
    /// Its code may come later than that of the others ([`KernelModule::set_late`]).
    pub late: bool,
}

/// The most shared memory that a block has without asking for it at the launch.
pub(crate) const STATIC_SHARED_BYTES: u32 = 48 * 1024;

impl KernelInfo {
    /// What a launch on a GPU asks for: all or nothing.
    pub fn dynamic_shared_bytes(&self) -> u32 {
        if self.shared_bytes > STATIC_SHARED_BYTES { self.shared_bytes } else { 0 }
    }
}

/// The kernels of a SCoP. It lives in the host module's LLVM context and must be dropped before that.
pub struct KernelModule {
    pub(crate) owned: OwnedModule,
    pub(crate) kernels: Vec<KernelInfo>,
    /// The attributes of the host function that fix its instruction set, for emulated kernels.
    pub(crate) host_target: Vec<(String, String)>,
    /// Kernels of several time steps, behind those of the mapping.
    pub(crate) fused: Option<FusedKernels>,
}

impl KernelModule {
    /// How to launch the kernels, in the order of `MappedScop::kernels`.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// The fused kernels, if [`fuse`](crate::fuse) added some.
    pub fn fused(&self) -> Option<&FusedKernels> {
        self.fused.as_ref()
    }

    /// The names of functions, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for k in self.kernels.iter().filter(|k| k.entry.is_none()) {
            if !names.contains(&k.name) {
                names.push(k.name.clone());
            }
        }
        names
    }

    /// Device code is that of another SCoP, where the functions have these [`names`](KernelModule::names).
    pub fn take_code_of(&mut self, others: &[String]) {
        let names = self.names();
        for kernel in &mut self.kernels {
            let at = names.iter().position(|name| *name == kernel.name);
            kernel.entry = at.and_then(|at| others.get(at)).cloned();
        }
    }

    /// Kernels whose code may come later: those of `tiles`, tasks of a graph where launches can take their
    /// place, and fused steps of time. While it isn't there, the host launches the others.
    pub fn set_late(&mut self, tiles: &[usize], graphs: bool) {
        let of_depths = self.fused.iter().flat_map(|f| {
            f.depths.iter().flat_map(|d| [d.forward, d.backward]).chain(std::iter::once(f.copy_back))
        });
        let late: Vec<usize> = of_depths.chain(tiles.iter().copied()).collect();
        for (at, kernel) in self.kernels.iter_mut().enumerate() {
            kernel.late = late.contains(&at) || (graphs && kernel.graph);
        }
        // One function may stand under several descriptors.
        let early: Vec<String> = self.kernels.iter().filter(|k| !k.late).map(|k| k.name.clone()).collect();
        self.kernels.iter_mut().for_each(|k| k.late &= !early.contains(&k.name));
    }

    /// Whether some of its kernels are late.
    pub fn has_late(&self) -> bool {
        self.kernels.iter().any(|k| k.late)
    }

    /// All kernels are there from the beginning.
    pub fn clear_late(&mut self) {
        self.kernels.iter_mut().for_each(|k| k.late = false);
    }

    /// The module; it stays ours.
    pub fn module(&self) -> Module {
        self.owned.get()
    }
}

impl fmt::Display for KernelModule {
    /// The printer behind `print<pollyrs-kernel>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.owned.get().text())
    }
}

impl fmt::Debug for KernelModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelModule").field("kernels", &self.kernels).finish_non_exhaustive()
    }
}

/// Columns of blocks at the grid's sides, and the others ([`blocks`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Side,
    Middle,
}

/// What the host computes for a launch, an `i64` each. Dimensions are those of the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StencilScalar {
    /// The first time iteration.
    Time,
    /// Output rows of a block, and how many of them the first block does not have.
    Rows(Part),
    Less(Part),
    /// Blocks one above the other, and columns of them.
    RowBlocks(Part),
    Columns(Part),
    /// First and last element, along a dimension, of the box around all live buffers.
    First(usize),
    Last(usize),
    /// Blocks along y (1) and x (2).
    Count(usize),
    /// Output columns of a block along y (1) and x (2): at most the plan's, fewer where that makes the blocks
    /// alike.
    Width(usize),
    /// Corners of a buffer's box and of the box around all that is read of it.
    Lower(usize, usize),
    Upper(usize, usize),
    OuterLower(usize, usize),
    OuterUpper(usize, usize),
    /// Corners of the box of a partial step.
    StepLower(usize, usize),
    StepUpper(usize, usize),
    /// Corners of the box of a step's case.
    CaseLower(usize, usize, usize),
    CaseUpper(usize, usize, usize),
    /// Zero, which kernels do not know ([`tile::Tile::taken`]).
    Zero,
    /// Linear index of the first and last touched element of an array.
    Begin(ArrayId),
    End(ArrayId),
}

/// A number of fused steps.
#[derive(Clone, Debug)]
pub struct Depth {
    pub plan: StencilPlan,
    /// Positions in `KernelModule::kernels`: from the array to the copy, and from the copy to the array.
    pub forward: usize,
    pub backward: usize,
}

/// The fused kernels of a SCoP.
#[derive(Clone, Debug)]
pub struct FusedKernels {
    /// Deepest first; each runs as often as the remaining steps allow. A complete one is the last, and ends
    /// the fused launches.
    pub depths: Vec<Depth>,
    /// A launch of no steps, from the copy to the array.
    pub copy: StencilPlan,
    pub copy_back: usize,
    /// By index of `ScalarArg::Stencil`.
    pub scalars: Vec<StencilScalar>,
    /// Arrays with live buffers. The copy of the i-th has the number `arrays.len() + i`.
    pub copied: Vec<ArrayId>,
}
