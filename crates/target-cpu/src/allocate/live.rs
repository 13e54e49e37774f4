//! Live ranges of virtual registers, and which instructions nobody needs.
//!
//! Each instruction `i` has two points: `2 * i`, where it reads, and `2 * i + 1`, where it writes.
//! Method: backward dataflow over basic blocks until nothing changes, then one backward walk.

use crate::isa::Role;
use crate::mir::{Kind, Mir, VReg};
use smallvec::SmallVec;

/// Registers that an instruction names, seldom more on average.
const USUAL_REGS: usize = 3;

/// Half-open ranges of points, ascending and apart.
pub type Ranges = SmallVec<[(u32, u32); 2]>;

pub struct Liveness {
    /// Ranges of each virtual register.
    pub ranges: Vec<Ranges>,
    /// Instructions with no effect and no used result.
    pub dead: Vec<bool>,
}

/// Straight-line code `[start, end)`.
pub struct Block {
    pub start: usize,
    pub end: usize,
    pub successors: SmallVec<[usize; 2]>,
}

/// Cuts the list at labels and branches.
pub fn blocks(mir: &Mir) -> Vec<Block> {
    let mut starts = vec![0];
    for (i, inst) in mir.insts.iter().enumerate() {
        match inst.kind {
            Kind::Label { .. } => starts.push(i),
            Kind::Jump(_) | Kind::Branch(..) | Kind::Return => starts.push(i + 1),
            _ => {}
        }
    }
    starts.retain(|&start| start < mir.insts.len());
    starts.dedup();
    let mut block_of_label = vec![0; mir.n_labels as usize];
    for (block, &start) in starts.iter().enumerate() {
        if let Kind::Label { label, .. } = mir.insts[start].kind {
            block_of_label[label.0 as usize] = block;
        }
    }
    let mut blocks = Vec::with_capacity(starts.len());
    for (block, &start) in starts.iter().enumerate() {
        let end = starts.get(block + 1).copied().unwrap_or(mir.insts.len());
        let next = (block + 1 < starts.len()).then_some(block + 1);
        let successors = match mir.insts[end - 1].kind {
            Kind::Jump(label) => SmallVec::from_slice(&[block_of_label[label.0 as usize]]),
            Kind::Branch(_, label) => [block_of_label[label.0 as usize]].into_iter().chain(next).collect(),
            Kind::Return => SmallVec::new(),
            _ => next.into_iter().collect(),
        };
        blocks.push(Block { start, end, successors });
    }
    blocks
}

/// What allocation asks of each instruction, side by side.
pub struct Operands {
    /// Where the registers of each instruction begin, and whether it does nothing but write results; one more at the end.
    insts: Vec<(u32, bool)>,
    /// What an instruction defines comes before what it reads.
    regs: Vec<(VReg, Role)>,
}

impl Operands {
    pub fn new(mir: &Mir) -> Operands {
        let n = mir.insts.len();
        let (mut insts, mut regs) = (Vec::with_capacity(n + 1), Vec::with_capacity(USUAL_REGS * n));
        for inst in &mir.insts {
            insts.push((regs.len() as u32, inst.is_pure()));
            inst.visit(|reg, role| regs.push((reg, role)));
        }
        insts.push((regs.len() as u32, false));
        Operands { insts, regs }
    }

    /// The registers of an instruction, and whether it is pure.
    pub fn of(&self, i: usize) -> (&[(VReg, Role)], bool) {
        let ((start, pure), (end, _)) = (self.insts[i], self.insts[i + 1]);
        (&self.regs[start as usize..end as usize], pure)
    }
}

impl Liveness {
    pub fn compute(mir: &Mir, operands: &Operands) -> Liveness {
        let blocks = blocks(mir);
        let n_words = mir.vregs.len().div_ceil(64);
        let mut live_in = vec![0u64; blocks.len() * n_words];
        let mut dead = vec![false; mir.insts.len()];
        let mut live = vec![0u64; n_words];
        // What was live behind each block when it was last walked.
        let mut walked = vec![0u64; blocks.len() * n_words];
        let (mut first, mut changed) = (true, true);
        while changed {
            changed = false;
            for (b, block) in blocks.iter().enumerate().rev() {
                let words = b * n_words..(b + 1) * n_words;
                live_out(block, &live_in, n_words, &mut live);
                if !first && walked[words.clone()] == live {
                    continue;
                }
                walked[words.clone()].copy_from_slice(&live);
                for i in (block.start..block.end).rev() {
                    dead[i] = step(operands, i, &mut live, |_, _| {});
                }
                let slot = &mut live_in[words];
                if slot != live {
                    slot.copy_from_slice(&live);
                    changed = true;
                }
            }
            first = false;
        }
        Liveness { ranges: build_ranges(mir.vregs.len(), operands, &blocks, &live_in), dead }
    }
}

fn live_out(block: &Block, live_in: &[u64], n_words: usize, live: &mut [u64]) {
    live.fill(0);
    for &s in &block.successors {
        for (word, other) in live.iter_mut().zip(&live_in[s * n_words..(s + 1) * n_words]) {
            *word |= other;
        }
    }
}

