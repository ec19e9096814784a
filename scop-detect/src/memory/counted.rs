//! Inner loops whose bounds are loaded: `for (k = ptr[i]; k < ptr[i + 1]; k++)`.
//!
//! **Problem.** Such a loop is a loop of a subregion. How often it runs is a function of loaded integers, and
//! so is where it begins. By itself its counter is bounded by its type, which makes an access in it one of
//! the whole address space.
//!
//! **Approach.** The integers are inspected ([`crate::memory::inspect`]). With them as dimensions the number
//! of iterations is affine: `0 <= c < e - s` for `s` and `e` between the least and the largest element of
//! `ptr`, and `val[s + c]` is one of `val[ptr_min]` to `val[ptr_max - 1]`.
//!
//! **Invariant.** The number of iterations that scalar evolution gives is one modulo a power of two. It is
//! taken for what it seems where the branches before the loop say that it is not negative, and nowhere else.

use crate::base::builder::{Builder, Found, Given};
use crate::base::fail::{Fail, Stop};
use crate::base::flow::Flow;
use crate::base::found::FoundSubscript;
use crate::base::ir::{self, Value};
use crate::base::place::Place;
use isl::{DimType, Set};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};
use pollyrs_scop::RejectReason;

/// Bounds with more loaded integers are given up.
const MAX_LOADED: usize = 4;

impl Builder<'_> {
    /// Bounds what a load accesses by the number of iterations of loops that data counts, where its address
    /// has no other part that data chooses.
    pub fn count_access(&mut self, flow: &Flow, load: Value, base: Value, place: &Place) -> Result<(), Fail> {
        if !place.loops.iter().any(|l| self.given.is_counted_by_data(*l)) {
            return Ok(());
        }
        self.found.counted_accesses.insert(load);
        self.mode.inspecting = true;
        let fine = self.trial(|me| match me.counted(flow, place)? {
            Some(_) => me.data_dependent_access(flow, load, base, place.clone()),
            None => Err(Fail::new(RejectReason::LoopExits { blocker: None }, me.given.region.entry)),
        });
        self.mode.inspecting = false;
        if !fine?.works() {
            self.found.counted_accesses.remove(&load);
        }
        Ok(())
    }

    /// The domain of `place`, with the bounds of those of its loops that data counts. `None` if one of them
    /// has none.
    pub fn counted(&mut self, flow: &Flow, place: &Place) -> Result<Option<Set>, Fail> {
        let mut domain = place.domain.clone();
        for (d, l) in place.loops.iter().copied().enumerate() {
            if !self.given.is_counted_by_data(l) {
                continue;
            }
            let Some(own) = self.counted_loop(flow, place, d, l)? else { return Ok(None) };
            domain = domain.intersect(own)?;
        }
        Ok(Some(domain.coalesce()?))
    }

    /// The points of `place` at which loop `l`, its dimension `d`, has an iteration.
    fn counted_loop(&mut self, flow: &Flow, place: &Place, d: usize, l: LoopId) -> Result<Option<Set>, Fail> {
        let count = self.given.an.backedge_taken_count(l);
        let mut loaded = Vec::new();
        self.given.loaded(&count, &mut loaded);
        let mut whole = place.clone();
        for (value, scev) in loaded {
            if whole.value_dim(&scev).is_some() {
                continue;
            }
            let own = self.values(flow, &scev, place, 1)?;
            if !self.is_inspected(&own)? {
                return Ok(None);
            }
            let extra = (whole.dims() - place.dims()) as u32;
            let own = own.insert_dims(DimType::Set, place.dims() as u32, extra)?;
            whole.domain = whole.domain.add_dims(DimType::Set, 1)?.intersect(own)?;
            whole.values.push(FoundSubscript { scev, value, unsigned: false, assuming: false });
        }
        let last = match self.exact(&count, &whole) {
            Ok(last) => last,
            Err(Stop::Blocker(_)) => return Ok(None),
            Err(Stop::Isl(e)) => return Err(e.into()),
        };
        let Some(entered) = self.entered(&whole, d, l)? else { return Ok(None) };
        let points = whole.domain.clone().intersect(entered)?;
        let zero = self.constant(0, &whole).map_err(|s| self.given.no_count(s, l))?;
        let known = self.known()?;
        let negative = points.clone().intersect_params(known)?.intersect(last.clone().lt_set(zero)?)?;
        if !negative.is_empty()? {
            return Ok(None);
        }
        let counter = self.dim(d, &whole).map_err(|s| self.given.no_count(s, l))?;
        let points = points.intersect(counter.le_set(last)?)?;
        let extra = (whole.dims() - place.dims()) as u32;
        Ok(Some(points.project_out(DimType::Set, place.dims() as u32, extra)?.coalesce()?))
    }

    /// What the branches in front of a loop say, at the points of `place`.
    fn entered(&mut self, place: &Place, d: usize, l: LoopId) -> Result<Option<Set>, Fail> {
        let header = self.given.an.loops()[l.0].header;
        let inside = self.given.an.loops()[l.0].blocks.clone();
        let mut before = self.given.cfg.predecessors(header).into_iter().filter(|b| !inside.contains(b));
        let (Some(front), None) = (before.next(), before.next()) else { return Ok(None) };
        let Some(branch) = ir::terminator(front) else { return Ok(None) };
        let inner = (place.loops.len() - d) as u32;
        let mut outside = place.clone();
        outside.loops.truncate(d);
        outside.domain = outside.domain.project_out(DimType::Set, d as u32, inner)?;
        let reached = self.reached(branch, &outside)?;
        Ok(Some(reached.insert_dims(DimType::Set, d as u32, inner)?))
    }
}

impl Given<'_> {
    /// Whether the number of iterations of a loop is known once integers that are loaded are.
    pub fn is_counted_by_data(&self, l: LoopId) -> bool {
        let count = self.an.backedge_taken_count(l);
        let mut loaded = Vec::new();
        count.kind != ScevKind::CouldNotCompute
            && self.loaded(&count, &mut loaded)
            && (1..=MAX_LOADED).contains(&loaded.len())
    }

    /// The integers of the region that an expression is made of; false if not all are loaded.
    fn loaded(&self, e: &ScevExpr, found: &mut Vec<(Value, ScevExpr)>) -> bool {
        match &e.kind {
            ScevKind::Unknown(v) if self.defined_inside(*v) => {
                if found.iter().all(|(known, _)| known != v) {
                    found.push((*v, e.clone()));
                }
                ir::opcode(*v) == Some(ir::Op::LLVMLoad)
            }
            _ => e.operands().into_iter().all(|o| self.loaded(o, found)),
        }
    }

    fn no_count(&self, s: Stop, l: LoopId) -> Fail {
        let header = self.an.loops()[l.0].header;
        match s {
            Stop::Isl(e) => e.into(),
            Stop::Blocker(blocker) => Fail::new(RejectReason::LoopBound { blocker }, header),
        }
    }
}

impl Found {
    /// `place` without the loops that have no bound but by data.
    pub fn without_wide_loops(&self, mut place: Place) -> Result<Place, Fail> {
        while let Some(d) = place.loops.iter().position(|l| self.wide_loops.contains(l)) {
            place.loops.remove(d);
            place.domain = place.domain.project_out(DimType::Set, d as u32, 1)?;
        }
        Ok(place)
    }
}
