//! Two products of a warp as one of twice the depth, in the text for compilers that schedule that better.
//!
//! Problem: of a loop of `mma.m16n8k4` in doubles, ptxas 13, which driver 580 has as well, makes the same
//! instructions as ptxas 12.9, but with other waits: the operations of a strip share few scoreboards. A
//! product at 4096 takes 2.60 ms in place of 2.41 (H200).
//! Approach: an `m16n8k4` and the next one into the same sums become an `m16n8k8`, whose operands are those
//! of both, side by side: 2.48 ms with ptxas 13. (ptxas 12.9 takes 2.51 ms for that, so it gets the text as
//! it was; `bench/notes/027-without-ptxas.md`.)
//!
//! # Invariants
//! - The sums are the same bits: `m16n8k8` is the chain of FMAs in the order of k, as `m16n8k4` is
//!   ([`crate::ops::mma`]).
//! - Between the two stands no label, no branch and no call, nothing names their sums, and nothing writes the
//!   operands of the first. The first is done where the second was.
//!
//! ```text
//! mma…m16n8k4… {c0, c1, c2, c3}, {a0, a1}, {b0}, {c0, c1, c2, c3};
//! …
//! mma…m16n8k4… {c0, c1, c2, c3}, {a2, a3}, {b1}, {c0, c1, c2, c3};
//! ⇒ …
//! mma…m16n8k8… {c0, c1, c2, c3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};
//! ```

use std::collections::HashMap;

/// Threads of a multiprocessor up to which each has all the registers that it can name; with fewer registers
/// the operands of two products spill.
const MOST_THREADS: u32 = 256;

const SHALLOW: &str = "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 ";
const DEEP: &str = "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 ";

/// The text with products of doubles of twice the depth, where it has two into the same sums. `None`: it has
/// none.
pub fn with_deep_products(text: &str) -> Option<String> {
    if !text.contains(SHALLOW) {
        return None;
    }
    let mut lines: Vec<Option<String>> = Vec::new();
    let mut region = Region::default();
    for line in text.lines() {
        region.read(line, &mut lines);
    }
    let mut result: String = lines.into_iter().flatten().flat_map(|line| [line, "\n".into()]).collect();
    if !text.ends_with('\n') {
        result.pop();
    }
    (result != text).then_some(result)
}

/// `{c0, c1, c2, c3}, {a0, a1}, {b0}` of an operation.
#[derive(Clone)]
struct Product<'t> {
    sums: &'t str,
    a: &'t str,
    b: &'t str,
    /// Its line.
    at: usize,
}

impl<'t> Product<'t> {
    fn parse(line: &'t str, at: usize) -> Option<Product<'t>> {
        let operands = line.trim().strip_prefix(SHALLOW)?.strip_suffix(';')?;
        let lists: Vec<&str> =
            operands.split('{').skip(1).map(|list| list.split('}').next().unwrap_or("")).collect();
        let [sums, a, b, before] = lists[..] else { return None };
        (sums == before).then_some(Product { sums, a, b, at })
    }

    /// This one and then another one into the same sums.
    fn and(&self, next: &Product) -> String {
        let Product { sums, a, b, .. } = self;
        format!("\t{DEEP}{{{sums}}}, {{{a}, {}}}, {{{b}, {}}}, {{{sums}}};", next.a, next.b)
    }

    fn factors(&self) -> impl Iterator<Item = &'t str> {
        registers(self.a).chain(registers(self.b))
    }
}

/// Instructions in a row, and of them the products that wait for the next into their sums.
#[derive(Default)]
struct Region<'t> {
    /// Threads of a block and blocks of a multiprocessor of the kernel.
    threads: u32,
    blocks: u32,
    /// By their sums.
    waiting: HashMap<&'t str, Product<'t>>,
}

impl<'t> Region<'t> {
    fn read(&mut self, line: &'t str, lines: &mut Vec<Option<String>>) {
        let words = line.trim();
        if words.contains(".entry ") {
            *self = Region { threads: u32::MAX, blocks: 1, ..Region::default() };
        } else if let Some(sizes) = words.strip_prefix(".reqntid ") {
            self.threads = sizes.split(',').filter_map(|n| n.trim().parse::<u32>().ok()).product();
        } else if let Some(n) = words.strip_prefix(".minnctapersm ") {
            self.blocks = n.trim().parse().unwrap_or(u32::MAX);
        } else if let Some(new) = Product::parse(line, lines.len()) {
            self.product(&new, line, lines);
            return;
        } else if ends_region(words) {
            self.waiting.clear();
        } else {
            self.instruction(words);
        }
        lines.push(Some(line.to_string()));
    }

    fn product(&mut self, new: &Product<'t>, line: &str, lines: &mut Vec<Option<String>>) {
        let roomy = self.threads.saturating_mul(self.blocks) <= MOST_THREADS;
        match self.waiting.remove(new.sums) {
            Some(first) if roomy => {
                lines[first.at] = None;
                lines.push(Some(first.and(new)));
                self.instruction(line.trim());
            }
            _ => {
                lines.push(Some(line.to_string()));
                self.instruction(line.trim());
                self.waiting.insert(new.sums, new.clone());
            }
        }
    }

