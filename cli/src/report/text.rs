//! A report as text.

use super::Level;
use super::model::{File, Nest, Report};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Columns of a terminal that does not say how many it has.
const WIDTH: usize = 110;

/// The narrowest text that is worth wrapping.
const MIN_WIDTH: usize = 60;

/// A name of a function may take so many columns.
const MAX_FUNCTION: usize = 32;

/// The columns that there are: of the terminal, or as `COLUMNS` says.
pub fn width() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
    given.or_else(terminal).unwrap_or(WIDTH).max(MIN_WIDTH)
}

/// `source` has the text of a file.
pub fn render(
    report: &Report,
    level: Level,
    width: usize,
    source: &dyn Fn(&str) -> Option<String>,
) -> String {
    if report.files.is_empty() {
        return "no loops found\n".to_owned();
    }
    let mut out = String::new();
    let shown = |f: &&File| level == Level::Everything || !f.library;
    for (number, file) in report.files.iter().filter(shown).enumerate() {
        if number > 0 && level > Level::Summary {
            out.push('\n');
        }
        let name = if file.file.is_empty() { "(no debug information)" } else { &file.file };
        let _ = writeln!(out, "{name}: {}, {} offloaded", nests(file.nests.len()), file.offloaded());
        match level {
            Level::Summary => reasons(file, &mut out),
            _ => {
                table(file, level, width, &mut out);
                refusals(file, width, source, &mut out);
            }
        }
    }
    total(report, level, &mut out);
    out
}

fn nests(n: usize) -> String {
    format!("{n} loop nest{}", if n == 1 { "" } else { "s" })
}

/// How often each reason is in the way: `  2 x PRS106 a subscript ...`.
fn reasons(file: &File, out: &mut String) {
    let mut counts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for nest in file.nests.iter().filter(|n| !n.offloaded) {
        counts.entry(&nest.code).or_insert((0, &nest.text)).0 += 1;
    }
    for (code, (count, text)) in counts {
        let text = text.split(": ").next().unwrap_or(text);
        let _ = writeln!(out, "  {count} x {code} {text}");
    }
}

fn table(file: &File, level: Level, width: usize, out: &mut String) {
    let most = MAX_FUNCTION.min(width / 4);
    let widest = |cells: &mut dyn Iterator<Item = usize>, least: usize| cells.max().unwrap_or(0).max(least);
    let lines = widest(&mut file.nests.iter().map(|n| n.line.to_string().len()), 4);
    let functions = widest(&mut file.nests.iter().map(|n| n.function.chars().count()), 8).min(most);
    let _ = writeln!(out, "  {:>lines$}  {:functions$}  {:13}  what", "line", "function", "result");
    let before = 2 + lines + 2 + functions + 2 + 13 + 2;
    for n in &file.nests {
        let result = if n.offloaded { "offloaded" } else { "not offloaded" };
        let line = if n.line == 0 { "?".to_owned() } else { n.line.to_string() };
        let head = format!("  {line:>lines$}  {:functions$}  {result:13}  ", shortened(&n.function, most));
        let mut what = if n.offloaded { n.text.clone() } else { format!("{} [{}]", n.text, n.code) };
        if level < Level::Everything && n.offloaded {
            if let Some(steps) = n.notes.iter().find(|note| note.code == "PRS002") {
                what += &format!("; {}", steps.text);
            }
            let checks = n.notes.iter().filter(|note| note.code.as_str() >= "PRS020").count();
            if checks > 0 {
                what += &format!("; {checks} check{} first", if checks == 1 { "" } else { "s" });
            }
        }
        wrapped(&what, &head, &" ".repeat(before), width, out);
        let indent = " ".repeat(before);
        for line in n.time.iter().chain(n.estimate.iter().filter(|_| level == Level::Everything)) {
            wrapped(line, &indent, &indent, width, out);
        }
        if level == Level::Everything {
            for note in &n.notes {
                wrapped(&format!("{} [{}]", note.text, note.code), &indent, &indent, width, out);
            }
        }
    }
}

/// Each refusal with its line, a caret, and what to do; places with the same reason once.
fn refusals(file: &File, width: usize, source: &dyn Fn(&str) -> Option<String>, out: &mut String) {
    let text = source(&file.file);
    for n in file.nests.iter().filter(|n| !n.offloaded) {
        let place = if file.file.is_empty() { n.function.clone() } else { place(&file.file, n) };
        out.push('\n');
        wrapped(&format!("{} [{}]", n.text, n.code), &format!("{place}: "), "    ", width, out);
        let line = text.as_ref().and_then(|s| s.lines().nth((n.line as usize).checked_sub(1)?));
        if let Some(line) = line {
            excerpt(n, line, width, out);
        }
        if let Some(advice) = n.advice {
            wrapped(advice, "      = help: ", "              ", width, out);
        }
    }
}

