//! Splits a bundle that got no register: the value lives at home, and pieces of it in registers.
//!
//! After: every operand that named one of the bundle's registers names a piece with a short range, the home itself
//! or a constant. A loop that the value is live into or out of keeps it in a register from end to end, as long as one can be
//! had: loaded before the loop and, where the loop writes it, stored behind it. Around such loops every instruction that
//! writes a home's value stores it, so that a home holds the value wherever it is read.

use super::assign::{Assign, Bundle, Home};
use super::live::{self, Ranges};
use super::{Change, Edit, EditKind};
use crate::isa::{Isa, Role};
use crate::mir::{Arg, Base, Class, Inst, Kind, Loop, Mem, Size, VReg};
use smallvec::SmallVec;

impl Assign<'_> {
    /// Gives the bundle a home; the loops that it passes into get a register each, other instructions one for themselves.
    pub(super) fn split(&mut self, id: u32) {
        let bundle = &self.bundles[id as usize];
        let (vregs, within, class) = (bundle.vregs.clone(), bundle.within, bundle.class);
        let home = match bundle.home {
            Home::Unset => self.new_home(&vregs, class),
            home => home,
        };
        self.bundles[id as usize].home = home;
        let loops = self.passed_loops(id, within);
        for &l in &loops {
            self.split_into_loop(&vregs, l, home);
        }
        for v in vregs {
            for i in 0..self.sites.of(v).len() {
                self.split_into_instruction(v, self.sites.of(v)[i], home);
            }
        }
    }

    /// The outermost loops inside of `within` that use the bundle and past whose ends it lives.
    fn passed_loops(&self, id: u32, within: Option<u32>) -> SmallVec<[u32; 4]> {
        let Bundle { vregs, ranges, .. } = &self.bundles[id as usize];
        let (first, last) = match (ranges.first(), ranges.last()) {
            (Some(first), Some(last)) => (first.0, last.1),
            _ => return SmallVec::new(),
        };
        let mut passed = SmallVec::new();
        for &site in vregs.iter().flat_map(|v| self.sites.of(*v)) {
            let around =
                std::iter::successors(self.loop_of[site as usize], |l| self.loops[*l as usize].parent);
            let outermost = around.take_while(|l| Some(*l) != within).filter(|l| {
                let Loop { head, tail, .. } = self.loops[*l as usize];
                first < 2 * head || last > 2 * tail + 2
            });
            if let Some(l) = outermost.last()
                && !passed.contains(&l)
            {
                passed.push(l);
            }
        }
        passed
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
        self.change(Change::Area { bytes });
        self.out.homes.push(self.mir.frame.len() as u32 - 1);
        Home::Frame(self.out.homes.len() as u32 - 1)
    }

    /// Instructions that write a register.
    fn defs(&self, v: VReg) -> impl Iterator<Item = u32> + '_ {
        self.sites.of(v).iter().copied().filter(move |&i| role(&self.mir.insts[i as usize], v) != Role::Use)
    }

    /// What a loop does with the bundle's registers becomes a bundle of pieces; so does what comes before, where nothing but
    /// the loop can follow: the values that a loop's sums begin with.
    fn split_into_loop(&mut self, vregs: &[VReg], l: u32, home: Home) {
        let Loop { head, tail, .. } = self.loops[l as usize];
        let first = self.first_site(vregs).filter(|first| self.leads_to(*first, head)).unwrap_or(head);
        let (entry, exit) = (2 * first, 2 * tail + 2);
        // Nothing is loaded where the piece is stored.
        debug_assert!(
            matches!(self.mir.insts[tail as usize + 1].kind, Kind::Label { .. }),
            "a loop's exit is bound behind it"
        );
        let written = vregs.iter().any(|v| self.defs(*v).any(|def| first <= def && def <= tail));
        let mut pieces = SmallVec::new();
        let mut all = Ranges::new();
        for &v in vregs {
            let ranges = self.ranges[v.0 as usize].clone();
            let lives_at = |point: u32| ranges.iter().any(|r| r.0 <= point && point < r.1);
            let clipped = live::clip(&ranges, entry, exit);
            if clipped.is_empty() {
                continue;
            }
            let piece = self.piece_of(v);
            self.sites.hand_over(v, piece, first..=tail);
            for i in 0..self.sites.of(piece).len() {
                let inst = self.sites.of(piece)[i];
                self.change(Change::Rename { inst, from: v, to: piece });
            }
            if lives_at(entry) {
                self.reload(entry, piece, home);
            }
            if let (true, true, Home::Frame(home)) = (written, lives_at(exit), home) {
                self.out.edits.push(Edit { point: exit, reg: piece, kind: EditKind::Store { home } });
            }
            all = live::merge(&all, &clipped);
            self.ranges[piece.0 as usize] = clipped;
            pieces.push(piece);
        }
        self.add_bundle(all, pieces, home, Some(l));
    }

    /// The instruction that gives the bundle its first value, if that is known to be the first.
    fn first_site(&self, vregs: &[VReg]) -> Option<u32> {
        let start =
            vregs.iter().filter_map(|v| self.ranges[v.0 as usize].first()).map(|range| range.0).min()?;
        let first = vregs.iter().filter_map(|v| self.sites.of(*v).first()).min().copied()?;
        (start == 2 * first + 1).then_some(first)
    }

    /// Whether every path from an instruction goes straight to a later one.
    fn leads_to(&self, from: u32, to: u32) -> bool {
        let straight = |inst: &Inst| {
            !matches!(inst.kind, Kind::Label { .. } | Kind::Jump(_) | Kind::Branch(..) | Kind::Return)
        };
        from < to && self.mir.insts[from as usize..to as usize].iter().all(straight)
    }

    /// Changes the machine IR, and tells the allocation.
    fn change(&mut self, change: Change) {
        change.apply(self.mir);
        self.out.changes.push(change);
    }

    fn piece_of(&mut self, v: VReg) -> VReg {
        self.change(Change::Piece { of: v });
        self.ranges.push(Ranges::new());
        self.sites.add_register();
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
            Home::Constant(def) if self.copies_to_register(site) => {
                self.change(Change::Constant { inst: site, def });
                return;
            }
            Home::Constant(def) if self.use_constant(v, site, def) => return,
            Home::Frame(home) if self.use_home(v, site, home) => return,
            _ => {}
        }
        let piece = self.piece_of(v);
        self.change(Change::Rename { inst: site, from: v, to: piece });
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

    fn copies_to_register(&self, site: u32) -> bool {
        let inst = &self.mir.insts[site as usize];
        inst.kind == Kind::Move && matches!(inst.args[0], Arg::Reg(..))
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
        self.change(Change::Operand { inst: site, place: place as u32, base: Base::Pool(id) });
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
        let base = Base::Frame(self.out.homes[home as usize]);
        let inst = &self.mir.insts[site as usize];
        if inst.has_memory() {
            // A copy between two registers of one home.
            let same = inst.kind == Kind::Move && inst.args.contains(&Arg::Mem(Mem::at(base)));
            if same {
                self.out.dropped[site as usize] = true;
            }
            return same;
        }
        let place = self.memory_place(v, site);
        if let Some(place) = place {
            self.change(Change::Operand { inst: site, place: place as u32, base });
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
