//! Proves an allocation: follows, through the allocated code, which virtual registers each location holds.
//!
//! Method: as regalloc2's checker. The state maps a location (register or home) to the set of *original* virtual
//! registers whose value it has; at joins sets intersect; every use must find its register's value in place.
//! Nothing of the allocator's ranges or bundles is read.

use super::live::{Block, blocks};
use super::{Allocation, EditKind};
use crate::isa::Role;
use crate::mir::{Arg, Base, Class, Inst, Kind, Mem, Mir, VReg};
use smallvec::SmallVec;
use tegula_base::Diagnostic;

type Values = SmallVec<[VReg; 2]>;

/// The values of each location: 16 general, 32 vector, 8 mask registers, then frame areas.
type State = Vec<Values>;

const FIRST_OF_CLASS: [usize; 3] = [0, 16, 48];
const FIRST_AREA: usize = 56;

struct Check<'a> {
    original: &'a Mir,
    mir: &'a Mir,
    allocation: &'a Allocation,
    /// Behind the code.
    constants: Vec<Vec<u8>>,
    /// The instruction that defines each virtual register; none for one with several definitions.
    definition: Vec<Option<u32>>,
}

/// Checks that `mir` under `allocation` computes what `original` does.
/// Errors: the first use that may see another value.
pub fn check(original: &Mir, mir: &Mir, allocation: &Allocation) -> Result<(), Diagnostic> {
    let constants = super::constants(mir.pool.clone(), &allocation.repeated);
    let cx = Check { original, mir, allocation, constants, definition: only_definitions(original) };
    let blocks = blocks(original);
    let empty: State = vec![Values::new(); FIRST_AREA + mir.frame.len()];
    let mut entry: Vec<Option<State>> = vec![None; blocks.len()];
    let mut work = Vec::new();
    let is_label = |i: usize| matches!(original.insts[i].kind, Kind::Label { .. });
    if !blocks.is_empty() {
        entry[0] = Some(empty);
        work.push(0);
    }
    while let Some(b) = work.pop() {
        let Some(mut state) = entry[b].clone() else { continue };
        let Block { start, end, ref successors } = blocks[b];
        for i in start..end {
            // What stands before a label is passed by who falls through to it alone.
            if !is_label(i) {
                cx.edits(2 * i as u32, &mut state);
            }
            cx.instruction(i, &mut state)?;
            if i + 1 < end {
                cx.edits(2 * i as u32 + 1, &mut state);
            }
        }
        let mut reach = |s: usize, state: &State| {
            if meet(&mut entry[s], state) && !work.contains(&s) {
                work.push(s);
            }
        };
        let last = original.insts[end - 1].kind;
        let jumps = matches!(last, Kind::Jump(_) | Kind::Branch(..));
        if jumps {
            reach(successors[0], &state);
        }
        if let Some(&next) = successors.get(usize::from(jumps)) {
            cx.edits(2 * end as u32 - 1, &mut state);
            if is_label(end) {
                cx.edits(2 * end as u32, &mut state);
            }
            reach(next, &state);
        }
    }
    Ok(())
}

/// Intersects; true if the target changed.
fn meet(target: &mut Option<State>, state: &State) -> bool {
    let Some(target) = target else {
        *target = Some(state.clone());
        return true;
    };
    let mut changed = false;
    for (mine, other) in target.iter_mut().zip(state) {
        let before = mine.len();
        mine.retain(|v| other.contains(v));
        changed |= mine.len() != before;
    }
    changed
}

