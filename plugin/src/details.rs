//! What the file of remarks holds of an offloaded loop nest, for `pollyrs report` and `pollyrs schedule`.
//!
//! Nothing here is needed to compile: a failure leaves a part out.

use crate::base::options::{Details, Options};
use crate::compiled::Compiled;
use pollyrs_codegen_ptx::ImageKind;
use pollyrs_isl as isl;
use pollyrs_scop::{AccessKind, Scop};
use pollyrs_tuning::remark::{self as record, Access, Model, Sized, Statement};

/// isl operations for the estimates of a loop nest.
const OPERATIONS: u64 = 200_000;

/// Numbers that parameters are taken to be: from what a device does not pay for to what hardly fits into
/// memory.
const SIZES: [i32; 9] = [30, 100, 300, 1_000, 3_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// A text that is longer ends here; a page has many of them.
const MAX_TEXT: usize = 300_000;

/// What the options ask for; `None`: nothing.
pub fn of(with: &Options, c: &Compiled) -> Option<Box<record::Details>> {
    if with.remark_details == Details::None {
        return None;
    }
    let mut details = record::Details { scop: c.scop.name.clone(), ..record::Details::default() };
    let sized = || SIZES.iter().map(|n| sized(c, *n)).collect::<isl::Result<Vec<_>>>();
    details.estimates =
        c.scop.ctx.with_budget(OPERATIONS, sized).unwrap_or_default().into_iter().flatten().collect();
    details.parameters = c.scop.params.iter().filter(|p| !p.inspected).map(|p| p.display.clone()).collect();
    if with.remark_details >= Details::Model {
        details.model = c.model.as_deref().cloned().unwrap_or_default();
        if let Some((dependences, schedule)) = &c.told {
            details.model.dependences.clone_from(dependences);
            details.model.chosen.clone_from(schedule);
        }
        details.mapping = shortened(c.mapped.to_string());
    }
    if with.remark_details >= Details::Code {
        details.ir = shortened(c.kernels.to_string());
        let text = c.code.iter().flat_map(|code| &code.images).find(|i| i.kind == ImageKind::Ptx);
        details.ptx =
            text.map_or(String::new(), |i| shortened(String::from_utf8_lossy(&i.data).into_owned()));
    }
    Some(Box::new(details))
}

fn shortened(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_TEXT).last().unwrap_or(0);
        text.truncate(end);
        text.push_str("\n…\n");
    }
    text
}

/// The SCoP in isl's notation, with the parts and names that Polly's JSON files have.
pub fn model(scop: &Scop, content: &str) -> isl::Result<Model> {
    let times = scop.schedule.map()?;
    let mut statements = Vec::new();
    for s in &scop.statements {
        let domain = isl::UnionSet::from_set(s.domain.clone())?;
        let schedule = times.clone().intersect_domain(domain)?.maps()?;
        let accesses = s.accesses.iter().map(|a| Access {
            kind: match a.kind {
                AccessKind::Read => "read",
                AccessKind::MustWrite => "write",
                AccessKind::MayWrite => "may_write",
            }
            .to_owned(),
            relation: a.relation.to_string(),
        });
        statements.push(Statement {
            name: s.name.clone(),
            domain: s.domain.to_string(),
            schedule: schedule.first().map_or(String::new(), ToString::to_string),
            accesses: accesses.collect(),
        });
    }
    let arrays = scop.arrays.iter().map(|a| (a.name.clone(), a.display.clone())).collect();
    Ok(Model {
        content: content.to_owned(),
        context: scop.facts()?.to_string(),
        arrays,
        statements,
        original: scop.schedule.to_string(),
        ..Model::default()
    })
}

/// Work and bytes where all parameters are `n`; `None` where that is not possible, or nothing is to do.
fn sized(c: &Compiled, n: i32) -> isl::Result<Option<Sized>> {
    let mut point = isl::Set::universe(c.scop.param_space()?)?;
    for (at, p) in c.scop.params.iter().enumerate() {
        // What an inspection finds is at most a size.
        let value = if p.inspected { n - 1 } else { n };
        point = point.fix_si(isl::DimType::Param, at as u32, value)?;
    }
    let number = |v: isl::Val| v.to_i64().map_or(0.0, |v| v as f64);
    let mut instances = 0.0;
    for factors in &c.work.terms {
        let mut product = 1.0;
        for f in factors {
            product *= number(f.clone().intersect_params(point.clone())?.max_value()?);
        }
        instances += product;
    }
    if instances <= 0.0 {
        return Ok(None);
    }
    let mut sized = Sized { parameters: n, instances, ..Sized::default() };
    for (array, f) in c.scop.arrays.iter().zip(&c.footprints) {
        let Some(f) = f else { continue };
        let mut elements = 1.0;
        for d in 0..array.sizes.len() {
            let at = |f: &isl::PwMultiAff, last: bool| {
                let image = isl::Set::from_pw_multi_aff(f.clone())?.intersect_params(point.clone())?;
                Ok::<_, isl::Error>(if image.is_empty()? {
                    None
                } else {
                    Some(number(if last {
                        image.dim_max_val(d as i32)?
                    } else {
                        image.dim_min_val(d as i32)?
                    }))
                })
            };
            let (Some(first), Some(last)) = (at(&f.touched_min, false)?, at(&f.touched_max, true)?) else {
                elements = 0.0;
                break;
            };
            elements *= (last - first + 1.0).max(0.0);
        }
        let bytes = elements * f64::from(array.elem.bytes());
        sized.touched += bytes;
        sized.read += if f.must_read_before_write { bytes } else { 0.0 };
        sized.written += if f.written.is_some() { bytes } else { 0.0 };
    }
    // Parameters that choose among kernels are no loops.
    let m = &c.mapped;
    let chosen: Vec<&str> = (m
        .choices
        .iter()
        .map(|c| &c.param)
        .chain(m.nested.iter().map(|n| &n.param))
        .chain(m.late.iter().map(|l| &l.param)))
    .map(String::as_str)
    .collect();
    let loops = |params: &[String]| params.iter().filter(|p| !chosen.contains(&p.as_str())).count();
    let launches = m.kernels.iter().map(|k| f64::from(n).powi(loops(&k.host_params) as i32));
    sized.launches = launches.sum::<f64>();
    Ok(Some(sized))
}
