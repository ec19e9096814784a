//! Subscripts and bounds that are loaded: products with sparse matrices, gathers of gathers, scatters,
//! histograms; arrays of indices that the host changes between executions, frees and allocates anew, with
//! repeats, rows that are empty, out of order, or hold values that nobody uses.

use super::choices::Choices;
use super::text::{ELEMS, Elem, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Pointers are to the middle of arrays of twice so many elements.
const MIDDLE: i64 = 400;
const INDICES: [&str; 5] = ["int32_t", "int64_t", "uint32_t", "int16_t", "uint8_t"];

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    elem: Elem,
    /// Indices may be negative.
    signed: bool,
    wild: Wild,
    /// The first list is bytes of the sums.
    inside: bool,
}

/// Which indices are values that lead nowhere: nobody uses them.
#[derive(Clone, Copy, PartialEq)]
enum Wild {
    None,
    Entries,
    Rows,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = choices.pick(&ELEMS);
    let index = INDICES[choices.weighted(&[55, 15, 10, 10, 10])];
    let bound = ["int32_t", "int64_t", "uint32_t", "size_t"][choices.weighted(&[60, 20, 10, 10])];
    let counter = ["int", "long", "size_t"][choices.weighted(&[60, 25, 15])];
    let signed = index.starts_with("int");
    let wild = [Wild::None, Wild::Entries, Wild::Rows][choices.weighted(&[84, 8, 8])];
    let mut form = Form { choices, features: BTreeSet::new(), elem, signed, wild, inside: false };
    let alone = form.choices.chance(40);
    form.inside = index == "uint8_t" && !alone && wild == Wild::None && form.choices.chance(40);
    let mut body = String::new();
    for _ in 0..1 + form.choices.weighted(&[70, 25, 5]) {
        form.nest(&mut body, counter, bound);
    }
    let c = elem.c;
    let restrict = if alone { "restrict " } else { "" };
    let inline = if form.choices.chance(25) { "" } else { "__attribute__((noinline)) " };
    let functions = format!(
        "{inline}static void @f({c} *{restrict}y, const {c} *{restrict}x, const {c} *{restrict}v, const {index} *{restrict}p, \
         const {index} *{restrict}q, const {bound} *{restrict}r, const uint8_t *{restrict}used, {counter} n) {{\n{body}}}\n"
    );
    let driver = form.driver(index, bound, alone);
    Text { functions, driver, features: form.features }
}

impl Form<'_, '_> {
    /// An index by the counter `k`.
    fn through(&mut self, k: &str) -> String {
        match self.choices.weighted(&[50, 15, 10, 10, 15]) {
            0 => format!("p[{k}]"),
            1 => format!("q[{k}]"),
            2 => format!("p[{k}] + 1"),
            3 => format!("2 * q[{k}]"),
            _ if self.wild != Wild::None => format!("p[{k}]"),
            _ => {
                self.features.insert("gathers of gathers");
                format!("p[(uint8_t)q[{k}] % 64]")
            }
        }
    }

    fn term(&mut self, k: &str) -> String {
        let at = self.through(k);
        match self.choices.weighted(&[50, 20, 15, 15]) {
            0 => format!("v[{k}] + x[{at}]"),
            1 => format!("x[{at}]"),
            2 => format!("v[{k}] - x[{at}]"),
            _ => {
                let other = self.through(k);
                format!("x[{at}] - x[{other}]")
            }
        }
    }

