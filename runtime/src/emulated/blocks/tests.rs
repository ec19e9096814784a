use super::*;

#[test]
fn orders_are_permutations() {
    for n in [1u64, 2, 3, 5, 64, 97, 256, 1000] {
        for order in [Order::Forward, Order::Reverse, Order::Seeded(0), Order::Seeded(12345)] {
            for salt in 0..5 {
                let permutation = Permutation::new(n, order, salt);
                let mut seen: Vec<u64> = (0..n).map(|position| permutation.at(position)).collect();
                if order == Order::Reverse {
                    assert!(seen.is_sorted_by(|a, b| a > b));
                }
                if matches!(order, Order::Seeded(_)) && n > 60 {
                    assert!(!seen.is_sorted(), "n {n} {order:?} {salt}");
                }
                seen.sort_unstable();
                assert_eq!(seen, (0..n).collect::<Vec<_>>(), "n {n} {order:?} {salt}");
            }
        }
    }
}

#[test]
fn x_varies_fastest() {
    let indices: Vec<_> = (0..12).map(|linear| thread_index(linear, [3, 2, 2])).collect();
    assert_eq!(indices[..4], [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]);
    assert_eq!(indices[11], [2, 1, 1]);
}
