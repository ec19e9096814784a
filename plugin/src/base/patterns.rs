//! Lists of names that options take.

/// Names and patterns; none: nothing matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(pub Vec<String>);

impl Patterns {
    /// A list, separated by `,` or `+`; `*` stands for any characters.
    pub fn parse(list: &str) -> Patterns {
        let parts = list.split([',', '+']).map(str::trim).filter(|p| !p.is_empty());
        Patterns(parts.map(str::to_owned).collect())
    }

    /// Whether one of them is `name`, or stands for it.
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| stands_for(pattern.as_bytes(), name.as_bytes()))
    }
}

pub fn stands_for(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), Some((_, tail))) => stands_for(rest, name) || stands_for(pattern, tail),
        (Some((b'*', rest)), None) => stands_for(rest, name),
        (Some((p, rest)), Some((n, tail))) => p == n && stands_for(rest, tail),
        _ => false,
    }
}
