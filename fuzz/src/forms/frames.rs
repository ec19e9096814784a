//! Frames of signals: rows of memory that is only read, which reach into the next ones where the step is
//! shorter than they are; windows of pictures; the same memory for both sides, where results are stored.

use super::choices::Choices;
use super::text::{ELEMS, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements of each array: more than the largest plane, step and row reach.
const LONG: i64 = 20_000;

/// Rows, steps and planes are arguments, so that nothing but a check tells how they lie.
const PARAMETERS: &str = "int planes, int plane, int frames, int step, int size, int to";

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = ELEMS[choices.weighted(&[30, 30, 20, 10, 10])];
    let c = elem.c;
    let mut features = BTreeSet::from(["frames"]);
    let planes = choices.chance(35);
    if planes {
        features.insert("planes");
    }
    let beside = ["", " + x[FRAME + i + 1]", " - x[FRAME + step + i]", " + x[FRAME + size - 1 - i]"]
        [choices.weighted(&[40, 20, 20, 20])];
    if !beside.is_empty() {
        features.insert("several places of a frame");
    }
    let weight = ["w[i]", "w[f]", "w[f * to + i]"][choices.weighted(&[50, 20, 30])];
    let frame = if planes { "p * plane + f * step" } else { "f * step" };
    let term = format!("(x[FRAME + i]{beside}) * {weight}").replace("FRAME", frame);
    let place = if planes { "(p * frames + f) * to" } else { "f * to" };
    let inner = match choices.weighted(&[45, 35, 20]) {
        0 => {
            features.insert("sums of frames");
            format!("{c} s = 0; for (int i = 0; i < size; i++) s = s + {term}; y[{place}] = s;")
        }
        1 => {
            features.insert("frames side by side");
            format!("for (int i = 0; i < size; i++) y[{place} + i] = {term};")
        }
        _ => {
            features.insert("frames under conditions");
            format!("for (int i = 0; i < size; i++) if (w[i] > w[0]) y[{place} + i] = {term};")
        }
    };
    let mut loops = format!("for (int f = 0; f < frames; f++) {{ {inner} }}");
    if planes {
        loops = format!("for (int p = 0; p < planes; p++) {loops}");
    }
    let restrict = if choices.chance(40) { "restrict " } else { "" };
    let functions = format!(
        "__attribute__((noinline)) static void @f(const {c} *{restrict}x, const {c} *{restrict}w, {c} *{restrict}y, {PARAMETERS}) \
         {{\n  {loops}\n}}\n"
    );
    let names = ["x", "w", "y"];
    let mut driver: String = names.iter().zip(0..).map(|(name, n)| array(name, n, elem, LONG)).collect();
    for _ in 0..1 + choices.below(3) {
        let frames = [33, 64, 20, 5, 1, 0][choices.weighted(&[40, 15, 20, 10, 10, 5])];
        let size = [40, 17, 64, 3, 1, 0][choices.weighted(&[40, 20, 15, 10, 10, 5])];
        let step = [16, size, size + 5, 1, 7, 64, 0, -2][choices.weighted(&[25, 20, 15, 10, 10, 10, 5, 5])];
        let planes = 1 + choices.below(3) as i64;
        let plane = [frames * step, 4500, 37, 0][choices.weighted(&[30, 40, 25, 5])];
        let to = size + [1, 0, 9][choices.weighted(&[50, 30, 20])];
        // What is at the end of the first frames goes below the array's begin where steps go down.
        let first = if step < 0 || plane < 0 { LONG / 2 } else { 0 };
        let same = first == 0 && restrict.is_empty() && choices.chance(20);
        if same {
            features.insert("results in the same memory");
        }
        if step < size {
            features.insert("frames that overlap");
        }
        let result = if same { format!("x + {first}") } else { "y".into() };
        let _ = writeln!(
            driver,
            "  @f(x + {first}, w, {result}, {planes}, {plane}, {frames}, {step}, {size}, {to});\n  tick();"
        );
    }
    Text { functions, driver, features }
}
