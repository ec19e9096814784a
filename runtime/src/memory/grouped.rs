//! Iterations sorted by the element that they update.
//!
//! **Problem.** `for (e) f[node[e]] += v(e)` adds floating-point numbers to elements that a list names, some
//! of them several times. The numbers of one element keep their order; different elements have none.
//!
//! **Approach.** A stable counting sort of the iterations by place, made once for a list: a copy of its
//! integers is kept, and compared with the list in each later execution. Threads share both: each sorts what
//! belongs to its own range of places, all of which reads the whole list.
//!
//! **Invariants.** An answer is never changed or freed, as the device may have a copy of it: a list that
//! changes gets a new one, a few times, and again once it was seen to be the same for a while: another list
//! may have come to its address. `order` has each iteration once for each of its updates, those of one
//! place in ascending order.
//!
//! **Example.** The list 7, 5, 7 has low 5, places 3, `start` 0 1 1 3 and `order` 1 0 2.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::base::abi::{GROUPED_PARTLY, GROUPED_UNSIGNED};
use crate::base::caller::fatal;
use crate::base::config::{Config, DeviceChoice, Offload};
use crate::base::error::Error;
use crate::base::error::Result;
use crate::base::planted::skips;
use crate::base::spans::Span;
use crate::memory::distinct::on_threads;
use crate::memory::mappings::can_be_read;

/// What `pollyrs_rt_grouped` returns.
#[repr(C)]
#[derive(Debug)]
pub struct Groups {
    start: *const i32,
    order: *const i32,
    second: *const i32,
    low: i64,
    places: i64,
}

// SAFETY: it points to memory that nobody changes or frees.
unsafe impl Sync for Groups {}

static NONE: Groups =
    Groups { start: std::ptr::null(), order: std::ptr::null(), second: std::ptr::null(), low: 0, places: 0 };

/// The answer that there is none.
pub fn none() -> *const Groups {
    &raw const NONE
}

/// The lists of a loop, by address, and what the header says of them: `step`, `distance`, `inner`, `times`
/// and `kind`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    lists: [usize; 4],
    step: i64,
    distance: i64,
    inner: i64,
    times: i64,
    kind: i64,
}

/// Of longer lists positions have no 32 bits.
const MOST: i64 = i32::MAX as i64 - 1;
/// Places for each integer, at most, and a few more.
const SPARSE: i64 = 8;
const FEW: i64 = 1024;
/// How often a list may change, and lists that are remembered.
const CHANGES: u32 = 3;
/// Questions between two looks at a list that changed as often, at first; each time that it did again between
/// them they are twice as many.
const PAUSE: u32 = 8;
const MOST_PAUSE: u32 = 1 << 16;
const REMEMBERED: usize = 256;
/// A list that was not asked for so often makes room for another one.
const FORGOTTEN: u64 = 4 * REMEMBERED as u64;
/// Bytes of all answers, at most, and where the program itself uses less.
const ROOM: usize = 4 << 30;
const SMALL_ROOM: usize = 64 << 20;
/// Parts of the places that are sorted each by itself.
const BUCKETS: usize = 512;
/// Integers that are worth a thread, and the most threads.
const PART: usize = 1 << 18;
const MAX_THREADS: usize = 16;

/// What is known of some lists.
struct Known {
    lists: Lists,
    /// The last question of all that was about them.
    last: u64,
    /// How often they changed.
    changes: u32,
    pause: Pause,
    answer: Option<Answer>,
}

/// What is known of lists that changed too often to be sorted.
struct Pause {
    /// Questions since they were looked at, and until they are.
    since: u32,
    until: u32,
    /// A hash of their integers then.
    print: Option<u64>,
}

impl Pause {
    const FIRST: Pause = Pause { since: 0, until: PAUSE, print: None };

    fn lengthen(&mut self) {
        self.until = (2 * self.until).min(MOST_PAUSE);
    }

    /// Whether lists are what they were a pause ago. `may`: they may be looked at.
    fn is_over(&mut self, lists: &Lists, may: impl FnOnce() -> bool) -> bool {
        self.since += 1;
        if self.since < self.until || !may() {
            return false;
        }
        self.since = 0;
        let print = lists.print();
        let before = self.print.replace(print);
        if before.is_some_and(|before| before != print) {
            self.lengthen();
        }
        before == Some(print)
    }
}

