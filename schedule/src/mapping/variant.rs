//! Several sites with the same instances, of which a parameter of the host chooses, and launches that are cut
//! between two of them.

use crate::Result;
use crate::names::Param;
use pollyrs_isl as isl;

/// One of several sites with the same instances: the parameter of the choice (named after the first site)
/// says which is launched, or where the instances of the first end and those of the second begin.
#[derive(Clone)]
pub(super) struct Variant {
    /// Index of the first site.
    pub choice: usize,
    pub at: usize,
    pub of: usize,
    pub cut: Option<CutAt>,
}

impl Variant {
    pub fn param(&self) -> String {
        Param::Choice(self.choice).to_string()
    }

    /// `[_h0] -> { [v] : ... }`: values of the cut member in the site's launch. The first site's parameter is
    /// the point behind its last one, so that its bounds have no cases, the second one's a tile coordinate,
    /// so that its first tile begins with a point of its own.
    pub fn side(&self, cut: &CutAt) -> String {
        let h = Param::Host(0);
        match self.at {
            0 => format!("[{h}] -> {{ [v] : v < {h} }}"),
            _ => format!("[{h}] -> {{ [v] : v >= {} * {h} }}", cut.part),
        }
    }

    /// `[params, _h0] -> { : ... }`: what holds of the host parameter of a site where a launch may be cut.
    pub fn places(&self, cut: &CutAt) -> Result<isl::Set> {
        let ctx = cut.first.context();
        let (scale, lowest) = if self.at == 0 { (1, cut.first.clone()) } else { (cut.part, cut.lowest()?) };
        let cut_at = Param::Host(0).to_string();
        let least = scaled(ctx, &cut_at, 1)?.ge_set(lowest)?;
        Ok(least.intersect(scaled(ctx, &cut_at, scale)?.le_set(cut.end.clone())?)?)
    }

    /// `[params, _c0] -> { : ... }`: the conditions of all alternatives are a partition of the integers.
    /// Where a launch is cut is its host parameter.
    pub fn condition(&self, ctx: &isl::Context) -> Result<isl::Set> {
        let p = self.param();
        if let Some(cut) = &self.cut {
            let cut_at = Param::Host(0).to_string();
            let at = scaled(ctx, &p, 1)?;
            let end = at.clone().eq_set(cut.end.clone())?;
            let whole = isl::Set::read(ctx, &format!("[{p}] -> {{ : {p} mod {} = 0 }}", cut.part))?;
            let inside =
                at.clone().ge_set(cut.first.clone())?.intersect(at.clone().lt_set(cut.end.clone())?)?;
            let places = whole.intersect(inside)?;
            if self.at == 0 {
                return Ok(at.eq_set(scaled(ctx, &cut_at, 1)?)?.intersect(places.union(end)?)?);
            }
            let own = at.eq_set(scaled(ctx, &cut_at, cut.part)?)?.intersect(places.clone())?;
            let all = scaled(ctx, &cut_at, 1)?.eq_set(cut.lowest()?)?.subtract(places)?.subtract(end)?;
            return Ok(own.union(all)?);
        }
        let condition = match self.at {
            0 => format!("{p} <= 0"),
            at if at + 1 == self.of => format!("{p} >= {at}"),
            at => format!("{p} = {at}"),
        };
        Ok(isl::Set::read(ctx, &format!("[{p}] -> {{ : {condition} }}"))?)
    }
}

/// Of two sites, the first has the instances whose member `dim` is less than the choice, the second the
/// others. The choice is a multiple of the second one's tiles not below the member's smallest value and below
/// its largest plus one, or the latter; else the second site has all.
#[derive(Clone)]
pub(super) struct CutAt {
    pub dim: usize,
    /// Points of a tile of the first site along the member: the choice should be a multiple.
    pub tile: u32,
    /// The same of the second site.
    pub part: u32,
    /// `[params] -> { [v] }`
    pub first: isl::PwAff,
    pub end: isl::PwAff,
}

impl CutAt {
    /// The first tile of the second site that may have points.
    pub fn lowest(&self) -> Result<isl::PwAff> {
        let part = isl::Val::int(self.first.context(), self.part.into())?;
        Ok(self.first.clone().scale_down(part)?.floor()?)
    }
}

/// `[p] -> { [scale p] }`
fn scaled(ctx: &isl::Context, p: &str, scale: u32) -> Result<isl::PwAff> {
    Ok(isl::PwAff::read(ctx, &format!("[{p}] -> {{ [({scale} * {p})] }}"))?)
}
