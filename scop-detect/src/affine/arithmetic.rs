//! What affine functions are made of: constants, dimensions, parameters, counters of loops around the region.

use crate::base::builder::{Builder, Given};
use crate::base::fail::Stop;
use crate::base::ir::{self, Op, comes_back};
use crate::base::place::Place;
use isl::{Aff, DimType, LocalSpace, PwAff, Set, Val};
use pollyrs_isl as isl;
use pollyrs_llvm_shim::{LoopId, ScevExpr, ScevKind};

/// An affine function; `exact` if it is the signed value and not only congruent to it.
pub(crate) struct Affine {
    pub pwa: PwAff,
    pub exact: bool,
}

/// Said of a variable that is no counter, such as `m` of `if (c) out[m++] = x`.
const TAKEN_OVER: &str = ", which each iteration takes over from the one before";

impl Builder<'_> {
    pub fn blocked<T>(&self, e: &ScevExpr) -> Result<T, Stop> {
        let culprit = self.given.culprit(e).unwrap_or_else(|| e.clone());
        let mut text = self.describe(&culprit);
        if let ScevKind::Unknown(v) = &culprit.kind
            && ir::opcode(*v) == Some(ir::Op::LLVMPHI)
            && comes_back(*v)
            && self.user_name(*v, 4).is_some()
        {
            text.push_str(TAKEN_OVER);
        }
        Err(Stop::Blocker(text))
    }

    pub fn constant(&self, v: i128, place: &Place) -> Result<PwAff, Stop> {
        let v = i64::try_from(v).map_err(|_| Stop::Blocker(v.to_string()))?;
        Ok(PwAff::constant_on(place.space()?, v)?)
    }

    /// Dimension `dim` of the place.
    pub fn dim(&self, dim: usize, place: &Place) -> Result<PwAff, Stop> {
        let ls = LocalSpace::from_space(place.space()?)?;
        Ok(PwAff::from_aff(Aff::var_on_domain(ls, DimType::Set, dim as u32)?)?)
    }

    pub fn blocked_product<T>(&self, e: &ScevExpr) -> Result<T, Stop> {
        match self.given.culprit(e) {
            Some(c) => Err(Stop::Blocker(self.describe(&c))),
            None => Err(Stop::Blocker(format!("the product {}", self.describe(e)))),
        }
    }

    pub fn param_value(&mut self, e: &ScevExpr, place: &Place) -> Result<Affine, Stop> {
        let i = self.param(e)?;
        Ok(Affine { pwa: self.param_aff(i, place.space()?)?, exact: true })
    }

    /// For a loop around the region: a parameter and an offset with `iteration = parameter - offset`.
    pub fn outer_counter(&mut self, l: LoopId) -> Option<(usize, i64)> {
        if let Some(known) = self.outer_counters.get(&l) {
            return *known;
        }
        let header = self.given.an.loops().get(l.0)?.header;
        let phis = ir::instructions(header).into_iter().take_while(|i| ir::opcode(*i) == Some(Op::LLVMPHI));
        let mut found = None;
        for phi in phis.filter(|p| ir::int_bits(*p).is_some_and(|b| (32..=64).contains(&b))) {
            let e = self.given.an.scev(phi, Some(l));
            let ScevKind::AddRec { loop_id, operands } = &e.kind else { continue };
            let [ScevKind::Constant(start), ScevKind::Constant(1)] =
                operands.iter().map(|o| o.kind.clone()).collect::<Vec<_>>()[..]
            else {
                continue;
            };
            // A counter that may wrap counts iterations no longer; 64 bits never come around.
            if *loop_id == l
                && (e.nsw || e.bits == 64)
                && i64::try_from(start).is_ok_and(|s| s.abs() < 1 << 30)
            {
                found = self.param(&e).ok().map(|p| (p, start as i64));
                break;
            }
        }
        if let Some((p, start)) = found {
            self.at_least(p, start).ok()?;
        }
        self.outer_counters.insert(l, found);
        found
    }

    /// The same for pointers that move with a loop around the region: where no counter of it starts from a
    /// constant (it counts down, or from an argument), its iterations are counted.
    pub fn outer_iteration(&mut self, l: LoopId) -> Option<(usize, i64)> {
        if let Some(found) = self.outer_counter(l) {
            return Some(found);
        }
        let p = self.param(&self.given.an.iteration(l)).ok()?;
        self.at_least(p, 0).ok()?;
        Some((p, 0))
    }

    /// What is known of a parameter.
    pub fn within(&mut self, p: usize, least: i128, most: i128) -> Result<(), Stop> {
        let (Ok(least), Ok(most)) = (i64::try_from(least), i64::try_from(most)) else { return Ok(()) };
        let space = isl::Space::params_named(&self.given.ctx, [self.params[p].name.as_str()])?;
        let range = Set::universe(space)?
            .lower_bound_val(DimType::Param, 0, Val::int(&self.given.ctx, least)?)?
            .upper_bound_val(DimType::Param, 0, Val::int(&self.given.ctx, most)?)?;
        self.context = self.context.clone().intersect(range)?;
        Ok(())
    }

    /// Notes that parameter `p` is never below `least`.
    fn at_least(&mut self, p: usize, least: i64) -> isl::Result<()> {
        let space = isl::Space::params_named(&self.given.ctx, [self.params[p].name.as_str()])?;
        let known =
            Set::universe(space)?.lower_bound_val(DimType::Param, 0, Val::int(&self.given.ctx, least)?)?;
        self.context = self.context.clone().intersect(known)?;
        Ok(())
    }

    /// Whether 64 bits hold every value of `p`: with all symbols within ±2^46, coefficients that sum up to
    /// less than 2^15 and a constant below 2^61 leave it below 2^62.
    pub fn is_small(&self, p: &PwAff) -> Result<bool, Stop> {
        for (_, aff) in p.pieces()? {
            let mut sum: i64 = 0;
            for ty in [DimType::In, DimType::Param] {
                for d in 0..aff.dim(ty)? {
                    // A rational coefficient belongs to a rounded quotient, which is smaller than its
                    // dividend.
                    let c = aff.coefficient(ty, d as i32)?.abs()?.ceil()?.to_i64();
                    sum = sum.saturating_add(c.unwrap_or(i64::MAX));
                }
            }
            let constant = aff.constant()?.abs()?.ceil()?.to_i64();
            if sum >= 1 << 15 || constant.is_none_or(|c| c >= 1 << 61) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Given<'_> {
    /// The part of a non-affine expression that is to blame.
    fn culprit(&self, e: &ScevExpr) -> Option<ScevExpr> {
        match &e.kind {
            ScevKind::Unknown(v) if self.defined_inside(*v) => Some(e.clone()),
            _ => e.operands().into_iter().find_map(|o| self.culprit(o)),
        }
    }

    pub fn scale(&self, p: PwAff, by: i128) -> Result<PwAff, Stop> {
        let by = i64::try_from(by).map_err(|_| Stop::Blocker(by.to_string()))?;
        Ok(p.scale(Val::int(&self.ctx, by)?)?)
    }
}
