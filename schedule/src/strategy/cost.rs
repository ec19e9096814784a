//! The estimate that the placement minimises, on a model machine.
//!
//! A launch of `T` threads that execute `I` instances in all takes
//! ```text
//! LAUNCH + max(I / T · LATENCY · wait, I · INSTANCE · (1 + (UNCOALESCED - 1) · strided))
//! ```
//! where `strided` is the share of accesses that neighbouring threads make neither to the same nor to
//! adjacent elements, averaged over the instances, so that a launch costs no more than the same instances in
//! several. `wait` is 1 + `strided` where threads run loops, but 1 - `strided` / 2 where other warps of the
//! block can bring what these loops read ([`crate::mapping`], kernels with streams): rows of a matrix of
//! doubles added up on an H200 take 22 ns an element, rows that each thread loads by itself 96. All
//! parameters are taken as [`SIZE`] (or [`LINE`]). The figures are orders of magnitude for a current
//! data-centre GPU (a launch back to back takes 3.1 µs on an H200, a dependent chain of L2 hits and
//! arithmetic about 50 ns an iteration); they only rank candidates, the run-time cost model decides on host
//! or device.

use crate::{Result, ScheduleError, known, tree::member_map};
use pollyrs_isl as isl;
use pollyrs_scop::{Scop, StmtId};
use std::cell::RefCell;
use std::collections::BTreeMap;

pub(crate) const LAUNCH: f64 = 5000.0;
pub(crate) const LATENCY: f64 = 50.0;
pub(crate) const INSTANCE: f64 = 0.002;
pub(crate) const UNCOALESCED: f64 = 8.0;
/// A step of a block: a barrier, and loads that nothing hides, since all threads wait.
pub(crate) const BARRIER: f64 = 300.0;
/// An iteration of a thread in a step, which loads what other threads have stored (bench/chains.c on an H200:
/// 165 ns in lattices, 64 and 195 in factorisations of floats and doubles, 770 where a branch waits for the
/// loads).
pub(crate) const STEP_LATENCY: f64 = 150.0;
/// Threads of a block with steps, blocks that run at once, and of how many multiprocessors.
pub(crate) const THREADS: f64 = 256.0;
pub(crate) const RESIDENTS: f64 = 8.0;
pub(crate) const MULTIPROCESSORS: f64 = 132.0;
/// The value taken for every parameter, and for every extent that stays unknown.
const SIZE: i64 = 1000;
/// What is between two parameters if they are to be different: some elements, too, where they are the ends of
/// an array in bytes.
const STEP: i64 = 48;
/// The same for SCoPs of single loops: with fewer iterations they are not worth a launch.
const LINE: i64 = 1 << 17;
/// The same for single loops that were cut into runs ([`Scop::long`]): so long, what is left of them by runs
/// of 256 is worth launches as well.
const LONG_LINE: i64 = 1 << 24;
/// Nanoseconds for an instance on a core of the host.
const HOST: f64 = 1.0;
/// A program of single loops is no use on the device if it takes this many times longer than the host, and
/// this many nanoseconds at least.
const HOPELESS: f64 = 8.0;
const LONG: f64 = 1e6;

/// A SCoP with sizes put in.
pub struct Model<'a> {
    pub scop: &'a Scop,
    /// `[params] -> { : all are SIZE }`, or what is known of them where that contradicts it.
    sizes: isl::Set,
    /// The same with different values for different parameters, rising and falling.
    apart: [isl::Set; 2],
    /// Extents by text, since the same questions come up again for every candidate.
    cache: RefCell<BTreeMap<String, f64>>,
    /// Taken for every parameter.
    size: i64,
}

impl<'a> Model<'a> {
    pub fn new(scop: &'a Scop) -> Result<Self> {
        let known = known(scop)?;
        let size = match scop.long {
            true => LONG_LINE,
            false if single_loops(scop)? => LINE,
            false => SIZE,
        };
        let names: Vec<_> = scop.params.iter().map(|p| p.name.as_str()).collect();
        let fixed = |step: i64| -> Result<isl::Set> {
            let values = names.iter().zip(0..).map(|(n, k)| format!("{n} = {}", size + k * step));
            let values = values.collect::<Vec<_>>().join(" and ");
            let text = if names.is_empty() {
                "{ : }".into()
            } else {
                format!("[{}] -> {{ : {values} }}", names.join(","))
            };
            Ok(known.clone().intersect(isl::Set::read(&scop.ctx, &text)?)?)
        };
        let (equal, apart) = (fixed(0)?, [fixed(STEP)?, fixed(-STEP)?]);
        let sizes = if equal.is_empty()? { known } else { equal };
        Ok(Model { scop, sizes, apart, cache: RefCell::default(), size })
    }