impl Check<'_> {
    fn register(&self, reg: VReg) -> usize {
        let class = self.mir.vregs[reg.0 as usize].class;
        FIRST_OF_CLASS[class as usize] + usize::from(self.allocation.register[reg.0 as usize])
    }

    fn home(&self, home: u32) -> usize {
        FIRST_AREA + self.allocation.homes[home as usize] as usize
    }

    fn edits(&self, point: u32, state: &mut State) {
        let edits = &self.allocation.edits;
        let from = edits.partition_point(|edit| edit.point < point);
        for edit in edits[from..].iter().take_while(|edit| edit.point == point) {
            let reg = self.register(edit.reg);
            match edit.kind {
                EditKind::Reload { home } => state[reg] = state[self.home(home)].clone(),
                EditKind::Store { home } => state[self.home(home)] = state[reg].clone(),
                EditKind::Repeat { inst } => {
                    state[reg] = destination(&self.original.insts[inst as usize]).into_iter().collect();
                }
            }
        }
    }

    fn instruction(&self, i: usize, state: &mut State) -> Result<(), Diagnostic> {
        let (before, after) = (&self.original.insts[i], &self.mir.insts[i]);
        if self.allocation.dropped[i] {
            if let (Kind::Move, [Arg::Reg(to, _), Arg::Reg(from, _)]) = (before.kind, &before.args[..]) {
                forget(state, *to);
                for values in state.iter_mut().filter(|values| values.contains(from)) {
                    values.push(*to);
                }
            }
            return Ok(());
        }
        self.uses(i, before, after, state)?;
        self.clobber(before.kind, state);
        if let (Kind::Move, [Arg::Reg(to, _), Arg::Reg(from, _)]) = (before.kind, &before.args[..]) {
            let mut values = match after.kind {
                Kind::Move => state[self.location(after.args[1])].clone(),
                // The copied constant, made again.
                _ => Values::from_slice(&[*from]),
            };
            forget(state, *to);
            values.retain(|v| *v != *to);
            values.push(*to);
            state[self.location(after.args[0])] = values;
            return Ok(());
        }
        let mut defs: SmallVec<[(VReg, VReg); 2]> = SmallVec::new();
        pairs(before, after, |v, arg, role| {
            if let (true, Arg::Reg(reg, _)) = (role != Role::Use, arg) {
                defs.push((v, reg));
            }
        });
        for (v, reg) in defs {
            forget(state, v);
            state[self.register(reg)] = Values::from_slice(&[v]);
        }
        Ok(())
    }

    fn uses(&self, i: usize, before: &Inst, after: &Inst, state: &State) -> Result<(), Diagnostic> {
        let mut wrong = None;
        let holds = |arg, v| state.get(self.location(arg)).is_some_and(|values| values.contains(&v));
        // A constant in place of a copy reads nothing.
        if before.kind == after.kind {
            pairs(before, after, |v, arg, role| {
                if role != Role::Def && !self.is_constant(v, arg) && !holds(arg, v) {
                    wrong = Some((v, arg));
                }
            });
        }
        match wrong {
            None => Ok(()),
            Some((v, arg)) => Err(Diagnostic::internal(format!(
                "register allocation: instruction {i} {:?} reads v{} from {arg:?}, which may hold another value",
                before.kind, v.0
            ))),
        }
    }

    /// Whether an operand behind the code holds what the only definition of `v` loads or repeats.
    fn is_constant(&self, v: VReg, arg: Arg) -> bool {
        let Arg::Mem(Mem { base: Base::Pool(now), .. }) = arg else { return false };
        let Some(def) = self.definition[v.0 as usize] else { return false };
        let def = &self.original.insts[def as usize];
        match def.args[..] {
            [_, Arg::Mem(Mem { base: Base::Pool(was), .. })] if def.is_constant() => {
                let (was, now) = (&self.original.pool[was as usize], &self.constants[now as usize]);
                now.chunks(was.len()).all(|part| part == was.as_slice())
            }
            _ => false,
        }
    }

    fn location(&self, arg: Arg) -> usize {
        match arg {
            Arg::Reg(reg, _) => self.register(reg),
            Arg::Mem(Mem { base: Base::Frame(area), .. }) => FIRST_AREA + area as usize,
            Arg::Mem(_) | Arg::Imm(_) => usize::MAX,
        }
    }

    fn clobber(&self, kind: Kind, state: &mut State) {
        let clobbered: &[usize] = match kind {
            Kind::Divide { .. } => &[0, 2],
            Kind::Call { .. } => &[0, 1, 2, 6, 7, 8, 9, 10, 11],
            _ => &[],
        };
        for &register in clobbered {
            state[register].clear();
        }
        if matches!(kind, Kind::Call { .. }) {
            state[FIRST_OF_CLASS[Class::Vec as usize]..FIRST_AREA]
                .iter_mut()
                .for_each(|values| values.clear());
        }
    }
}

