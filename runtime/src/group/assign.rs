//! Which member runs which part of a launch.

use super::{Group, Member};
use crate::base::spans::Span;
use crate::device::Part;

/// A launch that touches so few bytes, and has so few blocks, is done where its data are, rather than shared:
/// a device has as many multiprocessors, and two in lock step take 15 us to exchange something.
const LITTLE_BYTES: u64 = 1 << 20;
const LITTLE_BLOCKS: u64 = 132;

impl<M: Member> Group<M> {
    /// The member that runs each part: neighbouring ones the same, where there are several for each. Parts
    /// that may write to the same place, and less than there are devices, are one member's: of that which has
    /// most of what they touch. So are those that touch little, where they would have to be told it.
    pub(super) fn assign(&self, parts: &[Part]) -> Vec<usize> {
        let together = self.each_of(parts.len());
        let each: Vec<usize> = (0..parts.len()).map(|part| part / together).collect();
        let divisible = parts.len() <= together * self.count() && parts.len() > 1 && apart(parts);
        let needs = needs_of(each.iter().copied().zip(parts));
        let touched: u64 = needs.iter().map(|(_, (start, end))| end - start).sum();
        let blocks: u64 = parts.iter().map(|part| part.blocks).sum();
        if divisible && (self.always || touched > LITTLE_BYTES || blocks > LITTLE_BLOCKS) {
            return each;
        }
        let on = |member: usize| self.bytes_moved(&needs_of(parts.iter().map(|part| (member, part))));
        let best = (0..self.count()).map(|member| (on(member), member)).min();
        let (least, member) = best.unwrap_or_default();
        if divisible && self.bytes_moved(&needs) <= least { each } else { vec![member; parts.len()] }
    }
}

/// What members have to have before the parts that they run.
pub(super) fn needs_of<'a>(parts: impl Iterator<Item = (usize, &'a Part)>) -> Vec<(usize, Span)> {
    let of = |(member, part): (usize, &'a Part)| part.touched.iter().map(move |&span| (member, span));
    parts.flat_map(of).filter(|(_, span)| span.0 < span.1).collect()
}

/// Whether no two parts write between the same bytes.
pub(super) fn apart(parts: &[Part]) -> bool {
    let mut written: Vec<(usize, Span)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        written.extend(part.written.iter().filter(|span| span.0 < span.1).map(|&span| (number, span)));
    }
    written.sort_unstable_by_key(|(_, span)| *span);
    // Of one part spans may overlap: the farthest end so far, and whose it is.
    let mut farthest: Option<(usize, u64)> = None;
    let mut second: u64 = 0;
    for (number, (start, end)) in written {
        match farthest {
            Some((owner, reach)) => {
                let others = if owner == number { second } else { reach };
                if start < others {
                    return false;
                }
                if end > reach {
                    if owner != number {
                        second = reach;
                    }
                    farthest = Some((number, end));
                } else if owner != number {
                    second = second.max(end);
                }
            }
            None => farthest = Some((number, end)),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::spans::overlaps;

    fn part(written: &[Span]) -> Part {
        Part { blocks: 1, arguments: Vec::new(), touched: Vec::new(), written: written.to_vec() }
    }

    #[test]
    fn parts_that_write_to_the_same_place_are_seen() {
        for (parts, expected) in [
            (vec![part(&[(0, 10)]), part(&[(10, 20)])], true),
            (vec![part(&[(0, 11)]), part(&[(10, 20)])], false),
            (vec![part(&[(0, 10), (50, 60)]), part(&[(10, 50), (60, 70)])], true),
            (vec![part(&[(0, 10), (50, 61)]), part(&[(10, 50), (60, 70)])], false),
            // One part may write through two arrays.
            (vec![part(&[(0, 10), (5, 8)]), part(&[(10, 20)])], true),
            (vec![part(&[(0, 100), (5, 8)]), part(&[(50, 60)])], false),
            (vec![part(&[(0, 30)]), part(&[(30, 90), (40, 50)]), part(&[(90, 99), (0, 0)])], true),
            (vec![part(&[(30, 90)]), part(&[(20, 30), (90, 91)]), part(&[(89, 99)])], false),
        ] {
            assert_eq!(apart(&parts), expected);
        }
        // Any order, against all pairs.
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..5000 {
            let span = |random: &mut dyn FnMut(u64) -> u64| {
                let start = random(40);
                (start, start + random(8))
            };
            let mut parts = Vec::new();
            for _ in 0..3 {
                let spans: Vec<Span> = (0..2).map(|_| span(&mut random)).collect();
                parts.push(part(&spans));
            }
            let meets = |a: &Part, b: &Part| {
                let some = |span: &&Span| span.0 < span.1;
                let all = |x: Span| b.written.iter().filter(some).any(|&y| overlaps(x, y));
                a.written.iter().filter(some).any(|&x| all(x))
            };
            let expected =
                !(meets(&parts[0], &parts[1]) || meets(&parts[0], &parts[2]) || meets(&parts[1], &parts[2]));
            assert_eq!(apart(&parts), expected, "{:?}", parts.iter().map(|p| &p.written).collect::<Vec<_>>());
        }
    }
}
