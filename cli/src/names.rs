//! Names of functions as their authors know them.

/// `M::step` for `_ZN1M4stepEv`, `grid::step` for a name of rustc's; others as they are.
pub fn demangled(name: &str) -> String {
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
            ("_QPheat", "_QPheat"),
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