fn only_definitions(original: &Mir) -> Vec<Option<u32>> {
    let mut count = vec![0; original.vregs.len()];
    let mut definition = vec![None; original.vregs.len()];
    for (i, inst) in original.insts.iter().enumerate() {
        if let Some(v) = destination(inst).filter(|_| inst.role(0) != Role::Use) {
            count[v.0 as usize] += 1;
            definition[v.0 as usize] = (count[v.0 as usize] == 1).then_some(i as u32);
        }
    }
    definition
}

fn destination(inst: &Inst) -> Option<VReg> {
    match inst.args.first() {
        Some(Arg::Reg(reg, _)) => Some(*reg),
        _ => None,
    }
}

fn forget(state: &mut State, v: VReg) {
    for values in state.iter_mut() {
        values.retain(|other| *other != v);
    }
}

/// Every register of the original with the operand that stands for it now.
fn pairs(before: &Inst, after: &Inst, mut f: impl FnMut(VReg, Arg, Role)) {
    for (i, arg) in before.args.iter().enumerate() {
        match (*arg, after.args[i]) {
            (Arg::Reg(v, _), now) => f(v, now, before.role(i)),
            (Arg::Mem(was), Arg::Mem(now)) => {
                if let (Base::Reg(v), Base::Reg(reg)) = (was.base, now.base) {
                    f(v, Arg::Reg(reg, crate::mir::Size::B64), Role::Use);
                }
                if let (Some((v, _)), Some((reg, size))) = (was.index, now.index) {
                    f(v, Arg::Reg(reg, size), Role::Use);
                }
            }
            _ => {}
        }
    }
    if let (Some((v, _)), Some((reg, _))) = (before.mask, after.mask) {
        f(v, Arg::Reg(reg, crate::mir::Size::K), before.mask_role());
    }
}

#[cfg(test)]
mod tests {
    use crate::allocate::{EditKind, assign, live};
    use crate::mir::{Arg, Base, Mem, Mir};
    use crate::schedule::builder::At;
    use crate::schedule::{Builder, CpuFunc, LoopLevel, VecOp};
    use crate::tier::Tier;
    use tegula_base::DType;

    /// Twenty carried sums: more than AVX2 has registers.
    fn crowded() -> CpuFunc {
        let mut b = Builder::new("crowded");
        let (lo, hi, x) = (b.index(0), b.arg(1), b.arg(2));
        let inits: Vec<_> = (0..20).map(|i| b.f32(8, i as f32)).collect();
        let sums = b.for_(lo, hi, 1, LoopLevel::L1, &inits, |b, i, sums| {
            let v = b.load_at(DType::F32, 8, At::new(x).indexed(i, 4));
            sums.iter().map(|s| b.vec(VecOp::Fma, &[v, *s, *s])).collect()
        });
        for (i, sum) in sums.into_iter().enumerate() {
            b.store(DType::F32, sum, x, 32 * i as i64);
        }
        b.finish()
    }

