//! The timeline of a profile as a drawing, for documents: a row a thread and loop nest, time to the right, a
//! colour for what time was spent on.

use super::stretches;
use maud::{Markup, html};
use pollyrs_rt::lines::ExecutionLine;

/// Pixels: of the names, of the time, of a row, and above the rows.
const NAMES: f64 = 220.0;
const TIME: f64 = 680.0;
const ROW: f64 = 26.0;
const HEAD: f64 = 58.0;
/// So many numbers at the axis, about.
const NUMBERS: f64 = 8.0;
/// What is narrower can't be seen.
const LEAST: f64 = 0.6;

/// One, two or five times a power of ten, so that there are about [`NUMBERS`] of them.
fn step(span: f64) -> f64 {
    let power = 10f64.powf((span / NUMBERS).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|n| n * power);
    steps.into_iter().find(|s| span / s <= NUMBERS).unwrap_or(10.0 * power)
}

/// The drawing.
pub fn drawing(lines: &[ExecutionLine]) -> String {
    let first = lines.iter().map(|l| l.start_us).min().unwrap_or(0);
    let begin = |l: &ExecutionLine| (l.start_us - first) as f64 / 1e3;
    let span = lines.iter().map(|l| begin(l) + l.total_ms).fold(0.0, f64::max).max(1e-3);
    let mut order: Vec<&ExecutionLine> = lines.iter().collect();
    order.sort_by_key(|l| l.start_us);
    let row_of = |l: &ExecutionLine| (l.process, l.thread, l.scop.clone());
    let mut rows = Vec::new();
    for line in &order {
        if !rows.contains(&row_of(line)) {
            rows.push(row_of(line));
        }
    }
    let mut kinds = Vec::new();
    for (kind, ..) in order.iter().flat_map(|l| stretches(l)) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let (width, height) = (NAMES + TIME + 40.0, HEAD + ROW * rows.len() as f64 + 40.0);
    let x = |ms: f64| NAMES + ms / span * TIME;
    let y = |row: usize| HEAD + ROW * row as f64;
    let marks = std::iter::successors(Some(0.0), |at| Some(at + step(span))).take_while(|at| *at <= span);
    let title = match &order[..] {
        [] => "no loop nest of the program was reached that could be offloaded".to_owned(),
        lines => format!("{} executions of {} loop nests, {span:.3} ms", lines.len(), rows.len()),
    };
    let one_thread = rows.iter().all(|r| (r.0, r.1) == (rows[0].0, rows[0].1));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) style="background:#fff" font-family="sans-serif" font-size="12" {
            title { (title) }
            text x="12" y="20" font-size="14" { (title) }
            @for (n, (name, colour)) in kinds.iter().enumerate() {
                rect x=(12.0 + 130.0 * n as f64) y="30" width="12" height="12" fill=(colour) {}
                text x=(30.0 + 130.0 * n as f64) y="40" { (name) }
            }
            @for at in marks {
                path d=(format!("M{:.1} {}V{}", x(at), HEAD - 6.0, y(rows.len()))) stroke="#ddd" {}
                text x=(format!("{:.1}", x(at))) y=(y(rows.len()) + 16.0) text-anchor="middle" fill="#555" { (number(at)) }
            }
            text x=(NAMES + TIME) y=(y(rows.len()) + 32.0) text-anchor="end" fill="#555" { "ms" }
            @for (n, (process, thread, scop)) in rows.iter().enumerate() {
                text x=(NAMES - 10.0) y=(y(n) + 16.0) text-anchor="end" {
                    @if !one_thread { (process) "." (thread) " " }
                    (scop)
                }
            }
            @for line in &order {
                (bar(line, x(begin(line)), TIME / span, y(rows.iter().position(|r| *r == row_of(line)).unwrap_or(0))))
            }
        }
    }
    .into_string()
}

/// Without digits that say nothing.
fn number(ms: f64) -> String {
    let text = format!("{ms:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An execution that begins at `x`; `scale`: pixels a millisecond.
fn bar(line: &ExecutionLine, x: f64, scale: f64, y: f64) -> Markup {
    let mut at = x;
    let parts = stretches(line).into_iter().map(|((kind, colour), ms, _)| {
        let (begin, width) = (at, ms * scale);
        at += width;
        (kind, colour, ms, begin, width.max(LEAST))
    });
    let parts: Vec<_> = parts.collect();
    html! {
        @for (kind, colour, ms, begin, width) in parts {
            rect x=(format!("{begin:.2}")) y=(y + 3.0) width=(format!("{width:.2}")) height=(ROW - 6.0) fill=(colour) {
                title { (line.scop) ": " (kind) ", " (number(ms)) " ms" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, tests::LINES};
    use super::*;

    #[test]
    fn a_row_a_thread_and_nest_a_bar_a_part() {
        let svg = drawing(&read(LINES));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"), "{svg}");
        // The parts of three executions: four, one and one, and seven with the title of all.
        let bars = svg.matches("</title>").count();
        assert_eq!(bars, 7, "{svg}");
        assert!(svg.contains("3 executions of 2 loop nests, 9.000 ms"), "{svg}");
        assert!(svg.contains(">1.2 init#0<") && svg.contains(">1.1 gemm#0<"), "{svg}");
        // Setup takes two of nine milliseconds.
        let setup = format!("width=\"{:.2}\"", TIME * 2.0 / 9.0);
        assert!(svg.contains(&setup), "{svg}");
        assert!(drawing(&[]).contains("no loop nest"));
    }

    #[test]
    fn numbers_of_the_axis() {
        assert_eq!([0.9, 9.0, 12.0, 730.0].map(step), [0.2, 2.0, 2.0, 100.0]);
        assert_eq!([0.2, 10.0, 0.25].map(number), ["0.2", "10", "0.25"]);
    }
}
