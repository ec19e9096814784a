//! The plugin's options: one value, from three sources.
//!
//! From weak to strong: `POLLYRS_…` environment variables (for hosts that pass no options on, as rustc),
//! `-mllvm -pollyrs-…` (registered in `llvm-shim/cpp/plugin.cpp`, where the help texts are), and pass
//! parameters `pollyrs<…>`. All three use the same names and values: `POLLYRS_ONLY_FUNCTION=f`,
//! `-mllvm -pollyrs-only-function=f`, `pollyrs<only-function=f>`. A flag alone means `true`. In pass
//! parameters a list is separated by `x` or `+`, since LLVM splits pipelines at commas.

use crate::base::error::PluginError;
use crate::base::patterns::Patterns;
use pollyrs_cache::Cache;
use pollyrs_schedule::time_tiling::{Techniques, TimeTiling};
use pollyrs_schedule::{Nests, TilingOptions};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tracing_subscriber::filter;

/// The default of the option `min-work`: what a core does in about the time of a launch, some sixteen
/// instructions a statement instance.
pub const LEAST: u64 = 640;

/// Where generated code can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    pub cuda: bool,
    /// Kernels as host code, run by the emulated device: for tests and trials.
    pub emulated: bool,
    /// Emulated kernels tell the run-time library of each access, which checks it.
    pub checked: bool,
}

/// Whether kernels are assembled ahead of time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CubinMode {
    Off,
    /// If ptxas is found.
    Auto,
    /// For `sm_NN`.
    Arch(u32),
}

/// Where the schedule comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    Auto,
    Original,
    Isl,
    /// As `Auto`, and several time steps of a stencil in one launch.
    Streaming,
    /// The time loop of a stencil is tiled; what is none as in `Auto`.
    Tiled(TimeTiling),
}

/// When products and sums that flags allow to be contracted are fused (see [`crate::prepare::contract`]).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Contract {
    /// By the back ends.
    Late,
    /// Before all else.
    Early,
    /// As `Early`, and nothing is offloaded.
    Only,
}

/// When the machine code of expensive variants (register tiles, fused steps, graphs of tasks) is made, beside
/// which plain kernels do the same.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Tiles {
    /// With the program.
    Now,
    /// By the driver, while the program runs, once they are worth it.
    Late,
    /// With the program for the first ones of a file.
    Auto,
}

/// Which tiles of points in registers kernels may have.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RegisterTile {
    Never,
    /// Threads and points of a thread along the two tiled dimensions, and blocks on a multiprocessor.
    Shape {
        threads: [u32; 2],
        points: [u32; 2],
        residents: u32,
    },
}

/// What the file of remarks holds of offloaded loop nests, each with what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Details {
    None,
    /// Work and bytes for some sizes.
    Estimate,
    /// Domains, accesses, dependences, schedules.
    Model,
    /// The kernels' IR and PTX.
    Code,
}

