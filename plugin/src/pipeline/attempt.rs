//! Kernels for a scheduled SCoP: the first plan that leads to code for the device.
//!
//! | plan | setback | next plan |
//! |---|---|---|
//! | time tiles with windows | they don't fit the SCoP | loops of blocks |
//! | | isl's code has not the form for them | time tiles without windows |
//! | time tiles without windows | either | plain |
//! | loops of blocks, where there are some, besides tiles | the steps of a stencil are better fused | register tiles |
//! | | no proof or no code within the budget, or isl fails | register tiles |
//! | | another one | plain |
//! | register tiles, boxes of wavefronts | no mapping, or no proof, within the budget; a form; isl fails; too long | plain |
//! | any of the last three | steps are not fused, or fused ones are too long | the same, steps alone: neighbours share loads instead |
//!
//! What is not in the table keeps the original loop: [`next`] is the table.

use crate::base::options::{Options, RegisterTile, Strategy};
use crate::base::stage::Stage;
use crate::base::timing::Phase;
use crate::compiled::{Failure, Steps};
use crate::device::{self, assembler::Assembling};
use crate::pipeline::reasons::{generated, is_quota, reject_reason, unproved};
use crate::pipeline::sequential::Sequential;
use crate::pipeline::stencil;
use crate::pipeline::time_tiles::tile_time;
use crate::pipeline::watch::{Ended, Watch};
use crate::run::Run;
use pollyrs_codegen_ptx::{self as codegen, CodegenError, KernelModule};
use pollyrs_isl as isl;
use pollyrs_schedule::rewrite::Scheduled;
use pollyrs_schedule::{self as schedule, MappedScop, ScheduleError};
use std::cell::Cell;
use std::fmt;
use tracing::debug;

/// What the proof of a mapping may take, in budgets of a stage: all, and what is left of it behind a proof of
/// tiles.
const PROOF: u64 = 4;
const SECOND_PROOF: u64 = 2;

/// A way from schedule to code.
#[derive(Clone, Copy, Debug)]
pub enum Plan {
    /// Several time steps in a tile; values pass in shared memory, or in global.
    TimeTiles { windows: bool },
    /// Loops around parallel ones, beneath parallel ones, run in blocks; what has none as in `Tiles`.
    Nests,
    /// Register tiles, boxes of wavefronts, if the module has not had its share.
    Tiles,
    /// Neither; `proof`: budgets of a stage for the proof.
    Plain { proof: u64 },
}

/// Why a plan does not lead to code.
pub enum Setback {
    /// For the user.
    NoTimeTiles(String),
    /// Several steps of a stencil in a launch are better than one in a step of a block.
    BetterFused,
    /// Not within its budget.
    NoMapping,
    /// Not within its budget; or steps that are `wrong`, of which only tests hear.
    NoProof { wrong: bool },
    /// The code of blocks that run loops, or wait for each other, is not made within its budget.
    NoCode,
    /// isl fails in the middle of it, by a mistake of its own.
    Isl(String),
    /// isl's code has not the form that windows, barriers or registers need.
    NoForm,
    /// For the device's compiler; `fused`: with several steps of a stencil in a launch.
    TooLong { error: CodegenError, fused: bool },
    /// Each step is a launch, for this reason.
    Alone(String),
    /// No other plan helps.
    Final(Ended),
}

impl fmt::Display for Setback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setback::NoTimeTiles(why) => write!(f, "no time tiles: {why}"),
            Setback::BetterFused => write!(f, "the steps of a stencil are better fused"),
            Setback::NoMapping => write!(f, "no mapping within the budget"),
            Setback::NoProof { wrong: false } => write!(f, "no proof within the budget"),
            Setback::NoProof { wrong: true } => write!(f, "the proof fails"),
            Setback::NoCode => write!(f, "no code within the budget"),
            Setback::Isl(why) => write!(f, "{why}"),
            Setback::NoForm => write!(f, "isl's code has another form"),
            Setback::TooLong { error, .. } => write!(f, "{error}"),
            Setback::Alone(why) => write!(f, "each step is a launch: {why}"),
            Setback::Final(Ended::Shown) => write!(f, "only printing was asked for"),
            Setback::Final(Ended::Refused(reason)) => write!(f, "{reason}"),
        }
    }
}

impl<E: Into<Ended>> From<E> for Setback {
    fn from(end: E) -> Setback {
        Setback::Final(end.into())
    }
}

