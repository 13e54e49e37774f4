//! The kernel's stack frame and what it must keep: System V AMD64 rules under `docs/abi.md`.

use crate::allocate::Allocation;
use crate::mir::{Class, Kind, Mir};

/// rbx, rbp, r12 to r15.
const CALLEE_SAVED: [u8; 6] = [3, 5, 12, 13, 14, 15];
/// Alignment of the frame, for vector homes of 64 bytes.
const FRAME_ALIGN: u32 = 64;

/// Where things lie above the stack pointer inside the kernel.
pub struct Frame {
    /// Offset of each frame area.
    pub offsets: Vec<u32>,
    /// Bytes below the saved stack pointer, a multiple of 64 less one word; `None` when no frame is made.
    pub saved_rsp: Option<u32>,
    /// Callee-saved registers that the kernel uses.
    pub saved: Vec<u8>,
    /// Whether the upper halves of vector registers must be cleared before return.
    pub uses_vectors: bool,
}

impl Frame {
    pub fn new(mir: &Mir, allocation: &Allocation) -> Frame {
        let mut order: Vec<usize> = (0..mir.frame.len()).collect();
        // Large areas first: then every area is aligned to its size without gaps.
        order.sort_by_key(|&area| (std::cmp::Reverse(mir.frame[area].next_power_of_two()), area));
        let mut offsets = vec![0; mir.frame.len()];
        let mut top = 0;
        for area in order {
            offsets[area] = top;
            top += mir.frame[area].next_power_of_two();
        }
        let calls = mir.insts.iter().any(|inst| matches!(inst.kind, Kind::Call { .. }));
        let saved_rsp = (top > 0 || calls).then(|| (top + 8).next_multiple_of(FRAME_ALIGN) - 8);
        let (mut used, mut uses_vectors) = (0u32, false);
        for (register, data) in allocation.register.iter().zip(&mir.vregs) {
            match data.class {
                // A virtual register that nobody needs has none.
                Class::Gpr => used |= 1u32.checked_shl(u32::from(*register)).unwrap_or(0),
                Class::Vec => uses_vectors = true,
                Class::Mask => {}
            }
        }
        Frame {
            offsets,
            saved_rsp,
            saved: CALLEE_SAVED.into_iter().filter(|r| used >> r & 1 != 0).collect(),
            uses_vectors,
        }
    }

    /// Bytes of stack below the saved registers.
    pub fn bytes(&self) -> usize {
        self.saved_rsp.map_or(0, |offset| offset as usize + 8)
    }
}
