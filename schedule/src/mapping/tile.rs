//! Shapes of register tiles: those to choose from, and the one that a kernel has.

use pollyrs_isl as isl;

/// A shape of tiles for two members, the outer one first, then x.
#[derive(Clone, Debug)]
pub struct TileShape {
    /// Threads along the two.
    pub threads: [u32; 2],
    /// Threads of a warp along the two: 32 in all, and each divides the threads.
    pub lanes: [u32; 2],
    /// Points of a thread.
    pub points: [u32; 2],
    /// Consecutive points of a thread at most, each a divisor of the points.
    pub vector: [u32; 2],
    /// Iterations of the sequential loop whose operands are in shared memory at a time; 0: no shared memory.
    pub strip: u32,
    /// Sets of buffers for strips that come by copies that no thread waits for; 0: two sets, filled through
    /// registers.
    pub stages: u32,
    /// Bytes of a set of buffers at most. Every GPU has 48 KiB for a block, more on request.
    pub shared: u32,
    /// Blocks on a multiprocessor at once: bounds the registers.
    pub residents: u32,
    /// Operations per time with all multiprocessors busy, in any unit that the shapes of a list share.
    pub rate: u32,
}

impl TileShape {
    /// Time of a multiprocessor with as many blocks, of `points` each, as fit it.
    pub(super) fn weight(&self, points: u32) -> u32 {
        points * self.residents * 16 / self.rate.max(1)
    }
}

/// The shapes to choose from, for each kind of kernel, largest tiles first.
#[derive(Clone, Debug)]
pub struct TilingOptions {
    /// Elements of at most four bytes.
    pub narrow: Vec<TileShape>,
    /// The same with statements of `MapOptions::chained`.
    pub chained: Vec<TileShape>,
    /// Larger ones.
    pub wide: Vec<TileShape>,
    /// Kernels of `MapOptions::products`.
    pub products: Vec<TileShape>,
    /// Blocks (of one resident) that run at once.
    pub multiprocessors: u32,
}

impl Default for TilingOptions {
    /// Accumulators, two sets of operands, a strip on its way and addresses have to fit the registers: 255 of
    /// a thread, 65536 of a multiprocessor. Two blocks of 128 threads hide each other's barriers, with 8 × 16
    /// points each keeps 24 operands for 128 fused operations. Rates are TFLOP/s on an H200, gemm at many
    /// sizes (`bench/notes/002-matrix-products.md`); longer strips, and tiles of 128 × 256 in one block, were
    /// slower.
    fn default() -> Self {
        let shape = |threads, points, residents, rate| TileShape {
            threads,
            lanes: [4, 8],
            points,
            vector: [4, 4],
            strip: 8,
            stages: 0,
            shared: 24 * 1024,
            residents,
            rate,
        };
        let fragments = |shape, stages| TileShape {
            stages,
            lanes: [8, 4],
            vector: [1, 2],
            strip: 16,
            shared: 40 * 1024,
            ..shape
        };
        TilingOptions {
            narrow: vec![shape([8, 16], [16, 8], 2, 50), shape([8, 8], [8, 8], 6, 45)],
            // ptxas starts many products before it adds the first, and spills with more points or fewer
            // registers.
            chained: vec![shape([8, 16], [8, 8], 2, 17), shape([8, 8], [8, 8], 4, 16)],
            wide: vec![shape([16, 16], [8, 4], 1, 14), shape([8, 8], [8, 4], 4, 14)],
            products: vec![
                fragments(shape([16, 16], [8, 8], 1, 58), 4),
                fragments(shape([16, 8], [4, 8], 3, 52), 3),
            ],
            multiprocessors: 132,
        }
    }
}

impl TilingOptions {
    /// These shapes, but for the numbers given, one for each kind of kernel; fragments of products have their
    /// own.
    ///
    /// # Errors
    /// What is wrong with the numbers.
    pub fn only(
        &self,
        threads: [u32; 2],
        points: [u32; 2],
        residents: u32,
    ) -> std::result::Result<Self, String> {
        let [ty, tx] = threads;
        // Warps are 4 x 8 threads.
        if ty == 0 || tx == 0 || ty % 4 != 0 || tx % 8 != 0 || ty.saturating_mul(tx) > 1024 {
            return Err(format!(
                "{ty} x {tx} threads: the first has to be a multiple of 4, the second of 8, 1024 in all at most"
            ));
        }
        let [py, px] = points;
        if !points.iter().all(|p| p.is_power_of_two() && *p <= 16) || py * px > 128 {
            return Err(format!("{py} x {px} points: each has to be 1, 2, 4, 8 or 16, 128 in all at most"));
        }
        if !(1..=16).contains(&residents) || residents * ty * tx > 2048 {
            return Err(format!(
                "{residents} blocks of {ty} x {tx} threads: a multiprocessor has 2048 threads"
            ));
        }
        let one = |of: &[TileShape]| {
            let vector = points.map(|p| p.min(4));
            of.first()
                .map(|s| TileShape { threads, points, vector, residents, ..s.clone() })
                .into_iter()
                .collect()
        };
        Ok(TilingOptions {
            narrow: one(&self.narrow),
            chained: one(&self.chained),
            wide: one(&self.wide),
            ..self.clone()
        })
    }
}

/// How one member is tiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub threads: u32,
    pub lanes: u32,
    pub points: u32,
    pub vector: u32,
}

impl Shape {
    pub const ONE: Shape = Shape { threads: 1, lanes: 1, points: 1, vector: 1 };

    /// Tile, threads and consecutive points.
    pub fn sizes(self) -> (u32, u32, u32) {
        (self.tile(), self.threads, self.vector)
    }

    pub fn tile(self) -> u32 {
        self.threads * self.points
    }
}

/// How all members are tiled.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub dims: Vec<Shape>,
    pub strip: u32,
    pub stages: u32,
    pub shared: u32,
    pub residents: u32,
    /// Whether all its points fuse a product into a sum of doubles.
    pub products: bool,
    /// Time of as many blocks as are resident.
    pub weight: u32,
    /// Threads of a block for each thread that computes: `tiling/stream.rs`.
    pub helpers: u32,
    /// Whether points outside of the box have to repeat one of the box (`MapOptions::divides`).
    pub repeats: bool,
    /// The loop whose operands stream through shared memory, if that is all the tile is for.
    pub stream: Option<isl::UnionPwAff>,
    /// Whether threads all of whose points are in the box run code of their own, without loops:
    /// `tiling/neighbours.rs`.
    pub unrolled: bool,
    /// Of such tiles, the number of a loop along whose iterations a window moves as it does along a thread's
    /// points: `tiling/neighbours.rs`.
    pub slides: Option<usize>,
    /// Whether it serves what waits for memory: `tiling/wide.rs`.
    pub wide: bool,
}
