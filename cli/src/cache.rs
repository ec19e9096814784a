//! `pollyrs cache`: the device code that is kept from build to build.

use clap::Subcommand;
use pollyrs_cache::{Cache, Contents};
use std::path::PathBuf;

/// What to do with it.
#[derive(Debug, clap::Args)]
pub struct CacheArgs {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Remove all of it; what is compiled next takes the time of a first build
    Clear,
}

#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("{0}: {1}")]
    Setting(&'static str, String),
    #[error(transparent)]
    Output(#[from] std::io::Error),
    #[error("nothing can be removed from {0}: {1}")]
    Clear(PathBuf, #[source] std::io::Error),
}

/// Prints; the result is the exit status.
pub fn run(args: &CacheArgs) -> Result<u8, CacheError> {
    let text = match (configured()?, &args.what) {
        (None, _) => "no device code is kept (POLLYRS_CACHE=off, or there is no home folder)\n".to_owned(),
        (Some(cache), None) => shown(&cache),
        (Some(cache), Some(What::Clear)) => {
            let folder = cache.folder().to_owned();
            let gone = cache.clear().map_err(|e| CacheError::Clear(folder, e))?;
            format!("removed {}\n", amount(gone))
        }
    };
    crate::output::print(&text)?;
    Ok(0)
}

/// The cache of the plugin's options in the environment.
fn configured() -> Result<Option<Cache>, CacheError> {
    const FOLDER: &str = "POLLYRS_CACHE";
    const SIZE: &str = "POLLYRS_CACHE_SIZE";
    let variable = |name| std::env::var(name).unwrap_or_default();
    let size = match variable(SIZE).as_str() {
        "" => None,
        said => {
            Some(said.parse().map_err(|_| CacheError::Setting(SIZE, format!("'{said}' is not a number")))?)
        }
    };
    Cache::configured(&variable(FOLDER), size).map_err(|e| CacheError::Setting(FOLDER, e))
}

fn shown(cache: &Cache) -> String {
    let (folder, limit) = (cache.folder().display(), mebibytes(cache.limit()));
    format!("{folder}: {} of {limit}\n", amount(cache.contents()))
}

fn amount(contents: Contents) -> String {
    let files = match contents.files {
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    format!("{files}, {}", mebibytes(contents.bytes))
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_their_units() {
        assert_eq!(amount(Contents { files: 1, bytes: 0 }), "1 file, 0.0 MiB");
        assert_eq!(amount(Contents { files: 12, bytes: 3 << 19 }), "12 files, 1.5 MiB");
    }
}
