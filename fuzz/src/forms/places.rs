//! Least and greatest values with their places and what else is kept of them, and what the last iteration
//! leaves that satisfies a condition; NaNs, zeros of both signs and values that are there twice; sines and
//! cosines through pointers that may meet; iterators; records of any size; sizes in globals.

use super::choices::Choices;
use super::text::{ELEMS, Elem, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements of each array.
const LONG: i64 = 600;

pub fn text(choices: &mut Choices<'_>) -> Text {
    match choices.weighted(&[40, 17, 13, 15, 15]) {
        0 => extremes(choices),
        1 => sines(choices),
        2 => iterators(choices),
        3 => records(choices),
        _ => lasts(choices),
    }
}

/// A size: an argument, a global that loops share, or one in memory.
fn size(choices: &mut Choices<'_>, features: &mut BTreeSet<&'static str>) -> &'static str {
    let which = choices.weighted(&[50, 30, 20]);
    features.insert(["sizes in arguments", "sizes in globals", "sizes in memory"][which]);
    ["n", "@gn", "s->n"][which]
}

fn linkage(choices: &mut Choices<'_>) -> &'static str {
    if choices.chance(20) { "static " } else { "__attribute__((noinline)) static " }
}

fn call(choices: &mut Choices<'_>, arguments: &str) -> String {
    let n = match choices.weighted(&[50, 30, 20]) {
        0 => choices.range(100, 140),
        1 => choices.range(0, 40),
        _ => choices.range(0, 3),
    };
    format!("  s.n = @gn = {n};\n  @f({arguments}, {n}, &s);\n")
}

const SIZES: &str = "struct @N { int n; };\nint @gn;\n";

fn extremes(choices: &mut Choices<'_>) -> Text {
    let elem = ELEMS[choices.weighted(&[35, 35, 15, 10, 5])];
    let is_float = elem.is_float();
    let c = elem.c;
    let mut features = BTreeSet::from(["extremes"]);
    let n = size(choices, &mut features);
    let compare = choices.pick(&["<", "<=", ">", ">="]);
    let place = ["int", "long", "unsigned"][choices.weighted(&[60, 25, 15])];
    let value = match choices.weighted(&[60, 15, 15, 10]) {
        0 => "x[i]",
        1 => "x[i] - y[i]",
        2 => "x[2 * i]",
        _ if is_float => "(x[i] < 0 ? -x[i] : x[i])",
        _ => "x[i] + 1",
    };
    let kept = choices.weighted(&[40, 20, 20, 20]);
    let (keep, kept_then) = match kept {
        0 => ("at = i;", ""),
        1 => ("at = i, w = y[i];", ""),
        2 => ("at = 3 * i + 1;", ""),
        _ => ("at = i, w = y[i], u = x[i + 1];", ""),
    };
    let start = match choices.weighted(&[50, 25, 25]) {
        0 => "x[0]",
        1 => "5",
        _ if is_float && compare.starts_with('<') => "INFINITY",
        _ if is_float => "-INFINITY",
        _ => "y[0]",
    };
    let test = match choices.weighted(&[70, 15, 15]) {
        0 => format!("if ({value} {compare} best)"),
        1 => format!("if (y[i] > 2 && {value} {compare} best)"),
        _ => format!("if (!(best {compare} {value}))"),
    };
    let down = choices.chance(15);
    let rows = choices.chance(35);
    let high = if rows { format!("({n} < 20 ? {n} : 20)") } else { n.to_owned() };
    let head = if down {
        format!("for (int i = {high} - 1; i >= 0; i--)")
    } else {
        format!("for (int i = {}; i < {high}; i++)", choices.below(2))
    };
    let in_memory = choices.weighted(&[55, 15, 15, 15]);
    let mut body = String::new();
    let names = match in_memory {
        1 => {
            features.insert("kept in memory");
            ["out[0]", "*place"]
        }
        2 => {
            features.insert("kept in memory");
            ["r->best", "r->at"]
        }
        _ => ["best", "at"],
    };
    let fix = |text: &str| {
        let text = text.replace("best", "BEST").replace("at =", "AT =");
        text.replace("BEST", names[0]).replace("AT =", &format!("{} =", names[1]))
    };
    let declare = match in_memory {
        1 | 2 => format!("{} = {start}; {} = -1; {c} w = 0, u = 0;", names[0], names[1]),
        _ => format!("{c} best = {start}, w = 0, u = 0; {place} at = -1;"),
    };
    let update = fix(&format!("{test} {{ best = {value}; {keep} }}{kept_then}"));
    if rows {
        features.insert("extremes of rows");
        let row = |text: &str| text.replace("x[", "x[20 * o + ").replace("y[", "y[o + ");
        let _ = writeln!(
            body,
            "  for (int o = 0; o < 12; o++) {{\n    {}\n    {} {}\n    out[o + 1] = {}; out[o + 20] = w; out[o + 40] = u; places[o] = {};\n  }}",
            row(&declare),
            head,
            row(&update),
            names[0],
            names[1]
        );
    } else {
        let _ = writeln!(
            body,
            "  {declare}\n  {head}\n    {update}\n  out[1] = {}; out[2] = w; out[3] = u; places[0] = {};",
            names[0], names[1]
        );
    }
    let linkage = linkage(choices);
    let functions = format!(
        "{SIZES}struct @R {{ {c} best; {place} at; }};\n\
         {linkage}void @f(const {c} *x, const {c} *y, {c} *out, {place} *places, {place} *place, struct @R *r, int n, const struct @N *s) {{\n{body}}}\n"
    );
    let driver = driver_of_extremes(choices, elem, place, &mut features);
    Text { functions, driver, features }
}

/// What the last iteration leaves that satisfies a condition, and whether there is one.
fn lasts(choices: &mut Choices<'_>) -> Text {
    let elem = ELEMS[choices.weighted(&[35, 35, 15, 10, 5])];
    let c = elem.c;
    let mut features = BTreeSet::from(["last that fits"]);
    let n = size(choices, &mut features);
    let place = ["int", "long", "unsigned"][choices.weighted(&[60, 25, 15])];
    let mut updates = String::new();
    for _ in 0..1 + choices.weighted(&[60, 30, 10]) {
        let compare = choices.pick(&["<", "<=", ">", "=="]);
        let test = match choices.weighted(&[50, 15, 15, 10, 10]) {
            0 => format!("x[i] {compare} 3"),
            1 => format!("!(x[i] {compare} y[i])"),
            2 => format!("x[i] {compare} y[i] && y[i] < 40"),
            // Nothing satisfies it, or all but NaNs do.
            3 => "x[i] > 100".to_owned(),
            // What was chosen before decides.
            _ => {
                features.insert("conditions on the choice");
                format!("x[i] {compare} w")
            }
        };
        let keep = match choices.weighted(&[35, 20, 15, 15, 15]) {
            0 => "at = i;",
            1 => "at = i; w = y[i];",
            2 => "w = x[i] + y[i]; u = x[i];",
            3 => "at = 7;",
            _ => "w = y[0];",
        };
        let _ = write!(updates, " if ({test}) {{ {keep} }}");
    }
    let rows = choices.chance(30);
    let high = if rows { format!("({n} < 20 ? {n} : 20)") } else { n.to_owned() };
    let head = if choices.chance(25) {
        format!("for (int i = {high} - 1; i >= 0; i--)")
    } else {
        format!("for (int i = {}; i < {high}; i += {})", choices.below(2), 1 + choices.below(2))
    };
    let declare = format!("{c} w = {}, u = 2; {place} at = {};", choices.pick(&["0", "5"]), choices.below(4));
    let body = if rows {
        features.insert("last of rows");
        let updates = updates.replace("x[i", "x[20 * o + i").replace("y[i", "y[o + i");
        format!(
            "  for (int o = 0; o < 12; o++) {{\n    {declare}\n    {head} {{{updates} }}\n    \
             out[o + 1] = w; out[o + 20] = u; places[o] = at;\n  }}\n"
        )
    } else {
        format!("  {declare}\n  {head} {{{updates} }}\n  out[1] = w; out[2] = u; places[0] = at;\n")
    };
    let linkage = linkage(choices);
    let functions = format!(
        "{SIZES}struct @R {{ {c} best; {place} at; }};\n\
         {linkage}void @f(const {c} *x, const {c} *y, {c} *out, {place} *places, {place} *place, struct @R *r, int n, const struct @N *s) {{\n{body}}}\n"
    );
    let driver = driver_of_extremes(choices, elem, place, &mut features);
    Text { functions, driver, features }
}

/// Calls with values that are in order, or not.
fn driver_of_extremes(
    choices: &mut Choices<'_>,
    elem: Elem,
    place: &str,
    features: &mut BTreeSet<&'static str>,
) -> String {
    let is_float = elem.is_float();
    let mut driver = array("x", 0, elem, 2 * LONG) + &array("y", 1, elem, LONG) + &array("out", 2, elem, 64);
    let _ = writeln!(
        driver,
        "  {place} *places = calloc(64, sizeof *places);\n  adopt(3, places, 64 * sizeof *places, 0, 0);\n  struct @R r = {{0}};\n  struct @N s;"
    );
    for _ in 0..2 + choices.below(3) {
        let values = match choices.weighted(&[25, 20, 20, 20, 15]) {
            0 => "",
            1 if is_float => {
                features.insert("NaNs");
                "for (int h = 3; h < 600; h += 17) x[h] = NAN;"
            }
            2 => {
                features.insert("ties");
                "for (int h = 0; h < 600; h++) x[h] = h * 7 % 5;"
            }
            3 if is_float => {
                features.insert("zeros of both signs");
                "for (int h = 0; h < 600; h++) x[h] = h % 3 ? 0.0 : -0.0;"
            }
            4 if is_float => "x[0] = NAN; x[5] = -INFINITY; x[7] = INFINITY;",
            _ => "x[9] = 0; x[20] = 1;",
        };
        let _ = writeln!(driver, "  {values}");
        driver.push_str(&call(choices, "x, y, out, places, places + 50, &r"));
        let _ = writeln!(driver, "  note(r.best); note(r.at);");
    }
    driver
}

fn sines(choices: &mut Choices<'_>) -> Text {
    let elem = ELEMS[choices.below(2)];
    let (c, f) = (elem.c, if elem.bytes == 4 { "f" } else { "" });
    let mut features = BTreeSet::from(["sines and cosines"]);
    let n = size(choices, &mut features);
    let at = choices.pick(&["i", "2 * i", "i + 1"]);
    let value = choices.pick(&["x[i]", "0.5f * x[i]", "i * x[0]"]);
    let statement = match choices.weighted(&[35, 20, 15, 15, 15]) {
        0 => format!("sincos{f}({value}, &p[i], &q[{at}]);"),
        1 => format!("sincos{f}({value}, p + {at}, q + i);"),
        2 => format!("q[{at}] = cos{f}({value}), p[i] = sin{f}({value});"),
        3 => {
            let local = format!("{c} a, b; sincos{f}({value}, &a, &b);");
            format!("{local} p[i] = a - b, q[{at}] = a;")
        }
        _ => format!("{c} a = sin{f}({value}); q[{at}] = a; p[i] = cos{f}({value}) + a;"),
    };
    let linkage = linkage(choices);
    let functions = format!(
        "{SIZES}{linkage}void @f({c} *p, {c} *q, const {c} *x, int n, const struct @N *s) {{\n  \
         for (int i = 0; i < {n}; i++) {{\n    {statement}\n  }}\n}}\n"
    );
    let mut driver = array("p", 0, elem, LONG) + &array("q", 1, elem, LONG) + &array("x", 2, elem, LONG);
    let _ = writeln!(driver, "  struct @N s;");
    for _ in 0..2 + choices.below(3) {
        let meet = choices.weighted(&[40, 15, 15, 15, 15]);
        if meet > 0 {
            features.insert("pointers that meet");
        }
        // Which of two results one element is, C does not say.
        let meet = if meet == 1 && statement.contains("sincos") && at == "i" { 0 } else { meet };
        let arguments = ["p, q, x", "p, p, x", "p, p + 1, x", "p + 3, p, x", "x, q, x"][meet];
        driver.push_str(&call(choices, arguments));
    }
    Text { functions, driver, features }
}

fn iterators(choices: &mut Choices<'_>) -> Text {
    let elem = choices.pick(&ELEMS);
    let c = elem.c;
    let mut features = BTreeSet::from(["iterators"]);
    let step = choices.range(1, 3);
    let n = size(choices, &mut features);
    let body = match choices.weighted(&[25, 20, 20, 20, 15]) {
        0 => format!("  for (const {c} *e = x + {step} * {n}; x != e; x += {step}) *y++ += *x;\n"),
        1 => format!("  for ({c} *e = y + {n}; y < e; ++y, x += {step}) *y = *x - y[0];\n"),
        2 => format!("  int left = {n};\n  while (left-- > 0) {{ *y = *x + *y; y++; x += {step}; }}\n"),
        3 => format!("  const {c} *e = x + {n};\n  while (e > x) *y++ = *--e;\n"),
        _ => {
            features.insert("iterators of rows");
            format!(
                "  for (int i = 0; i < {n} / 16; i++) {{ const {c} *r = x + 16 * i; {c} sum = 0;\n    \
                 for (const {c} *e = r + 16; r != e; ++r) sum += *r;\n    *y++ = sum; }}\n"
            )
        }
    };
    let linkage = linkage(choices);
    let functions =
        format!("{SIZES}{linkage}void @f({c} *y, const {c} *x, int n, const struct @N *s) {{\n{body}}}\n");
    let mut driver = array("x", 0, elem, LONG) + &array("y", 1, elem, LONG);
    let _ = writeln!(driver, "  struct @N s;");
    for _ in 0..2 + choices.below(3) {
        let arguments = ["y, x", "y + 1, y", "y, y + 2", "y, y"][choices.weighted(&[55, 15, 15, 15])];
        driver.push_str(&call(choices, arguments));
    }
    Text { functions, driver, features }
}

fn records(choices: &mut Choices<'_>) -> Text {
    let mut features = BTreeSet::from(["records"]);
    let members: Vec<Elem> = (0..2 + choices.below(3)).map(|_| choices.pick(&ELEMS)).collect();
    let packed = if choices.chance(30) { " __attribute__((packed))" } else { "" };
    let count = choices.range(1, 3);
    let mut declared = String::new();
    for (number, member) in members.iter().enumerate() {
        let _ = write!(declared, " {} m{number}[{count}];", member.c);
    }
    let pad = choices.below(14);
    if pad > 0 {
        let _ = write!(declared, " char pad[{pad}];");
    }
    let n = size(choices, &mut features);
    let mut body = String::new();
    for _ in 0..1 + choices.below(2) {
        let (to, from) = (choices.below(members.len()), choices.below(members.len()));
        // Floating point has no value in all integers.
        let from = if members[from].is_float() && !members[to].is_float() { to } else { from };
        let k = choices.below(count as usize);
        let _ = match choices.weighted(&[45, 20, 20, 15]) {
            0 => writeln!(body, "  for (int i = 0; i < {n}; i++) x[i].m{to}[{k}] += y[i].m{from}[0];"),
            1 => writeln!(
                body,
                "  for (int i = 0; i < {n}; i++) for (int j = 0; j < {count}; j++) x[i].m{to}[j] = y[i + 1].m{from}[j];"
            ),
            2 => {
                features.insert("whole records");
                writeln!(
                    body,
                    "  for (int i = 0; i < {n}; i++) {{ struct @T t = y[i]; t.m{to}[{k}] += 1; x[i] = t; }}"
                )
            }
            _ => writeln!(
                body,
                "  for (int i = 0; i < {n}; i++, x++, y++) x->m{to}[0] = y->m{from}[{k}];\n  x -= {n}, y -= {n};"
            ),
        };
    }
    let linkage = linkage(choices);
    let functions = format!(
        "struct @T {{{declared} }}{packed};\n{SIZES}\
         {linkage}void @f(struct @T *x, const struct @T *y, int n, const struct @N *s) {{\n{body}}}\n"
    );
    let mut driver = String::new();
    for (number, name) in ["x", "y"].into_iter().enumerate() {
        let _ = writeln!(
            driver,
            "  struct @T *{name} = calloc(160, sizeof *{name});\n  adopt({number}, {name}, 160 * sizeof *{name}, 0, 0);"
        );
        for (m, _) in members.iter().enumerate() {
            let _ = writeln!(
                driver,
                "  for (int h = 0; h < 160; h++) for (int k = 0; k < {count}; k++) {name}[h].m{m}[k] = (h * 13 + k * 5 + {m}) % 64;"
            );
        }
    }
    let _ = writeln!(driver, "  struct @N s;");
    for _ in 0..2 + choices.below(3) {
        let arguments = ["x, y", "y + 1, y", "y, y"][choices.weighted(&[70, 15, 15])];
        driver.push_str(&call(choices, arguments));
    }
    Text { functions, driver, features }
}
