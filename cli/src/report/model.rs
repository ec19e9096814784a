//! Remarks put together to loop nests, and loop nests to files.

use super::estimate;
use crate::advice::{Language, Refusal, advice, is_lookup};
use crate::names::{demangled, demangled_text, is_library as is_library_function, short};
use pollyrs_tuning::remark::{Details, Remark, RemarkKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The format of `pollyrs report --json`.
const FORMAT: u32 = 1;

/// Titles of stages that are drawn.
pub const DEPENDENCES: &str = "dependences";
pub const SCHEDULE: &str = "schedule";

/// The code of an offloaded loop nest.
const OFFLOADED: &str = "PRS001";

/// All loop nests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub format: u32,
    /// In the order of their names.
    pub files: Vec<File>,
}

/// The loop nests of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct File {
    /// Relative to the current folder if it is inside; empty where there is no place in a source.
    pub file: String,
    /// Of a compiler's standard library.
    pub library: bool,
    /// In the order of their lines.
    pub nests: Vec<Nest>,
}

/// A loop nest that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Nest {
    /// From 1; 0: not known.
    pub line: u32,
    pub column: u32,
    /// Demangled.
    pub function: String,
    pub offloaded: bool,
    /// The function of a language's library that is called at this place, if that has the loop, or what is in
    /// its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// `PRS106`.
    pub code: String,
    /// What it became, or why it is refused.
    pub text: String,
    /// Assumptions, checks, steps that are fused.
    pub notes: Vec<Note>,
    /// For a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<&'static str>,
    /// What the device would bring, by a rough model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<String>,
    /// What it took, by a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Whether a language's library has the loop, or what is in its way.
    #[serde(skip)]
    pub of_library: bool,
    /// Name of the loop nest in a profile.
    #[serde(skip)]
    pub scop: String,
    /// Model, mapping, kernels: titles and texts.
    #[serde(skip)]
    pub stages: Vec<(&'static str, String)>,
}

/// What is said of an offloaded loop nest beside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Note {
    pub code: String,
    pub text: String,
}

impl File {
    pub fn offloaded(&self) -> usize {
        self.nests.iter().filter(|n| n.offloaded).count()
    }
}

