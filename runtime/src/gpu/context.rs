//! The context that work on the device goes to.

use std::sync::{Arc, OnceLock};

use crate::base::error::{Error, Result};
use crate::driver::{self, Api, Handle};

/// A retained primary context, and what is known of its end.
pub struct Context {
    api: Api,
    handle: Handle,
    /// When it was retained; `None` if the driver does not tell.
    id: Option<u64>,
    /// The fatal error that ended the device's use.
    lost: OnceLock<Arc<str>>,
}

/// Makes the device's context current until it is dropped.
pub struct Current<'a>(&'a Context);

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut context = Handle::NULL;
        // SAFETY: pops what `Context::current` pushed. An error leaves nothing to be done.
        let _ = unsafe { self.0.api.context_pop(&mut context) };
    }
}

/// The number of a context, which it has for itself until it is destroyed or reset.
fn id_of(api: &Api, context: Handle) -> Option<u64> {
    let mut id = 0;
    // SAFETY: an out-pointer to a local variable.
    unsafe { api.context_id(context, &mut id) }.ok().map(|()| id)
}

impl Context {
    /// Of a context that was retained and is never released.
    pub fn new(api: Api, handle: Handle) -> Context {
        let id = id_of(&api, handle);
        Context { api, handle, id, lost: OnceLock::new() }
    }

    /// The driver's name for it.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// The driver's functions; most want the context to be current.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Makes it current until the answer is dropped.
    pub fn current(&self) -> Result<Current<'_>> {
        if let Some(text) = self.lost.get() {
            return Err(Error::DeviceLost(text.clone()));
        }
        // Streams, events and memory of a context that the program has reset are gone, and the driver does
        // not look whether they are.
        if self.id.is_some() && id_of(&self.api, self.handle) != self.id {
            let text = self.lost.get_or_init(|| "the program has reset it".into());
            return Err(Error::DeviceLost(text.clone()));
        }
        // SAFETY: the context was retained and is never released.
        self.note(unsafe { self.api.context_push(self.handle) })?;
        Ok(Current(self))
    }

    /// Passes a result on and remembers the errors that end the device's use.
    pub fn note<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error @ Error::Driver { code, .. }) = &result
            && driver::is_fatal(*code)
        {
            let _ = self.lost.set(error.to_string().into());
        }
        result
    }

    /// Whether the device is never used again.
    pub fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }
}
