//! Which bytes of a range of memory each of several devices has, and what moves between them.
//!
//! A state machine without I/O. Invariant: a byte that is in a device's list has there the value that one
//! device alone would have at this point of the program; a byte in no list has none (nobody wrote it, or
//! nobody copied it in).

use crate::base::planted::skips;
use crate::base::spans::{Span, among, take_out, unite, without};

/// Bytes that a device gets from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub from: usize,
    pub to: usize,
    pub part: Span,
}

/// Of one range of memory. Parts are counted from its first byte.
#[derive(Clone, Debug)]
pub struct Books {
    /// By device: ascending, disjoint.
    valid: Vec<Vec<Span>>,
}

impl Books {
    pub fn new(devices: usize) -> Books {
        Books { valid: vec![Vec::new(); devices] }
    }

    /// What of a part a device does not have.
    pub fn missing(&self, device: usize, part: Span) -> Vec<Span> {
        without(part, &self.valid[device])
    }

    /// What a device has.
    pub fn has(&self, device: usize) -> &[Span] {
        &self.valid[device]
    }

    /// The one device has a new version of a part. What others lost with it.
    pub fn set(&mut self, device: usize, part: Span) -> Vec<(usize, Span)> {
        let mut lost = Vec::new();
        if part.0 >= part.1 {
            return lost;
        }
        for (other, valid) in self.valid.iter_mut().enumerate().filter(|(other, _)| *other != device) {
            lost.extend(among(valid, part).map(|gone| (other, gone)));
            if !skips("stale-part") {
                take_out(valid, part);
            }
        }
        unite(&mut self.valid[device], part);
        lost
    }

    /// Who gives each piece of a part that devices are to have: all of them had it before. Bytes that nobody
    /// has stay where they are.
    pub fn moves(&self, needs: &[(usize, Span)]) -> Vec<Move> {
        let mut moves: Vec<Move> = Vec::new();
        let devices = self.valid.len();
        for &(to, part) in needs {
            let mut missing = self.missing(to, part);
            // The nearest ones below first, then those above, so that not all ask the same one.
            let order = (1..devices).map(|step| (to + devices - step) % devices);
            for from in order {
                let there: Vec<Span> = missing
                    .iter()
                    .flat_map(|&gap| among(&self.valid[from], gap).collect::<Vec<_>>())
                    .collect();
                for part in there {
                    take_out(&mut missing, part);
                    moves.push(Move { from, to, part });
                }
            }
        }
        moves
    }

    /// A device has a copy of a part.
    pub fn copied(&mut self, device: usize, part: Span) {
        if part.0 < part.1 {
            unite(&mut self.valid[device], part);
        }
    }

    /// What was moved is there.
    pub fn moved(&mut self, moves: &[Move]) {
        for &Move { to, part, .. } in moves {
            unite(&mut self.valid[to], part);
        }
    }

    /// Who gives each piece of a part to the program: where several may, the one in whose equal share of
    /// `bytes` it lies. What nobody has is the first device's to give.
    pub fn givers(&self, part: Span, bytes: u64) -> Vec<(usize, Span)> {
        let devices = self.valid.len();
        let mut given: Vec<(usize, Span)> = Vec::new();
        for share in 0..devices {
            let (start, end) = share_of(bytes, share, devices);
            let (start, end) = (start.max(part.0), end.min(part.1));
            if start >= end {
                continue;
            }
            let mut rest = vec![(start, end)];
            for device in (share..devices).chain(0..share) {
                let here: Vec<Span> = rest
                    .iter()
                    .flat_map(|&gap| among(&self.valid[device], gap).collect::<Vec<_>>())
                    .collect();
                for part in here {
                    take_out(&mut rest, part);
                    given.push((device, part));
                }
            }
            given.extend(rest.into_iter().map(|gap| (0, gap)));
        }
        given.sort_by_key(|(_, part)| part.0);
        let mut joined: Vec<(usize, Span)> = Vec::new();
        for (device, part) in given {
            match joined.last_mut() {
                Some((last, span)) if *last == device && span.1 == part.0 => span.1 = part.1,
                _ => joined.push((device, part)),
            }
        }
        joined
    }
}

/// An equal share of a range: whole pages, of small ones whole vectors.
pub fn share_of(bytes: u64, share: usize, of: usize) -> Span {
    let round = if bytes < 1 << 20 { 16 } else { 4096 };
    let border = |n: usize| (u128::from(bytes) * n as u128 / of as u128) as u64 / round * round;
    (border(share), if share + 1 == of { bytes } else { border(share + 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_all() {
        for bytes in [0, 1, 4095, 4096, 100_000, u64::MAX] {
            for of in 1..5 {
                let shares: Vec<Span> = (0..of).map(|share| share_of(bytes, share, of)).collect();
                assert!(shares.windows(2).all(|pair| pair[0].1 == pair[1].0) && shares[0].0 == 0);
                assert_eq!(shares[of - 1].1, bytes);
            }
        }
    }

    #[test]
    fn halos_move_and_nothing_else() {
        let mut books = Books::new(3);
        for device in 0..3 {
            let start = 100 * device as u64;
            assert_eq!(books.set(device, (start, start + 100)), []);
        }
        let needs = [(0, (0, 110)), (1, (90, 210)), (2, (190, 300))];
        let moves = books.moves(&needs);
        let expected = [(1, 0, (100, 110)), (0, 1, (90, 100)), (2, 1, (200, 210)), (1, 2, (190, 200))];
        assert_eq!(moves, expected.map(|(from, to, part)| Move { from, to, part }));
        books.moved(&moves);
        assert_eq!(books.moves(&needs), []);
        assert_eq!(books.set(1, (100, 200)), [(0, (100, 110)), (2, (190, 200))]);
        assert_eq!(books.givers((0, 300), 300), [(0, (0, 96)), (1, (96, 200)), (2, (200, 300))]);
    }

    /// Against one device: each operation also happens to versions of single bytes.
    #[test]
    fn whoever_is_asked_has_the_last_version() {
        const BYTES: usize = 24;
        let mut state = 1u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for _ in 0..2000 {
            let devices = 2 + random(3);
            let mut books = Books::new(devices);
            let (mut truth, mut there) = ([0u32; BYTES], vec![[0u32; BYTES]; devices]);
            for version in 1..20 {
                let from = random(BYTES);
                let part = (from as u64, (from + 1 + random(BYTES - from)) as u64);
                let device = random(devices);
                let range = part.0 as usize..part.1 as usize;
                if random(2) == 0 {
                    truth[range.clone()].fill(version);
                    there[device][range].fill(version);
                    books.set(device, part);
                } else {
                    let needs = [(device, part), ((device + 1) % devices, (0, BYTES as u64))];
                    let moves = books.moves(&needs);
                    let before = there.clone();
                    for Move { from, to, part } in &moves {
                        let range = part.0 as usize..part.1 as usize;
                        there[*to][range.clone()].copy_from_slice(&before[*from][range]);
                    }
                    books.moved(&moves);
                    assert_eq!(there[device][range.clone()], truth[range]);
                }
                let mut seen = 0;
                for (giver, part) in books.givers((0, BYTES as u64), BYTES as u64) {
                    assert_eq!(seen, part.0);
                    seen = part.1;
                    let range = part.0 as usize..part.1 as usize;
                    assert_eq!(there[giver][range.clone()], truth[range]);
                }
                assert_eq!(seen, BYTES as u64);
            }
        }
    }
}
