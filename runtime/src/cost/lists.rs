//! Lists that are compared and sorted by place ([`crate::memory::grouped`]) for executions that may stay on
//! the host.
//!
//! **Problem.** `for (i < n) a[list[i]] += v[i]` asks for its iterations by place each time. To compare the
//! list with what it was takes a third of what the loop takes, to sort it ten to twenty times as long; and a
//! host loop may repeat a nest of 30 iterations a million times, where a lock alone takes longer than they
//! do.
//!
//! **Approach.** What the number of integers says comes first, without any memory: what is done on the host
//! before a device could begin is not asked for ([`is_little`]). Then each list has an account. Executions
//! without an answer add what they would have gained on the device, and pay for the sort once these gains are
//! as much as it takes (the ski-rental rule, as for loading code; see [`super`]), or once it is a small part
//! of what the host took. A sort has to come back by gains before another one of the same list is paid for
//! with them. Comparisons for nothing are debts, paid back by executions on the host that do without. The
//! host takes no longer than the time between two questions of a list, whatever the estimate.
//!
//! **Example.** A million integers, 1 ms on the host: comparing takes 0.5 ms, transfers 0.5 ms: nothing is
//! gained alone, and the list is sorted when the host took 320 ms. Where arrays stay on the device 0.5 ms are
//! gained each time, and the list is sorted the 41st time.
//!
//! # Invariant
//! Without an answer the program's loop runs, which may always run.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::budget::INSPECTIONS;
use super::inspections::{List, is_chosen};
use super::{OVERHEAD, Rates, TINY};
use crate::base::config::Config;
use crate::memory::grouped::Step;

/// Seconds for an integer: to compare it with what it was, and to sort it. Measured on an H200's host with 16
/// threads for 32 million, where memory is the limit: 0.5 and 14 ns; with one thread, for less, about as
/// long.
const COMPARED: f64 = 0.5e-9;
const SORTED: f64 = 20e-9;
/// Bytes that go to the device and back for an integer, at least: its place in the order, and what is added.
const MOVED: u64 = 12;
/// What it takes at least that arrays on the device come back for the program's loop, and go there again.
const LEAVES: f64 = 50e-6;
/// Sorts may take this part of what the host takes.
const SORTS: f64 = 1.0 / 16.0;
/// Lists that have accounts; all are forgotten when there are more.
const ACCOUNTS: usize = 1024;
/// Lists of an execution.
const OF_ONE: usize = 16;

/// What a question's steps take, and what an answer gains: seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prices {
    host: f64,
    compare: f64,
    sort: f64,
    gain: f64,
    /// The same where nothing has to move.
    most: f64,
}

impl Prices {
    /// Of so many integers of all lists, for each of which the loop runs `each` statements. `stays`: arrays
    /// of the thread's functions are on the device; `between`: seconds since the question before.
    fn of((integers, each): (f64, f64), rates: &Rates, stays: bool, between: Option<f64>) -> Prices {
        let (statements, compare) = (integers * each.max(1.0), integers * COMPARED);
        let host = between.unwrap_or(f64::INFINITY).min(statements * rates.host_instance);
        let (host, moves) = match stays {
            true => (host + LEAVES, 0.0),
            false => (host, rates.transfer(integers as u64 * MOVED)),
        };
        let most = host - compare - statements * rates.device_instance - OVERHEAD - rates.launch;
        Prices { host, compare, sort: integers * SORTED, gain: most - moves, most }
    }
}

/// A question about lists, by the first one.
#[derive(Debug)]
pub struct Question {
    list: List,
    prices: Prices,
    began: Instant,
    /// The last step that was made.
    made: Option<Step>,
}

impl Question {
    /// Of so many integers of all lists, for each of which the loop runs so many statements.
    pub fn new(list: List, counts: (f64, f64), rates: &Rates) -> Question {
        let began = Instant::now();
        // An answer that nobody used was for nothing.
        let unused = ASKED.with_borrow_mut(|asked| {
            let at = asked.iter().position(|other| other.list == list);
            at.map(|at| asked.swap_remove(at))
        });
        let between = with_account(list, |account| {
            if let Some(unused) = unused {
                account.settle(&unused, true);
            }
            account.last.map(|last| (began - last).as_secs_f64())
        });
        Question { list, prices: Prices::of(counts, rates, STAYS.get(), between), began, made: None }
    }

