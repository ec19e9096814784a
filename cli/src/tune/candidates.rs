//! What is worth a try: other strategies and sizes around those that a loop nest has.
//!
//! A first round covers each dimension of the choice alone, with the model's choice for the others; further
//! rounds take one step in each direction from the best so far. What a nest can't have (a shape that does not
//! fit, a strategy that is not legal) the plugin refuses, so that nothing has to be known here but the
//! spelling of the options.

use pollyrs_tuning::{Choice, StencilShape, Told};

/// Threads and columns along y and x, by dimensions of space. Wider than what the model chooses from.
const LINES: [([u32; 2], [u32; 2]); 6] = [
    ([1, 128], [1, 4]),
    ([1, 256], [1, 2]),
    ([1, 256], [1, 4]),
    ([1, 256], [1, 8]),
    ([1, 512], [1, 2]),
    ([1, 512], [1, 4]),
];
const PLANES: [([u32; 2], [u32; 2]); 7] = [
    ([1, 128], [1, 2]),
    ([1, 128], [1, 3]),
    ([1, 128], [1, 4]),
    ([1, 256], [1, 1]),
    ([1, 256], [1, 2]),
    ([1, 256], [1, 3]),
    ([1, 512], [1, 1]),
];
const VOLUMES: [([u32; 2], [u32; 2]); 10] = [
    ([32, 32], [1, 1]),
    ([32, 32], [2, 1]),
    ([24, 32], [2, 1]),
    ([16, 32], [1, 1]),
    ([16, 32], [2, 1]),
    ([16, 32], [2, 2]),
    ([16, 32], [3, 1]),
    ([8, 32], [2, 2]),
    ([8, 32], [4, 2]),
    ([8, 64], [2, 1]),
];
/// Threads of a block of one, two and three dimensions.
const BLOCKS: [&[&str]; 3] = [
    &["32", "64", "128", "512", "1024"],
    &["4x32", "16x16", "16x32", "32x32", "4x64", "2x128", "1x256"],
    &["2x4x32", "1x8x32", "8x4x32", "4x8x32", "2x2x64", "4x4x16"],
];
/// Threads, points of a thread, blocks on a multiprocessor.
const REGISTER_TILES: [&str; 8] = [
    "none",
    "8x8x4x4x8",
    "8x8x8x8x4",
    "8x16x8x8x2",
    "8x16x16x8x2",
    "16x16x4x4x4",
    "16x16x8x8x1",
    "16x16x8x4x2",
];
/// Strategies that tile a time loop without redundant work.
const TIME_TILES: [&str; 3] = ["hybrid", "diamond", "split"];
/// Time iterations a launch are tried up to this far from the model's.
const DEPTHS: i64 = 3;

/// The first round, around the model's choice.
pub fn first(model: &Told) -> Vec<Choice> {
    let mut all: Vec<Choice> = Vec::new();
    if let Some(s) = &model.stencil {
        for d in 1..=DEPTHS {
            all.extend(
                [s.fuse + d * s.period, s.fuse - d * s.period]
                    .map(|fuse| StencilShape { fuse, ..*s })
                    .iter()
                    .filter_map(streaming),
            );
        }
        let shapes: &[_] = match s.dims {
            1 => &LINES,
            2 => &PLANES,
            _ => &VOLUMES,
        };
        let with = |(threads, columns): &([u32; 2], [u32; 2])| {
            streaming(&StencilShape { threads: *threads, columns: *columns, variant: 1, ..*s })
        };
        all.extend(shapes.iter().filter_map(with));
        all.extend([1, 2, 4].into_iter().filter_map(|variant| streaming(&StencilShape { variant, ..*s })));
    }
    // The user's options may have another strategy than the default.
    all.extend(["auto", "isl", "original"].map(|s| one("strategy", s)));
    if model.time_loop {
        all.extend(TIME_TILES.map(|s| one("strategy", s)));
    }
    if model.stencil.is_none() {
        let lists = model.blocks.iter().filter_map(|n| BLOCKS.get(n.saturating_sub(1)));
        all.extend(lists.flat_map(|sizes| sizes.iter().map(|s| one("tile", s))));
    }
    if model.register_tiles {
        all.extend(REGISTER_TILES.map(|s| one("register-tile", s)));
    }
    distinct(all)
}

