//! How long the process has run, what happened before the library was first asked included.

use std::fs;
use std::process;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Of `/proc/PID/stat`, a second; the same on every Linux (`getconf CLK_TCK`).
const TICKS: f64 = 100.0;

/// When the process with this number began. A forked child has another number, and a beginning of its own.
static BEGINNING: Mutex<Option<(u32, Instant)>> = Mutex::new(None);

/// Seconds since the process began; since the first call where the system does not tell.
pub fn seconds() -> f64 {
    let own = process::id();
    let mut known = BEGINNING.lock().unwrap_or_else(PoisonError::into_inner);
    let beginning = match *known {
        Some((process, beginning)) if process == own => beginning,
        _ => {
            let now = Instant::now();
            let age = age().filter(|age| *age >= 0.0).and_then(|age| Duration::try_from_secs_f64(age).ok());
            let beginning = age.and_then(|age| now.checked_sub(age)).unwrap_or(now);
            *known = Some((own, beginning));
            beginning
        }
    };
    beginning.elapsed().as_secs_f64()
}

/// The same by what the system says.
fn age() -> Option<f64> {
    let up = fs::read_to_string("/proc/uptime").ok()?;
    age_from(&fs::read_to_string("/proc/self/stat").ok()?, &up)
}

/// The 22nd field of `/proc/self/stat` is when the process began, in ticks of the clock that `/proc/uptime`
/// shows. The second field, a name in parentheses, may hold anything.
fn age_from(stat: &str, uptime: &str) -> Option<f64> {
    let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let up: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    Some(up - ticks / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells() {
        let stat =
            "12 (a) 1 (b) S 1 12 12 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 4200 1000 10 18446744073709551615";
        assert_eq!(age_from(stat, "50.25 90.00\n"), Some(8.25));
        for (stat, uptime) in [("", "1 2"), ("12 (a) S 1", "1 2"), (stat, ""), (stat, "x y")] {
            assert_eq!(age_from(stat, uptime), None);
        }
    }

    #[test]
    fn a_process_grows_older() {
        let first = seconds();
        let second = seconds();
        // Nobody runs the tests for a month.
        assert!(0.0 <= first && first <= second && second < 3e6, "{first} {second}");
    }
}
