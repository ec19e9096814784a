use super::*;

/// Rows of some bytes each, one behind the other in a block in the order of `places`, under addresses of
/// their own.
fn packed(block: &[u8], places: &[usize], columns: (i64, i64), table: u64) -> Rows {
    let begin = block.as_ptr().expose_provenance() as u64;
    let rows: Vec<u64> = places.iter().map(|at| begin + *at as u64).collect();
    pack(&Request { first: table, step: 8, unit: 8, columns }, &rows)
}

fn address(rows: Rows) -> u64 {
    rows.first.addr() as u64
}

#[test]
fn rows_are_gathered_and_stored_where_they_are() {
    let block: Vec<u8> = (0..240u32).map(|i| (i * 7 % 251) as u8).collect();
    let rows = packed(&block, &[160, 0, 80], (8, 24), 1 << 20);
    let (first, pitch) = (address(rows), 8 * rows.pitch as u64);
    assert_eq!((first % ALIGNMENT, pitch % ALIGNMENT), (0, 0));
    let known = of(first).unwrap();
    // From the third word of the first row to the third one of the last row.
    let range = (first + 16, first + 2 * pitch + 24);
    let pieces: Vec<(u64, u64)> = known.pieces(range).map(|p| (p.at - first, p.bytes)).collect();
    assert_eq!(pieces, [(16, 8), (pitch + 8, 16), (2 * pitch + 8, 16)]);
    for (guarded, threads) in [(true, 1), (false, 1), (false, 4)] {
        // SAFETY: the block is there, and nobody else's.
        unsafe { known.gather(range, guarded, threads) }.unwrap();
        // SAFETY: memory of the rows.
        let there = |at: u64| unsafe { *std::ptr::with_exposed_provenance::<u8>((first + at) as usize) };
        let found = (there(16), there(pitch + 8), there(2 * pitch + 23));
        assert_eq!(found, (block[176], block[8], block[103]));
    }
    let stored = vec![255; (range.1 - range.0) as usize];
    let mut memory = block.clone();
    let rows = packed(&memory, &[160, 0, 80], (8, 24), 1 << 21);
    memory[0] = block[0];
    // SAFETY: as above.
    unsafe { of(address(rows)).unwrap().store(address(rows) + 16, &stored) };
    let changed: Vec<usize> = (0..240).filter(|&at| block[at] != memory[at]).collect();
    assert_eq!(changed, (8..24).chain(88..104).chain(176..184).collect::<Vec<_>>());
}

#[test]
fn a_table_has_its_addresses_as_long_as_it_is_the_same() {
    let block = vec![0u8; 400];
    let ask = |places: &[usize], columns, table| address(packed(&block, places, columns, table));
    let all = ask(&[160, 0, 80], (0, 64), 4096);
    assert_eq!(ask(&[160, 0, 80], (0, 64), 4096), all);
    // Some of the rows, some of their columns.
    assert_eq!((ask(&[0, 80], (8, 64), 4104), ask(&[0], (0, 8), 4104)), (all + 64, all + 64));
    // More of either: then all have new ones, which stay.
    let more = ask(&[80, 240], (0, 80), 4112);
    let wider = ask(&[160, 0, 80, 240], (0, 80), 4096);
    assert_eq!((more, ask(&[160, 0, 80], (0, 64), 4096)), (wider + 2 * 128, wider));
    // Another row.
    let other = ask(&[160, 0, 240], (0, 64), 4096);
    assert!(of(other).unwrap().memory != of(wider).unwrap().memory && of(all).is_some());
    assert_eq!((ask(&[160], (8, 8), 4096), ask(&[160], (0, 1 << 50), 4096)), (0, 0));
}

#[test]
fn what_is_reached_in_two_ways_is_found() {
    let block = vec![0u8; 800];
    let begin = block.as_ptr().expose_provenance() as u64;
    let whole = |rows: Rows, n: u64| (address(rows), address(rows) + n * 64);
    let a = whole(packed(&block, &[160, 0, 80], (0, 64), 4096), 3);
    let b = whole(packed(&block, &[240, 320], (0, 64), 8192), 2);
    let c = whole(packed(&block, &[400, 136], (0, 64), 12288), 2);
    for (x, y, expected) in [
        (a, b, false),
        (a, c, true),
        (b, c, false),
        (a, a, false),
        (a, (begin + 64, begin + 80), false),
        (a, (begin + 64, begin + 81), true),
        ((a.0 + 64, a.1), (begin + 160, begin + 170), false),
        ((begin, begin + 8), (begin, begin + 8), false),
    ] {
        assert_eq!((clash(x, y), clash(y, x)), (expected, expected), "{x:?} {y:?}");
    }
    // Rows of one table: only those that are written have to be apart.
    let rows = packed(&block, &[0, 80, 0, 100], (0, 64), 16384);
    let (known, at) = (of(address(rows)).unwrap(), |row: u64| address(rows) + 64 * row);
    for (touched, written, expected) in [
        ((at(0), at(4)), (at(0), at(0)), true),
        ((at(0), at(2)), (at(0), at(2)), true),
        ((at(0), at(3)), (at(0), at(1)), false),
        ((at(0), at(3)), (at(1), at(2)), true),
        ((at(0), at(4)), (at(1), at(2)), false),
        ((at(1), at(4)), (at(1), at(1) + 20), false),
    ] {
        assert_eq!(known.is_apart(touched, written), expected, "{touched:?} {written:?}");
    }
    // Executions one after the other: each touches some rows, of which others are parts.
    let range = |from: u64, to: u64| (at(from), at(to));
    for (a, b, expected) in [
        (range(0, 1), range(1, 2), false),
        (range(0, 1), range(2, 3), true),
        (range(1, 2), range(3, 4), true),
        (range(1, 2), range(2, 3), false),
        (range(0, 4), range(0, 4), false),
        (range(0, 2), range(1, 4), true),
    ] {
        assert_eq!((clash(a, b), clash(b, a)), (expected, expected), "{a:?} {b:?}");
    }
    // The table in a row.
    let own = packed(&block, &[0, 80], (0, 64), begin + 136);
    let (known, range) = (of(address(own)).unwrap(), whole(own, 2));
    assert!(!known.is_apart(range, range) && known.is_apart(range, (range.0, range.0 + 64)));
}