/// What a plan leads to.
pub struct Built {
    pub mapped: MappedScop,
    pub kernels: KernelModule,
    /// `None`: no device code is asked for.
    pub device: Option<Assembling>,
    /// What was done with time steps, or why nothing; `None`: not tried.
    pub steps: Option<Result<Steps, String>>,
}

/// The plan that follows one, whose mapping had `nests` perhaps, and why time steps are not several in a tile
/// or launch, where that is known by now.
fn next(plan: Plan, setback: Setback, nests: bool) -> Result<(Plan, Option<String>), Ended> {
    const NO_FORM: &str = "isl's code for time tiles has barriers that not all threads seem to reach";
    let plain = Plan::Plain { proof: PROOF };
    Ok(match (plan, setback) {
        (_, Setback::Final(end)) => return Err(end),
        (Plan::TimeTiles { windows: true }, Setback::NoTimeTiles(why)) => (Plan::Nests, Some(why)),
        (Plan::TimeTiles { windows: true }, Setback::NoForm) => (Plan::TimeTiles { windows: false }, None),
        (Plan::TimeTiles { .. }, Setback::NoForm | Setback::NoTimeTiles(_)) => (plain, Some(NO_FORM.into())),
        (_, Setback::Alone(why)) => (plan, Some(why)),
        (_, Setback::TooLong { error, fused: true }) => (plan, Some(error.to_string())),
        (_, Setback::TooLong { error, .. }) => (plain, Some(error.to_string())),
        (Plan::Nests, Setback::BetterFused) => (Plan::Tiles, None),
        (Plan::Nests, Setback::NoProof { wrong: false } | Setback::NoCode | Setback::Isl(_)) if nests => {
            (Plan::Tiles, None)
        }
        (_, Setback::NoProof { .. }) => (Plan::Plain { proof: SECOND_PROOF }, None),
        (_, _) => (plain, None),
    })
}

fn has_steps(mapped: &MappedScop) -> bool {
    mapped.kernels.iter().any(|k| k.steps().is_some())
}

fn has_nests(mapped: &MappedScop) -> bool {
    mapped.kernels.iter().any(|k| k.steps().is_some() && k.windows().is_empty())
}

/// Whether blocks of rows run the kernels of a sequence as steps.
fn has_rows(mapped: &MappedScop) -> bool {
    mapped.kernels.iter().any(|k| k.has_rows())
}

fn has_tiles(mapped: &MappedScop) -> bool {
    has_steps(mapped) || mapped.kernels.iter().any(|k| k.tiling().is_some())
}

/// A scheduled SCoP, and what all plans need.
pub struct Attempts<'a> {
    pub run: &'a Run<'a>,
    pub options: &'a Options,
    pub scheduled: &'a Scheduled,
    pub sequential: &'a Sequential,
    /// isl operations of a stage.
    pub budget: u64,
    /// The module has not had its share of register tiles.
    pub may_tile: bool,
    /// Expensive variants may come later than plain kernels.
    pub late: bool,
    /// Tiles of this SCoP count.
    pub counted: Cell<bool>,
    pub watch: Watch,
}