/// One step in each direction from a choice; `told` is what the plugin made of it.
pub fn around(told: &Told, choice: &Choice) -> Vec<Choice> {
    let mut all = Vec::new();
    if let Some(s) = &told.stencil {
        let mut near = vec![*s];
        for axis in 0..2 {
            for threads in [s.threads[axis] * 2, s.threads[axis] / 2] {
                let mut t = s.threads;
                t[axis] = threads;
                near.push(StencilShape { threads: t, ..*s });
            }
            for columns in [s.columns[axis] + 1, s.columns[axis] - 1] {
                let mut c = s.columns;
                c[axis] = columns;
                near.push(StencilShape { columns: c, ..*s });
            }
        }
        near.extend([1, 2, 4].map(|variant| StencilShape { variant, ..*s }));
        for s in &near {
            let depths = [s.fuse, s.fuse + s.period, s.fuse - s.period];
            all.extend(depths.map(|fuse| StencilShape { fuse, ..*s }).iter().filter_map(streaming));
        }
    }
    for name in ["tile", "register-tile"] {
        let Some(value) = choice.get(name) else { continue };
        for near in resized(value) {
            let valid = match name {
                "tile" => near.iter().product::<u32>() <= 1024,
                _ => is_register_tile(&near),
            };
            if valid {
                let value = near.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
                all.push(
                    choice
                        .iter()
                        .map(|(n, v)| (n.clone(), v.clone()))
                        .chain([(name.to_owned(), value)])
                        .collect(),
                );
            }
        }
    }
    all.retain(|c| c != choice);
    distinct(all)
}

fn one(name: &str, value: &str) -> Choice {
    [(name.to_owned(), value.to_owned())].into()
}

/// Fused steps as options; `None`: no such shape can be.
fn streaming(s: &StencilShape) -> Option<Choice> {
    let ([ty, tx], [cy, cx]) = (s.threads, s.columns);
    let threads = ty * tx;
    let plane = s.dims == 3 || (ty == 1 && cy == 1);
    let fits = s.fuse >= s.period
        && (32..=1024).contains(&threads)
        && threads % 32 == 0
        && cy * cx > 0
        && cy * cx <= 16;
    (fits && plane).then(|| {
        [
            ("strategy", "streaming".to_owned()),
            ("stencil-shape", s.shape()),
            ("fuse-steps", s.fuse.to_string()),
        ]
        .map(|(n, v)| (n.to_owned(), v))
        .into()
    })
}

/// Sizes of which one is doubled or halved; none if it is not a list of sizes.
fn resized(value: &str) -> Vec<Vec<u32>> {
    let sizes: Option<Vec<u32>> = value.split('x').map(|n| n.parse().ok()).collect();
    let Some(sizes) = sizes else { return Vec::new() };
    let mut all = Vec::new();
    for at in 0..sizes.len() {
        for n in [sizes[at] * 2, sizes[at] / 2].into_iter().filter(|n| *n > 0) {
            let mut near = sizes.clone();
            near[at] = n;
            all.push(near);
        }
    }
    all
}

/// The limits that the plugin has for the option.
fn is_register_tile(n: &[u32]) -> bool {
    let [ty, tx, py, px, b] = n else { return false };
    let threads = ty * tx;
    ty % 4 == 0
        && tx % 8 == 0
        && threads <= 1024
        && py.max(px) <= &16
        && py * px <= 128
        && (1..=16).contains(b)
        && b * threads <= 2048
}

fn distinct(all: Vec<Choice>) -> Vec<Choice> {
    let mut out: Vec<Choice> = Vec::new();
    for c in all {
        if !out.contains(&c) {
            out.push(c);
        }
    }
    out
}

/// The text of a choice, for people.
pub fn text(choice: &Choice) -> String {
    match choice.is_empty() {
        true => "the model's".to_owned(),
        false => choice.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" "),
    }
}

