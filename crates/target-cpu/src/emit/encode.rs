//! The byte buffer: labels, branches, constants and their patches.

use super::{Emitted, Origin};
use crate::mir::Label;
use iced_x86::{Code as X86, Instruction};

/// One encoded instruction, for the listing.
#[derive(Clone, Debug)]
pub struct Line {
    pub offset: u32,
    pub instruction: Instruction,
    pub op: Origin,
}

/// A 32-bit field that waits for an address; relative to the end of its instruction.
struct Patch<T> {
    at: usize,
    end: usize,
    line: usize,
    target: T,
}

pub struct Encoder {
    /// How many bytes there are.
    pub len: usize,
    /// The op whose instructions are pushed.
    pub op: Origin,
    lines: Vec<Line>,
    labels: Vec<Option<usize>>,
    branches: Vec<Patch<Label>>,
    constants: Vec<Patch<(u32, i32)>>,
    /// Keeps the bytes.
    iced: iced_x86::Encoder,
}

/// Recommended multi-byte no-operations (SDM volume 2, `NOP`), by length.
const NOPS: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/// Of an instruction on vectors, seldom more.
const USUAL_BYTES: usize = 8;

impl Encoder {
    /// For about so many instructions.
    pub fn new(n_labels: usize, capacity: usize) -> Encoder {
        let mut iced = iced_x86::Encoder::new(64);
        iced.set_buffer(Vec::with_capacity(capacity * USUAL_BYTES));
        Encoder {
            len: 0,
            op: None,
            lines: Vec::with_capacity(capacity),
            labels: vec![None; n_labels],
            branches: Vec::new(),
            constants: Vec::new(),
            iced,
        }
    }

    pub fn push(&mut self, instruction: Instruction) -> Emitted<()> {
        self.lines.push(Line { offset: self.len as u32, instruction, op: self.op });
        self.len += self
            .iced
            .encode(&instruction, self.len as u64)
            .map_err(|error| format!("{:?}: {error}", instruction.code()))?;
        Ok(())
    }

    /// An instruction whose memory operand is constant `id` plus `disp` bytes.
    pub fn push_with_constant(&mut self, mut instruction: Instruction, id: u32, disp: i32) -> Emitted<()> {
        let start = self.len;
        instruction.set_memory_displacement64(start as u64);
        self.push(instruction)?;
        let at = start + self.iced.get_constant_offsets().displacement_offset();
        let (end, line) = (self.len, self.lines.len() - 1);
        self.constants.push(Patch { at, end, line, target: (id, disp) });
        Ok(())
    }

    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.len);
    }

    pub fn align(&mut self, to: usize) {
        let mut bytes = self.iced.take_buffer();
        self.len = self.len.next_multiple_of(to);
        while bytes.len() < self.len {
            let gap = self.len - bytes.len();
            bytes.extend_from_slice(NOPS[gap.min(NOPS.len()) - 1]);
        }
        self.iced.set_buffer(bytes);
    }

    pub fn jump(&mut self, short: X86, long: X86, label: Label) -> Emitted<()> {
        let here = self.len;
        let branch = |code, target: usize| {
            Instruction::with_branch(code, target as u64).map_err(|error| error.to_string())
        };
        match self.labels[label.0 as usize] {
            // A short branch has two bytes.
            Some(target) if here + 2 - target <= 128 => self.push(branch(short, target)?),
            Some(target) => self.push(branch(long, target)?),
            None => {
                self.push(branch(long, here)?)?;
                let (end, line) = (self.len, self.lines.len() - 1);
                self.branches.push(Patch { at: end - 4, end, line, target: label });
                Ok(())
            }
        }
    }

    /// Places the constants and patches everything.
    pub fn finish(mut self, pool: &[Vec<u8>]) -> Emitted<(Vec<u8>, Vec<Line>)> {
        let mut bytes = self.iced.take_buffer();
        for patch in &self.branches {
            let target = self.labels[patch.target.0 as usize].ok_or("a label without a place")?;
            set(&mut bytes, patch.at, target, patch.end)?;
            self.lines[patch.line].instruction.set_near_branch64(target as u64);
        }
        let place = append_constants(&mut bytes, pool);
        for patch in &self.constants {
            let (id, disp) = patch.target;
            let target = place[id as usize] + disp as usize;
            set(&mut bytes, patch.at, target, patch.end)?;
            self.lines[patch.line].instruction.set_memory_displacement64(target as u64);
        }
        Ok((bytes, self.lines))
    }
}

/// Puts constants behind code, and tells where each is: that follows from their lengths.
pub fn append_constants(bytes: &mut Vec<u8>, pool: &[Vec<u8>]) -> Vec<usize> {
    // Large constants first, so that each is aligned to its size.
    let mut order: Vec<usize> = (0..pool.len()).collect();
    order.sort_by_key(|&id| (std::cmp::Reverse(pool[id].len()), id));
    let mut place = vec![0; pool.len()];
    if let Some(&largest) = order.first() {
        let start = bytes.len().next_multiple_of(pool[largest].len().max(1));
        bytes.resize(start, 0xcc);
    }
    for id in order {
        place[id] = bytes.len();
        bytes.extend_from_slice(&pool[id]);
    }
    place
}

fn set(bytes: &mut [u8], at: usize, target: usize, end: usize) -> Emitted<()> {
    let relative = i32::try_from(target as i64 - end as i64).map_err(|_| "code beyond 2 GiB".to_string())?;
    bytes[at..at + 4].copy_from_slice(&relative.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Around the farthest that a short branch reaches.
    #[test]
    fn branches_go_back_to_their_label() {
        for gap in 120..136usize {
            let (mut encoder, start) = (Encoder::new(1, gap), Label(0));
            encoder.bind(start);
            (0..gap).for_each(|_| encoder.push(Instruction::with(X86::Nopd)).expect("a byte"));
            encoder.jump(X86::Jmp_rel8_64, X86::Jmp_rel32_64, start).expect("a branch");
            let (bytes, _) = encoder.finish(&[]).expect("all labels are placed");
            let back = match &bytes[gap..] {
                [0xeb, near] => i64::from(*near as i8),
                [0xe9, far @ ..] => i64::from(i32::from_le_bytes(far.try_into().expect("four bytes"))),
                other => panic!("{other:x?} is no jump"),
            };
            assert_eq!(bytes.len() as i64 + back, 0, "{gap}");
            assert_eq!(bytes.len() - gap, if gap <= 126 { 2 } else { 5 }, "{gap}");
        }
    }
}
