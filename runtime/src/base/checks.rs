//! What the checked device looks for.

/// `POLLYRS_RT_CHECK`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    pub race: bool,
    pub bounds: bool,
    pub init: bool,
    pub copies: bool,
}

impl Checks {
    pub const ALL: Checks = Checks { race: true, bounds: true, init: true, copies: true };

    pub fn any(self) -> bool {
        self != Checks::default()
    }

    /// `0`, `1`, or a list.
    pub fn parse(text: &str) -> Option<Checks> {
        let mut checks = Checks::default();
        match text {
            "0" => return Some(checks),
            "1" => return Some(Checks::ALL),
            _ => {}
        }
        for name in text.split(',') {
            match name {
                "race" => checks.race = true,
                "bounds" => checks.bounds = true,
                "init" => checks.init = true,
                "copies" => checks.copies = true,
                _ => return None,
            }
        }
        Some(checks)
    }
}