fn bit(reg: VReg) -> (usize, u64) {
    (reg.0 as usize / 64, 1 << (reg.0 % 64))
}

/// Moves `live` from behind an instruction to before it. True when the instruction is dead.
/// `event(reg, Def)` where a register starts to live, `event(reg, Use)` where it is last read.
fn step(operands: &Operands, i: usize, live: &mut [u64], mut event: impl FnMut(VReg, Role)) -> bool {
    let (regs, pure) = operands.of(i);
    let is_needed = |(reg, role): &(VReg, Role)| {
        let (word, mask) = bit(*reg);
        *role != Role::Use && live[word] & mask != 0
    };
    if pure && !regs.iter().any(is_needed) {
        return true;
    }
    for &(reg, role) in regs {
        let (word, mask) = bit(reg);
        // A result that is read and written but not used behind still needs its register here.
        if role == Role::Def || live[word] & mask == 0 {
            event(reg, role);
        }
        match role {
            Role::Def => live[word] &= !mask,
            Role::Mod | Role::Use => live[word] |= mask,
        }
    }
    false
}

fn build_ranges(n_regs: usize, operands: &Operands, blocks: &[Block], live_in: &[u64]) -> Vec<Ranges> {
    let n_words = n_regs.div_ceil(64);
    let mut ranges: Vec<Ranges> = std::iter::repeat_with(Ranges::new).take(n_regs).collect();
    // The end of the range that is open while walking backward; 0 is none.
    let mut open = vec![0u32; n_regs];
    // What lives before the block behind, then through the block.
    let (mut live, mut behind) = (vec![0u64; n_words], vec![0u64; n_words]);
    for block in blocks.iter().rev() {
        std::mem::swap(&mut live, &mut behind);
        live_out(block, live_in, n_words, &mut live);
        // What lives on both sides of a border stays open.
        let border = 2 * block.end as u32;
        for_each_bit(behind.iter().zip(&live).map(|(behind, live)| behind & !live), |reg| {
            add(&mut ranges[reg], border, std::mem::take(&mut open[reg]));
        });
        for_each_bit(live.iter().zip(&behind).map(|(live, behind)| live & !behind), |reg| {
            open[reg] = border;
        });
        for i in (block.start..block.end).rev() {
            let point = 2 * i as u32;
            step(operands, i, &mut live, |reg, role| {
                let open = &mut open[reg.0 as usize];
                match role {
                    Role::Def => {
                        let end = if *open == 0 { point + 2 } else { *open };
                        add(&mut ranges[reg.0 as usize], point + 1, end);
                        *open = 0;
                    }
                    Role::Use => *open = point + 1,
                    Role::Mod => *open = point + 2,
                }
            });
        }
    }
    for_each_bit(live.iter().copied(), |reg| add(&mut ranges[reg], 0, open[reg]));
    for list in &mut ranges {
        list.reverse();
    }
    ranges
}

/// Adds a range that lies before all others of a list in descending order.
fn add(list: &mut Ranges, start: u32, end: u32) {
    match list.last_mut() {
        Some(last) if last.0 <= end => last.0 = start,
        _ => list.push((start, end)),
    }
}

fn for_each_bit(words: impl Iterator<Item = u64>, mut f: impl FnMut(usize)) {
    for (i, mut rest) in words.enumerate() {
        while rest != 0 {
            f(64 * i + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// Whether the spans of two lists, gaps included, share a point.
pub fn near(a: &[(u32, u32)], b: &[(u32, u32)]) -> bool {
    match (a, b) {
        ([first_a, ..], [first_b, ..]) => first_a.0 < b[b.len() - 1].1 && first_b.0 < a[a.len() - 1].1,
        _ => false,
    }
}

/// Whether two lists of ranges share a point.
pub fn overlap(a: &[(u32, u32)], b: &[(u32, u32)]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].1 <= b[j].0 {
            i += 1;
        } else if b[j].1 <= a[i].0 {
            j += 1;
        } else {
            return true;
        }
    }
    false
}

/// The union of two lists that do not overlap.
pub fn merge(a: &[(u32, u32)], b: &[(u32, u32)]) -> Ranges {
    let (mut a, mut b) = (a, b);
    let mut merged = Ranges::new();
    loop {
        let (start, end);
        ((start, end), a, b) = match (a, b) {
            ([first, rest @ ..], [other, ..]) if first < other => (*first, rest, b),
            (_, [first, rest @ ..]) => (*first, a, rest),
            ([first, rest @ ..], []) => (*first, rest, b),
            ([], []) => return merged,
        };
        match merged.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => merged.push((start, end)),
        }
    }
}

/// The part of a list inside of `[start, end)`.
pub fn clip(list: &[(u32, u32)], start: u32, end: u32) -> Ranges {
    list.iter().map(|r| (r.0.max(start), r.1.min(end))).filter(|r| r.0 < r.1).collect()
}