    /// Ten sums, and an epilogue that has many short values beside those that wait.
    fn crowded_behind() -> CpuFunc {
        let mut b = Builder::new("crowded_behind");
        let (lo, hi, x) = (b.index(0), b.index(64), b.arg(2));
        let inits: Vec<_> = (0..10).map(|_| b.f32(8, 0.0)).collect();
        let sums = b.for_(lo, hi, 1, LoopLevel::L1, &inits, |b, i, sums| {
            let v = b.load_at(DType::F32, 8, At::new(x).indexed(i, 4));
            sums.iter().map(|s| b.vec(VecOp::Fma, &[v, v, *s])).collect()
        });
        for (i, sum) in sums.into_iter().enumerate() {
            let parts: Vec<_> =
                (0..10).map(|part| b.load(DType::F32, 8, x, 32 * (10 * i as i64 + part))).collect();
            let squares: Vec<_> = parts.iter().map(|part| b.vec(VecOp::Fma, &[*part, *part, sum])).collect();
            let all = squares.iter().zip(&parts).fold(sum, |all, (a, c)| b.vec(VecOp::Fma, &[*a, *c, all]));
            b.store(DType::F32, all, x, 32 * i as i64);
        }
        b.finish()
    }

    #[test]
    fn what_follows_a_loop_takes_no_register_from_its_sums() {
        let mut mir: Mir = crate::select::select(&crowded_behind(), Tier::Avx2.into()).expect("selects");
        let original = mir.clone();
        let operands = live::Operands::new(&mir);
        let liveness = live::Liveness::compute(&mir, &operands);
        let allocation = assign::assign(&mut mir, &operands, liveness, Tier::Avx2).expect("allocates");
        super::check(&original, &mir, &allocation).expect("a right allocation passes");
        assert!(allocation.n_spills > 0, "the epilogue is crowded");
        let (head, tail) = (mir.loops[0].head, mir.loops[0].tail);
        let within =
            allocation.edits.iter().filter(|edit| edit.point > 2 * head && edit.point < 2 * tail + 2);
        assert_eq!(within.count(), 0);
        let in_memory = |inst: &crate::mir::Inst| {
            inst.args.iter().any(|arg| matches!(arg, Arg::Mem(Mem { base: Base::Frame(_), .. })))
        };
        assert!(!mir.insts[head as usize..=tail as usize].iter().any(in_memory));
    }

    #[test]
    fn finds_a_wrong_register_or_home() {
        let original: Mir = crate::select::select(&crowded(), Tier::Avx2.into()).expect("selects");
        let mut mir = original.clone();
        let operands = live::Operands::new(&mir);
        let liveness = live::Liveness::compute(&mir, &operands);
        let ranges = liveness.ranges.clone();
        let good = assign::assign(&mut mir, &operands, liveness, Tier::Avx2).expect("allocates");
        assert!(good.n_spills > 0);
        super::check(&original, &mir, &good).expect("a right allocation passes");

        // Two values that live at once in one register: the one written later destroys the other.
        let registers = |v: usize| (good.register[v] != u8::MAX).then_some(good.register[v]);
        let mut tried = 0;
        for v in (0..original.vregs.len()).filter(|v| registers(*v).is_some()) {
            for w in (0..v).filter(|w| registers(*w).is_some()) {
                let apart = registers(v) == registers(w)
                    || original.vregs[v].class != original.vregs[w].class
                    || !live::overlap(&ranges[v], &ranges[w]);
                if !apart {
                    let mut bad = good.clone();
                    bad.register[v] = bad.register[w];
                    tried += 1;
                    let found = super::check(&original, &mir, &bad).is_err();
                    assert!(found, "v{v} in the register of v{w} is found");
                }
            }
        }
        assert!(tried > 50, "{tried} pairs live at once");
        // A reload may find its value still in the register.
        let reloads = |i: &usize| matches!(good.edits[*i].kind, EditKind::Reload { .. });
        let all: Vec<usize> = (0..good.edits.len()).filter(reloads).collect();
        let missed = all.iter().filter(|i| {
            let mut bad = good.clone();
            bad.edits.remove(**i);
            super::check(&original, &mir, &bad).is_ok()
        });
        assert!(missed.count() * 4 < all.len(), "the loss of a reload is found");
    }
}