    /// Loops over all entries.
    fn flat(&mut self, out: &mut String, counter: &str) {
        let (term, at) = (self.term("k"), self.through("k"));
        let target = if self.choices.chance(25) { self.through("k") } else { "k".to_owned() };
        let kind = self.choices.weighted(&[12, 12, 12, 10, 8, 8, 20, 18]);
        let statement = match if self.wild == Wild::Entries { 3 + 3 * usize::from(kind > 3) } else { kind } {
            6 => self.update(&term, &at),
            7 => self.store(&term, &at),
            0 => format!("y[k] = {term};"),
            1 => {
                self.features.insert("scatters");
                format!("y[{at}] = {term};")
            }
            2 => {
                self.features.insert("histograms");
                format!("y[{at}] += {term};")
            }
            3 => {
                self.features.insert("entries that are not used");
                format!("if (used[k]) y[{target}] = {term};")
            }
            4 => {
                self.features.insert("sums by two lists");
                format!("{} s = {term}; y[p[k]] += s; y[q[k]] -= s;", self.elem.c)
            }
            _ => format!("y[{target}] += x[{at}] > 3 ? v[k] : x[{at}];"),
        };
        let _ = writeln!(out, "  for ({counter} k = 0; k < n; k++) {{\n    {statement}\n  }}");
    }

    /// A new value of an element, or of several, from the old one.
    fn update(&mut self, term: &str, at: &str) -> String {
        self.features.insert("updates by places");
        if self.wild == Wild::Entries {
            return format!("if (used[k]) y[{at}] += {term};");
        }
        let (name, statement) = match self.choices.weighted(&[25, 20, 20, 20, 15]) {
            0 if !self.inside => ("components", format!("y[2 * p[k]] += {term}; y[2 * p[k] + 1] -= v[k];")),
            1 => ("maxima by places", format!("if (y[{at}] < v[k]) y[{at}] = v[k];")),
            2 => ("sums under conditions", format!("if (v[k] > 2) y[{at}] += {term};")),
            3 if !self.inside => {
                let (c, sums) = (self.elem.c, "y[2 * p[k]] += s; y[2 * p[k] + 1] -= s;");
                let sums = format!("{sums} {}", sums.replace("p[k]", "q[k]"));
                ("components of two lists", format!("{c} s = {term}; {sums}"))
            }
            _ => ("updates that are no sums", format!("y[{at}] = {term} - y[{at}];")),
        };
        self.features.insert(name);
        statement
    }

    /// Stores to elements, with repeats: the last one stays.
    fn store(&mut self, term: &str, at: &str) -> String {
        self.features.insert("stores by places");
        let kind = if self.inside { 0 } else { self.choices.weighted(&[20, 20, 15, 20, 15, 10]) };
        let (name, statement) = match kind {
            0 => ("stores under conditions", format!("if (v[k] > 2) y[{at}] = {term};")),
            1 => ("stores of components", format!("y[2 * p[k]] = {term}; y[2 * p[k] + 1] = v[k];")),
            2 => ("stores by two lists", format!("y[p[k]] = {term}; y[q[k]] = v[k];")),
            3 => ("stores beside sums", format!("y[2 * p[k]] = {term}; y[2 * q[k] + 1] += v[k];")),
            4 => ("stores twice", format!("y[p[k]] = v[k]; if (v[k] < 3) y[p[k]] = {term};")),
            _ => (
                "one of two stores",
                format!("if (v[k] > 2) y[2 * p[k]] = {term}; else y[2 * p[k] + 1] = v[k];"),
            ),
        };
        self.features.insert(name);
        statement
    }

    /// Sums, least values and counts behind conditions that guard what is loaded.
    fn masked(&mut self, out: &mut String, counter: &str) {
        self.features.insert("masked updates");
        let c = self.elem.c;
        let condition = match self.choices.weighted(&[50, 25, 25]) {
            0 => "used[k]",
            1 => "used[k] && v[k] > 2",
            _ => "used[k] != 0 && k % 3 != 1",
        };
        let loaded = ["x[p[k]]", "x[p[k]] - v[k]", "x[p[k]] + x[q[k]]"][self.choices.below(3)];
        let update = match self.choices.weighted(&[30, 25, 25, 20]) {
            0 => format!("s += {loaded};"),
            1 => format!("if ({loaded} < s) s = {loaded};"),
            2 => format!("if (s < {loaded}) {{ s = {loaded}; m = (int)k; }}"),
            _ => format!("{{ s -= {loaded}; m++; }}"),
        };
        let _ = writeln!(
            out,
            "  {{\n    {c} s = x[1];\n    int m = 0;\n    for ({counter} k = 0; k < n; k++)\n      if ({condition}) {update}\n    \
             y[0] = s;\n    y[1] = ({c})m;\n  }}"
        );
    }

