//! Copies out of memory that may not be there.
//!
//! **Problem.** Where control flow inside a statement decides what is read, the range that is copied to the
//! device may reach beyond what the program accesses, into pages that are not mapped, not readable, or that
//! another thread unmaps at this moment. An ordinary copy would end the program.
//!
//! **Solution.** The kernel copies (`process_vm_readv` from the process itself): it reports what it cannot
//! read, without a signal and without a gap between a check and the copy. Then the original loop runs.

use std::ffi::{c_int, c_ulong, c_void};

use crate::base::abi::Array;
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

/// Allocating less costs less than looking.
const LARGE: u64 = 1 << 20;

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

/// A large range that may not be there is looked at where it begins and ends before the device gets memory
/// for it: values that nobody uses may be offsets of gigabytes.
///
/// # Errors
/// As for [`copy`].
pub fn check_ends(array: &Array) -> Result<()> {
    if !array.is_guarded() || array.bytes < LARGE || packed::of(array.start as u64).is_some() {
        return Ok(());
    }
    let first = array.start.cast::<u8>().cast_const();
    [0, array.bytes as usize - 1].iter().try_for_each(|at| copy(&mut [0], first.wrapping_add(*at)))
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
    use crate::base::abi::ARRAY_GUARDED;

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

    #[test]
    fn large_ranges_are_looked_at_where_they_begin_and_end() {
        let there = vec![1u8; 2 * LARGE as usize];
        let array = |start: usize, bytes: u64, flags: u32| Array {
            start: std::ptr::without_provenance_mut(start),
            bytes,
            bias: 0,
            out_offset: 0,
            out_bytes: 0,
            flags,
            element_bytes: 1,
            row_bytes: bytes,
            row_count: [1; 3],
            row_stride: [0; 3],
        };
        let (at, bytes) = (there.as_ptr().expose_provenance(), there.len() as u64);
        let ends = |start, bytes, flags| check_ends(&array(start, bytes, flags));
        assert_eq!(ends(at, bytes, ARRAY_GUARDED), Ok(()));
        assert_eq!(ends(at, 1 << 46, ARRAY_GUARDED), Err(Error::Unreadable));
        assert_eq!(ends(64, at as u64, ARRAY_GUARDED), Err(Error::Unreadable));
        // What is copied in any case, and what costs nothing to allocate.
        assert_eq!(ends(at, 1 << 46, 0), Ok(()));
        assert_eq!(ends(64, LARGE - 1, ARRAY_GUARDED), Ok(()));
    }
}
