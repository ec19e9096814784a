//! Lengths that are computed: rows in parts of a rounded quotient of their length, as parts and as rows;
//! numbers of a generator as lengths, first places and rows; rows of any lengths; local arrays that each
//! iteration fills, with what the last one leaves; and loops whose independence the program promises.

use super::choices::Choices;
use super::text::{ELEMS, Elem, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements of each array. Rows and lengths are at most [`LONGEST`], and so are their numbers.
const ROOM: i64 = 6000;
const LONGEST: i64 = 48;
const TYPES: [&str; 4] = ["int", "long", "unsigned", "unsigned long"];

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    elem: Elem,
    length: &'static str,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = choices.pick(&ELEMS);
    let length = TYPES[choices.weighted(&[45, 25, 20, 10])];
    let mut form = Form { choices, features: BTreeSet::new(), elem, length };
    let mut body = String::new();
    for _ in 0..1 + form.choices.weighted(&[70, 30]) {
        body.push_str("  {\n");
        match form.choices.weighted(&[35, 30, 15, 10, 10]) {
            0 => form.parts(&mut body),
            1 => form.random(&mut body),
            2 => form.ragged(&mut body),
            3 => form.local(&mut body),
            _ => form.promised(&mut body),
        }
        body.push_str("  }\n");
    }
    let restrict = if form.choices.chance(60) { "restrict " } else { "" };
    let inline = if form.choices.chance(20) { "" } else { "__attribute__((noinline)) " };
    let (c, generator) = (elem.c, form.generator());
    let functions = format!(
        "{generator}{inline}static void @f({c} *{restrict}x, {c} *{restrict}y, {c} *{restrict}z, const int *{restrict}p, \
         const int *{restrict}q, const int *{restrict}len, {length} n, {length} m) {{\n{body}}}\n"
    );
    let driver = form.driver();
    Text { functions, driver, features: form.features }
}

impl Form<'_, '_> {
    fn is_signed(&self) -> bool {
        !self.length.starts_with("unsigned")
    }

    /// A statement on element `at` of `x` and another one.
    fn update(&mut self, at: &str, other: &str) -> String {
        match self.choices.weighted(&[40, 30, 30]) {
            0 => format!("x[{at}] = y[{other}] + z[i];"),
            1 => format!("x[{at}] += y[{other}];"),
            _ => format!("x[{at}] = x[{at}] * 2 - z[{other}];"),
        }
    }

    fn parts(&mut self, out: &mut String) {
        let (t, count) = (self.length, self.choices.range(2, 9));
        self.features.insert(if count > 8 { "many parts" } else { "parts of rows" });
        let part = match self.choices.weighted(&[50, 25, 25]) {
            1 if self.is_signed() => format!("(m < 0 ? 0 : m) / {count}"),
            // Parts that reach over the end of a row: the program's order is seen.
            2 if self.choices.chance(30) => format!("(m + {}) / {count}", count - 1),
            _ => format!("m / {count}"),
        };
        let rows = self.choices.chance(70);
        let (row, head, pad) = match rows {
            true => ("r * m + ", format!("    for ({t} r = 0; r < n; r++) {{\n"), "      "),
            false => ("", String::new(), "    "),
        };
        let _ = write!(out, "    const {t} part = {part};\n{head}");
        let order = match self.choices.chance(25) && self.is_signed() {
            true => format!("for ({t} b = {}; b >= 0; b--)", count - 1),
            false => format!("for ({t} b = 0; b < {count}; b++)"),
        };
        let own = format!("{row}b * part + i");
        let other = self.choices.pick(&[own.as_str(), "b * part + i", "i"]).to_owned();
        let update = self.update(&own, &other);
        if self.choices.chance(30) {
            self.features.insert("sums of parts");
            let c = self.elem.c;
            let _ = writeln!(
                out,
                "{pad}{order} {{\n{pad}  {c} s = 0;\n{pad}  for ({t} i = 0; i < part; i++) s += y[{own}];\n\
                 {pad}  for ({t} i = 0; i < part; i++) x[{own}] += s;\n{pad}}}"
            );
        } else {
            let _ = writeln!(out, "{pad}{order}\n{pad}  for ({t} i = 0; i < part; i++) {update}");
        }
        let _ = match self.choices.weighted(&[20, 30, 25, 25]) {
            0 => Ok(()),
            1 => writeln!(out, "{pad}for ({t} i = 0; i < m; i++) y[{row}i] = x[{row}i] + 1;"),
            2 => writeln!(out, "{pad}for ({t} i = 0; i < m; i++) y[{row}i] += x[{row}m - 1 - i];"),
            _ => writeln!(out, "{pad}for ({t} i = {count} * part; i < m; i++) x[{row}i] = 5;"),
        };
        if rows {
            out.push_str("    }\n");
        }
    }