/// The places of all iterations, from the least on, as the list had them, and what came of it: nothing if all
/// differ.
struct Answer {
    seen: Vec<u32>,
    low: i64,
    groups: Option<&'static Groups>,
}

/// What [`Lists::places`] finds.
type Places = (Vec<u32>, i64, Option<[Vec<i32>; 3]>);

/// What is known of all lists, how many bytes answers have, also those of lists that are forgotten, and how
/// many questions there were.
struct Store {
    all: Vec<Known>,
    bytes: usize,
    questions: u64,
}

static KNOWN: Mutex<Store> = Mutex::new(Store { all: Vec::new(), bytes: 0, questions: 0 });

impl Store {
    /// What is known of some lists. None: there are too many that come again, one of which would be sorted
    /// each time.
    fn of(&mut self, lists: &Lists) -> Option<&mut Known> {
        self.questions += 1;
        let at = self.all.iter().position(|k| k.lists == *lists);
        let at = if let Some(at) = at {
            at
        } else {
            if self.all.len() == REMEMBERED {
                let (oldest, known) = self.all.iter().enumerate().min_by_key(|(_, k)| k.last)?;
                if self.questions - known.last < FORGOTTEN {
                    return None;
                }
                // (Answers stay where they are.)
                self.all.swap_remove(oldest);
            }
            self.all.push(Known {
                lists: lists.clone(),
                last: 0,
                changes: 0,
                pause: Pause::FIRST,
                answer: None,
            });
            self.all.len() - 1
        };
        self.all[at].last = self.questions;
        Some(&mut self.all[at])
    }
}

/// Bytes that answers may have: no more than what the program itself has in memory.
fn room(bytes: usize) -> usize {
    let resident = resident_bytes().unwrap_or(ROOM);
    ROOM.min(resident.saturating_sub(bytes).max(SMALL_ROOM)).saturating_sub(bytes)
}

/// What of the process is in memory.
fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    pages.split_ascii_whitespace().nth(1)?.parse::<usize>().ok()?.checked_mul(4096)
}

/// What is to be done for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A list that is known is compared with what it was.
    Compare,
    /// One that is not is sorted, which takes several times as long as the loop does.
    Sort,
}

/// Iterations by place, or the answer that there is none, also where a step is not one that `may` be made.
pub fn groups(config: &Config, lists: &Lists, mut may: impl FnMut(Step) -> bool) -> *const Groups {
    let off = config.offload == Offload::Never || config.device == DeviceChoice::Off || config.job.shares();
    let Some(count) = lists.count().filter(|_| !off && lists.are_readable()) else { return none() };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = known.bytes;
    let Some(own) = known.of(lists) else { return none() };
    if own.answer.is_some() && !may(Step::Compare) {
        return none();
    }
    let same = own.answer.as_ref().map(|answer| lists.are(answer));
    if same == Some(false) {
        (own.answer, own.changes) = (None, own.changes + 1);
        if own.changes == CHANGES && own.pause.print.take().is_some() {
            // It was sorted once more in vain.
            own.pause.lengthen();
        }
    }
    if own.answer.is_none() && own.changes >= CHANGES && own.pause.is_over(lists, || may(Step::Compare)) {
        own.changes = CHANGES - 1;
    }
    let mut more = 0;
    if own.answer.is_none() && own.changes < CHANGES && may(Step::Sort) {
        own.answer = lists.answer(count, room(bytes), config.check.race).ok();
        more = own.answer.as_ref().map_or(0, |answer| answer.bytes());
    }
    let found = own.answer.as_ref().and_then(|answer| answer.groups).map_or_else(none, std::ptr::from_ref);
    known.bytes += more;
    found
}

/// The memory of the lists that iterations were sorted by whose order, as the library keeps it, an address is
/// in. (For `POLLYRS_RT_CHECK`.)
pub fn lists_of(order: u64) -> Vec<Span> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_its = |answer: &Answer| {
        let first = answer.groups.map_or(0, |groups| groups.order.addr() as u64);
        first != 0 && (first..first + 4 * answer.seen.len() as u64).contains(&order)
    };
    let found = known.all.iter().find(|own| own.answer.as_ref().is_some_and(is_its));
    found.map_or_else(Vec::new, |own| own.lists.spans().collect())
}

impl Answer {
    fn bytes(&self) -> usize {
        let sorted = self.groups.map_or(0, |g| self.seen.len() * 8 + g.places as usize * 4);
        self.seen.len() * 4 + sorted
    }
}

