//! Copies of several devices at once, each over a link of its own.
//!
//! A copy between ordinary memory and a device keeps the thread that asks for it: so each device has a
//! thread, for the length of the copies.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::error::Result;
use crate::group::{Group, Member};

/// A member, for another thread.
struct Lent<'a, M>(&'a mut M);

// SAFETY: a queue is used by one thread at a time, and nothing in it belongs to a thread: contexts are
// current for the length of a call only.
unsafe impl<M: Member> Send for Lent<'_, M> {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind the locks is taken out whole; a panic goes on in the thread that waits.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Member> Group<M> {
    /// Runs jobs, of so many bytes together, each with a member and its number; those of one member in order,
    /// those of others at the same time.
    pub(super) fn at_once<J: Send>(
        &mut self,
        jobs: Vec<(usize, J)>,
        bytes: u64,
        run: impl Fn(&mut M, usize, J) -> Result<()> + Sync,
    ) -> Result<()> {
        let mut lists: Vec<Vec<J>> = self.here.iter().map(|_| Vec::new()).collect();
        jobs.into_iter().for_each(|(member, job)| lists[member].push(job));
        let busy = lists.iter().filter(|list| !list.is_empty()).count();
        let work = |member: &mut M, number: usize, list: Vec<J>| {
            list.into_iter().try_for_each(|job| run(member, number, job))
        };
        let members = self.here.iter_mut().zip(lists).enumerate();
        if !M::LINKS || busy < 2 || bytes < M::SHARED_COPY {
            return members
                .map(|(number, (member, list))| work(member, number, list))
                .fold(Ok(()), Result::and);
        }
        let left: Vec<_> = members
            .filter(|(_, (_, list))| !list.is_empty())
            .map(|(number, (member, list))| Mutex::new(Some((Lent(member), number, list))))
            .collect();
        let ended = Mutex::new(Ok(()));
        let take = |at: usize| {
            let taken = lock(&left[at]).take();
            let Some((Lent(member), number, list)) = taken else { return };
            let done = work(member, number, list);
            let mut ended = lock(&ended);
            *ended = std::mem::replace(&mut *ended, Ok(())).and(done);
        };
        std::thread::scope(|scope| {
            for at in 1..left.len() {
                // What no thread takes is done below.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || take(at));
            }
            (0..left.len()).for_each(take);
        });
        ended.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
