//! SCoPs from a small loop language, for tests of this and of later crates (feature `testing`). It panics on
//! bad input.
//!
//! ```text
//! param n m;  context n >= 0;                      parameters, what is known of them
//! array A n m;  scalar t n;  phi p n live_out;     memory; SSA values and PHIs with the sizes of their dimensions
//! for i : 0 <= i < n {                             a loop; the condition is isl text
//!   S0 : A[i,0], B[i] = A[i,1], t[i];              writes = reads; `?=` for may-writes
//! }
//! ```

use crate::tree::{ScheduleTree, Tree};
use pollyrs_isl as isl;
use pollyrs_scop::{
    Access, AccessKind, AccessValue, Array, ArrayId, ArrayKind, ElemType, Param, Region, ScevHandle, Scop,
    Statement, ValueHandle,
};

/// A handle that stands for nothing: the SCoPs of tests have no host.
pub(crate) fn value(n: usize) -> ValueHandle {
    // SAFETY: nobody looks at what it stands for.
    unsafe { ValueHandle::new(n) }
}

/// An update of what the first access reads by access number `write`, in any order.
#[cfg(test)]
pub(crate) fn sum(write: usize) -> pollyrs_scop::Reduction {
    pollyrs_scop::Reduction {
        read: 0,
        write,
        value: value(90),
        identity: value(91),
        update: vec![],
        commutative: true,
        numbers: false,
        regrouped: false,
        companions: vec![],
    }
}

/// Fails where two functions differ for parameters of a set.
#[cfg(test)]
pub(crate) fn same(got: &isl::PwMultiAff, when: &str, want: &str) {
    let ctx = got.context().clone();
    let when = isl::Set::read(&ctx, when).unwrap();
    let got = isl::Set::from_pw_multi_aff(got.clone()).unwrap().intersect_params(when.clone()).unwrap();
    let want = isl::Set::read(&ctx, want).unwrap().intersect_params(when).unwrap();
    assert!(got.is_equal(&want).unwrap(), "got {got}\nwant {want}");
}

enum Item {
    Loop(String, Vec<Item>),
    Stmt(usize),
}

struct Loop {
    iterator: String,
    condition: String,
}

struct Parser<'a> {
    rest: &'a str,
    loops: Vec<Loop>,
    statements: Vec<(String, Vec<String>, Statement)>,
    params: Vec<String>,
    context: String,
    arrays: Vec<Array>,
    ctx: isl::Context,
}

/// [`scop`] with all parameters in the range of a 32-bit signed integer, as detection knows them.
pub fn scop_i32(text: &str) -> Scop {
    let mut s = scop(text);
    for p in &s.params {
        let range = format!("[{0}] -> {{ : -2147483648 <= {0} <= 2147483647 }}", p.name);
        s.context = s.context.intersect(isl::Set::read(&s.ctx, &range).unwrap()).unwrap();
    }
    s
}

/// The SCoP that `text` describes, in a context of its own.
pub fn scop(text: &str) -> Scop {
    let mut p = Parser {
        rest: text,
        loops: vec![],
        statements: vec![],
        params: vec![],
        context: "true".into(),
        arrays: vec![],
        ctx: isl::Context::new(),
    };
    let items = p.items();
    let ctx = p.ctx.clone();
    let domains = p.statements.iter().map(|s| s.2.domain.clone());
    let domain = domains.fold(isl::UnionSet::empty(&ctx).unwrap(), |u, d| u.add_set(d).unwrap());
    let context =
        isl::Set::read(&ctx, &format!("[{}] -> {{ : {} }}", p.params.join(","), p.context)).unwrap();
    let tree = ScheduleTree { domain, root: p.tree(&items) };
    let scop = Scop {
        name: "test".into(),
        function: "test".into(),
        location: None,
        schedule: tree.to_isl().unwrap(),
        params: p
            .params
            .iter()
            .map(|n| Param {
                name: n.clone(),
                display: n.clone(),
                bits: 64,
                // SAFETY: nobody looks.
                scev: unsafe { ScevHandle::new(0) },
                inspected: false,
            })
            .collect(),
        context,
        assumptions: vec![],
        ranges: vec![],
        invariants: vec![],
        arrays: p.arrays,
        statements: p.statements.into_iter().map(|s| s.2).collect(),
        region: Region { entry: value(0), exit: value(0), blocks: vec![] },
        alias_checks: vec![],
        long: false,
        in_place: vec![],
        invariant_loads: vec![],
        inspections: vec![],
        roundings: vec![],
        appends: vec![],
        promised: vec![],
        reordered: vec![],
        loops: vec![],
        ctx,
    };
    pollyrs_scop::verify(&scop).unwrap();
    scop
}

