//! Shapes that were found before.
//!
//! **Problem.** The borders of fifteen fields of one grid are sixty loop nests, of which every fourth has the
//! same offsets and bounds, and the search for a shape is most of what is done for one of them. isl's objects
//! belong to the context of one region, so what was found is kept as text.
//!
//! **Invariant.** A shape is given for the problem only that it was found for: parameters by name, context,
//! offsets and domains to the letter.

use crate::{DelinearizeError, Origin, Polynomial, Problem, Shape};
use pollyrs_isl as isl;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What was asked so far, and answered. One compilation has one.
#[derive(Debug, Default)]
pub struct Known {
    found: RefCell<BTreeMap<Key, Found>>,
}

/// A problem without isl's objects.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    params: Vec<String>,
    context: String,
    element_bytes: u32,
    accesses: Vec<(Polynomial, String, Option<Vec<i64>>)>,
    found: Vec<(String, String)>,
    certain: bool,
}

type Found = Result<Text, DelinearizeError>;

/// A shape without isl's objects.
#[derive(Clone, Debug)]
struct Text {
    sizes: Vec<Option<Polynomial>>,
    subscripts: Vec<Vec<String>>,
    assumption: String,
    check: String,
    overlapping: Option<String>,
    origin: Origin,
    likely: bool,
    pinned: bool,
    wraps: bool,
}

impl Known {
    /// [`crate::delinearize`], or its answer to the same problem before.
    ///
    /// # Errors
    /// Those of [`crate::delinearize`].
    pub fn delinearize(&self, problem: &Problem) -> Result<Shape, DelinearizeError> {
        let Some(key) = Key::of(problem) else { return crate::delinearize(problem) };
        if let Some(found) = self.found.borrow().get(&key) {
            return found.clone().and_then(|text| text.shape(problem.context.context()));
        }
        let shape = crate::delinearize(problem);
        let found = match &shape {
            // What a spent budget did not allow may be allowed the next time.
            Err(DelinearizeError::Isl(_)) => return shape,
            Err(e) => Err(e.clone()),
            Ok(shape) => match Text::of(shape)? {
                Some(text) => Ok(text),
                None => return Ok(shape.clone()),
            },
        };
        self.found.borrow_mut().insert(key, found);
        shape
    }
}

impl Key {
    /// `None` where isl has no text for something.
    fn of(problem: &Problem) -> Option<Key> {
        let accesses = problem.accesses.iter();
        Some(Key {
            params: problem.params.to_vec(),
            context: written(problem.context)?,
            element_bytes: problem.element_bytes,
            accesses: accesses
                .map(|a| Some((a.offset.clone(), written(&a.domain)?, a.size_hint.clone())))
                .collect::<Option<_>>()?,
            found: problem.found.to_vec(),
            certain: problem.certain,
        })
    }
}

/// isl's text.
fn written(value: &impl ToString) -> Option<String> {
    Some(value.to_string()).filter(|text| text != "?")
}

impl Text {
    /// `None` where the text would say less: a function without pieces has none of its space.
    fn of(shape: &Shape) -> isl::Result<Option<Text>> {
        for f in shape.subscripts.iter().flatten() {
            if f.n_piece()? == 0 {
                return Ok(None);
            }
        }
        let function = |all: &Vec<isl::PwAff>| all.iter().map(written).collect::<Option<Vec<String>>>();
        let subscripts = shape.subscripts.iter().map(function).collect::<Option<Vec<_>>>();
        let overlapping = shape.overlapping.as_ref().map(written);
        let (Some(subscripts), Some(assumption), Some(check), false) =
            (subscripts, written(&shape.assumption), written(&shape.check), overlapping == Some(None))
        else {
            return Ok(None);
        };
        Ok(Some(Text {
            sizes: shape.sizes.clone(),
            subscripts,
            assumption,
            check,
            overlapping: overlapping.flatten(),
            origin: shape.origin,
            likely: shape.likely,
            pinned: shape.pinned,
            wraps: shape.wraps,
        }))
    }

    fn shape(self, ctx: &isl::Context) -> Result<Shape, DelinearizeError> {
        let read = |all: &Vec<String>| {
            all.iter().map(|s| isl::PwAff::read(ctx, s)).collect::<isl::Result<Vec<isl::PwAff>>>()
        };
        Ok(Shape {
            subscripts: self.subscripts.iter().map(read).collect::<isl::Result<_>>()?,
            assumption: isl::Set::read(ctx, &self.assumption)?,
            check: isl::Set::read(ctx, &self.check)?,
            overlapping: self.overlapping.map(|s| isl::Set::read(ctx, &s)).transpose()?,
            sizes: self.sizes,
            origin: self.origin,
            likely: self.likely,
            pinned: self.pinned,
            wraps: self.wraps,
        })
    }
}