/// See the module documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub targets: Targets,
    /// 70 for `sm_70`.
    pub arch: u32,
    pub cubin: CubinMode,
    pub contract: Contract,
    pub disable: bool,
    /// `None`: every function is considered.
    pub only_function: Option<Patterns>,
    pub ignore_function: Patterns,
    pub verbose: bool,
    /// Check the working copy behind each step that rewrites it.
    pub verify: bool,
    pub strategy: Strategy,
    /// Time iterations of a stencil in one launch; `None`: chosen by the plan.
    pub fuse_steps: Option<u32>,
    /// Neighbouring kernels may become one.
    pub fuse_kernels: bool,
    /// Of a stencil: threads along y and x, columns of a thread along y and x, and 2 if no step waits for
    /// another of its iteration (else 1); empty: chosen by the plan.
    pub stencil_shape: Vec<u32>,
    /// Outermost first; empty: chosen by the mapping.
    pub tile: Vec<u32>,
    /// `None`: chosen by the mapping.
    pub register_tile: Option<RegisterTile>,
    /// Tiles of wavefronts: points along each loop, outermost first; empty: chosen by the mapping; `None`:
    /// never.
    pub wave_tile: Option<Vec<i64>>,
    /// Whether loops around parallel ones, beneath parallel ones, run in blocks.
    pub nest: Nests,
    /// Whether launches in a loop are one launch whose blocks wait for each other.
    pub graph: Nests,
    /// When the device code of expensive variants of loop nests is made.
    pub tiles: Tiles,
    /// Of the code of time tiles; `None`: by their dimensions.
    pub techniques: Option<Techniques>,
    /// Print the tiles of stencils, for `pollyrs show --tiles`.
    pub show_tiles: bool,
    /// A file of `pollyrs tune`.
    pub tuned: Option<PathBuf>,
    /// Print a line for each offloaded SCoP, for `pollyrs tune`.
    pub show_choices: bool,
    /// Where remarks go beside LLVM's own, for `pollyrs report`.
    pub remark_file: Option<PathBuf>,
    /// What they hold of offloaded loop nests.
    pub remark_details: Details,
    /// A schedule in isl's notation that takes the place of the program's order.
    pub schedule: Option<String>,
    /// isl operations; `None`: the stages' default.
    pub budget: Option<u64>,
    /// isl operations after which the rest of a module is left as it is; `None`: by its size.
    pub module_budget: Option<u64>,
    /// Loop nests of a module that may get register tiles.
    pub tiled: u32,
    /// What is printed of the plugin's diagnostics.
    pub log: Option<filter::Targets>,
    /// Print a table of the time in each stage.
    pub time: bool,
    /// Print a table of what was found, refused and made.
    pub stats: bool,
    /// Instructions of the largest callee that is inlined into loops.
    pub max_inline: u32,
    /// Statement instances below which a SCoP is left alone, if a constant bounds their number.
    pub min_work: u64,
    /// Arrays may stay on the device between the SCoPs of a function.
    pub hold: bool,
    /// Launches may be cut for several devices.
    pub divide: bool,
    /// Where device code is kept from build to build: an absolute path, `off`, or empty for the user's own
    /// place.
    pub cache: String,
    /// MiB; `None`: the default of [`pollyrs_cache::Cache`].
    pub cache_size: Option<u64>,
}

/// Every name, for environment variables and error messages.
const NAMES: [&str; 38] = [
    "targets",
    "arch",
    "cubin",
    "contract",
    "disable",
    "only-function",
    "ignore-function",
    "verbose",
    "verify",
    "strategy",
    "fuse-steps",
    "fuse-kernels",
    "stencil-shape",
    "tile",
    "register-tile",
    "wave-tile",
    "nest",
    "graph",
    "tiles",
    "techniques",
    "show-tiles",
    "tuned",
    "show-choices",
    "remark-file",
    "remark-details",
    "schedule",
    "budget",
    "module-budget",
    "tiled",
    "time",
    "stats",
    "max-inline",
    "min-work",
    "hold",
    "divide",
    "cache",
    "cache-size",
    "log",
];

const STRATEGIES: [&str; 7] = ["auto", "original", "isl", "streaming", "hybrid", "diamond", "split"];

impl Default for Options {
    fn default() -> Self {
        Options {
            targets: Targets { cuda: true, emulated: false, checked: false },
            // Volta: the oldest architecture that CUDA 13's driver still runs, so PTX for it runs on all.
            arch: 70,
            cubin: CubinMode::Auto,
            contract: Contract::Late,
            disable: false,
            only_function: None,
            ignore_function: Patterns::default(),
            verbose: false,
            verify: false,
            strategy: Strategy::Auto,
            fuse_steps: None,
            fuse_kernels: true,
            stencil_shape: Vec::new(),
            tile: Vec::new(),
            register_tile: None,
            wave_tile: Some(Vec::new()),
            nest: Nests::Auto,
            graph: Nests::Auto,
            tiles: Tiles::Auto,
            techniques: None,
            show_tiles: false,
            tuned: None,
            show_choices: false,
            remark_file: None,
            remark_details: Details::None,
            schedule: None,
            budget: None,
            module_budget: None,
            tiled: 48,
            log: None,
            time: false,
            stats: false,
            // Twice LLVM's default inline threshold of 225 (InlineCost.cpp), which counts about 5 an
            // instruction and so admits 45, doubled once more for bodies not simplified yet.
            max_inline: 200,
            min_work: LEAST,
            hold: true,
            divide: false,
            cache: String::new(),
            cache_size: None,
        }
    }
}

