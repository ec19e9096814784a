//! `pollyrs explain`: the page of a remark's code, from the book.

use include_dir::{Dir, include_dir};

/// The pages, `PRS106.md`, as they were when this was built.
static PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../docs/reference/remarks");

/// What to explain.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// A code such as PRS106; without one, a list of all
    pub code: Option<String>,
}

/// There is no such code.
#[derive(Debug, thiserror::Error)]
#[error("there is no remark '{0}' ('pollyrs explain' lists all)")]
pub struct ExplainError(String);

/// Prints; the result is the exit status.
pub fn run(args: &ExplainArgs) -> Result<u8, ExplainError> {
    let text = match &args.code {
        Some(code) => page(code).ok_or_else(|| ExplainError(code.clone()))?,
        None => list(),
    };
    // A reader that has seen enough is no error.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
    Ok(0)
}

/// The page of `PRS106`, `prs106` or `106`.
fn page(code: &str) -> Option<String> {
    let number: u16 = code.to_ascii_uppercase().trim_start_matches("PRS").parse().ok()?;
    let file = PAGES.get_file(format!("PRS{number:03}.md"))?;
    file.contents_utf8().map(str::to_owned)
}

/// `PRS106  a subscript is not affine`, a line for each.
fn list() -> String {
    let mut titles: Vec<String> = PAGES
        .files()
        .filter_map(|f| f.contents_utf8()?.lines().next()?.strip_prefix("# PRS"))
        .map(|title| format!("PRS{}\n", title.replacen(": ", "  ", 1)))
        .collect();
    titles.sort();
    titles.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_their_codes() {
        for code in ["PRS106", "prs106", "106"] {
            assert!(page(code).is_some_and(|p| p.starts_with("# PRS106: ")), "{code}");
        }
        assert!(page("PRS999").is_none());
        assert!(page("../PRS106").is_none());
        assert!(list().lines().any(|l| l == "PRS106  a subscript is not affine"), "{}", list());
    }
}
