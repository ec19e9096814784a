//! The search: which choices of a nest were tried, what they took, and which is the best.
//!
//! One variant of the program tries a choice in every nest at once: nests are measured one by one, so that a
//! round takes as many variants as the nest with the most candidates.
//!
//! # Invariants
//! - A nest's choice changes only to one that was measured, with the right result, on as many executions as
//!   the model's.
//! - Choices that give the same code are measured once.

use super::build::{Key, Variant, key_of};
use super::candidates;
use super::measure::Measured;
use pollyrs_tuning::{Choice, Told};
use std::collections::BTreeMap;

/// Differences below this are noise: kernel times of one program on an idle GPU vary by one or two
/// hundredths.
pub const GAIN: f64 = 1.02;

/// A choice that ran.
#[derive(Clone, Debug)]
pub struct Trial {
    pub choice: Choice,
    pub told: Told,
    pub measured: Measured,
}

/// A loop nest.
#[derive(Clone, Debug)]
pub struct Nest {
    pub model: Trial,
    pub best: Trial,
    /// All that ran.
    pub trials: Vec<Trial>,
    tried: Vec<Choice>,
    /// Whether the best changed since its neighbours were listed.
    fresh: bool,
}

/// All nests of a program that ran on the device.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pub nests: BTreeMap<Key, Nest>,
}

impl Search {
    /// From the model's choice.
    pub fn new(model: &Variant, measured: &BTreeMap<String, Measured>) -> Search {
        let mut nests = BTreeMap::new();
        for (name, key) in model.names() {
            if let (Some(m), Some(told)) = (measured.get(name), model.told(&key)) {
                let trial = Trial { choice: Choice::new(), told: told.clone(), measured: m.clone() };
                let (best, trials) = (trial.clone(), vec![trial.clone()]);
                let tried = vec![Choice::new()];
                nests.insert(key, Nest { model: trial, best, trials, tried, fresh: true });
            }
        }
        Search { nests }
    }

    /// The variants of the next round: first all around the model's choice (and `also`), then the neighbours
    /// of each nest's best, where that is new. None: there is nothing left.
    pub fn round(&mut self, first: bool, also: &[Choice]) -> Vec<Vec<(Key, Choice)>> {
        let mut queues: Vec<(Key, Vec<Choice>)> = Vec::new();
        for (key, nest) in &mut self.nests {
            let mut queue = match (first, nest.fresh) {
                (true, _) => [also.to_vec(), candidates::first(&nest.model.told)].concat(),
                (false, true) => candidates::around(&nest.best.told, &nest.best.choice),
                (false, false) => Vec::new(),
            };
            nest.fresh &= first;
            queue.retain(|c| !nest.tried.contains(c));
            nest.tried.extend(queue.iter().cloned());
            queues.push((key.clone(), queue));
        }
        let longest = queues.iter().map(|(_, q)| q.len()).max().unwrap_or(0);
        let choice = |at: usize, (key, queue): &(Key, Vec<Choice>)| {
            let best = || self.nests.get(key).map(|n| n.best.choice.clone());
            Some((key.clone(), queue.get(at).cloned().or_else(best)?))
        };
        let variant =
            |at| queues.iter().filter_map(|q| choice(at, q)).filter(|(_, c)| !c.is_empty()).collect();
        (0..longest).map(variant).collect()
    }

    /// Goes on from a variant's choices, which nobody has measured yet.
    pub fn center(&mut self, variant: &Variant) {
        for (key, nest) in &mut self.nests {
            if let Some(told) = variant.told(key).filter(|t| t.refused.is_none()) {
                nest.best = Trial { choice: variant.choice(key), told: told.clone(), ..nest.best.clone() };
            }
        }
    }

    /// Whether a variant has code for some nest that has not run.
    pub fn is_news(&self, variant: &Variant) -> bool {
        variant.told.iter().any(|told| {
            let ran = |n: &Nest| n.trials.iter().any(|t| t.told.code == told.code);
            told.refused.is_none() && self.nests.get(&key_of(told)).is_some_and(|n| !ran(n))
        })
    }

    /// Notes what a variant took.
    pub fn note(&mut self, variant: &Variant, measured: &BTreeMap<String, Measured>) {
        for (name, key) in variant.names() {
            let (Some(m), Some(told), Some(nest)) =
                (measured.get(name), variant.told(&key), self.nests.get_mut(&key))
            else {
                continue;
            };
            let known = nest.trials.iter().any(|t| t.told.code == told.code);
            if told.refused.is_some() || known || m.executions != nest.model.measured.executions {
                continue;
            }
            let trial = Trial { choice: variant.choice(&key), told: told.clone(), measured: m.clone() };
            if trial.measured.score() < nest.best.measured.score() {
                nest.best = trial.clone();
                nest.fresh = true;
            }
            nest.trials.push(trial);
        }
    }

