//! The values behind a failed check: what its text has places for.
//!
//! Compiled code keeps the two sides of the condition that failed ([`keep`]) before it asks for the original
//! loop; the text of the reason has a mark for each.

use std::cell::Cell;

/// Marks in a reason's text; `codegen-ptx/src/host/why.rs` writes them.
const LEFT: char = '\u{1}';
const RIGHT: char = '\u{2}';

thread_local! {
    static SIDES: Cell<Option<(i64, i64)>> = const { Cell::new(None) };
}

/// For the next [`filled`] of this thread.
pub fn keep(left: i64, right: i64) {
    // While the thread's locals are being destroyed the values are lost, nothing else.
    let _ = SIDES.try_with(|sides| sides.set(Some((left, right))));
}

/// What was kept, once.
pub fn take() -> Option<(i64, i64)> {
    SIDES.try_with(Cell::take).ok().flatten()
}

/// A reason's text with the values in their places.
pub fn filled(text: &str, sides: Option<(i64, i64)>) -> String {
    let value = |side: Option<i64>| side.map_or_else(|| "?".to_owned(), |v| v.to_string());
    text.replace(LEFT, &value(sides.map(|s| s.0))).replace(RIGHT, &value(sides.map(|s| s.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_places() {
        keep(42, -43);
        let text = "row length = \u{1} < column = \u{2}, 50%";
        assert_eq!(filled(text, take()), "row length = 42 < column = -43, 50%");
        assert_eq!(filled(text, take()), "row length = ? < column = ?, 50%");
        assert_eq!(filled("an array is too large", None), "an array is too large");
    }
}
