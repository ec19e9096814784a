//! Printing of what the stages make: `print<pollyrs-STAGE>` sees one value of a SCoP, and its stages end
//! there.

use crate::base::stage::Stage;
use crate::base::trace::answer;
use crate::device::assembler::Assembling;
use crate::pipeline::reasons::generated;
use pollyrs_codegen_ptx::ImageKind;
use pollyrs_scop::RejectReason;
use std::fmt::Display;

/// Why no code of a SCoP goes into the module.
pub enum Ended {
    /// What was asked for is printed.
    Shown,
    Refused(RejectReason),
}

impl From<RejectReason> for Ended {
    fn from(reason: RejectReason) -> Ended {
        Ended::Refused(reason)
    }
}

/// Sees the value of each stage; this one is asked for.
#[derive(Clone, Copy)]
pub struct Watch(pub Stage);

impl Watch {
    /// The value of the stage `at`.
    pub fn see(self, at: Stage, value: &impl Display) -> Result<(), Ended> {
        if self.0 == at {
            answer(value);
        }
        if self.0 <= at { Err(Ended::Shown) } else { Ok(()) }
    }

    /// The device code; what is printed is the PTX for `arch`.
    pub fn see_code(self, device: Option<Assembling>, arch: u32) -> Result<Option<Assembling>, Ended> {
        if self.0 > Stage::Ptx {
            return Ok(device);
        }
        let code = device.map(|job| job.wait()).transpose().map_err(generated)?;
        let images = code.iter().flat_map(|code| &code.images);
        for image in images.filter(|i| i.kind == ImageKind::Ptx && i.arch == arch) {
            answer(String::from_utf8_lossy(&image.data));
        }
        Err(Ended::Shown)
    }
}
