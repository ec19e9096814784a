//! `pollyrs show --tiles`: the time tiling of each stencil of a file as a drawing.
//!
//! The file is compiled and thrown away; the plugin prints in which tile each point of a window of time and
//! one space dimension is. Time goes up. Phases have colours, neighbouring tiles of a phase differ in
//! brightness, and the number in a point is its step.
//!
//! # Invariants
//! - Nothing is drawn unless the points cover the window, each once: the picture can't hide a gap or an
//!   overlap.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What to draw.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// Draw the time tiles of stencils
    #[arg(long, required = true)]
    pub tiles: bool,
    /// The strategy: hybrid, diamond or split
    #[arg(long, default_value = "hybrid")]
    pub strategy: String,
    /// The tile sizes, as for the option 'tile'
    #[arg(long, default_value = "")]
    pub sizes: String,
    /// Where the drawing goes; of several loop nests, the second one to FILE.1.svg, ...
    #[arg(short, value_name = "FILE", default_value = "tiles.svg")]
    pub output: PathBuf,
    /// A source file, and options of the compiler (as for 'pollyrs cc')
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub args: Vec<OsString>,
}

/// What stops a drawing.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// Files, processes.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// With what it said.
    #[error("the compiler failed:\n{0}")]
    Compiler(String),
    #[error("no loop nest of the file is a stencil with a time loop that can be tiled")]
    None,
    #[error("the plugin's output is not understood: {0}")]
    Format(String),
    #[error("the tiles of {0} have {1} at time {2}, point {3}")]
    Broken(String, &'static str, i64, i64),
}

/// A point of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Point {
    time: i64,
    space: i64,
    phase: usize,
    tile: Vec<i64>,
    step: i64,
}

/// Compiles and draws; the result is the exit status.
pub fn run(args: &ShowArgs) -> Result<u8, ShowError> {
    let done = Command::new(std::env::current_exe()?)
        .arg("cc")
        .arg("-O2")
        .args(&args.args)
        .args(["-c", "-o", "/dev/null"])
        .env("POLLYRS_STRATEGY", &args.strategy)
        .env("POLLYRS_TILE", &args.sizes)
        .env("POLLYRS_SHOW_TILES", "true")
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        return Err(ShowError::Compiler(text.into_owned()));
    }
    let drawings = parse(&text)?;
    if drawings.is_empty() {
        return Err(ShowError::None);
    }
    for (number, (name, points)) in drawings.iter().enumerate() {
        covered(name, points)?;
        let path = match number {
            0 => args.output.clone(),
            n => args.output.with_extension(format!("{n}.svg")),
        };
        fs_err::write(&path, render(name, points))?;
        crate::output::print(&format!("{}: {name}\n", path.display()))?;
    }
    Ok(0)
}

/// The names and points of all tilings in the plugin's output.
fn parse(text: &str) -> Result<Vec<(String, Vec<Point>)>, ShowError> {
    let mut out: Vec<(String, Vec<Point>)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("pollyrs-tiles ") {
            out.push((name.to_owned(), Vec::new()));
        } else if let Some(rest) = line.strip_prefix("pollyrs-tile ") {
            let wrong = || ShowError::Format(line.to_owned());
            let (_, points) = out.last_mut().ok_or_else(wrong)?;
            points.push(point(rest).ok_or_else(wrong)?);
        }
    }
    Ok(out)
}

/// `time space phase T,b0,… c0,…,a`
fn point(text: &str) -> Option<Point> {
    let list = |s: &str| s.split(',').map(|v| v.parse().ok()).collect::<Option<Vec<i64>>>();
    let words: Vec<&str> = text.split(' ').collect();
    let [time, space, phase, tile, step] = words[..] else { return None };
    Some(Point {
        time: time.parse().ok()?,
        space: space.parse().ok()?,
        phase: phase.parse().ok()?,
        tile: list(tile)?,
        step: list(step)?.pop()?,
    })
}

/// Whether every point of the box around all points is there, once.
fn covered(name: &str, points: &[Point]) -> Result<(), ShowError> {
    let mut seen = BTreeSet::new();
    for p in points {
        if !seen.insert((p.time, p.space)) {
            return Err(ShowError::Broken(name.into(), "two tiles", p.time, p.space));
        }
    }
    let ends = |values: &mut dyn Iterator<Item = i64>| {
        values.fold((i64::MAX, i64::MIN), |(a, b), v| (a.min(v), b.max(v)))
    };
    let (t0, t1) = ends(&mut points.iter().map(|p| p.time));
    let (s0, s1) = ends(&mut points.iter().map(|p| p.space));
    for t in t0..=t1 {
        if let Some(s) = (s0..=s1).find(|s| !seen.contains(&(t, *s))) {
            return Err(ShowError::Broken(name.into(), "a gap", t, s));
        }
    }
    Ok(())
}

/// Pixels of a point.
const CELL: i64 = 18;

/// Above the points: title and legend.
const HEAD: i64 = 56;

/// What title and legend take.
const LEAST_WIDTH: i64 = 560;

/// Points between two numbers of an axis.
const TICK: i64 = 5;

/// Hues of the phases, far apart.
const HUES: [u32; 4] = [210, 35, 130, 330];