impl Lists {
    /// # Safety
    /// All integers of the lists can be read, but for lists that are partly read, and nobody writes to them
    /// while they are asked for.
    pub unsafe fn new(lists: [usize; 4], numbers: [i64; 5]) -> Lists {
        let [step, distance, inner, times, kind] = numbers;
        Lists { lists, step, distance, inner, times, kind }
    }

    /// How many lists there are.
    fn lists(&self) -> usize {
        self.lists.iter().take_while(|list| **list != 0).count()
    }

    /// How many integers all lists have, where that is something to sort.
    fn count(&self) -> Option<usize> {
        let (width, lists) = (self.width(), self.lists() as i64);
        let fine = self.times > 0 && self.inner > 0 && matches!(width, 1 | 2 | 4 | 8) && lists > 0;
        let all = self.times.checked_mul(self.inner)?.checked_mul(lists)?;
        (fine && (lists == 1 || self.inner == 1) && all <= MOST).then_some(all as usize)
    }

    /// The bytes of an integer.
    fn width(&self) -> i64 {
        self.kind & !i64::from(GROUPED_UNSIGNED | GROUPED_PARTLY)
    }

    /// The memory of each.
    fn spans(&self) -> impl Iterator<Item = Span> {
        let reach = |step: i64, times: i64| step.saturating_mul(times.saturating_sub(1));
        let reaches = [reach(self.step, self.times), reach(self.distance, self.inner)];
        let (low, high) = reaches.iter().fold((0i64, self.width()), |(low, high), reach| {
            (low.saturating_add((*reach).min(0)), high.saturating_add((*reach).max(0)))
        });
        self.lists.iter().take_while(|list| **list != 0).map(move |list| {
            let at = *list as u64;
            (at.saturating_add_signed(low), at.saturating_add_signed(high))
        })
    }

    /// Whether there is memory where lists have integers that the loop may leave unread.
    fn are_readable(&self) -> bool {
        self.kind & i64::from(GROUPED_PARTLY) == 0 || can_be_read(self.spans())
    }

    /// How many of them an iteration of the outer loop has.
    fn each(&self) -> usize {
        self.inner as usize * self.lists()
    }

    /// Calls `then` with all integers of some iterations of the outer loop, in the program's order, until it
    /// says no.
    fn all(&self, times: Range<usize>, then: impl FnMut(i64) -> bool) -> bool {
        let unsigned = self.kind & i64::from(GROUPED_UNSIGNED) != 0;
        match (self.width(), unsigned) {
            (1, false) => self.all_of::<i8>(times, then),
            (1, true) => self.all_of::<u8>(times, then),
            (2, false) => self.all_of::<i16>(times, then),
            (2, true) => self.all_of::<u16>(times, then),
            (4, false) => self.all_of::<i32>(times, then),
            (4, true) => self.all_of::<u32>(times, then),
            _ => self.all_of::<i64>(times, then),
        }
    }

    fn all_of<T: Copy + Into<i64>>(&self, times: Range<usize>, mut then: impl FnMut(i64) -> bool) -> bool {
        let lists = &self.lists[..self.lists()];
        times.into_iter().all(|i| {
            lists.iter().all(|list| {
                let first = list.wrapping_add_signed((i as i64).wrapping_mul(self.step) as isize);
                (0..self.inner).all(|k| {
                    let at = first.wrapping_add_signed(k.wrapping_mul(self.distance) as isize);
                    then(self.read::<T>(at).into())
                })
            })
        })
    }

    /// An integer of a list.
    fn read<T: Copy>(&self, at: usize) -> T {
        // SAFETY: that of `Lists`.
        unsafe { std::ptr::with_exposed_provenance::<T>(at).read_unaligned() }
    }

    /// Whether those beside each other in a single list are what was seen of them; some at a time, in
    /// vectors.
    fn are_beside(&self, times: Range<usize>, low: i32, seen: &[u32]) -> bool {
        let first = self.lists[0] + times.start * 4;
        seen.chunks(4096).zip((first..).step_by(4096 * 4)).all(|(seen, first)| {
            let value = |n: usize| self.read::<i32>(first + 4 * n).wrapping_sub(low).cast_unsigned();
            seen.iter().enumerate().fold(0, |all, (n, s)| all | (value(n) ^ s)) == 0
        })
    }

