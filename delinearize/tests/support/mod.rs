//! Problems written as text, and a check of a shape that evaluates everything at points.
#![allow(dead_code)]

use pollyrs_delinearize::*;
use pollyrs_isl as isl;
use pollyrs_isl::DimType;

/// Parses sums and products of names, integers and parentheses.
pub fn parse(text: &str, iters: &[&str], params: &[&str]) -> Polynomial {
    let tokens: Vec<String> = {
        let mut out = Vec::new();
        let mut word = String::new();
        for c in text.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            if !c.is_whitespace() {
                out.push(c.to_string());
            }
        }
        out
    };
    let mut at = 0;
    let p = sum(&tokens, &mut at, iters, params);
    assert_eq!(at, tokens.len(), "trailing text in {text}");
    p
}

fn sum(t: &[String], at: &mut usize, iters: &[&str], params: &[&str]) -> Polynomial {
    let mut p = Polynomial::zero();
    let mut sign = 1;
    if t.get(*at).is_some_and(|x| x == "-") {
        sign = -1;
        *at += 1;
    }
    loop {
        p = p + product(t, at, iters, params).scale(sign);
        match t.get(*at).map(String::as_str) {
            Some("+") => sign = 1,
            Some("-") => sign = -1,
            _ => return p,
        }
        *at += 1;
    }
}

fn product(t: &[String], at: &mut usize, iters: &[&str], params: &[&str]) -> Polynomial {
    let mut p = Polynomial::constant(1);
    loop {
        let word = t[*at].as_str();
        *at += 1;
        let f = if word == "(" {
            let inner = sum(t, at, iters, params);
            assert_eq!(t[*at], ")");
            *at += 1;
            inner
        } else if let Ok(c) = word.parse::<i128>() {
            Polynomial::constant(c)
        } else if let Some(d) = iters.iter().position(|n| *n == word) {
            Polynomial::iter(d)
        } else {
            Polynomial::param(
                params.iter().position(|n| *n == word).unwrap_or_else(|| panic!("no symbol {word}")),
            )
        };
        p = p * f;
        if t.get(*at).is_none_or(|x| x != "*") {
            return p;
        }
        *at += 1;
    }
}

/// The owner of a [`Problem`].
pub struct Case {
    pub ctx: isl::Context,
    pub params: Vec<String>,
    pub context: isl::Set,
    pub element_bytes: u32,
    pub accesses: Vec<AccessPoly>,
    pub found: Vec<(String, String)>,
}

impl Case {
    /// Parameters separated by blanks; the context as constraints (empty: none).
    pub fn new(params: &str, context: &str) -> Case {
        let ctx = isl::Context::new();
        let params: Vec<String> = params.split_whitespace().map(str::to_string).collect();
        let text = format!("[{}] -> {{ : {context} }}", params.join(","));
        let context = isl::Set::read(&ctx, &text).unwrap();
        Case { ctx, params, context, element_bytes: 4, accesses: vec![], found: vec![] }
    }

    fn names(&self) -> Vec<&str> {
        self.params.iter().map(String::as_str).collect()
    }

    pub fn poly(&self, text: &str) -> Polynomial {
        parse(text, &[], &self.names())
    }

    /// An access with this offset in elements; the domain as `i j : constraints`.
    pub fn flat(mut self, domain: &str, offset: &str) -> Case {
        let (iters, constraints) = domain.split_once(':').unwrap();
        let iters: Vec<&str> = iters.split_whitespace().collect();
        let offset = parse(offset, &iters, &self.names()).scale(i128::from(self.element_bytes));
        let text = format!(
            "[{}] -> {{ S{}[{}] : {constraints} }}",
            self.params.join(","),
            self.accesses.len(),
            iters.join(",")
        );
        let domain = isl::Set::read(&self.ctx, &text).unwrap();
        self.accesses.push(AccessPoly { offset, domain, size_hint: None });
        self
    }

    /// The same with subscripts of an array with these inner sizes, all separated by commas.
    pub fn array(self, domain: &str, sizes: &str, subscripts: &str) -> Case {
        let mut subs = subscripts.split(',');
        let mut text = format!("({})", subs.next().unwrap());
        for (size, f) in sizes.split(',').filter(|s| !s.trim().is_empty()).zip(subs) {
            text = format!("({text}*({size}) + {f})");
        }
        self.flat(domain, &text)
    }