fn render(name: &str, points: &[Point]) -> String {
    let at: BTreeMap<(i64, i64), &Point> = points.iter().map(|p| ((p.time, p.space), p)).collect();
    let top = points.iter().map(|p| p.time).max().unwrap_or(0);
    let right = points.iter().map(|p| p.space).max().unwrap_or(0);
    let (width, height) = (LEAST_WIDTH.max((right + 5) * CELL), HEAD + (top + 4) * CELL);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" style=\"background:#fff\" font-family=\"sans-serif\" \
         font-size=\"9\" text-anchor=\"middle\">\n<title>{}</title>\n",
        escape(name)
    );
    let x = |s: i64| (s + 3) * CELL;
    let y = |t: i64| HEAD + (top - t) * CELL;
    out.push_str(&legend(name, points));
    for p in points {
        let hue = HUES[p.phase % HUES.len()];
        let light = if p.tile.last().copied().unwrap_or(0).rem_euclid(2) == 0 { 68 } else { 82 };
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"hsl({hue},65%,{light}%)\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x(p.space),
            y(p.time),
            x(p.space) + CELL / 2,
            y(p.time) + CELL / 2 + 3,
            p.step
        );
    }
    // Lines where one tile ends and another begins.
    let tile = |p: &Point| (p.phase, p.tile.clone());
    let mut edges = String::new();
    for p in points {
        let (px, py) = (x(p.space), y(p.time));
        let differs = |q: Option<&&Point>| q.is_some_and(|q| tile(q) != tile(p));
        if differs(at.get(&(p.time, p.space + 1))) {
            let _ = write!(edges, "M{} {py}v{CELL}", px + CELL);
        }
        if differs(at.get(&(p.time + 1, p.space))) {
            let _ = write!(edges, "M{px} {py}h{CELL}");
        }
    }
    let _ = writeln!(out, "<path d=\"{edges}\" stroke=\"black\" stroke-width=\"1.5\" fill=\"none\"/>");
    for s in (0..=right).step_by(TICK as usize) {
        let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{s}</text>", x(s) + CELL / 2, y(-1) + 11);
    }
    for t in (0..=top).step_by(TICK as usize) {
        let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{t}</text>", x(0) - CELL / 2, y(t) + CELL / 2 + 3);
    }
    let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">space</text>", x(right / 2), y(-2) + CELL / 2);
    let _ = writeln!(
        out,
        "<text transform=\"translate({},{}) rotate(-90)\">logical time</text>\n</svg>",
        CELL,
        y(top / 2)
    );
    out
}

/// The loop nest's name, what colours, numbers and lines are.
fn legend(name: &str, points: &[Point]) -> String {
    let mut out = format!(
        "<text x=\"{CELL}\" y=\"18\" font-size=\"13\" text-anchor=\"start\">Time tiles of {}</text>\n",
        escape(name)
    );
    let phases: BTreeSet<usize> = points.iter().map(|p| p.phase).collect();
    let mut at = CELL;
    for phase in phases {
        let hue = HUES[phase % HUES.len()];
        let _ = writeln!(
            out,
            "<path d=\"M{at} 30h12v12h-12z\" fill=\"hsl({hue},65%,68%)\"/><text x=\"{}\" y=\"40\" text-anchor=\"start\">phase {phase}: a launch</text>",
            at + 16
        );
        at += 120;
    }
    let _ = writeln!(
        out,
        "<text x=\"{at}\" y=\"40\" text-anchor=\"start\">number: step of the tile; lines: borders of tiles</text>"
    );
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "clang: note: something else\npollyrs-tiles f: line 3\npollyrs-tile 0 0 0 0,0 0\npollyrs-tile 0 1 1 0,-1 0,2\n\
                        pollyrs-tile 1 0 0 0,0 1\npollyrs-tile 1 1 0 0,0 1\n";

    #[test]
    fn points_are_read() {
        let drawings = parse(TEXT).unwrap();
        assert_eq!(drawings.len(), 1);
        assert_eq!(drawings[0].0, "f: line 3");
        let want = Point { time: 0, space: 1, phase: 1, tile: vec![0, -1], step: 2 };
        assert_eq!(drawings[0].1[1], want);
        assert!(matches!(parse("pollyrs-tile 0 0 0 0 0"), Err(ShowError::Format(_))));
        assert!(matches!(parse("pollyrs-tiles f\npollyrs-tile 0 0"), Err(ShowError::Format(_))));
    }

    #[test]
    fn gaps_and_overlaps_are_errors() {
        let points = parse(TEXT).unwrap().remove(0).1;
        assert!(covered("f", &points).is_ok());
        assert!(matches!(covered("f", &points[1..]), Err(ShowError::Broken(_, "a gap", 0, 0))));
        let twice = [points.clone(), points[3..].to_vec()].concat();
        assert!(matches!(covered("f", &twice), Err(ShowError::Broken(_, "two tiles", 1, 1))));
    }

    #[test]
    fn tiles_have_colours_numbers_and_borders() {
        let (name, points) = parse(TEXT).unwrap().remove(0);
        let svg = render(&name, &points);
        assert_eq!(svg.matches("<rect").count(), 4);
        // Its point, and the legend.
        assert_eq!(svg.matches("hsl(35,").count(), 2);
        let edges = svg.rsplit("<path d=\"").next().and_then(|rest| rest.split('"').next()).unwrap();
        // The odd one out has a border to its left and its top.
        assert_eq!(edges.matches('v').count(), 1);
        assert_eq!(edges.matches(&format!("h{CELL}")).count(), 1);
        assert!(
            svg.contains(">Time tiles of f: line 3</text>") && svg.contains("phase 1: a launch"),
            "{svg}"
        );
        assert!(svg.contains(">2</text>"));
    }
}