    /// Whether a step may be made, which is so where the settings choose the side.
    pub fn may(&mut self, config: &Config, step: Step) -> bool {
        let allowed =
            is_chosen(config) || with_account(self.list, |account| account.allows(step, &self.prices));
        if allowed {
            self.made = Some(step);
        }
        allowed
    }

    /// It has an answer, or none, with which the program's loop runs.
    pub fn ends(self, answered: bool) {
        let now = Instant::now();
        with_account(self.list, |account| account.last = (!answered).then_some(now));
        if let Some(step) = self.made {
            // (What a sort takes is on the account.)
            let took = (now - self.began).as_secs_f64();
            let compared = if step == Step::Compare { took } else { 0.0 };
            ASKED.with_borrow_mut(|asked| {
                asked.truncate(OF_ONE - 1);
                asked.push(Asked { list: self.list, compared, gain: self.prices.gain });
            });
        }
    }
}

thread_local! {
    /// Whether the thread's last execution left something on the device.
    static STAYS: Cell<bool> = const { Cell::new(false) };
    /// Lists that were asked for the execution that this thread is about to begin.
    static ASKED: RefCell<Vec<Asked>> = const { RefCell::new(Vec::new()) };
}

struct Asked {
    list: List,
    /// Seconds.
    compared: f64,
    /// By the prices.
    gain: f64,
}

/// Something stays on the device behind an execution of this thread, or nothing any more.
pub fn note_held(stays: bool) {
    STAYS.set(stays);
}

/// So many statements a device could be worth, whatever else is known; 0 where the settings choose the side.
pub fn least(config: &Config, rates: &Rates) -> i64 {
    if is_chosen(config) { 0 } else { (TINY.max(OVERHEAD + rates.launch) / rates.host_instance) as i64 }
}

/// Whether fewer statements than the `least` are no question.
pub fn is_little(statements: i64, least: i64) -> bool {
    statements < least && !STAYS.get()
}

/// What was missed and spent for a list.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Gains, missed or made, of which the last sort was taken.
    gained: f64,
    /// The host's seconds that no sort has used up.
    host: f64,
    /// Comparisons for nothing.
    debt: f64,
    /// When the last question ended, if the program's loop ran.
    last: Option<Instant>,
}

impl Account {
    fn allows(&mut self, step: Step, prices: &Prices) -> bool {
        if prices.most <= 0.0 {
            return false;
        }
        if self.debt > 0.0 {
            self.debt -= INSPECTIONS * prices.host;
            return false;
        }
        if step == Step::Compare {
            return true;
        }
        self.gained += prices.gain.max(0.0);
        self.host += prices.host;
        let pays = self.gained >= prices.sort;
        if pays || self.host * SORTS >= prices.sort {
            // Gains that were only missed are worth nothing yet.
            self.gained = if pays { -prices.sort } else { self.gained - prices.sort };
            self.host = 0.0;
            return true;
        }
        false
    }

    fn settle(&mut self, asked: &Asked, on_host: bool) {
        if on_host {
            self.debt = self.debt.max(0.0) + asked.compared;
        } else {
            self.debt = 0.0;
            self.gained += asked.gain.max(0.0);
        }
    }
}

static BOOKS: Mutex<Option<HashMap<List, Account>>> = Mutex::new(None);

fn with_account<T>(list: List, then: impl FnOnce(&mut Account) -> T) -> T {
    let mut books = BOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    let books = books.get_or_insert_default();
    if books.len() >= ACCOUNTS && !books.contains_key(&list) {
        books.clear();
    }
    then(books.entry(list).or_default())
}

