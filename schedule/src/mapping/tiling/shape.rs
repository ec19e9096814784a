//! Shapes of register tiles: which members are tiled, by what, and which of several shapes runs.

use super::super::options::MapOptions;
use super::super::site::Site;
use super::super::tile::{Shape, Tile};
use super::affine::{functions, linear};
use super::region::{Leaf, leaves};
use crate::Result;
use crate::mapped::{Alternative, Blocks, Choice};
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, ArrayId, ElemType, Scop};

/// A kernel with more unrolled instances in a loop is not tiled: compile time.
const MAX_INSTANCES: usize = 256;
/// The same, of instances outside of loops.
const MAX_SINGLE: usize = 512;
/// A kernel with more instructions of divisions and functions in a loop's unrolled instances is not tiled:
/// its time is theirs, and registers spill (`s += expf(a - b)` at 64 points: 808 bytes, a quarter of a minute
/// of ptxas; a remainder of integers at 64: 1,348 bytes, 3 s).
pub(super) const MAX_BULK: usize = 1024;
/// The same, of instances outside of loops.
const MAX_SINGLE_BULK: usize = 4096;

/// The tiles to choose from, largest first; x and the other member with reuse are tiled. None if there is no
/// reuse.
pub(super) fn shapes(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Vec<Tile>> {
    let tiles = reusing(scop, options, site)?;
    if !tiles.is_empty() || options.tiling.is_none() {
        return Ok(tiles);
    }
    let stream = super::stream::shape(scop, site)?;
    Ok(stream.map(|tile| Tile { repeats: options.divides, ..tile }).into_iter().collect())
}

/// What the points of a site read and compute, for the choice of a shape.
struct Reuse {
    /// For each member, the reads that do not depend on it.
    of_member: Vec<Vec<usize>>,
    reads: usize,
    /// Bytes of the largest element, at least 4.
    bytes: u32,
    /// Statements in loops and outside of them, and their instructions of divisions and functions.
    looped: usize,
    single: usize,
    looped_bulk: usize,
    single_bulk: usize,
    /// Nothing but fused products is in loops; some statement there waits for its own last operation.
    products: bool,
    chained: bool,
    /// Arrays, for each member whether it leaves the element as it is, and at which points and iterations it
    /// is read.
    operands: Vec<(ArrayId, Vec<bool>, isl::Set)>,
}

impl Reuse {
    /// `None` where points cannot advance together.
    fn of(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Option<Reuse>> {
        let mut found = Vec::new();
        leaves(&site.inner, &site.domain, &mut vec![], &mut found)?;
        let mut reuse = Reuse {
            of_member: vec![Vec::new(); site.members.len()],
            reads: 0,
            bytes: 4,
            looped: 0,
            single: 0,
            looped_bulk: 0,
            single_bulk: 0,
            products: true,
            chained: false,
            operands: Vec::new(),
        };
        for leaf in &found {
            for set in leaf.domain.sets()? {
                if !set.is_empty()? && !reuse.add(scop, options, &site.members, leaf, &set)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(reuse))
    }

    /// Adds the instances of a statement; whether points may advance together.
    fn add(
        &mut self,
        scop: &Scop,
        options: &MapOptions,
        members: &[isl::UnionPwAff],
        leaf: &Leaf,
        set: &isl::Set,
    ) -> Result<bool> {
        let alone = leaf.path.is_empty();
        *(if alone { &mut self.single } else { &mut self.looped }) += 1;
        let name = set.tuple_name()?.unwrap_or_default();
        let Some((id, s)) = scop.statement_named(&name) else { return Ok(false) };
        let bulk = options.bulk.get(id.0).map_or(0, |b| *b as usize);
        *(if alone { &mut self.single_bulk } else { &mut self.looped_bulk }) += bulk;
        // The points of a thread advance together; control flow on data would keep them apart.
        if !s.is_plain() {
            return Ok(false);
        }
        let Some(point) = functions(members, set)? else { return Ok(false) };
        self.products &= alone || options.products.contains(&id);
        self.chained |= !alone && options.chained.contains(&id);
        for a in &s.accesses {
            let array = scop.array(a.array);
            self.bytes = self.bytes.max(array.elem.bytes());
            self.products &= alone || array.elem == ElemType::F64;
            if a.kind != AccessKind::Read || !array.is_memory() || alone || array.dims() == 0 {
                continue;
            }
            let Some(at) = functions(&leaf.path, set)? else { return Ok(false) };
            let time = point.clone().flat_range_product(at)?;
            let Some(f) = linear(&time, &a.relation)? else { continue };
            let still = |m: usize| f.iter().all(|row| row.inputs[m] == 0);
            let same: Vec<_> = (0..members.len()).map(still).collect();
            for (list, same) in self.of_member.iter_mut().zip(&same) {
                if *same {
                    list.push(self.reads);
                }
            }
            // What stays the same in the loop around is loaded before it.
            if same.contains(&true) && !still(members.len() + leaf.path.len() - 1) {
                self.operand(a.array, same, time.range()?)?;
            }
            self.reads += 1;
        }
        Ok(true)
    }

    /// Adds an operand, read at the points and iterations `runs`.
    fn operand(&mut self, id: ArrayId, same: Vec<bool>, runs: isl::Set) -> Result<()> {
        for (array, pattern, others) in &mut self.operands {
            // One or the other, by a condition.
            if *array == id && *pattern == same && others.is_disjoint(&runs)? {
                *others = others.clone().union(runs)?;
                return Ok(());
            }
        }
        self.operands.push((id, same, runs));
        Ok(())
    }

    /// Of x, the last member, and another one that each leave elements as they are that the other does not,
    /// the other.
    fn other_member(&self) -> Option<usize> {
        let x = self.of_member.len() - 1;
        let differs = |a: usize, b: usize| self.of_member[a].iter().any(|r| !self.of_member[b].contains(r));
        let y = (0..x).rev().find(|m| differs(*m, x))?;
        differs(x, y).then_some(y)
    }

    /// Whether the code of so many points is small enough.
    fn fits(&self, points: usize) -> bool {
        points * self.looped <= MAX_INSTANCES
            && points * self.single <= MAX_SINGLE
            && points * self.looped_bulk <= MAX_BULK
            && points * self.single_bulk <= MAX_SINGLE_BULK
    }
}

/// The tiles for members with reuse.
fn reusing(scop: &Scop, options: &MapOptions, site: &Site) -> Result<Vec<Tile>> {
    let Some(sizes) = &options.tiling else { return Ok(vec![]) };
    if site.members.len() < 2 {
        return Ok(vec![]);
    }
    let Some(reuse) = Reuse::of(scop, options, site)? else { return Ok(vec![]) };
    let Some(y) = reuse.other_member() else { return Ok(vec![]) };
    let x = site.members.len() - 1;
    let products = reuse.products && reuse.looped == 1;
    let list = match (products, reuse.bytes) {
        (true, _) => &sizes.products,
        (false, 0..=4) if reuse.chained => &sizes.chained,
        (false, 0..=4) => &sizes.narrow,
        (false, _) => &sizes.wide,
    };
    // The small shape has registers for sums and the operands of one product; with more it spills (syr2k:
    // 2,468 bytes), and only costs time to compile.
    let list = if reuse.operands.len() > 2 && list.len() > 1 { &list[..1] } else { list.as_slice() };
    let mut out = Vec::new();
    for s in list.iter().filter(|s| reuse.fits((s.points[0] * s.points[1]) as usize)) {
        let dim = |d: usize| {
            let vector =
                |v: &u32| *v <= s.vector[d] && s.points[d].is_multiple_of(*v) && v * reuse.bytes <= 16;
            let vector = [4, 2, 1].into_iter().find(vector).unwrap_or(1);
            Shape { threads: s.threads[d], lanes: s.lanes[d], points: s.points[d], vector }
        };
        let mut dims = vec![Shape::ONE; site.members.len()];
        (dims[y], dims[x]) = (dim(0), dim(1));
        let weight = s.weight(dims.iter().map(|d| d.tile()).product());
        out.push(Tile {
            dims,
            strip: s.strip,
            stages: s.stages,
            shared: s.shared,
            residents: s.residents,
            products,
            weight,
            helpers: 1,
            repeats: options.divides,
            stream: None,
            unrolled: false,
            slides: None,
            wide: false,
        });
    }
    Ok(out)
}

/// What takes the least time.
pub(super) enum Fastest {
    /// One of the tiles.
    One(usize),
    /// The first of two for points below this value of the member where they may be cut, the second for the
    /// others.
    Cut(i64),
}

/// The best for boxes of a known size; `cut` is the member along which the points may be parted between two
/// shapes.
pub(super) fn fastest(
    tiles: &[Tile],
    cut: Option<usize>,
    bounds: &[(isl::PwAff, isl::PwAff)],
    multiprocessors: u32,
) -> Result<Option<Fastest>> {
    let mut known = Vec::new();
    for (min, max) in bounds {
        let value = |p: &isl::PwAff| -> Result<Option<i64>> {
            let constant = p.n_piece()? == 1 && p.is_cst()?;
            Ok(if constant { p.clone().max_value()?.to_i64() } else { None })
        };
        let (Some(min), Some(max)) = (value(min)?, value(max)?) else { return Ok(None) };
        known.push((min, max));
    }
    let alternative = |t: &Tile| Alternative { kernel: 0, weight: t.weight, residents: t.residents };
    // Tiles along a member from the one with its first value.
    let count = |t: &Tile, d: usize| {
        let tile = i64::from(t.dims[d].tile());
        let (min, max) = known[d];
        u64::try_from(max.div_euclid(tile) - min.div_euclid(tile) + 1).unwrap_or(0)
    };
    let all = |t: &Tile, but: Option<usize>| {
        let counts = (0..known.len()).filter(|d| Some(*d) != but).map(|d| count(t, d));
        counts.fold(1_u64, u64::saturating_mul)
    };
    if let (Some(dim), [large, small]) = (cut, tiles) {
        let kernels = vec![alternative(large), alternative(small)];
        let choice = Choice { param: String::new(), kernels, multiprocessors, cut: None };
        let blocks = Blocks {
            large: [count(large, dim), all(large, cut)],
            small: [count(small, dim), all(small, cut)],
            ratio: (large.dims[dim].tile() / small.dims[dim].tile()).into(),
        };
        let rows = choice.best(&blocks);
        let tile = i64::from(large.dims[dim].tile());
        return Ok(Some(match rows {
            0 => Fastest::One(1),
            rows if rows == blocks.large[0] => Fastest::One(0),
            rows => Fastest::Cut((known[dim].0.div_euclid(tile) + rows as i64) * tile),
        }));
    }
    let time = |t: &Tile| alternative(t).time(all(t, None), multiprocessors);
    Ok((0..tiles.len()).min_by_key(|i| time(&tiles[*i])).map(Fastest::One))
}

#[cfg(test)]
mod tests {
    use super::super::super::tile::{TileShape, TilingOptions};
    use super::*;

    /// Products of matrices on an H200: rows, columns, and milliseconds with large and with small tiles
    /// (`bench/notes/002-matrix-products.md`).
    type Measured = (u64, u64, f64, f64);
    const FLOAT: [Measured; 11] = [
        (1024, 1024, 0.119, 0.075),
        (1500, 1500, 0.283, 0.233),
        (2000, 2000, 0.359, 0.467),
        (2048, 2048, 0.357, 0.507),
        (2049, 2051, 0.695, 0.587),
        (2000, 2300, 0.744, 0.644),
        (2600, 2600, 0.702, 0.710),
        (3000, 3000, 1.565, 1.291),
        (4000, 4000, 2.705, 3.046),
        (4096, 4096, 2.759, 3.168),
        (4101, 4099, 3.682, 3.757),
    ];
    const DOUBLE: [Measured; 12] = [
        (1024, 1024, 0.085, 0.054),
        (1500, 1500, 0.252, 0.177),
        (2000, 2000, 0.322, 0.341),
        (2048, 2048, 0.326, 0.348),
        (2049, 2051, 0.611, 0.498),
        (2000, 2300, 0.611, 0.497),
        (2600, 2600, 0.613, 0.547),
        (3000, 3000, 1.148, 1.074),
        (3001, 3003, 1.303, 1.224),
        (4000, 4000, 2.328, 2.473),
        (4096, 4096, 2.375, 2.613),
        (4101, 4099, 3.107, 3.242),
    ];

    /// Products of matrices on an H200 (`bench/notes/002-matrix-products.md`): rows, columns, and
    /// milliseconds in large tiles, in small ones, and cut behind this number of rows of large tiles.
    type MeasuredCut = (u64, u64, f64, f64, u64, f64);
    const FLOAT_CUT: [MeasuredCut; 8] = [
        (4101, 4099, 3.672, 3.715, 32, 3.513),
        (4104, 4104, 3.434, 3.399, 32, 3.100),
        (2049, 2051, 0.759, 0.584, 15, 0.602),
        (2052, 2052, 0.696, 0.507, 15, 0.532),
        (2000, 2300, 0.706, 0.637, 14, 0.676),
        (3000, 3000, 1.530, 1.290, 22, 1.286),
        (2600, 2600, 0.701, 0.719, 12, 0.666),
        (1500, 1500, 0.271, 0.223, 11, 0.272),
    ];
    const DOUBLE_CUT: [MeasuredCut; 8] = [
        (4104, 4104, 2.692, 2.687, 32, 2.565),
        (2049, 2051, 0.607, 0.497, 15, 0.558),
        (2052, 2052, 0.474, 0.394, 15, 0.400),
        (2000, 2300, 0.606, 0.491, 14, 0.528),
        (3000, 3000, 1.146, 1.049, 22, 1.057),
        (2600, 2600, 0.611, 0.533, 18, 0.548),
        (1500, 1500, 0.249, 0.168, 11, 0.185),
        (5000, 5000, 1.050, 1.011, 39, 1.052),
    ];

    #[test]
    fn the_best_cut_is_predicted() {
        let options = TilingOptions::default();
        for (shapes, table) in [(&options.narrow, &FLOAT_CUT), (&options.products, &DOUBLE_CUT)] {
            let tiles = |s: &TileShape| [0, 1].map(|d| s.threads[d] * s.points[d]);
            let kernels = shapes.iter().map(|s| Alternative {
                kernel: 0,
                weight: s.weight(tiles(s).iter().product()),
                residents: s.residents,
            });
            let choice = Choice {
                param: String::new(),
                kernels: kernels.collect(),
                multiprocessors: options.multiprocessors,
                cut: None,
            };
            for (rows, columns, large, small, cut, both) in table {
                let count =
                    |s: &TileShape| [rows.div_ceil(tiles(s)[0].into()), columns.div_ceil(tiles(s)[1].into())];
                let blocks = Blocks {
                    large: count(&shapes[0]),
                    small: count(&shapes[1]),
                    ratio: (tiles(&shapes[0])[0] / tiles(&shapes[1])[0]).into(),
                };
                assert!(choice.candidates(&blocks).contains(cut), "{rows} x {columns}");
                let taken = match choice.best(&blocks) {
                    0 => small,
                    best if best == blocks.large[0] => large,
                    best => {
                        assert_eq!(best, *cut, "{rows} x {columns}");
                        both
                    }
                };
                // What is lost.
                assert!(taken / large.min(*small).min(*both) < 1.045, "{rows} x {columns}: {taken}");
            }
        }
    }

    #[test]
    fn the_faster_shape_is_predicted() {
        let options = TilingOptions::default();
        for (shapes, table) in [(&options.narrow, &FLOAT[..]), (&options.products, &DOUBLE[..])] {
            for (rows, columns, large, small) in table {
                let time = |s: &TileShape| {
                    let [y, x] = [0, 1].map(|d| s.threads[d] * s.points[d]);
                    let blocks = rows.div_ceil(y.into()) * columns.div_ceil(x.into());
                    let a = Alternative { kernel: 0, weight: s.weight(y * x), residents: s.residents };
                    a.time(blocks, options.multiprocessors) as f64
                };
                let predicted = time(&shapes[0]) / time(&shapes[1]);
                let measured = large / small;
                assert!(
                    (predicted / measured - 1.0).abs() < 0.15,
                    "{rows} x {columns}: {predicted} {measured}"
                );
                assert_eq!(predicted < 1.0, measured < 1.0, "{rows} x {columns}: {predicted} {measured}");
            }
        }
    }
}
