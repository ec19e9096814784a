//! `pollyrs generate`: manual pages and shell completions, from the definition of the command line. For
//! `scripts/install`.

use clap::Command;
use clap_complete::Shell;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Where to write.
#[derive(Debug, clap::Args)]
pub struct GenerateArgs {
    /// PREFIX/share of an installation
    pub share: PathBuf,
}

/// Where shells look for completions below `share`, and under which name.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/pollyrs"),
    (Shell::Zsh, "zsh/site-functions/_pollyrs"),
    (Shell::Fish, "fish/vendor_completions.d/pollyrs.fish"),
];

/// Writes all; the result is the exit status.
///
/// # Errors
/// A file that cannot be written.
pub fn run(args: &GenerateArgs, mut command: Command) -> std::io::Result<u8> {
    let man = args.share.join("man/man1");
    std::fs::create_dir_all(&man)?;
    // `pollyrs help report` is `pollyrs report --help`: no pages of their own.
    command = command.disable_help_subcommand(true);
    command.build();
    // The compilers' words are passed on: their own help is `--pollyrs-help`.
    clap_mangen::generate_to(command.clone(), &man)?;
    for (shell, name) in COMPLETIONS {
        let path = args.share.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        clap_complete::generate(shell, &mut command, "pollyrs", &mut File::create(path)?);
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn each_command_has_a_page_and_each_shell_its_completions() {
        let folder = tempfile::tempdir().unwrap();
        run(&GenerateArgs { share: folder.path().to_owned() }, crate::Cli::command()).unwrap();
        for name in ["pollyrs", "pollyrs-report", "pollyrs-tune", "pollyrs-explain"] {
            let page =
                std::fs::read_to_string(folder.path().join(format!("man/man1/{name}.1"))).unwrap_or_default();
            assert!(page.contains(".TH") && page.contains("SYNOPSIS"), "{name}: {page}");
        }
        assert!(!folder.path().join("man/man1/pollyrs-help-report.1").exists());
        for (_, name) in COMPLETIONS {
            let text = std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
            assert!(text.contains("report"), "{name}");
        }
    }
}
