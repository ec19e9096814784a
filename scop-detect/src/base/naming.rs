//! What values and expressions are called: names of isl's, and the user's words in remarks.

use crate::base::builder::{Builder, Given, remainder_by_number};
use crate::base::ir::{self, Block, Value, comes_back};
use pollyrs_llvm_shim::{ScevExpr, ScevHandle, ScevKind, source_name};

impl Builder<'_> {
    /// A fresh isl name made of `wish`.
    pub fn fresh_name(&mut self, wish: &str, fallback: &str) -> String {
        let clean: String =
            wish.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let mut base = clean.trim_matches('_').to_string();
        // isl's own words, and the names of statements, are not free; nor does a name start with a digit.
        const WORDS: [&str; 17] = [
            "and", "or", "not", "exists", "mod", "floor", "ceil", "floord", "ceild", "min", "max", "implies",
            "infty", "infinity", "true", "false", "rat",
        ];
        let statement = base.strip_prefix('S').is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
        let counter =
            base.strip_prefix('i').is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
        if base.is_empty() {
            base = fallback.to_string();
        } else if base.starts_with(|c: char| c.is_ascii_digit()) {
            base = format!("{fallback}{base}");
        }
        if WORDS.contains(&base.to_lowercase().as_str()) || base == "NaN" || statement || counter {
            base.push('_');
        }
        let mut name = base.clone();
        let mut n = 1;
        while !self.names.insert(name.clone()) {
            n += 1;
            name = format!("{base}_{n}");
        }
        name
    }

    /// Text for an expression: its source name, or what it is made of.
    pub fn describe(&self, e: &ScevExpr) -> String {
        let join =
            |ops: &[ScevExpr], sep: &str| ops.iter().map(|o| self.describe(o)).collect::<Vec<_>>().join(sep);
        match &e.kind {
            ScevKind::Constant(c) => c.to_string(),
            ScevKind::Unknown(v) => self.name_of(*v),
            ScevKind::Mul(ops) => join(ops, "*"),
            ScevKind::UDiv(a, _) if self.given.part(e).is_some() => {
                format!("the upper part of {}", self.describe(a))
            }
            ScevKind::Truncate(a)
                if matches!(a.kind, ScevKind::Unknown(_)) && self.given.part(e).is_some() =>
            {
                format!("the lower part of {}", self.describe(a))
            }
            ScevKind::Add(ops) => match remainder_by_number(ops) {
                Some((x, n)) => format!("{} % {n}", self.describe(x)),
                None => join(ops, "+"),
            },
            ScevKind::UDiv(a, b) => {
                let a = match a.kind {
                    ScevKind::Add(_) => format!("({})", self.describe(a)),
                    _ => self.describe(a),
                };
                format!("{a}/{}", self.describe(b))
            }
            ScevKind::AddRec { loop_id, operands } => {
                let Some(l) = self.given.an.loops().get(loop_id.0) else {
                    return "a loop counter".to_string();
                };
                match (self.given.counter_phi(l.header, e.handle), &operands[..]) {
                    (Some(phi), _) => self.name_of(phi),
                    (None, [_, step]) if !matches!(step.kind, ScevKind::Constant(_)) => {
                        let counter = self.only_counter(l.header);
                        let counter =
                            counter.map_or_else(|| "a loop counter".to_string(), |p| self.name_of(p));
                        format!("{counter}*{}", self.describe(step))
                    }
                    _ => self
                        .only_counter(l.header)
                        .and_then(|p| self.user_name(p, 4))
                        .unwrap_or_else(|| "a loop counter".to_string()),
                }
            }
            ScevKind::ZeroExtend(a)
            | ScevKind::SignExtend(a)
            | ScevKind::Truncate(a)
            | ScevKind::PtrToInt(a) => self.describe(a),
            ScevKind::SMax(o) | ScevKind::UMax(o) => format!("max({})", join(o, ", ")),
            ScevKind::SMin(o) | ScevKind::UMin(o) | ScevKind::SequentialUMin(o) => {
                format!("min({})", join(o, ", "))
            }
            ScevKind::VScale => "vscale".to_string(),
            ScevKind::CouldNotCompute => {
                "a value that is not an affine function of loop counters".to_string()
            }
        }
    }

    /// The integer that a loop counts, if it carries only one.
    pub(crate) fn only_counter(&self, header: Block) -> Option<Value> {
        let phis =
            ir::instructions(header).into_iter().take_while(|i| ir::opcode(*i) == Some(ir::Op::LLVMPHI));
        let mut counters = phis.filter(|p| ir::int_bits(*p).is_some());
        counters.next().filter(|_| counters.next().is_none())
    }

    /// A name from the source: of the value, or for a PHI of what it merges.
    pub fn user_name(&self, v: Value, depth: u32) -> Option<String> {
        // Without debug information a parameter may still have its name; those of other values are the
        // compiler's.
        let argument = || ir::argument_index(v).map(|_| ir::name(v)).filter(|n| !n.is_empty());
        let own = source_name(v).or_else(argument);
        let temporary = own.as_ref().is_none_or(|n| n.starts_with(|c: char| c == '.' || c.is_ascii_digit()));
        if !temporary {
            return own;
        }
        match ir::opcode(v)? {
            ir::Op::LLVMPHI if depth > 0 => {
                ir::incoming(v).into_iter().find_map(|(x, _)| self.user_name(x, depth - 1))
            }
            // What a list's next node is loaded from.
            ir::Op::LLVMLoad | ir::Op::LLVMGetElementPtr if depth > 0 => {
                self.user_name(ir::operand(v, 0), depth - 1)
            }
            _ => None,
        }
    }

    /// `(head + k) & mask`: an operation on integers, of at most `depth` others, in the source's names.
    pub(crate) fn operation_text(&self, v: Value, depth: u32) -> Option<String> {
        use ir::Op::*;
        let sign = match ir::opcode(v)? {
            LLVMAdd => "+",
            LLVMSub => "-",
            LLVMMul => "*",
            LLVMSDiv | LLVMUDiv => "/",
            LLVMSRem | LLVMURem => "%",
            LLVMAnd => "&",
            LLVMOr => "|",
            LLVMXor => "^",
            LLVMShl => "<<",
            LLVMAShr | LLVMLShr => ">>",
            LLVMSExt | LLVMZExt | LLVMTrunc => return self.operation_text(ir::operand(v, 0), depth),
            _ => return None,
        };
        let side = |i| {
            let mut x = ir::operand(v, i);
            while matches!(ir::opcode(x), Some(LLVMSExt | LLVMZExt | LLVMTrunc)) {
                x = ir::operand(x, 0);
            }
            let plain = ir::constant_int(x).map(|c| c.to_string()).or_else(|| self.user_name(x, 4));
            let argument = || ir::argument_index(x).map(|n| format!("argument {n}"));
            let nested = || self.operation_text(x, depth.checked_sub(1)?).map(|t| format!("({t})"));
            plain.or_else(argument).or_else(nested)
        };
        let (left, right) = (side(0)?, side(1)?);
        // The end of a container without its beginning, in bytes or in elements.
        if let Some(size) = size_text(sign, &left, &right) {
            return Some(size);
        }
        Some(match (sign, right.strip_prefix('-')) {
            ("+", Some(right)) => format!("{left} - {right}"),
            _ => format!("{left} {sign} {right}"),
        })
    }

    /// What stands in memory at a place that is a number of bytes behind what the user knows, with at most
    /// `depth` pointers in between: `the field at byte 16 of argument 0`.
    pub(crate) fn field_text(&self, place: Value, depth: u32) -> Option<String> {
        let mut place = place;
        loop {
            match ir::opcode(place) {
                // What is read in its stead where it must not be.
                Some(ir::Op::LLVMSelect) => place = ir::operand(place, 1),
                // A whole word of memory.
                Some(ir::Op::LLVMIntToPtr | ir::Op::LLVMPtrToInt | ir::Op::LLVMAnd | ir::Op::LLVMFreeze) => {
                    place = ir::operand(place, 0);
                }
                _ => break,
            }
        }
        let (base, bytes) = ir::base_and_bytes(place);
        let of = match ir::opcode(base) {
            Some(ir::Op::LLVMLoad) => self.field_text(ir::operand(base, 0), depth.checked_sub(1)?)?,
            Some(ir::Op::LLVMExtractValue) => self.field_text(word_at(base)?, depth.checked_sub(1)?)?,
            _ => {
                self.user_name(base, 0).or_else(|| Some(format!("argument {}", ir::argument_index(base)?)))?
            }
        };
        Some(format!("the field at byte {bytes} of {of}"))
    }

    /// The source's name of a value, or a description of how it comes about.
    pub fn name_of(&self, v: Value) -> String {
        if let Some(n) = self.user_name(v, 4) {
            return n;
        }
        match ir::opcode(v) {
            Some(ir::Op::LLVMLoad) => self
                .field_text(ir::operand(v, 0), 3)
                .unwrap_or_else(|| "a value loaded from memory".to_string()),
            Some(ir::Op::LLVMCall) => match ir::callee(v) {
                Some(f) if ir::name(f).starts_with("llvm.threadlocal.address") => ir::name(ir::operand(v, 0)),
                Some(f) => format!("the result of {}", ir::name(f)),
                None => "the result of a call".to_string(),
            },
            Some(ir::Op::LLVMPHI) if comes_back(v) => {
                let computed = ir::incoming(v).into_iter().find_map(|(x, _)| self.operation_text(x, 2));
                let how = computed.map_or(String::new(), |text| format!(" ({text})"));
                format!("a value that each iteration takes over from the one before{how}")
            }
            Some(ir::Op::LLVMPHI) => "one of several values, by the branch that was taken".to_string(),
            Some(ir::Op::LLVMFCmp) => {
                let named = ir::operands(v).into_iter().find_map(|x| {
                    ir::parent(x).and_then(|_| self.user_name(x, 4).or_else(|| source_name(x)))
                });
                named.map_or_else(
                    || "floating-point data".to_string(),
                    |name| format!("floating-point data, {name}"),
                )
            }
            // Rows of a table: the table is what the user knows.
            Some(ir::Op::LLVMExtractValue) if rows_call(v).is_some() => {
                let table = rows_call(v).map_or(v, |call| ir::operand(call, 0));
                let field = word_at(v).and_then(|place| self.field_text(place, 3));
                field.unwrap_or_else(|| self.name_of(table))
            }
            Some(ir::Op::LLVMAlloca) => "a local variable".to_string(),
            Some(ir::Op::LLVMGetElementPtr) => format!("an address in {}", self.name_of(ir::operand(v, 0))),
            Some(ir::Op::LLVMSelect) => "one of two values, by a condition".to_string(),
            Some(ir::Op::LLVMFreeze | ir::Op::LLVMIntToPtr | ir::Op::LLVMPtrToInt | ir::Op::LLVMBitCast) => {
                self.name_of(ir::operand(v, 0))
            }
            Some(op) => {
                self.operation_text(v, 3).unwrap_or_else(|| format!("the result of {}", ir::opcode_text(op)))
            }
            None => match ir::argument_index(v) {
                Some(n) => format!("argument {n}"),
                None => "a value".to_string(),
            },
        }
    }
}

