//! A group of devices as one [`Queue`].

use super::books::{Books, share_of};
use super::ranks::Step;
use super::{Group, Member, Memory, PlacedArray};
use crate::base::abi::{Array, Scop};
use crate::base::error::{Error, Result};
use crate::base::rows::{Plane, Rows};
use crate::base::spans::Span;
use crate::device::code::ModuleSlot;
use crate::device::results::Returning;
use crate::device::{Lane, Part, Queue, Store};

/// So few bytes each rank copies from its program's memory, rather than to ask another one for them.
const LITTLE_COPY: u64 = 4096;

impl<M: Member> Queue for Group<M> {
    fn label(&self) -> &'static str {
        self.here[0].label()
    }

    fn devices(&self) -> usize {
        self.count()
    }

    fn always_shares(&self) -> bool {
        self.always
    }

    fn parts(&self, kernel: usize, units: u64) -> u64 {
        self.parts_of(kernel, units)
    }

    fn divided(&self) -> (u64, u64) {
        (self.divided, self.moved)
    }

    fn memory(&self) -> Option<u64> {
        self.ranks.as_ref().map_or_else(|| self.here[0].memory(), |ranks| ranks.memory)
    }

    fn meet(&mut self) -> Result<()> {
        self.meet_ranks()
    }

    fn is_shared(&self) -> bool {
        self.ranks.is_some()
    }

    fn unify(&mut self, snapshot: &mut [u8]) -> Result<()> {
        self.unify_snapshot(snapshot)
    }

    fn allocate(&mut self, bytes: u64, host: u64) -> Result<u64> {
        let allocated = self.first().allocate(bytes, host);
        let agreed = self.agree(Step::Allocate, [bytes], allocated.is_ok());
        let start = allocated?;
        if agreed.is_err() {
            self.first().give_back(start);
            // As where it happened: the same is tried next.
            return Err(Error::OutOfMemory { bytes });
        }
        if let Some(ranks) = &self.ranks {
            ranks.world.spreads();
        }
        let devices = self.count();
        let mut places = vec![None; devices];
        places[0] = Some(start);
        self.memories.push(Memory { start, bytes, host, places, books: Books::new(devices), apart: false });
        Ok(start)
    }

    fn give_back(&mut self, device: u64) {
        let Some(index) = self.memories.iter().position(|memory| memory.start == device) else { return };
        let memory = self.memories.swap_remove(index);
        if let Some(ranks) = &self.ranks {
            ranks.world.gathers(1);
        }
        self.first().give_back(memory.start);
        for (member, place) in memory.places.into_iter().enumerate() {
            if let (Some(place), Some(1..)) = (place, self.at(member)) {
                let Some(member) = self.member(member) else { continue };
                member.give_back_replica(place);
            }
        }
    }

    fn aim(&mut self, scop: &'static Scop, module: &'static ModuleSlot) -> Result<()> {
        self.scop = scop;
        self.arrays.clear();
        (self.moved, self.divided) = (0, 0);
        self.exchanges.clear();
        self.here.iter_mut().try_for_each(|member| member.aim(scop, module))
    }

    fn placed(&mut self, index: usize, array: &Array, device: u64, argument: u64, held: bool) {
        self.first().placed(index, array, device, argument, held);
        if array.bytes == 0 {
            return;
        }
        if self.arrays.len() <= index {
            self.arrays.resize(index + 1, None);
        }
        self.arrays[index] = Some(PlacedArray { array: *array, device, argument, held });
        if array.is_fault()
            && let Ok((memory, _)) = self.find(device)
        {
            self.memories[memory].apart = true;
        }
        for member in 0..self.count() {
            self.tell_placed(index, member);
        }
    }

    fn shape(&mut self, index: usize, dims: usize, sizes: [i64; 3]) {
        self.here.iter_mut().for_each(|member| member.shape(index, dims, sizes));
    }

    fn check(&mut self) {
        let (first, others) = self.here.split_at_mut(1);
        others.iter().for_each(|other| first[0].absorb(other));
        self.hear_accounts();
        self.first().check();
    }

    fn returning(&mut self) {
        self.first().returning();
    }

    fn returned(&mut self) {
        self.first().returned();
        for index in 0..self.memories.len() {
            self.tell_missing(index, (0, self.memories[index].bytes));
        }
    }

    fn brought(&mut self, results: &[Returning<'_>]) {
        self.first().brought(results);
    }

    fn moved(&mut self, to: u64, from: u64, bytes: u64) {
        self.first().moved(to, from, bytes);
        if let Ok((index, offset)) = self.find(to) {
            self.tell_missing(index, (offset, offset + bytes));
        }
    }

    fn outdated(&mut self, device: u64, bytes: u64) {
        self.first().outdated(device, bytes);
    }

    fn forsaken(&mut self, device: u64, bytes: u64) {
        self.first().forsaken(device, bytes);
    }

    fn settled(&mut self, device: u64, bytes: u64) {
        self.first().settled(device, bytes);
    }

    unsafe fn copy_within(&mut self, to: u64, from: u64, bytes: u64) -> Result<()> {
        self.gather(&[(0, (from, from + bytes))])?;
        if self.base() == 0 {
            // SAFETY: the caller's promise.
            unsafe { self.first().copy_within(to, from, bytes) }?;
        }
        self.set(0, (to, to + bytes))
    }

    unsafe fn copy_in(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        let (index, offset) = self.find(to)?;
        let Memory { bytes: whole, apart, .. } = self.memories[index];
        // SAFETY: the caller's promise.
        unsafe { self.note_data(from, bytes) };
        if self.ranks.is_some() && (bytes < M::SHARED_COPY.max(LITTLE_COPY) || apart) {
            // SAFETY: the caller's promise.
            return unsafe { self.copy_in_everywhere(to, from, bytes) };
        }
        let devices = if bytes < M::SHARED_COPY || apart { 1 } else { self.count() };
        let mut copies = Vec::new();
        for member in 0..devices {
            let (start, end) = share_of(whole, member, devices);
            let (start, end) = (start.max(offset), end.min(offset + bytes));
            if start < end {
                copies.push((member, (self.place(index, member)?, start, end)));
            }
        }
        let from = from.expose_provenance();
        let own = self.local(&copies);
        self.at_once(own, bytes, |member, number, (place, start, end)| {
            let from = std::ptr::with_exposed_provenance(from + (start - offset) as usize);
            // SAFETY: the caller's promise; a part of both ranges.
            unsafe {
                match number {
                    0 => member.copy_in(place + start, from, end - start),
                    _ => member.copy_in_replica(place + start, from, end - start),
                }
            }
        })?;
        let address = self.memories[index].start;
        for (member, (_, start, end)) in copies {
            self.set(member, (address + start, address + end))?;
            if member != self.base() {
                self.first().copied_elsewhere(address + start, end - start);
            }
        }
        Ok(())
    }

    fn prefers(&self, rows: &Rows, range: u64) -> bool {
        self.here[0].prefers(rows, range)
    }

    unsafe fn copy_rows_in(&mut self, to: u64, from: *const u8, rows: &Rows) -> Result<()> {
        let (index, offset) = self.find(to)?;
        let end = (offset + rows.reach()).min(self.memories[index].bytes);
        let span = (to, to + (end - offset));
        self.gather(&[(0, span)])?;
        if self.base() == 0 {
            // SAFETY: the caller's promise.
            unsafe { self.first().copy_rows_in(to, from, rows) }?;
        } else {
            rows.offsets().for_each(|offset| self.first().copied_elsewhere(to + offset, rows.bytes));
        }
        self.set(0, span)
    }

    unsafe fn copy_plane_out(&mut self, to: *mut u8, from: u64, rows: &Rows, plane: &Plane) -> Result<()> {
        let (index, offset) = self.find(from)?;
        let mut row = 0;
        while row < plane.rows {
            // Rows that one member has, from here on.
            let at = |row: u64| offset + plane.offset + row * rows.pitch();
            let memory = &self.memories[index];
            let has = |member: usize, row: u64| {
                memory.books.missing(member, (at(row), at(row) + rows.bytes)).is_empty()
            };
            let Some(member) = (0..self.count()).find(|&member| has(member, row)) else {
                let span = (memory.start + at(row), memory.start + at(row) + rows.bytes);
                self.gather(&[(0, span)])?;
                let known = &self.memories[index].books;
                if !known.missing(0, (at(row), at(row) + rows.bytes)).is_empty() {
                    // Nobody wrote some of it.
                    let here = Plane { offset: plane.offset + row * rows.pitch(), rows: 1 };
                    let to = to.wrapping_add((row * rows.bytes) as usize);
                    let place = self.place(index, 0)? + offset;
                    // SAFETY: the caller's promise, for one row.
                    unsafe {
                        self.tell_rows(0, to, rows.bytes, |m| m.copy_plane_out(to, place, rows, &here))
                    }?;
                    row += 1;
                }
                continue;
            };
            let mut end = row + 1;
            while end < plane.rows && has(member, end) {
                end += 1;
            }
            let here = Plane { offset: plane.offset + row * rows.pitch(), rows: end - row };
            let to = to.wrapping_add((row * rows.bytes) as usize);
            let (place, bytes) = (self.place(index, member)? + offset, here.rows * rows.bytes);
            // SAFETY: the caller's promise, for some of the rows.
            unsafe { self.tell_rows(member, to, bytes, |m| m.copy_plane_out(to, place, rows, &here)) }?;
            row = end;
        }
        Ok(())
    }

    fn mark_copies(&mut self) -> Result<()> {
        self.here.iter_mut().try_for_each(Queue::mark_copies)
    }

    fn await_copies(&mut self) -> Result<()> {
        self.here.iter_mut().try_for_each(Queue::await_copies)
    }

    unsafe fn launch(&mut self, kernel: usize, blocks: u64, arguments: &[u64]) -> Result<()> {
        self.first().before_launches();
        let used = self.used(kernel);
        let spans: Vec<(usize, Span)> =
            used.iter().map(|placed| (0, (placed.device, placed.device + placed.array.bytes))).collect();
        self.gather(&spans)?;
        if self.base() == 0 {
            // SAFETY: the caller's promise.
            unsafe { self.first().launch(kernel, blocks, arguments) }?;
        }
        for (placed, (_, span)) in used.iter().zip(spans) {
            if placed.is_written() {
                self.set(0, span)?;
            }
        }
        Ok(())
    }

    unsafe fn launch_parts(&mut self, kernel: usize, parts: &[Part]) -> Result<()> {
        self.first().before_launches();
        let places = self.assign(parts);
        // SAFETY: the caller's promise.
        unsafe { self.launch_on(kernel, &places, parts) }?;
        for (&member, part) in places.iter().zip(parts).filter(|(_, part)| part.blocks > 0) {
            for &span in &part.written {
                self.set(member, span)?;
            }
        }
        self.divided += u64::from(places.iter().any(|&member| member != places[0]));
        Ok(())
    }

    fn submit(&mut self) -> Result<()> {
        self.here.iter_mut().try_for_each(Queue::submit)
    }

    fn discard(&mut self) {
        self.here.iter_mut().for_each(Queue::discard);
    }

    fn synchronize(&mut self) -> Result<()> {
        // All are waited for, whatever one says.
        self.here.iter_mut().map(Queue::synchronize).fold(Ok(()), Result::and)
    }

    fn landing(&mut self, bytes: u64) -> Result<*mut u8> {
        self.first().landing(bytes)
    }

    fn expect_delivery(&mut self, bytes: u64) {
        self.first().expect_delivery(bytes);
    }

    unsafe fn deliver(&mut self, to: *mut u8, from: *const u8, bytes: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.first().deliver(to, from, bytes) };
    }

    unsafe fn copy_out(&mut self, to: *mut u8, from: u64, bytes: u64) -> Result<()> {
        let (copies, offset) = self.givers(from, bytes)?;
        if self.ranks.is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.tell_all(to, offset, &copies) };
        }
        let to = to.expose_provenance();
        self.at_once(copies, bytes, |member, _, (place, start, end)| {
            let to = std::ptr::with_exposed_provenance_mut(to + (start - offset) as usize);
            // SAFETY: the caller's promise, for a part of it.
            unsafe { member.copy_out(to, place + start, end - start) }
        })
    }

    unsafe fn copy_out_of(&mut self, device: usize, to: *mut u8, from: u64, bytes: u64) -> Result<bool> {
        let (index, offset) = self.find(from)?;
        let Some(place) = self.memories[index].places[device] else { return Ok(false) };
        // SAFETY: the caller's promise.
        unsafe { self.tell_rows(device, to, bytes, |member| member.copy_out(to, place + offset, bytes)) }?;
        Ok(true)
    }

    fn setups(&self) -> u64 {
        self.here.iter().map(Queue::setups).sum()
    }

    fn copies_through(&mut self, bytes: u64) -> bool {
        self.ranks.is_none() && self.first().copies_through(bytes)
    }

    unsafe fn copy_through(&mut self, from: u64, bytes: u64, store: &Store<'_>) -> Result<()> {
        let (copies, offset) = self.givers(from, bytes)?;
        self.at_once(copies, bytes, |member, _, (place, start, end)| {
            let before = (start - offset) as usize;
            let store = |at: usize, piece: &[u8]| store(before + at, piece);
            // SAFETY: the caller's promise, for a part of it.
            unsafe { member.copy_through(place + start, end - start, &store) }
        })
    }

    fn kernel_ms(&mut self) -> f64 {
        self.here.iter_mut().map(Queue::kernel_ms).fold(0.0, f64::max)
    }

    fn lanes(&mut self) -> Option<Vec<Lane>> {
        let lanes: Option<Vec<Vec<Lane>>> = self.here.iter_mut().map(Queue::lanes).collect();
        Some(lanes?.concat())
    }
}