impl Parser<'_> {
    /// Text up to one of `;{}` and that character.
    fn next(&mut self) -> Option<(String, char)> {
        let end = self.rest.find([';', '{', '}'])?;
        let piece = self.rest[..end].trim().to_string();
        let stop = self.rest[end..].chars().next().unwrap();
        self.rest = &self.rest[end + 1..];
        Some((piece, stop))
    }

    fn prefix(&self) -> String {
        format!("[{}] -> ", self.params.join(","))
    }

    fn items(&mut self) -> Vec<Item> {
        let mut items = vec![];
        while let Some((piece, stop)) = self.next() {
            match stop {
                '}' => return items,
                '{' => {
                    let head = piece.strip_prefix("for ").expect("for");
                    let (iterator, condition) = head.split_once(':').expect("condition");
                    let iterator = iterator.trim().to_string();
                    self.loops.push(Loop { iterator: iterator.clone(), condition: condition.trim().into() });
                    let body = self.items();
                    self.loops.pop();
                    items.push(Item::Loop(iterator, body));
                }
                _ => self.simple(&piece, &mut items),
            }
        }
        items
    }

    fn simple(&mut self, piece: &str, items: &mut Vec<Item>) {
        if let Some((label, body)) = piece.split_once(" : ") {
            self.statement(label.trim(), body);
            items.push(Item::Stmt(self.statements.len() - 1));
            return;
        }
        let mut words = piece.split_whitespace().map(str::to_string);
        match words.next().expect("a word").as_str() {
            "param" => self.params.extend(words),
            "context" => self.context = words.collect::<Vec<_>>().join(" "),
            kind => self.array(kind, words.collect()),
        }
    }

    fn array(&mut self, kind: &str, mut words: Vec<String>) {
        let live_out = words.last().is_some_and(|w| w == "live_out");
        if live_out {
            words.pop();
        }
        let value = value(self.arrays.len());
        let kind = match kind {
            "array" => ArrayKind::Memory { base: value },
            "scalar" => ArrayKind::Scalar { value, live_out },
            "phi" => ArrayKind::Phi { phi: value, live_out },
            other => panic!("unknown word {other}"),
        };
        let size = |s: &String| {
            Some(isl::PwAff::read(&self.ctx, &format!("{}{{ [({s})] }}", self.prefix())).unwrap())
        };
        let mut sizes: Vec<_> = words[1..].iter().map(size).collect();
        if let (Some(first), ArrayKind::Memory { .. }) = (sizes.first_mut(), &kind) {
            *first = None;
        }
        let name = words[0].clone();
        self.arrays.push(Array {
            display: name.clone(),
            name,
            elem: ElemType::F64,
            sizes,
            kind,
            shift: None,
            apart: None,
        });
    }

    fn statement(&mut self, name: &str, body: &str) {
        let its: Vec<_> = self.loops.iter().map(|l| l.iterator.clone()).collect();
        let tuple = format!("{name}[{}]", its.join(","));
        let conditions: Vec<_> = self.loops.iter().map(|l| l.condition.clone()).collect();
        let conditions = if conditions.is_empty() { "true".to_string() } else { conditions.join(" and ") };
        let domain =
            isl::Set::read(&self.ctx, &format!("{}{{ {tuple} : {conditions} }}", self.prefix())).unwrap();
        let (left, right, kind) = match body.split_once("?=") {
            Some((l, r)) => (l, r, AccessKind::MayWrite),
            None => {
                let (l, r) = body.split_once('=').expect("=");
                (l, r, AccessKind::MustWrite)
            }
        };
        let mut accesses = vec![];
        for (text, kind) in split(right)
            .into_iter()
            .map(|t| (t, AccessKind::Read))
            .chain(split(left).into_iter().map(|t| (t, kind)))
        {
            let relation =
                isl::Map::read(&self.ctx, &format!("{}{{ {tuple} -> {text} }}", self.prefix())).unwrap();
            let target = text.split('[').next().unwrap().trim();
            let array = self.arrays.iter().position(|a| a.name == target).expect("array");
            let handle = value(accesses.len());
            let value = match (self.arrays[array].is_memory(), kind) {
                (true, _) => AccessValue::Instruction(handle),
                (false, AccessKind::Read) => AccessValue::ScalarRead(handle),
                (false, _) => AccessValue::ScalarWrite(handle),
            };
            accesses.push(Access::new(kind, ArrayId(array), relation, value));
        }
        let stmt = Statement {
            name: name.into(),
            domain,
            accesses,
            body: vec![],
            synthesized: vec![],
            reduction: None,
            updates: Vec::new(),
            running: None,
            subregion: None,
            location: None,
        };
        self.statements.push((tuple, its, stmt));
    }

    fn tree(&self, items: &[Item]) -> Tree {
        let mut children: Vec<(isl::UnionSet, Tree)> = items.iter().map(|i| self.child(i)).collect();
        match children.len() {
            1 => children.pop().unwrap().1,
            _ => Tree::Sequence(children),
        }
    }

    fn child(&self, item: &Item) -> (isl::UnionSet, Tree) {
        let tuples = self.tuples(item);
        let filter = isl::UnionSet::read(&self.ctx, &format!("{{ {} }}", tuples.join("; "))).unwrap();
        match item {
            Item::Stmt(_) => (filter, Tree::Leaf),
            Item::Loop(it, body) => {
                let member: Vec<_> = tuples.iter().map(|t| format!("{t} -> [({it})]")).collect();
                let member =
                    isl::UnionPwAff::read(&self.ctx, &format!("{{ {} }}", member.join("; "))).unwrap();
                (filter, self.tree(body).under(vec![member]))
            }
        }
    }

    fn tuples(&self, item: &Item) -> Vec<String> {
        match item {
            Item::Stmt(s) => vec![self.statements[*s].0.clone()],
            Item::Loop(_, body) => body.iter().flat_map(|i| self.tuples(i)).collect(),
        }
    }
}

