//! Writes a module as text: the lowest version that suffices, one instruction a line.
//! Before: the module verifies (`verify.rs`), which printing does first.  After: `parse` gives the same module back.

use std::fmt::Write;

use tegula_base::Diagnostics;

use crate::form::{Access, Place, Visitor};
use crate::key::Key;
use crate::module::{BlockId, Directives, Entry, Inst, Module, Param, ParamType, Shared};
use crate::op::Op;
use crate::operand::{Address, Base, Operand, OperandList, Predicate, RegList};
use crate::reg::{Reg, RegClass};
use crate::types::Scalar;

/// The text of a module. Errors: `ptx-invalid`, everything that `verify` finds.
pub fn print(module: &Module) -> Result<String, Diagnostics> {
    module.verify()?;
    let mut text =
        format!(".version {}\n.target {}\n.address_size 64\n", module.version(), module.target.text());
    for entry in &module.entries {
        text.push('\n');
        print_entry(&mut text, entry);
    }
    Ok(text)
}

/// One instruction of an entry, as it stands on its line, with the semicolon.
pub fn print_inst(entry: &Entry, inst: &Inst) -> String {
    let mut text = String::new();
    write_inst(&mut text, entry, inst);
    text
}

fn print_entry(text: &mut String, entry: &Entry) {
    for shared in entry.shared.iter().filter(|shared| shared.size.is_none()) {
        push(text, format_args!(".extern .shared .align {} .b8 {}[];\n", shared.align, shared.name));
    }
    push(text, format_args!(".visible .entry {}(", entry.name));
    for (i, param) in entry.params.iter().enumerate() {
        text.push_str(if i == 0 { "\n    " } else { ",\n    " });
        print_param(text, param);
    }
    text.push_str(if entry.params.is_empty() { ")\n" } else { "\n)\n" });
    print_directives(text, &entry.directives);
    text.push_str("{\n");
    for class in RegClass::ALL {
        let count = entry.registers.get(class);
        if count > 0 {
            push(text, format_args!("    .reg .{} {}<{count}>;\n", class.declared_type(), class.prefix()));
        }
    }
    for Shared { name, align, size } in &entry.shared {
        if let Some(size) = size {
            push(text, format_args!("    .shared .align {align} .b8 {name}[{size}];\n"));
        }
    }
    for (i, block) in entry.blocks.iter().enumerate() {
        push(text, format_args!("{}:\n", label(entry, BlockId(i as u32))));
        for inst in &block.insts {
            text.push_str("    ");
            write_inst(text, entry, inst);
            text.push('\n');
        }
    }
    text.push_str("}\n");
}

fn print_param(text: &mut String, Param { name, ty }: &Param) {
    match ty {
        ParamType::Scalar(ty) => push(text, format_args!(".param .{} {name}", ty.text())),
        ParamType::Bytes { align, size } => {
            push(text, format_args!(".param .align {align} .b8 {name}[{size}]"));
        }
    }
}

fn print_directives(text: &mut String, directives: &Directives) {
    let Directives { reqntid, maxntid, maxnreg, minnctapersm, cluster } = directives;
    let mut sizes = |name: &str, sizes: &Option<[u32; 3]>| {
        if let Some([x, y, z]) = sizes {
            push(text, format_args!("{name} {x}, {y}, {z}\n"));
        }
    };
    sizes(".reqntid", reqntid);
    sizes(".maxntid", maxntid);
    sizes(".explicitcluster\n.reqnctapercluster", cluster);
    if let Some(count) = maxnreg {
        push(text, format_args!(".maxnreg {count}\n"));
    }
    if let Some(count) = minnctapersm {
        push(text, format_args!(".minnctapersm {count}\n"));
    }
}

fn label(entry: &Entry, id: BlockId) -> String {
    match entry.blocks.get(id.0 as usize) {
        Some(block) if !block.name.is_empty() => format!("{id}_{}", block.name),
        _ => id.to_string(),
    }
}

