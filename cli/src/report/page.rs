//! A report as a page that needs no other file: the sources, with a mark in the margin at each loop nest, and
//! what is known of it under its line. Marks open and close without a script.

use super::model::{DEPENDENCES, File, Nest, Report, SCHEDULE};
use super::tree;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// Lines of a source around a mark; what is farther away is left out of files longer than this.
const CONTEXT: usize = 400;

const STYLE: &str = "
:root { color-scheme: light dark; --green: #1a7f37; --red: #cf222e; --grey: #6e7781; --line: #d0d7de; --back: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --green: #3fb950; --red: #f85149; --grey: #8b949e; --line: #30363d; --back: #161b22; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.1rem; margin-top: 2.5rem; font-family: ui-monospace, monospace; }
table.files { border-collapse: collapse; } table.files td, table.files th { padding: .2rem 1rem .2rem 0; text-align: left; }
table.files td.n { text-align: right; font-variant-numeric: tabular-nums; }
.source { border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; padding: .5rem 0; }
.row { display: flex; font: 13px/1.5 ui-monospace, monospace; white-space: pre; tab-size: 4; }
.row .mark { flex: 0 0 1.6rem; text-align: center; } .row .number { flex: 0 0 3.2rem; text-align: right; padding-right: 1rem; color: var(--grey); }
.gap { color: var(--grey); padding-left: 4.8rem; font-size: 13px; }
.yes { color: var(--green); } .no { color: var(--red); }
details summary { list-style: none; cursor: pointer; } details summary::-webkit-details-marker { display: none; }
details summary:hover { background: var(--back); }
.about { margin: .2rem 1rem .6rem 4.8rem; padding: .5rem .8rem; background: var(--back); border-left: 3px solid var(--grey); font-size: 14px; }
.about.is-yes { border-color: var(--green); } .about.is-no { border-color: var(--red); }
.time { margin-left: 2rem; color: var(--grey); font-size: 12px; }
.stage summary { font-size: 13px; color: var(--grey); list-style: inside disclosure-closed; } .stage[open] summary { list-style-type: disclosure-open; }
.stage pre { max-height: 28rem; overflow: auto; font: 12px/1.4 ui-monospace, monospace; margin: .3rem 0; }
.tree { font: 12px/1.4 ui-monospace, monospace; overflow-x: auto; margin: .3rem 0; }
.node { border: 1px solid var(--line); border-left-width: 4px; border-radius: 4px; padding: .2rem .5rem; margin: .25rem 0 .25rem .3rem; width: max-content; min-width: 12rem; }
.node.band { border-left-color: #3b82c4; } .node.sequence, .node.set { border-left-color: #d08a2e; } .node.filter { border-left-color: #8a63d2; }
.node.mark { border-left-color: var(--green); } .part { color: var(--grey); padding-left: .6rem; } .part.coincident { color: var(--green); }
.graph circle { fill: var(--back); stroke: var(--grey); } .graph text { font: 12px ui-monospace, monospace; text-anchor: middle; fill: currentColor; }
.graph path { fill: none; stroke-width: 2; marker-end: none; } path.kind0 { stroke: #3b82c4; } path.kind1 { stroke: #d08a2e; } path.kind2 { stroke: #8a63d2; }
span.kind0 { color: #3b82c4; } span.kind1 { color: #d08a2e; } span.kind2 { color: #8a63d2; }
.about p, .about ul { margin: .2rem 0; } .code { color: var(--grey); font-size: 12px; } .help { margin-top: .4rem; }
";

/// `source` has the text of a file.
pub fn page(report: &Report, source: &dyn Fn(&str) -> Option<String>) -> String {
    let own = || report.files.iter().filter(|f| !f.library);
    let library: Vec<&File> = report.files.iter().filter(|f| f.library).collect();
    let count = own().map(|f| f.nests.len()).sum::<usize>();
    let offloaded = own().map(File::offloaded).sum::<usize>();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "pollyrs report" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "pollyrs report: " (offloaded) " of " (count) " loop nests offloaded" }
                p { "A " span.yes { "●" } " stands for a loop nest that runs on the device, a " span.no { "○" }
                    " for one that does not. Click on a line for the reasons." }
                table.files {
                    tr { th { "file" } th { "loop nests" } th { "offloaded" } }
                    @for (number, file) in own().enumerate() {
                        tr { td { a href=(format!("#f{number}")) { (name(file)) } } td.n { (file.nests.len()) } td.n { (file.offloaded()) } }
                    }
                }
                @for (number, file) in own().enumerate() { (of_file(number, file, source(&file.file))) }
                @if !library.is_empty() {
                    h2 { "In functions of the standard library" }
                    ul { @for file in library { @for nest in &file.nests {
                        li { span.code { (file.file) ":" (nest.line) " " } code { (nest.function) } ": " (words(nest)) }
                    } } }
                }
            }
        }
    };
    page.into_string()
}

