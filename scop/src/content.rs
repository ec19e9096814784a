//! The content of a SCoP as text: what its speed depends on, and nothing of where it stands.
//!
//! Two SCoPs with the same content have the same domains, access relations, shapes of arrays and original
//! order. Names are replaced by numbers in the order in which the model lists what they name, so that
//! renaming a variable changes nothing; lines, files, handles and assumptions are left out.
//!
//! # Example
//! `for (int i = 0; i < n; i++) A[i] = B[i];` and the same with other names:
//! ```text
//! p0 i32; a0 float [*]; a1 float [*]; s0 [p0] -> { s0[i0] : ... } may 0 [p0] -> { s0[i0] -> a1[i0] } ...
//! ```

use crate::model::*;
use std::collections::BTreeMap;
use std::fmt::Write;

impl Scop {
    /// See the module documentation.
    pub fn content(&self) -> String {
        let named = |kind: &str, names: Vec<&String>| -> Vec<(String, String)> {
            names.into_iter().enumerate().map(|(i, n)| (n.clone(), format!("{kind}{i}"))).collect()
        };
        let names: BTreeMap<String, String> = [
            named("p", self.params.iter().map(|p| &p.name).collect()),
            named("a", self.arrays.iter().map(|a| &a.name).collect()),
            named("s", self.statements.iter().map(|s| &s.name).collect()),
        ]
        .concat()
        .into_iter()
        .collect();
        let mut text = String::new();
        // Writing to a string can't fail.
        for p in &self.params {
            let _ = writeln!(text, "{} i{}", p.name, p.bits);
        }
        for a in &self.arrays {
            let _ = write!(text, "{} {} {}", a.name, a.elem, if a.is_memory() { "memory" } else { "value" });
            for s in &a.sizes {
                let _ = match s {
                    None => write!(text, " [*]"),
                    Some(s) => write!(text, " [{s}]"),
                };
            }
            text.push('\n');
        }
        for s in &self.statements {
            let _ = writeln!(text, "{}", s.domain);
            for a in &s.accesses {
                let kind = match a.kind {
                    AccessKind::Read => "reads",
                    AccessKind::MustWrite => "writes",
                    AccessKind::MayWrite => "may write",
                };
                let _ = writeln!(text, "{kind} {}", a.relation);
            }
        }
        let _ = writeln!(text, "{}", self.schedule);
        renamed(&text, &names)
    }

    /// Arrays and accesses of the content, in which parameters have no numbers: where a function is inlined,
    /// its caller may know what they are.
    ///
    /// ```text
    /// a0 float memory [*]; reads { s0[i0] -> a0[p + i0] }
    /// ```
    pub fn form(&self) -> String {
        form(&self.content())
    }
}

/// See [`Scop::form`].
fn form(content: &str) -> String {
    let is_wanted =
        |line: &&str| ["a", "reads ", "writes ", "may write "].iter().any(|kind| line.starts_with(kind));
    let mut text = String::new();
    for line in content.lines().filter(is_wanted) {
        // The list of parameters in front of each set and relation.
        for (n, part) in line.split("] -> {").enumerate() {
            let part = match part.rfind('[') {
                Some(at) if is_list(&part[at + 1..]) => &part[..at],
                _ => part,
            };
            text.push_str(if n > 0 { "{" } else { "" });
            text.push_str(part);
        }
        text.push('\n');
    }
    without_numbers(&text)
}

/// Whether a text is `p0, p1`.
fn is_list(text: &str) -> bool {
    text.split(", ")
        .all(|p| p.strip_prefix('p').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())))
}

/// `p` for each `p12`.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('p') {
        let (before, from) = rest.split_at(at + 1);
        out.push_str(before);
        let digits = from.bytes().take_while(u8::is_ascii_digit).count();
        let is_word = before[..at].bytes().last().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        let skipped = if is_word { 0 } else { digits };
        rest = &from[skipped..];
    }
    out + rest
}

/// `text` with each identifier that has an entry replaced by it.
fn renamed(text: &str, names: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        // isl writes `4n` for four times `n`.
        let end = match first {
            '0'..='9' => rest.find(|c: char| !c.is_ascii_digit()),
            c if is_part(c) => rest.find(|c| !is_part(c)),
            _ => rest.find(is_part),
        };
        let end = end.unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        out.push_str(names.get(word).map_or(word, |n| n));
        rest = tail;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_renamed_as_a_whole_and_at_once() {
        let names = [("n", "p0"), ("A", "a0"), ("p0", "p1"), ("x_1", "p2")];
        let names = names.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        let table = [
            ("[n, p0] -> { A[i0] : i0 < n }", "[p0, p1] -> { a0[i0] : i0 < p0 }"),
            ("nn An x_1 x_12 4n + 12", "nn An p2 x_12 4p0 + 12"),
            ("", ""),
            ("≤ n", "≤ p0"),
        ];
        for (text, want) in table {
            assert_eq!(renamed(text, &names), want);
        }
    }

    #[test]
    fn what_a_caller_knows_of_parameters_changes_no_form() {
        let general = "p0 i32\np1 i64\na0 i8 memory [*] [[p0, p1] -> { [(16)] }]\n[p0, p1] -> { s0[i0] : 0 <= i0 <= p0 }\n\
                       writes [p0, p1] -> { s0[i0] -> a0[p1 + i0, 8] }\n{ domain: \"\" }\n";
        let known = "p0 i64\na0 i8 memory [*] [[p0] -> { [(16)] }]\n[p0] -> { s0[i0] : 0 <= i0 <= 9 }\n\
                     writes [p0] -> { s0[i0] -> a0[p0 + i0, 8] }\n{ domain: \"\" }\n";
        assert_eq!(form(general), "a0 i8 memory [*] [{ [(16)] }]\nwrites { s0[i0] -> a0[p + i0, 8] }\n");
        assert_eq!(form(general), form(known));
        for (from, to) in [
            ("8]", "9]"),
            ("writes", "reads"),
            ("p1 + i0", "2i0"),
            ("i8 memory", "float memory"),
            ("(16)", "(p0)"),
        ] {
            assert_ne!(form(&general.replace(from, to)), form(general), "{from} {to}");
        }
    }
}