fn write_inst(text: &mut String, entry: &Entry, inst: &Inst) {
    if let Some(Predicate { reg, negated }) = inst.guard {
        push(text, format_args!("@{}{reg} ", if negated { "!" } else { "" }));
    }
    text.push_str(inst.op.mnemonic());
    // A form is walked through `&mut`, which other visitors need.
    let mut op: Op = inst.op.clone();
    op.form(&mut Printer { text, entry, operands: 0 });
    text.push(';');
}

fn push(text: &mut String, what: std::fmt::Arguments) {
    text.write_fmt(what).expect("invariant: a string takes everything");
}

struct Printer<'a> {
    text: &'a mut String,
    entry: &'a Entry,
    operands: usize,
}

impl Printer<'_> {
    fn word_part(&mut self, word: &str) {
        if !word.is_empty() {
            self.text.push('.');
            self.text.push_str(word);
        }
    }

    /// Begins the next operand.
    fn next(&mut self) -> &mut String {
        self.text.push_str(if self.operands == 0 { " " } else { ", " });
        self.operands += 1;
        self.text
    }

    fn braces<T: Copy>(&mut self, items: &[T], mut show: impl FnMut(&mut Self, T)) {
        self.text.push('{');
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.text.push_str(", ");
            }
            show(self, *item);
        }
        self.text.push('}');
    }

    fn show_reg(&mut self, reg: Reg) {
        push(self.text, format_args!("{reg}"));
    }

    fn show_operand(&mut self, operand: Operand, ty: Scalar) {
        match operand {
            Operand::Reg(reg) => self.show_reg(reg),
            Operand::Imm(bits) => show_immediate(self.text, bits, ty),
        }
    }

    fn show_address(&mut self, Address { base, offset }: Address) {
        match base {
            Base::Reg(reg) => self.show_reg(reg),
            Base::Shared(id) => self.text.push_str(&self.entry.shared[id.0 as usize].name),
            Base::Param(id) => self.text.push_str(&self.entry.params[id.0 as usize].name),
        }
        if offset != 0 {
            push(self.text, format_args!("+{offset}"));
        }
    }
}

fn show_immediate(text: &mut String, bits: u64, ty: Scalar) {
    match ty {
        Scalar::F32 => push(text, format_args!("0f{bits:08X}")),
        Scalar::F64 => push(text, format_args!("0d{bits:016X}")),
        _ if ty.is_signed() && !ty.is_packed() => {
            let unused = 64 - ty.bits();
            push(text, format_args!("{}", ((bits << unused) as i64) >> unused));
        }
        // Masks and patterns read better so; small numbers are counts.
        _ if bits > 9 && matches!(ty, Scalar::B16 | Scalar::B32 | Scalar::B64) => {
            push(text, format_args!("0x{bits:x}"));
        }
        _ => push(text, format_args!("{bits}")),
    }
}

