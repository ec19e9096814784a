//! `k / w`, `k % w`, of chains and by products, of counters of all types that count up or down, from anywhere
//! and in steps; lengths in arguments, structures, globals and memory, that are 0 where nothing is divided,
//! negative, or do not divide the count.

use super::choices::Choices;
use super::text::{ELEMS, Elem, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Pointers are to the middle of arrays of twice so many elements.
const MIDDLE: i64 = 16000;
/// Types of counters and lengths.
const TYPES: [&str; 6] = ["int", "long", "unsigned", "unsigned long", "short", "unsigned short"];

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    elem: Elem,
    /// The texts of both lengths.
    lengths: [String; 2],
    /// Counters go below zero, so that results may have a sign.
    signed: bool,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = choices.pick(&ELEMS);
    let counter = TYPES[choices.weighted(&[40, 20, 14, 14, 6, 6])];
    let length = if choices.chance(25) { TYPES[choices.below(6)] } else { counter };
    let signed = !counter.contains("unsigned") && !length.contains("unsigned");
    let place = choices.weighted(&[50, 12, 12, 12, 14]);
    let lengths = ["a", "b"].map(|name| match place {
        1 => format!("s->{name}"),
        2 => format!("@g{name}"),
        3 => format!("m[{}]", usize::from(name == "b")),
        4 => format!("{name}0"),
        _ => name.to_owned(),
    });
    let mut features = BTreeSet::new();
    features
        .insert(["lengths in arguments", "in structures", "in globals", "in memory", "loaded before"][place]);
    let mut form = Form { choices, features, elem, lengths, signed };
    let mut body = String::new();
    if place == 4 {
        let _ = writeln!(body, "  const {length} a0 = s->a, b0 = s->b;");
    }
    for _ in 0..1 + form.choices.weighted(&[65, 25, 10]) {
        form.nest(&mut body, counter);
    }
    let c = elem.c;
    let alone = form.choices.chance(40);
    let restrict = if alone { "restrict " } else { "" };
    let inline = if form.choices.chance(15) { "" } else { "__attribute__((noinline)) " };
    let functions = format!(
        "struct @S {{ {length} a, b; }};\n{length} @ga, @gb;\n\
         {inline}static void @f({c} *{restrict}x, const {c} *{restrict}y, const {c} *z, {counter} lo, {counter} n, {counter} c, \
         {length} a, {length} b, const struct @S *s, const {length} *m) {{\n{body}}}\n"
    );
    let driver = form.driver(length, alone);
    Text { functions, driver, features: form.features }
}

impl Form<'_, '_> {
    /// A length, a product or a sum of them, which is 0 only where one of them is.
    fn length(&mut self) -> String {
        let [a, b] = self.lengths.clone();
        match self.choices.weighted(&[50, 22, 20, 4, 4]) {
            0 => a,
            1 => b,
            2 => format!("({a} * {b})"),
            3 => format!("({a} * {a})"),
            _ => "7".to_owned(),
        }
    }

    fn counter(&mut self) -> String {
        match self.choices.weighted(&[88, 6, 6]) {
            0 => "k".to_owned(),
            1 => "(k + 3)".to_owned(),
            _ if self.signed => "(k - lo)".to_owned(),
            _ => "(k + lo)".to_owned(),
        }
    }

    /// What is smaller than the counter in size, whatever the lengths are.
    fn quotient(&mut self) -> String {
        let (k, one, two) = (self.counter(), self.length(), self.length());
        match self.choices.weighted(&[30, 30, 12, 12, 10, 6]) {
            0 => format!("{k} / {one}"),
            1 => format!("{k} % {one}"),
            2 => format!("{k} / {one} / {two}"),
            3 => format!("{k} / {one} % {two}"),
            4 => format!("{k} % {one} / {two}"),
            _ => format!("{k} % {one} % {two}"),
        }
    }

    /// An element that rows and columns lead to.
    fn subscript(&mut self) -> String {
        let [a, b] = self.lengths.clone();
        match self.choices.weighted(&[25, 20, 20, 15, 20]) {
            0 => self.quotient(),
            1 => format!("k / {a} * {b} + k % {a}"),
            2 => format!("k % {a} * {b} + k / {a}"),
            3 => format!("k / {a} * {a} + k % {a}"),
            _ => {
                let (row, column) = (self.quotient(), self.quotient());
                format!("({row}) * 12 + {column}")
            }
        }
    }

    fn value(&mut self) -> String {
        let (own, at) = (self.choices.chance(50), self.subscript());
        let other = self.subscript();
        match self.choices.weighted(&[50, 25, 25]) {
            0 if own => format!("y[k] + z[{at}]"),
            0 => format!("y[{at}]"),
            1 => format!("y[{at}] + z[{other}]"),
            _ => format!("({})({at})", self.elem.c),
        }
    }

