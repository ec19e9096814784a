//! Tiles of points, their registers and operand tiles.

use crate::names::Tuple;
use pollyrs_isl as isl;

/// A kernel in which every thread computes a block of points side by side: whatever loops run beneath the
/// mapped members, they are the same for all points, so that one loop serves them all and operands are reused
/// from registers and shared memory.
///
/// A *point* is a value of the mapped members `v`, inside the box `min .. max`. Block `b`, thread `t` and
/// point number `p` of the thread have
/// ```text
/// v = tile b + vector (t + threads (p / vector)) + p mod vector,    tile = threads points
/// ```
/// along each dimension. A thread executes, for each of its points, the instances of `min(v, max)`: outside
/// the box it repeats the work of a point of the box, in registers, and stores nothing. So no thread leaves a
/// loop or a barrier early. Points of the box that the launch does not have compute as well, what they like,
/// and store nothing.
#[derive(Clone, Debug)]
pub struct Tiling {
    /// One for each dimension of the grid.
    pub dims: Vec<TiledDim>,
    /// Threads of a warp along each dimension, 32 in all: thread indices are digits of the linear index by
    /// these, then by warps.
    pub lanes: Vec<u32>,
    /// Blocks that should fit a multiprocessor at once.
    pub residents: u32,
    /// Sets of buffers for strips that come by copies that no thread waits for; 0: two sets, filled through
    /// registers.
    pub stages: u32,
    /// Whether all that runs in loops fuses products of doubles into sums ([`crate::MapOptions::products`]).
    pub products: bool,
    /// Threads of a block for each one with points. The others only help to fill the buffers; they are the
    /// slowest part of the linear thread index.
    pub helpers: u32,
    /// Whether threads all of whose points are in the box run code of their own, in which loops of constant
    /// length are unrolled and neighbouring points share loads, and those without points none. There are no
    /// operand tiles then.
    pub unrolled: bool,
    /// There, the number of a loop along whose iterations a window moves as it does from point to point of a
    /// thread, which lie along one dimension: the loop runs row by row of what is read, each row for all
    /// points that have it. Each point's iterations stay in their order.
    pub slides: Option<usize>,
    /// `[params, _h*] -> { S[i] -> [v] }`: the point of an instance.
    pub member_map: isl::UnionMap,
    /// `[params, _h*, _b*, _v*]`: what one point executes, in order, and `_copy0[c]`, ... where the block
    /// fills the buffers of an operand tile. No bound and no condition depends on `_v*`. What has a guard may
    /// hold more than the point's instances.
    pub schedule: isl::Schedule,
    /// `[params, _h*, _b*, _v*] -> { : min <= _v <= max, _v in the tile _b, and what is known }`.
    pub context: isl::Set,
    /// `[params, _h*, _b*] -> { : ... }`: the tiles with points; others leave at once. `None`: all.
    pub tiles: Option<isl::Set>,
    /// Statements of which the schedule has too many instances. A statement without a guard may have some at
    /// points that the launch does not have.
    pub guards: Vec<Guard>,
    /// Arrays whose cell of a point lives in a register: loaded first, stored last. Every array that the
    /// kernel writes is here or private.
    pub registers: Vec<RegisterCell>,
    pub operand_tiles: Vec<OperandTile>,
}

/// A statement that runs only where an instance exists.
#[derive(Clone, Debug)]
pub struct Guard {
    pub statement: pollyrs_scop::StmtId,
    /// `[params, _h*] -> { S[i] }`: those of the schedule's instances that run.
    pub instances: isl::Set,
}

/// One dimension of a [`Tiling`].
#[derive(Clone, Debug)]
pub struct TiledDim {
    /// The parameter that stands for the point's coordinate (`_v0`).
    pub param: String,
    /// Points of a thread, a multiple of `vector`.
    pub points: u32,
    /// Consecutive points of a thread.
    pub vector: u32,
    /// The bounds of the box; `[params, _h*] -> { [v] }`.
    pub min: isl::PwAff,
    pub max: isl::PwAff,
}

