//! What `pollyrs tune` and the plugin tell each other: the file of choices, and the plugin's word on each
//! SCoP.
//!
//! **Problem.** The best tiles of a loop nest depend on its sizes and on the device, which the model guesses.
//! `pollyrs tune` measures, and later compilations should get what it found without searching again; but a
//! program changes, and a choice that was measured for another loop nest must not be taken for this one.
//!
//! [`remark`] has the plugin's remarks as `pollyrs report` reads them.
//!
//! # Invariants
//! - An entry belongs to a function's name and a content: a hash of domains, access relations and shapes
//!   ([`content_hash`] of the text that the model makes of them). No line number, no file name, no address is
//!   in it.
//! - An entry holds options of the plugin that choose among schedules ([`TUNABLE`]), and nothing that could
//!   switch a check or a proof off.
//! - What a file does not say is as if there were no file.
//!
//! # Example
//! ```json
//! { "format": 1, "device": "NVIDIA H200",
//!   "entries": [ { "function": "heat", "content": "91c1f0a2b37d4e55", "scop": "heat",
//!                  "options": { "fuse-steps": "4", "stencil-shape": "16x32x2x2x1", "strategy": "streaming" },
//!                  "ms": 9.1, "model_ms": 10.4, "launches": 33 } ] }
//! ```

pub mod remark;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The format that this version reads and writes.
pub const FORMAT: u32 = 1;

/// Options that an entry may hold: all of them choose among schedules that are proved afterwards.
pub const TUNABLE: [&str; 10] = [
    "fuse-steps",
    "graph",
    "nest",
    "register-tile",
    "schedule",
    "stencil-shape",
    "strategy",
    "techniques",
    "tile",
    "wave-tile",
];

/// Options of the plugin by name.
pub type Choice = BTreeMap<String, String>;

/// A file of choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    pub format: u32,
    /// Where the times were measured, by the driver's name for it.
    pub device: String,
    pub entries: Vec<Entry>,
}

/// What was found for a loop nest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub function: String,
    pub content: String,
    /// The SCoP's name when it was measured, for readers.
    #[serde(default)]
    pub scop: String,
    /// Empty: the model's choice was the best.
    pub options: Choice,
    /// Kernel times of a run, median; `None` where times mean nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// The same of the model's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_ms: Option<f64>,
    /// Kernels launched in a run.
    #[serde(default)]
    pub launches: u64,
    /// What `pollyrs schedule` writes for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<remark::Model>,
}

/// Why a file is not understood.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// The position is in the message.
    #[error("{path} is no file of 'pollyrs tune': {source}")]
    Syntax { path: PathBuf, source: serde_json::Error },
    #[error("{path} has format {found}; this version reads {FORMAT}")]
    Format { path: PathBuf, found: u32 },
    #[error("{path}: '{name}' of function {function} is none of {}", TUNABLE.join(", "))]
    Option { path: PathBuf, function: String, name: String },
    #[error("{path}: two entries for function {function} and content {content}")]
    Twice { path: PathBuf, function: String, content: String },
}

impl Tuned {
    pub fn new(device: &str) -> Tuned {
        Tuned { format: FORMAT, device: device.to_owned(), entries: Vec::new() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What [`Error`] lists.
    pub fn read(path: &Path) -> Result<Tuned, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        Tuned::parse(&text, path)
    }

    /// `path` is for messages.
    ///
    /// # Errors
    /// As [`Tuned::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Tuned, Error> {
        /// Of a later version, nothing but the number is known.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let path = path.to_owned();
        let syntax = |source| Error::Syntax { path: path.clone(), source };
        let Version { format } = serde_json::from_str(text).map_err(syntax)?;
        if format != FORMAT {
            return Err(Error::Format { path, found: format });
        }
        let tuned: Tuned = serde_json::from_str(text).map_err(syntax)?;
        for (at, e) in tuned.entries.iter().enumerate() {
            let function = e.function.clone();
            if let Some(name) = e.options.keys().find(|n| !TUNABLE.contains(&n.as_str())) {
                return Err(Error::Option { path, function, name: name.clone() });
            }
            if tuned.entries[..at].iter().any(|o| o.function == function && o.content == e.content) {
                return Err(Error::Twice { path, function, content: e.content.clone() });
            }
        }
        Ok(tuned)
    }

    /// The file's text.
    ///
    /// # Errors
    /// A time that is no number.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// The index of a loop nest's entry.
    pub fn find(&self, function: &str, content: &str) -> Option<usize> {
        self.entries.iter().position(|e| e.function == function && e.content == content)
    }
}

/// Sixteen hexadecimal digits for some bytes: FNV-1a of 64 bits (Fowler, Noll, Vo), the same on every machine
/// and for ever, as files outlive compilers.
pub fn content_hash(bytes: impl AsRef<[u8]>) -> String {
    let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.as_ref().iter().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}")
}