/// Remarks in the order in which one compiler after the other made them.
pub fn report(remarks: Vec<Remark>) -> Report {
    let mut nests: Vec<(String, Nest)> = Vec::new();
    // An offloaded nest's remarks follow it: where the last one of a function is.
    let mut last: Option<(String, usize)> = None;
    for r in remarks {
        let note = Note { code: r.code.clone(), text: demangled_text(&r.text) };
        let begins = r.kind == RemarkKind::Missed || r.code == OFFLOADED;
        if !begins {
            let of = last.as_ref().filter(|(function, _)| *function == r.function);
            if let Some((_, nest)) = of.and_then(|(_, at)| nests.get_mut(*at))
                && !nest.notes.contains(&note)
            {
                nest.notes.push(note);
            }
            continue;
        }
        let offloaded = r.code == OFFLOADED;
        if offloaded {
            last = Some((r.function.clone(), nests.len()));
        }
        let text = note.text.strip_prefix("not offloaded: ").or_else(|| note.text.strip_prefix("offloaded "));
        let text = text.unwrap_or(&note.text);
        // Nothing new where loop and reason are in one line.
        let name = std::path::Path::new(&r.file).file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let text = match text.rsplit_once(" (loop at ") {
            // Nor does a line of a library tell anybody anything.
            Some((what, at)) if at.ends_with(&format!("{name}:{})", r.line)) || is_library(at) => what,
            _ => text,
        };
        let estimate = match &r.details {
            Some(d) => estimate::of(d),
            None if r.depth > 0 && !offloaded => estimate::of_refused(r.depth),
            None => None,
        };
        let details = r.details.map(|d| *d).unwrap_or_default();
        let inside = r.library.as_deref().and_then(|name| told(&demangled(name)));
        let language = Language::of(&r.file);
        let mut text = text.to_owned();
        if language == Language::Rust {
            text = text.replace("may throw an exception that is handled here", "may panic");
        }
        if let Some(name) = inside.as_ref().filter(|_| !offloaded && TOLD.contains(&r.name.as_str())) {
            text += &format!(" (inside of {name})");
        }
        let function = in_source(&r.function, &r.file);
        let in_library = is_library_function(&function);
        let function = match &inside {
            Some(name) if in_library => name.clone(),
            _ => short(&function),
        };
        let nest = Nest {
            estimate,
            time: None,
            scop: details.scop.clone(),
            stages: stages(details),
            line: r.line,
            column: r.column,
            function,
            offloaded,
            text,
            advice: (!offloaded)
                .then(|| {
                    advice(Refusal { name: &r.name, text: &note.text, inside: inside.as_deref(), language })
                })
                .flatten(),
            of_library: in_library || inside.is_some(),
            inside,
            code: r.code,
            notes: Vec::new(),
        };
        nests.push((r.file, nest));
    }
    nests.sort();
    // Functions of a header, and copies of one function.
    nests.dedup();
    let nests = folded(nests);
    let here = std::env::current_dir().unwrap_or_default();
    let mut report = Report { format: FORMAT, files: Vec::new() };
    for (path, nest) in nests {
        let short = std::path::Path::new(&path).strip_prefix(&here).ok().and_then(|p| p.to_str());
        let name = short.unwrap_or(&path);
        match report.files.last_mut() {
            Some(file) if file.file == name => file.nests.push(nest),
            _ => {
                let library = is_library(&path);
                report.files.push(File { file: name.to_owned(), library, nests: vec![nest] });
            }
        }
    }
    report
}

