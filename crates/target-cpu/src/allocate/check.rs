//! Proves an allocation: follows, through the allocated code, which virtual registers each location holds.
//!
//! Method: as regalloc2's checker. The state maps a location (register or home) to the set of *original* virtual
//! registers whose value it has; at joins sets intersect; every use must find its register's value in place.
//! Nothing of the allocator's ranges or bundles is read.

use super::live::blocks;
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
}

/// Checks that `mir` under `allocation` computes what `original` does.
/// Errors: the first use that may see another value.
pub fn check(original: &Mir, mir: &Mir, allocation: &Allocation) -> Result<(), Diagnostic> {
    let cx = Check { original, mir, allocation };
    let blocks = blocks(original);
    let empty: State = vec![Values::new(); FIRST_AREA + mir.frame.len()];
    let mut entry: Vec<Option<State>> = vec![None; blocks.len()];
    let mut work = Vec::new();
    if !blocks.is_empty() {
        entry[0] = Some(empty);
        work.push(0);
    }
    while let Some(b) = work.pop() {
        let Some(mut state) = entry[b].clone() else { continue };
        for i in blocks[b].start..blocks[b].end {
            cx.edits(2 * i as u32, &mut state);
            cx.instruction(i, &mut state)?;
            cx.edits(2 * i as u32 + 1, &mut state);
        }
        for &s in &blocks[b].successors {
            if meet(&mut entry[s], &state) && !work.contains(&s) {
                work.push(s);
            }
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
        // A constant in place of a copy reads nothing.
        if before.kind == after.kind {
            pairs(before, after, |v, arg, role| {
                if role != Role::Def && !state[self.location(arg)].contains(&v) {
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
            state[FIRST_OF_CLASS[Class::Vec as usize]..FIRST_AREA].iter_mut().for_each(|values| values.clear());
        }
    }
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