/// What the plugin says of a SCoP that it offloads, if the option `show-choices` asks for it: one line of
/// JSON behind [`TOLD`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub function: String,
    pub content: String,
    /// As in the profile of a run.
    pub scop: String,
    /// A hash of the kernels: equal ones need be measured only once.
    pub code: String,
    /// What became of the time loop, for readers; empty where there is none.
    pub steps: String,
    /// If several time steps are fused into a launch.
    pub stencil: Option<StencilShape>,
    /// Whether it is a stencil with a time loop at all.
    pub time_loop: bool,
    /// Dimensions of the blocks of threads of its kernels without register tiles, each once.
    pub blocks: Vec<usize>,
    /// Whether some kernels have register tiles that `register-tile` changes.
    pub register_tiles: bool,
    /// Why its entry of a file was not taken.
    pub refused: Option<String>,
}

/// How fused steps are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StencilShape {
    pub dims: usize,
    /// Time iterations a launch, and how many of them are a period.
    pub fuse: i64,
    pub period: i64,
    /// Threads along y and x, and columns of a thread.
    pub threads: [u32; 2],
    pub columns: [u32; 2],
    /// The last number of the option `stencil-shape`.
    pub variant: u32,
}

impl StencilShape {
    /// The value of the option `stencil-shape`.
    pub fn shape(&self) -> String {
        let ([ty, tx], [cy, cx]) = (self.threads, self.columns);
        format!("{ty}x{tx}x{cy}x{cx}x{}", self.variant)
    }
}

/// Before each line of the plugin.
pub const TOLD: &str = "pollyrs-choice ";

impl Told {
    /// The line, without its end.
    ///
    /// # Errors
    /// None that a [`Told`] could cause; serde's interface has one.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        Ok(format!("{TOLD}{}", serde_json::to_string(self)?))
    }

    /// A line of a compiler's output; `None` if it is something else.
    pub fn read(line: &str) -> Option<Told> {
        serde_json::from_str(line.strip_prefix(TOLD)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(function: &str, content: &str, options: &[(&str, &str)]) -> Entry {
        let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let scop = function.to_owned();
        let (function, content) = (function.to_owned(), content.to_owned());
        Entry {
            function,
            content,
            scop,
            options,
            ms: Some(1.5),
            model_ms: Some(2.0),
            launches: 3,
            model: None,
        }
    }

    #[test]
    fn files_come_back_as_they_were_written() {
        let mut tuned = Tuned::new("a device");
        tuned.entries =
            vec![entry("f", "01", &[("strategy", "isl"), ("tile", "8x8")]), entry("f", "02", &[])];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tune");
        std::fs::write(&path, tuned.text().unwrap()).unwrap();
        let back = Tuned::read(&path).unwrap();
        assert_eq!(back, tuned);
        assert_eq!((back.find("f", "02"), back.find("g", "02"), back.find("f", "03")), (Some(1), None, None));
        assert!(matches!(Tuned::read(&folder.path().join("none")), Err(Error::Io { .. })));
    }

    #[test]
    fn malformed_files_are_errors_that_name_the_file_and_the_place() {
        let table = [
            ("", "x.tune is no file of 'pollyrs tune': EOF"),
            ("{\"format\": 1", "line 1 column"),
            ("{\"format\": 2, \"what\": []}", "format 2; this version reads 1"),
            ("{\"format\": 1, \"device\": \"d\"}", "missing field `entries`"),
            ("{\"format\": 1, \"device\": \"d\", \"entries\": [], \"more\": 1}", "unknown field `more`"),
            (
                "{\"format\": 1, \"device\": \"d\", \"entries\": [{\"function\": \"f\", \"content\": \"0\", \"options\": {\"disable\": \"1\"}}]}",
                "'disable' of function f is none of fuse-steps,",
            ),
            (
                "{\"format\": 1, \"device\": \"d\", \"entries\": [{\"function\": \"f\", \"content\": \"0\", \"options\": {}},
                 {\"function\": \"f\", \"content\": \"0\", \"options\": {\"tile\": \"8\"}}]}",
                "two entries for function f and content 0",
            ),
        ];
        for (text, want) in table {
            let message = Tuned::parse(text, Path::new("x.tune")).unwrap_err().to_string();
            assert!(message.contains(want), "{text}: {message}");
        }
    }

    #[test]
    fn times_may_be_missing() {
        let text = "{\"format\": 1, \"device\": \"d\", \"entries\": [{\"function\": \"f\", \"content\": \"0\", \"options\": {}}]}";
        let entry = &Tuned::parse(text, Path::new("x")).unwrap().entries[0];
        assert_eq!((entry.ms, entry.launches), (None, 0));
    }

    #[test]
    fn hashes_are_those_of_fnv_1a() {
        // From the authors' test vectors.
        assert_eq!(content_hash(""), "cbf29ce484222325");
        assert_eq!(content_hash("a"), "af63dc4c8601ec8c");
        assert_eq!(content_hash("foobar"), "85944171f73967e8");
    }

    #[test]
    fn the_plugins_lines_are_found_among_others() {
        let told = Told { function: "f".into(), stencil: Some(StencilShape::default()), ..Told::default() };
        let line = told.line().unwrap();
        assert_eq!(Told::read(&line), Some(told));
        assert_eq!(Told::read("warning: pollyrs-choice {}"), None);
        assert_eq!(Told::read("pollyrs-choice {"), None);
    }

    #[test]
    fn shapes_are_written_as_the_option_wants_them() {
        let s = StencilShape { dims: 3, fuse: 4, period: 1, threads: [16, 32], columns: [2, 1], variant: 2 };
        assert_eq!(s.shape(), "16x32x2x1x2");
    }
}
