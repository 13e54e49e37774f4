//! What must hold of a module before it is printed or run: registers declared and of the right class, lists of the
//! right length, immediates within their width, names that exist, and each instruction's own rules.

use tegula_base::{Diagnostic, Diagnostics};

use crate::form::{Access, Place, Visitor};
use crate::key::Key;
use crate::module::{Block, BlockId, Entry, Inst, Module};
use crate::op::Op;
use crate::operand::{Address, Base, Operand, OperandList, Predicate, RegList};
use crate::print::print_inst;
use crate::reg::{Reg, RegClass};
use crate::target::{Needs, Target, Version};
use crate::types::Scalar;

impl Module {
    /// Errors: `ptx-invalid`, each fault of each entry.
    pub fn verify(&self) -> Result<(), Diagnostics> {
        let mut faults = Diagnostics::default();
        let mut names: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
        names.sort_unstable();
        for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
            faults.push(Diagnostic::error("ptx-invalid", format!("two entries are called `{}`", pair[0])));
        }
        for entry in &self.entries {
            verify_entry(entry, self.target, &mut faults);
        }
        faults.into_result(())
    }

    /// The lowest version of the language that has the target and all instructions.
    pub fn version(&self) -> Version {
        let entries = self.entries.iter().map(|entry| entry.needs().version);
        entries.fold(self.target.version(), Version::max)
    }
}

impl Entry {
    /// The least version and target that have all its instructions and directives.
    pub fn needs(&self) -> Needs {
        let cluster = Needs::new(Target::Sm90, 7, 8).when(self.directives.cluster.is_some());
        self.insts().fold(cluster, |needs, inst| needs.max(inst.op.needs()))
    }
}

fn verify_entry(entry: &Entry, target: Target, faults: &mut Diagnostics) {
    let mut fault = |message: String| {
        faults.push(Diagnostic::error("ptx-invalid", message).at(format!("entry `{}`", entry.name)));
    };
    let declared = entry.params.iter().map(|param| &param.name);
    let mut names: Vec<&String> = declared.chain(entry.shared.iter().map(|shared| &shared.name)).collect();
    names.push(&entry.name);
    for name in names.iter().filter(|name| !is_name(name)) {
        fault(format!("`{name}` is no name"));
    }
    names.sort_unstable();
    for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
        fault(format!("`{}` is declared twice", pair[0]));
    }
    let aligns = entry.params.iter().map(|param| param.ty.align());
    for align in aligns.chain(entry.shared.iter().map(|shared| shared.align)) {
        if !align.is_power_of_two() {
            fault(format!("{align} is no alignment"));
        }
    }
    if entry.directives.cluster.is_some() && target < Target::Sm90 {
        fault(format!("clusters need sm_90, the module is for {}", target.text()));
    }
    for (i, block) in entry.blocks.iter().enumerate() {
        if !block.name.chars().all(is_name_char) {
            fault(format!("`{}` is no name of a block", block.name));
        }
        if branches_inside(block) {
            fault(format!("block {} goes on after a branch", BlockId(i as u32)));
        }
        for inst in &block.insts {
            if let Err(message) = verify_inst(entry, target, inst) {
                fault(message);
            }
        }
    }
}

fn branches_inside(block: &Block) -> bool {
    let is_branch = |inst: &Inst| matches!(inst.op, Op::Bra(_));
    block
        .insts
        .windows(2)
        .any(|pair| is_branch(&pair[0]) && !(is_branch(&pair[1]) && pair[0].guard.is_some()))
}

/// What variables and entries may be called.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Errors: the first fault, with the instruction's text where it has one.
pub(crate) fn verify_inst(entry: &Entry, target: Target, inst: &Inst) -> Result<(), String> {
    let mut checker = Checker { entry, fault: None };
    if let Some(mut guard) = inst.guard {
        checker.predicate(&mut guard);
    }
    inst.op.clone().form(&mut checker);
    if let Some(fault) = checker.fault {
        // Names that do not exist have no text.
        return Err(format!("`{}`: {fault}", inst.op.mnemonic()));
    }
    let rule = |message: &str| format!("`{}`: {message}", print_inst(entry, inst));
    inst.op.check().map_err(rule)?;
    let needs = inst.op.needs();
    if needs.target > target {
        return Err(rule(&format!("needs {}, the module is for {}", needs.target.text(), target.text())));
    }
    Ok(())
}

/// Remembers the first fault.
struct Checker<'a> {
    entry: &'a Entry,
    fault: Option<String>,
}

impl Checker<'_> {
    fn hold(&mut self, holds: bool, fault: impl FnOnce() -> String) -> &mut Self {
        if !holds && self.fault.is_none() {
            self.fault = Some(fault());
        }
        self
    }

    fn class(&mut self, reg: Reg, classes: &[RegClass]) -> &mut Self {
        let entry = self.entry;
        self.hold(classes.contains(&reg.class()), || {
            let wanted: Vec<String> = classes.iter().map(|class| class.bits().to_string()).collect();
            format!("{reg} has {} bits, {} are needed", reg.class().bits(), wanted.join(" or "))
        });
        self.hold(entry.registers.contains(reg), || format!("{reg} is not declared"))
    }

    fn typed(&mut self, reg: Reg, ty: Scalar) -> &mut Self {
        self.class(reg, &[ty.class()])
    }

    fn length(&mut self, found: usize, wanted: usize) -> &mut Self {
        self.hold(found == wanted, || format!("a list has {found} operands, {wanted} are needed"))
    }

    fn exists(&mut self, base: Base) -> &mut Self {
        let entry = self.entry;
        let exists = match base {
            Base::Reg(_) => true,
            Base::Shared(id) => (id.0 as usize) < entry.shared.len(),
            Base::Param(id) => (id.0 as usize) < entry.params.len(),
        };
        self.hold(exists, || "an address names a variable that is not declared".to_string())
    }
}