    /// A number of the generator that is less than [`LONGEST`].
    fn number(&mut self) -> String {
        let t = TYPES[self.choices.below(4)];
        let by = match self.choices.weighted(&[35, 20, 20, 15, 10]) {
            0 => format!("({t})(@next() % {})", self.choices.range(1, LONGEST)),
            1 => format!("({t})(@next() % ({})(m < 1 ? 1 : m))", TYPES[2 + self.choices.below(2)]),
            2 => "(m + 1 > 0 ? (long)(@next() % (m + 1)) : 0)".to_owned(),
            3 => format!("({t})(@next() >> {} & 31)", self.choices.range(0, 20)),
            _ => {
                self.features.insert("remainders made positive");
                "((int)@next() % 5 + 5) % 5".to_owned()
            }
        };
        if self.choices.chance(15) { format!("{by} / 2 + 1") } else { by }
    }

    fn random(&mut self, out: &mut String) {
        self.features.insert("random lengths");
        let types = [0, 1, 2].map(|_| TYPES[self.choices.weighted(&[50, 25, 15, 10])]);
        for (name, t) in ["a", "b", "c"].into_iter().zip(types) {
            let number = self.number();
            let _ = writeln!(out, "    const {t} {name} = {number};");
        }
        let [t, u, _] = types;
        let _ = match self.choices.weighted(&[35, 25, 20, 20]) {
            0 => writeln!(
                out,
                "    for ({t} i = 0; i < a; i++)\n      for ({u} j = 0; j < b; j++) x[i * b + j] += y[j + c];"
            ),
            1 => writeln!(out, "    for (long i = a; i < a + 300; i++) x[i] = y[i - a] + z[b];"),
            2 => writeln!(
                out,
                "    for (int i = 0; i < 40; i++)\n      for ({u} j = 0; j < b + 3; j++) x[a + i * (b + 3) + j] = y[i] + z[j];"
            ),
            _ => writeln!(
                out,
                "    for ({t} i = 0; i < a * 4; i++) {{ x[i + b] += y[i]; z[2 * i + c] = y[i]; }}"
            ),
        };
    }

    fn ragged(&mut self, out: &mut String) {
        self.features.insert("ragged rows");
        let (t, c) = (self.length, self.elem.c);
        let head = format!("    for ({t} i = 0; i < n; i++)");
        let _ = match self.choices.weighted(&[40, 30, 30]) {
            0 => {
                writeln!(out, "{head}\n      for (int j = 0; j < len[i]; j++) x[i * {LONGEST} + j] += y[j];")
            }
            1 => writeln!(
                out,
                "{head} {{\n      {c} s = 0;\n      for (int j = 0; j < len[i]; j++) s += x[p[i] + j] + y[j];\n      z[i] = s;\n    }}"
            ),
            _ => writeln!(
                out,
                "{head}\n      for (int j = len[i] - 1; j >= 0; j--) x[i * {LONGEST} + j] = y[i * {LONGEST} + len[i] - 1 - j];"
            ),
        };
    }

