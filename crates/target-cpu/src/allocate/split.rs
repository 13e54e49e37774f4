//! Splits a bundle that got no register: the value lives at home, and pieces of it in registers.
//!
//! After: every operand that named one of the bundle's registers names a piece with a short range, the home itself
//! or a constant. Loops that only read the value keep it in a register for the whole loop, loaded before the loop.
//! A home always holds the value, since every instruction that writes it stores it.

use super::assign::{Assign, Home};
use super::live::{self, Ranges};
use super::{Edit, EditKind};
use crate::isa::{Isa, Role};
use crate::mir::{Arg, Base, Class, Inst, Kind, Loop, Mem, Size, VReg};
use smallvec::{SmallVec, smallvec};

impl Assign<'_> {
    /// Gives the bundle a home; loops that only read it get a register for the whole loop, other instructions
    /// one for themselves.
    pub(super) fn split(&mut self, id: u32) {
        let bundle = &self.bundles[id as usize];
        let (vregs, within, class) = (bundle.vregs.clone(), bundle.within, bundle.class);
        let home = match bundle.home {
            Home::Unset => self.new_home(&vregs, class),
            home => home,
        };
        self.bundles[id as usize].home = home;
        for v in vregs {
            self.split_register(v, within, home);
        }
    }

    fn new_home(&mut self, vregs: &[VReg], class: Class) -> Home {
        if let [v] = vregs {
            let mut defs = self.defs(*v);
            if let (Some(def), None) = (defs.next(), defs.next())
                && self.constants[def as usize]
            {
                return Home::Constant(def);
            }
        }
        self.out.n_spills += 1;
        let size = vregs.iter().map(|v| self.mir.vregs[v.0 as usize].size).max().unwrap_or(Size::B64);
        let bytes = match (class, size) {
            (Class::Vec, Size::X) => 16,
            (Class::Vec, Size::Y) => 32,
            (Class::Vec, _) => 64,
            _ => 8,
        };
        self.mir.frame.push(bytes);
        self.out.homes.push(self.mir.frame.len() as u32 - 1);
        Home::Frame(self.out.homes.len() as u32 - 1)
    }

    /// Instructions that write a register.
    fn defs(&self, v: VReg) -> impl Iterator<Item = u32> + '_ {
        self.sites[v.0 as usize]
            .iter()
            .copied()
            .filter(move |&i| role(&self.mir.insts[i as usize], v) != Role::Use)
    }

    fn split_register(&mut self, v: VReg, within: Option<u32>, home: Home) {
        let sites = std::mem::take(&mut self.sites[v.0 as usize]);
        let defs: Vec<u32> =
            sites.iter().copied().filter(|&i| role(&self.mir.insts[i as usize], v) != Role::Use).collect();
        let mut rest = sites.as_slice();
        while let Some(&site) = rest.first() {
            match self.reading_loop(site, within, &defs) {
                Some(l) => {
                    let tail = self.loops[l as usize].tail;
                    let inside = rest.iter().take_while(|&&i| i <= tail).count();
                    self.split_into_loop(v, l, &rest[..inside], home);
                    rest = &rest[inside..];
                }
                None => {
                    self.split_into_instruction(v, site, home);
                    rest = &rest[1..];
                }
            }
        }
    }

    /// The outermost loop around `site`, inside of `within`, that has none of the definitions.
    fn reading_loop(&self, site: u32, within: Option<u32>, defs: &[u32]) -> Option<u32> {
        let mut found = None;
        let mut at = self.loop_of[site as usize];
        while let Some(l) = at
            && at != within
        {
            let Loop { head, tail, parent } = self.loops[l as usize];
            if defs.iter().any(|&d| head <= d && d <= tail) {
                break;
            }
            found = Some(l);
            at = parent;
        }
        found
    }

    fn split_into_loop(&mut self, v: VReg, l: u32, sites: &[u32], home: Home) {
        let Loop { head, tail, .. } = self.loops[l as usize];
        let piece = self.piece_of(v);
        for &site in sites {
            self.mir.insts[site as usize].rename(v, piece);
        }
        let ranges = live::clip(&self.ranges[v.0 as usize], 2 * head, 2 * tail + 2);
        self.ranges[piece.0 as usize] = ranges.clone();
        self.sites[piece.0 as usize] = sites.into();
        self.reload(2 * head, piece, home);
        self.add_bundle(ranges, smallvec![piece], home, Some(l));
    }

    fn piece_of(&mut self, v: VReg) -> VReg {
        self.mir.vregs.push(self.mir.vregs[v.0 as usize]);
        self.ranges.push(Ranges::new());
        self.sites.push(SmallVec::new());
        VReg(self.mir.vregs.len() as u32 - 1)
    }

    fn reload(&mut self, point: u32, reg: VReg, home: Home) {
        let kind = match home {
            Home::Frame(home) => EditKind::Reload { home },
            Home::Constant(inst) => EditKind::Repeat { inst },
            Home::Unset => unreachable!("invariant: split bundles have a home"),
        };
        self.out.edits.push(Edit { point, reg, kind });
    }

    fn split_into_instruction(&mut self, v: VReg, site: u32, home: Home) {
        let role = role(&self.mir.insts[site as usize], v);
        match home {
            // The constant is made where it is used.
            Home::Constant(inst) if inst == site => {
                self.out.dropped[site as usize] = true;
                return;
            }
            // A copy of a constant becomes the constant.
            Home::Constant(def) if self.mir.insts[site as usize].kind == Kind::Move => {
                let [to, _] = self.mir.insts[site as usize].args[..] else { return };
                if matches!(to, Arg::Reg(..)) {
                    let mut inst = self.mir.insts[def as usize].clone();
                    inst.args[0] = match (to, inst.args[0]) {
                        (Arg::Reg(to, _), Arg::Reg(_, size)) => Arg::Reg(to, size),
                        (to, _) => to,
                    };
                    inst.op = self.mir.insts[site as usize].op;
                    self.mir.insts[site as usize] = inst;
                    return;
                }
            }
            Home::Constant(def) if self.use_constant(v, site, def) => return,
            Home::Frame(home) if self.use_home(v, site, home) => return,
            _ => {}
        }
        let piece = self.piece_of(v);
        self.mir.insts[site as usize].rename(v, piece);
        self.sites[piece.0 as usize] = smallvec![site];
        let (read, write) = (role != Role::Def, role != Role::Use);
        let start = if read { 2 * site } else { 2 * site + 1 };
        let end = if write { 2 * site + 2 } else { 2 * site + 1 };
        if read {
            self.reload(2 * site, piece, home);
        }
        if write && let Home::Frame(home) = home {
            self.out.edits.push(Edit { point: 2 * site + 1, reg: piece, kind: EditKind::Store { home } });
        }
        self.add_minimal(piece, start, end);
    }

    /// Lets the instruction read a vector constant straight from behind the code, where its encoding allows.
    fn use_constant(&mut self, v: VReg, site: u32, def: u32) -> bool {
        let (Kind::Isa(isa, width), [Arg::Reg(..), Arg::Mem(source)]) =
            (self.mir.insts[def as usize].kind, &self.mir.insts[def as usize].args[..])
        else {
            return false;
        };
        let (Base::Pool(id), Some(place)) = (source.base, self.memory_place(v, site)) else { return false };
        let repeats =
            matches!(isa, Isa::Vpbroadcastb | Isa::Vpbroadcastw | Isa::Vpbroadcastd | Isa::Vpbroadcastq);
        if !repeats && isa != Isa::VmovupsLoad {
            return false;
        }
        let pool = &self.mir.pool;
        let wide = width.bytes() > pool[id as usize].len();
        let next = (pool.len() + self.out.repeated.len()) as u32;
        let repeated = &mut self.out.repeated;
        let id = *self.whole_constants.entry((id, width)).or_insert_with(|| {
            if !wide {
                return id;
            }
            repeated.push((id, width));
            next
        });
        self.mir.insts[site as usize].args[place] = Arg::Mem(Mem::at(Base::Pool(id)));
        true
    }

    /// The operand through which an instruction names a register, if that may be memory instead.
    fn memory_place(&self, v: VReg, site: u32) -> Option<usize> {
        let inst = &self.mir.insts[site as usize];
        let places: SmallVec<[usize; 2]> =
            (0..inst.args.len()).filter(|&i| matches!(inst.args[i], Arg::Reg(r, _) if r == v)).collect();
        let ([place], None, false) = (places.as_slice(), inst.mask, inst.has_memory()) else { return None };
        let allowed = match inst.kind {
            Kind::Move => true,
            // A comparison with an immediate has no other register operand.
            Kind::Isa(isa, _) => isa.allows_memory(*place),
            _ => false,
        };
        allowed.then_some(*place)
    }

    /// Lets the instruction name the home itself, where its encoding allows.
    fn use_home(&mut self, v: VReg, site: u32, home: u32) -> bool {
        let area = Mem::at(Base::Frame(self.out.homes[home as usize]));
        let inst = &self.mir.insts[site as usize];
        if inst.has_memory() {
            // A copy between two registers of one home.
            let same = inst.kind == Kind::Move && inst.args.contains(&Arg::Mem(area));
            if same {
                self.out.dropped[site as usize] = true;
            }
            return same;
        }
        let place = self.memory_place(v, site);
        if let Some(place) = place {
            self.mir.insts[site as usize].args[place] = Arg::Mem(area);
        }
        place.is_some()
    }
}

/// How an instruction treats a register over all its operands: reading and writing is `Mod`.
fn role(inst: &Inst, v: VReg) -> Role {
    let mut found: Option<Role> = None;
    inst.visit(|reg, role| {
        if reg == v {
            found = Some(match found {
                Some(other) if other != role => Role::Mod,
                _ => role,
            });
        }
    });
    found.unwrap_or(Role::Use)
}
