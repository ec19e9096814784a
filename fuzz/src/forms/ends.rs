//! Where loops begin and end: early returns of an error, with stores and without, out of one loop or two;
//! arrays between two pointers in a structure, whose size is in subscripts, as of a vector; arrays with
//! bounds of any sign and a step in a descriptor, as Fortran has them; and loops that go on where others end.

use super::choices::Choices;
use super::text::{ELEMS, Elem, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements of each array.
const ROOM: i64 = 4000;

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    elem: Elem,
    /// Whether `x` and `y` are said to be no part of other arrays.
    alone: bool,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = choices.pick(&ELEMS);
    let alone = choices.chance(50);
    let mut form = Form { choices, features: BTreeSet::new(), elem, alone };
    let (body, result) = match form.choices.weighted(&[35, 25, 20, 20]) {
        0 => form.returns(),
        1 => form.vectors(),
        2 => form.bounds(),
        _ => form.shared(),
    };
    let c = elem.c;
    let restrict = if alone { "restrict " } else { "" };
    let functions = format!(
        "typedef struct {{ {c} *begin, *end; }} @vector;\n\
         typedef struct {{ {c} *base; long low, high, step; }} @bounds;\n\
         __attribute__((noinline)) static {result} @f({c} *{restrict}x, {c} *{restrict}y, const @vector *u, \
         const @vector *v, const @bounds *a, const @bounds *b, int n, int m, {c} limit) {{\n{body}}}\n"
    );
    let driver = form.driver(result);
    Text { functions, driver, features: form.features }
}

impl Form<'_, '_> {
    /// What is an error of an element.
    fn error(&mut self, at: &str) -> String {
        let of = match self.choices.weighted(&[60, 20, 20]) {
            0 => format!("x[{at}]"),
            1 => format!("x[{at}] + y[{at}]"),
            _ => format!("y[{at}]"),
        };
        match self.choices.weighted(&[60, 20, 20]) {
            0 => format!("{of} > limit"),
            1 => format!("{of} == limit"),
            _ if self.elem.is_float() => format!("!({of} <= limit)"),
            _ => format!("{of} > limit && i > 2"),
        }
    }

    fn store(&mut self, at: &str) -> String {
        match self.choices.weighted(&[40, 25, 20, 15]) {
            0 => format!("y[{at}] = x[{at}] * 2;"),
            1 => format!("x[{at}] = x[{at}] / 2;"),
            2 => format!("y[{at}] += x[{at}] - y[{at}] / 2;"),
            _ => {
                self.features.insert("searches");
                String::new()
            }
        }
    }

    fn returns(&mut self) -> (String, &'static str) {
        self.features.insert("early returns");
        let value = ["-1", "i", "i + 2", "n"][self.choices.weighted(&[40, 30, 20, 10])];
        let behind = ["0", "-1", "7"][self.choices.weighted(&[50, 30, 20])];
        let mut body = String::new();
        let two = self.choices.chance(35);
        let at = if two { "i * m + j" } else { "i" };
        let (error, store) = (self.error(at), self.store(at));
        // What was stored in front of it is there.
        let first = self.choices.chance(20);
        let mut leave = format!("if ({error}) return {value};");
        if self.choices.chance(20) {
            self.features.insert("two errors");
            let other = self.error(at);
            leave = format!("{leave} if ({other}) return 11;");
        }
        if self.choices.chance(15) {
            self.features.insert("ends by break");
            leave = format!("if ({error}) break;");
        }
        let inner = if first { format!("{store} {leave}") } else { format!("{leave} {store}") };
        let _ = match two {
            true => {
                writeln!(body, "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++) {{ {inner} }}")
            }
            false => writeln!(body, "  for (int i = 0; i < n; i++) {{ {inner} }}"),
        };
        if self.choices.chance(30) {
            self.features.insert("loops behind");
            body += "  for (int i = 0; i < n; i++) x[i] += y[i] / 2;\n";
        }
        let _ = writeln!(body, "  return {behind};");
        (body, "int")
    }

    /// A subscript of a vector `v` with `size` elements that are more than `i`.
    fn end(&mut self, v: &str) -> String {
        let size = format!("({v}->end - {v}->begin)");
        match self.choices.weighted(&[45, 25, 15, 15]) {
            0 => format!("{v}->begin[{size} - 1 - i]"),
            1 => format!("{v}->begin[i]"),
            2 => format!("{v}->end[-1 - i]"),
            _ => format!("{v}->begin[{size} - 1]"),
        }
    }

    fn vectors(&mut self) -> (String, &'static str) {
        self.features.insert("sizes between pointers");
        let mut body = String::new();
        let least =
            "  long least = u->end - u->begin < v->end - v->begin ? u->end - u->begin : v->end - v->begin;\n";
        let (count, head) = [("u->end - u->begin", ""), ("least", least), ("(v->end - v->begin) / 2", "")]
            [self.choices.weighted(&[30, 45, 25])];
        body += head;
        let of_u = if count.starts_with('(') { "y[i]".to_owned() } else { self.end("u") };
        let of_v = if count.starts_with('u') { "x[i]".to_owned() } else { self.end("v") };
        let statement = match self.choices.weighted(&[40, 30, 30]) {
            0 => format!("x[i] = {of_u} + {of_v};"),
            1 => format!("{of_u} = x[i] + {of_v};"),
            _ => format!("{of_v} += {of_u};"),
        };
        let _ = writeln!(body, "  for (long i = 0; i < {count}; i++) {statement}");
        (body, "void")
    }

