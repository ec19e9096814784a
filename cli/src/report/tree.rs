//! A schedule tree and the dependences of a loop nest as drawings in a page, from their texts.
//!
//! The tree's text has a node a line, its parts and children two columns deeper:
//!
//! ```text
//! domain
//!   [n] -> { S0[i0, i1] : 0 <= i0 < n and 0 <= i1 < n }
//!   band
//!     coincident [n] -> { S0[i0, i1] -> [i0] }
//! ```
//! Each node becomes a box around those beneath it. Dependences have their kinds in lines of their own, and
//! relations below them; each becomes an arrow from the statement that comes first to the one that waits.

use maud::{Markup, html};

/// Kinds of dependences, in the order of their colours.
const KINDS: [&str; 3] = ["flow", "anti", "output"];

/// A node of the tree, and what is beneath it.
#[derive(Debug, Default, PartialEq)]
struct Node {
    text: String,
    beneath: Vec<Node>,
}

/// The boxes of a schedule tree.
pub fn schedule(text: &str) -> Markup {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty()).peekable();
    let mut nodes = Vec::new();
    while let Some(node) = read(&mut lines, 0) {
        nodes.push(node);
    }
    html! { div.tree { @for node in &nodes { (boxes(node)) } } }
}

/// The next node, if it is at least so deep.
fn read<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>, depth: usize) -> Option<Node> {
    let line = lines.next_if(|l| indentation(l) >= depth)?;
    let own = indentation(line);
    let mut node = Node { text: line.trim().to_owned(), beneath: Vec::new() };
    while let Some(next) = read(lines, own + 1) {
        node.beneath.push(next);
    }
    Some(node)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn boxes(node: &Node) -> Markup {
    let kind = node.text.split([' ', '(']).next().unwrap_or_default();
    let class = match kind {
        "domain" | "band" | "sequence" | "set" | "filter" | "mark" => format!("node {kind}"),
        "coincident" | "sequential" => format!("part {kind}"),
        _ => "part".to_owned(),
    };
    html! {
        div class=(class) title=(node.text) {
            span { (without_parameters(&node.text)) }
            @for next in &node.beneath { (boxes(next)) }
        }
    }
}

/// A relation without the list of its parameters, which are the same everywhere: `{ S0[i] -> [i] }` for
/// `[n] -> { S0[i] -> [i] }`.
fn without_parameters(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("] -> {") {
        let Some(begin) = rest[..at].rfind('[').filter(|b| rest[..*b].ends_with(' ') || *b == 0) else {
            break;
        };
        out += &rest[..begin];
        rest = &rest[at + "] -> ".len()..];
    }
    out + rest
}

/// An arrow from one statement to another.
#[derive(Debug, PartialEq)]
struct Arrow {
    kind: usize,
    from: String,
    to: String,
    relation: String,
}

/// The graph of a loop nest's dependences.
pub fn dependences(text: &str) -> Markup {
    let arrows = arrows(text);
    let mut names: Vec<&str> = arrows.iter().flat_map(|a| [a.from.as_str(), a.to.as_str()]).collect();
    names.sort_unstable_by_key(|n| (n.len(), *n));
    names.dedup();
    let x = |name: &str| 60 + 120 * names.iter().position(|n| *n == name).unwrap_or_default() as i64;
    let width = 120 * names.len().max(1) as i64;
    html! {
        @if !arrows.is_empty() {
            svg.graph viewBox=(format!("0 0 {width} 150")) width=(width) height="150" {
                @for a in &arrows { (arrow(a, x(&a.from), x(&a.to))) }
                @for name in &names {
                    circle cx=(x(name)) cy="75" r="16" {}
                    text x=(x(name)) y="79" { (name) }
                }
            }
            p.code { @for (n, kind) in KINDS.iter().enumerate() { span.(format!("kind{n}")) { (kind) " " } } "(above: to what is farther right; below: to what is farther left; under the mouse: the relation)" }
        }
    }
}

/// Forward above, backward below, to itself around.
fn arrow(a: &Arrow, from: i64, to: i64) -> Markup {
    let lift = 14 + 14 * a.kind as i64;
    let path = if from == to {
        format!(
            "M{} 63 C{} {} {} {} {} 63",
            from - 8,
            from - 20 - lift,
            55 - lift,
            from + 20 + lift,
            55 - lift,
            from + 8
        )
    } else {
        let (side, near) = if from < to { (-1, 14) } else { (1, -14) };
        let y = 75 + side * 8;
        format!("M{} {y} Q{} {} {} {y}", from + near, (from + to) / 2, 75 + side * (30 + lift), to - near)
    };
    html! {
        path.(format!("kind{}", a.kind)) d=(path) { title { (KINDS[a.kind]) ": " (a.relation) } }
    }
}

/// What a text says of statements; values without a source are no arrows.
fn arrows(text: &str) -> Vec<Arrow> {
    let (mut kind, mut found) = (None, Vec::new());
    for line in text.lines() {
        if indentation(line) == 0 {
            kind = KINDS.iter().position(|k| *k == line.trim());
            continue;
        }
        let Some(kind) = kind else { continue };
        let Some(inside) = line.split_once("{ ").map(|(_, rest)| rest) else { continue };
        let Some((from, rest)) = inside.split_once(" -> ") else { continue };
        let name = |part: &str| part.split('[').next().unwrap_or_default().trim().to_owned();
        let arrow = Arrow { kind, from: name(from), to: name(rest), relation: line.trim().to_owned() };
        if !arrow.from.is_empty() && !arrow.to.is_empty() {
            found.push(arrow);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_boxes_in_boxes() {
        let text = "domain\n  [n] -> { S0[i] : 0 <= i < n }\n  band (permutable)\n    coincident [n] -> { S0[i] -> [i] }\n";
        let page = schedule(text).into_string();
        assert!(page.contains("<span>{ S0[i] : 0 &lt;= i &lt; n }</span>"), "{page}");
        assert!(page.contains("class=\"part coincident\" title=\"coincident [n] -&gt;"), "{page}");
        assert_eq!(page.matches("class=\"node").count(), 2, "{page}");
        // The band is inside of the domain.
        assert!(page.ends_with("</div></div></div></div>"), "{page}");
    }

    #[test]
    fn dependences_are_arrows() {
        let text = "flow\n  [n] -> { S0[i] -> S1[i] : i < n }\nanti\noutput\n  { S0[i] -> S0[1 + i] }\nno source\n  { S0[i] -> A[i] }\n";
        let got: Vec<_> = arrows(text).into_iter().map(|a| (a.kind, a.from, a.to)).collect();
        assert_eq!(got, [(0, "S0".into(), "S1".into()), (2, "S0".into(), "S0".into())]);
        let page = dependences(text).into_string();
        assert_eq!((page.matches("<circle").count(), page.matches("<path").count()), (2, 2), "{page}");
        assert!(dependences("flow\n").into_string().is_empty());
    }

    #[test]
    fn parameters_are_left_out() {
        let table = [
            ("[n, m] -> { S0[i] -> [i] }", "{ S0[i] -> [i] }"),
            (
                "sequential [n] -> { S0[i] -> [i] } [n] -> { S1[i] -> [i] }",
                "sequential { S0[i] -> [i] } { S1[i] -> [i] }",
            ),
            ("{ S0[i] -> [i] }", "{ S0[i] -> [i] }"),
            ("band", "band"),
        ];
        for (text, want) in table {
            assert_eq!(without_parameters(text), want);
        }
    }
}