/// Splits at commas outside brackets.
fn split(text: &str) -> Vec<String> {
    let (mut depth, mut out, mut cur) = (0, vec![], String::new());
    for c in text.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            out.push(std::mem::take(&mut cur));
        } else {
            cur.push(c);
        }
    }
    out.push(cur);
    out.iter().map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect()
}

/// Well-known loop nests, each written from its definition: `(name, text)`.
pub const KERNELS: &[(&str, &str)] = &[
    (
        "gemm",
        "param n m k; array C n m; array A n k; array B k m; context n >= 0 and m >= 0 and k >= 0;
         for i : 0 <= i < n {
           for j : 0 <= j < m { S0 : C[i,j] = C[i,j]; }
           for l : 0 <= l < k { for j : 0 <= j < m { S1 : C[i,j] = C[i,j], A[i,l], B[l,j]; } }
         }",
    ),
    (
        "2mm",
        "param n m k l; array T n m; array A n k; array B k m; array C m l; array D n l;
         for i : 0 <= i < n { for j : 0 <= j < m { S0 : T[i,j] = ; for p : 0 <= p < k { S1 : T[i,j] = T[i,j], A[i,p], B[p,j]; } } }
         for i : 0 <= i < n { for j : 0 <= j < l { S2 : D[i,j] = D[i,j]; for p : 0 <= p < m { S3 : D[i,j] = D[i,j], T[i,p], C[p,j]; } } }",
    ),
    (
        "jacobi-2d",
        "param n t; array A n n; array B n n;
         for s : 0 <= s < t {
           for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 { S0 : B[i,j] = A[i,j], A[i,j-1], A[i,j+1], A[i-1,j], A[i+1,j]; } }
           for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 { S1 : A[i,j] = B[i,j], B[i,j-1], B[i,j+1], B[i-1,j], B[i+1,j]; } }
         }",
    ),
    (
        "heat-3d",
        "param n t; array A n n n; array B n n n;
         for s : 0 <= s < t {
           for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 { for k : 1 <= k < n - 1 {
             S0 : B[i,j,k] = A[i,j,k], A[i-1,j,k], A[i+1,j,k], A[i,j-1,k], A[i,j+1,k], A[i,j,k-1], A[i,j,k+1]; } } }
           for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 { for k : 1 <= k < n - 1 {
             S1 : A[i,j,k] = B[i,j,k], B[i-1,j,k], B[i+1,j,k], B[i,j-1,k], B[i,j+1,k], B[i,j,k-1], B[i,j,k+1]; } } }
         }",
    ),
    (
        "covariance",
        "param n m; array D n m; array C m m; array M m;
         for j : 0 <= j < m { S0 : M[j] = ; for i : 0 <= i < n { S1 : M[j] = M[j], D[i,j]; } S2 : M[j] = M[j]; }
         for i : 0 <= i < n { for j : 0 <= j < m { S3 : D[i,j] = D[i,j], M[j]; } }
         for i : 0 <= i < m { for j : i <= j < m {
           S4 : C[i,j] = ; for k : 0 <= k < n { S5 : C[i,j] = C[i,j], D[k,i], D[k,j]; } S6 : C[i,j] = C[i,j]; S7 : C[j,i] = C[i,j]; } }",
    ),
    (
        "correlation",
        "param n m; array D n m; array C m m;
         for i : 0 <= i < m - 1 {
           S0 : C[i,i] = ;
           for j : i + 1 <= j < m { S1 : C[i,j] = ; for k : 0 <= k < n { S2 : C[i,j] = C[i,j], D[k,i], D[k,j]; } S3 : C[j,i] = C[i,j]; }
         }
         S4 : C[m-1,m-1] = ;",
    ),
    (
        "floyd-warshall",
        "param n; array P n n;
         for k : 0 <= k < n { for i : 0 <= i < n { for j : 0 <= j < n { S0 : P[i,j] = P[i,j], P[i,k], P[k,j]; } } }",
    ),
    (
        "conv2d",
        "param h w; array I h w; array O h w; array K 3 3;
         for y : 1 <= y < h - 1 { for x : 1 <= x < w - 1 {
           S0 : O[y,x] = ;
           for r : 0 <= r < 3 { for c : 0 <= c < 3 { S1 : O[y,x] = O[y,x], I[y+r-1,x+c-1], K[r,c]; } }
         } }",
    ),
    (
        "gemver",
        "param n; array A n n; array u n; array v n; array x n; array y n; array z n; array w n;
         for i : 0 <= i < n { for j : 0 <= j < n { S0 : A[i,j] = A[i,j], u[i], v[j]; } }
         for i : 0 <= i < n { for j : 0 <= j < n { S1 : x[i] = x[i], A[j,i], y[j]; } }
         for i : 0 <= i < n { S2 : x[i] = x[i], z[i]; }
         for i : 0 <= i < n { for j : 0 <= j < n { S3 : w[i] = w[i], A[i,j], x[j]; } }",
    ),
    (
        "seidel-2d",
        "param n t; array A n n;
         for s : 0 <= s < t { for i : 1 <= i < n - 1 { for j : 1 <= j < n - 1 {
           S0 : A[i,j] = A[i-1,j-1], A[i-1,j], A[i-1,j+1], A[i,j-1], A[i,j], A[i,j+1], A[i+1,j-1], A[i+1,j], A[i+1,j+1]; } } }",
    ),
    (
        "trisolv",
        "param n; array L n n; array x n; array b n;
         for i : 0 <= i < n { S0 : x[i] = b[i]; for j : 0 <= j < i { S1 : x[i] = x[i], L[i,j], x[j]; } S2 : x[i] = x[i], L[i,i]; }",
    ),
    (
        "durbin",
        "param n; array r n; array y n; array z n; scalar a; scalar b; scalar s;
         I0 : y[0] = r[0]; I1 : b[] = ; I2 : a[] = r[0];
         for k : 1 <= k < n {
           S0 : b[] = a[], b[]; S1 : s[] = ;
           for i : 0 <= i < k { S2 : s[] = s[], r[k-i-1], y[i]; }
           S3 : a[] = r[k], s[], b[];
           for i : 0 <= i < k { S4 : z[i] = y[i], a[], y[k-i-1]; }
           for i : 0 <= i < k { S5 : y[i] = z[i]; }
           S6 : y[k] = a[];
         }",
    ),
    (
        "lu",
        "param n; array A n n;
         for i : 0 <= i < n {
           for j : 0 <= j < i { for k : 0 <= k < j { S0 : A[i,j] = A[i,j], A[i,k], A[k,j]; } S1 : A[i,j] = A[i,j], A[j,j]; }
           for j : i <= j < n { for k : 0 <= k < i { S2 : A[i,j] = A[i,j], A[i,k], A[k,j]; } }
         }",
    ),
    (
        "atax",
        "param n m; array A n m; array x m; array y m; array t n;
         for i : 0 <= i < m { S0 : y[i] = ; }
         for i : 0 <= i < n {
           S1 : t[i] = ;
           for j : 0 <= j < m { S2 : t[i] = t[i], A[i,j], x[j]; }
           for j : 0 <= j < m { S3 : y[j] = y[j], A[i,j], t[i]; }
         }",
    ),
    (
        "gramschmidt",
        "param n m; array A m n; array Q m n; array R n n; scalar s n;
         for k : 0 <= k < n {
           S0 : s[k] = ;
           for i : 0 <= i < m { S1 : s[k] = s[k], A[i,k]; }
           S2 : R[k,k] = s[k];
           for i : 0 <= i < m { S3 : Q[i,k] = A[i,k], R[k,k]; }
           for j : k + 1 <= j < n {
             S4 : R[k,j] = ;
             for i : 0 <= i < m { S5 : R[k,j] = R[k,j], Q[i,k], A[i,j]; }
             for i : 0 <= i < m { S6 : A[i,j] = A[i,j], Q[i,k], R[k,j]; }
           }
         }",
    ),
    (
        "dot-rows-phi",
        "param n m; array A n m; array x m; array y n; phi acc n;
         for i : 0 <= i < n {
           S0 : acc[i] = ;
           for j : 0 <= j < m { S1 : acc[i] = acc[i], A[i,j], x[j]; }
           S2 : y[i] = acc[i];
         }",
    ),
    (
        "mvt",
        "param n; array A n n; array x n; array y n; array p n; array q n;
         for i : 0 <= i < n { for j : 0 <= j < n { S0 : x[i] = x[i], A[i,j], p[j]; } }
         for i : 0 <= i < n { for j : 0 <= j < n { S1 : y[i] = y[i], A[j,i], q[j]; } }",
    ),
];

/// The text of a kernel of [`KERNELS`].
pub fn kernel(name: &str) -> Scop {
    scop(KERNELS.iter().find(|k| k.0 == name).expect("kernel").1)
}

/// Row by row, in place.
pub const CHOLESKY: &str = "param n; array A n n;
     for i : 0 <= i < n {
       for j : 0 <= j < i { for k : 0 <= k < j { S0 : A[i,j] = A[i,j], A[i,k], A[j,k]; } S1 : A[i,j] = A[i,j], A[j,j]; }
       for k : 0 <= k < i { S2 : A[i,i] = A[i,i], A[i,k]; }
       S3 : A[i,i] = A[i,i];
     }";

/// Dependences, and the mapping that has a graph of tasks wherever there can be one.
pub fn as_graph(s: &Scop) -> (crate::Dependences, crate::MappedScop) {
    let deps = crate::dependences(s).unwrap();
    let tree = crate::schedule(s, &deps, &Default::default()).unwrap();
    let options = crate::MapOptions { graphs: crate::Nests::Always, ..Default::default() };
    let mapped = crate::map(s, &deps, &tree, &options).unwrap();
    (deps, mapped)
}
