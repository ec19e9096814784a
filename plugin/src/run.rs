//! What one run over a module needs everywhere.

use crate::base::budget::Budgets;
use crate::base::error::PluginError;
use crate::base::options::Options;
use crate::base::stage::Stage;
use crate::device::assembler::Assembler;
use crate::residency;
use crate::residency::effects::Summaries;
use crate::switches::Switches;
use pollyrs_llvm_shim::Session;
use pollyrs_llvm_shim::ir::Value;
use pollyrs_scop_detect as detect;
use pollyrs_tuning::{self as tuning, Entry};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What one run over a module needs everywhere.
pub struct Run<'a> {
    pub session: &'a Session,
    pub stage: Stage,
    pub options: &'a Options,
    pub switches: Switches,
    pub budgets: Budgets,
    pub tuned: Tuned,
    pub assembler: Assembler,
    pub summaries: Summaries<'a>,
    pub progress: Progress,
}

/// What the run has found so far.
#[derive(Default)]
pub struct Progress {
    /// Shapes of arrays that were found before.
    pub shapes: Rc<detect::Known>,
    /// Functions that may work with their callers' holds, as far as the search has come.
    pub borrowers: RefCell<residency::Borrowers>,
    /// Those that were rewritten.
    pub ready: RefCell<BTreeSet<Value>>,
    /// What became of those that are called with a hold.
    pub extended: RefCell<BTreeMap<Value, Value>>,
    /// What was found to be offloaded in functions that others call, by function: forms of SCoPs.
    pub forms: RefCell<BTreeMap<Value, BTreeSet<String>>>,
    /// There was an internal error.
    pub failed: Cell<bool>,
}

impl Run<'_> {
    /// What detection may use now.
    pub fn detect_options(&self) -> detect::DetectOptions {
        let (isl_operations, all_operations) = (self.budgets.attempt(), self.budgets.detection());
        let (flat_operations, plane_operations) = self.budgets.shallow_attempts();
        let limits = detect::DetectOptions { isl_operations, all_operations, ..Default::default() };
        detect::DetectOptions {
            flat_operations,
            plane_operations,
            shapes: self.progress.shapes.clone(),
            ..limits
        }
    }
}

/// The file of a compilation, and which of its entries were met.
pub struct Tuned {
    pub entries: Vec<(Entry, Options)>,
    met: RefCell<BTreeSet<usize>>,
}

impl Tuned {
    /// Reads the file that the options name, if they name one.
    ///
    /// # Errors
    /// A file that is not there or not understood, a value that the option does not take.
    pub fn load(options: &Options) -> Result<Tuned, PluginError> {
        let wrong = |problem| PluginError::Option { name: "tuned".into(), problem };
        let mut entries = Vec::new();
        if let Some(path) = &options.tuned {
            for entry in tuning::Tuned::read(path).map_err(|e| wrong(e.to_string()))?.entries {
                let with = options.with(&entry.options);
                let with = with.map_err(|e| wrong(format!("{}: {e}", path.display())))?;
                entries.push((entry, with));
            }
        }
        Ok(Tuned { entries, met: RefCell::default() })
    }

    /// The entry of a SCoP, and the options with it.
    pub fn find(&self, function: &str, content: &str) -> Option<&(Entry, Options)> {
        let of = |(e, _): &(Entry, Options)| e.function == function && e.content == content;
        let at = self.entries.iter().position(of)?;
        self.met.borrow_mut().insert(at);
        self.entries.get(at)
    }

    /// The entries for a function that was searched, of which nothing was found.
    pub fn stale(&self, function: &str) -> Vec<&Entry> {
        let met = self.met.borrow();
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(at, (e, _))| e.function == function && !met.contains(at))
            .map(|(_, (e, _))| e)
            .collect()
    }
}
