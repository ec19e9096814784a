//! Groups of ranks that are threads, against one memory.

use super::*;
use crate::base::abi::{ABI_VERSION, ARRAY_COPY_IN, ARRAY_COPY_OUT, Array, Kernel, Scop};
use crate::base::planted::MISTAKE;
use crate::base::rows::{Plane, Rows};
use crate::device::code::ModuleSlot;
use crate::device::{Part, Queue};
use crate::hosts::channels::{each_rank, ranks};

/// A device that carries out what it is asked at once.
#[derive(Default)]
struct Bytes {
    memories: Vec<Vec<u8>>,
    landing: Vec<u8>,
}

/// What a kernel makes of a byte's neighbours.
fn value(before: u8, behind: u8, at: usize) -> u8 {
    before.wrapping_mul(3).wrapping_add(behind).wrapping_add(at as u8)
}

fn step(source: &[u8], target: &mut [u8], (from, to): (usize, usize)) {
    for at in from..to {
        target[at] = value(source[at.saturating_sub(1)], source[(at + 1).min(source.len() - 1)], at);
    }
}

impl Queue for Bytes {
    fn label(&self) -> &'static str {
        "bytes"
    }

    fn allocate(&mut self, bytes: u64, _host: u64) -> Result<u64> {
        // What nobody wrote is told from what somebody did.
        self.memories.push(vec![0xee; bytes as usize]);
        Ok(self.memories.last().unwrap().as_ptr() as u64)
    }

    fn give_back(&mut self, device: u64) {
        self.memories.retain(|memory| memory.as_ptr() as u64 != device);
    }

    fn aim(&mut self, _scop: &'static Scop, _module: &'static ModuleSlot) -> Result<()> {
        Ok(())
    }

    unsafe fn copy_within(&mut self, to: u64, from: u64, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes as usize) };
        Ok(())
    }

    unsafe fn copy_in(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes as usize) };
        Ok(())
    }

    unsafe fn launch(&mut self, _kernel: usize, _blocks: u64, arguments: &[u64]) -> Result<()> {
        let [source, target, from, to] = *arguments else { panic!() };
        // SAFETY: two memories of this size.
        let (source, target) = unsafe {
            (
                std::slice::from_raw_parts(source as *const u8, SIZE),
                std::slice::from_raw_parts_mut(target as *mut u8, SIZE),
            )
        };
        step(source, target, (from as usize, to as usize));
        Ok(())
    }

    fn synchronize(&mut self) -> Result<()> {
        Ok(())
    }

    fn landing(&mut self, bytes: u64) -> Result<*mut u8> {
        self.landing = vec![0; bytes as usize];
        Ok(self.landing.as_mut_ptr())
    }

    unsafe fn copy_out(&mut self, to: *mut u8, from: u64, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, bytes as usize) };
        Ok(())
    }

    fn kernel_ms(&mut self) -> f64 {
        0.0
    }
}

impl Member for Bytes {
    const SHARED_COPY: u64 = 0;
    const LINKS: bool = false;

    unsafe fn pull(&mut self, to: u64, _other: &Self, from: u64, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_within(to, from, bytes) }
    }
}

/// More than each rank copies for itself.
const SIZE: usize = 3 * 4096 + 77;

fn scop() -> &'static Scop {
    let kernel = |arrays: &'static [u32; 2]| Kernel {
        name: c"step".as_ptr(),
        emulated: None,
        flags: 0,
        shared_bytes: 0,
        block: [1; 3],
        n_arrays: 2,
        array_index: arrays.as_ptr(),
        n_scalars: 2,
        dynamic_shared_bytes: 0,
    };
    let kernels = Box::leak(Box::new([kernel(&[0, 1]), kernel(&[1, 0])]));
    Box::leak(Box::new(Scop {
        abi_version: ABI_VERSION,
        flags: 0,
        name: c"steps".as_ptr(),
        at: c"".as_ptr(),
        n_kernels: 2,
        n_images: 0,
        kernels: kernels.as_ptr(),
        images: std::ptr::null(),
        n_reasons: 0,
        n_arrays: 2,
        reasons: std::ptr::null(),
        array_names: std::ptr::null(),
        cache: std::ptr::null_mut(),
    }))
}