impl Attempts<'_> {
    /// The first plan that holds, or why none does.
    pub fn first_that_holds(&self) -> Result<Built, Ended> {
        let (mut plan, mut why) = match self.options.strategy {
            Strategy::Tiled(_) => (Plan::TimeTiles { windows: true }, None),
            _ => (Plan::Nests, None),
        };
        loop {
            let mut nests = false;
            match self.attempt(plan, why.as_deref(), &mut nests) {
                Ok(built) => return Ok(built),
                Err(setback) => {
                    debug!(?plan, %setback, "the plan does not hold");
                    let (then, said) = next(plan, setback, nests)?;
                    // The first reason is that of the steps.
                    (plan, why) = (then, why.or(said));
                }
            }
        }
    }

    /// Mapping, proof, kernels, device code. `why`: steps are not several, as plans before this one found
    /// out; `nests`: the mapping has loops of blocks.
    fn attempt(&self, plan: Plan, why: Option<&str>, nests: &mut bool) -> Result<Built, Setback> {
        let Attempts { run, options, watch, .. } = *self;
        let mut mapped = self.map(plan, why.is_some())?;
        mapped.divides = options.divide;
        *nests = has_nests(&mapped);
        if has_tiles(&mapped) && !self.counted.replace(true) {
            run.budgets.tiled();
        }
        watch.see(Stage::Mapping, &mapped)?;
        self.prove(plan, &mapped)?;
        codegen::check_live_outs(&self.scheduled.scop).map_err(generated)?;
        let mut kernels = self.build(&mapped)?;
        if !options.targets.checked {
            kernels.share();
        }
        let steps = self.steps(plan, why, &mapped, &mut kernels)?;
        if self.late {
            let tiles = mapped.late.as_ref().map_or(&[][..], |l| &l.kernels);
            kernels.set_late(tiles, !mapped.nested.is_empty() && options.graph == schedule::Nests::Auto);
        }
        watch.see(Stage::Kernel, &kernels)?;
        let several = has_tiles(&mapped) || kernels.fused().is_some();
        match device::device_code(&mut kernels, options, &run.assembler) {
            Ok(device) => Ok(Built { mapped, kernels, device, steps }),
            Err(error @ CodegenError::TooLong(_)) if several => {
                Err(Setback::TooLong { error, fused: kernels.fused().is_some() })
            }
            Err(e) => Err(generated(e).into()),
        }
    }

    /// Time steps may be fused.
    fn fuses(&self) -> bool {
        match self.options.strategy {
            Strategy::Auto => self.options.fuse_steps != Some(1) || !self.options.stencil_shape.is_empty(),
            Strategy::Streaming => true,
            _ => false,
        }
    }

    /// A reason of scheduling, with the values in its way.
    fn refused(&self, e: ScheduleError) -> Setback {
        self.sequential.explain(reject_reason(e)).into()
    }

    /// `alone`: it is known that each step is a launch.
    fn map(&self, plan: Plan, alone: bool) -> Result<MappedScop, Setback> {
        let Attempts { options, budget, .. } = *self;
        let Scheduled { scop, deps, tree } = self.scheduled;
        if let (Plan::TimeTiles { windows }, Strategy::Tiled(tiling)) = (plan, options.strategy) {
            return tile_time(options, scop, deps, tiling, budget, windows).map_err(|e| match e {
                Failure::Unproved(violation) => unproved("time tiles", &violation).into(),
                Failure::Reason(why) => Setback::NoTimeTiles(why),
            });
        }
        let mut wish = map_options(options, budget);
        let plain = matches!(plan, Plan::Plain { .. });
        if plain || !self.may_tile {
            (wish.tiling, wish.waves) = (None, None);
        }
        wish.late = self.late;
        wish.neighbours_in_steps = alone || !self.fuses();
        if !matches!(plan, Plan::Nests) {
            (wish.nests, wish.graphs) = (schedule::Nests::Never, schedule::Nests::Never);
        }
        let mapped = Phase::Mapping.time(|| {
            {
                (wish.products, wish.chained) = (codegen::products(scop), codegen::chained(scop));
                (wish.divides, wish.bulk) = (codegen::minds_operands_of(scop), codegen::bulk(scop));
            }
            schedule::map(scop, deps, tree, &wish)
        });
        match mapped {
            Err(ScheduleError::Budget(_)) if !plain => Err(Setback::NoMapping),
            Err(ScheduleError::Isl(e @ isl::Error::Failed(_))) if !plain => Err(Setback::Isl(e.to_string())),
            Err(e) => Err(self.refused(e)),
            Ok(m) if !m.nested.is_empty() && self.fuses() && stencil::is_one(scop, deps) => {
                Err(Setback::BetterFused)
            }
            Ok(m) => Ok(m),
        }
    }

    /// Proves a mapping; time tiles come with their proof.
    fn prove(&self, plan: Plan, mapped: &MappedScop) -> Result<(), Setback> {
        let proof = match plan {
            Plan::TimeTiles { .. } => return Ok(()),
            Plan::Plain { proof } => proof,
            _ if has_tiles(mapped) && !has_steps(mapped) => SECOND_PROOF,
            _ => PROOF,
        };
        let Scheduled { scop, deps, .. } = self.scheduled;
        let check = || schedule::legality::check_within(scop, deps, mapped, proof * self.budget);
        match Phase::Check.time(check) {
            // Tiles of seven loops may be too much for the proof where plain kernels are not.
            Err(ScheduleError::Budget(_)) if has_tiles(mapped) => Err(Setback::NoProof { wrong: false }),
            Err(ScheduleError::Isl(e @ isl::Error::Failed(_))) if has_tiles(mapped) => {
                Err(Setback::Isl(e.to_string()))
            }
            Err(e) => Err(self.refused(e)),
            Ok(violations) => match violations.first() {
                Some(v) if has_steps(mapped) && !self.options.targets.checked => {
                    schedule::planted::refused("carried-last", &v.to_string());
                    Err(Setback::NoProof { wrong: true })
                }
                Some(v) if !schedule::planted::unproved() => Err(unproved("mapping", &v.to_string()).into()),
                _ => Ok(()),
            },
        }
    }

    fn build(&self, mapped: &MappedScop) -> Result<KernelModule, Setback> {
        let (session, scop) = (self.run.session, &self.scheduled.scop);
        let build = || codegen::build_kernels(session.module(), scop, mapped);
        Phase::Kernels.time(build).map_err(|e| match e {
            CodegenError::Unscoped | CodegenError::Divergent if has_tiles(mapped) => Setback::NoForm,
            e if is_quota(&e) && has_nests(mapped) => Setback::NoCode,
            CodegenError::Isl(e @ isl::Error::Failed(_)) if has_tiles(mapped) => Setback::Isl(e.to_string()),
            e => generated(e).into(),
        })
    }

    /// What is done with time steps: in tiles they are several, elsewhere some may be fused.
    fn steps(
        &self,
        plan: Plan,
        why: Option<&str>,
        mapped: &MappedScop,
        kernels: &mut KernelModule,
    ) -> Result<Option<Result<Steps, String>>, Setback> {
        let in_tiles = |what: &str| Ok(Steps { what: what.to_owned(), shape: None });
        if let Plan::TimeTiles { .. } = plan {
            return Ok(Some(in_tiles("several in a tile, by time tiles")));
        }
        let fuses = self.fuses();
        if let (Some(why), true) = (why, fuses || matches!(self.options.strategy, Strategy::Tiled(_))) {
            return Ok(Some(Err(why.to_owned())));
        }
        if !fuses {
            return Ok(None);
        }
        let Scheduled { scop, deps, .. } = self.scheduled;
        let fuse = || stencil::fuse(scop, deps, mapped, kernels, self.options);
        Ok(Some(match Phase::Kernels.time(fuse) {
            Ok(steps) => Ok(steps),
            Err(Failure::Unproved(violation)) => return Err(unproved("time steps", &violation).into()),
            Err(Failure::Reason(_)) if has_nests(mapped) => {
                in_tiles("loops of blocks, a barrier for each step")
            }
            Err(Failure::Reason(_)) if has_steps(mapped) && !has_rows(mapped) => {
                in_tiles("tiles of a wavefront, a launch for each diagonal")
            }
            Err(Failure::Reason(why)) if self.may_share(plan, mapped) => return Err(Setback::Alone(why)),
            Err(Failure::Reason(why)) => Err(why),
        }))
    }
}