impl Options {
    /// All sources; `parameters` are those of the pass.
    ///
    /// # Errors
    /// An unknown name or a value that does not parse, in any source.
    pub fn collect(parameters: &str) -> Result<Options, PluginError> {
        let environment =
            NAMES.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(variable(name)).ok()?)));
        Options::from_sources(environment, pollyrs_llvm_shim::host_options(), parameters)
    }

    fn from_sources(
        environment: impl IntoIterator<Item = (String, String)>,
        command_line: impl IntoIterator<Item = (String, String)>,
        parameters: &str,
    ) -> Result<Options, PluginError> {
        let mut options = Options::default();
        let parameters = parameters.split(';').filter(|p| !p.is_empty()).map(|p| {
            let (name, value) = p.split_once('=').unwrap_or((p, "true"));
            (name.to_owned(), value.to_owned())
        });
        for (name, value) in environment.into_iter().chain(command_line).chain(parameters) {
            options
                .set(name.trim(), value.trim())
                .map_err(|problem| PluginError::Option { name: name.clone(), problem })?;
        }
        options.check_tile().map_err(|problem| PluginError::Option { name: "tile".to_owned(), problem })?;
        Ok(options)
    }

    /// These, but for what the entry of a tuned file says.
    ///
    /// # Errors
    /// A value that does not parse.
    pub fn with(&self, choice: &pollyrs_tuning::Choice) -> Result<Options, PluginError> {
        let mut options = self.clone();
        if !choice.is_empty() {
            // They were measured with the options of the choice alone.
            (options.fuse_steps, options.stencil_shape) = (None, Vec::new());
            (options.tile, options.register_tile, options.techniques) = (Vec::new(), None, None);
            (options.wave_tile, options.nest) = (Some(Vec::new()), Nests::Auto);
            options.graph = Nests::Auto;
        }
        for (name, value) in choice {
            let wrong = |problem| PluginError::Option { name: name.clone(), problem };
            options.set(name, value).map_err(wrong)?;
        }
        let wrong = |problem| PluginError::Option { name: "tile".to_owned(), problem };
        options.check_tile().map_err(wrong)?;
        Ok(options)
    }

    /// Without a time loop a tile is a block of threads; CUDA allows 1024 (CUDA C++ Programming Guide, table
    /// of compute capabilities).
    fn check_tile(&self) -> Result<(), String> {
        let fits =
            self.tile.iter().try_fold(1u32, |product, n| product.checked_mul(*n).filter(|p| *p <= 1024));
        match (fits, self.strategy) {
            (Some(_), _) | (None, Strategy::Tiled(_)) => Ok(()),
            (None, _) => {
                let sizes: Vec<_> = self.tile.iter().map(u32::to_string).collect();
                Err(format!("'{}' makes more than 1024 threads a block", sizes.join("x")))
            }
        }
    }

    /// Where device code is kept from build to build.
    pub fn cache(&self) -> Option<Cache> {
        Cache::configured(&self.cache, self.cache_size).ok().flatten()
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "targets" => self.targets = targets(value)?,
            "arch" => self.arch = arch(value)?,
            "cubin" => {
                self.cubin = match value {
                    "auto" => CubinMode::Auto,
                    "off" => CubinMode::Off,
                    _ => CubinMode::Arch(arch(value).map_err(|_| {
                        format!("'{value}' is neither auto nor off nor an architecture such as sm_90")
                    })?),
                }
            }
            "contract" => {
                self.contract = match value {
                    "late" => Contract::Late,
                    "early" => Contract::Early,
                    "only" => Contract::Only,
                    _ => return Err(format!("'{value}' is none of late, early, only")),
                }
            }
            "disable" => self.disable = flag(value)?,
            "only-function" => self.only_function = (!value.is_empty()).then(|| Patterns::parse(value)),
            "ignore-function" => self.ignore_function = Patterns::parse(value),
            "verbose" => self.verbose = flag(value)?,
            "verify" => self.verify = flag(value)?,
            "strategy" => {
                self.strategy = match value {
                    "auto" => Strategy::Auto,
                    "original" => Strategy::Original,
                    "isl" => Strategy::Isl,
                    "streaming" => Strategy::Streaming,
                    "hybrid" => Strategy::Tiled(TimeTiling::Hybrid),
                    "diamond" => Strategy::Tiled(TimeTiling::Diamond),
                    "split" => Strategy::Tiled(TimeTiling::Split),
                    _ => return Err(format!("'{value}' is none of {}", STRATEGIES.join(", "))),
                }
            }
            "fuse-steps" => self.fuse_steps = Some(number(value)?),
            "fuse-kernels" => self.fuse_kernels = flag(value)?,
            "stencil-shape" => {
                let n = value.split('x').map(number).collect::<Result<Vec<u32>, _>>()?;
                let fits = |n: &[u32]| {
                    n.iter().all(|v| (1..=1024).contains(v)) && n[0] * n[1] <= 1024 && n[2] * n[3] <= 64
                };
                if n.len() != 5 || !fits(&n) {
                    return Err(format!("'{value}' is not TYxTXxCYxCXxL"));
                }
                self.stencil_shape = n;
            }
            "tile" => self.tile = sizes(value)?,
            "register-tile" => self.register_tile = Some(register_tile(value)?),
            "wave-tile" => self.wave_tile = wave_tile(value)?,
            "nest" => self.nest = form(value)?,
            "graph" => self.graph = form(value)?,
            "tiles" => self.tiles = tiles(value)?,
            "techniques" => self.techniques = Some(techniques(value)?),
            "show-tiles" => self.show_tiles = flag(value)?,
            "tuned" => self.tuned = (!value.is_empty()).then(|| PathBuf::from(value)),
            "show-choices" => self.show_choices = flag(value)?,
            "remark-file" => self.remark_file = (!value.is_empty()).then(|| PathBuf::from(value)),
            "remark-details" => {
                self.remark_details = match value {
                    "none" => Details::None,
                    "estimate" => Details::Estimate,
                    "model" => Details::Model,
                    "code" => Details::Code,
                    _ => return Err(format!("'{value}' is none of none, estimate, model, code")),
                }
            }
            "schedule" => self.schedule = (!value.is_empty()).then(|| value.to_owned()),
            "budget" => self.budget = Some(number(value)?),
            "module-budget" => self.module_budget = Some(number(value)?),
            "tiled" => self.tiled = number(value)?,
            "log" => self.log = log(value)?,
            "time" => self.time = flag(value)?,
            "stats" => self.stats = flag(value)?,
            "hold" => self.hold = flag(value)?,
            "divide" => self.divide = flag(value)?,
            "cache" => {
                Cache::configured(value, None)?;
                self.cache = value.to_owned();
            }
            "cache-size" => self.cache_size = Some(number(value)?),
            "min-work" => self.min_work = number(value)?,
            "max-inline" => self.max_inline = number(value)?,
            _ => {
                let near = nearest(name, NAMES).map_or(String::new(), |near| format!(" (meant: {near}?)"));
                return Err(format!("unknown{near}; there are {}", NAMES.join(", ")));
            }
        }
        Ok(())
    }
}

