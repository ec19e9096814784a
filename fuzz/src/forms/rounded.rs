//! Subscripts that are rounded from numbers: tables that are looked up, histograms, particles that move;
//! numbers that are tested or clamped before, whatever they are, or small enough; arrays that meet.

use super::choices::Choices;
use super::text::{ELEMS, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements of each array; pointers are to the middle of the table.
const LONG: i64 = 400;
const MIDDLE: i64 = 150;

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    c: &'static str,
    /// What is rounded is tested or clamped before.
    tame: bool,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = ELEMS[choices.below(2)];
    let c = elem.c;
    let counter = ["int", "long", "unsigned"][choices.weighted(&[60, 25, 15])];
    let tame = choices.chance(65);
    let mut form = Form { choices, features: BTreeSet::from(["rounded"]), c, tame };
    let mut body = String::new();
    for _ in 0..1 + form.choices.weighted(&[70, 30]) {
        let statement = form.statement();
        let head = match form.choices.weighted(&[60, 15, 25]) {
            0 => format!("for ({counter} k = 0; k < n; k++)"),
            1 => format!("for ({counter} k = n; k-- > 0;)"),
            _ => {
                form.features.insert("rounded in a nest");
                format!("for (int j = 0; j < 3; j++)\n    for ({counter} k = 0; k < n; k++)")
            }
        };
        let _ = writeln!(body, "  {head} {{\n    {statement}\n  }}");
    }
    let inline = if form.choices.chance(25) { "" } else { "__attribute__((noinline)) " };
    let functions = format!(
        "{inline}static void @f({c} *y, {c} *x, const {c} *w, const {c} *t, int *h, {counter} n, {c} a, {c} b, int m) {{\n{body}}}\n"
    );
    let driver = form.driver(elem);
    Text { functions, driver, features: form.features }
}

impl Form<'_, '_> {
    /// A number of some size.
    fn number(&mut self, depth: u32) -> String {
        let c = self.c;
        if depth == 0 || self.choices.chance(30) {
            return match self.choices.weighted(&[50, 20, 20, 10]) {
                0 => "x[k]".into(),
                1 => "w[k]".into(),
                2 => format!("({c})k"),
                _ => "a".into(),
            };
        }
        let x = self.number(depth - 1);
        match self.choices.weighted(&[20, 15, 15, 10, 10, 10, 10, 10]) {
            0 => format!("({x} * a + b)"),
            1 => format!("({x} - {})", self.number(depth - 1)),
            2 => format!("({x} * {})", self.number(depth - 1)),
            3 => format!("({x} / {})", self.choices.pick(&["a", "3", "b", "w[k]"])),
            4 => format!("({c})fabs({x})"),
            5 => format!("({c}){}({x})", self.choices.pick(&["floor", "ceil", "rint", "sqrt", "trunc"])),
            6 => format!("({x} < b ? b : {x})"),
            _ => format!("({c})fmin({x}, {})", self.number(depth - 1)),
        }
    }

    fn statement(&mut self) -> String {
        let c = self.c;
        let int = self.choices.pick(&["int", "long", "unsigned", "short"]);
        let use_it = match self.choices.weighted(&[40, 20, 20, 20]) {
            0 => "y[k] = t[at] + w[k];",
            1 => {
                self.features.insert("rounded histograms");
                "h[at]++;"
            }
            2 => {
                self.features.insert("numbers that move");
                "x[k] += t[at];"
            }
            _ => "y[k] += t[at] - t[(at + 1) % m];",
        };
        if !self.tame {
            // Between 0 and 60, whatever is asked.
            let s =
                self.choices.pick(&["x[k]", "x[k] * (BIG)0.75 + 1", "x[k] / 2 + w[k] / 2", "floor(w[k])"]);
            let use_it = if use_it.starts_with("x[k]") { "y[k] = t[at];" } else { use_it };
            return format!("{c} s = {}; {int} at = ({int})s; {use_it}", s.replace("BIG", c));
        }
        let s = self.number(3);
        match self.choices.weighted(&[40, 20, 20, 20]) {
            0 => format!("{c} s = {s}; if (s >= 0 && s < m) {{ {int} at = ({int})s; {use_it} }}"),
            1 => format!("{c} s = {s}; if (!(s > 0) || s >= 50) continue; {int} at = ({int})s; {use_it}"),
            2 => {
                self.features.insert("clamped numbers");
                format!("{int} at = ({int})fmin(fmax({s}, 0), 59); {use_it}")
            }
            _ => {
                self.features.insert("clamped numbers");
                format!("{c} s = {s}; s = s > 0 ? s : 0; s = s < 59 ? s : 59; {int} at = ({int})s; {use_it}")
            }
        }
    }

    fn driver(&mut self, elem: super::text::Elem) -> String {
        let mut driver = String::new();
        for (n, name) in ["y", "x", "w", "t"].into_iter().enumerate() {
            driver += &array(name, n, elem, LONG);
        }
        let _ = writeln!(
            driver,
            "  int *h = calloc(100, sizeof *h);\n  adopt(4, h, 100 * sizeof *h, 0, 0);\n  \
             for (int i = 0; i < {LONG}; i++) x[i] = i * 37 % 600 / ({0})10, w[i] = i * 11 % 59, t[i] = i % 7 / ({0})4;",
            elem.c
        );
        for _ in 0..2 + self.choices.below(3) {
            if self.tame {
                let spoil = match self.choices.weighted(&[40, 20, 20, 20]) {
                    1 => {
                        self.features.insert("spoiled numbers");
                        "x[7] = NAN; w[30] = -NAN;"
                    }
                    2 => {
                        self.features.insert("spoiled numbers");
                        "x[3] = INFINITY; w[5] = -INFINITY; w[9] = 0;"
                    }
                    3 => {
                        self.features.insert("spoiled numbers");
                        "x[11] = 3e9; w[12] = -1e30; x[13] = -0.0;"
                    }
                    _ => "x[20] = -5; w[2] = 0.5;",
                };
                let _ = writeln!(driver, "  {spoil}");
            }
            let n = match self.choices.weighted(&[60, 25, 15]) {
                0 => self.choices.range(60, 140),
                1 => self.choices.range(1, 40),
                _ => 0,
            };
            let m = self.choices.range(60, 64);
            let (a, b) =
                (self.choices.pick(&["0.5", "1.25", "-2", "0"]), self.choices.pick(&["3", "-0.5", "0"]));
            // Tables and what is written may meet where numbers are tested before.
            let meet = if self.tame { self.choices.weighted(&[55, 15, 10, 10, 10]) } else { 0 };
            if meet > 0 {
                self.features.insert("arrays that meet");
            }
            let [y, x] =
                [["y", "x"], ["x", "x"], ["x + 1", "x"], ["t + 200", "t + 199"], ["t + 155", "x"]][meet];
            let _ = writeln!(driver, "  @f({y}, {x}, w, t + {MIDDLE}, h, {n}, {a}, {b}, {m});");
        }
        driver
    }
}
