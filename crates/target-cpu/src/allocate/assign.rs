//! Gives bundles of live ranges their registers, splitting what does not fit.
//!
//! Invariant: `taken[class][point]` has the bit of a register exactly where an assigned bundle (or a fixed use)
//! holds it. So one pass over a bundle's points tells which registers are free for it.

use super::live::{self, Liveness, Operands, Ranges};
use super::sites::Sites;
use super::{Allocation, registers};
use crate::isa::Width;
use crate::mir::{Arg, Class, Inst, Kind, Loop, Mir, VReg};
use crate::tier::Tier;
use smallvec::{SmallVec, smallvec};
use std::collections::BinaryHeap;
use tegula_base::{Diagnostic, HashMap};

/// What a use weighs at each depth of loops: in a loop eight times those around it, as far as that is told apart.
const WEIGHTS: [f32; 256] = {
    let mut weights = [1.0; 256];
    let mut depth = 1;
    while depth < weights.len() {
        weights[depth] = if depth < 9 { 8.0 * weights[depth - 1] } else { weights[depth - 1] };
        depth += 1;
    }
    weights
};

/// What a use of a vector constant weighs next to one of a value that would be stored and loaded again: most instructions
/// read it from behind the code as they read a register.
const CONSTANT_WEIGHT: f32 = 0.25;

/// Room is taken at once for a bundle of each register, and for one more of every so many: few are split.
const SPLITS_OF_VREGS: usize = 4;

/// Registers that the ABI lets a callee destroy, of each class.
const CALL_CLOBBERS: [u32; 3] = [0b1111_1100_0111 & !(1 << 3), u32::MAX, u32::MAX];
/// rax and rdx.
const DIVIDE_CLOBBERS: u32 = 0b101;
const RSP: u8 = 4;

pub(super) struct Bundle {
    pub(super) class: Class,
    pub(super) ranges: Ranges,
    pub(super) vregs: SmallVec<[VReg; 2]>,
    pub(super) weight: f32,
    pub(super) register: Option<u8>,
    pub(super) hint: Option<u8>,
    pub(super) home: Home,
    /// The loop that the bundle is confined to by a split.
    pub(super) within: Option<u32>,
}

impl Bundle {
    fn new(class: Class, ranges: Ranges, vregs: SmallVec<[VReg; 2]>) -> Bundle {
        let (home, weight) = (Home::Unset, 0.0);
        Bundle { class, ranges, vregs, weight, register: None, hint: None, home, within: None }
    }
}

/// Where the value is when it is in no register.
#[derive(Clone, Copy)]
pub(super) enum Home {
    Unset,
    Frame(u32),
    Constant(u32),
}