/// Names of environment variables that are no options: of tools and tests, and of the run-time library.
const OTHERS: [&str; 7] = [
    "POLLYRS_PTXAS",
    "POLLYRS_LIBDEVICE",
    "POLLYRS_BUILD",
    "POLLYRS_PLANT",
    "POLLYRS_UNPROVED",
    "POLLYRS_TEST_ROTATION",
    "POLLYRS_TEST_TURN",
];

/// A complaint about each environment variable that looks like an option and is none; `names`: of all
/// variables.
pub fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
    let known = NAMES.map(variable);
    let wrong = names.filter(|name| {
        name.starts_with("POLLYRS_")
            && !name.starts_with("POLLYRS_RT_")
            && !known.contains(name)
            && !OTHERS.contains(&name.as_str())
    });
    let mut wrong: Vec<String> = wrong.collect();
    wrong.sort();
    let meant = |name: &str| nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    let text = |name: &String| {
        let near = meant(name).map_or(String::new(), |near| format!(" (meant: {near}?)"));
        format!("there is no option {name} in the environment: ignored{near}")
    };
    wrong.iter().map(text).collect()
}

/// The known name that differs least, if that is little.
fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = |name: &str| strsim::damerau_levenshtein(wrong, name);
    let near = known.into_iter().min_by_key(|name| far(name))?;
    (far(near) <= 1 + wrong.len() / 5).then_some(near)
}

/// `only-function` → `POLLYRS_ONLY_FUNCTION`.
fn variable(name: &str) -> String {
    format!("POLLYRS_{}", name.replace('-', "_").to_uppercase())
}

fn flag(value: &str) -> Result<bool, String> {
    match value {
        "" | "1" | "true" | "on" => Ok(true),
        "0" | "false" | "off" => Ok(false),
        _ => Err(format!("'{value}' is neither true nor false")),
    }
}

/// Empty: what `verbose` says.
fn log(value: &str) -> Result<Option<filter::Targets>, String> {
    let wrong = |e| {
        format!(
            "'{value}' is neither a level (error, warn, info, debug, trace) nor TARGET=LEVEL, or several: {e}"
        )
    };
    let parts = value.split(',').filter(|part| !part.is_empty());
    // A word alone would be a target with all its levels.
    if let Some(Err(e)) =
        parts.filter(|part| !part.contains('=')).map(str::parse::<filter::LevelFilter>).find(Result::is_err)
    {
        return Err(wrong(e.to_string()));
    }
    (!value.is_empty())
        .then(|| value.parse().map_err(|e: filter::ParseError| wrong(e.to_string())))
        .transpose()
}

