//! Buffers of a queue in the host's memory, which the driver copies to and from at full speed.

use crate::base::error::Result;
use crate::device::buffer;
use crate::gpu::cuda::{Device, Landing};

/// A queue's buffers; each is there from the first time that it is asked for.
#[derive(Default)]
pub(super) struct Landings {
    /// For results.
    result: Option<Landing>,
    /// For messages to and from other ranks.
    rooms: [Option<Landing>; 2],
    /// In place of the first where the driver had no pinned memory.
    pageable: Vec<u8>,
}

impl Landings {
    /// Where results of so many bytes land. The context is current.
    pub fn result(&mut self, device: &Device, bytes: u64) -> Result<*mut u8> {
        // What landed in the former one was settled after a wait.
        if let Some(start) = at_least(&mut self.result, device, bytes) {
            return Ok(start);
        }
        self.pageable = buffer(bytes)?;
        Ok(self.pageable.as_mut_ptr())
    }

    /// The room for a message of so many bytes. The context is current.
    pub fn room(&mut self, device: &Device, receives: bool, bytes: u64) -> Option<*mut u8> {
        // What was in the former one has been waited for.
        at_least(&mut self.rooms[usize::from(receives)], device, bytes)
    }

    /// Whether an address is in memory that the driver reaches as it is.
    pub fn hold(&self, address: *const u8) -> bool {
        let mut own = self.result.iter().chain(self.rooms.iter().flatten());
        own.any(|memory| {
            (memory.start as u64..memory.start as u64 + memory.bytes).contains(&(address as u64))
        })
    }

    /// The device may still write to them.
    pub fn abandon(&mut self) {
        std::mem::forget(std::mem::take(&mut self.pageable));
    }

    /// Nothing is under way. The context is current.
    pub fn give_back(&mut self, device: &Device) {
        let rooms = self.rooms.iter_mut().filter_map(Option::take);
        for landing in self.result.take().into_iter().chain(rooms) {
            device.give_landing(landing);
        }
    }
}

/// The buffer, or a larger one in its place.
fn at_least(landing: &mut Option<Landing>, device: &Device, bytes: u64) -> Option<*mut u8> {
    if landing.as_ref().is_none_or(|landing| landing.bytes < bytes) {
        if let Some(former) = landing.take() {
            device.give_landing(former);
        }
        *landing = device.landing(bytes);
    }
    landing.as_ref().map(|landing| landing.start)
}