/// The side of the execution that the last lists of this thread were asked for.
pub fn settle(on_host: bool) {
    for asked in ASKED.take() {
        with_account(asked.list, |account| account.settle(&asked, on_host));
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::REFERENCE;
    use super::*;
    use crate::base::config::DeviceChoice;

    fn rates() -> Rates {
        Rates::of(&REFERENCE, 8)
    }

    fn prices(integers: f64, stays: bool) -> Prices {
        Prices::of((integers, 1.0), &rates(), stays, None)
    }

    #[test]
    fn what_the_host_has_done_before_a_device_begins_is_not_asked_for() {
        let config = Config { device: DeviceChoice::Cuda, ..Config::new(|_| None, []) };
        let least = super::least(&config, &rates());
        for (statements, little) in [(0, true), (30, true), (3000, true), (96_000, false), (1_000_000, false)]
        {
            assert_eq!(is_little(statements, least), little, "{statements}");
        }
        // What is on the device would have to come back.
        note_held(true);
        assert!(!is_little(30, least));
        note_held(false);
        let emulated = Config { device: DeviceChoice::Emulated, ..Config::new(|_| None, []) };
        assert!(!is_little(30, super::least(&emulated, &rates())));
    }

    /// What executions of a list lose that never gain on the device: seconds of sorts and comparisons, of
    /// those of the host. `changes`: the list is another one each time.
    fn lost(integers: f64, stays: bool, changes: bool) -> f64 {
        let (mut account, prices) = (Account::default(), prices(integers, stays));
        let (mut sorted, mut spent, mut host) = (false, 0.0, 0.0);
        for _ in 0..5000 {
            let mut asked = None;
            if sorted && account.allows(Step::Compare, &prices) {
                spent += prices.compare;
                sorted = !changes;
                asked = Some(prices.compare);
            }
            if !sorted && account.allows(Step::Sort, &prices) {
                spent += prices.sort;
                (sorted, asked) = (true, Some(asked.unwrap_or(0.0)));
            }
            if let Some(compared) = asked {
                account.settle(&Asked { list: (8, 8), compared, gain: prices.gain }, true);
            }
            host += prices.host;
        }
        spent / host
    }

    #[test]
    fn lists_for_nothing_are_a_small_part() {
        for integers in [2e4, 1e5, 1e6, 1e7] {
            for changes in [false, true] {
                let lost = lost(integers, false, changes);
                assert!(lost <= SORTS + INSPECTIONS, "{integers} {changes}: {lost}");
            }
        }
    }

    /// The loop takes a fifth of what is estimated, as often as it is asked for.
    #[test]
    fn the_host_takes_no_longer_than_what_is_between_questions() {
        let counts = (6000.0, 3.0);
        assert!(Prices::of((1e5, 3.0), &rates(), false, None).most > 0.0);
        // What is on the device would have to come back.
        assert!(Prices::of(counts, &rates(), true, Some(3.4e-6)).most > 0.0);
        let short = Prices::of(counts, &rates(), false, Some(3.4e-6));
        let mut account = Account::default();
        assert!(
            (0..10_000)
                .all(|_| !account.allows(Step::Sort, &short) && !account.allows(Step::Compare, &short))
        );
    }

    #[test]
    fn a_list_is_sorted_when_the_gains_missed_pay_for_it() {
        let first = |integers: f64, stays: bool| {
            let (mut account, prices) = (Account::default(), prices(integers, stays));
            (1..).find(|_| account.allows(Step::Sort, &prices)).unwrap_or(0)
        };
        let (alone, stays) = (first(1e6, false), first(1e6, true));
        assert!((100..=320).contains(&alone), "{alone}");
        assert!((20..=60).contains(&stays), "{stays}");
    }

    #[test]
    fn a_sort_comes_back_before_the_next_one() {
        let prices = prices(1e6, true);
        let mut account = Account::default();
        let sorts = |account: &mut Account| (1..).find(|_| account.allows(Step::Sort, &prices)).unwrap_or(0);
        let first = sorts(&mut account);
        // The list changes at once.
        let second = sorts(&mut account);
        assert!(second > first + first / 2, "{first} {second}");
        // It gains for long.
        let asked = Asked { list: (8, 8), compared: prices.compare, gain: prices.gain };
        (0..500).for_each(|_| account.settle(&asked, false));
        assert_eq!(sorts(&mut account), 1);
    }
}