fn place(file: &str, n: &Nest) -> String {
    match (n.line, n.column) {
        (0, _) => file.to_owned(),
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

/// The line of the source with a caret under its column; of a long line, the part around it.
fn excerpt(n: &Nest, line: &str, width: usize, out: &mut String) {
    let room = width.saturating_sub(9).max(1);
    let column = (n.column as usize).saturating_sub(1);
    let chars: Vec<char> = line.chars().collect();
    let begin =
        if chars.len() <= room { 0 } else { column.saturating_sub(room * 2 / 3).min(chars.len() - room) };
    let part: String = chars.iter().skip(begin).take(room).collect();
    // The caret stands under the same column, whatever the tabs before it.
    let before: String = chars
        .iter()
        .skip(begin)
        .take(column.saturating_sub(begin))
        .map(|c| if *c == '\t' { '\t' } else { ' ' })
        .collect();
    let _ = writeln!(out, "{:5} | {part}", n.line);
    if n.column > 0 {
        let _ = writeln!(out, "      | {before}^");
    }
}

fn total(report: &Report, level: Level, out: &mut String) {
    let folded: Vec<&File> = report.files.iter().filter(|f| f.library && level < Level::Everything).collect();
    let own = report.files.len() - folded.len();
    let sum = |files: &[&File]| {
        (
            files.iter().map(|f| f.nests.len()).sum::<usize>(),
            files.iter().map(|f| f.offloaded()).sum::<usize>(),
        )
    };
    if own > 1 {
        let all: Vec<&File> = report.files.iter().filter(|f| !folded.contains(f)).collect();
        let (count, offloaded) = sum(&all);
        let gap = if level > Level::Summary { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{own} files: {}, {offloaded} offloaded", nests(count));
    }
    if !folded.is_empty() {
        let (count, offloaded) = sum(&folded);
        let _ = writeln!(
            out,
            "in functions of the standard library: {}, {offloaded} offloaded (--level everything shows them)",
            nests(count)
        );
    }
}

/// A text behind `first`, and its further lines behind `next`, at most `width` columns wide where words allow
/// it.
fn wrapped(text: &str, first: &str, next: &str, width: usize, out: &mut String) {
    let options = textwrap::Options::new(width).initial_indent(first).subsequent_indent(next);
    let options = options.break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(text, options) {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// At most `most` characters, the end of which is what tells names apart.
fn shortened(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    format!("…{}", name.chars().skip(length - most + 1).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::super::model::Note;
    use super::*;

    fn report() -> Report {
        let note = |code: &str, text: &str| Note { code: code.into(), text: text.into() };
        let refused = Nest {
            line: 2,
            column: 6,
            function: "scatter".into(),
            code: "PRS106".into(),
            text: "a subscript of a is not affine: it depends on b".into(),
            advice: Some("subscripts have to be sums"),
            ..Nest::default()
        };
        let offloaded = Nest {
            line: 9,
            column: 3,
            function: "a_name_that_is_much_longer_than_any_column_of_a_table".into(),
            offloaded: true,
            code: "PRS001".into(),
            text: "f: 1 loop".into(),
            notes: vec![
                note("PRS002", "fuses steps: 4"),
                note("PRS040", "checks that A and B do not overlap"),
            ],
            ..Nest::default()
        };
        let library = File { file: "/usr/include/v.h".into(), library: true, nests: vec![offloaded.clone()] };
        let own = File { file: "a.c".into(), library: false, nests: vec![refused, offloaded] };
        Report { format: 1, files: vec![library, own] }
    }

    fn lines(level: Level, width: usize) -> String {
        render(&report(), level, width, &|file| {
            (file == "a.c").then(|| "int x;\n\tfoo a[b[i]] = 0;\n".to_owned())
        })
    }

    #[test]
    fn levels_tell_more_and_more() {
        assert_eq!(
            lines(Level::Summary, 80),
            "a.c: 2 loop nests, 1 offloaded\n  1 x PRS106 a subscript of a is not affine\n\
             in functions of the standard library: 1 loop nest, 1 offloaded (--level everything shows them)\n"
        );
        let text = lines(Level::Loops, 100);
        assert!(text.contains("     2  scatter "), "{text}");
        assert!(text.contains("not offloaded  a subscript of a is not"), "{text}");
        assert!(text.contains("f: 1 loop; fuses steps: 4; 1 check"), "{text}");
        assert!(
            text.contains("    2 | \tfoo a[b[i]] = 0;\n      | \t    ^\n      = help: subscripts"),
            "{text}"
        );
        assert!(!text.contains("A and B"), "{text}");
        let text = lines(Level::Everything, 100);
        assert!(text.contains("overlap"), "{text}");
        assert!(text.contains("/usr/include/v.h: 1 loop nest"), "{text}");
        assert_eq!(render(&Report::default(), Level::Loops, 80, &|_| None), "no loops found\n");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [60, 80, 200] {
            for level in [Level::Loops, Level::Everything] {
                let text = lines(level, width);
                let widest = text.lines().map(|l| l.chars().count()).max();
                assert!(widest <= Some(width.max(96)), "{width}: {text}");
            }
        }
    }

    #[test]
    fn the_part_of_a_long_line_around_the_caret_is_shown() {
        let nest = Nest { line: 1, column: 301, ..Nest::default() };
        let line = format!("{}x{}", " ".repeat(300), " ".repeat(300));
        let mut out = String::new();
        excerpt(&nest, &line, 80, &mut out);
        let (text, caret) = out.split_once('\n').unwrap();
        assert!(text.len() <= 80, "{out}");
        assert_eq!(text.find('x'), caret.find('^'), "{out}");
    }
}
