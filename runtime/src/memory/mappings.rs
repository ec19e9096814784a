//! What the kernel says of the memory that an execution touches: pages that are not there, and memory with
//! two addresses.
//!
//! **Problem.** The range of an array goes from the first element that is touched to the last one, and copies
//! take all of it. A program may have put an inaccessible page in between (blocks of one mapping with guard
//! pages), which none of its accesses touches. And one buffer may be mapped at two addresses (ring buffers
//! that wrap round by themselves): then arrays are one although their addresses differ.
//!
//! **Approach.** The kernel is asked for the mappings that a range lies in, once for each array that is not
//! on the device already. Where a page can't be read, or where an execution writes memory that it also
//! reaches at another address, the original loop runs. Memory that is shared is never kept on the device.
//!
//! **Costs.** Since Linux 6.11 a mapping is asked for by its address (`PROCMAP_QUERY`), in about a
//! microsecond with the file's opening; older ones give the list of all. The file is opened each time: a
//! child of `fork` would ask for its parent's memory, and a program may close all files.
//!
//! What escapes: pages within a mapping that the program had taken away (`MADV_GUARD_INSTALL`, a file that
//! became shorter), and memory that another thread unmaps meanwhile. Where control flow decides what is read,
//! copies survive those as well ([`crate::memory::guarded`]).

use std::ffi::{c_int, c_ulong};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;

use crate::base::abi::{Array, Scop};
use crate::base::error::{Error, Result};
use crate::base::planted::skips;
use crate::base::shape::Shape;
use crate::base::spans::{Span, overlaps};
use crate::memory::packed;

unsafe extern "C" {
    fn ioctl(fd: c_int, request: c_ulong, ...) -> c_int;
}

/// `struct procmap_query` of linux/fs.h.
#[derive(Clone, Default)]
#[repr(C)]
struct Query {
    size: u64,
    flags: u64,
    address: u64,
    start: u64,
    end: u64,
    vma_flags: u64,
    page_size: u64,
    offset: u64,
    inode: u64,
    device: [u32; 2],
    name_size: u32,
    build_id_size: u32,
    name: u64,
    build_id: u64,
}

const _: () = assert!(std::mem::size_of::<Query>() == 104);

/// `_IOWR('f', 17, struct procmap_query)`.
const PROCMAP_QUERY: c_ulong = 0xc068_6611;
/// Bits of `vma_flags`.
const READABLE: u64 = 1;
const SHARED: u64 = 8;
const ENOENT: i32 = 2;

/// What is mapped: a file's device, its inode and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    file: (u32, u32, u64),
    offset: u64,
}

/// A part of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    span: Span,
    readable: bool,
    /// Of memory that may have other addresses.
    shared: Option<Source>,
}

/// The mappings of this process, as far as they were asked for.
struct Mappings {
    file: File,
    known: Vec<Mapping>,
    /// `known` are all.
    all: bool,
}

impl Mappings {
    /// None: there is nobody to ask.
    fn open() -> Option<Mappings> {
        Some(Mappings { file: File::open("/proc/self/maps").ok()?, known: Vec::new(), all: false })
    }

    /// The mapping of an address, or none.
    fn at(&mut self, address: u64) -> Option<Mapping> {
        let found = self.known.iter().find(|m| (m.span.0..m.span.1).contains(&address));
        if found.is_some() || self.all {
            return found.copied();
        }
        let size = std::mem::size_of::<Query>() as u64;
        let mut query = Query { size, address, ..Query::default() };
        // SAFETY: the request's own structure, of the size that it says.
        if unsafe { ioctl(self.file.as_raw_fd(), PROCMAP_QUERY, &raw mut query) } == 0 {
            let source =
                Source { file: (query.device[0], query.device[1], query.inode), offset: query.offset };
            let mapping = Mapping {
                span: (query.start, query.end),
                readable: query.vma_flags & READABLE != 0,
                shared: (query.vma_flags & SHARED != 0).then_some(source),
            };
            self.known.push(mapping);
            return Some(mapping);
        }
        if std::io::Error::last_os_error().raw_os_error() == Some(ENOENT) {
            return None;
        }
        let mut text = String::new();
        self.all = true;
        if self.file.read_to_string(&mut text).is_err() {
            // Nobody to ask: what there is, is taken for ordinary memory.
            text = String::from("0-ffffffffffffffff rw-p 0 00:00 0");
        }
        self.known = text.lines().filter_map(parse).collect();
        self.at(address)
    }

    /// The parts of a range that are shared with other addresses, and whether all of it can be read.
    fn look(&mut self, (start, end): Span) -> (Vec<(Span, Source)>, bool) {
        let (mut shared, mut at) = (Vec::new(), start);
        while at < end {
            let Some(mapping) = self.at(at).filter(|mapping| mapping.readable) else {
                return (shared, false);
            };
            let part = (at, mapping.span.1.min(end));
            if let Some(Source { file, offset }) = mapping.shared {
                shared.push((part, Source { file, offset: offset + (at - mapping.span.0) }));
            }
            at = mapping.span.1;
        }
        (shared, true)
    }
}