impl Visitor for Checker<'_> {
    fn word(&mut self, _: &'static str) -> &mut Self {
        self
    }

    fn key<K: Key>(&mut self, _: &mut K) -> &mut Self {
        self
    }

    fn opt_key<K: Key>(&mut self, key: &mut Option<K>) -> &mut Self {
        self.hold(key.is_none_or(|key| !key.text().is_empty()), || {
            "a modifier is there and unwritten".to_string()
        })
    }

    fn flag(&mut self, _: &mut bool, _: &'static str) -> &mut Self {
        self
    }

    fn presence<T: Default>(&mut self, _: &mut Option<T>, _: &'static str) -> &mut Self {
        self
    }

    fn count(&mut self, list: &mut RegList, words: &'static [(usize, &'static str)]) -> &mut Self {
        let found = list.len();
        self.hold(words.iter().any(|(count, _)| *count == found), || {
            let counts: Vec<String> = words.iter().map(|(count, _)| count.to_string()).collect();
            format!("a list has {found} registers, {} are possible", counts.join(", "))
        })
    }

    fn reg(&mut self, reg: &mut Reg, ty: Scalar, _: Access) -> &mut Self {
        self.typed(*reg, ty)
    }

    fn operand(&mut self, operand: &mut Operand, ty: Scalar) -> &mut Self {
        match *operand {
            Operand::Reg(reg) => self.typed(reg, ty),
            Operand::Imm(bits) => {
                self.hold(ty.has_immediates(), || format!("{} has no immediates", ty.text()));
                self.hold(ty.bits() == 64 || bits >> ty.bits() == 0, || {
                    format!("the immediate {bits:#x} has more than {} bits", ty.bits())
                })
            }
        }
    }

    fn opt_operand(&mut self, operand: &mut Option<Operand>, ty: Scalar) -> &mut Self {
        match operand {
            Some(operand) => self.operand(operand, ty),
            None => self,
        }
    }

    fn predicate(&mut self, predicate: &mut Predicate) -> &mut Self {
        self.typed(predicate.reg, Scalar::Pred)
    }

    fn opt_predicate(&mut self, predicate: &mut Option<Predicate>) -> &mut Self {
        match predicate {
            Some(predicate) => self.predicate(predicate),
            None => self,
        }
    }

    fn reg_and_predicate(&mut self, reg: &mut Reg, ty: Scalar, predicate: &mut Option<Reg>) -> &mut Self {
        self.typed(*reg, ty);
        match predicate {
            Some(predicate) => self.typed(*predicate, Scalar::Pred),
            None => self,
        }
    }

    fn sink_and_predicate(&mut self, reg: &mut Option<Reg>, ty: Scalar, predicate: &mut Reg) -> &mut Self {
        self.sink(reg, ty).typed(*predicate, Scalar::Pred)
    }

    fn sink(&mut self, reg: &mut Option<Reg>, ty: Scalar) -> &mut Self {
        match reg {
            Some(reg) => self.typed(*reg, ty),
            None => self,
        }
    }

    fn regs(&mut self, regs: &mut RegList, count: usize, ty: Scalar, access: Access) -> &mut Self {
        self.length(regs.len(), count);
        for (i, reg) in regs.iter().enumerate() {
            self.typed(*reg, ty);
            let again = access != Access::Read && regs[..i].contains(reg);
            self.hold(!again, || format!("{reg} is written twice"));
        }
        self
    }

    fn vector(&mut self, regs: &mut RegList, count: usize, ty: Scalar, access: Access) -> &mut Self {
        self.regs(regs, count, ty, access)
    }

    fn operands(&mut self, operands: &mut OperandList, count: usize, ty: Scalar) -> &mut Self {
        self.length(operands.len(), count);
        for operand in operands {
            self.operand(operand, ty);
        }
        self
    }

    fn immediate(&mut self, _: &mut u32) -> &mut Self {
        self
    }

    fn sign(&mut self, _: &mut bool) -> &mut Self {
        self
    }

    fn bit(&mut self, _: &mut bool) -> &mut Self {
        self
    }

    fn address(&mut self, address: &mut Address, place: Place) -> &mut Self {
        let classes: &[RegClass] = match place {
            Place::Shared => &[RegClass::B32, RegClass::B64],
            Place::Window | Place::Param => &[RegClass::B64],
        };
        self.exists(address.base);
        match (address.base, place) {
            (Base::Reg(reg), Place::Window | Place::Shared) => self.class(reg, classes),
            (Base::Shared(_), Place::Shared) | (Base::Param(_), Place::Param) => self,
            _ => self.hold(false, || "an address starts in another space".to_string()),
        }
    }

    fn tensor(&mut self, map: &mut Address, corner: &mut OperandList, rank: usize) -> &mut Self {
        // `ptxas` 13.0 takes an offset here for a syntax error.
        self.hold(map.offset == 0, || "a tensor map's address has no offset".to_string());
        self.generic(map).operands(corner, rank, Scalar::S32)
    }

    fn label(&mut self, block: &mut BlockId) -> &mut Self {
        let (id, count) = (*block, self.entry.blocks.len());
        self.hold((id.0 as usize) < count, || format!("there is no block {id}"))
    }

    fn symbol(&mut self, address: &mut Address) -> &mut Self {
        let named = !matches!(address.base, Base::Reg(_)) && address.offset == 0;
        self.exists(address.base).hold(named, || "a variable's name is needed".to_string())
    }

    fn name<K: Key>(&mut self, _: &mut K) -> &mut Self {
        self
    }

    fn fixed(&mut self, _: &'static str) -> &mut Self {
        self
    }
}
