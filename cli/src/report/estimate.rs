//! What the device would bring, roughly: from the executions of statements and the bytes that the plugin
//! counts for some sizes.
//!
//! The device's time is the larger one of computing and of memory, its launches, and the copies of the
//! arrays; the CPU's is that of one core. Nobody knows how often a branch is taken, what caches hold or how
//! far the code is from what the device could do: half of the best rates that `bench/RESULTS.md` has is taken
//! for all. What is measured says more: `pollyrs profile`.

use pollyrs_tuning::remark::{Details, Sized};

/// Seconds for a statement on one core of the CPU, as the run-time library takes it before it has measured
/// any.
const CPU_STATEMENT: f64 = 1e-9;
/// Statements a second on the device: half of what products of doubles reach without tensor cores.
const STATEMENTS: f64 = 8e12;
/// Bytes a second of the device's memory: half of an H200's.
const MEMORY: f64 = 2.1e12;
/// Bytes a second between CPU and device, each way, in ordinary memory.
const LINK: f64 = 22e9;
/// Seconds for a launch, and for an execution as a whole.
const LAUNCH: f64 = 3e-6;
const EXECUTION: f64 = 10e-6;

/// Sizes that a refused loop is taken to have.
const REFUSED: [i32; 6] = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

struct Times {
    cpu: f64,
    device: f64,
    copies: f64,
}

fn times(s: &Sized) -> Times {
    let kernel = (s.instances / STATEMENTS).max(s.touched / MEMORY);
    Times {
        cpu: s.instances * CPU_STATEMENT,
        device: EXECUTION + s.launches * LAUNCH + kernel,
        copies: (s.read + s.written) / LINK,
    }
}

/// Of an offloaded loop nest; `None` where its work is not known.
pub fn of(d: &Details) -> Option<String> {
    let names = match &d.parameters[..] {
        names if names.len() <= 3 && names.iter().all(|n| is_name(n)) => names.join(" = "),
        _ => "all sizes".to_owned(),
    };
    let with = |s: &Sized| {
        if names.is_empty() { String::new() } else { format!(" with {names} = {}", number(s.parameters)) }
    };
    // Sizes for which the CPU is done at once, or never, tell nothing.
    let usual = d.estimates.iter().find(|s| times(s).cpu >= 1e-3).or(d.estimates.last())?;
    let t = times(usual);
    let mut text = format!(
        "roughly{}: CPU {}, device {} and {} of copies",
        with(usual),
        seconds(t.cpu),
        seconds(t.device),
        seconds(t.copies)
    );
    let wins = |s: &&Sized| times(s).cpu > times(s).device;
    let with_copies = |s: &&Sized| times(s).cpu > times(s).device + times(s).copies;
    let from = |s: Option<&Sized>| {
        s.map(
            |s| if names.is_empty() { "always".to_owned() } else { format!("from {}", number(s.parameters)) },
        )
    };
    match (from(d.estimates.iter().find(wins)), from(d.estimates.iter().find(with_copies))) {
        (None, _) => text += "; the CPU is faster",
        (Some(there), Some(copied)) if there == copied => text += &format!("; the device is faster {there}"),
        (Some(there), Some(copied)) => {
            text += &format!(
                "; the device is faster {there} where the arrays are there, {copied} where they are copied"
            );
        }
        (Some(there), None) => {
            text += &format!(
                "; the device is faster {there} where the arrays are there; copying them takes longer than the CPU"
            );
        }
    }
    Some(text)
}

/// Of a refused one, as if it could run in parallel: `depth` loops of equal length, and an array with an
/// element for each iteration of two of them that comes and goes.
pub fn of_refused(depth: u32) -> Option<String> {
    let sized = |n: i32| {
        let bytes = 8.0 * f64::from(n).powi(depth.min(2) as i32);
        Sized {
            parameters: n,
            instances: f64::from(n).powi(depth as i32),
            launches: 1.0,
            touched: 2.0 * bytes,
            read: bytes,
            written: bytes,
        }
    };
    let t = |n: i32| times(&sized(n));
    let there = REFUSED.into_iter().find(|n| t(*n).cpu > t(*n).device)?;
    let copied = REFUSED.into_iter().find(|n| t(*n).cpu > t(*n).device + t(*n).copies);
    let each = if depth > 1 { " of each loop" } else { "" };
    let copied = match copied {
        Some(n) if n == there => String::new(),
        Some(n) => format!(", from {} where they are copied", number(n)),
        None => "; to copy them for this alone takes longer than the CPU".to_owned(),
    };
    Some(format!(
        "in parallel, the device would be faster from roughly {} iterations{each} where the arrays are there{copied}",
        number(there)
    ))
}

/// Whether it is more than a number that the compiler has put together.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '>'))
}

/// 10,000 for 10000.
fn number(n: i32) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn seconds(s: f64) -> String {
    match s {
        s if s >= 1.0 => format!("{s:.1} s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} µs", (s * 1e6).max(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` loops over three arrays of `dims` dimensions, one of which comes back.
    fn nest(loops: i32, dims: i32) -> Details {
        let sized = |n: i32| {
            let bytes = 8.0 * f64::from(n).powi(dims);
            Sized {
                parameters: n,
                instances: f64::from(n).powi(loops),
                launches: 1.0,
                touched: 3.0 * bytes,
                read: 2.0 * bytes,
                written: bytes,
            }
        };
        let estimates = [30, 100, 300, 1_000, 3_000, 10_000, 100_000, 1_000_000].map(sized).to_vec();
        Details { parameters: vec!["n".into()], estimates, ..Details::default() }
    }

    #[test]
    fn what_pays_is_told() {
        let product = of(&nest(3, 2)).unwrap();
        assert!(product.starts_with("roughly with n = 100: CPU 1.0 ms"), "{product}");
        assert!(product.ends_with("the device is faster from 30"), "{product}");
        let sum = of(&nest(1, 1)).unwrap();
        assert!(sum.contains("copying them takes longer"), "{sum}");
        assert_eq!(of(&Details::default()), None);
        let constant = Details {
            parameters: Vec::new(),
            estimates: nest(3, 2).estimates[5..6].to_vec(),
            ..Details::default()
        };
        assert!(of(&constant).unwrap().ends_with("the device is faster always"), "{:?}", of(&constant));
    }

    #[test]
    fn refusals_are_priced_by_their_depth() {
        assert!(
            of_refused(3).unwrap().contains("from roughly 100 iterations of each loop"),
            "{:?}",
            of_refused(3)
        );
        assert!(
            of_refused(1).unwrap().contains("from roughly 100,000 iterations where"),
            "{:?}",
            of_refused(1)
        );
        assert_eq!(
            (number(1000), number(30), number(1_000_000)),
            ("1,000".into(), "30".into(), "1,000,000".into())
        );
    }
}