/// A line of `/proc/self/maps`.
fn parse(line: &str) -> Option<Mapping> {
    let mut words = line.split_ascii_whitespace();
    let hex = |word: &str| u64::from_str_radix(word, 16).ok();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?.as_bytes();
    let offset = hex(words.next()?)?;
    let (major, minor) = words.next()?.split_once(':')?;
    let file = (hex(major)? as u32, hex(minor)? as u32, words.next()?.parse().ok()?);
    Some(Mapping {
        span: (hex(start)?, hex(end)?),
        readable: rights.first() == Some(&b'r'),
        shared: (rights.get(3) == Some(&b's')).then_some(Source { file, offset }),
    })
}

/// Whether all of some ranges can be read, as far as anyone can tell.
pub fn can_be_read(spans: impl IntoIterator<Item = Span>) -> bool {
    Mappings::open().is_none_or(|mut mappings| spans.into_iter().all(|span| mappings.look(span).1))
}

/// Whether copies take more than what is surely touched: not where all of the range is written.
fn may_have_holes(array: &Array) -> bool {
    let whole = array.out_range() == Some((0, array.bytes)) && array.shape() == Shape::Dense;
    !whole && !array.is_guarded() && (array.copied_in() || array.held() && array.needs_values())
}

/// Looks at the memory of an execution's arrays, but for those that are `known`. The result are those in
/// shared memory, which must not be kept.
///
/// # Errors
/// [`Error::Unreadable`], [`Error::OneMemory`]: the original loop has to run.
pub fn check(scop: &Scop, arrays: &[Array], known: impl Fn(&Array) -> bool) -> Result<Vec<usize>> {
    let mut mappings = None;
    let mut found: Vec<(usize, Span, Source)> = Vec::new();
    for (index, array) in arrays.iter().enumerate().filter(|(_, a)| a.is_memory() && !a.is_own() && !known(a))
    {
        if mappings.is_none() {
            mappings = Some(Mappings::open());
        }
        let Some(Some(mappings)) = &mut mappings else { return Ok(Vec::new()) };
        for place in packed::places(array.span()) {
            let (shared, readable) = mappings.look(place);
            if !readable && may_have_holes(array) && !skips("holes") {
                return Err(Error::Unreadable);
            }
            if !skips("two-addresses") {
                found.extend(shared.into_iter().map(|(part, source)| (index, part, source)));
            }
        }
    }
    for (n, (i, p, s)) in found.iter().enumerate() {
        for (j, q, t) in &found[n + 1..] {
            let bytes = |source: &Source, part: &Span| (source.offset, source.offset + (part.1 - part.0));
            // The same bytes of a file at other addresses. (At the same ones they are compared as all arrays
            // are.)
            let one = s.file == t.file
                && overlaps(bytes(s, p), bytes(t, q))
                && p.0.wrapping_sub(s.offset) != q.0.wrapping_sub(t.offset);
            if one && [i, j].into_iter().any(|&index| arrays[index].out_range().is_some()) {
                return Err(Error::OneMemory {
                    a: scop.array_name(*i).into(),
                    b: scop.array_name(*j).into(),
                });
            }
        }
    }
    let mut shared: Vec<usize> = found.into_iter().map(|(index, _, _)| index).collect();
    shared.dedup();
    Ok(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel() {
        let table = [
            ("7f00-8f00 rw-p 00001000 fe:01 77   /usr/lib/x", true, None),
            ("7f00-8f00 ---p 00000000 00:00 0", false, None),
            (
                "7f00-8f00 rw-s 00002000 00:0f 4711  /memfd:ring (deleted)",
                true,
                Some(Source { file: (0, 15, 4711), offset: 0x2000 }),
            ),
        ];
        for (line, readable, shared) in table {
            assert_eq!(parse(line), Some(Mapping { span: (0x7f00, 0x8f00), readable, shared }), "{line}");
        }
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn the_kernel_and_its_list_agree() {
        let local = 5u64;
        let table: Vec<u64> = (0..5000).collect();
        let function = parse as fn(&str) -> Option<Mapping>;
        for (span, readable) in [
            ((&raw const local as u64, &raw const local as u64 + 8), true),
            ((table.as_ptr() as u64, table.as_ptr() as u64 + 40_000), true),
            ((function as usize as u64, function as usize as u64 + 1), true),
            ((0, 1), false),
            ((4096, 8192), false),
        ] {
            let mut asked = Mappings::open().unwrap();
            let mut text = String::new();
            File::open("/proc/self/maps").unwrap().read_to_string(&mut text).unwrap();
            let known = text.lines().filter_map(parse).collect();
            let mut listed = Mappings { file: File::open("/proc/self/maps").unwrap(), known, all: true };
            let look = |mappings: &mut Mappings| (mappings.at(span.0).map(|m| m.shared), mappings.look(span));
            assert_eq!(look(&mut asked), look(&mut listed), "{span:?}");
            assert_eq!(asked.look(span), (Vec::new(), readable), "{span:?}");
        }
    }
}
