//! Reading of settings: values that aren't understood, and names that nobody knows, are told, with what was
//! meant.
//!
//! Problem: `POLLYRS_RT_DEVICE=gpu` is no setting of ours, and a program that keeps to the CPU for it looks
//! like one that can't be offloaded.
//!
//! Invariants:
//!
//! * what is wrong counts as not set, and is said in one line;
//! * the names that exist are those that were asked for: there is no list beside.
//!
//! Example: `pollyrs: POLLYRS_RT_DEVICE=gpu is not one of auto, cuda, emulated, off: ignored (meant: cuda?)`.

use std::path::PathBuf;

/// All names of ours begin so.
pub const PREFIX: &str = "POLLYRS_RT_";
/// Names of the compiler's side begin so.
const COMPILER: &str = "POLLYRS_";

/// Reads one variable after the other and keeps the complaints.
pub struct Reader<F> {
    get: F,
    names: Vec<String>,
    complaints: Vec<String>,
}

impl<F: Fn(&str) -> Option<String>> Reader<F> {
    /// `get` tells what a variable holds.
    pub fn new(get: F) -> Reader<F> {
        Reader { get, names: Vec::new(), complaints: Vec::new() }
    }

    /// What a variable holds; None: it is empty, or not there.
    pub fn text(&mut self, name: &str) -> Option<String> {
        self.names.push(name.to_owned());
        (self.get)(name).filter(|value| !value.is_empty())
    }

    /// A value among `values`, words that commas separate, as the complaint has them.
    pub fn read<T>(&mut self, name: &str, default: T, parse: impl Fn(&str) -> Option<T>, values: &str) -> T {
        let Some(value) = self.text(name) else { return default };
        if let Some(parsed) = parse(&value) {
            return parsed;
        }
        let known = values.split(", ").filter(|word| !word.contains([' ', '.']));
        let meant = meant(&value, known).map_or(String::new(), |word| format!(" (meant: {word}?)"));
        self.complaints.push(format!("{name}={value} is not one of {values}: ignored{meant}"));
        default
    }

    /// One of `0` and `1`.
    pub fn flag(&mut self, name: &str, default: bool) -> bool {
        let parse = |value: &str| match value {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        };
        self.read(name, default, parse, "0, 1")
    }

    /// A path, which stays where it is when the program changes its directory.
    pub fn path(&mut self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.text(name)?);
        Some(std::path::absolute(&path).unwrap_or(path))
    }

    /// A variable that isn't ours.
    pub fn foreign(&self, name: &str) -> Option<String> {
        (self.get)(name)
    }

    /// What was wrong so far, and with which of the `names` of all variables.
    pub fn complaints(self, names: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut all = self.complaints;
        let mut wrong: Vec<String> =
            names.into_iter().filter_map(|name| unknown(&name, &self.names)).collect();
        wrong.sort();
        all.extend(wrong);
        all
    }
}

/// Settings here that are options of the compiler as well.
const BOTH: [&str; 2] = ["VERBOSE", "CACHE"];

/// A complaint about a name that looks like ours and is none of the `known`.
fn unknown(name: &str, known: &[String]) -> Option<String> {
    let rest = match (name.strip_prefix(PREFIX), name.strip_prefix(COMPILER)) {
        _ if known.iter().any(|other| other == name) => return None,
        (Some(rest), _) => rest,
        // The compiler has names of its own; `POLLYRS_DEVICE` is none.
        (None, Some(rest)) if known.contains(&format!("{PREFIX}{rest}")) && !BOTH.contains(&rest) => rest,
        _ => return None,
    };
    let words = known.iter().filter_map(|other| other.strip_prefix(PREFIX));
    let meant = meant(rest, words).map_or(String::new(), |word| format!(" (meant: {PREFIX}{word}?)"));
    Some(format!("there is no setting {name}: ignored{meant}"))
}

/// Words that people take for one another.
const ALIKE: [&[&str]; 4] = [
    &["cuda", "gpu", "nvidia", "device"],
    &["off", "never", "0", "no", "none", "false", "cpu", "host", "disable", "disabled"],
    &["always", "on", "1", "yes", "true", "force", "enable", "enabled", "all"],
    &["require", "required", "must", "mandatory"],
];

/// The known word that `wrong` means, or is nearly.
fn meant<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let known: Vec<&str> = known.into_iter().collect();
    let group = ALIKE.iter().find(|group| group.contains(&wrong.as_str()));
    if let Some(word) = group.and_then(|group| known.iter().find(|word| group.contains(word))) {
        return Some(word);
    }
    let far = |word: &str| strsim::damerau_levenshtein(&wrong, &word.to_lowercase());
    let near = known.into_iter().filter(|word| word.len() > 1).min_by_key(|word| far(word))?;
    (far(near) <= 1 + wrong.len() / 4).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant() {
        const DEVICES: &[&str] = &["auto", "cuda", "emulated", "off"];
        const OFFLOAD: &[&str] = &["auto", "always", "never", "require"];
        let table: [(&str, &[&str], Option<&str>); 14] = [
            ("gpu", DEVICES, Some("cuda")),
            ("CUDA", DEVICES, Some("cuda")),
            ("cpu", DEVICES, Some("off")),
            ("emulate", DEVICES, Some("emulated")),
            ("yes", OFFLOAD, Some("always")),
            ("no", OFFLOAD, Some("never")),
            ("required", OFFLOAD, Some("require")),
            ("requier", OFFLOAD, Some("require")),
            ("alway", OFFLOAD, Some("always")),
            ("true", &["0", "1"], Some("1")),
            ("off", &["0", "1"], Some("0")),
            ("2", &["0", "1"], None),
            ("opencl", DEVICES, None),
            ("sometimes", OFFLOAD, None),
        ];
        for (wrong, known, expected) in table {
            assert_eq!(meant(wrong, known.iter().copied()), expected, "{wrong}");
        }
    }

    #[test]
    fn names_that_nobody_knows() {
        let known = ["POLLYRS_RT_DEVICE", "POLLYRS_RT_OFFLOAD", "POLLYRS_RT_VERBOSE"].map(str::to_owned);
        let table = [
            ("POLLYRS_RT_DEVICE", None),
            ("POLLYRS_RT_DEVCE", Some("POLLYRS_RT_DEVICE?")),
            ("POLLYRS_RT_OFLOAD", Some("POLLYRS_RT_OFFLOAD?")),
            ("POLLYRS_DEVICE", Some("POLLYRS_RT_DEVICE?")),
            ("POLLYRS_RT_TEAPOT", Some("ignored")),
            ("POLLYRS_VERBOSE", None),
            ("POLLYRS_TILE", None),
            ("PATH", None),
        ];
        for (name, expected) in table {
            let text = unknown(name, &known);
            assert_eq!(text.is_some(), expected.is_some(), "{name}: {text:?}");
            let text = text.unwrap_or_default();
            assert!(text.contains(expected.unwrap_or_default()), "{name}: {text}");
        }
    }
}
