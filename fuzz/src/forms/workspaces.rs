//! Parts of one array at places that are arguments: workspaces, planes and rows that numbers choose, shifts;
//! apart, side by side, one element too near, the same, in either order, and changed between iterations of a
//! loop around.

use super::choices::Choices;
use super::text::{ELEMS, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements of the array; pointers are to its middle, and all places and sizes stay near it.
const LONG: i64 = 2000;
const MIDDLE: i64 = 600;
/// Rows of planes, and elements of a row, are as many at most.
const ROWS: i64 = 9;

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    c: &'static str,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = ELEMS[choices.below(ELEMS.len())];
    let counter = ["int", "long"][choices.weighted(&[70, 30])];
    let mut form = Form { choices, features: BTreeSet::from(["workspaces"]), c: elem.c };
    let planes = form.choices.chance(35);
    let body = if planes { form.planes() } else { form.line(counter) };
    let body = match form.choices.weighted(&[60, 20, 20]) {
        0 => body,
        1 => {
            form.features.insert("places that change in turn");
            format!("  for (int t = 0; t < 3; t++) {{\n{body}  int r = p; p = q; q = r; }}\n")
        }
        _ => {
            form.features.insert("parts in a time loop");
            format!("  for (int t = 0; t < 3; t++) {{\n{body}  }}\n")
        }
    };
    let inline = if form.choices.chance(25) { "" } else { "__attribute__((noinline)) " };
    let functions = format!(
        "{inline}static void @f({0} *w, const {0} *d, int n, int m, int p, int q, int s) {{\n{body}}}\n",
        elem.c
    );
    let driver = form.driver(elem, planes);
    Text { functions, driver, features: form.features }
}

impl Form<'_, '_> {
    fn place(&mut self) -> &'static str {
        self.choices.pick(&["p", "q", "s", "(p + 1)", "(q - 1)", "(p + q)", "2 * s"])
    }

    /// Loops along a line.
    fn line(&mut self, counter: &str) -> String {
        let c = self.c;
        let mut body = String::new();
        for _ in 0..1 + self.choices.weighted(&[70, 30]) {
            let (to, from, other) = (self.place(), self.place(), self.place());
            let step = self.choices.pick(&["i", "i", "i", "2 * i", "(n - 1 - i)"]);
            let statement = match self.choices.weighted(&[35, 15, 15, 15, 20]) {
                0 => format!("w[{to} + {step}] = w[{from} + {step}] * 2 + d[i];"),
                1 => format!("w[{to} + {step}] += w[{from} + {step}] - w[{other} + {step}];"),
                2 => format!("{c} x = w[{from} + i]; w[{from} + i] = w[{to} + i] - x; w[{to} + i] += x;"),
                3 => {
                    self.features.insert("products of parts");
                    format!(
                        "w[{to} + i] = 0; for (int j = 0; j < m; j++) w[{to} + i] += d[j] * w[{from} + j];"
                    )
                }
                _ => format!("if (d[i] > 3) w[{to} + {step}] = w[{from} + {step} + 1];"),
            };
            let _ = writeln!(body, "  for ({counter} i = 0; i < n; i++) {{ {statement} }}");
        }
        body
    }

    /// Planes and rows.
    fn planes(&mut self) -> String {
        self.features.insert("planes that numbers choose");
        let c = self.c;
        let (to, from) = (self.choices.pick(&["p", "q", "s"]), self.choices.pick(&["p", "q", "s", "1 - p"]));
        let read = self.choices.pick(&[
            "u[FROM][i - 1][j] + u[FROM][i + 1][j]",
            "u[FROM][i][j - 1] * 2",
            "u[FROM][i][j] + u[TO][i][j]",
            "u[FROM][i - 1][j - 1] - u[FROM][i + 1][j + 1] + u[FROM][i][j]",
        ]);
        let read = read.replace("FROM", from).replace("TO", to);
        match self.choices.weighted(&[70, 30]) {
            0 => format!(
                "  {c} (*u)[m][n] = (void *)w;\n  for (int i = 1; i < m - 1; i++)\n    for (int j = 1; j < n - 1; j++)\n      \
                 u[{to}][i][j] = {read} + d[j];\n"
            ),
            _ => format!(
                "  {c} (*u)[n] = (void *)w;\n  for (int j = 1; j < n - 1; j++)\n    u[{to}][j] = u[{from}][j - 1] + u[{from}][j + 1] * d[j];\n"
            ),
        }
    }

    fn driver(&mut self, elem: super::text::Elem, planes: bool) -> String {
        let mut driver = array("w", 0, elem, LONG) + &array("d", 1, elem, LONG);
        let middle = if planes { 2 * ROWS * ROWS } else { MIDDLE };
        for _ in 0..2 + self.choices.below(3) {
            let [n, m] = [(); 2].map(|()| match self.choices.weighted(&[70, 15, 15]) {
                0 => 3 + self.choices.below(ROWS as usize - 2) as i64,
                1 => self.choices.below(3) as i64,
                _ => ROWS,
            });
            let n = if planes { n } else { n * 8 };
            let near = [0, 1, n - 1, n, n + 1, 2 * n, 3 * n, -1, -n, 1 - n, -2 * n, n / 2];
            let mut place = || match planes {
                true => self.choices.pick(&[0, 1, 1, 2, -1]),
                false => near[self.choices.below(near.len())],
            };
            let (p, q, s) = (place(), place(), place());
            let _ = writeln!(driver, "  @f(w + {middle}, d, {n}, {m}, {p}, {q}, {s});\n  tick();");
        }
        driver
    }
}