    /// Whether the integers are what was seen.
    fn are(&self, answer: &Answer) -> bool {
        let (parts, times) = (parts(answer.seen.len()), self.times as usize);
        let len = times.div_ceil(parts);
        on_threads(parts, |t| {
            let own = (t * len).min(times)..((t + 1) * len).min(times);
            let seen = &answer.seen[own.start * self.each()..own.end * self.each()];
            let same = if (self.width(), self.step, self.each()) == (4, 4, 1)
                && self.kind & i64::from(GROUPED_UNSIGNED) == 0
            {
                self.are_beside(own, answer.low as i32, seen)
            } else {
                let mut seen = seen.iter();
                self.all(own, |v| seen.next().is_some_and(|s| v == answer.low + i64::from(*s)))
            };
            if same { Ok(()) } else { Err(Error::Repeated) }
        })
        .is_ok()
    }

    /// A hash of all integers.
    fn print(&self) -> u64 {
        let mut print = 0u64;
        self.all(0..self.times as usize, |v| {
            print = (print ^ v.cast_unsigned()).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
            true
        });
        print
    }

    /// The least and the largest integer.
    fn ends(&self) -> (i64, i64) {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        let take = |v: i64| {
            (low, high) = (low.min(v), high.max(v));
            true
        };
        self.all(0..self.times as usize, take);
        (low, high)
    }

    /// Sorts, and keeps what comes of it for the rest of the process.
    fn answer(&self, count: usize, room: usize, checked: bool) -> Result<Answer> {
        let (seen, low, sorted) = self.places(count, room)?;
        if checked && sorted.as_ref().is_some_and(|sorted| !self.is_in_order(&seen, sorted)) {
            fatal("iterations by place are not all of them, or not in the program's order");
        }
        let groups = sorted.map(|[start, order, second]| {
            let places = start.len() as i64 - 1;
            let [start, order, second] = [start, order, second].map(|values| Vec::leak(values).as_ptr());
            &*Box::leak(Box::new(Groups { start, order, second, low, places }))
        });
        Ok(Answer { seen, low, groups })
    }

    /// Whether each update is once among those of its place, in ascending order.
    fn is_in_order(&self, seen: &[u32], [start, order, second]: &[Vec<i32>; 3]) -> bool {
        let number =
            |q: usize| order[q] as usize * self.each() + second.get(q).copied().unwrap_or(0) as usize;
        let places = start.windows(2).enumerate().all(|(place, ends)| {
            let own = ends[0] as usize..ends[1] as usize;
            own.clone().all(|q| seen.get(number(q)) == Some(&(place as u32)))
                && own.clone().zip(own.skip(1)).all(|(a, b)| number(a) < number(b))
        });
        places && order.len() == seen.len() && start.last().is_some_and(|n| *n as usize == seen.len())
    }

    /// The places as they are in the list, from the least on, that one, and if two are equal where each
    /// begins in the order of places, the iterations in this order, and which of its updates each is.
    fn places(&self, count: usize, room: usize) -> Result<Places> {
        let (low, high) = self.ends();
        let places = high.checked_sub(low).and_then(|n| n.checked_add(1)).unwrap_or(i64::MAX);
        if places > SPARSE * count as i64 + FEW || places > MOST || (count * 3 + places as usize) * 4 > room {
            return Err(Error::Unreadable);
        }
        let mut seen = filled(0, |_| 0u32)?;
        seen.try_reserve_exact(count).map_err(|_| Error::Unreadable)?;
        // What the loop leaves unread another thread of the program may write in between.
        let take = |v: i64| {
            let place = v.checked_sub(low).filter(|place| (0..places).contains(place));
            place.is_some_and(|place| {
                seen.push(place as u32);
                true
            })
        };
        if !self.all(0..self.times as usize, take) {
            return Err(Error::Unreadable);
        }
        let mut start = filled(places as usize + 1, |_| 0i32)?;
        for place in &seen {
            start[*place as usize + 1] += 1;
        }
        if start.iter().all(|n| *n <= 1) {
            return Ok((seen, low, None));
        }
        let mut total = 0;
        for n in &mut start {
            total += *n;
            *n = total;
        }
        let (order, second) = self.sorted(&seen, &start)?;
        Ok((seen, low, Some([start, order, second])))
    }

