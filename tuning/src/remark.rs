//! The plugin's remarks as lines of JSON, for `pollyrs report`.
//!
//! # Example
//! ```json
//! {"kind":"missed","code":"PRS106","name":"Subscript","file":"/home/me/scatter.c","line":3,"column":46,"function":"scatter",
//!  "text":"not offloaded: a subscript of a is not affine: it depends on idx"}
//! ```

use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

/// Which of LLVM's options shows a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemarkKind {
    /// `-Rpass`.
    Passed,
    /// `-Rpass-missed`.
    Missed,
    /// `-Rpass-analysis`.
    Analysis,
}

/// One remark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    pub kind: RemarkKind,
    /// `PRS106`.
    pub code: String,
    /// `Subscript`.
    pub name: String,
    /// Absolute, as the compiler found it; empty where there is no debug information.
    pub file: String,
    /// From 1; 0 where it is not known.
    pub line: u32,
    pub column: u32,
    /// As in the object file.
    pub function: String,
    /// Without the code.
    pub text: String,
    /// Of a refusal: how many loops are one inside of the other; 0: not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth: u32,
    /// Of code of a language's library: the function of it that is called at this place, as in the object
    /// file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// Of an offloaded loop nest, where the plugin's option `remark-details` asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// What became of a loop nest, stage by stage, as text; empty where it was not asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The loop nest's name, as the profile has it.
    pub scop: String,
    /// The sizes and other numbers that it depends on, as the source names them.
    pub parameters: Vec<String>,
    pub estimates: Vec<Sized>,
    pub model: Model,
    /// Kernels and launches.
    pub mapping: String,
    /// LLVM IR, and PTX.
    pub ir: String,
    pub ptx: String,
}

/// How much there is to do where all parameters are one number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sized {
    pub parameters: i32,
    /// Executions of statements.
    pub instances: f64,
    pub launches: f64,
    /// Bytes: of all arrays, of what is copied to the device, and of what comes back.
    pub touched: f64,
    pub read: f64,
    pub written: f64,
}

/// A loop nest in isl's notation. `context` and `statements` are those of Polly's JSON files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Model {
    /// By which a later compilation knows it.
    pub content: String,
    pub context: String,
    /// Names of arrays here, and in the source.
    pub arrays: Vec<(String, String)>,
    pub statements: Vec<Statement>,
    /// Flow, anti and output dependences.
    pub dependences: String,
    /// The program's order, as isl writes a schedule.
    pub original: String,
    /// The order that was chosen, with the marks of the mapping.
    pub chosen: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    pub name: String,
    pub domain: String,
    pub schedule: String,
    pub accesses: Vec<Access>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// `read`, `write` or `may_write`.
    pub kind: String,
    pub relation: String,
}

/// Adds a remark to a file that several compilers may write at the same time.
///
/// # Errors
/// The file cannot be opened or written.
pub fn append(path: &Path, remark: &Remark) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(remark)?;
    line.push(b'\n');
    // One write a line: lines of several processes do not mix.
    std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(&line)
}

/// The remarks of such a file; what is no line of it is left out.
pub fn read(text: &str) -> Vec<Remark> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_read_as_they_were_written() {
        let remark = Remark {
            kind: RemarkKind::Missed,
            code: "PRS106".into(),
            name: "Subscript".into(),
            file: "/home/me/\"a\".c".into(),
            line: 3,
            column: 46,
            function: "_Z1fv".into(),
            text: "not offloaded: it's\tso".into(),
            depth: 2,
            library: None,
            details: None,
        };
        let file = tempfile::NamedTempFile::new().unwrap();
        append(file.path(), &remark).unwrap();
        append(file.path(), &Remark { kind: RemarkKind::Passed, ..remark.clone() }).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap() + "half a line";
        let found = read(&text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], remark);
        assert_eq!(found[1].kind, RemarkKind::Passed);
    }
}
