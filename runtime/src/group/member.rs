//! What a device among several can do beside its [`Queue`].

use crate::base::error::Result;
use crate::base::spans::Span;
use crate::device::Queue;

/// A device among several. What it does not say is done by its [`Queue`].
pub trait Member: Queue {
    /// Bytes from which on a copy from or to the program is worth the links of several devices.
    const SHARED_COPY: u64;
    /// Each has a link of its own, so that copies of several go at once.
    const LINKS: bool;

    /// For others to wait for: everything that was asked of this one so far.
    fn mark(&mut self) -> Result<()> {
        Ok(())
    }

    /// What is asked from now on waits for what another one marked last.
    fn await_member(&mut self, _other: &Self) -> Result<()> {
        Ok(())
    }

    /// Copies from another one's memory.
    ///
    /// # Safety
    /// The ranges lie in allocations of the two queues.
    unsafe fn pull(&mut self, to: u64, other: &Self, from: u64, bytes: u64) -> Result<()>;

    /// From here on, until [`Member::join_beside`]: what this one waits for, pulls and marks is beside its
    /// own stream, behind what is there now; launches are not.
    fn fork_beside(&mut self) -> Result<()> {
        Ok(())
    }

    /// The stream goes on behind all that was beside it.
    fn join_beside(&mut self) -> Result<()> {
        Ok(())
    }

    /// Launches that follow, until the join, are beside the stream as well, behind what was pulled there;
    /// those of different numbers may run at once. Nobody launched since the fork touches what they write.
    fn launch_beside(&mut self, _number: usize) -> Result<()> {
        Ok(())
    }

    /// [`Queue::copy_in`] to a replica.
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_in_replica(&mut self, to: u64, from: *const u8, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_in(to, from, bytes) }
    }

    /// [`Queue::give_back`] of a replica.
    fn give_back_replica(&mut self, device: u64) {
        self.give_back(device);
    }

    /// What follows is for the checks of the emulated device, whose first member keeps the books of all.
    ///
    /// Launches of an execution follow, on whatever member; asked of the first.
    fn before_launches(&mut self) {}

    /// What lies here is another one's from now on.
    fn lacks(&mut self, _device: u64, _bytes: u64) {}

    /// What came from the program went to another one.
    fn copied_elsewhere(&mut self, _device: u64, _bytes: u64) {}

    /// A replica has the values that the first member has, where it is valid.
    fn share(&mut self, _device: u64, _first: &Self, _from: u64, _valid: &[Span]) {}

    /// What another one's kernels did counts as this one's.
    fn absorb(&mut self, _other: &Self) {}

    /// Memory of the host for messages, to send or to receive, where the device reaches some faster than
    /// other memory. It is this until the next call for the same.
    fn room(&mut self, _receives: bool, _bytes: u64) -> Option<*mut u8> {
        None
    }

    /// Waits that messages made were no end of the kernels' time.
    fn resume(&mut self) {}

    /// Takes what a member of another rank has sent, with what is known of it ([`Member::knowledge`]).
    ///
    /// # Safety
    /// As for [`Queue::copy_in`].
    unsafe fn receive(&mut self, to: u64, bytes: &[u8], _known: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_in_replica(to, bytes.as_ptr(), bytes.len() as u64) }
    }

    /// Of each byte, whether it has a value; nothing where nobody checks.
    fn knowledge(&self, _from: u64, _bytes: u64) -> Vec<u8> {
        Vec::new()
    }

    /// What this one's kernels did, for a member of another rank; nothing where nobody checks.
    fn account(&self) -> Vec<u8> {
        Vec::new()
    }

    /// [`Member::absorb`] of a member of another rank.
    fn hear(&mut self, _account: &[u8]) {}
}