    /// Loops over rows of entries.
    fn rows(&mut self, out: &mut String, counter: &str, bound: &str) {
        self.features.insert("bounds that are loaded");
        let c = self.elem.c;
        let term = self.term("k");
        let guard = if self.choices.chance(25) || self.wild == Wild::Rows {
            self.features.insert("rows that are not used");
            "if (used[i]) "
        } else {
            ""
        };
        let kind = self.choices.weighted(&[70, 15, 15]);
        let head = match if self.wild == Wild::Rows { 0 } else { kind } {
            0 => format!("for ({bound} k = r[i]; k < r[i + 1]; k++)"),
            1 => format!("for ({bound} k = 0; k < r[i] % 8; k++)"),
            _ => format!("for ({bound} k = r[i + 1]; k-- > r[i];)"),
        };
        let at = if self.wild == Wild::Rows { "i".to_owned() } else { self.through("i") };
        let other = self.through("k");
        let _ = writeln!(out, "  for ({counter} i = 0; i < n / 4; i++) {guard}{{");
        let _ = match self.choices.weighted(&[35, 13, 13, 13, 13, 13]) {
            0 => writeln!(out, "    {c} s = 0;\n    {head} s += {term};\n    y[i] = s;"),
            1 => writeln!(out, "    {c} s = y[i];\n    {head} s -= {term};\n    y[{at}] = s;"),
            2 => writeln!(out, "    {head} y[i] += {term};"),
            3 => writeln!(out, "    {head} y[{other}] += v[k] - x[i];"),
            4 => {
                self.features.insert("columns in rows between loaded bounds");
                let body = format!("y[4 * i + c] += v[k] - x[{other} + c];");
                writeln!(out, "    {head} for (int c = 0; c < 4; c++) {body}")
            }
            _ => writeln!(
                out,
                "    {c} s = x[i];\n    {head} if (v[k] < s) s = v[k]; else if (s == v[k]) break;\n    y[i] = s;"
            ),
        };
        let _ = writeln!(out, "  }}");
    }

    fn nest(&mut self, out: &mut String, counter: &str, bound: &str) {
        let rows = self.choices.chance(50);
        if self.wild != Wild::Rows && !self.inside && self.choices.chance(15) {
            self.masked(out, counter)
        } else if self.wild == Wild::Rows || (rows && self.wild == Wild::None) {
            self.rows(out, counter, bound)
        } else {
            self.flat(out, counter)
        }
    }

    /// Statements that fill an array of indices.
    fn indices(&mut self, name: &str, index: &str, count: i64) -> String {
        let value = match self.choices.weighted(&[25, 25, 15, 10, 10, 15]) {
            0 => "h".to_owned(),
            1 => {
                self.features.insert("repeats");
                format!("h * 7 % {}", self.choices.range(1, 60))
            }
            2 => "(h * 37 + 11) % 128".to_owned(),
            3 if self.signed => {
                self.features.insert("negative indices");
                "h % 64 - 60".to_owned()
            }
            4 => "127 - h".to_owned(),
            _ => "h ^ 5".to_owned(),
        };
        format!("  for (int h = 0; h < {count}; h++) {name}[h] = ({index})({value});\n")
    }

    fn bounds(&mut self, count: i64) -> String {
        let kind = self.choices.weighted(&[35, 25, 15, 25]);
        let value = match if self.wild == Wild::Rows { 0 } else { kind } {
            0 => "h * 4".to_owned(),
            1 => {
                self.features.insert("rows of any length");
                "h * 4 - h % 3 * (h % 5) % 4".to_owned()
            }
            2 => {
                self.features.insert("empty rows");
                format!("h / {} * 8", self.choices.range(2, 9))
            }
            _ => {
                self.features.insert("rows out of order");
                "h * 29 % 100".to_owned()
            }
        };
        format!("  for (int h = 0; h < {count}; h++) r[h] = {value};\n")
    }

