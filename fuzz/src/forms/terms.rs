//! Sums in order of terms that other loops have computed before: what crosses statements in scalars gets
//! memory of its own, rows of which stream through shared memory; over a part of an array that is set before
//! as a whole, so that tiles have points without a sum; and sums under conditions that guard what they load.

use super::choices::Choices;
use super::text::{ELEMS, Elem, Text, array};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Elements of each array.
const LONG: i64 = 640;

pub fn text(choices: &mut Choices<'_>) -> Text {
    // Sums of integers are regrouped.
    let elem = ELEMS[choices.weighted(&[40, 40, 10, 5, 5])];
    let mut features = BTreeSet::from(["terms"]);
    let c = elem.c;
    let sums = 1 + choices.weighted(&[15, 25, 60]);
    let mut body = String::new();
    if choices.chance(70) {
        features.insert("terms of a sequence");
        body += "  for (int i = 1; i < many; i++) { x[i] = x[i - 1] + step; y[i] = y[i - 1] - x[0]; }\n";
    }
    if choices.chance(75) {
        features.insert("sums over a part of what is set");
        let set = choices.pick(&["0", "w[i]", "i"]);
        let all: String = (0..sums).map(|s| format!(" a{s}[i] = {set};")).collect();
        let _ = writeln!(body, "  for (int i = 0; i < many; i++) {{{all} }}");
    }
    let close =
        ["d < far", "d < far && e > w[j]", "w[j] > far", "j != i"][choices.weighted(&[55, 15, 15, 15])];
    let other = ["m = 0", "m = x[j]", "m = w[i] + 1"][choices.weighted(&[60, 20, 20])];
    // Conditions are stored in bytes, other values in cells of their size.
    let term = match choices.weighted(&[70, 15, 15]) {
        0 => format!("{c} m; if ({close}) m = w[j]; else {other};"),
        1 => {
            features.insert("terms that conditions choose");
            format!("_Bool near = {close}; {c} m = near ? w[j] : 1; if (near) m = m - e;")
        }
        _ => {
            features.insert("terms of a narrow number");
            format!("short k = (short)j; if ({close}) k = (short)(k + i); {c} m = ({c})(k & 31);")
        }
    };
    let mut inner = String::new();
    for s in 0..sums {
        let by = ["m * d", "m * e", "m", "(m - d) * e"][choices.weighted(&[35, 35, 10, 20])];
        let _ = write!(inner, " s{s} = s{s} + {by};");
    }
    let starts: String = (0..sums).map(|s| format!(" {c} s{s} = {};", s % 2)).collect();
    let sign = choices.pick(&["+=", "+=", "=", "= w[i] +"]);
    let ends: String = (0..sums).map(|s| format!(" a{s}[i] {sign} s{s};")).collect();
    let _ = write!(
        body,
        "  for (int i = 0; i < few; i++) {{\n   {starts}\n    for (int j = 0; j < many; j++) {{\n      \
         {c} d = x[j] - x[i], e = y[j] + d; {term}{inner}\n    }}\n   {ends}\n  }}\n"
    );
    if choices.chance(35) {
        features.insert("masked sums beside stores");
        body += &masked(choices, elem);
    }
    let given = choices.chance(30);
    let mut functions = String::new();
    let mut driver = array("x", 0, elem, LONG)
        + &array("y", 1, elem, LONG)
        + &array("w", 2, elem, LONG)
        + &(0..3).map(|s| array(&format!("a{s}"), 3 + s, elem, LONG)).collect::<String>();
    for call in 0..1 + choices.below(2) {
        let many = [600, 257, 130, 40, 1, 0][choices.weighted(&[65, 15, 5, 5, 5, 5])];
        let few = [72, 33, 127, 47, 5, 1, 0][choices.weighted(&[40, 20, 10, 15, 5, 5, 5])].min(many);
        let parameters = if given { ", int few, int many" } else { "" };
        let constants =
            if given { String::new() } else { format!("  enum {{ few = {few}, many = {many} }};\n") };
        if !given || call == 0 {
            let _ = write!(
                functions,
                "__attribute__((noinline)) static void @f{call}({c} *restrict x, {c} *restrict y, const {c} *restrict w, \
                 {c} *restrict a0, {c} *restrict a1, {c} *restrict a2, {c} step, {c} far{parameters}) {{\n{constants}{body}}}\n"
            );
        }
        let (name, arguments) = match given {
            true => (0, format!(", {few}, {many}")),
            false => (call, String::new()),
        };
        let _ = writeln!(driver, "  @f{name}(x, y, w, a0, a1, a2, 1, 3{arguments});\n  tick();");
    }
    Text { functions, driver, features }
}

/// A loop that stores on both ways, and adds up on one of them.
fn masked(choices: &mut Choices<'_>, elem: Elem) -> String {
    let c = elem.c;
    let condition =
        choices.pick(&["w[j] > far", "w[j + 1] < w[j]", "x[j] == w[j]", "j % 3 == 1 || w[j] > far"]);
    let other = choices.pick(&["y[j] = w[j + 1];", "y[j] = y[j + 1];", ""]);
    let adds: &[&str] = match elem.is_float() {
        true => &["s += d", "s -= d", "s += d * x[j]", "s += (double)d * 3", "s *= 1 + d / 4096"],
        false => &["s += d", "s -= d", "s ^= d"],
    };
    let (start, add) = (choices.pick(&["0", "-0.0", "1"]), choices.pick(adds));
    let term = choices.pick(&["x[j + 1] - w[j]", "x[j] + y[j]", "w[j]"]);
    format!(
        "  {{\n    {c} s = {start};\n    for (int j = 0; j + 1 < many; j++)\n      if ({condition}) {{ {other} }} \
         else {{ {c} d = {term}; y[j] = d; {add}; }}\n    a0[0] = s;\n  }}\n"
    )
}
