//! Tables of pointers to rows: rows that lie side by side, in any order, are shared, overlap, are in one
//! another, have any lengths or are not there; that change places or are allocated anew between executions;
//! tables that change places with each other.

use super::choices::Choices;
use super::text::{ELEMS, Elem, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Most rows of a table, and most elements of a row. No two elements that a loop uses are further from a
/// row's beginning.
const ROWS: i64 = 12;
const LONGEST: i64 = 24;

struct Form<'a, 'b> {
    choices: &'a mut Choices<'b>,
    features: BTreeSet<&'static str>,
    elem: Elem,
    counter: &'static str,
    /// Some rows are null pointers: loops are over those that are there.
    null: bool,
}

pub fn text(choices: &mut Choices<'_>) -> Text {
    let elem = choices.pick(&ELEMS);
    let counter = ["int", "long", "unsigned"][choices.weighted(&[65, 20, 15])];
    let null = choices.chance(15);
    let mut form = Form { choices, features: BTreeSet::new(), elem, counter, null };
    let mut body = String::new();
    for _ in 0..1 + form.choices.weighted(&[70, 25, 5]) {
        form.nest(&mut body);
    }
    if form.choices.chance(20) {
        form.features.insert("tables that change places");
        let c = elem.c;
        body = format!("  for (int t = 0; t < 3; t++) {{\n{body}  {c} **swap = a; a = b; b = swap;\n  }}\n");
    }
    let c = elem.c;
    let inline = if form.choices.chance(20) { "" } else { "__attribute__((noinline)) " };
    let functions = format!(
        "{inline}static void @f({c} **a, {c} **b, const int *p, const {counter} *len, {c} *v, {counter} n, {counter} m) {{\n{body}}}\n"
    );
    let driver = form.driver();
    Text { functions, driver, features: form.features }
}

impl Form<'_, '_> {
    /// An element of any table that `i < n` and `j < m` lead to.
    fn load(&mut self) -> String {
        match self.choices.weighted(&[35, 12, 12, 10, 10, 8, 8, 5]) {
            0 => "b[i][j]".to_owned(),
            1 => "a[i][j]".to_owned(),
            2 => "b[i][j + 1]".to_owned(),
            _ if self.null => "b[i][2 * j]".to_owned(),
            3 => "b[i + 1][j]".to_owned(),
            4 => "a[i + 1][j]".to_owned(),
            5 => "b[p[i]][j]".to_owned(),
            6 => "b[j % n][i]".to_owned(),
            _ => "a[n - 1 - i][j]".to_owned(),
        }
    }

    fn target(&mut self) -> String {
        match self.choices.weighted(&[60, 12, 10, 9, 9]) {
            0 => "a[i][j]",
            1 => "b[i][j]",
            2 => "a[i][m - 1 - j]",
            _ if self.null => "a[i][j + 2]",
            3 => "a[p[i]][j]",
            _ => "a[i + 1][j]",
        }
        .to_owned()
    }

    fn nest(&mut self, out: &mut String) {
        let ty = self.counter;
        let c = self.elem.c;
        let (target, one, two) = (self.target(), self.load(), self.load());
        let ragged = self.choices.chance(20);
        let high = if ragged { "len[i]" } else { "m" };
        // A length of its own may be longer than `m`.
        let target = if ragged { target.replace("m - 1 - j", "j") } else { target };
        if ragged {
            self.features.insert("rows of any length");
        }
        let guard = if self.null {
            self.features.insert("rows that are not there");
            ["if (a[i] && b[i]) ", "if (len[i]) "][self.choices.below(2)]
        } else {
            ""
        };
        let rows = format!("  for ({ty} i = 0; i < n; i++) {guard}");
        let columns = format!("for ({ty} j = 0; j < {high}; j++)");
        let _ = match self.choices.weighted(&[45, 12, 12, 10, 11, 10]) {
            0 => writeln!(out, "{rows}{columns}\n    {target} = {one} + {two};"),
            1 => writeln!(out, "{rows}{columns}\n    {target} += {one};"),
            2 => writeln!(out, "{rows}{{\n    {c} s = 0;\n    {columns} s += {one};\n    v[i] = s;\n  }}"),
            3 => writeln!(
                out,
                "{rows}{{\n    {c} *r = a[i];\n    const {c} *q = b[i];\n    {columns} r[j] = q[j] + v[j];\n  }}"
            ),
            4 => {
                self.features.insert("rows from the one before");
                writeln!(out, "{rows}{{\n    {c} *r = a[i];\n    {columns} r[j + 1] = r[j] + {one};\n  }}")
            }
            _ if self.null => writeln!(out, "{rows}{columns}\n    v[j] += {one};"),
            _ => writeln!(
                out,
                "  for ({ty} j = 0; j < m; j++) for ({ty} i = 0; i < n; i++)\n    {target} = {one} - v[i];"
            ),
        };
    }

    /// Statements that make a table of rows in a block.
    fn table(&mut self, name: &str, block: &str, kind: usize) -> String {
        let at = match kind {
            0 => "h * 60",
            1 => "h * 57 % 19 * 40",
            2 => "(12 - h) * 60",
            3 => {
                self.features.insert("rows that are shared");
                "h / 2 * 60"
            }
            4 => {
                self.features.insert("rows that overlap");
                "h * 7"
            }
            5 => {
                self.features.insert("rows that are one");
                "5"
            }
            _ => "h * h * 5",
        };
        format!("  for (int h = 0; h <= {ROWS}; h++) {name}[h] = {block} + {at};\n")
    }

    /// Something that happens between executions.
    fn event(&mut self) -> String {
        let (one, two) = (self.choices.below(ROWS as usize), self.choices.below(ROWS as usize));
        match self.choices.weighted(&[20, 20, 15, 15, 10, 10, 10]) {
            0 => String::new(),
            1 => {
                self.features.insert("rows that change places");
                format!("  {{ {} *t = a[{one}]; a[{one}] = a[{two}]; a[{two}] = t; }}\n", self.elem.c)
            }
            2 => {
                self.features.insert("rows that move");
                format!("  a[{one}] = A + {};\n", self.choices.below(700))
            }
            3 if !self.null => format!("  a[{one}][{two}] += 3; note(b[{two}][{one}]);\n"),
            4 => {
                self.features.insert("rows of another table");
                format!("  a[{one}] = b[{two}];\n")
            }
            5 => {
                self.features.insert("free and malloc");
                let types = self.elem.types;
                let again = self.table("a", "A", 0) + &self.table("b", "B", 2);
                format!(
                    "  free(B);\n  B = malloc(900 * sizeof *B);\n  adopt(1, B, 900 * sizeof *B, 0, \"{types}\");\n{again}"
                )
            }
            _ => self.table("b", "B", 1),
        }
    }

    fn driver(&mut self) -> String {
        let (c, counter) = (self.elem.c, self.counter);
        let mut out =
            array("A", 0, self.elem, 900) + &array("B", 1, self.elem, 900) + &array("v", 2, self.elem, 64);
        let _ = writeln!(
            out,
            "  {c} *a[{ROWS} + 1], *b[{ROWS} + 1];\n  int p[{ROWS}];\n  {counter} len[{ROWS}];"
        );
        let kinds = [
            self.choices.weighted(&[25, 20, 10, 15, 10, 5, 15]),
            self.choices.weighted(&[25, 20, 10, 15, 10, 5, 15]),
        ];
        let block = if self.choices.chance(15) {
            self.features.insert("tables of the same rows");
            "A"
        } else {
            "B"
        };
        out.push_str(&self.table("a", "A", kinds[0]));
        out.push_str(&self.table("b", block, kinds[1]));
        let _ = writeln!(
            out,
            "  for (int h = 0; h < {ROWS}; h++) p[h] = h * 5 % {ROWS}, len[h] = h * 7 % {LONGEST};"
        );
        if self.null {
            let which = self.choices.below(ROWS as usize);
            let _ = writeln!(out, "  a[{which}] = 0, b[{which}] = 0, a[2] = 0;");
        }
        for _ in 0..2 + self.choices.below(4) {
            let n = if self.choices.chance(30) { self.choices.range(0, ROWS) } else { ROWS };
            let m = if self.choices.chance(40) { self.choices.range(0, LONGEST) } else { LONGEST };
            // Where rows are not there, their lengths say so.
            let lengths = if self.null {
                format!("  for (int h = 0; h < {ROWS}; h++) len[h] = a[h] && b[h] ? h * 7 % {LONGEST} : 0;\n")
            } else {
                String::new()
            };
            let event = self.event();
            let call = format!("{lengths}  @f(a, b, p, len, v, {n}, {m});\n");
            if self.choices.chance(25) {
                let _ = writeln!(out, "  for (int t = 0; t < 3; t++) {{\n{call}{event}  }}");
            } else {
                let _ = write!(out, "{call}{event}");
            }
        }
        out
    }
}