    fn statement(&mut self) -> String {
        let (value, at, test) = (self.value(), self.subscript(), self.quotient());
        let [a, _] = self.lengths.clone();
        match self.choices.weighted(&[35, 18, 15, 12, 12, 8]) {
            0 => format!("x[k] = {value};"),
            1 => format!("x[{at}] = {value};"),
            2 => {
                self.features.insert("histograms");
                format!("x[{test}] += {value};")
            }
            3 => format!("if ({test} == 1) x[k] = {value};"),
            4 => format!("x[k] = {value}; if ({test} > 1) x[k] += 3; else x[k] -= z[k];"),
            // The division may be by zero nowhere else.
            _ => format!("x[k] += ({a} != 0) ? y[k % {a}] : y[k];"),
        }
    }

    fn nest(&mut self, out: &mut String, counter: &str) {
        let step = if self.choices.chance(15) { self.choices.range(2, 4) } else { 1 };
        // Where images lie behind each other, the counter begins where the one before ended.
        let images = self.choices.weighted(&[75, 13, 12]);
        let (low, high) = match images {
            2 => ("i * n", "i * n + n"),
            _ if self.choices.chance(25) => ("0", "n"),
            _ => ("lo", "n"),
        };
        let pad = if images == 0 { "  " } else { "    " };
        if images > 0 {
            self.features.insert("images");
            let _ = writeln!(out, "  for ({counter} i = 0; i < c; i++)");
        }
        let head = match (self.choices.weighted(&[70, 15, 15]), self.signed) {
            (0, _) if step == 1 => format!("for ({counter} k = {low}; k < {high}; k++)"),
            (0, _) => format!("for ({counter} k = {low}; k < {high}; k += {step})"),
            (1, true) => format!("for ({counter} k = ({high}) - 1; k >= {low}; k -= {step})"),
            _ => format!("for ({counter} k = {high}; k-- > {low};)"),
        };
        if head.contains('-') {
            self.features.insert("counters that go down");
        }
        if step > 1 {
            self.features.insert("steps");
        }
        let mut statements = vec![self.statement()];
        if self.choices.chance(20) {
            statements.push(self.statement());
        }
        if self.choices.chance(8) {
            self.features.insert("sums");
            let value = self.value();
            let c = self.elem.c;
            let _ = writeln!(
                out,
                "{pad}{{ {c} sum = 0;\n{pad}{head}\n{pad}  sum += {value};\n{pad}x[0] = sum; }}"
            );
            return;
        }
        let _ = writeln!(out, "{pad}{head} {{\n{pad}  {}\n{pad}}}", statements.join(" "));
    }

    fn driver(&mut self, length: &str, alone: bool) -> String {
        let mut out = String::new();
        for (number, name) in ["x", "y", "z"].into_iter().enumerate() {
            out.push_str(&array(name, number, self.elem, 2 * MIDDLE));
        }
        let _ = writeln!(out, "  {length} m[2];\n  struct @S s;");
        for _ in 0..2 + self.choices.below(3) {
            let mut ab = [0, 0].map(|_| self.choices.range(1, 9));
            if self.signed && self.choices.chance(20) {
                self.features.insert("negative lengths");
                ab[self.choices.below(2)] *= -1;
            }
            let whole = ab[0].abs() * ab[1].abs();
            let n = match self.choices.weighted(&[55, 15, 25, 5]) {
                0 => whole * self.choices.range(1, 4),
                1 => ab[0].abs() * self.choices.range(1, 12),
                2 => self.choices.range(0, 150),
                _ => 1,
            };
            let mut lo = match self.choices.weighted(&[60, 20, 20]) {
                0 => 0,
                1 => self.choices.range(1, 20),
                _ if self.signed => {
                    self.features.insert("counters below zero");
                    -whole * self.choices.range(1, 2)
                }
                _ => ab[0],
            };
            let (mut n, mut images) = (n, self.choices.range(1, 3));
            // Nothing is divided in loops that do not run.
            if self.choices.chance(8) {
                self.features.insert("lengths that are zero");
                (n, lo, images) = (0, 0, 0);
                ab[self.choices.below(2)] = 0;
            }
            let [a, b] = ab;
            let _ = writeln!(out, "  m[0] = s.a = @ga = {a}, m[1] = s.b = @gb = {b};");
            let x = if self.choices.chance(15) && !alone { "y" } else { "x" };
            let _ = writeln!(
                out,
                "  @f({x} + {MIDDLE}, y + {MIDDLE}, z + {MIDDLE}, {lo}, {n}, {images}, {a}, {b}, &s, m);"
            );
        }
        out
    }
}