    /// Something that happens between executions.
    fn event(&mut self, index: &str) -> String {
        let kind = self.choices.weighted(&[20, 20, 15, 15, 10, 10, 10]);
        match if self.wild == Wild::None { kind } else { [0, 1, 2, 0, 4, 0, 6][kind] } {
            0 => String::new(),
            1 => {
                self.features.insert("indices that the host changes");
                format!("  p[{}] = {};\n", self.choices.below(60), self.choices.below(100))
            }
            2 => {
                self.features.insert("indices that are copied");
                format!("  memcpy(p, q, {} * sizeof *p);\n", self.choices.range(1, 128))
            }
            3 => {
                self.features.insert("free and malloc");
                let again = self.indices("p", index, 128);
                let adopt = |number, name| format!("  adopt({number}, {name}, 128 * sizeof *p, 0, 0);\n");
                let both = adopt(3, "p") + &adopt(4, "q");
                format!("  free(p);\n  p = malloc(128 * sizeof *p);\n{again}{both}")
            }
            4 => {
                self.features.insert("pointers that change places");
                format!("  {{ {index} *t = p; p = q; q = t; }}\n")
            }
            5 => self.bounds(34),
            _ => format!("  x[{}] = 5; used[{}] = 0;\n", MIDDLE + 7, self.choices.below(40)),
        }
    }

    fn driver(&mut self, index: &str, bound: &str, alone: bool) -> String {
        let mut out = String::new();
        for (number, name) in ["y", "x", "v"].into_iter().enumerate() {
            out.push_str(&array(name, number, self.elem, 2 * MIDDLE));
        }
        for (number, (name, ty, count)) in
            [("p", index, 128), ("q", index, 128), ("r", bound, 34), ("used", "uint8_t", 128)]
                .into_iter()
                .enumerate()
        {
            let _ = writeln!(
                out,
                "  {ty} *{name} = malloc({count} * sizeof *{name});\n  adopt({}, {name}, {count} * sizeof *{name}, 0, 0);",
                number + 3
            );
        }
        let (p, q, r) = (self.indices("p", index, 128), self.indices("q", index, 128), self.bounds(34));
        let _ = write!(out, "{p}{q}{r}");
        let used = ["1", "h % 3 != 0", "h < 20"][self.choices.below(3)];
        let _ = writeln!(out, "  for (int h = 0; h < 128; h++) used[h] = {used};");
        if self.wild != Wild::None {
            self.features.insert("values out of range");
            let guard = if self.wild == Wild::Rows { "h / 4" } else { "h" };
            let value = match index {
                "int16_t" => "-30000",
                "uint8_t" => "250",
                "int64_t" => "(h % 2 ? 1ll << 60 : -(1ll << 62))",
                _ => "2000000000",
            };
            let _ =
                writeln!(out, "  for (int h = 0; h < 128; h++) if (!used[{guard}]) p[h] = q[h] = {value};");
        }
        for _ in 0..2 + self.choices.below(4) {
            let n = match self.choices.weighted(&[60, 30, 10]) {
                0 => 128,
                1 => self.choices.range(0, 128),
                _ => self.choices.range(0, 5),
            };
            let x = if self.choices.chance(15) && !alone {
                self.features.insert("arrays that are one");
                "y"
            } else {
                "x"
            };
            let list = if self.inside {
                self.features.insert("lists among the sums");
                format!("({index} *)(y + {MIDDLE}) + {}", self.choices.below(300))
            } else {
                "p".to_owned()
            };
            let call = format!("@f(y + {MIDDLE}, {x} + {MIDDLE}, v + {MIDDLE}, {list}, q, r, used, {n});");
            if self.choices.chance(25) {
                let event = self.event(index);
                let _ = writeln!(out, "  for (int t = 0; t < 3; t++) {{\n  {call}\n{event}  }}");
            } else {
                let event = self.event(index);
                let _ = write!(out, "  {call}\n{event}");
            }
        }
        out
    }
}
