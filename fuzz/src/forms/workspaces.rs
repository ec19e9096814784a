//! Parts of one array at places that are arguments: workspaces, matrices in them whose rows may be longer
//! than the loop over columns, planes and rows that numbers choose, shifts, sizes between two pointers;
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

/// What the parts are.
#[derive(Clone, Copy, PartialEq)]
enum Parts {
    Lines,
    Planes,
    /// With rows of `s` elements.
    Matrices,
}

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    c: &'static str,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = ELEMS[choices.below(ELEMS.len())];
    let counter = ["int", "long"][choices.weighted(&[70, 30])];
    let mut form = Form { choices, features: BTreeSet::from(["workspaces"]), c: elem.c };
    let parts = [Parts::Lines, Parts::Planes, Parts::Matrices][form.choices.weighted(&[45, 30, 25])];
    let body = match parts {
        Parts::Lines => form.line(counter),
        Parts::Planes => form.planes(),
        Parts::Matrices => form.matrices(counter),
    };
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
        "{inline}static void @f({0} *w, const {0} *d, const {0} *e, int n, int m, int p, int q, int s) \
         {{\n{body}}}\n",
        elem.c
    );
    let driver = form.driver(elem, parts);
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
            let statement = match self.choices.weighted(&[30, 15, 15, 15, 15, 10]) {
                0 => format!("w[{to} + {step}] = w[{from} + {step}] * 2 + d[i];"),
                1 => format!("w[{to} + {step}] += w[{from} + {step}] - w[{other} + {step}];"),
                2 => format!("{c} x = w[{from} + i]; w[{from} + i] = w[{to} + i] - x; w[{to} + i] += x;"),
                3 => {
                    self.features.insert("products of parts");
                    format!(
                        "w[{to} + i] = 0; for (int j = 0; j < m; j++) w[{to} + i] += d[j] * w[{from} + j];"
                    )
                }
                4 => {
                    self.features.insert("sizes between two pointers");
                    format!("w[{to} + i] = d[e - d - 1 - i] + w[{from} + i];")
                }
                _ => format!("if (d[i] > 3) w[{to} + {step}] = w[{from} + {step} + 1];"),
            };
            let _ = writeln!(body, "  for ({counter} i = 0; i < n; i++) {{ {statement} }}");
        }
        body
    }

    /// Matrices at places, by rows or by columns.
    fn matrices(&mut self, counter: &str) -> String {
        self.features.insert("rows longer than the loop");
        let place = |choices: &mut Choices<'_>| choices.pick(&["p", "q", "(p + q)", "(q + 1)"]);
        let (to, from) = (place(self.choices), place(self.choices));
        let read = self.choices.pick(&["i * s + j", "(i + 1) * s + j", "i * s + j + 1"]);
        let sign = self.choices.pick(&["=", "=", "+="]);
        let loops = self.choices.pick(&[("i", "m", "j", "n"), ("j", "n", "i", "m")]);
        let (outer, rows, inner, columns) = loops;
        format!(
            "  for ({counter} {outer} = 0; {outer} < {rows}; {outer}++)\n    for ({counter} {inner} = 0; {inner} < {columns}; \
             {inner}++)\n      w[{to} + i * s + j] {sign} w[{from} + {read}] * 2 + d[j];\n"
        )
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

    fn driver(&mut self, elem: super::text::Elem, parts: Parts) -> String {
        let mut driver = array("w", 0, elem, LONG) + &array("d", 1, elem, LONG);
        let middle = if parts == Parts::Planes { 2 * ROWS * ROWS } else { MIDDLE };
        for _ in 0..2 + self.choices.below(3) {
            let [n, m] = [(); 2].map(|()| match self.choices.weighted(&[70, 15, 15]) {
                0 => 3 + self.choices.below(ROWS as usize - 2) as i64,
                1 => self.choices.below(3) as i64,
                _ => ROWS,
            });
            let n = if parts == Parts::Lines { n * 8 } else { n };
            let near = [0, 1, n - 1, n, n + 1, 2 * n, 3 * n, -1, -n, 1 - n, -2 * n, n / 2];
            let row = n + self.choices.pick(&[0, 1, 3, n, -1]);
            let far = [0, 1, n, row, m * row, m * row + 1, (m - 1) * row + n, 300, -200];
            let mut place = || match parts {
                Parts::Planes => self.choices.pick(&[0, 1, 1, 2, -1]),
                Parts::Lines => near[self.choices.below(near.len())],
                Parts::Matrices => far[self.choices.below(far.len())],
            };
            let (p, q, s) = (place(), place(), place());
            let s = if parts == Parts::Matrices { row } else { s };
            let _ = writeln!(driver, "  @f(w + {middle}, d, d + {n}, {n}, {m}, {p}, {q}, {s});\n  tick();");
        }
        driver
    }
}
