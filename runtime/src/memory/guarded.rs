//! Copies out of memory that may not be there.
//!
//! **Problem.** Where control flow inside a statement decides what is read, the range that is copied to the device may reach beyond what
//! the program accesses, into pages that are not mapped, not readable, or that another thread unmaps at this moment. An ordinary
//! copy would end the program.
//!
//! **Solution.** The kernel copies (`process_vm_readv` from the process itself): it reports what it cannot read, without a signal
//! and without a gap between a check and the copy. Then the original loop runs.

use std::ffi::{c_int, c_ulong, c_void};

use crate::base::error::{Error, Result};
use crate::memory::packed;

#[repr(C)]
struct Piece {
    base: *mut c_void,
    len: usize,
}

unsafe extern "C" {
    fn getpid() -> c_int;
    fn process_vm_readv(
        pid: c_int,
        local: *const Piece,
        n_local: c_ulong,
        remote: *const Piece,
        n_remote: c_ulong,
        flags: c_ulong,
    ) -> isize;
}

/// Pieces of one call (`IOV_MAX` is 1024).
const TOGETHER: usize = 1024;

/// The kernel copies less than 2 GiB at a time.
const CHUNK: usize = 1 << 30;

/// Fills `to` with the bytes at `from`.
///
/// # Errors
/// [`Error::Unreadable`] if some of them cannot be read.
pub fn copy(to: &mut [u8], from: *const u8) -> Result<()> {
    let mut done = 0;
    while done < to.len() {
        let rest = &mut to[done..];
        let len = rest.len().min(CHUNK);
        let local = Piece { base: rest.as_mut_ptr().cast(), len };
        let remote = Piece { base: from.wrapping_add(done).cast_mut().cast(), len };
        // SAFETY: the local piece is ours to write; the kernel checks the other one.
        let copied = unsafe { process_vm_readv(getpid(), &local, 1, &remote, 1, 0) };
        match usize::try_from(copied) {
            Ok(n) if n > 0 => done += n,
            _ => return Err(Error::Unreadable),
        }
    }
    Ok(())
}

/// Fills the places of pieces with what the program has.
///
/// # Errors
/// As for [`copy`].
///
/// # Safety
/// The places are nobody else's.
pub unsafe fn gather(pieces: &[packed::Piece]) -> Result<()> {
    for pieces in pieces.chunks(TOGETHER) {
        let all: u64 = pieces.iter().map(|piece| piece.bytes).sum();
        let side = |address: fn(&packed::Piece) -> u64| {
            let piece = |p: &packed::Piece| Piece {
                base: std::ptr::with_exposed_provenance_mut(address(p) as usize),
                len: p.bytes as usize,
            };
            pieces.iter().map(piece).collect::<Vec<_>>()
        };
        let (local, remote) = (side(|p| p.at), side(|p| p.real));
        let n = pieces.len() as c_ulong;
        // SAFETY: the caller's promise about the local pieces; the kernel checks the other ones.
        let copied = unsafe { process_vm_readv(getpid(), local.as_ptr(), n, remote.as_ptr(), n, 0) };
        if u64::try_from(copied).ok() == Some(all) {
            continue;
        }
        // Too much at once, or something is not there.
        for piece in pieces {
            let to = std::ptr::with_exposed_provenance_mut(piece.at as usize);
            // SAFETY: the caller's promise.
            let to = unsafe { std::slice::from_raw_parts_mut(to, piece.bytes as usize) };
            copy(to, std::ptr::with_exposed_provenance(piece.real as usize))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_copied_and_nothing_else_ends_the_program() {
        let from: Vec<u8> = (0..100_000u32).map(|i| (i * 7 % 251) as u8).collect();
        let mut to = vec![0; from.len()];
        copy(&mut to, from.as_ptr()).unwrap();
        assert_eq!(from, to);
        copy(&mut [], std::ptr::null()).unwrap();
        for bad in [0usize, 64, usize::MAX - 4096] {
            assert_eq!(copy(&mut to, bad as *const u8), Err(Error::Unreadable));
        }
    }
}
