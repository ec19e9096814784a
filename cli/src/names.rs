//! Names of functions as their authors know them.

/// `M::step` for `_ZN1M4stepEv`, `grid::step` for a name of rustc's or flang's; others as they are.
pub fn demangled(name: &str) -> String {
    if let Some(fortran) = name.strip_prefix("_Q").and_then(fortran) {
        return fortran;
    }
    if !name.starts_with("_Z") && !name.starts_with("_R") {
        return name.to_owned();
    }
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let symbol = cpp_demangle::Symbol::new(name).ok();
    symbol.and_then(|s| s.demangle_with_options(&options).ok()).unwrap_or_else(|| name.to_owned())
}

/// The parts of a name of flang's, which are in lower case behind a letter each: `MgridFstepPinner` is
/// `grid::step::inner` (flang's "Bijective Internal Name Uniquing").
fn fortran(parts: &str) -> Option<String> {
    if parts == "Qmain" {
        return Some("the main program".to_owned());
    }
    let begins = |(_, c): &(usize, char)| matches!(c, 'M' | 'S' | 'F' | 'P');
    let mut at: Vec<usize> = parts.char_indices().filter(begins).map(|(at, _)| at).collect();
    if at.first() != Some(&0) || !parts[*at.last()?..].starts_with(['P', 'F']) {
        return None;
    }
    at.push(parts.len());
    let names: Vec<&str> = at.windows(2).map(|w| &parts[w[0] + 1..w[1]]).collect();
    let plain = |n: &&str| {
        !n.is_empty() && n.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    names.iter().all(plain).then(|| names.join("::"))
}

/// A text with the names in it demangled: `the call of _ZN1M4stepEv may have side effects`.
pub fn demangled_text(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '$';
    let mut out = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(is_part) {
        out += &rest[..begin];
        let word = &rest[begin..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        // Loop nests of a function are numbered: `_ZN1M4stepEv.1`.
        let (name, number) = match word[..end].rsplit_once('.') {
            Some((name, number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
                (name, &word[name.len()..end])
            }
            _ => (&word[..end], ""),
        };
        out += &demangled(name);
        out += number;
        rest = &word[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_three_languages() {
        let table = [
            ("f", "f"),
            ("h", "h"),
            ("_ZN1M4stepEv", "M::step"),
            ("_ZN4grid4step17h0123456789abcdefE", "grid::step"),
            ("_QPheat", "heat"),
            ("_QMgridPstep", "grid::step"),
            ("_QMgridFstepPinner_loop2", "grid::step::inner_loop2"),
            ("_QQmain", "the main program"),
            ("_Quiet", "_Quiet"),
            ("_QM", "_QM"),
        ];
        for (name, want) in table {
            assert_eq!(demangled(name), want);
        }
    }

    #[test]
    fn names_in_a_text() {
        let table = [
            ("offloaded _ZN1M4stepEv.1: 1 loop, 2 arrays", "offloaded M::step.1: 1 loop, 2 arrays"),
            ("the call of _ZN1M4stepEv may have side effects", "the call of M::step may have side effects"),
            ("depends on i % b", "depends on i % b"),
            ("größer _Z", "größer _Z"),
            ("", ""),
        ];
        for (text, want) in table {
            assert_eq!(demangled_text(text), want);
        }
    }
}
