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

/// How names of functions of C++'s and Rust's libraries begin.
const LIBRARY: [&str; 7] =
    ["std::", "__gnu_cxx::", "__pstl::", "core::", "alloc::", "hashbrown::", "bool std::"];

/// Whether a function belongs to a language's library, by its name.
pub fn is_library(name: &str) -> bool {
    LIBRARY.iter().any(|begin| name.trim_start_matches('<').starts_with(begin))
}

/// `std::vector::push_back` for `std::vector<double, std::allocator<double> >::push_back`, `Args::try_fold`
/// for `<std::env::Args as Iterator>::try_fold::<...>`: what a library's function is called without what it
/// is made for. Others as they are.
pub fn short(name: &str) -> String {
    if let Some(method) = of_type(name) {
        return method;
    }
    if !LIBRARY.iter().any(|begin| name.starts_with(begin)) {
        return name.to_owned();
    }
    let (mut out, mut depth) = (String::new(), 0u32);
    for c in name.chars() {
        match c {
            // What is behind the word is the operator's name.
            '<' | '>' if depth == 0 && out.trim_end_matches(['<', '>', '=', '-']).ends_with("operator") => {
                out.push(c)
            }
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// `Type::method` of a method of Rust's library: `<core::Type<T> as core::Trait>::method::<A>`.
fn of_type(name: &str) -> Option<String> {
    let end = closing(name.strip_prefix('<')?)? + 1;
    let (ty, rest) = (&name[1..end], &name[end + 1..]);
    let ty = ty.split(" as ").next().unwrap_or(ty);
    // Numbers, slices and the like are the library's as well.
    let is_basic = !ty.contains("::");
    if !is_basic && !LIBRARY.iter().any(|begin| ty.starts_with(begin)) {
        return None;
    }
    let ty = without_arguments(ty);
    let last = ty.rsplit("::").next().unwrap_or(&ty);
    Some(format!("{last}{}", without_arguments(rest).trim_end_matches("::")))
}

/// Where the bracket that is open in front of a text is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1u32;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            // (`->` of a function's type.)
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// A path without what is in angle brackets.
fn without_arguments(path: &str) -> String {
    let (mut out, mut rest) = (String::new(), path);
    while let Some(at) = rest.find('<') {
        out += &rest[..at];
        let Some(end) = closing(&rest[at + 1..]) else { break };
        rest = &rest[at + end + 2..];
        // `::<A>` between two names.
        if rest.starts_with("::") && out.ends_with("::") {
            rest = &rest[2..];
        }
    }
    out + rest
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
        out += &short(&demangled(name));
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
    fn names_of_libraries_are_short() {
        let table = [
            ("std::vector<double, std::allocator<double> >::push_back", "std::vector::push_back"),
            ("std::for_each<int*, io(int)::$_0>", "std::for_each"),
            ("std::map<int, std::less<int> >::operator[]", "std::map::operator[]"),
            ("std::operator<< <std::char_traits<char> >", "std::operator<< "),
            ("std::_List_iterator<int>::operator->", "std::_List_iterator::operator->"),
            ("grid<double>::step", "grid<double>::step"),
            ("<alloc::raw_vec::RawVec<i64>>::grow_one", "RawVec::grow_one"),
            ("<char>::to_digit", "char::to_digit"),
            (
                "<std::env::Args as core::iter::Iterator>::try_fold::<u8, <A as B>::c::{closure#0}>",
                "Args::try_fold",
            ),
            (
                "<heat::Grid as core::ops::Index<usize>>::index",
                "<heat::Grid as core::ops::Index<usize>>::index",
            ),
            ("<[f64] as core::slice::Sort>::sort_by::<F>::{closure#0}", "[f64]::sort_by::{closure#0}"),
        ];
        for (name, want) in table {
            assert_eq!(short(name), want);
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
