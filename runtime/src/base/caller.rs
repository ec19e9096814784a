//! What the program that calls the library must find as it left it: its `errno`, and its locks where a signal
//! handler interrupts a call.

use std::cell::Cell;
use std::io::Write;

/// Ends the program with a message.
pub fn fatal(text: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "pollyrs: fatal: {text}");
    std::process::abort()
}

/// The program's `errno`: what the library calls may set it, the loops in its place did not.
pub struct Errno(std::ffi::c_int);

impl Errno {
    pub fn kept() -> Errno {
        // SAFETY: the C library's, valid for the thread's life.
        Errno(unsafe { *__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *__errno_location() = self.0 };
    }
}

/// The exceptions that the caller's floating-point operations have raised, as they are when this is made:
/// ours, of estimates and times, are none of the program's (Fortran's STOP prints those that are raised).
///
/// To read them takes a few cycles, to set them hundreds (the state of the x87 unit goes to memory and comes
/// back). Most calls raise none, so that they are set only where they differ.
///
/// Where exceptions trap (`feenableexcept`), none does meanwhile.
enum Exceptions {
    Raised(FpExceptions),
    /// The caller's control register.
    Trapping(u32),
}

impl Exceptions {
    fn kept() -> Exceptions {
        let control = control();
        if control & MASKS == MASKS {
            return Exceptions::Raised(Exceptions::raised());
        }
        set_control(control | MASKS);
        Exceptions::Trapping(control)
    }

    fn raised() -> FpExceptions {
        let mut flags = NO_EXCEPTIONS;
        // SAFETY: a place for the flags. Where it fails nothing is put back later.
        let failed = unsafe { fegetexceptflag(&mut flags, FE_ALL_EXCEPT) };
        if failed == 0 { flags } else { NO_EXCEPTIONS }
    }
}

impl Drop for Exceptions {
    fn drop(&mut self) {
        match self {
            Exceptions::Raised(flags) if Exceptions::raised() != *flags => {
                // SAFETY: flags of the same function.
                unsafe { fesetexceptflag(flags, FE_ALL_EXCEPT) };
            }
            Exceptions::Raised(_) => {}
            Exceptions::Trapping(control) => set_control(*control),
        }
    }
}

/// The bits of the control register that keep exceptions from trapping. (Traps are looked at on x86 only.)
#[cfg(target_arch = "x86_64")]
const MASKS: u32 = 0x1f80;
#[cfg(not(target_arch = "x86_64"))]
const MASKS: u32 = 0;

/// The control register of floating-point operations, with the exceptions that were raised.
fn control() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut control = 0u32;
        // SAFETY: stores the register in four bytes.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut control, options(nostack, preserves_flags)) };
        control
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

fn set_control(control: u32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: what the register had, but for exceptions that trap.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &control, options(nostack, preserves_flags))
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = control;
}

unsafe extern "C" {
    fn __errno_location() -> *mut std::ffi::c_int;
}

/// C's `fexcept_t` and `FE_ALL_EXCEPT`.
#[cfg(target_arch = "x86_64")]
type FpExceptions = u16;
#[cfg(target_arch = "x86_64")]
const FE_ALL_EXCEPT: std::ffi::c_int = 0x3d;
#[cfg(not(target_arch = "x86_64"))]
type FpExceptions = u32;
#[cfg(not(target_arch = "x86_64"))]
const FE_ALL_EXCEPT: std::ffi::c_int = 0x1f;
const NO_EXCEPTIONS: FpExceptions = 0;

unsafe extern "C" {
    fn fegetexceptflag(flags: *mut FpExceptions, which: std::ffi::c_int) -> std::ffi::c_int;
    fn fesetexceptflag(flags: *const FpExceptions, which: std::ffi::c_int) -> std::ffi::c_int;
}

/// C's number for a result that is out of range.
pub const ERANGE: std::ffi::c_int = 34;

pub fn errno_address() -> u64 {
    // SAFETY: gives the address of the thread's variable.
    unsafe { __errno_location() as u64 }
}

/// Sets the program's `errno`.
pub fn set_errno(number: std::ffi::c_int) {
    // SAFETY: the C library's, valid for the thread's life.
    unsafe { *__errno_location() = number };
}

/// Calls of the library that the thread is in.
///
/// A signal handler may have loops of its own. If it interrupts the library, the locks and the allocator may
/// be in use by the very thread that the handler runs on, so its loops begin no execution: they run as they
/// are, and nothing is reported. What the outermost of these calls computes raises no floating-point
/// exception of the program's.
pub struct Inside {
    _exceptions: Option<Exceptions>,
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
    /// Whether exceptions trap in the thread, as of its last call from outside.
    static TRAPS: Cell<bool> = const { Cell::new(false) };
}

impl Inside {
    pub fn enter() -> Inside {
        let outermost = CALLS.with(|calls| calls.replace(calls.get() + 1) == 0);
        let exceptions = outermost.then(Exceptions::kept);
        if let Some(exceptions) = &exceptions {
            TRAPS.with(|traps| traps.set(matches!(exceptions, Exceptions::Trapping(_))));
        }
        Inside { _exceptions: exceptions }
    }

    /// Whether the program's floating-point exceptions trap: kernels raise none, or others.
    pub fn traps() -> bool {
        TRAPS.with(Cell::get)
    }

    /// Whether a signal handler interrupted the library.
    pub fn interrupted() -> bool {
        CALLS.with(|calls| calls.get() > 0)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        CALLS.with(|calls| calls.set(calls.get() - 1));
    }
}