/// Numbers that are the same on all ranks.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn span(&mut self) -> (usize, usize) {
        let (a, b) = (self.below(SIZE + 1), self.below(SIZE + 1));
        // Many are short.
        if self.below(2) == 0 { (a.min(b), a.max(b)) } else { (a, (a + self.below(40)).min(SIZE)) }
    }
}

/// One rank's program: operations in an order from a seed on two arrays. Whether what it sees is what one
/// memory has.
struct Program {
    group: Group<Bytes>,
    random: Random,
    devices: [u64; 2],
    /// What one device would have.
    model: [Vec<u8>; 2],
}

impl Program {
    fn new(world: &'static World, devices: usize, seed: u64) -> Program {
        let members = (0..devices).map(|_| Bytes::default()).collect();
        let mut group = Group::across(members, scop(), true, world);
        group.meet().unwrap();
        let mut random = Random(seed);
        let mut model = [(); 2].map(|()| (0..SIZE).map(|_| random.below(256) as u8).collect::<Vec<u8>>());
        let places = [0, 1].map(|_| group.allocate(SIZE as u64, 0).unwrap());
        for (index, data) in model.iter_mut().enumerate() {
            let array = Array {
                start: data.as_mut_ptr().cast(),
                bytes: SIZE as u64,
                bias: 0,
                out_offset: 0,
                out_bytes: SIZE as u64,
                flags: ARRAY_COPY_IN | ARRAY_COPY_OUT,
                element_bytes: 1,
                row_bytes: 0,
                row_count: [0; 3],
                row_stride: [0; 3],
            };
            group.placed(index, &array, places[index], places[index], false);
            // SAFETY: the array's bytes.
            unsafe { group.copy_in(places[index], data.as_ptr(), SIZE as u64) }.unwrap();
        }
        Program { group, random, devices: places, model }
    }

    /// A launch in parts, of which some have no blocks.
    fn launch(&mut self, kernel: usize) {
        let (source, target) = (kernel, 1 - kernel);
        let parts = 1 + self.random.below(self.group.devices());
        let mut borders: Vec<usize> = (0..=parts).map(|_| self.random.below(SIZE + 1)).collect();
        borders.sort_unstable();
        let at = |array: usize, offset: usize| self.devices[array] + offset as u64;
        let part = |from: usize, to: usize| Part {
            blocks: (to - from) as u64,
            arguments: vec![at(source, 0), at(target, 0), from as u64, to as u64],
            touched: vec![
                (at(source, from.saturating_sub(1)), at(source, (to + 1).min(SIZE))),
                (at(target, from), at(target, to)),
            ],
            written: vec![(at(target, from), at(target, to))],
        };
        let parts: Vec<Part> = borders.windows(2).map(|pair| part(pair[0], pair[1])).collect();
        // SAFETY: memories of the group.
        unsafe { self.group.launch_parts(kernel, &parts) }.unwrap();
        self.compute(kernel, (borders[0], *borders.last().unwrap()));
    }

    fn compute(&mut self, kernel: usize, part: (usize, usize)) {
        let [first, second] = &mut self.model;
        let (source, target) = if kernel == 0 { (first, second) } else { (second, first) };
        step(source, target, part);
    }

    /// Whether the program sees what it should.
    fn is_right(&mut self) -> bool {
        let array = self.random.below(2);
        let (from, to) = self.random.span();
        let mut seen = vec![0; to - from];
        if from < to {
            let place = self.devices[array] + from as u64;
            // SAFETY: a part of the memory.
            unsafe { self.group.copy_out(seen.as_mut_ptr(), place, (to - from) as u64) }.unwrap();
        }
        let rows = Rows { bytes: 3, count: [1, 1, 50], stride: [0, 0, 71] };
        let plane = Plane { offset: 71, rows: 40 };
        let mut landed = [0; 120];
        // SAFETY: rows of the memory.
        unsafe { self.group.copy_plane_out(landed.as_mut_ptr(), self.devices[array], &rows, &plane) }
            .unwrap();
        let row = |at: usize| &self.model[array][71 * (at + 1)..][..3];
        seen == self.model[array][from..to] && (0..40).all(|at| &landed[3 * at..][..3] == row(at))
    }