fn tiles(value: &str) -> Result<Tiles, String> {
    match value {
        "now" => Ok(Tiles::Now),
        "late" => Ok(Tiles::Late),
        "auto" => Ok(Tiles::Auto),
        _ => Err(format!("'{value}' is none of now, late, auto")),
    }
}

fn form(value: &str) -> Result<Nests, String> {
    match value {
        "auto" => Ok(Nests::Auto),
        "never" => Ok(Nests::Never),
        "always" => Ok(Nests::Always),
        _ => Err(format!("'{value}' is none of auto, never, always")),
    }
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("'{value}' is not a number in range"))
}

fn arch(value: &str) -> Result<u32, String> {
    let digits = value.strip_prefix("sm_").unwrap_or(value);
    match digits.parse() {
        // Below sm_60 there are no 64-bit atomics and no unified memory as the runtime uses it.
        Ok(n @ 60..1000) => Ok(n),
        _ => Err(format!("'{value}' is not an architecture from sm_60 on")),
    }
}

fn targets(value: &str) -> Result<Targets, String> {
    let names: BTreeSet<&str> = value.split(['+', ',']).map(str::trim).filter(|n| !n.is_empty()).collect();
    if let Some(unknown) = names.iter().find(|n| !matches!(**n, "cuda" | "emulated" | "emulated-checked")) {
        return Err(format!("'{unknown}' is none of cuda, emulated, emulated-checked"));
    }
    if names.is_empty() {
        return Err("no target given".to_owned());
    }
    let checked = names.contains("emulated-checked");
    Ok(Targets { cuda: names.contains("cuda"), emulated: checked || names.contains("emulated"), checked })
}

fn techniques(value: &str) -> Result<Techniques, String> {
    let mut t = Techniques { windows: false, unroll: false, passing: false, prefetch: false, spread: false };
    for name in value.split(['+', ',']).map(str::trim).filter(|n| !n.is_empty() && *n != "none") {
        match name {
            "windows" => t.windows = true,
            "unroll" => t.unroll = true,
            "passing" => t.passing = true,
            "ahead" => t.prefetch = true,
            "spread" => t.spread = true,
            _ => {
                return Err(format!("'{name}' is none of windows, unroll, passing, ahead, spread, none"));
            }
        }
    }
    Ok(t)
}

fn wave_tile(value: &str) -> Result<Option<Vec<i64>>, String> {
    if value == "none" {
        return Ok(None);
    }
    let wrong = || {
        format!("'{value}' is neither none nor two or three sizes from 1 to 1024, with 1024 threads at most")
    };
    let sizes = value.split('x').map(|n| n.parse().map_err(|_| wrong())).collect::<Result<Vec<i64>, _>>()?;
    let Some((_, threads)) = sizes.split_last() else { return Err(wrong()) };
    let fits = sizes.iter().all(|n| (1..=1024).contains(n)) && threads.iter().product::<i64>() <= 1024;
    if fits && (2..=3).contains(&sizes.len()) { Ok(Some(sizes)) } else { Err(wrong()) }
}

fn register_tile(value: &str) -> Result<RegisterTile, String> {
    if value == "none" {
        return Ok(RegisterTile::Never);
    }
    let wrong = || format!("'{value}' is neither none nor TYxTXxPYxPX or TYxTXxPYxPXxB");
    let n = value.split('x').map(|n| n.parse().map_err(|_| wrong())).collect::<Result<Vec<u32>, _>>()?;
    let (threads, points, residents) = match n[..] {
        [ty, tx, py, px] => ([ty, tx], [py, px], 1),
        [ty, tx, py, px, b] => ([ty, tx], [py, px], b),
        _ => return Err(wrong()),
    };
    TilingOptions::default().only(threads, points, residents)?;
    Ok(RegisterTile::Shape { threads, points, residents })
}

fn sizes(value: &str) -> Result<Vec<u32>, String> {
    if value.is_empty() {
        return Ok(Vec::new());
    }
    let size = |s: &str| match s.trim().parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err(format!("'{s}' is not a tile size from 1 to 1024")),
    };
    value.split(['x', ',']).map(size).collect()
}