fn name(file: &File) -> &str {
    if file.file.is_empty() { "(no debug information)" } else { &file.file }
}

fn of_file(number: usize, file: &File, source: Option<String>) -> Markup {
    let mut at: BTreeMap<usize, Vec<&Nest>> = BTreeMap::new();
    for nest in &file.nests {
        at.entry(nest.line as usize).or_default().push(nest);
    }
    let source = source.unwrap_or_default();
    let lines: Vec<&str> = source.lines().collect();
    let near =
        |line: usize| lines.len() <= CONTEXT || at.keys().any(|marked| marked.abs_diff(line) <= CONTEXT / 8);
    html! {
        h2 id=(format!("f{number}")) { (name(file)) }
        // Without the source, or with another one than the compiler had.
        @for (line, nests) in at.iter().filter(|(line, _)| **line == 0 || **line > lines.len()) {
            @for nest in nests { p { "line " (line) ": " } (about(nest)) }
        }
        @if !lines.is_empty() {
            div.source {
                @for (index, text) in lines.iter().enumerate() {
                    @let line = index + 1;
                    @if let Some(nests) = at.get(&line) {
                        details {
                            summary { (row(line, text, Some(nests))) }
                            @for nest in nests { (about(nest)) }
                        }
                    } @else if near(line) {
                        (row(line, text, None))
                    } @else if line > 1 && near(line - 1) {
                        div.gap { "…" }
                    }
                }
            }
        }
    }
}

fn row(line: usize, text: &str, nests: Option<&Vec<&Nest>>) -> Markup {
    html! {
        div.row {
            span.mark {
                @if let Some(nests) = nests {
                    @if nests.iter().any(|n| !n.offloaded) { span.no { "○" } }
                    @if nests.iter().any(|n| n.offloaded) { span.yes { "●" } }
                }
            }
            span.number { (line) }
            span { (text) }
            @for time in nests.into_iter().flatten().filter_map(|n| n.time.as_ref()) { span.time { (time) } }
        }
    }
}

/// What a nest became, in one line.
fn words(nest: &Nest) -> Markup {
    html! {
        @if nest.offloaded { span.yes { "offloaded" } } @else { span.no { "not offloaded" } }
        ": " (nest.text) " " span.code { (nest.code) }
    }
}

fn about(nest: &Nest) -> Markup {
    html! {
        div class=(if nest.offloaded { "about is-yes" } else { "about is-no" }) {
            p { (words(nest)) }
            p.code { "in " (nest.function) }
            @if !nest.notes.is_empty() {
                ul { @for note in &nest.notes { li { (note.text) " " span.code { (note.code) } } } }
            }
            @if let Some(advice) = nest.advice { p.help { b { "What to change: " } (advice) } }
            @if let Some(time) = &nest.time { p { b { "Measured: " } (time) } }
            @if let Some(estimate) = &nest.estimate { p { b { "Estimated: " } (estimate) } }
            @for (title, text) in &nest.stages {
                details.stage {
                    summary { (title) }
                    @if *title == SCHEDULE { (tree::schedule(text)) }
                    @if *title == DEPENDENCES { (tree::dependences(text)) }
                    @if *title != SCHEDULE { pre { (text) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Note;
    use super::*;

    #[test]
    fn marks_are_at_their_lines_and_texts_are_escaped() {
        let refused = Nest {
            line: 2,
            function: "f<T>".into(),
            code: "PRS106".into(),
            text: "it depends on a < b".into(),
            advice: Some("use sums"),
            ..Nest::default()
        };
        let note = Note { code: "PRS040".into(), text: "checks that A and B do not overlap".into() };
        let offloaded = Nest { line: 3, offloaded: true, notes: vec![note], ..Nest::default() };
        let elsewhere = Nest { line: 99, text: "gone".into(), ..Nest::default() };
        let file = File { file: "a.c".into(), library: false, nests: vec![refused, offloaded, elsewhere] };
        let page =
            page(&Report { format: 1, files: vec![file] }, &|_| Some("first\nx < y\nthird\n".to_owned()));
        for part in [
            "1 of 3 loop nests offloaded",
            "it depends on a &lt; b",
            "x &lt; y",
            "f&lt;T&gt;",
            "checks that A and B",
            "use sums",
            "line 99",
        ] {
            assert!(page.contains(part), "{part} is missing: {page}");
        }
        assert_eq!(page.matches("<details>").count(), 2);
        assert!(!page.contains("<script"), "{page}");
    }

    #[test]
    fn long_files_show_what_is_near_marks() {
        let nest = Nest { line: 5000, ..Nest::default() };
        let file = File { file: "a.c".into(), library: false, nests: vec![nest] };
        let page = page(&Report { format: 1, files: vec![file] }, &|_| Some("x\n".repeat(10_000)));
        assert!(page.matches("class=\"row\"").count() < 2 * CONTEXT, "{}", page.len());
    }
}
