//! Time tilings of stencils: several time steps of a tile in one launch, without redundant points, by
//! schedules that the general code generator and the checker understand.
//!
//! ```text
//! Scop, Dependences ─recognise→ Band ─hexagon | diamond | split→ phases ─kernels→ MappedScop
//! ```
//! The loop over time tiles `T` runs on the host, the phases of one `T` are launches in order, tiles of a
//! phase are blocks. A block runs its steps one after the other with a barrier behind each; the points of a
//! step are spread over the threads, in turns where there are more.
//!
//! # Invariants
//! - A [`Band`]'s logical time carries every dependence, so points of one step never depend on each other.
//! - A strategy's phases partition the whole, unbounded space, and keep the order of every dependence within
//!   the band's slopes: the tests prove both for many slopes and sizes. [`crate::legality::check`] proves it
//!   again for each SCoP, from its dependences.
//! - Anti dependences are among those that the band carries, so arrays hold what they do in the program.
//!   Values that pass between the steps of a block do so in shared memory (`windows`); those that are needed
//!   elsewhere, or last, are stored to the arrays as well (`passing`).
//!
//! [`waves`] are the same for loops of which none is parallel, beneath any host loops.
//!
//! # Example
//! `for t, for i: A[(t+1)%2][i] = f(A[t%2][i-1 .. i+1])` by hexagons with `h = 1`, `w = 1`: boxes of 4 times
//! and 6 points.
//! ```text
//! host      for T { K0[T]; K1[T] }
//! K1        S[t, i] with a = t - 4 T, b = i - 6 _b0 and 1 <= a + b <= 5 and -3 <= a - b <= 2
//! thread    for a { if (…) S(4 T + a, 6 _b0 + _t0); _barrier(a) }
//! ```

mod absent;
pub mod band;
pub mod diamond;
pub mod hexagon;
mod kernels;
mod options;
mod passing;
pub mod picture;
pub mod shape;
pub mod split;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub(crate) mod waves;
mod windows;

pub use band::{Band, Ratio, Slopes, recognise};
pub use kernels::{ROW_2D, SPREAD_ROW};
pub use options::{NotTiled, Techniques, Tiled, TimeTiling};
pub use shape::Phase;

use crate::{Dependences, MappedScop, Result, budgeted_form};
use pollyrs_isl as isl;
use pollyrs_scop::Scop;

/// The SCoP mapped by time tiles, or why it is not.
pub fn map(
    scop: &Scop,
    deps: &Dependences,
    tiling: TimeTiling,
    sizes: &[i64],
    techniques: Techniques,
    budget: u64,
) -> Tiled<MappedScop> {
    budgeted_form(&scop.ctx, "time tiling", budget, || {
        let band = recognise(scop, deps)?;
        let phases = phases(&scop.ctx, tiling, &band, sizes)?;
        kernels::build(scop, deps, &band, &phases, techniques)
    })
}

/// The phases of a strategy for a band.
pub fn phases(ctx: &isl::Context, tiling: TimeTiling, band: &Band, sizes: &[i64]) -> Result<Vec<Phase>> {
    match tiling {
        TimeTiling::Hybrid => hexagon::phases(ctx, band, sizes),
        TimeTiling::Diamond => diamond::phases(ctx, band, sizes),
        TimeTiling::Split => split::phases(ctx, band, sizes),
    }
}