/// Reads `NAME=VALUE,NAME=VALUE`.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Choice, String> {
    let pair = |word: &str| {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("'{word}' is not NAME=VALUE"))?;
        match pollyrs_tuning::TUNABLE.contains(&name) && !value.is_empty() {
            true => Ok((name.to_owned(), value.to_owned())),
            false => Err(format!("'{word}' is no value of {}", pollyrs_tuning::TUNABLE.join(", "))),
        }
    };
    text.split(',').map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stencil(dims: usize, threads: [u32; 2], columns: [u32; 2], fuse: i64) -> Told {
        let stencil = Some(StencilShape { dims, fuse, period: 1, threads, columns, variant: 1 });
        Told { stencil, time_loop: true, blocks: vec![dims], ..Told::default() }
    }

    #[test]
    fn the_first_round_has_depths_shapes_and_other_strategies() {
        let all = first(&stencil(3, [16, 32], [2, 2], 3));
        let texts: Vec<String> = all.iter().map(text).collect();
        for want in [
            "fuse-steps=4 stencil-shape=16x32x2x2x1 strategy=streaming",
            "fuse-steps=1 stencil-shape=16x32x2x2x1 strategy=streaming",
            "fuse-steps=3 stencil-shape=8x32x4x2x1 strategy=streaming",
            "fuse-steps=3 stencil-shape=16x32x2x2x2 strategy=streaming",
            "strategy=isl",
            "strategy=hybrid",
        ] {
            assert!(texts.iter().any(|t| t == want), "{want}: {texts:?}");
        }
        assert!(!texts.iter().any(|t| t.contains("fuse-steps=0") || t.contains("tile=")), "{texts:?}");
    }

    #[test]
    fn plain_kernels_have_other_blocks_and_register_tiles() {
        let told = Told { blocks: vec![2], register_tiles: true, ..Told::default() };
        let texts: Vec<String> = first(&told).iter().map(text).collect();
        for (want, there) in [
            ("tile=16x16", true),
            ("tile=128", false),
            ("register-tile=none", true),
            ("strategy=hybrid", false),
        ] {
            assert_eq!(texts.iter().any(|t| t == want), there, "{want}: {texts:?}");
        }
        assert!(first(&Told::default()).len() == 3, "three strategies");
    }

    #[test]
    fn a_step_changes_one_size_or_the_depth_too() {
        let told = stencil(2, [1, 256], [1, 2], 4);
        let all = around(&told, &streaming(&told.stencil.unwrap()).unwrap());
        let texts: Vec<String> = all.iter().map(text).collect();
        for (want, there) in [
            ("fuse-steps=5 stencil-shape=1x128x1x2x1 strategy=streaming", true),
            ("fuse-steps=4 stencil-shape=1x256x1x3x1 strategy=streaming", true),
            ("fuse-steps=4 stencil-shape=1x256x1x2x1 strategy=streaming", false),
            ("fuse-steps=4 stencil-shape=2x256x1x2x1 strategy=streaming", false),
            ("fuse-steps=4 stencil-shape=1x256x1x0x1 strategy=streaming", false),
        ] {
            assert_eq!(texts.iter().any(|t| t == want), there, "{want}: {texts:?}");
        }
    }

    #[test]
    fn sizes_are_halved_and_doubled_within_the_plugins_limits() {
        let near = |name: &str, value: &str| -> Vec<String> {
            around(&Told::default(), &one(name, value)).iter().map(text).collect()
        };
        assert_eq!(near("tile", "1x512"), ["tile=2x512", "tile=1x1024", "tile=1x256"]);
        assert_eq!(near("tile", "32x32"), ["tile=16x32", "tile=32x16"]);
        let tiles = near("register-tile", "8x8x8x8x4");
        assert!(tiles.contains(&"register-tile=16x8x8x8x4".to_owned()), "{tiles:?}");
        assert!(tiles.contains(&"register-tile=8x8x8x16x4".to_owned()), "{tiles:?}");
        assert!(!tiles.iter().any(|t| t.contains("=8x4x")), "{tiles:?}");
        assert!(near("register-tile", "none").is_empty());
    }

    #[test]
    fn other_options_of_a_choice_are_kept() {
        let choice: Choice = parse("strategy=hybrid,tile=4x64").unwrap();
        assert!(around(&Told::default(), &choice).iter().all(|c| c["strategy"] == "hybrid" && c.len() == 2));
    }

    #[test]
    fn choices_are_parsed() {
        assert_eq!(text(&parse("strategy=isl").unwrap()), "strategy=isl");
        assert_eq!(text(&Choice::new()), "the model's");
        for wrong in ["", "isl", "strategy=", "disable=true", "tile=8,16"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
