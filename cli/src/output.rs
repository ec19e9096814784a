//! What the commands print. A reader that has seen enough (`pollyrs report … | head -1`) is no error, and no
//! panic.

use std::io::{self, ErrorKind, Write};

/// Prints to standard output.
///
/// # Errors
/// Whatever keeps the text from being written, but for a closed pipe.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints to standard error. Who closes that wants to hear nothing.
pub fn tell(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_error() {
        assert!(closed(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(closed(Err(ErrorKind::StorageFull.into())).is_err());
        assert!(closed(Ok(())).is_ok());
    }
}
