//! Response files: `@file` stands for the words in the file.
//!
//! They are expanded here, since the driver has to see input files and its own options inside them. The
//! syntax is that of GNU tools, which clang uses on Unix: words are separated by white space; single and
//! double quotes group; a backslash takes the next character literally, inside double quotes too, but not
//! inside single ones. As in clang, `@file` is an ordinary word if there is no such file.

use super::DriverError;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Nesting beyond this is taken for a cycle.
const MAX_DEPTH: usize = 32;

/// The words with all response files replaced by their contents.
pub fn expand(words: &[OsString]) -> Result<Vec<OsString>, DriverError> {
    let mut out = Vec::new();
    expand_into(words, 0, &mut out)?;
    Ok(out)
}

fn expand_into(words: &[OsString], depth: usize, out: &mut Vec<OsString>) -> Result<(), DriverError> {
    if depth > MAX_DEPTH {
        return Err(DriverError::ResponseDepth(MAX_DEPTH));
    }
    for word in words {
        match word.as_bytes().strip_prefix(b"@") {
            Some(name) if !name.is_empty() && Path::new(OsStr::from_bytes(name)).is_file() => {
                let path = PathBuf::from(OsStr::from_bytes(name));
                let text = fs_err::read(&path).map_err(|source| DriverError::Response { path, source })?;
                expand_into(&tokenize(&text), depth + 1, out)?;
            }
            _ => out.push(word.clone()),
        }
    }
    Ok(())
}

fn tokenize(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(q), b) if b == q => quote = None,
            (None | Some(b'"'), b'\\') => {
                if let Some(next) = bytes.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            (Some(_), b) => word.get_or_insert_default().push(b),
            (None, b @ (b'"' | b'\'')) => {
                quote = Some(b);
                word.get_or_insert_default();
            }
            (None, b) if b.is_ascii_whitespace() => words.extend(word.take()),
            (None, b) => word.get_or_insert_default().push(b),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// Writes the words to a response file, which lives as long as the returned value.
pub fn write(words: &[OsString]) -> Result<tempfile::NamedTempFile, DriverError> {
    let mut file = tempfile::Builder::new().prefix("pollyrs-").suffix(".rsp").tempfile()?;
    for word in words {
        file.write_all(&quote(word))?;
        file.write_all(b"\n")?;
    }
    file.flush()?;
    Ok(file)
}

fn quote(word: &OsStr) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in word.as_bytes() {
        if byte == b'"' || byte == b'\\' {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_as_gnu_tools_split_them() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("a  b\n\tc ", &["a", "b", "c"]),
            (r#""a b" 'c d'e"#, &["a b", "c de"]),
            (r#"a\ b "c\"d" 'e\f'"#, &["a b", "c\"d", r"e\f"]),
            (r#"'' "" x"#, &["", "", "x"]),
            (r#"-DX='"s"'"#, &[r#"-DX="s""#]),
        ];
        for (text, want) in table {
            assert_eq!(&tokenize(text.as_bytes()), want, "{text:?}");
        }
    }

    #[test]
    fn written_files_read_back_and_nest() {
        let words: Vec<OsString> = ["a b", "", r#"-DX="\n""#, "it's", "tab\there"].map(OsString::from).into();
        let inner = write(&words).unwrap();
        let at = |f: &tempfile::NamedTempFile| OsString::from(format!("@{}", f.path().display()));
        let outer = write(&["x".into(), at(&inner), "y".into()]).unwrap();
        let expanded = expand(&[at(&outer)]).unwrap();
        assert_eq!(expanded[0], "x");
        assert_eq!(expanded[1..6], words[..]);
        assert_eq!(expanded[6], "y");
    }

    #[test]
    fn a_missing_file_is_an_ordinary_word_and_a_cycle_an_error() {
        assert_eq!(expand(&["@no/such/file".into(), "@".into()]).unwrap(), ["@no/such/file", "@"]);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cycle");
        std::fs::write(&path, format!("@{}", path.display())).unwrap();
        assert!(expand(&[format!("@{}", path.display()).into()]).is_err());
    }
}