    /// The number of values a band member takes.
    pub fn extent(&self, member: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<f64> {
        let key = format!("{member} on {domain}");
        if let Some(e) = self.cache.borrow().get(&key) {
            return Ok(*e);
        }
        let mut extent = 1.0_f64;
        for set in domain.clone().apply(member_map(member)?)?.sets()? {
            extent = extent.max(self.range(&set, 0)?);
        }
        self.cache.borrow_mut().insert(key, extent);
        Ok(extent)
    }

    /// The number of instances of a domain: boxes around each statement's.
    pub fn instances(&self, domain: &isl::UnionSet) -> Result<f64> {
        let mut sum = 0.0;
        for (_, n) in self.weights(domain)? {
            sum += n;
        }
        Ok(sum)
    }

    /// The number of values of a dimension. All parameters equal may be a degenerate case (`h - f + 1`
    /// iterations): an extent of one then counts only if it is one for different ones, too, or if no other
    /// values of the parameters give more.
    fn range(&self, set: &isl::Set, dim: i32) -> Result<f64> {
        let extent = self.values(&set.clone().intersect_params(self.sizes.clone())?, dim)?;
        if extent > 1.0 {
            return Ok(extent);
        }
        let mut single = extent == 1.0;
        for sizes in &self.apart {
            single &= self.values(&set.clone().intersect_params(sizes.clone())?, dim)? <= 1.0;
        }
        if single {
            return Ok(extent);
        }
        Ok(self.values(&set.clone().project_out_all_params()?, dim)?.min(self.size as f64))
    }

    /// The number of integers between the bounds of a dimension; the size of everything where they are
    /// unknown.
    fn values(&self, set: &isl::Set, dim: i32) -> Result<f64> {
        if set.is_empty()? {
            return Ok(0.0);
        }
        // Bounds by parameters may be without bounds themselves, which is an error to isl ("unbounded
        // optimum").
        let number = |v: isl::Result<isl::Val>| match v {
            Ok(v) => Ok(v.to_i64()),
            Err(isl::Error::Failed(_)) => Ok(None),
            Err(e) => Err(e),
        };
        let bounded = set.dim_is_bounded(isl::DimType::Set, dim as u32)?;
        let (lo, hi) = if bounded {
            let lo = set.clone().dim_min(dim).and_then(|lo| lo.min_value());
            let hi = set.clone().dim_max(dim).and_then(|hi| hi.max_value());
            (number(lo)?, number(hi)?)
        } else {
            (None, None)
        };
        Ok(match (lo, hi) {
            (Some(lo), Some(hi)) => hi as f64 - lo as f64 + 1.0,
            _ => self.size as f64,
        })
    }

    /// The statements of a domain with their numbers of instances.
    pub fn weights(&self, domain: &isl::UnionSet) -> Result<Vec<(StmtId, f64)>> {
        let mut out = Vec::new();
        for set in domain.sets()? {
            let name = set.tuple_name()?.unwrap_or_default();
            let (id, _) = self
                .scop
                .statement_named(&name)
                .ok_or(ScheduleError::Unsupported("unknown statement in a domain"))?;
            let key = format!("# {set}");
            let cached = self.cache.borrow().get(&key).copied();
            let n = match cached {
                Some(n) => n,
                None => {
                    let mut n = 1.0;
                    for d in 0..set.dim(isl::DimType::Set)? {
                        n *= self.range(&set, d as i32)?.max(1.0);
                    }
                    self.cache.borrow_mut().insert(key, n);
                    n
                }
            };
            out.push((id, n));
        }
        Ok(out)
    }

    /// Nanoseconds of one launch.
    pub fn launch(&self, instances: f64, threads: f64, strided: f64, wait: f64) -> f64 {
        let each = INSTANCE * (1.0 + (UNCOALESCED - 1.0) * strided);
        LAUNCH + (instances / threads.max(1.0) * LATENCY * wait).max(instances * each)
    }

    /// Nanoseconds of one step of a block ([`super::NEST`]), which has a multiprocessor's throughput at most.
    pub fn step(&self, instances: f64, threads: f64, strided: f64, wait: f64) -> f64 {
        let each = INSTANCE * MULTIPROCESSORS * (1.0 + (UNCOALESCED - 1.0) * strided);
        BARRIER + (instances / threads.clamp(1.0, THREADS) * STEP_LATENCY * wait).max(instances * each)
    }

    /// Nanoseconds of a launch of `blocks` blocks that take so long each and execute `instances` in all.
    pub fn blocks(&self, blocks: f64, each: f64, instances: f64) -> f64 {
        let turns = (blocks / (MULTIPROCESSORS * RESIDENTS)).ceil().max(1.0);
        LAUNCH + (turns * each).max(instances * INSTANCE)
    }

    /// Nanoseconds if everything ran in one launch at full throughput.
    pub fn ideal(&self, instances: f64) -> f64 {
        LAUNCH + instances * INSTANCE
    }
}

/// Whether no statement is in a nest of loops.
pub(crate) fn single_loops(scop: &Scop) -> Result<bool> {
    for s in &scop.statements {
        if s.domain.dim(isl::DimType::Set)? > 1 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the host is so much faster with single loops that they should stay there: a sum in the order of
/// the program beside what is parallel. (Where there are nests, the sizes decide at run time.)
pub(crate) fn hopeless(scop: &Scop, placed: &super::Placed) -> Result<bool> {
    let host = Model::new(scop)?.instances(&placed.tree.domain)? * HOST;
    Ok(single_loops(scop)? && placed.cost > LONG && placed.cost > HOPELESS * host)
}

/// The number of values that a band member takes, as the model sees it.
pub(crate) fn extent_of(scop: &Scop, member: &isl::UnionPwAff, domain: &isl::UnionSet) -> Result<f64> {
    Model::new(scop)?.extent(member, domain)
}

/// The number of elements of a box around a set, as the model sees it.
pub(crate) fn volume(scop: &Scop, set: &isl::Set) -> Result<f64> {
    let model = Model::new(scop)?;
    let mut n = 1.0;
    for d in 0..set.dim(isl::DimType::Set)? {
        n *= model.range(set, d as i32)?.max(1.0);
    }
    Ok(n)
}