impl Visitor for Printer<'_> {
    fn word(&mut self, word: &'static str) -> &mut Self {
        self.word_part(word);
        self
    }

    fn key<K: Key>(&mut self, key: &mut K) -> &mut Self {
        self.word_part(key.text());
        self
    }

    fn opt_key<K: Key>(&mut self, key: &mut Option<K>) -> &mut Self {
        if let Some(key) = key {
            self.word_part(key.text());
        }
        self
    }

    fn flag(&mut self, flag: &mut bool, word: &'static str) -> &mut Self {
        if *flag {
            self.word_part(word);
        }
        self
    }

    fn presence<T: Default>(&mut self, operand: &mut Option<T>, word: &'static str) -> &mut Self {
        if operand.is_some() {
            self.word_part(word);
        }
        self
    }

    fn count(&mut self, list: &mut RegList, words: &'static [(usize, &'static str)]) -> &mut Self {
        if let Some((_, word)) = words.iter().find(|(count, _)| *count == list.len()) {
            self.word_part(word);
        }
        self
    }

    fn reg(&mut self, reg: &mut Reg, _: Scalar, _: Access) -> &mut Self {
        self.next();
        self.show_reg(*reg);
        self
    }

    fn operand(&mut self, operand: &mut Operand, ty: Scalar) -> &mut Self {
        self.next();
        self.show_operand(*operand, ty);
        self
    }

    fn opt_operand(&mut self, operand: &mut Option<Operand>, ty: Scalar) -> &mut Self {
        match operand {
            Some(operand) => self.operand(operand, ty),
            None => self,
        }
    }

    fn predicate(&mut self, predicate: &mut Predicate) -> &mut Self {
        self.next();
        if predicate.negated {
            self.text.push('!');
        }
        self.show_reg(predicate.reg);
        self
    }

    fn opt_predicate(&mut self, predicate: &mut Option<Predicate>) -> &mut Self {
        match predicate {
            Some(predicate) => self.predicate(predicate),
            None => self,
        }
    }

    fn reg_and_predicate(&mut self, reg: &mut Reg, _: Scalar, predicate: &mut Option<Reg>) -> &mut Self {
        self.next();
        self.show_reg(*reg);
        if let Some(predicate) = predicate {
            self.text.push('|');
            self.show_reg(*predicate);
        }
        self
    }

    fn sink_and_predicate(&mut self, reg: &mut Option<Reg>, _: Scalar, predicate: &mut Reg) -> &mut Self {
        self.next();
        match reg {
            Some(reg) => self.show_reg(*reg),
            None => self.text.push('_'),
        }
        self.text.push('|');
        self.show_reg(*predicate);
        self
    }

    fn sink(&mut self, reg: &mut Option<Reg>, _: Scalar) -> &mut Self {
        self.next();
        match reg {
            Some(reg) => self.show_reg(*reg),
            None => self.text.push('_'),
        }
        self
    }

    fn regs(&mut self, regs: &mut RegList, _: usize, _: Scalar, _: Access) -> &mut Self {
        self.next();
        self.braces(regs, Self::show_reg);
        self
    }

    fn vector(&mut self, regs: &mut RegList, count: usize, ty: Scalar, access: Access) -> &mut Self {
        match regs.as_mut_slice() {
            [reg] => self.reg(reg, ty, access),
            _ => self.regs(regs, count, ty, access),
        }
    }

    fn operands(&mut self, operands: &mut OperandList, _: usize, ty: Scalar) -> &mut Self {
        self.next();
        self.braces(operands, |printer, operand| printer.show_operand(operand, ty));
        self
    }

    fn immediate(&mut self, value: &mut u32) -> &mut Self {
        push(self.next(), format_args!("{value}"));
        self
    }

    fn sign(&mut self, negated: &mut bool) -> &mut Self {
        self.next().push_str(if *negated { "-1" } else { "1" });
        self
    }

    fn bit(&mut self, bit: &mut bool) -> &mut Self {
        self.next().push_str(if *bit { "1" } else { "0" });
        self
    }

    fn address(&mut self, address: &mut Address, _: Place) -> &mut Self {
        self.next().push('[');
        self.show_address(*address);
        self.text.push(']');
        self
    }

    fn tensor(&mut self, map: &mut Address, corner: &mut OperandList, _: usize) -> &mut Self {
        self.next().push('[');
        self.show_address(*map);
        self.text.push_str(", ");
        self.braces(corner, |printer, operand| printer.show_operand(operand, Scalar::S32));
        self.text.push(']');
        self
    }

    fn label(&mut self, block: &mut BlockId) -> &mut Self {
        let name = label(self.entry, *block);
        self.next().push_str(&name);
        self
    }

    fn symbol(&mut self, address: &mut Address) -> &mut Self {
        self.next();
        self.show_address(*address);
        self
    }

    fn name<K: Key>(&mut self, name: &mut K) -> &mut Self {
        self.next().push_str(name.text());
        self
    }

    fn fixed(&mut self, text: &'static str) -> &mut Self {
        self.next().push_str(text);
        self
    }
}