/// What a page shows of an offloaded loop nest, in the order of the stages.
fn stages(d: Details) -> Vec<(&'static str, String)> {
    let mut model = String::new();
    for s in &d.model.statements {
        model += &format!("{}\n  domain {}\n  schedule {}\n", s.name, s.domain, s.schedule);
        for a in &s.accesses {
            model += &format!("  {} {}\n", a.kind, a.relation);
        }
    }
    let all = [
        ("statements and accesses", model),
        (DEPENDENCES, d.model.dependences),
        (SCHEDULE, d.model.chosen),
        ("kernels and launches", d.mapping),
        ("kernel IR", d.ir),
        ("PTX", d.ptx),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// Writes what a profile knows to the loop nests that it names.
pub fn add_times(report: &mut Report, times: &BTreeMap<(String, String), String>) {
    for file in &mut report.files {
        let name = Path::new(&file.file).file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        for nest in file.nests.iter_mut().filter(|n| !n.scop.is_empty()) {
            nest.time = times.get(&(nest.scop.clone(), format!("{name}:{}", nest.line))).cloned();
        }
    }
}

/// The name of a function as the source has it: Fortran's compilers add an underscore to those of no module.
fn in_source(function: &str, file: &str) -> String {
    let is_fortran =
        [".f", ".for", ".f90", ".f95", ".f03", ".f08"].iter().any(|e| file.to_ascii_lowercase().ends_with(e));
    let name = demangled(function);
    if is_fortran && name == function { name.strip_suffix('_').unwrap_or(&name).to_owned() } else { name }
}

/// Loops inside of a library that code of one place calls are one entry: the author's own loop there, if one
/// was looked at, or the first.
fn folded(nests: Vec<(String, Nest)>) -> Vec<(String, Nest)> {
    // (A copy that a hash table makes of its own nodes is no loop of the author's, offloaded or not.)
    let of_library = |n: &Nest| n.of_library && (!n.offloaded || n.inside.as_deref().is_some_and(is_lookup));
    let mut out: Vec<(String, Nest)> = Vec::new();
    let mut nests = nests.into_iter().peekable();
    while let Some(first) = nests.next() {
        let place = (first.0.clone(), first.1.line);
        let mut here = vec![first];
        while let Some(next) =
            nests.next_if(|(file, n)| (file.as_str(), n.line) == (place.0.as_str(), place.1))
        {
            here.push(next);
        }
        let (inside, mut own): (Vec<_>, Vec<_>) =
            here.into_iter().partition(|(_, n)| place.1 > 0 && of_library(n));
        let (mut inside, offloaded): (Vec<_>, Vec<_>) = inside.into_iter().partition(|(_, n)| !n.offloaded);
        inside.extend(offloaded);
        let mut inside = inside.into_iter();
        if own.is_empty() {
            own.extend(inside.next());
        }
        let more = inside.count();
        if more > 0
            && let Some((_, n)) = own.first_mut()
        {
            let what = if more == 1 { "a loop" } else { "loops" };
            n.text += &format!("; {what} inside of the library that is called here too");
        }
        out.append(&mut own);
    }
    out
}

/// Remarks of what may be inside of a library's function: loops, calls.
const TOLD: [&str; 6] = ["LoopBound", "LoopExits", "ControlFlow", "Call", "Terminator", "Type"];

/// Functions of libraries that stand for an operator of the language: the loop around them is the author's.
const OPERATORS: [&str; 14] = [
    "next",
    "into_iter",
    "iter",
    "index",
    "index_mut",
    "operator[]",
    "operator*",
    "operator++",
    "operator!=",
    "operator==",
    "operator->",
    "begin",
    "end",
    "size",
];

/// How a library's function is called, by its demangled name, if that says something to an author.
fn told(demangled: &str) -> Option<String> {
    let name = short(demangled);
    let last = name.rsplit("::").next().unwrap_or(&name);
    if !OPERATORS.contains(&last) {
        return Some(name);
    }
    // (Operators of maps search, and their iterators go from node to node.)
    // (So do those of texts, from word to word.)
    let is_text = demangled.contains("core::str::");
    (is_text || is_lookup(demangled)).then(|| match demangled.split_once("collections::") {
        _ if is_text => format!("str::{name}"),
        Some((_, path)) => {
            let module = path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(path);
            format!("{module}::{name}")
        }
        None => name.clone(),
    })
}

/// Whether a file belongs to a language's library; remarks are there only if no frame of the inlined code is
/// the author's.
fn is_library(path: &str) -> bool {
    let folders = ["/usr/include/", "/usr/lib/", "/rustc/", "/rust/deps/"];
    folders.iter().any(|folder| path.starts_with(folder)) || path.contains("/rustlib/src/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(kind: RemarkKind, code: &str, file: &str, line: u32, function: &str, text: &str) -> Remark {
        let name = if code == "PRS106" { "Subscript" } else { "" };
        let (code, name, file) = (code.into(), name.into(), file.into());
        Remark {
            kind,
            code,
            name,
            file,
            line,
            column: 1,
            function: function.into(),
            text: text.into(),
            depth: 0,
            library: None,
            details: None,
        }
    }

    #[test]
    fn loops_of_libraries_are_told_by_what_is_called() {
        use RemarkKind::*;
        let of = |name: &str, library: &str, line: u32| Remark {
            name: name.into(),
            library: Some(library.into()),
            ..remark(Missed, "PRS102", "/p/a.cpp", line, "_Z5countv", "not offloaded: the loop can be left")
        };
        let search = "_ZNSt3mapIiiSt4lessIiESaISt4pairIKiiEEEixERS3_";
        let report = report(vec![
            of("LoopExits", search, 1),
            of("LoopExits", search, 1),
            of("LoopExits", "_ZNSt6vectorIiSaIiEEixEm", 2),
            of("Condition", search, 3),
        ]);
        let nests = &report.files[0].nests;
        let texts: Vec<_> = nests.iter().map(|n| (n.line, n.text.as_str())).collect();
        // The same twice is one; a vector's operator is no search.
        assert_eq!(texts[0], (1, "the loop can be left (inside of std::map::operator[])"));
        assert_eq!(texts[1..], [(2, "the loop can be left"), (3, "the loop can be left")]);
        assert!(nests[0].advice.is_some_and(|a| a.contains("hash table")));
        assert!(nests[1].advice.is_some_and(|a| !a.contains("hash table")));
    }

    #[test]
    fn iterators_of_trees_and_texts_are_told() {
        let table = [
            ("std::vector<int, std::allocator<int> >::operator[]", None),
            ("std::map<int, int>::operator[]", Some("std::map::operator[]")),
            ("std::vector<int, std::allocator<int> >::push_back", Some("std::vector::push_back")),
            (
                "<alloc::collections::btree::map::Iter<u32, f64> as core::iter::Iterator>::next",
                Some("btree::Iter::next"),
            ),
            (
                "<core::str::iter::SplitWhitespace as core::iter::Iterator>::next",
                Some("str::SplitWhitespace::next"),
            ),
            ("<core::slice::iter::Iter<f64> as core::iter::Iterator>::next", None),
        ];
        for (name, want) in table {
            assert_eq!(told(name).as_deref(), want, "{name}");
        }
    }

    #[test]
    fn a_refused_loop_of_a_hash_table_goes_before_an_offloaded_one() {
        use RemarkKind::*;
        let map = "_ZNSt3mapIiiSt4lessIiESaISt4pairIKiiEEEixERS3_";
        let of = |r: Remark| Remark { library: Some(map.into()), ..r };
        let refused = Remark {
            name: "Call".into(),
            ..remark(Missed, "PRS109", "/p/a.cpp", 1, "_ZSt1gv", "not offloaded: the call of f may have")
        };
        let copied = remark(Passed, "PRS001", "/p/a.cpp", 1, "_ZSt1hv", "offloaded h: 1 loop");
        let report = report(vec![of(copied), of(refused)]);
        let nests = &report.files[0].nests;
        assert_eq!((nests.len(), nests[0].offloaded), (1, false));
        assert!(nests[0].text.ends_with("; a loop inside of the library that is called here too"));
    }

    #[test]
    fn notes_belong_to_the_loop_nest_before_them() {
        use RemarkKind::*;
        let report = report(vec![
            remark(Passed, "PRS001", "/p/b.c", 9, "f", "offloaded f: 1 loop"),
            remark(Analysis, "PRS040", "/p/b.c", 9, "f", "checks that A and B do not overlap"),
            remark(Analysis, "PRS040", "/p/b.c", 9, "f", "checks that A and B do not overlap"),
            remark(Analysis, "PRS040", "/p/b.c", 9, "other", "checks that C and D do not overlap"),
            remark(Missed, "PRS106", "/p/a.c", 2, "_Z1gv", "not offloaded: a subscript of a is not affine"),
            remark(
                Missed,
                "PRS106",
                "/p/a.c",
                2,
                "_Z1gv",
                "not offloaded: a subscript of a is not affine (loop at a.c:2)",
            ),
            remark(Passed, "PRS001", "/usr/include/c++/14/v.h", 3, "f", "offloaded f: 1 loop"),
        ]);
        let files: Vec<_> =
            report.files.iter().map(|f| (f.file.as_str(), f.library, f.offloaded())).collect();
        assert_eq!(files, [("/p/a.c", false, 0), ("/p/b.c", false, 1), ("/usr/include/c++/14/v.h", true, 1)]);
        let (refused, offloaded) = (&report.files[0].nests[0], &report.files[1].nests[0]);
        assert_eq!(
            (refused.function.as_str(), refused.text.as_str()),
            ("g", "a subscript of a is not affine")
        );
        assert!(refused.advice.is_some_and(|a| a.contains("sums of loop counters")));
        assert_eq!(report.files[0].nests.len(), 1);
        assert_eq!((offloaded.text.as_str(), offloaded.notes.len()), ("f: 1 loop", 1));
    }
}