    /// The iterations in the order of places, and which of an iteration's updates each is: first roughly, in
    /// streams, then each bucket in a cache.
    fn sorted(&self, seen: &[u32], start: &[i32]) -> Result<(Vec<i32>, Vec<i32>)> {
        let mut order = filled(seen.len(), |_| 0i32)?;
        let two = self.each() > 1 || self.distance != 0;
        let mut second = filled(if two { seen.len() } else { 0 }, |_| 0i32)?;
        let places = start.len() - 1;
        let shift = (0..32).find(|shift| (places - 1) >> shift < BUCKETS).unwrap_or(31);
        let rough = rough(seen, shift)?;
        // What each bucket has of the results.
        let mut works = Vec::new();
        let (mut rest, mut others) = (&mut order[..], &mut second[..]);
        for bucket in 0..=(places - 1) >> shift {
            let range = bucket << shift..((bucket + 1) << shift).min(places);
            let own = (start[range.end] - start[range.start]) as usize;
            let (mine, behind) = rest.split_at_mut(own);
            let (also, later) = others.split_at_mut(if two { own } else { 0 });
            works.push(Mutex::new((range, mine, also)));
            (rest, others) = (behind, later);
        }
        let threads = rough.len();
        on_threads(threads, |t| {
            for (bucket, work) in works.iter().enumerate().skip(t).step_by(threads) {
                let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
                let (range, order, second) = &mut *work;
                let first = start[range.start];
                let mut next: Vec<i32> = start[range.clone()].iter().map(|n| n - first).collect();
                let mut put = |(n, place): (u32, u32)| {
                    let at = &mut next[place as usize - range.start];
                    order[*at as usize] = (n / self.each() as u32) as i32;
                    if two {
                        second[*at as usize] = (n % self.each() as u32) as i32;
                    }
                    *at += 1;
                };
                let all = rough.iter().map(|part| &part[bucket]);
                if skips("unstable") {
                    all.rev().for_each(|part| part.iter().rev().for_each(|entry| put(*entry)));
                } else {
                    all.for_each(|part| part.iter().for_each(|entry| put(*entry)));
                }
            }
            Ok(())
        })?;
        drop(works);
        Ok((order, second))
    }
}

/// Numbers and places.
type Bucket = Vec<(u32, u32)>;

/// Of consecutive parts of all places, the numbers and places by bucket.
fn rough(seen: &[u32], shift: usize) -> Result<Vec<Vec<Bucket>>> {
    let parts = parts(seen.len());
    let len = seen.len().div_ceil(parts);
    on_threads(parts, |t| {
        let first = (t * len).min(seen.len());
        let own = &seen[first..((t + 1) * len).min(seen.len())];
        let mut counts = [0usize; BUCKETS];
        own.iter().for_each(|place| counts[(place >> shift) as usize] += 1);
        let mut buckets: Vec<Bucket> = Vec::new();
        for count in counts {
            let mut bucket = Vec::new();
            bucket.try_reserve_exact(count).map_err(|_| Error::Unreadable)?;
            buckets.push(bucket);
        }
        for (n, place) in (first as u32..).zip(own) {
            buckets[(place >> shift) as usize].push((n, *place));
        }
        Ok(buckets)
    })
}

/// How many threads share so many integers.
fn parts(count: usize) -> usize {
    let most = (count / PART).clamp(1, MAX_THREADS);
    if most < 2 { 1 } else { std::thread::available_parallelism().map_or(1, usize::from).min(most) }
}