    /// What an instruction writes is no operand of a product that waits any more, and sums that it names wait
    /// no longer.
    fn instruction(&mut self, words: &str) {
        if words.is_empty() || words.starts_with("//") {
            return;
        }
        let written: Vec<&str> = registers(written(words)).collect();
        let named: Vec<&str> = registers(words).collect();
        self.waiting.retain(|_, product| {
            !product.factors().any(|r| written.contains(&r))
                && !registers(product.sums).any(|r| named.contains(&r))
        });
    }
}

/// The operands that may be written: the first one, or a list of them.
fn written(words: &str) -> &str {
    let operands = words.split_once(char::is_whitespace).map_or("", |(_, operands)| operands.trim_start());
    // `@%p1 ld…`: the predicate is taken for the name of the instruction, and that for an operand.
    let end = match operands.strip_prefix('{') {
        Some(list) => list.find('}').map(|at| at + 1),
        None => operands.find(','),
    };
    if words.starts_with('@') { words } else { &operands[..end.unwrap_or(operands.len())] }
}

fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '%' || c == '_')).filter(|w| w.starts_with('%'))
}

/// Whether control may come here from elsewhere, or leave.
fn ends_region(words: &str) -> bool {
    let mut names = words.split_whitespace().map(|w| w.trim_end_matches(';'));
    words.ends_with(':')
        || words.contains('}') && !words.contains('{')
        || words.starts_with("call")
        || names.any(|w| w == "bra" || w == "bra.uni" || w == "ret" || w == "exit" || w.starts_with("brx"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(a: [u32; 2], b: u32, sums: u32) -> String {
        let list: Vec<_> = (sums..sums + 4).map(|r| format!("%rd{r}")).collect();
        let sums = list.join(", ");
        format!("\t{SHALLOW}{{{sums}}}, {{%rd{}, %rd{}}}, {{%rd{b}}}, {{{sums}}};", a[0], a[1])
    }

    fn kernel(threads: &str, body: &[String]) -> String {
        format!(".visible .entry k(\n)\n.reqntid {threads}\n{{\n{}\n\tret;\n}}\n", body.join("\n"))
    }

    fn deep(text: &str) -> usize {
        with_deep_products(text).map_or(0, |deep| deep.matches(DEEP).count())
    }

    #[test]
    fn two_into_the_same_sums_are_one() {
        let body = [product([20, 21], 22, 1), product([20, 21], 23, 5), "\tbar.sync \t0;".into()];
        let body = [&body[..], &[product([24, 25], 26, 1), product([24, 25], 27, 5)]].concat();
        let text = with_deep_products(&kernel("16, 16, 1", &body)).unwrap();
        let expected = "{%rd1, %rd2, %rd3, %rd4}, {%rd20, %rd21, %rd24, %rd25}, {%rd22, %rd26}, {%rd1, %rd2, %rd3, %rd4};";
        assert!(text.contains(&format!("{DEEP}{expected}")), "{text}");
        assert_eq!((text.matches(SHALLOW).count(), text.matches(DEEP).count()), (0, 2), "{text}");
        assert!(text.find("bar.sync") < text.find(DEEP), "{text}");
        assert!(text.ends_with("}\n") && text.starts_with(".visible"));
    }

    #[test]
    fn what_stands_between_decides() {
        let between = [
            ("\tadd.s64 \t%rd30, %rd20, %rd1000;", 1),
            ("\tst.shared.v2.b64 \t[%rd31+8], {%rd20, %rd21};", 1),
            ("\t// begin inline asm", 1),
            ("\tld.shared.v2.b64 \t{%rd30, %rd31}, [%rd20];", 1),
            ("\tld.shared.b64 \t%rd21, [%rd40];", 0),
            ("\tld.shared.v2.b64 \t{%rd30, %rd22}, [%rd40];", 0),
            ("\t@%p1 ld.shared.b64 \t%rd22, [%rd40];", 0),
            ("\tst.global.b64 \t[%rd40], %rd3;", 0),
            ("\tmov.b64 \t%rd4, 0;", 0),
            ("\tbra.uni \t$L__BB0_3;", 0),
            ("\t@%p3 bra \t$L__BB0_3;", 0),
            ("$L__BB0_3:", 0),
            ("\tcall.uni (retval0), f, (param0);", 0),
        ];
        for (line, expected) in between {
            let body = [product([20, 21], 22, 1), line.to_string(), product([24, 25], 26, 1)];
            assert_eq!(deep(&kernel("16, 16, 1", &body)), expected, "{line}");
        }
    }

    #[test]
    fn three_in_a_row_and_others_stay() {
        let body = [product([20, 21], 22, 1), product([24, 25], 26, 1), product([30, 31], 32, 1)];
        let text = with_deep_products(&kernel("16, 16, 1", &body)).unwrap();
        assert_eq!((text.matches(SHALLOW).count(), text.matches(DEEP).count()), (1, 1), "{text}");
        // Sums that overlap in part.
        assert_eq!(
            deep(&kernel(
                "256",
                &[product([20, 21], 22, 1), product([24, 25], 26, 2), product([27, 28], 29, 1)]
            )),
            0
        );
        assert_eq!(with_deep_products("a line\n\twithout an end"), None);
    }

    #[test]
    fn kernels_short_of_registers_stay() {
        let body = [product([20, 21], 22, 1), product([24, 25], 26, 1)];
        for (threads, expected) in
            [("256", 1), ("16, 16, 1", 1), ("32, 16, 1", 0), ("128\n.minnctapersm 3", 0)]
        {
            assert_eq!(deep(&kernel(threads, &body)), expected, "{threads}");
        }
    }
}