impl Given<'_> {
    pub(crate) fn counter_phi(&self, header: Block, handle: ScevHandle) -> Option<Value> {
        ir::instructions(header).into_iter().take_while(|i| ir::opcode(*i) == Some(ir::Op::LLVMPHI)).find(
            |p| {
                !ir::is_pointer(*p)
                    && ir::int_bits(*p).is_some()
                    && self.an.scev(*p, self.an.innermost_loop(header)).handle == handle
            },
        )
    }
}

/// The call of the run-time library that a value is taken from, if it looked at a table's rows.
pub(crate) fn rows_call(v: Value) -> Option<Value> {
    let call = (ir::opcode(v) == Some(ir::Op::LLVMExtractValue)).then(|| ir::operand(v, 0))?;
    let found = ir::opcode(call) == Some(ir::Op::LLVMCall)
        && ir::callee(call).is_some_and(|f| ir::name(f).starts_with("pollyrs_rt_rows"));
    found.then_some(call)
}

/// The place of a single word that the run-time library has read.
pub(crate) fn word_at(v: Value) -> Option<Value> {
    let place = ir::operand(rows_call(v)?, 0);
    (place == ir::operand(rows_call(v)?, 1)).then_some(place)
}

/// `the size of v` for `v - v`, two pointers of one container, and for what is computed from it by the size
/// of an element.
pub(crate) fn size_text(sign: &str, left: &str, right: &str) -> Option<String> {
    let inner = left.trim_start_matches('(').trim_end_matches(')');
    match sign {
        "-" if left == right => Some(format!("the size of {left}")),
        "/" | ">>" if inner.starts_with("the size of ") => Some(inner.to_owned()),
        _ => None,
    }
}

/// What is in the way where a subscript is a polynomial of a counter.
pub(crate) fn power_of(counter: &str) -> String {
    format!("a power of {counter}, as packed triangular storage has")
}
