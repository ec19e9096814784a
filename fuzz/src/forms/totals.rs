//! Running totals, in variables, in memory and from element to element, and what is stored where they say:
//! elements that are chosen and stored one behind the other, under conditions on data, on counters and on the
//! total itself; in place, in arrays that overlap, in lists of rows; first places of a value.

use super::choices::Choices;
use super::text::{ELEMS, Elem, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements that a loop goes through at most. No index is larger than five times that: two loops store two
/// elements an iteration, and counts begin below that.
const LONG: i64 = 200;
/// Rows of lists at most, of so many elements.
const ROWS: i64 = 12;

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    elem: Elem,
    count: &'static str,
    /// Arrays are apart.
    restrict: bool,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = choices.pick(&ELEMS);
    let count = ["int", "long", "unsigned", "size_t"][choices.weighted(&[50, 20, 20, 10])];
    let restrict = choices.chance(50);
    let mut form = Form { choices, features: BTreeSet::new(), elem, count, restrict };
    let mut body = String::new();
    for _ in 0..1 + form.choices.weighted(&[75, 25]) {
        match form.choices.weighted(&[45, 22, 13, 10, 10]) {
            0 => form.chosen(&mut body),
            1 => form.total(&mut body),
            2 => form.rows(&mut body),
            3 => form.first(&mut body),
            _ => form.counted(&mut body),
        }
    }
    let c = elem.c;
    let restrict = if restrict { "restrict " } else { "" };
    let inline = if form.choices.chance(20) { "" } else { "__attribute__((noinline)) " };
    let functions = format!(
        "{inline}static {count} @f(const {c} *{restrict}x, const int *{restrict}p, {c} *{restrict}y, int *{restrict}z, {count} *{restrict}s, {count} *{restrict}q, int n, int m, {count} k) {{\n{body}  return k;\n}}\n"
    );
    let driver = form.driver();
    Text { functions, driver, features: form.features }
}