    fn run(mut self) -> bool {
        let mut right = true;
        for _ in 0..30 {
            match self.random.below(8) {
                0 => {
                    let array = self.random.below(2);
                    let (from, to) = self.random.span();
                    self.model[array][from..to].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
                    let place = self.devices[array] + from as u64;
                    let start = self.model[array][from..].as_ptr();
                    // SAFETY: a part of the array.
                    unsafe { self.group.copy_in(place, start, (to - from) as u64) }.unwrap();
                }
                1 => {
                    let (from, to) = self.random.span();
                    let [first, second] = self.devices.map(|device| device + from as u64);
                    // SAFETY: parts of two memories.
                    unsafe { self.group.copy_within(second, first, (to - from) as u64) }.unwrap();
                    let [first, second] = &mut self.model;
                    second[from..to].copy_from_slice(&first[from..to]);
                }
                2 => {
                    let (from, to) = self.random.span();
                    let arguments = [self.devices[0], self.devices[1], from as u64, to as u64];
                    // SAFETY: memories of the group.
                    unsafe { self.group.launch(0, 1, &arguments) }.unwrap();
                    self.compute(0, (from, to));
                }
                3 => right &= self.is_right(),
                n => self.launch(n % 2),
            }
        }
        right & self.is_right()
    }
}

fn all_right(devices: &'static [usize], seed: u64, mistake: &'static str) -> bool {
    let right = each_rank(ranks(devices.len()), |transport| {
        MISTAKE.with(|planted| planted.set(mistake));
        let rank = transport.rank();
        let world: &'static World = Box::leak(Box::new(World::new(transport, false)));
        let right = Program::new(world, devices[rank], seed).run();
        assert!(world.is_gathered());
        right
    });
    right.iter().all(|right| *right)
}

#[test]
fn ranks_see_what_one_device_has() {
    for devices in [&[1][..], &[1, 1], &[2, 1], &[1, 3, 1], &[1, 1, 1, 1]] {
        for seed in 0..40 {
            assert!(all_right(devices, seed, ""), "{devices:?} {seed}");
        }
    }
}

#[test]
fn planted_mistakes_are_seen() {
    for mistake in ["rank-message", "rank-result", "exchange"] {
        assert!((0..5).any(|seed| !all_right(&[1, 2, 1], seed, mistake)), "{mistake}");
    }
}

#[test]
fn a_memory_that_one_rank_lacks_is_nobodys() {
    let given = each_rank(ranks(2), |transport| {
        let rank = transport.rank();
        let world: &'static World = Box::leak(Box::new(World::new(transport, false)));
        let mut group = Group::across(vec![Bytes::default()], scop(), true, world);
        group.meet().unwrap();
        let failed = group.agree(Step::Allocate, [1], rank == 0).is_err();
        (failed, group.allocate(8, 0).is_ok())
    });
    assert_eq!(given, [(true, true); 2]);
}

#[test]
fn long_moves_are_several_messages() {
    let long = 5 * MESSAGE_BYTES + 3;
    let moves = vec![
        (0, vec![Move { from: 0, to: 1, part: (10, 10 + long) }, Move { from: 0, to: 2, part: (0, 5) }]),
        (3, vec![Move { from: 2, to: 0, part: (7, 8) }]),
    ];
    let messages = messages(&moves, |m| m.to != 2);
    assert_eq!(messages.len(), 7);
    let bytes = |list: &[Message]| list.iter().map(|m| m.part.1 - m.part.0).sum::<u64>();
    assert_eq!(bytes(&messages), long + 1);
    assert!(
        messages.windows(2).all(|pair| pair[0].index != pair[1].index || pair[0].part.1 == pair[1].part.0)
    );
    let rounds: Vec<&[Message]> = rounds(&messages).collect();
    assert!(rounds.iter().all(|round| bytes(round) <= ROUND_BYTES) && rounds.len() >= 2);
    assert_eq!(rounds.concat(), messages);
}
