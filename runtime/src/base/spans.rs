//! Ranges of addresses, each from its first byte to the one behind its last.

pub const PAGE: u64 = 4096;

/// Half-open, in addresses.
pub type Span = (u64, u64);

/// The pages that lie in a span as a whole.
pub fn whole_pages((start, end): Span) -> Span {
    let start = start.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    (start, (end / PAGE * PAGE).max(start))
}

pub fn overlaps(a: Span, b: Span) -> bool {
    a.0 < b.1 && b.0 < a.1
}

pub fn holds(outer: Span, inner: Span) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// The parts of `whole` outside of `parts`, which are ascending and disjoint.
pub fn without(whole: Span, parts: &[Span]) -> Vec<Span> {
    let mut rest = Vec::new();
    let mut at = whole.0;
    for &(start, end) in parts {
        if start.min(whole.1) > at {
            rest.push((at, start.min(whole.1)));
        }
        at = at.max(end);
    }
    if at < whole.1 {
        rest.push((at, whole.1));
    }
    rest
}

/// Adds a part to ascending, disjoint ones.
pub fn unite(parts: &mut Vec<Span>, mut part: Span) {
    parts.retain(|&(start, end)| {
        let apart = end < part.0 || part.1 < start;
        if !apart {
            part = (part.0.min(start), part.1.max(end));
        }
        apart
    });
    let at = parts.partition_point(|&(start, _)| start < part.0);
    parts.insert(at, part);
}

/// Takes a part out of ascending, disjoint ones.
pub fn take_out(parts: &mut Vec<Span>, part: Span) {
    if part.0 >= part.1 || !parts.iter().any(|&other| overlaps(other, part)) {
        return;
    }
    *parts = parts.iter().flat_map(|&whole| without(whole, &[part])).collect();
}

/// What ascending, disjoint parts have of another one.
pub fn among(parts: &[Span], part: Span) -> impl Iterator<Item = Span> {
    let common = move |&(start, end): &Span| (start.max(part.0), end.min(part.1));
    parts.iter().map(common).filter(|&(start, end)| start < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_unite() {
        let mut parts = Vec::new();
        for part in [(10, 20), (40, 50), (0, 5), (20, 30), (29, 41), (60, 60)] {
            unite(&mut parts, part);
        }
        assert_eq!(parts, [(0, 5), (10, 50), (60, 60)]);
        unite(&mut parts, (5, 10));
        assert_eq!(parts, [(0, 50), (60, 60)]);
        assert_eq!(without((45, 70), &parts), [(50, 60), (60, 70)]);
    }

    #[test]
    fn parts_are_taken_out() {
        let all = [(0, 10), (20, 30)];
        for (part, rest, common) in [
            ((0, 30), vec![], vec![(0, 10), (20, 30)]),
            ((5, 25), vec![(0, 5), (25, 30)], vec![(5, 10), (20, 25)]),
            ((10, 20), vec![(0, 10), (20, 30)], vec![]),
            ((22, 23), vec![(0, 10), (20, 22), (23, 30)], vec![(22, 23)]),
            ((4, 4), vec![(0, 10), (20, 30)], vec![]),
        ] {
            let mut parts = all.to_vec();
            take_out(&mut parts, part);
            assert_eq!(parts, rest, "{part:?}");
            assert_eq!(among(&all, part).collect::<Vec<_>>(), common, "{part:?}");
        }
    }

    #[test]
    fn parts_and_their_rest() {
        let table: [(&[Span], &[Span]); 5] = [
            (&[], &[(10, 20)]),
            (&[(10, 20)], &[]),
            (&[(0, 12), (18, 40)], &[(12, 18)]),
            (&[(12, 13), (13, 15)], &[(10, 12), (15, 20)]),
            (&[(25, 30)], &[(10, 20)]),
        ];
        for (parts, rest) in table {
            assert_eq!(without((10, 20), parts), rest, "{parts:?}");
        }
    }

    #[test]
    fn whole_pages_only() {
        for (span, expected) in
            [((0, 0), (0, 0)), ((1, PAGE), (PAGE, PAGE)), ((1, 2 * PAGE), (PAGE, 2 * PAGE))]
        {
            assert_eq!(whole_pages(span), expected);
        }
    }
}
