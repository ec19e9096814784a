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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
