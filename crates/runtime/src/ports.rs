//! The memory of a context's inputs and outputs where the home is not this process: it stays, so that a recorded run finds
//! it again.

use crate::memory::EMPTY;
use crate::queue::{Queue, Region};
use tegula_base::Diagnostic;

#[derive(Default)]
pub(crate) struct Ports {
    pub(crate) inputs: Vec<Region>,
    pub(crate) outputs: Vec<Region>,
}

impl Ports {
    pub(crate) fn input_mut(&mut self, index: usize) -> &mut Region {
        if self.inputs.len() <= index {
            self.inputs.resize_with(index + 1, Region::default);
        }
        &mut self.inputs[index]
    }
}

/// The address of a region of the home of at least `bytes`, which is made where the one there is shorter.
pub(crate) fn place(region: &mut Region, home: &dyn Queue, bytes: usize) -> Result<u64, Diagnostic> {
    if bytes == 0 {
        return Ok(EMPTY);
    }
    if region.len() < bytes {
        *region = Region::default();
        *region = Region::new(home, 0, bytes)?;
    }
    Ok(region.address())
}