impl Attempts<'_> {
    /// Whether neighbouring points of a launch in a loop may share loads, which fused steps would make
    /// needless.
    fn may_share(&self, plan: Plan, mapped: &MappedScop) -> bool {
        let reads = |s: &pollyrs_scop::Statement| {
            s.accesses.iter().filter(|a| a.kind == pollyrs_scop::AccessKind::Read).count()
        };
        self.may_tile
            && matches!(plan, Plan::Nests | Plan::Tiles)
            && mapped.kernels.iter().any(|k| !k.host_params.is_empty())
            && self.scheduled.scop.statements.iter().any(|s| reads(s) >= schedule::LEAST_LOADS)
    }
}

fn map_options(options: &Options, budget: u64) -> schedule::MapOptions {
    let mut map = schedule::MapOptions { budget, ..Default::default() };
    let n = options.tile.len();
    if let Some(threads) = n.checked_sub(1).and_then(|at| map.threads.get_mut(at)) {
        *threads = options.tile.clone();
    }
    if let [threads] = options.tile.as_slice() {
        map.looped = *threads;
    }
    map.waves.clone_from(&options.wave_tile);
    (map.nests, map.graphs) = (options.nest, options.graph);
    map.tiling = match options.register_tile {
        None => map.tiling,
        Some(RegisterTile::Never) => None,
        // The numbers were checked with the options.
        Some(RegisterTile::Shape { threads, points, residents }) => {
            map.tiling.and_then(|t| t.only(threads, points, residents).ok())
        }
    };
    map
}
