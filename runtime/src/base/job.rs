//! The settings of processes that share work as ranks of a job ([`crate::hosts`]).

use std::path::PathBuf;

use crate::base::config::{LateKernels, Overlap};
use crate::base::settings::Reader;

/// `POLLYRS_RT_MPI`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mpi {
    #[default]
    Off,
    /// Ranks that go different ways end the job.
    Strict,
    /// They go on by themselves.
    Local,
}

impl Mpi {
    pub fn parse(value: &str) -> Option<Mpi> {
        match value {
            "off" => Some(Mpi::Off),
            "strict" => Some(Mpi::Strict),
            "local" => Some(Mpi::Local),
            _ => None,
        }
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Job {
    pub mpi: Mpi,
    pub library: Option<PathBuf>,
    /// All ranks write to their standard outputs.
    pub all_output: bool,
    /// Ranks compare what they copy to devices.
    pub compares: bool,
}

impl Job {
    pub fn read<F: Fn(&str) -> Option<String>>(reader: &mut Reader<F>) -> Job {
        let first_or_all = |value: &str| match value {
            "first" => Some(false),
            "all" => Some(true),
            _ => None,
        };
        Job {
            mpi: reader.read("POLLYRS_RT_MPI", Mpi::Off, Mpi::parse, "off, strict, local"),
            // Not made absolute: a bare name is searched as the loader does.
            library: reader.text("POLLYRS_RT_MPI_LIBRARY").map(PathBuf::from),
            all_output: reader.read("POLLYRS_RT_MPI_OUTPUT", false, first_or_all, "first, all"),
            compares: reader.flag("POLLYRS_RT_MPI_COMPARE", false),
        }
    }

    /// Whether this process may be one of several that share work.
    pub fn shares(&self) -> bool {
        self.mpi != Mpi::Off
    }

    /// All ranks launch the same kernels, whatever time these take to be compiled, and copy the same things.
    pub fn adjust(&self, overlap: &mut Overlap, late: &mut LateKernels, resident: &mut bool) {
        if self.shares() {
            (*overlap, *resident) = (Overlap::Off, false);
            if *late != LateKernels::Never {
                *late = LateKernels::Now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_decide_nothing_by_time() {
        for (mpi, late, expected) in [
            (Mpi::Off, LateKernels::Auto, (Overlap::Slices(3), LateKernels::Auto, true)),
            (Mpi::Strict, LateKernels::Auto, (Overlap::Off, LateKernels::Now, false)),
            (Mpi::Local, LateKernels::Soon, (Overlap::Off, LateKernels::Now, false)),
            (Mpi::Local, LateKernels::Never, (Overlap::Off, LateKernels::Never, false)),
        ] {
            let mut settings = (Overlap::Slices(3), late, true);
            let job = Job { mpi, ..Job::default() };
            job.adjust(&mut settings.0, &mut settings.1, &mut settings.2);
            assert_eq!(settings, expected, "{mpi:?} {late:?}");
        }
    }

    #[test]
    fn only_who_asks_for_it_shares() {
        let job = |value: &str| {
            Job::read(&mut Reader::new(|name| (name == "POLLYRS_RT_MPI").then(|| value.into())))
        };
        for (value, mpi) in [
            ("", Mpi::Off),
            ("off", Mpi::Off),
            ("auto", Mpi::Off),
            ("strict", Mpi::Strict),
            ("local", Mpi::Local),
        ] {
            assert_eq!(job(value).mpi, mpi, "{value}");
        }
    }
}
