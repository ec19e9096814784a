//! C programs linked to the library, as a user's are: see `program.c` for the scenarios and `fake_cuda.c` for
//! the driver.

mod chains;
mod cuda;
mod devices;
mod divided;
mod emulated;
mod estimates;
mod held;
mod layout;
mod leaks;
mod orders;
mod sliced;
mod support;
mod watched;
mod watching;