pub(super) struct Assign<'a> {
    pub(super) mir: &'a mut Mir,
    /// Those that may be given, of each class: the preferred first, and as bits.
    registers: [(&'static [u8], u32); 3],
    pub(super) loops: Vec<Loop>,
    /// Innermost loop of each instruction.
    pub(super) loop_of: Vec<Option<u32>>,
    pub(super) depth: Vec<u8>,
    /// Instructions that make a constant; later ones that only come to read constants are not among them.
    pub(super) constants: Vec<bool>,
    /// Constants of one element that stand behind the code as whole registers too.
    pub(super) whole_constants: HashMap<(u32, Width), u32>,
    /// Live ranges of each virtual register, splits included.
    pub(super) ranges: Vec<Ranges>,
    pub(super) sites: Sites,
    pub(super) bundles: Vec<Bundle>,
    pub(super) taken: [Vec<u32>; 3],
    /// Points `[start, end)` where instructions need registers for themselves.
    pub(super) fixed: [Vec<(u32, u32, u32)>; 3],
    /// Bundles that hold each register.
    pub(super) holders: [Vec<Vec<u32>>; 3],
    pub(super) queue: BinaryHeap<(u32, u32)>,
    pub(super) out: Allocation,
}

/// Runs the allocator.
pub fn assign(
    mir: &mut Mir,
    operands: &Operands,
    liveness: Liveness,
    tier: Tier,
) -> Result<Allocation, Diagnostic> {
    let mut cx = Assign::new(mir, operands, liveness, tier);
    cx.fix_registers();
    cx.form_bundles();
    while let Some((_, bundle)) = cx.queue.pop() {
        cx.place(bundle)?;
    }
    Ok(cx.finish())
}

impl<'a> Assign<'a> {
    fn new(mir: &'a mut Mir, operands: &Operands, liveness: Liveness, tier: Tier) -> Assign<'a> {
        let n = mir.insts.len();
        let n_bundles = mir.vregs.len() + mir.vregs.len() / SPLITS_OF_VREGS;
        let mut loop_of = vec![None; n];
        let mut depth = vec![0; n];
        // Loops are listed outer before inner.
        for (id, l) in mir.loops.iter().enumerate() {
            for i in l.head as usize..=l.tail as usize {
                loop_of[i] = Some(id as u32);
                depth[i] += 1;
            }
        }
        let sites = Sites::new(mir.vregs.len(), operands, &liveness.dead);
        let points = 2 * n;
        Assign {
            registers: [Class::Gpr, Class::Vec, Class::Mask].map(|class| {
                let all = registers(class, tier);
                (all, all.iter().fold(0, |bits, register| bits | 1 << register))
            }),
            loops: mir.loops.clone(),
            loop_of,
            depth,
            constants: mir.insts.iter().map(Inst::is_constant).collect(),
            whole_constants: HashMap::default(),
            ranges: liveness.ranges,
            sites,
            bundles: Vec::with_capacity(n_bundles),
            taken: [vec![0; points], vec![0; points], vec![0; points]],
            fixed: [const { Vec::new() }; 3],
            holders: [vec![Vec::new(); 16], vec![Vec::new(); 32], vec![Vec::new(); 8]],
            queue: BinaryHeap::with_capacity(n_bundles),
            out: Allocation { dropped: liveness.dead, ..Allocation::default() },
            mir,
        }
    }

    /// Marks the points where instructions need particular registers.
    fn fix_registers(&mut self) {
        for i in 0..self.mir.insts.len() {
            let here = (2 * i as u32, 2 * i as u32 + 2);
            match self.mir.insts[i].kind {
                Kind::Entry(register) => self.fix(Class::Gpr, 0, here.0 + 1, 1 << register),
                Kind::Divide { .. } => self.fix(Class::Gpr, here.0, here.1, DIVIDE_CLOBBERS),
                Kind::Call { .. } => {
                    for (class, clobbers) in
                        [Class::Gpr, Class::Vec, Class::Mask].into_iter().zip(CALL_CLOBBERS)
                    {
                        self.fix(class, here.0, here.1, clobbers);
                    }
                }
                _ => {}
            }
        }
    }

    fn fix(&mut self, class: Class, start: u32, end: u32, registers: u32) {
        let points = &mut self.taken[class as usize][start as usize..end as usize];
        points.iter_mut().for_each(|bits| *bits |= registers);
        self.fixed[class as usize].push((start, end, registers));
    }

    // --- bundles ---------------------------------------------------------------------------------------

    fn form_bundles(&mut self) {
        let n = self.mir.vregs.len();
        let mut bundle_of: Vec<u32> = (0..n as u32).collect();
        for (v, ranges) in self.ranges.iter().enumerate() {
            let (class, vregs) = (self.mir.vregs[v].class, smallvec![VReg(v as u32)]);
            self.bundles.push(Bundle::new(class, Ranges::from_slice(ranges), vregs));
        }
        let mut moves: Vec<(u8, u32)> = Vec::new();
        for (i, inst) in self.mir.insts.iter().enumerate() {
            if inst.kind == Kind::Move && !self.out.dropped[i] {
                moves.push((self.depth[i], i as u32));
            }
        }
        moves.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        for (_, i) in moves {
            let [Arg::Reg(to, _), Arg::Reg(from, _)] = self.mir.insts[i as usize].args[..] else { continue };
            let (a, b) = (bundle_of[to.0 as usize] as usize, bundle_of[from.0 as usize] as usize);
            if a == b || live::overlap(&self.bundles[a].ranges, &self.bundles[b].ranges) {
                continue;
            }
            let joined = &mut self.bundles[b];
            let (ranges, vregs) = (std::mem::take(&mut joined.ranges), std::mem::take(&mut joined.vregs));
            vregs.iter().for_each(|v| bundle_of[v.0 as usize] = a as u32);
            let bundle = &mut self.bundles[a];
            bundle.ranges = live::merge(&bundle.ranges, &ranges);
            bundle.vregs.extend(vregs);
        }
        for id in 0..n {
            if !self.bundles[id].ranges.is_empty() {
                self.enqueue(id);
            }
        }
    }

    pub(super) fn add_bundle(
        &mut self,
        ranges: Ranges,
        vregs: SmallVec<[VReg; 2]>,
        home: Home,
        within: Option<u32>,
    ) {
        let class = self.mir.vregs[vregs[0].0 as usize].class;
        self.bundles.push(Bundle { home, within, ..Bundle::new(class, ranges, vregs) });
        self.enqueue(self.bundles.len() - 1);
    }

    /// Weighs a bundle, which then waits for a register.
    fn enqueue(&mut self, id: usize) {
        let Bundle { class, ref ranges, ref vregs, home, .. } = self.bundles[id];
        let length: u32 = ranges.iter().map(|r| r.1 - r.0).sum();
        let mut uses = 0.0;
        let mut hint = None;
        for v in vregs {
            let sites = self.sites.of(*v);
            sites.iter().for_each(|site| uses += WEIGHTS[usize::from(self.depth[*site as usize])]);
            // Nothing comes before the entry.
            if let Some(Kind::Entry(register)) = sites.first().map(|site| self.mir.insts[*site as usize].kind)
            {
                hint = Some(register);
            }
        }
        if class == Class::Vec && (matches!(home, Home::Constant(_)) || self.is_constant(vregs)) {
            uses *= CONSTANT_WEIGHT;
        }
        // What enters in a register stays there if it can.
        let priority = if hint.is_some() { u32::MAX } else { length };
        let bundle = &mut self.bundles[id];
        (bundle.weight, bundle.hint) = (uses / length as f32, hint);
        self.queue.push((priority, id as u32));
    }

    /// Whether a bundle is one constant, unsplit.
    fn is_constant(&self, vregs: &[VReg]) -> bool {
        let [v] = vregs else { return false };
        self.sites.of(*v).first().is_some_and(|&site| {
            self.constants[site as usize]
                && matches!(self.mir.insts[site as usize].args[0], Arg::Reg(r, _) if r == *v)
        })
    }

    /// A bundle of one instruction, which must get a register.
    pub(super) fn add_minimal(&mut self, reg: VReg, start: u32, end: u32) {
        self.ranges[reg.0 as usize] = smallvec![(start, end)];
        let class = self.mir.vregs[reg.0 as usize].class;
        let bundle = Bundle::new(class, smallvec![(start, end)], smallvec![reg]);
        self.bundles.push(Bundle { weight: f32::INFINITY, ..bundle });
        self.queue.push((0, self.bundles.len() as u32 - 1));
    }

    // --- placing ---------------------------------------------------------------------------------------

    fn place(&mut self, id: u32) -> Result<(), Diagnostic> {
        let bundle = &self.bundles[id as usize];
        let busy = self.busy(bundle);
        let (choices, _) = self.registers[bundle.class as usize];
        let hint = bundle.hint.filter(|hint| busy >> hint & 1 == 0 && *hint != RSP);
        let free = hint.or_else(|| choices.iter().copied().find(|r| busy >> r & 1 == 0));
        if let Some(register) = free {
            self.take(id, register);
            return Ok(());
        }
        match self.cheapest_eviction(id) {
            Some((register, victims)) => {
                for victim in victims {
                    self.release(victim);
                    let length = self.bundles[victim as usize].ranges.iter().map(|r| r.1 - r.0).sum();
                    self.queue.push((length, victim));
                }
                self.take(id, register);
                Ok(())
            }
            None if self.bundles[id as usize].weight.is_infinite() => Err(Diagnostic::internal(format!(
                "register allocation: one instruction needs more {:?} registers than there are",
                self.bundles[id as usize].class
            ))),
            None => {
                self.split(id);
                Ok(())
            }
        }
    }

    /// Registers that are held somewhere in a bundle's ranges; looks no further once all are.
    fn busy(&self, bundle: &Bundle) -> u32 {
        const STEP: usize = 128;
        let (_, all) = self.registers[bundle.class as usize];
        let taken = &self.taken[bundle.class as usize];
        let mut busy = 0;
        for &(start, end) in &bundle.ranges {
            for points in taken[start as usize..end as usize].chunks(STEP) {
                busy = points.iter().fold(busy, |busy, bits| busy | bits);
                if busy & all == all {
                    return busy;
                }
            }
        }
        busy
    }

    /// The register whose holders weigh least, if all weigh less than the bundle.
    fn cheapest_eviction(&self, id: u32) -> Option<(u8, Vec<u32>)> {
        let bundle = &self.bundles[id as usize];
        let class = bundle.class as usize;
        let fixed = self.fixed[class]
            .iter()
            .filter(|(from, to, _)| live::overlap(&bundle.ranges, &[(*from, *to)]))
            .fold(0, |all, (.., bits)| all | bits);
        // Victims must weigh less than this.
        let mut limit = bundle.weight;
        let mut best = None;
        for &register in self.registers[class].0.iter().filter(|r| fixed >> **r & 1 == 0) {
            if let Some((weight, victims)) = self.victims(bundle, class, register, limit) {
                limit = weight;
                best = Some((register, victims));
            }
        }
        best
    }

    /// The bundles that keep a register from `bundle`, and the largest of their weights; none if that reaches `limit`.
    fn victims(&self, bundle: &Bundle, class: usize, register: u8, limit: f32) -> Option<(f32, Vec<u32>)> {
        let (mut most, mut victims) = (0.0f32, Vec::new());
        for &holder in &self.holders[class][register as usize] {
            let other = &self.bundles[holder as usize];
            if live::near(&other.ranges, &bundle.ranges) && live::overlap(&other.ranges, &bundle.ranges) {
                if other.weight >= limit {
                    return None;
                }
                most = most.max(other.weight);
                victims.push(holder);
            }
        }
        Some((most, victims))
    }

    fn take(&mut self, id: u32, register: u8) {
        let bundle = &mut self.bundles[id as usize];
        bundle.register = Some(register);
        let class = bundle.class as usize;
        for &(start, end) in &bundle.ranges {
            self.taken[class][start as usize..end as usize]
                .iter_mut()
                .for_each(|bits| *bits |= 1 << register);
        }
        self.holders[class][register as usize].push(id);
    }

    fn release(&mut self, id: u32) {
        let bundle = &mut self.bundles[id as usize];
        let Some(register) = bundle.register.take() else { return };
        let class = bundle.class as usize;
        for &(start, end) in &bundle.ranges {
            let points = &mut self.taken[class][start as usize..end as usize];
            points.iter_mut().for_each(|bits| *bits &= !(1 << register));
        }
        self.holders[class][register as usize].retain(|&holder| holder != id);
    }

    fn finish(mut self) -> Allocation {
        self.out.register = vec![u8::MAX; self.mir.vregs.len()];
        for bundle in &self.bundles {
            if let Some(register) = bundle.register {
                for v in &bundle.vregs {
                    self.out.register[v.0 as usize] = register;
                }
            }
        }
        // A piece that was split again needs no reload of its own.
        let register = &self.out.register;
        self.out.edits.retain(|edit| register[edit.reg.0 as usize] != u8::MAX);
        self.out.edits.sort_by_key(|edit| edit.point);
        self.out
    }
}