    /// The best choices; the model's where the gain is noise.
    pub fn chosen(&self) -> Vec<(Key, Choice)> {
        let pays = |n: &Nest| n.model.measured.score() >= GAIN * n.best.measured.score();
        self.nests.iter().filter(|(_, n)| pays(n)).map(|(k, n)| (k.clone(), n.best.choice.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pollyrs_tuning::StencilShape;

    fn told(function: &str, fuse: i64, code: &str) -> Told {
        let stencil =
            StencilShape { dims: 2, fuse, period: 1, threads: [1, 256], columns: [1, 2], variant: 1 };
        Told {
            function: function.into(),
            content: "0".into(),
            scop: function.into(),
            code: code.into(),
            stencil: Some(stencil),
            ..Told::default()
        }
    }

    fn variant(told: Vec<Told>, choices: Vec<(Key, Choice)>) -> Variant {
        Variant { program: "x".into(), choices, told }
    }

    fn times(list: &[(&str, f64)]) -> BTreeMap<String, Measured> {
        let one = |ms: f64| Measured { ms, launches: 1, executions: 1, emulated: false };
        list.iter().map(|(n, ms)| ((*n).to_owned(), one(*ms))).collect()
    }

    fn key(function: &str) -> Key {
        (function.into(), "0".into())
    }

    /// A made-up machine on which a depth of 7 is the fastest: from 4, one round sees it, and what lies
    /// beyond is looked at as well.
    #[test]
    fn the_search_goes_where_it_is_faster_and_stops() {
        let time = |fuse: i64| 10.0 + (fuse - 9).abs() as f64;
        let model = variant(vec![told("f", 4, "4")], vec![]);
        let mut search = Search::new(&model, &times(&[("f", time(4))]));
        let mut rounds = 0;
        let mut first = true;
        loop {
            let all = search.round(first, &[]);
            first = false;
            if all.is_empty() {
                break;
            }
            rounds += 1;
            assert!(rounds < 20, "it does not end");
            for choices in all {
                let choice = &choices[0].1;
                let Some(fuse) = choice.get("fuse-steps") else { continue };
                let fuse: i64 = fuse.parse().unwrap();
                // Every shape but the model's is slow here.
                let slow = if choice["stencil-shape"] == "1x256x1x2x1" { 0.0 } else { 50.0 };
                let code = format!("{fuse} {}", choice["stencil-shape"]);
                let v = variant(vec![told("f", fuse, &code)], choices.clone());
                if search.is_news(&v) {
                    search.note(&v, &times(&[("f", time(fuse) + slow)]));
                }
            }
        }
        let best = &search.nests[&key("f")].best;
        assert_eq!((best.choice["fuse-steps"].as_str(), best.measured.ms), ("9", 10.0));
        assert_eq!(search.chosen()[0].1, best.choice);
    }

    #[test]
    fn nests_are_tried_at_once_and_chosen_one_by_one() {
        let model = variant(vec![told("f", 4, "a"), told("g", 4, "b")], vec![]);
        let mut search = Search::new(&model, &times(&[("f", 10.0), ("g", 10.0)]));
        let all = search.round(true, &[]);
        assert!(all.iter().all(|v| v.len() == 2), "{all:?}");
        let v = variant(vec![told("f", 5, "c"), told("g", 5, "d")], all[0].clone());
        search.note(&v, &times(&[("f", 5.0), ("g", 9.9)]));
        let chosen = search.chosen();
        assert_eq!(chosen.len(), 1, "a gain of one percent is noise");
        assert_eq!(chosen[0].0, key("f"));
        assert!(search.round(true, &[]).is_empty(), "all of it was tried");
    }

    #[test]
    fn what_was_refused_or_is_the_same_or_ran_less_often_does_not_count() {
        let model = variant(vec![told("f", 4, "a")], vec![]);
        let mut search = Search::new(&model, &times(&[("f", 10.0)]));
        let choice: Choice = [("strategy".to_owned(), "isl".to_owned())].into();
        let with = |told: Told| variant(vec![told], vec![(key("f"), choice.clone())]);
        let refused = with(Told { refused: Some("why".into()), ..told("f", 4, "b") });
        let same = with(told("f", 4, "a"));
        for v in [&refused, &same] {
            assert!(!search.is_news(v));
            search.note(v, &times(&[("f", 1.0)]));
        }
        let other = with(told("f", 4, "b"));
        assert!(search.is_news(&other));
        let mut few = times(&[("f", 1.0)]);
        few.get_mut("f").unwrap().executions = 0;
        search.note(&other, &few);
        assert!(search.chosen().is_empty());
        search.note(&other, &times(&[("f", 1.0)]));
        assert_eq!(search.chosen(), [(key("f"), choice.clone())]);
        let elsewhere = with(told("other", 4, "z"));
        assert!(!search.is_news(&elsewhere));
    }

    #[test]
    fn two_files_with_one_name_say_nothing() {
        let twice = variant(vec![told("f", 4, "a"), told("f", 4, "b")], vec![]);
        assert!(Search::new(&twice, &times(&[("f", 10.0)])).nests.is_empty());
    }
}