    fn bounds(&mut self) -> (String, &'static str) {
        self.features.insert("bounds of any sign");
        let of = |d: &str, at: &str| format!("{d}->base[({at} - {d}->low) * {d}->step]");
        let (a, b) = (of("a", "i"), of("b", "i"));
        // Both have elements from the larger of the lower bounds to the smaller of the upper ones.
        let (low, high) = match self.choices.weighted(&[50, 50]) {
            0 => ("a->low", "a->high"),
            _ => ("(a->low > b->low ? a->low : b->low)", "(a->high < b->high ? a->high : b->high)"),
        };
        let own = low == "a->low";
        let statement = match (own, self.choices.weighted(&[35, 35, 30])) {
            (true, 0) => format!("{a} += x[i - a->low];"),
            (true, 1) => format!("y[i - a->low] = {a} * 2;"),
            (true, _) => format!("{a} = (i < 0 ? 1 : {a});"),
            (false, 0) => format!("{a} += {b};"),
            (false, 1) => format!("{b} = {a} + 1;"),
            (false, _) => format!("if (i >= 0) {a} = {b};"),
        };
        let counter = self.choices.pick(&["long", "int"]);
        let mut body = format!("  for ({counter} i = {low}; i <= {high}; i++) {statement}\n");
        if self.choices.chance(40) {
            self.features.insert("sides of bounds");
            let (first, last) = (of("a", "a->low"), of("a", "a->high"));
            let _ = writeln!(
                body,
                "  if (a->low <= a->high)\n    for (int i = 0; i < n; i++) x[i] += {first} + {last};"
            );
        }
        (body, "void")
    }

    /// Loops that share a counter, what they leave, and between them what no region has.
    fn shared(&mut self) -> (String, &'static str) {
        self.features.insert("shared counters");
        let mut body = "  int i = 0, j = 0;\n".to_owned();
        for _ in 0..2 + self.choices.below(2) {
            let ends = ["n", "m", "n / 2", "n + m", "m - 3", "j"];
            let head = ["i = 0", "i = j = 0", "i = j"][self.choices.weighted(&[45, 40, 15])];
            let of = |choices: &mut Choices<'_>| match choices.weighted(&[35, 30, 35]) {
                0 => "y[i] = x[i] * 2;",
                1 => "x[i] = (x[i] + y[i]) / 2;",
                _ => "if ((y[i] = x[i]) < limit) j = i + 1;",
            };
            let (first, next) = (of(self.choices), of(self.choices));
            let (end, last) = (self.choices.pick(&ends), self.choices.pick(&ends));
            let pair = format!("for ({head}; i < {end}; i++) {first}\n  for (; i < {last}; i++) {next}");
            match self.choices.weighted(&[60, 40]) {
                0 => {
                    let _ = writeln!(body, "  {pair}");
                }
                _ => {
                    let _ = writeln!(body, "  if (m > 3) {{\n  {pair}\n  }}");
                }
            }
            body +=
                ["", "  note(i);\n", "  note(j);\n", "  tick();\n"][self.choices.weighted(&[20, 20, 20, 40])];
        }
        let _ = writeln!(body, "  return {};", self.choices.pick(&["i", "j", "i + j"]));
        (body, "int")
    }

    fn driver(&mut self, result: &str) -> String {
        let c = self.elem.c;
        let mut out = String::new();
        for (number, name) in ["x", "y", "z", "w"].into_iter().enumerate() {
            out.push_str(&array(name, number, self.elem, ROOM));
        }
        for _ in 0..2 + self.choices.below(3) {
            let size = |choices: &mut Choices<'_>| match choices.weighted(&[60, 25, 15]) {
                0 => choices.range(20, 60),
                1 => choices.range(2, 20),
                _ => choices.range(0, 1),
            };
            let (n, m) = (size(self.choices), size(self.choices));
            // Numbers of one digit: some limits are met, some are not.
            let _ = writeln!(
                out,
                "  for (int h = 0; h < {ROOM}; h++) x[h] = ({c})(h * 7 % 9), y[h] = ({c})(h * 5 % 8);"
            );
            let limit = [200, 8, 6][self.choices.weighted(&[50, 30, 20])];
            if limit == 200 && self.choices.chance(50) {
                let _ = writeln!(out, "  x[{}] = 250;", self.choices.range(0, 900));
            }
            let (u, v) = (size(self.choices), size(self.choices));
            let both = self.choices.weighted(&[75, 10, 15]);
            let (at_u, at_v) =
                [("z", "w"), ("z", "z + 20"), ("x", "w")][if self.alone { both.min(1) } else { both }];
            let mut bounds = |name: &str, base: &str| {
                let low = [0, 1, -3, -40, 5][self.choices.weighted(&[20, 20, 30, 20, 10])];
                let step = [1, 2, 3, -1][self.choices.weighted(&[60, 15, 10, 15])];
                let count = size(self.choices);
                let first = if step < 0 { count } else { 0 };
                format!(
                    "  const @bounds {name} = {{{base} + {first}, {low}, {}, {step}}};\n",
                    low + count - 1
                )
            };
            let (a, b) = (bounds("a", "z"), bounds("b", "w"));
            let call = format!("@f(x, y, &u, &v, &a, &b, {n}, {m}, {limit})");
            let call = if result == "int" { format!("note({call});") } else { format!("{call};") };
            let _ = writeln!(
                out,
                "  {{\n  const @vector u = {{{at_u}, {at_u} + {u}}}, v = {{{at_v}, {at_v} + {v}}};\n{a}{b}  {call}\n  }}\n  tick();"
            );
        }
        out
    }
}