    pub fn hint(mut self, sizes: &[i64]) -> Case {
        self.accesses.last_mut().unwrap().size_hint = Some(sizes.to_vec());
        self
    }

    /// Two parameters are the least and the largest value that data has.
    pub fn found(mut self, least: &str, largest: &str) -> Case {
        self.found.push((least.to_string(), largest.to_string()));
        self
    }

    pub fn problem(&self) -> Problem<'_> {
        Problem {
            params: &self.params,
            context: &self.context,
            element_bytes: self.element_bytes,
            accesses: &self.accesses,
            found: &self.found,
            certain: false,
        }
    }

    pub fn in_context(&self, params: &[i32]) -> bool {
        holds(&self.context, params)
    }

    pub fn solve(&self) -> Result<Shape, DelinearizeError> {
        delinearize(&self.problem())
    }

    pub fn set(&self, constraints: &str) -> isl::Set {
        isl::Set::read(&self.ctx, &format!("[{}] -> {{ : {constraints} }}", self.params.join(","))).unwrap()
    }

    /// Asserts the inner sizes, the assumption within the context, and the subscripts: functions of `i0, i1,
    /// ...`, an access each, on its executed iterations for parameters in the assumption.
    pub fn expect(&self, sizes: &str, assumption: &str, subscripts: &[&str]) -> Shape {
        let shape = self.solve().unwrap();
        let want: Vec<Polynomial> =
            sizes.split(',').filter(|s| !s.trim().is_empty()).map(|s| self.poly(s)).collect();
        let got: Vec<Polynomial> = shape.sizes.iter().flatten().cloned().collect();
        assert_eq!(got, want, "sizes");
        assert!(shape.sizes[0].is_none());
        let got = shape.assumption.clone().intersect(self.context.clone()).unwrap();
        let want = self.set(assumption).intersect(self.context.clone()).unwrap();
        assert!(got.is_equal(&want).unwrap(), "assumption {} is not {assumption}", shape.assumption);
        assert_eq!(subscripts.len(), self.accesses.len());
        for (n, (text, a)) in subscripts.iter().zip(&self.accesses).enumerate() {
            let executed = a.domain.clone().intersect_params(want.clone()).unwrap();
            let dims = executed.dim(DimType::Set).unwrap();
            let iters: Vec<String> = (0..dims).map(|d| format!("i{d}")).collect();
            for (k, f) in text.split(',').enumerate() {
                let text = format!("[{}] -> {{ S{n}[{}] -> [{f}] }}", self.params.join(","), iters.join(","));
                let want =
                    isl::Map::read(&self.ctx, &text).unwrap().intersect_domain(executed.clone()).unwrap();
                let got = isl::Map::from_pw_aff(shape.subscripts[n][k].clone()).unwrap();
                let got = got.intersect_domain(executed.clone()).unwrap();
                assert!(want.is_equal(&got).unwrap(), "access {n}, dimension {k}: {got} is not {want}");
            }
        }
        shape
    }
}

/// The value of `f` at a point; `None` where undefined.
pub fn value(f: &isl::PwAff, params: &[i32], iters: &[i32]) -> Option<i128> {
    let at = fixed(&f.domain_space().unwrap(), params, iters);
    let f = f.clone().intersect_domain(at).unwrap();
    if f.clone().domain().unwrap().is_empty().unwrap() {
        return None;
    }
    f.max_value().unwrap().to_i64().map(i128::from)
}

fn fixed(space: &isl::Space, params: &[i32], iters: &[i32]) -> isl::Set {
    let mut s = isl::Set::universe(space.clone()).unwrap();
    for (n, v) in params.iter().enumerate() {
        s = s.fix_si(DimType::Param, n as u32, *v).unwrap();
    }
    for (n, v) in iters.iter().enumerate() {
        s = s.fix_si(DimType::Set, n as u32, *v).unwrap();
    }
    s
}