impl Form<'_, '_> {
    /// A condition on the element `i`.
    fn condition(&mut self) -> &'static str {
        match self.choices.weighted(&[30, 15, 15, 10, 10, 10, 10]) {
            0 => "x[i] > 3",
            1 => "p[i] % 3 == 0",
            2 => "x[i] > 2 && p[i] & 1",
            3 => "i % 4 != 1 && x[i] < 9",
            4 => "p[i] & 2 || x[i] == 1",
            5 => "p[i] < m",
            _ => "p[i] & 1 && x[p[i] % (n + 1)] > 2",
        }
    }

    fn chosen(&mut self, out: &mut String) {
        let condition = self.condition();
        let (value, place) =
            (["x[i]", "x[i] + x[2 * i]", "x[n - 1 - i]"][self.choices.weighted(&[60, 20, 20])], "p[i]");
        let (at, features) = match self.choices.weighted(&[55, 20, 25]) {
            0 => ("k", "counts in variables"),
            1 => ("(*s)", "counts in memory"),
            _ => ("l", "counts from 0"),
        };
        self.features.insert(features);
        let _ = write!(
            out,
            "{}",
            if at == "l" { format!("  {{ {} l = 0;\n", self.count) } else { "  {\n".into() }
        );
        let loops = ["for (int i = 0; i < n; i++)", "for (int i = n - 1; i >= 0; i--)"]
            [self.choices.weighted(&[80, 20])];
        let then = match self.choices.weighted(&[40, 15, 10, 10, 10, 8, 7]) {
            0 => format!("y[{at}++] = {value};"),
            1 => format!("{{ y[{at}] = {value}; z[{at}] = i; {at}++; }}"),
            2 => format!("z[{at}++] = {place};"),
            3 => format!("{{ y[{at} + 1] = {value}; {at} += 2; }}"),
            4 => {
                self.features.insert("two elements at once");
                format!("{{ z[{at}++] = i; z[{at}++] = {place}; }}")
            }
            5 => {
                self.features.insert("conditions on the count");
                format!("if ({at} < 40) y[{at}++] = {value};")
            }
            _ => {
                self.features.insert("counts that fall");
                format!("y[{at}++] = {value}; else if ({at} > 3) {at}--;")
            }
        };
        let _ = writeln!(
            out,
            "    {loops}\n      if ({condition}) {then}\n    *s += {};\n  }}",
            if at == "l" { "l" } else { "k" }
        );
        self.features.insert("chosen elements");
    }

    fn total(&mut self, out: &mut String) {
        let c = self.elem.c;
        // (Sums of floating-point numbers keep their order: whatever is stored is the same.)
        let update = match self.choices.weighted(&[40, 15, 15, 15, 15]) {
            0 => "t += x[i];",
            1 => "t = x[i] < t ? x[i] : t;",
            2 => "t += x[i] > 4 ? x[i] : 1;",
            3 => "t = t / 2 + x[i];",
            _ => "t += x[i] - t / 4;",
        };
        let _ = match self.choices.weighted(&[35, 15, 20, 15, 15]) {
            0 => writeln!(out, "  {{ {c} t = 1; for (int i = 0; i < n; i++) {{ {update} y[i] = t; }} }}"),
            1 => writeln!(out, "  {{ {c} t = 0; for (int i = 0; i < n; i++) {{ y[i] = t; {update} }} }}"),
            2 => {
                self.features.insert("totals from element to element");
                writeln!(out, "  for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i];")
            }
            3 => {
                self.features.insert("totals in memory");
                writeln!(out, "  for (int i = 0; i < n; i++) {{ *q += p[i]; z[i] = (int)(*q & 1023); }}")
            }
            _ => {
                self.features.insert("totals in place");
                writeln!(
                    out,
                    "  for (int i = 1; i < n; i++) z[i] = (int)((unsigned)z[i] + (unsigned)z[i - 1] * {}u);",
                    self.choices.range(1, 3)
                )
            }
        };
        self.features.insert("totals");
    }

    fn rows(&mut self, out: &mut String) {
        let condition = ["x[j] > x[i]", "j != i && x[j] > 3", "p[j] < x[i]"][self.choices.below(3)];
        let (room, guard) = match self.choices.weighted(&[60, 40]) {
            0 => ("n", ""),
            _ => ("9", " && c < 9"),
        };
        let count = self.count;
        let _ = writeln!(
            out,
            "  n = n < {ROWS} ? n : {ROWS};\n  for (int i = 0; i < n; i++) {{ {count} c = 0; for (int j = 0; j < n; j++) if ({condition}{guard}) z[i * {room} + c++] = j; y[i] = c; }}"
        );
        self.features.insert("lists of rows");
    }

    fn first(&mut self, out: &mut String) {
        let condition = self.condition();
        let _ = writeln!(
            out,
            "  for (int i = 0; i < n; i++)\n    if ({condition}) {{ k += {}; break; }}",
            ["i", "1", "p[i]"][self.choices.below(3)]
        );
        self.features.insert("first places");
    }

    /// A loop over time around a count and a loop that it bounds, or in which it is a place.
    fn counted(&mut self, out: &mut String) {
        self.features.insert("counts that others use");
        let (condition, count) = (self.condition(), self.count);
        let step = ["c++", "c += 2", "c--"][self.choices.weighted(&[60, 15, 25])];
        let then = match self.choices.weighted(&[30, 20, 30, 20]) {
            0 => format!("for ({count} i = 0; i < c && i < 150; i++) y[i] = x[i] + s;"),
            1 => "for (int i = (int)c < 0 ? 0 : (int)c; i < n; i++) y[i] = x[i] - s;".to_owned(),
            2 => format!(
                "const {count} h = c < 0 ? 0 : c >= n ? n - 1 : c; for (int i = 0; i < n; i++) y[i] = x[i] + x[h];"
            ),
            _ => {
                self.features.insert("remainders as places");
                "const int h = (int)((unsigned)c % (unsigned)n); for (int i = 0; i + h < n; i++) y[i] = x[i + h] + y[h];"
                    .to_owned()
            }
        };
        let _ = writeln!(
            out,
            "  {{ {count} d = 0;\n  for (int s = 0; s < 3; s++) {{ {count} c = 0; for (int i = 0; i < n; i++) if ({condition}) {step};\n    if (n > 0) {{ {then} }}\n    d += c; }}\n  *q += d; }}"
        );
    }

    fn driver(&mut self) -> String {
        let count = self.count;
        let int = Elem { c: "int", bytes: 4, types: "4:" };
        let long = 5 * LONG + 64;
        let mut out =
            array("x", 0, self.elem, long) + &array("y", 1, self.elem, long) + &array("z", 2, int, long);
        let _ = writeln!(
            out,
            "  int *p = malloc({long} * sizeof *p);\n  for (int h = 0; h < {long}; h++) p[h] = h * 37 % 101;\n  {count} s = 2, q = 0, k = 0;"
        );
        for _ in 0..2 + self.choices.below(3) {
            let n = match self.choices.weighted(&[40, 30, 30]) {
                0 => self.choices.range(60, LONG),
                1 => self.choices.range(0, 40),
                _ => self.choices.range(0, 3),
            };
            let x = match self.choices.weighted(&[70, 15, 15]) {
                _ if self.restrict => "x",
                0 => "x",
                1 => {
                    self.features.insert("arrays that are one");
                    "y"
                }
                _ => {
                    self.features.insert("arrays that overlap");
                    "y + 7"
                }
            };
            let from = self.choices.range(0, 20);
            let _ = writeln!(
                out,
                "  s = {};\n  k = @f({x}, p, y, z, &s, &q, {n}, 50, {from});\n  note((double)k);\n  note((double)s);\n  note((double)q);",
                self.choices.range(0, 5)
            );
            if self.choices.chance(30) {
                let at = self.choices.range(0, LONG);
                let _ = writeln!(out, "  x[{at}] = 5; p[{at}] = 2; note(y[{at}]);");
            }
        }
        out.push_str("  free(p);\n");
        out
    }
}
