//! What keeps the fuzzer itself from working.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
    #[error("cannot start {program}: {source}")]
    Start { program: String, source: std::io::Error },
    #[error(
        "{0} is missing: build pollyrs-plugin and pollyrs-runtime first, or name their folder with --build"
    )]
    Missing(String),
    #[error("file {file} of the bundle does not compile: {why}")]
    Bundle { file: u64, why: String },
    #[error("no program has the feature {name:?} that is to be left out; there are: {known}")]
    Feature { name: String, known: String },
    #[error("nearly all programs have one of these: {0}")]
    Everywhere(String),
    #[error("csmith or csmith.h is missing: install Debian's csmith and libcsmith-dev")]
    Csmith,
    #[error("the plain compiler refuses the harness: {0}")]
    Harness(String),
}

pub type Result<T> = std::result::Result<T, Error>;

/// Names the file of an error.
pub fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::Io { path, source }
}
