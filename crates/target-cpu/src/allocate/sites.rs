//! Which instructions name each register.

use super::live::Operands;
use crate::mir::VReg;
use std::ops::RangeInclusive;

pub struct Sites {
    /// Where those of each register lie among all.
    spans: Vec<(u32, u32)>,
    /// Ascending within a span.
    insts: Vec<u32>,
}

impl Sites {
    /// Of the first `n_regs` registers; instructions that are `dead` name none.
    pub fn new(n_regs: usize, operands: &Operands, dead: &[bool]) -> Sites {
        let living = || (0..dead.len()).filter(|i| !dead[*i]);
        let mut spans = vec![(0, 0); n_regs];
        // How many there may be, then where they end.
        for i in living() {
            operands.of(i).0.iter().for_each(|(reg, _)| spans[reg.0 as usize].1 += 1);
        }
        let mut n = 0;
        for span in &mut spans {
            let start = n;
            n += span.1;
            *span = (start, start);
        }
        let mut insts = vec![0; n as usize];
        for i in living() {
            for (reg, _) in operands.of(i).0 {
                let (start, end) = &mut spans[reg.0 as usize];
                // An instruction may name a register twice.
                if start == end || insts[*end as usize - 1] != i as u32 {
                    insts[*end as usize] = i as u32;
                    *end += 1;
                }
            }
        }
        Sites { spans, insts }
    }

    pub fn of(&self, reg: VReg) -> &[u32] {
        let (start, end) = self.spans[reg.0 as usize];
        &self.insts[start as usize..end as usize]
    }

    /// One more register, which nothing names yet.
    pub fn add_register(&mut self) {
        self.spans.push((0, 0));
    }

    /// Some instructions now name another register, which nothing named before.
    pub fn hand_over(&mut self, from: VReg, to: VReg, insts: RangeInclusive<u32>) {
        let (start, end) = self.spans[from.0 as usize];
        let all = &mut self.insts[start as usize..end as usize];
        let first = all.partition_point(|inst| inst < insts.start());
        let n = all[first..].partition_point(|inst| inst <= insts.end());
        all[first..].rotate_left(n);
        let border = end - n as u32;
        self.spans[from.0 as usize] = (start, border);
        self.spans[to.0 as usize] = (border, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_takes_its_instructions_from_the_middle() {
        let mut sites = Sites { spans: vec![(0, 1), (1, 6)], insts: vec![3, 1, 4, 6, 7, 9] };
        sites.add_register();
        sites.hand_over(VReg(1), VReg(2), 4..=7);
        assert_eq!((sites.of(VReg(0)), sites.of(VReg(1))), (&[3][..], &[1, 9][..]));
        assert_eq!(sites.of(VReg(2)), [4, 6, 7]);
    }
}