    fn local(&mut self, out: &mut String) {
        self.features.insert("local arrays");
        let (t, c, count) = (self.length, self.elem.c, self.choices.range(2, 8));
        let fill = match self.choices.weighted(&[60, 40]) {
            0 => format!("for (int k = 0; k < {count}; k++) t[k] = x[i * {count} + k] + z[k];"),
            // The last one is as it was before.
            _ => format!("for (int k = 0; k < {}; k++) t[k] = x[i * {count} + k];", count - 1),
        };
        let _ = writeln!(
            out,
            "    {c} t[{count}] = {{1, 2}};\n    for ({t} i = 0; i < n; i++) {{\n      {fill}\n      \
             for (int k = 0; k < {count}; k++) y[i * {count} + k] = t[{} - k];\n    }}",
            count - 1
        );
        if self.choices.chance(60) {
            self.features.insert("last values of local arrays");
            let _ = writeln!(out, "    for (int k = 0; k < {count}; k++) z[k] = t[k];");
        }
    }

    /// No two of `p` and `q` are equal.
    fn promised(&mut self, out: &mut String) {
        self.features.insert("promises");
        let statement = match self.choices.weighted(&[40, 30, 30]) {
            0 => "x[p[k]] += y[k]; x[q[k]] -= y[k];",
            1 => "if (y[k] > 3) x[p[k]] = y[k]; x[q[k]] += x[p[k]];",
            _ => "x[p[k]] = x[q[k]] + z[k]; x[q[k]] = y[k];",
        };
        let t = self.length;
        let _ = writeln!(
            out,
            "    #pragma clang loop vectorize(assume_safety)\n    for ({t} k = 0; k < n; k++) {{ {statement} }}"
        );
    }

    fn generator(&mut self) -> String {
        let (state, steps) = match self.choices.weighted(&[35, 25, 25, 15]) {
            0 => ("uint32_t", "a ^= a << 13; a ^= a >> 17; a ^= a << 5;"),
            1 => ("uint64_t", "a ^= a << 13; a ^= a >> 7; a ^= a << 17;"),
            2 => ("uint64_t", "a = a * 6364136223846793005u + 1442695040888963407u;"),
            _ => ("uint32_t", "a = a * 1664525u + 1013904223u;"),
        };
        let result = TYPES[2 + self.choices.below(2)];
        format!(
            "static {state} @state = 88675123;\nstatic {result} @next(void) {{ {state} a = @state; {steps} return @state = a; }}\n"
        )
    }

    fn driver(&mut self) -> String {
        let mut out = String::new();
        for (number, name) in ["x", "y", "z"].into_iter().enumerate() {
            out.push_str(&array(name, number, self.elem, ROOM));
        }
        for (number, name) in ["p", "q", "len"].into_iter().enumerate() {
            let _ = writeln!(
                out,
                "  int *{name} = calloc({LONGEST}, sizeof *{name});\n  adopt({}, {name}, {LONGEST} * sizeof *{name}, 0, 0);",
                number + 3
            );
        }
        for _ in 0..2 + self.choices.below(3) {
            let turn = self.choices.range(0, 30);
            let most = self.choices.pick(&[LONGEST, 9, 1]);
            // 29 and 48 have no common divisor: the places are different ones.
            let _ = writeln!(
                out,
                "  for (int h = 0; h < {LONGEST}; h++) p[h] = 2 * ((h * 29 + {turn}) % {LONGEST}), q[h] = p[h] + 1, len[h] = (h * 7 + {turn}) % {most};"
            );
            let size = |choices: &mut Choices<'_>| match choices.weighted(&[60, 25, 15]) {
                0 => choices.range(10, LONGEST),
                1 => choices.range(0, 10),
                _ => choices.range(0, 1),
            };
            let (n, mut m) = (size(self.choices), size(self.choices));
            if self.is_signed() && self.choices.chance(8) {
                self.features.insert("negative lengths");
                m = -m;
            }
            let arguments =
                ["x, y, z", "x, x + 2500, z", "x, y, y + 3000"][self.choices.weighted(&[80, 10, 10])];
            let _ = writeln!(out, "  @f({arguments}, p, q, len, {n}, {m});");
        }
        out
    }
}
