//! A kernel before its isl objects are made.

use super::tile::Tile;
use super::variant::Variant;
use crate::Result;
use crate::names::Param;
use crate::tree::Tree;
use pollyrs_isl as isl;

/// A kernel before its isl objects are made.
#[derive(Clone)]
pub(super) struct Site {
    pub name: String,
    /// The members of the host bands above, outermost first.
    pub host: Vec<isl::UnionPwAff>,
    pub domain: isl::UnionSet,
    /// The members that are mapped, outermost first; none for a serial kernel.
    pub members: Vec<isl::UnionPwAff>,
    /// What a thread runs.
    pub inner: Tree,
    /// How the members are tiled, if several points run side by side in a thread.
    pub tile: Option<Tile>,
    /// The number of the launch in the schedule, which those that it is cut into share.
    pub launch: usize,
    /// Whether tiles were found not to fit, so that none are searched for.
    pub untiled: bool,
    /// Threads along the last members, if not the usual ones.
    pub threads: Option<Vec<u32>>,
    /// Set if blocks have counters of their own.
    pub count: Option<Count>,
    /// Threads for an instance: `Mode::Team`.
    pub team: u32,
    /// Set if one of several sites is launched.
    pub alternative: Option<Variant>,
    /// Whether the last host loop is around this launch alone.
    pub alone: bool,
    /// `inner` is a block's schedule of steps, with marks.
    pub nest: bool,
    /// Arrays of rows are in shared memory meanwhile.
    pub rows: bool,
    /// The members are tasks, and wait for each other in the steps of the outermost loop.
    pub graph: bool,
    /// Set if this is one of two forms of the same instances.
    pub either: Option<Either>,
}

impl Site {
    /// `_h0, _h1, ...`: the host loops around, or where a launch is cut.
    pub fn host_params(&self) -> Vec<String> {
        let cut = self.alternative.as_ref().is_some_and(|a| a.cut.is_some());
        Param::first(Param::Host, self.host.len() + usize::from(cut))
    }

    /// `K0[_h0, _h1]`
    pub fn tuple(&self) -> String {
        format!("{}[{}]", self.name, self.host_params().join(", "))
    }
}

/// Of two forms, a nest and launches, or tiles and a plain kernel, the parameter says which one runs.
#[derive(Clone)]
pub(super) struct Either {
    pub param: String,
    /// Of the two, this is the nest, or the tiles.
    pub nested: bool,
}

impl Either {
    pub fn late(tiles: bool) -> Either {
        Either { param: Param::Late.to_string(), nested: tiles }
    }

    /// `[params, _n0] -> { : ... }`
    pub fn condition(&self, ctx: &isl::Context) -> Result<isl::Set> {
        let side = if self.nested { "<= 0" } else { ">= 1" };
        Ok(isl::Set::read(ctx, &format!("[{0}] -> {{ : {0} {side} }}", self.param))?)
    }
}

/// How a site counts.
#[derive(Clone, Debug)]
pub(super) struct Count {
    /// Points of a thread along the members.
    pub points: Vec<u32>,
    /// Bytes of the counters of a block.
    pub bytes: u32,
}
