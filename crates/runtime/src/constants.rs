//! Constants where the kernels of each device read them: the home has the section as it lies in the file, each other
//! device the part of it from its first constant to its last.

use crate::memory::{EMPTY, Range};
use crate::queue::{Queues, Region};
use std::sync::Arc;
use tegula_base::Diagnostic;
use tegula_package::{HostProgram, Package, Place};

/// Alignment that kernels expect of constants, bytes.
const ALIGN: u64 = 64;

/// The part of the constants section that each device has.
pub(crate) struct ConstantParts(Vec<std::ops::Range<u64>>);

impl ConstantParts {
    pub(crate) fn new(program: &HostProgram, devices: usize) -> ConstantParts {
        let mut parts: Vec<Option<std::ops::Range<u64>>> = vec![None; devices];
        for buffer in &program.buffers {
            if let (Place::Constant { offset, bytes }, Some(part)) =
                (&buffer.place, parts.get_mut(buffer.device.index()))
            {
                let (start, end) = (*offset, offset + bytes);
                *part = Some(match part {
                    Some(part) => part.start.min(start)..part.end.max(end),
                    None => start..end,
                });
            }
        }
        let mut parts: Vec<std::ops::Range<u64>> = parts.into_iter().map(Option::unwrap_or_default).collect();
        // The home's is the section, whatever lies in it.
        parts[0].start = 0;
        ConstantParts(parts)
    }

    /// Where a constant at `offset` of the section is in its device's memory.
    pub(crate) fn offset(&self, device: usize, offset: u64) -> u64 {
        offset - self.0[device].start
    }
}

/// The constants of one device, at an aligned address.
pub(crate) struct Constants {
    pub(crate) range: Range,
    /// Holds a copy when the package's own bytes are not aligned, or elsewhere.
    _copy: Option<Region>,
}

impl Constants {
    /// Those of all devices. Errors: no memory for a copy.
    pub(crate) fn of_devices(
        package: &Package,
        queues: &[Arc<dyn Queues>],
    ) -> Result<Vec<Constants>, Diagnostic> {
        let parts = ConstantParts::new(&package.program, queues.len()).0;
        let parts = parts.iter().zip(queues).enumerate().map(|(device, (part, queues))| {
            let bytes = match device {
                0 => package.constants(),
                _ if part.is_empty() => &[],
                _ => &package.constants()[part.start as usize..part.end as usize],
            };
            Constants::new(bytes, device, queues)
        });
        parts.collect()
    }

    fn new(bytes: &[u8], device: usize, queues: &Arc<dyn Queues>) -> Result<Constants, Diagnostic> {
        let place = |address| Range { address, bytes: bytes.len(), writable: false };
        if bytes.is_empty() {
            return Ok(Constants { range: place(EMPTY), _copy: None });
        }
        let address = bytes.as_ptr() as u64;
        if queues.is_local() && address.is_multiple_of(ALIGN) {
            return Ok(Constants { range: place(address), _copy: None });
        }
        let queue = Arc::clone(queues).queue()?;
        let region = Region::new(&*queue, device, bytes.len())?;
        // SAFETY: a block of our own, that long.
        unsafe { queue.write(region.range(), bytes)? };
        Ok(Constants { range: place(region.address()), _copy: Some(region) })
    }
}
