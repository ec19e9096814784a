//! What 40 executions lose to the host alone, and how soon a faster device is found: simulations of the
//! deciding rules.

use super::episodes::{Course, Episodes, Finished};
use super::history::{Advice, History};
use super::{CLEAR, Estimate, KNOWN};
use crate::base::size::Size;

const EXECUTIONS: usize = 40;
/// The most that may be lost.
const LIMIT: f64 = 0.03;
/// Seconds of an execution, and of an episode, on the host.
const HOST: f64 = 100e-6;

/// How the times of one side come.
#[derive(Clone, Copy, Debug)]
enum Series {
    Exact,
    /// Two values, as the device's clock or its caches make them.
    TwoValued,
    /// Slow at first, and not only once.
    Drifting,
    /// The first one alone, far out.
    Cold,
}

impl Series {
    /// The `n`th time of a side that takes `mean`.
    fn time(self, n: usize, mean: f64) -> f64 {
        match self {
            Series::Exact => mean,
            // The middle bit of a multiplicative hash.
            Series::TwoValued => {
                mean * if (n as u32).wrapping_mul(2_654_435_769) >> 16 & 1 == 0 { 0.75 } else { 1.25 }
            }
            Series::Drifting => mean * if n < 17 { 1.2 } else { 0.9 },
            Series::Cold => mean * if n == 0 { 8.0 } else { 1.0 },
        }
    }
}

/// What was done, and seconds in all.
type Run = (String, f64);

/// Executions that move their arrays each time. `device`, `estimated`: what the device takes, in the mean.
fn alone(series: Series, device: f64, estimated: f64) -> Run {
    let (history, size) = (History::default(), Size { work: 1e5, moved: 1e-5 });
    let (mut sides, mut seconds) = (String::new(), 0.0);
    for _ in 0..EXECUTIONS {
        let Size { work, moved } = size;
        let mut estimate = Estimate {
            host: HOST,
            device: estimated,
            work,
            unscaled: estimated,
            transfers: 0.0,
            moved,
            leave: 0.0,
        };
        let advice = history.advise(&mut estimate);
        let count = |side: char| sides.matches(side).count();
        // As `Learned::is_doubtful` says.
        let doubtful = HOST < CLEAR * estimate.device && (count('h') as u64) < KNOWN;
        let on_device = match advice {
            Advice::Estimate => estimate.gain() > 0.0 && !doubtful,
            Advice::TryHost => false,
            Advice::TryDevice => true,
        };
        let took = if on_device { series.time(count('d'), device) } else { HOST };
        match on_device {
            true => history.device_took(took, size),
            false => history.host_took(took, size),
        }
        sides.push(if on_device { 'd' } else { 'h' });
        seconds += took;
    }
    (sides, seconds)
}

/// Episodes that take so long on the device and mixed, in the mean.
fn together(series: Series, device: f64, mixed: f64, estimated: f64) -> Run {
    let (episodes, size) = (Episodes::default(), Size { work: 1e5, moved: 1e-4 });
    let (mut courses, mut seconds) = (String::new(), 0.0);
    for _ in 0..EXECUTIONS {
        let course = episodes.plan(size).course;
        let count = |course: char| courses.matches(course).count();
        let (took, name) = match course {
            Course::Host => (HOST, 'h'),
            Course::Device => (series.time(count('d'), device), 'd'),
            // Of the first mixed episode nothing is known, and nothing can be saved.
            Course::Mixed if courses.is_empty() => (mixed, 'm'),
            Course::Mixed => (series.time(count('m'), mixed), 'm'),
        };
        episodes.finished(size, &Finished { course, took, work: 1e6, host: HOST, device: estimated });
        courses.push(name);
        seconds += took;
    }
    (courses, seconds)
}

fn loss(run: &Run) -> f64 {
    run.1 / (EXECUTIONS as f64 * HOST) - 1.0
}

#[test]
fn a_device_that_never_pays_costs_little() {
    let mut worst: f64 = 0.0;
    for slower in [1.02, 1.05, 1.1, 1.14, 1.2, 1.3, 1.49, 1.7, 1.99, 2.5, 4.0] {
        let device = slower * HOST;
        for error in [0.75, 0.9, 1.0, 1.3, 1.9] {
            for series in [Series::Exact, Series::TwoValued, Series::Drifting] {
                let run = alone(series, device, error * device);
                assert!(
                    loss(&run) <= LIMIT,
                    "alone {slower} {error} {series:?}: {:.4} {}",
                    loss(&run),
                    run.0
                );
                worst = worst.max(loss(&run));
                for mixed in [1.0, 1.1, 1.37, 1.5, 2.0] {
                    let run = together(series, device, mixed * HOST, error * device);
                    // A first episode that takes twice as long, the worst there is, is 2.5% by itself.
                    let limit = if mixed < 2.0 { LIMIT } else { LIMIT + 0.01 };
                    let text = format!("together {slower} {mixed} {error} {series:?}");
                    assert!(loss(&run) <= limit, "{text}: {:.4} {}", loss(&run), run.0);
                    worst = worst.max(loss(&run));
                }
            }
        }
    }
    // Nothing is lost where nothing is tried; something is.
    assert!(worst > 0.01, "{worst}");
}

#[test]
fn a_device_that_pays_is_found_soon() {
    let device = 0.5 * HOST;
    // Estimates that are a third too low to twice too high.
    for error in [0.67, 1.0, 1.5, 2.0] {
        for series in [Series::Exact, Series::TwoValued] {
            let (sides, _) = alone(series, device, error * device);
            let first = sides.find('d');
            assert!(first.is_some_and(|first| first <= 4), "{error} {series:?}: {sides}");
            assert!(sides[8..].matches('h').count() <= 4, "{error} {series:?}: {sides}");
            // What a bad mixed episode lost can not be lost again for a device that is estimated to be hardly
            // faster.
            for mixed in [0.6, 1.0, 1.5, 2.0].into_iter().filter(|mixed| mixed * error < 2.5) {
                let (courses, _) = together(series, device, mixed * HOST, error * device);
                assert!(courses[12..].matches('d').count() >= 20, "{error} {mixed} {series:?}: {courses}");
            }
        }
    }
    // A cold first execution is forgiven where the estimate is convincing.
    for error in [0.67, 1.0, 1.3] {
        let (sides, _) = alone(Series::Cold, device, error * device);
        assert!(sides[12..].matches('h').count() <= 4, "{error}: {sides}");
    }
}

#[test]
fn long_executions_follow_the_estimate() {
    // There may be few of them: what is estimated to be slower is not tried, what turns out slower is left at
    // once.
    let history = History::default();
    let size = Size { work: 1e9, moved: 1e-2 };
    let advise = |device: f64| {
        let mut estimate = Estimate {
            host: 1.0,
            device,
            work: size.work,
            unscaled: device,
            transfers: 0.0,
            moved: size.moved,
            leave: 0.0,
        };
        (history.advise(&mut estimate), estimate.gain() > 0.0)
    };
    for _ in 0..KNOWN {
        assert_eq!(advise(1.2), (Advice::Estimate, false));
        history.host_took(1.0, size);
    }
    assert_eq!(advise(1.2), (Advice::Estimate, false));
    assert_eq!(advise(0.9), (Advice::Estimate, true));
    history.device_took(1.3, size);
    assert_eq!(advise(0.9).0, Advice::TryHost);
    // What is convincing gets a second chance.
    assert_eq!(advise(0.6).0, Advice::TryDevice);
    history.device_took(1.3, size);
    assert_eq!(advise(0.7).0, Advice::TryHost);
}