/// All vectors of `n` numbers in a range.
pub fn grid(n: usize, range: std::ops::RangeInclusive<i32>) -> Vec<Vec<i32>> {
    (0..n).fold(vec![vec![]], |all, _| {
        all.iter().flat_map(|v| range.clone().map(move |x| v.iter().copied().chain([x]).collect())).collect()
    })
}

/// Whether a set of parameters contains these.
pub fn holds(set: &isl::Set, params: &[i32]) -> bool {
    !set.is_disjoint(&fixed(&set.space().unwrap(), params, &[])).unwrap()
}

/// The iterations of an access for these parameters, in a box.
pub fn executed(a: &AccessPoly, params: &[i32], iters: std::ops::RangeInclusive<i32>) -> Vec<Vec<i32>> {
    let here = a.domain.clone().intersect(fixed(&a.domain.space().unwrap(), params, &[])).unwrap();
    let dims = a.domain.dim(DimType::Set).unwrap();
    let mut all: Vec<(isl::Set, Vec<i32>)> = vec![(here, vec![])];
    for d in 0..dims {
        let mut longer = Vec::new();
        for (set, prefix) in &all {
            for v in iters.clone() {
                let at = set.clone().fix_si(DimType::Set, d, v).unwrap();
                if !at.is_empty().unwrap() {
                    longer.push((at, prefix.iter().copied().chain([v]).collect()));
                }
            }
        }
        all = longer;
    }
    all.retain(|(set, _)| !set.is_empty().unwrap());
    all.into_iter().map(|(_, i)| i).collect()
}

/// What a check saw, so that a test can tell that it was not vacuous.
#[derive(Debug, Default)]
pub struct Seen {
    pub points: usize,
    pub holds: usize,
    pub fails: usize,
}

/// Checks `shape` at points: for all parameters in `params` (and the context) and all iterations in `iters`
/// (and the domain), that where the assumption holds the address is the access's and the inner subscripts are
/// inside; that where it does not hold, some inner subscript is outside or undefined.
pub fn check_points(
    case: &Case,
    shape: &Shape,
    params: std::ops::RangeInclusive<i32>,
    iters: std::ops::RangeInclusive<i32>,
) -> Seen {
    let mut seen = Seen::default();
    for p in grid(case.params.len(), params) {
        if !case.in_context(&p) {
            continue;
        }
        let checked = holds(&shape.check, &p);
        let holds = holds(&shape.assumption, &p);
        assert!(
            holds || !checked,
            "parameters {p:?}: the check {} implies no {}",
            shape.check,
            shape.assumption
        );
        let size = |s: &Polynomial| {
            s.eval(|x| match x {
                Symbol::Param(n) => i128::from(p[n]),
                Symbol::Iter(_) => panic!("a counter in a size"),
            })
            .unwrap()
        };
        let sizes: Vec<i128> = shape.sizes.iter().flatten().map(size).collect();
        let mut inside = true;
        for (n, a) in case.accesses.iter().enumerate() {
            for i in executed(a, &p, iters.clone()) {
                seen.points += 1;
                let f: Vec<Option<i128>> = shape.subscripts[n].iter().map(|f| value(f, &p, &i)).collect();
                let here_inside = f[0].is_some()
                    && sizes.iter().zip(&f[1..]).all(|(d, f)| f.is_some_and(|f| 0 <= f && f < *d));
                inside &= here_inside;
                if holds {
                    assert!(
                        here_inside,
                        "parameters {p:?}, iteration {i:?}: subscripts {f:?} outside {sizes:?}"
                    );
                    let flat = sizes.iter().zip(&f[1..]).fold(f[0].unwrap(), |o, (d, f)| o * d + f.unwrap());
                    let want = a.offset.eval(|x| match x {
                        Symbol::Param(n) => i128::from(p[n]),
                        Symbol::Iter(d) => i128::from(i[d]),
                    });
                    assert_eq!(
                        Some(flat * i128::from(case.element_bytes)),
                        want,
                        "address of access {n} at {p:?}, {i:?}"
                    );
                }
            }
        }
        assert_eq!(holds, inside, "parameters {p:?}: the assumption {} is not exact", shape.assumption);
        if holds { seen.holds += 1 } else { seen.fails += 1 }
    }
    seen
}