/// A vector, if there is room.
fn filled<T>(count: usize, value: impl Fn(usize) -> T) -> Result<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(count).map_err(|_| Error::Unreadable)?;
    all.extend((0..count).map(value));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// Low, starts, order, second.
    type Want<'a> = (i64, &'a [i32], &'a [i32], &'a [i32]);

    /// Lists, how many integers an iteration has of each, and how far apart: low, starts, order, second.
    #[test]
    fn sorts_iterations_by_place() {
        let sorted = |lists: &[&[i32]], inner: usize, want: Option<Want<'_>>| {
            let mut addresses = [0; 4];
            for (to, list) in addresses.iter_mut().zip(lists) {
                *to = list.as_ptr().expose_provenance();
            }
            let times = (lists[0].len() / inner) as i64;
            let own = Lists {
                lists: addresses,
                step: 4 * inner as i64,
                distance: if inner > 1 { 4 } else { 0 },
                inner: inner as i64,
                times,
                kind: 4,
            };
            let count = own.count().unwrap();
            let (seen, low, found) = own.places(count, ROOM).unwrap();
            assert!(own.are(&Answer { seen, low, groups: None }));
            let found = found.map(|[start, order, second]| (low, start, order, second));
            let want = want.map(|(low, a, b, c)| (low, a.to_vec(), b.to_vec(), c.to_vec()));
            assert_eq!(found, want);
        };
        sorted(&[&[7, 5, 7]], 1, Some((5, &[0, 1, 1, 3], &[1, 0, 2], &[])));
        sorted(&[&[3, 1, 2]], 1, None);
        sorted(&[&[0, 1, 1, 0]], 2, Some((0, &[0, 2, 4], &[0, 1, 0, 1], &[0, 1, 1, 0])));
        sorted(&[&[-1, 0], &[0, -1]], 1, Some((-1, &[0, 2, 4], &[0, 1, 0, 1], &[0, 1, 1, 0])));
        sorted(&[&[2, 2], &[2, 2]], 1, Some((2, &[0, 4], &[0, 0, 1, 1], &[0, 1, 0, 1])));
    }

    /// Lists that come in turn: none is forgotten for one that just came, but for one that comes on and on.
    #[test]
    fn many_lists_in_turn_leave_those_that_are_known() {
        let lists =
            |n: usize| Lists { lists: [n, 0, 0, 0], step: 4, distance: 0, inner: 1, times: 2, kind: 4 };
        let mut store = Store { all: Vec::new(), bytes: 0, questions: 0 };
        for turn in 0..3 {
            for n in 1..=REMEMBERED + 9 {
                assert_eq!(store.of(&lists(n)).is_some(), n <= REMEMBERED, "{n} in turn {turn}");
            }
        }
        let asked = (0..2 * FORGOTTEN).position(|_| store.of(&lists(4711)).is_some());
        assert!(asked.is_some_and(|n| n > REMEMBERED));
        assert_eq!(store.all.len(), REMEMBERED);
    }

    /// Lists that changed often are looked at again, each time later if they changed again.
    #[test]
    fn what_stays_the_same_is_sorted_again() {
        let list = [7, 5, 7, 5].map(AtomicI32::new);
        let lists = [list.as_ptr().expose_provenance(), 0, 0, 0];
        let own = Lists { lists, step: 4, distance: 0, inner: 1, times: 4, kind: 4 };
        let mut pause = Pause::FIRST;
        let mut questions = |changes: bool| {
            (1..).find(|n| {
                list[0].store(if changes { *n } else { 7 }, Ordering::Relaxed);
                *n > 100 || pause.is_over(&own, || true)
            })
        };
        assert_eq!(questions(false), Some(2 * PAUSE as i32));
        // It is as it was, and looked at once more.
        assert_eq!(questions(false), Some(PAUSE as i32));
        assert_eq!(questions(true), Some(101));
        assert!(pause.until > 4 * PAUSE);
        assert!(!pause.is_over(&own, || false));
    }

    #[test]
    fn what_is_out_of_order_is_noticed() {
        let list = [7i32, 5, 7, 5];
        let lists = [list.as_ptr().expose_provenance(), 0, 0, 0];
        let own = Lists { lists, step: 4, distance: 0, inner: 1, times: 4, kind: 4 };
        let (seen, _, sorted) = own.places(4, ROOM).unwrap();
        let right = sorted.unwrap();
        assert!(own.is_in_order(&seen, &right));
        for wrong in [[3, 1, 0, 2], [1, 3, 0, 0], [0, 3, 1, 2], [1, 3, 2, 0]] {
            let [start, _, second] = right.clone();
            assert!(!own.is_in_order(&seen, &[start, wrong.to_vec(), second]), "{wrong:?}");
        }
    }

    #[test]
    fn threads_sort_as_one_does() {
        let list: Vec<u16> = (0..3 * PART as u64)
            .map(|n| (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 20) as u16)
            .collect();
        let addresses = [list.as_ptr().expose_provenance(), 0, 0, 0];
        let kind = 2 + i64::from(GROUPED_UNSIGNED);
        let own = Lists { lists: addresses, step: 2, distance: 0, inner: 1, times: list.len() as i64, kind };
        let [_, order, _] = own.places(list.len(), ROOM).unwrap().2.unwrap();
        let mut want: Vec<i32> = (0..list.len() as i32).collect();
        want.sort_by_key(|n| list[*n as usize]);
        assert_eq!(order, want);
    }
}
