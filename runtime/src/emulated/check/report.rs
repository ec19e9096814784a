//! The messages that end a program.

use std::fmt::Write;

use super::Checker;
use super::shadow::{self, Between, Stamp};
use super::site::{SHARED_MEMORY, Site, text};
use super::thread::{Thread, thread_index};
use crate::base::caller::fatal;

impl Checker {
    pub(super) fn verb(&self, site: &Site, write: Option<bool>, what: &str) -> String {
        format!("{} {} {what}", site.what(), if write.is_some() { "writes" } else { "reads" })
    }

    /// `A[1][2]`.
    pub(super) fn element(&self, index: usize, address: u64) -> String {
        let name = self.scop.array_name(index);
        let Some(Some(region)) = self.regions.get(index) else { return name.into_owned() };
        let mut offset =
            (address as i64).wrapping_sub(region.argument as i64).div_euclid(region.element as i64);
        let Some(inner) = region.inner.as_ref().filter(|sizes| sizes.iter().all(|s| *s > 0)) else {
            return format!("{name} + {offset}");
        };
        let mut subscripts = Vec::new();
        for size in inner.iter().rev() {
            subscripts.push(offset.rem_euclid(*size));
            offset = offset.div_euclid(*size);
        }
        subscripts.push(offset);
        subscripts.iter().rev().fold(name.into_owned(), |mut text, s| {
            let _ = write!(text, "[{s}]");
            text
        })
    }

    /// A mistake of `thread`.
    pub(super) fn fail(&self, thread: &Thread, what: &str) -> ! {
        let place = self.place(Some(thread.abi.block), Some(u64::from(thread.linear)));
        fatal(&format!("{}: {what}, in {place}", self.kernel_name()))
    }

    pub(super) fn kernel_name(&self) -> String {
        let kernel = self.kernel.map_or_else(String::new, |k| format!("kernel {}", k.name()));
        let at = self.scop.at();
        if at.is_empty() { kernel } else { format!("{at}: {kernel}") }
    }

    pub(super) fn place(&self, block: Option<u64>, thread: Option<u64>) -> String {
        let block = block.map_or_else(|| "several blocks".into(), |b| format!("block {b}"));
        match (thread, self.kernel) {
            (Some(t), Some(k)) => {
                let [x, y, z] = thread_index(t, k.block);
                format!("{block}, thread ({x}, {y}, {z})")
            }
            _ => block,
        }
    }

    pub(super) fn race(
        &self,
        thread: &Thread,
        site: &Site,
        write: Option<bool>,
        what: &str,
        c: shadow::Conflict,
    ) -> ! {
        let Stamp { epoch, site: other, .. } = c.earlier;
        // SAFETY: a constant of the program, or NULL.
        let other = unsafe { other.as_ref() }.map_or_else(String::new, Site::what);
        let place = match c.earlier.thread() {
            None if c.between == Between::Blocks => "several blocks".into(),
            t => self.place(self.clock.block_at(epoch), t),
        };
        let between = match c.between {
            Between::Blocks => "blocks of one launch",
            Between::Threads => "threads between the same barriers",
        };
        let verb = if c.wrote { "written" } else { "read" };
        let own = if write.is_some() { "writes" } else { "reads" };
        self.fail(
            thread,
            &format!(
                "race of {between}: {what} is {verb} by {other} in {place}, and {} {own} it",
                site.what()
            ),
        )
    }

    /// A value that comes from what nobody wrote is used.
    pub(super) fn uninitialised(&self, thread: &Thread, what: &str) -> ! {
        let origin = self.origins.get(thread.linear as usize).copied().flatten();
        let from = origin.map_or_else(String::new, |(site, address)| {
            // SAFETY: a constant of the program.
            let site = unsafe { &*site };
            let place = if site.argument == SHARED_MEMORY {
                format!(
                    "byte {} of shared memory, for {}",
                    address.wrapping_sub(self.shared),
                    text(site.array)
                )
            } else {
                self.region(site, address).map_or_else(String::new, |index| self.element(index, address))
            };
            format!(" (last of such, {} read {place})", site.what())
        });
        self.fail(
            thread,
            &format!("{what} that comes from memory nobody wrote, or that others write meanwhile{from}"),
        )
    }
}
