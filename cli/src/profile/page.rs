//! The page of a profile: sums by loop nest, and a timeline with a lane a thread, which its script draws,
//! zooms and moves.
//!
//! The page needs no other file: the executions are in it as JSON. Executions of one loop nest that follow
//! each other and are too narrow to be told apart are drawn as one group.

use super::{Total, stretches, totals};
use pollyrs_rt::lines::ExecutionLine;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Executions in the page; of more, the longest.
const MOST: usize = 100_000;

const SCRIPT: &str = include_str!("page.js");

const STYLE: &str = "body{font:14px sans-serif;margin:2em;color:#222} canvas{width:100%;border:1px solid #ccc;cursor:grab}\
    table{border-collapse:collapse;margin:1em 0} th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #eee} th{font-weight:600}\
    td:first-child,th:first-child,td.text,th.text{text-align:left} td.reason{text-align:left;color:#666;padding-left:2em}\
    .bar{display:inline-block;height:10px;background:#3fa45b;vertical-align:middle} .key{display:inline-block;width:1em;height:1em;vertical-align:middle}\
    #tip{position:absolute;background:#222;color:#fff;padding:6px 9px;border-radius:4px;white-space:pre;font-size:12px;pointer-events:none;max-width:34em}";

/// What the script draws.
#[derive(Serialize)]
struct Data<'a> {
    /// Milliseconds.
    span: f64,
    lanes: Vec<String>,
    devices: Vec<&'a str>,
    nests: Vec<Nest<'a>>,
    /// Name and colour.
    kinds: Vec<(&'static str, &'static str)>,
    executions: Vec<Execution<'a>>,
}

#[derive(Serialize)]
struct Nest<'a> {
    name: &'a str,
    at: &'a str,
}

#[derive(Serialize)]
struct Execution<'a> {
    lane: usize,
    nest: usize,
    device: usize,
    /// Milliseconds since the first one began.
    start: f64,
    total: f64,
    launches: u64,
    /// Kind, milliseconds, bytes.
    parts: Vec<(usize, f64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The number of `key`, a new one if it is.
fn number<'a>(known: &mut BTreeMap<&'a str, usize>, order: &mut Vec<&'a str>, key: &'a str) -> usize {
    *known.entry(key).or_insert_with(|| {
        order.push(key);
        order.len() - 1
    })
}

fn data(lines: &[ExecutionLine]) -> Data<'_> {
    let first = lines.iter().map(|l| l.start_us).min().unwrap_or(0);
    let begin = |l: &ExecutionLine| (l.start_us - first) as f64 / 1e3;
    let span = lines.iter().map(|l| begin(l) + l.total_ms).fold(0.0, f64::max).max(1e-3);
    let mut threads: Vec<(u32, u64)> = lines.iter().map(|l| (l.process, l.thread)).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut kept: Vec<&ExecutionLine> = lines.iter().collect();
    kept.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms));
    kept.truncate(MOST);
    kept.sort_by_key(|l| l.start_us);
    let (mut nests, mut devices) = (BTreeMap::new(), BTreeMap::new());
    let (mut names, mut device_names, mut kinds): (Vec<&str>, Vec<&str>, Vec<(&str, &str)>) =
        (Vec::new(), Vec::new(), Vec::new());
    let mut places: Vec<&str> = Vec::new();
    let mut executions = Vec::new();
    for line in kept {
        let nest = number(&mut nests, &mut names, &line.scop);
        if nest == places.len() {
            places.push(&line.at);
        }
        let parts = stretches(line).into_iter().map(|(kind, ms, bytes)| {
            let at = kinds.iter().position(|k| *k == kind).unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            (at, ms, bytes)
        });
        executions.push(Execution {
            lane: threads.binary_search(&(line.process, line.thread)).unwrap_or(0),
            nest,
            parts: parts.collect(),
            device: number(&mut devices, &mut device_names, &line.device),
            start: begin(line),
            total: line.total_ms,
            launches: line.kernels,
            reason: line.reason.as_deref(),
        });
    }
    let lanes =
        threads.iter().map(|(process, thread)| format!("process {process}, thread {thread}")).collect();
    let nests = names.into_iter().zip(places).map(|(name, at)| Nest { name, at }).collect();
    Data { span, lanes, devices: device_names, nests, kinds, executions }
}