/// An array of which each point uses one cell, and each cell belongs to one point.
#[derive(Clone, Debug)]
pub struct RegisterCell {
    pub array: pollyrs_scop::ArrayId,
    /// `[params, _h*] -> { [v] -> A[s] }`, defined where the point uses the cell.
    pub cell: isl::Map,
    /// `[params, _h*, _b*] -> { : ... }`: tiles of which all points in the box use their cells. `None`: all,
    /// if any does.
    pub full: Option<isl::Set>,
    /// Reads of elements that no instance of the launch writes (the other plane of an array with two): these
    /// stay in memory.
    pub apart: Vec<(pollyrs_scop::StmtId, usize)>,
}

/// A strip of a sequential loop whose operands are copied to shared memory first.
#[derive(Clone, Debug)]
pub struct OperandTile {
    /// The tuple of the copy in [`Tiling::schedule`].
    pub name: Tuple,
    /// `{ S[i] -> _copy0[c] }`: the copy whose buffers an instance reads.
    pub reads: isl::UnionMap,
    /// Iterations of a full strip.
    pub strip: u32,
    /// `[params, _h*, _b*] -> { _copy0[c] }`: strips in which no guard keeps a point of the launch from an
    /// instance. `None`: all.
    pub full: Option<isl::Set>,
    /// Other strips without guards: those in which some statements have no instance of any point, and no
    /// guard keeps a point from one of the rest.
    pub without: Vec<Without>,
    pub groups: Vec<SharedGroup>,
}

/// Strips in which statements that have guards do not run at all.
#[derive(Clone, Debug)]
pub struct Without {
    /// `[params, _h*, _b*] -> { _copy0[c] }`
    pub strips: isl::Set,
    pub statements: Vec<pollyrs_scop::StmtId>,
}

/// References to a read-only array that share a buffer.
#[derive(Clone, Debug)]
pub struct SharedGroup {
    pub array: pollyrs_scop::ArrayId,
    /// Statements and numbers of their accesses.
    pub accesses: Vec<(pollyrs_scop::StmtId, usize)>,
    /// The smallest subscripts in the buffer: `[params, _h*, _b*] -> { _copy0[c] -> [s] }`, one for each
    /// dimension of the array.
    pub lower: Vec<isl::PwAff>,
    /// Elements of the buffer along each dimension of the array.
    pub size: Vec<u32>,
    /// Dimensions of the array in the order of the buffer, slowest first.
    pub order: Vec<usize>,
    /// Elements between the starts of neighbouring rows beyond the row's size.
    pub padding: u32,
    /// For each dimension of the array: the coordinate of the point that its subscript follows, if it moves
    /// within a tile: it is as far from the smallest in the buffer as the point is from the start of its
    /// tile.
    pub along: Vec<Option<usize>>,
    /// A box of subscripts between the first and the last element that the launch reads:
    /// `[params, _h*] -> { [s] }`. Copies stay within.
    pub bounds: Vec<(isl::PwAff, isl::PwAff)>,
}

impl Tiling {
    /// Whether access number `access` of a statement reads an array in registers, but from memory.
    pub fn reads_in_memory(&self, statement: pollyrs_scop::StmtId, access: usize) -> bool {
        self.registers.iter().any(|r| r.apart.contains(&(statement, access)))
    }
}

impl SharedGroup {
    /// Elements from one row of each dimension of the array to the next.
    pub fn strides(&self) -> Vec<u32> {
        let mut strides = vec![1; self.size.len()];
        let mut stride = 1;
        for (n, d) in self.order.iter().rev().enumerate() {
            strides[*d] = stride;
            stride *= self.size[*d] + if n == 0 { self.padding } else { 0 };
        }
        strides
    }

    /// Elements of the buffer, with padding.
    pub fn elements(&self) -> u32 {
        match self.order.last() {
            Some(d) => self.size.iter().product::<u32>() / self.size[*d] * (self.size[*d] + self.padding),
            None => 1,
        }
    }
}