/// The page.
///
/// # Errors
/// Executions that do not become JSON.
pub fn page(lines: &[ExecutionLine]) -> serde_json::Result<String> {
    let data = data(lines);
    let legend: String = data
        .kinds
        .iter()
        .map(|(name, colour)| {
            format!("<span class=\"key\" style=\"background:{colour}\"></span> {name} &nbsp; ")
        })
        .collect();
    let left_out = lines.len() - data.executions.len();
    let note = match left_out {
        0 => String::new(),
        n => format!("<p>{n} shorter executions are not drawn.</p>"),
    };
    // No text of a program can end the script.
    let json = serde_json::to_string(&data)?.replace('<', "\\u003c");
    Ok(format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>pollyrs profile</title><style>{STYLE}</style></head><body>\
         <h1>pollyrs profile</h1>{}<h2>Timeline</h2><p>{legend}</p><canvas id=\"timeline\"></canvas><div id=\"tip\" hidden></div>{note}\
         <p>One lane for each thread. Wheel: zoom; drag: move; double click: all; the keys + - 0 and arrows do the same. A bar tells sizes and rates under the \
         mouse; executions that are too narrow are drawn together, with their number.</p><noscript>The timeline needs JavaScript.</noscript>\
         <script>const data = {json};\n{SCRIPT}</script></body></html>\n",
        sums(lines)
    ))
}

/// The table of sums.
fn sums(lines: &[ExecutionLine]) -> String {
    if lines.is_empty() {
        return format!("<p>{}</p>", escape(super::table(lines, crate::interrupt::happened()).trim()));
    }
    let totals = totals(lines);
    let all: f64 = totals.iter().map(|(_, t)| t.total_ms).sum();
    let mut text = "<table><tr><th>loop nest</th><th class=\"text\">place</th><th class=\"text\">where</th><th>runs</th><th>launches</th><th>total ms</th><th>share</th><th>kernels ms</th>\
                    <th>transfers ms</th><th>setup ms</th><th>MB in</th><th>MB out</th><th>GB/s</th></tr>"
        .to_owned();
    for ((scop, device), t) in &totals {
        let share = if all > 0.0 { t.total_ms / all } else { 0.0 };
        let Total { runs, launches, total_ms, kernel_ms, transfer_ms, setup_ms, bytes_in, bytes_out, .. } = t;
        let rate = t.rate().map_or("–".to_owned(), |r| format!("{r:.2}"));
        // Writing to a string can't fail.
        let _ = write!(
            text,
            "<tr><td>{}</td><td class=\"text\">{}</td><td class=\"text\">{device}</td><td>{runs}</td><td>{launches}</td><td>{total_ms:.3}</td>\
             <td class=\"text\"><span class=\"bar\" style=\"width:{:.0}px\"></span> {:.0}%</td><td>{kernel_ms:.3}</td><td>{transfer_ms:.3}</td>\
             <td>{setup_ms:.3}</td><td>{:.1}</td><td>{:.1}</td><td>{rate}</td></tr>",
            escape(scop),
            escape(&t.at),
            share * 120.0,
            share * 100.0,
            *bytes_in as f64 / 1e6,
            *bytes_out as f64 / 1e6,
        );
        for (reason, count) in &t.reasons {
            let _ = write!(
                text,
                "<tr><td class=\"reason\" colspan=\"13\">{count} × {}</td></tr>",
                escape(reason)
            );
        }
    }
    text + "</table>"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::{read, tests::LINES};
    use super::*;

    #[test]
    fn the_page_is_whole_and_escaped() {
        let page = page(&read(LINES)).unwrap();
        assert!(page.contains("a&lt;b&gt;.c:3") && !page.contains("a<b>"), "{page}");
        assert!(!page.contains("http") && page.matches("<script>").count() == 1, "nothing else is needed");
        assert!(page.contains("1 × not worth a transfer</td>") && page.ends_with("</html>\n"), "{page}");
        assert!(super::page(&[]).unwrap().contains("no loop nest"));
    }

    #[test]
    fn the_timeline_has_all_executions() {
        let lines = read(LINES);
        let data = data(&lines);
        assert_eq!(data.lanes, ["process 1, thread 1", "process 1, thread 2"]);
        assert_eq!((data.devices.len(), data.nests.len(), data.executions.len()), (2, 2, 3));
        let first = &data.executions[0];
        assert_eq!((first.lane, first.start, first.launches), (0, 0.0, 2));
        let kinds: Vec<&str> = first.parts.iter().map(|p| data.kinds[p.0].0).collect();
        assert_eq!(kinds, ["setup", "to the device", "kernels", "to the host"]);
        assert!((data.span - 9.0).abs() < 1e-9, "{}", data.span);
    }
}
